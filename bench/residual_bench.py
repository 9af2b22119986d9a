#!/usr/bin/env python3
"""Shows what a setting does to residuals over training time: the same training with and without it, seeds in turn.

Runs `sagips train WORKLOAD SETTINGS... VARIANT run.seed=S` for each variant and seed, one after the other, and reads
the evaluations of the runs. Prints, for each variant, the median over seeds of the mean |residual| at a few training
times and at the end; writes FOLDER/residuals.md, FOLDER/results.json and FOLDER/residuals.svg.

usage: bench/residual_bench.py --program build/release/cli/sagips --variant alternating: \\
         --variant simultaneous:optimizer.update=simultaneous [--seeds 1,2,3,4] [--out FOLDER] [-- WORKLOAD SETTING ...]
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)  # of the shortest run's training time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built sagips")
    parser.add_argument("--variant", action="append", required=True, metavar="NAME:SETTING,SETTING")
    parser.add_argument("--seeds", default="1,2,3,4")
    parser.add_argument("--out", default="build/bench/residuals", help="folder for table and picture")
    parser.add_argument("job", nargs="*", default=["proxy1d/cold", "train.epochs=1500"], help="workload and settings that all share")
    return parser.parse_args()


def evaluations(folder):
    """[(training time, epoch, mean |residual|)] of a run"""
    found = []
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        event = json.loads(line)
        residuals = [abs(p["residual"]) for p in event.get("parameters", []) if p.get("residual") is not None]
        if residuals:
            found.append((event["time_s"], event["epoch"], statistics.mean(residuals)))
    return found


def train(program, job, settings, name, seed, scratch):
    command = [program, "train", *job, *settings, f"run.seed={seed}", f"run.folder={scratch}", f"run.name={name}", "run.figures=false"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"residual_bench: {' '.join(command)} failed:\n{done.stderr[-2000:]}")
    folder = next(path.parent for path in scratch.rglob("metrics.jsonl") if name in str(path))
    return evaluations(folder)


def at_time(points, time):
    """the last evaluation up to that time"""
    return [residual for when, _, residual in points if when <= time * (1 + 1e-9)][-1]


def draw(runs, path):
    if not shutil.which("gnuplot"):
        print("residual_bench: no gnuplot (Debian: gnuplot-nox): no picture", file=sys.stderr)
        return
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
    plots, data = [], []
    for index, (variant, by_seed) in enumerate(runs.items()):
        for number, points in enumerate(by_seed.values()):
            title = f"title '{variant}'" if number == 0 else "notitle"
            plots.append(f"'-' using 1:2 with lines lw 2 lc rgb '{colours[index % len(colours)]}' {title}")
            data.append("\n".join(f"{time} {100 * residual}" for time, _, residual in points[1:]) + "\ne")
    script = (f"set terminal svg size 800,480 font 'DejaVu Sans,13' background 'white'\nset output '{path}'\n"
              "set logscale xy\nset xlabel 'training time [s]'\nset ylabel 'mean |residual| [%]'\nset grid\n"
              "set key top right\nplot " + ", ".join(plots) + "\n" + "\n".join(data) + "\n")
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    options = arguments()
    seeds = [int(word) for word in options.seeds.split(",")]
    variants = {}
    for text in options.variant:
        name, _, settings = text.partition(":")
        variants[name] = [word for word in settings.split(",") if word]
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runs = {name: {} for name in variants}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in seeds:
            for name, settings in variants.items():
                runs[name][seed] = train(options.program, options.job, settings, f"run{len(runs[name])}_{list(variants).index(name)}",
                                          seed, pathlib.Path(scratch))
                last = runs[name][seed][-1]
                print(f"seed {seed}, {name}: {last[1]} epochs in {last[0]:.1f} s, mean |residual| {100 * last[2]:.1f} %",
                      flush=True)
    shortest = min(points[-1][0] for by_seed in runs.values() for points in by_seed.values())
    times = [share * shortest for share in SHARES]
    lines = ["| mean abs. residual [%], median of " + f"{len(seeds)} seeds (range) | "
             + " | ".join(f"{time:.1f} s" for time in times) + " | at the end |",
             "|---" * (len(times) + 2) + "|"]
    for name, by_seed in runs.items():
        columns = [[at_time(points, time) for points in by_seed.values()] for time in times]
        columns.append([points[-1][2] for points in by_seed.values()])
        cells = [f"{100 * statistics.median(c):.1f} ({100 * min(c):.1f}-{100 * max(c):.1f})" for c in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    print("\n".join(lines))
    (out / "residuals.md").write_text("\n".join(lines) + "\n")
    (out / "results.json").write_text(json.dumps({"job": options.job, "variants": variants, "runs": runs}))
    draw(runs, out / "residuals.svg")


if __name__ == "__main__":
    main()
