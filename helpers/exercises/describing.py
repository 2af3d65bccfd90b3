"""What can be seen of a mistake that has no name: where, when, by how much, of which shape."""

import re
import sys

import numpy as np

from .comparing import alike, close, first_difference
from .running import unchanged

# ------------------------------------------------------------------------------ where


def where(exercise, outputs, index, given=True):
    """'`y[0, 1]` should be 1.2 and is 0.7, for x = ...' on the first probe that shows it; index: of the output."""
    name = exercise.outputs[index].removesuffix("[]")
    probe = next(i for i, o in enumerate(outputs) if not alike(o[index], exercise.wanted[i][index]))
    got, want = outputs[probe][index], exercise.wanted[probe][index]
    tail = arguments(exercise.parameters, exercise.probes[probe]) if given else ""
    if len(got) != len(want):
        return f"`{name}` has {len(got)} entries; {len(want)} are expected{tail}."
    part = next(i for i in range(len(got)) if not close(got[i], want[i]))
    if exercise.outputs[index].endswith("[]"):
        name += f"[{part}]"
    entry = first_difference(got[part], want[part])
    if entry is None:
        return f"`{name}` has shape {got[part].shape}; {want[part].shape} is expected{tail}."
    name += str(list(entry)) if entry else ""
    return f"`{name}` should be {want[part][entry]:.6g} and is {got[part][entry]:.6g}{tail}."


def arguments(parameters, args):
    """', for x = ...': the arguments, as long as they are short."""
    shown = []
    for name, value in zip(parameters, args):
        if isinstance(value, np.ndarray) and value.size > 12:
            shown.append(f"`{name}` of shape {value.shape}")
        elif isinstance(value, (int, float)):
            shown.append(f"`{name} = {value:.4g}`")
        elif isinstance(value, np.ndarray):
            text = np.array2string(value, precision=4, separator=", ", max_line_width=1000)
            shown.append(f"`{name} = {' '.join(text.split())}`")
        elif callable(value) and value.__doc__:
            shown.append(f"`{name}`: {value.__doc__}")
    return ", for " + ", ".join(shown) if shown else ""


def x_shape(exercise, probe):
    """'`x` of shape (2, 3)', or '' when there is no x."""
    args = dict(zip(exercise.parameters, exercise.probes[probe]))
    return f"`x` of shape {args['x'].shape}" if isinstance(args.get("x"), np.ndarray) else ""


# ------------------------------------------------------------------------------ when


def _number(name, value):
    return f"`{name} = {value}`" if isinstance(value, (int, float)) else None


def _axes(name, value):
    return f"`{name}` has {value.ndim} axes" if isinstance(value, np.ndarray) else None


def _square(name, value):
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return f"the last two axes of `{name}` are {'equal' if value.shape[-1] == value.shape[-2] else 'different'}"
    return None


def when(exercise, right):
    """' It is wrong exactly when ...' if one argument tells the wrong probes from the right ones."""
    for describe in (_number, _axes, _square):
        for k, name in enumerate(exercise.parameters):
            seen = [describe(name, args[k]) for args in exercise.probes]
            good = {text for text, holds in zip(seen, right) if holds}
            bad = {text for text, holds in zip(seen, right) if not holds}
            if good and None not in good | bad and not good & bad:
                return f" It is wrong exactly when {' or '.join(sorted(bad))}."
    return f" It is right for {sum(right)} of the {len(right)} inputs." if any(right) else ""


# ------------------------------------------------------------------------------ by how much


def ratio(exercise, outputs, index):
    """' Every entry is 2 times the right one.' when it is so, else ''."""
    ratios = []
    for got, want in zip(outputs, exercise.wanted):
        if _shapes(got[index]) != _shapes(want[index]):
            return ""
        a, b = (np.concatenate([*map(np.ravel, one[index]), []]) for one in (got, want))
        if not np.any(a) or not np.any(b):
            return ""
        ratios.append(a @ b / (b @ b))
        if not np.all(np.isfinite(a)) or not np.allclose(a, ratios[-1] * b, atol=1e-6 * np.abs(a).max()):
            return ""
    name = exercise.outputs[index].removesuffix("[]")
    if np.allclose(ratios, ratios[0]):
        return f" Every entry of `{name}` is {ratios[0]:.4g} times the right one."
    some = ", ".join(
        f"{r:.4g} for {x_shape(exercise, i) or f'input {i + 1}'}" for i, r in enumerate(ratios[:3])
    )
    return f" Every entry of `{name}` is right up to a factor that goes with the input: {some}."


def _shapes(arrays):
    return [array.shape for array in arrays]


