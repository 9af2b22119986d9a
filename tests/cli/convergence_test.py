"""Exchanges compared from the shell: tables and files against what the members left, going on, and bad input.

usage: convergence_test.py SAGIPS
"""
import csv
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import jobs

SAGIPS = os.path.abspath(sys.argv[1])
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["train.epochs=40", "train.evaluate_every=2", "train.snapshots=5", "batch.samples=8", "batch.events=20",
         "toy.events=2000", "evaluation.samples=20", "evaluation.events=10", "run.name=c"]


def safetensors(path):
    """Notes and the first tensor of a snapshot as rows, read without our code."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        tensor = header["predictions"]
        begin, end = tensor["data_offsets"]
        file.seek(8 + length + begin)
        numbers = struct.unpack(f"<{(end - begin) // 4}f", file.read(end - begin))
    columns = tensor["shape"][1]
    return header["__metadata__"], [numbers[i:i + columns] for i in range(0, len(numbers), columns)]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


class Convergence(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = self.scratch.name + "/runs/proxy1d/c"

    def start(self, arguments):
        return subprocess.Popen([SAGIPS, "convergence", "proxy1d/cold", *arguments], cwd=self.scratch.name, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_command(self, *arguments):
        job = self.start(arguments)
        output, _ = job.communicate(timeout=300)
        return job.returncode, output

    def rows(self, name):
        with open(f"{self.folder}/{name}") as file:
            return list(csv.DictReader(file))

    def members(self, variant):
        with open(self.folder + "/study.json") as file:
            study = json.load(file)
        return [f"{self.folder}/{member['folder']}" for member in study["members"] if member["variant"] == variant]

    def check_last_residuals(self, variant):
        """Eq. (6) to (8) of the SAGIPS paper from the members' last snapshots."""
        last = [safetensors(sorted(glob.glob(member + "/snapshots/*"))[-1]) for member in self.members(variant)]
        names = last[0][0]["parameters"].split(",")
        with open(self.members(variant)[0] + "/results.json") as file:
            truths = {row["name"]: row["truth"] for row in json.load(file)["parameters"]}
        shown = [row for row in self.rows("convergence.csv") if row["variant"] == variant]
        self.assertEqual(len({row["parameter"] for row in shown}), 6)
        for column, name in enumerate(names):
            vectors = list(zip(*[[row[column] for row in rows] for _, rows in last]))
            spread = mean(mean((x - mean(v)) ** 2 for x in v) ** 0.5 for v in vectors) / abs(truths[name])
            residual = (truths[name] - mean(mean(v) for v in vectors)) / truths[name]
            row = [row for row in shown if row["parameter"] == name][-1]
            self.assertAlmostEqual(float(row["residual"]), residual, places=5)
            self.assertAlmostEqual(float(row["spread"]), spread, places=5)
            self.assertGreater(spread, 0)

    def check_rate(self, variant, events_of_epoch):
        """Eq. (9): what all ranks analyse, over the time of the slowest."""
        times, rates = [], []
        for member in self.members(variant):
            with open(member + "/results.json") as file:
                times.append(json.load(file)["time_s"])
            with open(member + "/exchange.csv") as file:
                ranks = [{name: float(text) for name, text in rank.items()} for rank in csv.DictReader(file)]
            events = sum(rank["events_per_second"] * rank["time_s"] for rank in ranks)
            self.assertAlmostEqual(events / (events_of_epoch * 40), 1, places=6)
            rates.append(events_of_epoch * 40 / max(rank["time_s"] for rank in ranks))
        row = [row for row in self.rows("scaling.csv") if row["variant"] == variant][0]
        self.assertAlmostEqual(float(row["time_s"]), mean(times))
        self.assertAlmostEqual(float(row["events_per_second"]) / mean(rates), 1, places=6)

    def test_one_command_compares_exchanges_and_numbers_of_ranks(self):
        code, output = self.run_command("--exchanges", "all_reduce,arar_arar", "--ranks", "2", "--members", "2",
                                        "--over-ranks", "1,2", "--batch", "both", *SMALL)
        self.assertEqual(code, 0, output)
        variants = ["all_reduce", "arar_arar", "one rank", "all_reduce, 2 ranks, divided",
                    "arar_arar, 2 ranks, divided"]
        self.assertEqual([row["variant"] for row in self.rows("scaling.csv")], variants)
        for variant in variants:
            self.check_last_residuals(variant)
        self.check_rate("arar_arar", 2 * 8 * 20)
        self.check_rate("arar_arar, 2 ranks, divided", 8 * 20)
        for words in ("distance [floors]", "ideal", "arar_arar, 2 ranks, divided against one rank: "):
            self.assertIn(words, output)
            with open(self.folder + "/tables.txt") as kept:
                self.assertIn(words, kept.read(), "a batch job's output may be lost")
        for figure in ("exchanges_residuals", "exchanges_spread", "exchanges_distance", "rate_over_ranks",
                       "time_over_ranks", "batch_scaling_arar_arar_distance"):
            self.assertTrue(os.path.exists(f"{self.folder}/figures/{figure}.svg"), figure)
        with open(self.members("all_reduce")[0] + "/config.yaml") as file:
            config = file.read()
        self.assertIn("exchange: all_reduce", config.split("discriminator:")[1], "as Horovod does")

    def test_outer_periods_share_what_is_trained_anyway(self):
        code, output = self.run_command("--exchanges", "arar_arar", "--ranks", "2", "--members", "1",
                                        "--outer-periods", "1,5", "exchanges.grouped.group_size=1", *SMALL)
        self.assertEqual(code, 0, output)
        self.assertEqual([row["variant"] for row in self.rows("scaling.csv")], ["arar_arar", "arar_arar, h = 1"])
        for words in ("arar_arar, h = 1", "arar_arar, h = 5", "one member has no spread"):
            self.assertIn(words, output)
        self.assertTrue(os.path.exists(self.folder + "/figures/outer_period_arar_arar_distance.svg"))

    def test_a_member_that_fails_is_told_and_the_others_are_compared(self):
        # the second launcher word makes one exchange's members fail at once
        launcher = self.scratch.name + "/launch"
        with open(launcher, "w") as file:
            file.write("#!/bin/sh\ncase \"$*\" in *run.name=arar_ranks_2_seed_002*) exit 7;; esac\nexec \"$@\"\n")
        os.chmod(launcher, 0o755)
        code, output = self.run_command("--exchanges", "all_reduce,arar", "--ranks", "2", "--members", "2",
                                        f"ensemble.launcher={launcher} mpirun -n {{ranks}}", "run.figures=false", *SMALL)
        self.assertEqual(code, 1, output)
        self.assertIn("arar_ranks_2_seed_002 failed: exit code 7", output)
        self.assertEqual([row["members"] for row in self.rows("scaling.csv")], ["2", "1"])

    def test_a_comparison_that_was_stopped_goes_on(self):
        arguments = ["--exchanges", "all_reduce,arar", "--ranks", "2", "--members", "2", "ensemble.at_once=1",
                     "run.figures=false", *SMALL]
        members = self.folder + "/members/proxy1d/"
        jobs.check_that_a_study_goes_on(self, arguments, members + "all_reduce_ranks_2_seed_001",
                                        members + "all_reduce_ranks_2_seed_002")
        self.assertEqual([row["members"] for row in self.rows("scaling.csv")], ["2", "2"])
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 2, "a finished comparison is not reopened: " + output)

    def refused(self, words, *arguments):
        code, output = self.run_command(*arguments, "run.name=c")
        self.assertEqual(code, 2, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.folder))

    def test_what_cannot_be_compared_is_refused_before_anything_runs(self):
        self.refused("did you mean 'arar'?", "--exchanges", "arrr")
        self.refused("is there twice", "--exchanges", "arar,arar")
        self.refused("nobody to exchange with", "--ranks", "1")
        self.refused("form one group", "--outer-periods", "1,5")
        self.refused("form one group", "--outer-periods", "1", "exchanges.grouped.group_size=4")
        self.refused("none of the exchanges has groups", "--exchanges", "arar", "--outer-periods", "1")
        self.refused("cannot be divided among 64 ranks", "--over-ranks", "1,64", "--batch", "divided")
        self.refused("two snapshots or more", "train.snapshots=0")
        self.refused("3 are no power of two", "--exchanges", "all_reduce,adasum", "--ranks", "3")
        self.refused("there is no program 'mprun'", "ensemble.launcher=mprun -n {ranks}")
        self.refused("is given twice, '2' and '3'", "--members", "2", "--members", "3")
        self.refused("is not a whole number", "--over-ranks", "1,x")
        self.refused("did you mean", "generator.wdth=3")
        self.refused("nothing bounds the discriminator's output", "objective.loss=wasserstein")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
