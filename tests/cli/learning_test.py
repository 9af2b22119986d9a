"""Learning problems from the command line: training, resuming, ranks, folds, predictions and bad input.

usage: learning_test.py MPIEXEC SAGIPS PLUGIN MAKE_SCRIPTS   (MPIEXEC may be empty: without tests of ranks)
"""
import csv
import fcntl
import gzip
import json
import math
import os
import re
import pathlib
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

import jobs

MPIEXEC, SAGIPS, PLUGIN, MAKE_SCRIPTS = sys.argv[1:5]
ENVIRONMENT = {**os.environ, **jobs.ENVIRONMENT}

CLASSES = """\
workload: learning
data:
  inputs: {file: rings.csv, columns: [x, y]}
  targets: {file: rings.csv, columns: [ring]}
  held_out: 0.25
network: {layers: [{dense: 32, activation: relu}, {batch_norm: {}}, {dropout: 0.1}, {dense: 3}]}
batch: 40
optimizer: {learning_rate: 3e-3}
train: {epochs: 20}
run: {figures: false, name: rings}
"""

VALUES = """\
workload: learning
data:
  inputs: {file: waves.csv, columns: [x]}
  targets: {file: waves.csv, columns: [wave]}
  held_out: 0.25
network: {layers: [{dense: 32, activation: tanh}, {dense: 1}]}
loss: mean_square
batch: 50
optimizer: {learning_rate: 1e-2}
train: {epochs: 60}
run: {figures: false, name: waves}
"""


# Two inputs and two outputs: a class that no input tells alone, and how bright the picture is.
BRANCHES = """\
workload: learning
data:
  inputs:
    tensors:
      image: {file: images.csv, shape: [1, 4, 4]}
      numbers: {file: spots.csv, columns: [sign]}
  targets:
    tensors:
      kind: {file: spots.csv, columns: [kind]}
      light: {file: spots.csv, columns: [light]}
  held_out: 0.25
network:
  layers:
    - branches:
        image: {layers: [{convolution: 4, kernel: 2, padding: same, activation: relu}, {flatten: {}}]}
        numbers: {layers: [{dense: 4}]}
    - {dense: 32, activation: relu}
    - residual: [{dense: 32, activation: relu}, {dense: 32}]
heads:
  kind: {layers: [{dense: 2}], loss: cross_entropy, names: [odd, even]}
  light: {layers: [{dense: 1}], loss: mean_square, weight: 2}
batch: 40
optimizer: {learning_rate: 3e-3}
train: {epochs: 40}
run: {figures: false, name: spots}
"""


