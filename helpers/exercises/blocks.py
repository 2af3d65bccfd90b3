"""Residual connections: the blocks, what is put where, and in which order."""

from dataclasses import replace

import numpy as np

from .. import layers
from .core import Exercise, Remark
from .fitting import fitted
from .formulas import evaluate
from .mistakes import blocks as mistakes
from .norms import rows
from .slips import Slip, Space, read

# ------------------------------------------------------------------------------ inputs


def branch(d_in, d_out, seed, bias=0.3):
    """A branch f, and what it is called in messages."""
    r = np.random.default_rng(seed)
    W, b = r.standard_normal((d_in, d_out)) / np.sqrt(d_in), bias * r.standard_normal(d_out)

    def f(x):
        return np.tanh(x @ W + b)

    f.__doc__ = "tanh(x @ W + b)"
    return f


def attention(d, seed):
    """A stand-in for attention: the branch's result, and what the earlier tokens gave on average."""
    f = branch(d, d, seed)

    def attn(x):
        h = f(x)
        count = np.arange(1, h.shape[-2] + 1).reshape(-1, 1)
        return h + np.cumsum(h, axis=-2) / count

    attn.__doc__ = "tanh(x @ W + b), plus its mean over the tokens so far"
    return attn


def projection(d_in, d_out, seed):
    """A projection for the shortcut."""
    W = np.random.default_rng(seed).standard_normal((d_in, d_out))

    def proj(x):
        return x @ W

    proj.__doc__ = "x @ W"
    return proj


def norm(d, seed):
    """A LayerNorm with its own gamma and beta, none of them 1 or 0; ValueError for another width."""
    r = np.random.default_rng(seed)
    gamma, beta = r.uniform(0.5, 2, d), r.uniform(-1, 1, d)

    def normalize(x):
        if np.shape(x)[-1:] != (d,):
            why = "they stand along the last axis"
            if np.shape(x)[-1:] == (2 * d,):
                why = "where x and a branch are concatenated the width doubles; a residual block adds them, so that the shape stays"
            raise ValueError(
                f"`norm` normalizes vectors of {d} numbers and was given shape {np.shape(x)}; {why}"
            )
        return layers.layer_norm(x, gamma, beta, eps=0.1)  # so large that a factor before the norm shows

    normalize.__doc__ = "a LayerNorm with its own gamma and beta"
    return normalize


INPUTS = [rows(2, 3), rows(4, 6), rows(5, 5), rows(2, 3, 4)]

# ------------------------------------------------------------------------------ residual_block


def _summary(formula):
    """'Your function computes ...'; what it should compute is left to be found."""
    return lambda choices: f"Your function computes `{formula(**choices)}`."


def _joined(skip="x", inner="x", around="f({})", together="{} + {}", outer="{}"):
    """The formula of a block: skip, what the branch is given, how the two are joined, what comes after."""
    inside = around.format(inner)
    return outer.format(together.format(skip, inside) if skip else inside)


def _residual_model(x, f, **choices):
    return ((evaluate(_joined(**choices), x=x, f=f),),)


def _scaled(model, templates, *bases):
    """More slips: numbers by which something is multiplied, alone or besides one of the bases."""
    singles = [(), *((slip,) for slip in bases)]
    return lambda probes, answers: fitted(model, templates, probes, answers, singles)


def _flows(ask, probe, names):
    """What the given functions received, for a block whose mistake is unknown."""
    x, seen = probe[0], []

    def spy(name, f):
        def spied(a):
            seen.append((name, np.array(a, copy=True) if isinstance(a, np.ndarray) else None))
            return f(a)

        return spied

    functions: dict = {}
    for name, value in zip(names, probe[1:]):
        many = enumerate(value) if isinstance(value, list) else ()
        functions |= {f"{name}[{i}]": f for i, f in many} or {name: value}
    values = {"x": x} | {f"{name}(x)": f(x) for name, f in functions.items()}
    spies = {name: spy(name, f) for name, f in functions.items()}
    ask(x, *([spies[f"{name}[{i}]"] for i in range(len(value))] if isinstance(value, list) else spies[name]
             for name, value in zip(names, probe[1:])))  # fmt: skip
    facts: list = []
    for name in functions:
        received = [a for called, a in seen if called == name]
        if not received:
            facts.append((False, "", f"`{name}` is never called", f"{name}_not_used"))
            continue
        known = [next((k for k, v in values.items() if a is not None and v.shape == a.shape and np.allclose(v, a)),
                      "something else") for a in received]  # fmt: skip
        times = {1: "once", 2: "twice"}.get(len(known), f"{len(known)} times")
        facts.append((True, f"`{name}` is called {times}, with {', then with '.join(known[:4])}", "", None))
    return facts


