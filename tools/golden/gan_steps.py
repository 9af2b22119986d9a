#!/usr/bin/env python3
"""Ten steps of the proxy1d GAN in plain PyTorch: the reference that tests/golden compares SAGIPS with.

Written from docs/physics/proxy1d.md and the description of the authors' tool kit, with the modules of torch.nn and
torch.optim: it shares neither code nor order of operations with the C++ sources. It calculates in float64 on numbers
that float32 holds exactly, so that the difference to SAGIPS is the rounding of SAGIPS alone. README.md beside this
file tells what the dumps hold.

usage: tools/golden/gan_steps.py [--out FOLDER] [CASE ...]
"""
import argparse
import dataclasses
import itertools
import json
import math
import pathlib

import numpy
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 10
MEASURED_EVENTS = 1000

# N_u, a_u, b_u, N_d, a_d, b_d
LOWEST = (0.0, -1.0, 0.0, 0.0, -1.0, 0.0)
HIGHEST = (3.0, 1.0, 5.0, 3.0, 1.0, 5.0)
TRUTH = (2.1875, -0.5, 3.0, 1.09375, -0.5, 4.0)

X_LOW, X_HIGH, POINTS = 0.1, 0.99999, 1000
X_STEP = (X_HIGH - X_LOW) / POINTS
COVERAGE = 0.9999

NOISE_DIMENSIONS = 6
SLOPE = 0.2

# The gradient jumps where a table cell begins and where LeakyReLU bends. Nothing may lie so near to such a place that
# float32 could take the other side: then a processor's rounding would decide whether the test passes. The same holds
# where the discriminator's two gradients cancel: of their sum only rounding would be left.
NEAREST_KNOT = 2e-6  # of a uniform number to an entry of the table, relative
NEAREST_BEND = 5e-6  # of a neuron's input to zero
SMALLEST_SUM = 0.1  # norm of a tensor's gradient / sum of the norms of its real and its synthetic part


@dataclasses.dataclass(frozen=True)
class Case:
    """What differs between the dumps. Learning rates are far above the paper's, so that ten steps go somewhere."""

    seed: int  # the first one tried
    loss: str
    order: str
    reference_terms: str
    input: str
    label_real: float = 1.0
    label_synthetic: float = 0.0
    label_generator: float = 1.0
    reference_weight: float = 1.0
    samples: int = 16
    events: int = 32
    generator_width: int = 16
    generator_layers: int = 4
    generator_rate: float = 1e-3
    discriminator_width: int = 12
    discriminator_layers: int = 3
    discriminator_rate: float = 2e-3
    betas: tuple = (0.5, 0.999)
    epsilon: float = 1e-8


CASES = {
    # the paper's objective; its reference terms outweigh the adversarial loss about fiftyfold in the gradient
    "least_squares": Case(
        seed=1000, loss="least_squares", order="discriminator_first", reference_terms="per_sample", input="raw"),
    # nothing but the adversarial loss, so that a wrong sampler gradient cannot hide behind the reference terms
    "cross_entropy": Case(
        seed=2000, loss="cross_entropy", order="generator_first", reference_terms="none", input="raw"),
    "standardised": Case(
        seed=3000, loss="least_squares", order="generator_first", reference_terms="batch_mean", input="standardised",
        label_real=0.9, label_synthetic=0.1, label_generator=0.95, reference_weight=0.01),
}


# --- physics -----------------------------------------------------------------------------------------


def grid():
    return X_LOW + X_STEP * torch.arange(POINTS)


def cross_sections(parameters, x):
    """sigma_1 = 4 u + d, sigma_2 = 4 d + u. shape: [samples, 6], [points] -> [samples, 2, points]"""
    norm_u, a_u, b_u, norm_d, a_d, b_d = parameters[:, :, None].unbind(1)
    u = norm_u * x**a_u * (1 - x) ** b_u
    d = norm_d * x**a_d * (1 - x) ** b_d
    return torch.stack((4 * u + d, u + 4 * d), dim=1)


def survival(density):
    """S(x_i) = sum_{j >= i} pdf_j / sum_j pdf_j, from the last point to the first, so that it ascends."""
    return density.flip(-1).cumsum(-1) / density.sum(-1, keepdim=True)


def pipeline(parameters, uniform):
    """Events by the authors' inverse-CDF recipe.

    shape: [samples, 6], [samples, 2, events] -> events [samples * events, 2], norms [samples, 2]
    """
    density = cross_sections(parameters, grid())
    norms = X_STEP * density[..., :-1].sum(-1)
    x = interpolate(survival(density), grid().flip(0), COVERAGE * uniform)
    return x.transpose(1, 2).flatten(0, 1), norms


def interpolate(knots, values, at):
    """Piecewise-linear, flat outside the table. shape: [..., points], [points], [..., n] -> [..., n]"""
    slopes = values.diff() / knots.diff(dim=-1)
    intercepts = values[1:] - slopes * knots[..., 1:]
    cell = (torch.searchsorted(knots.detach(), at, right=True) - 1).clamp(0, values.numel() - 2)
    inside = slopes.gather(-1, cell) * at + intercepts.gather(-1, cell)
    inside = torch.where(at < knots[..., :1], values[0], inside)
    return torch.where(at > knots[..., -1:], values[-1], inside)


