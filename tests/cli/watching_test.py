"""What a run tells of itself: where its time went, what it used of the machine, one trace of all ranks.

usage: watching_test.py MPIEXEC SAGIPS NVML   (MPIEXEC may be empty: without tests of ranks; NVML: a library in place
of NVIDIA's, with two GPUs)
"""
import csv
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS, NVML = sys.argv[1:4]
ENVIRONMENT = {**os.environ, **jobs.ENVIRONMENT}
GAN = ["train.epochs=30", "train.evaluate_every=10", "batch.samples=8", "batch.events=20", "toy.events=2000",
       "evaluation.samples=20", "evaluation.events=10", "run.figures=false", "threads=1", *jobs.NETWORKS_ALONE]
SERVED = ["exchange=served", "generator.shared=all", "generator.average=0"]
MASTERS = [*SERVED, "exchanges.served.owners=master", "discriminator.exchange=served", "discriminator.shared=all"]
ROWS = "x,y,kind\n" + "".join(f"{i % 7},{i % 5},{i % 6}\n" for i in range(600))
LEARNING = """\
workload: learning
data: {inputs: {file: rows.csv, columns: [x, y]}, targets: {file: rows.csv, columns: [kind]}, held_out: 0.25}
network: {layers: [{dense: 64, activation: relu}, {dense: 64, activation: relu}, {dense: 6}]}
batch: 90
threads: 1
train: {epochs: 12}
run: {figures: false}
"""
SHOWERS = jobs.SHOWERS + """\
train: {epochs: 3}
run: {figures: false}
"""
NAMED = ["compute_s", "exchange_s", "idle_s", "update_s", "loading_s"]
SPLIT = ["total_s", *NAMED, "other_s", "evaluation_s"]


def calls(spans, name):
    """Begin and end of each span of that name for the network that is exchanged [us], by step."""
    return {span["args"]["step"]: (span["ts"], span["ts"] + span["dur"])
            for span in spans if span["name"] == name and span["args"]["network"] == "generator"}


