"""The quizzes: every option has its feedback, nothing is given away, nothing is lost."""

import json

import numpy as np
import pytest

from helpers import experiments, layers, live, quiz
from helpers.questions import QUIZZES, form
from helpers.questions.form import Answers
from helpers.questions.kinds import plain

from .test_predict import bundle, state

LEAST = {"start_here": 4, "make_it_train": 17}  # all others: 6
EVERY = [(name, key) for name, questions in QUIZZES.items() for key in questions]


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    monkeypatch.setattr(quiz, "answers", Answers())
    yield
    live._made_in_this_cell.clear()


def answer(asked, text):
    asked.form.entry.value = text
    asked.form.button.click()


# ------------------------------------------------------------------------------ the bank


def test_each_notebook_has_its_questions():
    count = {name: len(questions) for name, questions in QUIZZES.items()}
    assert {name: number for name, number in count.items() if number < LEAST.get(name, 6)} == {}


@pytest.mark.parametrize(("name", "key"), EVERY)
def test_one_option_is_right_and_each_has_feedback_of_its_own(name, key):
    options = QUIZZES[name][key].options
    assert 3 <= len(options) <= 4
    assert sum(option.right for option in options) == 1
    for texts in ([o.text for o in options], [o.why for o in options]):
        assert len(set(texts)) == len(texts) and all(texts)
    for option in options:
        assert len(option.why) >= 40 and option.why.endswith((".", ")"))
        assert "incorrect" not in option.why.lower()
        assert not set("$`<>") & set(option.text) and "$" not in option.why


@pytest.mark.parametrize("name", QUIZZES)
def test_neither_place_nor_length_tells_the_right_option(name):
    questions = QUIZZES[name].values()
    places = [[o.right for o in question.options].index(True) for question in questions]
    assert len(set(places)) >= 2 and max(places.count(place) for place in places) <= len(places) / 2 + 0.5, (
        f"the right options stand at {places}: put some elsewhere"
    )
    longest = [max(question.options, key=lambda o: len(o.text)).right for question in questions]
    assert sum(longest) <= len(longest) / 2, "too often the longest option is the right one"


@pytest.mark.parametrize(("name", "key"), EVERY)
def test_the_question_can_be_read_aloud(name, key):
    text = QUIZZES[name][key].text
    assert text.count("$") % 2 == 0 and text.count("`") % 2 == 0 and "\\" not in text
    assert not set("${}`") & set(plain(text)) and plain(text).endswith("?")


def why(name, key, start):
    """The feedback on the option that starts so."""
    return next(o for o in QUIZZES[name][key].options if o.text.startswith(start)).why


def test_numbers_in_the_words_come_from_the_code():
    right = {key: next(o for o in QUIZZES[name][key].options if o.right) for name, key in EVERY}
    x, f = np.array([1.0, 2.0]), np.array([0.1, 0.3])
    assert right["worked_sum"].text == str(layers.residual_block(x, lambda _: f).round(9).tolist())
    assert f"{0.9**10:.2f}" == "0.35" and right["twenty_layers"].text == f"{100 * 0.9**20:.0f} %"
    assert "61 %" in right["many_blocks"].text and f"{0.99**50:.3f}" == "0.605"
    assert (
        right["paths_left"].text == f"{2 ** (5 - 2)}" and right["zero_grad"].text == f"{1 + 2 + 3 + 4} lr · g"
    )
    row, dy = np.random.default_rng(0).standard_normal((2, 1, 8))
    one_times, ten_times = (layers.layer_norm_backward(dy, k * row, np.ones(8))[0] for k in (1, 10))
    assert right["gradient"].text.endswith("ten times smaller")
    np.testing.assert_allclose(one_times / ten_times, 10, rtol=1e-3)
    assert (
        right["half_precision"].text == "Zeros" and experiments.precision.output_std("float16", 4096, 10) == 0
    )
    assert f"{4096 * 10**2:,}," in right["half_precision"].why
    assert experiments.precision.overflow_limit("float16", 4096) == pytest.approx(4, abs=0.01)
    y = layers.layer_norm(np.array([2.0, -3.0, 1.0, 4.0]), np.ones(4), np.zeros(4), 1e-12)
    assert "1.1547" in right["biased"].why and np.std(y, ddof=1) == pytest.approx(1.1547, abs=1e-4)
    one, other = (layers.layer_norm(np.arange(4.0) + k, np.ones(4), np.zeros(4)) for k in (1, 4))
    assert right["same_output"].text.startswith("No") and np.allclose(one, other)
    images = np.random.default_rng(0).standard_normal((16, 4, 10, 10))
    assert right["images"].text == str(images[:, 0].size)
    one, zero = np.ones(4), np.zeros(4)
    y = layers.batch_norm(images, one, zero, zero, one, training=True)[0]
    assert right["relu"].text.startswith("No: mean 0 and spread 1") and 0.45 < (y < 0).mean() < 0.55
    two, kept = np.array([[12.0], [14.0]]), (np.array([10.0]), np.array([4.0]))
    y = layers.batch_norm(two, one[:1], zero[:1], *kept, training=False, eps=0.0)[0]
    assert right["batch_eval"].text == "{:g} and {:g}".format(*y.ravel())
    row = 3 + 4 * np.array([1.0, -1.0, 1.0, -1.0])
    assert right["rms"].text == f"{layers.rms_norm(row, one, eps=0.0).std():.1f}"
    assert right["residual_deleted"].text == str(layers.residual_block(x, lambda x: 0 * x).tolist())
    assert right["final_norm"].text == f"By {(1 + 15 * 1) ** 0.5:g}"
    assert (
        right["drift"].text == f"About {100 * 0.9**20:.0f} %"
        and f"{0.8**20:.2f}" == "0.01"
        and 1.125**20 > 10
    )


