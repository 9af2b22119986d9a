"""What a new user gets wrong: files, configs and simulators in Python, each told in one line that says where.

usage: broken_inputs_test.py SAGIPS
Simulators need a Python with NumPy; without one their cases are skipped, and the test says so.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = None
PARAMETERS = "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2}}\n"
OBSERVABLES = "observables: [t]\n"

FILES = [
    ("folder.npy", None, "Is a directory"),
    ("empty.npy", b"", "is not a .npy file"),
    ("empty.csv", b"", "is empty"),
    ("word.csv", b"M\n1\n2\nabc\n", "word.csv:4: column 'M' holds 'abc'"),
    ("twice.csv", b"M,M\n1,2\n", "two columns 'M'"),
    ("encoding.csv", b"M\n1\n\xff\xfe\n", "encoding.csv:3"),
    ("huge.csv", b"M\n1e400\n1\n", "huge.csv:2"),
    ("nan.csv", b"M\n1\nnan\n", "nan.csv:3"),
    ("other.csv", b"x\n1\n2\n", "has no column 'M'"),
    ("head.csv", b"M\n", "holds no events"),
    ("text.txt", b"1 2 3\n", "unknown extension"),
    ("half.npy", b"\x93NUMPY\x01\x00v\x00{'descr'", "half.npy"),
]

CONFIGS = [
    ("utf16.yaml", b"\xff\xfeparameters", "utf16.yaml:1"),
    ("empty.yaml", b"", "names no workload"),
    ("open.yaml", b"a: [1, 2\n", "open.yaml:2: is not valid YAML"),
    ("typo.yaml", (PARAMETERS + OBSERVABLES + "pipelin: [{script: a.pt}]\n").encode(), "did you mean 'pipeline'"),
    ("five.yaml", (PARAMETERS + OBSERVABLES + "pipeline: 5\n").encode(), "must be a list of groups"),
    ("words.yaml", (PARAMETERS + OBSERVABLES + "pipeline: [process]\n").encode(), "must be a group of keys"),
    ("list.yaml", (b"parameters: [lifetime]\nobservables: [t]\npipeline: [{script: a.pt}]\n"),
     "must hold groups by name"),
    ("range.yaml", (PARAMETERS.replace("0.1", "9") + OBSERVABLES + "pipeline: [{process: x}]\n").encode(),
     "the range 9 .. 5 is empty"),
    ("number.yaml", (PARAMETERS.replace("0.1", "abc") + OBSERVABLES + "pipeline: [{process: x}]\n").encode(),
     "abc is not a number"),
    ("twice.yaml", (PARAMETERS + OBSERVABLES * 2 + "pipeline: [{process: x}]\n").encode(), "is set twice"),
    ("both.yaml", (PARAMETERS + OBSERVABLES + "pipeline: [{process: x}]\nchannels: {a: {pipeline: [{process: x}]}}\n"
                   ).encode(), "stands beside channels"),
    ("own.yaml", (PARAMETERS + OBSERVABLES + "channels: {a: {parameters: [lifetme], pipeline: [{process: x}]}}\n"
                  ).encode(), "did you mean 'lifetime'"),
    ("same.yaml", (PARAMETERS + "observables: [t, \"t [us]\"]\npipeline: [{process: x}]\n").encode(), "names 't' twice"),
    ("again.yaml", (PARAMETERS + OBSERVABLES + "channels: {a: {parameters: [lifetime, lifetime], pipeline: "
                    "[{process: x}]}}\n").encode(), "names 'lifetime' twice"),
    *[("path.yaml", (PARAMETERS + OBSERVABLES + f"channels: {{\"{name}\": {{pipeline: [{{process: x}}]}}}}\n").encode(),
       "cannot be a channel's name") for name in ("../up", "a/b", "", "..")],
    ("box.yaml", (PARAMETERS + OBSERVABLES + "pipeline: [{process: x}, {event_filter: {low: [0]}}]\n").encode(),
     "2 where they are not said"),
]

FUNCTIONS = [
    ("lambda parameters, noise: None", "output.npy of shape"),
    ("lambda parameters, noise: 'text'", "could not convert string"),
    ("lambda parameters, noise: 5", "Keep the samples as first dimension"),
    ("lambda parameters, noise: {}", "has no 'values'"),
    ("lambda parameters, noise: [[1], [2, 3]]", "inhomogeneous"),
    ("lambda parameters, noise: exit(4)", "exit code 4"),
    ("lambda parameters, noise: parameters[:, :, None] * noise * 1j", "are complex"),
    ("lambda parameters, noise: np.zeros((len(parameters), 0, 1))", "Where events are lost"),
    ("lambda parameters: np.random.rand(len(parameters), 40, 1)", "other events for the same noise"),
    ("lambda parameters, noise: parameters * noise[:, :, 0]", "values[:, :, None]"),
    ("lambda parameters, noises: noises", "takes 'noises'"),
    ("lambda parameters, seeds: seeds", "seeds: true"),
    ("lambda parameters, noise: 1 / 0", "ZeroDivisionError"),
    ("lambda parameters, noise: {'values': noise, 'mask': noise}", "Give one number an event"),
    ("lambda parameters, noise: {'value': noise}", "has 'value'"),
    ("lambda parameters, noise: np.ma.masked_array(noise, noise > 0.5)", "are a masked array"),
]


class BrokenInputs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="sagips-broken-")
        self.addCleanup(scratch.cleanup)
        self.path = pathlib.Path(scratch.name)
        shutil.copy(CHECKOUT / "share/sagips_serve.py", self.path)

    def write_simulator(self, python, function):
        (self.path / "s.py").write_text(f"import numpy as np\nfrom sagips_serve import serve\nserve({function})\n")
        (self.path / "s.yaml").write_text(PARAMETERS + OBSERVABLES + f'pipeline: [{{process: "{python} -B s.py", '
                                          "noise_dimensions: 1}]\n")

    def refuse(self, words, *arguments):
        before = sorted(self.path.iterdir())
        done = subprocess.run([PROGRAM, "solve", *arguments, "run.figures=false"], cwd=self.path, text=True, errors="replace",
                              capture_output=True, check=False, env=dict(os.environ, OMP_NUM_THREADS="1"))
        with self.subTest(words):
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(sorted(self.path.iterdir()), before, "something is left behind")

    def test_configs(self):
        for name, content, words in CONFIGS:
            (self.path / name).write_bytes(content)
            self.refuse(words, name)

    def test_files(self):
        for name, content, words in FILES:
            if content is None:
                (self.path / name).mkdir()
            else:
                (self.path / name).write_bytes(content)
            self.refuse(words, "resonance", f"data.file={name}")

    def test_simulators(self):
        python = next((one for one in (sys.executable, "/usr/bin/python3", str(CHECKOUT / ".venv-checks/bin/python"))
                       if shutil.which(one) and subprocess.run([one, "-c", "import numpy"], capture_output=True,
                                                               check=False).returncode == 0), None)
        if python is None:
            self.skipTest("no Python with NumPy here (Debian: python3-numpy)")
        self.write_simulator(python, "lambda parameters, noise: parameters[:, :, None] * -np.log(noise)")
        for content, words in [("1", "cannot fix 1 free parameters"), ("1\n1\n1", "all events are equal")]:
            (self.path / "few.csv").write_text(f"t\n{content}\n")
            self.refuse(words, "s.yaml", "data.file=few.csv")
        for function, words in FUNCTIONS:
            self.write_simulator(python, function)
            self.refuse(words, "s.yaml")
        self.write_simulator(python, "lambda parameters, seeds, events: parameters[:, :, None] * np.stack("
                             "[np.random.default_rng(seed).exponential(size=(events, 1)) for seed in seeds])")
        done = subprocess.run([PROGRAM, "check", "s.yaml", "pipeline.0.seeds=true"], cwd=self.path, text=True,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop())
    unittest.main()