def _itself(x):
    """x itself"""
    return x


WRITTEN_INTO = (
    "With a branch that returns its own input (an identity) x is changed: `h = f(x)` and then `h += x` writes into what f "
    "returned, which may be x or something f still needs. Write `h = h + x`."
)

OVERWRITTEN = {
    frozenset(
        {"skip_of_branch", "branch_twice"}
    ): "f(x) stands where x belongs, in the shortcut and in the branch, "
    "and x is lost. Keep x, and give f(x) another name."
}

residual_block = Exercise(
    reference=layers.residual_block,
    outputs=("y",),
    probes=[(x, branch(x.shape[-1], x.shape[-1], 1)) for x in INPUTS],
    space=Space(
        _residual_model,
        read(mistakes.SKIPS + mistakes.JOINS + mistakes.MISSING + mistakes.OUTERS + mistakes.RESIDUAL),
        measured=_scaled(_residual_model, read(mistakes.SCALED_SUM + mistakes.SCALED)),
        summary=_summary(_joined),
        named=lambda names: (
            "The shortcut is missing: x itself is not added to what the branch gives."
            if "skip_missing" in names
            else OVERWRITTEN.get(names)
        ),
    ),
    properties=lambda ask, probe: _flows(ask, probe, ("f",)),
    remarks=[Remark((rows(2, 3), _itself), "branch_written_into", WRITTEN_INTO)],
    prompt=(
        "Write `residual_block(x, f)`: the branch's output is added to its input. `x` has shape (..., d); `f` is a "
        "function that takes such an array and returns one of the same shape. Return their sum, shaped like `x`; leave "
        "`x` as it is."
    ),
    hints=[
        "Two lanes: one carries x as it is, the other goes through f. Where they meet, they are added.",
        "`x += ...` writes into the caller's array; make a new one.",
    ],
    difficulty=1,
    minutes=3,
)

# ------------------------------------------------------------------------------ projected_residual

_RIGHT_PROJECTED = "(x if x.shape == f(x).shape else proj(x)) + f(x)"


def _projected_model(x, f, proj, formula=_RIGHT_PROJECTED, outer="{}"):
    return ((evaluate(outer.format(formula), x=x, f=f, proj=proj),),)


def _projected_probe(x, width):
    d = x.shape[-1]
    return x, branch(d, width, 1), projection(d, width, 5)


projected_residual = Exercise(
    reference=layers.projected_residual,
    outputs=("y",),
    probes=[
        _projected_probe(rows(2, 3), 4),
        _projected_probe(rows(2, 3), 3),
        _projected_probe(rows(4, 6), 6),
        _projected_probe(rows(4, 4), 6),
        _projected_probe(rows(4, 6), 2),
        _projected_probe(rows(4, 4), 1),
        _projected_probe(rows(2, 3, 4), 4),
        _projected_probe(rows(2, 3, 4), 5),
    ],
    space=Space(
        _projected_model,
        read(mistakes.PROJECTED),
        measured=_scaled(_projected_model, read(mistakes.SCALED_SUM + mistakes.SCALED_PROJECTED)),
    ),
    properties=lambda ask, probe: _flows(ask, probe, ("f", "proj")),
    prompt=(
        "Write `projected_residual(x, f, proj)`: a residual block that may change the width. `x` has shape (..., d); "
        "`f` and `proj` are functions that return (..., e). Where `f(x)` has the shape of `x`, the shortcut is `x` "
        "itself and `proj` is not used; where it differs, the shortcut is `proj(x)`. Return the shortcut plus `f(x)`, "
        "shaped like `f(x)`."
    ),
    hints=[
        "Compute the branch first, h = f(x), then look at its shape.",
        "NumPy adds (4, 6) and (4, 1) without a complaint: compare shapes, do not wait for an error.",
        "`shortcut = x if x.shape == h.shape else proj(x)`.",
    ],
    difficulty=2,
    minutes=5,
)

