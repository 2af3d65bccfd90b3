"""layer_norm_backward, rms_norm_backward and batch_norm_backward."""

import re
from dataclasses import replace

import numpy as np

from .. import layers
from .batches import channels
from .core import Exercise, Remark
from .formulas import evaluate
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

# Each step is a formula in the names of the steps before it. {} stands for what is averaged, summed or put in.
AVERAGES = {
    "right": "({}).mean(axis=over, keepdims=True)",
    "all": "({}).mean(keepdims=True)",
    "other": "({}).mean(axis=1 if over == 0 else lead, keepdims=True)",
    "all but first": "({}).mean(axis=tuple(range(1, x.ndim)), keepdims=True)",
    "first": "({}).mean(axis=0, keepdims=True)",
    "flat": "np.squeeze(({}).mean(axis=over))",
    "summed": "({}).sum(axis=over, keepdims=True)",
    "all summed": "({}).sum(keepdims=True) / n",
    "not averaged": "({})",
    "not summed": "({}) / n",
    "second count": "({}).sum(axis=over, keepdims=True) / x.shape[1]",
    "entries": "({}).sum(axis=over, keepdims=True) / x.size",
    "other count": "({}).sum(axis=over, keepdims=True) / x.shape[1 if over == 0 else 0]",
    "of each": "g.mean(axis=over, keepdims=True) * x_hat.mean(axis=over, keepdims=True)",
    "of each, summed": "g.sum(axis=over, keepdims=True) * x_hat.sum(axis=over, keepdims=True) / n",
    # Each row has its own rstd, so these are not sums of g * x_hat, nor of g.
    "dr over all": "rstd * (g * centred).sum(keepdims=True) / n",
    "dr over the batch": "rstd * (g * centred).sum(axis=0, keepdims=True) / n",
    "dv over all": "(g * centred * rstd**3).sum(keepdims=True) / n / rstd**2",
    "dc over all": "(rstd * reached).mean(keepdims=True) / rstd",
    "dc over the batch": "(rstd * reached).mean(axis=0, keepdims=True) / rstd",
    "dmu over all": "(rstd * g).sum(keepdims=True) / n / rstd",
}

NOT_THE_VARIANCE = {
    "variance, centred": "x.var(axis=over, keepdims=True)",
    "not centred": "(x**2).mean(axis=over, keepdims=True)",
}

RSTD = {
    "right": "1 / np.sqrt(var + eps)",
    "no eps": "1 / np.sqrt(var)",
    "eps outside": "1 / (np.sqrt(var) + eps)",
    "unbiased": "1 / np.sqrt(var * n / (n - 1) + eps)",
    "summed": "1 / np.sqrt(var * n + eps)",
    "length, eps outside": "1 / (np.sqrt(var * n) + eps)",
    "not inverted": "np.sqrt(var + eps)",
    "variance": "1 / (var + eps)",
    "variance kept": "var + eps",
    "twice": "1 / np.sqrt(1 / np.sqrt(var + eps) + eps)",
    "root twice": "1 / np.sqrt(np.sqrt(var + eps))",
    "root twice, std": "1 / np.sqrt(np.sqrt(var) + eps)",
    "one": "np.ones_like(var)",
} | dict.fromkeys(NOT_THE_VARIANCE, "1 / np.sqrt(var + eps)")

# A choice that stands in none of the tables below is a formula itself.
X_HAT = {
    "right": "centred * rstd",
    "not centred": "x * rstd",
    "other centre": "(x - x.mean(axis=over, keepdims=True)) * rstd",
    "scaled": "centred * rstd * gamma",
}

G = {
    "right": "dy * gamma",
    "twice": "dy * gamma**2",
    "absolute": "dy * np.abs(gamma)",
    "divided": "dy / gamma",
    "one plus": "dy * (1 + gamma)",
    "turned": "dy * gamma.reshape(-1, 1)",  # fails unless the input is square
    "late": "dy",
}

FACTORS = {
    "right": "1",
    "missing": "0",
    "sign": "-1",
    "summed": "n",
    "averaged twice": "1 / n",
    "twice": "2",
    "half": "0.5",
    "half summed": "n / 2",
    "unbiased": "n / (n - 1)",
    "by eight": "n / 8",
}

IN_VAR_TERM = {"right": "g * x_hat", "g * gamma": "g * gamma * x_hat"}
IN_VAR_EPS = {
    "right": "1",
    "under the power": "((var + eps) / var)**1.5",
    "under the quotient": "(var + eps) / var",
}
BEFORE_VAR_TERM = {"right": "x_hat", "one": "1", "squared": "x_hat**2"}

