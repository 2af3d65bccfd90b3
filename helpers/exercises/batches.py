"""batch_norm and masked_batch_norm."""

from dataclasses import replace

import numpy as np

from .. import layers
from .comparing import alike, close
from .core import Exercise, Remark
from .mistakes.batches import ALONE_IN_BATCH, BATCH, MASKED
from .mistakes.normalizing import SHARED, SHIFT, VARIANCE
from .normalizing import AFFINE, NAN, by_statistics, spread_of
from .norms import FREQUENT, half, single, some_negative
from .slips import Slip, Space, read

# ------------------------------------------------------------------------------ inputs


def channels(*shape, scale=1.0):
    """(N, C, ...): channels, examples and positions that all differ in mean and scale."""
    r = np.random.default_rng(21)
    per_channel = np.arange(shape[1]).reshape(1, -1, *[1] * (len(shape) - 2))
    per_example = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return (
        r.standard_normal(shape) * (0.5 + 0.6 * per_channel) + 1.3 * per_channel + 0.4 * per_example - 1
    ) * scale


def state(c):
    """gamma, beta, running_mean, running_var: four vectors that cannot be taken for one another."""
    r = np.random.default_rng(31)
    return r.uniform(0.5, 2, c), r.uniform(0.2, 1, c), r.uniform(-1, 1, c), r.uniform(0.3, 3, c)


def _probe(*shape, training=True, momentum=0.1, eps=1e-5, scale=1.0):
    return (channels(*shape, scale=scale), *state(shape[1]), training, momentum, eps)


PROBES = [
    _probe(4, 3),
    _probe(4, 3, training=False),
    _probe(2, 4),
    _probe(4, 4),
    _probe(4, 4, training=False),
    _probe(6, 4, momentum=0.3),
    _probe(6, 4, scale=2e-3),
    _probe(6, 4, eps=0.5),
    _probe(6, 4, eps=0.5, training=False),
    _probe(3, 4, 5),
    _probe(3, 4, 4),
    _probe(3, 4, 4, training=False),
    _probe(2, 3, 4, 5),
    _probe(2, 3, 4, 5, training=False),
]
for _eps in (1e-5, 0.5):  # a flat channel, a faint one, and running variances to match, one of them 0
    _x, _state = channels(4, 3, scale=1e-3), list(state(3))
    _x[:, 0], _x[:, 1] = 2.0, 1e-6 * _x[:, 1]
    _state[3] = np.array([0.0, 1e-12, 1e-6])
    PROBES += [(_x, *_state, training, 0.1, _eps) for training in (True, False)]
_gamma, _beta, *_running = state(4)
PROBES += [
    (channels(6, 4), some_negative(_gamma, 3), some_negative(_beta, 2), *_running, training, 0.1, 1e-5)
    for training in (True, False)
]
_outliers = channels(40, 2)
_outliers[[7, 9], [0, 1]] = 300.0, -300.0
PROBES += [(_outliers, *state(2), True, 0.1, 1e-5)]
ALONE = _probe(1, 4)  # one value for each channel: nothing to take a variance of
ONE_EXAMPLE = {  # must go through: in evaluation, and where a channel has several values
    "one_example_in_evaluation": (
        _probe(1, 4, training=False),
        "in evaluation one example must go through as well (here x of shape (1, 4), training=False): nothing is taken "
        "from the batch there",
    ),
    "examples_counted": (
        _probe(1, 4, 5),
        "count the values of a channel, not the examples: one example with 5 positions (here x of shape (1, 4, 5), "
        "training=True) has 5 values in each, enough for a variance",
    ),
}

# ------------------------------------------------------------------------------ the model of batch_norm


def _axes(choice, ndim):
    return {
        "channel": (0, *range(2, ndim)),
        "batch only": 0,
        "per position": (0, 1) if ndim > 2 else 0,
        "last is channel": tuple(range(ndim - 1)),
        "example": tuple(range(1, ndim)),
        "features": 1,
        "instance": tuple(range(2, ndim)) if ndim > 2 else 0,
        "all": None,
        "all, own n": None,
    }[choice]


