#!/usr/bin/env python3
"""Checks and times SAGIPS' own GPU passes (libsagips_cuda.so) beside PyTorch, on a machine with a GPU.

Parts: check (each function against float64), time (each alone), epoch (the SAGIPS paper's epoch as two CUDA graphs),
train (20,000 epochs from a fixed seed), peer (the same epoch in plain PyTorch, by another program, in the same call).
Each part has a process of its own, so that one that fails, or breaks the GPU's context, costs its own lines. Without a
GPU, `--shim` takes the same interface built for the CPU (tests/cuda/shim_library.cpp) and small sizes, so that all but
the graphs is tried beforehand.

usage: tools/gpu_check.py --library PATH [--parts check,time,epoch,train,peer] [--peer PATH] [--json PATH]
"""
import argparse
import ctypes
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time
import traceback

import numpy
import torch

FLOAT32, TF32, BFLOAT16 = 0, 1, 2
PRECISIONS = {"float32": FLOAT32, "tf32": TF32, "bfloat16": BFLOAT16}
GIVEN, ONE, LEAST_SQUARES, CROSS_ENTROPY, LINEAR = 0, 1, 2, 3, 4
EPOCH_FLOP = 81.468588032e9  # of 102,400 events, forward and backward passes of both networks
WIDTH, SLOPE, COVERAGE = 128, 0.2, 0.9999


# ---- the interface, as sagips/cuda/interface.h declares it

class StreamName(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint32 * 2), ("step", ctypes.c_void_p), ("step_offset", ctypes.c_uint32)]


class Grid(ctypes.Structure):
    _fields_ = [("last", ctypes.c_double), ("step", ctypes.c_double), ("points", ctypes.c_int64),
                ("trapezoid", ctypes.c_int)]


class Draws(ctypes.Structure):
    _fields_ = [("samples", ctypes.c_int64), ("observables", ctypes.c_int64), ("events", ctypes.c_int64)]


class Trace(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("cells", "shares", "slopes", "masses")]


class Dense(ctypes.Structure):
    _fields_ = [("inputs", ctypes.c_int32), ("outputs", ctypes.c_int32), ("hidden_layers", ctypes.c_int32),
                ("widths", ctypes.c_int32 * 4), ("slope", ctypes.c_float), ("weight_at", ctypes.c_int32 * 5),
                ("bias_at", ctypes.c_int32 * 5)]


class Slopes(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("label", ctypes.c_float), ("factor", ctypes.c_float),
                ("given", ctypes.c_void_p)]


class Library:
    """Each function takes tensors in place of pointers and works on PyTorch's current stream."""

    U32, I64, F32, F64, INT = ctypes.c_uint32, ctypes.c_int64, ctypes.c_float, ctypes.c_double, ctypes.c_int
    P = ctypes.c_void_p
    FUNCTIONS = {
        "uniform": [StreamName, U32, I64, U32, I64, I64, F32, P],
        "normal": [StreamName, U32, I64, U32, I64, I64, INT, P],
        "draw_rows": [StreamName, U32, I64, U32, U32, I64, P, I64, I64, P],
        "count": [P],
        "draw_positions": [Grid, Draws, P, P, P, Trace],
        "pull_back_positions": [Grid, Draws, Trace, P, P, P],
        "adam": [P, P, P, P, I64, F64, F64, F64, P],
        "rmsprop": [P, P, P, I64, F64, F64, P],
        "dense_pack": [Dense, INT, P, P],
        "dense_passes": [Dense, INT, P, P, I64, Slopes, P, P, P, P],
        "dense_outputs": [Dense, INT, P, P, I64, P],
    }

    def __init__(self, path, device):
        self.device, self.library = device, ctypes.CDLL(str(pathlib.Path(path).resolve()))
        self.library.sagips_cuda_error.restype = ctypes.c_char_p
        self.library.sagips_cuda_error.argtypes = [ctypes.c_int]
        self.library.sagips_cuda_interface.restype = ctypes.c_int
        if self.library.sagips_cuda_interface() != 2:
            raise RuntimeError(f"{path} has another interface than 2")
        for name in ("dense_packed_bytes", "dense_work_bytes"):
            function = getattr(self.library, "sagips_cuda_" + name)
            function.restype = ctypes.c_int64
            function.argtypes = [Dense, ctypes.c_int] + ([ctypes.c_int64] if name == "dense_work_bytes" else [])
        for name, types in self.FUNCTIONS.items():
            function = getattr(self.library, "sagips_cuda_" + name)
            function.restype, function.argtypes = ctypes.c_int, [*types, ctypes.c_void_p]
            setattr(self, name, self.caller(name, function))

    def caller(self, name, function):
        def call(*arguments):
            error = function(*[pointer(value) for value in arguments], self.stream())
            if error != 0:
                raise RuntimeError(f"{name}: {self.library.sagips_cuda_error(error).decode()} ({error})")
        return call

    def stream(self):
        return torch.cuda.current_stream().cuda_stream if self.device.type == "cuda" else None


def pointer(value):
    if not isinstance(value, torch.Tensor):
        return value
    if not value.is_contiguous():
        raise ValueError("the library takes contiguous tensors alone")
    return value.data_ptr()


NOT_FINITE = 4  # of an update: rate, steps, a pointer of two places, and what it points to


def new_update(rate, device):
    """A sagips_cuda_update of no steps."""
    update = torch.zeros(6, dtype=torch.int32, device=device)
    update.view(torch.float32)[0] = rate
    update.view(torch.int64)[1] = update.data_ptr() + 4 * NOT_FINITE
    return update


def split_mix(state):
    """source: Steele, Lea, Flood, OOPSLA'14"""
    mask = (1 << 64) - 1
    state = (state + 0x9e3779b97f4a7c15) & mask
    state = ((state ^ (state >> 30)) * 0xbf58476d1ce4e5b9) & mask
    state = ((state ^ (state >> 27)) * 0x94d049bb133111eb) & mask
    return state ^ (state >> 31)


