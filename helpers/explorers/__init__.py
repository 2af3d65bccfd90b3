"""What the notebooks show: controls, an experiment and a picture, wired together.

Each function returns a `Live`; end a cell with it. Those that take the learner's function run it, and
draw the reference while it is still blank.
"""

from .gradients import deeper_trains_worse, gradient_bars, shattered, which_gradient, your_gradient_bars
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
from .start import survival, two_switches
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
        deeper_trains_worse,
        drift,
        layer_norm_steps,
        geometry,
        two_tokens,
        small_spread,
        when_numbers_run_out,
        train_with,
        workbench,
        shoot_out,
        jacobian,
        clipping,
        museum,
    )
}

__all__ = ["ALL", *ALL]
