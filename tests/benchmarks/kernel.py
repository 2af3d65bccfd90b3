"""Runs inside a kernel: the cost of changes, kernel side, ours and the baseline's by turns.

A change enters where the browser's message would (the control's comm handler). What is timed ends
when the kernel has handed its last message to the thread that sends it.
"""

import functools
import gc
import random
import time
from statistics import median

import psutil
from IPython.display import display

from helpers import experiments, explorers, figures, live

from ..moves import send
from . import baselines


def timed(control, value):
    """Seconds that one change takes, sending included."""
    start = time.perf_counter()
    send(control, value=value)
    taken = time.perf_counter() - start
    time.sleep(0.004)  # the sending thread's turn, before the next change is timed
    return taken


def different(count, low, high, seed, step=1):
    """Random values in a row, no two neighbours the same."""
    rng, values = random.Random(seed), []
    choices = [low + i * step for i in range(round((high - low) / step) + 1)]
    while len(values) < count:
        value = rng.choice(choices)
        if not values or value != values[-1]:
            values.append(value)
    return values


CASES = {  # explorer: (how to set it up, the control, the baseline's control, range)
    "gradient_bars": ({}, "layers", "layers", (1, 64, 1)),
    "drift": ({}, "gain", "gain", (0.1, 3.0, 0.1)),
    "layer_norm_steps": ({"step": "Scaled and shifted"}, "gamma", "gamma", (-3.0, 3.0, 0.1)),
}


def open_both(name):
    """The explorer and the baseline, both displayed: (our control, the baseline's, our Live)."""
    setup, ours, theirs, _ = CASES[name]
    explorer = getattr(explorers, name)()
    explorer.set(**setup)
    display(explorer)
    baseline = getattr(baselines, name)()
    display(baseline)
    controls = {child.description: child for child in baseline.children if hasattr(child, "description")}
    return explorer.controls[ours], controls[theirs], explorer


def ratios(name, turns, seed=0):
    """Cost of a change, ours over the baseline's, turn by turn: the experiment cached, and included."""
    low, high, step = CASES[name][3]
    values = different(turns, low, high, seed, step)
    ours, theirs, explorer = open_both(name)
    redraws = count_redraws(explorer)
    rows = []
    for value in values:
        before = redraws[0]
        mine, base = timed(ours, value), timed(theirs, value)
        rows.append((mine / base, redraws[0] > before, mine, base))
    assert explorer.error is None, explorer.error
    return {
        "blitted": _median(r for r, redrawn, *_ in rows if not redrawn),
        "axes redrawn": _median(r for r, redrawn, *_ in rows if redrawn),
        "ms": 1e3 * _median(mine for *_, mine, _ in rows),
        "interact, ms": 1e3 * _median(base for *_, base in rows),
    }


def _median(values):
    values = list(values)
    return median(values) if values else None


def count_redraws(explorer):
    """A counter of the full redraws of an explorer's figure: [number]."""
    counter, blitter = [0], explorer._blitter
    original = blitter._draw_background

    def counting(*args):
        counter[0] += 1
        original(*args)

    blitter._draw_background = counting
    return counter


def without_experiment(name, turns, seed=0):
    """The same ratios when the experiments' results are there already: drawing and encoding alone."""
    originals = experiments.gradient_norms, experiments.activation_spread
    for function in originals:
        setattr(experiments, function.__name__, functools.cache(function))
    try:
        ratios(name, turns, seed)  # fills the cache
        return ratios(name, turns, seed)
    finally:
        for function in originals:
            setattr(experiments, function.__name__, function)


def depth_costs(turns, depths=(8, 16, 32, 64, 128, 256, 512)):
    """CPU time of drawing and encoding so many layers, by turns: [ms], one for each depth."""
    taken = {_drawing(depth): [] for depth in depths}
    for turn in range(turns):
        for draw, costs in taken.items():
            start = time.process_time()
            draw(turn)
            costs.append(time.process_time() - start)
    return [1e3 * median(costs) for costs in taken.values()]


def _drawing(depth):
    picture = figures.GradientBars()
    blitter = live.Blitter(picture.figure)
    dh = experiments.toy_gradient_norms(depth, 0.99, residual=False)

    def draw(turn):
        values = dh * (1 - 0.001 * turn)
        blitter.draw(picture.update(values, dh, False, "", "log"))
        return live.address(live.png(blitter.frame()))

    draw(0)
    return draw


def memory(changes):
    """Growth of the process over so many changes, in MB."""
    explorer = explorers.gradient_bars()
    display(explorer)
    values = different(changes + 200, 1, 64, 1)
    process = psutil.Process()
    for value in values[:200]:
        send(explorer.controls["layers"], value=value)
    gc.collect()
    before = process.memory_info().rss
    for value in values[200:]:
        send(explorer.controls["layers"], value=value)
        time.sleep(0.001)
    time.sleep(1)
    gc.collect()
    return (process.memory_info().rss - before) / 1e6
