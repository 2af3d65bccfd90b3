"""What a question is made of; the bank (one module a notebook) holds them by name.

Mathematics stands between dollar signs, in the question only, in letters that can be read as they are
(ε, σ; no commands), so that `plain` gives a text to read aloud. Code stands between backticks.
"""

import functools
import html
import math
import re


def plain(text):
    """The text without dollar signs, backticks and braces."""
    return re.sub(r"[${}`]", "", text)


def rich(text):
    """The text as HTML; dollar signs are left for MathJax."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


class Option:
    """One answer of a quiz, plain text, and why it is right or wrong."""

    def __init__(self, text, why, right):
        self.text, self.why, self.right = text, why, right


def right(text, why):
    """The option that is right."""
    return Option(text, why, True)


def wrong(text, why):
    """An option that is wrong; `why` says what its mistake is."""
    return Option(text, why, False)


class Question:
    """A question of a quiz with three or four options, exactly one of them right."""

    def __init__(self, text, *options):
        self.text, self.options = text, options

    def option(self, text):
        """The option with this text, or None."""
        return next((option for option in self.options if option.text == text), None)


class Prediction:
    """A question whose answer is measured.

    title: a few words for the table; measure() -> the value (a number, or a dict of them);
    says(value): one sentence with its numbers; why: what a learner should take from it.
    """

    def __init__(self, title, text, measure, says, why):
        self.title, self.text, self.measure, self.says, self.why = title, text, measure, says, why

    @property
    def measured(self):
        """Has `value` been asked for before? Only the first time may take long."""
        return "value" in vars(self)

    @functools.cached_property
    def value(self):
        """What is measured, the first time it is asked for."""
        return self.measure()


class Choice(Prediction):
    """A guess among options: {text: holds(value)}; of any value exactly one option holds."""

    def __init__(self, title, text, options, measure, says, why):
        super().__init__(title, text, measure, says, why)
        self.options = options

    def read(self, entered):
        """The answer that was chosen; ValueError says what to do when there is none."""
        if entered not in self.options:
            raise ValueError("Choose an answer first, then lock it in.")
        return entered

    def holds(self, answer):
        """Is this what was measured?"""
        return bool(self.options[answer](self.value))

    def verdict(self, answer):
        """How the answer compares with what is measured, in words."""
        if self.holds(answer):
            return "As you predicted."
        return "Not as you predicted. The surprises are what one remembers."


class Number(Prediction):
    """A guess at a number greater than 0; it holds when it is within a factor of what is measured.

    unit: "%" asks for a share, which is not above 100.
    """

    def __init__(self, title, text, measure, says, why, factor=2, unit=""):
        text += f" (Within a factor of {factor:g} it counts as a hit.)"
        super().__init__(title, text, measure, says, why)
        self.factor, self.unit = factor, unit

    def read(self, entered):
        """The number that was typed; ValueError says what to type."""
        try:
            number = float(entered.replace("−", "-"))
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            raise ValueError("Type one number greater than 0, such as 0.5 or 2000 or 1e-6.")
        if self.unit == "%" and number > 100:
            raise ValueError("More than all of it? Type a share of at most 100 %.")
        return number

    def _off_by(self, answer):
        return max(answer / self.value, self.value / answer)

    def holds(self, answer):
        """Is this what was measured, within the factor?"""
        return bool(self._off_by(answer) <= self.factor)

    def verdict(self, answer):
        """How the answer compares with what is measured, in words."""
        if self.holds(answer):
            return f"As you predicted (within a factor of {self.factor:g})."
        way = "high" if answer > self.value else "low"
        off = self._off_by(answer)
        times = "more than 10,000" if off > 1e4 else f"{off:.0f}" if off > 10 else f"{off:.2g}"
        return f"Not as you predicted: {times} times too {way}."
