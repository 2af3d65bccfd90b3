"""layer_norm, rms_norm and rms_norm_offset."""

from dataclasses import replace

import numpy as np

from .. import layers
from .core import Exercise, Remark
from .formulas import evaluate
from .mistakes.normalizing import SHARED, SHIFT, VARIANCE
from .mistakes.norms import (
    AFFINE_FIRST,
    AXES,
    BRACKETS,
    CENTRED_ROWS,
    EPS_ELSEWHERE,
    MEAN_AXES,
    MEAN_SQUARE,
    OFFSETS,
    ROWS,
    SPREAD_AXES,
    SQUARE_BRACKETS,
)
from .normalizing import AFFINE, NAN, mean_and_root, standardize
from .slips import Slip, Space, read

# ------------------------------------------------------------------------------ inputs


def _numbers(seed):
    return np.random.default_rng(seed)


def rows(*shape):
    """Rows that differ in mean and in scale, whichever axis you look along."""
    number = np.arange(np.prod(shape[:-1])).reshape(*shape[:-1], 1)
    return _numbers(1).standard_normal(shape) * (1 + 0.7 * number) + 1.5 * number - 2.0


def gains(d):
    """gamma, all different and none 1; beta, all different and none 0."""
    r = _numbers(3)
    return r.uniform(0.5, 2.0, d), r.uniform(0.2, 1.0, d) * np.where(np.arange(d) % 2, -1, 1)


def some_negative(a, every):
    """The vector with the first of every so many entries below 0; all are positive in a."""
    return np.where(np.arange(len(a)) % every, a, -a)


TINY = np.array([[1.0, 2.0, 6.0], [-2.0, 0.0, 5.0]])
FAINT = _numbers(4).standard_normal((3, 4)) * 1e-6
NEARLY_FLAT = 2.0 + _numbers(5).standard_normal((3, 6)) * 3e-3
WITH_FLAT_ROW = np.array([[3.0, 3.0, 3.0, 3.0], [1.0, -2.0, 0.5, 4.0], [0.0, 0.0, 0.0, 0.0]])

SHAPES = [TINY, rows(4, 6), rows(5, 5), rows(2, 3, 4), rows(4, 4, 4), rows(1, 6)]

OUTLIERS = rows(2, 40)  # normalized they are 6 and -6: who clips is seen
OUTLIERS[[0, 1], [7, 9]] = 300.0, -300.0


def _layer_probes(eps):
    cases = [(x, eps) for x in SHAPES] + [(NEARLY_FLAT, eps), (NEARLY_FLAT, 0.5), (rows(4, 6), 0.5)]
    cases += [(WITH_FLAT_ROW, eps), (FAINT, eps), (FAINT * 1e5, 0.5), (OUTLIERS, eps)]
    probes = [(x, *gains(x.shape[-1]), e) for x, e in cases]
    gamma, beta = gains(6)
    return [*probes, (rows(4, 6), some_negative(gamma, 3), beta, eps)]


def half(a):
    return np.asarray(a, np.float16)


def single(a):
    return np.asarray(a, np.float32)


# ------------------------------------------------------------------------------ the model


def row_axis(choice, ndim):
    """The axis (or axes) that a choice of axis means for an input with so many axes."""
    return {
        "last": -1,
        "first": 0,
        "all": None,
        "all but first": tuple(range(1, ndim)),
        "second": 1,
        "last but one": -2,
        "all but last": tuple(range(ndim - 1)),
    }[choice]


def _but(y, other, *at):
    """y with the entries of another array at that place."""
    y = y.copy()
    y[at] = other[at]
    return y


