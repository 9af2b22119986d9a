#!/usr/bin/env python3
"""Finds a LibTorch to build against, without importing torch (a slim wheel cannot be imported).

Looks in this order and takes the first that can be used:
  SAGIPS_TORCH       a LibTorch folder, or the torch folder of a Python environment
  active Python      the torch package of the `python3` that PATH finds
  .venv              the environment that tools/setup.sh makes inside the checkout

Prints one line, "<folder>;<version>;<origin>", and why candidates were passed over on standard error.
exit: 0 found, 1 nothing found, 2 SAGIPS_TORCH is set but cannot be used
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

OLDEST = (2, 4)
TESTED = (2, 11)
HEADER = "include/torch/csrc/api/include/torch/torch.h"
LIBRARIES = ("lib/libtorch_cpu.so", "lib/libc10.so")
VERSION_HEADERS = (
    "include/torch/headeronly/version.h",
    "include/torch/version.h",
    "include/torch/csrc/api/include/torch/version.h",
)
SPEC_PROGRAM = (
    "import importlib.util as u; s = u.find_spec('torch'); "
    "print((s.submodule_search_locations or [''])[0] if s else '')"
)


def version_of(folder):
    """Version as (text, (major, minor)), read from the headers; ("", ()) when they do not tell."""
    for name in VERSION_HEADERS:
        path = folder / name
        if not path.is_file():
            continue
        text = path.read_text(errors="replace")
        parts = [re.search(rf"define\s+TORCH_VERSION_{part}\s+(\d+)", text)
                 for part in ("MAJOR", "MINOR", "PATCH")]
        if all(parts):
            numbers = tuple(int(part.group(1)) for part in parts)
            return ".".join(map(str, numbers)), numbers[:2]
    return "", ()


def objection(folder):
    """Why the folder cannot be used; empty when it can."""
    if not folder.is_dir():
        return "there is no such folder"
    for name in (HEADER, *LIBRARIES):
        if not (folder / name).exists():
            return f"it has no {name}"
    text, numbers = version_of(folder)
    if not numbers:
        return "its headers do not tell the version"
    if numbers < OLDEST:
        return f"version {text} is older than {OLDEST[0]}.{OLDEST[1]}"
    if b"__cxx1112basic_string" not in (folder / "lib/libc10.so").read_bytes():
        return "it was built with the old C++ string ABI and cannot be linked with Debian's libraries"
    return ""


def active_python():
    """The torch package's folder in the python3 that PATH finds; None without one."""
    try:
        done = subprocess.run(["python3", "-c", SPEC_PROGRAM], capture_output=True, text=True,
                              timeout=20, cwd="/", check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = done.stdout.strip()
    return pathlib.Path(found) if done.returncode == 0 and found else None


def in_checkout(checkout):
    """The torch folders of the checkout's own environment."""
    return sorted(checkout.glob(".venv/lib/python3*/site-packages/torch"))


def inside(folder, other):
    return other.resolve() in folder.resolve().parents


def report(folder, origin):
    text, numbers = version_of(folder)
    if numbers != TESTED:
        print(f"note: LibTorch {text} ({origin}) is used; SAGIPS is tested with "
              f"{TESTED[0]}.{TESTED[1]}", file=sys.stderr)
    print(f"{folder};{text};{origin}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--own", action="store_true",
                        help="only what the user offers: leave the checkout's .venv out")
    arguments = parser.parse_args()

    named = os.environ.get("SAGIPS_TORCH", "")
    if named:
        reason = objection(pathlib.Path(named))
        if not reason:
            return report(pathlib.Path(named), "SAGIPS_TORCH")
        print(f"SAGIPS_TORCH={named} cannot be used: {reason}. "
              "Give a folder with include/ and lib/ of LibTorch, or unset it.", file=sys.stderr)
        return 2

    candidates = []
    active = active_python()
    if active and not inside(active, arguments.checkout):
        candidates.append((active, "active Python"))
    if not arguments.own:
        candidates += [(folder, ".venv") for folder in in_checkout(arguments.checkout)]
    for folder, origin in candidates:
        reason = objection(folder)
        if not reason:
            return report(folder, origin)
        print(f"{folder} ({origin}) is passed over: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
