"""Keys without effect: each is named in one line, whatever the command, and no other key is.

usage: effects_test.py MPIEXEC SAGIPS [unittest arguments]   (MPIEXEC may be empty: without tests of ranks)

The long test sets each key of small configs to another value, one at a time: the results differ, or the command
refuses it or names it.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jobs

MPIEXEC, SAGIPS = sys.argv[1:3]
ENVIRONMENT = {**os.environ, **jobs.ENVIRONMENT}
MARK = "no effect in this run: "

SMALL_GAN = ["toy.events=500", "train.epochs=4", "train.evaluate_every=2", "batch.samples=4", "batch.events=8",
             "evaluation.samples=20", "run.figures=false", *jobs.NETWORKS_ALONE]
ROWS = "x,y,kind\n" + "".join(f"{i % 7},{i % 5},{i % 6}\n" for i in range(60))
LEARNING = """\
workload: learning
data: {inputs: {file: rows.csv, columns: [x, y]}, targets: {file: rows.csv, columns: [kind]}, held_out: 0.25}
network: {layers: [{dense: 8, activation: relu}, {dropout: 0.1}, {dense: 6}]}
batch: 20
train: {epochs: 4}
run: {figures: false}
"""

# What changes nothing that a run leaves but where, how fast or how safely: no key of a question to the data; and
# limits that no small run meets. toy.weights: of pipelines that weigh events, which none here does.
OF_THE_MACHINE = re.compile(
    r"(run\.(folder|name|figures)|device|threads|plugin|workload|dense\..*|.*memory_GB|ranks\.timeout_s|train\.engine\..*"
    r"|train\.checkpoints\..*|data\.cache\..*|solve\.minutes|train\.minutes|figures\..*|shuffle_rows|train\.non_finite"
    r"|toy\.weights)$")

# Values that a small run notices, with what else they need.
NOTICED = {"solve.bootstraps": ["3"], "solve.seeds": ["3"], "optimizer.warm_up": ["3"],
           "optimizer.generator.warm_up": ["3"], "optimizer.discriminator.warm_up": ["3"],
           "train.evaluate_every": ["3"], "early_stop.target": ["9"],
           "early_stop.patience": ["1", "early_stop.improvement=1"]}


class Runs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "rows.csv").write_text(ROWS)
        (self.folder / "small.yaml").write_text(LEARNING)

    def sagips(self, *words, ranks=1, expect=0):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, SAGIPS, *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True,
                              text=True, check=False, timeout=300 * jobs.SLOWDOWN)
        if expect is not None:
            self.assertEqual(done.returncode, expect, done.stderr + done.stdout)
        return done

    def said(self, *words, **how):
        """What a command says of keys without effect, one line at most."""
        lines = [line.split(MARK)[1] for line in self.sagips(*words, **how).stderr.splitlines() if MARK in line]
        self.assertLessEqual(len(lines), 1, lines)
        return lines[0] if lines else ""


class Effects(Runs):
    def test_shipped_settings_are_silent(self):
        names = re.findall(r"^ *((?:proxy|classify|gauss|reson)\w*(?:/\w+)?)\b", self.sagips("list", "workloads").stdout, re.M)
        self.assertGreater(len(names), 8, names)
        for name in names:
            if "fashion" in name:  # files of a package
                continue
            with self.subTest(name):
                self.assertNotIn(MARK, self.sagips("check", name).stderr)

    def test_a_config_given_back_is_as_silent_as_its_run(self):
        for source, plain in (("gaussians/many_ranks", SMALL_GAN), ("small.yaml", [])):
            self.assertEqual(self.said("train", source, *plain, "run.name=first"), "")
            folder = "gaussians" if plain else "learning"
            self.assertEqual(self.said("train", f"runs/{folder}/first/config.yaml", "run.name=again"), "")

    def test_keys_are_named_with_what_they_need(self):
        for words, said in (
                (["optimizer.decay=0.5"], "optimizer.decay (needs rule=rmsprop or adadelta)"),
                (["optimizer.rule=sgd", "optimizer.beta1=0.8", "optimizer.beta2=0.9"],
                 "optimizer.beta1, optimizer.beta2 (needs rule=adam or adamw)"),
                (["optimizer.final_rate=0.1"], "optimizer.final_rate (needs schedule=cosine)"),
                (["early_stop.target=0.99", "early_stop.improvement=0.1"],
                 "early_stop.improvement (needs patience above 0)"),
                (["exchange=gossip", "exchanges.gossip.max_age=3"],
                 "exchange, exchanges.gossip.max_age (needs several ranks)"),
                (["figures.width=page"], "figures.width (needs run.figures=true)"),
                (["train.checkpoints.minutes=0", "train.checkpoints.keep=3"],
                 "train.checkpoints.keep (needs epochs or minutes above 0)"),
                (["ensemble.members=7", "tune.trials=3"],
                 "ensemble.members (needs sagips ensemble); tune.trials (needs sagips tune)"),
                (["data.validation_inputs.columns=[x]"], "data.validation_inputs.columns (needs a file)"),
                (["data.inputs.hdf5_dataset=x"], "data.inputs.hdf5_dataset (needs an HDF5 file)"),
                (["data.validation_weights.file=rows.csv"],
                 "data.validation_weights.file (needs data.validation_inputs.file)"),
                (["data.held_out=0", "train.evaluate_every=2"], "train.evaluate_every (needs rows kept aside)"),
                (["data.cache.folder=here"],
                 "data.cache (needs files on another machine, or rows that take more than data.memory_GB)"),
                (["top_k=6"], "top_k (needs rows kept aside, and more classes)"),
                (["train.snapshots=3"], "train.snapshots (needs a generator of parameters)")):
            with self.subTest(words):
                checked = self.said("check", "small.yaml", *words)
                self.assertEqual(sorted(checked.split("; ")), sorted(said.split("; ")))
                self.assertEqual(self.said("train", "small.yaml", *words, "run.name=" + words[0].split("=")[0]), checked)
        log = (self.folder / "runs/learning/train.snapshots/log.txt").read_text()
        self.assertIn(MARK + "train.snapshots", log)

    def test_studies_leave_open_what_their_trainings_differ_in(self):
        space = ["tune.maximise=accuracy", "tune.trials=2", "tune.space=[{key: optimizer.rule, values: [adam, rmsprop]}]"]
        self.assertEqual(self.said("tune", "small.yaml", *space, "optimizer.decay=0.5", "optimizer.beta1=0.7"), "")
        grid = ["--grid", "optimizer.rule=adam,rmsprop", "ensemble.members=2"]
        self.assertEqual(self.said("ensemble", "small.yaml", *grid, "optimizer.decay=0.5", "train.snapshots=2"),
                         "train.snapshots (needs a generator of parameters)")
        self.assertEqual(self.said("ensemble", "small.yaml", "--vary", "folds", "ensemble.members=2", "data.held_out=0.4"),
                         "data.held_out (needs no folds)")

    def test_other_commands_name_keys_of_trainings(self):
        few = ["toy.events=500", "run.figures=false", "generator.width=16", "search.batch=8"]
        for command, words in (("solve", ["solve.test_events=0", "moments.starts=2"]), ("fit", [])):
            with self.subTest(command):
                said = self.said(command, "proxy1d", *few, *words)
                self.assertIn("generator.width (needs a training of networks)", said)
                self.assertIn("search.batch (needs a search", said)
                self.assertNotIn("moments", said)
                self.assertNotIn("toy", said)

    def test_generate_names_what_it_does_not_draw_with(self):
        of_readers = " (needs a command that reads events)"
        for words, said in (
                (["proxy1d", "data.file=rows.csv", "data.columns=[x,y]", "toy.events=20"], "data.file, data.columns" + of_readers),
                (["gaussians", "events=20", "channels.set_1.data.file=rows.csv"], "channels.set_1.data.file" + of_readers),
                (["proxy1d", "events=20", "parameters.N_u.truth=2", "generator.width=9"],
                 "generator.width (needs a training of networks); parameters.N_u.truth (needs no parameters.N_u.toy)"),
                (["proxy1d", "events=20", "N_u=2", "data.seed=3", "run.seed=4"], "")):
            with self.subTest(words):
                self.assertEqual(self.said("generate", *words, "out=toy.npy"), said)

    def test_keys_that_have_an_effect_are_not_named(self):
        for words in (["data.held_out=0", "data.validation_inputs.file=rows.csv", "data.validation_targets.file=rows.csv",
                       "train.evaluate_every=2", "early_stop.restore=true"],
                      ["data.cache.folder=here", "data.memory_GB=0"], ["top_k=4"]):
            with self.subTest(words):
                self.assertIn(self.said("check", "small.yaml", *words),  # other rows are kept aside there
                              ("", "data.held_out (needs rows kept aside, and there are data.validation_inputs)"))
        for use in ("kept", "accepted"):
            self.assertEqual("toy.weights has no effect" in self.sagips("check", "gaussians", f"toy.weights={use}").stdout,
                             use == "kept")

    def test_what_leaves_nothing_to_be_learned_is_said(self):
        parts = "networks={body: {layers: [{dense: 8}], rate: 0}, head: {layers: [{dense: 6}], rate: 0}}"
        for command in ("check", "train"):
            self.assertIn("networks: all have a rate of 0, so nothing is learned",
                          self.sagips(command, "small.yaml", "network.layers=[]", parts).stderr)
        image = ["data.inputs.shape=[1,1,2]", "network.layers=[{flatten: true}, {dense: 6}]"]
        self.sagips("check", "small.yaml", *image, "augment.shift=1")
        self.assertIn("augment.shift: moves rows of [1, 1, 2]", self.sagips("check", "small.yaml", *image, "augment.shift=2",
                                                                    expect=2).stderr)

    def test_check_says_what_a_training_would_refuse(self):
        (self.folder / "signs.csv").write_text("M,w\n" + "".join(f"{90 + i % 7 / 3},{(-1) ** (i % 9 == 0)}\n" for i in range(300)))
        signs = ["resonance", "data.file=signs.csv", "data.columns=[M]", "data.weight_column=w"]
        for words, said in ((signs, "has negative weights"), (["gaussians", "early_stop.metric=nothing",
                                                               "early_stop.patience=3"], "early_stop.metric")):
            for command in ("train", "check"):
                refused = self.sagips(command, *words, *SMALL_GAN[1:], "run.name=r", expect=2).stderr
                self.assertIn(said, refused)
        self.assertFalse((self.folder / "runs").exists())

    def test_lengths_that_do_not_fit_the_run_are_said(self):
        for words, said in (
                (["optimizer.warm_up=12"], "optimizer.warm_up=12: the run has 12 updates"),
                (["batch=46"], "batch=46: a rank has 45 rows")):
            with self.subTest(words):
                for command in ("check", "train"):
                    self.assertIn(said, self.sagips(command, "small.yaml", *words).stderr)
        for words in (["optimizer.warm_up=11"], ["batch=45"]):
            self.assertNotIn("warning", self.sagips("check", "small.yaml", *words).stderr)
        self.assertIn("optimizer.generator.warm_up=4: the run has 4 updates",
                      self.sagips("train", "gaussians", *SMALL_GAN, "optimizer.generator.warm_up=4").stderr)

    def test_all_rows_may_be_learned_from(self):
        done = self.sagips("train", "small.yaml", "data.held_out=0", "run.figures=true", "run.name=all")
        self.assertIn("60 rows (0 kept aside)", done.stderr)
        self.assertEqual(json.loads((self.folder / "runs/learning/all/results.json").read_text())["events"], 60)
        self.assertIn("inputs=FILE", self.sagips("predict", "runs/learning/all", expect=2).stderr)
        self.sagips("predict", "runs/learning/all", "inputs=rows.csv")
        for words in (["early_stop.patience=2"], ["early_stop.target=0.1"], ["optimizer.schedule=plateau"]):
            for command in ("train", "check"):
                refused = self.sagips(command, "small.yaml", "data.held_out=0", *words, expect=2)
                self.assertIn("data.held_out=0 keeps nothing aside", refused.stderr)
        self.assertIn("data.held_out=0 keeps nothing aside",
                      self.sagips("train", "gaussians", *SMALL_GAN, "data.held_out=0", "early_stop.patience=2",
                                  expect=2).stderr)

    @unittest.skipUnless(MPIEXEC, "no MPI")
    def test_what_gem_would_ignore_is_refused(self):
        gem = ["exchange=served", "exchanges.served.rule=gem"]
        self.assertEqual(self.said("train", "small.yaml", *gem, ranks=2), "")
        for words in (["optimizer.learning_rate=0.1"], ["optimizer.rule=sgd"], ["optimizer.warm_up=3"],
                      ["optimizer.schedule=cosine"]):
            with self.subTest(words):
                refused = self.sagips("train", "small.yaml", *gem, *words, ranks=2, expect=2).stderr
                self.assertIn(words[0].split("=")[0] + ": has no effect here", refused)
                self.assertIn("exchanges.served.gem.learning_rate", refused)
                self.assertIn("has no effect here", self.sagips("check", "small.yaml", *gem, *words, ranks=2, expect=2).stderr)
        self.assertIn("networks.head.rate", self.sagips(
            "train", "small.yaml", *gem, "network.layers=[]", "networks={head: {layers: [{dense: 6}], rate: 0.1}}",
            ranks=2, expect=2).stderr)
        self.sagips("train", "small.yaml", "exchange=served", "optimizer.learning_rate=0.1", ranks=2)


def another(kind, allowed, value):
    """A value that the field takes and does not have, as far as that can be told; None: it cannot."""
    if kind == "true or false":
        return "false" if value == "true" else "true"
    if kind == "choice":
        return next((word for word in allowed.split(" | ") if word != value), None)
    if kind not in ("whole number", "number", "number or null"):
        return None
    bounds = [float(x) for x in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", allowed)]
    number = float(value) if value not in ("null", "") else 0.4
    candidates = [number + 1, number - 1] if kind == "whole number" else [number * 0.7, number * 1.3, number + 0.1]
    for one in candidates:
        low = bounds[0] if bounds and not allowed.startswith("<") else -1e300
        high = bounds[-1] if len(bounds) > 1 or allowed.startswith("<") else 1e300
        if low <= one <= high and one != number and not (one == low and "> " in allowed):
            return str(int(one)) if kind == "whole number" else repr(one)
    return None


class EachKey(Runs):
    """Long: some hundreds of short runs."""

    def fields(self, workload, given):
        described = self.sagips("explain", f"workload={workload}", *given).stdout
        return [(key, value or "", kind.partition(", ")[0], kind.partition(", ")[2]) for key, value, kind in
                re.findall(r"^(\S+)(?: = (.*))?\n    .*\n    (.*)$", described, re.M)]

    def found_in(self, folder):
        """All that a run has found and left, without times."""
        timed = re.compile(r'"memory_mb": \{[^}]*\}|"(?:\w*time\w*|\w*rate|waited\w*|events_per_second|git_hash|\w*_s)": ?[-\d.e+]+')
        found = {path.relative_to(folder).as_posix(): b"" for path in sorted(folder.rglob("*"))
                 if "checkpoints" not in path.parts and "tfevents" not in path.name}
        for name in ("results.json", "metrics.jsonl"):
            if (folder / name).exists():
                found[name] = timed.sub("", (folder / name).read_text())
        for name in ("network.safetensors", "generator.npy"):
            if (folder / name).exists():
                found[name] = (folder / name).read_bytes()
        return found

    def silent_keys(self, command, source, workload, given):
        known = [word for word in given if not word.startswith("run.name")]
        run = lambda *words: self.sagips(command, source, *given, *words, "run.name=one", "--fresh", expect=None)
        folder = self.folder / "runs" / workload / "one"
        self.assertEqual(run().returncode, 0)
        usual = self.found_in(folder)
        silent = []
        for key, value, kind, allowed in self.fields(workload, known):
            other, *more = NOTICED.get(key, [another(kind, allowed, value)])
            if OF_THE_MACHINE.match(key) or other is None or ".N." in key or ".NAME." in key:
                continue
            subprocess.run(["rm", "-rf", folder], check=True)
            done = run(f"{key}={other}", *more)
            if done.returncode == 2 or (MARK in done.stderr and key in done.stderr.split(MARK)[1]):
                continue
            if done.returncode == 0 and self.found_in(folder) == usual:
                silent.append(f"{key}={other}")
        return silent

    def test_trainings_of_learning_problems(self):
        given = ["data.inputs.file=rows.csv", "data.inputs.columns=[x,y]", "data.targets.file=rows.csv",
                 "data.targets.columns=[kind]", "network.layers=[{dense: 8, activation: relu}, {dense: 6}]", "batch=20",
                 "train.epochs=4", "run.figures=false"]
        self.assertEqual(self.silent_keys("train", "learning", "learning", given), [])

    def test_trainings_of_generators(self):
        for workload in ("proxy1d", "gaussians", "resonance"):
            self.assertEqual(self.silent_keys("train", workload, workload, SMALL_GAN), [])

    def test_solutions(self):
        for method in ("moments", "random", "likelihood"):
            given = ["toy.events=500", f"solve.method={method}", "run.figures=false", "search.evaluations=20",
                     "solve.test_events=50"]
            self.assertEqual(self.silent_keys("solve", "proxy1d", "proxy1d", given), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
