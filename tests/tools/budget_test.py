"""tools/budget.py times the parts of make demo and make test, here those of a Makefile that does nothing."""
import contextlib
import importlib.util
import io
import pathlib
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "tools/budget.py"


class Budget(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "tools").mkdir()
        setup = self.folder / "tools/setup.sh"
        setup.write_text("#!/bin/sh\n")
        setup.chmod(0o755)
        self.make("true")
        specification = importlib.util.spec_from_file_location("budget", SOURCE)
        self.budget = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(self.budget)
        self.budget.ROOT = self.folder

    def make(self, command):
        (self.folder / "Makefile").write_text(f"demo test-build test:\n\t@{command}\n")

    def run_budget(self, last):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = self.budget.main(last)
        return status, printed.getvalue()

    def test_names_the_parts_and_what_fits(self):
        status, printed = self.run_budget("test")
        self.assertEqual(status, 0, printed)
        for words in ("set-up of the demo", "rest of the build", "make demo", "make test"):
            self.assertIn(words, printed)
        self.assertEqual(printed.count("OK"), 2)
        self.assertNotIn("not from nothing", printed)

    def test_the_demo_alone(self):
        self.assertNotIn("make test", self.run_budget("demo")[1])

    def test_over_the_budget(self):
        self.budget.BUDGET_MIN = {"make demo": 0, "make test": 18}
        status, printed = self.run_budget("test")
        self.assertEqual(status, 1)
        self.assertEqual((printed.count("OVER"), printed.count("OK")), (1, 1))

    def test_what_is_there_already_is_said(self):
        (self.folder / ".venv").mkdir()
        self.assertIn("not from nothing, .venv was there", self.run_budget("demo")[1])

    def test_a_part_that_fails_ends_it(self):
        self.make("false")
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()):
            self.run_budget("demo")
        self.assertEqual(ended.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
