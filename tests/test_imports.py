"""What a notebook's first line costs, beside the packages that it needs anyway."""

import os
import subprocess
import sys

PACKAGES = "import numpy, ipywidgets, matplotlib.figure"
COURSE = "from helpers import exercises, explorers, predict, quiz"  # all that a notebook imports


def import_seconds(line):
    """CPU time of a fresh Python that runs this line, its bytecode kept as usual."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", f"{line}\nimport time\nprint(time.process_time())"]
    return float(subprocess.run(command, capture_output=True, env=environment, check=True).stdout)


def test_the_course_is_imported_at_little_more_than_the_packages_it_needs():
    for line in (PACKAGES, COURSE):
        import_seconds(line)  # compiles what has changed
    turns = [(import_seconds(PACKAGES), import_seconds(COURSE)) for _ in range(10)]
    packages, course = map(min, zip(*turns))
    assert course <= 1.2 * packages
