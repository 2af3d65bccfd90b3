"""layer_norm_backward, rms_norm_backward and batch_norm_backward."""

import re
from dataclasses import replace

import numpy as np

from .. import layers
from .batches import channels
from .core import Exercise, Remark
from .mistakes import backwards as mistakes
from .norms import FAINT, gains, row_axis, rows, some_negative
from .slips import Space, read

# ------------------------------------------------------------------------------ inputs


def _incoming(shape):
    return np.random.default_rng(13).standard_normal(shape) + 0.3


def _row_probe(*shape, eps=1e-5, spread=None):
    x = rows(*shape) if spread is None else 2.0 + spread * rows(*shape)
    return _incoming(shape), x, gains(shape[-1])[0], eps


ROW_PROBES = [
    _row_probe(2, 3),
    _row_probe(4, 6),
    _row_probe(5, 5),
    _row_probe(2, 3, 4),
    _row_probe(4, 4, 4),
    _row_probe(1, 6),
    _row_probe(4, 6, spread=2e-3),
    _row_probe(4, 6, eps=0.5),
    (_incoming((3, 4)), FAINT, gains(4)[0], 1e-5),
    (_incoming((4, 6)), rows(4, 6), some_negative(gains(6)[0], 3), 1e-5),
]


def _channel_probe(*shape, eps=1e-5, scale=1.0):
    return _incoming(shape), channels(*shape, scale=scale), gains(shape[1])[0], eps


CHANNEL_PROBES = [
    _channel_probe(3, 2),
    _channel_probe(6, 4),
    _channel_probe(4, 4),
    _channel_probe(6, 4, scale=2e-3),
    _channel_probe(6, 4, eps=0.5),
    _channel_probe(6, 4, scale=1e-6),
    (_incoming((6, 4)), channels(6, 4), some_negative(gains(4)[0], 3), 1e-5),
]

# ------------------------------------------------------------------------------ the model

RSTD = {
    "right": lambda v, eps, n: 1 / np.sqrt(v + eps),
    "no eps": lambda v, eps, n: 1 / np.sqrt(v),
    "eps outside": lambda v, eps, n: 1 / (np.sqrt(v) + eps),
    "unbiased": lambda v, eps, n: 1 / np.sqrt(v * n / (n - 1) + eps),
    "summed": lambda v, eps, n: 1 / np.sqrt(v * n + eps),
    "not inverted": lambda v, eps, n: np.sqrt(v + eps),
    "variance": lambda v, eps, n: 1 / (v + eps),
    "variance kept": lambda v, eps, n: v + eps,
    "twice": lambda v, eps, n: 1 / np.sqrt(1 / np.sqrt(v + eps) + eps),
    "root twice": lambda v, eps, n: 1 / np.sqrt(np.sqrt(v + eps)),
    "root twice, std": lambda v, eps, n: 1 / np.sqrt(np.sqrt(v) + eps),
    "one": lambda v, eps, n: np.ones_like(v),
}

FACTORS = {
    "right": lambda n: 1,
    "missing": lambda n: 0,
    "sign": lambda n: -1,
    "summed": lambda n: n,
    "averaged twice": lambda n: 1 / n,
    "twice": lambda n: 2,
    "half": lambda n: 0.5,
    "half summed": lambda n: n / 2,
    "unbiased": lambda n: n / (n - 1),
    "by eight": lambda n: n / 8,
}
DR_OVER = {"dr over all": None, "dr over the batch": 0}


def _parameter_gradient(choice, right, terms, lead, dy, n):
    """dgamma or dbeta by choice; right: what is summed; terms: wrong things that might be summed."""
    rows_ = int(np.prod([dy.shape[a] for a in lead]))
    if choice in terms:
        return terms[choice].sum(axis=lead)
    whole = right.sum(axis=lead)
    return {
        "right": lambda: whole,
        "not summed": lambda: right,
        "mean": lambda: whole / rows_,
        "mean of first axis": lambda: whole / dy.shape[lead[0]],
        "mean over the first axis": lambda: right.mean(axis=lead[0]),
        "last row missing": lambda: right[:-1].sum(axis=lead),
        "mean of features": lambda: whole / n,
        "zero": lambda: 0 * whole,
        "sign": lambda: -whole,
        "first axis only": lambda: right.sum(axis=lead[0]),
        "other axis": lambda: right.sum(axis=next(a for a in range(dy.ndim) if a not in lead)),
        "keepdims": lambda: right.sum(axis=lead, keepdims=True),
        "everything": lambda: right.sum(),
        "last row": lambda: right.reshape(-1, right.shape[-1])[-1],
        "first row": lambda: right.reshape(-1, right.shape[-1])[0],
        "twice": lambda: 2 * whole,
        "square": lambda: (right**2).sum(axis=lead),
        "ones": lambda: 0 * whole + rows_,
    }[choice]()


