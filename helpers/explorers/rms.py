"""Explorers of notebook 05: RMSNorm."""

import functools
from collections.abc import Callable

import numpy as np

from .. import controls, exercises, experiments, figures, layers
from ..experiments import cost as costs
from ..experiments import precision
from ..experiments.invariance import CHANGES
from ..live import Live, show
from ..running import Run
from .learner import about, only_dx, shaped, unlike

EXAMPLES = {
    "four numbers": (2, -3, 1, 4),
    "mean 0": (1, -4, 0, 3),
    "all the same": (3, 3, 3, 3),
    "one outlier": (1, 2, 1, 2, 1, 2, 1, 100),
    "after a ReLU": (0, 0.4, 0, 1.5, 0.2, 0, 0.9, 0),
}
OFFSETS = np.linspace(-20, 20, 161)


def _of_two_rows(exercise, function):
    """The function on a vector (d,): it is given a second row too, so that mixed rows are seen."""
    function = shaped(exercise, function)

    def run(x, gain, eps):
        return function(np.array([x, 3 * x + 1]), np.full(len(x), gain), eps)[0]

    return run


def _whose(plain, exercise, function, reference):
    """How a picture calls its RMSNorm, what it draws beside it (only beside a learner's), and a remark."""
    if function is None or exercise.is_blank(function):
        return plain, None, about(exercise, function)
    return f"your {exercise.name}", reference, ""


def two_norms(rms_norm: Callable | None = None, rms_norm_offset: Callable | None = None) -> Live:
    """The same vector through LayerNorm and RMSNorm, and what an offset does; with your own functions, yours.

    Between the gains γ and 1 + w one can choose when rms_norm_offset is given.
    """
    plain, offset_gain = exercises.rms_norm, exercises.rms_norm_offset
    picture = figures.TwoNorms(rms_norm is not None or rms_norm_offset is not None)
    gains = {"γ": (plain, rms_norm), "1 + w": (offset_gain, rms_norm_offset)}

    def update(x, offset, gain, gamma, w, eps):
        exercise, function = gains[gain]
        parameter, gamma = (gamma, gamma) if gain == "γ" else (w, 1 + w)
        typed = np.array(x)
        x = typed + offset
        one = np.full(len(x), gamma)
        rms, reference = (
            _of_two_rows(exercise, one_of)(x, parameter, eps) for one_of in (function, exercise.reference)
        )
        offsets = np.sort([*OFFSETS, np.clip(-typed.mean(), -20, 20)])  # where the two agree, too
        moved = typed + offsets[:, None]
        layer, *layers_moved = layers.layer_norm(np.vstack([x, moved]), one, 0 * one, eps)
        apart = offsets, np.abs(layers_moved - layers.rms_norm(moved, one, eps)).max(axis=1)
        name, beside, remark = _whose("RMSNorm", exercise, function, reference)
        return picture.update(x, offset, eps, layer, rms, name, beside, apart, remark)

    gain = controls.toggle("gain", *gains)
    gamma = controls.number("γ", 1.0, -1.0, 3.0, 0.1)
    w = controls.number("w", 0.0, -2.0, 2.0, 0.1)
    controls.only_when(gain, {"γ": (gamma,), "1 + w": (w,)})
    if rms_norm_offset is None:
        gain.layout.display = "none"  # what 1 + w is good for comes with that exercise
    else:
        gain.value = "1 + w"  # begin with what is theirs
    return show(
        picture, update,
        x=controls.Numbers("input x", EXAMPLES),
        offset=controls.number("add to every number", 0.0, -20.0, 20.0, 0.5),
        gain=gain, gamma=gamma, w=w,
        eps=controls.power("ε", -6, -12, 0),
    )  # fmt: skip


