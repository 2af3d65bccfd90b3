"""The signal on its way through a deep network: activations forward, gradients backward."""

import numpy as np
from matplotlib.collections import LineCollection

from .drawing import (
    GHOST,
    INK,
    LEARNED,
    MEAN,
    WITH,
    WITHOUT,
    Bars,
    LayerBars,
    clip,
    count,
    decades,
    legend_above,
    new_figure,
    set_limits,
    settled,
    table,
    words,
)


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
            f"Toy model: each layer keeps {words(100 * kept)} % of the signal; after {self.LAYERS} layers "
            f"{words(100 * left[-1])} % of it is left."
        )
        return [self.bars.artist, self.spine]


class TwoSwitches:
    """The same deep network with and without shortcuts and norms: spread forward, gradient backward."""

    def __init__(self, smallest, largest):
        """smallest, largest: of all values that will be shown, so that all networks share one scale."""
        self.figure, (left, right) = new_figure(2)
        self.limits = decades(np.array([smallest, largest]))
        self.spread = LayerBars(left, "spread σ, forward", rival=False, unit="block")
        self.gradient = LayerBars(right, "gradient |dL/dh|, backward", rival=False, unit="block")
        self.sentence = self.details = ""

    def update(self, std, dh, name, color, corners):
        """std, dh (depth + 1,): of the network that is shown.

        corners: {name: (std at the end, ratio), or None as long as it was not shown}.
        """
        self.sentence = (
            f"{name}, {count(len(dh) - 1, 'block')}: forward, the spread ends at σ = {words(std[-1])}; backward, "
            f"{share(dh[0] / dh[-1])}."
        )
        self.details = self._table(corners, name)
        bars = (self.spread, std), (self.gradient, dh)
        return [artist for ax, values in bars for artist in ax.update(values, color, limits=self.limits)]

    @staticmethod
    def _table(corners, name):
        head = ("network", "σ after the last block", "gradient at the input, over that at the last block")
        rows = [(corner, *(map(words, seen) if seen else "??")) for corner, seen in corners.items()]
        return table(head, rows, name)


def rival_of(values, residual, name):
    """What `LayerBars` draws behind a network with or without residuals: by its name, else the other network."""
    if name:
        return values, name, INK
    other = "Without residuals" if residual else "With residuals"
    return values, f"{other}, for comparison", WITHOUT if residual else WITH


class GradientBars:
    """How much of the gradient arrives at each layer, in one network and in its rival."""

    def __init__(self, unit="layer"):
        self.figure, (ax,) = new_figure()
        self.layers = LayerBars(ax, "gradient, |dL/dh|", unit=unit)
        self.sentence = ""

    def update(self, dh, rival, residual, network, scale="log", rival_name=None, remark=""):
        """dh, rival (depth + 1,): gradient at each layer, 1 at the last; network: what it is, in words.

        The rival has the other setting of the switch, unless it has a name; the remark ends the sentence.
        """
        color, name = (WITH, "With residuals") if residual else (WITHOUT, "Without residuals")
        self.sentence = f"{name}, {network}: {share(dh[0] / dh[-1])}.{remark}"
        return self.layers.update(dh, color, rival_of(rival, residual, rival_name), scale=scale)


def share(ratio):
    """What became of the gradient, in words: ratio is that at the input over that at the last layer."""
    if not np.isfinite(ratio):
        return f"the gradient at the input is {words(ratio)}"
    if ratio >= 1:
        return f"the gradient at the input is {words(ratio)} times what entered at the output"
    return f"{words(100 * ratio)} % of the gradient is left at the input"