OUTPUTS = {
    "right": lambda x, y: y,
    "residual": lambda x, y: y + x,
    "first only": lambda x, y: np.concatenate([y[:1], x[1:]]),
    "first only, zeros": lambda x, y: np.concatenate([y[:1], 0 * x[1:]]),
    "last missing": lambda x, y: _but(y, 0 * x, -1),
    "last unchanged": lambda x, y: _but(y, x, -1),
    "first missing": lambda x, y: _but(y, 0 * x, 0),
    "first unchanged": lambda x, y: _but(y, x, 0),
    "last missing, flat": lambda x, y: _but(y, 0 * x, *[-1] * (x.ndim - 1)),
    "first missing, flat": lambda x, y: _but(y, 0 * x, *[0] * (x.ndim - 1)),
    "one step": lambda x, y: y[0],
    "zeros where tiny": lambda x, y: np.where(x.var(axis=-1, keepdims=True) < 1e-8, 0, y),
    "relu": lambda x, y: np.maximum(y, 0),
    "tanh": lambda x, y: np.tanh(y),
}


def _normalize(
    x, gamma, beta, eps, axis="last", affine="right", times="once", output="right", formula=None, **choices
):
    """layer_norm (and rms_norm, with other defaults) with switches."""
    over = row_axis(axis, x.ndim)
    if formula:
        mean, root = mean_and_root(x, eps, over, len(x), **choices)
        return ((evaluate(formula, x=x, mean=mean, root=root, gamma=gamma, beta=beta, eps=eps),),)
    for name in ("centre", "mean_axis"):
        if choices.get(name, "").endswith(", used"):
            choices |= {name: choices[name].removesuffix(", used"), "about": "centre"}
    for name in ("mean_axis", "spread_axis"):
        if name in choices:
            at = row_axis(choices[name], x.ndim)
            choices[name] = "all" if at is None else at

    def hat(a):
        return standardize(a, eps, over, others=len(x), **choices)

    if times == "gamma first":
        y = hat(x * gamma) + beta
    elif times == "affine first":
        y = hat(x * gamma + beta)
    else:
        y = AFFINE[affine](hat(hat(x)) if times == "twice" else hat(x), gamma, beta, x)
        if times == "twice, affine too":
            y = AFFINE[affine](hat(y), gamma, beta, x)
    return ((OUTPUTS[output](x, y),),)


def layer_norm_model(x, gamma, beta, eps, **choices):
    return _normalize(x, gamma, beta, eps, **choices)


def rms_norm_model(x, gamma, eps, centre="none", spread="square", affine="right", **choices):
    return _normalize(x, gamma, np.zeros(()), eps, centre=centre, spread=spread, affine=affine, **choices)


# What w may be made into, where the choice is no formula itself; and what may be done with it instead.
GAMMA = {
    "exp": "np.exp(w)",
    "softplus": "np.log1p(np.exp(w))",
    "none": "1 + 0 * w",
    "twice": "2 + w",
    "abs": "np.abs(1 + w)",
    "inverse": "1 / (1 + w)",
    "square": "(1 + w) ** 2",
}
NO_GAMMA = {"added": "h + 1 + w", **{f: f for f in ("w * h + 1", "(1 + h) * w", "h + w", "x + h * w")}}


def rms_norm_offset_model(x, w, eps, offset="1 + w", affine="right", **choices):
    if offset in NO_GAMMA:
        ((h,),) = rms_norm_model(x, 1 + 0 * w, eps, **choices)
        return ((evaluate(NO_GAMMA[offset], x=x, h=h, w=w),),)
    return rms_norm_model(x, evaluate(GAMMA.get(offset, offset), w=w), eps, affine=affine, **choices)


# ------------------------------------------------------------------------------ the words of the catalogue

LAYER_WORDS = {
    "v": "var", "group": "row", "flat": "of equal numbers", "square": "the variance", "root": "the standard deviation",
    "affine": "x_hat * gamma + beta", "feature": "feature", "sample": "row", "axis": "axis=-1", "statistic": "mean and one std",
    "spread": "variance", "wrong_count": "the number of rows, not of features",
}  # fmt: skip
RMS_WORDS = {
    "v": "mean(x**2)", "group": "row", "flat": "of zeros", "square": "a square", "root": "the root mean square",
    "affine": "x / rms * gamma", "feature": "feature", "sample": "row", "axis": "axis=-1", "statistic": "root mean square",
    "spread": "mean square", "wrong_count": "",
}  # fmt: skip


