"""What students hand in, by accident or on purpose: the right marks, nobody else's hurt, one line of report."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r homework/requirements.txt")

from homework import grading, judging
from homework.kernel import sandbox

from .conftest import LESSON, RIGHT, answered, cell, make, released, scores, submit

ALL, FORWARD, BACKWARD = 6, 2, 4
WRONG = {name: text.partition("\n")[0] + "\n    return 0 * x" for name, text in RIGHT.items()}
walls = pytest.mark.skipif(not sandbox(), reason="bubblewrap is not installed, or does not work here")


def with_cell(folder, code, answers=RIGHT, at=2):
    """The answers, and a cell of the student's own before them."""
    notebook = answered(folder, **answers)
    notebook.cells.insert(at, new_code_cell(code))
    return notebook


def with_body(folder, *lines):
    """layer_norm with another body; the other answer is right."""
    head = RIGHT["layer_norm"].partition("\n")[0]
    return answered(folder, **RIGHT | {"layer_norm": "\n    ".join([head, *lines])})


def edited(folder, change, answers=RIGHT):
    notebook = answered(folder, **answers)
    change(notebook)
    return notebook


def copied(notebook):
    notebook.cells.insert(6, nbformat.from_dict({**cell(notebook, "layer_norm"), "id": "copy"}))


def stub_copied(folder):
    """The answer, and below it the cell as it was handed out."""
    notebook, stub = answered(folder, **RIGHT), cell(released(folder), "layer_norm")
    notebook.cells.insert(6, nbformat.from_dict({**stub, "id": "copy"}))
    return notebook


def split(notebook):
    answer = cell(notebook, "layer_norm")
    first, _, rest = answer.source.partition("\n")
    second = nbformat.from_dict({**answer, "id": "second", "source": rest})
    answer.source = first
    notebook.cells.insert(notebook.cells.index(answer) + 1, second)


def deleted(notebook):
    answer = cell(notebook, "layer_norm")
    notebook.cells[notebook.cells.index(answer)] = new_code_cell(answer.source)


def retyped(notebook):
    answer = cell(notebook, "layer_norm")
    answer.cell_type = "markdown"
    del answer["outputs"], answer["execution_count"]


def without_metadata(notebook):
    for one in notebook.cells:
        one.metadata.clear()


def edited_tests(notebook):
    for name in RIGHT:
        cell(notebook, f"test_{name}").source = "pass"


def edited_points(notebook):
    cell(notebook, "test_layer_norm").metadata.nbgrader.points = 100
    cell(notebook, "test_layer_norm_backward").metadata.nbgrader.points = 0


def edited_kernel(notebook):
    notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}


def without_setup(notebook):
    notebook.cells.remove(cell(notebook, "setup"))


SWALLOWS = "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
RIGHT_LINE = RIGHT["layer_norm"].splitlines()[1].strip(), RIGHT["layer_norm"].splitlines()[2].strip()

