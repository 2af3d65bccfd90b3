"""What notebook 03 says of LayerNorm, measured over several seeds: drift, geometry, few bits, and their limits."""

import contextlib
import io
import re

import nbformat
import numpy as np
import pytest

from helpers import experiments, explorers, layers
from helpers.experiments.precision import MEANS
from helpers.explorers.norms import EXAMPLES
from helpers.figures import words

from . import notebooks

SEEDS = range(5)
WIDE = {"width": 256, "batch": 128}


def plain_norm(x, eps=0.0):
    d = x.shape[-1]
    return layers.layer_norm(x, np.ones(d), np.zeros(d), eps)


def spreads(depth, norm=None, residual=False, **kind):
    """The last layer's spread and root mean square, averaged over seeds."""
    seen = [experiments.activation_spread(depth, norm, residual, seed=s, **WIDE, **kind) for s in SEEDS]
    std, mean = (np.array([getattr(one, name)[-1] for one in seen]) for name in ("std", "mean"))
    return std.mean(), np.sqrt(std**2 + mean**2).mean()


# ------------------------------------------------------------------------------ drift


@pytest.mark.parametrize(
    ("gain", "depth", "rel"), [(1.5, 10, 0.05), (1.5, 20, 0.1), (0.9, 20, 0.1), (1.1, 15, 0.06)]
)
def test_plain_linear_layers_multiply_the_spread_by_the_gain(gain, depth, rel):
    assert spreads(depth, gain=gain)[0] == pytest.approx(gain**depth, rel=rel)


@pytest.mark.parametrize("gain", [1.0, 2**0.5])
def test_relu_layers_follow_half_the_square_and_have_a_mean(gain):
    kind = {"activation": "relu", "gain": gain}
    assert spreads(20, **kind)[1] == pytest.approx((gain**2 / 2) ** 10, rel=0.35)
    seen = [experiments.activation_spread(10, seed=s, **WIDE, **kind) for s in SEEDS]
    assert np.mean([one.mean[-1] / one.std[-1] for one in seen]) == pytest.approx(0.67, abs=0.06)


@pytest.mark.parametrize("depth", [5, 10, 15, 20])
def test_residual_streams_grow(depth):
    assert spreads(depth, residual=True)[0] == pytest.approx(2 ** (depth / 2), rel=0.1)
    he = spreads(depth, residual=True, activation="relu", gain=2**0.5)[1]
    known = {5: 10.4, 10: 148, 15: 2146, 20: 30130}
    assert he == pytest.approx(known[depth], rel=0.3), "a ReLU's mean adds up"
    assert spreads(depth, "layer", True)[0] == pytest.approx(np.sqrt(1 + depth), rel=0.03)
    assert spreads(depth, residual=True, alpha=depth**-0.5)[0] == pytest.approx(
        (1 + 1 / depth) ** (depth / 2), rel=0.05
    )


@pytest.mark.parametrize(("depth", "spread"), [(14, 128), (15, 181)])
def test_a_residual_stream_passes_one_hundred_without_any_gain(depth, spread):
    assert spreads(depth, residual=True)[0] == pytest.approx(spread, rel=0.07)


def test_a_residual_stream_of_tanh_grows_like_a_root():
    """tanh cannot give more than 1: branches of bounded size, in random directions."""
    short, long = (spreads(depth, residual=True, activation="tanh", gain=1.5)[0] for depth in (16, 64))
    assert long / short == pytest.approx(2, rel=0.15)


def test_scaled_branches_stay_near_the_root_of_e():
    assert spreads(50, residual=True, alpha=50**-0.5)[0] == pytest.approx(1.641, rel=0.03)
    assert pytest.approx(1.641, abs=5e-4) == (1 + 1 / 50) ** 25


