"""What lies in a run's folder, as objects."""
from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import references
from .errors import ConfigError, DataError

if TYPE_CHECKING:
    import numpy
    import torch


@dataclass(frozen=True)
class Parameter:
    """One row of a run's table, in the parameter's unit. None: not known."""
    name: str
    value: float
    error: float | None = None  # of `value`
    unit: str = ""
    error_below: float | None = None  # the two sides of 68 % where they differ
    error_above: float | None = None
    lower_limit: float | None = None  # one-sided, 95 %
    upper_limit: float | None = None
    truth: float | None = None
    fixed: bool = False
    open: bool = False  # the data do not fix it
    spread: float | None = field(default=None, repr=False)  # over noise vectors of a generator: no error

    @property
    def pull(self) -> float | None:
        """(value - truth) / error, of the truth's side."""
        if self.truth is None or self.fixed:
            return None
        side = self.error_below if self.value > self.truth else self.error_above
        error = self.error if side is None else side
        return (self.value - self.truth) / error if error else None

    def __str__(self) -> str:
        error = "" if self.error is None else f" +- {self.error:.2g}"
        return f"{self.name} = {self.value:.6g}{error}{' ' + self.unit if self.unit else ''}"


def _panels(axes, count, width, height):
    """A list of matplotlib's axes: those that were given, or so many of a new figure."""
    if axes is None:
        from matplotlib import pyplot
        axes = pyplot.subplots(1, count, figsize=(width * count, height), squeeze=False, layout="constrained")[1]
    axes = list(getattr(axes, "flat", axes)) if hasattr(axes, "__len__") else [axes]
    if len(axes) < count:
        raise ConfigError(f"axes has {len(axes)}, and there are {count} panels to draw.")
    return axes


