"""Explorers of notebook 01: one residual connection, and many in a row."""

import functools
from collections.abc import Callable

import numpy as np

from .. import controls, exercises, experiments, figures
from ..figures.drawing import WITH, WITHOUT
from ..layers import residual_backward as reference_backward
from ..live import Live, show
from .learner import about, given, shaped

NETWORK = ("Without residuals", False), ("With residuals", True)
X, F = np.array([2.0, 1.0]), np.array([0.3, 0.1])


def add_the_input(residual_block: Callable | None = None) -> Live:
    """Two vectors and their sum; with your own residual_block, the sum is yours."""
    picture = figures.TwoVectors()
    block = shaped(exercises.residual_block, residual_block)

    def update(residual, size):
        f = size * F
        y = block(X, lambda x: f) if residual else f
        return picture.update(X, f, y, residual, about(exercises.residual_block, residual_block, residual))

    return show(
        picture,
        update,
        residual=controls.toggle("residual connection", ("without", False), ("with", True)),
        size=controls.number("size of f", 1.0, 0.0, 10.0, 0.1),
    )


DEEPEST = 64


@functools.lru_cache(maxsize=64)
def similarity(wiring: str, gain: float) -> np.ndarray:
    """Mean cosine with the input after 0 ... DEEPEST layers: a shallower network is the beginning of a deeper one."""
    return experiments.input_similarity(DEEPEST, wiring, gain=gain)


def what_is_left(residual_block: Callable | None = None) -> Live:
    """How much does the stream still look like the input, layer by layer? Yours in the bars, if given."""
    picture = figures.Similarity()
    block = shaped(exercises.residual_block, residual_block)

    def yours(layers, gain):
        network = experiments.Stack(layers, gain=gain)
        hs = [np.random.default_rng([0, 0]).standard_normal((32, 64))]
        for branch in network.branches:
            hs.append(block(hs[-1], branch))
        return experiments.cosines_with_first(hs)

    def update(residual, layers, gain):
        wirings = ("residual", "plain") if residual else ("plain", "residual")
        cosine, rival = (similarity(wiring, gain)[: layers + 1] for wiring in wirings)
        name = None
        if residual and residual_block is not None:
            cosine, rival, name = yours(layers, gain), cosine, "the reference"
        network = f"tanh, gain {figures.words(gain)}"
        remark = about(exercises.residual_block, residual_block, residual)
        return picture.update(cosine, rival, residual, network, name, remark)

    residual = controls.toggle("network", *NETWORK)
    residual.value = residual_block is not None  # begin with what is theirs
    return show(
        picture,
        update,
        residual=residual,
        layers=controls.whole("layers", 20, 1, DEEPEST),
        gain=controls.number("gain", 1.0, 0.1, 3.0, 0.1),
    )


def one_plus_slope() -> Live:
    """The gradient through x + f(x) is 1 + f'(x): what becomes of it after many blocks?"""
    picture = figures.SlopeProduct()
    return show(
        picture,
        picture.update,
        slope=controls.number("slope f′", 0.1, -2.0, 2.0, 0.01),
        depth=controls.whole("blocks", 10, 1, 100),
    )


def gradient_through_blocks(residual_backward: Callable | None = None) -> Live:
    """The gradient on its way back through tanh blocks, one residual_backward after the other."""
    picture = figures.GradientBars(unit="block")
    backward = given(exercises.residual_backward, residual_backward)

    def norms(one_backward, layers, gain):
        network = experiments.Stack(layers, "residual", gain=gain)
        data = np.random.default_rng([0, 0])
        hs = network.forward(data.standard_normal((32, 64)))
        dh = data.standard_normal((32, 64))
        dhs = [dh / np.linalg.norm(dh)]
        for h, branch in zip(reversed(hs[:-1]), reversed(network.branches)):
            dhs.append(one_backward(dhs[-1], h, branch.layers[0].W.copy())[0])
        return np.array([np.linalg.norm(dh) for dh in reversed(dhs)])

    def update(layers, gain):
        dh = reference = norms(reference_backward, layers, gain)
        if backward is not reference_backward:
            dh = norms(backward, layers, gain)
        network = f"{figures.count(layers, 'tanh block')}, gain {figures.words(gain)}"
        remark = about(exercises.residual_backward, residual_backward)
        return picture.update(dh, reference, True, network, "log", "the reference", remark)

    return show(
        picture,
        update,
        layers=controls.whole("blocks", 16, 1, 64),
        gain=controls.number("gain", 1.0, 0.1, 3.0, 0.1),
    )


TRAINED: dict[str, tuple] = {  # name: kind of network, colour
    "Plain network, 10 blocks": ({"depth": 10}, WITHOUT),
    "Residual network, 20 blocks": ({"depth": 40, "kind": "residual", "norm": "layer"}, WITH),
}


def delete_a_layer() -> Live:
    """Delete one block of a trained network: a plain network is ruined, a residual one hardly notices."""
    picture = figures.Deletions()
    chance = experiments.chance_error(experiments.spirals()[1])
    for kind, _ in TRAINED.values():
        experiments.trained_lesions(**kind)

    def update(name, deleted):
        kind, color = TRAINED[name]
        seen = experiments.trained_lesions(**kind)
        return picture.update(seen, chance, deleted, name, color)

    name = controls.toggle("network", *TRAINED)
    deleted = controls.whole("delete block (0: none)", 0, 0, 20)
    controls.at_most(deleted, name, lambda name: len(experiments.trained_lesions(**TRAINED[name][0]).without))
    return show(picture, update, name=name, deleted=deleted)


def paths() -> Live:
    """Of all the paths through a residual network, which carry the gradient?"""
    picture = figures.Paths()
    kinds: dict[str, dict] = {
        "LayerNorm before each branch": {"norm": "layer"},
        "no normalization": {"norm": None},
        "branches scaled by 1/√L": {"norm": None, "scaled": True},
    }

    def update(kind, depth):
        seen = experiments.gradient_by_path_length(depth, **kinds[kind])
        return picture.update(seen, figures.capital(kind))

    return show(
        picture,
        update,
        kind=controls.choice("branches", *kinds),
        depth=controls.whole("blocks", 54, 1, 54),  # as many as Veit et al. had
    )