# The frequent slips: of these, three at once are recognized too.
FREQUENT = frozenset({
    "axis_batch", "axis_all", "ddof_1", "eps_outside", "eps_missing", "affine_missing", "beta_missing", "gamma_missing",
    "sum_instead_of_mean", "spread_not_centred", "not_centred", "divided_by_variance", "one_plus_gamma",
})  # fmt: skip


def _and_used(slips, decision):
    """Something else than the mean is subtracted, and the variance is taken about that as well."""
    return [
        replace(
            s,
            choice=f"{s.choice}, used",
            message=s.message + " The variance is taken about it too.",
        )
        for s in slips
        if s.decision == decision
        and (decision == "mean_axis" or s.choice in ("median", "min", "max", "sum", "plus"))
    ]


LAYER_SLIPS = read(
    AXES
    + SPREAD_AXES
    + VARIANCE
    + SHARED
    + SHIFT
    + MEAN_AXES
    + ROWS
    + AFFINE_FIRST
    + EPS_ELSEWHERE
    + CENTRED_ROWS
    + BRACKETS,
    **LAYER_WORDS,
)
LAYER_SLIPS += _and_used(LAYER_SLIPS, "centre") + _and_used(LAYER_SLIPS, "mean_axis")


def _measured_eps(parameters, v):
    """More slips: an eps of the learner's own, read off the answers; parameters(args) -> x, gamma, beta."""

    def measured(probes, answers):
        usable = [
            (args, a[0][0]) for args, a in zip(probes, answers) if args[0] is NEARLY_FLAT and a is not None
        ]
        if not usable or usable[0][1].shape != NEARLY_FLAT.shape:
            return []
        args, y = usable[0]
        x, gamma, beta = parameters(args)
        x_hat = (y - beta) / gamma
        centred = x - (x.mean(axis=-1, keepdims=True) if v == "var" else 0)
        values = (centred / x_hat) ** 2 - (centred**2).mean(axis=-1, keepdims=True)
        value = float(np.median(values))
        if not np.isfinite(value) or value <= 0:
            return []
        text = f"the argument eps is ignored: about {value:.3g} is used whatever eps is. Use `np.sqrt({v} + eps)`."
        return [Slip("eps_ignored", "eps_value", value, text)]

    return measured


# ------------------------------------------------------------------------------ what holds and what fails


def _row_properties(answer, args, gain, centred=False):
    """Facts about a normalization of rows; answer(x, scale, shift, eps) asks the learner's function.

    args: the first wrong probe; if its x has three axes, so has every x that is asked for. gain: what x_hat is scaled by.
    """
    x, (gamma, beta) = rows(6, 5), gains(5)

    def y_of(x=x, gamma=gamma, beta=beta, eps=1e-5):
        asked = x.reshape(2, 3, -1) if args[0].ndim > 2 else x
        outputs = answer(asked, gamma, beta, eps).outputs
        return outputs[0][0].reshape(x.shape) if outputs and outputs[0][0].shape == asked.shape else None

    def influences(j):
        """Does x[0, j] change y[0, 0]?"""
        other = x.copy()
        other[0, j] += 2.5
        moved = y_of(other)
        return moved is None or not _close(moved[0, 0], y[0, 0])

    y = y_of()
    if y is None:
        return []
    if np.any(np.isnan(y)):
        return [NAN]
    shift = beta if centred else 0
    others = y_of(np.concatenate([x[:1], 3 - 2 * x[1:]]))
    unseen = [j for j in range(1, 5) if influences(0) and not influences(j)]
    scaled = "what stands before the shift" if centred else "y"
    scales = _close(y_of(gamma=2 * gamma), 2 * (y - shift) + shift)
    about_beta = (_close(y_of(beta=beta + 1), y + 1), "beta is added",
                  "adding 1 to beta does not add 1 to the result", "beta_wrong")  # fmt: skip
    return [
        (others is not None and _close(others[0], y[0]), "a row does not depend on the other rows",
         "row 0 changes when the others do, so an average runs over the wrong axis", "rows_not_independent"),
        *([about_beta] if centred else []),
        (scales, f"{gain} scales", f"doubling {gain} does not double {scaled}", "gamma_wrong"),
        *(_facts_before_gain(x, (y - shift) / gamma, gain, centred) if scales else []),
        (not unseen, "every feature of a row counts in its statistics",
         f"x[0, {min(unseen, default=0)}] does not influence y[0, 0], as it should through the statistics of the row", "part_of_row"),
        (not _close(y_of(eps=0.5), y), "eps acts", "eps has no effect: eps = 0.5 and eps = 1e-5 give the same", "eps_ignored"),
    ]  # fmt: skip


