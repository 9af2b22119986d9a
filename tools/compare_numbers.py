#!/usr/bin/env python3
"""Says whether two builds of SAGIPS compute the same numbers: runs the same commands with both and compares, bit for bit, the
results.json of each (times, versions and paths aside). For a change that moves code and must move nothing in what it computes.

Commands: solve, fit and train of every shipped workload, train on two ranks and two threads, networks that learn from rows (by
themselves, by synchronous central weights, predicted, in an ensemble and in a search), compare, closure and simulate, all at
fixed seeds and short, with exchanges that repeat. `compare` works within a time, so of it the solvers that end by themselves are
compared. A workload without a density has no fit; a command that both builds refuse with one message counts as equal.

usage: tools/compare_numbers.py OLD/sagips NEW/sagips [PATTERN]      PATTERN: only commands that hold it
exit: 0 all equal, 1 some differ (which and by how much is told)
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

WORKLOADS = ("proxy1d", "proxy1d/cold", "proxy1d/paper", "proxy2d", "resonance", "gaussians", "gaussians/six", "duke_owens")
SMALL = ["toy.events=4000", "run.seed=3", "run.name=one", "run.figures=false"]
TRAIN = [*SMALL, "train.epochs=12", "train.evaluate_every=4", "batch.samples=16", "batch.events=32", "generator.start=random",
         "evaluation.samples=100"]
MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
ASIDE = ("time", "rate", "version", "git_hash", "folder", "origin", "host_s")


ROWS = "x,y,z\n" + "".join(f"{i / 100},{(i * 37 % 100) / 100},{(i % 7) * (i % 5) / 30}\n" for i in range(400))
LEARNING = """workload: learning
data: {inputs: {file: rows.csv, columns: [x, y]}, targets: {file: rows.csv, columns: [z]}, held_out: 0.25}
network: {layers: [{dense: 16, activation: relu}, {dropout: 0.1}, {dense: 1}]}
loss: mean_square
train: {epochs: 4}
run: {name: one, figures: false}
threads: 1
"""
SEARCH = ["tune.minimise=loss", "tune.at_once=1", "tune.space=[{key: optimizer.learning_rate, low: 1e-4, high: 1e-1, log: true}]"]


def learning_commands():
    """(name, launcher, arguments), in a folder with rows.csv and rows.yaml"""
    train = ["train", "rows.yaml"]
    yield "train on rows", [], train
    yield "train on rows by 2 ranks", MPI, [*train, "exchange=rabenseifner"]
    for rule in ("downpour", "easgd", "gem"):
        yield (f"train on rows by central weights, {rule}", MPI,
               [*train, "exchange=served", "exchanges.served.synchronous=true", f"exchanges.served.rule={rule}"])
    yield "ensemble on rows", [], ["ensemble", "rows.yaml", "--vary", "folds", "--members", "2", "ensemble.at_once=1"]
    yield "tune on rows", [], ["tune", "rows.yaml", "--trials", "3", *SEARCH]
    yield "tune on rows with folds", [], ["tune", "rows.yaml", "--trials", "2", "tune.folds=2", *SEARCH]


def commands():
    """(name, launcher, arguments)"""
    yield from learning_commands()
    for workload in WORKLOADS:
        yield f"solve {workload}", [], ["solve", workload, *SMALL]
        yield f"fit {workload}", [], ["fit", workload, *SMALL]
        yield f"train {workload}", [], ["train", workload, *TRAIN, "threads=1"]
    for exchange in ("rabenseifner", "arar_arar"):
        yield f"train proxy1d on 2 ranks by {exchange}", MPI, ["train", "proxy1d", *TRAIN, "threads=1", f"exchange={exchange}"]
    yield ("train gaussians on 2 ranks from the moments", MPI,
           ["train", "gaussians", *TRAIN, "threads=1", "exchange=rabenseifner", "generator.start=moments"])
    yield "train proxy1d on 2 threads", [], ["train", "proxy1d", *TRAIN, "threads=2"]
    yield "train proxy1d from the moments", [], ["train", "proxy1d", *TRAIN, "threads=1", "generator.start=moments"]
    yield "train proxy1d, bootstrap", [], ["train", "proxy1d", *TRAIN, "threads=1", "data.bootstrap=true", "data.fraction=0.7"]
    yield "solve proxy1d on 2 ranks", MPI, ["solve", "proxy1d", *SMALL]
    yield "solve proxy1d, bootstraps and seeds", [], ["solve", "proxy1d", *SMALL, "solve.bootstraps=3", "solve.seeds=2"]
    for method in ("direct", "random"):
        yield (f"solve resonance by {method}", [],
               ["solve", "resonance", *SMALL, f"solve.method={method}", "direct.steps=20", "search.evaluations=20"])
    yield "compare proxy1d", [], ["compare", "proxy1d", *SMALL, "compare.methods=[moments,likelihood]"]
    yield "closure proxy1d", [], ["closure", "proxy1d", "--experiments", "2", *SMALL]
    yield ("closure resonance by networks", [],
           ["closure", "resonance", "--experiments", "2", "--method", "gan", *SMALL, "train.epochs=8", "batch.samples=8",
            "batch.events=16", "closure.members=2", "closure.bootstraps=2"])
    yield ("simulate", [], ["simulate", "proxy1d/paper", "--ranks", "4,8", "--exchanges", "ring,arar_arar,rabenseifner",
                            "simulate.scenario.compute_s=0.005", "simulate.stragglers=false", "run.name=one", "run.figures=false"])
    yield ("simulate --convergence", [],
           ["simulate", "gaussians/many_ranks", "--convergence", "--ranks", "4", "--exchanges", "rabenseifner,averaged",
            "simulate.scenario.compute_s=0.005", "simulate.seeds=[1]", "train.epochs=6", "train.evaluate_every=3",
            "toy.events=2000", "run.name=one", "run.figures=false"])


def numbers(folder):
    """All that is compared of a run: results.json flat; of studies without one, their tables of numbers."""
    found = {}

    def flatten(value, path):
        words = path.lower().rpartition("results.json")[2]
        if any(word in words for word in ASIDE):
            return
        if isinstance(value, dict):
            if set(value) >= {"name", "value"}:
                flatten(value["value"], f"{path}.{value['name']}")
                return
            for key, inner in value.items():
                flatten(inner, f"{path}.{key}")
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                flatten(inner, f"{path}[{place}]")
        else:
            found[path] = value

    for file in sorted(pathlib.Path(folder).glob("runs/**/*")):
        name = str(file.relative_to(folder))
        if file.name == "results.json":
            flatten(json.loads(file.read_text()), name)
        elif file.name in ("closure.csv", "convergence.csv", "simulated.csv", "generator.npy", "generator_samples.npy", "ensemble.csv",
                           "network.safetensors", "network_best.safetensors"):
            found[name] = file.read_bytes()
        elif file.name == "visits.csv":  # what solvers looked at; time_s is a column
            rows = list(csv.DictReader(file.read_text().splitlines()))
            found.update({f"{name}[{place}].{key}": value for place, row in enumerate(rows)
                          for key, value in row.items() if "time" not in key})
    return found


def run(program, launcher, arguments):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "rows.csv").write_text(ROWS)
        (pathlib.Path(folder) / "rows.yaml").write_text(LEARNING)
        done = subprocess.run([*launcher, program, *arguments], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        return done.returncode, errors, numbers(folder)


def difference(old, new):
    """What differs, in one line; empty: nothing."""
    if old[0] != new[0] or (old[0] == 2 and old[1] != new[1]):
        return f"exit code {old[0]} {old[1]} against {new[0]} {new[1]}"
    if set(old[2]) != set(new[2]):
        return "not the same numbers: " + ", ".join(sorted(set(old[2]) ^ set(new[2]))[:5])
    unequal = [key for key in old[2] if old[2][key] != new[2][key]]
    told = [f"{key}: {old[2][key]!r} against {new[2][key]!r}" if not isinstance(old[2][key], bytes) else key
            for key in unequal[:3]]
    return f"{len(unequal)} of {len(old[2])} differ: " + "; ".join(told) if unequal else ""


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    old, new = (str(pathlib.Path(path).resolve()) for path in arguments[:2])
    pattern = arguments[2] if len(arguments) == 3 else ""
    unequal = checked = compared = 0
    for name, launcher, words in commands():
        if pattern not in name:
            continue
        before, after = run(old, launcher, words), run(new, launcher, words)
        told = difference(before, after)
        checked += 1
        compared += len(before[2])
        unequal += bool(told)
        refused = before[0] not in (0, 3) and not told
        print(f"{'DIFFERS' if told else 'refused by both' if refused else 'equal'}: {name}"
              f"{': ' + told if told else ': ' + before[1][0] if refused and before[1] else f', {len(before[2])} numbers'}", flush=True)
    print(f"compare_numbers: {checked - unequal} of {checked} commands equal, {compared} numbers compared")
    return 1 if unequal or not compared else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
