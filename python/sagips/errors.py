"""What goes wrong, each with one clear line. `except sagips.Error` catches all of it."""


class Error(Exception):
    """Of all that SAGIPS raises on purpose."""


class ConfigError(Error, ValueError):
    """A setting, an argument or a combination of them that cannot be used."""


class DataError(Error, ValueError):
    """A data file or array that is missing, malformed or empty."""


class ShapeError(Error, ValueError):
    """A stage gave something that the pipeline cannot use."""


class StorageError(Error, OSError):
    """A file or folder that cannot be written."""