MOMENTUM = {
    "right": lambda old, new, m: (1 - m) * old + m * new,
    "reversed": lambda old, new, m: m * old + (1 - m) * new,
    "replaced": lambda old, new, m: new,
    "kept": lambda old, new, m: old,
    "old in full": lambda old, new, m: old + m * new,
    "new in full": lambda old, new, m: (1 - m) * old + new,
    "both reversed twice": lambda old, new, m: m * old + m * new,
    "old lost": lambda old, new, m: m * new,
    "old lost, reversed": lambda old, new, m: (1 - m) * new,
    "always 0.1": lambda old, new, m: 0.9 * old + 0.1 * new,
    "always 0.9": lambda old, new, m: 0.1 * old + 0.9 * new,
    "added": lambda old, new, m: old + new,
    "average": lambda old, new, m: (old + new) / 2,
    "minus": lambda old, new, m: (1 - m) * old - m * new,
    "away": lambda old, new, m: old - m * (new - old),
    "squared": lambda old, new, m: (1 - m**2) * old + m**2 * new,
    "twice": lambda old, new, m: (1 - m) ** 2 * old + (1 - (1 - m) ** 2) * new,
    "no brackets": lambda old, new, m: 1 - m * old + m * new,
}

KEPT_VARIANCE = {
    "unbiased": lambda x, var, n, eps: var * n / (n - 1),
    "biased": lambda x, var, n, eps: var,
    "std": lambda x, var, n, eps: np.sqrt(var),
    "unbiased std": lambda x, var, n, eps: np.sqrt(var * n / (n - 1)),
    "std with eps": lambda x, var, n, eps: np.sqrt(var + eps),
    "rstd": lambda x, var, n, eps: 1 / np.sqrt(var + eps),
    "rstd without eps": lambda x, var, n, eps: 1 / np.sqrt(var),
    "with eps": lambda x, var, n, eps: var * n / (n - 1) + eps,
    "biased with eps": lambda x, var, n, eps: var + eps,
    "unbiased with eps": lambda x, var, n, eps: (var + eps) * n / (n - 1),
    "of examples": lambda x, var, n, eps: _variance_in_examples(x).reshape(-1) * n / (n - 1),
    "of examples, biased": lambda x, var, n, eps: _variance_in_examples(x).reshape(-1),
    "batch size under the sum": lambda x, var, n, eps: var * n / (len(x) - 1),
    "sum": lambda x, var, n, eps: var * n,
    "by entries": lambda x, var, n, eps: var * x.size / (x.size - 1),
    "by channels": lambda x, var, n, eps: var * x.shape[1] / (x.shape[1] - 1),
    "by one position axis": lambda x, var, n, eps: (
        var * (len(x) * x.shape[2] / (len(x) * x.shape[2] - 1) if x.ndim > 2 else n / (n - 1))
    ),
    "whole factor": lambda x, var, n, eps: var * (n // (n - 1)),
    "other way": lambda x, var, n, eps: var * (n - 1) / n,
    "twice unbiased": lambda x, var, n, eps: var * (n / (n - 1)) ** 2,
    "batch size": lambda x, var, n, eps: var * len(x) / (len(x) - 1),
    "by features": lambda x, var, n, eps: var * n / x.shape[1] * n / (n - 1),
    "by features, biased": lambda x, var, n, eps: var * n / x.shape[1],
    "mean": lambda x, var, n, eps: x.mean(axis=_axes("channel", x.ndim)),
    "square": lambda x, var, n, eps: (x**2).mean(axis=_axes("channel", x.ndim)),
}


def _variance_in_examples(x):
    """The variances of the examples, averaged: what lies between the examples is lost."""
    positions = tuple(range(2, x.ndim)) or 0
    var = x.var(axis=positions, keepdims=True)
    return var.mean(axis=0, keepdims=True) if x.ndim > 2 else var


KEPT_MEAN = {
    "mean": lambda x, mean, var: mean,
    "sum": lambda x, mean, var: mean * (x.size // x.shape[1]),
    "var": lambda x, mean, var: var,
    "zero": lambda x, mean, var: 0 * mean,
    "overall": lambda x, mean, var: 0 * mean + x.mean(),
}


# How x is made a table (values, channels), and how the table is made an x again.
LAYOUTS = {
    "mixed": (lambda x: x.reshape(-1, x.shape[1]), lambda y, shape: y.reshape(shape)),
    "mixed at the end": (
        lambda x: np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]),
        lambda y, shape: y.reshape(shape),
    ),
    "channels first": (lambda x: x.reshape(x.shape[1], -1).T, lambda y, shape: y.T.reshape(shape)),
}


BIASED = ", and biased"  # ends a choice that comes with the biased variance for running_var