def near_a_knot(knots, at):
    """Which numbers lie so near to an entry of the table that float32 might take the neighbouring cell."""
    right = torch.searchsorted(knots, at).clamp(1, knots.shape[-1] - 1)
    distance = torch.minimum((at - knots.gather(-1, right - 1)).abs(), (at - knots.gather(-1, right)).abs())
    return distance < NEAREST_KNOT * at


# --- networks ----------------------------------------------------------------------------------------


def network(inputs, width, layers, outputs, random):
    """Linear and LeakyReLU in turn, a sigmoid at the end.

    Kaiming-normal weights. Biases are not zero, so that a forgotten one shows.
    """
    modules = []
    for fan_in in [inputs] + [width] * (layers - 1):
        modules += [nn.Linear(fan_in, width), nn.LeakyReLU(SLOPE)]
    modules += [nn.Linear(width, outputs), nn.Sigmoid()]
    with torch.no_grad():
        for linear in modules[::2]:
            deviation = math.sqrt(2 / (1 + SLOPE**2) / linear.in_features)
            linear.weight.copy_(deviation * torch.randn(linear.weight.shape, generator=random))
            linear.bias.copy_(0.1 * torch.randn(linear.bias.shape, generator=random))
    return nn.Sequential(*modules)


def rounded(tensor):
    """To numbers that float32 holds."""
    return tensor.to(torch.float32).to(tensor.dtype)


