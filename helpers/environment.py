"""Is everything here that the course needs? One line a package, and what to type if not."""

import importlib.metadata
import platform
from pathlib import Path

from packaging.requirements import Requirement

from . import __version__

COURSE = "residuals-and-norms"
IMPORTED = ("numpy", "matplotlib", "ipywidgets")  # what helpers cannot do without
REPAIR = "In the course's folder, type: python3 course.py   (or: python -m pip install -r requirements.txt)"


def versions():
    """Print in one line which Python and packages run here; nothing is imported. SystemExit where one is missing."""
    found = [f"Python {platform.python_version()}"]
    try:
        found += [f"{name} {importlib.metadata.version(name)}" for name in IMPORTED]
    except importlib.metadata.PackageNotFoundError as missing:
        raise SystemExit(f"{missing.name} is not here. {REPAIR}") from None
    print(" · ".join([f"The course {__version__}", *found]))


def requirements():
    """The packages that the course needs, with their ranges: a list of packaging Requirements."""
    try:
        lines = importlib.metadata.requires(COURSE) or []
    except importlib.metadata.PackageNotFoundError:  # not installed: the folder is used as it is
        lines = (Path(__file__).parents[1] / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def verdict(requirement):
    """One line on one package: OK, MISSING or the WRONG VERSION."""
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return f"MISSING        {requirement}"
    if not requirement.specifier.contains(version, prereleases=True):
        return f"WRONG VERSION  {requirement.name} {version}; the course needs {requirement.specifier}"
    return f"OK             {requirement.name} {version}"


def check():
    """Print a line for each package and, when one is not as it should be, what to type."""
    print(f"Python {platform.python_version()}")
    verdicts = [verdict(requirement) for requirement in requirements()]
    print(*verdicts, sep="\n")
    print("Everything is here." if all(v.startswith("OK") for v in verdicts) else REPAIR)
