"""Predictions and quizzes in JupyterLab by the keyboard alone, read aloud as they should be, in both themes."""

import json
import re
import urllib.request

import nbformat
import pytest
from playwright.sync_api import expect

from helpers.questions import PREDICTIONS, QUIZZES

from .lab import THEMES, axe, set_theme

FIRST = "import sys, pathlib\nsys.path += map(str, pathlib.Path.cwd().parents)\nfrom helpers import predict, progress, quiz"
ASK, REVEAL = 'predict.ask("gradient_left")', 'predict.reveal("gradient_left")'
NUMBER, REVEAL_NUMBER = 'predict.ask("slope_product")', 'predict.reveal("slope_product")'
TABLE, QUIZ = "predict.table()", 'quiz.ask("residual_connections")'
ALL = [
    *(ASK, NUMBER, REVEAL, REVEAL_NUMBER, TABLE),
    *(f'quiz.ask("{name}")' for name in QUIZZES),
    *('progress.show("gradient_flow")', "progress.course()"),
]
KERNEL = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}


@pytest.fixture
def asking(lab, open_notebook):
    """A notebook of these cells, all run."""

    def write(*cells):
        url, token = lab
        content = nbformat.v4.new_notebook(
            cells=list(map(nbformat.v4.new_code_cell, (FIRST, *cells))), metadata={"kernelspec": KERNEL}
        )
        request = urllib.request.Request(
            f"{url}/api/contents/notebooks/questions.ipynb?token={token}",
            method="PUT",
            data=json.dumps({"type": "notebook", "format": "json", "content": content}).encode(),
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).close()
        return open_notebook("questions")

    return write


class Asked:
    """One question in the page, answered by keys."""

    def __init__(self, notebook, cell, number=0):
        self.page = notebook.page
        self.form = notebook.output(cell).locator(".course-form").nth(number)
        self.group, self.button = self.form.get_by_role("radiogroup"), self.form.get_by_role("button")
        self.status = self.form.get_by_role("status")
        expect(self.button).to_be_visible()

    def choose(self, number):
        """From the first radio button by arrow keys to another; the focus goes with it."""
        self.group.get_by_role("radio").first.focus()
        self.page.keyboard.press("Space")
        for _ in range(number):
            self.page.keyboard.press("ArrowDown")
        expect(self.group.get_by_role("radio").nth(number)).to_be_checked()
        expect(self.group.get_by_role("radio").nth(number)).to_be_focused()

    def press(self, key):
        """Tab to the button and press it; the button keeps the focus."""
        self.page.keyboard.press("Tab")
        expect(self.button).to_be_focused()
        self.page.keyboard.press(key)


def rerun(notebook, cell):
    """Run one cell again, as a learner would."""
    notebook.page.evaluate(
        """async words => {
          const {content} = window.jupyterapp.shell.currentWidget;
          content.deselectAll();
          content.activeCellIndex = content.widgets.findIndex(c => c.model.sharedModel.source === words);
          await window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        cell,
    )
    notebook.wait_idle()


def test_a_prediction_by_keyboard(asking):
    notebook = asking(ASK, NUMBER, REVEAL, TABLE)
    shown = Asked(notebook, ASK)
    expect(shown.group).to_have_accessible_name(PREDICTIONS["gradient_left"].text)
    reveal, table = notebook.output(REVEAL), notebook.output(TABLE)
    expect(reveal.get_by_role("status")).to_contain_text("not answered yet")
    shown.button.focus()
    shown.page.keyboard.press("Enter")
    expect(shown.status).to_contain_text("Choose an answer first")
    shown.choose(1)
    shown.press("Enter")
    expect(shown.status).to_contain_text("You predict: About a tenth")
    expect(shown.button).to_be_focused()
    expect(reveal.get_by_role("status")).to_contain_text("Measured: 0.0769")
    expect(table).to_contain_text("1 hit, 0 missed, 1 open")
    shown.page.keyboard.press("Space")  # once more changes nothing
    rerun(notebook, ASK)
    again = Asked(notebook, ASK)
    expect(again.status).to_contain_text("You predict: About a tenth")
    expect(again.group.get_by_role("radio").nth(1)).to_be_checked()
    for radio in again.group.get_by_role("radio").all():
        expect(radio).to_be_disabled()


def test_a_number_by_keyboard(asking):
    notebook = asking(NUMBER, REVEAL_NUMBER)
    shown = Asked(notebook, NUMBER)
    field = shown.form.get_by_label("your guess")
    field.focus()
    shown.page.keyboard.type("many")
    shown.press("Space")
    expect(shown.status).to_contain_text("Type one number greater than 0")
    shown.page.keyboard.press("Shift+Tab")
    expect(field).to_be_focused()
    shown.page.keyboard.press("ControlOrMeta+A")
    shown.page.keyboard.type("100")
    shown.press("Enter")
    expect(notebook.output(REVEAL_NUMBER)).to_contain_text("As you predicted")
    expect(shown.button).to_be_focused()


def test_a_quiz_by_keyboard(asking):
    notebook = asking(QUIZ)
    for number, question in enumerate(QUIZZES["residual_connections"].values()):
        shown = Asked(notebook, QUIZ, number)
        expect(shown.group).to_have_accessible_name(re.compile(rf"^{number + 1}\. "))
        for position, option in enumerate(question.options):
            shown.choose(position)
            shown.press("Enter" if position % 2 else "Space")
            expect(shown.status).to_contain_text("✓ Right." if option.right else "✗ Not quite.")
            expect(shown.status).to_contain_text(option.why.split("`")[0][:40])
            expect(shown.button).to_be_focused()
    shown.page.keyboard.press("Tab")
    expect(shown.button).not_to_be_focused()
    rerun(notebook, QUIZ)
    again = Asked(notebook, QUIZ, number)
    expect(again.group.get_by_role("radio").nth(position)).to_be_checked()
    expect(again.status).to_contain_text("Right." if option.right else "Not quite.")


def answer_all(notebook):
    for form in notebook.page.locator(".course-form").all():
        if form.get_by_role("radio").count():
            form.get_by_role("radio").nth(2).check()
        else:
            form.get_by_label("your guess").fill("7")
        form.get_by_role("button").click()
        expect(form.get_by_role("status")).to_contain_text(re.compile("Locked in|Right|Not quite"))


# What of the questions is cut or has to be scrolled.
CUT = """() => {
  const wide = [...document.querySelectorAll('.jp-OutputArea-output:has(.course-page)')]
    .filter(e => e.scrollWidth > e.clientWidth);
  const words = [...document.querySelectorAll('.course-page :is(label, [role=status], table)')]
    .filter(e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
  return [...wide, ...words].map(e => e.textContent.slice(0, 100));
}"""


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_and_long_options_wrap(asking, theme):
    notebook = asking(*ALL)
    page = notebook.page
    set_theme(page, theme)
    for answered in (False, True):
        if answered:
            answer_all(notebook)
        for width in (1280, 600):
            page.set_viewport_size({"width": width, "height": 900})
            assert axe(page) == []
            assert page.evaluate(CUT) == []


def test_the_page_does_not_know_the_answers_before_they_are_given(asking):
    models = asking(*ALL).page.evaluate("() => document.documentElement.outerHTML")
    hidden = [option.why for quiz in QUIZZES.values() for q in quiz.values() for option in q.options]
    for why in hidden + [PREDICTIONS["gradient_left"].why, PREDICTIONS["slope_product"].why]:
        assert why[:40] not in models