# ------------------------------------------------------------------------------ pre_norm_block and post_norm_block


def _pre(skip="x", inner="norm(x)", around="f({})", together="{} + {}", outer="{}"):
    return _joined(skip, inner, around, together, outer)


def _post(skip="x", inner="x", around="f({})", together="{} + {}", outer="norm({})"):
    return _joined(skip, inner, around, together, outer)


PRE_NAMED = {
    frozenset(
        {"norm_missing", "norm_of_sum"}
    ): "That is the post-norm block: the norm comes after the addition. In a "
    "pre-norm block it stands before the branch, and the stream stays as it is.",
    frozenset({"norm_missing", "branch_normalized"}): "The norm comes after the branch; it belongs before.",
    frozenset(
        {"norm_missing", "normalized_skip"}
    ): "The norm is on the wrong lane: the shortcut is normalized and the "
    "branch is not. Normalize what the branch is given, and leave the shortcut alone.",
    frozenset(
        {"norm_missing", "branch_after"}
    ): "The skip is added inside the branch, and nothing is normalized.",
    frozenset({"skip_missing", "norm_missing"}): "Shortcut and norm are both missing.",
    frozenset(
        {"skip_missing", "skip_inside"}
    ): "The skip is added inside the branch, to what f is given; it is added to what f returns.",
}
POST_NAMED = {
    frozenset(
        {"norm_missing", "inner_normalized"}
    ): "That is the pre-norm block: the norm stands before the branch. In a "
    "post-norm block it comes last, after the addition.",
    frozenset(
        {"norm_missing", "branch_normalized"}
    ): "The residual is added after the norm: only the branch is "
    "normalized. Add first, then normalize the sum.",
    frozenset(
        {"norm_missing", "normalized_skip", "inner_normalized"}
    ): "x is normalized at the start, for the branch and "
    "the shortcut; in a post-norm block the norm comes last, after the addition.",
    frozenset({"skip_missing", "norm_missing"}): "Shortcut and norm are both missing.",
}


BESIDES = {"skip_missing", "normalized_skip", "norm_missing", "branch_normalized", "inner_normalized"}


def _norm_exercise(reference, formula, catalogue, scaled, named, prompt, hints):
    slips = read(catalogue)

    def model(x, f, norm, **choices):
        return ((evaluate(formula(**choices), x=x, f=f, norm=norm),),)

    return Exercise(
        reference=reference,
        outputs=("y",),
        probes=[(x, branch(x.shape[-1], x.shape[-1], 1), norm(x.shape[-1], 7)) for x in INPUTS],
        space=Space(
            model,
            slips,
            measured=_scaled(model, read(scaled), *(slip for slip in slips if slip.name in BESIDES)),
            most=3,
            summary=_summary(formula),
            named=named.get,
        ),
        properties=lambda ask, probe: _flows(ask, probe, ("f", "norm")),
        prompt=prompt,
        hints=hints,
        difficulty=2,
        minutes=5,
    )


pre_norm_block = _norm_exercise(
    layers.pre_norm_block,
    _pre,
    mistakes.PRE_NORM + mistakes.NORM_SKIPS + mistakes.OUTERS + mistakes.JOINS + mistakes.MISSING,
    mistakes.SCALED_SUM + mistakes.SCALED,
    PRE_NAMED,
    "Write `pre_norm_block(x, f, norm)`: normalize what the branch is given, and leave the stream alone. `f` and `norm` "
    "are functions from an array (..., d) to one of the same shape. The shortcut carries `x` itself, not its normalized "
    "copy; nothing follows the addition. Return an array shaped like `x`; leave `x` as it is.",
    [
        "There is one norm and it stands on the branch's lane. What does the other lane carry?",
        "Read it aloud: x plus f of norm of x.",
    ],
)

