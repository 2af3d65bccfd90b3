"""Right answers pass, wrong answers are named."""

import numpy as np
import pytest

from helpers import exercises
from helpers.exercises import exceptions
from helpers.exercises.comparing import alike
from helpers.exercises.slips import Slip, Space, _capital, read, search

from .further_mistakes import FURTHER
from .losses import LOSSES, unnoticed
from .public_mistakes import PUBLIC
from .rewrites import REWRITES

NAMES = list(exercises.ALL)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_correct_without_a_remark(name):
    exercise = exercises.ALL[name]
    assert exercise.diagnose(exercise.reference) == exercises.Diagnosis("correct", None, "Correct.")


@pytest.mark.parametrize("name", NAMES)
def test_the_model_without_slips_is_the_reference(name):
    exercise = exercises.ALL[name]
    for args, want in zip(exercise.probes, exercise.wanted):
        assert all(map(alike, exercise.space.model(*args), want))


@pytest.mark.parametrize(
    "exercise, f",
    REWRITES,
    ids=lambda v: v if isinstance(v, str) else getattr(v, "__name__", type(v).__name__),
)
def test_a_rewrite_is_correct(exercise, f):
    found = exercises.ALL[exercise].diagnose(f)
    assert found.outcome == "correct", found.message


@pytest.mark.parametrize(
    "exercise, report, words, f", PUBLIC, ids=[f"{e}-{f.__name__}" for e, _, _, f in PUBLIC]
)
def test_a_public_mistake_is_named(exercise, report, words, f):
    _says(exercises.ALL[exercise].diagnose(f), words)


@pytest.mark.parametrize("exercise, words, f", FURTHER, ids=[f"{e}-{f.__name__}" for e, _, f in FURTHER])
def test_a_further_mistake_is_named(exercise, words, f):
    _says(exercises.ALL[exercise].diagnose(f), words)


def _says(found, words):
    remarked = "Correct." in words
    if found.outcome == "correct" and not remarked:
        pytest.fail("it is taken for right: no probe shows the mistake; add one to the exercise's probes")
    assert found.outcome == "correct" or not remarked, found.message
    assert found.mistake, found.message
    for word in words:
        assert word.lower() in found.message.lower()


# Twice the width, which the norm that follows refuses.
REFUSED = ("post_norm_block", "together", "np.concatenate([{}, {}], axis=-1)")


@pytest.mark.parametrize("name", NAMES)
def test_the_model_knows_every_choice_of_the_catalogue(name):
    """One that it does not know fails on every probe, as a function of the learner that raises does."""
    space, probes = exercises.ALL[name].space, exercises.ALL[name].probes
    for slip in space.slips + space.alone:
        if (name, slip.decision, slip.choice) != REFUSED:
            with np.errstate(all="ignore"):
                runs = any(space.outputs((slip,), args) is not None for args in probes)
            assert runs, f"the model of {name} does not know {slip.decision} = {slip.choice}"


def test_a_shape_that_is_right_for_the_smallest_input_only():
    found = exercises.sgd_steps.diagnose(lambda w, grad_fn, batches, lr: np.zeros(2))
    assert found.outcome == "wrong" and "should be" in found.message


def test_the_norm_says_what_it_was_given():
    found = exercises.post_norm_block.diagnose(
        lambda x, f, norm: norm(np.concatenate([x, f(x)], axis=-1)),
    )
    assert found.outcome == "raised"
    assert "vectors of 3 numbers and was given shape (2, 6)" in found.message
    assert "a residual block adds them" in found.message
    transposed = exercises.pre_norm_block.diagnose(lambda x, f, norm: x + f(norm(x.T).T))
    assert "stand along the last axis" in transposed.message and "concatenated" not in transposed.message


@pytest.mark.parametrize(
    "lines", ["  two spaces.", "    four.\n   three.", "\ttab.", "", "    four.\n\n    after a blank line."]
)
def test_a_line_of_the_catalogue_that_belongs_to_no_entry_is_found(lines):
    with pytest.raises(ValueError, match="belongs to no entry"):
        read(f"name: decision = choice\n{lines}\n")


