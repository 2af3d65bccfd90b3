"""What notebook 04 says of statistics over a batch, measured over several seeds; its explorers say the same."""

import html

import numpy as np
import pytest

from helpers import explorers, layers
from helpers.experiments import batches
from helpers.figures import words
from helpers.questions import PREDICTIONS

from .test_explorers import numbers_in
from .test_norms_stories import blank, over_the_batch, to_the_end
from .timing import cpu_seconds

SEEDS = range(5)


def batch_norm(x):
    """x (N, C) in training, over the batch; gamma 1, beta 0."""
    one, zero = np.ones(x.shape[1]), np.zeros(x.shape[1])
    return layers.batch_norm(x, one, zero, zero, one, training=True)[0]


def layer_norm(x):
    return layers.layer_norm(x, 1.0, 0.0)


# ------------------------------------------------------------------------------ who depends on whom


def largest_changes(norm, change, shape, seeds=20):
    """Of the outputs whose own input stays when others change, by how much the most: for each of some random inputs."""
    most = []
    for seed in range(seeds):
        x = np.random.default_rng(seed).standard_normal(shape)
        moved = np.abs(norm(x) - norm(change(x)))
        most.append(moved[change(x) == x].max())
    return np.array(most)


def test_other_examples_change_a_batch_norm_output_and_no_layer_norm_output():
    def others_changed(x):
        return np.r_[x[:1], 5 * x[1:] + 3]

    most = largest_changes(batch_norm, others_changed, (8, 16))
    assert most.mean() == pytest.approx(1.9, abs=0.2) and 1 <= most.min() <= most.max() <= 4
    assert not largest_changes(layer_norm, others_changed, (8, 16)).any()


def test_a_future_token_changes_past_batch_norm_outputs_and_no_layer_norm_output():
    def last_moved(x):
        return np.concatenate([x[:, :9], x[:, 9:] + 10], axis=1)

    most = largest_changes(batches.over_tokens, last_moved, (4, 10, 8))
    assert most.mean() == pytest.approx(2.1, abs=0.2) and 1 <= most.min() <= most.max() <= 3.5
    assert not largest_changes(layer_norm, last_moved, (4, 10, 8)).any()


def test_a_mask_keeps_padding_out_and_later_tokens_not():
    x, mask = batches.padded_sequences()
    later, noisy = x.copy(), x + 7 * ~mask[..., None]
    later[-1, -1] += 10  # the last token of the longest sequence
    y, moved, same = (layers.masked_batch_norm(a, mask, np.ones(4), np.zeros(4)) for a in (x, later, noisy))
    np.testing.assert_array_equal(same, y)
    earlier = np.abs(moved - y)[:, :-1][mask[:, :-1]]
    assert earlier.max() == pytest.approx(0.40, abs=0.02) and earlier.min() > 0


@pytest.mark.parametrize("batch", [3, 6, 16])
@pytest.mark.parametrize("move", [-10.0, 0.5, 7.0])
@pytest.mark.parametrize("example", [1, 16])
def test_neighbour_says_what_numpy_computes(batch, move, example):
    shown = explorers.neighbour()
    shown.set(batch=batch, move=move, example=example)
    x = np.random.default_rng(0).standard_normal((16, 4))[:batch]
    chosen = min(example, batch) - 1
    moved = x.copy()
    moved[chosen, 0] += move
    was, now = ((v - v.mean(axis=0)) / np.sqrt(v.var(axis=0) + 1e-5) for v in (x, moved))
    change = np.abs(np.delete(now - was, chosen, axis=0))
    said = numbers_in(shown.sentence)
    assert said[:2] == [chosen + 1, move]
    assert f"BatchNorm changed {(change > 1e-9).sum()} of {change.size} outputs" in shown.sentence
    mean = change[change > 1e-9].mean()
    assert f", by {words(mean)} on average and by up to {words(change.max())};" in shown.sentence
    assert shown.sentence.endswith(f"LayerNorm changed none of the {change.size} outputs.")
    shown.close()


