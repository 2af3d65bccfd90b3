"""The space of mistakes: a layer written once more, with every decision that a learner takes as a switch.

A slip sets one decision to a wrong choice. Turning one switch, then two, and comparing with what the
learner's function gave finds the mistake from behaviour alone.
"""

import functools
import re
import warnings
from ast import literal_eval
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from .comparing import alike

# What a sentence may start with in small letters: names in the code.
NAMES = [
    "eps", "gamma", "beta", "running_mean", "running_var", "x", "w", "dx", "dW", "dgamma", "dbeta", "var", "sqrt",
    "rstd", "rstd**2", "g", "f", "f(x)", "ffn", "norm1", "norm2", "base_std", "n_layer", "mean(g)", "x_hat", "dy",
    "dz", "dh", "dout", "lr", "z", "x**3", "norm(x)", "mean(x**2)", "sum(g)", "max_norm", "mean(g * x_hat)", "sum(g * x_hat)", "n", "r", "r**2", "dr",
]  # fmt: skip


LITERAL = r"True|False|-?[\d.]+(e-?\d+)?|\('.*'\)"
ENTRY = r"^\S.*\n(?: {4}.*\n)+"  # a line that begins at the margin, and lines with four spaces


@dataclass(frozen=True)
class Slip:
    """One wrong choice: what it is called, and what to tell the learner."""

    name: str
    decision: str
    choice: object
    message: str


def read(catalogue, without=(), **words):
    """The slips of a catalogue (see the folder mistakes), with these words filled in.

    without: pairs (decision, choice) to leave out. ValueError for an entry that is not written as it should be.
    """
    slips = []
    for line in re.sub(ENTRY, "", catalogue, flags=re.MULTILINE).split("\n"):
        if line.strip():
            raise ValueError(f"this line of the catalogue belongs to no entry: `{line}`")
    for entry in re.findall(ENTRY, catalogue, re.MULTILINE):
        name, decision, choice, message = _parts(entry)
        slips.append(Slip(name, decision, choice, message.format(**words) if words else message))
    return [slip for slip in slips if (slip.decision, slip.choice) not in without]


@functools.cache  # several exercises share an entry
def _parts(entry):
    """Name, decision, choice and message of one entry."""
    first, *rest = entry.splitlines()
    found = re.fullmatch(r"(\w+): (\w+) = ?(.*)", first)
    if not found:
        raise ValueError(f"an entry begins with `name: decision = wrong choice`, not with `{first}`")
    name, decision, choice = found.groups()
    return name, decision, _literal(choice), " ".join(line.strip() for line in rest)


def _literal(text):
    """1e-12 and ('ddof', 'training') mean what they say; other choices are names or formulas."""
    return literal_eval(text) if re.fullmatch(LITERAL, text) else text


@dataclass(frozen=True)
class Space:
    """A model with switches, and the slips that turn them.

    model(*args, **choices) -> the outputs, each a tuple of arrays; without choices, the right ones.
    measured(probes, answers) -> more slips, whose choice is a number read off the learner's answers.
    named(names) -> a better message for a combination, or None.
    """

    model: Callable
    slips: list
    most: int = 2  # slips at once
    common: frozenset = frozenset()  # names of the frequent slips, of which three are tried at once too
    alone: list = field(default_factory=list)  # slips that are tried one at a time only
    measured: Callable = lambda probes, answers: []
    named: Callable = lambda names: None
    summary: Callable | None = None  # choices -> a sentence that says what the learner's function computes

    def outputs(self, slips, args):
        """What the model gives with these switches turned, or None when its shapes do not fit."""
        return self._run(slips, args)[0]

    def failure(self, slips, args):
        """The exception that the model raises with these switches turned, or None."""
        with quiet():
            return self._run(slips, args)[1]

    def _run(self, slips, args):
        try:
            return self.model(*args, **{slip.decision: slip.choice for slip in slips}), None
        except Exception as error:
            return None, error

    def message(self, slips):
        """What to tell the learner about these slips together."""
        text = _capital(self.named(frozenset(slip.name for slip in slips)) or "")
        if not text and len(slips) == 1:
            text = _capital(slips[0].message)
        elif not text:
            count = ("Two", "Three")[len(slips) - 2]
            numbered = zip(("First: ", "Second: ", "Third: "), slips)
            text = f"{count} things at once. " + " ".join(number + slip.message for number, slip in numbered)
        if self.summary:
            text = self.summary({slip.decision: slip.choice for slip in slips}) + " " + text
        return text


