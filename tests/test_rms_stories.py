"""What notebook 05 says of RMSNorm, measured over several seeds: invariances, cost, few bits, gradients."""

import re

import numpy as np
import pytest

from helpers import experiments, explorers, layers
from helpers.experiments import cost, precision
from helpers.experiments.invariance import CHANGES, CLAIMED, NORMS, UNMOVED, invariance
from helpers.figures import words

from .test_explorers import numbers_in
from .test_prose import prose

SEEDS = range(5)
SAYS_UNCHANGED = np.array(list(CLAIMED.values()), bool)


def plain_rms(x, eps=0.0):
    return layers.rms_norm(x, np.ones(x.shape[-1]), eps)


def plain_layer(x, eps=0.0):
    d = x.shape[-1]
    return layers.layer_norm(x, np.ones(d), np.zeros(d), eps)


# ------------------------------------------------------------------------------ the formula


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("d", [2, 8, 768])
def test_rms_norm_is_a_sphere_and_layer_norm_where_the_mean_is_0(d, seed):
    x = 5 * np.random.default_rng(seed).standard_normal((20, d)) + 3
    np.testing.assert_allclose(np.linalg.norm(plain_rms(x), axis=1), np.sqrt(d), rtol=1e-12)
    centred = x - x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(plain_rms(centred), plain_layer(x), atol=1e-9)
    np.testing.assert_allclose((x**2).mean(axis=1), x.var(axis=1) + x.mean(axis=1) ** 2)


def test_scale_does_not_matter_for_factors_above_0_and_small_eps():
    x = np.random.default_rng(0).standard_normal((4, 16)) + 1
    for norm in (plain_rms, plain_layer):
        np.testing.assert_allclose(norm(100 * x), norm(x), atol=1e-12)
        np.testing.assert_allclose(norm(-x), -norm(x))
        assert np.abs(norm(1e-3 * x, 1e-6) - norm(x, 1e-6)).max() > 0.1


def test_rms_norm_tells_apart_what_layer_norm_makes_equal():
    a, b = np.array([1.0, 2, 3, 4]), np.array([4.0, 5, 6, 7])
    np.testing.assert_allclose(plain_layer(a), plain_layer(b))
    assert np.abs(plain_rms(a) - plain_rms(b)).max() > 0.2


def test_the_sentence_says_what_is_divided_by_and_lists_few_features():
    shown = explorers.two_norms()
    assert "root mean square 2.739. " in shown.sentence
    shown.set(eps=1.0)
    assert f"root mean square 2.739; with ε it is divided by {words(8.5**0.5, 4)}. " in shown.sentence
    shown.set(eps=1e-6, x=tuple(range(13)))
    assert shown.sentence.startswith("A vector of 13 features") and "[" not in shown.sentence


@pytest.mark.parametrize("example", ["four numbers", "after a ReLU"])
def test_where_the_mean_is_0_the_curve_is_0(example):
    shown = explorers.two_norms()
    shown.set(x=shown.controls["x"].examples[example])
    curve = shown.figure.axes[1].lines[0].get_ydata()
    assert curve.min() < 1e-9 and shown.figure.axes[1].get_ylim()[1] < 1.5 * curve.max()


# ------------------------------------------------------------------------------ the papers' tables


@pytest.mark.parametrize("seed", SEEDS)
def test_without_eps_every_cell_is_as_in_the_papers(seed):
    moves = invariance(eps=0.0, seed=seed)
    assert moves.shape == (len(NORMS), len(CHANGES)) == SAYS_UNCHANGED.shape
    assert moves[SAYS_UNCHANGED].max() < 1e-13 and moves[~SAYS_UNCHANGED].min() > 0.5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("eps", "whole", "partial"), [(1e-6, 1e-5, 4e-4), (1e-5, 1e-4, 4e-3)])
