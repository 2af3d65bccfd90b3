"""What a normalization does to one vector."""

import re

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.ticker import LinearLocator

from .drawing import (
    GHOST,
    INK,
    MEAN,
    SMALL_PRINT,
    SPREAD,
    WITH,
    Bars,
    legend_above,
    new_figure,
    set_limits,
    settled,
    step_up,
    table,
    words,
)


class Threads:
    """Numbers on one line, what becomes of them on another, joined by threads; each line has its own scale."""

    def __init__(self, ax):
        self.ax, self.right = ax, ax.twinx()
        self.before = ax.add_collection(LineCollection([], colors=GHOST, linestyles=":", lw=1.5))
        self.threads, self.count = ax.add_collection(LineCollection([])), 0
        (self.dots,) = ax.plot([], [], "o", color=WITH, ms=6, zorder=4, clip_on=False)
        ax.set(xlim=(0, 1))
        ax.set_xticks([0, 1], ["input", "this step"], fontsize=SMALL_PRINT)
        ax.grid(False)
        self.right.spines[["top", "left", "bottom"]].set_visible(False)
        self.right.tick_params(labelsize=SMALL_PRINT)
        for line in (ax, self.right):
            line.yaxis.set_major_locator(LinearLocator(3))
            line.yaxis.set_major_formatter(_in_few_letters)
        legend_above(ax, *_named(ax, before=(":", GHOST, 2), chosen=("-", INK, 3)))

    def update(self, x, y, old, chosen):
        """x, y (d,): before and after; old: the pair before one entry was moved; chosen: its index."""
        scales = [
            step_up(1.1 * max(np.abs(v).max() for v in pair) or 1.0) for pair in ((x, old[0]), (y, old[1]))
        ]
        set_limits(self.ax, y=(-scales[0], scales[0]))
        set_limits(self.right, y=(-scales[1], scales[1]))
        out, was = y * (scales[0] / scales[1]), old[1] * (scales[0] / scales[1])
        self.before.set_visible(old[0] is not x)
        self.before.set_segments([[(0, a), (1, b)] for a, b in zip(old[0], was)])
        self.threads.set_segments([[(0, a), (1, b)] for a, b in zip([*x, x[chosen]], [*out, out[chosen]])])
        if len(x) != self.count:
            self.count = len(x)
            self.threads.set(colors=[*[WITH] * self.count, INK], linewidths=[*[1.5] * self.count, 3])
        self.dots.set_data(np.repeat([0, 1], len(x)), np.concatenate([x, out]))
        return [self.before, self.threads, self.dots]


def _in_few_letters(value, _position):
    """A tick's number where little room is: 10000, then 1e5, as one types it."""
    return re.sub(r"e\+?(-?)0?", r"e\1", f"{value:.5g}").replace("-", "−")


def _named(ax, **lines):
    """A line for the legend of each (style, colour, width), by its label: a LineCollection has no such."""
    return [
        ax.plot([], [], style, color=color, lw=width, label=label)[0]
        for label, (style, color, width) in lines.items()
    ]


