#!/usr/bin/env python3
"""Checks and times SAGIPS' own 3D convolutions (libsagips_cuda.so) beside PyTorch, on a machine with a GPU.

Parts: check (every layer of the calorimeter's networks against float64), step (the published training step with our
convolutions beside PyTorch's best forms of it), kernels (what takes our step's time), time (each layer's three passes
alone). Each part has a process of its own, so that one that fails, or breaks the GPU's context, costs its own lines.
Without a GPU, `--shim` takes the same interface built for the CPU (tests/cuda/shim_library.cpp) and small sizes.

usage: tools/gpu_check_conv3d.py --library PATH [--parts check,step,kernels,time] [--seconds 240] [--json PATH]
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "peers")]
import gpu_check  # noqa: E402
import pytorch_gpu as peer  # noqa: E402

LIMITS = {"check": 70, "step": 110, "time": 110, "kernels": 40}  # seconds a part
TF32_BOUND, LOSS_BOUND = 1e-3, 1e-3
convolution_backward = torch.ops.aten.convolution_backward


# ---- the interface, as sagips/cuda/interface.h declares it

class Shape(ctypes.Structure):
    _fields_ = [("samples", ctypes.c_int64), ("inputs", ctypes.c_int32), ("outputs", ctypes.c_int32),
                ("size", ctypes.c_int32 * 3), ("kernel", ctypes.c_int32 * 3), ("before", ctypes.c_int32 * 3),
                ("after", ctypes.c_int32 * 3), ("slope", ctypes.c_float)]


class Library(gpu_check.Library):
    P = ctypes.c_void_p
    FUNCTIONS = gpu_check.Library.FUNCTIONS | {
        "conv3d_outputs": [Shape, P, P, P, P, P],
        "conv3d_input_gradient": [Shape, P, P, P, P, P],
        "conv3d_weight_gradient": [Shape, P, P, P, P, P, P],
    }

    def __init__(self, path, device):
        super().__init__(path, device)
        self.work_bytes = self.library.sagips_cuda_conv3d_work_bytes
        self.work_bytes.restype, self.work_bytes.argtypes = ctypes.c_int64, [Shape]


def channels_last(images):
    """shape: [samples, channels, x, y, z] -> [samples, x, y, z, channels], without a copy where memory has it so"""
    return images.permute(0, 2, 3, 4, 1).contiguous()


def channels_second(rows):
    return rows.permute(0, 4, 1, 2, 3)


@dataclass
class Layer:
    """A convolution with the activation behind it."""
    name: str
    inputs: int
    outputs: int
    size: tuple
    kernel: tuple
    before: tuple
    after: tuple
    slope: float

    def size_after(self):
        return tuple(n + b + a - k + 1 for n, b, a, k in zip(self.size, self.before, self.after, self.kernel))

    def shape(self, samples):
        triple = ctypes.c_int32 * 3
        return Shape(samples, self.inputs, self.outputs, triple(*self.size), triple(*self.kernel), triple(*self.before),
                     triple(*self.after), self.slope)

    def multiplications(self):
        """Of a sample, for one of the three passes."""
        count = self.inputs * self.outputs
        for n, k in zip(self.size_after(), self.kernel):
            count *= n * k
        return count

    def is_symmetric(self):
        return self.before == self.after


class Passes:
    """A layer's three passes for so many samples. Images have their channels last."""

    def __init__(self, library, layer, samples):
        self.library, self.layer, self.device = library, layer, library.device
        self.shape = layer.shape(samples)
        needed = library.work_bytes(self.shape)
        if needed == 0:
            raise RuntimeError(f"the convolutions refuse {layer.name}")
        self.work = torch.full((needed,), 255, dtype=torch.uint8, device=self.device)
        self.before = (samples, *layer.size, layer.inputs)
        self.after = (samples, *layer.size_after(), layer.outputs)

    def outputs(self, rows, weight, bias):
        out = torch.empty(self.after, device=self.device)
        self.library.conv3d_outputs(self.shape, rows, weight, bias, out, self.work)
        return out

    def input_gradient(self, weight, out, gradient):
        found = torch.empty(self.before, device=self.device)
        self.library.conv3d_input_gradient(self.shape, weight, out, gradient, found, self.work)
        return found

    def weight_gradient(self, rows, out, gradient):
        weight = torch.zeros(self.layer.outputs, self.layer.inputs, *self.layer.kernel, device=self.device)
        bias = torch.zeros(self.layer.outputs, device=self.device)
        self.library.conv3d_weight_gradient(self.shape, rows, out, gradient, weight, bias, self.work)
        return weight, bias


