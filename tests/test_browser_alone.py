"""Ready for JupyterLite, where there is no server: no threads, sockets, signals or sleep; only what Pyodide has.

And for front ends that fetch no widget's code, such as VS Code and Colab: no widgets but those of ipywidgets.
"""

import ast
import signal
import socket
import sys
import threading
import time

import ipywidgets
import nbformat
import pytest

from helpers import exercises, explorers, layers

from . import notebooks
from .outside import COURSE

BUILT_FOR_WASM = {"numpy", "matplotlib", "PIL"}  # compiled; Pyodide builds them
PURE = {"IPython", "ipywidgets", "packaging", "traitlets"}
MISSING_THERE = {"_thread", "concurrent", "multiprocessing", "select", "selectors", "signal", "socket"}
MISSING_THERE |= {"socketserver", "ssl", "subprocess", "threading", "urllib", "http"}
# A check's time limit: it asks first whether signals are there, and does without them.
ASKS_FIRST = {("exercises/running.py", "signal"), ("exercises/running.py", "threading")}
SOURCES = sorted((COURSE / "helpers").rglob("*.py"))


def imported(path):
    """The top-level names of what a file imports from outside helpers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


def test_helpers_import_what_the_browser_has():
    names = {
        (path.relative_to(COURSE / "helpers").as_posix(), name) for path in SOURCES for name in imported(path)
    }
    assert {pair for pair in names if pair[1] in MISSING_THERE} == ASKS_FIRST
    packages = {name for _, name in names} - sys.stdlib_module_names - {"helpers"}
    assert packages == BUILT_FOR_WASM | PURE


def test_helpers_never_sleep_but_let_the_kernel_listen():
    slept = {
        (path.relative_to(COURSE / "helpers").as_posix(), ast.unparse(node.func))
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("sleep")
    }
    assert slept == {("running.py", "asyncio.sleep")}


def kinds_of(widget):
    """All classes below that one."""
    for kind in widget.__subclasses__():
        yield from (kind, *kinds_of(kind))


def test_widgets_are_shown_by_the_code_of_ipywidgets():
    own = [kind for kind in kinds_of(ipywidgets.Widget) if kind.__module__.startswith("helpers.")]
    modules = {trait.default_value for kind in own for trait in (kind._model_module, kind._view_module)}
    assert modules == {"@jupyter-widgets/controls"}


def test_notebooks_name_their_language():
    for path in notebooks.paths():
        assert nbformat.read(path, 4).metadata.language_info.name == "python"


@pytest.fixture
def bare(monkeypatch):
    """Threads, sockets and sleep raise, and there is no timer, as in a browser."""

    def missing(*_, **__):
        raise NotImplementedError("not in a browser")

    for owner, name in ((threading.Thread, "start"), (socket, "socket"), (time, "sleep"), (signal, "signal")):
        monkeypatch.setattr(owner, name, missing)
    monkeypatch.delattr(signal, "setitimer", raising=False)


@pytest.mark.parametrize("name", ["survival", "layer_norm_steps", "which_numbers", "casting"])
def test_pictures_are_drawn_without_what_the_browser_lacks(bare, name):
    explorer = explorers.ALL[name]()
    assert explorer.error is None and explorer.image.value
    explorer.close()


def test_exercises_are_checked_without_what_the_browser_lacks(bare):
    assert exercises.layer_norm.diagnose(layers.layer_norm).outcome == "correct"
