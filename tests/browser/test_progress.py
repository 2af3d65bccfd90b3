"""Progress in JupyterLab: the list follows, is kept, and can be taken along, by the keyboard alone."""

import re

import pytest
from playwright.sync_api import expect

from helpers import record

from . import lab as jupyterlab
from .test_lessons import RIGHT, write
from .test_quiz import Asked, rerun

SHOW = 'progress.show("gradient_flow")'


@pytest.fixture
def lab(tmp_path):
    """A server of its own: no other test has answered anything there."""
    with jupyterlab.server(tmp_path) as address:
        yield address


def test_progress_follows_is_kept_and_taken_along(open_notebook):
    notebook = open_notebook("02_gradient_flow", SHOW)
    page, shown = notebook.page, notebook.output(SHOW)
    expect(shown.get_by_role("table")).to_contain_text("backprop_chain, grad_norms: open")
    question = Asked(notebook, 'quiz.ask("gradient_flow")')
    question.choose(0)
    question.press("Enter")
    expect(shown).to_contain_text(re.compile("1: (right at check 1|not right after 1 check)"))
    write(notebook, "backprop_chain", RIGHT, SHOW)
    expect(shown).to_contain_text("backprop_chain: passed at check 1; grad_norms: open")
    link = shown.get_by_role("link")
    link.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "progress.html"
    kept = record.read(download.value.path().read_text(encoding="utf-8"))
    assert sorted(entry["kind"] for entry in kept) == ["exercise", "quiz"]
    page.keyboard.press("Shift+Tab")
    expect(shown.get_by_role("region")).to_be_focused()  # a wide table is scrolled by keys
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    assert notebook.run(SHOW) == []
    expect(shown).to_contain_text("backprop_chain: passed at check 1")
    expect(shown.get_by_role("status")).to_have_text("Kept in the file progress.json, and sent nowhere.")
    rerun(notebook, SHOW)
    expect(shown).to_contain_text("backprop_chain: passed at check 1")
