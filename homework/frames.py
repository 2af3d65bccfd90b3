"""The frames that ingredients are put in: for each exercise its task, its formulas, its solution, its inputs."""

from dataclasses import dataclass, field

import numpy as np

from helpers import exercises
from helpers.exercises.batches import channels, padded, state
from helpers.exercises.blocks import branch, norm
from helpers.exercises.norms import OUTLIERS, gains, rows, some_negative

from .ingredients import (
    BATCH,
    BLOCK,
    CHAIN,
    CLIP,
    LAYER,
    MASKED,
    NORM,
    NORM_BACKWARD,
    PROJECTED,
    RESIDUAL,
    SIZES,
    STACK,
    START,
    STEP,
    TWO_HALVES,
)


@dataclass(frozen=True)
class Family:
    """How one exercise is varied."""

    head: str
    task: str  # what is asked, before the choices
    table: dict
    textbook: dict  # {decision: choice} of the lesson
    formula: str  # shown to the student
    solution: str  # the function's body
    returned: str
    probes: list
    fixed: dict = field(default_factory=dict)  # pieces that nothing decides
    known: tuple = ()  # parts of specifications that would be a lesson's function, only called differently
    where: str = ""  # what is to be said of the formula
    example: dict = field(default_factory=dict)  # arguments of the public example that are functions, as text


def fill(text, pieces):
    """The text with its pieces put in, and theirs in them."""
    while "{" in text:
        text = text.format_map(pieces)
    return text


# ------------------------------------------------------------------------------ inputs

X = np.array([[1.0, 3.0, -2.0, 6.0], [4.0, -1.0, 0.0, 2.0], [2.0, 5.0, 1.0, -3.0]])


def _norm_probes(*parameters):
    """Arguments of a normalization, small and whole numbers first; parameters: which of gamma and beta."""
    cases = [(X, 0.25)] + [(rows(*s), eps) for s in ((4, 6), (5, 8), (2, 3, 4)) for eps in (1e-5, 0.5)]
    cases += [(0.01 * rows(4, 4), 1e-3), (np.full((3, 4), 2.0), 0.5)]
    cases += [(OUTLIERS, 1e-5), (np.ascontiguousarray(OUTLIERS.T), 1e-5)]  # for statistics along either axis
    probes = [(x, *gains(x.shape[-1])[: len(parameters)], eps) for x, eps in cases]
    x, gamma, *rest = probes[1]
    return [*probes, (x, some_negative(gamma, 3), *rest)]


def _backward_probes():
    cases = [(X, 0.25)] + [(rows(*s), eps) for s in ((4, 6), (4, 4), (2, 3, 4)) for eps in (1e-5, 0.5)]
    probes = [(np.cos(3 * x).round(2) + 0.25, x, gains(x.shape[-1])[0], eps) for x, eps in cases]
    dy, x, gamma, eps = probes[1]
    return [*probes, (dy, x, some_negative(gamma, 3), eps)]


def _masked_probes():
    cases = [(2, 3, 2, (2, 1)), (3, 4, 4, (3, 2, 1)), (3, 5, 4, (2, 3, 4))]
    made = []
    for n, t, c, lengths in cases:
        x = padded(n, t, c, 0.0, [t] * n)[0]
        made += [(x, *padded(n, t, c, 0.0, lengths)[1:], eps) for eps in (0.5, 1e-5)]
    x, mask, gamma, beta, eps = made[-2]  # eps = 0.5: a lone token has no spread, and its output stays small
    negative = (x - 3, mask, some_negative(gamma, 3), some_negative(beta, 2), eps)
    return [*made, negative, *exercises.masked_batch_norm.probes[-2:]]  # holes in the mask, and outliers


