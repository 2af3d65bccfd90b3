"""What leaves a normalized output as it is, and what its price is."""

import numpy as np

from ..experiments.invariance import CHANGES, CLAIMED, NORMS, UNMOVED
from .drawing import GHOST, INK, WITH, WITHOUT, Bars, legend_above, new_figure, table, words

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

    LOWEST = 1e-20

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
        ax.axhspan(self.LOWEST, UNMOVED, color=WITH, alpha=0.1, lw=0)
        ax.axhline(UNMOVED, color=WITH, lw=1.5, ls="--")
        ax.text(4.45, 2e-20, f"shaded: less than {UNMOVED:g}, unchanged", fontsize=11, ha="right", color=INK)
        ax.set(yscale="log", xlim=(-0.5, 4.5), ylim=(self.LOWEST, 1e3))
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
            self._part(names, seen, seen < UNMOVED, "leaves", "unchanged (no output moves by more than {})"),
            self._part(names, seen, seen >= UNMOVED, "changes", "(an output by up to {})"),
        ]
        verdict = (
            "all as in the papers' tables"
            if not unlike.any()
            else "not as in the papers: " + ", ".join(names[unlike])
        )
        action = IN_WORDS[change].format(a=words(factor))
        self.sentence = f"{action}: {'; '.join(part for part in parts if part)}; {verdict}."
        self.details = table(
            ("", *CHANGES), [self._row(name, row, visited) for name, row in zip(NORMS, moves)]
        )
        return [self.same, self.moved, self.unlike]

    @staticmethod
    def _part(names, seen, which, verb, rest):
        if not which.any():
            return ""
        return f"{verb} {', '.join(names[which])} {rest.format(words(seen[which].max(), 2))}"

    @staticmethod
    def _row(name, row, visited):
        cells = []
        for change, move, claimed in zip(CHANGES, row, CLAIMED[name]):
            said = "unchanged" if move < UNMOVED else "changed"
            mark = " ✗" if (move < UNMOVED) != claimed else ""
            cells.append(f"{said} ({words(move, 2)}){mark}" if change in visited else "?")
        return (name, *cells)


class Cost:
    """Operations and numbers moved for each value, counted; and the time that RMSNorm saves, measured."""

    PAPER = 7, 64  # percent, Zhang & Sennrich 2019, abstract: whole models

    def __init__(self):
        self.figure, (left, right) = new_figure(2, width_ratios=[2, 3])
        self.layer, self.rms = Bars(left, GHOST), Bars(left, WITH)
        self.layer.artist.set(hatch="///", edgecolor="white", label="LayerNorm")
        self.rms.artist.set_label("RMSNorm")
        left.set(xlim=(-0.6, 1.6), ylim=(0, 14))
        left.set_xticks([0, 1], ["operations", "numbers\nmoved"], fontsize=11)
        left.set_ylabel("for each value", fontsize=12)
        legend_above(left, self.layer.artist, self.rms.artist)
        (self.runs,) = right.plot([], [], "|", color=GHOST, ms=14, mew=1.5, label="one run")
        (self.median,) = right.plot([], [], "D", color=WITH, ms=9, label="median")
        right.barh(0, self.PAPER[1] - self.PAPER[0], left=self.PAPER[0], height=0.35, color=GHOST, alpha=0.6)
        right.axvline(0, color=INK, lw=0.8)
        right.set(xlim=(-20, 100), ylim=(-0.6, 2.6), xticks=range(-20, 101, 20))
        right.set_yticks(
            [0, 1, 2], ["whole models\n(the paper)", "with its\nfeed-forward", "the norm\nalone"], fontsize=11
        )
        right.set_xlabel("time saved by RMSNorm, %", fontsize=12)
        legend_above(right, self.runs, self.median)
        self.figure.subplots_adjust(left=0.08, wspace=0.42)
        self.sentence = ""

    def update(self, counts, saved, d):
        """counts: from `cost.counts`; saved: two arrays of percent, or None before anything is timed."""
        layer, rms = np.array(counts["LayerNorm"]), np.array(counts["RMSNorm"])
        place = np.arange(2)
        self.layer.set(place - 0.2, 0, layer, 0.36)
        self.rms.set(place + 0.2, 0, rms, 0.36)
        self.sentence = (
            f"For each of {d} features LayerNorm does {words(layer[0])} operations and RMSNorm {words(rms[0])}; as plain NumPy "
            f"they move {words(layer[1])} and {words(rms[1])} numbers through memory. "
        ) + self._timed(saved, 100 * layer[0] / (layer[0] + counts["feed-forward"][0]))
        alone, block = saved or ([], [])
        limits = self.runs.axes.get_xlim()
        self.runs.set_data(np.clip([*alone, *block], *limits), [2] * len(alone) + [1] * len(block))
        self.median.set_data([np.clip(np.median(v), *limits) for v in saved or ()], [2, 1][: 2 * bool(saved)])
        return [self.layer.artist, self.rms.artist, self.runs, self.median]

    @staticmethod
    def _timed(saved, share):
        if saved is None:
            return "No time is measured yet: press Start."
        alone, block = (
            f"{words(np.median(v), 2)} % (half of the runs between {words(low, 2)} and {words(high, 2)} %)"
            for v in saved
            for low, high in [np.percentile(v, [25, 75])]
        )
        return (
            f"Timed {len(saved[0])} times on this machine, RMSNorm saves {alone} of the norm, and {block} of norm and feed-forward "
            f"network together, in whose operations LayerNorm has a share of {words(share, 2)} %."
        )
