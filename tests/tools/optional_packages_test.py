"""Packages that SAGIPS can do without cost their feature and one status line when they are hidden, broken or half there.

Nothing is built. The checkout is configured with all of them hidden, and with all of them broken: a package file that
stops CMake, a compiler that fails, headers whose libraries are empty files. The rest is seen with a project of one package.

usage: optional_packages_test.py CHECKOUT TORCH
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECKOUT, TORCH = sys.argv.pop(1), sys.argv.pop(1)
COSTS = {
    "MPI": "there is no training on several ranks",
    "Libxsmm": "matrix products come from LibTorch's MKL or plain loops",
    "pagmo": "there is no evolutionary search",
    "SimGrid": "there are no simulated clusters",
    "OpenMP": "the rate of oneDNN is not measured",
    "OneDnn": "its rate is not measured",
    "ccache": "nothing compiled is kept for later",
}
BY_LIBRARY = {"xsmm": "libxsmm.h", "xsmmnoblas": "libxsmm.h", "simgrid": "simgrid/s4u.hpp", "dnnl": "dnnl.hpp"}
ONE_PACKAGE = f"""
cmake_minimum_required(VERSION 3.22)
project(one_package LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH "{CHECKOUT}/cmake")
include(SagipsOptional)
sagips_find_optional(pagmo TARGETS Pagmo::pagmo DEBIAN libpagmo-dev WITHOUT "{COSTS["pagmo"]}")
"""
FAKE_PAGMO = """
add_library(Pagmo::pagmo INTERFACE IMPORTED)
target_include_directories(Pagmo::pagmo INTERFACE "${CMAKE_CURRENT_LIST_DIR}/include")
"""
FAKE_CMAES = "namespace pagmo { struct cmaes { int get_gen() { return 1; } }; }\n"


class OptionalPackages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def broken_program(self, name):
        path = self.write(name, "#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
        return path

    def prefix_with_empty_libraries(self):
        for library, header in BY_LIBRARY.items():
            self.write(f"prefix/include/{header}", "")
            self.write(f"prefix/lib/lib{library}.so", "")
        self.write("prefix/include/smpi/mpi.h", "")
        return self.folder / "prefix"

    def lines_of(self, source, *options):
        done = subprocess.run(["cmake", "-S", source, "-B", self.folder / "build", "-G", "Ninja", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        return done.stdout.splitlines()

    def lines_of_checkout(self, *options):
        return self.lines_of(CHECKOUT, f"-DSAGIPS_TORCH={TORCH}", "-DSAGIPS_BUILD_BENCHMARKS=ON", *options)

    def lines_of_one_package(self, config):
        self.write("CMakeLists.txt", ONE_PACKAGE)
        self.write("pagmo/pagmo-config.cmake", config)
        self.write("pagmo/include/pagmo/algorithms/cmaes.hpp", FAKE_CMAES)
        return self.lines_of(self.folder, f"-Dpagmo_DIR={self.folder / 'pagmo'}")

    def check_one_line_each(self, lines, packages, verdict):
        for package in packages:
            with self.subTest(package=package):
                found = [line for line in lines if line.startswith(f"-- {package} ")]
                self.assertEqual(len(found), 1, lines)
                self.assertIn(verdict, found[0])
                self.assertTrue(found[0].endswith(COSTS[package]), found[0])

    def test_hidden(self):
        packages = [package for package in COSTS if package != "ccache"]
        lines = self.lines_of_checkout(*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in packages))
        self.check_one_line_each(lines, packages, "is not here")

    def test_broken(self):
        fatal = self.write("pagmo/pagmo-config.cmake", 'message(FATAL_ERROR "a package file that stops CMake")\n')
        lines = self.lines_of_checkout(
            f"-Dpagmo_DIR={fatal.parent}", f"-DCMAKE_PREFIX_PATH={self.prefix_with_empty_libraries()}",
            f"-DMPI_C_COMPILER={self.broken_program('mpicc')}", f"-DSAGIPS_CCACHE={self.broken_program('ccache')}",
            "-DOpenMP_CXX_FLAGS=-fno-such-option", "-DOpenMP_CXX_LIB_NAMES=")
        self.check_one_line_each(lines, ["MPI"], "is not here")
        self.check_one_line_each(lines, [package for package in COSTS if package != "MPI"], "cannot be used, see ")
        self.assertIn("a package file that stops CMake", (self.folder / "build/optional/pagmo/output.log").read_text())

    def compilations(self):
        """The compiler's command for each object of the program."""
        listing = subprocess.run(["ninja", "-C", self.folder / "build", "-t", "commands", "sagips"],
                                 capture_output=True, text=True, check=True).stdout
        return {line.split(" -o ")[1].split()[0]: line for line in listing.splitlines() if " -c " in line}

    def test_what_comes_after_the_demo_compiles_nothing_of_it_again(self):
        later = ("MPI", "pagmo", "SimGrid")
        unity = "-DCMAKE_UNITY_BUILD=ON"
        self.lines_of_checkout(unity, "-DSAGIPS_BUILD_TESTS=OFF", "-DSAGIPS_BUILD_BENCHMARKS=OFF",
                               *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in later))
        demo = self.compilations()
        self.lines_of_checkout("-DSAGIPS_BUILD_TESTS=ON",
                               *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=OFF" for package in later))
        everything = self.compilations()
        self.assertGreater(len(demo), 10)
        again = [name for name in demo if everything.get(name) != demo[name] and "_absent.dir" not in name]
        self.assertEqual(again, [])

    def test_a_package_that_asks_for_one_that_nobody_has(self):
        lines = self.lines_of_one_package("find_package(NobodyHasThis REQUIRED)\n" + FAKE_PAGMO)
        self.check_one_line_each(lines, ["pagmo"], "cannot be used, see ")

    def test_whole_until_its_header_goes(self):
        self.assertEqual([line for line in self.lines_of_one_package(FAKE_PAGMO) if "pagmo" in line], [])
        (self.folder / "pagmo/include/pagmo/algorithms/cmaes.hpp").unlink()
        self.check_one_line_each(self.lines_of(self.folder), ["pagmo"], "cannot be used, see ")


if __name__ == "__main__":
    unittest.main()
