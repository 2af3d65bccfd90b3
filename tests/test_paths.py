"""Paths through a residual network: the binomial exactly, the gradient by path length against its theory."""

from itertools import combinations

import numpy as np
import pytest

from helpers import layers
from helpers.experiments import Stack, gradient_by_path_length, path_counts, paths
from helpers.experiments.paths import input_gradient

from .timing import cpu_seconds

SEEDS = range(5)


def mean_length(depth, seeds=SEEDS, **kind):
    return np.mean([gradient_by_path_length(depth, seed=s, **kind).mean_length for s in seeds])


def test_54_blocks_as_in_the_paper():
    paths = path_counts(54)
    assert paths[19:36].sum() == pytest.approx(0.98017, abs=5e-6)
    assert paths[5:18].sum() == pytest.approx(0.0045367, abs=5e-8)
    length = np.arange(55)
    assert paths @ length == pytest.approx(27)
    assert np.sqrt(paths @ (length - 27) ** 2) == pytest.approx(3.674, abs=5e-4)


@pytest.mark.parametrize("n", [0, 1, 3, 16, 100, 1000])
def test_shares_add_up_and_are_symmetric(n):
    paths = path_counts(n)
    assert paths.shape == (n + 1,)
    assert paths.sum() == pytest.approx(1)
    np.testing.assert_array_equal(paths, paths[::-1])


def test_few_blocks_can_be_counted_by_hand():
    np.testing.assert_array_equal(path_counts(3) * 8, [1, 3, 3, 1])


def test_pre_norm_gradient_comes_along_short_paths():
    runs = [gradient_by_path_length(54, seed=s) for s in SEEDS]
    lengths = [r.mean_length for r in runs]
    assert np.mean(lengths) == pytest.approx(3.75, abs=0.2)
    assert np.std(lengths) < 0.3
    # 95 % of the energy in lengths 1 to 8, which are 7e-8 of the paths.
    assert np.mean([r.energy[1:9].sum() for r in runs]) > 0.95
    assert runs[0].paths[1:9].sum() == pytest.approx(7e-8, rel=0.02)


def test_scaled_is_a_factor_that_goes_with_the_depth():
    seen = gradient_by_path_length(20, norm=None, scaled=True, alpha=2.0)
    np.testing.assert_array_equal(
        seen.energy, gradient_by_path_length(20, norm=None, alpha=2 / 20**0.5).energy
    )


@pytest.mark.parametrize(
    "kind", [{}, {"norm": "rms"}, {"norm": None}, {"norm": None, "alpha": 0.1}, {"alpha": 1.5}]
)
@pytest.mark.parametrize("depth", [20, 54])
def test_what_carries_next_to_nothing_need_not_be_followed(monkeypatch, depth, kind):
    seen = gradient_by_path_length.__wrapped__(depth, **kind)
    monkeypatch.setattr(paths, "LEAST", 0.0)
    every = gradient_by_path_length.__wrapped__(depth, **kind)
    np.testing.assert_allclose(seen.energy, every.energy, rtol=0, atol=1e-7)


@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("depth", [8, 16, 30, 54])
def test_pre_norm_follows_the_harmonic_sum(depth, norm):
    theory = sum(1 / (block + 2) for block in range(depth))  # block l is one of l + 2 parts of the stream
    assert mean_length(depth, norm=norm) == pytest.approx(theory, rel=0.15)


@pytest.mark.parametrize("depth", [10, 27, 54])
def test_without_norm_all_paths_carry_alike(depth):
    assert mean_length(depth, norm=None, batch=16) == pytest.approx(depth / 2, rel=0.03)


@pytest.mark.parametrize(
    ("depth", "alpha"), [(54, 54**-0.5), (54, 0.25), (20, 20**-0.5), (20, 0.5), (100, 0.1)]
)
def test_scaled_branches_shorten_the_paths(depth, alpha):
    theory = depth * alpha**2 / (1 + alpha**2)
    assert mean_length(depth, norm=None, alpha=alpha) == pytest.approx(theory, rel=0.06)


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("norm", [None, "layer", "rms"])
def test_dynamic_programming_is_the_sum_over_all_paths(norm, alpha):
    depth, width, batch, seed = 5, 8, 3, 2
    wiring = "pre-norm" if norm else "residual"
    he = {"activation": "relu", "gain": np.sqrt(2), "branch_layers": 2}
    network = Stack(depth, wiring, norm or "layer", alpha=alpha, width=width, seed=seed, **he)
    data = np.random.default_rng([seed, 0])
    network.forward(data.standard_normal((batch, width)))
    dout = data.standard_normal((batch, width))
    energy = []
    for k in range(depth + 1):
        total = 0
        for through in combinations(range(depth), k):
            g = dout
            for block in sorted(through, reverse=True):
                g = network.blocks[block].branch.backward(alpha * g)
            total = total + g
        energy.append((total**2).sum())
    seen = gradient_by_path_length(depth, alpha, norm, width=width, batch=batch, seed=seed)
    np.testing.assert_allclose(seen.energy, np.array(energy) / sum(energy), rtol=1e-10)


def test_the_input_gradient_is_backward_without_the_weights():
    network = Stack(4, "pre-norm", branch_layers=2, activation="gelu", width=8)
    rng = np.random.default_rng(0)
    network.forward(rng.standard_normal((3, 8)))
    dout = rng.standard_normal((2, 3, 8))  # two gradients at once
    whole = layers.Sequential(*network.blocks)
    seen = input_gradient(whole, dout)
    for one, many in zip(dout, seen):
        np.testing.assert_allclose(many, whole.backward(one), rtol=1e-12)


def test_equal_seeds_equal_energies():
    one, same, other = (gradient_by_path_length(10, seed=s).energy for s in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.shape == (11,)
    assert one.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: path_counts(-1), "cannot be -1"),
        (lambda: gradient_by_path_length(0), "at least 1"),
        (lambda: gradient_by_path_length(4, scaled=True), "without a norm"),
        (lambda: gradient_by_path_length(4, norm="batch"), "norm must be one of None, 'layer'"),
    ],
)
def test_bad_arguments_are_explained(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_54_blocks_are_quick():
    """About 0.06 s of CPU; a few tries, because the machine may be busy."""
    assert cpu_seconds(lambda: gradient_by_path_length(54), tries=8) <= 0.12
