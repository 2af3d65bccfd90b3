"""A teacher's course folder: what `new` writes, and what is kept in it that nobody else may see."""

import csv
import json
import secrets
from pathlib import Path

SECRET = "homework.json"  # the key of the hidden inputs, the seed of the variants, what is graded by which exercise
COURSE = Path(__file__).parents[1]

CONFIG = '''"""What nbgrader reads in this folder. Change it as its documentation says; the last line must stay."""

import sys

sys.path.append({course!r})  # where the package homework is
from homework.settings import configure

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "residuals_and_norms"
configure(c, __file__)
'''
ROSTER = ("id", "first_name", "last_name", "email")


class Folder:
    """A course folder that was made by `new`; ValueError says so when it was not."""

    def __init__(self, root="."):
        self.root = Path(root).resolve()
        try:
            self.secret = json.loads((self.root / SECRET).read_text("utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{self.root} is no homework folder: {SECRET} is not there") from None

    def graded(self, assignment):
        """{grade_id: name of the exercise}; ValueError says which assignments there are."""
        known = self.secret["assignments"]
        if assignment not in known:
            raise ValueError(f"there is no assignment {assignment!r}; there is: {', '.join(known)}")
        return known[assignment]

    @property
    def key(self):
        """What the hidden inputs are drawn with."""
        return self.secret["key"]

    @property
    def seed(self):
        """The seed of the variants, or None."""
        return self.secret["seed"]

    def released(self, assignment):
        """{file name: bytes} of the released notebooks; ValueError when there are none yet."""
        found = {
            path.name: path.read_bytes() for path in (self.root / "release" / assignment).glob("*.ipynb")
        }
        if not found:
            raise ValueError(f"nothing is released: type  nbgrader generate_assignment {assignment}")
        return found

    def submitted(self, assignment):
        """{student: folder} of the submissions, sorted."""
        found = self.root.glob(f"submitted/*/{assignment}")
        return {path.parent.name: path for path in sorted(found) if path.is_dir()}


def create(root, lessons, seed):
    """Write a new course folder; lessons: what `building.lesson` gives. FileExistsError when there is something."""
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    if any(root.iterdir()):
        raise FileExistsError(f"{root} is not empty: choose another folder")
    (root / "exchange").mkdir()  # nbgrader wants it to be there
    secret = {
        "key": secrets.token_hex(16),
        "seed": seed,
        "assignments": {one.name: one.graded for one in lessons},
    }
    _write(root / SECRET, json.dumps(secret, indent=1))
    (root / SECRET).chmod(0o600)
    _write(root / "nbgrader_config.py", CONFIG.format(course=str(COURSE)))
    with (root / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([ROSTER, ("ada", "Ada", "Example", "ada@example.org")])
    for lesson in lessons:
        _write(root / "source" / lesson.name / f"{lesson.name}.ipynb", lesson.text)
    _write(root / "TEACHER.md", page(root, lessons, seed))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def page(root, lessons, seed):
    """The teacher's page: what to do next, the points, the rubrics."""
    name = lessons[0].name
    lines = [
        "# Homework: what to do next",
        "",
        "Type the commands in this folder, in the environment in which nbgrader is installed. Here stands the first "
        f"assignment, `{name}`; the others go the same way.",
        "",
        "1. Put your students into `roster.csv`, then `nbgrader db student import roster.csv`.",
        "2. Read the notebooks in `source/`, change what you like. The function names and the grade_ids must stay.",
        f'3. `nbgrader generate_assignment "{name}"` writes what students get into `release/{name}`. '
        "`python -m homework leaks` looks whether anything is in it that should not be.",
        f'4. A date, if there is one: `nbgrader db assignment add "{name}" --duedate "2030-01-31 18:00 UTC"`. What comes '
        "later is graded too; `grades.csv` has both times. It costs points only with nbgrader's `LateSubmissionPlugin`.",
        "5. Hand out the notebook, by `nbgrader release_assignment`, or by any other way. Students put it into the "
        "folder `notebooks` of the course, beside the lesson. The cells below each answer say what is wrong with it.",
        f"6. Collect into `submitted/STUDENT/{name}/{name}.ipynb`: by `nbgrader collect`, by hand, or put the zip of "
        f'your learning-management system into `downloaded/{name}/archive` and type `nbgrader zip_collect "{name}"`. '
        f"It takes names such as `ada_1234_{name}.ipynb`; what stands before the first `_` or blank is the student's id. "
        "A zip has no times.",
        f'7. `python -m homework grade "{name}"` grades on all cores, goes on where it was stopped, and ends with a '
        f"list of what needs a look (also in `logs/{name}`). `nbgrader autograde \"{name}\"` gives the same marks, "
        "without the list. Whoever is not in the roster is graded and named: rename the folder in `submitted`, type "
        "`nbgrader db student remove ID --force`, and grade again. So you do when someone hands in anew: only what has "
        "changed is graded, and your marks stay until you change them.",
        "8. `jupyter lab`, menu *Nbgrader → Formgrader*, *Manual Grading*: grade the written answers by the rubrics below. "
        "*Show All Names* says who is who. A blank answer has its 0 already.",
        f'9. `nbgrader generate_feedback "{name}"`, then hand out the folder `feedback`.',
        "10. `nbgrader export` writes the marks into `grades.csv`.",
        "",
        f"Keep `{SECRET}` to yourself: the hidden inputs" + (" and the variants come" if seed else " come") + " from it.",
    ]  # fmt: skip
    for lesson in lessons:
        lines += ["", f"## {lesson.name}", "", *lesson.guide]
    return "\n".join(lines) + "\n"
