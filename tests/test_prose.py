"""The numbers in the lessons' text are numbers that the code gives; questions learners ask are answered."""

import inspect
import re

import nbformat
import numpy as np
import pytest

from helpers import exercises, experiments, explorers, layers
from helpers.experiments import batches, sharing, transformer
from helpers.experiments.precision import precision_scan
from helpers.questions import LESSONS as BANK
from helpers.questions import PREDICTIONS, QUIZZES
from helpers.questions.kinds import Prediction

from . import notebooks

LESSONS = [path.stem[:2] for path in notebooks.paths()][1:-1]  # without the start and the glossary
LESSON = np.array([2.0, -3.0, 1.0, 4.0])


def prose(name):
    """The text of a notebook's Markdown cells, or what the bank of questions says, in one string."""
    if name == "questions":
        return "\n".join(map(claims, asked()))
    (path,) = [path for path in notebooks.paths() if path.stem.startswith(name)]
    return "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")


def asked():
    """All predictions and all questions of the quizzes."""
    return [*PREDICTIONS.values(), *(question for quiz in QUIZZES.values() for question in quiz.values())]


def claims(question):
    """What a question says that is meant to be true: the right answer, and all feedback."""
    if isinstance(question, Prediction):
        return question.why
    return "\n".join(words for one in question.options for words in [one.text] * one.right + [one.why])


def toy(depth, slope, residual=True):
    return experiments.toy_gradient_norms(depth, slope, residual)[0]


def first_below(share, factor=0.9):
    """The first layer at which less than this share is left."""
    return int(np.ceil(np.log(share) / np.log(factor)))


def fresh_cosine():
    """Of different points, after the blocks of the plain network that 02 trains."""
    return experiments.mean_cosine(experiments.Classifier(40).stream(experiments.spirals()[0])[-2])


def lesions(**network):
    """Percent of the training points that are wrong, for each block that is deleted."""
    return 100 * np.array(experiments.trained_lesions(**network).without)


def chance():
    """Percent that are wrong when the largest class is guessed."""
    return 100 * experiments.chance_error(experiments.spirals()[1])


def bars(layers):
    """What the plain network of 02's first picture leaves of the gradient."""
    return experiments.gradient_norms(layers, "plain", activation="tanh", gain=0.8).ratio


def two_gradients(wiring, gain):
    return experiments.gradient_norms(32, wiring, activation="relu", gain=gain, branch_layers=2, batch=16)


def small_spread(spread, eps=1e-5):
    x = spread * (LESSON - 1) / np.sqrt(6.5)
    return layers.layer_norm(x, np.ones(4), np.zeros(4), eps).std()


def same_decimals():
    rows = {
        str(layers.layer_norm(LESSON, np.ones(4), np.zeros(4), eps).round(3)) for eps in (1e-5, 1e-6, 1e-12)
    }
    return len(rows) == 1


def five_steps():
    """LayerNorm's way back for the lesson's vector, in numbers."""
    c, g = LESSON - LESSON.mean(), np.array([1.0, 0, 0, 0])
    r, dr = (c**2).mean() ** -0.5, (g * c).sum()
    dv = -0.5 * r**3 * dr
    dc = g * r + dv * 2 * c / 4
    dx = dc - dc.mean()
    np.testing.assert_allclose(dx, layers.layer_norm_backward(g, LESSON, np.ones(4), 0.0)[0])
    listed = (", ".join(f"{v:.3f}" if v else "0" for v in vector) for vector in (dc, dx))
    return "$r = {:.3f}$, $dr = {:.0f}$, $dv = {:.3f}$, $dc = [{}]$, $dx = [{}]$".format(r, dr, dv, *listed)


def weights_gap(mean, var, factor):
    """By how many percent the slopes along the weights differ; 0: this part of dx is forgotten."""

    def backward(dy, x, gamma, eps):
        _, dgamma, dbeta = layers.layer_norm_backward(dy, x, gamma, eps)
        r = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
        g, x_hat = dy * gamma, (x - x.mean(axis=-1, keepdims=True)) * r
        through_var = x_hat * (g * x_hat).mean(axis=-1, keepdims=True)
        dx = g - mean * g.mean(axis=-1, keepdims=True) - var * through_var
        return dx * (r if factor else 1), dgamma, dbeta

    sentence = explorers.train_with(layers.layer_norm, backward).sentence
    return float(re.search(r"weights differ by ([\d.]+) %", sentence)[1])


def one_after_the_other(x):
    return np.cumsum(x)[-1] / np.float32(len(x))


def wrong_by_a_quarter(mean):
    """The share of such vectors whose one-pass variance is, in float32, when this takes the means."""
    found = [mean(x * x) - mean(x) ** 2 for x in map(around_1000, range(200))]
    return np.mean(np.abs(np.array(found) / 0.25 - 1) >= 0.25)