def test_the_example_that_is_moved_is_one_of_the_batch():
    shown = explorers.neighbour()
    shown.set(batch=16, example=16)
    shown.set(move=1.0)
    shown.controls["batch"].value = 3
    assert shown.controls["example"].value == 3 and "of example 3 is moved" in shown.sentence
    shown.reset()
    assert shown.values() == {"batch": 6, "example": 6, "move": 0.0}
    shown.close()


def test_the_prediction_asks_for_what_the_explorer_shows_and_does_not_open_on():
    shown = explorers.neighbour()
    assert shown.sentence == "Nothing is moved yet: every output is where it was."
    shown.set(move=5.0)
    assert f"by up to {words(PREDICTIONS['neighbour'].value)};" in shown.sentence


@pytest.mark.parametrize("explorer", [explorers.neighbour, explorers.future])
@pytest.mark.parametrize("end", [-1, 1])
def test_no_dot_is_beyond_its_axis(explorer, end):
    shown = explorer()
    shown.set(**{name: c.max for name, c in shown.controls.items()})
    shown.set(move=end * shown.controls["move"].max)
    for ax in shown.figure.axes:
        low, high = ax.get_ylim()
        for line in ax.lines:
            y = line.get_ydata()
            assert all((low < y) & (y < high))
    shown.close()


@pytest.mark.parametrize(("token", "move"), [(10, 10.0), (2, -20.0), (6, 1.0)])
def test_future_says_what_numpy_computes(token, move):
    shown = explorers.future()
    shown.set(token=token, move=move)
    x = np.random.default_rng(0).standard_normal((4, 10, 4))
    moved = x.copy()
    moved[0, token - 1, 0] += move
    y = [(v - v.mean(axis=(0, 1))) / np.sqrt(v.var(axis=(0, 1)) + 1e-5) for v in (x, moved)]
    change = np.abs(y[1] - y[0])[:, : token - 1]
    assert f"BatchNorm changed {4 * (token - 1)} of {change.size} outputs, by" in shown.sentence
    assert f"on average and by up to {words(change.max())};" in shown.sentence
    assert f"LayerNorm changed none of the {change.size} outputs" in shown.sentence
    shown.close()


def test_nothing_moved_is_said():
    for explorer in (explorers.neighbour, explorers.future):
        shown = explorer()
        shown.set(move=0.0)
        assert shown.sentence == "Nothing is moved yet: every output is where it was."
        shown.close()


# ------------------------------------------------------------------------------ sequences


@pytest.mark.parametrize("sequences", [8, 32, 128])
def test_mean_over_fewer_sequences_is_noisier(sequences):
    seen = [batches.position_statistics(sequences, seed) for seed in range(300)]
    n = seen[0].count
    assert n[0] == sequences and n[-1] == 1
    noise = np.std([one.mean for one in seen], axis=0)
    np.testing.assert_allclose(noise, n**-0.5, rtol=0.2)
    assert all(one.std[-1] == 0 for one in seen), "the spread of one value"


@pytest.mark.parametrize("position", [1, 50, 87, 100])
def test_lengths_says_what_it_counted(position):
    shown = explorers.lengths()
    shown.set(position=position, sequences=32)
    n = sum(round(length) >= position for length in np.linspace(10, 100, 32))
    seen = batches.position_statistics(32)
    assert f"At position {position}, {n} of 32 sequences still" in shown.sentence
    said = numbers_in(shown.sentence)
    assert said[3] == pytest.approx(seen.mean[position - 1], rel=0.006)
    assert said[-2 if n > 1 else -1] == pytest.approx(seen.std[position - 1], rel=0.006)
    shown.close()


