#!/usr/bin/env python3
"""One training epoch of proxy1d at the SAGIPS paper's setting, in PyTorch, as a peer of bench/epoch_bench.

Written by us for speed, as a user would who knows PyTorch: fused Adam, activations in place, weights that nobody
updates require no gradients. An epoch: the discriminator's step on measured and fresh synthetic events, then the
generator's step through the discriminator. Speaks the protocol of bench/README.md.

  eager    the whole batch at once
  compile  the same, the two losses (and so their derivatives) by torch.compile
  tiled    a few parameter samples at a time, gradients accumulated; the fastest of 16, 32 and 64 samples is kept
  tiled --processes 2: each worker process takes its share of the samples, gradients are summed in shared memory

usage: pytorch_epoch.py --variant eager|compile|tiled [--threads N] [--samples S] [--tile T] [--processes P]
"""
import argparse
import json
import os
import sys
import time

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # leaves no pool of compiling processes behind

import torch  # noqa: E402
from torch import nn  # noqa: E402

EVENTS = 100  # of a parameter sample
MEASURED_EVENTS = 20000
WARM_UP_EPOCHS = 2
TILES = (16, 32, 64)

# N_u, a_u, b_u, N_d, a_d, b_d
LOWEST = (0.0, -1.0, 0.0, 0.0, -1.0, 0.0)
HIGHEST = (3.0, 1.0, 5.0, 3.0, 1.0, 5.0)
TRUTH = (2.1875, -0.5, 3.0, 1.09375, -0.5, 4.0)

X_LOW, X_HIGH, POINTS = 0.1, 0.99999, 1000
X_STEP = (X_HIGH - X_LOW) / POINTS
COVERAGE = 0.9999

NOISE_DIMENSIONS, WIDTH, LAYERS, SLOPE = 6, 128, 4, 0.2
GENERATOR_RATE, DISCRIMINATOR_RATE, BETAS = 1e-5, 1e-4, (0.5, 0.999)


# --- the loss ----------------------------------------------------------------------------------------


class LeakyReluWithoutMask(nn.Module):
    """The same function for torch.compile, which else keeps the signs as a mask that it writes number by number."""

    def forward(self, x):
        return (1 + SLOPE) / 2 * x + (1 - SLOPE) / 2 * x.abs()


def network(inputs, outputs, compiled):
    modules = []
    for fan_in in [inputs] + [WIDTH] * (LAYERS - 1):
        activation = LeakyReluWithoutMask() if compiled else nn.LeakyReLU(SLOPE, inplace=True)
        modules += [nn.Linear(fan_in, WIDTH), activation]
    modules += [nn.Linear(WIDTH, outputs), nn.Sigmoid()]
    for linear in modules[::2]:
        nn.init.kaiming_normal_(linear.weight, SLOPE)
        nn.init.zeros_(linear.bias)
    return nn.Sequential(*modules)


class Pipeline:
    """Parameters to events, by the authors' inverse-CDF recipe. shape: [samples, 6] -> [samples * events, 2]"""

    def __init__(self):
        x = X_LOW + X_STEP * torch.arange(POINTS)
        self.log_x, self.log_rest = torch.log(x), torch.log1p(-x)

    def densities(self, parameters):
        """sigma_1 = 4 u + d, sigma_2 = 4 d + u. shape: [samples, 2, points]"""
        norm_u, a_u, b_u, norm_d, a_d, b_d = parameters[:, :, None].unbind(1)
        u = norm_u * torch.exp(a_u * self.log_x + b_u * self.log_rest)
        d = norm_d * torch.exp(a_d * self.log_x + b_d * self.log_rest)
        return torch.stack((4 * u + d, u + 4 * d), dim=1)

    def sample(self, densities, uniform):
        """shape: [samples, 2, points], [samples, 2, events] -> [samples * events, 2]"""
        tail = densities.flip(-1).cumsum(-1)  # summed from the right, so that it ascends
        survival = tail / tail[..., -1:]
        at = COVERAGE * uniform
        upper = torch.searchsorted(survival.detach(), at).clamp(1, POINTS - 1)
        lower = upper - 1
        s_lower, s_upper = survival.gather(-1, lower), survival.gather(-1, upper)
        share = ((at - s_lower) / (s_upper - s_lower).clamp_min(torch.finfo(at.dtype).tiny)).clamp(0, 1)
        x = X_LOW + (POINTS - 1) * X_STEP - X_STEP * (lower + share)
        return x.transpose(1, 2).flatten(0, 1)

    @staticmethod
    def norms(densities):
        return X_STEP * densities[..., :-1].sum(-1)


