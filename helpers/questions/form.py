"""A question on the page: words, something to answer with, a button, and a line that answers back.

What ipywidgets leaves out is added here: radio buttons form a group, so that the arrow keys move among
them, and the group has a name that is read aloud; long options wrap; the focus stays on the button,
which is never disabled.
"""

import html
import time

import ipywidgets as widgets
import traitlets
from IPython.display import display

from ..live import TEXT, close, close_on_rerun
from ..page import PAGE, on_page
from .kinds import plain, rich

STYLE = """
.course-page, .course-page .widget-box { overflow: visible; }
.course-page :is(.widget-html, .widget-html-content) { min-width: 0; max-width: 100%; }
.course-form { max-width: 46em; margin-bottom: 16px; padding: 0 4px; }
.course-page code { white-space: nowrap; }
.course-form .widget-radio, .course-form .widget-radio-box { width: 100%; height: auto; }
.course-form .widget-radio-box label {
  height: auto; line-height: 1.4; white-space: normal; font-size: 15px; padding: 3px 0;
  display: grid; grid-template-columns: 1.6em 1fr; align-items: start; margin: 0;
}
.course-form .widget-radio-box input { grid-area: 1 / 1; width: 16px; height: 16px; margin: 3px 0 0; }
.course-form :is(input, button):focus-visible { outline: 2px solid var(--jp-brand-color1, #1976d2); outline-offset: 2px; }
"""
SCRIPT = """
for (const form of document.querySelectorAll('.course-form')) {
  const name = 'course-' + Math.random();
  for (const radio of form.querySelectorAll('input[type=radio]')) radio.name ||= name;
  const group = form.querySelector('.widget-radio-box') ?? form;
  group.setAttribute('role', group === form ? 'group' : 'radiogroup');
  group.setAttribute('aria-label', form.querySelector('[data-name]')?.dataset.name ?? '');
}
"""
FORMS = f"{PAGE}{on_page(SCRIPT)}<style>{STYLE}</style>"
# A page sends a widget's next change only when the kernel has done with the one before, but a click at once:
# the click overtakes the change. What arrives within this second after a click was entered before it.
GRACE = 1.0
BUTTON = {"width": "auto", "align_self": "flex-start"}
CELL = "text-align:left; vertical-align:top; padding:.3em .8em .3em 0"
EDGES = {"✓": "#009E73", "✗": "#D55E00", "≠": "#D55E00"}  # the mark and its words say it too


class Answers(traitlets.HasTraits):
    """What a learner has chosen so far, and what of it is given: locked in, or checked. JSON holds both.

    Whoever observes it hears of each change.
    """

    chosen, given = traitlets.Dict(), traitlets.Dict()

    def choose(self, name, answer):
        """Remember what is chosen, not yet given."""
        self.chosen = {**self.chosen, name: answer}

    def latest(self, name):
        """What is chosen now; what is given, if nothing was chosen since; or None."""
        return self.chosen.get(name, self.given.get(name))

    def give(self, name, answer):
        """Remember what is given."""
        self.given = {**self.given, name: answer}


class Form:
    """The widgets of one question; `entry` holds the answer in its `value`, None when there is none."""

    def __init__(self, text, entry, button, tooltip, press):
        self.entry, self.status = entry, widgets.HTML()
        question = (
            f'<div data-name="{html.escape(plain(text))}" style="{TEXT}; font-weight:600">{rich(text)}</div>'
        )
        self.button = widgets.Button(description=button, tooltip=tooltip, layout=BUTTON)
        self.press, self.pressed_at = press, -GRACE
        self.button.on_click(self._pressed)
        self.box = widgets.VBox([widgets.HTMLMath(question), entry, self.button, self.status])
        self.box.add_class("course-form")

    def _pressed(self, _):
        self.pressed_at = time.monotonic()
        self.press()

    def just_pressed(self):
        """Does a change that arrives now belong to the last press of the button?"""
        return time.monotonic() - self.pressed_at < GRACE

    def say(self, words, mark=""):
        """Answer back: HTML, announced by screen readers; with a mark before it and an edge beside it."""
        self.status.value = message(words, mark)


def message(words, mark=""):
    """HTML that is read aloud when it changes; with a mark, that mark before it and an edge beside it."""
    edge = f"; border-left:5px solid {EDGES[mark]}; padding:.2em .8em" if mark else ""
    return f'<div role="status" style="{TEXT}; max-width:46em{edge}">{mark} {words}</div>'


def table(caption, head, rows):
    """HTML of a table whose first column heads the rows; it can be scrolled by keyboard where it is too wide."""
    names = "".join(f'<th scope="col" style="{CELL}">{html.escape(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row" style="{CELL}; font-weight:normal">{html.escape(first)}</th>'
        + "".join(f'<td style="{CELL}">{html.escape(cell)}</td>' for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    title = html.escape(caption)
    return (
        f'<div role="region" aria-label="{title}" tabindex="0" style="overflow-x:auto">'
        f'<table style="{TEXT}; max-width:60em; border-collapse:collapse">'
        f'<caption style="text-align:left; padding:.3em 0">{title}</caption>'
        f"<thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def options(texts):
    """Radio buttons, none of them chosen."""
    return widgets.RadioButtons(options=list(texts), index=None, layout={"width": "100%"})


def line(description):
    """A line of text to type an answer into."""
    style = {"description_width": "initial"}
    layout = {"width": "16em", "max_width": "100%"}
    # Not while typing: the page holds back what it cannot send at once, and a click would overtake it.
    return widgets.Text(description=description, continuous_update=False, style=style, layout=layout)


class Shown:
    """Something on the page that follows the answers; end a cell with it.

    A subclass makes its widgets, gives them to `__init__`, and says in `refresh` and `words` what they
    and viewers without a kernel show now.
    """

    def __init__(self, answers, *children):
        self.answers = answers
        self.box = widgets.VBox([*children, widgets.HTML(FORMS)])
        self.box.add_class("course-page")
        answers.observe(self._changed)
        close_on_rerun(self)
        self.refresh()

    def _changed(self, _):
        self.refresh()

    def refresh(self):
        """Make the widgets show the answers as they are now."""

    def words(self):
        """What is shown now, as lines of text."""
        raise NotImplementedError

    def _ipython_display_(self):
        words = self.words()
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        lines = html.escape(words, quote=False).replace("\n", "<br>")
        still = f'<div style="max-width:46em">{lines}</div>'
        data = {"application/vnd.jupyter.widget-view+json": view, "text/html": still, "text/plain": words}
        display(data, raw=True)

    def close(self):
        """Close all widgets, and stop following the answers."""
        self.answers.unobserve(self._changed)
        close(self.box)
