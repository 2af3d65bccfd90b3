"""Reads the prompt of a variant once more, without its specification: its words alone, and its formulas alone.

Nothing here knows the tables that prompts are made of, or the solutions; gradients are finite differences.
"""

import re

import numpy as np


def split(prompt):
    """The words of a prompt and its formulas."""
    before, formula, after = re.fullmatch(r"(.*)```text\n(.*)\n```(.*)", prompt, re.DOTALL).groups()
    return before + after, formula


def slope(loss, at):
    """The gradient of a number, loss(array), by central differences."""
    gradient = np.empty(at.shape)
    for i in np.ndindex(at.shape):
        step = np.zeros(at.shape)
        step[i] = 1e-6
        gradient[i] = (loss(at + step) - loss(at - step)) / 2e-6
    return gradient


def one_of(words, **phrases):
    """The name of the one phrase that stands in the words."""
    (found,) = [name for name, phrase in phrases.items() if phrase in words]
    return found


# ------------------------------------------------------------------------------ words


def joined(words, skip, branch):
    how = one_of(
        words, twice="2 times the branch", double="2 times the shortcut", minus="subtracted from the shortcut",
        half="are averaged: half", plus="shortcut and the branch are added",
    )  # fmt: skip
    a, b = {"twice": (1, 2), "double": (2, 1), "minus": (1, -1), "half": (0.5, 0.5), "plus": (1, 1)}[how]
    return a * skip + b * branch


def residual_block(words, x, f):
    times = {"one": 1, "two": 2, "three": 3, "minus": 1}
    how = one_of(words, one="is f of x", two="f twice", three="f three times", minus="f of minus x")
    h = -x if how == "minus" else x
    for _ in range(times[how]):
        h = f(h)
    y = joined(words, x, h)
    last = one_of(words, nothing="That is all.", f="goes through f once more", x="very end x is added")
    return {"nothing": y, "f": f(y), "x": y + x}[last]


def shortcut(words, x, f, proj):
    h, d = f(x), x.shape[-1]
    e = h.shape[-1]
    where = "is as wide as x" if e == d else "is wider" if e > d else "is narrower"
    (sentence,) = re.findall(f"- Where f\\(x\\) {where}, the shortcut is (.*)\\.", words)
    if sentence.startswith("proj(x)"):
        return proj(x)
    if sentence == "x":
        return x
    if "zeros appended" in sentence:
        return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, e - d)])
    return x[..., :e] if sentence.startswith("the first e") else x[..., -e:]


def projected_residual(words, x, f, proj):
    return joined(words, shortcut(words, x, f, proj), f(x))


def block(words, u, f, norm):
    skip = norm(u) if re.search(r"shortcut carries \w normalized", words) else u
    h = f(norm(u)) if re.search(r"f is given \w normalized", words) else f(u)
    h = norm(h) if "What f returns is normalized" in words else h
    y = joined(words, skip, h)
    return norm(y) if "What comes out of that is normalized" in words else y


def transformer_block(words, x, attn, ffn, norm1, norm2):
    known = {"attn": attn, "ffn": ffn, "norm1": norm1, "norm2": norm2}
    halves = re.search(
        r"first half has `(\w+)` with `(\w+)`, the second `(\w+)` with `(\w+)`", words
    ).groups()
    f, n, g, m = (known[name] for name in halves)
    y = block(words, block(words, x, f, n), g, m)
    return y + x if "input of the whole block, x, is added" in words else y


def pre_norm_stack(words, x, fs, norms, final_norm):
    pairs = list(zip(fs, norms))
    h = final_norm(x) if "to x, before" in words or "to x before" in words else x
    for f, norm in reversed(pairs) if "the last pair first" in words else pairs:
        h = block(words, h, f, norm)
    if "what it returns x is added" in words:
        return final_norm(h) + x
    return h if "nothing follows the last one" in words else final_norm(h)


def pieces_of(words, x):
    """Indices of the values that share their statistics."""
    if "first axis" in words:
        return [(slice(None), *i) for i in np.ndindex(x.shape[1:])]
    half = x.shape[-1] // 2
    cuts = [slice(None, half), slice(half, None)] if "two halves" in words else [slice(None)]
    return [(*i, cut) for i in np.ndindex(x.shape[:-1]) for cut in cuts]


