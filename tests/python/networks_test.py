"""Modules of PyTorch and Keras as networks; losses, metrics, functions of rows and data from Python.

    networks_test.py SAGIPS_PROGRAM
"""
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

os.environ["KERAS_BACKEND"] = "torch"

import numpy
import torch

import sagips

SAGIPS = os.path.abspath(sys.argv[1])
generator = numpy.random.default_rng(3)
ROWS = generator.normal(size=(300, 2)).astype(numpy.float32)
RING = numpy.minimum(2, numpy.hypot(*ROWS.T) // 0.8).astype(numpy.int64)
VALUES = (ROWS @ numpy.array([[1.0], [-0.5]]) + 0.1 * generator.normal(size=(300, 1))).astype(numpy.float32)
QUICK = {"train": {"epochs": 3}, "batch": 50, "threads": 2, "optimizer": {"rule": "sgd", "learning_rate": 0.05},
         "run": {"figures": False}, "progress": False}
SMALL = {"train": {"epochs": 4, "evaluate_every": 2, "snapshots": 1}, "batch": {"samples": 8, "events": 20},
         "toy": {"events": 1000}, "evaluation": {"samples": 20, "events": 10}, "threads": 2, "progress": False,
         "run": {"figures": False, "fit": False}}


def network():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))


def regression():
    torch.manual_seed(5)
    return torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


class Around(torch.nn.Module):
    """`network()` with something of `forward` around it."""

    def __init__(self):
        super().__init__()
        self.inner = network()


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(context, values):
        return values.clone()

    @staticmethod
    def backward(context, slope):
        raise KeyError("of the slope")


def module(forward, base=Around):
    """A module whose forward is that function of it and rows."""
    return type("Made", (base,), {"forward": forward})()


