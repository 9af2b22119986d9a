"""Ensembles and closure tests over ranks, from the shell.

usage: study_ranks_test.py MPIEXEC SAGIPS BROKEN_STAGES
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

import jobs

MPIEXEC, SAGIPS, BROKEN = [os.path.abspath(path) for path in sys.argv[1:4]]
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["train.epochs=20", "train.evaluate_every=10", "batch.samples=4", "batch.events=8", "toy.events=2000",
         "evaluation.samples=20", "run.figures=false", "run.name=e", *jobs.NETWORKS_ALONE]


class StudyRanks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_job(self, command):
        job = subprocess.run(command, cwd=self.folder.name, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=200)  # who waits in vain gives up later
        return job.returncode, job.stdout

    def ranks(self, ranks, *arguments, program=SAGIPS):
        return self.run_job([MPIEXEC, "-n", str(ranks), program, *arguments])

    def study(self, workload="proxy1d"):
        with open(f"{self.folder.name}/runs/{workload}/e/study.json") as file:
            return json.load(file)

    def states(self, workload="proxy1d"):
        return [member["state"] for member in self.study(workload)["members"]]

    def results(self, member, workload="proxy1d"):
        with open(f"{self.folder.name}/runs/{workload}/e/members/{workload}/{member}/results.json") as file:
            return json.load(file)

    def test_members_are_shared_out_over_ranks(self):
        code, output = self.ranks(2, "ensemble", "proxy1d", "--members", "5", *SMALL)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.states(), ["done"] * 5)
        self.assertEqual(len(glob.glob(self.folder.name + "/runs/proxy1d/*")), 1, "one folder")
        self.assertIn("RMS residual", output)

    def test_members_of_several_ranks_train_in_groups(self):
        code, output = self.ranks(4, "ensemble", "proxy1d", "--members", "3", "--ranks", "2", *SMALL)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.states(), ["done"] * 3)
        self.assertEqual(self.results("seed_003")["numbers"]["ranks"], 2)
        alone = self.run_job([MPIEXEC, "-n", "2", SAGIPS, "train", "runs/proxy1d/e/members/proxy1d/seed_003/config.yaml",
                              "run.name=alone", "run.folder=runs"])
        self.assertEqual(alone[0], 0, alone[1])
        with open(self.folder.name + "/runs/proxy1d/alone/results.json") as file:
            self.assertEqual(json.load(file)["parameters"], self.results("seed_003")["parameters"],
                             "a member is what the same job would be by itself")
        self.assertNotIn("above floor", output, "the members' own tables are in their logs")

    def test_a_member_that_fails_in_a_group_is_reported_and_the_group_goes_on(self):
        code, output = self.ranks(2, "ensemble", "proxy1d", "--members", "2", "--ranks", "2", "--grid",
                                           "optimizer.generator.learning_rate=1e38,1e-4", "generator.start=random", *SMALL)
        self.assertEqual(code, 1, output)
        self.assertEqual(self.states(), ["failed"] * 2 + ["done"] * 2, output)
        self.assertIn("variant_001_seed_001 failed: ", output)

    def test_the_rank_that_fails_says_why_for_its_member(self):
        small = [setting for setting in SMALL if not setting.startswith("train.epochs")]
        code, output = self.ranks(2, "ensemble", "fails_on_rank_one", "--members", "2", "--ranks", "2",
                                           "train.epochs=100000", *small, program=BROKEN)
        self.assertEqual(code, 1, output)
        self.assertEqual(self.states("fails_on_rank_one"), ["failed"] * 2)
        for member in self.study("fails_on_rank_one")["members"]:
            self.assertIn("on fire", member["reason"])

    def test_without_a_job_a_launcher_starts_members_of_several_ranks(self):
        code, output = self.run_job([SAGIPS, "ensemble", "proxy1d", "--members", "2", "--ranks", "2",
                                        f"ensemble.launcher={MPIEXEC} -n {{ranks}}", *SMALL])
        self.assertEqual(code, 0, output)
        self.assertEqual(self.results("seed_001")["numbers"]["ranks"], 2)

    def test_closure_experiments_are_shared_out_over_ranks(self):
        code, output = self.ranks(2, "closure", "proxy1d", "--experiments", "5", "toy.events=2000", "run.name=e",
                                     "run.figures=false")
        self.assertEqual(code, 0, output)
        self.assertIn("5 experiments", output)
        self.assertEqual(len(glob.glob(self.folder.name + "/runs/proxy1d/e/experiments/*.jsonl")), 2)

    def test_closure_of_measured_events_solves_them_once_for_all_ranks(self):
        self.assertEqual(self.run_job([SAGIPS, "generate", "proxy1d", "events=2000", "out=measured.npy"])[0], 0)
        tables = []
        for ranks, name in ((1, "one"), (2, "two")):
            code, output = self.ranks(ranks, "closure", "measured.yaml", "--experiments", "4", "run.name=" + name,
                                      "run.figures=false")
            self.assertEqual(code, 0, output)
            self.assertEqual(output.count("data solved by moments"), 1, output)
            with open(f"{self.folder.name}/runs/proxy1d/{name}/closure.csv") as file:
                tables.append(file.read())
        self.assertEqual(*tables)

    def test_too_few_ranks_are_refused(self):
        code, output = self.ranks(2, "ensemble", "proxy1d", "--members", "2", "--ranks", "3", *SMALL)
        self.assertEqual(code, 2, output)
        own = [line for line in output.splitlines() if "sagips: error:" in line]
        self.assertEqual(len(own), 1, output)
        self.assertIn("ensemble.ranks", own[0])
        self.assertEqual(glob.glob(self.folder.name + "/runs/*/*"), [], "nothing is left behind")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
