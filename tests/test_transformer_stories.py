"""What notebook 06 says of the transformer block, measured over several seeds, and of the learner's own blocks."""

import numpy as np
import pytest

from helpers import experiments, explorers, layers
from helpers.experiments import transformer
from helpers.experiments.transformer import DEPTHS, Transformer, by_depth, fresh, train_transformer

from .test_explorers import numbers_in

SEEDS = range(5)


def mean(depth, name, place="pre-norm", final_norm=True):
    """A field of `fresh`, averaged over seeds."""
    return np.mean([getattr(fresh(depth, place, final_norm, seed), name) for seed in SEEDS], axis=0)


def slope(values):
    """Of a line through the values over the DEPTHS, both logarithmic."""
    return np.polyfit(np.log(DEPTHS), np.log(values), 1)[0]


def last_gradients(place="pre-norm", final_norm=True):
    return np.array([mean(depth, "dW", place, final_norm)[-1] for depth in DEPTHS])


# ------------------------------------------------------------------------------ the network


@pytest.mark.parametrize("place", transformer.PLACES)
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("final_norm", [True, False])
def test_backward_promises_the_slope_of_the_loss(place, norm, final_norm):
    network = Transformer(3, place, norm=norm, final_norm=final_norm, **transformer.SMALL)
    ids, y = transformer.previous_token(4, np.random.default_rng(0))
    assert max(experiments.gradient_gaps(network, ids, y.ravel()).values()) < 1e-7


def test_the_embedding_collects_the_gradients_of_a_token_that_comes_twice():
    embedding = transformer.Embedding(4, 3, 2, np.random.default_rng(0))
    embedding(np.array([[1, 1, 0], [3, 1, 1]]))
    dy = np.arange(12.0).reshape(2, 3, 2)
    embedding.backward(dy)
    expected = [dy[0, 2], dy[0, 0] + dy[0, 1] + dy[1, 1] + dy[1, 2], [0, 0], dy[1, 0]]
    np.testing.assert_array_equal(embedding.dE, expected)
    np.testing.assert_array_equal(embedding.dP, dy[0] + dy[1])


def test_no_score_depends_on_a_later_token():
    network = Transformer(4, "post-norm")
    ids = np.random.default_rng(0).integers(0, 64, (1, 16))
    other = ids.copy()
    other[0, 9:] = (ids[0, 9:] + 1) % 64
    same = (network(ids) == network(other)).all(axis=1)
    np.testing.assert_array_equal(same, np.arange(16) < 9)


def test_the_first_layers_of_a_deeper_network_are_those_of_a_shallower_one():
    np.testing.assert_array_equal(fresh(24, seed=3).square[:13], fresh(12, seed=3).square)


@pytest.mark.parametrize(("name", "kind"), [("place", {"place": "sandwich"}), ("norm", {"norm": "batch"})])
def test_an_unknown_kind_is_told(name, kind):
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        Transformer(2, **kind)


# ------------------------------------------------------------------------------ Xiong et al. 2020


def test_the_stream_of_pre_norm_grows_between_its_bounds():
    square, layer = mean(24, "square"), np.arange(25)
    assert square[0] == pytest.approx(1, abs=0.02)
    assert (square[1:] > 1 + layer[1:] / 2).all() and (square < 1 + 1.5 * layer + 0.02).all()
    assert np.sqrt(square[-1]) == pytest.approx(5.1, abs=0.4)
    np.testing.assert_allclose(mean(24, "square", "post-norm"), 1, atol=1e-4)


def test_the_last_gradient_falls_with_depth_in_pre_norm_only():
    pre, post = last_gradients(), last_gradients("post-norm")
    assert slope(pre) == pytest.approx(-0.4, abs=0.1)
    assert -0.05 < slope(post) < 0.35
    size = np.sqrt([mean(depth, "square")[-1] for depth in DEPTHS])
    np.testing.assert_allclose(post / pre, size, rtol=0.3)


def test_without_any_norm_the_stream_explodes():
    rms = np.sqrt(transformer.stream_squares(lambda x, f, norm: x + f(x)))
    assert rms[2] < 2 and rms[8] > 20 and 2e4 < rms[24] < 5e5
    with_norm = np.sqrt(transformer.stream_squares(layers.pre_norm_block))
    assert rms[24] > 1e4 * with_norm[24]


def test_the_power_of_ten_of_an_axis_is_not_in_the_legend():
    shown = explorers.pre_or_post(lambda x, f, norm: x + f(x))
    shown.set(layers=24)
    shown.figure.canvas.draw()
    left = shown.figure.axes[0]
    power = left.yaxis.get_offset_text()
    assert power.get_text() == "1e10"
    for other in (left.get_legend(), *left.get_yticklabels()):
        assert not power.get_window_extent().overlaps(other.get_window_extent())


