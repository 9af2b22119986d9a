#!/usr/bin/env python3
"""Compares an epoch of proxy1d with the same epoch in PyTorch and with the bare products' rate.

Starts all programs of one batch size, for every number of threads, then lets them take turns: who waits, sleeps. A
ratio is taken within one turn and the median over turns is printed, so that whatever disturbs the machine disturbs
all. The rate is the best that any library reached in that turn on any shape, float32, with the same threads.
Writes FOLDER/epochs.md, FOLDER/results.json, FOLDER/seconds_per_epoch.svg and FOLDER/percent_of_rate.svg.

usage: bench/epoch_bench.py --program PATH [--rates PATH,PATH,...] [--python PATH] [--out FOLDER] ...
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import selectors
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE / "peers" / "pytorch_epoch.py"
PYTHON = HERE.parent / ".venv-full" / "bin" / "python"

EVENTS = 100  # of a parameter sample
GENERATOR, DISCRIMINATOR = (6, 128, 128, 128, 128, 6), (2, 128, 128, 128, 128, 1)
PAPER_SAMPLES, FEW_SAMPLES = 1024, 10
BAR_RATE, BAR_EAGER, BAR_TILED, BAR_SIMULTANEOUS = 0.8, 3.5, 1.6, 4.5  # with two threads, but the rate
BAR_SECOND_THREAD, BAR_MEMORY_MB, BAR_FEW = 0.97, 200, 2.0

SECONDS_A_TURN = 0.2
SECONDS_TO_START = 900  # torch.compile takes a minute or two
SECONDS_TO_ANSWER = 300
SECONDS_TO_REST = 0.2  # between turns; long enough to see what else the machine does
BUSY = 0.05  # share of the processors that others may take before figures are called disturbed

OURS, SIMULTANEOUS = "sagips", "sagips simultaneous"
EAGER, COMPILE, TILED, TILED_PROCESSES = (
    "PyTorch eager", "PyTorch compile", "PyTorch tiled", "PyTorch tiled, 2 processes")
EPOCHS = (OURS, SIMULTANEOUS, EAGER, COMPILE, TILED, TILED_PROCESSES)
PEERS = EPOCHS[2:]
WORDS = ("who", "library", "most often on", "ratio", "")  # columns of words, set left


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="", help="the built epoch_bench; without it only the peers run")
    parser.add_argument("--python", default=str(PYTHON), help="an interpreter with PyTorch (tools/setup.sh full)")
    parser.add_argument("--rates", default="", help="the built rate programs, comma-separated")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--samples", default="1024,102,10", help="parameter samples of an epoch, 100 events each")
    parser.add_argument("--patience", type=float, default=0.0,
                        help="seconds that a turn waits at most for others on this machine to be quiet")
    parser.add_argument("--out", default="build/bench/epoch", help="folder for tables and pictures")
    return parser.parse_args()


def numbers(text):
    return [int(word) for word in text.split(",")]


def counted(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def complain(text):
    print(f"epoch_bench: {text}", file=sys.stderr, flush=True)


def python_with(modules, *candidates):
    """The first of these interpreters that imports them; empty: none does."""
    for python in filter(shutil.which, candidates):
        if subprocess.run([python, "-c", f"import {modules}"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return ""


# --- operations of an epoch --------------------------------------------------------------------------


def weights(layers):
    return sum(inputs * outputs for inputs, outputs in zip(layers, layers[1:]))


def pass_flop(layers, rows, *, weight_gradient=True, input_gradient=False):
    """Products of one forward and backward pass; `input_gradient` says whether anybody reads that of the network."""
    first = layers[0] * layers[1]
    backward = weights(layers) if input_gradient else weights(layers) - first
    return 2 * rows * (weights(layers) + backward + (weights(layers) if weight_gradient else 0))


def epoch_flop(samples, update):
    rows = samples * EVENTS
    real = pass_flop(DISCRIMINATOR, rows)
    generator = pass_flop(GENERATOR, samples)
    if update == "simultaneous":  # the two backward passes over synthetic events differ by one factor a row
        return real + pass_flop(DISCRIMINATOR, rows, input_gradient=True) + generator
    proposals = 2 * samples * weights(GENERATOR)  # of the discriminator's step, forward only
    judged = pass_flop(DISCRIMINATOR, rows, weight_gradient=False, input_gradient=True)
    return 2 * real + proposals + judged + generator


# --- programs that take turns ------------------------------------------------------------------------


class Failure(Exception):
    pass


class Program:
    """One measured program: "go" in, a line of JSON out. Its stderr goes to a file."""

    def __init__(self, name, threads, command, logs):
        self.name, self.threads, self.epochs = name, threads, 1
        self.log = logs / f"{name.replace(' ', '_').replace(',', '')}_{threads}.err"
        self.buffer, self.process = b"", None
        try:
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=log, bufsize=0)
        except OSError as error:
            raise Failure(str(error)) from error
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.process.stdout, selectors.EVENT_READ)

    def key(self):
        return self.name, self.threads

    def line(self, patience):
        deadline = time.monotonic() + patience
        while b"\n" not in self.buffer:
            if not self.waiting.select(max(0.0, deadline - time.monotonic())):
                raise Failure(f"no answer in {patience} s")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise Failure(f"ended with status {self.process.wait()}")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode(errors="replace")

    def wait_until_ready(self):
        deadline = time.monotonic() + SECONDS_TO_START
        line = ""
        while not line.startswith("ready "):
            line = self.line(max(1.0, deadline - time.monotonic()))
        self.ready = self.parsed(line.removeprefix("ready "))

    def turn(self):
        try:
            self.process.stdin.write(f"go {self.epochs}\n".encode())
        except OSError as error:
            raise Failure(f"ended with status {self.process.wait()}") from error
        return self.parsed(self.line(SECONDS_TO_ANSWER))

    @staticmethod
    def parsed(text):
        try:
            return json.loads(text)
        except ValueError as error:
            raise Failure(f"printed '{text[:200]}', which is no JSON") from error

    def calibrate(self):
        """Short epochs are run several to a turn."""
        first = self.turn()
        if "seconds" in first:
            self.epochs = max(1, math.ceil(SECONDS_A_TURN / first["seconds"]))

    def stop(self):
        self.waiting.close()
        for end in (self.process.stdin, self.process.stdout):
            end.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def running(commands, threads, logs, pieces=None):
    """Programs that are ready to take turns, by (name, command); stopped at the end. pieces: of a turn, else measured"""
    programs = []
    try:
        for name, command in commands:
            programs.append(Program(name, threads, command, logs))
            programs[-1].wait_until_ready()
            if pieces:
                programs[-1].epochs = pieces
            else:
                programs[-1].calibrate()
        yield programs
    finally:
        for program in programs:
            program.stop()


def alternate(programs, turns, patience):
    """Seconds by program for each turn, and what share of the processors others used before each of these."""
    seconds, others = [], []
    for turn in range(turns):
        seconds.append({})
        for program in programs if turn % 2 == 0 else reversed(programs):
            others.append(rest(patience))
            seconds[-1][program.name] = program.turn()["seconds"]
    return seconds, others


def commands(options, samples, threads):
    """(name, command) of all that are measured with one number of threads."""
    if options.program:
        for name, update in ((OURS, "alternating"), (SIMULTANEOUS, "simultaneous")):
            yield name, [options.program, "--samples", samples, "--threads", threads, "--update", update]
    if options.python:
        peer = [options.python, PEER, "--samples", samples, "--threads", threads, "--variant"]
        for name, variant in ((EAGER, "eager"), (COMPILE, "compile"), (TILED, "tiled")):
            yield name, peer + [variant]
        if threads == 2 <= samples:
            yield TILED_PROCESSES, peer + ["tiled", "--processes", threads]
    for path in filter(None, options.rates.split(",")):
        yield pathlib.Path(path).name, [path, "--threads", threads]


def processor_time():
    """(busy, all) ticks of all processors since the machine started."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


