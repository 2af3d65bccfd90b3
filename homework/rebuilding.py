"""A submission, whatever happened to it, put back on the released notebook: its answers, by grade_id."""

import ast
import copy
import json

import nbformat

MISSING = "# This cell was not in the submission."


def metadata(cell):
    """What nbgrader keeps in a cell; {} where that is nothing."""
    found = cell.get("metadata")
    found = found.get("nbgrader") if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def is_answer(cell):
    """Is this a cell of the released notebook that a student writes in?"""
    return bool(metadata(cell).get("solution"))


def read(text):
    """A notebook from bytes, however old; ValueError when it is none."""
    notebook = json.loads(text.decode("utf-8-sig"))
    if isinstance(notebook, dict) and notebook.get("nbformat", 4) != 4:
        notebook = nbformat.convert(nbformat.from_dict(notebook), 4)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("no notebook")
    return [cell for cell in map(_tidy, notebook["cells"]) if cell]


def _tidy(cell):
    """A cell with only what is used of it, its source as one string."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    kind = cell.get("cell_type")
    return {
        "cell_type": kind if kind in ("code", "markdown", "raw") else "raw",
        "source": source.replace("\r\n", "\n"),
        "metadata": {"nbgrader": metadata(cell)},
        "id": str(cell.get("id", "")),
    }


def choose(files, name):
    """The notebook of a submission that is meant by `name`: (its bytes or None, what to report or None).

    files: {file name: bytes} of all notebooks that were handed in.
    """
    if name in files:
        return files[name], None
    others = {other: text for other, text in files.items() if b"grade_id" in text} or files
    if len(others) == 1:
        ((other, text),) = others.items()
        return text, f"the notebook is named {other!r}"
    return None, f"{name} is missing" + (f" ({len(files)} other notebooks)" if files else "")


def rebuild(text, released):
    """The released notebook with the answers of a submission: (notebook, what was put right, in words).

    text: the submission's bytes, or None; released: a notebook. A student's own cells stay behind the
    cell that they followed. Nothing else of the submission is kept.
    """
    remarks = []
    try:
        cells = read(text) if text is not None else []
    except (ValueError, RecursionError, nbformat.ValidationError, AttributeError, KeyError, TypeError):
        cells, remarks = [], ["the file is not a notebook"]
    if not cells and not remarks and text is not None:
        remarks = ["the notebook is empty"]
    keys = [_key(cell) for cell in released.cells]
    ids = {cell.get("id"): key for cell, key in zip(released.cells, keys)}
    parts, own, order, last = {}, {}, [], None
    for cell in cells:
        grade_id = metadata(cell).get("grade_id")
        key = grade_id if grade_id in keys else ids.get(cell["id"])
        if key is None:
            own.setdefault(last, []).append(cell)
            continue
        order += [key] if key not in order else []
        parts.setdefault(key, []).append(cell)
        last = key
    result = copy.deepcopy(released)
    result.cells = [_own(cell) for cell in own.get(None, [])]
    for key, cell in zip(keys, copy.deepcopy(released.cells)):
        remarks += _fill(cell, key, parts.get(key), bool(cells))
        result.cells += [cell, *map(_own, own.get(key, []))]
    if order != [key for key in keys if key in order]:
        remarks.append("cells were moved")
    for number, cell in enumerate(result.cells):
        cell["id"] = f"cell-{number}"
    return result, remarks


def _key(cell):
    return metadata(cell).get("grade_id") or "id:" + str(cell.get("id"))


def _own(cell):
    """A cell that the student added, as a new one."""
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    return make.get(cell["cell_type"], nbformat.v4.new_raw_cell)(cell["source"])


def _fill(cell, key, parts, any_cells):
    """Put the answer into a released cell; what had to be put right."""
    named = not key.startswith("id:")
    if not parts:
        if is_answer(cell) and any_cells and cell.cell_type == "code":
            cell.source = MISSING  # the student's own cells may define it
        return [f"{key} was deleted"] if named and any_cells else []
    remarks = []
    if is_answer(cell):
        texts = list(dict.fromkeys(part["source"] for part in parts))
        texts = [text for text in texts if text.strip() != cell.source.strip()] or texts[:1]
        remarks += [f"{key} was there {len(parts)} times"] if len(parts) > 1 else []
        cell.source = _joined(texts) if cell.cell_type == "code" else "\n\n".join(texts)
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
