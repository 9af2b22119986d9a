"""Stages and a network for python_bench.py, as its configs name them."""
import numpy
import sagips
import torch


def decay(theta, noise):
    return theta * -torch.log(noise.uniform()) + 0.3 * noise.normal()


def smear(values, noise):
    return values + 0.3 * noise.normal().unsqueeze(2)


@sagips.numpy(product=lambda slope: slope)
def nothing(parameters):
    return numpy.copy(parameters)


def network():
    widths = [600, 199, 120, 80, 2]
    layers = [torch.nn.Flatten()]
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])
