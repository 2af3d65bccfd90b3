"""Statistics over a batch: who depends on whom, how noisy they are, and what follows in training."""

import numpy as np
from matplotlib.collections import LineCollection

from ..experiments.batches import noise_theory
from .drawing import (
    GHOST,
    INK,
    MEAN,
    SMALL_PRINT,
    SPREAD,
    THEORY,
    WITH,
    WITHOUT,
    Bars,
    LayerBars,
    clip,
    count,
    legend_above,
    new_figure,
    set_limits,
    words,
)

BATCH, LAYER = WITHOUT, WITH  # the colours of BatchNorm and LayerNorm


def named(ax, name):
    """Write the name of a norm above the left end of its axes."""
    ax.set_title(name, loc="left", fontsize=12)


# ------------------------------------------------------------------------------ who depends on whom


class Moves:
    """Outputs at several places (examples or tokens), a column of dots for each feature: before and now."""

    ROOM = 4, 6, 10, 16

    def __init__(self, ax, name, place, color, most):
        self.ax, self.limits = ax, (-most, most)
        self.chosen = Bars(ax, GHOST, alpha=0.25)
        self.way = ax.add_collection(LineCollection([], colors=color, lw=1.5))
        whole = {"clip_on": False}  # also at the edge, where what is off the scale ends
        (self.before,) = ax.plot([], [], "o", mfc="white", mec=GHOST, ms=6, label="before", **whole)
        (self.now,) = ax.plot([], [], "o", color=color, ms=5, label="now", **whole)
        (self.reference,) = ax.plot([], [], "_", color=INK, ms=10, mew=1.5, label="reference", **whole)
        ax.set_ylim(self.limits)
        ax.set_xlabel(f"{place} (grey: the one that is moved)", fontsize=12)
        ax.set_ylabel("output", fontsize=12)
        named(ax, name)

    def update(self, before, now, chosen, reference=None):
        """before, now, reference (places, features): outputs; chosen: index of the place that is moved."""
        places, features = before.shape
        room = next(step for step in self.ROOM if places <= step)
        set_limits(self.ax, (0.4, room + 0.6))
        x = (1 + np.arange(places)[:, None] + np.linspace(-0.24, 0.24, features)).ravel()
        before, now = (clip(y.ravel(), self.limits) for y in (before, now))
        self.chosen.set(chosen + 1, *self.limits)
        self.way.set_segments(np.stack([np.stack([x, before], 1), np.stack([x, now], 1)], axis=1))
        self.before.set_data(x, before)
        self.now.set_data(x, now)
        drawn = [] if reference is None else clip(reference.ravel(), self.limits)
        self.reference.set_data(x[: len(drawn)], drawn)
        return [self.chosen.artist, self.way, self.before, self.now, self.reference]


class Dependence:
    """One number is moved: which outputs change? BatchNorm beside LayerNorm."""

    def __init__(self, place, most, yours=False):
        """place: "example" or "token"; most: the largest output; yours: with the reference's marks beside the dots."""
        self.figure, (left, right) = new_figure(2)
        norms = (left, "BatchNorm", BATCH), (right, "LayerNorm", LAYER)
        self.panels = [Moves(ax, name, place, color, most) for ax, name, color in norms]
        first, second = self.panels
        legend_above(left, *([first.reference] if yours else [first.before, first.now]))
        legend_above(right, second.before, second.now)
        self.sentence = ""

    def update(self, moved, outputs, chosen, changes, others, remark="", name="BatchNorm"):
        """moved: what was moved, in words, or nothing; outputs: (before, now) or (before, now, reference) of
        each norm, (places, features); changes: of the outputs at `others`, for each norm, and for the reference
        where there is one; name: whose BatchNorm it is."""
        batch, layer, *reference = map(self._change, changes)
        if reference and reference != [batch]:
            batch += f" (the reference {reference[0]})"
        self.sentence = (
            f"{moved} At {others}, {name} {batch}; LayerNorm {layer}."
            if moved
            else "Nothing is moved yet: every output is where it was."
        ) + remark
        return [
            artist
            for panel, (before, now, *reference) in zip(self.panels, outputs)
            for artist in panel.update(before, now, chosen, *reference)
        ]

    @staticmethod
    def _change(change):
        size = np.abs(change)
        changed = size[~(size < 1e-9)]
        if not changed.size:
            return f"changed none of the {count(size.size, 'output')}"
        return (
            f"changed {changed.size} of {count(size.size, 'output')}, by {words(changed.mean())} on average and "
            f"by up to {words(changed.max())}"
        )


