"""The bug museum: symptoms are there, the bug is gone when it is mended, and other changes are named."""

import nbformat
import numpy as np
import pytest

from helpers import exercises, explorers, figures, layers
from helpers.exercises.exhibits import EXHIBITS
from helpers.experiments import museum

from . import notebooks

NUMBERS = [exhibit.number for exhibit in EXHIBITS]


@pytest.fixture(scope="module")
def seen():
    """{number: (the last Symptoms as found, mended)}."""
    return {
        n: [list(look(f))[-1] for f in (found, mended)] for n, (found, mended, look) in museum.FOUND.items()
    }


# ------------------------------------------------------------------------------ symptoms


def test_every_mended_network_learns(seen):
    for number, (_, healthy) in seen.items():
        assert healthy.progress[-1].error < 0.01 and healthy.progress[-1].step == museum.STEPS, number


def test_exhibit_1_uses_ever_longer_gradients_and_does_not_learn(seen):
    found, healthy = seen[1]
    assert found.progress[-1].error > 0.2 and found.y[-50:].min() > 50 * healthy.y[-50:].max()


def test_exhibit_1_adds_up_all_gradients_so_far():
    w = np.array([1.0, 2.0])
    ones = [np.ones(2)] * 3
    *_, end = museum.train_steps_found(w, lambda w, batch: batch, ones, 0.1)
    np.testing.assert_allclose(end, w - 0.1 * (1 + 2 + 3))


def test_exhibit_2_overflows_in_the_first_step(seen):
    found, healthy = seen[2]
    assert found.progress[-1].step == 1 and found.progress[-1].where is not None
    assert not np.isfinite(found.y[-1]) and healthy.y[-1] < 10


def test_exhibit_3_has_no_gradient_at_all(seen):
    found, healthy = seen[3]
    assert np.all(found.y == 0) and np.all(healthy.y > 0) and found.progress[-1].error > 0.3


def test_exhibit_4_differs_in_evaluation_alone(seen):
    found, healthy = seen[4]
    assert found.progress == healthy.progress
    assert found.y[0] > 50 and found.y[-1] < 2 and np.ptp(healthy.y) == 0 and healthy.y[0] < 2


def test_exhibit_5_loses_the_gradient_on_its_way_back(seen):
    found, healthy = seen[5]
    assert found.y[0] < 0.5 and healthy.y[0] > 5
    assert 28 < 1 / found.y.min() < 32 and found.y.argmin() in (2, 3)  # the lesson: to a thirtieth
    assert np.all(np.diff(found.y[:3]) < 0)  # and in front of the first blocks it grows again
    assert found.progress[-1].loss > 10 * healthy.progress[-1].loss


def test_the_block_of_exhibit_5_mended_has_the_measured_slope():
    rng = np.random.default_rng(0)
    x, dy, W1, W2 = rng.standard_normal((4, 6, 6))
    grads = museum.block_backward_mended(dy, x, W1, W2)
    forward = lambda x, W1, W2: (dy * museum.Block(W1, W2).forward(x)).sum()  # noqa: E731
    for i, grad in enumerate(grads):
        v = rng.standard_normal((6, 6))
        args = [[x, W1, W2], [x, W1, W2]]
        args[0][i], args[1][i] = args[0][i] + 1e-6 * v, args[1][i] - 1e-6 * v
        slope = (forward(*args[0]) - forward(*args[1])) / 2e-6
        assert (grad * v).sum() == pytest.approx(slope, rel=1e-5)


def test_exhibit_6_takes_long_steps_and_logs_short_ones(seen):
    found, healthy = seen[6]
    assert (
        found.y.max() > 5 and healthy.y.max() <= 1 and found.progress[2].loss > 3 * healthy.progress[2].loss
    )
    _, logged = museum.clipped_step_found(np.zeros(2), np.array([30.0, 40.0]), 0.1, 1.0)
    assert logged == pytest.approx(1, abs=1e-6)


# ------------------------------------------------------------------------------ the check


