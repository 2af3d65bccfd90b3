"""One exercise: its prompt, its hints, its solution, and the check that names the mistake."""

import inspect
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import permutations

import numpy as np

from .. import layers
from ..results import tell
from . import describing, exceptions, solutions
from .comparing import NONE, alike, close, reader
from .running import SECONDS, TimeLimit, is_blank, isolated, run
from .showing import show, show_hints
from .slips import Space, changed_by, search

TRIES = 3  # wrong answers before the solution is offered

FLOAT32 = (
    "Only seven digits of the result are right: something in your function is float32. With float64 inputs nothing "
    "needs to be."
)


WHOLE = (
    "The numbers are right, but their decimals are lost: an array of integers was filled (`dtype=int`, or `zeros_like` of "
    "integers), or `int`, `round` or `//` is used. Keep floating-point numbers."
)

NOT_REPEATABLE = (
    "The same input gave two different answers. Something random is in your function, or it keeps something between the "
    "calls (a global variable, a default argument that it changes, statistics of the first call); the result should "
    "depend on the arguments only."
)


@dataclass(frozen=True)
class Diagnosis:
    """outcome: "not attempted", "correct", "wrong" or "raised"; mistake: a short name or None; message."""

    outcome: str
    mistake: str | None
    message: str

    def tell(self, name):
        """Say to whoever listens what a check of that exercise has found."""
        if self.outcome != "not attempted":
            right = self.outcome == "correct"
            tell("exercise", name, right=right, mistake=None if right else self.mistake)


@dataclass(frozen=True)
class Remark:
    """A call made when the answer is right, mostly in another number type; a difference is only remarked on."""

    args: tuple
    name: str
    text: str
    about: str = "values"  # or "dtype": the number type of the result; or "last digit"


