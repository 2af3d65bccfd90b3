"""Looks for what should not be in a student's hands: in released notebooks, autograded ones and feedback."""

import html
import re
from pathlib import Path

import nbformat
import numpy as np

from . import judging, rebuilding
from .building import BEGIN, END
from .folder import COURSE, SECRET, Folder

SHORT = 25  # characters that a line of a solution must have to be told from a student's own
DIGITS = 6  # that a number must share with a secret one, and
MOST = 14  # if it has so many


def scan(root):
    """What was found, as lines `file: what`; none when all is well."""
    folder, found = Folder(root), []
    for assignment in folder.secret["assignments"]:
        secrets = Secrets(folder, assignment)
        for path in sorted((folder.root / "release" / assignment).rglob("*")):
            found += [
                f"{path.relative_to(folder.root)}: {what}" for what in secrets.of_file(path, solutions=True)
            ]
        graded = (f"{place}/*/{assignment}/**/*" for place in ("autograded", "feedback"))
        for path in sorted(path for places in graded for path in folder.root.glob(places)):
            student = path.relative_to(folder.root).parts[1]
            files = rebuilding.submitted(folder.root / "submitted" / student / assignment)
            own = b"".join(files.values()).decode("utf-8", "replace")
            found += [
                f"{path.relative_to(folder.root)}: {what}"
                for what in secrets.of_file(path, solutions=False, own=own)
            ]
    return found


class Secrets:
    """What must not be told about an assignment."""

    def __init__(self, folder, assignment):
        self.solutions, self.words = (
            set(),
            {folder.key, str(folder.root), str(COURSE), str(Path.home()), SECRET},
        )
        for path in (folder.root / "source" / assignment).glob("*.ipynb"):
            for cell in nbformat.read(path, 4).cells:
                if rebuilding.is_answer(cell):
                    self.solutions |= set(_lines(cell.source))
        self.numbers = {}  # as `_short` writes them -> all that begin so
        for exercise in judging.exercises_of(folder.graded(assignment), folder.seed).values():
            hidden = judging.with_hidden_inputs(exercise, folder.key)
            calls = [*exercise.probes, *(remark.args for remark in exercise.remarks)]
            public = {*map(_short, _numbers([calls, exercise.wanted]))}  # a lesson's check shows them
            for number in _numbers([hidden.probes, hidden.wanted]):
                if _short(number) not in public:
                    self.numbers.setdefault(_short(number), set()).add(number)

    def of_file(self, path, solutions, own=""):
        """What a file tells of them, in words; own: what a student wrote, and so knew before."""
        if not path.is_file():
            return []
        text = html.unescape(re.sub(r"<[^>]*>", "", path.read_text("utf-8", "replace")))
        plain = text.replace("\\n", "\n").replace('\\"', '"')
        found = [
            f"the line {line!r} of a solution"
            for line in sorted(self.solutions)
            if solutions and line in plain
        ]
        told = [word for word in sorted(self.words) if len(word) > 5 and word in plain and word not in own]
        found += [f"the words {word!r}" for word in told]
        found += [f"the marker {marker}" for marker in (BEGIN, END) if solutions and marker in plain]
        shared = {n for n in re.findall(r"\d+\.\d{4,}(?:e-?\d+)?", plain) if self.is_secret(n)}
        return found + [f"the number {number} of a hidden input or its result" for number in sorted(shared)]

    def is_secret(self, written):
        """Is this number a secret one, as far as its digits go?"""
        value, digits = float(written), re.sub(r"e.*|\D", "", written).lstrip("0")
        shown = min(max(len(digits), DIGITS), MOST) - 1
        return any(f"{n:.{shown}e}" == f"{value:.{shown}e}" for n in self.numbers.get(_short(value), ()))


def _lines(source):
    """The lines of a solution that are long enough to be recognized."""
    inside = source.partition(BEGIN)[2].partition(END)[0]
    return [line.strip() for line in inside.splitlines() if len(line.strip()) >= SHORT]


def _short(number):
    return f"{number:.{DIGITS - 1}e}"


def _numbers(value):
    """The numbers in it with more than a few digits, without their signs."""
    if isinstance(value, (list, tuple)):
        return set().union(*map(_numbers, value)) if value else set()
    if not isinstance(value, (float, np.ndarray)):
        return set()
    flat = np.abs(np.ravel(np.asarray(value, float)))
    return {float(n) for n in flat if np.isfinite(n) and abs(n * 1e4 - round(n * 1e4)) > 1e-6 * abs(n * 1e4)}
