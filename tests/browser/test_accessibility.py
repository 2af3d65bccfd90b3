"""Every notebook for those who cannot use a mouse or see the screen: axe, the keyboard alone, and nothing jumps."""

import re

import pytest
from playwright.sync_api import expect

from .lab import COURSE, OUTPUT, THEMES, WINDOW, axe, follows, set_theme

QUICK = "00_start_here"
NAMES = sorted(path.stem for path in (COURSE / "notebooks").glob("*.ipynb"))

# Numbers what can be reached with Tab in all outputs, in order; radio buttons with one name are one stop.
NUMBER = """() => {
  const stops = 'a[href], button:enabled, input:enabled, select:enabled, [contenteditable=true], [tabindex="0"]';
  const groups = {};
  let count = 0;
  for (const stop of document.querySelectorAll('.jp-OutputArea-output :is(' + stops + ')')) {
    if (!stop.checkVisibility({visibilityProperty: true})) continue;
    stop.dataset.stop = stop.type === 'radio' ? groups[stop.name] ??= count++ : count++;
  }
  return count;
}"""
# What has the focus: its number among the stops, none outside the outputs; and whether it can be seen.
FOCUS = """() => {
  const focus = document.activeElement, {left, top, right, bottom} = focus.getBoundingClientRect();
  const shown = document.querySelector('.jp-NotebookPanel .jp-WindowedPanel-outer').getBoundingClientRect();
  const seen = right > left && bottom > shown.top && top < shown.bottom && right > shown.left && left < shown.right;
  const panel = focus.closest('.jp-NotebookPanel');
  return {stop: focus.dataset.stop ? +focus.dataset.stop : null, seen, inside: Boolean(panel), what: focus.outerHTML.slice(0, 120)};
}"""
ACTIVATE = """at => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.deselectAll();
  content.activeCellIndex = at < 0 ? content.widgets.length + at : at;
  content.mode = 'command';
  content.activate();
}"""
# The name of a control for a message, and how its explorer looks: its height, and where the picture stands.
NAME = (
    "e => e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent || e.outerHTML"
)
SHAPE = """area => {
  const height = e => Math.round(e.getBoundingClientRect().height);
  const image = area.querySelector('img[width]'), above = image.getBoundingClientRect().top;
  return [height(area), Math.round(above - area.getBoundingClientRect().top), height(image)].join();
}"""
# What is cut in the outputs: words of controls, and pictures that have to be scrolled.
CUT = """() => [...document.querySelectorAll('.jp-OutputArea-output :is(' +
    'label, button, .widget-label, .widget-readout, .lm-TabBar-tabLabel, .course-wide:has(img))')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map(e => `${e.textContent || 'a picture'}: ${e.scrollWidth} > ${e.clientWidth}`)"""
NARROW = {"width": 600, "height": 900}


def walk(page, key, most):
    """The stops in the outputs that a key leads to, until it leaves the notebook; the focus is always seen."""
    stops = []
    for _ in range(most):
        page.keyboard.press(key)
        focus = page.evaluate(FOCUS)
        if not focus["inside"]:
            return stops
        if focus["stop"] is not None:
            assert focus["seen"], focus
            stops.append(focus["stop"])
    raise AssertionError(f"{key} does not lead out of the notebook: {focus}")


def cut_when_narrow(page):
    """What is cut in a narrow window without a side bar; the window is as before afterwards."""
    for size in (NARROW, WINDOW):
        page.set_viewport_size(size)
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        page.wait_for_timeout(500)
        if size is NARROW:
            found = page.evaluate(CUT)
    return found


def walk_both_ways(notebook):
    """Tab leads through all outputs, in order, and out; so does Shift+Tab, backward."""
    page = notebook.page
    count = page.evaluate(NUMBER)
    most = 2 * count + 20 * page.locator(".jp-Cell").count()
    page.evaluate(ACTIVATE, 0)
    assert walk(page, "Tab", most) == list(range(count))
    page.evaluate(ACTIVATE, -1)
    assert walk(page, "Shift+Tab", most) == list(range(count))[::-1]


