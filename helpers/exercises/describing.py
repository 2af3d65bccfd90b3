"""What can be seen of a mistake that has no name: where, when, by how much, of which shape."""

import numpy as np

from .comparing import alike, close, first_difference
from .running import unchanged

# ------------------------------------------------------------------------------ where


def where(exercise, outputs, index, given=True):
    """'`y[0, 1]` should be 1.2 and is 0.7, for x = ...' on the first probe that shows it; index: of the output."""
    name = exercise.outputs[index].removesuffix("[]")
    probe = next(
        i for i, o in enumerate(outputs) if o is not None and not alike(o[index], exercise.wanted[i][index])
    )
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
        elif isinstance(value, bool):
            shown.append(f"`{name} = {value}`")
        elif isinstance(value, (int, float)):
            shown.append(f"`{name} = {value:.4g}`")
        elif isinstance(value, np.ndarray):
            text = np.array2string(value, precision=4, separator=", ", max_line_width=1000)
            shown.append(f"`{name} = {' '.join(text.split())}`")
        elif callable(value) and value.__doc__:
            shown.append(f"`{name}`: {value.__doc__}")
    return ", for " + ", ".join(shown) if shown else ""


def x_shape(exercise, probe):
    """'`x` of shape (2, 3)', with the switches that there are, or '' when there is no x."""
    args = dict(zip(exercise.parameters, exercise.probes[probe]))
    switches = "".join(f" and `{name} = {value}`" for name, value in args.items() if isinstance(value, bool))
    return f"`x` of shape {args['x'].shape}{switches}" if isinstance(args.get("x"), np.ndarray) else ""


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
            if None in good | bad or good & bad:
                continue
            if len(bad) == 1 and good:
                return f" It is wrong exactly when {bad.pop()}."
            if len(good) == 1:  # two against two or more may be by chance
                return f" It is right exactly when {good.pop()}."
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
            same = sum(a.size for a in one) == sum(b.size for b in other)
            return (
                " There are as many numbers as asked for; cut them into arrays of the right shapes."
                if same
                else ""
            )
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
    if got == (1, *want):
        return "An axis of length 1 stands in front: a tuple or a list of one array? Look for a comma at the end of the line."
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


# ------------------------------------------------------------------------------ changed inputs, many axes


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


def with_two_axes(exercise, outputs, right):
    """Indices of the inputs x with two axes, if it ran for all of them, and is right for none that has more; else []."""
    axes = [np.ndim(dict(zip(exercise.parameters, args)).get("x", 0)) for args in exercise.probes]
    many = [i for i, a in enumerate(axes) if a > 2]
    few = [i for i, a in enumerate(axes) if a <= 2]
    ran = 2 in axes and all(outputs[i] is not None for i in few)
    return few if many and ran and not any(right[i] for i in many) else []
