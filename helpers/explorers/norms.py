"""Explorers of notebook 03: LayerNorm, step by step."""

from collections.abc import Callable

import numpy as np

from .. import controls, exercises, experiments, figures, layers
from ..experiments import precision
from ..layers import layer_norm
from ..live import Live, Told, show
from ..running import Run
from .gradients import EVERY, STEPS, side_by_side
from .learner import about, about_all, given, shaped

NORMAL, UNIFORM = "128 features, past 100", "16 features, W between −1 and 1"


def _matrices(network, layers, gain, draw):
    if network == UNIFORM:
        return experiments.uniform_matrices(layers, seed=draw)
    return [f.layers[0].W for f in experiments.Stack(layers, gain=gain, width=128, seed=draw).branches]


def drift(layer_norm: Callable | None = None) -> Live:
    """How do spread and mean of the activations drift from layer to layer, and what does LayerNorm do?

    With your own layer_norm the bars are yours, the reference a dotted line behind them.
    """
    picture = figures.Drift()
    exercise = exercises.layer_norm
    yours = shaped(exercise, layer_norm)

    def measured(network, layers, gain, draw, norm):
        Ws = _matrices(network, layers, gain, draw)
        one, zero = np.ones(len(Ws[0])), np.zeros(len(Ws[0]))
        run = norm and (lambda h: norm(h, one, zero, 1e-5))
        return experiments.spread_through(Ws, run, seed=draw, unequal=layer_norm is not None)

    def update(norm, network, layers, gain, draw):
        gain = gain if network == NORMAL else np.sqrt(16 / 3)
        setting = network, layers, gain, draw
        seen, rival = measured(*setting, yours if norm else None), measured(*setting, None)
        start = 1.0 if layer_norm is None else seen.std[0]  # with theirs, the rows differ in size
        theory = np.ones(layers + 1) if norm else start * gain ** np.arange(layers + 1.0)
        if layer_norm is None or not norm:
            rival = rival if norm else measured(*setting, exercise.reference)
            return picture.update(seen, rival, theory, norm, gain)
        reference = measured(*setting, exercise.reference)
        return picture.update_yours(seen, reference, theory, gain, about(exercise, layer_norm))

    norm = controls.toggle("after each layer", ("No normalization", False), ("With LayerNorm", True))
    norm.value = layer_norm is not None  # begin with what is theirs
    network = controls.choice("network", NORMAL, UNIFORM)
    layers, gain = controls.whole("layers", 15, 1, 64), controls.number("gain", 1.5, 0.1, 3.0, 0.1)
    controls.only_when(network, {NORMAL: (gain,)}, room=True)
    network.observe(lambda change: layers.set_trait("value", 15 if change["new"] == NORMAL else 10), "value")
    draw = controls.whole("random weights no.", 0, 0, 30)
    return show(
        picture, update,
        norm=norm, network=network, layers=layers, gain=gain, draw=draw,
    )  # fmt: skip


LESSON = (2, -3, 1, 4)
EXAMPLES = {
    "four numbers": LESSON,
    "mean 87, spread 4312": 87 + 4312 * np.array([-1.5, -0.5, 0.5, 1.5]) / np.sqrt(1.25),
    "all the same": (3, 3, 3, 3),
    "one outlier": (1, 2, 1, 2, 1, 2, 1, 100),
    "two features": (5, 7),
}
STEP_PAGES = {
    "Input": r"The features of one token, as the layer before left them: $x$",
    "Centred": r"Take the mean of these features away: $x - \mu$. Now the mean is 0.",
    "Normalized": r"Divide by their spread: $\hat{x} = (x - \mu) / \sqrt{\sigma^2 + \varepsilon}$. "
    r"Now the spread is 1, as far as $\varepsilon$ allows.",
    "Scaled and shifted": r"Let the network choose scale and shift: $y = \gamma \hat{x} + \beta$. "
    r"Here $\gamma$ and $\beta$ are one number for all features; in a network each feature has its own.",
}


def _centred(x):
    """x - mean, without what rounding leaves: 0.1 is not the mean of three times 0.1."""
    return figures.settled(x - x.mean(), np.abs(x).max())


