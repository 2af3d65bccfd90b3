"""Runs inside a kernel: what every explorer costs, beside the same picture drawn anew for each change.

The usual cell is made of the explorer itself: the same controls, experiment and drawing, but for each change
a new figure by pyplot, its artists made anew, and plt.show, as interact has it. Costs are CPU time, by turns.
"""

import contextlib
import gc
import inspect
import time
from statistics import median
from unittest import mock

import ipywidgets as widgets
import psutil
from IPython.display import display

from helpers import explorers, figures
from helpers.figures import drawing, sharing
from helpers.live import Live
from helpers.running import Run

from .. import moves
from .kernel import count_redraws, different

PAUSE = 0.004  # seconds for the thread that sends


class Renewed:
    """Stands for a picture: what is drawn into is the one made last."""

    def __init__(self, kind, arguments, named):
        self._make = lambda: kind(*arguments, **named)
        self._now = self._make()

    def renew(self):
        """Draw into a new figure of pyplot from now on."""
        import matplotlib.pyplot as plt  # only in the kernel that runs the usual cell

        with (
            mock.patch.object(drawing, "Figure", plt.figure),
            mock.patch.object(sharing, "Figure", plt.figure),
        ):
            self._now = self._make()

    def update(self, *arguments, **named):
        return self._now.update(*arguments, **named)

    def __getattr__(self, name):
        return getattr(self._now, name)


class Usual:
    """An explorer as the usual cell has it: `interactive_output`, a new figure for each change, plt.show."""

    def __init__(self, name):
        made = []

        def recorded(kind):
            def make(*arguments, **named):
                made.append(Renewed(kind, arguments, named))
                return made[-1]

            return make

        with contextlib.ExitStack() as patches:
            for kind, value in vars(figures).copy().items():
                if inspect.isclass(value):
                    patches.enter_context(mock.patch.object(figures, kind, recorded(value)))
            self.explorer = explorers.ALL[name]()
        self.explorer._holding = True  # it does not draw by itself
        (self.picture,) = made
        display(*self.explorer.controls.values())
        self.output = widgets.interactive_output(self.plot, self.explorer.controls)
        display(self.output)

    def plot(self, **values):
        """The function that the usual cell gives to interact."""
        import matplotlib.pyplot as plt

        explorer = self.explorer
        if isinstance(explorer, Run) and explorer.begun_with != values:
            explorer._begin(values)
        self.picture.renew()
        explorer.update(**values)
        plt.show()

    def render(self):
        """Draw what there is, as after a change."""
        from IPython.display import clear_output

        with self.output:
            clear_output(wait=True)
            self.plot(**self.explorer.values())


class Ipympl(Usual):
    """The same in a kernel with `%matplotlib widget`: one figure, its artists updated, sent by ipympl."""

    def __init__(self, name):
        super().__init__(name)
        self.picture.renew()
        self.canvas = self.picture.figure.canvas
        display(self.canvas)
        self.canvas.syncing_data_url = False  # as when the page shows it

    def plot(self, **values):
        if hasattr(self, "canvas"):
            self.explorer.update(**values)
            self.canvas.draw()
            self.canvas.manager.refresh_all()


def layers_cost(cell, layers):
    """CPU ms of giving the layers' slider this value in a cell that is open."""
    return cost(moves.give, cell.explorer.controls["layers"], layers)[0]


def cost(action, *arguments):
    """What an action costs in ms: (CPU, wall); the sending of its messages counts as CPU."""
    cpu, wall = time.process_time(), time.perf_counter()
    action(*arguments)
    wall = time.perf_counter() - wall
    time.sleep(PAUSE)
    return 1e3 * (time.process_time() - cpu), 1e3 * wall


def measure(name, turns, seed=0):
    """What one explorer costs: a row of numbers by their names; those that do not apply are None."""
    shown = []
    row = {"first show, CPU ms": cost(lambda: shown.append(_show(name)))[0]}
    (ours,), theirs = shown, Usual(name)
    if isinstance(ours, Run):  # a change begins a training anew: told, not judged
        anew = _changes(ours, theirs, turns // 4, seed)
        row |= {f"anew: {what}": value for what, value in anew.items()} | _frames(ours, theirs, turns)
    else:
        row |= _changes(ours, theirs, turns, seed)
    assert ours.error is None, repr(ours.error)
    for one in (ours, theirs.explorer):
        one.close()
    theirs.output.close()
    return row


def _show(name):
    explorer = explorers.ALL[name]()
    display(explorer)
    return explorer


def _changes(ours, theirs, turns, seed):
    redraws, rows = count_redraws(ours), []
    for name, value in moves.changes(ours, turns, seed):
        before = redraws[0]
        mine = cost(moves.give, ours.controls[name], value)
        redrawn = redraws[0] > before
        base = cost(moves.give, theirs.explorer.controls[name], value)
        rows.append((redrawn, *mine, *base))
    blitted, redrawn = ([row[1:] for row in rows if row[0] == kind] for kind in (False, True))
    return {
        "changes": len(rows),
        "changes that redraw": len(redrawn),
        "change, ratio": _ratio(blitted),
        "change, CPU ms": _middle(row[0] for row in blitted),
        "change, wall ms": _middle(row[1] for row in blitted),
        "usual, CPU ms": _middle(row[3] for row in rows),
        "redraw, ratio": _ratio(redrawn),
        "redraw, CPU ms": _middle(row[0] for row in redrawn),
    }


def _frames(ours, theirs, turns):
    """The frames of a run: the work of a step, which is the same for both, and the drawing."""
    for explorer in (ours, theirs.explorer):
        explorer.generator, explorer.done = explorer.work(**explorer.values()), 0
    work, rows = [], []
    for _ in range(min(turns, ours.steps)):
        work.append(cost(ours.step)[0])
        mine = cost(Live.render, ours)
        theirs.explorer.state = ours.state
        rows.append((*mine, *cost(theirs.render)))
    return {
        "frame, ratio": _ratio(rows),
        "frame, CPU ms": _middle(row[0] for row in rows),
        "work of a frame, CPU ms": _middle(work),
    }


def _ratio(rows):
    """The median, turn by turn, of our CPU time over the usual cell's."""
    return _middle(row[0] / row[2] for row in rows)


def _middle(values):
    values = list(values)
    return median(values) if values else None


def many_open(turns, most=40):
    """With so many explorers open: a change's CPU time over that with one, and the MB that each takes."""
    alone = _show("gradient_bars")
    values = different(turns, 1, 64, 1)
    one = median(cost(moves.give, alone.controls["layers"], value)[0] for value in values)
    gc.collect()
    before = psutil.Process().memory_info().rss
    others = [_show(name) for name in list(explorers.ALL)[: most - 1]]
    many = median(cost(moves.give, alone.controls["layers"], value)[0] for value in values)
    gc.collect()
    return many / one, (psutil.Process().memory_info().rss - before) / 1e6 / len(others)