class Networks(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.before = os.getcwd()
        os.chdir(self.scratch.name)

    def tearDown(self):
        os.chdir(self.before)
        self.scratch.cleanup()

    def train(self, network, data=(ROWS, RING), **settings):
        number = sum(len(names) for _, names, _ in os.walk("runs"))
        return sagips.train("learning", data=data, network=network,
                            **{**QUICK, **settings, "run": {"figures": False, "name": f"run{number}"}})

    def weights(self, run, which="last"):
        return run.network(which)._network.arrays()

    def test_a_module_learns_as_the_same_network_in_a_config(self):
        begin = network()
        from safetensors.torch import save_file
        save_file({"layer0.weight": begin[0].weight.data, "layer0.bias": begin[0].bias.data,
                   "layer1.weight": begin[2].weight.data, "layer1.bias": begin[2].bias.data}, "begin.safetensors")
        written = self.train([{"dense": 16, "activation": "relu"}, {"dense": 3}], start_from="begin.safetensors")
        given = self.train(begin)
        theirs, own = self.weights(written), self.weights(given)
        for name, same in {"layer0.0.weight": "layer0.weight", "layer0.2.bias": "layer1.bias"}.items():
            torch.testing.assert_close(own[name], theirs[same], rtol=1e-5, atol=1e-6)
            self.assertGreater((own[name] - begin.state_dict()[name[7:]]).abs().max(), 1e-3, "it has learned")
        self.assertAlmostEqual(given.metrics["loss_end"], written.metrics["loss_end"], delta=1e-5)
        torch.testing.assert_close(begin.state_dict(), network().state_dict())  # the user's own is left alone
        mixed = self.train([torch.nn.Linear(2, 16), {"activation": "relu"}, {"dense": 3}])
        self.assertTrue(mixed.complete)

    def test_buffers_are_kept_however_a_module_writes_them(self):
        class Mean(Around):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.zeros(2))

            def forward(self, rows):
                if self.training:
                    with torch.no_grad():
                        self.write(0.9 * self.mean + 0.1 * rows.mean(0))
                return self.inner(rows - self.mean)

        class Anew(Mean):
            def write(self, values):
                self.mean = values

        class Within(Mean):
            def write(self, values):
                self.mean.copy_(values)
        runs = [self.train(kind()) for kind in (Anew, Within)]
        own, same = (self.weights(run) for run in runs)
        self.assertGreater(own["layer0.mean"].abs().sum(), 0)
        torch.testing.assert_close(own, same, rtol=0, atol=0)

    def test_names_are_those_of_the_module(self):
        class Names(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.a_b = torch.nn.Module(), torch.nn.Module()
                self.a.b_c = torch.nn.Parameter(torch.ones(2, 3))
                self.a_b.c = torch.nn.Parameter(torch.zeros(3))

            def forward(self, rows):
                return rows @ self.a.b_c + self.a_b.c
        run = self.train(Names())
        self.assertEqual(set(self.weights(run)), {"layer0.a.b_c", "layer0.a_b.c"})

    def test_frozen_weights_stay_and_dropout_repeats(self):
        class Half(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fixed, self.dropout = torch.nn.Linear(2, 8), torch.nn.Dropout(0.2)
                self.last = torch.nn.Linear(8, 3)
                self.fixed.requires_grad_(False)

            def forward(self, rows):
                return self.last(self.dropout(torch.relu(self.fixed(rows))))
        begin = Half()
        one, other = (self.train(begin, threads=threads) for threads in (1, 2))
        torch.testing.assert_close(self.weights(one)["layer0.fixed.weight"], begin.fixed.weight.double().data)
        torch.testing.assert_close(self.weights(one)["layer0.last.weight"], self.weights(other)["layer0.last.weight"])

    def test_an_exception_of_a_backward_pass_arrives_as_it_is(self):
        for where, settings in (("of the trial", {}), ("of the training", {})):
            calls = {"of the trial": 0, "of the training": 3}[where]

            class Later(torch.autograd.Function):
                seen = 0

                @staticmethod
                def forward(context, values):
                    return values.clone()

                @staticmethod
                def backward(context, slope):
                    Later.seen += 1
                    if Later.seen > calls:
                        return Raises.backward(context, slope)
                    return slope
            try:
                self.train(module(lambda self, rows: Later.apply(self.inner(rows))), **settings)
                self.fail("it did not raise")
            except KeyError as caught:
                names = [frame.name for frame in traceback.extract_tb(caught.__traceback__)]
                self.assertIn("of the slope", str(caught))
                self.assertIn("backward", names)
        self.assertTrue(self.train(network()).complete, "nothing is left of it")

    def test_ctrl_c_in_a_backward_pass_leaves_a_state(self):
        handler = signal.getsignal(signal.SIGINT)

        class Press(torch.autograd.Function):  # counts where no word of a config sees it
            @staticmethod
            def forward(context, values):
                return values.clone()

            @staticmethod
            def backward(context, slope):
                os.environ["SLOPES"] = str(int(os.environ["SLOPES"]) + 1)
                if os.environ["SLOPES"] == "20":
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.005)  # on any machine few steps pass before the next look, 20 ms later
                return slope
        pressed = module(lambda self, rows: Press.apply(self.inner(rows)))
        settings = {**QUICK, "threads": 1, "train": {"epochs": 50}, "run": {"figures": False, "name": "pressed"}}
        os.environ["SLOPES"] = "0"
        with self.assertRaises(KeyboardInterrupt):
            sagips.train("learning", data=(ROWS, RING), network=pressed, **settings)
        self.assertIs(signal.getsignal(signal.SIGINT), handler)
        self.assertTrue(os.listdir("runs/learning/pressed/checkpoints"))
        self.assertLess(int(os.environ["SLOPES"]), 30)
        run = sagips.train("learning", data=(ROWS, RING), network=pressed, **settings)
        self.assertTrue(run.complete)
        self.assertLess(int(os.environ["SLOPES"]), 50 * 6 + 10, "it went on where it was")

    def test_bad_modules_functions_and_data_are_one_clear_line(self):
        on_meta = torch.nn.Linear(2, 3, device="meta")
        lazy = torch.nn.LazyLinear(3)
        cases = [
            ("Made: gives a tuple", lambda: self.train(module(lambda self, rows: (self.inner(rows), rows)))),
            ("Made: gives a NoneType", lambda: self.train(module(lambda self, rows: None))),
            ("needs a row for each", lambda: self.train(module(lambda self, rows: self.inner(rows)[:2]))),
            ("'weight' is on meta", lambda: self.train(on_meta)),
            ("'weight' has no shape yet", lambda: self.train(lazy)),
            ("'0.weight' holds double", lambda: self.train(network().double())),
            ("has no weights", lambda: self.train(torch.nn.Flatten(), (ROWS, RING % 2))),
            ("does not depend on it", lambda: self.train(module(lambda self, rows: self.inner(rows).detach()))),
            ("random numbers", lambda: self.train(module(
                lambda self, rows: torch.nn.functional.dropout(self.inner(rows), 0.1, self.training)))),
            ("makes a int", lambda: self.train(lambda: 3)),
            ("network is a int", lambda: self.train(3)),
            ("takes 1 arguments", lambda: self.train(network(), loss=lambda outputs: outputs)),
            ("gives a float", lambda: self.train(regression(), (ROWS, VALUES), loss=lambda outputs, targets: 1.0)),
            ("rows", lambda: self.train(regression(), (ROWS, VALUES), loss=lambda outputs, targets: outputs)),
            ("one number", lambda: self.train(network(), metrics=[lambda predicted, targets: predicted])),
            ("data.inputs has NaN", lambda: self.train(network(), (numpy.full((9, 2), numpy.nan), RING[:9]))),
            ("weigh rows", lambda: self.train(
                regression(), (ROWS, VALUES, numpy.ones(300)),
                loss=lambda outputs, targets: (outputs - targets).var())),
        ]
        for words, call in cases:
            with self.subTest(words), self.assertRaises(sagips.Error) as caught:
                call()
            text = str(caught.exception)
            self.assertIn(words, text)
            self.assertEqual(len(text.splitlines()), 1, text)

    def test_losses_metrics_and_functions_of_rows(self):
        def square(outputs, targets):
            return (outputs - targets).square().mean(1)

        def largest(predicted, targets):
            return (predicted - targets).abs().max()

        def weighted(predicted, targets, weights):
            return (weights * (predicted - targets).abs().flatten()).sum() / weights.sum()
        data = (ROWS, VALUES)
        known = self.train(regression(), data, loss="mean_square")
        own = self.train(regression(), data, loss=square, metrics=[largest, weighted])
        whole = self.train(regression(), data, loss=lambda outputs, targets: (outputs - targets).square().mean())
        torchs = self.train(regression(), data, loss=torch.nn.MSELoss())
        for run in (own, whole, torchs):
            torch.testing.assert_close(self.weights(run), self.weights(known), rtol=1e-5, atol=1e-6)
        self.assertAlmostEqual(own.metrics["weighted_end"], own.metrics["mean_absolute_error_end"], places=6)
        self.assertGreater(own.metrics["largest_end"], own.metrics["weighted_end"])
        classes = self.train(network(), loss=torch.nn.CrossEntropyLoss())
        self.assertAlmostEqual(classes.metrics["accuracy_end"], self.train(network()).metrics["accuracy_end"])
        self.assertAlmostEqual(float(sagips.predict(classes).values.sum(1).mean()), 1, places=5)

        def doubled(rows):
            return 2 * rows
        here = self.train(regression(), {"inputs": (ROWS, doubled), "targets": VALUES}, loss="mean_square")
        there = self.train(regression(), (2 * ROWS, VALUES), loss="mean_square")
        torch.testing.assert_close(self.weights(here), self.weights(there), rtol=0, atol=0)
        said = sagips.predict(here, ROWS).values
        torch.testing.assert_close(said, sagips.predict(there, 2 * ROWS).values)

    def test_data_come_in_many_forms(self):
        tensors = torch.from_numpy(ROWS), torch.from_numpy(RING)
        rows = torch.utils.data.TensorDataset(*tensors)
        forms = [(ROWS, RING), tensors, rows, torch.utils.data.DataLoader(rows, 70),
                 {"inputs": ROWS, "targets": RING.tolist()},
                 {"training": rows, "held_out": 0.1}]
        if importlib.util.find_spec("pandas"):
            import pandas
            forms.append({"inputs": pandas.DataFrame(ROWS, columns=["x", "y"]), "targets": pandas.Series(RING)})
        losses = {self.train(network(), data).metrics["loss_end"] for data in forms}
        self.assertEqual(len(losses), 1)
        apart = self.train(network(), {"training": rows, "validation": (ROWS[:50], RING[:50])})
        self.assertEqual(sagips.predict(apart).values.shape, (50, 3))

        class Two(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = network()

            def forward(self, first, second):
                return self.inner(torch.cat([first, second], 1))
        named = self.train(Two, {"inputs": {"first": ROWS[:, :1], "second": ROWS[:, 1:]}, "targets": RING})
        said = named.network()({"first": torch.from_numpy(ROWS[:, :1]), "second": torch.from_numpy(ROWS[:, 1:])})
        self.assertEqual(said.shape, (300, 3))

    def trained_elsewhere(self, run):
        """On a GPU, which is not here."""
        rows, path = torch.from_numpy(ROWS), os.path.join(run.folder, "config.yaml")
        said = run.network()(rows)
        with open(path) as file:
            config = file.read()
        self.assertIn("device: cpu", config)
        with open(path, "w") as file:
            file.write(config.replace("device: cpu", "device: cuda"))
        again = sagips.load(run.folder)
        torch.testing.assert_close(again.network()(rows), said)
        torch.testing.assert_close(sagips.predict(again, ROWS).values, said.detach())

    def test_trained_networks_are_modules(self):
        config = [{"dense": 8, "activation": "tanh"}, {"dense": 3}]
        for layers in (config, network()):
            run = self.train(layers, {"inputs": ROWS, "targets": RING, "standardise": "inputs"})
            trained = run.network()
            rows = torch.from_numpy(ROWS).requires_grad_()
            said = trained(rows)
            torch.testing.assert_close(said.detach(), sagips.predict(run, ROWS).values)
            said[:, 0].sum().backward()
            self.assertGreater(rows.grad.abs().sum(), 0)
        own = run.network("last").module
        arrays = self.weights(run)
        rows = (torch.from_numpy(ROWS) - arrays["inputs.mean"]) / arrays["inputs.deviation"]
        torch.testing.assert_close(torch.softmax(own(rows.float()), 1).detach(),
                                   sagips.predict(run, ROWS, network="last").values, rtol=1e-5, atol=1e-6)
        run = self.train(config)
        with self.assertRaisesRegex(sagips.ConfigError, "written in Python"):
            run.network().module
        self.trained_elsewhere(run)
        with open("nets.py", "w") as file:
            file.write("import torch\ndef make(width=4):\n    return torch.nn.Sequential(torch.nn.Linear(2, width), "
                       "torch.nn.ReLU(), torch.nn.Linear(width, 3))\n")
        sys.path.insert(0, os.getcwd())
        try:
            run = self.train([{"module": "nets:make", "settings": {"width": 8}}])
            own = run.network("last").module
        finally:
            sys.path.pop(0)
        said = torch.softmax(own(torch.from_numpy(ROWS)), 1).detach()
        torch.testing.assert_close(said, sagips.predict(run, ROWS, network="last").values, rtol=1e-5, atol=1e-6)
        self.assertEqual(own[0].weight.shape, (8, 2))

    def test_generator_and_discriminator_are_modules_and_children_find_them(self):
        def decay(theta, noise):
            return theta * -torch.log(noise.uniform())

        class Hidden(torch.nn.Sequential):
            def __init__(self, inputs):
                super().__init__(torch.nn.Linear(inputs, 16), torch.nn.LeakyReLU(0.2))
        run = sagips.train(decay, None, {"lifetime": {"low": 0.1, "high": 5, "toy": 2.2}},
                           generator={"hidden_layers": [lambda: Hidden(6)], "start": "random", "finish": "networks"},
                           discriminator=Hidden(1), **SMALL)
        self.assertTrue(0.1 < run.values["lifetime"] < 5)
        run = sagips.ensemble("learning", data=(ROWS, RING), network=lambda: Hidden(2).append(torch.nn.Linear(16, 3)),
                              ensemble={"members": 2}, **QUICK)
        self.assertTrue(run.complete)
        self.assertEqual(sagips.predict(run, ROWS[:7]).values.shape, (7, 3))

    def test_the_program_says_where_python_is_needed(self):
        numpy.save("x.npy", ROWS)
        numpy.save("y.npy", VALUES)
        base = ["check", "learning", "data.inputs.file=x.npy", "data.targets.file=y.npy"]
        for words in (["network.layers=[{module: nets:make}]", "loss=mean_square"],
                      ["network.layers=[{dense: 1}]", "loss=mine:loss"],
                      ["network.layers=[{dense: 1}]", "loss=mean_square", "metrics=[mine:metric]"],
                      ["network.layers=[{dense: 1}]", "loss=mean_square", "data.inputs.script=mine:rows"]):
            done = subprocess.run([SAGIPS, *base, *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn("python -m sagips", done.stdout + done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("keras"), "there is no Keras 3")
    def test_a_keras_model_is_a_network(self):
        import keras

        def make():
            keras.utils.set_random_seed(1)
            return keras.Sequential([keras.Input(shape=(2,)), keras.layers.Dense(16, activation="relu"),
                                     keras.layers.BatchNormalization(), keras.layers.Dropout(0.1),
                                     keras.layers.Dense(3)])
        model = make()
        before = [weights.copy() for weights in model.get_weights()]
        run = self.train(model)
        for one, other in zip(before, model.get_weights()):
            numpy.testing.assert_array_equal(one, other, "the user's own is left alone")
        trained = run.network("last").module
        self.assertIsInstance(trained, keras.Sequential)
        self.assertGreater(abs(trained.get_weights()[0] - before[0]).max(), 1e-4)
        self.assertGreater(abs(trained.layers[1].moving_mean.numpy()).max(), 0)
        said = torch.softmax(trained(torch.from_numpy(ROWS), training=False), 1)
        torch.testing.assert_close(said.detach(), sagips.predict(run, ROWS, network="last").values, rtol=1e-5,
                                   atol=1e-6)
        plain = keras.Sequential([keras.Input(shape=(2,)), keras.layers.Dense(16, activation="relu"),
                                  keras.layers.Dense(3)])
        same = network()
        plain.set_weights([same[0].weight.detach().numpy().T, same[0].bias.detach().numpy(),
                           same[2].weight.detach().numpy().T, same[2].bias.detach().numpy()])
        self.assertAlmostEqual(self.train(plain).metrics["loss_end"], self.train(same).metrics["loss_end"], delta=1e-5)
        with self.assertRaisesRegex(sagips.ConfigError, "not there yet"):
            self.train(keras.Sequential([keras.layers.Dense(3)]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