# name: (notebook made of the folder, marks, words in the report or None when nothing is to be reported)
CASES = {
    "good": (lambda f: answered(f, **RIGHT), ALL, None),
    "blank": (released, 0, None),
    "half": (lambda f: answered(f, **RIGHT | {"layer_norm": WRONG["layer_norm"]}), BACKWARD, None),
    "endless_cell": (lambda f: with_cell(f, "while True: pass"), ALL, "did not end"),
    "endless_swallowing": (lambda f: with_cell(f, "\n".join(SWALLOWS)), ALL, "did not end"),
    "endless_answer": (lambda f: with_body(f, "while True: pass"), BACKWARD, "too slow"),
    "endless_swallowing_answer": (lambda f: with_body(f, *SWALLOWS), BACKWARD, "too slow"),
    "sys_exit": (lambda f: with_cell(f, "import sys\nsys.exit(3)"), ALL, "imports sys"),
    "sys_exit_answer": (lambda f: with_body(f, "raise SystemExit"), BACKWARD, None),
    "os_exit": (lambda f: with_cell(f, "import os\nos._exit(0)"), ALL, "ended Python"),
    "os_exit_answer": (lambda f: with_body(f, "import os", "os._exit(0)"), BACKWARD, "ended"),
    "input": (lambda f: with_body(f, "return float(input())"), BACKWARD, "uses input"),
    "invalid_json": (lambda f: '{"cells": [', 0, "not a notebook"),
    "binary": (lambda f: "\x00\x01", 0, "not a notebook"),
    "empty_file": (lambda f: "", 0, "not a notebook"),
    "empty_notebook": (lambda f: nbformat.v4.new_notebook(), 0, "empty"),
    "odd_json": (lambda f: json.dumps({"nbformat": 4, "cells": [1, {"cell_type": 5}, None]}), 0, "deleted"),
    "copied": (lambda f: edited(f, copied), ALL, "2 times"),
    "stub_copied": (stub_copied, ALL, "2 times"),
    "split": (lambda f: edited(f, split), ALL, "2 times"),
    "deleted": (lambda f: edited(f, deleted), ALL, "layer_norm was deleted"),
    "retyped": (lambda f: edited(f, retyped), ALL, "another kind"),
    "reordered": (lambda f: edited(f, lambda n: n.cells.reverse()), ALL, "moved"),
    "no_metadata": (lambda f: edited(f, without_metadata), ALL, None),
    "edited_tests": (lambda f: edited(f, edited_tests, WRONG), 0, "was edited"),
    "edited_points": (lambda f: edited(f, edited_points), ALL, "points"),
    "edited_kernel": (lambda f: edited(f, edited_kernel), ALL, None),
    "no_setup": (lambda f: edited(f, without_setup), ALL, "setup was deleted"),
    "warns": (lambda f: with_cell(f, "import warnings, sys\nwarnings.warn('x')\nprint('x', file=sys.stderr)"), ALL, "imports"),
    "warns_answer": (lambda f: with_body(f, "np.log(-np.ones(3)); print('hello')", *RIGHT_LINE), ALL, None),
    "noisy": (lambda f: with_cell(f, "for _ in range(200): print('x' * 1_000_000)"), ALL, None),
    "memory": (lambda f: with_cell(f, "big = [np.ones(2**20) for _ in range(1500)]"), ALL, None),
    "memory_answer": (lambda f: with_body(f, "return np.ones(12 * 2**27)"), BACKWARD, None),
    "own_error": (lambda f: with_cell(f, "1 / 0"), ALL, None),
    "patched_allclose": (lambda f: with_cell(f, "np.allclose = lambda *a, **k: True", WRONG), 0, "np.allclose"),
    "patched_check": (
        lambda f: with_cell(f, "exercises.Exercise.diagnose = lambda s, f: exercises.Diagnosis('correct', None, '')", WRONG),
        0,
        "replaces",
    ),
    "patched_display": (
        lambda f: with_cell(f, "import IPython.display, builtins\nIPython.display.display = builtins.print = lambda *a, **k: None"),
        ALL,
        "replaces",
    ),
    "forged": (
        lambda f: with_cell(f, "import sys\nsys.modules['answering'].answer = lambda *a: '{\"answers\": [{\"value\": [\"float\", 1]}] * 99}'", WRONG),
        0,
        "imports sys",
    ),
    "random": (lambda f: with_body(f, *RIGHT_LINE[:1], RIGHT_LINE[1] + " + np.random.rand() * (np.random.rand() < 0.5)"), BACKWARD, None),
    "counting": (
        lambda f: with_cell(f, "n = 0", {**RIGHT, "layer_norm": RIGHT["layer_norm"].replace("    mean", "    global n\n    n += 1\n    x = x * (n % 2)\n    mean")}),
        BACKWARD,
        None,
    ),
    "stopped_clock": (lambda f: with_cell(f, "import time\ntime.monotonic = time.time = lambda: 0"), ALL, "replaces time"),
    "borrowed": (
        lambda f: answered(f, **RIGHT | {"layer_norm": "from helpers import layers\nlayer_norm = layers.layer_norm"}),
        ALL,
        "layer_norm calls helpers' own layer_norm",
    ),
    "borrowed_quietly": (
        lambda f: with_body(f, "norm = exercises.layer_norm.or_reference(...)", "return norm(x, gamma, beta, eps)"),
        ALL,
        "layer_norm calls helpers' own layer_norm",
    ),
    "made_to_measure": (
        lambda f: with_body(f, "e = exercises.layer_norm", "for args, y in zip(e.probes, e.wanted):", "    if np.shape(x) == np.shape(args[0]) and np.all(x == args[0]) and eps == args[3]:", "        return y[0][0]", "return x"),
        BACKWARD,
        "made to measure",
    ),
}  # fmt: skip
WALLED = {
    "fork_bomb": (lambda f: with_cell(f, "import os\nwhile True: os.fork()"), ALL, "imports os"),
    "network": (
        lambda f: with_body(f, "import socket", "socket.create_connection(('1.1.1.1', 80), 2)", *RIGHT_LINE),
        BACKWARD,
        "imports socket",
    ),
    "reads_solution": (
        lambda f: with_cell(f, f"text = open({str(f / 'source' / LESSON / (LESSON + '.ipynb'))!r}).read()", WRONG),
        0,
        "uses open",
    ),
    "reads_secret": (lambda f: with_body(f, f"return open({str(f / 'homework.json')!r}).read()"), BACKWARD, "uses open"),
    "reads_everything": (
        lambda f: with_cell(f, "import pathlib\nprint([p for p in pathlib.Path('/').rglob('*.ipynb') if LESSON in p.name])".replace("LESSON", repr(LESSON)), WRONG),
        0,
        "imports pathlib",
    ),
    "writes_gradebook": (
        lambda f: with_cell(f, f"import sqlite3\ndb = sqlite3.connect({str(f / 'gradebook.db')!r})\ndb.execute('update grade set auto_score = 0')\ndb.commit()"),
        ALL,
        "imports sqlite3",
    ),
    "writes_files": (lambda f: with_cell(f, f"open({str(f / 'planted')!r}, 'w').write('x')"), ALL, "uses open"),
}  # fmt: skip


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """All cases as one class, graded once: (scores, what is to be looked at, the folder)."""
    folder = make(tmp_path_factory.mktemp("bad") / "folder", ["03"])
    for student, (build, *_) in {**CASES, **(WALLED if sandbox() else {})}.items():
        submit(folder, student, build(folder))
    submit(folder, "renamed", answered(folder, **RIGHT), name="my homework (1).ipynb")
    (folder / "submitted" / "missing" / LESSON).mkdir(parents=True)
    submit(folder, "own_helpers", answered(folder, **WRONG))
    own = folder / "submitted" / "own_helpers" / LESSON / "helpers"
    own.mkdir()
    (own / "__init__.py").write_text("raise SystemExit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "CELL", 20)  # workers are forked, they know it
        patch.setattr(judging, "CALLS", 20)
        look = grading.grade(folder, LESSON, say=lambda text: None)
    return scores(folder), look, folder


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork"),
]


