"""Questions of `06_transformer_block`."""

import functools

import numpy as np

from .. import layers
from ..experiments import transformer
from ..figures import words
from .kinds import Choice, Number, Question, right, wrong

TITLE = "06 The transformer block"
EXERCISES = ("pre_norm_block", "post_norm_block", "transformer_block", "pre_norm_stack", "residual_init_std")


def outputs_that_change(token=4):
    """How many of 8 outputs change when this token is replaced, with a causal mask?"""
    x, attn, block = transformer.one_block(causal=True)
    y, other = (
        layers.transformer_block(h, attn, block.ffn, block.ln1, block.ln2)
        for h in (x, transformer.replaced(x, token - 1))
    )
    return int((transformer.changes(y, other) > 0).sum())


@functools.lru_cache(maxsize=1)
def losses_after_training():
    """Loss after 200 steps at learning rate 0.01, without warm-up."""
    return {
        place: list(transformer.train_transformer(place, every=200))[-1].loss for place in transformer.PLACES
    }


def _learned(loss):
    return loss < 0.5


PREDICTIONS = {
    "who_changes": Choice(
        "outputs that change, causal mask",
        "Eight tokens go through a transformer block with a causal mask: no token may look at a later one. You replace the "
        "4th token by another. How many of the eight outputs change?",
        {
            "1: only its own": lambda n: n < 2,
            "4: its own and the three before it": lambda n: 2 <= n < 4.5,
            "5: its own and the four after it": lambda n: 4.5 <= n < 6.5,
            "8: all of them": lambda n: n >= 6.5,
        },
        outputs_that_change,
        lambda n: f"{n} outputs change",
        "A token looks at itself and at those before it, so a change travels to the later tokens only. The others are not "
        "nearly the same: they are equal to the last digit.",
    ),
    "stream_size": Number(
        "stream after 24 pre-norm layers",
        "The stream enters a fresh pre-norm transformer with a root mean square of 1. Each of 24 layers adds two branches to "
        "it, attention and feed-forward, and each branch starts from normalized values. What is its root mean square after the "
        "last layer, before the final norm?",
        lambda: float(np.sqrt(transformer.fresh(24).square[-1])),
        lambda rms: f"root mean square {words(rms)}",
        "What the branches add is nearly independent, so squares add up, not sizes: the mean square grows by about 1 a layer, "
        "and its root like √(1 + l). The final norm divides by it.",
        factor=1.5,
    ),
    "needs_warm_up": Choice(
        "who learns without warm-up",
        "Two transformers of 8 layers, equal but for the place of the norm, learn a simple task with Adam at a high learning "
        "rate, 0.01, from the first step on. Which one has learned it after 200 steps?",
        {
            "Both": lambda loss: _learned(loss["pre-norm"]) and _learned(loss["post-norm"]),
            "Pre-norm only": lambda loss: _learned(loss["pre-norm"]) and not _learned(loss["post-norm"]),
            "Post-norm only": lambda loss: not _learned(loss["pre-norm"]) and _learned(loss["post-norm"]),
            "Neither": lambda loss: not _learned(loss["pre-norm"]) and not _learned(loss["post-norm"]),
        },
        losses_after_training,
        lambda loss: (
            f"loss {words(loss['pre-norm'])} pre-norm, {words(loss['post-norm'])} post-norm (guessing: 2.08)"
        ),
        "At this rate and depth post-norm stays where guessing is. A warm-up helps it, and so does a lower rate, or fewer layers: "
        "move the controls and see.",
    ),
}

QUIZ = {
    "which_is_pre_norm": Question(
        "Which line is the pre-norm block?",
        wrong(
            "x = norm(x + f(x))",
            "That is post-norm, the order of the first transformer: everything, the shortcut too, goes through the norm.",
        ),
        wrong(
            "x = x + norm(f(x))",
            "Here the branch's output is normalized, not its input. Some recent models do so (OLMo 2), but it is "
            "neither pre-norm nor the post-norm of 2017.",
        ),
        right(
            "x = x + f(norm(x))",
            "The norm is the first thing on the branch's lane. The shortcut carries x as it is, from the first block to the last.",
        ),
        wrong(
            "x = norm(x) + f(norm(x))",
            "The shortcut is normalized too, so the stream never passes untouched. This is a usual slip: norm once, use twice.",
        ),
    ),
    "why_a_final_norm": Question(
        "Why does a pre-norm transformer end with one more norm?",
        right(
            "Because nothing has normalized the stream, which has grown",
            "Each layer normalizes what its branches are given, never the stream. After 24 fresh layers it is about five times "
            "as large, and so would be the scores.",
        ),
        wrong(
            "Because the last layer has no norm of its own inside",
            "It has two, like every layer, one before each branch. But they stand on the branches; the stream passes by.",
        ),
        wrong(
            "To keep the gradients of the first layers from vanishing at depth",
            "The gradient reaches them along the shortcut with or without that norm. The final norm divides by the "
            "size of the stream, so it makes all gradients smaller.",
        ),
    ),
    "no_mask": Question(
        "A model that predicts the next token trains suspiciously well, then writes nonsense. Its mask was True everywhere. "
        "What happened?",
        wrong(
            "All weights became equal, so attention took plain means",
            "A mask of True changes no weight: softmax sees all scores as they are. The trouble is whom they may go to.",
        ),
        right(
            "Each token could look at the very token it had to predict",
            "In training the answer stands one place later in the same sequence. When the model writes, there is no later token "
            "to copy from.",
        ),
        wrong(
            "Softmax divided 0 by 0 for the first token",
            "That happens when a row is False everywhere. With True everywhere each row has something to look at.",
        ),
    ),
    "zero_start": Question(
        "The last matrix of a branch starts at 0, so the block starts as the identity. Does the branch ever learn?",
        wrong(
            "No: the gradient through a matrix of zeros is zero, now and later",
            "That is true of what lies before that matrix, for one step. Its own gradient is its input times what arrives, and "
            "neither is 0.",
        ),
        wrong(
            "Yes: the matrices before it move first",
            "They are the ones that get no gradient at first, because it comes to them through the zeros.",
        ),
        right(
            "Yes: that matrix moves at the first step, the rest after it",
            "One zero factor is harmless. Two in a row would never move: each makes the other's gradient 0.",
        ),
    ),
    "when_warm_up": Question(
        "“Post-norm does not learn without warm-up.” Where did you see it here?",
        right(
            "With 8 layers at a learning rate of 0.01",
            "With 4 layers at that rate, or with 8 at 0.003, it learned without one. The sentence is about deep networks at high rates.",
        ),
        wrong(
            "At every depth and rate that could be chosen",
            "Choose 4 layers at 0.01, or 8 at 0.003: post-norm learns there, only more slowly than pre-norm.",
        ),
        wrong(
            "Whenever the final norm is missing",
            "The final norm belongs to pre-norm. Post-norm ends each block with a norm anyway.",
        ),
    ),
    "why_the_gradient_falls": Question(
        "The deeper a fresh pre-norm transformer, the smaller the gradient of its last matrix. Why?",
        wrong(
            "The gradient has to pass through more layers",
            "It does not: the last matrix is the first thing that it meets on its way back, at any depth.",
        ),
        wrong(
            "Deeper networks start with a smaller loss",
            "They do not; the loss at the start is about the same at all depths, a bit more than guessing costs.",
        ),
        right(
            "The final norm divides it by the size of the stream",
            "The stream grows like the root of the depth, and a norm divides gradients by the size of its input. Without the "
            "final norm the gradient grows with depth instead.",
        ),
    ),
}
