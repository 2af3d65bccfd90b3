"""The bug museum: is the bug gone, and is everything else as it was? `exercises.exhibit(1).check(train_steps)`.

A function is asked for what it does, one aspect at a time. Where the function as it was found differs from
the mended one, there is the bug; all other aspects have to stay, and so do the arguments.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle

import numpy as np

from ..experiments import museum
from ..layers import relu, relu_backward, rms_norm, rms_norm_backward
from .comparing import reader
from .core import Diagnosis
from .formulas import evaluate
from .running import TimeLimit, Unreadable, fresh, is_blank, isolated, learners_line, statements, unchanged
from .showing import show, show_hints


class Watched:
    """A function that is called with copies of its arguments; afterwards one can ask which of them it changed.

    Unreadable when it returns another shape than the model; names: of what is returned.
    """

    def __init__(self, f, read, model, names):
        self.f, self.read, self.model, self.names, self.calls = f, read, model, names, []

    def __call__(self, *args):
        given = fresh(args)
        self.calls.append((args, given))
        returned, wanted = self.read(self.f(*given)), self.read(self.model(*fresh(args)))
        for name, a, b in zip(cycle(self.names), _parts(returned), _parts(wanted)):
            if a.shape != b.shape:
                text = (
                    f"`{name}` has shape {a.shape}; it has to be {b.shape}{_shapes(self.parameters, args)}."
                )
                raise Unreadable("wrong_shape", text)
        return returned

    @property
    def parameters(self):
        """The names of the arguments."""
        return list(inspect.signature(self.model).parameters)

    def last_call(self):
        """', for `x` of shape (2, 3)': what it was given last."""
        return _shapes(self.parameters, self.calls[-1][0]) if self.calls else ""

    def ignored(self):
        """The numbers among the arguments that change what the model returns, and nothing here."""
        calls = [args for args, _ in self.calls]
        model = Watched(self.model, self.read, self.model, self.names)
        numbers = [k for k, value in enumerate(calls[0]) if type(value) is float]
        return [self.parameters[k] for k in numbers if model.needs(k, calls) and not self.needs(k, calls)]

    def needs(self, place, calls):
        """Does another number at this place change anything?"""
        others = [(*args[:place], 2 * args[place] + 1, *args[place + 1 :]) for args in calls]
        return not all(unchanged(self(*args), self(*other)) for args, other in zip(calls, others))

    def changed(self):
        """The places of the arguments that are not what they were."""
        pairs = [enumerate(zip(args, given)) for args, given in self.calls]
        return sorted({place for call in pairs for place, (a, b) in call if not unchanged(a, b)})


def _parts(returned):
    return returned if isinstance(returned, list) else [returned]


def _shapes(names, args):
    arrays = [f"`{name}` of shape {a.shape}" for name, a in zip(names, args) if isinstance(a, np.ndarray)]
    return f", for {' and '.join(arrays[:2])}" if arrays else ""


@dataclass(eq=False)
class Exhibit:
    """One bug. aspects: {a sentence that should hold: f -> arrays that show it}; report: where such a bug was reported;
    outputs: names of what is returned; named: f -> a sentence on a mistake that it knows, or ""."""

    number: int
    aspects: dict
    hints: tuple
    report: str
    outputs: tuple = ()  # none: weights, step by step
    named: Callable = lambda f: ""

    def __post_init__(self):
        self.found, self.mended, self.symptoms = museum.FOUND[self.number]
        self.name = self.found.__name__.removesuffix("_found")
        self.hints_shown = 0

    def check(self, f):
        """Show whether the bug is gone, and what else has changed."""
        found = self.diagnose(f)
        stuck = f"\n\nStuck? `exercises.exhibit({self.number}).hint()`."
        text = found.message + (stuck if found.outcome in ("wrong", "raised") else "")
        show(f"exhibit {self.number}: {found.outcome}", text, found.outcome)
        found.tell(f"exhibit {self.number}")

    def hint(self):
        """Show one more hint."""
        self.hints_shown = min(self.hints_shown + 1, len(self.hints))
        after = f"`exercises.exhibit({self.number}).solution()` shows the rest."
        show_hints(f"exhibit {self.number}", self.hints, self.hints_shown, after)

    def solution(self):
        """Show the function mended, and the public report."""
        text = f"{self.source(self.mended)}\n\n{self.report.replace('`', '')}"  # shown as it stands
        show(f"exhibit {self.number}: mended", text, "solution")

    def source(self, f):
        """The text of the function as it was found, or mended, under the learner's name for it."""
        return inspect.getsource(f).replace(f.__name__, self.name).strip()

    @cached_property
    def wanted(self):
        """What the mended function does: {aspect: list of arrays}."""
        return self._ask(self._watched(self.mended))

    @cached_property
    def bug(self):
        """The aspects in which the function as it was found is wrong."""
        return self._differ(self._ask(self._watched(self.found)))

    def _watched(self, f):
        return Watched(f, self._read if self.outputs else _steps, self.mended, self.outputs or ("w",))

    def _read(self, returned):
        outputs = [part for (part,) in reader(self.outputs)(returned)]
        return outputs if len(outputs) > 1 else outputs[0]

    def _ask(self, f):
        return {aspect: [np.asarray(a) for a in does(f)] for aspect, does in self.aspects.items()}

    def _differ(self, answers):
        return [a for a, want in self.wanted.items() if not all(map(_close, answers[a], want))]

    def diagnose(self, f):
        """What has become of the bug, without showing it -> Diagnosis; mistake "unusable": no picture can use it."""
        if is_blank(f):
            text = "Its body is blank. Undo in its cell brings the code back."
            return Diagnosis("not attempted", None, text)
        if _same_code(f, self.found):
            text = "This is the code as it was found. Its cell above is yours to mend."
            return Diagnosis("not attempted", None, text)
        watched = self._watched(f)
        try:
            with isolated():
                answers = self._ask(watched)
                remark = " ".join(filter(None, [self.named(watched), *_said_of(watched.ignored())]))
        except Unreadable as problem:
            return Diagnosis("wrong", "unusable", problem.message)
        except (Exception, TimeLimit) as error:
            where = f"Your function raised {type(error).__name__} {learners_line(error, f)}".rstrip()
            text = f"{where}: {str(error).rstrip(' .')}{watched.last_call()}."
            return Diagnosis("raised", "unusable", text)
        return self._compared(answers, remark, watched.changed())

    def _compared(self, answers, remark, changed):
        wrong = self._differ(answers)
        still, other = ([a for a in wrong if (a in self.bug) == there] for there in (True, False))
        texts = ["The bug is gone."]
        if still:
            texts = [f"You changed something, but this does not hold yet: {'; '.join(still)}."]
        if other:
            link = "And" if still else "But"
            texts.append(f"{link} this held before and does not now: {'; '.join(other)}.")
        if changed:
            texts.append(self._in_place(changed))
        if remark:
            texts.append(remark)
        if len(texts) > 1 or still:
            mistake = "bug" if still else "other" if other else "input_changed" if changed else "named"
            return Diagnosis("wrong", mistake, " ".join(texts))
        text = f"The bug is gone, and everything else is as it was.\n\nThe same in public: {self.report}"
        return Diagnosis("correct", None, text)

    def _in_place(self, changed):
        names = list(inspect.signature(self.found).parameters)
        listed = " and ".join(f"`{names[place]}`" for place in changed)
        return (
            f"Your function now writes into its argument {listed}, which whoever called it still needs as before: "
            "`a += b` and `a /= b` change the same array, `a = a + b` makes a new one."
        )


