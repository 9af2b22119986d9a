"""Runs that are killed at random moments and started again end as if nothing had happened.

usage: kills_test.py MPIEXEC SAGIPS KILLS
"""
import glob
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS = [os.path.abspath(path) if path else "" for path in sys.argv[1:3]]
KILLS = int(sys.argv[3])
os.environ.update(jobs.ENVIRONMENT)
TRAIN = ["train", "proxy1d", "batch.samples=8", "batch.events=20", "toy.events=2000", "evaluation.samples=20",
         "evaluation.events=10", "run.figures=false", "threads=1", "train.evaluate_every=50",
         "train.checkpoints.epochs=7", *jobs.NETWORKS_ALONE]


def sha(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Kills(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.random = random.Random(2026)

    def command(self, ranks, epochs):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        return [*launcher, SAGIPS, *TRAIN, f"train.epochs={epochs}"]

    def start(self, command, place):
        return subprocess.Popen(command, cwd=place, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def place(self, name):
        path = os.path.join(self.folder.name, name)
        os.makedirs(path)
        return path

    def only_run(self, place):
        runs = glob.glob(place + "/runs/proxy1d/*")
        self.assertEqual(len(runs), 1, "a run is lost or was begun twice")
        return runs[0]

    def assert_same_end(self, run, undisturbed):
        for name in ("generator.npy", "generator_samples.npy"):
            self.assertEqual(sha(f"{run}/{name}"), sha(f"{undisturbed}/{name}"), name)
        results = []
        for folder in (run, undisturbed):
            with open(folder + "/results.json") as file:
                results.append(jobs.without_times(json.load(file)))
        self.assertEqual(*results)
        losses = []
        for folder in (run, undisturbed):
            with open(folder + "/metrics.jsonl") as file:
                events = [json.loads(line) for line in file]
            self.assertEqual([event["epoch"] for event in events if event["event"] == "evaluated"],
                             sorted({event["epoch"] for event in events if event["event"] == "evaluated"}))
            epochs = [event["epoch"] for event in events if event["event"] == "epoch_done"]
            self.assertEqual(epochs, sorted(set(epochs)), "no epoch stands there twice")
            losses.append({event["epoch"]: event["losses"] for event in events if event["event"] == "epoch_done"})
        common = losses[0].keys() & losses[1].keys()
        self.assertGreater(len(common), 0)
        for epoch in common:
            self.assertEqual(losses[0][epoch], losses[1][epoch], epoch)

    def clear(self, place):
        """Whether the run has finished; who is killed before its run has a status leaves a folder, not a run."""
        for run in glob.glob(place + "/runs/proxy1d/*"):
            try:
                with open(run + "/status.json") as file:
                    if json.load(file)["status"] == "finished":
                        return True
            except FileNotFoundError:
                shutil.rmtree(run)
        return False

    def survive(self, ranks, epochs, kills):
        reference = self.place("undisturbed")
        start = time.monotonic()
        job = self.start(self.command(ranks, epochs), reference)
        output, _ = job.communicate(timeout=300)
        self.assertEqual(job.returncode, 0, output)
        whole_s = time.monotonic() - start
        undisturbed = self.only_run(reference)
        done, rounds = 0, 0
        while done < kills:
            rounds += 1
            place = self.place(f"round_{rounds}")
            while True:
                job = self.start(self.command(ranks, epochs), place)
                try:
                    output, _ = job.communicate(timeout=self.random.uniform(0, 0.9 * whole_s))
                    self.assertEqual(job.returncode, 0, output)
                    break
                except subprocess.TimeoutExpired:
                    jobs.kill_session(job)
                    done += 1
                if self.clear(place):
                    break
            self.assert_same_end(self.only_run(place), undisturbed)
        print(f"{ranks} ranks: {done} kills over {rounds} runs of {whole_s:.1f} s, none lost")

    def test_one_process_survives(self):
        self.survive(1, 500, KILLS)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_two_ranks_survive(self):
        self.survive(2, 300, max(3, KILLS // 5))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
