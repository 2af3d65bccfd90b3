"""Train small classifiers: does a deeper network fit its training data worse? (He et al. 2015, arXiv:1512.03385)

Training is a generator: each `next` goes on for some steps, so a notebook can show progress, stop and go on.
"""

import contextlib
import copy
import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import layers
from . import stacks
from .stacks import check_choice

HE = np.sqrt(2)  # gain of a matrix before a ReLU: He et al. 2015, arXiv:1502.01852, eq. 10
NORMS = {
    **stacks.NORMS,
    "batch": layers.BatchNorm,
    "group": layers.GroupNorm,
    "dynamic tanh": layers.DynamicTanh,
}


def spirals(
    points: int = 600, arms: int = 3, noise: float = 0.1, turns: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points in the plane on the arms of a spiral, and for each the number of its arm.

    -> x (points, 2), y (points,) of int.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, arms, points)
    radius = rng.uniform(0.05, 1, points)
    angle = 2 * np.pi * (turns * radius + y / arms) + noise * rng.standard_normal(points)
    return 2 * radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), y


# ------------------------------------------------------------------------------ the classifier


def _block(kind, norm, alpha, width, rng, activation, gain, place):
    """Plain: one matrix, (norm), activation. Residual: x + alpha * branch of matrix, activation, matrix,
    with the norm in front of the branch ("pre") or after the sum ("post").
    """
    matrix = layers.Linear(width, width, rng, gain)
    norms = [NORMS[norm](width)] if norm else []
    if kind == "plain":
        return layers.Sequential(matrix, *norms, layers.Activation(activation))
    branch = [matrix, layers.Activation(activation), layers.Linear(width, width, rng)]
    if alpha == "learned":
        branch, alpha = [*branch, layers.Scale()], 1.0
    if place == "post":
        return layers.Sequential(layers.Residual(layers.Sequential(*branch), alpha), *norms)
    return layers.Residual(layers.Sequential(*norms, *branch), alpha)


class Classifier(layers.Sequential):
    """A deep network for points in classes: input matrix, blocks, output matrix. x (n, n_in) -> (n, classes).

    depth counts the (width, width) matrices of the blocks: one in a plain block, two in a residual one. A
    residual network has its norms in front of the branches and once more at the end (place="pre"), or after
    the sums ("post"). alpha: a number, or "learned", from 0. gain: of the matrices before an activation.
    ValueError for an unknown kind, norm or place, or a depth that is negative, or odd in a residual network.
    """

    def __init__(
        self, depth, kind="plain", norm=None, alpha=1.0, *, activation="relu", gain=HE, place="pre",
        n_in=2, classes=3, width=32, seed=0,
    ):  # fmt: skip
        check_choice("kind", kind, ("plain", "residual"))
        check_choice("norm", norm, (None, *NORMS))
        check_choice("place", place, ("pre", "post"))
        if depth < 0 or (kind == "residual" and depth % 2):
            raise ValueError(f"depth counts matrices, two in each residual block; it cannot be {depth}")
        rng = np.random.default_rng(seed)
        if kind == "plain":
            first, count = [layers.Linear(n_in, width, rng, gain), layers.Activation(activation)], depth
        else:
            first, count = [layers.Linear(n_in, width, rng)], depth // 2
        how = kind, norm, alpha, width, rng, activation, gain, place
        blocks = [_block(*how) for _ in range(count)]
        last = [NORMS[norm](width)] if norm and kind == "residual" and place == "pre" else []
        last += [layers.Linear(width, classes, rng)]
        super().__init__(layers.Sequential(*first), *blocks, layers.Sequential(*last))
        self.kind, self.norm, self.width, self.activation = kind, norm, width, activation

    @property
    def blocks(self):
        """The blocks between the input's matrix and the output's."""
        return self.layers[1:-1]

    def stream(self, x, without=()):
        """What runs through the network: after the input's matrix, after each block, and the scores.

        `without` names blocks that are left out, x going on unchanged.
        """
        first, *blocks, last = self.layers
        hs = [first(x)]
        for i, block in enumerate(blocks):
            hs.append(hs[-1] if i in without else block(hs[-1]))
        return [*hs, last(hs[-1])]

    def forward(self, x, without=()):
        """The scores of the classes."""
        return self.stream(x, without)[-1]


