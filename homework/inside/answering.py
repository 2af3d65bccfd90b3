"""Calls the student's function, inside the student's process, and sends back what came of it, as JSON.

Only arguments come in here: what is right is known nowhere in this process.
"""

import inspect
import io
import os
import sys
import traceback
import warnings
from base64 import b64decode, b64encode
from json import dumps  # taken now: a student's code may replace them in their modules
from pickle import loads

import numpy as np

LARGEST = 1_000_000  # entries of one array that are sent
OWN = f"{os.sep}helpers{os.sep}"
SENT = "<dynamic-code>"  # where cloudpickle says that the functions among the arguments are from


def answer(name, calls):
    """Call the function of that name; calls: base64 of a pickled list of argument tuples -> JSON."""
    import __main__

    try:
        f = vars(__main__)[name]
    except KeyError:
        return dumps({"missing": True})
    if not callable(f):
        return dumps({"no_function": type(f).__name__})
    answers = [_call(f, args) for args in loads(b64decode(calls))]
    return dumps({"answers": answers, "signature": _signature(f)})


def _signature(f):
    """[name, kind, has a default] of each parameter; None where that cannot be told."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, int(p.kind), p.default is not p.empty] for p in parameters]


def _call(f, args):
    before = dumps([*map(pack, args)])
    sent, borrowed = {}, set()
    given = {getattr(arg, "__code__", None) for arg in args}
    sys.setprofile(lambda frame, event, _: _note(frame, event, given, borrowed))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # as the lesson's check does
            warnings.simplefilter("ignore")
            sent["value"] = pack(f(*args))  # a result may compute itself only now
    except BaseException as error:
        sent["error"] = [type(error).__name__, str(error)[:500], _place(error)]
    finally:
        sys.setprofile(None)
    after = [*map(pack, args)]
    if dumps(after) != before:
        sent["changed"] = after
    if borrowed:
        sent["borrowed"] = sorted(borrowed)
    return sent


def _note(frame, event, given, borrowed):
    """Remember a function of helpers that is called from outside of helpers and is not among the arguments."""
    if event == "call" and OWN in frame.f_code.co_filename and frame.f_code not in given and frame.f_back:
        caller = frame.f_back.f_code.co_filename
        if caller != SENT and OWN not in caller and frame.f_code.co_name != "<module>":
            borrowed.add(frame.f_code.co_name)


def _place(error):
    """The student's line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "ipykernel" in f.filename or f.filename.startswith("<ipython")]
    if not own:
        return ""
    line = (own[-1].line or "").strip()
    return f"in `{own[-1].name}`, line {own[-1].lineno}" + (f": `{line[:100]}`" if line else "")


def pack(value):
    """A value as JSON can hold it: numbers and arrays by content, anything else by the name of its type."""
    if type(value) is str:
        return ["str", value[:1000]]
    if value is None or type(value) in (bool, int, float):
        return [type(value).__name__, value if type(value) is not int or abs(value) < 2**62 else float(value)]
    if isinstance(value, (list, tuple)):
        return ["list" if isinstance(value, list) else "tuple", [*map(pack, value[:1000])]]
    array = _array(value)
    if array is None or array.dtype.kind not in "biufc" or array.size > LARGEST:
        return ["object", type(value).__name__]
    file = io.BytesIO()
    np.save(file, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
    return ["ndarray", b64encode(file.getvalue()).decode()]


def _array(value):
    """Anything that the check would read as an array of numbers, as one; else None."""
    try:
        array = np.asarray(value)
        return array.astype(np.float64) if array.dtype == object else array
    except Exception:
        return None
