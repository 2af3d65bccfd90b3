"""What solution() shows where the reference does more than the exercise asks for: it also takes half precision."""

import numpy as np


def layer_norm(x, gamma, beta, eps):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    x_hat = (x - mean) / np.sqrt(var + eps)
    return gamma * x_hat + beta


def layer_norm_backward(dy, x, gamma, eps):
    c = x - x.mean(axis=-1, keepdims=True)
    v = (c**2).mean(axis=-1, keepdims=True)
    r = 1 / np.sqrt(v + eps)
    g = dy * gamma
    dr = (g * c).sum(axis=-1, keepdims=True)
    dv = -0.5 * r**3 * dr
    dc = g * r + dv * 2 * c / x.shape[-1]
    dx = dc - dc.mean(axis=-1, keepdims=True)
    rows = tuple(range(x.ndim - 1))  # all axes but the last
    return dx, (dy * c * r).sum(axis=rows), dy.sum(axis=rows)


def rms_norm(x, gamma, eps):
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return x / rms * gamma


def rms_norm_offset(x, w, eps):
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return x / rms * (1 + w)


def rms_norm_backward(dy, x, gamma, eps):
    r = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    g = dy * gamma
    dr = (g * x).sum(axis=-1, keepdims=True)
    dm = -0.5 * r**3 * dr
    dx = g * r + dm * 2 * x / x.shape[-1]
    return dx, (dy * x * r).sum(axis=tuple(range(x.ndim - 1)))  # all axes but the last