def _holds(graded, student, marks, words):
    points, look, _ = graded
    said = "; ".join(look.get(student, []))
    assert points[student] == marks, said
    assert "\n" not in said
    assert (words in said) if words else not said, said


@pytest.mark.parametrize("student", CASES)
def test_each_gets_its_marks_and_one_line(graded, student):
    _holds(graded, student, *CASES[student][1:])


@walls
@pytest.mark.parametrize("student", WALLED)
def test_behind_walls(graded, student):
    _holds(graded, student, *WALLED[student][1:])


def test_files_that_are_named_otherwise_or_missing(graded):
    _holds(graded, "renamed", ALL, "'my homework (1).ipynb'")
    _holds(graded, "missing", 0, "is missing")
    _holds(graded, "own_helpers", 0, None)


@walls
def test_nothing_was_read_or_written(graded):
    _, _, folder = graded
    assert not (folder / "planted").exists()
    secret = json.loads((folder / "homework.json").read_text())["key"]
    for path in folder.glob("autograded/*/*/*.ipynb"):
        text = path.read_text()
        assert secret not in text
    everything = (folder / "autograded" / "reads_everything" / LESSON / f"{LESSON}.ipynb").read_text()
    assert ": [" in everything and "release" not in everything and "submitted" not in everything


def test_no_output_is_large(graded):
    _, _, folder = graded
    assert all(path.stat().st_size < 200_000 for path in folder.glob("autograded/*/*/*.ipynb"))
