"""What a normalization does to one vector."""

import numpy as np

from .drawing import (
    INK,
    MEAN,
    SPREAD,
    WITH,
    Bars,
    legend_above,
    new_figure,
    set_limits,
    step_up,
    table,
    words,
)


class LayerNormSteps:
    """A vector on its way through LayerNorm: the values at one step, their mean and their spread."""

    NAMES = ("Input", "Centered", "Normalized", "Scaled and shifted")

    def __init__(self):
        self.figure, (self.ax,) = new_figure()
        self.band = Bars(self.ax, SPREAD, alpha=0.18)
        self.bars = Bars(self.ax, WITH)
        (self.mean,) = self.ax.plot([], [], "--", color=MEAN, lw=2.5, label="mean μ")
        (self.edges,) = self.ax.plot([], [], ":", color=SPREAD, lw=2, label="μ + σ and μ − σ")
        self.ax.axhline(0, color=INK, lw=0.8)
        self.ax.set_xlabel("feature", fontsize=12)
        self.ax.set_ylabel("value", fontsize=12)
        legend_above(self.ax, self.mean, self.edges)
        self.sentence = self.details = ""

    def update(self, steps, shown):
        """steps: {name: values (d,)} in order; shown: the name of the one to draw."""
        values = steps[shown]
        mean, std = values.mean(), values.std()
        listed = ", ".join(words(v, 4) for v in values)
        self.sentence = f"{shown}: [{listed}] has mean μ = {words(mean, 4)} and spread σ = {words(std, 5)}."
        self.details = self._table(steps, shown)
        return self._draw(values, mean, std)

    def _draw(self, values, mean, std):
        feature = np.arange(1, len(values) + 1)
        high = step_up(1.1 * max(np.abs(values).max(), abs(mean) + std) or 1.0)
        room = next(step for step in (4, 8, 16) if len(values) <= step)
        set_limits(self.ax, (0.4, room + 0.6), (-high, high))
        low, top, ends = mean - std, mean + std, [0.4, len(values) + 0.6]
        self.band.set(np.mean(ends), low, top, width=np.ptp(ends))
        self.bars.set(feature, 0, values)
        self.mean.set_data(ends, [mean, mean])
        self.edges.set_data([*ends, np.nan, *ends], [top, top, np.nan, low, low])
        return [self.band.artist, self.bars.artist, self.mean, self.edges]

    @staticmethod
    def _table(steps, shown):
        rows = [
            (name, *(words(v, 4) for v in values), words(values.mean(), 5), words(values.std(), 5))
            for name, values in steps.items()
        ]
        features = (f"x<sub>{i}</sub>" for i in range(1, len(steps[shown]) + 1))
        return table(("", *features, "μ", "σ"), rows, shown)
