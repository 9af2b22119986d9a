#!/usr/bin/env python3
"""Compares how fast shuffled rows of an HDF5 file come, in batches of 100, with PyTorch's DataLoader and h5py.

Both programs read the same file, which lies in the page cache, and take turns. A ratio is PyTorch's time over SAGIPS' within
one turn: above 1 SAGIPS is faster. The median over turns is printed. Writes FOLDER/rows.md and FOLDER/results.json.

usage: bench/rows_bench.py --program PATH [--python PATH] [--turns N] [--workers N]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

import epoch_bench as common

PEER = common.HERE / "peers" / "pytorch_rows.py"
BATCHES_A_TURN = 300  # many beside the four that either program has read ahead when its turn begins
# floats of a row, rows of the file
FILES = {"3 kB": (784, 60000), "260 kB": (65000, 3000)}
MAKE = """
import sys, h5py, numpy
path, numbers, rows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with h5py.File(path, "w") as file:
    features = file.create_dataset("features", (rows, numbers), dtype="f4")
    for first in range(0, rows, 1000):
        features[first:first + 1000] = numpy.random.default_rng(first).random((min(1000, rows - first), numbers), "f4")
    file["labels"] = numpy.arange(rows) % 10
"""
HEADER = ["row", "who", "rows/s", "this / sagips", "lowest", "highest"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built rows_bench")
    parser.add_argument("--python", default=str(common.PYTHON), help="one with PyTorch and h5py")
    parser.add_argument("--workers", type=int, default=2, help="of the DataLoader")
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--out", default="build/bench/rows", help="folder for files and table")
    return parser.parse_args()


def measure(options, name, out):
    numbers, rows = FILES[name]
    path = out / f"{numbers}.h5"
    if not path.exists():
        subprocess.run([options.maker, "-c", MAKE, path, str(numbers), str(rows)], check=True)
    commands = [("sagips", [options.program, "--file", path])]
    if options.python:
        commands.append(("DataLoader", [options.python, PEER, "--file", path, "--workers", str(options.workers)]))
    with common.running(commands, 1, out, BATCHES_A_TURN) as programs:
        turns, _ = common.alternate(programs, options.turns, 0.0)
    return {"row": name, "turns": turns}


def table_rows(cell):
    for who in cell["turns"][0]:
        seconds = statistics.median(turn[who] for turn in cell["turns"])
        ratios = [turn[who] / turn["sagips"] for turn in cell["turns"]]
        yield [cell["row"], who, f"{100 / seconds:,.0f}", *(f"{of(ratios):.2f}" for of in (statistics.median, min, max))]


def main():
    options = arguments()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    wanted, options.python = options.python, common.python_with("torch, h5py", options.python)
    options.maker = common.python_with("h5py, numpy", options.python, wanted, sys.executable, "/usr/bin/python3")
    if not options.maker:
        print("rows_bench: left out: no Python has h5py, which writes its file (Debian: python3-h5py)")
        return
    if not options.python:
        print(f"rows_bench: no PyTorch with h5py at {wanted}: no comparison with its DataLoader (tools/setup.sh full "
              "installs PyTorch)")
    try:
        cells = [measure(options, name, out) for name in FILES]
    except common.Failure as failure:
        sys.exit(f"rows_bench: {failure}. Its lines are in {out}.")
    head = f"{common.processor()}, {os.cpu_count()} processors; batches of 100 rows, medians of {options.turns} turns"
    table = [row for cell in cells for row in table_rows(cell)]
    print("\n".join(["", head, "", common.as_text(HEADER, table)]))
    (out / "rows.md").write_text("\n".join([head, "", common.as_markdown(HEADER, table), ""]), encoding="utf-8")
    (out / "results.json").write_text(json.dumps({"processor": common.processor(), "cells": cells}, indent=1) + "\n",
                                      encoding="utf-8")


if __name__ == "__main__":
    main()
