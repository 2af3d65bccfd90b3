"""What the pictures of notebook 03 draw is what was measured: read off their artists, away from the defaults."""

import numpy as np
import pytest

from helpers import experiments, explorers, layers
from helpers.experiments import precision
from helpers.figures.geometry import seen_from


def tops(bars):
    """Where the bars of a `Bars` end."""
    return bars.get_path().vertices.reshape(-1, 5, 2)[:, 1, 1]


def dots(axes, marker="D"):
    """The places of the single dots with this marker."""
    found = [line.get_xydata() for line in axes.lines if line.get_marker() == marker]
    return np.concatenate([xy for xy in found if len(xy) == 1])


def test_the_threads_run_from_the_input_to_the_step():
    x, shown = np.array([2.0, -3.0, 1.0, 4.0]), explorers.layer_norm_steps()
    shown.set(step="Scaled and shifted", entry=2, move=3.0)
    moved = x + [0, 3 * x.std(), 0, 0]
    was, y = (layers.layer_norm(v, np.full(4, 2.0), np.full(4, 0.5), 1e-5) for v in (x, moved))
    axes, threads, right = shown.figure.axes
    scale = right.get_ylim()[1] / threads.get_ylim()[1]
    before, now = (np.array(lines.get_segments())[:, :, 1] * [1, scale] for lines in threads.collections)
    np.testing.assert_allclose(before, np.transpose([x, was]))
    np.testing.assert_allclose(now, np.transpose([[*moved, moved[1]], [*y, y[1]]]))
    np.testing.assert_allclose(tops(axes.patches[1]), y)
    heights = np.array(axes.collections[0].get_segments())[:, :, 1]
    np.testing.assert_allclose(heights, np.tile([[0.5], [2.5], [-1.5]], 2), atol=1e-5)


def test_the_geometry_shows_the_three_points_and_where_the_last_must_lie():
    shown, x = explorers.geometry(), np.array([1.0, -0.5, 0.3])
    shown.set(x1=x[0], x2=x[1], x3=x[2], turn=70, tilt=40)
    assert shown.sentence.count("of length 1.732") == 2
    normalized = layers.layer_norm(x, np.ones(3), np.zeros(3), 0.0), layers.rms_norm(x, np.ones(3), 0.0)
    for axes, y in zip(shown.figure.axes, normalized):
        np.testing.assert_allclose(dots(axes), np.array([y]) @ seen_from(70, 40), atol=1e-9)
        np.testing.assert_allclose(dots(axes, "o"), np.array([x]) @ seen_from(70, 40))
    left = shown.figure.axes[0]
    np.testing.assert_allclose(dots(left, "s"), np.array([x - x.mean()]) @ seen_from(70, 40))
    circle, *_, path = left.collections[0].get_segments()[3:]
    assert np.linalg.norm(circle - dots(left), axis=1).min() < 0.05
    np.testing.assert_allclose(path, np.array([x, x - x.mean(), normalized[0]]) @ seen_from(70, 40))


@pytest.mark.parametrize(("dtype", "d"), [("float16", 64), ("float32", 4096)])
def test_where_numbers_run_out_is_drawn_as_measured(dtype, d):
    shown = explorers.when_numbers_run_out()
    shown.set(dtype=dtype, d=d, spread=20, mean=10.0)
    (left, right), scan = shown.figure.axes, precision.precision_scan(dtype, d)
    np.testing.assert_array_equal(left.lines[0].get_data(), [precision.SPREADS, scan.output])
    np.testing.assert_array_equal(left.lines[1].get_xdata(), [precision.overflow_limit(dtype, d)] * 2)
    np.testing.assert_array_equal(dots(left), [[20, precision.output_std(dtype, d, 20)]])
    np.testing.assert_allclose(dots(right), [[10, precision.variance_ratios(dtype, d, [10.0])[0][0]]])
    for line, ratio in zip(right.lines, (scan.one_pass, scan.welford)):
        finite = np.isfinite(ratio)
        np.testing.assert_array_equal(line.get_xdata(), precision.MEANS[finite])
        np.testing.assert_allclose(line.get_ydata(), np.clip(ratio[finite], -2, 4))


@pytest.mark.parametrize(("spread", "eps"), [(1e-3, 1e-5), (1e-6, 1e-12), (1e2, 1.0)])
def test_the_formulas_of_a_small_spread_run_through_what_is_measured(spread, eps):
    shown, x = explorers.small_spread(), spread * np.array([[1.0, -1.0, 1.0, -1.0]])
    shown.set(spread=spread, eps=eps)
    largest = np.linalg.svd(layers.layer_norm_backward(np.eye(4), np.tile(x, (4, 1)), np.ones(4), eps)[0])[1][
        0
    ]
    for axes, seen in zip(shown.figure.axes, (layers.layer_norm(x, 1.0, 0.0, eps).std(), largest)):
        np.testing.assert_allclose(dots(axes), [[spread, seen]])
        where, curve = axes.lines[0].get_data()
        assert np.interp(np.log(spread), np.log(where), curve) == pytest.approx(seen, rel=2e-3)


@pytest.mark.parametrize("norm", [False, True])
def test_drift_draws_spread_mean_and_theory(norm):
    shown = explorers.drift()
    shown.set(norm=norm, layers=7, gain=2.0, draw=3)
    left, right = shown.figure.axes
    seen, other = (
        experiments.activation_spread(7, kind, gain=2.0, width=128, seed=3)
        for kind in ((None, "layer"), ("layer", None))[norm]
    )
    np.testing.assert_allclose(tops(left.patches[0]), seen.std)
    np.testing.assert_allclose(right.lines[0].get_ydata(), seen.mean, atol=1e-12)
    rival, theory = left.lines[:2]
    np.testing.assert_allclose(rival.get_ydata(), other.std)
    np.testing.assert_allclose(theory.get_ydata(), np.ones(8) if norm else 2.0 ** np.arange(8))


def test_two_tokens_before_and_after():
    shown, a = explorers.two_tokens(), np.arange(1.0, 5.0)
    shown.set(scale=-2.0, shift=1.5, gamma=0.5, beta=1.0)
    inputs = np.array([a, -2 * a + 1.5])
    outputs = layers.layer_norm(inputs, np.full(4, 0.5), np.full(4, 1.0), 1e-5)
    for axes, both in zip(shown.figure.axes, (inputs, outputs)):
        np.testing.assert_allclose([tops(bars) for bars in axes.patches], both)
