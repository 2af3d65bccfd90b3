"""Explorers of notebook 02: the gradient on its way back."""

import functools
from collections.abc import Callable

import numpy as np

from .. import controls, exercises, experiments, figures
from ..figures.drawing import WITH, WITHOUT
from ..live import Live, Told, show
from ..running import Run
from .learner import about_all, given


def gradient_bars() -> Live:
    """How much of the gradient arrives at each layer? With residuals and without, measured or toy."""
    picture = figures.GradientBars()
    residual, layers, gain, scale = _switches()
    source = controls.choice("model", "measured network", "toy model")
    activation = controls.choice("activation", "tanh", "relu", "linear")
    factor = controls.number("factor f′ of each layer", 0.9, -2.0, 2.0, 0.05)
    controls.only_when(source, {"measured network": (activation, gain), "toy model": (factor,)})

    def measured(layers, residual, activation, gain):
        wiring = "residual" if residual else "plain"
        return experiments.gradient_norms(layers, wiring, activation=activation, gain=gain, weights=False).dh

    def update(residual, layers, source, activation, gain, factor, scale):
        if source == "toy model":
            dh, rival = (experiments.toy_gradient_norms(layers, factor, r) for r in (residual, not residual))
            network = f"toy model, {figures.count(layers, 'layer')}, f′ = {figures.words(factor)}"
        else:
            dh, rival = (measured(layers, r, activation, gain) for r in (residual, not residual))
            network = f"{figures.count(layers, activation + ' layer')}, gain {figures.words(gain)}"
        return picture.update(dh, rival, residual, network, scale)

    return show(
        picture,
        update,
        residual=residual,
        layers=layers,
        source=source,
        scale=scale,  # before those that come and go
        activation=activation,
        gain=gain,
        factor=factor,
    )


def _switches():
    return (
        controls.toggle("network", ("Without residuals", False), ("With residuals", True)),
        controls.whole("layers", 32, 1, 64),
        controls.number("gain", 0.8, 0.1, 3.0, 0.1),
        controls.toggle("axis", ("logarithmic", "log"), "linear"),
    )


def your_gradient_bars(backprop_chain: Callable | None = None, grad_norms: Callable | None = None) -> Live:
    """The gradient at each layer of a tanh network, by your two functions; the reference as a dotted line."""
    picture = figures.GradientBars()
    chain, norms = exercises.backprop_chain, exercises.grad_norms

    def bars(backward, lengths, residual, layers, gain):
        Ws = [f.layers[0].W.copy() for f in experiments.Stack(layers, gain=gain).branches]  # theirs to change
        data = np.random.default_rng([0, 0])
        x, dout = data.standard_normal((2, 32, 64))
        dhs, _ = backward(x, Ws, dout / np.linalg.norm(dout), residual)
        return np.array(lengths(dhs, dhs)[0], dtype=float)

    def update(residual, layers, gain, scale):
        setting = residual, layers, gain
        functions = given(chain, backprop_chain), given(norms, grad_norms)
        yours = reference = bars(chain.reference, norms.reference, *setting)
        if functions != (chain.reference, norms.reference):
            yours = bars(*functions, *setting)
        if yours.shape != reference.shape:
            raise Told(
                f"Your functions give {yours.size} lengths; with layer 0 there should be {reference.size}."
            )
        network = f"{figures.count(layers, 'tanh layer')}, gain {figures.words(gain)}"
        remark = about_all((chain, backprop_chain), (norms, grad_norms))
        return picture.update(yours, reference, residual, network, scale, "the reference", remark)

    residual, layers, gain, scale = _switches()
    residual.value = True  # a forgotten shortcut shows only where there is one
    return show(
        picture,
        update,
        residual=residual,
        layers=layers,
        gain=gain,
        scale=scale,
    )


def which_gradient() -> Live:
    """Gradients of activations and of weights, block by block: they tell different stories."""
    picture = figures.WhichGradient()

    def update(wiring, layers, gain):
        # Two layers in a branch, and the gradients of the weights too: so half the usual rows.
        kind = {"activation": "relu", "gain": gain, "branch_layers": 2, "batch": 16}
        seen = experiments.gradient_norms(layers, wiring, **kind)
        network = f"{figures.capital(wiring)}, {figures.count(layers, 'block')}, gain {figures.words(gain)}"
        return picture.update(seen, network)

    return show(
        picture,
        update,
        wiring=controls.choice("network", "residual", "plain", "pre-norm"),
        layers=controls.whole("blocks", 32, 2, 64),
        gain=controls.number("gain", 1.4, 0.1, 3.0, 0.1),
    )


SHATTERED = {  # words in the menu: the experiment's name, colour
    "plain": ("plain", WITHOUT),
    "plain, with BatchNorm": ("plain + batch norm", WITHOUT),
    "residual, with BatchNorm": ("residual + batch norm", WITH),
    "residual, with LayerNorm": ("residual + layer norm", WITH),
}
DEPTHS = (1, 2, 4, 8, 16, 24, 50)


@functools.lru_cache(maxsize=8)
def correlations(kind):
    """Correlation of the gradients at different random inputs, for networks of several depths."""
    return dict(zip(DEPTHS, np.abs(experiments.gradient_correlations(kind, DEPTHS))))


def shattered() -> Live:
    """The gradient as a function of the input: a smooth curve when shallow, noise when deep."""
    picture = figures.Shattered()
    for kind, _ in SHATTERED.values():  # now, so that a change of the network need not wait for it
        correlations(kind)
        experiments.gradient_curve(kind, DEPTHS[-1])

    def update(network, depth):
        kind, color = SHATTERED[network]
        curve = experiments.gradient_curve(kind, depth)
        likeness = experiments.autocorrelation(curve.gradient)
        name = figures.capital(network)
        return picture.update(curve, likeness, correlations(kind), depth, name, color)

    return show(
        picture,
        update,
        network=controls.choice("network", *SHATTERED),
        depth=controls.whole("depth", 1, 1, DEPTHS[-1]),
    )


STEPS, EVERY = 400, 20


def side_by_side(networks, lr):
    """Train networks, {name: network}, on the spiral; yields {name: list of Progress} after every 20 steps."""
    x, y = experiments.spirals()
    training = {
        name: experiments.train(network, x, y, steps=STEPS, every=EVERY, lr=lr)
        for name, network in networks.items()
    }
    return together(training, STEPS // EVERY)


def together(training, rounds):
    """Go on with {name: generator of Progress}, one step each a round; yields {name: list of Progress}."""
    runs: dict[str, list] = {name: [] for name in training}
    for _ in range(rounds):
        for name, one in training.items():
            runs[name] += [progress for progress in [next(one, None)] if progress]
        yield runs


def compete(depth, lr):
    """Train a shallow, a deep and a deep residual network side by side."""
    networks = {
        "shallow": experiments.Classifier(4),
        "deep": experiments.Classifier(depth),
        "deep residual": experiments.Classifier(depth, "residual", "layer"),
    }
    return side_by_side(networks, lr)


def deep_or_shallow() -> Run:
    """Train a shallow, a deep and a deep residual network on the same data: which fits it best?"""
    picture = figures.LossCurves(STEPS)
    return Run(
        picture.figure,
        picture.update,
        compete,
        STEPS // EVERY,
        2,  # after one more the picture would answer the prediction before it
        lambda: picture.sentence,
        depth=controls.choice("layers of the deep networks", 40, 20, 10),
        lr=controls.choice("learning rate", 0.02, 0.01, 0.003),
    )
