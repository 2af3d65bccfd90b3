"""Explorers of notebook 03: LayerNorm, step by step."""

import numpy as np

from .. import controls, experiments, figures
from ..layers import layer_norm
from ..live import live


def drift():
    """How do spread and mean of the activations drift from layer to layer, and what does LayerNorm do?"""
    picture = figures.Drift()

    def update(norm, layers, gain):
        plain, normalized = (
            experiments.activation_spread(layers, n, gain=gain, width=128) for n in (None, "layer")
        )
        theory = gain ** np.arange(layers + 1.0) if norm is None else np.ones(layers + 1)
        seen, rival = (plain, normalized) if norm is None else (normalized, plain)
        return picture.update(seen, rival, theory, norm is not None, gain)

    return live(
        picture.figure,
        update,
        lambda: picture.sentence,
        norm=controls.toggle("after each layer", ("No normalization", None), ("With LayerNorm", "layer")),
        layers=controls.whole("layers", 15, 1, 64),
        gain=controls.number("gain", 1.5, 0.1, 3.0, 0.1),
    )


LESSON = (2, -3, 1, 4)
EXAMPLES = {
    "four numbers": LESSON,
    "mean 87, spread 4312": 87 + 4312 * np.array([-1.5, -0.5, 0.5, 1.5]) / np.sqrt(1.25),
    "all the same": (3, 3, 3, 3),
    "one outlier": (1, 2, 1, 2, 1, 2, 1, 100),
    "very small spread": (2.001, 1.999, 2.0, 2.002),
    "two features": (5, 7),
}
STEP_PAGES = {
    "Input": r"The features of one token, as the layer before left them: $x$",
    "Centered": r"Take the mean of these features away: $x - \mu$. Now the mean is 0.",
    "Normalized": r"Divide by their spread: $\hat{x} = (x - \mu) / \sqrt{\sigma^2 + \varepsilon}$. "
    r"Now the spread is 1, as far as $\varepsilon$ allows.",
    "Scaled and shifted": r"Let the network choose scale and shift: $y = \gamma \hat{x} + \beta$. "
    r"Here $\gamma$ and $\beta$ are one number for all features; in a network each feature has its own.",
}


def layer_norm_steps():
    """What does LayerNorm do to a vector, step by step?"""
    picture = figures.LayerNormSteps()

    def update(step, x, gamma, beta, eps):
        x = np.array(x)
        one, zero = np.ones_like(x), np.zeros_like(x)
        steps = {
            "Input": x,
            "Centered": x - x.mean(),
            "Normalized": layer_norm(x, one, zero, eps),
            "Scaled and shifted": layer_norm(x, gamma * one, beta * one, eps),
        }
        return picture.update(steps, step)

    return live(
        picture.figure,
        update,
        lambda: picture.sentence,
        lambda: picture.details,
        x=controls.Numbers("input x", EXAMPLES),
        gamma=controls.number("γ (scale)", 2.0, -3.0, 3.0, 0.1),
        beta=controls.number("β (shift)", 0.5, -3.0, 3.0, 0.1),
        eps=controls.power("ε", -5, -12, 0),
        step=controls.Tabs(STEP_PAGES),
    )