post_norm_block = _norm_exercise(
    layers.post_norm_block,
    _post,
    mistakes.POST_NORM + mistakes.NORM_SKIPS + mistakes.JOINS + mistakes.MISSING,
    mistakes.SCALED_NORM + mistakes.SCALED,
    OVERWRITTEN | POST_NAMED,
    "Write `post_norm_block(x, f, norm)`: the block of the first transformer, which normalizes after the addition. `f` "
    "and `norm` are functions from an array (..., d) to one of the same shape. The branch is given `x` as it is, its "
    "output is added to `x`, and the sum is normalized once. Return an array shaped like `x`; leave `x` as it is.",
    [
        "Add first, then normalize. What is added is x and f(x), both as they are.",
        "Read it aloud: norm of, x plus f of x.",
    ],
)

# ------------------------------------------------------------------------------ transformer_block

# One half of a block, on its input u with its function and its norm.
HALF = "{u} + {f}({n}({u}))"


def _transformer_formulas(
    first=HALF, second=HALF, both=None, flow="{second}", norms=("norm1", "norm2"), order=("attn", "ffn")
):
    """The two lines of a transformer block: h = ..., y = ..."""
    one = (both or first).format(u="x", f=order[0], n=norms[0])
    two = (both or second).format(u="h", f=order[1], n=norms[1])
    return one, flow.format(second=two, n1=norms[0], n2=norms[1])


def _transformer_model(x, attn, ffn, norm1, norm2, **choices):
    one, two = _transformer_formulas(**choices)
    names = {"attn": attn, "ffn": ffn, "norm1": norm1, "norm2": norm2, "x": x}
    return ((evaluate(two, **names, h=evaluate(one, **names)),),)


def _halves(catalogue):
    """The slips of a catalogue of halves: in both of them, in the first, in the second."""
    halves = {
        "both": {"what": "each half", "f": "f"},
        "first": {"what": "the first half", "f": "attn"},
        "second": {"what": "the second half", "f": "ffn"},
    }
    return [
        replace(slip, name=f"{slip.name}_{half}", decision=half)
        for half, words in halves.items()
        for slip in read(catalogue, **words)
    ]


def _transformer_summary(choices):
    one, two = _transformer_formulas(**choices)
    steps = f"h = {one}, then {two}" if "h" in two and one != "x" else two.replace("h", "x")
    return f"Your function computes `{steps}`."


transformer_block = Exercise(
    reference=layers.transformer_block,
    outputs=("y",),
    probes=[
        (
            x,
            attention(x.shape[-1], 1),
            branch(x.shape[-1], x.shape[-1], 2),
            *(norm(x.shape[-1], s) for s in (7, 8)),
        )
        for x in (rows(1, 2, 3), rows(2, 3, 4), rows(4, 4, 4))
    ],
    space=Space(
        _transformer_model,
        read(mistakes.TRANSFORMER) + _halves(mistakes.HALVES),
        measured=_scaled(_transformer_model, _halves(mistakes.SCALED_HALVES)),
        summary=_transformer_summary,
        named=lambda names: (
            "the halves are in the wrong order: attention comes first, then the feed-forward network."
            if names == {"norms_swapped", "order_swapped"}
            else None
        ),
    ),
    properties=lambda ask, probe: _flows(ask, probe, ("attn", "ffn", "norm1", "norm2")),
    prompt=(
        "Write `transformer_block(x, attn, ffn, norm1, norm2)`: two pre-norm residual blocks in a row. First attention "
        "with `norm1`, then, starting from its result, the feed-forward network with `norm2`. `x` has shape (batch, "
        "tokens, d), and the four functions keep the shape. Each half adds its branch to the stream as it is; nothing "
        "is normalized at the end. Return an array shaped like `x`; leave `x` as it is."
    ),
    hints=[
        "It is `pre_norm_block` twice. The second one starts where the first one ended.",
        "Give the result of the first half a name and use it everywhere in the second: in the norm and in the shortcut.",
        "`x = x + attn(norm1(x))`, and the same once more.",
    ],
    difficulty=2,
    minutes=8,
)

