#!/usr/bin/env python3
"""What Python costs: a stage that is a Python function against the same one in C++, a NumPy stage's calls, threads, and a
training step of a torch.nn.Module against PyTorch's own loop.

A stage's time is what a training with a chain of so many of them takes beyond one without, per stage and tile of 12,800
events, forward and backward. The ways take turns; a ratio is taken within a turn, and medians are printed. Run it with a
Python that has `sagips` and an `import torch` that works.

usage: bench/python_bench.py --plugin build/release/bench/python_plugin.so [--turns 7]
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

import sagips
import torch

HERE = pathlib.Path(__file__).resolve().parent
CHAIN = 16
SAMPLES, EVENTS, TILES = 128, 100, 8  # 12,800 events a tile
EPOCHS = 40
PYTHON, NUMPY, CPP = "Python", "NumPy", "C++"


def config(kind, plugin, chain):
    stages = {PYTHON: '{python: "python_stages:smear"}', NUMPY: '{python: "python_stages:nothing"}',
              CPP: f"{{plugin: {plugin}, stage: smear}}"}
    first = f"{{plugin: {plugin}, stage: decay}}" if kind == CPP else '{python: "python_stages:decay"}'
    path = pathlib.Path(f"{kind.replace('+', 'p')}_{chain}.yaml")
    path.write_text("parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2}}\nobservables: [t]\ntoy: {events: 2000}\n"
                    f"pipeline: [{', '.join([first] + [stages[kind]] * chain)}]\n", encoding="utf-8")
    return str(path)


def epoch_seconds(kind, plugin, chain, threads):
    run = sagips.train(config(kind, plugin, chain), threads=threads, start="fresh", progress=False,
                       batch={"samples": SAMPLES * TILES, "events": EVENTS},
                       train={"epochs": EPOCHS, "evaluate_every": 1000000, "snapshots": 0,
                              "engine": {"tile_samples": SAMPLES}},
                       generator={"start": "random", "finish": "networks", "width": 8, "layers": 1},
                       discriminator={"width": 8, "layers": 1}, run={"figures": False, "fit": False})
    return run.results["steps"]["mean_s"]


def stage_seconds(kind, plugin, threads):
    """Of a stage and a tile [s]."""
    return (epoch_seconds(kind, plugin, CHAIN, threads) - epoch_seconds(kind, plugin, 0, threads)) / CHAIN / TILES


def module_seconds():
    """Of a training step by SAGIPS [s]."""
    run = sagips.train("stress_strain", network={"layers": [{"module": "python_stages:network"}]}, threads=1,
                       train={"epochs": 5}, data={"rows": 7500, "validation_rows": 75}, run={"figures": False},
                       start="fresh", progress=False)
    return run.results["steps"]["mean_s"]


def loop_seconds(steps=400):
    """Of a training step of PyTorch's own loop, rows shuffled as there [s]."""
    import python_stages
    torch.set_num_threads(1)
    network = python_stages.network()
    rows, targets = torch.randn(7500, 200, 3), torch.randn(7500, 2)
    rule = torch.optim.Adam(network.parameters(), lr=4.7331e-4)
    batches = []
    begin = None
    for step in range(steps + 50):
        if step == 50:
            begin = time.perf_counter()
        if not batches:
            batches = list(torch.randperm(len(rows)).split(75))
        batch = batches.pop()
        rule.zero_grad()
        loss = torch.nn.functional.mse_loss(network(rows[batch]), targets[batch])
        loss.backward()
        rule.step()
    return (time.perf_counter() - begin) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plugin", required=True, help="the built python_plugin.so")
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    plugin = os.path.abspath(options.plugin)
    sys.path.insert(0, str(HERE))
    os.environ["PYTHONPATH"] = f"{HERE}:{os.environ.get('PYTHONPATH', '')}"
    ways = {"stage in Python, 1 thread": lambda: stage_seconds(PYTHON, plugin, 1),
            "stage in C++, 1 thread": lambda: stage_seconds(CPP, plugin, 1),
            "stage in NumPy, 1 thread": lambda: stage_seconds(NUMPY, plugin, 1),
            "stage in Python, 2 threads": lambda: stage_seconds(PYTHON, plugin, 2),
            "step of a module, SAGIPS": module_seconds, "step of a module, PyTorch": loop_seconds}
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for turn in range(options.turns):
            order = list(ways) if turn % 2 == 0 else list(reversed(ways))
            turns.append({name: ways[name]() for name in order})
            print(f"turn {turn + 1} of {options.turns}", file=sys.stderr, flush=True)
        os.chdir("/")
    for name in ways:
        print(f"{name:32} {statistics.median(turn[name] for turn in turns) * 1e3:8.3f} ms")
    names = list(ways)
    for what, above, below in (("Python / C++ stage", names[0], names[1]), ("1 / 2 threads", names[0], names[3]),
                               ("step of a module, SAGIPS / PyTorch", names[4], names[5])):
        ratios = [turn[above] / turn[below] for turn in turns]
        print(f"{what:36} {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
