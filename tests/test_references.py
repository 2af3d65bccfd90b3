"""Every source is given in full, under one name, and what is cited has an entry; links lead where they say."""

import re
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest

from . import notebooks

COURSE = Path(__file__).parents[1]
PAGES = {
    path.stem: "\n".join(c.source for c in nbformat.read(path, 4).cells if c.cell_type == "markdown")
    for path in notebooks.paths()
}
CODE = {path: path.read_text(encoding="utf-8") for path in sorted((COURSE / "helpers").rglob("*.py"))}

ID = r"(?<![\d.])(?:0[7-9]|1\d|2\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?!\d|\.\d)"  # of arXiv: year, month, number
WHERE = (
    r"\[arXiv:(?P<id>\d{4}\.\d{4,5})\]\(https://arxiv\.org/abs/(?P=id)\)"
    r"|\[doi:(?P<doi>10\.\S+)\]\(https://doi\.org/(?P=doi)\)"
    r"|\[(?P<host>openai\.com|proceedings\.neurips\.cc|proceedings\.mlr\.press)\]\(https://(?:cdn\.)?(?P=host)/\S+\)"  # has neither
)
ENTRY = re.compile(rf"- (?P<authors>[^(*]+) \((?P<year>\d{{4}})\): \*(?P<title>[^*]+)\*\.? (?:{WHERE})")
NAME = r"[A-Z][a-z]+[\w-]*|[A-Z][A-Za-z]+(?: Team| Workshop)"
CITED = re.compile(
    rf"\b(?P<name>{NAME})(?P<more> & [A-Z][\w-]+| and [A-Z][\w-]+| et al\.| and others)?,? (?P<open>\()?(?P<year>(?:19|20)\d\d)\b"
)


def entries(page):
    """The lines under References (or Sources) that name a source."""
    return [
        line
        for part in re.split(r"^## (?:References|Sources)$", page, flags=re.M)[1:]
        for line in part.splitlines()
        if line.startswith("- ")
    ]


def sources(page):
    return [match.groupdict() for match in map(ENTRY.match, entries(page)) if match]


ALL = [source for page in PAGES.values() for source in sources(page)]


def surname(source):
    """The first author's, or the name of a team."""
    return re.sub(r"^(?:[A-Z]\.[ -]?|[A-Z]\.-[A-Z]\. )+", "", source["authors"].split(",")[0])


KNOWN = {(surname(source), source["year"]) for source in ALL}


@pytest.mark.parametrize("name", PAGES)
def test_a_source_has_author_year_title_and_a_number_or_an_address(name):
    assert [line for line in entries(PAGES[name]) if not ENTRY.match(line)] == []
    assert entries(PAGES[name]) or name == notebooks.START


def test_a_source_is_the_same_wherever_it_is_named():
    seen = defaultdict(set)
    for source in ALL:
        seen[source["id"] or source["doi"] or source["title"]].add(
            (source["authors"], source["year"], source["title"])
        )
    assert len(seen) > 50
    assert [found for found in seen.values() if len(found) > 1] == []


def test_every_number_of_arxiv_belongs_to_a_source():
    numbers = {source["id"] for source in ALL}
    for name, text in [
        *PAGES.items(),
        *CODE.items(),
        ("README", (COURSE / "README.md").read_text(encoding="utf-8")),
    ]:
        assert set(re.findall(ID, text)) <= numbers, name


def citations(text):
    """(name, year) of what a text cites; a name alone counts only with its year in brackets."""
    for found in CITED.finditer(re.sub(r"\s+", " ", text)):
        if found["more"] or found["open"] or re.match(r", eq|, fig", text[found.end() : found.end() + 5]):
            yield found["name"], found["year"]


@pytest.mark.parametrize("name", PAGES)
def test_what_a_notebook_cites_stands_in_its_references(name):
    text = re.split(r"^## (?:References|Sources)$", PAGES[name], flags=re.M)[0]
    own = {(surname(source), source["year"]) for source in sources(PAGES[name])}
    assert set(citations(re.sub(r"^\|.*$", "", text, flags=re.M))) - own - MODELS == set()


MODELS = {(name, year) for name, year in [("GPT", "2019")]}  # named for themselves, not for a paper


def test_what_the_code_cites_has_an_entry():
    found = {(name, year) for text in CODE.values() for name, year in citations(text)}
    assert len(found) > 20
    assert found - KNOWN - MODELS == set()


def test_a_number_in_the_code_stands_beside_its_author_and_year():
    by_number = {source["id"]: source for source in ALL}
    for path, text in CODE.items():
        for found in re.finditer(rf"(?P<before>.{{0,160}})arXiv:(?P<id>{ID})", re.sub(r"\s+", " ", text)):
            source = by_number[found["id"]]
            assert source["year"] in found["before"] and surname(source).split()[0] in found["before"], (
                path,
                found[0],
            )


# ------------------------------------------------------------------------------ links


def headings(page):
    return re.findall(r"^#+ (.+)$", page, flags=re.M)


def in_jupyter(heading):
    """The anchor that JupyterLab gives a heading: its text, spaces as hyphens."""
    return re.sub(r"[`*$]", "", heading).replace(" ", "-")


def on_github(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


LINK = r"\]\((?!https?:)([^)\s]*)\)"


@pytest.mark.parametrize("name", PAGES)
def test_a_link_between_notebooks_leads_to_a_heading_that_is_there(name):
    for link in re.findall(LINK, PAGES[name]):
        file, _, anchor = link.partition("#")
        page = file.removesuffix(".ipynb") or name
        assert page in PAGES, link
        assert not anchor or anchor in map(in_jupyter, headings(PAGES[page])), link


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_a_link_of_a_page_leads_somewhere(name):
    links = re.findall(LINK, (COURSE / name).read_text(encoding="utf-8"))
    assert links
    for link in links:
        file, _, anchor = link.partition("#")
        path = COURSE / (file or name)
        assert path.exists(), link
        assert not anchor or anchor in map(on_github, headings(path.read_text(encoding="utf-8"))), link
