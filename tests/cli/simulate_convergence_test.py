"""`sagips simulate --convergence`: trains each exchange with each seed, compares them, overwrites nothing, and
refuses what cannot be compared with one line, exit code 2 and no folder."""
import csv
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]
SMALL = ["train.epochs=4", "train.evaluate_every=2", "toy.events=2000", "simulate.scenario.compute_s=0.001",
         "simulate.at_once=2"]


def simulate(folder, *words):
    return subprocess.run([program, "simulate", "gaussians/many_ranks", "--convergence", *words], cwd=folder,
                          capture_output=True, text=True, timeout=200)


def test_compares(folder):
    words = ["--ranks", "4", "--exchanges", "rabenseifner,averaged/none", *SMALL, "run.name=small"]
    done = simulate(folder, *words, "simulate.seeds=[1,2]")
    assert done.returncode == 0, done
    assert "averaged/none" in done.stdout and "against rabenseifner" in done.stdout, done.stdout
    run = folder / "runs/gaussians/small"
    rows = list(csv.DictReader((run / "convergence.csv").open()))
    assert len(rows) == 2 * 2 * 3, len(rows)  # exchanges, seeds, evaluations
    assert {row["exchange"] for row in rows} == {"rabenseifner", "averaged/none"}
    exact = [row for row in rows if row["exchange"] == "rabenseifner"]
    assert all(float(row["consensus_distance"]) == 0 for row in exact), exact
    assert all(round(float(row["time_s"]), 12) >= 0.001 * int(row["epoch"]) for row in rows), rows
    results = {path.name: path.stat().st_mtime_ns for path in (run / "simulations").glob("*.json")}
    assert len(results) == 4, results
    done = simulate(folder, *words, "simulate.seeds=[1,2]")  # finished: not overwritten
    assert done.returncode == 2 and "already there" in done.stderr, done
    now = {path.name: path.stat().st_mtime_ns for path in (run / "simulations").glob("*.json")}
    assert now == results, now


def test_refuses(folder):
    for words, text in ((["--ranks", "4"], "compute_s"), (["--ranks", "4000", *SMALL], "4,000"),
                        (["--exchanges", "nonsense", *SMALL], "nonsense"),
                        (["--exchanges", "ring/left", *SMALL], "ring"),
                        ([*SMALL, "generator.start=moments"], "start"), ([*SMALL, "simulate.seeds=[]"], "seed")):
        done = simulate(folder, *words)
        assert done.returncode == 2, (words, done)
        assert text in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
    assert not (folder / "runs").exists()


for test in (test_refuses, test_compares):
    with tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
