"""Questions of `01_residual_connections`."""

import numpy as np

from .. import experiments
from ..figures import words
from .kinds import Choice, Number, Question, right, wrong

TITLE = "01 Residual connections"
EXERCISES = ("residual_block", "projected_residual", "residual_backward")


def median_lesion():
    """The median error, in percent, after one block of the trained residual network is deleted."""
    seen = experiments.trained_lesions(depth=40, kind="residual", norm="layer")
    return 100 * float(np.median(seen.without))


PREDICTIONS = {
    "similarity_plain": Choice(
        "plain network: likeness to the input after 20 layers",
        "A plain network of 20 tanh layers with random weights, gain 1, no shortcut. The cosine between the values "
        "after the last layer and the input is 1 when they point the same way and 0 when they have "
        "nothing in common. About how large is it?",
        {
            "About 1: the layers only rescale the input": lambda cosine: cosine > 0.75,
            "About a half": lambda cosine: 0.25 < cosine <= 0.75,
            "About 0": lambda cosine: -0.25 <= cosine <= 0.25,
            "About −1: the layers turn the input around": lambda cosine: cosine < -0.25,
        },
        lambda: experiments.input_similarity(20)[-1],
        lambda cosine: f"cosine {words(cosine, 2)}",
        "A random matrix already turns its input into an unrelated direction at the first layer. With a shortcut "
        "the input stays in the sum, and the cosine falls only slowly.",
    ),
    "slope_product": Number(
        "gradient through 50 blocks, f′ = 0.1 in each",
        "In 50 residual blocks, one after the other, the slope of each branch is $f'(x) = 0.1$. "
        "By what factor is the gradient multiplied on its way through all of them?",
        lambda: experiments.toy_gradient_norms(50, 0.1, residual=True)[0],
        lambda factor: f"{words(factor)} times",
        "Each block multiplies by 1 + f′ = 1.1, which looks harmless, and fifty of them make `1.1 ** 50`. With "
        "f′ = −0.1 it is `0.9 ** 50`: the gradient vanishes in spite of the shortcut.",
        factor=3,
    ),
    "delete_one_layer": Choice(
        "residual network: one block deleted",
        "A residual network of 20 blocks, with LayerNorm in front of each branch, has learned to tell three classes "
        "apart; it makes almost no errors on its training data. You delete one block and let its input "
        "go on unchanged. How many errors does it make then, in the median over the 20 blocks?",
        {
            "Almost none: below 5 %": lambda percent: percent < 5,
            "Some: 5 to 40 %": lambda percent: 5 <= percent < 40,
            "As many as guessing: 40 % or more": lambda percent: percent >= 40,
        },
        median_lesion,
        lambda percent: f"{words(percent, 2)} % errors in the median",
        "Most blocks only add a little to a stream that runs past them, so the others still find what they know. "
        "The median hides the first blocks: delete the first or the second, and about as many are wrong as by guessing.",
    ),
}

