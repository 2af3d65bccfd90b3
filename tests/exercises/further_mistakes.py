"""Mistakes of kinds that public bug reports describe, written after the check: the honest measure of it.

Each: exercise, a word or two that the message must hold, and the function.
"""

import numpy as np

FURTHER = []


def mistake(exercise, *words):
    def add(f):
        FURTHER.append((exercise, words, f))
        return f

    return add


# ------------------------------------------------------------------------------ layer_norm


@mistake("layer_norm", "batch")
def over_the_batch(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(0)) / np.sqrt(x.var(0) + eps) + beta


@mistake("layer_norm", "tokens and features")
def flattened_after_the_batch(x, gamma, beta, eps=1e-5):
    flat = x.reshape(len(x), -1)
    flat = (flat - flat.mean(1, keepdims=True)) / np.sqrt(flat.var(1, keepdims=True) + eps)
    return flat.reshape(x.shape) * gamma + beta


@mistake("layer_norm", "eps is missing")
def without_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) + beta


@mistake("layer_norm", "mean is not subtracted")
def numerator_not_centred(x, gamma, beta, eps=1e-5):
    return x / np.sqrt(np.var(x, -1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "keepdims")
def keepdims_forgotten(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1)) / np.sqrt(x.var(-1) + eps) * gamma + beta