@pytest.mark.parametrize("gain", [0.5, 1.5, 3.0])
def test_with_layer_norm_each_layer_starts_again(gain):
    seen = experiments.activation_spread(20, "layer", gain=gain, **WIDE)
    np.testing.assert_allclose(seen.std[1:], 1, atol=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("dtype", "gain", "layer"),
    [("float16", 1.5, 25), ("float16", 2.0, 15), ("float16", 3.0, 9), ("float16", 2.309, 12),
     ("float32", 1.5, 216), ("float32", 2.0, 126), ("float32", 3.0, 80), ("float32", 2.309, 105)],
)  # fmt: skip
def test_the_layer_at_which_numbers_are_no_longer_finite(dtype, gain, layer, seed):
    rng, theory = np.random.default_rng(seed), np.log(float(np.finfo(dtype).max) / 3.5) / np.log(gain)
    x, count = rng.standard_normal((8, 256)).astype(dtype), 0
    with np.errstate(all="ignore"):
        while np.isfinite(x).all():
            W = (gain / 16 * rng.standard_normal((256, 256))).astype("float32")
            x, count = (x.astype("float32") @ W).astype(dtype), count + 1
    assert abs(count - layer) <= max(1, 0.02 * layer)
    assert abs(count - theory) <= max(1.5, 0.02 * layer)


@pytest.mark.parametrize("wiring", ["plain + norm", "post-norm"])
def test_what_leaves_a_norm_has_spread_1_as_far_as_eps_allows(wiring):
    x = np.random.default_rng(0).standard_normal((128, 256))
    for h in experiments.Stack(20, wiring, activation="linear", width=256).forward(x)[1:]:
        np.testing.assert_allclose(h.std(), 1, atol=1e-5)


def test_mean_87_and_spread_4312_are_typical_and_not_certain():
    ends = [experiments.spread_through(experiments.uniform_matrices(10, seed=s), seed=s) for s in range(300)]
    std, mean = np.array([e.std[-1] for e in ends]), np.array([e.mean[-1] for e in ends])
    assert np.sqrt((std**2).mean()) == pytest.approx((16 / 3) ** 5, rel=0.15)
    assert np.median(std) == pytest.approx(3903, rel=0.1)
    assert np.median(np.abs(mean)) == pytest.approx(87, rel=0.25)
    shown = std[:31]  # what the explorer offers
    assert 1500 < shown.min() < 2200 and 10_000 < shown.max() < 12_000 and np.abs(mean[:31]).max() < 1000


def test_past_one_hundred_needs_a_gain():
    assert round(100 ** (1 / 15), 2) == 1.36
    assert round(1.1**15, 1) == 4.2 and round(1.2**15, 1) == 15.4


def test_a_mean_far_below_1_is_no_0_and_no_number_is_no_0():
    shown = explorers.drift()
    shown.set(gain=0.1, layers=64)
    spread, mean = re.search(r"σ = (\S+\s×\s\S+) \(.*μ = (\S+\s×\s\S+);", shown.sentence).groups()
    assert spread.endswith("10⁻⁶⁵") and mean.endswith("10⁻⁶⁶")
    said = explorers.drift(lambda x, gamma, beta, eps: np.nan * x).sentence
    assert "μ = not a number;" in said and "Row by row, not all values are finite numbers." in said


def test_the_preset_opens_at_layer_10_and_comes_back():
    drift = explorers.drift()
    drift.controls["network"].value = "16 features, W between −1 and 1"
    assert drift.values()["layers"] == 10 and f"theory {words((16 / 3) ** 5)}" in drift.sentence
    assert drift.controls["gain"].layout.visibility == "hidden"
    drift.reset()
    assert drift.values()["layers"] == 15 and "gain 1.5" in drift.sentence


# ------------------------------------------------------------------------------ the steps


def test_one_entry_moved_moves_all_outputs():
    steps = explorers.layer_norm_steps()
    steps.set(entry=2, move=2.0)
    assert steps.sentence.endswith("Entry 2 was moved by 5.099, from −3 to 2.099: 1 of 4 values changed."), (
        "2 σ"
    )
    for step in ("Centred", "Normalized", "Scaled and shifted"):
        steps.set(step=step)
        assert steps.sentence.endswith("4 of 4 values changed.")


