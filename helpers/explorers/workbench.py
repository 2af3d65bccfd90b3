"""Explorers of notebook 07: networks of your own choice in training, and what a network does to directions."""

import base64
import csv
import html
import io
from collections.abc import Callable
from pathlib import Path

import ipywidgets as widgets
import numpy as np

from .. import controls, exercises, experiments, figures
from ..experiments import workbench as bench
from ..figures.drawing import table
from ..live import TEXT, Live, Told, show
from ..running import Run
from .learner import about_all, given, shaped

OPTIMIZERS = (("SGD", "sgd"), ("Adam", "adam"))
NORMS = (("none", ""), ("BatchNorm", "batch"), ("LayerNorm", "layer"), ("RMSNorm", "rms"))
GAINS = (("√2", bench.HE), *((f"{gain}", gain) for gain in (0.5, 1.0, 1.2, 2.0)))
ALPHAS = (("1", 1.0), ("1/√blocks", "root"), ("0.1", 0.1), ("learned, from 0 (ReZero)", "learned"))
FILE = Path("workbench_runs.csv")


def in_words(options, value):
    """The words that a menu has for a value."""
    return next(words for words, one in options if one == value)


def parts(layers, width, activation, gain, residual, alpha, norm, place, optimizer, lr, budget, seed):
    """A network and its training in a few words, part by part."""
    return [
        f"{layers} {activation} layers of width {width}",
        f"gain {in_words(GAINS, gain)}",
        *([f"residual, α = {in_words(ALPHAS, alpha)}"] if residual else []),
        *([in_words(NORMS, norm) + (f" ({place})" if residual else "")] if norm else []),
        f"{in_words(OPTIMIZERS, optimizer)} {lr}",
        f"weights no. {seed}",
    ]


def describe(**setting):
    """A network and its training in a few words."""
    return ", ".join(parts(**setting))


def train(layers, width, activation, gain, residual, alpha, norm, place, optimizer, lr, budget, seed):
    """Train the network; yields the list of its Snapshots so far."""
    alpha = (layers / 2) ** -0.5 if alpha == "root" else alpha
    kind = "residual" if residual else "plain"
    how = {"activation": activation, "gain": gain, "place": place, "width": width, "seed": seed}
    network = experiments.Classifier(layers, kind, norm or None, alpha, **how)
    seen: list = []
    for snapshot in bench.watch(
        network, *bench.spirals(), steps=budget, optimizer=optimizer, lr=lr, seed=seed
    ):
        seen = [*seen, snapshot]
        yield seen


class Runs:
    """The runs so far: a table that can be sorted, and saved as a CSV file."""

    HEAD = ("run", "network and training", "steps done", "loss", "wrong %")

    def __init__(self):
        self.clear()

    def add(self, setting, progress):
        """Note how far a run has come; the same setting again takes the place of the old row."""
        key = tuple(setting.items())
        if key not in self.rows:
            self.numbered += 1
        number = self.rows[key]["run"] if key in self.rows else self.numbered
        last = progress[-1]
        wrong = np.nan if last.diverged else 100 * last.error  # without scores nothing is right or wrong
        result = {"steps done": last.step, "loss": last.loss, "wrong %": wrong}
        self.rows[key], self.progress[key] = {"run": number, **setting, **result}, progress

    def clear(self):
        """Forget all runs."""
        self.rows, self.progress, self.numbered = {}, {}, 0  # rows and progress by the setting

    def sorted(self, by):
        """The rows in the order of one of the columns; what is not a number comes last."""
        return sorted(self.rows.values(), key=lambda row: (np.isnan(row[by]), row[by]))

    def earlier(self, setting, most=8):
        """The Progress of the latest runs but the one with this setting."""
        key = tuple(setting.items())
        return [progress for other, progress in self.progress.items() if other != key][-most:]

    def html(self, by):
        """The table as HTML; what all runs have in common stands once, in its head. Nothing when there are none."""
        described = {row["run"]: self._parts(row) for row in self.rows.values()}
        first: list = next(iter(described.values()), [])
        common = [part for part in first if len(described) > 1 and all(part in d for d in described.values())]
        head = list(self.HEAD)
        if common:
            head[1] = f"all: {', '.join(common)}"
        lines = [
            self._line(row, [part for part in described[row["run"]] if part not in common])
            for row in self.sorted(by)
        ]
        return table(head, lines, prose=1) if lines else ""

    def _parts(self, row):
        return parts(**{name: value for name, value in row.items() if name not in self.HEAD})

    @staticmethod
    def _line(row, described):
        loss = figures.words(row["loss"]) if np.isfinite(row["loss"]) else "diverged"
        return [
            str(row["run"]),
            ", ".join(described) or "nothing more",
            str(row["steps done"]),
            loss,
            "–" if np.isnan(row["wrong %"]) else figures.words(row["wrong %"]),
        ]

    def csv(self, by):
        """All columns of all runs as the text of a CSV file; nothing where a run that diverged has no number."""
        rows, text = self.sorted(by), io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if value != value else value for name, value in row.items()})  # NaN: ""
        return text.getvalue()