def test_padding_that_counts_changes_the_spread_by_the_root_of_the_share():
    x, mask = batches.padded_sequences()
    assert mask.mean() == 0.4875
    np.testing.assert_allclose(x.std(axis=(0, 1)), np.sqrt(0.4875), rtol=1e-9)
    np.testing.assert_allclose(batches.over_tokens(x)[mask].std(axis=0), 0.4875**-0.5, rtol=1e-4)
    masked = layers.masked_batch_norm(x, mask, np.ones(4), np.zeros(4))
    np.testing.assert_allclose(masked[mask].std(axis=0), 1, rtol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_padding_of_tokens_that_were_not_standardized(seed):
    mask = batches.padded_sequences()[1][..., None]
    x = np.random.default_rng(seed).standard_normal((8, 100, 4)) * mask
    np.testing.assert_allclose(x.std(axis=(0, 1)), 0.70, atol=0.08)


@pytest.mark.parametrize(("shortest", "mean"), [(10, 0.0), (10, 3.0), (60, -2.0), (100, 1.0)])
def test_padding_says_what_numpy_computes(shortest, mean):
    shown = explorers.padding()
    shown.set(shortest=shortest, mean=mean)
    x, mask = batches.padded_sequences(shortest)
    x = (x + mean * mask[..., None])[..., 0]
    y = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    expected = [100 * mask.mean(), x.std(), 1, y[mask].mean(), y[mask].std()]
    expected += [y[~mask].mean()] if not mask.all() else []
    np.testing.assert_allclose(numbers_in(shown.sentence), expected, rtol=0.006, atol=1e-9)
    shown.set(masked=True)
    end = ", the padding as 0." if shortest < 100 else "."
    assert shown.sentence.endswith("the real tokens come out with mean 0 and spread 1" + end)
    shown.close()


# ------------------------------------------------------------------------------ small batches


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("batch", [1, 2, 4, 8, 32, 256])
def test_noise_of_the_statistics_follows_the_theory(batch, seed):
    noise = batches.batch_noise(batch, seed)
    assert (noise.mean, noise.var) == pytest.approx(batches.noise_theory(batch), rel=0.06)
    assert batches.noise_theory(batch) == (batch**-0.5, np.sqrt(2 * batch - 1) / batch)


@pytest.mark.parametrize(("batch", "sways"), [(2, 1.414), (8, 0.535), (32, 0.254)])
def test_the_biased_variance_is_too_small_by_one_part_in_the_batch_and_sways_about_its_mean(batch, sways):
    var = np.random.default_rng(0).standard_normal((40_000, batch)).var(axis=1)
    assert var.mean() == pytest.approx((batch - 1) / batch, rel=0.02)
    assert var.std() / var.mean() == pytest.approx(sways, rel=0.02)
    assert (2 / (batch - 1)) ** 0.5 == pytest.approx(sways, abs=5e-4), (
        "for numbers from a normal distribution"
    )


def test_a_batch_of_one_gives_beta_and_a_batch_of_two_a_sign():
    np.testing.assert_array_equal(batches.batch_noise(1).y, 0)
    y = np.abs(batches.batch_noise(2).y)
    assert y.max() <= 1 and (y > 0.99).mean() > 0.95, "less only where both are nearly equal"
    with pytest.raises(ValueError, match="more than one value"):
        batch_norm(np.ones((1, 4)))


def test_larger_batches_come_closer_to_the_right_output():
    errors = [batches.batch_noise(batch).error for batch in (1, 2, 4, 16, 64, 256)]
    assert errors == sorted(errors, reverse=True) and errors[0] > 0.95 and errors[-1] < 0.1


@pytest.mark.parametrize("batch", [1, 2, 3, 32, 256])
def test_small_batches_says_what_was_measured(batch):
    shown = explorers.small_batches()
    shown.set(batch=batch)
    noise = batches.batch_noise(batch)
    mean, var = batch**-0.5, np.sqrt(2 * batch - 1) / batch
    expected = [batch, noise.mean, mean, 100 * noise.var, 100 * var, noise.error]
    np.testing.assert_allclose(numbers_in(shown.sentence)[:6], expected, rtol=0.006)
    assert ("−1 or +1" in shown.sentence) == (batch == 2)
    assert ("every output is β = 0" in shown.sentence) == (batch == 1)
    shown.close()


# ------------------------------------------------------------------------------ running statistics


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("momentum", [0.01, 0.1, 0.5, 1.0])
def test_running_statistics_are_weighted_means_of_the_batches(momentum, seed):
    seen = batches.stream(30, 8, seed)
    mean, var = batches.running_statistics(layers.batch_norm, seen, momentum)
    weight = momentum * (1 - momentum) ** np.arange(29, -1, -1)
    start = (1 - momentum) ** 30
    np.testing.assert_allclose(mean[-1], weight @ seen.mean(axis=1))
    np.testing.assert_allclose(var[-1], weight @ seen.var(axis=1, ddof=1) + start)


@pytest.mark.parametrize("seed", SEEDS)
def test_after_many_batches_training_and_evaluation_nearly_agree(seed):
    mean, var = batches.running_statistics(layers.batch_norm, batches.stream(400, 64, seed), 0.05)
    np.testing.assert_allclose(mean[-1], batches.STREAM_MEAN, atol=0.2)
    np.testing.assert_allclose(np.sqrt(var[-1]), batches.STREAM_STD, rtol=0.1)


def apart(**setting):
    """What train_and_eval says: how far training and evaluation are apart."""
    shown = explorers.train_and_eval()
    shown.set(**setting)
    said = numbers_in(shown.sentence)[-1]
    shown.close()
    return said


def test_what_keeps_training_and_evaluation_apart():
    settled = apart(steps=100, batch=64)
    assert settled < 0.2
    assert apart(steps=2, batch=64) > 5 * settled, "few batches seen"
    assert apart(steps=100, batch=64, momentum=0.01) > 3 * settled, "a momentum too small for them"
    assert apart(steps=100, batch=2) > 3 * settled, "small batches"
    assert apart(steps=100, batch=64, shift=10.0) == pytest.approx(10 / 2, rel=0.1), (
        "other data, in units of σ"
    )


@pytest.mark.parametrize("setting", [(0, 0.1, 8, 0.0), (100, 1.0, 2, 0.0), (17, 0.3, 64, 4.5)])
def test_train_and_eval_says_what_numpy_computes(setting):
    steps, momentum, batch, shift = setting
    shown = explorers.train_and_eval()
    shown.set(steps=steps, momentum=momentum, batch=batch, shift=shift)
    data = batches.stream(116, batch)[..., 0]
    mean, var = 0.0, 1.0
    for x in data[:steps]:
        mean = (1 - momentum) * mean + momentum * x.mean()
        var = (1 - momentum) * var + momentum * x.var(ddof=1)
    new = data[100:] + shift
    own = new.mean(axis=1, keepdims=True), new.var(axis=1, keepdims=True)
    trained, evaluated = ((new - m) / np.sqrt(v + 1e-5) for m, v in (own, (mean, var)))
    expected = [steps, momentum, mean, np.sqrt(var), 5, 2, 16, np.abs(trained - evaluated).mean()]
    np.testing.assert_allclose(numbers_in(shown.sentence), expected, rtol=0.006, atol=1e-9)
    assert "new = (1 − momentum) × old + momentum × batch" in html.unescape(shown._table.value)
    shown.close()


# ------------------------------------------------------------------------------ training


def trained(norm, batch, seed=0):
    *_, network = batches.train_with_batches(norm, batch, seed=seed)
    return network


def test_error_on_uses_running_statistics_or_those_of_each_batch_and_keeps_all():
    network, (*_, x, y) = trained("batch", 64), batches.clusters()
    norms = [leaf for block in network.blocks for leaf in block.layers if isinstance(leaf, layers.BatchNorm)]
    kept = [(n.running_mean.copy(), n.running_var.copy()) for n in norms]
    by_batches, by_running = batches.error_on(network, x, y, 64), batches.error_on(network, x, y)
    for norm, statistics in zip(norms, kept):
        np.testing.assert_array_equal((norm.running_mean, norm.running_var), statistics)
        assert norm.training
    wrong = [network(x[i : i + 64]).argmax(axis=1) != y[i : i + 64] for i in range(0, 1472, 64)]
    assert by_batches == np.mean(wrong)
    for norm, statistics in zip(norms, kept):
        norm.running_mean, norm.running_var = statistics
        norm.training = False
    assert by_running == (network(x).argmax(axis=1) != y).mean()
    assert by_running < 0.08 and by_running < by_batches


def test_test_data_are_not_the_training_data():
    x, _, x_test, y_test = batches.clusters()
    assert len(y_test) == 1500 and not (x[:, None, 0] == x_test[:, 0]).any()


def test_comparison_yields_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_SIZES", (16, 64))
    for epochs in (1, 2):
        run = batches.compare_batch_sizes(epochs, seeds=1)
        assert sum(1 for _ in run) == batches.comparison_steps(seeds=1)


@pytest.mark.parametrize("norm", batches.COMPARED.values())
def test_training_pauses_often_enough_to_hear_stop(norm):
    assert cpu_seconds(lambda: next(batches.train_with_batches(norm, 2)), tries=2) < 0.5


def test_batch_sizes_says_what_was_measured(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_SIZES", (32, 64))
    run = explorers.batch_sizes()
    assert {name for name, _ in run.state} == {*batches.COMPARED, "BatchNorm by batch"}, "before Start"
    to_the_end(run)
    assert run.done == run.steps
    assert set(run.state) == {
        (name, size) for name in [*batches.COMPARED, "BatchNorm by batch"] for size in (32, 64)
    }
    for (name, _), errors in run.state.items():
        assert len(errors) == 3
        assert f"{name} {words(100 * np.mean(errors))} %" in run.sentence
    assert run.sentence.startswith("Wrong on test data, means over 3 runs: with batches of 32 BatchNorm")
    mean = {name: np.mean(run.state[name, 64]) for name in batches.COMPARED}
    assert mean["BatchNorm"] < 0.75 * min(mean[name] for name in mean if name != "BatchNorm"), (
        "it is the first"
    )
    run.close()


def mean_errors(epochs):
    """Mean test error in percent of all networks, {(name, batch): number}, over three seeds."""
    *_, errors = batches.compare_batch_sizes(epochs)
    return {key: 100 * np.mean(seen) for key, seen in errors.items()}


@pytest.fixture(scope="module")
def comparison():
    return mean_errors(8)


@pytest.mark.slow
def test_with_two_passes_batch_norm_is_ahead_in_large_batches_and_the_others_in_small_ones():
    seen, others = mean_errors(2), ("LayerNorm", "GroupNorm", "no norm")
    assert seen["BatchNorm", 2] > 60 and seen["BatchNorm by batch", 2] > 60
    for name in others:
        assert seen[name, 64] > 1.2 * seen[name, 4]
        assert all(seen["BatchNorm", batch] < 0.85 * seen[name, batch] for batch in (32, 64))
    for batch in batches.BATCH_SIZES:
        assert seen["BatchNorm by batch", batch] > seen["BatchNorm", batch]


@pytest.mark.slow
def test_batches_of_two_fail_on_the_training_data_too():
    x, y, *_ = batches.clusters()
    assert batches.error_on(trained("batch", 2), x, y) > 0.6, "so it is not overfitting"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "with_2", "with_4", "from_8_up"),
    [("BatchNorm", 75, 7.2, 4.5), ("BatchNorm by batch", 79, 20, 7.5), ("LayerNorm", 3.8, 3.4, 4.0),
     ("GroupNorm", 3.9, 3.9, 4.8), ("no norm", 4.7, 6.3, 5.6)],
)  # fmt: skip
def test_batch_norm_fails_with_batches_of_two_and_the_others_do_not_mind(
    comparison, name, with_2, with_4, from_8_up
):
    seen = [comparison[name, batch] for batch in batches.BATCH_SIZES]
    assert seen[:2] == pytest.approx([with_2, with_4], rel=0.35, abs=0.5)
    assert np.mean(seen[2:]) == pytest.approx(from_8_up, rel=0.25)
    assert max(seen[2:]) < 2 * min(seen[2:]), "from 8 up it matters little"


