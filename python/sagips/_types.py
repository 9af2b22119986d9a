"""What the functions take, for annotations."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from . import _settings
from .problems import Box

Range = _settings.Parameters
Path = str | os.PathLike[str]
Function = Callable[..., Any]
Stages = Function | Sequence[Function | Mapping[str, Any]]
Problem = Path | Stages | Mapping[str, Stages]
Ranges = Box | Mapping[str, tuple[float, float] | tuple[float, float, str] | Range]


class Prior(Protocol):
    """A prior of sbi or torch, whose support is a box."""
    @property
    def support(self) -> Any: ...


class HasArray(Protocol):
    """Of NumPy, PyTorch, pandas, polars, Awkward and their like."""
    @property
    def __array__(self) -> Callable[..., Any]: ...


Array = HasArray | Sequence[float] | Sequence[Sequence[float]]
Events = Path | Array


class HasRows(Protocol):
    """A torch.utils.data.Dataset."""
    def __getitem__(self, index: Any) -> Any: ...


Rows = tuple[Any, ...] | HasRows | Iterable[Any]
Data = Events | Rows | Mapping[str, Any] | _settings.Data
Names = str | Sequence[str] | Mapping[str, str | Sequence[str]]
Weights = Array | Mapping[str, Array]
Start = Literal["resume", "fresh", "override"]