def backward_model(
    dy,
    x,
    gamma,
    eps,
    over,
    lead,
    centred=True,
    subtract_mean=False,
    rstd="right",
    eps_value=None,
    x_hat="right",
    g="right",
    direct="right",
    mean="right",
    mean_of="g",
    var="right",
    var_inner="g * x_hat",
    var_outer="x_hat",
    var_power=0,
    outer="rstd",
    whole="right",
    params="right",
    dgamma="right",
    dbeta="right",
    axis="right",
    sums_axis="right",
    mean_axis="right",
    var_axis="right",
):
    """dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)), dgamma and dbeta, with switches."""
    axes = {
        "right": over,
        "all": tuple(range(x.ndim)),
        "other": 1 if over == 0 else lead,
        "all but first": tuple(range(1, x.ndim)),
        "first": 0,
    }
    eps = eps if eps_value is None else eps_value
    n = x.size // x.mean(axis=over, keepdims=True).size

    def average(a, at="right"):
        if at == "all summed":
            return a.sum(keepdims=True) / n
        if at == "not averaged":
            return a
        if at == "not summed":
            return a / n
        if at == "summed":
            return a.sum(axis=over, keepdims=True)
        if at == "second count":
            return a.sum(axis=over, keepdims=True) / x.shape[1]
        if at == "entries":
            return a.sum(axis=over, keepdims=True) / x.size
        if at == "other count":
            return a.sum(axis=over, keepdims=True) / (x.shape[1] if over == 0 else len(x))
        if at == "flat":
            return np.squeeze(a.mean(axis=over))
        return a.mean(axis=axes[at], keepdims=True)

    m = average(x, axis) if centred else 0 * average(x, axis)
    v = average((x - m) ** 2, axis)
    if rstd == "variance, centred":
        v, rstd = average((x - average(x)) ** 2), "right"
    if rstd == "not centred":
        v, rstd = average(x**2), "right"
    scale = RSTD[rstd](v, eps, n)
    hat = {"right": (x - m) * scale, "x": x, "centred": x - m, "not centred": x * scale, "sign": (m - x) * scale,
           "other centre": (x - average(x)) * scale, "scaled": (x - m) * scale * gamma}[x_hat]  # fmt: skip
    G = {"right": dy * gamma, "dy": dy, "twice": dy * gamma**2, "absolute": dy * np.abs(gamma), "divided": dy / gamma,
         "late": dy}.get(g)  # fmt: skip
    if g == "turned":  # fails unless the input is square
        G = dy * gamma.reshape(-1, 1)
    named = {"g": G, "dy": dy, "dy * gamma": dy * gamma}
    sums_axis = axis if sums_axis == "right" else sums_axis
    mean_axis, var_axis = (sums_axis if at == "right" else at for at in (mean_axis, var_axis))
    through_mean = FACTORS[mean](n) * average(named[mean_of], mean_axis) if centred or subtract_mean else 0
    inner = {
        "g * x_hat": G * hat, "dy * x_hat": dy * hat, "g * x": G * x, "g": G, "g * centred": G * (x - m),
        "dy": dy, "dy * x": dy * x, "g * gamma": G * gamma * hat, "g * x * rstd": G * x * scale,
    }[var_inner]  # fmt: skip
    outside = {"x_hat": hat, "x": x, "centred": x - m, "one": 1, "g": G, "squared": hat**2}[var_outer]
    if var_axis in DR_OVER:  # each row has its own scale, so this is not the sum of g * x_hat
        inner = scale * (G * (x - m)).sum(axis=DR_OVER[var_axis], keepdims=True) / n
    else:
        inner = average(inner, var_axis)
    through_var = FACTORS[var](n) * outside * inner * scale**var_power
    bracket = FACTORS[direct](n) * G - through_mean - through_var
    dx = {
        "rstd": bracket * scale, "none": bracket, "squared": bracket * scale**2, "divided": bracket / scale,
        "cubed": bracket * scale**3, "over n": bracket * scale / n, "times n": bracket * scale * n,
        "variance": bracket * (v + eps),
        "not the direct term": FACTORS[direct](n) * G - (through_mean + through_var) * scale,
        "not the direct term, nor its mean": FACTORS[direct](n) * G - through_mean - through_var * scale,
        "direct only": FACTORS[direct](n) * G * scale - through_mean - through_var,
        "not the mean": (FACTORS[direct](n) * G - through_var) * scale - through_mean,
    }[outer]  # fmt: skip
    if g == "late":
        dx = dx * gamma
    rows_ = int(np.prod([dy.shape[a] for a in lead]))
    dx = {
        "right": dx, "dy": dy, "g": dy * gamma, "zero": 0 * dx, "sign": -dx, "averaged": dx / rows_, "averaged over the first axis": dx / len(dy), "twice": 2 * dx,
        "residual": dx + dy, "x_hat": hat, "half": dx / 2, "output": hat * gamma, "last row missing": dx * (np.arange(len(dx)) < len(dx) - 1).reshape(-1, *[1] * (x.ndim - 1)), "over gamma": dx / gamma, "scaled dy": dy * scale,
    }[whole]  # fmt: skip
    y_part = {"x": dy * x, "centred": dy * (x - m), "g": dy * gamma * hat, "dy": dy, "x_hat": hat, "dx": dx * hat,
              "over gamma": dy * hat / gamma, "not centred": dy * x * scale}  # fmt: skip
    x_part = {"x": x, "g": dy * gamma, "x_hat": hat, "dy * x_hat": dy * hat, "dx": dx, "scaled": dy * scale}
    dgamma, dbeta = (params if choice == "right" else choice for choice in (dgamma, dbeta))
    return (
        (dx,),
        (_parameter_gradient(dgamma, dy * hat, y_part, lead, dy, n),),
        (_parameter_gradient(dbeta, dy, x_part, lead, dy, n),),
    )