def launcher(ranks):
    return [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []


def rings(rows):
    """Points of three rings around 0, which lie apart."""
    numbers = random.Random(1)
    table = []
    for row in range(rows):
        radius, angle = row % 3 + 0.6 * numbers.random(), 2 * math.pi * numbers.random()
        table.append([radius * math.cos(angle), radius * math.sin(angle), row % 3])
    return table


def waves(rows):
    numbers = random.Random(2)
    points = [numbers.uniform(-2, 2) for _ in range(rows)]
    return [[x, math.sin(2 * x)] for x in points]


def spots(rows):
    """Images whose left or right half is bright, and whether a sign turns that round."""
    numbers = random.Random(3)
    images, labels = [], []
    for row in range(rows):
        side, sign, light = row % 2, numbers.choice([-1, 1]), numbers.uniform(0.5, 1.5)
        images.append([light * ((place % 4 > 1) == side) + 0.1 * numbers.random() for place in range(16)])
        labels.append([sign, side if sign > 0 else 1 - side, light])
    return images, labels


class Learning(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        self.table("rings.csv", ["x", "y", "ring"], rings(600))
        self.table("waves.csv", ["x", "wave"], waves(400))
        self.write("rings.yaml", CLASSES)
        self.write("waves.yaml", VALUES)
        images, labels = spots(400)
        self.table("images.csv", [f"p{place}" for place in range(16)], images)
        self.table("spots.csv", ["sign", "kind", "light"], labels)
        self.write("spots.yaml", BRANCHES)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def table(self, name, header, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])

    def sagips(self, *words, expect=0, ranks=1):
        done = subprocess.run([*launcher(ranks), SAGIPS, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True,
                              text=True, check=False, timeout=200 * jobs.SLOWDOWN)
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def results(self, name):
        return json.loads((self.folder / f"runs/learning/{name}/results.json").read_text())["numbers"]

    def epochs(self, name):
        return json.loads((self.folder / f"runs/learning/{name}/results.json").read_text())["epochs"]

    def network(self, name):
        return (self.folder / f"runs/learning/{name}/network.safetensors").read_bytes()

    def test_classes_are_learned_and_predicted(self):
        self.sagips("train", "rings.yaml", "run.figures=true")
        folder = self.folder / "runs/learning/rings"
        numbers = self.results("rings")
        self.assertGreater(numbers["accuracy_end"], 0.95)
        self.assertLess(numbers["accuracy_start"], 0.7)
        for figure in ("learning_curves", "confusion", "roc"):
            self.assertTrue((folder / f"figures/{figure}.csv").exists(), figure)
        epochs = [json.loads(line)["epoch"] for line in (folder / "metrics.jsonl").read_text().splitlines()
                  if '"epoch_done"' in line]
        self.assertEqual(epochs, list(range(1, self.epochs("rings") + 1)), "however fast they are")
        curves = (folder / "figures/learning_curves.csv").read_text()
        self.assertEqual(curves.count(",batches,"), len(epochs))
        with open(folder / "figures/confusion.csv", newline="") as file:
            counts = sum(float(row["text"]) for row in csv.DictReader(file))
        self.assertEqual(counts, int(counts))
        self.assertIn(", AUC ", (folder / "figures/roc.csv").read_text())
        page = (folder / "report.html").read_text()
        for words in ("Confusion matrix", "ROC curves", "Learning curves", "How good is it?"):
            self.assertIn(words, page)
        # what it says of the rows kept aside is what the training has said of them
        said = self.sagips("predict", "runs/learning/rings").stdout
        self.assertIn(f"{numbers['accuracy_end']:.4g}"[:5], said)
        self.table("new.csv", ["x", "y"], [[0.1, 0.1], [0, 2.3]])
        self.sagips("predict", "runs/learning/rings", "inputs=new.csv", "out=new.npy")
        raw = (self.folder / "new.npy").read_bytes()
        rows = struct.unpack("<6f", raw[-24:])
        self.assertAlmostEqual(sum(rows[:3]), 1, places=5)
        self.assertEqual([max(range(3), key=lambda k: rows[3 * i + k]) for i in range(2)], [0, 2])

    def floats(self, name):
        raw = (self.folder / name).read_bytes()
        begin = 10 + struct.unpack("<H", raw[8:10])[0]
        return struct.unpack(f"<{(len(raw) - begin) // 4}f", raw[begin:])

    def test_several_inputs_and_outputs_are_learned_and_predicted(self):
        said = self.sagips("check", "spots.yaml").stdout
        self.assertIn("network: image 1 x 4 x 4, numbers 1 to kind 2, light 1,", said)
        self.assertRegex(said, r"\n +layer0\.image\.layer0 convolution +4 x 4 x 4 +20 ")
        self.sagips("train", "spots.yaml", "run.figures=true")
        numbers = self.results("spots")
        self.assertGreater(numbers["kind.accuracy_end"], 0.95)
        self.assertLess(numbers["light.mean_absolute_error_end"], 0.1)
        self.assertIn("kind.recall/even_end", numbers)
        folder = self.folder / "runs/learning/spots"
        for figure in ("confusion_kind", "roc_kind", "residuals_light"):
            self.assertTrue((folder / f"figures/{figure}.csv").exists(), figure)
            self.assertIn(figure, (folder / "report.html").read_text())
        said = self.sagips("predict", "runs/learning/spots").stdout
        self.assertIn(f"{numbers['kind.accuracy_end']:.4g}"[:5], said)
        self.assertEqual(len(self.floats("runs/learning/spots/predictions_kind.npy")), 200)
        self.assertEqual(len(self.floats("runs/learning/spots/predictions_light.npy")), 100)
        image = [1.2 * (place % 4 > 1) for place in range(16)]
        self.table("new_images.csv", [f"p{place}" for place in range(16)], [image, image])
        self.table("new_numbers.csv", ["other", "sign"], [[0, -1], [0, 1]])
        self.sagips("predict", "runs/learning/spots", "inputs.image=new_images.csv", "inputs.numbers=new_numbers.csv",
                    "out=new.npy")
        kinds, lights = self.floats("new_kind.npy"), self.floats("new_light.npy")
        self.assertGreater(kinds[0], 0.5)
        self.assertGreater(kinds[3], 0.5)
        self.assertAlmostEqual(lights[0], 1.2, delta=0.3)
        for words in (["inputs=new_images.csv"], ["inputs.image=new_images.csv"],
                      ["inputs.picture=new_images.csv", "inputs.numbers=new_numbers.csv"]):
            self.sagips("predict", "runs/learning/spots", *words, expect=2)

    def test_several_inputs_and_outputs_in_files_on_ranks_and_in_folds(self):
        plain = ["train", "spots.yaml", "train.epochs=3", "data.standardise=true", "early_stop.metric=kind.accuracy"]
        self.sagips(*plain, "run.name=memory")
        self.sagips(*plain, "run.name=files", "data.memory_GB=0")
        self.assertEqual(self.network("files"), self.network("memory"))
        self.assertEqual(self.results("files")["loss_end"], self.results("memory")["loss_end"])
        if MPIEXEC:
            self.sagips(*plain, "run.name=ranks", "batch=20", ranks=2)
            one, two = self.results("memory")["loss_end"], self.results("ranks")["loss_end"]
            self.assertAlmostEqual(one, two, delta=0.02 * one)
        self.sagips("ensemble", "spots.yaml", "--vary", "folds", "--members", "2", "train.epochs=3", "run.name=folds")
        said = self.sagips("predict", "runs/learning/folds").stdout
        self.assertIn("kind.accuracy", said)
        self.assertEqual(len(self.floats("runs/learning/folds/predictions_light.npy")), 400)

    def test_branches_that_do_not_fit_are_refused(self):
        def refusal(*words):
            said = self.sagips("check", "spots.yaml", *words, expect=2).stderr
            self.assertEqual(said.count("\n"), 1, said)
            return said

        self.assertIn("heads.lihgt: There is no tensor 'lihgt', did you mean 'light'?",
                      refusal("heads.lihgt={layers: [{dense: 1}], loss: mean_square}"))
        self.assertIn("network.layers.0 (branches): There is no tensor 'imgae', did you mean 'image'?",
                      refusal("network.layers.0.branches.imgae={}"))
        self.assertIn("network.layers.2 (residual): 'residual' makes 31, and 'shortcut' 32, which do not add.",
                      refusal("network.layers.2.residual=[{dense: 31}]"))
        self.assertIn("heads.kind.layers.0 (dense)", refusal("heads.kind.layers=[{dense: 2, negative_slope: 0.1}]"))
        self.assertIn("data.inputs.tensors.image.file: is empty", refusal("data.inputs.tensors.image.file="))
        self.assertIn("data.inputs.file: stands beside tensors", refusal("data.inputs.file=images.csv"))
        self.assertIn("heads.kind: a row is of class 1", refusal("heads.kind.layers=[{dense: 1}]", "heads.kind.names=[]"))
        self.assertIn("no effect", self.sagips("check", "spots.yaml", "loss=mean_square").stderr)
        self.assertIn("data.targets.tensors.more (no head learns it)", self.sagips(
            "check", "spots.yaml", "data.targets.tensors.more={file: spots.csv, columns: [sign]}").stderr)

    def test_values_are_learned(self):
        self.sagips("train", "waves.yaml", "run.figures=true")
        self.assertLess(self.results("waves")["mean_absolute_error_end"], 0.1)
        for figure in ("learning_curves", "residuals", "predicted_against_true"):
            self.assertTrue((self.folder / f"runs/learning/waves/figures/{figure}.csv").exists(), figure)
        self.assertIn("metric,start,end", (self.folder / "runs/learning/waves/summary.csv").read_text())

    def test_a_run_that_was_interrupted_ends_as_one_that_was_not(self):
        longer = ["train", "rings.yaml", "train.epochs=400", "train.evaluate_every=20"]
        self.sagips(*longer, "run.name=whole")
        job = self.start_and_wait_for("evaluation at epoch 40", *longer, "run.name=cut")
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=100 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, 3)
        self.assertIn("resuming", self.sagips(*longer, "run.name=cut").stderr)
        self.assertEqual(self.network("cut"), self.network("whole"))

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_ranks_learn_together(self):
        plain = ["train", "waves.yaml", "train.epochs=30"]
        self.sagips(*plain, "batch=100", "run.name=one")
        self.sagips(*plain, "batch=50", "run.name=two", ranks=2)
        one, two = self.results("one"), self.results("two")
        self.assertAlmostEqual(one["loss_end"], two["loss_end"], delta=0.02 * one["loss_end"])
        refused = self.sagips(*plain, "optimizer.schedule=plateau", ranks=2, expect=2)
        self.assertIn("optimizer.schedule", refused.stderr)

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_workers_of_a_master(self):
        plain = ["train", "rings.yaml", "train.epochs=20", "threads=1",
                 "network.layers=[{dense: 32, activation: relu}, {dropout: 0.1}, {dense: 3}]"]
        served = [*plain, "exchange=served", "exchanges.served.owners=master"]
        self.sagips(*plain, "run.name=alone")
        self.sagips(*served, "run.name=worker", ranks=2)
        self.assertEqual(self.network("worker"), self.network("alone"))  # one worker is the serial optimizer
        gem = ["exchanges.served.gem.learning_rate=0.1", "optimizer.learning_rate=1e-3"]  # which it refuses to change
        for rule in ("downpour", "easgd", "gem"):
            self.sagips(*served, f"exchanges.served.rule={rule}", *(gem if rule == "gem" else []),
                        "train.epochs=60", f"run.name={rule}", ranks=3)
            numbers = self.results(rule)
            self.assertLess(numbers["loss_end"], numbers["loss_start"], rule)
            # the start is judged before any worker has moved it
            self.assertEqual(numbers["loss_start"], self.results("alone")["loss_start"], rule)
        with open(self.folder / "runs/learning/downpour/exchange.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        steps = int(rows[1]["calls"])  # every step of either worker is one update of the master, none is lost
        self.assertEqual(int(rows[0]["used"]), 2 * steps)
        # a check on the same ranks says what a training would refuse
        for command in ("train", "check"):
            refused = self.sagips(command, *served[1:], "exchanges.served.masters=2", "run.name=no", ranks=2, expect=2)
            self.assertIn("none compute", refused.stderr)
        ready = self.sagips("check", *served[1:], ranks=3).stdout
        self.assertIn("3 ranks, 225 rows each: network: downpour, 2 workers, 1 master", ready)
        self.assertIn("ready to train", ready)

    # A master sees no rows: it judges and writes the mean of what its workers have found.
    @jobs.in_long_tests
    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_running_statistics_travel_to_masters(self):
        served = ["train", "rings.yaml", "exchange=served", "exchanges.served.owners=master", "train.epochs=30",
                  "threads=1"]
        plain = ["train", "rings.yaml", "train.epochs=30", "threads=1"]
        self.sagips(*plain, "run.name=alone")
        self.sagips(*served, "run.name=worker", ranks=2)
        self.assertEqual(self.network("worker"), self.network("alone"))
        for name, ranks, own in [("three", 4, []), ("groups", 5, ["exchanges.served.groups=2"]),
                                 ("easgd", 3, ["exchanges.served.rule=easgd"]),
                                 ("nodes", 2, ["exchanges.served.owners=nodes"])]:
            self.sagips(*served, *own, "train.epochs=60", "batch=20", f"run.name={name}", ranks=ranks)
            self.assertGreater(self.results(name)["accuracy_end"], 0.9, name)
    def weights(self, name):
        raw = self.network(name)
        length = struct.unpack("<Q", raw[:8])[0]
        places = [entry["data_offsets"] for key, entry in json.loads(raw[8:8 + length]).items() if key != "__metadata__"]
        return [number for begin, end in sorted(places)
                for number in struct.unpack(f"<{(end - begin) // 4}f", raw[8 + length + begin:8 + length + end])]

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_synchronous_workers_are_an_all_reduce(self):
        plain = ["train", "waves.yaml", "train.epochs=5", "threads=1"]
        self.sagips(*plain, "exchange=all_reduce", "run.name=all_reduce", ranks=4)
        expected = self.weights("all_reduce")
        for owners in ("all", "nodes"):
            self.sagips(*plain, "exchange=served", f"exchanges.served.owners={owners}", "exchanges.served.synchronous=true",
                        f"run.name={owners}", ranks=4)
            found = self.weights(owners)
            self.assertLess(math.dist(found, expected), 1e-6 * math.hypot(*expected), owners)

    @jobs.in_long_tests
    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_masters_meet_workers_that_collect(self):
        served = ["train", "waves.yaml", "train.epochs=12", "threads=1", "exchange=served", "ranks.timeout_s=60",
                  "exchanges.served.owners=master"]
        for name, ranks, own in [
                ("synchronous", 3, ["exchanges.served.synchronous=true", "exchanges.served.every=3"]),
                ("teams", 3, ["exchanges.served.ranks_per_worker=2", "exchanges.served.every=3"]),
                ("groups", 4, ["exchanges.served.groups=1", "exchanges.served.ranks_per_worker=2",
                               "exchanges.served.parent_every=1", "batch=5"])]:
            self.sagips(*served, *own, f"run.name={name}", ranks=ranks)
            self.assertLess(self.results(name)["loss_end"], self.results(name)["loss_start"], name)

    @jobs.in_long_tests
    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_another_number_of_workers_goes_on_with_the_central_weights(self):
        served = ["train", "rings.yaml", "exchange=served", "threads=1", "run.figures=false",
                  "train.evaluate_every=100", "ranks.timeout_s=60", "optimizer.schedule=constant"]
        for owners in ("all", "master"):
            own = [f"exchanges.served.owners={owners}", f"run.name={owners}"]
            job = self.start_and_wait_for("evaluation at epoch 300", *served, *own, "train.epochs=20000", ranks=3)
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=100 * jobs.SLOWDOWN)
            before = self.network(owners)
            self.sagips(*served, *own, "train.epochs=1", "--override", ranks=4)  # nobody has an epoch left
            self.assertEqual(self.network(owners), before, owners)

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_workers_that_were_interrupted_go_on(self):
        served = ["train", "rings.yaml", "exchange=served", "train.epochs=2000", "train.evaluate_every=20",
                  "threads=1", "run.figures=false", "run.name=cut"]
        job = self.start_and_wait_for("evaluation at epoch 40", *served, ranks=2)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=100 * jobs.SLOWDOWN)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("resuming", self.sagips(*served, "train.epochs=2000", ranks=2).stderr)
        self.assertEqual(self.epochs("cut"), 2000)
        lines = (self.folder / "runs/learning/cut/metrics.jsonl").read_text(encoding="utf-8").splitlines()
        events = [json.loads(line) for line in lines]
        judged = [event["epoch"] for event in events if event["event"] == "evaluated" and event["epoch"] % 20 == 0]
        self.assertEqual(sorted(set(judged[:-1])), judged[:-1])  # the last one is told again at the end
        self.assertGreaterEqual(len(set(judged)), 99)  # of 101: who stopped may not all have come to the last two

    def test_the_area_of_the_picture_is_that_of_the_metric(self):
        numbers = random.Random(5)
        rows = [[numbers.gauss(row % 2, 1), row % 2, numbers.uniform(0, 2)] for row in range(600)]
        self.table("sure.csv", ["x", "kind", "weight"], rows)
        for loss, width in (("binary_cross_entropy", 1), ("cross_entropy", 2)):
            # so large a rate gives probabilities of which most are 0 or 1 in 32 bits
            self.sagips("train", "rings.yaml", f"loss={loss}", f"network.layers=[{{dense: {width}}}]", "batch=50",
                        "data.inputs={file: sure.csv, columns: [x]}", "data.targets={file: sure.csv, columns: [kind]}",
                        "data.weights={file: sure.csv, columns: [weight]}", "train.epochs=3", f"run.name={loss}",
                        "optimizer={rule: sgd, learning_rate: 1000}", "run.figures=true")
            curve = (self.folder / f"runs/learning/{loss}/figures/roc.csv").read_text()
            self.assertIn(f", AUC {self.results(loss)['area_under_curve_end']:.4f}", curve)

    def test_folds_and_members(self):
        said = self.sagips("ensemble", "rings.yaml", "--vary", "folds", "--members", "3", "run.name=folds",
                           "run.figures=true").stdout
        self.assertIn("3 members that vary folds", said)
        curves = (self.folder / "runs/learning/folds/figures/member_curves.csv").read_text()
        for name in ("fold_001", "fold_003", "mean", "± deviation"):
            self.assertIn(f",{name},", curves)
        self.assertRegex((self.folder / "runs/learning/folds/report.html").read_text(), r">[\d.]+ ± [\d.]+ % right<")
        values = []
        for fold in (1, 2, 3):
            values.append(self.results(f"folds/members/learning/fold_00{fold}")["accuracy_end"])
        self.assertAlmostEqual(self.results("folds")["accuracy_end"], sum(values) / 3, places=12)
        for words in (["--members", "1000"], ["data.validation_inputs.file=rings.csv",
                      "data.validation_inputs.columns=[x, y]", "data.validation_targets.file=rings.csv",
                      "data.validation_targets.columns=[ring]"], ["data.fold=1/3"]):
            refused = self.sagips("ensemble", "rings.yaml", "--vary", "folds", *words, "run.name=none", expect=2)
            self.assertIn("data.fold", refused.stderr)
            self.assertFalse((self.folder / "runs/learning/none").exists())
        self.assertIn("all,accuracy,3,", (self.folder / "runs/learning/folds/ensemble.csv").read_text())
        (self.folder / "runs/learning/folds/members/learning/fold_002/metrics.jsonl").unlink()
        said = self.sagips("ensemble", "rings.yaml", "--vary", "folds", "--members", "3", "run.name=folds",
                           "run.figures=true", "--override")
        self.assertIn("drawn without fold_002", said.stderr)
        self.assertNotIn(",fold_002,", (self.folder / "runs/learning/folds/figures/member_curves.csv").read_text())
        self.assertIn("ensemble.vary", self.sagips("ensemble", "rings.yaml", "--vary", "both", expect=2).stderr)
        self.assertIn("ensemble.vary", self.sagips("ensemble", "proxy1d", "--vary", "folds", expect=2).stderr)

    def test_folds_that_were_interrupted_go_on_with_as_many(self):
        study = ["ensemble", "rings.yaml", "--vary", "folds", "run.name=cut"]
        job = subprocess.Popen([SAGIPS, *study, "--members", "3", "train.epochs=1000000"], cwd=self.folder,
                               env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        waiting = time.monotonic() + 100 * jobs.SLOWDOWN
        while not (self.folder / "runs/learning/cut/members/learning/fold_001").exists() and time.monotonic() < waiting:
            time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        self.assertEqual(job.wait(timeout=100 * jobs.SLOWDOWN), 3)
        refused = self.sagips(*study, "--members", "4", "train.epochs=1000000", "--override", expect=2).stderr
        self.assertIn("ensemble.members", refused)  # other parts of the rows are another study

    def test_targets_are_no_inputs_however_their_file_is_written(self):
        for file in ("./rings.csv", str(self.folder / "rings.csv")):
            said = self.sagips("check", "rings.yaml", f"data.inputs.file={file}", "data.inputs.columns=[]").stdout
            self.assertIn("network: 2 to 3,", said)

    def test_a_target_that_is_an_input_is_refused_unless_all_are(self):
        refused = self.sagips("check", "rings.yaml", "data.inputs.columns=[x, ring]", expect=2).stderr
        self.assertIn("data.inputs.columns: 'ring' is a target, too", refused)
        self.sagips("check", "waves.yaml", "data.inputs.columns=[wave]")  # an autoencoder

    def test_predictions_are_of_rows_that_were_not_learned_from(self):
        self.sagips("train", "waves.yaml", "train.epochs=2", "data.held_out=0.0025", "run.figures=true",
                    "data.inputs.columns=[]")
        self.assertTrue((self.folder / "runs/learning/waves/report.html").exists(), "one row is kept aside")
        self.table("waves.csv", ["x", "wave"], waves(399))
        self.assertIn("inputs=FILE", self.sagips("predict", "runs/learning/waves", expect=2).stderr)
        (self.folder / "waves.csv").unlink()
        self.table("new.csv", ["x"], [[0.5], [1]])
        self.sagips("predict", "runs/learning/waves", "inputs=new.csv", "out=new.npy")
        self.table("wide.csv", ["x", "y"], [[0.5, 1]])
        refused = self.sagips("predict", "runs/learning/waves", "inputs=wide.csv", expect=2).stderr
        self.assertIn("wide.csv: has rows of 2, which do not fit the network", refused)

    def test_inputs_may_be_one_number_a_row(self):
        header = b"\x93NUMPY\x01\0v\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (400,), }"
        (self.folder / "flat.npy").write_bytes(header.ljust(127) + b"\n" + struct.pack("<400f", *range(400)))
        said = self.sagips("check", "waves.yaml", "data.inputs.file=flat.npy", "data.inputs.columns=[]").stdout
        self.assertIn("network: 1 to 1,", said)

    def test_a_page_compares_runs(self):
        for rate in ("1e-3", "1e-2"):
            self.sagips("train", "rings.yaml", f"optimizer.learning_rate={rate}", f"run.name=rate_{rate}")
        self.sagips("report", "runs/learning/rate_1e-3", "runs/learning/rate_1e-2", "--out", "both.html")
        page = (self.folder / "both.html").read_text()
        for words in ("accuracy", "area_under_curve", "optimizer.learning_rate"):
            self.assertIn(words, page)

    def test_several_networks_have_rates_and_exchanges_of_their_own(self):
        self.write("parts.yaml", CLASSES.replace("network: {layers: [{dense: 32, activation: relu}, {batch_norm: {}}, {dropout: 0.1}, {dense: 3}]}", """
networks:
  body: {layers: [{dense: 32, activation: relu}, {dropout: 0.1}], rate: 0.5}
  head: {layers: [{dense: 3}], exchange: ring}
"""))
        said = self.sagips("check", "parts.yaml").stdout
        self.assertIn("body: 2 to 32, 96 weights", said)
        self.assertIn("head: 32 to 3, 99 weights", said)
        self.sagips("train", "parts.yaml", "run.name=alone")
        self.assertGreater(self.results("alone")["accuracy_end"], 0.9)
        self.assertIn(b'"body.layer0.weight"', self.network("alone"))
        self.sagips("predict", "runs/learning/alone")
        if MPIEXEC:
            said = self.sagips("train", "parts.yaml", "run.name=ranks", ranks=2).stderr
            self.assertIn("body: the library's all-reduce over 2 ranks; head: ring over 2 ranks", said)
        refused = self.sagips("train", "parts.yaml", "network.layers=[{dense: 3}]", expect=2).stderr
        self.assertIn("networks: stand in place of network.layers", refused)
        refused = self.sagips("train", "parts.yaml", "networks.head.layers=[{gru: 3}]", expect=2).stderr
        self.assertIn("networks.head.layers.0 (gru)", refused)

    def test_modules_losses_and_metrics_of_a_plug_in(self):
        own = [f"plugin={PLUGIN}", "network.layers=[{module: two_layers}, {dense: 3}]", "loss=squared_entropy"]
        self.assertIn("layer0 module", self.sagips("check", "rings.yaml", *own).stdout)
        self.sagips("train", "rings.yaml", *own, "threads=2")
        self.assertGreater(self.results("rings")["accuracy_end"], 0.9)
        self.assertAlmostEqual(self.results("rings")["mean_probability_end"], 1 / 3, places=5)  # of three classes
        self.assertIn("mean_probability", self.sagips("predict", "runs/learning/rings").stdout)
        small = ["train.epochs=3", "batch.samples=4", "batch.events=10", "toy.events=500", "run.figures=false"]
        networks = [f"{which}.hidden_layers=[{{module: two_layers}}]" for which in ("generator", "discriminator")]
        said = self.sagips("check", "proxy1d", f"plugin={PLUGIN}", *networks).stdout
        for words in ("generator: 6 to 6, 918 weights", "discriminator: 2 to 1, 697 weights", "layer0 module"):
            self.assertIn(words, said)
        self.sagips("train", "proxy1d", f"plugin={PLUGIN}", *networks, *small, "run.name=modules")
        self.sagips("predict", "runs/proxy1d/modules", "samples=10")
        refused = self.sagips("train", "proxy1d", f"plugin={PLUGIN}", *small, "run.name=refused", expect=2,
                              *["generator.hidden_layers=[{module: with_dropout}]"])
        self.assertIn("generator.hidden_layers: has dropout", refused.stderr)

    def train_script(self, *words):
        subprocess.run([MAKE_SCRIPTS], cwd=self.folder, check=True)
        self.sagips("train", "rings.yaml", "network.layers=[{script: network.pt}]", *words)
        return "runs/learning/rings/network.pt"

    def test_a_network_from_torchscript(self):
        trained = self.train_script("threads=2")
        numbers = self.results("rings")
        self.assertGreater(numbers["accuracy_end"], 0.9)
        self.assertLess(numbers["accuracy_start"], 0.7)
        self.sagips("predict", "runs/learning/rings")
        # another training begins where this one has ended
        self.sagips("train", "rings.yaml", f"network.layers=[{{script: {trained}}}]", "run.name=further",
                    "train.epochs=1")
        for metric in ("accuracy", "loss"):
            self.assertAlmostEqual(self.results("further")[f"{metric}_start"], numbers[f"{metric}_end"], places=5)
        self.write("parts.yaml", CLASSES.replace("network: {layers: [{dense: 32, activation: relu}, {batch_norm: {}}, "
                                                 "{dropout: 0.1}, {dense: 3}]}", """
networks:
  body: {layers: [{script: network.pt}]}
  head: {layers: [{dense: 3}]}"""))
        self.sagips("train", "parts.yaml", "run.name=parts", "train.epochs=1")
        files = {path.name for path in (self.folder / "runs/learning/parts").glob("*.pt")}
        self.assertEqual(files, {"body.pt", "body_best.pt"})
        self.write("network.pt", "changed since")
        refused = self.sagips("train", "parts.yaml", "run.name=refused", expect=2).stderr
        self.assertIn("networks.body.layers.0 (script)", refused)
        self.assertIn("is no TorchScript module", refused)

    def test_a_generator_and_a_discriminator_from_torchscript(self):
        subprocess.run([MAKE_SCRIPTS], cwd=self.folder, check=True)
        layers = [f"{network}.hidden_layers=[{{script: layer_of_{inputs}.pt}}, {{dense: 16, activation: leaky_relu}}]"
                  for network, inputs in (("generator", 6), ("discriminator", 2))]
        said = self.sagips("check", "proxy1d", *layers).stdout
        self.assertIn("layer0 script", said)
        self.assertIn("generator: 6 to 6, 470 weights", said)  # 16*6 + 16*16+16 + 6*16+6
        short = ["train.epochs=6", "run.figures=false", "toy.events=2000", "run.fit=false"]
        self.sagips("train", "proxy1d", *layers, *short, "run.name=scripts", "threads=2")
        numbers = json.loads((self.folder / "runs/proxy1d/scripts/results.json").read_text())
        self.assertEqual(numbers["epochs"], 6)
        self.sagips("predict", "runs/proxy1d/scripts")
        refused = self.sagips("train", "proxy1d", "discriminator.hidden_layers=[{script: network.pt}]", *short, expect=2)
        self.assertIn("has batch norm", refused.stderr)

    def test_python_reads_a_trained_torchscript_network(self):
        full = pathlib.Path(__file__).resolve().parents[2] / ".venv-full/bin/python"
        pythons = [python for python in (sys.executable, full) if python and pathlib.Path(python).exists()
                   and not subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode]
        if not pythons:
            self.skipTest(f"{sys.executable} cannot import torch (tools/setup.sh full installs one that can)")
        trained = self.train_script("train.epochs=3")
        self.table("new.csv", ["x", "y"], [[0.1, 0.1], [0, 2.3]])
        self.sagips("predict", "runs/learning/rings", "inputs=new.csv", "out=new.npy")
        ours = struct.unpack("<6f", (self.folder / "new.npy").read_bytes()[-24:])
        read = ("import sys, torch; print(*torch.jit.load(sys.argv[1])(torch.tensor([[0.1, 0.1], [0, 2.3]]))"
                ".softmax(1).flatten().tolist())")
        said = subprocess.run([pythons[0], "-c", read, trained], cwd=self.folder, capture_output=True, text=True,
                              check=True).stdout
        for one, other in zip(ours, map(float, said.split()), strict=True):
            self.assertAlmostEqual(one, other, places=5)

    # Points of rings in three .npy files and a list of them.
    def streamed(self, *words):
        points = rings(2000)
        for number, (first, end) in enumerate(((0, 700), (700, 701), (701, 2000))):
            self.npy(f"rings_{number}.npy", points[first:end])
        self.write("rings.txt", "rings_0.npy\nrings_1.npy\nrings_2.npy\n")
        source = ["data.inputs.file=rings_*.npy", "data.inputs.columns=[0, 1]", "data.targets.file=rings.txt",
                  "data.targets.columns=[2]", "data.cache.folder=cache"]
        return ["train", "rings.yaml", *source, *words]

    def npy(self, name, rows):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        (self.folder / name).write_bytes(content + b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows))

    def start_and_wait_for(self, words, *command, ranks=1):
        job = subprocess.Popen([*launcher(ranks), SAGIPS, *command], cwd=self.folder, env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in job.stdout:
            if words in line:
                return job
        self.fail(f"'{words}' was never said")

    def test_rows_in_files_give_the_network_of_rows_in_memory(self):
        anew = "data.memory_GB=0"
        self.sagips(*self.streamed("run.name=held", "train.epochs=10"))
        said = self.sagips(*self.streamed("run.name=anew", "train.epochs=10", anew)).stderr
        self.assertIn("read anew in each epoch", said)
        self.assertIn("s for rows of files", said)
        self.assertEqual(self.network("anew"), self.network("held"))
        self.assertGreater(self.results("anew")["accuracy_end"], 0.9)
        self.assertLess(self.results("anew")["waited_for_rows_s"], 10 * jobs.SLOWDOWN)
        # interrupted, it goes on as if nothing had happened
        longer = self.streamed("train.epochs=100", "train.evaluate_every=20", anew)
        self.sagips(*longer, "run.name=whole")
        job = self.start_and_wait_for("evaluation at epoch 20", *longer, "run.name=cut")
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=100 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, 3)
        self.assertIn("resuming", self.sagips(*longer, "run.name=cut").stderr)
        self.assertEqual(self.network("cut"), self.network("whole"))
        # what is predicted is predicted in pieces, of the files as well
        self.assertIn("accuracy", self.sagips("predict", "runs/learning/anew").stdout)

    @unittest.skipUnless(MPIEXEC, "there is no mpiexec")
    def test_ranks_read_their_own_rows(self):
        layers = "network.layers=[{dense: 16, activation: tanh}, {dense: 3}]"  # no statistics of a batch
        plain = self.streamed("data.memory_GB=0", "train.epochs=5", layers)
        self.sagips(*plain, "batch=100", "run.name=one")
        self.sagips(*plain, "batch=50", "run.name=two", ranks=2)
        one, two = self.results("one"), self.results("two")
        self.assertAlmostEqual(one["loss_end"], two["loss_end"], delta=1e-3 * one["loss_end"])

    def test_a_file_that_vanishes_ends_the_training_and_not_the_run(self):
        command = self.streamed("data.memory_GB=0", "train.epochs=100000", "train.checkpoints.epochs=20",
                                "train.evaluate_every=50")
        job = self.start_and_wait_for("evaluation at epoch 50", *command)
        deadline = time.monotonic() + 60 * jobs.SLOWDOWN
        while not list((self.folder / "runs/learning/rings/checkpoints").glob("*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        content = (self.folder / "rings_2.npy").read_bytes()
        (self.folder / "rings_2.npy").unlink()
        said = job.communicate(timeout=100 * jobs.SLOWDOWN)[0]
        self.assertEqual(job.returncode, 1, said)
        error = [line for line in said.splitlines() if "error:" in line]
        self.assertEqual(len(error), 1, said)
        self.assertIn("rings_2.npy", error[0])
        (self.folder / "rings_2.npy").write_bytes(content)
        self.assertIn("resuming", self.sagips(*command, "train.minutes=0.02", "--override").stderr)

    def test_rows_pass_through_a_script_of_the_user(self):
        subprocess.run([MAKE_SCRIPTS], cwd=self.folder, check=True)
        for memory in ("data.memory_GB=1", "data.memory_GB=0"):
            self.sagips(*self.streamed("data.inputs.script=shift.pt", memory, f"run.name={memory[-1]}"))
        self.assertEqual(self.network("0"), self.network("1"))
        refused = self.sagips(*self.streamed("data.inputs.script=wrong_size.pt"), expect=2).stderr
        self.assertIn("wrong_size.pt", refused)
        self.assertEqual(len(refused.strip().splitlines()), 1, refused)

    def test_remote_files_are_copied_once(self):
        command = self.streamed("run.name=far", "train.epochs=2")
        self.write("far.txt", "store://rings_0.npy\nstore://rings_2.npy\n")
        self.write("fetch.sh", 'echo "$1" >> fetched; cp "${1#store://}" "$2"\n')
        far = ["data.inputs.file=far.txt", "data.targets.file=far.txt", "data.cache.copy=sh fetch.sh {} {}"]
        for name in ("far", "again"):
            self.sagips(*command, *far, f"run.name={name}")
        self.assertEqual((self.folder / "fetched").read_text(), "store://rings_0.npy\nstore://rings_2.npy\n")
        self.assertEqual(self.network("far"), self.network("again"))
        for words, said in (
                (["data.cache.copy="], "is on another machine"),
                (["data.cache.copy=sh fetch.sh {}"], "data.cache.copy"),
                (["data.cache.copy=false {} {}", "data.cache.folder=other"], "'false' ended with 1"),
                (["data.cache.copy=sleep 60 {} {}", "data.cache.folder=other"], "'sleep' ended with 1"),
                (["data.cache.limit_GB=1e-6", "data.cache.folder=other"], "data.cache.limit_GB"),
                (["data.cache.folder=far.txt/below"], "data.cache.folder"),
        ):
            with self.subTest(words):
                refused = self.sagips(*command, *far, "run.name=refused", *words, expect=2).stderr.strip()
                self.assertEqual(len(refused.splitlines()), 1, refused)
                self.assertIn(said, refused)
                self.assertFalse((self.folder / "runs/learning/refused").exists())

    def test_a_full_disk_of_the_cache_is_named_before_the_training(self):
        self.write("far.txt", "store://large.csv\n")
        self.table("large.csv", ["x", "y", "ring"], rings(60000))  # 2.5 MB, and 480 kB unpacked
        with_disk = 'mkdir -p small && mount -t tmpfs -o size=$0 tmpfs small && "$@"; code=$?; ls -A small; exit $code'
        self.write("fetch.sh", 'cp "${1#store://}" "$2"\n')
        far = ["data.cache.copy=sh fetch.sh {} {}"]
        for size, name, file, words in (("1m", "store://large.csv", "far.txt", far),
                                        ("200k", str(self.folder / "large.csv"), "large.csv", [])):
            with self.subTest(file):
                job = subprocess.run(
                    ["unshare", "-r", "-m", "sh", "-c", with_disk, size, SAGIPS, "train", "rings.yaml", "data.memory_GB=0",
                     f"data.inputs.file={file}", f"data.targets.file={file}", "data.cache.folder=small", *words],
                    cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True, check=False,
                    timeout=200 * jobs.SLOWDOWN)
                if "unshare:" in job.stderr or "mount:" in job.stderr:
                    self.skipTest("no right to mount: " + job.stderr)
                self.assertEqual(job.returncode, 2, job.stderr)
                self.assertEqual(len(job.stderr.strip().splitlines()), 1, job.stderr)
                self.assertIn(f"data.cache.folder: '{self.folder}/small' has no room for '{name}' (No space left on "
                              "device). Free space there", job.stderr)
                self.assertEqual(job.stdout, "", "nothing is left in the cache")
                self.assertFalse((self.folder / "runs").exists())

    def test_weights_count_by_their_shares(self):
        numbers = random.Random(5)
        rows = []
        for row in range(600):  # a tenth are signal
            kind = int(numbers.random() < 0.1)
            rows.append([numbers.gauss(kind, 1), numbers.gauss(kind, 1), kind, 1, 1e-6, 1e6, 0, 9 if kind else 1])
        self.table("few.csv", ["x", "y", "ring", "one", "tiny", "huge", "zero", "class"], rows)
        plain = ["train", "rings.yaml", "data.inputs.file=few.csv", "data.targets.file=few.csv", "train.epochs=5",
                 "network.layers=[{dense: 8, activation: tanh}, {dense: 2}]", "threads=1",
                 "optimizer={rule: sgd, learning_rate: 0.1, momentum: 0.9}", "batch=50"]
        weighted = lambda column: ["data.weights.file=few.csv", f"data.weights.columns={column}", f"run.name={column}"]
        self.sagips(*plain, "run.name=none")
        expected = self.results("none")
        for column in ("one", "tiny", "huge"):
            self.sagips(*plain, *weighted(column))
            for name in ("loss_end", "area_under_curve_end"):
                self.assertAlmostEqual(self.results(column)[name], expected[name], delta=1e-4, msg=f"{column} {name}")
        for memory in ("data.memory_GB=4", "data.memory_GB=0"):
            refused = self.sagips(*plain, *weighted("zero"), memory, expect=2).stderr.strip()
            self.assertIn("data.weights: those of a training's rows", refused)
            self.assertEqual(len(refused.splitlines()), 1, refused)
        self.assertFalse((self.folder / "runs/learning/zero").exists())
        # weights of rows by their class are the weights of classes, in memory, in files and on ranks
        self.sagips(*plain, *weighted("class"))
        expected = self.network("class")
        self.sagips(*plain, *weighted("class"), "data.memory_GB=0", "run.name=files")
        self.assertEqual(self.network("files"), expected)
        self.sagips(*plain, "class_weights=[1, 9]", "run.name=classes")
        self.assertAlmostEqual(self.results("classes")["area_under_curve_end"],
                               self.results("class")["area_under_curve_end"], delta=0.02)
        if MPIEXEC:
            self.sagips(*plain, *weighted("class"), "batch=25", "run.name=ranks", ranks=2)
            for name in ("loss_end", "area_under_curve_end"):
                self.assertAlmostEqual(self.results("ranks")[name], self.results("class")[name], delta=1e-3)

    def test_standardised_rows_are_learned_alike_in_any_units(self):
        numbers = random.Random(6)
        rows = []
        for _ in range(400):
            x, y = numbers.uniform(-2, 2), numbers.uniform(-2, 2)
            rows.append([x, y, 0.01 * x + 3, 1e4 * y, math.sin(x) + y, 1500 + 300 * (math.sin(x) + y)])
        self.table("units.csv", ["x", "y", "small", "large", "plain", "scaled"], rows)
        plain = ["train", "waves.yaml", "data.inputs.file=units.csv", "data.targets.file=units.csv", "threads=1",
                 "train.epochs=40"]
        def error_of(name, inputs, target, *words):
            self.sagips(*plain, f"data.inputs.columns={inputs}", f"data.targets.columns={target}", f"run.name={name}", *words)
            return self.results(name)["mean_absolute_error_end"]
        # without it values near 1,500 are not reached
        self.assertGreater(error_of("raw", "[x, y]", "scaled"), 300)
        one = error_of("one", "[x, y]", "plain", "data.standardise=true")
        self.assertLess(one, 0.15)
        scaled = error_of("scaled", "[small, large]", "scaled", "data.standardise=true")
        self.assertAlmostEqual(scaled / 300, one, delta=0.02 * one)
        self.assertEqual(error_of("files", "[small, large]", "scaled", "data.standardise=true", "data.memory_GB=0"), scaled)
        self.assertEqual(self.network("files"), self.network("scaled"))
        # what is predicted is in the data's units, also of new rows
        self.sagips("predict", "runs/learning/scaled", "inputs=units.csv", "out=all.npy")
        said = struct.unpack("<400f", (self.folder / "all.npy").read_bytes()[-1600:])
        self.assertLess(sum(abs(found - row[5]) for found, row in zip(said, rows)) / 400, 2 * scaled)
        for words, message in ((["loss=poisson", "data.standardise=targets"], "data.standardise"),
                               (["data.standardise=yes"], "data.standardise")):
            refused = self.sagips("train", "waves.yaml", *words, "run.name=no", expect=2).stderr.strip()
            self.assertIn(message, refused)
            self.assertEqual(len(refused.splitlines()), 1, refused)

    def test_classes_and_targets_are_judged_by_name(self):
        self.sagips("train", "rings.yaml", "data.classes=[inner, middle, outer]", "run.figures=true")
        numbers = self.results("rings")
        for name in ("inner", "middle", "outer"):
            self.assertGreater(numbers[f"recall/{name}_end"], 0.85)
            self.assertGreater(numbers[f"precision/{name}_end"], 0.85)
        self.assertIn("recall/outer", self.sagips("predict", "runs/learning/rings").stdout)
        self.table("two.csv", ["x", "sine", "cosine"], [[x, wave, math.cos(x)] for x, wave in waves(400)])
        self.sagips("train", "waves.yaml", "data.inputs.file=two.csv", "data.targets.file=two.csv",
                    "data.targets.columns=[sine, cosine]", "network.layers=[{dense: 32, activation: tanh}, {dense: 2}]",
                    "early_stop.metric=mean_square_error/sine", "early_stop.target=0.1", "early_stop.better=lower")
        numbers = self.results("waves")
        self.assertAlmostEqual(numbers["mean_square_error_end"],
                               (numbers["mean_square_error/sine_end"] + numbers["mean_square_error/cosine_end"]) / 2, places=6)

    def test_learning_rates_are_told(self):
        self.sagips("train", "waves.yaml", "optimizer.schedule=cosine", "optimizer.final_rate=0.5", "run.figures=true")
        folder = self.folder / "runs/learning/waves"
        epochs = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        rates = [line["learning_rates"]["network"] for line in epochs if line["event"] == "epoch_done"]
        self.assertLess(rates[-1], 0.51 * 1e-2)
        self.assertGreater(rates[0], 0.9 * 1e-2)
        self.assertIn(",network,1,0.00999", (folder / "figures/learning_curves.csv").read_text())

    def test_layers_are_written_as_people_write_them(self):
        rows = [[numbers % 7 for numbers in range(row, row + 36)] + [row % 2] for row in range(40)]
        self.table("pictures.csv", [f"p{i}" for i in range(36)] + ["kind"], rows)
        of = ["check", "rings.yaml", "data.inputs={file: pictures.csv, columns: [], shape: [1, 6, 6]}",
              "data.targets={file: pictures.csv, columns: kind}"]
        short = ("[{convolution: 4, kernel: 3, padding: 1, stride: 1}, {batch_norm: true}, {max_pooling: 2}, "
                 "{flatten: true}, {dense: 2}]")
        long = ("[{convolution: 4, kernel: [3, 3], padding: [1, 1], stride: [1, 1]}, {batch_norm: {}}, "
                "{max_pooling: [2, 2]}, {flatten: {}}, {dense: 2}]")
        # the free disk is the machine's, and others write to it meanwhile
        said = [re.sub(r"[0-9.]+ .B free", "free", self.sagips(*of, f"network.layers={layers}").stdout)
                for layers in (short, long)]
        self.assertIn("network: 1 x 6 x 6 to 2, 122 weights", said[0])
        self.assertEqual(*said)
        refused = self.sagips(*of, "network.layers=[{flatten: false}, {dense: 2}]", expect=2).stderr
        self.assertIn("network.layers.0.flatten", refused)

    def npy_rows(self, name, shape):
        raw = (self.folder / name).read_bytes()
        self.assertIn(f"({', '.join(map(str, shape))})", raw[:128].decode("latin1"))
        numbers = struct.unpack(f"<{math.prod(shape)}f", raw[-4 * math.prod(shape):])
        return [numbers[shape[1] * row:shape[1] * (row + 1)] for row in range(shape[0])]

    @jobs.in_long_tests
    def test_an_ensemble_predicts_together(self):
        short = ["train.epochs=8", "threads=1"]
        self.sagips("ensemble", "rings.yaml", "--vary", "folds", "--members", "3", *short, "run.name=folds")
        said = self.sagips("predict", "runs/learning/folds").stdout
        self.assertIn("600 rows of probabilities, means of 3 networks, of each row those that have not learned", said)
        rows = self.npy_rows("runs/learning/folds/predictions.npy", (600, 3))
        self.assertFalse((self.folder / "runs/learning/folds/predictions_spread.npy").exists())
        right = sum(max(range(3), key=lambda k: row[k]) == number % 3 for number, row in enumerate(rows))
        self.assertIn(f"{right / 600:.4g}", said, "out of fold, row for row as in the data")
        # each row is told by the fold that has not learned from it
        taken = {}
        for fold in (1, 2, 3):
            name = f"runs/learning/folds/members/learning/fold_{fold:03}"
            self.sagips("predict", name)
            for row in self.npy_rows(f"{name}/predictions.npy", (200, 3)):
                taken[row] = fold
        self.assertEqual(len([row for row in rows if row in taken]), 600)
        # several networks judge the same rows: mean and deviation
        self.sagips("ensemble", "rings.yaml", "--members", "3", *short, "data.seed=4", "run.name=seeds")
        said = self.sagips("predict", "runs/learning/seeds", "inputs=rings.csv", "out=all.npy").stdout
        self.assertIn("means of 3 networks: all.npy", said)
        mean, spread = self.npy_rows("all.npy", (600, 3)), self.npy_rows("all_spread.npy", (600, 3))
        each = []
        for seed in (1, 2, 3):
            self.sagips("predict", f"runs/learning/seeds/members/learning/seed_{seed:03}", "inputs=rings.csv", "out=one.npy")
            each.append(self.npy_rows("one.npy", (600, 3)))
        for row in range(0, 600, 37):
            values = [one[row][0] for one in each]
            self.assertAlmostEqual(mean[row][0], statistics.mean(values), places=5)
            self.assertAlmostEqual(spread[row][0], statistics.stdev(values), places=5)
        self.sagips("predict", "runs/learning/seeds")
        aside = self.npy_rows("runs/learning/seeds/predictions.npy", (600, 3))
        self.assertEqual(sum(math.isfinite(row[0]) for row in aside), 150)  # a quarter, the same of each
        self.assertIn("is not known here", self.sagips("predict", "runs/learning/seeds", "samples=3", expect=2).stderr)

    def test_predictions_of_others_are_not_left_beside_new_ones(self):
        short = ["train.epochs=1", "threads=1"]
        self.sagips("ensemble", "rings.yaml", "--vary", "folds", "--members", "2", *short, "run.name=folds")
        spread = self.folder / "runs/learning/folds/predictions_spread.npy"
        self.sagips("predict", "runs/learning/folds", "inputs=rings.csv")
        self.assertTrue(spread.exists())
        self.assertIn("removed runs/learning/folds/predictions_spread.npy", self.sagips("predict", "runs/learning/folds").stdout)
        self.assertFalse(spread.exists())
        self.sagips("predict", "runs/learning/folds", "inputs=rings.csv", "out=all.npy")
        one = self.sagips("predict", "runs/learning/folds/members/learning/fold_001", "inputs=rings.csv", "out=all.npy").stdout
        self.assertIn("all_spread.npy is not of these predictions", one)
        self.assertTrue((self.folder / "all_spread.npy").exists(), "what a user has named is the user's")

    def test_what_has_no_network_yet_says_so(self):
        self.sagips("train", "rings.yaml", "train.epochs=1", "run.name=r")
        run = self.folder / "runs/learning/r"
        for name in ("network.safetensors", "network_best.safetensors"):
            (run / name).unlink()
        record = json.loads((run / "status.json").read_text())
        for status, said in (("unfinished", "has no network.safetensors yet (its training goes on"),
                             ("failed", "has no network.safetensors (its training failed, see log.txt)")):
            (run / "status.json").write_text(json.dumps({**record, "status": status}))
            for words in (["predict", "runs/learning/r"], ["train", "rings.yaml", "start_from=runs/learning/r"]):
                refused = self.sagips(*words, expect=2).stderr
                self.assertEqual(len(refused.splitlines()), 1, refused)
                self.assertIn(said, refused)
        (run / "status.json").write_text(json.dumps({**record, "command": "ensemble"}))
        self.assertIn("no network was trained there", self.sagips("predict", "runs/learning/r", expect=2).stderr)

    def test_a_finished_study_that_another_process_is_in_stays_finished(self):
        study = ["ensemble", "rings.yaml", "run.name=study", "train.epochs=1", "threads=1"]
        self.sagips(*study, "--members", "2")
        folder = self.folder / "runs/learning/study"
        with open(folder / ".lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("run", self.sagips(*study, "--members", "3", "--override", expect=2).stderr)
        self.assertEqual(json.loads((folder / "status.json").read_text())["status"], "finished")
        self.sagips(*study, "--members", "3", "--override")

    def test_what_torch_save_has_written_is_told_apart(self):
        with zipfile.ZipFile(self.folder / "saved.pt", "w", zipfile.ZIP_STORED) as file:
            for name, content in (("data.pkl", b"\x80\x02}q\x00."), ("version", b"3\n"), ("byteorder", b"little")):
                file.writestr("saved/" + name, content)
        for words, advice in ((["network.layers=[{script: saved.pt}]"], "torch.jit.script(module).save("),
                              (["data.inputs.script=saved.pt"], "torch.jit.script(module).save("),
                              (["start_from=saved.pt"], "safetensors.torch.save_file(module.state_dict(), FILE)"),
                              (["data.inputs.file=saved.pt", "data.targets.file=rings.csv"], "numpy.save(")):
            refused = self.sagips("train", "rings.yaml", *words, expect=2).stderr
            self.assertEqual(len(refused.splitlines()), 1, refused)
            self.assertIn("saved.pt: ", refused)
            self.assertIn(advice, refused)
            self.assertNotRegex(refused, r"Pytorch|Exception|\.cpp|0x")

    def test_images_are_augmented_alike_on_any_ranks(self):
        numbers = random.Random(7)
        rows = []
        for row in range(200):  # a bright pixel on the left or on the right
            pixels = [numbers.gauss(0, 0.2) for _ in range(36)]
            pixels[6 * numbers.randrange(6) + numbers.randrange(2) + 4 * (row % 2)] += 2
            rows.append([*pixels, row % 2])
        self.table("pictures.csv", [f"p{i}" for i in range(36)] + ["kind"], rows)
        plain = ["train", "rings.yaml", "data.inputs={file: pictures.csv, columns: [], shape: [1, 6, 6]}",
                 "data.targets={file: pictures.csv, columns: kind}", "threads=1", "train.epochs=15",
                 "network.layers=[{flatten: true}, {dense: 16, activation: relu}, {dense: 2}]"]
        changes = "augment={flip: vertical, shift: 1, crop: 0.8, noise: 0.1}"
        self.sagips(*plain, "run.name=plain")
        self.sagips(*plain, changes, "run.name=one")
        self.assertNotEqual(self.network("one"), self.network("plain"))
        self.assertGreater(self.results("one")["accuracy_end"], 0.85)
        if MPIEXEC:
            self.sagips(*plain, changes, "batch=20", "run.name=two", ranks=2)
            one, two = self.results("one"), self.results("two")
            self.assertAlmostEqual(one["loss_end"], two["loss_end"], delta=1e-3 * one["loss_end"])
        # a mirror that turns one class into the other leaves nothing to learn
        self.sagips(*plain, "augment.flip=horizontal", "run.name=mirrored")
        self.assertLess(self.results("mirrored")["accuracy_end"], 0.7)
        for words, message in (("augment.flip=depth", "have no 'depth'"), ("augment.flip=sideways", "have no 'sideways'"),
                               ("data.inputs.shape=[36]", "augment: flips, shifts and crops need rows")):
            refused = self.sagips(*plain, "augment.shift=1", words, "run.name=no", expect=2).stderr.strip()
            self.assertIn(message, refused)
            self.assertEqual(len(refused.splitlines()), 1, refused)

    def test_weights_decay_and_long_gradients_are_clipped(self):
        plain = ["train", "waves.yaml", "train.epochs=10", "threads=1"]
        length = {}
        for name, words in (("plain", []), ("decayed", ["optimizer.rule=adamw", "optimizer.weight_decay=10"]),
                            ("clipped", ["optimizer={rule: sgd, learning_rate: 1, clip_norm: 1e-4}"])):
            self.sagips(*plain, *words, f"run.name={name}")
            length[name] = math.hypot(*self.weights(name))
        self.assertLess(length["decayed"], 0.8 * length["plain"])
        self.assertLess(self.results("clipped")["loss_end"], self.results("clipped")["loss_start"])
        self.assertIn("optimizer.weight_decay", self.sagips(*plain, "optimizer.rule=adamw", "run.name=no", expect=2).stderr)
        if MPIEXEC:
            refused = self.sagips(*plain, "optimizer.clip_norm=1", "exchange=served", "run.name=no", ranks=2, expect=2).stderr
            self.assertIn("clip_norm", refused)
            refused = self.sagips("train", "gaussians", "optimizer.generator.clip_norm=1", "exchange=ring", "run.name=no",
                                  ranks=2, expect=2).stderr
            self.assertIn("generator.shared=all", refused)

    def test_early_stop_and_target(self):
        self.sagips("train", "rings.yaml", "early_stop.metric=accuracy", "early_stop.better=higher",
                    "early_stop.target=0.8", "train.evaluate_every=1")
        text = (self.folder / "runs/learning/rings/results.json").read_text()
        self.assertIn("target reached: accuracy", json.loads(text)["finish_reason"])

    def test_check_shows_the_network(self):
        said = self.sagips("check", "rings.yaml").stdout
        self.assertIn("layer0 dense", said)
        self.assertIn("network: 2 to 3, 259 weights", said)  # 2*32+32 + 2*32 + 32*3+3
        self.assertIn("ready to train", said)

    def test_bad_input_is_one_line_and_leaves_nothing(self):
        def gz(name, content):
            (self.folder / name).write_bytes(gzip.compress(content))
        self.table("five.csv", ["x", "y", "ring"], [[0.1 * i, 1, 5 * (i % 2)] for i in range(20)])
        self.write("ragged.csv", "x,y,ring\n1,2,0\n1,2\n")
        self.table("one.csv", ["ring"], [[i % 3] for i in range(20)])
        self.write("twice.csv", "x,x,ring\n1,2,0\n")
        self.write("nan.csv", "x,y,ring\n1,2,0\n1,nan,1\n")
        self.table("few.csv", ["x", "wave"], [[1, 2]])
        one_hot = lambda width: [[0.1 * i, 1, *(int(i % 3 == k) for k in range(width))] for i in range(20)]
        self.table("four.csv", ["x", "y", "a", "b", "c", "d"], one_hot(4))  # of the last class there are no rows
        self.table("three.csv", ["x", "y", "a", "b", "c"], one_hot(3))
        gz("idx.gz", b"\0\0\x08\x01\0\0\0\x09\1\2")
        self.npy("wide.npy", [[1, 2, 0], [3, 4, 1]])
        self.npy("narrow.npy", [[1, 0], [3, 1]])
        self.write("list.txt", "wide.npy\nnowhere.npy\n")
        self.write("none.txt", "# nothing\n")
        (self.folder / "cut.npy").write_bytes((self.folder / "wide.npy").read_bytes()[:-1])
        both = lambda name: [f"data.inputs.file={name}", f"data.targets.file={name}"]
        numbered = ["data.inputs.columns=[0, 1]", "data.targets.columns=[2]"]
        for words, said in (
                (both("five.csv"), "a row is of class 5, and the network knows 0 to 2"),
                ([*both("four.csv"), "data.targets.columns=[a, b, c, d]"],
                 "data.targets: has rows of 4 numbers, one for each class, and the network has 3 outputs"),
                ([*both("three.csv"), "data.targets.columns=[a, b, c]", "data.validation_inputs={file: four.csv, columns: [x, y]}",
                  "data.validation_targets={file: four.csv, columns: [a, b, c, d]}"],
                 "data.validation_targets: has rows of 4 numbers, data.targets of 3"),
                (both("ragged.csv"), "ragged.csv:3: the row has 2 cells"),
                (both("nan.csv"), "nan.csv: row 2 holds NaN"),
                (both("nowhere.csv"), "nowhere.csv"),
                (["data.targets.columns=[rung]"], "'rung'"),
                ([*both("list.txt"), *numbered], "nowhere.npy: "),
                ([*both("none.txt"), *numbered], "none.txt: names no file"),
                ([*both("x_*.npy"), *numbered], "fits no file"),
                ([*both("cut.npy"), *numbered], "cut.npy: is truncated"),
                ([*both("[wide.npy, narrow.npy]"), "data.inputs.columns=[]", "data.targets.columns=[]"],
                 "narrow.npy: has rows of 2"),
                (["data.inputs.select=0:7:2"], "cannot be cut by 'select"),
                (["data.inputs.script=nowhere.pt"], "nowhere.pt: is not there"),
                (["data.weights.file=rings.csv", "data.weights.columns=[x]"], "holds a negative weight"),
                (["data.join=true"], "data.join"),
                (["data.split_by=rung"], "'rung'"),
                (["shuffle_rows=7"], "shuffle_rows"),
                (["data.targets.file=few.csv", "data.targets.columns=[wave]"], "has 1 rows"),
                (["data.inputs.file=idx.gz", "data.inputs.columns=[]"], "idx.gz: announces 9 bytes"),
                (["data.inputs.file="], "data.inputs.file: is empty"),
                (["data.validation_inputs.file=five.csv"], "data.validation_targets.file: is empty"),
                (["data.fold=9/3"], "data.fold: '9/3'"),
                (["loss=nothing"], "loss"),
                (["loss=mean_square"], "compares them with targets of 1"),
                (["network.layers=[{dense: 4}, {dens: 3}]"], "no kind of layer"),
                (["network.layers=[{convolution: 4, kernel: [3, 3]}]"], "network.layers.0 (convolution)"),
                (["data.inputs.columns=[]", "data.inputs.file=one.csv", "data.targets.file=one.csv"], "has no columns but"),
                (both("twice.csv"), "two columns are called 'x'"),
                (["data.classes=[a, b]"], "data.classes: names 2 classes, and the network has 3 outputs"),
                (["plugin=nowhere.so"], "nowhere.so"),
                (["network.layers=[{module: mine}]"], "There is no module 'mine'"),
                (["network.layers=[]"], "network.layers: is empty"),
                (["early_stop.metric=ks_mean", "early_stop.patience=3"], "no evaluation has a 'ks_mean'"),
                (["generator.width=3"], "unknown key 'generator'"),
        ):
            with self.subTest(words):
                before = sorted(self.folder.iterdir())
                refused = self.sagips("train", "rings.yaml", *words, expect=2).stderr.strip()
                self.assertEqual(len(refused.splitlines()), 1, refused)
                self.assertIn(said, refused)
                self.assertEqual(sorted(self.folder.iterdir()), before)
        for command in ("solve", "fit", "closure", "convergence"):
            self.assertIn("is a learning problem", self.sagips(command, "rings.yaml", expect=2).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