class Explorer:
    """One explorer in the page; `faults` is what a keyboard could not do with it."""

    CONTROLS = "[role=slider], button, select, input[type=text], [role=tab]"
    NO_CHANGE = (
        "Reset",
        "Clear the list",
        "Save as CSV",
        "γ",
        "1 + w",
    )  # as they open, the last two both say: times 1

    def __init__(self, page, area):
        self.page, self.area, self.faults, self.sentences = page, area, [], set()
        self.image, self.sentence = area.locator("img[width]"), area.locator(".course-sentence")
        # Before Start some settings of a training are said, but there is nothing yet to be drawn.
        self.waits = area.get_by_role("button", name="Start").count() > 0
        self.shapes = {area.evaluate(SHAPE)}

    def use_all(self):
        """Every control by keys: each changes the picture, keeps the focus, and moves nothing else.

        One that changes nothing at first (a gain before the step that uses it) must do so when the others have moved.
        """
        self.sentences.add(self.sentence.inner_text())
        controls = [c for c in self.area.locator(self.CONTROLS).all() if c.is_visible() and c.is_enabled()]
        idle = [control for control in controls if control.is_visible() and not self.use(control)]
        for control in idle:
            if control.is_visible() and not self.use(control):
                self.faults.append(f"{control.evaluate(NAME).strip()}: the picture stays the same")
        if len(self.shapes) > 1:
            self.faults.append(f"jumps: {self.shapes}")
        if controls and len(self.sentences) == 1:  # a picture that is finished has no control
            self.faults.append("the sentence is always the same")
        return [f"{self.sentence.inner_text()[:40]} … {fault}" for fault in self.faults]

    def use(self, control):
        """Use one control by keys; whether the picture follows, where it should."""
        name = control.evaluate(NAME).strip()
        before, keys = self.image.get_attribute("src"), self.keys(control)
        expect(control).to_be_enabled(timeout=60_000)  # Start is not, while a training begins anew
        control.focus()
        for key in keys:
            self.page.keyboard.press(key)
        moved = not keys or name in self.NO_CHANGE or follows(self.image, before)
        moved = moved or (self.waits and self.sentence.inner_text() not in self.sentences)
        self.sentences.add(self.sentence.inner_text())
        self.shapes.add(self.area.evaluate(SHAPE))
        if not control.locator(self.heirs(control, name)).evaluate_all(
            "all => all.includes(document.activeElement)"
        ):
            self.faults.append(f"{name}: the focus is at {self.page.evaluate(FOCUS)['what']}")
        return moved

    @staticmethod
    def heirs(control, name):
        """Where the focus may be after a control was used: there, at the tab it chose, at the button beside it."""
        if control.get_attribute("role") == "tab":
            return "xpath=../*"
        return (
            "xpath=ancestor::*[contains(@class, 'course-live')]//button[not(@disabled)]"
            if name == "Start"
            else "xpath=."
        )

    @staticmethod
    def keys(control):
        """The keys that change a control."""
        kind = control.get_attribute("role") or control.evaluate("e => e.tagName.toLowerCase()")
        if kind == "slider":
            now, most = (float(control.get_attribute(f"aria-value{end}")) for end in ("now", "max"))
            return ["Home" if now == most else "End"]
        if kind == "select":
            last = control.evaluate("e => e.selectedIndex === e.options.length - 1")
            return ["ArrowUp" if last else "ArrowDown"]
        if kind == "tab":
            last = control.evaluate("e => !e.nextElementSibling")
            return [] if last else ["ArrowRight", "Enter"]
        if kind == "input":
            return ["ControlOrMeta+A", *"1, 2, 4", "Enter"]
        pressed = control.get_attribute("aria-pressed") == "true"
        return [] if pressed else ["Enter"]


def answer(notebook, form):
    """Answer a question by keys; the focus stays on its button."""
    page, button = notebook.page, form.get_by_role("button")
    form.locator("input").first.focus()
    page.keyboard.press("Space" if form.get_by_role("radio").count() else "7")
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    notebook.wait_idle()
    page.keyboard.press("Enter")
    answered = re.compile("Locked in|Right|Not quite")
    expect(form.get_by_role("status")).to_have_text(
        answered, timeout=60_000
    )  # a prediction may be measured now
    expect(button).to_be_focused()


def check_exercises(notebook):
    """Write into each answer and run its check, by keys; the check answers, and the next cell has the focus."""
    page = notebook.page
    sources = page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets.map(c => c.model.sharedModel.source)"
    )
    for at in [at for at, source in enumerate(sources) if re.search(r"exercises\..+\.check\(", source)]:
        page.evaluate(ACTIVATE, at)
        page.keyboard.press("Enter")  # into the cell, and out of it
        page.keyboard.press("End")
        page.keyboard.press("Space")
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+Enter")
        notebook.wait_idle()
        cell = page.locator(".jp-Cell").nth(at)
        expect(cell.get_by_role("status").last).to_contain_text(re.compile("not attempted|correct|wrong"))
        expect(page.locator(".jp-Cell").nth(at + 1)).to_be_focused()


SLOW = [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]


@pytest.mark.parametrize("name", SLOW)
def test_a_notebook_for_everyone(open_notebook, name):
    notebook = open_notebook(name)
    page = notebook.page
    page.wait_for_timeout(1000)  # MathJax
    for theme in THEMES:
        set_theme(page, theme)
        assert axe(page) == [], theme
    assert cut_when_narrow(page) == []
    walk_both_ways(notebook)
    check_exercises(notebook)
    for form in page.locator(".course-form").all():
        answer(notebook, form)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_explorer_by_the_keyboard(open_notebook, name):
    page = open_notebook(name).page
    faults = []
    for area in page.locator(f"{OUTPUT}:has(img[width])").all():
        faults += Explorer(page, area).use_all()
    assert not faults, "\n".join(faults)
