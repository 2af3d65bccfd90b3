"""Read by Jupyter's server at its start: a picture must not wait until the message before it is acknowledged.

The server sends many small messages. Unless told otherwise, the operating system holds one back until the one
before has been acknowledged, up to 40 ms, which every other change of a slider would wait for.
"""

from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

_open = KernelWebsocketHandler.open


async def _open_without_delay(self, *args, **kwargs):
    self.set_nodelay(True)
    await _open(self, *args, **kwargs)


KernelWebsocketHandler.open = _open_without_delay