class Convolve(torch.autograd.Function):
    """Convolution and activation of a layer, differentiable once."""

    @staticmethod
    def forward(ctx, images, weight, bias, passes):
        rows, weight = channels_last(images), weight.contiguous()
        out = passes.outputs(rows, weight, bias)
        ctx.passes = passes
        ctx.save_for_backward(rows, weight, out)
        return channels_second(out)

    @staticmethod
    def backward(ctx, gradient):
        rows, weight, out = ctx.saved_tensors
        gradient = channels_last(gradient)
        of_images = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_images = channels_second(ctx.passes.input_gradient(weight, out, gradient))
        if ctx.needs_input_grad[1]:
            of_weight, of_bias = ctx.passes.weight_gradient(rows, out, gradient)
        return of_images, of_weight, of_bias, None


class OwnConvolution(nn.Module):
    """A layer of a network in place of nn.Conv3d and the activation behind it; the weights stay nn.Conv3d's."""

    def __init__(self, convolution, slope, library):
        super().__init__()
        self.convolution, self.slope, self.library, self.passes = convolution, slope, library, {}

    def forward(self, images):
        key = tuple(images.shape)
        if key not in self.passes:
            conv, size = self.convolution, key[2:]
            before, after = paddings(conv.padding, conv.kernel_size)
            layer = Layer("", conv.in_channels, conv.out_channels, size, conv.kernel_size, before, after, self.slope)
            self.passes[key] = Passes(self.library, layer, key[0])
        return Convolve.apply(images, self.convolution.weight, self.convolution.bias, self.passes[key])


