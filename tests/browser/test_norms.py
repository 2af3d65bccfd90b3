"""The explorers of notebook 03 in JupyterLab, by mouse and by the keyboard alone."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from helpers import experiments
from helpers.figures import words


@pytest.fixture
def show(show):
    return partial(show, "03_layer_norm")


def test_the_network_of_drift(show):
    shown = show("explorers.drift()")
    menu = shown.area.get_by_label("network")
    shown.changes(lambda: menu.select_option("16 features, W between −1 and 1"), "after 10 layers")
    expect(shown.slider("gain")).to_be_hidden()
    ends = [
        experiments.spread_through(experiments.uniform_matrices(10, seed=s), seed=s).std[-1] for s in (0, 1)
    ]
    expect(shown.sentence.last).to_contain_text(f"σ = {words(ends[0])} (theory 4.32 × 10³)")
    shown.tab_to(shown.slider("random weights no."))
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), f"σ = {words(ends[1])}")
    shown.tab_to(menu)
    shown.changes(lambda: shown.page.keyboard.press("ArrowUp"), "gain 1.5: after 15 layers")


def test_one_button_of_a_toggle_is_always_pressed(show):
    shown = show("explorers.drift()")
    without, with_norm = (
        shown.area.get_by_role("button", name=name) for name in ("No normalization", "With LayerNorm")
    )
    pressed = re.compile("mod-active")
    expect(without).to_have_class(pressed)
    shown.changes(with_norm.click, "With LayerNorm")
    expect(with_norm).to_have_class(pressed)
    shown.changes(lambda: shown.area.get_by_role("button", name="Reset").click(), "No normalization")
    expect(without).to_have_class(pressed)
    expect(with_norm).not_to_have_class(pressed)


def test_the_picture_of_the_steps_stays_where_it_is(show):
    shown = show("explorers.layer_norm_steps()")
    places = set()
    for tab in ("Centred", "Normalized", "Scaled and shifted", "Input"):
        shown.changes(lambda tab=tab: shown.area.get_by_role("tab", name=tab).click(), f"{tab}: [")
        shown.page.wait_for_timeout(300)  # MathJax
        places.add(round(shown.image.bounding_box()["y"] - shown.area.bounding_box()["y"]))
    assert len(places) == 1, places


def test_threads_of_the_steps(show):
    shown = show("explorers.layer_norm_steps()")
    shown.changes(lambda: shown.area.get_by_role("tab", name="Centred").click(), "[1, −4, 0, 3]")
    move = shown.slider("move it by")
    shown.tab_to(move)
    shown.changes(
        lambda: shown.page.keyboard.press("ArrowRight"),
        "Entry 4 was moved by 1.275, from 4 to 5.275: 4 of 4 values changed",
    )
    shown.changes(lambda: shown.drag(move, 1.0), "from 4 to 29.5")
    shown.tab_to(shown.slider("chosen entry"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowLeft"), "Entry 3 was moved by 25.5, from 1 to 26.5")
    expect(shown.area.get_by_text("rounding to 2 decimals")).to_be_visible()


def test_geometry(show):
    shown = show("explorers.geometry()")
    shown.changes(lambda: shown.drag(shown.slider("x₁"), 0.0), "x = [−1.5, −1.5, 1.2]")
    shown.tab_to(shown.slider("x₃"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "x = [−1.5, −1.5, 1.5]")
    sentence = shown.sentence.last.inner_text()
    for name in ("turn, degrees", "look down by, degrees"):  # another picture of the same
        shown.tab_to(shown.slider(name))
        shown.changes(lambda: shown.page.keyboard.press("End"), sentence)


def test_small_spread(show):
    shown = show("explorers.small_spread()")
    shown.changes(lambda: shown.drag(shown.slider("spread σ of the input"), 0.0), "comes out as 0.01")
    shown.tab_to(shown.slider("ε"))
    shown.changes(lambda: shown.page.keyboard.press("Home"), "(at most 1/√ε = 1 × 10⁶)")


def test_two_tokens(show):
    shown = show("explorers.two_tokens()")
    shown.changes(lambda: shown.drag(shown.slider("b: scale"), 1.0), "b = [6, 9, 12, 15]")
    expect(shown.sentence.last).to_contain_text("the same, up to ε")
    shown.tab_to(shown.slider("b: scale"))
    shown.changes(lambda: shown.page.keyboard.press("Home"), "apart")
    shown.changes(lambda: shown.area.get_by_role("button", name="Reset").click(), "b = [4, 5, 6, 7]")


def test_when_numbers_run_out(show):
    shown = show("explorers.when_numbers_run_out()")
    shown.tab_to(shown.slider("spread σ"))
    for _ in range(3):
        shown.page.keyboard.press("ArrowRight")
    expect(shown.sentence.last).to_contain_text("σ = 11 comes out as 1;")
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), "σ = 12 comes out as 0;")
    shown.changes(
        lambda: shown.area.get_by_label("features d").select_option("64"),
        "first all-zero output at σ = 32 (theory 32)",
    )
    shown.changes(
        lambda: shown.area.get_by_role("button", name="float32").click(), "no overflow up to σ = 400"
    )
    shown.changes(lambda: shown.drag(shown.slider("mean"), 1.0), "with mean 1 × 10⁵ the one-pass variance is")


def test_training_with_the_learners_functions(show):
    shown = show("explorers.train_with(layer_norm, layer_norm_backward)")
    expect(shown.sentence.last).to_contain_text("After 60 steps")
    expect(shown.sentence.last).to_contain_text(
        "layer_norm_backward are still blank: these are the references"
    )
    shown.tab_to(shown.area.get_by_role("button", name="Start"))
    shown.page.keyboard.press("Enter")
    expect(shown.sentence.last).to_contain_text("After 400 steps", timeout=60_000)
    expect(shown.area.get_by_text("done")).to_be_visible()