def test_a_branch_behind_a_norm_adds_the_same_to_a_stream_twice_as_large():
    rng = np.random.default_rng(0)
    x, W = rng.standard_normal((8, 4)), rng.standard_normal((4, 4))
    small, large = (
        layers.pre_norm_block(a, lambda u: np.tanh(u @ W), lambda u: layers.rms_norm(u, np.ones(4), 0.0)) - a
        for a in (x, 2 * x)
    )
    np.testing.assert_allclose(small, large, rtol=1e-9)


def test_at_the_first_step_of_rezero_alpha_moves_and_the_weights_do_not():
    rng = np.random.default_rng(0)
    matrix, scale = layers.Linear(4, 4, rng=rng), layers.Scale()
    block = layers.Residual(layers.Sequential(matrix, scale))
    block(rng.standard_normal((8, 4)))
    block.backward(rng.standard_normal((8, 4)))
    assert scale.dalpha.all() and not matrix.dW.any()


def test_what_the_feedback_claims_is_measured():
    from helpers.questions.gradient_flow import bars
    from helpers.questions.start_here import four_corners

    spread = four_corners()
    assert spread["The residual connection alone"] > 1e4
    assert "0.00000001" in why("start_here", "residual_alone", "The values vanish")
    assert 0 < spread["Neither of the two"] < 1e-8
    assert bars(1.0, "plain", "relu") < 1e-4  # loses its gradient
    assert 0.3 < bars(1.4, "plain", "relu") < 3 and bars(0.5, "plain", "relu") < bars(1.0, "plain", "relu")
    assert bars(2.0, "plain", "relu") > 1e3  # "Gain 2 makes this same network's gradient explode."


def test_a_zero_last_matrix_moves_and_two_never_do():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((8, 4)), rng.standard_normal((8, 4))

    def gradients(W1, W2):
        hidden = np.maximum(x @ W1, 0)
        return x.T @ ((dy @ W2.T) * (x @ W1 > 0)), hidden.T @ dy

    zero, W = np.zeros((4, 4)), rng.standard_normal((4, 4))
    dW1, dW2 = gradients(W, zero)
    assert not dW1.any() and dW2.any()
    assert not any(d.any() for d in gradients(zero, zero))


# ------------------------------------------------------------------------------ asking


@pytest.mark.parametrize("name", QUIZZES)
def test_nothing_is_given_away_before_an_answer(name, monkeypatch):
    shown = quiz.ask(name)
    data = bundle(shown, monkeypatch)
    told = state(shown) + json.dumps(data, ensure_ascii=False)
    for question in QUIZZES[name].values():
        for option in question.options:
            assert option.text.split('"')[0] in told and option.why[:30] not in told
    assert not {"right", "correct", "answer_index"} & {
        key for one in shown.asked for key in one.form.entry.keys
    }
    assert data["text/plain"].count("not answered yet") == len(QUIZZES[name])
    assert "✓" not in told and "✗" not in told


@pytest.mark.parametrize(("name", "key"), EVERY)
def test_each_option_gets_its_feedback_in_words_and_a_mark(name, key):
    shown = quiz.ask(name)
    asked = shown.asked[list(QUIZZES[name]).index(key)]
    for option in QUIZZES[name][key].options:
        answer(asked, option.text)
        status = asked.form.status.value
        assert ("✓ <b>Right.</b>" if option.right else "✗ <b>Not quite.</b>") in status
        assert 'role="status"' in status and plain(option.why) in asked.words()
        assert not asked.form.entry.disabled and not asked.form.button.disabled
    others = [one for one in shown.asked if one is not asked]
    assert all("Right" not in one.form.status.value for one in others)


def test_nothing_chosen_is_answered():
    asked = quiz.ask("gradient_flow").asked[0]
    asked.form.button.click()
    assert "Choose an answer first" in asked.form.status.value and quiz.answers.given == {}


def test_run_again_the_cell_shows_choices_and_feedback():
    first = quiz.ask("gradient_flow")
    for asked in first.asked[:3]:
        answer(asked, asked.question.options[0].text)
    first.asked[3].form.entry.value = first.asked[3].question.options[1].text  # chosen, not checked
    before = [(one.form.entry.value, one.form.status.value) for one in first.asked]
    count = first.count.value
    first.close()
    second = quiz.ask("gradient_flow")
    assert [(one.form.entry.value, one.form.status.value) for one in second.asked] == before
    assert second.count.value == count and "1 of 6 right" in count


def test_another_choice_takes_the_feedback_away(monkeypatch):
    monkeypatch.setattr(form, "GRACE", 0)
    asked = quiz.ask("gradient_flow").asked[0]
    answer(asked, asked.question.options[0].text)
    asked.form.entry.value = asked.question.options[1].text
    assert "Not quite" not in asked.form.status.value


def test_a_choice_that_the_click_overtook_is_checked():
    asked = quiz.ask("gradient_flow").asked[0]
    answer(asked, asked.question.options[0].text)
    asked.form.entry.value = asked.question.options[2].text  # chosen before the click, arrived after it
    assert "Right" in asked.form.status.value


def test_answers_kept_as_json_come_back_and_old_ones_do_no_harm():
    option = QUIZZES["start_here"]["two_troubles"].options[2]
    kept = {"start_here/two_troubles": option.text, "start_here/twenty_layers": "an option of long ago"}
    quiz.answers.given = json.loads(json.dumps(kept))
    shown = quiz.ask("start_here")
    assert shown.asked[0].form.entry.value == option.text and "Right" in shown.asked[0].form.status.value
    assert shown.asked[1].form.entry.value is None


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="no quiz 'flow'.*gradient_flow"):
        quiz.ask("flow")
