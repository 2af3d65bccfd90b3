"""course.py: what it installs and when, what it hands on, and what it says when something is in the way.

Most tests start the real course.py in a bare folder, with stand-ins for uv and for .venv's Python that only
note what they were asked. One, marked slow, installs everything and waits for JupyterLab to answer.
"""

import ast
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import types
import urllib.request
from pathlib import Path

import psutil
import pytest

PROJECT = Path(__file__).resolve().parents[1]
SETUP = [
    "course.py",
    "requirements.txt",
    "homework/requirements.txt",
    "tests/requirements.txt",
    "pyproject.toml",
    "binder/overrides.json",
    "binder/jupyter_server_config.py",
]
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
UV_VENV, UV_INSTALL = ["uv", "venv"], ["uv", "pip", "install"]

STAND_IN = """#!{python}
import json, os, sys
me, asked = os.path.basename(sys.argv[0]), sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps([me, *asked]) + "\\n")
if me == "uv" and asked[0] == "venv":
    os.makedirs(".venv/bin", exist_ok=True)
    with open(__file__) as source, open(".venv/bin/python", "w") as copy:
        copy.write(source.read())
    os.chmod(".venv/bin/python", 0o755)
if me == "uv" and asked[0] == "pip" and os.path.exists({failure!r}):
    failure = open({failure!r}).read()
    if failure == "kill":
        os.kill(os.getppid(), 9)
    sys.exit(failure)
if me == "python" and asked[0] == "-I":  # course.py asks which version this is
    os.execv(sys.executable, [sys.executable, *asked])
if me == "python":
    print("PATH", os.environ["PATH"])
    sys.exit(7)
"""


class Course:
    """The set-up files in a folder of their own, and beside it the stand-in for uv."""

    def __init__(self, folder):
        self.root, self.tools = folder / "the course", folder / "tools"
        self.log, self.failure = folder / "asked.txt", folder / "failure.txt"
        copy_setup(self.root)
        self.tools.mkdir()
        source = STAND_IN.format(python=sys.executable, log=str(self.log), failure=str(self.failure))
        (self.tools / "uv").write_text(source)
        (self.tools / "uv").chmod(0o755)

    @property
    def venv(self):
        return self.root / ".venv"

    @property
    def stamp(self):
        return self.venv / "course-stamp.json"

    def start(self, *arguments, **environment):
        """Run `python3 course.py arguments` with no program on PATH but the stand-in, and no network."""
        self.log.write_text("")
        return subprocess.run(
            [sys.executable, str(self.root / "course.py"), *arguments],
            env={**without_network(), "PATH": str(self.tools), **environment},
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )

    def ask_for_more(self, requirements):
        """Add a line to a list of requirements, as an update of the course may."""
        with open(self.root / requirements, "a") as file:
            file.write("something>=1,<2\n")

    def asked(self):
        """What the stand-ins were asked at the last start, questions for a version left out."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line[1] not in ("--version", "-I")]

    def installer_was_asked(self):
        """Only what uv was asked, cut to its subcommand."""
        return [line[:3] if line[1] == "pip" else line[:2] for line in self.asked() if line[0] == "uv"]


def copy_setup(root):
    """Copy the files that course.py needs, and no others."""
    for name in SETUP:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, root / name)


def without_network():
    """An environment in which pip finds nothing, neither on the net nor on this machine."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
    return environment | {"PIP_INDEX_URL": "http://127.0.0.1:9/"}  # the discard port: nobody listens


@pytest.fixture
def course(tmp_path):
    if os.name == "nt":
        pytest.skip("the stand-ins are scripts, which Windows cannot start")
    return Course(tmp_path)


@pytest.fixture
def installed(course):
    """A course that was opened once."""
    course.start()
    return course


