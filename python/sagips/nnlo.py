"""Models as users of NNLO have them: a Python file with get_model, get_train, get_val, get_features, get_labels."""
import functools
import importlib.util
import inspect
import json
import os
import sys

from . import problems, references
from .errors import ConfigError


class Problem(os.PathLike[str]):
    """The config of such a file, for `sagips.train`, `tune`, `ensemble`, ... and what its searches vary."""

    def __init__(self, name, file, space):
        self.name, self.file = name, file
        self.space = space  #: tune.space of get_model.parameter_range

    def __fspath__(self):
        return self.file

    def __repr__(self):
        return f"sagips.nnlo({self.name!r})"


def nnlo(module, *, folder="runs", **arguments):
    """A learning problem of a file as NNLO takes it with --model (or of a module that is imported):
    `sagips.train(sagips.nnlo("my_model.py"), train={"epochs": 5})`.

    arguments: numbers for get_model. folder: keeps what processes need of it. `get_model.parameter_range` (dimensions of
    skopt, or what has their fields) becomes `tune.space` of `sagips.tune`, unless the call says another one.
    """
    if isinstance(module, (str, os.PathLike)):
        module = _module_of(os.path.abspath(os.fspath(module)))
    name = os.path.basename(getattr(module, "__file__", None) or module.__name__)

    def of_file(function, default=None):
        found = getattr(module, function, None)
        return default if found is None else found() if callable(found) else found
    make = getattr(module, "get_model", None)
    if not callable(make):
        raise ConfigError(f"{name} has no function get_model, which makes the network.")
    space, words = _space_of(name, make)
    for one, value in arguments.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ConfigError(f"{name}: get_model gets {one}={value!r} here, and a number was expected.")
    taken = inspect.signature(make).parameters.values()
    if not any(one.kind is one.VAR_KEYWORD for one in taken):
        for one in [*arguments, *(key.rsplit(".", 1)[1] for key in (entry["key"] for entry in space))]:
            if one not in [each.name for each in taken]:
                raise ConfigError(f"{name}: get_model takes no '{one}'.")
    word = references.path_word(functools.partial(_with_words, make, words) if words else make,
                                os.path.join(folder, "functions"))
    data = {}
    for kind, files in (("", of_file("get_train")), ("validation_", of_file("get_val"))):
        if files is None:
            continue
        files = [files] if isinstance(files, (str, os.PathLike)) else list(files)
        if not files:
            raise ConfigError(f"{name}: get_{'val' if kind else 'train'} gives no files. Start where its patterns find "
                              "them.")
        for side, given in (("inputs", of_file("get_features", "features")),
                            ("targets", of_file("get_labels", "labels"))):
            data[kind + side] = _rows_of(f"{name}: get_{'features' if side == 'inputs' else 'labels'}", files, given,
                                         folder)
    config = {"workload": "learning", "network": {"layers": [{"module": word, "settings": arguments}]}, "data": data}
    content = json.dumps(config, indent=1).encode()
    path = os.path.abspath(os.path.join(folder, "nnlo", references.digest(content) + ".yaml"))
    references.write_once(path, content)
    return Problem(name, path, space)


def _module_of(path):
    if not os.path.exists(path):
        raise ConfigError(f"{path}: there is no such file. sagips.nnlo takes a Python file with get_model.")
    # No name that Python knows, so that what is kept of it is whole and needs no file.
    name = "nnlo_" + os.path.splitext(os.path.basename(path))[0]
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None:
        raise ConfigError(f"{path}: is no Python file.")
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, os.path.dirname(path))
    try:
        specification.loader.exec_module(module)
    finally:
        sys.path.remove(os.path.dirname(path))
    return module


def _with_words(make, words, **arguments):
    """A category that is a word travels as its place in the list."""
    return make(**{name: words[name][int(value)] if name in words else value for name, value in arguments.items()})


def _space_of(name, make):
    space, words = [], {}
    for dimension in getattr(make, "parameter_range", []):
        own = getattr(dimension, "name", None)
        if not own:
            raise ConfigError(f"{name}: a dimension of get_model.parameter_range has no name: {dimension!r}.")
        entry = {"key": f"network.layers.0.settings.{own}"}
        if hasattr(dimension, "categories"):
            values = list(dimension.categories)
            if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
                words[own], values = values, list(range(len(values)))
            entry["values"] = values
        else:
            entry.update(low=float(dimension.low), high=float(dimension.high),
                         integer=type(dimension).__name__ == "Integer",
                         log=getattr(dimension, "prior", None) == "log-uniform")
        space.append(entry)
    return space, words


def _rows_of(where, files, given, folder):
    """Where rows lie: a data set of HDF5 files, or what an adaptor makes of it, which is called once a file."""
    if isinstance(given, str):
        return {"file": [os.path.abspath(os.fspath(file)) for file in files], "hdf5_dataset": given}
    if not (isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], str) and callable(given[1])):
        raise ConfigError(f"{where} gives {given!r}. Give the name of a data set, or (name, function).")
    try:
        import h5py
    except ImportError:
        raise ConfigError(f"{where} has an adaptor, for which h5py reads the files: pip install h5py.") from None
    import numpy
    made = []
    for file in files:
        with h5py.File(file, "r") as opened:
            if given[0] not in opened:
                raise ConfigError(f"{where}: {file} has no data set '{given[0]}', but {', '.join(opened)}.")
            before = opened[given[0]][()]
        rows = numpy.asarray(given[1](before))
        if rows.dtype.kind not in "fiub" or rows.shape[:1] != before.shape[:1]:
            raise ConfigError(f"{where}: the adaptor makes {rows.dtype} of shape {rows.shape} of {len(before)} rows. Give "
                              "an array of numbers, as many rows.")
        made.append(problems.keep_array(rows, os.path.join(folder, "data")))
    return {"file": made}
