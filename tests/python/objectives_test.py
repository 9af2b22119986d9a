"""Searches of Python functions, of functions of a notebook, and of NNLO's files."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import numpy

try:
    import h5py  # whose library must be there before that of SAGIPS
except ImportError:
    h5py = None

import sagips

QUIET = {"run": {"figures": False, "name": "one"}, "threads": 1, "progress": False}
# In a namespace of its own, as a notebook has it.
CELL = {}
exec(textwrap.dedent('''
    import torch
    def trial(t):
        best = (t["x"] - 0.3) ** 2 + (0 if t["kind"] == "good" else 1)
        with open(t.folder + "/calls", "a") as file:
            file.write("+")
        for epoch in range(1, 10):
            t.report(best + 1 / epoch, epoch)
        return best
    def decay(theta, noise):
        return theta * -torch.log(noise.uniform()) + 0.3 * noise.normal()
    '''), CELL)
SPACE = {"x": (-1.0, 1.0), "kind": ["good", "bad"]}


class Objectives(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        os.chdir(self.scratch.name)

    def tearDown(self):
        os.chdir("/")
        self.scratch.cleanup()

    def tune(self, function=CELL["trial"], settings=QUIET, **tune):
        return sagips.tune(function, tune={"space": SPACE, "trials": 8, "searcher": "random", "at_once": 2, **tune},
                           **settings)

    def test_the_best_settings_are_those_of_the_least_value(self):
        run = self.tune()
        self.assertTrue(run.complete)
        rows = run.table("trials.csv")
        self.assertEqual([row["state"] for row in rows], ["done"] * 8)
        for row in rows:
            expected = (float(row["x"]) - 0.3) ** 2 + (row["kind"] != "good")
            self.assertAlmostEqual(float(row["value"]), expected, places=6)
        best = min(rows, key=lambda row: float(row["value"]))
        self.assertEqual(run.best, {"x": float(best["x"]), "kind": best["kind"]})
        self.assertIn("value", run.tables)
        self.assertTrue(os.path.exists(run.file("best.yaml")))

    def test_a_metric_of_any_name_is_maximised(self):
        run = self.tune(trials=3, maximise="score: mine")
        best = max(run.table("trials.csv"), key=lambda row: float(row["score: mine"]))
        self.assertEqual(run.best, {"x": float(best["x"]), "kind": best["kind"]})

    def test_what_is_reported_ends_trials_early(self):
        run = self.tune(early_end={"rule": "median", "first": 3, "trials": 2}, minimise="loss", at_once=1)
        states = [row["state"] for row in run.table("trials.csv")]
        self.assertIn("ended early", states)
        self.assertIn("done", states)
        for row in run.table("trials.csv"):
            if row["state"] == "ended early":
                self.assertLess(float(row["epochs"]), 9)
        self.assertIn("x", run.best)

    def test_a_trial_that_raises_has_failed_and_the_others_go_on(self):
        def failing(t):
            if t["kind"] == "bad":
                raise ValueError("of mine")
            return t["x"]
        run = self.tune(failing)
        rows = run.table("trials.csv")
        for row in rows:
            self.assertEqual(row["state"], "failed" if row["kind"] == "bad" else "done")
            if row["kind"] == "bad":
                self.assertIn("ValueError: of mine", row["reason"])
        bad = next(row["trial"] for row in rows if row["kind"] == "bad")
        with open(run.file(f"trials/logs/{int(bad):05d}.txt")) as file:
            self.assertIn("in failing", file.read())

    def test_a_killed_search_goes_on(self):
        with open("script.py", "w") as file:
            file.write(textwrap.dedent('''
                import sagips, time
                def trial(t):
                    with open(t.folder + "/calls", "a") as file:
                        file.write("+")
                    time.sleep(0.3)
                    return t["x"]
                run = sagips.tune(trial, tune={"space": {"x": (0.0, 1.0)}, "trials": 6, "at_once": 1, "lease_s": 1},
                                  run={"figures": False, "name": "one"}, threads=1, progress=False)
                print("complete", run.complete, run.best)
                '''))
        first = subprocess.Popen([sys.executable, "script.py"], stdout=subprocess.DEVNULL)
        logs = "runs/objective/one/trials/objective/00002/calls"
        deadline = time.monotonic() + 60
        while not os.path.exists(logs) and time.monotonic() < deadline:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.wait()
        said = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True)
        self.assertIn("complete True", said.stdout, said.stderr)
        with open("runs/objective/one/trials/objective/00001/calls") as file:
            self.assertEqual(file.read(), "+", "what has ended is not called again")

    def test_what_cannot_be_searched_is_one_clear_line(self):
        cases = [("tune.space", lambda: sagips.tune(CELL["trial"], **QUIET)),
                 ("tune.ranks", lambda: self.tune(ranks=2)),
                 ("tune.folds", lambda: self.tune(folds=2)),
                 ("tune.population", lambda: self.tune(population={"members": 2})),
                 ("'x' is 3", lambda: sagips.tune(CELL["trial"], tune={"space": {"x": 3}}, **QUIET)),
                 ("did you mean", lambda: sagips.tune(CELL["trial"], tune={"space": SPACE, "trial": 3}, **QUIET))]
        for words, call in cases:
            with self.subTest(words), self.assertRaises(sagips.Error) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
        self.assertFalse(os.path.isdir("runs/objective"), "nothing was begun")

    def test_a_pipeline_of_a_cell_is_searched_on_processes(self):
        run = sagips.tune(CELL["decay"], None, {"lifetime": {"low": 0.1, "high": 5, "toy": 2.2}},
                          tune={"space": {"optimizer.generator.learning_rate": (1e-4, 1e-2)}, "trials": 2,
                                "minimise": "ks_mean"},
                          train={"epochs": 4, "evaluate_every": 2, "snapshots": 1}, toy={"events": 500},
                          batch={"samples": 8, "events": 20}, evaluation={"samples": 20, "events": 10},
                          generator={"start": "random"}, **{**QUIET, "run": {**QUIET["run"], "fit": False}})
        self.assertTrue(run.complete)
        self.assertEqual([row["state"] for row in run.table("trials.csv")], ["done"] * 2)


class Nnlo(unittest.TestCase):
    setUp, tearDown = Objectives.setUp, Objectives.tearDown

    def write(self, more=""):
        generator = numpy.random.default_rng(1)
        for name, rows in (("train", 400), ("val", 100)):
            inputs = generator.normal(size=(rows, 4)).astype("float32")
            numpy.save(f"{name}_features.npy", inputs)
            numpy.save(f"{name}_labels.npy", (inputs.sum(1) > 0).astype("int64"))
        with open("my_model.py", "w") as file:
            file.write(textwrap.dedent('''
                import glob, torch
                WIDTH = 8
                class Dimension:
                    def __init__(self, name, **fields):
                        self.name = name
                        vars(self).update(fields)
                class Integer(Dimension):
                    pass
                def get_model(width=WIDTH, kind="relu"):
                    middle = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}[kind]()
                    return torch.nn.Sequential(torch.nn.Linear(4, width), middle, torch.nn.Linear(width, 2))
                get_model.parameter_range = [Integer("width", low=4, high=32, prior="uniform"),
                                             Dimension("kind", categories=["relu", "tanh"])]
                def get_name():
                    return "mine"
                ''') + textwrap.dedent(more))

    def test_a_file_is_trained_and_searched(self):
        if h5py is None:
            self.skipTest("h5py is not installed")
        self.write('''
            def get_train():
                return sorted(glob.glob("train_*.h5"))
            def get_val():
                return sorted(glob.glob("val_*.h5"))
            def get_features():
                return "features", lambda x: 2 * x
            def get_labels():
                return "labels"
            ''')
        for name in ("train", "val"):
            with h5py.File(f"{name}_1.h5", "w") as file:
                for part in ("features", "labels"):
                    file[part] = numpy.load(f"{name}_{part}.npy")
        settings = dict(train={"epochs": 20}, batch=20, optimizer={"learning_rate": 0.02}, **QUIET)
        run = sagips.train(sagips.nnlo("my_model.py"), **settings)
        self.assertGreater(run.metrics["accuracy_end"], 0.9)
        self.assertEqual(run.metrics["weights"], 4 * 8 + 8 + 8 * 2 + 2)
        wide = sagips.train(sagips.nnlo("my_model.py", width=16), **{**settings, "run": {"figures": False}})
        self.assertEqual(wide.metrics["weights"], 4 * 16 + 16 + 16 * 2 + 2)
        search = sagips.tune(sagips.nnlo("my_model.py"), tune={"trials": 2, "maximise": "accuracy"},
                             **{**settings, "run": {"figures": False, "name": "search"}})
        self.assertEqual([row["state"] for row in search.table("trials.csv")], ["done"] * 2)
        self.assertIn("network.layers.0.settings.width", search.best)

    def test_ranges_are_the_space_of_a_search(self):
        self.write('''
            def get_train():
                return ["train_features.npy"]
            ''')
        problem = sagips.nnlo("my_model.py")
        self.assertEqual([one["key"] for one in problem.space],
                         ["network.layers.0.settings.width", "network.layers.0.settings.kind"])
        self.assertEqual(problem.space[1]["values"], [0, 1])

    def test_what_is_wrong_is_one_clear_line(self):
        self.write()
        with open("empty.py", "w") as file:
            file.write("")
        for words, call in [("no function get_model", lambda: sagips.nnlo("empty.py")),
                            ("no such file", lambda: sagips.nnlo("nowhere.py")),
                            ("takes no 'depth'", lambda: sagips.nnlo("my_model.py", depth=3)),
                            ("a number was expected", lambda: sagips.nnlo("my_model.py", kind="relu"))]:
            with self.subTest(words), self.assertRaises(sagips.ConfigError) as caught:
                call()
            self.assertIn(words, str(caught.exception))
            self.assertEqual(len(str(caught.exception).splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
