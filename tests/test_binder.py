"""What mybinder.org builds, rehearsed; and the link that leads there."""

import json
import platform
import sys

import pytest
from traitlets.config.loader import PyFileConfigLoader

from . import binder, notebooks, outside


@pytest.mark.parametrize(
    ("remote", "place"),
    [
        ("https://github.com/ann/norms.git", "ann/norms"),
        ("git@github.com:ann/norms.git", "ann/norms"),
        ("https://github.com/ann/norms/", "ann/norms"),
        ("https://example.org/ann/norms", "OWNER/REPO"),
        ("", "OWNER/REPO"),
    ],
)
def test_the_link_names_the_repository(remote, place):
    link = f"https://mybinder.org/v2/gh/{place}/HEAD?urlpath=lab/tree/notebooks/00_start_here.ipynb"
    assert binder.launch_link(remote) == link


def test_the_readme_has_the_link_to_fill_in():
    assert binder.launch_link("") in (outside.COURSE / "README.md").read_text(encoding="utf-8")


def test_jupyterlab_gets_the_courses_defaults():
    defaults = json.loads((outside.COURSE / "binder/overrides.json").read_text(encoding="utf-8"))
    assert defaults["@jupyterlab/notebook-extension:tracker"]["windowingMode"] == "defer"
    assert defaults["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


@pytest.mark.parametrize(
    ("prefix", "icons"), [(None, "/static/favicons/"), ("/user/ann/", "/user/ann/static/favicons/")]
)
def test_browsers_keep_the_icons_on_a_hub_too(monkeypatch, prefix, icons):
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    if prefix:
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", prefix)
    read = PyFileConfigLoader("jupyter_server_config.py", outside.COURSE / "binder").load_config()
    assert read.ServerApp.static_immutable_cache == [icons]


@pytest.mark.slow
@pytest.mark.parametrize(
    "to_run",
    [notebooks.paths()[:1], pytest.param(notebooks.paths()[1:], marks=outside.on_demand)],
    ids=[notebooks.START, "all the others"],
)
def test_the_rehearsal_passes(tmp_path, to_run):
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("the image's base is made for Linux on x86-64")
    if not outside.find_python(binder.python_version()):
        pytest.skip(f"needs Python {binder.python_version()} here, as in binder/runtime.txt")
    binder.rehearse(tmp_path, to_run)