def test_the_steps_can_begin_with_another_example():
    steps = explorers.layer_norm_steps("two features")
    steps.set(step="Normalized")
    assert "Normalized: [−1, 1] has mean μ = 0" in steps.sentence
    assert steps.controls["entry"].value == steps.controls["entry"].max == 2
    steps.set(move=10.0)
    assert steps.sentence.endswith("moved by 10, from 7 to 17: 0 of 2 values changed.")
    steps.reset()
    steps.set(step="Normalized", x=(3.0, 3.0, 3.0, 3.0))
    assert steps.controls["entry"].max == 4
    assert "Normalized: [0, 0, 0, 0] has mean μ = 0 and spread σ = 0" in steps.sentence


def test_what_rounding_leaves_is_shown_as_0():
    steps = explorers.layer_norm_steps()
    steps.set(step="Centred", x=(0.1, 0.2, 0.3))
    assert "Centred: [−0.1, 0, 0.1] has mean μ = 0 and" in steps.sentence
    steps.set(step="Normalized", x=(2.0, -3.0, 1.0, 4.0))
    assert "has mean μ = 0 and" in steps.sentence and "⁻¹" not in steps._table.value
    steps.set(x=(0.1, 0.1, 0.1))  # their mean is 0.10000000000000002
    assert "Normalized: [0, 0, 0] has mean μ = 0 and spread σ = 0." in steps.sentence
    assert "⁻¹" not in steps._table.value
    steps.set(move=5.0)
    assert steps.sentence.endswith("moved by 5, from 0.1 to 5.1: 3 of 3 values changed.")
    tiny = 1e-300, -1e-300
    steps.set(step="Centred", x=tiny, move=0.0)
    assert f"[{words(tiny[0], 4)}, {words(tiny[1], 4)}]" in steps.sentence, "small is not rounding"


@pytest.mark.parametrize("x", [*EXAMPLES.values(), (3e5, -7e5), (1e-11, -2e-11), (1e50, -1e100)])
def test_the_numbers_at_the_axes_of_the_steps_have_room(x):
    steps = explorers.layer_norm_steps()
    steps.set(x=tuple(map(float, x)), step="Centred")
    bars, threads, right = steps.figure.axes
    assert threads.yaxis.get_offset_text().get_text() == right.yaxis.get_offset_text().get_text() == ""
    parts = bars.yaxis.label, *(label for ax in steps.figure.axes for label in ax.get_yticklabels())
    for box in (part.get_window_extent() for part in parts):
        assert box.x0 >= 0 and box.x1 <= steps.figure.bbox.x1
    label, *ticks = (part.get_window_extent() for part in (bars.yaxis.label, *bars.get_yticklabels()))
    assert not any(label.overlaps(tick) for tick in ticks)


def test_the_arithmetic_of_the_chosen_entry_exact_and_rounded():
    steps = explorers.layer_norm_steps()
    table = steps._table.value
    exact = layers.layer_norm(np.array([2.0, -3, 1, 4]), np.full(4, 2.0), np.full(4, 0.5), 1e-5)[3]
    assert f">{exact:.10g}<" in table and ">2.86<" in table and ">1.18<" in table
    assert (
        "4 − 1<" in table
        and ">3 / 2.5495117<" in table
        and f"√(6.5 + {words(1e-5)})" in table
        and ">2.9439<" in table
    )


# ------------------------------------------------------------------------------ geometry


