"""The explorers of notebook 05 in JupyterLab, by mouse and by the keyboard alone."""

from functools import partial

import pytest
from playwright.sync_api import expect


@pytest.fixture
def show(show):
    return partial(show, "05_rms_norm")


def test_two_norms(show):
    shown = show("explorers.two_norms()")
    offset = shown.slider("add to every number")
    shown.tab_to(offset)
    shown.page.keyboard.press("ArrowLeft")
    shown.changes(lambda: shown.page.keyboard.press("ArrowLeft"), "has mean 0 and root mean square 2.55")
    expect(shown.sentence.last).to_contain_text("the same.")
    shown.changes(lambda: shown.drag(offset, 1.0), "[22, 17, 21, 24] has mean 21")


def test_the_other_gain(show):
    shown = show("explorers.two_norms(rms_norm, rms_norm_offset)")
    shown.area.get_by_role("button", name="1 + w").click()  # w = 0 is γ = 1: the same picture
    expect(shown.slider("γ")).to_be_hidden()
    shown.tab_to(shown.slider("w"))
    shown.changes(
        lambda: shown.page.keyboard.press("ArrowRight"), "RMSNorm [0.8033"
    )  # 1.1 times 2 over 2.739


def test_what_the_gradient_loses(show):
    shown = show("explorers.what_the_gradient_loses(rms_norm_backward)")
    expect(shown.sentence.last).to_contain_text("Your rms_norm_backward is still blank")
    shown.tab_to(shown.slider("ε"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "keeps 7 whole and at most 0.3")
    shown.changes(lambda: shown.drag(shown.slider("rms of x"), 0.0), "at most 0.8 times the rest")


def test_what_leaves_it_unchanged(show):
    shown = show("explorers.what_leaves_it_unchanged()")
    cells = shown.area.get_by_role("cell")
    expect(cells.filter(has_text="?")).to_have_count(25)
    shown.changes(
        lambda: shown.area.get_by_role("button", name="W + v").click(),
        "One vector added to every weight vector: leaves LayerNorm unchanged",
    )
    expect(cells.filter(has_text="?")).to_have_count(20)
    shown.changes(
        lambda: shown.area.get_by_role("button", name="one w × a").click(), "leaves BatchNorm, WeightNorm"
    )
    shown.tab_to(shown.slider("ε"))
    for _ in range(8):
        shown.page.keyboard.press("ArrowRight")
    expect(shown.sentence.last).to_contain_text("not as in the papers: BatchNorm.")
    shown.changes(lambda: shown.area.get_by_role("button", name="Reset").click(), "All weights times 2.5")


def test_cost(show):
    shown = show("explorers.cost()")
    expect(shown.sentence.last).to_contain_text("No time is measured yet")
    shown.tab_to(shown.area.get_by_role("button", name="Start"))
    shown.page.keyboard.press("Enter")
    expect(shown.sentence.last).to_contain_text("In 20 runs here", timeout=60_000)
    expect(shown.area.get_by_text("done", exact=True)).to_be_visible()
    shown.changes(lambda: shown.area.get_by_label("features d").select_option("64"), "with 64 features")


def test_casting(show):
    shown = show("explorers.casting()")
    mean = shown.slider("mean")
    shown.tab_to(mean)
    for _ in range(6):
        shown.page.keyboard.press("ArrowRight")
    expect(shown.sentence.last).to_contain_text("RMSNorm 12.")
    shown.changes(
        lambda: shown.area.get_by_role("button", name="float16").click(), "LayerNorm leaves 15 different"
    )
    shown.changes(lambda: shown.drag(mean, 1.0), "LayerNorm leaves 1 different value, RMSNorm 1.")
