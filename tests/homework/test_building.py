"""Every lesson with exercises becomes an assignment whose own solutions are right."""

import re

import nbformat
import numpy as np
import pytest

pytest.importorskip("cloudpickle", reason="not installed: pip install -r homework/requirements.txt")

from helpers import exercises
from homework import building, variants

LESSONS = [
    path.stem[:2]
    for path in sorted(building.NOTEBOOKS.glob("[0-9]*.ipynb"))
    if building._exercises(nbformat.read(path, 4))
]


def solutions(lesson):
    """{name: the function that the source notebook's answer cell defines}."""
    names = {"np": np, "exercises": exercises}
    for cell in nbformat.reads(lesson.text, 4).cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.solution:
            exec(cell.source, names)
    return {name: names[name] for name in lesson.graded.values()}


@pytest.mark.parametrize("number", LESSONS)
def test_own_solutions_are_right(number):
    made = building.lesson(number)
    for name, f in solutions(made).items():
        found = exercises.ALL[name].diagnose(f)
        assert found.outcome == "correct", found.message


@pytest.mark.parametrize("number", LESSONS)
def test_every_exercise_of_a_lesson_is_in_its_assignment(number):
    (path,) = building.NOTEBOOKS.glob(f"{number}*.ipynb")
    headings = re.findall(r"### Exercise: `(\w+)`", path.read_text(encoding="utf-8"))
    assert list(building.lesson(number).graded.values()) == headings


@pytest.mark.parametrize("number", LESSONS)
def test_solutions_of_variants_are_right_and_two_questions_are_asked(number):
    made = building.lesson(number, "seed")
    assert made.graded == building.lesson(number).graded  # no exercise is left out
    for name, f in solutions(made).items():
        assert variants.exercise(name, "seed").diagnose(f).outcome == "correct"
    written = [
        c for c in nbformat.reads(made.text, 4).cells if c.metadata.nbgrader.grade_id.startswith("written_")
    ]
    assert len(written) == 2 and all("points:" in c.source for c in written)


def test_a_lesson_is_meant_by_its_number_and_its_homework_has_another_name():
    made = building.lesson("3")
    assert made.text == building.lesson("03").text == building.lesson("03_layer_norm").text
    assert not (building.NOTEBOOKS / f"{made.name}.ipynb").exists()  # students put it beside the lesson
    assert "(03_layer_norm.ipynb)" in made.text


def test_a_variant_says_how_an_answer_differs_from_the_example():
    cells = {
        c.metadata.nbgrader.grade_id: c for c in nbformat.reads(building.lesson("03", "a").text, 4).cells
    }
    names = {"np": np, "layer_norm": lambda x, gamma, beta, eps: 7 * x}
    exec(cells["check_layer_norm"].source, names)
    with pytest.raises(AssertionError, match="array 1 is not that of the example") as said:
        exec(cells["test_layer_norm"].source, names)
    assert "7." in str(said.value)  # what was given stands beside what was wanted


@pytest.mark.parametrize("number", LESSONS)
def test_no_text_of_an_exercise_speaks_of_its_place_in_the_lesson(number):
    for found in building._exercises(nbformat.read(next(building.NOTEBOOKS.glob(f"{number}*.ipynb")), 4)):
        place = re.search(r"\b(below|above|next section|read on)\b", found.text)
        assert not place, f"{found.name}: {place[0]!r} means nothing in the homework that is made of it"


@pytest.mark.parametrize("number", LESSONS)
def test_the_example_of_a_variant_is_what_its_solution_gives(number):
    """The cells that students see, run with the solution in place."""
    for seed in ("a", "b", "c"):
        names = {}
        for cell in nbformat.reads(building.lesson(number, seed).text, 4).cells:
            if cell.cell_type == "code":
                exec(cell.source.replace("print(", "("), names)
