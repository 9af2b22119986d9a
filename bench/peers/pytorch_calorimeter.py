#!/usr/bin/env python3
"""Training steps of the calorimeter GAN in PyTorch, as a peer of bench/learning_bench.

Written by us from the networks, losses and step that docs/physics/calorimeter3d.md names, as a user would who knows
PyTorch: activations in place, showers in memory, RMSprop over all weights at once, no gradients of weights that nobody
reads. A step: showers made by a generator that predicts, the discriminator on real ones and on these, the generator
twice. Speaks the protocol of bench/README.md.

usage: pytorch_calorimeter.py [--batch N] [--threads N] [--channels-last] [--compile] [--make]
"""
import argparse
import json
import math
import resource
import sys
import time

import torch
from torch import nn
from torch.nn import functional

NOISE, SHAPE, SHOWERS, FLIPS, POWER, UNIT = 254, (51, 51, 25), 64, 0.05, 0.85, 0.02


def normed(channels):
    return nn.BatchNorm3d(channels, eps=1e-6, momentum=0.01)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(NOISE + 2, 5184)
        blocks = [nn.Upsample(scale_factor=6), nn.Conv3d(8, 8, (6, 6, 8)), nn.ReLU(inplace=True), normed(8)]
        for inputs in (8, 6, 6):
            blocks += [nn.Conv3d(inputs, 6, (4, 4, 6), padding=(2, 2, 1)), nn.ReLU(inplace=True), normed(6)]
        blocks += [nn.Conv3d(6, 6, (3, 3, 5), padding=(1, 1, 0)), nn.ReLU(inplace=True), normed(6),
                   nn.Conv3d(6, 6, 3, padding=(1, 1, 0)), nn.ReLU(inplace=True), nn.Conv3d(6, 1, 2), nn.ReLU(inplace=True)]
        self.blocks = nn.Sequential(*blocks)
        for layer in self.blocks:
            if isinstance(layer, nn.Conv3d):
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")

    def forward(self, numbers):
        return self.blocks(self.dense(numbers).view(-1, 8, 9, 9, 8))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv3d(1, 16, (5, 6, 6), padding="same"), nn.LeakyReLU(0.3, inplace=True), nn.Dropout(0.2)]
        for inputs, padding in ((16, (0, 0, 1)), (8, (0, 0, 1)), (8, 0)):
            layers += [nn.Conv3d(inputs, 8, (5, 6, 6), padding=padding), nn.LeakyReLU(0.3, inplace=True), normed(8),
                       nn.Dropout(0.2)]
        self.trunk = nn.Sequential(*layers, nn.AvgPool3d(2), nn.Flatten())
        self.real, self.energy = nn.Linear(19152, 1), nn.Linear(19152, 1)

    def forward(self, showers):
        seen = self.trunk(showers)
        return self.real(seen), self.energy(seen).squeeze(1)


def angle_of(cells):
    """Mean over layers of the slope from the shower's middle to the layer's, weighted by depth. shape: [n, X, Y, Z]"""
    x, y, z = (torch.arange(length) + 0.5 for length in SHAPE)
    layer = cells.sum((1, 2))
    there = layer > 1e-30
    safe = torch.where(there, layer, 1.0)
    along_x, along_y = torch.einsum("nxyz,x->nz", cells, x), torch.einsum("nxyz,y->nz", cells, y)
    total = layer.sum(1, keepdim=True).clamp_min(1e-30)
    x0, y0, z0 = (moment.sum(1, keepdim=True) / total for moment in (along_x, along_y, layer * z))
    away = ((along_x / safe - x0) ** 2 + (z - z0) ** 2).clamp_min(1e-7).sqrt()
    slope = (along_y / safe - y0) / away * torch.where(z < z0, -1.0, 1.0)
    weight = there * z
    return ((math.pi / 2 - slope.atan()) * weight).sum(1) / weight.sum(1).clamp_min(1e-7)


def percentage(found, wanted):
    return 100 * ((found - wanted).abs() / wanted.abs().clamp_min(1e-7)).mean()


class Trainer:
    def __init__(self, batch, channels_last, compiled):
        self.batch = batch
        self.generator, self.discriminator = Generator(), Discriminator()
        self.showers = torch.rand(SHOWERS, 1, *SHAPE) * (torch.rand(SHOWERS, 1, *SHAPE) < 0.05)
        self.conditions = torch.stack([torch.rand(SHOWERS) * 5, 1 + torch.rand(SHOWERS)], 1)
        if channels_last:
            layout = torch.channels_last_3d
            self.generator.to(memory_format=layout)
            self.discriminator.to(memory_format=layout)
            self.showers = self.showers.contiguous(memory_format=layout)
        self.weights = sum(weight.numel() for network in (self.generator, self.discriminator)
                           for weight in network.parameters())
        rule = {"lr": 1e-3, "alpha": 0.9, "eps": 1e-7, "foreach": True}
        self.rules = [torch.optim.RMSprop(network.parameters(), **rule)
                      for network in (self.generator, self.discriminator)]
        if compiled:
            self.generator, self.discriminator = torch.compile(self.generator), torch.compile(self.discriminator)

    def made(self, conditions):
        return self.generator(torch.cat([conditions, torch.randn(len(conditions), NOISE)], 1))

    def loss(self, showers, conditions, labels, measured):
        real, energy = self.discriminator(showers)
        loss = 3 * functional.binary_cross_entropy_with_logits(real, labels) + 0.1 * percentage(energy, conditions[:, 0])
        if measured:
            cells = showers.squeeze(1).clamp_min(0).pow(1 / POWER) * UNIT
            loss += 25 * (angle_of(cells) - conditions[:, 1]).abs().mean()
            loss += 0.1 * percentage(cells.sum((1, 2, 3)), 2 * conditions[:, 0])
        return loss

    def update(self, network, loss):
        self.rules[network].zero_grad()
        loss.backward()
        self.rules[network].step()

    def step(self):
        rows = torch.randperm(SHOWERS)[:self.batch]
        real, conditions = self.showers[rows], self.conditions[rows]
        self.generator.eval()
        with torch.no_grad():
            made = self.made(conditions)
        self.generator.train()
        for showers, label in ((real, 1.0), (made, 0.0)):
            labels = (label - (torch.rand(self.batch, 1) < FLIPS).float()).abs()
            self.update(1, self.loss(showers, conditions, labels, measured=False))
        self.discriminator.requires_grad_(False)
        for _ in range(2):
            self.update(0, self.loss(self.made(conditions), conditions, torch.ones(self.batch, 1), measured=True))
        self.discriminator.requires_grad_(True)

    def make(self):
        self.generator.eval()
        with torch.no_grad():
            self.made(self.conditions[torch.arange(self.batch) % SHOWERS])

    def clock(self, what, times):
        """Seconds a step, or a batch of showers made."""
        start = time.perf_counter()
        for _ in range(times):
            what()
        return (time.perf_counter() - start) / times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=["calorimeter"], default="calorimeter")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--channels-last", action="store_true", help="showers with their channels as last dimension")
    parser.add_argument("--compile", action="store_true", help="both networks by torch.compile")
    parser.add_argument("--make", type=int, default=0, help="1: showers made, instead of steps")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    trainer = Trainer(options.batch, options.channels_last, options.compile)
    what = trainer.make if options.make else trainer.step
    trainer.clock(what, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print("ready " + json.dumps({"weights": trainer.weights, "batch": options.batch, "peak_MB": peak}), flush=True)
    for line in sys.stdin:  # "go K"
        print(json.dumps({"seconds": trainer.clock(what, int(line.split()[1]))}), flush=True)


if __name__ == "__main__":
    main()
