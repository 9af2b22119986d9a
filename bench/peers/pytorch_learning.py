#!/usr/bin/env python3
"""Training steps of seven networks in eager PyTorch, as a peer of bench/learning_bench.

Written by us for speed, as a user would who knows PyTorch: fused Adam, activations in place, rows in memory. A step:
a batch of shuffled rows, forward, backward, update. Speaks the protocol of bench/README.md.

usage: pytorch_learning.py --network NAME [--threads N] [--channels-last] [--gather] [--compile]
"""
import argparse
import json
import os
import resource
import sys
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # leaves no pool of compiling processes behind

import torch  # noqa: E402
from torch import nn  # noqa: E402

BATCHES, WARM_UP_STEPS, RATE = 100, 3, 1e-3


def relu(layer):
    return [layer, nn.ReLU(inplace=True)]


def fashion():
    return [*relu(nn.Conv2d(1, 32, 3)), *relu(nn.Conv2d(32, 32, 3)), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
            *relu(nn.Linear(32 * 12 * 12, 128)), nn.Dropout(0.5), nn.Linear(128, 10)]


def fashion_small():
    return [*relu(nn.Conv2d(1, 10, 5)), nn.MaxPool2d(2), *relu(nn.Conv2d(10, 20, 5)), nn.MaxPool2d(2), nn.Flatten(),
            *relu(nn.Linear(20 * 4 * 4, 50)), nn.Dropout(0.5), nn.Linear(50, 10)]


def shapes():
    return [*relu(nn.Conv2d(3, 48, 3, padding=1)), nn.MaxPool2d(2), *relu(nn.Conv2d(48, 96, 3, padding=1)),
            nn.MaxPool2d(2), *relu(nn.Conv2d(96, 192, 3, padding=1)), nn.MaxPool2d(2), nn.Flatten(),
            *relu(nn.Linear(192 * 4 * 4, 512)), nn.Dropout(0.25), *relu(nn.Linear(512, 256)), nn.Dropout(0.25),
            nn.Linear(256, 10)]


def stress_strain():
    return [*relu(nn.Linear(600, 199)), *relu(nn.Linear(199, 120)), *relu(nn.Linear(120, 80)), nn.Linear(80, 2)]


def stress_strain_convolution():
    return [*relu(nn.Conv1d(3, 32, 9, padding=4)), *relu(nn.Conv1d(32, 32, 7, padding=3)), nn.MaxPool1d(8), nn.Flatten(),
            *relu(nn.Linear(800, 181)), nn.Linear(181, 2)]


class LastOfLstm(nn.Module):
    """With one bias, as Keras has it: the other one is 0 and stays so."""

    def __init__(self, inputs, width):
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, batch_first=True)
        nn.init.zeros_(self.lstm.bias_hh_l0)
        self.lstm.bias_hh_l0.requires_grad = False

    def forward(self, rows):
        return self.lstm(rows)[1][0][-1]


def stress_strain_recurrent():
    return [LastOfLstm(3, 170), *relu(nn.Linear(170, 203)), nn.Linear(203, 2)]


def chain(*widths):
    return nn.Sequential(*(layer for pair in zip(widths, widths[1:]) for layer in (nn.Linear(*pair), nn.ELU(inplace=True))))


class Jets(nn.Module):
    """JEDI-net (arXiv 1908.05318): each particle hears from all others."""

    def __init__(self, particles, numbers, gathers):
        super().__init__()
        edges = (1 - torch.eye(particles)).nonzero()
        self.receivers, self.senders, self.gathers, self.particles = edges[:, 0], edges[:, 1], gathers, particles
        self.of_receivers, self.of_senders = (nn.functional.one_hot(ends, particles).float() for ends in edges.t())
        self.messages, self.objects = chain(2 * numbers, 30, 15, 10), chain(numbers + 10, 30, 15, 10)

    def forward(self, rows):
        if self.gathers:
            pairs = torch.cat([rows[:, self.receivers], rows[:, self.senders]], 2)
            made = self.messages(pairs)  # the edges of a receiver stand together
            heard = made.view(len(rows), self.particles, self.particles - 1, -1).sum(2)
        else:  # the authors' form
            pairs = torch.cat([self.of_receivers @ rows, self.of_senders @ rows], 2)
            heard = self.of_receivers.t() @ self.messages(pairs)
        return self.objects(torch.cat([rows, heard], 2))


def jets(gathers=False):
    return [Jets(100, 16, gathers), nn.Flatten(), *chain(1000, 30, 15), nn.Linear(15, 5)]


# layers, shape of a row, rows of a step, values of a target (0: one of five classes)
NETWORKS = {"fashion": (fashion, (1, 28, 28), 100, 0), "fashion_small": (fashion_small, (1, 28, 28), 100, 0),
            "shapes": (shapes, (3, 32, 32), 100, 0), "stress_strain": (stress_strain, (600,), 75, 2),
            "stress_strain_convolution": (stress_strain_convolution, (3, 200), 75, 2),
            "stress_strain_recurrent": (stress_strain_recurrent, (200, 3), 75, 2),
            "jets": (jets, (100, 16), 100, 0)}


class Trainer:
    def __init__(self, name, channels_last, gathers, compiled=False):
        layers, shape, self.batch, values = NETWORKS[name]
        self.network = nn.Sequential(*(layers(gathers) if name == "jets" else layers()))
        rows = BATCHES * self.batch
        self.inputs = torch.randn(rows, *shape)
        self.targets = torch.randn(rows, values) if values else torch.randint(5, (rows,))
        self.loss = nn.MSELoss() if values else nn.CrossEntropyLoss()
        if channels_last:
            self.network.to(memory_format=torch.channels_last)
            self.inputs = self.inputs.contiguous(memory_format=torch.channels_last)
        learned = [weight for weight in self.network.parameters() if weight.requires_grad]
        self.weights = sum(weight.numel() for weight in learned)
        self.adam = torch.optim.Adam(learned, lr=RATE, fused=True)
        if compiled:
            self.network = torch.compile(self.network)
        self.total, self.order = torch.zeros(()), []

    def step(self):
        self.order = self.order or list(torch.randperm(len(self.inputs)).split(self.batch))
        rows = self.order.pop()
        loss = self.loss(self.network(self.inputs[rows]), self.targets[rows])
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        self.total += loss.detach()

    def clock(self, steps):
        """Seconds per step."""
        start = time.perf_counter()
        for _ in range(steps):
            self.step()
        return (time.perf_counter() - start) / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--channels-last", action="store_true", help="images with their channels as last dimension")
    parser.add_argument("--gather", action="store_true", help="jets: pairs by their places, not by matrices")
    parser.add_argument("--compile", action="store_true", help="the network by torch.compile")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    trainer = Trainer(options.network, options.channels_last, options.gather, options.compile)
    trainer.clock(WARM_UP_STEPS)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print("ready " + json.dumps({"weights": trainer.weights, "batch": trainer.batch, "peak_MB": peak}), flush=True)
    for line in sys.stdin:  # "go K"
        print(json.dumps({"seconds": trainer.clock(int(line.split()[1]))}), flush=True)


if __name__ == "__main__":
    main()
