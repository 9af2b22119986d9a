"""The program in the guide is the shipped example, and the example works: check, training, fit refused for want of a density."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = None


def run(folder, *arguments):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, text=True, capture_output=True, check=False)


class OwnPipeline(unittest.TestCase):
    def test_guide_shows_the_shipped_program(self):
        guide = (CHECKOUT / "docs/guides/my_own_pipeline.md").read_text()
        shown = next(code for code in re.findall(r"```cpp\n(.*?)```", guide, re.DOTALL) if "int main(" in code)
        self.assertEqual(shown, (CHECKOUT / "examples/own_pipeline/main.cpp").read_text())

    def test_pipeline_takes_twelve_lines(self):
        program = (CHECKOUT / "examples/own_pipeline/main.cpp").read_text()
        lines = [line for line in program.splitlines() if line.strip() and not line.startswith("#include")]
        self.assertLessEqual(len(lines), 12)

    def test_checks_and_trains(self):
        with tempfile.TemporaryDirectory() as folder:
            check = run(folder, "check", "decay")
            self.assertEqual(check.returncode, 0, check.stderr)
            self.assertIn("gradient reaches every free parameter", check.stdout)
            train = run(folder, "train", "decay", "train.epochs=3", "batch.samples=8", "batch.events=16",
                        "toy.events=2000", "run.name=a", "run.figures=false")
            self.assertEqual(train.returncode, 0, train.stderr)
            self.assertIn("lifetime", train.stdout)
            self.assertTrue(pathlib.Path(folder, "runs/decay/a/results.json").exists())

    def test_fit_is_refused_without_a_density(self):
        with tempfile.TemporaryDirectory() as folder:
            fit = run(folder, "fit", "decay", "toy.events=1000")
            self.assertEqual(fit.returncode, 2)
            self.assertIn("density", fit.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
