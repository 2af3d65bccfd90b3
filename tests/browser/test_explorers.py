"""Each explorer in JupyterLab, by mouse and by the keyboard alone: picture and sentence follow, and agree."""

import urllib.request

import pytest
from playwright.sync_api import expect

from helpers import experiments

from .lab import Notebook, Shown


def left(layers, residual, gain=0.8, activation="tanh"):
    """The share of the gradient that the sentence must name, as measured here, in this process."""
    wiring = "residual" if residual else "plain"
    return experiments.gradient_norms(layers, wiring, activation=activation, gain=gain).ratio


def test_survival_by_mouse_and_keyboard(show):
    shown = show("00_start_here", "explorers.survival()")
    slider = shown.slider("share that each layer keeps")
    shown.changes(lambda: shown.drag(slider, 1.0), "after 50 layers 100 % of it is left")
    shown.tab_to(slider)
    shown.changes(
        lambda: slider.press("ArrowLeft"), f"keeps 99 % of the signal; after 50 layers {100 * 0.99**50:.3g} %"
    )
    shown.changes(lambda: shown.area.get_by_role("button", name="Reset").click(), "keeps 90 %")


def test_gradient_bars_by_mouse(show):
    shown = show("02_gradient_flow", "explorers.gradient_bars()")
    shown.changes(
        lambda: shown.area.get_by_role("button", name="With residuals").click(), f"{left(32, True):.3g} times"
    )
    shown.changes(
        lambda: shown.drag(shown.slider("layers"), 1.0),
        f"64 tanh layers, gain 0.8: the gradient at the input is {left(64, True):.3g} times",
    )
    shown.changes(lambda: shown.area.get_by_label("activation").select_option("relu"), "64 relu layers")
    shown.changes(
        lambda: shown.area.get_by_label("model").select_option("toy model"), "toy model, 64 layers, f′ = 0.9"
    )
    expect(shown.slider("gain")).to_be_hidden()
    shown.changes(
        lambda: shown.drag(shown.slider("factor f′ of each layer"), 0.25),
        "f′ = −1: 0 % of the gradient is left",
    )
    shown.changes(lambda: shown.area.get_by_role("button", name="linear").click(), "0 %")
    shown.changes(
        lambda: shown.area.get_by_role("button", name="Reset").click(),
        "Without residuals, 32 tanh layers, gain 0.8",
    )


