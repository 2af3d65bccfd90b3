"""A network of your own choice in training, with what happens inside; six remedies; the Jacobian's spectrum."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import layers
from . import stacks, training
from .training import HE, Classifier, Progress

STEPS, EVERY = 400, 20  # of training; steps between two looks at a network
LOOK = 128  # points


@functools.lru_cache(maxsize=2)
def spirals() -> tuple[np.ndarray, np.ndarray]:
    """The points that all networks here learn; they are only read."""
    return training.spirals()


@dataclass(frozen=True)
class Snapshot:
    """A network in training. spread, gradient (blocks + 1,): standard deviation of the stream after the input's
    matrix and after each block, and the length of the loss's gradient there, for the first LOOK points."""

    progress: Progress
    spread: np.ndarray
    gradient: np.ndarray


@np.errstate(over="ignore", invalid="ignore")
def snapshot(network: Classifier, x: np.ndarray, y: np.ndarray, progress) -> Snapshot:
    """Look into a network without changing it. x (n, n_in), y (n,) -> Snapshot."""
    x, y = x[:LOOK], y[:LOOK]
    with training.left_as_it_was(network):
        *hs, scores = network.stream(x)
        dhs = [stacks.input_gradient(network.layers[-1], training.cross_entropy_backward(scores, y))]
        for block in reversed(network.blocks):
            dhs.append(stacks.input_gradient(block, dhs[-1]))
    return Snapshot(progress, np.array([h.std() for h in hs]), stacks.lengths(dhs[::-1]))


def watch(network: Classifier, x: np.ndarray, y: np.ndarray, every: int = EVERY, **how) -> Iterator[Snapshot]:
    """Train a network in place; yields a Snapshot before the first step, and after every `every` steps."""
    yield snapshot(network, x, y, Progress(0, *training.evaluate(network, x, y)))
    for progress in training.train(network, x, y, every=every, **how):
        yield snapshot(network, x, y, progress)


# ------------------------------------------------------------------------------ remedies

REMEDIES: dict[str, dict] = {  # of a residual network, by name: what Classifier is told
    "no remedy": {},
    "α = 1/√20": {"alpha": 20**-0.5},
    "ReZero": {"alpha": "learned"},
    "LayerNorm": {"norm": "layer"},
    "RMSNorm": {"norm": "rms"},
    "Dynamic Tanh": {"norm": "dynamic tanh"},
    "BatchNorm": {"norm": "batch"},
}