def layer_norm_steps(example: str = "four numbers") -> Live:
    """What does LayerNorm do to a vector, step by step? Begins with one of the EXAMPLES."""
    picture = figures.LayerNormSteps()

    def steps_of(x, gamma, beta, eps):
        one, zero, centred = np.ones_like(x), np.zeros_like(x), _centred(x)
        return {
            "Input": x,
            "Centred": centred,
            "Normalized": layer_norm(centred, one, zero, eps),
            "Scaled and shifted": layer_norm(centred, gamma * one, beta * one, eps),
        }

    def update(step, x, entry, move, gamma, beta, eps):
        x = np.array(x)
        moved, chosen = x.copy(), min(entry, len(x)) - 1
        moved[chosen] += move * (figures.spread_of(x) or 1.0)
        steps = steps_of(moved, gamma, beta, eps)
        before = steps_of(x, gamma, beta, eps) if move else steps
        return picture.update(steps, step, before, chosen, (gamma, beta, eps))

    x = controls.Numbers("input x", {example: EXAMPLES[example], **EXAMPLES})
    entry = controls.whole("chosen entry", min(4, len(x.value)), 1, len(x.value))
    x.observe(lambda change: entry.set_trait("max", len(change["new"])), "value")
    return show(
        picture,
        update,
        x=x,
        entry=entry,
        move=controls.number("move it by so many σ of the input", 0.0, -10.0, 10.0, 0.5),
        gamma=controls.number("γ (scale)", 2.0, -3.0, 3.0, 0.1),
        beta=controls.number("β (shift)", 0.5, -3.0, 3.0, 0.1),
        eps=controls.power("ε", -5, -12, 0),
        step=controls.Tabs(STEP_PAGES),
    )


def geometry() -> Live:
    """Three features in space: LayerNorm goes to a plane, then to a circle; RMSNorm to a sphere."""
    picture = figures.Geometry()
    one, zero = np.ones(3), np.zeros(3)

    def update(x1, x2, x3, turn, tilt):
        x = np.array([x1, x2, x3])
        centred = _centred(x)
        out = layer_norm(centred, one, zero, 1e-12), layers.rms_norm(x, one, 1e-12)
        return picture.update(x, centred, *out, turn, tilt)

    return show(
        picture,
        update,
        x1=controls.number("x₁", 1.5, -1.5, 1.5, 0.1),
        x2=controls.number("x₂", -1.5, -1.5, 1.5, 0.1),
        x3=controls.number("x₃", 1.2, -1.5, 1.5, 0.1),
        turn=controls.whole("turn, degrees", 20, 0, 360),
        tilt=controls.whole("look down by, degrees", 25, 0, 90),
    )


def two_tokens() -> Live:
    """Token b is token a, scaled and shifted: can LayerNorm, γ and β tell them apart?"""
    picture = figures.TwoTokens()

    def update(scale, shift, gamma, beta):
        a = np.array([1.0, 2.0, 3.0, 4.0])
        inputs = np.array([a, scale * a + shift])
        return picture.update(inputs, layer_norm(inputs, np.full(4, gamma), np.full(4, beta), 1e-5))

    return show(
        picture,
        update,
        scale=controls.number("b: scale", 1.0, -3.0, 3.0, 0.5),
        shift=controls.number("b: shift", 3.0, -5.0, 5.0, 0.5),
        gamma=controls.number("γ (scale)", 1.0, -3.0, 3.0, 0.1),
        beta=controls.number("β (shift)", 0.0, -3.0, 3.0, 0.1),
    )


def small_spread() -> Live:
    """A row with a small spread: how far does ε let LayerNorm go, and what becomes of a gradient?"""
    picture = figures.SmallSpread()
    one, zero = np.ones(4), np.zeros(4)
    row, across = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])

    def update(spread, eps):
        x = spread * row
        dx = layers.layer_norm_backward(across, x, one, eps)[0]  # no part of `across` is taken away
        out = layer_norm(x, one, zero, eps).std()
        return picture.update(spread, eps, out, np.linalg.norm(dx) / np.linalg.norm(across))

    return show(
        picture,
        update,
        spread=controls.power("spread σ of the input", -2, -6, 2),
        eps=controls.power("ε", -8, -12, 0),  # at −5 the picture would answer the prediction before it
    )


