"""Questions of `04_batch_norm_comparison`."""

import numpy as np

from ..experiments import batches, sharing
from ..figures import words
from .kinds import Choice, Question, right, wrong

TITLE = "04 Batch norm or layer norm?"
EXERCISES = ("batch_norm", "batch_norm_backward", "masked_batch_norm")


def share_a_mean():
    """How many numbers of three sentences, four tokens, six features have their mean in common with one."""
    group = sharing.groups("BatchNorm", (3, 4, 6))
    return (group == group[0, 1, 2]).sum()


def neighbours():
    """How far the outputs of five examples move, at most, when the first feature of a sixth moves by 5."""
    before, now = batches.neighbours_moved(batches.over_batch, 6, 5, 5.0)
    return np.abs(now - before)[:5].max()


def batch_of_two():
    """What BatchNorm makes of 3.2, when the only other example of the batch has 3.1."""
    return batches.over_batch(np.array([[3.1], [3.2]]))[1, 0]


PREDICTIONS = {
    "batch_norm_shares": Choice(
        "numbers in one mean of BatchNorm",
        "Three sentences of four tokens are a batch; each token has six features, so there are 72 numbers. BatchNorm "
        "normalizes feature 3 of token 2 of sentence 1. How many of the 72 numbers are in its mean?",
        {
            "3: feature 3 of token 2, in all sentences": lambda n: n < 4,
            "4: feature 3 of all tokens of sentence 1": lambda n: 4 <= n < 5,
            "6: all features of token 2 of sentence 1": lambda n: 5 <= n < 7,
            "12: feature 3 of all tokens of all sentences": lambda n: n >= 7,
        },
        share_a_mean,
        lambda n: f"{n} numbers",
        "To BatchNorm a token is one more example. Feature 3 has one mean over everything that has a feature 3: the "
        "whole batch, and all tokens in it.",
    ),
    "batch_of_two": Choice(
        "BatchNorm of a batch of two",
        "A batch of two examples: a feature has the values 3.1 and 3.2. What does BatchNorm make of them, "
        "in training, with γ = 1 and β = 0?",
        {
            "Hardly different numbers: 3.1 and 3.2 were close": lambda y: y < 0.5,
            "About −1 and 1": lambda y: 0.5 <= y < 1.5,
            "Large numbers: the spread, by which it divides, is small": lambda y: y >= 1.5,
        },
        batch_of_two,
        lambda y: f"{words(-y)} and {words(y)}",
        "Two numbers lie one spread below and one spread above their mean, whatever they are. All that is left is "
        "which one was larger.",
    ),
    "neighbour": Choice(
        "your neighbour moves",
        "Six examples are normalized together by BatchNorm, in training. Their features have a spread of about 1. Now "
        "one example has its first feature moved by 5. How far does the output of that feature move in the five "
        "others, at most?",
        {
            "Not at all: nobody touched them": lambda change: change == 0,
            "By less than 0.3": lambda change: 0 < change < 0.3,
            "By about 1": lambda change: 0.3 <= change < 3,
            "By about 5": lambda change: change >= 3,
        },
        neighbours,
        lambda change: f"by up to {words(change)}",
        "All six are normalized by a mean and a spread that each of them helps to make. In training, an answer of "
        "BatchNorm belongs to the batch, not to the example.",
    ),
    "batch_norm_at_init": Choice(
        "gradient through 30 fresh layers",
        "Thirty layers: a random matrix, BatchNorm, ReLU. So after each normalization every feature has spread 1. "
        "How large is the gradient at the input, compared with the gradient at the end?",
        {
            "Less than a tenth of it": lambda ratio: ratio < 0.1,
            "About as large, within a factor of 10": lambda ratio: 0.1 <= ratio <= 10,
            "More than 10 times as large": lambda ratio: ratio > 10,
        },
        lambda: batches.gradient_growth()[0],
        lambda ratio: f"{words(ratio)} times",
        "Forward, the spread is set back to 1 at every layer. Backward, nothing sets anything back: each layer "
        "multiplies the gradient by about 1.2. With shortcuts around the layers it grows far less: the picture has them.",
    ),
}

