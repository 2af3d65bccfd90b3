"""One function per question, asked of networks that really run: arrays in, small dataclasses out."""

from .stacks import (
    WIRINGS,
    ActivationSpread,
    GradientNorms,
    Stack,
    activation_spread,
    gradient_norms,
    toy_gradient_norms,
)

__all__ = [
    "WIRINGS",
    "ActivationSpread",
    "GradientNorms",
    "Stack",
    "activation_spread",
    "gradient_norms",
    "toy_gradient_norms",
]
