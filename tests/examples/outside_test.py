"""The shipped examples of pipelines from outside: what README and guide show is what they hold, and they work.

usage: outside_test.py SAGIPS MAKE_SCRIPTS
The script is made without PyTorch (MAKE_SCRIPTS), and once more with it where .venv-full is there. The NumPy example
runs with the first Python that has NumPy; without one its test is skipped and says so.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = CHECKOUT / "examples"
PROGRAM = MAKE_SCRIPTS = None


def python_with(module):
    for python in (sys.executable, "/usr/bin/python3", str(CHECKOUT / ".venv-full/bin/python")):
        if shutil.which(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True,
                                                   check=False).returncode == 0:
            return python
    return None


class Folder:
    """A copy of an example, where its test.sh runs; `python3` there is a Python of the test's choice."""

    def __init__(self, example, python=sys.executable):
        self.scratch = tempfile.TemporaryDirectory(prefix="sagips-example-")
        self.path = pathlib.Path(self.scratch.name, "example")
        shutil.copytree(EXAMPLES / example, self.path, ignore=shutil.ignore_patterns("build", "*.pt"))
        programs = pathlib.Path(self.scratch.name, "bin")
        programs.mkdir()
        (programs / "python3").write_text(f'#!/bin/sh\nexec "{python}" "$@"\n')
        (programs / "python3").chmod(0o755)
        self.environment = dict(os.environ, TMPDIR=self.scratch.name,
                                PATH=f"{programs}:{pathlib.Path(PROGRAM).parent}:{os.environ['PATH']}")

    def run(self, *command):
        return subprocess.run(command, cwd=self.path, env=self.environment, text=True, capture_output=True, check=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()


def lines(path):
    return [line for line in path.read_text().splitlines() if line.strip()]


class OutsideExamples(unittest.TestCase):
    def test_readme_shows_the_three_lines_of_yaml(self):
        shown = re.search(r"```yaml\n(.*?)```", (CHECKOUT / "README.md").read_text(), re.DOTALL).group(1)
        self.assertEqual(shown, (EXAMPLES / "script_stage/my_stage.yaml").read_text())
        self.assertLessEqual(len(lines(EXAMPLES / "script_stage/my_stage.yaml")), 3)

    def test_guide_shows_the_plug_in_of_at_most_30_lines(self):
        guide = (CHECKOUT / "docs/guides/my_own_pipeline.md").read_text()
        shown = re.search(r"```cpp\n(.*?)```", guide, re.DOTALL).group(1)
        self.assertEqual(shown, (EXAMPLES / "plugin_stage/my_stage.cpp").read_text())
        self.assertLessEqual(len(lines(EXAMPLES / "plugin_stage/my_stage.cpp")), 30)

    def test_script_checks_and_trains(self):
        with Folder("script_stage") as folder:
            folder.run(MAKE_SCRIPTS)
            done = folder.run("./test.sh")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("lifetime", done.stdout)

    def test_script_of_a_whole_pytorch_is_the_same_stage(self):
        python = python_with("torch")
        if python is None:
            self.skipTest("no Python with PyTorch here (tools/setup.sh full makes .venv-full)")
        with Folder("script_stage", python) as folder:
            done = folder.run("./test.sh")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            numbers = []
            for _ in range(2):
                made = folder.run("sagips", "generate", "my_stage.yaml", "events=1000", "out=toy.npy")
                self.assertEqual(made.returncode, 0, made.stderr)
                numbers.append((folder.path / "toy.npy").read_bytes())
                folder.run(MAKE_SCRIPTS)  # now the script of the tests
            self.assertEqual(numbers[0], numbers[1])

    def numpy_example(self, example):
        python = python_with("numpy")
        if python is None:
            self.skipTest("no Python with NumPy here (Debian: python3-numpy)")
        return Folder(example, python)

    def test_numpy_process_that_chooses_is_solved(self):
        with self.numpy_example("process_choice") as folder:
            done = folder.run("./test.sh")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("may be off", done.stderr)

    def test_numpy_process_checks_its_product_and_trains(self):
        with self.numpy_example("process_stage") as folder:
            done = folder.run("./test.sh")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            source = folder.path / "my_stage.py"
            source.write_text(source.read_text().replace("slope * -np.log", "1.1 * slope * -np.log"))
            wrong = folder.run("sagips", "check", "my_stage.yaml")
            self.assertEqual(wrong.returncode, 2, wrong.stderr)
            self.assertIn("product with the Jacobian is wrong", wrong.stderr)


    def test_served_function_may_print_and_its_exception_is_told(self):
        with self.numpy_example("process_stage") as folder:
            source = folder.path / "my_stage.py"
            good = source.read_text()
            source.write_text(good.replace("    return parameters", "    print('made events')\n    return parameters"))
            printing = folder.run("sagips", "check", "my_stage.yaml")
            self.assertEqual(printing.returncode, 0, printing.stderr)
            for wrong, told in [("raise ValueError('two\\nlines')", "error ValueError: two lines"),
                                ("return {'events': parameters}", "known are values, mask, weights, counts")]:
                source.write_text(good.replace("return parameters[:, :, None] * -np.log(noise)", wrong))
                done = folder.run("sagips", "check", "my_stage.yaml")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(told, done.stderr)
            source.write_text(good.replace("def events(parameters, noise)", "def events(parameters, noises)"))
            done = folder.run("sagips", "check", "my_stage.yaml")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("takes 'noises'", done.stderr)


if __name__ == "__main__":
    MAKE_SCRIPTS, PROGRAM = sys.argv.pop(), sys.argv.pop()
    unittest.main()