# ------------------------------------------------------------------------------ pre_norm_stack


ORDERS = {"own": "a", "reversed": "a[::-1]", "first": "[a[0]] * len(a)", "last": "[a[-1]] * len(a)", "final": "[final] * len(a)",
          "shifted": "a[1:] + a[:1]", "shifted back": "a[-1:] + a[:-1]"}  # fmt: skip
WHICH = {"right": "a", "all but last": "a[:-1]", "all but first": "a[1:]", "first": "a[:1]", "last": "a[-1:]", "twice": "a * 2"}  # fmt: skip
# start is the stack's input, h what has come of it so far.
BEGIN = {"first": "final(start)", "first too": "final(start)", "own first": "norms[0](start)"}
STEP = {
    "from the input": "h + f(n(start))",
    "skip of input": "start + f(n(h))",
    "scaled": "h + f(n(h)) / np.sqrt(blocks)",
    "averaged": "h + f(n(h)) / blocks",
    "input in every block": "start + h + f(n(h))",
    "one skip": "f(n(h))",
}
AFTERWARDS = {"one skip": "start + h", "input added": "start + h", "without input": "h - start"}
END = dict.fromkeys(("right", "first too", "own first"), "final(h)") | {
    "twice": "final(final(h))", "last of norms": "norms[-1](h)", "added": "h + final(h)", "of branches": "start + final(h)",
}  # fmt: skip


def _stack_model(x, fs, norms, final_norm, form=HALF, final="right", which="right", source="right",
                 norms_order="own", fs_order="own", both_orders="own"):  # fmt: skip
    """pre_norm_stack with switches."""
    fs = evaluate(ORDERS[fs_order], a=fs)
    norms = evaluate(ORDERS[norms_order], a=norms, final=final_norm)
    pairs = evaluate(ORDERS[both_orders], a=list(zip(fs, norms)))
    pairs = evaluate(WHICH[which], a=pairs)
    names = {"start": x, "final": final_norm, "norms": norms, "blocks": len(pairs)}
    h = evaluate(BEGIN.get(final, "start"), **names)
    for i, (f, n) in enumerate(pairs):
        if final == "before last" and i == len(pairs) - 1:
            h = final_norm(h)
        h = evaluate(STEP.get(source, form.format(u="h", f="f", n="n")), **names, f=f, n=n, h=h)
        if final == "every block" or final == "after first" and i == 0:
            h = final_norm(h)
    h = evaluate(AFTERWARDS.get(source, "h"), **names, h=h)
    return ((evaluate(END.get(final, "h"), **names, h=h),),)


def _in_each_block(catalogue):
    words = {"what": "each block", "f": "f"}
    return [replace(slip, decision="form") for slip in read(catalogue, **words)]


def _stack_probe(x, depth):
    d = x.shape[-1]
    return x, [branch(d, d, s) for s in range(depth)], [norm(d, 20 + s) for s in range(depth)], norm(d, 40)


pre_norm_stack = Exercise(
    reference=layers.pre_norm_stack,
    outputs=("y",),
    probes=[_stack_probe(rows(2, 3), 2), _stack_probe(rows(4, 6), 3), _stack_probe(rows(2, 3, 4), 4),
            _stack_probe(rows(4, 6), 1), _stack_probe(rows(4, 4), 2)],
    space=Space(
        _stack_model,
        read(mistakes.STACK) + _in_each_block(mistakes.HALVES),
        measured=_scaled(_stack_model, _in_each_block(mistakes.SCALED_HALVES)),
    ),
    properties=lambda ask, probe: _flows(ask, probe, ("fs", "norms", "final_norm")),
    prompt=(
        "Write `pre_norm_stack(x, fs, norms, final_norm)`: pre-norm blocks one after the other, block i with `fs[i]` "
        "and `norms[i]`, and after the last one `final_norm`, once. `x` has shape (..., d); `fs` and `norms` are lists "
        "of the same length of functions that keep the shape. Return an array shaped like `x`; leave `x` as it is."
    ),
    hints=[
        "Each block starts from the result of the one before: `x = x + ...` inside the loop.",
        "`for f, norm in zip(fs, norms)` walks along both lists.",
        "The stream is never normalized on the way. What must follow the last block?",
    ],
    difficulty=2,
    minutes=8,
)  # fmt: skip

