#!/usr/bin/env python3
"""Compares a training step of learning problems, and of the calorimeter GAN, with the same step in PyTorch.

All programs of a network take turns, as in epoch_bench.py; those of several ranks (--ranks) begin anew in each turn.
A ratio is PyTorch's time over SAGIPS' within one turn: above 1 SAGIPS is faster. The median over turns is printed.
Writes FOLDER/learning.md and FOLDER/results.json.

usage: bench/learning_bench.py --program PATH [--python PATH] [--threads N,N] [--ranks N] [--networks NAME,...] ...
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import epoch_bench as common

PEERS = common.HERE / "peers"
STRESS_STRAIN = ("stress_strain", "stress_strain_convolution", "stress_strain_recurrent")
NETWORKS = ("fashion", "fashion_small", "shapes", *STRESS_STRAIN, "jets", "calorimeter", "showers")
CALORIMETER = {"calorimeter": [], "showers": ["--make", "1"]}  # a step; a batch of showers that is made
OURS, EAGER, CHANNELS_LAST, GATHER, COMPILE = (
    "sagips", "PyTorch eager", "PyTorch eager, channels last", "PyTorch eager, pairs by their places",
    "PyTorch compile")
ALONE, TOGETHER, DDP = "sagips, each rank alone", "sagips, auto", "PyTorch DistributedDataParallel (gloo)"
LAUNCHER = dict(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
HEADER = ["network", "weights", "batch", "threads", "who", "ms/step", "this / sagips", "lowest", "highest", "peak MB"]
RANK_HEADER = ["network", "weights", "ranks", "who", "ms/step", "this / sagips, auto", "lowest", "highest"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built learning_bench")
    parser.add_argument("--python", default=str(common.PYTHON), help="one with PyTorch (tools/setup.sh full)")
    parser.add_argument("--threads", default=str(os.cpu_count()), help="of each program; several numbers one by one")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--batch", type=int, default=8, help="showers of a step of the calorimeter GAN")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--ranks", type=int, default=1,
                        help="above 1: so many ranks of a thread each, with and without exchange")
    parser.add_argument("--steps", type=int, default=3000, help="that a turn of several ranks takes")
    parser.add_argument("--patience", type=float, default=0.0, help="seconds that a turn waits for others at most")
    parser.add_argument("--out", default="build/bench/learning", help="folder for the table")
    return parser.parse_args()


def commands(options, network, threads):
    """(name, command) of all that take turns."""
    peer, variants = PEERS / "pytorch_learning.py", {EAGER: [], CHANNELS_LAST: ["--channels-last"]}
    what = ["--network", network, "--threads", threads]
    if network in STRESS_STRAIN:  # rows are no images
        variants = {EAGER: [], COMPILE: ["--compile"]}
    if network == "jets":  # the authors' matrices, or what a user would gather and sum
        variants = {EAGER: [], GATHER: ["--gather"]}
    if network in CALORIMETER:
        peer, variants[COMPILE] = PEERS / "pytorch_calorimeter.py", ["--compile"]
        what = ["--network", "calorimeter", "--threads", threads, "--batch", options.batch, *CALORIMETER[network]]
    yield OURS, [options.program, *what]
    if options.python:
        for name, variant in variants.items():
            yield name, [options.python, peer, *what, *variant]


def measure(options, network, threads, logs):
    """What the turns gave. throws: common.Failure"""
    print(f"{network}, {common.counted(threads)} ...", flush=True)
    with common.running(commands(options, network, threads), threads, logs) as programs:
        sizes = [(program.ready["weights"], program.ready["batch"]) for program in programs]
        if len(set(sizes)) > 1:
            raise common.Failure(f"the programs differ in weights or batch: {sizes}")
        turns, others = common.alternate(programs, options.turns, options.patience)
    return {"network": network, "threads": threads, "weights": sizes[0][0], "batch": sizes[0][1], "turns": turns,
            "peak_MB": {program.name: program.ready["peak_MB"] for program in programs},
            "share_of_processors_used_by_others": others}


def measure_ranks(options, network):
    """Seconds a step of each turn, all ranks of which begin together. throws: common.Failure"""
    ours = ["mpirun", "-n", options.ranks, options.program, "--network", network, "--threads", 1, "--steps", options.steps]
    commands = {ALONE: [*ours, "--exchange", "none"], TOGETHER: [*ours, "--exchange", "auto"],
                "sagips, all_reduce": [*ours, "--exchange", "all_reduce"]}
    if options.python:
        commands[DDP] = [options.python, PEERS / "pytorch_ddp.py", "--network", network, "--ranks", options.ranks,
                         "--steps", options.steps]
    turns, others = [], []
    for turn in range(options.turns):
        turns.append({})
        for name in list(commands) if turn % 2 == 0 else reversed(commands):
            others.append(common.rest(options.patience))
            done = subprocess.run([str(word) for word in commands[name]], env={**os.environ, **LAUNCHER},
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise common.Failure(f"{name} ended with status {done.returncode}: {done.stderr[-1000:]}")
            said = common.Program.parsed(done.stdout.strip().splitlines()[-1])
            turns[-1][name] = said["seconds"]
    return {"network": network, "ranks": options.ranks, "weights": said["weights"], "turns": turns,
            "share_of_processors_used_by_others": others}


def rank_rows(cell):
    for name in cell["turns"][0]:
        seconds = statistics.median(turn[name] for turn in cell["turns"])
        ratios = [turn[name] / turn[TOGETHER] for turn in cell["turns"]]
        yield [cell["network"], f"{cell['weights']:,}", str(cell["ranks"]), name, f"{seconds * 1e3:.3f}",
               *(f"{of(ratios):.2f}" for of in (statistics.median, min, max))]


def rows(cell):
    for name in (OURS, EAGER, CHANNELS_LAST, GATHER, COMPILE):
        if name not in cell["turns"][0]:
            continue
        seconds = statistics.median(turn[name] for turn in cell["turns"])
        ratios = [turn[name] / turn[OURS] for turn in cell["turns"]]
        yield [cell["network"], f"{cell['weights']:,}", str(cell["batch"]), str(cell["threads"]), name,
               f"{seconds * 1e3:.2f}", *(f"{of(ratios):.2f}" for of in (statistics.median, min, max)),
               f"{cell['peak_MB'][name]:.0f}"]


def report(out, cells, turns):
    shares = [share for cell in cells for share in cell["share_of_processors_used_by_others"]]
    head = [f"{common.processor()}, {os.cpu_count()} processors; training steps, medians of {turns} turns",
            f"others used {statistics.median(shares):.0%} of the processors in the median, {max(shares):.0%} at most"]
    if statistics.median(shares) > common.BUSY:
        head.append("THE MACHINE WAS NOT QUIET: threads that wait for each other suffer most; measure again")
    of_ranks = "ranks" in cells[0]
    header = RANK_HEADER if of_ranks else HEADER
    table = [row for cell in cells for row in (rank_rows if of_ranks else rows)(cell)]
    print("\n".join(["", *head, "", common.as_text(header, table)]))
    (out / "learning.md").write_text("\n".join([*head, "", common.as_markdown(header, table), ""]), encoding="utf-8")
    (out / "results.json").write_text(json.dumps({"processor": common.processor(), "cells": cells}, indent=1) + "\n",
                                      encoding="utf-8")


def main():
    options = arguments()
    out = pathlib.Path(options.out).resolve()
    (out / "logs").mkdir(parents=True, exist_ok=True)
    wanted, options.python = options.python, common.python_with("torch", options.python)
    if not options.python:
        print(f"learning_bench: no PyTorch at {wanted}: no comparison with it (tools/setup.sh full installs it)")
    try:
        if options.ranks > 1:
            return report(out, [measure_ranks(options, network) for network in options.networks.split(",")], options.turns)
        report(out, [measure(options, network, threads, out / "logs") for network in options.networks.split(",")
                     for threads in common.numbers(options.threads)], options.turns)
    except common.Failure as failure:
        sys.exit(f"learning_bench: {failure}. Its lines are in {out / 'logs'}.")


if __name__ == "__main__":
    main()
