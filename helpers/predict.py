"""Predictions: asked before a picture is shown, locked when given, then set beside what is measured.

predict.ask("gradient_left")       the question, by its name in the bank
predict.reveal("gradient_left")    the prediction beside the measured answer, and why
predict.table()                    hits, misses and open ones of this notebook
"""

import html

import ipywidgets as widgets

from .live import ERROR, explain
from .questions import PREDICTIONS, find, form
from .questions.form import Answers, Form, Shown, line, message, options
from .questions.kinds import plain, rich
from .results import tell

OPEN = "not answered yet"
answers = Answers()
_asked: dict = {}  # the predictions of this notebook, in order; the values do not matter


def ask(name: str) -> "Ask":
    """Ask for a prediction; after *Lock in* it stays what it is."""
    prediction = find(PREDICTIONS, name, "prediction")
    _asked[name] = None
    return Ask(name, prediction)


def reveal(name: str) -> "Reveal":
    """Show the prediction beside what is measured; it waits until a prediction is locked in."""
    return Reveal(name, find(PREDICTIONS, name, "prediction"))


def table() -> "Table":
    """Show the predictions that were asked so far: hits, misses and open ones."""
    return Table()


def in_words(answer) -> str:
    """An answer as the learner gave it."""
    return answer if isinstance(answer, str) else f"{answer:.12g}"


class Ask(Shown):
    """A prediction's question; once locked in it cannot be changed."""

    def __init__(self, name, prediction):
        self.name, self.prediction = name, prediction
        choices = getattr(prediction, "options", None)
        entry = options(choices) if choices else line(f"your guess {prediction.unit}".strip())
        self.form = Form(prediction.text, entry, "Lock in", "A locked prediction stays as it is", self.lock)
        entry.observe(self._entered, "value")
        super().__init__(answers, self.form.box)

    def lock(self):
        """Take what is chosen or typed for good, or say what is missing."""
        if self.name not in answers.given:
            self._take()

    def _take(self):
        try:
            answer = self.prediction.read(self.form.entry.value)
        except ValueError as error:
            self.form.say(html.escape(str(error)))
            return
        answers.give(self.name, answer)
        tell("prediction", self.name, chosen=answer)

    def _entered(self, change):
        if self.name not in answers.given:
            answers.choose(self.name, change["new"])
        elif self.form.just_pressed():
            self._take()
        else:
            self.refresh()

    def refresh(self):
        """Show what is chosen or typed; a given answer is locked."""
        answer, entry = answers.given.get(self.name), self.form.entry
        if answer is None:
            entry.value = answers.chosen.get(self.name, entry.value)
            self.form.say("")
            return
        entry.value, entry.disabled = in_words(answer), True
        self.form.button.description = "Locked in"  # not disabled: it would lose the focus
        self.form.say(f"Locked in. You predict: <b>{html.escape(in_words(answer))}</b>")

    def words(self):
        """The question, its options, and the answer if there is one."""
        lines = [f"Prediction: {plain(self.prediction.text)}"]
        lines += [f"○ {option}" for option in getattr(self.prediction, "options", ())]
        answer = answers.given.get(self.name)
        return "\n".join([*lines, f"You predict: {OPEN if answer is None else in_words(answer)}"])


class Reveal(Shown):
    """A prediction beside what is measured, as soon as it is locked in."""

    def __init__(self, name, prediction):
        self.name, self.prediction = name, prediction
        self.status = widgets.HTML()
        super().__init__(answers, self.status)

    def _lines(self):
        if self.name not in answers.given:
            wait = "Lock your prediction in above, and what is measured appears here."
            return "", f"Your prediction ({self.prediction.title}): {OPEN}.", wait
        answer, prediction = answers.given[self.name], self.prediction
        mark = "✓" if prediction.holds(answer) else "≠"
        predicted, measured = in_words(answer), prediction.says(prediction.value)
        facts = (f"You predicted: {predicted}", f"Measured: {measured}")
        return mark, prediction.verdict(answer), *facts, prediction.why

    def refresh(self):
        """Measure, if there is a prediction to set beside it."""
        given = answers.given.get(self.name)
        if given is not None and not self.prediction.measured:  # the page shows it in the meantime
            wait = "It is being measured; where networks are trained for it, that takes some seconds."
            self.status.value = message(f"You predicted: {html.escape(in_words(given))}<br>{wait}")
        try:
            mark, first, *lines = self._lines()
        except Exception as error:
            self.status.value = f'<div role="alert" style="{ERROR}">{explain(error, picture=False)}</div>'
            return
        self.status.value = message("<br>".join([f"<b>{rich(first)}</b>", *map(rich, lines)]), mark)

    def words(self):
        """Prediction, measured answer and why; or that there is no prediction yet."""
        mark, *lines = self._lines()
        return f"{mark} {chr(10).join(map(plain, lines))}".strip()


class Table(Shown):
    """The predictions of this notebook."""

    HEAD = ("prediction", "you predicted", "measured", "result")

    def __init__(self):
        self.html = widgets.HTML()
        super().__init__(answers, self.html)

    def refresh(self):
        """Write the table anew."""
        self.html.value = form.table(_count(), self.HEAD, map(_row, _asked))

    def words(self):
        """A line for each prediction."""
        rows = [" | ".join(filter(None, _row(name))) for name in _asked]
        return "\n".join([_count(), *rows])


def _row(name):
    prediction, answer = PREDICTIONS[name], answers.given.get(name)
    if answer is None:
        return prediction.title, OPEN, "", "open"
    result = "✓\u00a0hit" if prediction.holds(answer) else "≠\u00a0miss"
    return prediction.title, in_words(answer), prediction.says(prediction.value), result


def _count():
    given = [name for name in _asked if name in answers.given]
    hits = sum(PREDICTIONS[name].holds(answers.given[name]) for name in given)
    return f"Your predictions: {hits} hit, {len(given) - hits} missed, {len(_asked) - len(given)} open."
