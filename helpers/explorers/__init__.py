"""What the notebooks show: controls, an experiment and a picture, wired together.

Each function returns a `Live`; end a cell with it. Those that take the learner's function run it, and
draw the reference while it is still blank.
"""

import inspect

from .batches import (
    batch_norm_at_init,
    batch_sizes,
    future,
    lengths,
    neighbour,
    padding,
    small_batches,
    train_and_eval,
)
from .gradients import deep_or_shallow, gradient_bars, shattered, which_gradient, your_gradient_bars
from .museum import museum
from .norms import (
    drift,
    geometry,
    layer_norm_steps,
    small_spread,
    train_with,
    two_tokens,
    when_numbers_run_out,
)
from .residual import (
    add_the_input,
    delete_a_layer,
    gradient_through_blocks,
    one_plus_slope,
    paths,
    what_is_left,
)
from .rms import casting, cost, two_norms, what_leaves_it_unchanged, what_the_gradient_loses
from .sharing import which_numbers
from .start import survival, two_switches
from .transformer import final_norm, look_ahead, pre_or_post, warm_up
from .workbench import clipping, jacobian, shoot_out, workbench

ALL = {name: one for name, one in vars().items() if inspect.isfunction(one)}  # all that is imported here
