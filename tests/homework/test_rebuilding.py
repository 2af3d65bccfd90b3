"""What is read of a submission before anything of it runs: its answers, its pictures, and where they stand."""

import json

import nbformat
import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell

pytest.importorskip("cloudpickle", reason="not installed: pip install -r homework/requirements.txt")

from homework import building, pictures, rebuilding

from .conftest import COURSE, PICTURE, cell


@pytest.fixture(scope="module")
def released():
    notebook = nbformat.reads(building.lesson("03").text, 4)
    for one in notebook.cells:
        if one.metadata.nbgrader.solution:
            one.source = "YOUR ANSWER HERE" if one.cell_type == "markdown" else "def layer_norm(): ..."
    return notebook


def rebuilt(released, change):
    """What becomes of the released notebook after a change: (notebook, remarks)."""
    notebook = nbformat.from_dict(released)
    change(notebook)
    return rebuilding.rebuild(json.dumps(notebook).encode(), released)


def with_picture(text, attachments):
    """Writes an answer in words that shows pictures."""

    def change(notebook):
        cell(notebook, "written_1").update(source=text, attachments=attachments)

    return change


@pytest.mark.parametrize("name, text", [
    ("image.png", "![a photo](attachment:image.png)"),
    ("my photo.png", "![](attachment:my%20photo.png)"),
    ("ü.png", "![][here]\n\n[here]: attachment:ü.png"),
])  # fmt: skip
def test_a_picture_that_was_handed_in_is_on_the_page(released, name, text):
    notebook, remarks = rebuilt(released, with_picture(text, {name: PICTURE}))
    assert remarks == []
    assert f"data:image/png;base64,{PICTURE['image/png']}" in HTMLExporter().from_notebook_node(notebook)[0]


@pytest.mark.parametrize("attachments", [
    {},
    {"other.png": PICTURE},
    {"a.png": {"text/html": PICTURE["image/png"]}},
    {"a.png": {"image/png": '"><script>'}},
    {"a.png": {"image/png": "A" * (pictures.LARGEST + 1)}},
    {"a.png": 5},
])  # fmt: skip
def test_a_page_is_made_without_the_picture(released, attachments):
    notebook, remarks = rebuilt(released, with_picture("![a](attachment&#58;a.png)", attachments))
    assert remarks == ["the picture 'a.png' was not handed in, or is too large"]
    page = HTMLExporter().from_notebook_node(notebook)[0]
    assert pictures.MISSING["image/svg+xml"] in page and "<script>'" not in page


def test_pictures_of_all_cells_together_are_limited(released):
    def change(notebook):
        half = {"image/png": "A" * (pictures.LARGEST // 2)}
        for _ in range(3):
            notebook.cells.append(new_markdown_cell("![](attachment:a.png)", attachments={"a.png": half}))

    assert len(rebuilt(released, change)[1]) == 2  # one picture too many; and answers that are elsewhere


def test_words_in_the_wrong_cell_are_reported(released):
    def change(notebook):
        notebook.cells.append(new_markdown_cell("My answer."))
        cell(notebook, "written_1").source = "Another answer."

    said = "written_2 is blank, and there is text in cells of the student's own"
    assert rebuilt(released, change)[1] == [said]
    assert rebuilt(released, lambda notebook: None)[1] == []  # blank, and nothing elsewhere


def test_another_notebook_is_called_so(released):
    lesson = (COURSE / "notebooks" / "03_layer_norm.ipynb").read_bytes()
    assert rebuilding.rebuild(lesson, released)[1] == [rebuilding.STRANGE]
