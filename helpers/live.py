"""The moving picture: controls -> update(**values) -> the same figure -> one image and one sentence.

`update` follows the contract of matplotlib's FuncAnimation(blit=True): it changes artists of a figure
that exists and returns those it changed. Only they are drawn again, over a cached background.
"""

import base64
import html
import io
import linecache
import re
import struct
import traceback
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
import traitlets
from IPython import get_ipython
from IPython.display import display
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from .page import PAGE

HELPERS = Path(__file__).parent
TEXT = "font-size:15px; line-height:1.45; color:var(--jp-ui-font-color1, #222)"
ERROR = (
    "font-size:14px; line-height:1.45; padding:.5em .8em; border:1px solid #b3261e; border-left-width:6px; "
    "color:#222; background:#fdecea"
)
FRAME, STALE_FRAME = "2px solid transparent", "2px dashed #b3261e"
ABOVE = "above"  # gid of a legend that lies over an empty place
NARROWEST = 0.56  # of a picture's width: its smallest words are then 9 px high; a narrower page scrolls
ROOM = 260  # letters that any sentence has room for


class Blitter:
    """Draws a figure; as long as only the given artists change, only they are drawn again."""

    KEPT = 6  # backgrounds, for axes that go back and forth between a few limits

    def __init__(self, figure):
        self.figure, self.canvas = figure, FigureCanvasAgg(figure)
        self.artists, self.axes, self.backgrounds, self.legends = [], None, {}, {}

    def draw(self, artists):
        """Draw the artists that changed; None means any may have changed, so all are drawn."""
        if artists is None:
            self.canvas.draw()
            return
        artists = sorted(artists, key=lambda artist: artist.get_zorder())
        self.canvas.restore_region(self._background(artists))
        for artist in artists:
            self.figure.draw_artist(artist)

    def _background(self, artists):
        axes = axes_now(self.figure)
        # An animated artist never makes its figure stale. If it is, though the axes are what they were,
        # something else has changed, and no background can be trusted.
        if artists != self.artists or (self.figure.stale and axes == self.axes):
            self.backgrounds.clear()
        if axes not in self.backgrounds:
            self._draw_background(artists, axes)
        self.artists, self.axes, self.figure.stale = artists, axes, False
        return self.backgrounds[axes]

    def _draw_background(self, artists, axes):
        for artist in self.artists:
            artist.set_animated(False)
        for artist in artists:
            artist.set_animated(True)
        self._draw_but_legends()
        if len(self.backgrounds) == self.KEPT:
            del self.backgrounds[next(iter(self.backgrounds))]
        self.backgrounds[axes] = self.canvas.copy_from_bbox(self.figure.bbox)

    def _draw_but_legends(self):
        """Draw all but the legends that look as before: they take a quarter of the time, and are copied."""
        legends = [ax.get_legend() for ax in self.figure.axes]
        legends = [legend for legend in legends if legend and legend.get_gid() == ABOVE and _shown(legend)]
        same = [legend for legend in legends if self._looks_as_before(legend)]
        for legend in same:
            legend.set_visible(False)
        self.canvas.draw()
        for legend in same:
            legend.set_visible(True)
            self.canvas.restore_region(self.legends[legend][1])
        for legend in set(legends) - set(same):
            seen = self.canvas.copy_from_bbox(legend.get_window_extent())
            self.legends[legend] = legend.axes.bbox.bounds, seen

    def _looks_as_before(self, legend):
        """Whether it was drawn, its axes are where they were, and none of its words and samples has changed."""
        parts = *legend.get_texts(), *legend.legend_handles
        place, _ = self.legends.get(legend, (None, None))
        return place == legend.axes.bbox.bounds and not any(part.stale for part in parts)

    def frame(self):
        """The picture as drawn last: (height, width, 3) of uint8."""
        return np.asarray(self.canvas.buffer_rgba())[:, :, :3]


def _shown(artist):
    """Whether a draw of the figure draws it."""
    return artist.get_visible() and not artist.get_animated()


def axes_now(figure) -> tuple:
    """What a background depends on: the limits, scales and words of all axes, and the size."""
    return (*figure.get_size_inches(), figure.dpi, *(_axes_now(ax) for ax in figure.axes))


def _axes_now(ax):
    legend = ax.get_legend()
    texts = (ax.title, ax.xaxis.label, ax.yaxis.label, *(legend.get_texts() if legend else ()))
    limits = (*ax.get_xlim(), *ax.get_ylim(), ax.get_xscale(), ax.get_yscale())
    return (*limits, *(text.get_text() for text in texts))


def png(frame: np.ndarray) -> bytes:
    """A frame (height, width, 3) of uint8 as the bytes of a PNG.

    Each row is stored as it is (filter 0). Pillow tries five filters a row; for pictures of flat areas
    that takes twice as long and saves nothing. Nor does a larger table of zlib's than that of memLevel 6.
    """
    height, width, _ = frame.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    for channel in range(3):  # long strides: three times as fast as pixel by pixel
        rows[:, 1 + channel :: 3] = frame[:, :, channel]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    packer = zlib.compressobj(1, memLevel=6)
    chunks = (b"IHDR", header), (b"IDAT", packer.compress(rows.data) + packer.flush()), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def address(picture: bytes) -> bytes:
    """The `data:` address of a PNG."""
    return b"data:image/png;base64," + base64.b64encode(picture)