QUIZ = {
    "worked_sum": Question(
        "$x = [1.0, 2.0]$ and $f(x) = [0.1, 0.3]$. What does the residual block give?",
        wrong(
            "[0.1, 0.6]",
            "That is the product x · f(x). A product would make the output 0 wherever the branch gives 0; the sum "
            "leaves x as it is there.",
        ),
        wrong(
            "[0.1, 0.3]",
            "That is f(x) alone, a layer without a shortcut: the input is replaced instead of kept.",
        ),
        wrong(
            "[1.0, 2.0, 0.1, 0.3]",
            "That puts the two side by side, as DenseNet does. A residual block adds them, so the width stays 2.",
        ),
        right("[1.1, 2.3]", "y = x + f(x), entry by entry: 1.0 + 0.1 and 2.0 + 0.3."),
    ),
    "why_add": Question(
        "Why does a residual block add its input, and not put it beside the branch's output (concatenate)?",
        wrong(
            "Concatenating would lose the input",
            "It keeps both intact, better than a sum does. Its price is the width, which grows at every block.",
        ),
        right(
            "The width stays the same, and a branch of 0 makes the block do nothing",
            "Adding costs no parameters, the next block finds the same width, and “change nothing” is the easy "
            "case. Concatenation (DenseNet) works too, with a width that grows.",
        ),
        wrong(
            "Only a sum has a gradient",
            "Concatenation has one as well: each half of the gradient goes back to the part that it came from.",
        ),
        wrong(
            "A sum always keeps the values at the same scale",
            "It does not. Sums of many branches grow with depth unless the branches are scaled or normalized.",
        ),
    ),
    "slope_minus_one": Question(
        "At some $x$ the branch has the slope $f'(x) = -1$. What gradient does the block $y = x + f(x)$ pass on there?",
        right(
            "None",
            "1 + f′ = 1 − 1 = 0. The shortcut's path still has weight 1, but the branch's path has weight −1, and "
            "what is added up cancels.",
        ),
        wrong(
            "All of it: the shortcut carries it past the branch",
            "The two paths are added, not chosen between. The branch brings −1 times the gradient, which cancels the "
            "shortcut's 1.",
        ),
        wrong(
            "Twice as much: 1 from the shortcut and 1 from the branch",
            "Signs count. That would be f′ = +1; here the branch brings −1.",
        ),
    ),
    "many_blocks": Question(
        "Of 100 residual blocks, one after the other, half have the slope $f'(x) = 0.1$ and half $f'(x) = -0.1$. What "
        "becomes of the gradient on its way through all of them?",
        wrong(
            "It comes out as it went in: the slopes cancel",
            "Slopes of different blocks are not added; their factors 1 + f′ are multiplied, and 1.1 · 0.9 is 0.99, not 1.",
        ),
        wrong(
            "At least all of it arrives, since the shortcut alone already has weight 1",
            "One path of weight 1 exists, but the gradient is the sum of all paths, and here the others take "
            "away from it.",
        ),
        wrong(
            "Half a percent of it is left: the blocks that shrink it decide",
            "`0.9 ** 50` is what these blocks alone would leave. The other fifty multiply it by `1.1 ** 50`.",
        ),
        right(
            "About 61 % of it is left",
            "Each pair makes 1.1 · 0.9 = 0.99, and fifty pairs `0.99 ** 50`, about 0.605, in whatever order they stand. A rise "
            "of 10 % does not make up for a loss of 10 %.",
        ),
    ),
    "paths_left": Question(
        "Through 5 residual blocks there are 32 paths. You delete two of the blocks and let their input go on unchanged. How "
        "many of the paths are left?",
        wrong(
            "30: each block is one path",
            "A path says of every block whether it goes through the branch or past it. So each block lies on many paths.",
        ),
        right(
            "8",
            "Past a deleted block there is one way left instead of two. Three blocks still offer two: 2 · 2 · 2.",
        ),
        wrong(
            "0: each deletion cuts half of them",
            "The second one cuts half of what the first has left, not the other half: some paths go past both blocks.",
        ),
        wrong(
            "16: both deletions cut the same half",
            "One cuts the paths through the one branch, the other those through the other. Some paths go through one only.",
        ),
    ),
    "in_place": Question(
        "Inside a function a block is written as `x += f(x)`, `return x`, with NumPy arrays. What is the trouble?",
        wrong(
            "The sum is wrong",
            "The numbers that come out are right. What is wrong is where they are written.",
        ),
        wrong(
            "None: it is the same as x = x + f(x)",
            "`x = x + f(x)` makes a new array. `x += f(x)` writes into the old one, which the caller still holds.",
        ),
        right(
            "It changes the caller's array too",
            "`+=` writes into the array that was handed in. Whoever needs that x again, and backward does, finds "
            "other numbers there. Write `x + f(x)`.",
        ),
    ),
}
