"""A real JupyterLab over a copy of the course, and one notebook open in it."""

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

COURSE = Path(__file__).parents[2]
WINDOW = {"width": 1280, "height": 900}
THEMES = "JupyterLab Light", "JupyterLab Dark"
OUTPUT = ".jp-OutputArea-output"
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
QUIET = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
NO_BROWSER = "no Chromium, Chrome or Edge here: install one, or set COURSE_BROWSER to its program"
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    # Cells out of view would not be in the page.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}


def find_browser():
    """The program of a Chromium-like browser on this machine, or None; COURSE_BROWSER, if set, decides."""
    if "COURSE_BROWSER" in os.environ:
        return os.environ["COURSE_BROWSER"] or None
    found = (shutil.which(name) for name in NAMES)
    return next(filter(None, found), None) or next(filter(os.path.exists, PLACES), None)


def launch_options():
    """What Playwright needs to start that browser."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium's sandbox does not run as root
    return {"executable_path": find_browser(), "args": [*QUIET, *["--no-sandbox"] * root]}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def server(work, theme="JupyterLab Light", program="jupyterlab"):
    """JupyterLab (or another) with its own settings over a copy of the course below `work`; gives (url, token)."""
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache", "progress.json*"
    )
    shutil.copytree(COURSE, work / "course", ignore=ignored)
    themes = {"@jupyterlab/apputils-extension/themes": {"theme": theme, "adaptive-theme": False}}
    for name, value in {**SETTINGS, **themes}.items():
        file = work / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value), encoding="utf-8")
    places = {f"JUPYTER_{kind.upper()}_DIR": str(work / kind) for kind in ("config", "data", "runtime")}
    places["COURSE_PROGRESS"] = ""  # beside the copied notebooks
    places |= {f"JUPYTERLAB_{kind.upper()}_DIR": str(work / kind) for kind in ("settings", "workspaces")}
    (work / "config").mkdir()
    shutil.copy(COURSE / "binder" / "jupyter_server_config.py", work / "config")
    token, port = secrets.token_hex(16), free_port()
    options = {
        "ServerApp.port": port,
        "ServerApp.root_dir": work / "course",
        "IdentityProvider.token": token,
        "LabApp.expose_app_in_browser": True,
        "JupyterNotebookApp.expose_app_in_browser": True,
    }
    command = [sys.executable, "-m", program, "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--{name}={value}" for name, value in options.items()]
    log = work / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env={**os.environ, **places}, stdout=output, stderr=subprocess.STDOUT, cwd=work
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, log)
            yield f"http://127.0.0.1:{port}", token
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:  # a busy machine; its kernels have ended with it
                process.kill()


def set_theme(page, theme):
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    page.wait_for_function(
        "theme => document.body.dataset.jpThemeName === theme && document.fonts.status === 'loaded'",
        arg=theme,
    )


def axe(page):
    """What axe finds in the outputs."""
    if not page.locator(OUTPUT).count():
        return []
    found = Axe().run(page, context={"include": [[OUTPUT]]}).response["violations"]
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


# Whether a picture becomes another one; it does not when the kernel has had nothing to do for two seconds.
FOLLOWS = """(image, before) => new Promise(answer => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  let busy = performance.now();
  const look = () => {
    const now = performance.now();
    if (kernel.status !== 'idle') busy = now;
    if (image.src !== before || now - busy > 2000) answer(image.src !== before);
    else setTimeout(look, 30);
  };
  look();
})"""


def follows(image, before):
    """Does the picture of an explorer, whose address was `before`, change?"""
    return image.evaluate(FOLLOWS, before)


def wait_for(url, process, log, seconds=300):
    """Return when the server answers there; an error, with its log, when it has ended or says nothing."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("Jupyter did not start:\n" + log.read_text(encoding="utf-8")[-3000:])
        time.sleep(0.1)


@contextlib.contextmanager
def alone(page):
    """Within it, the page may ask this machine alone; whatever else it asked for is an error at the end."""
    asked = []

    def note(asking):
        asked.append(asking.url)

    for event in ("request", "websocket"):
        page.on(event, note)
    yield page
    for event in ("request", "websocket"):
        page.remove_listener(event, note)
    outside = [url for url in asked if urlsplit(url).scheme not in ("data", "blob")]
    assert {urlsplit(url).hostname for url in outside} <= {"127.0.0.1"}, outside


