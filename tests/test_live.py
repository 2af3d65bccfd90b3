"""The moving picture: blitting, the sentence, errors, re-runs."""

import base64
import io
import subprocess
import sys

import ipywidgets as widgets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as arrays
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from PIL import Image

from helpers import live as live_module
from helpers.figures.drawing import legend_above
from helpers.live import Blitter, live

from .counting import alive


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


@pytest.fixture
def made():
    """A picture with one line that follows one slider; the update fails at 7."""
    figure = Figure(figsize=(4, 2))
    ax = figure.subplots()
    (line,) = ax.plot([0, 1], [0, 0])
    ax.set(ylim=(0, 10))
    ax.spines[:].set_visible(False)  # a blitted line lies over them, a drawn one below
    drawn = []

    def update(height):
        drawn.append(height)
        if height == 7:
            raise ValueError("seven is too many")
        line.set_ydata([0, height])
        return [line]

    shown = live(figure, update, lambda: f"height {drawn[-1]}", height=widgets.IntSlider(3, 0, 10))
    shown.drawn, shown.line = drawn, line
    return shown


def test_a_change_moves_the_picture_and_the_sentence_together(made):
    before = made.image.value
    made.controls["height"].value = 5
    assert made.image.value != before
    assert made.sentence == made.image.tooltip == "height 5"
    assert '<div role="status"' in made._status.value and "height 5" in made._status.value


def test_equal_values_give_equal_pictures(made):
    before = made.image.value
    made.controls["height"].value = 9
    made.controls["height"].value = 3
    assert made.image.value == before


def test_a_blitted_picture_is_what_a_full_draw_gives(made):
    made.controls["height"].value = 8
    kind, _, picture = bytes(made.image.value).partition(b",")
    assert kind == b"data:image/png;base64"
    blitted = pixels(base64.b64decode(picture))
    made.line.set_animated(False)
    made._blitter.canvas.draw()
    np.testing.assert_array_equal(blitted, made._blitter.frame())


def test_set_moves_several_controls_and_draws_once(made):
    count = len(made.drawn)
    made.set(height=9)
    assert made.drawn[count:] == [9]


def test_reset_goes_back_to_the_beginning(made):
    made.set(height=9)
    made.reset()
    assert made.values() == made.defaults == {"height": 3}
    assert made.sentence == "height 3"


def test_an_error_is_shown_recorded_and_keeps_the_last_good_picture(made):
    made.set(height=5)
    good, sentence = made.image.value, made.sentence
    made.set(height=7)
    assert (made.image.value, made.sentence) == (good, sentence)
    assert isinstance(made.error, ValueError)
    assert "dashed" in made.image.layout.border
    box = made._alert.value
    for words in (
        'role="alert"',
        "ValueError in <code>update</code>",
        "line ",
        "seven is too many",
        "raise ValueError",
    ):
        assert words in box
    made.set(height=6)
    assert made.error is None and made._alert.value == "" and "dashed" not in made.image.layout.border
    assert made.sentence == "height 6"


def test_an_error_names_the_learners_line_and_escapes_html():
    source = "def norm(x):\n    return x / '<b>'\n"
    namespace = {}
    exec(compile(source, "cell", "exec"), namespace)
    shown = live(Figure(), lambda a: namespace["norm"](a), a=widgets.IntSlider())
    assert "TypeError in <code>norm</code>, line 2" in shown._alert.value
    assert "<b>'" not in shown._alert.value
    assert shown.image.layout.display == "none" and "last good" not in shown._alert.value


def test_update_that_returns_nothing_draws_everything():
    figure = Figure(figsize=(3, 2))
    ax = figure.subplots()
    shown = live(figure, lambda a: ax.set_title(f"title {a}") and None, a=widgets.IntSlider())
    before = shown.image.value
    shown.set(a=5)
    assert shown.error is None and shown.image.value != before
    assert shown.sentence == "a 5"


def test_the_background_follows_limits_scales_titles_and_other_artists():
    figure = Figure(figsize=(4, 2))
    ax = figure.subplots()
    (line,) = ax.plot([1, 2], [1, 2])
    (other,) = ax.plot([1, 2], [2, 1], zorder=1)
    ax.spines[:].set_visible(False)
    ax.legend([line], ["one"])
    blitter = Blitter(figure)
    changes = [
        lambda: ax.set_xlim(0, 5),
        lambda: ax.set_ylim(0, 20),
        lambda: ax.set_yscale("symlog"),
        lambda: ax.set_title("words"),
        lambda: ax.get_legend().get_texts()[0].set_text("two"),
        lambda: other.set_ydata([3, 3]),
        lambda: ax.set_xlim(0, 3),
        lambda: other.set_color("red"),
    ]
    for change in changes:
        blitter.draw([line])
        change()
        blitter.draw([line])
        blitted = blitter.frame().copy()
        line.set_animated(False)
        blitter.canvas.draw()
        np.testing.assert_array_equal(blitted, blitter.frame())
        line.set_animated(True)
        assert len(blitter.backgrounds) <= Blitter.KEPT


