"""The explorers of notebook 04 in JupyterLab: clicks on the picture, and by the keyboard alone."""

from functools import partial

import pytest
from playwright.sync_api import expect

from helpers.experiments import sharing
from helpers.figures import words


@pytest.fixture
def show(show):
    return partial(show, "04_batch_norm_comparison")


def click(shown, x, y):
    """Click on the picture at a share of its width and of its height, from the left and from above."""
    box = shown.image.bounding_box()
    shown.image.click(position={"x": x * box["width"], "y": y * box["height"]})


def place(example, token, feature):
    """Where the middle of a cell lies, as shares of width and height; counted from 1."""
    left = 78 + (example - 1) * (6 * 56 + 36) + (feature - 0.5) * 56
    return left / 800, (350 - 274 + (token - 0.5) * 65) / 350


RUN_AGAIN = """async () => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const wanted = cell => cell.model.sharedModel.source.includes('which_numbers()');
    notebook.activeCellIndex = notebook.widgets.findIndex(wanted);
    await window.jupyterapp.commands.execute('notebook:run-cell');
}"""


def test_a_click_chooses_a_number(show):
    shown = show("explorers.which_numbers()")
    shown.changes(lambda: click(shown, *place(2, 4, 6)), "−3 (example 2, token 4, feature 6)")
    shown.changes(
        lambda: shown.area.get_by_role("button", name="LayerNorm").click(), "example 2, token 4, all features"
    )
    expect(shown.area.get_by_text("(4 + 5 + 6 + 6 + 2 + (−3)) / 6")).to_be_visible()
    shown.changes(lambda: click(shown, *place(1, 1, 1)), "9 (example 1, token 1, feature 1)")
    shown.changes(lambda: shown.area.get_by_role("button", name="Reset").click(), "BatchNorm: 9")
    shown.changes(lambda: click(shown, *place(1, 1, 1)), "BatchNorm: 9 (example 1, token 1, feature 1)")
    click(shown, 0.5, 0.05)  # beside the numbers
    expect(shown.sentence.last).to_contain_text("BatchNorm: 9 (example 1, token 1, feature 1)")
    shown.page.evaluate(RUN_AGAIN)
    expect(shown.sentence.last).to_contain_text("token 2, feature 3")
    shown.changes(lambda: click(shown, *place(1, 2, 1)), "9 (example 1, token 2, feature 1)")
    shown.page.set_viewport_size({"width": 700, "height": 900})  # a picture is made smaller then
    expect(shown.image).not_to_have_js_property("clientWidth", 800)
    shown.changes(lambda: click(shown, *place(2, 3, 4)), "4 (example 2, token 3, feature 4)")


def test_a_number_is_chosen_by_the_keyboard(show):
    shown = show("explorers.which_numbers()")
    shown.tab_to(shown.slider("token"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), "8 (example 1, token 3, feature 3)")
    shown.tab_to(shown.slider("example"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "5 (example 2, token 3, feature 3)")
    becomes = sharing.normalized("BatchNorm")[0][1, 2, 2]
    expect(shown.sentence.last).to_contain_text(f"5 becomes {words(becomes)}.")


def test_what_hears_the_clicks_is_out_of_reach(show):
    """Hidden from keyboard and screen reader, and only where a click means something."""
    shown = show("explorers.which_numbers()")
    expect(shown.image).to_have_css("cursor", "pointer")
    expect(shown.area.locator(".course-place input")).to_be_hidden()
    expect(shown.area.get_by_role("textbox")).to_have_count(shown.area.get_by_role("slider").count())
    expect(shown.page.locator(".course-place")).to_have_count(1)
    expect(shown.page.locator(".course-pick")).to_have_count(1)


def test_batch_sizes_are_chosen_by_the_keyboard(show):
    """The slider knows 1, 2, 3, 4, 8 ... 256, and has a name."""
    shown = show("explorers.small_batches()")
    shown.tab_to(shown.slider("examples in a batch"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowLeft"), "3 examples in a batch")
    shown.changes(lambda: shown.page.keyboard.press("Home"), "1 example in a batch")
    shown.changes(lambda: shown.page.keyboard.press("End"), "256 examples in a batch")


def test_the_example_stays_in_the_batch(show):
    shown = show("explorers.neighbour(batch_norm)")
    shown.tab_to(shown.slider("move its first feature by"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "example 6 is moved by 10")
    shown.tab_to(shown.slider("examples in the batch"))
    shown.changes(lambda: shown.page.keyboard.press("Home"), "example 3 is moved by 10")
