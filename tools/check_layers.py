#!/usr/bin/env python3
"""Proves the include law (docs/architecture.md, "Layers") on the sources of a checkout.

Checked on every .hpp, .cpp and source for GPUs of sagips/, workloads/, cli/ and python/:
  - a layer includes only the layers it may, and every folder under sagips/ is a known layer
  - outside libraries stay in the layers they belong to; MPI, HDF5, NLopt, pagmo and CLI11 in one file each,
    and the system's calls for child processes too
  - a header that other layers include shows no outside library but LibTorch
  - a source that uses spdlog or fmt does not see LibTorch, which carries another fmt
  - includes of ours are full paths from the top ("sagips/core/error.hpp"), exist and form no cycle
  - the USES of a layer's CMake target obey the same law
Prints the arrows found and each offending line. Exit: 0 lawful, 1 not.

usage: tools/check_layers.py [CHECKOUT]
"""
import dataclasses
import pathlib
import re
import sys

LAYERS = {  # layer: layers it may include
    "core": (),
    "record": ("core",),
    "comm": ("core",),
    "kernels": ("core",),
    "cuda": (),
    "data": ("core",),
    "nn": ("core", "kernels", "cuda"),  # of cuda its interface alone: it is opened at run time
    "env": ("core", "kernels", "data", "nn"),
    "problem": ("core", "data", "env"),
    "optim": ("core", "kernels", "data", "nn", "env", "problem"),
    "analysis": ("core", "record"),
    "simulate": ("core", "record", "comm"),
    "train": ("core", "record", "comm", "kernels", "data", "nn", "env", "problem", "optim"),
    "run": ("core", "record", "comm", "kernels", "data", "nn", "env", "problem", "optim", "analysis", "train"),
    "study": ("core", "record", "comm", "kernels", "data", "nn", "env", "problem", "optim", "analysis", "simulate", "train",
              "run"),
    "cli": ("core", "record", "comm", "kernels", "data", "nn", "env", "problem", "optim", "analysis", "simulate", "train",
            "run", "study"),
}
WORKLOAD_LAYERS = ("core", "data", "env", "problem")

OUTSIDE = {  # library: how its headers begin
    "LibTorch": ("torch/", "ATen/", "c10/"),
    "MPI": ("mpi.h", "mpi-ext.h"),
    "HDF5": ("hdf5.h", "H5"),
    "zlib": ("zlib.h",),
    "yaml-cpp": ("yaml-cpp/",),
    "nlohmann-json": ("nlohmann/",),
    "fmt": ("fmt/",),
    "spdlog": ("spdlog/",),
    "Random123": ("Random123/",),
    "NLopt": ("nlopt.h",),
    "pagmo": ("pagmo/",),
    "CLI11": ("CLI/",),
    "libxsmm": ("libxsmm",),
    "CUDA": ("cuda_runtime.h",),
    "SimGrid": ("simgrid/", "smpi/"),
    "nanobind": ("nanobind/",),
    "child processes": ("sys/wait.h", "sys/prctl.h", "spawn.h"),
}
OUTSIDE_OF = {  # layer: libraries it may use
    "core": ("yaml-cpp", "nlohmann-json", "fmt", "spdlog", "Random123", "child processes"),
    "record": ("nlohmann-json",),
    "comm": ("MPI",),
    "kernels": ("libxsmm",),
    "cuda": ("CUDA", "LibTorch"),  # LibTorch in graph.cpp alone
    "data": ("LibTorch", "HDF5", "zlib"),
    "nn": ("LibTorch",),
    "env": ("LibTorch",),
    "problem": ("LibTorch",),
    "optim": ("LibTorch", "NLopt", "pagmo"),
    "analysis": (),
    "simulate": ("SimGrid",),
    "train": ("LibTorch",),
    "run": ("LibTorch",),
    "study": ("LibTorch",),
    "workloads": ("LibTorch",),
    "cli": ("CLI11", "LibTorch"),
    "python": ("LibTorch", "nanobind"),
    "program": (),
}
ONE_SOURCE = ("MPI", "HDF5", "zlib", "NLopt", "pagmo", "CLI11", "libxsmm", "child processes")
PUBLIC_LIBRARIES = ("LibTorch",)  # all that a header may show

