#!/usr/bin/env python3
"""Reads with Optuna what `sagips tune --export-optuna` writes.

usage: tune_optuna_test.py SAGIPS
exit: 0 as expected, 1 not, 77 when Optuna is not installed (tools/setup.sh tests)
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

CHECKS = pathlib.Path(__file__).resolve().parents[2] / ".venv-checks"
if CHECKS.is_dir() and pathlib.Path(sys.prefix).resolve() != CHECKS:
    os.execv(CHECKS / "bin/python", [str(CHECKS / "bin/python"), *sys.argv])

try:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh tests installs it into .venv-checks)")
    sys.exit(77)

SPACE = ("[{key: optimizer.learning_rate, low: 1e-4, high: 1e38, log: true}, {key: batch, low: 10, high: 20, integer: true}, "
         "{key: optimizer.rule, values: [adam, sgd]}, "
         "{key: optimizer.momentum, low: 0.1, high: 0.9, when: optimizer.rule=sgd}]")


def main(sagips):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/line.csv", "w", newline="") as file:
            csv.writer(file).writerows([["x", "y"], *([i / 40, 1 - i / 40] for i in range(40))])
        subprocess.run([sagips, "tune", "learning", "data.inputs={file: line.csv, columns: [x]}",
                        "data.targets={file: line.csv, columns: [y]}", "data.held_out=0.5", "loss=mean_square",
                        "network.layers=[{dense: 1}]", "train.epochs=3", "run.figures=false", "run.name=study",
                        "tune.minimise=loss", "tune.trials=12", "tune.early_end.rule=halving", "tune.searcher=sobol",
                        "tune.space=" + SPACE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([sagips, "tune", "runs/learning/study", "--export-optuna", "study.journal"], cwd=folder, check=True)
        study = optuna.load_study(study_name=None, storage=JournalStorage(JournalFileBackend(folder + "/study.journal")))
        assert study.study_name == "study", study.study_name
        assert study.direction == optuna.study.StudyDirection.MINIMIZE
        with open(folder + "/runs/learning/study/trials.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        states = {"done": "COMPLETE", "ended early": "PRUNED", "failed": "FAIL"}
        assert {row["state"] for row in rows} == set(states), "all kinds are there"
        assert len(study.trials) == len(rows) == 12
        for trial, row in zip(study.trials, rows):
            assert trial.state.name == states[row["state"]], (trial, row)
            if row["state"] == "done":
                assert trial.value == float(row["loss"]), (trial, row)
            for key in ("optimizer.learning_rate", "batch", "optimizer.rule", "optimizer.momentum"):
                assert str(trial.params.get(key, "")) == row[key] or float(trial.params[key]) == float(row[key]), (trial, row)
            assert trial.datetime_complete >= trial.datetime_start
        best = min((row for row in rows if row["state"] == "done"), key=lambda row: float(row["loss"]))
        assert study.best_trial.user_attrs["trial"] == int(best["trial"])
        study.sampler = optuna.samplers.TPESampler(seed=1)
        study.ask()  # a search could go on from there
    print("Optuna reads what was exported")


if __name__ == "__main__":
    main(sys.argv[1])
