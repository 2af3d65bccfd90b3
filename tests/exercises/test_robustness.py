"""Anything may be passed in: a check never raises, never hangs, and leaves nothing changed."""

import inspect
import os
import random
import re
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from helpers import exercises
from helpers.exercises import running

layer_norm = exercises.layer_norm
right = layer_norm.reference

# ------------------------------------------------------------------------------ blank answers


def only_docstring(x, gamma, beta, eps):
    """Not yet."""


def only_pass(x, gamma, beta, eps):
    pass


def only_dots(x, gamma, beta, eps): ...


def docstring_and_dots(x, gamma, beta, eps):
    """Not yet."""
    ...


def not_implemented(x, gamma, beta, eps):
    raise NotImplementedError


def not_implemented_with_words(x, gamma, beta, eps):
    """Not yet."""
    raise NotImplementedError("your turn")


BLANK = [
    only_docstring,
    only_pass,
    only_dots,
    docstring_and_dots,
    not_implemented,
    not_implemented_with_words,
    ...,
]


@pytest.mark.parametrize("f", BLANK)
def test_blank_is_not_attempted(f):
    assert layer_norm.diagnose(f).outcome == "not attempted"
    assert layer_norm.is_blank(f)
    assert layer_norm.or_reference(f) is right


@pytest.mark.parametrize(
    "body", ["pass", "...", "'doc'", "raise NotImplementedError", "raise NotImplementedError('x')"]
)
def test_blank_is_seen_without_source(body):
    names = {}
    exec(f"def f(x, gamma, beta, eps):\n    {body}", names)
    assert layer_norm.is_blank(names["f"])


def test_work_is_not_blank():
    def no_return(x, gamma, beta, eps):
        y = x - x.mean()  # noqa: F841

    def returns_none(x, gamma, beta, eps):
        return None

    for f in (no_return, returns_none):
        assert not layer_norm.is_blank(f)
        found = layer_norm.diagnose(f)
        assert (found.outcome, found.mistake) == ("wrong", "none_returned")
        assert "return" in found.message
    assert layer_norm.or_reference(no_return) is no_return


# ------------------------------------------------------------------------------ not a function, not an answer


@pytest.mark.parametrize("thing", [None, 3, "layer_norm", np.ones(3), [right], {}, object()])
def test_not_a_function(thing):
    found = layer_norm.diagnose(thing)
    assert (found.outcome, found.mistake) == ("wrong", "not_a_function")
    assert "exercises.layer_norm.check(layer_norm)" in found.message


def test_wrong_number_of_arguments():
    found = layer_norm.diagnose(lambda x: x)
    assert (found.outcome, found.mistake) == ("wrong", "wrong_arguments")
    assert "(x, gamma, beta, eps)" in found.message and "(x)" in found.message


@pytest.mark.parametrize(
    "f, mistake, words",
    [
        (lambda x, g, b, e: None, "none_returned", "`return`"),
        (lambda x, g, b, e: "done", "wrong_type", "a str"),
        (lambda x, g, b, e: {"y": x}, "wrong_type", "a dict"),
        (lambda x, g, b, e: (v for v in x), "wrong_type", "a generator"),
        (lambda x, g, b, e: right(x, g, b, e) + 1j, "complex", "complex"),
        (lambda x, g, b, e: right(x, g, b, e).sum(axis=-1), "wrong_shape", "An axis is gone"),
        (lambda x, g, b, e: (right(x, g, b, e),), "wrong_shape", "comma at the end"),
        (lambda x, g, b, e: np.stack([right(x, g, b, e)] * 2, axis=0)[:, :, :], "wrong_shape", "arrays of the right shape"),
        (lambda x, g, b, e: right(x, g, b, e).ravel(), "wrong_shape", "reshape"),
        (lambda x, g, b, e: np.swapaxes(right(x, g, b, e), 0, -1), "wrong_shape", "transposed"),
        (lambda x, g, b, e: np.concatenate([x, x], -1), "wrong_shape", "Broadcasting"),
        (lambda x, g, b, e: x * np.nan, "all_nan", "0/0"),
        (lambda x, g, b, e: right(x, g, b, e) + np.random.rand(), "not_repeatable", "two different answers"),
        (lambda x, g, b, e: np.array([object()]), "wrong_type", "array of numbers"),
        (lambda x, g, b, e: [[1.0], [1.0, 2.0]], "wrong_type", "array of numbers"),
    ],
)  # fmt: skip
def test_what_is_returned(f, mistake, words):
    found = layer_norm.diagnose(f)
    assert found.outcome == "wrong"
    assert found.mistake == mistake, found
    assert words in found.message