def shoot_out(
    lr: float = 0.02, seed: int = 0, depth: int = 40, steps: int = STEPS, every: int = EVERY
) -> Iterator[dict]:
    """Train one deep residual network with each of the REMEDIES, side by side.

    Yields {name: Progress} after every `every` steps; a network that diverged stays as it was.
    """
    x, y = spirals()
    runs = {
        name: training.train(
            Classifier(depth, "residual", **remedy, seed=seed),
            x,
            y,
            steps=steps,
            every=every,
            lr=lr,
            seed=seed,
        )
        for name, remedy in REMEDIES.items()
    }
    seen: dict = {}
    for _ in range(-(-steps // every)):
        seen = {name: next(run, seen.get(name)) for name, run in runs.items()}
        yield seen


# ------------------------------------------------------------------------------ the Jacobian

RESIDUAL = {"activation": "relu", "gain": HE, "branch_layers": 2}
CHAINS = {  # networks at initialization, by name: what Stack is told
    "plain, linear, orthogonal": {"activation": "linear"},
    "plain, linear": {"activation": "linear"},
    "plain, ReLU": {"activation": "relu", "gain": HE},
    "residual": {"wiring": "residual", **RESIDUAL},
    "residual × 1/√L": {"wiring": "scaled residual", **RESIDUAL},
    "pre-norm": {"wiring": "pre-norm", **RESIDUAL},
    "post-norm": {"wiring": "post-norm", **RESIDUAL},
}


@dataclass(frozen=True)
class Spectrum:
    """values (d,): the singular values of a Jacobian, the largest first."""

    values: np.ndarray

    @property
    def rms(self):
        """By how much a change of the input is stretched, on average over all directions."""
        return float(np.sqrt((self.values**2).mean()))

    @property
    def directions(self):
        """How many directions take part: (sum s^2)^2 / sum s^4, between 1 and d (participation ratio)."""
        share = (self.values / self.values[0]) ** 2
        return float(share.sum() ** 2 / (share**2).sum())


def jacobian(name: str, depth: int, width: int = 64, seed: int = 0) -> np.ndarray:
    """How does the output of a fresh network change with its input? The matrix dh_depth / dh_0 at one random input.

    name: one of CHAINS -> (width, width). Saxe et al. 2013, arXiv:1312.6120; Pennington et al. 2017,
    arXiv:1711.04735.
    """
    stacks.check_choice("name", name, CHAINS)
    if CHAINS[name].get("wiring") == "scaled residual":
        return _jacobians(name, depth, width, seed)[-1]
    # Any other network is the beginning of every deeper one.
    return _jacobians(name, max(depth, DEEPEST), width, seed)[depth - 1]


DEEPEST = 64  # depth that an explorer shows


@functools.lru_cache(maxsize=4)
def _jacobians(name, depth, width, seed):
    """The Jacobian after 1, 2, ... depth blocks: list of (width, width)."""
    network = stacks.Stack(depth, width=width, seed=seed, **CHAINS[name])
    if name.endswith("orthogonal"):
        for branch in network.branches:
            branch.layers[0].W = _orthogonal(branch.layers[0].W)
    h, slopes = np.random.default_rng([seed, 0]).standard_normal((1, width)), np.eye(width)
    seen = []
    for block in network.blocks:
        h, slopes = block(h), stacks.forward_gradient(block, slopes)
        seen.append(slopes.T)
    return seen


def _orthogonal(W):
    """An orthogonal matrix, drawn as evenly as W was. (d, d) -> (d, d)."""
    Q, R = np.linalg.qr(W)
    return Q * np.sign(np.diag(R))


@functools.lru_cache(maxsize=512)
def spectrum(name: str, depth: int, width: int = 64, seed: int = 0) -> Spectrum:
    """Singular values of `jacobian` -> Spectrum."""
    return Spectrum(np.linalg.svd(jacobian(name, depth, width, seed), compute_uv=False))


# ------------------------------------------------------------------------------ clipping


@dataclass(frozen=True)
class ClippedRun:
    """A network in training: its Progress so far, and the length of the gradient of each step, as it was used."""

    progress: list
    lengths: np.ndarray


@np.errstate(over="ignore", invalid="ignore")
def clipped_steps(
    clip, sgd_steps, lr: float = 0.15, max_norm: float = 1.0, seed: int = 0, every: int = EVERY
) -> Iterator[ClippedRun]:
    """Train 10 residual tanh blocks without a norm by these two functions; yields a ClippedRun every some steps.

    clip(gradients, max_norm) -> gradients; sgd_steps(w, grad_fn, batches, lr) -> w.
    """
    x, y = spirals()
    net = training.OneVector(Classifier(20, "residual", activation="tanh", seed=seed), x, y)
    rows, w = training.batches(len(x), 16, np.random.default_rng([seed, 1])), net.w.copy()
    seen, lengths = [net.progress(0, w)], []

    def grad_fn(w, batch):
        clipped = clip(net.gradients(w, batch), max_norm)
        lengths.append(layers.grad_norms(None, clipped)[1])
        return np.concatenate([g.ravel() for g in clipped])

    for step in range(every, STEPS + 1, every):
        w = sgd_steps(w, grad_fn, [next(rows) for _ in range(every)], lr)
        seen.append(net.progress(step, w))
        yield ClippedRun(seen, np.array(lengths))
