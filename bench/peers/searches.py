#!/usr/bin/env python3
"""Searches by Optuna and scikit-optimize on the functions of search_bench, as JSON: the best value, seconds a proposal.

usage: searches.py list | KIND PROBLEM SEED EVALUATIONS
"""
import importlib.util
import json
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import search_bench  # noqa: E402

warnings.filterwarnings("ignore")


def there(module):
    return importlib.util.find_spec(module) is not None


def point_of(trial, dimensions):
    """A point of the unit cube, by what Optuna suggests; 0.5 where a condition does not hold."""
    point = []
    for number, words in enumerate(dimensions):
        kind, _, condition = words.partition("@")
        if condition:
            parent, _, values = condition.partition("=")
            now = search_bench.value(dimensions[int(parent)], point[int(parent)])
            if str(now) not in values.split("|"):
                point.append(0.5)
                continue
        name = f"x{number}"
        if kind == "c":
            point.append(trial.suggest_float(name, 0, 1))
        else:
            count = int(kind[1:])
            found = (trial.suggest_int(name, 0, count - 1) if kind[0] == "o"
                     else trial.suggest_categorical(name, list(range(count))))
            point.append((found + 0.5) / count)
    return point


def by_optuna(sampler, problem, evaluations):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    function, dimensions = search_bench.PROBLEMS[problem][:2]
    study = optuna.create_study(sampler=sampler)
    times = []
    for _ in range(evaluations):
        before = time.perf_counter()
        trial = study.ask()
        point = point_of(trial, dimensions)
        times.append(time.perf_counter() - before)
        study.tell(trial, function(point))
    return study.best_value, times


def by_skopt(problem, seed, evaluations):
    import skopt
    function, dimensions = search_bench.PROBLEMS[problem][:2]
    optimizer = skopt.Optimizer([(0.0, 1.0)] * len(dimensions), random_state=seed)
    best, times = float("inf"), []
    for _ in range(evaluations):
        before = time.perf_counter()
        point = optimizer.ask()
        times.append(time.perf_counter() - before)
        score = function(point)
        optimizer.tell(point, score)
        best = min(best, score)
    return best, times


def main():
    if sys.argv[1] == "list":
        known = ["optuna_tpe"] if there("optuna") else []
        known += ["optuna_gp"] if there("optuna") and there("torch") and there("scipy") else []
        known += ["skopt_gp"] if there("skopt") else []
        print(*known)
        return
    kind, problem, seed, evaluations = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if kind == "skopt_gp":
        best, times = by_skopt(problem, seed, evaluations)
    else:
        import optuna
        if kind == "optuna_gp":
            import torch
            torch.set_num_threads(1)
        sampler = optuna.samplers.GPSampler(seed=seed) if kind == "optuna_gp" else optuna.samplers.TPESampler(seed=seed)
        best, times = by_optuna(sampler, problem, evaluations)
    print(json.dumps({"best": best, "times": times}))


if __name__ == "__main__":
    main()