def _said_of(ignored):
    """What to say of numbers that are given for nothing."""
    text = (
        "Another `{0}` changes nothing in what your function returns; use the argument, not a fixed number."
    )
    return [text.format(name) for name in ignored]


def _same_code(f, found):
    """Are two functions the same up to names, comments and spaces?"""
    try:
        return list(map(ast.dump, statements(f))) == list(map(ast.dump, statements(found)))
    except (OSError, TypeError, ValueError, SyntaxError, AttributeError):
        return False  # there is no source to be had


def _steps(returned):
    """Copies of what train_steps yields."""
    if returned is None or isinstance(returned, np.ndarray):
        what = "`None`" if returned is None else "one array"
        text = f"Your function gave {what}, not the weights step by step: `yield w` after each step."
        raise Unreadable("none_yielded", text)
    return [np.array(w) for w in returned]


def _close(a, b):
    return np.allclose(a, b, rtol=1e-5, atol=1e-10, equal_nan=True)


# ------------------------------------------------------------------------------ what is asked

_rng = np.random.default_rng(7)
_ROWS, _DY = 3 * _rng.normal(size=(6, 4)), _rng.normal(size=(6, 4))
_THREE_AXES = 3 * _rng.normal(size=(2, 3, 4))
_W1, _W2, _ONE = _rng.normal(size=(4, 4)), _rng.normal(size=(4, 4)), np.ones(4)
_GAMMA, _BETA = _rng.normal(size=4), _rng.normal(size=4)
_MEAN, _VAR = _rng.normal(size=4), _rng.uniform(1, 2, 4)