OUTER = {
    "right": "bracket * rstd",
    "none": "bracket",
    "squared": "bracket * rstd**2",
    "cubed": "bracket * rstd**3",
    "divided": "bracket / rstd",
    "over n": "bracket * rstd / n",
    "times n": "bracket * rstd * n",
    "variance": "bracket * (var + eps)",
    "not the direct term": "direct - (through_mean + through_var) * rstd",
    "not the direct term, nor its mean": "direct - through_mean - through_var * rstd",
    "direct only": "direct * rstd - through_mean - through_var",
    "not the mean": "(direct - through_var) * rstd - through_mean",
    "only dy": "g * rstd - dy.mean(axis=over) - x_hat * (dy * x_hat).mean(axis=over)",
    "only n * dy": "g * rstd - dy.sum(axis=over) - x_hat * (dy * x_hat).sum(axis=over)",
    "g times centred": "g * centred - (g * centred).mean(axis=over, keepdims=True) - through_var * rstd",
    "swapped": "(direct - mean_g_x_hat - x_hat * through_mean) * rstd",
}

WHOLE = {
    "right": "{}",
    "g": "dy * gamma",
    "zero": "0 * ({})",
    "sign": "-({})",
    "averaged": "({}) / rows",
    "averaged over the first axis": "({}) / len(x)",
    "twice": "2 * ({})",
    "half": "({}) / 2",
    "residual": "{} + dy",
    "output": "x_hat * gamma",
    "last row missing": "np.concatenate([({0})[:-1], 0 * ({0})[-1:]])",
    "over gamma": "({}) / gamma",
    "scaled dy": "dy * rstd",
}

SUMS = {
    "right": "({}).sum(axis=lead)",
    "not summed": "{}",
    "mean": "({}).sum(axis=lead) / rows",
    "mean of first axis": "({}).sum(axis=lead) / len(x)",
    "mean over the first axis": "({}).mean(axis=0)",
    "last row missing": "({})[:-1].sum(axis=lead)",
    "mean of features": "({}).sum(axis=lead) / x.shape[-1]",
    "zero": "0 * ({}).sum(axis=lead)",
    "sign": "-({}).sum(axis=lead)",
    "first axis only": "({}).sum(axis=0)",
    "other axis": "({}).sum(axis=-1)",
    "keepdims": "({}).sum(axis=lead, keepdims=True)",
    "everything": "({}).sum()",
    "last row": "({}).reshape(-1, x.shape[-1])[-1]",
    "first row": "({}).reshape(-1, x.shape[-1])[0]",
    "twice": "2 * ({}).sum(axis=lead)",
    "last of the first axis": "({})[-1]",
    "matrix product": "dy.T @ x_hat",
    "matrix product, turned": "x_hat.T @ dy",
    "matrix product of rows": "dy.reshape(rows, -1).T @ x_hat.reshape(rows, -1)",
    "matrix product of rows, turned": "x_hat.reshape(rows, -1).T @ dy.reshape(rows, -1)",
    "sums apart": "dy.sum(axis=lead) * x_hat.sum(axis=lead)",
    "square": "(({})**2).sum(axis=lead)",
    "ones": "0 * ({}).sum(axis=lead) + rows",
}
IN_DGAMMA = {
    "x": "dy * x",
    "centred": "dy * centred",
    "not centred": "dy * x * rstd",
    "scaled": "dy * x_hat * rstd",
    "g": "dy * gamma * x_hat",
    "over gamma": "dy * x_hat / gamma",
    "dx": "dx * x_hat",
}
IN_DBETA = {"g": "dy * gamma", "scaled": "dy * rstd"}


def _sum(choice, right, wrong):
    """The right thing, summed by choice; or by choice something wrong, summed in the right way."""
    return SUMS[choice].format(right) if choice in SUMS else SUMS["right"].format(wrong.get(choice, choice))


