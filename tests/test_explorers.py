"""Every explorer over every value of its controls: no error, finite numbers, sentences that tell the truth."""

import functools
import itertools
import re

import numpy as np
import pytest
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from helpers import experiments, explorers, live
from helpers.figures import count, words

from .moves import values_of
from .test_colours import confused, legends_of

NAMES = list(explorers.ALL)


class Opened(dict):
    """Each explorer by its name, made when it is first asked for, and the room for its sentence, in letters."""

    def __init__(self):
        super().__init__()
        self.room = {}

    def __missing__(self, name):
        explorer = explorers.ALL[name]()
        if explorer.error:
            raise explorer.error
        self[name] = explorer
        self.room[name] = len(explorer.longest)
        return explorer


@pytest.fixture(scope="module")
def opened():
    return Opened()


def ends_and_default(control):
    """What stands for a control's range in pairs with another."""
    values = list(values_of(control))
    return [values[0], values[-1], control.value] if len(values) > 4 else values


def check(explorer, setting):
    explorer.set(**setting)
    if explorer.error:
        raise AssertionError(f"update failed with {setting}") from explorer.error
    bad = [words for words in ("nan", "infinity", "not a number") if words in explorer.sentence]
    assert explorer.sentence and not bad, f"with {setting} the sentence is: {explorer.sentence!r}"
    assert explorer.image.tooltip == explorer.sentence
    figure = explorer.figure
    lines = [line for ax in figure.axes for line in ax.lines]
    faults = [f"a dot of {line.get_label()} is cut" for line in lines if is_cut(line)]
    faults += crowding(figure, live.axes_now(figure))
    assert not faults, f"with {setting}: {faults}"


def texts_of(ax):
    """The texts of axes that are drawn, apart from empty ones and those of the legend."""
    texts = [ax.title, *ax.texts]
    for axis in (axis for axis in (ax.xaxis, ax.yaxis) if ax.axison and axis.get_visible()):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels())
        texts += [axis.label, axis.get_offset_text(), *(label for at, label in ticks if low <= at <= high)]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


@functools.cache
def crowding(figure, _axes):
    """Words of a picture that are cut or lie on others, and samples that are cut; once for each state of its axes."""
    legends = [legend for legend in legends_of(figure) if legend.get_visible()]
    shown = [text for ax in figure.axes for text in texts_of(ax)] + figure.texts
    shown += [text for legend in legends for text in legend.get_texts() if text.get_text()]
    samples = [sample for legend in legends for sample in legend.legend_handles]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown]
    marks = [(f"the sample of {sample.get_label()}", sample.get_window_extent()) for sample in samples]
    page = figure.bbox.padded(0.5)
    cut = [
        f"{said} is cut"
        for said, box in boxes + marks
        if (Bbox.union([page, box]).extents != page.extents).any()
    ]
    pairs = itertools.combinations(boxes, 2)
    return *cut, *(f"{said} lies on {what}" for (said, box), (what, other) in pairs if overlap(box, other))


def is_cut(line):
    """Does the frame of the axes cut a dot of this line by more than a pixel?"""
    if line.get_marker() == "None" or not (line.get_visible() and line.get_clip_on()):
        return False
    places = line.get_transform().transform(line.get_xydata())
    radius = line.get_markersize() * line.figure.dpi / 144
    inside, whole = (
        ((places >= frame.min) & (places <= frame.max)).all(axis=1)
        for frame in (line.axes.bbox.padded(0.5), line.axes.bbox.padded(1 - radius))
    )
    return (inside & ~whole).any()


def overlap(one, other):
    """Do two boxes share more than the pixel or two that are empty around every letter?"""
    both = Bbox.intersection(one, other)
    return both is not None and min(both.size) > 2


@pytest.mark.parametrize("name", NAMES)
def test_no_choice_is_none(opened, name):
    """None means that nothing is chosen: in the page no button would look pressed."""
    for control in opened[name].controls.values():
        assert None not in [value for _, value in getattr(control, "options", ())]


@pytest.mark.parametrize("name", NAMES)
def test_where_blocks_are_counted_nothing_is_called_a_layer(opened, name):
    explorer = opened[name]
    if "blocks" in [getattr(control, "description", "") for control in explorer.controls.values()]:
        axes = [label for ax in explorer.figure.axes for label in (ax.get_xlabel(), ax.get_ylabel())]
        assert not re.findall(r"\blayers?\b", " ".join([explorer.sentence, *axes]))


@pytest.mark.parametrize("name", NAMES)
def test_each_control_over_its_whole_range(opened, name):
    explorer = opened[name]
    for control in explorer.controls:
        explorer.reset()
        for value in values_of(explorer.controls[control]):
            check(explorer, {control: value})
    assert len(explorer.longest) <= opened.room[name], "the picture below the sentence would jump"