def _walks(part):
    """Weights on two ways down a bowl around each batch, without its constants."""
    return lambda train_steps: [_walk(train_steps, count, lr)[part] for count, lr in ((5, 0.3), (3, 0.05))]


def _walk(train_steps, count, lr):
    w, batches = np.array([1.0, -2.0, 3.0]), [np.array([0.1, 0.2, -0.1]) * k for k in range(count)]
    steps = train_steps(w, lambda w, batch: w - batch, batches, lr)
    if len(steps) != len(batches):
        text = f"For {len(batches)} batches your function yields {len(steps)}, not one for each: `yield w` in the loop, once."
        raise Unreadable("not_each_step", text)
    return steps


_TINY = np.array([[3e-3, -1e-3, 2e-3, 0.0]])


def _another_norm(normalize):
    """Which norm it is instead, in words."""
    if _close(normalize(_TINY, _ONE, 1e-5), _TINY / (np.sqrt((_TINY**2).mean()) + 1e-5)):
        return "`eps` belongs inside the root."
    y, centred = normalize(_ROWS, _ONE, 1e-5), _ROWS - _ROWS.mean(axis=-1, keepdims=True)
    rms, std = (np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) for x in (_ROWS, centred))
    for wrong, text in (
        (centred / std, "You subtract the mean: that is LayerNorm."),
        (centred / rms, "You subtract the mean, which RMSNorm leaves in."),
        (_ROWS / std, "You divide by the root of the variance, and `var` subtracts the mean."),
    ):
        if _close(y, wrong):
            return text
    return ""


def _branch(branch_weights, d=4):
    return branch_weights(d, np.random.default_rng(0))


def _gradient_arrives(branch_weights):
    W1, W2 = _branch(branch_weights)
    rows, dy = np.concatenate([_ROWS, -_ROWS]), np.concatenate([_DY, _DY])  # with -x, some pass the ReLU
    z = rows @ W1
    dW2, dW1 = relu(z).T @ dy, rows.T @ ((dy @ W2.T) * (z > 0))
    return [bool(np.any(dW1) or np.any(dW2))]


def _start(branch_weights):
    """What is wrong with the weights of wide branches, in words."""
    texts = (_start_at(branch_weights, d) for d in (128, 64))
    return next(filter(None, texts), "") or _randomness(branch_weights)


def _randomness(branch_weights):
    """Is `rng` what the random weights come from?"""
    here, anew = np.random.default_rng(0), np.random.default_rng(0)
    (first, _), (second, _), (again, _) = (branch_weights(8, rng) for rng in (here, here, anew))
    if not np.any(first):
        return ""
    if _close(first, second):
        return "All blocks get the same `W1`: draw it from `rng`, which goes on from one block to the next."
    return (
        "" if _close(first, again) else "`W1` is not drawn from `rng`, so that a training cannot be repeated."
    )


def _start_at(branch_weights, d):
    W1, W2 = _branch(branch_weights, d)
    spread = np.sqrt(2 / d)
    if not np.any(W1):
        return (
            "With `W1` = 0 the ReLU gets 0 everywhere, and passes nothing back there." if np.any(W2) else ""
        )
    if np.allclose(W1, W1[:, :1]):
        return "All features in the middle of the branch are the same, and get the same gradient: they stay the same for ever."
    if abs(W1.mean()) > 0.1 * spread or abs(W1.std() / spread - 1) > 0.2:
        return (
            f"At d = {d}, `W1` has mean {W1.mean():.2g} and spread {W1.std():.2g}; "
            f"what is random should have mean 0 and spread √(2/d) = {spread:.3g}."
        )
    return ""


