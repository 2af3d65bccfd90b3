"""Starts the kernel inside the sandbox: sets its limits first, then gives up root.

launch.py CONNECTION_FILE LIMITS, where LIMITS is JSON: {"memory": bytes, ...}, see kernel.py.
"""

import json
import os
import sys


def limit(memory, cpu, file, processes, user):
    """Set the limits of this process and all that it starts, in bytes, seconds and numbers."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    for kind, value in (("AS", memory), ("CPU", cpu), ("FSIZE", file), ("NPROC", processes), ("CORE", 0)):
        if value is not None and hasattr(resource, f"RLIMIT_{kind}"):
            resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (value, value))
    if user is not None:  # for root there is no limit on processes
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def cap(stream, room):
    """Let a stream forget what is written after so many characters: the grader keeps far less."""
    write = stream.write

    def capped(self, text):
        nonlocal room
        room -= len(text)
        return write(self, text) if room > 0 else len(text)

    stream.write = capped


if __name__ == "__main__":
    limit(**json.loads(sys.argv[2]))
    import answering  # noqa: F401  (before any file of the student's could have its name)
    from ipykernel.iostream import OutStream
    from ipykernel.kernelapp import launch_new_instance

    cap(OutStream, 10_000_000)
    options = ["--HistoryManager.hist_file=:memory:", "--IPKernelApp.log_level=CRITICAL"]
    launch_new_instance(argv=["-f", sys.argv[1], *options])
