"""In a real JupyterLab: from a key press to the painted frame, and how a drag ends; ours and interact."""

import random
import tempfile
import time
from pathlib import Path
from statistics import median

import nbformat
from playwright.sync_api import sync_playwright

from .. import notebooks
from ..browser import lab

FIRST = "import pathlib, sys\nsys.path += map(str, pathlib.Path.cwd().parents)\n"
CELLS = {
    "ours": FIRST + "from helpers import explorers\nexplorers.gradient_bars()",
    "interact": FIRST
    + "%matplotlib inline\nfrom tests.benchmarks import baselines\nbaselines.gradient_bars()",
}

FRAME = 1 / 60  # seconds

# After each painted frame: which picture is shown? Its address changes with its content. A task that is
# posted from an animation frame runs when that frame has been painted.
WATCH = """() => {
  const watch = window.watch = {seen: [], keys: [], ups: []};
  const picture = () => [...document.querySelectorAll('.jp-OutputArea-output img')].find(i => i.naturalWidth > 300);
  const channel = new MessageChannel();
  let last = null;
  channel.port1.onmessage = () => {
    const image = picture();
    if (image?.complete && image.src !== last) { last = image.src; watch.seen.push(performance.now()); }
  };
  const tick = () => { channel.port2.postMessage(0); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  window.addEventListener('keydown', e => watch.keys.push(e.timeStamp), true);
  window.addEventListener('pointerup', e => watch.ups.push(e.timeStamp), true);
}"""


def open_cell(browser, address, root, name):
    """A page with a notebook of that one cell, run, its first slider in view."""
    cells = [nbformat.v4.new_code_cell(CELLS[name])]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": notebooks.KERNEL})
    nbformat.write(notebook, root / "notebooks" / f"bench_{name}.ipynb")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    notebook = lab.Notebook(page, address, f"bench_{name}")
    errors = notebook.run()
    assert not errors, errors
    page.locator(".noUi-handle").first.wait_for()
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    page.wait_for_timeout(500)
    return page


def key_to_frame(page, presses):
    """Milliseconds from a key press to the frame that shows its picture, once a press.

    As a person's, a key comes at any moment between two frames and is held for a while; nobody asks the page for
    anything meanwhile, which would take time from what is measured.
    """
    handle = page.locator(".noUi-handle").first
    handle.focus()
    taken = []
    for _ in range(presses):
        page.evaluate("() => { watch.seen = []; watch.keys = []; }")
        key = "ArrowRight" if int(float(handle.get_attribute("aria-valuenow"))) < 60 else "Home"
        page.wait_for_timeout(150)
        time.sleep(random.uniform(0, FRAME))
        page.keyboard.press(key, delay=100)
        page.wait_for_function("() => watch.seen.length > 0", timeout=20_000)
        taken.append(page.evaluate("() => watch.seen[0] - watch.keys[0]"))
    return taken


def drag(page, seconds=2.0):
    """Drag the first slider for so long: (frames painted meanwhile, frames after the release)."""
    handle = page.locator(".noUi-handle").first
    handle.focus()
    page.keyboard.press("Home")
    page.wait_for_timeout(1500)
    track, box = page.locator(".noUi-target").first.bounding_box(), handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate("() => { watch.seen = []; watch.ups = []; }")
    page.mouse.move(x, y)
    page.mouse.down()
    start = time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        page.mouse.move(x + (track["width"] - 20) * passed / seconds, y)
        time.sleep(0.008)
    page.mouse.up()
    page.wait_for_timeout(3000)
    seen, up = page.evaluate("() => [watch.seen, watch.ups.at(-1)]")
    return sum(t <= up for t in seen), sum(t > up for t in seen)


def ends_right(page):
    """Does the picture's sentence name the slider's value?"""
    value = int(float(page.locator(".noUi-handle").first.get_attribute("aria-valuenow")))
    sentence = page.locator(".jp-OutputArea-output img[title]").first.get_attribute("title")
    return f" {value} tanh layer" in sentence


def measure(rounds=8, presses=10):
    """The ratio of the medians, key press to painted frame, by turns; and how a drag ends."""
    with (
        tempfile.TemporaryDirectory() as folder,
        lab.server(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(**lab.launch_options())
        pages = {name: open_cell(browser, address, Path(folder) / "course", name) for name in CELLS}
        taken = {name: [] for name in CELLS}
        for _ in range(rounds):
            for name, page in pages.items():
                page.bring_to_front()
                taken[name] += key_to_frame(page, presses)
        pages["ours"].bring_to_front()
        during, after = drag(pages["ours"])
        right = ends_right(pages["ours"])
        browser.close()
    ours, theirs = median(taken["ours"]), median(taken["interact"])
    return {
        "key to frame, ratio": ours / theirs,
        "key to frame, ms": ours,
        "interact, ms": theirs,
        "drag: frames a second": during / 2,
        "drag: frames after release": after,
        "drag: ends at the right picture": right,
    }