def _normed(batch_norm, training, *parts):
    """For a batch of six, for a batch of one, and where eps counts."""
    cases = (_ROWS, _MEAN, _VAR), (_ROWS[:1], _MEAN, _VAR), (1e-3 * _ROWS, 1e-3 * _MEAN, 1e-6 * _VAR)
    outputs = [batch_norm(x, _GAMMA, _BETA, mean, var, training) for x, mean, var in cases]
    return [output[part] for output in outputs for part in parts]


_BACKWARD = (_DY, _ROWS, _W1, _W2), tuple(_rng.normal(size=(n, 5)) for n in (3, 3, 5, 5))


def _gradients(part):
    return lambda block_backward: [block_backward(*args)[part] for args in _BACKWARD]


# What dx is instead. back: through the norm; dh: what the branch gives back to the norm's output u.
_WRONG_DX = {
    "back(dh, x)": "The shortcut’s part of `dx` is missing.",
    "back(dh, x) + 2 * dy": "The shortcut’s part is in `dx` twice.",
    "back(dh + dy, x) + dy": "`dy` reaches `dx` by itself now, and goes through the norm as before.",
    "back(dh + dy, x)": "`dx` is what it was: `dy` still reaches it through `rms_norm_backward` only.",
    "dh": "Neither has the branch’s part gone back through the norm, nor is the shortcut’s part there.",
    "dy": "The branch’s part of `dx` is missing.",
    "dh + dy": "The branch’s part of `dx` has not gone back through the norm.",
    "back(dh, u)": "`rms_norm_backward` is given `u`, the norm’s output, and the shortcut’s part is missing.",
    "back(dh, u) + dy": "`rms_norm_backward` is given `u`, the norm’s output; it needs what the norm was given.",
    "back(dh, x) + dz": "`dz` is added to `dx`. Which gradient arrives where the shortcut ends?",
    "back(dh, x) + x": "`x` is added to `dx`. A gradient has to be added; which one arrives where the shortcut ends?",
}


def _shortcut(block_backward):
    """What is in `dx` that should not be there, in words."""
    dx, one = block_backward(_DY, _ROWS, _W1, _W2)[0], _ONE
    u = rms_norm(_ROWS, one)
    dz = relu_backward(_DY @ _W2.T, u @ _W1)
    names = {"back": lambda dy, x: rms_norm_backward(dy, x, one)[0], "dh": dz @ _W1.T, "dy": _DY, "x": _ROWS}
    wrong = (
        text for formula, text in _WRONG_DX.items() if _close(dx, evaluate(formula, **names, u=u, dz=dz))
    )
    return next(wrong, "")


# length of the gradient, lr, max_norm
_SHORT = (0.5, 0.1, 1.0), (2.0, 0.03, 2.5)
_LONG = (8.0, 0.1, 1.0), (8.0, 0.03, 2.5), (0.5, 0.03, 0.25)


def _stepped(cases, part):
    g = _GAMMA / np.sqrt((_GAMMA**2).sum())
    return lambda clipped_step: [clipped_step(_BETA, length * g, *rest)[part] for length, *rest in cases]


def _logged(clipped_step):
    """What is logged for a long gradient, in words, unless it is max_norm."""
    length = _stepped([(8.0, 0.1, 2.5)], 1)(clipped_step)[0]
    return (
        ""
        if abs(length - 2.5) < 1e-4
        else f"For `max_norm` 2.5, a gradient of length 8 is logged as {length:.4g}."
    )