def test_without_the_final_norm_loss_and_gradient_grow_with_depth():
    assert slope(last_gradients(final_norm=False)) > 0.25
    assert mean(24, "loss") < 4.9 and mean(24, "loss", final_norm=False) > 9


def test_post_norm_gradients_do_not_vanish_toward_the_input():
    for depth in (12, 24):
        post, pre = (mean(depth, "dW", place) for place in ("post-norm", "pre-norm"))
        assert 0.5 < post[0] / post[-1] < 1.5
        assert pre[0] / pre[-1] > 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_deeper_a_pre_norm_block_the_less_it_changes(seed):
    updates = transformer.block_updates(24, seed)
    assert updates[0] == pytest.approx(1, abs=0.1)
    fitted = np.polyfit(np.log(np.arange(1, 25)), np.log(updates), 1)[0]
    assert -0.75 < fitted < -0.5


def test_the_same_in_a_residual_network_without_attention():
    stack = experiments.Stack(64, "pre-norm", activation="relu", gain=2**0.5, branch_layers=2)
    rng = np.random.default_rng(0)
    stack.forward(rng.standard_normal((32, 64)))
    dy = rng.standard_normal((32, 64))
    updates = [np.linalg.norm(block.branch.backward(dy)) / np.linalg.norm(dy) for block in stack.blocks]
    np.testing.assert_allclose(updates, (1 + np.arange(64)) ** -0.5, rtol=0.25)


def test_smaller_last_weights_end_at_the_same_size_at_every_depth():
    ends = {}
    for depth in (6, 12, 24):
        factor = layers.residual_init_std(1.0, depth)
        ends[depth] = transformer.stack_rms(layers.pre_norm_stack, depth, factor)[-2]
    np.testing.assert_allclose(list(ends.values()), 1.2, atol=0.05)
    assert transformer.stack_rms(layers.pre_norm_stack, 24)[-2] > 4


# ------------------------------------------------------------------------------ warm-up


def last_loss(place, warm_up=0, lr=0.01, depth=8, final_norm=True, seed=0):
    (last,) = train_transformer(place, warm_up, lr, depth, final_norm=final_norm, every=200, seed=seed)
    return last.loss


def test_at_a_high_rate_pre_norm_learns_and_post_norm_does_not():
    steps = list(train_transformer("pre-norm", every=50, steps=50, seed=1))
    assert steps[-1].loss < 0.1 and steps[-1].error < 0.02
    assert last_loss("post-norm", seed=1) == pytest.approx(np.log(8), abs=0.12)


def test_it_is_not_the_final_norm_that_spares_pre_norm_the_warm_up():
    """Though without it the last gradient starts larger than that of post-norm."""
    assert mean(8, "dW", final_norm=False)[-1] > 2 * mean(8, "dW", "post-norm")[-1]
    steps = list(train_transformer("pre-norm", final_norm=False, every=50, steps=50, seed=1))
    assert steps[-1].error < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [  # bounds of the loss after 200 steps, for each seed
        (("pre-norm",), 0, 0.01),
        (("pre-norm", 0, 0.03), 0, 0.02),
        (("pre-norm", 0, 0.003), 0, 0.02),
        (("pre-norm", 0, 0.01, 8, False), 0, 0.01),
        (("pre-norm", 0, 0.03, 8, False), 0, 0.02),
        (("post-norm",), 1.8, 2.3),
        (("post-norm", 100), 0, 0.9),
        (("post-norm", 10), 0.8, 2.3),
        (("post-norm", 0, 0.003), 0, 0.2),
        (("post-norm", 0, 0.03), 1.8, 2.3),
        (("post-norm", 100, 0.03), 1.8, 2.3),
        (("post-norm", 0, 0.01, 4), 0, 0.3),
        (("post-norm", 0, 0.03, 4), 1.8, 2.3),
    ],
)
def test_who_needs_warm_up_over_five_seeds(kind, low, high):
    assert all(low <= last_loss(*kind, seed=seed) <= high for seed in SEEDS)


@pytest.mark.slow
def test_at_the_highest_rate_post_norm_gets_better_in_the_warm_up_and_falls_back():
    for seed in SEEDS:
        seen = [one.error for one in train_transformer("post-norm", 100, 0.03, every=50, seed=seed)]
        assert seen[0] < 0.7 and seen[-1] > 0.8
    shallow = [last_loss("post-norm", 100, 0.03, 4, seed=seed) for seed in SEEDS]
    assert max(shallow[:4]) < 0.8 and shallow[4] > 1.8


