"""What happens to learners: the kernel is restarted in a drag, a cell is run again in a training, two tabs are open."""

import pytest
from playwright.sync_api import expect

from . import lab as jupyterlab
from .lab import Shown

SURVIVAL = "explorers.survival()"
SLIDER = "share that each layer keeps"


def works(shown):
    """Does the picture follow its slider, from where it begins?"""
    expect(shown.image).to_have_count(1)
    expect(shown.sentence).to_contain_text("keeps 90 %")
    shown.changes(lambda: shown.slider(SLIDER).press("ArrowRight"), "keeps 91 %")


@pytest.mark.slow
def test_after_a_restart_in_a_drag_the_cells_are_run_again_and_all_is_well(open_notebook):
    notebook = open_notebook("00_start_here")
    shown, page = Shown(notebook, SURVIVAL), notebook.page
    slider = shown.slider(SLIDER)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=5)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    page.mouse.move(x - 120, y, steps=5)
    page.mouse.up()
    notebook.wait_idle()
    expect(shown.image).to_be_visible()  # the last picture stays, though it no longer follows
    assert notebook.run() == []
    works(shown)


@pytest.mark.slow
def test_a_cell_run_again_while_it_trains_begins_anew(open_notebook):
    notebook = open_notebook("02_gradient_flow")
    area = notebook.output("explorers.deep_or_shallow()")
    start, stop = (area.get_by_role("button", name=name) for name in ("Start", "Stop"))
    start.click()
    expect(stop).to_be_enabled()
    assert notebook.run() == []  # the training that goes on is ended: nobody could stop it
    expect(start).to_have_count(1)
    sentence = area.get_by_role("status").last
    expect(sentence).to_contain_text("After 40 steps")
    notebook.page.wait_for_timeout(1000)
    expect(sentence).to_contain_text("After 40 steps")
    start.click()
    expect(sentence).not_to_contain_text("After 40 steps")
    stop.click()


@pytest.mark.slow
def test_of_two_tabs_the_one_that_ran_last_is_alive(open_notebook, page, lab):
    first = open_notebook("00_start_here")
    second = jupyterlab.Notebook(page.context.new_page(), lab, "00_start_here")
    expect(second.output(SURVIVAL).locator("img")).to_be_visible()  # the still picture, before it runs there
    for notebook in (second, first, second):
        notebook.page.bring_to_front()
        assert notebook.run() == []
        works(Shown(notebook, SURVIVAL))
    expect(first.output(SURVIVAL).locator("img[width]")).to_have_count(0)
