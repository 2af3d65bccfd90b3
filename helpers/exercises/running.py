"""Runs the learner's function so that whatever it does stays inside the check."""

import ast
import dis
import inspect
import linecache
import os
import random
import signal
import sys
import sysconfig
import textwrap
import threading
import traceback
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

SECONDS = 5  # for all the calls of one check together


class TimeLimit(BaseException):
    """Raised inside the learner's function; not an Exception, so `except Exception` lets it through."""


class Unreadable(Exception):
    """The function returned something that is no answer; says what, and what to do about it."""

    def __init__(self, mistake, message):
        super().__init__(message)
        self.mistake, self.message = mistake, message


@dataclass
class Answer:
    """What one call gave: the outputs (each a tuple of arrays), or why there are none."""

    outputs: tuple | None = None
    error: BaseException | None = None  # raised by the learner's code, or TimeLimit
    place: str = ""  # the learner's line that raised it
    unreadable: Unreadable | None = None
    changed: dict = field(default_factory=dict)  # arguments that were changed: name -> value afterwards


_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # files of the course, not of the learner

# ------------------------------------------------------------------------------ isolation


class _Nowhere:
    """Takes everything that is printed and keeps nothing."""

    encoding = "utf-8"

    def write(self, text):
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


@contextmanager
def _time_limit(seconds):
    """Raise TimeLimit after so many seconds, where signals allow it: in the main thread, not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def at_each_line(frame, event, arg):
        if event == "line":
            raise TimeLimit
        return None if event == "call" else at_each_line  # only the frames that are open now

    def stop(signum, frame):
        # A bare `except:` in the learner's code swallows the exception: raise it once more on the next line.
        sys.settrace(at_each_line)
        while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
            frame.f_trace = at_each_line
            frame = frame.f_back
        raise TimeLimit

    trace, handler = sys.gettrace(), signal.signal(signal.SIGALRM, stop)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.settrace(trace)
        signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, *timer)


@contextmanager
def isolated(seconds=SECONDS):
    """Print nothing, and put back what the learner's code may change: random states, NumPy's settings."""
    states = random.getstate(), np.random.get_state()
    settings, recursion = np.get_printoptions(), sys.getrecursionlimit()
    streams = sys.stdout, sys.stderr
    try:
        with (
            redirect_stdout(_Nowhere()),
            redirect_stderr(_Nowhere()),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            _time_limit(seconds),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        np.set_printoptions(**settings)
        sys.setrecursionlimit(recursion)
        sys.stdout, sys.stderr = streams


def fresh(value):
    """A copy that the learner may spoil; functions are shared."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(v) for v in value)
    return value


def unchanged(a, b):
    """Is an argument what it was before the call?"""
    if isinstance(a, np.ndarray):
        same_kind = isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype
        return same_kind and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(unchanged, a, b))
    return True


def call(f, names, args, read):
    """One call with copies of the arguments; `read` turns what comes back into outputs."""
    given = fresh(args)
    answer = Answer()
    try:
        answer.outputs = read(f(*given))
    except Unreadable as problem:
        answer.unreadable = problem
    except (KeyboardInterrupt, TimeLimit):
        raise
    except BaseException as error:
        answer.error, answer.place = error, learners_line(error, f)
    answer.changed = {name: b for name, a, b in zip(names, args, given) if not unchanged(a, b)}
    return answer


def run(f, names, calls, read, seconds=SECONDS):
    """The answers to all calls, as far as the time goes; the last one may be a TimeLimit."""
    answers = []
    try:
        with isolated(seconds):
            for args in calls:
                answers.append(call(f, names, args, read))
    except TimeLimit as error:
        answers.append(Answer(error=error))
    return answers


# ------------------------------------------------------------------------------ the learner's line

_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def learners_line(error, f):
    """'in `layer_norm`, line 3: `x = y`' for the deepest line of the traceback that the learner wrote.

    An error that was raised in another process brings its line along, as `place`.
    """
    if hasattr(error, "place"):
        return str(error.place)
    try:
        frames = [
            (frame.f_code, line)
            for frame, line in traceback.walk_tb(error.__traceback__)
            if not os.path.abspath(frame.f_code.co_filename).startswith((_OURS, *_LIBRARIES))
        ]
        code, line = frames[-1]
    except (IndexError, AttributeError, ValueError):
        return ""
    text = linecache.getline(code.co_filename, line).strip()
    return f"in `{code.co_name}`, line {line}" + (f": `{text}`" if text else "")


# ------------------------------------------------------------------------------ blank answers


def is_blank(f):
    """Is the body only a docstring, `pass`, `...` or `raise NotImplementedError`?"""
    if f is ...:
        return True
    if type(f) is not FunctionType or f.__name__ == "<lambda>" or not _compiles_to_nothing(f.__code__):
        return False
    try:
        return all(map(says_nothing, statements(f)))
    except (OSError, TypeError, ValueError, SyntaxError, AttributeError):
        return True  # there is no source to be had


def statements(f):
    """The body of a function, as syntax trees; one of several errors when its source is not to be had."""
    definition: Any
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(f))).body
    return definition.body


def says_nothing(statement):
    """Is this statement of a syntax tree a docstring, `pass`, `...` or `raise NotImplementedError`?"""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value is ... or isinstance(statement.value.value, str)
    if isinstance(statement, ast.Raise):
        what = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(what, ast.Name) and what.id == "NotImplementedError"
    return isinstance(statement, ast.Pass)


def _compiles_to_nothing(code):
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("RESUME", "NOP")]
    loads = [step.argval for step in steps if step.opname.startswith(("LOAD", "RETURN_CONST"))]
    calls = {step.opname for step in steps if not step.opname.startswith("LOAD")}
    if calls <= {"RETURN_VALUE", "RETURN_CONST"}:
        return loads == [None]
    return loads[:1] == ["NotImplementedError"] and calls <= {"PRECALL", "CALL", "PUSH_NULL", "RAISE_VARARGS"}
