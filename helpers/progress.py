"""What a learner has done so far, as `record` keeps it; recorded in notebooks that import this module.

progress.show("layer_norm")          the exercises, predictions and questions of one notebook
progress.course()                    those of all notebooks
progress.export()                    one page, progress.html: for a teacher, or to take along
progress.take_up("progress.html")    go on with what such a page, or another progress.json, holds
progress.off()                       record nothing from now on

The environment variable COURSE_PROGRESS names another file; "off" records nothing.
"""

import base64
import html
import os
from pathlib import Path

import ipywidgets as widgets
from IPython import get_ipython

from . import __version__, results
from .figures import count
from .live import TEXT
from .predict import in_words
from .questions import LESSONS, PREDICTIONS, find
from .questions.form import Shown, message, table
from .record import IN_PAGE, Record, read, write

KINDS = {"exercise": "exercises", "prediction": "predictions", "quiz": "questions of the quiz"}
FILE, PAGE = "progress.json", "progress.html"
# {notebook: {kind: {id: what a learner calls it}}}
ITEMS = {
    notebook: {
        "exercise": {name: name for name in lesson.EXERCISES},
        "prediction": {name: f"“{one.title}”" for name, one in lesson.PREDICTIONS.items()},
        "quiz": {name: str(number) for number, name in enumerate(lesson.QUIZ, 1)},
    }
    for notebook, lesson in LESSONS.items()
}


def show(notebook):
    """Show what is done of one notebook, named as its quiz is, and what is open."""
    find(LESSONS, notebook, "notebook")
    return Progress(notebook)


def course():
    """Show what is done of each notebook."""
    return Progress()


def export(path=PAGE):
    """Write one page of HTML that needs nothing else, with the record in it, and say so; OSError when it cannot be."""
    record.update()
    Path(path).write_text(page(), encoding="utf-8")
    print(f"Written to {path}. progress.take_up({str(path)!r}) takes it up again, here or elsewhere.")


def take_up(path):
    """Merge the entries of an exported page, or of a record, into this one; ValueError when there are none in it."""
    try:
        entries = read(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    record.update(entries)
    print(f"Taken up: {len(entries)} of {path}.")


def off():
    """Record nothing from now on in this notebook; what was recorded before stays in the file."""
    record.turn_off()
    print(record.note)


def _record():
    """The record in the file that COURSE_PROGRESS names; without it beside the notebook."""
    place = os.environ.get("COURSE_PROGRESS") or FILE
    made = Record(Path(place).absolute())
    if place == "off":
        made.turn_off()
    return made


def hear(kind, name, right=None, **result):
    """Record an answer to something of the course."""
    notebook, _, name = name.rpartition("/")
    notebook = notebook or next((n for n, items in ITEMS.items() if name in items[kind]), None)
    if notebook is None or record.path is None:
        return
    if kind == "prediction":
        try:
            right = PREDICTIONS[name].holds(result["chosen"])
        except Exception:  # nothing could be measured; `predict.reveal` says why
            return
    record.add(notebook, kind, name, right=right, **result)


record = _record()
if get_ipython() is not None:  # a script's answers are nobody's progress
    results.listen(hear)


# ------------------------------------------------------------------------------ in words


def _entries(notebook, kind):
    """{id: entry or None} for all that the notebook has of this kind."""
    return {name: record.entries.get((notebook, kind, name)) for name in ITEMS[notebook][kind]}


def _tally(notebook, kind):
    """How much of it is done, in a few words."""
    entries = [*_entries(notebook, kind).values()]
    made = [entry for entry in entries if entry]
    right = sum(entry["right"] for entry in made)
    if not entries:
        return "none"
    if kind == "prediction":
        return f"{len(made)} of {len(entries)} made, {count(right, 'hit')}"
    return f"{right} of {len(entries)} {'passed' if kind == 'exercise' else 'found'}"


def _state(entry):
    """How an entry stands, in a few words."""
    if entry is None:
        return "open"
    if entry["kind"] == "prediction":
        return "hit" if entry["right"] else "missed"
    done = "passed" if entry["kind"] == "exercise" else "right"
    if entry["right"]:
        return f"{done} at check {entry['checks']}"
    mistake = f" (the last mistake: {entry['mistake'].replace('_', ' ')})" if entry.get("mistake") else ""
    return f"not {done} after {count(entry['checks'], 'check')}{mistake}"


def _details(notebook, kind):
    """What stands how: "the first, the second: hit; the third: open"."""
    groups: dict = {}
    for name, entry in _entries(notebook, kind).items():
        chosen = f" ({in_words(entry['chosen'])})" if entry and kind == "prediction" else ""
        groups.setdefault(_state(entry), []).append(ITEMS[notebook][kind][name] + chosen)
    return "; ".join(f"{', '.join(names)}: {state}" for state, names in groups.items())


def _of(notebook):
    """(caption, head, rows) of one notebook's table."""
    rows = [
        (words, _tally(notebook, kind), _details(notebook, kind))
        for kind, words in KINDS.items()
        if ITEMS[notebook][kind]
    ]
    return f"Progress: {LESSONS[notebook].TITLE}", ("what", "done", "in detail"), rows


def _of_all():
    """(caption, head, rows) of the table of all notebooks."""
    rows = [(lesson.TITLE, *(_tally(name, kind) for kind in KINDS)) for name, lesson in LESSONS.items()]
    return "Progress: the whole course", ("notebook", *KINDS.values()), rows


# ------------------------------------------------------------------------------ on the page


class Progress(Shown):
    """What is done of one notebook, or of all of them; follows the answers given in this notebook."""

    def __init__(self, notebook=None):
        self.notebook = notebook
        self.html, self.note, self.link = widgets.HTML(), widgets.HTML(), widgets.HTML()
        record.update()
        super().__init__(record, self.html, self.note, self.link)

    def _table(self):
        return _of(self.notebook) if self.notebook else _of_all()

    def refresh(self):
        """Write table, note and page anew."""
        self.html.value = table(*self._table())
        self.note.value = message(html.escape(record.note))
        data = base64.b64encode(page().encode()).decode()
        self.link.value = (
            f'<a style="{TEXT}; text-decoration:underline" download="{PAGE}" href="data:text/html;base64,{data}">'
            f"Save as one page ({PAGE})</a>"
        )

    def words(self):
        """The table, a line for each row, and the note below it."""
        caption, head, rows = self._table()
        return "\n".join([caption, *map(" | ".join, [head, *rows]), record.note])


def page():
    """All tables and the record itself as one page of HTML."""
    tables = [table(*_of_all()), *(table(*_of(notebook)) for notebook in LESSONS)]
    times = [entry["time"] for entry in record.entries.values()]
    latest = f"{max(times)[:16].replace('T', ' ')} UTC" if times else "none yet"
    held = IN_PAGE.format(write(record.entries.values()).replace("<", r"\u003c"))
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Progress in the course</title>'
        "<style>table { margin-top: 1.5em }</style></head>"
        '<body style="max-width:64em; margin:2em auto; padding:0 1em; font-family:sans-serif">'
        f"<h1>Residual connections and normalization: progress</h1><p>Last entry: {html.escape(latest)}. Course "
        f"{__version__}. To go on from here, put this page beside the notebooks and run, in one of them, "
        f'<code>progress.take_up("{PAGE}")</code>.</p>{"".join(tables)}{held}</body></html>'
    )
