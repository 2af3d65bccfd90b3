"""Exercises whose answer stands nowhere: a seed chooses a specification, and everything comes from that.

A specification chooses one of several for each decision (which axis, which spread, where eps stands ...). Each
choice is one line of a table below: its words in the prompt, its piece of the solution, and what a learner is
told who chose it by mistake. So the prompt, the solution and the mistakes cannot disagree.
"""

import functools
import hashlib
import random
import re
from dataclasses import dataclass

import numpy as np

from helpers import exercises
from helpers.exercises.blocks import branch, norm
from helpers.exercises.core import Diagnosis, Exercise
from helpers.exercises.norms import gains, rows
from helpers.exercises.slips import Slip, Space

# ------------------------------------------------------------------------------ what can be chosen


@dataclass(frozen=True)
class Choice:
    """prompt: what is asked for; code: how it is done; wrong: what is said to who does it unasked."""

    prompt: str  # "" for what is a mistake only
    code: dict | str
    wrong: str


NORM = {
    "axis": {
        "last": Choice(
            "Statistics are taken over the last axis, for each row by itself.",
            {"h": "x", "axis": "-1", "back": ""},
            "you take the statistics of each row",
        ),
        "first": Choice(
            "Statistics are taken over the first axis, for each column by itself.",
            {"h": "x", "axis": "0", "back": ""},
            "you take the statistics over the first axis",
        ),
        "halves": Choice(
            "Each row is cut into two halves of equal length, and each half has statistics of its own.",
            {"h": "x.reshape(*x.shape[:-1], 2, -1)", "axis": "-1", "back": ".reshape(x.shape)"},
            "you take the statistics of each half of a row",
        ),
        "all": Choice(
            "", {"h": "x", "axis": "None", "back": ""}, "you take one statistic of the whole array"
        ),
    },
    "numerator": {
        "centred": Choice("The numerator is the value minus the mean.", "h - mean", "you subtract the mean"),
        "as it is": Choice(
            "The numerator is the value itself: no mean is subtracted from it.", "h", "you leave the mean in"
        ),
    },
    "spread": {
        "std": Choice(
            "The spread is the standard deviation (about the mean, divided by n).",
            "np.sqrt(((h - mean)**2).mean(axis={axis}, keepdims=True))",
            "you use the standard deviation",
        ),
        "rms": Choice(
            "The spread is the root mean square of the values as they are.",
            "np.sqrt((h**2).mean(axis={axis}, keepdims=True))",
            "you use the root mean square of the values",
        ),
        "mean_abs": Choice(
            "The spread is the mean of the numerator's absolute values.",
            "np.abs(c).mean(axis={axis}, keepdims=True)",
            "you use the mean absolute value of the numerator",
        ),
        "sum": Choice(
            "", "np.sqrt((c**2).sum(axis={axis}, keepdims=True))", "you sum where a mean is asked for"
        ),
        "square": Choice(
            "", "(c**2).mean(axis={axis}, keepdims=True)", "you take no root of the mean square"
        ),
        "ddof": Choice("", "h.std(axis={axis}, keepdims=True, ddof=1)", "you divide by n - 1 (ddof=1)"),
    },
    "eps": {
        "inside": Choice(
            "The numerator is divided by sqrt(spread**2 + eps).",
            "np.sqrt(s**2 + eps)",
            "eps stands inside a root",
        ),
        "outside": Choice(
            "The numerator is divided by spread + eps.", "s + eps", "eps is added to the spread"
        ),
        "missing": Choice("", "s", "eps is not used"),
    },
    "gain": {
        "plain": Choice("The gain is `{gain}`.", "{gain}", "you multiply by {gain}"),
        "one_plus": Choice("The gain is 1 + `{gain}`.", "(1 + {gain})", "you multiply by 1 + {gain}"),
        "none": Choice("", "1", "you multiply by nothing"),
    },
    "residual": {
        "none": Choice("No x is added anywhere.", ("x_hat", ""), "you add no x"),
        "end": Choice("At the very end x is added to the result.", ("x_hat", " + x"), "you add x at the end"),
        "before": Choice(
            "Before the gain is applied, x is added to the quotient.",
            ("(x_hat + x)", ""),
            "you add x before the gain",
        ),
    },
    "shift": {
        "after": Choice(
            "`beta` is added after the gain.", "{h} * {gain} + beta", "you add beta after the gain"
        ),
        "before": Choice(
            "`beta` is added before the gain is applied.",
            "({h} + beta) * {gain}",
            "you add beta before the gain",
        ),
        "none": Choice("", "{h} * {gain}", "you add no beta"),
    },
}

