"""nbval compares words; this plugin adds the pictures, and fails a cell that was stored without a run.

Each notebook is run for a learner who has done nothing yet.
"""

import os

import nbval.plugin
import pytest

from . import notebooks

_compare_outputs = nbval.plugin.IPyNbCell.compare_outputs
_collect, _setup = nbval.plugin.IPyNbFile.collect, nbval.plugin.IPyNbFile.setup


def compare_outputs(self, test, ref, skip_compare=None):
    """nbval's own comparison, then the pictures, in order, within tolerance."""
    if not _compare_outputs(self, test, ref, skip_compare):
        return False
    new, stored = notebooks.pictures(test), notebooks.pictures(ref)
    if len(new) != len(stored):
        self.comparison_traceback.append(f"{len(stored)} pictures are stored, the cell gives {len(new)}")
        return False
    for number, pair in enumerate(zip(new, stored)):
        distance = notebooks.picture_distance(*pair)
        if distance > notebooks.TOLERANCE:
            self.comparison_traceback.append(
                f"picture {number} differs from the stored one by {distance:.1f} (at most {notebooks.TOLERANCE})"
            )
            return False
    return True


def collect(self):
    """The cells as nbval collects them; those that were stored without a run are marked."""
    for item in _collect(self):
        if item.cell.source.strip() and item.cell.execution_count is None:
            item.add_marker(pytest.mark.stored_unrun)
        yield item


def setup(self):
    """Start the kernel, which gets its environment from here."""
    os.environ.update(notebooks.fresh_learner())
    _setup(self)


nbval.plugin.IPyNbCell.compare_outputs = compare_outputs
nbval.plugin.IPyNbFile.collect, nbval.plugin.IPyNbFile.setup = collect, setup


def pytest_configure(config):
    os.environ.update(notebooks.fresh_learner())  # for the processes that tests start
    config.addinivalue_line("markers", "stored_unrun: a notebook cell that was stored without a run")


def pytest_runtest_setup(item):
    if item.get_closest_marker("stored_unrun"):
        pytest.fail("stored without a run: python -m tests.notebooks, then commit", pytrace=False)