def leaves(layer) -> list[layers.Layer]:
    """The layers inside a layer that are not made of others, first to last."""
    if hasattr(layer, "branch"):
        return leaves(layer.branch)
    if hasattr(layer, "layers"):
        return [leaf for part in layer.layers for leaf in leaves(part)]
    return [layer]


def deepen(network: Classifier, extra: int) -> Classifier:
    """The same function, `extra` layers deeper: a copy of a plain network with identity layers behind it.

    They change nothing, because h >= 0 after a ReLU, so relu(h @ I + 0) = h: He et al. 2015, section 1.
    ValueError for a residual network, one with norms, or one of another activation.
    """
    if network.kind != "plain" or network.norm or network.activation != "relu":
        raise ValueError("relu(h @ I) is a layer of a plain network without norms; this one is another kind.")
    deeper = copy.deepcopy(network)
    identity = Classifier(extra, width=network.width).blocks
    for block in identity:
        block.layers[0].W = np.eye(network.width)
    deeper.layers = (*deeper.layers[:-1], *identity, deeper.layers[-1])
    return deeper


# ------------------------------------------------------------------------------ loss


def cross_entropy(scores: np.ndarray, y: np.ndarray) -> float:
    """Mean of -log softmax(scores)[y]: the price of the probability given to the right class.

    scores (n, classes), y (n,) of int -> number.
    """
    z = scores - scores.max(axis=1, keepdims=True)
    return (np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]).mean()


