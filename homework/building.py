"""A lesson's notebook -> the source notebook of an nbgrader assignment."""

import ast
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from helpers import exercises
from helpers.exercises.comparing import reader
from helpers.questions import QUIZZES

from . import variants

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
WRITTEN = 2  # questions a lesson
POINTS = 2  # for each of them
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
SETUP = """import pathlib
import sys
from textwrap import fill

import numpy as np

sys.path += map(str, pathlib.Path.cwd().parents)  # finds helpers without an installation too
from helpers import exercises"""
COMPARED = """assert len(got) == len(right), f"{len(right)} arrays are asked for, not {len(got)}"
for number, (a, b) in enumerate(zip(got, right), 1):
    np.testing.assert_allclose(a, b, atol=2e-3, err_msg=f"array {number} is not that of the example")"""
INTRODUCTION = """# Homework: {title}

Write your answers into the cells that say so and leave the others as they are; cells of your own may be added anywhere. You may hand it in as often as you are allowed to: the last one counts. The cell below each answer says what is wrong with it. Your teacher's computer asks your function for further inputs.

Put this notebook into the folder `notebooks` of the course. The lesson is beside it: [{lesson}]({lesson}.ipynb)."""


@dataclass
class Lesson:
    """An assignment: its name, the notebook's text, what is graded by which exercise, lines for the teacher.

    The name is not the lesson's: students put the one notebook beside the other.
    """

    name: str
    text: str
    graded: dict
    guide: list


