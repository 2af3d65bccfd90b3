"""What variants are made of: for each decision the choices, each with its words and its pieces of code.

A piece in curly brackets stands for what another decision has chosen, or for what its frame says (see `frames`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """prompt: what is asked for ("" for what is a mistake only); code: its pieces; wrong: to who does it unasked."""

    prompt: str
    code: dict | str
    wrong: str


# ------------------------------------------------------------------------------ how two things are joined

JOIN = {
    "sum": Choice(
        "The shortcut and the branch are added.",
        {"joined": "{skip} + {branch}", "to_skip": "{d}", "to_branch": "{d}"},
        "you add shortcut and branch",
    ),
    "branch twice": Choice(
        "The branch counts twice: 2 times the branch is added to the shortcut.",
        {"joined": "{skip} + 2 * {branch}", "to_skip": "{d}", "to_branch": "2 * {d}"},
        "you take the branch twice",
    ),
    "shortcut twice": Choice(
        "The shortcut counts twice: the branch is added to 2 times the shortcut.",
        {"joined": "2 * {skip} + {branch}", "to_skip": "2 * {d}", "to_branch": "{d}"},
        "you take the shortcut twice",
    ),
    "difference": Choice(
        "The branch is subtracted from the shortcut.",
        {"joined": "{skip} - {branch}", "to_skip": "{d}", "to_branch": "-{d}"},
        "you subtract the branch from the shortcut",
    ),
    "average": Choice(
        "The shortcut and the branch are averaged: half of their sum.",
        {"joined": "({skip} + {branch}) / 2", "to_skip": "{d} / 2", "to_branch": "{d} / 2"},
        "you average shortcut and branch",
    ),
}

RESIDUAL = {
    "branch": {
        "once": Choice("The branch is f of x.", "f(x)", "you apply f once, to x"),
        "twice": Choice("The branch applies f twice, one after the other.", "f(f(x))", "you apply f twice"),
        "three times": Choice(
            "The branch applies f three times, one after the other.", "f(f(f(x)))", "you apply f three times"
        ),
        "of -x": Choice("The branch is f of minus x.", "f(-x)", "you give minus x to f"),
    },
    "join": JOIN,
    "last": {
        "nothing": Choice("That is all.", "{joined}", "nothing follows in yours"),
        "f": Choice("What comes out of that goes through f once more.", "f({joined})", "you apply f last"),
        "x": Choice("At the very end x is added once more.", "{joined} + x", "you add x at the end"),
    },
}

PROJECTED = {
    "same": {
        "x": Choice("Where f(x) is as wide as x, the shortcut is x.", "x", "for equal widths you take x"),
        "proj": Choice(
            "Where f(x) is as wide as x, the shortcut is proj(x) too.",
            "proj(x)",
            "for equal widths you take proj(x)",
        ),
    },
    "wider": {
        "proj": Choice(
            "Where f(x) is wider, the shortcut is proj(x).", "proj(x)", "for a wider f(x) you take proj(x)"
        ),
        "zeros": Choice(
            "Where f(x) is wider, the shortcut is x with zeros appended to each row.",
            "np.concatenate([x, np.zeros((*x.shape[:-1], e - d))], axis=-1)",
            "for a wider f(x) you append zeros",
        ),
    },
    "narrower": {
        "proj": Choice(
            "Where f(x) is narrower, the shortcut is proj(x).",
            "proj(x)",
            "for a narrower f(x) you take proj(x)",
        ),
        "first": Choice(
            "Where f(x) is narrower, the shortcut is the first e entries of each row of x.",
            "x[..., :e]",
            "for a narrower f(x) you take the first entries",
        ),
        "last": Choice(
            "Where f(x) is narrower, the shortcut is the last e entries of each row of x.",
            "x[..., d - e:]",
            "for a narrower f(x) you take the last entries",
        ),
    },
    "join": JOIN,
}

BLOCK = {
    "skip": {
        "plain": Choice("{The} shortcut carries {u} as it is.", "{u}", "your shortcut carries {u} as it is"),
        "norm": Choice(
            "{The} shortcut carries {u} normalized.", "{n}({u})", "your shortcut carries {u} normalized"
        ),
    },
    "inner": {
        "plain": Choice("{f} is given {u} as it is.", "{f}({u})", "you give {u} to {f} as it is"),
        "norm": Choice("{f} is given {u} normalized.", "{f}({n}({u}))", "you give {f} the normalized {u}"),
    },
    "outer": {
        "plain": Choice("What {f} returns is the branch.", "{inner}", "you use what {f} returns as it is"),
        "norm": Choice(
            "What {f} returns is normalized, and that is the branch.",
            "{n}({inner})",
            "you normalize what {f} returns",
        ),
    },
    "join": JOIN,
    "last": {
        "plain": Choice("That is all.", "{joined}", "nothing follows in yours"),
        "norm": Choice("What comes out of that is normalized.", "{n}({joined})", "you normalize last"),
    },
}
TWO_HALVES = BLOCK | {
    "order": {
        "attn": Choice(
            "The first half has `attn` with `norm1`, the second `ffn` with `norm2`.",
            {"first": "attn, norm1", "second": "ffn, norm2"},
            "you start with attn and norm1",
        ),
        "ffn": Choice(
            "The first half has `ffn` with `norm1`, the second `attn` with `norm2`.",
            {"first": "ffn, norm1", "second": "attn, norm2"},
            "you start with ffn and norm1",
        ),
        "crossed": Choice(
            "The first half has `attn` with `norm2`, the second `ffn` with `norm1`.",
            {"first": "attn, norm2", "second": "ffn, norm1"},
            "you start with attn and norm2",
        ),
    },
    "end": {
        "plain": Choice(
            "What the second half returns is the result.", "{h2}", "you add nothing to the result"
        ),
        "x": Choice(
            "At the very end the input of the whole block, x, is added.", "{h2} + x", "you add x at the end"
        ),
    },
}
STACK = BLOCK | {
    "order": {
        "forward": Choice(
            "The blocks come in the order of the lists, the first pair first.",
            {"pairs": "zip(fs, norms)", "order": "0, 1, ..., len(fs) - 1"},
            "you start with the first pair",
        ),
        "backward": Choice(
            "The blocks come in the opposite order of the lists, the last pair first.",
            {"pairs": "zip(fs[::-1], norms[::-1])", "order": "len(fs) - 1, ..., 1, 0"},
            "you start with the last pair",
        ),
    },
    "final": {
        "after": Choice(
            "`final_norm` is applied once, after the last block.",
            {"start": "x", "end": "final_norm(h)"},
            "you apply final_norm after the last block",
        ),
        "before": Choice(
            "`final_norm` is applied once, to x, before the first block; nothing follows the last one.",
            {"start": "final_norm(x)", "end": "h"},
            "you apply final_norm before the first block",
        ),
        "both": Choice(
            "`final_norm` is applied twice: to x before the first block, and after the last one.",
            {"start": "final_norm(x)", "end": "final_norm(h)"},
            "you apply final_norm at both ends",
        ),
        "long shortcut": Choice(
            "After the last block comes `final_norm`, and to what it returns x is added.",
            {"start": "x", "end": "final_norm(h) + x"},
            "you add x after final_norm",
        ),
    },
}

# ------------------------------------------------------------------------------ normalizations

NORM = {
    "axis": {
        "last": Choice(
            "Statistics are taken over the last axis, for each row by itself.",
            {"axis": "a.mean(axis=-1, keepdims=True)", "n": "x.shape[-1]"},
            "you take the statistics of each row",
        ),
        "first": Choice(
            "Statistics are taken over the first axis, for each column by itself.",
            {"axis": "a.mean(axis=0, keepdims=True)", "n": "len(x)"},
            "you take the statistics over the first axis",
        ),
        "halves": Choice(
            "Each row is cut into two halves of equal length, and each half has statistics of its own.",
            {
                "axis": "a.reshape(*a.shape[:-1], 2, -1).mean(axis=-1).repeat(a.shape[-1] // 2, axis=-1)",
                "n": "(x.shape[-1] // 2)",
            },
            "you take the statistics of each half of a row",
        ),
        "all": Choice(
            "", {"axis": "a.mean(keepdims=True)", "n": "x.size"}, "you take one statistic of the whole array"
        ),
    },
    "numerator": {
        "centred": Choice(
            "The numerator is the value minus the mean.",
            {"numerator": "x - mean(x)", "centring": "{through_mean}"},
            "you subtract the mean",
        ),
        "as it is": Choice(
            "The numerator is the value itself: no mean is subtracted from it.",
            {"numerator": "x", "centring": ""},
            "you leave the mean in",
        ),
    },
    "spread": {
        "std": Choice(
            "The spread is the standard deviation (about the mean, divided by n).",
            {
                "spread": "np.sqrt(mean((x - mean(x))**2))",
                "through_c": "",
                "through_x": " + k * (x - mean(x)) / {by}",
            },
            "you use the standard deviation",
        ),
        "rms": Choice(
            "The spread is the root mean square of the values as they are.",
            {"spread": "np.sqrt(mean(x**2))", "through_c": "", "through_x": " + k * x / {by}"},
            "you use the root mean square of the values",
        ),
        "mean_abs": Choice(
            "The spread is the mean of the numerator's absolute values.",
            {"spread": "mean(np.abs(c))", "through_c": " + k * np.sign(c){by_s}", "through_x": ""},
            "you use the mean absolute value of the numerator",
        ),
        "sum": Choice(
            "",
            {"spread": "np.sqrt({n} * mean(c**2))", "through_c": " + k * {n} * c / {by}", "through_x": ""},
            "you sum where a mean is asked for",
        ),
        "square": Choice(
            "",
            {"spread": "mean(c**2)", "through_c": " + k * 2 * c{by_s}", "through_x": ""},
            "you take no root of the mean square",
        ),
        "ddof": Choice(
            "",
            {
                "spread": "np.sqrt({n} / ({n} - 1) * mean((x - mean(x))**2))",
                "through_c": "",
                "through_x": " + k * {n} / ({n} - 1) * (x - mean(x)) / {by}",
            },
            "you divide by n - 1 (ddof=1)",
        ),
    },
    "eps": {
        "inside": Choice(
            "The numerator is divided by sqrt(spread² + eps).",
            {"eps": "np.sqrt(s**2 + eps)", "den": "np.sqrt(s**2 + eps)", "by": "den", "by_s": " * s / den"},
            "eps stands inside a root",
        ),
        "outside": Choice(
            "The numerator is divided by spread + eps.",
            {"eps": "(s + eps)", "den": "s + eps", "by": "s", "by_s": ""},
            "eps is added to the spread",
        ),
        "missing": Choice("", {"eps": "s", "den": "s", "by": "s", "by_s": ""}, "eps is not used"),
    },
    "gain": {
        "plain": Choice("The gain is `{gamma}`.", "{gamma}", "you multiply by {gamma}"),
        "one_plus": Choice("The gain is 1 + `{gamma}`.", "(1 + {gamma})", "you multiply by 1 + {gamma}"),
        "none": Choice("", "1", "you multiply by nothing"),
    },
    "shift": {
        "after": Choice(
            "`beta` is added after the gain.", "{quotient} * {gain} + beta", "you add beta after the gain"
        ),
        "before": Choice(
            "`beta` is added before the gain is applied.",
            "({quotient} + beta) * {gain}",
            "you add beta before the gain",
        ),
        "none": Choice("", "{quotient} * {gain}", "you add no beta"),
    },
    "residual": {
        "none": Choice(
            "No x is added anywhere.", {"quotient": "x_hat", "y": "{shift}", "to_x": ""}, "you add no x"
        ),
        "end": Choice(
            "At the very end x is added to the result.",
            {"quotient": "x_hat", "y": "{shift} + x", "to_x": " + dy"},
            "you add x at the end",
        ),
        "before": Choice(
            "Before the gain is applied, x is added to the quotient.",
            {"quotient": "(x_hat + x)", "y": "{shift}", "to_x": " + g"},
            "you add x before the gain",
        ),
    },
}
_BACK = {
    "paths": {
        "all": Choice(
            "All that is computed from `x` depends on `x`, and `dx` must say so.",
            {"through_mean": " - mean(dc)", "k": "-mean(g * c) / den**2"},
            "",
        ),
        "no mean": Choice(
            "",
            {"through_mean": "", "k": "-mean(g * c) / den**2"},
            "you treat the mean that is subtracted as a constant",
        ),
        "no spread": Choice(
            "", {"through_mean": " - mean(dc)", "k": "0 * den"}, "you treat the spread as a constant"
        ),
    },
    "sums": {
        "sum": Choice(
            "What reaches the parameters is summed over all rows (all axes but the last).",
            "sum",
            "you sum what reaches the parameters",
        ),
        "mean": Choice(
            "What reaches the parameters is averaged over all rows (all axes but the last), not summed.",
            "mean",
            "you average what reaches the parameters",
        ),
    },
}
NORM_BACKWARD = {d: NORM[d] for d in ("axis", "numerator", "spread", "eps", "gain", "residual")} | _BACK

MASKED = {
    "axis": {
        "batch": Choice(
            "Each channel has statistics over all real tokens of the batch.",
            {"axis": "(0, 1)", "n": "real.sum()"},
            "you take the statistics over the whole batch",
        ),
        "sequence": Choice(
            "Each channel of each sequence has statistics of its own, over the real tokens of that sequence.",
            {"axis": "1", "n": "real.sum(axis=1, keepdims=True)"},
            "you take the statistics of each sequence",
        ),
    },
    "mask": {
        "real": Choice(
            "`mask` is True where a token is real, False at the padding.",
            "mask",
            "you take True for a real token",
        ),
        "padding": Choice(
            "`mask` is True at the padding, False where a token is real.",
            "~mask",
            "you take True for padding",
        ),
    },
    **{d: NORM[d] for d in ("numerator", "spread", "eps", "gain", "shift")},
    "rest": {
        "zero": Choice("At the padding the result is 0.", "0", "you put 0 at the padding"),
        "x": Choice("At the padding the result is `x`, unchanged.", "x", "you leave x at the padding"),
        "beta": Choice("At the padding the result is `beta`.", "beta", "you put beta at the padding"),
    },
}

BATCH = {
    "channel": {
        "second": Choice(
            "The channels lie along axis 1: `x` has shape (N, C, ...). Each has statistics over all other axes.",
            {"inside": "x = np.moveaxis(x, 1, -1)\n", "out": "np.moveaxis({y}, -1, 1)"},
            "you take axis 1 for the channels",
        ),
        "last": Choice(
            "The channels lie along the last axis: `x` has shape (N, ..., C). Each has statistics over all other axes.",
            {"inside": "", "out": "{y}"},
            "you take the last axis for the channels",
        ),
    },
    "square": {
        "variance": Choice(
            "v is the variance (about the mean, divided by n).",
            "mean((x - mean(x))**2)",
            "you take the variance",
        ),
        "mean square": Choice(
            "v is the mean of the squares of the values as they are.",
            "mean(x**2)",
            "you take the mean of the squares",
        ),
    },
    "numerator": {
        "centred": Choice("The numerator is the value minus m.", "(x - m)", "you subtract the mean"),
        "as it is": Choice(
            "The numerator is the value itself: m is kept, but never subtracted.",
            "x",
            "you leave the mean in",
        ),
    },
    "root": {
        "inside": Choice(
            "The numerator is divided by sqrt(v + eps).", "np.sqrt(v + eps)", "eps stands in the root"
        ),
        "outside": Choice(
            "The numerator is divided by sqrt(v) + eps.", "(np.sqrt(v) + eps)", "eps is added to the root"
        ),
    },
    "gain": NORM["gain"],
    "shift": NORM["shift"],
    "momentum": {
        "new": Choice(
            "`momentum` is the weight of the new batch in the running statistics.",
            {"old_share": "(1 - momentum)", "new_share": "momentum"},
            "you give the new batch the weight momentum",
        ),
        "old": Choice(
            "`momentum` is the weight of the old running statistics.",
            {"old_share": "momentum", "new_share": "(1 - momentum)"},
            "you give the old statistics the weight momentum",
        ),
    },
    "kept": {
        "unbiased": Choice(
            "What goes into `running_var` is v times n / (n - 1), n being the number of values of a channel.",
            "v * n / (n - 1)",
            "you keep v * n / (n - 1)",
        ),
        "biased": Choice("What goes into `running_var` is v itself.", "v", "you keep v itself"),
    },
    "used": {
        "batch": Choice(
            "In training a batch is normalized by its own m and v.",
            {"after": "", "shown": ""},
            "you normalize by the batch's m and v",
        ),
        "updated": Choice(
            "In training a batch is normalized by the running statistics that it has just changed.",
            {
                "after": "    m, v = running_mean, running_var\n",
                "shown": "               m = running_mean\n               v = running_var\n",
            },
            "you normalize by the running statistics",
        ),
    },
    "when": {
        "training": Choice(
            "In evaluation (`training` false) the running statistics are m and v, and come back unchanged.",
            "training",
            "",
        ),
        "always": Choice("", "True", "you do in evaluation what belongs to training"),
    },
}

# ------------------------------------------------------------------------------ one layer and its gradients

LAYER = {
    "place": {
        "after": Choice(
            "The branch is the activation of z; z is the product alone.",
            {
                "z": "{product}",
                "y": "{joined}",
                "branch": "{act}",
                "dz": "{to_branch} * {slope}",
                "du": "dz",
                "d": "dy",
            },
            "you apply the activation to the product alone",
        ),
        "before": Choice(
            "The branch is the product; z is what shortcut and branch give together, and the activation is applied to z.",
            {
                "z": "{joined}",
                "y": "{act}",
                "branch": "{product}",
                "dz": "dy * {slope}",
                "du": "{to_branch}",
                "d": "dz",
            },
            "you apply the activation last",
        ),
    },
    "activation": {
        "tanh": Choice(
            "The activation is tanh.",
            {"act": "np.tanh(z)", "derivative": "(1 - np.tanh(z)**2)"},
            "you take tanh",
        ),
        "sigmoid": Choice(
            "The activation is the sigmoid, 1 / (1 + exp(-z)).",
            {"act": "(1 / (1 + np.exp(-z)))", "derivative": "np.exp(-z) / (1 + np.exp(-z))**2"},
            "you take the sigmoid",
        ),
        "sine": Choice(
            "The activation is the sine.",
            {"act": "np.sin(z)", "derivative": "np.cos(z)"},
            "you take the sine",
        ),
        "softplus": Choice(
            "The activation is the softplus, log(1 + exp(z)).",
            {"act": "np.log(1 + np.exp(z))", "derivative": "1 / (1 + np.exp(-z))"},
            "you take the softplus",
        ),
    },
    "matrix": {
        "plain": Choice(
            "The product is {x} @ {W}.",
            {"product": "{x} @ {W}", "back": "{W}.T", "dW": "{x}.T @ du"},
            "you multiply by the matrix as it is",
        ),
        "transposed": Choice(
            "The product is {x} @ {W}.T, with the matrix transposed.",
            {"product": "{x} @ {W}.T", "back": "{W}", "dW": "du.T @ {x}"},
            "you multiply by the transposed matrix",
        ),
    },
    "join": JOIN,
    "sums": {
        "sum": Choice(
            "The gradient of a matrix is summed over the n rows.", {"share": ""}, "you sum over the rows"
        ),
        "mean": Choice(
            "The gradient of a matrix is averaged over the n rows: the sum divided by n.",
            {"share": " / len(x)"},
            "you average over the rows",
        ),
    },
    "paths": {
        "all": Choice(
            "The input acts through the shortcut and through the branch; its gradient has both.",
            {"through": "{counts}", "slope": "{derivative}"},
            "",
        ),
        "no shortcut": Choice(
            "", {"through": "0 * ", "slope": "{derivative}"}, "what comes through the shortcut is missing"
        ),
        "no slope": Choice(
            "", {"through": "{counts}", "slope": "1"}, "the derivative of the activation is missing"
        ),
    },
}
CHAIN = LAYER | {
    "order": {
        "earliest": Choice(
            "Both lists start with the earliest layer: dL/dh[0] and dL/dW[0] come first.",
            "[::-1]",
            "your lists start with the earliest layer",
        ),
        "latest": Choice(
            "Both lists start with the last layer: dL/dh[0] and dL/dW[0] come last.",
            "",
            "your lists start with the last layer",
        ),
    },
    "ends": {
        "all": Choice(
            "The first list has L + 1 entries, `dout` among them.", "dhs", "your first list has dout in it"
        ),
        "no dout": Choice(
            "The first list has L entries: `dout`, which is dL/dh[L], is left out.",
            "dhs[1:]",
            "your first list is without dout",
        ),
    },
}

# ------------------------------------------------------------------------------ sizes, clipping, steps

SIZE = {
    "euclidean": Choice(
        "The size of an array is its Euclidean length, the root of the sum of squares.",
        "np.sqrt((a**2).sum())",
        "you take Euclidean lengths",
    ),
    "absolute": Choice(
        "The size of an array is the sum of its absolute values.",
        "np.abs(a).sum()",
        "you sum absolute values",
    ),
    "largest": Choice(
        "The size of an array is its largest absolute value.",
        "np.abs(a).max()",
        "you take the largest absolute value",
    ),
    "rms": Choice(
        "The size of an array is the root mean square of its entries.",
        "np.sqrt((a**2).mean())",
        "you take root mean squares",
    ),
}
SIZES = {
    "size": SIZE,
    "one": {
        "gradient": Choice(
            "The first result has the size of each gradient.",
            "size(g)",
            "you list the sizes of the gradients",
        ),
        "relative": Choice(
            "The first result has, for each pair, the size of the gradient divided by the size of the parameter.",
            "size(g) / size(p)",
            "you divide by the size of the parameter",
        ),
        "moved": Choice(
            "The first result has, for each pair, the size of the parameter minus the gradient.",
            "size(p - g)",
            "you take the size of the parameter minus the gradient",
        ),
    },
    "order": {
        "given": Choice("It is in the order of the lists.", "sizes", "yours is in the order of the lists"),
        "turned": Choice(
            "It is in the opposite order: the last pair comes first.",
            "sizes[::-1]",
            "yours starts with the last pair",
        ),
        "sorted": Choice(
            "It is sorted, the largest number first.",
            "np.sort(sizes)[::-1]",
            "yours is sorted, the largest first",
        ),
    },
    "total": {
        "joined": Choice(
            "The second result is the size of all gradients together, as one long vector.",
            "size(np.concatenate([g.ravel() for g in grads]))",
            "your second result is the size of one long vector",
        ),
        "sum": Choice(
            "The second result is the sum of the first.",
            "sizes.sum()",
            "your second result is the sum of the first",
        ),
        "mean": Choice(
            "The second result is the mean of the first.",
            "sizes.mean()",
            "your second result is the mean of the first",
        ),
        "largest": Choice(
            "The second result is the largest number of the first.",
            "sizes.max()",
            "your second result is the largest of the first",
        ),
    },
}
CLIP = {
    "size": SIZE,
    "whole": {
        "all": Choice(
            "All gradients share one factor, made from the size of all of them together, as one long vector.",
            "size(np.concatenate([g.ravel() for g in grads]))",
            "you use one factor for all gradients",
        ),
        "each": Choice(
            "Each gradient has a factor of its own, made from its own size.",
            "size(g)",
            "you use a factor for each gradient",
        ),
    },
    "limit": {
        "plain": Choice("The limit is `max_norm`.", "max_norm", "your limit is max_norm"),
        "grows": Choice(
            "The limit is `max_norm` times the root of the number of gradients in the list.",
            "max_norm * np.sqrt(len(grads))",
            "your limit grows with the number of gradients",
        ),
    },
    "rule": {
        "clip": Choice(
            "The factor is limit / (size + 1e-6), but never more than 1.",
            "min(1.0, limit / (t + 1e-6))",
            "you shorten what is too long and leave the rest",
        ),
        "always": Choice(
            "The factor is limit / (size + 1e-6), also where that is more than 1.",
            "limit / (t + 1e-6)",
            "you lengthen what is short",
        ),
        "soft": Choice(
            "The factor is limit / (limit + size): even short gradients are shortened a little.",
            "limit / (limit + t)",
            "you use limit / (limit + size)",
        ),
        "drop": Choice(
            "The factor is 0 where the size is above the limit, and 1 elsewhere.",
            "(0.0 if t > limit else 1.0)",
            "you set to 0 what is too long",
        ),
    },
}

STEP = {
    "decay": {
        "none": Choice(
            "There is no weight decay.", {"coupled": "", "decoupled": ""}, "you use no weight decay"
        ),
        "coupled": Choice(
            "Weight decay belongs to the gradient: 0.1 times the weights is added to each gradient.",
            {"coupled": " + 0.1 * w", "decoupled": ""},
            "you add 0.1 * w to the gradient",
        ),
        "decoupled": Choice(
            "Weight decay is separate: each step also takes away lr times 0.1 times the weights before the step.",
            {"coupled": "", "decoupled": " - lr * 0.1 * w"},
            "you take lr * 0.1 * w away from the weights",
        ),
    },
    "momentum": {
        "none": Choice("v is the gradient: there is no momentum.", "g", "you use no momentum"),
        "heavy": Choice(
            "v keeps 0.9 of its last value, to which the whole gradient is added; it starts at 0.",
            "0.9 * v + g",
            "you add the whole gradient to 0.9 of v",
        ),
        "average": Choice(
            "v keeps 0.9 of its last value, to which 0.1 of the gradient is added; it starts at 0.",
            "0.9 * v + 0.1 * g",
            "you add 0.1 of the gradient to 0.9 of v",
        ),
    },
    "direction": {
        "v": Choice("The direction is v.", "v", "your direction is v"),
        "sign": Choice(
            "The direction is the sign of v, entry by entry.", "np.sign(v)", "your direction is the sign of v"
        ),
        "unit": Choice(
            "The direction is v divided by its Euclidean length.",
            "v / np.sqrt((v**2).sum())",
            "your direction is v over its length",
        ),
    },
    "rate": {
        "constant": Choice("Each step has the factor lr.", "lr", "your steps all have the factor lr"),
        "falling": Choice(
            "The first step has the factor lr, the second lr / 2, the third lr / 3, and so on.",
            "lr / (t + 1)",
            "your factor is lr / (t + 1)",
        ),
        "halved": Choice(
            "The first step has the factor lr, and each later one half the factor of the one before.",
            "lr * 0.5**t",
            "you halve the factor after each step",
        ),
    },
    "sign": {
        "down": Choice("A step goes downhill: it is subtracted.", "-", "your steps go downhill"),
        "up": Choice("A step goes uphill: it is added.", "+", "your steps go uphill"),
    },
    "result": {
        "last": Choice(
            "Return the weights after the last step.",
            {"begin": "", "keep": "", "out": "w"},
            "you return the last weights",
        ),
        "mean": Choice(
            "Return the mean of the weights after each step (the first weights do not count).",
            {"begin": "total = 0 * w\n", "keep": "\n    total = total + w", "out": "total / len(batches)"},
            "you return the mean of the weights",
        ),
    },
}

START = {
    "branches": {
        str(count): Choice(
            f"Each layer adds {word} to the stream.",
            f"{count} * n_layer" if count > 1 else "n_layer",
            f"you count {word} a layer",
        )
        for count, word in ((1, "one branch"), (2, "two branches"), (3, "three branches"), (4, "four branches"))
    },
    "more": {
        "none": Choice("Nothing else is added.", {"count": "{branches}"}, "you count the branches alone"),
        "one": Choice(
            "Before the first layer one more branch is added, once.",
            {"count": "{branches} + 1"},
            "you count one branch more",
        ),
    },
    "scaled": {
        "plain": Choice("Branches are added as they are.", "np.sqrt(N)", "you take branches as they are"),
        "half": Choice("Each branch is multiplied by 0.5 before it is added.", "(0.5 * np.sqrt(N))", "you count with half branches"),
        "double": Choice("Each branch is multiplied by 2 before it is added.", "(2 * np.sqrt(N))", "you count with doubled branches"),
    },
    "goal": {
        "base": Choice(
            "All that is added should together have the std `base_std`.", "base_std", "your goal is base_std"
        ),
        "half": Choice(
            "All that is added should together have half of the std `base_std`.", "base_std / 2", "your goal is half of base_std"
        ),
        "twice": Choice(
            "All that is added should together have twice the std `base_std`.", "2 * base_std", "your goal is twice base_std"
        ),
    },
}  # fmt: skip
