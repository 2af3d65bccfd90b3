"""JupyterLab's formgrader over a graded class, in a browser: a written answer gets its points by hand."""

import os
import subprocess
import sys
import time
import urllib.request

import pytest

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r homework/requirements.txt")

from homework import grading
from tests.browser import lab as jupyterlab

from .conftest import COURSE, LESSON, PICTURE, RIGHT, answered, cell, command, make, scores, submit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(jupyterlab.find_browser() is None, reason=jupyterlab.NO_BROWSER),
]


SCRIPT = "<img src='none' onerror='window.ran = 1'><script>window.ran = 2</script>"
PICTURES = "![a photo](attachment:photo.png) ![a sketch](attachment:lost.png)"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, **jupyterlab.launch_options()}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """(url, folder): a server in a course folder with two graded students."""
    work = tmp_path_factory.mktemp("formgrader")
    folder = make(work / "folder", ["03"])
    for student in ("ada", "bob"):
        notebook = answered(folder, **RIGHT, written_1=f"Words of {student}. {SCRIPT} {PICTURES}")
        cell(notebook, "written_1").attachments = {"photo.png": PICTURE}
        submit(folder, student, notebook)
    grading.grade(folder, LESSON, say=lambda text: None)
    places = {f"JUPYTER_{kind.upper()}_DIR": str(work / kind) for kind in ("config", "data", "runtime")}
    port = jupyterlab.free_port()
    options = [f"--ServerApp.port={port}", f"--ServerApp.root_dir={folder}", "--IdentityProvider.token=t"]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", *options]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **places, "PYTHONPATH": str(COURSE)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"{url}/api/status?token=t", timeout=5).close()
                break
            except OSError:
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.3)
        yield url, folder
    finally:
        process.kill()
        process.wait()


def test_a_written_answer_gets_its_points_below_the_verdicts(page, desk):
    url, folder = desk
    page.goto(f"{url}/formgrader/manage_assignments?token=t")
    page.get_by_role("link", name=LESSON).first.wait_for(timeout=90_000)
    page.goto(f"{url}/formgrader/gradebook/{LESSON}/{LESSON}")
    page.get_by_role("link", name="Submission #1").click(timeout=90_000)
    page.get_by_text("layer_norm_backward: correct").first.wait_for(timeout=90_000)
    page.get_by_text("Words of").first.wait_for()
    assert page.evaluate("window.ran") is None  # what a student writes does not act in the teacher's name
    for picture in ("a photo", "a sketch"):  # a place is held for the one that was lost
        assert page.get_by_alt_text(picture).evaluate("img => img.naturalWidth") > 0
    boxes = page.locator("input.score")
    page.locator("input.score[placeholder='2']").wait_for(timeout=90_000)  # now the page has the marks
    assert boxes.count() == 4
    boxes.nth(2).fill("2")  # two functions come before it
    boxes.nth(2).press("Tab")
    end = time.monotonic() + 60
    while sorted(scores(folder).values()) != [6, 8]:
        assert time.monotonic() < end, scores(folder)
        page.wait_for_timeout(500)


def test_the_feedback_has_the_pictures_of_an_answer(desk):
    _, folder = desk
    command(folder, "nbgrader", "generate_feedback", LESSON)
    for student in ("ada", "bob"):
        page = (folder / "feedback" / student / LESSON / f"{LESSON}.html").read_text("utf-8")
        assert PICTURE["image/png"] in page