# Each of its changes begins a training anew.
LONG = ("workbench",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in NAMES]
)
def test_all_pairs_of_controls_at_their_ends(opened, name):
    explorer = opened[name]
    explorer.reset()
    for one, other in itertools.combinations(explorer.controls, 2):
        explorer.reset()
        pairs = itertools.product(*(ends_and_default(explorer.controls[c]) for c in (one, other)))
        for first, second in pairs:
            check(explorer, {one: first, other: second})


@pytest.mark.parametrize("name", NAMES)
def test_reset_shows_the_first_picture_again(opened, name):
    explorer = opened[name]
    explorer.reset()
    sentence, picture = explorer.sentence, bytes(explorer.image.value)
    for control in explorer.controls:
        explorer.set(**{control: list(values_of(explorer.controls[control]))[-1]})
    explorer.reset()
    assert (explorer.sentence, bytes(explorer.image.value)) == (sentence, picture)


@pytest.mark.parametrize("name", NAMES)
def test_a_blitted_picture_is_what_a_full_draw_gives(opened, name):
    """Apart from lines that lie over a spine instead of below it."""
    explorer = opened[name]
    explorer.reset()
    for control in explorer.controls:
        for value in ends_and_default(explorer.controls[control]):
            explorer.set(**{control: value})
            blitter = explorer._blitter
            blitted = blitter.frame().astype(int)
            for artist in blitter.artists:
                artist.set_animated(False)
            blitter.canvas.draw()
            differ = np.abs(blitted - blitter.frame()).max(axis=2) > 40
            for artist in blitter.artists:
                artist.set_animated(True)
            assert differ.mean() < 0.002, (
                f"{control} = {value}: an artist moved that `update` did not return, so the page keeps it as it was"
            )


@pytest.mark.parametrize("name", NAMES)
def test_going_back_and_forth_draws_no_background_again(opened, name):
    """What is slow is drawn once for each state of the axes; then only what changed."""
    explorer = opened[name]
    explorer.reset()
    for control in explorer.controls:
        values = ends_and_default(explorer.controls[control])[:2]
        for value in values * 2:
            explorer.set(**{control: value})
        kept = dict(explorer._blitter.backgrounds)
        for value in values:
            explorer.set(**{control: value})
        assert explorer._blitter.backgrounds == kept, (
            f"{control}: something that `update` does not return changed (a text, a tick): everything is drawn anew"
        )
        explorer.reset()


@pytest.mark.parametrize("name", NAMES)
def test_without_colours_a_legend_still_tells_its_lines_apart(opened, name):
    assert list(confused(opened[name].figure)) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_words_in_a_picture_can_be_read_in_the_narrowest_page(opened, name):
    """At least 9 pixels high where the picture is shrunk as far as it can be; then the page scrolls."""
    figure = opened[name].figure
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    points = min(text.get_fontsize() for text in texts)
    assert points / 72 * figure.dpi * live.NARROWEST >= 9


@pytest.mark.parametrize("name", NAMES)
def test_the_marks_of_a_legend_can_be_told_apart_in_the_narrowest_page(opened, name):
    """At least 4.5 pixels wide: of 3, circles, squares and diamonds are all one speck."""
    figure = opened[name].figure
    lines = [sample for legend in legends_of(figure) for sample in legend.findobj(Line2D)]
    marks = [line.get_markersize() for line in lines if line.get_marker() not in ("None", "", None)]
    assert min(marks, default=6) / 72 * figure.dpi * live.NARROWEST >= 4.5


def numbers_in(sentence):
    """The numbers of a sentence, "4.2 × 10⁻⁴" read as one."""
    plain = sentence.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")).replace("\u00a0×\u00a010", "e")
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", plain)]


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize(
    ("activation", "gain"), [("tanh", 0.8), ("relu", 1.4), ("linear", 2.0), ("tanh", 0.1)]
)
@pytest.mark.parametrize("layers", [1, 32, 64])
def test_gradient_bars_say_what_was_measured(opened, residual, activation, gain, layers):
    explorer = opened["gradient_bars"]
    explorer.reset()
    explorer.set(residual=residual, activation=activation, gain=gain, layers=layers)
    wiring = "residual" if residual else "plain"
    ratio = experiments.gradient_norms(layers, wiring, activation=activation, gain=gain).ratio
    said = numbers_in(explorer.sentence)
    assert said[:2] == [layers, gain]
    assert said[2] == pytest.approx(100 * ratio if ratio < 1 else ratio, rel=0.006)


