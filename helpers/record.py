"""The record of what a learner has done: one small file, `progress.json`, in the folder of the notebooks.

    {"course": "residuals-and-norms", "version": 1, "entries": [entry, ...]}

is JSON in UTF-8. There is one entry for each exercise, prediction and question that was answered:

    notebook  the name of its quiz, such as "layer_norm"
    kind, id  "exercise" and its name, "prediction" and its name, or "quiz" and the question's name
    right     true: the check was passed, the prediction a hit, the right option found
    time      when, in UTC, to the second: "2026-11-30T12:00:00+00:00"
    checks    exercise and quiz: how many it took, or there were so far
    mistake   exercise: the short name of the mistake that the last check found, or null
    chosen    prediction: the text of the option, or the number

Nothing else is in it: no name, no code. Of two entries for the same thing the one that was right first stays, or
else the last one; of two predictions the first, because a later one has seen the answer.
"""

import contextlib
import datetime
import json
import os
import re
import time
from operator import itemgetter
from types import NoneType

import traitlets

from .environment import COURSE

VERSION = 1
PATIENCE = 2  # seconds after which a lock must have been left behind by a kernel that was killed
ANY = {"notebook": (str,), "kind": (str,), "id": (str,), "right": (bool,), "time": (str,)}
FIELDS: dict[str, dict] = {
    "exercise": ANY | {"checks": (int,), "mistake": (str, NoneType)},
    "prediction": ANY | {"chosen": (str, int, float)},
    "quiz": ANY | {"checks": (int,)},
}
IN_PAGE = '<script type="application/json" id="record">{}</script>'
KEY = itemgetter("notebook", "kind", "id")


def write(entries):
    """The text of a record that holds these entries."""
    return json.dumps({"course": COURSE, "version": VERSION, "entries": list(entries)}, indent=1)


def read(text):
    """The entries of a record, or of the one in an exported page; ValueError when it is none of this course."""
    page = re.search(IN_PAGE.format("(.*)"), text, re.DOTALL)
    try:
        record = json.loads(page[1] if page else text)
        if (record["course"], record["version"]) == (COURSE, VERSION) and all(map(_sound, record["entries"])):
            return record["entries"]
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise ValueError("this is no record of the course, or one of another version")


def _sound(entry):
    """Is this an entry? ValueError, TypeError or KeyError: not by far."""
    fields = FIELDS[entry["kind"]]
    json.dumps(entry, ensure_ascii=False).encode()  # half a letter (a lone surrogate) could not be shown
    return entry.keys() == fields.keys() and all(type(entry[name]) in kinds for name, kinds in fields.items())


def merge(*many):
    """Several lists of entries as one: {(notebook, kind, id): entry}."""
    merged: dict = {}
    for entry in sum(map(list, many), []):
        first, last = sorted((merged.get(KEY(entry), entry), entry), key=itemgetter("time"))
        merged[KEY(entry)] = first if first["right"] or first["kind"] == "prediction" else last
    return merged


class Record(traitlets.HasTraits):
    """What is kept in the file at `path`, or nothing when that is None; whoever observes it hears of changes.

    entries: {(notebook, kind, id): entry}. note: what a learner should know of the file, in a sentence or two.
    """

    entries, note = traitlets.Dict(), traitlets.Unicode()

    def __init__(self, path):
        super().__init__()
        self.path, self._unwritten, self._aside = path, [], ""

    def add(self, notebook, kind, name, **result):
        """Record an answer, now; result: the other fields of its entry."""
        self.update()
        entry = {"notebook": notebook, "kind": kind, "id": name} | result
        entry["time"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        if "checks" in FIELDS[kind]:
            entry["checks"] = 1 + self.entries.get(KEY(entry), {"checks": 0})["checks"]
        self.update([entry])

    def update(self, new=()):
        """Read the file, merge these entries with what is in it, and write it if there are any."""
        if self.path is None:
            self.entries = merge(self.entries.values(), new)
            return
        self._unwritten += new
        try:
            with _alone(self.path) if self._unwritten else contextlib.nullcontext():
                merged = merge(self._read(), self._unwritten)
                if self._unwritten:
                    self._write(merged.values())
        except OSError as error:
            self.entries = merge(self.entries.values(), new)
            why = f"{self.path.name}: {error.strerror or error}"
            self.note = (
                f"Not kept in a file ({why}). It lasts as long as this kernel; the page takes it along."
            )
            return
        self._unwritten = []
        self.entries, self.note = merged, f"Kept in the file {self.path.name}, and sent nowhere.{self._aside}"

    def _read(self):
        try:
            return read(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except ValueError:  # letters that are not UTF-8 included
            self._set_aside()
            return []

    def _set_aside(self):
        number = 1
        while (aside := self.path.with_name(f"{self.path.name}.{number}")).exists():
            number += 1
        os.rename(self.path, aside)
        self._aside = f" What was there could not be read as a record; it is now in {aside.name}, unchanged."

    def _write(self, entries):
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(write(entries), encoding="utf-8")
        os.replace(new, self.path)  # at once: no reader ever sees half a file

    def turn_off(self):
        """Keep nothing from now on; what is in the file stays there."""
        self.path, self.note = None, "Progress is off: what you do is not recorded."


@contextlib.contextmanager
def _alone(path):
    """Keep other kernels from writing the file in the meantime."""
    lock = path.with_name(f"{path.name}.lock")
    while True:
        try:
            lock.open("x").close()
            break
        except FileExistsError:
            if _left_behind(lock):
                break
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _left_behind(lock):
    try:
        return abs(time.time() - lock.stat().st_mtime) > PATIENCE  # abs: a clock may have been set back
    except FileNotFoundError:  # given back just now
        return False
