#!/usr/bin/env python3
"""Open the course, or test it. It needs Python 3.11 or newer; all it installs goes into the folder .venv.

    python3 course.py                  open the course in JupyterLab       (on Windows: py course.py)
    python3 course.py test             run the tests
    python3 course.py test --all       run the slow ones too

Further arguments go on to JupyterLab or to pytest:

    python3 course.py --no-browser --port=9000
    python3 course.py test -k norm

Should .venv ever misbehave, delete it: the next start makes it anew.
"""

# Even Python 2.7 must be able to read this file, or it could not say that it is too old. Hence the plain
# style: no f-strings, no annotations, nothing but ASCII, and only modules that were always there.
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

OLDEST = (3, 11)
VERSION = "%d.%d" % sys.version_info[:2]
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
PROGRAMS = os.path.join(VENV, "Scripts" if os.name == "nt" else "bin")
PYTHON = os.path.join(PROGRAMS, "python.exe" if os.name == "nt" else "python")
STAMP = os.path.join(VENV, "course-stamp.json")

START = "notebooks/00_start_here.ipynb"
RUNTIME = "requirements.txt"
HOMEWORK = "homework/requirements.txt"  # for teachers; the tests need it too
TESTS = "tests/requirements.txt"
SETTINGS = {"overrides.json": "share/jupyter/lab/settings", "jupyter_server_config.py": "etc/jupyter"}
UNFINISHED = {"unfinished": True}  # the stamp while an installation runs
MEGABYTES = {RUNTIME: 500, TESTS: 900}  # room for .venv, measured and rounded up

# What pip, uv and the systems say when the disk is full or nothing can be downloaded, in lower case.
NO_SPACE = "no space left|errno 28|disk quota exceeded|errno 122|not enough space|winerror 112"
NO_NETWORK = (
    "connection broken|newconnectionerror|connecttimeout|read timed out|connection refused"
    "|network is unreachable|name resolution|getaddrinfo failed|certificate_verify_failed|proxyerror"
    "|from versions: none|error sending request|dns error|failed to fetch|could not connect"
)


class Trouble(Exception):
    """What keeps the course from opening: a sentence for the learner, and the way out."""


# ---- what can go wrong, in words ---------------------------------------------------------------------


def again():
    """What to type to start the same thing once more."""
    return "    " + typed("py" if os.name == "nt" else "python3")


def typed(python):
    """The command line of this start, with that Python."""
    return " ".join([python, "course.py"] + sys.argv[1:])


def too_old():
    """The sentence for a Python that cannot run the course."""
    return (
        "This course needs Python %d.%d or newer, and this is Python %d.%d.\n"
        "Install a newer one from https://www.python.org/downloads/ and start the course with it, such as:\n"
        "    %s"
    ) % (OLDEST + sys.version_info[:2] + (typed("py -3.13" if os.name == "nt" else "python3.13"),))


def no_venv_module():
    """The sentence for a Python whose venv module is missing or only half there, as on Debian."""
    return (
        "This Python cannot make the folder .venv, because its venv module is not installed.\n"
        "On Debian or Ubuntu, install it with\n"
        "    sudo apt install python%s-venv\n"
        "(elsewhere, install Python from https://www.python.org/downloads/), then type again:\n%s"
    ) % (VERSION, again())


def no_space(needed=None):
    """The sentence for a full disk."""
    room = "it is full, or your\nshare of it, or the folder for temporary files (%s)" % tempfile.gettempdir()
    if needed:
        room = "about %d MB are needed, %d MB are free" % (needed, free_megabytes())
    return (
        "There is not enough space on the disk to install the course: %s.\n"
        "Free some space, or move the course's folder to a larger disk, then type again:\n%s"
    ) % (room, again())


def no_network():
    """The sentence for packages that could not be downloaded."""
    return (
        "The course's packages could not be downloaded: there is no connection to the package index.\n"
        "Connect to the internet (behind a proxy, set HTTPS_PROXY), then type again:\n%s\n"
        "Only installing needs the network; what is already downloaded is kept."
    ) % again()


def not_writable(error):
    """The sentence for a folder in which nothing can be made or removed."""
    return (
        "The folder .venv cannot be made or changed in %s (%s).\n"
        "Close every program that uses it (JupyterLab, a terminal, an editor), or copy the course into a\n"
        "folder of your own, then type again:\n%s"
    ) % (ROOT, error.strerror or error, again())