def quotient(words, values, shared, eps):
    """values over their spread; shared: those of them that count."""
    centre = sum(shared) / len(shared) if "minus the mean" in words else 0
    spread = {
        "std": lambda: np.std(shared),
        "rms": lambda: np.linalg.norm(shared) / len(shared) ** 0.5,
        "absolute": lambda: np.abs(shared - centre).sum() / len(shared),
    }[
        one_of(
            words, std="standard deviation", rms="root mean square", absolute="numerator's absolute values"
        )
    ]()
    root = one_of(words, root="sqrt(spread² + eps)", plain="by spread + eps") == "root"
    return (values - centre) / ((spread**2 + eps) ** 0.5 if root else spread + eps)


def scaled(words, x_hat, gain, beta, x=0):
    """After the quotient: gain, shift and residual."""
    gain = 1 + gain if re.search(r"gain is 1 \+", words) else gain
    h = x_hat + x if "Before the gain is applied, x is added" in words else x_hat
    if "`beta` is added before the gain" in words:
        y = (h + beta) * gain
    else:
        y = h * gain + (beta if "`beta` is added after the gain" in words else 0)
    return y + x if "At the very end x is added" in words else y


def layer_norm(words, x, gamma, beta, eps):
    x_hat = np.empty(x.shape)
    for piece in pieces_of(words, x):
        x_hat[piece] = quotient(words, x[piece], x[piece], eps)
    return scaled(words, x_hat, gamma, beta, x)


def rms_norm(words, x, gamma, eps):
    return layer_norm(words, x, gamma, None, eps)


def norm_gradients(words, forward, dy, x, gamma):
    """dx, dgamma, dbeta of forward(x, gamma, beta)."""
    beta = np.zeros(gamma.shape)
    rows = x[..., 0].size if "averaged over all rows" in words else 1
    dx = slope(lambda a: (dy * forward(a, gamma, beta)).sum(), x)
    dgamma = slope(lambda a: (dy * forward(x, a, beta)).sum(), gamma) / rows
    return dx, dgamma, slope(lambda a: (dy * forward(x, gamma, a)).sum(), beta) / rows


def layer_norm_backward(words, dy, x, gamma, eps):
    return norm_gradients(words, lambda x, g, b: layer_norm(words, x, g, b, eps), dy, x, gamma)


def rms_norm_backward(words, dy, x, gamma, eps):
    return layer_norm_backward(words, dy, x, gamma, eps)[:2]


def masked_batch_norm(words, x, mask, gamma, beta, eps):
    real = mask if "`mask` is True where a token is real" in words else ~mask
    rest = one_of(words, zero="the result is 0", x="result is `x`, unchanged", beta="result is `beta`")
    y = np.empty(x.shape)
    for i, _, c in np.ndindex(x.shape):
        own = x[i, real[i], c] if "each sequence has statistics" in words else x[real, c]
        y[i, :, c] = scaled(words, quotient(words, x[i, :, c], own, eps), gamma[c], beta[c])
    return np.where(real[..., None], y, {"zero": 0, "x": x, "beta": beta}[rest])


def batch_norm(words, x, gamma, beta, running_mean, running_var, training, momentum, eps):
    axis = 1 if "lie along axis 1" in words else x.ndim - 1
    new = 1 - momentum if "weight of the old" in words else momentum
    y, means, squares = np.empty(x.shape), running_mean.copy(), running_var.copy()
    for c in range(len(gamma)):
        at = (*[slice(None)] * axis, c)
        values, m, v = x[at], running_mean[c], running_var[c]
        if training:
            m = values.mean()
            v = values.var() if "v is the variance" in words else (values**2).mean()
            kept = v if "is v itself" in words else v * values.size / (values.size - 1)
            means[c] += new * (m - means[c])
            squares[c] += new * (kept - squares[c])
            if "by the running statistics that it has just changed" in words:
                m, v = means[c], squares[c]
        top = values - m if "minus m" in words else values
        bottom = np.sqrt(v + eps) if "by sqrt(v + eps)" in words else np.sqrt(v) + eps
        y[at] = scaled(words, top / bottom, gamma[c], beta[c])
    return y, means, squares


ACTIVATIONS = {
    "tanh": np.tanh,
    "sigmoid": lambda z: (1 + np.tanh(z / 2)) / 2,
    "sine": np.sin,
    "softplus": lambda z: np.logaddexp(0, z),
}


def layer(words, x, W, counts=1):
    """The forward pass of a layer with a shortcut, which counts once or not at all."""
    kind = one_of(words, tanh="activation is tanh", sigmoid="is the sigmoid", sine="is the sine", softplus="is the softplus")  # fmt: skip
    act = ACTIVATIONS[kind]
    product = x @ (W.T if "matrix transposed" in words else W)
    if "branch is the product" in words:
        return act(joined(words, counts * x, product))
    return joined(words, counts * x, act(product))


def share(words, x):
    return len(x) if "averaged over the n rows" in words else 1