class Run:
    """A run or study: what lies in its folder, read when it is asked for. `repr` and a notebook show its parameters."""

    def __init__(self, folder: str | os.PathLike[str], said: dict[str, Any] | None = None) -> None:
        self.folder = os.path.abspath(os.fspath(folder))
        self.tables = (said or {}).get("tables", "")  # of a study, for a person
        self._said: list[str] = (said or {}).get("warnings", [])
        if not os.path.isdir(self.folder):
            raise DataError(f"{self.folder}: there is no such run folder.")
        if not any(os.path.exists(self.file(name)) for name in ("config.yaml", "results.json", "status.json")):
            raise DataError(f"{self.folder}: is no run folder (it has no config.yaml).")

    def file(self, name: str) -> str:
        """The path of one of its files: `run.file("report.html")`."""
        return os.path.join(self.folder, name)

    def _json(self, name: str) -> dict[str, Any]:
        if not os.path.exists(self.file(name)):
            return {}
        with open(self.file(name)) as file:
            return json.load(file)

    @property
    def results(self) -> dict[str, Any]:
        """results.json as it is; {}: there is none yet."""
        return self._json("results.json")

    @property
    def complete(self) -> bool:
        """False: it was stopped; the same call goes on."""
        results = self.results
        if results:
            return bool(results.get("complete", False))
        status = self._json("status.json")  # of a study; a comparison has none
        return status.get("status") == "finished" if status else os.path.exists(self.file("compare.csv"))

    @property
    def warnings(self) -> list[str]:
        """What the run warned of, a text each; a study that has just ended also says what it went on without."""
        written = [one["text"] for one in self.results.get("warnings", [])]
        return written + [one for one in self._said if one not in written]

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Each by its name, fixed ones too; {}: a learning problem has none."""
        rows = self.results.get("parameters", [])
        for row in rows:  # of `fit`, whose values they are
            if row.get("error") is None and row.get("fit_value") == row["recovered"]:
                row["error"] = row.get("fit_error")
        known = {"lower_limit", "upper_limit", "error", "error_below", "error_above", "unit", "truth", "fixed", "open",
                 "spread"}
        return {row["name"]: Parameter(row["name"], row["recovered"],
                                       **{key: row[key] for key in known if row.get(key) is not None})
                for row in rows}

    @property
    def values(self) -> dict[str, float]:
        """Values of the parameters by name, in their units."""
        return {name: one.value for name, one in self.parameters.items()}

    @property
    def errors(self) -> dict[str, float | None]:
        """Errors of the parameters by name, in their units; None: not known."""
        return {name: one.error for name, one in self.parameters.items()}

    @property
    def covariance(self) -> numpy.ndarray[Any, Any] | None:
        """Of the free parameters in their units, [free, free]; None: no errors are stated."""
        import numpy
        path = self.file("covariance.npy")
        return numpy.load(path) if os.path.exists(path) else None

    @property
    def samples(self) -> numpy.ndarray[Any, Any] | None:
        """Proposals of a generator, or of all members of an ensemble, [samples, parameters] in the parameters' units;
        None: there are none."""
        import numpy
        for name in ("ensemble_samples.npy", "generator_samples.npy"):
            if os.path.exists(self.file(name)):
                return numpy.load(self.file(name))
        return None

    @property
    def modes(self) -> list[dict[str, float]]:
        """Every solution that the data allow, the best first, each as values by name."""
        names = list(self.parameters)
        return [self.values] + [dict(zip(names, other["values"])) for other in self.results.get("others", [])]

    @property
    def metrics(self) -> dict[str, float | None]:
        """Numbers of the end, by name: losses, distances, accuracies. None: it has no value, as a precision without
        anything that was found."""
        numbers = self.results.get("numbers", {})
        return dict(numbers) if isinstance(numbers, dict) else {one["name"]: one["value"] for one in numbers}

    @property
    def history(self) -> list[dict[str, Any]]:
        """What was said of each evaluation, as rows of metrics.jsonl, each with its "event"."""
        path = self.file("metrics.jsonl")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    @property
    def best(self) -> dict[str, Any]:
        """Of a search: the settings of its best trial, by name; {}: none has come to its end."""
        settings = (one.partition("=") for one in self._json("best.json").get("settings", []))
        return {name: references.value_of(value) for name, _, value in settings}

    def network(self, which: str = "best") -> torch.nn.Module:
        """The trained networks of a learning problem as a torch.nn.Module that gives of rows what `sagips.predict`
        does. which: "best" or "last" evaluation. Where the network is one that was written in Python, `.module` is
        that one, with its trained weights."""
        from .networks import Trained
        if which not in ("best", "last"):
            raise ConfigError(f"which is {which!r}. Give \"best\" or \"last\".")
        if self.parameters:
            raise DataError(f"{self.folder}: its generator proposes parameters. Take run.samples, or sagips.predict.")
        return Trained(self.folder, which)

    def table(self, name: str) -> list[dict[str, str]]:
        """One of its CSV files as rows, each by the names of its columns: `run.table("closure.csv")`."""
        if not os.path.exists(self.file(name)):
            raise DataError(f"{self.folder}: has no {name}, but {', '.join(sorted(os.listdir(self.folder)))}.")
        with open(self.file(name)) as file:
            return list(csv.DictReader(file))

    def to_frame(self) -> Any:
        """The parameters as a pandas table, one a row."""
        import pandas
        rows = [vars(one) for one in self.parameters.values()]
        frame = pandas.DataFrame(rows)
        return frame.set_index("name") if rows else frame

    def to_arviz(self) -> Any:
        """Proposals of the generator, or of the Gaussian that the errors state, as arviz has posteriors."""
        import arviz
        import numpy
        names = [name for name, one in self.parameters.items() if not one.fixed]
        samples = self.samples
        if samples is not None:
            samples = samples[:, [list(self.parameters).index(name) for name in names]]
        elif self.covariance is not None:
            samples = numpy.random.default_rng(0).multivariate_normal(
                [self.values[name] for name in names], self.covariance, 4000)
        else:
            raise DataError(f"{self.folder}: has neither proposals nor errors.")
        return arviz.from_dict(posterior={name: samples[None, :, i] for i, name in enumerate(names)})

    def plot(self, axes: Any = None) -> Any:
        """Draws values with errors, and truths where they are known, a panel each; without parameters the metrics over
        epochs. axes: of matplotlib, one a panel; None: a new figure. Returns the axes."""
        rows = [one for one in self.parameters.values() if not one.fixed]
        if not rows:
            return self._plot_history(axes)
        axes = _panels(axes, len(rows), 2.2, 2.6)
        for place, one in zip(axes, rows):
            below, above = (side if side is not None else one.error for side in (one.error_below, one.error_above))
            bars = [[below], [above]] if below is not None else None
            place.errorbar([0], [one.value], yerr=bars, fmt="o", color="#1f77b4", capsize=4)
            if one.truth is not None:
                place.axhline(one.truth, color="#d62728", linewidth=1, label="true")
            place.set_xticks([])
            place.set_xlim(-1, 1)
            place.set_title(one.name)
            place.set_ylabel(one.unit)
        if any(one.truth is not None for one in rows):
            axes[0].legend(frameon=False, fontsize="small")
        return axes

    def _plot_history(self, axes):
        """A panel for each metric; those of single classes or conditions ("area_under_curve/top") are left out."""
        rows = [row for row in self.history if row.get("event") == "evaluated"]
        names = sorted({name for row in rows for name in row.get("metrics", {}) if "/" not in name})
        if not names:
            raise DataError(f"{self.folder}: has neither parameters nor evaluations to draw.")
        axes = _panels(axes, len(names), 2.6, 2.4)
        for place, name in zip(axes, names):
            points = [(row["epoch"], row["metrics"][name]) for row in rows if name in row.get("metrics", {})]
            place.plot(*zip(*points), marker=".", color="#1f77b4")
            place.set_title(name)
            place.set_xlabel("epoch")
        return axes

    def __repr__(self) -> str:
        lines = [f"sagips.Run({self.folder})" + ("" if self.complete else ", not complete")]
        lines += [f"  {one}" for one in self.parameters.values()] or self.tables.splitlines()
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape
        cells = "".join(
            f"<tr><td>{escape(one.name)}</td><td>{one.value:.6g}</td>"
            f"<td>{'' if one.error is None else format(one.error, '.2g')}</td><td>{escape(one.unit)}</td>"
            f"<td>{'' if one.truth is None else format(one.truth, '.6g')}</td></tr>"
            for one in self.parameters.values())
        head = "<tr><th>parameter</th><th>value</th><th>error</th><th>unit</th><th>true</th></tr>"
        if not cells:
            head = "<tr><th>metric</th><th>value</th></tr>"
            cells = "".join(f"<tr><td>{escape(name)}</td><td>{'' if value is None else format(value, '.6g')}</td></tr>"
                            for name, value in self.metrics.items() if "/" not in name)
        if not cells and self.tables:
            return f"<pre>{escape(self.tables)}</pre><p><code>{escape(self.folder)}</code></p>"
        notes = "".join(f"<p>{escape(one)}</p>" for one in self.warnings)
        return f"<table>{head}{cells}</table>{notes}<p><code>{escape(self.folder)}</code></p>"


class Predictions:
    """What networks say, as torch tensors, in the units of their targets.

    values: proposals [samples, parameters], or answers [rows, ...], of a classifier the probabilities [rows, classes];
        a list of these where there are several outputs.
    deviations: among the networks of an ensemble, as `values`; None: one network was asked.
    files: where they lie.
    """
    values: Any
    deviations: Any
    files: list[str]

    def __init__(self, said: dict[str, Any]) -> None:
        self.files = said["files"]
        by_name: dict[str, list[torch.Tensor]] = {"values": [], "deviations": []}
        for name, tensor in said["tensors"]:
            by_name[name].append(tensor)
        self.values, self.deviations = (one[0] if len(one) == 1 else one or None for one in by_name.values())

    def __repr__(self) -> str:
        return f"sagips.Predictions({', '.join(self.files)})"


def load(folder: str | os.PathLike[str], said: dict[str, Any] | None = None) -> Run:
    """The run or study in a folder, as the call that filled it returned it."""
    return Run(folder, said)
