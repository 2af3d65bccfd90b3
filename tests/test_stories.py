"""Each claim of the lessons, measured over several seeds: what holds, and where the story breaks."""

import numpy as np
import pytest

from helpers import exercises, experiments, explorers, layers
from helpers.explorers.gradients import compete
from helpers.explorers.residual import TRAINED
from helpers.explorers.start import corners

SEEDS = range(5)
FRESH = {"activation": "relu", "gain": 1.0, "branch_layers": 2}


def ratios(depth, wiring, **kind):
    return [experiments.gradient_norms(depth, wiring, seed=seed, **kind).ratio for seed in SEEDS]


@pytest.mark.parametrize(
    ("wiring", "low", "high"),
    [("plain", 1e-8, 6e-8), ("residual", 1.5e4, 4e4), ("plain + norm", 0.3, 3.0), ("pre-norm", 4.5, 6.5)],
)
def test_the_four_corners_of_two_switches(wiring, low, high):
    """At width 64 single networks with LayerNorm alone lie between 0.1 and 4; the others closer together."""
    seen = np.log(ratios(50, wiring, **FRESH))
    assert np.log(low) < seen.mean() < np.log(high)
    assert seen.std() < (1.5 if wiring == "plain + norm" else 0.6)


def test_two_switches_show_what_is_measured():
    explorer = explorers.two_switches()
    for (residual, norm), (name, spread, gradients) in corners().items():
        explorer.set(residual=residual, norm=norm)
        assert explorer.sentence.startswith(f"{name}, 50 blocks")
        assert explorer._table.value.count("◀") == 1
        assert gradients.dh.shape == spread.std.shape == (51,)


def test_the_pictures_of_one_explorer_share_one_scale():
    for name, switches in (("two_switches", ("residual", "norm")), ("paths", ("kind",))):
        explorer, seen = getattr(explorers, name)(), set()
        for switch in switches:
            for _, value in explorer.controls[switch].options:
                explorer.set(**{switch: value})
                seen.add(tuple(ax.get_ylim() for ax in explorer.figure.axes))
        assert len(seen) == 1, name


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 54, 64])
def test_no_length_of_path_is_off_the_scale(depth):
    explorer = explorers.paths()
    for kind in explorer.controls["kind"].options:
        explorer.set(depth=depth, kind=kind[1])
        path = explorer.figure.axes[0].patches[0].get_path()
        assert path.vertices[:, 1].max() < explorer.figure.axes[0].get_ylim()[1]


def test_two_vectors_are_drawn_to_one_scale_and_y_is_seen_beside_f():
    explorer = explorers.add_the_input()
    (ax,) = explorer.figure.axes
    assert ax.get_aspect() == 1
    x, y = ax.transData.transform([(0, 0), (1, 0), (0, 1)])[1:] - ax.transData.transform((0, 0))
    assert x[0] == pytest.approx(y[1])
    ring = next(line for line in ax.lines if line.get_label() == "what comes out, y")
    for residual, end in ((False, (0.9, 0.3)), (True, (2.9, 1.3))):
        explorer.set(residual=residual, size=3.0)
        np.testing.assert_allclose(np.ravel(ring.get_data()), end)
    assert ring.get_markerfacecolor() == "none"


@pytest.mark.parametrize(
    ("setting", "markers"),
    [
        ({"slope": 0.1}, ("o", "s")),
        ({"slope": 2.0, "depth": 100}, ("^", "^")),
        ({"slope": 0.0}, ("o", "v")),
        ({"slope": -1.0}, ("v", "s")),
    ],
)
def test_a_dot_off_the_scale_is_a_triangle_and_the_sentence_says_so(setting, markers):
    explorer = explorers.one_plus_slope()
    explorer.set(**setting)
    dots = [line for line in explorer.figure.axes[0].lines if len(line.get_xdata()) == 1]
    assert tuple(dot.get_marker() for dot in dots) == markers
    assert ("A triangle points to what is off the scale." in explorer.sentence) == bool({*"^v"} & {*markers})


def test_worked_numbers_of_the_first_block():
    explorer = explorers.add_the_input()
    assert "y = [0.3, 0.1]" in explorer.sentence
    explorer.set(residual=True)
    assert "x = [2, 1], f(x) = [0.3, 0.1], y = [2.3, 1.1]" in explorer.sentence


@pytest.mark.parametrize(
    ("slope", "blocks", "expected"),
    [
        (0.1, 50, 117),
        (0.1, 100, 13781),
        (-0.1, 50, 0.00515),
        (0.01, 100, 2.70),
        (-0.01, 100, 0.366),
        (-1.0, 50, 0),
    ],
)
def test_powers_of_one_plus_slope(slope, blocks, expected):
    assert experiments.toy_gradient_norms(blocks, slope, residual=True)[0] == pytest.approx(
        expected, rel=0.005
    )


def test_what_remains_of_a_gradient_that_keeps_nine_tenths():
    kept = experiments.toy_gradient_norms(100, 0.9, residual=False)[::-1]
    for depth, left in ((10, 0.3487), (20, 0.1216), (32, 0.0343), (50, 0.00515), (100, 2.66e-5)):
        assert kept[depth] == pytest.approx(left, rel=0.002)
    assert np.argmax(kept < 0.1) == 22 and np.argmax(kept < 0.01) == 44


