"""No number stands in the text without a reason: it is tied to code, measured by a test, or given and not claimed."""

import re
from pathlib import Path

import pytest

from . import notebooks
from .test_prose import SAID, asked, claims, prose

TESTS = Path(__file__).parent
TEXTS = [
    notebooks.GLOSSARY if path.stem == notebooks.GLOSSARY else path.stem[:2] for path in notebooks.paths()
]

NUMBER = r"(?<![\w.,])[−-]?\d+(?:[.,]\d+)*(?!\w)"
SEVERAL = rf"{NUMBER}(?:(?:,| and| or| to|,? or) {NUMBER})*"
SETTING = r"gain|rates?|γ|β|ε|momentum|slope|factor|depth|spread|means?|f'|f′|W|lr|layers\*\*|α"
THING = (
    r"layers?|blocks|plain layers|features|examples|points|steps|batches|tokens|heads|inputs|outputs|dimensions"
    r"|classes|centres|passes|units|minutes|bits|numbers|pictures|images|linear layers|tanh layers|ReLU layers"
    r"|plain ReLU layers|residual blocks|residual networks?|pre-norm layers|plain tanh layers|layer"
)
GIVEN = [  # what a learner sets, or what is shown, and not what came out
    r"\[\d\d [^\]]*\]",  # a notebook's number
    r"\]\([^)]*\)",
    r"`[^`]*`",
    r"^- .*\((?:19|20)\d\d\): \*.*$",  # a reference: see test_references.py
    r"\[\d{4}\.\d{4,5}",
    r"(?<![\d.,])(?:19|20)\d\d(?![\d.,]\d)",  # years
    rf"(?:{SETTING})\W{{0,4}}(?:of |is |at |from |to |= ?)*{SEVERAL}",  # gain 1.4
    rf"{SEVERAL}[ -](?:{THING})\b",  # 50 layers
    r"and \d+ more for the",  # minutes: test_prose.py adds them up
    r"10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\^\{?-?\d+\}?|\d+(?: × \d+)+",  # powers, shapes
    r"(?<![\w.,])[−-]?(?:\d|10)(?![\w]|[.,]\d)",  # counts and indices: results among them are tied all the same
]

