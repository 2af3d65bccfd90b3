"""Progress: what is answered is kept, by several kernels at once, and nothing that was there is lost."""

import base64
import json
import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient

from helpers import exercises, layers, live, predict, progress, quiz, record, results
from helpers.questions import LESSONS, PREDICTIONS
from helpers.questions.form import Answers
from helpers.record import Record

from . import notebooks
from .counting import open_widgets
from .kernels import ROOT
from .test_predict import entered, lock

NOON = "2026-11-30T12:00:00+00:00"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The file of a learner who has done nothing yet, whose answers are recorded."""
    monkeypatch.setattr(progress, "record", Record(tmp_path / "progress.json"))
    monkeypatch.setattr(results, "_listeners", [progress.hear])
    monkeypatch.setattr(predict, "answers", Answers())
    monkeypatch.setattr(quiz, "answers", Answers())
    yield tmp_path / "progress.json"
    live._made_in_this_cell.clear()


def entries(file):
    return record.read(file.read_text(encoding="utf-8"))


def answer(number, right):
    """Answer that question of the quiz on layer norm."""
    asked = quiz.ask("layer_norm").asked[number - 1]
    asked.form.entry.value = next(o.text for o in asked.question.options if o.right == right)
    asked.form.button.click()


def of_quiz(name, right=True, time=NOON):
    return {"notebook": "layer_norm", "kind": "quiz", "id": name, "right": right, "time": time, "checks": 1}


# ------------------------------------------------------------------------------ what the notebooks contain


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_counted_is_what_the_notebook_contains(name):
    lesson = LESSONS[name]
    (path,) = (path for path in notebooks.paths() if path.stem.startswith(lesson.TITLE[:2]))
    assert f"{path.stem[:2]} {notebooks.title(path.stem)}" == lesson.TITLE
    cells = nbformat.read(path, 4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    checks = re.findall(r"^exercises\.(?:exhibit\((\d)\)|(\w+))\.check\(", code, re.MULTILINE)
    in_order = [f"exhibit {number}" if number else name for number, name in checks]
    assert in_order == [*lesson.EXERCISES], (
        "EXERCISES of the lesson's module in helpers/questions/ lists the checks"
    )
    assert set(re.findall(r'^predict\.ask\("(\w+)"\)', code, re.MULTILINE)) == {*lesson.PREDICTIONS}
    assert re.findall(r'^quiz\.ask\("(\w+)"\)', code, re.MULTILINE) == [name]
    shown = "progress.course()" if name == "start_here" else f'progress.show("{name}")'
    assert [line for line in code.splitlines() if line.startswith("progress.")] == [shown]


# ------------------------------------------------------------------------------ what is recorded


def test_a_fresh_learner_has_done_nothing_and_no_file_is_made(file):
    assert "0 of 2 passed | layer_norm, layer_norm_backward: open" in progress.show("layer_norm").words()
    assert progress.course().words().count("0 hits") == len(LESSONS)

    def layer_norm(x, gamma, beta, eps): ...

    exercises.layer_norm.check(layer_norm)  # still blank
    assert not file.exists()


def test_an_exercise_that_was_passed_stays_passed(file):
    exercises.layer_norm.check(lambda x, gamma, beta, eps: layers.layer_norm(x, gamma, beta, 0))
    (entry,) = entries(file)
    assert not entry["right"] and entry["mistake"] == "eps_missing"
    words = "layer_norm: not passed after 1 check (the last mistake: eps missing)"
    assert words in progress.show("layer_norm").words()
    for f in (layers.layer_norm, lambda x, gamma, beta, eps: x):
        exercises.layer_norm.check(f)
    (entry,) = entries(file)
    assert entry["right"] and entry["mistake"] is None and entry["checks"] == 2
    assert "1 of 2 passed | layer_norm: passed at check 2" in progress.show("layer_norm").words()
    exercises.exhibit(1).check(None)
    assert "exhibit 1: not passed after 1 check" in progress.show("make_it_train").words()


def test_of_two_predictions_the_first_counts(file, monkeypatch):
    *_, wrong = PREDICTIONS["normalized_std"].options
    lock(predict.ask("normalized_std"), wrong)
    monkeypatch.setattr(predict, "answers", Answers())  # the notebook is opened anew: it may be made again
    again = predict.ask("normalized_std")
    assert "not answered yet" in again.words()
    lock(again, entered(PREDICTIONS["normalized_std"]))
    lock(predict.ask("drift_sigma"), "2e5")
    assert [entry["chosen"] for entry in entries(file)] == [wrong, 2e5]
    words = progress.show("layer_norm").words()
    made = f"2 of {len(LESSONS['layer_norm'].PREDICTIONS)} made, 1 hit"
    assert made in words and f"0.001” ({wrong}): missed" in words
    assert "gain 1.5” (200000): hit" in words


def test_a_question_counts_the_checks_that_it_took(file):
    for right in (False, False, True, False):
        answer(1, right)
    answer(2, False)
    assert [(entry["right"], entry["checks"]) for entry in entries(file)] == [(True, 2), (False, 1)]
    words = progress.show("layer_norm").words()
    assert "1 of 6 found | 1: right at check 2; 2: not right after 1 check; 3, 4, 5, 6: open" in words


def test_a_failed_measurement_records_nothing_and_an_unknown_exercise_neither(file, monkeypatch):
    monkeypatch.setattr(PREDICTIONS["drift_sigma"], "holds", lambda answer: 1 / 0)
    lock(predict.ask("drift_sigma"), "7")
    results.tell("exercise", "layer_norm_of_a_variant", right=True, mistake=None)
    assert not file.exists()


def test_the_file_is_what_its_description_says(file):
    answer(1, True)
    exercises.layer_norm.check(layers.layer_norm)
    lock(predict.ask("drift_sigma"), "7")
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept.keys() == {"course", "version", "entries"} and kept["version"] == record.VERSION
    for entry in kept["entries"]:
        assert entry.keys() == record.FIELDS[entry["kind"]].keys()
        assert entry["kind"] in progress.KINDS and re.fullmatch(r"[\d-]{10}T[\d:]{8}\+00:00", entry["time"])
        assert all(f"\n    {name}" in record.__doc__ or name in ("kind", "id") for name in entry)


def test_outside_of_a_notebook_nothing_listens():
    assert progress.hear not in results._listeners


# ------------------------------------------------------------------------------ several kernels, broken folders


WRITE = """
import pathlib, sys
from helpers.record import Record
kept = Record(pathlib.Path(sys.argv[1]))
print(flush=True)
sys.stdin.readline()
for number in range(40):
    kept.add("layer_norm", "quiz", f"{sys.argv[2]}{number}", right=True)
