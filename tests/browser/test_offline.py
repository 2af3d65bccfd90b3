"""Every notebook opens, shows pictures before it is run, runs, and moves: with the network, and with it cut.

Whether the page asks for anything off this machine is watched in every test here (see `alone` in lab.py).
"""

import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from .. import notebooks, outside
from . import lab as jupyterlab

NAMES = [path.stem for path in notebooks.paths() if path.stem not in (notebooks.START, notebooks.GLOSSARY)]
CUT = "COURSE_NETWORK_IS_CUT"
# In a namespace of its own a process has the loopback alone, and even that is down at first.
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
up = struct.pack("16sh", b"lo", 1)  # IFF_UP
fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, up)  # SIOCSIFFLAGS
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def ways_to_move(area):
    """What a learner can do to an explorer, one thing after the other: sliders, menus, buttons, Start."""
    for slider in area.locator("[role=slider]:visible").all():
        yield lambda slider=slider: slider.press("End")
        yield lambda slider=slider: slider.press("Home")
    for menu in area.locator("select:visible").all():
        for index in range(menu.locator("option").count()):
            yield lambda menu=menu, index=index: menu.select_option(index=index)
    for button in area.locator("button.widget-toggle-button:visible").all():
        yield lambda button=button: button.click()
    for start in area.get_by_role("button", name="Start", disabled=False).all():
        yield lambda start=start: start.click()


def moves(area):
    """Does the picture follow one of its controls? (Not each has an effect in each setting; a finished picture with nothing to choose has none.)"""
    image = area.locator("img[width]")
    before, ways = image.get_attribute("src"), list(ways_to_move(area))
    if not ways:
        return image.is_visible() and not area.locator("button:visible").count()
    for act in ways:
        act()
        if jupyterlab.follows(image, before):
            return True
    return False


def test_what_a_page_asks_of_others_is_noticed(page):
    other = page.context.new_page()
    other.route("**", lambda route: route.abort())  # so that nothing really leaves
    with pytest.raises(AssertionError, match="//192.0.2.1/"), jupyterlab.alone(other):
        other.evaluate("fetch('http://192.0.2.1/').catch(() => 0)")


@pytest.mark.parametrize(
    "name", [notebooks.START, *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES)]
)
def test_a_notebook_shows_runs_and_moves(page, lab, name):
    notebook = jupyterlab.Notebook(page, lab, name)
    try:
        expect(page.locator(".jp-OutputArea-output img").first).to_be_visible()  # before anything has run
        began = time.monotonic()
        assert notebook.run() == []
        if name == notebooks.START:
            assert time.monotonic() - began < 60
        explorers = page.locator(".jp-OutputArea-output").filter(has=page.locator("img[width]:visible"))
        expect(explorers.first).to_be_visible()
        for number in range(explorers.count()):
            assert moves(explorers.nth(number)), explorers.nth(number).inner_text()
        expect(page.get_by_role("alert").filter(has_text=re.compile("."))).to_have_count(0)
    finally:
        notebook.close()


@pytest.mark.slow
@pytest.mark.skipif(CUT in os.environ, reason="this is the test with the network cut")
@pytest.mark.parametrize(
    "which",
    ["not slow", pytest.param("slow", marks=outside.on_demand)],
    ids=[notebooks.START, "all the others"],
)
def test_with_the_network_cut(which):
    unshare = [shutil.which("unshare") or "unshare", "--map-root-user", "--net"]
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no network namespace can be made here: {error}")
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", which, __file__]
    ask = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=3)"  # an address for documentation
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    for command, works in ((["-c", ask], False), (tests, True)):
        done = subprocess.run(
            [*unshare, sys.executable, "-c", LOOPBACK_UP, *command],
            cwd=jupyterlab.COURSE,
            env={**environ, CUT: "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert (done.returncode == 0) == works, done.stdout[-5000:]
        assert works or "Network is unreachable" in done.stdout