def rest(patience):
    """Share of the processors that others use while all programs here sleep."""
    deadline = time.monotonic() + patience
    time.sleep(SECONDS_TO_REST / 4)  # threads of the last turn fall asleep
    while True:
        busy, everything = processor_time()
        time.sleep(SECONDS_TO_REST)
        busy_then, everything_then = processor_time()
        share = (busy_then - busy) / max(1, everything_then - everything)
        if share <= BUSY or time.monotonic() >= deadline:
            return share


class Cell:
    """All programs of one batch size, and what their turns gave."""

    def __init__(self, options, samples, out):
        self.samples, self.turns, self.others, self.failures = samples, [], [], []
        self.programs, self.ready, self.epochs = {}, {}, {}
        logs = out / "logs" / str(samples)
        logs.mkdir(parents=True, exist_ok=True)
        for threads in numbers(options.threads):
            for name, command in commands(options, samples, threads):
                self.start(name, threads, command, logs)

    def start(self, name, threads, command, logs):
        print(f"{self.samples} samples: {name}, {counted(threads)} starts ...", flush=True)
        program = None
        try:
            program = Program(name, threads, command, logs)
            program.wait_until_ready()
            program.calibrate()
        except Failure as failure:
            self.fail(name, threads, failure, program)
            return
        self.programs[program.key()] = program
        self.ready[program.key()], self.epochs[program.key()] = program.ready, program.epochs

    def fail(self, name, threads, failure, program):
        text = f"{name}, {counted(threads)}, {self.samples} samples: {failure}"
        log = program.log if program else None
        complain(f"{text}. Left out." + (f" Its stderr:\n{log.read_text(errors='replace')[-2000:]}" if log else ""))
        self.failures.append(text)
        if program and program.process:
            program.stop()
        self.programs.pop((name, threads), None)

    def take_turns(self, turns, patience):
        for turn in range(turns):
            print(f"{self.samples} samples: turn {turn + 1} of {turns} ...", flush=True)
            reports = {}
            programs = list(self.programs.values())
            for program in programs if turn % 2 == 0 else reversed(programs):
                self.others.append(rest(patience))
                try:
                    reports[program.key()] = program.turn()
                except Failure as failure:
                    self.fail(program.name, program.threads, failure, program)
            self.turns.append(reports)
        for program in self.programs.values():
            program.stop()

    def keys(self):
        return [key for key in self.ready if any(key in turn for turn in self.turns)]

    def rate_names(self, threads):
        return [name for name, of in self.keys() if of == threads and name not in EPOCHS]

    # What one turn says; None where a program is missing.

    def seconds(self, turn, name, threads):
        report = turn.get((name, threads))
        return report["seconds"] if report else None

    def rate(self, turn, threads):
        best = [turn[name, threads]["best"] for name in self.rate_names(threads) if (name, threads) in turn]
        return max(best) if best else None

    def gflops(self, turn, name, threads):
        seconds = self.seconds(turn, name, threads)
        update = "simultaneous" if name == SIMULTANEOUS else "alternating"
        return epoch_flop(self.samples, update) / seconds / 1e9 if seconds else None

    def share(self, turn, name, threads):
        return quotient(self.gflops(turn, name, threads), self.rate(turn, threads))

    def times_as_fast(self, turn, slow, fast, threads):
        return quotient(self.seconds(turn, slow, threads), self.seconds(turn, fast, threads))

    def median(self, figure, *what):
        values = [value for value in (figure(turn, *what) for turn in self.turns) if value is not None]
        return statistics.median(values) if values else None

    def memory_mb(self, name, threads):
        """Peak above what was resident after set-up."""
        peaks = [turn[name, threads]["peak_mb"] for turn in self.turns if (name, threads) in turn]
        return max(peaks) - self.ready[name, threads]["resident_mb"] if peaks else None

    def best_peer(self, threads):
        times = {name: self.median(self.seconds, name, threads) for name in PEERS}
        known = {name: seconds for name, seconds in times.items() if seconds}
        return min(known, key=known.get) if known else None


