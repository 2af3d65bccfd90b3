"""A submission, whatever happened to it, put back on the released notebook: its answers, by grade_id."""

import ast
import copy
import json
import os
import stat
from collections import Counter
from pathlib import Path

import nbformat

from . import pictures

MISSING = "# This cell was not in the submission."
STRANGE = "no cell of the assignment is in it: is it another notebook, such as the lesson?"
TOO_LONG = "# This cell was too long."
LARGEST = 300_000_000  # bytes of a notebook that is read: its saved outputs may be many
PIECES = 20_000_000  # lists, objects and their entries in it, which take more memory than bytes
LONGEST = 100_000  # characters of a cell
ROOM = 2_000_000  # characters of all cells that a student added
COST = 1000  # characters that a cell counts for besides its own


def submitted(folder):
    """{name: bytes} of the notebooks that lie in a submission's folder, with nothing but what is read of them.

    No link, pipe or device is followed. What is no notebook is there too, shortened.
    """
    found = {}
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for path in (Path(place, name) for name in sorted(names) if ".ipynb" in name.lower()):
            found[path.relative_to(folder).as_posix()] = _slim(path)
    return found


def _slim(path):
    """The cells of a notebook, as bytes of JSON; a few bytes of anything else."""
    text = b"not a file"
    try:
        about = path.lstat()
        if stat.S_ISREG(about.st_mode):
            text = path.read_bytes() if about.st_size <= LARGEST else b"too large"
        if sum(map(text.count, b"[{,")) > PIECES:
            text = b"too large"
        return json.dumps({"nbformat": 4, "cells": read(text)}).encode()
    except Exception:  # a file may be anything
        return text[:1000]


def metadata(cell):
    """What nbgrader keeps in a cell; {} where that is nothing."""
    found = cell.get("metadata")
    found = found.get("nbgrader") if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def is_answer(cell):
    """Is this a cell of the released notebook that a student writes in?"""
    return bool(metadata(cell).get("solution"))


def read(text):
    """The cells of a notebook from bytes, however old; an exception when it is none."""
    text = text.decode(json.detect_encoding(text), "replace")
    notebook = json.loads(text, parse_int=lambda digits: int(digits[:100]))  # int itself refuses long ones
    if isinstance(notebook, dict) and "cells" not in notebook and "worksheets" in notebook:
        notebook = nbformat.convert(nbformat.from_dict(notebook), 4)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("no notebook")
    cells = [cell for cell in map(_tidy, notebook["cells"]) if cell]
    pictures.keep(cells)
    return cells


def _tidy(cell):
    """A cell with only what is used of it, its source as one string."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    kind = cell.get("cell_type")
    return {
        "cell_type": kind if kind in ("code", "markdown", "raw") else "raw",
        "source": encodable(source[: 2 * LONGEST].replace("\r\n", "\n"))[: LONGEST + 1],
        "metadata": {"nbgrader": metadata(cell)},
        "attachments": cell.get("attachments"),
        "id": str(cell.get("id", "")),
    }


def encodable(text):
    """The text without halves of characters, which cannot be written into a file."""
    return text.encode("utf-8", "replace").decode()


def choose(files, name):
    """The notebook of a submission that is meant by `name`: (its bytes or None, what to report or None).

    files: {file name: bytes} of all notebooks that were handed in. If none has the name, the longest is taken.
    """
    if name in files or not files:
        return files.get(name), None if files else f"{name} is missing"
    others = {other: text for other, text in files.items() if b"grade_id" in text} or files
    other = max(others, key=lambda other: (Path(other).name == name, len(others[other])))
    among = f", one of {len(files)}" if len(files) > 1 else ""
    return others[other], f"the notebook is named {other!r}{among}"


def rebuild(text, released):
    """The released notebook with the answers of a submission: (notebook, what was put right, in words).

    text: the submission's bytes, or None; released: a notebook. A student's own cells stay behind the
    cell that they followed. Nothing else of the submission is kept.
    """
    remarks = []
    try:
        cells = read(text) if text is not None else []
    except Exception:  # a file may be anything
        cells, remarks = [], ["the file is not a notebook"]
    if not cells and not remarks and text is not None:
        remarks = ["the notebook is empty"]
    keys = [_key(cell) for cell in released.cells]
    ids = {cell.get("id"): key for cell, key in zip(released.cells, keys)}
    count = Counter(str(metadata(cell).get("grade_id")) for cell in cells)
    parts, own, order, last, foreign, room, left = {}, {}, [], None, 0, ROOM, 0
    for cell in cells:
        if len(cell["source"]) > LONGEST:
            remarks.append(f"a cell of more than {LONGEST} characters was left out")
            cell["source"] = TOO_LONG
        grade_id, by_id = metadata(cell).get("grade_id"), ids.get(cell["id"])
        key = grade_id if grade_id in keys and (not by_id or count[grade_id] == 1) else by_id
        if key is None or key in parts:
            room -= len(cell["source"]) + COST
            if room < 0:
                left += 1
                continue
        if key is None:
            foreign += grade_id is not None
            own.setdefault(last, []).append(cell)
            continue
        order += [key] if key not in order else []
        parts.setdefault(key, []).append(cell)
        last = key
    remarks += [f"{foreign} cells are of another assignment"] if foreign else []
    remarks += [f"{left} cells were left out: too many"] if left else []
    remarks += [STRANGE] if cells and not parts else []
    deleted = [key for key in keys if key not in parts and not key.startswith("id:")] if parts else []
    remarks += [f"{', '.join(deleted)} {'was' if len(deleted) == 1 else 'were'} deleted"] if deleted else []
    result = copy.deepcopy(released)
    result.cells = [_own(cell) for cell in own.get(None, [])]
    for key, cell in zip(keys, copy.deepcopy(released.cells)):
        remarks += _fill(cell, key, parts.get(key), bool(cells))
        result.cells += [cell, *map(_own, _besides(cell, parts.get(key, [])) + own.get(key, []))]
    remarks += _elsewhere(released, parts, own)
    if order != [key for key in keys if key in order]:
        remarks.append("cells were moved")
    for number, cell in enumerate(result.cells):
        cell["id"] = f"cell-{number}"
        missing = pictures.complete(cell) if cell.cell_type == "markdown" else []
        remarks += [f"the picture {name!r} was not handed in, or is too large" for name in missing]
    return result, remarks


def _elsewhere(released, parts, own):
    """Says when an answer in words is blank and cells of the student's own have some: it gets 0, and nobody asks."""
    if not parts or not any(
        cell["cell_type"] == "markdown" and cell["source"].strip() for cells in own.values() for cell in cells
    ):
        return []
    blank = [
        _key(cell)
        for cell in released.cells
        if is_answer(cell)
        and cell.cell_type == "markdown"
        and all(part["source"].strip() in ("", cell.source.strip()) for part in parts.get(_key(cell), []))
    ]
    verb = "is" if len(blank) == 1 else "are"
    return (
        [f"{', '.join(blank)} {verb} blank, and there is text in cells of the student's own"] if blank else []
    )