def test_gradient_bars_by_keyboard(show):
    shown = show("02_gradient_flow", "explorers.gradient_bars()")
    toggle = shown.area.get_by_role("button", name="With residuals")
    shown.tab_to(toggle)
    shown.changes(lambda: shown.page.keyboard.press("Enter"), f"{left(32, True):.3g} times")
    shown.tab_to(shown.slider("layers"))
    shown.changes(lambda: shown.page.keyboard.press("End"), "64 tanh layers")
    shown.changes(
        lambda: shown.page.keyboard.press("ArrowLeft"),
        f"63 tanh layers, gain 0.8: the gradient at the input is {left(63, True):.3g} times",
    )
    shown.tab_to(shown.area.get_by_label("model"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowDown"), "toy model, 63 layers")
    shown.tab_to(shown.area.get_by_role("button", name="Reset"))
    shown.changes(lambda: shown.page.keyboard.press("Space"), "Without residuals, 32 tanh layers")


def test_drift_by_mouse_and_keyboard(show):
    shown = show("03_layer_norm", "explorers.drift()")
    seen = experiments.activation_spread(15, "layer", gain=1.5, width=128)
    with_norm = shown.area.get_by_role("button", name="With LayerNorm")
    shown.changes(
        with_norm.click, f"With LayerNorm, gain 1.5: after 15 layers the spread is σ = {seen.std[-1]:.3g}"
    )
    shown.tab_to(shown.slider("layers"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), "after 16 layers")
    shown.tab_to(shown.slider("gain"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowRight"), "gain 1.6")
    shown.changes(lambda: shown.drag(shown.slider("gain"), 0.0), "gain 0.1")


def test_layer_norm_steps_by_mouse_and_keyboard(show):
    shown = show("03_layer_norm", "explorers.layer_norm_steps()")
    shown.changes(
        lambda: shown.area.get_by_role("tab", name="Centred").click(),
        "Centred: [1, −4, 0, 3] has mean μ = 0",
    )
    shown.changes(
        lambda: shown.area.get_by_role("tab", name="Scaled and shifted").click(),
        "[1.284, −2.638, 0.5, 2.853]",
    )
    shown.tab_to(shown.slider("γ (scale)"))
    shown.changes(lambda: shown.page.keyboard.press("ArrowLeft"), "spread σ = 1.9")
    text = shown.area.get_by_label("input x")
    shown.changes(
        lambda: (text.fill("1, 2, 3"), text.press("Enter")), "[−1.827, 0.5, 2.827] has mean μ = 0.5"
    )
    shown.changes(lambda: shown.area.get_by_label("example").select_option("one outlier"), "σ = 1.9")
    tab = shown.area.get_by_role("tab", name="Scaled and shifted")
    tab.focus()
    shown.changes(
        lambda: (shown.page.keyboard.press("ArrowLeft"), shown.page.keyboard.press("Enter")), "Normalized:"
    )


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "There is no number here"),
        ("1, two", "“two” is not a number"),
        ("1, nan", "finite"),
        ("7", "One number alone"),
        (", ".join(["1"] * 10_000), "10,000 numbers"),
    ],
)
def test_bad_input_is_answered_below_the_control(show, typed, words):
    shown = show("03_layer_norm", "explorers.layer_norm_steps()")
    before, text = shown.image.get_attribute("src"), shown.area.get_by_label("input x")
    text.fill(typed)
    text.press("Enter")
    expect(shown.area.get_by_text(words)).to_be_visible()
    expect(shown.area.get_by_text("The picture still shows 2, -3, 1, 4.")).to_be_visible()
    assert shown.image.get_attribute("src") == before
    assert shown.sentence.last.inner_text().startswith("Input: [2, −3, 1, 4]")


BROKEN = """import ipywidgets, numpy as np
from matplotlib.figure import Figure
from helpers.live import live
figure = Figure(figsize=(4, 2)); ax = figure.subplots(); line, = ax.plot([0, 1], [0, 1])
def move(height):
    line.set_ydata([0, 1 / (height - 3)])
    return [line]
live(figure, move, height=ipywidgets.IntSlider(1, 0, 5, description="height"))"""


def test_an_error_in_an_update_appears_below_the_picture_and_goes_away(open_notebook):
    notebook = open_notebook("00_start_here")
    notebook.page.evaluate(
        """source => {
          const notebook = window.jupyterapp.shell.currentWidget.content;
          notebook.model.sharedModel.insertCell(0, {cell_type: 'code', source});
          notebook.activeCellIndex = 0;
          return window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        BROKEN,
    )
    notebook.wait_idle()
    shown = Shown(notebook, "Figure(figsize=(4, 2))")
    shown.slider("height").press("ArrowRight")
    expect(shown.sentence.last).to_contain_text("height 2")
    before = shown.image.get_attribute("src")
    shown.slider("height").press("ArrowRight")
    alert = shown.area.get_by_role("alert")
    expect(alert).to_contain_text("ZeroDivisionError in move, line 6")
    expect(alert).to_contain_text("line.set_ydata([0, 1 / (height - 3)])")
    assert shown.image.get_attribute("src") == before
    assert "dashed" in shown.image.get_attribute("style")
    shown.changes(lambda: shown.slider("height").press("ArrowRight"), "height 4")
    expect(alert).to_have_count(0)


def test_running_a_cell_again_shows_one_explorer_that_works(show):
    shown = show("00_start_here", "explorers.survival()")
    shown.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(shown.image).to_have_count(1)
    expect(shown.sentence).to_contain_text("keeps 90 %")
    slider = shown.slider("share that each layer keeps")
    shown.changes(lambda: slider.press("ArrowRight"), "keeps 91 %")


def test_the_still_picture_is_there_before_anything_has_run(page, lab):
    notebook = Notebook(page, lab, "02_gradient_flow")
    image = notebook.output("explorers.gradient_bars()").locator("img")
    expect(image).to_be_visible()
    assert image.get_attribute("alt").startswith("Without residuals, 32 tanh layers")
    notebook.close()


def test_the_browser_may_keep_the_icons(lab):
    """JupyterLab changes the page's icon twice a change; else the browser would ask the server each time."""
    address, _ = lab
    for icon in ("favicon.ico", "favicon-busy-1.ico"):
        with urllib.request.urlopen(f"{address}/static/favicons/{icon}") as answer:
            assert "immutable" in answer.headers["Cache-Control"]