def _facts_before_gain(x, x_hat, gain, centred):
    """Mean, spread and denominator of rows x that became x_hat."""
    if centred:
        what, root, numerator = "std", "sqrt(var + eps)", x - x.mean(axis=-1, keepdims=True)
        size = x_hat.std(axis=-1)
    else:
        what, root, numerator = "RMS", "sqrt(mean(x**2) + eps)", x
        size = np.sqrt((x_hat**2).mean(axis=-1))
    means, should = x_hat.mean(axis=-1), np.sqrt((numerator**2).mean(axis=-1) + 1e-5)
    factors = (x_hat * numerator).mean(axis=-1) / (numerator**2).mean(axis=-1)
    proportional = np.allclose(x_hat, factors[:, None] * numerator) and np.all(factors)
    row, other, third = (
        _first_unlike(*pair) for pair in ((means, 0 * means), (size, 1 + 0 * size), (1 / factors, should))
    )
    about_mean = (row is None, f"each row has mean 0 before {gain} and beta",
                  f"the rows do not have mean 0 before {gain} and beta (row {row}: {means[row or 0]:.4g})", "mean_not_0")  # fmt: skip
    about_spread = (other is None, f"each row has {what} 1 before {gain}",
                    f"the rows do not have {what} 1 before {gain} (row {other}: {size[other or 0]:.4g})", "spread_not_1")  # fmt: skip
    about_root = (third is None, "the denominator is right",
                  f"the numerator is right, but row {third} is divided by {1 / factors[third or 0]:.4g} where {root} is "
                  f"{should[third or 0]:.4g}", "denominator_wrong")  # fmt: skip
    return [*([about_mean] if centred else []), about_spread, *([about_root] if proportional else [])]


def _first_unlike(got, want):
    """Index of the first row whose number is not the right one, or None."""
    unlike = np.flatnonzero(~np.isclose(got, want, rtol=1e-3, atol=1e-6))
    return int(unlike[0]) if len(unlike) else None


def _close(a, b):
    return a is not None and a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)


def _layer_properties(ask, args):
    return _row_properties(ask, args, "gamma", centred=True)


def _rms_properties(ask, args):
    return _row_properties(lambda x, gamma, _, eps: ask(x, gamma, eps), args, "gamma")


def _offset_properties(ask, args):
    return _row_properties(lambda x, gamma, _, eps: ask(x, gamma - 1, eps), args, "1 + w")


# ------------------------------------------------------------------------------ other number types

LARGE = half([[-600, 500, 400, -300], [700, 0, -700, 100]])
WIDE = half(_numbers(12).standard_normal((2, 768)) * 20)
SMALL = half([[1e-4, -2e-4, 1e-4, 2e-4]])
OFF_CENTRE = single(1000 + 0.5 * _numbers(6).standard_normal((3, 8)))
WHOLE = np.array([[1, 2, 3, 9], [4, -5, 6, 0]])

