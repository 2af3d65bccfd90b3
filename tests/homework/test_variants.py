"""Variants: prompt, solution and mistakes come from one specification and cannot disagree."""

import re

import numpy as np
import pytest

pytest.importorskip("cloudpickle", reason="not installed: pip install -r homework/requirements.txt")

from helpers import exercises, layers
from homework import variants

SEEDS = [f"seed {n}" for n in range(60)]
NORMS = ["layer_norm", "rms_norm", "rms_norm_offset"]
BLOCKS = ["pre_norm_block", "post_norm_block"]


def varied(name, seed):
    return variants.choose(name, seed), variants.exercise(name, seed)


def as_read(text, x, gain, beta, eps):
    """What a normalization's prompt asks for, worked out from its words alone, one row or column at a time."""
    if "first axis" in text:
        pieces = [(slice(None), *i) for i in np.ndindex(x.shape[1:])]
    else:
        half = x.shape[-1] // 2
        cuts = [slice(None, half), slice(half, None)] if "two halves" in text else [slice(None)]
        pieces = [(*i, cut) for i in np.ndindex(x.shape[:-1]) for cut in cuts]
    x_hat = np.empty(x.shape)
    for piece in pieces:
        values = x[piece]
        top = values - sum(values) / len(values) if "minus the mean" in text else values
        if "standard deviation" in text:
            spread = np.std(values)
        elif "root mean square" in text:
            spread = np.linalg.norm(values) / len(values) ** 0.5
        else:
            assert "numerator's absolute values" in text
            spread = np.abs(top).sum() / len(top)
        x_hat[piece] = top / ((spread**2 + eps) ** 0.5 if "sqrt(spread**2 + eps)" in text else spread + eps)
    if "Before the gain is applied, x is added" in text:
        x_hat = x_hat + x
    gain = 1 + gain if re.search(r"gain is 1 \+", text) else gain
    if "`beta` is added before" in text:
        y = (x_hat + beta) * gain
    else:
        y = x_hat * gain + (beta if "`beta` is added after" in text else 0)
    return y + x if "At the very end x is added" in text else y


def block_as_read(text, x, f, norm):
    """The same for a block."""
    skip = norm(x) if "shortcut carries norm(x)" in text else x
    out = f(norm(x)) if "f is given norm(x)" in text else f(x)
    out = norm(out) if "What f returns is normalized" in text else out
    out = -out if "is subtracted from the shortcut" in text else out
    out = out * 2 if "twice the branch" in text else out
    joined = (2 if "twice the shortcut" in text else 1) * skip + out
    return norm(joined) if "Last, norm is applied" in text else joined


@pytest.mark.parametrize("name", NORMS)
def test_the_prompt_says_what_the_solution_does(name):
    for seed in SEEDS:
        _, exercise = varied(name, seed)
        for args in exercise.probes[:3]:
            given = args if len(args) == 4 else (*args[:2], None, args[2])
            assert np.allclose(exercise.reference(*args), as_read(exercise.prompt, *given)), exercise.prompt


@pytest.mark.parametrize("name", BLOCKS)
def test_the_prompt_of_a_block_says_what_the_solution_does(name):
    for seed in SEEDS:
        _, exercise = varied(name, seed)
        for args in exercise.probes:
            assert np.allclose(exercise.reference(*args), block_as_read(exercise.prompt, *args)), (
                exercise.prompt
            )


def test_there_are_more_than_200():
    drawn = {(name, *varied(name, seed)[0].items()) for name in NORMS + BLOCKS for seed in range(120)}
    assert len(drawn) >= 200


@pytest.mark.parametrize("name", NORMS + BLOCKS)
def test_the_function_of_the_lesson_is_recognized_and_no_solution(name):
    for seed in SEEDS[:15]:
        _, exercise = varied(name, seed)
        found = exercise.diagnose(getattr(layers, name))
        assert (found.outcome, found.mistake) == ("wrong", "textbook")
        assert "function of the lesson" in found.message


@pytest.mark.parametrize("name", NORMS + BLOCKS)
def test_each_single_mistake_is_named(name):
    for seed in SEEDS[:5]:
        chosen, exercise = varied(name, seed)
        assert exercise.diagnose(exercise.reference).outcome == "correct"
        table = variants.FAMILIES[name].table
        for decision, right in chosen.items():
            for choice in set(table[decision]) - {right}:
                wrong = variants._function(name, tuple((chosen | {decision: choice}).items()))
                found = exercise.diagnose(wrong)
                assert found.outcome in ("wrong", "raised"), (chosen, decision, choice)
                if found.outcome == "wrong":
                    assert found.mistake in (f"{decision}: {choice}", "textbook"), (chosen, found)


def test_an_unknown_mistake_tells_no_number():
    _, exercise = varied("layer_norm", "a")
    found = exercise.diagnose(lambda x, gamma, beta, eps: np.sin(x))
    assert found.outcome == "wrong" and not re.search(r"\d\.\d", found.message)


def test_the_same_seed_gives_the_same_and_others_differ():
    assert varied("rms_norm", "a")[0] == variants.choose("rms_norm", "a")
    assert len({tuple(variants.choose("rms_norm", s).items()) for s in SEEDS}) > 30


def test_what_has_no_variants_says_so():
    with pytest.raises(ValueError, match="has no variants"):
        variants.exercise("batch_norm", "a")
    assert set(variants.FAMILIES) <= set(exercises.ALL)
