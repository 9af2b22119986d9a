"""The tool that runs the checks, on a scratch checkout of three programs and with a clang-tidy that is a script."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"

PRESETS = """
{"version": 3,
 "configurePresets": [
   {"name": "asan", "generator": "Ninja", "binaryDir": "${sourceDir}/build/asan"},
   {"name": "tsan", "inherits": "asan", "binaryDir": "${sourceDir}/build/tsan"},
   {"name": "dev", "inherits": "asan", "binaryDir": "${sourceDir}/build/dev",
    "cacheVariables": {"CMAKE_CXX_FLAGS": "-Wall -Werror"}},
   {"name": "tidy", "inherits": "asan", "binaryDir": "${sourceDir}/build/tidy"}],
 "buildPresets": [{"name": "asan", "configurePreset": "asan"}],
 "testPresets": [{"name": "asan", "configurePreset": "asan"}, {"name": "tsan", "configurePreset": "tsan"}]}
"""

CMAKE = """
cmake_minimum_required(VERSION 3.22)
project(scratch CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
add_custom_target(sagips_version_source)
set(label fast)
foreach(name one two three)
  add_executable(${name} sagips/${name}.cpp)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  add_test(NAME suite.${name} COMMAND env $<TARGET_FILE:${name}>)  # ctest lists the words of what is not built, too
  set_tests_properties(suite.${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
  add_test(NAME Long.suite.${name} COMMAND env $<TARGET_FILE:${name}>)
  set(label fast-timing)
  set_tests_properties(Long.suite.${name} PROPERTIES LABELS long)
endforeach()
"""

CLANG_TIDY = """#!/usr/bin/env python3
import pathlib, re, sys
together = next(word for word in sys.argv if "together_" in word and word.endswith(".cpp"))
sources = [pathlib.Path(name) for name in re.findall('"(.*)"', pathlib.Path(together).read_text())]
headers = {name for source in sources for name in re.findall('"(.*)"', source.read_text())}
found = False
for file in [*sources, *(pathlib.Path.cwd() / name for name in sorted(headers))]:
    if "ALONE" in file.read_text() and len(sources) > 1:
        print(f"{file}:1:1: error: redefinition [clang-diagnostic-error]")
        found = True
    if "BROKEN" in file.read_text():
        print("/usr/include/c++/12/concepts:72:30: error: recursive [clang-diagnostic-error]")
        found = True
    if "UGLY" in file.read_text():
        print(f"{file}:1:1: error: it is ugly [scratch-ugly,-warnings-as-errors]")
        found = True
with open("build/read", "a") as read:
    read.write(" ".join(source.stem for source in sources) + "\\n")
sys.exit(found)
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("check.py", "build.sh"):
            self.write(f"tools/{name}", (TOOLS / name).read_text(encoding="utf-8"), executable=True)
        self.write("CMakePresets.json", PRESETS)
        self.write("CMakeLists.txt", CMAKE)
        self.write(".gitignore", "/build/\n")
        self.write(".clang-tidy", "")
        self.write("sagips/shared.hpp", "inline int answer() { return 0; }\n")
        for name in ("one", "two"):
            self.write(f"sagips/{name}.cpp", '#include "sagips/shared.hpp"\nint main() { return answer(); }\n')
        self.write("sagips/three.cpp", "int main() { return 0; }\n")
        self.write("programs/clang-tidy", CLANG_TIDY, executable=True)
        self.environment = {**os.environ, "PATH": f"{self.folder}/programs:{os.environ['PATH']}"}
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message=start")

    def write(self, name, text, executable=False):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        if executable:
            path.chmod(0o755)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.folder, check=True)

    def check(self, *arguments):
        done = subprocess.run([self.folder / "tools/check.py", *arguments], capture_output=True, text=True,
                              env=self.environment, cwd=self.folder, check=False)
        self.assertEqual(done.stderr, "")
        return done

    def summary(self, *arguments):
        """The exit code, and the summary up to its time."""
        done = self.check(*arguments)
        return done.returncode, done.stdout.splitlines()[-1].split(";")[0]


class Tests(Scratch):
    def test_what_passed_is_run_again_only_when_something_it_is_made_of_changed(self):
        self.assertEqual(self.summary("asan"), (0, "ok     asan   3 passed"))
        self.assertEqual(self.summary("asan"), (0, "ok     asan   3 passed (3 in earlier calls)"))
        self.write("sagips/shared.hpp", "inline int answer() { return 1 - 1; }\n")
        self.assertEqual(self.summary("asan"), (0, "ok     asan   3 passed (1 in earlier calls)"))
        self.assertEqual(self.summary("--again", "asan"), (0, "ok     asan   3 passed"))

    def test_a_failure_is_named_and_run_again(self):
        self.write("sagips/two.cpp", "int main() { return 1; }\n")
        self.write("sagips/three.cpp", "int main() { return 77; }\n")
        done = self.check("asan")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED: suite.two", done.stdout)
        self.assertEqual(self.summary("asan"),
                         (1, "FAILED asan   1 passed (1 in earlier calls), 1 failed, 1 skipped"))

    def test_changed_builds_and_runs_only_what_a_change_touched(self):
        self.assertEqual(self.summary("--changed", "HEAD", "asan"), (0, "ok     asan   0 passed"))
        self.write("sagips/shared.hpp", "inline int answer() { return 1 - 1; }\n")
        self.assertEqual(self.summary("--changed", "HEAD", "asan"), (0, "ok     asan   2 passed"))
        self.assertFalse((self.folder / "build/asan/three").exists())
        self.assertEqual(self.summary("--changed", "HEAD", "tsan"), (0, "ok     tsan   1 passed"))

    def test_a_build_that_fails_fails(self):
        self.write("sagips/two.cpp", "int main() { return nothing; }\n")
        self.assertEqual(self.summary("asan"), (1, "FAILED asan   0 passed, 1 failed"))


class Warnings(Scratch):
    def test_one_reader_of_a_header_that_changed_is_compiled(self):
        self.write("sagips/shared.hpp", "inline int answer() { int unused; return 0; }\n")
        self.assertEqual(self.summary("--changed", "HEAD", "dev"), (1, "FAILED dev    0 passed, 1 failed"))
        self.write("sagips/shared.hpp", "inline int answer() { return 0 + 0; }\n")
        self.assertEqual(self.summary("--changed", "HEAD", "dev"), (0, "ok     dev    1 passed"))
        self.assertEqual(self.summary("dev"), (0, "ok     dev    3 passed"))


class Tidy(Scratch):
    def setUp(self):
        super().setUp()
        for name in ("one", "two"):  # sources with a main are read by themselves
            self.write(f"sagips/{name}.cpp", '#include "sagips/shared.hpp"\nint f();\n')

    def read(self):
        """The sources that clang-tidy was given, one line a call, since the last question."""
        file = self.folder / "build/read"
        lines = sorted(file.read_text(encoding="utf-8").splitlines()) if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

    def test_sources_are_read_together_and_again_only_when_they_changed(self):
        self.assertEqual(self.summary("tidy"), (0, "ok     tidy   3 passed"))
        self.assertEqual(self.read(), ["one two", "three"])
        self.write("sagips/two.cpp", "int g();\n")
        self.assertEqual(self.summary("tidy"), (0, "ok     tidy   3 passed (2 in earlier calls)"))
        self.assertEqual(self.read(), ["two"])

    def test_a_finding_fails_the_source_it_stands_in_and_the_readers_of_a_header(self):
        self.write("sagips/two.cpp", "// UGLY\n")
        self.assertEqual(self.summary("tidy"), (1, "FAILED tidy   2 passed, 1 failed"))
        self.write("sagips/two.cpp", '#include "sagips/shared.hpp"\nint f();\n')
        self.write("sagips/shared.hpp", "// UGLY\n")
        self.assertEqual(self.summary("tidy"), (1, "FAILED tidy   1 passed (1 in earlier calls), 2 failed"))

    def test_a_source_that_clang_cannot_read_fails_wherever_clang_gave_up(self):
        self.write("sagips/two.cpp", "// BROKEN\n")
        self.assertEqual(self.summary("tidy"), (1, "FAILED tidy   2 passed, 1 failed"))

    def test_sources_that_do_not_go_together_are_read_by_themselves(self):
        self.write("sagips/two.cpp", "// ALONE\n")
        self.assertEqual(self.summary("tidy"), (0, "ok     tidy   3 passed"))
        self.assertEqual(self.read(), ["one", "one two", "three", "two"])


if __name__ == "__main__":
    unittest.main()
