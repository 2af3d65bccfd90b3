"""Right answers, written in many ways: exercise and function. All must be "correct"."""

import math

import numpy as np

REWRITES = []


def right(exercise):
    def add(f):
        REWRITES.append((exercise, f))
        return f

    return add


# ------------------------------------------------------------------------------ layer_norm


@right("layer_norm")
def with_rsqrt(x, gamma, beta, eps):
    return (x - x.mean(-1, keepdims=True)) * (x.var(-1, keepdims=True) + eps) ** -0.5 * gamma + beta


@right("layer_norm")
def with_einsum(x, gamma, beta, eps):
    d = x.shape[-1]
    c = x - np.einsum("...i->...", x)[..., None] / d
    return (
        np.einsum("...i,i,...->...i", c, gamma, 1 / np.sqrt(np.einsum("...i,...i->...", c, c) / d + eps))
        + beta
    )


@right("layer_norm")
def with_loops(x, gamma, beta, eps):
    y = np.empty_like(x, dtype=float)
    for index in np.ndindex(x.shape[:-1]):
        row = x[index]
        mean = sum(row) / len(row)
        var = sum((v - mean) ** 2 for v in row) / len(row)
        for j, v in enumerate(row):
            y[(*index, j)] = gamma[j] * (v - mean) / math.sqrt(var + eps) + beta[j]
    return y


@right("layer_norm")
def as_batch_norm_of_the_transpose(x, gamma, beta, eps):
    flat = x.reshape(-1, x.shape[-1]).T
    return ((flat - flat.mean(0)) / np.sqrt(flat.var(0) + eps)).T.reshape(x.shape) * gamma + beta


@right("layer_norm")
def one_pass(x, gamma, beta, eps):
    mean = x.mean(-1, keepdims=True)
    var = (x**2).mean(-1, keepdims=True) - mean**2
    return gamma * (x - mean) / np.sqrt(np.maximum(var, 0) + eps) + beta


@right("layer_norm")
def folded(x, gamma, beta, eps):
    scale = gamma / np.sqrt(x.var(-1, keepdims=True) + eps)
    return x * scale + (beta - x.mean(-1, keepdims=True) * scale)


@right("layer_norm")
def in_float32(x, gamma, beta, eps):
    x = x.astype(np.float32)
    c = x - x.mean(-1, keepdims=True)
    return (c / np.sqrt((c * c).mean(-1, keepdims=True) + eps) * gamma + beta).astype(np.float32)


@right("layer_norm")
def inside_float32(x, gamma, beta, eps):
    return in_float32(x, gamma, beta, eps).astype(np.float64)


@right("layer_norm")
def nested_list(x, gamma, beta, eps):
    return with_rsqrt(x, gamma, beta, eps).tolist()


@right("layer_norm")
def other_names(values, scale, shift, epsilon=1e-6):
    return with_rsqrt(values, scale, shift, epsilon)


@right("layer_norm")
def any_arguments(*args, **options):
    return with_rsqrt(*args)


@right("layer_norm")
def own_copy_in_place(x, gamma, beta, eps):
    y = np.array(x, dtype=float)
    y -= y.mean(-1, keepdims=True)
    y /= np.sqrt((y**2).mean(-1, keepdims=True) + eps)
    y *= gamma
    y += beta
    return y


@right("layer_norm")
def printing(x, gamma, beta, eps):
    print("x" * 10000)
    return with_rsqrt(x, gamma, beta, eps)


class Layer:
    def __call__(self, x, gamma, beta, eps):
        return with_rsqrt(x, gamma, beta, eps)


right("layer_norm")(Layer())
right("layer_norm")(lambda x, g, b, e: with_rsqrt(x, g, b, e))


# ------------------------------------------------------------------------------ rms_norm


@right("rms_norm")
def rms_by_length(x, gamma, eps):
    d = x.shape[-1]
    return x / np.sqrt(np.linalg.norm(x, axis=-1, keepdims=True) ** 2 / d + eps) * gamma


@right("rms_norm")
def rms_by_matmul(x, gamma, eps):
    square = np.einsum("...i,...i->...", x, x) / x.shape[-1]
    return (x / np.sqrt(square + eps)[..., None]) @ np.diag(gamma)


@right("rms_norm")
def rms_scaled_root(x, gamma, eps):
    d = x.shape[-1]
    return gamma * x * math.sqrt(d) / np.sqrt((x**2).sum(-1, keepdims=True) + d * eps)


@right("rms_norm_offset")
def offset_spread_out(x, w, eps):
    h = x / np.sqrt(np.mean(x**2, -1, keepdims=True) + eps)
    return h + h * w


# ------------------------------------------------------------------------------ backwards


