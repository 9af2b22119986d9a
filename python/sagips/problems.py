"""What a user has, as a config of the program: functions, ranges, arrays."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import torch

from . import functions, references, stages, tables
from .errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._types import Array, Range


class Box:
    """Ranges of parameters in their units, by name: `Box(lifetime=(0.1, 5, "us"), n=(0, 1))`, or with more of what a
    config knows: `Box(mass={"low": 80, "high": 100, "unit": "GeV", "truth": 91.2})`. Functions get the parameters in
    this order.
    """

    def __init__(self, **ranges: tuple[float, float] | tuple[float, float, str] | Range) -> None:
        if not ranges:
            raise ConfigError("a Box needs at least one parameter: Box(lifetime=(0.1, 5)).")
        self.ranges = {name: self._range(name, given) for name, given in ranges.items()}

    @classmethod
    def of(cls, low: float | Array, high: float | Array, names: Iterable[str] | None = None) -> Box:
        """Lower and upper ends as arrays [parameters], as sbi's BoxUniform has them, with names:
        `Box.of(low, high, ["a", "b"])`. None: theta_0, theta_1, ..."""
        lows, highs = (torch.as_tensor(ends, dtype=torch.float64).reshape(-1).tolist() for ends in (low, high))
        names = list(names) if names is not None else [f"theta_{i}" for i in range(len(lows))]
        if not len(lows) == len(highs) == len(names):
            raise ConfigError(f"a Box of {len(lows)} lower and {len(highs)} upper ends has {len(names)} names. Give as "
                              "many of each.")
        return cls(**{name: (lowest, highest) for name, lowest, highest in zip(names, lows, highs)})

    @staticmethod
    def _range(name, given):
        if isinstance(given, dict):
            return dict(given)
        ends = list(given) if isinstance(given, (tuple, list)) else []
        if len(ends) not in (2, 3) or not all(isinstance(end, (int, float)) for end in ends[:2]):
            raise ConfigError(f"the range of {name} is {given!r}. Give (low, high) or (low, high, \"unit\").")
        return dict(zip(("low", "high", "unit"), ends))


def box_of(box):
    """A Box of what was given: one, a dictionary of ranges, or a prior of sbi or torch with a support."""
    if isinstance(box, Box):
        return box
    if isinstance(box, dict):
        return Box(**box)
    support = getattr(box, "support", None)
    base = getattr(support, "base_constraint", support)  # an independent one of each
    low, high = getattr(base, "lower_bound", None), getattr(base, "upper_bound", None)
    if low is None or high is None:
        raise ConfigError(f"box is a {type(box).__name__}, and ranges were expected: sagips.Box(lifetime=(0.1, 5)).")
    return Box.of(low, high)


def assignments_of(settings, folder):
    """The keywords of a call as "a.b=c"; functions and modules as words, which `folder` keeps."""
    found = []

    def add(key, value):
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                add(f"{key}.{name}", inner)
        elif isinstance(value, str) and (": " not in value or value[:1] in "[{"):
            found.append(f"{key}={value}")  # a text as the command line has it
        else:
            found.append(f"{key}={json.dumps(value)}")
    for key, value in settings.items():
        add(key, _plain(key, value, os.path.join(folder, "functions")))
    return found


_networks = {"network": "layers", "generator": "hidden_layers", "discriminator": "hidden_layers"}
_functions = {"loss": "loss", "metrics": "metric", "script": "rows"}


def _plain(key, value, folder):
    """A setting as a config has it."""
    group, _, name = key.rpartition(".")
    layers = _networks.get(key, "layers" if group == "networks" else None)
    if layers is not None and value is not None and not isinstance(value, (dict, str)):
        if not isinstance(value, (list, tuple)) and not callable(value):
            raise ConfigError(f"{key} is a {type(value).__name__}, and a torch.nn.Module or a list of layers was expected.")
        return {layers: _plain(f"{key}.{layers}", value, folder)}
    if name in ("layers", "hidden_layers", "metrics", "pipeline") and callable(value):
        value = [value]
    if isinstance(value, dict):
        return {str(one): _plain(f"{key}.{one}", inner, folder) for one, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_word(key, name, one, folder) if callable(one) else _plain(f"{key}.{i}", one, folder)
                for i, one in enumerate(value)]
    if callable(value):
        return _word(key, name, value, folder)
    if hasattr(value, "tolist"):
        return value.tolist()  # of NumPy or torch
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ConfigError(f"{key} is a {type(value).__name__} ({value!r}), and a number, a text or a list was expected.")


def _word(key, name, thing, folder):
    """A function or module in a setting whose last word is `name`."""
    if name in _functions:
        functions.check(thing, _functions[name])
    elif name in ("python", "pipeline"):
        stages.stage_of(thing)  # says what is wrong with it
    elif name not in ("layers", "hidden_layers"):
        raise ConfigError(f"{key} is a {type(thing).__name__} ({thing!r}), and a number, a text or a list was expected.")
    word = references.path_word(thing, folder)
    return {"pipeline": {"python": word}, "layers": {"module": word}, "hidden_layers": {"module": word}}.get(name, word)


def numbers_of(data, name="data", wanted=None):
    """Numbers as NumPy has them, and names of the columns where there are any.

    wanted: the columns of a table that are taken, in this order; None: all of them."""
    import numpy
    columns = tables.columns_of(data)
    if columns is None:
        array = tables.numbers(data, name)
    else:
        wanted = list(columns) if wanted is None else wanted
        tables.require_columns(name, wanted, columns)
        if not wanted:
            raise DataError(f"{name} is a table without columns.")
        parts = [tables.numbers(columns[one], f"{name}: '{one}'") for one in wanted]
        for one, part in zip(wanted, parts):
            if part.ndim != 1:
                raise DataError(f"{name}: '{one}' has the shape {part.shape}, and a number a row was expected.")
        array, columns = numpy.stack(parts, 1), wanted
    if array.ndim == 0 or array.shape[0] == 0:
        raise DataError(f"{name} has the shape {array.shape}, and rows were expected.")
    if array.dtype.kind == "f" and not numpy.isfinite(array).all():
        row = int(numpy.argwhere(~numpy.isfinite(array))[0][0])
        raise DataError(f"{name} has NaN or infinity in row {row}. Leave such rows away.")
    return array, columns


def array_of(data, name="data", wanted=None):
    """Numbers [rows, columns], of events."""
    array, columns = numbers_of(data, name, wanted)
    if array.ndim > 2:
        raise DataError(f"{name} has the shape {array.shape}, expected [events] or [events, observables].")
    return array.reshape(array.shape[0], -1), columns


def keep_array(array, folder):
    """Writes an array where processes and later calls find it, once, and returns its path."""
    import io
    import numpy
    content = io.BytesIO()
    numpy.save(content, numpy.ascontiguousarray(array))
    content = content.getbuffer()
    path = os.path.abspath(os.path.join(folder, references.digest(content) + ".npy"))
    references.write_once(path, content)
    return path


def folder_of(settings):
    """Where the runs of a call lie."""
    run = settings.get("run")
    return str(settings.get("run.folder") or (run.get("folder") if isinstance(run, dict) else None) or "runs")


def is_source(problem):
    return isinstance(problem, (str, os.PathLike))


def pipeline_of(problem):
    """Functions as the list that a config has."""
    pipeline = list(problem) if isinstance(problem, (tuple, list)) else [problem]
    if len(pipeline) == 1 and not isinstance(pipeline[0], (dict, stages.Stage)) and callable(pipeline[0]) and \
            stages._positional(pipeline[0]) == 1 and not stages.takes_noise(pipeline[0]):
        pipeline = [stages.simulator(pipeline[0])]
    for one in pipeline:
        if not isinstance(one, dict):  # a stage as a config has it
            stages.stage_of(one)
    return pipeline


def problem_of(problem, data, box, observables, weights, settings):
    """Source and assignments of an inverse problem."""
    folder = folder_of(settings)
    assignments = {}
    names = list(problem) if isinstance(problem, dict) else [None]
    if is_source(problem):
        if box is not None:
            assignments["parameters"] = box_of(box).ranges
        source = os.fspath(problem)
    else:
        if isinstance(problem, torch.nn.Module):
            raise ConfigError("a module is a network: sagips.train(\"learning\", data, network=module).")
        if box is None:
            raise ConfigError("box is missing: say where the parameters may lie, as in sagips.Box(lifetime=(0.1, 5)).")
        source = "custom"
        assignments["parameters"] = box_of(box).ranges
        if isinstance(problem, dict):
            assignments["channels"] = {name: {"pipeline": pipeline_of(one)} for name, one in problem.items()}
        else:
            assignments["pipeline"] = pipeline_of(problem)
    if names == [None] and (is_source(problem) and is_rows(data) or isinstance(data, dict) and not tables.is_root(data)):
        assignments["data"], data = rows_of(data, folder), None  # the group of a config
    parts = [_by_name(what, given, names) for what, given in
             (("data", data), ("observables", observables), ("weights", weights))]
    for name in names:
        add_data(assignments, name, *(part.get(name) for part in parts), folder, source)
    return source, assignments


def _by_name(what, given, names):
    """What a call says of each data set."""
    if not isinstance(given, dict) or what == "data" and tables.is_root(given):
        if what == "data" and given is not None and names != [None]:
            raise ConfigError(f"data are those of one data set, and there are {', '.join(names)}. Give a dictionary.")
        return dict.fromkeys(names, given)
    for name in given:
        if name not in names:
            raise ConfigError(f"{what} has '{name}', and " + ("there is one data set. Give no dictionary." if names == [None]
                                                              else f"the data sets are {', '.join(names)}."))
    return given


def is_rows(data):
    """Whether these are rows of inputs and targets: a pair of arrays, or what PyTorch loads them from."""
    return isinstance(data, (tuple, torch.utils.data.Dataset, torch.utils.data.DataLoader))


def rows_of(data, folder):
    """The group `data` of a learning problem: a pair (inputs, targets) or (inputs, targets, weights), a Dataset or
    DataLoader of such, a dictionary of both as `training` and `validation`, or the group itself with arrays in place of
    files, and functions of rows in place of scripts."""
    if is_rows(data):
        return _files_of(dict(zip(("inputs", "targets", "weights"), _arrays_of(data, "data"))), "data", folder)
    group = dict(data)
    for part, prefix in (("training", ""), ("validation", "validation_")):
        if part in group:
            names = [prefix + name for name in ("inputs", "targets", "weights")]
            group.update(zip(names, _arrays_of(group.pop(part), f"data.{part}")))
    return _files_of(group, "data", folder)


def _arrays_of(data, name):
    if isinstance(data, torch.utils.data.Dataset):
        data = torch.utils.data.DataLoader(data, batch_size=1000)
    if isinstance(data, torch.utils.data.DataLoader):
        if type(data.sampler) in (torch.utils.data.SequentialSampler, torch.utils.data.RandomSampler) and data.batch_size:
            # all of its rows, in an order that is the same in the next call
            data = torch.utils.data.DataLoader(data.dataset, data.batch_size, collate_fn=data.collate_fn)
        batches = list(data)
        if not batches:
            raise DataError(f"{name} has no rows.")
        data = _joined(batches)
        if isinstance(data, dict):
            data = [data[one] for one in ("inputs", "targets", "weights") if one in data]
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise ConfigError(f"{name} gives a {type(data).__name__} a row, and (inputs, targets) or (inputs, targets, "
                          "weights) was expected.")
    return data


def _joined(batches):
    first = batches[0]
    if isinstance(first, dict):
        return {name: _joined([one[name] for one in batches]) for name in first}
    if isinstance(first, (tuple, list)):
        return [_joined(list(one)) for one in zip(*batches)]
    return torch.cat([torch.as_tensor(one) for one in batches])


_row_groups = ("inputs", "targets", "weights", "validation_inputs", "validation_targets", "validation_weights")


def _files_of(group, name, folder):
    """A group of a config with files in place of arrays."""
    made = {}
    for key, value in group.items():
        made[key] = _file_of(value, f"{name}.{key}", folder) if key in _row_groups else value
    return made


def _file_of(value, name, folder):
    if isinstance(value, tuple) and len(value) == 2 and callable(value[1]):  # rows, and what is made of them
        return {**_file_of(value[0], name, folder), "script": value[1]}
    if is_source(value):
        return {"file": os.path.abspath(os.fspath(value))}
    if not isinstance(value, dict):
        array, _ = numbers_of(value, name)
        return {"file": keep_array(array, os.path.join(folder, "data"))}
    if isinstance(value.get("tensors"), dict):
        return {**value, "tensors": {one: _file_of(own, f"{name}.tensors.{one}", folder)
                                     for one, own in value["tensors"].items()}}
    if value and all(hasattr(own, "shape") for own in value.values()):
        return {"tensors": {one: _file_of(own, f"{name}.{one}", folder) for one, own in value.items()}}
    return value


def add_data(assignments, name, data, names, own_weights, folder, source):
    place = assignments if name is None else assignments["channels"][name]
    # of a workload the user's list says which observable a column is
    is_ordered = isinstance(data, dict) and "columns" in data
    wanted = [one.partition("[")[0].strip() for one in ([names] if isinstance(names, str) else names or [])] or None
    if tables.is_root(data):
        data = tables.read_root(data, wanted)
    if own_weights is not None and (data is None or is_source(data)):
        raise ConfigError("weights stand beside data that are no array. Name their column: "
                          "data={\"file\": ..., \"weight_column\": ...}.")
    if data is not None and not is_source(data):
        array, columns = array_of(data, wanted=None if is_ordered else wanted)
        if columns and source != "custom" and not is_ordered:
            raise ConfigError(f"data has columns of its own ({', '.join(columns)}), and {source} names them itself. Give "
                              "an array, its columns in the order of the observables.")
        if names is None and columns and source == "custom":
            names = columns
        if names is None and source == "custom":
            names = ["x"] if array.shape[1] == 1 else [f"x_{i}" for i in range(array.shape[1])]
        settings = {}
        if own_weights is not None:
            import numpy
            own, _ = array_of(own_weights, "weights")
            if own.shape != (array.shape[0], 1):
                raise DataError(f"weights have the shape {own.shape}, and there are {array.shape[0]} events.")
            settings["columns"] = [str(i) for i in range(array.shape[1])]
            settings["weight_column"] = str(array.shape[1])
            array = numpy.concatenate([array, own], 1)
        settings["file"] = keep_array(array, os.path.join(folder, "data"))
        place["data"] = settings
    elif data is not None:
        place["data"] = {"file": os.path.abspath(os.fspath(data))}
    if names is not None:
        place["observables"] = [names] if isinstance(names, str) else list(names)
    elif source == "custom":
        place["observables"] = ["x"]
