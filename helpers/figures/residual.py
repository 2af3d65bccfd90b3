"""One residual connection, and many in a row."""

import numpy as np

from .drawing import (
    GHOST,
    INK,
    LEARNED,
    SMALL_PRINT,
    THEORY,
    WITH,
    WITHOUT,
    Bars,
    LayerBars,
    count,
    legend_above,
    new_figure,
    put_dot,
    set_limits,
    words,
)
from .signal import rival_of


class TwoVectors:
    """The input, the branch's output and what comes out, as arrows in the plane, both axes to one scale."""

    def __init__(self):
        self.figure, (self.ax,) = new_figure()
        look = {"angles": "xy", "scale_units": "xy", "scale": 1}
        zero, one = np.zeros(2), np.ones(2)
        self.parts = self.ax.quiver(
            zero, zero, one, one, color=[GHOST, LEARNED], width=0.006, zorder=3, **look
        )
        # Wide, with a ring at its end, below the arrows: without the residual y is f(x), and both are seen.
        (self.out,) = self.ax.plot([], [], "-", color=WITH, lw=5, alpha=0.4, solid_capstyle="butt")
        (self.ring,) = self.ax.plot(
            [], [], "o", color=WITH, mfc="none", mew=2.5, ms=15, label="what comes out, y"
        )
        self.ax.set(xlim=(-0.4, 5.6), ylim=(-0.15, 2.25), aspect="equal")
        self.ax.set_xlabel("first feature", fontsize=12)
        self.ax.set_ylabel("second feature", fontsize=12)
        handles = [
            self.ax.plot([], [], lw=4, color=c, label=n)[0] for c, n in ((GHOST, "x"), (LEARNED, "f(x)"))
        ]
        legend_above(self.ax, *handles, self.ring)
        self.sentence = ""

    def update(self, x, f, y, residual, remark=""):
        """x, f, y (2,): input, branch and output; with a residual f starts where x ends."""
        start = x if residual else np.zeros(2)
        self.parts.set_offsets([(0, 0), start])
        self.parts.set_UVC(*np.transpose([x, f]))
        self.out.set_data([0, y[0]], [0, y[1]])
        self.ring.set_data([y[0]], [y[1]])
        rule = "With the residual connection, y = x + f(x)" if residual else "Without it, y = f(x)"
        shown = (f"[{words(v[0])}, {words(v[1])}]" for v in (x, f, y))
        self.sentence = "{}: x = {}, f(x) = {}, y = {}.".format(rule, *shown) + remark
        return [self.out, self.parts, self.ring]


class Similarity:
    """How much the stream still looks like the input, layer by layer."""

    def __init__(self):
        self.figure, (ax,) = new_figure()
        self.layers = LayerBars(ax, "cosine with the input")
        self.sentence = ""

    def update(self, cosine, rival, residual, network, rival_name=None, remark=""):
        """cosine, rival (depth + 1,): mean cosine between h_l and the input."""
        color, name = (WITH, "With residuals") if residual else (WITHOUT, "Without residuals")
        self.sentence = (
            f"{name}, {network}: after {count(len(cosine) - 1, 'layer')} the cosine with the input is "
            f"{words(cosine[-1])}.{remark}"
        )
        other = rival_of(rival, residual, rival_name)
        return self.layers.update(cosine, color, other, scale="linear", limits=(-0.2, 1.05))


