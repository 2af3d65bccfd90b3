"""What do LayerNorm and RMSNorm cost? Operations counted in running code, and time measured in place."""

import functools
import time
from collections.abc import Iterator

import numpy as np

NUMBERS, REPEATS = 2**16, 20


def plain_layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """LayerNorm as few NumPy calls, in the dtype of x. x (rows, d) -> the same."""
    c = x - x.mean(axis=-1, keepdims=True)
    var = (c * c).mean(axis=-1, keepdims=True)
    return c / np.sqrt(var + eps) * gamma + beta


def plain_rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """RMSNorm as few NumPy calls, in the dtype of x. x (rows, d) -> the same."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gamma


def feed_forward(x: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The two matrices of a transformer's feed-forward network and the ReLU between them."""
    return np.maximum(x @ W1, 0) @ W2


@functools.lru_cache(maxsize=1)
def _arrays(d):
    """x (NUMBERS / d, d), gamma, beta (d,), W1 (d, 4d), W2 (4d, d), all float32; the values do not matter."""
    x = np.random.default_rng(0).standard_normal((NUMBERS // d, d), dtype=np.float32)
    return x, *(np.ones(shape, np.float32) for shape in (d, d, (d, 4 * d), (4 * d, d)))


class Counted(np.ndarray):
    """An array that counts, over all NumPy functions it goes through, arithmetic and numbers moved."""

    operations = moved = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if "out" in kwargs:
            kwargs["out"] = tuple(map(np.asarray, kwargs["out"]))
        arrays = [np.asarray(one) for one in inputs]
        result = np.asarray(getattr(ufunc, method)(*arrays, **kwargs))
        read = {id(one): array.size for one, array in zip(inputs, arrays)}  # x * x reads x once
        Counted.moved += sum(read.values()) + result.size
        Counted.operations += _arithmetic(ufunc, method, arrays, result)
        return result.view(Counted)


def _arithmetic(ufunc, method, arrays, result):
    if ufunc is np.matmul:
        return 2 * arrays[0].shape[-1] * result.size
    return arrays[0].size if method == "reduce" else result.size


def count(function, x: np.ndarray, *arrays) -> tuple[float, float]:
    """Operations, and numbers read from or written to memory, for each number of x: two floats."""
    Counted.operations = Counted.moved = 0
    function(x.view(Counted), *arrays)
    return Counted.operations / x.size, Counted.moved / x.size


@functools.lru_cache(maxsize=8)
def counts(d: int) -> dict[str, tuple[float, float]]:
    """{"LayerNorm", "RMSNorm", "feed-forward": (operations, numbers moved) for each input number}."""
    x, gamma, beta, W1, W2 = _arrays(d)
    return {
        "LayerNorm": count(plain_layer_norm, x, gamma, beta),
        "RMSNorm": count(plain_rms_norm, x, gamma),
        "feed-forward": count(feed_forward, x[:8], W1, W2),
    }


def timings(d: int) -> Iterator[np.ndarray]:
    """Seconds of LayerNorm, RMSNorm and the feed-forward network: yields (repeats so far, 3), REPEATS times."""
    x, gamma, beta, W1, W2 = _arrays(d)
    works = (plain_layer_norm, x, gamma, beta), (plain_rms_norm, x, gamma), (feed_forward, x, W1, W2)
    seen = []
    for _ in range(REPEATS):
        seen.append([_seconds(*work) for work in works])
        yield np.array(seen)


def _seconds(function, *arrays):
    function(*arrays)  # not timed: behind the large matrices it would find neither x nor room in the cache
    begin = time.perf_counter()
    function(*arrays)
    return time.perf_counter() - begin


def saved(seen) -> tuple[np.ndarray, np.ndarray]:
    """Percent of time that RMSNorm saves of LayerNorm, and of the norm with its feed-forward network.

    seen (repeats, 3), from `timings` -> two arrays (repeats,).
    """
    layer, rms, rest = seen.T
    return 100 * (1 - rms / layer), 100 * (layer - rms) / (layer + rest)
