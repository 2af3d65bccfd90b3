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
DIGITS = 6  # that a number must share with a secret one


def scan(root):
    """What was found, as lines `file: what`; none when all is well."""
    folder, found = Folder(root), []
    for assignment in folder.secret["assignments"]:
        secrets = Secrets(folder, assignment)
        for path in sorted((folder.root / "release" / assignment).rglob("*")):
            found += [
                f"{path.relative_to(folder.root)}: {what}" for what in secrets.of_file(path, solutions=True)
            ]
        for path in sorted(folder.root.glob(f"feedback/*/{assignment}/**/*")):
            found += [
                f"{path.relative_to(folder.root)}: {what}" for what in secrets.of_file(path, solutions=False)
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
        self.numbers = set()
        for exercise in judging.exercises_of(folder.graded(assignment), folder.seed).values():
            hidden = judging.with_hidden_inputs(exercise, folder.key)
            public = _numbers(exercise.probes) | _numbers(exercise.wanted)
            self.numbers |= (_numbers(hidden.probes) | _numbers(hidden.wanted)) - public

    def of_file(self, path, solutions):
        """What a file tells of them, in words."""
        if not path.is_file():
            return []
        text = html.unescape(re.sub(r"<[^>]*>", "", path.read_text("utf-8", "replace")))
        plain = text.replace("\\n", "\n").replace('\\"', '"')
        found = [
            f"the line {line!r} of a solution"
            for line in sorted(self.solutions)
            if solutions and line in plain
        ]
        found += [f"the words {word!r}" for word in sorted(self.words) if len(word) > 5 and word in plain]
        found += [f"the marker {marker}" for marker in (BEGIN, END) if solutions and marker in plain]
        shared = {_short(float(n)) for n in re.findall(r"-?\d+\.\d{4,}(?:e-?\d+)?", plain)} & self.numbers
        return found + [f"the number {number} of a hidden input or its result" for number in sorted(shared)]


def _lines(source):
    """The lines of a solution that are long enough to be recognized."""
    inside = source.partition(BEGIN)[2].partition(END)[0]
    return [line.strip() for line in inside.splitlines() if len(line.strip()) >= SHORT]


def _short(number):
    return f"{abs(number):.{DIGITS - 1}e}"


def _numbers(value):
    """The numbers in it with more than a few digits, shortened."""
    if isinstance(value, (list, tuple)):
        return set().union(*map(_numbers, value)) if value else set()
    if not isinstance(value, (float, np.ndarray)):
        return set()
    flat = np.ravel(np.asarray(value, float))
    return {_short(n) for n in flat if np.isfinite(n) and abs(n * 1e4 - round(n * 1e4)) > 1e-6 * abs(n * 1e4)}