def still(frame, sentence) -> bytes:
    """The picture for viewers without a kernel: the sentence drawn above it, 256 colours; a PNG."""
    strip = Figure(figsize=(frame.shape[1] / 100, 0.62), dpi=100)
    # Dollar signs would be read as mathematics.
    strip.text(0.01, 0.5, sentence.replace("$", r"\$"), wrap=True, va="center", fontsize=11)
    blitter = Blitter(strip)
    blitter.draw(None)
    with io.BytesIO() as buffer:
        picture = Image.fromarray(np.vstack([blitter.frame(), frame]))
        picture.quantize(256).save(buffer, "png", optimize=True)
        return buffer.getvalue()


class Picture(widgets.Image):
    """An Image widget with a text alternative: its tooltip, shown where there is an empty description.

    Its value is an address that holds the whole picture: a browser shows it 5 ms sooner than raw bytes.
    """

    format = traitlets.Unicode("url").tag(sync=True)
    description = traitlets.Unicode("").tag(sync=True)
    tooltip = traitlets.Unicode("").tag(sync=True)


class Told(Exception):
    """What a learner has to know, said in full by the message: no line of code would add to it."""


def explain(error, picture) -> str:
    """One paragraph of HTML on an exception: what failed, where, with which message, what to try.

    The line that is shown is the learner's where there is one, else the last one of the course.
    picture: whether there is an earlier picture, which is then the last good one.
    """
    stale = "The picture in the dashed frame is the last good one; it does not show the current controls. "
    where = "" if isinstance(error, Told) else _where(error)
    back = "Move a control back, or mend" if picture else "Mend"
    return (
        f"{where}{html.escape(str(error))}<br>{stale if picture else ''}{back} the function and run its cell "
        "and this one again."
    )


def _where(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "site-packages" not in f.filename and "<__array_function__" not in f.filename]
    learners = [f for f in own if HELPERS not in Path(f.filename).parents]
    where = (learners or own or frames)[-1]
    line = linecache.getline(where.filename, where.lineno or 0).strip()
    name = (
        f"{html.escape(type(error).__name__)} in <code>{html.escape(where.name)}</code>, line {where.lineno}"
    )
    return f"<b>{name}:</b> <code>{html.escape(line)}</code><br>"


