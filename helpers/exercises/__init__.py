"""The exercises: `exercises.layer_norm.check(layer_norm)` says what is right, or which mistake it is."""

from .backwards import batch_norm_backward, layer_norm_backward, rms_norm_backward
from .batches import batch_norm, masked_batch_norm
from .blocks import (
    post_norm_block,
    pre_norm_block,
    pre_norm_stack,
    projected_residual,
    residual_block,
    residual_init_std,
    transformer_block,
)
from .core import Diagnosis, Exercise
from .exhibits import exhibit
from .gradients import backprop_chain, clip_by_global_norm, grad_norms, residual_backward, sgd_steps
from .norms import layer_norm, rms_norm, rms_norm_offset

ALL = {one.name: one for one in vars().values() if isinstance(one, Exercise)}  # all that is imported here
