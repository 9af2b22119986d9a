"""Trainings on a GPU from the shell, on machines that have none: libraries that stand in for a GPU's.

usage: gpu_test.py MPIEXEC SAGIPS FOLDER [TEST ...]    FOLDER: of libtorch_cuda.so and libsagips_cuda.so, see tests/cuda
"""
import array
import csv
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import jobs

MPIEXEC, SAGIPS, STAND_INS = [os.path.abspath(path) if path else "" for path in sys.argv[1:4]]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["batch.samples=4", "batch.events=10", "toy.events=2000", "evaluation.samples=20", "evaluation.events=10",
         "run.figures=false", "threads=1", *jobs.NETWORKS_ALONE]
ROWS = ["data.rows=40", "data.validation_rows=20", "batch=20", "run.figures=false", "threads=1"]
PLAIN = [f"{player}.optimizer.{setting}" for player in ("generator", "discriminator")  # no rule that divides by gradients
         for setting in ("rule=sgd", "learning_rate=0.01")]
LEARNED = 1e-4  # of a loss after two epochs: rounding, which updates by Adam make larger


def floats_of(path):
    """Of a .npy file of float32 numbers."""
    with open(path, "rb") as file:
        content = file.read()
    begin = 10 + int.from_bytes(content[8:10], "little")
    assert b"'<f4'" in content[:begin], content[:begin]
    return array.array("f", content[begin:])


class Gpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def call(self, *arguments, ranks=1, stand_ins=STAND_INS):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        environment = {name: value for name, value in os.environ.items() if name != "SAGIPS_CUDA_FOLDER"}
        if stand_ins:
            environment["SAGIPS_CUDA_FOLDER"] = stand_ins
        return subprocess.run([*launcher, SAGIPS, *arguments], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=300 * jobs.SLOWDOWN, check=False)

    def trained(self, name, *arguments, ranks=1):
        done = self.call("train", *arguments, f"run.name={name}", ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stderr)
        return glob.glob(f"{self.folder}/runs/*/{name}")[0]

    def losses(self, run):
        """Of each epoch."""
        with open(run + "/metrics.jsonl") as lines:
            events = [json.loads(line) for line in lines]
        return {event["epoch"]: event["losses"] for event in events if event["event"] == "epoch_done"}

    def expect_alike(self, run, wanted):
        found, wanted = self.losses(run), self.losses(wanted)
        self.assertEqual(found.keys(), wanted.keys())
        for epoch, losses in wanted.items():
            for name, value in losses.items():
                self.assertAlmostEqual(found[epoch][name], value, delta=LEARNED * max(1, abs(value)), msg=name)

    def test_kinds_of_problems_train_as_on_the_cpu(self):
        showers = f"{self.folder}/showers.yaml"
        with open(showers, "w") as file:
            file.write(jobs.SHOWERS.replace("rows: 300", "rows: 40"))
        for name, arguments in {
                "proxy1d": ["proxy1d", "train.epochs=5", *SMALL],
                "proxy2d": ["proxy2d", "train.epochs=3", *SMALL],
                "gaussians": ["gaussians", "train.epochs=3", *SMALL],
                "stress_strain": ["stress_strain", "train.epochs=2", *ROWS],
                "convolution": ["stress_strain/convolution", "train.epochs=2", *ROWS],
                "digits": ["generation/digits", "train.epochs=1", "run.figures=false", "threads=1", *PLAIN],
                "showers": [showers, "train.epochs=1", "run.figures=false"]}.items():
            if not jobs.IS_LONG and name not in ("gaussians", "stress_strain", "showers"):
                continue
            with self.subTest(name):
                self.expect_alike(self.trained(name + "_gpu", *arguments, "device=cuda"),
                                  self.trained(name + "_cpu", *arguments))

    def test_ranks_exchange_and_tell_what_copies_take(self):
        both = ["proxy1d", "train.epochs=3", *SMALL]
        run = self.trained("gpu", *both, "device=cuda", ranks=2)
        self.expect_alike(run, self.trained("cpu", *both, ranks=2))
        with open(run + "/exchange.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertGreater(float(row["copying_s"]), 0)

    def test_a_checkpoint_goes_on_on_the_other_device(self):
        short, long = ["proxy1d/paper", *SMALL, "train.epochs=2"], ["train.epochs=4", "--override"]
        whole = self.losses(self.trained("whole", "proxy1d/paper", *SMALL, "train.epochs=4"))
        for first, then in (("cuda", "cpu"), ("cpu", "cuda")):
            name = f"{first}_{then}"
            self.trained(name, *short, f"device={first}")
            found = self.losses(self.trained(name, *short[:-1], *long, f"device={then}"))
            for key, value in whole[4].items():
                self.assertAlmostEqual(found[4][key], value, delta=LEARNED * max(1, abs(value)), msg=name)

    def test_what_a_training_takes_is_said_before_it(self):
        for arguments in (["proxy1d", *SMALL], ["stress_strain", *ROWS]):
            done = self.call("check", *arguments, "device=cuda")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"on the GPU: a rank's training takes \S+ of 8.59 GB, beside what CUDA itself does; a step some \S+ ms")

    def test_a_trace_shows_the_gpu(self):
        run = self.trained("traced", "proxy1d", "train.epochs=6", "train.timeline=5", *SMALL, "device=cuda", ranks=2)
        with open(run + "/trace.json") as file:
            events = json.load(file)
        events = events["traceEvents"] if isinstance(events, dict) else events
        for rank in (1, 2):
            own = [event for event in events if event.get("pid") == rank and event["ph"] == "X"]
            on_gpu = [event for event in own if event["cat"] == "GPU"]
            self.assertEqual({event["args"]["step"] for event in on_gpu}, {1, 2, 3, 4, 5})
            self.assertEqual({event["name"] for event in on_gpu}, {"draw", "gradients", "update"})
            self.assertIn("copy from the GPU", {event["name"] for event in own})
            steps = [event for event in own if event["name"] == "step"]
            for event in on_gpu:
                self.assertTrue(any(step["ts"] - 1000 <= event["ts"] <= step["ts"] + step["dur"] for step in steps))

    def test_estimates_and_predictions_are_those_of_the_cpu(self):
        found = {}
        for device in ("cpu", "cuda"):
            done = self.call("solve", "proxy1d", "toy.events=2000", f"device={device}", f"run.name={device}",
                             "run.figures=false", "threads=1")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(f"{self.folder}/runs/proxy1d/{device}/results.json") as file:
                found[device] = json.load(file)["parameters"]
        for here, there in zip(found["cpu"], found["cuda"]):
            self.assertAlmostEqual(here["recovered"], there["recovered"], delta=0.01 * here["error"], msg=here["name"])
        run = self.trained("rows", "stress_strain", "train.epochs=1", *ROWS)
        for device in ("cpu", "cuda"):
            done = self.call("predict", run, f"device={device}", f"out={device}.npy")
            self.assertEqual(done.returncode, 0, done.stderr)
        here, there = [floats_of(f"{self.folder}/{device}.npy") for device in ("cpu", "cuda")]
        self.assertEqual(len(here), len(there))
        for one, other in zip(here, there):
            self.assertAlmostEqual(one, other, delta=1e-4 * max(1, abs(one)))

    def test_programs_as_stages_say_what_they_cost(self):
        python = next((one for one in (sys.executable, "/usr/bin/python3") if shutil.which(one) and subprocess.run(
            [one, "-c", "import numpy"], capture_output=True, check=False).returncode == 0), None)
        if python is None:
            self.skipTest("no Python with NumPy here (Debian: python3-numpy)")
        own = f"{self.folder}/own"
        shutil.copytree(EXAMPLES + "/process_stage", own)
        with open(own + "/my_stage.py") as file:
            loses = file.read().replace("return parameters", "values = parameters").replace(
                "-np.log(noise)\n\n\ndef product", """-np.log(noise)
    return {"values": values, "mask": noise[:, :, 0] > 0.1, "weights": 0.5 + noise[:, :, 0]}


def product""")
        with open(own + "/loses.py", "w") as file:
            file.write(loses)
        with open(own + "/my_stage.yaml") as file:
            yaml = file.read()
        arguments = ["train.epochs=3", *SMALL, "batch.noise=pseudo_random"]
        for script in ("my_stage", "loses"):
            with self.subTest(script):
                config = f"{own}/{script}.yaml"
                text = yaml.replace("python3 my_stage.py", f"{python} {script}.py")
                with open(config, "w") as file:
                    file.write(text)
                done = self.call("train", config, *arguments, "device=cuda", "run.name=gpu_" + script)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("stages that are programs or NumPy functions took", done.stderr)
                self.assertRegex(done.stdout, r"operation by operation.*stage '.*' works on the CPU")
                self.expect_alike(glob.glob(f"{self.folder}/runs/*/gpu_{script}")[0],
                                  self.trained("cpu_" + script, config, *arguments))
                done = self.call("solve", config, "toy.events=500", "device=cuda", "run.name=solved_" + script,
                                 "run.figures=false")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_missing_is_said_in_a_line(self):
        alone = f"{self.folder}/alone"
        os.mkdir(alone)
        shutil.copy(STAND_INS + "/libtorch_cuda.so", alone)
        slow = self.call("train", "proxy1d", *SMALL, "train.epochs=1", "device=cuda", "run.name=slow", stand_ins=alone)
        self.assertEqual(slow.returncode, 0, slow.stderr)
        self.assertIn("LibTorch works alone on the GPU", slow.stderr)
        for arguments, said in ((["device=cuda:7"], "this process sees 1 GPU"),
                                (["device=gpu"], "known: auto, cpu, cuda"),
                                (["precision=half", "device=cuda"], "precision")):
            done = self.call("train", "proxy1d", *SMALL, *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        nothing = self.call("check", "proxy1d", "device=auto", stand_ins="/nowhere")
        self.assertIn("device: CPU: SAGIPS_CUDA_FOLDER is /nowhere", nothing.stdout)
        self.assertEqual(self.call("train", "proxy1d", *SMALL, "device=cuda", stand_ins="/nowhere").returncode, 2)
        without_effect = self.call("check", "proxy1d", "precision=tf32")
        self.assertIn("precision", without_effect.stderr + without_effect.stdout)
        self.assertIn("device", without_effect.stderr + without_effect.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
