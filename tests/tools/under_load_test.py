"""Which tests run beside a load, how often, and what is said of those that fail."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "under_load.py"
COUNT = """add_test({name} sh -c "echo >> {name}; [ $(wc -l < {name}) -lt {limit} ]")
set_tests_properties({name} PROPERTIES LABELS {label})
"""


class UnderLoad(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, text):
        (self.folder / "CTestTestfile.cmake").write_text(text, encoding="utf-8")

    def add(self, name, label, limit=1000):
        return COUNT.format(name=name, label=label, limit=limit)

    def runs(self, name):
        path = self.folder / name
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    def run_script(self, *options):
        done = subprocess.run([sys.executable, SCRIPT, "--build", self.folder, "--load", "1", *options],
                              capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(len(done.stdout.splitlines()), 1, done)
        return done.returncode, done.stdout

    def test_all_run_once_and_those_with_clocks_many_times(self):
        self.write(self.add("plain", "fast") + self.add("clock", "slow-timing") + self.add("hours", "long"))
        code, said = self.run_script("--times", "4")
        self.assertEqual(code, 0, said)
        self.assertIn("2 tests once and 1 tests 4 times beside 1 busy processes", said)
        self.assertIn("no failure", said)
        self.assertEqual([self.runs(name) for name in ("plain", "clock", "hours")], [1, 5, 0])

    def test_the_suite_can_be_left_out_and_tests_be_named(self):
        self.write(self.add("plain", "fast") + self.add("one", "fast-timing") + self.add("two", "fast-timing"))
        code, said = self.run_script("--only-timing", "--tests", "one", "--times", "2")
        self.assertEqual(code, 0, said)
        self.assertEqual([self.runs(name) for name in ("plain", "one", "two")], [0, 2, 0])

    def test_what_fails_now_and_then_hangs_or_is_not_there_is_named(self):
        self.write(self.add("sometimes", "fast-timing", 4) + self.add("clock", "fast-timing") +
                   'add_test(gone "/nonexistent")\n'
                   'add_test(skips sh -c "exit 77")\nset_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)\n'
                   'add_test(hangs sleep 100)\nset_tests_properties(hangs PROPERTIES TIMEOUT 1)\n')
        code, said = self.run_script("--times", "10")
        self.assertEqual(code, 1, said)
        self.assertTrue(said.endswith(": failed: gone, hangs, sometimes\n"), said)

    def test_without_tests_it_fails(self):
        self.write("")
        self.assertEqual(self.run_script()[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
