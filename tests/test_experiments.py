"""The experiments against the figures that were measured before, at their sizes, over several seeds."""

import numpy as np
import pytest

from helpers import experiments
from helpers.experiments import activation_spread, gradient_norms

from .timing import cpu_seconds

SEEDS = range(8)
HE = {"activation": "relu", "gain": 2**0.5, "branch_layers": 2}


def ratio(depth, wiring="plain", **kind):
    """Geometric mean and spread factor of |dh_0| / |dh_L| at width 128 and batch 64."""
    logs = [np.log(gradient_norms(depth, wiring, width=128, batch=64, seed=s, **kind).ratio) for s in SEEDS]
    return np.exp(np.mean(logs)), np.exp(np.std(logs))


@pytest.mark.parametrize(
    ("depth", "wiring", "kind", "expected", "factor"),
    [  # expected value and the factor that one network is away from it, as measured over 20 seeds
        (32, "plain", {"activation": "linear", "gain": 0.9}, 0.0345, 1.17),
        (32, "plain", {"activation": "linear", "gain": 1.1}, 21.2, 1.17),
        (32, "plain", {"gain": 0.8}, 4.2e-4, 1.17),
        (32, "plain", {"gain": 1.0}, 0.152, 1.13),
        (8, "plain", {"gain": 1.0}, 0.304, 1.13),
        (16, "plain", {"gain": 1.0}, 0.216, 1.13),
        (64, "plain", {"gain": 1.0}, 0.0973, 1.13),
        (32, "plain", {"gain": 2.0}, 119, 1.13),
        (32, "plain", {"activation": "relu", "gain": 2**0.5}, 1.03, 1.30),
        (32, "plain", {"activation": "relu", "gain": 1.0}, 1.57e-5, 1.30),
        (32, "residual", {}, 16.6, 1.04),
        (32, "residual", HE, 6.64e4, 1.13),
        (32, "scaled residual", HE, 1.64, 1.02),
        (32, "residual", {**HE, "alpha": 1 / 32}, 1.02, 1.01),
        (32, "residual", {**HE, "alpha": 0.0}, 1.0, 1.0001),
        (32, "pre-norm", HE, 5.87, 1.04),
        (8, "pre-norm", HE, 3.04, 1.06),
        (64, "pre-norm", HE, 8.34, 1.04),
        (32, "pre-norm", {**HE, "norm": "rms"}, 5.87, 1.04),
        (32, "post-norm", HE, 1.05, 1.35),
        (32, "plain + norm", {"activation": "relu", "gain": 2**0.5}, 564, 1.10),
    ],
)
def test_gradient_at_the_input(depth, wiring, kind, expected, factor):
    mean, _ = ratio(depth, wiring, **kind)
    # The mean of 8 networks is well inside the spread of one.
    assert expected / factor <= mean <= expected * factor


@pytest.mark.parametrize(("depth", "gain"), [(5, 0.9), (12, 1.1), (24, 0.8), (40, 1.0)])
def test_plain_linear_networks_follow_gain_to_the_depth(depth, gain):
    mean, spread = ratio(depth, activation="linear", gain=gain)
    assert mean == pytest.approx(gain**depth, rel=0.1)
    assert spread < 1.4


@pytest.mark.parametrize("depth", [12, 24, 48])
def test_pre_norm_gradient_grows_like_the_root_of_the_depth(depth):
    mean, _ = ratio(depth, "pre-norm", **HE)
    assert mean == pytest.approx(np.sqrt(1 + depth), rel=0.1)


@pytest.mark.parametrize("depth", [10, 20, 50])
def test_residual_gradient_doubles_every_other_block(depth):
    mean, _ = ratio(depth, "residual", **HE)
    assert 2 ** (depth / 2) / 1.25 <= mean <= 2 ** (depth / 2) * 1.25


def spread_at(depth, layer=-1, **kind):
    """Mean and standard deviation over seeds of σ at one layer, at width 256 and batch 128."""
    stds = [activation_spread(depth, width=256, batch=128, seed=s, **kind).std[layer] for s in SEEDS[:5]]
    return np.mean(stds), np.std(stds)


@pytest.mark.parametrize(
    ("depth", "kind", "expected", "tolerance"),
    [  # expected value and tolerance: twice the spread of one network, or the theory's
        (10, {"gain": 1.5}, 57.67, 0.05),
        (20, {"gain": 1.5}, 3325, 0.1),
        (7, {"gain": 1.5}, 1.5**7, 0.05),
        (20, {"gain": 0.9}, 0.1216, 0.1),
        (13, {"gain": 0.9}, 0.9**13, 0.06),
        (10, {"residual": True}, 32.0, 0.04),
        (15, {"residual": True}, 181.0, 0.05),
        (20, {"residual": True}, 1024, 0.06),
        (20, {"residual": True, "norm": "layer"}, 4.564, 0.02),
        (8, {"residual": True, "norm": "layer"}, 3.0, 0.02),
        (50, {"residual": True, "alpha": 50**-0.5}, 1.632, 0.03),
        (20, {"norm": "layer", "gain": 3.0}, 1.0, 1e-5),
        (20, {"norm": "rms", "gain": 3.0}, 1.0, 0.02),
    ],
)
def test_spread_of_the_activations(depth, kind, expected, tolerance):
    assert spread_at(depth, **kind)[0] == pytest.approx(expected, rel=tolerance)


