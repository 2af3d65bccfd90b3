"""Statistics over a batch: how noisy they are, who remembers them, and what they cost in training and at init."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .. import layers
from .stacks import Weights, input_gradient, lengths
from .training import HE, NORMS, Classifier, leaves, left_as_it_was, train

# ------------------------------------------------------------------------------ noise


@dataclass(frozen=True)
class BatchNoise:
    """Many batches of the same size, one channel of values from N(0, 1).

    mean, var, error: root mean square errors of the batch's mean (true: 0), of its biased variance (true: 1),
    and of an output (true: the input). x, y (500,): the first value of some batches, and its output.
    """

    mean: float
    var: float
    error: float
    x: np.ndarray
    y: np.ndarray


@functools.lru_cache(maxsize=256)
def batch_noise(batch: int, seed: int = 0) -> BatchNoise:
    """How noisy are the statistics of a batch of this size, and what does that do to an output? -> BatchNoise."""
    draws = max(4000, 2**17 // batch)
    x = np.random.default_rng([seed, batch]).standard_normal((draws, batch))
    # A row is one batch of one channel. batch_norm itself refuses batches of one.
    y = layers.layer_norm(x, 1.0, 0.0)
    errors = x.mean(axis=1), x.var(axis=1) - 1, y - x
    of_mean, of_var, of_output = (float(np.sqrt((error**2).mean())) for error in errors)
    return BatchNoise(of_mean, of_var, of_output, x[:500, 0].copy(), y[:500, 0].copy())


def noise_theory(batch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The errors of mean and biased variance of a batch from N(0, 1), by theory.

    batch (any shape) -> two arrays of the same shape."""
    return batch**-0.5, np.sqrt(2 * batch - 1) / batch


# ------------------------------------------------------------------------------ who depends on whom

EXAMPLES = np.random.default_rng(0).standard_normal((16, 4))


def over_batch(x: np.ndarray) -> np.ndarray:
    """BatchNorm in training, nothing scaled or shifted. x (N, C) or (N, C, ...) -> the same."""
    one, zero = np.ones(x.shape[1]), np.zeros(x.shape[1])
    return layers.batch_norm(x, one, zero, zero, one, training=True)[0]


def neighbours_moved(norm, batch: int, chosen: int, by: float) -> tuple[np.ndarray, np.ndarray]:
    """The first feature of one of EXAMPLES[:batch] is moved -> outputs before and then, (batch, 4)."""
    before = EXAMPLES[:batch]
    now = before.copy()
    now[chosen, 0] += by
    return norm(before), norm(now)


# ------------------------------------------------------------------------------ sequences


def over_tokens(x: np.ndarray) -> np.ndarray:
    """BatchNorm in training, over batch and tokens together. x (N, T, C) -> (N, T, C)."""
    return over_batch(x.swapaxes(1, 2)).swapaxes(1, 2)


LONGEST = 100  # tokens


@dataclass(frozen=True)
class PositionStatistics:
    """At each position, over the sequences that still have a token there: count, mean, std (positions,)."""

    count: np.ndarray
    mean: np.ndarray
    std: np.ndarray


@functools.lru_cache(maxsize=64)
def position_statistics(sequences: int, seed: int = 0, shortest: int = 10) -> PositionStatistics:
    """Lengths evenly from `shortest` to LONGEST, tokens of one feature from N(0, 1) -> PositionStatistics."""
    mask = np.arange(LONGEST) < np.linspace(shortest, LONGEST, sequences).round()[:, None]
    x = np.random.default_rng([seed, sequences]).standard_normal(mask.shape)
    count = mask.sum(axis=0)
    mean = (x * mask).sum(axis=0) / count
    var = ((x - mean) ** 2 * mask).sum(axis=0) / count
    return PositionStatistics(count, mean, np.sqrt(var))


SHARES = np.array([10, 20, 30, 40, 50, 60, 80, 100])  # of LONGEST, in percent, when the shortest is 10


