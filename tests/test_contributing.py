"""The examples of CONTRIBUTING.md, in a copy of the course: they do what the page says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import controls
from helpers.figures import drawing

COURSE = Path(__file__).parents[1]
PAGE = (COURSE / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|text|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(
    r"# (\S+), (new|at its end|with the imports|in \w+)\n"
)  # the first line of a piece of the course
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build")


def blocks():
    """The page's examples, in order: language and text."""
    return BLOCK.findall(PAGE)


def runs():
    """What is run: (language, text, what it prints), the last only if the page says so."""
    found = blocks()
    for (language, text), (after, printed) in zip(found, [*found[1:], ("", "")]):
        if language != "text" and not PLACE.match(text):
            yield language, text, printed if after == "text" and not PLACE.match(printed) else None


def put(house, text):
    """Put a piece of the course where its first line says."""
    name, where = PLACE.match(text).groups()
    path, piece = house / name, text.split("\n", 1)[1]
    if where == "new":
        assert not path.exists(), f"{name} is there already"
        path.write_text(piece, encoding="utf-8")
        return
    old = path.read_text(encoding="utf-8")
    if where == "at its end":
        new = f"{old}\n\n{piece}"
    elif where == "with the imports":
        new = re.sub(r"^from \.", lambda first: piece + first[0], old, count=1, flags=re.MULTILINE)
    else:
        name = where.removeprefix("in ")  # of a text, a list or a dict: below its first line
        new = re.sub(rf"^{name} = .*\n", lambda first: first[0] + piece, old, count=1, flags=re.MULTILINE)
    assert new != old, f"{name} has no such place: {where}"
    path.write_text(new, encoding="utf-8")


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the course with everything that the page adds to it, or writes by an example that prints nothing."""
    house = tmp_path_factory.mktemp("contributing") / "course"
    shutil.copytree(COURSE, house, ignore=NOT_COPIED)
    for _, text in blocks():
        if PLACE.match(text):
            put(house, text)
    for language, text, printed in runs():
        if language == "python" and printed is None:
            run(house, "-c", text)
    return house


def run(house, *arguments):
    """Run this Python in the copy; what it printed."""
    env = {**os.environ, "PYTHONPATH": str(house), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=house, env=env, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("text, printed", [(text, printed) for _, text, printed in runs() if printed])
def test_an_example_prints_what_the_page_says(house, text, printed):
    assert run(house, "-c", text) == printed


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for language, text, _ in runs() if language == "sh"])
def test_the_commands_of_an_example_pass(house, text):
    for line in text.splitlines():
        python, *arguments = shlex.split(line)
        assert python == "python"
        said = run(house, *arguments)
        assert "pytest" not in arguments or re.search(r"[1-9]\d* passed", said), said


@pytest.mark.parametrize("module", [controls, drawing], ids=["controls", "drawing"])
def test_the_page_names_all_that_a_picture_is_made_of(module):
    parts = [
        name
        for name, part in vars(module).items()
        if getattr(part, "__module__", "") == module.__name__ and not name.startswith("_")
    ]
    missing = [name for name in parts if f"`{name}`" not in PAGE]
    assert missing == [], (
        f"CONTRIBUTING.md, An explorer, does not say what these of {module.__name__} are for"
    )


def test_every_kind_of_addition_has_its_example():
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert headings == [
        "The house",
        "An explorer",
        "An exercise",
        "A mistake",
        "A notebook",
        "Tests, pictures, releases",
    ]
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[2:6]:
        assert "```python\n" in section and "```sh\npython -m" in section


def test_what_the_page_names_is_there():
    made = {PLACE.match(text)[1] for _, text in blocks() if PLACE.match(text)} | {"notebooks/08_sums.ipynb"}
    names = set(
        re.findall(r"(?:[\w.]+/)+[\w.]*\w|\w+\.(?:py|md|toml)\b", re.sub(r"arXiv:\S+|mybinder.org", "", PAGE))
    )
    assert len(names) > 20
    assert [
        name
        for name in sorted(names - made)
        if not name.startswith(".venv/") and not (COURSE / name).exists()
    ] == []
