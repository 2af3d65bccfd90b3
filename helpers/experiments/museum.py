"""Six small networks with one real bug each: the function as it was found, mended, and what one sees.

Each bug is of a kind that was reported in public; helpers/exercises/exhibits.py says where. All networks learn
the three spiral arms.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import layers
from ..layers import relu, relu_backward, rms_norm, rms_norm_backward
from . import training
from .stacks import lengths
from .training import HE, Classifier, OneVector, Progress, evaluate, train
from .workbench import spirals

STEPS, EVERY = 200, 10
WIDTH = 32


@dataclass(frozen=True)
class Symptoms:
    """progress: list of Progress so far; y over x: what the right panel shows."""

    progress: list
    x: np.ndarray
    y: np.ndarray


# ------------------------------------------------------------------------------ the functions


def train_steps_found(w, gradient, batches, lr):
    """w (n,), gradient(w, batch) -> (n,). Yields w after each step."""
    grad = np.zeros_like(w)
    for batch in batches:
        grad += gradient(w, batch)
        w = w - lr * grad
        yield w


def train_steps_mended(w, gradient, batches, lr):
    """w (n,), gradient(w, batch) -> (n,). Yields w after each step."""
    for batch in batches:
        grad = np.zeros_like(w)
        grad += gradient(w, batch)
        w = w - lr * grad
        yield w


def normalize_found(x, gamma, eps):
    """RMSNorm of each row. x (..., d), gamma (d,) -> (..., d)."""
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    rrms = 1 / np.sqrt(mean_square + eps)
    return gamma * x / rrms


def normalize_mended(x, gamma, eps):
    """RMSNorm of each row. x (..., d), gamma (d,) -> (..., d)."""
    mean_square = (x**2).mean(axis=-1, keepdims=True)
    rrms = 1 / np.sqrt(mean_square + eps)
    return gamma * x * rrms


def branch_weights_found(d, rng):
    """Of a branch relu(x @ W1) @ W2 that gives 0 before training; random weights: spread √(2/d). -> W1, W2 (d, d)."""
    W1 = np.zeros((d, d))
    W2 = np.zeros((d, d))
    return W1, W2


def branch_weights_mended(d, rng):
    """Of a branch relu(x @ W1) @ W2 that gives 0 before training; random weights: spread √(2/d). -> W1, W2 (d, d)."""
    W1 = rng.normal(0, np.sqrt(2 / d), (d, d))
    W2 = np.zeros((d, d))
    return W1, W2


def batch_norm_found(x, gamma, beta, running_mean, running_var, training):
    """x (n, d), the rest (d,). -> y (n, d), running_mean, running_var (d,).

    running_var keeps the biased variance, as ONNX and Keras 3 do: that is not the bug.
    """
    mean, var = x.mean(axis=0), x.var(axis=0)
    if training:
        running_mean = 0.9 * running_mean + 0.1 * mean
        running_var = 0.9 * running_var + 0.1 * var
    x_hat = (x - mean) / np.sqrt(var + 1e-5)
    return gamma * x_hat + beta, running_mean, running_var


def batch_norm_mended(x, gamma, beta, running_mean, running_var, training):
    """x (n, d), the rest (d,). -> y (n, d), running_mean, running_var (d,).

    running_var keeps the biased variance, as ONNX and Keras 3 do: that is not the bug.
    """
    mean, var = running_mean, running_var
    if training:
        mean, var = x.mean(axis=0), x.var(axis=0)
        running_mean = 0.9 * running_mean + 0.1 * mean
        running_var = 0.9 * running_var + 0.1 * var
    x_hat = (x - mean) / np.sqrt(var + 1e-5)
    return gamma * x_hat + beta, running_mean, running_var


def block_backward_found(dy, x, W1, W2):
    """Of y = x + relu(rms_norm(x) @ W1) @ W2. dy, x (n, d), W1, W2 (d, d) -> dx, dW1, dW2."""
    one = np.ones(x.shape[-1])
    u = rms_norm(x, one)
    z = u @ W1
    dW2 = relu(z).T @ dy
    dz = relu_backward(dy @ W2.T, z)
    dW1 = u.T @ dz
    dx, _ = rms_norm_backward(dz @ W1.T + dy, x, one)
    return dx, dW1, dW2


def block_backward_mended(dy, x, W1, W2):
    """Of y = x + relu(rms_norm(x) @ W1) @ W2. dy, x (n, d), W1, W2 (d, d) -> dx, dW1, dW2."""
    one = np.ones(x.shape[-1])
    u = rms_norm(x, one)
    z = u @ W1
    dW2 = relu(z).T @ dy
    dz = relu_backward(dy @ W2.T, z)
    dW1 = u.T @ dz
    dx, _ = rms_norm_backward(dz @ W1.T, x, one)
    return dx + dy, dW1, dW2


def clipped_step_found(w, g, lr, max_norm):
    """One step with clipping. w, g (n,) -> the new w, and the gradient's length for the log."""
    w = w - lr * g
    length = np.sqrt((g**2).sum())
    g = g * min(1, max_norm / (length + 1e-6))
    return w, np.sqrt((g**2).sum())


