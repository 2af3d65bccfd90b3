"""In Jupyter Notebook 7, where it is installed: notebooks run, and arrow keys move sliders and nothing else."""

import pytest
from playwright.sync_api import expect

from . import lab as jupyterlab

pytest.importorskip("notebook", minversion="7", reason="needs Jupyter Notebook 7: pip install notebook")


@pytest.fixture(scope="module")
def notebook7(tmp_path_factory):
    with jupyterlab.server(tmp_path_factory.mktemp("notebook7"), program="notebook") as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("name", ["00_start_here", "03_layer_norm"])
def test_an_arrow_key_moves_a_slider_and_its_picture(page, notebook7, name):
    notebook = jupyterlab.Notebook(page, notebook7, name, place="notebooks")
    try:
        assert notebook.run() == []
        explorer = page.locator(".jp-OutputArea-output").filter(has=page.locator("img[width]:visible")).first
        slider, image = explorer.locator("[role=slider]").first, explorer.locator("img[width]")
        before = image.get_attribute("src")
        slider.press("ArrowLeft")
        expect(image).not_to_have_attribute("src", before)
        expect(slider).to_be_focused()
    finally:
        notebook.close()