BLOCK = {
    "skip": {
        "x": Choice("The shortcut carries x.", "x", "your shortcut carries x"),
        "norm(x)": Choice("The shortcut carries norm(x).", "norm(x)", "your shortcut carries norm(x)"),
    },
    "inner": {
        "x": Choice("The branch f is given x.", "f(x)", "your branch is given x"),
        "norm(x)": Choice("The branch f is given norm(x).", "f(norm(x))", "your branch is given norm(x)"),
    },
    "outer": {
        "plain": Choice("What f returns is used as it is.", "{}", "you use what f returns as it is"),
        "norm": Choice("What f returns is normalized by norm.", "norm({})", "you normalize what f returns"),
    },
    "join": {
        "sum": Choice("Shortcut and branch are added.", "{} + {}", "you add shortcut and branch"),
        "branch twice": Choice(
            "To the shortcut twice the branch is added.", "{} + 2 * {}", "you take the branch twice"
        ),
        "double": Choice(
            "To twice the shortcut the branch is added.", "2 * {} + {}", "you take the shortcut twice"
        ),
        "difference": Choice(
            "The branch is subtracted from the shortcut.",
            "{} - {}",
            "you subtract the branch from the shortcut",
        ),
    },
    "last": {
        "plain": Choice("Nothing follows.", "{}", "nothing follows in yours"),
        "norm": Choice("Last, norm is applied to that.", "norm({})", "you apply norm last"),
    },
}

# ------------------------------------------------------------------------------ from choices to a function


def _norm_code(name, chosen):
    gain = "w" if name == "rms_norm_offset" else "gamma"
    shift = "shift" in chosen
    code = {decision: NORM[decision][choice].code for decision, choice in chosen.items()}
    over, (quotient, end) = code["axis"], code["residual"]
    scaled = (code["shift"] if shift else "{h} * {gain}").format(
        h=quotient, gain=code["gain"].format(gain=gain)
    )
    return [
        f"def {name}(x, {gain}, {'beta, ' if shift else ''}eps):",
        f"h = {over['h']}",
        f"mean = h.mean(axis={over['axis']}, keepdims=True)",
        f"c = {code['numerator']}",
        f"s = {code['spread'].format(axis=over['axis'])}",
        f"x_hat = (c / ({code['eps']})){over['back']}",
        f"return {scaled}{end}",
    ]


def _block_code(name, chosen):
    code = {decision: BLOCK[decision][choice].code for decision, choice in chosen.items()}
    joined = code["join"].format(code["skip"], code["outer"].format(code["inner"]))
    return [f"def {name}(x, f, norm):", f"return {code['last'].format(joined)}"]


def _norm_probes():
    """Arguments of a normalization with beta; small and whole numbers first."""
    x = np.array([[1.0, 3.0, -2.0, 6.0], [4.0, -1.0, 0.0, 2.0], [2.0, 5.0, 1.0, -3.0]])
    cases = [(x, 0.25)] + [
        (rows(*shape), eps) for shape in ((4, 6), (5, 8), (2, 3, 4)) for eps in (1e-5, 0.5)
    ]
    cases += [(0.01 * rows(4, 4), 1e-3), (np.full((3, 4), 2.0), 0.5)]
    return [(x, *gains(x.shape[-1]), eps) for x, eps in cases]


def _block_probes():
    x = np.array([[1.0, 3.0, -2.0, 6.0], [4.0, -1.0, 0.0, 2.0]])
    return [(a, branch(a.shape[-1], a.shape[-1], 1), norm(a.shape[-1], 7)) for a in (x, rows(4, 6), rows(2, 3, 4))]  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Exercises that are varied in the same way."""

    table: dict
    code: callable
    probes: callable  # () -> arguments with all that the family knows
    textbook: dict  # what the lesson asks for
    drawn: tuple  # decisions that the seed takes


_ROW = {"axis": "last", "eps": "inside", "gain": "plain", "residual": "none"}
_LAYER = _ROW | {"numerator": "centred", "spread": "std", "shift": "after"}
_RMS = _ROW | {"numerator": "as it is", "spread": "rms"}
_PRE = {"skip": "x", "inner": "norm(x)", "outer": "plain", "join": "sum", "last": "plain"}
FAMILIES = {
    "layer_norm": Family(NORM, _norm_code, _norm_probes, _LAYER, tuple(NORM)),
    "rms_norm": Family(NORM, _norm_code, _norm_probes, _RMS, tuple(NORM)[:-1]),
    "rms_norm_offset": Family(NORM, _norm_code, _norm_probes, _RMS | {"gain": "one_plus"}, tuple(NORM)[:-1]),
    "pre_norm_block": Family(BLOCK, _block_code, _block_probes, _PRE, tuple(BLOCK)),
    "post_norm_block": Family(
        BLOCK, _block_code, _block_probes, _PRE | {"inner": "x", "last": "norm"}, tuple(BLOCK)
    ),
}


@functools.cache
def _function(name, chosen):
    """The function of a specification, made from the text of its solution."""
    names = {"np": np}
    exec(code(name, dict(chosen)), names)
    return names[name]


def code(name, chosen):
    """The solution of a specification as text."""
    first, *rest = FAMILIES[name].code(name, chosen)
    if not any(re.search(r"- mean\b", line) for line in rest):
        rest = [line for line in rest if not line.startswith("mean =")]
    return "\n".join([first, *(f"    {line}" for line in rest)]) + "\n"


# ------------------------------------------------------------------------------ from a seed to an exercise


def choose(name, seed):
    """The specification that a seed (a text) gives for an exercise, {decision: choice}; never the lesson's own."""
    family = FAMILIES[name]
    rng = random.Random(hashlib.sha256(f"{seed}/{name}".encode()).digest())
    for _ in range(1000):
        chosen = {d: rng.choice([c for c, it in family.table[d].items() if it.prompt]) for d in family.drawn}
        different = [d for d in family.drawn if chosen[d] != family.textbook[d]]
        if len(different) >= 2 and _tells(family, name, chosen):
            return chosen
    raise RuntimeError(f"no variant of {name} was found")


