"""The same pictures as an ordinary notebook cell draws them: interact, plt.subplots, plt.show.

Each baseline takes the picture's explorer apart: it calls the same experiments and draws what the
explorer's picture shows with matplotlib's usual calls, anew for each change.
"""

import ipywidgets as widgets
import numpy as np

from helpers import experiments
from helpers.layers import layer_norm


def _plt():
    import matplotlib.pyplot as plt  # only in the kernel that runs the baseline

    return plt


def _layer_bars(ax, values, rival, label, scale="log", theory=None):
    layer = np.arange(len(values))
    ax.bar(layer, values, color="#D55E00")
    ax.plot(layer, rival, ":", lw=2.5, label="for comparison")
    if theory is not None:
        ax.plot(layer, theory, "--", color="k", label="theory")
    ax.set(yscale=scale, xlabel="layer (0 is the input)", ylabel=label)
    ax.grid(axis="y", alpha=0.3)
    ax.legend(loc="upper right")


def gradient_bars(slider_class=widgets.IntSlider, top=64):
    def plot(layers, residual):
        wirings = ("residual", "plain") if residual else ("plain", "residual")
        dh, rival = (
            experiments.gradient_norms(layers, w, activation="tanh", gain=0.8, weights=False).dh
            for w in wirings
        )
        plt = _plt()
        _, ax = plt.subplots(figsize=(8, 3.5), dpi=100)
        _layer_bars(ax, dh, rival, "gradient, |dL/dh|")
        ax.set_title(f"{layers} layers: {100 * dh[0]:.3g} % of the gradient is left")
        plt.show()

    return widgets.interactive(
        plot, layers=slider_class(value=32, min=1, max=top), residual=widgets.Checkbox(value=False)
    )


def drift():
    def plot(layers, gain):
        plain, normalized = (
            experiments.activation_spread(layers, n, gain=gain, width=128) for n in (None, "layer")
        )
        plt = _plt()
        _, (ax, right) = plt.subplots(1, 2, figsize=(8, 3.5), dpi=100, width_ratios=[3, 2])
        _layer_bars(ax, plain.std, normalized.std, "spread σ", theory=gain ** np.arange(layers + 1.0))
        right.plot(plain.mean, "o-", ms=4)
        right.set(xlabel="layer (0 is the input)", ylabel="mean μ")
        right.grid(axis="y", alpha=0.3)
        ax.set_title(f"spread {plain.std[-1]:.3g}, mean {plain.mean[-1]:.3g}")
        plt.show()

    return widgets.interactive(
        plot,
        layers=widgets.IntSlider(value=15, min=1, max=64),
        gain=widgets.FloatSlider(value=1.5, min=0.1, max=3.0, step=0.1),
    )


def layer_norm_steps():
    def plot(gamma, beta):
        x = np.array([2.0, -3.0, 1.0, 4.0])
        y = layer_norm(x, np.full(4, gamma), np.full(4, beta))
        plt = _plt()
        _, (ax, right) = plt.subplots(1, 2, figsize=(8, 3.5), dpi=100, width_ratios=[3, 2])
        ax.bar(np.arange(1, 5), y)
        ax.axhspan(y.mean() - y.std(), y.mean() + y.std(), alpha=0.2)
        ax.axhline(y.mean(), ls="--", label="mean μ")
        ax.axhline(y.mean() + y.std(), ls=":", label="μ ± σ")
        ax.axhline(y.mean() - y.std(), ls=":")
        ax.axhline(0, color="k", lw=0.8)
        ax.set(xlabel="feature", ylabel="value", title=f"mean {y.mean():.4g}, spread {y.std():.4g}")
        ax.grid(axis="y", alpha=0.3)
        ax.legend(loc="upper right")
        for start, end in zip(x, y):
            right.plot([0, 1], [start, end], "o-")
        right.set(xticks=[0, 1], xticklabels=["input", "shown"])
        right.grid(axis="y", alpha=0.3)
        plt.show()

    return widgets.interactive(
        plot,
        gamma=widgets.FloatSlider(value=2.0, min=-3.0, max=3.0, step=0.1),
        beta=widgets.FloatSlider(value=0.5, min=-3.0, max=3.0, step=0.1),
    )