@pytest.mark.parametrize("number", NUMBERS)
def test_as_found_is_not_attempted_and_mended_is_correct(number):
    exhibit = exercises.exhibit(number)
    assert exhibit.bug and len(exhibit.bug) < len(exhibit.aspects)
    assert exhibit.diagnose(exhibit.found).outcome == "not attempted"
    mended = exhibit.diagnose(exhibit.mended)
    assert mended.outcome == "correct" and exhibit.report in mended.message


def test_the_notebook_as_it_is_opened_calls_nothing_a_wrong_mend():
    (path,) = [path for path in notebooks.paths() if path.stem.startswith("07")]
    checks = [c for c in nbformat.read(path, 4).cells if c.source.startswith("exercises.exhibit(")]
    assert len(checks) == 6
    assert all("not attempted" in cell.outputs[0]["data"]["text/plain"] for cell in checks)


def start_afresh(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr * gradient(w, batch)
        yield w


def clear_in_place(w, gradient, batches, lr):
    grad = np.zeros_like(w)
    for batch in batches:
        grad[:] = 0
        grad += gradient(w, batch)
        w = w - lr * grad
        yield w


def divided(x, gamma, eps):
    return gamma * x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps)


def uniform_numbers(d, rng):
    return rng.uniform(-1, 1, (d, d)) * np.sqrt(6 / d), np.zeros((d, d))


def small_numbers(d, rng):
    return 0.01 * rng.standard_normal((d, d)), np.zeros((d, d))


def first_zero(d, rng):
    """Behind a ReLU this is no cure: where all is 0, relu passes no gradient."""
    return np.zeros((d, d)), rng.normal(size=(d, d)) / np.sqrt(d)


def by_the_course(x, gamma, beta, running_mean, running_var, training):
    if not training:
        return gamma * (x - running_mean) / np.sqrt(running_var + 1e-5) + beta, running_mean, running_var
    return museum.batch_norm_found(x, gamma, beta, running_mean, running_var, training)


def added_at_the_end(dy, x, W1, W2):
    """The wrong one, without what went through the norm, and with dy added."""
    _, dW1, dW2 = museum.block_backward_found(dy, x, W1, W2)
    one = np.ones(x.shape[-1])
    z = layers.rms_norm(x, one) @ W1
    dx = dy.copy()
    dx += layers.rms_norm_backward(((dy @ W2.T) * (z > 0)) @ W1.T, x, one)[0]
    return dx, dW1, dW2


def no_epsilon(w, g, lr, max_norm):
    length = np.linalg.norm(g)
    if length > max_norm:
        g = g / length * max_norm
    return w - lr * g, np.linalg.norm(g)


@pytest.mark.parametrize(
    ("number", "f"),
    [(1, start_afresh), (1, clear_in_place), (2, divided), (3, uniform_numbers), (4, by_the_course), (5, added_at_the_end), (6, no_epsilon)],
)  # fmt: skip
def test_other_ways_to_mend_it_are_right(number, f):
    found = exercises.exhibit(number).diagnose(f)
    assert found.outcome == "correct", found.message


def test_the_wrong_matrix_at_0_is_no_cure():
    assert "passes nothing back" in said_of(3, first_zero)


# ------------------------------------------------------------------------------ arguments


def walk_in_place(w, gradient, batches, lr):
    for batch in batches:
        w -= lr * gradient(w, batch)
        yield w


def normalize_in_place(x, gamma, eps):
    x /= np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * x


def statistics_in_place(x, gamma, beta, running_mean, running_var, training):
    mean, var = running_mean, running_var
    if training:
        mean, var = x.mean(axis=0), x.var(axis=0)
        running_mean *= 0.9
        running_mean += 0.1 * mean
        running_var *= 0.9
        running_var += 0.1 * var
    return gamma * (x - mean) / np.sqrt(var + 1e-5) + beta, running_mean, running_var


def backward_in_place(dy, x, W1, W2):
    dx, dW1, dW2 = museum.block_backward_mended(dy, x, W1, W2)
    dy += dx - dy
    return dy, dW1, dW2