def layer_norm_backward_model(dy, x, gamma, eps, **choices):
    return backward_model(dy, x, gamma, eps, -1, row_axis("all but last", x.ndim), **choices)


def rms_norm_backward_model(dy, x, gamma, eps, **choices):
    return layer_norm_backward_model(dy, x, gamma, eps, **{"centred": False} | choices)[:2]


def batch_norm_backward_model(dy, x, gamma, eps, **choices):
    return backward_model(dy, x, gamma, eps, 0, (0,), **choices)


# ------------------------------------------------------------------------------ what holds and what fails


def _properties(ask, args):
    """Facts about a gradient of a norm that hold whatever the numbers."""
    dy, x, gamma, eps = args
    one, two = ask(dy, x, gamma, eps).outputs, ask(2 * dy, x, gamma, eps).outputs
    zero = ask(0 * dy, x, gamma, eps).outputs
    if not one or not two or not zero or one[0][0].shape != x.shape or two[0][0].shape != x.shape:
        return []
    dx = one[0][0]
    linear = np.allclose(two[0][0], 2 * dx) and np.allclose(zero[0][0], 0)
    other = ask(dy, x, 2 * gamma, eps).outputs
    acts = other and np.allclose(other[0][0], 2 * dx)
    return [
        (linear, "doubling dy doubles dx" if linear else "doubling dy does not double dx", "not_linear"),
        (bool(acts), "gamma scales dx" if acts else "doubling gamma does not double dx", "gamma_missing"),
    ]


def _layer_properties(ask, args):
    dx = ask(*args).outputs[0][0]
    holds = dx.shape == args[1].shape and np.allclose(dx.sum(axis=-1), 0, atol=1e-6 * np.abs(dx).max())
    text = (
        "each row of dx sums to 0" if holds else "the rows of dx do not sum to 0, as the mean term makes them"
    )
    return _properties(ask, args) + [(bool(holds), text, "dx_sum_not_0")]