def round_weights(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(rounded(parameter))


def flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


# --- ten steps ---------------------------------------------------------------------------------------


class Run:
    def __init__(self, case, seed):
        self.case = case
        self.random = torch.Generator().manual_seed(seed)
        self.criterion = {"least_squares": nn.MSELoss(), "cross_entropy": nn.BCELoss()}[case.loss]
        self.dump = {}
        self.nearest_bend = self.smallest_sum = math.inf
        self.measure()
        self.generator = self.new_network(NOISE_DIMENSIONS, case.generator_width, case.generator_layers, len(TRUTH))
        self.discriminator = self.new_network(2, case.discriminator_width, case.discriminator_layers, 1)
        adam = dict(betas=case.betas, eps=case.epsilon)
        self.generator_adam = torch.optim.Adam(self.generator.parameters(), lr=case.generator_rate, **adam)
        self.discriminator_adam = torch.optim.Adam(
            self.discriminator.parameters(), lr=case.discriminator_rate, **adam)

    def measure(self):
        """Measured events are those of the pipeline at the truth, as in the paper."""
        events, norms = pipeline(torch.tensor([TRUTH]), self.rand(1, 2, MEASURED_EVENTS))
        self.data, self.reference = rounded(events), rounded(norms[0])
        raw = self.case.input == "raw"
        self.centre = torch.zeros(2) if raw else self.data.mean(0)
        self.scale = torch.ones(2) if raw else self.data.std(0, unbiased=False)

    def new_network(self, inputs, width, layers, outputs):
        module = network(inputs, width, layers, outputs, self.random)
        round_weights(module)
        for activation in module:
            if isinstance(activation, nn.LeakyReLU):
                activation.register_forward_pre_hook(self.note_bend)
        return module

    def note_bend(self, _, inputs):
        self.nearest_bend = min(self.nearest_bend, inputs[0].detach().abs().min().item())

    def rand(self, *shape):
        return rounded(torch.rand(shape, generator=self.random))

    def draw_uniform(self, parameters):
        """Numbers for the sampler. shape: [samples, 6] -> [samples, 2, events]"""
        knots = survival(cross_sections(parameters.detach(), grid()))
        uniform = self.rand(self.case.samples, 2, self.case.events)
        while (near := near_a_knot(knots, COVERAGE * uniform)).any():
            uniform[near] = self.rand(int(near.sum()))
        return uniform

    def record(self, **quantities):
        for name, value in quantities.items():
            self.dump.setdefault(name, []).append(value.detach().clone())

    def propose(self, noise):
        lowest, highest = torch.tensor(LOWEST), torch.tensor(HIGHEST)
        return self.generator(noise) * (highest - lowest) + lowest

    def judge(self, events):
        return self.discriminator((events - self.centre) / self.scale)

    def score(self, judged, label):
        return self.criterion(judged, torch.full_like(judged, label))

    def relative(self, score, label):
        """Divided by the score of a discriminator that cannot tell, whose output is 1/2."""
        return score.detach() / self.score(torch.tensor([0.5]), label)

    def reference_term(self, norms):
        if self.case.reference_terms == "none":
            return torch.zeros(())
        if self.case.reference_terms == "batch_mean":
            norms = norms.mean(0, keepdim=True)
        target = self.reference.expand_as(norms)
        return self.case.reference_weight * sum(
            nn.functional.mse_loss(norms[:, k], target[:, k]) for k in range(norms.shape[1]))

    def generator_gradients(self, events, norms):
        self.generator_adam.zero_grad()
        adversarial = self.score(self.judge(events), self.case.label_generator)
        reference = self.reference_term(norms)
        (adversarial + reference).backward()
        self.record(generator_gradients=flat(weight.grad for weight in self.generator.parameters()))
        return self.relative(adversarial, self.case.label_generator), reference.detach()

    def discriminator_step(self, real, synthetic):
        loss_real = self.score(self.judge(real), self.case.label_real)
        loss_synthetic = self.score(self.judge(synthetic), self.case.label_synthetic)
        weights = list(self.discriminator.parameters())
        parts = (torch.autograd.grad(loss, weights) for loss in (loss_real, loss_synthetic))
        for weight, part_real, part_synthetic in zip(weights, *parts):
            weight.grad = part_real + part_synthetic
            size = weight.grad.norm() / (part_real.norm() + part_synthetic.norm())
            self.smallest_sum = min(self.smallest_sum, size.item())
        self.record(discriminator_gradients=flat(weight.grad for weight in self.discriminator.parameters()))
        self.discriminator_adam.step()
        round_weights(self.discriminator)
        return (self.relative(loss_real, self.case.label_real),
                self.relative(loss_synthetic, self.case.label_synthetic))

    def record_weights(self):
        self.record(generator_weights=flat(self.generator.parameters()),
                    discriminator_weights=flat(self.discriminator.parameters()))

    def step(self):
        noise = rounded(torch.randn(self.case.samples, NOISE_DIMENSIONS, generator=self.random))
        rows = torch.randint(MEASURED_EVENTS, (self.case.samples * self.case.events,), generator=self.random)
        real = self.data[rows]
        parameters = self.propose(noise)
        uniform = self.draw_uniform(parameters)
        self.record(generator_noise=noise, real_events=real, generator_uniform=uniform)
        events, norms = pipeline(parameters, uniform)
        if self.case.order == "discriminator_first":
            other_uniform = self.draw_uniform(parameters)
            self.record(discriminator_uniform=other_uniform)
            other_events, _ = pipeline(parameters.detach(), other_uniform)
            discriminator_losses = self.discriminator_step(real, other_events)
            generator_losses = self.generator_gradients(events, norms)
        else:
            generator_losses = self.generator_gradients(events, norms)
            discriminator_losses = self.discriminator_step(real, events.detach())
        self.generator_adam.step()
        round_weights(self.generator)
        self.record(losses=torch.stack((*generator_losses, *discriminator_losses)))

    def all_steps(self):
        self.record_weights()
        for _ in range(STEPS):
            self.step()
            self.record_weights()
        arrays = {name: torch.stack(values) for name, values in self.dump.items()}
        return arrays | {"data": self.data, "reference": self.reference}


def well_conditioned_run(case):
    """The first seed from the case's on that keeps away from bends and cancellation: (seed, arrays)."""
    for seed in itertools.count(case.seed):
        run = Run(case, seed)
        arrays = run.all_steps()
        if run.nearest_bend > NEAREST_BEND and run.smallest_sum > SMALLEST_SUM:
            return seed, arrays


# --- files -------------------------------------------------------------------------------------------


def settings(case):
    """The case in the words of a SAGIPS config, every field that matters spelt out."""
    adam = {"beta1": case.betas[0], "beta2": case.betas[1], "epsilon": case.epsilon, "final_rate": 1.0}
    return {
        "generator": {"width": case.generator_width, "layers": case.generator_layers, "negative_slope": SLOPE,
                      "noise_dimensions": NOISE_DIMENSIONS, "shared": "weights_only"},
        "discriminator": {"width": case.discriminator_width, "layers": case.discriminator_layers,
                          "negative_slope": SLOPE, "input": case.input},
        "batch": {"samples": case.samples, "events": case.events},
        "optimizer": {"order": case.order,
                      "generator": {"learning_rate": case.generator_rate} | adam,
                      "discriminator": {"learning_rate": case.discriminator_rate} | adam},
        "objective": {"loss": case.loss, "label_real": case.label_real, "label_synthetic": case.label_synthetic,
                      "label_generator": case.label_generator, "reference_terms": case.reference_terms,
                      "reference_weight": case.reference_weight},
    }


def write(folder, case, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npy"):
        old.unlink()
    (folder / "settings.json").write_text(json.dumps(settings(case), indent=2) + "\n")
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array.numpy().astype(numpy.float32), allow_pickle=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests/golden/data", metavar="FOLDER")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all when none is named: " + ", ".join(CASES))
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.cases) - set(CASES))
    if unknown:
        parser.error(f"unknown case '{unknown[0]}', known: {', '.join(CASES)}")
    torch.set_num_threads(1)  # the order of sums must not depend on the machine's cores
    torch.set_default_dtype(torch.float64)
    for name in arguments.cases or CASES:
        seed, arrays = well_conditioned_run(CASES[name])
        write(arguments.out / name, CASES[name], arrays)
        print(f"{arguments.out / name}: {STEPS} steps, seed {seed}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