def _batch_probes():
    shapes = [(2, 3, 3), (4, 3, 3), (3, 4, 5, 4), (4, 4)]
    probes = [
        (channels(*shape), *state(shape[1]), training, momentum, eps)
        for shape in shapes
        for training in (True, False)
        for momentum, eps in ((0.25, 0.5), (0.1, 1e-5))
    ]
    flipped = [
        (x, some_negative(gamma, 3), some_negative(beta, 2), *rest) for x, gamma, beta, *rest in probes[-4:]
    ]
    with_outliers = exercises.batch_norm.probes[-1]
    return [*probes, *flipped, with_outliers]


def _functions(inputs, count, norms=0):
    """Arrays, each with `count` branches and `norms` normalizations of its width."""
    return [
        (x, *(branch(x.shape[-1], x.shape[-1], s + 1) for s in range(count)), *(norm(x.shape[-1], s + 7) for s in range(norms)))
        for x in inputs
    ]  # fmt: skip


def _chain_probes():
    """Those of the lesson whose matrices are square, first one with a shortcut."""
    square = [p for p in exercises.backprop_chain.probes if all(W.shape[0] == W.shape[1] for W in p[1])]
    return sorted(square, key=lambda p: (not p[3], len(p[1]) != 2))


# ------------------------------------------------------------------------------ the frames

_MEAN = "def mean(a):\n    return {axis}\n"
_STATISTICS = "c = {numerator}\ns = {spread}\nx_hat = c / {eps}\n"
_FORWARD = _STATISTICS + "y = {y}"
_WHERE = "Each mean is taken over the values that share statistics."
_SHAPE = "Return an array shaped like `x`."
_NORM_TASK = "It normalizes `x`, of shape (..., d) with two or more axes and d even; {parameters} shape (d,)."
# LayerNorm and RMSNorm, over whatever axis and with whatever gain and shift
_CORES = tuple(
    {"numerator": numerator, "spread": spread, "eps": "inside"}
    for numerator, spread in (("centred", "std"), ("as it is", "rms"))
)
_ROW = {"axis": "last", "eps": "inside", "gain": "plain", "residual": "none"}
_CENTRED = {"numerator": "centred", "spread": "std"}
_RMS = {"numerator": "as it is", "spread": "rms"}


def _norm_family(name, parameters, textbook):
    shift = "beta" in parameters
    fixed = {"gamma": parameters[0], "shift": "{quotient} * {gain}"}
    return Family(
        head=f"{name}(x, {', '.join(parameters)}, eps)",
        task=_NORM_TASK.format(parameters="`gamma` and `beta` have" if shift else f"`{parameters[0]}` has"),
        table={d: choices for d, choices in NORM.items() if d != "shift" or shift},
        textbook=_ROW | textbook,
        formula=_FORWARD,
        solution=_MEAN + _STATISTICS + "return {y}",
        returned=_SHAPE,
        known=_CORES,
        where=_WHERE,
        probes=_norm_probes(*parameters),
        fixed=fixed,
    )


def _backward_family(name, shift, textbook, shape="(..., d), two or more axes and d even", two_axes=False):
    gradients = "dx, dgamma, dbeta" if shift else "dx, dgamma"
    width = shape.split(")")[0][-1]
    return Family(
        head=f"{name}(dy, x, gamma, eps)",
        task=(
            f"`dy` is what arrives at the output y of a normalization, which is described here. `dy` and `x` have shape "
            f"{shape}; " + ("`gamma` and `beta` have" if shift else "`gamma` has") + f" shape ({width},)."
            + (" `beta` is added after the gain." if shift else "")
        ),
        table=NORM_BACKWARD,
        textbook=_ROW | textbook | {"paths": "all", "sums": "sum"},
        formula=_FORWARD,
        solution=_MEAN
        + "c = {numerator}\ns = {spread}\nden = {den}\nx_hat = c / den\ng = dy * {gain}\nk = {k}\ndc = g / den{through_c}\n"
        + "dx = dc{centring}{through_x}{to_x}\nrows = tuple(range(x.ndim - 1))\n"
        + "dgamma = (dy * {quotient}).{sums}(axis=rows)\n"
        + ("dbeta = dy.{sums}(axis=rows)\n" if shift else "")
        + f"return {gradients}",
        returned=f"Return `{gradients}`, shaped like `x`" + (", `gamma` and `beta`." if shift else " and `gamma`."),
        known=_CORES,
        where=_WHERE,
        probes=[p for p in _backward_probes() if not two_axes or p[1].ndim == 2],
        fixed={"gamma": "gamma", "shift": "{quotient} * {gain} + beta" if shift else "{quotient} * {gain}"},
    )  # fmt: skip