def test_a_relu_network_at_gain_1_loses_its_scale_and_its_mean_is_not_zero():
    he = [activation_spread(20, activation="relu", gain=2**0.5, width=256, batch=128, seed=s) for s in SEEDS]
    rms = np.mean([np.hypot(r.mean[-1], r.std[-1]) for r in he])
    assert rms == pytest.approx(0.97, abs=0.25)
    assert np.mean([r.mean[-1] / r.std[-1] for r in he]) == pytest.approx(0.67, abs=0.05)
    gain_1 = spread_at(20, activation="relu", gain=1.0)[0]
    assert 0.0005 < gain_1 < 0.0015


@pytest.mark.parametrize(("depth", "expected"), [(5, 10.4), (10, 148), (15, 2146)])
def test_a_bare_relu_branch_grows_faster_than_theory_for_zero_mean_branches(depth, expected):
    runs = [
        activation_spread(depth, residual=True, activation="relu", gain=2**0.5, width=256, batch=128, seed=s)
        for s in SEEDS
    ]
    rms = np.mean([np.hypot(r.mean[-1], r.std[-1]) for r in runs])
    assert rms == pytest.approx(expected, rel=0.25)
    assert rms > 1.5 * 2 ** (depth / 2)


def test_epsilon_shows_where_the_spread_is_tiny():
    seen = activation_spread(1, norm="layer", gain=1e-3, width=256, batch=128)
    assert seen.std[1] == pytest.approx(np.sqrt(1e-6 / (1e-6 + 1e-5)), rel=0.03)


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    one, same, other = (gradient_norms(12, "pre-norm", seed=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.dh, same.dh)
    np.testing.assert_array_equal(one.dW, same.dW)
    assert not np.array_equal(one.dh, other.dh)


def test_a_deeper_network_begins_like_the_shallower_one():
    shallow, deep = activation_spread(5, gain=1.5), activation_spread(9, gain=1.5)
    np.testing.assert_array_equal(shallow.std, deep.std[:6])


@pytest.mark.parametrize("wiring", experiments.WIRINGS)
def test_leaving_the_weights_out_changes_nothing_else(wiring):
    kind = {"branch_layers": 2, "activation": "gelu", "gain": 1.3}
    whole, part = (gradient_norms(9, wiring, weights=weights, **kind) for weights in (True, False))
    np.testing.assert_allclose(part.dh, whole.dh, rtol=1e-12)
    assert part.dW is None


def test_shapes():
    seen = gradient_norms(7, "residual", branch_layers=2)
    assert (seen.dh.shape, seen.dW.shape) == ((8,), (7,))
    assert seen.dh[-1] == pytest.approx(1.0)
    spread = activation_spread(7)
    assert (spread.mean.shape, spread.std.shape) == ((8,), (8,))


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("factor", [0.9, -0.1, -1.0, 0.1, 2.0])
def test_the_toy_model_multiplies_one_number(factor, residual):
    toy = experiments.toy_gradient_norms(50, factor, residual)
    assert toy[-1] == 1
    assert toy[0] == pytest.approx(abs(factor + residual) ** 50)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ({"wiring": "skip"}, "wiring must be one of 'plain'"),
        ({"activation": "sigmoid"}, "activation must be one of 'linear'"),
        ({"norm": "batch"}, "norm must be one of 'layer'"),
        ({"depth": 0}, "at least 1"),
    ],
)
def test_bad_arguments_are_explained(mistake, words):
    with pytest.raises(ValueError, match=words):
        gradient_norms(**mistake)


@pytest.mark.parametrize("run", [gradient_norms, activation_spread])
def test_a_run_at_the_default_size_is_quick_enough_for_a_slider(run):
    """At most 10 ms of CPU."""
    assert cpu_seconds(run, tries=10) <= 0.010


def test_networks_of_the_same_seed_and_gain_share_matrices_that_nobody_can_change():
    one, other = (
        experiments.Stack(3, wiring, gain=0.8).branches[2].layers[0].W for wiring in ("plain", "residual")
    )
    assert one is other
    with pytest.raises(ValueError, match="read-only"):
        one[0, 0] = 0