def test_with_eps_unchanged_means_nearly_so(eps, whole, partial, seed):
    moves, claimed = invariance(eps=eps, seed=seed), SAYS_UNCHANGED
    assert 1e-8 < moves[:4][claimed[:4]].max() < whole
    assert moves[4][claimed[4]].max() < partial, "four features instead of 64: a smaller rms now and then"


@pytest.mark.parametrize("factor", [0.5, 2.5, 10.0])
@pytest.mark.parametrize("shift", [0.1, 1.0, 10.0])
def test_the_threshold_tells_the_cells_apart_whatever_the_size_of_the_change(factor, shift):
    moves = invariance(factor, shift)
    np.testing.assert_array_equal(moves < UNMOVED, SAYS_UNCHANGED)


def test_a_cell_that_disagrees_is_marked():
    shown = explorers.what_leaves_it_unchanged()
    assert "all as in the papers' tables" in shown.sentence and "✗" not in shown._table.value
    shown.set(factor=-1.0)
    assert (
        "leaves none unchanged; changes BatchNorm" in shown.sentence
        and "not as in the papers: 5 of 5 (✗)." in shown.sentence
    )
    assert shown._table.value.count("✗") == 5
    shown.reset()
    shown.set(change="data × a", eps=1e-2)
    assert "not as in the papers: 4 of 5 (✗)." in shown.sentence


def test_only_the_control_that_matters_is_shown():
    shown = explorers.what_leaves_it_unchanged()
    for change in CHANGES:
        shown.set(change=change)
        displays = [shown.controls[name].layout.display for name in ("factor", "shift")]
        assert [display == "none" for display in displays] == ["v" in change, "v" not in change]


def test_unchanged_means_what_the_lesson_says():
    for factor in (0.5, 2.5, 10.0):
        for shift in (0.1, 1.0, 10.0):
            moves = invariance(factor, shift)
            assert moves[:4][SAYS_UNCHANGED[:4]].max() < 1.5e-5
            assert moves[4][SAYS_UNCHANGED[4]].max() < 2e-4


def test_the_table_holds_what_was_looked_at_and_no_more():
    shown = explorers.what_leaves_it_unchanged()
    for seen, change in enumerate(CHANGES, 1):
        shown.set(change=change)
        assert shown._table.value.count(">?<") == 5 * (6 - seen)
        assert "all as in the papers' tables" in shown.sentence
    for move in invariance().ravel():
        assert (
            f"=\u00a0{words(move, 1)}<" if move < UNMOVED else f"≠\u00a0{words(move, 2)}<"
        ) in shown._table.value


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["batch", "layer", "rms", "none"])
def test_the_gradient_halves_when_the_weights_double(name, seed):
    rng = np.random.default_rng(seed)
    x, W, dy = (rng.standard_normal(shape) for shape in [(64, 16), (16, 32), (64, 32)])
    backward = {"none": lambda dy, *_: (dy,)} | {
        n: getattr(layers, f"{n}_norm_backward") for n in ("batch", "layer", "rms")
    }
    one, two = (np.linalg.norm(x.T @ backward[name](dy, x @ (k * W), np.ones(32), 0.0)[0]) for k in (1, 2))
    assert two / one == pytest.approx(1.0 if name == "none" else 0.5, rel=1e-9)


# ------------------------------------------------------------------------------ cost


@pytest.mark.parametrize("d", [64, 512])
def test_operations_are_counted_in_running_code(d):
    seen = cost.counts(d)
    few = 6 / d  # what is done once a row
    assert 7 < seen["LayerNorm"][0] < 7 + few and 4 < seen["RMSNorm"][0] < 4 + few
    assert seen["feed-forward"][0] == 16 * d + 4
    assert 12 < seen["LayerNorm"][1] < 12.2 and 7 < seen["RMSNorm"][1] < 7.2