def clipped_step_mended(w, g, lr, max_norm):
    """One step with clipping. w, g (n,) -> the new w, and the gradient's length for the log."""
    length = np.sqrt((g**2).sum())
    g = g * min(1, max_norm / (length + 1e-6))
    w = w - lr * g
    return w, np.sqrt((g**2).sum())


# ------------------------------------------------------------------------------ what one sees


class Block(layers.Layer):
    """y = x + relu(rms_norm(x) @ W1) @ W2, with these weights and this backward pass."""

    parameters = ("W1", "W2")

    def __init__(self, W1, W2, backward=block_backward_mended):
        self.W1, self.W2, self.gradients = W1, W2, backward

    def forward(self, x):
        self.x = x
        return x + relu(rms_norm(x, np.ones(x.shape[-1])) @ self.W1) @ self.W2

    def backward(self, dy):
        dx, self.dW1, self.dW2 = self.gradients(dy, self.x, self.W1, self.W2)
        return dx


def _of_blocks(blocks):
    """A network around these blocks, with a last norm."""
    network = Classifier(0, "residual", "rms", width=WIDTH)
    first, last = network.layers
    network.layers = (first, *blocks, layers.Sequential(layers.RMSNorm(WIDTH), *last.layers))
    return network


def _trained(network, look):
    """Train a network; yields Symptoms before the first step and then every some steps. look(network) -> x, y."""
    x, y = spirals()
    seen = [Progress(0, *evaluate(network, x, y))]
    yield Symptoms(seen, *look(network))
    for progress in train(network, x, y, steps=STEPS, every=EVERY):
        seen = [*seen, progress]
        yield Symptoms(seen, *look(network))


def accumulating(train_steps) -> Iterator[Symptoms]:
    """Exhibit 1: the length of each step's gradient, read off the weights."""
    x, y = spirals()
    net, lr = OneVector(Classifier(8, "residual", "layer"), x, y), 0.1
    w, rows = net.w.copy(), training.batches(len(x), 64, np.random.default_rng([0, 1]))
    seen, used = [net.progress(0, w)], []
    yield Symptoms(seen, np.arange(0), np.array([]))
    steps = train_steps(w.copy(), net.gradient, [next(rows) for _ in range(STEPS)], lr)
    for step, new in enumerate(steps, 1):
        used.append(np.linalg.norm(new - w) / lr)
        w = new.copy()
        if step % EVERY == 0:
            seen = [*seen, net.progress(step, w)]
            yield Symptoms(seen, np.arange(1, step + 1), np.array(used))


def exploding(normalize) -> Iterator[Symptoms]:
    """Exhibit 2: the spread of the stream after each block of a pre-norm network."""
    network = Classifier(24, "residual", "rms")
    for leaf in training.leaves(network):
        if isinstance(leaf, layers.RMSNorm):
            leaf.forward = _norm_by(leaf, normalize)  # type: ignore[method-assign]

    @np.errstate(over="ignore", invalid="ignore")
    def look(network):
        *hs, _ = network.stream(spirals()[0])
        return np.arange(len(hs)), np.array([h.std() for h in hs])

    return _trained(network, look)