def _capital(text):
    """A capital letter at the start, unless a name in the code stands there."""
    named = text.startswith(("a * ", *(name + end for name in NAMES for end in (" ", ",", "'", "("))))
    return text if named else text[:1].upper() + text[1:]


@contextmanager
def quiet():
    """No word about overflow, NaN and the like: wrong choices make them."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def search(space, probes, answers, wrong, most=None):
    """The slips that explain the wrong outputs: a list of combinations, and the outputs left unexplained.

    probes: list of argument tuples; answers: outputs, or None where the function raised;
    wrong: indices of the outputs that are wrong; most: slips at once, if not as many as the space says.
    """
    found: dict = {}
    with quiet():
        slips = [*space.slips, *space.measured(probes, answers)]
        probes, answers = _wrong_first(space, probes, answers)
        for size in range(1, (most or max(space.most, 3 if space.common else 1)) + 1):
            left = set(wrong) - set(found)
            loose: dict = {}
            if not left:
                break
            if size > space.most:
                slips = [slip for slip in slips if slip.name in space.common]
            if size > 1:
                effects = [changed_by((slip,), space, probes) for slip in slips]
            for chosen in (
                zip(slips + space.alone) if size == 1 else _combinations(slips, size, effects, left)
            ):
                matching = _matching(space, chosen, probes, answers, left)
                if matching == "all":
                    return [chosen], set()
                if matching:  # one that changes nothing else says more truly what was done
                    fits = changed_by(chosen, space, probes) <= matching
                    for output in matching:
                        (found if fits else loose).setdefault(output, chosen)
            found = loose | found
    return list(dict.fromkeys(found[o] for o in sorted(found))), set(wrong) - set(found)


def _wrong_first(space, probes, answers):
    """The same probes and answers, those first that are wrong: there a slip that is not the one differs at once."""

    def right(pair):
        args, answer = pair
        want = space.outputs((), args)
        return answer is not None and want is not None and all(map(alike, answer, want))

    pairs = sorted(zip(probes, answers), key=right)
    return [args for args, _ in pairs], [answer for _, answer in pairs]


def changed_by(slips, space, probes):
    """Indices of the outputs that these slips together change on some probe; all of them when they fail on one."""
    changed = set()
    with quiet():
        for args in probes:
            got, want = space.outputs(slips, args), space.outputs((), args) or ()
            changed |= {i for i in range(len(want)) if got is None or not alike(got[i], want[i])}
    return changed


def _combinations(slips, size, effects, left):
    """Combinations of slips in different decisions that all change one output that is left."""
    for chosen in combinations(range(len(slips)), size):
        if len({slips[i].decision for i in chosen}) == size and left.intersection(
            *(effects[i] for i in chosen)
        ):
            yield tuple(slips[i] for i in chosen)


def _matching(space, chosen, probes, answers, left):
    """Which of the outputs that are left these slips reproduce on every probe; "all" if the others as well.

    A model that fails on every probe reproduces nothing.
    """
    alive, whole, ran = set(left), True, False
    for args, answer in zip(probes, answers):
        outputs = space.outputs(chosen, args)
        if outputs is None or answer is None:
            if outputs is not answer:
                return set()
            continue
        ran = True
        alive = {i for i in alive if alike(answer[i], outputs[i])}
        if not alive:
            return set()
        whole = whole and all(alike(answer[i], outputs[i]) for i in range(len(answer)))
    if not ran:
        return set()
    return "all" if whole else alive