@pytest.mark.parametrize(
    ("function", "operations", "moved"),
    [(lambda x: x + x, 1, 2), (lambda x: x * 2 + 1, 2, 4), (lambda x: np.sqrt(x).sum(axis=-1), 2, 3)],
)
def test_the_counter_counts(function, operations, moved):
    seen = cost.count(function, np.ones((1, 1000)))
    assert seen[0] == operations and seen[1] == pytest.approx(moved, abs=0.003)


def test_what_is_counted_and_timed_are_the_norms_of_the_course():
    rng = np.random.default_rng(0)
    x, gamma, beta = rng.standard_normal((8, 32)), rng.standard_normal(32), rng.standard_normal(32)
    np.testing.assert_allclose(cost.plain_layer_norm(x, gamma, beta), layers.layer_norm(x, gamma, beta, 1e-6))
    np.testing.assert_allclose(cost.plain_rms_norm(x, gamma), layers.rms_norm(x, gamma))


def test_what_is_saved_is_a_share_of_the_whole():
    alone, block = cost.saved(np.array([[2.0, 1.0, 8.0], [4.0, 3.0, 6.0]]))
    np.testing.assert_allclose(alone, [50, 25])
    np.testing.assert_allclose(block, [10, 10])


def test_time_is_measured_only_after_start_and_small_beside_the_feed_forward_network():
    run = explorers.cost()
    assert "No time is measured yet" in run.sentence
    while run.step():
        pass
    run.render()
    alone, block = run.state[1]
    assert len(alone) == len(block) == cost.REPEATS
    assert "In 20 runs here RMSNorm saves" in run.sentence and "0.085 % are LayerNorm's" in run.sentence
    assert 25 < np.median(alone) < 75, "about half; more when LayerNorm alone finds a cold cache"
    assert abs(np.median(block)) < 15
    assert run.told.value == "done"
    run.set(d=64)
    assert run.told.value == "press Start"
    assert "No time is measured yet" in run.sentence and "with 64 features" in run.sentence


# ------------------------------------------------------------------------------ gradients


@pytest.mark.parametrize(
    ("norm", "factor", "tolerance"),
    [("layer", np.sqrt(np.pi / (np.pi - 1)), 0.02), ("rms", 1.0, 0.02), (None, 1.0, 0.02)],
)
def test_a_norm_after_the_relu(norm, factor, tolerance):
    kind = {"activation": "relu", "gain": 2**0.5, "width": 256, "batch": 64, "weights": False}
    wiring = "plain + norm" if norm else "plain"
    seen = [
        experiments.gradient_norms(30, wiring, norm=norm or "layer", seed=s, **kind).ratio ** (1 / 30)
        for s in SEEDS
    ]
    assert np.mean(seen) == pytest.approx(factor, abs=tolerance)


def test_before_a_branch_both_norms_do_the_same_to_the_gradient():
    kind = {"activation": "relu", "gain": 2**0.5, "branch_layers": 2, "weights": False}
    for norm in ("layer", "rms"):
        seen = [experiments.gradient_norms(32, "pre-norm", norm=norm, seed=s, **kind).ratio for s in SEEDS]
        assert np.mean(seen) == pytest.approx(6, abs=0.5)


def test_the_backward_pass_takes_one_direction_away_and_layer_norm_two():
    shown = explorers.what_the_gradient_loses()
    assert "keeps 7 whole and nothing of the rest, LayerNorm's 6 whole" in shown.sentence
    shown.set(arrives=shown.values()["turn"])
    assert numbers_in(shown.sentence)[1] < 1e-6, "what points along x does not get through"
    shown.set(eps=1.0, size=0.5)
    assert "at most 0.8 times the rest" in shown.sentence


# ------------------------------------------------------------------------------ few bits


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("mean", "layer", "rms"), [(1e3, 3322, 12), (1e4, 2520, 2)])
def test_rms_norm_keeps_the_mean_and_loses_digits(mean, layer, rms, seed):
    x = (mean + np.random.default_rng(seed).standard_normal(4096)).astype("float32")
    left = [len(np.unique(norm(x).astype("float16"))) for norm in (plain_layer, plain_rms)]
    assert left[0] == pytest.approx(layer, rel=0.03) and abs(left[1] - rms) <= 2


