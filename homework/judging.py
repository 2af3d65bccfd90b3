"""Runs a rebuilt notebook and judges its functions: they are called there, and compared here."""

import base64
import builtins
import contextlib
import copy
import hashlib
import inspect
import io
import json
import textwrap
import threading
import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cloudpickle
import nbformat
import numpy as np

from helpers import exercises
from helpers.exercises.core import Diagnosis
from helpers.exercises.running import TimeLimit, fresh
from helpers.exercises.slips import Space

from . import looking, rebuilding, variants
from .kernel import Gone, Kernel, NotStarted

CELL = 30  # seconds that a cell may take
CALLS = 30  # seconds that all calls of one function may take
OWN = 100  # seconds that all cells of the student's own may take
SUBMISSION = 400  # seconds after which what is left of a submission is not run
RESTARTS = 12  # kernels that a submission may use up
OWN_RESTARTS = 4  # after so many, cells of the student's own are left out
OTHER = "a cell of the student's own"
_ONE_AT_A_TIME = (
    threading.Lock()
)  # a check changes settings of the whole process; a Dask worker has many threads

# ------------------------------------------------------------------------------ one submission


def task(files, released, graded, key, seed=None):
    """What `judge` needs, as bytes.

    files, released: {file name: bytes} of the submission's and the released notebooks; graded:
    {grade_id: name of the exercise}; key: what the hidden inputs are drawn with; seed: of the variants.
    """
    packed = {name: base64.b64encode(text).decode() for name, text in files.items()}
    parts = {"files": packed, "released": {name: text.decode() for name, text in released.items()}}
    return json.dumps(parts | {"graded": graded, "key": key, "seed": seed}, sort_keys=True).encode()


def judge(given):
    """The graded notebooks of a submission and what to report, as bytes of JSON; given: see `task`.

    {"notebooks": {file name: notebook}, "outcomes": {exercise: outcome and mistake}, "look": [...],
    "repairs": [...], "seconds": s}. Whatever the submission does, it does not raise; it raises NotStarted where
    no kernel can be started.
    """
    given, began = json.loads(given), time.monotonic()
    files = {name: base64.b64decode(text) for name, text in given["files"].items()}
    found = {"notebooks": {}, "outcomes": {}, "look": [], "repairs": []}
    for name, text in given["released"].items():
        released = nbformat.reads(text, 4)
        chosen, remark = rebuilding.choose(files, name)
        notebook, repairs = rebuilding.rebuild(chosen, released)
        found["repairs"] += [remark] * bool(remark) + repairs
        run = Run(notebook, exercises_of(given["graded"], given["seed"]), given["key"])
        run.all()
        found["notebooks"][name] = nbformat.writes(notebook)
        found["outcomes"] |= run.outcomes
        found["look"] += run.look
    found["look"] = list(dict.fromkeys(found["look"]))
    return json.dumps(found | {"seconds": round(time.monotonic() - began, 1)}).encode()


def not_judged(given, why):
    """The result of a task whose worker failed: no points yet, and the reason."""
    given = json.loads(given)
    found = {"notebooks": {}, "outcomes": {}, "look": [why], "repairs": [], "seconds": 0, "again": True}
    for name, text in given["released"].items():
        run = Run(nbformat.reads(text, 4), exercises_of(given["graded"], given["seed"]), given["key"])
        run.rest(why)
        found["notebooks"][name] = nbformat.writes(run.notebook)
    return found


def exercises_of(graded, seed):
    """{grade_id: exercise} of an assignment; with a seed, of its variants."""
    return {
        grade_id: exercises.ALL[name] if seed is None else variants.exercise(name, seed)
        for grade_id, name in graded.items()
    }


