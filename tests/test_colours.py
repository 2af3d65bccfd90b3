"""Colours that carry meaning, as colour-blind readers and a grey printer show them."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgb
from matplotlib.lines import Line2D

from helpers.figures import drawing

NAMES = ("WITH", "WITHOUT", "MEAN", "SPREAD", "GHOST", "INK")
PALETTE = {name: getattr(drawing, name) for name in NAMES}
# Machado, Oliveira, Fernandes (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency,
# doi 10.1109/TVCG.2009.113: the matrices of severity 1, for linear RGB.
VISION = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
GREY = np.tile(XYZ[1], (3, 1))  # the luminance, three times
APART = 15  # CIE 1976 colour difference; about 2.3 can just be seen


def linear(color):
    """sRGB without its gamma."""
    value = np.array(to_rgb(color))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear RGB, under the white of sRGB."""
    t = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def difference(one, other, matrix):
    """The CIE 1976 colour difference of two colours, seen through a matrix."""
    return np.linalg.norm(lab(matrix @ linear(one)) - lab(matrix @ linear(other)))


def test_black_and_white_are_as_far_apart_as_the_formula_says():
    for matrix in (*VISION.values(), GREY):
        assert difference("black", "white", np.array(matrix)) == pytest.approx(100, abs=0.01)
    np.testing.assert_allclose(lab(linear("red")), [53.24, 80.09, 67.20], atol=0.02)
    red_green = [difference("#c00000", "#6a7000", np.array(matrix)) for matrix in VISION.values()]
    assert red_green[0] > 60 and min(red_green[1:3]) < 30  # which the two commonest kinds confuse


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize(("one", "other"), itertools.combinations(NAMES, 2))
def test_no_two_colours_look_alike(one, other, vision):
    assert difference(PALETTE[one], PALETTE[other], np.array(VISION[vision])) >= APART


@pytest.mark.parametrize("name", NAMES)
def test_a_colour_can_be_seen_on_white(name):
    assert 1.05 / (XYZ[1] @ linear(PALETTE[name]) + 0.05) >= 3


def form(artist):
    """What an artist looks like without its colour."""
    if isinstance(artist, Line2D):
        hollow = same_color(artist.get_markerfacecolor(), "none") or same_color(
            artist.get_markerfacecolor(), "white"
        )
        marker = artist.get_marker()
        return "line", artist.get_linestyle(), marker, hollow and marker not in ("None", "", None)
    return "bars", artist.get_hatch()


def color(artist):
    """The colour of a line, of dots or of bars."""
    return to_rgb(artist.get_color() if isinstance(artist, Line2D) else artist.get_facecolor())


def legends_of(figure):
    """Those of its axes, and its own."""
    return [*filter(None, (ax.get_legend() for ax in figure.axes)), *figure.legends]


def confused(figure):
    """Pairs that a legend tells apart, and that differ neither in lightness nor in form."""
    for legend in legends_of(figure):
        for one, other in itertools.combinations(legend.legend_handles, 2):
            if form(one) == form(other) and difference(color(one), color(other), GREY) < APART:
                yield form(one), color(one), color(other)