def batch_norm_model(x, gamma, beta, running_mean, running_var, training, momentum, eps, **choices):
    """batch_norm with switches. A choice (choice, mode) counts only in that mode."""
    mode = "training" if training else "evaluation"
    choices = {
        decision: choice[0] if isinstance(choice, tuple) else choice
        for decision, choice in choices.items()
        if not isinstance(choice, tuple) or choice[1] == mode
    }
    for decision in ("layout", "everywhere", "shapes"):
        if choices.get(decision, "").endswith(BIASED):
            choices |= {decision: choices[decision].removesuffix(BIASED), "kept_variance": "biased"}
    layout = choices.pop("layout", None)
    rest = gamma, beta, (running_mean, running_var), training, momentum, eps
    if not layout:
        return _batch_norm(x, *rest, **choices)
    if layout.endswith(", statistics"):
        return _batch_norm(x, *rest, taken_of=LAYOUTS[layout.removesuffix(", statistics")][0](x), **choices)
    into, back = LAYOUTS[layout]
    (y,), *kept = _batch_norm(into(x), *rest, **choices)
    return ((back(y, x.shape),), *kept)


def _batch_norm(x, gamma, beta, running, training, momentum, eps, axis="channel", everywhere=None, statistics="right",
                update="in training", own_momentum=None, arguments="right", shapes="right", spread="var", centre="mean",
                eps_place="inside", eps_value=None, division="std", affine="right", taken_of=None, **kept):  # fmt: skip
    source = x if taken_of is None else taken_of  # what mean and variance are taken of
    last = everywhere == "last is channel"
    n = x.size // x.shape[-1 if last else 1]
    line_up = (-1,) if last or shapes == "none lined up" else (1, -1, *[1] * (x.ndim - 2))
    updated = running
    if training == (update != "in evaluation") or update == "always":
        axes = _axes(everywhere or "channel", source.ndim)
        batch = source.mean(axis=axes), source.var(axis=axes)
        momentum = momentum if own_momentum is None else own_momentum
        counted = x.size if everywhere == "all" else n
        updated = _updated(source, running, batch, eps, momentum, counted, gamma, beta, **kept)
    over = _axes(everywhere or axis, source.ndim)
    batch = _batch_statistics(source, spread, over)
    if taken_of is not None:
        batch = batch[0].reshape(line_up), batch[1].reshape(line_up)
    old, new = ([part.reshape(line_up) for part in pair] for pair in (running, updated))
    mean, var = _normalizing(statistics, training, batch, old, new, eps, n)
    if arguments == "swapped" or arguments == "swapped in evaluation" and not training:
        mean, var = gamma.reshape(line_up), beta.reshape(line_up)
        gamma, beta = running
    if arguments == "running swapped" and not training:
        mean, var = var, mean
    if shapes != "not lined up":
        gamma, beta = gamma.reshape(line_up), beta.reshape(line_up)
    eps = eps if eps_value is None else eps_value
    x_hat = by_statistics(x, mean, var, eps, over, n, centre, eps_place, division)
    return (AFFINE[affine](x_hat, gamma, beta, x),), (updated[0],), (updated[1],)


def _batch_statistics(x, spread, over):
    """The mean and the variance that normalize a batch x."""
    mean = x.mean(axis=over, keepdims=True)
    return mean, _variance_in_examples(x) if spread == "of examples" else spread_of(
        spread, x, mean, over, x.shape[1]
    )


def _updated(x, running, batch, eps, momentum, n, gamma, beta, momentum_use="right", mean_momentum=None,
             var_momentum=None, kept_mean="mean", kept_variance="unbiased", kept_of="x", old_variance="running_var",
             factor="batch"):  # fmt: skip
    """The running mean and variance after a batch x with this mean and variance, of n numbers in a channel."""
    if kept_of != "x":
        normalized = batch[1] / (batch[1] + eps)  # the variance of x_hat
        batch = (beta, gamma**2 * normalized) if kept_of == "y" else (0 * beta, normalized)
    mean = MOMENTUM[mean_momentum or momentum_use](running[0], KEPT_MEAN[kept_mean](x, *batch), momentum)
    var = batch[1]
    if kept_variance.startswith("about"):  # about a running mean: the distance between the means comes in
        kept_variance, centre = kept_variance.removeprefix("about ").split(" of ")
        var = var + (batch[0] - {"new": mean, "old": running[0]}[centre]) ** 2
    var = KEPT_VARIANCE[kept_variance](x, var, n, eps)
    old = {"running_var": running[1], "new running_mean": mean, "running_mean": running[0]}[old_variance]
    if factor == "whole sum":
        return mean, MOMENTUM[var_momentum or momentum_use](old, batch[1], momentum) * n / (n - 1)
    return mean, MOMENTUM[var_momentum or momentum_use](old, var, momentum)