@pytest.mark.slow
def test_at_a_low_rate_post_norm_takes_about_three_times_as_long():
    def needed(place, seed):
        steps = train_transformer(place, lr=0.003, seed=seed)
        return next(one.step for one in steps if one.error < 0.1)

    pre, post = (np.mean([needed(place, seed) for seed in SEEDS]) for place in transformer.PLACES)
    assert post / pre == pytest.approx(3, abs=0.8)


@pytest.mark.slow
def test_a_warm_up_of_25_steps_saves_some_networks_only():
    assert 1 <= sum(last_loss("post-norm", 25, seed=seed) < 0.5 for seed in SEEDS) <= 3


def test_training_starts_with_one_seed_whatever_the_pauses():
    often, seldom = ([p for p in train_transformer(steps=20, every=n)][-1] for n in (5, 20))
    assert often == seldom and often.step == 20


# ------------------------------------------------------------------------------ zeros


def test_one_zero_matrix_moves_and_two_do_not():
    x, dy = np.random.default_rng(1).standard_normal((2, 5, 8))
    for zeros, moves in (((2,), True), ((0, 2), False)):
        ffn = layers.FeedForward(8, 32, np.random.default_rng(0))
        for index in zeros:
            ffn.layers[index].W[:] = 0
        for step in range(2):
            ffn(x), ffn.backward(dy)
            first, last = (np.abs(ffn.layers[index].dW).max() for index in (0, 2))
            assert (last > 0) == moves and (first > 0) == (moves and step == 1)
            for index in (0, 2):
                ffn.layers[index].W -= 0.1 * ffn.layers[index].dW


# ------------------------------------------------------------------------------ the pictures


@pytest.mark.parametrize("place", transformer.PLACES)
@pytest.mark.parametrize("final_norm", [True, False])
@pytest.mark.parametrize("layers_", DEPTHS)
def test_pre_or_post_says_what_was_measured(pre_or_post, place, final_norm, layers_):
    pre_or_post.set(place=place, final_norm=final_norm, layers=layers_)
    at = DEPTHS.index(layers_)
    pre, post = by_depth("pre-norm", final_norm).dW[at], by_depth("post-norm").dW[at]
    block = layers.pre_norm_block if place == "pre-norm" else layers.post_norm_block
    squares = transformer.stream_squares(block, place)
    bounds = 1 + layers_ / 2, 1 + 1.5 * layers_
    expected = [squares[0], squares[layers_], *bounds, np.sqrt(squares[layers_]), pre, post, post / pre]
    np.testing.assert_allclose(numbers_in(pre_or_post.sentence)[1:], expected, rtol=0.006)
    assert f">{layers_}\u00a0◀<" in pre_or_post._table.value
    assert ("gradient:<br>pre, final norm off<" in pre_or_post._table.value) == (not final_norm)


def test_the_picture_shows_the_network_of_the_prediction():
    np.testing.assert_allclose(transformer.stream_squares(layers.pre_norm_block), fresh(24).square)


@pytest.fixture(scope="module")
def pre_or_post():
    return explorers.pre_or_post()


def test_the_table_does_not_answer_the_prediction():
    table = explorers.pre_or_post()._table.value
    assert ">8\u00a0◀<" in table and table.count(">?<") == 6 * (len(transformer.DEPTHS) - 1)


def test_look_ahead_opens_without_the_mask_that_is_to_be_predicted():
    shown = explorers.look_ahead()
    assert "No mask, token 4 replaced: all 8 outputs change." in shown.sentence
    shown.set(causal=True)
    assert "outputs 4, 5, 6, 7, 8 change, the others stay the same to the last digit." in shown.sentence
    shown.set(token=8)
    assert "output 8 changes, the others" in shown.sentence
    shown.set(token=1)
    assert "all 8 outputs change" in shown.sentence


def test_the_weight_that_look_ahead_names_is_the_one_of_the_block():
    shown = explorers.look_ahead()
    shown.set(token=3, head=2)
    x, attn, block = transformer.one_block(causal=False)
    attn(block.ln1(transformer.replaced(x, 2)))
    assert numbers_in(shown.sentence)[-1] == pytest.approx(block.attn.weights[1, 0, 2], rel=0.006)
    shown.set(causal=True)
    assert shown.sentence.endswith("In head 2 token 1 gives token 3 a weight of 0.")
    shown.set(token=1)
    assert shown.sentence.endswith("In head 2 token 1 gives token 1 a weight of 1.")
    np.testing.assert_allclose(block.attn.weights.sum(axis=-1), 1)


