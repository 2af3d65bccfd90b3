"""Normalization with every decision as a switch: what layer_norm, rms_norm and batch_norm share."""

import numpy as np

# What fails, as a property is told, where comparing numbers would say nothing: NaN is equal to none.
NAN = (
    False,
    "",
    "NaN (not a number) comes out for ordinary inputs too, as from the root of a negative number (a variance is never "
    "negative), a logarithm or 0/0: print each step",
    "nan",
)

# ------------------------------------------------------------------------------ the model

CENTRES = {
    "block": lambda x, mean, axis: x - mean * x.shape[-1] / _block(x.shape[-1]),
    "mean": lambda x, mean, axis: x - mean,
    "none": lambda x, mean, axis: x,
    "plus": lambda x, mean, axis: x + mean,
    "reversed": lambda x, mean, axis: mean - x,
    "absolute": lambda x, mean, axis: np.abs(x),
    "median": lambda x, mean, axis: x - np.median(x, axis=axis, keepdims=True),
    "min": lambda x, mean, axis: x - x.min(axis=axis, keepdims=True),
    "max": lambda x, mean, axis: x - x.max(axis=axis, keepdims=True),
    "sum": lambda x, mean, axis: x - x.sum(axis=axis, keepdims=True),
}


def _block(n):
    """The next power of two, the width that a fast kernel works on."""
    return 1 << (n - 1).bit_length()


def _welford(x, axis):
    """The running variance with delta * delta where delta * (x - new mean) belongs."""
    mean = total = 0.0
    for i, value in enumerate(np.moveaxis(x, axis, 0)):
        delta = value - mean
        mean = mean + delta / (i + 1)
        total = total + delta * delta
    return np.expand_dims(total / x.shape[axis], axis)


def _halves(x, axis):
    """The mean of the variances of two halves: what lies between the halves is lost."""
    parts = np.array_split(x, 2, axis=axis)
    return sum(p.var(axis=axis, keepdims=True) * p.shape[axis] for p in parts) / x.shape[axis]


def _min_max(x, eps):
    low, high = x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True)
    return (x - low) / (high - low + eps)


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _by_part(x, part, eps, centred):
    """x normalized by the statistics of some of its features."""
    mean = part.mean(axis=-1, keepdims=True) if centred else 0.0
    return (x - mean) / np.sqrt(((part - mean) ** 2).mean(axis=-1, keepdims=True) + eps)


def _by_count(x, count, eps, centred):
    """x normalized by statistics that are divided by another number than that of the features."""
    mean = x.sum(axis=-1, keepdims=True) / count if centred else 0.0
    return (x - mean) / np.sqrt(((x - mean) ** 2).sum(axis=-1, keepdims=True) / count + eps)


def _groups(x, eps, centred):
    half = x.shape[-1] // 2
    return np.concatenate([_by_part(p, p, eps, centred) for p in (x[..., :half], x[..., half:])], axis=-1)


