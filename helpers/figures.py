"""One class per picture: it draws its axes once; `update(...)` moves its artists and returns them.

`sentence` says what the picture shows now, with its numbers.
"""

import html

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

# One idea, one colour (Okabe-Ito; purple darkened to 3:1 on white), and always a label or a shape too.
WITH, WITHOUT = "#0072B2", "#D55E00"
MEAN, SPREAD, LEARNED = "#009E73", "#AA4499", "#AA4499"
GHOST, THEORY, INK = "#767676", "#222222", "#222222"

SMALLEST = 1e-300  # what a logarithmic axis draws instead of 0


# ------------------------------------------------------------------------------ words and numbers


def words(value, digits=3):
    """A number as one would write it: 3 digits, powers of ten raised."""
    if not np.isfinite(value):
        return "not a number" if np.isnan(value) else "infinity" if value > 0 else "minus infinity"
    text = f"{value:.{digits}g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.{digits - 1}e}"
    text = text.replace("-", "−")
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    raised = str(int(exponent.replace("−", "-"))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa} × 10{raised}"


def count(number, noun):
    """ "1 layer", "2 layers"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ------------------------------------------------------------------------------ axes


def new_figure(columns=1, width_ratios=None):
    """A figure of 8 x 3.5 in and its axes, with room for the labels; opaque, so it reads on any theme."""
    figure = Figure(figsize=(8, 3.5), dpi=100, facecolor="white")
    axes = figure.subplots(1, columns, width_ratios=width_ratios, squeeze=False)[0]
    figure.subplots_adjust(left=0.1, right=0.97, bottom=0.16, top=0.88, wspace=0.3)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=11)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(axis="y", alpha=0.3)
        ax.set_axisbelow(True)
    return figure, axes


def step_up(value):
    """The smallest of 1, 2, 5, 10, 20, 50, ... that is at least value: limits that move in steps."""
    if not np.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return next(float(power * step) for step in (1, 2, 5, 10) if power * step >= value * (1 - 1e-12))


def decades(values):
    """Limits of a logarithmic axis around the values and 1: two decades below and above, or 4, 8, 12 ..."""
    seen = np.log10(np.clip(values, SMALLEST, 1 / SMALLEST)[np.isfinite(values)])
    return 10.0 ** -_step_decades(-seen.min(initial=0.0)), 10.0 ** _step_decades(seen.max(initial=0.0))


def _step_decades(needed):
    return 2.0 if needed <= 2 else 4 * np.ceil(needed / 4)


def set_scale(ax, scale):
    """Change the scale of the y axis; nothing happens when it is the same already."""
    if ax.get_yscale() != scale:
        ax.set_yscale(scale)
        ax.minorticks_off()


def legend_above(ax, *handles):
    """A legend above the axes, where it hides nothing; a fixed place, so that none must be searched."""
    return ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.01, 0.98),
        ncols=len(handles),
        fontsize=10,
        frameon=False,
    )


def set_text(text, words):
    """Change a text; nothing is drawn again when it says so already."""
    if text.get_text() != words:
        text.set_text(words)


def set_limits(ax, x=None, y=None):
    """Change limits; nothing is drawn again when they are the same already."""
    if x is not None and tuple(x) != ax.get_xlim():
        ax.set_xlim(*x)
    if y is not None and tuple(y) != ax.get_ylim():
        ax.set_ylim(*y)


class Bars:
    """Many bars as one path: one bar or 512 cost nearly the same."""

    CORNERS = (Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY)

    def __init__(self, ax, color, alpha=1.0):
        self.artist = ax.add_artist(PathPatch(Path([(0, 0)]), facecolor=color, alpha=alpha, linewidth=0))

    def set(self, x, low, high, width=0.8):
        """One bar at each x, from low to high. x, low, high (n,), or numbers that stand for all."""
        x, low, high = np.broadcast_arrays(x, low, high)
        left, right = x - width / 2, x + width / 2
        corners = [(left, low), (left, high), (right, high), (right, low), (left, low)]
        points = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=-2)
        self.artist.set_path(Path(points.reshape(-1, 2), np.tile(self.CORNERS, points.size // 10)))

    def set_without_gaps(self, x, low, high):
        """Bars of width 1 side by side, as one outline. x, high (n,), low a number."""
        edges = np.repeat(np.append(x - 0.5, x[-1] + 0.5), 2)
        self.artist.set_path(Path(np.stack([edges, np.r_[low, np.repeat(high, 2), low]], axis=1)))


class LayerBars:
    """Bars over the layers 0 ... depth; a rival's values as a dotted line, a theory as a dashed one."""

    STEPS = (16, 32, 64, 128, 256, 512)

    def __init__(self, ax, label, theory=False):
        self.ax = ax
        self.bars = Bars(ax, WITH)
        (self.rival,) = ax.plot([], [], ":", lw=2.5, color=WITH, label="rival")
        (self.theory,) = ax.plot([], [], "--", color=THEORY, lw=1.5, label="theory")
        ax.set_xlabel("layer (0 is the input)", fontsize=12)
        ax.set_ylabel(label, fontsize=12)
        self.legend = legend_above(ax, self.rival, *[self.theory] * theory)

    def update(self, values, rival, with_fix, rival_name, scale="log", theory=()):
        """values, rival, theory (depth + 1,): move the artists and return them."""
        layer = np.arange(len(values))
        most = next((step for step in self.STEPS if len(values) <= step + 1), len(values))
        seen = np.concatenate([values, rival])
        limits = decades(seen) if scale == "log" else (0.0, step_up(seen[np.isfinite(seen)].max()))
        set_scale(self.ax, scale)
        set_limits(self.ax, (-0.6, most + 0.6), limits)
        set_text(self.legend.get_texts()[0], rival_name)
        # Gaps that are narrower than a pixel would only be a grey veil.
        draw = self.bars.set if most <= 64 else self.bars.set_without_gaps
        draw(layer, limits[0], np.clip(values, *limits))
        self.bars.artist.set_facecolor(WITH if with_fix else WITHOUT)
        self._line(self.rival, layer, np.clip(rival, *limits), WITHOUT if with_fix else WITH)
        self.theory.set_data(layer[: len(theory)], theory)
        return [self.bars.artist, self.rival, self.theory, self.ax.spines["bottom"], self.ax.spines["left"]]

    def _line(self, line, layer, values, color):
        line.set_data(layer, values)
        line.set_color(color)
        handle = self.legend.legend_handles[0]
        if handle.get_color() != color:
            handle.set_color(color)


