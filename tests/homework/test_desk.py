"""A teacher's way from `new` to the marks, with nbgrader's own commands."""

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r homework/requirements.txt")

from helpers import exercises
from homework import building, grading, leaks
from homework.kernel import isolation, sandbox

from .. import outside
from .conftest import COURSE, LESSON, RIGHT, answered, cell, command, make, released, scores, submit

WRONG = RIGHT["layer_norm"].replace("axis=-1", "axis=0")


def source(folder, assignment=LESSON):
    return nbformat.read(folder / "source" / assignment / f"{assignment}.ipynb", 4)


def solved(folder, assignment=LESSON):
    """The released notebook with the source's own solutions and some words in it."""
    notebook = released(folder, assignment)
    for one in notebook.cells:
        data = one.metadata.get("nbgrader", {})
        if data.get("solution"):
            text = cell(source(folder, assignment), data["grade_id"]).source
            one.source = text if one.cell_type == "code" else "Because the mean is taken over the features."
    return notebook


# ------------------------------------------------------------------------------ what is made


def test_the_lesson_is_the_source():
    made = nbformat.reads(building.lesson("03").text, 4)
    lesson = nbformat.read(COURSE / "notebooks" / "03_layer_norm.ipynb", 4)
    words = "\n".join(c.source for c in lesson.cells)
    assert cell(made, "text_layer_norm").source in words
    assert cell(made, "layer_norm").source.splitlines()[0] in words
    assert made.cells[0].source.startswith("# Homework: Layer normalization, step by step")
    assert [c.metadata.nbgrader.points for c in made.cells if c.metadata.nbgrader.grade] == [2, 4, 2, 2]


def test_release_has_no_solution(folder):
    text = (folder / "release" / LESSON / f"{LESSON}.ipynb").read_text()
    assert "SOLUTION" not in text and "x_hat" not in text and "0 points" not in text
    assert leaks.scan(folder) == []


def test_planted_leaks_are_found(folder):
    place = folder / "release" / LESSON
    notebook = released(folder)
    hidden = leaks.Secrets(leaks.Folder(folder), LESSON)
    (number, *_) = hidden.numbers[sorted(hidden.numbers)[5]]
    planted = {
        "a solution": cell(source(folder), "layer_norm").source.splitlines()[-2].strip(),
        "hidden": f"[{number:.8f}]" if number > 1e-3 else f"[{number:.12f}]",
        "the words": f"see {folder}/source",
    }
    try:
        for what, text in planted.items():
            for put in ("source", "outputs", "metadata"):
                leaky = nbformat.from_dict(notebook)
                code = cell(leaky, "setup")
                if put == "source":
                    code.source += "\n# " + text
                elif put == "outputs":
                    code.outputs = [nbformat.v4.new_output("stream", text=text)]
                else:
                    leaky.metadata["note"] = text
                nbformat.write(leaky, place / "leaky.ipynb")
                found = leaks.scan(folder)
                assert any("leaky.ipynb" in line and what in line for line in found), (what, put, found)
                code.source, code.outputs = code.source.partition("\n# ")[0], []
                leaky.metadata.pop("note", None)
    finally:
        (place / "leaky.ipynb").unlink()


def test_what_a_lesson_s_check_shows_is_no_secret(folder, tmp_path):
    """Whatever the key: a float16 input has so few digits that some hidden number often begins like it."""
    remarks = exercises.layer_norm.remarks
    shown = tmp_path / "shown.txt"
    shown.write_text("\n".join(str(arg.tolist()) for remark in remarks for arg in remark.args[:3]))
    assert shown.read_text().count(".") > 1000
    for key in range(20):
        drawn = leaks.Folder(folder)
        drawn.secret = drawn.secret | {"key": f"key {key}"}
        assert leaks.Secrets(drawn, LESSON).of_file(shown, solutions=False) == []