def _normalizing(statistics, training, batch, running, updated, eps, n):
    """The mean and the variance that normalize in this mode; batch, running and updated are such pairs."""
    if training:
        return {"running": running, "exchanged": running, "after update": updated}.get(statistics, batch)
    mean, var = running
    return {
        "batch": batch,
        "exchanged": batch,
        "mixed": (mean, batch[1]),
        "mixed, mean": (batch[0], var),
        "unbiased again": (mean, var * n / (n - 1)),
        "untouched": (0 * mean, 0 * var + 1 - eps),
    }.get(statistics, running)


# ------------------------------------------------------------------------------ its slips

WORDS = {
    "v": "var", "group": "channel", "flat": "of equal numbers", "square": "the variance", "root": "the standard deviation",
    "affine": "x_hat * gamma + beta", "feature": "channel", "sample": "example", "axis": "axis=0", "spread": "variance",
    "wrong_count": "the number of features (channels), not of values in the batch",
}  # fmt: skip

# Welford's and the padded sums are written for rows.
ROWS_ONLY = [("spread", "welford"), ("spread", "halves"), ("spread", "zero lanes"), ("spread", "block")]
BOTH_MODES = [slip for slip in read(SHARED + SHIFT, **WORDS) if slip.decision != "whose"]


def _in(mode):
    """Slips made in one mode only: in training or in evaluation."""
    slips = BOTH_MODES + [slip for slip in read(VARIANCE, **WORDS) if slip.decision == "centre"]
    return [replace(s, choice=(s.choice, mode), message=f"in {mode}, {s.message}") for s in slips]


def _alone():
    """Slips in the output and in what is kept: vectors not lined up, a wrong axis or layout, each also with a biased variance."""
    slips = read(BATCH, **WORDS)
    axes = [replace(slip, decision="everywhere") for slip in slips if slip.decision == "axis"]
    layouts = read(ALONE_IN_BATCH)
    both = [
        slip for slip in slips if slip.choice == "none lined up"
    ]  # first: a layout may do the same in evaluation
    both += [slip for slip in axes if slip.choice == "all"]
    both += [slip for slip in layouts if slip.decision == "layout" and isinstance(slip.choice, str)]
    also = " And running_var keeps the biased variance; keep var * n / (n - 1)."
    return [
        *(
            replace(
                s, name=f"{s.name}+running_var_biased", choice=s.choice + BIASED, message=s.message + also
            )
            for s in both
        ),
        *axes,
        *(replace(slip, choice="all, own n") for slip in axes if slip.choice == "all"),
        *layouts,
    ]


def _in_one_line():
    """A wrong update of one of the running statistics only."""
    slips = [slip for slip in read(BATCH, **WORDS) if slip.decision == "momentum_use"]
    return [
        replace(slip, decision=f"{name}_momentum", message=f"for running_{name}, {slip.message}")
        for slip in slips
        if slip.choice not in ("kept", "reversed")  # these are in the catalogue
        for name in ("mean", "var")
    ]


def _measured_momentum(probes, answers):
    """More slips: a momentum of the learner's own, read off running_mean."""
    for (x, _, _, old, _, training, *_), answer in zip(probes, answers):
        if training and answer is not None and answer[1][0].shape == old.shape:
            way = x.mean(axis=_axes("channel", x.ndim)) - old
            m = float(((answer[1][0] - old) * way).sum() / (way * way).sum())
            text = f"the argument momentum is ignored: the new batch always has the weight {m:.4g}. Use (1 - momentum) * old + momentum * batch."
            return [Slip("momentum_ignored", "own_momentum", m, text)] if np.isfinite(m) else []
    return []