class WhichGradient:
    """Two gradients of the same network, block by block: for the activations and for the weights."""

    def __init__(self):
        self.figure, (self.ax,) = new_figure()
        (self.dh,) = self.ax.plot(
            [], [], "o-", ms=4, lw=1, color=WITH, clip_on=False, label="activations, |dL/dh|"
        )
        (self.dW,) = self.ax.plot(
            [], [], "s--", ms=4, lw=1, color=LEARNED, clip_on=False, label="weights, |dL/dW|"
        )
        self.ax.set_yscale("log")
        self.ax.minorticks_off()
        self.ax.set_xlabel("block", fontsize=12)
        self.ax.set_ylabel("gradient, last block = 1", fontsize=12)
        legend_above(self.ax, self.dh, self.dW)
        self.sentence = ""

    def update(self, seen, network):
        """seen: GradientNorms; both curves are drawn relative to the last block."""
        dh, dW = seen.dh[:-1] / seen.dh[-2], seen.dW / seen.dW[-1]
        block = np.arange(1, len(dW) + 1)
        room = next(step for step in LayerBars.STEPS if len(dW) <= step)
        set_limits(self.ax, (0.4, room + 0.6), decades(np.concatenate([dh, dW])))
        self.dh.set_data(block, dh)
        self.dW.set_data(block, dW)
        self.sentence = (
            f"{network}: from the last block to the first, the gradient of the activations becomes "
            f"{words(dh[0])} times as large, that of the weights {words(dW[0])} times; in the last block it is "
            f"{words(seen.dW[-1])}, for a gradient of length 1 at the output."
        )
        return [self.dh, self.dW]


class Drift:
    """Spread and mean of the activations, layer by layer."""

    def __init__(self):
        self.figure, (left, self.right) = new_figure(2, width_ratios=[3, 2])
        self.spread = LayerBars(left, "spread σ", theory=True)
        (self.mean,) = self.right.plot([], [], "o-", color=MEAN, ms=4, lw=1)
        self.right.set_yscale("symlog", linthresh=1)
        self.right.minorticks_off()
        self.right.set_xlabel("layer (0 is the input)", fontsize=12)
        self.right.set_ylabel("mean μ", fontsize=12)
        self.rows = left.add_collection(LineCollection([], colors=INK, lw=1.2, zorder=3))
        self.sentence = ""

    def update(self, seen, rival, theory, normalized, gain):
        """seen, rival: ActivationSpread; theory (depth + 1,): σ as the formula says it."""
        names = "No normalization", "With LayerNorm"
        self._say(names[normalized], seen, theory, gain)
        self.rows.set_segments([])
        other = (rival.std, names[not normalized], WITHOUT if normalized else WITH)
        return self._draw(seen, WITH if normalized else WITHOUT, other, theory)

    def update_yours(self, seen, reference, theory, gain, remark):
        """The learner's LayerNorm over the reference; a thin line runs from the smallest σ of a row to the largest."""
        self._say("With LayerNorm", seen, theory, gain)
        low, high = seen.row_std.min(axis=1), seen.row_std.max(axis=1)
        mean = np.abs(seen.row_mean[-1]).max()
        same = high[-1] - low[-1] < 1e-3
        rows = (
            f"every σ is {words(low[-1])}" if same else f"σ is between {words(low[-1])} and {words(high[-1])}"
        )
        furthest = "every μ is 0" if mean < 1e-9 else f"μ is up to {words(mean)} away from 0"
        seen_rows = f"{rows} and {furthest}" if np.isfinite(mean) else "not all values are finite numbers"
        self.sentence += f" Row by row, {seen_rows}.{remark}"
        limits = 1e-300, 1e300
        ends = zip(range(len(low)), clip(low, limits), clip(high, limits))
        self.rows.set_segments([[(layer, a), (layer, b)] for layer, a, b in ends])
        return self._draw(seen, WITH, (reference.std, "the reference", GHOST), theory)

    def _say(self, name, seen, theory, gain):
        mean = settled(seen.mean[-1], seen.std[-1])
        self.sentence = (
            f"{name}, gain {words(gain)}: after {count(len(seen.std) - 1, 'layer')} the spread is "
            f"σ = {words(seen.std[-1])} (theory {words(theory[-1])}) and the mean is μ = {words(mean)}; "
            f"the input had σ = {words(seen.std[0])}."
        )

    def _draw(self, seen, color, other, theory):
        artists = self.spread.update(seen.std, color, other, theory)
        high = self.spread.ax.get_ylim()[1]
        if high != self.right.get_ylim()[1]:
            ones = [-1, 1] if high <= 1e4 else []  # elsewhere they would touch the 0
            self.right.set_yticks([-high, -(high**0.5), 0, *ones, high**0.5, high])
        set_limits(self.right, self.spread.ax.get_xlim(), (-high, high))
        self.mean.set_data(np.arange(len(seen.mean)), seen.mean)
        return [*artists, self.mean, self.rows]
