"""One function per question, asked of networks that really run: arrays in, small dataclasses out."""

from . import batches, cost, museum, precision, sharing, transformer, workbench
from .invariance import invariance
from .paths import PathGradients, gradient_by_path_length, path_counts
from .shattered import (
    GradientCurve,
    autocorrelation,
    brown_noise,
    gradient_correlations,
    gradient_curve,
    white_noise,
)
from .similarity import cosines_with_first, input_similarity, mean_cosine, pair_similarity, relu_cosine_theory
from .stacks import (
    WIRINGS,
    ActivationSpread,
    GradientNorms,
    RowSpread,
    Stack,
    activation_spread,
    gradient_norms,
    spread_through,
    toy_gradient_norms,
    uniform_matrices,
)
from .training import (
    Classifier,
    Lesions,
    Progress,
    chance_error,
    deepen,
    evaluate,
    gradient_gaps,
    leaves,
    lesion_errors,
    random_lesion_errors,
    spirals,
    train,
    trained_lesions,
)