def test_casting_says_how_many_are_left():
    shown = explorers.casting()
    shown.set(mean=1e3)
    assert shown.sentence.endswith("LayerNorm leaves 3302 different values, RMSNorm 12.")
    shown.set(mean=1e4)
    assert shown.sentence.endswith("RMSNorm 2.")
    shown.set(mean=1e3, dtype="float16")
    assert "LayerNorm leaves 15 different values" in shown.sentence, "what x has lost does not come back"


@pytest.mark.parametrize(("largest", "dead"), [(255, False), (256, True), (300, True)])
def test_one_feature_of_256_is_too_large_for_squares_in_half_precision(largest, dead):
    x = np.array([largest, 1, -2, 4], np.float16)
    assert (precision.naive_rms_norm(x) == 0).all() == dead
    assert np.abs(layers.rms_norm(x, np.ones(4))).max() == pytest.approx(2, abs=0.01)


def test_eps_in_half_precision():
    assert np.float16(1e-8) == 0 < np.float16(1e-6)
    with np.errstate(invalid="ignore"):
        assert np.isnan(precision.naive_rms_norm(np.zeros(4, np.float16), 1e-8)).all()
    assert (precision.naive_rms_norm(np.zeros(4, np.float16)) == 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_gain_and_cast_shows_in_the_last_digit(seed):
    rng = np.random.default_rng(seed)
    x, gamma = rng.standard_normal((64, 512)).astype("float16"), rng.uniform(0.5, 2, 512).astype("float16")
    x_hat = layers.rms_norm(x.astype("float32"), np.ones(512))
    once, twice = (x_hat * gamma).astype("float16"), x_hat.astype("float16") * gamma
    assert (once != twice).mean() == pytest.approx(0.26, abs=0.02)
    steps = np.abs(once.astype(float) - twice.astype(float)) / np.spacing(np.abs(once)).astype(float)
    assert steps.max() <= 1


# ------------------------------------------------------------------------------ defaults


TABLE = [line.strip("| ").split(" | ") for line in prose("05").splitlines() if line.startswith("| ")]


@pytest.mark.parametrize(
    ("models", "norm", "where", "eps"),
    [("BERT, RoBERTa", "LayerNorm", "after", "10⁻¹²"), ("T5", "RMSNorm", "before", "10⁻⁶"),
     ("GPT-2, OPT, BLOOM", "LayerNorm", "before", "10⁻⁵"),
     ("GPT-J, Phi-1, Command R", "LayerNorm", "before, side by side", "10⁻⁵"),
     ("Llama, Mistral, DeepSeek-V3", "RMSNorm", "before", "10⁻⁶"),
     ("Mixtral, Phi-3, gpt-oss", "RMSNorm", "before", "10⁻⁵"),
     ("OLMo (2024", "LayerNorm without γ and β", "before", "10⁻⁵"),
     ("Gemma 2", "RMSNorm, gain $1 + w$", "before and behind the branch", "10⁻⁶"),
     ("GLM-4-0414", "RMSNorm", "before and behind the branch", "1.5625 · 10⁻⁷"),
     ("OLMo 2, 3, EXAONE 4.0", "RMSNorm", "behind the branch, before the sum; queries and keys too", "10⁻⁵"),
     ("Qwen3, MiniMax-M2", "RMSNorm", "before; queries and keys too", "10⁻⁶"),
     ("nanochat", "RMSNorm without γ", "before; queries and keys too", "10⁻⁶"),
     ("DeepSeek-V4", "RMSNorm", "before; the stream itself is four streams", "10⁻⁶")],
)  # fmt: skip
def test_the_table_of_models_says_what_their_classes_say(models, norm, where, eps):
    (row,) = [cells for cells in TABLE if all(model in cells[0] for model in models.split(", "))]
    assert row[1].startswith(norm) and row[2].startswith(where) and row[3] == eps


def test_each_model_of_the_table_has_its_year_and_a_source():
    _, *rows = TABLE
    assert len(rows) > 10
    for models, *_, links in rows:
        assert all(re.search(r" \((?:19|20)\d\d\)$", model) for model in re.split(", | and ", models))
        found = re.findall(r"\[([^]]+)\]\(https://([^)]+)\)", links)
        assert found
        assert all(link == f"arxiv.org/abs/{text}" for text, link in found if text[0].isdigit())


def test_defaults_that_the_lesson_states():
    assert layers.RMSNorm(4).eps == 1e-6
    assert f"{np.finfo(np.float32).eps:.3g}" == "1.19e-07" and "1.19 · 10⁻⁷ in float32" in prose("05")


# ------------------------------------------------------------------------------ the learner's functions


def blank(*arguments): ...


def centred(x, gamma, eps):
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c**2).mean(axis=-1, keepdims=True) + eps) * gamma