def _batch_properties(ask, args):
    dx = ask(*args).outputs[0][0]
    holds = dx.shape == args[1].shape and np.allclose(dx.sum(axis=0), 0, atol=1e-6 * np.abs(dx).max())
    text = (
        "each column of dx sums to 0"
        if holds
        else "the columns of dx do not sum to 0, as the mean term makes them"
    )
    return _properties(ask, args) + [(bool(holds), text, "dx_sum_not_0")]


# ------------------------------------------------------------------------------ the exercises

LINE = "It is dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)), where g = dy * gamma."
STEPS = "step_g", "step_r", "step_var", "step_mean", "step_all"  # what follows the mistake: where to look
CENTRED_WORDS = {
    "v": "var", "x_hat": "x_hat = (x - mean) * rstd",
    "both": "dgamma and dbeta are", "both_in": "dgamma and dbeta", "sums": "dgamma = sum(dy * x_hat), dbeta = sum(dy)",
    "v_term": "the variance term", "v_why": "the variance depends on x too", "statistics": "mean and the std are treated as constants",
}  # fmt: skip
ROW_WORDS = CENTRED_WORDS | {
    "one": "row", "axis": "axis=-1", "lead": "batch (all axes but the last)",
    "step_g": "That is step 1.", "step_r": "Step 2: what goes on to c is g * r, r being rstd.",
    "step_var": "Steps 3 and 4: what comes through the variance.", "step_mean": "Step 5: what comes through the mean.",
    "step_all": "Walk the five steps once more.",
}  # fmt: skip
CHANNEL_WORDS = (
    CENTRED_WORDS | {"one": "channel", "axis": "axis=0", "lead": "batch"} | dict.fromkeys(STEPS, LINE)
)
RMS_WORDS = ROW_WORDS | {
    "v": "mean(x**2)", "x_hat": "x_hat = x * r",
    "both": "dgamma is", "both_in": "dgamma", "sums": "dgamma = sum(dy * x_hat)", "v_term": "the mean-square term", "statistics": "RMS is treated as a constant",
    "v_why": "the RMS is treated as a constant, but it depends on x too",
    "step_r": "Step 2: what goes on to x is g * r.", "step_var": "Steps 3 and 4: dm = -0.5 * r**3 * dr, and dx gets dm * 2 * x / d.",
    "step_mean": "There is no step for the mean.", "step_all": "Walk the four steps once more.",
}  # fmt: skip


def _of_one(parameter, gradient):
    """What can go wrong with both parameters, said of one of them."""
    text = mistakes.PARAMETERS.replace("params", f"d{parameter}").replace("they keep", "it keeps")
    text = text.replace("{both_in}", f"d{parameter}")
    return text.replace("{both}", f"d{parameter} is").replace("{sums}", gradient)


def _in_rms_norm(slips):
    """These mistakes in the letters of RMSNorm's steps."""
    words = mistakes.IN_RMS_NORM
    pattern = rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)"
    return [replace(s, message=re.sub(pattern, lambda found: words[found[0]], s.message)) for s in slips]


DGAMMA = mistakes.DGAMMA + _of_one("gamma", "sum(dy * x_hat)")
DBETA = mistakes.DBETA + _of_one("beta", "sum(dy)")
BOTH_PARAMETERS = mistakes.DX + mistakes.THROUGH_MEAN + mistakes.PARAMETERS + DGAMMA + DBETA

layer_norm_backward = Exercise(
    reference=layers.layer_norm_backward,
    outputs=("dx", "dgamma", "dbeta"),
    probes=ROW_PROBES,
    space=Space(
        layer_norm_backward_model,
        read(BOTH_PARAMETERS + mistakes.ROWS_ONLY, **ROW_WORDS),
        named=lambda names: (
            "The mean term and the variance term are both missing from dx: mean and std are treated as constants, but "
            "they depend on x. Steps 3 to 5 of notebook 03."
            if names == {"mean_term_missing", "var_term_missing"}
            else None
        ),
    ),
    properties=_layer_properties,
    prompt=(
        "Write `layer_norm_backward(dy, x, gamma, eps)` and return three things: `dx, dgamma, dbeta`. `dy` is what "
        "arrives at the output y = x_hat * gamma + beta, shaped like `x`: (..., d), two or more axes; `gamma` is (d,). "
        "Mean and (biased) variance are those of each row, the last axis, with eps inside the square root; both depend "
        "on x, and dx must say so. `dgamma` and `dbeta` have shape (d,) and are sums over all rows, not averages."
    ),
    hints=[
        "Start from the end: what does dy do to beta, to gamma, to x_hat? Call the last one g = dy * gamma.",
        "One x reaches every x_hat of its row in three ways: directly, through the mean, through the variance.",
        (
            "Every step keeps `axis=-1, keepdims=True`: step 4 adds what comes directly, g * r, to what comes through the "
            "variance, dv * 2 * c / d; step 5 takes the mean of that away."
        ),
        "gamma acts on every row, so its gradient is a sum over all axes but the last.",
    ],
    difficulty=4,
    minutes=25,
)

