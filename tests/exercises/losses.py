"""What the arguments of an exercise may lose without its check noticing."""

import numpy as np

from helpers.exercises.comparing import alike, reader

LOSSES = {  # each of them somebody writes, on purpose or not, and it changes nothing where the inputs are too tame
    "its sign": np.abs,
    "what is positive": lambda a: -np.abs(a),
    "what is negative": lambda a: np.maximum(a, 0),
    "its decimals": np.round,
}


def _has_numbers(value):
    floats = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return floats or callable(value) or isinstance(value, list)


def _without(lose, value):
    """An array that has lost something; a list of them; a function whose results lose it."""
    if isinstance(value, list):
        return [_without(lose, v) for v in value]
    if callable(value):
        return lambda *args: lose(value(*args))
    return lose(value)


def unnoticed(exercise):
    """The pairs (argument, what it may lose) with which the reference still gives the right answers on all probes."""
    read, found = reader(exercise.outputs), set()
    for i, name in enumerate(exercise.parameters):
        for what, lose in LOSSES.items() if _has_numbers(exercise.probes[0][i]) else ():
            changed = [(*args[:i], _without(lose, args[i]), *args[i + 1 :]) for args in exercise.probes]
            with np.errstate(all="ignore"):
                got = [read(exercise.reference(*args)) for args in changed]
            if all(all(map(alike, one, want)) for one, want in zip(got, exercise.wanted)):
                found.add((name, what))
    return found
