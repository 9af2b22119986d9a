#!/usr/bin/env python3
"""Training steps of a network on several ranks in PyTorch: DistributedDataParallel over gloo, a thread a rank.

The networks, rows and steps are those of pytorch_learning.py, each rank with rows of its own. Prints the mean time of
a step in JSON.

usage: pytorch_ddp.py --network NAME --ranks N --steps K
"""
import argparse
import json
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes

import pytorch_learning

WARM_UP_STEPS = 200


def run(rank, options, place):
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", init_method=f"file://{place}", rank=rank, world_size=options.ranks)
    trainer = pytorch_learning.Trainer(options.network, False, False)
    trainer.network = torch.nn.parallel.DistributedDataParallel(trainer.network, gradient_as_bucket_view=True,
                                                                static_graph=True)
    trainer.clock(WARM_UP_STEPS)
    dist.barrier()
    start = time.perf_counter()
    trainer.clock(options.steps)
    dist.barrier()
    if rank == 0:
        print(json.dumps({"seconds": (time.perf_counter() - start) / options.steps, "weights": trainer.weights}), flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=pytorch_learning.NETWORKS, required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, required=True)
    options = parser.parse_args()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        processes.spawn(run, (options, os.path.join(folder, "store")), nprocs=options.ranks)


if __name__ == "__main__":
    main()
