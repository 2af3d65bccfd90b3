"""The first cell of every notebook: wherever the notebook lies, it finds helpers or says what to type."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from helpers import environment

from . import notebooks

COURSE = Path(__file__).parents[1]
ON_COLAB = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"
AFTERWARDS = "\nprint(helpers.__file__ if 'helpers' in globals() else sys.modules['helpers'].__file__)"
AFTERWARDS += (
    "\nprint({'numpy', 'ipywidgets', 'matplotlib'} & set(sys.modules))\nprint(sys.path.count(sys.path[-1]))"
)


def run(folder, before="", cell=notebooks.FIRST_CELL, helpers=None):
    """Run the cell twice in a folder, in a Python that has the packages but not the course."""
    packages = {
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        *([str(helpers)] if helpers else []),
    }
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    # -S: an editable installation of the course is found by site alone.
    command = [sys.executable, "-S", "-c", f"{before}{cell}\n{cell}{AFTERWARDS}"]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, encoding="utf-8")


def where(done):
    """The helpers that the cell found, after the checks that hold wherever it ran."""
    assert done.returncode == 0, done.stderr
    first, second, file, touched, times = done.stdout.splitlines()
    assert first == second and first.startswith(
        f"The course 1.0.0 · Python {sys.version.split()[0]} · numpy "
    )
    assert touched == "set()" and times == "1"
    return Path(file).parents[1]


@pytest.fixture
def copied(tmp_path):
    """A copy of helpers below the temporary folder."""
    shutil.copytree(COURSE / "helpers", tmp_path / "course" / "helpers")
    return tmp_path / "course"


def test_it_looks_up_the_folders(copied):
    (copied / "notebooks" / "mine").mkdir(parents=True)
    assert where(run(copied / "notebooks")) == copied
    assert where(run(copied / "notebooks" / "mine")) == copied


def test_it_takes_the_installed_course_for_a_copied_notebook(copied, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    assert where(run(tmp_path / "elsewhere", helpers=copied)) == copied


def test_it_says_what_to_type_where_there_is_no_course(tmp_path):
    done = run(tmp_path)
    assert done.returncode and "Traceback" not in done.stderr
    assert done.stderr.startswith("helpers is not here: in the course's folder type  python3 course.py")


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def test_on_colab_it_makes_a_shallow_clone_once(copied, tmp_path):
    if not shutil.which("git"):
        pytest.skip("no git here")
    me = ("-c", "user.name=a", "-c", "user.email=a@b")
    git(copied, "init", "--quiet")
    git(copied, *me, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(copied, "add", ".")
    git(copied, *me, "commit", "--quiet", "-m", "second")
    content = tmp_path / "content"
    content.mkdir()
    cell = notebooks.FIRST_CELL.replace("https://github.com/OWNER/REPO", copied.as_uri())
    assert where(run(content, ON_COLAB, cell)) == content / "course"
    count = ["git", "rev-list", "--count", "HEAD"]
    assert subprocess.check_output(count, cwd=content / "course", text=True).strip() == "1"


def test_on_colab_a_wrong_address_is_told(tmp_path):
    cell = notebooks.FIRST_CELL.replace("https://github.com/OWNER/REPO", (tmp_path / "nothing").as_uri())
    done = run(tmp_path, ON_COLAB, cell)
    assert "put the right address into COURSE" in done.stderr and "Traceback" not in done.stderr


def test_a_missing_package_is_named(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(
        SystemExit, match=r"numpy is not here\. In the course's folder, type: python3 course.py"
    ):
        environment.versions()
