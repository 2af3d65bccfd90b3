"""Explorers of notebook 06: the transformer block."""

import functools
from collections.abc import Callable

import numpy as np

from .. import controls, exercises, figures
from ..experiments import transformer
from ..figures import words
from ..live import Live, show
from ..running import Run
from .gradients import together
from .learner import about, about_all, given, number, shaped, unlike

TOKENS = 8


def look_ahead(transformer_block: Callable | None = None) -> Live:
    """Replace one token: which outputs change, with a causal mask and without? Yours in the bars, if given."""
    picture = figures.LookAhead(TOKENS, transformer_block is not None)
    exercise = exercises.transformer_block
    yours = shaped(exercise, transformer_block)

    def update(causal, token, head):
        x, attn, block = transformer.one_block(causal, TOKENS)
        other = transformer.replaced(x, token - 1)

        def changes(run):
            return transformer.changes(*(run(h, attn, block.ffn, block.ln1, block.ln2) for h in (x, other)))

        changed, reference = changes(yours), changes(exercise.reference)  # the weights are the reference's
        rival = None if transformer_block is None else reference
        remark = about(exercise, transformer_block) + unlike("The changes", changed, reference)
        return picture.update(block.attn.weights[head - 1], changed, rival, token, causal, head, remark)

    causal = controls.toggle("mask", ("none", False), ("causal", True))
    causal.value = transformer_block is not None  # at first not what is to be predicted
    return show(
        picture,
        update,
        causal=causal,
        token=controls.whole("token that is replaced", 4, 1, TOKENS),
        head=controls.whole("head", 1, 1, 4),
    )


def pre_or_post(pre_norm_block: Callable | None = None, post_norm_block: Callable | None = None) -> Live:
    """Fresh transformers, pre-norm or post-norm: how does the stream grow, and what gradient does the last matrix get?

    With your own blocks the stream is yours and the reference a dotted line; the gradients are the reference's.
    """
    picture = figures.PreOrPost(transformer.DEPTHS)
    exercise = {"pre-norm": exercises.pre_norm_block, "post-norm": exercises.post_norm_block}
    function = {"pre-norm": pre_norm_block, "post-norm": post_norm_block}
    yours = {place: shaped(exercise[place], function[place]) for place in exercise}
    visited = set()  # the table fills as depths are chosen: it must not answer before

    def update(place, layers, final_norm):
        given = function[place] is not None
        rival = place if given else next(other for other in exercise if other != place)
        squares = transformer.stream_squares(yours[place], place)[: layers + 1]
        other = transformer.stream_squares(exercise[rival].reference, rival)[: layers + 1]
        by_depth = {place: transformer.by_depth(place, final_norm) for place in exercise}
        drawn = "Gradients and table are the reference's; the stream is drawn"
        remark = about(exercise[place], function[place], drawn=drawn)
        if given:
            remark += unlike("Its sizes", squares, other, "dotted")
        name = "the reference" if given else rival
        visited.add(layers)
        return picture.update(squares, other, name, place, final_norm, by_depth, visited, remark)

    depth = controls.choice("layers", *((str(n), n) for n in transformer.DEPTHS))
    depth.value = 8
    return show(
        picture,
        update,
        place=controls.toggle("norm", ("Pre-norm", "pre-norm"), ("Post-norm", "post-norm")),
        layers=depth,
        final_norm=controls.toggle("final norm after pre-norm blocks", ("on", True), ("off", False)),
    )


DEEPEST = 24


@functools.lru_cache(maxsize=2)
def reference_rms(small: bool) -> list[np.ndarray]:
    """What `stack_rms` measures of the references with 1, 2, ... DEEPEST layers: a slider over them asks for all."""
    init, stack = exercises.residual_init_std.reference, exercises.pre_norm_stack.reference
    depths = range(1, DEEPEST + 1)
    return [transformer.stack_rms(stack, depth, init(1.0, depth) if small else 1.0) for depth in depths]


def final_norm(pre_norm_stack: Callable | None = None, residual_init_std: Callable | None = None) -> Live:
    """Pre-norm layers one after the other: what is the final norm given, and how do smaller last weights change it?"""
    picture = figures.StackRms()
    stack, init = exercises.pre_norm_stack, exercises.residual_init_std
    yours, your_factor = shaped(stack, pre_norm_stack), number(init, residual_init_std)
    own = given(stack, pre_norm_stack) is not stack.reference

    def update(layers, small):
        factor, wanted = (run(1.0, layers) if small else 1.0 for run in (your_factor, init.reference))
        rms = reference = reference_rms(small)[layers - 1]
        if own or factor != wanted:
            rms = transformer.stack_rms(yours, layers, factor)
        start = f"last weights times {words(factor)}" if small else "last weights as they are"
        remark = about_all((stack, pre_norm_stack), (init, residual_init_std if small else None))
        return picture.update(rms, reference, layers, start, remark)

    return show(
        picture,
        update,
        layers=controls.whole("layers", 12, 1, DEEPEST),
        small=controls.toggle(
            "last weights of each branch", ("as they are", False), ("by residual_init_std", True)
        ),
    )


STEPS, EVERY = 200, 5


def warm_up() -> Run:
    """Train three small transformers side by side: pre-norm, post-norm, and post-norm with a warm-up."""
    picture = figures.WarmUp(STEPS, np.log(transformer.SMALL["vocabulary"]))

    def work(lr, layers, warm, final_norm, seed):
        kinds = {"pre-norm": 0, "post-norm": 0, "post-norm with warm-up": warm}
        how = {"final_norm": final_norm, "steps": STEPS, "every": EVERY, "seed": seed}
        training = {
            name: transformer.train_transformer(name.split()[0], steps, lr, layers, **how)
            for name, steps in kinds.items()
        }
        setting = f"learning rate {words(lr)}, {layers} layers, {warm} steps of warm-up, "
        setting += f"{'a' if final_norm else 'no'} final norm, random weights no. {seed}"
        yield {}, setting  # at first nothing: whoever is to predict the end must not see how it begins
        for runs in together(training, STEPS // EVERY):
            yield runs, setting

    return Run(
        picture.figure,
        lambda state: picture.update(*state),
        work,
        STEPS // EVERY + 1,
        1,
        lambda: picture.sentence,
        lr=controls.choice("learning rate", 0.01, 0.03, 0.003),
        layers=controls.choice("layers", 8, 4),
        warm=controls.choice("steps of warm-up", 100, 25, 10),
        final_norm=controls.toggle("final norm after pre-norm blocks", ("on", True), ("off", False)),
        seed=controls.whole("random weights no.", 0, 0, 4),
    )
