"""What the program does, as functions. Each fills a run folder and returns what lies there."""
import os
import sys

from . import _sagips, problems
from .errors import ConfigError, Error
from .progress import Progress
from .results import Predictions, Run, load

_starts = {"resume": [], "fresh": ["fresh"], "override": ["override"]}


def _call(command, source, assignments, options=None, progress=False):
    watch = Progress() if progress else None
    try:
        return _sagips.call(command, source, problems.assignments_of(assignments),
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
    said = _call(command, source, {**assignments, **settings}, {**_start(start), **(options or {})}, progress)
    return said


def _run(said):
    if said["problems"]:
        raise Error(" ".join("; ".join(said["problems"]).split()) or "nothing came of it.")
    return load(said["folder"], said)


def solve(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True, **settings):
    """Finds the parameters behind events without a network (`solve.method`: moments, likelihood, searches).

    problem: a function from parameters to events (see `sagips.stages`), a list of them, one behind the other, a
    dictionary of them by data set, a workload's name or a YAML file. data: events [events, observables] as an array,
    table, tensor or file, of several data sets a dictionary; None: toy data. box: ranges, `sagips.Box`.
    observables: names, as "t [us]". weights: [events]. start: "resume" goes on with a run of the same settings that
    was interrupted, "fresh" begins anew.
    """
    return _run(_inverse("solve", problem, data, box, observables, weights, start, progress, settings))


def train(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True, **settings):
    """Trains networks: a generator that proposes the parameters behind events (arguments as of `solve`), or whatever
    the config of a learning problem says: `sagips.train("classify", train={"epochs": 5})`."""
    return _run(_inverse("train", problem, data, box, observables, weights, start, progress, settings))


def fit(problem, data=None, box=None, *, observables=None, weights=None, **settings):
    """Maximum-likelihood fit, where the density is known."""
    return _run(_inverse("fit", problem, data, box, observables, weights, "resume", False, settings))


def check(problem, data=None, box=None, *, observables=None, weights=None, **settings):
    """Looks at config, data and pipeline without running, and returns what it saw. Raises where something is wrong."""
    said = _inverse("check", problem, data, box, observables, weights, "resume", False, settings)
    if said["problems"]:
        raise ConfigError("; ".join(said["problems"]))
    return said["report"]


def compare(problem, data=None, box=None, *, observables=None, weights=None, **settings):
    """Lets several methods work on one problem (`compare.methods`, `compare.minutes`)."""
    return _run(_inverse("compare", problem, data, box, observables, weights, "resume", False, settings))


def _study(command, problem, data, box, observables, weights, start, progress, settings):
    said = _inverse(command, problem, data, box, observables, weights, start, progress, settings,
                    {"program": [sys.executable, "-m", "sagips"]})
    return _run(said)


def ensemble(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True,
             **settings):
    """Trains many networks of one problem, for errors (`ensemble.members`, `ensemble.vary`, ...)."""
    return _study("ensemble", problem, data, box, observables, weights, start, progress, settings)


def closure(problem, box=None, *, observables=None, start="resume", progress=True, **settings):
    """Repeats a closure test on toy data: are the errors right? (`closure.experiments`, `closure.method`)"""
    return _study("closure", problem, None, box, observables, None, start, progress, settings)


def tune(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True, **settings):
    """Searches for the settings with which trainings end best (`tune.space`, `tune.trials`, ...)."""
    return _study("tune", problem, data, box, observables, weights, start, progress, settings)


def convergence(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True,
                **settings):
    """Compares exchanges over time (`convergence.exchanges`, `convergence.ranks`, ...)."""
    return _study("convergence", problem, data, box, observables, weights, start, progress, settings)


def scaling(problem, data=None, box=None, *, observables=None, weights=None, start="resume", progress=True,
            **settings):
    """What more ranks bring (`scaling.ranks`, `scaling.batches`, ...)."""
    return _study("scaling", problem, data, box, observables, weights, start, progress, settings)


def simulate(problem, *, start="resume", progress=True, **settings):
    """Exchanges on the ranks of a simulated cluster (`simulate.ranks`, `simulate.platform`, ...)."""
    return _study("simulate", problem, None, None, None, None, start, progress, settings)


def generate(problem, out, box=None, *, observables=None, **settings):
    """Writes toy events of a problem at its parameters' toy values. Returns the files, and that of the settings that
    read them."""
    source, assignments = problems.problem_of(problem, None, box, observables, None, settings)
    said = _call("generate", source, {**assignments, **settings}, {"out": os.fspath(out)})
    return said["files"], said["settings"]


def predict(run, inputs=None, *, samples=None, seed=None, network=None, out=None):
    """Asks the networks of a run (a `Run`, or its folder).

    inputs: of networks that learn from rows, an array [rows, ...] or file, of several tensors a dictionary; None: the
    rows kept aside. samples: how many proposals or examples. network: "best" or "last".
    Returns `Predictions`: `values`, `deviations` among several networks, `files`.
    """
    folder = os.fspath(run.folder if isinstance(run, Run) else run)
    if network not in (None, "best", "last"):
        raise ConfigError(f"network is {network!r}. Give \"best\" or \"last\".")
    for name, number in (("samples", samples), ("seed", seed)):
        if number is not None and (not isinstance(number, int) or number < (name == "samples")):
            raise ConfigError(f"{name} is {number!r}, and a whole number was expected.")
    options = {"samples": None if samples is None else str(samples), "seed": None if seed is None else str(seed),
               "network": network, "out": None if out is None else os.fspath(out)}
    for name, one in (inputs.items() if isinstance(inputs, dict) else [(None, inputs)] if inputs is not None else []):
        if not problems.is_source(one) and not isinstance(one, (int, float)):
            import numpy
            import torch
            one = numpy.asarray(one.detach().cpu() if isinstance(one, torch.Tensor) else one)
            one = problems.keep_array(one, os.path.join(folder, "inputs"))
        options["inputs" if name is None else f"inputs.{name}"] = str(one)
    return Predictions(_call("predict", folder, {}, options))


def report(*runs, out=None, figures=None):
    """One page of a run, or of several beside each other. Returns its path."""
    folders = [os.fspath(run.folder if isinstance(run, Run) else run) for run in runs]
    if not folders:
        raise ConfigError("report needs a run or its folder.")
    out = os.fspath(out) if out else os.path.join(folders[0], "report.html") if len(folders) == 1 else "report.html"
    options = {"out": out, "figures": None if figures is None else os.fspath(figures)}
    return _sagips.call("report", folders[0], folders[1:],
                        {name: [value] for name, value in options.items() if value is not None}, None)["page"]


def settings(problem):
    """Every setting of a workload or YAML file: {"train.epochs": ("2000", "epochs of the run"), ...}"""
    return {one["key"]: (one["value"], one["help"]) for one in _sagips.describe(os.fspath(problem))}


def run(words):
    """The program itself: `sagips.run(["train", "proxy1d", "train.epochs=5"])`. Returns its exit code."""
    return _sagips.program([str(word) for word in words], [sys.executable, "-m", "sagips"])
