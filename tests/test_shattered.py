"""Shattered gradients against the paper's theory and what was measured before, over several seeds."""

import numpy as np
import pytest

from helpers import layers
from helpers.experiments import (
    autocorrelation,
    brown_noise,
    gradient_correlations,
    gradient_curve,
    white_noise,
)
from helpers.experiments.shattered import KINDS, HeldBatchNorm

from .timing import cpu_seconds

SEEDS = range(5)


def smoothness(kind, depth, **options):
    curves = [gradient_curve(kind, depth, seed=s, **options).gradient for s in SEEDS]
    return np.mean([autocorrelation(c) for c in curves]), np.mean([crossings(c) for c in curves])


def crossings(curve):
    """Share of the steps at which the curve crosses its mean."""
    return np.mean(np.diff(np.sign(curve - curve.mean())) != 0)


def correlation(kind, depth, seeds=SEEDS):
    return np.mean([gradient_correlations(kind, (depth,), seed=s)[0] for s in seeds])


# ------------------------------------------------------------------------------ along a line


@pytest.mark.parametrize(
    ("kind", "depth", "alpha", "lag_1", "tolerance", "crossing"),
    [  # measured over 20 seeds before; tolerance: the spread of one network, or 0.05
        ("plain", 1, 1.0, 0.981, 0.02, 0.025),
        ("plain", 24, 1.0, 0.868, 0.08, 0.129),
        ("plain + batch norm", 10, 1.0, 0.426, 0.1, 0.341),
        ("plain + batch norm", 24, 1.0, -0.019, 0.08, 0.508),
        ("residual + batch norm", 50, 0.1, 0.908, 0.05, 0.103),
        ("residual + layer norm", 24, 1.0, 0.965, 0.025, 0.055),
    ],
)
def test_gradient_along_a_line(kind, depth, alpha, lag_1, tolerance, crossing):
    seen, crossed = smoothness(kind, depth, alpha=alpha)
    assert seen == pytest.approx(lag_1, abs=tolerance)
    assert crossed == pytest.approx(crossing, abs=0.04)


def test_the_two_noises():
    white, brown = (
        np.mean([autocorrelation(noise(seed=s)) for s in range(20)]) for noise in (white_noise, brown_noise)
    )
    assert white == pytest.approx(0, abs=0.04)
    assert brown == pytest.approx(0.967, abs=0.015)
    assert np.mean([crossings(white_noise(seed=s)) for s in range(20)]) == pytest.approx(0.5, abs=0.02)
    assert np.mean([crossings(brown_noise(seed=s)) for s in range(20)]) == pytest.approx(0.053, abs=0.02)


@pytest.mark.parametrize("depth", [8, 12, 30])
def test_plain_with_batch_norm_is_rougher_than_residual(depth):
    plain = smoothness("plain + batch norm", depth)[0]
    assert plain < smoothness("residual + layer norm", depth)[0]
    assert plain < smoothness("plain", depth)[0]


@pytest.mark.parametrize("depth", [1, 4, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_slope_of_the_output(kind, depth):
    """Also with BatchNorm: along the line its statistics are the same at every point."""
    curve = gradient_curve(kind, depth, points=4001, width=20, seed=1)
    slope = np.diff(curve.output) / np.diff(curve.x)
    between = (curve.gradient[1:] + curve.gradient[:-1]) / 2
    error = np.abs(slope - between) / np.abs(slope).max()
    assert np.median(error) < 1e-5  # exact up to the few steps with a kink in them
    assert error.mean() < 0.01


def test_held_statistics_normalize_like_the_batch_and_pass_no_gradient():
    rng = np.random.default_rng(0)
    x, dy = rng.normal(3, 2, (16, 4)), rng.standard_normal((16, 4))
    held, whole = HeldBatchNorm(4), layers.BatchNorm(4)
    np.testing.assert_allclose(held(x), whole(x), rtol=1e-12)
    np.testing.assert_allclose(held.backward(dy), dy / np.sqrt(x.var(axis=0) + 1e-5), rtol=1e-12)
    assert np.abs(whole.backward(np.ones((16, 4)))).max() < 1e-12  # the trap: a common gradient is lost


# ------------------------------------------------------------------------------ random inputs


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6, 8])
def test_plain_with_batch_norm_halves_at_every_layer(depth):
    assert correlation("plain + batch norm", depth) == pytest.approx(2.0**-depth, rel=0.1, abs=0.006)