# ------------------------------------------------------------------------------ sequences


class Lengths:
    """How many sequences still have a token at each position, and the mean and spread over those."""

    LIMITS = -3.0, 3.0

    def __init__(self, longest):
        self.figure, (self.left, right) = new_figure(2)
        self.bars = Bars(self.left, GHOST)
        (self.mean,) = right.plot([], [], "o", color=MEAN, ms=3, label="mean")
        (self.spread,) = right.plot([], [], "s", color=SPREAD, ms=3, label="spread")
        (self.theory,) = right.plot([], [], "--", color=THEORY, lw=1.2, label="±1/√n")
        self.here = [ax.axvline(1, color=INK, lw=1.5, ls=":") for ax in (self.left, right)]
        self.left.set_ylabel("sequences with a token", fontsize=12)
        right.set(ylim=self.LIMITS)
        right.set_ylabel("over these sequences", fontsize=12)
        for ax in (self.left, right):
            ax.set_xlim(0, longest + 1)
            ax.set_xlabel("position in the sequence", fontsize=12)
        legend_above(right, self.mean, self.spread, self.theory)
        self.sentence = ""

    def update(self, seen, position):
        """seen: PositionStatistics; position: from 1."""
        x, n = np.arange(1, len(seen.count) + 1), seen.count
        set_limits(self.left, y=(0, 1.05 * n[0]))
        self.bars.set_without_gaps(x, 0, n)
        self.mean.set_data(x, clip(seen.mean, self.LIMITS))
        self.spread.set_data(x, clip(seen.std, self.LIMITS))
        self.theory.set_data([*x, np.nan, *x], [*(n**-0.5), np.nan, *-(n**-0.5)])
        for line in self.here:
            line.set_xdata([position, position])
        here = n[position - 1]
        alone = ": of one value, always 0" if here == 1 else " (true: 1)"
        self.sentence = (
            f"At position {position}, {here} of {count(n[0], 'sequence')} still "
            f"{'has' if here == 1 else 'have'} a token. There the mean is {words(seen.mean[position - 1])} (true: 0; "
            f"typical error 1/√{here} = {words(here**-0.5)}) and the spread {words(seen.std[position - 1])}{alone}."
        )
        return [self.bars.artist, self.mean, self.spread, self.theory, *self.here]


