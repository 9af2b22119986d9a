#!/usr/bin/env python3
"""Training steps of the calorimeter GAN, of JEDI-net and of the stress-strain regression in PyTorch on one GPU.

What a PyTorch user gets, and which ways are open for each: precisions, layouts, CUDA graphs, torch.compile, and
algorithms that do less work. The networks, losses and batch sizes are the published ones; data are random numbers that
live on the device, so loading is not measured. Prints a line a variant while it runs, then one table, and writes JSON
after every variant. A variant that fails, or takes longer than its limit, costs its own line only.

  regression   600-199-120-80-2 and the convolutional shape of the same 153,441 weights, batch 75 and 1000
  jedi         the interaction network at 100 particles, batch 100 and 1000, in three forms of the same function
  calorimeter  the step with four updates at batch 64, and two of its convolutions alone
  layers       every convolution of the calorimeter's networks alone (not among the default parts)
  kernels      which kernels take a calorimeter step's time (not among the default parts)

usage: pytorch_gpu.py [--parts regression,jedi,calorimeter] [--json PATH] [--budget SECONDS]
       pytorch_gpu.py --device cpu --small     tries every variant but CUDA graphs, in about a minute
"""
import argparse
import contextlib
import gc
import json
import math
import os
import signal
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Callable

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(min(8, os.cpu_count() or 1)))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

ORDINARY_LIMIT, SEARCH_LIMIT, COMPILE_LIMIT = 25, 40, 60  # seconds a variant, all included
BASE = "eager float32"  # what ratios are taken against, within a group
PARTS = ("regression", "jedi", "calorimeter", "layers", "kernels")


# --- measuring ---------------------------------------------------------------------------------------


@dataclass
class Variant:
    part: str
    group: str  # ratios are taken within a group
    name: str
    build: Callable  # () -> step, or () -> Captured
    limit: float = ORDINARY_LIMIT
    late: int = 0  # variants with a higher number run after all others: the budget may not reach them
    flop: float = 0.0  # of a step as the plain algorithm does it, so that rates of a group compare


class Captured:
    """A step as one CUDA graph: no launches by the host, all memory from one pool."""

    def __init__(self, step, warm_up=3):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(warm_up):
                step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()  # replays allocate nothing: the peak is that of the capture
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            step()
        self.step = step  # its tensors must outlive the graph

    def __call__(self):
        self.graph.replay()


class OverLimit(Exception):
    pass


