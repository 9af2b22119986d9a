"""What the program does, as functions. Each fills a run folder and returns what lies there."""
from __future__ import annotations

import numbers
import os
import sys
from typing import TYPE_CHECKING, Any, Literal

from . import _sagips, objectives, problems, ranks
from .errors import ConfigError, Error
from .progress import Progress
from .results import Predictions, Run, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from typing_extensions import Unpack

    from ._settings import Settings, SettingsWithData
    from ._types import Data, Events, Names, Path, Prior, Problem, Ranges, Start, Weights

_program = [sys.executable, "-m", "sagips"]  # for processes of a study
_starts = {"resume": [], "fresh": ["fresh"], "override": ["override"]}


def _call(command, source, assignments, settings, options=None, progress=False):
    """assignments: what the arguments of the call say; settings lie over them, key by key."""
    words = [word for group in (assignments, settings)
             for word in problems.assignments_of(group, problems.folder_of(settings))]
    ranks.begin()
    watch = Progress() if progress else None
    try:
        with ranks.stopping():
            return _sagips.call(command, source, words,
                                {name: [value] if isinstance(value, str) else list(value)
                                 for name, value in (options or {}).items() if value is not None},
                                watch if watch is not None and watch.looks else None)
    finally:
        if watch is not None:
            watch.close()


def _start(start):
    if start not in _starts:
        raise ConfigError(f"start is {start!r}. Give one of {', '.join(_starts)}.")
    return {"start": _starts[start]}


def _inverse(command, problem, data, box, observables, weights, start, progress, settings, options=None):
    source, assignments = problems.problem_of(problem, data, box, observables, weights, settings)
    return _call(command, source, assignments, settings, {**_start(start), **(options or {})}, progress)


def _run(said):
    run = load(said["folder"], said)
    if said["problems"]:
        words = "; ".join([one for one in said["problems"] if one] or said["warnings"])
        error = Error(" ".join(words.split()) or "nothing came of it.")
        error.run = run
        raise error
    return run


