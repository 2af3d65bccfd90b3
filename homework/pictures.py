"""Pictures in a student's text: those that were handed in are kept, a place is held for those that were not."""

import base64
import re
from urllib.parse import unquote

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

PREFIX = "attachment:"
BASE64 = r"[A-Za-z0-9+/=\s]+"
LARGEST = 8_000_000  # characters of all pictures of a submission
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="30"><text y="20">(no picture was handed in)</text></svg>'
MISSING = {"image/svg+xml": base64.b64encode(_SVG.encode()).decode()}


def keep(cells):
    """Leave nothing but pictures among the cells' attachments, and of these no more than may be kept."""
    room = LARGEST
    for cell in cells:
        found = _pictures(cell["attachments"])
        size = sum(len(data) for one in found.values() for data in one.values())
        cell["attachments"] = found if size <= room else {}
        room -= size if size <= room else 0


def _pictures(attachments):
    """{name: {type: base64}} of what is a picture; what is none may not get into a page."""
    bundles = attachments.items() if isinstance(attachments, dict) else ()
    return {name: one for name, bundle in bundles if (one := _of_bundle(bundle))}


def _of_bundle(bundle):
    kinds = bundle.items() if isinstance(bundle, dict) else ()
    pairs = ((kind, "".join(map(str, data)) if isinstance(data, list) else data) for kind, data in kinds)
    return {
        kind: data
        for kind, data in pairs
        if re.fullmatch(r"image/[\w.+-]+", kind) and isinstance(data, str) and re.fullmatch(BASE64, data)
    }


def complete(cell):
    """Give a cell of text each picture that it shows, for without one nbgrader makes no page; those missing."""
    there, missing = cell.get("attachments", {}), []
    for name in _shown(cell.source):
        picture = there.get(name) or there.get(unquote(name))
        missing += [] if picture else [unquote(name)]
        there = {**there, name: picture or MISSING}
    if there:
        cell.attachments = there
    return missing


def _shown(text):
    """The names of the attachments that a text shows, as nbconvert looks for them."""
    renderer = _Names()
    MarkdownWithMath(renderer=renderer)(text)
    return list(dict.fromkeys(renderer.names))


class _Names(IPythonRenderer):
    """Notes the attachments instead of showing them."""

    def __init__(self):
        super().__init__()
        self.names = []

    def image(self, text, url, title=None):
        # mistune 2 gives the first two the other way round
        self.names += [one.removeprefix(PREFIX) for one in (text, url) if one.startswith(PREFIX)]
        return ""