def over_all(x, gamma, eps):
    return x / np.sqrt((x**2).mean() + eps) * gamma


def over_the_batch(x, gamma, eps):
    return x / np.sqrt((x**2).mean(axis=0) + eps) * gamma


def test_right_functions_are_drawn_without_a_word_of_the_reference():
    shown = explorers.two_norms(layers.rms_norm, layers.rms_norm_offset)
    assert shown.values()["gain"] == "1 + w" and "your rms_norm_offset [0.7303" in shown.sentence
    shown.set(gain="γ", offset=5.0)
    assert "your rms_norm [1.074" in shown.sentence and "reference" not in shown.sentence
    right = explorers.what_the_gradient_loses(layers.rms_norm_backward)
    assert "your rms_norm_backward keeps 7 whole and nothing of the rest" in right.sentence


def test_blank_functions_fall_back_to_the_reference_and_say_so():
    shown = (
        explorers.two_norms(blank),
        explorers.two_norms(blank, blank),
        explorers.what_the_gradient_loses(blank),
    )
    for one in shown:
        assert one.error is None and "is still blank: this is the reference" in one.sentence


@pytest.mark.parametrize("wrong", [centred, over_all, over_the_batch])
def test_a_wrong_rms_norm_is_seen(wrong):
    shown, right = explorers.two_norms(wrong), explorers.two_norms(layers.rms_norm)
    assert "The reference gives [0.7303, −1.095, 0.3651, 1.461]" in shown.sentence
    assert bytes(shown.image.value) != bytes(right.image.value)


def test_a_wrong_gain_and_a_wrong_backward_are_seen():
    shown = explorers.two_norms(layers.rms_norm, layers.rms_norm)  # w instead of 1 + w
    assert "your rms_norm_offset [0, 0, 0, 0]" in shown.sentence
    assert "The reference gives" in shown.sentence

    def rms_is_constant(dy, x, gamma, eps):
        rrms = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
        return dy * gamma * rrms, (dy * x * rrms).sum(axis=0)

    assert "keeps all 8 whole," in explorers.what_the_gradient_loses(rms_is_constant).sentence
    too_much = explorers.what_the_gradient_loses(lambda *args: (1.5 * rms_is_constant(*args)[0], 0))
    assert "keeps none whole (the largest times 1.5)," in too_much.sentence


def test_errors_of_the_learners_functions_are_shown():
    assert "gave shape (2, 3)" in str(explorers.two_norms(lambda x, g, e: x[:, :3]).error)
    assert "gave a dx of shape" in str(
        explorers.what_the_gradient_loses(lambda dy, x, g, e: (dy[0], 1)).error
    )
    assert "returned one thing" in str(explorers.what_the_gradient_loses(lambda dy, x, g, e: dy).error)
