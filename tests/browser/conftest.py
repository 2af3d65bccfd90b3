"""Fixtures: JupyterLab once a session, notebooks opened by name. Where no browser is found, all skip."""

import os

import pytest

from . import lab as jupyterlab


@pytest.fixture(scope="session", autouse=True)
def browser_there():
    if jupyterlab.find_browser() is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(jupyterlab.NO_BROWSER)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args, browser_there):
    return {**browser_type_launch_args, **jupyterlab.launch_options()}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args):
    return {**browser_context_args, "viewport": jupyterlab.WINDOW}


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    with jupyterlab.server(tmp_path_factory.mktemp("lab")) as address:
        yield address


@pytest.fixture(scope="session")
def only_page(browser, browser_context_args):
    """One page for all tests: to load JupyterLab takes longer than most of them do."""
    context = browser.new_context(**browser_context_args)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(only_page):
    """The page, which may ask this machine alone: a test in which it asks for more fails."""
    only_page.set_viewport_size(jupyterlab.WINDOW)
    with jupyterlab.alone(only_page):
        yield only_page
    for other in only_page.context.pages[1:]:
        other.close()


@pytest.fixture(scope="session")
def desk(only_page, lab):
    return jupyterlab.Desk(only_page, lab)


@pytest.fixture
def show(page, desk):
    """Shows one explorer of a notebook, its cell run anew: show(name of the notebook, words of the cell)."""
    return desk.show


@pytest.fixture
def open_notebook(page, lab):
    """Opens a notebook by name, runs its cells (or what one cell needs); fails when a cell has an error."""
    opened = []

    def open_it(name, source=""):
        notebook = jupyterlab.Notebook(page, lab, name)
        opened.append(notebook)
        assert notebook.run(source) == []
        return notebook

    yield open_it
    for notebook in opened:
        notebook.close()
