"""The controls of the explorers: named in words, with a range that already shows the point.

Every control has a `value`, observable and always valid: bad input is answered beside or below the control,
and the value stays what it was.
"""

import html
import math

import ipywidgets as widgets
import traitlets

LABEL = {"description_width": "initial"}
MAX_NUMBERS = 16
NOTE = "font-size:13px; line-height:1.2; min-height:2.4em; color:var(--jp-error-color1, #b3261e)"


def toggle(description: str, *options) -> widgets.ToggleButtons:
    """A row of buttons, one of them chosen; options: words, or (words, value) pairs."""
    style = {**LABEL, "button_width": "auto"}
    layout = {
        "width": "max-content",
        "max_width": "calc(100% - 4px)",
        "margin": "2px",  # as all other controls have it
        "display": "flex",
        "align_items": "center",
        "grid_gap": "0 6px",
    }
    return widgets.ToggleButtons(description=description, options=_pairs(options), style=style, layout=layout)


def choice(description: str, *options) -> widgets.Dropdown:
    """A menu; options: words, or (words, value) pairs."""
    layout = {"width": "auto"}
    return widgets.Dropdown(description=description, options=_pairs(options), style=LABEL, layout=layout)


def _pairs(options):
    return [option if isinstance(option, tuple) else (option, option) for option in options]


def whole(description: str, value: int, low: int, high: int) -> widgets.IntSlider:
    """A slider over whole numbers."""
    return widgets.IntSlider(value, low, high, **_look(description))


def number(description: str, value: float, low: float, high: float, step: float) -> widgets.FloatSlider:
    """A slider over numbers."""
    return widgets.FloatSlider(value, min=low, max=high, step=step, **_look(description))


def stops(description: str, value, *options) -> widgets.SelectionSlider:
    """A slider that knows these values only."""
    return widgets.SelectionSlider(options=_pairs(options), value=value, **_look(description))


def power(description: str, value: float, low: float, high: float) -> widgets.FloatLogSlider:
    """A slider over powers of ten: value, low and high are exponents; its value is the power."""
    look = {"readout_format": ".1e", **_look(description)}
    return widgets.FloatLogSlider(10.0**value, min=low, max=high, step=0.5, **look)


def _look(description):
    # Whatever the length of the words, the same room is left for the track.
    layout = {"width": f"{18 + 0.55 * len(description):.0f}em", "max_width": "100%"}
    return {"description": description, "style": LABEL, "layout": layout}


def only_when(control, shown, room=False) -> None:
    """Show controls only while `control` has the value that they belong to.

    shown: {value, or several of them in a tuple: controls}. room: their room is kept, so that nothing moves.
    """
    usual = {other: other.layout.display for others in shown.values() for other in others}

    def here(values):
        return control.value in (values if isinstance(values, tuple) else (values,))

    def follow(_=None):
        # First those that go, or the row would have to wrap for a moment.
        for values in sorted(shown, key=here):
            for other in shown[values]:
                if room:
                    other.layout.visibility = "visible" if here(values) else "hidden"
                else:
                    other.layout.display = usual[other] if here(values) else "none"

    control.observe(follow, "value")
    follow()


def at_most(control, other, limit=None) -> None:
    """Keep the slider `control` at or below the value of `other`, or what limit(value) makes of it."""
    widgets.dlink((other, "value"), (control, "max"), limit)


def parse_numbers(text: str) -> tuple[float, ...]:
    """The numbers in a text, separated by commas or spaces -> tuple of 2 to 16 floats.

    ValueError says in one sentence what is wrong with the text.
    """
    words = text.replace("−", "-").strip(" []()").replace(",", " ").replace(";", " ").split()
    if not words:
        raise ValueError("There is no number here. Type some, such as 2, -3, 1, 4.")
    if len(words) > MAX_NUMBERS:
        raise ValueError(f"These are {len(words):,} numbers; there is room for {MAX_NUMBERS}.")
    numbers = [_parse_number(word) for word in words]
    if len(numbers) == 1:
        raise ValueError("One number alone has no spread. Type at least two.")
    return tuple(numbers)


def _parse_number(word):
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"“{word[:20]}” is not a number. Put commas between numbers.") from None
    if not math.isfinite(value):
        raise ValueError(f"“{word[:20]}” is not a finite number; nor would the mean be.")
    if abs(value) > 1e100:
        raise ValueError(f"{word[:20]} is too large: its square overflows. Stay below 1e100.")
    return value


def write_numbers(numbers) -> str:
    """The text that a learner could have typed for these numbers."""
    return ", ".join(f"{value:.6g}" for value in numbers)


class Numbers(widgets.HBox):
    """A line of text for a vector, with a menu of examples; `value` is the tuple of its numbers."""

    value = traitlets.Tuple()
    OWN = "your own"

    def __init__(self, description, examples):
        """examples: {words: numbers}; the first one is the value at the start."""
        self.examples = {name: tuple(map(float, numbers)) for name, numbers in examples.items()}
        self.menu = choice("example", *examples, self.OWN)
        # Not while typing: a lone minus sign is no mistake yet.
        self.text = widgets.Text(
            description=description, continuous_update=False, style=LABEL, layout={"width": "23em"}
        )
        self.note = widgets.HTML(layout={"flex": "1 1 20em"})  # beside the text, or below it in a narrow page
        self._echo = False  # True while this control itself changes its text or its menu
        super().__init__([self.menu, self.text, self.note], layout={"width": "100%", "flex_flow": "row wrap"})
        self.menu.observe(self._chosen, "value")
        self.text.observe(self._typed, "value")
        self.observe(lambda _: self.refresh(), "value")
        self.value = next(iter(self.examples.values()))

    def refresh(self):
        """Show the value again, whatever stands in the text."""
        self._show(write_numbers(self.value))

    def _show(self, text):
        names = (name for name, numbers in self.examples.items() if numbers == self.value)
        self._echo = True
        self.text.value, self.menu.value = text, next(names, self.OWN)
        self._echo = False
        self._say("")

    def _chosen(self, change):
        if not self._echo and change["new"] != self.OWN:
            self.value = self.examples[change["new"]]
            self.refresh()

    def _typed(self, change):
        if self._echo:
            return
        try:
            self.value = parse_numbers(change["new"])
        except ValueError as error:
            self._say(f"{error} The picture still shows {write_numbers(self.value)}.")
        else:
            self._show(change["new"])

    def _say(self, words):
        self.note.value = f'<div role="status" style="{NOTE}">{html.escape(words)}</div>'


class Tabs(widgets.Tab):
    """Tabs whose `value` is the title of the one in front; each page holds a line of HTML."""

    value = traitlets.Unicode()

    def __init__(self, pages):
        """pages: {title: HTML}."""
        height = {"min_height": "3.6em"}  # of the longest page, so that what is below stays where it is
        super().__init__(
            [widgets.HTMLMath(page, layout=height) for page in pages.values()], layout={"max_width": "800px"}
        )
        self.names = list(pages)
        for index, name in enumerate(self.names):
            self.set_title(index, name)
        self.selected_index, self.value = 0, self.names[0]
        self.observe(self._front, "selected_index")
        self.observe(self._named, "value")

    def _front(self, change):
        # The page may say None for a moment while it is being built.
        if change["new"] is not None:
            self.value = self.names[change["new"]]

    def _named(self, change):
        self.selected_index = self.names.index(change["new"])
