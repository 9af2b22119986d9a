#!/usr/bin/env python3
"""Batches of shuffled rows of an HDF5 file by PyTorch's DataLoader, as a peer of bench/rows_bench.

Written by us as a user would who knows both: each worker opens the file once (h5py), rows are read one by one as a map-style
data set has to, and the loader's workers stay between data epochs. Speaks the protocol of bench/README.md.

usage: pytorch_rows.py --file FILE [--workers N]
"""
import argparse
import json
import sys
import time

import h5py
import torch
from torch.utils.data import DataLoader, Dataset

BATCH, WARM_UP = 100, 3


class Rows(Dataset):
    def __init__(self, path):
        self.path, self.file = path, None
        with h5py.File(path) as file:
            self.count = len(file["labels"])

    def __len__(self):
        return self.count

    def __getitem__(self, row):
        if self.file is None:
            self.file = h5py.File(self.path)
            self.features, self.labels = self.file["features"], self.file["labels"]
        return torch.from_numpy(self.features[row]), torch.tensor(self.labels[row])


def batches(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", required=True)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = Rows(options.file)
    taken = batches(DataLoader(rows, batch_size=BATCH, shuffle=True, num_workers=options.workers, drop_last=True,
                               persistent_workers=options.workers > 0))
    total = 0.0
    for _ in range(WARM_UP):
        next(taken)
    print("ready " + json.dumps({"rows": len(rows), "batch": BATCH}), flush=True)
    for line in sys.stdin:
        count = int(line[3:] or 1)
        start = time.perf_counter()
        for _ in range(count):
            total += next(taken)[0].flatten()[0].item()
        print(json.dumps({"seconds": (time.perf_counter() - start) / count, "sum": total}), flush=True)


if __name__ == "__main__":
    main()