def step_in_place(w, g, lr, max_norm):
    new, length = museum.clipped_step_mended(w, g, lr, max_norm)
    w -= w - new
    return w, length


@pytest.mark.parametrize(
    ("number", "f", "arguments"),
    [
        (1, walk_in_place, "`w`"),
        (2, normalize_in_place, "`x`"),
        (4, statistics_in_place, "`running_mean` and `running_var`"),
        (5, backward_in_place, "`dy`"),
        (6, step_in_place, "`w`"),
    ],
)
def test_a_changed_argument_is_told_and_spoils_nothing(number, f, arguments):
    exhibit = exercises.exhibit(number)
    for _ in range(2):
        assert exhibit.diagnose(exhibit.mended).outcome == "correct"
        found = exhibit.diagnose(f)
        assert (found.outcome, found.mistake) == ("wrong", "input_changed")
        assert f"The bug is gone. Your function now writes into its argument {arguments}," in found.message
    assert "The bug is gone" not in explorers.museum(number, f).sentence


# ------------------------------------------------------------------------------ wrong mends


def said_of(number, f):
    """The message on a function that mends the exhibit wrongly."""
    found = exercises.exhibit(number).diagnose(f)
    assert found.outcome == "wrong" and "as it was found" not in found.message
    return found.message


def ones(d, rng):
    return np.ones((d, d)), np.zeros((d, d))


def equal_numbers(d, rng):
    return np.full((d, d), np.sqrt(2 / d)), np.zeros((d, d))


def negative_numbers(d, rng):
    return -np.abs(rng.normal(0, np.sqrt(2 / d), (d, d))), np.zeros((d, d))


def clipped_first(x, gamma, eps):
    return museum.normalize_found(np.clip(x, -1e3, 1e3), gamma, eps)


def only_for_one(x, gamma, beta, running_mean, running_var, training):
    return museum.batch_norm_found(x, gamma, beta, running_mean, running_var, training or len(x) == 1)


def alone_by_statistics(x, gamma, beta, running_mean, running_var, training):
    if len(x) == 1:
        return gamma * (x - running_mean) / np.sqrt(running_var + 1e-5) + beta, running_mean, running_var
    return museum.batch_norm_found(x, gamma, beta, running_mean, running_var, training)


def eps_outside(x, gamma, eps):
    return gamma * x / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + eps)


def by_the_spread(x, gamma, eps):
    return gamma * x / np.sqrt(x.var(axis=-1, keepdims=True) + eps)


def mean_taken_away(x, gamma, eps):
    return by_the_spread(x - x.mean(axis=-1, keepdims=True), gamma, eps)


def mean_above_alone(x, gamma, eps):
    return museum.normalize_mended(x, gamma, eps) * (1 - x.mean(axis=-1, keepdims=True) / x)


def added_once_more(dy, x, W1, W2):
    dx, dW1, dW2 = museum.block_backward_mended(dy, x, W1, W2)
    return dx + dy, dW1, dW2


def added_and_normed(dy, x, W1, W2):
    dx, dW1, dW2 = museum.block_backward_found(dy, x, W1, W2)
    return dx + dy, dW1, dW2


def fixed_rate(w, gradient, batches, lr):
    return start_afresh(w, gradient, batches, 0.3)


def fixed_eps(x, gamma, eps):
    return divided(x, gamma, 1e-5)


def second_axis(x, gamma, eps):
    return gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)


def axes_of_its_own(x, gamma, eps):
    n, d = x.shape
    return divided(x, gamma, eps)


def the_same_everywhere(d, rng):
    return museum.branch_weights_mended(d, np.random.default_rng(0))


def not_from_rng(d, rng):
    return np.sqrt(2 / d) * np.random.randn(d, d), np.zeros((d, d))


def for_one_width(d, rng):
    return rng.normal(0, np.sqrt(2 / 128), (d, d)), np.zeros((d, d))


def one_row(d, rng):
    return rng.normal(0, np.sqrt(2 / d), d), np.zeros((d, d))


