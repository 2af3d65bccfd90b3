"""Which numbers share their statistics: an array of numbers, coloured and lettered by their groups."""

import functools
from string import ascii_uppercase

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from .drawing import INK, table, words
from .norms import in_brackets

AXES = ("example", "both examples"), ("token", "all tokens"), ("feature", "all features")


def where(cells):
    """In words, how far these cells of the array, a mask of bool, reach along each axis."""
    parts = []
    for indices, size, (one, every) in zip(np.nonzero(cells), cells.shape, AXES):
        low, high = indices.min() + 1, indices.max() + 1
        if high - low == size - 1:
            parts.append(every)
        else:
            parts.append(f"{one} {low}" if low == high else f"{one}s {low} to {high}")
    return ", ".join(parts)


@functools.cache
def _outline(text, size):
    """A text as a path, with its middle at (0, 0)."""
    path = TextPath((0, 0), text, size=size)
    box = path.get_extents()
    return Path(path.vertices - (box.p0 + box.p1) / 2, path.codes)


class Words:
    """Short texts as one path; 48 texts one by one would cost 30 ms."""

    def __init__(self, ax, color, size):
        """size: height of the letters, in the units of the axes."""
        self.artist = ax.add_artist(PathPatch(Path([(0, 0)]), facecolor=color, linewidth=0))
        self.size = size

    def set(self, texts, places):
        """Each text with its middle at its place, (n, 2)."""
        outlines = [_outline(text, self.size) for text in texts]
        moved = [outline.vertices + place for outline, place in zip(outlines, places)]
        codes = [outline.codes for outline in outlines]
        self.artist.set_path(Path(np.concatenate(moved), np.concatenate(codes)))