def around_1000(seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(512)
    return (rng.uniform(900, 1100) + 0.5 * (z - z.mean()) / z.std()).astype("float32")


def furthest(ratio):
    return np.abs(ratio - 1).max()


C = sharing.NUMBERS[:, :, 2]  # the letter C of the first picture of 04, and the row of its 9
ROW = sharing.NUMBERS[0, 1]
FOUR = np.array([1.0, 3.0, 5.0, 7.0])


def kept_variance(unbiased):
    return 0.9 * 1 + 0.1 * FOUR.var(ddof=unbiased)


def said_by(explorer, words, **setting):
    """The number after these words (a regular expression) in an explorer's sentence."""
    explorer.set(**setting)
    return float(re.search(words + r" ([\d.]+)", explorer.sentence)[1])


def moves(batch, words="by"):
    return said_by(explorers.neighbour(), f"BatchNorm changed .*? {words}", batch=batch, move=5.0)


def apart(steps, batch):
    return said_by(explorers.train_and_eval(), "evaluation are", steps=steps, batch=batch)


def padded_mean():
    return said_by(explorers.padding(), "come out with mean", mean=3.0)


def grown(*network):
    return batches.gradient_growth(*network)[0]


def at_position(position):
    return batches.position_statistics(8).count[position - 1]


def real_share():
    return batches.padded_sequences(10)[1].mean()


def norm_share(d):
    norm, rest = (experiments.cost.counts(d)[name][0] for name in ("LayerNorm", "feed-forward"))
    return 100 * norm / (norm + rest)


def half(h):
    """A branch that halves what it is given."""
    return h / 2


def plain_norm(h):
    return layers.layer_norm(h, np.ones(4), np.zeros(4))


def depth_slope(place):
    """Of the last gradient over the depth, both logarithmic."""
    gradients = transformer.by_depth(place).dW
    return f"{np.polyfit(np.log(transformer.DEPTHS), np.log(gradients), 1)[0]:+.1f}".replace("-", "−")


def stream_end(depth, scaled):
    factor = layers.residual_init_std(1.0, depth) if scaled else 1.0
    return transformer.stack_rms(layers.pre_norm_stack, depth, factor)[-2]


def added_by_branches():
    """Mean squares of what attention and the feed-forward network add to the stream, averaged over its layers."""
    added = []

    def block(x, f, norm):
        added.append((f(norm(x)) ** 2).mean())
        return layers.pre_norm_block(x, f, norm)

    transformer.stream_squares(block)
    return np.reshape(added, (-1, 2)).mean(axis=0)


def stream_without_norm():
    """Mean square of the stream after 24 layers, in thousand millions."""
    return transformer.stream_squares(lambda x, f, norm: x + f(x))[-1] / 1e9


PRE, POST, BARE = (("pre-norm",), ("post-norm",), ("pre-norm", False))


def at_24(field, kind):
    return getattr(transformer.by_depth(*kind), field)[-1]


def before_training(kind):
    """How spread and gradient change from one end to the other of 40 fresh layers."""
    seen = next(experiments.workbench.watch(experiments.Classifier(40, kind), *experiments.spirals()))
    return seen.spread[-1] / seen.spread[0], seen.gradient[0] / seen.gradient[-1]


def rates():
    """The learning rates that the workbench offers."""
    return [rate for _, rate in explorers.workbench().controls["lr"].options]


def steps_to_divergence(rate):
    """Of 20 residual ReLU blocks without a norm, trained by SGD."""
    network = experiments.Classifier(40, "residual")
    *_, last = experiments.workbench.watch(network, *experiments.spirals(), steps=20, every=20, lr=rate)
    assert not np.isfinite(last.progress.loss)
    return last.progress.step


def wrong_after_200_steps(activation="relu", optimizer="sgd"):
    """Share of points that 20 residual blocks without a norm get wrong, at a rate of 0.003."""
    network, how = (
        experiments.Classifier(40, "residual", activation=activation),
        {"optimizer": optimizer, "lr": 0.003},
    )
    *_, last = experiments.workbench.watch(network, *experiments.spirals(), steps=200, every=200, **how)
    return last.progress.error


def share_of_directions(name):
    return np.mean([experiments.workbench.spectrum(name, 32, seed=seed).directions for seed in range(5)]) / 64


def drawn_networks():
    """Numbers and spreads of the networks that nobody scaled with the smallest and the largest spread after ten
    layers, over all numbers of the slider."""
    spreads = [
        experiments.spread_through(experiments.uniform_matrices(10, seed=n), seed=n).std[-1]
        for n in range(31)
    ]
    low, high = np.argmin(spreads), np.argmax(spreads)
    return low, round(spreads[low], -3), high, round(spreads[high], -3)


def never_found(tokens, features):
    """The share of random tokens that have the largest product with none of 20,000 random queries."""
    rng, found = np.random.default_rng(0), []
    for _ in range(10):
        keys, queries = rng.standard_normal((tokens, features)), rng.standard_normal((20_000, features))
        found.append(len(np.unique((queries @ keys.T).argmax(axis=1))))
    return 1 - np.mean(found) / tokens


def rows_by_rms(x):
    return layers.rms_norm(x, np.ones(x.shape[-1]))


def rows_by_layer_norm(x):
    return layers.layer_norm(x, 1.0, 0.0)


SAID = [  # (notebook, what it says, the same from the code)
    ("00", "$0.9^{50} = 0.00515$", lambda: f"$0.9^{{50}} = {toy(50, 0.9, False):.5f}$"),
    ("01", "$1.1^{50} = 117$", lambda: f"$1.1^{{50}} = {toy(50, 0.1):.0f}$"),
    ("01", "with 100 blocks, 13,781.", lambda: f"with 100 blocks, {toy(100, 0.1):,.0f}."),
    ("01", "makes 2.70, and a slope of −0.01 makes 0.366", lambda: f"makes {toy(100, 0.01):.2f}, and a slope of −0.01 makes {toy(100, -0.01):.3f}"),
    ("01", "$0.9^{50}$, half a percent", lambda: "$0.9^{50}$, half a percent" if round(100 * toy(50, -0.1), 1) == 0.5 else ""),
    ("01", "From a gain of about 2 on, hardly anything changes", lambda: "From a gain of about 2 on, hardly anything changes" if np.ptp([experiments.input_similarity(20, "residual", gain=g)[-1] for g in (2.0, 2.5, 3.0)]) < 0.02 else ""),
    ("01", "98 % of them through 19 to 35", lambda: f"{100 * experiments.path_counts(54)[19:36].sum():.0f} % of them through 19 to 35"),
    ("01", "about 27 branches", lambda: f"about {(experiments.path_counts(54) * np.arange(55)).sum():.0f} branches"),
    ("01", "32 times after 10 blocks, about 1000 times after 20", lambda: f"{2 ** (10 / 2):.0f} times after 10 blocks, about {round(2 ** (20 / 2), -3):.0f} times after 20"),
    ("01", "guessing the largest class gets 62.8 % wrong", lambda: f"guessing the largest class gets {100 * (1 - np.bincount(experiments.spirals()[1]).max() / 600):.1f} % wrong"),
    ("01", "delete any block, and 59 to 77 % of the points are wrong", lambda: "delete any block, and {:.0f} to {:.0f} % of the points are wrong".format(*np.sort(lesions(depth=10))[[0, -1]])),
    ("02", "64 layers leave three times the square of what 32 leave: 2 parts in ten million", lambda: f"64 layers leave {dict([(3, 'three')])[round(bars(64) / bars(32) ** 2)]} times the square of what 32 leave: {1e7 * bars(64):.0f} parts in ten million"),
    ("02", "10 % is left after 22 layers, 1 % after 44", lambda: f"10 % is left after {first_below(0.1)} layers, 1 % after {first_below(0.01)}"),
    ("02", "0.18 times as long as at the last", lambda: f"{before_training('plain')[1]:.2f} times as long as at the last"),
    ("02", "(mean cosine 0.97)", lambda: f"(mean cosine {fresh_cosine():.2f})"),
    ("02", "the same for all points, 62.8 % wrong", lambda: f"the same for all points, {100 * experiments.chance_error(experiments.spirals()[1]):.1f} % wrong"),
    ("02", "grows some thirty-thousandfold toward the input", lambda: "grows some thirty-thousandfold toward the input" if 2.5e4 < np.divide(*two_gradients("residual", 1.4).dh[[0, -2]]) < 3.5e4 else ""),
    ("02", "about the same in all blocks, and tiny in all of them", lambda: "about the same in all blocks, and tiny in all of them" if two_gradients("plain", 1.0).dW.max() < 1e-3 else ""),
    ("03", "$1.5^{15} = 438$", lambda: f"$1.5^{{15}} = {1.5**15:.0f}$"),
    ("03", "$26 / 4 = 6.5$ and the spread $\\sqrt{26 / 4} = 2.5495$", lambda: f"$26 / 4 = {LESSON.var()}$ and the spread $\\sqrt{{26 / 4}} = {LESSON.std():.4f}$"),
    ("03", "the last value is 2.853", lambda: f"the last value is {layers.layer_norm(LESSON, np.full(4, 2.0), np.full(4, 0.5), 1e-6)[3]:.3f}"),
    ("03", "(1.18 instead of 1.1767) you get 2.86", lambda: f"(1.18 instead of {layers.layer_norm(LESSON, np.ones(4), np.zeros(4), 1e-6)[3]:.4f}) you get {2 * 1.18 + 0.5:.2f}"),
    ("03", "of 0.01 comes out as 0.95, of 0.003 as 0.69, of 0.001 as 0.30", lambda: "of 0.01 comes out as {:.2f}, of 0.003 as {:.2f}, of 0.001 as {:.2f}".format(*map(small_spread, (1e-2, 3e-3, 1e-3)))),
    ("03", "**layers** to 64: σ is about 0.001", lambda: f"**layers** to 64: σ is about {0.9**64:.3f}"),
    ("03", "all three give the same three decimals", lambda: "all three give the same three decimals" if same_decimals() else ""),
    ("03", "$r = 0.392$, $dr = 1$, $dv = -0.030$, $dc = [0.377, 0.060, 0, -0.045]$, $dx = [0.279, -0.038, -0.098, -0.143]$", lambda: five_steps()),
    ("03", "differ by 27, 50 and 61 %", lambda: "differ by {:.0f}, {:.0f} and {:.0f} %".format(*(weights_gap(*parts) for parts in ((0, 1, 1), (1, 0, 1), (0, 0, 1))))),
    ("03", "without the factor above it is 45 %", lambda: f"without the factor above it is {weights_gap(1, 1, 0):.0f} %"),
    ("03", "of 200 random vectors with means from 900 to 1100, half or more are wrong by a quarter or more; how many depends on the order", lambda: "of 200 random vectors with means from 900 to 1100, half or more are wrong by a quarter or more; how many depends on the order" if 0.5 < wrong_by_a_quarter(np.mean) < wrong_by_a_quarter(one_after_the_other) - 0.1 else ""),
    ("03", "from 256 on there are no points", lambda: f"from {np.ceil(np.sqrt(float(np.finfo('float16').max))):.0f} on there are no points"),
    ("03", "For 16 features it is 1.033", lambda: f"For 16 features it is {(16 / 15) ** 0.5:.3f}"),
    ("03", "2.94 instead of 2.55", lambda: f"{LESSON.std(ddof=1):.2f} instead of {LESSON.std():.2f}"),
    ("03", "$\\sqrt{4/3} = 1.1547$", lambda: f"$\\sqrt{{4/3}} = {LESSON.std(ddof=1) / LESSON.std():.4f}$"),
    ("03", "$\\sqrt{26} / 4 = 1.27$", lambda: f"$\\sqrt{{26}} / 4 = {26**0.5 / 4:.2f}$"),
    ("03", "To pass 100 there, theory asks for a gain of at least 1.36 (in this network 1.3 gives 49, and 1.4 gives 149); with 1.1, σ is only about 4", lambda: "To pass 100 there, theory asks for a gain of at least {:.2f} (in this network 1.3 gives {:.0f}, and 1.4 gives {:.0f}); with 1.1, σ is only about {:.0f}".format(100 ** (1 / 15), *(experiments.activation_spread(15, gain=g, width=128).std[-1] for g in (1.3, 1.4, 1.1)))),
    ("03", "$\\sqrt{16 / 3} = 2.309$, so theory says 4315 after ten", lambda: f"$\\sqrt{{16 / 3}} = {(16 / 3) ** 0.5:.3f}$, so theory says {(16 / 3) ** 5:.0f} after ten"),
    ("03", "$1/\\sqrt{\\varepsilon} = 316$", lambda: f"$1/\\sqrt{{\\varepsilon}} = {1e-5**-0.5:.0f}$"),
    ("03", "Where $\\sigma^2 = \\varepsilon$ it is 0.71", lambda: f"Where $\\sigma^2 = \\varepsilon$ it is {small_spread(1e-5**0.5):.2f}"),
    ("03", "at σ = 11.3 the sum", lambda: f"at σ = {experiments.precision.overflow_limit('float16', 512):.1f} the sum"),
    ("03", "32 for 64 features, 4 for 4096", lambda: "{:.0f} for 64 features, {:.0f} for 4096".format(*(experiments.precision.overflow_limit("float16", d) for d in (64, 4096)))),
    ("03", "within 2 % of the truth up to a mean of 100,000", lambda: "within 2 % of the truth up to a mean of 100,000" if furthest(precision_scan("float32", 512).welford) < 0.02 else ""),
    ("03", "neighbouring float16 numbers are 1 apart", lambda: f"neighbouring float16 numbers are {np.spacing(np.float16(1024)):.0f} apart"),
    ("03", "the gain of the unscaled one above, 2.309", lambda: f"the gain of the unscaled one above, {(16 / 3) ** 0.5:.3f}"),
    ("03", "(theory: spread 4315)", lambda: f"(theory: spread {(16 / 3) ** 5:.0f})"),
    ("03", "float32 ends at about $3 \\cdot 10^{38}$", lambda: "float32 ends at about ${} \\cdot 10^{{{}}}$".format(*f"{float(np.finfo('float32').max):.0e}".split("e+"))),
    ("03", "of 64 random tokens with 4 features that befalls about half", lambda: "of 64 random tokens with 4 features that befalls about half" if 0.4 < never_found(64, 4) < 0.6 else ""),
    ("03", "is $2^{-24}$, about $6 \\cdot 10^{-8}$", lambda: f"is $2^{{{np.log2(float(np.finfo('float16').smallest_subnormal)):.0f}}}$, about ${2.0**-24 * 1e8:.0f} \\cdot 10^{{-8}}$"),
    ("03", "the same should happen by layer 160", lambda: f"the same should happen by layer {round(24 * np.log(2) / -np.log(0.9), -1):.0f}"),
    ("03", "4.6 after 20 blocks", lambda: f"{experiments.activation_spread(20, 'layer', True, width=256).std[-1]:.1f} after 20 blocks"),
    ("07", "With tanh, or with Adam, they can learn", lambda: "With tanh, or with Adam, they can learn" if wrong_after_200_steps(activation="tanh") < 0.05 and wrong_after_200_steps(optimizer="adam") < 0.05 else ""),
    ("04", "each a random matrix of 64 × 64", lambda: "each a random matrix of {0} × {0}".format(inspect.signature(batches.gradient_growth).parameters["width"].default)),
    ("07", "20 ReLU blocks diverge within a few steps of SGD, at every rate of the workbench", lambda: "20 ReLU blocks diverge within a few steps of SGD, at every rate of the workbench" if max(map(steps_to_divergence, rates())) < 6 else ""),
    ("04", "add up to 40, so their mean is 5", lambda: f"add up to {C.sum()}, so their mean is {C.mean():.0f}"),
    ("04", "from 5 add up to 128, so the variance is 16 and the spread 4. The 9 becomes $(9 - 5) / 4 = 1$", lambda: f"from 5 add up to {((C - 5) ** 2).sum():.0f}, so the variance is {C.var():.0f} and the spread {C.std():.0f}. The {C[0, 1]} becomes $({C[0, 1]} - 5) / 4 = {(C[0, 1] - 5) / 4:.0f}$"),
    ("04", "$(9 - 5) / \\sqrt{15.67} = 1.01$", lambda: f"$({ROW[2]} - {ROW.mean():.0f}) / \\sqrt{{{ROW.var():.2f}}} = {sharing.normalized('LayerNorm')[0][0, 1, 2]:.2f}$"),
    ("04", "$9 / \\sqrt{40.67} = 1.41$", lambda: f"${ROW[2]} / \\sqrt{{{(ROW**2).mean():.2f}}} = {sharing.normalized('RMSNorm')[0][0, 1, 2]:.2f}$"),
    ("04", "is 5, the unbiased one $20 / 3 = 6.667$, so 1.400 or 1.567 is kept", lambda: f"is {FOUR.var():.0f}, the unbiased one $20 / 3 = {FOUR.var(ddof=1):.3f}$, so {kept_variance(0):.3f} or {kept_variance(1):.3f} is kept"),
    ("04", "For a batch of 64 that difference is under 2 percent; for a batch of 2 it is a factor of 2", lambda: f"For a batch of 64 that difference is under {np.ceil(100 * (64 / 63 - 1)):.0f} percent; for a batch of 2 it is a factor of {2 / (2 - 1):.0f}"),
    ("04", "$0.9^{10} = 0.35$, $0.9^{50} = 0.005$", lambda: f"$0.9^{{10}} = {0.9**10:.2f}$, $0.9^{{50}} = {0.9**50:.3f}$"),
    ("04", "with 8, the two modes are 0.30 apart after 50 batches and 0.36 after 100", lambda: f"with 8, the two modes are {apart(50, 8):.2f} apart after 50 batches and {apart(100, 8):.2f} after 100"),
    ("04", "With 64 it is 0.12", lambda: f"With 64 it is {apart(100, 64):.2f}"),
    ("04", "moving example 6 by 5 moves the others by 0.67 on average among 6 examples, by 0.35 among 16", lambda: f"moving example 6 by 5 moves the others by {moves(6):.2f} on average among 6 examples, by {moves(16):.2f} among 16"),
    ("04", "still move by more than 1 (by 1.17 among these 16)", lambda: "still move by more than 1 (by {:.2f} among these 16)".format(moves(16, "up to"))),
    ("04", "0.71 for 2, 0.18 for 32", lambda: f"{2**-0.5:.2f} for 2, {32**-0.5:.2f} for 32"),
    ("04", "87 percent for 2, 48 percent for 8, 25 percent for 32", lambda: "{:.0f} percent for 2, {:.0f} percent for 8, {:.0f} percent for 32".format(*(100 * (2 * b - 1) ** 0.5 / b for b in (2, 8, 32)))),
    ("04", "guessing gets 87.5 percent wrong", lambda: f"guessing gets {100 * (1 - 1 / 8)} percent wrong"),
    ("04", "Of 8 sequences, 4 have a token at position 50, and 1 at position 95", lambda: f"Of 8 sequences, {at_position(50)} have a token at position 50, and {at_position(95)} at position 95"),
    ("04", "Here 48.75 percent of the places", lambda: f"Here {100 * real_share():.2f} percent of the places"),
    ("04", "$\\sqrt{0.4875} = 0.70$, BatchNorm divides by that, and the real tokens come out with a spread of $1 / 0.70 = 1.43$", lambda: f"$\\sqrt{{{real_share():.4f}}} = {real_share() ** 0.5:.2f}$, BatchNorm divides by that, and the real tokens come out with a spread of $1 / 0.70 = {real_share() ** -0.5:.2f}$"),
    ("04", "$\\sqrt{\\pi / (\\pi - 1)} = 1.211$", lambda: f"$\\sqrt{{\\pi / (\\pi - 1)}} = {batches.RELU_BATCH_NORM_GROWTH:.3f}$"),
    ("04", "$\\sqrt{(\\pi - 1)/\\pi} = 0.83$", lambda: f"$\\sqrt{{(\\pi - 1)/\\pi}} = {1 / batches.RELU_BATCH_NORM_GROWTH:.2f}$"),
    ("04", "$1.211^{30} = 313$", lambda: f"$1.211^{{30}} = {batches.RELU_BATCH_NORM_GROWTH**30:.0f}$"),
    ("04", "their mean is 0.93 instead of 0", lambda: f"their mean is {padded_mean():.2f} instead of 0"),
    ("04", "so the picture shows 172 with 128 examples. With 8 examples it is about 7600", lambda: f"so the picture shows {grown():.0f} with 128 examples. With 8 examples it is about {round(grown('batch', 'relu', 8), -2):.0f}"),
    ("04", "within a factor of 2 of what entered", lambda: "within a factor of 2 of what entered" if all(0.5 < grown(norm) < 2 for norm in ("layer", None)) else ""),
    ("04", "BatchNorm gives 10.5, but LayerNorm does no better, 12.1", lambda: f"BatchNorm gives {grown('batch', 'tanh'):.1f}, but LayerNorm does no better, {grown('layer', 'tanh'):.1f}"),
    ("04", "BatchNorm gives 1.1; with 8 examples, 4.9 even so", lambda: f"BatchNorm gives {grown('batch', 'linear'):.1f}; with 8 examples, {grown('batch', 'linear', 8):.1f} even so"),
    ("04", "7.5 instead of 172", lambda: f"{grown('batch', 'relu', 128, True):.1f} instead of {grown():.0f}"),
    ("04", "32 pictures of 8 × 8 positions give each channel 2048 numbers", lambda: f"32 pictures of 8 × 8 positions give each channel {32 * 8 * 8} numbers"),
    ("questions", "64 channels × 100 positions", lambda: f"64 channels × {10 * 10} positions"),
    ("questions", "1600\n16 images × 100 positions", lambda: f"{16 * 10 * 10}\n16 images × {10 * 10} positions"),
    ("05", "$30 / 4 = 7.5$, and its root $\\sqrt{7.5} = 2.7386$", lambda: f"$30 / 4 = {(LESSON**2).mean()}$, and its root $\\sqrt{{7.5}} = {(LESSON**2).mean() ** 0.5:.4f}$"),
    ("05", "a little smaller, 2.5495,", lambda: f"a little smaller, {LESSON.std():.4f},"),
    ("05", "$7.5 - 1^2 = 6.5$", lambda: f"$7.5 - 1^2 = {(LESSON**2).mean() - LESSON.mean() ** 2}$"),
    ("05", "1.19 · 10⁻⁷ in float32", lambda: f"{np.finfo(np.float32).eps * 1e7:.2f} · 10⁻⁷ in float32"),
    ("05", "between 0.96 and 1.03", lambda: "between {:.2f} and {:.2f}".format(*np.sort(layers.rms_norm(LESSON + 100, np.ones(4)))[[0, -1]])),
    ("05", "steps are 0.0078, eight times those of float16", lambda: f"steps are {2.0**-7:.4f}, {dict([(8, 'eight')])[2.0**-7 / np.spacing(np.float16(1))]} times those of float16"),
    ("05", "7 operations against 4, and 12 numbers moved against 7", lambda: "{:.0f} operations against {:.0f}, and {:.0f} numbers moved against {:.0f}".format(*(experiments.cost.counts(512)[name][k] for k in (0, 1) for name in ("LayerNorm", "RMSNorm")))),
    ("05", "share of the *operations* is 0.085 %", lambda: f"share of the *operations* is {norm_share(512):.3f} %"),
    ("05", "at 64 the share is 0.68 %", lambda: f"at 64 the share is {norm_share(64):.2f} %"),
    ("05", "At mean 1000, 12 different values are left", lambda: f"At mean 1000, {PREDICTIONS['kept_values'].value} different values are left"),
    ("05", "\\sqrt{\\pi/(\\pi - 1)} = 1.21$", lambda: f"\\sqrt{{\\pi/(\\pi - 1)}} = {(np.pi / (np.pi - 1)) ** 0.5:.2f}$"),
    ("05", "with ε = 10⁻⁶ comes out as 0.71", lambda: f"with ε = 10⁻⁶ comes out as {layers.rms_norm(np.full(4, 1e-3), np.ones(4), 1e-6)[0]:.2f}"),
    ("05", "its square is beyond the largest number, 65,504", lambda: f"its square is beyond the largest number, {float(np.finfo(np.float16).max):,.0f}"),
    ("06", "The weights are 0.665, 0.245 and 0.090", lambda: "The weights are {:.3f}, {:.3f} and {:.3f}".format(*layers.softmax(np.array([2.0, 1, 0])))),
    ("06", "they are 0.731 and 0.269", lambda: "they are {:.3f} and {:.3f}".format(*layers.softmax(np.array([2.0, 1])))),
    ("06", "the spread was 2.55 and is 3.05 now", lambda: f"the spread was {LESSON.std():.2f} and is {layers.pre_norm_block(LESSON, half, plain_norm).std():.2f} now"),
    ("06", "grows by about 1 a layer", lambda: f"grows by about {(transformer.stream_squares(layers.pre_norm_block)[-1] - 1) / 24:.0f} a layer"),
    ("06", "from layer 17 to 22 this network gains only 1.3", lambda: f"from layer 17 to 22 this network gains only {np.diff(transformer.stream_squares(layers.pre_norm_block)[[17, 22]])[0]:.1f}"),
    ("06", "attention adds 0.75 and the feed-forward network 0.33", lambda: "attention adds {:.2f} and the feed-forward network {:.2f}".format(*added_by_branches())),
    ("06", "the mean square ends at 8 · 10⁹", lambda: f"the mean square ends at {stream_without_norm():.0f} · 10⁹"),
    ("06", "the slopes are about −0.4 and +0.2", lambda: f"the slopes are about {depth_slope('pre-norm')} and {depth_slope('post-norm')}"),
    ("06", "6.4 and 5.3 at 24 layers", lambda: f"{at_24('dW', POST) / at_24('dW', PRE):.1f} and {at_24('rms', PRE):.1f} at 24 layers"),
    ("06", "the loss at 24 layers is 12.0 instead of 4.6", lambda: f"the loss at 24 layers is {at_24('loss', BARE):.1f} instead of {at_24('loss', PRE):.1f}"),
    ("06", "$\\ln 64 = 4.16$", lambda: f"$\\ln 64 = {np.log(64):.2f}$"),
    ("06", "$\\ln 8 = 2.08$", lambda: f"$\\ln 8 = {np.log(8):.2f}$"),
    ("06", "at 24 layers the stream ends at 1.2 instead of 5.1, and at 12 layers at about the same 1.2", lambda: f"at 24 layers the stream ends at {stream_end(24, True):.1f} instead of {stream_end(24, False):.1f}, and at 12 layers at about the same {stream_end(12, True):.1f}"),
    ("06", "$0.02 / \\sqrt{24} = 0.0041$", lambda: f"$0.02 / \\sqrt{{24}} = {layers.residual_init_std(0.02, 12):.4f}$"),
    ("07", "$-\\ln \\tfrac13 = \\ln 3 = 1.0986$", lambda: f"$-\\ln \\tfrac13 = \\ln 3 = {np.log(3):.4f}$"),
    ("07", "0.18 times as long at the first block as at the last", lambda: f"{before_training('plain')[1]:.2f} times as long at the first block as at the last"),
    ("07", "σ has grown 409 times from the first block to the last, the gradient 949 times", lambda: "σ has grown {:.0f} times from the first block to the last, the gradient {:.0f} times".format(*before_training("residual"))),
    ("07", "the length grows by a factor of about 1.6, and a third of the directions", lambda: f"the length grows by a factor of about {experiments.workbench.spectrum('residual × 1/√L', 32).rms:.1f}, and " + ("a third of the directions" if 0.3 < share_of_directions("residual × 1/√L") < 0.37 else "")),
    ("07", "in this one it is 0.82 times as long", lambda: f"in this one it is {experiments.workbench.spectrum('plain, linear', 32).rms:.2f} times as long"),
    ("07", "have a common length of 5. With a limit of 1 the factor is 1/5, and the pieces are left with 0.6 and 0.8", lambda: "have a common length of {:.0f}. With a limit of 1 the factor is 1/5, and the pieces are left with {:.1f} and {:.1f}".format(layers.grad_norms(None, [np.array([3.0]), np.array([4.0])])[1], *(g[0] for g in layers.clip_by_global_norm([np.array([3.0]), np.array([4.0])], 1.0)))),
    ("01", "$y = [2 + 0.3,\\; 1 + 0.1] = [2.3, 1.1]$", lambda: f"$y = [2 + 0.3,\\; 1 + 0.1] = {layers.residual_block(np.array([2.0, 1.0]), lambda x: np.array([0.3, 0.1])).round(9).tolist()}$"),
    ("01", "from about 7 on", lambda: f"from about {np.hypot(2, 1) / np.hypot(0.3, 0.1):.0f} on"),
    ("01", "paths through about 4 branches on average", lambda: f"paths through about {experiments.gradient_by_path_length(54).mean_length:.0f} branches on average"),
    ("01", "now the average is 26.5, about the 27 of all paths", lambda: f"now the average is {experiments.gradient_by_path_length(54, norm=None).mean_length:.1f}, about the {54 / 2:.0f} of all paths"),
    ("01", "after 50 blocks $10^{-15}$ is left", lambda: f"after 50 blocks $10^{{{np.log10(0.5**50):.0f}}}$ is left"),
    ("03", "At gain 1.5, σ is past 100 after 15 layers", lambda: "At gain 1.5, σ is past 100 after 15 layers" if experiments.activation_spread(15, gain=1.5, width=128).std[-1] > 100 else ""),
    ("03", "no. 21 ends near 2000, no. 26 near 11,000", lambda: "no. {} ends near {:.0f}, no. {} near {:,.0f}".format(*drawn_networks())),
    ("03", "The squares add up to $1 + 16 + 0 + 9 = 26$", lambda: f"The squares add up to $1 + 16 + 0 + 9 = {((LESSON - 1) ** 2).sum():.0f}$"),
    ("03", "the smallest divisor is 0.003 inside, and 0.00001 outside", lambda: f"the smallest divisor is {1e-5**0.5:.3f} inside, and {1e-5:.5f} outside"),
    ("03", "the largest number is 65,504", lambda: f"the largest number is {float(np.finfo('float16').max):,.0f}"),
    ("03", "The limit is $\\sqrt{65504 / d}$", lambda: f"The limit is $\\sqrt{{{float(np.finfo('float16').max):.0f} / d}}$"),
    ("03", "(in float32 after about 150)", lambda: f"(in float32 after about {round(-np.log2(float(np.finfo('float32').smallest_subnormal)), -1):.0f})"),
    ("04", "happens to have mean 5 as well, and variance 15.67", lambda: f"happens to have mean {ROW.mean():.0f} as well, and variance {ROW.var():.2f}"),
    ("04", "64 examples on 32 devices are batches of 2", lambda: f"64 examples on 32 devices are batches of {64 // 32}"),
    ("05", "The squares add up to $4 + 9 + 1 + 16 = 30$", lambda: f"The squares add up to $4 + 9 + 1 + 16 = {(LESSON**2).sum():.0f}$"),
    ("05", "float16 has steps of 0.0005 or 0.001", lambda: "float16 has steps of {:.4f} or {:.3f}".format(*(np.spacing(np.float16(one)) for one in (0.99, 1)))),
    ("05", "at a mean of 10,000 float32 itself has steps of 0.001", lambda: f"at a mean of 10,000 float32 itself has steps of {np.spacing(np.float32(10_000)):.3f}"),
    ("05", "at 10,000, two", lambda: f"at 10,000, {['none', 'one', 'two'][len(np.unique(experiments.precision.kept_in_half(rows_by_rms, 10_000.0)[1]))]}"),
    ("05", "one feature of 256 or more", lambda: f"one feature of {np.ceil(float(np.finfo(np.float16).max) ** 0.5):.0f} or more"),
    ("05", "At $w = 0.5$ every bar is 1.5 times as long", lambda: f"At $w = 0.5$ every bar is {layers.rms_norm_offset(np.array([2.0, 1.0]), np.full(2, 0.5))[0] / layers.rms_norm_offset(np.array([2.0, 1.0]), np.zeros(2))[0]:.1f} times as long"),
    ("06", "that made the loss start at 12", lambda: f"that made the loss start at {at_24('loss', BARE):.0f}"),
    ("07", "a loss of 1.10, the price of guessing among three", lambda: f"a loss of {np.log(3):.2f}, the price of guessing among three"),
    ("07", "four of five draws of the weights stay at 62.8 % wrong", lambda: f"four of five draws of the weights stay at {100 * experiments.chance_error(experiments.spirals()[1]):.1f} % wrong"),
    ("glossary", "the largest is 65,504", lambda: f"the largest is {float(np.finfo('float16').max):,.0f}"),
    ("questions", "keep 35 % of the 35 % that reach them: `0.35 * 0.35` is about 0.12", lambda: f"keep 35 % of the 35 % that reach them: `0.35 * 0.35` is about {0.35 * 0.35:.2f}"),
    ("questions", "With 0.9 at each layer 0.00515 is left", lambda: f"With 0.9 at each layer {0.9**50:.5f} is left"),
    ("questions", "a gain of √2 ≈ 1.4 doubles", lambda: f"a gain of √2 ≈ {2**0.5:.1f} doubles"),
    ("questions", "A gain of about 1.4", lambda: f"A gain of about {2**0.5:.1f}"),
    ("questions", "`1.5 ** 30` is 191,751", lambda: f"`1.5 ** 30` is {1.5**30:,.0f}"),
    ("questions", "The first 15 layers make 438, the next 15 multiply by 438 again", lambda: f"The first 15 layers make {1.5**15:.0f}, the next 15 multiply by {1.5**15:.0f} again"),
    ("questions", "multiplies the gradient by about 1.2", lambda: f"multiplies the gradient by about {batches.RELU_BATCH_NORM_GROWTH:.1f}"),
    ("questions", "has steps of about 0.001 or 0.0005", lambda: "has steps of about {:.3f} or {:.4f}".format(*(np.spacing(np.float16(one)) for one in (1, 0.99)))),
    ("questions", "The spread of the outputs is 0.001 too", lambda: f"The spread of the outputs is {1 / np.hypot(1000, 1):.3f} too"),
    ("questions", "keeps more than 3000", lambda: "keeps more than 3000" if len(np.unique(experiments.precision.kept_in_half(rows_by_layer_norm, 1000.0)[1])) > 3000 else ""),
    ("questions", "the spread is past 10,000", lambda: "the spread is past 10,000" if PREDICTIONS["four_corners"].value["The residual connection alone"] > 10_000 else ""),
    ("questions", "until they are past 10,000", lambda: "until they are past 10,000" if PREDICTIONS["four_corners"].value["The residual connection alone"] > 10_000 else ""),
    ("questions", "0.00000001 or less is left", lambda: "0.00000001 or less is left" if PREDICTIONS["four_corners"].value["Neither of the two"] < 1e-8 else ""),
    ("questions", "[1.1, 2.3]", lambda: str(layers.residual_block(np.array([1.0, 2.0]), lambda x: np.array([0.1, 0.3])).round(9).tolist())),
    ("questions", "1.1 · 0.9 is 0.99, not 1", lambda: f"1.1 · 0.9 is {(1 + 0.1) * (1 - 0.1):.2f}, not 1"),
    ("questions", "About 61 % of it is left", lambda: f"About {100 * toy(50, 0.1) * toy(50, -0.1):.0f} % of it is left"),
    ("questions", "1.1 · 0.9 = 0.99, and fifty pairs `0.99 ** 50`, about 0.605", lambda: f"1.1 · 0.9 = {(1 + 0.1) * (1 - 0.1):.2f}, and fifty pairs `0.99 ** 50`, about {toy(50, 0.1) * toy(50, -0.1):.3f}"),
    ("questions", "delete the first or the second, and about as many are wrong as by guessing", lambda: "delete the first or the second, and about as many are wrong as by guessing" if np.allclose(lesions(depth=40, kind="residual", norm="layer")[:2], chance(), atol=5) else ""),
    ("questions", "The squares add up to 409,600, and 65,504 is the largest float16 number", lambda: f"The squares add up to {4096 * 10**2:,}, and {float(np.finfo('float16').max):,.0f} is the largest float16 number"),
    ("questions", "The ratio is √(4/3) = 1.1547", lambda: f"The ratio is √(4/3) = {LESSON.std(ddof=1) / LESSON.std():.4f}"),
    ("questions", "300² is 90,000, beyond 65,504", lambda: f"300² is {300**2:,}, beyond {float(np.finfo('float16').max):,.0f}"),
    ("questions", "if 90,000 were a number of float16. The largest is 65,504", lambda: f"if {300**2:,} were a number of float16. The largest is {float(np.finfo('float16').max):,.0f}"),
    ("questions", "About 12 %", lambda: f"About {100 * 0.9**20:.0f} %"),
    ("questions", "12 %\n", lambda: f"{100 * 0.9**20:.0f} %\n"),
    ("questions", "0.9 to the power 20 is 0.12", lambda: f"0.9 to the power 20 is {0.9**20:.2f}"),
    ("questions", "the spread comes out as 0.71", lambda: f"the spread comes out as {small_spread(1e-5**0.5):.2f}"),
    ("questions", "2.5 and 6", lambda: "{:.1f} and {:.0f}".format(*(g[0] for g in layers.clip_by_global_norm([np.array([5.0]), np.array([12.0])], 6.5)))),
    ("questions", "Together they would still have length 7.04", lambda: f"Together they would still have length {6.5 * np.hypot(5 / 12, 1):.2f}"),
    ("questions", "√(5² + 12²) is 13, and not 17", lambda: f"√(5² + 12²) is {np.hypot(5, 12):.0f}, and not {5 + 12}"),
    ("questions", "0.9 / 0.8 is 1.125", lambda: f"0.9 / 0.8 is {0.9 / 0.8:.3f}"),
    ("questions", "the mean square is 1 + 15 = 16", lambda: f"the mean square is 1 + 15 = {1 + 15}"),
    ("questions", "0.8\nThe mean square", lambda: f"{4 / (3**2 + 4**2) ** 0.5}\nThe mean square"),
    ("questions", "Together they have length 13", lambda: f"Together they have length {np.hypot(5, 12):.0f}"),
    ("questions", "3² + 4² = 25", lambda: f"3² + 4² = {3**2 + 4**2}"),
    ("questions", "keeps the mean, which is 0.6 then", lambda: f"keeps the mean, which is {3 / 25**0.5} then"),
    ("questions", "the mean square is 9 + 16", lambda: f"the mean square is {3**2} + {4**2}"),
    ("questions", "PyTorch: new = 0.95 · old + 0.05 · batch", lambda: f"PyTorch: new = {1 - 0.05} · old + 0.05 · batch"),
    ("questions", "0.95\n", lambda: f"{1 - 0.05}\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "said", "computed"), SAID, ids=[f"{name}: {said[:30]}" for name, said, _ in SAID]
)
def test_a_number_in_the_text_is_the_one_the_code_gives(name, said, computed):
    assert said in prose(name), f"{name} no longer says so: change the line of SAID, or delete it"
    assert computed() == said, f"the code gives other words than {name}: one of the two has to change"


ANSWERED = [  # (what learners ask, notebook, heading, words of the answer)
    ("Why add the skip and not concatenate?", "01", "Add, do not replace", "the width grows at every layer"),
    ("Do ResNets solve vanishing gradients?", "01", "Where the story breaks", "their gradients were healthy, and called it degradation"),
    ("Does the identity path guarantee a gradient of at least 1?", "01", "Where the story breaks", "The gradient is at least 1"),
    ("Do ResNets solve vanishing gradients?", "02", "Where the story breaks", "What their authors saw was degradation"),
    ("Why is .grad of an intermediate variable None?", "02", "Which gradient do you plot?", "PyTorch's `.grad` is `None`"),
    ("Which gradient does a plot show?", "02", "Which gradient do you plot?", "they tell different stories"),
    ("Is it the same trouble as in recurrent networks?", "02", "The question", "each layer has a matrix of its own"),
    ("Why is LayerNorm's std not 1?", "03", "Where the story breaks", "ddof=1"),
    ("Why is LayerNorm off by 1.1547 for four features?", "03", "Where the story breaks", "1.1547"),
    ("How can a network tell [1,2,3,4] from [4,5,6,7] after LayerNorm?", "03", "Where the story breaks", "It cannot. Below, token b is token a"),
    ("What are gamma and beta for?", "03", "Where the story breaks", "let training choose a scale and a mean for each feature"),
    ("Do gamma and beta undo the normalization?", "03", "Where the story breaks", "they do the same to both"),
    ("What if the mean or the size of a token matters?", "03", "Where the story breaks", "keep it on another path"),
    ("Are sqrt(var + eps) and std + eps the same?", "03", "The class, line by line", "The numbers differ too"),
    ("Would dividing by rsqrt be right?", "05", "The class, line by line", "The bug would be to divide by it"),
    ("Do gamma and beta undo LayerNorm?", "04", "Where the story breaks", "In LayerNorm they never can"),
    ("Is LayerNorm free of batch, padding, later tokens and modes?", "04", "Side by side", "Not on a mode"),
    ("Does the identity path guarantee it when slopes are near -1?", "01", "The gradient through", "the branch cancels the shortcut"),
    ("Does a zero factor get a gradient?", "06", "Where the story breaks", "it moves at the first step"),
    ("Do deep plain networks not train at all?", "07", "Where the story breaks", "They train worse **with the same effort**"),
    ("Is pre-norm always better than post-norm?", "07", "Where the story breaks", "at 0.003 both do"),
    ("Why sqrt(var + eps) and not std + eps?", "03", "The class, line by line", "gives NaN for a constant row. With ε inside"),
    ("Why do transformers use LayerNorm and not BatchNorm?", "04", "Side by side", "a token's output depends on that token"),
    ("Does LayerNorm take all tokens and features of a sentence?", "04", "Side by side", "over the **last axis only**"),
    ("Can transformers use BatchNorm at all?", "04", "Side by side", "They can; it works badly by default"),
    ("Is it the different lengths alone?", "04", "Sequences of different length", "it is **incomplete**"),
    ("Is momentum 0.1 or 0.9?", "04", "Conventions: momentum and variance", "PyTorch's 0.1 is their 0.9"),
    ("Do gamma and beta undo BatchNorm?", "04", "Where the story breaks", "could bring back one fixed mean and one fixed spread"),
    ("Does BatchNorm put values in [0, 1]?", "04", "Where the story breaks", "Mean 0 and spread 1 is not a range"),
    ("BatchNorm before or after the activation?", "04", "Where the story breaks", "The paper has BatchNorm before it"),
    ("Does BatchNorm work by reducing internal covariate shift?", "04", "Where the story breaks", "**after** BatchNorm, and the network trained nearly as well"),
    ("RMSNorm multiplies by rsqrt: should it not divide?", "05", "The class, line by line", "multiplying by it **is** dividing by the root"),
    ("Does scale not matter any more after a norm?", "05", "Where the story breaks", "For $a < 0$ the output turns around"),
    ("Pre-norm or post-norm: why does the code not match the paper's figure?", "06", "Two places for the norm", "its authors' code later had pre-norm"),
    ("Is x + norm(f(x)) pre-norm?", "06", "Two places for the norm", "$f(\\text{norm}(x) + x)$ is pre-norm"),
    ("Why start the last matrix of a block at 0? Does it not kill the gradient?", "06", "Where the story breaks", "Two zero factors in a row never move"),
    ("Does True in a mask mean may look or may not?", "06", "Where the story breaks", "In its `nn.MultiheadAttention` `True` means *may not*"),
    ("Do gradients vanish toward the input in post-norm?", "06", "Where the story breaks", "not what these networks show"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "name", "heading", "words"), ANSWERED)
def test_a_question_that_learners_ask_is_answered(question, name, heading, words):
    sections = re.split(r"^#+ ", prose(name), flags=re.M)
    answers = [section for section in sections if section.startswith(heading)]
    assert any(words in answer for answer in answers), f"{question} is not answered under {heading}"


def test_every_lesson_has_the_same_parts():
    for name in LESSONS:
        text = prose(name)
        for part in (
            "**You will**",
            "First choose *Run → Run All Cells*",
            "What to look for",
            "Worked numbers",
            "Where the story breaks",
            "## Test your understanding",
            "## Summary",
            "## References",
            "glossary.ipynb",
        ):
            assert part in text, f"{part} is missing in {name}"


def test_the_words_of_the_glossary_are_in_alphabetical_order():
    terms = re.findall(r"^\*\*([^*]+)\*\*", prose("glossary"), flags=re.M)
    assert len(terms) > 50 and terms == sorted(terms, key=str.casefold)


HEADING = re.compile(r"### Exercise: `(\w+)` \(difficulty (\d) of 5, (\d+) minutes\)")


@pytest.mark.parametrize("name", LESSONS)
def test_an_exercise_is_announced_as_it_is(name):
    announced = HEADING.findall(prose(name))
    assert announced
    for exercise, difficulty, minutes in announced:
        known = exercises.ALL[exercise]
        assert (known.difficulty, known.minutes) == (int(difficulty), int(minutes)), exercise


@pytest.mark.parametrize("name", LESSONS[:-1])  # the last one's museum announces no minutes
def test_the_exercises_take_the_minutes_that_the_lesson_says(name):
    said = int(re.search(r"and (\d+) more for the", prose(name))[1])
    minutes = sum(int(minutes) for *_, minutes in HEADING.findall(prose(name)))
    assert abs(said - minutes) <= 1, f"{name} says {said} minutes for exercises, and they take {minutes}"


def test_every_explorer_is_shown_and_every_exercise_set_in_a_notebook():
    code = "\n".join(path.read_text(encoding="utf-8") for path in notebooks.paths())
    hidden = [name for name in explorers.ALL if f"explorers.{name}(" not in code]
    assert hidden == [], f"shown in no notebook: {hidden}"
    announced = {name for lesson in LESSONS for name, *_ in HEADING.findall(prose(lesson))}
    assert announced == set(exercises.ALL), "each needs its heading: ### Exercise: `name` (difficulty ...)"


def test_every_exercise_of_a_lesson_is_blank_checked_and_explained():
    for name in LESSONS:
        (path,) = [path for path in notebooks.paths() if path.stem.startswith(name)]
        sources = [cell.source for cell in nbformat.read(path, 4).cells]
        for exercise, *_ in HEADING.findall("\n".join(sources)):
            known = exercises.ALL[exercise]
            (stub,) = [source for source in sources if source.startswith(f"def {exercise}(")]
            namespace = {}
            exec(stub, namespace)
            assert known.is_blank(namespace[exercise])
            assert tuple(inspect.signature(namespace[exercise]).parameters) == known.parameters
            assert f"exercises.{exercise}.check({exercise})" in sources


# ------------------------------------------------------------------------------ predictions


def asked_and_near():
    """Each prediction of the notebooks, with what a learner sees before the answer: the cells between the question
    and its reveal, or the one after the reveal where there is none between."""
    found = []
    for path in notebooks.paths():
        cells = nbformat.read(path, 4).cells
        sources = [cell.source for cell in cells]
        for name in PREDICTIONS:
            if f'predict.ask("{name}")' in sources:
                asked, revealed = (sources.index(f'predict.{verb}("{name}")') for verb in ("ask", "reveal"))
                found.append((name, cells[asked + 1 : revealed] or cells[revealed + 1 : revealed + 2]))
    return found


def words_of(cell):
    """A cell's source and what its outputs say."""
    outputs = (output.get("data", output) for output in cell.get("outputs", ()))
    return "\n".join([cell.source, *(output.get("text/plain", output.get("text", "")) for output in outputs)])


@pytest.mark.parametrize(("name", "cells"), asked_and_near())
def test_the_answer_does_not_stand_beside_the_question(name, cells):
    prediction = PREDICTIONS[name]
    seen = "\n".join([prediction.text, *map(words_of, cells)])
    numbers = re.findall(r"\d+\.\d+|\d{2,}", prediction.says(prediction.value))
    read = [number for number in numbers if number in seen]
    assert not numbers or read != numbers, (
        f"{read} is the answer, and it stands in the question or in what is shown before the answer: open the "
        "picture on another setting, or ask about another"
    )


def test_every_prediction_is_asked_in_a_notebook_and_listed_in_that_order():
    for path, lesson in zip(notebooks.paths(), BANK.values()):
        asked = re.findall(r'predict\.ask\(\\"(\w+)\\"\)', path.read_text(encoding="utf-8"))
        assert asked == list(lesson.PREDICTIONS), (
            f"{path.stem}: the notebook's order, then that of PREDICTIONS"
        )
    assert {name for name, _ in asked_and_near()} == set(PREDICTIONS)