def residual_backward(words, dy, x, W, step=layer):
    dW = slope(lambda a: (dy * step(words, x, a)).sum(), W) / share(words, x)
    return slope(lambda a: (dy * step(words, a, W)).sum(), x), dW


def backprop_chain(words, x, Ws, dout, residual, step=layer):
    def loss(h, Ws):
        for W in Ws:
            h = step(words, h, W, residual)
        return (dout * h).sum()

    dhs, dWs, h = [], [], x
    for i, W in enumerate(Ws):
        dhs.append(slope(lambda a: loss(a, Ws[i:]), h))  # noqa: B023
        dWs.append(slope(lambda a: loss(h, [a, *Ws[i + 1 :]]), W) / share(words, x))  # noqa: B023
        h = step(words, h, W, residual)
    dhs += [] if "is left out" in words.partition("The first list")[2] else [dout]
    return (dhs[::-1], dWs[::-1]) if "start with the last layer" in words else (dhs, dWs)


def size(words, a):
    kind = one_of(words, length="Euclidean length, the", sum="sum of its absolute", top="is its largest absolute", rms="root mean square")  # fmt: skip
    a = np.ravel(a)
    return {"length": np.linalg.norm(a), "sum": np.linalg.norm(a, 1), "top": max(abs(a)), "rms": np.linalg.norm(a) / len(a) ** 0.5}[kind]  # fmt: skip


def long(arrays):
    return np.array([value for a in arrays for value in a.flat])


def grad_norms(words, params, grads):
    first = [
        size(words, p - g) if "minus the gradient" in words else size(words, g) for p, g in zip(params, grads)
    ]
    if "divided by the size of the parameter" in words:
        first = [n / size(words, p) for n, p in zip(first, params)]
    how = one_of(words, given="in the order", turned="opposite order", sorted="largest number first")
    first = {"given": first, "turned": first[::-1], "sorted": sorted(first)[::-1]}[how]
    kind = one_of(words, all="one long vector", sum="sum of the first", mean="mean of the first", top="largest number of the first")  # fmt: skip
    return first, {
        "all": size(words, long(grads)),
        "sum": sum(first),
        "mean": sum(first) / len(first),
        "top": max(first),
    }[kind]


def clip_by_global_norm(words, grads, max_norm):
    limit = max_norm * (len(grads) ** 0.5 if "root of the number of gradients" in words else 1)
    rule = one_of(words, clip="never more than 1", always="also where that", soft="limit / (limit + size)", drop="factor is 0")  # fmt: skip
    clipped = []
    for g in grads:
        n = size(words, long(grads) if "share one factor" in words else g)
        factor = limit / (n + 1e-6)
        factor = {"clip": min(factor, 1), "always": factor, "soft": limit / (limit + n), "drop": n <= limit}[
            rule
        ]
        clipped.append(g * factor)
    return clipped


def sgd_steps(words, w, grad_fn, batches, lr):
    v, trail, factor = np.zeros(w.shape), [], lr
    for number, batch in enumerate(batches, 1):
        g = grad_fn(w, batch) + (0.1 * w if "is added to each gradient" in words else 0)
        keeps = 0.9 if "v keeps 0.9" in words else 0
        v = keeps * v + g * (0.1 if "0.1 of the gradient" in words else 1)
        step = np.sign(v) if "sign of v" in words else v / np.linalg.norm(v) if "Euclidean" in words else v
        step = step * (lr / number if "the third lr / 3" in words else factor)
        factor = factor / 2 if "half the factor" in words else factor
        away = lr * 0.1 * w if "also takes away" in words else 0
        w = w + (step if "uphill" in words else -step) - away
        trail.append(w)
    return sum(trail) / len(trail) if "mean of the weights" in words else w


def residual_init_std(words, base_std, n_layer):
    count = one_of(words, a="adds one branch ", b="adds two", c="adds three", d="adds four")
    added = ("abcd".index(count) + 1) * n_layer + ("one more branch is added" in words)
    factor = 0.5 if "multiplied by 0.5" in words else 2 if "multiplied by 2" in words else 1
    goal = base_std * (0.5 if "have half" in words else 2 if "have twice" in words else 1)
    return (goal**2 / added) ** 0.5 / factor


WORDS = {
    f.__name__: f
    for f in (
        residual_block, projected_residual, residual_backward, backprop_chain, grad_norms, layer_norm,
        layer_norm_backward, batch_norm, masked_batch_norm, rms_norm, rms_norm_backward, transformer_block,
        pre_norm_stack, residual_init_std, clip_by_global_norm, sgd_steps,
    )
} | {
    "rms_norm_offset": rms_norm, "batch_norm_backward": layer_norm_backward, "pre_norm_block": block,
    "post_norm_block": block,
}  # fmt: skip