def paddings(padding, kernel):
    """Zeros on either side, as PyTorch has them: an even kernel's odd one comes behind."""
    if padding == "same":
        return tuple((k - 1) // 2 for k in kernel), tuple(k // 2 for k in kernel)
    return tuple(padding), tuple(padding)


def with_own_convolutions(chain, library):
    """The same chain of layers, with the same weights."""
    layers, given = [], list(chain)
    while given:
        layer = given.pop(0)
        if isinstance(layer, nn.Conv3d):
            activation = given.pop(0)
            slope = activation.negative_slope if isinstance(activation, nn.LeakyReLU) else 0.0
            layer = OwnConvolution(layer, slope, library)
        layers.append(layer)
    return nn.Sequential(*layers)


def upsampled(cells, factor):
    """Nearest upsampling. shape: [samples, channels, x, y, z], channels last in memory, as the result has them"""
    samples, x, y, z, channels = (rows := channels_last(cells)).shape
    wide = rows.view(samples, x, 1, y, 1, z, 1, channels).expand(-1, -1, factor, -1, factor, -1, factor, -1)
    return channels_second(wide.reshape(samples, factor * x, factor * y, factor * z, channels))


def with_own_first_convolution(generator, library):
    """All taps of the first convolution, on upsampled cells: more products, but fewer copies than by distinct taps."""
    first = OwnConvolution(generator.first, 0.0, library)

    def forward(numbers):
        cells = channels_second(generator.dense(numbers).view(-1, *generator.grid, peer.CHANNELS))
        return generator.rest(generator.first_norm(first(upsampled(cells, peer.FACTOR))))

    generator.forward = forward


def layers_of(grid):
    """All convolutions of the calorimeter's networks."""
    found, inputs, size = [], peer.CHANNELS, tuple(n * peer.FACTOR for n in grid)
    generator = [(peer.FIRST_KERNEL, (0, 0, 0), peer.CHANNELS)] + [layer[:3] for layer in peer.GENERATOR_LAYERS]
    for index, (kernel, padding, outputs) in enumerate(generator):
        found.append(Layer(f"generator {index + 1}", inputs, outputs, size, kernel, padding, padding, 0.0))
        inputs, size = outputs, found[-1].size_after()
    inputs = 1
    for index, (padding, outputs, _) in enumerate(peer.DISCRIMINATOR_LAYERS):
        before, after = paddings(padding, peer.DISCRIMINATOR_KERNEL)
        found.append(Layer(f"discriminator {index + 1}", inputs, outputs, size, peer.DISCRIMINATOR_KERNEL, before, after,
                           0.3))
        inputs, size = outputs, found[-1].size_after()
    return found


@dataclass
class Tensors:
    rows: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor
    gradient: torch.Tensor


def tensors_of(layer, samples, device):
    torch.manual_seed(7)
    scale = (layer.inputs * layer.kernel[0] * layer.kernel[1] * layer.kernel[2]) ** -0.5
    return Tensors(torch.randn(samples, *layer.size, layer.inputs, device=device),
                   torch.randn(layer.outputs, layer.inputs, *layer.kernel, device=device) * scale,
                   torch.randn(layer.outputs, device=device) * 0.3,
                   torch.randn(samples, *layer.size_after(), layer.outputs, device=device))


def padded(images, layer):
    amounts = [n for b, a in zip(reversed(layer.before), reversed(layer.after)) for n in (b, a)]
    return F.pad(images, amounts)


# ---- the parts

class ConvolutionCheck(gpu_check.Check):
    def __init__(self, options):
        self.options = options
        self.device = torch.device("cpu" if options.shim else "cuda")
        self.on_gpu = self.device.type == "cuda"
        self.library = Library(options.shim or options.library, self.device)
        self.found = json.loads(pathlib.Path(options.json).read_text(encoding="utf-8"))
        self.found |= {"torch": torch.__version__, "device": torch.cuda.get_device_name() if self.on_gpu else "CPU"}
        self.grid = (9, 9, 8) if self.on_gpu and not options.small else (4, 4, 6)
        self.batch = options.batch if self.on_gpu else 2
        self.begin = time.perf_counter()
        peer.set_precision("float32")

    def seconds_left(self):
        return self.options.part_seconds - (time.perf_counter() - self.begin)

    # -- check

    def check(self):
        layers = sorted(layers_of(self.grid), key=Layer.multiplications)
        for layer in layers:
            self.attempt(f"check {layer.name}", lambda layer=layer: self.check_layer(layer, 2 if self.on_gpu else 1))

    def check_layer(self, layer, samples):
        passes, t = Passes(self.library, layer, samples), tensors_of(layer, samples, self.device)
        out = passes.outputs(t.rows, t.weight, t.bias)
        found = [passes.input_gradient(t.weight, out, t.gradient), *passes.weight_gradient(t.rows, out, t.gradient)]
        given = [channels_second(t.rows).double(), t.weight.double(), t.bias.double()]
        for tensor in given:
            tensor.requires_grad_()
        sums = F.conv3d(padded(given[0], layer), *given[1:])
        self.verdict(f"{layer.name}: outputs", gpu_check.relative(channels_second(out), F.leaky_relu(sums, layer.slope)),
                     TF32_BOUND)
        # Outputs near 0 may have another sign in float64, so that the open ones are those of our own outputs.
        slopes = torch.where(out > 0, t.gradient, t.gradient * layer.slope)
        wanted = torch.autograd.grad(sums, given, channels_second(slopes).double())
        found[0] = channels_second(found[0])
        for name, have, want in zip(("input", "weight"), found, wanted):
            self.verdict(f"{layer.name}: gradient of {name}", gpu_check.relative(have, want), TF32_BOUND)
        # A sum of so many numbers of either sign may be near 0: its error is compared with what it consists of.
        self.verdict(f"{layer.name}: gradient of bias", float((found[2] - wanted[2]).norm() / slopes.norm()), TF32_BOUND)
        again = passes.weight_gradient(t.rows, out, t.gradient)
        different = sum(gpu_check.differing(a, b) for a, b in zip(again, found[1:]))
        different += gpu_check.differing(passes.outputs(t.rows, t.weight, t.bias), out)
        self.verdict(f"{layer.name}: numbers that a second call has otherwise", different, 0)

    # -- step

    def bench(self):
        return peer.Bench(self.device, not self.on_gpu, 0.4)

    def own_step(self, all_taps=False, capturable=False):
        """The peer's step with our convolutions; the first one is PyTorch's product over distinct taps, or ours."""
        step = peer.CalorimeterStep(self.bench(), precision="TF32", channels_last=True, taps="by_product",
                                    capturable=capturable)
        if all_taps:
            with_own_first_convolution(step.generator, self.library)
        step.generator.rest = with_own_convolutions(step.generator.rest, self.library)
        step.discriminator.trunk = with_own_convolutions(step.discriminator.trunk, self.library)
        return step

    def step(self):
        torch.backends.cudnn.benchmark = False
        self.attempt("losses of a step", self.compare_losses)
        for all_taps in (False, True):
            self.attempt("our step", lambda all_taps=all_taps: self.time_own_step(all_taps))
            if self.on_gpu:
                self.attempt("our step as a graph", lambda all_taps=all_taps: self.time_own_graph(all_taps))
        self.attempt("step beside PyTorch", self.time_steps)

    def prepared(self, step, samples, weights):
        """A small batch, no dropout, no movement of weights: two ways to compute the step give equal losses."""
        step.batch = samples
        for name in ("real", "energy", "angle", "sum", "ones", "zeros"):
            setattr(step, name, getattr(step, name)[:samples].clone())
        for network, rule, numbers in zip((step.generator, step.discriminator),
                                          (step.generator_rule, step.discriminator_rule), weights):
            with torch.no_grad():
                for parameter, value in zip(network.parameters(), numbers):
                    parameter.copy_(value)
            for module in network.modules():
                if isinstance(module, nn.Dropout):
                    module.p = 0.0
            for group in rule.param_groups:
                group["lr"] = 0.0
        return step

    def losses_of(self, step):
        """Losses of the four updates, and the gradients that the last one of each network left."""
        losses, plain = [], step.loss

        def recorded(*arguments):
            losses.append(plain(*arguments))
            return losses[-1]

        step.loss = recorded
        torch.manual_seed(11)
        step()
        gradients = [p.grad.clone() for network in (step.generator, step.discriminator) for p in network.parameters()]
        return torch.stack([loss.detach() for loss in losses]).double(), gradients

    def compare_losses(self):
        samples = 4 if self.on_gpu else 2
        torch.manual_seed(5)
        first = peer.CalorimeterStep(self.bench(), precision="float32", channels_last=True)
        # Cells at the generator's dead ends would hide errors: all biases are a little above 0.
        weights = [[p.detach() + (0.01 if p.dim() == 1 else 0.0) for p in network.parameters()]
                   for network in (first.generator, first.discriminator)]
        results = {}
        for name, build in (("float32", lambda: peer.CalorimeterStep(self.bench(), channels_last=True)),
                            ("PyTorch in TF32", lambda: peer.CalorimeterStep(self.bench(), "TF32", channels_last=True)),
                            ("ours, product for the first", self.own_step),
                            ("ours", lambda: self.own_step(True))):
            torch.manual_seed(5)
            results[name] = self.losses_of(self.prepared(build(), samples, weights))
        wanted, gradients = results["float32"]
        for name in list(results)[1:]:
            losses, found = results[name]
            apart = ((losses - wanted).abs() / wanted.abs()).max()
            whole = [torch.cat([g.flatten().double() for g in all_of]) for all_of in (found, gradients)]
            self.say(f"      losses of {name}: " + " ".join(f"{loss:.5f}" for loss in losses.tolist())
                     + f", gradients {float((whole[0] - whole[1]).norm() / whole[1].norm()):.1e} from float32's")
            self.verdict(f"{name}: losses of a step, to float32's", float(apart), LOSS_BOUND)

    def clock(self, step, precision="TF32", search=False):
        peer.set_precision(precision)
        torch.backends.cudnn.benchmark = search
        gpu_check.synchronize(self.device)
        start = time.perf_counter()
        step()
        gpu_check.synchronize(self.device)
        return 1e3 * (time.perf_counter() - start)

    def describe_step(self, name, times):
        self.found["step"][name] = statistics.median(times)
        memory = torch.cuda.max_memory_allocated() / 1e6 if self.on_gpu else 0
        self.say(f"step  {name}: {statistics.median(times):.2f} ms ({min(times):.2f} to {max(times):.2f}), "
                 f"{memory:.0f} MB")

    def time_own_step(self, all_taps):
        step = self.own_step(all_taps)
        self.clock(step)
        self.describe_step(self.name_of(all_taps), [self.clock(step) for _ in range(7 if self.on_gpu else 1)])

    def time_own_graph(self, all_taps):
        graph = peer.Captured(self.own_step(all_taps, capturable=True), 2)
        self.clock(graph)
        self.describe_step(self.name_of(all_taps) + ", graph", [self.clock(graph) for _ in range(7)])

    @staticmethod
    def name_of(all_taps):
        return "ours" if all_taps else "ours, product for the first"

    def time_steps(self):
        """Ours and the peers' best forms in turns; a form that fails or takes too long costs its own line."""
        forms = {"ours": (lambda: self.own_step(True), False)}
        search = dict(precision="TF32", search=True)
        for name, settings in (("TF32, cudnn.benchmark, distinct taps", search | {"taps": "by_convolution"}),
                               ("TF32, cudnn.benchmark", search)):
            forms[name] = (lambda settings=settings: peer.CalorimeterStep(self.bench(), **settings), True)
        steps = {}
        for name, (build, searches) in forms.items():
            try:
                with peer.limited(max(1, min(40, self.seconds_left() - 10))):
                    made = build()
                    self.say(f"step  {name}: {self.clock(made, search=searches):.0f} ms, the first")
                    steps[name] = (made, searches)
            except Exception as problem:
                self.say(f"step  {name}: {str(problem).splitlines()[:1]}")
        times = {name: [] for name in steps}
        for _ in range(5 if self.on_gpu else 1):
            for name, (made, searches) in steps.items():
                if self.seconds_left() > 5:
                    times[name].append(self.clock(made, search=searches))
            self.found["step"]["in turns"] = times
            self.write()
        medians = {name: statistics.median(all_of) for name, all_of in times.items() if all_of}
        self.found["step"]["medians"] = medians
        for name, ms in medians.items():
            self.say(f"step  in turns, {name}: {ms:.2f} ms, {ms / medians['ours']:.2f} times ours")

    # -- time

    def time(self):
        layers = sorted(layers_of(self.grid), key=Layer.multiplications, reverse=True)
        libraries = {"ours": self.library}
        for path in self.options.also if self.on_gpu else ():
            libraries[pathlib.Path(path).stem] = Library(path, self.device)
        for layer in layers:
            self.attempt(f"time {layer.name}", lambda layer=layer: self.time_layer(layer, libraries))
        for name in libraries:
            durations = [of_layer[name] for of_layer in self.found["time"].values() if name in of_layer]
            self.say(f"time  all layers, {name}: " + " ".join(f"{sum(ms):.3f}" for ms in zip(*durations)))
        for layer in layers:
            self.attempt(f"time {layer.name} in PyTorch", lambda layer=layer: self.time_peer(layer))

    def calls_of(self, passes, t):
        out = passes.outputs(t.rows, t.weight, t.bias)
        return [lambda: passes.outputs(t.rows, t.weight, t.bias),
                lambda: passes.input_gradient(t.weight, out, t.gradient),
                lambda: passes.weight_gradient(t.rows, out, t.gradient)]

    def durations(self, calls):
        """Milliseconds of each."""
        found = []
        for call in calls:
            call()
            once = gpu_check.milliseconds(call, self.device, 1, 1)
            count = max(1, min(20, int(10 / once))) if self.on_gpu else 1
            found.append(gpu_check.milliseconds(call, self.device, count, 5 if self.on_gpu and once < 100 else 1))
        return found

    def describe(self, layer, name, durations):
        flop = 2e-9 * self.batch * layer.multiplications()
        self.found["time"].setdefault(layer.name, {})[name] = durations
        self.say(f"time  {layer.name:16s} {name:32s} " + " ".join(
            f"{ms:9.3f} ms {flop / ms:6.1f} TFLOP/s" for ms in durations))

    def time_layer(self, layer, libraries):
        t = tensors_of(layer, self.batch, self.device)
        for name, library in libraries.items():
            self.describe(layer, name, self.durations(self.calls_of(Passes(library, layer, self.batch), t)))

    def time_peer(self, layer):
        """PyTorch's convolution without the activation, in both layouts, then ours once more."""
        if self.seconds_left() < 10:
            return self.say(f"time  {layer.name}: no time left for PyTorch")
        t = tensors_of(layer, self.batch, self.device)
        peer.set_precision("TF32")
        torch.backends.cudnn.benchmark = True
        for name, layout in (("PyTorch", torch.contiguous_format), ("PyTorch, channels last", torch.channels_last_3d)):
            with contextlib.suppress(peer.OverLimit), peer.limited(max(1, min(20, self.seconds_left() - 5))):
                self.describe(layer, name, self.durations(self.peer_calls(layer, t, layout)))
        self.describe(layer, "ours, again", self.durations(self.calls_of(Passes(self.library, layer, self.batch), t)))
        times = self.found["time"][layer.name]
        best = [min(times[name][i] for name in times if name.startswith("PyTorch")) for i in range(3)]
        self.say(f"time  {layer.name:16s} ours is faster by " + ", ".join(
            f"{theirs / ours:.1f}" for theirs, ours in zip(best, times["ours, again"])))

    def peer_calls(self, layer, t, layout):
        images, gradient = (channels_second(rows).contiguous(memory_format=layout) for rows in (t.rows, t.gradient))
        weight = t.weight.contiguous(memory_format=layout)
        padding = layer.before
        if not layer.is_symmetric():
            images, padding = padded(images, layer).contiguous(memory_format=layout), (0, 0, 0)

        def backward(mask):
            return convolution_backward(gradient, images, weight, [layer.outputs], [1] * 3, list(padding), [1] * 3, False,
                                        [0] * 3, 1, mask)
        return [lambda: F.conv3d(images, weight, t.bias, padding=padding), lambda: backward([True, False, False]),
                lambda: backward([False, True, True])]

    # -- kernels

    def kernels(self):
        step = self.own_step(self.options.first == "own")
        self.clock(step)
        activity = torch.profiler.ProfilerActivity
        with torch.profiler.profile(activities=[activity.CUDA if self.on_gpu else activity.CPU]) as profile:
            self.clock(step)
        taken = (lambda event: event.self_device_time_total) if self.on_gpu else (lambda event: event.self_cpu_time_total)
        events = sorted(profile.key_averages(), key=taken, reverse=True)
        self.say(f"kernels of our step: {sum(taken(event) for event in events) / 1e3:.2f} ms in "
                 f"{sum(event.count for event in events)} calls")
        for event in events[:25]:
            self.say(f"  {taken(event) / 1e3:9.3f} ms {event.count:5d} calls  {event.key[:140]}")
        self.found["kernels"] = [{"kernel": event.key, "milliseconds": taken(event) / 1e3, "calls": event.count}
                                 for event in events[:40]]


def run_parts(options):
    """Each part in a process of its own; what they found is in one file."""
    path, begin = pathlib.Path(options.json), time.perf_counter()
    found = {"check": {}, "step": {}, "time": {}, "kernels": [], "failed": [], "lines": []}
    path.write_text(json.dumps(found), encoding="utf-8")
    for part in options.parts.split(","):
        left = options.seconds - (time.perf_counter() - begin)
        limit = int(min(LIMITS[part] if not options.shim else 900, left))
        command = [sys.executable, "-u", *sys.argv, "--parts", part, "--json", str(path), "--goes-on", "--part-seconds",
                   str(limit - 12)]
        try:
            if limit < 20:
                raise subprocess.TimeoutExpired(command, limit)
            ended = subprocess.run(command, check=False, timeout=limit).returncode
            problem = f"{part}: ended with {ended}" if ended else None
        except subprocess.TimeoutExpired:
            problem = f"{part}: ended after {limit} s"
        found = json.loads(path.read_text(encoding="utf-8"))
        if problem:
            print("FAILED " + problem, flush=True)
            found["failed"].append(problem)
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"\n==== all results: {found.get('torch')} on {found.get('device')}\n" + "\n".join(found["lines"]))
    wrong = [name for name, result in found["check"].items() if not result["ok"]]
    print(f"==== {len(found['check'])} checks, {len(wrong)} wrong, {len(found['failed'])} failed parts, "
          f"{time.perf_counter() - begin:.0f} s" + "".join(f"\n     {name}" for name in wrong + found["failed"]))
    return 1 if wrong or found["failed"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="libsagips_cuda.so", help="the library for the GPU")
    parser.add_argument("--also", action="append", default=[], help="another build of it, whose passes `time` times too")
    parser.add_argument("--shim", help="the same interface for the CPU")
    parser.add_argument("--small", action="store_true", help="a small detector, as under compute-sanitizer")
    parser.add_argument("--parts", default="check,step,kernels,time")
    parser.add_argument("--first", default="own", choices=("own", "product"), help="first convolution of `kernels`")
    parser.add_argument("--batch", type=int, default=64, help="of `time`")
    parser.add_argument("--seconds", type=float, default=240, help="of all parts together")
    parser.add_argument("--part-seconds", type=float, default=100, help="of one part that goes on")
    parser.add_argument("--json", default=os.path.join(os.environ.get("OUT", "."), "gpu_check_conv3d.json"))
    parser.add_argument("--goes-on", action="store_true", help="do one part and add to the file")
    parser.add_argument("--verbose", action="store_true", help="where a failure came from")
    options = parser.parse_args()
    return ConvolutionCheck(options).run() if options.goes_on else run_parts(options)


if __name__ == "__main__":
    sys.exit(main())