class Gan:
    """The two networks and their losses, each a mean over the samples it is given."""

    def __init__(self, compiled=False):
        self.generator = network(NOISE_DIMENSIONS, len(TRUTH), compiled)
        self.discriminator = network(2, 1, compiled)
        self.pipeline = Pipeline()
        self.lowest = torch.tensor(LOWEST)
        self.span = torch.tensor(HIGHEST) - self.lowest
        densities = self.pipeline.densities(torch.tensor([TRUTH]))
        self.data = self.pipeline.sample(densities, torch.rand(1, 2, MEASURED_EVENTS))
        self.reference = self.pipeline.norms(densities)

    def propose(self, noise):
        return self.pipeline.densities(self.lowest + self.span * self.generator(noise))

    def discriminator_loss(self, noise, uniform, rows):
        with torch.no_grad():
            synthetic = self.pipeline.sample(self.propose(noise), uniform)
        real = self.data.index_select(0, rows)
        return (self.discriminator(real) - 1).square().mean() + self.discriminator(synthetic).square().mean()

    def generator_loss(self, noise, uniform):
        densities = self.propose(noise)
        judged = self.discriminator(self.pipeline.sample(densities, uniform))
        reference = (self.pipeline.norms(densities) - self.reference).square().sum(1).mean()
        return (judged - 1).square().mean() + reference


# --- gradients ---------------------------------------------------------------------------------------


class OwnGradients:
    """Of a process that has the whole batch."""

    def __init__(self, parameters):
        self.parameters = parameters

    def begin(self):
        for parameter in self.parameters:
            parameter.grad = None

    def finish(self):
        pass


class SummedGradients:
    """Each process accumulates in its row of a shared table; after a barrier each adds up all rows.

    One barrier a step suffices: a row is written again only after the other network's barrier, which a process
    reaches when it has read this table.
    """

    def __init__(self, parameters, table, rank, barrier):
        self.parameters, self.table, self.mine, self.barrier = parameters, table, table[rank], barrier
        self.total = torch.empty_like(self.mine)
        self.views_mine, self.views_total = self.views(self.mine), self.views(self.total)

    def views(self, flat):
        sizes = [parameter.numel() for parameter in self.parameters]
        return [part.view_as(parameter) for part, parameter in zip(flat.split(sizes), self.parameters)]

    def point_at(self, views):
        for parameter, view in zip(self.parameters, views):
            parameter.grad = view

    def begin(self):
        self.mine.zero_()
        self.point_at(self.views_mine)

    def finish(self):
        self.barrier.wait()
        torch.sum(self.table, 0, out=self.total)
        self.point_at(self.views_total)


# --- an epoch ----------------------------------------------------------------------------------------


class Trainer:
    """`samples` of a batch of `batch` are this process's own."""

    def __init__(self, gan, samples, batch, compiled, generator_gradients, discriminator_gradients):
        self.gan, self.samples, self.batch = gan, samples, batch
        self.generator_gradients, self.discriminator_gradients = generator_gradients, discriminator_gradients
        self.generator_loss, self.discriminator_loss = gan.generator_loss, gan.discriminator_loss
        if compiled:
            self.generator_loss = torch.compile(gan.generator_loss, dynamic=False)
            self.discriminator_loss = torch.compile(gan.discriminator_loss, dynamic=False)
        adam = dict(betas=BETAS, fused=True)
        self.generator_adam = torch.optim.Adam(gan.generator.parameters(), lr=GENERATOR_RATE, **adam)
        self.discriminator_adam = torch.optim.Adam(gan.discriminator.parameters(), lr=DISCRIMINATOR_RATE, **adam)

    def discriminator_step(self, noise):
        self.discriminator_gradients.begin()
        for part in noise:
            uniform = torch.rand(len(part), 2, EVENTS)
            rows = torch.randint(MEASURED_EVENTS, (len(part) * EVENTS,))
            self.accumulate(self.discriminator_loss(part, uniform, rows), part)
        self.discriminator_gradients.finish()
        self.discriminator_adam.step()

    def generator_step(self, noise):
        self.gan.discriminator.requires_grad_(False)
        self.generator_gradients.begin()
        for part in noise:
            self.accumulate(self.generator_loss(part, torch.rand(len(part), 2, EVENTS)), part)
        self.generator_gradients.finish()
        self.generator_adam.step()
        self.gan.discriminator.requires_grad_(True)

    def accumulate(self, loss, part):
        (loss * (len(part) / self.batch)).backward()

    def epoch(self, tile):
        noise = torch.randn(self.samples, NOISE_DIMENSIONS).split(tile)
        self.discriminator_step(noise)
        self.generator_step(noise)


def clock(trainer, tile, epochs, barrier=None):
    """Seconds per epoch."""
    if barrier:
        barrier.wait()
    start = time.perf_counter()
    for _ in range(epochs):
        trainer.epoch(tile)
    return (time.perf_counter() - start) / epochs