@pytest.fixture
def module(tmp_path, monkeypatch):
    """course.py imported from a bare folder, with nothing on PATH."""
    copy_setup(tmp_path)
    spec = importlib.util.spec_from_file_location("course_under_test", tmp_path / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.setattr(sys, "argv", ["course.py", "test", "-x"])
    return module


# ---- the two commands ---------------------------------------------------------------------------------


def test_first_start_makes_venv_then_installs_the_list_and_the_course_itself(course):
    course.start()
    assert course.installer_was_asked() == [UV_VENV, UV_INSTALL]
    assert course.asked()[1][-4:] == ["-r", "requirements.txt", "-e", "."]


def test_start_opens_jupyterlab_on_the_first_notebook_with_the_course_as_root(course):
    course.start()
    assert course.asked()[-1][:3] == ["python", "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={course.root}" in course.asked()[-1]
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in course.asked()[-1]


def test_further_arguments_go_on_to_jupyterlab(course):
    course.start("--no-browser", "--port=9000")
    assert course.asked()[-1][-2:] == ["--no-browser", "--port=9000"]


def test_jupyterlab_does_not_ask_for_news_unless_somebody_set_other_defaults(installed):
    overrides = installed.venv / "share/jupyter/lab/settings/overrides.json"
    news = json.loads(overrides.read_text())["@jupyterlab/apputils-extension:notification"]
    assert news["fetchNews"] == "false"
    assert "set_nodelay" in (installed.venv / "etc/jupyter/jupyter_server_config.py").read_text()
    overrides.write_text("theirs")
    installed.ask_for_more("requirements.txt")
    installed.start()
    assert overrides.read_text() == "theirs"


def test_exit_code_is_that_of_the_program_started(course):
    assert course.start().returncode == 7


PYTEST = ["python", "-m", "pytest", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]


def test_test_installs_the_test_requirements_and_runs_pytest_without_slow_tests(course):
    course.start("test", "-k", "norm")
    assert course.asked()[1][-4:] == ["-r", "tests/requirements.txt", "-e", "."]
    assert course.asked()[-1] == [*PYTEST, "-m", "not slow", "-k", "norm"]


def test_all_adds_the_slow_tests(course):
    course.start("test", "--all", "-q")
    assert course.asked()[-1] == [*PYTEST, "-q"]


def test_own_marker_expression_comes_last_and_so_wins(course):
    course.start("test", "-m", "slow")
    assert course.asked()[-1] == [*PYTEST, "-m", "not slow", "-m", "slow"]


def test_what_is_started_finds_the_programs_of_venv_first(course):
    path = course.start().stdout.split("PATH ")[1].strip()
    assert path.split(os.pathsep) == [str(course.venv / "bin"), str(course.tools)]


def test_help_shows_both_commands_and_installs_nothing(course):
    said = course.start("--help").stdout
    assert "python3 course.py test --all" in said
    assert not course.venv.exists()


# ---- what need not be installed again -----------------------------------------------------------------


def test_second_start_takes_no_install_step(installed):
    said = installed.start()
    assert installed.installer_was_asked() == []
    assert "nstall" not in said.stdout


def test_start_after_test_takes_no_install_step(course):
    course.start("test")
    course.start()
    assert course.installer_was_asked() == []


def test_changed_requirements_are_installed_into_the_same_venv(installed):
    installed.ask_for_more("requirements.txt")
    installed.start()
    assert installed.installer_was_asked() == [UV_INSTALL]
    installed.start()
    assert installed.installer_was_asked() == []


@pytest.mark.parametrize("name", ["tests/requirements.txt", "homework/requirements.txt"])
def test_changed_test_requirements_do_not_concern_jupyterlab(course, name):
    course.start("test")
    course.ask_for_more(name)
    course.start()
    assert course.installer_was_asked() == []
    course.start("test")
    assert course.installer_was_asked() == [UV_INSTALL]


def test_venv_that_somebody_else_made_is_used_as_it_is(installed):
    installed.stamp.unlink()
    (installed.venv / "theirs").touch()
    installed.start()
    assert installed.installer_was_asked() == [UV_INSTALL]
    assert (installed.venv / "theirs").exists()


# ---- a .venv that cannot be used is made anew ---------------------------------------------------------


def assert_repaired(course):
    """The next start makes .venv anew, the one after that takes no step."""
    (course.venv / "left over").touch()
    said = course.start().stdout
    assert "making it anew" in said
    assert course.installer_was_asked() == [UV_VENV, UV_INSTALL]
    assert not (course.venv / "left over").exists()
    course.start()
    assert course.installer_was_asked() == []


def test_moved_course_repairs_itself(installed, tmp_path):
    installed.root.rename(tmp_path / "elsewhere")
    installed.root = tmp_path / "elsewhere"
    assert_repaired(installed)


def test_venv_of_another_python_repairs_itself(installed):
    stamp = json.loads(installed.stamp.read_text())
    installed.stamp.write_text(json.dumps({**stamp, "python": "3.10"}))
    assert_repaired(installed)


def test_broken_link_to_python_repairs_itself(installed):
    (installed.venv / "bin/python").unlink()
    (installed.venv / "bin/python").symlink_to("/no/such/python")
    assert_repaired(installed)


def test_python_that_does_not_run_repairs_itself(installed):
    (installed.venv / "bin/python").write_text("not a program")
    assert_repaired(installed)


def test_installation_killed_half_way_repairs_itself(course):
    course.failure.write_text("kill")
    assert course.start().returncode == -signal.SIGKILL
    course.failure.unlink()
    assert_repaired(course)


def test_update_killed_half_way_repairs_itself(installed):
    installed.ask_for_more("requirements.txt")
    installed.failure.write_text("kill")
    assert installed.start().returncode == -signal.SIGKILL
    installed.failure.unlink()
    assert_repaired(installed)


def test_stamp_cut_off_half_way_repairs_itself(installed):
    installed.stamp.write_text(installed.stamp.read_text()[:20])
    assert_repaired(installed)


def test_stopping_an_installation_says_how_to_start_afresh(module, monkeypatch, capsys):
    def stopped(command):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run", stopped)
    assert module.main(["test", "-x"]) == 130
    assert "py" in capsys.readouterr().err.splitlines()[-1]
    assert not module.usable(module.read_stamp())


# ---- one clear sentence and the way out ---------------------------------------------------------------


def test_old_pythons_can_read_it():
    source = (PROJECT / "course.py").read_text(encoding="ascii")
    for node in ast.walk(ast.parse(source)):
        assert not newer_than_python_2(node), f"line {node.lineno}"


def newer_than_python_2(node):
    """Whether Python 2.7 would stumble over this: the grammar that came later, as far as one might use it."""
    match node:
        case ast.JoinedStr() | ast.NamedExpr() | ast.AnnAssign() | ast.Nonlocal() | ast.Match():
            return True
        case ast.FunctionDef(args=arguments, returns=returns):
            annotated = any(argument.annotation for argument in arguments.args)
            return annotated or returns or arguments.posonlyargs or arguments.kwonlyargs
        case ast.Raise(cause=cause):
            return cause
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            return any(isinstance(entry, ast.Starred) for entry in entries)
        case ast.Dict(keys=keys):
            return None in keys
        case ast.Call(func=ast.Name(id="print")):  # a statement then
            return True
    return False


def test_too_old_a_python_is_told_what_it_is_and_what_to_type(module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 6, 15, "final", 0))
    assert module.main(["test", "-x"]) == 1
    said = capsys.readouterr().err
    assert "needs Python 3.11 or newer, and this is Python 3.6." in said
    assert said.splitlines()[-1].strip() in ("python3.13 course.py test -x", "py -3.13 course.py test -x")
    assert not os.path.exists(module.VENV)


@pytest.mark.parametrize("name", ["venv", "ensurepip"])
def test_missing_venv_module_is_told_with_the_package_to_install(module, monkeypatch, capsys, name):
    monkeypatch.setitem(sys.modules, name, None)
    assert module.main([]) == 1
    said = capsys.readouterr().err
    assert f"sudo apt install python{VERSION}-venv" in said
    assert not os.path.exists(module.VENV)


def test_missing_venv_module_does_not_matter_to_uv(course):
    lame = course.tools / "sitecustomize.py"
    lame.write_text("import sys; sys.modules['ensurepip'] = None")
    course.start(PYTHONPATH=str(course.tools))
    assert course.installer_was_asked() == [UV_VENV, UV_INSTALL]


def test_too_small_a_disk_is_told_before_anything_is_made(module, monkeypatch, capsys):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: types.SimpleNamespace(free=5 * 10**6))
    assert module.main([]) == 1
    said = capsys.readouterr().err
    assert re.search(r"not enough space .*: about \d+ MB are needed, 5 MB are free\.", said)
    assert not os.path.exists(module.VENV)


