"""Explorers of notebook 04: which numbers share a mean, and what follows from it?"""

from .. import controls, figures
from ..experiments import sharing
from ..figures.drawing import words
from ..figures.sharing import where
from ..live import Live, show


def which_numbers() -> Live:
    """Choose a number, by a click or by the sliders: which others are in its mean and variance?"""
    picture = figures.WhichNumbers(sharing.NUMBERS)
    names = zip(("example", "token", "feature"), (1, 2, 3), sharing.NUMBERS.shape)

    def update(norm, example, token, feature):
        cell = example - 1, token - 1, feature - 1
        return picture.update(norm, cell, sharing.groups(norm), *sharing.normalized(norm))

    return show(
        picture,
        update,
        picture.at,
        norm=controls.toggle("norm", *sharing.NORMS),
        **{name: controls.whole(name, value, 1, most) for name, value, most in names},
    )


def _kept(name):
    learned, more = sharing.numbers_kept(name)
    return f"{learned} + {more}" if more else f"{learned}"


def _alone(name):
    spread = sharing.alone(name)
    return "refused" if spread is None else f"spread {words(spread, 2)}"


MEASURED = {  # row of the table: what stands there for a norm
    "statistics over": lambda name: where(sharing.groups(name) == 0),
    "change: other example": lambda name: words(sharing.neighbour_effect(name)),
    "change: later token": lambda name: words(sharing.future_effect(name)),
    "change: padding": lambda name: words(sharing.padding_effect(name)),
    "change: evaluation": lambda name: words(sharing.evaluation_effect(name)),
    "one token alone": _alone,
    "learned + kept": _kept,
}


def comparison() -> figures.Comparison:
    """The five norms side by side, all measured as the cell runs."""
    rows = {row: {name: say(name) for name in sharing.NORMS} for row, say in MEASURED.items()}
    return figures.Comparison(rows)