def test_several_outputs():
    backward = exercises.layer_norm_backward
    dx, dgamma, dbeta = (lambda *a, i=i: backward.reference(*a)[i] for i in range(3))
    assert backward.diagnose(lambda *a: (dx(*a), dgamma(*a))).mistake == "outputs_missing"
    assert backward.diagnose(lambda *a: (dx(*a), dgamma(*a), dbeta(*a), 0)).mistake == "outputs_extra"
    assert backward.diagnose(lambda *a: (dx(*a), None, dbeta(*a))).mistake == "none_returned"
    swapped = backward.diagnose(lambda *a: (dgamma(*a), dx(*a), dbeta(*a)))
    assert swapped.mistake == "outputs_swapped"
    assert "return dx, dgamma, dbeta" in swapped.message


# ------------------------------------------------------------------------------ exceptions


def test_the_line_is_the_learners():
    def helper(x):
        return x.mean(-1)

    def f(x, gamma, beta, eps):
        mean = helper(x)  # noqa: F841
        return x - means  # noqa: F821

    found = layer_norm.diagnose(f)
    assert found.outcome == "raised"
    assert "NameError in `f`, line" in found.message and "`return x - means" in found.message
    assert "means" in found.message and "spelled" in found.message


def test_a_shape_error_is_explained():
    found = layer_norm.diagnose(lambda x, g, b, e: (x - x.mean(-1)) / np.sqrt(x.var(-1) + e) * g + b)
    assert (found.outcome, found.mistake) == ("raised", "keepdims_missing")
    assert "broadcast" in found.message and "keepdims=True" in found.message


def test_right_for_two_axes_only():
    def f(x, gamma, beta, eps):
        n, d = x.shape
        return right(x, gamma, beta, eps)

    found = layer_norm.diagnose(f)
    assert found.outcome == "raised"
    assert "(2, 3, 4)" in found.message and "(2, 3) your answer is right" in found.message


class Nasty(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "error",
    [SystemExit(1), GeneratorExit(), Nasty(), BaseException("x"), MemoryError(), StopIteration(), Warning()],
)
def test_any_exception(error):
    def f(x, gamma, beta, eps):
        raise error

    found = layer_norm.diagnose(f)
    assert found.outcome == "raised" and type(error).__name__ in found.message


def test_recursion_without_end():
    def f(x, gamma, beta, eps):
        return f(x, gamma, beta, eps)

    found = layer_norm.diagnose(f)
    assert found.outcome == "raised" and "calls itself without end" in found.message


def test_an_interrupt_goes_through():
    def f(x, gamma, beta, eps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        layer_norm.diagnose(f)
    assert sys.stdout is not None and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# ------------------------------------------------------------------------------ slow


def forever(x, gamma, beta, eps):
    while True:
        pass


def stubborn(x, gamma, beta, eps):
    while True:
        try:  # noqa: SIM105
            time.sleep(0.01)
        except:  # noqa: E722
            pass


def asleep(x, gamma, beta, eps):
    time.sleep(60)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm signals on this platform")
@pytest.mark.parametrize("f", [forever, asleep, stubborn])
def test_slow_is_stopped(f, monkeypatch):
    monkeypatch.setattr(running.run, "__defaults__", (0.3,))
    began = time.perf_counter()
    found = layer_norm.diagnose(f)
    assert time.perf_counter() - began < 5
    assert (found.outcome, found.mistake) == ("raised", "too_slow")


def test_it_works_outside_the_main_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(layer_norm.diagnose(right)))
    thread.start()
    thread.join()
    assert found[0].outcome == "correct"


# ------------------------------------------------------------------------------ nothing is left changed


def everything():
    return (
        np.geterr(),
        repr(np.get_printoptions()),
        random.getstate(),
        repr(np.random.get_state()),
        sys.getrecursionlimit(),
        list(warnings.filters),
        sys.stdout,
        sys.stderr,
        signal.getsignal(signal.SIGINT),
        os.getcwd(),
    )