def another_eps(x, gamma, beta, running_mean, running_var, training):
    y, *statistics = museum.batch_norm_mended(x, gamma, beta, running_mean, running_var, training)
    var = x.var(axis=0) if training else running_var
    return beta + (y - beta) * np.sqrt((var + 1e-5) / (var + 1e-6)), *statistics


def backward_with(dx_of):
    """A backward pass whose dx is this function of the norm's backward, and of dh, dz, dy, x, u."""

    def block_backward(dy, x, W1, W2):
        one = np.ones(x.shape[-1])
        u = layers.rms_norm(x, one)
        z = u @ W1
        dz = layers.relu_backward(dy @ W2.T, z)
        dx = dx_of(lambda dy, x: layers.rms_norm_backward(dy, x, one)[0], dz @ W1.T, dz, dy, x, u)
        return dx, u.T @ dz, layers.relu(z).T @ dy

    return block_backward


def step_with(clip, rate=lambda lr: lr):
    """A step whose gradient is clipped so."""

    def clipped_step(w, g, lr, max_norm):
        g = clip(g, np.sqrt((g**2).sum()), max_norm)
        return w - rate(lr) * g, np.sqrt((g**2).sum())

    return clipped_step


@pytest.mark.parametrize(
    ("number", "f", "words"),
    [
        (1, fixed_rate, "Another `lr` changes nothing"),
        (2, fixed_eps, "comes out right, too. Another `eps` changes nothing in what your function returns"),
        (2, second_axis, "does not hold yet: with three axes, too, the last one is normalized."),
        (3, the_same_everywhere, "The bug is gone. All blocks get the same `W1`"),
        (3, not_from_rng, "`W1` is not drawn from `rng`"),
        (3, for_one_width, "At d = 64,"),
        (3, one_row, "`W1` has shape (4,); it has to be (4, 4)"),
        (4, another_eps, "this held before and does not now: the output in training is right"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: dh + dy), "has not gone back through the norm"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: dh), "Neither has the branch’s part"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: dy), "The branch’s part of `dx` is missing"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: back(dh, x) + back(dy, x)), "`dx` is what it was"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: back(dh, x) + dz), "`dz` is added"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: back(dh, x) + x), "`x` is added"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: back(dh, u) + dy), "is given `u`, the norm’s output; it needs"),
        (5, backward_with(lambda back, dh, dz, dy, x, u: back(dh, u)), "is given `u`, the norm’s output, and"),
        (6, step_with(lambda g, length, most: g / length if length > most else g), "of length 8 is logged as 1."),
        (6, step_with(lambda g, length, most: g * min(1, 1 / length)), "Another `max_norm` changes nothing"),
        (6, step_with(lambda g, length, most: g / length if length > 1 else g), "Another `max_norm` changes nothing"),
        (6, step_with(lambda g, length, most: g * min(1, most**2 / length)), "is logged as 6.25"),
        (6, step_with(lambda g, length, most: g * min(1, most / length), lambda lr: 0.1), "Another `lr` changes nothing"),
        (2, clipped_first, "You changed something, but this does not hold yet: rows of other sizes are divided by"),
        (2, eps_outside, "`eps` belongs inside the root"),
        (2, mean_taken_away, "You subtract the mean: that is LayerNorm."),
        (2, mean_above_alone, "You subtract the mean, which RMSNorm leaves in."),
        (2, by_the_spread, "You divide by the root of the variance, and `var` subtracts the mean."),
        (3, first_zero, "this does not hold yet: some gradient reaches the branch's weights."),
        (3, equal_numbers, "The bug is gone. All features in the middle of the branch are the same"),
        (3, ones, "All features in the middle of the branch are the same"),
        (3, small_numbers, "spread 0.01; what is random should have mean 0 and spread √(2/d) = 0.125"),
        (3, negative_numbers, "has mean -0.1"),
        (4, only_for_one, "You changed something, but this does not hold yet: the output in evaluation is right."),
        (4, alone_by_statistics, "the output in evaluation is right. And this held before and does not now: the output in training is right; the running"),
        (5, lambda *args: no_shortcut(*args), "The shortcut’s part of `dx` is missing"),
        (5, added_once_more, "is in `dx` twice"),
        (5, added_and_normed, "goes through the norm as before"),
    ],
)  # fmt: skip
def test_a_wrong_mend_is_no_untouched_code_and_its_mistake_is_named(number, f, words):
    assert words in said_of(number, f)


