"""Gradients through residual connections and through depth, and what is done with them in training."""

from dataclasses import replace
from itertools import pairwise, permutations, product

import numpy as np

from .. import layers
from . import exceptions
from .comparing import alike
from .core import Exercise, Remark
from .fitting import fitted
from .formulas import evaluate
from .mistakes import gradients as mistakes
from .slips import Slip, Space, read


def _random(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


def _norm(g):
    return np.sqrt((g**2).sum())


# ------------------------------------------------------------------------------ tanh and its derivative

SLOPE = "1 - np.tanh(z)**2"


def _local(choice, upstream, dy, z, x, W=None):
    """dz, the gradient before tanh."""
    try:
        slope = evaluate(choice, z=z, dy=dy, x=x, W=W)
        slope = slope + 0 * z
    except ValueError:  # another shape than z: a layer whose width changes
        return None
    combined = {
        "right": lambda: dy * slope,
        "missing": lambda: slope,
        "added": lambda: dy + slope,
        "without brackets": lambda: dy - (1 - slope),
    }
    return combined[upstream]()


# ------------------------------------------------------------------------------ residual_backward


def _residual_backward_model(
    dy, x, W, local=SLOPE, upstream="right", dx="dy + dz @ W.T", dW="x.T @ dz", swapped=None
):
    """residual_backward with switches; swapped: a decision and its choice, besides which the outputs are swapped."""
    if swapped:
        return _residual_backward_model(dy, x, W, **dict([swapped]))[::-1]
    z = x @ W
    dz = _local(local, upstream, dy, z, x, W)
    names = {"dy": dy, "x": x, "W": W, "dz": dz, "slope": 1 - np.tanh(z) ** 2, "dW": x.T @ dz}
    out = evaluate(dx, **names)
    return (out,), (evaluate(dW, **names, dx=out),)


RESIDUAL_SLIPS = read(
    mistakes.LOCAL
    + mistakes.LOCAL_RARE
    + mistakes.RESIDUAL_LOCAL
    + mistakes.UPSTREAM
    + mistakes.RESIDUAL_DX
    + mistakes.RESIDUAL_DW
)


def _swapped_besides(slips):
    """Each of these mistakes in one of the gradients, when they are returned in the wrong order as well."""
    return [
        Slip(
            f"outputs_swapped+{slip.name}",
            "swapped",
            (slip.decision, slip.choice),
            f"the order is swapped: `return dx, dW`. Something is wrong besides: {slip.message}",
        )
        for slip in slips
        if slip.name != "dW_for_dx"  # the gradient of W twice looks the same in both orders
    ]


def _measured_decay(probes, answers):
    """More slips: weight decay in dW, its factor read off the answers."""
    return fitted(
        lambda *args, **choices: _residual_backward_model(*args, **choices)[1:],
        read(mistakes.RESIDUAL_DECAY),
        probes,
        [answer and answer[1:] for answer in answers],
    )


def _finite_difference(ask, args):
    """Is dx linear in dy, and does the shortcut pass it?"""
    dy, x, W = args
    one, two = ask(dy, x, W).outputs, ask(2 * dy, x, W).outputs
    still = ask(dy, x, 0 * W).outputs
    if not all((one, two, still)) or {part[0][0].shape for part in (one, two, still)} != {x.shape}:
        return []
    linear, passes = np.allclose(two[0][0], 2 * one[0][0]), np.allclose(still[0][0], dy)
    return [
        (linear, "doubling dy doubles dx", "doubling dy does not double dx", "not_linear"),
        (
            passes,
            "with W = 0, dx is dy",
            "with W = 0 only the shortcut is left, and dx should be dy",
            "skip_wrong",
        ),
    ]


residual_backward = Exercise(
    reference=layers.residual_backward,
    outputs=("dx", "dW"),
    probes=[
        (_random(2, 3, seed=3), _random(2, 3, seed=1), _random(3, 3, seed=2) * 0.6),
        (_random(4, 5, seed=4), _random(4, 5, seed=5), _random(5, 5, seed=6) * 0.4),
        (_random(4, 4, seed=7), _random(4, 4, seed=8), _random(4, 4, seed=9) * 0.5),
    ],
    space=Space(
        _residual_backward_model,
        RESIDUAL_SLIPS,
        alone=_swapped_besides(RESIDUAL_SLIPS),
        measured=_measured_decay,
    ),
    properties=_finite_difference,
    prompt=(
        "Write `residual_backward(dy, x, W)`, the gradients of y = x + tanh(x @ W), and return two things: `dx, dW`. "
        "`dy` and `x` have shape (n, d), `W` (d, d). `x` reaches y on two paths, and what comes back on them is added. "
        "`dW` is the sum over the n rows, not the average."
    ),
    hints=[
        "What comes back on the shortcut? Exactly what arrived: dy.",
        "On the branch: first back through tanh, dz = dy * (1 - tanh(z)**2) with z = x @ W; then through the product.",
        "For z = x @ W: the gradient of x is dz @ W.T, that of W is x.T @ dz.",
    ],
    difficulty=2,
    minutes=10,
)  # fmt: skip

# ------------------------------------------------------------------------------ backprop_chain


START = {"ones": "np.ones_like(dout)", "averaged": "dout / len(dout)", "zeros": "0 * dout"}
DZ = {
    "missing in the last": "dh if i == last else dz",
    "missing in the first": "dh if i == 0 else dz",
    "tanh of output": "dh * (1 - np.tanh(h_next)**2)",
    "output": "dh * (1 - h_next**2)",
}
INSIDE = "np.tanh(z + (h if residual else 0))"
WHERE_IT_FITS = "np.tanh(z) + (h if residual or z.shape == h.shape else 0)"
FORWARD = {  # what a layer gives
    "plain": "np.tanh(z)",
    "residual": "np.tanh(z) + h",
    "ignored": "np.tanh(z) + h",
    "residual, where it fits": WHERE_IT_FITS,
    "ignored, where it fits": WHERE_IT_FITS,
    "linear": "z + (h if residual else 0)",
    "relu": "np.maximum(z, 0) + (h if residual else 0)",
    "inside": INSIDE,
    "inside, slope without": INSIDE,
    "inside, both ways": INSIDE,
    "from x": "np.tanh(z) + (x if residual else 0)",
    "multiplied": "np.tanh(z) + residual * h",
}
OVERWRITTEN = {"overwritten": 0, "overwritten after the first": 1}  # entries that stay as they were
ENDS = {  # of the list, the last entry first, as it is filled
    "right": "dhs",
    "dz": "dhs[:1] + dzs",
    "dz in place": "dzs + dhs[-1:]",
    "first missing": "dhs[:-1]",
    "last missing": "dhs[1:]",
    "last 0": "[0 * dhs[0]] + dhs[1:]",
}
PUT = {  # the whole list, as the loop fills it -> as it is returned
    "at the start": lambda found: tuple(found[::-1]),
    "at the end": tuple,
    "before the last": lambda found: tuple(found[1:] + found[:1]),
}
ORDERS = {  # of dhs, of dWs
    "right": ("at the start", "at the start"),
    "dhs": ("at the end", "at the start"),
    "dWs": ("at the start", "at the end"),
    "both": ("at the end", "at the end"),
    "dhs before the last": ("before the last", "at the start"),
    "dWs before the last": ("at the start", "before the last"),
    "both before the last": ("before the last", "before the last"),
}
BOTH_WAYS = {"ignored": "always", "ignored, where it fits": "always, where it fits"}
PASSES = {  # does the gradient pass the shortcut of layer i?
    "right": "residual",
    "always": "True",
    "always, where it fits": "residual or fits",
    "inverted": "not residual",
    "inverted, where it fits": "not residual and fits",
    "all but the first": "residual and i > 0",
    "all but the last": "residual and i < last",
    "first layer": "residual and i == 0",
    "last layer": "residual and i == last",
}


def _forward(x, Ws, residual, forward):
    """What goes into each layer, and what comes out of the last."""
    step, hs = FORWARD.get(forward, "np.tanh(z) + (h if residual else 0)"), [x]
    for W in Ws:
        hs.append(evaluate(step, x=x, h=hs[-1], z=hs[-1] @ W, residual=residual))
    return _overwritten(hs, forward) if residual else hs


def _overwritten(entries, choice):
    """The list when one array is put in again and again, and each `+=` changes it."""
    own = OVERWRITTEN.get(choice, len(entries))
    return entries[:own] + entries[-1:] * (len(entries) - own)


def _chain_model(x, Ws, dout, residual, local=SLOPE, upstream="right", back="dz @ W.T", dW="dW",
                 skip="down + dh", skip_when="right", forward="right", chain="right", slope_of="right", order="right",
                 ends="right", skip_in_dW=False, into="input"):  # fmt: skip
    """backprop_chain with switches."""
    hs = _forward(x, Ws, residual, forward)
    start, last = evaluate(START.get(chain, "dout"), dout=dout), len(Ws) - 1
    dhs, dWs, dzs = [start], [], []
    for i in range(len(Ws)) if chain == "forward order" else reversed(range(len(Ws))):
        names = {"i": i, "last": last, "residual": residual, "fits": Ws[i].shape[0] == Ws[i].shape[1], "x": x, "dout": dout,
                 "dh": start if chain == "restart" else dhs[-1], "h": hs[i + (into == "output")], "h_next": hs[i + 1], "h_before": hs[max(i - 1, 0)], "h_end": hs[-1],
                 "W": Ws[-1 if chain == "last matrix" else i], "W_next": Ws[min(i + 1, last)], "W_before": Ws[max(i - 1, 0)],
                 "W_wrapped": Ws[i - 1]}  # fmt: skip
        z = names["h_before"] @ names["W_before"] if slope_of == "below" else names["h"] @ names["W"]
        if residual and forward in ("inside", "inside, both ways"):
            z = z + names["h"]
        names["dz"] = _local(local, upstream, names["dh"], z, names["h"])
        if slope_of in DZ:
            names["dz"] = evaluate(DZ[slope_of], **names)
        names["dW"] = names["h"].T @ names["dz"]
        names["down"] = evaluate(back, **names)
        passes = evaluate(PASSES[BOTH_WAYS.get(forward, skip_when)], **names)
        if passes and forward == "inside, both ways":
            skip = "down + dz"
        below = evaluate(skip if passes else "down", **names)
        if chain == "last skipped" and i == last:
            below = names["dh"]
        dWs.append(evaluate("h.T @ (dz + dh)" if skip_in_dW and residual else dW, **names, dh_below=below))
        dzs.append(names["dz"])
        dhs.append(below)
    dhs = _overwritten(dhs, chain) if residual else dhs
    dhs = evaluate(ENDS[ends], dhs=dhs, dzs=dzs)
    return tuple(PUT[where](found) for where, found in zip(ORDERS[order], (dhs, dWs)))


def _chain_probe(widths, residual, rows=3):
    Ws = [_random(a, b, seed=100 + k) * 0.9 / np.sqrt(a) for k, (a, b) in enumerate(pairwise(widths))]
    return _random(rows, widths[0], seed=150), Ws, _random(rows, widths[-1], seed=160), residual


backprop_chain = Exercise(
    reference=layers.backprop_chain,
    outputs=("dhs[]", "dWs[]"),
    probes=[
        _chain_probe([3, 3], False, rows=2),
        _chain_probe([5, 5, 5, 5], False),
        _chain_probe([5, 4, 6, 3], False),
        _chain_probe([4, 4, 4], True),
        _chain_probe([5, 5, 5, 5], True),
        _chain_probe([4, 4], True, rows=4),
    ],
    space=Space(
        _chain_model,
        read(
            mistakes.LOCAL
            + mistakes.UPSTREAM
            + mistakes.CHAIN_BACK
            + mistakes.CHAIN_SKIP
            + mistakes.CHAIN_DW
            + mistakes.CHAIN_FLOW
        ),
        alone=read(mistakes.LOCAL_RARE + mistakes.CHAIN_ALONE),
    ),
    prompt=(
        "Write `backprop_chain(x, Ws, dout, residual)`: gradients in a stack of tanh layers, h[l+1] = tanh(h[l] @ W[l]), "
        "plus h[l] when `residual` is true; h[0] is `x`. `x` has shape (n, d), `Ws` is a list of L matrices, which "
        "may change the width where there is no shortcut; `dout` is the gradient at the last output. Return two lists, the earliest layer first: [dL/dh[0], ..., dL/dh[L]], L + 1 "
        "entries, the last of which is `dout`; and [dL/dW[0], ..., dL/dW[L-1]]. The gradients of W are sums over the n "
        "rows, not averages."
    ),
    hints=[
        "Two loops: forward, keeping every h; then backward, from the last layer to the first.",
        "One layer back: dz = dh * (1 - tanh(h @ W)**2), then h.T @ dz for W and dz @ W.T for h.",
        "With a shortcut the layer's input gets dh as well, unchanged.",
        "The backward loop fills its lists from the end: turn them round with `[::-1]`.",
    ],
    difficulty=4,
    minutes=20,
)

# ------------------------------------------------------------------------------ grad_norms


def _grad_norms_model(
    params,
    grads,
    length="np.sqrt((g**2).sum())",
    total="np.sqrt((true**2).sum())",
    everywhere=None,
    passed="grads",
):
    """grad_norms with switches."""
    grads = evaluate(passed, grads=grads)
    if everywhere:
        length, total = everywhere, "np.sqrt((per**2).sum())"
    true = np.array([np.sqrt((g**2).sum()) for g in grads])
    per = np.array([evaluate(length, g=g, p=p, grads=grads) for p, g in zip(params, grads)])
    # Of a learner who gets the list wrong, the total is mostly computed from the list.
    return (per,), (np.asarray(evaluate(total, true=true, per=per, params=params, grads=grads)),)


def _tensors(seed, *shapes, scale=1.0):
    return [_random(*shape, seed=seed + k) * scale / (k + 1) for k, shape in enumerate(shapes)]


def _lengths_and_total(slips):
    """A wrong length, in the list and in the total that is made of it."""
    return [
        replace(slip, decision="everywhere", message=slip.message + " The total is made of these lengths.")
        for slip in slips
        if slip.name != "squared"
    ]


def _measured_eps(probes, answers):
    """More slips: what is added to a length or under its root, read off the shortest gradients."""
    (_, grads), answer = probes[-1], answers[-1]
    if answer is None or [part.shape for (part,) in answer] != [(len(grads),), ()]:
        return []
    (lengths,), (total,) = answer
    in_list = _with_eps(read(mistakes.EPS), lengths[0], _norm(grads[0]))
    in_total = _with_eps(read(mistakes.EPS_TOTAL), total, np.sqrt(sum(_norm(g) ** 2 for g in grads)))
    return [*in_list, *_lengths_and_total(in_list), *in_total]


def _with_eps(templates, got, want):
    """The two templates, with what is added under the root and what is added to the length."""
    return [
        replace(
            template,
            choice=template.choice.replace("#", f"{eps:.8g}"),
            message=template.message.replace("#", f"{eps:.4g}"),
        )
        for template, eps in zip(templates, (got**2 - want**2, got - want))
    ]


grad_norms = Exercise(
    reference=layers.grad_norms,
    outputs=("per_tensor", "total"),
    probes=[
        (_tensors(0, (2, 2), (3,)), _tensors(10, (2, 2), (3,), scale=3.0)),
        (_tensors(1, (4, 5), (5,), (3, 3)), _tensors(20, (4, 5), (5,), (3, 3), scale=2.0)),
        (_tensors(2, (4, 4)), _tensors(30, (4, 4))),
        ([np.ones(3), np.ones((4, 4))], [_random(3, seed=33), 5 * _random(4, 4, seed=34)]),
        (_tensors(4, (2, 2)), _tensors(50, (2, 2), scale=1e-2)),
        (_tensors(3, (3,), (2, 2)), _tensors(40, (3,), (2, 2), scale=1e-3)),  # so short that an eps counts
    ],
    space=Space(
        _grad_norms_model,
        read(mistakes.LENGTHS + mistakes.TOTALS + mistakes.PASSED)
        + _lengths_and_total(read(mistakes.LENGTHS)),
        measured=_measured_eps,
        named=lambda names: (
            "the square root is missing, in the list and in the total: you return squared norms (sums of squares). Take "
            "the root of each sum of squares."
            if names == {"squared", "norms_added"} or names == {"squared", "total_squared"}
            else None
        ),
    ),
    prompt=(
        "Write `grad_norms(params, grads)` and return two things. `params` and `grads` are lists of arrays of the same "
        "shapes. First: the Euclidean length (root of the sum of squares) of each gradient, as one array (or list) of "
        "numbers. Second: the length of all gradients together, as one long vector; a number. `params` is only there to "
        "be at hand."
    ),
    remarks=[
        Remark(
            ([np.ones(3), np.ones((2, 2))], [np.zeros(3), np.zeros((2, 2))]),
            "eps_added",
            "Gradients that are all 0 have length 0, and yours do not get it. Nothing is divided here, so nothing needs to be "
            "added to the squares.",
        )
    ],
    hints=[
        "Euclidean length: square, sum, root.",
        "All together as one long vector: sum all squares before the root. Norms themselves do not add up.",
    ],
    difficulty=1,
    minutes=5,
)

# ------------------------------------------------------------------------------ clip_by_global_norm


def _clip_model(
    grads, max_norm, total="total", factor="np.minimum(1, max_norm / (total + 1e-6))", clip="clipped"
):
    """clip_by_global_norm with switches; total and factor may differ from array to array."""
    true = np.sqrt(sum((g**2).sum() for g in grads))
    names = {"grads": grads, "max_norm": max_norm, "norm": _norm}
    clipped = []
    for i, g in enumerate(grads):
        used = evaluate(total, **names, total=true, i=i, g=g)
        clipped.append(g * evaluate(factor, **names, total=used))
    return (tuple(evaluate(clip, **names, total=true, clipped=clipped)),)


def _measured_limit(probes, answers):
    """More slips: a max_norm of the learner's own, the largest length that is left."""
    usable = [a[0] for a in answers if a is not None]
    lengths = [np.sqrt(sum((g.astype(float) ** 2).sum() for g in grads)) for grads in usable]
    if not lengths or not 0 < max(lengths) < np.inf:
        return []
    text = f"max_norm is ignored: about {max(lengths):.4g} is used whatever it is. The factor is min(1, max_norm / total)."
    return [
        Slip(
            "max_norm_ignored",
            "factor",
            f"np.minimum(1, {max(lengths):.8g} / (total + 1e-6))",
            text,
        )
    ]


def _no_gradient(ask):
    """All gradients zero: nothing may be divided by 0."""
    grads = [np.zeros(3), np.zeros((2, 2))]
    answer = ask(grads, 1.0)
    if answer.outputs and alike(answer.outputs[0], grads):
        return None
    text = "Right for every other input, but gradients that are all 0 do not come back as 0."
    if answer.outputs and np.any(np.isnan(np.concatenate([*map(np.ravel, answer.outputs[0]), []]))):
        text += " Something is divided by a total of 0. Add a tiny number, max_norm / (total + 1e-6)."
    elif answer.error is not None:
        text += f" Your function raises {type(answer.error).__name__}: {exceptions.advice(answer.error)}"
    return "zero_gradients", text


def _clip_properties(ask, args):
    grads, max_norm = args
    outputs = ask(grads, max_norm).outputs
    if not outputs or len(outputs[0]) != len(grads):
        return []
    long = np.concatenate([g.ravel() for g in grads])
    clipped = np.concatenate([g.ravel() for g in outputs[0]])
    if clipped.shape != long.shape:
        return []
    one_factor = np.allclose(clipped * long[0], long * clipped[0])
    length = _norm(clipped)
    return [
        (one_factor, "all entries share one factor", "not all entries share one factor", "per_tensor"),
        (
            length <= max_norm * (1 + 1e-6),
            "together they are no longer than max_norm",
            f"together they still have length {length:.4g}",
            "too_long",
        ),
    ]


clip_by_global_norm = Exercise(
    reference=layers.clip_by_global_norm,
    outputs=("clipped[]",),
    probes=[
        (_tensors(40, (3,), (2,), scale=4.0), 1.0),
        (_tensors(41, (3,), (2,), scale=4.0), 2.5),
        (_tensors(42, (3,), (2, 2), scale=0.1), 1.0),
        (_tensors(43, (3, 2), (4,), (2,), scale=1.0), 2.0),
        (_tensors(44, (4,), scale=5.0), 1.5),
        ([np.array([0.3, 0.2]), np.array([0.3])], 0.4),
        ([np.array([1.5, 1.0]), np.array([1.0])], 3.0),
        (_tensors(46, (4,), (2, 2), (3,), scale=5.0)[::-1], 1.5),
        (_tensors(45, (3,), (2,), (3,), scale=0.5), 0.3),
    ],
    space=Space(_clip_model, read(mistakes.CLIP), measured=_measured_limit),
    properties=_clip_properties,
    extras=[_no_gradient],
    prompt=(
        "Write `clip_by_global_norm(grads, max_norm)`: scale all gradients by one factor, so that together, as one long "
        "vector, they are no longer than `max_norm`. Gradients that are short enough come back unchanged, zero gradients "
        "as zeros (divide by the total + 1e-6). `grads` is a list of arrays; return a list of arrays of the same shapes "
        "and change nothing in place."
    ),
    hints=[
        "One number for all: the root of the sum of all squares of all gradients.",
        "Never make gradients longer: the factor is at most 1.",
        "`factor = min(1.0, max_norm / (total + 1e-6))`.",
    ],
    difficulty=2,
    minutes=5,
)

# ------------------------------------------------------------------------------ sgd_steps


def _keeper():
    """Two functions for what is kept from step to step: to read a running sum, and to add to it.

    Its factor tells one sum from another: keep(k, value) -> k * (what was kept) + value.
    """
    sums: dict = {}

    def keep(factor, value):
        sums[factor] = factor * sums.get(factor, 0) + value
        return sums[factor]

    return lambda factor: sums.get(factor, 0), keep


def _sgd_model(w, grad_fn, batches, lr, start="w", used="batches", before="w", gradient="grad_fn(w, b)", decay=0,
               step="w - lr * g", direction="down", after="w", returned="w"):  # fmt: skip
    """sgd_steps with switches; gradients are those at the start."""
    w = evaluate(start, w=w)
    kept, keep = _keeper()
    names = {"w": w, "start": w, "grad_fn": grad_fn, "batches": batches, "lr": lr, "n": len(batches), "g": 0 * w,
             "kept": kept, "keep": keep, "gradients": [grad_fn(w, b) for b in batches]}  # fmt: skip
    trail = []
    for i, b in enumerate(evaluate(used, **names)):
        names |= {"i": i, "b": b, "previous": names["g"]}
        names["w"] = evaluate(before, **names)
        names["g"] = evaluate(gradient, **names) + float(decay) * names["w"]
        moved = evaluate(step, **names)
        names["w"] = evaluate(
            after, **names | {"w": 2 * names["w"] - moved if direction == "uphill" else moved}
        )
        trail.append(names["w"])
    return ((evaluate(returned, **names, trail=trail),),)


SGD_SLIPS = read(mistakes.SGD)


def _measured_steps(probes, answers):
    """More slips: numbers of the learner's own, uphill too, and the batches in an order of the learner's own."""
    uphill = [slip for slip in SGD_SLIPS if slip.decision == "direction"]
    numbers = fitted(_sgd_model, read(mistakes.SGD_MEASURED), probes, answers, [(), uphill])
    return numbers + _other_order(probes, answers)


def _other_order(probes, answers):
    """A slip if steps with these batches in another order explain the answers."""
    orders = {}
    for args, answer in sorted(zip(probes, answers), key=lambda pair: len(pair[0][2])):
        places = range(len(args[2]))
        for order in (*permutations(places), *product(places, repeat=len(places))):
            used = f"[batches[i] for i in {order}]"
            if answer is not None and alike(answer[0], _sgd_model(*args, **{"used": used})[0]):
                orders[len(places)] = order
                break
        else:
            return []
    text = "the batches are used in another order than that of the list: are they shuffled or sorted? Take them as they come."
    if any(len(set(order)) < n for n, order in orders.items()):
        text = "some batches are used more than once and others not at all; each of them takes one step, in the order of the list."
    return [Slip("order_wrong", "used", f"[batches[i] for i in {orders}[n]]", text)]


def _pull(w, batch):
    """gradient of |w - batch + 0.1|^2 / 2 with a curvature"""
    return (1 + np.arange(w.size).reshape(w.shape) / w.size) * (w - batch + 0.1)


def _sgd_probe(shape, steps, lr):
    return (
        _random(*shape, seed=70) + 1,
        _pull,
        [_random(*shape, seed=80 + k) * (k + 1) for k in range(steps)],
        lr,
    )


sgd_steps = Exercise(
    reference=layers.sgd_steps,
    outputs=("w",),
    probes=[
        _sgd_probe((2,), 2, 0.1),
        _sgd_probe((3,), 1, 0.1),
        _sgd_probe((3,), 4, 0.3),
        _sgd_probe((2, 3), 3, 0.05),
    ],
    space=Space(_sgd_model, SGD_SLIPS, measured=_measured_steps),
    properties=None,
    prompt=(
        "Write `sgd_steps(w, grad_fn, batches, lr)`: one step of stochastic gradient descent a batch, in order, and "
        "return the last weights. `w` is an array, `grad_fn(w, batch)` gives the gradient at `w`, `batches` is a list, "
        "`lr` a number. Each gradient is taken at the weights of its step; no momentum, no decay. Leave the array that was passed in as it is."
    ),
    hints=[
        "Downhill: w minus lr times the gradient.",
        "Ask for the gradient inside the loop, at the weights of that step.",
        "`w -= ...` writes into the caller's array; `w = w - ...` does not.",
    ],
    difficulty=1,
    minutes=5,
)
