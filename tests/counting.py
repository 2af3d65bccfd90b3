"""What is alive in this process, for tests that nothing is left behind."""

import gc

import ipywidgets
from matplotlib.figure import Figure


def open_widgets():
    """How many widgets are open; ipywidgets 8 and 7 keep them in different places."""
    module = ipywidgets.widgets.widget
    return len(module._instances if hasattr(module, "_instances") else ipywidgets.Widget.widgets)


def alive():
    """How many widgets and figures there are now: (widgets, figures)."""
    gc.collect()
    return open_widgets(), sum(isinstance(thing, Figure) for thing in gc.get_objects())
