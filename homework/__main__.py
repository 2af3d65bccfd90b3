"""The commands of the teacher's desk: new, grade, leaks."""

import argparse
import sys


def main(arguments=None):
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m homework", description="Lessons as homework, with nbgrader."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    new = commands.add_parser("new", help="make a course folder for nbgrader")
    new.add_argument("folder", help="a folder that does not exist yet, or is empty")
    new.add_argument("--lessons", nargs="+", required=True, metavar="NUMBER", help="such as 03 05")
    new.add_argument("--variant", metavar="SEED", help="vary the exercises by this secret word")
    grade = commands.add_parser("grade", help="grade what is submitted, on all cores")
    grade.add_argument("assignment", help="such as 03_layer_norm_homework")
    grade.add_argument("--jobs", type=int, help="how many at once, if not as many as there are cores")
    grade.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster that does the work")
    grade.add_argument("--again", action="store_true", help="also what is graded already")
    leaks = commands.add_parser("leaks", help="look for solutions in what students get")
    for command in (grade, leaks):
        command.add_argument("--folder", default=".", help="the course folder, if not this one")
    given = parser.parse_args(arguments)
    try:
        return _do(given)
    except (ValueError, FileExistsError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130


def _do(given):
    if given.command == "new":
        from . import building, folder

        lessons = [building.lesson(number, given.variant) for number in given.lessons]
        folder.create(given.folder, lessons, given.variant)
        print(f"{given.folder} is made. What to do next stands in {given.folder}/TEACHER.md")
    elif given.command == "grade":
        from .grading import grade

        grade(given.folder, given.assignment, given.jobs, given.scheduler, given.again)
    else:
        from .leaks import scan

        found = scan(given.folder)
        print("\n".join(found) or "Nothing found that students should not see.")
        return bool(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
