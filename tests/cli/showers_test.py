#!/usr/bin/env python3
"""Showers of the calorimeter GAN in and out of files, from the command line; h5py reads them where it is installed.

usage: showers_test.py MPIEXEC SAGIPS   (MPIEXEC may be empty: without tests of ranks)
"""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

try:
    import h5py
except ImportError:
    h5py = None

MPIEXEC, SAGIPS = sys.argv[1:3]
SETTINGS = jobs.SHOWERS + """\
train: {epochs: 10}
run: {figures: false, name: small}
"""


def array(path):
    """Shape and float32 numbers of a .npy file."""
    content = pathlib.Path(path).read_bytes()
    length = struct.unpack("<H", content[8:10])[0]
    shape = eval(content[10:10 + length])["shape"]  # pylint: disable=eval-used
    numbers = content[10 + length:]
    return shape, struct.unpack(f"<{len(numbers) // 4}f", numbers)


class Showers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "small.yaml").write_text(SETTINGS)
        cls.sagips("train", "small.yaml")

    @classmethod
    def sagips(cls, *words, expect=0, ranks=1):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, SAGIPS, *words], cwd=cls.folder, env={**os.environ, **jobs.ENVIRONMENT},
                              capture_output=True, text=True, check=False, timeout=120 * jobs.SLOWDOWN)
        assert expect in (None, done.returncode), (words, done.returncode, done.stdout, done.stderr)
        return done

    def refused(self, says, *words):
        line = self.sagips(*words, expect=2).stderr.strip()
        self.assertIn(says, line)
        errors = [one for one in line.splitlines() if one.startswith("sagips: error:")]
        self.assertEqual(len(errors), 1, line)

    def test_a_collapse_is_a_failure_of_one_line(self):
        for ranks in (1, 2) if MPIEXEC else (1,):
            words = ["train", "small.yaml", f"run.name=fast{ranks}", "generator.optimizer.learning_rate=30"]
            ends = []
            for _ in range(2):  # the same again ends in the same way
                done = self.sagips(*words, expect=1, ranks=ranks)
                errors = [line for line in done.stderr.splitlines() if line.startswith("sagips: error:")]
                self.assertEqual(len(errors), 1, done.stderr)
                self.assertIn("the generator has collapsed: ", errors[0])
                self.assertIn("Lower generator.optimizer.learning_rate", errors[0])
                folder = self.folder / f"runs/calorimeter3d/fast{ranks}"
                self.assertEqual(json.loads((folder / "status.json").read_text())["status"], "failed")
                ends.append(json.loads((folder / "results.json").read_text()))
                self.assertEqual(ends[-1]["finish_reason"].find("failed: the generator has collapsed: "), 0)
                self.assertFalse(ends[-1]["complete"])
            self.assertEqual(ends[0]["epochs"], ends[1]["epochs"])
        if MPIEXEC:  # whose first rank sees no rows; norms of one number make all alike, in whatever order workers come
            done = self.sagips("train", "small.yaml", "run.name=served", "generator.layers=[{dense: 648}, {reshape: [648, 1]}, "
                               "{layer_norm: {}}, {reshape: [1, 9, 9, 8]}]", "exchange=served",
                               "exchanges.served.owners=master", "train.epochs=3", expect=1, ranks=3)
            self.assertIn("sagips: error: rank 0: the generator has collapsed: ", done.stderr)
            results = json.loads((self.folder / "runs/calorimeter3d/served/results.json").read_text())
            self.assertEqual(results["finish_reason"].find("failed: the generator has collapsed: "), 0)

    def test_drawn_showers_become_a_file_that_their_settings_read(self):
        done = self.sagips("generate", "small.yaml", "events=150", "data.lowest_energy_GeV=100", "run.seed=7", "out=made.h5")
        self.assertIn("150 examples: made.h5\nsettings that read them: made.yaml", done.stdout)
        self.assertNotIn("lowest_energy", (self.folder / "made.yaml").read_text())
        done = self.sagips("check", "made.yaml")
        self.assertIn("data: made.h5, 135 rows to learn from, 15 kept aside", done.stdout)
        self.assertEqual(done.stderr, "")
        if h5py:
            with h5py.File(self.folder / "made.h5") as file:
                self.assertEqual(file["ECAL"].shape, (150, 9, 9, 8))
                self.assertGreaterEqual(min(file["energy"]), 100)
                self.assertAlmostEqual(float(file["ECAL"][3].sum()) / float(file["sum"][3]), 1, places=4)
        self.refused("calorimeter3d' come from files", "generate", "made.yaml", "out=again.h5")
        self.refused("alone, for example out=made.h5", "generate", "small.yaml", "out=made.npy")
        self.refused("has no parameters to find", "generate", "generation/digits", "out=made.npy")

    def test_made_showers_are_the_same_in_either_file(self):
        made = ("predict", "runs/calorimeter3d/small", "inputs.energy=2.5", "inputs.angle=1.5", "samples=150", "seed=3")
        done = self.sagips(*made, "out=said.h5")
        self.assertIn("conditions: energy 2.5 [100 GeV], angle 1.5 [rad]\n150 examples, ", done.stdout)
        self.sagips(*made, "out=said.npy")
        shape, cells = array(self.folder / "said.npy")
        self.assertEqual(shape, (150, 1, 9, 9, 8))
        self.assertEqual(array(self.folder / "said_conditions.npy"), ((150, 2), (2.5, 1.5) * 150))
        done = self.sagips("check", "small.yaml", "data.showers=clic", "data.file=said.h5")
        self.assertIn("data: said.h5, 135 rows to learn from", done.stdout)
        if h5py:
            with h5py.File(self.folder / "said.h5") as file:
                energies = [max(0, cell) ** (1 / 0.85) for cell in cells]
                for one, other in zip(file["ECAL"][:].flatten(), energies):
                    self.assertAlmostEqual(float(one), other, delta=1e-4 * other + 1e-7)
                self.assertEqual(set(file["energy"]), {250})

    def test_no_command_replaces_what_its_run_or_its_settings_read(self):
        self.sagips("generate", "small.yaml", "events=60", "out=data.h5")
        self.sagips("train", "data.yaml", "train.epochs=1", "run.name=own")
        run = "runs/calorimeter3d/own"
        os.link(self.folder / "data.h5", self.folder / "hard.h5")
        (self.folder / "link.h5").symlink_to("data.h5")
        self.sagips("predict", "runs/calorimeter3d/small", "samples=3", "out=asked.npy")
        for name, energy in (("energies", 2.5), ("those_conditions", 2)):
            os.rename(self.folder / "asked_conditions.npy", self.folder / f"{name}.npy")
            self.sagips("predict", "runs/calorimeter3d/small", f"inputs.energy={energy}", "inputs.angle=1.5",
                        "samples=3", "out=asked.npy")
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        asked = ("inputs.energy=2", "inputs.angle=1.5")
        for words in ((run, "out=data.h5"), (run, "out=./data.h5"), (run, "out=hard.h5"), (run, "out=link.h5"),
                      (run, "inputs.energy=energies.npy", "inputs.angle=1", "out=energies.npy"),
                      (run, "inputs.energy=those_conditions.npy", "inputs.angle=1", "out=those.npy")):
            with self.subTest(words):
                self.refused("would be replaced. Choose another name", "predict", *words)
        for out in ("data.h5", "hard.h5", "runs/../data.h5"):
            self.refused("what data.file names", "generate", "small.yaml", "data.file=data.h5", f"out={out}")
        self.refused("small.yaml is what is read", "generate", "small.yaml", "out=small.h5")
        for out in ("link.h5", f"{run}/results.json"):
            self.refused("would be replaced", "report", run, "--out", out)
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(after, before)
        for _ in range(2):  # what nobody reads is replaced
            self.sagips("predict", run, *asked, "samples=2", "out=free.h5")
            self.sagips("predict", run, *asked, "samples=2")

    def test_what_a_signal_ends_leaves_nothing_beside(self):
        made = ("predict", "runs/calorimeter3d/small", "inputs.energy=2", "inputs.angle=1.5", "samples=3000000")
        for words in ((*made, "out=out.npy"), (*made, "out=out.h5"), ("generate", "small.yaml", "events=3000000", "out=out.h5")):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                with self.subTest(words=words, number=number), tempfile.TemporaryDirectory() as scratch:
                    there = {words[-1].removeprefix("out=")}
                    for name in there:
                        (pathlib.Path(scratch) / name).write_text("whole")
                    with subprocess.Popen([SAGIPS, words[0], self.folder / words[1], *words[2:]], cwd=scratch,
                                          env={**os.environ, **jobs.ENVIRONMENT}) as process:
                        while set(os.listdir(scratch)) == there and process.poll() is None:
                            time.sleep(0.005)
                        process.send_signal(number)
                    self.assertEqual(process.returncode, -number)
                    self.assertEqual(set(os.listdir(scratch)), there)
                    for name in there:
                        self.assertEqual((pathlib.Path(scratch) / name).read_text(), "whole")

    def test_conditions_that_no_row_had_are_warned_of(self):
        run = ("predict", "runs/calorimeter3d/small", "samples=3", "out=few.npy")
        self.assertEqual(self.sagips(*run, "inputs.energy=2", "inputs.angle=1.5").stderr, "")
        self.assertEqual(self.sagips(*run).stderr, "", "rows kept aside are like those learned from")
        said = self.sagips(*run, "inputs.energy=9", "inputs.angle=1.5").stderr
        self.assertEqual(said.count("warning"), 1, said)
        low, high = re.search(r"such conditions: energy 9 \[100 GeV\] where its training had ([\d.]+) to ([\d.]+)\.\n",
                              said).groups()
        self.assertTrue(0.02 <= float(low) < 0.2 and 4.8 < float(high) <= 5, said)  # 300 rows: false alarms 2e-5
        said = self.sagips(*run, "inputs.energy=0.001", "inputs.angle=3").stderr
        self.assertRegex(said, r"warning.* energy 0\.001 \[100 GeV\] where .*, angle 3 \[rad\] where .*")
        for best in ("", "_best"):
            path = self.folder / f"runs/calorimeter3d/small/network{best}.safetensors"
            whole = path.read_bytes()
            self.addCleanup(path.write_bytes, whole)
            path.write_bytes(whole.replace(b'"ranges.', b'"former.'))  # as a run from before they were kept
        self.assertEqual(self.sagips(*run, "inputs.energy=9", "inputs.angle=3").stderr, "")

    def test_what_has_collapsed_is_said(self):
        self.sagips("train", "small.yaml", "generator.optimizer.learning_rate=100", "run.name=flat", expect=None)
        said = self.sagips("predict", "runs/calorimeter3d/flat", "samples=3", "out=flat.npy").stderr
        self.assertRegex(said, r"^[^\n]*warning[^\n]*runs/calorimeter3d/flat: its training failed: the generator has collapsed: [^\n]*[^.]\.\n$")

    def test_a_wrong_name_of_a_condition_is_told_with_those_that_there_are(self):
        run = ("predict", "runs/calorimeter3d/small", "samples=3", "out=few.npy")
        for words in (("inputs.enrgy=1.5",), ("inputs.enrgy=1.5", "inputs.angle=1.5"),
                      ("inputs.enrgy=1.5", "inputs.energy=1.5", "inputs.angle=1.5")):
            self.refused("inputs.enrgy: is no condition of these examples, which are: energy [100 GeV], angle [rad].",
                         *run, *words)

    def test_settings_without_effect_on_drawn_showers_are_said(self):
        said = self.sagips("generate", "calorimeter3d/laptop", "events=2", "out=two.h5", "data.validation_rows=5", "collapse=0.5",
                           "label_flips=0.2").stderr
        self.assertRegex(said, r"no effect in this run: data.validation_rows, .*label_flips, collapse .*"
                               r"\(needs a training of networks\)\n$")
        self.assertEqual(self.sagips("generate", "calorimeter3d/laptop", "events=2", "out=two.h5", "run.seed=3", "data.seed=2",
                                     "data.threshold_GeV=1e-4", "data.lowest_energy_GeV=10", "data.highest_energy_GeV=20", "data.power=0.5").stderr, "")

    def test_what_nobody_could_make_is_refused(self):
        run = ("predict", "runs/calorimeter3d/small", "out=no.h5")
        for says, words in (("energy [100 GeV] is a number from 0 to 10", ("inputs.energy=200", "inputs.angle=1.5")),
                            ("inputs.energy=-1: has -1", ("inputs.energy=-1", "inputs.angle=1.5")),
                            ("inputs.energy=nan: has nan", ("inputs.energy=nan", "inputs.angle=1.5")),
                            ("angle [rad] is a number from 0 to 3.14", ("inputs.energy=2", "inputs.angle=90")),
                            ("inputs.angle: is needed", ("inputs.energy=2",)),
                            ("energy [100 GeV], angle [rad]", ("inputs.energy=2", "inputs.angle=1", "inputs.mass=1")),
                            ("no.npy: cannot be read", ("inputs.energy=no.npy", "inputs.angle=1"))):
            with self.subTest(says):
                self.refused(says, *run, *words)
        self.refused("written as .npy or .h5 alone", *run[:2], "out=no.csv")
        self.assertFalse((self.folder / "no.h5").exists())

    def test_settings_that_do_not_fit_are_refused_in_a_line(self):
        self.sagips("generate", "small.yaml", "events=40", "out=few.h5")
        (self.folder / "empty.h5").write_bytes(b"")
        (self.folder / "text.h5").write_text("no HDF5\n")
        clic = ("data.showers=clic", "data.file=few.h5")
        for says, words in (("9 x 9 x 8 cells, and data.shape is 9 x 8 x 8", (*clic, "data.shape=[9,8,8]")),
                            ("data.shape", ("data.shape=[9,8]",)),
                            ("no.h5", (clic[0], "data.file=no.h5")),
                            ("empty.h5", (clic[0], "data.file=empty.h5")),
                            ("text.h5", (clic[0], "data.file=text.h5")),
                            ("no data set 'showers'", ("data.showers=calo_challenge", clic[1])),
                            ("data.file", (clic[0],)),
                            ("'depth'", ("measures={depth: {}}",)),
                            ("'depth'", ("generator.conditions=[energy, angle, depth]",)),
                            ("lowest_energy_GeV", ("data.lowest_energy_GeV=-5",)),
                            ("lowest_energy_GeV", ("data.lowest_energy_GeV=300", "data.highest_energy_GeV=200")),
                            ("1 x 9 x 9 x 4", ("generator.layers=[{dense: 324}, {reshape: [1, 9, 9, 4]}]",))):
            with self.subTest(says=says, words=words):
                self.refused(says, "check", "small.yaml", *words)
                self.refused(says, "train", "small.yaml", "run.name=bad", *words)

    @unittest.skipUnless(h5py, "no h5py")
    def test_files_of_others_are_refused_in_a_line(self):
        self.sagips("generate", "small.yaml", "events=40", "out=good.h5")
        with h5py.File(self.folder / "good.h5") as file:
            good = {name: file[name][:] for name in file}
        for says, changed in (("'energy' from", {"energy": good["energy"] * 1000}),
                              ("which no calorimeter sees", {"ECAL": good["ECAL"] * 1000}),
                              ("has 39 rows in 'energy' and 40 in 'ECAL'", {"energy": good["energy"][1:]}),
                              ("holds no rows", {name: array[:0] for name, array in good.items()}),
                              ("'ECAL' has 0 dimensions", {"ECAL": 1.0}),
                              ("holds text", {"energy": [b"a"] * 40}),
                              ("showers of 648 cells", {"ECAL": good["ECAL"].reshape(40, 648)})):
            with self.subTest(says):
                with h5py.File(self.folder / "other.h5", "w") as file:
                    for name, array in {**good, **changed}.items():
                        file[name] = array
                self.refused("other.h5: ", "check", "small.yaml", "data.showers=clic", "data.file=other.h5")
                self.refused(says, "check", "small.yaml", "data.showers=clic", "data.file=other.h5")

    def test_check_tells_the_memory(self):
        done = self.sagips("check", "small.yaml")
        self.assertRegex(done.stdout, r"memory: about 0\.\d+ GB a rank for a training \(batch 20\)\n")
        self.assertIn(" MB for weights, gradients and update rule", done.stdout)
        done = self.sagips("check", "small.yaml", "data.rows=100000000", "batch=100000000")
        self.assertRegex(done.stdout, r"\(batch 100000000\), and this machine has [\d.]+ GB\. Lower the batch")
        if MPIEXEC:
            done = self.sagips("check", "small.yaml", ranks=3)
            found = re.search(r"memory: about ([\d.]+) GB a rank for a training \(batch 20\), ([\d.]+) GB for the 3 ranks of this node\n",
                              done.stdout)
            self.assertTrue(found, done.stdout)
            self.assertGreater(float(found[2]), 2 * float(found[1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