def test_nothing_is_left_changed(capsys):
    def vandal(x, gamma, beta, eps):
        np.seterr(all="raise")
        np.set_printoptions(precision=1)
        random.seed(1)
        np.random.seed(1)
        sys.setrecursionlimit(5000)
        warnings.simplefilter("error")
        print("out" * 1000)
        print("err", file=sys.stderr)
        sys.stdout = None
        warnings.warn("loud", stacklevel=1)
        return x

    before = everything()
    layer_norm.diagnose(vandal)
    assert everything() == before
    assert capsys.readouterr() == ("", "")


def test_the_probes_stay_as_they_are():
    def vandal(x, gamma, beta, eps):
        x[...] = gamma[...] = beta[...] = 7
        return x

    assert layer_norm.diagnose(vandal).mistake.startswith("input_changed")
    assert layer_norm.diagnose(right).outcome == "correct"


def test_an_in_place_change_is_named_with_what_else_is_wrong():
    def f(x, gamma, beta, eps):
        x -= x.mean(axis=-1, keepdims=True)
        return x / x.std(axis=-1, keepdims=True) * gamma + beta

    found = layer_norm.diagnose(f)
    assert found.mistake == "input_changed+eps_missing"
    assert "mean is subtracted" in found.message and "eps is missing" in found.message


def scaled_in_place(grads, max_norm):
    for g in grads:
        g *= 0.5
    return grads


def without_the_last(grads, max_norm):
    grads.pop()
    return grads


def turned_round(grads, max_norm):
    grads.reverse()
    return grads


@pytest.mark.parametrize(
    "f, words",
    [
        (scaled_in_place, "`grads.copy()` copies only the list, not its arrays"),
        (without_the_last, "`.pop()`"),
        (turned_round, "`grads[::-1]`"),
    ],
)
def test_lists_that_are_changed(f, words):
    found = exercises.clip_by_global_norm.diagnose(f)
    assert found.mistake == "input_changed" and words in found.message


def cut(outputs, keep):
    """The outputs with their lists cut short."""
    short = [out[:keep] if isinstance(out, list) else out for out in outputs]
    return tuple(short) if len(short) > 1 else short[0]


LISTS = [one for one in exercises.ALL.values() if any(name.endswith("[]") for name in one.outputs)]


@pytest.mark.parametrize("exercise", LISTS, ids=lambda one: one.name)
@pytest.mark.parametrize("keep", [0, 1, -1])
@pytest.mark.parametrize("when", ["always", "sometimes"])
def test_lists_that_are_too_short(exercise, keep, when):
    calls = []

    def f(*args):
        calls.append(args)
        got = exercise.reference(*args)
        outputs = got if len(exercise.outputs) > 1 else [got]
        return got if when == "sometimes" and len(calls) % 2 else cut(outputs, keep)

    f.__signature__ = inspect.signature(exercise.reference)
    found = exercise.diagnose(f)
    assert found.outcome == "wrong" and found.mistake != "all_nan"
    if when == "always":
        assert re.search(r"has \d+ entr", found.message) or found.mistake == "first_only"
        assert "times the right one" not in found.message


def test_none_on_some_inputs_only():
    def clip_by_global_norm(grads, max_norm):
        length = np.sqrt(sum((g**2).sum() for g in grads))
        if length > max_norm:
            return [g * max_norm / (length + 1e-6) for g in grads]

    found = exercises.clip_by_global_norm.diagnose(clip_by_global_norm)
    assert (
        found.mistake == "none_returned" and "Sometimes" in found.message and "`max_norm =" in found.message
    )


def test_what_reverse_gives_is_no_list():
    def backprop_chain(x, Ws, dout, residual=False):
        dhs, dWs = exercises.backprop_chain.reference(x, Ws, dout, residual)
        return dhs.reverse(), dWs

    found = exercises.backprop_chain.diagnose(backprop_chain)
    assert found.mistake == "none_returned" and "`.reverse()`" in found.message


@pytest.mark.parametrize(
    "instead",
    [None, ValueError("one value"), "one value", np.ones((1, 4)), (None, None, None), (np.ones(2), np.ones(3), np.ones(1))],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("name", ["one_value_not_refused", "one_example_in_evaluation"])
def test_what_is_returned_in_a_special_case(instead, name):
    def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps):
        if len(x) == 1 and (training if name == "one_value_not_refused" else not training):
            return instead
        return exercises.batch_norm.reference(
            x, gamma, beta, running_mean, running_var, training, momentum, eps
        )

    found = exercises.batch_norm.diagnose(batch_norm)
    assert (found.outcome, found.mistake) == ("wrong", name), found.message
    assert "yours" in found.message.lower()


