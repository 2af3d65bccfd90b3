"""Controls: what a learner may type, and what is answered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import controls


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2, -3, 1, 4", (2, -3, 1, 4)),
        ("[2, −3, 1, 4]", (2, -3, 1, 4)),
        ("  1 2\t3 ", (1, 2, 3)),
        ("(1; 2.5; 1e3)", (1, 2.5, 1000)),
        ("0 0", (0, 0)),
    ],
)
def test_numbers_are_read_as_one_writes_them(text, numbers):
    assert controls.parse_numbers(text) == numbers


BAD = {
    "": "no number here",
    " [ ] ": "no number here",
    "one two": "“one” is not a number",
    "1, 2, x": "“x” is not a number",
    "1, nan": "not a finite number",
    "1, inf": "not a finite number",
    "7": "One number alone",
    ",".join(["1"] * 10_000): "10,000 numbers; the picture has room for 16",
    "1, 1e200": "too large",
    "<b>1</b>, 2": "is not a number",
}


@pytest.mark.parametrize(("text", "words"), BAD.items(), ids=[words[:12] for words in BAD.values()])
def test_bad_input_is_explained(text, words):
    with pytest.raises(ValueError, match=words):
        controls.parse_numbers(text)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_numbers_or_a_sentence(text):
    try:
        numbers = controls.parse_numbers(text)
    except ValueError as error:
        assert str(error).endswith((".", "4", "better"))
    else:
        assert 2 <= len(numbers) <= controls.MAX_NUMBERS and np.isfinite(numbers).all()


@pytest.fixture
def numbers():
    return controls.Numbers("x", {"first": (1, 2), "third": (1 / 3, 2)})


def test_typing_gives_a_value_and_the_menu_says_it_is_ones_own(numbers):
    numbers.text.value = "5, 6, 7"
    assert (numbers.value, numbers.menu.value) == ((5, 6, 7), "your own")


@pytest.mark.parametrize("text", BAD)
def test_bad_input_leaves_the_value_and_says_so_below(numbers, text):
    numbers.text.value = "5, 6"
    numbers.text.value = text
    assert numbers.value == (5, 6)
    assert "The picture still shows 5, 6." in numbers.note.value
    assert "<b>" not in numbers.note.value
    numbers.text.value = "5, 7"
    assert numbers.value == (5, 7) and "still shows" not in numbers.note.value


def test_an_example_is_taken_exactly_though_its_text_is_rounded(numbers):
    numbers.menu.value = "third"
    assert numbers.value == (1 / 3, 2)
    assert numbers.text.value == "0.333333, 2"


def test_choosing_the_example_again_takes_bad_input_back(numbers):
    numbers.text.value = "x"
    numbers.menu.value = "your own"
    numbers.menu.value = "first"
    assert (numbers.text.value, numbers.value) == ("1, 2", (1, 2))


def test_tabs_name_the_one_in_front():
    tabs = controls.Tabs({"one": "first page", "two": "second page"})
    tabs.selected_index = 1
    assert tabs.value == "two"
    tabs.value = "one"
    assert tabs.selected_index == 0
    assert [tabs.get_title(i) for i in (0, 1)] == ["one", "two"]


def test_a_control_shows_only_when_it_matters():
    source, gain = controls.choice("model", "real", "toy"), controls.number("gain", 1, 0, 2, 0.1)
    controls.only_when(source, {"real": (gain,)})
    assert gain.layout.display != "none"
    source.value = "toy"
    assert gain.layout.display == "none"
    source.value = "real"
    assert gain.layout.display != "none"


def test_a_control_can_matter_for_several_values():
    change, size = controls.choice("change", "none", "more", "less"), controls.number("size", 1, 0, 2, 0.1)
    controls.only_when(change, {("more", "less"): (size,)})
    shown = []
    for change.value in ("none", "more", "less"):
        shown.append(size.layout.display != "none")
    assert shown == [False, True, True]


@pytest.mark.parametrize("value", ["real", "toy"])
def test_controls_that_go_are_gone_before_others_come(value):
    """Both at once would not fit into the row: what is below would jump, and jump back."""
    source = controls.choice("model", "real", "toy")
    of = {name: controls.number(name, 1, 0, 2, 0.1) for name in ("real", "toy")}
    controls.only_when(source, {name: (control,) for name, control in of.items()})
    other = "toy" if value == "real" else "real"
    source.value = other
    happened = []
    for name, control in of.items():
        control.layout.observe(lambda change, name=name: happened.append((name, change["new"])), "display")
    source.value = value
    assert [name for name, _ in happened] == [other, value]
    assert happened[0][1] == "none" != happened[1][1]
