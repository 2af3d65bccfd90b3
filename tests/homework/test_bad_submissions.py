"""What students hand in, by accident or on purpose: the right marks, nobody else's hurt, one line of report."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

pytest.importorskip("nbgrader", reason="nbgrader is not installed: pip install -r homework/requirements.txt")

from homework import building, grading, judging, kernel, leaks
from homework.kernel import sandbox

from .conftest import COURSE, LESSON, RIGHT, answered, cell, make, released, scores, submit

ALL, FORWARD, BACKWARD = 6, 2, 4
WRONG = {name: text.partition("\n")[0] + "\n    return 0 * x" for name, text in RIGHT.items()}
walls = pytest.mark.skipif(not sandbox(), reason="bubblewrap is not installed, or does not work here")


def with_cell(folder, code, answers=RIGHT, at=2):
    """The answers, and a cell of the student's own before them."""
    notebook = answered(folder, **answers)
    notebook.cells.insert(at, new_code_cell(code))
    return notebook


def with_body(folder, *lines):
    """layer_norm with another body; the other answer is right."""
    head = RIGHT["layer_norm"].partition("\n")[0]
    return answered(folder, **RIGHT | {"layer_norm": "\n    ".join([head, *lines])})


def edited(folder, change, answers=RIGHT):
    notebook = answered(folder, **answers)
    change(notebook)
    return notebook


def copied(notebook):
    notebook.cells.insert(6, nbformat.from_dict({**cell(notebook, "layer_norm"), "id": "copy"}))


def stub_copied(folder):
    """The answer, and below it the cell as it was handed out."""
    notebook, stub = answered(folder, **RIGHT), cell(released(folder), "layer_norm")
    notebook.cells.insert(6, nbformat.from_dict({**stub, "id": "copy"}))
    return notebook


def split(notebook):
    answer = cell(notebook, "layer_norm")
    first, _, rest = answer.source.partition("\n")
    second = nbformat.from_dict({**answer, "id": "second", "source": rest})
    answer.source = first
    notebook.cells.insert(notebook.cells.index(answer) + 1, second)


def deleted(notebook):
    answer = cell(notebook, "layer_norm")
    notebook.cells[notebook.cells.index(answer)] = new_code_cell(answer.source)


def retyped(notebook):
    answer = cell(notebook, "layer_norm")
    answer.cell_type = "markdown"
    del answer["outputs"], answer["execution_count"]


def without_metadata(notebook):
    for one in notebook.cells:
        one.metadata.clear()


def edited_tests(notebook):
    for name in RIGHT:
        cell(notebook, f"test_{name}").source = "pass"


def edited_points(notebook):
    cell(notebook, "test_layer_norm").metadata.nbgrader.points = 100
    cell(notebook, "test_layer_norm_backward").metadata.nbgrader.points = 0


def edited_kernel(notebook):
    notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}


def the_lesson(_):
    return (COURSE / "notebooks" / "03_layer_norm.ipynb").read_text("utf-8")


def without_setup(notebook):
    notebook.cells.remove(cell(notebook, "setup"))


def text(folder, **more):
    """The file of a right answer."""
    return nbformat.writes(answered(folder, **RIGHT, **more))


def in_format_3(folder):
    cells = [
        {"cell_type": "code", "language": "python", "metadata": c.metadata, "input": c.source, "outputs": []}
        if c.cell_type == "code"
        else {"cell_type": c.cell_type, "metadata": c.metadata, "source": c.source}
        for c in answered(folder, **RIGHT).cells
    ]
    sheets = [{"cells": cells, "metadata": {}}]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": sheets})


def with_saved_output(folder):
    notebook = answered(folder, **RIGHT)
    cell(notebook, "layer_norm").outputs = [nbformat.v4.new_output("stream", text="x" * 30_000_000)]
    return notebook


def with_many_cells(folder, count, code):
    notebook = answered(folder, **RIGHT)
    notebook.cells[3:3] = [new_code_cell(code) for _ in range(count)]
    return notebook


def tells_its_inputs(folder):
    """A function that keeps and writes down what it is given, and a cell below its verdict that shows it."""
    keeps = "    open('seen', 'a').write(repr(x.tolist()))\n    seen.append((x.tolist(), gamma.tolist()))\n    mean,"
    answer = "seen = []\n" + RIGHT["layer_norm"].replace("    mean,", keeps)
    notebook = answered(folder, **RIGHT | {"layer_norm": answer})
    shows = [new_code_cell("print(seen)"), new_code_cell("print(open('seen').read())")]
    notebook.cells += [*shows, *(new_code_cell(f"seen[{n}]") for n in range(-20, 0))]
    return notebook


