#!/usr/bin/env python3
"""Parameters with errors by SAGIPS and by sbi (NPE, its defaults), of 20 data sets of two toys: times, widths, pulls.

usage: bench/sbi_bench.py --sbi PYTHON_WITH_SBI [--sets 20] [--simulations 10000] [--threads 2]
Run it with a Python that has `sagips`. Parameters as in docs/guides/trust_the_errors.md: a pull is (value - truth) / error.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import sagips  # noqa: E402
import torch  # noqa: E402
from toys import TOYS  # noqa: E402


def by_sagips(toy, data, threads):
    found, begin = [], time.perf_counter()
    quiet = {"run": {"figures": False}, "threads": threads, "progress": False}
    for events, norms in data:
        if toy.name == "proxy1d":
            known = {f"data.reference.norm_{i + 1}": float(norm) for i, norm in enumerate(norms)}
            run = sagips.solve("proxy1d", events.numpy(), **quiet, **known)
        else:
            box = {name: {"low": low, "high": high} for name, low, high in zip(toy.names, toy.low, toy.high)}
            run = sagips.solve(toy.stage, events.numpy(), box, **quiet)
        found.append({"values": [run.parameters[name].value for name in toy.names],
                      "errors": [run.parameters[name].error for name in toy.names]})
    return {"found": found, "prepare_s": 0.0, "each_s": (time.perf_counter() - begin) / len(data)}


def by_sbi(toy, folder, options):
    subprocess.run([options.sbi, HERE / "peers/sbi_npe.py", toy.name, folder, str(options.simulations)], check=True,
                   env={**os.environ, "OMP_NUM_THREADS": str(options.threads), "PYTHONPATH": ""})
    return json.loads((pathlib.Path(folder) / "sbi.json").read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sbi", required=True, help="a Python that has sbi")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=10000, help="data sets that NPE learns from")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--toys", default=",".join(TOYS))
    options = parser.parse_args()
    print("| toy | by | first answer [s] | each further [s] | parameter | median error | pulls: mean | deviation |\n"
          "|---|---|---|---|---|---|---|---|")
    for name in options.toys.split(","):
        toy = TOYS[name]
        torch.manual_seed(7)
        events, norms = toy.simulate(torch.tensor([toy.truth] * options.sets), toy.events)
        data = [(events[i], None if norms is None else norms[i]) for i in range(options.sets)]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            torch.save(data, "data.pt")
            for who, answer in (("SAGIPS, solve", by_sagips(toy, data, options.threads)),
                                ("sbi, NPE", by_sbi(toy, folder, options))):
                for i, parameter in enumerate(toy.names):
                    pulls = [(one["values"][i] - toy.truth[i]) / one["errors"][i] for one in answer["found"]]
                    width = statistics.median(one["errors"][i] for one in answer["found"])
                    times = [f"{answer['prepare_s'] + answer['each_s']:.1f}", f"{answer['each_s']:.2f}"] if i == 0 else ["", ""]
                    print(f"| {' | '.join([name, who, *times] if i == 0 else ['', '', '', ''])} | {parameter} | {width:.3g} | "
                          f"{statistics.mean(pulls):+.2f} +- {1 / math.sqrt(len(pulls)):.2f} | "
                          f"{statistics.stdev(pulls):.2f} |", flush=True)
            os.chdir("/")


if __name__ == "__main__":
    main()
