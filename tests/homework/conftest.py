"""A teacher's course folder, and what is done with it. Without nbgrader the tests here skip."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

COURSE = Path(__file__).parents[2]
LESSON = "03_layer_norm_homework"  # the assignment that is made of it
PICTURE = {  # one white point
    "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4DwQACfsD/c8LaHIAAAAASUVORK5CYII="
}
RIGHT = {
    "layer_norm": """def layer_norm(x, gamma, beta, eps):
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta""",
    "layer_norm_backward": """def layer_norm_backward(dy, x, gamma, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    x_hat, g, rows = centred * rstd, dy * gamma, tuple(range(x.ndim - 1))
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    return dx, (dy * x_hat).sum(axis=rows), dy.sum(axis=rows)""",
}


def command(folder, *words):
    """Run a command of nbgrader or of homework in a folder as a teacher would; returns what it says."""
    path = os.pathsep.join([str(COURSE), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def make(folder, lessons, *more):
    """A course folder with its assignments released."""
    command(COURSE, "homework", "new", str(folder), "--lessons", *lessons, *more)
    for assignment in sorted(path.name for path in (folder / "source").iterdir()):
        command(folder, "nbgrader", "generate_assignment", assignment)
    return folder


def released(folder, assignment=LESSON):
    """What students get."""
    return nbformat.read(folder / "release" / assignment / f"{assignment}.ipynb", 4)


def cell(notebook, grade_id):
    """The cell with this grade_id."""
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def answered(folder, assignment=LESSON, **answers):
    """The released notebook with these answers in it."""
    notebook = copy.deepcopy(released(folder, assignment))
    for name, text in answers.items():
        cell(notebook, name).source = text
    return notebook


def submit(folder, student, notebook, assignment=LESSON, name=None):
    """Put a notebook (or text, or bytes) where nbgrader collects; returns the folder."""
    place = folder / "submitted" / student / assignment
    path = place / (name or f"{assignment}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = notebook if isinstance(notebook, (str, bytes)) else nbformat.writes(notebook)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def scores(folder, assignment=LESSON):
    """{student: points} from the gradebook."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(assignment)}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A course folder of lesson 03, released; tests submit under names of their own."""
    return make(tmp_path_factory.mktemp("teacher") / "folder", ["03"])
