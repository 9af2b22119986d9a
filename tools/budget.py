#!/usr/bin/env python3
"""Times `make demo` and `make test` by their parts and compares them with the budget of docs/build.md.

Run in a fresh clone on a bare system; what is there already takes no time, and the first line says so. A part's
processor time is that of all its processes; on a machine that others use, it says more than the minutes.

usage: tools/budget.py [demo | test]     default: test, which comes after the demo
exit: 0 within the budget, 1 over it, 2 something failed
"""
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEMO = [("set-up of the demo", "tools/setup.sh demo"), ("build and run of the demo", "make demo")]
TEST = [("set-up of the tests", "tools/setup.sh tests"),
        ("rest of the build", "make test-build"), ("tests", "make test")]
BUDGET_MIN = {"make demo": 6, "make test": 20}


def measured(command):
    """Seconds and processor seconds of a command."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command.split(), cwd=ROOT, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        print(f"budget: {command} ended with {status}", file=sys.stderr)
        sys.exit(2)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, used


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "an unnamed processor"


def minutes(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def main(last):
    there = [name for name in (".venv", "build/release/CMakeCache.txt") if (ROOT / name).exists()]
    lines = [f"budget: on {len(os.sched_getaffinity(0))} cores of {processor()}"
             + (f"; not from nothing, {' and '.join(there)} was there" if there else "")]
    over = False
    for command, parts in (("make demo", DEMO), ("make test", TEST))[:1 if last == "demo" else 2]:
        total = 0.0
        for name, part in parts:
            seconds, used = measured(part)
            total += seconds
            lines.append(f"  {name:28} {minutes(seconds):>6}   processor {minutes(used):>6}")
        fits = total <= 60 * BUDGET_MIN[command]
        over = over or not fits
        lines.append(f"  {command:28} {minutes(total):>6}   of {BUDGET_MIN[command]}:00   {'OK' if fits else 'OVER'}")
    print("\n".join(lines))
    return 1 if over else 0


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[-1] not in (sys.argv[0], "demo", "test"):
        print(__doc__)
        sys.exit(2)
    sys.exit(main(sys.argv[-1]))
