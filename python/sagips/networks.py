"""Modules of PyTorch, and models of Keras 3 on its torch backend, as networks."""
import copy
import sys

import torch

from . import _sagips, references, stages
from .errors import ConfigError, ShapeError


def is_keras(module):
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(module, keras.Layer)


def tensors_of(name, module):
    """Names and tensors of what learns and of what does not."""
    if is_keras(module):
        if not module.built:
            raise ConfigError(f"{name}: is a Keras model whose weights are not there yet. Give it an input, "
                              "keras.Input(shape=...), or call build() before.")
        # by their order, since Keras counts names over all models of a process
        tensors = [(f"{number}.{one.name}", one.value) for number, one in enumerate(module.variables)]
        rest = []
    else:
        tensors, rest = list(module.named_parameters()), list(module.named_buffers())
    for key, tensor in tensors + rest:
        if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
            raise ConfigError(f"{name}: '{key}' has no shape yet. Call the module once with rows before it is given.")
        if tensor.device.type != "cpu":
            raise ConfigError(f"{name}: '{key}' is on {tensor.device}. Make the module on the CPU; the setting "
                              "`device` says where it learns.")
    return ([(key, tensor) for key, tensor in tensors if tensor.requires_grad],
            [(key, tensor) for key, tensor in tensors if not tensor.requires_grad] + rest)


class Layer:
    """A module as SAGIPS calls it, one for each thread. SAGIPS puts its own numbers into the tensors of `parameters`
    and `buffers`, pairs of names and tensors."""

    def __init__(self, name, module):
        self.name, self.module, self.trains = name, module, None
        self.is_keras = is_keras(module)
        self.parameters, self.buffers = tensors_of(name, module)
        self._owners = []  # of buffers that a module may assign anew
        # Keras does not tell PyTorch of all its layers.
        for part in {one: None for layer in (module._flatten_layers() if self.is_keras else [module])
                     for one in layer.modules()}:
            self._owners += [(part._buffers, key, tensor) for key, tensor in part._buffers.items()
                             if tensor is not None and tensor.is_floating_point()]
            self._prepare(part)
        self.count = 1 if self.is_keras else stages._positional(module.forward)

    def _prepare(self, part):
        """Dropout draws from the run's own numbers, which do not depend on threads and ranks."""
        kinds = torch.nn.modules.dropout
        if isinstance(part, torch.nn.modules.batchnorm._NormBase) and part.track_running_stats and \
                part.momentum is None:
            raise ConfigError(f"{self.name}: a batch norm averages over all batches. Give it a momentum.")
        if type(part) is kinds.Dropout:
            part.forward = lambda rows: torch.ops.sagips.dropout(rows, part.p, part.training)
        elif type(part) in (kinds.Dropout1d, kinds.Dropout2d, kinds.Dropout3d):
            part.forward = lambda rows: torch.ops.sagips.feature_dropout(rows, part.p, part.training)
        elif self.is_keras and type(part) is sys.modules["keras"].layers.Dropout:
            def dropout(inputs, training=False):
                return torch.ops.sagips.dropout(inputs, part.rate, bool(training))
            object.__setattr__(part, "call", dropout)

    def __call__(self, rows, trains):
        if self.is_keras:
            answer = self.module(rows, training=trains)
        else:
            if trains != self.trains:
                self.module.train(trains)
                self.trains = trains
            answer = self.module(**rows) if isinstance(rows, dict) and self.count > 1 else self.module(rows)
        for owner, key, tensor in self._owners:
            if owner.get(key) is not tensor:
                self._take_back(owner, key, tensor)
        if isinstance(answer, torch.Tensor):
            return answer
        if isinstance(answer, dict) and answer and all(isinstance(one, torch.Tensor) for one in answer.values()):
            return answer
        raise ShapeError(f"{self.name}: gives a {type(answer).__name__}, and a tensor [rows, ...] or a dictionary of "
                         "such was expected.")

    def _take_back(self, owner, key, tensor):
        """The numbers of a buffer that was assigned anew, where SAGIPS keeps them."""
        made = owner.get(key)
        if not isinstance(made, torch.Tensor) or made.shape != tensor.shape:
            shape = tuple(made.shape) if isinstance(made, torch.Tensor) else made
            raise ShapeError(f"{self.name}: makes the buffer '{key}' {shape}, and it was {tuple(tensor.shape)}. "
                             "Keep its shape.")
        with torch.no_grad():
            tensor.copy_(made)
        owner[key] = tensor


def maker(word):
    """Name of what a word names, and a function that makes a module at each call: with weights that are drawn anew
    where the word names a class or a function, and as they are where it names a module."""
    thing = references.find(word)
    name = getattr(thing, "__name__", type(thing).__name__)
    if isinstance(thing, torch.nn.Module):
        return name, lambda: copy.deepcopy(thing)
    if not callable(thing):
        raise ConfigError(f"'{word}' is a {name}, and no torch.nn.Module or function that makes one.")

    def make():
        with stages._seeded(torch.initial_seed()):  # for weights that NumPy or `random` draws
            module = thing()
        if not isinstance(module, torch.nn.Module):
            raise ConfigError(f"{name}: makes a {type(module).__name__}, and no torch.nn.Module.")
        return module
    return name, make


def find(word):
    """A function that makes a layer at each call."""
    name, make = maker(word)
    return lambda: Layer(name, make())


class Trained(torch.nn.Module):
    """The networks of a run as they predict: rows [rows, ...] in the data's units, several inputs as a dictionary, to
    what `sagips.predict` says of them; several outputs are a dictionary. Gradients flow to the rows. Its weights are
    SAGIPS' own and stay as they are; those to be trained on are of `module`."""

    def __init__(self, folder, which):
        super().__init__()
        self._network = _sagips.TrainedNetwork(folder, which == "best")
        self._folder = folder

    def forward(self, rows):
        said = self._network.predict(rows if isinstance(rows, dict) else torch.as_tensor(rows))
        return said[""] if "" in said else said

    @property
    def module(self):
        """The user's own module with the trained weights. It takes and gives what it did in training: of `standardise`
        deviations, and outputs before their softmax."""
        word = self._network.module()
        if not word:
            raise ConfigError(f"{self._folder}: its network is not one module that is written in Python.")
        name, make = maker(word)
        module, arrays = make(), self._network.arrays()
        parameters, buffers = tensors_of(name, module)
        for key, tensor in parameters + buffers:
            if not tensor.is_floating_point():
                continue
            trained = arrays.get("layer0." + key)
            if trained is None or trained.shape != tensor.shape:
                raise ConfigError(f"{name}: has a '{key}' {tuple(tensor.shape)}, and the trained network of "
                                  f"{self._folder} has none of this shape. Give it back the form that it had.")
            tensor.detach().copy_(trained)
        return module.eval()
