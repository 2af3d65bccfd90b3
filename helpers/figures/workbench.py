"""Networks in training, seen from outside and inside; six remedies side by side; singular values."""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator

from .drawing import (
    GHOST,
    INK,
    SMALL_PRINT,
    SPREAD,
    WITH,
    WITHOUT,
    Bars,
    LayerBars,
    count,
    legend_above,
    new_figure,
    set_limits,
    set_scale,
    words,
)
from .training import LossCurves

LOSS = (1e-5, 1e2)  # limits of a logarithmic axis of losses


def loss_axis(ax, steps, limits=LOSS):
    """An axis for training losses over steps."""
    set_scale(ax, "log")
    ax.set_ylim(*limits)
    ax.set_ylabel("training loss", fontsize=12)
    step_axis(ax, steps)


def step_axis(ax, steps):
    """An x axis over the steps of training, with few enough numbers."""
    ax.set_xlim(0, steps)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set_xlabel("step", fontsize=12)


def losses(progress, limits=LOSS):
    """Steps and losses for drawing; a loss that is not finite stands at the upper edge."""
    drawn = np.nan_to_num([p.loss for p in progress], nan=limits[1], posinf=limits[1])
    return [p.step for p in progress], np.clip(drawn, *limits)


def diverged(progress, blocks):
    """Where training ended because a number was no longer finite, in words."""
    where = (
        "the input’s matrix",
        *(f"block {n} of {blocks}" for n in range(1, blocks + 1)),
        "the last matrix",
    )
    return f"diverged in step {progress.step}: the first number that is not finite came out of {where[progress.where]}"


class Workbench:
    """Left the loss, earlier runs in grey; then spread and gradient of every block now, and at the start dotted."""

    def __init__(self):
        self.figure, (self.left, *panels) = new_figure(3)
        self.figure.subplots_adjust(left=0.105, right=0.985, wspace=0.46)
        loss_axis(self.left, 400)
        (self.line,) = self.left.plot([], [], ".-", color=WITH, lw=2, ms=7, label="this run", clip_on=False)
        (self.end,) = self.left.plot([], [], "X", color=WITHOUT, ms=11, clip_on=False)
        self.earlier = self.left.add_collection(LineCollection([], colors=GHOST, linewidths=1.2))
        (grey,) = self.left.plot([], [], "-", color=GHOST, lw=1.2, label="earlier")
        legend_above(self.left, self.line, grey)
        labels = ("spread σ of the stream", "length of the gradient")
        self.panels = [LayerBars(ax, label) for ax, label in zip(panels, labels)]
        for panel in self.panels:
            panel.ax.set_xlabel("block (0: before any)", fontsize=12)
            panel.ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        self.sentence = ""

    def update(self, snapshots, network, steps, earlier):
        """snapshots: list of Snapshot, the first before training; network: in words; earlier: lists of Progress."""
        first, last = snapshots[0], snapshots[-1]
        set_limits(self.left, x=(0, steps))
        progress = [snapshot.progress for snapshot in snapshots]
        drawn = losses(progress)
        self.line.set_data(*drawn)
        self.end.set_data(*([[part[-1]] for part in drawn] if last.progress.diverged else ([], [])))
        self.earlier.set_segments([np.column_stack(losses(run)) for run in earlier])
        artists = [self.line, self.end, self.earlier]
        for panel, name, color in zip(self.panels, ("spread", "gradient"), (SPREAD, WITH)):
            start = getattr(first, name), "at the start", INK
            artists += panel.update(getattr(last, name), color, start)
        self.sentence = f"{network}: {self._outside(last)}{self._inside(last)}"
        return artists

    @staticmethod
    def _outside(last):
        progress = last.progress
        if progress.where is not None:
            return diverged(progress, len(last.spread) - 1) + "."
        after = f"after {count(progress.step, 'step')}" if progress.step else "before training"
        loss = (
            f"loss {words(progress.loss)}" if np.isfinite(progress.loss) else "the loss is no longer finite"
        )
        return f"{after}, {loss}, {words(100 * progress.error)} % wrong."

    @staticmethod
    def _inside(last):
        ratios = last.spread[-1] / last.spread[0], last.gradient[0] / last.gradient[-1]
        if not np.isfinite(ratios).all():
            return ""
        return f" σ from block 0 to the last × {words(ratios[0])}, gradient on its way back × {words(ratios[1])}."


class ShootOut:
    """One bar for each remedy, with a dot on top: the share of wrong answers so far; a cross at the top where training diverged."""

    def __init__(self, names):
        self.figure, (self.ax,) = new_figure()
        self.bars = Bars(self.ax, WITH)
        (self.tops,) = self.ax.plot([], [], "o", color=WITH, ms=7, zorder=3, clip_on=False)  # for a bar of 0
        (self.crosses,) = self.ax.plot(
            [], [], "X", color=WITHOUT, ms=13, ls="none", label="diverged: no number", clip_on=False
        )
        self.ax.set(ylim=(0, 100), xlim=(-0.6, len(names) - 0.4))
        self.ax.set_xticks(
            range(len(names)), [name.replace(" ", "\n", 1) for name in names], fontsize=SMALL_PRINT
        )
        self.ax.set_ylabel("training points wrong, %", fontsize=12)
        legend_above(self.ax, self.crosses)
        self.sentence = ""

    def update(self, seen):
        """seen: {remedy: Progress}."""
        ended = [i for i, progress in enumerate(seen.values()) if progress.where is not None]
        errors = np.array([100 * progress.error for progress in seen.values()])
        going = np.setdiff1d(np.arange(len(errors)), ended)
        self.bars.set(going, 0, errors[going])
        self.tops.set_data(going, errors[going])
        self.crosses.set_data(ended, [100] * len(ended))
        step = max(progress.step for progress in seen.values())
        said = [f"{name} {words(100 * p.error)} %" for name, p in seen.items() if p.where is None]
        lost = [f"{name} (step {p.step})" for name, p in seen.items() if p.where is not None]
        self.sentence = f"After {step} steps wrong: {', '.join(said)}." + (
            f" Diverged: {', '.join(lost)}." if lost else ""
        )
        return [self.bars.artist, self.tops, self.crosses]