def solve(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
          observables: Names | None = None, weights: Weights | None = None, start: Start = "resume",
          progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """Finds the parameters behind events without a network.

    problem: a function from parameters to events (below), a list of them, one behind the other, a dictionary of
        either by data set, a workload's name (`python -m sagips list`) or a YAML file.
    data: measured events [events, observables], or [events] of one observable, in the units of the observables: an
        array of NumPy, PyTorch, pandas, polars or Awkward, or a file's name; of several data sets a dictionary of
        these; a dictionary of the config's group `data`. None: toy events, made at the parameters' `toy` values.
    box: where the parameters may lie, in their units: a `sagips.Box`, a dictionary, or a prior of sbi or torch.
    observables: names of the columns, with units where they have any: "t [us]", ["x", "y"]; of several data sets a
        dictionary. None: those of a table, else x or x_0, x_1, ...
    weights: of the events [events], where data are arrays; of several data sets a dictionary.
    start: "resume" goes on with a run of the same settings that was interrupted, "fresh" begins anew, "override" goes
        on although settings have changed.
    progress: a line that says how far it is, on a terminal or in a notebook.
    settings: of the config, by its names: `solve={"method": "likelihood"}`, `toy={"events": 3000}`,
        `run={"name": "first"}`. `sagips.settings(problem)` lists them.

    A function `f(theta, noise)` takes theta [samples, parameters] in physical units and returns events
    [samples, events, observables], or [samples, events]; `noise.uniform()` and `noise.normal()` give [samples, events].
    `sagips.numpy`, `sagips.jax` and `sagips.simulator` mark functions of other kinds.

    Returns a `Run`: `parameters` with errors and limits, `covariance`, `modes`, `plot()`.
    Raises `sagips.Error` with one line where something cannot be used; what the function raises arrives as it is.
    """
    return _run(_inverse("solve", problem, data, box, observables, weights, start, progress, settings))


def train(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
          observables: Names | None = None, weights: Weights | None = None, start: Start = "resume",
          progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """Trains networks: a generator that proposes the parameters behind events, or what a learning problem says.

    The arguments are those of `solve`; the function needs a gradient. A learning problem is a workload or YAML file
    and needs no box: `sagips.train("classify", train={"epochs": 5})`. Under `mpirun` all ranks train together.

    Returns a `Run`: `history` has a row for each evaluation, `samples` proposals [samples, parameters] of a generator,
    `metrics` the numbers of the end. `predict` asks its networks.
    """
    return _run(_inverse("train", problem, data, box, observables, weights, start, progress, settings))


def fit(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
        observables: Names | None = None, weights: Weights | None = None, **settings: Unpack[Settings]) -> Run:
    """Maximum-likelihood fit of a workload whose density is known (`fit.starts`, ...). Arguments as of `solve`.

    Returns a `Run` with `parameters` and `covariance`.
    """
    return _run(_inverse("fit", problem, data, box, observables, weights, "resume", False, settings))


def check(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
          observables: Names | None = None, weights: Weights | None = None, **settings: Unpack[Settings]) -> str:
    """Looks at config, data and pipeline without running (arguments as of `solve`), and returns what it saw as text.

    Raises `ConfigError` where something is wrong.
    """
    said = _inverse("check", problem, data, box, observables, weights, "resume", False, settings)
    if said["problems"]:
        raise ConfigError("; ".join(said["problems"]))
    return str(said["report"])


def compare(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
            observables: Names | None = None, weights: Weights | None = None, **settings: Unpack[Settings]) -> Run:
    """Lets several methods work on one problem (`compare.methods`, `compare.minutes`). Arguments as of `solve`.

    Returns a `Run`: `table("compare.csv")` has a row for each method.
    """
    return _run(_inverse("compare", problem, data, box, observables, weights, "resume", False, settings))


def _study(command, problem, data, box, observables, weights, start, progress, settings):
    said = _inverse(command, problem, data, box, observables, weights, start, progress, settings,
                    {"program": _program})
    return _run(said)


def ensemble(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
             observables: Names | None = None, weights: Weights | None = None, start: Start = "resume",
             progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """Trains many networks of one problem, for errors (`ensemble.members`, `ensemble.vary`). Arguments as of `train`.

    Members are processes of their own. Returns a `Run`: `parameters` with the errors that the members scatter by,
    `samples` of all of them [samples, parameters].
    """
    return _study("ensemble", problem, data, box, observables, weights, start, progress, settings)


def closure(problem: Problem, box: Ranges | Prior | None = None, *, observables: Names | None = None,
            start: Start = "resume", progress: bool = True, **settings: Unpack[SettingsWithData]) -> Run:
    """Repeats a closure test on toy data: are the errors right? (`closure.experiments`, `closure.method`)

    problem, box, observables, start, progress: as of `solve`; the toy values of the parameters stand in the box:
    `Box(lifetime={"low": 0.1, "high": 5, "toy": 2.2})`.
    Returns a `Run`: `table("closure.csv")` has a row for each parameter, with mean and width of its pulls.
    """
    return _study("closure", problem, None, box, observables, None, start, progress, settings)


def tune(problem: Problem | Callable[[objectives.Trial], float], data: Data | None = None,
         box: Ranges | Prior | None = None, *, observables: Names | None = None, weights: Weights | None = None,
         start: Start = "resume", progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """Searches for the settings with which trainings end best (`tune.space`, `tune.trials`, `tune.searcher`).

    problem: as of `train`; or, without data and box, a function of a trial (`sagips.objectives.Trial`) that returns how
    good it is, whatever it runs: `def trial(t): ...; t.report(loss, epoch); return loss`, with what `tune.space` names
    as `t["rate"]`. `tune.minimise` or `maximise` calls its value by a name.
    Returns a `Run`: `best` are the best settings, of trainings `file("best.yaml")` holds them.
    """
    given: dict[str, Any] = dict(settings)
    own = given.get("tune", {})
    space = own.get("space", getattr(problem, "space", None)) if isinstance(own, dict) else None
    if space:
        given["tune"] = {**own, "space": objectives.space_of(space)}
    if callable(problem) and data is None and box is None:
        source, assignments = objectives.problem_of(problem, given, problems.folder_of(given))
        return _run(_call("tune", source, assignments, given, {**_start(start), "program": _program}, progress))
    return _study("tune", problem, data, box, observables, weights, start, progress, given)


def convergence(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
                observables: Names | None = None, weights: Weights | None = None, start: Start = "resume",
                progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """Compares exchanges between ranks over time (`convergence.exchanges`, `convergence.ranks`).

    Arguments as of `train`. Returns a `Run`, whose `tables` is a text for a person.
    """
    return _study("convergence", problem, data, box, observables, weights, start, progress, settings)


def scaling(problem: Problem, data: Data | None = None, box: Ranges | Prior | None = None, *,
            observables: Names | None = None, weights: Weights | None = None, start: Start = "resume",
            progress: bool = True, **settings: Unpack[Settings]) -> Run:
    """What more ranks bring (`scaling.ranks`, `scaling.batches`). Arguments as of `train`.

    Returns a `Run`: `table("scaling.csv")` has a row for each number of ranks.
    """
    return _study("scaling", problem, data, box, observables, weights, start, progress, settings)


def simulate(problem: Problem, *, start: Start = "resume", progress: bool = True,
             **settings: Unpack[SettingsWithData]) -> Run:
    """What exchanges would take on the ranks of a simulated cluster (`simulate.ranks`, `simulate.platform`).

    problem: a workload or YAML file. Returns a `Run`, whose `tables` is a text for a person.
    """
    return _study("simulate", problem, None, None, None, None, start, progress, settings)


def generate(problem: Problem, out: Path, box: Ranges | Prior | None = None, *, observables: Names | None = None,
             **settings: Unpack[SettingsWithData]) -> tuple[list[str], str]:
    """Writes toy events of a problem at its parameters' toy values, or the rows of a learning problem.

    problem, box, observables: as of `solve`. out: the file, as .npy, .csv, .hdf5.
    Returns the files, one a data set, and that of the settings that read them.
    """
    source, assignments = problems.problem_of(problem, None, box, observables, None, settings)
    said = _call("generate", source, assignments, settings, {"out": os.fspath(out)})
    return said["files"], said["settings"]


def predict(run: Run | Path, inputs: Events | float | Mapping[str, Events | float] | None = None, *,
            samples: int | None = None, seed: int | None = None, network: Literal["best", "last"] | None = None,
            out: Path | None = None, device: str = "cpu") -> Predictions:
    """Asks the networks of a run.

    run: a `Run`, or its folder; of an ensemble, all its members are asked.
    inputs: of networks that learn from rows, an array [rows, ...] in the data's own units, or a file; of several
        tensors, or several conditions of a generator, a dictionary. None: the rows that the training kept aside.
    samples: how many proposals or examples a generator makes. seed: of their noise.
    network: "best" or "last". None: the best, where there is one.
    out: the file that they are written to. None: one in the run's folder.
    device: where the networks are asked: "cpu", "cuda", "cuda:1", "auto".

    Returns `Predictions`: `values` [rows, ...], `deviations` among several networks, `files`.
    """
    folder = os.fspath(run.folder if isinstance(run, Run) else run)
    if network not in (None, "best", "last"):
        raise ConfigError(f"network is {network!r}. Give \"best\" or \"last\".")
    for name, number in (("samples", samples), ("seed", seed)):
        if number is not None and (not isinstance(number, int) or number < (name == "samples")):
            raise ConfigError(f"{name} is {number!r}, and a whole number was expected.")
    options: dict[str, str | None] = {
        "samples": None if samples is None else str(samples), "seed": None if seed is None else str(seed),
        "network": network, "out": None if out is None else os.fspath(out), "device": device}
    given: dict[str | None, Any] = {**inputs} if isinstance(inputs, dict) else {} if inputs is None else {None: inputs}
    for tensor, one in given.items():
        if not problems.is_source(one) and not isinstance(one, numbers.Real):
            name = "inputs" if tensor is None else f"inputs.{tensor}"
            one = problems.keep_array(problems.numbers_of(one, name)[0], os.path.join(folder, "inputs"))
        options["inputs" if tensor is None else f"inputs.{tensor}"] = str(one)
    return Predictions(_call("predict", folder, {}, {}, options))


def report(*runs: Run | Path, out: Path | None = None, figures: Path | None = None) -> str:
    """Writes one page (HTML) of a run, or of several beside each other, and returns its path.

    out: the file. None: report.html in the run's folder, of several here. figures: a folder for its pictures, too,
    as SVG, PDF, PNG and CSV.
    """
    folders = [os.fspath(run.folder if isinstance(run, Run) else run) for run in runs]
    if not folders:
        raise ConfigError("report needs a run or its folder.")
    out = os.fspath(out) if out else os.path.join(folders[0], "report.html") if len(folders) == 1 else "report.html"
    options = {"out": out, "figures": None if figures is None else os.fspath(figures)}
    return _sagips.call("report", folders[0], folders[1:],
                        {name: [value] for name, value in options.items() if value is not None}, None)["page"]


def settings(problem: Path) -> dict[str, tuple[str, str]]:
    """Every setting of a workload or YAML file with its value and what it means:
    {"train.epochs": ("2000", "epochs of the run"), ...}. In groups they are keywords: `train={"epochs": 5}`."""
    if not problems.is_source(problem):
        raise ConfigError(f"problem is a {type(problem).__name__}, and the name of a workload or a file was expected. "
                          "Settings of a function are those of \"custom\".")
    return {one["key"]: (one["value"], one["help"]) for one in _sagips.describe(os.fspath(problem))}


def run(words: Iterable[object]) -> int:
    """The program itself: `sagips.run(["train", "proxy1d", "train.epochs=5"])`. Returns its exit code: 0 done, 1
    failed, 2 bad input, 3 stopped early with a usable state."""
    return _sagips.program([str(word) for word in words], _program)