def test_an_exception_is_told_with_the_shapes_that_it_came_for():
    found = exercises.exhibit(2).diagnose(axes_of_its_own)
    assert found.outcome == "raised"
    assert "(expected 2), for `x` of shape (2, 3, 4) and `gamma` of shape (4,)." in found.message


def by_number(w, gradient, batches, lr):
    for i in range(len(batches)):
        w = w - lr * gradient(w, batches[i])
        yield w


def test_who_counts_the_batches_gets_a_picture_too():
    assert exercises.exhibit(1).diagnose(by_number).outcome == "correct"
    assert "The bug is gone." in explorers.museum(1, by_number).sentence


def returns_w(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr * gradient(w, batch)
    return w


def blank(w, gradient, batches, lr):
    """w (n,), gradient(w, batch) -> (n,). Yields w after each step."""


def only_dx(dy, x, W1, W2):
    return dy


def test_what_is_returned_wrongly_is_told(capsys):
    assert "`yield w` after each step" in said_of(1, returns_w)
    assert "`return dx, dW1, dW2`" in said_of(5, only_dx)
    found = exercises.exhibit(1).diagnose(blank)
    assert found.outcome == "not attempted" and "blank" in found.message
    exercises.exhibit(1).check(returns_w)
    assert "Stuck? `exercises.exhibit(1).hint()`" in capsys.readouterr().out


def smaller_steps(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr / 2 * gradient(w, batch)
        yield w


def both_random(d, rng):
    return tuple(rng.normal(size=(2, d, d)))


def never_clipped(w, g, lr, max_norm):
    return w - lr * g, np.sqrt((g**2).sum())


def halved(x, gamma, eps):
    return divided(x, 0.5 * gamma, eps)


def not_updated(x, gamma, beta, running_mean, running_var, training):
    return by_the_course(x, gamma, beta, running_mean, running_var, training)[0], running_mean, running_var


def no_shortcut(dy, x, W1, W2):
    dx, dW1, dW2 = museum.block_backward_mended(dy, x, W1, W2)
    return dx - dy, dW1, dW2


def transposed(dy, x, W1, W2):
    dx, dW1, dW2 = museum.block_backward_mended(dy, x, W1, W2)
    return dx, dW1.T, dW2


def yields_at_the_end(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr * gradient(w, batch)
    yield w


def yields_twice(w, gradient, batches, lr):
    for batch in batches:
        yield w
        w = w - lr * gradient(w, batch)
        yield w


def test_weights_that_are_not_yielded_once_a_step_are_counted():
    assert "For 5 batches your function yields 1, not one for each" in said_of(1, yields_at_the_end)
    assert "yields 10, not" in said_of(1, yields_twice)


@pytest.mark.parametrize(
    ("number", "f", "mistake", "words"),
    [
        (1, smaller_steps, "bug", "the weights are right after the first step"),
        (2, halved, "bug", "a row whose root mean square is 1 stays as it is"),
        (
            3,
            both_random,
            "other",
            "The bug is gone. But this held before and does not now: the branch gives 0 before training.",
        ),
        (4, not_updated, "other", "the running statistics are right after training"),
        (5, no_shortcut, "bug", "dx is right"),
        (5, transposed, "other", "dW1 is right"),
        (6, never_clipped, "bug", "the length in the log is right for a long gradient"),
    ],
)
def test_what_else_has_changed_is_named(number, f, mistake, words):
    found = exercises.exhibit(number).diagnose(f)
    assert (found.outcome, found.mistake) == ("wrong", mistake)
    assert words in found.message


@pytest.mark.parametrize("number", NUMBERS)
def test_errors_and_wrong_shapes_are_told_by_check_and_picture(number):
    def broken(*args):
        raise ArithmeticError("seven")

    exhibit = exercises.exhibit(number)
    assert exhibit.diagnose(broken).outcome == "raised" and "seven" in exhibit.diagnose(broken).message
    assert exhibit.diagnose(lambda *args: None).mistake == "unusable"
    explorer = explorers.museum(number, broken)
    assert explorer.error is not None and "seven" in str(explorer.error)


def test_hints_come_in_steps_and_end_with_the_offer_of_a_solution(capsys):
    for exhibit in EXHIBITS:
        exhibit.hints_shown = 0
        for _ in exhibit.hints:
            exhibit.hint()
        assert "solution()" in capsys.readouterr().out
        exhibit.solution()
        shown = capsys.readouterr().out
        assert exhibit.source(exhibit.mended) in shown and "github.com" in shown
        exhibit.hints_shown = 0


def test_there_is_no_seventh():
    with pytest.raises(ValueError, match="1 to 6"):
        exercises.exhibit(7)


# ------------------------------------------------------------------------------ pictures and notebook


@pytest.mark.parametrize("number", NUMBERS)
def test_the_picture_says_what_was_measured_and_the_mended_one_lies_on_the_reference(number, seen):
    explorer = explorers.museum(number)
    assert explorer.error is None and "nan" not in explorer.sentence and explorer.done == explorer.steps
    found = seen[number][0].progress[-1]
    when = "before the first step" if number == 2 else f"after {found.step} step"
    assert when in explorer.sentence
    assert ("as it should be after 200 steps: loss" in explorer.sentence) == (number == 2)
    yours = explorers.museum(number, exercises.exhibit(number).mended)
    here, healthy = yours.state
    assert here.progress == healthy.progress and "The bug is gone." in yours.sentence
    untouched = explorers.museum(number, exercises.exhibit(number).found)
    assert "not mended yet" in repr(untouched)


def test_a_finished_picture_has_no_buttons_and_one_to_go_on_with_has():
    shown = explorers.museum(6), explorers.museum(6, exercises.exhibit(6).mended)
    rows = [
        [b.layout.display for b in one.box.children if one.start_button in getattr(b, "children", ())]
        for one in shown
    ]
    assert rows == [["none"], [None]]


def test_what_is_beyond_the_axis_is_marked():
    above, below = figures.Symptoms(2, "as found"), figures.Symptoms(3, "as found")
    for number, picture in ((2, above), (3, below)):
        found, mended, look = museum.FOUND[number]
        picture.update(*(list(look(f))[0] for f in (found, mended)))
    assert len(above.off[0].get_xdata()) == 6 and not len(above.off[1].get_xdata())
    assert len(below.off[1].get_xdata()) == 8 and not len(below.off[0].get_xdata())


def cells():
    (path,) = [path for path in notebooks.paths() if path.stem.startswith("07")]
    return [cell.source for cell in nbformat.read(path, 4).cells]


def test_the_notebook_holds_the_code_as_it_was_found_after_the_symptoms():
    sources = cells()
    for exhibit in EXHIBITS:
        order = [
            f"explorers.museum({exhibit.number})",
            exhibit.source(exhibit.found),
            f"exercises.exhibit({exhibit.number}).check({exhibit.name})",
            f"explorers.museum({exhibit.number}, {exhibit.name})",
        ]
        places = [sources.index(source) for source in order]
        assert places == sorted(places), exhibit.number


def test_no_answer_stands_in_the_notebook():
    text = "\n".join(cells())
    for exhibit in EXHIBITS:
        assert exhibit.report.split(" ")[0] not in text
        assert exhibit.source(exhibit.mended) not in text
        assert not any(hint in text for hint in exhibit.hints)


def test_every_report_is_a_public_one():
    assert all(exhibit.report.startswith("https://github.com/") for exhibit in EXHIBITS)
