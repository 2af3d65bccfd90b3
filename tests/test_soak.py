"""A long time with the course: everything open in one kernel, moved ten thousand times at random."""

import nbformat
import pytest

from . import notebooks
from .kernels import Kernel

MOVES, SEED, MOST_MB = 10_000, 0, 20


def cells():
    """The cells that show explorers, in order, with what they need: imports and blank exercises."""
    for path in notebooks.paths():
        for cell in nbformat.read(path, 4).cells:
            starts = cell.source.startswith(("import ", "from ", "def ")) and "print(" not in cell.source
            if cell.cell_type == "code" and (starts or "explorers." in cell.source):
                yield cell.source


@pytest.mark.slow
def test_ten_thousand_moves_raise_nothing_and_leave_nothing_behind():
    opened = list(cells())
    with Kernel("from tests import counting, soaking") as kernel:
        for source in opened:
            kernel.run(source)
        widgets_and_figures = kernel.value("counting.alive()")
        assert kernel.value("len(soaking.explorers())") > 50
        assert kernel.value(f"await soaking.soak({MOVES // 2}, {SEED})") == []
        warm = kernel.value("soaking.megabytes()")
        assert kernel.value(f"await soaking.soak({MOVES // 2}, {SEED + 1})") == []
        grown = kernel.value("soaking.megabytes()") - warm
        assert grown < MOST_MB, f"{grown:.1f} MB more than {warm:.0f} MB"
        for source in opened:
            kernel.run(source)
        assert kernel.value("counting.alive()") == widgets_and_figures
        kernel.run("for one in soaking.explorers(): one.close()")
        assert kernel.value("counting.alive()") == [0, 0]
