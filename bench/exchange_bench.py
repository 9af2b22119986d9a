#!/usr/bin/env python3
"""Compares the exchanges with MPI_Allreduce and with the paper's way in mpi4py, and draws time against size.

Runs bench/exchange_bench and bench/peers/mpi4py_ring.py in turn for each number of ranks. A ratio is taken within one
turn, and the median over turns is printed beside its bar: figures of other machines or other days never meet.
Writes FOLDER/bars.csv, FOLDER/sizes_N.csv and FOLDER/time_against_size_N.svg for each number N of ranks.

usage: bench/exchange_bench.py --program PATH [--out FOLDER] [--ranks 2,4] [--repeats 3] ...
"""
import argparse
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PEER = HERE / "peers" / "mpi4py_ring.py"
PAPER_FLOATS = 51206  # weights and biases of the paper's generator, 6-128-128-128-128-6
LIBRARY = "MPI_Allreduce"
BAR_EXACT, BAR_PEER, BAR_ONE_SIDED = 1.5, 2.5, 5.0
ONE_SIDED_FROM_RANKS = 4  # with two there is one neighbour, and little to wait for
# Ranks beyond the processors, and root, are refused by Open MPI unless it is told.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
BINDING = "OMPI_MCA_hwloc_base_binding_policy"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the built exchange_bench")
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--peer-python", default="", help="an interpreter with mpi4py and NumPy; default: looked for")
    parser.add_argument("--out", default="build/bench/exchange", help="folder for tables and pictures")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--repeats", type=int, default=3, help="turns of the comparison")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of a turn, at most")
    parser.add_argument("--seconds", type=float, default=2.0, help="for one size of one run of exchange_bench")
    parser.add_argument("--sizes", default="1,8,64,512,4096,32768,51206,262144,2097152", help="of the picture")
    parser.add_argument("--exchanges", default="all_reduce,ring,chunked_ring,rabenseifner,recursive_doubling,"
                        "double_tree,shared_node,lanes,rma_ring", help="names, or all")
    return parser.parse_args()


def under_mpi(options, ranks, command):
    # Two ranks that spin on one processor while another idles would be measured for minutes.
    binding = {BINDING: "core" if ranks <= len(os.sched_getaffinity(0)) else "none"}
    done = subprocess.run([options.mpiexec, "-n", str(ranks), *map(str, command)], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **ENVIRONMENT, **binding}, check=False)
    if done.returncode != 0:
        sys.exit(f"exchange_bench: {' '.join(map(str, command))} failed on {ranks} ranks")
    return done.stdout


def table(path, name_column, value_columns):
    """{(name, floats): {column: microseconds}} of a CSV file that a run wrote."""
    with open(path, encoding="utf-8") as file:
        return {(row[name_column], int(row["floats"])):
                {column: float(row[column]) for column in value_columns} | {"exact": row.get("exact") == "yes"}
                for row in csv.DictReader(file)}


def run_ours(options, ranks, sizes, out):
    printed = under_mpi(options, ranks, [options.program, "--sizes", sizes, "--rounds", options.rounds, "--seconds",
                                         options.seconds, "--exchanges", options.exchanges, "--out", out])
    return printed.splitlines()[0], table(out, "exchange", ("call_us", "loop_us", "inside_us"))


def python_with_mpi4py(options):
    for python in filter(None, (options.peer_python, sys.executable, "/usr/bin/python3")):
        probe = subprocess.run([python, "-c", "import mpi4py, numpy"], stderr=subprocess.DEVNULL, check=False)
        if probe.returncode == 0:
            return python
    print("bench: no Python with mpi4py and NumPy (Debian: python3-mpi4py python3-numpy): no comparison with "
          "it", file=sys.stderr)
    return None


def run_peer(options, ranks, python, out):
    under_mpi(options, ranks, [python, PEER, "--rounds", options.rounds, "--out", out])
    return {name: times["call_us"] for (name, _), times in table(out, "peer", ("call_us",)).items()}


