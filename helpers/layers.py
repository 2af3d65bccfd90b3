"""The mathematics of the course, once: functions first, then classes that keep the parameters.

Conventions, for every function here:

* statistics are computed in float64 whatever the input's dtype; the result has the input's floating
  dtype (integers give float64);
* LayerNorm and RMSNorm normalize the last axis, BatchNorm normalizes every axis but axis 1, GroupNorm
  some channels (axis 1) of one example, with all their positions;
* the variance is the biased one (divided by n) and eps stands inside the square root;
* nothing changes its arguments.
"""

from collections.abc import Callable

import numpy as np


def _float64(a):
    return np.asarray(a, dtype=np.float64)


def _like(y, x):
    """y in the floating dtype of x; integers have none, so they give float64."""
    dtype = np.asarray(x).dtype
    return y.astype(dtype, copy=False) if np.issubdtype(dtype, np.floating) else y


def _leading(x):
    """All axes but the last: the ones that gamma and beta are shared over."""
    return tuple(range(x.ndim - 1))


# ------------------------------------------------------------------------------ LayerNorm


def layer_norm(
    x: np.ndarray, gamma: np.ndarray | float, beta: np.ndarray | float, eps: float = 1e-5
) -> np.ndarray:
    """Normalize each row of x to mean 0 and std 1, then scale by gamma and shift by beta.

    x (..., d), gamma (d,), beta (d,) -> (..., d). Ba et al. 2016, arXiv:1607.06450, eq. 4.
    """
    h = _float64(x)
    centered = h - h.mean(axis=-1, keepdims=True)
    var = (centered**2).mean(axis=-1, keepdims=True)
    x_hat = centered / np.sqrt(var + eps)
    return _like(x_hat * _float64(gamma) + _float64(beta), x)