def _steps(centred=True, subtract_mean=False, rstd="right", eps_value="eps", x_hat="right", g="right", direct="right",
           mean="right", mean_sign="right", mean_of="g", var="right", var_sign="right", var_count="right",
           var_inner="right", var_outer="right", var_power=0, var_eps="right", outer="right",
           whole="right", params="right", dgamma=None, dbeta=None,
           axis="right", stats_axis=None, sums_axis=None, mean_axis=None, var_axis=None):  # fmt: skip
    """The steps of a backward pass, with switches: what each gives, and its formula."""
    average = AVERAGES[stats_axis or axis]
    mean_g, mean_g_x_hat = (AVERAGES[at or sums_axis or axis] for at in (mean_axis, var_axis))
    before = BEFORE_VAR_TERM.get(var_outer, var_outer)
    var_factor = " * ".join(FACTORS[choice] for choice in (var_sign, var_count, var))
    if var_axis == "dr over the batch":  # then the variance term has a mean, which step 5 takes away
        mean_of = "reached"
    dx = f"({OUTER[outer]}) * gamma" if g == "late" else OUTER[outer]
    return {
        "eps": f"{eps_value}",
        "mean": average.format("x") if centred else f"0 * {average.format('x')}",
        "centred": "x - mean",
        "var": NOT_THE_VARIANCE.get(rstd) or average.format("centred**2"),
        "rstd": RSTD[rstd],
        "x_hat": X_HAT.get(x_hat, x_hat),
        "g": G.get(g, g),
        "direct": f"{FACTORS[direct]} * g",
        "mean_g_x_hat": mean_g_x_hat.format(IN_VAR_TERM.get(var_inner, var_inner)),
        "through_var": f"{var_factor} * ({before}) * mean_g_x_hat * rstd**{var_power} * {IN_VAR_EPS[var_eps]}",
        "reached": "direct - through_var",
        "through_mean": f"{FACTORS[mean_sign]} * {FACTORS[mean]} * {mean_g.format(mean_of)}"
        if centred or subtract_mean
        else "0",
        "bracket": "reached - through_mean",
        "dx": WHOLE.get(whole, whole).format(dx),
        "dgamma": _sum(dgamma or params, "dy * x_hat", IN_DGAMMA),
        "dbeta": _sum(dbeta or params, "dy", IN_DBETA),
    }


def backward_model(dy, x, gamma, eps, over, lead, **choices):
    """dx, dgamma and dbeta; over: the axis of the means, lead: the axes that dgamma is summed over."""
    names = {"dy": dy, "x": x, "gamma": gamma, "eps": eps, "over": over, "lead": lead}
    names |= {"n": x.shape[over], "rows": x.size // gamma.size}
    for name, formula in _steps(**choices).items():
        names[name] = evaluate(formula, **names)
    return (names["dx"],), (names["dgamma"],), (names["dbeta"],)


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
    other = ask(dy, x, 2 * gamma, eps).outputs
    if not all((one, two, zero, other)) or {part[0][0].shape for part in (one, two, zero, other)} != {
        x.shape
    }:
        return []
    dx = one[0][0]
    linear = np.allclose(two[0][0], 2 * dx) and np.allclose(zero[0][0], 0)
    acts = np.allclose(other[0][0], 2 * dx)
    return [
        (linear, "doubling dy doubles dx", "doubling dy does not double dx", "not_linear"),
        (acts, "gamma scales dx", "doubling gamma does not double dx", "gamma_missing"),
    ]


def _with_sums_of_0(line, axis):
    """The same for a norm that subtracts the mean; line: what the numbers along the axis are called."""

    def properties(ask, args):
        facts, outputs = _properties(ask, args), ask(*args).outputs
        if not facts or not outputs:
            return facts
        dx = outputs[0][0]
        holds = np.allclose(dx.sum(axis=axis), 0, atol=1e-6 * np.abs(dx).max())
        no = f"the {line}s of dx do not sum to 0, as the mean term makes them"
        return [*facts, (holds, f"each {line} of dx sums to 0", no, "dx_sum_not_0")]

    return properties


# ------------------------------------------------------------------------------ the exercises

LINE = "It is dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)), where g = dy * gamma."
STEPS = "step_g", "step_r", "step_var", "step_mean", "step_all"  # what follows the mistake: where to look
CENTRED_WORDS = {
    "v": "var", "x_hat": "x_hat = (x - mean) * rstd",
    "both": "dgamma and dbeta are", "both_in": "dgamma and dbeta", "sums": "dgamma = sum(dy * x_hat), dbeta = sum(dy)",
    "v_term": "the variance term", "v_why": "the variance depends on x too", "statistics": "mean and the std are treated as constants",
    "or_0": ", or is 0 (as the mean of x_hat or of x - mean always is)", "stats": "the mean and the variance of x run", "swapped": "",
}  # fmt: skip
ROW_WORDS = CENTRED_WORDS | {
    "one": "row", "axis": "axis=-1", "lead": "batch (all axes but the last)",
    "sum_of": "(dy * x_hat).sum(axis=tuple(range(x.ndim - 1)))",
    "step_g": "That is step 1.", "step_r": "Step 2: what goes on to c is g * r, r being rstd.",
    "step_var": "Steps 3 and 4: dv = -0.5 * r**3 * dr, and c gets dv * 2 * c / d.", "step_mean": "Step 5: dx = dc - mean(dc).",
    "step_all": "Walk the five steps once more.",
}  # fmt: skip
CHANNEL_WORDS = CENTRED_WORDS | dict.fromkeys(STEPS, LINE) | {
    "one": "channel", "axis": "axis=0", "lead": "batch", "sum_of": "(dy * x_hat).sum(axis=0)",
    "swapped": " With the sums dbeta and dgamma it is n * dy - dbeta - x_hat * dgamma.",
}  # fmt: skip
RMS_WORDS = ROW_WORDS | {
    "v": "mean(x**2)", "x_hat": "x_hat = x * r",
    "both": "dgamma is", "both_in": "dgamma", "sums": "dgamma = sum(dy * x_hat)", "v_term": "the mean-square term", "statistics": "RMS is treated as a constant",
    "or_0": "", "stats": "the mean square of x runs", "v_why": "the RMS is treated as a constant, but it depends on x too",
    "step_r": "Step 2: what goes on to x is g * r.", "step_var": "Steps 3 and 4: dm = -0.5 * r**3 * dr, and dx gets dm * 2 * x / d.",
    "step_mean": "There is no step for the mean.", "step_all": "Walk the four steps once more.",
}  # fmt: skip


def _of_one(parameter, gradient, catalogue=mistakes.PARAMETERS):
    """What can go wrong with both parameters, said of one of them."""
    text = catalogue.replace("params", f"d{parameter}").replace("they keep", "it keeps")
    text = text.replace("{both_in}", f"d{parameter}")
    return text.replace("{both}", f"d{parameter} is").replace("{sums}", gradient)


def _in_rms_norm(slips):
    """These mistakes in the letters of RMSNorm's steps."""
    words = mistakes.IN_RMS_NORM
    pattern = rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)"
    return [replace(s, message=re.sub(pattern, lambda found: words[found[0]], s.message)) for s in slips]