QUIZ = {
    "images": Question(
        "A batch of 16 images with 64 channels of 10 × 10 positions goes through BatchNorm. How many numbers are in one mean?",
        wrong(
            "16",
            "That would be one position of a channel, over the batch. In images BatchNorm takes all positions of a "
            "channel together: a convolution treats them alike too.",
        ),
        wrong(
            "6400",
            "64 channels × 100 positions are all numbers of one image: BatchNorm never mixes channels.",
        ),
        right(
            "1600",
            "16 images × 100 positions, for each channel by itself. That is why BatchNorm is at ease in convolutional "
            "networks: even a small batch gives it many numbers.",
        ),
    ),
    "momentum": Question(
        "A PyTorch model has BatchNorm with `momentum=0.05`. You write it again in Keras. Which momentum behaves the same?",
        wrong(
            "0.05",
            "Keras weighs the old value with its momentum. With 0.05 it would forget nearly all that it knows at "
            "every batch.",
        ),
        right(
            "0.95",
            "PyTorch: new = 0.95 · old + 0.05 · batch. Keras and ONNX give the name to the weight of the old value. "
            "(What remains is a small difference: which variance is kept.)",
        ),
        wrong(
            "0.99",
            "That is Keras's default, a memory five times longer than this model's, and not its translation.",
        ),
    ),
    "batch_two_training": Question(
        "You train with BatchNorm and batches of 2. The training loss falls, the test error stays terrible. Look where first?",
        right(
            "At the statistics: training uses those of 2 examples, testing the running ones",
            "With two examples every normalized value is −1 or 1 in training, and the network learned from those alone. "
            "In evaluation it is given other values. Testing with batch statistics does not repair it; larger batches "
            "do, or GroupNorm or LayerNorm.",
        ),
        wrong(
            "At the learning rate: it is too high",
            "Then the training loss would suffer as well. Here training and testing disagree, and one layer "
            "computes different things in the two.",
        ),
        wrong(
            "At overfitting: get more data",
            "Possible in general. But test the network on its own training data in evaluation mode before you buy "
            "data: if it fails there too, this is not overfitting.",
        ),
    ),
    "relu": Question(
        "Does BatchNorm bring values into 0 … 1, so that a ReLU after it does nothing?",
        wrong(
            "Yes: normalizing means to bring everything into the range from 0 to 1",
            "Normalizing to a range does that. BatchNorm sets mean and spread, and mean 0 needs negative values.",
        ),
        right(
            "No: mean 0 and spread 1, so the ReLU cuts off about half",
            "About half of the values of a symmetric distribution are negative, before β shifts them. The original "
            "paper puts BatchNorm before the activation; some networks have it after. Both work; it is tried out.",
        ),
        wrong(
            "No: it makes all values positive",
            "Then their mean could not be 0. It is, before β is added to all of them.",
        ),
    ),
    "undo": Question(
        "γ and β could be set to the spread and the mean of the input. Does that undo the normalization?",
        wrong(
            "Yes, so normalizing changes nothing",
            "In training the mean and the spread are another pair for each batch; γ and β are one pair for all.",
        ),
        right(
            "In BatchNorm for one fixed mean and spread, as in evaluation; in LayerNorm never",
            "In evaluation BatchNorm is a fixed scale and shift, which another one can undo. LayerNorm has a mean and "
            "a spread for each token, and γ and β do not know which token it is.",
        ),
        wrong(
            "Yes in LayerNorm, no in BatchNorm",
            "The other way around, if at all: LayerNorm's statistics are different for every token.",
        ),
    ),
    "why_layer_norm": Question(
        "Why do transformers use LayerNorm and not BatchNorm? Which answer is complete enough?",
        wrong(
            "Because sentences have different lengths",
            "That is one reason, and padding can be masked. It leaves out that tokens would depend on their "
            "neighbours, on later tokens, and on whether one is training.",
        ),
        wrong(
            "Because LayerNorm takes all tokens of a sentence together",
            "A common error: in a transformer it takes the features of one token, and nothing else.",
        ),
        right(
            "Because a token's output then depends on that token alone: no batch, no padding, no later tokens, no modes",
            "All of these are measured in the table. BatchNorm in a transformer is possible, and papers have made it "
            "work with extra care; it is not the default for these reasons.",
        ),
        wrong(
            "Because BatchNorm cannot have more than two axes",
            "It can: it takes a mean over all axes but the features.",
        ),
    ),
}
