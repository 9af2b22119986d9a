#!/usr/bin/env python3
"""Runs the checks that take longer than `make test`, and goes on where an earlier call stopped.

parts, in this order:
  layers   the include law
  format   clang-format has nothing to change
  tidy     clang-tidy finds nothing; sources of a folder are read together, which takes a tenth of the time
  dev      every source by itself, warnings are errors
  asan     all tests with the address and undefined-behaviour sanitizers and checked contracts
  tsan     all tests with the thread sanitizer
  long     the long tests, in the release build
  load     tests beside a load on all cores (tools/under_load.py, where it is there)

What passed is kept in build/check/PART.json with a fingerprint of all it depends on: a source with its headers, or a
test with every source, flag and script it is made of. It is run again when one of them has changed. Output is
in build/check/PART.log.

usage: tools/check.py [--changed REVISION] [--again] [--jobs N] [PART ...]
  --changed REVISION   only what files touch that differ from REVISION: those sources and one reader of each header in
                       tidy and dev, programs made of such a file in asan, those of them with processes, threads or
                       clocks in tsan, no long tests and no load
  --again              also what has passed before
exit: 0 nothing failed, 1 something did
"""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
NOTES = BUILD / "check"
TOGETHER = 12  # sources that clang-tidy reads as one: LibTorch's headers take forty seconds, a source takes one

# These tests build with compilers of their own or read the checkout: a sanitizer of this build sees none of it.
NOT_SANITIZED = re.compile(r"tools\.|consumers\.|comm_mpich$")


# --- what passed before ------------------------------------------------------------------------------

