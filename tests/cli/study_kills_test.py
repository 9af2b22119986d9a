"""Studies that are killed with -9 at random moments and started again end as if nothing had happened.

usage: study_kills_test.py MPIEXEC SAGIPS KILLS
"""
import csv
import fcntl
import glob
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS = [os.path.abspath(path) if path else "" for path in sys.argv[1:3]]
KILLS = int(sys.argv[3])
os.environ.update(jobs.ENVIRONMENT)
GAN = ["toy.events=2000", "train.epochs=150", "train.evaluate_every=50", "train.checkpoints.epochs=7",
       "batch.samples=4", "batch.events=8", "evaluation.samples=20", "evaluation.events=10", "threads=1",
       *jobs.NETWORKS_ALONE]
EXPERIMENTS = 12
STUDIES = {
    "ensemble": ["proxy1d", "--members", "4", "ensemble.at_once=2", *GAN],
    "closure": ["gaussians", "--experiments", str(EXPERIMENTS), "toy.events=1000", "moments.minima=false",
                "moments.repetitions=2"],
    "scaling": ["jets/dense", "--ranks", "1,2" if MPIEXEC else "1", "--repeats", "2", "data.rows=1000",
                "data.validation_rows=200", "train.epochs=6", "train.checkpoints.epochs=1", "threads=1"],
}


