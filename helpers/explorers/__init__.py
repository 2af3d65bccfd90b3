"""What the notebooks show: controls, an experiment and a picture, wired together.

Each function returns a `Live`; end a cell with it. Those that take the learner's function run it, and
draw the reference while it is still blank.
"""

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

ALL = {
    explorer.__name__: explorer
    for explorer in (
        survival,
        two_switches,
        add_the_input,
        what_is_left,
        delete_a_layer,
        paths,
        one_plus_slope,
        gradient_through_blocks,
        gradient_bars,
        your_gradient_bars,
        which_gradient,
        shattered,
        deep_or_shallow,
        drift,
        layer_norm_steps,
        geometry,
        two_tokens,
        small_spread,
        when_numbers_run_out,
        train_with,
        which_numbers,
        neighbour,
        future,
        lengths,
        padding,
        small_batches,
        train_and_eval,
        batch_sizes,
        batch_norm_at_init,
        two_norms,
        what_the_gradient_loses,
        what_leaves_it_unchanged,
        cost,
        casting,
        look_ahead,
        pre_or_post,
        final_norm,
        warm_up,
        workbench,
        shoot_out,
        jacobian,
        clipping,
        museum,
    )
}

__all__ = ["ALL", *ALL]
