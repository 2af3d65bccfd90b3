"""Formulas as text, so that what is tried and what is shown to the learner are the same thing."""

from functools import lru_cache

import numpy as np


@lru_cache(4096)  # not all: fitting writes many numbers into formulas
def _compiled(formula):
    return compile(formula, "formula", "eval")


def evaluate(formula, **names):
    """The value of a formula of this package (never of a learner) with these names."""
    return eval(_compiled(formula), {"np": np, **names})
