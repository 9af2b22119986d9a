"""What goes wrong, each with one clear line. `except sagips.Error` catches all of it."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import Run


class Error(Exception):
    """Of all that SAGIPS raises on purpose. run: what there is of a study that has failed in part; None: nothing."""
    run: Run | None = None


class ConfigError(Error, ValueError):
    """A setting, an argument or a combination of them that cannot be used."""


class DataError(Error, ValueError):
    """A data file or array that is missing, malformed or empty."""


class ShapeError(Error, ValueError):
    """A stage gave something that the pipeline cannot use."""


class StorageError(Error, OSError):
    """A file or folder that cannot be written."""
