"""Runs inside a kernel: what a change costs in an explorer, or in its usual cell.

The usual cell is made of the explorer itself: the same controls, experiment and drawing, but for each change
a new figure by pyplot, its artists made anew, and plt.show, as interact has it; bars by ax.bar, lines by ax.plot
and words by ax.text, where the course draws many as one.
Each of the two has a kernel of its own, so that none finds in a cache what the other has just computed.
"""

import contextlib
import functools
import gc
import inspect
import itertools
import time
from statistics import median
from unittest import mock

import ipywidgets as widgets
import numpy as np
import psutil
from IPython.display import display
from matplotlib.collections import LineCollection

from helpers import explorers, figures
from helpers.figures import drawing, sharing
from helpers.live import Live
from helpers.running import Run

from .. import moves
from .kernel import count_redraws, different

PAUSE = 0.004  # seconds for the thread that sends


def bar_by_bar(bars, x, low, high, width=0.8):
    """Stands for `Bars.set`: a patch for each bar."""
    x, low, high = np.broadcast_arrays(x, low, high)
    look = bars.artist
    color, edge, hatch = look.get_facecolor(), look.get_edgecolor(), look.get_hatch()
    look.axes.bar(x, high - low, width, low, color=color, edgecolor=edge, hatch=hatch, linewidth=0)


def line_by_line(lines, segments):
    """Stands for `LineCollection.set_segments`: a plot for each, in the styles of the collection by turns."""
    lines.set_verts([])
    looks = map(itertools.cycle, (lines.get_colors(), lines.get_linewidths(), lines.get_linestyles()))
    for segment, color, width, style in zip(segments, *looks):
        lines.axes.plot(*np.transpose(segment), color=color, lw=width, ls=style, clip_on=lines.get_clip_on())


def text_by_text(some, texts, places):
    """Stands for `Words.set`: a Text for each."""
    look = {"color": some.artist.get_facecolor(), "ha": "center", "va": "center"}
    for text, (x, y) in zip(texts, places):
        some.artist.axes.text(x, y, text, **look)


@contextlib.contextmanager
def by_hand():
    """What is drawn meanwhile is drawn as a cell written by hand draws it."""
    with (
        mock.patch.object(drawing.Bars, "set", bar_by_bar),
        mock.patch.object(drawing.Bars, "set_without_gaps", functools.partialmethod(bar_by_bar, width=1)),
        mock.patch.object(LineCollection, "set_segments", line_by_line),
        mock.patch.object(sharing.Words, "set", text_by_text),
    ):
        yield


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


class Cell:
    """A cell that shows an explorer, and the moves that are made in it: the same ones for each kind of cell."""

    def begin(self, explorer, turns, seed=0):
        self.explorer, self.redraws = explorer, count_redraws(explorer)
        self.runs = isinstance(explorer, Run)
        self.moves = moves.changes(explorer, turns, seed)

    def change(self):
        """Make the next move: (did it redraw the axes, CPU ms, wall ms); None when there is none."""
        move = next(self.moves, None)
        if move is None:
            return None
        before, (name, value) = self.redraws[0], move
        taken = cost(moves.give, self.explorer.controls[name], value)
        return self.redraws[0] > before, *taken

    def changes(self, count):
        """Make the next moves, at most so many: a list of what each of them took."""
        return [taken for taken in (self.change() for _ in range(count)) if taken]

    def begin_run(self):
        """Begin the explorer's work."""
        self.explorer.generator, self.explorer.done = self.explorer.work(**self.explorer.values()), 0

    def frame(self):
        """Do the next step of the work and show it: (CPU ms of the step, of showing it, wall ms of this)."""
        return cost(self.explorer.step)[0], *cost(self.render)

    def close(self):
        assert self.explorer.error is None, repr(self.explorer.error)
        self.explorer.close()


class Ours(Cell):
    """An explorer as it is."""

    def __init__(self, name, turns):
        shown = []
        self.first_show = cost(lambda: shown.append(_show(name)))[0]
        self.begin(*shown, turns)

    def render(self):
        Live.render(self.explorer)


class Usual(Cell):
    """An explorer as the usual cell has it: `interactive_output`, a new figure for each change, plt.show."""

    def __init__(self, name, turns=0):
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
            self.begin(explorers.ALL[name](), turns)
        self.explorer._holding = True  # it does not draw by itself
        (self.picture,) = made
        display(*self.explorer.controls.values())
        self.output = widgets.interactive_output(self.plot, self.explorer.controls)
        display(self.output)

    def close(self):
        super().close()
        self.output.close()

    def plot(self, **values):
        """The function that the usual cell gives to interact."""
        import matplotlib.pyplot as plt

        explorer = self.explorer
        if isinstance(explorer, Run) and explorer.begun_with != values:
            explorer._begin(values)
        with by_hand():
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


def _show(name):
    explorer = explorers.ALL[name]()
    display(explorer)
    return explorer


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
