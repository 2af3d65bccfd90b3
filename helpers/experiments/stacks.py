"""Forward and backward through freshly initialized stacks: what happens to the signal, layer by layer.

Every network here is a stack of `depth` blocks, initialized from a seed: the first blocks of a deeper
network are those of a shallower one with the same seed.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import layers

WIRINGS = ("plain", "residual", "scaled residual", "plain + norm", "pre-norm", "post-norm")
NORMS = {"layer": layers.LayerNorm, "rms": layers.RMSNorm}


def check_choice(name: str, value, allowed) -> None:
    """ValueError, with all that is allowed, unless the value is among it."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


class Weights:
    """A random generator for weights that keeps what it drew: a slider asks for the same ones again, or for larger ones.

    Networks share these matrices, so none may change its own.
    """

    def __init__(self, seed):
        self.seed, self.drawn = seed, 0

    def normal(self, mean, std, shape):
        """The next matrix."""
        self.drawn += 1
        drawn = _scaled(self.seed, self.drawn, shape, std)
        return mean + drawn if mean else drawn


@functools.lru_cache(maxsize=128)
def _scaled(seed, number, shape, std):
    scaled = std * _drawn(seed, number, shape)
    scaled.flags.writeable = False
    return scaled


@functools.lru_cache(maxsize=256)
def _drawn(seed, number, shape):
    return np.random.default_rng([seed, number]).standard_normal(shape)


def branch(
    rng, width: int, activation: str = "tanh", gain: float = 1.0, branch_layers: int = 1
) -> layers.Sequential:
    """The transformation f of one block: activation(x @ W), or activation(x @ W1) @ W2.

    W ~ N(0, gain^2 / width), W2 ~ N(0, 1 / width). (batch, width) -> (batch, width).
    """
    first = [layers.Linear(width, width, rng, gain), layers.Activation(activation)]
    last = [layers.Linear(width, width, rng) for _ in range(branch_layers - 1)]
    return layers.Sequential(*first, *last)


def block(wiring: str, f: layers.Layer, norm, alpha: float = 1.0) -> Any:
    """Wire one branch f: into the stream or in place of it, with the norm where the wiring says."""
    if wiring == "plain":
        return f
    if wiring == "plain + norm":
        return layers.Sequential(f, norm)
    if wiring == "pre-norm":
        return layers.pre_norm(f, norm, alpha)
    if wiring == "post-norm":
        return layers.post_norm(f, norm, alpha)
    return layers.Residual(f, alpha)


def input_gradient(layer, dy: np.ndarray) -> np.ndarray:
    """layer.backward without the gradients of the weights, so that dy may hold many gradients at once.

    dy (..., batch, d_out) -> (..., batch, d_in). A Linear layer keeps its dy: x.T @ dy is its dW.
    """
    if isinstance(layer, layers.Sequential):
        for one in reversed(layer.layers):
            dy = input_gradient(one, dy)
        return dy
    if isinstance(layer, layers.Residual):
        return dy + input_gradient(layer.branch, layer.alpha * dy)
    if isinstance(layer, layers.Linear):
        return _through_matrix(layer, dy)
    if isinstance(layer, layers.Activation):
        return dy * _slope(layer)
    return layer.backward(dy)


def _through_matrix(linear, dy):
    """dy @ W.T, as one matrix: many small products take several times as long."""
    linear.dy = dy
    return (dy.reshape(-1, dy.shape[-1]) @ linear.W.T).reshape(*dy.shape[:-1], -1)


def _slope(activation):
    """f'(z), where the last forward pass was; kept, since a slider sends many gradients through one network."""
    if getattr(activation, "slope_at", None) is not activation.z:
        activation.slope_at, activation.slope = activation.z, activation.f_backward(1.0, activation.z)
    return activation.slope


