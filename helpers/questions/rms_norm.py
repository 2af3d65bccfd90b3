"""Questions of `05_rms_norm`."""

import functools

import numpy as np

from ..experiments import cost, precision
from ..experiments.invariance import CHANGES, NORMS, UNMOVED, invariance
from ..figures import words
from ..layers import rms_norm
from .kinds import Choice, Number, Question, right, wrong

TITLE = "05 RMSNorm"
EXERCISES = ("rms_norm", "rms_norm_offset", "rms_norm_backward")


def four_outputs(offset):
    """What RMSNorm makes of [2, -3, 1, 4] when this is added to each, by the number it is made of."""
    x = np.array([2.0, -3.0, 1.0, 4.0])
    return dict(zip(x, rms_norm(x + offset, np.ones(4))))


def _mean(holds):
    return lambda outputs: holds(np.mean([*outputs.values()]))


def moved_by_one_vector():
    """Largest change of an output when one vector is added to every weight vector."""
    moves = invariance()[:, list(CHANGES).index("W + v")]
    return {name: move for name, move in zip(NORMS, moves) if name in ("LayerNorm", "RMSNorm")}


def _unmoved(*names):
    return lambda moves: {name for name, move in moves.items() if move < UNMOVED} == set(names)


def norm_share(d=512):
    """Percent of the operations of LayerNorm and the feed-forward network behind it that are LayerNorm's."""
    seen = cost.counts(d)
    norm, rest = seen["LayerNorm"][0], seen["feed-forward"][0]
    return 100 * norm / (norm + rest)


def different_values(mean=1000.0):
    """How many different numbers are left when RMSNorm's output is stored in float16?"""
    norm = functools.partial(rms_norm, gamma=np.ones(1))
    return precision.different(precision.kept_in_half(norm, mean)[1])


PREDICTIONS = {
    "rms_offset": Choice(
        "RMSNorm of four numbers near 100",
        "Add 100 to each of $[2, -3, 1, 4]$. LayerNorm gives the same as before. What does RMSNorm with $γ = 1$ give?",
        {
            "The same as before, too": _mean(lambda mean: 0.2 < mean <= 0.9),
            "Four numbers close to 0": _mean(lambda mean: mean <= 0.2),
            "Four numbers close to 1": _mean(lambda mean: 0.9 < mean <= 1.1),
            "Four numbers far above 1": _mean(lambda mean: mean > 1.1),
        },
        lambda: four_outputs(100),
        lambda outputs: ", ".join(map(words, outputs.values())),
        "The root mean square is then nearly the mean, and each number is divided by it. The mean survives as a 1 "
        "that all features share, and the differences between them become small.",
    ),
    "recentred_weights": Choice(
        "one vector added to every weight vector",
        "A linear layer, then a norm. Each output has its own weight vector; add one and the same vector to all of "
        "them. Which norm gives the same output as before?",
        {
            "Both LayerNorm and RMSNorm": _unmoved("LayerNorm", "RMSNorm"),
            "Only LayerNorm": _unmoved("LayerNorm"),
            "Only RMSNorm": _unmoved("RMSNorm"),
            "Neither of them": _unmoved(),
        },
        moved_by_one_vector,
        lambda moves: "largest change " + ", ".join(f"{words(m, 2)} ({name})" for name, m in moves.items()),
        "The added vector adds the same number to all features of an example. LayerNorm takes that away again "
        "with the mean; RMSNorm does not look at the mean.",
    ),
    "norm_share": Number(
        "the norm's share of the operations, %",
        "LayerNorm with 512 features stands before a feed-forward network (512 to 2048 and back). Of all "
        "additions, multiplications and so on in the two together, how many percent are LayerNorm's?",
        norm_share,
        lambda share: f"{words(share, 2)} %",
        "Two matrix products need about 16 · 512 operations for each feature, the norm 7. Its share of the "
        "time is larger, because it moves many numbers for little arithmetic, but it stays small.",
        factor=3,
        unit="%",
    ),
    "kept_values": Number(
        "different values left of 4096",
        "4096 different numbers with mean 1000 and spread 1 go through RMSNorm, and the result is stored in half "
        "precision (float16). How many different values are left?",
        different_values,
        lambda left: f"{left} different values",
        "All outputs lie near 1, where half precision has steps of about 0.001 or 0.0005. The spread of the outputs is "
        "0.001 too. LayerNorm, which takes the mean away before it rounds, keeps more than 3000.",
    ),
}

