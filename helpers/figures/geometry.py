"""LayerNorm as geometry: three features in space, and two tokens that become one."""

import numpy as np
from matplotlib.collections import LineCollection

from .drawing import (
    GHOST,
    INK,
    MEAN,
    SMALL_PRINT,
    WITH,
    WITHOUT,
    Bars,
    legend_above,
    new_figure,
    set_limits,
    step_up,
    words,
)
from .sharing import Words

# Upright: (1, 1, 1), the direction of the mean. Across: two directions of the plane x1 + x2 + x3 = 0.
BASIS = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])
AROUND = np.linspace(0, 2 * np.pi, 61)
CIRCLE = np.sqrt(3) * (np.cos(AROUND)[:, None] * BASIS[0] + np.sin(AROUND)[:, None] * BASIS[1])
MERIDIAN = np.sqrt(3) * (np.cos(AROUND)[:, None] * BASIS[0] + np.sin(AROUND)[:, None] * BASIS[2])
PLANE = 2.0 * np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [1, 1]]) @ BASIS[:2]
ENDS = 2 * np.eye(3)
AXES = np.stack([np.zeros((3, 3)), ENDS], axis=1)


def seen_from(turn, tilt):
    """A matrix (3, 2): points @ it look as after a turn about (1, 1, 1), from `tilt` degrees above the plane."""
    (a, b, up), (turn, tilt) = BASIS, np.deg2rad([turn, tilt])
    across, away = a * np.cos(turn) - b * np.sin(turn), a * np.sin(turn) + b * np.cos(turn)
    return np.stack([across, up * np.cos(tilt) + away * np.sin(tilt)], axis=1)


class View:
    """One normalization of three features, drawn on flat axes."""

    def __init__(self, ax, title, sphere):
        self.sphere = sphere
        self.surface = MERIDIAN if sphere else PLANE
        look = {
            "colors": [GHOST, GHOST, GHOST, WITH, WITH if sphere else MEAN, INK],
            "linewidths": [1, 1, 1, 1.5, 1 if sphere else 1.2, 1.5],
            "linestyles": ["-"] * 5 + ["--"],
        }
        self.lines = ax.add_collection(LineCollection([], clip_on=False, **look), autolim=False)
        self.names = Words(ax, GHOST, 0.32)
        marks = {"x": ("o", WITHOUT, 9), "centred": ("s", MEAN, 8), "out": ("D", WITH, 8)}
        self.marks = {
            name: ax.plot([], [], mark, color=color, ms=size, clip_on=False)[0]
            for name, (mark, color, size) in marks.items()
        }
        if sphere:  # seen from anywhere, it has the same outline
            ax.plot(*np.sqrt(3) * np.array([np.cos(AROUND), np.sin(AROUND)]), color=WITH, lw=1.5)
        ax.set(xlim=(-3.8, 3.8), ylim=(-2.65, 2.65), xticks=[], yticks=[], aspect="equal")
        ax.set_title(title, fontsize=12)
        ax.spines[:].set_visible(False)

    def update(self, x, centred, out, turn, tilt):
        """x, centred, out (3,): draw them, the path between them, and the surface where `out` must lie."""
        points = {"x": x, "out": out} if self.sphere else {"x": x, "centred": centred, "out": out}
        flat = seen_from(turn, tilt)
        self.lines.set_segments(
            [line @ flat for line in (*AXES, CIRCLE, self.surface, np.array(list(points.values())))]
        )
        for name, point in points.items():
            self.marks[name].set_data(*(np.atleast_2d(point) @ flat).T)
        self.names.set(("x₁", "x₂", "x₃"), 1.15 * ENDS @ flat)
        return [self.lines, *(self.marks[name] for name in points), self.names.artist]


class Geometry:
    """Three features: LayerNorm projects on a plane and then puts on a circle, RMSNorm puts on a sphere."""

    def __init__(self):
        self.figure, (left, right) = new_figure(2)
        self.figure.subplots_adjust(left=0.01, right=0.99, bottom=0.07, top=0.92, wspace=0.02)
        self.layer, self.rms = (
            View(left, "LayerNorm: plane, then circle", False),
            View(right, "RMSNorm: sphere", True),
        )
        names = (
            ("o", WITHOUT, "x"),
            ("s", MEAN, "x − μ"),
            ("D", WITH, "normalized"),
        )
        handles = [left.plot([], [], m, color=c, ms=8, label=n)[0] for m, c, n in names]
        self.figure.legend(
            handles=handles,
            loc="lower center",
            ncols=3,
            fontsize=SMALL_PRINT,
            frameon=False,
            borderaxespad=0.2,
        )
        self.sentence = ""

    def update(self, x, centred, layer, rms, turn, tilt):
        """x, x - mean, layer_norm(x), rms_norm(x), all (3,); turn and tilt of the view in degrees."""
        shown = ("[" + ", ".join(words(v) for v in vector) + "]" for vector in (x, centred, layer, rms))
        lengths = (words(np.linalg.norm(vector), 4) for vector in (layer, rms))
        self.sentence = (
            "x = {}; on the plane it is {}; LayerNorm gives {}, of length {}; RMSNorm gives {}, of length {}. "
            "√3 is 1.732."
        ).format(*list(shown)[:3], next(lengths), "[" + ", ".join(words(v) for v in rms) + "]", next(lengths))
        return [
            *self.layer.update(x, centred, layer, turn, tilt),
            *self.rms.update(x, centred, rms, turn, tilt),
        ]


class TwoTokens:
    """Two tokens before and after LayerNorm, side by side: what can still tell them apart?"""

    def __init__(self):
        self.figure, self.axes = new_figure(2)
        self.figure.subplots_adjust(left=0.12)
        self.bars = [(Bars(ax, WITH), Bars(ax, WITHOUT)) for ax in self.axes]
        for ax, title in zip(self.axes, ("before LayerNorm", "after LayerNorm, γ and β")):
            ax.axhline(0, color=INK, lw=0.8)
            ax.set_xlabel("feature", fontsize=12)
            ax.set_ylabel(title, fontsize=12)
        for pair in self.bars:
            for bars, look in zip(
                pair, ({"label": "a"}, {"label": "b", "hatch": "///", "edgecolor": "white"})
            ):
                bars.artist.set(**look)
        legend_above(self.axes[0], *(bars.artist for bars in self.bars[0]))
        self.sentence = ""

    def update(self, inputs, outputs):
        """inputs, outputs (2, d): the two tokens."""
        feature = np.arange(1, inputs.shape[1] + 1)
        for ax, pair, both in zip(self.axes, self.bars, (inputs, outputs)):
            high = step_up(1.05 * np.abs(both).max() or 1.0)
            set_limits(ax, (0.4, len(feature) + 0.6), (-high, high))
            for bars, values, side in zip(pair, both, (-0.2, 0.2)):
                bars.set(feature + side, 0, values, width=0.36)
        listed = ["[" + ", ".join(words(v, 4) for v in values) + "]" for values in (*inputs, *outputs)]
        apart = np.abs(outputs[0] - outputs[1]).max()
        verdict = "the same, up to ε" if apart < 1e-3 else f"up to {words(apart)} apart"
        self.sentence = "a = {}, b = {}. After LayerNorm, γ and β: {} and {}, {}.".format(*listed, verdict)
        return [bars.artist for pair in self.bars for bars in pair]