class Padding:
    """Padded sequences after BatchNorm: what came out at each place, and how the real tokens are spread."""

    EDGES = np.linspace(-5, 5, 41)
    TOP = 0.8

    def __init__(self, shape):
        """shape: (sequences, tokens)."""
        self.figure, (left, right) = new_figure(2)
        size = 0.5, shape[1] + 0.5, shape[0] + 0.5, 0.5
        self.image = left.imshow(
            np.zeros(shape),
            cmap="Greys",
            vmin=-3,
            vmax=6,
            aspect="auto",
            extent=size,
            interpolation="nearest",
        )
        (self.ends,) = left.plot([], [], "-", color=INK, lw=2, label="end of the sequence")
        left.grid(False)
        left.set(xlim=size[:2], ylim=size[2:])
        left.set_xlabel("position (the darker, the larger the output)", fontsize=SMALL_PRINT)
        left.set_ylabel("sequence", fontsize=12)
        legend_above(left, self.ends)
        self.bars = Bars(right, BATCH)
        (self.right,) = right.plot([], [], "--", color=THEORY, lw=1.5, label="masked, the reference")
        right.set(xlim=(-5, 5), ylim=(0, self.TOP))
        right.set_xlabel("output of a real token", fontsize=12)
        right.set_ylabel("density of real tokens", fontsize=12)
        legend_above(right, self.right)
        self.sentence = ""

    def update(self, x, y, reference, mask, masked, remark=""):
        """x, y, reference, mask (sequences, tokens): input, output, what it should be, and where tokens are."""
        self.image.set_data(y)
        length = mask.sum(axis=1)
        edge = np.arange(len(length) + 1) + 0.5
        self.ends.set_data(np.repeat(length + 0.5, 2), np.repeat(edge, 2)[1:-1])
        middle = (self.EDGES[1:] + self.EDGES[:-1]) / 2
        self.bars.set(middle, 0, self._shares(y[mask]), width=self.EDGES[1] - self.EDGES[0])
        self.right.set_data(middle, self._shares(reference[mask]))
        self._say(x, y, mask, masked)
        self.sentence += remark
        return [self.image, self.ends, self.bars.artist, self.right]

    def _shares(self, values):
        values = values[np.isfinite(values)]
        shares = np.histogram(values, self.EDGES)[0] / max(len(values), 1) / np.diff(self.EDGES)
        return np.minimum(shares, self.TOP)

    def _say(self, x, y, mask, masked):
        real, padding = y[mask], y[~mask]
        self.sentence = (
            f"{words(100 * mask.mean())} % of the places hold a real token. Together, all places have a spread of "
            f"{words(x.std())}, the real tokens alone {words(x[mask].std())}. Padding "
            f"{'masked' if masked else 'counted'}: the real tokens come out with mean {_rounded(real.mean())} and "
            f"spread {_rounded(real.std())}"
        )
        if padding.size:
            self.sentence += f", the padding as {_rounded(padding.mean())}"
        self.sentence += "."


def _rounded(value):
    """A number in words; what rounding leaves of 0 says nothing."""
    return words(0.0 if abs(value) < 1e-9 else value)


# ------------------------------------------------------------------------------ small batches


class SmallBatches:
    """Noise of a batch's mean and variance against its size, and what BatchNorm makes of one value."""

    def __init__(self, sizes, scan):
        """sizes: batch sizes; scan: BatchNoise of each."""
        self.figure, (left, right) = new_figure(2)
        (mean,) = left.plot(sizes, [noise.mean for noise in scan], "o", color=MEAN, ms=5, label="mean")
        (var,) = left.plot(sizes, [noise.var for noise in scan], "s", color=SPREAD, ms=5, label="variance")
        fine = np.geomspace(1, 256, 100)
        theory, _ = (
            left.plot(fine, line, "--", color=THEORY, lw=1.2, label="theory")[0]
            for line in noise_theory(fine)
        )
        (self.here,) = left.plot([], [], "D", color=INK, ms=9, mfc="none", mew=2, clip_on=False)
        left.set(xscale="log", yscale="log", xlim=(0.9, 300), ylim=(0.04, 1.5))
        left.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
        left.set_yticks([0.05, 0.1, 0.2, 0.5, 1], ["0.05", "0.1", "0.2", "0.5", "1"])
        left.set_xlabel("batch size B", fontsize=12)
        left.set_ylabel("typical error", fontsize=12)
        left.minorticks_off()
        legend_above(left, mean, var, theory)
        (self.dots,) = right.plot([], [], "o", color=BATCH, ms=2, label="BatchNorm")
        (true,) = right.plot([-3, 3], [-3, 3], "--", color=THEORY, lw=1.2, label="no error")
        right.set(xlim=(-3, 3), ylim=(-3, 3), yticks=range(-3, 4))
        right.set_xlabel("value of one example", fontsize=12)
        right.set_ylabel("its output", fontsize=12)
        legend_above(right, self.dots, true)
        self.sentence = ""

    def update(self, noise, batch):
        """noise: BatchNoise of batches of this size."""
        self.dots.set_data(noise.x, noise.y)
        self.here.set_data([batch, batch], [noise.mean, noise.var])
        mean, var = noise_theory(batch)
        self.sentence = (
            f"{count(batch, 'example')} in a batch: its mean is typically off by {words(noise.mean)} (theory "
            f"{words(mean)}), its variance by {words(100 * noise.var)} % (theory {words(100 * var)} %), and the "
            f"output by {words(noise.error)}."
        )
        if batch == 1:
            self.sentence += " The variance is always 0, and every output is β = 0, whatever the input."
        if batch == 2:
            self.sentence += " It is −1 or +1, as far as ε allows: only who is larger is left."
        return [self.here, self.dots]