def what_the_gradient_loses(rms_norm_backward: Callable | None = None) -> Live:
    """RMSNorm's backward pass on two features, and on eight: which directions does it take away?"""
    exercise = exercises.rms_norm_backward
    picture = figures.OneDirection(rms_norm_backward is not None)
    rng = np.random.default_rng(0)
    direction = rng.standard_normal(8) + 0.5
    direction /= np.sqrt((direction**2).mean())

    mine, reference = only_dx(exercise, rms_norm_backward), only_dx(exercise, None)
    of_layer_norm = only_dx(exercises.layer_norm_backward, None)

    def sizes(backward, size, eps, divisor):
        x = np.tile(size * direction, (8, 1))
        return divisor * np.linalg.svd(backward(np.eye(8), x, np.ones(8), eps), compute_uv=False)

    def update(turn, size, arrives, eps):
        to = np.deg2rad([turn, arrives])
        x, dy = size * np.array([np.cos(to[0]), np.sin(to[0])]), np.array([np.cos(to[1]), np.sin(to[1])])
        x *= np.sqrt(2)
        rms, std = np.sqrt(size**2 + eps), np.sqrt((size * direction).var() + eps)
        dx = mine(dy[None], x[None], np.ones(2), eps)[0]
        kept, expected = (sizes(backward, size, eps, rms) for backward in (mine, reference))
        name, beside, remark = _whose("RMSNorm's backward pass", exercise, rms_norm_backward, expected)
        remark += unlike("The bars", kept, expected, "circles")
        layer = sizes(of_layer_norm, size, eps, std)
        return picture.update(x, x / rms, dy, dx, layer, kept, name, beside, remark)

    return show(
        picture, update,
        turn=controls.whole("direction of x, degrees", 30, 0, 360),
        size=controls.number("rms of x", 1.5, 0.5, 1.8, 0.1),
        arrives=controls.whole("direction of dy, degrees", 75, 0, 360),
        eps=controls.power("ε", -6, -12, 0),
    )  # fmt: skip


def what_leaves_it_unchanged() -> Live:
    """Rescale or shift weights, data, one row: which norm's output does not notice? Measured, beside the papers."""
    picture = figures.Invariance()
    visited = set()  # the table fills as changes are looked at: it must not answer before

    def update(change, factor, shift, eps):
        visited.add(change)
        return picture.update(experiments.invariance(factor, shift, eps), change, visited, factor)

    change = controls.toggle("change", *CHANGES)
    factor = controls.toggle("factor a", *((f"× {figures.words(a)}", a) for a in (2.5, 0.5, 10.0, -1.0)))
    shift = controls.number("size of v", 1.0, 0.1, 10.0, 0.1)
    with_a, with_v = (tuple(name for name in CHANGES if size in name.split()) for size in "av")
    controls.only_when(change, {with_a: (factor,), with_v: (shift,)})
    return show(
        picture, update,
        change=change, factor=factor, shift=shift,
        eps=controls.power("ε", -6, -12, 0),
    )  # fmt: skip


def cost() -> Run:
    """What does a norm cost? Operations counted; time measured on this machine when you press Start."""
    picture = figures.Cost()

    def work(d):
        yield costs.counts(d), None, d  # no time in what is shown at once: it differs from run to run
        for seen in costs.timings(d):
            yield costs.counts(d), costs.saved(seen), d

    return Run(
        picture.figure,
        lambda state: picture.update(*state),
        work,
        costs.REPEATS + 1,
        1,
        lambda: picture.sentence,
        d=controls.choice("features d", 512, 64, 256, 1024),
    )


def casting() -> Live:
    """Different numbers around a mean, normalized and stored in half precision: how many are left?"""
    picture = figures.Kept()
    one, zero = np.ones(1), np.zeros(1)
    norms = (
        functools.partial(layers.layer_norm, gamma=one, beta=zero),
        functools.partial(layers.rms_norm, gamma=one),
    )

    def update(mean, dtype):
        kept = [precision.kept_in_half(norm, mean, dtype) for norm in norms]
        return picture.update(kept[0][0], [y for _, y in kept], mean, dtype)

    return show(
        picture, update,
        mean=controls.power("mean", 0, 0, 4),
        dtype=controls.toggle("x is given in", "float32", "float16"),
    )  # fmt: skip