def nearly(got, want):
    """Is the error about as small as float16's rounding?"""
    if [*map(_shapes, got)] != [*map(_shapes, want)]:
        return False
    pairs = [(a, b) for one, other in zip(got, want) for a, b in zip(one, other)]
    return all(np.max(np.abs(a - b), initial=0) < 2e-3 * np.max(np.abs(b), initial=0) for a, b in pairs)


# ------------------------------------------------------------------------------ of which shape


def shape(got, want):
    """' It is transposed ...': the likely reason for the first wrong shape, or ''."""
    for one, other in zip(got, want):
        if len(one) != len(other):
            return ""
        for a, b in zip(one, other):
            if a.shape != b.shape:
                return " " + _reason(a.shape, b.shape)
    return ""


def _reason(got, want):
    if got == want[::-1] and len(got) > 1:
        return "It is transposed: use `.T`, or exchange the two factors of the product."
    if len(want) > 1 and got[1:] == want and got[0] > 1:
        return (
            f"It holds {got[0]} arrays of the right shape: a tuple, a list of all steps, or an axis that was not summed away. "
            "Return the one array that is asked for."
        )
    if len(got) == len(want) + 1 and got[-1:] == want[-1:]:
        return "One axis too many is left: it was not summed (or averaged) away."
    if np.prod(got) == np.prod(want):
        return "The entries are all there; reshape them to the shape that is asked for."
    if not got:
        return "One number is left where an array belongs."
    if len(got) < len(want):
        return "An axis is gone: an average or sum without `keepdims=True`, or over too many axes."
    if len(got) == len(want) and any(g > w for g, w in zip(got, want)):
        return (
            "Broadcasting (or joining, or an outer product) made it larger: two arrays whose shapes do not line up were "
            "combined. Print the shape of each: averaged axes need `keepdims=True`, a sum over the rows is a product `a.T @ b`."
        )
    return "Print the shape after every step to see where it changes."


# ------------------------------------------------------------------------------ changed inputs, errors


def changed_in_place(name, before, after, outputs):
    """That an argument was changed: how, what writes into it, and what to write instead."""
    if isinstance(before, list) and (len(after) != len(before) or _rearranged(before, after)):
        return (
            f"Your function changes its argument `{name}`: afterwards the list has other entries, or the same ones in another "
            "order, and whoever called it still needs it. `.pop()`, `.append()`, `.reverse()` and `.sort()` change the list "
            f"itself; use a loop or an index, and `{name}[::-1]` for the other order."
        )
    why = "may still need the old values"
    if name in ("x", "dy"):
        why = "still needs the old values: in a network the shortcut or the backward pass uses them"
    instead = f"start from `{name}.copy()`"
    if isinstance(before, list) and isinstance(before[0], np.ndarray):
        instead = f"make a new list, such as `[2 * a for a in {name}]`; `{name}.copy()` copies only the list, not its arrays"
    return (
        f"Your function changes its argument `{name}` in place{how_changed(before, after, outputs)}. Whoever called it {why}. "
        "`a += b`, `a /= b`, `a[...] = b` and `out=a` write into the same array; write `a = a + b` and so on, or "
        f"{instead}."
    )


def _rearranged(before, after):
    """Does the list still hold what it held before?"""
    return all(any(unchanged(a, b) for b in before) for a in after)


def how_changed(before, after, outputs):
    """': afterwards it holds ...' when that can be seen, else ''."""
    arrays = isinstance(after, np.ndarray) and isinstance(before, np.ndarray)
    if not arrays or before.shape != after.shape or not before.ndim:
        return ""
    guesses = {
        "its negative entries are 0, as an in-place ReLU leaves them, so the shortcut has lost them": np.maximum(
            before, 0
        ),
        "its mean is subtracted": before - before.mean(axis=-1, keepdims=True),
        "it holds the normalized values": (before - before.mean(axis=-1, keepdims=True))
        / np.maximum(before.std(axis=-1, keepdims=True), 1e-300),
    }
    if outputs:
        guesses = {"it holds the result": outputs[0][0]} | guesses
    for text, guess in guesses.items():
        if guess.shape == after.shape and np.allclose(after, guess, rtol=1e-3, atol=1e-6):
            return f": afterwards {text}"
    return ""


TWO_AXES_ONLY = (
    "It works for two axes only. Write it for any number of leading axes: `axis=-1, keepdims=True` for the last axis, not "
    "`axis=1`; `[..., None]` for a new axis at the end, not `[:, None]`; and mind that `.T` reverses all the axes."
)


def two_axes_only(exercise, right):
    """Is it wrong for every x with more than two axes, and right for every other one?"""
    axes = [np.ndim(dict(zip(exercise.parameters, args)).get("x", 0)) for args in exercise.probes]
    more = [a > 2 for a in axes]
    return 2 in axes and any(more) and all(good != m for m, good in zip(more, right))


