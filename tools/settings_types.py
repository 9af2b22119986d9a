#!/usr/bin/env python3
"""Writes python/sagips/_settings.py: the settings of every workload as types, for editors and mypy.

    settings_types.py           with the package `sagips` where Python finds it (PYTHONPATH=build/release/python)
"""
import os
import subprocess
import sys
import textwrap

from sagips import _sagips

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "sagips", "_settings.py")
HEAD = '''\
"""The settings of every workload as types, for editors and mypy. Written by tools/settings_types.py.

Which of them a problem knows, with its values, `sagips.settings(problem)` says."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict
'''
PLAIN = {"whole number": "int", "number": "float", "number or null": "float | None", "true or false": "bool",
         "text": "str", "path": "str | os.PathLike[str]", "named numbers": "Mapping[str, float]"}
ITEM = {"list of whole numbers": "int", "list of numbers": "float", "list of texts": "str | float",
        "path or paths": "str | os.PathLike[str]"}
# Of Python, beside what a config has: modules and functions.
FUNCTION, LAYERS = "Callable[..., Any]", "Sequence[Layer | Callable[..., Any]]"
OBJECTS = {"network": [FUNCTION, LAYERS], "networks": [f"Mapping[str, {FUNCTION}]"], "generator": [FUNCTION, LAYERS],
           "discriminator": [FUNCTION, LAYERS], "layers": [LAYERS], "hidden_layers": [LAYERS], "loss": [FUNCTION],
           "metrics": [FUNCTION, f"Sequence[str | {FUNCTION}]"]}
# What arguments of the functions give: they are no keywords beside these.
ARGUMENTS = ("observables", "data")


class Key:
    """One key over all workloads: what its value may be, and the keys inside it."""

    def __init__(self):
        self.types, self.choices, self.help, self.inner = [], [], "", {}

    def add(self, described):
        if described["type"] not in self.types:
            self.types.append(described["type"])
        if described["type"] == "choice":
            self.choices += [one for one in described["range"].split(" | ") if one not in self.choices]
        self.help = self.help or described["help"]

    def merge(self, other):
        """Takes the keys of an item of a list, or of a named group, among its own: they are alike."""
        self.types += [one for one in other.types if one not in self.types]
        self.choices += [one for one in other.choices if one not in self.choices]
        self.help = self.help or other.help
        for name, inner in other.inner.items():
            self.inner.setdefault(name, Key()).merge(inner)


def workloads():
    listed = subprocess.run([sys.executable, "-m", "sagips", "list", "workloads"], check=True, capture_output=True,
                            text=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line and not line.startswith(" ")]
    return [name for name in names if name != "objective"]  # whose keys `tune` sets itself


def every_key():
    top = Key()
    for workload in workloads():
        for described in _sagips.describe(workload):
            place = top
            for name in described["key"].split("."):
                place = place.inner.setdefault(name, Key())
            place.add(described)
    return top


def is_layer(key):
    return "dense" in key.inner and "repeat" in key.inner


def join_items(key, layer):
    """Items of lists and of groups by name become one; layers of all networks are alike."""
    if {"list of groups", "groups by name"} & set(key.types):
        item = Key()
        for one in key.inner.values():
            item.merge(one)
        item.types, key.inner = ["group"], {"N": item} if item.inner else {}
    for one in key.inner.values():
        join_items(one, layer)
    if is_layer(key):
        layer.merge(key)


class Writer:
    """Classes by their names, in an order in which each stands before those that need it."""

    def __init__(self):
        self.classes, self.names = {}, {}

    def name_of(self, path, key):
        """The class of a group; groups with the same keys share one, named as the first."""
        if is_layer(key):
            path = ["layer"]
        name = "".join(part.capitalize() for word in path for part in word.split("_"))
        if is_layer(key) and name in self.classes:
            return name
        lines = [(inner, self.type_of([*path, inner], one), one.help) for inner, one in key.inner.items()]
        known = tuple((inner, kind) for inner, kind, _ in lines)
        self.classes.setdefault(self.names.setdefault(known, name), lines)
        return self.names[known]

    def item_of(self, path, key):
        if key.inner:
            return self.name_of(path, key.inner["N"])
        return "Layer" if any(word in key.help for word in ("layers", "one behind the other")) else "Mapping[str, Any]"

    def type_of(self, path, key):
        takes_objects = len(path) == 1 or (len(path) == 2 and path[-1].endswith("layers"))
        return " | ".join(dict.fromkeys(self.kinds_of(path, key) + (OBJECTS.get(path[-1], []) if takes_objects else [])))

    def kinds_of(self, path, key):
        found = []
        for kind in key.types:
            if kind in PLAIN:
                found += PLAIN[kind].split(" | ")
            elif kind in ITEM:
                found += [*ITEM[kind].split(" | "), f"Sequence[{ITEM[kind]}]"]
            elif kind == "list of whole numbers, or same":
                found += ["int", "Sequence[int]", 'Literal["same"]']
            elif kind == "choice":
                found.append(f"Literal[{', '.join(chr(34) + one + chr(34) for one in key.choices)}]")
                if {"true", "false"} <= set(key.choices):
                    found.append("bool")
            elif kind == "list of groups":
                found.append(f"Sequence[{self.item_of(path, key)}]")
            elif kind == "groups by name":
                found.append(f"Mapping[str, {self.item_of(path, key)}]")
            elif "groups by name" not in key.types:
                found.append(self.name_of(path, key) if key.inner else "Mapping[str, Any]")
        return found


def lines_of(name, kind, help):
    line = f"    {name}: {kind}"
    if len(line) > 120:
        line = textwrap.fill(f"{name}: ({kind})", 120, initial_indent="    ", subsequent_indent="        ",
                             break_long_words=False, break_on_hyphens=False)
    said = help.replace("\\", "\\\\").replace('"', "'")
    return line + "\n" + textwrap.fill(f'"""{said}"""', 120, initial_indent="    ", subsequent_indent="    ",
                                       break_long_words=False, break_on_hyphens=False)


def class_of(name, lines, base="TypedDict, total=False", said=""):
    head = f"\n\nclass {name}({base}):\n" + (f'    """{said}"""\n' if said else "")
    return head + "\n".join(lines_of(*line) for line in lines) + "\n"


def text():
    top = every_key()
    layer = Key()
    join_items(top, layer)
    writer = Writer()
    writer.name_of([], layer)
    lines = [(name, writer.type_of([name], key), key.help) for name, key in top.inner.items()]
    page = HEAD + "".join(class_of(name, inner) for name, inner in writer.classes.items())
    page += class_of("Settings", [line for line in lines if line[0] not in ARGUMENTS],
                     said="Keywords of the functions, to be kept by a name: `usual: sagips.Settings = {...}`.")
    page += class_of("SettingsWithData", [line for line in lines if line[0] == "data"],
                     "Settings, total=False")
    return page


def main():
    page = text()
    with open(TARGET, "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
