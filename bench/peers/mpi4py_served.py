#!/usr/bin/env python3
"""A parameter server in mpi4py and NumPy by the protocol of NNLO: Downpour, one master, which does not compute.

Written by us from its description: a worker announces an update with its time step, the master answers whether it takes
it, the worker sends one message for each tensor, and is answered with the master's time step and its weights, again
tensor by tensor. Control values are pickled, tensors are float32 buffers, every call blocks. Tensors are those of a
network of 600,810 weights. Prints a line of JSON: updates a second, and the time that a worker spends in an exchange.

usage: mpirun -n N python3 bench/peers/mpi4py_served.py [--steps N] [--work-ms T]
"""
import argparse
import json
import time

import numpy
from mpi4py import MPI

SHAPES = ((32, 1, 3, 3), (32,), (32, 32, 3, 3), (32,), (4608, 128), (128,), (128, 10), (10,))
BEGIN, STEP, ACCEPT, UPDATE, WEIGHTS, EXIT = 3, 4, 5, 12, 13, 1
world = MPI.COMM_WORLD


def master(weights):
    """Serves whoever comes first until all workers have left."""
    step, left, status = 0, 0, MPI.Status()
    update = [numpy.empty_like(tensor) for tensor in weights]
    while left < world.size - 1:
        world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        worker = status.Get_source()
        if status.Get_tag() == EXIT:
            left += 1
            continue
        world.recv(source=worker, tag=STEP)
        world.send(True, dest=worker, tag=ACCEPT)
        for tensor in update:
            world.Recv(tensor, source=worker, tag=UPDATE)
        for tensor, gradient in zip(weights, update):
            tensor -= numpy.float32(1e-3) * gradient
        step += 1
        world.send(step, dest=worker, tag=STEP)
        for tensor in weights:
            world.Send(tensor, dest=worker, tag=WEIGHTS)


def worker(weights, steps, work_s):
    """Returns the mean time of an exchange."""
    gradient = [numpy.full_like(tensor, 1e-3) for tensor in weights]
    spent, step = 0.0, 0
    for _ in range(steps):
        if work_s > 0:
            time.sleep(work_s)
        entered = time.perf_counter()
        world.send(None, dest=0, tag=BEGIN)
        world.send(step, dest=0, tag=STEP)
        world.recv(source=0, tag=ACCEPT)
        for tensor in gradient:
            world.Send(tensor, dest=0, tag=UPDATE)
        step = world.recv(source=0, tag=STEP)
        for tensor in weights:
            world.Recv(tensor, source=0, tag=WEIGHTS)
        spent += time.perf_counter() - entered
    world.send(None, dest=0, tag=EXIT)
    return spent / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--work-ms", type=float, default=0)
    options = parser.parse_args()
    weights = [numpy.ones(shape, dtype=numpy.float32) for shape in SHAPES]
    assert sum(tensor.size for tensor in weights) == 600810
    world.Barrier()
    begun = time.perf_counter()
    mean = 0.0
    if world.rank == 0:
        master(weights)
    else:
        mean = worker(weights, options.steps, options.work_ms * 1e-3)
    world.Barrier()
    seconds = time.perf_counter() - begun
    slowest = world.reduce(mean, op=MPI.MAX)
    if world.rank == 0:
        print(json.dumps({"updates_a_second": options.steps * (world.size - 1) / seconds, "exchange_ms": slowest * 1e3}))


if __name__ == "__main__":
    main()