def forward_gradient(layer, dx: np.ndarray) -> np.ndarray:
    """What a small change dx of the input makes of the output, after forward. (..., d_in) -> (..., d_out).

    The Jacobian of an activation is symmetric, and so is that of a norm whose gamma is 1: backward gives the same.
    """
    if isinstance(layer, layers.Sequential):
        return functools.reduce(lambda d, one: forward_gradient(one, d), layer.layers, dx)
    if isinstance(layer, layers.Residual):
        return dx + layer.alpha * forward_gradient(layer.branch, dx)
    return dx @ layer.W if isinstance(layer, layers.Linear) else layer.backward(dx)


class Stack:
    """`depth` blocks, each wired around a branch. "scaled residual": alpha becomes alpha / sqrt(depth).

    ValueError for a wiring, norm or activation that is not known, or fewer than one layer.
    """

    def __init__(
        self,
        depth,
        wiring="plain",
        norm="layer",
        activation="tanh",
        gain=1.0,
        branch_layers=1,
        alpha=1.0,
        width=64,
        seed=0,
    ):
        check_choice("wiring", wiring, WIRINGS)
        check_choice("norm", norm, NORMS)
        check_choice("activation", activation, layers.Activation.functions)
        if depth < 1 or branch_layers < 1:
            raise ValueError(f"depth and branch_layers must be at least 1, not {depth} and {branch_layers}")
        if wiring == "scaled residual":
            alpha = alpha / np.sqrt(depth)
        rng = Weights(seed)
        self.branches = [branch(rng, width, activation, gain, branch_layers) for _ in range(depth)]
        self.blocks = [block(wiring, f, NORMS[norm](width), alpha) for f in self.branches]

    def forward(self, x):
        """The value of the stream at every layer: [h_0 = x, h_1, ..., h_depth]."""
        hs = [x]
        for one in self.blocks:
            hs.append(one(hs[-1]))
        return hs

    def backward(self, dout, depth=None):
        """The gradient at every layer, after forward: [dL/dh_0, ..., dL/dh_depth = dout].

        depth: where dout enters, if not after the last block.
        """
        dhs = [dout]
        for one in reversed(self.blocks[:depth]):
            dhs.append(input_gradient(one, dhs[-1]))
        return dhs[::-1]


@dataclass(frozen=True)
class GradientNorms:
    """Lengths of gradients when a gradient of length 1 enters at the last layer.

    dh (depth + 1,): of dL/dh_0 (the network's input) ... dL/dh_depth (its output);
    dW (depth,): of dL/dW for the first matrix of each block, or None where it was not asked for.
    """

    dh: np.ndarray
    dW: np.ndarray | None

    @property
    def ratio(self):
        """|dL/dh_0| / |dL/dh_depth|: what is left of the gradient at the input."""
        return self.dh[0] / self.dh[-1]


def gradient_norms(
    depth: int = 32,
    wiring: str = "plain",
    *,
    width: int = 64,
    batch: int = 32,
    seed: int = 0,
    weights: bool = True,
    **kind,
) -> GradientNorms:
    """How large is the gradient at each layer? Measured by one forward and one backward pass.

    kind: norm, activation, gain, branch_layers, alpha, as in `Stack`. The loss is a random
    linear function of the output, so the gradient that enters at the top points anywhere.
    weights=False: only the gradients of the activations, in less time.
    """
    network, dout = after_forward(depth, wiring, width, batch, seed, **kind)
    dhs = lengths(network.backward(dout, depth))
    first = [f.layers[0] for f in network.branches[:depth]]
    return GradientNorms(dhs, lengths([one.x.T @ one.dy for one in first]) if weights else None)


def after_forward(
    depth: int, wiring: str, width: int, batch: int, seed: int, **kind
) -> tuple[Stack, np.ndarray]:
    """A Stack that begins like this one, after its forward pass, and a gradient of length 1 to enter after any block.

    Its depth is the next power of 2, so that it serves its neighbours too.
    """
    if wiring != "scaled residual" and depth > 0:
        depth = 1 << (depth - 1).bit_length()
    return _after_forward(depth, wiring, width, batch, seed, **kind)


