"""Where numbers end: few bits, and spreads below ε."""

import numpy as np

from ..experiments.precision import different
from .drawing import (
    GHOST,
    INK,
    LEARNED,
    MEAN,
    SMALL_PRINT,
    THEORY,
    WITH,
    WITHOUT,
    clip,
    count,
    legend_above,
    new_figure,
    put_dot,
    set_text,
    words,
)


class NumbersRunOut:
    """LayerNorm with few bits: the spread it gives, and the variances that one pass over the data gives."""

    LIMITS = -2.0, 4.0  # of the drawn ratio

    def __init__(self):
        self.figure, (left, right) = new_figure(2)
        (self.output,) = left.plot([], [], "o-", color=WITH, ms=3, lw=1, label="measured")
        (self.limit,) = left.plot([], [], "--", color=THEORY, lw=1.5, label="√(largest number / d)")
        (self.here,) = left.plot([], [], "D", color=LEARNED, ms=9, clip_on=False)
        left.set(xscale="log", xlim=(0.9, 450), ylim=(-0.1, 1.3))
        left.set_xlabel("spread σ of the input", fontsize=12)
        left.set_ylabel("spread after LayerNorm", fontsize=12)
        (self.one_pass,) = right.plot([], [], "o", color=WITHOUT, ms=4, label="E[x²] − E[x]²", clip_on=False)
        (self.welford,) = right.plot([], [], "+", color=WITH, ms=6, label="Welford", clip_on=False)
        (self.there,) = right.plot([], [], "D", color=LEARNED, ms=9, clip_on=False)
        right.axhspan(self.LIMITS[0], 0, color=WITHOUT, alpha=0.12, lw=0)
        right.axhline(1, color=INK, lw=1)
        right.text(1, -1.7, "negative: it has no root", fontsize=SMALL_PRINT, color=INK)
        right.set(xscale="log", xlim=(0.8, 1.3e5), ylim=self.LIMITS)
        right.set_xlabel("mean of the input (σ = 0.5)", fontsize=12)
        right.set_ylabel("variance / true variance", fontsize=12)
        for ax in (left, right):
            ax.minorticks_off()
        self.legend = legend_above(left, self.output, self.limit)
        legend_above(right, self.one_pass, self.welford)
        self.sentence = ""

    def update(self, scan, spreads, means, limit, name, d, here, there):
        """scan: PrecisionScan; limit: spread of the overflow; here: (spread, output); there: (mean, one-pass
        variance / true, Welford's / true)."""
        self.output.set_data(spreads, scan.output)
        self.limit.set_data([limit, limit], [-0.1, 1.3])
        where = "" if limit < 450 else " →"  # beyond the picture
        set_text(self.legend.get_texts()[1], "√(largest number / d)" + where)
        self.here.set_data([here[0]], [here[1]])
        for line, ratio in ((self.one_pass, scan.one_pass), (self.welford, scan.welford)):
            drawn = np.isfinite(ratio)
            line.set_data(means[drawn], np.clip(ratio[drawn], *self.LIMITS))
        put_dot(self.there, there[0], there[1], self.LIMITS, "D")
        found = np.isfinite(scan.first_zero)
        first = (
            f"first all-zero output at σ = {words(scan.first_zero)}" if found else "no overflow up to σ = 400"
        )
        self.sentence = (
            f"{name}, d = {d}. Left: σ = {words(here[0])} comes out as {words(here[1])}; {first} "
            f"(theory {words(limit)}). Right, where σ = 0.5 always: with mean {words(there[0], 4)} the one-pass variance "
            f"{self._fate(there[1])}; Welford's {self._fate(there[2])}."
        )
        return [self.output, self.limit, self.here, self.one_pass, self.welford, self.there]

    @staticmethod
    def _fate(ratio):
        if not np.isfinite(ratio):
            return "overflows"
        if ratio == 0:
            return "is 0: nothing is left of it"
        share = f"is {words(ratio)} times the true one"
        return share + (": negative, and its root is no number" if ratio < 0 else "")