# ------------------------------------------------------------------------------ formulas


def compute(formula, **names):
    """The names after the formulas have been worked out, line by line."""
    text = formula.replace("²", "**2").replace("^", "**").replace("·", "*")
    text = text.replace("for i = 0, 1, ..., len(fs) - 1:", "for i in range(len(fs)):")
    text = text.replace("for i = len(fs) - 1, ..., 1, 0:", "for i in range(len(fs))[::-1]:")
    text = re.sub(r"^(\w+)\(([\w, ]+)\) = (.*)", r"\1 = lambda \2: \3", text, flags=re.MULTILINE)
    known = ("sqrt", "abs", "exp", "log", "sin", "tanh", "sort", "array", "concatenate")
    scope = {name: getattr(np, name) for name in known} | names
    exec(text, scope)
    return scope


def mean_of(words):
    """The mean that a normalization's formulas speak of."""

    def mean(a):
        result = np.empty(a.shape)
        for piece in pieces_of(words, a):
            result[piece] = a[piece].mean()
        return result

    return mean


def by_formula(name, words, formula, given):
    """What the formulas of a prompt give for the arguments {name: value}; words: for what no formula says."""
    if name in FORMULAS:
        return FORMULAS[name](words, formula, **given)

    def forward(**names):
        return compute(formula, mean=mean_of(words), **names)

    def step(_, h, W, residual=1):
        return forward(h=h, x=h, W=W, residual=residual)["y"]

    if name.endswith("norm_backward"):
        dy, x, gamma, eps = given.values()
        made = norm_gradients(
            words, lambda x, g, b: forward(x=x, gamma=g, beta=b, eps=eps)["y"], dy, x, gamma
        )
        return made[:2] if name == "rms_norm_backward" else made
    if name in ("residual_backward", "backprop_chain"):
        return WORDS[name](words, *given.values(), step=step)
    if name == "projected_residual":
        return forward(shortcut=shortcut(words, *given.values()), **given)["y"]
    found = forward(**given)
    return (found["first"], found["second"]) if name == "grad_norms" else found.get("y", found.get("std"))


def batch_norm_formula(words, formula, x, gamma, beta, running_mean, running_var, training, momentum, eps):
    axis = 1 if "lie along axis 1" in words else x.ndim - 1
    x, section, lines = np.moveaxis(x, axis, -1), "", []
    for line in formula.splitlines():
        section = line[:15].strip() or section
        if section == "in both:" or ("training" in section) == training:
            lines.append(line[15:])
    found = compute(
        "\n".join(lines), x=x, gamma=gamma, beta=beta, running_mean=running_mean, running_var=running_var,
        momentum=momentum, eps=eps, n=x[..., 0].size, mean=lambda a: a.mean(axis=tuple(range(a.ndim - 1))),
    )  # fmt: skip
    return np.moveaxis(found["y"], -1, axis), found["running_mean"], found["running_var"]


def masked_batch_norm_formula(words, formula, x, mask, gamma, beta, eps):
    real = (mask if "`mask` is True where a token is real" in words else ~mask)[..., None]
    axis = 1 if "each sequence has statistics" in words else (0, 1)
    steps, y, rest = re.fullmatch(
        r"(.*)y = (.*) at the real tokens, (\w+) at the padding", formula, re.DOTALL
    ).groups()

    def mean(a):
        return np.broadcast_to(a, x.shape).mean(
            axis=axis, keepdims=True, where=np.broadcast_to(real, x.shape)
        )

    found = compute(f"{steps}y = {y}\nrest = {rest}", x=x, gamma=gamma, beta=beta, eps=eps, mean=mean)
    return np.where(real, found["y"], found["rest"])


def clip_by_global_norm_formula(words, formula, grads, max_norm):
    return [g * compute(formula, grads=grads, max_norm=max_norm, g=g)["factor"] for g in grads]


def sgd_steps_formula(words, formula, w, grad_fn, batches, lr):
    v, trail = 0 * w, []
    for t, batch in enumerate(batches):
        found = compute(formula, w=w, v=v, t=t, lr=lr, batch=batch, grad_fn=grad_fn, sign=np.sign)
        v, w = found["v"], found["w"]
        trail.append(w)
    return sum(trail) / len(trail) if "mean of the weights" in words else w


FORMULAS = {
    "batch_norm": batch_norm_formula,
    "masked_batch_norm": masked_batch_norm_formula,
    "clip_by_global_norm": clip_by_global_norm_formula,
    "sgd_steps": sgd_steps_formula,
}
