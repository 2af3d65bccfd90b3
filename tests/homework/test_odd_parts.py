"""The parts of grading by themselves, given odd things: quick, and without a kernel."""

import copy
import json
import os
from collections import namedtuple

import nbformat
import numpy as np
import pytest

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r homework/requirements.txt")

from homework import building, judging, looking, rebuilding
from homework.inside import answering
from homework.settings import is_time

from .conftest import RIGHT, cell

Pair = namedtuple("Pair", "first second")


class Frame:
    """What a library of tables returns: no array, but it can become one."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


# ------------------------------------------------------------------------------ notebooks


@pytest.fixture
def answered():
    """The notebook of lesson 03 with right answers."""
    notebook = nbformat.reads(building.lesson("03").text, 4)
    for name, text in RIGHT.items():
        cell(notebook, name).source = text
    return notebook


def rebuilt(notebook):
    """The notebook put on the released one, and what was put right."""
    released = nbformat.reads(building.lesson("03").text, 4)
    for name in RIGHT:
        cell(released, name).source = "..."
    return rebuilding.rebuild(json.dumps(notebook).encode(), released)


def code(notebook):
    return "\n".join(c.source for c in notebook.cells if c.cell_type == "code")


def test_an_answer_merged_with_a_cell_below_or_above_is_found(answered):
    for other in ("text_layer_norm", "check_layer_norm", "test_layer_norm", "setup"):
        notebook = copy.deepcopy(answered)
        answer = cell(notebook, "layer_norm")
        notebook.cells.remove(answer)
        cell(notebook, other).source += "\n\n" + answer.source
        result, remarks = rebuilt(notebook)
        assert RIGHT["layer_norm"] in code(result), other
        assert f"{other} was edited" in remarks


def test_all_cells_under_one_grade_id_are_told_apart_by_their_ids(answered):
    for one in answered.cells:
        one.metadata.nbgrader.grade_id = "layer_norm"
    result, _ = rebuilt(answered)
    for name, text in RIGHT.items():
        assert cell(result, name).source == text


def test_a_long_number_in_the_metadata_spoils_nothing(answered):
    answered.metadata["seen"] = "here"
    text = json.dumps(answered).replace('"here"', "1" * 5000)
    assert len(rebuilding.read(text.encode())) == len(answered.cells)


@pytest.mark.parametrize("source, count", [("", 5000), ("#" * 90_000, 100)])
def test_the_cells_that_a_student_adds_have_a_limit(answered, source, count):
    answered.cells[2:2] = [nbformat.v4.new_code_cell(source) for _ in range(count)]
    result, remarks = rebuilt(answered)
    assert any("were left out: too many" in remark for remark in remarks)
    assert len(json.dumps(result)) < 2 * rebuilding.ROOM
    assert cell(result, "layer_norm").source == RIGHT["layer_norm"]


def test_of_a_long_cell_only_what_is_needed_is_carried_along(tmp_path, answered):
    cell(answered, "layer_norm").source = "#" * 5_000_000
    (tmp_path / "03.ipynb").write_text(json.dumps(answered))
    assert len(rebuilding.submitted(tmp_path)["03.ipynb"]) < 3 * rebuilding.LONGEST


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_time_is_read_from_a_short_file_only(tmp_path):
    now = "2026-01-01 00:00:00 UTC"
    for name, put in {
        "time": lambda path: path.write_text(now),
        "long": lambda path: path.write_text(now + " " * 5000),
        "link": lambda path: path.symlink_to("time"),
        "pipe": os.mkfifo,  # who reads it waits for ever
    }.items():
        put(tmp_path / name)
        assert bool(is_time(tmp_path / name)) == (name == "time"), name


# ------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    "value",
    [
        np.arange(3.0).astype(object),
        np.frompyfunc(float, 1, 1)(np.arange(3)),
        np.ma.masked_array(np.arange(3.0)),
        Frame(np.arange(3.0)),
        range(3),
    ],
)
def test_what_the_check_would_read_as_an_array_is_sent_as_one(value):
    assert np.array_equal(judging.unpack(answering.pack(value)), [0, 1, 2])


def test_a_named_tuple_is_sent_as_a_tuple():
    assert judging.unpack(answering.pack(Pair(1, [2.0]))) == (1, [2.0])


@pytest.mark.parametrize("value", [{}, {1}, "1", (row for row in [1]), object(), np.array(["1"])])
def test_what_is_no_array_of_numbers_is_not_made_one(value):
    assert answering.pack(value)[0] in ("object", "str")


# ------------------------------------------------------------------------------ what is looked at


@pytest.mark.parametrize(
    "source, remark",
    [
        ("from typing import sys", "imports sys"),
        ("from helpers.layers import os as o", "imports os"),
        ("import dataclasses\ndataclasses.sys.setprofile(None)", "uses dataclasses.sys"),
    ],
)
def test_a_module_got_from_another_is_reported(source, remark):
    assert looking.remarks(source) == [remark]


def test_nothing_is_reported_of_usual_code():
    usual = "from functools import reduce\nimport matplotlib.pyplot as plt\nplt.plot(np.random.rand(3))\nx = x.copy()"
    assert [remark for text in (*RIGHT.values(), usual) for remark in looking.remarks(text)] == []