class Watching(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "rows.csv").write_text(ROWS)
        (self.folder / "learning.yaml").write_text(LEARNING)
        (self.folder / "showers.yaml").write_text(SHOWERS)

    def start(self, *words, ranks=1, environment=None):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        job = subprocess.Popen([*launcher, SAGIPS, *words], cwd=self.folder, env=environment or ENVIRONMENT, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        self.addCleanup(jobs.kill_session, job)
        return job

    def sagips(self, *words, ranks=1, environment=None):
        """The output of a command that ends well."""
        job = self.start(*words, ranks=ranks, environment=environment)
        output, _ = job.communicate(timeout=200 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, 0, output)
        return output

    def run_folder(self):
        (run,) = self.folder.glob("runs/*/*")
        return run

    def results(self):
        return json.loads((self.run_folder() / "results.json").read_text())

    def events(self, kind, path="metrics.jsonl"):
        lines = (self.run_folder() / path).read_text().splitlines()
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def check_split(self, words, ranks):
        """Returns the share of the training time that has no name."""
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        self.sagips("train", *words, ranks=ranks)
        results = self.results()
        for split in (results["time_split"], results["time_split_maximum"]):
            self.assertEqual(list(split), SPLIT)
            self.assertGreaterEqual(min(split.values()), 0)
        split = results["time_split"]
        self.assertAlmostEqual(sum(split[part] for part in [*NAMED, "other_s"]), split["total_s"], 9)
        self.assertGreater(split["compute_s"], 0)
        self.assertGreater(split["loading_s"], 0)
        self.assertEqual(split["exchange_s"] > 0, ranks > 1)
        self.assertTrue(all(results["time_split_maximum"][part] >= split[part] * (1 - 1e-9) for part in SPLIT))
        steps, memory = results["steps"], results["memory_mb"]
        self.assertEqual(list(steps), ["count", "mean_s", "spread_s", "maximum_s", "first_epoch_s"])
        self.assertEqual(list(memory), ["mean", "maximum"])
        self.assertGreaterEqual(steps["maximum_s"], steps["mean_s"])
        self.assertTrue(memory["maximum"] >= memory["mean"] > 10, memory)
        if ranks == 1:
            self.assertAlmostEqual(split["total_s"], results["time_s"], 9)
            self.assertAlmostEqual(steps["count"] * steps["mean_s"] + steps["first_epoch_s"], split["total_s"], 9)
        return split["other_s"] / split["total_s"]

    # Other processes may take the processor at any moment: the least of several runs is the loop's own.
    def check_splits(self, cases):
        for words, ranks in cases:
            with self.subTest(words, ranks=ranks):
                shares = []
                while len(shares) < 5 and min(shares, default=1) > 0.02:
                    shares.append(self.check_split(words, ranks))
                self.assertLessEqual(min(shares), 0.02, "time without a name")

    def test_the_time_of_each_kind_of_training_adds_up(self):
        proxies = [([workload, *GAN], 1) for workload in ("proxy1d", "proxy2d", "gaussians", "resonance", "duke_owens")]
        self.check_splits([*proxies, (["learning.yaml"], 1), (["showers.yaml"], 1),
                           (["jets", "data.rows=600", "data.validation_rows=100", "batch=50", "train.epochs=2",
                             "run.figures=false", "threads=1"], 1),
                           *(([workload, "train.epochs=2", "run.figures=false", "threads=1"], 1)
                             for workload in ("classify/digits", "generation/digits"))])

    @unittest.skipUnless(MPIEXEC, "no MPI")
    def test_the_time_of_each_exchange_adds_up(self):
        self.check_splits([(["proxy1d", "exchange=ring", *GAN], 2), (["learning.yaml", "exchange=chunked_ring"], 2),
                           (["proxy1d", "exchange=arar_arar", "exchanges.grouped.group_size=2", *GAN], 4),
                           (["proxy1d", *SERVED, *GAN], 2), (["proxy1d", *MASTERS, *GAN], 3)])

    @unittest.skipUnless(MPIEXEC, "no MPI")
    def test_idle_is_what_the_exchange_has_waited(self):
        self.sagips("train", "proxy1d", "exchange=ring", *GAN, ranks=2)
        with open(self.run_folder() / "exchange.csv", encoding="utf-8") as file:
            waited = [float(row["waiting_s"]) for row in csv.DictReader(file)]
        split = self.results()["time_split_maximum"]
        self.assertAlmostEqual(split["idle_s"], max(waited), delta=0.02 * split["total_s"])

    def test_a_resumed_run_has_the_time_of_all_its_starts(self):
        self.sagips("train", "learning.yaml", "run.name=r")
        before = self.results()
        self.sagips("train", "learning.yaml", "run.name=r", "train.epochs=15", "--override")
        after = self.results()
        self.assertAlmostEqual(after["time_split"]["total_s"], after["time_s"], 9)
        for part in SPLIT[:-1]:
            self.assertGreaterEqual(after["time_split"][part], before["time_split"][part])
        self.assertEqual(after["steps"]["first_epoch_s"], before["steps"]["first_epoch_s"])
        self.assertEqual(after["steps"]["count"], 14 * 5)
        spent = self.events("time_spent")
        self.assertEqual(spent[-1]["epoch"], 15)
        self.assertEqual([event["epoch"] for event in spent], sorted(event["epoch"] for event in spent))
        self.assertAlmostEqual(spent[-1]["total_s"], after["time_s"], 9)

    def test_what_a_monitor_sees(self):
        output = self.sagips("train", "learning.yaml", "--monitor")
        self.assertEqual(output.count("monitor: no GPU is shown"), 1)
        used = self.events("machine_use")
        self.assertEqual([event["epoch"] for event in used], [event["epoch"] for event in self.events("evaluated")])
        for event in used:
            self.assertNotIn("gpu_percent", event)
            self.assertGreaterEqual(event["cores"], 0)
            self.assertGreater(event["memory_mb"], 10)
        shutil.rmtree(self.folder / "runs")
        (self.folder / "lib").mkdir()
        shutil.copy(NVML, self.folder / "lib/libnvidia-ml.so.1")
        environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": f"{self.folder}/lib:{ENVIRONMENT.get('LD_LIBRARY_PATH', '')}"}
        output = self.sagips("train", "learning.yaml", "--monitor", environment=environment)
        self.assertNotIn("monitor:", output)
        for event in self.events("machine_use"):
            self.assertEqual(event["gpu_percent"], 50, "the mean of 20 and 80")
            self.assertEqual(event["gpu_memory_mb"], 3000, "1 and 2 GB")
        with open(self.run_folder() / "monitor.csv", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        self.assertEqual((row["rank"], row["gpu_percent"]), ("0", "50"))
        self.assertGreater(float(row["cores"]), 0)
        self.sagips("report", str(self.run_folder()))
        page = (self.run_folder() / "report.html").read_text()
        self.assertIn("What each rank's process and its machine used", page)
        for part in ("computing", "updates", "loading", "waiting for other ranks"):
            self.assertIn(f">{part}<", page)

    def trace(self, path, killed=False):
        """A strict reader: JSON, and of what the format asks for; spans of a row do not cut each other."""
        text = pathlib.Path(path).read_text()
        if killed and not text.endswith("}"):  # in the middle of a write, which is seldom
            text = text[:text.rindex(",\n")]
        events = json.loads(text + "]" if killed else text)
        rows = {}
        for event in events:
            self.assertIn(event["ph"], "MXi")
            for key in ("name", "pid", "tid"):
                self.assertIn(key, event)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], -event["dur"]))
        for spans in rows.values():
            open_until = []
            for begin, minus in sorted(spans):
                while open_until and open_until[-1] <= begin + 0.5:  # doubles lie 0.25 us apart
                    open_until.pop()
                self.assertTrue(not open_until or begin - minus <= open_until[-1] + 1)
                open_until.append(begin - minus)
        return [event for event in events if event["ph"] == "X"]

    @unittest.skipUnless(MPIEXEC, "no MPI")
    def test_one_trace_has_all_ranks_on_one_clock(self):
        self.sagips("train", "proxy1d", "--timeline", "exchange=chunked_ring", *GAN, ranks=2)
        spans = self.trace(self.run_folder() / "trace.json")
        self.assertEqual({span["pid"] for span in spans}, {1, 2})
        by_rank = [[span for span in spans if span["pid"] == rank + 1] for rank in range(2)]
        self.assertEqual({span["cat"] for span in by_rank[1]},
                         {"step", "loading", "compute", "exchange", "update", "evaluation"})
        begun = [calls(of_rank, "exchange start") for of_rank in by_rank]
        over = [calls(of_rank, "exchange finish") for of_rank in by_rank]
        self.assertEqual(begun[0].keys(), begun[1].keys())
        self.assertEqual(set(begun[0]), set(range(1, 31)))
        for call in begun[0]:  # a mean of both cannot be there before both have begun
            last_begin, first_end = max(ranks[call][0] for ranks in begun), min(ranks[call][1] for ranks in over)
            self.assertGreaterEqual(first_end, last_begin - 1)
        for rank in range(2):
            piece = self.run_folder() / f"timeline/rank_{rank:04d}.json"
            self.assertEqual({span["pid"] for span in self.trace(piece)}, {rank + 1})

    # Killed while it writes, at other moments each time.
    @unittest.skipUnless(MPIEXEC, "no MPI")
    def test_a_killed_run_leaves_a_trace(self):
        words = ["proxy1d", "exchange=ring", "train.timeline=1000000", *GAN, "train.epochs=1000000", "run.name=r",
                 "train.checkpoints.epochs=10"]
        for attempt in range(3):
            shutil.rmtree(self.folder / "runs", ignore_errors=True)
            job = self.start("train", *words, ranks=2)
            pieces, deadline = [], time.monotonic() + 100 * jobs.SLOWDOWN
            while len(pieces) < 2 or min(map(os.path.getsize, pieces)) < 2000 or not glob.glob(
                    f"{self.folder}/runs/proxy1d/r/checkpoints/[0-9]*_epoch_*/manifest*"):
                self.assertLess(time.monotonic(), deadline, "no trace")
                time.sleep(0.05)
                pieces = glob.glob(f"{self.folder}/runs/proxy1d/r/timeline/*.json")
            time.sleep(0.3 * attempt)
            jobs.kill_session(job)
            for piece in pieces:
                self.assertGreater(len(self.trace(piece, killed=True)), 10)
        self.assertFalse((self.run_folder() / "trace.json").exists())
        self.sagips("report", str(self.run_folder()))
        spans = self.trace(self.run_folder() / "trace.json")
        self.assertEqual({span["pid"] for span in spans}, {1, 2})
        epoch = max(int(path.rpartition("_")[2]) for path in glob.glob(f"{self.run_folder()}/checkpoints/[0-9]*_epoch_*"))
        self.sagips("train", *words[:-3], f"train.epochs={epoch + 20}", *words[-2:], "--override", ranks=2)
        more = self.trace(self.run_folder() / "trace.json")
        self.assertEqual(max(span["args"]["step"] for span in more if span["name"] == "step"), epoch + 20)
        self.assertGreater(len(more), len(spans))
        self.assertGreater(len(glob.glob(f"{self.run_folder()}/timeline/*from_epoch*")), 1)
        events = json.loads((self.run_folder() / "trace.json").read_text())
        for rank in range(2):
            self.assertEqual(sorted(event["name"] for event in events if event["ph"] == "i" and event["pid"] == rank + 1),
                             ["begins", f"goes on with epoch {epoch + 1}"])

    def test_words_of_a_trace_are_those_of_the_guide(self):
        self.sagips("train", "proxy1d", "--timeline", *GAN)
        guide = (pathlib.Path(__file__).parents[2] / "docs/guides/watching_a_run.md").read_text()
        for name in {span["name"] for span in self.trace(self.run_folder() / "trace.json")}:
            self.assertRegex(guide, f"`{re.escape(name)}`")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
