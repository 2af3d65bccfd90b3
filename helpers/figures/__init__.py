"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

from .batches import AtInit, BatchSizes, Dependence, Lengths, Padding, SmallBatches, TrainAndEval
from .cost import Cost
from .drawing import capital, count, settled, words
from .geometry import Geometry, TwoTokens
from .invariance import Invariance
from .museum import Symptoms
from .norms import LayerNormSteps, spread_of
from .precision import Kept, NumbersRunOut, SmallSpread
from .residual import Deletions, Paths, Similarity, SlopeProduct, TwoVectors
from .rms import OneDirection, TwoNorms
from .sharing import Comparison, WhichNumbers
from .signal import Drift, GradientBars, Survival, TwoSwitches, WhichGradient
from .training import LossCurves, Shattered, YourTraining
from .transformer import LookAhead, PreOrPost, StackRms, WarmUp
from .workbench import Clipping, Jacobian, ShootOut, Workbench