def test_warm_up_trains_three_networks_to_the_end():
    run = explorers.warm_up()
    # The lesson asks first how this will end.
    assert run.sentence.startswith("Not trained yet: learning rate 0.01, 8 layers, 100 steps of warm-up")
    run.set(layers=4)
    while run.step():
        pass
    run.render()
    runs, _ = run.state
    assert {name: seen[-1].step for name, seen in runs.items()} == dict.fromkeys(runs, 200)
    for name, seen in runs.items():
        assert f"{name}: loss " in run.sentence and seen[-1].loss < 0.3


# ------------------------------------------------------------------------------ the learner's blocks


def blank(*arguments): ...


def test_blank_blocks_fall_back_to_the_reference_and_say_so():
    shown = (
        explorers.look_ahead(blank),
        explorers.pre_or_post(blank, blank),
        explorers.final_norm(blank, blank),
    )
    for one in shown:
        assert one.error is None and "is still blank: this is the reference" in one.sentence


def test_right_blocks_are_the_reference():
    reference = explorers.pre_or_post()
    for explorer, own in (
        (explorers.look_ahead, layers.transformer_block),
        (explorers.final_norm, layers.pre_norm_stack),
    ):
        shown = explorer(lambda *arguments, own=own: own(*arguments))
        assert shown.error is None and f"Drawn with your {own.__name__}." in shown.sentence
    shown = explorers.pre_or_post(lambda x, f, norm: x + f(norm(x)))
    remark = " Gradients and table are the reference's; the stream is drawn with your pre_norm_block."
    assert shown.sentence == reference.sentence + remark


def test_a_second_half_that_starts_from_the_old_x_lets_no_token_hear_of_another():
    shown = explorers.look_ahead(lambda x, attn, ffn, n1, n2: x + ffn(n2(x)))
    assert "output 4 changes, the others stay the same" in shown.sentence
    assert shown.sentence.endswith(" The changes differ from the reference's (black marks).")


def test_a_normalized_shortcut_stops_the_growth():
    shown = explorers.pre_or_post(lambda x, f, norm: norm(x) + f(norm(x)))
    shown.set(layers=24)
    assert numbers_in(shown.sentence)[2] < 3 < numbers_in(explorers.pre_or_post().sentence)[2]


def test_a_forgotten_final_norm_is_seen():
    def pre_norm_stack(x, fs, norms, final_norm):
        for f, norm in zip(fs, norms):
            x = x + f(norm(x))
        return x

    shown = explorers.final_norm(pre_norm_stack)
    end = transformer.stack_rms(layers.pre_norm_stack, 12)[-2]
    assert f"the result has {end:.3g}" in shown.sentence


def test_wrong_last_weights_are_seen():
    shown = explorers.final_norm(layers.pre_norm_stack, lambda base_std, n_layer: base_std / n_layer**0.5)
    shown.set(small=True)
    *_, yours, result, reference, one = numbers_in(shown.sentence)
    assert yours > 1.05 * reference and result == one == 1


@pytest.mark.parametrize(
    ("explorer", "words"),
    [
        (lambda: explorers.look_ahead(lambda *a: None), "transformer_block returned None"),
        (lambda: explorers.look_ahead(lambda x, *a: x[0]), r"transformer_block gave shape (32,) for an input of shape (8, 32)"),
        (lambda: explorers.pre_or_post(lambda x, f, norm: f(norm(x)).sum()), "pre_norm_block gave shape ()"),
        (lambda: explorers.final_norm(lambda x, *a: x[0]), "pre_norm_stack gave shape (16, 64)"),
        (lambda: explorers.final_norm(lambda x, *a: 1 / 0), "division by zero"),
        (lambda: small(explorers.final_norm(None, lambda *a: "a")), "residual_init_std returned a str; a number is"),
        (lambda: small(explorers.final_norm(None, lambda *a: np.ones(3))), "residual_init_std returned a ndarray; a number"),
    ],
)  # fmt: skip
def test_what_a_block_cannot_be_is_told(explorer, words):
    assert words in str(explorer().error)


def small(shown):
    shown.set(small=True)
    return shown


def test_the_factor_of_the_last_weights_is_said():
    assert "24 branches, last weights times 0.204: " in small(explorers.final_norm()).sentence


def test_a_stack_that_calls_no_norm_is_drawn_and_said():
    shown = explorers.final_norm(lambda x, fs, norms, final_norm: x)
    assert shown.error is None and "No norm is called; the result has 0.99" in shown.sentence