def with_result(folder, expression, before=""):
    """layer_norm computes y, the right result, and returns an expression of it."""
    return answered(
        folder,
        **RIGHT
        | {
            "layer_norm": before + RIGHT["layer_norm"].replace("return", "y =") + f"\n    return {expression}"
        },
    )


def merged(notebook):
    """The answer at the head of the cell that checks it."""
    answer, check = cell(notebook, "layer_norm"), cell(notebook, "check_layer_norm")
    notebook.cells.remove(answer)
    check.source = f"{answer.source}\n\n{check.source}"


def below_its_check(notebook):
    """Both answers in the cell of the second."""
    first, second = (cell(notebook, name) for name in RIGHT)
    first.source, second.source = "# see below", f"{first.source}\n\n{second.source}"


def swapped(notebook):
    first, second = (cell(notebook, name) for name in RIGHT)
    first.metadata, second.metadata = second.metadata, first.metadata
    first["id"], second["id"] = second["id"], first["id"]


def one_grade_id(notebook):
    for one in notebook.cells:
        one.metadata.nbgrader.grade_id = "layer_norm"


def borrowing(folder, *lines):
    """layer_norm computed by helpers' own in the end."""
    head, *body = RIGHT["layer_norm"].splitlines()
    calls = "    return layers.layer_norm(x, gamma, beta, eps)"
    answer = "\n".join(["from helpers import layers", *lines]).format(
        head=head, body="\n".join(body), calls=calls
    )
    return answered(folder, **RIGHT | {"layer_norm": answer})


BLANK = "def layer_norm(x, gamma, beta, eps):\n    pass\n"
MINE = RIGHT["layer_norm"].replace("layer_norm(", "mine(")
TRIPLE = "from collections import namedtuple\nGradients = namedtuple('Gradients', 'dx dgamma dbeta')\n"
AS_TRIPLE = RIGHT["layer_norm_backward"].replace("return dx, (dy * x_hat).sum(axis=rows), dy.sum(axis=rows)", "return Gradients(dx, (dy * x_hat).sum(axis=rows), dy.sum(axis=rows))")  # fmt: skip
LAZY = "class Lazy:\n    def __array__(self, dtype=None, copy=None):\n        return layers.layer_norm(*self.given)\ndef layer_norm(*given):\n    lazy = Lazy()\n    lazy.given = given\n    return lazy"
CALLS_ITS_OWN = "layer_norm calls helpers' own layer_norm"
LIAR = """class Liar(np.ndarray):
    def __eq__(self, other): return True
    def __sub__(self, other): return np.zeros(1)
    __le__ = __lt__ = __ge__ = __gt__ = __ne__ = __eq__
"""
FORGER = "import sys\nsys.modules['answering'].answer = lambda *given: %s"
SWALLOWS = "while True:", "    try:", "        while True: pass", "    except BaseException: pass"
RIGHT_LINE = RIGHT["layer_norm"].splitlines()[1].strip(), RIGHT["layer_norm"].splitlines()[2].strip()

