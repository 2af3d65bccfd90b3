"""Grades a whole class: judged by many processes, written into nbgrader's gradebook by one."""

import contextlib
import hashlib
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from . import judging
from .folder import Folder
from .kernel import isolation
from .rebuilding import submitted

MOST = 20  # remarks on a submission
MEMORY = 4096 * 2**20  # bytes that a worker may use


def grade(root, assignment, jobs=None, scheduler=None, again=False, say=print):
    """Grade what is submitted and not yet graded; returns {student: what needs a look}.

    scheduler: address of a Dask cluster whose workers have this course installed. again: grade all.
    """
    folder = Folder(root)
    tasks = {
        student: task(folder, assignment, path) for student, path in folder.submitted(assignment).items()
    }
    logs = folder.root / "logs" / assignment
    logs.mkdir(parents=True, exist_ok=True)
    reports = {student: _report(logs, student) for student in tasks}
    todo = {s: t for s, t in tasks.items() if again or not _is_done(folder, assignment, s, t)}
    say(isolation())
    say(f"{len(tasks)} submissions, {len(tasks) - len(todo)} graded before, {len(todo)} to grade")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hw") as staging, _workers(jobs, scheduler) as judged:
        writer = Writer(folder, assignment, Path(staging))
        for number, (student, result) in enumerate(judged(todo), 1):
            report = writer.write(student, result, _digest(todo[student]))
            reports[student] = report
            line = "; ".join(report["look"])
            say(f"{number}/{len(todo)} {student}: {report['score']:g} points" + (f", {line}" if line else ""))
    seconds = time.monotonic() - began
    look = {student: report["look"] for student, report in reports.items() if report and report["look"]}
    text = "".join(f"{student}: {'; '.join(lines)}\n" for student, lines in look.items())
    (logs / "needs_a_look.txt").write_text(text, encoding="utf-8", errors="replace")
    say(
        f"{len(todo)} graded in {seconds:.0f} s; {len(look)} of {len(tasks)} need a look:\n{text}".rstrip(
            "\n:"
        )
    )
    return look


def task(folder, assignment, path):
    """The bytes of a submission and of what it is judged by."""
    released, graded = folder.released(assignment), folder.graded(assignment)
    return judging.task(submitted(path), released, graded, folder.key, folder.seed)


# ------------------------------------------------------------------------------ what is done already


def _digest(given):
    return hashlib.sha256(given).hexdigest()


def _report(logs, student):
    try:
        return json.loads((logs / f"{student}.json").read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def _is_done(folder, assignment, student, given):
    """Was this very submission graded, and is it still there?"""
    report = _report(folder.root / "logs" / assignment, student)
    there = (folder.root / "autograded" / student / assignment).is_dir()
    return bool(report) and there and report["digest"] == _digest(given)


# ------------------------------------------------------------------------------ many workers


@contextlib.contextmanager
def _workers(jobs, scheduler):
    """A function that takes {student: task} and gives (student, result) as they are done."""
    if scheduler:
        from distributed import Client
        from distributed import as_completed as as_done

        with Client(scheduler) as client:

            def judged(todo):
                futures = {client.submit(judging.judge, given, pure=False): s for s, given in todo.items()}
                for future in as_done(futures):
                    yield futures[future], _result(future, todo[futures[future]])

            yield judged
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    jobs = jobs or (os.cpu_count() or 1) + 1  # one more than cores: a worker waits while its kernel works
    pool = ProcessPoolExecutor(jobs, context, _worker, (os.getpid(),))

    def judged(todo):
        futures, lost = {pool.submit(judging.judge, given): s for s, given in todo.items()}, []
        for future in as_completed(futures):
            if isinstance(future.exception(), BrokenProcessPool):
                lost.append(futures[future])
            else:
                yield futures[future], _result(future, todo[futures[future]])
        for (
            student
        ) in lost:  # one of them ended its worker, and so the pool: now each has a worker of its own
            with ProcessPoolExecutor(1, context, _worker, (os.getpid(),)) as alone:
                yield student, _result(alone.submit(judging.judge, todo[student]), todo[student])

    try:
        yield judged
    finally:
        pool.shutdown(cancel_futures=True)


def _worker(parent):
    """Let this worker end when the process that it works for does, however that ends, or takes all memory."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _result(future, given):
    """What a worker found; a worker that died is reported, and its submission gets no points."""
    try:
        return json.loads(future.result())
    except Exception as error:
        why = f"NOT GRADED ({type(error).__name__}: {error}); the same command tries it again"
        return judging.not_judged(given, why)


# ------------------------------------------------------------------------------ one writer


class Writer:
    """Hands judged notebooks to nbgrader's own autograde, one after the other; keeps a log a student."""

    def __init__(self, folder, assignment, staging):
        from nbgrader.apps.api import NbGraderAPI
        from nbgrader.coursedir import CourseDirectory
        from traitlets.config.loader import PyFileConfigLoader

        from .settings import configure_judged, is_time

        config = PyFileConfigLoader("nbgrader_config.py", path=str(folder.root)).load_config()
        configure_judged(config, staging)
        self.api = NbGraderAPI(CourseDirectory(config=config), config=config)
        self.folder, self.assignment, self.staging, self.is_time = folder, assignment, staging, is_time
        with self.api.gradebook as gradebook:
            # nbgrader takes up whoever hands in, under no more than an id
            self.roster = {s.id for s in gradebook.students if s.first_name or s.last_name or s.email}

    def write(self, student, result, digest):
        """Put the marks of a student into the gradebook; returns the report."""
        place = self.staging / student / self.assignment
        place.mkdir(parents=True)
        for name, text in result.pop("notebooks").items():
            (place / name).write_text(text, encoding="utf-8", errors="replace")
        stamp = self.folder.root / "submitted" / student / self.assignment / "timestamp.txt"
        lines = result["repairs"] + result["look"]
        if self.is_time(stamp):
            shutil.copy(stamp, place)
        elif stamp.exists():
            lines.append("timestamp.txt is no time")
        if self.roster and student not in self.roster:
            lines.append(f"there is no student {student!r} in the roster")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLAlchemy's, of nbgrader's own
            done = self.api.autograde(self.assignment, student, force=True)
        shutil.rmtree(place)
        if not done["success"]:
            lines.append(
                "nbgrader: " + (done.get("error") or done.get("log") or "failed").strip().splitlines()[-1]
            )
        report = result | {
            "look": list(dict.fromkeys(" ".join(line.split())[:300] for line in lines))[:MOST],
            "digest": digest,
            "score": self._score(student),
        }
        logs = self.folder.root / "logs" / self.assignment
        said = [f"{name}: {outcome}" for name, outcome in result["outcomes"].items()]
        said += [f"to look at: {line}" for line in report["look"]] + [
            f"{result['seconds']} s",
            done.get("log") or "",
        ]
        (logs / f"{student}.log").write_text("\n".join(said), encoding="utf-8", errors="replace")
        if done["success"] and not result.get("again"):
            (logs / f"{student}.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
        return report

    def _score(self, student):
        from nbgrader.api import MissingEntry

        with self.api.gradebook as gradebook, contextlib.suppress(MissingEntry):
            return gradebook.find_submission(self.assignment, student).score
        return 0.0
