"""Mistakes of kinds that public bug reports describe, written after the check: the honest measure of it.

Each: exercise, a word or two that the message must hold, and the function.
"""

import numpy as np

from helpers import layers

FURTHER = []


def mistake(exercise, *words):
    def add(f):
        FURTHER.append((exercise, words, f))
        return f

    return add


# ------------------------------------------------------------------------------ layer_norm


@mistake("layer_norm", "tiny", "no special case")
def zero_where_the_std_is_tiny(x, gamma, beta, eps=1e-5):
    std, centred = x.std(-1, keepdims=True), x - x.mean(-1, keepdims=True)
    return np.where(std < 1e-3, 0, centred / np.sqrt(std**2 + eps)) * gamma + beta


@mistake("layer_norm", "tiny", "no special case")
def zero_without_the_shift_where_the_std_is_tiny(x, gamma, beta, eps=1e-5):
    std, centred = x.std(-1, keepdims=True), x - x.mean(-1, keepdims=True)
    return np.where(std < 1e-5, 0, centred / np.sqrt(std**2 + eps) * gamma + beta)


@mistake("layer_norm", "the division belongs under the root")
def root_divided_by_the_count(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return gamma * c / (np.sqrt((c**2).sum(-1, keepdims=True)) / x.shape[-1] + eps) + beta


@mistake("layer_norm", "the division belongs under the root")
def root_of_the_sum_and_eps_divided_by_the_count(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return gamma * c / (np.sqrt((c**2).sum(-1, keepdims=True) + eps) / x.shape[-1]) + beta


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


@mistake("layer_norm", "brackets are missing", "root NaN")
def the_mean_alone_is_squared(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt((x - mean**2).mean(-1, keepdims=True) + eps) + beta


@mistake("layer_norm", "mean of x itself stands under the root")
def root_of_the_mean(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(mean + eps) + beta


@mistake("layer_norm", "brackets are missing", "divides the mean alone")
def gamma_of_x_alone(x, gamma, beta, eps=1e-5):
    return gamma * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


@mistake("layer_norm", "brackets are missing", "divides and scales the mean alone")
def no_brackets_at_all(x, gamma, beta, eps=1e-5):
    return x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "Two things", "ddof=1", "divides the mean alone")
def gamma_of_x_alone_and_unbiased(x, gamma, beta, eps=1e-5):
    return gamma * x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True, ddof=1) + eps) + beta


@mistake("layer_norm", "beta is divided by the root")
def beta_inside_the_brackets(x, gamma, beta, eps=1e-5):
    return (gamma * (x - x.mean(-1, keepdims=True)) + beta) / np.sqrt(x.var(-1, keepdims=True) + eps)


@mistake("layer_norm", "beta is added to the root")
def beta_below(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / (np.sqrt(x.var(-1, keepdims=True) + eps) + beta)


@mistake("layer_norm", "eps is added after the division")
def eps_outside_the_brackets(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True)) + eps + beta


@mistake("layer_norm", "eps is added after the division", "multiplied by gamma")
def eps_outside_the_brackets_and_scaled(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True)) + eps * gamma + beta


@mistake("layer_norm", "eps and the square root are missing")
def by_the_bare_variance(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdims=True)) / x.var(-1, keepdims=True) + beta


@mistake("layer_norm", "divided by 4", "d = 4 only")
def four_features_assumed(x, gamma, beta, eps=1e-5):
    mean = x.sum(-1, keepdims=True) / 4
    return gamma * (x - mean) / np.sqrt(((x - mean) ** 2).sum(-1, keepdims=True) / 4 + eps) + beta


