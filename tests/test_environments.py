"""The course with the packages of Google Colab, with the oldest that its ranges allow, and in Notebook 7."""

import os
import subprocess
import sys

import pytest

from . import notebooks, outside

COLAB = ("ipywidgets==7.7.1", "numpy==2.1.*", "matplotlib==3.10.0")  # though the course's ranges begin later
QUICK = ["-m", "not slow"]
# What is drawn, shown and asked: each explorer swept, each question answered.
SHOWN = ("controls", "live", "explorers", "running", "predict", "quiz", "browser_alone", "progress")
SHOWN = [*QUICK, *(f"tests/test_{name}.py" for name in SHOWN)]
UNITS = [*QUICK, "--ignore=tests/browser", "tests"]
# What these files test is not what the packages' versions decide.
UNITS += [
    f"--ignore=tests/test_{name}.py" for name in ("course", "notebooks", "binder", "style", "contributing")
]
LESSONS = ["-o", "addopts=", "--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=120", "notebooks"]


def colab(folder):
    (folder / "colab.txt").write_text("\n".join(COLAB))
    python = outside.find_python("3.13") or sys.executable
    return outside.make(
        folder / "env", python, "-r", "tests/requirements.txt", "--override", folder / "colab.txt"
    )


def floors(folder):
    options = ("-r", "tests/requirements.txt", "--resolution", "lowest-direct")
    return outside.make(folder / "env", outside.find_python("3.11") or sys.executable, *options)


def run(python, *words):
    """What that Python prints in the course's folder; a failure is one here."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [python, *words],
        cwd=outside.COURSE,
        env=environ | {"MPLCONFIGDIR": str(python.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


@pytest.fixture(
    scope="module",
    params=[
        (colab, "numpy 2.1.3 · matplotlib 3.10.0 · ipywidgets 7.7.1"),
        (floors, "numpy 2.1.0 · matplotlib 3.10.0 · ipywidgets 8.1.7"),
    ],
    ids=["colab", "floors"],
)
def python(request, tmp_path_factory):
    """The Python of that environment."""
    make, versions = request.param
    python = make(tmp_path_factory.mktemp("outside"))
    assert versions in run(python, "-c", notebooks.FIRST_CELL)
    return python


@pytest.mark.slow
@pytest.mark.parametrize(
    "tests",
    [pytest.param(tests, marks=outside.on_demand) for tests in (SHOWN, UNITS, LESSONS)],
    ids=["shown", "units", "notebooks"],
)
def test_the_course_passes_with_other_versions(python, tests):
    every_core = ["-n", "auto", "--dist", "loadfile"]
    failures_alone = ["-rf", "--tb=short", "-p", "no:warnings", "-p", "no:cacheprovider"]
    assert " passed" in run(python, "-m", "pytest", "-q", *failures_alone, *every_core, *tests)


@outside.on_demand
@pytest.mark.slow
def test_pictures_move_in_notebook_7(tmp_path):
    python = outside.make(tmp_path / "env", sys.executable, "-r", "tests/requirements.txt", "notebook>=7,<8")
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/browser/test_notebook7.py"]
    assert "2 passed" in run(python, *tests)
