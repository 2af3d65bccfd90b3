"""Variants: prompt, solution and mistakes come from one specification and cannot disagree."""

import re

import numpy as np
import pytest

pytest.importorskip("cloudpickle", reason="not installed: pip install -r homework/requirements.txt")

from helpers import exercises
from helpers.exercises.comparing import reader
from homework import variants
from homework.building import NOTEBOOKS
from homework.judging import with_hidden_inputs
from homework.leaks import SHORT

from ..exercises.losses import unnoticed
from .reading import WORDS, by_formula, split

NAMES = list(variants.FAMILIES)
SEEDS = [f"seed {n}" for n in range(20)]


def varied(name, seed):
    return variants.choose(name, seed), variants.exercise(name, seed)


def numbers(exercise, value):
    """All arrays of a result, as the check reads them."""
    return [part for parts in reader(exercise.outputs)(value) for part in parts]


def same(exercise, one, other, tolerance=1e-6):
    one, other = numbers(exercise, one), numbers(exercise, other)
    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, atol=tolerance * (1 + np.max(np.abs(a))))
        for a, b in zip(one, other)
    )


def agree(name, f, g, tolerance=1e-6, inputs=None):
    """Do two functions give the same numbers on every input of an exercise? Not when one fails."""
    inputs = inputs or variants.FAMILIES[name].probes
    try:
        with np.errstate(all="ignore"):
            return all(same(exercises.ALL[name], f(*args), g(*args), tolerance) for args in inputs)
    except Exception:
        return False


def probes(exercise):
    """Inputs that are small enough for finite differences."""

    def size(args):
        return sum(np.size(a) for a in args if isinstance(a, np.ndarray))

    return sorted(exercise.probes, key=size)[:3]


