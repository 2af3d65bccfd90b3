"""The pictures of the bug museum: the loss, and beside it whatever shows the symptom."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from ..experiments.museum import SIZES
from .drawing import INK, WITH, WITHOUT, clip, count, legend_above, new_figure, set_scale, words
from .workbench import loss_axis, losses


@dataclass(frozen=True)
class Panel:
    """The right panel of an exhibit: labels, limits, scales, and what(y) says of it in words, pick(y) a number.

    beyond: what a triangle at the edge of this axis stands for, where there are some: its shape, and words.
    """

    xlabel: str
    ylabel: str
    xlim: tuple
    ylim: tuple
    what: str
    pick: Callable
    xscale: str = "linear"
    yscale: str = "log"
    beyond: tuple = ()


STEPS = (0, 200)
PANELS = {
    1: Panel("step", "gradient used in the step", STEPS, (1e-2, 1e2), "the last step used a gradient of length", lambda y: y[-1]),
    2: Panel("block (0: before the first)", "spread σ of the stream", (-0.5, 12.5), (1e-1, 1e12), "σ after the last block is", lambda y: y[-1], beyond=("^", "larger")),
    3: Panel("block", "gradient of its weights", (0.5, 8.5), (1e-6, 1e1), "the gradient of the first block’s weights has length", lambda y: y[0], beyond=("v", "smaller, or 0")),
    4: Panel("points evaluated at once", "evaluation: wrong, %", (0.9, 140), (-2, 100), "wrong in evaluation, one point at a time, in %:", lambda y: y[0], "log", "linear"),
    5: Panel("block (12: behind the last)", "gradient, relative to the last", (-0.5, 12.5), (1e-3, 1e2), "a gradient on its way from the last block to the first is multiplied by", lambda y: y[0]),
    6: Panel("step", "gradient used in the step", STEPS, (1e-2, 1e2), "the longest gradient that a step used is", np.max),
}  # fmt: skip


class Symptoms:
    """One exhibit beside the same network as it should be (dotted)."""

    def __init__(self, number, name):
        self.panel, self.name = PANELS[number], name
        self.figure, (left, right) = new_figure(2)
        loss_axis(left, STEPS[1])
        panel = self.panel
        set_scale(right, panel.yscale)
        right.set(xscale=panel.xscale, xlim=panel.xlim, ylim=panel.ylim)
        right.set_xlabel(panel.xlabel, fontsize=12)
        right.set_ylabel(panel.ylabel, fontsize=12)
        if panel.xscale == "log":
            right.set_xticks(SIZES, map(str, SIZES))
        else:
            right.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        right.minorticks_off()
        self.pairs = [self._pair(ax) for ax in (left, right)]
        (self.end,) = left.plot([], [], "X", color=WITHOUT, ms=11, clip_on=False)
        legend_above(left, *self.pairs[0])
        self.off = [right.plot([], [], mark, color=WITH, ms=9, clip_on=False)[0] for mark in "^v"]
        if panel.beyond:
            mark, text = panel.beyond
            (handle,) = right.plot([], [], mark, color=WITH, ms=9, label=text)
            legend_above(right, handle)
        self.sentence = ""

    def _pair(self, ax):
        (here,) = ax.plot([], [], ".-", color=WITH, lw=2, ms=6, clip_on=False, label=self.name)
        (healthy,) = ax.plot([], [], ":", color=INK, lw=2.5, label="as it should be")
        return here, healthy

    def update(self, here, healthy):
        """here, healthy: Symptoms of the exhibit (or of the learner's function) and of the mended one."""
        for n, symptoms in enumerate((here, healthy)):
            self.pairs[0][n].set_data(*losses(symptoms.progress))
            self.pairs[1][n].set_data(symptoms.x, clip(self._upwards(symptoms.y), self.panel.ylim))
        low, high = self.panel.ylim
        y = self._upwards(here.y)
        for line, beyond, edge in zip(self.off, (y > high, y < low), (high, low)):
            line.set_data(here.x[beyond], np.full(beyond.sum(), edge))
        last = self._until(here.progress)
        self.end.set_data(*([[part[-1]] for part in losses(here.progress)] if last.diverged else ([], [])))
        when = f"after {count(last.step, 'step')}" if last.step else "before the first step"
        after = f"{self.name[0].upper()}{self.name[1:]}, {when}"
        fine = healthy.progress[-1]
        then = "" if fine.step == last.step else f" after {count(fine.step, 'step')}"
        loss = f"{self._loss(last)} (as it should be{then}: {self._loss(fine)})"
        self.sentence = f"{after}: {loss}{self._seen(here, healthy)}."
        return [*self.pairs[0], *self.pairs[1], *self.off, self.end]

    @staticmethod
    def _until(progress):
        """The first Progress whose loss is not finite, else the last."""
        return next((one for one in progress if one.diverged), progress[-1])

    @staticmethod
    def _upwards(y):
        """What is not finite is drawn at the upper edge."""
        return np.nan_to_num(y, nan=np.inf)

    @staticmethod
    def _loss(progress):
        if progress.diverged:
            return "the loss is no longer finite"
        return f"loss {words(progress.loss)}, {words(100 * progress.error)} % wrong"

    def _seen(self, here, healthy):
        if not len(here.y):
            return ""
        values = [self.panel.pick(symptoms.y) for symptoms in (here, healthy)]
        mine, right = (words(value) if np.isfinite(value) else "no longer finite" for value in values)
        return f"; {self.panel.what} {mine} (as it should be: {right})"