def not_installed():
    """The sentence for an installation that failed for a reason this program does not know."""
    return (
        "The course's packages could not be installed; the lines above say why (this is Python %s; the\n"
        "course is made for 3.11 to 3.14). If they do not help, delete the folder .venv, then type again:\n%s"
    ) % (VERSION, again())


def why(said, otherwise):
    """The sentence that fits what a failed installer, or the system, said."""
    if re.search(NO_SPACE, said.lower()):
        return no_space()
    if re.search(NO_NETWORK, said.lower()):
        return no_network()
    return otherwise


# ---- what is there, and what is missing --------------------------------------------------------------


def free_megabytes():
    """How much can still be written where the course lies."""
    return shutil.disk_usage(ROOT).free // 10**6


def wanted(requirements):
    """What the stamp must say when all that is required is installed, here and for this Python."""
    files = [RUNTIME] if requirements == RUNTIME else [RUNTIME, HOMEWORK, TESTS]
    stamp = {"python": VERSION, "folder": os.path.realpath(ROOT)}
    for name in files:
        with open(os.path.join(ROOT, name), "rb") as file:
            stamp[name] = hashlib.sha256(file.read()).hexdigest()
    return stamp


def read_stamp():
    """What was installed last; nothing for a .venv that somebody else made."""
    try:
        with open(STAMP) as file:
            return json.load(file)
    except ValueError:  # cut off while it was written
        return UNFINISHED
    except OSError:
        return {}


def write_stamp(stamp):
    """Say in .venv what is installed there."""
    with open(STAMP, "w") as file:
        json.dump(stamp, file, indent=1, sort_keys=True)


def version_of(python):
    """The version of that Python, or nothing if it does not run."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        with open(os.devnull, "w") as nowhere:
            return subprocess.check_output([python, "-I", "-S", "-c", ask], stderr=nowhere).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def usable(stamp):
    """Whether .venv can stay: finished once, made here, and its Python still runs and is this one."""
    here = {"python": VERSION, "folder": os.path.realpath(ROOT)}
    made_here = all(stamp.get(key, value) == value for key, value in here.items())
    return made_here and stamp != UNFINISHED and version_of(PYTHON) == VERSION


def find_uv():
    """The installer uv (several times faster than pip, same result) if it is there and runs."""
    uv = shutil.which("uv")
    try:
        return uv if uv and subprocess.call([uv, "--version"], stdout=subprocess.DEVNULL) == 0 else None
    except OSError:
        return None


# ---- making it so ------------------------------------------------------------------------------------


def run(command):
    """Run an installer quietly, with a dot for each package; if it fails, show its last words."""
    env = dict(
        os.environ, PYTHONUNBUFFERED="1", PYTHONUTF8="1", PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1"
    )
    lines = []
    pipe = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    with pipe:
        for line in pipe.stdout:
            lines.append(line.rstrip())
            if line.startswith(("Collecting ", "Processing ")):
                say(".")
            elif line.startswith("Installing collected "):
                say(" unpacking")
    if pipe.returncode:
        say("\n")
        raise Trouble(last_words(lines) + "\n\n" + why("\n".join(lines), not_installed()))


def last_words(lines):
    """The last lines of an installer that tell of errors; the last of all if there are none."""
    lines = [line.strip() for line in lines if line.strip()]
    # pip ends with lines about a failed subprocess, which only point to the ones above them.
    telling = [line for line in lines if re.search("(?i)error|cause", line) and "subprocess" not in line]
    return "\n".join("    " + line[:160] for line in (telling or lines)[-5:])


def say(text):
    """Write to the learner at once, without a line's end."""
    sys.stdout.write(text)
    sys.stdout.flush()


def make_venv(uv, requirements):
    """Make .venv from nothing, in the place of one that cannot be used."""
    if os.path.lexists(VENV):
        say("The folder .venv is unfinished, was moved, or belongs to another Python: making it anew.\n")
        shutil.rmtree(VENV)
    if free_megabytes() < MEGABYTES[requirements]:
        raise Trouble(no_space(MEGABYTES[requirements]))
    if not uv:
        check_venv_module()
    os.mkdir(VENV)
    write_stamp(UNFINISHED)
    # Not sys.executable, which may be the Python of the very .venv that just went.
    base = getattr(sys, "_base_executable", None) or sys.executable
    if uv:
        run([uv, "venv", "--allow-existing", "--seed", "--python", base, VENV])
    else:
        run([base, "-m", "venv", VENV])


