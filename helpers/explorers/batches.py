"""Explorers of notebook 04: statistics over the batch, and what they depend on."""


def neighbour(batch_norm=None):
    """Move one example of a batch: what happens to the outputs of the others? BatchNorm beside LayerNorm."""


def lengths():
    """Sequences of different length: how many still have a token at a position, how noisy is its mean?"""


def padding(masked_batch_norm=None):
    """Zeros behind the short sequences: counted or masked, what spread do the real tokens come out with?"""


def future():
    """Move one token: which earlier outputs of its sequence change? BatchNorm beside LayerNorm."""


def small_batches():
    """The fewer examples, the noisier mean and variance: what does an output lose?"""


def train_and_eval(batch_norm=None):
    """Running statistics follow the batches: when do training and evaluation give the same?"""


def batch_sizes():
    """Train the same network with batches of 2 to 64 and four normalizations; Start and Stop."""


def batch_norm_at_init():
    """The gradient through freshly made layers with BatchNorm: how much does it grow at each?"""