def quotient(above, below):
    return above / below if above and below else None


# --- report ------------------------------------------------------------------------------------------


def bars(cells, threads_list):
    """(what, reached, bar, unit) each; a bar in MB is met from below."""
    by_samples = {cell.samples: cell for cell in cells}
    paper, few = by_samples.get(PAPER_SAMPLES), by_samples.get(FEW_SAMPLES)
    if paper:
        for threads in threads_list:
            where = f"{paper.samples} samples, {counted(threads)}"
            yield f"{where}: {OURS} / rate", paper.median(paper.share, OURS, threads), BAR_RATE, ""
            two = threads == 2
            for name, fast, bar in ((EAGER, OURS, BAR_EAGER), (EAGER, SIMULTANEOUS, BAR_SIMULTANEOUS),
                                    (TILED_PROCESSES, OURS, BAR_TILED)):
                if two or name != TILED_PROCESSES:
                    yield (f"{where}: {name} / {fast}", paper.median(paper.times_as_fast, name, fast, threads),
                           bar if two else None, "")
            for name in (OURS, SIMULTANEOUS):
                yield f"{where}: {name}, memory above set-up", paper.memory_mb(name, threads), BAR_MEMORY_MB, " MB"
        if {1, 2} <= set(threads_list):
            yield (f"{paper.samples} samples: two threads over one, {OURS} / bare products",
                   paper.median(lambda turn: quotient(quotient(paper.gflops(turn, OURS, 2),
                                                               paper.gflops(turn, OURS, 1)),
                                                      quotient(paper.rate(turn, 2), paper.rate(turn, 1)))),
                   BAR_SECOND_THREAD, "")
    if few:
        for threads in threads_list:
            where = f"{few.samples} samples, {counted(threads)}"
            yield f"{where}: {EAGER} / {OURS}", few.median(few.times_as_fast, EAGER, OURS, threads), BAR_FEW, ""
            best = few.best_peer(threads)
            if best:
                yield (f"{where}: best peer ({best}) / {OURS}",
                       few.median(few.times_as_fast, best, OURS, threads), None, "")