def stream_name(seed, purpose, step=None, offset=0):
    """The name of core::RandomStream(seed, purpose); step: a counter on the device."""
    hashed = 0xcbf29ce484222325
    for byte in purpose.encode():
        hashed = ((hashed ^ byte) * 0x100000001b3) & ((1 << 64) - 1)
    key = split_mix(split_mix(seed) ^ hashed)
    return StreamName((ctypes.c_uint32 * 2)(key & 0xffffffff, key >> 32), None if step is None else step.data_ptr(),
                      offset)


def trace_of(tensors):
    return Trace(*[t.data_ptr() for t in tensors]) if tensors else Trace()


def new_trace(samples, observables, events, device):
    shape = (samples, observables, events)
    return [torch.empty(shape, dtype=torch.int32, device=device), torch.empty(shape, device=device),
            torch.empty(shape, device=device), torch.empty(shape[:2], dtype=torch.float64, device=device)]


# ---- networks on flat arrays

class Network:
    """A chain of dense layers with its weights, gradients, update rule and buffers on the device."""

    def __init__(self, library, inputs, outputs, widths, precision, rows, rate=1e-3):
        self.library, self.precision = library, precision
        layers, width, at, places = [], inputs, 0, ([], [])
        for following in [*widths, outputs]:
            layers.append(torch.nn.Linear(width, following))
            for place, size in zip(places, (width * following, following)):
                place.append(at)
                at += size
            width = following
        self.shape = Dense(inputs, outputs, len(widths), (ctypes.c_int32 * 4)(*widths), SLOPE,
                           *((ctypes.c_int32 * 5)(*place) for place in places))
        self.sizes = [layer.weight.shape for layer in layers]
        with torch.no_grad():
            flat = torch.cat([p.flatten() for layer in layers for p in (layer.weight, layer.bias)])
        device = library.device
        self.weights = flat.to(device)
        self.gradients, self.mean, self.square = (torch.zeros_like(self.weights) for _ in range(3))
        self.update = new_update(rate, device)
        poison = dict(dtype=torch.uint8, device=device)
        packed = library.library.sagips_cuda_dense_packed_bytes(self.shape, precision)
        work = library.library.sagips_cuda_dense_work_bytes(self.shape, precision, rows)
        if packed == 0 or work == 0:
            raise RuntimeError("the dense passes refuse this shape")
        self.packed, self.work = torch.full((packed,), 255, **poison), torch.full((work,), 255, **poison)
        self.pack()

    def pack(self):
        self.library.dense_pack(self.shape, self.precision, self.weights, self.packed)

    def outputs(self, rows, out):
        self.library.dense_outputs(self.shape, self.precision, self.packed, rows, len(rows), out)

    def passes(self, rows, slopes, out, input_gradient=None, gradients=None):
        self.library.dense_passes(self.shape, self.precision, self.packed, rows, len(rows), slopes, out,
                                  input_gradient, gradients, self.work if gradients is not None else None)

    def adam(self):
        self.library.adam(self.weights, self.gradients, self.mean, self.square, self.weights.numel(), 0.5, 0.999,
                          1e-8, self.update)

    def flop(self, rows):
        """Of one pass forward."""
        return 2 * rows * sum(a * b for a, b in self.sizes)

    def reference(self, weights, rows):
        """The outputs by PyTorch, in the type of its arguments."""
        first, last = 0, len(self.sizes) - 1
        for k, (outputs, inputs) in enumerate(self.sizes):
            matrix = weights[first:first + outputs * inputs].view(outputs, inputs)
            bias = weights[first + outputs * inputs:first + outputs * (inputs + 1)]
            first += outputs * (inputs + 1)
            rows = rows @ matrix.T + bias
            if k < last:
                rows = torch.nn.functional.leaky_relu(rows, SLOPE)
        return rows


# ---- the paper's epoch

class Theory:
    """proxy1d: q(x) = N x^a (1 - x)^b of two quarks, seen as 4 u + d and 4 d + u; as gpu_epoch_peer.py has it."""

    POINTS, FIRST, END = 1000, 0.1, 0.99999
    FORMS = ("by_products", "by_flips", "by_points")
    LOW, HIGH = (0., -1, 0, 0, -1, 0), (3., 1, 5, 3, 1, 5)
    TRUTH = (2.1875, -0.5, 3.0, 1.09375, -0.5, 4.0)

    def __init__(self, device):
        self.step = (self.END - self.FIRST) / self.POINTS
        x = self.FIRST + self.step * torch.arange(self.POINTS, dtype=torch.float64)
        self.grid = Grid(float(x[-1]), self.step, self.POINTS, 0)
        weights = torch.full((self.POINTS,), self.step)
        weights[-1] = 0
        self.logs = torch.stack([x.log(), (-x).log1p()]).float().to(device)
        self.charges = torch.tensor([[4., 1.], [1., 4.]], device=device)
        self.weights = weights.to(device)
        self.low = torch.tensor(self.LOW, device=device)
        self.span = torch.tensor(self.HIGH, device=device) - self.low
        self.truth = torch.tensor(self.TRUTH, device=device)

    def parameters(self, logits):
        return torch.addcmul(self.low.to(logits), self.span.to(logits), torch.sigmoid(logits))

    def by_products(self, parameters):
        """shape: [samples, 6] -> [samples, 2, points]"""
        logs, charges = self.logs.to(parameters), self.charges.to(parameters)
        quarks = parameters.view(-1, 2, 3)
        return torch.bmm(quarks[:, :, 0].unsqueeze(1) * charges, torch.exp(quarks[:, :, 1:] @ logs))

    def by_flips(self, parameters):
        """The same with one product less."""
        quarks = parameters.view(-1, 2, 3)
        densities = quarks[:, :, :1] * torch.exp(quarks[:, :, 1:] @ self.logs.to(parameters))
        return torch.add(densities.flip(1), densities, alpha=4)

    def by_points(self, parameters):
        """The same without a library of products."""
        logs = self.logs.to(parameters)
        p = parameters.unsqueeze(2)
        u = p[:, 0] * torch.exp(p[:, 1] * logs[0] + p[:, 2] * logs[1])
        d = p[:, 3] * torch.exp(p[:, 4] * logs[0] + p[:, 5] * logs[1])
        return torch.stack([4 * u + d, 4 * d + u], 1)

    def norms(self, table):
        return torch.mv(table.view(-1, self.POINTS), self.weights.to(table)).view(-1, 2)