class Live:
    """A figure with its controls, its sentence and its errors; show it by ending a cell with it.

    `set(**values)` moves controls as a learner would, `sentence` is the text above the picture,
    `error` is the exception of the last update, None when it went well.
    """

    def __init__(self, figure, update, sentence=None, details=None, pick=None, **controls):
        self.figure, self.update, self.pick, self.controls = figure, update, pick, controls
        self._sentence, self._details = sentence or self._values_in_words, details
        self.defaults = self.values()
        self.sentence, self.longest, self.error = "", "", None
        self._blitter: Any = Blitter(figure)  # None when closed
        self._build()
        self._holding = False
        self.render()
        for control in controls.values():
            control.observe(self._changed, "value")
        close_on_rerun(self)

    def _build(self):
        width, height = self._blitter.canvas.get_width_height()
        look = {"max_width": "calc(100% - 4px)", "min_width": f"{NARROWEST * width:.0f}px"}
        look |= {"height": "auto", "border": FRAME, "margin": "0"}
        self.image = Picture(width=width, height=height, layout=look)
        self._status, self._table, self._alert = widgets.HTML(), widgets.HTML(), widgets.HTML()
        picture = widgets.Box([self.image])
        for wide in (picture, self._table):
            wide.add_class("course-wide")
        parts = [*self._rows(), self._status, picture, self._table, self._alert, widgets.HTML(PAGE)]
        if self.pick:
            parts.append(self._place())
        self.box = widgets.VBox(parts)
        self.box.add_class("course-live")

    def _place(self):
        """The hidden Text that hears where the picture was clicked: out of reach for all but the script."""
        self.image.add_class("course-pick")
        place = widgets.Text(layout={"display": "none"})
        place.add_class("course-place")
        place.observe(self._clicked, "value")
        return place

    def _clicked(self, change):
        x, y, _ = map(float, change["new"].split())
        self.set(**self.pick(x, 1 - y))

    def _rows(self):
        """What stands above the sentence: the controls, then tabs, which belong to the picture."""
        why = "Put all controls back to where they began"
        reset = widgets.Button(description="Reset", tooltip=why, layout={"width": "auto"})
        reset.add_class("course-reset")
        reset.on_click(lambda _: self.reset())
        tabs = [c for c in self.controls.values() if isinstance(c, widgets.Tab)]
        others = [c for c in self.controls.values() if c not in tabs]
        wrapped = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "2px 20px"}
        return [widgets.HBox([*others, reset], layout=wrapped), *tabs]

    def values(self):
        """The value of each control, by name."""
        return {name: control.value for name, control in self.controls.items()}

    def set(self, **values):
        """Move several controls at once; the picture is drawn once."""
        self._holding = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._holding = False
        self.render()

    def reset(self):
        """Put all controls back to where they began, and take back what was typed in vain."""
        self.set(**self.defaults)
        for control in self.controls.values():
            if hasattr(control, "refresh"):
                control.refresh()

    def _changed(self, _):
        if not self._holding:
            self.render()

    def render(self):
        """Run update with the controls' values; show the picture, or the error and the last picture."""
        try:
            self._blitter.draw(self.update(**self.values()))
            self.sentence = self._sentence()
            details = self._details() if self._details else ""
        except Exception as error:
            self._fail(error)
            return
        self.error = None
        self.image.layout.border, self.image.layout.display = FRAME, None
        self._alert.value = ""
        with self.image.hold_sync():
            self.image.value = address(png(self._blitter.frame()))
            self.image.tooltip = self.sentence
        self._status.value = self._said()
        self._table.value = details

    def _said(self):
        sentence = re.sub(" (?=[%=])", "\u00a0", self.sentence)  # no line begins with one of these
        longest = self.longest or (f"{sentence} " * ROOM)[: max(ROOM, 5 * len(sentence) // 4)]
        self.longest = max(longest, sentence, key=len)
        return (
            f'<div role="status" class="course-sentence" style="{TEXT}" data-longest="{html.escape(self.longest)}">'
            f"<span>{html.escape(sentence)}</span></div>"
        )

    def _fail(self, error):
        self.error = error
        seen = bool(self.image.value)
        self.image.layout.border, self.image.layout.display = STALE_FRAME, None if seen else "none"
        self._alert.value = f'<div role="alert" style="{ERROR}">{explain(error, seen)}</div>'

    def _values_in_words(self):
        return ", ".join(f"{name} {value}" for name, value in self.values().items())

    def _ipython_display_(self):
        words = f"{type(self.error).__name__}: {self.error}" if self.error else self.sentence
        frame = self._blitter.frame() if self.image.value else np.full((20, 800, 3), 255, np.uint8)
        picture = still(frame, words)
        alternative = html.escape(words, quote=True)
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        display(
            {
                "application/vnd.jupyter.widget-view+json": view,
                "text/html": f'<img alt="{alternative}" src="{address(picture).decode()}">',
                "image/png": base64.b64encode(picture).decode(),
                "text/plain": words,
            },
            raw=True,
        )

    def close(self):
        """Close all widgets and let go of the figure, which IPython's `Out` would keep alive with this."""
        close(self.box)
        self.controls, self.defaults = {}, {}
        self.figure = self.update = self.pick = self.box = None
        self._blitter = self._sentence = self._details = None


def live(
    figure: Figure,
    update: Callable,
    sentence: Callable | None = None,
    details: Callable | None = None,
    pick: Callable | None = None,
    **controls,
) -> Live:
    """Show a figure that follows its controls.

    figure: a matplotlib Figure. update(**values): changes artists of the figure and returns those it
    changed (None: all). controls: widgets by the name of the argument that they give. sentence():
    what the picture shows now, with its numbers; details(): HTML below the picture, or nothing.
    pick(x, y): the values of controls that a click on the picture sets; x, y from 0 to 1, upward.
    """
    return Live(figure, update, sentence, details, pick, **controls)


def show(picture, update: Callable, pick: Callable | None = None, **controls) -> Live:
    """`live` for one of figures/: it has a figure, a sentence after each update and, some of them, details."""
    details = (lambda: picture.details) if hasattr(picture, "details") else None
    return Live(picture.figure, update, lambda: picture.sentence, details, pick, **controls)


def close(widget) -> None:
    """Close a widget with all that it is made of: children, layout and style too."""
    for child in getattr(widget, "children", ()):
        close(child)
    for part in (getattr(widget, "style", None), widget, widget.layout):
        if isinstance(part, widgets.Widget):
            part.close()


# A cell that is run again closes what its last run made. Else each run would leave a figure and some
# twenty widgets behind.
_made_in_this_cell: list = []
_made_by_cell: dict = {}


def close_on_rerun(thing) -> None:
    """Call `thing.close()` when the cell that made it is run again; outside IPython there are no cells."""
    if _shell is not None:
        _made_in_this_cell.append(thing)


def _cell(info):
    return getattr(info, "cell_id", None) or info.raw_cell


def _before_cell(info):
    _made_in_this_cell.clear()
    for old in _made_by_cell.pop(_cell(info), []):
        old.close()


def _after_cell(result):
    if _made_in_this_cell and result.info is not None:
        _made_by_cell[_cell(result.info)] = _made_in_this_cell.copy()
        _made_in_this_cell.clear()


_shell = get_ipython()
if _shell is not None:
    _shell.events.register("pre_run_cell", _before_cell)
    _shell.events.register("post_run_cell", _after_cell)