@mistake("layer_norm", "L2 norm")
def length_of_the_row(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c**2).sum(-1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "beta is never added")
def bias_forgotten(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma


@mistake("layer_norm", "1 + gamma")
def zero_centred_gain(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * (gamma + 1) + beta


@mistake("layer_norm", "axis 1")
def channel_axis_one(x, gamma, beta, eps=1e-5):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "padding")
def zero_lanes_counted(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    block = 1 << (d - 1).bit_length()
    wide = np.zeros((*x.shape[:-1], block))
    wide[..., :d] = x
    mean = wide.sum(-1, keepdims=True) / d
    var = ((wide - mean) ** 2).sum(-1, keepdims=True) / d
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


@mistake("layer_norm", "padding")
def divided_by_the_block_size(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    block = 1 << (d - 1).bit_length()
    mean = x.sum(-1, keepdims=True) / block
    var = ((x - mean) ** 2).sum(-1, keepdims=True) / block
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


@mistake("layer_norm", "Welford")
def welford_with_the_old_mean_twice(x, gamma, beta, eps=1e-5):
    mean, m2 = np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1])
    for i in range(x.shape[-1]):
        delta = x[..., i] - mean
        mean = mean + delta / (i + 1)
        m2 = m2 + delta * delta
    var = m2 / x.shape[-1]
    return (x - mean[..., None]) / np.sqrt(var[..., None] + eps) * gamma + beta


@mistake("layer_norm", "two different answers")
def statistics_kept_from_the_first_call(x, gamma, beta, eps=1e-5, kept={}):  # noqa: B006
    kept["calls"] = kept.get("calls", 0) + 1
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta / kept[
        "calls"
    ]


@mistake("layer_norm", "float16")
def squeezed_through_half(x, gamma, beta, eps=1e-5):
    h = x.astype(np.float16).astype(np.float64)
    return (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "gamma", "beta", "swapped")
def parameters_in_the_other_order(x, beta, gamma, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "batch", "variance")
def mean_of_rows_std_of_columns(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(0, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "n - 1", "outside")
def torch_std_and_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / (np.std(x, axis=-1, ddof=1, keepdims=True) + eps) + beta


@mistake("layer_norm", "return")
def nothing_returned(x, gamma, beta, eps=1e-5):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta  # noqa: F841


@mistake("layer_norm", "first row")
def return_inside_the_loop(x, gamma, beta, eps=1e-5):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = (x[i] - x[i].mean(-1, keepdims=True)) / np.sqrt(
            x[i].var(-1, keepdims=True) + eps
        ) * gamma + beta
        return y


@mistake("layer_norm", "L2 norm", "eps")
def unit_length_rows(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return c / (np.linalg.norm(c, axis=-1, keepdims=True) + eps) * gamma + beta


# ------------------------------------------------------------------------------ rms_norm and its kin


@mistake("rms_norm", "outside")
def rms_eps_outside(x, gamma, eps=1e-6):
    return x / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps) * gamma


@mistake("rms_norm", "square root")
def rms_without_root(x, gamma, eps=1e-6):
    return x / ((x**2).mean(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm", "1 + gamma")
def gemma_gain(x, gamma, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * (1 + gamma)


@mistake("rms_norm", "d")
def scale_upside_down(x, gamma, eps=1e-6):
    d = x.shape[-1]
    return x / (np.sqrt((x**2).sum(-1, keepdims=True) + eps) * d**0.5) * gamma


@mistake("rms_norm", "part of the row")
def partial_rms(x, gamma, eps=1e-6):
    k = max(1, x.shape[-1] // 2)
    return x / np.sqrt((x[..., :k] ** 2).mean(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm", "whole array")
def rms_of_everything(x, gamma, eps=1e-6):
    return x / np.sqrt(np.mean(x**2) + eps) * gamma


@mistake("rms_norm", "gamma", "never")
def gain_forgotten(x, gamma, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


@mistake("rms_norm", "divided by the number of values")
def eps_in_the_sum(x, gamma, eps=1e-6):
    return x / np.sqrt(((x**2).sum(-1, keepdims=True) + eps) / x.shape[-1]) * gamma


@mistake("rms_norm", "lower limit")
def functional_normalize(x, gamma, eps=1e-6):
    length = np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), eps)
    return x / length * x.shape[-1] ** 0.5 * gamma


@mistake("rms_norm", "mean")
def centred_numerator_only(x, gamma, eps=1e-6):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm_offset", "2 + w")
def offset_added_twice(x, w, eps=1e-6):
    w = w + 1
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * (1 + w)


@mistake("rms_norm_offset", "x itself")
def offset_on_x(x, w, eps=1e-6):
    return x + x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * w


# ------------------------------------------------------------------------------ backwards


def _ln(dy, x, gamma, eps):
    r = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    h = (x - x.mean(-1, keepdims=True)) * r
    lead = tuple(range(x.ndim - 1))
    return dy * gamma, h, r, (dy * h).sum(lead), dy.sum(lead)


def m(a):
    return a.mean(-1, keepdims=True)


@mistake("layer_norm_backward", "mean term")
def mean_forgotten(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - h * m(g * h)), dg, db


@mistake("layer_norm_backward", "constants")
def both_forgotten(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * g, dg, db


@mistake("layer_norm_backward", "order")
def dbeta_before_dgamma(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), db, dg


@mistake("layer_norm_backward", "sum", "mean")
def sums_not_means(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - g.sum(-1, keepdims=True) - h * (g * h).sum(-1, keepdims=True)), dg, db


@mistake("layer_norm_backward", "dgamma", "x_hat")
def dgamma_from_x(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), (dy * x).sum(tuple(range(x.ndim - 1))), db


@mistake("layer_norm_backward", "first axis only")
def three_axes_forgotten(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), (dy * h).sum(0), dy.sum(0)


@mistake("layer_norm_backward", "last")
def overwritten_in_the_loop(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    d = x.shape[-1]
    return r * (g - m(g) - h * m(g * h)), (dy * h).reshape(-1, d)[-1], dy.reshape(-1, d)[-1]


@mistake("layer_norm_backward", "rstd")
def dvar_with_the_wrong_power(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    n, c = x.shape[-1], x - m(x)
    dvar = (g * c).sum(-1, keepdims=True) * -0.5 * r
    dmean = -(g * r).sum(-1, keepdims=True)
    return g * r + dvar * 2 * c / n + dmean / n, dg, db


@mistake("layer_norm_backward", "2", "variance term")
def two_of_dvar_lost(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    n, c = x.shape[-1], x - m(x)
    dvar = (g * c).sum(-1, keepdims=True) * -0.5 * r**3
    dmean = -(g * r).sum(-1, keepdims=True)
    return g * r + dvar * c / n + dmean / n, dg, db


@mistake("layer_norm_backward", "rstd")
def not_scaled(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return g - m(g) - h * m(g * h), dg, db


@mistake("layer_norm_backward", "gamma")
def gamma_outside(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * gamma * (dy - m(dy) - h * m(dy * h)), dg, db


@mistake("layer_norm_backward", "gamma")
def gamma_only_in_the_first_term(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(dy) - h * m(dy * h)), dg, db


@mistake("layer_norm_backward", "dbeta", "gamma")
def dbeta_of_g(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), dg, g.sum(tuple(range(x.ndim - 1)))


@mistake("layer_norm_backward", "should return 3 things")
def only_dx(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h))


@mistake("layer_norm_backward", "n - 1", "ddof")
def unbiased_statistics(dy, x, gamma, eps=1e-5):
    r = 1 / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps)
    h = (x - m(x)) * r
    g, lead = dy * gamma, tuple(range(x.ndim - 1))
    return r * (g - m(g) - h * m(g * h)), (dy * h).sum(lead), dy.sum(lead)


@mistake("rms_norm_backward", "sign")
def rms_sign(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gamma, x * r
    return r * (g + h * m(g * h)), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "sum")
def rms_one_over_n_lost(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g = dy * gamma
    return g * r - x * r**3 * (g * x).sum(-1, keepdims=True), (dy * x * r).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "LayerNorm")
def rms_with_mean_term(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gamma, x * r
    return r * (g - m(g) - h * m(g * h)), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "not summed")
def rms_dgamma_rows(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g, h = dy * gamma, x * r
    return r * (g - h * m(g * h)), dy * h


@mistake("batch_norm_backward", "constants")
def evaluation_gradient(dy, x, gamma, eps=1e-5):
    r = 1 / np.sqrt(x.var(0) + eps)
    h = (x - x.mean(0)) * r
    return dy * gamma * r, (dy * h).sum(0), dy.sum(0)


@mistake("batch_norm_backward", "n")
def one_over_n_forgotten(dy, x, gamma, eps=1e-5):
    n = len(x)
    r = 1 / np.sqrt(x.var(0) + eps)
    h = (x - x.mean(0)) * r
    g = dy * gamma
    return r * (n * g - g.sum(0) - h * (g * h).sum(0)), (dy * h).sum(0), dy.sum(0)


@mistake("batch_norm_backward", "axis")
def summed_over_features(dy, x, gamma, eps=1e-5):
    r = 1 / np.sqrt(x.var(0) + eps)
    h = (x - x.mean(0)) * r
    g = dy * gamma
    return r * (g - g.mean(0) - h * (g * h).mean(0)), (dy * h).sum(1), dy.sum(1)


@mistake("batch_norm_backward", "mean term")
def dmean_without_dy(dy, x, gamma, eps=1e-5):
    r = 1 / np.sqrt(x.var(0) + eps)
    c = x - x.mean(0)
    g = dy * gamma
    dvar = (g * c).sum(0) * -0.5 * r**3
    dmean = dvar * -2 * c.mean(0)
    return g * r + dvar * 2 * c / len(x) + dmean / len(x), (dy * c * r).sum(0), dy.sum(0)


@mistake("batch_norm_backward", "x - mean", "x_hat")
def dgamma_without_rstd(dy, x, gamma, eps=1e-5):
    r = 1 / np.sqrt(x.var(0) + eps)
    h = (x - x.mean(0)) * r
    g = dy * gamma
    return r * (g - g.mean(0) - h * (g * h).mean(0)), (dy * (x - x.mean(0))).sum(0), dy.sum(0)


# ------------------------------------------------------------------------------ batch_norm


def _bn(x, gamma, beta, mean, var, eps):
    s = (1, -1, *[1] * (x.ndim - 2))
    h = (x - mean.reshape(s)) / np.sqrt(var.reshape(s) + eps)
    return h * gamma.reshape(s) + beta.reshape(s)


def _stats(x):
    ax = (0, *range(2, x.ndim))
    n = x.size // x.shape[1]
    if n < 2:
        raise ValueError("one value")
    return x.mean(ax), x.var(ax), n


@mistake("batch_norm", "biased")
def running_var_not_corrected(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    return (
        _bn(x, gamma, beta, mean, var, eps),
        (1 - momentum) * rm + momentum * mean,
        (1 - momentum) * rv + momentum * var,
    )


@mistake("batch_norm", "not updated")
def statistics_never_updated(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    return _bn(x, gamma, beta, mean, var, eps), rm, rv


@mistake("batch_norm", "root", "evaluation")
def evaluation_divides_by_variance(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        s = (1, -1, *[1] * (x.ndim - 2))
        h = (x - rm.reshape(s)) / (rv.reshape(s) + eps)
        return h * gamma.reshape(s) + beta.reshape(s), rm, rv
    mean, var, n = _stats(x)
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, mean, var, eps), *kept


@mistake("batch_norm", "in evaluation, gamma and beta are never applied")
def affine_forgotten_in_evaluation(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, 0 * gamma + 1, 0 * beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, mean, var, eps), *kept


@mistake("batch_norm", "after their update")
def normalized_by_fresh_running_statistics(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if training:
        mean, var, n = _stats(x)
        rm, rv = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, rm, rv, eps), rm, rv


@mistake("batch_norm", "batch size")
def correction_by_the_batch_size(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    n = len(x)
    if n < 2:
        raise ValueError("one value")
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, mean, var, eps), *kept


@mistake("batch_norm", "in place", "running_mean")
def running_statistics_in_place(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    rm *= 1 - momentum
    rm += momentum * mean
    rv *= 1 - momentum
    rv += momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, mean, var, eps), rm, rv


@mistake("batch_norm", "last axis")
def channels_last(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return (x - rm) / np.sqrt(rv + eps) * gamma + beta, rm, rv
    ax = tuple(range(x.ndim - 1))
    n = x.size // x.shape[-1]
    if n < 2:
        raise ValueError("one value")
    mean, var = x.mean(ax), x.var(ax)
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta, *kept


@mistake("batch_norm", "eps", "outside")
def batch_eps_outside(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    mean, var = rm, rv
    if training:
        mean, var, n = _stats(x)
        rm, rv = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    s = (1, -1, *[1] * (x.ndim - 2))
    h = (x - mean.reshape(s)) / (np.sqrt(var.reshape(s)) + eps)
    return h * gamma.reshape(s) + beta.reshape(s), rm, rv


@mistake("batch_norm", "order")
def running_statistics_returned_swapped(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    mean, var = rm, rv
    if training:
        mean, var, n = _stats(x)
        rm, rv = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)
    return _bn(x, gamma, beta, mean, var, eps), rv, rm


@mistake("batch_norm", "momentum")
def keras_momentum_and_biased(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    return (
        _bn(x, gamma, beta, mean, var, eps),
        momentum * rm + (1 - momentum) * mean,
        momentum * rv + (1 - momentum) * var,
    )


@mistake("masked_batch_norm", "padding is counted")
def mask_ignored(x, mask, gamma, beta, eps=1e-5):
    y = (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + eps) * gamma + beta
    return y * mask[..., None]


@mistake("masked_batch_norm", "0", "padding")
def padding_left_in(x, mask, gamma, beta, eps=1e-5):
    real = x[mask]
    return (x - real.mean(0)) / np.sqrt(real.var(0) + eps) * gamma + beta


@mistake("masked_batch_norm", "variance", "counted")
def masked_mean_unmasked_var(x, mask, gamma, beta, eps=1e-5):
    w = mask[..., None]
    mean = (x * w).sum((0, 1)) / mask.sum()
    var = ((x * w - mean) ** 2).sum((0, 1)) / mask.sum()
    return ((x - mean) / np.sqrt(var + eps) * gamma + beta) * w


@mistake("masked_batch_norm", "number of all positions")
def divided_by_everything(x, mask, gamma, beta, eps=1e-5):
    w = mask[..., None]
    n = mask.size
    mean = (x * w).sum((0, 1)) / n
    var = (w * (x - mean) ** 2).sum((0, 1)) / n
    return ((x - mean) / np.sqrt(var + eps) * gamma + beta) * w


# ------------------------------------------------------------------------------ blocks


@mistake("residual_block", "shortcut is missing")
def no_skip(x, f):
    return f(x)


@mistake("residual_block", "ReLU")
def relu_at_the_end(x, f):
    return np.maximum(x + f(x), 0)


@mistake("residual_block", "0.5", "weights")
def scaled_branch(x, f):
    return x + 0.5 * f(x)


@mistake("residual_block", "calls itself")
def recursive(x, f):
    return recursive(x, f)


@mistake("projected_residual", "never projected")
def shapes_not_compared(x, f, proj):
    return x + f(x)


@mistake("projected_residual", "broadcasts")
def error_as_a_test(x, f, proj):
    try:
        return x + f(x)
    except ValueError:
        return proj(x) + f(x)


@mistake("pre_norm_block", "post-norm")
def post_for_pre(x, f, norm):
    return norm(x + f(x))


@mistake("pre_norm_block", "norm(f(x))")
def swin_v2(x, f, norm):
    return x + norm(f(x))


@mistake("pre_norm_block", "shortcut is missing")
def pre_norm_without_skip(x, f, norm):
    return f(norm(x))


@mistake("post_norm_block", "pre-norm")
def pre_for_post(x, f, norm):
    return x + f(norm(x))


@mistake("post_norm_block", "shortcut")
def post_norm_without_skip(x, f, norm):
    return norm(f(x))


@mistake("post_norm_block", "norm(x) + f(x)")
def norm_on_the_skip(x, f, norm):
    return norm(x) + f(x)


@mistake("transformer_block", "parallel")
def gpt_j(x, attn, ffn, norm1, norm2):
    return x + attn(norm1(x)) + ffn(norm2(x))


@mistake("transformer_block", "norm1 is used twice")
def one_norm(x, attn, ffn, norm1, norm2):
    x = x + attn(norm1(x))
    return x + ffn(norm1(x))


@mistake("transformer_block", "second half", "shortcut is missing")
def second_skip_forgotten(x, attn, ffn, norm1, norm2):
    x = x + attn(norm1(x))
    return ffn(norm2(x))


@mistake("transformer_block", "shortcut carries the block's input")
def skip_from_the_input(x, attn, ffn, norm1, norm2):
    h = x + attn(norm1(x))
    return x + ffn(norm2(h))


@mistake("transformer_block", "post-norm")
def bert_block(x, attn, ffn, norm1, norm2):
    h = norm1(x + attn(x))
    return norm2(h + ffn(h))


@mistake("transformer_block", "each half", "normalized stream")
def norm_overwrites_x(x, attn, ffn, norm1, norm2):
    x = norm1(x)
    x = x + attn(x)
    x = norm2(x)
    return x + ffn(x)


@mistake("pre_norm_stack", "final norm is missing")
def final_norm_forgotten(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = x + f(n(x))
    return x


@mistake("pre_norm_stack", "inside the loop")
def returned_too_early(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = x + f(n(x))
        return final_norm(x)


@mistake("pre_norm_stack", "norm", "every block")
def shared_norm(x, fs, norms, final_norm):
    for f in fs:
        x = x + f(norms[0](x))
    return final_norm(x)


@mistake("pre_norm_stack", "final norm is used in every block")
def final_norm_in_every_block(x, fs, norms, final_norm):
    for f in fs:
        x = x + f(final_norm(x))
    return final_norm(x)


@mistake("residual_init_std", "square root")
def init_without_root(base_std, n_layer):
    return base_std / (2 * n_layer)


@mistake("residual_init_std", "multiply")
def init_upside_down(base_std, n_layer):
    return base_std * (2 * n_layer) ** 0.5


@mistake("residual_init_std", "base_std", "ignored")
def init_hard_coded(base_std, n_layer):
    return 0.02 / np.sqrt(2 * n_layer)


# ------------------------------------------------------------------------------ gradients


@mistake("residual_backward", "shortcut's part is missing")
def skip_gradient_forgotten(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return dz @ W.T, x.T @ dz


@mistake("residual_backward", "transposed")
def w_not_transposed(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return dy + dz @ W, x.T @ dz


@mistake("residual_backward", "passes 1 instead of dy")
def one_instead_of_dy(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return 1 + dz @ W.T, x.T @ dz


def _chain(x, Ws, residual):
    hs, acts = [x], []
    for W in Ws:
        acts.append(np.tanh(hs[-1] @ W))
        hs.append(acts[-1] + (hs[-1] if residual else 0))
    return hs, acts


def _walk(x, Ws, dout, residual, layer):
    hs, acts = _chain(x, Ws, residual)
    dhs, dWs = [dout], []
    for i in range(len(Ws) - 1, -1, -1):
        dh, dW = layer(dhs[0], hs, acts, i)
        dhs.insert(0, dh)
        dWs.insert(0, dW)
    return dhs, dWs


@mistake("backprop_chain", "residual", "missing")
def chain_skip_forgotten(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i] ** 2)
        return dz @ Ws[i].T, hs[i].T @ dz

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "reverse")
def lists_in_loop_order(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i] ** 2)
        return dz @ Ws[i].T + (dh if residual else 0), hs[i].T @ dz

    dhs, dWs = _walk(x, Ws, dout, residual, layer)
    return dhs[::-1], dWs[::-1]


@mistake("backprop_chain", "activation is used where the layer's input belongs")
def dw_from_the_output(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i] ** 2)
        return dz @ Ws[i].T + (dh if residual else 0), acts[i].T @ dz

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "dout", "every layer")
def always_from_dout(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dout * (1 - acts[i] ** 2)
        return dz @ Ws[i].T + (dout if residual else 0), hs[i].T @ dz

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "number of rows")
def averaged_weights(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i] ** 2)
        return dz @ Ws[i].T + (dh if residual else 0), hs[i].T @ dz / len(x)

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "h[l+1]", "activation")
def slope_from_the_stream(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - hs[i + 1] ** 2)
        return dz @ Ws[i].T + (dh if residual else 0), hs[i].T @ dz

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "square")
def slope_not_squared(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i])
        return dz @ Ws[i].T + (dh if residual else 0), hs[i].T @ dz

    return _walk(x, Ws, dout, residual, layer)


@mistake("backprop_chain", "dL/dh[0]")
def input_gradient_missing(x, Ws, dout, residual=False):
    def layer(dh, hs, acts, i):
        dz = dh * (1 - acts[i] ** 2)
        return dz @ Ws[i].T + (dh if residual else 0), hs[i].T @ dz

    dhs, dWs = _walk(x, Ws, dout, residual, layer)
    return dhs[1:], dWs


@mistake("grad_norms", "parameters")
def norms_of_weights(params, grads):
    per = np.array([np.sqrt((p**2).sum()) for p in params])
    return per, np.sqrt((per**2).sum())


@mistake("grad_norms", "averaged")
def rms_of_gradients(params, grads):
    per = np.array([np.sqrt((g**2).mean()) for g in grads])
    return per, np.sqrt((per**2).sum())


@mistake("grad_norms", "largest singular")
def matrix_norms(params, grads):
    per = [np.linalg.norm(g, 2) for g in grads]
    return per, np.sqrt(sum(p**2 for p in per))


@mistake("clip_by_global_norm", "own norm")
def clipped_one_by_one(grads, max_norm):
    return [g * min(1, max_norm / (np.linalg.norm(g) + 1e-6)) for g in grads]


@mistake("clip_by_global_norm", "by value")
def clipped_by_value(grads, max_norm):
    return [np.clip(g, -max_norm, max_norm) for g in grads]


@mistake("clip_by_global_norm", "must not exceed 1")
def scaled_up_too(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    return [g * max_norm / (total + 1e-6) for g in grads]


@mistake("clip_by_global_norm", "in place")
def clipped_in_place(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    for g in grads:
        g *= min(1.0, max_norm / (total + 1e-6))
    return grads


@mistake("sgd_steps", "sign is wrong", "up the gradient")
def ascending(w, grad_fn, batches, lr):
    for b in batches:
        w = w + lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "first w")
def stale_weights(w, grad_fn, batches, lr):
    gs = [grad_fn(w, b) for b in batches]
    for g in gs:
        w = w - lr * g
    return w


@mistake("sgd_steps", "in place")
def in_place_steps(w, grad_fn, batches, lr):
    for b in batches:
        w -= lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "inside the loop")
def returned_after_one(w, grad_fn, batches, lr):
    for b in batches:
        w = w - lr * grad_fn(w, b)
        return w
