"""Events as people have them: pandas, polars, Awkward arrays, tensors, ROOT files, and what is wrong with them."""
import importlib.util
import os
import sys
import tempfile
import unittest

import numpy
import torch

import sagips


def decay(theta, noise):
    return theta * -torch.log(noise.uniform())


BOX = sagips.Box(lifetime=(0.1, 5, "us"))
QUIET = {"run": {"figures": False}, "solve": {"method": "moments"}, "moments": {"minima": False}, "progress": False}
TIMES = numpy.random.default_rng(1).exponential(2.2, 400)


def needs(name):
    return unittest.skipIf(importlib.util.find_spec(name) is None, f"{name} is not installed")


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        os.chdir(cls.scratch.name)
        cls.value = sagips.solve(decay, TIMES, BOX, observables="t", **QUIET).values["lifetime"]

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.scratch.cleanup()

    def same(self, data, observables="t [us]"):
        run = sagips.solve(decay, data, BOX, observables=observables, start="fresh", **QUIET)
        self.assertEqual(run.values["lifetime"], self.value)

    def refused(self, words, data, observables="t", kind=sagips.DataError):
        with self.assertRaises(kind) as caught:
            sagips.solve(decay, data, BOX, observables=observables, **QUIET)
        self.assertEqual(len(str(caught.exception).splitlines()), 1)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_tensors_and_records(self):
        self.same(torch.from_numpy(TIMES).requires_grad_())
        self.same(numpy.rec.fromarrays([TIMES * 2, TIMES], names=["other", "t"]))
        self.refused(["no column t", "other"], numpy.rec.fromarrays([TIMES], names=["other"]))
        self.refused(["object", "different lengths"], numpy.array([[1.0], [1.0, 2.0]], dtype=object))

    @needs("pandas")
    def test_pandas(self):
        import pandas
        table = pandas.DataFrame({"word": ["a"] * len(TIMES), "t": TIMES})
        self.same(table)
        self.same(table["t"])
        self.refused(["'word'", "numbers were expected"], table, observables=["word"])
        self.refused(["no column x", "word, t"], table, observables=["x"])

    @needs("polars")
    def test_polars(self):
        import polars
        table = polars.DataFrame({"word": ["a"] * len(TIMES), "t": TIMES})
        self.same(table)
        self.same(table["t"])
        self.refused(["no column x"], table, observables=["x"])

    @needs("awkward")
    def test_awkward(self):
        import awkward
        self.same(awkward.Array({"t": TIMES, "other": TIMES}))
        self.same(awkward.Array(TIMES))
        ragged = awkward.Array({"t": [[1.0, 2.0], [3.0]], "n": [2, 1]})
        self.refused(["'t'", "different lengths"], ragged)
        self.refused(["different lengths"], ragged["t"])
        self.refused(["without a value"], awkward.Array([1.0, None]))

    @needs("uproot")
    def test_root_files(self):
        import uproot
        with uproot.recreate("events.root") as file:
            file["tree"] = {"other": TIMES * 2, "t": TIMES}
        self.same("events.root:tree")
        self.same("events.root")  # its only tree
        self.same({"file": "events.root", "tree": "tree", "columns": ["t"]})
        self.refused(["no column x", "other, t"], "events.root:tree", observables=["x"])
        self.refused(["no tree 'trees'", "tree"], "events.root:trees")
        self.refused(["there is no such file"], "nowhere.root:tree")
        with uproot.recreate("two.root") as file:
            file["a"] = file["b"] = {"t": TIMES}
        self.refused(["several trees", "a, b"], "two.root")

    def test_root_files_without_uproot(self):
        before, sys.modules["uproot"] = sys.modules.get("uproot"), None
        try:
            self.refused(["uproot", "pip install"], "events.root:tree", kind=sagips.ConfigError)
        finally:
            del sys.modules["uproot"]
            if before is not None:
                sys.modules["uproot"] = before


if __name__ == "__main__":
    unittest.main()
