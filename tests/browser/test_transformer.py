"""The explorers of notebook 06 in JupyterLab, by mouse and by the keyboard alone."""

from functools import partial

import pytest
from playwright.sync_api import expect

from helpers import layers
from helpers.experiments import transformer
from helpers.figures import words
from helpers.live import NARROWEST


@pytest.fixture
def show(show):
    return partial(show, "06_transformer_block")


def button(shown, name):
    return shown.area.get_by_role("button", name=name, exact=True)


def test_look_ahead(show):
    shown = show("explorers.look_ahead()")
    expect(shown.sentence.last).to_contain_text("all 8 outputs change")
    shown.tab_to(button(shown, "causal"))
    shown.changes(lambda: shown.page.keyboard.press("Enter"), "outputs 4, 5, 6, 7, 8 change")
    shown.tab_to(shown.slider("token that is replaced"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "output 8 changes")
    shown.changes(
        lambda: shown.drag(shown.slider("head"), 1.0), "In head 4 token 1 gives token 8 a weight of 0"
    )
    shown.changes(lambda: button(shown, "Reset").click(), "No mask, token 4 replaced")
    # As it was drawn, pixel by pixel.
    expect(shown.image).to_have_js_property("clientWidth", 800)
    shown.page.set_viewport_size({"width": 900, "height": 900})
    expect(shown.image).not_to_have_js_property("clientWidth", 800)
    # Beside the list of files it is shrunk so far that it fits.
    assert shown.image.evaluate("e => e.parentElement.scrollWidth <= e.parentElement.clientWidth")
    seen = shown.image.evaluate("e => e.clientWidth")
    shown.page.set_viewport_size({"width": 700, "height": 900})
    expect(shown.image).not_to_have_js_property("clientWidth", seen)
    # It keeps the width at which it can be read; what does not fit scrolls inside the output.
    assert shown.image.evaluate("e => e.clientWidth") >= round(NARROWEST * 800)
    assert shown.area.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_pre_or_post(show):
    shown = show("explorers.pre_or_post(pre_norm_block, post_norm_block)")
    expect(shown.sentence.last).to_contain_text("Your pre_norm_block is still blank")
    end = transformer.stream_squares(layers.pre_norm_block)[24]
    menu = shown.area.get_by_label("layers")
    shown.changes(lambda: menu.select_option("24"), f"to {words(end)} (bounds for pre-norm: 13 and 37)")
    expect(shown.area.get_by_role("rowheader", name="24 ◀")).to_be_visible()
    shown.tab_to(button(shown, "Post-norm"))
    shown.changes(lambda: shown.page.keyboard.press("Enter"), "Your post_norm_block is still blank")
    shown.changes(lambda: button(shown, "off").click(), "with pre-norm and no final norm")
    shown.tab_to(menu)
    shown.changes(lambda: shown.page.keyboard.press("ArrowUp"), "Post-norm, 16 layers")


def test_final_norm(show):
    shown = show("explorers.final_norm(pre_norm_stack, residual_init_std)")
    shown.changes(lambda: shown.drag(shown.slider("layers"), 1.0), "24 layers, 48 branches")
    end = transformer.stack_rms(layers.pre_norm_stack, 24, layers.residual_init_std(1.0, 24))[-2]
    shown.tab_to(button(shown, "by residual_init_std"))
    shown.changes(
        lambda: shown.page.keyboard.press("Enter"), f"given a stream of {words(end)}; the result has 1"
    )
    expect(shown.sentence.last).to_contain_text("pre_norm_stack and residual_init_std are still blank")


@pytest.mark.slow
def test_warm_up(show):
    shown = show("explorers.warm_up()")
    shown.area.get_by_label("layers").select_option("4")
    expect(shown.sentence.last).to_contain_text("4 layers")  # nothing is drawn before Start
    shown.tab_to(button(shown, "Start"))
    shown.page.keyboard.press("Enter")
    expect(shown.sentence.last).to_contain_text("After")
    button(shown, "Stop").click()
    expect(button(shown, "Stop")).to_be_disabled()
    button(shown, "Start").click()
    expect(shown.area.get_by_text("done", exact=True)).to_be_visible(timeout=120_000)
    expect(shown.sentence.last).to_contain_text("After 200 steps")