@pytest.mark.parametrize("d", [3, 64, 768])
@pytest.mark.parametrize("seed", SEEDS)
def test_layer_norm_is_a_projection_and_a_sphere(d, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((50, d)) * rng.lognormal(0, 2, (50, 1)) + 50 * rng.standard_normal((50, 1))
    y = plain_norm(x)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), np.sqrt(d), rtol=1e-12)
    np.testing.assert_allclose(y.sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(plain_norm(y), y, atol=1e-9)
    centred = x - x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(layers.rms_norm(centred, np.ones(d), 0.0), y, atol=1e-9)
    np.testing.assert_allclose(plain_norm(-2 * x + 7), -y, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_jacobian_is_a_projection_over_sigma(seed):
    d, x = 16, 3 * np.random.default_rng(seed).standard_normal(16) + 2
    J = layers.layer_norm_backward(np.eye(d), np.tile(x, (d, 1)), np.ones(d), 0.0)[0]
    y = plain_norm(x)
    np.testing.assert_allclose(J, (np.eye(d) - 1 / d - np.outer(y, y) / d) / x.std(), atol=1e-12)
    sizes = np.linalg.svd(J * x.std(), compute_uv=False)
    np.testing.assert_allclose(sizes, [1] * (d - 2) + [0, 0], atol=1e-7)
    of_rms = layers.rms_norm_backward(np.eye(d), np.tile(x, (d, 1)), np.ones(d), 0.0)[0]
    sizes = np.linalg.svd(of_rms * np.sqrt((x**2).mean()), compute_uv=False)
    np.testing.assert_allclose(sizes, [1] * (d - 1) + [0], atol=1e-7)


@pytest.mark.parametrize("scale", [0.1, 1, 10, 100])
def test_gradients_are_divided_by_the_size_of_the_input(scale):
    rng = np.random.default_rng(1)
    x, dy = rng.standard_normal((2, 1, 16))
    at_one, dx = (layers.layer_norm_backward(dy, k * x, np.ones(16), 0.0)[0] for k in (1, scale))
    np.testing.assert_allclose(scale * dx, at_one, rtol=1e-9)
    assert (dx * x).sum() == pytest.approx(0, abs=1e-12) and dx.sum() == pytest.approx(0, abs=1e-12)
    stepped = x - 0.5 * at_one
    assert (stepped**2).sum() == pytest.approx((x**2).sum() + 0.25 * (at_one**2).sum()), "Pythagoras"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_after_a_norm_can_always_be_selected(seed):
    keys = np.random.default_rng(seed).standard_normal((256, 8))
    kinds = plain_norm(keys), layers.rms_norm(keys, np.ones(8), 0.0), keys
    found = [((k @ k.T).argmax(axis=1) == np.arange(256)).mean() for k in kinds]
    assert found[:2] == [1, 1] and found[2] == pytest.approx(0.47, abs=0.06)


@pytest.mark.parametrize("seed", SEEDS)
def test_many_raw_keys_are_never_selected(seed):
    """A key inside the hull of the others never wins, whatever the query: here of 20,000 queries."""
    rng = np.random.default_rng(seed)
    keys, queries = rng.standard_normal((64, 4)), rng.standard_normal((20_000, 4))
    kinds = keys, plain_norm(keys), layers.rms_norm(keys, np.ones(4), 0.0)
    raw, *normalized = (64 - len(np.unique((queries @ k.T).argmax(axis=1))) for k in kinds)
    assert raw == pytest.approx(34, abs=8), "28 to 40 in most draws"
    assert normalized == [0, 0]


@pytest.mark.parametrize("value", [0.1, 0.7, -1.4])
def test_three_equal_numbers_fall_on_the_middle_of_the_plane(value):
    shown = explorers.geometry()
    shown.set(x1=value, x2=value, x3=value)
    assert "on the plane it is [0, 0, 0]; LayerNorm gives [0, 0, 0], of length 0;" in shown.sentence


def test_the_picture_of_the_geometry_is_a_projection():
    from helpers.figures.geometry import CIRCLE, seen_from

    above, side = CIRCLE @ seen_from(33, 90), CIRCLE @ seen_from(33, 0)
    np.testing.assert_allclose(np.linalg.norm(above, axis=1), np.sqrt(3))
    np.testing.assert_allclose(side[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(CIRCLE.sum(axis=1), 0, atol=1e-12)


# ------------------------------------------------------------------------------ where it ends


@pytest.mark.parametrize(
    ("spread", "eps", "out"),
    [
        (1e-2, 1e-5, 0.953),
        (3e-3, 1e-5, 0.688),
        (1e-3, 1e-5, 0.3015),
        (1e-3, 1e-6, 0.7071),
        (6.5**0.5, 1e-6, 0.99999992),
    ],
)
def test_small_spreads_do_not_become_1(spread, eps, out):
    x = np.tile([1.0, -1.0], 8) * spread
    assert plain_norm(x, eps).std() == pytest.approx(out, abs=5e-4 if out < 0.99 else 5e-9)


def test_small_spread_says_the_factor_on_gradients():
    shown = explorers.small_spread()
    shown.set(spread=1e-6, eps=1e-5)
    assert "multiplied by up to 316 (at most 1/√ε = 316)" in shown.sentence
    shown.set(spread=1.0)
    assert "comes out as 1, and" in shown.sentence and "multiplied by up to 1 " in shown.sentence


def test_constant_rows_two_features_and_ddof():
    assert (plain_norm(np.full((2, 4), 3.0), 1e-5) == 0).all()
    np.testing.assert_allclose(plain_norm(np.array([5.0, 7.0]), 1e-5), [-1, 1], atol=1e-5)
    for d in (2, 4, 100):
        y = plain_norm(np.random.default_rng(d).standard_normal(d))
        assert y.std(ddof=1) == pytest.approx(np.sqrt(d / (d - 1)))


def test_gamma_and_beta_cannot_tell_a_token_from_its_scaled_and_shifted_self():
    shown = explorers.two_tokens()
    for gamma, beta in ((1.0, 0.0), (3.0, -2.0)):
        shown.set(scale=2.0, gamma=gamma, beta=beta)
        assert "the same, up to ε" in shown.sentence
    shown.set(scale=-1.0, gamma=1.0, beta=0.0)
    assert "up to 2.68 apart" in shown.sentence, "mirrored"


# ------------------------------------------------------------------------------ few bits


@pytest.mark.parametrize(("d", "limit"), [(64, 31.99), (512, 11.31), (4096, 4.00)])
def test_half_precision_overflows_at_the_limit_and_gives_zeros(d, limit):
    assert experiments.precision.overflow_limit("float16", d) == pytest.approx(limit, abs=0.005)
    assert experiments.precision.output_std("float16", d, 0.99 * limit) == pytest.approx(1, abs=2e-3)
    assert experiments.precision.output_std("float16", d, 1.01 * limit) == 0
    assert experiments.precision.output_std("float32", d, 1e4) == pytest.approx(1, abs=1e-3)
    first = experiments.precision.precision_scan("float16", d).first_zero
    assert first == pytest.approx(limit, rel=5e-4)
    assert experiments.precision.output_std("float16", d, first) == 0
    assert experiments.precision.precision_scan("float32", d).first_zero == np.inf


def test_the_vector_of_the_lesson_in_half_precision():
    x = 87 + 4312 * np.random.default_rng(0).standard_normal(512)
    half, single = (
        experiments.precision.naive_layer_norm(x.astype(dtype)) for dtype in ("float16", "float32")
    )
    assert np.isfinite(x.astype("float16")).all() and (half == 0).all()
    assert single.std() == pytest.approx(1, abs=1e-4)
    careful = layers.layer_norm(x.astype("float16"), np.ones(512), np.zeros(512))
    assert careful.dtype == np.float16 and careful.astype(float).std() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("d", [64, 512, 4096])
def test_the_one_pass_variance_goes_wrong_as_the_mean_grows(d):
    ratio = experiments.precision.precision_scan("float32", d).one_pass
    np.testing.assert_allclose(ratio[MEANS < 50], 1, atol=0.01)
    assert np.abs(ratio[(MEANS > 700) & (MEANS < 2000)] - 1).max() >= 0.25
    assert np.abs(ratio[MEANS > 1e4] - 1).min() >= 1
    assert experiments.precision.precision_scan("float16", 512).one_pass[0] == pytest.approx(1, abs=0.1)


def test_it_can_turn_negative_where_two_passes_are_right():
    assert experiments.precision.precision_scan("float32", 512).one_pass.min() < 0
    z = np.random.default_rng(3).standard_normal(4096)
    x = (20000.3 + 0.5 * (z - z.mean()) / z.std()).astype("float32")
    assert experiments.precision.one_pass_variance(x) < 0
    assert x.var() == pytest.approx(0.25, rel=0.01)


@pytest.mark.parametrize("d", [64, 512, 4096])
@pytest.mark.parametrize("seed", SEEDS)
def test_welford_needs_one_pass_and_goes_right(d, seed):
    z = np.random.default_rng(seed).standard_normal(d)
    z = (z - z.mean()) / z.std()
    for mean in (0.0, 100.3, 1000.3, 20000.3, 1e5):
        x = (mean + 0.5 * z).astype("float32")
        assert experiments.precision.welford_variance(x) == pytest.approx(0.25, rel=0.03)
    exact = experiments.precision.welford_variance(np.array([z, 3 * z + 7]))
    np.testing.assert_allclose(exact, [1, 9], rtol=1e-9)


def test_welford_beside_the_one_pass_variance():
    single, half = (experiments.precision.precision_scan(dtype, 512) for dtype in ("float32", "float16"))
    np.testing.assert_allclose(single.welford, 1, atol=0.02)
    np.testing.assert_allclose(half.welford[MEANS < 400], 1, atol=0.15)
    assert np.median(np.abs(half.one_pass[(MEANS > 15) & (MEANS < 200)] - 1)) >= 1
    assert np.spacing(np.float16(1024)) == 1, "a spread of 0.5 is lost already in the input"
    assert np.nanmax(np.abs(half.welford[MEANS > 1024] - 1)) > 0.5


def test_the_sentence_says_both_variances():
    shown = explorers.when_numbers_run_out()
    shown.set(dtype="float32", mean=1e5)
    assert (
        "with mean 1 × 10⁵ the one-pass variance is 0: nothing is left of it; Welford's is 1"
        in shown.sentence
    )
    assert "Left: σ = 8 comes out as 1" in shown.sentence and "Right, where σ = 0.5 always:" in shown.sentence
    shown.set(dtype="float16", mean=1e5)
    assert "the one-pass variance overflows; Welford's overflows." in shown.sentence


@pytest.mark.parametrize(
    ("eps", "kept", "out"),
    [(0.0, False, np.nan), (1e-12, False, np.nan), (1e-8, False, np.nan), (1e-6, True, 0.0)],
)
def test_eps_must_fit_into_half_precision(eps, kept, out):
    assert (np.float16(eps) > 0) == kept
    for value in (3, -100, 0):
        row = np.full(4, value, np.float16)
        np.testing.assert_array_equal(experiments.precision.naive_layer_norm(row, eps), np.full(4, out))


def layers_until_all_zero(dtype, gain, width, seed, most=400):
    """Plain linear layers, values rounded to dtype after each; None when something is left after `most`."""
    rng = np.random.default_rng(seed)
    h = rng.standard_normal((8, width)).astype(dtype)
    for layer in range(1, most + 1):
        W = rng.standard_normal((width, width), np.float32) * np.float32(gain / width**0.5)
        h = (h.astype("float32") @ W).astype(dtype)
        if not h.any():
            return layer
    return None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_small_numbers_end_at_zero_or_in_rounding(seed):
    assert abs(layers_until_all_zero("float16", 0.5, 256, seed) - 28) <= 2
    assert abs(layers_until_all_zero("float32", 0.5, 256, seed) - 150) <= 4
    assert layers_until_all_zero("float16", 0.9, 256, seed) is None, (
        "24 ln 2 / -ln 0.9 = 158 layers should do"
    )
    assert layers_until_all_zero("float16", 0.9, 64, seed, most=3000) > 158, (
        "a narrow layer dies out by chance"
    )


# ------------------------------------------------------------------------------ the learner's functions


def blank(*arguments): ...


def without_means(dy, x, gamma, eps):
    """Mean and spread taken for constants."""
    rstd = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    x_hat = (x - x.mean(axis=-1, keepdims=True)) * rstd
    return dy * gamma * rstd, (dy * x_hat).sum(axis=0), dy.sum(axis=0)


def without_rstd(dy, x, gamma, eps):
    dx, dgamma, dbeta = layers.layer_norm_backward(dy, x, gamma, eps)
    return dx * np.sqrt(x.var(axis=-1, keepdims=True) + eps), dgamma, dbeta


def over_the_batch(x, gamma, beta, eps):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + eps) * gamma + beta


def to_the_end(run):
    while run.step():
        pass
    run.render()
    return run


def test_training_with_right_functions_is_training_with_the_reference():
    run = to_the_end(explorers.train_with(layers.layer_norm, layers.layer_norm_backward))
    yours, reference = run.state["yours"], run.state["the reference"]
    assert yours == reference and yours[-1].error == 0
    assert "agree (weights, γ, β). Drawn with your layer_norm and layer_norm_backward." in run.sentence


def test_training_with_a_wrong_backward_fails_visibly():
    run = to_the_end(explorers.train_with(layers.layer_norm, without_rstd))
    assert run.state["yours"][-1].error > 0.5 > run.state["the reference"][-1].error
    run.set(lr=0.01)
    assert to_the_end(run).state["yours"][-1].error == 0, "and still wrong"
    run = to_the_end(explorers.train_with(layers.layer_norm, without_means))
    assert run.state["yours"][-1].error < 0.05, "it trains all the same"
    assert "weights differ by" in run.sentence


def of_dx(change):
    """The right backward pass with another dx: change(dy, x, gamma, eps)."""
    return lambda *given: (change(*given), *layers.layer_norm_backward(*given)[1:])


def of_parameters(change):
    """The right backward pass with other dgamma, dbeta: change(dgamma, dbeta, rows)."""

    def backward(dy, x, gamma, eps):
        dx, dgamma, dbeta = layers.layer_norm_backward(dy, x, gamma, eps)
        return dx, *change(dgamma, dbeta, len(x))

    return backward


def right_dx(dy, x, gamma, eps):
    return layers.layer_norm_backward(dy, x, gamma, eps)[0]


WRONG = {  # the backward pass, and along what the slopes differ
    "right": (layers.layer_norm_backward, ""),
    "gamma forgotten": (of_dx(lambda dy, x, gamma, eps: right_dx(dy, x, 1 + 0 * gamma, eps)), "wγβ"),
    "sign": (of_dx(lambda *given: -right_dx(*given)), "wγβ"),
    "without means": (without_means, "wγβ"),
    "without rstd": (without_rstd, "wγβ"),
    "averaged": (of_parameters(lambda dgamma, dbeta, rows: (dgamma / rows, dbeta / rows)), "γβ"),
    "swapped": (of_parameters(lambda dgamma, dbeta, rows: (dbeta, dgamma)), "γβ"),
    "dgamma zero": (of_parameters(lambda dgamma, dbeta, rows: (0 * dgamma, dbeta)), "γ"),
    "dbeta doubled": (of_parameters(lambda dgamma, dbeta, rows: (dgamma, 2 * dbeta)), "β"),
}


@pytest.mark.parametrize(("backward", "along"), WRONG.values(), ids=list(WRONG))
def test_the_slopes_show_a_wrong_gradient_and_where(backward, along):
    sentence = explorers.train_with(layers.layer_norm, backward).sentence
    for name in ("weights", "γ", "β"):
        assert (f"{name} differ by" in sentence) == (name[0] in along)
    assert (" agree (weights, γ, β)." in sentence) == (along == "")


def test_slopes_that_are_no_numbers_are_said_to_be_none():
    nan = of_dx(lambda *given: np.nan * right_dx(*given))
    assert "weights are no numbers" in explorers.train_with(layers.layer_norm, nan).sentence
    nan = of_parameters(lambda dgamma, dbeta, rows: (np.nan * dgamma, dbeta))
    assert (
        "weights agree, γ are no numbers, β agree." in explorers.train_with(layers.layer_norm, nan).sentence
    )


def with_gamma_and_beta(use):
    """LayerNorm up to x_hat; what is done with gamma and beta is given."""

    def layer_norm(x, gamma, beta, eps):
        return use(plain_norm(x, eps), gamma, beta)

    return layer_norm


@pytest.mark.parametrize(
    ("use", "differ"),
    [
        (lambda x_hat, gamma, beta: x_hat * gamma + beta, False),
        (lambda x_hat, gamma, beta: x_hat * beta + gamma, True),
        (lambda x_hat, gamma, beta: x_hat + beta, True),
        (lambda x_hat, gamma, beta: x_hat * gamma, True),
        (lambda x_hat, gamma, beta: x_hat * (1 + gamma) + beta, True),
        (lambda x_hat, gamma, beta: (x_hat + beta) * gamma, True),
    ],
    ids=["right", "swapped", "gamma ignored", "beta ignored", "one plus gamma", "shifted first"],
)
def test_training_shows_a_wrong_use_of_gamma_and_beta(use, differ):
    run = explorers.train_with(with_gamma_and_beta(use), layers.layer_norm_backward)
    assert ("differ by" in run.sentence) == differ
    yours, reference = (run.state[name][-1].loss for name in ("yours", "the reference"))
    shown = abs(yours / reference - 1) > 0.05
    assert shown == (use(2.0, 3.0, 5.0) != 11), "only the right use draws one curve"


def test_blank_functions_fall_back_to_the_reference_and_say_so():
    for shown in (explorers.drift(blank), explorers.train_with(blank, blank)):
        assert shown.error is None and " still blank: th" in shown.sentence


def test_a_wrong_axis_is_seen_in_drift_though_sigma_is_1():
    right, wrong = explorers.drift(layers.layer_norm), explorers.drift(over_the_batch)
    assert "every σ is 1 and every μ is 0." in right.sentence
    assert "the spread is σ = 1 " in wrong.sentence and "σ is between 0.3" in wrong.sentence
    assert bytes(right.image.value) != bytes(wrong.image.value)


def test_the_theory_of_drift_begins_where_the_input_does():
    shown = explorers.drift(blank)
    shown.set(norm=False)
    said = re.search(r"σ = (\d+) \(theory (\d+)\).*the input had σ = (\d+\.\d+)", shown.sentence)
    assert float(said[2]) == pytest.approx(float(said[3]) * 1.5**15, rel=0.01)
    assert float(said[1]) == pytest.approx(float(said[2]), rel=0.1)


def printed(*cells, **names):
    """What cells of notebook 03 print, after the first one and those that it builds on."""
    (path,) = [path for path in notebooks.paths() if path.stem.startswith("03")]
    sources = {cell.id: cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for cell in ("c02", *cells):
            exec(sources[cell], names)
    return said.getvalue()


def test_the_three_checks_of_the_notebook_see_each_output():
    checks = "c38", "c40", "c41", "c42"
    assert "nothing of yours to compare yet" in printed(*checks, layer_norm_backward=blank)
    right = printed(*checks, layer_norm_backward=layers.layer_norm_backward)
    assert right.count("True") == 8 and "False" not in right

    def not_divided(dy, x, gamma, eps):
        dx, _, dbeta = layers.layer_norm_backward(dy, x, gamma, eps)
        return dx, (dy * (x - x.mean(axis=-1, keepdims=True))).sum(axis=0), dbeta

    said = printed(*checks, layer_norm_backward=not_divided)
    assert "dgamma is that of the reference: False" in said and "dgamma is the slope: False" in said
    assert said.count("False") == 2


def test_cells_of_the_notebook_can_be_run_again_in_any_order():
    once = {cell: printed(cell) for cell in ("c38", "c51", "c92")}
    once |= {pair: printed("c11", pair) for pair in ("c12", "c16")}
    built = "c38", "c40", "c41", "c42", "c44"
    every = "c11", "c12", "c28", "c30", *built, "c51", "c92", "c96", "c16"
    again = printed(*every, *every, layer_norm_backward=blank)
    assert again[: len(again) // 2] == again[len(again) // 2 :]
    assert all(said in again for cell, said in once.items() if cell not in ("c12", "c16"))


def test_errors_of_the_learners_functions_are_shown():
    def layer_norm(x, gamma, beta, eps):
        return x * unknown  # noqa: F821

    for shown in (explorers.drift(layer_norm), explorers.train_with(layer_norm, blank)):
        assert isinstance(shown.error, NameError)
        assert "in <code>layer_norm</code>" in shown._alert.value
    assert "gave shape (32, 3)" in str(explorers.drift(lambda x, g, b, e: x[:, :3]).error)
    assert "gave shapes" in str(explorers.train_with(blank, lambda dy, x, g, e: (dy, 1, 2)).error)


def test_a_narrow_network_in_half_precision_dies_out_by_chance():
    """As in the notebook, with 64 features instead of 256 and gain 0.9: layers until every value is 0."""
    seen = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        h, layer = rng.normal(size=(8, 64)).astype(np.float16), 0
        while h.any():
            h = (h.astype(np.float32) @ rng.normal(0, 0.9 / 8, (64, 64))).astype(np.float16)
            layer += 1
        seen.append(layer)
    assert 200 < min(seen) < 400 and 600 < max(seen) < 1000
