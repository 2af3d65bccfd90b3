"""A kernel for one submission: in bubblewrap where that is installed, under limits, killed when it hangs."""

import ast
import contextlib
import functools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import zmq
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbformat.v4 import new_output, output_from_msg

from .rebuilding import encodable

COURSE = Path(__file__).parents[1]
INSIDE = Path(__file__).with_name("inside")
MEGABYTE = 2**20
LIMITS = {"memory": 2048 * MEGABYTE, "cpu": 120, "file": 64 * MEGABYTE, "processes": 64, "user": None}
CUT = "... output cut ..."
SORTS = {"text/plain": "text", "image/png": "image", "image/jpeg": "image"}  # what is kept of an output
KEPT = 20_000  # characters of text that a cell may show
PICTURE = 2_000_000  # characters of a picture, or of all pictures of a cell
SHOWN = 3_000_000  # characters of all that a notebook shows
SENT = 50_000_000  # bytes of a message from the kernel; a longer one is not received
WAITING = 20  # messages from the kernel that are kept until they are read
HELD = 3072 * MEGABYTE  # memory that a kernel and all that it started may have together
LOOK = 0.5  # seconds until that is measured again
START = 60  # seconds until a kernel must have started
GRACE = 2  # seconds that a cell has left after it was interrupted, or for its last outputs


class Gone(Exception):
    """The kernel is no more, or had to be killed; says why."""


class NotStarted(RuntimeError):
    """No kernel can be started on this machine: nothing that a student could help."""


def _unshare():
    """What a sandbox has for itself: everything; root needs no users of its own, and could not change to another."""
    root = os.geteuid() == 0
    return [f"--unshare-{what}" for what in (("ipc", "pid", "net", "uts") if root else ("all",))]


@functools.cache
def sandbox():
    """The program bwrap if it is installed and works here, else None."""
    bwrap = shutil.which("bwrap")
    trial = [bwrap, *_unshare(), "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"]
    return bwrap if bwrap and subprocess.run(trial, capture_output=True).returncode == 0 else None


def isolation():
    """One sentence: what a student's code can and cannot reach on this machine."""
    if sandbox():
        return (
            "Students' code runs in bubblewrap: no network, a read-only system, a private folder, limits on memory, "
            "time, files and processes."
        )
    limited = "memory, time and file size are limited" if os.name == "posix" else "not even memory is limited"
    return (
        "NOT ISOLATED: bubblewrap is not installed or does not work here (Linux: apt install bubblewrap). Students' "
        f"code runs as you: it can read and write your files, the gradebook and other submissions too, and use the "
        f"network; {limited}. Grade only submissions that you trust, or on another machine."
    )


