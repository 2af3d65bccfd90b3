"""Runs inside a kernel: random moves in everything that is open, as the page sends them."""

import asyncio
import gc
import random

import ipywidgets as widgets
import psutil

from helpers import live
from helpers.running import Run

from . import moves

SELDOM = 0.04  # a training is moved so much less often than a picture: each move begins it anew


def explorers():
    """All explorers that are open."""
    return [one for made in live._made_by_cell.values() for one in made if isinstance(one, live.Live)]


def buttons(widget):
    """The buttons inside a widget, by what is written on them."""
    found = {widget.description: widget} if isinstance(widget, widgets.Button) else {}
    for child in getattr(widget, "children", ()):
        found |= buttons(child)
    return found


def move(explorer, rng):
    """Do one thing that a learner might do; what was done, in words."""
    pressed = [b for name, b in buttons(explorer.box).items() if name != "Save as CSV" and not b.disabled]
    found = moves.choices(explorer)
    if explorer.pick and rng.random() < 0.2:
        return moves.click(explorer, rng.random(), rng.random())
    if not found or rng.random() < (0.4 if isinstance(explorer, Run) else 0.02):
        button = rng.choice(pressed)
        moves.press(button)
        return button.description
    name = rng.choice(list(found))
    value = rng.choice(_near(explorer.controls[name], found[name]) if rng.random() < 0.7 else found[name])
    moves.give(explorer.controls[name], value)
    return f"{name} = {value}"


def _near(control, values):
    """The two values next to where a slider stands, as in a drag; of other controls all."""
    if not all(isinstance(value, (int, float)) for value in (control.value, *values)):
        return values
    return sorted(values, key=lambda value: abs(value - control.value))[:2]


async def soak(count, seed):
    """So many random moves; returns the errors, each with the explorer's sentence and the move before it."""
    rng, everyone, errors = random.Random(seed), explorers(), []
    weights = [SELDOM if isinstance(one, Run) else 1 for one in everyone]
    for explorer in rng.choices(everyone, weights, k=count):
        done = move(explorer, rng)
        if isinstance(explorer, Run):
            await asyncio.sleep(rng.choice((0, 0.01, 0.1)))  # a training goes on meanwhile
        if explorer.error is not None:
            errors.append(f"{done}: {explorer.error!r} ({explorer.sentence})")
            explorer.error = None
    for explorer in everyone:
        if isinstance(explorer, Run):
            explorer.stop()
    await asyncio.sleep(1)
    return errors


def megabytes():
    """What this process takes."""
    gc.collect()
    return psutil.Process().memory_info().rss / 1e6