def cross_entropy_backward(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gradient of cross_entropy: (softmax(scores) - one_hot(y)) / n. -> (n, classes)."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(y)), y] -= 1
    return p / len(y)


@contextlib.contextmanager
def left_as_it_was(network: layers.Layer) -> Iterator[None]:
    """A network is only looked at: afterwards BatchNorm has its old running statistics, and what the layers
    remember of all the points for a backward pass, megabytes in a deep network, is let go."""
    kept = [(leaf, vars(leaf).copy()) for leaf in leaves(network)]
    try:
        yield
    finally:
        for leaf, before in kept:
            vars(leaf).clear()
            vars(leaf).update(before)


@np.errstate(over="ignore", invalid="ignore")
def evaluate(network: Classifier, x: np.ndarray, y: np.ndarray, without=()) -> tuple[float, float]:
    """Loss and share of wrong answers on all of x, y; BatchNorm by the statistics of x, kept as they were.

    x (n, n_in), y (n,) -> loss, error. Scores that are not finite count as wrong.
    """
    with left_as_it_was(network):
        scores = network.forward(x, without)
    right = (scores.argmax(axis=1) == y) & np.isfinite(scores).all(axis=1)
    return float(cross_entropy(scores, y)), float(1 - right.mean())


@np.errstate(over="ignore", invalid="ignore")
def first_not_finite(network: Classifier, x: np.ndarray) -> int | None:
    """Where does the first number appear that is not finite? 0: after the input's matrix, then the blocks.

    x (n, n_in) -> number of the block, one more than there are blocks for the scores; None: nowhere.
    """
    with left_as_it_was(network):
        hs = network.stream(x)
    return next((i for i, h in enumerate(hs) if not np.isfinite(h).all()), None)


def gradient_gaps(
    network: Classifier, x: np.ndarray, y: np.ndarray, h: float = 1e-6, directions: int = 8
) -> dict[str, float]:
    """How far off are the slopes of the loss that `backward` promises from those measured, in random directions?

    x (n, n_in), y (n,) -> {"weights", "γ", "β"}: |promised - measured| over the larger of the two, moving these
    alone; 0 is right, 1 means that one of them is nothing. The network stays as it was.
    """
    network.backward(cross_entropy_backward(network.forward(x), y))
    groups: dict = {"weights": [], "γ": [], "β": []}
    for leaf in leaves(network):
        for name in leaf.parameters:
            groups[{"gamma": "γ", "beta": "β"}.get(name, "weights")].append((leaf, name))
    return {name: _gap(network, x, y, slots, h, directions) for name, slots in groups.items()}


def _gap(network, x, y, slots, h, directions):
    rng = np.random.default_rng(0)
    kept = [(getattr(leaf, name), getattr(leaf, "d" + name)) for leaf, name in slots]
    promised, measured = np.zeros((2, directions))
    for i in range(directions):
        moves = [rng.standard_normal(w.shape) for w, _ in kept]
        promised[i] = sum((g * move).sum() for (_, g), move in zip(kept, moves))
        for step in (h, -h):
            for (leaf, name), (w, _), move in zip(slots, kept, moves):
                setattr(leaf, name, w + step * move)
            measured[i] += cross_entropy(network.forward(x), y) / (2 * step)
    for (leaf, name), (w, _) in zip(slots, kept):
        setattr(leaf, name, w)
    size = max(map(np.linalg.norm, (promised, measured)))
    return float(np.linalg.norm(promised - measured) / (size or 1.0))


# ------------------------------------------------------------------------------ optimizers


class SGD:
    """Gradient descent with momentum, v = momentum * v + g, w = w - lr * v, in place."""

    def __init__(self, lr=0.02, momentum=0.9):
        self.lr, self.momentum, self.v = lr, momentum, None

    def update(self, w, g):
        """w, g: lists of arrays; w changes."""
        self.v = self.v or [np.zeros_like(one) for one in w]
        for wi, gi, v in zip(w, g, self.v):
            v *= self.momentum
            v += gi
            wi -= self.lr * v


class Adam:
    """Each weight's step is its mean gradient over the root of its mean squared gradient, in place.

    Kingma & Ba 2014, arXiv:1412.6980, algorithm 1.
    """

    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        self.lr, self.beta1, self.beta2, self.eps = lr, beta1, beta2, eps
        self.t, self.m, self.v = 0, None, None

    def update(self, w, g):
        """w, g: lists of arrays; w changes."""
        self.m = self.m or [np.zeros_like(one) for one in w]
        self.v = self.v or [np.zeros_like(one) for one in w]
        self.t += 1
        for wi, gi, m, v in zip(w, g, self.m, self.v):
            m += (1 - self.beta1) * (gi - m)
            v += (1 - self.beta2) * (gi**2 - v)
            m_hat, v_hat = m / (1 - self.beta1**self.t), v / (1 - self.beta2**self.t)
            wi -= self.lr * m_hat / (np.sqrt(v_hat) + self.eps)


OPTIMIZERS = {"sgd": SGD, "adam": Adam}


# ------------------------------------------------------------------------------ training


@dataclass(frozen=True)
class Progress:
    """Where training stands: after `step` steps, loss and share of wrong answers on the training data.

    where: if the last step met a number that is not finite, the block in which it appeared first.
    """

    step: int
    loss: float
    error: float
    where: int | None = None

    @property
    def diverged(self):
        """True when the loss is no longer a number; training ends at the next step at the latest."""
        return not np.isfinite(self.loss)


def batches(n: int, batch: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Indices of one batch after another, for ever: all data in random order, then all again."""
    while True:
        order = rng.permutation(n)
        for start in range(0, n - batch + 1, batch):
            yield order[start : start + batch]


@np.errstate(over="ignore", invalid="ignore")
def train_step(network: layers.Layer, optimizer, x: np.ndarray, y: np.ndarray) -> float:
    """One step on one batch; returns the batch's loss and leaves the weights alone when that is not finite."""
    scores = network.forward(x)
    loss = cross_entropy(scores, y)
    if np.isfinite(loss):
        network.backward(cross_entropy_backward(scores, y))
        slots = [(leaf, name) for leaf in leaves(network) for name in leaf.parameters]
        weights = [getattr(leaf, name) for leaf, name in slots]
        optimizer.update(weights, [getattr(leaf, "d" + name) for leaf, name in slots])
    return loss


def train(
    network: Classifier,
    x: np.ndarray,
    y: np.ndarray,
    *,
    steps: int = 400,
    optimizer="sgd",
    lr: float = 0.02,
    batch: int = 64,
    every: int = 20,
    seed: int = 0,
) -> Iterator[Progress]:
    """Train a network in place, yielding its Progress after every `every` steps and after the last.

    x (n, n_in), y (n,). optimizer: "sgd" (momentum 0.9) or "adam". The network after a step depends on
    seed only, not on `every` or on pauses. A loss that is not finite ends it, with a last Progress.
    ValueError, at the first `next`, for an unknown optimizer, or a batch larger than the data.
    """
    check_choice("optimizer", optimizer, OPTIMIZERS)
    if not 1 <= batch <= len(x):
        raise ValueError(f"batch must be between 1 and the number of points, {len(x)}, not {batch}")
    optimizer = OPTIMIZERS[optimizer](lr)
    rows_of = batches(len(x), batch, np.random.default_rng([seed, 1]))
    for step in range(1, steps + 1):
        rows = next(rows_of)
        if not np.isfinite(train_step(network, optimizer, x[rows], y[rows])):
            where = first_not_finite(network, x[rows])
            yield Progress(step, np.nan, evaluate(network, x, y)[1], where)
            return
        if step % every == 0 or step == steps:
            yield Progress(step, *evaluate(network, x, y))


class OneVector:
    """A network's weights as one vector w, so that a step is w - lr * g; x (n, n_in), y (n,): its data."""

    def __init__(self, network, x, y):
        self.network, self.x, self.y = network, x, y
        self.slots = [(leaf, name) for leaf in leaves(network) for name in leaf.parameters]
        self.w = _joined(getattr(leaf, name) for leaf, name in self.slots)
        start = 0
        for leaf, name in self.slots:  # each parameter becomes a part of the vector
            shape, size = getattr(leaf, name).shape, getattr(leaf, name).size
            setattr(leaf, name, self.w[start : start + size].reshape(shape))
            start += size

    @np.errstate(over="ignore", invalid="ignore")
    def gradients(self, w, rows):
        """Gradients at w of the loss on some rows of the data, one array for each parameter."""
        self.w[:] = w
        scores = self.network.forward(self.x[rows])
        self.network.backward(cross_entropy_backward(scores, self.y[rows]))
        return [getattr(leaf, "d" + name) for leaf, name in self.slots]

    def gradient(self, w, rows):
        """The same as one vector. -> (n,)."""
        return _joined(self.gradients(w, rows))

    def progress(self, step, w):
        """Loss and share of wrong answers at w, on all data -> Progress."""
        self.w[:] = w
        return Progress(step, *evaluate(self.network, self.x, self.y))


def _joined(arrays):
    return np.concatenate([a.ravel() for a in arrays])


# ------------------------------------------------------------------------------ lesions


@dataclass(frozen=True)
class Lesions:
    """Share of wrong answers of the whole network, and without each block in turn: without (blocks,)."""

    base: float
    without: np.ndarray


def lesion_errors(network: Classifier, x: np.ndarray, y: np.ndarray) -> Lesions:
    """What does a trained network lose when one block is deleted, x going on unchanged?

    x (n, n_in), y (n,). Veit et al. 2016, arXiv:1605.06431.
    """
    without = [evaluate(network, x, y, {i})[1] for i in range(len(network.blocks))]
    return Lesions(evaluate(network, x, y)[1], np.array(without))


@functools.lru_cache(maxsize=8)
def trained_lesions(seed: int = 0, **kind) -> Lesions:
    """Train a Classifier(**kind) on the spiral (Adam, 400 steps), then delete each block in turn -> Lesions."""
    x, y = spirals(seed=seed)
    network = Classifier(**kind, seed=seed)
    for _ in train(network, x, y, optimizer="adam", lr=1e-3, every=400, seed=seed):
        pass
    return lesion_errors(network, x, y)


def chance_error(y: np.ndarray) -> float:
    """Share of wrong answers when one always guesses the largest class. y (n,) of int -> number."""
    return 1 - np.bincount(y).max() / len(y)


def random_lesion_errors(
    network: Classifier, x: np.ndarray, y: np.ndarray, k: int, *, trials: int = 20, seed: int = 0
) -> np.ndarray:
    """Share of wrong answers after k random blocks are deleted, in each of some trials. -> (trials,).

    ValueError when k is more than the network has. Veit et al. 2016, arXiv:1605.06431.
    """
    blocks = len(network.blocks)
    if not 0 <= k <= blocks:
        raise ValueError(f"k must be between 0 and the number of blocks, {blocks}, not {k}")
    rng = np.random.default_rng(seed)
    chosen = [set(rng.choice(blocks, k, replace=False).tolist()) for _ in range(trials)]
    return np.array([evaluate(network, x, y, without)[1] for without in chosen])
