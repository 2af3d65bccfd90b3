"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .drawing import count, words
from .geometry import Geometry, TwoTokens
from .norms import LayerNormSteps
from .precision import NumbersRunOut, SmallSpread
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .sharing import Comparison, WhichNumbers
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered, YourTraining

__all__ = [
    "Comparison",
    "Deletions",
    "Drift",
    "Geometry",
    "GradientBars",
    "LayerNormSteps",
    "LossCurves",
    "NumbersRunOut",
    "Paths",
    "Shattered",
    "Similarity",
    "SlopeProduct",
    "SmallSpread",
    "Survival",
    "TwoSwitches",
    "TwoTokens",
    "TwoVectors",
    "WhichGradient",
    "WhichNumbers",
    "YourTraining",
    "count",
    "words",
]