class StudyKills(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)

    def start(self, kind, name):
        job = subprocess.Popen([SAGIPS, kind, *STUDIES[kind], "run.figures=false", f"run.name={name}"],
                               cwd=self.scratch.name, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(jobs.kill_session, job)
        return job

    def folder(self, name):
        found = glob.glob(f"{self.scratch.name}/runs/*/{name}")
        self.assertLessEqual(len(found), 1)
        return found[0] if found else ""

    def log(self, name):
        with open(self.folder(name) + "/log.txt") as file:
            return file.read()

    def end(self, job):
        output, _ = job.communicate(timeout=300 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, 0, output)
        return output

    def members(self, folder):
        with open(folder + "/study.json") as file:
            study = json.load(file)
        names = [member["folder"] for member in study["members"]]
        there = {os.path.relpath(path, folder) for path in glob.glob(folder + "/members/*/*") if "/logs/" not in path}
        self.assertEqual(there, set(names), "the run folders are those of the members")
        self.assertEqual({member["state"] for member in study["members"]}, {"done"}, study)
        return {name: self.training(f"{folder}/{name}") for name in names}

    def training(self, run):
        """What a training has come to."""
        with open(run + "/status.json") as file:
            self.assertEqual(json.load(file)["status"], "finished", run)
        with open(run + "/metrics.jsonl") as file:
            events = [json.loads(line) for line in file]
        for kind in ("epoch_done", "evaluated"):
            epochs = [event["epoch"] for event in events if event["event"] == kind]
            self.assertEqual(epochs, sorted(set(epochs)), f"no epoch of {run} stands there twice")
        with open(run + "/results.json") as file:
            found = {"results": jobs.without_times(json.load(file))}
        for path in glob.glob(run + "/*.npy") + glob.glob(run + "/*.safetensors"):
            with open(path, "rb") as file:
                found[os.path.basename(path)] = file.read()
        return found

    def experiments(self, folder):
        lines = []
        for path in glob.glob(folder + "/experiments/*.jsonl"):
            with open(path) as file:
                lines += [jobs.without_times(json.loads(line)) for line in file if line.endswith("\n")]
        self.assertEqual(sorted(line["experiment"] for line in lines), list(range(EXPERIMENTS)), "each is made once")
        return {line["experiment"]: line for line in lines}

    def found(self, kind, name):
        """All that a study has found and that does not depend on the time that it took."""
        folder = self.folder(name)
        parts = self.experiments(folder) if kind == "closure" else self.members(folder)
        if kind != "scaling":
            with open(f"{folder}/{kind}.csv") as file:
                return parts, file.read()
        with open(folder + "/scaling.csv") as file:
            return parts, [(row["variant"], row["members"], row["metric"]) for row in csv.DictReader(file)]

    def has_finished(self, name):
        try:
            with open(self.folder(name) + "/status.json") as file:
                return json.load(file)["status"] == "finished"
        except FileNotFoundError:
            return False

    def done_at(self, name):
        """When what is complete was written."""
        times = {}
        for status in glob.glob(self.folder(name) + "/members/*/*/status.json"):
            with open(status) as file:
                if json.load(file)["status"] == "finished":
                    times[status] = os.stat(status).st_mtime_ns
        return times

    def kill(self, job, numbers):
        """The study alone, whose trainings are told to stop and go on for a while, or all at once."""
        if numbers.random() < 0.5:
            jobs.kill_session(job)
        else:
            os.kill(job.pid, signal.SIGKILL)
            job.stdout.close()
            job.wait()

    def survive(self, kind, kills):
        start = time.monotonic()
        self.end(self.start(kind, "undisturbed"))
        whole_s = time.monotonic() - start
        expected = self.found(kind, "undisturbed")
        numbers, done, studies = random.Random(f"{kind} 2026"), 0, 0
        while done < kills:
            studies += 1
            name, times = f"killed_{studies}", {}
            while not self.has_finished(name):
                job = self.start(kind, name)
                try:
                    output, _ = job.communicate(timeout=numbers.uniform(0, whole_s) if done < kills else None)
                    self.assertEqual(job.returncode, 0, output)
                except subprocess.TimeoutExpired:
                    self.kill(job, numbers)
                    done += 1
                    times |= self.done_at(name)
            self.assertEqual(self.found(kind, name), expected, f"after {done} kills")
            now = self.done_at(name)
            self.assertEqual({path: now[path] for path in times}, times, "what was done is not done again")
        print(f"{kind}: {done} kills in {studies} studies of {whole_s:.1f} s, nothing lost or done twice")

    def wait_until(self, happened, what):
        deadline = time.monotonic() + 100 * jobs.SLOWDOWN
        while not happened():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def killed_with(self, kind, pattern, count):
        """What a process that outlives its study still holds, once the study has left so many such files: open ones
        with their locks."""
        job = self.start(kind, "e")
        found = lambda: sorted(glob.glob(f"{self.scratch.name}/runs/*/e/{pattern}"))
        self.wait_until(lambda: len(found()) >= count, f"no {pattern}")
        jobs.kill_session(job)
        held = [open(path) for path in found()[:count]]
        for file in held:
            self.addCleanup(file.close)
            fcntl.flock(file, fcntl.LOCK_EX)
        return held

    def let_go(self, kind, again, held):
        self.assertEqual(self.log("e").count("waited for"), len(held))
        self.assertIsNone(again.poll())
        for file in held:
            file.close()
        self.end(again)
        self.assertEqual(self.found(kind, "e"), self.found(kind, "undisturbed"))

    def test_trainings_of_an_earlier_start_are_waited_for(self):
        self.end(self.start("ensemble", "undisturbed"))
        held = self.killed_with("ensemble", "members/*/*/.lock", 2)
        again = self.start("ensemble", "e")
        self.wait_until(lambda: len(self.done_at("e")) == 2, "the others are not trained meanwhile")
        self.let_go("ensemble", again, held)

    def test_experiments_of_an_earlier_start_are_waited_for(self):
        self.end(self.start("closure", "undisturbed"))
        held = self.killed_with("closure", "experiments/worker_0000.jsonl", 1)
        again = self.start("closure", "e")
        self.wait_until(lambda: "waited for" in self.log("e"), "nobody says so")
        self.let_go("closure", again, held)

    def test_one_of_two_starts_at_once_is_refused(self):
        both = [self.start("closure", "c"), self.start("closure", "c")]
        outputs = [job.communicate(timeout=100 * jobs.SLOWDOWN)[0] for job in both]
        self.assertEqual(sorted(job.returncode for job in both), [0, 2], outputs)
        self.experiments(self.folder("c"))

    def test_ensembles(self):
        self.survive("ensemble", (KILLS + 2) // 3)

    def test_closures(self):
        self.survive("closure", (KILLS + 1) // 3)

    def test_scaling_studies(self):
        self.survive("scaling", KILLS // 3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:], "-v"])