@dataclass(eq=False, repr=False)
class Exercise:
    """One exercise, judged by what the learner's function does."""

    reference: Callable
    outputs: tuple  # names of what is returned; a name that ends in [] is a list of arrays
    probes: list  # argument tuples, the smallest first
    space: Space
    prompt: str
    hints: list
    difficulty: int  # 1 to 5
    minutes: int
    properties: Callable | None = None  # (ask, first wrong probe) -> [(holds, said if so, said if not, name)]
    remarks: list = field(default_factory=list)
    extras: list = field(default_factory=list)  # (ask) -> (name, message) or None, when all probes are right
    any_axes: str = describing.TWO_AXES_ONLY  # what to say when it works for two axes only

    def __post_init__(self):
        self.name = self.reference.__name__
        self.parameters = tuple(inspect.signature(self.reference).parameters)
        self.hints_shown, self.tries, self.last_try = 0, 0, None
        self._read = reader(self.outputs)

    def __repr__(self):
        return (
            f"{self.name} (difficulty {self.difficulty} of 5, about {self.minutes} minutes)\n\n{self.prompt}"
        )

    # -------------------------------------------------------------------------- what a learner uses

    def check(self, f):
        """Show whether f is right, and which mistake it is if not."""
        found = self.diagnose(f)
        text = found.message
        if found.outcome in ("wrong", "raised"):
            code = f.__code__ if inspect.isfunction(f) else type(f)
            self.tries += code != self.last_try  # the same cell run again is no new try
            self.last_try = code
            if self.tries >= TRIES:
                text += f"\n\nThe solution is there when you want it: `exercises.{self.name}.solution()`."
            else:
                text += f"\n\nStuck? `exercises.{self.name}.hint()`."
        show(f"{self.name}: {found.outcome}", text, found.outcome)
        found.tell(self.name)

    def hint(self):
        """Show one more hint."""
        self.hints_shown = min(self.hints_shown + 1, len(self.hints))
        after = f"`exercises.{self.name}.solution()` shows one solution."
        show_hints(self.name, self.hints, self.hints_shown, after)

    def solution(self):
        """Show a function that passes the check."""
        show(f"{self.name}: a solution", self.source(), "solution")

    # -------------------------------------------------------------------------- for programs

    def source(self):
        """A solution and the small functions it calls, as text."""
        needed: list = []
        queue = [getattr(solutions, self.name, self.reference)]
        while queue:
            f = queue.pop()
            if f not in needed:
                needed.insert(0, f)
                called = [getattr(layers, name, None) for name in f.__code__.co_names]
                queue += [g for g in called if inspect.isfunction(g) and g.__module__ == layers.__name__]
        return "\n\n\n".join(map(_without_hints, needed))

    def is_blank(self, f):
        """Has f not been written yet?"""
        return is_blank(f)

    def or_reference(self, f):
        """f; while f is blank the reference, and a line that says so."""
        if not is_blank(f):
            return f
        print(f"{self.name} is still blank: this is the reference.")
        return self.reference

    def diagnose(self, f):
        """What is right or wrong with f, without showing it."""
        if is_blank(f):
            text = f"`{self.name}` is still blank. Write its body, then check again."
            return Diagnosis("not attempted", None, text)
        unusable = self._unusable(f)
        if unusable:
            return unusable
        found = self._judge(f)
        return found if found.outcome == "correct" else self._in_another_order(f) or found

    @cached_property
    def wanted(self):
        """The right outputs of every probe."""
        with np.errstate(all="ignore"):
            return [self._read(self.reference(*args)) for args in self.probes]

    @cached_property
    def repeated(self):
        """Indices of the probes that are asked again: the largest, where dropout shows at once, and the first, often."""
        sizes = [sum(np.size(a) for a in args if isinstance(a, np.ndarray)) for args in self.probes]
        return (0, int(np.argmax(sizes)), *[0] * 6)

    # -------------------------------------------------------------------------- before any comparison

    def _unusable(self, f):
        """A diagnosis when f cannot be called as it should be."""
        if not callable(f):
            text = (
                f"You passed an object of type {type(f).__name__}, not a function. Pass the function itself, without "
                f"brackets: `exercises.{self.name}.check({self.name})`."
            )
            return Diagnosis("wrong", "not_a_function", text)
        signature = _signature(f)
        try:
            if signature:
                signature.bind(*self.parameters)
        except TypeError:
            text = (
                f"The check calls `{self.name}({', '.join(self.parameters)})`, with {len(self.parameters)} arguments "
                f"in this order; your function takes `{signature}`. Change the line that starts with `def`."
            )
            return Diagnosis("wrong", "wrong_arguments", text)
        return None

    def _in_another_order(self, f):
        """A diagnosis when f has the right parameters in another order: what is left to mend when they are put right."""
        order = tuple(getattr(_signature(f), "parameters", ()))
        if sorted(order) != sorted(self.parameters) or order == self.parameters:
            return None
        found = self._judge(lambda *args: f(*(args[self.parameters.index(name)] for name in order)))
        moved = [f"`{mine}`" for mine, asked in zip(order, self.parameters) if mine != asked]
        text = (
            f"The check calls `{self.name}({', '.join(self.parameters)})`, in this order; in your `def` the names stand in "
            f"another{f', {moved[0]} and {moved[1]} swapped' if len(moved) == 2 else ''}: `({', '.join(order)})`. "
        )
        if found.outcome == "correct":
            return Diagnosis("wrong", "arguments_swapped", text + "Apart from that it is right.")
        mistake = "+".join(filter(None, ("arguments_swapped", found.mistake)))
        return Diagnosis(
            found.outcome, mistake, f"{text}In the right order, this is left to mend: {found.message}"
        )

    def _judge(self, f):
        """Call f on every probe, and on some once more; then find what is wrong, in the order of urgency."""
        answers = run(
            f, self.parameters, [*self.probes, *(self.probes[i] for i in self.repeated)], self._read
        )
        if isinstance(answers[-1].error, TimeLimit):
            text = (
                f"Your function was stopped after {SECONDS} seconds; the inputs are tiny, it should need less than a "
                "millisecond. Look for a loop that never ends: a `while` whose condition never becomes false."
            )
            return Diagnosis("raised", "too_slow", text)
        changed = next((i for i, answer in enumerate(answers) if answer.changed), None)
        if changed is not None:
            return self._changed(changed, answers)
        unreadable = next((i for i, answer in enumerate(answers) if answer.unreadable), None)
        if unreadable is not None:
            return self._unreadable(unreadable, answers)
        answers, again = answers[: len(self.probes)], answers[len(self.probes) :]
        outputs = [answer.outputs for answer in answers]
        raised = next((i for i, answer in enumerate(answers) if answer.error is not None), None)
        if raised is not None:
            return self._raised(raised, answers, outputs)
        if not _same(again, [outputs[i] for i in self.repeated]):
            return Diagnosis("wrong", "not_repeatable", NOT_REPEATABLE)
        wrong = self._wrong(outputs)
        every = [part for output in outputs for parts in output for part in parts]
        if every and all(np.all(np.isnan(part)) for part in every):
            text = (
                "Every entry of the result is NaN (not a number), on every input. It comes from 0/0, from inf - inf or "
                "from the root of a negative number: print the value of each step and look for the first NaN."
            )
            return Diagnosis("wrong", "all_nan", text)
        if wrong and not self._only_rounded(outputs):
            named = self._named(outputs, wrong)
            if not named:  # a coin that is tossed once a call may have fallen the same way each time
                once_more = run(f, self.parameters, self.probes * 3, self._read)
                if not _same(once_more, outputs * 3):
                    return Diagnosis("wrong", "not_repeatable", NOT_REPEATABLE)
            return named or self._unknown(f, outputs, wrong)
        single = any(part.dtype == np.float32 for part in every)
        return self._extra(f) or self._correct(f, rounded=bool(wrong) or single)

    def _asked(self, index):
        """The arguments of a call: first all probes, then some once more."""
        return self.probes[[*range(len(self.probes)), *self.repeated][index]]

    def _changed(self, index, answers):
        """An argument was changed, which is worth saying before anything else."""
        name, after = next(iter(answers[index].changed.items()))
        before = self._asked(index)[self.parameters.index(name)]
        text = describing.changed_in_place(name, before, after, answers[index].outputs)
        outputs = [answer.outputs for answer in answers[: len(self.probes)]]
        besides = None
        if None not in outputs and self._wrong(outputs):
            besides = self._named(outputs, self._wrong(outputs))
        if besides:
            text += " The result is wrong as well. " + besides.message
        return Diagnosis("wrong", "input_changed" + (f"+{besides.mistake}" if besides else ""), text)

    def _unreadable(self, index, answers):
        """What cannot be read as an answer: the first one of that kind, and whether others can."""
        problem = answers[index].unreadable
        text = problem.message
        if any(answer.outputs for answer in answers):
            if text == NONE:
                text = (
                    "Sometimes your function comes to its end without a `return`, and gives `None`. Every way through an `if` "
                    "needs a `return`, or one stands below them all."
                )
            text += f" It happens, among others{describing.arguments(self.parameters, self._asked(index))}."
        return Diagnosis("wrong", problem.mistake, text)

    def _raised(self, index, answers, outputs):
        """The learner's error and line, and the mistake behind it when the model fails in the same way."""
        error = answers[index].error
        text = f"Your function raised {type(error).__name__} {answers[index].place}".rstrip()
        detail = exceptions.first_line(error)
        text += (f": {detail}" if detail else "").rstrip(".") + "."
        right = [output is not None and self._right(i, output) for i, output in enumerate(outputs)]
        shape = describing.x_shape(self, index)
        other = describing.x_shape(self, right.index(True)) if any(right) else None
        if shape and other and other != shape:
            text += f" It happens for {shape}; for {other} your answer is right."
        elif shape:
            text += f" It happened for {shape}."
        found, left = search(self.space, self.probes, outputs, range(len(self.outputs)), most=1)
        if not found or left or not all(self._fails_alike(chosen, index, error) for chosen in found):
            return self._where_it_ran(outputs, right, text, error)
        names = "+".join(slip.name for chosen in found for slip in chosen)
        return Diagnosis("raised", names, " ".join([text, *map(self.space.message, found)]))

    def _fails_alike(self, slips, index, error):
        """Does the model with these slips fail on that probe for the same reason: not just somewhere, but with these sizes?"""
        other = self.space.failure(slips, self.probes[index])
        return exceptions.related(error, other) and exceptions.sizes(error) == exceptions.sizes(other)

    def _where_it_ran(self, outputs, right, text, error):
        """What explains the answers on those probes where there are answers, after what is said of the exception."""
        flat = describing.with_two_axes(self, outputs, right)
        ran = flat or [i for i, output in enumerate(outputs) if output is not None]
        seen = [output if i in ran else None for i, output in enumerate(outputs)]
        wrong, found, left = self._wrong(seen), [], set()
        if wrong:
            answers = [seen[i] for i in ran]
            most = None if flat else 1
            found, left = search(self.space, [self.probes[i] for i in ran], answers, wrong, most)
        if left or not (flat or found):
            name = "endless_recursion" if isinstance(error, RecursionError) else None
            if wrong:
                text += f" Where it runs it is not right either: {describing.where(self, seen, wrong[0])}"
            return Diagnosis("raised", name, f"{text} {exceptions.advice(error)}")
        names = ["two_axes_only"] * bool(flat) + [slip.name for chosen in found for slip in chosen]
        said = [self.any_axes] * bool(flat) + ["For two axes:"] * bool(flat and found)
        return Diagnosis("raised", "+".join(names), " ".join([text, *said, *map(self.space.message, found)]))

    # -------------------------------------------------------------------------- comparing

    def _right(self, index, outputs):
        return all(map(alike, outputs, self.wanted[index]))

    def _wrong(self, outputs):
        """Indices of the outputs that differ on some probe, of those that there are."""
        pairs = [(got, want) for got, want in zip(outputs, self.wanted) if got is not None]
        return [k for k in range(len(self.outputs)) if not all(alike(got[k], want[k]) for got, want in pairs)]

    def _only_rounded(self, outputs):
        """Does everything agree as well as float32 can: closely on most probes, roughly where digits cancel?"""
        pairs = [(a, b) for got, want in zip(outputs, self.wanted) for a, b in zip(got, want)]
        roughly = all(alike(a, tuple(part.astype(np.float32) for part in b)) for a, b in pairs)
        return roughly and np.mean([self._right(i, output) for i, output in enumerate(outputs)]) > 0.5

    def _named(self, outputs, wrong):
        """A diagnosis when another order of the outputs, or slips, explain what is wrong."""
        simple = self._swapped(outputs) or self._rounded(outputs)
        if simple:
            return simple
        found, left = search(self.space, self.probes, outputs, wrong)
        if not found:
            return None
        found = [chosen for chosen in found if not any(set(chosen) < set(other) for other in found)]
        text = " ".join(map(self.space.message, found))
        if self._changed_by(found) - set(wrong):  # it tells of more than is wrong
            where = " and ".join(f"`{self.outputs[k].removesuffix('[]')}`" for k in wrong)
            text = (
                f"Only {where} {'is' if len(wrong) == 1 else 'are'} wrong; there {text[:1].lower()}{text[1:]}"
            )
        for k in left:
            text += f" Something else is wrong too: {describing.where(self, outputs, k, given=False)}"
        return Diagnosis("wrong", "+".join(dict.fromkeys(s.name for chosen in found for s in chosen)), text)

    def _changed_by(self, found):
        """Indices of the outputs that these slips change."""
        return changed_by([slip for chosen in found for slip in chosen], self.space, self.probes)

    def _rounded(self, outputs):
        """A diagnosis when the numbers are right but for their decimals."""
        pairs = [
            (np.concatenate([*map(np.ravel, a), []]), np.concatenate([*map(np.ravel, b), []]))
            for got, want in zip(outputs, self.wanted)
            for a, b in zip(got, want)
            if not alike(a, b)
        ]
        if any(got.shape != want.shape or not np.all(np.isfinite(got)) for got, want in pairs):
            return None
        if not any(np.any(got) for got, _ in pairs):
            return None
        ways: list[Callable] = [np.trunc, np.round, *[partial(np.round, decimals=k) for k in range(1, 7)]]
        for decimals, kept in enumerate(ways, -1):
            if all(np.allclose(got, kept(want), rtol=0, atol=1e-9) for got, want in pairs):
                text = (
                    WHOLE
                    if decimals < 1
                    else f"The numbers are right, but rounded to {decimals} decimals. Return them as they are."
                )
                return Diagnosis("wrong", "whole_numbers" if decimals < 1 else "rounded", text)
        return None

    def _swapped(self, outputs):
        """A diagnosis when the outputs are right but in another order."""
        names = [name.removesuffix("[]") for name in self.outputs]
        for order in list(permutations(range(len(names))))[1:]:
            pairs = zip(outputs, self.wanted)
            if all(alike(got[i], want[j]) for got, want in pairs for i, j in enumerate(order)):
                text = (
                    f"All the numbers are right, in another order: you return `{', '.join(names[j] for j in order)}`; "
                    f"the exercise asks for `return {', '.join(names)}`."
                )
                return Diagnosis("wrong", "outputs_swapped", text)
        return None

    def _unknown(self, f, outputs, wrong):
        """The first entry that differs on the smallest probe, and the properties that hold and fail."""
        right = [self._right(i, output) for i, output in enumerate(outputs)]
        first = right.index(False)
        text = describing.where(self, outputs, wrong[0]) + describing.when(self, right)
        fine = [f"`{name.removesuffix('[]')}`" for k, name in enumerate(self.outputs) if k not in wrong]
        if fine:
            text += f" ({' and '.join(fine)} {'is' if len(fine) == 1 else 'are'} right.)"
        shape = describing.shape(outputs[first], self.wanted[first])
        if shape:
            return Diagnosis("wrong", "wrong_shape", text + shape)
        ratio = describing.ratio(self, outputs, wrong[0])
        mistake = "factor" if ratio else None
        near = [describing.nearly(output, want) for output, want in zip(outputs, self.wanted)]
        # A slip with eps is near only where eps is tiny, and a special case is wrong there only.
        if near[first] and np.mean(near) > 0.7 and np.mean(right) < 0.5:
            mistake = "low_precision"
            text += " It is nearly right, to about three digits: something is rounded (float16?), or a constant is off."
        with warnings.catch_warnings():  # of NaN in what the learner's function gave
            warnings.simplefilter("ignore")
            facts = self.properties(self._ask(f), self.probes[first]) if self.properties else []
        failing = [(sentence, name) for holds, _, sentence, name in facts if not holds]
        holding = [sentence for holds, sentence, _, _ in facts if holds]
        text += ratio
        text += f" What fails: {'; '.join(sentence for sentence, _ in failing)}." if failing else ""
        text += f" What holds: {'; '.join(holding)}." if holding else ""
        return Diagnosis("wrong", mistake or next((name for _, name in failing), None), text)

    def _ask(self, f):
        """A function that gives the learner's answer to other arguments."""
        return lambda *args: run(f, self.parameters, [args], self._read)[0]

    # -------------------------------------------------------------------------- when all probes are right

    def _extra(self, f):
        """A diagnosis when f fails in a special case."""
        for extra in self.extras:
            found = extra(self._ask(f))
            if found:
                return Diagnosis("wrong", *found)
        return None

    def _correct(self, f, rounded):
        """Correct, with a remark for each number type in which it goes wrong."""
        made = {"float32_inside": FLOAT32} if rounded else {}
        answers = run(f, self.parameters, [remark.args for remark in self.remarks], self._read)
        for remark, answer in zip(self.remarks, answers):
            with np.errstate(all="ignore"):
                want = self._read(self.reference(*remark.args))
            if not _good_enough(answer, want, remark.about):
                made[remark.name] = remark.text
        texts = list(dict.fromkeys(made.values()))
        count = {0: "", 1: " One remark: "}.get(len(texts), f" {len(texts)} remarks: ")
        return Diagnosis("correct", "+".join(made) or None, "Correct." + count + " ".join(texts))


def _signature(f):
    """What f takes, or None where that is not to be had."""
    try:
        with isolated():
            return inspect.signature(f)
    except (Exception, TimeLimit):
        return None


def _without_hints(f):
    """The source of a function, type hints left out: learners write none."""
    hinted = inspect.signature(f)
    parameters = [one.replace(annotation=one.empty) for one in hinted.parameters.values()]
    bare = hinted.replace(parameters=parameters, return_annotation=hinted.empty)
    source = inspect.getsource(f).strip()
    return re.sub(r"\Adef .*?:\n", lambda _: f"def {f.__name__}{bare}:\n", source, flags=re.DOTALL)


def _same(answers, outputs):
    """Are these answers the outputs that were given before?"""
    return all(a.outputs is not None and all(map(alike, a.outputs, o)) for a, o in zip(answers, outputs))


def _good_enough(answer, want, about):
    """Is the answer right in what the remark is about?"""
    if answer.outputs is None or answer.changed:
        return False
    same = {
        "values": close,
        "dtype": lambda a, b: a.dtype == b.dtype,
        "last digit": lambda a, b: np.array_equal(a, b.astype(a.dtype)),
    }[about]
    return all(same(a, b) for got, right in zip(answer.outputs, want) for a, b in zip(got, right))
