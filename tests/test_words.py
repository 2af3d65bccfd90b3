"""One name for one thing: the words of notebooks, pages and messages. (Spelling is checked in test_style.py.)"""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from . import notebooks

COURSE = Path(__file__).parents[1]
TERMS = {  # what the course says: what it does not say, as a regular expression
    "LayerNorm": "[Ll]ayernorm|[Ll]ayer-norm",
    "BatchNorm": "[Bb]atchnorm|[Bb]atch-norm",
    "RMSNorm": "[Rr]msnorm|RMSnorm|RMS[- ]norm",
    "residual connection, or shortcut": "[Ss]kip[- ]connections?|[Rr]esidual links?|identity mappings?",
    "learning rate": "[Ss]tep size|learning-rate",
    "pre-norm, post-norm": "[Pp]renorm|[Pp]re norm|[Pp]ostnorm|[Pp]ost norm",
    "warm-up": "[Ww]armup",
    "feed-forward": "[Ff]eedforward|[Ff]eed forward",
    "backward pass": "[Bb]ack-?prop",
    "batch": "[Mm]ini-?batch",
    "feature": "[Hh]idden units?|[Nn]eurons?",
    "ε": r"(?<!machine )\bepsilon",
    "half precision": "half-precision (?!LayerNorm|number)",
    "centre": "[Cc]enter",
    "colour": r"[Cc]olor(?![:\d])",
    "neighbour": "[Nn]eighbor",
    "behaviour": "[Bb]ehavior",
    "grey": "[Gg]ray",
    "-ize": "(?:normal|initial|optim|regular|general|standard|character)is(?:e|ing|ation)",
    "analyse": "[Aa]nalyz",
    "data are": r"\b[Dd]ata (?:is|was|has)\b",
}
ALSO = {("glossary", "skip connection"): "the word that a learner may know it by"}


def plain(text):
    """A Markdown text without code, formulas and references, which keep their own words."""
    text = re.sub(r"^- .*\((?:19|20)\d\d\): \*.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|<source[^>]*>", "·", text, flags=re.S)


def sentences(path):
    """What a module says: its texts of four words or more, docstrings included."""
    texts = (
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    )
    return "\n".join(text for text in texts if isinstance(text, str) and len(text.split()) > 3)


TEXTS = {
    **{
        path.stem: "\n\n".join(c.source for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")
        for path in notebooks.paths()
    },
    **{name: (COURSE / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")},
    **{str(path.relative_to(COURSE)): sentences(path) for path in sorted((COURSE / "helpers").rglob("*.py"))},
}


def strays(text):
    """(what is said, what the course says) wherever the two differ."""
    return [(found[0], term) for term, other in TERMS.items() for found in re.finditer(other, plain(text))]


@pytest.mark.parametrize("name", TEXTS)
def test_a_thing_has_one_name(name):
    assert [stray for stray in strays(TEXTS[name]) if (name, stray[0]) not in ALSO] == []


def test_another_name_is_still_needed_where_it_is_allowed():
    for (name, word), _ in ALSO.items():
        assert word in plain(TEXTS[name])


def test_a_stray_is_found():
    assert (
        len(strays("A Batchnorm with a skip connection and step size 0.1, in the color of its neighbor."))
        == 5
    )
    assert strays("See `color` and $epsilon$ and [this](center.html).") == []