class Run:
    """A rebuilt notebook that is run and judged, in place; `outcomes` and `look` say what was found."""

    def __init__(self, notebook, graded, key):
        self.notebook, self.cells, self.graded, self.key = notebook, notebook.cells, graded, key
        self.outcomes, self.look = {}, []
        self.end, self.own = time.monotonic() + SUBMISSION, OWN
        self.skipped, self.restarts, self.claims, self.late = set(), 0, [], []

    def all(self):
        """Run the cells from top to bottom and put a verdict below each graded one."""
        for cell in self.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        try:
            with Kernel() as self.kernel:
                for number, cell in enumerate(self.cells):
                    self._cell(number, cell)
                for one in self.late:  # the function may stand in a cell further down
                    self._judge(*one)
                for claim in self.claims:
                    self._confirm(*claim)
        except NotStarted:
            raise
        except Gone as gone:
            self.rest(f"not run: {gone}")
        except Exception as error:  # whatever a submission does, the next one is graded
            self.rest(f"could not be run ({type(error).__name__}: {error})"[:300])

    def rest(self, why):
        """What could not be judged gets no points, and is reported."""
        self.look.append(why)
        for cell in self.cells:
            exercise = self._exercise(cell)
            if exercise and not cell.outputs:
                self._show(cell, exercise, Diagnosis("raised", "not_run", f"This was {why}."))

    def _exercise(self, cell):
        return self.graded.get(rebuilding.metadata(cell).get("grade_id"))

    def _cell(self, number, cell):
        """Run or judge one cell."""
        exercise, data = self._exercise(cell), rebuilding.metadata(cell)
        if exercise:
            return self._judge(number, cell, exercise)
        if cell.cell_type != "code" or data.get("grade_id", "").startswith("check_"):
            return None  # a check of the lesson: the graded cell says the same
        if not data.get("locked"):
            self.look += looking.remarks(cell.source)
        where, began = data.get("grade_id") or OTHER, time.monotonic()
        if where == OTHER and (self.own <= 0 or self.restarts >= OWN_RESTARTS):
            self.skipped.add(number)
            self.look.append(f"{where} was left out: the others took too long")
            return None
        seconds = self._left(CELL)
        try:
            cell.outputs = self._twice(number, lambda: self.kernel.run(cell.source, seconds))
        except Gone as gone:
            self.look.append(f"{where} {gone}")
            cell.outputs = [_error("Stopped", f"This cell {gone}.")]
            self._again(number)
        if where == OTHER:
            self.own -= time.monotonic() - began
        if where == "setup" and any(output.output_type == "error" for output in cell.outputs):
            self.look.append("the set-up cell failed")

    def _twice(self, number, attempt):
        """attempt(); if it ends the kernel, once more without the student's own cells: they may have broken it."""
        try:
            return attempt()
        except Gone:
            before = [n for n in range(number) if n not in self.skipped and self._is_own(self.cells[n])]
            if not before or any(map(self._is_own, self.cells[number : number + 1])):
                raise
        self.skipped.update(before)
        self._again(number)
        self.skipped.remove(number)
        try:
            result = attempt()
        except Gone:
            self.skipped.difference_update(before)
            raise
        self.look.append("cells of the student's own were left out: with them, Python stopped")
        return result

    def _is_own(self, cell):
        return cell.cell_type == "code" and not rebuilding.metadata(cell).get("grade_id")

    def _left(self, seconds):
        left = self.end - time.monotonic()
        if left < 1:
            raise Gone("it takes too long")
        return min(seconds, left)

    def _again(self, number):
        """A new kernel that has run all cells up to this one, but for those that ended one."""
        self.skipped.add(number)
        self.restarts += 1
        if self.restarts > RESTARTS:
            raise Gone("it ended Python again and again")
        try:
            self.kernel.restart()
        except NotStarted as error:
            raise Gone("it could not be started again") from error
        for before, cell in enumerate(self.cells[:number]):
            data = rebuilding.metadata(cell)
            ours = data.get("grade_id", "").startswith(("check_", "test_"))
            if cell.cell_type == "code" and before not in self.skipped and not ours:
                seconds = self._left(CELL)
                try:
                    self.kernel.run(cell.source, seconds)
                except Gone:
                    return self._again(before)

    def _judge(self, number, cell, exercise):
        seconds = self._left(CALLS)
        try:
            found, asked = self._twice(number, lambda: self._ask(exercise, seconds))
        except Gone as gone:
            self._show(cell, exercise, stopped(gone))
            return self._again(number)
        if found.outcome == "correct":
            return self.claims.append((number, cell, exercise, found, asked.said))
        if found.mistake == "no_function" and number < len(self.cells):
            return self.late.append((len(self.cells), cell, exercise))
        if self._is_blank(number, exercise.name):
            found = Diagnosis("not attempted", None, f"`{exercise.name}` is still blank.")
        return self._show(cell, exercise, found)

    def _is_blank(self, number, name):
        """Does no cell say more of this function than the released one?"""
        texts = [c.source for c in self.cells[:number] if c.cell_type == "code"]
        found = [looking.is_blank(text, name) for text in texts]
        return True in found and False not in found

    def _ask(self, exercise, seconds):
        asked = Asked(self.kernel, exercise.name, seconds)
        found = diagnose(exercise, asked)
        if asked.borrowed:
            names = ", ".join(sorted(asked.borrowed))
            self.look.append(f"{exercise.name} calls helpers' own {names}")
        return found, asked

    def _confirm(self, number, cell, exercise, found, said):
        """Ask for the hidden inputs too, now that no output can tell of them any more; then show the verdict."""
        asked = Asked(self.kernel, exercise.name, self._left(CALLS))
        try:
            same = asked.prepare(exercise) is None and asked.said == said
        except Gone:
            same = False
        if not same:  # a later cell has changed it
            self._again(number)
        seconds, hidden = self._left(CALLS), with_hidden_inputs(exercise, self.key)
        try:
            if self._twice(number, lambda: self._ask(hidden, seconds))[0].outcome != "correct":
                text = "It is right for the inputs of the lesson's check and wrong for others."
                found = Diagnosis("wrong", "made_to_measure", text)
        except Gone as gone:
            found = stopped(gone)
            self._again(number)
        self._show(cell, exercise, found)

    def _show(self, cell, exercise, found):
        title = f"{exercise.name}: {found.outcome}"
        mistake = f" ({found.mistake})" if found.mistake and found.outcome in ("wrong", "raised") else ""
        self.outcomes[exercise.name] = found.outcome + mistake
        if found.mistake in ("made_to_measure", "too_slow", "ended", "no_values"):
            self.look.append(f"{exercise.name}: {found.mistake.replace('_', ' ')}")
        text = "\n".join(textwrap.fill(line, 100) for line in found.message.splitlines())
        if found.outcome == "correct":
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=f"{title}\n{text}\n")]
        else:
            cell.outputs = [_error(title, text)]


