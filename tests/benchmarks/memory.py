"""What one learner takes in memory: JupyterLab's server and the kernels of the notebooks that are open."""

import tempfile
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

from .. import notebooks
from ..browser import lab


def megabytes(process):
    """What a process takes; memory that it shares with others counts as its share, where the system tells it."""
    memory = process.memory_full_info()
    return getattr(memory, "pss", memory.rss) / 1e6


def measure():
    """MB with one notebook open at a time, at its largest, and with all of them left open; each run to its end."""
    largest, kernels = 0.0, 0.0
    with (
        tempfile.TemporaryDirectory() as folder,
        lab.server(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(**lab.launch_options())
        (server,) = (p for p in psutil.Process().children() if "jupyterlab" in p.cmdline())
        for path in notebooks.paths():
            page = browser.new_page()
            notebook = lab.Notebook(page, address, path.stem)
            errors = notebook.run()
            assert not errors, errors
            kernel = sum(map(megabytes, server.children(recursive=True)))
            largest, kernels = max(largest, megabytes(server) + kernel), kernels + kernel
            notebook.close()
            page.close()
        left_open = megabytes(server) + kernels
        browser.close()
    return {"one learner, a notebook at a time, MB": largest, "one learner, all left open, MB": left_open}
