"""Transformers in NumPy: what a fresh one does to signal and gradient, and small ones in training.

Xiong et al. 2020, arXiv:2002.04745: where does the norm stand, and does training need warm-up?
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import layers
from .stacks import NORMS, check_choice, lengths
from .training import Adam, Progress, cross_entropy, cross_entropy_backward, train_step

PLACES = ("pre-norm", "post-norm")


class Embedding(layers.Layer):
    """A row of numbers for each token, one for each position, added. ids (..., tokens) -> (..., tokens, d_model)."""

    parameters = ("E", "P")

    def __init__(self, vocabulary, tokens, d_model, rng):
        self.E = rng.normal(0, np.sqrt(0.5), (vocabulary, d_model))
        self.P = rng.normal(0, np.sqrt(0.5), (tokens, d_model))

    def forward(self, ids):
        self.ids = ids
        return self.E[ids] + self.P

    def backward(self, dy):
        self.dE, self.dP = np.zeros_like(self.E), dy.sum(axis=tuple(range(dy.ndim - 2)))
        np.add.at(self.dE, self.ids, dy)


class Transformer(layers.Sequential):
    """Embedding, blocks, output matrix; nobody looks ahead. ids (batch, tokens) -> scores (batch * tokens, vocabulary).

    Pre-norm: a last norm follows the blocks unless final_norm is False. Post-norm: one follows the embedding,
    as in BERT. ValueError for an unknown place or norm.
    """

    def __init__(
        self,
        depth,
        place="pre-norm",
        *,
        norm="layer",
        final_norm=True,
        d_model=64,
        n_heads=4,
        d_ff=256,
        vocabulary=64,
        tokens=16,
        seed=0,
    ):
        check_choice("place", place, PLACES)
        check_choice("norm", norm, NORMS)
        rng, norm, post = np.random.default_rng(seed), NORMS[norm], place == "post-norm"
        start = [Embedding(vocabulary, tokens, d_model, rng), *[norm(d_model)] * post]
        self.blocks = [layers.TransformerBlock(d_model, n_heads, d_ff, rng, norm, post) for _ in range(depth)]
        end = [*[norm(d_model)] * (final_norm and not post), layers.Linear(d_model, vocabulary, rng)]
        super().__init__(layers.Sequential(*start), *self.blocks, layers.Sequential(*end))
        self.mask = layers.causal_mask(tokens)

    def forward(self, ids):
        start, *blocks, end = self.layers
        self.stream = [start(ids)]
        for block in blocks:
            self.stream.append(block(self.stream[-1], self.mask))
        scores = end(self.stream[-1])
        return scores.reshape(-1, scores.shape[-1])

    def backward(self, dy):
        return super().backward(dy.reshape(*self.stream[0].shape[:-1], -1))


# ------------------------------------------------------------------------------ before training


@dataclass(frozen=True)
class Fresh:
    """What a fresh transformer does with random tokens.

    square (depth + 1,): mean square of the stream, the first block's input first; dW (depth,): length of the
    gradient of each block's last matrix; loss: cross-entropy.
    """

    square: np.ndarray
    dW: np.ndarray
    loss: float


@functools.lru_cache(maxsize=256)
def fresh(depth: int, place: str = "pre-norm", final_norm: bool = True, seed: int = 0, **kind) -> Fresh:
    """One forward and one backward pass of a fresh Transformer, 8 sequences of random tokens and targets."""
    network = Transformer(depth, place, final_norm=final_norm, seed=seed, **kind)
    ids, y = np.random.default_rng([seed, 0]).integers(0, 64, (2, 8, 16))
    scores = network(ids)
    network.backward(cross_entropy_backward(scores, y.ravel()))
    square = np.array([(h**2).mean() for h in network.stream])
    dW = lengths([block.ffn.layers[-1].dW for block in network.blocks])
    return Fresh(square, dW, float(cross_entropy(scores, y.ravel())))


DEPTHS = (2, 4, 8, 12, 16, 24)


@dataclass(frozen=True)
class ByDepth:
    """Means over three networks of each of the DEPTHS: rms of the stream at the end, |dL/dW| of the last matrix, loss."""

    rms: np.ndarray
    dW: np.ndarray
    loss: np.ndarray


@functools.lru_cache(maxsize=8)
def by_depth(place: str = "pre-norm", final_norm: bool = True) -> ByDepth:
    """How do stream, last gradient and loss of a fresh Transformer go with its depth? Post-norm has its last norm anyway."""
    final_norm = final_norm or place == "post-norm"
    seen = [[fresh(depth, place, final_norm, seed) for seed in range(3)] for depth in DEPTHS]
    values = [[(np.sqrt(one.square[-1]), one.dW[-1], one.loss) for one in row] for row in seen]
    return ByDepth(*np.mean(values, axis=1).T)


@functools.lru_cache(maxsize=8)
def _halves(place="pre-norm", depth=24):
    """Input of a fresh Transformer's blocks, and (branch, norm) of each half of each block, in order."""
    network = Transformer(depth, place)
    x = network.layers[0](np.random.default_rng([0, 0]).integers(0, 64, (8, 16)))  # those of `fresh`
    halves: list = []
    for block in network.blocks:
        halves.append((functools.partial(block.attn.forward, mask=network.mask), block.ln1))
        halves.append((block.ffn, block.ln2))
    return x, halves