@mistake("layer_norm", "first row of all stays 0")
def loop_that_starts_at_one(x, gamma, beta, eps=1e-5):
    flat, y = x.reshape(-1, x.shape[-1]), np.zeros((x.size // x.shape[-1], x.shape[-1]))
    for i in range(1, len(flat)):
        y[i] = gamma * (flat[i] - flat[i].mean()) / np.sqrt(flat[i].var() + eps) + beta
    return y.reshape(x.shape)


@mistake("layer_norm", "first row is left as it was")
def first_row_left(x, gamma, beta, eps=1e-5):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = layers.layer_norm(x[i], gamma, beta, eps)
    return y


@mistake("layer_norm", "row i is scaled by gamma[i]")
def one_gamma_for_each_row(x, gamma, beta, eps=1e-5):
    y = np.zeros_like(x)
    for i in range(len(x)):
        var = x[i].var(-1, keepdims=True)
        y[i] = gamma[i] * (x[i] - x[i].mean(-1, keepdims=True)) / np.sqrt(var + eps) + beta[i]
    return y


@mistake("layer_norm", "tokens and features", "row i is scaled by gamma[i]")
def one_gamma_and_one_mean_for_each_item(x, gamma, beta, eps=1e-5):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = gamma[i] * (x[i] - x[i].mean()) / np.sqrt(x[i].var() + eps) + beta[i]
    return y


@mistake("layer_norm", "NaN (not a number) comes out")
def logarithm_of_x(x, gamma, beta, eps=1e-5):
    return gamma * np.log(x) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


# ------------------------------------------------------------------------------ rms_norm and its kin


@mistake("rms_norm", "float16")
def handed_back_in_half_precision(x, gamma, eps=1e-6):
    return (x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma).astype(np.float16)


@mistake("rms_norm_offset", "|1 + w|")
def the_size_of_the_gain(x, w, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * abs(1 + w)


def by_steps(dy, x, gamma, eps, dr_axis=-1, power=3, d=None):
    g, r = dy * gamma, 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    dm = -0.5 * r**power * (g * x).sum(axis=dr_axis, keepdims=True)
    return g * r + dm * 2 * x / (d or x.shape[-1]), (dy * x * r).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "dr sums over all rows", "one number for each row")
def dr_over_everything(dy, x, gamma, eps):
    return by_steps(dy, x, gamma, eps, dr_axis=None)


@mistake("rms_norm_backward", "dr sums over axis 0")
def dr_over_the_batch(dy, x, gamma, eps):
    return by_steps(dy, x, gamma, eps, dr_axis=0)


@mistake("rms_norm_backward", "divides by 8 whatever", "x.shape[-1]")
def eight_features_always(dy, x, gamma, eps):
    return by_steps(dy, x, gamma, eps, d=8)


@mistake("rms_norm_backward", "r**2 where r**3 belongs", "dm = -0.5 * r**3 * dr")
def root_with_too_small_a_power(dy, x, gamma, eps):
    return by_steps(dy, x, gamma, eps, power=2)


@mistake("rms_norm", "outside")
def rms_eps_outside(x, gamma, eps=1e-6):
    return x / (np.sqrt((x**2).mean(-1, keepdims=True)) + eps) * gamma


@mistake("rms_norm", "You divide by the root of the variance, and var subtracts the mean")
def rms_by_the_spread(x, gamma, eps=1e-6):
    return x / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma


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


@mistake("rms_norm", "the squares are not averaged")
def each_number_by_its_own_size(x, gamma, eps=1e-6):
    return x / np.sqrt(x**2 + eps) * gamma


@mistake("rms_norm", "the square is missing under the root", "sum(x)")
def root_of_the_sum_of_x(x, gamma, eps=1e-6):
    return x / np.sqrt(x.sum(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm", "wrong way round", "NaN")
def mean_square_taken_from_eps(x, gamma, eps=1e-6):
    return x / np.sqrt(eps - (x**2).mean(-1, keepdims=True)) * gamma


@mistake("rms_norm", "doubling gamma does not double y")
def root_of_gamma(x, gamma, eps=1e-6):
    return layers.rms_norm(x, np.sqrt(np.abs(gamma)), eps)


@mistake("rms_norm_offset", "doubling 1 + w does not double y")
def gain_under_the_root(x, w, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps + np.abs(w))


@mistake("rms_norm_offset", "1 + |w|")
def size_of_w(x, w, eps=1e-6):
    return layers.rms_norm(x, 1 + np.abs(w), eps)


@mistake("rms_norm", "a dot product with gamma")
def dot_product(x, gamma, eps=1e-6):
    return np.dot(layers.rms_norm(x, np.ones_like(gamma), eps), gamma)


@mistake("rms_norm", "row i is scaled by gamma[i]")
def one_gain_for_each_row(x, gamma, eps=1e-6):
    return np.array([layers.rms_norm(x[i], np.full_like(gamma, gamma[i]), eps) for i in range(len(x))])


@mistake("rms_norm", "eps is added after the division", "gamma multiplies it alone")
def eps_outside_and_scaled(x, gamma, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True)) + eps * gamma


@mistake("rms_norm", "the numerator is squared")
def square_of_the_numerator(x, gamma, eps=1e-6):
    return x * layers.rms_norm(x, gamma, eps)


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


def _five_steps(dy, x, gamma, eps):
    """c, r, g and d; dv; and what else is right."""
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    c, d = x - m(x), x.shape[-1]
    return c, r, g, d, -0.5 * r**3 * (g * c).sum(-1, keepdims=True), (dg, db)


@mistake("layer_norm_backward", "rstd**2 where rstd**3 belongs")
def quotient_rule_with_one_root_less(dy, x, gamma, eps=1e-5):
    c, r, g, d, _, parameters = _five_steps(dy, x, gamma, eps)
    ds = -(g * c).sum(-1, keepdims=True) * r
    dc = g * r + ds * 0.5 * r * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "one factor rstd too many")
def dgamma_with_rstd_twice(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), (dy * h * r).sum(tuple(range(x.ndim - 1))), db


@mistake("rms_norm_backward", "one factor r too many")
def rms_dgamma_with_r_twice(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt(m(x**2) + eps)
    return layers.rms_norm_backward(dy, x, gamma, eps)[0], (dy * x * r * r).sum(tuple(range(x.ndim - 1)))


@mistake("layer_norm_backward", "mean term is missing", "or is 0", "x_hat")
def mean_of_x_hat_for_the_mean_of_g(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(h) - h * m(g * h)), dg, db


@mistake("layer_norm_backward", "mean term is missing", "or is 0", "x - mean")
def mean_of_c_at_the_end(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    return g * r + dv * 2 * c / d - m(c), *parameters


@mistake("layer_norm_backward", "variance term is missing", "or is 0")
def mean_of_x_hat_before_the_mean(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - m(h) * m(g * h)), dg, db


@mistake("layer_norm_backward", "variance term is missing", "or is 0")
def product_of_total_means(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * g.mean() * h.mean()), dg, db


@mistake("layer_norm_backward", "matrix product", "diagonal", "axis=tuple(range(x.ndim - 1))")
def dgamma_by_a_matrix_product(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), dy.T @ h, db


@mistake("rms_norm_backward", "matrix product", "diagonal")
def rms_dgamma_by_a_matrix_product(dy, x, gamma, eps=1e-6):
    h, d = x / np.sqrt(m(x**2) + eps), x.shape[-1]
    return layers.rms_norm_backward(dy, x, gamma, eps)[0], h.reshape(-1, d).T @ dy.reshape(-1, d)


@mistake("layer_norm_backward", "sign", "sum stands where the mean belongs")
def sign_and_sum(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) + h * (g * h).sum(-1, keepdims=True)), dg, db


@mistake("rms_norm_backward", "sign", "sum stands where the mean belongs")
def rms_sign_and_sum(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt(m(x**2) + eps)
    g, h = dy * gamma, x * r
    return r * (g + h * (g * h).sum(-1, keepdims=True)), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("layer_norm_backward", "sign", "factor 1/2")
def minus_one_half_lost(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r - 2 * dv * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "sign of mean(g)", "a 1/n is missing")
def mean_term_added_as_a_sum(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g + g.sum(-1, keepdims=True) - h * m(g * h)), dg, db


@mistake("layer_norm_backward", "power -1.5", "std**-3")
def std_to_the_power_of_the_variance(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv / r**3 * r**1.5 * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "(var + eps)**-3 stands")
def variance_to_the_power_of_the_std(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv * r**3 * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "rstd**3 is missing")
def no_root_in_dv(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv / r**3 * 2 * c / d
    return dc - m(dc), *parameters


@mistake("rms_norm_backward", "rms has the power -1.5", "rms**-3")
def rms_to_the_power_of_the_mean_square(dy, x, gamma, eps=1e-6):
    rms, g = np.sqrt(m(x**2) + eps), dy * gamma
    return g / rms - x * m(g * x) * rms**-1.5, layers.rms_norm_backward(dy, x, gamma, eps)[1]


@mistake("layer_norm_backward", "eps is missing in the variance term, and only there")
def eps_not_in_dv(dy, x, gamma, eps=1e-5):
    c, r, g, d, _, parameters = _five_steps(dy, x, gamma, eps)
    dv = -0.5 * x.var(-1, keepdims=True) ** -1.5 * (g * c).sum(-1, keepdims=True)
    dc = g * r + dv * 2 * c / d
    return dc - m(dc), *parameters


@mistake("rms_norm_backward", "eps is missing in the mean-square term, and only there", "**-1.5")
def eps_not_in_dm(dy, x, gamma, eps=1e-6):
    r, g = 1 / np.sqrt(m(x**2) + eps), dy * gamma
    return g * r - x * m(g * x) * m(x**2) ** -1.5, layers.rms_norm_backward(dy, x, gamma, eps)[1]


@mistake("rms_norm_backward", "eps is missing in the mean-square term, and only there", "divided by m + eps")
def projection_without_eps(dy, x, gamma, eps=1e-6):
    r, g = 1 / np.sqrt(m(x**2) + eps), dy * gamma
    dx = r * (g - x * (g * x).sum(-1, keepdims=True) / (x * x).sum(-1, keepdims=True))
    return dx, layers.rms_norm_backward(dy, x, gamma, eps)[1]


@mistake("layer_norm_backward", "subtracted at the end", "everything", "dc - mean(dc)")
def last_mean_of_everything(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv * 2 * c / d
    return dc - dc.mean(), *parameters


@mistake("layer_norm_backward", "subtracted at the end", "axis 0")
def last_mean_over_the_batch(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv * 2 * c / d
    return dc - dc.mean(axis=0), *parameters


@mistake("layer_norm_backward", "dr sums over axis 0")
def layer_norms_dr_over_the_batch(dy, x, gamma, eps=1e-5):
    c, r, g, d, _, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r - 0.5 * r**3 * (g * c).sum(0, keepdims=True) * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "sum in the mean term runs over everything")
def dmu_without_axis(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    return g * r + dv * 2 * c / d - (g * r).sum() / d, *parameters


@mistake("layer_norm_backward", "sum in dv runs over all rows")
def dv_without_axis(dy, x, gamma, eps=1e-5):
    c, r, g, d, _, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + (g * c * -0.5 * r**3).sum() * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "with three axes", "variance term", "x.shape[1]")
def step_4_over_the_second_length(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv * 2 * c / x.shape[1]
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "variance term", "x.size")
def step_4_over_all_entries(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * r + dv * 2 * c / x.size
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "g * (x - mean) stands where g * rstd belongs")
def c_for_r_in_step_2(dy, x, gamma, eps=1e-5):
    c, r, g, d, dv, parameters = _five_steps(dy, x, gamma, eps)
    dc = g * c + dv * 2 * c / d
    return dc - m(dc), *parameters


@mistake("layer_norm_backward", "changed places")
def means_exchanged(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g * h) - h * m(g)), dg, db


@mistake("layer_norm_backward", "mean and the variance of x run over the whole batch")
def statistics_of_the_whole_batch(dy, x, gamma, eps=1e-5):
    r, g, lead = 1 / np.sqrt(x.var() + eps), dy * gamma, tuple(range(x.ndim - 1))
    h = (x - x.mean()) * r
    return r * (g - m(g) - h * m(g * h)), (dy * h).sum(lead), dy.sum(lead)


@mistake("layer_norm_backward", "mean and the variance of x run over axis 0")
def statistics_over_the_batch(dy, x, gamma, eps=1e-5):
    r, g, lead = 1 / np.sqrt(x.var(0) + eps), dy * gamma, tuple(range(x.ndim - 1))
    h = (x - x.mean(0)) * r
    return r * (g - m(g) - h * m(g * h)), (dy * h).sum(lead), dy.sum(lead)


@mistake("layer_norm_backward", "sum(dy) * sum(x_hat)", "product of the sums")
def dgamma_of_two_sums(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    return r * (g - m(g) - h * m(g * h)), db * h.sum(tuple(range(x.ndim - 1))), db


@mistake("layer_norm_backward", "dgamma and dbeta", "last entry of the first axis", "+=")
def last_of_the_first_axis(dy, x, gamma, eps=1e-5):
    g, h, r, dg, db = _ln(dy, x, gamma, eps)
    for i in range(len(x)):
        dg, db = dy[i] * h[i], dy[i]
    return r * (g - m(g) - h * m(g * h)), dg, db


@mistake("rms_norm_backward", "dgamma is made from the last entry of the first axis", "+=")
def rms_last_of_the_first_axis(dy, x, gamma, eps=1e-6):
    h = x / np.sqrt(m(x**2) + eps)
    return layers.rms_norm_backward(dy, x, gamma, eps)[0], (dy * h)[-1]


@mistake("rms_norm_backward", "product of the means")
def rms_product_of_means(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt(m(x**2) + eps)
    g, h = dy * gamma, x * r
    return r * (g - h * m(g) * m(h)), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "product of the sums", "sum(g * x)")
def rms_dr_of_two_sums(dy, x, gamma, eps=1e-6):
    r, g, d = 1 / np.sqrt(m(x**2) + eps), dy * gamma, x.shape[-1]
    dr = g.sum(-1, keepdims=True) * x.sum(-1, keepdims=True)
    return g * r - 0.5 * r**3 * dr * 2 * x / d, (dy * x * r).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "factor r is missing", "brackets")
def rms_brackets_missing(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt(m(x**2) + eps)
    g, h = dy * gamma, x * r
    return r * g - h * m(g * h), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "length", "np.linalg.norm", "eps stands outside")
def rms_by_the_length(dy, x, gamma, eps=1e-6):
    r = 1 / (np.linalg.norm(x, axis=-1, keepdims=True) + eps)
    g, h = dy * gamma, x * r
    return r * (g - h * m(g * h)), (dy * h).sum(tuple(range(x.ndim - 1)))


@mistake("rms_norm_backward", "1 + gamma")
def rms_gain_around_1(dy, x, gamma, eps=1e-6):
    return (
        layers.rms_norm_backward(dy, x, 1 + gamma, eps)[0],
        layers.rms_norm_backward(dy, x, gamma, eps)[1],
    )


@mistake("rms_norm_backward", "x is missing in dgamma", "sum(dy * r)")
def rms_dgamma_without_x(dy, x, gamma, eps=1e-6):
    r = 1 / np.sqrt(m(x**2) + eps)
    return layers.rms_norm_backward(dy, x, gamma, eps)[0], (dy * r).sum(tuple(range(x.ndim - 1)))


def _by_channel(dy, x, gamma, eps):
    s = np.sqrt(x.var(0) + eps)
    h = (x - x.mean(0)) / s
    return len(x), s, h, dy * gamma, ((dy * h).sum(0), dy.sum(0))


@mistake("batch_norm_backward", "mean and the variance of x run over the whole batch")
def statistics_of_all_channels(dy, x, gamma, eps=1e-5):
    r, g = 1 / np.sqrt(x.var() + eps), dy * gamma
    h = (x - x.mean()) * r
    return r * (g - g.mean(0) - h * (g * h).mean(0)), (dy * h).sum(0), dy.sum(0)


@mistake("batch_norm_backward", "mean and the variance of x run over the wrong axis")
def statistics_of_each_example(dy, x, gamma, eps=1e-5):
    r, g = 1 / np.sqrt(x.var(1, keepdims=True) + eps), dy * gamma
    h = (x - m(x)) * r
    return r * (g - g.mean(0) - h * (g * h).mean(0)), (dy * h).sum(0), dy.sum(0)


@mistake("batch_norm_backward", "brackets", "gamma * rstd / n multiplies n * dy only")
def one_liner_without_brackets(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    return (1 / n) * gamma / s * n * dy - dy.sum(0) - h * (dy * h).sum(0), *parameters


@mistake("batch_norm_backward", "brackets", "gamma * rstd multiplies dy only")
def means_without_brackets(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    return gamma / s * dy - dy.mean(0) - h * (dy * h).mean(0), *parameters


@mistake("batch_norm_backward", "rstd**2 where rstd**3 belongs")
def half_a_power_in_the_one_liner(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dx = gamma / s / n * (n * dy - dy.sum(0) - h * np.sum(dy * (x - x.mean(0)), axis=0))
    return dx, *parameters


@mistake("batch_norm_backward", "changed places", "n * dy - dbeta - x_hat * dgamma")
def dgamma_and_dbeta_exchanged(dy, x, gamma, eps=1e-5):
    n, s, h, g, (dgamma, dbeta) = _by_channel(dy, x, gamma, eps)
    return gamma / s / n * (n * dy - dgamma - h * dbeta), dgamma, dbeta


@mistake("batch_norm_backward", "matrix product", "(dy * x_hat).sum(axis=0)")
def channels_dgamma_by_a_matrix_product(dy, x, gamma, eps=1e-5):
    h = _by_channel(dy, x, gamma, eps)[2]
    dx, _, dbeta = layers.batch_norm_backward(dy, x, gamma, eps)
    return dx, dy.T @ h, dbeta


@mistake("batch_norm_backward", "power -1.5", "std**-3")
def channels_std_to_the_power_of_the_variance(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dvar = (g * (x - x.mean(0)) * -0.5 * s**-1.5).sum(0)
    return g / s + dvar * 2 * (x - x.mean(0)) / n - (g / s).sum(0) / n, *parameters


@mistake("batch_norm_backward", "eps is missing in the variance term, and only there")
def eps_not_in_dvar(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dvar = (g * (x - x.mean(0)) * -0.5 * x.var(0) ** -1.5).sum(0)
    return g / s + dvar * 2 * (x - x.mean(0)) / n - (g / s).sum(0) / n, *parameters


@mistake("batch_norm_backward", "sum in the variance term (dvar) runs over everything")
def dvar_without_axis(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dvar = np.sum(g * (x - x.mean(0))) * -0.5 * s**-3
    return g / s + dvar * 2 * (x - x.mean(0)) / n - (g / s).sum(0) / n, *parameters


@mistake("batch_norm_backward", "sum in the variance term (dvar)", "sum in the mean term", "everything")
def dvar_and_dmu_without_axis(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dvar = np.sum(g * (x - x.mean(0)) * -0.5 * s**-3)
    return g / s + dvar * 2 * (x - x.mean(0)) / n + np.sum(-g / s) / n, *parameters


@mistake("batch_norm_backward", "sum in the mean term runs over everything")
def channels_dmu_without_axis(dy, x, gamma, eps=1e-5):
    n, s, h, g, parameters = _by_channel(dy, x, gamma, eps)
    dvar = (g * (x - x.mean(0)) * -0.5 * s**-3).sum(0)
    return g / s + dvar * 2 * (x - x.mean(0)) / n + np.sum(-g / s) / n, *parameters


@mistake("batch_norm_backward", "dgamma is zero", "whose sum is always 0")
def channels_dgamma_of_two_sums(dy, x, gamma, eps=1e-5):
    dx, _, dbeta = layers.batch_norm_backward(dy, x, gamma, eps)
    return dx, dbeta * _by_channel(dy, x, gamma, eps)[2].sum(0), dbeta


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


@mistake("masked_batch_norm", "The padding's squared distances", "before you square and average")
def masked_mean_of_squares_of_all(x, mask, gamma, beta, eps=1e-5):
    real = mask[..., None]
    mean = (x * real).sum(axis=(0, 1)) / real.sum()
    var = ((x * real - mean) ** 2).mean(axis=(0, 1))
    return np.where(real, (x - mean) / np.sqrt(var + eps) * gamma + beta, 0)


@mistake("masked_batch_norm", "number of all positions")
def divided_by_everything(x, mask, gamma, beta, eps=1e-5):
    w = mask[..., None]
    n = mask.size
    mean = (x * w).sum((0, 1)) / n
    var = (w * (x - mean) ** 2).sum((0, 1)) / n
    return ((x - mean) / np.sqrt(var + eps) * gamma + beta) * w


def _with_update(update, prepare=lambda x, mean, var: (mean, var)):
    """batch_norm; update(m, mean, var, n, rm, rv, eps) -> the new rm, rv; prepare: what x, mean and variance are made into."""

    def f(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
        if not training:
            return _bn(x, gamma, beta, rm, rv, eps), rm, rv
        mean, var, n = _stats(x)
        mean, var = prepare(x, mean, var)
        return _bn(x, gamma, beta, mean, var, eps), *update(momentum, mean, var, n, rm, rv, eps)

    return f


def _right_mean(m, mean, rm):
    return (1 - m) * rm + m * mean


def _right_update(m, mean, var, n, rm, rv, eps):
    return _right_mean(m, mean, rm), (1 - m) * rv + m * var * n / (n - 1)


def _biased_update(m, mean, var, n, rm, rv, eps):
    return _right_mean(m, mean, rm), (1 - m) * rv + m * var


@mistake("batch_norm", "old value is running_mean", "copied line")
@_with_update
def copied_line(m, mean, var, n, rm, rv, eps):
    new = _right_mean(m, mean, rm)
    return new, (1 - m) * new + m * var * n / (n - 1)


@mistake("batch_norm", "Two things", "old value is running_mean", "biased")
@_with_update
def copied_line_and_biased(m, mean, var, n, rm, rv, eps):
    new = _right_mean(m, mean, rm)
    return new, (1 - m) * new + m * var


@mistake("batch_norm", "multiplies the old running_var too")
@_with_update
def correction_of_the_whole_sum(m, mean, var, n, rm, rv, eps):
    return _right_mean(m, mean, rm), ((1 - m) * rv + m * var) * n / (n - 1)


@mistake("batch_norm", "eps belongs only under the root")
@_with_update
def eps_in_the_kept_variance(m, mean, var, n, rm, rv, eps):
    return _right_mean(m, mean, rm), (1 - m) * rv + m * (var + eps) * n / (n - 1)


@mistake("batch_norm", "brackets are missing")
@_with_update
def update_without_brackets(m, mean, var, n, rm, rv, eps):
    return 1 - m * rm + m * mean, 1 - m * rv + m * var * n / (n - 1)


@mistake("batch_norm", "for running_var, brackets are missing")
@_with_update
def one_line_without_brackets(m, mean, var, n, rm, rv, eps):
    return _right_mean(m, mean, rm), 1 - m * rv + m * var * n / (n - 1)


@mistake("batch_norm", "for running_mean, the old running value keeps its full weight")
@_with_update
def only_the_mean_grows(m, mean, var, n, rm, rv, eps):
    return rm + m * mean, (1 - m) * rv + m * var * n / (n - 1)


def _one_number(x, mean, var):
    return np.full_like(mean, x.mean()), np.full_like(var, x.var())


@mistake("batch_norm", "one mean and one variance are taken over the whole array")
def one_number_for_everything(x, *args):
    return _with_update(_right_update, _one_number)(x, *args)


@mistake(
    "batch_norm", "one mean and one variance are taken over the whole array", "keeps the biased variance"
)
def one_number_for_everything_biased(x, *args):
    return _with_update(_biased_update, _one_number)(x, *args)


@mistake("batch_norm", "`x.reshape(-1, C)`, which mixes the channels")
def statistics_of_mixed_channels(x, *args):
    def of_mixed(x, mean, var):
        flat = x.reshape(-1, x.shape[1])
        return flat.mean(0), flat.var(0)

    return _with_update(_right_update, of_mixed)(x, *args)


@mistake("batch_norm", "`x.reshape(C, -1)`, which mixes the channels", "keeps the biased variance")
def statistics_of_channels_first(x, *args):
    def of_mixed(x, mean, var):
        flat = x.reshape(x.shape[1], -1)
        return flat.mean(1), flat.var(1)

    return _with_update(_biased_update, of_mixed)(x, *args)


def _within_examples(x, mean, var):
    return mean, x.var(tuple(range(2, x.ndim))).mean(0) if x.ndim > 2 else var


@mistake("batch_norm", "variances of the examples are averaged", "spread between the examples is lost")
def variances_of_examples(x, *args):
    return _with_update(_right_update, _within_examples)(x, *args)


@mistake("batch_norm", "variances of the examples are averaged", "divided by n")
def variances_of_examples_biased(x, *args):
    return _with_update(_biased_update, _within_examples)(x, *args)


def _as_a_table(x, rest, table, back):
    y, *kept = layers.batch_norm(table(x), *rest)
    return back(y), *kept


@mistake("batch_norm", "does not bring the channels to the end", "np.moveaxis(x, 1, -1).reshape(-1, C)")
def reshaped_to_channels_last(x, *rest):
    return _as_a_table(x, rest, lambda x: x.reshape(-1, x.shape[1]), lambda y: y.reshape(x.shape))


@mistake("batch_norm", "does not bring the channels to the end", "keeps the biased variance")
def reshaped_to_channels_last_and_biased(x, gamma, beta, rm, rv, training, momentum, eps):
    flat = x.reshape(-1, x.shape[1])
    y, *kept = _with_update(_biased_update)(flat, gamma, beta, rm, rv, training, momentum, eps)
    return y.reshape(x.shape), *kept


@mistake("batch_norm", "does not bring the channels to the front")
def reshaped_to_channels_first(x, *rest):
    return _as_a_table(x, rest, lambda x: x.reshape(x.shape[1], -1).T, lambda y: y.T.reshape(x.shape))


@mistake("batch_norm", "does not move them back")
def not_moved_back(x, *rest):
    return _as_a_table(
        x, rest, lambda x: np.moveaxis(x, 1, -1).reshape(-1, x.shape[1]), lambda y: y.reshape(x.shape)
    )


@mistake("batch_norm", "divided by N - 1")
def all_squares_by_the_batch_size(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (len(x) - 1)
    return _bn(x, gamma, beta, mean, var, eps), *kept


@mistake("batch_norm", "mean and variance of the output y")
def statistics_of_the_output(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return _bn(x, gamma, beta, rm, rv, eps), rm, rv
    mean, var, n = _stats(x)
    y = _bn(x, gamma, beta, mean, var, eps)
    mean, var, n = _stats(y)
    return y, (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var * n / (n - 1)


@mistake("batch_norm", "in evaluation, both eps and the square root are missing")
def bare_variance_in_evaluation(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if training:
        return layers.batch_norm(x, gamma, beta, rm, rv, training, momentum, eps)
    return _bn(x, gamma, beta, rm, rv**2, 0.0), rm, rv


@mistake("batch_norm", "works for two axes only", "biased")
def written_for_two_and_four_axes(x, gamma, beta, rm, rv, training, momentum=0.1, eps=1e-5):
    if not training:
        return gamma * (x - rm) / np.sqrt(rv + eps) + beta, rm, rv
    assert x.ndim in (2, 4)
    axes = 0 if x.ndim == 2 else (0, 2, 3)
    mean, var = x.mean(axis=axes, keepdims=x.ndim == 4), x.var(axis=axes, keepdims=x.ndim == 4)
    kept = (1 - momentum) * rm + momentum * mean, (1 - momentum) * rv + momentum * var
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, *kept


@mistake("masked_batch_norm", "only how many tokens of a sequence are real", "`mask` says which")
def by_lengths(x, mask, gamma, beta, eps=1e-5):
    lengths, y = mask.sum(axis=1), np.zeros_like(x)
    tokens = np.concatenate([x[i, :n] for i, n in enumerate(lengths)])
    for i, n in enumerate(lengths):
        y[i, :n] = (x[i, :n] - tokens.mean(0)) / np.sqrt(tokens.var(0) + eps) * gamma + beta
    return y


@mistake("masked_batch_norm", "for mean and variance you use only how many tokens")
def statistics_by_lengths(x, mask, gamma, beta, eps=1e-5):
    tokens = np.concatenate([x[i, :n] for i, n in enumerate(mask.sum(axis=1))])
    y = (x - tokens.mean(0)) / np.sqrt(tokens.var(0) + eps) * gamma + beta
    return np.where(mask[..., None], y, 0)


@mistake("masked_batch_norm", "what comes out 0 goes by how many tokens")
def zeros_by_lengths(x, mask, gamma, beta, eps=1e-5):
    tokens, real = x[mask], np.arange(x.shape[1]) < mask.sum(axis=1, keepdims=True)
    y = (x - tokens.mean(0)) / np.sqrt(tokens.var(0) + eps) * gamma + beta
    return np.where(real[..., None], y, 0)


# ------------------------------------------------------------------------------ blocks


@mistake("residual_block", "shortcut is missing")
def no_skip(x, f):
    return f(x)


@mistake("residual_block", "ReLU")
def relu_at_the_end(x, f):
    return np.maximum(x + f(x), 0)


@mistake("residual_block", "computes `x + 0.5 * f(x)`", "branch is multiplied by 0.5")
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


@mistake("transformer_block", "halves are in the wrong order")
def halves_exchanged(x, attn, ffn, norm1, norm2):
    x = x + ffn(norm2(x))
    return x + attn(norm1(x))


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


@mistake("transformer_block", "x + ffn(norm2(x))", "nothing of the first half reaches the result")
def first_half_thrown_away(x, attn, ffn, norm1, norm2):
    h = x + attn(norm1(x))  # noqa: F841
    return x + ffn(norm2(x))


@mistake("pre_norm_block", "one number is left where an array belongs")
def three(x, f, norm):
    return 3


@mistake("post_norm_block", "The result is a function")
def the_branch_itself(x, f, norm):
    return f


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


@mistake("residual_block", "computes `0.9 * x + 0.1 * f(x)`", "the branch by 0.1; add both")
def moving_average(x, f):
    return 0.9 * x + 0.1 * f(x)


@mistake("residual_block", "computes `0.25 * (x + f(x))`", "result is multiplied by 0.25")
def quarter_of_the_sum(x, f):
    return 0.25 * (x + f(x))


@mistake("residual_block", "f(x) stands where x belongs", "x is lost")
def branch_of_the_overwritten_x(x, f):
    x = f(x)
    return x + f(x)


@mistake(
    "pre_norm_block", "computes `x + 0.5 * f(norm(x))`. The branch is multiplied by 0.5; add it as it is"
)
def half_of_the_branch(x, f, norm):
    return x + 0.5 * f(norm(x))


@mistake("pre_norm_block", "computes `2.5 * x + f(norm(x))`", "shortcut is multiplied by 2.5")
def larger_shortcut(x, f, norm):
    return 2.5 * x + f(norm(x))


@mistake("pre_norm_block", "given x as it is", "branch is multiplied by 0.1")
def scaled_and_not_normalized(x, f, norm):
    return x + 0.1 * f(x)


@mistake("pre_norm_block", "stands where the shortcut's x belongs", "another name")
def pre_norm_overwritten(x, f, norm):
    x = f(norm(x))
    return x + x


@mistake("pre_norm_block", "norm is given x.T", "along the last axis")
def transposed_for_the_norm(x, f, norm):
    return x + f(norm(x.T).T)


@mistake("pre_norm_block", "a ReLU before the branch")
def relu_after_the_norm(x, f, norm):
    return x + f(np.maximum(norm(x), 0))


@mistake("pre_norm_block", "a ReLU follows the branch")
def relu_after_the_branch(x, f, norm):
    return x + np.maximum(f(norm(x)), 0)


@mistake("post_norm_block", "computes `norm(x + 0.1 * f(x))`", "multiplied by 0.1")
def post_norm_scaled_branch(x, f, norm):
    return norm(x + 0.1 * f(x))


@mistake("post_norm_block", "shortcut is multiplied by 2.5")
def deep_norm(x, f, norm):
    return norm(2.5 * x + f(x))


@mistake("post_norm_block", "sum is multiplied by 0.5 before the norm", "eps")
def mean_before_the_norm(x, f, norm):
    return norm((x + f(x)) / 2)


@mistake("post_norm_block", "stands where the shortcut's x belongs")
def post_norm_overwritten(x, f, norm):
    x = f(x)
    return norm(x + x)


@mistake("post_norm_block", "x is lost")
def shortcut_kept_too_late(x, f, norm):
    x = f(x)
    residual = x
    return norm(residual + x)


@mistake("post_norm_block", "in the shortcut and in the branch")
def post_norm_branch_of_the_overwritten_x(x, f, norm):
    x = f(x)
    return norm(x + f(x))


@mistake("post_norm_block", "a ReLU follows the norm")
def relu_after_post_norm(x, f, norm):
    return np.maximum(norm(x + f(x)), 0)


@mistake("post_norm_block", "between the addition and the norm")
def relu_before_post_norm(x, f, norm):
    return norm(np.maximum(x + f(x), 0))


@mistake("projected_residual", "branch is multiplied by 0.5")
def projected_half_branch(x, f, proj):
    h = f(x)
    return (x if x.shape == h.shape else proj(x)) + 0.5 * h


@mistake("projected_residual", "shortcut is subtracted")
def projected_shortcut_subtracted(x, f, proj):
    h = f(x)
    return h - (x if x.shape == h.shape else proj(x))


@mistake("projected_residual", "only where f(x) is wider", "project wherever the shapes differ")
def projected_where_wider(x, f, proj):
    y = f(x)
    if x.shape[-1] < y.shape[-1]:
        x = proj(x)
    return x + y


@mistake("projected_residual", "only where f(x) is narrower")
def projected_where_narrower(x, f, proj):
    y = f(x)
    if x.shape[-1] > y.shape[-1]:
        x = proj(x)
    return x + y


@mistake("projected_residual", "projection is applied twice")
def projected_twice(x, f, proj):
    return proj(proj(x)) + f(x)


@mistake("projected_residual", "projected even when the shapes agree", "a ReLU follows the addition")
def projected_always_and_activated(x, f, proj):
    return np.maximum(f(x) + proj(x), 0)


@mistake("transformer_block", "in each half the branch is multiplied by 0.1")
def both_branches_scaled(x, attn, ffn, norm1, norm2):
    x = x + 0.1 * attn(norm1(x))
    return x + 0.1 * ffn(norm2(x))


@mistake("transformer_block", "in each half the shortcut is multiplied by 2.5")
def both_shortcuts_scaled(x, attn, ffn, norm1, norm2):
    x = 2.5 * x + attn(norm1(x))
    return 2.5 * x + ffn(norm2(x))


@mistake("transformer_block", "each half is a post-norm one", "shortcut is multiplied by 1.5, as in DeepNorm")
def deep_norm_block(x, attn, ffn, norm1, norm2):
    x = norm1(1.5 * x + attn(x))
    return norm2(1.5 * x + ffn(x))


@mistake("transformer_block", "in the first half the branch's result stands where")
def stream_overwritten(x, attn, ffn, norm1, norm2):
    x = attn(norm1(x))
    x = x + x
    return x + ffn(norm2(x))


@mistake("transformer_block", "in each half a ReLU follows the addition")
def relu_after_each_sum(x, attn, ffn, norm1, norm2):
    x = np.maximum(x + attn(norm1(x)), 0)
    return np.maximum(x + ffn(norm2(x)), 0)


@mistake("transformer_block", "in the second half a ReLU follows the norm")
def relu_after_norm2(x, attn, ffn, norm1, norm2):
    x = x + attn(norm1(x))
    return x + ffn(np.maximum(norm2(x), 0))


@mistake("transformer_block", "both halves and the shortcut start from the normalized x")
def parallel_from_the_normalized(x, attn, ffn, norm1, norm2):
    n = norm1(x)
    return n + attn(n) + ffn(norm2(n))


@mistake("pre_norm_stack", "in each block the branch is multiplied by 0.1")
def stack_of_scaled_branches(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = x + 0.1 * f(n(x))
    return final_norm(x)


@mistake("pre_norm_stack", "in each block the shortcut is multiplied by 3")
def stack_of_scaled_shortcuts(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = 3 * x + f(n(x))
    return final_norm(x)


@mistake("pre_norm_stack", "in each block a ReLU follows the addition")
def stack_with_relu_after_each_sum(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = np.maximum(x + f(n(x)), 0)
    return final_norm(x)


@mistake("pre_norm_stack", "in each block a ReLU follows the branch")
def stack_with_relu_after_each_branch(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = x + np.maximum(f(n(x)), 0)
    return final_norm(x)


@mistake("pre_norm_stack", "in each block the branch's result stands where")
def stack_that_loses_the_stream(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = 2 * f(n(x))
    return final_norm(x)


@mistake("pre_norm_stack", "transposed")
def stack_transposed_for_the_norm(x, fs, norms, final_norm):
    for f, n in zip(fs, norms):
        x = x + f(n(x.T).T)
    return final_norm(x)


@mistake("residual_init_std", "n_layer ** -0.5`. base_std comes in to the power 2")
def base_squared(base_std, n_layer):
    return base_std**2 / np.sqrt(2 * n_layer)


@mistake("residual_init_std", "n_layer ** -0.5`. base_std is ignored: multiply by it.")
def base_of_its_own(base_std, n_layer):
    return 0.02 / np.sqrt(n_layer)


@mistake("residual_init_std", "`a**1/2` is `(a**1) / 2`", "write `a**0.5`")
def half_power_without_brackets(base_std, n_layer):
    return base_std / (2 * n_layer) ** 1 / 2


@mistake("residual_init_std", "divided by sqrt(2) once for each layer")
def divided_in_a_loop(base_std, n_layer):
    for _ in range(n_layer):
        base_std = base_std / np.sqrt(2)
    return base_std


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


@mistake("grad_norms", "under the root", "leave it out")
def eps_under_each_root(params, grads):
    lengths = [np.sqrt(np.sum(g**2) + 1e-6) for g in grads]
    return lengths, np.sqrt(sum(np.sum(g**2) for g in grads))


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


@mistake("clip_by_global_norm", "as many numbers as asked for", "cut them into arrays")
def clipped_in_one_piece(grads, max_norm):
    joined = np.concatenate([g.ravel() for g in grads])
    return joined * min(1, max_norm / (np.linalg.norm(joined) + 1e-6))


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


@mistake("clip_by_global_norm", "in place", "may still need the old values.")
def clipped_in_place(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    for g in grads:
        g *= min(1.0, max_norm / (total + 1e-6))
    return grads


@mistake("sgd_steps", "shrunk after each step", "of about 0.01")
def decay_after_the_step(w, grad_fn, batches, lr):
    for batch in batches:
        w = w - lr * grad_fn(w, batch)
        w = w * (1 - lr * 0.01)
    return w


@mistake("sgd_steps", "weights of every step are returned", "return the last")
def all_weights_from_the_first_on(w, grad_fn, batches, lr):
    ws = [w]
    for batch in batches:
        ws.append(ws[-1] - lr * grad_fn(ws[-1], batch))
    return ws


@mistake("sgd_steps", "sign is wrong", "up the gradient")
def ascending(w, grad_fn, batches, lr):
    for b in batches:
        w = w + lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "wrong order")
def gradient_of_the_batch(w, grad_fn, batches, lr):
    for b in batches:
        w = w - lr * grad_fn(b, w)
    return w


@mistake("sgd_steps", "first w")
def stale_weights(w, grad_fn, batches, lr):
    gs = [grad_fn(w, b) for b in batches]
    for g in gs:
        w = w - lr * g
    return w


@mistake("sgd_steps", "in place", "may still need the old values.")
def in_place_steps(w, grad_fn, batches, lr):
    for b in batches:
        w -= lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "inside the loop")
def returned_after_one(w, grad_fn, batches, lr):
    for b in batches:
        w = w - lr * grad_fn(w, b)
        return w


# ------------------------------------------------------------------------------ written later, when they had no name


def _row(x, mean, var, gamma, beta, eps):
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


@mistake("layer_norm", "only the mean is divided", "brackets")
def mean_over_std(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True) / np.sqrt(x.var(-1, keepdims=True) + eps)) * gamma + beta


@mistake("layer_norm", "number of rows")
def divided_by_the_rows(x, gamma, beta, eps=1e-5):
    mean = x.sum(-1, keepdims=True) / x.shape[0]
    return _row(x, mean, ((x - mean) ** 2).sum(-1, keepdims=True) / x.shape[0], gamma, beta, eps)


@mistake("layer_norm", "median", "about it too")
def median_in_both(x, gamma, beta, eps=1e-5):
    centre = np.median(x, axis=-1, keepdims=True)
    return _row(x, centre, ((x - centre) ** 2).mean(-1, keepdims=True), gamma, beta, eps)


@mistake("layer_norm", "the mean is taken over axis 0", "about it too")
def batch_mean_in_both(x, gamma, beta, eps=1e-5):
    mean = x.mean(0)
    return _row(x, mean, ((x - mean) ** 2).mean(-1, keepdims=True), gamma, beta, eps)


@mistake("layer_norm", "part of the row", "one too early")
def last_feature_not_counted(x, gamma, beta, eps=1e-5):
    part = x[..., :-1]
    return _row(x, part.mean(-1, keepdims=True), part.var(-1, keepdims=True), gamma, beta, eps)


@mistake("layer_norm", "each half of a row")
def two_groups_of_features(x, gamma, beta, eps=1e-5):
    half = x.shape[-1] // 2
    parts = [_row(p, p.mean(-1, keepdims=True), p.var(-1, keepdims=True), 1, 0, eps) for p in (x[..., :half], x[..., half:])]  # fmt: skip
    return np.concatenate(parts, axis=-1) * gamma + beta


@mistake("layer_norm", "min-max")
def rescaled_to_0_1(x, gamma, beta, eps=1e-5):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return (x - low) / (high - low + eps) * gamma + beta


@mistake("layer_norm", "softmax")
def softmax_of_rows(x, gamma, beta, eps=1e-5):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True) * gamma + beta


@mistake("layer_norm", "numerator")
def eps_added_to_x(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True) + eps) / x.std(-1, keepdims=True) * gamma + beta


@mistake("layer_norm", "after the division")
def eps_added_to_the_quotient(x, gamma, beta, eps=1e-5):
    return ((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) + eps) * gamma + beta


@mistake("layer_norm", "Three things", "ddof", "eps is missing", "beta is never added")
def three_at_once(x, gamma, beta, eps=1e-5):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, ddof=1, keepdims=True) * gamma


@mistake("layer_norm", "whole array", "outside", "never applied")
def three_others_at_once(x, gamma, beta, eps=1e-5):
    return (x - x.mean()) / (x.std() + eps)


@mistake("layer_norm", "two axes only", "`.T` reverses")
def transposed_for_the_means(x, gamma, beta, eps=1e-5):
    return ((x.T - x.mean(-1)) / np.sqrt(x.var(-1) + eps)).T * gamma + beta


@mistake("layer_norm", "tanh follows")
def tanh_at_the_end(x, gamma, beta, eps=1e-5):
    return np.tanh(_row(x, x.mean(-1, keepdims=True), x.var(-1, keepdims=True), gamma, beta, eps))


@mistake("layer_norm_backward", "BatchNorm's gradient")
def everything_over_axis_0(dy, x, gamma, eps=1e-5):
    rstd = 1 / np.sqrt(x.var(0) + eps)
    x_hat, g, lead = (x - x.mean(0)) * rstd, dy * gamma, tuple(range(x.ndim - 1))
    dx = rstd * (g - g.mean(0) - x_hat * (g * x_hat).mean(0))
    return dx, (dy * x_hat).sum(lead), dy.sum(lead)


def _parts(dy, x, gamma, eps):
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    x_hat, lead = (x - x.mean(-1, keepdims=True)) * rstd, tuple(range(x.ndim - 1))
    return rstd, x_hat, dy * gamma, (dy * x_hat).sum(lead), dy.sum(lead)


@mistake("layer_norm_backward", "wrong length")
def sums_over_the_number_of_rows(dy, x, gamma, eps=1e-5):
    rstd, x_hat, g, dgamma, dbeta = _parts(dy, x, gamma, eps)
    n = x.shape[0]
    return (
        rstd * (g - g.sum(-1, keepdims=True) / n - x_hat * (g * x_hat).sum(-1, keepdims=True) / n),
        dgamma,
        dbeta,
    )


@mistake("layer_norm_backward", "only the first term", "brackets")
def rstd_on_the_first_term(dy, x, gamma, eps=1e-5):
    rstd, x_hat, g, dgamma, dbeta = _parts(dy, x, gamma, eps)
    return rstd * g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True), dgamma, dbeta


@mistake("layer_norm_backward", "mean term is not multiplied by rstd")
def rstd_not_on_the_mean(dy, x, gamma, eps=1e-5):
    rstd, x_hat, g, dgamma, dbeta = _parts(dy, x, gamma, eps)
    return rstd * (g - x_hat * (g * x_hat).mean(-1, keepdims=True)) - g.mean(-1, keepdims=True), dgamma, dbeta


@mistake("batch_norm_backward", "wrong length")
def divided_by_the_features(dy, x, gamma, eps=1e-5):
    n, rstd = x.shape[1], 1 / np.sqrt(x.var(0) + eps)
    x_hat, g = (x - x.mean(0)) * rstd, dy * gamma
    return rstd / n * (n * g - g.sum(0) - x_hat * (g * x_hat).sum(0)), (dy * x_hat).sum(0), dy.sum(0)


@mistake("batch_norm", "about the running mean")
def variance_about_the_running_mean(
    x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5
):
    def wide(v):
        return v.reshape(1, -1, *[1] * (x.ndim - 2))

    axes, n = (0, *range(2, x.ndim)), x.size // x.shape[1]
    mean, var = running_mean, running_var
    if training:
        if n < 2:
            raise ValueError("one value")
        mean, var = x.mean(axes), x.var(axes)
        running_mean = (1 - momentum) * running_mean + momentum * mean
        squares = ((x - wide(running_mean)) ** 2).sum(axes)
        running_var = (1 - momentum) * running_var + momentum * squares / (n - 1)
    return (x - wide(mean)) / np.sqrt(wide(var) + eps) * wide(gamma) + wide(beta), running_mean, running_var


@mistake("batch_norm", "In evaluation one example must go through", "ValueError")
def one_example_refused_in_both_modes(x, gamma, beta, running_mean, running_var, training, momentum, eps):
    from helpers.layers import batch_norm

    if x.size == x.shape[1]:
        raise ValueError("one value")
    return batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)


@mistake("batch_norm", "count the values of a channel, not the examples", "(1, 4, 5)")
def examples_counted(x, gamma, beta, running_mean, running_var, training, momentum, eps):
    from helpers.layers import batch_norm

    if training and len(x) < 2:
        raise ValueError("one example")
    return batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)


@mistake("masked_batch_norm", "Correct.", "One remark", "NaN times 0 is NaN")
def masked_by_multiplication(x, mask, gamma, beta, eps):
    real = x[mask]
    y = (x - real.mean(axis=0)) / np.sqrt(real.var(axis=0) + eps) * gamma + beta
    return y * mask[..., None]


@mistake("batch_norm", "as if it had one")
def running_statistics_for_one_value(
    x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5
):
    from helpers.layers import batch_norm

    training = training and x.size > x.shape[1]
    return batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)


@mistake("masked_batch_norm", "what is 0 is taken for padding")
def zeros_are_padding(x, mask, gamma, beta, eps=1e-5):
    real = (x != 0).any(-1)
    tokens = x[real]
    return np.where(real[..., None], _row(x, tokens.mean(0), tokens.var(0), gamma, beta, eps), 0)


@mistake("masked_batch_norm", "first tokens")
def first_tokens_of_the_batch(x, mask, gamma, beta, eps=1e-5):
    tokens = x.reshape(-1, x.shape[-1])[: mask.sum()]
    return np.where(mask[..., None], _row(x, tokens.mean(0), tokens.var(0), gamma, beta, eps), 0)


@mistake("masked_batch_norm", "a token of a short one counts more")
def means_of_sequences(x, mask, gamma, beta, eps=1e-5):
    m = mask[..., None]
    mean = ((x * m).sum(1) / m.sum(1)).mean(0)
    var = ((m * (x - mean) ** 2).sum(1) / m.sum(1)).mean(0)
    return np.where(m, _row(x, mean, var, gamma, beta, eps), 0)


@mistake("rms_norm", "before the square")
def eps_added_before_the_square(x, gamma, eps=1e-6):
    return x / np.sqrt(((x + eps) ** 2).mean(-1, keepdims=True)) * gamma


@mistake("rms_norm", "multiplied by sqrt(d)")
def sqrt_d_on_top(x, gamma, eps=1e-6):
    return np.sqrt(x.shape[-1]) * x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm", "lower limit of the length", "clamp")
def unit_length_times_sqrt_d(x, gamma, eps=1e-6):
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), eps) * np.sqrt(x.shape[-1]) * gamma


@mistake("rms_norm", "shortcut")
def residual_before_the_gain(x, gamma, eps=1e-6):
    return (x + x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)) * gamma


@mistake("residual_block", "Something random")
def dropout_on_the_skip(x, f):
    return x * (np.random.rand(*x.shape) > 0.2) + f(x)


@mistake("post_norm_block", "Something random")
def dropout_on_the_branch(x, f, norm):
    return norm(x + f(x) * (np.random.rand(*x.shape) > 0.2) / 0.8)


@mistake("projected_residual", "the branch is missing", "proj(x) + f(x)")
def only_projected(x, f, proj):
    h = f(x)
    return x + h if h.shape == x.shape else proj(x)


@mistake("transformer_block", "normalized x of the first half")
def norm_of_the_norm(x, attn, ffn, norm1, norm2):
    h = norm1(x)
    x = x + attn(h)
    return x + ffn(norm2(h))


@mistake("pre_norm_stack", "at the start as well")
def normed_at_both_ends(x, fs, norms, final_norm):
    x = final_norm(x)
    for f, norm in zip(fs, norms):
        x = x + f(norm(x))
    return final_norm(x)


@mistake("pre_norm_stack", "input is missing")
def sum_of_the_branches(x, fs, norms, final_norm):
    total = 0
    for f, norm in zip(fs, norms):
        total = total + f(norm(x + total))
    return final_norm(total)


@mistake("residual_init_std", "brackets")
def n_layer_outside_the_fraction(base_std, n_layer):
    return base_std / np.sqrt(2) * n_layer


@mistake("residual_init_std", "counts 5 additions")
def five_additions(base_std, n_layer):
    return base_std / np.sqrt(5 * n_layer)


@mistake("residual_init_std", "0.5 * base_std * n_layer ** 0.5", "deeper stacks")
def half_and_upside_down(base_std, n_layer):
    return base_std / 2 * np.sqrt(n_layer)


@mistake("residual_init_std", "power -0.3333")
def cube_root(base_std, n_layer):
    return base_std / np.cbrt(2 * n_layer)


@mistake("residual_backward", "1 - y**2")
def slope_at_the_output(dy, x, W):
    y = x + np.tanh(x @ W)
    dz = dy * (1 - y**2)
    return dy + dz @ W.T, x.T @ dz


@mistake("residual_backward", "transposed in the forward pass")
def forward_transposed(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W.T) ** 2)
    return dy + dz @ W.T, x.T @ dz


def _stack(x, Ws, residual):
    hs = [x]
    for W in Ws:
        a = np.tanh(hs[-1] @ W)
        hs.append(hs[-1] + a if residual else a)
    return hs


@mistake("backprop_chain", "wherever the shapes agree")
def skip_by_shape(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        down = dz @ W.T
        dhs.insert(0, down + dhs[0] if down.shape == dhs[0].shape else down)
    return dhs, dWs


@mistake("backprop_chain", "`residual` is not looked at")
def shortcut_in_every_network(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, True), [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + dhs[0])
    return dhs, dWs


@mistake("backprop_chain", "layer below")
def slope_of_the_layer_below(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dWs.insert(0, h.T @ dhs[0])
        down = dhs[0] @ W.T * (1 - h**2)
        dhs.insert(0, down + dhs[0] if residual else down)
    return dhs, dWs


@mistake("backprop_chain", "layer below", "-1")
def index_one_too_low(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for i in reversed(range(len(Ws))):
        dz = dhs[0] * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs.insert(0, hs[i].T @ dz)
        down = dz @ Ws[i - 1].T
        dhs.insert(0, down + dhs[0] if residual else down)
    return dhs, dWs


@mistake("backprop_chain", "last matrix")
def loop_variable_left_over(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    W = Ws[-1]
    for h in hs[-2::-1]:
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + dhs[0] if residual else dz @ W.T)
    return dhs, dWs


@mistake("grad_norms", "total is divided by the number of tensors")
def total_over_the_tensors(params, grads):
    norms = np.array([np.linalg.norm(g) for g in grads])
    return norms, np.linalg.norm(norms) / len(norms)


@mistake("grad_norms", "root is taken twice")
def root_of_the_total(params, grads):
    norms = np.array([np.linalg.norm(g) for g in grads])
    return norms, np.sqrt(np.linalg.norm(norms))


@mistake("grad_norms", "lengths of the columns")
def columns_added(params, grads):
    return [np.linalg.norm(g, axis=0).sum() for g in grads], np.sqrt(sum((g**2).sum() for g in grads))


@mistake("grad_norms", "Absolute values", "made of these lengths")
def sums_of_absolute_values(params, grads):
    norms = np.array([np.abs(g).sum() for g in grads])
    return norms, np.linalg.norm(norms)


@mistake("clip_by_global_norm", "about 5 is used")
def limit_hard_coded(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    return [g * min(1, 5 / (total + 1e-6)) for g in grads]


@mistake("clip_by_global_norm", "total so far")
def scaled_inside_the_loop(grads, max_norm):
    total, clipped = 0.0, []
    for g in grads:
        total += (g**2).sum()
        clipped.append(g * min(1, max_norm / (np.sqrt(total) + 1e-6)))
    return clipped


@mistake("clip_by_global_norm", "each row")
def clipped_by_rows(grads, max_norm):
    return [g * np.minimum(1, max_norm / (np.linalg.norm(g, axis=-1, keepdims=True) + 1e-6)) for g in grads]


@mistake("sgd_steps", "first gradient")
def gradient_before_the_loop(w, grad_fn, batches, lr):
    g = grad_fn(w, batches[0])
    for _ in batches:
        w = w - lr * g
    return w


@mistake("sgd_steps", "momentum of about 0.5")
def half_the_velocity(w, grad_fn, batches, lr):
    v = 0
    for b in batches:
        v = 0.5 * v + grad_fn(w, b)
        w = w - lr * v
    return w


@mistake("sgd_steps", "Nesterov")
def nesterov(w, grad_fn, batches, lr):
    v = 0
    for b in batches:
        g = grad_fn(w, b)
        v = 0.9 * v + g
        w = w - lr * (g + 0.9 * v)
    return w


@mistake("sgd_steps", "decay of about 0.0005")
def decay_of_another_size(w, grad_fn, batches, lr):
    for b in batches:
        w = w - lr * (grad_fn(w, b) + 5e-4 * w)
    return w


@mistake("sgd_steps", "every second")
def cleared_every_second_step(w, grad_fn, batches, lr):
    kept = 0
    for i, b in enumerate(batches):
        kept = grad_fn(w, b) if i % 2 == 0 else kept + grad_fn(w, b)
        w = w - lr * kept
    return w


@mistake("sgd_steps", "every second batch")
def step_every_second_batch(w, grad_fn, batches, lr):
    kept = 0
    for i, b in enumerate(batches):
        kept = kept + grad_fn(w, b)
        if i % 2:
            w, kept = w - lr * kept, 0
    return w


@mistake("sgd_steps", "multiplied by about 0.9 after each step")
def rate_that_shrinks(w, grad_fn, batches, lr):
    for i, b in enumerate(batches):
        w = w - lr * 0.9**i * grad_fn(w, b)
    return w


@mistake("sgd_steps", "about 0.01 is used")
def rate_hard_coded(w, grad_fn, batches, lr):
    for b in batches:
        w = w - 0.01 * grad_fn(w, b)
    return w


@mistake("sgd_steps", "gone through twice")
def two_epochs(w, grad_fn, batches, lr):
    for b in [*batches, *batches]:
        w = w - lr * grad_fn(w, b)
    return w


@mistake("residual_block", "Correct.", "identity", "h = h + x")
def added_into_the_branch(x, f):
    h = f(x)
    h += x
    return h


COIN = np.random.default_rng(0)


@mistake("residual_block", "Something random")
def stochastic_depth(x, f):
    return x + f(x) * (COIN.random() > 0.5)


@mistake("layer_norm", "axis=-2")
def over_the_tokens(x, gamma, beta, eps=1e-5):
    return _row(x, x.mean(-2, keepdims=True), x.var(-2, keepdims=True), gamma, beta, eps)


@mistake("rms_norm", "denominator")
def only_the_root(x, gamma, eps=1e-6):
    return np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma


@mistake("rms_norm", "nothing is added")
def gamma_for_beta(x, gamma, eps=1e-6):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gamma + gamma


@mistake("layer_norm_backward", "divided by gamma at the end")
def over_gamma_at_the_end(dy, x, gamma, eps=1e-5):
    rstd, x_hat, g, dgamma, dbeta = _parts(dy, x, gamma, eps)
    dx = rstd * (g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True))
    return dx / gamma, dgamma, dbeta


@mistake("rms_norm_backward", "mean is missing in the mean-square term")
def product_not_averaged(dy, x, gamma, eps=1e-6):
    rrms = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    x_hat, g, lead = x * rrms, dy * gamma, tuple(range(x.ndim - 1))
    return rrms * (g - x_hat * g * x_hat), (dy * x_hat).sum(lead)


def _batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps):
    from helpers.layers import batch_norm

    return batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)


@mistake("batch_norm", "always has the weight 0.01")
def keras_momentum(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    return _batch_norm(x, gamma, beta, running_mean, running_var, training, 0.01, eps)


@mistake("batch_norm", "momentum**2")
def momentum_twice(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    return _batch_norm(x, gamma, beta, running_mean, running_var, training, momentum**2, eps)


@mistake("batch_norm", "whole number")
def correction_with_whole_numbers(
    x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5
):
    y, mean, var = _batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)
    if training:
        n = x.size // x.shape[1]
        var = (1 - momentum) * running_var + momentum * x.var((0, *range(2, x.ndim))) * (n // (n - 1))
    return y, mean, var


@mistake("masked_batch_norm", "mask lies along the channels")
def mask_along_the_channels(x, mask, gamma, beta, eps=1e-5):
    m, n = mask[:, None, :], mask.sum()
    mean = (x * m).sum((0, 1)) / n
    return m * _row(x, mean, (m * (x - mean) ** 2).sum((0, 1)) / n, gamma, beta, eps)


@mistake("masked_batch_norm", "tokens times channels")
def divided_by_entries(x, mask, gamma, beta, eps=1e-5):
    m, n = mask[..., None], mask.sum() * x.shape[-1]
    mean = (x * m).sum((0, 1)) / n
    return m * _row(x, mean, (m * (x - mean) ** 2).sum((0, 1)) / n, gamma, beta, eps)


@mistake("pre_norm_block", "norm(x) is added too")
def both_on_the_skip(x, f, norm):
    h = norm(x)
    return x + h + f(h)


@mistake("post_norm_block", "once more after the norm")
def block_after_the_norm(x, f, norm):
    x = norm(x + f(x))
    return x + f(x)


@mistake("pre_norm_stack", "divided by the number of blocks")
def averaged_branches(x, fs, norms, final_norm):
    for f, norm in zip(fs, norms):
        x = x + f(norm(x)) / len(fs)
    return final_norm(x)


@mistake("residual_backward", "(1 - tanh(z))**2")
def square_of_the_difference(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W)) ** 2
    return dy + dz @ W.T, x.T @ dz


@mistake("backprop_chain", "left out in the last layer")
def last_tanh_forgotten(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for i in reversed(range(len(Ws))):
        slope = 1 if i == len(Ws) - 1 else 1 - np.tanh(hs[i] @ Ws[i]) ** 2
        dz = dhs[0] * slope
        dWs.insert(0, hs[i].T @ dz)
        dhs.insert(0, dz @ Ws[i].T + dhs[0] if residual else dz @ Ws[i].T)
    return dhs, dWs


@mistake("backprop_chain", "divided by sqrt(2)")
def paths_averaged(x, Ws, dout, residual=False):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, (dz @ W.T + dhs[0]) / np.sqrt(2) if residual else dz @ W.T)
    return dhs, dWs


@mistake("grad_norms", "length of all gradients together")
def total_for_each(params, grads):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    return [total] * len(grads), total


@mistake("sgd_steps", "clipped to length 1")
def steps_clipped(w, grad_fn, batches, lr):
    for b in batches:
        g = grad_fn(w, b)
        w = w - lr * g * min(1, 1 / np.linalg.norm(g))
    return w


@mistake("residual_block", "multiplied by almost 0")
def layer_scale(x, f):
    return x + 1e-5 * f(x)


@mistake("pre_norm_block", "multiplied by almost 0")
def layer_scale_before(x, f, norm):
    return x + 1e-5 * f(norm(x))


@mistake("residual_block", "x + f(x + f(x))", "two blocks in one")
def two_blocks_in_one(x, f):
    return x + f(x + f(x))


# ------------------------------------------------------------------------------ signs that are lost


@mistake("layer_norm", "|gamma|")
def size_of_gamma(x, gamma, beta, eps=1e-5):
    return layers.layer_norm(x, abs(gamma), beta, eps)


@mistake("rms_norm", "|gamma|")
def size_of_the_rms_gain(x, gamma, eps=1e-6):
    return layers.rms_norm(x, abs(gamma), eps)


@mistake("batch_norm", "|beta|")
def size_of_beta(x, gamma, beta, *rest):
    return layers.batch_norm(x, gamma, abs(beta), *rest)


@mistake("batch_norm", "in evaluation", "|gamma|")
def size_of_gamma_in_evaluation(x, gamma, beta, mean, var, training, momentum, eps):
    return layers.batch_norm(x, gamma if training else abs(gamma), beta, mean, var, training, momentum, eps)


@mistake("masked_batch_norm", "|beta|")
def size_of_the_shift(x, mask, gamma, beta, eps):
    return layers.masked_batch_norm(x, mask, gamma, abs(beta), eps)


@mistake("layer_norm_backward", "|gamma|")
def size_of_gamma_backward(dy, x, gamma, eps=1e-5):
    return layers.layer_norm_backward(dy, x, abs(gamma), eps)


@mistake("rms_norm_backward", "|gamma|")
def size_of_the_rms_gain_backward(dy, x, gamma, eps=1e-6):
    return layers.rms_norm_backward(dy, x, abs(gamma), eps)


@mistake("batch_norm_backward", "|gamma|")
def size_of_the_channels_gain_backward(dy, x, gamma, eps=1e-5):
    return layers.batch_norm_backward(dy, x, abs(gamma), eps)


# ------------------------------------------------------------------------------ what was taken for something else


@mistake("layer_norm", "rounded to 4 decimals")
def four_decimals(x, gamma, beta, eps=1e-5):
    return np.round(layers.layer_norm(x, gamma, beta, eps), 4)


@mistake("residual_block", "decimals are lost")
def in_an_array_of_integers(x, f):
    y = np.zeros(x.shape, dtype=int)
    y[...] = x + f(x)
    return y


@mistake("layer_norm", "row 0 changes when the others do")
def length_of_all_rows(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return c / (np.linalg.norm(c) + eps) * gamma + beta


@mistake("residual_block", "It holds 2 arrays of the right shape")
def with_its_input(x, f):
    return x + f(x), x


@mistake("clip_by_global_norm", "only the first array")
def returned_in_the_loop(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    for g in grads:
        return [g * min(1, max_norm / (total + 1e-6))]


@mistake("clip_by_global_norm", "2 things", "the list alone")
def with_the_total(grads, max_norm):
    total = np.sqrt(sum((g**2).sum() for g in grads))
    return [g * min(1, max_norm / (total + 1e-6)) for g in grads], total


@mistake("layer_norm_backward", "Only `dgamma` is wrong")
def dgamma_of_the_batch(dy, x, gamma, eps=1e-5):
    dx, _, dbeta = layers.layer_norm_backward(dy, x, gamma, eps)
    lead = tuple(range(x.ndim - 1))
    return dx, (dy * (x - x.mean(0)) / np.sqrt(x.var(0) + eps)).sum(lead), dbeta


@mistake("masked_batch_norm", "not applied to the sum of the variance")
def squares_of_the_padding(x, mask, gamma, beta, eps=1e-5):
    mean = x[mask].mean(0)
    var = ((x - mean) ** 2).sum((0, 1)) / mask.sum()
    return np.where(mask[..., None], _row(x, mean, var, gamma, beta, eps), 0)


@mistake("masked_batch_norm", "not applied to the sum of the mean")
def sum_of_the_padding(x, mask, gamma, beta, eps=1e-5):
    m, n = mask[..., None], mask.sum()
    mean = x.sum((0, 1)) / n
    return np.where(m, _row(x, mean, (m * (x - mean) ** 2).sum((0, 1)) / n, gamma, beta, eps), 0)


@mistake("layer_norm", "powers come first")
def power_one_half(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return c / (x.var(-1, keepdims=True) + eps) / 2 * gamma + beta


@mistake("rms_norm_backward", "direct term g is not multiplied")
def direct_term_not_scaled(dy, x, gamma, eps=1e-6):
    r, g = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + eps), dy * gamma
    dm = -0.5 * r**3 * (g * x).sum(-1, keepdims=True)
    return g + dm * 2 * x / x.shape[-1], (dy * x * r).sum(tuple(range(x.ndim - 1)))


@mistake("batch_norm_backward", "x - mean belongs")
def not_centred_in_dvar(dy, x, gamma, eps=1e-5):
    r, g, n = 1 / np.sqrt(x.var(0) + eps), dy * gamma, len(x)
    dvar = (g * x * -0.5 * r**3).sum(0)
    dx = g * r + dvar * 2 * (x - x.mean(0)) / n - (g * r).mean(0)
    return dx, *layers.batch_norm_backward(dy, x, gamma, eps)[1:]


@mistake("transformer_block", "runs over the batch")
def sequences_exchanged_with_tokens(x, attn, ffn, norm1, norm2):
    x = x + attn(norm1(x).swapaxes(0, 1)).swapaxes(0, 1)
    return x + ffn(norm2(x))


@mistake("backprop_chain", "changes what is already in the list")
def one_array_many_times(x, Ws, dout, residual=False):
    hs, dh = _stack(x, Ws, residual), dout.copy()
    dhs, dWs = [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dh * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        if residual:
            dh += dz @ W.T
        else:
            dh = dz @ W.T
        dhs.insert(0, dh)
    return dhs, dWs


@mistake("sgd_steps", "Adam")
def adam(w, grad_fn, batches, lr):
    m = v = 0
    for i, b in enumerate(batches, 1):
        g = grad_fn(w, b)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        w = w - lr * m / (1 - 0.9**i) / (np.sqrt(v / (1 - 0.999**i)) + 1e-8)
    return w


@mistake("sgd_steps", "off by one")
def batch_before(w, grad_fn, batches, lr):
    for i in range(len(batches)):
        w = w - lr * grad_fn(w, batches[i - 1])
    return w


@mistake("batch_norm_backward", "divided by the number of features")
def divided_by_the_channels(dy, x, gamma, eps):
    dx, dgamma, dbeta = layers.batch_norm_backward(dy, x, gamma, eps)
    return dx, dgamma / x.shape[1], dbeta / x.shape[1]


@mistake("residual_backward", "belongs before the matrix product")
def one_plus_slope_taken_literally(dy, x, W):
    slope = 1 - np.tanh(x @ W) ** 2
    return dy * (1 + slope @ W.T), x.T @ (dy * slope)


@mistake("residual_backward", "applied after W.T", "has no W in it")
def back_through_the_product_first(dy, x, W):
    dz = (dy @ W.T) * (1 - np.tanh(x @ W) ** 2)
    return dy + dz, x.T @ dz


@mistake("residual_backward", "outer product", "a.T @ b")
def outer(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return dy + dz @ W.T, np.outer(x, dz)


@mistake("residual_backward", "block's output")
def tanh_of_the_output(dy, x, W):
    dz = dy * (1 - np.tanh(x + np.tanh(x @ W)) ** 2)
    return dy + dz @ W.T, x.T @ dz


@mistake("residual_backward", "only the last row", "`+=`")
def last_row_only(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    for i in range(len(x)):
        dW = np.outer(x[i], dz[i])
    return dy + dz @ W.T, dW


@mistake("residual_backward", "a factor tanh(z) too many")
def activation_and_slope(dy, x, W):
    t = np.tanh(x @ W)
    dz = dy * t * (1 - t**2)
    return dy + dz @ W.T, x.T @ dz


@mistake("residual_backward", "arctan")
def slope_of_arctan(dy, x, W):
    dz = dy / (1 + (x @ W) ** 2)
    return dy + dz @ W.T, x.T @ dz


@mistake("residual_backward", "order is swapped", "shortcut's part is missing")
def swapped_and_without_the_shortcut(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return x.T @ dz, dz @ W.T


@mistake("residual_backward", "brackets")
def brackets_missing(dy, x, W):
    dz = dy * 1 - np.tanh(x @ W) ** 2
    return dy + dz @ W.T, x.T @ dz


@mistake("residual_backward", "weight decay", "0.0001")
def a_little_weight_decay(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return dy + dz @ W.T, x.T @ dz + 1e-4 * W


@mistake("residual_backward", "weight decay", "0.01")
def weight_decay(dy, x, W):
    dz = dy * (1 - np.tanh(x @ W) ** 2)
    return dy + dz @ W.T, x.T @ dz + 0.01 * W


@mistake("backprop_chain", "output stands where its input belongs")
def pairs_each_matrix_with_what_it_gave(x, Ws, dout, residual):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for h, W in zip(hs[:0:-1], Ws[::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + residual * dhs[0])
    return dhs, dWs


def _one_array(dout, hs, Ws, residual):
    """The way back with one array for every dh."""
    dh = dout.copy()
    dhs, dWs = [dh], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dh * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        if residual:
            dh += dz @ W.T
        else:
            dh = dz @ W.T
        dhs.insert(0, dh)
    return dhs, dWs


def _back(dout, hs, Ws, residual):
    """The right way back."""
    dhs, dWs = [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + dhs[0] if residual else dz @ W.T)
    return dhs, dWs


def _one_stream(x, Ws, residual, first):
    """The forward pass with one array for every h; first: what stands at the list's start."""
    h, acts = x.copy(), []
    hs = [h if first is None else first]
    for W in Ws:
        acts.append(np.tanh(h @ W))
        if residual:
            h += acts[-1]
        else:
            h = acts[-1]
        hs.append(h)
    return hs, acts


@mistake("backprop_chain", "same array", "already in the list", "dh = dh + ...")
def one_array_for_dout_too(x, Ws, dout, residual):
    return _one_array(dout, _stack(x, Ws, residual), Ws, residual)


@mistake("backprop_chain", "the list", "changes those already in the list", "h = h + ...")
def one_array_in_the_forward_pass(x, Ws, dout, residual):
    return _back(dout, _one_stream(x, Ws, residual, None)[0], Ws, residual)


@mistake("backprop_chain", "the list", "changes those already in the list", "h = h + ...")
def one_array_in_the_forward_pass_after_x(x, Ws, dout, residual):
    return _back(dout, _one_stream(x, Ws, residual, x)[0], Ws, residual)


@mistake("backprop_chain", "the list", "changes those already in the list", "h = h + ...")
def one_array_in_the_forward_pass_and_activations_kept(x, Ws, dout, residual):
    hs, acts = _one_stream(x, Ws, residual, None)
    dhs, dWs = [dout], []
    for W, h, a in zip(Ws[::-1], hs[-2::-1], acts[::-1]):
        dz = dhs[0] * (1 - a**2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + dhs[0] if residual else dz @ W.T)
    return dhs, dWs


@mistake("backprop_chain", "Two things", "dh = dh + ...", "h = h + ...")
def one_array_there_and_back(x, Ws, dout, residual):
    return _one_array(dout, _one_stream(x, Ws, residual, None)[0], Ws, residual)


@mistake("backprop_chain", "`dh *= ...`", "already in the list")
def slope_multiplied_in_place(x, Ws, dout, residual):
    hs, dh = _stack(x, Ws, residual), dout.copy()
    dhs, dWs = [dh], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        before = dh.copy()
        dh *= 1 - np.tanh(h @ W) ** 2
        dWs.insert(0, h.T @ dh)
        dh = dh @ W.T + (before if residual else 0)
        dhs.insert(0, dh)
    return dhs, dWs


@mistake("backprop_chain", "brackets")
def brackets_missing_in_every_layer(x, Ws, dout, residual):
    hs, dhs, dWs = _stack(x, Ws, residual), [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * 1 - np.tanh(h @ W) ** 2
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + dhs[0] if residual else dz @ W.T)
    return dhs, dWs


@mistake("backprop_chain", "last entry", "dout")
def last_entry_never_set(x, Ws, dout, residual):
    hs = _stack(x, Ws, residual)
    dhs, dWs, dh = [np.zeros_like(h) for h in hs], [None] * len(Ws), dout
    for i in reversed(range(len(Ws))):
        dz = dh * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs[i] = hs[i].T @ dz
        dh = dz @ Ws[i].T + (dh if residual else 0)
        dhs[i] = dh
    return dhs, dWs


def _inside_the_tanh(x, Ws, dout, residual, both_ways):
    """A shortcut inside the tanh; both_ways: on the way back, too."""
    hs = [x]
    for W in Ws:
        hs.append(np.tanh(hs[-1] @ W + (hs[-1] if residual else 0)))
    dhs, dWs = [dout], []
    for W, h, a in zip(Ws[::-1], hs[-2::-1], hs[:0:-1]):
        dz = dhs[0] * (1 - a**2)
        dWs.insert(0, h.T @ dz)
        along = dz if both_ways else dhs[0]
        dhs.insert(0, dz @ W.T + (along if residual else 0))
    return dhs, dWs


@mistake("backprop_chain", "inside the tanh")
def shortcut_inside_the_tanh(x, Ws, dout, residual):
    return _inside_the_tanh(x, Ws, dout, residual, both_ways=True)


@mistake("backprop_chain", "inside the tanh")
def shortcut_inside_the_tanh_on_the_way_there(x, Ws, dout, residual):
    return _inside_the_tanh(x, Ws, dout, residual, both_ways=False)


@mistake("backprop_chain", "shortcut starts at x", "h[l]")
def shortcut_from_x(x, Ws, dout, residual):
    hs = [x]
    for W in Ws:
        t = np.tanh(hs[-1] @ W)
        hs.append(x + t if residual else t)
    return _back(dout, hs, Ws, residual)


@mistake("backprop_chain", "wherever the shapes agree", "`residual`")
def shortcut_where_it_fits(x, Ws, dout, residual):
    hs = [x]
    for W in Ws:
        t = np.tanh(hs[-1] @ W)
        hs.append(hs[-1] + t if t.shape == hs[-1].shape else t)
    dhs, dWs = [dout], []
    for W, h in zip(Ws[::-1], hs[-2::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        down = dz @ W.T
        dhs.insert(0, down + dhs[0] if down.shape == dhs[0].shape else down)
    return dhs, dWs


@mistake("backprop_chain", "dL/dW", "insert(-1, ...)", "insert(0, ...)")
def inserted_before_the_last(x, Ws, dout, residual):
    hs, dh = _stack(x, Ws, residual), dout
    dhs, dWs = [dout], []
    for i in reversed(range(len(Ws))):
        dz = dh * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs.insert(-1, hs[i].T @ dz)
        dh = dz @ Ws[i].T + (dh if residual else 0)
        dhs.insert(0, dh)
    return dhs, dWs


@mistake("backprop_chain", "dL/dh", "insert(-1, ...)", "insert(0, ...)")
def gradients_inserted_before_the_last(x, Ws, dout, residual):
    hs, dh = _stack(x, Ws, residual), dout
    dhs, dWs = [dout], []
    for i in reversed(range(len(Ws))):
        dz = dh * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs.insert(0, hs[i].T @ dz)
        dh = dz @ Ws[i].T + (dh if residual else 0)
        dhs.insert(-1, dh)
    return dhs, dWs


@mistake("backprop_chain", "both lists", "insert(-1, ...)", "insert(0, ...)")
def both_inserted_before_the_last(x, Ws, dout, residual):
    hs, dh = _stack(x, Ws, residual), dout
    dhs, dWs = [dout], []
    for i in reversed(range(len(Ws))):
        dz = dh * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs.insert(-1, hs[i].T @ dz)
        dh = dz @ Ws[i].T + (dh if residual else 0)
        dhs.insert(-1, dh)
    return dhs, dWs


@mistake("layer_norm_backward", "dv = -0.5 * r**3 * dr")
def square_for_the_cube_in_step_3(dy, x, gamma, eps):
    c, lead = x - x.mean(-1, keepdims=True), tuple(range(x.ndim - 1))
    r = 1 / np.sqrt((c**2).mean(-1, keepdims=True) + eps)
    g = dy * gamma
    dv = -0.5 * r**2 * (g * c).sum(-1, keepdims=True)
    dc = g * r + dv * 2 * c / x.shape[-1]
    return dc - dc.mean(-1, keepdims=True), (dy * c * r).sum(lead), dy.sum(lead)


@mistake("backprop_chain", "all gradients are 0", "set to dout")
def loop_begins_at_zeros(x, Ws, dout, residual):
    hs, dWs = _stack(x, Ws, residual), [None] * len(Ws)
    dhs = [np.zeros_like(h) for h in hs]
    for i in reversed(range(len(Ws))):
        dz = dhs[i + 1] * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs[i] = hs[i].T @ dz
        dhs[i] = dz @ Ws[i].T + (dhs[i + 1] if residual else 0)
    return dhs, dWs


@mistake("backprop_chain", "residual * h", "widths may differ", "if residual")
def shortcut_times_residual(x, Ws, dout, residual):
    hs, dhs, dWs = [x], [dout], []
    for W in Ws:
        hs.append(np.tanh(hs[-1] @ W) + residual * hs[-1])
    for h, W in zip(hs[-2::-1], Ws[::-1]):
        dz = dhs[0] * (1 - np.tanh(h @ W) ** 2)
        dWs.insert(0, h.T @ dz)
        dhs.insert(0, dz @ W.T + residual * dhs[0])
    return dhs, dWs


@mistake("grad_norms", "`return` inside the loop")
def norms_returned_in_the_loop(params, grads):
    norms, total = [], 0.0
    for g in grads:
        norms.append(np.linalg.norm(g))
        total += (g**2).sum()
        return norms, np.sqrt(total)


@mistake("grad_norms", "about 1e-06 is added under the root", "made of these lengths")
def eps_under_every_root(params, grads):
    norms = np.array([np.sqrt((g**2).sum() + 1e-6) for g in grads])
    return norms, np.linalg.norm(norms)


@mistake("grad_norms", "about 1e-06 is added to the length")
def eps_beside_the_root(params, grads):
    return [np.linalg.norm(g) + 1e-6 for g in grads], np.sqrt(sum((g**2).sum() for g in grads))


@mistake("grad_norms", "about 1e-08 is added under the root of the total")
def eps_in_the_total(params, grads):
    return [np.linalg.norm(g) for g in grads], np.sqrt(sum((g**2).sum() for g in grads) + 1e-8)


@mistake("grad_norms", "Correct.", "all 0 have length 0")
def eps_that_only_zeros_show(params, grads):
    norms = np.array([np.sqrt((g**2).sum() + 1e-12) for g in grads])
    return norms, np.linalg.norm(norms)


def _total(grads):
    return np.sqrt(sum((g**2).sum() for g in grads))


@mistake("clip_by_global_norm", "one long vector", "cut them into arrays")
def joined_in_a_list(grads, max_norm):
    joined = np.concatenate([g.ravel() for g in grads])
    return [joined * min(1, max_norm / (np.linalg.norm(joined) + 1e-6))]


@mistake("clip_by_global_norm", "as many numbers as asked for", "cut them into arrays")
def joined_and_wrong_besides(grads, max_norm):
    return np.sin(np.concatenate([g.ravel() for g in grads]))


@mistake("clip_by_global_norm", "must not exceed 1", "adds the norms")
def always_by_the_sum_of_norms(grads, max_norm):
    total = sum(np.linalg.norm(g) for g in grads)
    return [max_norm * g / (total + 1e-6) for g in grads]


@mistake("clip_by_global_norm", "must not exceed 1", "square root is missing")
def always_by_the_squared_norm(grads, max_norm):
    total = sum((g**2).sum() for g in grads)
    return [g * max_norm / (total + 1e-6) for g in grads]


@mistake("clip_by_global_norm", "own squared norm")
def clipped_one_by_one_without_a_root(grads, max_norm):
    return [g * min(1, max_norm / ((g**2).sum() + 1e-6)) for g in grads]


@mistake("clip_by_global_norm", "by itself", "largest singular value")
def clipped_one_by_one_by_matrix_norms(grads, max_norm):
    return [g * min(1, max_norm / (np.linalg.norm(g, 2) + 1e-6)) for g in grads]


@mistake("clip_by_global_norm", "largest singular value", "leave the 2 out")
def total_of_matrix_norms(grads, max_norm):
    total = np.sqrt(sum(np.linalg.norm(g, 2) ** 2 for g in grads))
    return [g * min(1, max_norm / (total + 1e-6)) for g in grads]


@mistake("clip_by_global_norm", "smaller of max_norm and total")
def smaller_of_the_two(grads, max_norm):
    return [g * min(max_norm, _total(grads)) for g in grads]


@mistake("clip_by_global_norm", "arrays are missing", "own norm")
def only_those_clipped_by_themselves(grads, max_norm):
    clipped = []
    for g in grads:
        if np.linalg.norm(g) > max_norm:
            clipped.append(g * max_norm / (np.linalg.norm(g) + 1e-6))
    return clipped


@mistake("clip_by_global_norm", "arrays are missing", "Return all of them")
def only_long_ones_kept(grads, max_norm):
    clipped = []
    for g in grads:
        if np.linalg.norm(g) > max_norm:
            clipped.append(g * max_norm / (_total(grads) + 1e-6))
    return clipped


@mistake("clip_by_global_norm", "the list is empty")
def nothing_kept_when_short(grads, max_norm):
    clipped = []
    for g in grads:
        if _total(grads) > max_norm:
            clipped.append(g * max_norm / (_total(grads) + 1e-6))
    return clipped


def _sgd(*words):
    """Adds a step, a function of w, the gradient at w, lr, and a dictionary that is kept, as a learner's sgd_steps."""

    def add(step):
        def sgd_steps(w, grad_fn, batches, lr):
            kept = {}
            for b in batches:
                w = step(w, lambda at, b=b: grad_fn(at, b), lr, kept)
            return w

        sgd_steps.__name__ = step.__name__
        FURTHER.append(("sgd_steps", words, sgd_steps))
        return step

    return add


@_sgd("weight decay of 0.01")
def decay_apart(w, grad, lr, kept):
    return w * (1 - lr * 0.01) - lr * grad(w)


@_sgd("shrunk before each step", "of about 0.02")
def decay_before(w, grad, lr, kept):
    w = w * (1 - lr * 0.02)
    return w - lr * grad(w)


@_sgd("multiplied by about 0.99 in every step")
def decay_without_lr(w, grad, lr, kept):
    return 0.99 * w - lr * grad(w)


@_sgd("multiplied by about 0.98 after each step")
def decay_after_without_lr(w, grad, lr, kept):
    return 0.98 * (w - lr * grad(w))


@_sgd("Two things", "up the gradient", "weight decay of 0.01")
def uphill_with_decay(w, grad, lr, kept):
    return w + lr * (grad(w) + 0.01 * w)


@_sgd("Two things", "up the gradient", "weight decay of about 0.003")
def uphill_with_a_decay_of_its_own(w, grad, lr, kept):
    return w + lr * (grad(w) + 0.003 * w)


@_sgd("Two things", "up the gradient", "accumulate")
def uphill_accumulated(w, grad, lr, kept):
    kept["g"] = kept.get("g", 0) + grad(w)
    return w + lr * kept["g"]


@_sgd("Two things", "up the gradient", "momentum of 0.9")
def uphill_with_momentum(w, grad, lr, kept):
    kept["v"] = 0.9 * kept.get("v", 0) + grad(w)
    return w + lr * kept["v"]


@_sgd("Two things", "momentum of 0.9", "weight decay of 0.01")
def momentum_with_decay(w, grad, lr, kept):
    kept["v"] = 0.9 * kept.get("v", 0) + grad(w) + 0.01 * w
    return w - lr * kept["v"]


@_sgd("momentum of 0.9", "weight decay of about 0.01")
def momentum_with_decay_apart(w, grad, lr, kept):
    kept["v"] = 0.9 * kept.get("v", 0) + grad(w)
    return w - lr * (kept["v"] + 0.01 * w)


@_sgd("Nesterov", "ahead of w")
def looks_ahead(w, grad, lr, kept):
    v = kept.get("v", 0)
    kept["v"] = 0.9 * v - lr * grad(w + 0.9 * v)
    return w + kept["v"]


@_sgd("Nesterov", "about 0.5")
def nesterov_of_its_own(w, grad, lr, kept):
    g = grad(w)
    kept["v"] = 0.5 * kept.get("v", 0) + g
    return w - lr * (g + 0.5 * kept["v"])


@_sgd("momentum", "before it is updated")
def moves_before_the_update(w, grad, lr, kept):
    g = grad(w)
    w = w - lr * kept.get("v", 0)
    kept["v"] = 0.9 * kept.get("v", 0) + g
    return w


@_sgd("momentum", "before it is updated")
def moves_before_the_gradient(w, grad, lr, kept):
    w = w - lr * kept.get("v", 0)
    kept["v"] = 0.9 * kept.get("v", 0) + grad(w)
    return w


@_sgd("lr multiplies w too")
def lr_times_everything(w, grad, lr, kept):
    return lr * (w - grad(w))


@mistake("sgd_steps", "whole list", "batch of this step")
def all_batches_in_every_step(w, grad_fn, batches, lr):
    for _ in batches:
        w = w - lr * grad_fn(w, batches)
    return w


@mistake("sgd_steps", "whole list", "once")
def all_batches_at_once(w, grad_fn, batches, lr):
    return w - lr * grad_fn(w, batches)


@mistake("sgd_steps", "another order", "shuffled")
def shuffled(w, grad_fn, batches, lr):
    for i in np.random.default_rng(0).permutation(len(batches)):
        w = w - lr * grad_fn(w, batches[i])
    return w


@mistake("sgd_steps", "another order", "sorted")
def sorted_by_sum(w, grad_fn, batches, lr):
    for b in sorted(batches, key=np.sum):
        w = w - lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "more than once")
def drawn_with_replacement(w, grad_fn, batches, lr):
    for i in np.random.default_rng(0).integers(len(batches), size=len(batches)):
        w = w - lr * grad_fn(w, batches[i])
    return w


@mistake("sgd_steps", "in reverse")
def from_the_last_on(w, grad_fn, batches, lr):
    for b in batches[::-1]:
        w = w - lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "Two things", "up the gradient", "last batch is left out")
def uphill_and_one_too_few(w, grad_fn, batches, lr):
    for b in batches[:-1]:
        w = w + lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "number i", "batches[i]")
def number_for_the_batch(w, grad_fn, batches, lr):
    for i in range(len(batches)):
        w = w - lr * grad_fn(w, i)
    return w


@mistake("sgd_steps", "begin at 0")
def from_zeros(w, grad_fn, batches, lr):
    w = np.zeros_like(w)
    for b in batches:
        w = w - lr * grad_fn(w, b)
    return w


@mistake("sgd_steps", "a step of its own", "loop over the batch")
def batch_taken_apart(w, grad_fn, batches, lr):
    for b in batches:
        for item in b:
            w = w - lr * grad_fn(w, item)
    return w


@mistake("sgd_steps", "from the first w to the last")
def way_for_the_end(w, grad_fn, batches, lr):
    end = w
    for b in batches:
        end = end - lr * grad_fn(end, b)
    return end - w
