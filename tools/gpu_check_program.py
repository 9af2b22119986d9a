#!/usr/bin/env python3
"""Trainings of the program on a GPU, checked and timed; tools/gpu_check.sh calls it and says what the parts are.

usage: gpu_check_program.py SAGIPS [--parts agree,epoch,steps,land,long,memory] [--json FILE] [--peer FILE] [--device cuda]
exit: 0 all held, 1 something did not, 2 the device is not there
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

EPOCH_FLOP = 81.468588032e9  # of the paper's epoch, forward and backward passes of both networks
TURNS = 3
NETWORKS_ALONE = ["generator.start=random", "generator.finish=networks", "run.fit=false", "run.figures=false"]
SMALL = ["batch.samples=8", "batch.events=20", "toy.events=2000", *NETWORKS_ALONE]
ROWS = ["data.rows=200", "data.validation_rows=50", "batch=50", "train.epochs=2", "run.figures=false"]
KINDS = {"proxy1d": [*SMALL, "train.epochs=5"], "proxy2d": [*SMALL, "train.epochs=5"],
         "gaussians": [*SMALL, "train.epochs=5"], "duke_owens": [*SMALL, "train.epochs=5"],
         "stress_strain_curve": [*SMALL[:2], *NETWORKS_ALONE, "train.epochs=5"],
         "classify/digits": ["train.epochs=2", "run.figures=false"], "jets": ROWS, "jets/gru": ROWS, "jets/sum": ROWS,
         "stress_strain": ROWS, "stress_strain/convolution": ROWS, "stress_strain/recurrent": ROWS,
         "generation/digits": ["train.epochs=1", "run.figures=false"],
         "calorimeter3d/laptop": ["data.rows=64", "data.validation_rows=32", "batch=16", "train.epochs=1",
                                  "run.figures=false"]}
AGREE = 2e-3  # of a loss after some epochs: rounding, which Adam makes larger


class Check:
    def __init__(self, options):
        self.options, self.found, self.failed = options, {}, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sagips_gpu_"))

    def say(self, text):
        print(f"gpu_check: {text}", flush=True)

    def verdict(self, name, holds, detail):
        self.say(f"{'ok    ' if holds else 'FAILED'} {name}: {detail}")
        if not holds:
            self.failed.append(name)

    def train(self, workload, *arguments, name, device=None, wrapper=()):
        """The run's folder; None: it failed, which is said."""
        device = device or self.options.device
        folder = self.folder / workload.split("/", maxsplit=1)[0] / name
        done = subprocess.run([*wrapper, self.options.sagips, "train", workload, *arguments, f"device={device}",
                               f"run.folder={self.folder}", f"run.name={name}"], capture_output=True, text=True,
                              timeout=500, check=False)
        (self.folder / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        if done.returncode == 0:
            return folder
        self.verdict(f"{workload} on {device}", False, (done.stderr.strip().splitlines() or ["no word"])[-1])
        return None

    def losses(self, folder):
        lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return [event["losses"] for event in map(json.loads, lines) if event["event"] == "epoch_done"]

    def agree(self):
        for workload, arguments in KINDS.items():
            name = workload.replace("/", "_")
            runs = [self.train(workload, *arguments, name=f"{name}_{device}", device=device)
                    for device in (self.options.device, "cpu")]
            if None in runs:
                continue
            here, there = (self.losses(run)[-1] for run in runs)
            off = max(abs(here[key] - there[key]) / max(1, abs(there[key])) for key in there)
            self.verdict(f"{workload} learns as on the CPU", off < AGREE, f"losses differ by {off:.1e}")
        self.goes_on()

    def goes_on(self):
        """A paused training equals one in a piece, bit for bit."""
        paper = ["proxy1d/paper", *SMALL]
        whole = self.train(*paper, "train.epochs=8", name="whole")
        if whole and self.train(*paper, "train.epochs=4", name="parts"):
            parts = self.train(*paper, "train.epochs=8", "--override", name="parts")
            if parts:
                same = self.losses(parts)[-1] == self.losses(whole)[-1]
                self.verdict("a run goes on bit for bit", same, "losses of the last epoch")

    def epoch(self):
        paper = ["proxy1d/paper", *NETWORKS_ALONE, "train.evaluate_every=1000000", "run.tensorboard=false"]
        best = self.peer()
        for precision in ("float32", "tf32", "bfloat16"):
            times = []
            for turn in range(TURNS):
                run = self.train(*paper, f"precision={precision}", "train.epochs=1500", name=f"{precision}_{turn}")
                if run is None:
                    return
                times.append(self.epoch_ms(run))
            ms = statistics.median(times)
            self.found.setdefault("epoch_ms", {})[precision] = times
            self.say(f"epoch {precision}: {ms:.3f} ms ({EPOCH_FLOP / ms / 1e9:.1f} TFLOP/s)"
                     + (f", {best / ms:.2f} times PyTorch's best" if best else ""))

    def epoch_ms(self, run):
        """Of the epochs behind the first 500, in which libraries and graphs are made."""
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        done = {event["epoch"]: event["time_s"] for event in map(json.loads, lines) if event["event"] == "epoch_done"}
        last = max(done)
        first = min(epoch for epoch in done if epoch >= last // 3)
        return 1e3 * (done[last] - done[first]) / (last - first)

    def peer(self):
        """Milliseconds of PyTorch's best form in this call; None: it is not there."""
        if not self.options.peer or not pathlib.Path(self.options.peer).exists():
            return None
        done = subprocess.run([sys.executable, self.options.peer, "--device", self.options.device], capture_output=True,
                              text=True, check=False, timeout=400)
        self.say("peer: " + done.stdout.strip().replace("\n", "\ngpu_check: peer: "))
        self.found["peer"] = done.stdout
        times = [float(number) for number in re.findall(r"([0-9.]+) ms", done.stdout)]
        return min(times) if times else None

    def steps(self):
        """Beside eager PyTorch in float32, with rows on the device."""
        peer = self.eager_steps()
        for workload, (arguments, group) in {
                "calorimeter3d": (["data.rows=1024", "data.validation_rows=64", "batch=64"],
                                  "calorimeter GAN, step of four updates, batch 64"),
                "jets": (["data.rows=10000", "data.validation_rows=100", "batch=100"], "JEDI-net, batch 100"),
                "stress_strain": (["data.rows=15000", "data.validation_rows=75", "batch=75"],
                                  "stress-strain regression, dense, batch 75")}.items():
            run = self.train(workload, *arguments, "train.epochs=4", "train.evaluate_every=2", "run.figures=false",
                             "precision=tf32", name=f"steps_{workload}")
            if run is None:
                continue
            lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
            last = [event for event in map(json.loads, lines) if event["event"] == "epoch_done"][-1]
            rate = next(value for key, value in last.items() if key.endswith("_per_second"))
            ms = 1e3 * int(arguments[-1].split("=")[1]) / rate
            eager = next((time for name, time in peer.items() if name.startswith(group)), None)
            self.found.setdefault("steps_ms", {})[workload] = {"sagips": ms, "eager": eager}
            beside = f", {eager / ms:.2f} times as fast as eager" if eager else ""
            self.say(f"step of {workload}: {ms:.3f} ms{beside}")

    def eager_steps(self):
        script, found = pathlib.Path(__file__).parents[1] / "bench/peers/pytorch_gpu.py", self.folder / "eager.json"
        small = ["--small"] if self.options.device == "cpu" else []
        try:
            subprocess.run([sys.executable, str(script), "--device", self.options.device, "--only", "eager float32",
                            "--budget", "60", "--json", str(found), *small], capture_output=True, text=True,
                           check=True, timeout=200)
        except subprocess.SubprocessError as problem:
            self.say(f"PyTorch beside: {problem}")
        if not found.exists():
            return {}
        results = json.loads(found.read_text(encoding="utf-8"))["results"]
        times = {}  # of the fastest form in each group
        for result in results:
            if "milliseconds" in result:
                times[result["group"]] = min(result["milliseconds"], times.get(result["group"], float("inf")))
        return times

    def long(self):
        """Evaluations, checkpoints and all that a training writes, beside epochs alone."""
        paper = ["proxy1d/paper", *NETWORKS_ALONE, "precision=tf32", "train.epochs=20000"]
        run = self.train(*paper, "train.monitor=true", name="long")
        if run is None:
            return
        record = json.loads((run / "results.json").read_text(encoding="utf-8"))
        split = record["time_split"]
        beside = split["evaluation_s"] / split["total_s"]
        self.found["long"] = {"epoch_ms": self.epoch_ms(run), "beside": beside}
        self.verdict("evaluations and records", beside <= 0.1, f"{100 * beside:.1f} % beside the training (bar 10)")
        used = (run / "monitor.csv").read_text(encoding="utf-8").splitlines()
        row = dict(zip(used[0].split(","), used[1].split(",")))
        self.found["long"]["gpu_percent"] = row["gpu_percent"]
        if row["gpu_percent"]:
            self.verdict("the GPU is busy", float(row["gpu_percent"]) >= 95, f"{row['gpu_percent']} % (bar 95)")
        else:
            self.say("no utilisation: libnvidia-ml.so.1 shows no GPU")

    def land(self):
        finished = ["proxy1d/paper", "run.figures=false", "train.epochs=2000", "batch.samples=64", "generator.start=random",
                    "generator.finish=networks"]
        runs = [self.train(*finished, name=f"land_{device}", device=device) for device in (self.options.device, "cpu")]
        if None in runs:
            return
        here, there = (json.loads((run / "results.json").read_text(encoding="utf-8"))["parameters"] for run in runs)
        off = [abs(a["recovered"] - b["recovered"]) / (b["fit_error"] or b["error"]) for a, b in zip(here, there)]
        self.found["land_errors"] = off
        self.verdict("2,000 epochs land together", max(off) <= 0.2, f"{max(off):.3f} errors apart (bar 0.2)")

    def memory(self):
        sanitizer = shutil.which("compute-sanitizer")
        if sanitizer is None:
            return self.say("memory: no compute-sanitizer here")
        for tool in ("memcheck", "racecheck"):
            run = self.train("proxy1d", *SMALL, "train.epochs=2", name=tool,
                             wrapper=[sanitizer, "--tool", tool, "--error-exitcode", "9"])
            self.verdict(f"compute-sanitizer {tool}", run is not None, "a small training")
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sagips")
    parser.add_argument("--parts", default="agree,epoch,steps,land,long,memory")
    parser.add_argument("--json")
    parser.add_argument("--peer")
    parser.add_argument("--device", default="cuda", help="cpu tries this script itself")
    check = Check(parser.parse_args())
    options = check.options
    there = subprocess.run([options.sagips, "check", "proxy1d", f"device={options.device}"], capture_output=True,
                           text=True, check=False)
    if there.returncode != 0:
        print(there.stderr, file=sys.stderr)
        return 2
    for part in options.parts.split(","):
        start = time.perf_counter()
        if hasattr(check, part):
            getattr(check, part)()
            check.found.setdefault("seconds", {})[part] = time.perf_counter() - start
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps({**check.found, "failed": check.failed}, indent=1) + "\n",
                                                      encoding="utf-8")
    shutil.rmtree(check.folder)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