# ------------------------------------------------------------------------------ parameters in another order


def orders(exercise):
    """The parameters in every other order, the first two exchanged, and turned round."""
    names = exercise.parameters
    return dict.fromkeys([(names[1], names[0], *names[2:]), names[::-1]])


@pytest.mark.parametrize("exercise", exercises.ALL.values(), ids=lambda one: one.name)
def test_parameters_in_another_order(exercise):
    for order in orders(exercise):
        space = {"right": exercise.reference}
        by_name = ", ".join(f"{name}={name}" for name in exercise.parameters)
        exec(f"def f({', '.join(order)}):\n    return right({by_name})", space)
        found = exercise.diagnose(space["f"])
        assert (found.outcome, found.mistake) == ("wrong", "arguments_swapped")
        assert f"`({', '.join(order)})`" in found.message and "is right" in found.message


def test_another_order_and_what_else_is_wrong():
    def pre_norm_block(x, norm, f):
        return f(norm(x))

    found = exercises.pre_norm_block.diagnose(pre_norm_block)
    assert found.mistake.startswith("arguments_swapped+") and "left to mend" in found.message


def test_names_in_another_order_by_which_nothing_goes_wrong():
    """What counts is what a function gives, not what it calls its arguments."""

    def residual_block(f, x):
        return f + x(f)

    assert exercises.residual_block.diagnose(residual_block).outcome == "correct"


# ------------------------------------------------------------------------------ exceptions


@pytest.mark.parametrize(
    "body, words",
    [
        ("return [g * c for g in np.array(grads)]", "in a loop"),
        ("return [np.linalg.norm(np.concatenate(grads)) * g for g in grads]", "in a loop"),
        ("return [np.linalg.norm(grads) * g for g in grads]", "in a loop"),
        ("return np.sqrt(np.sum(grads**2))", "in a loop"),
        ("return grads * 0.5", "in a loop"),
        ("return [g ^ 2 for g in grads]", "write `**`"),
        ("return [sqrt(g) for g in grads]", "`np.sqrt`"),
        ("return [t * g for g in grads]", "spelled the same"),  # not PyTorch's .t
        ("return [g * scale_ for g in grads]", "spelled the same"),
        ("with grads[0]: return grads", "types"),
        ("return [math.exp(1) * g for g in grads]", "`import math`"),
        ("return [g.mul_(2) for g in grads]", "PyTorch"),
        ("return [g.mm(g) for g in grads]", "`@`"),
        ("a, b, c, d = grads", "several names"),
        ("return grads[0](2)", "a `*` missing"),
        ("return [g.shape(-1) for g in grads]", "square brackets: `x.shape[-1]`"),
        ("return [np.mean[g, -1] for g in grads]", "Round brackets"),
        ("return [np.mean(g, keep_dims=True) for g in grads]", "`keepdims`"),
        ("return [np.mean(g, axes=-1) for g in grads]", "`axis`"),
        ("return [np.mean(g, correction=1) for g in grads]", "`ddof`"),
        ("return [np.mean(g, -1, True) for g in grads]", "`keepdims=True`"),
        ("return [g.div(2) for g in grads]", "`/`"),
        ("return [np.variance(g) for g in grads]", "`np.var`"),
        ("import torch_is_not_here", "NumPy is enough"),
        ("return [np.einsum('...i,...i->i', g, g) for g in grads]", "np.einsum"),
        ("return [np.ones((2, 3, 4)) * np.ones((2, 3)) for g in grads]", "`a[..., None]`"),
        ("return [g.shape[7] for g in grads]", "more axes"),
        ("a = np.ones(2); a /= np.ones((3, 2))", "`a = a + b`"),
        ("return grads()", "one of them"),
    ],
)
def test_what_to_try_after_an_exception(body, words):
    space = {"np": np}
    exec(f"def clip_by_global_norm(grads, max_norm):\n    {body}", space)
    found = exercises.clip_by_global_norm.diagnose(space["clip_by_global_norm"])
    assert found.outcome == "raised" and words in found.message, found.message