class Bench(Run):
    """A `Run` whose runs are listed below the picture."""

    def __init__(self, **values):
        self.picture, self.runs = figures.Workbench(), Runs()
        self.sort = controls.choice(
            "sort runs by", *[name for name in Runs.HEAD if name != "network and training"]
        )
        self.sort.observe(lambda _: self.render(), "value")
        self.saved = widgets.HTML()
        super().__init__(
            self.picture.figure,
            self.show,
            train,
            1,  # how many steps there are, `_begin` knows
            1,
            lambda: self.picture.sentence,
            lambda: self.runs.html(self.sort.value),
            **values,
        )

    def _build(self):
        """Between picture and table stands what is done with the list of runs."""
        super()._build()
        clear = widgets.Button(description="Clear the list", layout={"width": "auto"})
        save = widgets.Button(description="Save as CSV", tooltip=f"Writes {FILE}", layout={"width": "auto"})
        clear.on_click(lambda _: self.clear())
        save.on_click(lambda _: self.save())
        row = widgets.HBox([self.sort, clear, save, self.saved], layout={"flex_flow": "row wrap"})
        parts = list(self.box.children)
        parts.insert(parts.index(self._table), row)
        self.box.children = parts

    def _begin(self, values):
        self.steps = self.bar.max = values["budget"] // bench.EVERY + 1
        super()._begin(values)

    def show(self, snapshots):
        """Draw this run, and the earlier ones in grey."""
        setting = self.values()
        return self.picture.update(
            snapshots, describe(**setting), setting["budget"], self.runs.earlier(setting)
        )

    def stop(self):
        """Stop, and note the run."""
        super().stop()
        if self.done > 1:
            self.runs.add(self.begun_with, [snapshot.progress for snapshot in self.state])
            self.render()

    def clear(self):
        """Forget the runs."""
        self.runs.clear()
        self.saved.value = ""
        self.render()

    def save(self):
        """Write the runs beside the notebook, and offer them for download."""
        if not self.runs.rows:
            self.saved.value = f'<span style="{TEXT}">No run has been trained yet: press Start first.</span>'
            return
        text = self.runs.csv(self.sort.value)
        try:
            FILE.write_text(text, encoding="utf-8", newline="")
            told = f"Written to {FILE.resolve()}."
        except OSError as error:
            told = f"Not written ({html.escape(str(error))})."
        data = base64.b64encode(text.encode()).decode()
        link = f'<a style="text-decoration:underline" download="{FILE}" href="data:text/csv;base64,{data}">Download</a>'
        self.saved.value = f'<span role="status" style="{TEXT}">{html.escape(told)} {link}</span>'

    def close(self):
        """Let go of the picture and of the runs as well."""
        super().close()
        del self.picture, self.runs


