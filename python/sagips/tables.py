"""What people keep events in, as arrays: tables, tensors, Awkward arrays, ROOT files."""
import os
import re

import torch

from .errors import ConfigError, DataError

_root_file = re.compile(r"(.+\.root)(?::(.+))?$")


def is_root(data):
    """Whether it names a ROOT file: "file.root:tree", or {"file": "file.root", "tree": ..., "columns": [...]}."""
    file = data.get("file") if isinstance(data, dict) else data
    return isinstance(file, (str, os.PathLike)) and _root_file.match(os.fspath(file)) is not None


def read_root(data, columns):
    """Branches of a tree by their names. columns: those that are wanted, unless the data say it; None: all."""
    given = dict(data) if isinstance(data, dict) else {"file": data}
    file, tree = _root_file.match(os.fspath(given.pop("file"))).groups()
    tree, columns = given.pop("tree", tree), given.pop("columns", columns)
    if given:
        raise ConfigError(f"data: {file} is given {', '.join(given)}, and file, tree and columns were expected.")
    try:
        import uproot
    except ImportError:
        raise ConfigError(f"{file}: ROOT files are read by uproot, which is not installed: pip install uproot.") from None
    if not os.path.exists(file):
        raise DataError(f"{file}: there is no such file.")
    with uproot.open(file) as opened:
        trees = sorted({name.partition(";")[0] for name, kind in opened.classnames().items()
                        if kind == "TTree" or "RNTuple" in kind})
        if tree is None and len(trees) == 1:
            tree = trees[0]
        if tree not in trees:
            wrong = f"no tree '{tree}'" if tree else "several trees" if trees else "no tree"
            raise DataError(f"{file}: has {wrong} ({', '.join(trees)}). Name one: \"{file}:TREE\".")
        known = opened[tree].keys()
        columns = list(columns) if columns is not None else known
        require_columns(f"{file}:{tree}", columns, known)
        arrays = opened[tree].arrays(columns, library="np")
    return {name: arrays[name] for name in columns}


def require_columns(where, wanted, known):
    missing = [name for name in wanted if name not in known]
    if missing:
        raise DataError(f"{where} has no column {', '.join(missing)}, but {', '.join(known)}.")


def columns_of(data):
    """Columns by name, of what has such; None: it is an array."""
    if isinstance(data, dict):
        return data
    if type(data).__module__.split(".")[0] == "awkward":
        return {name: data[name] for name in data.fields} or None
    if hasattr(data, "to_numpy") and hasattr(data, "columns"):  # pandas, polars
        return {str(name): data[name] for name in data.columns}
    names = getattr(getattr(data, "dtype", None), "names", None)
    return {name: data[name] for name in names} if names else None


def numbers(data, name):
    """One array of numbers. throws: DataError with its name"""
    import numpy
    try:
        if isinstance(data, torch.Tensor):
            data = data.detach().cpu()
            data = (data.float() if data.dtype == torch.bfloat16 else data).numpy()
        elif hasattr(data, "to_numpy"):
            data = data.to_numpy()
        array = numpy.asarray(data)
    except ValueError as problem:  # of rows that are no array
        raise DataError(f"{name} has rows of different lengths. Flatten or cut them first "
                        f"({str(problem).splitlines()[0][:80]}).") from None
    if numpy.ma.is_masked(data):
        raise DataError(f"{name} has rows without a value. Leave such events away.")
    if array.dtype.kind not in "fiub":
        hint = " Are its rows of different lengths?" if array.dtype == object and array.size and \
            hasattr(array.flat[0], "__len__") and not isinstance(array.flat[0], str) else ""
        raise DataError(f"{name} is an array of {array.dtype}, and numbers were expected.{hint}")
    if array.dtype.kind == "f" and array.itemsize not in (4, 8):  # which files have
        array = array.astype(numpy.float32 if array.itemsize < 4 else numpy.float64)
    return array
