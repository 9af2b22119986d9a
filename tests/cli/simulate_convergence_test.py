"""`sagips simulate --convergence`: trains each exchange with each seed, compares them, overwrites nothing, and
refuses what cannot be compared with one line, exit code 2 and no folder."""
import csv
import json
import pathlib
import re
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
    tables = (run / "tables.txt").read_text()
    assert "against rabenseifner" in tables and tables in done.stdout, (tables, done.stdout)
    assert "command" in json.loads((run / "environment.json").read_text())
    page = (run / "report.html").read_text()
    assert "against rabenseifner" in page and "no results yet" not in page, page[-4000:]
    assert "before the first epoch" not in page, page[-4000:]
    rows = list(csv.DictReader((run / "convergence.csv").open()))
    assert len(rows) == 2 * 2 * 3, len(rows)  # exchanges, seeds, evaluations
    assert {row["exchange"] for row in rows} == {"rabenseifner", "averaged/none"}
    exact = [row for row in rows if row["exchange"] == "rabenseifner"]
    assert all(float(row["consensus_distance"]) == 0 for row in exact), exact
    assert all(round(float(row["time_s"]), 12) >= 0.001 * int(row["epoch"]) for row in rows), rows
    results = {path.name: path.stat().st_mtime_ns for path in (run / "simulations").glob("*.json")}
    assert len(results) == 4, results
    done = simulate(folder, *words, "simulate.seeds=[1,2]")  # finished: not overwritten
    assert done.returncode == 2 and "this study has finished" in done.stderr, done
    now = {path.name: path.stat().st_mtime_ns for path in (run / "simulations").glob("*.json")}
    assert now == results, now


def ranks_in_config(folder, name):
    config = (folder / f"runs/gaussians/{name}/config.yaml").read_text()
    simulate_part = config[config.index("\nsimulate:"):]
    return [int(number) for number in re.findall(r"\d+", re.search(r"\n  ranks:([^:]*\n)  platform", simulate_part)[1])]


def test_config_says_what_is_trained(folder):
    """The study's own defaults where nothing is named, and what is named where it is the scan's default."""
    scan = [4, 8, 20, 40, 100, 200, 400]
    # trainings end before they begin: this order overlaps exactly
    broken = ["simulate.seeds=[1]", "optimizer.overlap=one_update_late", "optimizer.order=generator_first",
              "simulate.scenario.overlap=one_update_late", *SMALL]
    for name, options, expected in (("without", [], [64, 400]), ("named", ["--ranks", ",".join(map(str, scan))], scan)):
        done = simulate(folder, *options, "--exchanges", "none", *broken, f"run.name={name}")
        assert done.returncode == 1, done
        assert ranks_in_config(folder, name) == expected, (name, expected)
        jobs = {path.name for path in (folder / f"runs/gaussians/{name}/simulations").glob("*.yaml")}
        assert jobs == {f"none_{ranks}_ranks_seed_1.yaml" for ranks in expected}, jobs


def test_one_that_cannot_be_started(folder):
    """It is told, what others have trained stays, and none of them becomes the reference."""
    words = ["--ranks", "4", *SMALL, "run.name=half", "run.figures=false"]
    done = simulate(folder, *words, "--exchanges", "none", "simulate.seeds=[1]")
    assert done.returncode == 0, done
    trained = folder / "runs/gaussians/half/simulations/none_4_ranks_seed_1.json"
    written = trained.stat().st_mtime_ns
    status = folder / "runs/gaussians/half/status.json"
    status.write_text(status.read_text().replace("finished", "stopped"))  # as if there were more to train
    (trained.parent / "ring_4_ranks_seed_1.txt").mkdir()  # no file can be written there
    done = simulate(folder, *words, "--exchanges", "ring,none", "simulate.seeds=[1]", "--override")
    assert done.returncode == 1, done
    assert "ring_4_ranks_seed_1 failed" in done.stdout + done.stderr, done
    assert "no comparison: ring" in done.stdout and "against" not in done.stdout, done.stdout
    (trained.parent / "ring_4_ranks_seed_1.txt").rmdir()
    done = simulate(folder, *words, "--exchanges", "ring,none", "simulate.seeds=[1,2]", "--override")
    assert done.returncode == 0 and "against ring" in done.stdout, done
    assert trained.stat().st_mtime_ns == written, "what was trained stays when a seed is added"


def test_refuses(folder):
    for words, text in ((["--ranks", "4"], "compute_s"), (["--ranks", "4000", *SMALL], "4,000"),
                        (["--exchanges", "nonsense", *SMALL], "nonsense"),
                        (["--exchanges", "ring/left", *SMALL], "ring"),
                        ([*SMALL, "generator.start=moments"], "start"), ([*SMALL, "simulate.seeds=[]"], "seed"),
                        ([*SMALL, "simulate.seeds=[1,2,1]"], "'1' is there twice"),
                        (["--ranks", "4,8,4", *SMALL], "'4' is there twice"),
                        (["--ranks", "4", "--exchanges", "none,ring,none", *SMALL], "'none' is there twice"),
                        ([*SMALL, "simulate.ranks=[]"], "--ranks"),
                        *((["--ranks", "8", "--exchanges", f"rabenseifner,{name}", *SMALL], text)
                          for name, text in (("averaged/nonsense", "nonsense"), ("averaged/", "names no part"),
                                             ("averaged/auto", "'auto'"), ("auto", "auto"),
                                             ("shared_node", "shared_node"), ("gossip/nonsense", "nonsense"))),
                        ([*SMALL, "train.minutes=1"], "train.minutes"),
                        ([*SMALL, "early_stop.patience=2"], "early_stop.patience"),
                        (["--ranks", "8,4", *SMALL, "simulate.scenario.straggler=4"], "no rank 4 of 4"),
                        ([*SMALL, "optimizer.overlap=one_update_late"], "simulate.scenario.overlap"),
                        ([*SMALL, "simulate.scenario.overlap=one_update_late"], "optimizer.overlap")):
        done = simulate(folder, *words)
        assert done.returncode == 2, (words, done)
        assert text in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)
    assert not (folder / "runs").exists()


for test in (test_refuses, test_config_says_what_is_trained, test_one_that_cannot_be_started, test_compares):
    with tempfile.TemporaryDirectory() as place:
        test(pathlib.Path(place))