def _one_value(ask):
    """BatchNorm must refuse a training batch with one value per channel."""
    answer = ask(*ALONE)
    if isinstance(answer.error, ValueError):
        return None
    if answer.error is not None:
        what = f"yours raises {type(answer.error).__name__}"
    elif answer.outputs is None:
        what = "yours returns something else, and what is returned or printed stops nobody"
    elif not close(answer.outputs[0][0], np.broadcast_to(ALONE[2], ALONE[0].shape)):
        what = "yours returns numbers as if it had one"
    else:
        what = "your output is just beta, and running_var may become NaN (0/0)"
    return (
        "one_value_not_refused",
        "Right for every batch with several values in a channel, but a training batch with one value per channel (a "
        f"batch of one, here x of shape (1, 4)) has no variance: {what}. Raise a ValueError that says so: "
        "`raise ValueError(...)`.",
    )


def _one_example(ask):
    """One example goes through wherever there is something to normalize it by."""
    for name, (args, text) in ONE_EXAMPLE.items():
        answer = ask(*args)
        wanted = [(part,) for part in layers.batch_norm(*args)]
        if answer.outputs is None or not all(map(alike, answer.outputs, wanted)):
            what = "gives something else" if answer.error is None else f"raises {type(answer.error).__name__}"
            return name, f"Right for every batch of several examples. But {text}. Yours {what}."
    return None


def _properties(ask, args):
    """Facts about batch_norm that hold whatever the numbers, for an input with the axes of the first wrong probe."""
    x, rest = channels(*args[0].shape), state(args[0].shape[1])

    def outputs_of(x, training):
        """y and the running statistics, or None when their shapes are not as they should be."""
        outputs = ask(x, *rest, training, 0.1, 1e-5).outputs
        parts = [part for (part,) in outputs or ()]
        return parts if [part.shape for part in parts] == [x.shape, rest[2].shape, rest[3].shape] else None

    def moves_others(channel):
        """Does anything change in the other channels when this one does?"""
        other = x.copy()
        other[:, channel] = 3 - 2 * other[:, channel]
        moved = outputs_of(other, True)
        return not moved or not close(np.delete(moved[0], channel, 1), np.delete(train[0], channel, 1))

    train, evaluated = outputs_of(x, True), outputs_of(x, False)
    if not (train and evaluated):
        return []
    if np.any(np.isnan(train[0])):
        return [NAN]
    gamma, beta = (v.reshape(1, -1, *[1] * (x.ndim - 2)) for v in rest[:2])
    x_hat, axes = (train[0] - beta) / gamma, _axes("channel", x.ndim)
    return [
        (
            not any(map(moves_others, range(x.shape[1]))),
            "channels are independent",
            "a channel depends on the other channels",
            "channels_not_independent",
        ),
        (
            np.allclose(x_hat.mean(axis=axes), 0, atol=1e-6),
            "in training each channel has mean 0 before gamma and beta",
            "in training the channels do not have mean 0 before gamma and beta",
            "mean_not_0",
        ),
        (
            np.allclose(x_hat.std(axis=axes), 1, atol=1e-3),
            "in training each channel has std 1",
            "in training the channels do not have std 1 before gamma and beta",
            "spread_not_1",
        ),
        (
            close(evaluated[1], rest[2]) and close(evaluated[2], rest[3]),
            "evaluation leaves the running statistics alone",
            "evaluation changes the running statistics",
            "updated_in_evaluation",
        ),
    ]


# ------------------------------------------------------------------------------ the model of masked_batch_norm


def padded(n, t, c, padding, lengths):
    """x (n, t, c) with `padding` after each sequence's length, the mask of real tokens, gamma and beta."""
    return _masked(np.arange(t)[None] < np.array(lengths)[:, None], c, padding)


def _masked(mask, c, padding):
    """The same for real tokens anywhere; mask (n, t)."""
    n, t = mask.shape
    x = np.random.default_rng(61).standard_normal((n, t, c)) * np.linspace(0.5, 2, c) + np.arange(c) + 1.0
    x += np.arange(n).reshape(-1, 1, 1) * 0.7 + np.arange(t).reshape(1, -1, 1) * 0.3
    x[~mask] = padding
    return x, mask, *state(c)[:2]


