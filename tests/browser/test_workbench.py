"""Notebook 07 in JupyterLab: the workbench with its list of runs, the museum, and the learner's own code."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from .lab import Shown

MINUTE = 60_000


@pytest.fixture
def show(show):
    return partial(show, "07_make_it_train")


def press_start(shown):
    shown.tab_to(shown.area.get_by_role("button", name="Start"), most=40)
    shown.page.keyboard.press("Enter")


@pytest.mark.slow
def test_runs_are_trained_listed_sorted_saved_and_cleared(show):
    shown = show("explorers.workbench()")
    expect(shown.sentence.last).to_contain_text("before training, loss 1.1")
    shown.changes(lambda: shown.area.get_by_label("layers").select_option("4"), "4 relu layers of width 32")
    press_start(shown)
    expect(shown.sentence.last).to_contain_text("after 400 steps", timeout=MINUTE)
    rows = shown.area.locator("table tr")
    expect(rows).to_have_count(2)
    shown.area.get_by_label("layers").select_option("40")
    shown.changes(lambda: shown.area.get_by_role("button", name="Residual").click(), "residual, α = 1")
    expect(shown.area.get_by_label("α of the branches")).to_be_visible()
    shown.area.get_by_role("button", name="Start").click()
    expect(shown.sentence.last).to_contain_text("diverged in step 3", timeout=MINUTE)
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("diverged")
    shown.area.get_by_label("sort runs by").select_option("steps done")
    expect(rows.nth(1)).to_contain_text("diverged")
    shown.area.get_by_role("button", name="Save as CSV").click()
    expect(shown.area.get_by_text(re.compile("Written to .*workbench_runs.csv"))).to_be_visible()
    with shown.page.expect_download() as download:
        shown.area.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "workbench_runs.csv"
    assert len(download.value.path().read_text(encoding="utf-8").strip().splitlines()) == 3
    shown.area.get_by_role("button", name="Clear the list").click()
    expect(rows).to_have_count(0)


@pytest.mark.slow
def test_stop_keeps_what_is_there(show):
    shown = show("explorers.workbench()")
    shown.area.get_by_label("layers").select_option("100")
    expect(shown.sentence.last).to_contain_text("100 relu layers")
    press_start(shown)
    expect(shown.sentence.last).to_contain_text("after", timeout=MINUTE)
    shown.area.get_by_role("button", name="Stop").click()
    expect(shown.area.get_by_role("button", name="Start")).to_be_enabled(timeout=MINUTE)
    expect(shown.area.get_by_text(re.compile(r"\d+ % done"))).to_be_visible()


def test_directions(show):
    shown = show("explorers.jacobian()")
    expect(shown.sentence.last).to_contain_text("64 of 64 directions")
    shown.changes(lambda: shown.area.get_by_label("network").select_option("pre-norm"), "Pre-norm, depth 32")
    shown.tab_to(shown.slider("depth"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), "depth 33")
    shown.changes(lambda: shown.drag(shown.slider("depth"), 0.0), "depth 1:")


@pytest.mark.slow
def test_an_exhibit_is_found_mended_checked_and_trained(open_notebook):
    """As a learner does it: the symptom, the code, a change in its cell, the check, the training."""
    notebook = open_notebook("07_make_it_train", "explorers.museum(6")
    page, panel = notebook.page, "window.jupyterapp.shell.currentWidget"
    expect(Shown(notebook, "explorers.museum(6)").sentence.last).to_contain_text("used is 17")
    check = notebook.output("exercises.exhibit(6).check(clipped_step)")
    expect(check).to_contain_text("exhibit 6: not attempted")
    page.evaluate(
        """async () => {
          const content = PANEL.content, step = '    w = w - lr * g\\n', last = '    return w, np';
          const at = content.widgets.findIndex(w => w.model.sharedModel.source.startsWith('def clipped_step'));
          const shared = content.widgets[at].model.sharedModel;
          shared.setSource(shared.source.replace(step, '').replace(last, step + last));
          content.activeCellIndex = at;
          for (let i = 0; i < 3; i++) await window.jupyterapp.commands.execute('notebook:run-cell-and-select-next');
        }""".replace("PANEL", panel)
    )
    notebook.wait_idle()
    expect(check).to_contain_text("exhibit 6: correct")
    expect(check).to_contain_text("graphstorm/issues/1366")
    shown = Shown(notebook, "explorers.museum(6, clipped_step)")
    expect(shown.sentence.last).to_contain_text("The bug is gone.")
    press_start(shown)
    expect(shown.sentence.last).to_contain_text("after 200 steps", timeout=MINUTE)
