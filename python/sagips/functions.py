"""Losses, metrics and functions of rows that a user wrote in Python, by the words of a config."""
import copy
import functools

import torch

from . import references, stages
from .errors import ConfigError, ShapeError


class Loss:
    """A function of outputs [rows, ...] and targets with what SAGIPS must know of it."""

    def __init__(self, function, targets="values", predicts=None):
        if targets not in ("values", "classes"):
            raise ConfigError(f"targets is {targets!r}. Give \"values\" or \"classes\".")
        functools.update_wrapper(self, function, updated=())
        self.function, self.targets, self.predicts = function, targets, predicts

    def __call__(self, outputs, targets):
        return self.function(outputs, targets)

    def __reduce__(self):
        return Loss, (self.function, self.targets, self.predicts)


def loss(function=None, *, targets="values", predicts=None):
    """Marks a loss: `f(outputs, targets)` of torch tensors, which gives a number for each row, [rows], or one for all
    of them, with a gradient. A function without a mark is one of values.

    targets: "values", of the outputs' shape, or "classes", whole numbers [rows]. predicts: what outputs stand for, a
    function of them; None: values themselves, of classes probabilities by the softmax.
    """
    if function is None:
        return lambda function: Loss(function, targets, predicts)
    return Loss(function, targets, predicts)


def _softmax(outputs):
    return torch.softmax(outputs, -1)


def _loss_of(thing):
    """A function's loss; one of PyTorch's that averages over rows tells them apart, so that they may have weights."""
    if isinstance(thing, Loss):
        return thing
    kinds = torch.nn.modules.loss
    is_classes = isinstance(thing, (kinds.CrossEntropyLoss, kinds.NLLLoss)) or \
        thing in (torch.nn.functional.cross_entropy, torch.nn.functional.nll_loss)
    call = thing
    if isinstance(thing, kinds._Loss) and thing.reduction == "mean" and getattr(thing, "weight", None) is None:
        single = copy.copy(thing)
        single.reduction = "none"

        def call(outputs, targets):
            return single(outputs, targets).flatten(1).mean(1) if outputs.shape == targets.shape else \
                single(outputs, targets)
    predicts = torch.exp if isinstance(thing, kinds.NLLLoss) or thing is torch.nn.functional.nll_loss else None
    made = Loss(call, "classes" if is_classes else "values", predicts)
    made.__name__ = _name_of(thing)
    return made


def _name_of(thing):
    return getattr(thing, "__name__", type(thing).__name__)


class Found:
    """A function as SAGIPS calls it: tensors in, a tensor out."""

    def __init__(self, name, call, of_classes=False, meaning=None):
        self.name, self.call, self.of_classes, self.meaning = name, call, of_classes, meaning


def _tensor(name, answer):
    if not isinstance(answer, torch.Tensor):
        raise ShapeError(f"{name}: gives a {type(answer).__name__}, and a tensor was expected.")
    return answer


def _found_loss(thing):
    one = _loss_of(thing)
    name = _name_of(one)
    meaning = one.predicts or (_softmax if one.targets == "classes" else None)
    return Found(name, lambda outputs, targets: _tensor(name, one(outputs, targets)).float(), one.targets == "classes",
                 meaning and (lambda outputs: _tensor(name, meaning(outputs))))


def _found_metric(thing):
    name, takes_weights = _name_of(thing), stages._positional(thing) == 3

    def call(predicted, targets, weights):
        answer = thing(predicted, targets, weights) if takes_weights else thing(predicted, targets)
        try:
            return torch.tensor(float(answer), dtype=torch.float64)
        except (TypeError, ValueError):
            raise ShapeError(f"{name}: gives a {type(answer).__name__}, and one number was expected.") from None
    return Found(name, call)


def _found_rows(thing):
    import numpy
    name = _name_of(thing)

    def call(rows):
        made = numpy.asarray(thing(rows.numpy()))
        if made.dtype.kind not in "fiub" or made.ndim == 0 or made.shape[0] != rows.shape[0]:
            raise ShapeError(f"{name}: gives an array of {made.dtype} with the shape {made.shape} of {rows.shape[0]} "
                             "rows. It needs numbers for each.")
        return torch.from_numpy(numpy.ascontiguousarray(made, dtype=numpy.float32))
    return Found(name, call)


def check(thing, kind):
    """Says what is wrong with a function that is given. kind: as of `find`"""
    if not callable(thing):
        raise ConfigError(f"a {type(thing).__name__} is no function ({kind}).")
    counts = {"loss": (2,), "metric": (2, 3), "rows": (1,)}[kind]
    function = thing.function if isinstance(thing, Loss) else thing
    count = stages._positional(function.forward if isinstance(function, torch.nn.Module) else function)
    if count not in counts:
        takes = {"loss": "(outputs, targets)", "metric": "(predicted, targets) or (predicted, targets, weights)",
                 "rows": "(rows)"}[kind]
        raise ConfigError(f"{_name_of(thing)} takes {count} arguments. As {kind} it takes {takes}.")


def find(word, kind):
    """The function of a word in a config. kind: "loss", "metric" or "rows"."""
    thing = references.find(word)
    check(thing, kind)
    return {"loss": _found_loss, "metric": _found_metric, "rows": _found_rows}[kind](thing)
