#!/usr/bin/env python3
"""Checks and times the fused pair passes (libsagips_cuda.so), alone and in JEDI-net's training step beside PyTorch.

Parts: check (messages and gradients against float64), step (forward, loss, backward and Adam at 100 particles, with our
passes and in the three forms of bench/peers/pytorch_gpu.py, eager and as CUDA graphs, in turns), time (the passes
alone). Each part has a process of its own, so that one that fails costs its own lines. Without a GPU, `--shim` takes
the same interface built for the CPU (tests/cuda/shim_library.cpp) and small sizes.

usage: tools/gpu_check_pairs.py --library PATH [--others PATH,PATH] [--parts check,step,time] [--seconds 120]
"""
import argparse
import copy
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "peers")]
import gpu_check  # noqa: E402
import pytorch_gpu as peers  # noqa: E402

PRECISIONS = {"tf32": gpu_check.TF32, "float32": gpu_check.FLOAT32}
LEAKY_RELU, ELU, SELU = 0, 1, 2
MESSAGES = [peers.WIDTH, peers.WIDTH // 2, peers.MESSAGE]  # widths of JEDI-net's network of pairs


class Pairs(ctypes.Structure):
    _fields_ = [("events", ctypes.c_int64), ("particles", ctypes.c_int32), ("layers", ctypes.c_int32),
                ("widths", ctypes.c_int32 * 3), ("activation", ctypes.c_int32), ("slope", ctypes.c_float)]


class PairLibrary(gpu_check.Library):
    P = ctypes.c_void_p
    FUNCTIONS = {"pairs_forward": [Pairs, ctypes.c_int, P, P, P, P],
                 "pairs_backward": [Pairs, ctypes.c_int, P, P, P, P, P, P, P]}

    def __init__(self, path, device):
        super().__init__(path, device)
        self.work_bytes = self.library.sagips_cuda_pairs_work_bytes
        self.work_bytes.restype, self.work_bytes.argtypes = ctypes.c_int64, [Pairs, ctypes.c_int]


class Passes:
    """The passes for one shape, with their memory."""

    def __init__(self, library, events, particles, widths, precision, activation=ELU, slope=1.0, present=None):
        self.library, self.precision, self.present = library, precision, present
        self.shape = Pairs(events, particles, len(widths), (ctypes.c_int32 * 3)(*widths), activation, slope)
        self.rows, self.widths = (events, particles), widths
        work = library.work_bytes(self.shape, precision)
        if work == 0:
            raise RuntimeError("the pair passes refuse this shape")
        self.work = torch.full((work,), 255, dtype=torch.uint8, device=library.device)

    def forward(self, halves, weights):
        messages = torch.empty(*self.rows, self.widths[-1], device=halves.device)
        self.library.pairs_forward(self.shape, self.precision, halves, self.present, weights, messages)
        return messages

    def backward(self, halves, weights, slopes):
        gradients = torch.empty_like(halves), torch.zeros_like(weights)
        self.library.pairs_backward(self.shape, self.precision, halves, self.present, weights, slopes, *gradients,
                                    self.work)
        return gradients


class Messages(torch.autograd.Function):
    @staticmethod
    def forward(ctx, halves, weights, passes):
        ctx.passes = passes
        ctx.save_for_backward(halves, weights)
        return passes.forward(halves, weights)

    @staticmethod
    def backward(ctx, slopes):
        return *ctx.passes.backward(*ctx.saved_tensors, slopes.contiguous()), None


def reference(halves, weights, widths, activation, slope, present):
    """The messages by PyTorch, in the type of its arguments."""
    act = {LEAKY_RELU: lambda x: F.leaky_relu(x, slope), ELU: lambda x: F.elu(x, slope), SELU: F.selu}[activation]
    received, sent = halves.chunk(2, 2)
    values, first = act(received[:, :, None] + sent[:, None]), 0
    for inputs, outputs in zip(widths, widths[1:]):
        matrix = weights[first:first + inputs * outputs].view(outputs, inputs)
        first += (inputs + 1) * outputs
        values = act(values @ matrix.T + weights[first - outputs:first])
    counts = ~torch.eye(halves.shape[1], dtype=torch.bool, device=halves.device)
    counts = counts & present[:, :, None] & present[:, None]
    return (values * counts[..., None]).sum(2)


class FusedJediNet(nn.Module):
    """The peer's network with its weights, its pairs by our passes. The first layer of pairs stands as two halves."""

    def __init__(self, peer, passes):
        super().__init__()
        first, second, third = peer.relation[0], peer.relation[2], peer.relation[4]
        halves = torch.cat(first.weight.detach().split(peers.FEATURES, 1))
        rest = torch.cat([p.detach().flatten() for p in (second.weight, second.bias, third.weight, third.bias)])
        self.halves, self.bias, self.rest = (nn.Parameter(p.clone()) for p in (halves, first.bias.detach(), rest))
        self.node, self.classifier, self.passes = copy.deepcopy(peer.node), copy.deepcopy(peer.classifier), passes

    def forward(self, jets):
        halves = F.linear(jets, self.halves, F.pad(self.bias, (0, len(self.bias))))
        sums = Messages.apply(halves, self.rest, self.passes)
        return self.classifier(self.node(torch.cat((jets, sums), 2)).flatten(1))

    def relation_gradients(self):
        """As those of the peer's network of pairs."""
        return torch.cat([torch.cat(self.halves.grad.chunk(2), 1).flatten(), self.bias.grad, self.rest.grad])


class Step(peers.JediStep):
    """The peer's step; with our passes where a precision of theirs is given."""

    def __init__(self, bench, batch, form, library=None, ours=None, precision="TF32", capturable=False):
        torch.manual_seed(1)
        super().__init__(bench, batch, form, precision, capturable=capturable)
        if ours is not None:
            particles = self.jets.shape[1]
            passes = Passes(library, batch, particles, MESSAGES, ours)
            self.network = self.apply = FusedJediNet(self.network, passes).to(bench.device)
            self.rule = torch.optim.Adam(self.network.parameters(), lr=1e-4, fused=True, capturable=capturable)

    def loss(self):
        return F.cross_entropy(self.apply(self.jets).float(), self.classes)


class PairCheck(gpu_check.Check):
    def __init__(self, options):
        super().__init__(options)
        self.found |= {part: self.found.get(part, {}) for part in ("check", "time", "step")}
        self.library = PairLibrary(options.shim or options.library, self.device)
        self.others = [PairLibrary(path, self.device) for path in options.others.split(",") if path]
        self.batches = (100, 1000) if self.on_gpu else (2, 3)

    # -- check

    def check(self):
        networks = [(MESSAGES, ELU, 1.0), (MESSAGES, LEAKY_RELU, 0.0), ([5], ELU, 0.5), ([50], SELU, 1.0),
                    ([20, 30], ELU, 1.0), ([50, 20], LEAKY_RELU, 0.2), ([50, 25, 12], ELU, 1.0),
                    ([64, 64, 64], ELU, 1.0), ([64, 64, 64], SELU, 1.0)]
        sizes = [(300, 100), (1000, 30), (64, 150), (7, 7)] if self.on_gpu and not self.options.small else [(2, 7), (1, 30)]
        for precision in PRECISIONS:
            for widths, activation, slope in networks:
                for events, particles in sizes if widths == MESSAGES else sizes[1::2]:
                    for masked in (False, True):
                        name = f"{precision} {widths} {activation} {slope} {events}x{particles}{' masked' * masked}"
                        self.attempt("check " + name, lambda: self.check_of(
                            name, precision, widths, activation, slope, events, particles, masked))

    def check_of(self, name, precision, widths, activation, slope, events, particles, masked):
        torch.manual_seed(len(name))
        new = dict(device=self.device)
        halves = torch.randn(events, particles, 2 * widths[0], **new)
        weights = torch.cat([torch.randn(inputs * outputs, **new) * inputs ** -0.5 if is_weight else
                             0.3 * torch.randn(outputs, **new) for inputs, outputs in zip(widths, widths[1:])
                             for is_weight in (True, False)] or [torch.zeros(0, **new)])
        slopes = torch.randn(events, particles, widths[-1], **new)
        present = torch.rand(events, particles, **new) < (0.7 if masked else 2)
        wanted = halves.double().requires_grad_(), weights.double().requires_grad_()
        messages = reference(*wanted, widths, activation, slope, present)
        messages.backward(slopes.double())
        if masked:
            halves[~present] = float("nan")
            slopes[~present] = float("nan")
        mask = present.to(torch.uint8) if masked else None
        passes = Passes(self.library, events, particles, widths, PRECISIONS[precision], activation, slope, mask)
        found = [(passes.forward(halves, weights), *passes.backward(halves, weights, slopes)) for _ in range(2)]
        # Rounding takes some of millions of sums to the other side of a kink, in tf32 many.
        kinked = (activation, slope) != (ELU, 1.0)
        bounds = {"float32": 1e-3 if kinked and events * particles > 100 else 1e-5, "tf32": 2e-2 if kinked else 2e-3}
        expected = messages.detach(), wanted[0].grad, wanted[1].grad
        errors = [gpu_check.relative(have, want) for have, want in zip(found[0], expected) if have.numel() > 0]
        self.verdict(name, max(errors), bounds[precision])
        if any(gpu_check.differing(*pair) for pair in zip(*found)):
            self.verdict(name + ", again", 1, 0)

    # -- time

    def time(self):
        for number, library in enumerate([self.library, *self.others]):
            for precision in PRECISIONS if number == 0 else ("tf32",):
                for batch in self.batches:
                    label = f"{precision} batch {batch}" + (f", library {number + 1}" if number else "")
                    self.attempt("time " + label, lambda: self.time_of_passes(label, library, precision, batch))

    def time_of_passes(self, label, library, precision, batch):
        particles = 100 if self.on_gpu else 10
        halves = torch.randn(batch, particles, 2 * MESSAGES[0], device=self.device)
        weights = torch.randn(15 * 31 + 10 * 16, device=self.device) * 0.2
        slopes = torch.randn(batch, particles, MESSAGES[-1], device=self.device)
        passes = Passes(library, batch, particles, MESSAGES, PRECISIONS[precision])
        flop = 2 * 600 * batch * particles * (particles - 1)

        def both():
            return passes.forward(halves, weights), passes.backward(halves, weights, slopes)

        self.time_of(f"forward {label}", lambda: passes.forward(halves, weights), flop)
        self.time_of(f"forward and backward {label}", both, 3 * flop)

    # -- step

    def step(self):
        self.bench = peers.Bench(self.device, not self.on_gpu, 0.4)
        for batch in self.batches:
            self.attempt(f"step, losses at {batch}", lambda: self.compare_losses(batch))
            self.attempt(f"step, times at {batch}", lambda: self.time_steps(batch))
        self.attempt("step, kernels", self.count_step_kernels)

    def compare_losses(self, batch):
        """The first loss, its gradients and the loss after ten steps, against the peer in float32."""
        peer = Step(self.bench, batch, "halves", precision="float32")
        peer.loss().backward()
        gradients = torch.cat([p.grad.flatten() for p in peer.network.relation.parameters()])
        losses = self.course(peer)
        for name, precision in PRECISIONS.items():
            mine = Step(self.bench, batch, "halves", self.library, precision, "float32")
            mine.loss().backward()
            bound = 1e-4 if name == "float32" else 2e-3
            self.verdict(f"step {batch} {name}: gradients of pairs", gpu_check.relative(
                mine.network.relation_gradients(), gradients.double()), 5 * bound)
            for which, have, want in zip(("first loss", "loss after 10 steps"), self.course(mine), losses):
                self.verdict(f"step {batch} {name}: {which} {want:.5f}", abs(have / want - 1), 1e-3)

    @staticmethod
    def course(step):
        losses = []
        for count in (0, 10):
            for _ in range(count):
                step()
            losses.append(float(step.loss().detach()))
        return losses

    def time_steps(self, batch):
        steps, turns = {}, 3 if self.on_gpu else 1

        def add(name, graph, **settings):
            def build():
                step = Step(self.bench, batch, **settings, capturable=graph)
                steps[name + (", graph" if graph else ", eager")] = peers.Captured(step) if graph else step
            self.attempt(f"step {name} {batch}", build)

        for graph in (False, True) if self.on_gpu else (False,):
            add("ours, tf32", graph, form="halves", library=self.library, ours=gpu_check.TF32)
            for form in ("halves", "gather", "incidence"):
                add(f"peer, {form}", graph, form=form)
        if self.on_gpu:
            add("ours, float32", True, form="halves", library=self.library, ours=gpu_check.FLOAT32, precision="float32")
        peers.set_precision("TF32")
        times, counts = {name: [] for name in steps}, {}
        for turn in range(turns + 1):
            for name, step in steps.items():
                if turn == 0:
                    fastest = min(self.bench.clock(step, 1) for _ in range(3))
                    counts[name] = max(1, min(100, int(0.04 / fastest)))
                else:
                    times[name] += [1e3 * self.bench.clock(step, counts[name]) for _ in range(3 if self.on_gpu else 1)]
        for name, values in times.items():
            self.report("step", f"batch {batch}: {name}", statistics.median(values))
        self.compare_times(batch, {name: statistics.median(values) for name, values in times.items()})

    def compare_times(self, batch, times):
        for mine in (name for name in times if name.startswith("ours")):
            for way in ("eager", "graph"):
                theirs = {name: ms for name, ms in times.items() if name.startswith("peer") and name.endswith(way)}
                if theirs:
                    best = min(theirs, key=theirs.get)
                    self.say(f"step  batch {batch}: {mine}: {theirs[best] / times[mine]:.2f} times as fast as {best}")

    def count_step_kernels(self):
        if not self.on_gpu:
            return
        for batch in self.batches:
            step = Step(self.bench, batch, "halves", self.library, gpu_check.TF32)
            for _ in range(3):
                step()
            self.found["epoch"] = self.found.get("epoch", {})
            self.count_kernels(f"step at batch {batch}", step)


def run_parts(options):
    """Each part in a process of its own; what they found is in one file."""
    end, path = time.monotonic() + options.seconds, pathlib.Path(options.json)
    path.write_text(json.dumps({"check": {}, "failed": [], "lines": []}), encoding="utf-8")
    for part in options.parts.split(","):
        command = [sys.executable, "-u", *sys.argv, "--parts", part, "--json", str(path), "--goes-on"]
        try:
            ended = subprocess.run(command, check=False, timeout=max(1.0, end - time.monotonic())).returncode
            problem = f"{part}: ended with {ended}" if ended else None
        except subprocess.TimeoutExpired:
            problem = f"{part}: the time was over"
        found = json.loads(path.read_text(encoding="utf-8"))
        if problem:
            print("FAILED " + problem, flush=True)
            found["failed"].append(problem)
            path.write_text(json.dumps(found, indent=1), encoding="utf-8")
    wrong = [name for name, result in found["check"].items() if not result["ok"]]
    print("\n".join(line for line in found["lines"] if not line.startswith("ok ")))
    print(f"==== {found.get('torch')} on {found.get('device')}: {len(found['check'])} checks, {len(wrong)} wrong, "
          f"{len(found['failed'])} failed parts" + "".join(f"\n     {name}" for name in wrong + found["failed"]))
    return 1 if wrong or found["failed"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="libsagips_cuda.so", help="the library for the GPU")
    parser.add_argument("--small", action="store_true", help="check small shapes alone, as under compute-sanitizer")
    parser.add_argument("--others", default="", help="other builds of the library, which are timed too")
    parser.add_argument("--shim", help="the same interface for the CPU")
    parser.add_argument("--parts", default="check,step,time")
    parser.add_argument("--seconds", type=float, default=120, help="of all parts; what takes longer is ended")
    parser.add_argument("--json", default=str(pathlib.Path(os.environ.get("OUT", ".")) / "gpu_check_pairs.json"))
    parser.add_argument("--goes-on", action="store_true", help="do one part and add to the file")
    parser.add_argument("--verbose", action="store_true", help="where a failure came from")
    options = parser.parse_args()
    return PairCheck(options).run() if options.goes_on else run_parts(options)


if __name__ == "__main__":
    sys.exit(main())