def first_line(error):
    """What the exception says, shortened."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        return ""
    return lines[0][:200] if lines else ""


def related(error, other):
    """Is one of them of the other's kind? By name: an exception from another process has been made anew."""
    one, two = ([kind.__name__ for kind in type(e).__mro__] for e in (error, other))
    return one[0] in two or two[0] in one


def sizes(error):
    """The numbers in what an exception says: where shapes do not fit, they are the sizes."""
    return set(re.findall(r"\d+", first_line(error)))


ADVICE = {
    RecursionError: "It calls itself without end: inside, call the functions you were given, or write the formula.",
    NotImplementedError: "Part of the function is still to be written.",
    UnboundLocalError: "A variable is used before it gets its value.",
    AttributeError: "What stands left of the dot is of another type than you think; print its type.",
    NameError: "Is the name spelled the same everywhere, and is it an argument or made before that line?",
    IndexError: "An index is past the end; print the length and the index.",
    ZeroDivisionError: "Something is divided by 0; think of a row of equal numbers, or of no gradient at all.",
    TypeError: "A function got arguments of another type or number than it takes; print the types there.",
    SystemExit: "Do not leave the program from inside a function; use `return`.",
}


IN_NUMPY = {  # what PyTorch calls otherwise
    "dim": "`axis`", "keepdim": "`keepdims`", "unbiased": "`ddof=0` or `ddof=1`", "pow": "`**`", "rsqrt": "`1 / np.sqrt(...)`",
    "clone": "`.copy()`", "detach": "nothing at all", "unsqueeze": "`[..., None]`", "permute": "`.transpose`", "norm": "`np.linalg.norm`",
    "grad": "an array of its own, which is given or computed", "torch": "`np`, as far as NumPy has it", "item": "`float(...)`",
    "cat": "`np.concatenate`", "sqrt": "`np.sqrt(...)`", "contiguous": "nothing at all", "requires_grad": "nothing at all",
    "numpy": "the array itself", "softmax": "`np.exp` and a sum", "view": "`.reshape`", "float": "`.astype(np.float64)`", "t": "`.T`",
    "mm": "`@`", "matmul": "`@`", "bmm": "`@`", "exp": "`np.exp(...)`", "tanh": "`np.tanh(...)`", "abs": "`np.abs(...)`",
}  # fmt: skip
NAMED = r"(?:argument|attribute|name) '(\w+)'"
SAID = {  # a pattern of what an exception says: what to try
    r"'function'|'builtin_function_or_method'": "A function stands where its result belongs: call it, with its argument in brackets.",
    r"positional argument": "A function is called with too many or too few arguments; the exercise says what each one takes.",
    r"converted to Python scalar": "`math` and `float` take one number; for arrays there are `np.sqrt`, `np.tanh` and so on.",
    r"bitwise_xor|for \^": "In Python `^` is no power; write `**`.",
    r"'list' object is not callable": "A list of functions cannot be called; call one of them: take it by its index, or go through the list in a loop.",
    r"inhomogeneous|same number of dimensions|dimensions except for the concatenation axis|'list'|multiply sequence": (
        "A list of arrays is no array: go through it in a loop. If you need all their numbers in one vector, join "
        "`[a.ravel() for a in ...]` with `np.concatenate`."
    ),
    r"to unpack": "One thing is taken apart into several names: does what stands on the right give as many?",
    r"broadcast|not aligned|matmul": (
        "Two shapes do not fit together. Print the shapes on that line. One factor of a product may need `.T`; an average, if "
        "there is one, needs `keepdims=True` to line up with what it came from."
    ),
}  # fmt: skip


def advice(error):
    """What to try after an exception, by its kind."""
    text = first_line(error)
    name = (re.findall(NAMED, text) or [""])[-1]
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        if name in sys.stdlib_module_names or name == "np":
            return f"`{'import numpy as np' if name == 'np' else f'import {name}'}` is missing above the function."
        if hasattr(np, name):
            return f"If you mean NumPy's, it is `np.{name}`; a variable of yours has to be made before that line."
    foreign = IN_NUMPY.get(name) or ("`a = a * b` and so on" if name.endswith("_") else None)
    if foreign and isinstance(error, (TypeError, AttributeError, NameError)):
        return f"That is PyTorch's spelling, and these are NumPy arrays; in NumPy it is {foreign}."
    if isinstance(error, ValueError) and "axis" in text and "out of bounds" in text:
        return (
            "It counts on more axes than the input has. The number of axes differs from call to call: make the axes from "
            "`x.ndim`, or count them from the end."
        )
    said = next((tip for pattern, tip in SAID.items() if re.search(pattern, text)), None)
    if said:
        return said
    fitting = (tip for kind, tip in ADVICE.items() if isinstance(error, kind))
    return next(fitting, "Run your function by hand on a small array, and print what each line gives.")