def test_a_legend_above_the_axes_is_copied_as_long_as_it_looks_the_same(monkeypatch):
    figure = Figure(figsize=(4, 2))
    ax = figure.subplots()
    (line,) = ax.plot([1, 2], [1, 2], label="one")
    legend, drawn = legend_above(ax, line), []
    draw = Legend.draw
    monkeypatch.setattr(
        Legend, "draw", lambda self, renderer: (drawn.append(self.get_visible()), draw(self, renderer))
    )
    blitter = Blitter(figure)
    changes = [
        (lambda: None, True),
        (lambda: None, False),
        (lambda: legend.get_texts()[0].set_text("two"), True),
        (lambda: legend.legend_handles[0].set_color("red"), True),
        (lambda: legend.legend_handles[0].set_linestyle(":"), True),
        (lambda: legend.set_visible(False), False),
        (lambda: legend.set_visible(True), False),
        (lambda: ax.set_position([0.1, 0.1, 0.5, 0.5]), True),
        (lambda: figure.set_size_inches(5, 2), True),
        (lambda: None, False),
    ]
    for i, (change, anew) in enumerate(changes):
        change()
        ax.set_xlim(0, 5 + i)  # a new background
        drawn.clear()
        blitter.draw([line])
        assert any(drawn) == anew, i
        blitted = blitter.frame().copy()
        line.set_animated(False)
        blitter.canvas.draw()
        np.testing.assert_array_equal(blitted, blitter.frame())
        line.set_animated(True)


def test_backgrounds_are_kept_for_limits_that_come_back():
    figure = Figure(figsize=(4, 2))
    ax = figure.subplots()
    (line,) = ax.plot([1, 2], [1, 2])
    blitter = Blitter(figure)
    for high in (5, 10, 5, 10):
        ax.set_xlim(0, high)
        blitter.draw([line])
    kept = dict(blitter.backgrounds)
    ax.set_xlim(0, 5)
    blitter.draw([line])
    assert blitter.backgrounds == kept and len(kept) == 2


@settings(deadline=None)
@given(
    arrays.arrays(np.uint8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=20).map(lambda s: (*s, 3)))
)
def test_png_keeps_every_pixel(frame):
    np.testing.assert_array_equal(pixels(live_module.png(frame)), frame)


def test_the_output_carries_a_still_picture_and_its_words(made, monkeypatch):
    shown = {}
    monkeypatch.setattr(live_module, "display", lambda data, raw: shown.update(data))
    made.set(height=4)
    made._ipython_display_()
    assert shown["text/plain"] == "height 4"
    still = base64.b64decode(shown["image/png"])
    assert pixels(still).shape[1] == 400 and len(still) < 30_000
    assert shown["text/html"].startswith('<img alt="height 4" src="data:image/png;base64,')
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"] == made.box.model_id


def test_the_still_picture_shows_dollar_signs_and_long_sentences():
    frame = np.full((100, 400, 3), 255, np.uint8)
    still = pixels(live_module.still(frame, "costs $5 or $6, " * 8))
    assert still.shape[0] > 100 and (still[:-100] < 128).any()


def test_close_leaves_no_widget_and_no_figure(made):
    assert made.box.model_id
    start = alive()
    figure = Figure()
    live(figure, lambda a: None, a=widgets.IntSlider()).close()
    del figure
    assert alive() == start


RERUN = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from tests.counting import alive

CELLS = [
    "from helpers import explorers; explorer = explorers.gradient_bars(); explorer.set(layers=9)",
    "explorers.survival()",
    "explorers.survival(); 1 / 0",
]
for cell in CELLS:
    shell.run_cell(cell, store_history=HISTORY)
after_first = alive()
for _ in range(RUNS):
    for cell in CELLS:
        shell.run_cell(cell, store_history=HISTORY)
print(after_first, alive())
assert after_first == alive()
assert shell.user_ns["explorer"].sentence.startswith("Without residuals, 9 tanh layers")
"""


@pytest.mark.parametrize(("history", "runs"), [(True, 5), pytest.param(False, 50, marks=pytest.mark.slow)])
def test_a_cell_run_fifty_times_leaves_what_one_run_leaves(history, runs):
    code = RERUN.replace("HISTORY", str(history)).replace("RUNS", str(runs))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def test_helpers_import_no_pyplot():
    code = "import sys; from helpers import explorers; assert 'matplotlib.pyplot' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_outside_a_notebook_nothing_is_kept():
    code = "from helpers import explorers, live; explorers.survival(); assert not live._made_in_this_cell"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