MASKED_PROBES = [
    (*padded(2, 3, 2, 0.0, [3, 1]), 1e-5),
    (*padded(3, 5, 4, 0.0, [5, 5, 5]), 1e-5),
    (*padded(3, 5, 4, 0.0, [5, 3, 1]), 1e-5),
    (*padded(3, 5, 4, -10.0, [5, 3, 1]), 1e-5),
    (*padded(3, 4, 4, 0.0, [4, 3, 1]), 1e-5),
    (*padded(3, 5, 4, -10.0, [5, 3, 2]), 0.5),
    (1e-3 * padded(3, 5, 4, 0.0, [5, 3, 2])[0], *padded(3, 5, 4, 0.0, [5, 3, 2])[1:], 0.5),
    (1e-6 * padded(3, 5, 4, 0.0, [5, 3, 2])[0], *padded(3, 5, 4, 0.0, [5, 3, 2])[1:], 1e-5),
    (*padded(3, 5, 4, 0.0, [5, 3, 2])[:2], some_negative(_gamma, 3), some_negative(_beta, 2), 1e-5),
]
LEFT_PADDED = np.arange(5) >= np.array([[0], [2], [4]])
WITH_HOLES = np.array([[0, 1, 0, 1, 1], [1, 0, 0, 1, 0], [1, 1, 1, 0, 1]], dtype=bool)
MASKED_PROBES += [
    (*_masked(mask, 4, padding), 1e-5) for mask in (LEFT_PADDED, WITH_HOLES) for padding in (0.0, -10.0)
]
_x, *_rest = padded(5, 10, 2, 0.0, [10, 9, 8, 7, 6])
_x[[0, 1], [2, 3], [0, 1]] = 300.0, -300.0
MASKED_PROBES += [(_x, *_rest, 1e-5)]


def _by_length(mask):
    """As many tokens of each sequence as are real, but the first ones."""
    return np.arange(mask.shape[1]) < mask.sum(axis=1, keepdims=True)


def _masked_statistics(choice, x, mask, spread):
    """mean and spread that broadcast against x (N, T, C), by a choice of what is counted."""
    m, real, first = mask[..., None], x[mask], x.reshape(-1, x.shape[-1])[: mask.sum()]
    total, count, places, everything = real.sum(axis=0), len(real), mask.size, x.sum(axis=(0, 1))

    def of(values, axis):
        mean = values.mean(axis=axis, keepdims=True)
        return mean, spread_of(spread, values, mean, axis, values.shape[-1])

    def weighted(axis, floor=0):
        number = np.maximum(m.sum(axis=axis, keepdims=True), floor)
        mean = (x * m).sum(axis=axis, keepdims=True) / number
        return mean, (m * (x - mean) ** 2).sum(axis=axis, keepdims=True) / number

    def squares(mean, divisor, of="real"):
        """The squares about a mean, over a divisor of one's own; of: "zeros" and "all" count the padding, too."""
        apart = {"real": m * (x - mean), "zeros": x * m - mean, "all": x - mean}[of]
        return mean, (apart**2).sum(axis=(0, 1)) / divisor

    def mean_of_means(mean, var):
        return mean.mean(axis=0), var.mean(axis=0)

    def mean_of_means_used(mean):
        return mean, ((m * (x - mean) ** 2).sum(axis=1) / m.sum(axis=1)).mean(axis=0)

    return {
        "by sequences": lambda: squares(total / len(x), len(x)),
        "by entries": lambda: squares(total / real.size, real.size),
        "zeros in var": lambda: squares(total / count, count, "zeros"),
        "zeros in var, all divided": lambda: squares(total / count, places, "zeros"),
        "zeros in both": lambda: squares(total / places, places, "zeros"),
        "all divided": lambda: squares(total / places, places),
        "var divided": lambda: squares(total / count, places),
        "mean divided": lambda: squares(total / places, count),
        "mean sum of all": lambda: squares(everything / count, count),
        "variance sum of all": lambda: squares(total / count, count, "all"),
        "both sums of all": lambda: squares(everything / count, count, "all"),
        "square sum of all": lambda: (
            total / count,
            (x**2).sum(axis=(0, 1)) / count - (total / count) ** 2,
        ),
        "mean of means, then squares": lambda: squares(weighted(1)[0].mean(axis=(0, 1)), count),
        "mean of all": lambda: squares(x.mean(axis=(0, 1)), count),
        "mean of all, own var": lambda: (x.mean(axis=(0, 1)), real.var(axis=0)),
        "var of all": lambda: (real.mean(axis=0), x.var(axis=(0, 1))),
        "mean of means": lambda: mean_of_means(*weighted(1)),
        "mean of means, used": lambda: mean_of_means_used(weighted(1)[0].mean(axis=0)),
        "one number": lambda: (real.mean(), real.var()),
        "first of all": lambda: (first.mean(axis=0), first.var(axis=0)),
        "real": lambda: of(real, 0),
        "first of each": lambda: of(x[_by_length(mask)], 0),
        "all": lambda: of(x, (0, 1)),
        "padding": lambda: of(x[~mask], 0),
        "sequence": lambda: weighted(1),
        "position": lambda: weighted(0, 1),
        "token": lambda: of(x, -1),
        "time": lambda: of(x, (0, 2)),
        "time, own gamma": lambda: of(x, (0, 2)),
        "batch only": lambda: of(x, 0),
        "first token": lambda: of(x[:, 0], 0),
        "last token": lambda: of(x[:, -1], 0),
    }[choice]()