def _norm_by(leaf, normalize):
    @np.errstate(all="ignore")
    def forward(x):
        leaf.x = x
        return normalize(x, leaf.gamma, leaf.eps)

    return forward


def standing_still(branch_weights) -> Iterator[Symptoms]:
    """Exhibit 3: the length of the gradient of each block's weights."""
    rng = np.random.default_rng(0)
    network = _of_blocks([Block(*branch_weights(WIDTH, rng)) for _ in range(8)])
    x, y = spirals()

    def look(network):
        network.backward(training.cross_entropy_backward(network.forward(x), y))
        each = [np.hypot(*lengths([block.dW1, block.dW2])) for block in network.blocks]
        return np.arange(1, 9), np.array(each)

    return _trained(network, look)


SIZES = 2 ** np.arange(8)  # points evaluated at once


def one_by_one(batch_norm) -> Iterator[Symptoms]:
    """Exhibit 4: the share of wrong answers in evaluation, over how many points are evaluated at once."""
    network = Classifier(4, norm="batch")
    norms = [leaf for leaf in training.leaves(network) if isinstance(leaf, layers.BatchNorm)]
    for leaf in norms:
        leaf.forward = _batch_norm_by(leaf, batch_norm)  # type: ignore[method-assign]
    x, y = (part[: SIZES[-1]] for part in spirals())

    def wrong(network, size):
        scores = [network.forward(x[i : i + size]) for i in range(0, len(x), size)]
        return 100 * (np.concatenate(scores).argmax(axis=1) != y).mean()

    def look(network):
        for leaf in norms:
            leaf.training = False
        errors = np.array([wrong(network, size) for size in SIZES])
        for leaf in norms:
            leaf.training = True
        return SIZES, errors

    return _trained(network, look)


def _batch_norm_by(leaf, batch_norm):
    def forward(x):
        leaf.x, leaf.used_training = x, leaf.training
        y, leaf.running_mean, leaf.running_var = batch_norm(
            x, leaf.gamma, leaf.beta, leaf.running_mean, leaf.running_var, leaf.training
        )
        return y

    return forward


def fading(block_backward) -> Iterator[Symptoms]:
    """Exhibit 5: the length of the gradient in front of each block, relative to that behind the last one."""
    rng = np.random.default_rng(0)
    weights = [[rng.normal(0, gain / np.sqrt(WIDTH), (WIDTH, WIDTH)) for gain in (HE, 1)] for _ in range(12)]
    network = _of_blocks([Block(W1, W2, block_backward) for W1, W2 in weights])
    x, y = spirals()

    def look(network):
        dscores = training.cross_entropy_backward(network.forward(x), y)
        dhs = [network.layers[-1].backward(dscores)]
        for block in reversed(network.blocks):
            dhs.append(block.backward(dhs[-1]))
        return np.arange(13), lengths(dhs[::-1]) / lengths(dhs[:1])

    return _trained(network, look)


def spiking(clipped_step) -> Iterator[Symptoms]:
    """Exhibit 6: the length of each step's gradient, read off the weights; max_norm is 1."""
    x, y = spirals()
    net, lr = OneVector(Classifier(12, "residual", activation="tanh"), x, y), 0.1
    w, rows = net.w.copy(), training.batches(len(x), 16, np.random.default_rng([0, 1]))
    seen, used = [net.progress(0, w)], []
    yield Symptoms(seen, np.arange(0), np.array([]))
    for step in range(1, STEPS + 1):
        new, _ = clipped_step(w.copy(), net.gradient(w, next(rows)), lr, 1.0)
        used.append(np.linalg.norm(new - w) / lr)
        w = new
        if step % EVERY == 0:
            seen = [*seen, net.progress(step, w)]
            yield Symptoms(seen, np.arange(1, step + 1), np.array(used))


FOUND: dict[int, tuple] = {  # by number: the function as it was found, mended, and what one sees with it
    1: (train_steps_found, train_steps_mended, accumulating),
    2: (normalize_found, normalize_mended, exploding),
    3: (branch_weights_found, branch_weights_mended, standing_still),
    4: (batch_norm_found, batch_norm_mended, one_by_one),
    5: (block_backward_found, block_backward_mended, fading),
    6: (clipped_step_found, clipped_step_mended, spiking),
}