class WhichNumbers:
    """Two examples of some tokens of some features; the cells that share statistics with one are lit."""

    WIDTH, HEIGHT = 56, 65  # of a cell, in pixels, as all lengths here
    LEFT, BETWEEN, TOP = 78, 36, 274

    def __init__(self, x):
        """x (2, tokens, features): whole numbers."""
        self.x, self.cells = x, np.array(list(np.ndindex(x.shape)))
        self.figure = Figure(figsize=(8, 3.5), dpi=100, facecolor="white")
        self.ax = self.figure.add_axes((0, 0, 1, 1), xlim=(0, 800), ylim=(0, 350))
        self.ax.set_axis_off()
        example, token, feature = self.cells.T
        left = self.LEFT + example * (x.shape[2] * self.WIDTH + self.BETWEEN) + feature * self.WIDTH
        self.corners = np.stack([left, self.TOP - (token + 1) * self.HEIGHT], axis=1)
        box = np.array([(0, 0), (0, 1), (1, 1), (1, 0)]) * (self.WIDTH, self.HEIGHT)
        self.boxes = PolyCollection(self.corners[:, None] + box, edgecolors=INK)
        self.ax.add_collection(self.boxes)
        self.numbers, self.letters = (Words(self.ax, INK, size) for size in (21, 13))
        self.numbers.set([words(value) for value in x.ravel()], self.corners + (28, 38))
        self.chosen = self.ax.add_collection(
            PolyCollection([], facecolors="none", edgecolors=INK, linewidths=5)
        )
        self._label()
        self.sentence = self.details = ""

    def _label(self):
        middle: dict = {"ha": "center", "va": "center", "fontsize": 12, "color": INK}
        for (example, token, feature), (x, y) in zip(self.cells, self.corners):
            if token == 0:
                self.ax.text(x + self.WIDTH / 2, self.TOP + 16, f"{feature + 1}", **middle)
            if example == feature == 0:
                self.ax.text(x - 38, y + self.HEIGHT / 2, f"token {token + 1}", **middle)
            if token == feature == 0:
                across = x + self.x.shape[2] * self.WIDTH / 2
                self.ax.text(across, self.TOP + 50, f"example {example + 1}", weight="bold", **middle)
        self.ax.text(self.LEFT - 38, self.TOP + 16, "feature", **middle)

    def at(self, x, y):
        """The cell at this place of the figure (0 to 1), as values of the controls; none: no values."""
        inside = (np.array([800 * x, 350 * y]) - self.corners) // (self.WIDTH, self.HEIGHT) == 0
        hit = self.cells[inside.all(axis=1)] + 1
        return dict(zip(("example", "token", "feature"), map(int, hit[0]))) if len(hit) else {}

    def update(self, name, cell, groups, normalized, eps):
        """name: the norm's; cell: three indices; groups, normalized (like x): the number of each cell's
        group, and what the cell becomes; eps: the norm's."""
        mine = groups == groups[cell]
        lit, hues = mine.ravel(), groups.ravel() / (groups.max() + 1)
        look = np.stack([hues, np.where(lit, 0.45, 0.17), np.where(lit, 0.95, 1.0)], axis=1)
        self.boxes.set_facecolor(hsv_to_rgb(look))
        self.boxes.set_linewidth(np.where(lit, 2.0, 0.4))
        letters = [ascii_uppercase[group] for group in groups.ravel()]
        self.letters.set(letters, self.corners + (45, 13))
        chosen = np.ravel_multi_index(cell, groups.shape)
        self.chosen.set_verts([self.boxes.get_paths()[chosen].vertices])
        shared = "root mean square" if name == "RMSNorm" else "mean and variance"
        position = ", ".join(f"{one} {index + 1}" for (one, _), index in zip(AXES, cell))
        self.sentence = (
            f"{name}: {words(self.x[cell])} ({position}) has the letter {letters[chosen]}; {lit.sum()} numbers have it "
            f"and share their {shared}: {where(mine)}. {words(self.x[cell])} becomes {words(normalized[cell])}."
        )
        written_out = self._root_mean_square if name == "RMSNorm" else self._mean_and_variance
        rows = written_out(self.x[mine], self.x[cell], eps, words(normalized[cell], 5))
        arithmetic = table((f"letter {letters[chosen]}", "arithmetic", "result"), rows, prose=1)
        # Room for a sum of twelve squares, which takes two lines.
        self.details = f'<div style="min-height:12.5em">{arithmetic}</div>'
        return [self.boxes, self.numbers.artist, self.letters.artist, self.chosen]

    @staticmethod
    def _mean_and_variance(values, x, eps, result):
        mean, var = values.mean(), values.var()
        total = " + ".join(in_brackets(value) for value in values)
        squares = " + ".join(f"{in_brackets(value - mean, 3)}²" for value in values)
        centred, n = in_brackets(x - mean, 5), len(values)
        return (
            ("mean", f"({total}) / {n}", words(mean, 5)),
            ("variance", f"({squares}) / {n}", words(var, 5)),
            ("normalized", f"{centred} / √({words(var, 5)} + {words(eps, 1)})", result),
        )

    @staticmethod
    def _root_mean_square(values, x, eps, result):
        squares = " + ".join(f"{in_brackets(value)}²" for value in values)
        mean_square = words((values**2).mean(), 5)
        return (
            ("mean", "not subtracted", ""),
            ("mean square", f"({squares}) / {len(values)}", mean_square),
            ("normalized", f"{in_brackets(x)} / √({mean_square} + {words(eps, 1)})", result),
        )


class Comparison:
    """What was measured of each norm, as a table."""

    def __init__(self, measured):
        """measured: {row: {norm: words}}."""
        self.head = ("", *next(iter(measured.values())))
        self.rows = [(row, *cells.values()) for row, cells in measured.items()]

    def _repr_html_(self):
        return table(self.head, self.rows)

    def __repr__(self):
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows)]
        lines = ([cell.ljust(width) for cell, width in zip(line, widths)] for line in (self.head, *self.rows))
        return "\n".join("  ".join(line).rstrip() for line in lines)
