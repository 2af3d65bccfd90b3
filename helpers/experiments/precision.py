"""When numbers run out: norms with every step, or only the result, in half or single precision."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

SPREADS = np.geomspace(1, 400, 80)  # of the inputs, for the overflow
MEANS = np.geomspace(1, 1e5, 80)  # of the inputs, for the variances
TRUE_STD = 0.5
KEPT = 4096  # numbers that are normalized and stored in half precision


@np.errstate(over="ignore", invalid="ignore")
def naive_layer_norm(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """LayerNorm without gamma and beta; sums and squares stay in the dtype of x, overflow included."""
    dtype = x.dtype.type
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + dtype(eps))


@np.errstate(over="ignore", invalid="ignore")
def one_pass_variance(x: np.ndarray) -> np.ndarray:
    """E[x^2] - E[x]^2 in the dtype of x: one pass over the data, and two large numbers that nearly cancel.

    x (..., d). Returns (...).
    """
    return (x * x).mean(axis=-1) - x.mean(axis=-1) ** 2


@np.errstate(over="ignore", invalid="ignore")
def welford_variance(x: np.ndarray) -> np.ndarray:
    """One pass too, in the dtype of x, but it sums squared distances from the mean so far (Welford 1962).

    x (..., d). Returns (...).
    """
    mean = np.zeros_like(x[..., 0])
    total = np.zeros_like(mean)
    for seen, value in enumerate(np.moveaxis(x, -1, 0), 1):
        delta = value - mean
        mean = mean + delta / x.dtype.type(seen)
        total = total + delta * (value - mean)
    return total / x.dtype.type(x.shape[-1])


def overflow_limit(dtype: str, d: int) -> float:
    """The spread at which the sum of d squares no longer fits: sqrt(largest number / d)."""
    return float(np.sqrt(float(np.finfo(dtype).max) / d))


@functools.lru_cache(maxsize=32)
def _standard(d):
    z = np.random.default_rng(d).standard_normal(d)
    return (z - z.mean()) / z.std()


@np.errstate(over="ignore")
def output_std(dtype: str, d: int, spread: float) -> float:
    """Spread of what naive_layer_norm makes of d numbers with this spread."""
    return float(naive_layer_norm((spread * _standard(d)).astype(dtype)).astype(np.float64).std())


@np.errstate(over="ignore")
def variance_ratios(dtype: str, d: int, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One-pass and Welford's variance over the true one, for d numbers with these means and spread TRUE_STD.

    means (n,). Returns two arrays (n,) of float64.
    """
    x = (np.reshape(means, (-1, 1)) + TRUE_STD * _standard(d)).astype(dtype)
    one_pass, welford = (variance(x).astype(float) for variance in (one_pass_variance, welford_variance))
    return one_pass / TRUE_STD**2, welford / TRUE_STD**2


@dataclass(frozen=True)
class PrecisionScan:
    """What precision_scan measures.

    output (80,): spread after LayerNorm, for SPREADS; first_zero: the smallest spread at which it is 0, or
    infinity; one_pass, welford (80,): variance / true, for MEANS.
    """

    output: np.ndarray
    first_zero: float
    one_pass: np.ndarray
    welford: np.ndarray


@functools.lru_cache(maxsize=32)
def precision_scan(dtype: str, d: int) -> PrecisionScan:
    """How far does LayerNorm get with numbers of this dtype ("float16", "float32") and d features?"""
    output = np.array([output_std(dtype, d, spread) for spread in SPREADS])
    return PrecisionScan(output, _first_zero(dtype, d, output), *variance_ratios(dtype, d, MEANS))


def _first_zero(dtype, d, output):
    if output.all():
        return np.inf
    first = np.flatnonzero(output == 0)[0]
    low, high = SPREADS[first - 1 : first + 1]
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if output_std(dtype, d, middle) else (low, middle)
    return float(high)


def kept_in_half(norm: Callable, mean: float, dtype: str = "float32") -> tuple[np.ndarray, np.ndarray]:
    """KEPT numbers around a mean, spread 1, kept in dtype, normalized and stored in float16.

    norm(x) -> like x, with statistics in float32 or better. -> the inputs without rounding and without
    the mean, in order, and the outputs: (KEPT,) and (KEPT,).
    """
    z = np.sort(np.random.default_rng(0).standard_normal(KEPT))
    return z, norm((mean + z).astype(dtype)[None])[0].astype(np.float16)


def different(y: np.ndarray) -> int:
    """How many different numbers are there in y (any shape)?"""
    return len(np.unique(y.astype(np.float64)))  # NumPy 2.1 may sort float16 wrongly


@np.errstate(over="ignore")
def naive_rms_norm(x: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """RMSNorm without gamma; squares stay in the dtype of x, overflow included."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + x.dtype.type(eps))
