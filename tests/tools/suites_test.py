"""A GoogleTest program is shown to CTest by its suites, and no case is lost by that: tools/count_tests.py names those
that failed or were skipped."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.22)
project(suites LANGUAGES CXX)
enable_testing()
find_package(GTest REQUIRED)
list(APPEND CMAKE_MODULE_PATH "{ROOT}/cmake")
include(SagipsLayer)
include(SagipsTest)
sagips_add_test(some_test SOURCES some_test.cpp)
sagips_add_test(missing_test SOURCES some_test.cpp)
"""
PROGRAM = """
#include <gtest/gtest.h>
TEST(Whole, Passes) {}
TEST(Partly, Passes) {}
TEST(Partly, WantsMore) { GTEST_SKIP() << "no data here"; }
TEST(Never, WantsMore) { GTEST_SKIP() << "no data at all"; }
TEST(Never, WantsMuchMore) { GTEST_SKIP() << "no data at all"; }
TEST(Wrong, Passes) {}
TEST(Wrong, Fails) { EXPECT_EQ(1, 2); }
TEST(OnlyWrong, Fails) { EXPECT_EQ(1, 2); }
TEST(OnlyWrong, WantsMore) { GTEST_SKIP() << "no data here"; }
TEST(DISABLED_Later, Fails) { EXPECT_EQ(1, 2); }
class Each : public testing::TestWithParam<int> {};
TEST_P(Each, IsSmall) { EXPECT_LT(GetParam(), 3); }
INSTANTIATE_TEST_SUITE_P(Numbers, Each, testing::Values(1, 2, 3));
"""


class Suites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "CMakeLists.txt").write_text(PROJECT)
        (folder / "some_test.cpp").write_text(PROGRAM)
        build = folder / "build"
        for command in (["-S", folder, "-B", build, "-G", "Ninja"], ["--build", build, "--target", "some_test"]):
            subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
        cls.output = subprocess.run(["ctest", "--test-dir", build, "--output-on-failure"], capture_output=True,
                                    text=True, check=False).stdout
        cls.counted = subprocess.run([sys.executable, ROOT / "tools/count_tests.py", build], capture_output=True,
                                     text=True, check=True).stdout.splitlines()

    def check_state(self, suite, state):
        self.assertRegex(self.output, rf"Test +#\d+: {suite} \.*{state}")

    def test_a_suite_is_a_test(self):
        self.check_state("some_test.Whole", "   Passed")
        self.check_state("some_test.Partly", "   Passed")
        self.check_state("some_test.Wrong", r"\*\*\*Failed")
        self.check_state("some_test.Numbers/Each", r"\*\*\*Failed")
        self.assertNotIn("Later", self.output)

    def test_what_failed_is_shown(self):
        self.assertIn("[  FAILED  ] Wrong.Fails", self.output)
        self.assertIn("[  FAILED  ] Numbers/Each.IsSmall/2", self.output)

    def test_only_a_suite_without_a_case_that_ran_is_skipped(self):
        self.check_state("some_test.Never", r"\*\*\*Skipped")
        self.check_state("some_test.OnlyWrong", r"\*\*\*Failed")

    def test_a_program_that_is_not_built_is_a_failure(self):
        self.check_state("missing_test_NOT_BUILT", r"\*\*\*Not Run")

    def test_the_last_lines_name_cases(self):
        self.assertEqual(self.counted[-1], "test: 7 tests of CTest; of the 12 cases in their suites "
                                           "5 passed, 4 were skipped, 3 failed")
        for line in ("test: skipped: Partly.WantsMore (no data here)", "test: skipped: Never.WantsMore (no data at all)",
                     "test: failed: Wrong.Fails, in some_test.Wrong",
                     "test: failed: Numbers/Each.IsSmall/2, in some_test.Numbers/Each"):
            self.assertIn(line, self.counted)


if __name__ == "__main__":
    unittest.main()