class Pipeline(torch.autograd.Function):
    """Tables -> events and norms, by the library's sampler; the norms' gradient joins the sampler's in one sweep."""

    @staticmethod
    def forward(ctx, table, epoch):
        ctx.epoch = epoch
        epoch.draw(table, epoch.trace)
        return epoch.events.detach(), epoch.theory.norms(table)

    @staticmethod
    def backward(ctx, gradient_events, gradient_norms):
        epoch = ctx.epoch
        found = torch.empty_like(epoch.table_like)
        epoch.library.pull_back_positions(epoch.theory.grid, epoch.sizes, trace_of(epoch.trace), epoch.uniform,
                                          gradient_events.contiguous(), found)
        return torch.addcmul(found, gradient_norms.unsqueeze(2), epoch.theory.weights), None


class Epoch:
    """Discriminator's update, then the generator's, in buffers that stay where they are."""

    def __init__(self, library, samples, events, precision, theory_form="by_products", rates=(1e-5, 1e-4), seed=0):
        device = library.device
        self.library, self.device, self.samples, self.events_of_sample = library, device, samples, events
        self.rows, self.seed = samples * events, seed
        self.theory = Theory(device)
        self.table_of = getattr(self.theory, theory_form)
        self.sizes = Draws(samples, 2, events)
        torch.manual_seed(seed)
        # A hundredth of the work, so rounding there would save nothing.
        self.generator = Network(library, 6, 6, [WIDTH] * 4, FLOAT32, samples, rates[0])
        self.discriminator = Network(library, 2, 1, [WIDTH] * 4, precision, self.rows, rates[1])
        new = dict(device=device)
        self.step = torch.zeros(1, dtype=torch.int32, **new)
        self.noise, self.logits = torch.empty(samples, 6, **new), torch.empty(samples, 6, **new)
        self.uniform = torch.empty(samples, 2, events, **new)
        self.events = torch.empty(samples, events, 2, **new)
        self.real = torch.empty(self.rows, 2, **new)
        self.judged_real, self.judged_fake, self.judged = (torch.empty(self.rows, **new) for _ in range(3))
        self.gradient_events = torch.empty(samples, events, 2, **new)
        self.table_like = torch.empty(samples, 2, Theory.POINTS, **new)
        self.trace = new_trace(samples, 2, events, device)
        self.share_of_norms = 1.0  # in the generator's loss
        self.measure_truth()

    def measure_truth(self):
        """Measured events by the same pipeline, 100,000 on a GPU."""
        count = 1000 if self.device.type == "cuda" else 20
        table = self.table_of(self.theory.truth.repeat(count, 1)).contiguous()
        uniform, events = torch.empty(count, 2, 100, device=self.device), torch.empty(count, 100, 2, device=self.device)
        self.library.uniform(stream_name(self.seed, "measured"), 0, count, 0, 2, 100, COVERAGE, uniform)
        self.library.draw_positions(self.theory.grid, Draws(count, 2, 100), table, uniform, events, Trace())
        self.data, self.true_norms = events.view(-1, 2), self.theory.norms(table).mean(0)

    def name(self, purpose):
        return stream_name(self.seed, purpose, self.step)

    def propose(self, purpose):
        self.library.normal(self.name(purpose + " noise"), 0, self.samples, 0, 1, 6, 0, self.noise)
        self.generator.outputs(self.noise, self.logits)
        self.library.uniform(self.name(purpose + " events"), 0, self.samples, 0, 2, self.events_of_sample, COVERAGE,
                             self.uniform)

    def draw(self, table, trace=None):
        self.library.draw_positions(self.theory.grid, self.sizes, table, self.uniform, self.events, trace_of(trace))

    def judge(self, rows, label, out, input_gradient=None, gradients=None):
        self.discriminator.passes(rows, Slopes(LEAST_SQUARES, label, 1 / self.rows, None), out, input_gradient,
                                  gradients)

    def discriminator_gradients(self):
        self.library.draw_rows(self.name("real"), 0, 1, 0, 0, self.rows, self.data, len(self.data), 2, self.real)
        with torch.no_grad():
            self.propose("discriminator")
            self.draw(self.table_of(self.theory.parameters(self.logits)))
        self.discriminator.gradients.zero_()
        self.judge(self.real, 1, self.judged_real, None, self.discriminator.gradients)
        self.judge(self.events.view(-1, 2), 0, self.judged_fake, None, self.discriminator.gradients)

    def generator_gradients(self):
        self.propose("generator")
        logits = self.logits.detach().requires_grad_()
        events, norms = Pipeline.apply(self.table_of(self.theory.parameters(logits)), self)
        self.judge(self.events.view(-1, 2), 1, self.judged, self.gradient_events)
        of_norms = (norms.detach() - self.true_norms) * (2 / self.samples * self.share_of_norms)
        given = torch.autograd.grad([events, norms], [logits], [self.gradient_events, of_norms])[0].contiguous()
        self.generator.gradients.zero_()
        # The outputs are what they were; the passes write them once more.
        self.generator.passes(self.noise, Slopes(GIVEN, 0, 0, given.data_ptr()), self.logits, None,
                              self.generator.gradients)
        return given

    def discriminator_update(self):
        self.discriminator_gradients()
        self.discriminator.adam()
        self.discriminator.pack()

    def generator_update(self):
        self.generator_gradients()
        self.generator.adam()
        self.generator.pack()
        self.library.count(self.step)

    def losses(self):
        """Least squares of the discriminator on real and on synthetic events, and of the generator."""
        pairs = (self.judged_real, 1), (self.judged_fake, 0), (self.judged, 1)
        return torch.stack([(torch.sigmoid(z) - label).square().mean() for z, label in pairs]).tolist()

    def predicted(self):
        """Means of the generator's parameters over its last noise. shape: [6]"""
        return self.theory.parameters(self.logits).mean(0).tolist()


def captured(function, device):
    """The function as a CUDA graph; itself where there is no GPU."""
    if device.type != "cuda":
        return function
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = function()
    replay = graph.replay
    replay.__self__.kept = kept
    return replay


