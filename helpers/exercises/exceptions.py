"""What an exception in the learner's function says, and what to try after it."""

import re
import sys

import numpy as np


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


# ------------------------------------------------------------------------------ what to try

BY_KIND = {
    RecursionError: "It calls itself without end: inside, call the functions you were given, or write the formula.",
    NotImplementedError: "Part of the function is still to be written.",
    UnboundLocalError: "A variable is used before it gets its value.",
    NameError: "Is the name spelled the same everywhere, and is it an argument or made before that line?",
    AttributeError: "What stands left of the dot is of another type than you think; print its type.",
    ImportError: "It is not installed here, and not needed: NumPy is enough.",
    IndexError: "An index is past the end; print the length and the index.",
    ZeroDivisionError: "Something is divided by 0; think of a row of equal numbers, or of no gradient at all.",
    TypeError: "A function got arguments of another type or number than it takes; print the types there.",
    SystemExit: "Do not leave the program from inside a function; use `return`.",
}

IN_NUMPY = {  # what PyTorch calls otherwise
    "dim": "`axis`", "keepdim": "`keepdims`", "unbiased": "`ddof=0` or `ddof=1`", "correction": "`ddof`", "pow": "`**`",
    "rsqrt": "`1 / np.sqrt(...)`", "sqrt": "`np.sqrt(...)`", "exp": "`np.exp(...)`", "tanh": "`np.tanh(...)`", "abs": "`np.abs(...)`",
    "clone": "`.copy()`", "detach": "nothing at all", "contiguous": "nothing at all", "requires_grad": "nothing at all",
    "unsqueeze": "`[..., None]`", "permute": "`.transpose`", "view": "`.reshape`", "t": "`.T`", "cat": "`np.concatenate`",
    "mm": "`@`", "matmul": "`@`", "bmm": "`@`", "add": "`+`", "sub": "`-`", "mul": "`*`", "div": "`/`", "masked_fill": "`np.where`",
    "norm": "`np.linalg.norm`", "softmax": "`np.exp` and a sum", "float": "`.astype(np.float64)`", "item": "`float(...)`",
    "grad": "an array of its own, which is given or computed", "numpy": "the array itself", "torch": "`np`, as far as NumPy has it",
}  # fmt: skip
NAMED = r"(?:argument|attribute|name) '(\w+)'"

SHAPES = (
    "Two shapes do not fit together. Print the shapes on that line. One factor of a product may need `.T`; an average, if "
    "there is one, needs `keepdims=True` to line up with what it came from."
)
AXES = (
    "It counts on more axes than the input has. The number of axes differs from call to call: make the axes from `x.ndim`, or "
    "count them from the end."
)
LIST = (
    "A list of arrays is no array: go through it in a loop. If you need all their numbers in one vector, join `[a.ravel() for a "
    "in ...]` with `np.concatenate`."
)
BY_WORDS = {  # a pattern of what an exception says: what to try; the first that fits
    r"'function'|'builtin_function_or_method'": "A function stands where its result belongs: call it, with its argument in brackets.",
    r"object is not subscriptable": "Round brackets call a function, square ones take an entry: `np.mean(x)`, `x[0]`.",
    r"'list' object is not callable": "A list of functions cannot be called; call one of them: take it by its index, or go through the list in a loop.",
    r"'tuple' object is not callable": "An index stands in square brackets: `x.shape[-1]`.",
    r"object is not callable": "Is a `*` missing before a bracket? An index stands in square brackets.",
    r"positional argument": "A function is called with too many or too few arguments; the exercise says what each one takes.",
    r"argument 'keep_dims'": "It is `keepdims`.",
    r"argument 'axes'": "It is `axis`.",
    r"as a data type": "The third place of `np.mean` and the like is the number type; give arguments by name: `keepdims=True`.",
    r"module 'numpy": "NumPy has no function of that name. There are `np.mean`, `np.var`, `np.std`, `np.sqrt`; the rest is a formula of yours.",
    r"converted to Python scalar": "`math` and `float` take one number; for arrays there are `np.sqrt`, `np.tanh` and so on.",
    r"bitwise_xor|for \^": "In Python `^` is no power; write `**`.",
    r"inhomogeneous|same number of dimensions|dimensions except for the concatenation axis|'list'|multiply sequence": LIST,
    r"axis .*out of bounds|tuple index": AXES,
    r"to unpack": "One thing is taken apart into several names, and has fewer parts, or more. The number of axes of `x` differs from call to call.",
    r"boolean index": "The mask and what it picks from differ in shape. `x[mask]` picks along the mask's own axes, without further ones.",
    r"non-broadcastable": "`a += b` and `a /= b` write into `a`, which cannot grow; write `a = a + b`, which makes a new array.",
    r"einstein|einsum": "`...` cannot be summed over in `np.einsum`: reshape to two axes first, or use `*` and `.sum`.",
    r"broadcast|not aligned|matmul": SHAPES,
}  # fmt: skip


def advice(error):
    """What to try after an exception, by its kind and its words."""
    text = first_line(error)
    name = (re.findall(NAMED, text) or [""])[-1]
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        if name in sys.stdlib_module_names or name == "np":
            return f"`{'import numpy as np' if name == 'np' else f'import {name}'}` is missing above the function."
        if hasattr(np, name):
            return f"If you mean NumPy's, it is `np.{name}`; a variable of yours has to be made before that line."
    foreign = IN_NUMPY.get(name) or ("`a = a * b` and so on" if re.fullmatch(r"[a-z]+_", name) else None)
    # A variable that is not there is none of PyTorch's, whatever it is called.
    if foreign and (isinstance(error, (TypeError, AttributeError)) or name == "torch"):
        return f"That is PyTorch's spelling, and these are NumPy arrays; in NumPy it is {foreign}."
    if _last_axis_missing(text):
        return "One of the two has an axis less. To line up with the others it needs a last axis of length 1: `a[..., None]`."
    said = (tip for pattern, tip in BY_WORDS.items() if re.search(pattern, text))
    kind = (tip for kind, tip in BY_KIND.items() if isinstance(error, kind))
    otherwise = "Run your function by hand on a small array, and print what each line gives."
    return next(said, None) or next(kind, otherwise)


def _last_axis_missing(text):
    """Do two shapes not fit, of which one is the other without its last axis?"""
    shapes = [tuple(re.findall(r"\d+", shape)) for shape in re.findall(r"\(([\d, ]+)\)", text)]
    if "broadcast together" not in text or len(shapes) != 2:
        return False
    short, long = sorted(shapes, key=len)
    return len(short) > 1 and short == long[:-1]