@pytest.mark.slow
def test_batch_norm_fails_with_batches_of_two_and_is_fine_from_eight_up(comparison):
    assert 60 < comparison["BatchNorm", 2] < 85
    assert 4 < comparison["BatchNorm", 4] < 12
    assert all(3 < comparison["BatchNorm", batch] < 7 for batch in (8, 16, 32, 64))


@pytest.mark.slow
def test_the_others_do_not_mind_small_batches(comparison):
    for name, low, high in (("LayerNorm", 3, 5.5), ("GroupNorm", 3, 6), ("no norm", 3, 7.5)):
        assert all(low < comparison[name, batch] < high for batch in batches.BATCH_SIZES), name


@pytest.mark.slow
def test_running_statistics_are_better_than_those_of_a_test_batch(comparison):
    for batch in batches.BATCH_SIZES:
        assert comparison["BatchNorm by batch", batch] > comparison["BatchNorm", batch]
    assert comparison["BatchNorm by batch", 4] > 2 * comparison["BatchNorm", 4]


# ------------------------------------------------------------------------------ at initialization


def growth(*kind, seeds=4, **size):
    """By how much does a layer multiply the gradient, away from both ends? The mean over seeds."""
    seen = [batches.gradient_growth(*kind, **size, seed=seed) for seed in range(seeds)]
    return np.mean([(dh[3] / dh[23]) ** (1 / 20) for dh in seen])


