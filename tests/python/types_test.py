"""The package's types, as mypy --strict sees them from a user's script, and what help() says.

    types_test.py PACKAGE_FOLDER TOOLS_FOLDER
"""
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest

import sagips

PACKAGE, TOOLS = (os.path.abspath(path) for path in sys.argv[1:3])
CONFIG = """\
[mypy]
strict = True
ignore_missing_imports = True
no_site_packages = True
[mypy-sagips.*]
# What a user does not see needs no types.
allow_untyped_defs = True
allow_untyped_calls = True
allow_incomplete_defs = True
allow_subclassing_any = True
check_untyped_defs = False
warn_return_any = False
"""
SCRIPT = '''\
import numpy as np
import sagips
import torch

def decay(theta: torch.Tensor, noise: sagips.Noise) -> torch.Tensor:
    return theta * -torch.log(noise.uniform()) + 0.3 * noise.normal()

@sagips.numpy(noise=1)
def clock(parameters: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    return parameters + noise

@sagips.jax
def shift(parameters: torch.Tensor) -> torch.Tensor:
    return parameters

box = sagips.Box(lifetime=(0.1, 5, "us"), mass={"low": 80, "high": 100, "truth": 91.2})
result = sagips.solve(decay, np.zeros(5), box, observables="t [us]", weights=[1.0, 2.0], toy={"events": 3000},
                      solve={"method": "moments"}, progress=False)
value: float = result.parameters["lifetime"].value
pull: float | None = result.parameters["lifetime"].pull
print(result.values, result.covariance, result.samples, result.history[-1]["metrics"], result.to_frame(), result.modes)
result.plot()
run = sagips.train({"near": [decay, shift], "far": clock}, {"near": torch.zeros(3), "far": [1.0, 2.0]},
                   {"lifetime": (0.1, 5)}, start="fresh", batch={"samples": 8}, train={"epochs": 5})
run = sagips.train("jets", data={"rows": 400}, batch=64,
                   network={"layers": [{"flatten": {}}, {"dense": 5, "activation": "relu"}, {"module": "nets:make"}]})
usual: sagips.Settings = {"train": {"epochs": 3}, "exchange": "ring", "ensemble": {"members": 2}}
sagips.ensemble(sagips.simulator(decay), "times.npy", sagips.Box.of([0.1], np.ones(1)), **usual)
sagips.tune("classify", tune={"space": [{"key": "batch", "values": [16, 32]}], "trials": 4})
sagips.closure(decay, box, closure={"experiments": 3}, data={"held_out": 0})
files, settings = sagips.generate("proxy1d", "toy.npy", toy={"events": 10})
predictions: sagips.Predictions = sagips.predict(run, {"energy": 2.5}, samples=3)
print(predictions.values.shape, sagips.report(run, "runs/x"), sagips.settings("proxy1d")["train.epochs"][1].upper())
print(sagips.scaling("proxy1d", scaling={"ranks": [1, 2]}).table("scaling.csv")[0]["ranks"].strip())
sagips.simulate("proxy1d", simulate={"ranks": [4]})
print(sagips.check("proxy1d").upper(), sagips.load("runs/x").complete, sagips.run(["list", 1]) + 1)
sagips.fit("resonance", data={"file": "a.npy", "weight_column": "w"})
sagips.compare(decay, None, box, compare={"methods": ["moments"]})
'''
WRONG = {
    'sagips.solve("proxy1d", toys={"events": 10})': 'did you mean "toy"',
    'sagips.train("proxy1d", train={"epoch": 10})': 'Extra key "epoch"',
    'sagips.train("proxy1d", train={"epochs": "ten"})': 'has type "int"',
    'sagips.train("proxy1d", objective={"loss": "hing"})': "'hinge'",
    'sagips.train("classify", network={"layers": [{"dens": 5}]})': 'Argument "network"',
    'sagips.train("proxy1d", start="again")': "'fresh'",
    'sagips.Box(a=3)': '"tuple[float, float]',
}


class Types(unittest.TestCase):
    def test_those_of_the_settings_are_up_to_date(self):
        spec = importlib.util.spec_from_file_location("settings_types", os.path.join(TOOLS, "settings_types.py"))
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        with open(tool.TARGET) as file:
            self.assertTrue(file.read() == tool.text(), "settings have changed: run tools/settings_types.py with the "
                            f"package where Python finds it (PYTHONPATH={PACKAGE})")

    def test_help_says_what_everything_is(self):
        for name in sagips.__all__:
            public = getattr(sagips, name)
            inner = vars(public) if inspect.isclass(public) and public is not sagips.Settings else {}
            documented = [public, *(one for own, one in inner.items() if not own.startswith("_") and (
                callable(one) or isinstance(one, (property, classmethod))))]
            for one in documented:
                with self.subTest(name, of=str(one)):
                    self.assertTrue(inspect.getdoc(one), "has no docstring")

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "there is no mypy")
    def test_mypy_accepts_a_script_and_refuses_what_is_misspelt(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name, content in (("mypy.ini", CONFIG), ("script.py", SCRIPT),
                                  ("wrong.py", "\n".join(["import sagips", *WRONG]))):
                with open(os.path.join(scratch, name), "w") as file:
                    file.write(content)
            done = subprocess.run([sys.executable, "-m", "mypy", "--python-version", "3.10", "script.py", "wrong.py"],
                                  cwd=scratch, env={**os.environ, "MYPYPATH": PACKAGE}, capture_output=True, text=True)
        said = [line for line in done.stdout.splitlines() if ": error: " in line]
        self.assertEqual([line for line in said if not line.startswith("wrong.py")], [], done.stdout + done.stderr)
        for number, (call, words) in enumerate(WRONG.items(), 2):
            with self.subTest(call):
                self.assertTrue(any(line.startswith(f"wrong.py:{number}:") and words in line for line in said),
                                done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
