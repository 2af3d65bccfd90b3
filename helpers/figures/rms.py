"""LayerNorm beside RMSNorm: one vector through both, and what the backward pass takes away."""

import numpy as np

from .drawing import (
    GHOST,
    INK,
    MEAN,
    WITH,
    Bars,
    legend_above,
    new_figure,
    set_limits,
    set_text,
    step_up,
    words,
)

FEW = 6  # features that a sentence names one by one


def _list(values):
    return "[" + ", ".join(words(v + 0.0, 4) for v in values) + "]"  # + 0.0: no minus before 0


class BesideLayerNorm:
    """Two bars at each place: LayerNorm, grey and hatched, and RMSNorm, blue; a reference as circles.

    reference: whether a learner's function is drawn, and the reference beside it.
    """

    def __init__(self, ax, reference=False):
        self.layer, self.rms = Bars(ax, GHOST), Bars(ax, WITH)
        self.layer.artist.set(hatch="///", edgecolor="white", label="LayerNorm")
        self.rms.artist.set_label("RMSNorm")
        (self.reference,) = ax.plot(
            [], [], "o", color=INK, mfc="none", ms=8, label="reference", clip_on=False
        )
        shown = [self.layer.artist, self.rms.artist, *[self.reference] * reference]
        self.legend = legend_above(ax, *shown)

    def set(self, x, layer, rms, reference=None):
        """x, layer, rms, reference (n,): move the bars; returns the artists. A reference: rms is a learner's."""
        set_text(self.legend.get_texts()[1], "RMSNorm" if reference is None else "yours")
        self.layer.set(x - 0.2, 0, layer, 0.36)
        self.rms.set(x + 0.2, 0, rms, 0.36)
        self.reference.set_data(*([[], []] if reference is None else [x + 0.2, reference]))
        return [self.layer.artist, self.rms.artist, self.reference]


class TwoNorms:
    """One vector through LayerNorm and RMSNorm; and how far apart they are, whatever is added to it."""

    def __init__(self, yours):
        self.figure, (self.left, self.right) = new_figure(2, width_ratios=[3, 2])
        self.bars = BesideLayerNorm(self.left, yours)
        self.left.axhline(0, color=INK, lw=0.8)
        (self.apart,) = self.right.plot([], [], "-", color=WITH, lw=2)
        (self.here,) = self.right.plot([], [], "D", color=WITH, ms=9, label="this vector", clip_on=False)
        (self.centred,) = self.right.plot([], [], "--", color=MEAN, lw=2, label="mean 0")
        self.right.set(xlim=(-20, 20), xticks=range(-20, 21, 10))
        self.left.set_xlabel("feature", fontsize=12)
        self.left.set_ylabel("output", fontsize=12)
        self.right.set_xlabel("added to every number", fontsize=12)
        self.right.set_ylabel("largest difference", fontsize=12)
        legend_above(self.right, self.here, self.centred)
        self.sentence = ""

    def update(self, x, offset, eps, layer, rms, name, reference, apart, remark):
        """x (d,): what both are given; layer, rms, reference (d,): outputs; name: who gave rms; apart: offsets and
        the differences there; reference is None when nothing of the learner's is drawn."""
        seen = np.concatenate([layer, rms, [0] if reference is None else reference])
        high, most = step_up(1.1 * np.abs(seen).max()), max(1.0, np.ceil(1.1 * apart[1].max()))
        set_limits(self.left, (0.4, len(x) + 0.6), (-high, high))
        set_limits(self.right, y=(0, most))
        difference = np.abs(layer - rms).max()
        self.apart.set_data(*apart)
        self.here.set_data([offset], [min(difference, most)])
        self.centred.set_data([offset - x.mean()] * 2, [0, most])
        self.sentence = (
            f"{_list(x) if len(x) <= FEW else f'A vector of {len(x)} features'} {self._sizes(x, eps)}. "
            + (
                f"LayerNorm gives {_list(layer)}, {name} {_list(rms)}: "
                if len(x) <= FEW
                else f"LayerNorm and {name} give "
            )
            + ("the same." if difference < 1e-4 else f"numbers up to {words(difference)} apart.")
            + self._beside(rms, reference)
            + remark
        )
        bars = self.bars.set(np.arange(1, len(x) + 1), layer, rms, reference)
        return [*bars, self.apart, self.here, self.centred]

    @staticmethod
    def _sizes(x, eps):
        square = (x**2).mean()
        rms, divisor = (words(np.sqrt(v), 4) for v in (square, square + eps))
        said = f"has mean {words(x.mean())} and root mean square {rms}"
        return said if rms == divisor else f"{said}; with ε it is divided by {divisor}"

    @staticmethod
    def _beside(rms, reference):
        if reference is None or np.allclose(rms, reference, rtol=1e-6, atol=1e-9):
            return ""
        if len(rms) > FEW:
            return f" The reference is up to {words(np.abs(rms - reference).max())} away."
        return f" The reference gives {_list(reference)}."