@pytest.mark.parametrize(
    ("factor", "residual", "left"),
    [(0.9, False, 0.9**32), (0.9, True, 1.9**32), (-0.1, True, 0.9**32), (-1, True, 0)],
)
def test_the_toy_model_says_its_power(opened, factor, residual, left):
    explorer = opened["gradient_bars"]
    explorer.reset()
    explorer.set(source="toy model", factor=factor, residual=residual)
    assert numbers_in(explorer.sentence)[2] == pytest.approx(100 * left if left < 1 else left, rel=0.006)


def test_gradient_bars_open_on_a_network_whose_gradient_vanishes(opened):
    explorer = opened["gradient_bars"]
    explorer.reset()
    assert explorer.values() == {
        "residual": False, "layers": 32, "source": "measured network", "activation": "tanh",
        "gain": 0.8, "factor": 0.9, "scale": "log",
    }  # fmt: skip
    assert numbers_in(explorer.sentence)[2] < 0.1


@pytest.mark.parametrize("norm", [None, "layer"])
@pytest.mark.parametrize(("layers", "gain"), [(15, 1.5), (64, 3.0), (1, 0.1), (40, 0.9)])
def test_drift_says_what_was_measured(opened, norm, layers, gain):
    explorer = opened["drift"]
    explorer.reset()
    explorer.set(norm=norm is not None, layers=layers, gain=gain)
    seen = experiments.activation_spread(layers, norm, gain=gain, width=128)
    theory = 1.0 if norm else gain**layers
    expected = [gain, layers, seen.std[-1], theory, seen.mean[-1], seen.std[0]]
    np.testing.assert_allclose(numbers_in(explorer.sentence), expected, rtol=0.006, atol=1e-14)


def test_drift_opens_past_one_hundred(opened):
    explorer = opened["drift"]
    explorer.reset()
    opening = {"norm": False, "network": "128 features, past 100", "layers": 15, "gain": 1.5, "draw": 0}
    assert explorer.values() == opening
    assert numbers_in(explorer.sentence)[2] > 100
    explorer.set(norm=True)
    assert numbers_in(explorer.sentence)[2] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("x", [(2, -3, 1, 4), (1, 2, 4), tuple(np.linspace(-3, 5, 16))])
def test_the_steps_say_what_numpy_computes(opened, x):
    explorer = opened["layer_norm_steps"]
    explorer.reset()
    explorer.set(x=tuple(map(float, x)), gamma=-1.5, beta=0.3, eps=1e-3)
    x = np.array(x, float)
    x_hat = (x - x.mean()) / np.sqrt(x.var() + 1e-3)
    steps = {
        "Input": x,
        "Centred": x - x.mean(),
        "Normalized": x_hat,
        "Scaled and shifted": -1.5 * x_hat + 0.3,
    }
    for name, values in steps.items():
        explorer.set(step=name)
        expected = [*values, values.mean(), values.std()]
        np.testing.assert_allclose(numbers_in(explorer.sentence), expected, rtol=1e-3, atol=1e-12)
        for value in values:
            assert f">{words(value, 4)}<" in explorer._table.value


def test_worked_numbers_of_the_lesson(opened):
    explorer = opened["layer_norm_steps"]
    explorer.reset()
    assert "[2, −3, 1, 4] has mean μ = 1 and spread σ = 2.5495" in explorer.sentence
    explorer.set(step="Scaled and shifted")
    assert "[1.284, −2.638, 0.5, 2.853]" in explorer.sentence


def test_bad_input_leaves_the_last_good_picture(opened):
    explorer = opened["layer_norm_steps"]
    explorer.reset()
    picture, sentence, x = bytes(explorer.image.value), explorer.sentence, explorer.controls["x"]
    for text in ("", "one", "nan, 1", "7", " ".join(["1"] * 10_000)):
        x.text.value = text
        assert (bytes(explorer.image.value), explorer.sentence) == (picture, sentence)
        assert "The picture still shows 2, -3, 1, 4." in x.note.value
    explorer.reset()
    assert x.text.value == "2, -3, 1, 4" and "still" not in x.note.value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.5, "0.5"), (-3, "−3"), (1e-8, "1\u00a0×\u00a010⁻⁸"), (123456, "1.23\u00a0×\u00a010⁵"), (4.87e-4, "4.87\u00a0×\u00a010⁻⁴"), (0.00123, "0.00123"),
     (np.inf, "infinity"), (-np.inf, "minus infinity"), (np.nan, "not a number")],
)  # fmt: skip
def test_numbers_are_written_as_one_writes_them(value, text):
    assert words(value) == text


def test_one_layer_two_layers():
    assert (count(1, "layer"), count(2, "layer")) == ("1 layer", "2 layers")
