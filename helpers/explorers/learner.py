"""The learner's own function in an explorer: used as it is, replaced by the reference while it is blank."""

import functools
from numbers import Real

import numpy as np

from ..live import Told


def given(exercise, function):
    """The function that the picture runs: the learner's, or the reference when there is none yet.

    Told when the learner's function returns nothing, or not as many things as it should.
    """
    if function is None or exercise.is_blank(function):
        return exercise.reference

    @functools.wraps(function)
    def checked(*arguments):
        result = function(*arguments)
        if result is None:
            raise Told(f"Your {exercise.name} returned None: is its `return` missing?")
        expected = len(exercise.outputs)
        if expected > 1 and (not isinstance(result, tuple | list) or len(result) != expected):
            count = len(result) if isinstance(result, tuple | list) else 1
            things = "one thing" if count == 1 else f"{count} things"
            raise Told(f"Your {exercise.name} returned {things}; the picture needs {expected}.")
        return result

    return checked


def shaped(exercise, function):
    """`given`, on copies of all arrays; Told when the result is not shaped like x, the first argument."""
    function = given(exercise, function)

    def run(x, *rest):
        y = np.asarray(function(*_copies(x, *rest)))
        if y.shape != x.shape:
            raise Told(f"Your {exercise.name} gave shape {y.shape} for an input of shape {x.shape}.")
        return y

    return run


def only_dx(exercise, function):
    """Of `given` the first result, on copies of all arrays; Told when it is not shaped like x, the second argument."""
    function = given(exercise, function)

    def run(dy, x, *rest):
        dx = np.asarray(function(*_copies(dy, x, *rest))[0])
        if dx.shape != x.shape:
            raise Told(f"Your {exercise.name} gave a dx of shape {dx.shape} for an x of shape {x.shape}.")
        return dx

    return run


def _copies(*arguments):
    return [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]


def number(exercise, function):
    """`given`; Told when the result is no number."""
    function = given(exercise, function)

    def run(*arguments):
        result = function(*arguments)
        if not isinstance(result, Real):
            raise Told(f"Your {exercise.name} returned a {type(result).__name__}; a number is expected.")
        return float(result)

    return run


def about(exercise, function, used=True, drawn="Drawn"):
    """What the sentence adds about whose function drew the picture, or what of it; nothing when none was passed."""
    if function is None or not used:
        return ""
    if exercise.is_blank(function):
        return f" Your {exercise.name} is still blank: this is the reference."
    return f" {drawn} with your {exercise.name}."


def unlike(what, drawn, reference, marks="black marks"):
    """What the sentence adds when what is drawn is not the reference's; marks: how the reference is drawn."""
    same = np.allclose(drawn, reference, rtol=1e-6, atol=1e-9)
    return "" if same else f" {what} differ from the reference's ({marks})."


def about_all(*pairs):
    """The same of several pairs (exercise, function), in one sentence or two."""
    passed = [(exercise, function) for exercise, function in pairs if function is not None]
    blank = [exercise.name for exercise, function in passed if exercise.is_blank(function)]
    drawn = [exercise.name for exercise, _ in passed if exercise.name not in blank]
    remark = f" Drawn with your {' and '.join(drawn)}." if drawn else ""
    if len(blank) > 1:
        return f" Your {' and '.join(blank)} are still blank: these are the references."
    return remark + (f" Your {blank[0]} is still blank: this is the reference." if blank else "")
