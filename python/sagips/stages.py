"""Python functions as stages of a pipeline.

A function of torch tensors needs nothing: `f(theta, noise)`, with theta [samples, parameters] in physical units (behind
other stages what these give) and `noise.uniform()`, `noise.normal()` [samples, events]. It returns events
[samples, events, observables] (one observable: [samples, events]), or a dictionary with `values` and `mask`, `weights`
or `counts`, where a detector loses or weighs events. `f(values)` without noise may stand between others.
"""
from __future__ import annotations

import functools
import inspect
import threading
from typing import TYPE_CHECKING, Any, overload

import torch

from . import references
from .errors import ConfigError, ShapeError
from .sagips_serve import KNOWN, arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable


class Stage:
    """A function with what SAGIPS must know of it."""
    differentiable = True
    checks_product = False

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)

    def __reduce__(self):
        return _again, (type(self), self.function, self.options())

    def options(self):
        return {}


def _again(kind, function, options):
    return kind(function, **options)


def _arrays_of(name, answer):
    """What a function gives by name."""
    arrays = dict(answer) if isinstance(answer, dict) else {"values": answer}
    if "values" not in arrays:
        raise ShapeError(f"{name}: gives a dictionary without 'values'.")
    return arrays


class TorchStage(Stage):
    """Of torch tensors; gradients flow."""

    def __init__(self, function):
        super().__init__(function)
        self.takes_noise = takes_noise(function)

    def call(self, values, noise):
        answer = self.function(values, noise) if self.takes_noise else self.function(values)
        arrays = _arrays_of(self.name, answer)
        for array in arrays.values():
            if not isinstance(array, torch.Tensor):
                raise ShapeError(f"{self.name}: gives a {type(array).__name__}, and a tensor was expected. Functions of "
                                 "NumPy arrays are marked with @sagips.numpy.")
        made = arrays["values"]
        if self.takes_noise and made.dim() == 2 and made.shape[1] == noise.events:
            arrays["values"] = made.unsqueeze(2)
        return arrays


_global_generators = threading.Lock()


class Simulator(Stage):
    """Of one argument, parameters [rows, parameters], to one event for each: [rows, observables]; it throws its own
    dice (torch, NumPy, random), which begin at a seed that SAGIPS chooses for each parameter vector."""
    differentiable = False

    def call(self, values, noise):
        seeds = (noise.uniform()[:, 0].double() * 2 ** 52).long().tolist()
        made = []
        with _global_generators:
            for theta, seed in zip(values.detach().cpu(), seeds):
                with _seeded(seed):
                    made.append(torch.as_tensor(self.function(theta.expand(noise.events, -1).clone())))
        made = torch.stack(made).to(values)
        return made.unsqueeze(2) if made.dim() == 2 else made


class _seeded:
    """The generators that a function may use begin at a seed, and are as they were afterwards."""

    def __init__(self, seed):
        self.seed = seed

    def __enter__(self):
        import random
        import numpy
        self.before = torch.get_rng_state(), numpy.random.get_state(), random.getstate()
        torch.manual_seed(self.seed)
        numpy.random.seed(self.seed % 2 ** 32)
        random.seed(self.seed)

    def __exit__(self, *_):
        import random
        import numpy
        torch.set_rng_state(self.before[0])
        numpy.random.set_state(self.before[1])
        random.setstate(self.before[2])


class _Product(torch.autograd.Function):
    """Values that a function gave, whose slope goes back through a product that is no node of torch's."""

    @staticmethod
    def forward(context, values, made, back):
        context.back = back
        return made

    @staticmethod
    def backward(context, slope):
        return context.back(slope), None, None


class ArrayStage(Stage):
    """Of arrays by the names of its arguments: parameters [samples, ...], noise [samples, events, dimensions] uniform
    in (0, 1), seeds [samples], events (how many)."""

    def __init__(self, function, noise=0, product=None):
        super().__init__(function)
        if not isinstance(noise, int):
            raise ConfigError(f"noise is {noise!r}. Give how many random numbers an event takes, as in noise=2.")
        self.noise, self.product = noise, product
        self.names = _named(function, KNOWN[:-1])
        if "noise" in self.names and noise < 1:
            raise ConfigError(f"{self.name} takes noise: say how many random numbers an event, as in "
                              f"@sagips.{self.kind}(noise=2).")
        self.product_names = _named(product, KNOWN) if product is not None else []
        if noise and "noise" not in self.names + self.product_names:
            raise ConfigError(f"noise={noise} has no effect: {self.name} has no argument 'noise'.")
        self.differentiable = self.checks_product = product is not None

    def options(self):
        return {"noise": self.noise, "product": self.product}

    def given(self, values, noise):
        """What the function may ask for. Each random number is drawn once, so that a product sees the same."""
        given = {"parameters": self.to_array(values.detach()), "events": noise.events}
        if self.noise:
            given["noise"] = self.to_array(torch.stack([noise.uniform() for _ in range(self.noise)], 2).to(values))
        if "seeds" in self.names + self.product_names:
            given["seeds"] = self.to_array((noise.uniform()[:, 0].double() * 2 ** 52).long())
        return given

    def call(self, values, noise):
        arrays, back = self.answer(self.given(values, noise))
        arrays = {name: self.to_tensor(array, values) for name, array in arrays.items()}
        made = arrays["values"]
        if made.dim() == 2 and made.shape == (values.shape[0], noise.events):
            made = made.unsqueeze(2)
        if back is not None and torch.is_grad_enabled() and values.requires_grad:
            shape = arrays["values"].shape
            made = _Product.apply(values, made,
                                  lambda slope: self.to_tensor(back(self.to_array(slope.reshape(shape))), values)
                                  .reshape(values.shape))
        arrays["values"] = made
        return arrays