PADDING = {
    "zero": lambda y, x, m, beta: np.where(m, y, 0.0),
    "normalized": lambda y, x, m, beta: y,
    "kept": lambda y, x, m, beta: np.where(m, y, x),
    "beta": lambda y, x, m, beta: np.where(m, y, beta),
    "inverted": lambda y, x, m, beta: np.where(m, 0.0, y),
    "nan": lambda y, x, m, beta: np.where(m, y, np.nan),
    "removed": lambda y, x, m, beta: y[m[..., 0]],
    "after the length": lambda y, x, m, beta: np.where(_by_length(m[..., 0])[..., None], y, 0.0),
}


def masked_batch_norm_model(x, mask, gamma, beta, eps, counted="real", padding="zero", spread="var", centre="mean",
                            eps_place="inside", division="std", affine="right", eps_value=None):  # fmt: skip
    """masked_batch_norm with switches."""
    if counted == "turned":
        mask = np.broadcast_to(mask[:, None, :], x.shape)  # fits only where T = C
        mean = (x * mask).sum(axis=(0, 1)) / mask[:, 0].sum()
        var = (mask * (x - mean) ** 2).sum(axis=(0, 1)) / mask[:, 0].sum()
        return ((mask * ((x - mean) / np.sqrt(var + eps) * gamma + beta),),)
    if counted == "guessed":
        mask, counted = (x != 0).any(axis=-1), "real"
    if counted == "first of each, everywhere":
        mask, counted = _by_length(mask), "real"
    mean, var = _masked_statistics(counted, x, mask, spread)
    if counted == "time, own gamma":
        gamma, beta = gamma.reshape(-1, 1), beta.reshape(-1, 1)
    eps = eps if eps_value is None else eps_value
    x_hat = by_statistics(x, mean, var, eps, (0, 1), mask.sum(), centre, eps_place, division)
    y = AFFINE[affine](x_hat, gamma, beta, x)
    return ((PADDING[padding](y, x, mask[..., None], beta),),)


def _masked_properties(ask, args):
    """Facts about masked_batch_norm that hold whatever the numbers, for the mask of the first wrong probe."""
    mask, channels = args[1], len(args[2])
    x, mask, gamma, beta = _masked(mask, channels, 0.0)
    outputs = [
        ask(_masked(mask, channels, padding)[0], mask, gamma, beta, 1e-5).outputs for padding in (0.0, 7.0)
    ]
    if not all(output and output[0][0].shape == x.shape for output in outputs):
        return []
    one, two = (output[0][0] for output in outputs)
    if np.any(np.isnan(one[mask])):
        return [NAN]
    x_hat = (one[mask] - beta) / gamma
    about_padding = [
        (np.allclose(one[mask], two[mask]), "padding does not change the tokens", "padding changes the tokens", "padding_counted"),
        (np.allclose(two[~mask], 0), "the padding comes out 0", "the padding does not come out 0", "padding_not_zeroed"),
    ]  # fmt: skip
    return [
        *(about_padding if not mask.all() else []),
        (np.allclose(x_hat.mean(axis=0), 0, atol=1e-6), "real tokens have mean 0 in each channel",
         "the real tokens do not have mean 0 in each channel before gamma and beta", "mean_not_0"),
        (np.allclose(x_hat.std(axis=0), 1, atol=1e-3), "real tokens have std 1 in each channel",
         "the real tokens do not have std 1 in each channel before gamma and beta", "spread_not_1"),
    ]  # fmt: skip


# ------------------------------------------------------------------------------ the exercises

