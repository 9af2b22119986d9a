#!/usr/bin/env python3
"""Runs the tests beside a load on all cores: the short suite once, then what has processes, threads or clocks
(label "...-timing", cmake/SagipsTest.cmake) many times. A test that fails here depends on the machine's mood.

usage: tools/under_load.py [--build FOLDER] [--times N] [--load N] [--tests REGEX] [--only-timing]
  --build FOLDER   of the tests; default build/release
  --times N        that each timing test is run; default 10
  --load N         busy processes beside them; default one a core
  --tests REGEX    only tests whose names fit
  --only-timing    leave the suite out
Output is in FOLDER/under_load/. The last line is the summary.
exit: 0 no test failed, 1 some did
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100000))"  # ends with its parent


def has_failed(case):
    """A test that could not be started is reported as skipped; those that skip themselves say SKIP_... ."""
    skipped = case.find("skipped")
    unable = skipped is not None and not skipped.get("message", "").startswith(("SKIP_", "Disabled"))
    return unable or case.find("failure") is not None


def run_tests(build, part, options):
    """How many tests ran, and the names of those that failed."""
    folder = build / "under_load"
    folder.mkdir(exist_ok=True)
    report, log = folder / f"{part}.xml", folder / f"{part}.log"
    report.unlink(missing_ok=True)
    with log.open("w", encoding="utf-8") as output:
        subprocess.run(["ctest", "--test-dir", str(build), "--output-on-failure", "--output-junit", str(report),
                        "--parallel", str(os.cpu_count()), *options],
                       stdout=output, stderr=subprocess.STDOUT, check=False)
    if not report.exists():
        return 0, [f"the {part} (see {log})"]
    cases = xml.etree.ElementTree.parse(report).getroot().findall("testcase")
    return len(cases), sorted({case.get("name") for case in cases if has_failed(case)})


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--load", type=int, default=os.cpu_count())
    parser.add_argument("--tests", default=".")
    parser.add_argument("--only-timing", action="store_true")
    options = parser.parse_args()
    build, start = options.build.resolve(), time.monotonic()
    some = ["--label-exclude", "^long", "--tests-regex", options.tests]
    often = [*some, "--label-regex", "timing$", "--repeat", f"until-fail:{options.times}"]
    load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(options.load)]
    try:
        once = (0, []) if options.only_timing else run_tests(build, "suite", some)
        many = run_tests(build, "timing", often)
    finally:
        for process in load:
            process.kill()
    failed = sorted({*once[1], *many[1]}) or ([] if once[0] + many[0] else ["no test found"])
    counts = f"{once[0]} tests once and {many[0]} tests {options.times} times beside {options.load} busy processes"
    minutes = (time.monotonic() - start) / 60
    print(f"under load: {counts}, {minutes:.0f} min: {'failed: ' + ', '.join(failed) if failed else 'no failure'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
