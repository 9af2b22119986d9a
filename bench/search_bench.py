#!/usr/bin/env python3
"""Compares searches over settings with Optuna (TPE, its defaults) and scikit-optimize (Gaussian process).

Branin, Hartmann's function of six numbers and a mixed one of twelve settings with conditions; as many evaluations and
seeds for each. What counts is the regret, the best value found less the lowest one; below 1e-2 regrets are equal. Ours is
compared with the better of the two by Wilcoxon's signed-rank test over the seeds, one-sided at 5 %. Then the time that a
proposal takes with 200 trials known, against Optuna's Gaussian-process sampler. Peers that are missing are named.

usage: bench/search_bench.py --program PATH [--seeds 20] [--evaluations 60] [--python INTERPRETER]
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

PEER = pathlib.Path(__file__).resolve().parent / "peers" / "searches.py"
EQUAL = 1e-2


def branin(x):
    a, b = 15 * x[0] - 5, 15 * x[1]
    return ((b - 5.1 / (4 * math.pi ** 2) * a ** 2 + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


def hartmann6(x):
    heights = [1.0, 1.2, 3.0, 3.2]
    widths = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
    places = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
              [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
    return -sum(height * math.exp(-sum(w * (one - 1e-4 * p) ** 2 for w, p, one in zip(width, place, x)))
                for height, width, place in zip(heights, widths, places))


MIXED = ["k3", "c", "c", "o8", "k4", "c@0=0", "o5@0=0", "c@0=1", "k3@0=1", "c@0=2", "c@4=1|2", "o6"]


def value(words, x):
    """The number of the value that a coordinate stands for."""
    count = int(words[1:].split("@")[0])
    return min(count - 1, int(x * count))


def mixed(x):
    """A training's shape: a kind of three with settings of its own, numbers in order, words. The lowest value is 0."""
    kind, word = value(MIXED[0], x[0]), value(MIXED[4], x[4])
    total = [0.0, 0.15, 0.4][kind] + 0.2 * [2, 0, 1, 3][word] / 3
    total += 2 * (x[1] - 0.35) ** 2 + (x[2] - 0.7) ** 2 + 0.3 * abs(value(MIXED[3], x[3]) - 5) / 7
    total += 0.1 * abs(value(MIXED[11], x[11]) - 2) / 5
    if kind == 0:
        total += (x[5] - 0.2) ** 2 + 0.3 * abs(value(MIXED[6], x[6]) - 3) / 4
    elif kind == 1:
        total += (x[7] - 0.6) ** 2 + 0.1 * value(MIXED[8], x[8])
    else:
        total += (x[9] - 0.5) ** 2
    if word in (1, 2):
        total += 0.5 * (x[10] - 0.45) ** 2
    return total


PROBLEMS = {"branin": (branin, ["c"] * 2, 0.397887, "bayesian"), "hartmann6": (hartmann6, ["c"] * 6, -3.322368, "bayesian"),
            "mixed": (mixed, MIXED, 0.0, "tpe")}


def ours(options, problem, seed, evaluations, searcher=None):
    function, dimensions, lowest, usual = PROBLEMS[problem]
    command = [options.program, searcher or usual, str(seed), str(evaluations), *dimensions]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        best = math.inf
        for _ in range(evaluations):
            score = function([float(one) for one in job.stdout.readline().split()])
            best = min(best, score)
            job.stdin.write(f"{score!r}\n")
            job.stdin.flush()
        times = [float(line) for line in job.stderr.read().split()]
    return best - lowest, times


def peers(options, problem, seed, evaluations, kind):
    done = subprocess.run([options.python, PEER, kind, problem, str(seed), str(evaluations)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"search_bench: {kind} failed: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return found["best"] - PROBLEMS[problem][2], found["times"]


def is_worse(own, other):
    """Whether regrets are significantly larger than a peer's; by Wilcoxon's test, exact or normal."""
    differences = [a - b for a, b in zip(own, other) if max(a, b) >= EQUAL and a != b]
    if len(differences) < 5:
        return 1.0
    order = sorted(differences, key=abs)
    plus = sum(rank for rank, one in enumerate(order, 1) if one > 0)
    n = len(order)
    mean, deviation = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return 0.5 * math.erfc((plus - 0.5 - mean) / deviation / math.sqrt(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built search_bench")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with optuna and skopt")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--searcher", default="", help="ours, in place of what `auto` takes")
    parser.add_argument("--skip-cost", action="store_true")
    options = parser.parse_args()
    there = subprocess.run([options.python, PEER, "list"], stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    for problem in options.problems.split(","):
        kinds = [kind for kind in ("optuna_tpe", "skopt_gp") if kind in there and not (problem == "mixed" and kind == "skopt_gp")]
        regrets = {kind: [] for kind in ["ours", *kinds]}
        for seed in range(1, options.seeds + 1):
            regrets["ours"].append(ours(options, problem, seed, options.evaluations, options.searcher or None)[0])
            for kind in kinds:
                regrets[kind].append(peers(options, problem, seed, options.evaluations, kind)[0])
        print(f"{problem}: regret after {options.evaluations} evaluations, median of {options.seeds} seeds: "
              + ", ".join(f"{kind} {statistics.median(found):.4f}" for kind, found in regrets.items()), flush=True)
        if kinds:
            better = min(kinds, key=lambda kind: statistics.median(regrets[kind]))
            p = is_worse(regrets["ours"], regrets[better])
            print(f"{problem}: ours is {'' if p < 0.05 else 'not '}significantly worse than {better} (p = {p:.3f})", flush=True)
    missing = [kind for kind in ("optuna_tpe", "skopt_gp", "optuna_gp") if kind not in there]
    if missing:
        print("missing here: " + ", ".join(missing))
    if "optuna_gp" in there and not options.skip_cost:
        ratios = []
        for seed in (1, 2, 3):
            other = statistics.median(peers(options, "hartmann6", seed, 205, "optuna_gp")[1][-5:])
            own = statistics.median(ours(options, "hartmann6", seed, 205)[1][-5:])
            ratios.append(own / other)
        print(f"a proposal with 200 trials known, ours / Optuna's Gaussian process: {statistics.median(ratios):.3f} "
              f"({min(ratios):.3f} to {max(ratios):.3f}), wanted 0.2: {'met' if statistics.median(ratios) <= 0.2 else 'missed'}")


if __name__ == "__main__":
    main()