class NumpyStage(ArrayStage):
    kind = "numpy"

    @staticmethod
    def to_array(tensor):
        return tensor.cpu().numpy()

    def to_tensor(self, array, like):
        import numpy
        array = numpy.asarray(array)
        if array.dtype == object or array.dtype.kind not in "fiub":
            raise ShapeError(f"{self.name}: gives an array of {array.dtype}, and numbers were expected.")
        return torch.from_numpy(numpy.ascontiguousarray(array)).to(like)

    def answer(self, given):
        arrays = _arrays_of(self.name, self.function(**{name: given[name] for name in self.names}))
        if self.product is None:
            return arrays, None
        return arrays, lambda slope: self.product(
            **{name: slope if name == "slope" else given[name] for name in self.product_names})


class JaxStage(ArrayStage):
    kind = "jax"

    def __init__(self, function, noise=0):
        super().__init__(function, noise)
        self.differentiable = True  # as JAX says, so that there is nothing to check

    def options(self):
        return {"noise": self.noise}

    @staticmethod
    def to_array(tensor):
        import jax.numpy
        return jax.numpy.asarray(tensor.cpu().numpy())

    def to_tensor(self, array, like):
        import numpy
        return torch.from_numpy(numpy.array(array)).to(like)

    def answer(self, given):
        import jax
        rest = {name: given[name] for name in self.names if name != "parameters"}

        def parts(parameters):
            arrays = _arrays_of(self.name, self.function(parameters=parameters, **rest))
            return arrays.pop("values"), arrays
        values, back, others = jax.vjp(parts, given["parameters"], has_aux=True)
        return {**others, "values": values}, lambda slope: back(slope.astype(values.dtype))[0]


def _positional(function):
    """How many arguments it must be given."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in kinds and one.default is one.empty for one in found)


def takes_noise(function):
    try:
        named = "noise" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        named = False
    return named or _positional(function) == 2


def _named(function, allowed):
    try:
        return arguments_of(function, allowed)
    except TypeError as problem:
        raise ConfigError(f"{problem}.") from None


@overload
def numpy(function: Callable[..., Any]) -> NumpyStage: ...
@overload
def numpy(*, noise: int = 0,
          product: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], NumpyStage]: ...
def numpy(function: Callable[..., Any] | None = None, *, noise: int = 0,
          product: Callable[..., Any] | None = None) -> Any:
    """Marks a function of NumPy arrays: `@sagips.numpy(noise=2)`. Its arguments say by their names what it gets.

    parameters: [samples, parameters] in their units, or what the function before it gives [samples, ...].
    noise: uniform numbers in (0, 1), [samples, events, `noise`]. seeds: whole numbers [samples], for dice of its own.
    events: how many. It returns events [samples, events, observables] in the units of the data, of one observable
    [samples, events] as well; or a dictionary of these as `values` with `mask`, `weights` or `counts` beside them.

    product: a function that names `slope` = d loss / d values [samples, events, observables], and of the others what
    it needs, and returns d loss / d parameters [samples, parameters]. With it networks train through the function, and
    SAGIPS compares it with differences first. Without it, use methods that need no gradient.
    """
    if function is None:
        return lambda function: NumpyStage(function, noise, product)
    return NumpyStage(function, noise, product)


@overload
def jax(function: Callable[..., Any]) -> JaxStage: ...
@overload
def jax(*, noise: int = 0) -> Callable[[Callable[..., Any]], JaxStage]: ...
def jax(function: Callable[..., Any] | None = None, *, noise: int = 0) -> Any:
    """Marks a function of JAX arrays, `@sagips.jax(noise=2)`, with arguments, shapes and units as `sagips.numpy` has
    them. Its gradient comes from `jax.vjp`."""
    if function is None:
        return lambda function: JaxStage(function, noise)
    return JaxStage(function, noise)


def simulator(function: Callable[..., Any]) -> Simulator:
    """Marks a simulator as sbi has them: parameters [rows, parameters] in their units -> one event each,
    [rows, observables], with dice of its own (torch, NumPy, random), whose seeds SAGIPS chooses. It has no gradient.
    A function of one argument that stands alone is taken for one without the mark."""
    return Simulator(function)


def stage_of(thing):
    """What was given as a stage of a pipeline."""
    if isinstance(thing, Stage):
        return thing
    if not callable(thing):
        raise ConfigError(f"a {type(thing).__name__} is no stage: a pipeline is made of functions.")
    count = _positional(thing)
    if count not in (1, 2):
        name = getattr(thing, "__name__", type(thing).__name__)
        raise ConfigError(f"{name} takes {count} arguments. A stage takes (theta, noise), or values alone; of named "
                          "arrays it is marked with @sagips.numpy.")
    return TorchStage(thing)


def find(word, folder):
    """The stage of a word in a config."""
    return stage_of(references.find(word, folder))