def test_a_residual_network_whose_gradient_vanishes():
    """tanh branches with W = -I / 2: about 1 - 1/2 a block while the values are small."""
    x, W = 1e-3 * np.random.default_rng(0).standard_normal((32, 64)), -0.5 * np.eye(64)
    stream = [x]
    for _ in range(50):
        stream.append(layers.residual_block(stream[-1], lambda h: np.tanh(h @ W)))
    gradient = np.ones_like(x)
    for h in reversed(stream[:-1]):
        gradient, _ = layers.residual_backward(gradient, h, W)
    assert 1e-16 < np.abs(gradient).max() < 1e-14


def test_the_same_branches_with_random_weights_make_it_grow():
    grown = np.exp(np.mean(np.log(ratios(50, "residual", gain=1.0))))
    assert grown == pytest.approx(39, rel=0.2)


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_one_plain_layer_forgets_the_input_and_a_residual_stack_fades_slowly(gain):
    plain = np.mean([experiments.input_similarity(20, "plain", gain=gain, seed=s) for s in SEEDS], axis=0)
    residual = np.mean(
        [experiments.input_similarity(20, "residual", gain=gain, seed=s) for s in SEEDS], axis=0
    )
    assert np.abs(plain[1:]).max() < 0.15
    assert residual[1] > 0.6 and residual[20] > 0.15
    assert (np.diff(residual) < 0.02).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_deleting_a_layer_ruins_a_plain_network_and_most_residual_blocks_are_spare(seed):
    plain, residual = (experiments.trained_lesions(seed, **kind) for kind, _ in TRAINED.values())
    chance = experiments.chance_error(experiments.spirals(seed=seed)[1])
    assert plain.base < 0.02 and residual.base < 0.02
    assert plain.without.min() > 0.3 and plain.without.mean() > 0.5
    assert np.median(residual.without) < 0.03 and residual.without.mean() < 0.2
    assert residual.without[0] > 0.4, "the first block is ruinous"
    assert residual.without[-3:].max() < 0.01, "the last ones do nothing"
    assert chance == pytest.approx(0.628, abs=0.05)


def test_only_blocks_that_are_there_can_be_deleted():
    explorer = explorers.delete_a_layer()
    deleted = explorer.controls["deleted"]
    for name, (kind, _) in TRAINED.items():
        explorer.set(name=name)
        assert deleted.max == len(experiments.trained_lesions(**kind).without)
        explorer.set(deleted=deleted.max)
        assert f"block {deleted.max} deleted" in explorer.sentence
    explorer.set(name=next(iter(TRAINED)))
    assert deleted.value == deleted.max == 10 and "block 10 deleted" in explorer.sentence


def test_short_paths_win_only_where_branches_are_kept_small():
    shares = experiments.path_counts(54)
    assert shares[19:36].sum() == pytest.approx(0.98017, abs=1e-5)
    assert shares[5:18].sum() == pytest.approx(0.0045367, abs=1e-7)
    means = {
        name: np.mean([experiments.gradient_by_path_length(54, seed=s, **kind).mean_length for s in range(3)])
        for name, kind in {
            "norm": {},
            "none": {"norm": None},
            "scaled": {"norm": None, "alpha": 54**-0.5},
        }.items()
    }
    assert means["norm"] == pytest.approx(3.75, abs=0.35)
    assert means["none"] == pytest.approx(27.09, abs=0.5)
    assert means["scaled"] == pytest.approx(1.0, abs=0.1)


def test_gradients_of_activations_and_of_weights_tell_different_stories():
    he = {"activation": "relu", "gain": 2**0.5, "branch_layers": 2}
    seen = [experiments.gradient_norms(32, "residual", seed=s, **he) for s in SEEDS]
    assert np.mean([s.dh[0] / s.dh[-2] for s in seen]) > 1e4
    assert all(0.3 < s.dW[0] / s.dW[-1] < 3 for s in seen)


def test_the_gradient_of_the_weights_is_tiny_everywhere_where_that_of_the_activations_vanishes():
    vanishing = experiments.gradient_norms(32, "plain", **FRESH)
    healthy = experiments.gradient_norms(32, "plain", activation="relu", gain=2**0.5, branch_layers=2)
    assert vanishing.dh[0] < 1e-3 * vanishing.dh[-1]
    assert 0.1 < vanishing.dW[0] / vanishing.dW[-1] < 10
    assert vanishing.dW.max() < 1e-2 * healthy.dW.min()


@pytest.mark.parametrize(
    ("depth", "lr", "deep_is_worse"),
    [(40, 0.02, True), (40, 0.01, True), (40, 0.003, False), (10, 0.02, False)],
)
def test_deeper_trains_worse_at_some_rates_and_depths_only(depth, lr, deep_is_worse):
    *_, runs = compete(depth, lr)
    shallow, deep, residual = (runs[name][-1] for name in ("shallow", "deep", "deep residual"))
    assert (deep.loss > shallow.loss) == deep_is_worse
    assert residual.error < 0.02


