from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

torch_version: str
version: str

class Noise:
    """Random numbers of one call of a stage: each `uniform()` and `normal()` takes one of every event. Results repeat
    for a seed, whatever the ranks and threads."""
    @property
    def samples(self) -> int: ...
    @property
    def events(self) -> int:
        """how many events of each sample are asked for"""
    def uniform(self) -> torch.Tensor:
        """Uniform in (0, 1), one an event. shape: [samples, events]"""
    def normal(self) -> torch.Tensor:
        """N(0, 1), one an event. shape: [samples, events]"""

def call(command: str, source: str, assignments: Sequence[str], options: Mapping[str, Sequence[str]],
         watch: Callable[[str, dict[str, Any]], object] | None) -> dict[str, Any]: ...
def begin_ranks() -> int: ...
def end_ranks() -> None: ...
def claim_failure() -> bool: ...
def abort_ranks(exit_code: int) -> None: ...
def program(words: Sequence[str], program: Sequence[str]) -> int: ...
def describe(source: str) -> list[dict[str, str]]: ...