# --- memory ------------------------------------------------------------------------------------------


def memory_mb(field):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def forget_peak():
    """The peak begins anew, so that neither the import nor torch.compile's own work counts."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass  # then the peak includes them


# --- alone, or several processes ---------------------------------------------------------------------


class Alone:
    processes = 1

    def __init__(self, options):
        torch.manual_seed(1)
        compiled = options.variant == "compile"
        gan = Gan(compiled)
        own = [OwnGradients(list(module.parameters())) for module in (gan.generator, gan.discriminator)]
        self.trainer = Trainer(gan, options.samples, options.samples, compiled, *own)

    def clock(self, tile, epochs):
        return clock(self.trainer, tile, epochs)

    def memory_mb(self, field):
        return memory_mb(field)

    def forget_peak(self):
        forget_peak()


def work(rank, threads, samples, batch, tables, barrier, orders):
    """A worker process: does what `orders`, a pipe, says until it is closed."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)  # all begin with the same weights
    gan = Gan()
    summed = [SummedGradients(list(module.parameters()), table, rank, barrier)
              for module, table in zip((gan.generator, gan.discriminator), tables)]
    torch.manual_seed(2 + rank)
    trainer = Trainer(gan, samples, batch, False, *summed)
    actions = {"clock": lambda tile, epochs: clock(trainer, tile, epochs, barrier),
               "memory_mb": memory_mb, "forget_peak": forget_peak}
    while True:
        try:
            name, arguments = orders.recv()
        except (EOFError, KeyboardInterrupt):
            return
        orders.send(actions[name](*arguments))


class ProcessPool:
    def __init__(self, options):
        self.processes = options.processes
        context = torch.multiprocessing.get_context("spawn")
        self.barrier = context.Barrier(self.processes)  # kept: without an owner it vanishes before workers open it
        gan = Gan()
        tables = [torch.zeros(self.processes, sum(weight.numel() for weight in module.parameters())).share_memory_()
                  for module in (gan.generator, gan.discriminator)]
        self.pipes = []
        for rank in range(self.processes):
            mine, theirs = context.Pipe()
            share = options.samples // self.processes + (rank < options.samples % self.processes)
            threads = max(1, options.threads // self.processes)
            context.Process(target=work, daemon=True, args=(rank, threads, share, options.samples, tables,
                                                            self.barrier, theirs)).start()
            theirs.close()  # so that a worker's end shows as the end of its pipe
            self.pipes.append(mine)

    def all(self, name, *arguments):
        for pipe in self.pipes:
            pipe.send((name, arguments))
        return [pipe.recv() for pipe in self.pipes]

    def clock(self, tile, epochs):
        return max(self.all("clock", tile, epochs))

    def memory_mb(self, field):
        return sum(self.all("memory_mb", field))

    def forget_peak(self):
        self.all("forget_peak")


# --- the protocol ------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", choices=("eager", "compile", "tiled"), required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--samples", type=int, default=1024, help="parameter samples of an epoch")
    parser.add_argument("--tile", type=int, default=0, help="samples at a time; 0: the fastest at warm-up")
    parser.add_argument("--processes", type=int, default=1, help="of tiled, which share the threads")
    options = parser.parse_args()
    if options.processes > 1 and options.variant != "tiled":
        parser.error("several processes are for --variant tiled")
    if options.samples < options.processes:
        parser.error("fewer samples than processes")
    return options


def choose_tile(options, runner):
    if options.variant != "tiled":
        return options.samples
    if options.tile:
        return options.tile
    most = -(-options.samples // options.processes)
    times = {tile: min(runner.clock(tile, 1) for _ in range(3)) for tile in sorted({min(t, most) for t in TILES})}
    return min(times, key=times.get)


def say(text):
    print(text, flush=True)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    runner = ProcessPool(options) if options.processes > 1 else Alone(options)
    resident = runner.memory_mb("VmRSS")
    tile = choose_tile(options, runner)
    runner.clock(tile, WARM_UP_EPOCHS)
    if options.variant == "compile":
        resident = runner.memory_mb("VmRSS")  # what the compiler leaves behind is no part of an epoch
    runner.forget_peak()
    say("ready " + json.dumps({
        "name": f"pytorch {options.variant}", "threads": options.threads, "processes": runner.processes,
        "samples": options.samples, "events": options.samples * EVENTS, "tile": tile,
        "resident_mb": round(resident, 1), "version": torch.__version__}))
    for line in sys.stdin:
        words = line.split()
        if words and words[0] == "go":
            seconds = runner.clock(tile, int(words[1]) if len(words) > 1 else 1)
            say(json.dumps({"seconds": seconds, "peak_mb": round(runner.memory_mb("VmHWM"), 1)}))


if __name__ == "__main__":
    main()
