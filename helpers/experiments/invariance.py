"""What leaves the output of a normalized linear layer as it is?

The tables are table 1 of Ba et al. 2016, arXiv:1607.06450, and table 1 of Zhang & Sennrich 2019,
arXiv:1910.07467. The weight vector of output i is column i of W.
"""

import numpy as np

from .. import layers

EXAMPLES, D_IN, D_OUT = 64, 16, 64
PARTIAL = D_OUT // 16  # pRMSNorm takes 6.25 % of the outputs
ONE, ZERO = np.ones(D_OUT), np.zeros(D_OUT)
UNMOVED = 1e-3  # outputs are of size 1: what moves by less counts as unchanged


def _partial_rms_norm(h, eps):
    return h / np.sqrt((h[:, :PARTIAL] ** 2).mean(axis=1, keepdims=True) + eps)


NORMS = {  # name: normalized layer of x (n, D_IN), W (D_IN, D_OUT), eps -> (n, D_OUT)
    "BatchNorm": lambda x, W, eps: layers.batch_norm(x @ W, ONE, ZERO, ZERO, ONE, True, eps=eps)[0],
    "WeightNorm": lambda x, W, eps: x @ (W / np.linalg.norm(W, axis=0)),  # it has no eps
    "LayerNorm": lambda x, W, eps: layers.layer_norm(x @ W, ONE, ZERO, eps),
    "RMSNorm": lambda x, W, eps: layers.rms_norm(x @ W, ONE, eps),
    "pRMSNorm": lambda x, W, eps: _partial_rms_norm(x @ W, eps),
}


def _one_scaled(a, index, factor):
    a = a.copy()
    a[index] *= factor
    return a


CHANGES = {  # name: x and W after it; factor a, v one vector for all columns of W, u one for all rows of x
    "W × a": lambda x, W, a, v, u: (x, a * W),
    "W + v": lambda x, W, a, v, u: (x, W + v[:, None]),
    "one w × a": lambda x, W, a, v, u: (x, _one_scaled(W, (slice(None), 5), a)),
    "data × a": lambda x, W, a, v, u: (a * x, W),
    "data + v": lambda x, W, a, v, u: (x + u, W),
    "one example × a": lambda x, W, a, v, u: (_one_scaled(x, 5, a), W),
}

CLAIMED = {  # the papers' tables, in the order of CHANGES: 1 where the output should not change
    "BatchNorm": (1, 0, 1, 1, 1, 0),
    "WeightNorm": (1, 0, 1, 0, 0, 0),
    "LayerNorm": (1, 1, 0, 1, 0, 1),
    "RMSNorm": (1, 0, 0, 1, 0, 1),
    "pRMSNorm": (1, 0, 0, 1, 0, 1),
}


def invariance(factor: float = 2.5, shift: float = 1.0, eps: float = 1e-6, seed: int = 0) -> np.ndarray:
    """By how much does any output move, at most, for each norm and each change? -> (5 norms, 6 changes).

    factor: a; shift: the added vectors have entries as large as those of W, or of x, times this.
    """
    rng = np.random.default_rng(seed)
    x, W = rng.standard_normal((EXAMPLES, D_IN)), rng.standard_normal((D_IN, D_OUT)) / np.sqrt(D_IN)
    v, u = shift * rng.standard_normal(D_IN) / np.sqrt(D_IN), shift * rng.standard_normal(D_IN)
    changed = [change(x, W, factor, v, u) for change in CHANGES.values()]
    return np.array(
        [[np.abs(norm(*after, eps) - norm(x, W, eps)).max() for after in changed] for norm in NORMS.values()]
    )