def check_venv_module():
    """Stop if Python's own means to make .venv are missing."""
    try:
        import ensurepip  # noqa: F401  (Debian has venv without it, and it fails half way)
        import venv  # noqa: F401
    except ImportError:
        raise Trouble(no_venv_module())


def install(uv, requirements, before):
    """Install what is required, and the course itself, into .venv."""
    # This stays if we are killed: half an installation never passes for a whole one.
    write_stamp(UNFINISHED)
    command = [uv, "pip", "install", "--python", PYTHON] if uv else [PYTHON, "-m", "pip", "install"]
    try:
        run(command + ["-r", requirements, "-e", "."])
    except Trouble:
        write_stamp(before)  # installers download first and undo what they began: what was there still is
        raise
    settle()
    write_stamp(dict({} if before == UNFINISHED else before, **wanted(requirements)))


def settle():
    """Give Jupyter the course's defaults, those that Binder gets too; what a learner has changed stays.

    JupyterLab does not ask whether to fetch news, and its server sends pictures without delay.
    """
    for name, place in SETTINGS.items():
        folder = os.path.join(VENV, *place.split("/"))
        if not os.path.exists(os.path.join(folder, name)):
            os.makedirs(folder, exist_ok=True)
            shutil.copy(os.path.join(ROOT, "binder", name), folder)


def prepare(requirements):
    """See to it that .venv holds what is required; do nothing when it does."""
    before = read_stamp()
    keep = usable(before)
    if keep and all(before.get(key) == value for key, value in wanted(requirements).items()):
        return
    began, uv = time.time(), find_uv()
    try:
        if not keep:
            make_venv(uv, requirements)
            before = UNFINISHED
        say("Installing into .venv with %s" % ("uv, some seconds" if uv else "pip, a minute or two"))
        install(uv, requirements, before)
    except OSError as error:
        raise Trouble(why(str(error), not_writable(error)))
    say(" done in %d s\n" % (time.time() - began))


def lab(arguments):
    """The command that opens JupyterLab on the first notebook, the course's folder as its root."""
    options = ["--ServerApp.root_dir=" + ROOT, "--LabApp.default_url=/lab/tree/" + START]
    return [PYTHON, "-m", "jupyterlab"] + options + arguments


def pytest(arguments):
    """The command that runs the tests, on all cores; later -n and -m of the user's own replace ours."""
    everything = "--all" in arguments
    arguments = [argument for argument in arguments if argument != "--all"]
    # Files stay whole, so that a browser is started once in each; in their order, or the longest would come last.
    every_core = ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
    return [PYTHON, "-m", "pytest"] + every_core + ([] if everything else ["-m", "not slow"]) + arguments


def become(command):
    """Hand over to a program that runs in .venv, and end as it ends."""
    os.chdir(ROOT)
    os.environ["VIRTUAL_ENV"] = VENV  # so that `!pip` in a notebook and JupyterLab's terminal mean .venv
    os.environ["PATH"] = PROGRAMS + os.pathsep + os.environ.get("PATH", "")
    sys.stdout.flush()
    if os.name != "nt":
        os.execv(command[0], command)  # signals reach the program itself
    process = subprocess.Popen(command)  # Windows has no real exec: the terminal would not wait
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the program got it too, and decides what it means
            pass


def main(arguments):
    """Do what the command line says; the exit code."""
    if sys.version_info < OLDEST:
        sys.stderr.write(too_old() + "\n")
        return 1
    if arguments[:1] in (["-h"], ["--help"]):
        say(__doc__)
        return 0
    testing = arguments[:1] == ["test"]
    try:
        prepare(TESTS if testing else RUNTIME)
    except Trouble as trouble:
        sys.stderr.write("\n%s\n" % trouble)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write(
            "\nStopped before the installation was finished. To start afresh, type:\n%s\n" % again()
        )
        return 130
    return become(pytest(arguments[1:]) if testing else lab(arguments))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
