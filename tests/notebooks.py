"""Execute the notebooks and write them back as they are committed.

    python -m tests.notebooks            all of them
    python -m tests.notebooks 02 03      those whose names begin so

Outputs and still pictures stay; widget views, widget state, timestamps and versions are dropped. The first
code cell, the same in all, comes from first_cell.py; the links at both ends follow from the files' order.
"""

import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbval.plugin import coalesce_streams
from PIL import Image

FOLDER = Path(__file__).parents[1] / "notebooks"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
FIRST_CELL = Path(__file__).with_name("first_cell.py").read_text(encoding="utf-8").strip()
START, GLOSSARY = "00_start_here", "glossary"
LINKS = r"(\d of \d · )?\[[^\]]+\]\([^)]+\.ipynb\)( · \[[^\]]+\]\([^)]+\.ipynb\))*"  # a line of nothing else
VIEW = "application/vnd.jupyter.widget-view+json"
VARIES = "nbval-ignore-output"  # the tag of a cell whose output differs from run to run
PROGRESS = tempfile.TemporaryDirectory(prefix="progress")  # what the tests do is no learner's progress
TOLERANCE = 12  # root mean square over all pixels, 0 to 255: fonts differ a little between systems


def paths():
    """The course's notebooks, in order."""
    return sorted(FOLDER.glob("*.ipynb"))


def links(path):
    """The line at both ends of a notebook: where this is, the one before, the next, contents and words."""
    names = [p.stem for p in paths() if p.stem != GLOSSARY]
    if path.stem == GLOSSARY:
        return f"[← Start here]({START}.ipynb)"
    at, last = names.index(path.stem), len(names) - 1
    line = [f"{at} of {last}"] if at else []
    if at:
        line.append(f"[← {title(names[at - 1])}]({names[at - 1]}.ipynb)")
    if at < last:
        line.append(f"[{title(names[at + 1])} →]({names[at + 1]}.ipynb)")
    if at > 1:
        line.append(f"[Contents]({START}.ipynb)")
    return " · ".join([*line, f"[Words and symbols]({GLOSSARY}.ipynb)"])


def title(name):
    """The heading of a notebook."""
    return nbformat.read(FOLDER / f"{name}.ipynb", 4).cells[0].source.splitlines()[0].removeprefix("# ")


def frame(notebook, path):
    """Put in place, once, what all notebooks share: the links at both ends and the first code cell."""
    for cell in (notebook.cells[0], notebook.cells[-1]):
        lines = cell.source.rstrip().splitlines()
        while lines and re.fullmatch(LINKS, lines[-1]):
            del lines[-2:]  # with the empty line before it
        cell.source = "\n".join([*lines, *[""][: len(lines)], links(path)])
    first = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if first:
        first.source, first.metadata = FIRST_CELL, nbformat.from_dict({"tags": [VARIES]})
    return notebook


def fresh_learner():
    """Environment variables for a kernel whose learner has done nothing yet."""
    return {**os.environ, "COURSE_PROGRESS": f"{tempfile.mkdtemp(dir=PROGRESS.name)}/progress.json"}


def execute(notebook, folder=FOLDER):
    """Run all cells of a notebook, in that folder, in place; an error in a cell is an error here."""
    quiet = [
        "--log-level=ERROR"
    ]  # ipykernel warns that it talks unencrypted; it does so with this machine alone
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=120, resources=resources, extra_arguments=quiet)
    client.execute(env=fresh_learner())
    return normalize(notebook)


def normalize(notebook):
    """Drop what differs from machine to machine, in place."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            outputs = coalesce_streams(cell.outputs)  # a slow machine prints one line in two pieces
            cell.outputs = [output for output in map(_without_view, outputs) if output is not None]
    return notebook


def _without_view(output):
    if "data" not in output:
        return output
    output.data.pop(VIEW, None)
    output.metadata = nbformat.from_dict({})
    return output if output.data else None


def differences(notebook, other):
    """What differs between two notebooks, in words; pictures may differ a little, tagged outputs at will."""
    found = []
    if notebook.metadata != other.metadata:
        found.append("notebook metadata")
    if len(notebook.cells) != len(other.cells):
        return [*found, f"{len(notebook.cells)} cells and {len(other.cells)}"]
    for number, (cell, twin) in enumerate(zip(notebook.cells, other.cells)):
        varies = VARIES in cell.metadata.get("tags", [])
        for key in sorted({*cell, *twin} - ({"outputs"} if varies else set())):
            if key == "outputs":
                same = same_outputs(cell.outputs, twin.outputs)
            else:
                same = cell.get(key) == twin.get(key)
            if not same:
                found.append(f"cell {number}: {key}")
    return found


def same_outputs(outputs, others):
    """Are these outputs equal, pictures within tolerance?"""
    if [_words(o) for o in outputs] != [_words(o) for o in others]:
        return False
    return all(picture_distance(a, b) <= TOLERANCE for a, b in zip(pictures(outputs), pictures(others)))


def _words(output):
    """An output with its pictures taken out: the data URLs of HTML too."""
    output = nbformat.from_dict(output)
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = "a picture"
    if "data:image/png" in data.get("text/html", ""):
        data["text/html"] = data["text/html"].split("data:image/png")[0]
    return output


def pictures(outputs):
    """The PNGs of a cell's outputs, base64."""
    return [o["data"]["image/png"] for o in outputs if "image/png" in o.get("data", {})]


def picture_distance(one, other):
    """Root mean square difference of two base64 PNGs; infinite when their sizes differ."""
    one, other = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(p))).convert("RGB"), float) for p in (one, other)
    )
    return float(np.sqrt(((one - other) ** 2).mean())) if one.shape == other.shape else np.inf


def main(names):
    for path in paths():
        if not names or any(path.name.startswith(name) for name in names):
            notebook = execute(frame(nbformat.read(path, 4), path))
            nbformat.write(notebook, path)
            print(f"{path.name}: {len(notebook.cells)} cells, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