# ------------------------------------------------------------------------------ training and evaluation


class TrainAndEval:
    """Running statistics on their way, and one new batch by both kinds of statistics."""

    CONVENTION = (
        "The convention is PyTorch's: new = (1 − momentum) × old + momentum × batch; the variance of the batch is the "
        "biased one (divided by n) for the outputs, the unbiased one (divided by n − 1) for what is kept."
    )
    RUN, OUT = (-2.0, 8.0), (-4.0, 12.0)

    def __init__(self, steps, mean, std, yours=False):
        """steps: the most that will be shown; mean, std: of the stream; yours: with the reference beside."""
        self.true = mean, std
        self.figure, (left, right) = new_figure(2, width_ratios=[3, 2])
        end = {"lw": 2.5, "ms": 6, "markevery": [-1], "clip_on": False}
        (self.mean,) = left.plot([], [], "o-", color=MEAN, label="mean", **end)
        (self.std,) = left.plot([], [], "s-", color=SPREAD, label="spread", **end)
        (self.reference,) = left.plot([], [], ":", color=INK, lw=1.5, label="reference")
        true = [left.axhline(value, color=THEORY, ls="--", lw=1.2, label="true") for value in self.true]
        left.set(xlim=(0, steps), ylim=self.RUN)
        left.set_xlabel("batches seen", fontsize=12)
        left.set_ylabel("running statistics", fontsize=12)
        legend_above(left, self.mean, self.std, true[0], *[self.reference] * yours)
        (self.by_batch,) = right.plot([], [], "o", color=BATCH, ms=5, label="training")
        (self.by_running,) = right.plot([], [], "x", color=INK, ms=6, mew=1.5, label="evaluation")
        right.set(xlim=(-5, 25), ylim=(self.OUT[0] - 0.5, self.OUT[1] + 0.5))
        right.set_xlabel("value in a new batch", fontsize=12)
        right.set_ylabel("output", fontsize=12)
        legend_above(right, self.by_batch, self.by_running)
        self.sentence, self.details = "", f"<p>{self.CONVENTION}</p>"

    def update(self, statistics, reference, x, trained, evaluated, draw, momentum, remark=""):
        """statistics, reference: running mean and variance (steps + 1,) each; x, trained, evaluated (batches,
        batch): new batches and their outputs; draw: the batch that is shown."""
        mean, var = statistics
        std = np.sqrt(np.maximum(var, 0))
        step = np.arange(len(mean))
        self.mean.set_data(step, clip(mean, self.RUN))
        self.std.set_data(step, clip(std, self.RUN))
        pairs = [] if reference is None else [reference[0], np.sqrt(reference[1])]
        self.reference.set_data(
            np.concatenate([[*step, np.nan] for _ in pairs] or [[]]),
            np.concatenate([[*pair, np.nan] for pair in pairs] or [[]]),
        )
        self.by_batch.set_data(x[draw], clip(trained[draw], self.OUT))
        self.by_running.set_data(x[draw], clip(evaluated[draw], self.OUT))
        apart = np.abs(trained - evaluated).mean()
        self.sentence = (
            f"After {len(mean) - 1} {'batch' if len(mean) == 2 else 'batches'} with momentum {words(momentum)} the "
            f"running mean is {words(mean[-1])} and the running spread {words(std[-1])} (true: {words(self.true[0])} and "
            f"{words(self.true[1])}). The outputs of {len(x)} new batches in training and in evaluation are "
            f"{words(apart)} apart on average.{remark}"
        )
        if reference is not None and not np.allclose(statistics, reference):
            self.sentence += " Its running statistics differ from the reference's (dotted)."
        return [self.mean, self.std, self.reference, self.by_batch, self.by_running]


