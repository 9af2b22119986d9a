"""tools/setup.sh stops before it touches anything when it lacks both packages and rights.

dpkg-query, sudo and id are replaced by small programs, so that the machine looks bare and the account powerless.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


class Setup(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.checkout = pathlib.Path(scratch.name, "checkout")
        shutil.copytree(TOOLS, self.checkout / "tools")
        self.programs = pathlib.Path(scratch.name, "bin")
        self.programs.mkdir()
        self.replace("id", "echo 1000")
        self.replace("sudo", "exit 1")
        self.replace("apt-get", "echo apt-get was called; exit 99")

    def replace(self, name, script):
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def setup(self, *arguments, **variables):
        environment = dict(os.environ, PATH=f"{self.programs}:{os.environ['PATH']}", **variables)
        return subprocess.run([self.checkout / "tools/setup.sh", *arguments], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, env=environment, check=False)

    def packages(self, group):
        return self.setup("--list", *([group] if group else [])).stdout.split()

    def installed_but(self, *missing):
        present = [package for group in ("tests", "bench") for package in self.packages(group) if package not in missing]
        self.replace("dpkg-query", "".join(f"echo '{word} installed'\n" for word in present))

    def test_without_rights_names_what_is_missing_and_how_to_get_it(self):
        self.installed_but("ninja-build", "libhdf5-dev")
        done = self.setup()
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("ninja-build libhdf5-dev", done.stderr)
        self.assertIn("apt-get install --no-install-recommends ninja-build libhdf5-dev", done.stderr)
        self.assertNotIn("apt-get was called", done.stdout)
        self.assertFalse((self.checkout / ".venv").exists())
        self.assertFalse((self.checkout / "build").exists())

    def test_check_names_what_is_missing_and_installs_nothing(self):
        self.installed_but("gnuplot-nox")
        done = self.setup("--check")
        self.assertEqual(done.returncode, 2)
        self.assertIn("  gnuplot-nox", done.stderr)
        self.assertFalse((self.checkout / ".venv").exists())

    def test_a_missing_optional_package_stops_nobody(self):
        self.installed_but("ccache")
        done = self.setup("tests", "--check", SAGIPS_TORCH="")
        self.assertIn("not necessary: ccache", done.stderr)
        self.assertNotIn("cannot be built without", done.stderr)

    def test_each_group_asks_for_what_it_needs(self):
        demo, program, tests, bench = map(set, map(self.packages, ("demo", "", "tests", "bench")))
        self.assertLess(demo, program)
        self.assertLess(program, tests)
        self.assertLess(program, bench)
        self.assertIn("gnuplot-nox", demo)
        for package, first in (("libopenmpi-dev", program), ("libpagmo-dev", program), ("libsimgrid-dev", program),
                               ("libgtest-dev", tests), ("chromium", tests), ("libdnnl-dev", bench)):
            with self.subTest(package=package):
                self.assertIn(package, first)
                self.assertNotIn(package, demo)
        self.assertNotIn("libdnnl-dev", tests)

    def test_the_demo_does_not_miss_what_tests_use(self):
        self.installed_but("libgtest-dev", "libopenmpi-dev", "chromium")
        self.assertEqual(self.setup("demo", "--check", SAGIPS_TORCH="").stderr.count("libgtest-dev"), 0)
        self.assertIn("  libgtest-dev", self.setup("tests", "--check").stderr)

    def test_goes_on_without_an_optional_package_that_cannot_be_installed(self):
        self.installed_but("libpagmo-dev")
        self.replace("id", "echo 0")
        self.replace("apt-cache", "")
        done = self.setup(SAGIPS_TORCH="/nonexistent")
        self.assertIn("apt-get was called", done.stdout)
        self.assertIn("going on without: libpagmo-dev", done.stderr)
        self.assertIn("SAGIPS_TORCH=/nonexistent cannot be used", done.stderr)  # so it went on

    def test_stops_when_a_required_package_cannot_be_installed(self):
        self.installed_but("libpagmo-dev", "ninja-build")
        self.replace("id", "echo 0")
        self.replace("apt-cache", "")
        done = self.setup()
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install --no-install-recommends ninja-build", done.stderr)

    def test_an_account_without_rights_goes_on_without_optional_packages(self):
        self.installed_but("libpagmo-dev")
        done = self.setup(SAGIPS_TORCH="/nonexistent")
        self.assertIn("going on without these Debian packages, which this account cannot install: libpagmo-dev",
                      done.stderr)
        self.assertIn("SAGIPS_TORCH=/nonexistent cannot be used", done.stderr)  # so it went on

    def test_says_when_the_checkout_belongs_to_somebody_else(self):
        self.installed_but()
        (self.checkout / "build").write_text("")  # as little to be written as another account's folder
        done = self.setup()
        self.assertEqual(done.returncode, 2)
        self.assertIn("may not write to", done.stderr)

    def test_refuses_a_libtorch_that_is_named_and_is_none(self):
        self.installed_but()
        done = self.setup(SAGIPS_TORCH="/nonexistent")
        self.assertEqual(done.returncode, 2)
        self.assertIn("SAGIPS_TORCH=/nonexistent cannot be used", done.stderr)
        self.assertFalse((self.checkout / ".venv").exists())

    def test_refuses_an_unknown_argument(self):
        done = self.setup("everything")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown argument 'everything'", done.stderr)


if __name__ == "__main__":
    unittest.main()
