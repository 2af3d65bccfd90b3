"""The transformer block: who looks at whom, how the stream grows, and what training makes of it."""

import numpy as np

from .drawing import (
    GHOST,
    INK,
    SMALL_PRINT,
    THEORY,
    WITH,
    WITHOUT,
    Bars,
    LayerBars,
    count,
    legend_above,
    new_figure,
    set_limits,
    set_text,
    step_up,
    table,
    words,
)
from .training import LossCurves


class LookAhead:
    """How much each token looks at each other one, and which outputs change when one token is replaced."""

    def __init__(self, tokens, yours):
        """yours: draw the reference beside the learner's."""
        self.figure, (left, self.ax) = new_figure(2, width_ratios=[2, 3])
        self.tokens = np.arange(1, tokens + 1)
        edges = (0.5, tokens + 0.5)
        nothing = np.zeros((tokens, tokens))
        self.weights = left.imshow(nothing, cmap="Blues", vmin=0, vmax=1, extent=(*edges, *edges[::-1]))
        (self.stairs,) = left.plot([], [], "-", color=INK, lw=2)
        (self.ahead,) = left.plot([], [], "x", color=GHOST, ms=5)
        left.grid(False)
        left.set(xticks=self.tokens, yticks=self.tokens)
        left.set_title("weight: white 0, dark 1", fontsize=SMALL_PRINT)
        left.set_xlabel("token that is looked at", fontsize=12)
        left.set_ylabel("token that looks", fontsize=12)
        self.bars = Bars(self.ax, WITH)
        (self.reference,) = self.ax.plot([], [], "_", color=INK, ms=22, mew=2.5, label="the reference")
        self.ax.set(xlim=edges, xticks=self.tokens)
        self.ax.set_xlabel("token", fontsize=12)
        self.ax.set_ylabel("change of its output (rms)", fontsize=12)
        if yours:
            legend_above(self.ax, self.reference)
        self.sentence = ""

    def update(self, weights, changed, reference, token, causal, head, remark=""):
        """weights (tokens, tokens) of one head; changed, reference (tokens,): of the outputs, when `token` is replaced.

        reference: None where there is nothing to compare with.
        """
        seen = changed if reference is None else np.concatenate([changed, reference])
        set_limits(self.ax, y=(0, step_up(1.05 * seen.max())))
        self.bars.set(self.tokens, 0, changed)
        self.reference.set_data(*([[], []] if reference is None else [self.tokens, reference]))
        self.weights.set_data(weights)
        self._draw_mask(causal)
        self.sentence = (
            f"{'Causal mask' if causal else 'No mask'}, token {token} replaced: {self._which(changed > 0)}. In head {head} "
            f"token 1 gives token {token} a weight of {words(weights[0, token - 1])}.{remark}"
        )
        return [self.weights, self.ahead, self.stairs, self.bars.artist, self.reference]

    def _draw_mask(self, causal):
        """A cross where nobody may look, and stairs along the edge."""
        rows, columns = np.triu_indices(len(self.tokens), 1)
        self.ahead.set_data(columns + 1, rows + 1)
        steps = np.repeat([*self.tokens, len(self.tokens) + 1], 2) - 0.5
        self.stairs.set_data(steps[1:], steps[:-1])
        self.ahead.set_visible(causal)
        self.stairs.set_visible(causal)

    def _which(self, moves):
        moved = self.tokens[moves]
        if len(moved) == len(self.tokens):
            return f"all {len(moved)} outputs change"
        if not len(moved):
            return "no output changes"
        one = "output {} changes" if len(moved) == 1 else "outputs {} change"
        return one.format(", ".join(map(str, moved))) + ", the others stay the same to the last digit"