@right("layer_norm_backward")
def staged(dy, x, gamma, eps):
    d = x.shape[-1]
    c = x - x.mean(-1, keepdims=True)
    std = np.sqrt((c**2).mean(-1, keepdims=True) + eps)
    dh = dy * gamma
    dvar = (dh * c).sum(-1, keepdims=True) * -0.5 * std**-3
    dmean = -(dh / std).sum(-1, keepdims=True) - 2 * dvar * c.mean(-1, keepdims=True)
    lead = tuple(range(x.ndim - 1))
    return [dh / std + dvar * 2 * c / d + dmean / d, np.sum(dy * c / std, axis=lead), np.sum(dy, axis=lead)]


@right("layer_norm_backward")
def by_the_jacobian(dy, x, gamma, eps):
    d = x.shape[-1]
    X, G = x.reshape(-1, d), (dy * gamma).reshape(-1, d)
    dX = np.empty_like(X)
    for i, (row, g) in enumerate(zip(X, G)):
        std = np.sqrt(row.var() + eps)
        h = (row - row.mean()) / std
        dX[i] = (np.eye(d) - 1 / d - np.outer(h, h) / d) @ g / std
    H = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + eps)
    return dX.reshape(x.shape), (dy.reshape(-1, d) * H).sum(0), dy.reshape(-1, d).sum(0)


@right("rms_norm_backward")
def rms_cubed(dy, x, gamma, eps):
    r = np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    g = dy * gamma
    dgamma = (dy * x / r).reshape(-1, x.shape[-1]).sum(0)
    return g / r - x * (g * x).sum(-1, keepdims=True) / (x.shape[-1] * r**3), dgamma


@right("batch_norm_backward")
def n_times(dy, x, gamma, eps):
    n, h = len(x), (x - x.mean(0)) / np.sqrt(x.var(0) + eps)
    dbeta, dgamma = dy.sum(0), (dy * h).sum(0)
    return gamma / np.sqrt(x.var(0) + eps) / n * (n * dy - dbeta - h * dgamma), dgamma, dbeta


# ------------------------------------------------------------------------------ batch_norm


@right("batch_norm")
def channels_to_the_end(x, gamma, beta, running_mean, running_var, training, momentum, eps):
    h = np.moveaxis(x, 1, -1)
    mean, var = running_mean, running_var
    if training:
        flat = h.reshape(-1, h.shape[-1])
        if len(flat) < 2:
            raise ValueError("too small")
        mean, var = flat.mean(0), flat.var(0)
        running_mean = running_mean + momentum * (mean - running_mean)
        running_var = running_var + momentum * (flat.var(0, ddof=1) - running_var)
    return [np.moveaxis((h - mean) / np.sqrt(var + eps) * gamma + beta, -1, 1), running_mean, running_var]


@right("masked_batch_norm")
def with_weights(x, mask, gamma, beta, eps):
    w = mask[:, :, None].astype(float)
    n = w.sum()
    mean = (w * x).sum((0, 1)) / n
    var = (w * (x - mean) ** 2).sum((0, 1)) / n
    return w * ((x - mean) / np.sqrt(var + eps) * gamma + beta)


@right("masked_batch_norm")
def put_back(x, mask, gamma, beta, eps):
    y = np.zeros_like(x)
    real = x[mask]
    y[mask] = (real - real.mean(0)) / np.sqrt(real.var(0) + eps) * gamma + beta
    return y


# ------------------------------------------------------------------------------ blocks

right("residual_block")(lambda x, f: f(x) + x)
right("residual_block")(lambda x, f: np.add(x, f(x)))
right("residual_block")(lambda x, f: np.array([a + b for a, b in zip(x, f(x))]))
right("pre_norm_block")(lambda x, f, norm: f(norm(x)) + x)
right("post_norm_block")(lambda x, f, norm: norm(f(x) + x))
right("residual_init_std")(lambda base_std, n_layer: base_std * (2 * n_layer) ** -0.5)
right("residual_init_std")(lambda base_std, n_layer: base_std / math.sqrt(2) / math.sqrt(n_layer))


@right("projected_residual")
def by_the_width(x, f, proj):
    h = f(x)
    return h + x if h.shape[-1] == x.shape[-1] else h + proj(x)


@right("transformer_block")
def two_lines(x, attn, ffn, norm1, norm2):
    middle = x + attn(norm1(x))
    return middle + ffn(norm2(middle))


@right("pre_norm_stack")
def recursive(x, fs, norms, final_norm):
    if not fs:
        return final_norm(x)
    return recursive(x + fs[0](norms[0](x)), fs[1:], norms[1:], final_norm)


# ------------------------------------------------------------------------------ gradients


@right("residual_backward")
def with_identity(dy, x, W):
    a = np.tanh(x @ W)
    return [
        dy + np.einsum("ij,kj->ik", dy * (1 - a * a), W),
        np.einsum("ij,ik->jk", x, dy / np.cosh(x @ W) ** 2),
    ]