CANCEL = (
    "In float32, with a mean that is large against the spread (1000 and 0.5), the variance loses its digits: "
    "E[x**2] - E[x]**2 subtracts two nearly equal numbers (cancellation). Subtract the mean first, then square."
)
WHOLE_NUMBERS = (
    "With an integer input it goes wrong (truncation, or an error): make it floating point first, for example "
    "`x = np.asarray(x, dtype=float)`."
)
HALF = (
    "With half-precision numbers (float16) a variance can overflow: more on this in “When numbers run out”."
)

RMS_HALF = (
    "With float16 a square can overflow or underflow, the last digit be off, or the dtype be promoted: more on this in "
    "“Half precision: in which order?”."
)

LAYER_REMARKS = [
    Remark((LARGE, half(np.ones(4)), half(np.zeros(4)), 1e-5), "float16_overflow", HALF),
    Remark(
        (half([[2, 2, 2, 2], [1, 2, 3, 4]]), half(np.ones(4)), half(np.zeros(4)), 1e-5),
        "float16_underflow",
        HALF,
    ),
    Remark(
        (WIDE, half(np.ones(768)), half(np.zeros(768)), 1e-5),
        "float16_overflow",
        HALF,
    ),
    Remark((OFF_CENTRE, single(np.ones(8)), single(np.zeros(8)), 1e-5), "float32_cancellation", CANCEL),
    Remark((WHOLE, *gains(4), 1e-5), "integers", WHOLE_NUMBERS),
    Remark(
        (half(TINY), single(np.ones(3)), single(np.zeros(3)), 1e-5), "dtype_promoted", HALF, about="dtype"
    ),
]


def _rms_remarks(gain):
    """The same for RMSNorm; gain: what leaves the values as they are."""
    return [
        Remark((LARGE, half(np.full(4, gain)), 1e-6), "float16_overflow", RMS_HALF),
        Remark((SMALL, half(np.full(4, gain)), 1e-10), "float16_underflow", RMS_HALF),
        Remark(
            (
                half(_numbers(7).standard_normal((4, 8))),
                half(_numbers(8).uniform(0.5, 2, 8) - 1 + gain),
                1e-6,
            ),
            "float16_rounding",
            RMS_HALF,
            about="last digit",
        ),
        Remark((WHOLE, gains(4)[0], 1e-6), "integers", WHOLE_NUMBERS),
        Remark((half(TINY), single(np.full(3, gain)), 1e-6), "dtype_promoted", RMS_HALF, about="dtype"),
    ]


# ------------------------------------------------------------------------------ the exercises

layer_norm = Exercise(
    reference=layers.layer_norm,
    outputs=("y",),
    probes=_layer_probes(1e-5),
    space=Space(
        layer_norm_model,
        LAYER_SLIPS,
        measured=_measured_eps(lambda args: args[:3], "var"),
        common=FREQUENT,
    ),
    properties=_layer_properties,
    remarks=LAYER_REMARKS,
    prompt=(
        "Write `layer_norm(x, gamma, beta, eps)`: normalize each row of `x` to mean 0 and std 1, then scale by `gamma` "
        "and shift by `beta`. `x` has shape (..., d), with two or more axes; a row is the last axis, and each row is "
        "normalized by itself. `gamma` and `beta` have shape (d,), one number for each feature. The variance is the "
        "biased one (divided by d), and eps is added to it inside the square root. Return an array shaped like `x`; "
        "leave `x` as it is."
    ),
    hints=[
        (
            "The rows come out wrong only when there are several? Then an average ran over the wrong axis. Which axis "
            "holds the features?"
        ),
        "A complaint about shapes? A mean over the last axis loses that axis; `keepdims=True` keeps it, with length 1.",
        (
            "Nearly right everywhere? Look at the variance (n or n - 1?), at where eps stands, and at the order of scale "
            "and shift."
        ),
        "mean and var of the last axis; `x_hat = (x - mean) / np.sqrt(var + eps)`; then `x_hat * gamma + beta`.",
    ],
    difficulty=2,
    minutes=10,
)


