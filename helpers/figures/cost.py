"""What a norm costs."""

import numpy as np

from .drawing import GHOST, INK, SMALL_PRINT, WITH, legend_above, new_figure, words
from .rms import BesideLayerNorm


class Cost:
    """Operations and numbers moved for each number of the input, counted; and the time that RMSNorm saves, measured."""

    PAPER = 7, 64  # percent, Zhang & Sennrich 2019, abstract: whole models

    def __init__(self):
        self.figure, (left, right) = new_figure(2, width_ratios=[2, 3])
        self.bars = BesideLayerNorm(left)
        left.set(xlim=(-0.6, 1.6), ylim=(0, 14))
        left.set_xticks([0, 1], ["operations", "numbers\nmoved"], fontsize=SMALL_PRINT)
        left.set_ylabel("for each number", fontsize=12)
        (self.runs,) = right.plot([], [], "|", color=GHOST, ms=14, mew=1.5, label="one run")
        (self.median,) = right.plot([], [], "D", color=WITH, ms=9, label="median")
        right.barh(0, self.PAPER[1] - self.PAPER[0], left=self.PAPER[0], height=0.35, color=GHOST, alpha=0.6)
        (self.beyond,) = right.plot([], [], "<", color=GHOST, mfc="none", ms=8)
        right.axvline(0, color=INK, lw=0.8)
        right.set(xlim=(-20, 100), ylim=(-0.6, 2.6), xticks=range(-20, 101, 20))
        right.set_yticks(
            [0, 1, 2],
            ["whole models\n(the paper)", "with its\nfeed-forward", "the norm\nalone"],
            fontsize=SMALL_PRINT,
        )
        right.set_xlabel("time saved by RMSNorm, %", fontsize=12)
        legend_above(right, self.runs, self.median)
        self.figure.subplots_adjust(wspace=0.42)
        self.sentence = ""

    def update(self, counts, saved, d):
        """counts: from `cost.counts`; saved: two arrays of percent, or None before anything is timed."""
        layer, rms = np.array(counts["LayerNorm"]), np.array(counts["RMSNorm"])
        self.sentence = (
            f"For each number, with {d} features: LayerNorm does {words(layer[0], 2)} operations and moves {words(layer[1], 2)} numbers, "
            f"RMSNorm {words(rms[0], 2)} and {words(rms[1], 2)}. "
        ) + self._timed(saved, 100 * layer[0] / (layer[0] + counts["feed-forward"][0]))
        alone, block = saved or ([], [])
        runs, places = np.array([*alone, *block]), np.repeat([2, 1], len(alone))
        lowest = self.runs.axes.get_xlim()[0]
        self.runs.set_data(runs[runs >= lowest], places[runs >= lowest])
        self.beyond.set_data(0 * runs[runs < lowest] + lowest + 2, places[runs < lowest])
        self.median.set_data([max(np.median(v), lowest) for v in saved or ()], [2, 1][: 2 * bool(saved)])
        return [*self.bars.set(np.arange(2), layer, rms), self.runs, self.beyond, self.median]

    @staticmethod
    def _timed(saved, share):
        if saved is None:
            return (
                "No time is measured yet: Start times both norms, alone and with the feed-forward network that "
                "follows in a block, by turns, again and again."
            )
        alone, both = (
            f"{words(np.median(v), 2)} % (middle half: {words(low, 2)} to {words(high, 2)} %)"
            for v in saved
            for low, high in [np.percentile(v, [25, 75])]
        )
        return (
            f"In {len(saved[0])} runs here RMSNorm saves {alone} alone, {both} with a feed-forward network; "
            f"of the operations of both, {words(share, 2)} % are LayerNorm's."
        )