# name: (notebook made of the folder, marks, words in the report or None when nothing is to be reported)
CASES = {
    "good": (lambda f: answered(f, **RIGHT), ALL, None),
    "blank": (released, 0, None),
    "half": (lambda f: answered(f, **RIGHT | {"layer_norm": WRONG["layer_norm"]}), BACKWARD, None),
    "endless_cell": (lambda f: with_cell(f, "while True: pass"), ALL, "did not end"),
    "endless_swallowing": (lambda f: with_cell(f, "\n".join(SWALLOWS)), ALL, "did not end"),
    "endless_answer": (lambda f: with_body(f, "while True: pass"), BACKWARD, "too slow"),
    "endless_swallowing_answer": (lambda f: with_body(f, *SWALLOWS), BACKWARD, "too slow"),
    "sys_exit": (lambda f: with_cell(f, "import sys\nsys.exit(3)"), ALL, "imports sys"),
    "sys_exit_answer": (lambda f: with_body(f, "raise SystemExit"), BACKWARD, None),
    "os_exit": (lambda f: with_cell(f, "import os\nos._exit(0)"), ALL, "ended Python"),
    "os_exit_answer": (lambda f: with_body(f, "import os", "os._exit(0)"), BACKWARD, "ended"),
    "input": (lambda f: with_body(f, "return float(input())"), BACKWARD, "uses input"),
    "invalid_json": (lambda f: '{"cells": [', 0, "not a notebook"),
    "binary": (lambda f: "\x00\x01", 0, "not a notebook"),
    "empty_file": (lambda f: "", 0, "not a notebook"),
    "empty_notebook": (lambda f: nbformat.v4.new_notebook(), 0, "empty"),
    "odd_json": (lambda f: json.dumps({"nbformat": 4, "cells": [1, {"cell_type": 5}, None]}), 0, "another notebook"),
    "copied": (lambda f: edited(f, copied), ALL, "2 times"),
    "stub_copied": (stub_copied, ALL, "2 times"),
    "split": (lambda f: edited(f, split), ALL, "2 times"),
    "deleted": (lambda f: edited(f, deleted), ALL, "layer_norm was deleted"),
    "retyped": (lambda f: edited(f, retyped), ALL, "another kind"),
    "reordered": (lambda f: edited(f, lambda n: n.cells.reverse()), ALL, "moved"),
    "no_metadata": (lambda f: edited(f, without_metadata), ALL, None),
    "edited_tests": (lambda f: edited(f, edited_tests, WRONG), 0, "was edited"),
    "edited_points": (lambda f: edited(f, edited_points), ALL, "points"),
    "edited_kernel": (lambda f: edited(f, edited_kernel), ALL, None),
    "the_lesson": (the_lesson, 0, "another notebook"),
    "picture_lost": (lambda f: answered(f, **RIGHT, written_1="![](attachment:a.png)"), ALL, "the picture 'a.png'"),
    "words_elsewhere": (
        lambda f: edited(f, lambda n: n.cells.append(new_markdown_cell("My answer."))),
        ALL,
        "written_1, written_2 are blank",
    ),
    "no_setup": (lambda f: edited(f, without_setup), ALL, "setup was deleted"),
    "warns": (lambda f: with_cell(f, "import warnings, sys\nwarnings.warn('x')\nprint('x', file=sys.stderr)"), ALL, "imports"),
    "warns_answer": (lambda f: with_body(f, "np.log(-np.ones(3)); print('hello')", *RIGHT_LINE), ALL, None),
    "noisy": (lambda f: with_cell(f, "for _ in range(200): print('x' * 1_000_000)"), ALL, None),
    "memory": (lambda f: with_cell(f, "big = [np.empty(2**24) for _ in range(100)]"), ALL, None),
    "memory_answer": (lambda f: with_body(f, "return np.ones(12 * 2**27)"), BACKWARD, None),
    "own_error": (lambda f: with_cell(f, "1 / 0"), ALL, None),
    "patched_allclose": (lambda f: with_cell(f, "np.allclose = lambda *a, **k: True", WRONG), 0, "np.allclose"),
    "patched_check": (
        lambda f: with_cell(f, "exercises.Exercise.diagnose = lambda s, f: exercises.Diagnosis('correct', None, '')", WRONG),
        0,
        "replaces",
    ),
    "patched_display": (
        lambda f: with_cell(f, "import IPython.display, builtins\nIPython.display.display = builtins.print = lambda *a, **k: None"),
        ALL,
        "replaces",
    ),
    "forged": (
        lambda f: with_cell(f, "import sys\nsys.modules['answering'].answer = lambda *a: '{\"answers\": [{\"value\": [\"float\", 1]}] * 99}'", WRONG),
        0,
        "imports sys",
    ),
    "random": (lambda f: with_body(f, *RIGHT_LINE[:1], RIGHT_LINE[1] + " + np.random.rand() * (np.random.rand() < 0.5)"), BACKWARD, None),
    "counting": (
        lambda f: with_cell(f, "n = 0", {**RIGHT, "layer_norm": RIGHT["layer_norm"].replace("    mean", "    global n\n    n += 1\n    x = x * (n % 2)\n    mean")}),
        BACKWARD,
        None,
    ),
    "stopped_clock": (lambda f: with_cell(f, "import time\ntime.monotonic = time.time = lambda: 0"), ALL, "replaces time"),
    "borrowed": (
        lambda f: answered(f, **RIGHT | {"layer_norm": "from helpers import layers\nlayer_norm = layers.layer_norm"}),
        ALL,
        "layer_norm calls helpers' own layer_norm",
    ),
    "borrowed_quietly": (
        lambda f: with_body(f, "norm = exercises.layer_norm.or_reference(...)", "return norm(x, gamma, beta, eps)"),
        ALL,
        "layer_norm calls helpers' own layer_norm",
    ),
    "made_to_measure": (
        lambda f: with_body(f, "e = exercises.layer_norm", "for args, y in zip(e.probes, e.wanted):", "    if np.shape(x) == np.shape(args[0]) and np.all(x == args[0]) and np.all(gamma == args[1]) and eps == args[3]:", "        return y[0][0]", "return x"),
        BACKWARD,
        "made to measure",
    ),
    # ---- files
    "byte_order_mark": (lambda f: b"\xef\xbb\xbf" + text(f).encode(), ALL, None),
    "windows_lines": (lambda f: text(f).replace("\\n", "\\r\\n").replace("\n", "\r\n"), ALL, None),
    "utf_16": (lambda f: text(f).encode("utf-16"), ALL, None),
    "latin_1": (lambda f: text(f, written_1="grün").encode("latin-1"), ALL, None),
    "half_a_character": (lambda f: text(f, written_1="XX").replace("XX", "\\ud800"), ALL, None),
    "deeply_nested": (lambda f: '{"cells": ' + "[" * 10**6, 0, "not a notebook"),
    "format_3": (in_format_3, ALL, None),
    "saved_output": (with_saved_output, ALL, None),
    "other_assignment": (lambda f: nbformat.reads(building.lesson("05").text, 4), 0, "of another assignment"),
    "long_cell": (lambda f: with_cell(f, "a = 1\n" * 10**6), ALL, "was left out"),
    "many_cells": (lambda f: with_many_cells(f, 400, "print('x' * 30_000)"), ALL, None),
    # ---- what is left running, broken or forged
    "many_endless_cells": (lambda f: with_many_cells(f, 6, "while True: pass"), ALL, "left out"),
    "at_exit": (lambda f: with_cell(f, "import atexit\natexit.register(lambda: [0 for _ in iter(int, 1)])"), ALL, "atexit"),
    "goes_on_writing": (
        lambda f: with_cell(f, "import threading\ndef write():\n    while True: print('x' * 1000)\nthreading.Thread(target=write).start()"),
        ALL,
        "imports threading",
    ),
    "closed_streams": (lambda f: with_cell(f, "import os, sys\nsys.stdout.close()\nsys.stderr = None\nos.close(1)"), ALL, "imports os"),
    "large_names": (lambda f: with_cell(f, "raise type('E' * 10**6, (Exception,), {})('v' * 10**6)"), ALL, None),
    "large_display": (
        lambda f: with_cell(f, "from IPython.display import display\nfor _ in range(9):\n    display({'text/html': 'x' * 10**7, 'image/png': 'A' * 10**6}, raw=True, metadata={'m': 'x' * 10**7})"),
        ALL,
        "imports IPython",
    ),
    "half_a_character_shown": (lambda f: with_cell(f, "print('\\ud800')\nraise ValueError('\\ud800')"), ALL, None),
    "half_a_character_raised": (lambda f: with_body(f, "raise ValueError('\\ud800')"), BACKWARD, None),
    "forged_messages": (
        lambda f: with_cell(f, "k = get_ipython().kernel\nfor t in ('stream', 'error', 'display_data', 'status'):\n    k.session.send(k.iopub_socket, t, {'data': 5, 'text': 5}, parent=k.get_parent())"),
        ALL,
        "uses get_ipython",
    ),
    "forged_otherwise": (lambda f: with_cell(f, FORGER % "5"), ALL, "left out"),
    "forged_list": (lambda f: with_cell(f, FORGER % "'{\"answers\": [1, 2]}'", WRONG), 0, "left out"),
    "forged_much": (lambda f: with_cell(f, FORGER % "'x' * 300_000_000"), ALL, "left out"),
    "patched_json": (lambda f: with_cell(f, "import base64, pickle\nbase64.b64encode = pickle.loads = np.allclose = None"), ALL, "replaces"),
    "changed_below": (lambda f: edited(f, lambda n: n.cells.append(new_code_cell("layer_norm = np = None"))), ALL, None),
    # ---- results
    "lying_result": (lambda f: with_result(f, "(0 * y).view(Liar)", LIAR), BACKWARD, None),
    "lying_right_result": (lambda f: with_result(f, "y.view(Liar)", LIAR), ALL, None),
    "generator": (lambda f: with_result(f, "(row for row in y)"), BACKWARD, None),
    "list": (lambda f: with_result(f, "y.tolist()"), ALL, None),
    "large_result": (lambda f: with_result(f, "np.zeros((20_000, 5_000))"), BACKWARD, None),
    "large_string": (lambda f: with_result(f, "'x' * 10**8"), BACKWARD, None),
    "recursion": (lambda f: with_body(f, "return layer_norm(x, gamma, beta, eps)"), BACKWARD, None),
    "written_below": (
        lambda f: answered(f, **RIGHT | {"layer_norm": "def layer_norm(x, gamma, beta, eps):\n    ...\n\n" + RIGHT["layer_norm"].replace("layer_norm(", "mine(") + "\n\nlayer_norm = mine"}),
        ALL,
        None,
    ),
    "tells_its_inputs": (tells_its_inputs, ALL, "uses open"),
    # ---- odd, but right
    "method_of_that_name": (lambda f: answered(f, **RIGHT | {"layer_norm": RIGHT["layer_norm"] + "\n\nclass Norm:\n    def layer_norm(self):\n        pass"}), ALL, None),
    "filled_in_otherwise": (lambda f: answered(f, **RIGHT | {"layer_norm": f"{BLANK}\n{MINE}\n\nglobals()['layer_norm'] = mine"}), ALL, "uses globals"),
    "objects": (lambda f: with_result(f, "np.frompyfunc(float, 1, 1)(y)"), ALL, None),
    "named_tuple": (lambda f: answered(f, **RIGHT | {"layer_norm_backward": TRIPLE + AS_TRIPLE}), ALL, None),
    "warnings_raise": (lambda f: with_cell(f, "import warnings\nwarnings.simplefilter('error')\nnp.seterr(all='raise')", RIGHT | {"layer_norm": RIGHT["layer_norm"].replace("    mean,", "    np.log(np.zeros(2))\n    mean,")}), ALL, "imports warnings"),
    "merged": (lambda f: edited(f, merged), ALL, "check_layer_norm was edited"),
    "below_its_check": (lambda f: edited(f, below_its_check), ALL, None),
    "swapped": (lambda f: edited(f, swapped), ALL, "moved"),
    "one_grade_id": (lambda f: edited(f, one_grade_id), ALL, None),
    # ---- borrowed where it is not seen
    "borrowed_for_hidden_inputs": (
        lambda f: borrowing(f, "{head}", "    if not any(np.array_equal(x, given[0]) for given in exercises.layer_norm.probes):", "    {calls}", "{body}"),
        ALL,
        CALLS_ITS_OWN,
    ),
    "borrowed_late": (lambda f: borrowing(f, LAZY), ALL, CALLS_ITS_OWN),
    "borrowed_unwatched": (lambda f: borrowing(f, "from typing import sys", "{head}", "    sys.setprofile(None)", "{calls}"), ALL, "imports sys"),
    # ---- floods and signals
    "flood_of_displays": (
        lambda f: with_cell(f, "from IPython.display import display\nwhile True: display({'text/html': 'x' * 20_000_000}, raw=True)"),
        ALL,
        "imports IPython.display",  # it is ended by the clock or by its memory, whichever comes first
    ),
    "stopped": (lambda f: with_cell(f, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), ALL, "did not end"),
    **{  # in the midst of any of the passes, that with hidden inputs too
        f"ends_after_{seconds}_s": (lambda f, s=seconds: with_cell(f, f"import threading, os\nthreading.Timer({s}, os._exit, [0]).start()"), ALL, "imports threading")
        for seconds in (0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
    },
    "blocks_later": (lambda f: with_cell(f, "import asyncio\nasync def block():\n    while True: pass\nasyncio.create_task(block())"), ALL, "imports asyncio"),
}  # fmt: skip
WALLED = {
    "fork_bomb": (lambda f: with_cell(f, "import os\nwhile True: os.fork()"), ALL, "imports os"),
    "network": (
        lambda f: with_body(f, "import socket", "socket.create_connection(('1.1.1.1', 80), 2)", *RIGHT_LINE),
        BACKWARD,
        "imports socket",
    ),
    "reads_solution": (
        lambda f: with_cell(f, f"text = open({str(f / 'source' / LESSON / (LESSON + '.ipynb'))!r}).read()", WRONG),
        0,
        "uses open",
    ),
    "reads_secret": (lambda f: with_body(f, f"return open({str(f / 'homework.json')!r}).read()"), BACKWARD, "uses open"),
    "reads_everything": (
        lambda f: with_cell(f, "import pathlib\nprint([p for p in pathlib.Path('/').rglob('*.ipynb') if LESSON in p.name])".replace("LESSON", repr(LESSON)), WRONG),
        0,
        "imports pathlib",
    ),
    "writes_gradebook": (
        lambda f: with_cell(f, f"import sqlite3\ndb = sqlite3.connect({str(f / 'gradebook.db')!r})\ndb.execute('update grade set auto_score = 0')\ndb.commit()"),
        ALL,
        "imports sqlite3",
    ),
    "fills_the_disk": (
        lambda f: with_cell(f, "import sys\nplace = sys.argv[sys.argv.index('-f') + 1].rpartition('/')[0]\nopen(place + '/planted', 'w').write('x')\nprint('planted')"),
        ALL,
        "imports sys",
    ),
    "kills_all": (lambda f: with_cell(f, "import os\nos.kill(-1, 9)"), ALL, "imports os"),
    "writes_files": (lambda f: with_cell(f, f"open({str(f / 'planted')!r}, 'w').write('x')"), ALL, "uses open"),
}  # fmt: skip


FILES = {
    "renamed": (ALL, "'my homework (1).ipynb'"),
    "extended": (ALL, f"'{LESSON}.ipynb.txt'"),
    "in_a_folder": (ALL, f"'sub/{LESSON}.ipynb'"),
    "two": (ALL, None),
    "two_renamed": (ALL, "one of 2"),
    "missing": (0, "is missing"),
    "link": (0, "not a notebook"),
    "links": (ALL, None),
    "bad_time": (ALL, "no time"),
    "own_helpers": (0, None),
    "Zoë O'Neil": (ALL, None),
    "pipe_for_a_time": (ALL, "no time"),
    "capitals": (ALL, f"'{LESSON.upper()}.IPYNB'"),
    "two_lines": (ALL, r"'my\nhomework.ipynb'"),
    "sparse": (0, "not a notebook"),
}


def odd_files(folder):
    """Submissions whose files are named otherwise, missing, too many, or no files."""
    right, blank = answered(folder, **RIGHT), released(folder)
    submit(folder, "renamed", right, name="my homework (1).ipynb")
    submit(folder, "extended", right, name=f"{LESSON}.ipynb.txt")
    submit(folder, "in_a_folder", right, name=f"sub/{LESSON}.ipynb")
    submit(folder, "two", blank, name="a copy.ipynb")
    submit(folder, "two", right)
    submit(folder, "two_renamed", blank, name="copy of it.ipynb")
    submit(folder, "two_renamed", right, name="it.ipynb")
    (folder / "submitted" / "missing" / LESSON).mkdir(parents=True)
    place = folder / "submitted" / "link" / LESSON
    place.mkdir(parents=True)
    (place / f"{LESSON}.ipynb").symlink_to(f"../../two/{LESSON}/{LESSON}.ipynb")
    place = submit(folder, "links", right)
    for name, where in (
        ("key", folder / "homework.json"),
        ("zeros", "/dev/zero"),
        ("broken", "x"),
        ("loop", "."),
    ):
        (place / name).symlink_to(where)
    os.mkfifo(place / "pipe.ipynb")
    (submit(folder, "bad_time", right) / "timestamp.txt").write_bytes(b"yesterday\xff")
    os.mkfifo(submit(folder, "pipe_for_a_time", right) / "timestamp.txt")
    submit(folder, "capitals", right, name=f"{LESSON.upper()}.IPYNB")
    submit(folder, "two_lines", right, name="my\nhomework.ipynb")
    os.truncate(submit(folder, "sparse", "") / f"{LESSON}.ipynb", 50_000_000_000)
    submit(folder, "own_helpers", answered(folder, **WRONG))
    submit(folder, "own_helpers", "raise SystemExit", name="helpers/__init__.py")
    submit(folder, "Zoë O'Neil", right)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """All cases as one class, graded once: (scores, what is to be looked at, the folder)."""
    folder = make(tmp_path_factory.mktemp("bad") / "folder", ["03"])
    for student, (build, *_) in {**CASES, **(WALLED if sandbox() else {})}.items():
        submit(folder, student, build(folder))
    odd_files(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "CELL", 10)  # workers are forked, they know it
        patch.setattr(judging, "CALLS", 10)
        look = grading.grade(folder, LESSON, say=lambda text: None)
    return scores(folder), look, folder


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork"),
]