def workbench() -> Bench:
    """Build a network, train it, look inside while it trains, and compare it with those before."""
    residual = controls.toggle("network", ("Plain", False), ("Residual", True))
    alpha = controls.choice("α of the branches", *ALPHAS)
    place = controls.choice(
        "place of the norm", ("before the branch (pre)", "pre"), ("after the sum (post)", "post")
    )
    controls.only_when(residual, {True: (alpha, place)}, room=True)
    return Bench(
        layers=controls.choice("layers", 40, 4, 10, 20, 100),
        width=controls.choice("width", 32, 16, 64),
        activation=controls.choice("activation", "relu", "tanh", "gelu", "linear"),
        gain=controls.choice("gain", *GAINS),
        residual=residual,
        norm=controls.choice("norm", *NORMS),
        alpha=alpha,
        place=place,
        optimizer=controls.choice("optimizer", *OPTIMIZERS),
        lr=controls.choice("learning rate", 0.02, 0.001, 0.003, 0.01, 0.05, 0.1),
        budget=controls.choice("steps", 400, 200, 1500, 3000),
        seed=controls.whole("random weights no.", 0, 0, 4),
    )


def shoot_out() -> Run:
    """Train a deep residual network with six remedies, and with none, side by side."""
    picture = figures.ShootOut(list(bench.REMEDIES))
    return Run(
        picture.figure,
        picture.update,
        bench.shoot_out,
        bench.STEPS // bench.EVERY,
        1,
        lambda: picture.sentence,
        lr=controls.choice("learning rate", 0.02, 0.005, 0.05),
        seed=controls.whole("random weights no.", 0, 0, 4),
    )


DEPTHS = (1, 2, 4, 8, 16, 32, 64)


def jacobian() -> Live:
    """What does a fresh network do to small changes of its input, direction by direction?"""
    picture = figures.Jacobian(DEPTHS, 64)

    def update(network, depth, seed):
        over_depth = [bench.spectrum(network, one, seed=seed).directions for one in DEPTHS]
        seen = bench.spectrum(network, depth, seed=seed)
        return picture.update(seen, over_depth, figures.capital(network), depth)

    return show(
        picture,
        update,
        network=controls.choice("network", *bench.CHAINS),
        depth=controls.whole("depth", 32, 1, bench.DEEPEST),
        seed=controls.whole("random weights no.", 0, 0, 4),
    )


def _own_clip(clip_by_global_norm):
    exercise = exercises.clip_by_global_norm
    function = given(exercise, clip_by_global_norm)

    def clip(grads, max_norm):
        clipped = [np.asarray(g) for g in function([g.copy() for g in grads], max_norm)]
        if [g.shape for g in clipped] != [g.shape for g in grads]:
            raise Told(
                f"Your {exercise.name} should give {len(grads)} arrays, each shaped like its gradient."
            )
        return clipped

    return clip


def clipping(clip_by_global_norm: Callable | None = None, sgd_steps: Callable | None = None) -> Run:
    """Train a deep residual network without a norm by your two functions; beside it the reference, and no clipping."""
    picture = figures.Clipping(bench.STEPS)
    clip, steps = exercises.clip_by_global_norm, exercises.sgd_steps
    pairs = {
        "yours": (_own_clip(clip_by_global_norm), shaped(steps, sgd_steps)),
        "reference": (clip.reference, steps.reference),
        "no clipping": (lambda grads, max_norm: grads, steps.reference),
    }
    remark = about_all((clip, clip_by_global_norm), (steps, sgd_steps))

    def work(max_norm, lr):
        runs = [bench.clipped_steps(*pair, lr=lr, max_norm=max_norm) for pair in pairs.values()]
        for seen in zip(*runs):
            yield max_norm, dict(zip(pairs, seen))

    return Run(
        picture.figure,
        lambda state: picture.update(state[1], state[0]),
        work,
        bench.STEPS // bench.EVERY,
        1,
        lambda: picture.sentence + remark,
        max_norm=controls.choice("max_norm", 1.0, 0.01, 0.1, 10.0, 100.0),
        lr=controls.choice("learning rate", 0.15, 0.05, 0.02),
    )
