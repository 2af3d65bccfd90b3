"""Questions of `00_start_here`."""

from .. import experiments
from ..figures import words
from .kinds import Choice, Question, right, wrong

TITLE = "00 Start here"
EXERCISES = ()

CORNERS = {
    "Neither of the two": (None, False),
    "The residual connection alone": (None, True),
    "LayerNorm alone": ("layer", False),
    "Both together": ("layer", True),
}


def four_corners():
    """Spread of the values after 50 blocks, for each position of the two switches."""
    kind: dict = {"activation": "relu", "branch_layers": 2}
    return {
        corner: experiments.activation_spread(50, norm, residual, **kind).std[-1]
        for corner, (norm, residual) in CORNERS.items()
    }


def _largest(corner):
    return lambda spread: max(spread, key=spread.get) == corner


PREDICTIONS = {
    "four_corners": Choice(
        "the largest values after 50 blocks",
        "A network of 50 blocks, freshly initialized: each block has two random matrices with a ReLU between "
        "them, drawn with standard deviation 1/√width (gain 1). You may add a residual connection, LayerNorm, or both. "
        "With which of them are the values after the last block the largest?",
        {corner: _largest(corner) for corner in CORNERS},
        four_corners,
        lambda spread: "spread " + ", ".join(f"{words(std)} ({corner})" for corner, std in spread.items()),
        "A shortcut adds each branch to all that came before, so the sum keeps growing; here it grows because "
        "nothing holds the branches down. LayerNorm in front of each branch does, and the growth becomes slow.",
    ),
}

QUIZ = {
    "two_troubles": Question(
        "You stack many freshly initialized layers. Which two things can go wrong?",
        wrong(
            "The network becomes too slow, and it needs too much memory",
            "Depth costs time and memory, but only in proportion. The troubles of this course grow with a power "
            "of the depth: a factor at every layer.",
        ),
        wrong(
            "It overfits, and it forgets its earlier examples",
            "These come from training and from data. The troubles of this course are there before the first "
            "step of training: you can measure them in a network of random weights.",
        ),
        right(
            "The scale of the values drifts, and the gradient vanishes or explodes",
            "Forward, each layer multiplies the scale of the values. Backward, each layer multiplies the "
            "gradient. A factor that is not 1, taken many times, ends near nothing or far beyond 1.",
        ),
    ),
    "twenty_layers": Question(
        "Each layer keeps 90 % of a signal. After 10 layers 35 % is left. How much is left after 20?",
        wrong(
            "Nothing: 65 % is lost in each ten layers",
            "Losses do not add. Each layer takes 10 % of what is still there, so something always remains.",
        ),
        right(
            "12 %",
            "The second ten layers keep 35 % of the 35 % that reach them: `0.35 * 0.35` is about 0.12. Twice the "
            "depth squares the share.",
        ),
        wrong(
            "17 %, half of what ten layers leave",
            "Twice the depth does not halve the share, it squares it: ten more layers keep 35 % of 35 %.",
        ),
        wrong(
            "35 %: the first layers do most of the damage",
            "Each layer takes the same share, early or late. Ten more layers keep 35 % of what reaches them.",
        ),
    ),
    "residual_alone": Question(
        "In “Two switches” (50 blocks, a branch of two matrices with a ReLU, gain 1) you switch the residual "
        "connection on and leave normalization off. What do you see?",
        wrong(
            "The values stay near 1, because the shortcut passes them on unchanged",
            "The shortcut does pass its input on. But the branch is added on top, in every block, and the sum "
            "grows: after 50 blocks the spread is past 10,000.",
        ),
        wrong(
            "The values vanish, only more slowly than without it",
            "They vanish without it: 0.00000001 or less is left. With the shortcut every block adds something to a "
            "stream that loses nothing, so the values grow.",
        ),
        right(
            "The values grow from block to block until they are past 10,000",
            "Each block adds a branch to what it was given, and the next branch works on that larger sum. The "
            "shortcut mends vanishing here and brings explosion. Smaller branches or a normalization hold it.",
        ),
    ),
    "blank_exercise": Question(
        "You leave an exercise blank and run the whole notebook. What happens?",
        right(
            "The check says that it was not attempted, and the notebook runs on",
            "Nothing breaks. The picture that would have used your function uses the course's own and says so.",
        ),
        wrong(
            "The notebook stops with an error at the check",
            "A blank exercise is not an error. You can read on and come back to it at any time.",
        ),
        wrong(
            "The check counts it as a wrong answer",
            "A check tells apart what is blank, right, wrong and broken, and it says which it is. "
            "Nothing is counted.",
        ),
    ),
}
