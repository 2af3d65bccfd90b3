"""The course with the packages of Google Colab, and with the oldest that its ranges allow."""

import os
import subprocess
import sys

import pytest

from . import notebooks, outside

COLAB = ("ipywidgets==7.7.1", "numpy==2.1.*", "matplotlib==3.10.0")  # though the course's ranges begin later
UNITS = ["-m", "not slow", "--ignore=tests/browser", "tests"]
# What these files test is not what the packages' versions decide.
UNITS += [f"--ignore=tests/test_{name}.py" for name in ("course", "notebooks", "binder")]
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


@pytest.fixture(
    scope="module",
    params=[
        (colab, "numpy 2.1.3 · matplotlib 3.10.0 · ipywidgets 7.7.1"),
        (floors, "numpy 2.1.0 · matplotlib 3.10.0 · ipywidgets 8.1.7"),
    ],
    ids=["colab", "floors"],
)
def run(request, tmp_path_factory):
    """Runs Python in that environment, in the course's folder."""
    make, versions = request.param
    python = make(tmp_path_factory.mktemp("outside"))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}

    def run(*words):
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

    assert versions in run("-c", notebooks.FIRST_CELL)
    return run


@outside.on_demand
@pytest.mark.slow
@pytest.mark.parametrize("tests", [UNITS, LESSONS], ids=["units", "notebooks"])
def test_the_course_passes_with_other_versions(run, tests):
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert " passed" in output
