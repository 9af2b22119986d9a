"""Modules of PyTorch as networks."""
import copy

import torch

from . import references
from .errors import ConfigError


def find(word):
    """A function that makes a module of its own at each call, with weights that are drawn anew where the word names a
    class or a function, and as they are where it names a module."""
    thing = references.find(word)
    if isinstance(thing, torch.nn.Module):
        return lambda: copy.deepcopy(thing)
    if not callable(thing):
        raise ConfigError(f"'{word}' is a {type(thing).__name__}, and no torch.nn.Module or function that makes one.")

    def make():
        module = thing()
        if not isinstance(module, torch.nn.Module):
            raise ConfigError(f"'{word}' makes a {type(module).__name__}, and no torch.nn.Module.")
        return module
    return make
