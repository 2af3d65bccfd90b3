"""A kernel of its own, for what has to run in one."""

import json
import os
from pathlib import Path

from jupyter_client.manager import start_new_kernel

ROOT = Path(__file__).parents[1]


class Kernel:
    """A kernel in the course's folder: runs code, or evaluates one expression and hands its value back."""

    def __init__(self, *setup):
        """setup: lines that it runs first."""
        self.setup = ["import json", *setup]

    def __enter__(self):
        with open(os.devnull, "w") as nowhere:
            self.manager, self.client = start_new_kernel(cwd=str(ROOT), stderr=nowhere)
        self.run("\n".join(self.setup))
        return self

    def run(self, code, **options):
        """Run code; returns what it printed. RuntimeError with its traceback where it fails."""
        printed = []

        def hear(message):
            if message["msg_type"] == "stream":
                printed.append(message["content"]["text"])
            if message["msg_type"] == "error":
                raise RuntimeError("\n".join(message["content"]["traceback"]))

        self.client.execute_interactive(code, timeout=900, output_hook=hear, **options)
        return "".join(printed)

    def value(self, expression):
        """The value of an expression that JSON can carry. It is not written into the history, which would be measured too."""
        return json.loads(self.run(f"print(json.dumps({expression}))", store_history=False).splitlines()[-1])

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
