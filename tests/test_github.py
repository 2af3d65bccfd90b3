"""What GitHub reads: the forms ask for what makes a test, the workflow runs the test command where README says."""

import ast
import re
from pathlib import Path

import pytest
import yaml

from helpers import environment, exercises

COURSE = Path(__file__).parents[1]
FORMS = sorted((COURSE / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
README = (COURSE / "README.md").read_text(encoding="utf-8")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_asks_for_what_makes_a_test(path):
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    asked = {part["id"]: part for part in form["body"] if "id" in part}
    assert {"exercise", "code", "message", "versions", "consent"} < set(asked)
    assert all(part["validations"]["required"] for name, part in asked.items() if name != "consent")
    *names, exhibit = asked["exercise"]["attributes"]["options"]
    assert names == sorted(exercises.ALL) and "exhibit" in exhibit


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_what_a_form_names_is_there(path):
    text = path.read_text(encoding="utf-8")
    (tests,) = re.findall(r"`(tests/\S+)`", text)
    assert (COURSE / tests).exists()
    (call,) = set(re.findall(r"`environment\.(\w+)\(\)`", text))
    assert callable(getattr(environment, call))


def test_there_is_a_form_for_either_mistake_of_a_check():
    assert [path.stem for path in FORMS] == ["mistake_not_recognised", "right_but_called_wrong"]


def test_the_workflow_runs_the_test_command_on_three_systems():
    (job,) = read(COURSE / ".github" / "workflows" / "tests.yml")["jobs"].values()
    systems = [name.split("-")[0] for name in job["strategy"]["matrix"]["os"]]
    assert systems == ["ubuntu", "macos", "windows"]
    assert job["steps"][-1]["run"] == "python course.py test"
    versions = [tuple(map(int, v.split("."))) for v in job["strategy"]["matrix"]["python"]]
    (oldest,) = (
        ast.literal_eval(node.value)
        for node in ast.parse((COURSE / "course.py").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "OLDEST"
    )
    assert min(versions) == oldest and len(versions) > 1