"""


def test_two_kernels_at_once_lose_nothing(tmp_path):
    file = tmp_path / "progress.json"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", WRITE, str(file), name], **pipes) for name in "ab"]
    for one in both:
        one.stdout.readline()  # it is ready
    for one in both:
        one.stdin.write("\n")
        one.stdin.flush()
    for one in both:
        one.communicate()
        assert one.returncode == 0
    assert {entry["id"] for entry in entries(file)} == {f"{name}{n}" for name in "ab" for n in range(40)}
    assert os.listdir(tmp_path) == ["progress.json"]


@pytest.mark.parametrize("age", [0, 3600, -3600])
def test_a_lock_left_behind_holds_up_for_a_moment(file, monkeypatch, age):
    monkeypatch.setattr(record, "PATIENCE", 0.2)
    lock = file.with_name("progress.json.lock")
    lock.touch()
    made = time.time() - age
    os.utime(lock, (made, made))
    answer(1, True)
    assert abs(time.time() - made) > 0.2 and len(entries(file)) == 1 and not lock.exists()


def test_a_write_that_fails_leaves_the_old_file_and_is_made_up_for(file, monkeypatch):
    answer(1, True)
    before = file.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr(
            os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
        )
        answer(2, True)
    assert file.read_bytes() == before
    shown = progress.show("layer_norm")
    assert "2 of 6 found" in shown.words() and len(entries(file)) == 2  # written as soon as it can be


def test_a_folder_that_cannot_be_written_is_said_in_a_sentence(tmp_path, file, monkeypatch):
    monkeypatch.setattr(progress, "record", Record(tmp_path / "nowhere" / "progress.json"))
    shown = progress.show("layer_norm")
    answer(1, True)
    answer(2, False)
    assert "1 of 6 found | 1: right at check 1; 2: not right after 1 check" in shown.words()
    assert "Not kept in a file (progress.json: " in shown.note.value and not (tmp_path / "nowhere").exists()
    assert len(record.read(progress.page())) == 2


# ------------------------------------------------------------------------------ damaged and foreign files


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
GOOD = record.write([of_quiz("whose_numbers"), of_quiz("other", right=False)])


@st.composite
def spoiled(draw):
    """A good record in which a part has another value, or none."""
    kept = json.loads(GOOD)
    part = draw(st.sampled_from([kept, kept["entries"][0], kept["entries"][1]]))
    name = draw(st.sampled_from([*part]))
    if draw(st.booleans()):
        part[name] = draw(json_values)
    else:
        del part[name]
    return json.dumps(kept).encode()


@st.composite
def cut(draw):
    """A good record with a piece cut out of it."""
    begin, end = sorted(draw(st.lists(st.integers(0, len(GOOD)), min_size=2, max_size=2)))
    return (GOOD[:begin] + GOOD[end:]).encode()


@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()) | spoiled() | cut())
@example(b"[" * 100_000)
@example(b'{"a": ' + b"1" * 10_000 + b"}")
@example(GOOD.replace("whose_numbers", "\\ud800").encode())
@example(GOOD.replace('"version": 1', '"version": 2').encode())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_no_record_is_set_aside_whole(file, content):
    for old in file.parent.iterdir():
        old.unlink()
    file.write_bytes(content)
    progress.record = kept = Record(file)
    kept.update()
    aside = file.with_name("progress.json.1")
    if aside.exists():
        assert aside.read_bytes() == content and "progress.json.1, unchanged" in kept.note
    else:
        assert file.read_bytes() == content and "unchanged" not in kept.note
        assert kept.entries == record.merge(json.loads(content)["entries"])
    progress.page().encode()  # can be shown
    results.tell("quiz", "layer_norm/whose_numbers", right=True)
    assert ("layer_norm", "quiz", "whose_numbers") in map(record.KEY, entries(file))


def test_a_second_damaged_file_takes_the_next_number(file):
    for number in (1, 2):
        file.write_text(f"damaged {number}")
        answer(number, True)
    assert "progress.json.2, unchanged" in progress.record.note and len(entries(file)) == 1
    assert [file.with_name(f"progress.json.{n}").read_text() for n in (1, 2)] == ["damaged 1", "damaged 2"]


# ------------------------------------------------------------------------------ taken along, turned off


def test_the_page_takes_everything_along(file, tmp_path, monkeypatch, capsys):
    answer(1, True)
    lock(predict.ask("drift_sigma"), "2e5")
    progress.export(tmp_path / "progress.html")
    text = (tmp_path / "progress.html").read_text(encoding="utf-8")
    assert "1: right at check 1; 2, 3, 4, 5, 6: open" in text
    assert not re.search(r"""(src|href|url)\s*[=(]""", text)  # nothing is fetched
    before = entries(file)
    file.unlink()
    monkeypatch.setattr(progress, "record", Record(file))
    progress.take_up(tmp_path / "progress.html")
    assert entries(file) == before and "Taken up: 2" in capsys.readouterr().out
    progress.take_up(file)  # once more changes nothing
    assert entries(file) == before


def test_taking_up_keeps_what_was_right_first_else_what_is_latest(file, tmp_path):
    late, early = "2026-12-01T12:00:00+00:00", NOON
    there = [of_quiz("a", True, late), of_quiz("b", False, late), of_quiz("c", True, late), of_quiz("d")]
    brought = [
        of_quiz("a", True, early),
        of_quiz("b", False, early),
        of_quiz("c", False, early),
        of_quiz("e"),
    ]
    for one, other in ((there, brought), (brought, there)):
        file.write_text(record.write(one))
        (tmp_path / "other.json").write_text(record.write(other))
        progress.take_up(tmp_path / "other.json")
        kept = {entry["id"]: (entry["right"], entry["time"]) for entry in entries(file)}
        assert kept == {
            "a": (True, early), "b": (False, late), "c": (True, late), "d": (True, NOON), "e": (True, NOON)
        }  # fmt: skip


@pytest.mark.parametrize("text", ["", "<html></html>", "{}", '<script type="application/json" id="record">'])
def test_what_holds_no_record_is_not_taken_up(file, tmp_path, text):
    (tmp_path / "page.html").write_text(text)
    with pytest.raises(ValueError, match=r"page\.html: this is no record of the course"):
        progress.take_up(tmp_path / "page.html")
    assert not file.exists()


def test_no_text_can_end_the_record_in_the_page(file):
    results.tell("prediction", "drift_sigma", chosen=7)
    (entry,) = progress.record.entries.values()
    progress.record.update([entry | {"id": "other", "chosen": '</script><script>alert("&")</script>'}])
    assert record.read(progress.page())[1]["chosen"].startswith("</script>")
    assert "<script>alert" not in progress.page()


def test_off_records_nothing_and_says_so(file, capsys):
    answer(1, True)
    shown, before = progress.show("layer_norm"), file.read_bytes()
    progress.off()
    assert "Progress is off" in capsys.readouterr().out and "Progress is off" in shown.note.value
    answer(2, True)
    assert file.read_bytes() == before and "1 of 6 found" in progress.show("layer_norm").words()


def test_the_environment_says_where_the_file_is(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for value, path in (
        ("", tmp_path / "progress.json"),
        (str(tmp_path / "x"), tmp_path / "x"),
        ("off", None),
    ):
        monkeypatch.setenv("COURSE_PROGRESS", value)
        assert progress._record().path == path
    assert progress._record().note.startswith("Progress is off")


def test_a_submission_is_graded_without_a_record():
    from homework.kernel import Kernel

    assert Kernel()._environment("home")["COURSE_PROGRESS"] == "off"


# ------------------------------------------------------------------------------ on the page


def test_the_table_follows_and_its_page_too(file):
    start = open_widgets()
    shown, course = progress.show("layer_norm"), progress.course()
    assert "0 of 6 found" in shown.html.value and 'scope="row"' in shown.html.value
    asked = quiz.ask("layer_norm")
    asked.asked[0].form.entry.value = next(o.text for o in asked.asked[0].question.options if o.right)
    asked.asked[0].form.button.click()
    assert "1 of 6 found" in shown.html.value and "1 of 6 found" in course.html.value
    data = re.search(r'download="progress.html" href="data:text/html;base64,([^"]+)"', shown.link.value)[1]
    assert len(record.read(base64.b64decode(data).decode())) == 1
    for one in (shown, course, asked):
        one.close()
    assert open_widgets() == start


def test_an_unknown_notebook_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match="no notebook 'norms'.*layer_norm"):
        progress.show("norms")


CELLS = [
    "from helpers import exercises, layers, progress",
    "exercises.rms_norm.check(layers.rms_norm)",
    'progress.show("rms_norm")',
]


def test_in_a_kernel_the_file_lies_beside_the_notebook(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env={**os.environ, "COURSE_PROGRESS": "", "PYTHONPATH": str(ROOT)})
    (entry,) = entries(tmp_path / "progress.json")
    assert (entry["id"], entry["right"]) == ("rms_norm", True)
    assert "rms_norm: passed at check 1" in notebook.cells[2].outputs[0].data["text/plain"]