EXHIBITS = (
    Exhibit(
        1,
        {
            "the weights are right after the first step": _walks(0),
            "the weights are right after the later steps": _walks(slice(1, None)),
        },
        (
            "The first step is right. What does the second one know that it should not?",
            "In the loop, before `yield`, print the length of `grad`, and of `gradient(w, batch)` beside it.",
            "`+=` adds to what is in `grad` already. In a framework the same happens in `backward()`.",
        ),
        "https://github.com/facebookresearch/nwm/issues/16 (a training loop that clears its gradients, but not when "
        "it runs in bfloat16).",
    ),
    Exhibit(
        2,
        {
            "a row whose root mean square is 1 stays as it is": lambda f: [
                f(np.array([[1.0, -1.0, 1.0, -1.0]]), _ONE, 0.0)
            ],
            "rows of other sizes are divided by their root mean square": lambda f: [f(_ROWS, _ONE, 1e-5)],
            "with three axes, too, the last one is normalized": lambda f: [f(_THREE_AXES, _ONE, 1e-5)],
            "a row hardly larger than `eps` comes out right, too": lambda f: [
                f(_TINY, _ONE, eps) for eps in (1e-5, 1e-3)
            ],
            "`gamma` scales the features": lambda f: [f(_ROWS, _GAMMA, 1e-5) / f(_ROWS, _ONE, 1e-5)],
            "with `eps`, rows of zeros stay zeros": lambda f: [f(np.zeros((2, 4)), _ONE, 1e-5)],
        },
        (
            "Give it a row twice as large. How large should the output be, and how large is it?",
            "Read the name `rrms` aloud: what is it the reciprocal of?",
            "To divide by something is to multiply by its reciprocal; the code does half of both.",
        ),
        "https://github.com/mosaicml/llm-foundry/issues/371 (x divided by `rsqrt`; the loss diverged).",
        outputs=("y",),
        named=_another_norm,
    ),
    Exhibit(
        3,
        {
            "the branch gives 0 before training": lambda f: [relu(_ROWS @ _branch(f)[0]) @ _branch(f)[1]],
            "some gradient reaches the branch's weights": _gradient_arrives,
        },
        (
            "Which gradients does the branch get? Write dW2 and dW1 down: each holds the other matrix's part.",
            "dW2 = relu(x @ W1).T @ dy, and dW1 goes through W2.T. What are they when both matrices are 0?",
            "One factor of 0 is enough for a product of 0. Which one, if relu passes no gradient where its input is 0?",
        ),
        "https://github.com/yz93/LAVT-RIS/issues/25 (both layers of a gate start at 0).",
        outputs=("W1", "W2"),
        named=_start,
    ),
    Exhibit(
        4,
        {
            "the output in training is right": lambda f: _normed(f, True, 0),
            "the running statistics are right after training on a batch": lambda f: _normed(f, True, 1, 2),
            "the output in evaluation is right": lambda f: _normed(f, False, 0),
            "evaluation leaves the running statistics alone": lambda f: _normed(f, False, 1, 2),
        },
        (
            "A point is right in the company of 128 others and wrong alone. What do they share?",
            "Two arguments are kept up to date with care. Where are they used?",
            "With `training` False the mean and the variance should not come from this batch at all.",
        ),
        "https://github.com/chrischoy/SpatioTemporalSegmentation/issues/11 (bad results with one example at a time: "
        "`model.eval()` was missing) and https://github.com/fxia22/pointnet.pytorch/pull/19.",
        outputs=("y", "running_mean", "running_var"),
    ),
    Exhibit(
        5,
        {f"{name} is right": _gradients(part) for part, name in enumerate(("dx", "dW1", "dW2"))},
        (
            "Two ways lead from x to y, so two gradients come back to x. Follow each of them.",
            "The shortcut does nothing to x on the way forward. What may happen to dy on its way back?",
            "`rms_norm_backward` takes away a part of whatever is put into it and divides the rest by the rms.",
        ),
        "https://github.com/Dao-AILab/quack/pull/53 (the residual's gradient was added before the norm's backward "
        "pass instead of after it).",
        outputs=("dx", "dW1", "dW2"),
        named=_shortcut,
    ),
    Exhibit(
        6,
        {
            "the new weights are right after a gradient shorter than max_norm": _stepped(_SHORT, 0),
            "the new weights are right after a gradient longer than max_norm": _stepped(_LONG, 0),
            "the length in the log is right for a short gradient": _stepped(_SHORT, 1),
            "the length in the log is right for a long gradient": _stepped(_LONG, 1),
        },
        (
            "The log says that no gradient was longer than 1, the weights say otherwise. Whom do you believe?",
            "Follow `g` line by line: which g has moved the weights?",
            "Everything in the function is right; ask in which order it happens.",
        ),
        "https://github.com/awslabs/graphstorm/issues/1366 (gradients clipped after the optimizer's step).",
        outputs=("w", "length"),
        named=_logged,
    ),
)


def exhibit(number):
    """The exhibit with this number, 1 to 6; ValueError for another one."""
    if number not in museum.FOUND:
        raise ValueError(f"the museum has exhibits 1 to {len(EXHIBITS)}, not {number!r}")
    return EXHIBITS[number - 1]