@contextlib.contextmanager
def limited(seconds):
    """Raises OverLimit in this thread, as soon as Python runs again, when the block takes too long."""
    def stop(*_):
        raise OverLimit(f"took longer than {seconds:.0f} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@dataclass
class Bench:
    device: torch.device
    small: bool
    seconds: float  # that the timed steps of a variant may take
    search: bool = False  # cudnn.benchmark
    results: list = field(default_factory=list)

    @property
    def on_gpu(self):
        return self.device.type == "cuda"

    def synchronize(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def clock(self, step, count):
        """Seconds a step."""
        self.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            step()
        self.synchronize()
        return (time.perf_counter() - start) / count

    def host_seconds(self, step):
        """Seconds until a step is enqueued, from an idle device."""
        self.synchronize()
        start = time.perf_counter()
        step()
        passed = time.perf_counter() - start
        self.synchronize()
        return passed

    def measure(self, step):
        """The first steps, which choose algorithms and take memory, are not among those timed."""
        first = self.clock(step, 1)
        slow = first > 4
        if not slow:
            first = min(self.clock(step, 1) for _ in range(2 if first < 0.2 else 1))
        if self.on_gpu and not isinstance(step, Captured):
            torch.cuda.reset_peak_memory_stats()  # what a search for algorithms took is over
        count = max(1, min(200, int(0.02 / first)))
        turns = 1 if slow else max(2, min(15, int(self.seconds / (first * count))))
        times = [self.clock(step, count) for _ in range(turns)]
        result = {"milliseconds": 1e3 * statistics.median(times), "lowest": 1e3 * min(times), "highest": 1e3 * max(times),
                  "timed_steps": turns * count}
        if self.on_gpu:
            result["peak_megabytes"] = torch.cuda.max_memory_allocated() / 1e6
            result["host_milliseconds"] = 1e3 * statistics.median(
                [self.host_seconds(step) for _ in range(5 if first < 0.05 else 1)])
        return result

    def clean(self):
        """Leaves nothing of a variant behind: neither its memory nor its settings."""
        gc.collect()
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        set_precision("float32")
        torch.backends.cudnn.benchmark = self.search
        if self.on_gpu:
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()

    def run(self, variant):
        result = {"part": variant.part, "group": variant.group, "variant": variant.name}
        start = time.perf_counter()
        try:
            self.clean()
            torch.manual_seed(1)
            with limited(variant.limit):
                result.update(self.measure(variant.build()))
            if variant.flop:
                result["teraflops"] = variant.flop / result["milliseconds"] / 1e9
        except Exception as problem:  # a variant that this machine lacks costs its own line only
            lines = [line for line in str(problem).splitlines() if line.strip()] or [""]
            result["failure"] = f"{type(problem).__name__}: {lines[0]}"[:200]
        result["seconds_taken"] = time.perf_counter() - start
        self.results.append(result)
        print(row(result, None), flush=True)


def row(result, base):
    name = f"{result['variant']:44s}"
    if "failure" in result:
        return f"  {name} {result['failure'][:100]}"
    speed_up = base / result["milliseconds"] if base else None
    columns = ((result.get("host_milliseconds"), 9, 3), (speed_up, 8, 2), (result.get("peak_megabytes"), 8, 0),
               (result.get("teraflops"), 8, 2))
    cells = (f"{'-':>{width}s}" if value is None else f"{value:{width}.{digits}f}" for value, width, digits in columns)
    return f"  {name} {result['milliseconds']:10.3f} {' '.join(cells)}"


def table(results):
    print(f"\n  {'':44s} {'ms, median':>10s} {'host ms':>9s} {'speed-up':>8s} {'peak MB':>8s} {'TFLOP/s':>8s}")
    for group in dict.fromkeys(result["group"] for result in results):
        members = [result for result in results if result["group"] == group]
        base = next((result["milliseconds"] for result in members
                     if result["variant"].endswith(BASE) and "failure" not in result), None)
        print(group)
        for result in members:
            if base and "failure" not in result:
                result["speed_up"] = base / result["milliseconds"]
            print(row(result, base))
    print("speed-up: against the first line of the group that ends in 'eager float32'; host ms: until a step is enqueued "
          "from an idle device;\nTFLOP/s: operations of the plain algorithm over the time, also where fewer were done")


def set_precision(name):
    """float32 or TF32 for products and convolutions alike; PyTorch's own default is TF32 for convolutions alone."""
    torch.backends.cuda.matmul.allow_tf32 = name != "float32"
    torch.backends.cudnn.allow_tf32 = name != "float32"


def autocast(bench, precision):
    return torch.autocast(bench.device.type, torch.bfloat16, enabled=precision == "bfloat16")


# --- an upsampled convolution by its distinct taps ---------------------------------------------------


class DistinctTaps:
    """Convolution after nearest upsampling, on the grid before it.

    An output at o = factor q + r (phase r) reads upsampled positions o to o + kernel - 1, which lie in the cells
    (o + t) // factor = q + (r + t) // factor: with factor 6 and kernel 6 two cells at most, with kernel 8 three. So each
    phase is a small convolution on the cells, with a weight that sums the taps t of the same cell. All phases together
    are one convolution with factor^3 times as many channels, whose outputs are interleaved and cropped. Of 288 taps
    6 x 6 x 8, 12 remain (7.3 without the zeros that make all phases alike; on a GPU memory limits this layer, so the
    zeros cost nothing).
    """

    def __init__(self, cells, kernel, factor, device, dtype=torch.float32):
        self.kernel, self.factor = kernel, factor
        self.outputs = [n * factor - k + 1 for n, k in zip(cells, kernel)]
        self.steps = [-(-size // factor) for size in self.outputs]
        self.width = [(factor + k - 2) // factor + 1 for k in kernel]
        self.padding = [steps + width - 1 - n for steps, width, n in zip(self.steps, self.width, cells)]
        self.select = [self.selection(k, width).to(device, dtype) for k, width in zip(kernel, self.width)]

    def selection(self, kernel, width):
        """One where tap t of phase r falls on cell c. shape: [phase, cell, tap]"""
        reached = (torch.arange(self.factor)[:, None] + torch.arange(kernel)) // self.factor
        return (reached[:, None, :] == torch.arange(width)[None, :, None]).float()

    def fold(self, weight, order):
        """Sums the taps of each cell, in full precision under autocast too. order: of the dimensions o, i, p q r, x y z."""
        with torch.autocast(weight.device.type, enabled=False):
            return torch.einsum(f"oiabc,pxa,qyb,rzc->{order}", weight, *self.select)

    def padded(self, cells):
        return F.pad(cells, [amount for p in reversed(self.padding) for amount in (0, p)])

    def crop(self, images):
        x, y, z = self.outputs
        return images[:, :, :x, :y, :z]

    def by_convolution(self, cells, weight, bias):
        """shape: [batch, in, cells] -> [batch, out, outputs]; a view that the next operation makes dense"""
        out, phases = len(bias), self.factor ** 3
        folded = self.fold(weight, "opqrixyz").reshape(out * phases, weight.shape[1], *self.width)
        values = F.conv3d(self.padded(cells), folded, bias[:, None].expand(-1, phases).reshape(-1))
        f, (x, y, z) = self.factor, self.steps
        values = values.reshape(-1, out, f, f, f, x, y, z).permute(0, 1, 5, 2, 6, 3, 7, 4)
        return self.crop(values.reshape(-1, out, f * x, f * y, f * z))

    def by_product(self, cells, weight, bias):
        """The same as one matrix product; the result has its channels last in memory."""
        out, f, (x, y, z) = len(bias), self.factor, self.steps
        windows = self.padded(cells)
        for dimension, width in enumerate(self.width):
            windows = windows.unfold(2 + dimension, width, 1)
        windows = windows.permute(0, 2, 3, 4, 1, 5, 6, 7).reshape(-1, weight.shape[1] * math.prod(self.width))
        folded = self.fold(weight, "pqroixyz").reshape(f ** 3 * out, -1)
        values = F.linear(windows, folded, bias.repeat(f ** 3))
        values = values.reshape(-1, x, y, z, f, f, f, out).permute(0, 1, 4, 2, 5, 3, 6, 7)
        return self.crop(values.reshape(-1, f * x, f * y, f * z, out).permute(0, 4, 1, 2, 3))


def upsampled_convolution(cells, weight, bias, factor):
    return F.conv3d(F.interpolate(cells, scale_factor=(float(factor),) * 3, mode="nearest"), weight, bias)


# --- the calorimeter GAN -----------------------------------------------------------------------------

NOISE, FACTOR, FIRST_KERNEL, CHANNELS = 254, 6, (6, 6, 8), 8
# kernel, padding, outputs, batch norm after the activation
GENERATOR_LAYERS = (((4, 4, 6), (2, 2, 1), 6, True), ((4, 4, 6), (2, 2, 1), 6, True), ((4, 4, 6), (2, 2, 1), 6, True),
                    ((3, 3, 5), (1, 1, 0), 6, True), ((3, 3, 3), (1, 1, 0), 6, False), ((2, 2, 2), (0, 0, 0), 1, False))
DISCRIMINATOR_LAYERS = (("same", 16, False), ((0, 0, 1), 8, True), ((0, 0, 1), 8, True), ((0, 0, 0), 8, True))
DISCRIMINATOR_KERNEL = (5, 6, 6)
POWER = 0.85  # images hold energies to this power
STEP_MULTIPLICATIONS = 40.4e9  # an image, all four updates, gradients that somebody reads


def batch_norm(channels):
    return nn.BatchNorm3d(channels, eps=1e-6, momentum=0.01)


class Generator(nn.Module):
    """Energy / 100 GeV, angle and 254 normal numbers to an image."""

    def __init__(self, grid, channels_last, taps):
        super().__init__()
        self.grid, self.channels_last = grid, channels_last
        self.dense = nn.Linear(NOISE + 2, CHANNELS * math.prod(grid))
        self.first = nn.Conv3d(CHANNELS, CHANNELS, FIRST_KERNEL)
        self.first_norm = batch_norm(CHANNELS)
        layers, inputs = [], CHANNELS
        for kernel, padding, outputs, norm in GENERATOR_LAYERS:
            layers += [nn.Conv3d(inputs, outputs, kernel, padding=padding), nn.ReLU(inplace=not norm)]
            layers += [batch_norm(outputs)] if norm else []
            inputs = outputs
        self.rest = nn.Sequential(*layers)
        self.taps = taps  # name of a method of DistinctTaps, or none
        self.distinct = None
        for module in self.modules():
            if isinstance(module, nn.Conv3d):
                nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
                nn.init.zeros_(module.bias)

    def forward(self, numbers):
        cells = self.dense(numbers)
        if self.channels_last:
            cells = cells.view(-1, *self.grid, CHANNELS).permute(0, 4, 1, 2, 3)
        else:
            cells = cells.view(-1, CHANNELS, *self.grid)
        if self.taps:
            values = getattr(self.distinct, self.taps)(cells, self.first.weight, self.first.bias)
        else:
            values = upsampled_convolution(cells, self.first.weight, self.first.bias, FACTOR)
        return self.rest(self.first_norm(F.relu(values)))


class Discriminator(nn.Module):
    """An image to a logit (real or fake) and the energy / 100 GeV."""

    def __init__(self, image):
        super().__init__()
        layers, inputs, sizes = [], 1, image
        for padding, outputs, norm in DISCRIMINATOR_LAYERS:
            layers += [nn.Conv3d(inputs, outputs, DISCRIMINATOR_KERNEL, padding=padding), nn.LeakyReLU(0.3)]
            layers += [batch_norm(outputs)] if norm else []
            layers += [nn.Dropout(0.2)]
            if padding != "same":
                sizes = [n + 2 * p - k + 1 for n, p, k in zip(sizes, padding, DISCRIMINATOR_KERNEL)]
            inputs = outputs
        self.trunk = nn.Sequential(*layers, nn.AvgPool3d(2), nn.Flatten())
        features = inputs * math.prod(size // 2 for size in sizes)
        self.validity, self.energy = nn.Linear(features, 1), nn.Linear(features, 1)

    def forward(self, images):
        features = self.trunk(images)
        return self.validity(features)[:, 0], self.energy(features)[:, 0]


def image_size(grid):
    sizes = [n * FACTOR - k + 1 for n, k in zip(grid, FIRST_KERNEL)]
    for kernel, padding, _, _ in GENERATOR_LAYERS:
        sizes = [n + 2 * p - k + 1 for n, p, k in zip(sizes, padding, kernel)]
    return sizes


def angle_and_sum(images):
    """The shower's angle by the layers' centroids about the barycentre, and the sum of energies. shape: [batch] each"""
    energies = images[:, 0] ** (1 / POWER)
    along_x, along_y = energies.sum(2), energies.sum(1)  # shape: [batch, x or y, z]
    layers = along_x.sum(1)
    total = layers.sum(1)
    x, y, z = (torch.arange(size, device=images.device) + 0.5 for size in energies.shape[1:])
    seen, lit = total > 0, layers > 0
    safe_total, safe_layers = total.masked_fill(~seen, 1)[:, None], layers.masked_fill(~lit, 1)
    moment_x, moment_y = (along_x * x[:, None]).sum(1), (along_y * y[:, None]).sum(1)
    centre_x, centre_y = moment_x.sum(1, keepdim=True) / safe_total, moment_y.sum(1, keepdim=True) / safe_total
    centre_z = (layers * z).sum(1, keepdim=True) / safe_total
    distance = ((moment_x / safe_layers - centre_x) ** 2 + (z - centre_z) ** 2).clamp_min(1e-6).sqrt()
    slope = (moment_y / safe_layers - centre_y) / distance
    angles = math.pi / 2 - torch.atan(torch.where(z < centre_z, -slope, slope))
    weights = z * lit
    mean = (angles * weights).sum(1) / weights.sum(1).masked_fill(~seen, 1)
    return mean.masked_fill(~seen, 100), total


def percentage_error(target, value):
    return 100 * ((target - value).abs() / target.abs().clamp_min(1e-7)).mean()


class CalorimeterStep:
    """Fakes, the discriminator on real and on fake, the generator twice: four updates."""

    def __init__(self, bench, precision="float32", channels_last=False, search=False, taps=None, compiled=False,
                 capturable=False):
        set_precision(precision)
        torch.backends.cudnn.benchmark = search
        self.bench, self.precision = bench, precision
        grid, self.batch = ((4, 4, 6), 2) if bench.small else ((9, 9, 8), 64)
        device, image = bench.device, image_size(grid)
        layout = torch.channels_last_3d if channels_last else torch.contiguous_format
        self.generator = Generator(grid, channels_last, taps).to(device, memory_format=layout)
        self.discriminator = Discriminator(image).to(device, memory_format=layout)
        if not bench.small:
            check_counts(self.generator, 1365047, 1364983)
            check_counts(self.discriminator, 87402, 87354)
        if taps:
            self.generator.distinct = DistinctTaps(grid, FIRST_KERNEL, FACTOR, device)
        settings = dict(lr=1e-3, alpha=0.9, eps=1e-7, capturable=capturable)
        self.generator_rule = torch.optim.RMSprop(self.generator.parameters(), **settings)
        self.discriminator_rule = torch.optim.RMSprop(self.discriminator.parameters(), **settings)
        self.generate, self.discriminate = self.generator, self.discriminator
        if compiled:
            self.generate, self.discriminate = torch.compile(self.generator), torch.compile(self.discriminator)
        showers = torch.rand(self.batch, 1, *image, device=device)
        self.real = (showers * (showers > 0.8)).contiguous(memory_format=layout)  # a fifth of the cells is hit
        self.energy = 1 + torch.rand(self.batch, device=device)
        self.angle = math.pi / 3 * (1 + torch.rand(self.batch, device=device))
        self.sum = angle_and_sum(self.real)[1]
        self.ones, self.zeros = torch.ones(self.batch, device=device), torch.zeros(self.batch, device=device)

    def fakes(self):
        noise = torch.randn(self.batch, NOISE, device=self.bench.device)
        return self.generate(torch.cat((self.energy[:, None], self.angle[:, None], noise), 1))

    def loss(self, images, validity):
        with autocast(self.bench, self.precision):
            logit, energy = self.discriminate(images)
        angle, total = angle_and_sum(images.float())
        return (3 * F.binary_cross_entropy_with_logits(logit.float(), validity)
                + 0.1 * percentage_error(self.energy, energy.float()) + 25 * (self.angle - angle).abs().mean()
                + 0.1 * percentage_error(self.sum, total))

    def update_discriminator(self, images, validity):
        flipped = torch.rand(self.batch, device=self.bench.device) < 0.05
        self.discriminator_rule.zero_grad()
        self.loss(images, torch.where(flipped, 1 - validity, validity)).backward()
        self.discriminator_rule.step()

    def update_generator(self):
        self.generator_rule.zero_grad()
        with autocast(self.bench, self.precision):
            images = self.fakes()
        self.loss(images, self.ones).backward()
        self.generator_rule.step()

    def __call__(self):
        self.generator.eval()
        with torch.no_grad(), autocast(self.bench, self.precision):
            images = self.fakes()
        self.generator.train()
        self.update_discriminator(self.real, self.ones)
        self.update_discriminator(images, self.zeros)
        self.discriminator.requires_grad_(False)  # nobody reads its gradients
        self.update_generator()
        self.update_generator()
        self.discriminator.requires_grad_(True)


def check_counts(network, numbers, trainable):
    moving = sum(buffer.numel() for buffer in network.buffers() if buffer.is_floating_point())
    weights = sum(weight.numel() for weight in network.parameters())
    if (weights + moving, weights) != (numbers, trainable):
        raise ValueError(f"{weights + moving} numbers, {weights} of them learned, where {numbers}, {trainable} are published")


def calorimeter(bench):
    size = 2 if bench.small else 64
    group = f"calorimeter GAN, step of four updates, batch {size}"
    flop = 0 if bench.small else 2 * STEP_MULTIPLICATIONS * size

    def variant(name, limit=ORDINARY_LIMIT, late=0, **settings):
        def build():
            step = CalorimeterStep(bench, **settings)
            return Captured(step, 2) if settings.get("capturable") else step
        return Variant("calorimeter", group, name, build, limit, late, flop)

    product = dict(channels_last=True, taps="by_product")
    graph = dict(capturable=True)
    yield variant(BASE)
    yield variant("eager TF32", precision="TF32")
    yield variant("TF32, channels last", precision="TF32", channels_last=True)
    yield variant("bfloat16", precision="bfloat16")
    yield variant("bfloat16, channels last", precision="bfloat16", channels_last=True)
    yield variant("TF32, distinct taps", precision="TF32", taps="by_convolution")
    yield variant("TF32, distinct taps, channels last", precision="TF32", **product)
    yield variant("bfloat16, distinct taps, channels last", precision="bfloat16", **product)
    if bench.on_gpu:
        yield variant("TF32, CUDA graph", precision="TF32", **graph)
        yield variant("TF32, distinct taps, channels last, graph", precision="TF32", **product, **graph)
        yield variant("bfloat16, distinct taps, channels last, graph", precision="bfloat16", **product, **graph)
    yield from first_convolution(bench, size)
    yield from weight_gradient(bench, size)
    yield variant("TF32, cudnn.benchmark", SEARCH_LIMIT, 1, precision="TF32", search=True)
    yield variant("TF32, cudnn.benchmark, distinct taps", SEARCH_LIMIT, 1, precision="TF32", search=True,
                  taps="by_convolution")
    yield variant("bfloat16, cudnn.benchmark, distinct taps", SEARCH_LIMIT, 1, precision="bfloat16", search=True,
                  taps="by_convolution")
    yield variant("TF32, torch.compile", COMPILE_LIMIT, 2, precision="TF32", compiled=True)
    if bench.on_gpu:
        yield variant("TF32, distinct, channels last, compile, graph", COMPILE_LIMIT, 3, precision="TF32", compiled=True,
                      **product, **graph)


def first_convolution(bench, batch):
    """The generator's first convolution with the upsampling before it and the activation after it."""
    grid = (4, 4, 6) if bench.small else (9, 9, 8)
    outputs = [n * FACTOR - k + 1 for n, k in zip(grid, FIRST_KERNEL)]
    flop = 2 * batch * CHANNELS ** 2 * math.prod(FIRST_KERNEL) * math.prod(outputs)

    def variant(name, way, precision, channels_last, backward):
        def build():
            set_precision(precision)
            layout = torch.channels_last_3d if channels_last else torch.contiguous_format
            kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
            layer = nn.Conv3d(CHANNELS, CHANNELS, FIRST_KERNEL).to(bench.device, memory_format=layout)
            distinct = DistinctTaps(grid, FIRST_KERNEL, FACTOR, bench.device)
            cells = torch.randn(batch, CHANNELS, *grid, device=bench.device, dtype=kind)
            cells = cells.contiguous(memory_format=layout).requires_grad_(backward)
            gradient = torch.randn(batch, CHANNELS, *outputs, device=bench.device, dtype=kind)
            gradient = gradient.contiguous(memory_format=layout)

            def step():
                with torch.set_grad_enabled(backward), autocast(bench, precision):
                    if way:
                        values = F.relu(getattr(distinct, way)(cells, layer.weight, layer.bias))
                    else:
                        values = F.relu(upsampled_convolution(cells, layer.weight, layer.bias, FACTOR))
                if backward:
                    torch.autograd.grad(values, (cells, layer.weight, layer.bias), gradient)
            return step
        direction = "forward and backward" if backward else "forward"
        return Variant("calorimeter", f"first convolution after upsampling, batch {batch}, {direction}", name, build,
                       flop=flop * (3 if backward else 1))

    for backward in (False, True):
        yield variant(BASE, None, "float32", False, backward)
        yield variant("TF32", None, "TF32", False, backward)
        yield variant("TF32, channels last", None, "TF32", True, backward)
        yield variant("bfloat16", None, "bfloat16", False, backward)
        yield variant("bfloat16, channels last", None, "bfloat16", True, backward)
        for precision in ("float32", "TF32", "bfloat16"):
            yield variant(f"{precision}, distinct taps by convolution", "by_convolution", precision, False, backward)
            yield variant(f"{precision}, distinct taps by product", "by_product", precision, True, backward)


def weight_gradient(bench, batch):
    """The gradient of the weights of the discriminator's second convolution alone, by cuDNN and by transforms."""
    image = image_size((4, 4, 6) if bench.small else (9, 9, 8))
    inputs, outputs, kernel, padding = 16, 8, DISCRIMINATOR_KERNEL, (0, 0, 1)
    sizes = [n + 2 * p - k + 1 for n, p, k in zip(image, padding, kernel)]
    flop = 2 * batch * inputs * outputs * math.prod(kernel) * math.prod(sizes)

    def tensors(kind, layout):
        return (torch.randn(batch, channels, *shape, device=bench.device, dtype=kind).contiguous(memory_format=layout)
                for channels, shape in ((inputs, image), (outputs, sizes)))

    def variant(name, precision, channels_last, search=False):
        def build():
            set_precision(precision)
            torch.backends.cudnn.benchmark = search
            layout = torch.channels_last_3d if channels_last else torch.contiguous_format
            kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
            values, gradient = tensors(kind, layout)
            weight = torch.randn(outputs, inputs, *kernel, device=bench.device, dtype=kind)
            weight = weight.contiguous(memory_format=layout)
            return lambda: torch.ops.aten.convolution_backward(
                gradient, values, weight, None, [1] * 3, list(padding), [1] * 3, False, [0] * 3, 1, [False, True, False])
        return Variant("calorimeter", f"discriminator's second convolution, gradient of weights, batch {batch}", name,
                       build, flop=flop)

    def by_transforms():
        values, gradient = tensors(torch.float32, torch.contiguous_format)
        return lambda: weights_by_transforms(values, gradient, kernel, padding)

    yield variant(BASE, "float32", False)
    yield variant("float32, channels last", "float32", True)
    for precision in ("TF32", "bfloat16"):
        for search in (False, True):
            suffix = ", cudnn.benchmark" if search else ""
            yield variant(precision + suffix, precision, False, search)
            yield variant(f"{precision}, channels last{suffix}", precision, True, search)
    yield Variant("calorimeter", f"discriminator's second convolution, gradient of weights, batch {batch}",
                  "float32, by Fourier transforms", by_transforms, flop=flop)


def weights_by_transforms(values, gradient, kernel, padding):
    """Correlates inputs with gradients as products of their transforms; circular wrapping reaches no tap of the kernel."""
    lengths = [friendly(n + 2 * p) for n, p in zip(values.shape[2:], padding)]
    values = F.pad(values, [amount for p in reversed(padding) for amount in (p, p)])
    spectrum = torch.fft.rfftn(values, s=lengths, dim=(2, 3, 4)).flatten(2).permute(2, 0, 1)  # shape: [frequency, batch, in]
    other = torch.fft.rfftn(gradient, s=lengths, dim=(2, 3, 4)).flatten(2).permute(2, 1, 0)  # shape: [frequency, out, batch]
    half = lengths[:2] + [lengths[2] // 2 + 1]
    product = (other.conj() @ spectrum).permute(1, 2, 0).unflatten(2, half)
    x, y, z = kernel
    return torch.fft.irfftn(product, s=lengths, dim=(2, 3, 4))[:, :, :x, :y, :z]


def friendly(length):
    """The next length whose factors are 2, 3 and 5."""
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def layers(bench):
    """Every convolution of both networks alone: forward, then forward with both gradients."""
    batch, grid = (2, (4, 4, 6)) if bench.small else (64, (9, 9, 8))
    shapes, inputs, sizes = [], CHANNELS, [n * FACTOR for n in grid]
    for index, (kernel, padding, outputs) in enumerate(
            [(FIRST_KERNEL, (0, 0, 0), CHANNELS)] + [layer[:3] for layer in GENERATOR_LAYERS]):
        shapes.append((f"generator {index + 1}", inputs, outputs, kernel, padding, sizes))
        inputs, sizes = outputs, [n + 2 * p - k + 1 for n, p, k in zip(sizes, padding, kernel)]
    inputs = 1
    for index, (padding, outputs, _) in enumerate(DISCRIMINATOR_LAYERS):
        shapes.append((f"discriminator {index + 1}", inputs, outputs, DISCRIMINATOR_KERNEL, padding, sizes))
        if padding != "same":
            sizes = [n + 2 * p - k + 1 for n, p, k in zip(sizes, padding, DISCRIMINATOR_KERNEL)]
        inputs = outputs

    def variant(shape, precision, channels_last, backward):
        name, inputs, outputs, kernel, padding, sizes = shape
        after = sizes if padding == "same" else [n + 2 * p - k + 1 for n, p, k in zip(sizes, padding, kernel)]
        flop = 2 * batch * inputs * outputs * math.prod(kernel) * math.prod(after) * (3 if backward else 1)

        def build():
            set_precision(precision)
            layout = torch.channels_last_3d if channels_last else torch.contiguous_format
            kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
            layer = nn.Conv3d(inputs, outputs, kernel, padding=padding).to(bench.device, kind, memory_format=layout)
            values = torch.randn(batch, inputs, *sizes, device=bench.device, dtype=kind).contiguous(memory_format=layout)
            values.requires_grad_(backward)
            gradient = torch.randn(batch, outputs, *after, device=bench.device, dtype=kind)
            gradient = gradient.contiguous(memory_format=layout)

            def step():
                with torch.set_grad_enabled(backward):
                    result = layer(values)
                if backward:
                    torch.autograd.grad(result, (values, layer.weight, layer.bias), gradient)
            return step
        label = BASE if precision == "float32" else precision
        return Variant("layers", f"{name}, {inputs} -> {outputs}, {'forward and backward' if backward else 'forward'}",
                       label + (", channels last" if channels_last else ""), build, flop=flop)

    for shape in shapes:
        for backward in (False, True):
            yield variant(shape, "float32", False, backward)
            for precision in ("TF32", "bfloat16"):
                yield variant(shape, precision, False, backward)
                yield variant(shape, precision, True, backward)


def kernels(bench, results):
    """The kernels that take most of a calorimeter step."""
    for name, settings in (("TF32", {}), ("TF32, channels last", {"channels_last": True}),
                           ("TF32, distinct taps, channels last", {"channels_last": True, "taps": "by_product"})):
        try:
            bench.clean()
            with limited(ORDINARY_LIMIT):
                step = CalorimeterStep(bench, precision="TF32", **settings)
                step()
                activity = torch.profiler.ProfilerActivity
                with torch.profiler.profile(activities=[activity.CPU] + ([activity.CUDA] if bench.on_gpu else [])) as profile:
                    step()
                    bench.synchronize()
                of_device = torch.autograd.DeviceType.CUDA if bench.on_gpu else torch.autograd.DeviceType.CPU
                take = (lambda event: event.self_device_time_total) if bench.on_gpu else (
                    lambda event: event.self_cpu_time_total)
                events = [event for event in profile.key_averages() if event.device_type == of_device]
                events.sort(key=take, reverse=True)
                lines = [{"kernel": event.key[:150], "milliseconds": take(event) / 1e3, "calls": event.count}
                         for event in events[:15]]
                total = sum(take(event) for event in events) / 1e3
            results.append({"part": "kernels", "variant": name, "milliseconds": total, "kernels": lines})
            print(f"kernels of a step, {name}: {total:.2f} ms in {sum(event.count for event in events)} calls")
            for line in lines:
                print(f"  {line['milliseconds']:10.3f} ms {line['calls']:5d} calls  {line['kernel'][:110]}", flush=True)
        except Exception as problem:
            print(f"kernels of a step, {name}: {str(problem).splitlines()[:1]}", flush=True)


# --- JEDI-net ----------------------------------------------------------------------------------------

FEATURES, WIDTH, MESSAGE, NODE_OUTPUT, CLASSES = 16, 30, 10, 10, 5


def block(inputs, outputs, last=True):
    """Three dense layers with elu, the last one too where asked."""
    parts = [nn.Linear(inputs, WIDTH), nn.ELU(), nn.Linear(WIDTH, WIDTH // 2), nn.ELU(), nn.Linear(WIDTH // 2, outputs)]
    return nn.Sequential(*parts, *([nn.ELU()] if last else []))


class JediNet(nn.Module):
    """The interaction network. shape: [batch, particles, features] -> [batch, classes]"""

    def __init__(self, particles, form):
        super().__init__()
        self.particles, self.form = particles, form
        self.relation, self.node = block(2 * FEATURES, MESSAGE), block(FEATURES + MESSAGE, NODE_OUTPUT)
        self.classifier = block(particles * NODE_OUTPUT, CLASSES, last=False)
        pairs = [(i, j) for i in range(particles) for j in range(particles) if i != j]
        receiver, sender = torch.tensor(pairs).T.contiguous()
        self.register_buffer("receiver", receiver)
        self.register_buffer("sender", sender)
        if form == "incidence":
            self.register_buffer("receives", F.one_hot(receiver, particles).T.float().contiguous())  # [particles, edges]
            self.register_buffer("sends", F.one_hot(sender, particles).T.float().contiguous())

    def messages_by_incidence(self, jets):
        """As its authors: products with constant matrices of zeros and ones."""
        columns = jets.transpose(1, 2)
        edges = torch.cat((columns @ self.receives, columns @ self.sends), 1).transpose(1, 2)
        messages = self.relation(edges.reshape(-1, 2 * FEATURES)).view(len(jets), -1, MESSAGE)
        return (messages.transpose(1, 2) @ self.receives.T).transpose(1, 2)

    def messages_by_gather(self, jets):
        """Edges are sorted by receiver, so that the sum needs no scatter."""
        edges = torch.cat((jets[:, self.receiver], jets[:, self.sender]), 2)
        return self.relation(edges).view(len(jets), self.particles, self.particles - 1, MESSAGE).sum(2)

    def messages_by_halves(self, jets):
        """The first layer of a pair is a sum of a receiver's and a sender's half; the pair (i, i) is taken off the sum."""
        first, rest = self.relation[0], self.relation[1:]
        received, sent = first.weight.split(FEATURES, 1)
        by_receiver, by_sender = F.linear(jets, received, first.bias), F.linear(jets, sent)
        messages = rest(by_receiver[:, :, None] + by_sender[:, None]).sum(2)
        return messages - rest(by_receiver + by_sender)

    def forward(self, jets):
        sums = getattr(self, f"messages_by_{self.form}")(jets)
        nodes = self.node(torch.cat((jets, sums), 2))
        return self.classifier(nodes.flatten(1))


class JediStep:
    def __init__(self, bench, batch, form, precision="float32", compiled=False, capturable=False):
        set_precision(precision)
        self.bench, self.precision = bench, precision
        particles = 10 if bench.small else 100
        self.network = JediNet(particles, form).to(bench.device)
        if not bench.small:
            weights = sum(weight.numel() for weight in self.network.parameters())
            if weights != 33625:
                raise ValueError(f"{weights} weights, where 33625 are published")
        self.rule = torch.optim.Adam(self.network.parameters(), lr=1e-4, fused=True, capturable=capturable)
        self.jets = torch.randn(batch, particles, FEATURES, device=bench.device)
        self.classes = torch.randint(CLASSES, (batch,), device=bench.device)
        self.apply = torch.compile(self.network) if compiled else self.network

    def __call__(self):
        self.rule.zero_grad()
        with autocast(self.bench, self.precision):
            scores = self.apply(self.jets)
        F.cross_entropy(scores.float(), self.classes).backward()
        self.rule.step()


def jedi(bench):
    titles = {"incidence": "incidence matrices", "gather": "gather", "halves": "halves of the first layer"}
    for batch in ((4, 8) if bench.small else (100, 1000)):
        def variant(form, way, limit=ORDINARY_LIMIT, late=0, batch=batch, **settings):
            def build():
                step = JediStep(bench, batch, form, **settings)
                return Captured(step) if settings.get("capturable") else step
            flop = 0 if bench.small else 3 * 116e6 * batch
            return Variant("jedi", f"JEDI-net, batch {batch}", f"{titles[form]}, {way}", build, limit, late, flop)

        for form in titles:
            yield variant(form, BASE)
            yield variant(form, "TF32", precision="TF32")
            if bench.on_gpu:
                yield variant(form, "TF32, graph", precision="TF32", capturable=True)
        yield variant("halves", "bfloat16", precision="bfloat16")
        for form in ("halves", "gather"):
            yield variant(form, "TF32, compile", COMPILE_LIMIT, 2 if form == "halves" else 3, precision="TF32", compiled=True)
            if bench.on_gpu:
                yield variant(form, "TF32, compile, graph", COMPILE_LIMIT, 3, precision="TF32", compiled=True,
                              capturable=True)


# --- the stress-strain regression --------------------------------------------------------------------

POINTS, CURVE_ROWS, PARAMETERS = 200, 30000, 2


def dense_network():
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * POINTS, 199), nn.ReLU(), nn.Linear(199, 120), nn.ReLU(),
                         nn.Linear(120, 80), nn.ReLU(), nn.Linear(80, PARAMETERS))


def convolutional_network():
    return nn.Sequential(nn.Conv1d(3, 32, 9, padding="same"), nn.ReLU(), nn.Conv1d(32, 32, 7, padding="same"), nn.ReLU(),
                         nn.MaxPool1d(8), nn.Flatten(), nn.Linear(800, 181), nn.ReLU(), nn.Linear(181, PARAMETERS))


class RegressionStep:
    """A batch of rows drawn on the device, forward, backward, Adam."""

    def __init__(self, bench, network, batch, precision="float32", compiled=False, capturable=False, fused=True):
        set_precision(precision)
        self.bench, self.batch = bench, batch
        self.network = network().to(bench.device)
        weights = sum(weight.numel() for weight in self.network.parameters())
        if weights != 153441:
            raise ValueError(f"{weights} weights, where 153441 are published")
        rows = 300 if bench.small else CURVE_ROWS
        self.curves = torch.randn(rows, 3, POINTS, device=bench.device)
        self.targets = torch.randn(rows, PARAMETERS, device=bench.device)
        self.rule = torch.optim.Adam(self.network.parameters(), lr=4.7331e-4, fused=fused or None, capturable=capturable)
        self.apply = torch.compile(self.network) if compiled else self.network

    def __call__(self):
        chosen = torch.randint(len(self.curves), (self.batch,), device=self.bench.device)
        self.rule.zero_grad()
        F.mse_loss(self.apply(self.curves[chosen]), self.targets[chosen]).backward()
        self.rule.step()


def regression(bench):
    for title, network, batch in (("dense", dense_network, 75), ("dense", dense_network, 1000),
                                  ("convolutional", convolutional_network, 75)):
        def variant(name, limit=ORDINARY_LIMIT, late=0, title=title, network=network, batch=batch, **settings):
            def build():
                step = RegressionStep(bench, network, batch, **settings)
                return Captured(step) if settings.get("capturable") else step
            flop = 6 * batch * 153078 if title == "dense" else 0
            return Variant("regression", f"stress-strain regression, {title}, batch {batch}", name, build, limit, late, flop)

        yield variant(BASE)
        if (title, batch) == ("dense", 75):
            yield variant("eager, update rule not fused, float32", fused=False)
        yield variant("eager TF32", precision="TF32")
        if bench.on_gpu:
            yield variant("float32, CUDA graph", capturable=True)
            yield variant("TF32, CUDA graph", precision="TF32", capturable=True)
        if (title, batch) == ("dense", 75):
            yield variant("TF32, torch.compile", COMPILE_LIMIT, 2, precision="TF32", compiled=True)
            if bench.on_gpu:
                yield variant("TF32, torch.compile, graph", COMPILE_LIMIT, 2, precision="TF32", compiled=True,
                              capturable=True)


def print_overheads(results):
    """What the host costs an eager step: its time less that of the same kernels in a graph."""
    for group in dict.fromkeys(result["group"] for result in results if "group" in result):
        times = {result["variant"]: result["milliseconds"] for result in results
                 if result.get("group") == group and "milliseconds" in result}
        for name, graph in times.items():
            eager = next((times[other] for other in (name.removesuffix(", CUDA graph"), name.removesuffix(", graph"),
                                                     "eager " + name.removesuffix(", CUDA graph"))
                          if other != name and other in times), None)
            if name.endswith("graph") and eager:
                print(f"{group}: {name}: {1e3 * (eager - graph):.0f} us of the eager step's {1e3 * eager:.0f} us are the "
                      "host's")


# --- checks in double precision, on the CPU ----------------------------------------------------------


def difference(ours, reference):
    return max(((a - b).norm() / b.norm()).item() for a, b in zip(ours, reference))


def check_algorithms(grid):
    """The ways that do less work give the same numbers: values and gradients. Returns relative differences."""
    torch.manual_seed(3)
    found = {}
    cells = torch.randn(1, CHANNELS, *grid, dtype=torch.double, requires_grad=True)
    weight = torch.randn(CHANNELS, CHANNELS, *FIRST_KERNEL, dtype=torch.double, requires_grad=True)
    bias = torch.randn(CHANNELS, dtype=torch.double, requires_grad=True)
    distinct = DistinctTaps(grid, FIRST_KERNEL, FACTOR, "cpu", torch.double)
    reference = upsampled_convolution(cells, weight, bias, FACTOR)
    gradient = torch.randn_like(reference)
    expected = [reference, *torch.autograd.grad(reference, (cells, weight, bias), gradient)]
    for way in ("by_convolution", "by_product"):
        values = getattr(distinct, way)(cells, weight, bias)
        found[f"distinct taps {way}"] = difference(
            [values, *torch.autograd.grad(values, (cells, weight, bias), gradient)], expected)

    image, kernel, padding = (13, 12, 11), DISCRIMINATOR_KERNEL, (0, 0, 1)
    values = torch.randn(2, 16, *image, dtype=torch.double)
    weight = torch.randn(8, 16, *kernel, dtype=torch.double, requires_grad=True)
    reference = F.conv3d(values, weight, padding=padding)
    gradient = torch.randn_like(reference)
    found["gradient of weights by transforms"] = difference(
        [weights_by_transforms(values, gradient, kernel, padding)], torch.autograd.grad(reference, weight, gradient))

    jets, expected = torch.randn(3, 12, FEATURES, dtype=torch.double), None
    for form in ("incidence", "gather", "halves"):
        torch.manual_seed(4)
        network = JediNet(12, form).double()
        scores = network(jets)
        got = [scores, *torch.autograd.grad(scores.square().sum(), list(network.parameters()))]
        expected = expected or got
        found[f"JEDI-net by {form}"] = difference(got, expected)

    images = torch.rand(2, 1, 6, 5, 4, dtype=torch.double, requires_grad=True)
    if not torch.autograd.gradcheck(angle_and_sum, images + 0.1):
        raise ValueError("the angle's gradient is wrong")
    for name, value in found.items():
        print(f"check, double precision: {name}: {value:.1e}")
        if not value < 1e-10:
            raise ValueError(f"{name} differs")
    return found


# --- main --------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", default="regression,jedi,calorimeter", help="of " + ", ".join(PARTS))
    parser.add_argument("--only", default="", help="variants whose group and name contain this text")
    parser.add_argument("--search", action="store_true", help="cudnn.benchmark in all variants")
    parser.add_argument("--small", action="store_true", help="tiny batches and networks, to try the code")
    parser.add_argument("--budget", type=float, help="seconds, all included; what does not fit is left out (150)")
    parser.add_argument("--seconds", type=float, help="of timed steps a variant")
    parser.add_argument("--json", default="", help="where to write results")
    options = parser.parse_args()
    chosen = options.parts.split(",")
    if not set(chosen) <= set(PARTS):
        parser.error(f"--parts: choose of {', '.join(PARTS)}")
    begin, budget = time.perf_counter(), options.budget or (600 if options.small else 150)
    if options.device == "cpu":
        torch.set_num_threads(1)  # threads that wait for each other on a busy machine take longer than the work
    bench = Bench(torch.device(options.device), options.small, options.seconds or (0.05 if options.small else 0.4),
                  options.search)
    machine = torch.cuda.get_device_name(bench.device) if bench.on_gpu else "CPU"
    about = {"torch": torch.__version__, "device": machine, "cudnn": torch.backends.cudnn.version(), "small": options.small}
    print(json.dumps(about))
    about["checks"] = check_algorithms((4, 4, 6))
    gc.freeze()  # what is imported by now need not be looked through after every variant
    parts = {"regression": regression, "jedi": jedi, "calorimeter": calorimeter, "layers": layers}
    variants = [variant for part in chosen if part in parts for variant in parts[part](bench)
                if options.only in f"{variant.group}, {variant.name}"]
    variants.sort(key=lambda variant: variant.late)

    def save():
        if options.json:
            with open(options.json, "w") as file:
                json.dump({**about, "seconds": time.perf_counter() - begin, "results": bench.results}, file, indent=1)

    group = ""
    for variant in variants:
        if variant.group != group:
            group = variant.group
            print(f"{group}  (at {time.perf_counter() - begin:.0f} s)")
        left = budget - (time.perf_counter() - begin)
        if left < 2:
            bench.results.append({"part": variant.part, "group": variant.group, "variant": variant.name,
                                  "failure": "left out: the budget is spent"})
            continue
        variant.limit = min(variant.limit, left)
        bench.run(variant)
        save()
    order = {key: place for place, key in enumerate(dict.fromkeys(result["group"] for result in bench.results))}
    bench.results.sort(key=lambda result: order[result["group"]])
    table(bench.results)
    print_overheads(bench.results)
    if "kernels" in chosen:
        kernels(bench, bench.results)
    save()
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
