"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .drawing import count, words
from .geometry import Geometry, TwoTokens
from .norms import LayerNormSteps
from .precision import NumbersRunOut, SmallSpread
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered, YourTraining
from .transformer import LookAhead, PreOrPost, StackRms, WarmUp

__all__ = [
    "Deletions",
    "Drift",
    "Geometry",
    "GradientBars",
    "LayerNormSteps",
    "LookAhead",
    "LossCurves",
    "NumbersRunOut",
    "Paths",
    "PreOrPost",
    "Shattered",
    "Similarity",
    "SlopeProduct",
    "SmallSpread",
    "StackRms",
    "Survival",
    "TwoSwitches",
    "TwoTokens",
    "TwoVectors",
    "WarmUp",
    "WhichGradient",
    "YourTraining",
    "count",
    "words",
]