# ------------------------------------------------------------------------------ residual_init_std


def _init_powers(ask, probe):
    """How the result goes with its arguments, for a formula that is not known."""

    def value(base_std, n_layer):
        outputs = ask(base_std, n_layer).outputs
        return float(outputs[0][0]) if outputs and outputs[0][0].shape == () else float("nan")

    with np.errstate(all="ignore"):
        base = np.log2(value(0.4, 8) / value(0.2, 8))
        depth = np.log2(value(0.2, 16) / value(0.2, 8))
    facts = []
    for name, power, right in (("base_std", base, 1), ("n_layer", depth, -0.5)):
        said = f"it goes with {name} to the power {power:.3g} (right: {right})"
        facts.append((np.isclose(power, right), said, said, name))
    return facts


def _measured_powers(probes, answers):
    """More slips: the result as c * base_std**p * n_layer**q, read off the answers."""
    if any(a is None or a[0][0].shape != () or not 0 < a[0][0] < np.inf for a in answers):
        return []
    logs = np.log([float(a[0][0]) for a in answers])
    terms = np.array([[1, np.log(base_std), np.log(n_layer)] for base_std, n_layer in probes])
    (c, p, q), *_ = np.linalg.lstsq(terms, logs, rcond=None)
    c, p, q = np.exp(c), round(p, 6) + 0.0, round(q, 6) + 0.0  # no -0
    texts = []
    if q > 0:
        texts = ["deeper stacks start with larger weights; divide by the root of the number of additions."]
    elif q == 0:
        texts = ["n_layer is ignored: the std does not shrink with depth."]
    elif q != -0.5:
        texts = [f"it goes with n_layer to the power {q:.4g}; variances add up, so it is -1/2."]
    elif p == 1:
        texts = [
            f"that counts {1 / c**2:.4g} additions for each layer; a transformer layer adds two branches to the stream."
        ]
    if p == 0:
        texts.append("base_std is ignored: multiply by it.")
    elif p != 1:
        texts.append(f"base_std comes in to the power {p:.4g}; it is just a factor.")
    text = " ".join(texts)
    powers = [name if e == 1 else f"{name} ** {e:.6g}" for name, e in (("base_std", p), ("n_layer", q)) if e]
    return [Slip("wrong_power", "formula", " * ".join([f"{c:.6g}", *powers]).removeprefix("1 * "), text)]


residual_init_std = Exercise(
    reference=layers.residual_init_std,
    outputs=("std",),
    probes=[(0.02, 12), (0.02, 1), (0.5, 3), (1.0, 48)],
    space=Space(
        lambda base_std, n_layer, formula="base_std / np.sqrt(2 * n_layer)": (
            (np.asarray(evaluate(formula, base_std=base_std, n_layer=n_layer)),),
        ),
        read(mistakes.INIT),
        measured=_measured_powers,
        summary=_summary(lambda formula: formula.replace("np.", "")),
    ),
    properties=_init_powers,
    prompt=(
        "Write `residual_init_std(base_std, n_layer)`: the std with which the last weights of each branch start in a "
        "stack of `n_layer` transformer layers. Each layer adds two branches to the stream (attention and "
        "feed-forward); what they add should together have a spread that does not grow with depth. Both arguments are "
        "numbers, and so is the result."
    ),
    hints=[
        "How many branches are added to the stream in all?",
        "The sum of N independent numbers has a std sqrt(N) times that of one.",
    ],
    difficulty=1,
    minutes=3,
)