@pytest.mark.parametrize("depth", [16, 24, 50])
def test_deep_plain_with_batch_norm_is_noise(depth):
    assert abs(correlation("plain + batch norm", depth)) < 0.006


@pytest.mark.parametrize(
    ("kind", "depth", "expected", "tolerance"),
    [  # measured over 8 seeds before
        ("plain", 1, 0.515, 0.03),
        ("plain", 2, 0.304, 0.03),
        ("plain", 4, 0.139, 0.03),
        ("plain", 8, 0.067, 0.03),
        ("plain", 24, 0.020, 0.015),
        ("residual", 1, 0.739, 0.03),
        ("residual", 4, 0.378, 0.03),
        ("residual", 16, 0.093, 0.03),
        ("residual", 50, 0.02, 0.03),
        ("residual + batch norm", 1, 0.729, 0.03),
        ("residual + batch norm", 4, 0.436, 0.03),
        ("residual + batch norm", 8, 0.300, 0.03),
        ("residual + batch norm", 24, 0.140, 0.03),
        ("residual + batch norm", 50, 0.086, 0.03),
        ("residual + layer norm", 1, 0.736, 0.03),
        ("residual + layer norm", 4, 0.513, 0.03),
        ("residual + layer norm", 8, 0.415, 0.03),
        ("residual + layer norm", 24, 0.292, 0.03),
        ("residual + layer norm", 50, 0.236, 0.04),
    ],
)
def test_correlation_as_measured_before(kind, depth, expected, tolerance):
    seeds = (
        range(20) if depth == 1 else SEEDS
    )  # of one network the spread is 0.026, and shallow ones are quick
    assert correlation(kind, depth, seeds) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    ("kind", "slope"), [("residual + batch norm", -0.70), ("residual + layer norm", -0.33)]
)
def test_residual_correlation_falls_like_a_power_of_the_depth(kind, slope):
    depths = [4, 8, 16, 32, 64]
    seen = [correlation(kind, depth, range(3)) for depth in depths]
    assert np.polyfit(np.log(depths), np.log(seen), 1)[0] == pytest.approx(slope, abs=0.1)


# ------------------------------------------------------------------------------ manners


@pytest.mark.parametrize("kind", KINDS)
def test_shapes_and_seeds(kind):
    one, same, other = (gradient_curve(kind, 3, points=32, width=16, seed=s) for s in (1, 1, 2))
    assert one.x.shape == one.output.shape == one.gradient.shape == (32,)
    np.testing.assert_array_equal(one.gradient, same.gradient)
    assert not np.array_equal(one.gradient, other.gradient)
    assert gradient_correlations(kind, (3,), width=16) == gradient_correlations(kind, (3,), width=16)
    together, apart = (
        gradient_correlations(kind, (5, 3), width=16),
        gradient_correlations(kind, (3,), width=16),
    )
    assert together[1] == apart[0] != together[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gradient_curve("dense"), "kind must be one of 'plain'"),
        (lambda: gradient_curve(depth=0), "at least 1"),
        (lambda: gradient_correlations("dense"), "kind must be one of 'plain'"),
        (lambda: gradient_correlations(depths=(4, 0)), "at least 1"),
        (lambda: autocorrelation(np.ones(5), 0), "lag must be between 1 and 4"),
        (lambda: autocorrelation(np.ones(5), 5), "lag must be between 1 and 4"),
    ],
)
def test_bad_arguments_are_explained(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("kind", KINDS)
def test_a_curve_is_quick(kind):
    """24 layers take 0.05 to 0.08 s of CPU; a few tries, because the machine may be busy."""
    assert cpu_seconds(lambda: gradient_curve(kind, 24), tries=8) <= 0.17
