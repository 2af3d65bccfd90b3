"""The code as tools see it: ruff's rules and format, on notebooks too; type hints; what functions say they return."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import controls, experiments, explorers, layers, live, predict, quiz

COURSE = Path(__file__).parents[1]


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy", "codespell_lib"])
def test_a_tool_has_nothing_to_say(command):
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=COURSE,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    mend = {"ruff check": "ruff check --fix", "ruff format --check": "ruff format"}.get(command)
    todo = f"\nrun: python -m {mend}" if mend else ""
    assert done.returncode == 0, done.stdout + done.stderr + todo


def public(module):
    """The functions that a module defines for others."""
    functions = inspect.getmembers(module, inspect.isfunction)
    return [f for name, f in functions if f.__module__ == module.__name__ and not name.startswith("_")]


MODULES = [
    layers,
    live,
    controls,
    predict,
    quiz,
    *(m for _, m in inspect.getmembers(experiments, inspect.ismodule)),
]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_a_public_function_says_what_it_returns(module):
    silent = [f.__name__ for f in public(module) if "return" not in f.__annotations__]
    assert [
        name for name in silent if not name.endswith(("_found", "_mended"))
    ] == []  # those are shown to learners


def test_an_explorer_says_what_it_takes_and_returns():
    for explorer in explorers.ALL.values():
        assert set(explorer.__annotations__) == {*inspect.signature(explorer).parameters, "return"}, explorer


def test_nothing_is_decorated_twice_with_the_same():
    twice = [
        f"{path.name}: {node.name}"
        for path in (COURSE / "helpers").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and len({ast.dump(one) for one in node.decorator_list}) < len(node.decorator_list)
    ]
    assert twice == []