class Kernel:
    """One kernel in a folder of its own; a context manager that leaves nothing behind."""

    def __enter__(self):
        self.folder, self.room = Path(tempfile.mkdtemp(prefix="hw")), SHOWN
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self):
        sockets = Path(tempfile.mkdtemp(dir=self.folder))
        posix = os.name == "posix"
        where = {"transport": "ipc", "ip": str(sockets / "k")} if posix else {"ip": "127.0.0.1"}
        file, _ = write_connection_file(str(sockets / "c.json"), key=secrets.token_hex(16).encode(), **where)
        limits = dict(LIMITS)
        if not sandbox():
            limits["processes"] = None  # would count all processes of this user
        elif os.geteuid() == 0:
            limits["user"] = 100_000 + secrets.randbelow(900_000_000)
            for path in (sockets, Path(file)):
                os.chown(path, limits["user"], limits["user"])
        inside = "/inside" if sandbox() else str(INSIDE)
        command = [sys.executable, f"{inside}/launch.py", file, json.dumps(limits)]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*self._walls(sockets), *command],
                cwd=sockets,
                env=self._environment(sockets),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        context = zmq.Context()
        context.setsockopt(zmq.MAXMSGSIZE, SENT)
        context.setsockopt(zmq.RCVHWM, WAITING)
        self.client = BlockingKernelClient(connection_file=file, context=context)
        self.client.load_connection_file()
        self.client.start_channels(stdin=False, hb=False)
        self._wait_until_ready()
        if sandbox():  # all are connected: without its folder, nothing can be left in it
            shutil.rmtree(sockets)

    def _wait_until_ready(self):
        end = time.monotonic() + START
        channels = [self.client.control_channel, self.client.shell_channel]
        while time.monotonic() < end and not self._ended():
            with contextlib.suppress(Exception):  # no answer yet
                for channel in channels:
                    asked = self.client.session.msg("kernel_info_request")
                    channel.send(asked)
                    while channel.get_msg(timeout=0.5)["parent_header"].get("msg_id") != asked["msg_id"]:
                        pass
                self.client.get_iopub_msg(timeout=0.5)  # that it was busy: this one is connected too
                return
        said = (self.folder / "log").read_text("utf-8", "replace").strip() or "no message"
        raise NotStarted(f"the kernel did not start: {said.splitlines()[-1]}")

    def _environment(self, home):
        keep = ("PATH", "LANG", "SYSTEMROOT", "OPENBLAS_NUM_THREADS")
        return {k: os.environ[k] for k in keep if k in os.environ} | {
            "HOME": "/work" if sandbox() else str(home),
            "PYTHONPATH": "/course" if sandbox() else str(COURSE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "COURSE_PROGRESS": "off",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            "IPYTHONDIR": "/tmp/ipython" if sandbox() else str(home / "ipython"),
        }

    def _walls(self, sockets):
        """The command that puts another one into the sandbox, or nothing."""
        if not sandbox():
            return []
        read = [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc/alternatives"]
        read += ["/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"]
        walls = [sandbox(), *_unshare(), "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
        if os.geteuid() == 0:  # launch.py gives it up
            walls += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        walls += ["--proc", "/proc", "--dev", "/dev"]
        for folder in ("/tmp", "/work", "/dev/shm"):
            walls += ["--perms", "1777", "--size", str(256 * MEGABYTE), "--tmpfs", folder]
        read = [path for path in dict.fromkeys(read) if os.path.exists(path)]
        above = {str(folder) for path in [*read, sockets] for folder in Path(path).parents}
        for folder in sorted(
            (above | {"/course"}) - {"/", "/tmp"}
        ):  # else nobody but root could pass through them
            walls += ["--perms", "0755", "--dir", folder]
        for path in read:
            walls += ["--ro-bind", path, path]
        walls += [
            "--ro-bind",
            str(COURSE / "helpers"),
            "/course/helpers",
            "--ro-bind",
            str(INSIDE),
            "/inside",
        ]
        walls += ["--bind", str(sockets), str(sockets), "--remount-ro", "/", "--remount-ro", "/dev"]
        return [*walls, "--chdir", "/work"]

    def kill(self):
        """End the kernel and everything that it started."""
        if client := self.__dict__.pop("client", None):
            client.stop_channels()
            client.context.destroy(linger=0)
        if process := self.__dict__.pop("process", None):
            if os.name == "posix":
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()

    def restart(self):
        """A new kernel in the place of this one."""
        self.kill()
        self._start()

    # -------------------------------------------------------------------------- what is asked of it

    def run(self, code, seconds):
        """Run a cell: its outputs, in the form of a notebook, shortened; Gone when it does not end."""
        outputs, room = [], {"text": KEPT, "image": PICTURE}

        def show(message):
            kind = message["msg_type"]
            if kind == "clear_output":
                outputs.clear()
            elif kind in ("stream", "display_data", "execute_result", "error"):
                with contextlib.suppress(Exception):  # a student's code may send anything
                    _append(outputs, output_from_msg(message), room)

        self._execute(code, seconds, show, silent=False, store_history=True)
        self.room -= len(json.dumps(outputs))
        return outputs if self.room > 0 else [new_output("stream", text=CUT)]

    def ask(self, expression, seconds):
        """The value of an expression that gives a string."""
        reply = self._execute("", seconds, silent=True, user_expressions={"it": expression})
        try:
            return ast.literal_eval(reply["user_expressions"]["it"]["data"]["text/plain"])
        except (KeyError, TypeError, ValueError, SyntaxError):
            raise Gone("no values came back") from None

    def _execute(self, code, seconds, show=lambda message: None, **options):
        asked = self.client.execute(code, allow_stdin=False, stop_on_error=False, **options)
        end, interrupted, reply, idle = time.monotonic() + seconds, False, None, False
        look = time.monotonic() + LOOK
        while not (reply and (idle or options["silent"])):
            for message in self._messages(asked):
                if message["msg_type"] == "execute_reply":
                    reply, end = message["content"], min(end, time.monotonic() + GRACE)
                elif message["msg_type"] == "status":
                    idle = idle or message["content"].get("execution_state") == "idle"
                else:
                    show(message)
            if self._ended() and not (reply and idle):
                raise Gone("ended Python")
            if time.monotonic() > look:
                look = time.monotonic() + LOOK
                if self._held() > HELD:
                    raise Gone("was ended: it used too much memory")
            if time.monotonic() > end:
                if reply:  # a flood of output hides that it is idle
                    break
                if interrupted or options["silent"]:
                    raise Gone(f"did not end within {seconds} s")
                interrupted, end = True, time.monotonic() + GRACE
                self._interrupt()
        if interrupted:
            raise Gone(f"did not end within {seconds} s")
        return reply

    def _ended(self):
        """Has the process ended? It stays a zombie until `kill`: its number must not go to another one before."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def _held(self):
        """Bytes that the kernel and all that it started have in memory."""
        held, found = 0, psutil.Process(self.process.pid)
        for process in [found, *found.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):  # it has ended
                held += process.memory_info().rss
        return held

    def _interrupt(self):
        message = self.client.session.msg("interrupt_request", {})
        self.client.control_channel.send(message)

    def _messages(self, asked):
        """What has arrived for this request, after a short wait."""
        for channel, wait in ((self.client.iopub_channel, 0.05), (self.client.shell_channel, 0)):
            end = time.monotonic() + LOOK
            while time.monotonic() < end:
                try:
                    message = channel.get_msg(timeout=wait)
                except Exception:  # nothing there, or not a message: a student's code may send anything
                    break
                wait = 0
                if message["parent_header"].get("msg_id") == asked and isinstance(message["content"], dict):
                    yield message


def _append(outputs, output, room):
    """Add an output, as much of it as there is room for: text and pictures only; text that goes on is joined."""
    if "data" in output:
        data, output["data"], output["metadata"] = output["data"], {}, {}
        for kind, value in data.items():
            sort = SORTS.get(kind)
            if sort and len(value) <= room[sort]:
                room[sort] -= len(value)
                output["data"][kind] = clean(value)
        output["data"] = output["data"] or {"text/plain": CUT}
    if output["output_type"] == "error":
        output["traceback"] = [clean(line)[:2000] for line in output["traceback"][-20:]]
        output["evalue"], output["ename"] = clean(output["evalue"])[:2000], clean(output["ename"])[:200]
    if output["output_type"] == "stream":
        text, before = output["text"], room["text"]
        room["text"] = max(0, before - len(text))
        output["text"] = clean(text[:before]) + (f"\n{CUT}" if before and len(text) > before else "")
        if not before:
            return
        if outputs and outputs[-1].get("name") == output["name"]:
            outputs[-1]["text"] += output["text"]
            return
    if len(outputs) < 200:
        outputs.append(output)


def clean(text):
    """The text without this machine's folders."""
    text = encodable(text)
    for folder in sorted({sys.prefix, sys.base_prefix, str(COURSE), str(Path.home())}, key=len, reverse=True):
        if len(folder) > 4:
            text = text.replace(folder, "...")
    return text
