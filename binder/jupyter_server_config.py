"""Read by Jupyter's server at its start: nothing may delay the picture that a slider has asked for.

The server sends many small messages. Unless told otherwise, the operating system holds one back until the one
before has been acknowledged, up to 40 ms, which every other change of a slider would wait for.

And JupyterLab changes the page's icon while a kernel is busy. Unless told that the icons stay what they are, the
browser asks the server for one before and one after each change, and the picture waits for its turn.
"""

import os

from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

_open = KernelWebsocketHandler.open


async def _open_without_delay(self, *args, **kwargs):
    self.set_nodelay(True)
    await _open(self, *args, **kwargs)


KernelWebsocketHandler.open = _open_without_delay

base_url = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "/")  # Binder is a JupyterHub
c.ServerApp.static_immutable_cache = [f"{base_url}static/favicons/"]  # noqa: F821, Jupyter defines c
