"""What a call says, as a config: whose function it is, what lies over what, and what is refused."""
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy
import torch

import sagips


def decay(theta, noise):
    return theta * -torch.log(noise.uniform())


def pair(theta, noise):
    return torch.stack([decay(theta, noise), noise.normal()], 2)


BOX = sagips.Box(lifetime=(0.1, 5, "us"))
QUIET = {"run": {"figures": False}, "solve": {"method": "moments"}, "moments": {"minima": False}, "progress": False}
TIMES = numpy.random.default_rng(1).exponential(2.2, 400)
ROWS = numpy.random.default_rng(2).normal(size=(100, 2)).astype(numpy.float32)
SHORT = {"train": {"epochs": 1}, "run": {"figures": False}, "progress": False, "start": "fresh"}


class Problems(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        os.chdir(cls.scratch.name)
        for folder, scale in (("one", 1), ("two", 2)):
            os.mkdir(folder)
            with open(f"{folder}/law.py", "w") as file:
                file.write(f"def decay(theta, noise):\n    return {scale} * theta * -noise.uniform().log()\n")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.scratch.cleanup()

    @contextlib.contextmanager
    def refused(self, *words, kind=sagips.ConfigError):
        with self.assertRaises(kind) as caught:
            yield
        self.assertEqual(len(str(caught.exception).splitlines()), 1)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_two_files_of_one_name_are_told_apart(self):
        def solved(folder):
            with open(f"{folder}/law.yaml", "w") as file:
                file.write('parameters: {lifetime: {low: 0.1, high: 5}}\nobservables: [t]\n'
                           'pipeline: [{python: "law:decay"}]\n')
            return sagips.check(f"{folder}/law.yaml", TIMES)
        solved("one")
        with self.refused("two/law.py", "one/law.py", "another name"):
            solved("two")

    def test_functions_of_modules_serve_wherever_they_are_given(self):
        os.makedirs("own/deeper", exist_ok=True)
        with open("own/deeper/laws.py", "w") as file:
            file.write("import sagips, numpy\ndef decay(theta, noise):\n    return theta * -noise.uniform().log()\n"
                       "@sagips.numpy(noise=1)\ndef array(parameters, noise):\n"
                       "    return parameters[:, None] * -numpy.log(noise)\ndef square(rows):\n    return rows ** 2\n")
        sys.path.insert(0, os.path.abspath("own"))
        from deeper import laws
        for given in (laws.decay, [laws.decay], laws.array):
            self.assertTrue(sagips.solve(given, TIMES, BOX, **QUIET).complete)
        both = sagips.solve({"a": laws.decay, "b": laws.decay}, {"a": TIMES, "b": TIMES}, BOX, **QUIET)
        self.assertTrue(both.complete)
        run = sagips.train("learning", data={"inputs": (ROWS, laws.square), "targets": ROWS[:, :1]}, loss="mean_square",
                           network={"layers": [{"dense": 1}]}, **SHORT)
        self.assertTrue(run.complete)

    def test_each_data_set_has_its_own(self):
        both = {"near": decay, "far": decay}
        data = {"near": TIMES, "far": TIMES}
        for what in ("data", "observables", "weights"):
            given = {"data": data, what: {"near": TIMES, "fer": TIMES}}
            with self.refused(f"{what} has 'fer'", "near, far"):
                sagips.check(both, box=BOX, **given)
        for what in ("observables", "weights"):
            with self.refused(f"{what} has 'a'", "one data set"):
                sagips.check(decay, TIMES, BOX, **{what: {"a": TIMES}})
        with self.refused("those of one data set", "near, far"):
            sagips.check(both, TIMES, BOX)
        toys = {"near": decay, "far": pair}
        said = sagips.check(toys, box=sagips.Box(lifetime={"low": 0.1, "high": 5, "toy": 2.2}), toy={"events": 200},
                            observables={"near": "t [us]", "far": ["t [us]", "x"]})
        self.assertIn("discriminator far: 2 to 1", said)

    def test_settings_lie_over_what_arguments_say(self):
        both = {"near": decay, "far": decay}
        said = sagips.solve(both, {"near": TIMES, "far": TIMES}, BOX, channels={"near": {"weight": 2}},
                            parameters={"lifetime": {"unit": "ns"}}, **QUIET)
        self.assertEqual(said.parameters["lifetime"].unit, "ns")
        with open(said.file("config.yaml")) as file:
            self.assertIn("weight: 2", file.read())

    def test_functions_stand_wherever_a_config_has_them(self):
        words = sagips.problems.assignments_of(
            {"pipeline": [{"python": decay, "processes": 1}], "heads": {"one": {"loss": torch.nn.functional.mse_loss}},
             "network": torch.nn.Linear, "networks": {"body": {"layers": torch.nn.Linear}}}, "runs")
        for key in ("pipeline", "heads.one.loss", "network.layers", "networks.body.layers"):
            self.assertTrue(any(word.startswith(key + "=") for word in words), words)
        self.assertEqual(sagips.problems.assignments_of({"generator": {"layers": 1}}, "runs"), ["generator.layers=1"])
        for key, value in (("train", {"epochs": decay}), ("batch", object())):
            with self.refused(key, "a number, a text or a list"):
                sagips.problems.assignments_of({key: value}, "runs")

    def test_a_text_may_look_like_a_group(self):
        os.mkdir("a: b")
        numpy.save("a: b/times.npy", TIMES)
        self.assertIn("360 to train on", sagips.check(decay, os.path.abspath("a: b/times.npy"), BOX))

    def test_noise_may_have_a_default(self):
        def smeared(theta, noise=None):
            return theta * -torch.log(noise.uniform())
        self.assertEqual(sagips.solve(smeared, TIMES, BOX, observables="t", **QUIET).values,
                         sagips.solve(decay, TIMES, BOX, observables="t", **QUIET).values)

    def test_a_product_may_ask_for_what_its_function_does_not(self):
        @sagips.numpy(noise=1, product=lambda slope, noise, seeds: (slope * -numpy.log(noise)).sum(1) + 0 * seeds[:, None])
        def drawn(parameters, noise):
            return parameters[:, None] * -numpy.log(noise)
        self.assertIn("drawn", sagips.check(drawn, TIMES, BOX))
        with self.refused("noise=2 has no effect", "events"):
            @sagips.numpy(noise=2)
            def events(parameters):
                return parameters

    def test_a_loader_gives_all_rows_in_one_order(self):
        rows = torch.utils.data.TensorDataset(torch.from_numpy(ROWS), torch.from_numpy(ROWS[:, :1]))
        loader = torch.utils.data.DataLoader(rows, batch_size=32, shuffle=True, drop_last=True)
        files = [sagips.problems.rows_of(loader, "runs")["inputs"]["file"] for _ in range(2)]
        self.assertEqual(files[0], files[1])
        numpy.testing.assert_array_equal(numpy.load(files[0]), ROWS)
        part = torch.utils.data.SubsetRandomSampler([3, 4, 5])
        some = torch.utils.data.DataLoader(rows, batch_size=2, sampler=part)
        self.assertEqual(numpy.load(sagips.problems.rows_of(some, "runs")["inputs"]["file"]).shape, (3, 2))

    def test_what_a_script_keeps_has_one_name_at_each_start(self):
        script = ("import sys, torch, sagips\n"
                  "def decay(theta, noise):\n"
                  "    return theta * ('x' in {'x', 'yy', 'zzz', 'u', 'vv'}) * (1 + (1 in SET)) * -noise.uniform().log()\n"
                  "SET = {'a', 'b', 'c', 'dd', 1}\n"
                  "aside = torch.ones(int(sys.argv[1]))\n"
                  "torch.manual_seed(0)\n"
                  "net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 3))\n"
                  "net[2].weight = torch.nn.Parameter(torch.ones(3, 3))\n"
                  "net.append(torch.nn.Linear(3, 3))\n"
                  "net[3].weight = net[2].weight\n"
                  "things = [decay, net]\n"
                  "if len(sys.argv) > 2:\n"
                  "    import keras\n"
                  "    keras.utils.set_random_seed(1)\n"
                  "    things.append(keras.Sequential([keras.Input(shape=(2,)), keras.layers.Dense(3)]))\n"
                  "for one in things:\n"
                  "    print(sagips.references.path_word(one, 'runs/functions'))\n")
        keras = ["keras"] if importlib.util.find_spec("keras") else []
        found = {subprocess.run([sys.executable, "-c", script, str(1 + 4000 * seed), *keras],
                                env={**os.environ, "PYTHONHASHSEED": str(seed), "KERAS_BACKEND": "torch"},
                                capture_output=True, text=True, check=True).stdout for seed in range(2)}
        self.assertEqual(len(found), 1, found)
        again, network, *model = [sagips.references.find(word) for word in found.pop().split()]
        self.assertEqual(again.__globals__["SET"], {"a", "b", "c", "dd", 1})
        self.assertIs(network[2].weight, network[3].weight)
        self.assertEqual(network(torch.ones(4, 2)).shape, (4, 3))
        for one in model:
            self.assertEqual(one(numpy.ones((4, 2))).shape, (4, 3))

    def test_arrays_of_other_widths_and_bad_ones(self):
        for kind in (numpy.float16, numpy.longdouble):
            self.assertIn("360 to train on", sagips.check(decay, TIMES.astype(kind), BOX))
        run = sagips.train("learning", (ROWS, ROWS[:, :1]), loss="mean_square", network={"layers": [{"dense": 1}]}, **SHORT)
        with self.refused("inputs", "object", kind=sagips.DataError):
            sagips.predict(run, numpy.array([[object()]]))
        with self.refused("inputs has NaN", kind=sagips.DataError):
            sagips.predict(run, numpy.full((1, 2), numpy.nan))
        with self.refused("problem is a function"):
            sagips.settings(decay)
        with self.refused("network=module"):
            sagips.train(torch.nn.Linear(2, 1), (ROWS, ROWS))

    def test_an_interrupted_call_is_made_again(self):
        def pressed(theta, noise):  # counts where no word of a config sees it
            os.environ["CALLS"] = str(int(os.environ["CALLS"]) + 1)
            if os.environ["CALLS"] == "40":
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.03)  # until the next look
            return theta * -torch.log(noise.uniform())
        os.environ["CALLS"] = "0"
        settings = {**QUIET, "observables": "t", "run": {"figures": False, "name": "pressed"}}
        with self.assertRaises(KeyboardInterrupt):
            sagips.solve(pressed, TIMES, BOX, **settings)
        self.assertFalse(sagips.load("runs/custom/pressed").complete)
        self.assertTrue(sagips.solve(pressed, TIMES, BOX, **settings).complete)
        with self.refused("already there", kind=sagips.StorageError):
            sagips.solve(pressed, TIMES, BOX, **settings)
        with self.refused("cannot be the name of one folder"):
            sagips.solve(pressed, TIMES, BOX, **{**settings, "run": {"figures": False, "name": ".."}})

    def test_hdf5_has_two_libraries(self):
        if importlib.util.find_spec("h5py") is None:
            self.skipTest("h5py is not installed")
        import h5py
        with h5py.File("rows.h5", "w") as file:
            file["t"] = TIMES
        with h5py.File("rows.h5") as file:
            numpy.testing.assert_array_equal(file["t"][()], TIMES)
        self.assertIn("360 to train on", sagips.check(decay, {"file": "rows.h5", "columns": ["t"]}, BOX, observables="t"))


if __name__ == "__main__":
    unittest.main()
