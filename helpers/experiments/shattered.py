"""Shattered gradients: how alike are the gradients at two inputs that are alike?

Balduzzi et al. 2017, "The shattered gradients problem: if resnets are the answer, then what is the
question?", arXiv:1702.08591. In a deep plain network with BatchNorm they are like white noise.
"""

import copy
import functools
import itertools
from dataclasses import dataclass

import numpy as np

from .. import layers
from .stacks import check_choice, forward_gradient, input_gradient


class HeldBatchNorm(layers.BatchNorm):
    """BatchNorm by the statistics of its batch, which are then constants: no gradient flows through them.

    That is the paper's analysis. The whole backward takes the batch's mean off the gradient, so with one
    and the same gradient arriving at every row, rows would correlate by -1 / (n - 1) whatever the depth.
    """

    def forward(self, x):
        self.running_mean, self.running_var, self.training = x.mean(axis=0), x.var(axis=0), False
        return super().forward(x)


KINDS = {  # name: (residual?, norm)
    "plain": (False, None),
    "plain + batch norm": (False, HeldBatchNorm),
    "residual": (True, None),
    "residual + batch norm": (True, HeldBatchNorm),
    "residual + layer norm": (True, layers.LayerNorm),
}


def _block(kind, alpha, width, rng):
    """Plain: matrix, (norm), ReLU. Residual: x + alpha * branch of (norm), ReLU, matrix. He initialization."""
    residual, norm = KINDS[kind]
    norms = [norm(width)] if norm else []
    matrix, relu = layers.Linear(width, width, rng, gain=np.sqrt(2)), layers.Activation("relu")
    if residual:
        return layers.Residual(layers.Sequential(*norms, relu, matrix), alpha)
    return layers.Sequential(matrix, *norms, relu)


def _check_kind(kind, depth):
    check_choice("kind", kind, KINDS)
    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")


@dataclass(frozen=True)
class GradientCurve:
    """A network of one number x: its output f(x) and the gradient df/dx, each (points,)."""

    x: np.ndarray
    output: np.ndarray
    gradient: np.ndarray


def gradient_curve(
    kind="plain", depth: int = 24, *, alpha: float = 1.0, points: int = 256, width: int = 200, seed: int = 0
) -> GradientCurve:
    """The gradient of a random deep network along a line of inputs from -2 to 2.

    depth counts the ReLU layers of a plain network (the first has the input's matrix) and the blocks of a
    residual one. BatchNorm takes the line as its batch, its statistics held constant.
    ValueError for a kind that is not in KINDS, or depth < 1. Balduzzi et al. 2017, figure 1.
    """
    _check_kind(kind, depth)
    seen, deeper = _curves(kind, alpha, points, width, seed)
    seen.extend(itertools.islice(deeper, max(0, depth - len(seen))))
    return seen[depth - 1]


@functools.lru_cache(maxsize=8)
def _curves(*setting):
    """The curves that were asked for so far, the shallowest first, and a generator of the deeper ones."""
    return [], _ever_deeper(*setting)


def _ever_deeper(kind, alpha, points, width, seed):
    """The curve of each depth, from 1 on, in one pass: a network is the beginning of every deeper one."""
    rng, x = np.random.default_rng(seed), np.linspace(-2, 2, points)
    first, residual = layers.Linear(1, width, rng), KINDS[kind][0]
    first.b = rng.normal(0, 2 / np.sqrt(3), width)  # as wide as x is: the kinks are spread along the line
    start = [first] if residual else [first, layers.Activation("relu")]
    h, slope = _go_on(start, x[:, None], np.ones((points, 1)))
    while True:
        if residual:
            h, slope = _go_on([_block(kind, alpha, width, rng)], h, slope)
        readout = copy.deepcopy(rng).standard_normal(width) / np.sqrt(width)
        yield GradientCurve(x, h @ readout, slope @ readout)
        if not residual:
            h, slope = _go_on([_block(kind, alpha, width, rng)], h, slope)


def _go_on(parts, h, slope):
    """h and its slope dh/dx, both (points, width), through some more layers."""
    for part in parts:
        h = part(h)
        slope = forward_gradient(part, slope)
    return h, slope


def gradient_correlations(
    kind="plain", depths=(24,), *, alpha: float = 1.0, points: int = 64, width: int = 200, seed: int = 0
) -> np.ndarray:
    """How alike are the gradients at different random inputs? 1: the same; 0: nothing in common.

    depths: of networks, each the beginning of every deeper one -> one number for each: mean product of two
    different gradients over the mean of their squares. Theory for plain networks: 2^-depth, if a ReLU is on at
    both inputs in 1 of 4 cases; with BatchNorm it is, without it more and more often.
    ValueError as in gradient_curve. Balduzzi et al. 2017, arXiv:1702.08591.
    """
    _check_kind(kind, min(depths))
    rng, data = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    blocks = [_block(kind, alpha, width, rng) for _ in range(max(depths))]
    layers.Sequential(*blocks).forward(data.standard_normal((points, width)))
    dout = np.tile(data.standard_normal(width), (points, 1))
    return np.array([_likeness(input_gradient(layers.Sequential(*blocks[:depth]), dout)) for depth in depths])


def _likeness(g):
    """Mean product of two different rows of g over the mean of their squares. g (points, width) -> number."""
    squares = (g**2).sum()
    return ((g.sum(axis=0) ** 2).sum() - squares) / ((len(g) - 1) * squares)


def autocorrelation(curve: np.ndarray, lag: int = 1) -> float:
    """How alike is a curve to itself, `lag` points further? 0: white noise; near 1: smooth or brown noise.

    curve (points,), 1 <= lag < points (ValueError otherwise) -> number.
    """
    if not 1 <= lag < len(curve):
        raise ValueError(f"lag must be between 1 and {len(curve) - 1}, not {lag}")
    c = curve - np.mean(curve)
    return (c[:-lag] * c[lag:]).mean() / (c**2).mean()


def white_noise(points: int = 256, seed: int = 0) -> np.ndarray:
    """Every value drawn on its own. -> (points,)."""
    return np.random.default_rng(seed).standard_normal(points)


def brown_noise(points: int = 256, seed: int = 0) -> np.ndarray:
    """A random walk: each value is the last one plus a random step. -> (points,)."""
    return white_noise(points, seed).cumsum()