class SmallSpread:
    """A row whose spread is small: the spread that LayerNorm gives it, and what it does to gradients."""

    AXIS = np.geomspace(1e-6, 1e2, 161)

    def __init__(self):
        self.figure, (left, right) = new_figure(2)
        (self.out,) = left.plot([], [], "-", color=WITH, lw=2, label="σ / √(σ² + ε)")
        (self.factor,) = right.plot([], [], "-", color=WITH, lw=2, label="1 / √(σ² + ε)")
        (ideal,) = right.plot(self.AXIS, 1 / self.AXIS, ":", color=GHOST, lw=2, label="1 / σ")
        self.dots = [ax.plot([], [], "D", color=LEARNED, ms=9, clip_on=False)[0] for ax in (left, right)]
        (self.floor,) = left.plot([], [], "--", color=MEAN, lw=1.5, label="σ = √ε")
        left.set(xscale="log", xlim=(1e-6, 1e2), ylim=(0, 1.1))
        right.set(xscale="log", yscale="log", xlim=(1e-6, 1e2), ylim=(2e-3, 1e7))
        for ax, label in ((left, "spread after LayerNorm"), (right, "largest factor on a gradient")):
            ax.minorticks_off()
            ax.set_xlabel("spread σ of the input", fontsize=12)
            ax.set_ylabel(label, fontsize=12)
        legend_above(left, self.out, self.floor)
        legend_above(right, self.factor, ideal)
        self.sentence = ""

    def update(self, spread, eps, out, factor):
        """spread, eps: of the input and of LayerNorm; out, factor: measured."""
        root = np.sqrt(self.AXIS**2 + eps)
        self.out.set_data(self.AXIS, self.AXIS / root)
        self.factor.set_data(self.AXIS, 1 / root)
        self.floor.set_data([np.sqrt(eps)] * 2, [0, 1.1])
        for dot, value in zip(self.dots, (out, factor)):
            dot.set_data([spread], [value])
        self.sentence = (
            f"An input spread of {words(spread)} with ε = {words(eps)} comes out as {words(out)}, and a gradient on its way "
            f"back is multiplied by up to {words(factor)} (at most 1/√ε = {words(eps**-0.5)})."
        )
        return [self.out, self.floor, self.factor, *self.dots]


class Kept:
    """Many different numbers around a mean, normalized and stored in half precision: how many are left?"""

    LIMITS = (-5, 5)

    def __init__(self):
        self.figure, axes = new_figure(2)
        self.lines = []
        for ax, name, color in zip(axes, ("LayerNorm", "RMSNorm"), (GHOST, WITH)):
            (line,) = ax.plot(
                [], [], ".", color=color, ms=3, label=f"{name}, stored in float16", clip_on=False
            )
            ax.set(xlim=(-4, 4), ylim=self.LIMITS)
            ax.set_xlabel("input − its mean", fontsize=12)
            legend_above(ax, line)
            self.lines.append(line)
        axes[0].set_ylabel("(output − its mean) / its spread", fontsize=SMALL_PRINT)
        self.sentence = ""

    def update(self, z, outputs, mean, dtype):
        """z (n,): inputs without their mean, in order; outputs: of LayerNorm and RMSNorm, float16 (n,) each."""
        centred = [(y - y.mean()) / (y.std() or 1.0) for y in map(np.float64, outputs)]
        for line, y in zip(self.lines, centred):
            line.set_data(z[::2], clip(y[::2], self.LIMITS))  # half of the dots are a picture as full
        left = [different(y) for y in outputs]
        self.sentence = (
            f"{len(z)} numbers with mean {words(mean, 5)} and spread 1, given in {dtype}, normalized and stored in float16: "
            f"LayerNorm leaves {count(left[0], 'different value')}, RMSNorm {left[1]}."
        )
        return self.lines
