"""What is left of the input? Cosines: of the stream with the input, and of one input's stream with another's."""

import numpy as np

from .stacks import Stack


def _stream(depth, wiring, width, batch, seed, kind):
    """[h_0, ..., h_depth], each (batch, width), for a batch of random inputs."""
    network = Stack(depth, wiring, width=width, seed=seed, **kind)
    return network.forward(np.random.default_rng([seed, 0]).standard_normal((batch, width)))


def _directions(h):
    """The rows of h, each divided by its length; a row of zeros stays one."""
    length = np.linalg.norm(h, axis=-1, keepdims=True)
    return h / np.where(length > 0, length, 1.0)


def input_similarity(
    depth: int = 32, wiring: str = "plain", *, width: int = 64, batch: int = 32, seed: int = 0, **kind
) -> np.ndarray:
    """How much does the stream still look like the input? Mean over the rows of cos(h_l, h_0).

    kind: norm, activation, gain, branch_layers, alpha, as in `Stack`, with its ValueErrors.
    -> (depth + 1,), 1 at the input. He et al. 2016, arXiv:1603.05027, eq. 4: h_L = h_0 + all branches.
    """
    return cosines_with_first(_stream(depth, wiring, width, batch, seed, kind))


def cosines_with_first(hs: list[np.ndarray]) -> np.ndarray:
    """Mean over the rows of cos(h_l, h_0) for a list of values of the stream, each (batch, width)."""
    directions = _directions(np.stack(hs))
    return (directions * directions[0]).sum(axis=-1).mean(axis=-1)


def mean_cosine(h: np.ndarray) -> float:
    """Mean cosine between different rows of h: 1 when all of them point the same way.

    h (batch, width), batch > 1 (ValueError otherwise) -> number.
    """
    n = len(h)
    if n < 2:
        raise ValueError(f"A cosine needs two different inputs; this batch has {n}.")
    d = _directions(h)
    return ((d.sum(axis=0) ** 2).sum() - (d**2).sum()) / (n * (n - 1))


def pair_similarity(
    depth: int = 40, wiring: str = "plain", *, width: int = 64, batch: int = 32, seed: int = 0, **kind
) -> np.ndarray:
    """Can the network still tell two inputs apart? Mean cosine between different inputs, layer by layer.

    kind: norm, activation, gain, branch_layers, alpha, as in `Stack`, with its ValueErrors.
    -> (depth + 1,), about 0 at the input. Daniely et al. 2016, arXiv:1602.05897.
    """
    return np.array([mean_cosine(h) for h in _stream(depth, wiring, width, batch, seed, kind)])


def relu_cosine_theory(c: np.ndarray) -> np.ndarray:
    """What one wide layer of random weights and ReLU makes of the cosine c between two inputs.

    c (any shape), in [-1, 1] -> the same shape. Cho & Saul 2009 (arc-cosine kernel of degree 1).
    """
    c = np.clip(c, -1.0, 1.0)
    return (np.sqrt(1 - c**2) + c * (np.pi - np.arccos(c))) / np.pi