@functools.lru_cache(maxsize=8)
def _after_forward(depth, wiring, width, batch, seed, **kind):
    network = Stack(depth, wiring, width=width, seed=seed, **kind)
    data = np.random.default_rng([seed, 0])
    network.forward(data.standard_normal((batch, width)))
    dout = data.standard_normal((batch, width))
    return network, dout / np.linalg.norm(dout)


def lengths(arrays) -> np.ndarray:
    """The Euclidean length of each array. -> (number of arrays,)."""
    return np.array([np.linalg.norm(one) for one in arrays])


def toy_gradient_norms(depth: int, factor: float, residual: bool) -> np.ndarray:
    """Toy model: every layer multiplies the gradient by |f'|, or by |1 + f'| with a residual.

    factor: f', one number for all layers -> (depth + 1,), the input's gradient first.
    """
    a_layer = abs(1 + factor) if residual else abs(factor)
    return a_layer ** np.arange(depth, -1.0, -1.0)


@dataclass(frozen=True)
class ActivationSpread:
    """mean and std over all values of the stream: (depth + 1,), the network's input first."""

    mean: np.ndarray
    std: np.ndarray


def activation_spread(
    depth: int = 15,
    norm: str | None = None,
    residual: bool = False,
    *,
    activation: str = "linear",
    gain: float = 1.0,
    width: int = 64,
    batch: int = 32,
    seed: int = 0,
    **kind,
) -> ActivationSpread:
    """How do mean and spread of the activations change from layer to layer?

    norm: None, "layer" or "rms"; it stands after each layer of a plain network and, with a residual,
    before each branch. kind: branch_layers, alpha, as in `Stack`.
    """
    wiring = {
        (False, False): "plain",
        (True, False): "residual",
        (False, True): "plain + norm",
        (True, True): "pre-norm",
    }[bool(residual), norm is not None]
    network = Stack(
        depth, wiring, norm or "layer", activation=activation, gain=gain, width=width, seed=seed, **kind
    )
    hs = network.forward(np.random.default_rng([seed, 0]).standard_normal((batch, width)))
    return ActivationSpread(np.array([h.mean() for h in hs]), np.array([h.std() for h in hs]))


def uniform_matrices(depth: int, width: int = 16, seed: int = 0) -> list[np.ndarray]:
    """Matrices W ~ U(-1, 1), which nobody scaled by the width: each multiplies the spread by sqrt(width / 3)."""
    rng = np.random.default_rng([seed, 1])
    return [rng.uniform(-1, 1, (width, width)) for _ in range(depth)]


@dataclass(frozen=True)
class RowSpread(ActivationSpread):
    """The same, and of each row by itself: row_mean, row_std (depth + 1, batch)."""

    row_mean: np.ndarray
    row_std: np.ndarray


def spread_through(
    matrices: list[np.ndarray],
    norm: Callable | None = None,
    seed: int = 0,
    batch: int = 32,
    unequal: bool = False,
) -> ActivationSpread | RowSpread:
    """Mean and spread of the stream through linear layers h @ W, each followed by norm(h) if there is one.

    unequal: the rows of the input differ in size, from a quarter to four times the usual; gives a RowSpread.
    """
    x = np.random.default_rng([seed, 0]).standard_normal((batch, len(matrices[0])))
    hs = [x * np.geomspace(0.25, 4, batch)[:, None] if unequal else x]
    for W in matrices:
        h = hs[-1] @ W
        hs.append(h if norm is None else norm(h))
    overall = np.array([h.mean() for h in hs]), np.array([h.std() for h in hs])
    if not unequal:
        return ActivationSpread(*overall)
    return RowSpread(*overall, *(np.array([f(h, axis=-1) for h in hs]) for f in (np.mean, np.std)))