# The one notebook that is open in JupyterLab, when its kernel can be asked.
READY = """path => {
  const panel = window.jupyterapp?.shell.currentWidget;
  return panel?.context?.path === path && panel.context.isReady &&
    panel.sessionContext?.session?.kernel?.status === 'idle';
}"""
# JupyterLab keeps something of every notebook that was open: after some it is better loaded anew.
LIGHT = "() => performance.memory.usedJSHeapSize < 2e8"
# Closes what is open, unsaved, and its kernel; then opens another, if there is one.
OPEN = """async path => {
  const {shell, commands} = window.jupyterapp;
  for (const panel of [...shell.widgets('main')].filter(panel => panel.context)) {
    await panel.sessionContext?.shutdown();
    panel.dispose();
  }
  if (path) await commands.execute('docmanager:open', {path});
}"""


class Notebook:
    """One notebook of the course, alone in JupyterLab (in a workspace of its own), or below another address."""

    def __init__(self, page, lab, name, place=None):
        self.page, self.path = page, f"notebooks/{name}.ipynb"
        url, token = lab
        if place is None and page.url.startswith(f"{url}/") and page.evaluate(LIGHT):
            page.evaluate(OPEN, self.path)
        else:
            place = place or f"lab/workspaces/{secrets.token_hex(4)}/tree"
            page.goto(f"{url}/{place}/{self.path}?token={token}&reset")
        page.wait_for_function(READY, arg=self.path, timeout=90_000)

    def is_open(self):
        """Whether the page shows it still."""
        return self.page.evaluate(READY, self.path)

    def run(self, source=""):
        """Run all cells, or those with these words and all that show no explorer; returns the errors."""
        self.page.evaluate(
            """async source => {
              const notebook = window.jupyterapp.shell.currentWidget.content;
              const needed = notebook.widgets.filter(({model}) => model.type === 'code' &&
                (model.sharedModel.source.includes(source) || !/explorers\\.\\w+\\(/.test(model.sharedModel.source)));
              notebook.activeCellIndex = notebook.widgets.indexOf(needed[0]);
              needed.forEach(cell => notebook.select(cell));
              await window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            source,
        )
        self.wait_idle()
        return self.page.evaluate("""() => window.jupyterapp.shell.currentWidget.content.model.sharedModel
            .toJSON().cells.flatMap(cell => cell.outputs ?? []).filter(o => o.output_type === 'error')
            .map(o => `${o.ename}: ${o.evalue}`)""")

    def wait_idle(self):
        self.page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'",
            timeout=120_000,
        )

    def output(self, source):
        """The output area of the cell whose code contains these words."""
        cell = self.page.locator(".jp-CodeCell").filter(
            has=self.page.locator(".jp-InputArea", has_text=source)
        )
        return cell.first.locator(".jp-Cell-outputArea")

    def close(self):
        """Stop the kernel; changes are not saved."""
        self.page.evaluate(OPEN)


class Shown:
    """One explorer in the page: its sentence, its picture, its controls."""

    def __init__(self, notebook, source):
        self.page, self.area = notebook.page, notebook.output(source)
        self.sentence = self.area.get_by_role("status").filter(has_text=re.compile("."))
        self.image = self.area.locator("img[width]")
        expect(self.image).to_be_visible()

    def changes(self, action, sentence):
        """Do something; the sentence must say `sentence` afterwards and the picture must be another one."""
        before = self.image.get_attribute("src")
        action()
        expect(self.sentence.last).to_contain_text(sentence)
        expect(self.image).not_to_have_attribute("src", before)
        # The text alternative says the same as the sentence.
        said = re.sub("\u00a0(?=[%=])", " ", self.sentence.last.inner_text())  # no line begins with % or =
        expect(self.image).to_have_attribute("title", said)

    def slider(self, name):
        return self.area.get_by_role("slider", name=name)

    def drag(self, slider, share):
        """Drag a slider's handle to a share of its track, 0 to 1."""
        slider.scroll_into_view_if_needed()
        track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-target')]").bounding_box()
        handle = slider.bounding_box()
        y = handle["y"] + handle["height"] / 2
        self.page.mouse.move(handle["x"] + handle["width"] / 2, y)
        self.page.mouse.down()
        self.page.mouse.move(track["x"] + share * track["width"], y, steps=8)
        self.page.mouse.up()

    def tab_to(self, target, most=30):
        """Press Tab from the explorer's first control until the target has the focus."""
        self.area.locator("button, input, select, [role=slider]").locator("visible=true").first.focus()
        for _ in range(most):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} was not reached with the Tab key")


class Desk:
    """The page with one open notebook, for several explorers in a row."""

    def __init__(self, page, lab):
        self.page, self.lab = page, lab
        self.name = self.notebook = None

    def show(self, name, source):
        """The explorer of a cell as it is when the cell has just been run; fails when a cell has an error."""
        if name != self.name or not self.notebook.is_open():
            self.name, self.notebook = name, Notebook(self.page, self.lab, name)
        assert self.notebook.run(source) == []
        return Shown(self.notebook, source)
