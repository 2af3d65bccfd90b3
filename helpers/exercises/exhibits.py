"""The bug museum: is the bug gone, and is everything else as it was? `exercises.exhibit(1).check(train_steps)`.

A function is asked for what it does, one aspect at a time. Where the function as it was found differs from
the mended one, there is the bug; all other aspects have to stay.
"""

import inspect
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..experiments import museum
from ..layers import relu
from .core import Diagnosis
from .running import TimeLimit, isolated, learners_line
from .showing import show


@dataclass(eq=False)
class Exhibit:
    """One bug. aspects: {what the function does, in words: f -> arrays}; report: where such a bug was reported."""

    number: int
    aspects: dict
    hints: tuple
    report: str

    def __post_init__(self):
        self.found, self.mended, self.symptoms = museum.FOUND[self.number]
        self.name = self.found.__name__.removesuffix("_found")
        self.hints_shown = 0

    def check(self, f):
        """Show whether the bug is gone, and what else has changed."""
        found = self.diagnose(f)
        show(f"exhibit {self.number}: {found.outcome}", found.message, found.outcome)

    def hint(self):
        """Show one more hint."""
        self.hints_shown = min(self.hints_shown + 1, len(self.hints))
        lines = [f"{i}. {hint}" for i, hint in enumerate(self.hints[: self.hints_shown], 1)]
        if self.hints_shown == len(self.hints):
            lines.append(
                f"These are all the hints. `exercises.exhibit({self.number}).solution()` shows the rest."
            )
        show(
            f"exhibit {self.number}: hint {self.hints_shown} of {len(self.hints)}", "\n\n".join(lines), "hint"
        )

    def solution(self):
        """Show the function mended, and the public report."""
        show(f"exhibit {self.number}: mended", f"{self.source(self.mended)}\n\n{self.report}", "solution")

    def source(self, f):
        """The text of the function as it was found, or mended, under the learner's name for it."""
        return inspect.getsource(f).replace(f.__name__, self.name).strip()

    @cached_property
    def wanted(self):
        """What the mended function does: {aspect: list of arrays}."""
        return self._ask(self.mended)

    @cached_property
    def bug(self):
        """The aspects in which the function as it was found is wrong."""
        return self._differ(self._ask(self.found))

    def _ask(self, f):
        return {aspect: [np.asarray(a) for a in does(f)] for aspect, does in self.aspects.items()}

    def _differ(self, answers, wanted=None):
        return [a for a, want in (wanted or self.wanted).items() if not all(map(_close, answers[a], want))]

    def diagnose(self, f):
        """What has become of the bug, without showing it -> Diagnosis."""
        try:
            with isolated():
                answers = self._ask(f)
        except (Exception, TimeLimit) as error:
            text = (
                f"Your function raised {type(error).__name__} {learners_line(error, f)}".rstrip()
                + f": {error}"
            )
            return Diagnosis("raised", None, text)
        for aspect, want in self.wanted.items():
            shapes, right = ([np.shape(a) for a in arrays] for arrays in (answers[aspect], want))
            if shapes != right:
                text = f"{_capital(aspect)}: the shape is {shapes[0]}; it has to be {right[0]}."
                return Diagnosis("raised", None, text)
        return self._compared(answers)

    def _compared(self, answers):
        wrong = self._differ(answers)
        other = [aspect for aspect in wrong if aspect not in self.bug]
        also = f" And this has changed, which was right before: {_listed(other)}." if other else ""
        if not wrong:
            text = f"The bug is gone, and everything else is as it was.\n\nThe same in public: {self.report}"
            return Diagnosis("correct", None, text)
        if not set(wrong) & set(self.bug):
            return Diagnosis("wrong", "other", f"The bug is gone.{also}")
        if not self._differ(answers, self._ask(self.found)):
            text = "This does what it did when it was found. The cell with its code above is yours to mend."
            return Diagnosis("not attempted", None, text)
        still = _listed([aspect for aspect in wrong if aspect in self.bug])
        return Diagnosis(
            "wrong", "bug", f"The bug is still there, or another one in its place: {still}.{also}"
        )


def _close(a, b):
    return np.allclose(a, b, rtol=1e-5, atol=1e-10, equal_nan=True)


def _capital(text):
    return text[0].upper() + text[1:]


def _listed(aspects):
    return "; ".join(aspects)


# ------------------------------------------------------------------------------ what is asked

_rng = np.random.default_rng(7)
_ROWS, _DY = 3 * _rng.normal(size=(6, 4)), _rng.normal(size=(6, 4))
_W1, _W2, _ONE = _rng.normal(size=(4, 4)), _rng.normal(size=(4, 4)), np.ones(4)
_GAMMA, _BETA = _rng.normal(size=4), _rng.normal(size=4)
_MEAN, _VAR = _rng.normal(size=4), _rng.uniform(1, 2, 4)


def _walk(train_steps, part):
    """Weights on the way down a bowl around each batch, without its constants."""
    w, batches = np.array([1.0, -2.0, 3.0]), [np.array([0.1, 0.2, -0.1]) * k for k in range(5)]
    return [[w.copy() for w in train_steps(w.copy(), lambda w, batch: w - batch, batches, 0.3)][part]]


def _branch(branch_weights):
    return branch_weights(4, np.random.default_rng(0))