@pytest.mark.parametrize(
    ("batch", "width", "factor", "within"),
    [(512, 256, 1.2049, 0.01), (128, 256, 1.2098, 0.01), (32, 256, 1.2304, 0.012), (8, 256, 1.3384, 0.025),
     (128, 128, 1.2098, 0.012)],
)  # fmt: skip
def test_batch_norm_multiplies_the_gradient_at_each_relu_layer(batch, width, factor, within):
    seeds = 2 if batch == 512 else 4
    assert growth("batch", "relu", batch, width=width, seeds=seeds) == pytest.approx(factor, abs=within)
    assert pytest.approx(1.2112, abs=1e-4) == batches.RELU_BATCH_NORM_GROWTH


@pytest.mark.parametrize(
    ("norm", "activation", "squared", "within"),
    [("batch", "linear", 1.001, 0.02), ("batch", "tanh", 1.197, 0.02), ("layer", "relu", 0.993, 0.02),
     (None, "relu", 1.003, 0.02)],
)  # fmt: skip
def test_other_networks_do_less_or_nothing(norm, activation, squared, within):
    assert growth(norm, activation, 128, width=256) ** 2 == pytest.approx(squared, abs=within)


def test_with_tanh_layer_norm_does_the_same_as_batch_norm():
    ends = {
        norm: [batches.gradient_growth(norm, "tanh", width=128, seed=s)[0] for s in range(4)]
        for norm in ("batch", "layer")
    }
    assert np.mean(ends["batch"]) == pytest.approx(np.mean(ends["layer"]), rel=0.3)


