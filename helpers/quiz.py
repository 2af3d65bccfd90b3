"""The quiz at the end of a notebook: `quiz.ask("gradient_flow")` shows its questions, from the bank.

Each option, right or wrong, has its own feedback. Nothing is graded, and each question may be answered
as often as one likes.
"""

import html

import ipywidgets as widgets

from .live import TEXT
from .questions import QUIZZES, find
from .questions.form import Answers, Form, Shown, options
from .questions.kinds import plain, rich
from .results import tell

OPEN = "not answered yet"
answers = Answers()  # by "quiz/question": the text of the option


def ask(name: str) -> "Quiz":
    """Show the questions of one notebook's quiz."""
    return Quiz(name, find(QUIZZES, name, "quiz"))


def feedback(option) -> tuple[str, str, str]:
    """(mark, verdict, why) for an option."""
    return ("✓", "Right.", option.why) if option.right else ("✗", "Not quite.", option.why)


class Asked:
    """One question of a quiz on the page."""

    def __init__(self, key, question, number):
        self.key, self.question, self.number = key, question, number
        entry = options(option.text for option in question.options)
        self.form = Form(f"{number}. {question.text}", entry, "Check", f"Check question {number}", self.check)
        entry.observe(self._entered, "value")

    def check(self):
        """Say whether the chosen option is right, and why."""
        chosen = self.form.entry.value
        if chosen is None:
            self.form.say("Choose an answer first, then check it.")
            return
        new = chosen != answers.given.get(self.key)
        answers.give(self.key, chosen)
        if new:  # the same answer checked again counts once
            tell("quiz", self.key, right=self.question.option(chosen).right)

    def _entered(self, change):
        answers.choose(self.key, change["new"])
        if self.form.just_pressed():
            self.check()

    def checked(self):
        """The option that was checked last, as long as no other one is chosen; else None."""
        given = answers.given.get(self.key)
        return self.question.option(given) if given == answers.latest(self.key) else None

    def refresh(self):
        """Show the option that is chosen and, if it was checked, the feedback on it."""
        chosen = self.question.option(answers.latest(self.key))
        self.form.entry.value = chosen and chosen.text
        option = self.checked()
        if option is None:
            self.form.say("")
        else:
            mark, verdict, why = feedback(option)
            self.form.say(f"<b>{verdict}</b> {rich(why)}", mark)

    def words(self):
        """The question, its options and the feedback that stands below it now."""
        lines = [f"{self.number}. {plain(self.question.text)}"]
        lines += [f"○ {option.text}" for option in self.question.options]
        option = self.checked()
        if option is None:
            return "\n".join([*lines, OPEN])
        return "\n".join([*lines, f"You chose: {option.text}", plain(" ".join(feedback(option)))])


class Quiz(Shown):
    """The questions of one notebook, one below the other."""

    def __init__(self, name, questions):
        self.asked = [
            Asked(f"{name}/{key}", question, number)
            for number, (key, question) in enumerate(questions.items(), 1)
        ]
        self.count = widgets.HTML()
        super().__init__(answers, *(one.form.box for one in self.asked), self.count)

    def refresh(self):
        """Bring every question and the count up to date."""
        for one in self.asked:
            one.refresh()
        self.count.value = f'<div style="{TEXT}">{html.escape(self._count())}</div>'

    def _count(self):
        right = sum(one.checked() is not None and one.checked().right for one in self.asked)
        return f"{right} of {len(self.asked)} right so far. Not graded: change an answer and check again."

    def words(self):
        """All questions, with their options."""
        return "\n\n".join(one.words() for one in self.asked)