def lesson(number, seed=None):
    """The assignment made of a lesson, such as "03"; with a seed, of variants of its exercises.

    ValueError says which lessons there are, or which exercise has no variants.
    """
    path = next((p for p in sorted(NOTEBOOKS.glob(f"{number.zfill(2)}*.ipynb"))), None)
    source = path and nbformat.read(path, 4)
    found = [] if path is None else _exercises(source)
    if not found:
        there = [p.stem for p in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")) if _exercises(nbformat.read(p, 4))]
        raise ValueError(f"no lesson {number!r} with exercises; there is: {', '.join(there)}")
    title = source.cells[0].source.splitlines()[0].lstrip("# ")
    cells = [
        _text("introduction", INTRODUCTION.format(title=title, lesson=path.stem)),
        _code("setup", SETUP if seed is None else SETUP.rpartition("\n")[0], locked=True),
    ]
    guide = ["| cell | points |", "|---|---|"]
    for one in found:
        made = _textbook(one) if seed is None else _variant(one, seed)
        cells += made
        guide.append(f"| test_{one.name} | {made[-1].metadata.nbgrader.points} |")
    rubrics = []
    for index, question in enumerate(_questions(source, path.stem)[:WRITTEN], 1):
        cells += _written(index, question)
        guide.append(f"| written_{index} (by hand) | {POINTS} |")
        rubrics += ["", f"**written_{index}.** {question.text}", "", *rubric(question)]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        cell["id"] = cell.metadata.nbgrader.grade_id
    graded = {f"test_{one.name}": one.name for one in found}
    return Lesson(f"{path.stem}_homework", nbformat.writes(notebook) + "\n", graded, guide + rubrics)


# ------------------------------------------------------------------------------ what stands in the lesson


@dataclass
class Found:
    """An exercise of a lesson: its name, heading and text, and the cell that a learner fills in."""

    name: str
    text: str
    stub: str


def _exercises(notebook):
    found = []
    for cell, after in zip(notebook.cells, notebook.cells[1:]):
        heading = re.search(r"^### Exercise: `(\w+)`.*", cell.source, re.MULTILINE)
        if cell.cell_type == "markdown" and heading and after.cell_type == "code":
            found.append(Found(heading[1], cell.source[heading.start() :], after.source))
    return found


def _questions(notebook, name):
    """The quiz of the lesson, to be answered in words."""
    asked = re.search(r'quiz\.ask\("(\w+)"\)', "\n".join(cell.source for cell in notebook.cells))
    questions = list(QUIZZES[asked[1]].values()) if asked else []
    if len(questions) < WRITTEN:
        raise ValueError(f"{name} has fewer than {WRITTEN} questions")
    return questions


# ------------------------------------------------------------------------------ cells


def _metadata(grade_id, **flags):
    """What nbgrader wants to know of a cell."""
    kind = {"grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {"schema_version": 3, "grade_id": grade_id} | kind | flags}


def _text(grade_id, text):
    return new_markdown_cell(text, metadata=_metadata(grade_id, locked=True))


def _code(grade_id, text, **flags):
    return new_code_cell(text, metadata=_metadata(grade_id, **flags))


def _textbook(found):
    exercise, name = exercises.ALL[found.name], found.name
    return [
        _text(f"text_{name}", found.text),
        _code(name, solved(found.stub, exercise), solution=True),
        _code(f"check_{name}", f"exercises.{name}.check({name})", locked=True),
        _code(
            f"test_{name}",
            f'found = exercises.{name}.diagnose({name})\nassert found.outcome == "correct", fill(found.message, 70)',
            grade=True,
            locked=True,
            points=exercise.difficulty,
        ),
    ]


def solved(stub, exercise):
    """The cell that a learner fills in, filled in with the exercise's own reference."""
    (stub_def,) = (n for n in ast.parse(stub).body if isinstance(n, ast.FunctionDef))
    *called, reference = _functions(exercise.source())
    docstring = ast.get_docstring(ast.parse(reference).body[0], clean=False) is not None
    body = ast.parse(reference).body[0].body[docstring:]
    first = body[0].lineno - 1
    lines = textwrap.dedent("\n".join(reference.splitlines()[first:]))
    inner = "\n\n".join([*called, lines])
    kept = stub.splitlines()[: stub_def.body[-1].lineno - 1]
    return "\n".join([*kept, textwrap.indent(f"{BEGIN}\n{inner}\n{END}", "    ")])


def _functions(text):
    """The functions that a text defines, each as text, the last one last."""
    return [ast.get_source_segment(text, n) for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]


def _variant(found, seed):
    exercise, name = variants.exercise(found.name, seed), found.name
    first, *rest = variants.code(name, variants.choose(name, seed)).splitlines()
    example, call, right = _example(exercise)
    heading = f"### Exercise: `{name}` (difficulty {exercise.difficulty} of 5, {exercise.minutes} minutes)"
    return [
        _text(
            f"text_{name}", f"{heading}\n\n{exercise.prompt}\n\nThe cell below your answer has an example."
        ),
        _code(name, "\n".join([first, f"    {BEGIN}", *rest, f"    {END}"]), solution=True),
        _code(f"check_{name}", f"{example}\nprint({call})", locked=True),
        _code(
            f"test_{name}",
            f"{_flat(exercise.outputs, call)}\nright = [{', '.join(right)}]\n{COMPARED}",
            grade=True,
            locked=True,
            points=exercise.difficulty,
        ),
    ]


def _flat(outputs, call):
    """Code that makes `got`, a list of arrays, of what a call returns."""
    if len(outputs) == 1:
        return f"got = {call}" if outputs[0].endswith("[]") else f"got = [{call}]"
    names = [name.removesuffix("[]") for name in outputs]
    parts = ["*" * output.endswith("[]") + name for output, name in zip(outputs, names)]
    return f"{', '.join(names)} = {call}\ngot = [{', '.join(parts)}]"


def _example(exercise):
    """The first input of a variant as code, a call with it, and each array of its result, to three digits."""
    functions = variants.FAMILIES[exercise.name].example
    given = zip(exercise.parameters, exercise.probes[0])
    texts = {name: functions.get(name) or _literal(value) for name, value in given}
    args = {name: eval(text, {"np": np}) for name, text in texts.items()}
    outputs = reader(exercise.outputs)(exercise.reference(*args.values()))
    lines = [f"{name} = {text}" for name, text in texts.items()]
    right = [_literal(part, 3) for parts in outputs for part in parts]
    return "\n".join(lines), f"{exercise.name}({', '.join(args)})", right


def _literal(value, digits=2):
    if isinstance(value, list):
        return f"[{', '.join(_literal(one, digits) for one in value)}]"
    if not isinstance(value, np.ndarray):
        return repr(value)
    return f"np.array({(value.round(digits) if value.dtype.kind == 'f' else value).tolist()})"


def _written(index, question):
    name = f"written_{index}"
    answer = "\n".join([BEGIN, *rubric(question), END])
    ask = f"### Question {index} ({POINTS} points)\n\n{question.text}\n\nAnswer in two or three sentences, with the reason."
    return [
        _text(f"text_{name}", ask),
        new_markdown_cell(answer, metadata=_metadata(name, grade=True, solution=True, points=POINTS)),
    ]


def rubric(question):
    """Lines that say what gets which points, from the question's options and their feedback."""
    right = next(option for option in question.options if option.right)
    wrong = [option for option in question.options if not option.right]
    return [
        f"- {POINTS} points: {right.text.rstrip('.')}. And the reason: {right.why}",
        f"- {POINTS / 2:g} point: the same without the reason, or with one that is only partly right.",
        "- 0 points: anything else. Often: " + "; ".join(f"“{option.text.rstrip('.')}” ({option.why})" for option in wrong),
    ]  # fmt: skip