def _key(cell):
    return metadata(cell).get("grade_id") or "id:" + str(cell.get("id"))


def _besides(cell, parts):
    """What stands with a cell that is not the student's, as cells of their own: they may have been merged."""
    if is_answer(cell):
        return []
    there = cell.source.strip()
    found = [
        {**part, "source": part["source"].replace(there, "\n", 1).strip()}
        for part in parts
        if there in part["source"]
    ]
    kinds = {True: "code", False: "markdown"}
    return [
        {**part, "cell_type": kinds["def " in part["source"] and parses(part["source"])]}
        for part in found
        if part["source"]
    ]


def _own(cell):
    """A cell that the student added, as a new one."""
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    made = make.get(cell["cell_type"], nbformat.v4.new_raw_cell)(cell["source"])
    return _with_pictures(made, [cell])


def _with_pictures(cell, parts):
    """A cell of text with the pictures of those that it is made of."""
    found = {name: one for part in parts for name, one in part["attachments"].items()}
    if found and cell.cell_type == "markdown":
        cell.attachments = nbformat.from_dict(found)
    return cell


def _fill(cell, key, parts, any_cells):
    """Put the answer into a released cell; what had to be put right."""
    named = not key.startswith("id:")
    if not parts:
        if is_answer(cell) and any_cells and cell.cell_type == "code":
            cell.source = MISSING  # the student's own cells may define it
        return []
    remarks = []
    if is_answer(cell):
        texts = list(dict.fromkeys(part["source"] for part in parts))
        texts = [text for text in texts if text.strip() != cell.source.strip()] or texts[:1]
        remarks += [f"{key} was there {len(parts)} times"] if len(parts) > 1 else []
        cell.source = _joined(texts) if cell.cell_type == "code" else "\n\n".join(texts)
        _with_pictures(cell, parts)
    elif named and any(part["source"].strip() != cell.source.strip() for part in parts):
        remarks.append(f"{key} was edited")
    if named and any(part["cell_type"] != cell.cell_type for part in parts):
        remarks.append(f"{key} was another kind of cell")
    given = ("points", "grade", "solution", "locked", "task")
    if any(metadata(part).get(k) != metadata(cell).get(k) for part in parts for k in given if metadata(part)):
        remarks.append(f"the points or the kind of {key} were changed")
    return remarks


def _joined(texts):
    """Parts of a split cell as one: apart from each other where each can stand alone."""
    return ("\n\n" if all(map(parses, texts)) else "\n").join(texts)


def parses(text):
    """Is this Python that compiles?"""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