def verdict(reached, bar, unit):
    if reached is None:
        return "not measured"
    if bar is None:
        return ""
    return "met" if (reached < bar if unit else reached >= bar) else "MISSED"


def shown(value, digits=2, factor=1.0):
    return "-" if value is None else f"{value * factor:,.{digits}f}"


def epoch_rows(cell, threads_list):
    for threads in threads_list:
        for name in EPOCHS:
            seconds = cell.median(cell.seconds, name, threads)
            if seconds is None:
                continue
            yield [str(cell.samples), str(threads), name, f"{seconds:.4g}",
                   shown(cell.median(cell.gflops, name, threads), 1),
                   shown(cell.median(cell.share, name, threads), 1, 100),
                   shown(cell.samples * EVENTS / seconds, 0), shown(cell.memory_mb(name, threads), 0),
                   shown(cell.median(cell.times_as_fast, EAGER, name, threads))]


def rate_rows(cell, threads_list):
    for threads in threads_list:
        for name in cell.rate_names(threads):
            reports = [turn[name, threads] for turn in cell.turns if (name, threads) in turn]
            shapes = {shape: statistics.median(report["gflops"][shape] for report in reports)
                      for shape in reports[0]["gflops"]}
            yield [str(cell.samples), str(threads), name,
                   shown(statistics.median(report["best"] for report in reports), 1), max(shapes, key=shapes.get),
                   shown(min(shapes.values()), 1), shown(shapes.get("2048^3"), 1)]


def bar_rows(cells, threads_list):
    doubt = ", disturbed" if used_by_others(cells)[0] > BUSY else ""
    for what, reached, bar, unit in bars(cells, threads_list):
        digits = 0 if unit else 2
        word = verdict(reached, bar, unit)
        word += doubt if word in ("met", "MISSED") else ""
        yield [what, shown(reached, digits) + unit, "" if bar is None else f"{bar}{unit}", word]


def tables(cells, threads_list):
    """(title, header, rows) each."""
    yield ("Epochs", ["samples", "threads", "who", "s/epoch", "GFLOP/s", "% of rate", "events/s", "MB above set-up",
                      "eager / this"],
           [row for cell in cells for row in epoch_rows(cell, threads_list)])
    yield ("Rate of the bare products, GFLOP/s", ["samples", "threads", "library", "best", "most often on",
                                                  "slowest shape", "2048^3"],
           [row for cell in cells for row in rate_rows(cell, threads_list)])
    yield "Bars", ["ratio", "reached", "bar", ""], list(bar_rows(cells, threads_list))


def as_text(header, rows):
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    return "\n".join("  ".join(word.ljust(width) if title in WORDS else word.rjust(width)
                               for word, width, title in zip(row, widths, header)).rstrip()
                     for row in [header, *rows])


def as_markdown(header, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows])


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown processor"


def used_by_others(cells):
    """Shares of the processors: (median, most)."""
    shares = [share for cell in cells for share in cell.others] or [0.0]
    return statistics.median(shares), max(shares)


def head(cells, turns):
    typical, most = used_by_others(cells)
    lines = [f"{processor()}, {os.cpu_count()} processors; proxy1d, the paper's networks, {EVENTS} events a sample; "
             f"medians of {turns} turns",
             f"others used {typical:.0%} of the processors in the median, {most:.0%} at most"]
    if typical > BUSY:
        lines.append("THE MACHINE WAS NOT QUIET: threads that wait for each other suffer most; measure again")
    return lines


