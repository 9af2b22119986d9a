#!/usr/bin/env python3
"""The exchange of the SAGIPS paper in the tools that its authors name: mpi4py and NumPy.

Written by us from the paper's Sec. IV-B2: a ring of whole tensors, Isend and Irecv, n - 1 hops, add, divide. Measured
like bench/exchange_bench ("call"): all ranks leave a barrier, each clocks its own call, the slowest rank counts, the
median over rounds is printed. The variants alternate round by round.

  ring              one ring for each weight tensor of 6-128-128-128-128-6
  ring_with_biases  one ring for each weight and each bias tensor
  ring_fused        one ring for all numbers at once
  all_reduce        MPI_Allreduce of all numbers at once, through mpi4py

usage: mpirun -n N python3 bench/peers/mpi4py_ring.py [--rounds N] [--out FILE.csv]
"""
import argparse
import math
import statistics
import time

import numpy
from mpi4py import MPI

LAYERS = (6, 128, 128, 128, 128, 6)
WARM_UP_ROUNDS, WARM_UP_CALLS = 10, 2

world = MPI.COMM_WORLD


class Ring:
    """Averages one array over all ranks; its buffers are made once."""

    def __init__(self, values):
        self.values = values
        self.buffers = [numpy.empty_like(values), numpy.empty_like(values)]
        self.left = (world.rank - 1) % world.size
        self.right = (world.rank + 1) % world.size

    def __call__(self):
        outgoing, incoming = self.buffers
        numpy.copyto(outgoing, self.values)
        for _ in range(world.size - 1):
            MPI.Request.Waitall([world.Irecv(incoming, self.left), world.Isend(outgoing, self.right)])
            self.values += incoming
            outgoing, incoming = incoming, outgoing
        self.values /= world.size


class AllReduce:
    def __init__(self, values):
        self.values = values
        self.sum = numpy.empty_like(values)

    def __call__(self):
        world.Allreduce(self.values, self.sum)
        numpy.divide(self.sum, world.size, out=self.values)


def ones(shapes):
    return [numpy.ones(shape, dtype=numpy.float32) for shape in shapes]


def one_by_one(arrays):
    rings = [Ring(array) for array in arrays]

    def call():
        for ring in rings:
            ring()
    return call


def variants():
    """(name, floats, call) each."""
    weights = list(zip(LAYERS, LAYERS[1:]))
    biases = [(outputs,) for outputs in LAYERS[1:]]
    some, everything = (sum(math.prod(shape) for shape in shapes) for shapes in (weights, weights + biases))
    flat = [(everything,)]
    return [("ring", some, one_by_one(ones(weights))),
            ("ring_with_biases", everything, one_by_one(ones(weights + biases))),
            ("ring_fused", everything, one_by_one(ones(flat))),
            ("all_reduce", everything, AllReduce(*ones(flat)))]


def clock(call):
    for _ in range(WARM_UP_CALLS):  # its own arrays back into the cache
        call()
    world.Barrier()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(chosen, rounds):
    """Median over rounds of the slowest rank's time, by variant."""
    mine = numpy.array([[clock(call) for _, _, call in chosen] for _ in range(WARM_UP_ROUNDS + rounds)])
    slowest = numpy.empty_like(mine)
    world.Allreduce(mine, slowest, op=MPI.MAX)
    return [statistics.median(column) for column in slowest[WARM_UP_ROUNDS:].T]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--out", default="")
    options = parser.parse_args()
    chosen = variants()
    times = measure(chosen, options.rounds)
    if world.rank > 0:
        return
    lines = ["ranks,peer,floats,rounds,call_us"]
    lines += [f"{world.size},{name},{floats},{options.rounds},{seconds * 1e6:.3f}"
              for (name, floats, _), seconds in zip(chosen, times)]
    print("\n".join(lines))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