ABOUT_DGAMMA = mistakes.DGAMMA + _of_one("gamma", "sum(dy * x_hat)")
ABOUT_DBETA = mistakes.DBETA + _of_one("beta", "sum(dy)")
MATRIX_PRODUCTS = "".join(
    mistakes.DGAMMA_ALONE.replace("{way}", way) for way in ("", ", turned", " of rows", " of rows, turned")
)
DGAMMA_ALONE = (
    MATRIX_PRODUCTS
    + mistakes.DGAMMA_OF_ROWS_ALONE
    + _of_one("gamma", "sum(dy * x_hat)", mistakes.PARAMETERS_ALONE)
)
BOTH_PARAMETERS = mistakes.DX + mistakes.THROUGH_MEAN + mistakes.PARAMETERS + ABOUT_DGAMMA + ABOUT_DBETA

layer_norm_backward = Exercise(
    reference=layers.layer_norm_backward,
    outputs=("dx", "dgamma", "dbeta"),
    probes=ROW_PROBES,
    space=Space(
        layer_norm_backward_model,
        read(BOTH_PARAMETERS + mistakes.ROWS_ONLY, **ROW_WORDS),
        alone=read(
            mistakes.DX_ALONE
            + mistakes.CENTRED_ALONE
            + mistakes.ROWS_ALONE
            + mistakes.PARAMETERS_ALONE
            + DGAMMA_ALONE
            + _of_one("beta", "sum(dy)", mistakes.PARAMETERS_ALONE),
            **ROW_WORDS,
        ),
        named=lambda names: (
            "The mean term and the variance term are both missing from dx, or 0: mean and std are treated as constants, but "
            "they depend on x. Steps 3 to 5 of the walk back through LayerNorm."
            if names == {"mean_term_missing", "var_term_missing"}
            else None
        ),
    ),
    properties=_with_sums_of_0("row", axis=-1),
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
        _in_rms_norm(
            read(mistakes.DX + mistakes.ROWS_ONLY + ABOUT_DGAMMA, [("dgamma", "not centred")], **RMS_WORDS)
        )
        + read(mistakes.ONLY_RMS, **RMS_WORDS),
        alone=_in_rms_norm(read(mistakes.DX_ALONE + mistakes.RMS_ALONE + DGAMMA_ALONE, **RMS_WORDS)),
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
        read(BOTH_PARAMETERS + mistakes.CHANNELS_ONLY, NOT_HERE, **CHANNEL_WORDS),
        alone=read(
            mistakes.DX_ALONE + mistakes.CENTRED_ALONE + mistakes.CHANNELS_ALONE + MATRIX_PRODUCTS,
            **CHANNEL_WORDS,
        ),
        named=layer_norm_backward.space.named,
    ),
    properties=_with_sums_of_0("column", axis=0),
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