EXAMPLE, SHOWN_HERE, PUBLIC = (
    "an example's input",
    "how the network or its training is built",
    "stated by the source",
)
SHOWN = [  # (text, words, why no code has to give the number)
    ("00", "its exercises up to 50 more", "minutes, of the exercises"),
    ("01", "a branch that gives $f(x) = [0.3, 0.1]$", EXAMPLE),
    ("01", "Without: $y = f(x) = [0.3, 0.1]$", EXAMPLE),
    ("01", "each block multiplies by $1 - 0.5$", EXAMPLE),
    ("02", "each layer let 90 % through", EXAMPLE),
    ("02", "\\text{gain}^2 / 64)$", SHOWN_HERE),
    ("02", "56 layers against 20", PUBLIC),
    ("02", "a plain network of 4 layers, a plain one of 40, and a residual one of 40", SHOWN_HERE),
    ("02", "**Start** goes on to 400", SHOWN_HERE),
    ("03", "makes the values 1.5 times larger", EXAMPLE),
    ("03", "\\text{gain}^2 / 128)$", SHOWN_HERE),
    ("03", "Gain 0.9: the drift", EXAMPLE),
    ("03", "*Mean 87, spread 4312*", EXAMPLE),
    ("03", "the spread is $\\sqrt{26 / 4}$", EXAMPLE),
    ("03", "**look down** by 90°", EXAMPLE),
    ("03", "**Start** goes on to 400", SHOWN_HERE),
    ("03", "There the spread is always 0.5", SHOWN_HERE),
    ("03", "means around 1000: hit or miss. The diamond at exactly 1000 hits", EXAMPLE),
    ("03", "With 64 features instead of 256", EXAMPLE),
    ("04", "**batches seen**: 0 to 100", SHOWN_HERE),
    ("04", "the **new** batch, 0.1 unless told otherwise", PUBLIC),
    ("04", "the **old** value, 0.99 and 0.9 unless told otherwise. So PyTorch's 0.1 is their 0.9", PUBLIC),
    ("04", "tests it on 1500 others", SHOWN_HERE),
    ("04", "GroupNorm's error is 10.6 percentage points lower than BatchNorm's at batches of 2; at 32", PUBLIC),
    ("04", "a token at position 50?", EXAMPLE),
    ("04", "(0.1 here is 0.9 there)", PUBLIC),
    ("05", "type 102, 97, 101, 104", EXAMPLE),
    ("05", "Turn $dy$ to 30 degrees", EXAMPLE),
    ("05", "At 120 degrees, across the line", EXAMPLE),
    ("05", "Halve the rms of $x$, from 1.4 to 0.7", EXAMPLE),
    ("05", "the range that the paper reports, 7 to 64 %", PUBLIC),
    ("05", "At $d = 512$", EXAMPLE),
    ("05", "The paper's 7 to 64 %", PUBLIC),
    ("05", "RMSNorm makes training 7 to 64 % faster", PUBLIC),
    ("05", "the library *transformers* 5.24.0", PUBLIC),
    ("05", "GLM-4-0414 (", "the name of a model"),
    ("05", "EXAONE 4.0 (", "the name of a model"),
    ("05", "[EXAONE 4.0]", "the name of a model"),
    ("05", "4096 different numbers with spread 1", SHOWN_HERE),
    ("05", "[notebook 07]", "the number of a notebook"),
    ("06", "feed-forward networks of 256", SHOWN_HERE),
    ("06", "(guessing among 64 costs", SHOWN_HERE),
    ("06", "draws its matrices with a std of 0.02", PUBLIC),
    ("06", "section 2.3", "the place in the source"),
    ("07", "(it adds 0.9 times its last step)", SHOWN_HERE),
    ("07", "with Adam, 0.001 and 200 steps", EXAMPLE),
    ("questions", "about 16 · 512 operations for each feature", SHOWN_HERE),
    ("07", "**α = 1/√20**", SHOWN_HERE),
    ("07", "it is normalized 32 times", SHOWN_HERE),
    ("07", "64 if all are equal", SHOWN_HERE),
    ("07", "and 50 more for the", "minutes, of the exercises and of the museum, which announces none"),
    ("questions", "and 32 such layers", EXAMPLE),
    ("questions", "let the other 36 pass", EXAMPLE),
    ("questions", "with α = 1/√20", SHOWN_HERE),
]  # fmt: skip

MEASURED = [  # (text, words, the test that measures it)
    ("02", "with a rate of 0.00001 it survives", "test_training.py::test_residual_without_norm_survives_at_a_rate_that_is_small_enough"),
    ("02", "at rates 0.02 and 0.01, 3000 steps end where 400 do", "test_training.py::test_more_steps_do_not_help_the_plain_network_of_the_notebook"),
    ("03", "after several hundred layers, 300 to 800 in four tries", "test_norms_stories.py::test_a_narrow_network_in_half_precision_dies_out_by_chance"),
    ("questions", "all but 1 part in 10,000 or less", "test_predict.py::test_numbers_in_the_words_come_from_the_code"),
    ("questions", "After 24 fresh layers it is about five times as large", "test_transformer_stories.py::test_the_stream_of_pre_norm_grows_between_its_bounds"),
    ("questions", "at 0.003, it learned without one", "test_transformer_stories.py::test_who_needs_warm_up_over_five_seeds"),
    ("questions", "at 0.01, or 8 at 0.003: post-norm learns there", "test_transformer_stories.py::test_who_needs_warm_up_over_five_seeds"),
    ("questions", "learn nothing in 400 steps of SGD at 0.02", "test_training.py::test_40_plain_layers_learn_next_to_nothing"),
    ("03", "At 0.01 the network learns all points", "test_norms_stories.py::test_training_with_a_wrong_backward_fails_visibly"),
    ("04", "With batches of 32 and 64 it is ahead of all the others", "test_batches_stories.py::test_with_two_passes_batch_norm_is_ahead_in_large_batches_and_the_others_in_small_ones"),
    ("04", "Toward 64 they get worse", "test_batches_stories.py::test_with_two_passes_batch_norm_is_ahead_in_large_batches_and_the_others_in_small_ones"),
    ("05", "| 1.5625 · 10⁻⁷ |", "test_rms_stories.py::test_the_table_of_models_says_what_their_classes_say"),
    ("06", "pre-norm has learned the task before step 50", "test_transformer_stories.py::test_at_a_high_rate_pre_norm_learns_and_post_norm_does_not"),
    ("06", "With 25 it is luck", "test_transformer_stories.py::test_a_warm_up_of_25_steps_saves_some_networks_only"),
    ("06", "it learns at 0.01, too", "test_transformer_stories.py::test_who_needs_warm_up_over_five_seeds"),
    ("06", "at 0.03 it learns with warm-up only", "test_transformer_stories.py::test_who_needs_warm_up_over_five_seeds"),
    ("07", "at any of the learning rates up to 0.05", "test_workbench.py::test_pre_norm_learns_at_each_rate_up_to_a_twentieth"),
    ("07", "at 0.02 nothing is learned, at 0.003 everything. At 0.01 it depends", "test_workbench.py::test_post_norm_needs_a_lower_learning_rate"),
    ("07", "two of five draws diverge, after more than 100 steps", "test_workbench.py::test_at_a_lower_rate_some_diverge_after_a_hundred_steps_and_with_a_norm_none"),
    ("07", "at 0.05 all five diverge", "test_workbench.py::test_branches_that_start_at_0_are_no_remedy"),
    ("07", "With *max_norm* 0.1 it now trains much worse", "test_workbench.py::test_clipping_every_step_is_only_a_smaller_rate"),
    ("07", "and one gets to 41.5 %", "test_workbench.py::test_40_plain_layers_are_stuck_at_the_rate_of_the_workbench_in_four_of_five_draws"),
    ("07", "at most 16 % wrong", "test_workbench.py::test_40_plain_layers_learn_with_adam"),
    ("07", "after 3000 of SGD", "test_workbench.py::test_40_plain_layers_learn_with_more_steps"),
    ("07", "at 0.003 both do, with all five draws", "test_workbench.py::test_post_norm_needs_a_lower_learning_rate"),
]  # fmt: skip


