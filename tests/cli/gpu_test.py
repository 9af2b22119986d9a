"""Trainings on a GPU from the shell, on machines that have none: libraries that stand in for a GPU's.

usage: gpu_test.py MPIEXEC SAGIPS FOLDER      FOLDER: of libtorch_cuda.so and libsagips_cuda.so, see tests/cuda
"""
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
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["batch.samples=4", "batch.events=10", "toy.events=2000", "evaluation.samples=20", "evaluation.events=10",
         "run.figures=false", "threads=1", *jobs.NETWORKS_ALONE]
ROWS = ["data.rows=40", "data.validation_rows=20", "batch=20", "run.figures=false", "threads=1"]
LEARNED = 1e-4  # of a loss after two epochs: rounding, which updates by Adam make larger


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

    def test_every_kind_of_problem_trains_as_on_the_cpu(self):
        showers = f"{self.folder}/showers.yaml"
        with open(showers, "w") as file:
            file.write(jobs.SHOWERS.replace("rows: 300", "rows: 40"))
        for name, arguments in {
                "proxy1d": ["proxy1d", "train.epochs=5", *SMALL],
                "proxy2d": ["proxy2d", "train.epochs=3", *SMALL],
                "gaussians": ["gaussians", "train.epochs=3", *SMALL],
                "stress_strain": ["stress_strain", "train.epochs=2", *ROWS],
                "convolution": ["stress_strain/convolution", "train.epochs=2", *ROWS],
                "digits": ["generation/digits", "train.epochs=1", "run.figures=false", "threads=1"],
                "showers": [showers, "train.epochs=1", "run.figures=false"]}.items():
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
        without_effect = self.call("check", "proxy1d", "precision=tf32")
        self.assertIn("precision", without_effect.stderr + without_effect.stdout)
        self.assertIn("device", without_effect.stderr + without_effect.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