def _error(title, text):
    return nbformat.v4.new_output("error", ename=title, evalue=text, traceback=[title, text])


# ------------------------------------------------------------------------------ one function


def diagnose(exercise, asked):
    """The verdict of an exercise's check on a function that is only reached by asking; Gone when that ends it."""
    if any(map(callable, _flat(exercise.probes))):
        exercise = replace(exercise, properties=None)  # they watch what the functions are given, over there
    if unusable := asked.prepare(exercise):
        return unusable
    with _ONE_AT_A_TIME, ThreadPoolExecutor(1) as aside:  # the check's own time limit is for the main thread
        found = aside.submit(exercise.diagnose, asked).result()
    if asked.gone:
        raise asked.gone
    return found


def stopped(gone):
    """The verdict on a function that ended the kernel, or did not end."""
    why = str(gone)
    mistake = "ended" if "ended" in why else "no_values" if "no values" in why else "too_slow"
    return Diagnosis("raised", mistake, f"When it was called, your function {why}.")


def _flat(value):
    """All that is in a nest of lists and tuples."""
    return sum(map(_flat, value), []) if isinstance(value, (list, tuple)) else [value]


def with_hidden_inputs(exercise, key):
    """The exercise with other inputs, drawn with the key; nothing but right or wrong is asked of it."""
    rng = np.random.default_rng(list(hashlib.sha256(f"{key}/{exercise.name}".encode()).digest()))
    probes = [tuple(vary(arg, rng) for arg in args) for args in exercise.probes]
    blind = Space(exercise.space.model, [])
    return replace(exercise, probes=probes, space=blind, properties=None, remarks=[], extras=[])