def report(out, cells, threads_list, turns):
    lines = head(cells, turns)
    print("\n" + "\n".join(lines))
    markdown = ["\n".join(lines)]
    for title, header, rows in tables(cells, threads_list):
        print(f"\n{title}\n{as_text(header, rows) if rows else 'none measured'}")
        markdown.append(f"## {title}\n\n{as_markdown(header, rows) if rows else 'none measured'}")
    failures = [failure for cell in cells for failure in cell.failures]
    if failures:
        print("\nFailed\n" + "\n".join(failures))
        markdown.append("## Failed\n\n" + "\n".join(f"- {failure}" for failure in failures))
    (out / "epochs.md").write_text("\n\n".join(markdown) + "\n", encoding="utf-8")


def write_results(out, cells, options):
    def label(key):
        return f"{key[0]}; {counted(key[1])}"

    results = {"processor": processor(), "turns": options.turns, "cells": [{
        "samples": cell.samples,
        "flop": {update: epoch_flop(cell.samples, update) for update in ("alternating", "simultaneous")},
        "programs": {label(key): {"ready": cell.ready[key], "epochs_a_turn": cell.epochs[key]} for key in cell.ready},
        "turns": [{label(key): value for key, value in turn.items()} for turn in cell.turns],
        "share_of_processors_used_by_others": cell.others, "failures": cell.failures} for cell in cells]}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# --- pictures ----------------------------------------------------------------------------------------


def draw(path, title, cells, threads_list, figure, settings):
    """A group of bars for each batch size and number of threads, a bar for each program."""
    names = [name for name in EPOCHS if any((name, threads) in cell.keys()
                                            for cell in cells for threads in threads_list)]
    if not names:
        return
    lines = []
    for cell in cells:
        for threads in threads_list:
            values = [cell.median(figure(cell), name, threads) for name in names]
            words = ["?" if value is None else f"{value:.6g}" for value in values]
            lines.append(f'"{cell.samples} samples\\n{counted(threads)}" ' + " ".join(words))
    bars_drawn = ", ".join(f"$epochs using {i + 2}:xtic(1) title '{name}' noenhanced" for i, name in enumerate(names))
    script = "\n".join([
        "set terminal svg size 1150,520 dynamic background 'white'", f"set output '{path}'",
        f"set title \"{title}\\n{processor()}\" noenhanced", "set style data histograms",
        "set style histogram clustered gap 1.5", "set style fill solid 0.85 noborder", "set boxwidth 0.9",
        "set datafile missing '?'", "set grid ytics", "set xtics scale 0", "set bmargin 4",
        "set key outside right top vertical",
        *settings, "$epochs << EOD", *lines, "EOD", f"plot {bars_drawn}"])
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def draw_all(out, cells, threads_list):
    if not shutil.which("gnuplot"):
        complain("no gnuplot (Debian: gnuplot-nox): no pictures")
        return
    draw(out / "seconds_per_epoch.svg", "one training epoch of proxy1d", cells, threads_list,
         lambda cell: cell.seconds, ["set logscale y", "set ylabel 'seconds per epoch'"])
    if any(cell.rate_names(threads) for cell in cells for threads in threads_list):
        draw(out / "percent_of_rate.svg", "matrix products of an epoch / the best rate of MKL, oneDNN and libxsmm",
             cells, threads_list, lambda cell: lambda *what: quotient(cell.share(*what), 0.01),
             ["set yrange [0:100]", "set ylabel 'percent of the rate'"])


def main():
    options = arguments()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    wanted, options.python = options.python, python_with("torch", options.python)
    if not options.python:
        complain(f"no PyTorch at {wanted}: no comparison with it (tools/setup.sh full installs it)")
    cells = []
    for samples in numbers(options.samples):
        cells.append(Cell(options, samples, out))
        cells[-1].take_turns(options.turns, options.patience)
        write_results(out, cells, options)  # a run takes minutes; what is measured is kept
    threads_list = numbers(options.threads)
    report(out, cells, threads_list, options.turns)
    draw_all(out, cells, threads_list)
    print(f"\ntables and pictures: {out}")


if __name__ == "__main__":
    main()