class LayerNormSteps:
    """A vector on its way through LayerNorm: the values at one step, their mean, spread, and where they came from."""

    NAMES = ("Input", "Centred", "Normalized", "Scaled and shifted")

    def __init__(self):
        self.figure, (self.ax, right) = new_figure(2, width_ratios=[3, 2])
        self.figure.subplots_adjust(right=0.9)
        self.threads = Threads(right)
        self.band = Bars(self.ax, SPREAD, alpha=0.18)
        self.bars = Bars(self.ax, WITH)
        lines = {"mean μ": ("--", MEAN, 2.5), "μ ± σ": (":", SPREAD, 2)}
        styles, colors, widths = zip(*lines.values(), lines["μ ± σ"])
        self.lines = self.ax.add_collection(
            LineCollection([], linestyles=styles, colors=colors, linewidths=widths, zorder=2)
        )
        self.ax.axhline(0, color=INK, lw=0.8)
        self.ax.set_xlabel("feature", fontsize=12)
        self.ax.set_ylabel("value", fontsize=12)
        self.ax.ticklabel_format(axis="y", scilimits=(-4, 5))
        legend_above(self.ax, *_named(self.ax, **lines))
        self.sentence = self.details = ""

    def update(self, steps, shown, before, chosen, scalars):
        """steps: {name: values (d,)} in order; shown: the name of the one to draw; before: the same steps
        before the entry `chosen` was moved; scalars: gamma, beta, eps."""
        values = steps[shown]
        mean, std = mean_of(values, steps), spread_of(values)
        listed = ", ".join(words(v, 4) for v in values)
        self.sentence = f"{shown}: [{listed}] has mean μ = {words(mean, 4)} and spread σ = {words(std, 5)}."
        was, now = before["Input"][chosen], steps["Input"][chosen]
        if was != now:
            changed = sum(words(a, 4) != words(b, 4) for a, b in zip(values, before[shown]))
            self.sentence += (
                f" Entry {chosen + 1} was moved by {words(now - was, 4)}, from {words(was, 4)} to {words(now, 4)}: "
                f"{changed} of {len(values)} values changed."
            )
        self.details = self._table(steps, shown) + self._arithmetic(steps, chosen, *scalars)
        threads = self.threads.update(steps["Input"], values, (before["Input"], before[shown]), chosen)
        return [*self._draw(values, mean, std), *threads]

    def _draw(self, values, mean, std):
        feature = np.arange(1, len(values) + 1)
        high = step_up(1.1 * max(np.abs(values).max(), abs(mean) + std) or 1.0)
        room = next(step for step in (2, 4, 8, 16) if len(values) <= step)
        set_limits(self.ax, (0.4, room + 0.6), (-high, high))
        low, top, ends = mean - std, mean + std, [0.4, len(values) + 0.6]
        self.band.set(np.mean(ends), low, top, width=np.ptp(ends))
        self.bars.set(feature, 0, values)
        self.lines.set_segments([[(end, height) for end in ends] for height in (mean, top, low)])
        return [self.band.artist, self.bars.artist, self.lines]

    @staticmethod
    def _table(steps, shown):
        rows = [
            (
                name,
                *(words(n, 5) for n in (mean_of(v, steps), spread_of(v), spread_of(v, ddof=1))),
                *(words(n, 4) for n in v),
            )
            for name, v in steps.items()
        ]
        features = (f"x<sub>{i}</sub>" for i in range(1, len(steps[shown]) + 1))
        return table(("", "μ", "σ", "σ\u00a0with ddof=1", *features), rows, shown)

    @staticmethod
    def _arithmetic(steps, chosen, gamma, beta, eps):
        """Each step of one entry written out, exact and as it comes out when one rounds on the way."""
        x, (_, exact, hat, y) = steps["Input"], (values[chosen] for values in steps.values())
        mean, var = x.mean(), spread_of(x) ** 2
        divisor = np.sqrt(var + eps)
        about = [round(x[chosen], 2) - round(mean, 2), round(divisor, 2)]
        about.append(round(about[0] / (about[1] or 1), 2))
        written = (
            f"{words(x[chosen], 6)} − {in_brackets(mean)}",
            f"√({words(var, 6)} + {words(eps)})",
            f"{in_brackets(exact)} / {words(divisor, 8)}",
            f"{words(gamma)} × {in_brackets(hat)} + {in_brackets(beta)}",
        )
        names = "Centred", "√(σ² + ε)", "Normalized", "Scaled and shifted"
        exactly = (f"{v:.10g}".replace("-", "−") for v in (exact, divisor, hat, y))
        roughly = (words(v, 6) for v in (*about, gamma * about[2] + beta))
        head = (f"entry {chosen + 1}", "arithmetic", "exact", "rounding\u00a0to 2\u00a0decimals")
        return "<br>" + table(head, zip(names, written, exactly, roughly))


def mean_of(values, steps):
    """Their mean; 0 where it is what rounding has left of it."""
    return settled(values.mean(), np.abs(steps["Input"]).max() + np.abs(values).max())


def spread_of(values, ddof=0):
    """Their standard deviation; 0 where they are equal, which rounding may hide."""
    return settled(values.std(ddof=ddof), np.abs(values).max())


def in_brackets(value, digits=6):
    """A number for use inside a formula: a negative one in brackets."""
    return f"({words(value, digits)})" if value < 0 else words(value, digits)