class BatchSizes:
    """Test error against the batch size in training, for each norm, over several seeds."""

    STYLES = {
        "BatchNorm": (BATCH, "o-"),
        "BatchNorm by batch": (BATCH, "D:"),
        "LayerNorm": (LAYER, "s-"),
        "GroupNorm": (INK, "^--"),
        "no norm": (GHOST, "x:"),
    }

    def __init__(self, sizes):
        self.sizes = sizes
        self.figure, (ax,) = new_figure()
        self.lines = {
            name: ax.plot([], [], style, color=color, lw=2, ms=6, label=name)[0]
            for name, (color, style) in self.STYLES.items()
        }
        self.seeds = {
            name: ax.add_collection(LineCollection([], colors=color, lw=1.2))
            for name, (color, _) in self.STYLES.items()
        }
        ax.set(xscale="log", yscale="log", xlim=(sizes[0] / 1.2, sizes[-1] * 1.2), ylim=(1, 100))
        ax.set_xticks(sizes, map(str, sizes))
        ax.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        ax.minorticks_off()
        ax.set_xlabel("examples in a batch, in training", fontsize=12)
        ax.set_ylabel("wrong on test data, %", fontsize=12)
        legend_above(ax, *self.lines.values())
        self.sentence = ""

    def update(self, errors):
        """errors: {(name, batch): list of errors, one a seed}."""
        for name, line in self.lines.items():
            seen = {size: 100 * np.array(errors[name, size]) for size in self.sizes if (name, size) in errors}
            line.set_data(list(seen), [error.mean() for error in seen.values()])
            self.seeds[name].set_segments(
                [[(size, error.min()), (size, error.max())] for size, error in seen.items()]
            )
        self.sentence = self._sentence(errors)
        return [*self.lines.values(), *self.seeds.values()]

    def _sentence(self, errors):
        if not errors:
            return "Nothing is trained yet."
        sizes = sorted({size for _, size in errors})
        said = [self._at(size, errors) for size in dict.fromkeys((sizes[0], sizes[-1]))]
        least, most = min(map(len, errors.values())), max(map(len, errors.values()))
        runs = count(most, "run") if least == most else f"{least} to {most} runs"
        return f"Wrong on test data, means over {runs}: {'; '.join(said)}."

    def _at(self, size, errors):
        of = [
            f"{name} {words(100 * np.mean(errors[name, size]))} %"
            for name in self.lines
            if (name, size) in errors
        ]
        return f"with batches of {size} " + ", ".join(of)


# ------------------------------------------------------------------------------ at initialization


class AtInit:
    """The gradient at each layer of a fresh network, with BatchNorm in it, or another norm, or none."""

    INNER = slice(3, 24)  # away from both ends
    LIMITS = 0.1, 1e4

    def __init__(self, yours=False):
        """yours: the bars are a learner's, and the reference is drawn too."""
        self.figure, (ax,) = new_figure()
        self.layers = LayerBars(ax, "gradient, |dL/dh|", rival=yours, theory=True)
        self.yours = yours
        self.layers.legend.get_texts()[-1].set_text("theory: ReLU with BatchNorm, large batches")
        self.sentence = ""

    def update(self, dh, reference, network, color, growth=None, remark=""):
        """dh, reference (depth + 1,): 1 at the last layer; network: what it is, in words; growth: a layer, by theory."""
        inner = dh[self.INNER]
        with np.errstate(all="ignore"):  # a learner's gradient may be 0, or no number
            factor = (inner[0] / inner[-1]) ** (1 / (len(inner) - 1))
        layer = np.arange(len(dh))
        theory = () if growth is None else growth ** (len(dh) - 1.0 - layer)
        expected = "" if growth is None else f" (theory for large batches: {words(growth, 4)})"
        self.sentence = (
            f"{network}: the gradient at the input is {words(dh[0])} times what entered at the output."
        )
        if np.isfinite(factor):
            first, last = layer[self.INNER][[0, -1]]
            self.sentence += f" Between layers {first} and {last} each layer multiplies it by {words(factor, 4)}{expected}."
        self.sentence += remark
        rival = (reference, "reference", INK) if self.yours else None
        return self.layers.update(dh, color, rival, theory, limits=self.LIMITS)
