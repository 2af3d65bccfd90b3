"""Networks in training from inside, remedies, the Jacobian's spectrum, clipping; and the explorers around them."""

import csv
import itertools

import numpy as np
import pytest

from helpers import exercises, experiments, explorers, figures, layers
from helpers.experiments import training, workbench
from helpers.live import Told
from helpers.questions import PREDICTIONS

from .test_explorers import numbers_in
from .test_running import wait_for

X, Y = workbench.spirals()


def trained(depth, *kind, seed=0, lr=0.02, optimizer="sgd", steps=400, **more):
    """The last Progress of a Classifier(depth, *kind)."""
    network = experiments.Classifier(depth, *kind, seed=seed, **more)
    *_, last = experiments.train(
        network, X, Y, lr=lr, optimizer=optimizer, steps=steps, every=steps, seed=seed
    )
    return last


# ------------------------------------------------------------------------------ the networks


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (("residual", None, "learned"), {}),
        (("residual", "dynamic tanh"), {}),
        (("residual", "layer"), {"place": "post"}),
        (("residual", "batch"), {"place": "post", "activation": "gelu"}),
        (("plain", "rms"), {"activation": "tanh", "gain": 0.7}),
    ],
)
def test_the_gradient_of_each_new_kind_is_the_measured_slope(kind, more):
    network = experiments.Classifier(6, *kind, **more)
    for leaf in experiments.leaves(network):
        if isinstance(leaf, layers.Scale):
            leaf.alpha[:] = 0.5  # at 0 nothing of the branch would be seen
    assert max(experiments.gradient_gaps(network, X[:64], Y[:64]).values()) < 1e-6


def test_rezero_begins_as_the_identity():
    network = experiments.Classifier(20, "residual", alpha="learned")
    first, *others, _ = network.stream(X)
    assert all(np.array_equal(h, first) for h in others)