def test_new_says_what_it_cannot_do(tmp_path):
    for words, said in (
        (["--lessons", "99"], "there is: 01_"),
        (["--lessons", "00", "--variant", "s"], "no lesson '00' with exercises"),
    ):
        ran = subprocess.run(
            [sys.executable, "-m", "homework", "new", str(tmp_path / "x"), *words],
            cwd=COURSE,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 1 and said in ran.stderr and "Traceback" not in ran.stderr


@pytest.mark.parametrize("program", ["bwrap", None])
def test_isolation_is_said(monkeypatch, program):
    sandbox.cache_clear()
    monkeypatch.setattr("homework.kernel.sandbox", lambda: program)
    assert ("NOT ISOLATED" in isolation()) == (program is None)


# ------------------------------------------------------------------------------ the whole way

slow = pytest.mark.slow


@slow
@pytest.mark.parametrize("number", ["01", "02", "03", "04", "05", "06", "07"])
def test_the_own_solutions_get_all_points(tmp_path, number):
    folder = make(tmp_path / "folder", [number])
    assignment = next((folder / "source").iterdir()).name
    submit(folder, "ada", solved(folder, assignment), assignment)
    assert grading.grade(folder, assignment, say=lambda text: None) == {}  # nothing needs a look
    graded = [c.metadata.nbgrader for c in source(folder, assignment).cells if c.metadata.nbgrader.grade]
    assert scores(folder, assignment) == {"ada": sum(d.points for d in graded if not d.solution)}


@slow
def test_from_a_zip_to_marks_and_feedback(tmp_path):
    folder = make(tmp_path / "folder", ["03"])
    students = {
        "ada": solved(folder),
        "bob": answered(folder, **RIGHT | {"layer_norm": WRONG}),
        "eve": released(folder),
    }
    archive = folder / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    with zipfile.ZipFile(archive / "all.zip", "w") as file:
        for student, notebook in students.items():
            file.writestr(f"{student}_1234_5678_{LESSON}-1.ipynb", nbformat.writes(notebook))
    command(folder, "nbgrader", "db", "student", "import", "roster.csv")
    command(folder, "nbgrader", "zip_collect", LESSON)
    assert sorted(p.name for p in (folder / "submitted").iterdir()) == sorted(students)
    said = command(folder, "homework", "grade", LESSON)
    assert "3/3" in said
    assert "there is no student 'bob' in the roster" in said and "'ada'" not in said  # it has ada alone
    by_homework = scores(folder)
    command(folder, "nbgrader", "autograde", LESSON, "--force")
    assert scores(folder) == by_homework == {"ada": 6, "bob": 4, "eve": 0}
    command(folder, "nbgrader", "generate_feedback", LESSON)
    page = (folder / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text()
    assert "you averaged over axis" in page
    assert leaks.scan(folder) == []
    command(folder, "nbgrader", "export")
    with (folder / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert float(rows["bob"]["score"]) == 4 and rows["ada"]["first_name"] == "Ada"
    assert cell(nbformat.read(folder / "autograded" / "ada" / LESSON / f"{LESSON}.ipynb", 4), "written_1")


@slow
def test_validate_says_what_is_wrong(folder, tmp_path):
    for notebook, said in (
        (solved(folder), "Success"),
        (answered(folder, **RIGHT | {"layer_norm": WRONG}), "you averaged over axis 0"),
    ):
        work = tmp_path / "notebooks"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        nbformat.write(notebook, work / f"{LESSON}.ipynb")
        assert said in re.sub(r"\s+", " ", command(work, "nbgrader", "validate", f"{LESSON}.ipynb"))


@slow
def test_a_variant_is_released_graded_and_its_textbook_answer_named(tmp_path):
    folder = make(tmp_path / "folder", ["03", "05"], "--variant", "our secret")
    assert "our secret" not in (folder / "release" / LESSON / f"{LESSON}.ipynb").read_text()
    submit(folder, "ada", solved(folder))
    submit(folder, "bob", answered(folder, **RIGHT))
    grading.grade(folder, LESSON, say=lambda text: None)
    assert scores(folder) == {"ada": 6, "bob": 0}
    command(folder, "nbgrader", "generate_feedback", LESSON)
    page = (folder / "feedback" / "bob" / LESSON / f"{LESSON}.html").read_text()
    assert page.count("This is the function of the lesson") == 2
    assert leaks.scan(folder) == []


# ------------------------------------------------------------------------------ a class


@slow
def test_it_is_stopped_and_taken_up_again(tmp_path):
    folder = make(tmp_path / "folder", ["03"])
    for number in range(8):
        submit(folder, f"s{number}", answered(folder, **RIGHT))
    grade = [sys.executable, "-m", "homework", "grade", LESSON]
    env = {**os.environ, "PYTHONPATH": str(COURSE)}
    process = subprocess.Popen(
        grade, cwd=folder, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    for line in process.stdout:
        if line.startswith("2/8"):
            break
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    before = {p.name: p.stat().st_mtime_ns for p in (folder / "logs" / LESSON).glob("*.json")}
    assert 2 <= len(before) < 8
    said = command(folder, "homework", "grade", LESSON)
    assert f"{len(before)} graded before, {8 - len(before)} to grade" in said
    after = {p.name: p.stat().st_mtime_ns for p in (folder / "logs" / LESSON).glob("*.json")}
    assert after.items() > before.items() and len(after) == 8
    assert scores(folder) == {f"s{n}": 6 for n in range(8)}
    submit(folder, "s3", answered(folder, **RIGHT | {"layer_norm": WRONG}))  # a new submission is graded anew
    assert "7 graded before, 1 to grade" in command(folder, "homework", "grade", LESSON)
    assert scores(folder)["s3"] == 4


@slow
def test_dask_loses_nobody_when_a_worker_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed", reason="not installed: pip install distributed")
    folder = make(tmp_path / "folder", ["03"])
    for number in range(10):
        submit(folder, f"s{number}", answered(folder, **RIGHT))
    lines = []
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:

        def say(text):
            lines.append(text)
            if text.startswith("3/10"):
                victim = next(iter(cluster.workers.values()))
                os.kill(victim.process.process.pid, signal.SIGKILL)

        grading.grade(folder, LESSON, scheduler=cluster.scheduler_address, say=say)
    graded = [line.split()[1] for line in lines if re.match(r"\d+/10 ", line)]
    assert sorted(graded) == sorted(f"s{n}:" for n in range(10))
    assert scores(folder) == {f"s{n}": 6 for n in range(10)}


@slow
@outside.on_demand  # both cores must be its own; beside other tests it measures those
def test_fifty_submissions_take_less_than_nbgrader(tmp_path):
    """Measured in one run, on all cores; on one core there is nothing to gain."""
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one core only")
    folder = make(tmp_path / "folder", ["03"])
    for number in range(50):
        wrong = {"layer_norm": WRONG} if number % 3 == 0 else {}
        submit(folder, f"s{number:02}", answered(folder, **RIGHT | wrong))
    began = time.monotonic()
    command(folder, "homework", "grade", LESSON)
    ours, marks = time.monotonic() - began, scores(folder)
    shutil.rmtree(folder / "autograded")
    began = time.monotonic()
    command(folder, "nbgrader", "autograde", LESSON)
    theirs = time.monotonic() - began
    print(f"{ours:.0f} s, nbgrader {theirs:.0f} s: {ours / theirs:.2f}")
    assert marks == scores(folder)
    assert ours / theirs <= 0.7
