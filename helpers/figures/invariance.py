"""What leaves a normalized output as it is."""

import numpy as np

from ..experiments.invariance import CHANGES, CLAIMED, NORMS, UNMOVED
from .drawing import INK, SMALL_PRINT, WITH, WITHOUT, legend_above, new_figure, table, words

IN_WORDS = {
    "W × a": "All weights times {a}",
    "W + v": "One vector added to every weight vector",
    "one w × a": "One weight vector times {a}",
    "data × a": "All examples times {a}",
    "data + v": "One vector added to every example",
    "one example × a": "One example times {a}",
}


class Invariance:
    """One change, five norms: by how much does any output move? The table fills as changes are looked at."""

    LOWEST, FLOOR = 1e-20, 3e-22  # of what is drawn, and of the axis: no dot lies on the names

    def __init__(self):
        self.figure, (ax,) = new_figure()
        self.same, self.moved, self.unlike = (
            ax.plot([], [], marker, color=color, mfc=fill, ms=size, mew=2.5, label=label, clip_on=False)[0]
            for marker, color, fill, size, label in (
                ("o", WITH, WITH, 12, "the papers say: unchanged"),
                ("s", WITHOUT, "none", 12, "the papers say: changed"),
                ("x", INK, "none", 18, "measured otherwise"),
            )
        )
        ax.axhspan(self.FLOOR, UNMOVED, color=WITH, alpha=0.1, lw=0)
        ax.axhline(UNMOVED, color=WITH, lw=1.5, ls="--")
        ax.text(
            4.45,
            7e-22,
            f"shaded: less than {UNMOVED:g}, unchanged",
            fontsize=SMALL_PRINT,
            ha="right",
            color=INK,
        )
        ax.set(yscale="log", xlim=(-0.5, 4.5), ylim=(self.FLOOR, 1e3), yticks=10.0 ** np.arange(-21, 4, 3))
        ax.set_xticks(range(5), NORMS, fontsize=12)
        ax.minorticks_off()
        ax.set_ylabel("largest change of an output", fontsize=12)
        legend_above(ax, self.same, self.moved, self.unlike)
        self.sentence = self.details = ""

    def update(self, moves, change, visited, factor):
        """moves (5 norms, 6 changes), from `invariance`; change: the one to draw; visited: those in the table."""
        column = list(CHANGES).index(change)
        seen, claimed = moves[:, column], np.array([row[column] for row in CLAIMED.values()], bool)
        unlike = (seen < UNMOVED) != claimed
        for line, which in ((self.same, claimed), (self.moved, ~claimed), (self.unlike, unlike)):
            line.set_data(np.flatnonzero(which), np.clip(seen[which], self.LOWEST, 1e3))
        names = np.array(list(NORMS))
        parts = [
            self._part(
                names, seen, seen < UNMOVED, "leaves {} unchanged", "(no output moves by more than {})"
            ),
            self._part(names, seen, seen >= UNMOVED, "changes {}", "(an output by up to {})"),
        ]
        others = ", ".join(names[unlike]) if unlike.sum() < 3 else f"{unlike.sum()} of {len(names)} (✗)"
        verdict = f"not as in the papers: {others}" if others else "all as in the papers' tables"
        action = IN_WORDS[change].format(a=words(factor))
        self.sentence = f"{action}: {'; '.join(parts)}; {verdict}."
        self.details = table(
            ("", *(change.replace("× ", "×\u00a0").replace("+ ", "+\u00a0") for change in CHANGES)),
            [self._row(name, row, visited) for name, row in zip(NORMS, moves)],
        )
        return [self.same, self.moved, self.unlike]

    @staticmethod
    def _part(names, seen, which, verb, rest):
        if not which.any():
            return verb.format("none")
        return f"{verb.format(', '.join(names[which]))} {rest.format(words(seen[which].max(), 2))}"

    @staticmethod
    def _row(name, row, visited):
        cells = []
        for change, move, claimed in zip(CHANGES, row, CLAIMED[name]):
            size = f"=\u00a0{words(move, 1)}" if move < UNMOVED else f"≠\u00a0{words(move, 2)}"
            mark = "\u00a0✗" if (move < UNMOVED) != claimed else ""
            cells.append(size + mark if change in visited else "?")
        return (name, *cells)