@pytest.mark.parametrize("seed", range(4))
def test_shortcuts_tame_it(seed):
    plain, residual = (batches.gradient_growth(residual=r, seed=seed)[0] for r in (False, True))
    assert plain > 100 and 4 < residual < 10


@pytest.mark.parametrize(("norm", "factor"), [(layers.BatchNorm, 8.7), (layers.LayerNorm, 5.6)])
def test_before_a_branch_both_norms_keep_it_near_the_root_of_the_depth(norm, factor):
    def grown(seed, width=256, depth=30):
        rng = np.random.default_rng(seed)
        matrices = [layers.Linear(width, width, rng, 2**0.5) for _ in range(depth)]
        branches = [layers.Sequential(norm(width), layers.Activation("relu"), matrix) for matrix in matrices]
        network = layers.Sequential(*map(layers.Residual, branches))
        x, dy = rng.standard_normal((2, 128, width))
        network(x)
        return np.linalg.norm(network.backward(dy)) / np.linalg.norm(dy)

    assert np.mean([grown(seed) for seed in range(2)]) == pytest.approx(factor, abs=0.35)


def test_the_whole_network_multiplies_it_by_more_than_a_hundred():
    ends = [batches.gradient_growth(width=256, seed=seed)[0] for seed in range(4)]
    assert np.exp(np.mean(np.log(ends))) == pytest.approx(176, rel=0.25)


def theory_is_drawn(shown):
    (line,) = [line for line in shown.figure.axes[0].lines if line.get_label() == "theory"]
    return len(line.get_xdata()) > 0


