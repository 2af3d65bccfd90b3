"""Measure what a change of a control costs, and say whether it keeps the course's promises.

    python -m tests.benchmarks                      kernel and browser, about ten minutes
    python -m tests.benchmarks --no-browser --turns 40 --json costs.json
    python -m tests.benchmarks --only drift what_is_left       these explorers alone
    python -m tests.benchmarks --readme             writes the table of the README, too

Costs are ratios to the usual cell (interact, plt.subplots, plt.show) for the same picture and data, taken
by turns, so that a slow spell of the machine hits both. Run nothing else meanwhile.
"""

import argparse
import importlib.util
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import nbformat

from helpers import explorers

from .. import notebooks
from ..kernels import Kernel
from . import readme
from .turns import measure

SETUP = "%matplotlib inline", "from tests import counting", "from tests.benchmarks import everyone, kernel"
EXPLORERS = ("gradient_bars", "drift", "layer_norm_steps")
PROMISES = {  # what must hold, by the name of the row
    "drawing and encoding": 0.06,
    "experiment included": 0.10,
    "axes redrawn": 0.35,
    "change, ratio": 0.10,
    "redraw, ratio": 0.35,
    "frame, ratio": 0.10,
    "512 layers over 64": 1.5,
    "2,000 changes, MB": 10,
    "50 runs of a cell, widgets": 0,
    "50 runs of a cell, figures": 0,
    "key to frame, ratio": 0.15,
    "drag: frames after release": 3,
    "one learner, a notebook at a time, MB": 450,
    "all notebooks on two cores, s": 240,
}


def rerun_growth(kernel, runs=50):
    """Widgets and figures that are there after so many runs of one cell, beyond those of one run."""
    cell = "from helpers import explorers\nexplorers.gradient_bars()"
    kernel.run(cell)
    before = kernel.value("counting.alive()")
    for _ in range(runs):
        kernel.run(cell)
    after = kernel.value("counting.alive()")
    return [a - b for a, b in zip(after, before)]


def kernel_rows(turns):
    """(name, value) rows of what is measured in kernels."""
    for name in EXPLORERS:
        with Kernel(*SETUP) as kernel:
            drawing = kernel.value(f"kernel.without_experiment({name!r}, {turns})")
            whole = kernel.value(f"kernel.ratios({name!r}, {turns}, seed=1)")
        yield f"{name}: drawing and encoding", drawing["blitted"]
        yield f"{name}: experiment included", whole["blitted"]
        yield f"{name}: axes redrawn", whole["axes redrawn"]
        yield f"{name}: ms", whole["ms"]
        yield f"{name}: interact, ms", whole["interact, ms"]
    with Kernel(*SETUP) as kernel:
        *_, shallow, _, _, deep = costs = kernel.value(f"kernel.depth_costs({turns})")
        yield "8 to 512 layers, each twice the last, CPU ms", " ".join(f"{cost:.1f}" for cost in costs)
        yield "512 layers over 64", deep / shallow
        yield "2,000 changes, MB", kernel.value("kernel.memory(2000)")
    with Kernel(*SETUP) as kernel:
        widgets, figures = rerun_growth(kernel)
        yield "50 runs of a cell, widgets", widgets
        yield "50 runs of a cell, figures", figures
    with Kernel(*SETUP) as kernel:
        ratio, each = kernel.value(f"everyone.many_open({turns})")
        yield "a change with 40 explorers open over one", ratio
        yield "an open explorer, MB", each


def explorer_rows(names, turns):
    """(name, value) rows of what each of these explorers costs."""
    with Kernel(*SETUP) as ours, Kernel(*SETUP) as usual:
        for name in names:
            for what, value in measure(name, ours, usual, turns).items():
                if value is not None:
                    yield f"{name}: {what}", value


def ipympl_ratio(turns):
    """What ipympl's change of the gradient bars costs over the usual cell's, by turns, a kernel each; None without it."""
    if importlib.util.find_spec("ipympl") is None:
        return None
    change, ratios = "everyone.layers_cost(cell, {})", []
    with Kernel(*SETUP) as usual, Kernel("%matplotlib widget", *SETUP[1:]) as other:
        usual.run("cell = everyone.Usual('gradient_bars')")
        other.run("cell = everyone.Ipympl('gradient_bars')")
        for turn in range(turns):
            layers = 20 + turn % 12
            ratios.append(other.value(change.format(layers)) / usual.value(change.format(layers)))
    return median(ratios)


def seconds_of_all_notebooks(cores=2):
    """How long all notebooks take from top to bottom, so many at a time, the longest first."""
    paths = sorted(notebooks.paths(), key=lambda path: path.stat().st_size, reverse=True)
    start = time.perf_counter()
    with ProcessPoolExecutor(cores) as pool:
        list(pool.map(_run, paths))
    return time.perf_counter() - start


def _run(path):
    notebooks.execute(nbformat.read(path, 4))


def verdict(name, value):
    """ "at most 0.06: kept" for a promise, nothing for a row that is only told."""
    promise = PROMISES.get(name.split(": ", 1)[-1], PROMISES.get(name))
    if promise is None or value is None:
        return ""
    return f"at most {promise}: {'kept' if value <= promise else 'BROKEN'}"


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=60, help="changes measured for each row")
    parser.add_argument("--no-browser", action="store_true", help="only what is measured in kernels")
    parser.add_argument("--only", nargs="+", metavar="EXPLORER", help="measure these explorers alone")
    parser.add_argument("--readme", action="store_true", help="write the table of the README")
    parser.add_argument("--json", type=Path, help="write the rows to this file too")
    arguments = parser.parse_args()
    rows = {}

    def tell(name, value):
        rows[name] = value
        shown = f"{value:.3f}" if isinstance(value, float) else str(value)
        print(f"{name:50} {shown:>9}   {verdict(name, value)}", flush=True)

    if arguments.only is None:
        for name, value in kernel_rows(arguments.turns):
            tell(name, value)
        tell("all notebooks on two cores, s", seconds_of_all_notebooks())
        tell("ipympl, ratio", ipympl_ratio(arguments.turns))
    for name, value in explorer_rows(arguments.only or explorers.ALL, arguments.turns // 3):
        tell(name, value)
    if not arguments.no_browser and arguments.only is None:
        from . import browser, memory

        for name, value in {**browser.measure(), **memory.measure()}.items():
            tell(name, value)
    broken = [name for name, value in rows.items() if "BROKEN" in verdict(name, value)]
    print(f"{len(broken)} of the promises are broken:", *broken, sep="\n  ")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if arguments.readme:
        readme.write(rows, PROMISES)
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