def test_post_norm_gives_every_row_mean_0_and_spread_1():
    h = experiments.Classifier(10, "residual", "layer", place="post").stream(X)[-2]
    np.testing.assert_allclose(h.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(h.std(axis=1), 1, atol=1e-3)


def test_what_cannot_be_built_is_refused():
    with pytest.raises(ValueError, match="place"):
        experiments.Classifier(4, "residual", place="between")


# ------------------------------------------------------------------------------ a look inside


@pytest.mark.parametrize("norm", [None, "layer", "batch"])
def test_a_snapshot_is_what_one_measures_by_hand_and_changes_nothing(norm):
    network = experiments.Classifier(4, norm=norm)
    before = [
        leaf.running_mean
        for leaf in experiments.leaves(network)
        if norm == "batch" and hasattr(leaf, "running_mean")
    ]
    x, y = X[: workbench.LOOK], Y[: workbench.LOOK]
    seen = workbench.snapshot(network, X, Y, None)
    after = [
        leaf.running_mean
        for leaf in experiments.leaves(network)
        if norm == "batch" and hasattr(leaf, "running_mean")
    ]
    assert all(map(np.array_equal, before, after))
    hs = network.stream(x)
    np.testing.assert_allclose(seen.spread, [h.std() for h in hs[:-1]])
    rest = layers.Sequential(*network.layers[1:])
    direction = np.random.default_rng(0).standard_normal(hs[0].shape)
    rest.forward(hs[0])
    dh = rest.backward(training.cross_entropy_backward(hs[-1], y))
    assert seen.gradient[0] == pytest.approx(np.linalg.norm(dh))
    up, down = (training.cross_entropy(rest.forward(hs[0] + s * direction), y) for s in (1e-5, -1e-5))
    assert (dh * direction).sum() == pytest.approx((up - down) / 2e-5, rel=1e-4)


def test_watching_does_not_change_training():
    one, other = (experiments.Classifier(8, "residual", "batch") for _ in range(2))
    *_, last = workbench.watch(one, X, Y, steps=60)
    *_, plain = experiments.train(other, X, Y, steps=60)
    assert last.progress == plain


@pytest.mark.parametrize("lr", [0.001, 0.003, 0.01, 0.02, 0.05, 0.1])
def test_a_run_that_diverges_says_in_which_step_and_where(lr):
    network = experiments.Classifier(40, "residual")
    *_, last = experiments.train(network, X, Y, lr=lr)
    assert last.diverged and last.step < 10 and 0 < last.where < 20
    rows = list(itertools.islice(training.batches(600, 64, np.random.default_rng([0, 1])), last.step))[-1]
    with np.errstate(all="ignore"):
        finite = [bool(np.isfinite(h).all()) for h in network.stream(X[rows])]
    assert finite == [True] * last.where + [False] * (22 - last.where)


def test_a_run_that_goes_well_has_no_such_place():
    assert trained(4, steps=20).where is None


# ------------------------------------------------------------------------------ claims and their conditions


def test_40_plain_layers_are_stuck_at_the_rate_of_the_workbench_in_four_of_five_draws():
    wrong = [100 * trained(40, lr=0.02, seed=seed).error for seed in range(5)]
    chance = 100 * experiments.chance_error(Y)
    assert wrong == pytest.approx([chance, chance, 41.5, chance, chance])


def test_40_plain_layers_learn_with_adam():
    """Whatever the weights and the order of the batches; the notebook says at most 16 %."""
    for seed, order in itertools.product(range(5), (0, 3)):
        network = experiments.Classifier(40, seed=seed)
        *_, last = experiments.train(
            network, X, Y, steps=200, every=200, optimizer="adam", lr=1e-3, seed=order
        )
        assert last.error < 0.16


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_40_plain_layers_learn_with_more_steps(seed):
    assert trained(40, lr=3e-3, steps=3000, seed=seed).error < 0.16


@pytest.mark.parametrize("seed", range(5))
def test_post_norm_needs_a_lower_learning_rate(seed):
    assert trained(40, "residual", "layer", place="post", seed=seed).error > 0.55
    assert trained(40, "residual", "layer", place="post", seed=seed, lr=0.003).error < 0.01


def test_between_them_it_depends_on_the_weights():
    ends = [trained(40, "residual", "layer", place="post", lr=0.01, seed=seed).error for seed in (0, 1)]
    assert ends[0] < 0.01 and ends[1] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("lr", [0.001, 0.003, 0.01, 0.02, 0.05])
def test_pre_norm_learns_at_each_rate_up_to_a_twentieth(lr):
    assert all(trained(40, "residual", "layer", lr=lr, seed=seed).error < 0.005 for seed in range(5))


def test_a_first_loss_far_above_guessing_foretells_it():
    assert experiments.evaluate(experiments.Classifier(40, "residual"), X, Y)[0] > 100
    assert experiments.evaluate(experiments.Classifier(40, "residual", "layer"), X, Y)[0] < 2


# ------------------------------------------------------------------------------ remedies


def test_remedies_in_a_small_network():
    *_, seen = workbench.shoot_out(depth=20, steps=200, every=100)
    assert list(seen) == list(workbench.REMEDIES)
    assert seen["no remedy"].where is not None and seen["no remedy"].step < 20
    assert all(p.error < 0.05 for name, p in seen.items() if name != "no remedy")


def test_at_a_high_rate_dynamic_tanh_is_left_behind():
    assert trained(40, "residual", "dynamic tanh", lr=0.05).error > 0.2


def begun_as_the_identity(seed, lr, norm=None):
    """How training ends, 400 steps at most, when the last matrix of each branch starts at 0."""
    network = experiments.Classifier(40, "residual", norm, seed=seed)
    for block in network.blocks:
        [leaf for leaf in experiments.leaves(block) if isinstance(leaf, layers.Linear)][-1].W[:] = 0
    first, *others, _ = network.stream(X)
    assert all(np.array_equal(h, first) for h in others)
    *_, last = experiments.train(network, X, Y, lr=lr, every=400, seed=seed)
    return last


def test_branches_that_start_at_0_are_no_remedy():
    ends = [begun_as_the_identity(seed, lr=0.05) for seed in range(5)]
    assert all(end.where is not None and 40 < end.step < 200 for end in ends)


@pytest.mark.slow
def test_at_a_lower_rate_some_diverge_after_a_hundred_steps_and_with_a_norm_none():
    ends = [begun_as_the_identity(seed, lr=0.02) for seed in range(5)]
    assert [end.step for end in ends if end.where is not None] == pytest.approx([214, 115], abs=14)
    assert all(end.error < 0.02 for end in ends if end.where is None)
    for lr in (0.02, 0.05):
        ends = [begun_as_the_identity(seed, lr, "layer") for seed in range(5)]
        assert all(end.where is None and end.error < 0.05 for end in ends)


def test_a_remedy_with_nothing_wrong_is_seen():
    picture = figures.ShootOut(["one", "other", "lost"])
    gone = training.Progress(3, np.nan, 1.0, where=2)
    picture.update(
        {"one": training.Progress(400, 0.1, 0.0), "other": training.Progress(400, 1.0, 0.6), "lost": gone}
    )
    assert [list(data) for data in picture.tops.get_data()] == [[0, 1], [0.0, 60.0]]
    assert [list(data) for data in picture.crosses.get_data()] == [[2], [picture.ax.get_ylim()[1]]]


@pytest.mark.slow
def test_remedies_over_five_seeds():
    """In the notebook's own size: all six remedies learn, without one it diverges at once."""
    ends = [list(workbench.shoot_out(seed=seed, every=400))[-1] for seed in range(5)]
    assert all(end["no remedy"].step < 10 for end in ends)
    for name in list(workbench.REMEDIES)[1:]:
        assert np.mean([end[name].error for end in ends]) < 0.002, name
    for name in ("α = 1/√20", "ReZero", "LayerNorm"):  # "without one wrong point", says the quiz
        assert all(end[name].error == 0 for end in ends), name


# ------------------------------------------------------------------------------ the Jacobian


@pytest.mark.parametrize("name", workbench.CHAINS)
def test_the_jacobian_is_the_measured_one(name):
    """Move the input a little along one direction: the output moves as the matrix says."""
    from helpers.experiments import stacks

    depth, seed = 5, 3
    J = workbench.jacobian(name, depth, 16, seed)
    network = stacks.Stack(depth, width=16, seed=seed, **workbench.CHAINS[name])
    if name.endswith("orthogonal"):
        for branch in network.branches:
            branch.layers[0].W = workbench._orthogonal(branch.layers[0].W)
    x = np.random.default_rng([seed, 0]).standard_normal((1, 16))
    v = np.random.default_rng(9).standard_normal(16)
    up, down = (network.forward(x + s * v)[-1][0] for s in (1e-6, -1e-6))
    np.testing.assert_allclose(J @ v, (up - down) / 2e-6, rtol=1e-4, atol=1e-5 * abs(J @ v).max())


def over_seeds(name, depth=32, seeds=10):
    """Geometric means of rms and directions."""
    spectra = [workbench.spectrum(name, depth, seed=seed) for seed in range(seeds)]
    return tuple(np.exp(np.log([getattr(s, of) for s in spectra]).mean()) for of in ("rms", "directions"))


@pytest.mark.parametrize(
    ("name", "rms", "directions"),
    [
        ("plain, linear, orthogonal", 1, 64),
        ("plain, linear", 0.92, 2.4),
        ("plain, ReLU", 0.68, 1.5),
        ("residual", 6.4e4, 2),
        ("residual × 1/√L", 1.63, 21),
        ("pre-norm", 6, 8),
        ("post-norm", 1, 2.1),
    ],
)
def test_what_is_left_after_32_layers(name, rms, directions):
    seen = over_seeds(name)
    assert seen[0] == pytest.approx(rms, rel=0.35 if rms not in (1, 1.63) or name == "post-norm" else 0.05)
    assert seen[1] == pytest.approx(directions, rel=0.35)


def test_an_orthogonal_network_keeps_every_direction_at_any_depth():
    for depth in (1, 64):
        np.testing.assert_allclose(
            workbench.spectrum("plain, linear, orthogonal", depth).values, 1, rtol=1e-10
        )


def test_directions_count_what_they_should():
    assert workbench.Spectrum(np.array([3.0, 3.0, 3.0, 0.0])).directions == pytest.approx(3)
    assert workbench.Spectrum(np.array([5.0, 1e-9])).directions == pytest.approx(1)
    assert workbench.Spectrum(np.array([3.0, 4.0, 0.0, 0.0])).rms == pytest.approx(2.5)


# ------------------------------------------------------------------------------ clipping


def test_one_vector_is_the_network():
    network, twin = (experiments.Classifier(6, "residual", "layer") for _ in range(2))
    net, rows = training.OneVector(network, X, Y), np.arange(64)
    g = net.gradient(net.w.copy(), rows)
    training.train_step(twin, training.SGD(0.1, 0.0), X[rows], Y[rows])
    net.w -= 0.1 * g
    for leaf, other in zip(experiments.leaves(network), experiments.leaves(twin)):
        for name in leaf.parameters:
            np.testing.assert_allclose(getattr(leaf, name), getattr(other, name), rtol=1e-12)


def test_clipping_saves_a_network_that_explodes():
    *_, clipped = workbench.clipped_steps(layers.clip_by_global_norm, layers.sgd_steps)
    *_, free = workbench.clipped_steps(lambda grads, max_norm: grads, layers.sgd_steps)
    assert "within 40 steps the loss is past a million" in PREDICTIONS["clipped_loss"].text
    assert max(seen.loss for seen in free.progress if seen.step <= 40) > 1e6
    assert clipped.progress[-1].error < 0.01 and clipped.progress[-1].loss < 0.01
    assert clipped.lengths.max() <= 1 and len(clipped.lengths) == 400
    cut = clipped.lengths > 0.99
    assert 75 < cut[:90].sum() < 90 and not cut[90:].any()  # most of the first 90 steps
    assert free.progress[2].loss > 1e2 and not free.progress[5].loss < 1e6 and not free.progress[-1].loss < 1


def test_clipping_every_step_is_only_a_smaller_rate():
    ends = {}
    for max_norm in (0.1, np.inf):
        *_, run = workbench.clipped_steps(layers.clip_by_global_norm, layers.sgd_steps, 0.02, max_norm)
        ends[max_norm] = run.progress[-1].loss
    assert ends[np.inf] < 0.1 and ends[0.1] > 5 * ends[np.inf]


def per_tensor(grads, max_norm):
    return [layers.clip_by_global_norm([g], max_norm)[0] for g in grads]


def test_a_wrong_clip_is_seen_beside_the_reference():
    explorer = explorers.clipping(per_tensor, layers.sgd_steps)
    assert explorer.error is None
    loss, reference = (numbers_in(explorer.sentence)[i] for i in (1, 3))
    assert abs(loss - reference) > 0.01 * reference
    longest = float(numbers_in(explorer.sentence.split("steps used:")[1])[0])
    assert longest > 1.5  # each array alone is at most 1, together they are longer


def test_a_loss_that_leaves_the_picture_for_good_ends_with_a_cross():
    picture = figures.Clipping(400)
    gone, back = (
        workbench.ClippedRun(
            [training.Progress(20 * i, loss, 0.5) for i, loss in enumerate(losses)], np.ones(1)
        )
        for losses in ((1.0, 1e3, np.nan, np.nan), (1.0, 1e3, 1.0, 0.5))
    )
    picture.update({"yours": back, "reference": back, "no clipping": gone}, 1.0)
    assert list(picture.end.get_xdata()) == [20]
    assert [len(line.get_xdata()) for line in picture.lines.values()] == [4, 4, 2]


def test_blank_functions_fall_back_to_the_reference_and_wrong_shapes_are_told():
    def sgd_steps(w, grad_fn, batches, lr): ...

    blank = explorers.clipping(None, sgd_steps)
    assert "Your sgd_steps is still blank" in blank.sentence
    said = numbers_in(blank.sentence)
    assert said[1:3] == said[3:5]
    short = explorers.clipping(lambda grads, max_norm: grads[:-1], None)
    assert isinstance(short.error, Told) and "82 arrays" not in str(short.error)
    assert isinstance(explorers.clipping(None, lambda w, g, b, lr: 0.0).error, Told)
    assert isinstance(explorers.clipping(lambda grads, max_norm: None, None).error, Told)


def test_the_exercises_are_what_the_explorer_runs():
    assert exercises.clip_by_global_norm.reference is layers.clip_by_global_norm
    assert exercises.sgd_steps.reference is layers.sgd_steps


# ------------------------------------------------------------------------------ the explorer


@pytest.fixture
def bench():
    return explorers.workbench()


def test_it_opens_on_a_network_before_training(bench):
    assert "before training, loss 1.1" in bench.sentence and bench.done == 1
    assert bench.bar.max == 21


def test_a_run_is_noted_when_it_ends_and_the_same_setting_gives_the_same(bench):
    bench.set(layers=4)
    wait_for(bench)
    first = bench.sentence
    assert "after 400 steps" in first and len(bench.runs.rows) == 1
    bench.reset()
    bench.set(layers=4)
    wait_for(bench)
    assert bench.sentence == first and len(bench.runs.rows) == 1
    assert "4 relu layers" in bench._table.value


def test_divergence_is_said_and_noted(bench):
    bench.set(residual=True)
    assert "nan" not in bench.sentence
    wait_for(bench)
    assert (
        "diverged in step 3: the first number that is not finite came out of block 7 of 20" in bench.sentence
    )
    assert "diverged" in bench._table.value and bench.start_button.disabled


def test_what_all_runs_have_in_common_stands_once(bench):
    runs, setting = bench.runs, bench.values()
    for layers_ in (4, 10):
        runs.add({**setting, "layers": layers_}, [training.Progress(400, 0.1, 0.0)])
    table = runs.html("run")
    assert "all: gain √2, SGD 0.02, weights no. 0" in table
    assert table.count("SGD") == 1 and ">10 relu layers of width 32<" in table


def test_no_run_is_without_words(bench):
    """The parts of a plain network are all in a residual one too: they stand in the head, and leave nothing."""
    for residual in (False, True):
        bench.runs.add({**bench.values(), "residual": residual}, [training.Progress(400, 0.1, 0.0)])
    table = bench.runs.html("run")
    assert ">nothing more<" in table and ">residual, α = 1<" in table


def test_controls_that_do_not_matter_keep_their_room(bench):
    alpha = bench.controls["alpha"].layout
    assert (alpha.visibility, alpha.display) == ("hidden", None)
    bench.set(residual=True)
    assert alpha.visibility == "visible"


def test_moving_a_control_without_training_notes_nothing(bench):
    for layers_ in (4, 10, 20):
        bench.set(layers=layers_)
    assert not bench.runs.rows and bench._table.value == ""


def test_runs_are_sorted_cleared_and_saved(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bench.save()
    assert "No run" in bench.saved.value and not list(tmp_path.iterdir())
    for setting in (
        {"layers": 40, "residual": True},
        {"layers": 4, "residual": False},
        {"layers": 4, "lr": 0.001},
    ):
        bench.set(**setting)
        wait_for(bench)
    assert [row["run"] for row in bench.runs.sorted("run")] == [1, 2, 3]
    by_loss = [row["run"] for row in bench.runs.sorted("loss")]
    assert by_loss == [2, 3, 1]  # the one that diverged comes last
    assert bench.runs.sorted("wrong %")[-1]["run"] == 1
    assert ">–<" in bench._table.value and ">100<" not in bench._table.value  # nothing was measured there
    sentence = bench.sentence
    bench.sort.value = "loss"
    assert bench.sentence == sentence and bench.done > 1  # nothing began again
    bench.save()
    with (tmp_path / "workbench_runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["run"]) for row in rows] == by_loss and rows[0]["layers"] == "4"
    assert rows[2]["loss"] == rows[2]["wrong %"] == "" and float(rows[0]["wrong %"]) < 100
    assert "workbench_runs.csv" in bench.saved.value and "data:text/csv;base64," in bench.saved.value
    bench.clear()
    assert bench._table.value == "" and not bench.runs.rows


def test_a_folder_that_cannot_be_written_still_gives_the_download(bench, monkeypatch):
    bench.set(layers=4)
    bench.step()
    bench.stop()

    def refuse(*_, **__):
        raise PermissionError("read-only")

    monkeypatch.setattr("pathlib.Path.write_text", refuse)
    bench.save()
    assert "Not written" in bench.saved.value and "data:text/csv" in bench.saved.value


def test_the_budget_sets_the_length_of_the_run(bench):
    bench.set(layers=4, budget=1500)
    assert bench.bar.max == 76 and bench.picture.left.get_xlim() == (0, 1500)
    wait_for(bench)
    assert "after 1500 steps" in bench.sentence


def test_closing_lets_go(bench):
    bench.close()
    assert bench.figure is None and not bench.controls
