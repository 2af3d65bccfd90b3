"""Reads what a function returned, and compares it with what was expected."""

import numpy as np

from .running import Unreadable

ROUNDING = 1e-5  # of the largest expected entry: far above float64's rounding, far below any mistake
SINGLE = 2e-4  # the same for float32
HALF = 2e-2  # and for float16

NONE = (
    "Your function returned `None`: it computes something and forgets to hand it back. End it with `return` and the "
    "result."
)


def _kind(value):
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def as_array(value, name):
    """The value as an array of real numbers, or Unreadable; name: what the message calls it."""
    if value is None:
        raise Unreadable("none_returned", f"{name} is `None`. Compute it and put it after `return`.")
    try:
        array = np.array(value)
        if array.dtype == object:
            array = array.astype(np.float64)
    except Exception as error:
        if isinstance(value, tuple):
            text = f"{name} is a tuple of {len(value)} things; return the array alone."
            raise Unreadable("outputs_extra", text) from error
        text = f"{name} is {_kind(value)} that is no array of numbers."
        if isinstance(value, list) and any(np.ndim(entry) for entry in value):
            text += " Its entries are arrays of different shapes: should each be one number? Then leave out `axis=`."
        raise Unreadable("wrong_type", text) from error
    if array.dtype.kind == "c":
        raise Unreadable(
            "complex",
            f"{name} holds complex numbers. A square root of a negative number, or a power of a complex one, "
            "came in on the way; a variance is never negative.",
        )
    if array.dtype.kind not in "biuf":
        raise Unreadable("wrong_type", f"{name} is {_kind(value)}; an array of numbers is expected.")
    return array


def reader(outputs):
    """A function that turns a returned value into a tuple of outputs, each a tuple of arrays.

    outputs: the names; a name that ends in [] stands for a list of arrays.
    """

    def read_one(value, name):
        if not name.endswith("[]"):
            return (as_array(value, f"`{name}`" if len(outputs) > 1 else "The result"),)
        if value is None:
            text = f"`{name[:-2]}` is `None`. `.reverse()`, `.append()` and the like change a list and give `None`: return the list."
            raise Unreadable("none_returned", text)
        if not isinstance(value, (list, tuple, np.ndarray)) or getattr(value, "ndim", 1) == 0:
            raise Unreadable("wrong_type", f"`{name[:-2]}` is {_kind(value)}; a list of arrays is expected.")
        return tuple(as_array(v, f"`{name[:-2]}[{i}]`") for i, v in enumerate(value))

    def read(value):
        if value is None:
            raise Unreadable("none_returned", NONE)
        if len(outputs) == 1:
            if (
                outputs[0].endswith("[]")
                and isinstance(value, tuple)
                and any(isinstance(part, list) for part in value)
            ):
                text = f"Your function returned {len(value)} things; it should return the list alone."
                raise Unreadable("outputs_extra", text)
            return (read_one(value, outputs[0]),)
        wanted = ", ".join(name.removesuffix("[]") for name in outputs)
        if not isinstance(value, (tuple, list)):
            what = f"one array of shape {value.shape}" if isinstance(value, np.ndarray) else _kind(value)
            raise Unreadable(
                "outputs_missing",
                f"Your function returned {what}; it should return {len(outputs)} things: `return {wanted}`.",
            )
        if len(value) != len(outputs):
            count = f"one list of {len(value)} things" if isinstance(value, list) else f"{len(value)} things"
            raise Unreadable(
                "outputs_missing" if len(value) < len(outputs) else "outputs_extra",
                f"Your function returned {count}; it should return {len(outputs)}: `return {wanted}`.",
            )
        return tuple(read_one(v, name) for v, name in zip(value, outputs))

    return read


def tolerance(got, want):
    """How far got may be from want: rounding, in the type of want, or in float32 if got has no more digits."""
    scale = np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
    share = {2: HALF, 4: SINGLE}.get(min(max(_bytes(got), 4), _bytes(want)), ROUNDING)
    return share * scale + 1e-12


def _bytes(array):
    return array.dtype.itemsize if array.dtype.kind == "f" else 8


def _near(got, want):
    """Entry by entry: the same up to rounding; NaN equals NaN."""
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(np.float64) - want) <= tolerance(got, want)
    return near | (got == want) | (np.isnan(got) & np.isnan(want))


def close(got, want):
    """Two arrays are the same up to rounding."""
    return got.shape == want.shape and bool(np.all(_near(got, want)))


def alike(got, want):
    """Two outputs (tuples of arrays) are the same up to rounding."""
    return len(got) == len(want) and all(map(close, got, want))


def first_difference(got, want):
    """Index of the first entry that differs, or None when the shapes differ."""
    if got.shape != want.shape:
        return None
    return tuple(int(i) for i in np.argwhere(~_near(got, want))[0])