def when_numbers_run_out() -> Live:
    """LayerNorm in half and single precision: where does it break, and does it say so?"""
    picture = figures.NumbersRunOut()

    def update(dtype, d, spread, mean):
        return picture.update(
            precision.precision_scan(dtype, d),
            precision.SPREADS,
            precision.MEANS,
            precision.overflow_limit(dtype, d),
            dtype,
            d,
            (spread, precision.output_std(dtype, d, spread)),
            (mean, *(float(ratio[0]) for ratio in precision.variance_ratios(dtype, d, np.array([mean])))),
        )

    return show(
        picture,
        update,
        dtype=controls.toggle("numbers", "float16", "float32"),
        d=controls.choice("features d", 512, 64, 4096),
        spread=controls.whole("spread σ", 8, 1, 400),
        mean=controls.power("mean", 1.5, 0, 5),
    )


def with_norm(forward, backward, rng=None):
    """A plain network of 8 layers whose every LayerNorm runs these two functions; with rng, γ and β are random."""
    network = experiments.Classifier(8, norm="layer")
    for leaf in experiments.leaves(network):
        if isinstance(leaf, layers.LayerNorm):
            _run_by(leaf, forward, backward)
            if rng:
                leaf.gamma, leaf.beta = (
                    rng.uniform(0.5, 1.5, leaf.gamma.shape),
                    rng.normal(0, 0.5, leaf.beta.shape),
                )
    return network


def slopes(gaps):
    """What the sentence says of the slopes promised and measured."""
    said = " The slopes your gradient promises and those measured"
    if all(gap < 1e-3 for gap in gaps.values()):
        return f"{said} agree (weights, γ, β)."
    return f"{said}: {', '.join(f'{name} {_apart(gap)}' for name, gap in gaps.items())}."


def _apart(gap):
    if np.isnan(gap):
        return "are no numbers"
    return "agree" if gap < 1e-3 else f"differ by {figures.words(100 * gap)} %"


def _run_by(leaf, forward, backward):
    def run_forward(x):
        leaf.x = x
        return forward(x, leaf.gamma, leaf.beta, leaf.eps)

    def run_backward(dy):
        dx, leaf.dgamma, leaf.dbeta = grads = backward(dy, leaf.x, leaf.gamma, leaf.eps)
        shapes = tuple(np.shape(grad) for grad in grads)
        if shapes != (leaf.x.shape, leaf.gamma.shape, leaf.gamma.shape):
            raise Told(f"Your layer_norm_backward gave shapes {shapes} for an input of shape {leaf.x.shape}.")
        return dx

    leaf.forward, leaf.backward = run_forward, run_backward


def train_with(layer_norm: Callable | None = None, layer_norm_backward: Callable | None = None) -> Run:
    """Train a small network with your LayerNorm in it, beside the same network with the reference."""
    picture = figures.YourTraining(STEPS)
    norm, back = exercises.layer_norm, exercises.layer_norm_backward
    pairs = {
        "yours": (shaped(norm, layer_norm), given(back, layer_norm_backward)),
        "the reference": (norm.reference, back.reference),
    }
    remark = about_all((norm, layer_norm), (back, layer_norm_backward))
    checked = [""]  # γ = 1 and β = 0, as they begin, would hide a wrong use of them

    def work(lr):
        networks = {name: with_norm(*pair) for name, pair in pairs.items()}
        unsettled = with_norm(*pairs["yours"], np.random.default_rng(0))
        checked[0] = slopes(experiments.gradient_gaps(unsettled, *experiments.spirals()))
        yield from side_by_side(networks, lr)

    return Run(
        picture.figure,
        picture.update,
        work,
        STEPS // EVERY,
        3,
        lambda: picture.sentence + checked[0] + remark,
        lr=controls.choice("learning rate", 0.02, 0.01),
    )