class SlopeProduct:
    """What is left of a gradient after many blocks of the same slope: |1 + f'|^L, over f'."""

    SLOPES = np.linspace(-2, 2, 401)
    LIMITS = 1e-12, 1e12
    GONE, HUGE = 1e-2, 1e2

    def __init__(self):
        self.figure, (ax,) = new_figure()
        ax.axhspan(self.LIMITS[0], self.GONE, color=WITHOUT, alpha=0.12, lw=0)
        ax.axhspan(self.HUGE, self.LIMITS[1], color=LEARNED, alpha=0.12, lw=0)
        ax.text(1.97, 1e-11, "vanishes: below 1 %", fontsize=SMALL_PRINT, color=INK, ha="right")
        ax.text(-0.95, 1e10, "explodes: above 100 times", fontsize=SMALL_PRINT, color=INK)
        (self.residual,) = ax.plot([], [], "-", color=WITH, lw=2, label="with residual, |1 + f′|ᴸ")
        (self.plain,) = ax.plot([], [], ":", color=WITHOUT, lw=2, label="without, |f′|ᴸ")
        (self.with_dot,) = ax.plot([], [], "o", color=WITH, ms=12, clip_on=False)
        (self.without_dot,) = ax.plot([], [], "s", color=WITHOUT, ms=7, clip_on=False)
        ax.set(yscale="log", xlim=(-2, 2), ylim=self.LIMITS)
        ax.minorticks_off()
        ax.set_xlabel("slope f′ of the branch, the same in every block", fontsize=12)
        ax.set_ylabel("factor on the gradient", fontsize=12)
        legend_above(ax, self.residual, self.plain)
        self.sentence = ""

    def update(self, slope, depth):
        """slope: f' of every branch; depth: number of blocks."""
        for line, curve in ((self.residual, abs(1 + self.SLOPES)), (self.plain, abs(self.SLOPES))):
            line.set_data(self.SLOPES, np.clip(curve**depth, 1e-13, 1e13))
        residual, plain = abs(1 + slope) ** float(depth), abs(slope) ** float(depth)
        dots = (self.with_dot, residual, "o"), (self.without_dot, plain, "s")
        off = [put_dot(dot, slope, factor, self.LIMITS, marker) for dot, factor, marker in dots]
        self.sentence = (
            f"f′ = {words(slope)}, {count(depth, 'block')}: with residuals the gradient is multiplied by "
            f"{words(residual)}, {self._fate(residual)}; without, by {words(plain)}, {self._fate(plain)}."
        ) + " A triangle points to what is off the scale." * any(off)
        return [self.residual, self.plain, self.with_dot, self.without_dot]

    def _fate(self, factor):
        return "it vanishes" if factor < self.GONE else "it explodes" if factor > self.HUGE else "it survives"


class Deletions:
    """Training error after each block has been deleted, one at a time; the chosen one is marked."""

    def __init__(self):
        self.figure, (self.ax,) = new_figure()
        self.bars, self.marked = Bars(self.ax, WITH), Bars(self.ax, INK)
        (self.chance,) = self.ax.plot(
            [], [], "--", color=THEORY, lw=1.5, label="always guessing the largest class"
        )
        self.ax.set(ylim=(0, 100))
        self.ax.set_xlabel("block that is deleted", fontsize=12)
        self.ax.set_ylabel("training error, %", fontsize=12)
        legend_above(self.ax, self.chance)
        self.sentence = ""

    def update(self, seen, chance, deleted, name, color):
        """seen: Lesions; chance: error of guessing; deleted: a block, from 1, or 0 for none."""
        errors, base = 100 * seen.without, 100 * seen.base
        block, ends = np.arange(1, len(errors) + 1), [0.4, len(errors) + 0.6]
        heights = np.maximum(errors, 0.4)  # a bar of height 0 would look like a missing one
        set_limits(self.ax, ends)
        self.bars.artist.set_facecolor(color)
        self.bars.set(block, 0, heights)
        marked = block == deleted
        self.marked.set(block[marked], 0, heights[marked])
        self.chance.set_data(ends, [100 * chance] * 2)
        which = f"block {deleted} deleted" if deleted else "all blocks in place"
        error = errors[deleted - 1] if deleted else base
        self.sentence = (
            f"{name}, {which}: {words(error)} % of the training points are wrong. Deleting one block raises that by "
            f"{words(np.median(errors) - base)} percentage points in the median; the worst is block {errors.argmax() + 1} "
            f"with {words(errors.max())} % wrong."
        )
        return [self.bars.artist, self.marked.artist, self.chance]


class Paths:
    """How many paths go through k branches, and which of them carry the gradient."""

    def __init__(self):
        self.figure, (self.ax,) = new_figure()
        self.bars = Bars(self.ax, WITH)
        (self.paths,) = self.ax.plot([], [], ":", color=GHOST, lw=2.5, label="share of all paths")
        handle = self.ax.plot([], [], lw=6, color=WITH, label="share of the gradient")[0]
        self.ax.set(ylim=(0, 0.6))  # at any depth no length of path has more
        self.ax.set_xlabel("length of the path: branches that it goes through", fontsize=12)
        self.ax.set_ylabel("share", fontsize=12)
        legend_above(self.ax, handle, self.paths)
        self.sentence = ""

    def update(self, seen, name):
        """seen: PathGradients."""
        length = np.arange(len(seen.paths))
        room = next(step for step in LayerBars.STEPS if len(length) <= step + 1)
        set_limits(self.ax, (-0.6, room + 0.6))
        self.bars.set(length, 0, seen.energy)
        self.paths.set_data(length, seen.paths)
        depth = len(seen.paths) - 1
        self.sentence = (
            f"{name}, {count(depth, 'block')}: the gradient comes along paths through {words(seen.mean_length)} "
            f"branches on average; the average path goes through {words(depth / 2)}."
        )
        return [self.bars.artist, self.paths]
