"""What nbgrader is told: where things lie, and the two steps that are not its own."""

import os
import sys
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import NbGraderPreprocessor

from .folder import Folder
from .judging import Run, exercises_of
from .rebuilding import rebuild

# What a learning-management system makes of the name 03_layer_norm.ipynb: ada_03_layer_norm.ipynb,
# ada_12345_678_03_layer_norm-1.ipynb, or a folder Ada Example_12345_assignsubmission_file_ around it.
COLLECTED = (
    r".*[/\\](?P<student_id>[A-Za-z0-9.@-]+)(?: [^/\\_]+)*_(?:[^/\\]*[/\\_])?(?P<file_id>\d\d_[a-z_]+)"
)
# The steps that are nbgrader's own; by name, so that the formgrader can write its configuration down.
SAVED = [
    f"nbgrader.preprocessors.{step}"
    for step in ("SaveAutoGrades", "AssignLatePenalties", "CheckCellMetadata")
]


class Lenient(NotebookExporter):
    """Reads a file that is no notebook as an empty one, so that it gets its marks as the others do."""

    def from_filename(self, filename, resources=None, **kw):
        try:
            return super().from_filename(filename, resources=resources, **kw)
        except (ValueError, KeyError, AttributeError, TypeError, nbformat.ValidationError):
            return self.from_notebook_node(nbformat.v4.new_notebook(), resources=resources, **kw)


class Rebuild(NbGraderPreprocessor):
    """Puts the answers of a submission on the released notebook."""

    def preprocess(self, nb, resources):
        where = resources["nbgrader"]
        released = Folder(self.parent_folder).released(where["assignment"])[f"{where['notebook']}.ipynb"]
        text = nbformat.writes(nb).encode() if nb.cells else b""
        nb, remarks = rebuild(text, nbformat.reads(released.decode(), 4))
        for remark in remarks:
            self.log.warning(remark)
        return nb, resources


class Judge(NbGraderPreprocessor):
    """Runs the notebook and puts the verdicts below its graded cells."""

    def preprocess(self, nb, resources):
        folder = Folder(self.parent_folder)
        graded = folder.graded(resources["nbgrader"]["assignment"])
        run = Run(nb, exercises_of(graded, folder.seed), folder.key)
        run.all()
        for remark in run.look:
            self.log.warning(remark)
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
    c.Autograde.exporter_class = ours + "Lenient"
    before = [ours + "Rebuild", theirs + "OverwriteCells"]
    c.Autograde.sanitize_preprocessors = [*before, *SAVED[-1:]]
    c.Autograde.autograde_preprocessors = [ours + "Judge", *SAVED]


def configure_judged(c, submitted):
    """The same for notebooks that are judged already and lie in the folder `submitted`."""
    c.CourseDirectory.submitted_directory = str(submitted)
    c.Autograde.sanitize_preprocessors = SAVED[-1:]
    c.Autograde.autograde_preprocessors = SAVED
