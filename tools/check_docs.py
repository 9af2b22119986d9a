#!/usr/bin/env python3
"""Runs the commands that README.md and docs/*.md show, so that no page tells a reader something that fails.

Every fenced block marked `sh` is run, with bash, line after line until one fails. The blocks of one page share a
scratch copy of the checkout, in the order of the page, with the built programs on PATH. Blocks marked `console` or
`text` are not commands. A block that must not run here (it installs software, it takes an hour) has the line
    <!-- not run: reason -->
above it; such blocks are listed, and their `make` targets are still looked up in the Makefile.

Links to files of the checkout must lead somewhere, README.md lists every guide by its title, and lines have at most 120 characters, but for code, tables and
pictures.
A whole program in a `cpp` block (it has a main) must be a file of examples/, word for word: those are compiled.

usage: tools/check_docs.py [--list] [--path FOLDER] [PAGE ...]
exit: 0 all blocks ran, 1 some did not
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "build", "runs", "__pycache__", ".cache")
NOT_RUN = re.compile(r"<!--\s*not run:\s*(.+?)\s*-->")
MOST_CHARACTERS = 120
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*([\w-]*)")
TIMEOUT_S = 600


@dataclasses.dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    reason: str  # why it is not run; empty when it is


def blocks_of(page, text):
    """The `sh` and `cpp` blocks of a page."""
    found, reason, body, indent, fence, start, language = [], "", None, "", "", 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if body is None:
            opening = FENCE.match(line)
            if opening:
                indent, fence, language = opening.groups()
                body, start = [], number + 1
            elif NOT_RUN.search(line):
                reason = NOT_RUN.search(line).group(1)
            elif line.strip():
                reason = ""
        elif line.strip() == fence:
            if language in ("sh", "cpp"):
                found.append(Block(page, start, language, "\n".join(body) + "\n", reason))
            body, reason = None, ""
        else:
            body.append(line.removeprefix(indent))
    return found


def unknown_targets(block):
    """The `make` targets of a block that the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"^\s*(?:sudo\s+)?make\s+([a-z][\w-]*)", block.text, re.MULTILINE)
    return [name for name in named if not re.search(rf"^{re.escape(name)}:", makefile, re.MULTILINE)]


def dead_links(path, text):
    """Relative links of a page that lead to no file."""
    links = re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)", text)
    return [link for link in links if not (path.parent / link).exists()]


def unlisted_guides(readme):
    """Guides that no link of README.md names by their titles."""
    guides = sorted((ROOT / "docs/guides").glob("*.md"))
    titles = [guide.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for guide in guides]
    return [guide.name for guide, title in zip(guides, titles) if f"[{title}](docs/guides/{guide.name})" not in readme]


def long_lines(text):
    """Numbers of the lines of prose that are too long."""
    found, in_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= bool(FENCE.match(line))
        if len(line) > MOST_CHARACTERS and not in_code and not line.startswith(("|", "![")):
            found.append(number)
    return found


def is_example(block):
    """Whether a block without a main, or a file of examples/."""
    if "int main(" not in block.text:
        return True
    return any(path.read_text(encoding="utf-8").strip() == block.text.strip()
               for path in (ROOT / "examples").rglob("*.cpp"))


def run(block, folder, environment):
    """Empty when the block ran, else what it printed."""
    try:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block.text], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"took longer than {TIMEOUT_S} s"
    return "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout[-2000:]}"


def check_page(page, blocks, environment):
    """How many blocks failed."""
    failures = 0
    for block in blocks:
        if block.language == "cpp" and not is_example(block):
            failures += 1
            print(f"docs: {page}:{block.line}: FAILED: this program is no file of examples/, so nothing compiles it")
    blocks = [block for block in blocks if block.language == "sh"]
    with tempfile.TemporaryDirectory(prefix="sagips-docs-") as scratch:
        folder = pathlib.Path(scratch, "checkout")
        if any(not block.reason for block in blocks):
            shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
        for block in blocks:
            first = block.text.strip().splitlines()[0] if block.text.strip() else ""
            for name in unknown_targets(block):
                failures += 1
                print(f"docs: {page}:{block.line}: FAILED: the Makefile has no target '{name}'")
            if block.reason:
                print(f"docs: {page}:{block.line}: not run ({block.reason}): {first}")
                continue
            start = time.monotonic()
            trouble = run(block, folder, environment)
            state = "FAILED" if trouble else "ran"
            print(f"docs: {page}:{block.line}: {state} in {time.monotonic() - start:.1f} s: {first}", flush=True)
            if trouble:
                failures += 1
                print("    " + trouble.replace("\n", "\n    "))
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="show the blocks, run nothing")
    parser.add_argument("--path", type=pathlib.Path, help="folder of the built sagips, put first on PATH")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, help="default: README.md and docs/**/*.md")
    arguments = parser.parse_args()

    # mpirun refuses root unless told; pages say so, readers are rarely root
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if arguments.path:
        environment["PATH"] = f"{arguments.path.resolve()}{os.pathsep}{environment['PATH']}"
    pages = arguments.pages or [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
                                if path.is_file()]
    ran = failures = 0
    for path in pages:
        page = os.path.relpath(path, ROOT)
        text = path.read_text(encoding="utf-8")
        blocks = blocks_of(page, text)
        commands = [block for block in blocks if block.language == "sh"]
        if arguments.list:
            for block in commands:
                print(f"{page}:{block.line}: {'not run: ' + block.reason if block.reason else 'run'}\n{block.text}")
            continue
        for link in dead_links(path, text):
            failures += 1
            print(f"docs: {page}: FAILED: its link to {link} leads nowhere")
        for guide in unlisted_guides(text) if path.resolve() == ROOT / "README.md" else []:
            failures += 1
            print(f"docs: {page}: FAILED: it does not list docs/guides/{guide} by its title")
        for number in long_lines(text):
            failures += 1
            print(f"docs: {page}:{number}: FAILED: it has more than {MOST_CHARACTERS} characters")
        failures += check_page(page, blocks, environment)
        ran += sum(not block.reason for block in commands)
    if not arguments.list:
        print(f"docs: {ran} blocks of {len(pages)} pages run, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