class Part:
    """The notes, the log and the counts of one part."""

    def __init__(self, name, again):
        NOTES.mkdir(parents=True, exist_ok=True)
        self.name, self.start = name, time.monotonic()
        self.file, self.log_file = NOTES / f"{name}.json", NOTES / f"{name}.log"
        self.log = self.log_file.open("w", encoding="utf-8")
        self.notes = {}
        if self.file.exists() and not again:
            self.notes = json.loads(self.file.read_text(encoding="utf-8"))
        self.passed, self.earlier, self.failed, self.skipped = 0, 0, [], []

    def say(self, text):
        print(f"check: {self.name}: {text}", flush=True)

    def is_done(self, item, key):
        done = self.notes.get(item, {}).get("key") == key
        self.earlier += done
        return done

    def take(self, item, key):
        """Notes at once that an item has passed: a check that is stopped goes on behind it."""
        self.passed += 1
        self.notes[item] = {"key": key, "when": time.strftime("%Y-%m-%d %H:%M"), "at": commit()}
        fresh = self.file.with_suffix(".new")
        fresh.write_text(json.dumps(self.notes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        fresh.replace(self.file)

    def fail(self, item):
        self.failed.append(item)
        self.say(f"FAILED: {item}")

    def run(self, command, **options):
        """Runs a command into the log; whether it ended with 0."""
        self.log.write(f"$ {shlex.join(map(str, command))}\n")
        self.log.flush()
        return subprocess.run(command, cwd=ROOT, stdout=self.log, stderr=subprocess.STDOUT, check=False,
                              **options).returncode == 0

    def summary(self):
        counts = [f"{self.passed + self.earlier} passed"]
        if self.earlier:
            counts[0] += f" ({self.earlier} in earlier calls)"
        counts += [f"{len(self.failed)} failed"] if self.failed else []
        counts += [f"{len(self.skipped)} skipped"] if self.skipped else []
        return (f"{'FAILED' if self.failed else 'ok':6} {self.name:6} {', '.join(counts)}; "
                f"{(time.monotonic() - self.start) / 60:.1f} min; {self.log_file.relative_to(ROOT)}")


@functools.cache
def commit():
    return git("describe", "--always", "--dirty", "--exclude=*")[0]


def git(*arguments):
    return subprocess.run(["git", "-c", f"safe.directory={ROOT}", *arguments], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.splitlines()


# --- what an item depends on -------------------------------------------------------------------------

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@functools.cache
def includes(file):
    """The files of the checkout that a file includes; ours are written from the top."""
    found = (candidate for name in INCLUDE.findall(file.read_text(encoding="utf-8", errors="replace"))
             for candidate in (ROOT / name, file.parent / name))
    return frozenset(candidate for candidate in found if candidate.is_file())


@functools.cache
def closure(file):
    seen, waiting = set(), [file]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(includes(current))
    return frozenset(seen)


@functools.cache
def content(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def fingerprint(files, *texts):
    lines = sorted(f"{content(file)} {file.relative_to(ROOT)}" for file in files if BUILD not in file.parents)
    return hashlib.sha256("\n".join([*lines, *texts]).encode()).hexdigest()[:20]


@functools.cache
def checkout_files():
    return frozenset(path for name in git("ls-files", "--cached", "--others", "--exclude-standard")
                     if (path := ROOT / name).is_file() and not path.is_symlink())


@functools.cache
def changed_files(revision):
    names = git("diff", "--name-only", revision) + git("ls-files", "--others", "--exclude-standard")
    return frozenset(ROOT / name for name in names)


def touched_sources(sources, revision):
    """The sources that differ from a revision, and of every header that differs the source of its name or another
    that includes it."""
    changed = changed_files(revision)
    chosen = {source for source in sources if source in changed}
    for header in sorted(file for file in changed if file.suffix == ".hpp"):
        readers = [source for source in sources if header in closure(source)]
        if readers and not chosen.intersection(readers):
            chosen.add(min(readers, key=lambda source: (source.stem != header.stem, source)))
    return sorted(chosen)


# --- parts without a build ---------------------------------------------------------------------------

def layers(part, arguments):
    del arguments
    whole(part, [ROOT / "tools/check_layers.py"])


def formatting(part, arguments):
    del arguments
    whole(part, [ROOT / "tools/format.sh", "--check"])


def load(part, arguments):
    script = ROOT / "tools/under_load.py"
    if arguments.changed or not script.exists():
        part.skipped.append(script.name)
        return
    if configure("release", part) and build("release", part):
        whole(part, [script])
    else:
        part.fail("build")


def whole(part, command):
    """A command over everything, as one item."""
    key = fingerprint(file for file in checkout_files() if file.suffix != ".md")
    if not part.is_done("all", key):
        part.take("all", key) if part.run(command) else part.fail("all")


# --- builds ------------------------------------------------------------------------------------------

def configure(preset, part):
    if part.run(["cmake", "--preset", preset, "--log-level=WARNING", "-DSAGIPS_BUILD_TESTS=ON"]):
        return True
    part.fail(f"cmake --preset {preset}")
    return False


def build(preset, part, targets=()):
    """Builds, and goes on behind errors so that one call shows them all."""
    part.say(f"building {f'{len(targets)} targets of ' if targets else ''}build/{preset}")
    return part.run([ROOT / "tools/build.sh", preset, *targets], env={**os.environ, "SAGIPS_KEEP_GOING": "1"})


def compile_commands(preset):
    """Source of the checkout: the command that compiles it. Generated sources are left out."""
    entries = json.loads((BUILD / preset / "compile_commands.json").read_text(encoding="utf-8"))
    return {file: entry["command"] for entry in entries if BUILD not in (file := pathlib.Path(entry["file"])).parents}


def dev(part, arguments):
    if not configure("dev", part):
        return
    targets = []
    if arguments.changed:
        targets = [f"{source}^" for source in touched_sources(compile_commands("dev"), arguments.changed)]
        if not targets:
            return
    if build("dev", part, targets):
        part.passed += len(targets) or len(compile_commands("dev"))
    else:
        part.fail("a source: its warnings are in the log")


# --- clang-tidy --------------------------------------------------------------------------------------

FINDING = re.compile(r"^(/[^:\n]+):\d+:\d+: (?:error|warning): .*\[.*\]$", re.MULTILINE)


def tidy(part, arguments):
    if not configure("tidy", part) or not part.run(["cmake", "--build", BUILD / "tidy", "--target",
                                                    "sagips_version_source"]):
        return
    commands = compile_commands("tidy")
    sources = touched_sources(commands, arguments.changed) if arguments.changed else sorted(commands)
    waiting = collections.defaultdict(list)
    for source in sources:
        flags = clang_flags(commands[source])
        key = fingerprint(closure(source) | {ROOT / ".clang-tidy"}, *flags)
        if not part.is_done(str(source.relative_to(ROOT)), key):
            program = source if "int main(" in source.read_text(encoding="utf-8") else None
            waiting[source.parent, flags, program].append((source, key))
    batches = [(flags, items[begin:begin + TOGETHER]) for (_, flags, _), items in waiting.items()
               for begin in range(0, len(items), TOGETHER)]
    batches.sort(key=lambda batch: -len(batch[1]))  # first what says most a minute
    part.say(f"{sum(len(items) for _, items in batches)} of {len(sources)} sources to read")
    read_all(part, arguments.jobs, batches)


def read_all(part, jobs, batches):
    """Reads sources together, and by themselves where they do not go together."""
    shown = set()
    with concurrent.futures.ThreadPoolExecutor(jobs) as workers:
        runs = {workers.submit(run_tidy, *batch): batch for batch in batches}
        try:
            while runs:
                for run in concurrent.futures.wait(runs, return_when=concurrent.futures.FIRST_COMPLETED).done:
                    flags, items = runs.pop(run)
                    if len(items) > 1 and "[clang-diagnostic-error" in run.result():
                        runs.update({workers.submit(run_tidy, flags, [item]): (flags, [item]) for item in items})
                    else:
                        take_findings(part, items, run.result(), shown)
        finally:  # stopped: what has not begun never begins
            workers.shutdown(cancel_futures=True)


def clang_flags(command):
    words = shlex.split(command)[1:]
    without = [word for position, word in enumerate(words)
               if word not in ("-c", "-o") and (position == 0 or words[position - 1] not in ("-c", "-o"))]
    return tuple(without)


def run_tidy(flags, items):
    """What clang-tidy says about sources that are read as one."""
    together = BUILD / "tidy" / f"together_{items[0][1]}_{len(items)}.cpp"
    together.write_text("".join(f'#include "{source}"\n' for source, _ in items), encoding="utf-8")
    # Sources are included here by intention, are headers to clang-tidy, and see what their neighbours name.
    # Kernels, which tests include, too, are not read: they count places in 32 bits, as GPUs do.
    together_flags = ["-Wno-shadow"] if len(items) > 1 else []
    command = ["clang-tidy", "--quiet", "--checks=-bugprone-suspicious-include",
               f"--header-filter=^{ROOT}/(sagips|workloads|cli|bench|tests|examples)/.*[ph]$", together,
               "--", *flags, *together_flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    together.unlink()
    if done.returncode and not FINDING.search(done.stdout):
        return f"{together}:1:1: error: clang-tidy ended with {done.returncode} [no-answer]\n{done.stdout}{done.stderr}"
    return done.stdout


def take_findings(part, items, output, shown):
    """A source passes when nothing is found in it or in a header it includes."""
    if output not in shown:
        part.log.write(output)
        part.log.flush()
    shown.add(output)
    found_in = {pathlib.Path(path) for path in FINDING.findall(output)}
    ugly = {source for source, _ in items if found_in & closure(source)}
    if "[clang-diagnostic-error" in output or (found_in and not ugly):  # nobody knows what was not read
        ugly = {source for source, _ in items}
    for source, key in items:
        name = str(source.relative_to(ROOT))
        if source in ugly:
            part.fail(name)
        else:
            part.take(name, key)


# --- tests -------------------------------------------------------------------------------------------

def asan(part, arguments):
    tests("asan", part, arguments, ["ctest", "--preset", "asan"], SHORT)


def tsan(part, arguments):
    # g++ 12 cannot place its shadow memory where the kernel spreads addresses widely.
    tests("tsan", part, arguments, ["setarch", "-R", "ctest", "--preset", "tsan"],
          THREADED if arguments.changed else SHORT)


def long(part, arguments):
    if arguments.changed:
        part.skipped.append("long tests")
        return
    tests("release", part, arguments, ["ctest", "--test-dir", "build/release", "-V"], LONG)


def tests(preset, part, arguments, ctest, labels):
    if not configure(preset, part):
        return
    wanted = {name: found for name, found in listed_tests(preset, labels).items()
              if not arguments.changed or changed_files(arguments.changed) & found.files}
    programs = sorted({program for found in wanted.values() for program in found.programs})
    if not wanted:
        return
    if not build(preset, part, programs if arguments.changed or labels == LONG else ()):
        part.fail("build")
        return
    keys = {name: found.key for name, found in listed_tests(preset, labels).items()
            if not arguments.changed or changed_files(arguments.changed) & found.files}
    waiting = [name for name, key in keys.items() if not part.is_done(name, key)]
    part.say(f"{len(waiting)} of {len(keys)} tests to run")
    for begin in range(0, len(waiting), 100):  # the pattern of names must not grow over all bounds
        run_tests(part, [*ctest, *labels], arguments.jobs, {name: keys[name] for name in waiting[begin:begin + 100]})


SHORT, THREADED, LONG = ("-LE", "^long"), ("-LE", "^long", "-L", "-timing$"), ("-L", "^long")
Test = collections.namedtuple("Test", "programs files key")


def listed_tests(preset, labels):
    """Name: what the test is made of. A program that is not built yet has no labels and stands for its tests."""
    listings = [subprocess.run(["ctest", "--test-dir", BUILD / preset, *selection, "--show-only=json-v1"], cwd=ROOT,
                               capture_output=True, text=True, check=True).stdout
                for selection in (["-R", "_NOT_BUILT$"], labels)]
    found = {}
    for test in [test for listing in listings for test in json.loads(listing)["tests"]]:
        properties = {entry["name"]: entry["value"] for entry in test["properties"]}
        name, command = test["name"], test.get("command", [])
        if name.endswith("_NOT_BUILT"):
            command = [f"{properties['WORKING_DIRECTORY']}/{name.removesuffix('_NOT_BUILT')}"]
        if preset == "release" or not NOT_SANITIZED.match(name):
            found[name] = made_of(preset, tuple(command))
    return found


@functools.cache
def made_of(preset, command):
    folder = BUILD / preset
    paths = [pathlib.Path(word) for word in command if word.startswith(f"{ROOT}/")]
    programs = [str(path.relative_to(folder)) for path in paths if folder in path.parents]
    files = {CMAKE_PRESETS, *(ROOT / "tools").glob("*.supp")}
    flags = []
    for program in programs:
        program_files, program_flags = made_by(preset, program)
        files |= program_files
        flags.append(program_flags)
    for path in paths:
        if path.suffix == ".py":
            files |= set(path.parent.glob("*.py"))
    return Test(programs, frozenset(files), fingerprint(files, *flags, *command))


CMAKE_PRESETS = ROOT / "CMakePresets.json"


@functools.cache
def made_by(preset, program):
    """The files of the checkout that the commands which make a program name or include, and those commands."""
    commands = subprocess.run(["ninja", "-C", BUILD / preset, "-t", "commands", program], cwd=ROOT,
                              capture_output=True, text=True, check=False).stdout
    files = set()
    if f'=\\"{ROOT}\\"' in commands:  # the test may read any file of ours
        files |= {file for file in checkout_files() if file.suffix not in (".cpp", ".hpp", ".md", ".py")}
    for word in set(re.findall(rf"{re.escape(str(ROOT))}/[\w./+-]+", commands)):
        path = pathlib.Path(word)
        if path.suffix in (".cpp", ".cxx") and path.is_file():
            files |= closure(path)
        elif path.is_file() and BUILD not in path.parents:
            files.add(path)
        elif path.is_dir() and ROOT / "tests" in path.parents:  # data, given as a definition
            files |= {file for file in checkout_files() if path in file.parents}
    return frozenset(files), commands


RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (.+?) \.*\s*(Passed|\*\*\*Skipped|\*\*\*.*?)\s+[\d.]+ sec")


def run_tests(part, ctest, jobs, keys):
    pattern = "^(" + "|".join(re.escape(name).replace("/", "[/]") for name in keys) + ")$"
    command = [*ctest, "--output-on-failure", "--parallel", str(jobs), "-R", pattern]
    open_tests = set(keys)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        for line in process.stdout:
            part.log.write(line)
            result = RESULT.match(line)
            if result and result[1] in open_tests:
                part.log.flush()
                open_tests.discard(result[1])
                if result[2] == "Passed":
                    part.take(result[1], keys[result[1]])
                elif "Skipped" in result[2]:
                    part.skipped.append(result[1])
                else:
                    part.fail(f"{result[1]} {result[2]}")
    for name in sorted(open_tests):
        part.fail(f"{name} without a result")


# -----------------------------------------------------------------------------------------------------

PARTS = {"layers": layers, "format": formatting, "tidy": tidy, "dev": dev, "asan": asan, "tsan": tsan, "long": long,
         "load": load}


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("tools/"):], add_help=True)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--changed", metavar="REVISION")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    unknown = [name for name in arguments.parts if name not in PARTS]
    if unknown:
        parser.error(f"unknown part '{unknown[0]}'. Known: {', '.join(PARTS)}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    done = []
    try:
        for name in arguments.parts or PARTS:
            part = Part(name, arguments.again)
            done.append(part)
            part.say("...")
            PARTS[name](part, arguments)
    except KeyboardInterrupt:
        done[-1].fail("stopped")
    finally:
        print("\n".join(part.summary() for part in done))
    return 1 if any(part.failed for part in done) else 0


if __name__ == "__main__":
    sys.exit(main())