class Jacobian:
    """Left the singular values, the largest first; right how many directions are left, over the depth."""

    LIMITS = (1e-20, 1e12)

    def __init__(self, depths, width):
        self.figure, (left, right) = new_figure(2)
        self.depths = depths
        (self.values,) = left.plot([], [], "o", color=WITH, ms=4, label="singular values", clip_on=False)
        (one,) = left.plot([0, width + 1], [1, 1], "--", color=GHOST, lw=1.5, label="1: length kept")
        set_scale(left, "log")
        left.set(xlim=(0, width + 1), ylim=self.LIMITS)
        left.set_xlabel("direction, by size", fontsize=12)
        left.set_ylabel("singular value", fontsize=12)
        legend_above(left, one)
        (self.curve,) = right.plot([], [], "o-", color=INK, lw=1.5, ms=5, label=f"of {width}")
        (self.here,) = right.plot([], [], "D", color=WITH, ms=10, label="this depth", clip_on=False)
        right.set(xscale="log", xlim=(0.9, 71), ylim=(0, width * 1.04))
        right.set_xticks(depths, map(str, depths))
        right.minorticks_off()
        right.set_xlabel("depth", fontsize=12)
        right.set_ylabel("directions that take part", fontsize=12)
        legend_above(right, self.curve, self.here)
        self.sentence = ""

    def update(self, spectrum, over_depth, network, depth):
        """spectrum: Spectrum at this depth; over_depth: directions at each of the depths."""
        values = spectrum.values
        self.values.set_data(np.arange(1, len(values) + 1), np.clip(values, *self.LIMITS))
        self.curve.set_data(self.depths, over_depth)
        self.here.set_data([depth], [spectrum.directions])
        self.sentence = (
            f"{network}, depth {depth}: a small change of the input is multiplied by {words(spectrum.rms)} on average "
            f"(root mean square), the middle direction by {words(np.median(values))}; about "
            f"{words(spectrum.directions)} of {len(values)} directions take part."
        )
        return [self.values, self.curve, self.here]


def _within(progress):
    """Progress up to the first one from which on every loss is beyond the axis."""
    last = max((i for i, one in enumerate(progress) if one.loss <= LOSS[1]), default=-1)
    return progress[: last + 2]


class Clipping(LossCurves):
    """Left the loss with clipping (yours, the reference) and without, a cross where it leaves the axis for good; right
    the gradients of your steps."""

    STYLES = {"yours": (WITH, "-"), "reference": (INK, ":"), "no clipping": (WITHOUT, "--")}

    def __init__(self, steps):
        self.figure, (left, right) = new_figure(2)
        self.ax = left
        self.lines = self._lines(left)
        loss_axis(left, steps)
        (self.end,) = left.plot([], [], "X", color=WITHOUT, ms=11, clip_on=False)
        legend_above(left, *self.lines.values())
        (self.dots,) = right.plot([], [], ".", color=WITH, ms=5, label="your steps", clip_on=False)
        (self.limit,) = right.plot([], [], "--", color=INK, lw=1.5, label="max_norm")
        set_scale(right, "log")
        right.set_ylim(1e-3, 1e3)
        step_axis(right, steps)
        right.set_ylabel("length of the gradient used", fontsize=12)
        legend_above(right, self.dots, self.limit)
        self.sentence, self.steps = "", steps

    def update(self, runs, max_norm):  # type: ignore[override]
        """runs: {name: ClippedRun}, a name of STYLES each."""
        ends = []
        for name, line in self.lines.items():
            drawn = _within(runs[name].progress)
            line.set_data(*losses(drawn))
            if drawn[-1].loss > LOSS[1] or drawn[-1].diverged:
                ends.append(drawn[-1].step)
        self.end.set_data(ends, [LOSS[1]] * len(ends))
        used = runs["yours"].lengths
        self.dots.set_data(np.arange(1, len(used) + 1), np.clip(used, 1e-3, 1e3))
        self.limit.set_data([0, self.steps], [max_norm] * 2)
        longest = words(used.max()) if np.isfinite(used).all() else "not finite"
        said = [f"{name}: {self._ends(run.progress)}" for name, run in runs.items()]
        self.sentence = (
            f"After {runs['yours'].progress[-1].step} steps, {'; '.join(said)}. The longest gradient that your steps "
            f"used: {longest} (max_norm {words(max_norm)})."
        )
        return [*self.lines.values(), self.end, self.dots, self.limit]

    @staticmethod
    def _ends(progress):
        loss = (
            f"loss {words(progress[-1].loss)}" if np.isfinite(progress[-1].loss) else "loss no longer finite"
        )
        return f"{loss}, {words(100 * progress[-1].error)} % wrong"
