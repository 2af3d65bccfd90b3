"""What a learner sees: text and HTML, hints, the solution."""

import re
from copy import copy

import numpy as np
import pytest

from helpers import exercises
from helpers.exercises import solutions
from helpers.exercises.showing import Shown

from ..timing import cpu_seconds


@pytest.fixture
def residual_block():
    """A fresh copy: hints and tries are counted."""
    exercise = copy(exercises.residual_block)
    exercise.hints_shown = exercise.tries = 0
    exercise.last_try = None
    return exercise


def test_check_prints_the_outcome(residual_block, capsys):
    assert residual_block.check(lambda x, f: x + f(x)) is None
    assert capsys.readouterr().out.startswith("residual_block: correct\n\nCorrect.")


def test_the_solution_is_offered_after_three_tries(residual_block, capsys):
    tries = [lambda x, f: x, lambda x, f: f(x), lambda x, f: x - f(x)]
    for f in tries[:2]:
        residual_block.check(f)
        residual_block.check(f)  # the same cell again is no new try
        assert "solution()" not in capsys.readouterr().out
    residual_block.check(tries[2])
    assert "exercises.residual_block.solution()" in capsys.readouterr().out


def test_blank_is_no_try(residual_block, capsys):
    def blank(x, f):
        pass

    residual_block.check(blank)
    assert residual_block.tries == 0
    assert "not attempted" in capsys.readouterr().out


def test_one_more_hint_each_time(residual_block, capsys):
    for count in range(1, len(residual_block.hints) + 2):
        residual_block.hint()
        text = capsys.readouterr().out
        assert text.count("\n\n") >= min(count, len(residual_block.hints))
    assert all(hint in text for hint in residual_block.hints)
    assert "These are all the hints" in text


@pytest.mark.parametrize("name", exercises.ALL)
def test_the_solution_runs_by_itself(name):
    exercise = exercises.ALL[name]
    names = {"np": np}
    exec("\n".join(["GELU_SCALE = GELU_CUBIC = 0", exercise.source()]), names)
    assert exercise.diagnose(names[name]).outcome == "correct"


@pytest.mark.parametrize("name", exercises.ALL)
def test_the_solution_is_one_that_a_learner_could_have_written(name):
    source = exercises.ALL[name].source()
    assert not re.search(r"\b_[a-z]", source), "no private helpers"
    if "norm" in name and "block" not in name and "stack" not in name:
        assert source.startswith("def ") and source.count("def ") == 1


@pytest.mark.parametrize("name", ["layer_norm_backward", "rms_norm_backward"])
def test_a_mistake_is_named_by_its_step_and_the_line_is_left_to_be_found(name):
    exercise = exercises.ALL[name]
    messages = [exercise.space.message((slip,)) for slip in exercise.space.slips]
    assert not [m for m in messages if "(g - mean(g) - x_hat" in m or "(g - x_hat * mean" in m]
    assert any("Steps 3 and 4" in m for m in messages)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("residual_block", []),
        ("pre_norm_block", ["x + f(norm(x))"]),
        ("post_norm_block", ["norm(x + f(x))"]),
        ("transformer_block", ["x + attn(norm1(x))", "h + ffn(norm2(h))", "x + f(norm(x))"]),
        ("pre_norm_stack", ["x + f(norm(x))"]),
        ("residual_init_std", ["sqrt(2 * n_layer)", "2 * n_layer"]),
    ],
)
def test_what_a_block_should_compute_is_left_to_be_found(name, lines):
    space = exercises.ALL[name].space
    for slip in space.slips:
        assert not [line for line in lines if line in slip.message], slip
        assert "should compute" not in space.message((slip,))


def test_a_right_answer_gets_one_short_remark_on_half_precision():
    def layer_norm(x, gamma, beta, eps):
        mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        return gamma * (x - mean) / np.sqrt(var + eps) + beta

    found = exercises.layer_norm.diagnose(layer_norm)
    assert found.outcome == "correct" and found.message.startswith("Correct. One remark: ")
    assert len(found.message) < 130 and "When numbers run out" in found.message


def test_rms_norm_is_explained_in_its_own_letters():
    for slip in exercises.rms_norm_backward.space.slips:
        if slip.name not in ("variance_not_mean_square", "like_layer_norm"):
            assert not re.search(r"\b(variance|var|rstd|rrms|std|n)\b", slip.message), slip.message


@pytest.mark.parametrize("name", ["rms_norm", "rms_norm_offset"])
def test_the_simplest_rms_norm_gets_one_remark(name):
    found = exercises.ALL[name].diagnose(getattr(solutions, name))
    assert found.outcome == "correct" and found.message.startswith("Correct. One remark: ")
    assert "Half precision: in which order?" in found.message and len(found.message) < 200


def test_nan_in_an_answer_prints_no_warning(recwarn):
    def layer_norm_backward(dy, x, gamma, eps):
        dx, *rest = exercises.layer_norm_backward.reference(dy, x, gamma, eps)
        return np.where(x > 0, np.nan, dx), *rest

    assert exercises.layer_norm_backward.diagnose(layer_norm_backward).outcome == "wrong"
    assert not recwarn.list


@pytest.mark.parametrize("name", exercises.ALL)
def test_prompt_and_hints(name):
    exercise = exercises.ALL[name]
    assert exercise.prompt.startswith(f"Write `{name}({', '.join(exercise.parameters)})`")
    assert 2 <= len(exercise.hints) <= 4
    assert 1 <= exercise.difficulty <= 5 and 1 <= exercise.minutes <= 30
    assert exercise.prompt in repr(exercise)


def test_html():
    shown = Shown("layer_norm: wrong", "use `a < b` & go\n\nStuck?", "wrong")._repr_html_()
    assert "role='status'" in shown and "var(--jp-ui-font-color1" in shown
    assert "<code>a &lt; b</code> &amp; go" in shown
    assert "✗ layer_norm: wrong" in shown  # not by colour alone


def test_html_in_a_notebook(residual_block, monkeypatch):
    import IPython
    from IPython import display

    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(display, "display", shown.append)
    residual_block.check(lambda x, f: x)
    residual_block.solution()
    assert [s.kind for s in shown] == ["wrong", "solution"]
    assert "<pre>def residual_block(x, f):" in shown[1]._repr_html_()


@pytest.mark.parametrize("name", exercises.ALL)
def test_a_right_answer_is_judged_quickly(name):
    exercise = exercises.ALL[name]
    assert cpu_seconds(lambda: exercise.diagnose(exercise.reference), tries=3) < 0.3
