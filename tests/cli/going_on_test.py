"""What trainings of learning problems keep: checkpoints by epochs, restarts on other ranks, after the end and after a time
limit, the best network, and weights to begin from.

usage: going_on_test.py MPIEXEC SAGIPS SEQUENCES   (MPIEXEC may be empty: without tests of ranks)
"""
import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS = [os.path.abspath(path) if path else "" for path in sys.argv[1:3]]
SEQUENCES = int(sys.argv[3])
os.environ.update(jobs.ENVIRONMENT)

RINGS = """\
workload: learning
data:
  inputs: {file: rings.csv, columns: [x, y]}
  targets: {file: rings.csv, columns: [ring]}
  held_out: 0.25
network: {layers: [{dense: 16, activation: relu}, {batch_norm: {}}, {dense: 3}]}
batch: 20
optimizer: {learning_rate: 3e-3}
run: {figures: false, tensorboard: false, name: rings}
threads: 1
"""


class GoingOn(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        numbers = random.Random(1)
        with open(self.folder / "rings.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["x", "y", "ring"])
            for row in range(600):
                radius, angle = row % 3 + 0.6 * numbers.random(), 2 * math.pi * numbers.random()
                rows.writerow([radius * math.cos(angle), radius * math.sin(angle), row % 3])
        self.write("rings.yaml", RINGS)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def start(self, *words, ranks=1):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        job = subprocess.Popen([*launcher, SAGIPS, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(jobs.kill_session, job)
        return job

    def sagips(self, *words, expect=0, ranks=1):
        job = self.start(*words, ranks=ranks)
        output, _ = job.communicate(timeout=200 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, expect, f"{words}\n{output}")
        return output

    def train(self, name, *words, **more):
        return self.sagips("train", "rings.yaml", f"run.name={name}", *words, **more)

    def run_folder(self, name):
        return self.folder / "runs/learning" / name

    def results(self, name):
        return json.loads((self.run_folder(name) / "results.json").read_text())

    def checkpoints(self, name):
        return sorted(path.name for path in (self.run_folder(name) / "checkpoints").glob("[0-9]*_epoch_*"))

    def network(self, name, file="network.safetensors"):
        return (self.run_folder(name) / file).read_bytes()

    def arrays(self, name, file="network.safetensors"):
        content = self.network(name, file)
        size = struct.unpack("<Q", content[:8])[0]
        return {key: (value["shape"], content[8 + size:][slice(*value["data_offsets"])])
                for key, value in json.loads(content[8:8 + size]).items() if key != "__metadata__"}

    def stopped(self, name, *words, ranks=1, checkpoints=1):
        """A run of many epochs that was stopped by a signal when it had checkpoints."""
        job = self.start("train", "rings.yaml", f"run.name={name}", "train.epochs=1000000", "train.checkpoints.epochs=50",
                         *words, ranks=ranks)
        deadline = time.monotonic() + 100 * jobs.SLOWDOWN
        while len(self.checkpoints(name)) < checkpoints and time.monotonic() < deadline:
            time.sleep(0.01)
        job.send_signal(signal.SIGTERM)
        output, _ = job.communicate(timeout=100 * jobs.SLOWDOWN)
        self.assertNotEqual(job.returncode, 0, output)

    # 450 rows and batches of 20: 23 updates an epoch, which were once counted here.
    def test_checkpoints_count_epochs(self):
        self.train("counted", "train.epochs=12", "train.checkpoints.epochs=5", "train.checkpoints.keep=9")
        self.assertEqual(self.checkpoints("counted"), ["000001_epoch_5", "000002_epoch_10", "000003_epoch_12"])

    def test_a_run_that_is_over_goes_on_as_if_it_had_not_ended(self):
        plan = ["early_stop.patience=0", "optimizer.schedule=constant", "train.evaluate_every=4"]
        self.train("whole", "train.epochs=20", *plan)
        self.train("longer", "train.epochs=12", *plan)
        for words in ([], ["--override"]):
            self.assertIn("this run has finished", self.train("longer", "train.epochs=12", *plan, *words, expect=2))
        self.assertIn("train.epochs: 12 -> 20", self.train("longer", "train.epochs=20", *plan, expect=2))
        self.assertIn("epoch 12 of 20", self.train("longer", "train.epochs=20", *plan, "--override"))
        for file in ("network.safetensors", "network_best.safetensors"):
            self.assertEqual(self.network("longer", file), self.network("whole", file), file)
        with open(self.run_folder("longer") / "metrics.jsonl", encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        self.assertEqual([event["epoch"] for event in events if event["event"] == "evaluated"], [0, 4, 8, 12, 16, 20])

    def test_what_an_early_stop_has_ended_goes_on_without_it(self):
        plan = ["train.epochs=30", "train.evaluate_every=1"]
        self.train("early", *plan, "early_stop.target=10")
        self.assertEqual(self.results("early")["epochs"], 1)
        self.train("early", *plan, "--override")
        self.assertEqual(self.results("early")["epochs"], 30)

    def test_what_changes_for_no_epoch_is_said(self):
        self.train("done", "train.epochs=2")
        self.assertIn("nothing is trained", self.train("done", "train.epochs=2", "optimizer.learning_rate=0.5", "--override"))
        self.assertNotIn("nothing is trained", self.train("done", "train.epochs=3", "--override"))

    def test_without_a_checkpoint_a_run_that_is_over_stays_as_it_is(self):
        never = ["train.checkpoints.minutes=0", "train.checkpoints.epochs=0"]
        self.train("over", "train.epochs=2", *never)
        before = self.network("over")
        self.assertIn("already there", self.train("over", "train.epochs=4", *never, "--override", expect=2))
        self.assertEqual(self.network("over"), before)

    def test_what_cannot_go_on_leaves_a_run_as_it_was(self):
        self.train("kept", "train.epochs=2")
        before = {path.name: path.read_bytes() for path in self.run_folder("kept").iterdir()
                  if path.name in ("config.yaml", "status.json", "network.safetensors")}
        for words in (["network.layers=[{dense: 3}]"], ["start_from=nowhere", "network.layers=[{dense: 3}]"]):
            refused = self.start("train", "rings.yaml", "run.name=kept", "train.epochs=4", "--override", *words)
            output, _ = refused.communicate(timeout=100 * jobs.SLOWDOWN)
            self.assertNotEqual(refused.returncode, 0, output)
            for name, content in before.items():
                self.assertEqual((self.run_folder("kept") / name).read_bytes(), content, f"{name}: {output}")
        self.sagips("predict", "runs/learning/kept")
        self.assertIn("2 epochs of this run are over", self.train("kept", "train.epochs=1", "--override"))

    def test_a_written_config_reads_back_whatever_its_layers(self):
        self.train("first", "train.epochs=1", "network.layers=[{dense: 8}, {activation: relu}, {flatten: true}, {dense: 3}]")
        self.sagips("predict", "runs/learning/first")
        self.assertIn("ready to train", self.sagips("check", "runs/learning/first/config.yaml"))

    def test_all_rows_may_be_learned_from_with_weights(self):
        with open(self.folder / "weights.csv", "w", encoding="utf-8") as file:
            file.writelines(["w\n"] + [f"{1 + row % 2}\n" for row in range(600)])
        self.train("all", "data.held_out=0", "train.epochs=2", "data.weights.file=weights.csv")
        self.assertIn("early_stop", self.train("none", "data.held_out=0", "early_stop.patience=3", expect=2))

    def test_a_time_limit_is_no_end(self):
        limited = ["train.epochs=1000000", "train.minutes=0.002"]
        epochs = [0]
        for _ in range(3):
            self.train("limited", *limited)
            epochs.append(self.results("limited")["epochs"])
        self.assertEqual(epochs, sorted(set(epochs)), "each start trains for as long again")
        unnamed = ["train", "rings.yaml", "run.name=", "train.epochs=1000000", "train.minutes=0.002"]
        self.sagips(*unnamed)
        self.assertIn("resuming", self.sagips(*unnamed))
        self.train("alone", "train.epochs=0", "train.minutes=0.002")  # here the time is the plan
        self.assertIn("this run has finished", self.train("alone", "train.epochs=0", "train.minutes=0.002", expect=2))

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_a_job_that_grows_and_shrinks_goes_on_at_its_epoch(self):
        often = ["train.checkpoints.epochs=3"]
        reached = 0
        for ranks in (1, 4, 2, 1, 3):
            count = len(self.checkpoints("grown"))
            job = self.start("train", "rings.yaml", "run.name=grown", "train.epochs=1000000", "train.checkpoints.keep=100",
                             *often, ranks=ranks)
            deadline = time.monotonic() + 100 * jobs.SLOWDOWN
            while len(self.checkpoints("grown")) < count + 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            jobs.kill_session(job)
            last = int(self.checkpoints("grown")[-1].split("_")[-1])
            self.assertGreater(last, reached, f"on {ranks} ranks")
            reached = last
        self.assertIn(f"epoch {reached} of {reached}", self.train("grown", f"train.epochs={reached}", *often,
                                                                  "train.checkpoints.keep=100", "--override"))

    def test_another_batch_and_another_rule_go_on(self):
        self.stopped("other")
        for words, said in ((["batch=7"], "resuming"), (["optimizer.rule=sgd"], "updates begin anew"),
                            (["optimizer.schedule=plateau"], "resuming"),
                            (["early_stop.metric=accuracy", "early_stop.better=higher"], "resuming")):
            with self.subTest(words):
                shutil.rmtree(self.run_folder("copy"), ignore_errors=True)
                shutil.copytree(self.run_folder("other"), self.run_folder("copy"))
                config = (self.run_folder("copy") / "config.yaml").read_text()
                (self.run_folder("copy") / "config.yaml").write_text(config.replace("name: other", "name: copy"))
                epochs = self.results("copy")["epochs"] + 5
                self.assertIn(said, self.train("copy", f"train.epochs={epochs}", *words, "--override"))
                self.assertEqual(self.results("copy")["epochs"], epochs)

    def test_the_best_network_is_kept_and_predicts(self):
        plan = ["train.epochs=40", "train.evaluate_every=1", "optimizer.learning_rate=0.2"]
        self.train("wild", *plan)
        numbers = self.results("wild")["numbers"]
        with open(self.run_folder("wild") / "metrics.jsonl", encoding="utf-8") as file:
            judged = [json.loads(line) for line in file if '"evaluated"' in line]
        losses = {event["epoch"]: event["metrics"]["loss"] for event in judged if event["epoch"] > 0}
        best = min(losses, key=losses.get)
        self.assertLess(best, 40, "or this test shows nothing")
        self.assertEqual((numbers["best_epoch"], numbers["loss_best"]), (best, losses[best]))
        self.assertEqual(numbers["loss_end"], losses[40])

        def said(*words):
            output = self.sagips("predict", "runs/learning/wild", *words)
            return float(re.search(r"loss +(\S+)", output).group(1)), output
        loss, output = said()
        self.assertAlmostEqual(loss, losses[best], delta=1e-3 * losses[best])
        self.assertIn("network_best.safetensors", output)
        self.assertAlmostEqual(said("network=last")[0], losses[40], delta=1e-3 * losses[40])
        self.train("restored", *plan, "early_stop.restore=true")
        self.assertEqual(self.results("restored")["numbers"]["loss_end"], losses[best])
        self.assertEqual(self.network("restored"), self.network("wild", "network_best.safetensors"))
        # who was interrupted knows the best one of before
        self.stopped("cut", "train.evaluate_every=1", "optimizer.learning_rate=0.2")
        before = self.results("cut")["numbers"]["best_epoch"]
        self.train("cut", f"train.epochs={self.results('cut')['epochs']}", "train.evaluate_every=1",
                   "optimizer.learning_rate=0.2", "--override")
        self.assertEqual(self.results("cut")["numbers"]["best_epoch"], before)

    def test_other_numbers_of_batches_make_an_update(self):
        for epochs, batches in enumerate((1, 7, 5, 1), 1):  # 23 batches an epoch: some are left over
            self.train("batches", f"train.epochs={epochs}", f"optimizer.batches_per_update={batches}",
                       *["--override"][:epochs - 1])
        self.assertEqual(self.results("batches")["epochs"], 4)

    def test_a_training_begins_from_a_trained_network(self):
        self.train("first", "train.epochs=10")
        self.train("second", "start_from=runs/learning/first", "train.epochs=1", "optimizer.learning_rate=1e-30")
        first, second = self.arrays("first", "network_best.safetensors"), self.arrays("second")
        for name, array in first.items():
            if "running" not in name:
                self.assertEqual(second[name], array, name)
        body = "layers: [{dense: 16, activation: relu}, {batch_norm: {}}], rate: 0, start_from: runs/learning/first"
        text = RINGS.replace("network: {layers: [{dense: 16, activation: relu}, {batch_norm: {}}, {dense: 3}]}",
                             "networks: {body: {%s}, head: {layers: [{dense: 8, activation: relu}, {dense: 3}]}}" % body)
        self.write("tuned.yaml", text)
        output = self.sagips("train", "tuned.yaml", "run.name=tuned", "train.epochs=3")
        self.assertIn("not used of it: layer2.bias, layer2.weight", output)
        tuned = self.arrays("tuned")
        self.assertEqual(tuned["body.layer0.weight"], first["layer0.weight"])
        # the end of a whole network is found by the number of its layer
        self.write("cut.yaml", text.replace("{dense: 8, activation: relu}, {dense: 3}]",
                                            "{dense: 3}], rate: 0, start_from: runs/learning/first"))
        self.sagips("train", "cut.yaml", "run.name=ends", "train.epochs=1")
        self.assertEqual(self.arrays("ends")["head.layer0.weight"], first["layer2.weight"])
        # what has begun does not need the file any more
        self.stopped("begun", "start_from=runs/learning/first")
        self.run_folder("first").rename(self.folder / "away")
        epochs = self.results("begun")["epochs"] + 1
        self.train("begun", "start_from=runs/learning/first", f"train.epochs={epochs}", "--override")
        before = sorted(path.name for path in (self.folder / "runs/learning").iterdir())
        for words, said in ((["start_from=runs/learning/first"], "first: cannot be read"),
                            (["start_from=rings.csv"], "rings.csv"), (["start_from=net.pt"], "net.pt: cannot be read"),
                            (["start_from=runs/learning/tuned"], "has no 'layer0.weight'"),
                            (["start_from=away", "network.layers=[{dense: 4}, {batch_norm: {}}, {dense: 3}]"],
                             "has the shape 16 x 2, and the network here 4 x 2")):
            with self.subTest(words):
                refused = self.train("none", *words, expect=2).strip()
                self.assertEqual(len(refused.splitlines()), 1, refused)
                self.assertIn(said, refused)
                self.assertEqual(sorted(path.name for path in (self.folder / "runs/learning").iterdir()), before)

    @unittest.skipUnless(SEQUENCES, "one of the long tests; train_test plays shorter ones in one process")
    def test_whatever_ends_a_start_epochs_only_rise(self):
        """Random sequences of starts on 1 to 4 ranks that are killed, stopped or come to a time limit."""
        numbers = random.Random(5)
        for sequence in range(SEQUENCES):
            name, reached = f"sequence_{sequence}", 0
            for _ in range(6):
                ranks = numbers.randint(1, 4) if MPIEXEC else 1
                words = ["train.epochs=1000000", "train.checkpoints.epochs=2", "train.minutes=0.005"]
                job = self.start("train", "rings.yaml", f"run.name={name}", *words, ranks=ranks)
                end = numbers.choice(("kill", "stop", "limit"))
                try:
                    job.communicate(timeout=numbers.uniform(0.3, 3) if end != "limit" else 100 * jobs.SLOWDOWN)
                except subprocess.TimeoutExpired:
                    if end == "stop":
                        job.send_signal(signal.SIGINT)
                        job.communicate(timeout=100 * jobs.SLOWDOWN)
                    else:
                        jobs.kill_session(job)
                known = self.checkpoints(name)
                now = int(known[-1].split("_")[-1]) if known else 0
                self.assertGreaterEqual(now, reached, f"sequence {sequence}: {known}")
                reached = now
            shutil.rmtree(self.run_folder(name), ignore_errors=True)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
