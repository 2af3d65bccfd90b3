"""The table of the README, made of what was measured."""

import os
import platform
from pathlib import Path
from statistics import median

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- costs: written by python -m tests.benchmarks --readme -->", "<!-- end of costs -->"


def over_explorers(rows, what):
    """What the explorers cost: {explorer: value}."""
    split = ((*name.split(": ", 1), value) for name, value in rows.items() if ": " in name)
    return {explorer: value for explorer, row, value in split if row == what}


def spread(costs, form="{:.2f}"):
    """Median, and the dearest by its name."""
    dearest = max(costs, key=costs.get)
    most = f"{form.format(costs[dearest])} (`{dearest}`)"
    return f"{form.format(median(costs.values()))}, at most {most}"


def lines(rows, promises):
    """The lines of the table; what was not measured is left out."""
    table = []

    def tell(words, name, measured, promised=None):
        if measured is not None:
            table.append(f"| {words} | {promises.get(name, promised or '')} | {measured} |")

    def tell_all(words, what, form="{:.2f}", mark=" of {} explorers"):
        costs = over_explorers(rows, what)
        if costs:
            tell(words + mark.format(len(costs)), what, spread(costs, form))

    def tell_one(words, name, form="{:.2f}"):
        tell(words, name, form.format(rows[name]) if rows.get(name) is not None else None)

    by_hand = "beside a usual cell written by hand,"
    tell_all(f"drawing and encoding a change, {by_hand}", "drawing and encoding")
    tell_all(f"the experiment included, {by_hand}", "experiment included")
    tell_all(f"the axes redrawn, {by_hand}", "axes redrawn")
    tell_all("a change, experiment included,", "change, ratio")
    tell_all("a change that redraws the axes,", "redraw, ratio")
    tell_all("a frame of a training, its drawing,", "frame, ratio", mark=" of {} of them")
    tell_all("a change that begins a training anew, its first steps included,", "anew: change, ratio")
    tell_all("the first show of an explorer, CPU ms,", "first show, CPU ms", "{:.0f}")
    for words, name, form in (
        ("the bars of 512 layers over those of 64", "512 layers over 64", "{:.2f}"),
        ("a change with 40 explorers open over one", "a change with 40 explorers open over one", "{:.2f}"),
        ("what an open explorer takes, MB", "an open explorer, MB", "{:.1f}"),
        ("from key press to painted frame, in the browser", "key to frame, ratio", "{:.2f}"),
        ("ipympl, artists updated, in the place of the course's pictures", "ipympl, ratio", "{:.2f}"),
        ("all notebooks on two cores, seconds", "all notebooks on two cores, s", "{:.0f}"),
    ):
        tell_one(words, name, form)
    head = f"| a share of the usual cell, where nothing else is said | promised at most | {machine()} |"
    return [head, "|---|---|---|", *table]


def machine():
    """Where it was measured."""
    return f"measured on {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def write(rows, promises):
    """Put the table between its two marks in the README."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    table = "\n".join(lines(rows, promises))
    README.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")
