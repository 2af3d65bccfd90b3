"""The bug museum: symptoms are there, the bug is gone when it is mended, and other changes are named."""

import nbformat
import numpy as np
import pytest

from helpers import exercises, explorers, layers
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


def start_afresh(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr * gradient(w, batch)
        yield w


def clear_in_place(w, gradient, batches, lr):
    grad = np.zeros_like(w)
    for batch in batches:
        grad[:] = 0
        grad += gradient(w, batch)
        w -= lr * grad
        yield w


def divided(x, gamma, eps):
    return gamma * x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps)


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
    [(1, start_afresh), (1, clear_in_place), (2, divided), (3, small_numbers), (4, by_the_course), (5, added_at_the_end), (6, no_epsilon)],
)  # fmt: skip
def test_other_ways_to_mend_it_are_right(number, f):
    found = exercises.exhibit(number).diagnose(f)
    assert found.outcome == "correct", found.message


def test_the_wrong_matrix_at_0_is_no_cure():
    assert exercises.exhibit(3).diagnose(first_zero).outcome != "correct"


def smaller_steps(w, gradient, batches, lr):
    for batch in batches:
        w = w - lr / 2 * gradient(w, batch)
        yield w


def both_random(d, rng):
    return rng.normal(size=(2, d, d))


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


@pytest.mark.parametrize(
    ("number", "f", "mistake", "words"),
    [
        (1, smaller_steps, "bug", "the weights after the first step"),
        (2, halved, "bug", "rms 1|mean square is 1"),
        (
            3,
            both_random,
            "other",
            "The bug is gone. And this has changed, which was right before: the branch gives 0",
        ),
        (4, not_updated, "other", "the running statistics after training"),
        (5, no_shortcut, "bug", "dx"),
        (5, transposed, "other", "dW1"),
        (6, never_clipped, "bug", "the length in the log, long gradient"),
    ],
)
def test_what_else_has_changed_is_named(number, f, mistake, words):
    found = exercises.exhibit(number).diagnose(f)
    assert (found.outcome, found.mistake) == ("wrong", mistake)
    assert any(part in found.message for part in words.split("|")), found.message


@pytest.mark.parametrize("number", NUMBERS)
def test_errors_and_wrong_shapes_are_told_by_check_and_picture(number):
    def broken(*args):
        raise ArithmeticError("seven")

    exhibit = exercises.exhibit(number)
    assert exhibit.diagnose(broken).outcome == "raised" and "seven" in exhibit.diagnose(broken).message
    assert exhibit.diagnose(lambda *args: None).outcome == "raised"
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
    assert f"after {found.step} step" in explorer.sentence
    yours = explorers.museum(number, exercises.exhibit(number).mended)
    here, healthy = yours.state
    assert here.progress == healthy.progress and "The bug is gone." in yours.sentence
    untouched = explorers.museum(number, exercises.exhibit(number).found)
    assert "as it was found" in untouched.sentence


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