def synchronize(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def milliseconds(function, device, count, rounds=5):
    """Median of `rounds`, wall time of one call."""
    times = []
    for _ in range(rounds):
        synchronize(device)
        start = time.perf_counter()
        for _ in range(count):
            function()
        synchronize(device)
        times.append(1e3 * (time.perf_counter() - start) / count)
    return statistics.median(times)


# ---- the parts

class Check:
    """One call of this program: what it was asked, what it found."""

    def __init__(self, options):
        self.options = options
        self.device = torch.device("cpu" if options.shim else "cuda")
        self.on_gpu = self.device.type == "cuda"
        self.library = Library(options.shim or options.library, self.device)
        self.found = {"torch": torch.__version__, "device": torch.cuda.get_device_name() if self.on_gpu else "CPU",
                      "check": {}, "time": {}, "epoch": {}, "train": {}, "peer": {}, "failed": [], "lines": []}
        if options.goes_on:
            self.found |= json.loads(pathlib.Path(options.json).read_text(encoding="utf-8"))
        torch.backends.cuda.matmul.allow_tf32 = False  # tables of the theory need all digits
        torch.backends.cudnn.allow_tf32 = False

    def attempt(self, part, function):
        try:
            function()
        except Exception as problem:  # the rest goes on
            self.found["failed"].append(f"{part}: {problem}")
            print(f"FAILED {part}: {str(problem).splitlines()[0] if str(problem) else type(problem).__name__}",
                  flush=True)
            if self.options.verbose:
                traceback.print_exc()
        self.write()

    def write(self):
        pathlib.Path(self.options.json).write_text(json.dumps(self.found, indent=1), encoding="utf-8")

    def say(self, line):
        print(line, flush=True)
        self.found["lines"].append(line)

    # -- check

    def verdict(self, name, error, bound):
        good = bool(error <= bound)  # nan is not
        self.found["check"][name] = {"error": float(error), "bound": bound, "ok": good}
        self.say(f"{'ok   ' if good else 'WRONG'} {name:58s} {float(error):9.2e} (bound {bound:.0e})")

    def check(self):
        parts = [self.check_random, self.check_sampler, self.check_updates, self.check_dense, self.check_epoch]
        for part in parts:
            self.attempt(part.__name__, part)

    def check_random(self):
        step = torch.tensor([11], dtype=torch.int32, device=self.device)
        samples, dimensions, events = 37, 3, 101
        name = stream_name(5, "check", step, 2)
        expected = uniform_reference(name.key, 13, 4, samples, 1, dimensions, events)
        out = poison(samples, dimensions, events, device=self.device)
        self.library.uniform(name, 4, samples, 1, dimensions, events, 1.0, out)
        self.verdict("uniform: numbers that are not the CPU's", differing(out, expected), 0)
        even = poison(samples, dimensions, 100, device=self.device)
        self.library.uniform(name, 4, samples, 1, dimensions, 100, 0.9999, even)
        self.verdict("uniform, times a factor", differing(even, expected[:, :, :100] * numpy.float32(0.9999)), 0)
        for first in (0, 1):
            normal = poison(*((samples, events, dimensions) if first else out.shape), device=self.device)
            self.library.normal(name, 4, samples, 1, dimensions, events, first, normal)
            wanted = torch.special.ndtri(out.double())
            wanted = wanted.transpose(1, 2) if first else wanted
            self.verdict(f"normal{', events first' if first else ''}", largest(normal, wanted), 4e-7)
        rows = torch.randn(100003, 2, device=self.device)
        drawn = poison(2, events, 2, device=self.device)
        self.library.draw_rows(name, 4, 2, 1, 3, events, rows, len(rows), 2, drawn)
        chosen = row_reference(name.key, 13, 4, 2, 1, 3, events, len(rows))
        self.verdict("draw_rows: rows that are not the CPU's", differing(drawn, rows.cpu().numpy()[chosen]), 0)
        self.library.count(step)
        self.verdict("count", abs(int(step) - 12), 0)

    def check_sampler(self):
        shapes = [(self.options.samples, 2, 1000, self.options.events), (3, 3, 37, 5),
                  (2, 1, 4096, 100000 if self.on_gpu else 5000)]
        for samples, observables, points, events in shapes:
            for trapezoid in (0, 1):
                self.check_sampler_of(samples, observables, points, events, trapezoid)

    def check_sampler_of(self, samples, observables, points, events, trapezoid):
        new = dict(device=self.device)
        grid, shape = Grid(3, 4 / (points - 1), points, trapezoid), Draws(samples, observables, events)
        densities = 0.2 + 0.8 * torch.rand(samples, observables, points, **new)
        uniform = (torch.rand(samples, observables, events, **new) * 0.9999).clamp_min(1e-7)
        pulls = torch.randn(samples, events, observables, **new)
        positions = poison(samples, events, observables, **new)
        trace = new_trace(samples, observables, events, self.device)
        for tensor in trace[1:]:
            tensor.fill_(float("nan"))
        trace[0].fill_(-1)
        self.library.draw_positions(grid, shape, densities, uniform, positions, trace_of(trace))
        again = poison(samples, events, observables, **new)
        self.library.draw_positions(grid, shape, densities, uniform, again, Trace())
        name = f"{samples}x{observables}x{points}x{events} {'trapezoid' if trapezoid else 'left'}"
        reference = sampler_reference(grid, densities.double(), uniform.double())
        self.verdict(f"draw_positions {name}", largest(positions, reference), 5e-6)
        self.verdict(f"draw_positions {name}, again", differing(again, positions), 0)
        found, repeated = (poison(samples, observables, points, **new) for _ in range(2))
        self.library.pull_back_positions(grid, shape, trace_of(trace), uniform, pulls, found)
        self.library.pull_back_positions(grid, shape, trace_of(trace), uniform, pulls, repeated)
        reference = pull_back_reference(grid, trace, uniform.double(), pulls.double(), points)
        self.verdict(f"pull_back_positions {name}", relative(found, reference), 1e-6)
        self.verdict(f"pull_back_positions {name}, again", differing(repeated, found), 0)

    def check_updates(self):
        count = 50049
        start = torch.randn(count, device=self.device) * 0.1
        for rule in ("adam", "rmsprop"):
            weights, mean, square = start.clone(), torch.zeros_like(start), torch.zeros_like(start)
            update = new_update(1e-3, self.device)
            wanted = start.double().requires_grad_()
            if rule == "adam":
                reference = torch.optim.Adam([wanted], lr=1e-3, betas=(0.5, 0.999))
            else:
                reference = torch.optim.RMSprop([wanted], lr=1e-3, alpha=0.99)

            def call(gradient):
                if rule == "adam":
                    self.library.adam(weights, gradient, mean, square, count, 0.5, 0.999, 1e-8, update)
                else:
                    self.library.rmsprop(weights, gradient, square, count, 0.99, 1e-8, update)

            for _ in range(20):
                gradient = torch.randn(count, device=self.device)
                call(gradient)
                wanted.grad = gradient.double()
                reference.step()
            self.verdict(f"{rule}, 20 steps", largest(weights, wanted.detach()), 1e-6)
            kept = weights.clone()
            gradient[count - 1] = float("nan")
            call(gradient)
            wrong = differing(weights, kept) + abs(int(update[1]) - 20) + abs(int(update[NOT_FINITE]) - 1)
            self.verdict(f"{rule}, a gradient that is not finite", wrong, 0)

    def check_dense(self):
        rows, samples = self.options.samples * self.options.events, self.options.samples
        usual, small = [WIDTH] * 4, rows if not self.on_gpu else 777
        cases = [(2, 1, usual, rows, LEAST_SQUARES), (6, 6, usual, samples, GIVEN),
                 (8, 8, [64, 100], small, GIVEN), (1, 3, [16], small, LEAST_SQUARES),
                 (3, 2, [128, 32, 128], small, CROSS_ENTROPY), (4, 1, usual, small, LINEAR),
                 (5, 1, [128, 128], small, ONE)]
        for precision in PRECISIONS:
            for inputs, outputs, widths, count, kind in cases:
                self.attempt("check_dense",
                             lambda: self.check_dense_of(precision, inputs, outputs, widths, count, kind))

    def check_dense_of(self, precision, inputs, outputs, widths, rows, kind):
        torch.manual_seed(inputs + 10 * outputs)
        network = Network(self.library, inputs, outputs, widths, PRECISIONS[precision], rows)
        new = dict(device=self.device)
        data, given = torch.randn(rows, inputs, **new), torch.randn(rows, outputs, **new) / rows
        label, factor = 0.75, 3 / rows
        slopes = Slopes(kind, label, factor, given.data_ptr() if kind == GIVEN else None)
        out, alone, repeated = (poison(rows, outputs, **new) for _ in range(3))
        input_gradient, input_alone = (poison(rows, inputs, **new) for _ in range(2))
        network.outputs(data, alone)
        network.passes(data, slopes, repeated, input_alone)
        network.passes(data, slopes, out, input_gradient, network.gradients)
        once = network.gradients.clone()
        passed_again = out.clone(), input_gradient.clone()
        network.work.fill_(255)
        network.passes(data, slopes, out, input_gradient, network.gradients)

        weights, points = network.weights.double().requires_grad_(), data.double().requires_grad_()
        z = network.reference(weights, points)
        loss = {GIVEN: lambda: (z * given.double()).sum(), ONE: lambda: z.sum(), LINEAR: lambda: factor * z.sum(),
                LEAST_SQUARES: lambda: factor * (torch.sigmoid(z) - label).square().sum(),
                CROSS_ENTROPY: lambda: factor * (torch.nn.functional.softplus(z) - label * z).sum()}[kind]()
        of_weights, of_points = torch.autograd.grad(loss, [weights, points])
        bounds = {"float32": (2e-6, 1e-5, 1e-5), "tf32": (3e-3, 1e-2, 1e-2), "bfloat16": (2e-2, 6e-2, 6e-2)}[precision]
        kind_name = ("given", "one", "least squares", "cross entropy", "linear")[kind]
        name = f"dense {precision} {'-'.join(map(str, [inputs, *widths, outputs]))}, {rows} rows, {kind_name}"
        self.verdict(f"{name}: outputs", relative(out, z.detach()), bounds[0])
        # A row with a LeakyReLU that rounding put on its other side is off by much. In float32 hardly a row has one;
        # with 11 or 8 bits one of 512 units nearly always has, so that the median is what can be asked for.
        distances = (input_gradient.double() - of_points).square().sum(1).sqrt().nan_to_num(1e30)
        typical = distances.quantile(0.99 if precision == "float32" else 0.5) / of_points.square().sum(1).mean().sqrt()
        self.verdict(f"{name}: input gradients of {'99' if precision == 'float32' else '50'} %", typical, bounds[1])
        self.verdict(f"{name}: weight gradients", relative(once, of_weights), bounds[2])
        same = (differing(alone, out) + differing(repeated, out) + differing(input_alone, input_gradient)
                + differing(passed_again[0], out) + differing(passed_again[1], input_gradient))
        self.verdict(f"{name}: other modes and again", same, 0)
        self.verdict(f"{name}: adds to gradients", differing(network.gradients, 2 * once), 0)

    def check_epoch(self):
        """Gradients of a whole epoch against float64 with the same real events, noise and uniform numbers."""
        samples = min(64, self.options.samples)
        for form in Theory.FORMS:
            epoch = Epoch(self.library, samples, self.options.events, FLOAT32, form)
            theory, squares = epoch.theory, lambda z, label: (torch.sigmoid(z) - label).square().mean()
            epoch.discriminator_gradients()
            weights = epoch.discriminator.weights.double().requires_grad_()
            parts = [torch.autograd.grad(squares(epoch.discriminator.reference(weights, events.double()), label), weights)[0]
                     for events, label in ((epoch.real, 1), (epoch.events.view(-1, 2), 0))]
            # Those of real and of synthetic events nearly cancel: float32 leaves digits of the parts.
            distance = (epoch.discriminator.gradients.double() - sum(parts)).norm()
            self.verdict(f"epoch, {form}: discriminator's gradients, of both parts' size",
                         distance / sum(part.norm() for part in parts), 1e-5)
            weights = epoch.generator.weights.double().requires_grad_()
            for share in (1, 0):  # the norms' gradient is so much longer than the events' that it would hide them
                epoch.share_of_norms = share
                epoch.generator_gradients()
                logits = epoch.generator.reference(weights, epoch.noise.double())
                table = getattr(theory, form)(theory.parameters(logits))
                events = sampler_reference(theory.grid, table, epoch.uniform.double())
                judged = epoch.discriminator.reference(epoch.discriminator.weights.double(), events.reshape(-1, 2))
                norms = (theory.norms(table) - epoch.true_norms.double()).square().mean(0).sum()
                wanted = torch.autograd.grad(squares(judged, 1) + share * norms, weights)[0]
                self.verdict(f"epoch, {form}: generator's gradients{'' if share else ' without norms'}",
                             relative(epoch.generator.gradients, wanted), 1e-3)

    # -- time

    def time(self):
        epoch = {name: Epoch(self.library, self.options.samples, self.options.events, precision)
                 for name, precision in PRECISIONS.items()}
        one, theory = epoch["float32"], epoch["float32"].theory
        table = one.table_of(theory.truth.repeat(one.samples, 1)).contiguous()
        found = torch.empty_like(table)
        pulls = torch.randn_like(one.events)
        one.draw(table, one.trace)

        cases = {
            "uniform numbers of the sampler": lambda: one.library.uniform(one.name("a"), 0, one.samples, 0, 2,
                                                              one.events_of_sample, COVERAGE, one.uniform),
            "normal numbers of the generator": lambda: one.library.normal(one.name("a"), 0, one.samples, 0, 1, 6, 0,
                                                                          one.noise),
            "draw_rows": lambda: one.library.draw_rows(one.name("a"), 0, 1, 0, 0, one.rows, one.data,
                                                                len(one.data), 2, one.real),
            "draw_positions": lambda: one.draw(table),
            "draw_positions, trace": lambda: one.draw(table, one.trace),
            "pull_back_positions": lambda: one.library.pull_back_positions(
                theory.grid, one.sizes, trace_of(one.trace), one.uniform, pulls, found),
            "adam, 50,049 weights": one.discriminator.adam,
        }
        for form in Theory.FORMS:
            cases[f"theory {form.replace('_', ' ')}, both ways"] = self.theory_both_ways(theory, form)
        for name, function in cases.items():
            self.attempt("time " + name, lambda: self.time_of(name, function))
        for name in PRECISIONS:
            e = epoch[name]
            d, slopes, flop = e.discriminator, Slopes(LEAST_SQUARES, 1, 1 / e.rows, None), e.discriminator.flop(e.rows)
            rows = torch.rand(e.rows, 2, device=self.device)
            gradient = torch.empty_like(rows)
            dense = {
                f"discriminator, {name}: pack": (d.pack, None),
                f"discriminator, {name}: outputs": (lambda: d.outputs(rows, e.judged), flop),
                f"discriminator, {name}: input gradients": (lambda: d.passes(rows, slopes, e.judged, gradient),
                                                            2 * flop),
                f"discriminator, {name}: weight gradients": (lambda: d.passes(rows, slopes, e.judged, None,
                                                                              d.gradients), 3 * flop),
            }
            if name == "float32":
                g, given = e.generator, torch.zeros(e.samples, 6, device=self.device)
                of_given = Slopes(GIVEN, 0, 0, given.data_ptr())
                dense["generator, float32: outputs"] = (lambda: g.outputs(e.noise, e.logits), g.flop(e.samples))
                dense["generator, float32: weight gradients"] = (
                    lambda: g.passes(e.noise, of_given, e.logits, None, g.gradients), 3 * g.flop(e.samples))
            for label, (function, count) in dense.items():
                self.attempt("time " + label, lambda: self.time_of(label, function, count))

    def theory_both_ways(self, theory, form):
        start = torch.zeros(self.options.samples, 6, device=self.device)
        pulls = torch.ones(self.options.samples, 2, Theory.POINTS, device=self.device)

        def both_ways():
            logits = start.detach().requires_grad_()  # a new one: PyTorch notes the stream of its first use
            return torch.autograd.grad([getattr(theory, form)(theory.parameters(logits))], [logits], [pulls])
        return both_ways

    def form(self):
        """The fastest way to write the theory here."""
        if self.options.theory != "fastest":
            return "by_" + self.options.theory
        if not self.on_gpu:
            return "by_flips"
        theory, times = Theory(self.device), {}
        for form in Theory.FORMS:
            replay = captured(self.theory_both_ways(theory, form), self.device)
            times[form] = milliseconds(replay, self.device, 100, 3)
        return min(times, key=times.get)

    def time_of(self, name, function, flop=None):
        """Median of 50 replays of a graph of 20 calls; data stay in the level 2 cache where they fit."""
        calls = 20 if self.on_gpu else 1

        def all_calls():
            for _ in range(calls):
                kept = function()
            return kept

        replay, times = captured(all_calls, self.device), []
        for _ in range(50 if self.on_gpu else 1):
            if self.on_gpu:
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                replay()
                end.record()
                end.synchronize()
                times.append(start.elapsed_time(end) / calls)
            else:
                times.append(milliseconds(replay, self.device, 1, 1))
        self.report("time", name, statistics.median(times), flop)

    def report(self, part, name, ms, flop=None):
        rate = flop / ms / 1e9 if flop else None
        self.found[part][name] = {"ms": ms, "tflops": rate}
        self.say(f"{part:5s} {name:58s} {ms:10.4f} ms" + (f" {rate:8.2f} TFLOP/s" if rate else ""))

    # -- epoch

    def epoch(self):
        form = self.form()
        self.say(f"epoch theory {form.replace('_', ' ')}")
        for name in PRECISIONS:
            self.attempt(f"epoch {name}", lambda: self.epoch_of(name, form))

    def epoch_of(self, name, form):
        epoch = Epoch(self.library, self.options.samples, self.options.events, PRECISIONS[name], form)
        first = captured(epoch.discriminator_update, self.device)
        second = captured(epoch.generator_update, self.device)

        def both():
            first()
            second()

        count = self.options.epochs if self.on_gpu else 1
        both()
        flop = EPOCH_FLOP * epoch.rows / 102400
        self.report("epoch", name, milliseconds(both, self.device, count), flop)
        self.report("epoch", f"{name}: discriminator's graph alone", milliseconds(first, self.device, count))
        self.report("epoch", f"{name}: generator's graph alone", milliseconds(second, self.device, count))
        start = time.perf_counter()
        both()
        self.report("epoch", f"{name}: host's time to start both", 1e3 * (time.perf_counter() - start))
        synchronize(self.device)
        if self.on_gpu:
            for which, replay in (("discriminator", first), ("generator", second)):
                self.attempt(f"kernels {name}", lambda: self.count_kernels(f"{name}: {which}'s graph", replay))

    def count_kernels(self, name, replay):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            replay()
            torch.cuda.synchronize()
        events = [e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA]
        times = {}
        for event in events:
            count, total = times.get(event.name, (0, 0.0))
            times[event.name] = count + 1, total + event.time_range.elapsed_us()
        longest = sorted(times.items(), key=lambda item: -item[1][1])
        self.found["epoch"][name] = {"kernels": len(events), "us": sum(t for _, t in times.values()),
                                     "longest": [[label, n, t] for label, (n, t) in longest]}
        self.say(f"epoch {name}: {len(events)} kernels, {sum(t for _, t in times.values()):.1f} us in them")
        for label, (n, total) in longest[:14]:
            short = re.sub(r"\(anonymous namespace\)::|sagips::cuda::|at::native::|void ", "", label)[:90]
            print(f"        {total:9.1f} us {n:3d} x {short}", flush=True)

    # -- train

    def train(self):
        for name in self.options.train_precisions.split(","):
            self.attempt(f"train {name}", lambda: self.train_of(name))

    def train_of(self, name):
        epoch = Epoch(self.library, self.options.samples, self.options.events, PRECISIONS[name],
                      self.form(), (self.options.generator_rate, self.options.discriminator_rate), 1)
        states = [n.weights.clone() for n in (epoch.generator, epoch.discriminator)]
        first = captured(epoch.discriminator_update, self.device)
        second = captured(epoch.generator_update, self.device)
        epoch.step.zero_()  # what warming up moved is put back
        for network, weights in zip((epoch.generator, epoch.discriminator), states):
            network.weights.copy_(weights)
            network.update[1] = network.update[NOT_FINITE] = 0
            network.mean.zero_()
            network.square.zero_()
            network.pack()
        epochs, course = self.options.train, []
        shown = {1} | {epochs * k // 10 for k in range(1, 11)}
        self.say("train truth     " + " ".join(f"{value:8.4f}" for value in Theory.TRUTH))
        synchronize(self.device)
        start = time.perf_counter()
        for e in range(1, epochs + 1):
            first()
            second()
            if e % 100 == 0 or e in shown:
                losses = epoch.losses()
            if e in shown:
                course.append({"epoch": e, "predicted": epoch.predicted(), "losses": losses})
                self.say(f"train {e:9d} " + " ".join(f"{value:8.4f}" for value in course[-1]["predicted"])
                         + "   losses " + " ".join(f"{value:.4f}" for value in losses))
        synchronize(self.device)
        ms = 1e3 * (time.perf_counter() - start) / epochs
        broken = int(epoch.generator.update[NOT_FINITE]) + int(epoch.discriminator.update[NOT_FINITE])
        self.found["train"][name] = {"ms": ms, "epochs": epochs, "course": course, "truth": Theory.TRUTH,
                                     "not_finite": broken}
        self.say(f"train {name}: {epochs} epochs, {ms:.4f} ms each with losses read every 100"
                 + (" NOT FINITE" if broken else ""))

    # -- peer

    def peer(self):
        command = [sys.executable, "-u", self.options.peer, "--samples", str(self.options.samples), "--device",
                   self.device.type, "--epochs", str(self.options.epochs if self.on_gpu else 5)]
        try:
            answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                    timeout=self.options.peer_seconds).stdout.decode()
        except subprocess.TimeoutExpired as late:  # what it had measured by then counts
            answer = (late.stdout or b"").decode() + f"\nended after {self.options.peer_seconds} s"
        print(answer, flush=True)
        for label, ms, rate in re.findall(r"^(.{34}) +([\d.]+) ms +([\d.]+) TFLOP/s", answer, re.MULTILINE):
            self.found["peer"][label.strip()] = {"ms": float(ms), "tflops": float(rate)}
        epochs = {k: v["ms"] for k, v in self.found["peer"].items() if not k.startswith("products")}
        best = min(epochs, key=epochs.get)
        self.found["peer_best"] = {"name": best, "ms": epochs[best]}
        self.say(f"peer  best: {best}, {epochs[best]:.3f} ms")
        for name in PRECISIONS:
            if name in self.found["epoch"]:
                ours = self.found["epoch"][name]["ms"]
                self.say(f"peer  {name}: {ours:.3f} ms, {epochs[best] / ours:.2f} times as fast as the peer's best")

    def run(self):
        part = self.options.parts
        start = time.perf_counter()
        self.attempt(part, getattr(self, part))
        print(f"--- {part}: {time.perf_counter() - start:.1f} s", flush=True)


def run_parts(options):
    """Each part in a process of its own; what they found is in one file."""
    path = pathlib.Path(options.json)
    found = {"check": {}, "failed": [], "lines": []}
    path.write_text(json.dumps(found), encoding="utf-8")
    for part in options.parts.split(","):
        if part == "peer" and not options.peer:
            continue
        command = [sys.executable, "-u", *sys.argv, "--parts", part, "--json", str(path), "--goes-on"]
        try:
            ended = subprocess.run(command, check=False, timeout=options.part_seconds).returncode
            problem = f"{part}: ended with {ended}" if ended else None
        except subprocess.TimeoutExpired:
            problem = f"{part}: ended after {options.part_seconds} s"
        found = json.loads(path.read_text(encoding="utf-8"))
        if problem:
            print("FAILED " + problem, flush=True)
            found["failed"].append(problem)
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(f"\n==== all results: {found.get('torch')} on {found.get('device')}, {options.samples} samples x "
          f"{options.events} events\n" + "\n".join(found["lines"]))
    wrong = [name for name, result in found["check"].items() if not result["ok"]]
    print(f"==== {len(found['check'])} checks, {len(wrong)} wrong, {len(found['failed'])} failed parts"
          + "".join(f"\n     {name}" for name in wrong + found["failed"]))
    return 1 if wrong or found["failed"] else 0


# ---- references

def poison(*shape, device):
    return torch.full(shape, float("nan"), device=device)


def differing(found, expected):
    """How many numbers are not the same bits."""
    found = found.detach().cpu().numpy()
    expected = expected.detach().cpu().numpy() if isinstance(expected, torch.Tensor) else numpy.asarray(expected)
    return int((found.view(numpy.int32) != expected.astype(numpy.float32).view(numpy.int32)).sum())


def largest(found, expected):
    """The largest difference, of numbers up to 1 absolute, of others relative."""
    return float(((found.double() - expected).abs() / expected.abs().clamp_min(1)).max())


def relative(found, expected):
    """Norm of the difference over the norm."""
    return float((found.double() - expected).norm() / expected.norm())


def philox_reference(key, kind, block, dimension, sample, step):
    """Philox4x32-10 on arrays. source: Salmon et al., SC'11"""
    low, shift = numpy.uint64(0xffffffff), numpy.uint64(32)
    words = [numpy.asarray(w, numpy.uint64) for w in numpy.broadcast_arrays(block, dimension, sample, step)]
    key0, key1 = key[0] ^ kind, key[1]
    for _ in range(10):
        first, second = words[0] * numpy.uint64(0xd2511f53), words[2] * numpy.uint64(0xcd9e8d57)
        words = [(second >> shift) ^ words[1] ^ numpy.uint64(key0), second & low,
                 (first >> shift) ^ words[3] ^ numpy.uint64(key1), first & low]
        key0, key1 = (key0 + 0x9e3779b9) & 0xffffffff, (key1 + 0xbb67ae85) & 0xffffffff
    return numpy.stack(words, -1)


def uniform_reference(key, step, first_sample, samples, first_dimension, dimensions, events):
    blocks = numpy.arange((events + 3) // 4)
    sample = first_sample + numpy.arange(samples)[:, None, None]
    dimension = first_dimension + numpy.arange(dimensions)[None, :, None]
    words = philox_reference(key, 0, blocks, dimension, sample, step)
    bits = words.reshape(samples, dimensions, -1)[:, :, :events] >> numpy.uint64(9)
    return ((bits.astype(numpy.float64) + 0.5) * 2.0 ** -23).astype(numpy.float32)


def row_reference(key, step, first_sample, samples, dimension, first_event, events, rows):
    event = first_event + numpy.arange(events)
    sample = first_sample + numpy.arange(samples)[:, None]
    words = philox_reference(key, 0x7f4a7c15, event // 2, dimension, sample, step)
    pair = numpy.take_along_axis(words.reshape(samples, events, 2, 2), (event % 2)[None, :, None, None], 2)[:, :, 0]
    return [[(int(high) << 32 | int(low)) * rows >> 64 for high, low in row] for row in pair]


def sampler_reference(grid, densities, uniform):
    """shape: [samples, observables, points], [samples, observables, events] -> [samples, events, observables]"""
    mass = densities
    if grid.trapezoid:
        mass = torch.nn.functional.pad((densities[..., :-1] + densities[..., 1:]) / 2, (0, 1))
    tail = mass.flip(2).cumsum(2)
    tail = tail / tail[..., -1:]
    upper = torch.searchsorted(tail.detach().contiguous(), uniform.contiguous()).clamp(1, grid.points - 1)
    below, above = tail.gather(2, upper - 1), tail.gather(2, upper)
    share = ((uniform - below) / (above - below)).clamp(0, 1)
    return (grid.last - (upper - 1 + share) * grid.step).transpose(1, 2)


def pull_back_reference(grid, trace, uniform, pulls, points):
    """The gradient of the densities for the trace that the forward pass left, in float64."""
    cells, shares, slopes, masses = trace[0].long(), trace[1].double(), trace[2].double(), trace[3]
    pull = grid.step * pulls.transpose(1, 2) * slopes
    sums = torch.zeros(*masses.shape, points, dtype=torch.float64, device=masses.device)
    sums.scatter_add_(2, cells, pull * shares)
    sums.scatter_add_(2, cells + 1, pull * (1 - shares))
    of_mass = (sums.cumsum(2) - (pull * uniform).sum(2, keepdim=True)) / masses.unsqueeze(2)
    if not grid.trapezoid:
        return of_mass
    inner = of_mass[..., :-1]
    return torch.nn.functional.pad(inner, (0, 1)) + torch.nn.functional.pad(inner, (1, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="libsagips_cuda.so", help="the library for the GPU")
    parser.add_argument("--shim", help="the same interface for the CPU")
    parser.add_argument("--parts", default="check,time,epoch,train,peer")
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=200, help="of each of five measurements")
    parser.add_argument("--theory", default="fastest", choices=("fastest", "products", "flips", "points"))
    parser.add_argument("--train", type=int, default=20000, metavar="EPOCHS")
    parser.add_argument("--train-precisions", default="tf32")
    parser.add_argument("--generator-rate", type=float, default=1e-5)
    parser.add_argument("--discriminator-rate", type=float, default=1e-4)
    parser.add_argument("--peer", help="the program gpu_epoch_peer.py")
    parser.add_argument("--peer-seconds", type=int, default=150)
    parser.add_argument("--part-seconds", type=int, default=200, help="after which a part is ended")
    parser.add_argument("--json", default="gpu_check.json", help="where results go")
    parser.add_argument("--goes-on", action="store_true", help="do one part and add to the file")
    parser.add_argument("--verbose", action="store_true", help="where a failure came from")
    options = parser.parse_args()
    return Check(options).run() if options.goes_on else run_parts(options)


if __name__ == "__main__":
    sys.exit(main())