def _like_layer_norm(names):
    return (
        "the mean is subtracted, in the numerator and (through the variance) in the denominator: that is LayerNorm "
        "without beta. RMSNorm leaves the mean in: x_hat = x / sqrt(mean(x**2) + eps)."
        if names == {"mean_subtracted", "variance_not_mean_square"}
        else None
    )


rms_norm = Exercise(
    reference=layers.rms_norm,
    outputs=("y",),
    probes=[(x, gamma, eps) for x, gamma, _, eps in _layer_probes(1e-6)]
    + [(rows(4, 6) * 1e-3, gains(6)[0], 1e-6)],
    space=Space(
        rms_norm_model,
        read(
            AXES + MEAN_SQUARE + SHARED + ROWS + EPS_ELSEWHERE + SQUARE_BRACKETS,
            [("affine", "raw"), ("affine", "sum")],
            **RMS_WORDS,
        ),
        common=FREQUENT,
        measured=_measured_eps(lambda args: (args[0], args[1], 0), "mean(x**2)"),
        named=_like_layer_norm,
    ),
    properties=_rms_properties,
    remarks=_rms_remarks(1.0),
    prompt=(
        "Write `rms_norm(x, gamma, eps)`: divide each row of `x` by its root mean square, sqrt(mean(x**2) + eps), and "
        "scale by `gamma`. No mean is subtracted and nothing is added at the end. `x` has shape (..., d), with two or "
        "more axes; a row is the last axis. `gamma` has shape (d,), one number for each feature. eps stands inside the "
        "square root. Return an array shaped like `x`; leave `x` as it is."
    ),
    hints=[
        "RMS is read backwards: first Square, then Mean, then Root.",
        "The mean square of a row is one number for each row: `axis=-1, keepdims=True`.",
        "`np.var` subtracts the mean first; RMSNorm does not.",
        "`ms = np.mean(x**2, axis=-1, keepdims=True)`, and then `x / np.sqrt(ms + eps) * gamma`.",
    ],
    difficulty=1,
    minutes=5,
)

rms_norm_offset = Exercise(
    reference=layers.rms_norm_offset,
    outputs=("y",),
    probes=[(x, gamma - 1.2, eps) for x, gamma, _, eps in _layer_probes(1e-6)]
    + [(rows(4, 6) * 1e-3, gains(6)[0] - 1.2, 1e-6), (rows(4, 6), gains(6)[0] - 3.2, 1e-6)],
    space=Space(
        rms_norm_offset_model,
        read(
            OFFSETS + AXES + MEAN_SQUARE + SHARED + ROWS + EPS_ELSEWHERE,
            [("affine", choice) for choice in ("raw", "one plus", "none", "absolute gamma", "sum")],
            **RMS_WORDS | {"affine": "x / rms * (1 + w)"},
        ),
        measured=_measured_eps(lambda args: (args[0], 1 + args[1], 0), "mean(x**2)"),
        named=_like_layer_norm,
    ),
    properties=_offset_properties,
    remarks=_rms_remarks(0.0),
    prompt=(
        "Write `rms_norm_offset(x, w, eps)`: RMSNorm whose gain is stored around zero. Divide each row (the last axis) "
        "of `x`, of shape (..., d), by sqrt(mean(x**2) + eps) and multiply by 1 + `w`, where `w` has shape (d,). With "
        "`w` = 0 the result is the normalized row itself. Return an array shaped like `x`; leave `x` as it is."
    ),
    hints=[
        "What should come out when `w` is all zeros? Not zeros.",
        "Everything is as in `rms_norm`; only the gain changes, from gamma to 1 + w.",
    ],
    difficulty=1,
    minutes=3,
)
