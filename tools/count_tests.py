#!/usr/bin/env python3
"""Says in one line what the last `ctest` ran, by cases: CTest counts suites, and a suite whose other cases ran counts as
passed. Each case that was skipped, or failed, is named on a line of its own before.

usage: tools/count_tests.py BUILD-FOLDER
"""
import pathlib
import re
import sys

TEST = re.compile(r"^\d+/\d+ Testing: (.+)$", re.MULTILINE)
CASE = re.compile(r"^\[ +(OK|SKIPPED|FAILED) +\] ([\w/]+\.[\w/]+)(?:, where .*)? \(\d+ ms\)$", re.MULTILINE)
VERDICT = re.compile(r"^Test (Passed|Failed|Timeout|Not Run|Skipped|.*?)\.$", re.MULTILINE)


def reason_of(output, position):
    """What GTEST_SKIP() << "reason" printed before the line at the position."""
    lines = output[:position].rstrip().splitlines()
    return lines[-1].strip() if lines and not lines[-1].startswith("[") else "no reason given"


def main(build):
    log = pathlib.Path(build, "Testing/Temporary/LastTest.log").read_text(encoding="utf-8", errors="replace")
    pieces = TEST.split(log)[1:]
    counts = {"OK": 0, "SKIPPED": 0, "FAILED": 0}
    for name, output in zip(pieces[::2], pieces[1::2]):
        if "--gtest_filter=" not in output:
            continue
        for case in CASE.finditer(output):
            state, case_name = case.groups()
            counts[state] += 1
            if state == "SKIPPED":
                print(f"test: skipped: {case_name} ({reason_of(output, case.start())})")
            elif state == "FAILED":
                print(f"test: failed: {case_name}, in {name}")
    print(f"test: {len(pieces) // 2} tests of CTest; of the {sum(counts.values())} cases in their suites "
          f"{counts['OK']} passed, {counts['SKIPPED']} were skipped, {counts['FAILED']} failed")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
