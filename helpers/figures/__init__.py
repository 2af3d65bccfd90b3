"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .cost import Cost
from .drawing import count, words
from .geometry import Geometry, TwoTokens
from .invariance import Invariance
from .norms import LayerNormSteps
from .precision import Kept, NumbersRunOut, SmallSpread
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .rms import OneDirection, TwoNorms
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered, YourTraining
from .transformer import LookAhead, PreOrPost, StackRms, WarmUp

__all__ = [
    "Cost",
    "Deletions",
    "Drift",
    "Geometry",
    "GradientBars",
    "Invariance",
    "Kept",
    "LayerNormSteps",
    "LookAhead",
    "LossCurves",
    "NumbersRunOut",
    "OneDirection",
    "Paths",
    "PreOrPost",
    "Shattered",
    "Similarity",
    "SlopeProduct",
    "SmallSpread",
    "StackRms",
    "Survival",
    "TwoNorms",
    "TwoSwitches",
    "TwoTokens",
    "TwoVectors",
    "WarmUp",
    "WhichGradient",
    "YourTraining",
    "count",
    "words",
]