class PreOrPost:
    """Fresh transformers: how the stream grows from layer to layer, and the last gradient from depth to depth."""

    NAMES = {"pre-norm": "Pre-norm", "post-norm": "Post-norm"}
    COLORS = {"pre-norm": WITH, "post-norm": WITHOUT}

    def __init__(self, depths):
        self.figure, (left, self.right) = new_figure(2, width_ratios=[3, 2])
        self.stream = LayerBars(left, "mean square of the stream", theory=True)
        self.stream.STEPS = depths
        set_text(self.stream.legend.get_texts()[1], "bounds, pre-norm")
        self.depths = np.array(depths)
        self.lines = {
            place: self.right.plot([], [], style, color=self.COLORS[place], ms=6, lw=1.5, label=place)[0]
            for place, style in (("pre-norm", "o-"), ("post-norm", "s--"))
        }
        (self.chosen,) = self.right.plot([], [], "D", color=INK, mfc="none", ms=12, mew=2)
        self.right.set(xscale="log", yscale="log", xlim=(1.7, 29), ylim=(0.1, 5))
        self.right.set_xticks(depths, map(str, depths))
        self.right.set_yticks([0.1, 0.2, 0.5, 1, 2, 5], ["0.1", "0.2", "0.5", "1", "2", "5"])
        self.right.minorticks_off()
        self.right.set_xlabel("layers", fontsize=12)
        self.right.set_ylabel("gradient of the last matrix", fontsize=12)
        legend_above(self.right, *self.lines.values())
        self.sentence = self.details = ""

    def update(self, squares, rival, rival_name, place, final_norm, by_depth, listed, remark=""):
        """squares, rival (depth + 1,): of the stream; by_depth: {place: ByDepth}; listed: depths for the table."""
        depth = len(squares) - 1
        at = int(np.flatnonzero(self.depths == depth)[0])
        pre, post = (by_depth[name] for name in ("pre-norm", "post-norm"))
        ratio = post.dW[at] / pre.dW[at]
        last = "a final norm" if final_norm else "no final norm"
        self.sentence = (
            f"{self.NAMES[place]}, {count(depth, 'layer')}: the stream's mean square goes from {words(squares[0])} to "
            f"{words(squares[-1])} (bounds for pre-norm: {words(1 + depth / 2)} and {words(1 + 1.5 * depth)}), its root "
            f"mean square to {words(np.sqrt(squares[-1]))}. The last matrix gets a gradient of {words(pre.dW[at])} with pre-norm and {last}, of {words(post.dW[at])} "
            f"with post-norm: {words(ratio)} times that.{remark}"
        )
        self.details = self._table(
            pre, post, listed, depth, f"pre, final norm {'on' if final_norm else 'off'}"
        )
        return [*self._draw_stream(squares, rival, rival_name, place), *self._draw_gradients(by_depth, at)]

    def _draw_stream(self, squares, rival, rival_name, place):
        depth = len(squares) - 1
        limits = 0.0, step_up(max(1 + 1.5 * depth, squares.max()))
        shown = rival, rival_name, self.COLORS.get(rival_name, INK)
        artists = self.stream.update(squares, self.COLORS[place], shown, (), "linear", limits)
        ends = np.array([0, depth, np.nan, 0, depth])
        self.stream.theory.set_data(ends, 1 + ends * [0.5, 0.5, 0, 1.5, 1.5])
        return artists

    def _draw_gradients(self, by_depth, at):
        for place, line in self.lines.items():
            line.set_data(self.depths, by_depth[place].dW)
        self.chosen.set_data([self.depths[at]] * 2, [one.dW[at] for one in by_depth.values()])
        return [*self.lines.values(), self.chosen]

    def _table(self, pre, post, listed, depth, name):
        """Means of three networks each; name: of the pre-norm ones."""
        head = [
            "layers",
            f"gradient:<br>{name}",
            "gradient:<br>post",
            "post / pre",
            "rms of the<br>stream (pre)",
        ]
        head += [f"loss:<br>{name}", "loss:<br>post"]
        columns = (pre.dW, post.dW, post.dW / pre.dW, pre.rms, pre.loss, post.loss)
        rows = [
            (str(n), *(map(words, row) if n in listed else "?" * len(row)))
            for n, row in zip(self.depths, np.transpose(columns))
        ]
        return table(head, rows, str(depth))


class StackRms:
    """Pre-norm blocks one after the other: the size of what each norm is given, and of the result."""

    def __init__(self):
        self.figure, (ax,) = new_figure()
        self.bars = LayerBars(ax, "root mean square")
        self.bars.STEPS = 13, 25, 49
        ax.set_xlabel("0: the input, then after each branch; the last bar: the result", fontsize=12)
        self.sentence = ""

    def update(self, rms, reference, layers, start, remark=""):
        """rms, reference: of what each norm is given and, last, of the result; start: how the branches begin."""
        room = 0.0, step_up(1.05 * max(rms.max(), reference.max()))
        seen = np.pad(rms, (0, max(0, len(reference) - len(rms))), constant_values=np.nan)
        wanted = np.pad(reference, (0, len(seen) - len(reference)), constant_values=np.nan)
        before = (
            f"The last norm is given a stream of {words(rms[-2])}" if len(rms) > 1 else "No norm is called"
        )
        self.sentence = (
            f"{count(layers, 'layer')}, {2 * layers} branches, {start}: the stream begins with a root mean square of "
            f"{words(reference[0])}. {before}; the result has {words(rms[-1])} (the reference: "
            f"{words(reference[-2])} and {words(reference[-1])}).{remark}"
        )
        return self.bars.update(seen, WITH, (wanted, "the reference", INK), (), "linear", room)


class WarmUp(LossCurves):
    """Loss of small transformers in training, and what guessing costs."""

    STYLES = {"pre-norm": (WITH, "-"), "post-norm": (WITHOUT, "--"), "post-norm with warm-up": (THEORY, "-.")}
    SEEN = ", on sequences that no step has seen,"

    def __init__(self, steps, chance):
        super().__init__(steps)
        self.ax.axhline(chance, color=GHOST, lw=1.5, ls=":")
        self.ax.text(
            steps - 1,
            1.4 * chance,
            f"guessing: ln {np.exp(chance):.0f} = {words(chance)}",
            ha="right",
            fontsize=SMALL_PRINT,
            color=INK,
        )
        self.ax.set_ylabel("loss on new sequences", fontsize=12)

    def update(self, runs, setting=""):
        """runs: as in LossCurves; setting: what is going to be trained, in words."""
        artists = super().update(runs)
        if not runs:
            self.sentence = f"Not trained yet: {setting}."
        return artists