def vary(value, rng):
    """Another value of the same kind: zeros, signs, equal rows and orders of magnitude stay."""
    if isinstance(value, list):
        return [vary(v, rng) for v in value]
    if isinstance(value, float):
        return value * rng.uniform(0.8, 1.0)
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    if value.ndim < 2:
        return (value * rng.uniform(0.8, 1.2, value.shape)).astype(value.dtype)
    spread = value.std(axis=-1, keepdims=True)
    varied = value * rng.uniform(0.8, 1.2) + 0.3 * spread * rng.standard_normal(value.shape)
    return varied.astype(value.dtype)


class Asked:
    """The student's function, seen from here: a call sends its arguments over and gives back what came of it."""

    def __init__(self, kernel, name, seconds):
        self.kernel, self.name, self.seconds = kernel, name, seconds
        self.ready, self.said, self.borrowed, self.gone = defaultdict(deque), None, set(), None

    def prepare(self, exercise):
        """Ask for all that will be asked anyway, at once; a diagnosis when there is no function to be asked."""
        calls = [*exercise.probes, *(exercise.probes[i] for i in exercise.repeated)]
        calls = [fresh(args) for args in calls + [remark.args for remark in exercise.remarks]]
        reply = self._ask(calls)
        if "answers" not in reply:
            what = f"`{self.name}` is of type {reply.get('no_function')}, no function."
            text = f"There is no function `{self.name}`." if reply.get("missing") else what
            return Diagnosis("wrong", "no_function", text)
        self.said = reply["answers"]
        for args, answer in zip(calls, self.said):
            self.ready[_pickled([args])].append(answer)
        with contextlib.suppress(KeyError, ValueError, TypeError):  # what is sent may be anything
            self.__signature__ = _signature(reply["signature"])
        return None

    def _ask(self, calls):
        code = f"__import__('sys').modules['answering'].answer({self.name!r}, '{_pickled(calls)}')"
        if self.seconds <= 0:
            raise Gone("took too long")
        began = time.monotonic()
        try:
            reply = json.loads(self.kernel.ask(code, self.seconds))
            if isinstance(reply, dict) and isinstance(reply.get("answers", []), list):
                return reply
            raise Gone("sent no values")
        except (ValueError, TypeError, RecursionError):
            raise Gone("sent no values") from None
        finally:
            self.seconds -= time.monotonic() - began  # what the check itself takes does not count

    def __call__(self, *args):
        key = _pickled([args])
        try:
            if self.gone:
                raise self.gone
            answer = self.ready[key].popleft() if self.ready[key] else self._ask([args])["answers"][0]
            value = None if "error" in answer else unpack(answer["value"])
            changed = [unpack(after) for after in answer.get("changed", ())]
            self.borrowed |= {str(name)[:60] for name in answer.get("borrowed", ())}
        except Exception as error:  # what is sent may be anything
            self.gone = error if isinstance(error, Gone) else Gone("sent no values")
            raise TimeLimit from None
        for arg, after in zip(args, changed):
            _overwrite(arg, after)
        if "error" in answer:
            raise _raised(*map(str, answer["error"]))
        return value


def _pickled(calls):
    return base64.b64encode(cloudpickle.dumps(calls)).decode()


def _signature(parameters):
    make = inspect.Parameter
    return inspect.Signature(
        [make(name, kind, default=None if has else make.empty) for name, kind, has in parameters]
    )


def _overwrite(arg, after):
    if isinstance(arg, np.ndarray) and isinstance(after, np.ndarray) and after.shape == arg.shape:
        arg[...] = after
    elif isinstance(arg, list) and isinstance(after, list) and len(after) == len(arg):
        arg[:] = after


def _raised(name, text, place):
    """The exception that the student's function raised, made anew."""
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)) or kind is KeyboardInterrupt:
        kind = type(name, (Exception,), {})
    try:
        error = kind(text)
    except TypeError:
        error = type(name, (Exception,), {})(text)
    error.place = place
    return error


def unpack(sent):
    """What `answering.pack` made of a value; a value of another type becomes an object of a type of that name."""
    kind, value = sent
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](map(unpack, value))
    if kind == "ndarray":
        return np.load(io.BytesIO(base64.b64decode(value)), allow_pickle=False)
    if kind == "object":
        return type(str(value) if str(value).isidentifier() else "object", (), {})()
    return copy.copy(value)