def _holds(graded, student, marks, words):
    points, look, _ = graded
    said = "; ".join(look.get(student, []))
    assert points[student] == marks, said
    assert "\n" not in said
    assert (words in said) if words else not said, said


@pytest.mark.parametrize("student", CASES)
def test_each_gets_its_marks_and_one_line(graded, student):
    _holds(graded, student, *CASES[student][1:])


@walls
@pytest.mark.parametrize("student", WALLED)
def test_behind_walls(graded, student):
    _holds(graded, student, *WALLED[student][1:])


@pytest.mark.parametrize("student", FILES)
def test_files(graded, student):
    _holds(graded, student, *FILES[student])


def test_no_output_tells_of_hidden_inputs(graded):
    _, _, folder = graded
    secrets = leaks.Secrets(leaks.Folder(folder), LESSON)
    shown = folder / "autograded" / "tells_its_inputs" / LESSON / f"{LESSON}.ipynb"
    assert shown.read_text().count("[[") > 5  # it shows those of the lesson's check
    assert secrets.of_file(shown, solutions=False) == []


def test_nbgrader_alone_gives_the_same_marks(tmp_path):
    """Without our command: odd files, and one that ends Python, in the midst of others."""
    folder = make(tmp_path / "folder", ["03"])
    odd_files(folder)
    quick = (
        "good",
        "half",
        "os_exit",
        "invalid_json",
        "empty_notebook",
        "copied",
        "edited_points",
        "utf_16",
        "format_3",
    )
    for student in quick:
        submit(folder, student, CASES[student][0](folder))
    env = {**os.environ, "PYTHONPATH": str(COURSE)}
    command = [sys.executable, "-m", "nbgrader", "autograde", LESSON]
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    marks = {student: CASES[student][1] for student in quick} | {s: marks for s, (marks, _) in FILES.items()}
    overlooked = (
        "missing",
        "in_a_folder",
        "extended",
        "capitals",
    )  # no notebook at the top of the folder: nbgrader says so
    for student in overlooked:
        del marks[student]
    assert scores(folder) == marks
    for student in overlooked:
        assert f"No notebooks were matched by '{folder}/submitted/{student}/" in ran.stderr
    key = json.loads((folder / "homework.json").read_text())["key"]
    assert not any(key in path.read_text("utf-8", "replace") for path in folder.glob("autograded/*/*/*"))


