"""A picture of something that takes time: Start goes on with it, Stop keeps what is there.

A running cell cannot hear a button. So the work is a generator; a task steps it and lets the kernel listen
in between.
"""

from typing import Any

import ipywidgets as widgets

from .live import Live


class Run(Live):
    """A `Live` whose picture grows while a generator runs.

    work(**values): a generator; what it yields is given to update(state). steps: how often it yields;
    at_once: how many of them are done when the cell runs, so that there is something to see.
    """

    def __init__(self, figure, update, work, steps, at_once, sentence, details=None, **controls):
        self.work, self.steps, self.at_once = work, steps, at_once
        self.running, self.task = False, None
        self.start_button = widgets.Button(description="Start", tooltip="Go on from here")
        self.stop_button = widgets.Button(
            description="Stop", tooltip="Stop and keep what is there", disabled=True
        )
        self.bar = widgets.IntProgress(min=0, max=steps, layout={"width": "12em"})
        self.told = widgets.HTML(layout={"flex": "0 0 8em"})  # in a narrow page the others give way
        self.start_button.on_click(lambda _: self.start())
        self.stop_button.on_click(lambda _: self.stop())
        self.begun_with = None
        super().__init__(figure, lambda **_: update(self.state), sentence, details, **controls)

    def _rows(self):
        buttons = widgets.HBox([self.start_button, self.stop_button, self.bar, self.told])
        rows = [*super()._rows(), buttons]
        if not self.controls and self.at_once >= self.steps:  # it is finished, and nothing can be chosen
            for row in rows:
                row.layout.display = "none"
        return rows

    def _begin(self, values):
        self.generator, self.begun_with = self.work(**values), values
        self.state: Any = None
        self.done = 0
        for _ in range(self.at_once):
            self.step()

    def step(self):
        """Do one step of the work; returns False when there is none left."""
        try:
            self.state = next(self.generator)
        except StopIteration:
            self.done = self.steps
            return False
        self.done += 1
        return True

    def render(self):
        """Begin again if a control has moved, then draw what there is."""
        if self.values() != self.begun_with:
            self.running, self.start_button.disabled, self.told.value = False, True, "begins anew …"
            try:
                self._begin(self.values())
            except Exception as error:
                self.begun_with, self.told.value = None, ""
                self._fail(error)
                return
        super().render()
        self._tell()

    def reset(self):
        """Put the controls back and begin again."""
        self.running, self.begun_with = False, None
        super().reset()

    def start(self):
        """Go on with the work, a step at a time, until it is done or stopped."""
        if not self.running and self.done < self.steps:
            self.running = True
            self._tell()
            import asyncio  # a kernel has it; for all who do not press Start it would be a slow import

            if self.task:  # stopped, but it may not have noticed yet
                self.task.cancel()
            self.task = asyncio.get_running_loop().create_task(self._go_on())

    async def _go_on(self):
        import asyncio

        try:
            while self.running and self.step():
                self.render()
                await asyncio.sleep(0.005)  # here the kernel hears Stop
        except Exception as error:
            self._fail(error)
        self.stop()

    def stop(self):
        """Stop after the step that is being done; what there is stays."""
        self.running = False
        self._tell()

    def _tell(self):
        off = {self.start_button: self.running or self.done >= self.steps, self.stop_button: not self.running}
        for button in sorted(
            off, key=lambda button: off[button]
        ):  # first the one that takes the other's focus
            button.disabled = off[button]
        self.bar.value = self.done
        far = f"{100 * self.done // self.steps} % done" if self.done > self.at_once else "press Start"
        self.told.value = "done" if self.done >= self.steps else far

    def close(self):
        """End the work too, and let go of it."""
        self.running = False
        if self.task:
            self.task.cancel()
        super().close()
        self.work = self.generator = self.state = None