@right("backprop_chain")
def arrays_and_tuples(x, Ws, dout, residual):
    n = len(Ws)
    hs, dhs, dWs = [x] + [None] * n, [None] * n + [dout], [None] * n
    for i in range(n):
        hs[i + 1] = np.tanh(hs[i] @ Ws[i]) + residual * (hs[i] if residual else 0)
    for i in reversed(range(n)):
        dz = dhs[i + 1] * (1 - np.tanh(hs[i] @ Ws[i]) ** 2)
        dWs[i] = hs[i].T @ dz
        dhs[i] = dz @ Ws[i].T + (dhs[i + 1] if residual else 0)
    return tuple(dhs), tuple(dWs)


@right("grad_norms")
def norm_of_norms(params, grads):
    each = tuple(np.linalg.norm(g.ravel()) for g in grads)
    return each, math.hypot(*each)


@right("clip_by_global_norm")
def only_when_too_long(grads, max_norm):
    total = math.sqrt(sum(float((g * g).sum()) for g in grads))
    if total <= max_norm:
        return tuple(g.copy() for g in grads)
    return tuple(g * (max_norm / total) for g in grads)


@right("sgd_steps")
def as_a_fold(w, grad_fn, batches, lr):
    from functools import reduce

    return reduce(lambda v, b: v - lr * grad_fn(v, b), batches, w)


# ------------------------------------------------------------------------------ less usual ways


@right("layer_norm")
def with_a_centring_matrix(x, gamma, beta, eps):
    d = x.shape[-1]
    c = x @ (np.eye(d) - 1 / d)
    return c / np.sqrt((c * c) @ np.ones((d, 1)) / d + eps) * gamma + beta


@right("layer_norm")
def with_pairs(x, gamma, beta, eps):
    pairs = x[..., :, None] - x[..., None, :]
    var = (pairs**2).mean((-1, -2))[..., None] / 2
    return pairs.mean(-1) / np.sqrt(var + eps) * gamma + beta


@right("layer_norm")
def as_one_scale_and_shift(x, gamma, beta, eps):
    scale = gamma / np.hypot(x.std(-1, keepdims=True), eps**0.5)
    return scale * x + (beta - scale * x.mean(-1, keepdims=True))


@right("layer_norm_backward")
def with_the_jacobian(dy, x, gamma, eps):
    d = x.shape[-1]
    rows, drows = x.reshape(-1, d), dy.reshape(-1, d)
    dx, dgamma, dbeta = np.zeros_like(rows), np.zeros(d), np.zeros(d)
    for i, (row, drow) in enumerate(zip(rows, drows)):
        std = np.sqrt(row.var() + eps)
        x_hat = (row - row.mean()) / std
        jacobian = (np.eye(d) - 1 / d - np.outer(x_hat, x_hat) / d) / std
        dx[i] = jacobian.T @ (drow * gamma)
        dgamma, dbeta = dgamma + drow * x_hat, dbeta + drow
    return [dx.reshape(x.shape), dgamma, dbeta]


@right("batch_norm_backward")
def step_by_step(dy, x, gamma, eps):
    n, c = len(x), x - x.mean(0)
    std = np.sqrt((c**2).mean(0) + eps)
    dx_hat = dy * gamma
    dvar = 0.5 / std * -(dx_hat * c).sum(0) / std**2
    dc = dx_hat / std + 2 * c * dvar / n
    return dc - dc.sum(0) / n, (dy * c / std).sum(0), dy.sum(0)


@right("masked_batch_norm")
def with_nan_statistics(x, mask, gamma, beta, eps):
    tokens = np.where(mask[..., None], x, np.nan)
    mean, var = np.nanmean(tokens, axis=(0, 1)), np.nanvar(tokens, axis=(0, 1))
    return np.nan_to_num((tokens - mean) / np.sqrt(var + eps) * gamma + beta)


@right("rms_norm")
def variance_and_squared_mean(x, gamma, eps):
    return x / np.sqrt(x.var(-1, keepdims=True) + x.mean(-1, keepdims=True) ** 2 + eps) * gamma


@right("rms_norm_offset")
def itself_and_w_times_itself(x, w, eps):
    h = x * (np.square(x).mean(-1, keepdims=True) + eps) ** -0.5
    return h + h * w


@right("pre_norm_stack")
def reduced(x, fs, norms, final_norm):
    from functools import reduce

    return final_norm(reduce(lambda h, pair: h + pair[0](pair[1](h)), list(zip(fs, norms)), x))


@right("residual_backward")
def row_by_row(dy, x, W):
    slopes = 1 / np.cosh(x @ W) ** 2
    dx = [(np.eye(len(W)) + W * slope) @ drow for drow, slope in zip(dy, slopes)]
    return np.array(dx), sum(np.outer(row, drow * slope) for row, drow, slope in zip(x, dy, slopes))


@right("backprop_chain")
def by_recursion(x, Ws, dout, residual):
    if not Ws:
        return [dout], []
    a = np.tanh(x @ Ws[0])
    dhs, dWs = by_recursion(x + a if residual else a, Ws[1:], dout, residual)
    dz = (1 - a * a) * dhs[0]
    return [dz @ Ws[0].T + (dhs[0] if residual else 0), *dhs], [x.T @ dz, *dWs]