@functools.lru_cache(maxsize=8)
def stream_squares(block, place: str = "pre-norm") -> np.ndarray:
    """Mean square of the stream after each of 24 layers, when block(x, f, norm) wires both halves of each. -> (25,)."""
    h, halves = _halves(place)
    squares = [(h**2).mean()]
    for f, norm in halves:
        h = block(h, f, norm)
        squares.append((h**2).mean())
    return np.array(squares[::2])


@functools.lru_cache(maxsize=64)
def stack_rms(stack, depth: int, factor: float = 1.0) -> np.ndarray:
    """Root mean squares that stack(x, fs, norms, final_norm) lets happen: of what each norm is given, and of its result.

    factor: on the last matrix of every branch. -> (norms that were called + 1,), the result last.
    """
    x, halves = _halves()
    given = []

    def listening(norm):
        def run(h):
            given.append(rms(h))
            return norm(h)

        return run

    fs = [
        lambda h, f=f: factor * f(h) for f, _ in halves[: 2 * depth]
    ]  # the branches end in a matrix, bias 0
    norms = [listening(norm) for _, norm in halves[: 2 * depth]]
    y = stack(x, fs, norms, listening(layers.LayerNorm(x.shape[-1])))
    return np.array([*given, rms(y)])


def rms(h: np.ndarray) -> float:
    """Root mean square of all values."""
    return float(np.sqrt((h**2).mean()))


def block_updates(depth: int = 24, seed: int = 0) -> np.ndarray:
    """How far is each block of a fresh pre-norm Transformer from doing nothing? |J - I| / |I|, J its Jacobian.

    Measured on random gradients on their way back. -> (depth,).
    """
    network = Transformer(depth, seed=seed)
    network(np.random.default_rng([seed, 0]).integers(0, 64, (8, 16)))
    dy = np.random.default_rng([seed, 1]).standard_normal(network.stream[0].shape)
    return np.array([np.linalg.norm(block.backward(dy) - dy) for block in network.blocks]) / np.linalg.norm(
        dy
    )


# ------------------------------------------------------------------------------ who looks at whom


def one_block(causal: bool, tokens: int = 8) -> tuple:
    """A fresh block of 32 features and 4 heads: its x (tokens, 32), its attention with the mask set, and itself."""
    block = layers.TransformerBlock(32, 4, 128, np.random.default_rng(1))
    mask = layers.causal_mask(tokens) if causal else None
    x = np.random.default_rng(2).standard_normal((tokens, 32))
    return x, functools.partial(block.attn.forward, mask=mask), block


def replaced(x: np.ndarray, token: int) -> np.ndarray:
    """x with another token in this place; x (tokens, d), token from 0."""
    other = x.copy()
    other[token] = np.random.default_rng(3).standard_normal(x.shape[-1])
    return other


def changes(y: np.ndarray, other: np.ndarray) -> np.ndarray:
    """By how much does each token differ? Root mean square over its features. (..., tokens, d) -> (..., tokens)."""
    return np.sqrt(((other - y) ** 2).mean(axis=-1))


# ------------------------------------------------------------------------------ in training

SMALL = {"d_model": 32, "n_heads": 2, "d_ff": 32, "vocabulary": 8, "tokens": 8}


def previous_token(
    batch: int, rng: np.random.Generator, vocabulary: int = 8, tokens: int = 8
) -> tuple[np.ndarray, np.ndarray]:
    """Random tokens, and for each position the token before it; the first says itself. -> two (batch, tokens)."""
    ids = rng.integers(0, vocabulary, (batch, tokens))
    return ids, np.concatenate([ids[:, :1], ids[:, :-1]], axis=1)


def train_transformer(
    place: str = "pre-norm",
    warm_up: int = 0,
    lr: float = 0.01,
    depth: int = 8,
    *,
    final_norm: bool = True,
    steps: int = 200,
    every: int = 10,
    seed: int = 0,
) -> Iterator[Progress]:
    """Train a small Transformer to say the token before; yields its Progress after every `every` steps.

    Adam(0.9, 0.98), 16 fresh sequences a step. The learning rate rises in equal steps to lr during the first
    warm_up steps, then stays. Loss and error are those on 32 sequences that no step has seen.
    """
    network = Transformer(depth, place, final_norm=final_norm, **SMALL, seed=seed)
    rng = np.random.default_rng([seed, 1])
    seen, wanted = previous_token(32, rng)
    optimizer = Adam(lr, beta2=0.98)
    for step in range(1, steps + 1):
        ids, y = previous_token(16, rng)
        optimizer.lr = lr * min(1, step / warm_up) if warm_up else lr
        train_step(network, optimizer, ids, y.ravel())
        if step % every == 0:
            scores = network(seen)
            error = (scores.argmax(axis=1) != wanted.ravel()).mean()
            yield Progress(step, float(cross_entropy(scores, wanted.ravel())), float(error))