_PLAIN_BLOCK = {"skip": "plain", "inner": "plain", "outer": "plain", "join": "sum", "last": "plain"}
_PRE = _PLAIN_BLOCK | {"inner": "norm"}
_HALF = {"The": "In each block the", "u": "u", "f": "f", "n": "norm", "branch": "{outer}"}
_LAYER = {
    "place": "after",
    "activation": "tanh",
    "matrix": "plain",
    "join": "sum",
    "sums": "sum",
    "paths": "all",
}
_SIZED = "def size(a):\n    return {size}\n"
_RMS_TEXT = "lambda x: x / np.sqrt((x**2).mean(axis=-1, keepdims=True))"
_MEAN_TEXT = "lambda x: x / np.abs(x).mean(axis=-1, keepdims=True)"


def _block_family(name, textbook):
    return Family(
        head=f"{name}(x, f, norm)",
        task="`x` has shape (..., d); `f` and `norm` are functions that keep the shape. To normalize means to apply `norm`.",
        table=BLOCK,
        textbook=textbook,
        formula="y = {last}",
        solution="return {last}",
        returned=_SHAPE,
        probes=_functions([X[:2], rows(4, 6), rows(2, 3, 4)], 1, 1),
        fixed=_HALF | {"The": "The", "u": "x"},
        example={"f": "np.tanh", "norm": _RMS_TEXT},
    )