DISK_FULL = [
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    "error: failed to copy file: No space left on device (os error 28)",
    "ERROR: Could not install packages due to an OSError: [Errno 122] Disk quota exceeded",
    "OSError: [WinError 112] There is not enough space on the disk",
]
NO_NETWORK = [
    "WARNING: Retrying (...)) after connection broken by 'NewConnectionError(...)': /numpy/",
    "socket.gaierror: [Errno 11001] getaddrinfo failed",
    "error: Failed to fetch: `https://index.example/simple/numpy/`",
    "ERROR: Could not find a version that satisfies the requirement numpy<3,>=2.1 (from versions: none)",
    "ssl.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
]


@pytest.mark.parametrize("message", DISK_FULL)
def test_disk_that_fills_up_on_the_way_is_told(course, message):
    course.failure.write_text(message)
    said = course.start()
    assert said.returncode == 1
    assert message in said.stderr
    assert "There is not enough space on the disk" in said.stderr


@pytest.mark.parametrize("message", NO_NETWORK)
def test_missing_network_is_told(course, message):
    course.failure.write_text(message)
    said = course.start()
    assert said.returncode == 1
    assert message in said.stderr
    assert "there is no connection to the package index" in said.stderr


def test_other_failures_show_the_installers_last_lines_and_what_to_type(course):
    course.failure.write_text("\n".join(f"line {number}" for number in range(9)))
    said = course.start("test", "-x").stderr
    assert re.findall(r"line \d", said) == [f"line {number}" for number in range(4, 9)]
    assert "delete the folder .venv" in said
    assert said.splitlines()[-1] == "    python3 course.py test -x"


