"""The bank of questions: `QUIZZES` and `PREDICTIONS`, by name, one module a notebook; `LESSONS`, the modules.

A module holds the TITLE of its notebook, the names of its EXERCISES, its PREDICTIONS and its QUIZ.
"""

from . import (
    batch_norm,
    gradient_flow,
    layer_norm,
    make_it_train,
    residual_connections,
    rms_norm,
    start_here,
    transformer_block,
)

_NOTEBOOKS = (
    start_here,
    residual_connections,
    gradient_flow,
    layer_norm,
    batch_norm,
    rms_norm,
    transformer_block,
    make_it_train,
)

LESSONS = {notebook.__name__.rpartition(".")[2]: notebook for notebook in _NOTEBOOKS}
QUIZZES = {name: notebook.QUIZ for name, notebook in LESSONS.items()}
PREDICTIONS = {name: one for notebook in _NOTEBOOKS for name, one in notebook.PREDICTIONS.items()}


def find(bank, name, kind):
    """The entry of the bank with this name; ValueError says which names there are."""
    if name not in bank:
        raise ValueError(f"there is no {kind} {name!r}; there is: {', '.join(bank)}")
    return bank[name]
