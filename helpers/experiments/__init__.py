"""One function per question, asked of networks that really run: arrays in, small dataclasses out."""

from .paths import PathGradients, gradient_by_path_length, path_counts
from .shattered import (
    GradientCurve,
    autocorrelation,
    brown_noise,
    gradient_correlation,
    gradient_curve,
    white_noise,
)
from .similarity import cosines_with_first, input_similarity, mean_cosine, pair_similarity, relu_cosine_theory
from .stacks import (
    WIRINGS,
    ActivationSpread,
    GradientNorms,
    Stack,
    activation_spread,
    gradient_norms,
    toy_gradient_norms,
)
from .training import (
    Classifier,
    Lesions,
    Progress,
    chance_error,
    deepen,
    evaluate,
    lesion_errors,
    random_lesion_errors,
    spirals,
    train,
    trained_lesions,
)

__all__ = [
    "WIRINGS",
    "ActivationSpread",
    "Classifier",
    "GradientCurve",
    "GradientNorms",
    "Lesions",
    "PathGradients",
    "Progress",
    "Stack",
    "activation_spread",
    "autocorrelation",
    "brown_noise",
    "chance_error",
    "cosines_with_first",
    "deepen",
    "evaluate",
    "gradient_by_path_length",
    "gradient_correlation",
    "gradient_curve",
    "gradient_norms",
    "input_similarity",
    "lesion_errors",
    "mean_cosine",
    "pair_similarity",
    "path_counts",
    "random_lesion_errors",
    "relu_cosine_theory",
    "spirals",
    "toy_gradient_norms",
    "train",
    "trained_lesions",
    "white_noise",
]