def test_folder_that_cannot_be_written_is_told(module, monkeypatch, capsys):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(module.os, "mkdir", refuse)
    assert module.main([]) == 1
    assert "cannot be made or changed" in capsys.readouterr().err


def test_failed_update_leaves_the_stamp_of_what_is_there(installed):
    before = installed.stamp.read_text()
    installed.ask_for_more("requirements.txt")
    installed.failure.write_text("dns error")
    assert installed.start().returncode == 1
    assert installed.stamp.read_text() == before


def test_pip_without_network_ends_in_one_sentence_and_no_traceback(tmp_path):
    course = Course(tmp_path)
    (course.tools / "uv").unlink()
    said = course.start()
    assert said.returncode == 1
    assert "there is no connection to the package index" in said.stderr
    assert "Traceback" not in said.stderr + said.stdout
    assert json.loads(course.stamp.read_text()) == {"unfinished": True}


def test_uv_that_does_not_run_gives_way_to_pip(course, module):
    assert module.find_uv() == str(course.tools / "uv")
    (course.tools / "uv").write_text("#!/bin/sh\nexit 127\n")
    assert module.find_uv() is None


# ---- the lists ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["requirements.txt", "homework/requirements.txt", "tests/requirements.txt"])
def test_requirements_are_ranges(name):
    lines = [line.split("#")[0].strip() for line in (PROJECT / name).read_text(encoding="utf-8").splitlines()]
    required = [line for line in lines if line and not line.startswith("-r")]
    assert required
    for line in required:
        assert re.fullmatch(r"[A-Za-z-]+>=[\d.]+,<[\d.]+", line), line


def test_test_requirements_begin_with_what_a_learner_needs():
    lines = (PROJECT / "tests/requirements.txt").read_text(encoding="utf-8").splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "-r ../requirements.txt"


def test_project_takes_its_dependencies_from_the_one_list():
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "dependencies" in settings["project"]["dynamic"]
    assert settings["tool"]["setuptools"]["dynamic"]["dependencies"] == {"file": ["requirements.txt"]}


def test_project_and_course_ask_for_the_same_python(module):
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["project"]["requires-python"] == ">={}.{}".format(*module.OLDEST)


def test_version_can_be_read_without_importing_helpers():
    tree = ast.parse((PROJECT / "helpers/__init__.py").read_text(encoding="utf-8"))
    names = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    assert re.fullmatch(r"\d+\.\d+\.\d+", ast.literal_eval(names["__version__"]))


# ---- the whole way, for real --------------------------------------------------------------------------


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url, process, seconds):
    """The answer to a request, asked again until there is one or the program has ended."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            return urllib.request.urlopen(url, timeout=5)
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"no answer from {url}; exit code {process.poll()}")


def stop(process):
    """End a program and all that it started."""
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    for member in family:
        member.terminate()
    for member in psutil.wait_procs(family, timeout=20)[1]:
        member.kill()
    process.wait()


@pytest.mark.slow
def test_bare_copy_installs_and_answers_and_the_second_start_only_starts(tmp_path):
    root = tmp_path / "a course"
    ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in [*SETUP, "LICENSE"]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, root / name)
    for name in ["helpers", "notebooks"]:
        shutil.copytree(PROJECT / name, root / name, ignore=ignore)
    environment = os.environ | {
        f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    command, port = [sys.executable, str(root / "course.py")], free_port()
    options = ["--no-browser", f"--port={port}", "--allow-root", "--IdentityProvider.token=secret"]
    with open(tmp_path / "said.txt", "w") as said:
        process = subprocess.Popen(
            [*command, *options], env=environment, stdout=said, stderr=said, cwd=tmp_path
        )
    try:
        answer = wait_for(f"http://127.0.0.1:{port}/?token=secret", process, seconds=900)
        assert "/lab/tree/notebooks/00_start_here.ipynb" in answer.url
        settings = "lab/api/settings/@jupyterlab/apputils-extension:notification"
        answer = wait_for(f"http://127.0.0.1:{port}/{settings}?token=secret", process, seconds=60)
        assert json.load(answer)["schema"]["properties"]["fetchNews"]["default"] == "false"
    finally:
        print((tmp_path / "said.txt").read_text())
        stop(process)

    python = root / (".venv/Scripts/python.exe" if os.name == "nt" else ".venv/bin/python")
    where = subprocess.check_output(
        [python, "-c", "import helpers; print(helpers.__file__)"], cwd=tmp_path, text=True
    )
    assert Path(where.strip()) == root / "helpers/__init__.py"

    again = subprocess.run(
        [*command, "--version"], check=True, env=environment, capture_output=True, text=True, timeout=60
    )
    assert re.fullmatch(r"4\.\d+\.\d+\S*\s*", again.stdout)  # JupyterLab's, and not a word of installing
