"""Explorers of notebook 00."""

import numpy as np

from .. import controls, experiments, figures
from ..figures.drawing import WITH, WITHOUT
from ..live import Live, show


def survival() -> Live:
    """What is left of a signal after 50 layers? One slider, one picture: does everything work here?"""
    picture = figures.Survival()
    kept = controls.number("share that each layer keeps", 0.9, 0.5, 1.0, 0.01)
    return show(picture, picture.update, kept=kept)


CORNERS = {  # (residual, normalization): the network's name and its wiring
    (False, False): ("No residuals, no normalization", "plain"),
    (True, False): ("Residuals, no normalization", "residual"),
    (False, True): ("No residuals, LayerNorm after each block", "plain + norm"),
    (True, True): ("Residuals, LayerNorm before each branch", "pre-norm"),
}


def corners(depth=50):
    """The four networks of `two_switches`: {(residual, norm): (name, spread, gradients)}.

    Each block has two matrices with a ReLU between them, gain 1.
    """
    kind: dict = {"activation": "relu", "gain": 1.0, "branch_layers": 2}
    seen: dict = {}
    for (residual, norm), (name, wiring) in CORNERS.items():
        spread = experiments.activation_spread(depth, "layer" if norm else None, residual, **kind)
        seen[residual, norm] = name, spread, experiments.gradient_norms(depth, wiring, **kind)
    return seen


def two_switches() -> Live:
    """A network of 50 blocks, with and without residuals, with and without normalization."""
    seen = corners()
    values = np.concatenate([[*spread.std, *gradients.dh] for _, spread, gradients in seen.values()])
    picture = figures.TwoSwitches(values.min(), values.max())
    visited = dict.fromkeys(
        name for name, *_ in seen.values()
    )  # filled as the switches are moved, not before

    def update(residual, norm):
        name, spread, gradients = seen[residual, norm]
        visited[name] = spread.std[-1], gradients.ratio
        color = WITH if residual or norm else WITHOUT
        return picture.update(spread.std, gradients.dh, name, color, visited)

    return show(
        picture,
        update,
        residual=controls.toggle("residual connections", ("off", False), ("on", True)),
        norm=controls.toggle("normalization", ("off", False), ("on", True)),
    )
