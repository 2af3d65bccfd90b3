"""The moves that a learner can make in an explorer, as the page sends them."""

import random
import time

import ipywidgets as widgets
import numpy as np

from helpers import controls


def values_of(control, most=65):
    """The values that a learner can give a control; long sliders thinned out, ends and default kept."""
    if isinstance(control, controls.Tabs):
        return control.names
    if isinstance(control, controls.Numbers):
        return [*control.examples.values(), (1.0, 2.0), tuple(range(16)), (-1e100, 1e100), (1e-300, -1e-300)]
    if hasattr(control, "options"):
        return [value for _, value in control.options]
    if isinstance(control, widgets.FloatLogSlider):
        return 10.0 ** np.arange(control.min, control.max + control.step / 2, control.step)
    steps = round((control.max - control.min) / control.step)
    every = np.unique(np.linspace(0, steps, min(steps + 1, most)).round())
    return [type(control.value)(control.min + n * control.step) for n in every]


def send(widget, **state):
    """Hand new state to a widget as the message from the page does."""
    data = {"method": "update", "state": state, "buffer_paths": []}
    widget._handle_msg({"content": {"data": data}, "buffers": []})


def press(button):
    """Press a button as the page does."""
    data = {"method": "custom", "content": {"event": "click"}}
    button._handle_msg({"content": {"data": data}, "buffers": []})


def click(explorer, x, y):
    """Click into a picture that can be clicked, as the page tells it; x, y from 0 to 1, downward."""
    place = explorer.box.children[-1]
    send(place, value=f"{x} {y} {time.time()}")


def give(control, value):
    """Give a control one of its values as the page does: it knows an option by its place in the list."""
    if isinstance(control, controls.Tabs):
        send(control, selected_index=control.names.index(value))
    elif isinstance(control, controls.Numbers):
        send(control.text, value=controls.write_numbers(value))
    elif hasattr(control, "options"):
        send(control, index=values_of(control).index(value))
    else:
        send(control, value=value)


def in_sight(control):
    """Can the learner move it now?"""
    return control.layout.display != "none" and control.layout.visibility != "hidden"


def choices(explorer):
    """The values that each control in sight can be moved to now: {name: values}."""
    found = {}
    for name, control in explorer.controls.items():
        others = [value for value in values_of(control) if value != control.value]
        if others and in_sight(control):
            found[name] = others
    return found


def changes(explorer, count, seed=0):
    """So many pairs (name of a control, another value for it): the controls in sight by turns, values at random."""
    rng = random.Random(seed)
    for turn in range(count):
        found = choices(explorer)
        if not found:
            return
        name = list(found)[turn % len(found)]
        yield name, rng.choice(found[name])