# ------------------------------------------------------------------------------ pictures


class Survival:
    """What is left after each of 50 layers when every layer keeps the same share (toy model)."""

    LAYERS = 50

    def __init__(self):
        self.figure, (ax,) = new_figure()
        self.bars = Bars(ax, WITHOUT)
        self.spine = ax.spines["bottom"]
        ax.set(xlim=(-0.6, self.LAYERS + 0.6), ylim=(0, 1.05))
        ax.set_xlabel("layer (0 is where the signal starts)", fontsize=12)
        ax.set_ylabel("share that is left", fontsize=12)
        self.sentence = ""

    def update(self, kept):
        """kept: the share that each layer lets through, 0 to 1."""
        layer = np.arange(self.LAYERS + 1)
        left = kept**layer
        self.bars.set(layer, 0, left)
        self.sentence = (
            f"Toy model: each layer keeps {words(kept)} of the signal; after {self.LAYERS} layers "
            f"{words(100 * left[-1])} % of it is left."
        )
        return [self.bars.artist, self.spine]


class GradientBars:
    """How much of the gradient arrives at each layer, with residuals and without."""

    def __init__(self):
        self.figure, (ax,) = new_figure()
        self.layers = LayerBars(ax, "gradient, |dL/dh|")
        self.sentence = ""

    def update(self, dh, rival, residual, network, scale="log"):
        """dh, rival (depth + 1,): gradient at each layer, 1 at the last; network: what it is, in words."""
        names = "Without residuals", "With residuals"
        ratio = dh[0] / dh[-1]
        self.sentence = f"{names[residual]}, {network}: {self._fate(ratio)}."
        return self.layers.update(dh, rival, residual, f"{names[not residual]}, for comparison", scale)

    @staticmethod
    def _fate(ratio):
        left = (
            f"{words(100 * ratio)} % of the gradient is left at the input"
            if ratio < 1
            else (f"the gradient at the input is {words(ratio)} times what entered at the last layer")
        )
        return f"{left} (first layer to last: {words(ratio)})" if ratio < 1e-3 else left


class Drift:
    """Spread and mean of the activations, layer by layer."""

    def __init__(self):
        self.figure, (left, self.right) = new_figure(2, width_ratios=[3, 2])
        self.spread = LayerBars(left, "spread σ", theory=True)
        (self.mean,) = self.right.plot([], [], "o-", color=MEAN, ms=4, lw=1)
        self.right.set_yscale("symlog", linthresh=1)
        self.right.set_xlabel("layer (0 is the input)", fontsize=12)
        self.right.set_ylabel("mean μ", fontsize=12)
        self.sentence = ""

    def update(self, seen, rival, theory, normalized, gain):
        """seen, rival: ActivationSpread; theory (depth + 1,): σ as the formula says it."""
        depth = len(seen.std) - 1
        names = "No normalization", "With LayerNorm"
        self.sentence = (
            f"{names[normalized]}, gain {words(gain)}: after {count(depth, 'layer')} the spread is "
            f"σ = {words(seen.std[-1])} (theory {words(theory[-1])}) and the mean is μ = {words(seen.mean[-1])}; "
            f"the input had σ = {words(seen.std[0])}."
        )
        artists = self.spread.update(seen.std, rival.std, normalized, names[not normalized], theory=theory)
        high = self.spread.ax.get_ylim()[1]
        set_limits(self.right, self.spread.ax.get_xlim(), (-high, high))
        self.mean.set_data(np.arange(depth + 1), seen.mean)
        return [*artists, self.mean]


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
        rows = []
        for name, values in steps.items():
            numbers = [*(words(v, 4) for v in values), words(values.mean(), 5), words(values.std(), 5)]
            cells = "".join(f'<td style="{CELL}">{number}</td>' for number in numbers)
            mark = " ◀" if name == shown else ""
            rows.append(f'<tr><th scope="row" style="{CELL}">{html.escape(name)}{mark}</th>{cells}</tr>')
        columns = [*(f"x<sub>{i}</sub>" for i in range(1, len(values) + 1)), "μ", "σ"]
        head = (
            "<tr><td></td>" + "".join(f'<th scope="col" style="{CELL}">{c}</th>' for c in columns) + "</tr>"
        )
        return f'<div style="overflow-x:auto"><table style="{TABLE}">{head}{"".join(rows)}</table></div>'


TABLE = "border-collapse:collapse; font-size:14px; color:var(--jp-ui-font-color1, #222)"
CELL = "padding:.15em .6em; text-align:right; border-bottom:1px solid #8888"
