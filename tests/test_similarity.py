"""What is left of the input, and whether two inputs can still be told apart, against theory and measurement."""

import numpy as np
import pytest

from helpers import layers
from helpers.experiments import (
    WIRINGS,
    input_similarity,
    mean_cosine,
    pair_similarity,
    relu_cosine_theory,
)

from .timing import cpu_seconds

SEEDS = range(8)
HE = {"activation": "relu", "gain": 2**0.5}


def left(depth, wiring="plain", **kind):
    return np.mean([input_similarity(depth, wiring, seed=s, **kind) for s in SEEDS], axis=0)


def alike(depth, wiring="plain", **kind):
    return np.mean([pair_similarity(depth, wiring, width=256, seed=s, **kind) for s in SEEDS], axis=0)


def theory(depth, c=0.0):
    cosines = [c]
    for _ in range(depth):
        cosines.append(relu_cosine_theory(cosines[-1]))
    return np.array(cosines)


# ------------------------------------------------------------------------------ cosine with the input


@pytest.mark.parametrize("activation", ["linear", "tanh", "relu"])
def test_a_plain_layer_forgets_the_input_at_once(activation):
    """A random matrix turns every input at random: the cosine is 0, give or take 1 / sqrt(width * batch)."""
    assert np.abs(left(10, activation=activation)[1:3]).max() < 0.05


@pytest.mark.parametrize("depth", [2, 8, 20])
def test_residual_linear_stream_is_the_input_and_as_many_random_vectors(depth):
    """|h_l|^2 doubles at every block, the input's part stays: the cosine is 2^(-l / 2)."""
    expected = 2 ** (-np.arange(depth + 1) / 2)
    np.testing.assert_allclose(left(depth, "residual", activation="linear", width=128), expected, atol=0.05)


@pytest.mark.parametrize("depth", [4, 16, 40])
def test_pre_norm_keeps_one_part_of_l_plus_1(depth):
    expected = (1 + np.arange(depth + 1)) ** -0.5
    seen = left(depth, "pre-norm", activation="linear", width=128)
    np.testing.assert_allclose(seen, expected, atol=0.06)


@pytest.mark.parametrize("depth", [4, 16, 64])
def test_scaled_branches_keep_more_than_half(depth):
    end = left(depth, "scaled residual", activation="linear", width=128)[-1]
    assert end == pytest.approx((1 + 1 / depth) ** (-depth / 2), abs=0.04)  # -> exp(-1/2) = 0.61


@pytest.mark.parametrize("depth", [8, 32])
def test_a_larger_branch_leaves_less_of_the_input(depth):
    ends = [left(depth, "residual", alpha=alpha)[-1] for alpha in (0.0, 0.1, 0.3, 1.0)]
    assert ends[0] == pytest.approx(1)
    assert np.all(np.diff(ends) < -0.005)


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("branch_layers", [1, 2])
def test_shape_and_range(wiring, branch_layers):
    seen = input_similarity(7, wiring, branch_layers=branch_layers, gain=3.0)
    assert seen.shape == (8,)
    assert seen[0] == pytest.approx(1)
    assert np.abs(seen).max() <= 1 + 1e-12


def test_a_stream_that_became_zero_has_no_direction():
    seen = input_similarity(3, "plain", activation="relu", gain=0.0)
    np.testing.assert_array_equal(seen[1:], 0)


# ------------------------------------------------------------------------------ cosine between inputs


@pytest.mark.parametrize(
    ("layer", "expected"), [(1, 0.318), (4, 0.681), (8, 0.834), (16, 0.9295), (40, 0.9824)]
)
def test_relu_cosines_theory_at_the_layers_that_were_published(layer, expected):
    assert theory(40)[layer] == pytest.approx(expected, abs=5e-4)


def test_relu_cosine_theory_by_hand():
    seen = relu_cosine_theory(np.array([-1.0, 0.0, 1.0, 1.0 + 1e-15]))
    np.testing.assert_allclose(seen, [0, 1 / np.pi, 1, 1], atol=1e-12)


@pytest.mark.parametrize(("depth", "gain"), [(5, 1.0), (12, 2**0.5), (24, 3.0)])
def test_plain_relu_turns_all_inputs_the_same_way_as_theory_says(depth, gain):
    seen = alike(depth, activation="relu", gain=gain)
    np.testing.assert_allclose(seen[1:], theory(depth)[1:], atol=0.025)


@pytest.mark.parametrize(
    ("wiring", "kind", "expected", "tolerance"),
    [  # measured over five seeds before; tolerance: the spread of one network
        ("plain", {}, 0.984, 0.01),
        ("pre-norm", {"branch_layers": 2}, 0.56, 0.04),
        ("post-norm", {"branch_layers": 2}, 0.94, 0.02),
        ("scaled residual", {"branch_layers": 2}, 0.24, 0.04),
    ],
)
def test_cosine_of_different_inputs_after_40_layers(wiring, kind, expected, tolerance):
    assert alike(40, wiring, **HE, **kind)[-1] == pytest.approx(expected, abs=tolerance)


def test_batch_norm_before_the_relu_keeps_inputs_apart():
    ends = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        h = rng.standard_normal((32, 256))
        for _ in range(40):
            h = layers.relu(layers.BatchNorm(256)(layers.Linear(256, 256, rng)(h)))
        ends.append(mean_cosine(h))
    assert np.mean(ends) == pytest.approx(0.305, abs=0.02)


def test_mean_cosine_is_the_mean_over_all_pairs():
    h = np.random.default_rng(0).standard_normal((5, 3))
    pairs = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for i, a in enumerate(h) for b in h[:i]]
    assert mean_cosine(h) == pytest.approx(np.mean(pairs))
    assert mean_cosine(np.ones((4, 3))) == pytest.approx(1)


# ------------------------------------------------------------------------------ both


@pytest.mark.parametrize("run", [input_similarity, pair_similarity])
def test_equal_seeds_equal_curves_and_a_deeper_network_begins_alike(run):
    one, same, other = (run(9, "pre-norm", seed=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    np.testing.assert_array_equal(run(4, "pre-norm", seed=3), one[:5])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: input_similarity(4, "skip"), "wiring must be one of 'plain'"),
        (lambda: pair_similarity(4, activation="sigmoid"), "activation must be one of"),
        (lambda: pair_similarity(0), "at least 1"),
        (lambda: pair_similarity(4, batch=1), "two different inputs"),
    ],
)
def test_bad_arguments_are_explained(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("run", [input_similarity, pair_similarity])
def test_a_run_at_the_default_size_is_quick_enough_for_a_slider(run):
    """At most 10 ms of CPU; a few tries, because the machine may be busy."""
    assert cpu_seconds(run, tries=10) <= 0.010