class Turns:
    """What the turns of one number of ranks gave."""

    def __init__(self, ranks):
        self.ranks, self.ours, self.peers = ranks, [], []

    def us(self, name, column="call_us"):
        return [turn[name, PAPER_FLOATS][column] for turn in self.ours]

    def ratio(self, slow, fast):
        return statistics.median(a / b for a, b in zip(slow, fast))

    def fastest_exact(self):
        exact = {name for (name, floats), times in self.ours[0].items()
                 if floats == PAPER_FLOATS and times["exact"] and name not in (LIBRARY, "auto")}
        return min(exact, key=lambda name: statistics.median(self.us(name)))

    def bars(self):
        """(what, ratio, bar) each; a ratio says how many times faster ours is."""
        fastest = self.fastest_exact()
        yield (f"{LIBRARY} / fastest exact ({fastest})", self.ratio(self.us(LIBRARY), self.us(fastest)), BAR_EXACT)
        yield ("  the same, calls back to back",
               self.ratio(self.us(LIBRARY, "loop_us"), self.us(fastest, "loop_us")), None)
        if self.peers:
            for name, bar in (("ring", None), ("ring_with_biases", BAR_PEER), ("ring_fused", None)):
                yield (f"mpi4py {name} / ring", self.ratio([turn[name] for turn in self.peers], self.us("ring")), bar)
            yield (f"mpi4py all_reduce / {LIBRARY}",
                   self.ratio([turn["all_reduce"] for turn in self.peers], self.us(LIBRARY)), None)
        yield ("inside calls, ring (arar) / rma_ring",
               self.ratio(self.us("ring", "inside_us"), self.us("rma_ring", "inside_us")),
               BAR_ONE_SIDED if self.ranks >= ONE_SIDED_FROM_RANKS else None)


def compare(options, out, ranks_list):
    python = python_with_mpi4py(options)
    everything = [Turns(ranks) for ranks in ranks_list]
    head = ""
    for repeat in range(options.repeats):
        for turns in everything:
            print(f"turn {repeat + 1} of {options.repeats}, {turns.ranks} ranks ...", flush=True)
            head, ours = run_ours(options, turns.ranks, PAPER_FLOATS, out / "turn.csv")
            turns.ours.append(ours)
            if python:
                turns.peers.append(run_peer(options, turns.ranks, python, out / "turn.csv"))
    (out / "turn.csv").unlink()
    return head.split(",")[0], everything


def report(out, processor, repeats, everything):
    print(f"\n{processor}; {PAPER_FLOATS:,} floats, medians of {repeats} turns")
    print(f"{'ranks':>5}  {'times as long':<48} {'ratio':>8} {'bar':>6}")
    lines = ["ranks,ratio_of,ratio,bar"]
    for turns in everything:
        for what, ratio, bar in turns.bars():
            verdict = "" if bar is None else "met" if ratio >= bar else "MISSED"
            print(f"{turns.ranks:>5}  {what:<48} {ratio:>8.2f} {'' if bar is None else f'{bar:.1f}':>6}  {verdict}")
            lines.append(f'{turns.ranks},"{what.strip()}",{ratio:.4f},{"" if bar is None else bar}')
    for turns in everything:
        print(f"\n{turns.ranks} ranks, us (call, loop, inside):")
        for name in dict.fromkeys(name for name, _ in turns.ours[0]):
            columns = [statistics.median(turns.us(name, c)) for c in ("call_us", "loop_us", "inside_us")]
            print(f"  {name:<24}" + "".join(f"{value:>10.1f}" for value in columns))
        for name in turns.peers[0] if turns.peers else ():
            print(f"  {'mpi4py ' + name:<24}{statistics.median(turn[name] for turn in turns.peers):>10.1f}")
    (out / "bars.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw(out, processor, ranks, times):
    """One line an exchange, time of a call against size."""
    if not shutil.which("gnuplot"):
        print("exchange_bench: no gnuplot (Debian: gnuplot-nox): no picture", file=sys.stderr)
        return
    names = list(dict.fromkeys(name for name, _ in times))
    blocks = []
    for name in names:
        points = [f"{4 * floats} {times[name, floats]['call_us']}" for other, floats in times if other == name]
        blocks.append("\n".join([f"${name} << EOD", *sorted(points, key=lambda point: int(point.split()[0])), "EOD"]))
    curves = ", ".join(f"${name} using 1:2 with linespoints title '{name}' noenhanced" for name in names)
    script = "\n".join([
        "set terminal svg size 900,600 dynamic background 'white'",
        f"set output '{out / f'time_against_size_{ranks}.svg'}'",
        "set logscale xy", "set grid", "set key outside right", "set format x '10^{%L}'",
        "set xlabel 'array, bytes'", "set ylabel 'one call, slowest rank, us'",
        f"set title '{ranks} ranks, {processor}' noenhanced", *blocks, f"plot {curves}"])
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    options = arguments()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    ranks_list = [int(word) for word in options.ranks.split(",")]
    processor, everything = compare(options, out, ranks_list)
    for ranks in ranks_list:
        print(f"sizes, {ranks} ranks ...", flush=True)
        _, times = run_ours(options, ranks, options.sizes, out / f"sizes_{ranks}.csv")
        draw(out, processor, ranks, times)
    report(out, processor, options.repeats, everything)
    print(f"\ntables and pictures: {out}")


if __name__ == "__main__":
    main()
