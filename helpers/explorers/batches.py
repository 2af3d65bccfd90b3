"""Explorers of notebook 04: statistics over the batch, and what they depend on."""

from collections.abc import Callable

import numpy as np

from .. import controls, exercises, figures, layers
from ..experiments import batches
from ..figures.batches import BATCH, LAYER
from ..figures.drawing import GHOST
from ..live import Live, Told, show
from ..running import Run
from .learner import about, given, only_dx, shaped, unlike

FEATURES = 4
ONE, ZERO = np.ones(FEATURES), np.zeros(FEATURES)


def checked(function):
    """The learner's batch_norm (or the reference), with one sentence where the shape of a result is another."""
    function = given(exercises.batch_norm, function)

    def run(x, gamma, beta, mean, var, training, momentum, eps):
        vectors = (v.copy() for v in (gamma, beta, mean, var))
        results = [np.asarray(r) for r in function(x.copy(), *vectors, training, momentum, eps)]
        shapes, expected = [r.shape for r in results], [x.shape, mean.shape, var.shape]
        if shapes != expected:
            raise Told(
                f"Your batch_norm gave shapes {shapes} for an input of shape {x.shape}; they should be {expected}."
            )
        return results

    return run


def layer_norm(x):
    """x (..., FEATURES) -> its layer_norm, nothing scaled or shifted."""
    return layers.layer_norm(x, ONE, ZERO)


def moving(by, most):
    """The control for how far a number is moved."""
    return controls.number("move its first feature by", by, -most, most, 0.5)


def neighbour(batch_norm: Callable | None = None) -> Live:
    """Move one example of a batch: what happens to the outputs of the others? BatchNorm beside LayerNorm.

    With your own batch_norm the dots are yours, the reference's outputs are dashes.
    """
    exercise = exercises.batch_norm
    picture = figures.Dependence("example", 4.2, yours=batch_norm is not None)
    function = checked(batch_norm)

    def yours(x):
        return function(x, ONE, ZERO, ZERO, ONE, True, 0.1, 1e-5)[0]

    def update(batch, example, move):
        chosen = example - 1
        mine, layer, reference = (
            batches.neighbours_moved(norm, batch, chosen, move)
            for norm in (yours, layer_norm, batches.over_batch)
        )
        changes = [np.delete(after - was, chosen, axis=0) for was, after in (mine, layer, reference)]
        moved = f"The first feature of example {example} is moved by {figures.words(move)}." if move else ""
        others, differ = f"the other {batch - 1} examples", unlike("The outputs", mine[1], reference[1])
        name = f"your {exercise.name}" if differ else "BatchNorm"
        outputs = mine if batch_norm is None else (*mine, reference[1]), layer
        remark = about(exercise, batch_norm) + differ
        return picture.update(moved, outputs, chosen, changes, others, remark, name)

    # With two examples only their order counts, and the other one does not move.
    batch = controls.whole("examples in the batch", 6, 3, len(batches.EXAMPLES))
    example = controls.whole("example", 6, 1, 6)
    controls.at_most(example, batch)
    return show(picture, update, batch=batch, example=example, move=moving(0.0, 10.0))


def future() -> Live:
    """Move one token: which earlier outputs of its sequence change? BatchNorm beside LayerNorm."""
    picture = figures.Dependence("token", 6.4)  # one of 40 numbers comes out as √39 at most
    sequences = np.random.default_rng(0).standard_normal((4, 10, FEATURES))

    def update(token, move):
        now = sequences.copy()
        now[0, token - 1, 0] += move
        outputs = [(norm(sequences), norm(now)) for norm in (batches.over_tokens, layer_norm)]
        changes = [(after - was)[:, : token - 1] for was, after in outputs]
        moved = f"The first feature of token {token} is moved by {figures.words(move)}." if move else ""
        shown = [(was[0], after[0]) for was, after in outputs]
        return picture.update(moved, shown, token - 1, changes, "earlier tokens (of all 4 sequences)")

    return show(
        picture,
        update,
        token=controls.whole("token", 10, 2, 10),
        move=moving(10.0, 20.0),
    )


def lengths() -> Live:
    """Sequences of different length: how many still have a token at a position, how noisy is its mean?"""
    picture = figures.Lengths(batches.LONGEST)

    def update(position, sequences, draw):
        return picture.update(batches.position_statistics(sequences, draw), position)

    return show(
        picture,
        update,
        position=controls.whole("position", 50, 1, batches.LONGEST),
        sequences=controls.toggle("sequences in the batch", 8, 32, 128),
        draw=controls.whole("random tokens no.", 0, 0, 30),
    )


def padding(masked_batch_norm: Callable | None = None) -> Live:
    """Zeros behind the short sequences: counted or masked, what spread do the real tokens come out with?

    With your own masked_batch_norm the masked output is yours.
    """
    exercise = exercises.masked_batch_norm
    picture = figures.Padding(batches.padded_sequences(10)[1].shape)
    function = shaped(exercise, masked_batch_norm)

    def update(masked, shortest, mean):
        x, mask = batches.padded_sequences(shortest)
        x = x + mean * mask[..., None]
        y = function(x, mask, ONE, ZERO, 1e-5) if masked else batches.over_tokens(x)
        reference = exercise.reference(x, mask, ONE, ZERO)
        x, y, reference = (a[..., 0] for a in (x, y, reference))
        remark = about(exercise, masked_batch_norm, masked)
        if masked:
            remark += unlike("The outputs", y, reference, "of real tokens: dashed; of padding: 0")
        return picture.update(x, y, reference, mask, masked, remark)

    return show(
        picture,
        update,
        masked=controls.toggle("padding", ("counted", False), ("masked", True)),
        shortest=controls.whole("tokens of the shortest sequence", 10, 10, batches.LONGEST),
        mean=controls.number("mean of the tokens", 0.0, -3.0, 3.0, 0.5),
    )