rms_norm_backward = Exercise(
    reference=layers.rms_norm_backward,
    outputs=("dx", "dgamma"),
    probes=[(dy, x, gamma, 1e-6 if eps == 1e-5 else eps) for dy, x, gamma, eps in ROW_PROBES],
    space=Space(
        rms_norm_backward_model,
        _in_rms_norm(read(mistakes.DX + mistakes.ROWS_ONLY, **RMS_WORDS))
        + read(mistakes.ONLY_RMS + DGAMMA, [("dgamma", "not centred")], **RMS_WORDS),
    ),
    properties=_properties,
    prompt=(
        "Write `rms_norm_backward(dy, x, gamma, eps)` and return two things: `dx, dgamma`. `dy` is what arrives at the "
        "output y = x / rms * gamma, rms = sqrt(mean(x**2) + eps) of each row (the last axis). `dy` and `x` have shape "
        "(..., d), `gamma` (d,). `dgamma` has shape (d,) and is a sum over all rows, not an average."
    ),
    hints=[
        "It goes in four steps: g = dy * gamma; dr, through the product x * r; dm, through the root; and dx.",
        "dr is one number for each row: `(g * x).sum(axis=-1, keepdims=True)`. dgamma is a sum over all other axes.",
        "x reaches the output directly and through the mean square: dx = g * r + dm * 2 * x / d, and d is x.shape[-1].",
    ],
    difficulty=3,
    minutes=15,
)

# With two axes and one channel a column these change nothing, or the same as another slip.
NOT_HERE = [("g", "late"), ("whole", "over gamma"), ("whole", "averaged"), ("whole", "averaged over the first axis"), ("sums_axis", "flat"), ("var_axis", "flat"), ("mean_axis", "flat"),
            ("params", "first axis only"), ("dgamma", "first axis only"), ("dbeta", "first axis only"),
            ("dgamma", "x_hat"), ("dbeta", "x_hat"), ("dbeta", "dx"), ("params", "mean of first axis"),
            ("dgamma", "mean of first axis"), ("dbeta", "mean of first axis")]  # fmt: skip
IMAGES = "With images, x (N, C, H, W), it goes wrong: average over `axis=(0, 2, 3)` and reshape gamma to (1, C, 1, 1)."

batch_norm_backward = Exercise(
    reference=layers.batch_norm_backward,
    outputs=("dx", "dgamma", "dbeta"),
    probes=CHANNEL_PROBES,
    space=Space(
        batch_norm_backward_model,
        read(BOTH_PARAMETERS, NOT_HERE, **CHANNEL_WORDS),
        named=layer_norm_backward.space.named,
    ),
    properties=_batch_properties,
    remarks=[Remark(_channel_probe(2, 3, 4, 5), "images", IMAGES)],
    prompt=(
        "Write `batch_norm_backward(dy, x, gamma, eps)`, the gradient in training, and return three things: `dx, "
        "dgamma, dbeta`. `dy` and `x` have shape (N, C), `gamma` (C,). Mean and (biased) variance are those of each "
        "channel over the batch, eps inside the square root; both depend on x, and dx must say so. `dgamma` and "
        "`dbeta` have shape (C,) and are sums over the batch, not averages. If yours also takes (N, C, H, W), better "
        "still."
    ),
    hints=[
        "It is the LayerNorm gradient of the transposed matrix: the means run over the batch.",
        "One x reaches every x_hat of its channel in three ways: directly, through the mean, through the variance.",
        "dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)), with g = dy * gamma and means over axis 0.",
    ],
    difficulty=4,
    minutes=20,
)