QUIZ = {
    "left_out": Question(
        "What does RMSNorm leave out of LayerNorm?",
        wrong(
            "The learned scale γ",
            "γ stays, one number for each feature. What goes is the shift β, and the mean.",
        ),
        wrong(
            "The square root, which is slow",
            "The root stays: one for each row, which costs next to nothing. It is the first letter of RMS.",
        ),
        right(
            "Taking the mean away, and the shift β",
            "x / √(mean(x²) + ε) · γ. The mean is neither subtracted from x nor left out of the squares.",
        ),
        wrong(
            "The ε, because a mean square is never 0",
            "A row of zeros has mean square 0, and 0 / 0 is not a number. ε stays, inside the root.",
        ),
    ),
    "when_equal": Question(
        "γ is the same and β is 0. For which rows do LayerNorm and RMSNorm give the same?",
        right(
            "Rows whose mean is 0",
            "Then there is nothing to take away, and the variance is the mean square. Elsewhere they differ, the more "
            "the larger the mean is beside the spread.",
        ),
        wrong(
            "Rows whose spread is 1",
            "With spread 1 and mean 5 LayerNorm gives numbers around 0, RMSNorm numbers around 1.",
        ),
        wrong(
            "All rows, once γ has been trained",
            "γ multiplies a feature by the same number in every row. It cannot take away a mean that each row has "
            "for itself.",
        ),
    ),
    "rsqrt": Question(
        "A model's code says `x * rsqrt(mean_square + eps)`. Should it not divide?",
        wrong(
            "Yes: it is a known bug, and γ has learned to make up for it",
            "γ is the same for every row and could not undo a wrong division. Read what rsqrt does: it is the "
            "reciprocal of the root.",
        ),
        wrong(
            "Yes: the result is too large for large inputs",
            "For large inputs rsqrt is small: 1 / √z. The product has size 1, as it should.",
        ),
        right(
            "No: rsqrt(z) is 1 / √z, so it does",
            "The r stands for reciprocal. Multiplying by it is dividing by the root mean square. The real bug is to "
            "divide by rsqrt.",
        ),
    ),
    "zero_gain": Question(
        "A checkpoint stores the gain around zero ($1 + w$) and all its w are 0. You load w as γ. What do your norms give?",
        wrong(
            "The normalized row, as they should",
            "That would need a gain of 1. Your code multiplies by w, which is 0, and not by 1 + w.",
        ),
        right(
            "Zeros",
            "x / rms · 0. When w is small but not 0 you see no zeros, only a model that talks nonsense: harder to find.",
        ),
        wrong(
            "Not a number: something is divided by 0",
            "Nothing is divided by w. The root mean square is divided by, and that is as it was.",
        ),
    ),
    "directions": Question(
        "A row has 8 features, and ε is next to nothing. How many directions of an arriving gradient does RMSNorm's "
        "backward pass take away?",
        right(
            "1",
            "The direction of x itself: making x longer does not change the output. The other 7 go on, divided by the "
            "root mean square.",
        ),
        wrong(
            "2",
            "That is LayerNorm: it takes away the direction of 1, because it ignores the mean, and that of x̂.",
        ),
        wrong(
            "None: it only divides by the root mean square",
            "The root mean square depends on x too. Whoever holds it constant gets a wrong gradient.",
        ),
        wrong(
            "7",
            "One direction is taken away and 7 are left, not the other way round.",
        ),
    ),
    "half": Question(
        "In float16, code squares x before the mean is taken. One feature is 300. What does RMSNorm give?",
        wrong(
            "An error message about the overflow",
            "NumPy may warn, a graphics card does not, and nothing stops: the square becomes infinity.",
        ),
        right(
            "Zeros for the whole row",
            "300² is 90,000, beyond 65,504, so the mean square is infinite, and all numbers divided by infinity are 0. "
            "Square in float32.",
        ),
        wrong(
            "Numbers that are right in two or three digits",
            "So it would be if 90,000 were a number of float16. The largest is 65,504.",
        ),
    ),
}
