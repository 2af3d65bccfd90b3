"""Which numbers share their statistics, and what follows from it? Asked of the layers themselves.

All arrays here are (batch, tokens, features). Every norm has gamma = 1 and beta = 0.
"""

import functools

import numpy as np

from .. import layers

# Chosen so that the means of some groups, and one variance, come out even.
NUMBERS = np.array(
    [
        [[9, 5, 9, 6, -2, 9], [9, 2, 9, 7, -2, 5], [5, 4, 8, 9, 8, 3], [-1, 4, 6, 4, 4, 4]],
        [[3, 3, -1, -3, 2, 6], [5, 2, -2, 8, 4, -3], [5, 9, 5, 4, 3, 7], [4, 5, 6, 6, 2, -3]],
    ]
)
FEATURES = NUMBERS.shape[-1]


NORMS: dict[str, tuple] = {  # name: (a fresh layer, are its channels axis 1?)
    "BatchNorm": (lambda: layers.BatchNorm(FEATURES), True),
    "LayerNorm": (lambda: layers.LayerNorm(FEATURES), False),
    "InstanceNorm": (lambda: layers.GroupNorm(FEATURES, groups=FEATURES), True),
    "GroupNorm": (lambda: layers.GroupNorm(FEATURES, groups=2), True),
    "RMSNorm": (lambda: layers.RMSNorm(FEATURES, eps=1e-5), False),
}


class Norm:
    """One of the NORMS by name, for arrays (batch, tokens, features)."""

    def __init__(self, name):
        make, self.channels_first = NORMS[name]
        self.layer = make()

    def __call__(self, x):
        if self.channels_first:
            return np.moveaxis(self.layer(np.moveaxis(x, -1, 1)), 1, -1)
        return self.layer(x)


def _random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@functools.cache
def groups(name: str, shape: tuple = NUMBERS.shape) -> np.ndarray:
    """The number of its group for each entry of an array of this shape, in order of appearance; measured.

    Two entries are of one group when moving one of them changes the output at the other.
    """
    norm, x = Norm(name), _random(*shape)
    still = norm(x)
    changed = np.array([(norm(x + move.reshape(x.shape)) != still).ravel() for move in np.eye(x.size)])
    return np.unique(changed.argmax(axis=0), return_inverse=True)[1].reshape(x.shape)


def normalized(name: str) -> tuple[np.ndarray, float]:
    """What this norm makes of NUMBERS, and its eps."""
    norm = Norm(name)
    return norm(NUMBERS), norm.layer.eps


# ------------------------------------------------------------------------------ what follows from it


def _largest_change(one, other):
    return float(abs(one - other).max())


def neighbour_effect(name: str) -> float:
    """Largest change of an example's output when the other example of the batch is another one."""
    x = _random(2, 4, FEATURES)
    other = np.stack([x[0], 3 + 2 * x[1]])
    return _largest_change(Norm(name)(x)[0], Norm(name)(other)[0])


def future_effect(name: str) -> float:
    """Largest change of the outputs at tokens 1 to 3 when token 4 moves by 10."""
    x = _random(2, 4, FEATURES)
    later = x.copy()
    later[:, 3, :3] += 10
    return _largest_change(Norm(name)(x)[:, :3], Norm(name)(later)[:, :3])


def padding_effect(name: str) -> float:
    """Largest change of the outputs at 4 tokens when 4 tokens of zeros are appended."""
    x = _random(2, 4, FEATURES)
    padded = np.concatenate([x, np.zeros_like(x)], axis=1)
    return _largest_change(Norm(name)(x), Norm(name)(padded)[:, :4])


def alone(name: str) -> float | None:
    """Spread of the output for one example of one token; None where the norm refuses it."""
    try:
        return float(Norm(name)(_random(1, 1, FEATURES)).std())
    except ValueError:
        return None


def evaluation_effect(name: str) -> float:
    """Largest difference between training and evaluation on one batch, after 100 batches of training."""
    norm = Norm(name)
    for seed in range(1, 101):
        norm(_random(2, 4, FEATURES, seed=seed))
    x = _random(2, 4, FEATURES)
    training = norm(x)
    norm.layer.training = False
    return _largest_change(training, norm(x))


def numbers_kept(name: str) -> tuple[int, int]:
    """How many numbers the layer learns, and how many more it keeps."""
    layer = Norm(name).layer
    sizes = {name: value.size for name, value in vars(layer).items() if isinstance(value, np.ndarray)}
    learned = sum(sizes[name] for name in layer.parameters)
    return learned, sum(sizes.values()) - learned
