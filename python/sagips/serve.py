"""`python -m sagips.serve MODULE:FUNCTION` answers a program of SAGIPS, which asks a function for events: where the
program is not Python, or wants several processes of it. See `sagips_serve.py` for what is said."""
import os
import sys

import numpy
import torch

from . import stages
from .sagips_serve import serve


class _Given:
    """Random numbers that came with the request, as a function draws them."""

    def __init__(self, noise, samples, events):
        self.numbers, self.samples, self.events, self.next = noise, samples, events, 0

    def uniform(self):
        if self.numbers is None or self.next >= self.numbers.shape[2]:
            raise ValueError(f"the function draws more than {self.next} random numbers an event; write "
                             f"noise_dimensions: {self.next + 1} (or more) beside `python` in the config")
        self.next += 1
        return self.numbers[:, :, self.next - 1]

    def normal(self):
        return torch.special.ndtri(self.uniform())


def _load(array):
    return torch.from_numpy(numpy.asarray(array, dtype=numpy.float64))


def main():
    sys.path.insert(0, os.getcwd())
    stage = stages.find(sys.argv[1], "")

    def call(parameters, noise, events):
        given = _Given(_load(noise) if noise is not None else None, parameters.shape[0], events)
        return stage.call(parameters, given)

    def answer(parameters, events, noise=None):
        made = call(_load(parameters), noise, events)
        made = made if isinstance(made, dict) else {"values": made}
        return {name: tensor.detach().numpy() for name, tensor in made.items()}

    def product(parameters, events, slope, noise=None):
        leaf = _load(parameters).requires_grad_()
        made = call(leaf, noise, events)
        made = made["values"] if isinstance(made, dict) else made
        # of one number: slopes of several are looked at by a part of PyTorch that takes seconds to be there
        return torch.autograd.grad((made * _load(slope).reshape(made.shape)).sum(), leaf)[0].numpy()
    serve(answer, gradient=product if stage.differentiable else None)


if __name__ == "__main__":
    main()