POSIX = re.compile(r"^(sys/[a-z_]+|cxxabi|dlfcn|fcntl|glob|immintrin|link|malloc|poll|pthread|pwd|sched|signal|stdint|stdlib|termios|time|unistd)\.h$")
STANDARD = re.compile(r"^[a-z_0-9]+$")  # <vector>, <cmath>: no folder, no suffix
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LAYER_CALL = re.compile(r"sagips_add_layer\s*\(\s*(\w+)([^)]*)\)", re.DOTALL)


@dataclasses.dataclass
class Include:
    path: str      # of the including file, from the top
    line: int
    quoted: bool
    target: str


def layer_of(path):
    """core, env, ...; "workloads/x", "workloads" for files that list the workloads; "python"; "program" for cli/."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[0] == "sagips":
        return parts[1] if len(parts) > 2 else "sagips"
    if parts[0] == "workloads":
        return f"workloads/{parts[1]}" if len(parts) > 2 else "workloads"
    return "python" if parts[0] == "python" else "program"


def library_of(header):
    for library, beginnings in OUTSIDE.items():
        if header.startswith(beginnings):
            return library
    return ""


def may_include(layer, other):
    if layer in (other, "program", "python"):
        return other != "python" or layer == other
    if layer == "workloads":  # the one place that lists them all
        return other.startswith("workloads/") or other in WORKLOAD_LAYERS
    if layer.startswith("workloads/"):
        return other in WORKLOAD_LAYERS
    return other in LAYERS.get(layer, ())


def read_includes(root):
    """All includes of the checkout, by file."""
    includes = {}
    for top in ("sagips", "workloads", "cli", "python"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".h", ".cu", ".cuh"):
                continue
            name = path.relative_to(root).as_posix()
            includes[name] = []
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                if found:
                    includes[name].append(Include(name, number, found.group(1) == '"', found.group(2)))
    return includes


class Law:
    """Collects offences and arrows over a checkout."""

    def __init__(self, root):
        self.root = root
        self.includes = read_includes(root)
        self.offences = []
        self.arrows = {}
        self.users = {library: {} for library in OUTSIDE}

    def offend(self, include, why):
        mark = '"%s"' if include.quoted else "<%s>"
        self.offences.append(f"{include.path}:{include.line}: #include {mark % include.target}: {why}")

    def check(self):
        self.check_folders()
        for includes in self.includes.values():
            for include in includes:
                if include.quoted:
                    self.check_ours(include)
                else:
                    self.check_outside(include)
        self.check_public_headers()
        self.check_single_sources()
        self.check_fmt_apart()
        self.check_cycles()
        self.check_targets()
        return not self.offences

    def check_folders(self):
        for name in self.includes:
            layer = layer_of(name)
            if name.startswith("sagips/") and layer not in LAYERS:
                self.offences.append(f"{name}: folder '{layer}' is no layer. Known: {', '.join(LAYERS)}; "
                                     "a new one is added to the law first (tools/check_layers.py).")

    def check_ours(self, include):
        if not include.target.startswith(("sagips/", "workloads/", "cli/", "python/")):
            self.offend(include, "write the path from the top, as in \"sagips/core/error.hpp\"")
            return
        if include.target not in self.includes:
            self.offend(include, "there is no such file")
            return
        layer, other = layer_of(include.path), layer_of(include.target)
        if layer != other:
            self.arrows.setdefault(layer, set()).add(other)
        if not may_include(layer, other):
            allowed = [name for name in LAYERS if name != layer and may_include(layer, name)]
            self.offend(include, f"{layer} may include {', '.join(allowed) or 'nothing of ours'}; not {other}")

    def check_outside(self, include):
        layer = layer_of(include.path).split("/")[0]
        if include.target.startswith(("sagips/", "workloads/", "cli/", "python/")):
            self.offend(include, "files of ours are included with quotes")
            return
        library = library_of(include.target)
        if not library:
            if not STANDARD.match(include.target) and not POSIX.match(include.target):
                self.offend(include, "unknown library; add it to the law (tools/check_layers.py) and to "
                                     "docs/dependencies.md")
            return
        self.users[library].setdefault(include.path, include)
        if library not in OUTSIDE_OF.get(layer, ()):
            self.offend(include, f"{layer} does not use {library}")

    def check_public_headers(self):
        """A header that shows a private library is its layer's own business (and is not installed)."""
        for library, users in self.users.items():
            if library in PUBLIC_LIBRARIES:
                continue
            for path, shown in users.items():
                strangers = [name for name in self.includes if layer_of(name) != layer_of(path)
                             and path in self.reach(name, set())]
                if path.endswith(".hpp") and strangers:
                    self.offend(shown, f"{strangers[0]}, of another layer, sees {library} through this header; "
                                       "include it in a source")

    def check_single_sources(self):
        for library in ONE_SOURCE:
            paths = sorted(self.users[library])
            for path in paths[1:]:
                self.offend(self.users[library][path], f"only one source uses {library}, {paths[0]} already does")

    def reach(self, path, seen):
        """All files of ours that a file includes, directly or not, itself too."""
        if path in seen:
            return seen
        seen.add(path)
        for include in self.includes.get(path, ()):
            if include.quoted:
                self.reach(include.target, seen)
        return seen

    def check_fmt_apart(self):
        for path in self.includes:
            if not path.endswith(".cpp"):
                continue
            files = self.reach(path, set())
            formatting = [self.users[library][name] for library in ("fmt", "spdlog") for name in files
                          if name in self.users[library]]
            torch = [name for name in files if name in self.users["LibTorch"]]
            if formatting and torch:
                self.offend(formatting[0], f"{path} sees LibTorch too (through {torch[0]}), whose folder "
                                           "carries another fmt")

    def check_cycles(self):
        done, trail = set(), []

        def visit(path):
            if path in trail:
                circle = trail[trail.index(path):] + [path]
                self.offences.append(f"{circle[0]}: include cycle {' -> '.join(circle)}")
                return
            if path in done:
                return
            trail.append(path)
            for include in self.includes.get(path, ()):
                if include.quoted:
                    visit(include.target)
            trail.pop()
            done.add(path)

        for path in sorted(self.includes):
            visit(path)

    def check_targets(self):
        for layer, allowed in LAYERS.items():
            listing = self.root / "sagips" / layer / "CMakeLists.txt"
            text = re.sub(r"#.*", "", listing.read_text()) if listing.is_file() else ""
            for name, arguments in LAYER_CALL.findall(text):
                uses = re.search(r"\bUSES\b(.*?)(?=\b[A-Z_]{3,}\b|$)", arguments, re.DOTALL)
                for other in uses.group(1).split() if uses else ():
                    if name == layer and other not in allowed:
                        self.offences.append(f"sagips/{layer}/CMakeLists.txt: target {layer} USES {other}; "
                                             f"it may use {', '.join(allowed) or 'nothing of ours'}")

    def picture(self):
        """A text table: layer, what it includes, outside libraries."""
        outside = {}
        for library, paths in self.users.items():
            for path in paths:
                outside.setdefault(layer_of(path), set()).add(library)
        present = {layer_of(name) for name in self.includes}
        order = [name for name in LAYERS if name in present] + sorted(present - set(LAYERS))
        rank = {name: position for position, name in enumerate(order)}
        rows = [("layer", "includes", "outside libraries")]
        for name in order:
            rows.append((name, " ".join(sorted(self.arrows.get(name, ()), key=rank.get)),
                         " ".join(sorted(outside.get(name, ())))))
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                         for row in rows)


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    law = Law(root)
    lawful = law.check()
    print(law.picture())
    if lawful:
        print(f"include law: {len(law.includes)} files, every arrow falls")
        return 0
    print(f"include law: {len(law.offences)} offences")
    print("\n".join(law.offences))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
