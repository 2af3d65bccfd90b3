"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .drawing import count, words
from .geometry import Geometry, TwoTokens
from .museum import Symptoms
from .norms import LayerNormSteps
from .precision import NumbersRunOut, SmallSpread
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered, YourTraining
from .workbench import Clipping, Jacobian, ShootOut, Workbench

__all__ = [
    "Clipping",
    "Deletions",
    "Drift",
    "Geometry",
    "GradientBars",
    "Jacobian",
    "LayerNormSteps",
    "LossCurves",
    "NumbersRunOut",
    "Paths",
    "Shattered",
    "ShootOut",
    "Similarity",
    "SlopeProduct",
    "SmallSpread",
    "Survival",
    "Symptoms",
    "TwoSwitches",
    "TwoTokens",
    "TwoVectors",
    "WhichGradient",
    "Workbench",
    "YourTraining",
    "count",
    "words",
]
