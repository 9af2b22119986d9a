#!/usr/bin/env python3
"""Runs the long tests (CTest label "long"), one after the other, and goes on where an earlier call stopped.

A test that passes leaves build/long/NAME.passed, which holds when and at which commit, and its output in
build/long/NAME.log. A test with that stamp is skipped: remove the stamp, or the folder, to run it again.

usage: tools/run_long.py BUILD-FOLDER
exit: 0 all passed, now or earlier; 1 some did not
"""
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAMPS = ROOT / "build" / "long"


def long_tests(build):
    listing = subprocess.run(["ctest", "--test-dir", build, "-L", "^long$", "--show-only=json-v1"],
                             capture_output=True, text=True, check=True).stdout
    return [test["name"] for test in json.loads(listing)["tests"]]


def commit():
    done = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def run(build, name, log):
    """Whether the test passed; skipped counts as not."""
    pattern = "^" + re.escape(name) + "$"
    with log.open("w", encoding="utf-8") as output:
        done = subprocess.run(["ctest", "--test-dir", build, "-R", pattern, "-L", "^long$", "-V"],
                              stdout=output, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0 and "***Skipped" not in log.read_text(encoding="utf-8", errors="replace")


def main(build):
    STAMPS.mkdir(parents=True, exist_ok=True)
    names = long_tests(build)
    failed = []
    for name in names:
        file_name = re.sub(r"[^\w.-]", "_", name)
        stamp, log = STAMPS / f"{file_name}.passed", STAMPS / f"{file_name}.log"
        if stamp.exists():
            print(f"long: {name}: {stamp.read_text(encoding='utf-8').strip()}; skipped", flush=True)
            continue
        print(f"long: {name} ...", flush=True)
        start = time.monotonic()
        if run(build, name, log):
            text = f"passed at {commit()}, {time.strftime('%Y-%m-%d %H:%M')}, in {time.monotonic() - start:.0f} s"
            stamp.write_text(text + "\n", encoding="utf-8")
            print(f"long: {name}: {text}", flush=True)
        else:
            failed.append(name)
            print(f"long: {name}: FAILED or skipped, see {log.relative_to(ROOT)}", flush=True)
    print(f"long: {len(names) - len(failed)} of {len(names)} tests passed; their stamps and logs are in "
          "build/long/. A stamped test is skipped next time: remove its .passed file to run it again.")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
