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


def assignments_of(settings):
    """The keywords of a call as "a.b=c"."""
    found = []

    def add(key, value):
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                add(f"{key}.{name}", inner)
        else:
            found.append(f"{key}={value if isinstance(value, str) else json.dumps(value, default=_plain)}")
    for key, value in settings.items():
        add(key, value)
    return found


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()  # of NumPy or torch
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise ConfigError(f"a setting is a {type(value).__name__} ({value!r}), and a number, a text or a list was expected.")


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


def pipeline_of(problem, folder):
    """Functions as the list that a config has."""
    functions = list(problem) if isinstance(problem, (tuple, list)) else [problem]
    if len(functions) == 1 and not isinstance(functions[0], stages.Stage) and callable(functions[0]) and \
            stages._positional(functions[0]) == 1:
        functions = [stages.simulator(functions[0])]
    entries = []
    for function in functions:
        if isinstance(function, dict):  # a stage as a config has it
            entries.append(function)
            continue
        stages.stage_of(function)  # says what is wrong with it
        word, place = references.word_of(function, os.path.join(folder, "functions"))
        entries.append({"python": word, "folder": place} if place else {"python": word})
    return entries


def problem_of(problem, data, box, observables, weights, settings):
    """Source and assignments of an inverse problem."""
    folder = folder_of(settings)
    assignments = {}
    if is_source(problem):
        if box is not None:
            assignments["parameters"] = box_of(box).ranges
        source = os.fspath(problem)
    else:
        if box is None:
            raise ConfigError("box is missing: say where the parameters may lie, as in sagips.Box(lifetime=(0.1, 5)).")
        source = "custom"
        assignments["parameters"] = box_of(box).ranges
        if isinstance(problem, dict):
            assignments["channels"] = {
                name: {"pipeline": pipeline_of(one, folder)} for name, one in problem.items()}
        else:
            assignments["pipeline"] = pipeline_of(problem, folder)
    if is_rows(data) or (isinstance(data, dict) and not isinstance(problem, dict) and not tables.is_root(data)):
        assignments["data"], data = rows_of(data, folder), None  # the group of a config
    several = data if isinstance(data, dict) and not tables.is_root(data) else {None: data}
    for name in several:
        if name is not None and name not in problem:
            raise ConfigError(f"data has '{name}', and the pipelines are {', '.join(problem)}. Call them alike.")
    for name, one in several.items():
        add_data(assignments, name, one, observables, weights, folder, source)
    return source, assignments


def python_settings(settings, folder):
    """The settings that are functions and modules, or hold some, as words."""
    functions_folder = os.path.join(folder, "functions")

    def layers(key, value):
        """What stands for layers: a module, or a list in which some are modules."""
        many = value if isinstance(value, (list, tuple)) else [value]
        if not isinstance(value, (list, tuple)) and not callable(value):
            raise ConfigError(f"{key} is a {type(value).__name__}, and a torch.nn.Module or a list of layers was "
                              "expected.")
        return [{"module": references.path_word(one, functions_folder)} if callable(one) else one for one in many]

    def network(key, value, name):
        if value is not None and not isinstance(value, (dict, str)):
            return {name: layers(key, value)}
        if isinstance(value, dict) and value.get(name) is not None and not isinstance(value[name], str):
            return {**value, name: layers(f"{key}.{name}", value[name])}
        return value

    def function(key, value, kind):
        if not callable(value):
            return value
        functions.check(value, kind)
        return references.path_word(value, functions_folder)
    made = {}
    for key, value in settings.items():
        if key in ("network", "generator", "discriminator"):
            made[key] = network(key, value, "layers" if key == "network" else "hidden_layers")
        elif key == "networks" and isinstance(value, dict):
            made[key] = {name: network(f"networks.{name}", one, "layers") for name, one in value.items()}
        elif key == "loss":
            made[key] = function(key, value, "loss")
        elif key == "metrics":
            made[key] = [function(key, one, "metric")
                         for one in (value if isinstance(value, (list, tuple)) else [value])]
    return made


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
        source = _file_of(value[0], name, folder)
        functions.check(value[1], "rows")
        return {**source, "script": references.path_word(value[1], os.path.join(folder, "functions"))}
    if is_source(value):
        return {"file": os.path.abspath(os.fspath(value))}
    if not isinstance(value, dict):
        array, _ = numbers_of(value, name)
        return {"file": keep_array(array, os.path.join(folder, "data"))}
    if isinstance(value.get("tensors"), dict):
        return {**value, "tensors": {one: _file_of(own, f"{name}.tensors.{one}", folder)
                                     for one, own in value["tensors"].items()}}
    if callable(value.get("script")):
        functions.check(value["script"], "rows")
        value = {**value, "script": references.path_word(value["script"], os.path.join(folder, "functions"))}
    if value and all(hasattr(own, "shape") for own in value.values()):
        return {"tensors": {one: _file_of(own, f"{name}.{one}", folder) for one, own in value.items()}}
    return value


def add_data(assignments, name, data, observables, weights, folder, source):
    place = assignments if name is None else assignments["channels"][name]
    names = observables.get(name) if isinstance(observables, dict) else observables
    own_weights = weights.get(name) if isinstance(weights, dict) else weights
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