def test_every_exercise_of_the_course_has_variants():
    headings = [re.findall(r"### Exercise: `(\w+)`", p.read_text("utf-8")) for p in NOTEBOOKS.glob("*.ipynb")]
    announced = set(sum(headings, []))
    assert set(NAMES) == set(exercises.ALL) == announced, (
        "each exercise has a family in homework/frames.py, and a heading in one notebook"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_the_prompt_say_what_the_solution_does(name):
    seen = set()
    for seed in SEEDS:
        chosen, exercise = varied(name, seed)
        words, _ = split(exercise.prompt)
        for args in probes(exercise):
            assert same(exercise, exercise.reference(*args), WORDS[name](words, *args)), exercise.prompt
        seen |= set(chosen.items())
    table = variants.FAMILIES[name].table
    assert seen == {(d, c) for d, choices in table.items() for c, it in choices.items() if it.prompt}


@pytest.mark.parametrize("name", NAMES)
def test_the_formulas_of_the_prompt_say_what_the_solution_does(name):
    for seed in SEEDS[:8]:
        _, exercise = varied(name, seed)
        for args in probes(exercise):
            read = by_formula(name, *split(exercise.prompt), dict(zip(exercise.parameters, args)))
            assert same(exercise, exercise.reference(*args), read), exercise.prompt


@pytest.mark.parametrize("name", NAMES)
def test_each_part_of_a_specification_changes_the_prompt_and_the_numbers(name):
    for seed in SEEDS:
        chosen, exercise = varied(name, seed)
        for decision, choices in variants.FAMILIES[name].table.items():
            for choice in {c for c, it in choices.items() if it.prompt} - {chosen[decision]}:
                other = chosen | {decision: choice}
                assert variants.prompt(name, other) != exercise.prompt
                assert not agree(name, exercise.reference, variants.function(name, other))


@pytest.mark.parametrize("name", [n for n in NAMES if n != "grad_norms"])  # a length does not see signs
def test_no_argument_loses_its_sign_unnoticed(name):
    """Where a variant uses it at all: not every one asks for the projection."""
    for seed in SEEDS[:8]:
        chosen, exercise = varied(name, seed)
        lost = {parameter for parameter, what in unnoticed(exercise) if what == "its sign"}
        spared = {"running_var", *(["proj"] if "proj" not in chosen.values() else [])}
        assert lost <= spared, (lost, chosen)


@pytest.mark.parametrize("name", NAMES)
def test_the_frame_filled_with_the_lessons_choices_is_the_lessons_function(name):
    """So a specification has a place for all that the lesson decides, and what is drawn is measured against it."""
    lesson, family = exercises.ALL[name], variants.FAMILIES[name]
    assert set(family.textbook) == set(family.table)
    f = variants.function(name, family.textbook)
    assert varied(name, SEEDS[0])[1].parameters == lesson.parameters
    for args in family.probes:
        assert same(lesson, f(*args), lesson.reference(*args), 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_function_of_the_lesson_is_recognized_and_no_solution(name):
    for seed in SEEDS[:8]:
        _, exercise = varied(name, seed)
        found = exercise.diagnose(exercises.ALL[name].reference)
        assert (found.outcome, found.mistake) == ("wrong", "textbook")
        assert "function of the lesson" in found.message


@pytest.mark.parametrize("name", NAMES)
def test_no_function_of_a_lesson_is_a_solution(name):
    for seed in SEEDS:
        f = variants.function(name, variants.choose(name, seed))
        for lesson in exercises.ALL.values():
            if len(lesson.parameters) == len(exercises.ALL[name].parameters):
                assert not agree(name, f, lesson.reference), (seed, lesson.name)


@pytest.mark.parametrize("name", NAMES)
def test_each_single_mistake_is_named(name):
    for seed in SEEDS[:2]:
        chosen, exercise = varied(name, seed)
        assert exercise.diagnose(exercise.reference).outcome == "correct"
        made = {"textbook": exercises.ALL[name].reference}
        for slip in exercise.space.slips[1:]:
            made[slip.name] = variants.function(name, chosen | {slip.decision: slip.choice})
        for slip, wrong in made.items():
            found = exercise.diagnose(wrong)
            assert found.outcome in ("wrong", "raised"), (chosen, slip)
            if found.outcome == "wrong" and found.mistake not in (slip, "all_nan"):
                twin = made[found.mistake]  # another mistake that gives the same numbers, up to eps
                assert agree(name, wrong, twin, 1e-4), (chosen, slip, found.mistake)


def test_there_are_more_than_200_and_no_exercise_has_only_a_few():
    count = {}
    for name in NAMES:
        results = set()
        for seed in range(40):
            f = variants.function(name, variants.choose(name, seed))
            made = [
                part
                for args in variants.FAMILIES[name].probes
                for part in numbers(exercises.ALL[name], f(*args))
            ]
            results.add(b"".join(part.round(6).tobytes() for part in made))
        count[name] = len(results)
    assert min(count.values()) >= 15, count
    assert sum(count.values()) >= 200


@pytest.mark.parametrize("name", NAMES)
def test_hidden_inputs_tell_the_solution_from_the_lessons_function_and_from_mistakes(name):
    for seed in SEEDS[:3]:
        chosen, exercise = varied(name, seed)
        hidden = with_hidden_inputs(exercise, "key")
        assert all(np.isfinite(part).all() for want in hidden.wanted for parts in want for part in parts)
        assert hidden.diagnose(exercise.reference).outcome == "correct"
        others = [
            variants.function(name, chosen | {it.decision: it.choice}) for it in exercise.space.slips[1:]
        ]
        for f in (exercises.ALL[name].reference, *others):
            assert not agree(name, exercise.reference, f, 1e-4, hidden.probes), chosen


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_solution_stands_in_the_prompt(name):
    for seed in SEEDS:
        chosen, exercise = varied(name, seed)
        for line in variants.code(name, chosen).splitlines()[1:]:
            assert len(line.strip()) < SHORT or line.strip() not in exercise.prompt, line


def test_an_unknown_mistake_tells_no_number():
    _, exercise = varied("layer_norm", "a")
    found = exercise.diagnose(lambda x, gamma, beta, eps: np.sin(x))
    assert found.outcome == "wrong" and not re.search(r"\d\.\d", found.message)


@pytest.mark.parametrize(
    "name", ["layer_norm", "rms_norm", "rms_norm_offset", "batch_norm", "masked_batch_norm"]
)
def test_who_clips_what_is_normalized_is_not_correct(name):
    for seed in SEEDS:
        _, exercise = varied(name, seed)

        def clips(*args, right=exercise.reference):
            outputs = right(*args)
            y = outputs[0] if isinstance(outputs, tuple) else outputs
            y = np.where(np.abs(y) > 4 * np.mean(np.abs(y)), 0, y)
            return (y, *outputs[1:]) if isinstance(outputs, tuple) else y

        assert exercise.diagnose(clips).outcome == "wrong", seed


def test_of_several_results_those_that_are_right_are_said():
    _, exercise = varied("layer_norm_backward", "a")

    def wrong(dy, x, gamma, eps):
        dx, *rest = exercise.reference(dy, x, gamma, eps)
        return np.sin(dx), *rest

    assert "Right for all: dgamma, dbeta." in exercise.diagnose(wrong).message


def test_the_same_seed_gives_the_same_and_others_differ():
    assert varied("rms_norm", "a")[0] == variants.choose.__wrapped__("rms_norm", "a")
    assert len({tuple(variants.choose("rms_norm", s).items()) for s in SEEDS}) > 15


def test_what_has_no_variants_says_so():
    with pytest.raises(ValueError, match="has no variants"):
        variants.exercise("an_exercise", "a")