def _gradient_arrives(branch_weights):
    W1, W2 = _branch(branch_weights)
    z = _ROWS @ W1
    dW2, dW1 = relu(z).T @ _DY, _ROWS.T @ ((_DY @ W2.T) * (z > 0))
    return [bool(np.any(dW1) or np.any(dW2))]


def _normed(batch_norm, training, *parts):
    outputs = batch_norm(_ROWS.copy(), _GAMMA, _BETA, _MEAN, _VAR, training)
    return [outputs[part] for part in parts]


def _gradients(part):
    return lambda block_backward: [block_backward(_DY.copy(), _ROWS.copy(), _W1.copy(), _W2.copy())[part]]


def _stepped(length, part):
    g = _GAMMA * length / np.sqrt((_GAMMA**2).sum())
    return lambda clipped_step: [clipped_step(_BETA.copy(), g.copy(), 0.1, 1.0)[part]]


EXHIBITS = (
    Exhibit(
        1,
        {
            "the weights after the first step": lambda f: _walk(f, 0),
            "the weights after the later steps": lambda f: _walk(f, slice(1, None)),
        },
        (
            "The first step is right. What does the second one know that it should not?",
            "Print the length of `grad` at each step, and of `gradient(w, batch)` beside it.",
            "`+=` adds to what is in `grad` already. In a framework the same happens in `backward()`.",
        ),
        "https://github.com/facebookresearch/nwm/issues/16 (a training loop that clears its gradients, but not when "
        "it runs in bfloat16).",
    ),
    Exhibit(
        2,
        {
            "a row whose root mean square is 1": lambda f: [f(np.array([[1.0, -1.0, 1.0, -1.0]]), _ONE, 0.0)],
            "rows of other sizes": lambda f: [f(_ROWS.copy(), _ONE, 1e-5)],
            "what gamma does": lambda f: [f(_ROWS.copy(), _GAMMA, 1e-5) / f(_ROWS.copy(), _ONE, 1e-5)],
            "eps, where all is 0": lambda f: [f(np.zeros((2, 4)), _ONE, 1e-5)],
        },
        (
            "Give it a row twice as large. How large should the output be, and how large is it?",
            "Read the name `rrms` aloud: what is it the reciprocal of?",
            "To divide by something is to multiply by its reciprocal; the code does half of both.",
        ),
        "https://github.com/mosaicml/llm-foundry/issues/371 (x divided by `rsqrt`; the loss diverged).",
    ),
    Exhibit(
        3,
        {
            "the branch gives 0 before training": lambda f: [relu(_ROWS @ _branch(f)[0]) @ _branch(f)[1]],
            "some gradient reaches the branch's weights": _gradient_arrives,
            "the shapes of W1 and W2": lambda f: [[np.shape(W) for W in _branch(f)]],
        },
        (
            "Which gradients does the branch get? Write dW2 and dW1 down: each holds the other matrix's part.",
            "dW2 = relu(x @ W1).T @ dy, and dW1 goes through W2.T. What are they when both matrices are 0?",
            "One factor of 0 is enough for a product of 0. Which one, if relu passes no gradient where its input is 0?",
        ),
        "https://github.com/yz93/LAVT-RIS/issues/25 (both layers of a gate start at 0).",
    ),
    Exhibit(
        4,
        {
            "the output in training": lambda f: _normed(f, True, 0),
            "the running statistics after training on a batch": lambda f: _normed(f, True, 1, 2),
            "the output in evaluation": lambda f: _normed(f, False, 0),
            "the running statistics, left alone in evaluation": lambda f: _normed(f, False, 1, 2),
        },
        (
            "A point is right in the company of 128 others and wrong alone. What do they share?",
            "Two arguments are kept up to date with care. Where are they used?",
            "With `training` False the mean and the variance should not come from this batch at all.",
        ),
        "https://github.com/chrischoy/SpatioTemporalSegmentation/issues/11 (bad results with one example at a time: "
        "`model.eval()` was missing) and https://github.com/fxia22/pointnet.pytorch/pull/19.",
    ),
    Exhibit(
        5,
        {"dx": _gradients(0), "dW1": _gradients(1), "dW2": _gradients(2)},
        (
            "Two ways lead from x to y, so two gradients come back to x. Follow each of them.",
            "The shortcut does nothing to x on the way forward. What may happen to dy on its way back?",
            "`rms_norm_backward` takes away a part of whatever is put into it and divides the rest by the rms.",
        ),
        "https://github.com/Dao-AILab/quack/pull/53 (the residual's gradient was added before the norm's backward "
        "pass instead of after it).",
    ),
    Exhibit(
        6,
        {
            "the new weights, gradient shorter than max_norm": _stepped(0.5, 0),
            "the new weights, gradient longer than max_norm": _stepped(8.0, 0),
            "the length in the log, short gradient": _stepped(0.5, 1),
            "the length in the log, long gradient": _stepped(8.0, 1),
        },
        (
            "The log says that no gradient was longer than 1, the weights say otherwise. Whom do you believe?",
            "Follow `g` line by line: which g has moved the weights?",
            "Everything in the function is right; ask in which order it happens.",
        ),
        "https://github.com/awslabs/graphstorm/issues/1366 (gradients clipped after the optimizer's step).",
    ),
)


def exhibit(number):
    """The exhibit with this number, 1 to 6; ValueError for another one."""
    if number not in museum.FOUND:
        raise ValueError(f"the museum has exhibits 1 to {len(EXHIBITS)}, not {number!r}")
    return EXHIBITS[number - 1]