NOISE_AT = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)


def small_batches() -> Live:
    """The fewer examples, the noisier mean and variance: what does an output lose?"""
    picture = figures.SmallBatches(NOISE_AT, [batches.batch_noise(size) for size in NOISE_AT])

    def update(batch):
        return picture.update(batches.batch_noise(batch), batch)

    return show(
        picture,
        update,
        batch=controls.stops("examples in a batch", 4, *NOISE_AT),
    )


MOST_STEPS, MOST_DRAWS = 100, 16


def train_and_eval(batch_norm: Callable | None = None) -> Live:
    """Running statistics follow the batches: when do training and evaluation give the same?

    With your own batch_norm both are yours, the reference's running statistics dotted.
    """
    exercise = exercises.batch_norm
    true = batches.STREAM_MEAN[0], batches.STREAM_STD[0]
    picture = figures.TrainAndEval(MOST_STEPS, *true, yours=batch_norm is not None)
    yours = checked(batch_norm)

    def update(steps, momentum, batch, shift, draw):
        stream = batches.stream(MOST_STEPS + MOST_DRAWS, batch)
        seen, new = stream[:steps], stream[MOST_STEPS:] + shift
        kept = batches.running_statistics(yours, seen, momentum)
        settled = new, [k[-1] for k in kept], momentum
        outputs = batches.both_modes(yours, *settled)
        reference = None
        if batch_norm is not None:
            statistics = batches.running_statistics(exercise.reference, seen, momentum)
            reference = [k[:, 0] for k in statistics]
        remark = about(exercise, batch_norm)
        if batch_norm is not None:
            remark += unlike_in(outputs, batches.both_modes(exercise.reference, *settled))
        new, trained, evaluated = (a[..., 0] for a in (new, *outputs))
        shown = [k[:, 0] for k in kept]
        return picture.update(shown, reference, new, trained, evaluated, draw, momentum, remark)

    return show(
        picture,
        update,
        steps=controls.whole("batches seen", 10, 0, MOST_STEPS),
        momentum=controls.number("momentum", 0.1, 0.01, 1.0, 0.01),
        batch=controls.whole("examples in a batch", 8, 2, 64),
        shift=controls.number("new data are shifted by", 0.0, 0.0, 10.0, 0.5),
        draw=controls.whole("new batch no.", 0, 0, MOST_DRAWS - 1),
    )


def unlike_in(outputs, reference):
    """What the sentence adds when the outputs in training, in evaluation, or in both are not the reference's."""
    pairs = zip(("training", "evaluation"), outputs, reference)
    wrong = [mode for mode, y, right in pairs if not np.allclose(y, right, equal_nan=True)]
    return f" Its outputs in {' and in '.join(wrong)} are not the reference's." if wrong else ""


def batch_sizes() -> Run:
    """Train the same network with batches of 2 to 64 and four normalizations; Start and Stop."""
    picture = figures.BatchSizes(batches.BATCH_SIZES)
    return Run(
        picture.figure,
        picture.update,
        batches.compare_batch_sizes,
        batches.comparison_steps(),
        len(batches.COMPARED),
        lambda: picture.sentence,
        epochs=controls.toggle("passes through the data", 2, 8),
    )


NETWORKS = {  # name: (norm, is each layer's input added to its output?, colour)
    "no normalization": (None, False, GHOST),
    "LayerNorm": ("layer", False, LAYER),
    "BatchNorm": ("batch", False, BATCH),
    "BatchNorm and shortcuts": ("batch", True, BATCH),
}


def batch_norm_at_init(batch_norm_backward: Callable | None = None) -> Live:
    """The gradient through freshly made layers with BatchNorm: how much does it grow at each?

    With your own batch_norm_backward the bars of BatchNorm are yours, the reference's a dotted line.
    """
    exercise = exercises.batch_norm_backward
    picture, yours = figures.AtInit(batch_norm_backward is not None), only_dx(exercise, batch_norm_backward)
    written = batch_norm_backward is not None and not exercise.is_blank(batch_norm_backward)

    def update(name, activation, batch):
        norm, residual, color = NETWORKS[name]
        dh = reference = batches.gradient_growth(norm, activation, batch, residual)
        if norm == "batch" and written:
            dh = batches.gradient_growth(norm, activation, batch, residual, backward=yours)
        known = norm == "batch" and activation == "relu" and not residual
        network = f"{figures.capital(name)}, {len(dh) - 1} {activation} layers, {batch} examples"
        remark = about(exercise, batch_norm_backward, norm == "batch")
        remark += unlike("The bars", dh, reference, "dotted")
        growth = batches.RELU_BATCH_NORM_GROWTH if known else None
        return picture.update(dh, reference, network, color, growth, remark)

    return show(
        picture,
        update,
        name=controls.toggle("before each activation", *NETWORKS),
        activation=controls.choice("activation", "relu", "tanh", "linear"),
        batch=controls.choice("examples in the batch", 128, 32, 8),
    )