def test_what_runs_for_some_inputs_only_is_judged_there():
    def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps):
        if training:
            mean, var = x.mean(axis=0), x.var(axis=0)
            y = gamma * (x - mean) / np.sqrt(var + eps) + beta
            return y, momentum * running_mean + (1 - momentum) * mean, running_var
        return gamma * (x - running_mean) / np.sqrt(running_var + eps) + beta, running_mean, running_var

    found = exercises.batch_norm.diagnose(batch_norm)
    assert (
        found.outcome == "raised" and found.mistake == "two_axes_only+momentum_reversed+running_not_updated"
    )
    assert "`training = False` your answer is right" in found.message


def test_missing_outputs_in_one_mode_only():
    def batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps):
        got = exercises.batch_norm.reference(
            x, gamma, beta, running_mean, running_var, training, momentum, eps
        )
        return got if training else got[0]

    found = exercises.batch_norm.diagnose(batch_norm)
    assert found.mistake == "outputs_missing" and "`training = False`" in found.message


@pytest.mark.parametrize(
    "without, words",
    [
        ("[g * (1 / total) for g in grads]", "total of 0"),
        ("None", "do not come back as 0."),
        ("[g[None] for g in grads]", "do not come back as 0."),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_gradients_that_are_all_0(without, words):
    """What is returned for them instead is told as what it is."""
    right, total = exercises.clip_by_global_norm.reference, np.zeros(())

    def clip_by_global_norm(grads, max_norm):
        if any(map(np.any, grads)):
            return right(grads, max_norm)
        return eval(without, {"grads": grads, "total": total})

    found = exercises.clip_by_global_norm.diagnose(clip_by_global_norm)
    assert found.mistake == "zero_gradients" and words in found.message
    assert ("total of 0" in found.message) == (words == "total of 0")


CHANGING = ("layer_norm_backward", "batch_norm_backward", "rms_norm_backward", "residual_backward")


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize("then", [None, "text", np.zeros(3)])
def test_a_function_that_gives_no_answer_any_more_stops_no_check(name, then):
    """What holds is asked of further inputs, of which nothing is known."""
    exercise, calls = exercises.ALL[name], []

    def f(*args):
        calls.append(args)
        known = any(running.unchanged(args, probe) for probe in exercise.probes)
        outputs = [3 * out + 1 for out in exercise.reference(*args)]
        return tuple(outputs) if known else (then,) * len(outputs)

    f.__signature__ = inspect.signature(exercise.reference)
    assert exercise.diagnose(f).outcome == "wrong"
    assert len(calls) > len(exercise.probes)


def test_keyword_only_parameters_are_told_as_that():
    def sgd_steps(w, *, batches, grad_fn, lr):
        return w

    assert exercises.sgd_steps.diagnose(sgd_steps).mistake == "wrong_arguments"


def test_float32_is_remarked_on_though_no_digit_is_wrong():
    def residual_block(x, f):
        return (x + f(x)).astype(np.float32)

    assert exercises.residual_block.diagnose(residual_block).mistake == "float32_inside"


# ------------------------------------------------------------------------------ junk

JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5),
    st.complex_numbers(), st.dates(), st.sets(st.integers(), max_size=3),
    st.recursive(st.floats() | st.none(), lambda s: st.lists(s, max_size=4) | st.tuples(s, s, s), max_leaves=8),
    arrays.arrays(
        st.sampled_from([np.float64, np.float16, np.int8, np.bool_, np.complex64, object]),
        arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    ),
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(list(exercises.ALL)), junk=JUNK)
def test_junk_is_never_correct_and_never_raises(name, junk):
    found = exercises.ALL[name].diagnose(lambda *args: junk)
    assert found.outcome in ("wrong", "raised")
    assert found.message


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(list(exercises.ALL)), junk=JUNK)
def test_junk_for_a_function(name, junk):
    assert exercises.ALL[name].diagnose(junk).outcome in ("wrong", "not attempted")


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(list(exercises.ALL)), noise=st.floats(0.01, 100), seed=st.integers(0, 99))
def test_a_disturbed_answer_is_never_correct(name, noise, seed):
    exercise = exercises.ALL[name]

    def disturb(value):
        if isinstance(value, (list, tuple)):
            return type(value)(disturb(v) for v in value)
        return np.asarray(value) * (1 + noise * np.random.default_rng(seed).uniform(0.1, 1, np.shape(value)))

    assert exercise.diagnose(lambda *args: disturb(exercise.reference(*args))).outcome == "wrong"