_HALF = half([[-600, 5, 1], [700, 0, 2], [500, 3, 3]])
_SINGLE = single(1000 + 0.5 * np.random.default_rng(6).standard_normal((8, 3)))
OVERFLOW = (
    "In float16 it goes wrong for large inputs: the squares overflow above 256. Compute the statistics in float32 or "
    "float64 and cast back."
)
CANCEL = (
    "In float32, with a mean that is large against the spread, the variance loses its digits (cancellation in "
    "E[x**2] - E[x]**2). Subtract the mean first, then square."
)

NAN_IN_PADDING = (
    "Where the padding holds NaN, your output does not come out right: NaN times 0 is NaN. `np.where(mask[..., None], "
    "y, 0)` chooses instead of multiplying, and `x[mask]` leaves the padding out of the sums."
)

batch_norm = Exercise(
    reference=layers.batch_norm,
    outputs=("y", "running_mean", "running_var"),
    probes=PROBES,
    space=Space(
        batch_norm_model,
        read(BATCH + VARIANCE, [("spread", "ddof"), *ROWS_ONLY], **WORDS) + BOTH_MODES,
        measured=_measured_momentum,
        common=FREQUENT | {"unbiased_to_normalize", "axis_batch_only", "axis_features"},
        alone=_alone() + _in_one_line() + _in("training") + _in("evaluation"),
    ),
    properties=_properties,
    extras=[_one_value, _one_example],
    any_axes=(
        "It works for two axes only. The positions come after the channels: average over `axis=(0, *range(2, x.ndim))`, and "
        "reshape the four vectors to (1, C, 1, ...)."
    ),
    remarks=[
        Remark((_HALF, *(half(v) for v in state(3)), True, 0.1, 1e-5), "float16_overflow", OVERFLOW),
        Remark((_SINGLE, *(single(v) for v in state(3)), True, 0.1, 1e-5), "float32_cancellation", CANCEL),
    ],
    prompt=(
        "Write `batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)` and return three "
        "things: `y, running_mean, running_var`. `x` has shape (N, C) or (N, C, ...), the channels are axis 1, and all "
        "four vectors have shape (C,). In training each channel is normalized over the batch (and all positions) by "
        "its mean and its biased variance (divided by n), with eps inside the square root; the running statistics are "
        "new = (1 - momentum) * old + momentum * batch, where the variance that is kept is the unbiased one (divided "
        "by n - 1). In evaluation the running statistics are used and come back unchanged. A training batch with only "
        "one value per channel raises a ValueError. Change no argument in place."
    ),
    hints=[
        "Which numbers share a mean? All values of one channel: the batch, and every position.",
        "Two modes: in training the batch's statistics normalize, in evaluation the running ones, unchanged.",
        "Momentum weighs the new batch: (1 - momentum) * old + momentum * batch.",
        (
            "Two variances: biased (n) for the output, unbiased (n - 1) for running_var. `axis = (0, *range(2, x.ndim))`, "
            "and vectors of length C reshaped to (1, C, 1, ...)."
        ),
    ],
    difficulty=4,
    minutes=20,
)

masked_batch_norm = Exercise(
    reference=layers.masked_batch_norm,
    outputs=("y",),
    probes=MASKED_PROBES,
    space=Space(
        masked_batch_norm_model,
        [
            s
            for s in read(MASKED + VARIANCE, [("spread", "own square"), *ROWS_ONLY], **WORDS) + BOTH_MODES
            if s.choice not in ("where", "dotted")
        ],
    ),
    properties=_masked_properties,
    remarks=[Remark((*padded(3, 5, 4, np.nan, [5, 3, 2]), 1e-5), "nan_in_padding", NAN_IN_PADDING)],
    prompt=(
        "Write `masked_batch_norm(x, mask, gamma, beta, eps)` for sequences of different length. `x` has shape (N, T, "
        "C), `mask` (N, T) is True at the real tokens, `gamma` and `beta` have shape (C,). Each channel is normalized "
        "by the mean and the biased variance of all real tokens of the batch together, eps inside the square root, "
        "then scaled and shifted. The padding neither counts nor comes out: `y` is 0 there. Return an array shaped "
        "like `x`; leave `x` as it is."
    ),
    hints=[
        "Change the numbers in the padding: nothing may happen to the real tokens.",
        "`x[mask]` picks the real tokens as an array of shape (tokens, C).",
        "Normalize everything by the statistics of `x[mask]`, and at the end `np.where(mask[..., None], y, 0)`.",
    ],
    difficulty=3,
    minutes=10,
)