class OneDirection:
    """The backward pass: of what arrives, which part reaches x; and of how many directions, how much."""

    def __init__(self, yours):
        self.figure, (left, right) = new_figure(2)
        left.set_position([0.02, 0.02, 0.44, 0.86])
        around = np.linspace(0, 2 * np.pi, 121)
        left.plot(*np.sqrt(2) * np.array([np.cos(around), np.sin(around)]), color=GHOST, lw=1)
        (self.line,) = left.plot([], [], ":", color=GHOST, lw=1.5)
        (self.x,) = left.plot([], [], "o", color=INK, ms=8, label="x")
        (self.x_hat,) = left.plot([], [], "D", color=INK, mfc="none", ms=9, label="x / rms")
        (self.dy,) = left.plot([], [], "--", color=INK, lw=2, label="dy")
        (self.dx,) = left.plot([], [], "-", color=WITH, lw=3, label="dx")
        self.heads = left.plot([], [], "s", color=INK, ms=5)[0], left.plot([], [], "s", color=WITH, ms=6)[0]
        left.set(xlim=(-3.3, 3.3), ylim=(-2.8, 2.8), xticks=[], yticks=[], aspect="equal")
        left.spines[:].set_visible(False)
        left.grid(False)
        self.bars = BesideLayerNorm(right, yours)
        right.set(xlim=(0.4, 8.6), xticks=range(1, 9), ylim=(0, 2))
        right.set_xlabel("direction, 8 features", fontsize=12)
        right.set_ylabel("what is left, times rms", fontsize=12)
        legend_above(left, self.x, self.x_hat, self.dy, self.dx, side="left")
        self.sentence = ""

    def update(self, x, x_hat, dy, dx, layer, rms, name, reference, remark):
        """x, x_hat, dy, dx (2,); layer, rms, reference (8,): singular values times the divisor; name: whose rms is."""
        self.x.set_data(*x[:, None])
        self.x_hat.set_data(*x_hat[:, None])
        self.line.set_data(*np.outer([-4, 4], x / np.linalg.norm(x)).T)
        for arrow, head, start, step in zip((self.dy, self.dx), self.heads, (x_hat, x), (dy, dx)):
            arrow.set_data(*np.array([start, start + step]).T)
            head.set_data(*(start + step)[:, None])
        along = abs(dx @ x) / np.linalg.norm(x)
        cut = "nothing of dx" if along < 1e-3 else f"{words(along)} of dx"
        self.sentence = (
            f"dy has length {words(np.linalg.norm(dy))}, dx {words(np.linalg.norm(dx))}; {cut} points along x. "
            f"Of 8 directions {name} keeps {self._kept(rms)}, LayerNorm's {self._kept(layer)}.{remark}"
        )
        drawn = (None if v is None else np.clip(v, 0, 2) for v in (layer, rms, reference))
        moved = [self.line, self.x, self.x_hat, self.dy, self.dx, *self.heads]
        return [*moved, *self.bars.set(np.arange(1, 9), *drawn)]

    @staticmethod
    def _kept(sizes):
        whole, part = (np.abs(sizes - 1) < 1e-2).sum(), sizes[np.abs(sizes - 1) >= 1e-2].max(initial=0.0)
        if whole in (0, len(sizes)):
            return f"all {whole} whole" if whole else f"none whole (the largest times {words(part)})"
        rest = "nothing of the rest" if part < 1e-2 else f"at most {words(part)} times the rest"
        return f"{whole} whole and {rest}"
