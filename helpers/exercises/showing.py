"""Shows a message: as HTML in a notebook, as text elsewhere."""

import html
import re
import sys
from dataclasses import dataclass

MARKS = {"correct": "✓", "wrong": "✗", "raised": "!", "not attempted": "○", "hint": "?", "solution": "="}
EDGES = {"correct": "#009E73", "wrong": "#D55E00", "raised": "#CC79A7"}


@dataclass
class Shown:
    """A message with its title; kind is an outcome, "hint" or "solution"."""

    title: str
    text: str
    kind: str

    def __repr__(self):
        return f"{self.title}\n\n{self.text}"

    def _repr_html_(self):
        if self.kind == "solution":
            body = f"<pre>{html.escape(self.text)}</pre>"
        else:
            escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(self.text, quote=False))
            body = "".join(f"<p style='margin:.4em 0'>{part}</p>" for part in escaped.split("\n\n"))
        return (
            f"<div role='status' style='border-left:5px solid {EDGES.get(self.kind, '#56B4E9')};max-width:75ch;"
            "padding:.3em .9em;color:var(--jp-ui-font-color1,#222)'>"
            f"<strong>{MARKS[self.kind]} {html.escape(self.title)}</strong>{body}</div>"
        )


def show(title, text, kind):
    """Display it in a notebook, print it elsewhere."""
    shown = Shown(title, text, kind)
    ipython = sys.modules.get("IPython")
    if ipython and ipython.get_ipython():
        from IPython.display import display

        display(shown)
        return
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(repr(shown).encode(encoding, "replace").decode(encoding))  # a Windows console lacks many letters


def show_hints(title, hints, shown, after):
    """Show the first so many hints, and after the last of them what there is besides."""
    lines = [f"{i}. {hint}" for i, hint in enumerate(hints[:shown], 1)]
    if shown == len(hints):
        lines.append(f"These are all the hints. {after}")
    show(f"{title}: hint {shown} of {len(hints)}", "\n\n".join(lines), "hint")