@pytest.mark.parametrize(
    ("name", "norm", "residual"),
    [("BatchNorm", "batch", False), ("LayerNorm", "layer", False), ("no normalization", None, False),
     ("BatchNorm and shortcuts", "batch", True)],
)  # fmt: skip
def test_at_init_says_what_was_measured(name, norm, residual):
    shown = explorers.batch_norm_at_init()
    shown.set(name=name, batch=32)
    dh = batches.gradient_growth(norm, "relu", 32, residual)
    said = numbers_in(shown.sentence)
    expected = [30, 32, dh[0], 3, 23, (dh[3] / dh[23]) ** (1 / 20)]
    np.testing.assert_allclose(said[:6], expected, rtol=0.006)
    assert ("theory for large batches: 1.211" in shown.sentence) == (name == "BatchNorm")
    assert theory_is_drawn(shown) == (name == "BatchNorm")
    for other in (8, 128):
        limits = shown.figure.axes[0].get_ylim()
        shown.set(batch=other)
        assert shown.figure.axes[0].get_ylim() == limits
    shown.close()


# ------------------------------------------------------------------------------ the learner's functions


def over_features(x, gamma, beta, mean, var, training, momentum, eps):
    """Another axis, and running statistics that are as they should be."""
    _, mean, var = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    return layers.layer_norm(x, gamma, beta, eps), mean, var


def momentum_reversed(x, gamma, beta, mean, var, training, momentum, eps):
    return layers.batch_norm(x, gamma, beta, mean, var, training, 1 - momentum, eps)


def counting_padding(x, mask, gamma, beta, eps):
    return np.where(mask[..., None], over_the_batch(x.reshape(-1, 4), gamma, beta, eps).reshape(x.shape), 0.0)


@pytest.mark.parametrize("explorer", ["neighbour", "train_and_eval", "padding"])
def test_blank_and_right_functions_draw_the_reference(explorer):
    show, reference = getattr(explorers, explorer), getattr(explorers, explorer)()
    name = "masked_batch_norm" if explorer == "padding" else "batch_norm"
    for function, remark in (
        (blank, f" Your {name} is still blank: this is the reference."),
        (getattr(layers, name), f" Drawn with your {name}."),
    ):
        shown = show(function)
        if explorer == "padding":
            reference.reset()
            assert shown.values() == reference.values() and remark not in shown.sentence, "opens on counted"
            shown.set(masked=True)
            reference.set(masked=True)
        assert shown.error is None and shown.sentence == reference.sentence + remark
        shown.close()


def test_a_wrong_axis_is_seen_beside_its_neighbours():
    shown = explorers.neighbour(over_features)
    shown.set(move=5.0)
    reference = "changed 5 of 20 outputs, by 0.674 on average and by up to 1.04"
    assert f"your batch_norm changed none of the 20 outputs (the reference {reference});" in shown.sentence
    differ = " Drawn with your batch_norm. The outputs differ from the reference's (black marks)."
    assert shown.sentence.endswith(differ)
    shown.set(move=0.0)
    assert shown.sentence.endswith(differ), "wrong before anything is moved"
    shown.close()


def test_a_reversed_momentum_is_seen_in_the_running_statistics():
    wrong, right = explorers.train_and_eval(momentum_reversed), explorers.train_and_eval(layers.batch_norm)
    assert wrong.sentence.endswith(" Its running statistics differ from the reference's (dotted).")
    assert numbers_in(wrong.sentence)[2] > 1.3 * numbers_in(right.sentence)[2]
    assert bytes(wrong.image.value) != bytes(right.image.value)


def updated_first(x, gamma, beta, mean, var, training, momentum, eps):
    """In training, too, by the running statistics, those after their update."""
    _, mean, var = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    return layers.batch_norm(x, gamma, beta, mean, var, False, momentum, eps)


def always_in_training(x, gamma, beta, mean, var, training, momentum, eps):
    y, *kept = layers.batch_norm(x, gamma, beta, mean, var, True, momentum, eps)
    return y, *(kept if training else (mean, var))


@pytest.mark.parametrize(
    ("wrong", "modes"),
    [
        (updated_first, "training"),
        (always_in_training, "evaluation"),
        (over_features, "training and in evaluation"),
    ],
)
def test_statistics_of_the_wrong_mode_are_said(wrong, modes):
    shown = explorers.train_and_eval(wrong)
    assert shown.sentence.endswith(f" Its outputs in {modes} are not the reference's.")


