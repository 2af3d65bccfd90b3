"""Mistakes from public bug reports, each written anew for these exercises.

Each: exercise, address of the report, words that the message must hold, and the function.
"""

import numpy as np

from helpers import layers

PUBLIC = []
GITHUB = "https://github.com/"


def mistake(exercise, report, *words):
    def add(f):
        PUBLIC.append((exercise, report if report.startswith("http") else GITHUB + report, words, f))
        return f

    return add


def row_mean(a):
    return np.mean(a, axis=-1, keepdims=True)


def row_var(a):
    return np.var(a, axis=-1, keepdims=True)


# ------------------------------------------------------------------------------ layer_norm


@mistake("layer_norm", "microsoft/onnxruntime/pull/15844", "whole array", "axis")
def whole_tensor(x, gamma, beta, eps=1e-5):
    return gamma * (x - np.mean(x)) / np.sqrt(np.var(x) + eps) + beta


@mistake("layer_norm", "hkproj/pytorch-transformer/pull/31", "eps is added outside the square root")
def eps_outside(x, gamma, beta, eps=1e-5):
    return gamma * ((x - row_mean(x)) / (np.sqrt(row_var(x)) + eps)) + beta


@mistake("layer_norm", "FluxML/Flux.jl/issues/529", "n - 1", "ddof=1", "sqrt((n - 1)/n)")
def bessel(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / np.sqrt(np.var(x, axis=-1, ddof=1, keepdims=True) + eps) + beta


@mistake("layer_norm", "codertimo/BERT-pytorch/issues/30", "Two things", "ddof=1", "outside the square root")
def bessel_and_eps_outside(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / (x.std(axis=-1, ddof=1, keepdims=True) + eps) + beta


@mistake("layer_norm", "tensorflow/tensorflow/issues/48039", "square root is missing", "variance")
def no_root(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / (row_var(x) + eps) + beta


@mistake("layer_norm", "131250208/TPlinker-joint-extraction/issues/37", "squared", "**0.5")
def squared(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / np.square(row_var(x) + eps) + beta


@mistake("layer_norm", "tenstorrent/tt-metal/issues/20649", "identity for the variance", "E[x]**2")
def plus_in_the_identity(x, gamma, beta, eps=1e-5):
    m = row_mean(x)
    return gamma * (x - m) / np.sqrt(row_mean(x**2) + m**2 + eps) + beta


@mistake("layer_norm", "vacancy/Synchronized-BatchNorm-PyTorch/issues/38", "lower limit", "clamp")
def clamped(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / np.sqrt(row_var(x).clip(min=eps)) + beta


@mistake("layer_norm", "microsoft/onnxruntime/issues/17692", "Correct.", "float16", "overflow")
def half_variance(x, gamma, beta, eps=1e-5):
    c = x - row_mean(x)
    return (c / np.sqrt(row_mean(c**2) + eps) * gamma + beta).astype(x.dtype)


@mistake("layer_norm", "tensorflow/tensorflow/pull/24979", "1e-12", "too small")
def tiny_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / np.sqrt(row_var(x) + 1e-12) + beta


@mistake("layer_norm", "LeelaChessZero/lc0/pull/1914", "eps is ignored", "1e-3", "too large")
def large_eps(x, gamma, beta, eps=1e-5):
    return gamma * (x - row_mean(x)) / np.sqrt(row_var(x) + 1e-3) + beta


@mistake("layer_norm", "apple/ml-ane-transformers/pull/2", "beta is added before the scaling")
def bias_then_weight(x, gamma, beta, eps=1e-5):
    return gamma * ((x - row_mean(x)) / np.sqrt(row_var(x) + eps) + beta)


@mistake("layer_norm", "FluxML/Flux.jl/pull/78", "never applied", "gamma and beta")
def no_affine(x, gamma, beta, eps=1e-5):
    return (x - row_mean(x)) / np.sqrt(row_var(x) + eps)


@mistake("layer_norm", "ScrollPrize/villa/pull/1446", "changes its argument `x` in place", "normalized")
def in_place(x, gamma, beta, eps=1e-5):
    x -= row_mean(x)
    x /= np.sqrt(row_mean(x**2) + eps)
    return gamma * x + beta


@mistake("layer_norm", "pytorch/pytorch/issues/50086", "normalized twice")
def twice(x, gamma, beta, eps=1e-5):
    for _ in range(2):
        x = (x - row_mean(x)) / np.sqrt(row_var(x) + eps)
    return gamma * x + beta


# ------------------------------------------------------------------------------ layer_norm_backward


def row_parts(dy, x, gamma, eps):
    rstd = (row_var(x) + eps) ** -0.5
    return dy * gamma, (x - row_mean(x)) * rstd, rstd


def over_rows(a):
    return a.reshape(-1, a.shape[-1]).sum(axis=0)


def right_row_dx(g, x_hat, rstd):
    return rstd * (g - row_mean(g) - x_hat * row_mean(g * x_hat))


@mistake("layer_norm_backward", "ooples/AiDotNet/pull/695", "variance term is missing from dx")
def no_variance_term(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = row_parts(dy, x, gamma, eps)
    return (g - row_mean(g)) * rstd, over_rows(dy * x_hat), over_rows(dy)


@mistake("layer_norm_backward", "karpathy/llm.c/pull/763", "gamma is forgotten in dx")
def no_gamma(dy, x, gamma, eps=1e-5):
    _, x_hat, rstd = row_parts(dy, x, gamma, eps)
    return right_row_dx(dy, x_hat, rstd), over_rows(dy * x_hat), over_rows(dy)


@mistake(
    "layer_norm_backward", "linkedin/Liger-Kernel/pull/117", "not summed over the batch", "Add the rows up"
)
def unsummed(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = row_parts(dy, x, gamma, eps)
    return right_row_dx(g, x_hat, rstd), dy * x_hat, dy + 0


@mistake("layer_norm_backward", "cthorey/CS231/issues/9", "averaged over the batch", "sum")
def averaged(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = row_parts(dy, x, gamma, eps)
    lead = tuple(range(x.ndim - 1))
    return right_row_dx(g, x_hat, rstd), (dy * x_hat).mean(axis=lead), dy.mean(axis=lead)


@mistake("layer_norm_backward", "flagos-ai/FlagGems/pull/59", "whole batch", "keepdims")
def sums_over_everything(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = row_parts(dy, x, gamma, eps)
    d = x.shape[-1]
    dx = rstd * (g - np.sum(g) / d - x_hat * np.sum(g * x_hat) / d)
    return dx, over_rows(dy * x_hat), over_rows(dy)


@mistake("layer_norm_backward", "flagos-ai/FlagGems/issues/5392", "tokens and features together")
def reshaped(dy, x, gamma, eps=1e-5):
    flat = x.reshape(len(x), -1)
    g, x_hat, rstd = row_parts((dy * gamma).reshape(flat.shape), flat, 1, eps)
    dx = right_row_dx(g, x_hat, rstd)
    return dx.reshape(x.shape), over_rows(dy * x_hat.reshape(x.shape)), over_rows(dy)


# ------------------------------------------------------------------------------ batch_norm


def channel(v, x):
    return np.reshape(v, (1, -1) + (1,) * (x.ndim - 2))


def by(x, gamma, beta, mean, var, eps):
    return (x - channel(mean, x)) / np.sqrt(channel(var, x) + eps) * channel(gamma, x) + channel(beta, x)


def batch_statistics(x):
    values = np.moveaxis(x, 1, 0).reshape(x.shape[1], -1)
    if values.shape[1] == 1:
        raise ValueError("a batch of one value has no variance")
    return values.mean(axis=1), values.var(axis=1), values.shape[1]


def blend(old, new, share):
    return old + share * (new - old)


@mistake("batch_norm", "karpathy/nn-zero-to-hero/issues/44", "unbiased variance", "ddof=1")
def bessel_to_normalize(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    if not training:
        return by(x, gamma, beta, mean, var, eps), mean, var
    m, v, n = batch_statistics(x)
    v = v * n / (n - 1)
    return by(x, gamma, beta, m, v, eps), blend(mean, m, momentum), blend(var, v, momentum)


@mistake("batch_norm", "pytorch/vision/issues/8250", "momentum convention is reversed")
def momentum_of_the_old(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    if not training:
        return by(x, gamma, beta, mean, var, eps), mean, var
    m, v, n = batch_statistics(x)
    return (
        by(x, gamma, beta, m, v, eps),
        blend(m, mean, momentum),
        blend(v * n / (n - 1), var, momentum),
    )


@mistake("batch_norm", "fxia22/pointnet.pytorch/pull/19", "in evaluation you still use the batch's own")
def batch_in_evaluation(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    if not training:
        m, v, _ = batch_statistics(x)
        return by(x, gamma, beta, m, v, eps), mean, var
    return layers.batch_norm(x, gamma, beta, mean, var, True, momentum, eps)


@mistake("batch_norm", "OlavHN/bnlstm/issues/13", "updated in evaluation too")
def updated_in_evaluation(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    y = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)[0]
    m, v, n = batch_statistics(x)
    return y, blend(mean, m, momentum), blend(var, v * n / (n - 1), momentum)


@mistake("batch_norm", "titu1994/Keras-Group-Normalization/issues/8", "batch and channels", "position")
def per_position(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    right = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    if not training or x.ndim < 3:
        return right
    h = (x - x.mean(axis=(0, 1))) / np.sqrt(x.var(axis=(0, 1)) + eps)
    return h * channel(gamma, x) + channel(beta, x), *right[1:]


@mistake("batch_norm", "soumith/cudnn.torch/pull/109", "running_var holds the inverse std")
def keeps_inverse_std(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    y, m, v = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    if training:
        v = blend(var, (batch_statistics(x)[1] + eps) ** -0.5, momentum)
    return y, m, v


@mistake("batch_norm", "torch/nn/pull/1271", "one value per channel", "ValueError")
def batch_of_one_accepted(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    if not training or x.size > x.shape[1]:
        return layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    return channel(beta, x) + 0 * x, mean, var * np.nan


@mistake("batch_norm", "flagos-ai/FlagGems/issues/6332", "in place", "holds the result")
def written_into_x(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    y, m, v = layers.batch_norm(x, gamma, beta, mean, var, training, momentum, eps)
    np.copyto(x, y)
    return x, m, v


@mistake(
    "batch_norm",
    "Vladkryvoruchko/PSPNet-Keras-tensorflow/issues/23",
    "swapped",
    "gamma and beta are used as mean",
)
def weights_in_another_order(x, mean, var, gamma, beta, training, momentum=0.1, eps=1e-5):
    if not training:
        return by(x, gamma, beta, mean, var, eps), gamma, beta
    return layers.batch_norm(x, mean, var, gamma, beta, True, momentum, eps)


@mistake("batch_norm", "RubixML/ML/pull/423", "wrong count", "features")
def divided_by_features(x, gamma, beta, mean, var, training, momentum=0.1, eps=1e-5):
    if not training:
        return by(x, gamma, beta, mean, var, eps), mean, var
    m, v, n = batch_statistics(x)
    kept = blend(mean, m, momentum), blend(var, v * n / (n - 1), momentum)
    return by(x, gamma, beta, m, v * n / x.shape[1], eps), *kept


@mistake(
    "masked_batch_norm",
    "xieyulai/LSTM-for-Human-Activity-Recognition-using-2D-Pose_Pytorch/issues/2",
    "time axis is treated as the channels",
)
def channels_second(x, mask, gamma, beta, eps=1e-5):
    y = layers.batch_norm(x, gamma, beta, gamma, beta, True, 0.1, eps)[0]
    return y * mask[:, :, None]


# ------------------------------------------------------------------------------ batch_norm_backward


def column_parts(dy, x, gamma, eps):
    rstd = (x.var(axis=0) + eps) ** -0.5
    return dy * gamma, (x - x.mean(axis=0)) * rstd, rstd


def right_column_dx(g, x_hat, rstd):
    return rstd * (g - g.mean(axis=0) - x_hat * (g * x_hat).mean(axis=0))


@mistake(
    "batch_norm_backward", "wjbKimberly/cs231n_spring_2017_assignment/issues/7", "averaged over the batch"
)
def batch_averaged(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = column_parts(dy, x, gamma, eps)
    return right_column_dx(g, x_hat, rstd), (dy * x_hat).mean(axis=0), dy.mean(axis=0)


@mistake("batch_norm_backward", "pytorch/pytorch/issues/2330", "dbeta is the sum of the input x")
def dbeta_of_x(dy, x, gamma, eps=1e-5):
    g, x_hat, rstd = column_parts(dy, x, gamma, eps)
    return right_column_dx(g, x_hat, rstd), (dy * x_hat).sum(axis=0), x.sum(axis=0)


@mistake(
    "batch_norm_backward", "flagos-ai/FlagGems/pull/5223", "inverse std is used as if it were the variance"
)
def rstd_as_variance(dy, x, gamma, eps=1e-5):
    saved = (x.var(axis=0) + eps) ** -0.5
    rstd = (saved + eps) ** -0.5
    x_hat = (x - x.mean(axis=0)) * rstd
    return right_column_dx(dy * gamma, x_hat, rstd), (dy * x_hat).sum(axis=0), dy.sum(axis=0)


# ------------------------------------------------------------------------------ rms_norm and its kin


@mistake("rms_norm", "keras-team/keras/pull/22393", "the variance", "x**2")
def variance_for_mean_square(x, gamma, eps=1e-6):
    return gamma * x * (row_var(x) + eps) ** -0.5


@mistake("rms_norm", "stanford-cs336/assignment1-basics/issues/93", "mean is subtracted")
def centred(x, gamma, eps=1e-6):
    x = x - row_mean(x)
    return gamma * x / np.sqrt(row_mean(x**2) + eps)


@mistake("rms_norm", "mosaicml/llm-foundry/issues/371", "multiply", "instead of dividing")
def divided_by_rsqrt(x, gamma, eps=1e-6):
    rsqrt = (row_mean(x**2) + eps) ** -0.5
    return gamma * (x / rsqrt)


@mistake("rms_norm", "microsoft/TRELLIS/issues/314", "L2 norm", "1/sqrt(d)")
def unit_length(x, gamma, eps=1e-6):
    return gamma * x / np.sqrt(np.sum(x**2, axis=-1, keepdims=True) + eps)


@mistake("rms_norm", "lucidrains/x-transformers/issues/101", "scalar")
def scale_norm(x, gamma, eps=1e-6):
    return gamma.flat[0] * x / np.sqrt(row_mean(x**2) + eps)


@mistake("rms_norm", "pytorch/pytorch/pull/133085", "Correct.", "overflow", "float16")
def half_square(x, gamma, eps=1e-6):
    return (gamma * x / np.sqrt(row_mean(x * x) + eps)).astype(x.dtype)


@mistake("rms_norm", "jingyaogong/minimind/issues/301", "Correct.", "underflow", "float16")
def cast_after_the_square(x, gamma, eps=1e-6):
    mean_square = row_mean(x**2).astype(np.float64)
    return (x.astype(np.float64) / np.sqrt(mean_square + eps) * gamma).astype(x.dtype)


@mistake("rms_norm", "huggingface/transformers/issues/30236", "Correct.", "dtype", "promoted")
def promoted(x, gamma, eps=1e-6):
    wide = np.asarray(x, np.float64)
    return gamma * (wide / np.sqrt(row_mean(wide**2) + eps)).astype(x.dtype)


@mistake("rms_norm", "ggml-org/llama.cpp/pull/1925", "normalized twice")
def rms_twice(x, gamma, eps=1e-6):
    for _ in range(2):
        x = x / np.sqrt(row_mean(x**2) + eps)
    return gamma * x


@mistake("rms_norm_offset", "linkedin/Liger-Kernel/issues/74", "1 + is missing")
def no_offset(x, w, eps=1e-6):
    return w * x / np.sqrt(row_mean(x**2) + eps)


@mistake("rms_norm_backward", "ooples/AiDotNet/pull/695", "RMS is treated as a constant")
def constant_rms(dy, x, gamma, eps=1e-6):
    rms = np.sqrt(row_mean(x**2) + eps)
    return dy * gamma / rms, over_rows(dy * x / rms)


@mistake("rms_norm_backward", "paiml/trueno/pull/178", "dgamma is zero")
def dgamma_never_written(dy, x, gamma, eps=1e-6):
    return layers.rms_norm_backward(dy, x, gamma, eps)[0], 0 * gamma


# ------------------------------------------------------------------------------ blocks


@mistake("residual_block", "yunzeliu/MAP/issues/3", "added twice", "2 * x + f(x)")
def added_again(x, f):
    block = x + f(x)
    return x + block


@mistake(
    "residual_block",
    "iMED-Lab/ER-Net/pull/3",
    "in place",
    "the shortcut or the backward pass uses them",
    "holds the result",
)
def augmented_assignment(x, f):
    x += f(x)
    return x


@mistake("residual_block", "rosinality/vq-vae-2-pytorch/issues/60", "in place", "in-place ReLU", "shortcut")
def in_place_relu(x, f):
    x[x < 0] = 0
    return x + f(x)


@mistake("residual_block", "kkakkkka/ETRIS/issues/7", "multiplied", "instead of added")
def product(x, f):
    return np.multiply(f(x), x)


@mistake(
    "residual_block",
    "https://ai.stackexchange.com/questions/30163/why-do-skip-layer-connections-require-the-same-layer-sizes",
    "concatenated",
)
def joined(x, f):
    return np.concatenate((x, f(x)), axis=-1)


@mistake("projected_residual", "tflearn/tflearn/issues/13", "projected even when the shapes agree")
def always_projected(x, f, proj):
    return f(x) + proj(x)


@mistake("pre_norm_block", "pytorch/pytorch/issues/61165", "normalized value is used as the residual")
def overwritten(x, f, norm):
    x = norm(x)
    return x + f(x)


@mistake("pre_norm_block", "probml/pml-book/issues/709", "skip is added inside the branch")
def skip_inside(x, f, norm):
    return f(x + norm(x))


@mistake("pre_norm_block", "iCog-Labs-Dev/PC-Transformers/issues/46", "should be given norm(x)")
def never_normalized(x, f, norm):
    return f(x) + x


@mistake(
    "post_norm_block", "facebookresearch/Mixture-of-Transformers/issues/5", "residual is added after the norm"
)
def only_the_branch(x, f, norm):
    return norm(f(x)) + x


@mistake("post_norm_block", "pytorch/pytorch/issues/50086", "normalized twice", "redundant")
def two_norms(x, f, norm):
    y = norm(f(x) + x)
    return norm(y)


@mistake("transformer_block", "SHI-Labs/Compact-Transformers/issues/25", "second half", "normalized stream")
def second_skip_normalized(x, attn, ffn, norm1, norm2):
    x = norm2(attn(norm1(x)) + x)
    return ffn(x) + x


@mistake("residual_init_std", "stanford-crfm/mistral/issues/30", "one residual addition", "two branches")
def one_branch_a_layer(base_std, n_layer):
    return base_std * n_layer**-0.5


# ------------------------------------------------------------------------------ gradients


@mistake(
    "residual_backward",
    "https://community.deeplearning.ai/t/backpropagation-in-resnets/41277",
    "averaged",
    "summed",
)
def paths_averaged(dy, x, W):
    dx, dW = layers.residual_backward(dy, x, W)
    return 0.5 * dx, dW


def chain(x, Ws, dout, residual, slope, down=lambda dz, W, dW: dz @ W.T):
    """A right chain but for `slope(dh, a)`, which gives dz, and `down`, which takes it one layer back."""
    inputs, activations = [], []
    for W in Ws:
        inputs.append(x)
        activations.append(np.tanh(x @ W))
        x = activations[-1] + x if residual else activations[-1]
    dhs, dWs = [dout], []
    for W, h, a in zip(Ws[::-1], inputs[::-1], activations[::-1]):
        dz = slope(dhs[0], a)
        dW = h.T @ dz
        dWs = [dW, *dWs]
        dhs = [down(dz, W, dW) + (dhs[0] if residual else 0), *dhs]
    return dhs, dWs


def right_slope(dh, a):
    return dh * (1 - a**2)


@mistake("backprop_chain", "wvabrinskas/Neuron/pull/181", "wrong point", "tanh(tanh(z))")
def slope_at_activation(x, Ws, dout, residual=False):
    return chain(x, Ws, dout, residual, lambda dh, a: dh * (1 - np.tanh(a) ** 2))


@mistake("backprop_chain", "Bot-Academy/NeuralNetworkFromScratch/pull/3", "derivative of tanh is missing")
def no_slope(x, Ws, dout, residual=False):
    return chain(x, Ws, dout, residual, lambda dh, a: dh)


@mistake("backprop_chain", "jcjohnson/pytorch-examples/issues/28", "dW", "in place of the weights")
def back_through_dw(x, Ws, dout, residual=False):
    return chain(x, Ws, dout, residual, right_slope, lambda dz, W, dW: dz @ dW.T)


@mistake("backprop_chain", "VikParuchuri/zero_to_gpt/issues/12", "updated before the gradient has passed")
def update_first(x, Ws, dout, residual=False):
    return chain(x, Ws, dout, residual, right_slope, lambda dz, W, dW: dz @ (W - dW / 10).T)


@mistake("backprop_chain", "DiffSharp/DiffSharp/issues/16", "incoming gradient is not multiplied in")
def local_only(x, Ws, dout, residual=False):
    return chain(x, Ws, dout, residual, lambda dh, a: 1 - a**2)


@mistake("grad_norms", "paiml/entrenar/issues/311", "square root is missing", "squared norm")
def squares(params, grads):
    each = [np.sum(g**2) for g in grads]
    return each, sum(each)


@mistake("grad_norms", "carpedm20/MemN2N-tensorflow/issues/19", "adds the norms", "squares")
def norms_added(params, grads):
    each = [np.linalg.norm(g) for g in grads]
    return each, sum(each)


@mistake("clip_by_global_norm", "paiml/entrenar/issues/311", "squared norm", "square root is missing")
def clipped_by_the_square(grads, max_norm):
    total = sum(np.sum(g**2) for g in grads)
    return [g * min(1, max_norm / (total + 1e-6)) for g in grads]


@mistake("sgd_steps", "jcjohnson/pytorch-examples/issues/31", "accumulate", "zero_grad")
def never_cleared(w, grad_fn, batches, lr):
    grad = 0
    for batch in batches:
        grad = grad + grad_fn(w, batch)
        w = w - lr * grad
    return w
