"""What nbgrader is told: where things lie, and the two steps that are not its own."""

import os
import stat
import sys
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import parse_utc
from traitlets.log import get_logger

from .folder import Folder
from .judging import Run, exercises_of
from .rebuilding import choose, rebuild, submitted

# What a learning-management system makes of the name 03_layer_norm_homework.ipynb:
# ada_03_layer_norm_homework.ipynb, ada_12345_678_03_layer_norm_homework-1.ipynb, or a folder Ada Example_12345_assignsubmission_file_ around it.
COLLECTED = (
    r".*[/\\](?P<student_id>[A-Za-z0-9.@-]+)(?: [^/\\_]+)*_(?:[^/\\]*[/\\_])?(?P<file_id>\d\d_[a-z_]+)"
)
# The steps that are nbgrader's own; by name, so that the formgrader can write its configuration down.
SAVED = [
    f"nbgrader.preprocessors.{step}"
    for step in ("SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata")
]


def tidy(assignment, student, notebooks):
    """Make a submission one that nbgrader can grade: without what is no file, its notebooks those of the assignment.

    It is called before each submission; notebooks: their paths, a list that is changed.
    """
    folder = Path(notebooks[0]).parent
    for place, inner, names in os.walk(folder):
        for path in (Path(place, name) for name in inner + names):
            kind = path.lstat().st_mode
            if not stat.S_ISDIR(kind) and not stat.S_ISREG(kind):
                get_logger().warning("%s is no file: it is removed", path)
                path.unlink()  # nbgrader would copy what it points to
    stamp = folder / "timestamp.txt"
    if stamp.exists() and not is_time(stamp):
        get_logger().warning("%s is no time: it is renamed", stamp)
        stamp.rename(stamp.with_name("timestamp.txt.unreadable"))
    released = Folder(Rebuild.parent_folder).released(folder.name)
    notebooks[:] = [str(folder / name) for name in released]


def is_time(path):
    """Does this file say when something was handed in? It may be none, or endless."""
    try:
        about = path.lstat()
        short = stat.S_ISREG(about.st_mode) and about.st_size < 1000
        return short and bool(parse_utc(path.read_text("utf-8").strip()))
    except Exception:  # a file may be anything
        return False


class Lenient(NotebookExporter):
    """Leaves the reading of a submission to Rebuild, whatever it is."""

    def from_filename(self, filename, resources=None, **kw):
        if Path(Rebuild.parent_folder, "submitted") in Path(filename).parents:
            return self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kw)
        return super().from_filename(filename, resources=resources, **kw)


class Rebuild(NbGraderPreprocessor):
    """Puts the answers of a submission on the released notebook."""

    def preprocess(self, nb, resources):
        where, folder = resources["nbgrader"], Folder(self.parent_folder)
        name = f"{where['notebook']}.ipynb"
        released = folder.released(where["assignment"])[name]
        files = submitted(folder.root / "submitted" / where["student"] / where["assignment"])
        text, remark = choose(files, name)
        nb, remarks = rebuild(text, nbformat.reads(released.decode(), 4))
        for one in [remark] * bool(remark) + remarks:
            self.log.warning("%s: %s", where["student"], one)
        return nb, resources


class Judge(NbGraderPreprocessor):
    """Runs the notebook and puts the verdicts below its graded cells."""

    def preprocess(self, nb, resources):
        folder = Folder(self.parent_folder)
        graded = folder.graded(resources["nbgrader"]["assignment"])
        run = Run(nb, exercises_of(graded, folder.seed), folder.key)
        run.all()
        for remark in run.look:
            self.log.warning("%s: %s", resources["nbgrader"]["student"], remark)
        return nb, resources


def configure(c, config_file):
    """Fill nbgrader's configuration for the course folder in which `config_file` lies."""
    root = Path(config_file).resolve().parent
    beside = str(Path(sys.executable).parent)  # nbgrader starts `alembic`, by name
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", "")])
    Rebuild.parent_folder = Judge.parent_folder = root
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "helpers"]
    c.Exchange.root = str(root / "exchange")
    c.FileNameCollectorPlugin.named_regexp = COLLECTED
    ours, theirs = "homework.settings.", "nbgrader.preprocessors."
    c.Autograde.pre_convert_hook = ours + "tidy"
    c.Autograde.exporter_class = ours + "Lenient"
    before = [ours + "Rebuild", theirs + "OverwriteCells"]
    c.Autograde.sanitize_preprocessors = [*before, *SAVED[-1:]]
    c.Autograde.autograde_preprocessors = [ours + "Judge", *SAVED]
    # No script of a student's runs in the formgrader.
    c.HTMLExporter.preprocessors = ["nbconvert.preprocessors.sanitize.SanitizeHTML"]


def configure_judged(c, submitted):
    """The same for notebooks that are judged already and lie in the folder `submitted`."""
    c.CourseDirectory.submitted_directory = str(submitted)
    c.Autograde.pre_convert_hook = None
    c.Autograde.exporter_class = NotebookExporter
    c.Autograde.sanitize_preprocessors = SAVED[-1:]
    c.Autograde.autograde_preprocessors = SAVED
