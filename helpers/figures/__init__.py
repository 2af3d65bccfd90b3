"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .drawing import count, words
from .norms import LayerNormSteps
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered

__all__ = [
    "Deletions",
    "Drift",
    "GradientBars",
    "LayerNormSteps",
    "LossCurves",
    "Paths",
    "Shattered",
    "Similarity",
    "SlopeProduct",
    "Survival",
    "TwoSwitches",
    "TwoVectors",
    "WhichGradient",
    "count",
    "words",
]
