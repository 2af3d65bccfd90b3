"""Which numbers share a mean: against direct NumPy, cell by cell; the click; the table of what follows."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from helpers import explorers, layers
from helpers.experiments import sharing
from helpers.explorers.sharing import MEASURED, comparison
from helpers.figures import words
from helpers.figures.drawing import INK

X = sharing.NUMBERS.astype(float)
CELLS = list(np.ndindex(X.shape))


def members(name, cell):
    """The cells over which a paper takes the statistics of this one: what each norm is defined as."""
    example, token, feature = cell
    group = slice(0, 3) if feature < 3 else slice(3, 6)
    where = {
        "BatchNorm": (slice(None), slice(None), feature),
        "LayerNorm": (example, token, slice(None)),
        "InstanceNorm": (example, slice(None), feature),
        "GroupNorm": (example, slice(None), group),
        "RMSNorm": (example, token, slice(None)),
    }[name]
    mask = np.zeros(X.shape, bool)
    mask[where] = True
    return mask


@pytest.mark.parametrize("name", sharing.NORMS)
def test_each_cell_shares_with_those_of_the_definition(name):
    groups = sharing.groups(name)
    for cell in CELLS:
        assert ((groups == groups[cell]) == members(name, cell)).all(), cell


@pytest.mark.parametrize("name", sharing.NORMS)
def test_each_cell_becomes_what_its_group_says(name):
    normalized, eps = sharing.normalized(name)
    for cell in CELLS:
        values = X[members(name, cell)]
        mean, square = (0, (values**2).mean()) if name == "RMSNorm" else (values.mean(), values.var())
        assert normalized[cell] == pytest.approx((X[cell] - mean) / np.sqrt(square + eps), abs=1e-12)


def test_the_layers_named_say_the_same():
    one, zero = np.ones(6), np.zeros(6)
    np.testing.assert_array_equal(sharing.normalized("LayerNorm")[0], layers.layer_norm(X, one, zero))
    np.testing.assert_array_equal(sharing.normalized("RMSNorm")[0], layers.rms_norm(X, one, 1e-5))
    channels = np.moveaxis(X, -1, 1)
    y = layers.batch_norm(channels, one, zero, zero, one, training=True)[0]
    np.testing.assert_array_equal(sharing.normalized("BatchNorm")[0], np.moveaxis(y, 1, -1))


@pytest.fixture(scope="module")
def explorer():
    return explorers.which_numbers()


@pytest.mark.parametrize("name", sharing.NORMS)
def test_sentence_and_arithmetic_of_every_cell(explorer, name):
    explorer.reset()
    normalized, _ = sharing.normalized(name)
    for cell in CELLS[::5]:
        explorer.set(norm=name, **dict(zip(("example", "token", "feature"), (i + 1 for i in cell))))
        values = X[members(name, cell)]
        assert explorer.error is None
        assert f"; {len(values)} numbers have it" in explorer.sentence
        assert explorer.sentence.endswith(f" becomes {words(normalized[cell])}.")
        shown = (values**2).mean() if name == "RMSNorm" else values.var()
        assert f"/ {len(values)}<" in explorer._table.value
        assert f">{words(shown, 5)}<" in explorer._table.value
        assert f">{words(normalized[cell], 5)}<" in explorer._table.value


def test_the_example_that_opens(explorer):
    explorer.reset()
    assert "both examples, all tokens, feature 3. 9 becomes 1." in explorer.sentence
    assert "(9 + 9 + 8 + 6 + (−1) + (−2) + 5 + 6) / 8" in explorer._table.value
    explorer.set(norm="RMSNorm")
    assert "root mean square" in explorer.sentence and "mean and variance" not in explorer.sentence


def test_equal_letters_equal_hues(explorer):
    for name in sharing.NORMS:
        explorer.reset()
        explorer.set(norm=name)
        picture, groups = explorer.figure, sharing.groups(name).ravel()
        colors = picture.axes[0].collections[0].get_facecolors()[:, :3]
        look = {tuple(color): group for color, group in zip(colors.round(6), groups)}
        assert len(look) == len(set(groups))  # one colour a group, and no two of the same


def luminance(color):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def test_numbers_can_be_read_on_every_colour(explorer):
    for name, cell in itertools.product(sharing.NORMS, CELLS):
        explorer.set(norm=name, **dict(zip(("example", "token", "feature"), (i + 1 for i in cell))))
        for color in explorer.figure.axes[0].collections[0].get_facecolors():
            assert (luminance(color[:3]) + 0.05) / (luminance(to_rgb(INK)) + 0.05) >= 4.5


# ------------------------------------------------------------------------------ the click


def click(explorer, x, y, time):
    """What the page's script writes: x, y from 0 to 1, downward, and the time."""
    explorer.box.children[-1].value = f"{x} {y} {time}"


def test_a_click_on_a_cell_chooses_it(explorer):
    explorer.reset()
    for time, cell in enumerate(CELLS):
        x, y = explorer.figure.axes[0].collections[0].get_paths()[time].vertices[:4].mean(axis=0)
        click(explorer, x / 800, 1 - y / 350, time)
        chosen = [explorer.controls[name].value - 1 for name in ("example", "token", "feature")]
        assert tuple(chosen) == cell


def test_a_click_beside_the_cells_changes_nothing(explorer):
    explorer.reset()
    before = explorer.values(), explorer.sentence
    for time, place in enumerate([(0, 0), (1, 1), (0.54, 0.5), (0.5, 0.02)]):
        click(explorer, *place, 1000 + time)
        assert (explorer.values(), explorer.sentence) == before


def test_what_hears_the_click_is_hidden(explorer):
    assert explorer.box.children[-1].layout.display == "none"
    others = explorers.survival()
    assert "course-pick" not in others.image._dom_classes and "course-pick" in explorer.image._dom_classes


# ------------------------------------------------------------------------------ the table


def test_what_each_norm_depends_on():
    independent = {
        sharing.neighbour_effect: {"LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm"},
        sharing.future_effect: {"LayerNorm", "RMSNorm"},
        sharing.padding_effect: {"LayerNorm", "RMSNorm"},
        sharing.evaluation_effect: {"LayerNorm", "InstanceNorm", "GroupNorm", "RMSNorm"},
    }
    for effect, names in independent.items():
        for name in sharing.NORMS:
            assert effect(name) == 0 if name in names else effect(name) > 0.1, (effect.__name__, name)


def test_one_token_alone():
    assert sharing.alone("BatchNorm") is None
    assert sharing.alone("InstanceNorm") == 0
    assert sharing.alone("LayerNorm") == pytest.approx(1, abs=1e-4)


def test_numbers_kept_are_two_a_feature():
    assert {name: sharing.numbers_kept(name) for name in sharing.NORMS} == {
        "BatchNorm": (12, 12), "LayerNorm": (12, 0), "InstanceNorm": (12, 0), "GroupNorm": (12, 0), "RMSNorm": (6, 0),
    }  # fmt: skip


def test_the_table_shows_what_was_measured():
    shown = comparison()
    assert [row[0] for row in shown.rows] == list(MEASURED) and shown.head[1:] == tuple(sharing.NORMS)
    cells = {row[0]: dict(zip(shown.head[1:], row[1:])) for row in shown.rows}
    for name in sharing.NORMS:
        assert cells["change: later token"][name] == words(sharing.future_effect(name))
        assert cells["change: other example"][name] in repr(shown)
        assert f">{cells['learned + kept'][name]}<" in shown._repr_html_()
