"""Networks in training, and the gradients of deep networks seen along a line."""

import numpy as np

from .drawing import (
    GHOST,
    INK,
    THEORY,
    WITH,
    WITHOUT,
    legend_above,
    new_figure,
    set_limits,
    step_up,
    words,
)


class LossCurves:
    """Training loss of several networks, step by step."""

    STYLES = {"shallow": (GHOST, "-."), "deep": (WITHOUT, "--"), "deep residual": (WITH, "-")}
    SEEN = " on the training data,"

    def __init__(self, steps):
        self.figure, (self.ax,) = new_figure()
        self.lines = self._lines(self.ax)
        self.ax.set(yscale="log", xlim=(0, steps), ylim=(1e-4, 1e1))
        self.ax.minorticks_off()
        self.ax.set_xlabel("step", fontsize=12)
        self.ax.set_ylabel("training loss", fontsize=12)
        legend_above(self.ax, *self.lines.values())
        self.sentence = ""

    def _lines(self, ax):
        return {
            name: ax.plot([], [], style, color=color, lw=2.5, label=name)[0]
            for name, (color, style) in self.STYLES.items()
        }

    def update(self, runs):
        """runs: {name: list of Progress}, a name of STYLES each."""
        said = []
        for name, line in self.lines.items():
            seen = runs.get(name, [])
            line.set_data([p.step for p in seen], np.clip([p.loss for p in seen], 1e-4, 10))
            if seen:
                said.append(f"{name}: loss {words(seen[-1].loss)}, {words(100 * seen[-1].error)} % wrong")
        step = max((seen[-1].step for seen in runs.values() if seen), default=0)
        self.sentence = (
            f"After {step} steps{self.SEEN} " + "; ".join(said) + "." if said else "Not trained yet."
        )
        return list(self.lines.values())


class YourTraining(LossCurves):
    """Training loss of one network with two LayerNorms: the reference and the learner's."""

    STYLES = {"yours": (WITH, "-"), "the reference": (INK, ":")}


class Shattered:
    """The gradient of a deep network along a line of inputs, and how alike neighbours are, over depth."""

    def __init__(self):
        self.figure, (self.left, right) = new_figure(2, width_ratios=[3, 2])
        (self.curve,) = self.left.plot([], [], "-", color=WITH, lw=1.2)
        self.left.set(xlim=(-2, 2))
        self.left.set_xlabel("input x, a single number", fontsize=12)
        self.left.set_ylabel("gradient, in standard deviations", fontsize=12)
        (self.measured,) = right.plot([], [], "o", color=INK, ms=5, label="measured", clip_on=False)
        (self.theory,) = right.plot([], [], "--", color=THEORY, lw=1.5, label="2⁻ᴸ")
        right.set(yscale="log", xlim=(0, 51), ylim=(1e-3, 2))
        right.minorticks_off()
        right.set_xlabel("depth L", fontsize=12)
        right.set_ylabel("correlation of gradients", fontsize=12)
        legend_above(right, self.measured, self.theory)
        self.sentence = ""

    def update(self, curve, likeness, correlations, depth, name, color):
        """curve: GradientCurve; likeness: its autocorrelation; correlations: {depth: number}, measured."""
        gradient = curve.gradient - curve.gradient.mean()
        gradient /= gradient.std() or 1.0
        high = max(5.0, step_up(np.abs(gradient).max()))
        set_limits(self.left, y=(-high, high))
        self.curve.set_data(curve.x, gradient)
        self.curve.set_color(color)
        depths = np.array(list(correlations))
        self.measured.set_data(depths, np.clip(list(correlations.values()), 1e-3, None))
        self.theory.set_data(np.arange(1, 11), 0.5 ** np.arange(1, 11))
        kind = "like white noise" if likeness < 0.5 else "still a curve" if likeness > 0.9 else "rough"
        self.sentence = f"{name}, depth {depth}: neighbouring inputs have gradients that correlate by {words(likeness)}: {kind}."
        return [self.curve, self.measured, self.theory]
