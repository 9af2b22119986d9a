#!/usr/bin/env python3
"""What it costs to measure where the time of a training goes, and to monitor and trace it.

Runs `sagips train` in pairs, with and without, the order turned round in every other pair; each ratio is taken within a
pair, and its median over pairs, with the quartiles, is printed beside its bar. Two times are compared: the training time
that the run states, and the processor time of the process, which other programs on the machine disturb less. The
smallest of each side over all pairs is compared as well: what disturbs a run makes it longer.

usage: bench/watching_bench.py --program PATH [--phases PATH] [--before PATH] [--pairs 15]
                               [--settings "proxy1d train.epochs=300"]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
ALONE = ["generator.start=random", "generator.finish=networks", "run.fit=false", "run.figures=false", "threads=1",
         "train.evaluate_every=1000000", "train.snapshots=0", "run.name=one"]


def seconds(program, words):
    """Training time and processor time of a run [s]."""
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen([program, "train", *words, *ALONE], cwd=folder, env={**os.environ, **ENVIRONMENT},
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
        if job.returncode != 0:
            sys.exit(f"watching_bench: {program} train {' '.join(words)} failed")
        (results,) = pathlib.Path(folder).glob("runs/*/one/results.json")
        return json.loads(results.read_text(encoding="utf-8"))["time_s"], used.ru_utime + used.ru_stime


def compare(what, bar, with_it, without, pairs):
    times = []
    for pair in range(pairs):
        sides = [seconds(*side) for side in ((without, with_it) if pair % 2 else (with_it, without))]
        times.append(sides[::-1] if pair % 2 else sides)
    for name, which in (("training time", 0), ("processor time", 1)):
        shares = [100 * (ours[which] / plain[which] - 1) for ours, plain in times]
        low, middle, high = statistics.quantiles(shares, n=4)
        least = 100 * (min(ours[which] for ours, _ in times) / min(plain[which] for _, plain in times) - 1)
        print(f"{what}, {name}: {middle:+.2f} % (quartiles {low:+.2f} to {high:+.2f}, {pairs} pairs), shortest runs "
              f"{least:+.2f} %; wanted at most {bar} %", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built sagips")
    parser.add_argument("--phases", help="the built phase_bench: what each piece costs by itself")
    parser.add_argument("--before", help="one that does not split its time: what it costs to do so")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--settings", default="proxy1d train.epochs=300")
    options = parser.parse_args()
    words = options.settings.split()
    program = os.path.abspath(options.program)
    if options.phases:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([options.phases, f"{folder}/trace.json"], stdout=subprocess.PIPE, text=True, check=True)
        cost = json.loads(done.stdout)
        print(f"splitting the time of a step of two networks among ranks: {cost['step_ns']:.0f} ns; a span of a trace: "
              f"{cost['span_ns']:.0f} ns; a look of the monitor: {cost['look_ns'] * 1e-3:.0f} us", flush=True)
    if options.before:
        compare("splitting the time", 0.3, (program, words), (os.path.abspath(options.before), words), options.pairs)
    watched = [*words, "train.monitor=true", "train.timeline=1000000"]
    compare("monitor and trace", 1, (program, watched), (program, words), options.pairs)


if __name__ == "__main__":
    main()
