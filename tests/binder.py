"""Rehearse what mybinder.org does with this repository, without Docker; or print its launch link.

    python -m tests.binder             five minutes; needs Linux, the Python of binder/runtime.txt and a package index
    python -m tests.binder --link      the link that opens the course on Binder, and a badge, for this git remote

The rehearsal renders the Dockerfile with repo2docker, rebuilds the frozen base of its image from the package
index, runs the Dockerfile's own installation and binder/postBuild, and starts the server under an address like
Binder's. Every notebook must answer there and run.
"""

import argparse
import contextlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from . import notebooks, outside
from .browser.lab import free_port, wait_for

START = f"lab/tree/notebooks/{notebooks.START}.ipynb"
MOST = 200  # MB that the course may add to the base
NOT_COPIED = (".git", ".venv", "__pycache__", ".ipynb_checkpoints", ".*_cache")
# In the base's list, yet no packages of the index: parts of conda, and extras under names of their own.
CONDA_ONLY = {
    "python_abi",
    "python",
    "cpython",
    "python-gil",
    "_python_abi3_support",
    "ca-certificates",
    "tzdata",
}
CONDA_ONLY |= {
    "cached-property",
    "typing-extensions",
    "bleach-with-css",
    "jsonschema-with-format-nongpl",
    "pip",
}
CONDA_ONLY |= {"jupyterhub-singleuser"}
ON_THE_INDEX = {"brotli-python": "brotli", "python-fastjsonschema": "fastjsonschema"}
ON_THE_INDEX |= {"nbconvert-core": "nbconvert", "jupyterhub-base": "jupyterhub"}


# ---- the link -------------------------------------------------------------------------------------------


def launch_link(remote):
    """The address that opens the course on Binder, for the address of a git remote; OWNER/REPO if not on GitHub."""
    found = re.search(r"github\.com[:/]([^/]+/[^/]+?)(\.git)?/?$", remote)
    return f"https://mybinder.org/v2/gh/{found[1] if found else 'OWNER/REPO'}/HEAD?urlpath={START}"


def remote():
    """The address of this repository's git remote; nothing where there is none."""
    command = ["git", "remote", "get-url", "origin"]
    return subprocess.run(command, cwd=outside.COURSE, capture_output=True, text=True).stdout.strip()


# ---- the rehearsal --------------------------------------------------------------------------------------


def python_version():
    """The Python that binder/runtime.txt asks for, such as "3.12"."""
    return (outside.COURSE / "binder/runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")


def rehearse(work, to_run, say=print):
    """Build and start the course below the folder `work` as Binder would, and run those notebooks (paths) there.

    Every notebook must answer; what would fail at Binder's is an error.
    """
    home = work / "home"  # Binder clones the repository into the home folder
    shutil.copytree(outside.COURSE, home, ignore=shutil.ignore_patterns(*NOT_COPIED))
    requirements, lock = render(work, home)
    python = outside.make(work / "env", outside.find_python(python_version()), "--no-deps", *base(lock))
    check(python)
    before = megabytes(work / "env")
    say(f"base of the image: Python {python_version()}, {before:.0f} MB")
    environ = environment(work / "env", home)
    run([python, "-m", "pip", "install", "-q", "--no-cache-dir", "-r", requirements], home, environ)
    run([home / "binder" / "postBuild"], home, environ)
    check(python)
    added = megabytes(work / "env") - before
    say(f"the course adds {added:.0f} MB")
    assert added <= MOST, f"the course adds {added:.0f} MB, more than {MOST}"
    with server(python, home, environ) as get:
        for path in notebooks.paths():
            assert get(f"lab/tree/notebooks/{path.name}") == 200
            assert (
                get(f"api/contents/notebooks/{path.name}?content=0") == 200
            )  # the page answers for any name
        say("every notebook answers")
        for path in to_run:
            began = time.perf_counter()
            execute = ["--to", "notebook", "--execute", "--output-dir", work / "executed"]
            run([python, "-m", "nbconvert", *execute, home / "notebooks" / path.name], home, environ)
            say(f"{path.name} runs in {time.perf_counter() - began:.0f} s")
    say("The rehearsal passed.")


def render(work, home):
    """The requirements file that the rendered Dockerfile installs, and the list of its frozen base."""
    tool = outside.make(work / "repo2docker", sys.executable, "jupyter-repo2docker").parent
    command = [tool / "jupyter-repo2docker", "--no-build", "--debug", home]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    assert f"Building conda environment for python={python_version()}\n" in done.stderr, done.stderr
    assert "RUN ./binder/postBuild" in done.stdout, "binder/postBuild is not run"
    installed = re.search(r'pip install --no-cache-dir -r "([^"]+)"', done.stdout)
    assert installed, "no requirements are installed"
    bases = tool.parent.glob("lib/python*/site-packages/repo2docker/buildpacks/conda")
    return installed[1], next(bases) / f"environment.py-{python_version()}-linux-64.lock"


def base(lock):
    """The Python packages of a conda lock as requirements for the package index."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line.startswith("https:"):
            kind, file = line.split("/")[-2:]
            name, version, build = re.sub(r"\.(conda|tar\.bz2)(#.*)?$", "", file).rsplit("-", 2)
            if ("py" in build or kind == "noarch") and name not in CONDA_ONLY:
                yield f"{ON_THE_INDEX.get(name, name)}=={version}"


def check(python):
    """Do all packages get along?"""
    run([python, "-m", "pip", "check"])


def megabytes(folder):
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return sum(file.stat().st_size for file in files) / 1e6


def environment(env, home):
    """The variables that a program sees in the image."""
    prefixes = dict.fromkeys(("NB_PYTHON_PREFIX", "KERNEL_PYTHON_PREFIX", "CONDA_DEFAULT_ENV"), str(env))
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER"))
    }
    path = f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**inherited, **prefixes, "PATH": path, "HOME": str(home), "REPO_DIR": str(home)}


def run(command, folder=None, environ=None):
    """Run a program; if it fails, an error with its words."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}")


@contextlib.contextmanager
def server(python, home, environ):
    """The image's own command, under an address like Binder's; gives get(path), the status of the answer."""
    token, port, place = secrets.token_hex(8), free_port(), "/user/course-0a1b2c3d/"
    command = [python, "-m", "notebook", "--ip=127.0.0.1", "--no-browser", "--allow-root"]
    command += [f"--port={port}", f"--ServerApp.base_url={place}", f"--IdentityProvider.token={token}"]

    def get(path):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{place}{path}", headers={"Authorization": f"token {token}"}
        )
        return urllib.request.urlopen(request, timeout=60).status

    log = home.parent / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=home, env=environ, stdout=output, stderr=output)
    try:
        wait_for(f"http://127.0.0.1:{port}{place}api/status?token={token}", process, log)
        yield get
    finally:
        process.terminate()
        process.wait(30)


def main():
    usage, _, _ = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m tests.binder", description=usage)
    parser.add_argument("--link", action="store_true", help="print the launch link and a badge")
    if parser.parse_args().link:
        link = launch_link(remote())
        print(link, f"[![Open the course on Binder](https://mybinder.org/badge_logo.svg)]({link})", sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="binder-") as work:
        rehearse(Path(work), notebooks.paths())


if __name__ == "__main__":
    main()