@functools.lru_cache(maxsize=64)
def padded_sequences(shortest: int = 10, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Eight sequences with zeros behind them; each feature of the tokens has mean 0 and spread 1 exactly.

    -> x (8, LONGEST, features), mask (8, LONGEST) of bool.
    """
    length = shortest + (SHARES - 10) / 90 * (LONGEST - shortest)
    mask = np.arange(LONGEST) < length.round()[:, None]
    tokens = np.random.default_rng(seed).standard_normal((mask.sum(), features))
    x = np.zeros((*mask.shape, features))
    x[mask] = (tokens - tokens.mean(axis=0)) / tokens.std(axis=0)
    return x, mask


# ------------------------------------------------------------------------------ running statistics


def stream(steps: int, batch: int, seed: int = 0) -> np.ndarray:
    """Batches of three channels whose means and spreads differ. -> (steps, batch, 3)."""
    rng = np.random.default_rng([seed, batch])
    return rng.standard_normal((steps, batch, 3)) * STREAM_STD + STREAM_MEAN


STREAM_MEAN, STREAM_STD = np.array([5.0, -1.0, 0.0]), np.array([2.0, 1.0, 0.5])


def running_statistics(batch_norm, batches, momentum: float) -> tuple[np.ndarray, np.ndarray]:
    """Give the batches to batch_norm in training, one after the other, beginning with mean 0 and variance 1.

    batches (steps, batch, C) -> running mean and variance before the first and after each, (steps + 1, C).
    """
    one, zero = np.ones(batches.shape[-1]), np.zeros(batches.shape[-1])
    kept = [(zero, one)]
    for x in batches:
        kept.append(batch_norm(x, one, zero, *kept[-1], True, momentum, 1e-5)[1:])
    means, variances = zip(*kept)
    return np.array(means, dtype=float), np.array(variances, dtype=float)


def both_modes(batch_norm, batches, statistics, momentum: float) -> tuple[np.ndarray, np.ndarray]:
    """The outputs of new batches in training, and by these running statistics. batches (n, batch, C) -> two of them."""
    one, zero = np.ones(batches.shape[-1]), np.zeros(batches.shape[-1])

    def outputs(training):
        return np.array([batch_norm(x, one, zero, *statistics, training, momentum, 1e-5)[0] for x in batches])

    return outputs(True), outputs(False)


# ------------------------------------------------------------------------------ training with small batches

BATCH_SIZES = (2, 4, 8, 16, 32, 64)
COMPARED = {"BatchNorm": "batch", "LayerNorm": "layer", "GroupNorm": "group", "no norm": None}
PAUSE = 31  # steps, times the number of epochs: training is heard of about every 250 steps


@functools.lru_cache(maxsize=2)
def clusters(points: int = 1500, seed: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points around 24 centres in 20 dimensions, three centres a class; training data, then test data.

    -> x (points, 20), y (points,), x_test (points, 20), y_test (points,).
    """
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((24, 20))
    chosen = rng.integers(0, 24, 2 * points)
    x, y = centres[chosen] + 0.8 * rng.standard_normal((2 * points, 20)), chosen % 8
    return x[:points], y[:points], x[points:], y[points:]


def error_on(network: Classifier, x: np.ndarray, y: np.ndarray, batch: int | None = None) -> float:
    """Share of wrong answers; BatchNorm by its running statistics, or by those of test batches of this size.

    x (n, n_in), y (n,) -> number. A rest that fills no batch is left out.
    """
    size = batch or len(x)
    with left_as_it_was(network):
        for leaf in leaves(network):
            if isinstance(leaf, layers.BatchNorm):
                leaf.training = batch is not None
        scores = [network(x[start : start + size]) for start in range(0, len(x) - size + 1, size)]
    answers = np.concatenate(scores).argmax(axis=1)
    return float((answers != y[: len(answers)]).mean())


def train_with_batches(norm: str | None, batch: int, epochs: int = 8, seed: int = 0) -> Iterator:
    """Train a Classifier with this norm on the clusters; a generator that ends by yielding the trained network.

    Before that it yields None at every PAUSE. The learning rate grows with the batch, as in Goyal et al. 2017,
    arXiv:1706.02677.
    """
    x, y, *_ = clusters()
    network = Classifier(3, norm=norm, n_in=20, classes=8, width=64, seed=seed)
    steps, lr = epochs * (len(x) // batch), 0.05 * batch / 32
    for progress in train(network, x, y, steps=steps, lr=lr, batch=batch, every=epochs * PAUSE, seed=seed):
        if progress.step < steps and not progress.diverged:
            yield None
    yield network


def compare_batch_sizes(epochs: int = 8, seeds: int = 3) -> Iterator[dict]:
    """Test error of networks trained with batches of different sizes: Wu & He 2018, figure 1, in miniature.

    A generator: yields {(name, batch): list of errors, one a seed}, again and again as it fills; the names
    are those of COMPARED, and "BatchNorm by batch": the same networks tested by the statistics of test batches.
    """
    errors: dict = {}
    *_, x, y = clusters()
    for seed in range(seeds):
        for batch in reversed(BATCH_SIZES):
            for name, norm in COMPARED.items():
                for network in train_with_batches(norm, batch, epochs, seed):
                    if network:
                        errors.setdefault((name, batch), []).append(error_on(network, x, y))
                        if norm == "batch":
                            by_batches = errors.setdefault(("BatchNorm by batch", batch), [])
                            by_batches.append(error_on(network, x, y, batch))
                    yield errors


def comparison_steps(seeds: int = 3) -> int:
    """How often compare_batch_sizes yields, whatever the number of epochs."""
    batches_an_epoch = [len(clusters()[0]) // batch for batch in BATCH_SIZES]
    return seeds * len(COMPARED) * sum(-(-count // PAUSE) for count in batches_an_epoch)


# ------------------------------------------------------------------------------ at initialization


def _run_by(norm, backward):
    if backward:
        norm.backward = lambda dy: backward(dy, norm.x, norm.gamma, norm.eps)
    return norm


@functools.lru_cache(maxsize=64)
def gradient_growth(
    norm: str | None = "batch",
    activation: str = "relu",
    batch: int = 128,
    residual: bool = False,
    *,
    backward: Callable | None = None,
    depth: int = 30,
    width: int = 64,
    seed: int = 0,
) -> np.ndarray:
    """The gradient in a network in which each layer is a matrix, a norm (or None) and an activation.

    residual: the layer's input is added to that. backward(dy, x, gamma, eps) -> dx: a norm's gradient, if not
    its own. -> (depth + 1,): |dL/dh_l| over |dL/dh_depth|, the input's first. Yang et al. 2019, arXiv:1902.08129.
    """
    rng, data = Weights(seed), np.random.default_rng([seed, 0])
    gain = HE if activation == "relu" else 1.0
    blocks: list[layers.Layer] = [
        layers.Sequential(
            layers.Linear(width, width, rng, gain),
            *([_run_by(NORMS[norm](width), backward)] if norm else []),
            layers.Activation(activation),
        )
        for _ in range(depth)
    ]
    if residual:
        blocks = [layers.Residual(block) for block in blocks]
    layers.Sequential(*blocks)(data.standard_normal((batch, width)))
    dhs = [data.standard_normal((batch, width))]
    for block in reversed(blocks):
        dhs.append(input_gradient(block, dhs[-1]))
    norms = lengths(dhs[::-1])
    return norms / norms[-1]


RELU_BATCH_NORM_GROWTH = float(np.sqrt(np.pi / (np.pi - 1)))  # a layer, for large batches: Yang et al. 2019