FAMILIES = {
    "residual_block": Family(
        head="residual_block(x, f)",
        task="`x` has shape (..., d); `f` is a function that keeps the shape. The shortcut is x as it is.",
        table=RESIDUAL,
        textbook={"branch": "once", "join": "sum", "last": "nothing"},
        formula="y = {last}",
        solution="return {last}",
        returned=_SHAPE,
        known=({"join": "sum", "last": "nothing"},),
        probes=_functions([X[:2], rows(4, 6), rows(2, 3, 4)], 1),
        fixed={"skip": "x"},
        example={"f": "np.tanh"},
    ),
    "projected_residual": Family(
        head="projected_residual(x, f, proj)",
        task=(
            "`x` has shape (..., d); `f` and `proj` are functions that return (..., e), where e may be d, more or less. "
            "The branch is f(x)."
        ),
        table=PROJECTED,
        textbook={"same": "x", "wider": "proj", "narrower": "proj", "join": "sum"},
        formula="h = f(x)\ny = {joined}",
        solution=(
            "h = f(x)\nd, e = x.shape[-1], h.shape[-1]\nif e == d:\n    shortcut = {same}\nelif e > d:\n"
            "    shortcut = {wider}\nelse:\n    shortcut = {narrower}\nreturn {joined}"
        ),
        returned="Return an array shaped like f(x).",
        known=({"join": "sum", "wider": "proj", "narrower": "proj"},),
        probes=exercises.projected_residual.probes,
        fixed={"skip": "shortcut", "branch": "h"},
        example={"f": "lambda x: np.tanh(x[..., [0, 1, 2, 0, 1]])", "proj": "lambda x: x[..., [2, 1, 0, 2, 1]]"},
    ),
    "residual_backward": Family(
        head="residual_backward(dy, x, W)",
        task=(
            "`dy` is what arrives at the output y of a layer with a shortcut, which is described here. `dy` and `x` have "
            "shape (n, d), `W` has (d, d). The shortcut is x."
        ),
        table=LAYER,
        textbook=_LAYER,
        formula="z = {z}\ny = {y}",
        solution=(
            "z = {z}\ndz = {dz}\ndu = {du}\ndx = {through}{to_skip} + du @ {back}\ndW = {dW}{share}\nreturn dx, dW"
        ),
        returned="Return `dx, dW`, shaped like `x` and `W`.",
        known=({"place": "after", "activation": "tanh", "join": "sum"},),
        probes=exercises.residual_backward.probes,
        fixed={"x": "x", "W": "W", "skip": "x", "counts": ""},
    ),
    "backprop_chain": Family(
        head="backprop_chain(x, Ws, dout, residual)",
        task=(
            "Layers stand one after the other: h[0] is `x`, of shape (n, d), and from h, the output of the layer before, "
            "and its own matrix W, of shape (d, d), each makes the next h, called y below. `Ws` is the list of the L "
            "matrices, `dout` the gradient of L at the last output, h[L]. In the formula `residual` counts as 1 when it is "
            "true and as 0 when it is false: then the shortcut, which is h, is left out."
        ),
        table=CHAIN,
        textbook=_LAYER | {"order": "earliest", "ends": "all"},
        formula="z = {z}\ny = {y}",
        solution=(
            "hs = [x]\nfor W in Ws:\n    h = hs[-1]\n    z = {z}\n    hs.append({y})\ndhs, dWs = [dout], []\n"
            "for W, h in zip(Ws[::-1], hs[-2::-1]):\n    dy = dhs[-1]\n    z = {z}\n    dz = {dz}\n    du = {du}\n"
            "    dhs.append({through}{to_skip} + du @ {back})\n    dWs.append({dW}{share})\nreturn {ends}{order}, dWs{order}"
        ),
        returned="Return two lists: the gradients of L at the h, and those at the W.",
        known=({"place": "after", "activation": "tanh", "join": "sum"},),
        probes=_chain_probes(),
        fixed={"x": "h", "W": "W", "skip": "residual * h", "counts": "residual * "},
    ),
    "grad_norms": Family(
        head="grad_norms(params, grads)",
        task="`params` and `grads` are lists of arrays of the same shapes; p and g are a pair.",
        table=SIZES,
        textbook={"size": "euclidean", "one": "gradient", "order": "given", "total": "joined"},
        formula="size(a) = {size}\nsizes = np.array([{one} for p, g in zip(params, grads)])\nfirst = {order}\nsecond = {total}",
        solution=_SIZED
        + "sizes = np.array([{one} for p, g in zip(params, grads)])\nreturn {order}, {total}",
        returned="Return both: an array (or list) of numbers, and a number.",
        known=({"size": "euclidean", "one": "gradient"},),
        probes=exercises.grad_norms.probes,
    ),
    "layer_norm": _norm_family("layer_norm", ("gamma", "beta"), _CENTRED | {"shift": "after"}),
    "layer_norm_backward": _backward_family("layer_norm_backward", True, _CENTRED),
    "batch_norm": Family(
        head="batch_norm(x, gamma, beta, running_mean, running_var, training, momentum, eps)",
        task=(
            "It normalizes each channel of `x`, an array with two or more axes. `gamma`, `beta`, `running_mean` and "
            "`running_var` have shape (C,), an entry for each channel. In training (`training` true) m is the mean of the "
            "channel in this batch, and v is said below. No batch with a single value in a channel is asked for."
        ),
        table=BATCH,
        textbook={"channel": "second", "square": "variance", "numerator": "centred", "root": "inside", "gain": "plain",
                  "shift": "after", "momentum": "new", "kept": "unbiased", "used": "batch", "when": "training"},
        formula=(
            "in training:   m = mean(x)\n               v = {square}\n"
            "               running_mean = {old_share} * running_mean + {new_share} * m\n"
            "               running_var = {old_share} * running_var + {new_share} * {kept}\n{shown}"
            "in evaluation: m = running_mean\n               v = running_var\n"
            "in both:       x_hat = {numerator} / {root}\n               y = {y}"
        ),
        solution=(
            "{inside}def mean(a):\n    return a.mean(axis=tuple(range(a.ndim - 1)))\nn = x.size // x.shape[-1]\n"
            "m, v = running_mean, running_var\nif {when}:\n    m = mean(x)\n    v = {square}\n"
            "    running_mean = {old_share} * running_mean + {new_share} * m\n"
            "    running_var = {old_share} * running_var + {new_share} * {kept}\n{after}"
            "x_hat = {numerator} / {root}\nreturn {out}, running_mean, running_var"
        ),
        returned="Return `y`, shaped like `x`, and the new `running_mean` and `running_var`.",
        where="Each mean is taken over the values of a channel.",
        known=({"square": "variance", "numerator": "centred", "root": "inside", "used": "batch"},),
        probes=_batch_probes(),
        fixed={"gamma": "gamma", "quotient": "x_hat", "y": "{shift}"},
    ),
    "batch_norm_backward": _backward_family("batch_norm_backward", True, _CENTRED | {"axis": "first"}, "(N, C), C even", True),
    "masked_batch_norm": Family(
        head="masked_batch_norm(x, mask, gamma, beta, eps)",
        task=(
            "`x` has shape (N, T, C): sequences of T tokens with C channels, some of the tokens only padding. `mask`, of "
            "shape (N, T), tells which; `gamma` and `beta` have shape (C,). Each sequence has at least one real token."
        ),
        table=MASKED,
        textbook={"axis": "batch", "mask": "real", "numerator": "centred", "spread": "std", "eps": "inside",
                  "gain": "plain", "shift": "after", "rest": "zero"},
        formula=_STATISTICS + "y = {shift} at the real tokens, {rest} at the padding",
        solution=(
            "real = ({mask})[..., None]\ndef mean(a):\n    return (a * real).sum(axis={axis}, keepdims=True) / "
            "real.sum(axis={axis}, keepdims=True)\n" + _STATISTICS + "return np.where(real, {shift}, {rest})"
        ),
        returned=_SHAPE,
        known=_CORES,
        where=_WHERE,
        probes=_masked_probes(),
        fixed={"gamma": "gamma", "quotient": "x_hat"},
    ),
    "rms_norm": _norm_family("rms_norm", ("gamma",), _RMS),
    "rms_norm_offset": _norm_family("rms_norm_offset", ("w",), _RMS | {"gain": "one_plus"}),
    "rms_norm_backward": _backward_family("rms_norm_backward", False, _RMS),
    "pre_norm_block": _block_family("pre_norm_block", _PRE),
    "post_norm_block": _block_family("post_norm_block", _PLAIN_BLOCK | {"last": "norm"}),
    "transformer_block": Family(
        head="transformer_block(x, attn, ffn, norm1, norm2)",
        task=(
            "`x` has shape (batch, tokens, d); the four functions keep the shape. The block has two halves, one after the "
            "other. Each takes an input u, a function f (`attn` or `ffn`) and a norm; to normalize means to apply that norm."
        ),
        table=TWO_HALVES,
        textbook=_PRE | {"order": "attn", "end": "plain"},
        formula="half(u, f, norm) = {last}\nh = half(x, {first})\ny = {end}",
        solution="def half(u, f, norm):\n    return {last}\nh = half(x, {first})\nreturn {end}",
        returned=_SHAPE,
        known=(_PRE,),
        probes=_functions([rows(1, 2, 4), rows(2, 3, 4), rows(4, 4, 4)], 2, 2),
        fixed=_HALF | {"The": "In each half the", "h2": "half(h, {second})"},
        example={"attn": "np.sin", "ffn": "np.tanh", "norm1": _RMS_TEXT, "norm2": _MEAN_TEXT},
    ),
    "pre_norm_stack": Family(
        head="pre_norm_stack(x, fs, norms, final_norm)",
        task=(
            "`x` has shape (..., d); `fs` and `norms` are lists of the same length of functions that keep the shape. It is "
            "a stack of blocks, one with `fs[i]` and `norms[i]` for each i. Each block takes an input u, its f and its "
            "norm; to normalize means to apply that norm."
        ),
        table=STACK,
        textbook=_PRE | {"order": "forward", "final": "after"},
        formula="block(u, f, norm) = {last}\nh = {start}\nfor i = {order}:  h = block(h, fs[i], norms[i])\ny = {end}",
        solution=(
            "def block(u, f, norm):\n    return {last}\nh = {start}\nfor f, norm in {pairs}:\n    h = block(h, f, norm)\n"
            "return {end}"
        ),
        returned=_SHAPE,
        known=(_PRE,),
        probes=exercises.pre_norm_stack.probes,
        fixed=_HALF,
        example={"fs": "[np.sin, np.tanh]", "norms": f"[{_RMS_TEXT}, {_MEAN_TEXT}]", "final_norm": _RMS_TEXT},
    ),
    "residual_init_std": Family(
        head="residual_init_std(base_std, n_layer)",
        task=(
            "It is the std with which the last weights of each branch start in a stack of `n_layer` layers. The std of "
            "what a branch gives is that of its last weights, and what the branches give is independent: the std of a sum "
            "of N such numbers is sqrt(N) times that of one."
        ),
        table=START,
        textbook={"branches": "2", "more": "none", "scaled": "plain", "goal": "base"},
        formula="N = {count}\nstd = {goal} / {scaled}",
        solution="N = {count}\nreturn {goal} / {scaled}",
        returned="Return a number.",
        probes=exercises.residual_init_std.probes[::-1],
    ),
    "clip_by_global_norm": Family(
        head="clip_by_global_norm(grads, max_norm)",
        task="`grads` is a list of arrays, `max_norm` a number. Each gradient is multiplied by a factor.",
        table=CLIP,
        textbook={"size": "euclidean", "whole": "all", "limit": "plain", "rule": "clip"},
        formula="size(a) = {size}\nlimit = {limit}\nt = {whole}\nfactor = {rule}",
        solution=_SIZED
        + "limit = {limit}\ndef factor(t):\n    return {rule}\nreturn [g * factor({whole}) for g in grads]",
        returned="Return a list of arrays of the same shapes.",
        known=({"size": "euclidean", "rule": "clip"},),
        probes=exercises.clip_by_global_norm.probes,
    ),
    "sgd_steps": Family(
        head="sgd_steps(w, grad_fn, batches, lr)",
        task=(
            "`w` is an array of weights, `grad_fn(w, batch)` gives the gradient at `w`, `batches` is a list, `lr` a number. "
            "There is one step a batch, in order, and each gradient is taken at the weights of its step. A step is a factor "
            "times a direction; in the formulas t counts the steps from 0."
        ),
        table=STEP,
        textbook={"decay": "none", "momentum": "none", "direction": "v", "rate": "constant", "sign": "down", "result": "last"},
        formula="g = grad_fn(w, batch){coupled}\nv = {momentum}\nw = w {sign} {rate} * {direction}{decoupled}",
        solution=(
            "v = 0 * w\n{begin}for t, batch in enumerate(batches):\n    g = grad_fn(w, batch){coupled}\n    v = {momentum}\n"
            "    w = w {sign} {rate} * {direction}{decoupled}{keep}\nreturn {out}"
        ),
        returned="The result is shaped like `w`.",
        known=({"decay": "none", "momentum": "none", "direction": "v", "rate": "constant"},),
        probes=exercises.sgd_steps.probes,
        example={"grad_fn": "lambda w, batch: w - batch"},
    ),
}  # fmt: skip