@pytest.mark.parametrize("depth", [10, 20, 40])
def test_after_plain_relu_layers_all_inputs_look_alike(depth):
    theory = 0.0
    for _ in range(depth):
        theory = experiments.relu_cosine_theory(theory)
    he = {"activation": "relu", "gain": 2**0.5}
    measured = np.mean([experiments.pair_similarity(depth, width=256, seed=s, **he)[-1] for s in SEEDS])
    assert measured == pytest.approx(theory, abs=0.03)


# ------------------------------------------------------------------------------ the learner's functions


def forgot_the_derivative(x, Ws, dout, residual=False):
    """backprop_chain without the slope of tanh."""
    hs = [x]
    for W in Ws:
        hs.append(np.tanh(hs[-1] @ W) + (hs[-1] if residual else 0))
    dhs, dWs = [dout], []
    for W, h in zip(reversed(Ws), reversed(hs[:-1])):
        dWs.append(h.T @ dhs[-1])
        dhs.append(dhs[-1] @ W.T + (dhs[-1] if residual else 0))
    return dhs[::-1], dWs[::-1]


def blank(*arguments):
    """Not written yet."""
    ...


def test_a_right_answer_draws_the_reference_and_a_wrong_one_another_picture():
    right = explorers.your_gradient_bars(layers.backprop_chain, layers.grad_norms)
    wrong = explorers.your_gradient_bars(forgot_the_derivative, layers.grad_norms)
    for residual in (False, True):
        for explorer in (right, wrong):
            explorer.set(residual=residual)
            assert explorer.error is None
        assert bytes(right.image.value) != bytes(wrong.image.value)
    assert exercises.backprop_chain.diagnose(forgot_the_derivative).outcome == "wrong"
    assert right.sentence.endswith("Drawn with your backprop_chain and grad_norms.")


@pytest.mark.parametrize(
    ("explorer", "arguments"),
    [("your_gradient_bars", 2), ("what_is_left", 1), ("gradient_through_blocks", 1), ("add_the_input", 1)],
)
def test_a_blank_function_falls_back_to_the_reference_and_says_so(explorer, arguments):
    shown = getattr(explorers, explorer)(*[blank] * arguments)
    if "residual" in shown.controls:
        shown.set(residual=True)
    assert shown.error is None
    one, several = "is still blank: this is the reference.", "are still blank: these are the references."
    assert shown.sentence.endswith(one if arguments == 1 else several)


def test_an_exception_in_the_learners_function_is_shown_with_its_line():
    def residual_block(x, f):
        return x + f(x)[:, :3]

    shown = explorers.what_is_left(residual_block)
    shown.set(residual=False)  # a picture that does not need it
    shown.set(residual=True)
    assert isinstance(shown.error, ValueError) and "last good one" in shown._alert.value
    assert "in <code>residual_block</code>" in shown._alert.value
    assert "return x + f(x)[:, :3]" in shown._alert.value


def test_a_function_of_another_shape_is_refused_in_words():
    shown = explorers.add_the_input(lambda x, f: np.concatenate([x, f(x)]))
    shown.set(residual=True)
    assert "gave shape (4,) for an input of shape (2,)" in str(shown.error)


@pytest.mark.parametrize(
    ("explorer", "answer", "words"),
    [
        ("what_is_left", lambda x, f: None, "Your residual_block returned None: is its `return` missing?"),
        ("gradient_through_blocks", lambda dy, x, W: dy, "returned one thing; the picture needs 2"),
        (
            "your_gradient_bars",
            lambda x, Ws, dout, residual: ([dout],),
            "returned one thing; the picture needs 2",
        ),
        (
            "your_gradient_bars",
            lambda x, Ws, dout, residual: ([dout], []),
            "1 lengths; with layer 0 there should be 33",
        ),
    ],
)
def test_an_answer_that_cannot_be_drawn_is_explained_without_a_line_of_the_course(explorer, answer, words):
    shown = getattr(explorers, explorer)(answer)
    if "residual" in shown.controls:
        shown.set(residual=True)
    assert words in shown._alert.value
    assert "<code>" not in shown._alert.value


def test_no_gradient_of_the_shattered_is_cut_off():
    explorer = explorers.shattered()
    for network in explorers.gradients.SHATTERED:
        for depth in (1, 16, 24, 50):
            explorer.set(network=network, depth=depth)
            ax = explorer.figure.axes[0]
            assert np.abs(ax.lines[0].get_ydata()).max() <= ax.get_ylim()[1] <= 10


@pytest.mark.parametrize(("name", "sign"), [("survival", " %"), ("two_switches", " =")])
def test_no_line_of_a_sentence_begins_with_a_sign(name, sign):
    explorer = explorers.ALL[name]()
    assert sign in explorer.sentence and sign not in explorer._status.value.split("<span>")[1]


def test_the_table_of_two_switches_does_not_answer_before():
    explorer = explorers.two_switches()
    assert explorer._table.value.count(">?<") == 2 * 3
    explorer.set(residual=True)
    explorer.set(norm=True)
    assert explorer._table.value.count(">?<") == 2