def test_padding_that_is_counted_all_the_same_is_seen():
    shown = explorers.padding(counting_padding)
    shown.set(masked=True)
    assert "masked: the real tokens come out with mean 0 and spread 1.43" in shown.sentence
    assert "The outputs differ from the reference's (of real tokens: dashed" in shown.sentence
    shown.close()


def not_divided(dy, x, gamma, eps):
    dx, dgamma, dbeta = layers.batch_norm_backward(dy, x, gamma, eps)
    return dx * np.sqrt(x.var(axis=0) + eps), dgamma, dbeta


def at_init(backward, name="BatchNorm"):
    shown = explorers.batch_norm_at_init(backward)
    shown.set(name=name)
    assert shown.error is None
    return shown


def test_the_gradient_through_batch_norm_is_drawn_by_the_learners_function():
    reference = explorers.batch_norm_at_init()
    reference.set(name="BatchNorm")
    said = " Your batch_norm_backward is still blank: this is the reference."
    assert at_init(blank).sentence == reference.sentence + said
    drawn = " Drawn with your batch_norm_backward."
    assert at_init(layers.batch_norm_backward).sentence == reference.sentence + drawn
    elsewhere = at_init(not_divided, "LayerNorm")
    assert "batch_norm_backward" not in elsewhere.sentence, "it has no part in this network"
    assert not theory_is_drawn(elsewhere)


def test_without_the_division_by_the_spread_nothing_grows():
    wrong, right = at_init(not_divided), at_init(layers.batch_norm_backward)
    assert wrong.sentence.endswith(" The bars differ from the reference's (dotted).")
    assert numbers_in(wrong.sentence)[5] == pytest.approx(1, abs=0.02)
    assert numbers_in(right.sentence)[5] == pytest.approx(1.211, abs=0.02)
    rows = [one.figure.axes[0].lines[0].get_ydata() for one in (wrong, right)]
    np.testing.assert_allclose(*rows)  # dotted: the same reference in both


def test_behind_a_relu_a_part_of_the_size_is_a_mean_that_the_examples_share():
    rng = np.random.default_rng(0)
    h = layers.Linear(256, 256, rng, 2**0.5)(np.maximum(rng.standard_normal((2000, 256)), 0))
    spread = 1 / batches.RELU_BATCH_NORM_GROWTH
    assert np.sqrt(h.var(axis=0).mean()) == pytest.approx(spread, rel=0.02), "0.83"
    assert np.sqrt(h.var(axis=1).mean()) == pytest.approx(1, rel=0.05), "LayerNorm, along a row, divides by 1"


@pytest.mark.parametrize(("factor", "is_"), [(0, "0"), (np.nan, "not a number")])
def test_a_gradient_that_is_lost_is_said_to_be_so(factor, is_):
    shown = at_init(lambda dy, *_: (factor * dy, 0, 0))
    assert f"the gradient at the input is {is_} times what entered at the output. Drawn" in shown.sentence


def test_errors_of_the_learners_functions_are_shown():
    def raises(*arguments):
        return arguments[0] * unknown  # noqa: F821

    for explorer in (explorers.neighbour, explorers.train_and_eval, explorers.padding):
        shown = explorer(raises)
        if explorer is explorers.padding:
            shown.set(masked=True)
        assert isinstance(shown.error, NameError) and "in <code>raises</code>" in shown._alert.value
        shown.close()
    turned = explorers.neighbour(lambda x, g, b, m, v, t, a, e: (x.T, m, v))
    assert "gave shapes [(4, 6), (4,), (4,)]" in str(turned.error)
    assert "returned one thing" in str(explorers.train_and_eval(lambda *a: a[0]).error)
    few = explorers.batch_norm_at_init(lambda dy, *_: (dy[0], 0, 0))
    few.set(name="BatchNorm")
    assert "gave a dx of shape (64,) for an x of shape (128, 64)" in str(few.error)
    flat = explorers.padding(lambda x, mask, g, b, e: x[mask])
    flat.set(masked=True)
    assert "gave shape (390, 4)" in str(flat.error)