def _tells(family, name, chosen):
    """Does every decision matter: does any other choice give other numbers? And is it no other lesson's answer?"""
    args = _arguments(name, family.probes()[0])
    right = _outputs(name, chosen, args)
    others = [chosen | {d: c} for d in chosen for c in family.table[d] if c != chosen[d]]
    others += [other.textbook for other in FAMILIES.values() if set(other.textbook) == set(chosen)]
    return not any(np.allclose(right, _outputs(name, other, args), rtol=1e-2, atol=1e-2) for other in others)


def _arguments(name, args):
    """The arguments that this exercise takes, of all that its family knows."""
    return args if FAMILIES[name].table is BLOCK or name == "layer_norm" else (*args[:2], args[3])


def _outputs(name, chosen, args):
    with np.errstate(all="ignore"):
        return _function(name, tuple(chosen.items()))(*args)


def prompt(name, chosen):
    """The text of a specification."""
    family = FAMILIES[name]
    gain = "w" if name == "rms_norm_offset" else "gamma"
    asked = [family.table[d][c].prompt.format(gain=gain) for d, c in chosen.items()]
    head = family.code(name, chosen)[0].removeprefix("def ").rstrip(":")
    shapes = "`x` has shape (..., d)" + (
        " with two or more axes and d even; gain and shift have shape (d,)."
        if family.table is NORM
        else "; `f` and `norm` are functions that keep the shape."
    )
    return (
        f"Write `{head}`. It is **not** the function of the lesson: read each line.\n\n"
        + "\n".join(f"- {line}" for line in asked)
        + f"\n\n{shapes} Return an array shaped like `x`; leave `x` as it is."
    )


@functools.cache
def exercise(name, seed):
    """The exercise `name` as the seed varies it."""
    if name not in FAMILIES:
        raise ValueError(f"{name} has no variants; there are some of {', '.join(FAMILIES)}")
    family, chosen = FAMILIES[name], choose(name, seed)

    def model(*args, **choices):
        other = choices.pop("whole", None)
        return ((_outputs(name, dict(other) if other else chosen | choices, args),),)

    gain = "w" if name == "rms_norm_offset" else "gamma"
    lesson = (
        "This is the function of the lesson. The exercise asks for another one: read its text line by line."
    )
    slips = [Slip("textbook", "whole", tuple(family.textbook.items()), lesson)]
    for decision, right in chosen.items():
        asked = family.table[decision][right].prompt.format(gain=gain)
        slips += [
            Slip(
                f"{decision}: {choice}", decision, choice, f"{it.wrong.format(gain=gain)}. Asked for: {asked}"
            )
            for choice, it in family.table[decision].items()
            if choice != right
        ]
    original = exercises.ALL[name]
    return Varied(
        reference=_function(name, tuple(chosen.items())),
        outputs=("y",),
        probes=[_arguments(name, args) for args in family.probes()],
        space=Space(model, slips),
        prompt=prompt(name, chosen),
        hints=[],
        difficulty=original.difficulty + 1,
        minutes=original.minutes,
    )  # fmt: skip


class Varied(Exercise):
    """An exercise whose check never says what the right numbers are."""

    def _unknown(self, f, outputs, wrong):
        right = [self._right(i, output) for i, output in enumerate(outputs)]
        shape = outputs[right.index(False)][0][0].shape
        text = f"It is right for {sum(right)} of {len(right)} inputs; for one it returns an array of shape {shape}."
        return Diagnosis(
            "wrong", None, text + " No mistake that this check knows: go through the text line by line."
        )
