"""A residual network as a sum over paths: each block is either gone through or gone around.

Veit et al. 2016, "Residual networks behave like ensembles of relatively shallow networks", arXiv:1605.06431.
"""

import functools
from dataclasses import dataclass
from math import comb

import numpy as np

from .stacks import after_forward, check_choice, input_gradient

# Beside length 0, which carries 1: paths that carry less are not followed on. That changes no share by 1e-7.
LEAST = 1e-5


def path_counts(n: int) -> np.ndarray:
    """Share of the 2^n paths through n residual blocks that go through k branches: comb(n, k) / 2^n.

    n: number of blocks -> (n + 1,), k = 0 ... n, sum 1. ValueError for n < 0. Veit et al. 2016.
    """
    if n < 0:
        raise ValueError(f"The number of blocks cannot be {n}.")
    return np.array([comb(n, k) / 2**n for k in range(n + 1)])


@dataclass(frozen=True)
class PathGradients:
    """Gradient at the network's input, by the number k of branches that it came through.

    paths (depth + 1,): share of all paths that have length k; energy (depth + 1,): share of the squared
    gradient that came along them.
    """

    paths: np.ndarray
    energy: np.ndarray

    @property
    def mean_length(self):
        """Mean number of branches on a path, weighted by the gradient that the paths carry."""
        return (np.arange(len(self.energy)) * self.energy).sum()


@functools.lru_cache(maxsize=256)
def gradient_by_path_length(
    depth: int = 54,
    alpha: float = 1.0,
    norm: str | None = "layer",
    *,
    scaled: bool = False,
    width: int = 64,
    batch: int = 4,
    seed: int = 0,
) -> PathGradients:
    """Do the many long paths carry gradient, or the few short ones? Computed, not sampled.

    The gradient at the input is the product of (I + J_l)^T over the blocks, applied to the gradient at
    the output; what came through k branches is the coefficient of t^k when each J_l becomes t J_l, and
    each block shifts those coefficients by one. Branches have two layers with ReLU, He initialization.
    norm: None, or "layer" or "rms" before each branch; alpha: factor of the branches; scaled: without a
    norm, alpha / sqrt(depth). ValueError for another norm or depth < 1, or where both are asked for.
    (Veit et al. 2016 sampled paths instead.)
    """
    check_choice("norm", norm, (None, "layer", "rms"))
    if scaled and norm:
        raise ValueError("scaled goes without a norm: give norm=None")
    wiring = "pre-norm" if norm else "scaled residual" if scaled else "residual"
    he = {"activation": "relu", "gain": np.sqrt(2), "branch_layers": 2}
    network, dout = after_forward(depth, wiring, width, batch, seed, norm=norm or "layer", alpha=alpha, **he)
    alpha = alpha / np.sqrt(depth) if scaled else alpha
    by_length = np.zeros((depth + 1, batch, width))
    by_length[0] = dout
    followed = 1  # so many lengths: 0, 1, 2, ...
    for block in reversed(network.blocks[:depth]):
        by_length[1 : followed + 1] += input_gradient(block.branch, by_length[:followed])
        longest = by_length[followed].ravel()
        if alpha ** (2 * followed) * (longest @ longest) > LEAST**2:
            followed += 1
    energy = (by_length**2).sum(axis=(1, 2)) * alpha ** (2 * np.arange(depth + 1))
    return PathGradients(path_counts(depth), energy / energy.sum())
