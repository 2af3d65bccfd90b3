"""What all pictures share: colours, numbers in words, axes, bars."""

import html

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import LogLocator, MaxNLocator
from matplotlib.transforms import ScaledTranslation

from ..live import ABOVE

# One idea, one colour (blue and vermilion of Okabe-Ito, the others moved until no two look alike to a colour-blind
# reader), and always a label or a shape too.
WITH, WITHOUT = "#0072B2", "#D55E00"
MEAN, SPREAD, LEARNED = "#00A86B", "#85205A", "#85205A"
GHOST, THEORY, INK = "#767676", "#222222", "#222222"

SMALL_PRINT = 11.6  # the smallest words, in points: live.NARROWEST makes them 9 pixels high
SAMPLE = 6  # the smallest mark in a legend, in points: a circle is then seen to be none of the squares
STEPS = (1, 2, 5, 10)  # ticks at round numbers
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
    shortest = mantissa.rstrip("0").rstrip(".")
    raised = str(int(exponent.replace("−", "-"))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{shortest}\u00a0×\u00a010{raised}"  # no line ends inside a number


def settled(values, size=1.0):
    """The same values, with 0 where rounding has left something that is tiny beside `size`."""
    return np.where(np.abs(values) <= 1e-12 * size, 0.0, values)


def count(number, noun):
    """ "1 layer", "2 layers"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def capital(text):
    """The same text, for the beginning of a sentence."""
    return text[:1].upper() + text[1:]


# ------------------------------------------------------------------------------ axes


def new_figure(columns=1, width_ratios=None):
    """A figure of 8 x 3.5 in and its axes, with room for the labels; opaque, so it reads on any theme."""
    figure = Figure(figsize=(8, 3.5), dpi=100, facecolor="white")
    axes = figure.subplots(1, columns, width_ratios=width_ratios, squeeze=False)[0]
    figure.subplots_adjust(left=0.1, right=0.97, bottom=0.16, top=0.88, wspace=0.3)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=SMALL_PRINT)
        ax.xaxis.set_major_locator(MaxNLocator(7, steps=STEPS, integer=True))
        _linear_ticks(ax)
        ax.grid(axis="y", alpha=0.3)
        ax.set_axisbelow(True)
        # A power of ten over the ticks stands left of the axis, not in the legend, and clear of the highest tick.
        ax.yaxis.get_offset_text().set(horizontalalignment="right", fontsize=SMALL_PRINT)
        ax.yaxis.OFFSETTEXTPAD = 9
        _fix_label_places(ax)
    return figure, axes


def _fix_label_places(ax):
    """Names of axes at a fixed distance: none jumps as the ticks change, and none must be searched for."""
    inches = ax.figure.dpi_scale_trans
    ax.xaxis.set_label_coords(0.5, 0, ax.transAxes + ScaledTranslation(0, -0.32, inches))
    ax.yaxis.set_label_coords(0, 0.5, ax.transAxes + ScaledTranslation(-0.6, 0, inches))


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


def _linear_ticks(ax):
    """Round numbers along a linear y axis; from 10⁴ on their power of ten stands above it, where there is room."""
    ax.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    ax.ticklabel_format(axis="y", scilimits=(-3, 4))


def set_scale(ax, scale):
    """Change the scale of the y axis; nothing happens when it is the same already."""
    if ax.get_yscale() != scale:
        ax.set_yscale(scale)
        if scale == "log":
            ax.yaxis.set_major_locator(LogLocator(numticks=6))
        else:
            _linear_ticks(ax)
        ax.minorticks_off()


def legend_above(ax, *handles, side="right"):
    """A legend above the axes, where it hides nothing; a fixed place, so that none must be searched."""
    legend = ax.legend(
        handles=handles,
        loc=f"lower {side}",
        bbox_to_anchor=({"right": 1.01, "left": -0.01}[side], 0.98),
        ncols=len(handles),
        fontsize=SMALL_PRINT,
        columnspacing=1.0,
        handlelength=1.8,
        handletextpad=0.5,
        frameon=False,
    )
    legend.set_gid(ABOVE)
    for sample in legend.legend_handles:
        if isinstance(sample, Line2D):
            sample.set(markersize=max(sample.get_markersize(), SAMPLE), solid_capstyle="butt")
    return legend


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


def put_dot(dot, x, y, limits, marker):
    """Put a dot at x, y; where it is off the scale, it is a triangle at the edge that points to where it is.

    limits: of the y axis. Returns whether it is off the scale.
    """
    low, high = limits
    dot.set_marker("^" if y > high else "v" if y < low else marker)
    dot.set_data([x], [np.clip(y, low, high)])
    return not low <= y <= high


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
    """Bars over the layers (or blocks) 0 ... depth; a rival's values as a dotted line, a theory as a dashed one."""

    STEPS: tuple[int, ...] = (16, 32, 64, 128, 256, 512)

    def __init__(self, ax, label, rival=True, theory=False, unit="layer"):
        self.ax = ax
        self.bars = Bars(ax, WITH)
        (self.rival,) = ax.plot([], [], ":", lw=2.5, color=WITH, label="rival")
        (self.theory,) = ax.plot([], [], "--", color=THEORY, lw=1.5, label="theory")
        ax.set_xlabel(f"{unit} (0 is the input)", fontsize=12)
        ax.set_ylabel(label, fontsize=12)
        self.legend = legend_above(ax, *[self.rival] * rival, *[self.theory] * theory)

    def update(self, values, color, rival=None, theory=(), scale="log", limits=None):
        """values, theory (depth + 1,), rival: (values, name, colour): move the artists and return them."""
        layer = np.arange(len(values))
        most = next((step for step in self.STEPS if len(values) <= step + 1), len(values))
        seen = np.concatenate([values, rival[0]]) if rival else values
        limits = limits or self._limits(seen, scale)
        set_scale(self.ax, scale)
        set_limits(self.ax, (-0.6, most + 0.6), limits)
        # Gaps that are narrower than a pixel would only be a grey veil.
        draw = self.bars.set if most <= 64 else self.bars.set_without_gaps
        self.bars.artist.set_facecolor(color)
        draw(layer, max(limits[0], 0.0), clip(values, limits))
        if rival:
            self._draw_rival(layer, rival, limits)
        self.theory.set_data(layer[: len(theory)], theory)
        return [self.bars.artist, self.rival, self.theory, self.ax.spines["bottom"], self.ax.spines["left"]]

    @staticmethod
    def _limits(seen, scale):
        finite = seen[np.isfinite(seen)]
        return decades(seen) if scale == "log" else (0.0, step_up(finite.max(initial=0.0)))

    def _draw_rival(self, layer, rival, limits):
        values, name, color = rival
        self.rival.set_data(layer, clip(values, limits))
        self.rival.set_color(color)
        set_text(self.legend.get_texts()[0], name)
        handle = self.legend.legend_handles[0]
        if handle.get_color() != color:
            handle.set_color(color)


def clip(values, limits):
    """Values for drawing: those beyond the axis end at its edge, infinity at the upper one, NaN at the lower."""
    return np.clip(np.nan_to_num(values, nan=limits[0], posinf=limits[1], neginf=limits[0]), *limits)


# ------------------------------------------------------------------------------ tables

TABLE = "border-collapse:collapse; font-size:14px; color:var(--jp-ui-font-color1, #222)"
SENTENCE = 25  # letters; a cell with more may take several lines
CELL = "padding:.15em .4em; text-align:right; border-bottom:1px solid #8888"


def table(head, rows, chosen=None, prose=None):
    """An HTML table; the first cell of a row names it, and the chosen row is marked. head may hold HTML.

    prose: the number of a column of words, which begin at its left edge and may take several lines.
    """
    look = [CELL.replace("right", "left") if i in (0, prose) else CELL for i in range(len(head))]
    columns = "".join(map(_column, head, look))
    body = "".join(_row(row, chosen, look) for row in rows)
    return f'<table style="{TABLE}"><tr>{columns}</tr>{body}</table>'


def _column(name, look):
    return f'<th scope="col" style="{look}">{name}</th>' if name else f'<td style="{look}"></td>'


def _row(row, chosen, look):
    name, *cells = (html.escape(cell) for cell in row)
    # The mark's room is kept and a number stays on one line, so that the table keeps its height.
    room = '<span style="padding-left:1.1em"></span>'
    mark = ("\u00a0◀" if row[0] == chosen else room) if chosen else ""
    columns = "".join(map(_cell, cells, look[1:]))
    return f'<tr><th scope="row" style="{look[0]}">{name}{mark}</th>{columns}</tr>'


def _cell(cell, look):
    return f'<td style="{look}{"; white-space:nowrap" * (len(cell) < SENTENCE)}">{cell}</td>'
