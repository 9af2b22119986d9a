#!/usr/bin/env python3
"""Compares central weights with and without a master, and with a parameter server in mpi4py by NNLO's protocol.

Runs bench/served_bench and bench/peers/mpi4py_served.py in turns on the same number of ranks; each ratio is taken within a
turn, and its median over turns, with the smallest and the largest, is printed beside its bar.

usage: bench/served_bench.py --program PATH [--ranks 4] [--turns 7] [--steps 100]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import exchange_bench

PEER = pathlib.Path(__file__).resolve().parent / "peers" / "mpi4py_served.py"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
WORK_MS = 20  # of a step; a worker that computes


def measured(options, *command):
    done = subprocess.run([options.mpiexec, "-n", str(options.ranks), *map(str, command)], stdout=subprocess.PIPE,
                          text=True, env={**os.environ, **ENVIRONMENT}, check=False)
    if done.returncode != 0:
        sys.exit(f"served_bench: {' '.join(map(str, command))} failed")
    return json.loads(done.stdout.splitlines()[-1])


def show(what, ratios, bar):
    middle = statistics.median(ratios)
    print(f"{what:58} {middle:6.2f} ({min(ratios):.2f} to {max(ratios):.2f}), wanted {bar}: "
          f"{'met' if middle >= bar else 'missed'}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built served_bench")
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--peer-python", default="", help="an interpreter with mpi4py and NumPy; default: looked for")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    python = exchange_bench.python_with_mpi4py(options)
    ours = [options.program, "--steps", options.steps]
    exchange, peer, slow = [], [], {"all": [], "master": []}
    for _ in range(options.turns):
        without = measured(options, *ours, "--work_ms", WORK_MS)
        master = measured(options, *ours, "--work_ms", WORK_MS, "--owners", "master")
        exchange.append(master["exchange_ms"] / without["exchange_ms"])
        if python:
            busy = measured(options, *ours, "--owners", "master")
            other = measured(options, python, PEER, "--steps", options.steps)
            peer.append(busy["updates_a_second"] / other["updates_a_second"])
        for owners, plain in (("all", without), ("master", master)):
            beside = measured(options, *ours, "--work_ms", WORK_MS, "--owners", owners, "--slow", 5)
            slow[owners].append(beside["steps_a_second"] / plain["steps_a_second"])
    print(f"{options.ranks} ranks, 600,810 weights, steps of {WORK_MS} ms, {options.turns} turns")
    show("time in an exchange, master / all", exchange, 2)
    if peer:
        show("updates a second, master / mpi4py, nothing computed", peer, 2)
    for owners, ratios in slow.items():
        show(f"steps of a worker beside one 5 x slower, {owners}", ratios, 0.9)


if __name__ == "__main__":
    main()