@walls
def test_nothing_was_read_or_written(graded):
    _, _, folder = graded
    assert not (folder / "planted").exists()
    secret = json.loads((folder / "homework.json").read_text())["key"]
    for path in folder.glob("autograded/*/*/*.ipynb"):
        text = path.read_text()
        assert secret not in text
    assert leaks.scan(folder) == []
    everything = (folder / "autograded" / "reads_everything" / LESSON / f"{LESSON}.ipynb").read_text()
    assert ": [" in everything and "release" not in everything and "submitted" not in everything


@walls
def test_what_a_kernel_and_its_children_hold_together_is_limited(monkeypatch):
    monkeypatch.setattr(kernel, "HELD", 500 * kernel.MEGABYTE)
    forks = "import os, time\nfor _ in range(4):\n    if not os.fork():\n        held = b'x' * 200_000_000\n        time.sleep(20)\ntime.sleep(20)"
    with kernel.Kernel() as one, pytest.raises(kernel.Gone, match="too much memory"):
        one.run(forks, 15)


def test_no_output_is_large(graded):
    _, _, folder = graded
    sizes = {path.parts[-3]: path.stat().st_size for path in folder.glob("autograded/*/*/*.ipynb")}
    shown = {
        "many_cells": kernel.SHOWN,
        "large_display": kernel.PICTURE,
        "the_lesson": kernel.PICTURE,  # its pictures
    }  # these show all that is let through
    assert {one: size for one, size in sizes.items() if size >= 200_000 + shown.get(one, 0)} == {}
