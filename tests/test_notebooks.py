"""The committed notebooks: what the script would write, with links that lead somewhere; and nbval itself."""

import base64
import copy
import io
import re
import subprocess
import sys

import nbformat
import numpy as np
import pytest
from PIL import Image

from . import notebooks

PATHS = notebooks.paths()
MAY_VARY = {"environment.check()", "environment.versions()"}  # the end of the cell


@pytest.fixture(params=PATHS, ids=[path.stem for path in PATHS])
def stored(request):
    notebook = nbformat.read(request.param, 4)
    notebook.path = request.param
    return notebook


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_committed_notebook_is_what_the_script_writes(stored):
    path = stored.pop("path")
    again = notebooks.execute(notebooks.frame(copy.deepcopy(stored), path))
    assert notebooks.differences(stored, again) == [], f"run: python -m tests.notebooks {path.stem}"


def test_every_cell_was_run_without_an_error(stored):
    assert [cell.execution_count for cell in code(stored)] == list(range(1, len(code(stored)) + 1))
    assert not [o for cell in code(stored) for o in cell.outputs if o.output_type == "error"]
    assert not [o for cell in code(stored) for o in cell.outputs if o.get("name") == "stderr"]


def test_no_widget_state_is_stored_and_still_pictures_are(stored):
    text = stored.path.read_text(encoding="utf-8")
    assert notebooks.VIEW not in text and '"widgets"' not in text
    shows = [cell for cell in code(stored) if re.match(r"explorers\.\w+\(", cell.source)]
    to_be_mended = [cell for cell in shows if re.match(r"explorers\.museum\(\d, ", cell.source)]
    for cell in shows:
        assert len(notebooks.pictures(cell.outputs)) == (cell not in to_be_mended), cell.source
    assert len(to_be_mended) == 6 * stored.path.name.startswith("07")


def test_only_listed_cells_may_vary(stored):
    tagged = {c.source.splitlines()[-1] for c in stored.cells if c.metadata.get("tags")}
    assert tagged <= MAY_VARY


def test_code_cells_are_short(stored):
    lengths = [len(cell.source.splitlines()) for cell in code(stored)]
    assert max(lengths, default=0) <= 25 and (not lengths or np.median(lengths) <= 4), (
        "a cell has more than 25 lines, or half of them more than 4: put code into helpers"
    )


def test_the_size_stays_small(stored):
    assert stored.path.stat().st_size < 1_500_000


def test_links_to_other_notebooks_lead_somewhere(stored):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", "\n".join(c.source for c in stored.cells))
    assert links
    for link in links:
        assert (stored.path.parent / link).exists(), link


def test_a_learner_always_knows_where_they_are():
    names = [path.stem for path in PATHS]
    assert names[0] == notebooks.START and names[-1] == notebooks.GLOSSARY
    for before, after in zip(names, names[1:-1]):
        assert f" →]({after}.ipynb)" in notebooks.links(notebooks.FOLDER / f"{before}.ipynb")
        assert f"[← {notebooks.title(before)}]({before}.ipynb)" in notebooks.links(
            notebooks.FOLDER / f"{after}.ipynb"
        )


def test_the_frame_is_put_in_place_once(stored):
    once = copy.deepcopy(notebooks.frame(stored, stored.path))
    assert notebooks.frame(stored, stored.path) == once
    line = notebooks.links(stored.path)
    assert once.cells[0].source.endswith(line) and once.cells[-1].source.endswith(line)
    assert sum(cell.source.count(line) for cell in once.cells) == len({0, len(once.cells) - 1})
    for cell in (once.cells[0], once.cells[-1]):
        assert (
            sum(f"]({notebooks.GLOSSARY}.ipynb)" in one or "← " in one for one in cell.source.splitlines())
            == 1
        )


@pytest.mark.parametrize("path", PATHS[1:], ids=[path.stem for path in PATHS[1:]])
def test_the_maps_show_every_notebook(path):
    start = "\n".join(cell.source for cell in nbformat.read(PATHS[0], 4).cells)
    readme = (notebooks.FOLDER.parent / "README.md").read_text(encoding="utf-8")
    for place, text, link in (
        ("00_start_here", start, path.name),
        ("README.md", readme, f"notebooks/{path.name}"),
    ):
        row = re.search(rf"^\| \[[^]]+\]\({link}\) \|", text, re.MULTILINE)
        assert row, f"the table of {place} has no row | [title]({link}) | question |"


# ------------------------------------------------------------------------------ a test of the tests


def run_nbval(folder, notebook):
    nbformat.write(notebook, folder / "planted.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(notebooks.FOLDER.parent / "pyproject.toml")]
    command += [
        "--rootdir",
        str(notebooks.FOLDER.parent),
        "-p",
        "no:cacheprovider",
        str(folder / "planted.ipynb"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=notebooks.FOLDER.parent
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def executed():
    """A small notebook, executed: a number, a sentence of an explorer, its picture."""
    sources = ["from helpers import explorers\n3 * 0.1", "explorers.survival()"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    return notebooks.execute(notebook)


@pytest.fixture
def sample(executed):
    return copy.deepcopy(executed)


def other_picture(base64_png):
    """The same picture with a black rectangle in it."""
    picture = np.array(Image.open(io.BytesIO(base64.b64decode(base64_png))).convert("RGB"))
    picture[100:300, 200:500] = 0
    with io.BytesIO() as buffer:
        Image.fromarray(picture).save(buffer, "png")
        return base64.b64encode(buffer.getvalue()).decode()


def plant_nothing(notebook):
    pass


def plant_a_wrong_number(notebook):
    data = notebook.cells[0].outputs[0].data
    data["text/plain"] = data["text/plain"].replace("3", "4", 1)


def plant_a_wrong_sentence(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/plain"] = data["text/plain"].replace("0.515", "0.615")


def plant_a_wrong_picture(notebook):
    data = notebook.cells[1].outputs[0].data
    data["image/png"] = other_picture(data["image/png"])


def plant_a_missing_picture(notebook):
    del notebook.cells[1].outputs[0].data["image/png"]


def plant_an_unrun_cell(notebook):
    notebook.cells[0].execution_count = None
    notebook.cells[0].outputs = []


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        (plant_nothing, "2 passed"),
        (plant_a_wrong_number, "0.4"),
        (plant_a_wrong_sentence, "0.615"),
        (plant_a_wrong_picture, "differs from the stored one"),
        (plant_a_missing_picture, "image/png|pictures are stored"),
        (plant_an_unrun_cell, "stored without a run"),
    ],
)
def test_nbval_finds_what_is_planted(tmp_path, sample, plant, words):
    plant(sample)
    failed, output = run_nbval(tmp_path, sample)
    assert bool(failed) == (plant is not plant_nothing), output
    assert re.search(words, output), output


@pytest.mark.parametrize(
    "plant", [plant_a_wrong_number, plant_a_wrong_sentence, plant_a_wrong_picture, plant_a_missing_picture, plant_an_unrun_cell]
)  # fmt: skip
def test_the_comparison_with_the_script_finds_what_is_planted(sample, plant):
    planted = copy.deepcopy(sample)
    assert notebooks.differences(sample, planted) == []
    plant(planted)
    assert notebooks.differences(sample, planted)


def test_what_is_printed_in_pieces_is_stored_as_one():
    source = "import time\nprint('one', flush=True)\ntime.sleep(0.3)\nprint('two')"
    notebook = notebooks.execute(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)]))
    assert [output.text for output in notebook.cells[0].outputs] == ["one\ntwo\n"]