# What a row may be put through instead; c: is the mean subtracted?
INSTEAD = {
    "min-max": lambda x, eps, c: _min_max(x, eps),
    "min-max, no eps": lambda x, eps, c: _min_max(x, 0.0),
    "softmax": lambda x, eps, c: _softmax(x),
    "first half": lambda x, eps, c: _by_part(x, x[..., : x.shape[-1] // 2], eps, c),
    "all but last": lambda x, eps, c: _by_part(x, x[..., :-1], eps, c),
    "all but first": lambda x, eps, c: _by_part(x, x[..., 1:], eps, c),
    "two groups": lambda x, eps, c: _groups(x, eps, c),
    "rows counted": lambda x, eps, c: _by_count(x, len(x), eps, c),
    "second counted": lambda x, eps, c: _by_count(x, x.shape[1], eps, c),
    "entries counted": lambda x, eps, c: _by_count(x, x.size, eps, c),
    "3 counted": lambda x, eps, c: _by_count(x, 3, eps, c),
    "4 counted": lambda x, eps, c: _by_count(x, 4, eps, c),
    "6 counted": lambda x, eps, c: _by_count(x, 6, eps, c),
    "one less": lambda x, eps, c: _by_count(x, x.shape[-1] - 1, eps, c),
}


def spread_of(choice, x, mean, axis, others):
    """What stands for the variance, before eps and the root."""

    def average(a):
        return a.mean(axis=axis, keepdims=True)

    var = average((x - mean) ** 2)
    n = x.size // var.size
    return {
        "var": lambda: var,
        "ddof": lambda: var * n / (n - 1),
        "sum": lambda: var * n,
        "n + 1": lambda: var * n / (n + 1),
        "others": lambda: var * n / others,
        "square": lambda: average(x**2),
        "square sum": lambda: average(x**2) * n,
        "square ddof": lambda: average(x**2) * n / (n - 1),
        "square others": lambda: average(x**2) * n / others,
        "plus": lambda: average(x**2) + mean**2,
        "unsquared": lambda: average(x**2) - mean,
        "negated": lambda: mean**2 - average(x**2),
        "mean square": lambda: average(x) ** 2,
        "mean only": lambda: average(x),
        "sum only": lambda: average(x) * n,
        "mean squared": lambda: average(x - mean**2),
        "centred mean square": lambda: average(x - mean) ** 2,
        "deviation": lambda: average(np.abs(x - mean)) ** 2,
        "absolute": lambda: average(np.abs(x)) ** 2,
        "absolute deviation, as variance": lambda: average(np.abs(x - mean)),
        "absolute, as square": lambda: average(np.abs(x)),
        "absolute sum": lambda: (average(np.abs(x)) * n) ** 2,
        "maximum": lambda: np.abs(x).max(axis=axis, keepdims=True) ** 2,
        "range": lambda: (x.max(axis=axis, keepdims=True) - x.min(axis=axis, keepdims=True)) ** 2,
        "own square": lambda: (x - mean) ** 2,
        "own square of x": lambda: x**2,
        "doubled": lambda: average(2 * x),
        "fourth": lambda: average((x - mean) ** 4),
        "cube": lambda: average(x**3),
        "divided twice": lambda: var / n,
        "square divided twice": lambda: average(x**2) / n,
        "std": lambda: np.sqrt(var),
        "square times n": lambda: average(x**2) * n**2,
        "pooled": lambda: var.mean(keepdims=True),
        "welford": lambda: _welford(x, axis),
        "halves": lambda: _halves(x, axis),
        "zero lanes": lambda: var + (_block(n) - n) / n * mean**2,
        "block": lambda: var * n / _block(n),
        "second std": lambda: var**2,
    }[choice]()


DENOMINATORS = {
    "inside": lambda v, eps, n: np.sqrt(v + eps),
    "outside": lambda v, eps, n: np.sqrt(v) + eps,
    "missing": lambda v, eps, n: np.sqrt(v),
    "missing, no root": lambda v, eps, n: v,
    "subtracted from": lambda v, eps, n: np.sqrt(eps - v),
    "clamped": lambda v, eps, n: np.sqrt(np.maximum(v, eps)),
    "clamped outside": lambda v, eps, n: np.maximum(np.sqrt(v), eps),
    "clamped length": lambda v, eps, n: np.maximum(np.sqrt(v), eps / np.sqrt(n)),
    "twice": lambda v, eps, n: np.sqrt(v + eps) + eps,
    "twice inside": lambda v, eps, n: np.sqrt(v + 2 * eps),
    "minus": lambda v, eps, n: np.sqrt(v - eps),
    "squared": lambda v, eps, n: np.sqrt(v + eps**2),
    "root": lambda v, eps, n: np.sqrt(v) + np.sqrt(eps),
    "root inside": lambda v, eps, n: np.sqrt(v + np.sqrt(eps)),
    "averaged": lambda v, eps, n: np.sqrt(v + eps / n),
    "summed": lambda v, eps, n: np.sqrt(v + eps * n),
    "root over n": lambda v, eps, n: np.sqrt(v * n + eps) / n,
    "root over n, outside": lambda v, eps, n: np.sqrt(v * n) / n + eps,
    "root over n, missing": lambda v, eps, n: np.sqrt(v * n) / n,
    "one": lambda v, eps, n: np.sqrt(v + 1),
    "times": lambda v, eps, n: np.sqrt(v * eps),
    "where": lambda v, eps, n: np.sqrt(np.where(v == 0, eps, v)),
    "where below": lambda v, eps, n: np.where(np.sqrt(v) < eps, 1, np.sqrt(v)),
    "zeros where tiny": lambda v, eps, n: np.where(v < 1e-8, np.inf, np.sqrt(v + eps)),
    # eps is elsewhere:
    "x": lambda v, eps, n: np.sqrt(v),
    "numerator": lambda v, eps, n: np.sqrt(v),
    "numerator too": lambda v, eps, n: np.sqrt(v + eps),
    "result": lambda v, eps, n: np.sqrt(v),
}

DIVISIONS = {
    "std": lambda c, den: c / den,
    "var": lambda c, den: c / den**2,
    "var squared": lambda c, den: c / den**4,
    "cubed": lambda c, den: c / den**3,
    "root of std": lambda c, den: c / np.sqrt(den),
    "half of var": lambda c, den: c / (den**2 / 2),
    "then halved": lambda c, den: c / den**2 / 2,
    "multiplied": lambda c, den: c * den,
    "multiplied by var": lambda c, den: c * den**2,
    "none": lambda c, den: c,
    "itself": lambda c, den: den + 0 * c,
    "only": lambda c, den: 1 / den + 0 * c,
    "minus": lambda c, den: c - den,
}


def _along(v, x, axis):
    """The first entries of a vector, one for each index of x along an axis; a single number as it is."""
    return v[: x.shape[axis]].reshape(-1, *[1] * (x.ndim - 1 - axis)) if v.ndim else v


AFFINE = {
    "right": lambda h, gamma, beta, x: h * gamma + beta,
    "shift first": lambda h, gamma, beta, x: (h + beta) * gamma,
    "none": lambda h, gamma, beta, x: h,
    "no gamma": lambda h, gamma, beta, x: h + beta,
    "no beta": lambda h, gamma, beta, x: h * gamma,
    "swapped": lambda h, gamma, beta, x: h * beta + gamma,
    "first gamma": lambda h, gamma, beta, x: h * gamma.ravel()[0] + beta,
    "last gamma": lambda h, gamma, beta, x: h * gamma.ravel()[-1] + beta,
    "mean gamma": lambda h, gamma, beta, x: h * gamma.mean() + beta,
    "sum gamma": lambda h, gamma, beta, x: h * gamma.sum() + beta,
    "first beta": lambda h, gamma, beta, x: h * gamma + beta.ravel()[0],
    "mean beta": lambda h, gamma, beta, x: h * gamma + beta.mean(),
    "one scale": lambda h, gamma, beta, x: h * gamma.ravel()[0] + beta.ravel()[0],
    "one plus": lambda h, gamma, beta, x: h * (1 + gamma) + beta,
    "minus beta": lambda h, gamma, beta, x: h * gamma - beta,
    "divided": lambda h, gamma, beta, x: h / gamma + beta,
    "raw": lambda h, gamma, beta, x: x * gamma + beta,
    "gamma added": lambda h, gamma, beta, x: h + gamma + beta,
    "sum": lambda h, gamma, beta, x: h * (gamma + beta),
    "dotted": lambda h, gamma, beta, x: (h * gamma).sum(axis=-1) + beta,
    "gamma squared": lambda h, gamma, beta, x: h * gamma**2 + beta,
    "beta twice": lambda h, gamma, beta, x: h * gamma + 2 * beta,
    "product": lambda h, gamma, beta, x: h * gamma * beta,
    "gamma twice": lambda h, gamma, beta, x: h * gamma + gamma,
    "beta scales": lambda h, gamma, beta, x: h * beta + beta,
    "absolute gamma": lambda h, gamma, beta, x: h * np.abs(gamma) + beta,
    "absolute beta": lambda h, gamma, beta, x: h * gamma + np.abs(beta),
    "exponent": lambda h, gamma, beta, x: h * np.exp(gamma) + beta,
    "softplus": lambda h, gamma, beta, x: h * np.log1p(np.exp(gamma)) + beta,
    "matrix": lambda h, gamma, beta, x: (h * gamma).sum(axis=-1, keepdims=True) + beta,
    "x added": lambda h, gamma, beta, x: (h + x) * gamma + beta,
    "by row": lambda h, gamma, beta, x: h * _along(gamma, x, 0) + _along(beta, x, 0),
    "by token": lambda h, gamma, beta, x: h * _along(gamma, x, x.ndim - 2) + _along(beta, x, x.ndim - 2),
    "turned": lambda h, gamma, beta, x: h * gamma.reshape(-1, 1) + beta.reshape(-1, 1),
}


def by_statistics(x, mean, v, eps, axis, n, centre="mean", eps_place="inside", division="std"):
    """x normalized by a mean and a variance v of n numbers along axis; the other keywords can go wrong."""
    c = CENTRES[centre](x, mean, axis)
    if eps_place.startswith("numerator"):
        c = c + eps
    den = DENOMINATORS[eps_place](v, eps, n)
    if division == "without the mean":
        return x / den - mean
    if division == "of the mean":
        return x - mean / den
    if division == "root of n":
        return c / den * np.sqrt(n)
    x_hat = DIVISIONS[division](c, den)
    return x_hat + eps if eps_place == "result" else x_hat


def mean_and_root(x, eps, axis, others, centre="mean", spread="var", eps_place="inside", **whose):
    """The mean of x over axis and the denominator; each keyword is a decision that can go wrong."""
    mean, v = _statistics(x, axis, centre, spread, others, 0.0, **whose)
    return mean, DENOMINATORS[eps_place](v, eps, x.size // mean.size)


def standardize(x, eps, axis, centre="mean", spread="var", eps_place="inside", division="std", eps_value=None,
                others=1, lanes="own", instead=None, **whose):  # fmt: skip
    """x normalized over axis; each keyword is a decision that can go wrong."""
    eps = eps if eps_value is None else eps_value
    if lanes != "own":
        return _on_lanes(x, eps, centre, lanes)
    if instead:
        return INSTEAD[instead](x, eps, centre == "mean")
    n = x.size // x.mean(axis=axis, keepdims=True).size
    mean, v = _statistics(x, axis, centre, spread, others, eps if eps_place == "x" else 0.0, **whose)
    return by_statistics(x, mean, v, eps, axis, n, centre, eps_place, division)


def _statistics(x, axis, centre, spread, others, added, mean_axis=None, spread_axis=None, keepdims="both",
                whose="own", about="mean"):  # fmt: skip
    """Mean and variance of x; added: what is added to x in the variance alone."""
    mean_over = axis if mean_axis is None else _numpy_axis(mean_axis)
    spread_over = axis if spread_axis is None else _numpy_axis(spread_axis)
    mean, v_mean = (x.mean(axis=over, keepdims=True) for over in (mean_over, spread_over))
    if keepdims.startswith("mean dropped"):
        mean = np.squeeze(mean, axis=mean_over)
        v_mean = mean if keepdims == "mean dropped, used" else v_mean
    if about == "centre":  # the variance is taken of what was subtracted from x, whatever that was
        v_mean = x - CENTRES[centre](x, mean, axis)
    v = spread_of(spread, x + added, v_mean, spread_over, others)
    if keepdims == "none":
        mean = np.squeeze(mean, axis=mean_over)
    if keepdims in ("none", "var dropped"):
        v = np.squeeze(v, axis=spread_over)
    if whose != "own":
        pick = slice(0, 1) if whose == "first" else slice(-1, None)
        mean, v = mean[pick], v[pick]
    return mean, v


def _on_lanes(x, eps, centre, lanes):
    """Statistics of the last axis padded with zeros to the next power of two; counted: are the zeros squared too?"""
    d, block = x.shape[-1], _block(x.shape[-1])
    mean = x.sum(axis=-1, keepdims=True) / block if centre == "mean" else 0.0
    total = ((x - mean) ** 2).sum(axis=-1, keepdims=True)
    total = total + (block - d) * mean**2 if lanes == "counted" else total
    return (x - mean) / np.sqrt(total / block + eps)


def _numpy_axis(axis):
    return None if axis == "all" else axis