def test_what_always_fails_explains_nothing():
    """Neither a function that raises nor one that gives something."""
    space = Space(lambda x, f, known="x": (({"x": x}[known],),), [Slip("unknown", "known", "nothing", "")])
    answers = [None] * len(exercises.residual_block.probes)
    assert search(space, exercises.residual_block.probes, answers, [0]) == ([], {0})


# A variance has no sign; a length does not see one, and depends on the gradients alone.
NOTHING_TO_LOSE = {
    "batch_norm": {("running_var", "its sign"), ("running_var", "what is negative")},
    "grad_norms": {
        ("grads", "its sign"),
        ("grads", "what is positive"),
        *(("params", what) for what in LOSSES),
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_no_argument_loses_its_sign_or_its_decimals_unnoticed(name):
    """So a function that takes |gamma| for gamma is not called correct."""
    assert unnoticed(exercises.ALL[name]) == NOTHING_TO_LOSE.get(name, set())


# Two slips of one model that no input tells apart, or that show only together with another.
SAME = {
    ("batch_norm", "affine", ("raw", "evaluation")),  # x not normalized, two ways to say it
    ("grad_norms", "total", "np.sqrt((per**2).sum())"),  # the total of a wrong list
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_slip_is_told_from_all_others(name, dtype):
    """Also through a function whose results are float32."""
    exercise = exercises.ALL[name]
    alone = exercise.space.alone if dtype is np.float64 else []
    for slip in exercise.space.slips + alone:
        if (name, slip.decision, slip.choice) not in {*SAME, REFUSED}:
            found = exercise.diagnose(_as_function(exercise, slip, dtype))
            assert found.mistake == slip.name, (slip, found)


def _as_function(exercise, slip, dtype):
    def f(*args):
        outputs = exercise.space.model(*args, **{slip.decision: slip.choice})
        parts = [[part.astype(dtype) for part in output] for output in outputs]
        values = [p if name.endswith("[]") else p[0] for p, name in zip(parts, exercise.outputs)]
        return values if len(values) > 1 else values[0]

    return f


def clipped(x, gamma, beta, eps):
    return np.clip(exercises.layer_norm.reference(x, gamma, beta, eps), -1, 1)


def scaled(x, gamma, eps):
    return 1.3 * exercises.rms_norm.reference(x, gamma, eps)


def only_for_images(x, gamma, beta, running_mean, running_var, training, momentum, eps):
    outputs = exercises.batch_norm.reference(
        x, gamma, beta, running_mean, running_var, training, momentum, eps
    )
    return outputs if x.ndim == 4 else (np.sin(outputs[0]), *outputs[1:])


def ghost_input(x, f, norm):
    return x + f(norm(np.sin(x)))


@pytest.mark.parametrize(
    "exercise, f, words",
    [
        ("layer_norm", clipped, ["`y[0, 2]` should be 2.91 and is 1", "x = [[", "What fails", "What holds"]),
        ("rms_norm", scaled, ["1.3 times the right one", "What holds", "a row does not depend on the other rows"]),
        ("batch_norm", only_for_images, ["right exactly when `x` has 4 axes", "`running_var` are right"]),
        ("pre_norm_block", ghost_input, ["`norm` is called once, with something else", "tanh(x @ W + b)"]),
    ],
)  # fmt: skip
def test_an_unknown_mistake_is_described(exercise, f, words):
    found = exercises.ALL[exercise].diagnose(f)
    assert found.outcome == "wrong"
    for word in words:
        assert word in found.message, found.message


def _one_channel_of_three_axes(x, *rest):
    return exercises.batch_norm.reference(np.cumsum(x, axis=1) if x.ndim > 2 else x, *rest)


def _first_kept_token(x, mask, *rest):
    later = mask & (np.cumsum(mask, axis=1) > 1) if not mask[:, 0].all() else mask
    return exercises.masked_batch_norm.reference(x, later, *rest)


def _nan_of_most(x, gamma, beta, eps):
    return np.log(x) + 0 * (gamma + beta + eps)


def _mean_of_quotients(x, gamma, eps):
    return np.mean(x / np.sqrt(x**2 + eps), axis=-1, keepdims=True) * gamma


@pytest.mark.parametrize(
    "exercise, f, said, not_said",
    [
        ("batch_norm", _one_channel_of_three_axes, "a channel depends on the other channels", "channels are independent"),
        ("masked_batch_norm", _first_kept_token, "do not have mean 0", "real tokens have mean 0"),
        ("layer_norm", _nan_of_most, "NaN (not a number)", "What holds"),
        ("rms_norm", _mean_of_quotients, "(row 1: 0.4", "row 0: 1)"),
    ],
)  # fmt: skip
def test_what_is_said_of_an_unknown_mistake_is_seen_where_it_shows(exercise, f, said, not_said):
    """On an input with as many axes, or a mask, for which the answer is wrong; of a row that fails; not of NaN."""
    found = exercises.ALL[exercise].diagnose(f)
    assert said in found.message and not_said not in found.message, found.message


def _unknown_name(x, f, proj):
    return prjo(x) + f(x)  # noqa: F821


def _not_called(x, f, proj):
    return proj + f(x)


def _product_with_a_function(x, f, proj):
    return x @ proj + f(x)


def _still_to_do(x, f, proj):
    raise ValueError("to do")


@pytest.mark.parametrize("crash", [_unknown_name, _not_called, _product_with_a_function, _still_to_do])
def test_a_crash_is_not_taken_for_a_mistake_that_fails_on_the_same_inputs(crash):
    def projected_residual(x, f, proj):
        return x + f(x) if x.shape == f(x).shape else crash(x, f, proj)

    found = exercises.projected_residual.diagnose(projected_residual)
    assert (found.outcome, found.mistake) == ("raised", None), found.message


def test_an_exception_from_another_process_is_known_by_its_name():
    """A submission's exceptions are made anew where they are judged."""
    here, anew = np.exceptions.AxisError(2, 1), type("AxisError", (Exception,), {})("axis 2 is out of bounds")
    assert exceptions.related(here, anew) and exceptions.related(anew, here)
    assert exceptions.related(here, ValueError()) and not exceptions.related(NameError(), here)


def _first(outputs):
    return outputs[0] if isinstance(outputs, tuple) else outputs


@pytest.mark.parametrize(
    "name", ["layer_norm", "rms_norm", "rms_norm_offset", "batch_norm", "masked_batch_norm"]
)
@pytest.mark.parametrize("most", [3, 5])
def test_who_clips_what_is_normalized_is_not_correct(name, most):
    """Trained networks have such outliers, inputs of a few normal numbers do not."""
    exercise = exercises.ALL[name]
    neutral = {"gamma": np.ones_like, "beta": np.zeros_like, "w": np.zeros_like}

    def clips(*args):
        named = zip(exercise.parameters, args)
        x_hat = _first(exercise.reference(*[neutral.get(one, np.array)(a) for one, a in named]))
        outputs = exercise.reference(*args)
        y = np.where(np.abs(x_hat) > most, 0, _first(outputs))
        return (y, *outputs[1:]) if isinstance(outputs, tuple) else y

    found = exercise.diagnose(clips)
    assert found.outcome == "wrong", found.message


@pytest.mark.parametrize("name", NAMES)
def test_a_message_does_not_begin_with_a_name_in_capitals(name):
    """`dout` in the code is not Dout; momentum and training are words as well."""
    space = exercises.ALL[name].space
    names = {*exercises.ALL[name].parameters, "dh", "dz", "z"} - {"momentum", "training"}
    for slip in [*space.slips, *space.alone]:
        first, shown = slip.message.split()[0], _capital(slip.message).split()[0]
        assert shown == first or not (first.rstrip(",") in names or set(first) & set("(*["))


@pytest.mark.parametrize("name", NAMES)
def test_every_message_is_a_sentence(name):
    for slip in exercises.ALL[name].space.slips:
        text = exercises.ALL[name].space.message((slip,))
        assert text.rstrip().endswith((".", "?")) and "{" not in slip.message and len(text) < 700, text