def left(text, name, given=()):
    """The numbers of a text that have no reason yet, each with what stands around it."""
    for where, words, *_ in [*SAID, *SHOWN, *MEASURED]:
        if where == name:
            text = text.replace(words, "·")
    for number in given:
        text = re.sub(rf"(?<![\w.,]){re.escape(number)}(?!\w|[.,]\d)", "·", text)
    for pattern in GIVEN:
        text = re.sub(pattern, "·", text, flags=re.MULTILINE)
    return [
        f'{name}: "{m[0]}" in "... {text[max(0, m.start() - 60) : m.end() + 30]} ..." has no reason: add a line to SAID '
        "in test_prose.py (the code gives it), or to SHOWN (an example, a setting, a source) or MEASURED (a test "
        f'measures it) in test_numbers.py; it begins ("{name}", "words with the number", ...'
        for m in re.finditer(NUMBER, text)
    ]


def left_in(question):
    """The same of a question; what it asks about is given, and so is what wrong answers say."""
    choices = getattr(question, "options", ())
    given = " ".join(
        [question.text, *(one if isinstance(one, str) else one.text * (not one.right) for one in choices)]
    )
    return left(claims(question), "questions", set(re.findall(NUMBER, given)))


@pytest.mark.parametrize("name", TEXTS)
def test_every_number_has_a_reason(name):
    found = left(prose(name), name)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("question", asked(), ids=lambda question: question.text[:30])
def test_every_number_of_a_question_has_a_reason(question):
    found = left_in(question)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name, words, why", [*SHOWN, *MEASURED])
def test_a_reason_is_of_use(name, words, why):
    assert words in prose(name), f"{name} no longer says so: change the line in test_numbers.py, or delete it"
    assert re.search(NUMBER, words) and len(why) > 10


@pytest.mark.parametrize("name, words, test", MEASURED)
def test_the_test_that_measures_a_number_is_there(name, words, test):
    file, function = test.split("::")
    assert f"def {function}(" in (TESTS / file).read_text(encoding="utf-8")


def test_a_planted_number_is_found():
    planted = "It makes 17.3 times as much, and 12 % are lost: after 10 layers with gain 1.4, in 2016."
    first, second = left(planted, "01")
    assert first.startswith('01: "17.3" in "... It makes 17.3 times') and '"12" in' in second