def layer_norm_backward(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray | float, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of layer_norm: what reaches x, gamma and beta when dy arrives at the output.

    dy (..., d), x (..., d), gamma (d,) -> dx (..., d), dgamma (d,), dbeta (d,).
    """
    dy, h = _float64(dy), _float64(x)
    centered = h - h.mean(axis=-1, keepdims=True)
    rstd = 1 / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + eps)
    x_hat = centered * rstd
    g = dy * _float64(gamma)
    through_mean = g.mean(axis=-1, keepdims=True)
    through_var = x_hat * (g * x_hat).mean(axis=-1, keepdims=True)
    dx = rstd * (g - through_mean - through_var)
    return dx, (dy * x_hat).sum(axis=_leading(x_hat)), dy.sum(axis=_leading(x_hat))


# ------------------------------------------------------------------------------ RMSNorm


def rms_norm(x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """Divide each row of x by its root mean square, then scale by gamma; no mean, no beta.

    x (..., d), gamma (d,) -> (..., d). Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4.
    """
    h = _float64(x)
    rms = np.sqrt((h**2).mean(axis=-1, keepdims=True) + eps)
    return _like(h / rms * _float64(gamma), x)


def rms_norm_offset(x: np.ndarray, w: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """RMSNorm whose gain is stored around zero: the output is multiplied by 1 + w.

    x (..., d), w (d,) -> (..., d). As in Gemma: Gemma Team 2024, arXiv:2403.08295.
    """
    return rms_norm(x, 1 + _float64(w), eps)


def rms_norm_backward(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, eps: float = 1e-6
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of rms_norm.

    dy (..., d), x (..., d), gamma (d,) -> dx (..., d), dgamma (d,).
    """
    dy, h = _float64(dy), _float64(x)
    rrms = 1 / np.sqrt((h**2).mean(axis=-1, keepdims=True) + eps)
    x_hat = h * rrms
    g = dy * _float64(gamma)
    dx = rrms * (g - x_hat * (g * x_hat).mean(axis=-1, keepdims=True))
    return dx, (dy * x_hat).sum(axis=_leading(x_hat))


# ------------------------------------------------------------------------------ BatchNorm


def _batch_axes(x):
    return (0, *range(2, x.ndim))


def _per_channel(v, x):
    """v (C,) shaped so that it lines up with axis 1 of x."""
    return _float64(v).reshape(1, -1, *[1] * (x.ndim - 2))


def batch_norm(
    x: np.ndarray,
    gamma: np.ndarray,
    beta: np.ndarray,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalize each channel over the batch (training) or by the running statistics (evaluation).

    x (N, C, ...), gamma, beta, running_mean, running_var (C,) -> y (N, C, ...), and the running
    mean and variance (C,) after this batch: new = (1 - momentum) * old + momentum * batch, where
    the batch variance that is kept is the unbiased one (divided by n - 1). ValueError when a
    training batch has only one value per channel.
    Ioffe & Szegedy 2015, arXiv:1502.03167, algorithm 1; momentum as in PyTorch.
    """
    h = _float64(x)
    running_mean, running_var = _float64(running_mean), _float64(running_var)
    mean, var = running_mean, running_var
    if training:
        n = h.size // h.shape[1]
        if n < 2:
            raise ValueError(
                "BatchNorm needs more than one value per channel in training: the variance of a "
                f"single value is 0. The input has shape {h.shape}; use a larger batch."
            )
        mean = h.mean(axis=_batch_axes(h))
        var = ((h - _per_channel(mean, h)) ** 2).mean(axis=_batch_axes(h))
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * var * n / (n - 1)
    x_hat = (h - _per_channel(mean, h)) / np.sqrt(_per_channel(var, h) + eps)
    y = x_hat * _per_channel(gamma, h) + _per_channel(beta, h)
    return _like(y, x), running_mean, running_var


def batch_norm_backward(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of batch_norm in training, where mean and variance depend on x too.

    dy (N, C, ...), x (N, C, ...), gamma (C,) -> dx (N, C, ...), dgamma (C,), dbeta (C,).
    """
    dy, h = _float64(dy), _float64(x)
    axes = _batch_axes(h)
    centered = h - h.mean(axis=axes, keepdims=True)
    rstd = 1 / np.sqrt((centered**2).mean(axis=axes, keepdims=True) + eps)
    x_hat = centered * rstd
    g = dy * _per_channel(gamma, h)
    through_mean = g.mean(axis=axes, keepdims=True)
    through_var = x_hat * (g * x_hat).mean(axis=axes, keepdims=True)
    dx = rstd * (g - through_mean - through_var)
    return dx, (dy * x_hat).sum(axis=axes), dy.sum(axis=axes)


def masked_batch_norm(
    x: np.ndarray, mask: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float = 1e-5
) -> np.ndarray:
    """Normalize each channel over the real tokens only; padding neither counts nor comes out.

    x (N, T, C), mask (N, T) of bool (True: a real token), gamma, beta (C,) -> (N, T, C), 0 at
    the padding.
    """
    h = _float64(x)
    real = h[mask]  # (tokens, C)
    x_hat = (h - real.mean(axis=0)) / np.sqrt(real.var(axis=0) + eps)
    y = x_hat * _float64(gamma) + _float64(beta)
    return _like(np.where(mask[..., None], y, 0.0), x)


# ------------------------------------------------------------------------------ GroupNorm


def _in_groups(a, groups):
    """a (N, C, ...) -> (N, groups, all values of a group)."""
    return a.reshape(len(a), groups, -1)


def group_norm(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, groups: int, eps: float = 1e-5
) -> np.ndarray:
    """Normalize each group of neighbouring channels of an example, over all its positions.

    x (N, C, ...), gamma, beta (C,), C a multiple of groups -> (N, C, ...). One group: all channels; C
    groups: InstanceNorm. Wu & He 2018, arXiv:1803.08494, eq. 7.
    """
    h = _float64(x)
    x_hat = layer_norm(_in_groups(h, groups), 1.0, 0.0, eps).reshape(h.shape)
    return _like(x_hat * _per_channel(gamma, h) + _per_channel(beta, h), x)


def group_norm_backward(
    dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, groups: int, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of group_norm.

    dy (N, C, ...), x (N, C, ...), gamma (C,) -> dx (N, C, ...), dgamma (C,), dbeta (C,).
    """
    dy, h = _float64(dy), _float64(x)
    x_hat = layer_norm(_in_groups(h, groups), 1.0, 0.0, eps).reshape(h.shape)
    g = dy * _per_channel(gamma, h)
    dx, *_ = layer_norm_backward(_in_groups(g, groups), _in_groups(h, groups), 1.0, eps)
    return dx.reshape(h.shape), (dy * x_hat).sum(axis=_batch_axes(h)), dy.sum(axis=_batch_axes(h))


# ------------------------------------------------------------------------------ activations


def tanh(z: np.ndarray) -> np.ndarray:
    """Hyperbolic tangent; z (any shape) -> the same shape."""
    return np.tanh(z)


def tanh_backward(dy: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Gradient of tanh: 1 - tanh(z)^2; dy, z (any shape) -> the same shape."""
    return dy * (1 - np.tanh(z) ** 2)


def relu(z: np.ndarray) -> np.ndarray:
    """Negative values become 0; z (any shape) -> the same shape."""
    return np.maximum(z, 0)


def relu_backward(dy: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Gradient of relu, taken as 0 at z = 0; dy, z (any shape) -> the same shape."""
    return dy * (z > 0)


GELU_SCALE = np.sqrt(2 / np.pi)
GELU_CUBIC = 0.044715


def gelu(z: np.ndarray) -> np.ndarray:
    """GELU in its tanh form; z (any shape) -> the same shape.

    Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2.
    """
    return z / 2 * (1 + np.tanh(GELU_SCALE * (z + GELU_CUBIC * z**3)))


def gelu_backward(dy: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Gradient of gelu; dy, z (any shape) -> the same shape."""
    t = np.tanh(GELU_SCALE * (z + GELU_CUBIC * z**3))
    dt = (1 - t**2) * GELU_SCALE * (1 + 3 * GELU_CUBIC * z**2)
    return dy * ((1 + t) / 2 + z / 2 * dt)


def linear(z: np.ndarray) -> np.ndarray:
    """No activation: the identity; z (any shape) -> the same."""
    return z


def linear_backward(dy: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Gradient of the identity; dy (any shape) -> the same."""
    return dy


# ------------------------------------------------------------------------------ attention


def softmax(z: np.ndarray) -> np.ndarray:
    """Positive numbers that add up to 1 along the last axis; z (..., n) -> (..., n)."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_backward(dp: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Gradient of p = softmax(z); dp, p (..., n) -> dz (..., n)."""
    return p * (dp - (dp * p).sum(axis=-1, keepdims=True))


def causal_mask(tokens: int) -> np.ndarray:
    """Who may look at whom when nobody looks ahead; -> (tokens, tokens) of bool, one row a looker."""
    return np.tril(np.ones((tokens, tokens), bool))


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Each token's mean of the values v, weighted by how well its query meets their keys.

    q, k, v (..., tokens, d), mask (..., tokens, tokens) of bool (True: may look) or None ->
    (..., tokens, d), and the weights (..., tokens, tokens). Vaswani et al. 2017, arXiv:1706.03762, eq. 1.
    """
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights


def attention_backward(
    dy: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of attention; dy, q, k, v (..., tokens, d), weights (..., tokens, tokens) -> dq, dk, dv."""
    dscores = softmax_backward(dy @ v.swapaxes(-1, -2), weights) / np.sqrt(q.shape[-1])
    return dscores @ k, dscores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ dy


# ------------------------------------------------------------------------------ residual connections


def residual_block(x: np.ndarray, f: Callable) -> np.ndarray:
    """Add the branch's output to its input: y = x + f(x).

    x (..., d), f: (..., d) -> (..., d). He et al. 2015, arXiv:1512.03385, eq. 1.
    """
    return x + f(x)


def projected_residual(x: np.ndarray, f: Callable, proj: Callable) -> np.ndarray:
    """Residual block that may change the width: proj maps x only where the shapes differ.

    x (..., d), f: (..., d) -> (..., e), proj: (..., d) -> (..., e). He et al. 2015, eq. 2.
    """
    h = f(x)
    shortcut = x if x.shape == h.shape else proj(x)
    return shortcut + h


def residual_backward(dy: np.ndarray, x: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of y = x + tanh(x @ W): the shortcut's part and the branch's part, added.

    dy (n, d), x (n, d), W (d, d) -> dx (n, d), dW (d, d).
    """
    dz = tanh_backward(dy, x @ W)
    return dy + dz @ W.T, x.T @ dz


def pre_norm_block(x: np.ndarray, f: Callable, norm: Callable) -> np.ndarray:
    """Normalize what the branch is given, leave the stream alone: y = x + f(norm(x)).

    x (..., d) -> (..., d). He et al. 2016, arXiv:1603.05027; Xiong et al. 2020, arXiv:2002.04745.
    """
    return x + f(norm(x))


def post_norm_block(x: np.ndarray, f: Callable, norm: Callable) -> np.ndarray:
    """Normalize after the addition, as in the first transformer: y = norm(x + f(x)).

    x (..., d) -> (..., d). Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """
    return norm(x + f(x))


def transformer_block(
    x: np.ndarray, attn: Callable, ffn: Callable, norm1: Callable, norm2: Callable
) -> np.ndarray:
    """Two pre-norm residual blocks in a row: attention, then the feed-forward network.

    x (batch, tokens, d) -> (batch, tokens, d). Xiong et al. 2020, figure 1b.
    """
    x = pre_norm_block(x, attn, norm1)
    return pre_norm_block(x, ffn, norm2)


def pre_norm_stack(x: np.ndarray, fs: list, norms: list, final_norm: Callable) -> np.ndarray:
    """Pre-norm blocks one after the other; the stream has grown by then, so a last norm follows.

    x (..., d), fs and norms: lists of the same length -> (..., d). Xiong et al. 2020, figure 1b.
    """
    for f, norm in zip(fs, norms):
        x = pre_norm_block(x, f, norm)
    return final_norm(x)


def residual_init_std(base_std: float, n_layer: int) -> float:
    """Std for the weights that end a branch: each layer adds two branches to the stream.

    base_std, n_layer: numbers -> number. Radford et al. 2019 (GPT-2), section 2.3.
    """
    return base_std / np.sqrt(2 * n_layer)


# ------------------------------------------------------------------------------ gradient flow


def backprop_chain(
    x: np.ndarray, Ws: list[np.ndarray], dout: np.ndarray, residual: bool = False
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Gradients in a stack of tanh layers, h[l+1] = tanh(h[l] @ W[l]), plus h[l] if residual.

    x (n, d), Ws: list of L matrices, dout: the gradient at the last output ->
    [dL/dh[0], ..., dL/dh[L]] and [dL/dW[0], ..., dL/dW[L-1]].
    """
    hs = [x]
    for W in Ws:
        a = np.tanh(hs[-1] @ W)
        hs.append(hs[-1] + a if residual else a)
    dhs, dWs = [dout], []
    for W, h in zip(reversed(Ws), reversed(hs[:-1])):
        dh = dhs[-1]
        dz = tanh_backward(dh, h @ W)
        dWs.append(h.T @ dz)
        dhs.append(dz @ W.T + dh if residual else dz @ W.T)
    return dhs[::-1], dWs[::-1]


def grad_norms(params: list[np.ndarray] | None, grads: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Euclidean length of each gradient, and of all of them together as one long vector.

    grads: list of arrays -> array of len(grads), number. params is not used.
    """
    per_tensor = np.array([np.sqrt((g**2).sum()) for g in grads])
    return per_tensor, np.sqrt((per_tensor**2).sum())


def clip_by_global_norm(grads: list[np.ndarray], max_norm: float) -> list[np.ndarray]:
    """Scale all gradients by one factor, so that together they are no longer than max_norm.

    grads: list of arrays, max_norm: number -> list of arrays. Pascanu et al. 2013,
    arXiv:1211.5063, algorithm 1.
    """
    total = np.sqrt(sum((g**2).sum() for g in grads))
    factor = min(1.0, max_norm / (total + 1e-6))
    return [g * factor for g in grads]


def sgd_steps(w: np.ndarray, grad_fn: Callable, batches: list, lr: float) -> np.ndarray:
    """One step of stochastic gradient descent a batch; each step starts with a fresh gradient.

    w: array, grad_fn(w, batch) -> array like w, batches: list, lr: number -> array like w.
    """
    for batch in batches:
        w = w - lr * grad_fn(w, batch)
    return w


# ------------------------------------------------------------------------------ classes


class Layer:
    """What all layers share: `forward` remembers what `backward` will need.

    `backward(dy)` returns dL/dx and leaves the gradient of a parameter p in d + p (gamma: dgamma).
    """

    parameters: tuple[str, ...] = ()  # names, in the order of the arguments of the function
    forward: Callable
    backward: Callable

    def __call__(self, *inputs):
        return self.forward(*inputs)


class Linear(Layer):
    """y = x @ W + b; W ~ N(0, (gain / sqrt(d_in))^2), b = 0. x (..., d_in) -> (..., d_out)."""

    parameters = ("W", "b")

    def __init__(self, d_in, d_out, rng, gain=1.0):
        self.W = rng.normal(0.0, gain / np.sqrt(d_in), (d_in, d_out))
        self.b = np.zeros(d_out)

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, dy):
        rows, drows = self.x.reshape(-1, self.x.shape[-1]), dy.reshape(-1, dy.shape[-1])
        self.dW, self.db = rows.T @ drows, drows.sum(axis=0)
        return dy @ self.W.T


class Activation(Layer):
    """One of the activations by name: "linear", "tanh", "relu" or "gelu". Any shape."""

    functions = {
        "linear": (linear, linear_backward),
        "tanh": (tanh, tanh_backward),
        "relu": (relu, relu_backward),
        "gelu": (gelu, gelu_backward),
    }

    def __init__(self, name):
        self.f, self.f_backward = self.functions[name]

    def forward(self, z):
        self.z = z
        return self.f(z)

    def backward(self, dy):
        return self.f_backward(dy, self.z)


class LayerNorm(Layer):
    """layer_norm with its gamma (ones at first) and beta (zeros). x (..., d_model) -> the same.

    eps is 1e-5 here as in PyTorch; the lesson's own class uses 1e-6, BERT 1e-12.
    """

    parameters = ("gamma", "beta")

    def __init__(self, d_model, eps=1e-5):
        self.gamma, self.beta, self.eps = np.ones(d_model), np.zeros(d_model), eps

    def forward(self, x):
        self.x = x
        return layer_norm(x, self.gamma, self.beta, self.eps)

    def backward(self, dy):
        dx, self.dgamma, self.dbeta = layer_norm_backward(dy, self.x, self.gamma, self.eps)
        return dx


class RMSNorm(Layer):
    """rms_norm with its gamma (ones at first). x (..., d_model) -> the same."""

    parameters = ("gamma",)

    def __init__(self, d_model, eps=1e-6):
        self.gamma, self.eps = np.ones(d_model), eps

    def forward(self, x):
        self.x = x
        return rms_norm(x, self.gamma, self.eps)

    def backward(self, dy):
        dx, self.dgamma = rms_norm_backward(dy, self.x, self.gamma, self.eps)
        return dx


class BatchNorm(Layer):
    """batch_norm with gamma, beta and its running statistics. x (N, n_features, ...) -> the same.

    Set `training = False` to normalize by the running statistics instead of the batch's.
    """

    parameters = ("gamma", "beta")

    def __init__(self, n_features, eps=1e-5, momentum=0.1):
        self.gamma, self.beta = np.ones(n_features), np.zeros(n_features)
        self.running_mean, self.running_var = np.zeros(n_features), np.ones(n_features)
        self.eps, self.momentum, self.training = eps, momentum, True

    def forward(self, x):
        self.x, self.used_training = x, self.training
        self.used_mean, self.used_var = self.running_mean, self.running_var
        y, self.running_mean, self.running_var = batch_norm(
            x,
            self.gamma,
            self.beta,
            self.running_mean,
            self.running_var,
            self.training,
            self.momentum,
            self.eps,
        )
        return y

    def backward(self, dy):
        if self.used_training:
            dx, self.dgamma, self.dbeta = batch_norm_backward(dy, self.x, self.gamma, self.eps)
            return dx
        # In evaluation the statistics are constants, so nothing flows through them.
        rstd = 1 / np.sqrt(_per_channel(self.used_var, self.x) + self.eps)
        x_hat = (self.x - _per_channel(self.used_mean, self.x)) * rstd
        axes = _batch_axes(self.x)
        self.dgamma, self.dbeta = (dy * x_hat).sum(axis=axes), dy.sum(axis=axes)
        return dy * _per_channel(self.gamma, self.x) * rstd


class GroupNorm(Layer):
    """group_norm with its gamma (ones at first) and beta (zeros). x (N, n_features, ...) -> the same."""

    parameters = ("gamma", "beta")

    def __init__(self, n_features, groups=8, eps=1e-5):
        self.gamma, self.beta = np.ones(n_features), np.zeros(n_features)
        self.groups, self.eps = groups, eps

    def forward(self, x):
        self.x = x
        return group_norm(x, self.gamma, self.beta, self.groups, self.eps)

    def backward(self, dy):
        dx, self.dgamma, self.dbeta = group_norm_backward(dy, self.x, self.gamma, self.groups, self.eps)
        return dx


class DynamicTanh(Layer):
    """y = gamma * tanh(alpha * x) + beta: bounded like a normalized value, without any statistics.

    x (..., d) -> the same; alpha is one number for all. Zhu et al. 2025, arXiv:2503.10622, eq. 2.
    """

    parameters = ("alpha", "gamma", "beta")

    def __init__(self, d, alpha=0.5):
        self.alpha, self.gamma, self.beta = np.full(1, alpha), np.ones(d), np.zeros(d)

    def forward(self, x):
        self.x = x
        return self.gamma * tanh(self.alpha * x) + self.beta

    def backward(self, dy):
        z, axes = self.alpha * self.x, _leading(dy)
        dz = tanh_backward(dy * self.gamma, z)
        self.dalpha = np.array([(dz * self.x).sum()])
        self.dgamma, self.dbeta = (dy * tanh(z)).sum(axis=axes), dy.sum(axis=axes)
        return self.alpha * dz


class Scale(Layer):
    """y = alpha * x with one learned number, 0 at first; at the end of a branch it makes ReZero.

    x (any shape) -> the same. Bachlechner et al. 2020, arXiv:2003.04887, eq. 1.
    """

    parameters = ("alpha",)

    def __init__(self):
        self.alpha = np.zeros(1)

    def forward(self, x):
        self.x = x
        return self.alpha * x

    def backward(self, dy):
        self.dalpha = np.array([(dy * self.x).sum()])
        return self.alpha * dy


class Sequential(Layer):
    """Layers one after the other; backward goes through them in reverse."""

    def __init__(self, *layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def backward(self, dy):
        for layer in reversed(self.layers):
            dy = layer.backward(dy)
        return dy


class Residual(Layer):
    """y = x + alpha * branch(x); backward adds what comes through the shortcut and the branch."""

    def __init__(self, branch, alpha=1.0):
        self.branch, self.alpha = branch, alpha

    def forward(self, x):
        return x + self.alpha * self.branch(x)

    def backward(self, dy):
        return dy + self.branch.backward(self.alpha * dy)


def pre_norm(branch: Layer, norm: Layer, alpha: float = 1.0) -> Residual:
    """pre_norm_block as a layer: y = x + alpha * branch(norm(x))."""
    return Residual(Sequential(norm, branch), alpha)


def post_norm(branch: Layer, norm: Layer, alpha: float = 1.0) -> Sequential:
    """post_norm_block as a layer: y = norm(x + alpha * branch(x))."""
    return Sequential(Residual(branch, alpha), norm)


# ------------------------------------------------------------------------------ the transformer


class FeedForward(Sequential):
    """Two matrices with an activation between them, for each token alone. x (..., d_model) -> the same.

    Xavier initialization: Glorot & Bengio 2010, eq. 16, with normal numbers of the same variance.
    """

    def __init__(self, d_model, d_ff, rng, activation="relu"):
        first = Linear(d_model, d_ff, rng, np.sqrt(2 * d_model / (d_model + d_ff)))
        last = Linear(d_ff, d_model, rng, np.sqrt(2 * d_ff / (d_model + d_ff)))
        super().__init__(first, Activation(activation), last)


class MultiHeadAttention(Layer):
    """Attention in n_heads parts of the features at once, then a matrix that mixes them.

    x (..., tokens, d_model), mask of bool that fits (..., tokens, tokens), True: may look -> x's shape.
    `weights` (..., n_heads, tokens, tokens) are those of the last forward. ValueError when n_heads does
    not divide d_model, when a mask does not fit, or when it lets a token look at nothing.
    Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2.
    """

    def __init__(self, d_model, n_heads, rng):
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(
                f"each head gets d_model / n_heads features: {d_model} cannot be split among {n_heads} heads."
            )
        self.n_heads = n_heads
        self.layers = self.q, self.k, self.v, self.out = [Linear(d_model, d_model, rng) for _ in range(4)]

    def forward(self, x, mask=None):
        q, k, v = self.heads = [self._split(layer(x)) for layer in (self.q, self.k, self.v)]
        y, self.weights = attention(q, k, v, self._for_all_heads(mask, x))
        return self.out(self._join(y))

    def backward(self, dy):
        q, k, v = self.heads
        dheads = attention_backward(self._split(self.out.backward(dy)), q, k, v, self.weights)
        return sum(layer.backward(self._join(dh)) for layer, dh in zip(self.layers, dheads))

    def _split(self, h):
        """(..., tokens, d_model) -> (..., n_heads, tokens, d_model / n_heads)."""
        return h.reshape(*h.shape[:-1], self.n_heads, -1).swapaxes(-2, -3)

    def _join(self, h):
        """(..., n_heads, tokens, d_model / n_heads) -> (..., tokens, d_model)."""
        h = h.swapaxes(-2, -3)
        return h.reshape(*h.shape[:-2], -1)

    @staticmethod
    def _for_all_heads(mask, x):
        if mask is None:
            return None
        mask, shape = np.asarray(mask), (*x.shape[:-1], x.shape[-2])
        if mask.dtype != bool:
            raise ValueError(f"the mask says True (may look) or False; its entries are {mask.dtype}.")
        try:
            mask = np.broadcast_to(mask, shape)
        except ValueError:
            raise ValueError(
                f"the mask needs a row and a column for each of the {shape[-1]} tokens, "
                f"(..., {shape[-1]}, {shape[-1]}); its shape is {mask.shape}."
            ) from None
        alone = ~mask.any(axis=-1)
        if alone.any():
            raise ValueError(
                f"token {np.argwhere(alone)[0, -1] + 1} may look at nothing: its weights would be 0 / 0. "
                "Let it look at itself at least."
            )
        return mask[..., None, :, :]


class TransformerBlock(Layer):
    """Attention, then a feed-forward network, each added to the stream. x (..., tokens, d_model) -> the same.

    norm: LayerNorm or RMSNorm, before each branch; post: after each addition instead.
    Vaswani et al. 2017 (post-norm); Xiong et al. 2020, arXiv:2002.04745, figure 1.
    """

    def __init__(self, d_model, n_heads, d_ff, rng=None, norm=LayerNorm, post=False):
        rng = rng or np.random.default_rng(0)
        self.attn, self.ffn = MultiHeadAttention(d_model, n_heads, rng), FeedForward(d_model, d_ff, rng)
        self.ln1, self.ln2, self.post = norm(d_model), norm(d_model), post
        self.layers = self.ln1, self.attn, self.ln2, self.ffn

    def forward(self, x, mask=None):
        if self.post:
            x = self.ln1(x + self.attn(x, mask))
            return self.ln2(x + self.ffn(x))
        x = x + self.attn(self.ln1(x), mask)
        return x + self.ffn(self.ln2(x))

    def backward(self, dy):
        if self.post:
            dy = self.ln2.backward(dy)
            dy = self.ln1.backward(dy + self.ffn.backward(dy))
            return dy + self.attn.backward(dy)
        dy = dy + self.ln2.backward(self.ffn.backward(dy))
        return dy + self.ln1.backward(self.attn.backward(dy))
