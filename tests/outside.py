"""Environments of their own, for the tests and the rehearsal that need other versions: a Python, and uv to fill it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[1]
on_demand = pytest.mark.skipif(
    "COURSE_EVERYWHERE" not in os.environ,
    reason="takes a quarter of an hour, or the whole machine: set COURSE_EVERYWHERE=1",
)


def find_python(version):
    """A Python of that version ("3.12") on this machine, or None; pyenv may have one that it does not put forward."""
    on_path = shutil.which(f"python{version}")
    others = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    for program in [*([on_path] if on_path else []), *map(str, others)]:
        if subprocess.run([program, "-c", ask], capture_output=True, text=True).stdout.strip() == version:
            return program
    return None


def make(folder, python, *requirements):
    """Make an environment in that folder and install into it; what `uv pip install` takes. Returns its Python."""
    from uv import find_uv_bin  # only here: whoever skips these tests need not have it

    def uv(*words):
        subprocess.run([find_uv_bin(), "--quiet", *words], check=True, env=quiet, cwd=COURSE)

    quiet = {**os.environ, "UV_PYTHON_DOWNLOADS": "never", "VIRTUAL_ENV": str(folder)}
    uv("venv", "--seed", "--python", python, folder)
    uv("pip", "install", *requirements)
    return folder / "bin" / "python"
