"""Exercises whose answer stands nowhere: a seed chooses a specification, and everything comes from that.

A specification chooses one of several for each decision (which axis, which spread, where eps stands ...). Each
choice stands in a table of `ingredients`: its words in the prompt, its piece of the formula and of the
solution, and what a learner is told who chose it by mistake. So these cannot disagree.
"""

import functools
import hashlib
import random
import textwrap

import numpy as np

from helpers import exercises
from helpers.exercises.comparing import reader
from helpers.exercises.core import Diagnosis, Exercise
from helpers.exercises.slips import Slip, Space

from .frames import FAMILIES, fill

LESSON = "This is the function of the lesson. The exercise asks for another one: read its text line by line."
SIGNS = (("np.", ""), ("**2", "²"), ("**", "^"), (" * ", " · "))  # a formula as it is written by hand

# ------------------------------------------------------------------------------ from a specification to a function


def _pieces(name, chosen):
    """What the pieces in curly brackets stand for."""
    family, pieces = FAMILIES[name], {}
    for decision, choice in chosen.items():
        made = family.table[decision][choice].code
        pieces |= made if isinstance(made, dict) else {decision: made}
    return family.fixed | pieces


def code(name, chosen):
    """The solution of a specification as text."""
    body = fill(FAMILIES[name].solution, _pieces(name, chosen))
    return f"def {FAMILIES[name].head}:\n" + textwrap.indent(body, "    ") + "\n"


@functools.lru_cache(10_000)
def _function(name, chosen):
    names = {"np": np}
    exec(code(name, dict(chosen)), names)
    return names[name]


def function(name, chosen):
    """The function of a specification, made from the text of its solution."""
    return _function(name, tuple(chosen.items()))


def _outputs(name, f, args):
    """What a function returns, as a check reads it; None where it fails."""
    try:
        with np.errstate(all="ignore"):
            return reader(exercises.ALL[name].outputs)(f(*args))
    except Exception:
        return None


# ------------------------------------------------------------------------------ from a seed to a specification


@functools.cache
def choose(name, seed):
    """The specification that a seed (a text) gives for an exercise, {decision: choice}; never the lesson's own.

    ValueError when the exercise has no variants.
    """
    if name not in FAMILIES:
        raise ValueError(f"{name} has no variants; there are some of {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    rng = random.Random(hashlib.sha256(f"{seed}/{name}".encode()).digest())
    for _ in range(1000):
        chosen = {d: rng.choice(_asked(choices)) for d, choices in family.table.items()}
        different = [d for d in chosen if chosen[d] != family.textbook[d]]
        if len(different) >= 2 and _is_its_own(name, chosen):
            return chosen
    raise RuntimeError(f"no variant of {name} was found")


def _asked(choices):
    """The choices that can be asked for."""
    return [name for name, choice in choices.items() if choice.prompt]


def _is_its_own(name, chosen):
    """Does every decision matter: does any other choice give other numbers? And is it no lesson's answer?"""
    family, table = FAMILIES[name], FAMILIES[name].table
    if any(part.items() <= chosen.items() for part in family.known):
        return False
    others = [function(name, chosen | {d: c}) for d in chosen for c in _asked(table[d]) if c != chosen[d]]
    arity = len(exercises.ALL[name].parameters)
    others += [it.reference for it in exercises.ALL.values() if len(it.parameters) == arity]
    return all(_differ(name, function(name, chosen), other) for other in others)


def _differ(name, f, g):
    """Do two functions give other numbers on some input, by more than a hundredth?"""
    return not all(_near(_outputs(name, f, args), _outputs(name, g, args)) for args in FAMILIES[name].probes)


def _near(one, other):
    if one is None or other is None:
        return one is other
    pairs = [(a, b) for parts, others in zip(one, other) for a, b in zip(parts, others)]
    same = len(one) == len(other) and all(len(a) == len(b) for a, b in zip(one, other))
    return same and all(
        a.shape == b.shape and np.max(np.abs(a - b)) <= 0.01 * np.max(np.abs(a)) for a, b in pairs
    )


# ------------------------------------------------------------------------------ from a specification to an exercise


def formula(name, chosen):
    """The formulas of a specification, as text."""
    text = fill(FAMILIES[name].formula, _pieces(name, chosen))
    for written, shown in SIGNS:
        text = text.replace(written, shown)
    return text


def prompt(name, chosen):
    """The text of a specification."""
    family, pieces = FAMILIES[name], _pieces(name, chosen)
    asked = [fill(family.table[d][c].prompt, pieces) for d, c in chosen.items()]
    return "\n\n".join([
        f"Write `{family.head}`. It is **not** the function of the lesson: read each line.",
        family.task,
        "\n".join(f"- {line}" for line in asked),
        f"In formulas:\n\n```text\n{formula(name, chosen)}\n```" + f"\n\n{family.where}".rstrip(),
        f"{family.returned} Leave the arguments as they are.",
    ])  # fmt: skip


@functools.cache
def exercise(name, seed):
    """The exercise `name` as the seed varies it; ValueError when it has no variants."""
    chosen, original = choose(name, seed), exercises.ALL[name]
    read = reader(original.outputs)

    def model(*args, lesson=None, **choices):
        return read((lesson or function(name, chosen | choices))(*args))

    return Varied(
        reference=function(name, chosen),
        outputs=original.outputs,
        probes=FAMILIES[name].probes,
        space=Space(model, [Slip("textbook", "lesson", original.reference, LESSON), *_slips(name, chosen)]),
        prompt=prompt(name, chosen),
        hints=[],
        difficulty=original.difficulty,
        minutes=original.minutes,
    )


def _slips(name, chosen):
    """Each other choice that gives other numbers, as a mistake."""
    pieces, right = _pieces(name, chosen), function(name, chosen)
    slips = []
    for decision, choices in FAMILIES[name].table.items():
        asked = fill(choices[chosen[decision]].prompt, pieces)
        for choice, it in choices.items():
            if choice != chosen[decision] and _differ(
                name, right, function(name, chosen | {decision: choice})
            ):
                text = f"{fill(it.wrong, pieces)}. Asked for: {asked}"
                slips.append(Slip(f"{decision}: {choice}", decision, choice, text))
    return slips


class Varied(Exercise):
    """An exercise whose check never says what the right numbers are."""

    def _unknown(self, f, outputs, wrong):
        right = sum(self._right(i, output) for i, output in enumerate(outputs))
        text = f"It is right for {right} of {len(outputs)} inputs."
        good = [name.removesuffix("[]") for k, name in enumerate(self.outputs) if k not in wrong]
        text += f" Right for all: {', '.join(good)}." if good else ""
        return Diagnosis(
            "wrong", None, text + " No mistake that this check knows: go through the text line by line."
        )
