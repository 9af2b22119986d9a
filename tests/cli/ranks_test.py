"""Training over ranks from the shell: what a run leaves, and how it ends when something is wrong.

usage: ranks_test.py MPIEXEC SAGIPS BROKEN_STAGES
"""
import contextlib
import csv
import glob
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS, BROKEN = [os.path.abspath(path) for path in sys.argv[1:4]]
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["train.epochs=30", "train.evaluate_every=10", "batch.samples=8", "batch.events=20", "toy.events=2000",
         "evaluation.samples=20", "evaluation.events=10", "run.figures=false", "run.name=r",
         *jobs.NETWORKS_ALONE]
ENDLESS = ["train.epochs=100000000", "train.evaluate_every=1000000"]


def own_lines(output):
    """What we say of an error; mpirun adds its own."""
    return [line for line in output.splitlines() if "sagips: error:" in line]


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def launch(self, ranks, arguments, program=SAGIPS):
        return subprocess.Popen([MPIEXEC, "-n", str(ranks), program, *arguments], cwd=self.folder.name, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_ranks(self, ranks, arguments, program=SAGIPS):
        """Exit code and output of a job."""
        job = self.launch(ranks, arguments, program)
        output, _ = job.communicate(timeout=200)  # less than ranks.timeout_s, at which who waits in vain gives up
        return job.returncode, output

    def refused(self, ranks, arguments, *words):
        code, output = self.run_ranks(ranks, arguments)
        self.assertEqual(code, 2, output)
        self.assertEqual(len(own_lines(output)), 1, output)
        for word in words:
            self.assertIn(word, own_lines(output)[0])
        self.assertEqual(glob.glob(self.folder.name + "/runs/*/r"), [], "a refused job leaves nothing behind")

    def metrics(self, path, workload="proxy1d"):
        with open(f"{self.folder.name}/runs/{workload}/r/{path}") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]

    def test_four_ranks_leave_one_run_folder(self):
        code, output = self.run_ranks(4, ["train", "proxy1d", "exchange=arar_arar",
                                             "exchanges.grouped.group_size=2", *SMALL])
        self.assertEqual(code, 0, output)
        run = self.folder.name + "/runs/proxy1d/r"
        with open(run + "/exchange.csv") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["rank"] for row in rows], ["0", "1", "2", "3"])
        self.assertEqual({row["calls"] for row in rows}, {"30"})
        # 24 inner epochs and 6 outer ones: the leader sends one array more in each of these
        self.assertEqual([float(row["messages"]) for row in rows], [36, 30, 36, 30])
        with open(run + "/results.json") as file:
            numbers = json.load(file)["numbers"]
        self.assertEqual(numbers["ranks"], 4)
        self.assertGreater(numbers["analysis_rate"], 0)
        self.assertGreater(numbers["consensus_distance"], 0, "groups drift apart")
        evaluated = [event for event in self.metrics("metrics.jsonl") if event["event"] == "evaluated"]
        self.assertEqual([event["epoch"] for event in evaluated], [0, 10, 20, 30])
        self.assertIn("ranks", evaluated[-1])
        for rank in (1, 2, 3):
            events = self.metrics(f"ranks/rank_{rank:04d}.jsonl")
            self.assertEqual(events[-1]["event"], "run_finished")
            self.assertEqual(len([event for event in events if event["event"] == "exchanged"]), 4)
        self.assertNotIn("\x1b[", output, "plain lines where there is no terminal")

    def test_the_generators_of_all_ranks_are_one_prediction(self):
        self.run_ranks(2, ["train", "proxy1d", "exchange=ensemble", *SMALL])
        predicted = subprocess.run([SAGIPS, "predict", "runs/proxy1d/r", "samples=50"], cwd=self.folder.name, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(predicted.returncode, 0, predicted.stdout)

    def test_every_exchange_trains(self):
        names = subprocess.run([SAGIPS, "list"], text=True, stdout=subprocess.PIPE).stdout.split("exchanges between")[1]
        names = names.split("solvers")[0]
        names = re.findall(r"^  (\w+) ", names, re.MULTILINE)
        self.assertGreater(len(names), 15)
        for name in names:
            # it moves all weights, and the answer is that of the central ones
            own = ["generator.shared=all", "generator.average=0"] if name == "served" else []
            code, output = self.run_ranks(2, ["train", "proxy1d", f"exchange={name}", *SMALL, *own, f"run.name={name}"])
            self.assertEqual(code, 0, f"{name}: {output}")

    def test_central_weights_of_inverse_problems(self):
        plain = ["train", "proxy1d", "exchange=served", *SMALL, "generator.shared=all", "generator.average=0",
                 "ranks.timeout_s=60"]
        masters = ["exchanges.served.owners=master", "discriminator.exchange=served", "discriminator.shared=all"]
        for ranks, own in [(2, ["exchanges.served.synchronous=true"]),
                           (2, ["exchanges.served.ranks_per_worker=2"]),
                           (4, [*masters, "exchanges.served.masters=2"]),
                           (4, [*masters, "exchanges.served.groups=1"])]:
            code, output = self.run_ranks(ranks, [*plain, *own, f"run.name={'_'.join(own)[-20:].replace('=', '_')}"])
            self.assertEqual(code, 0, f"{own}: {output}")
        for own, words in [(["generator.average=0.9"], "generator.average"),
                           (["exchange=rabenseifner", "discriminator.exchange=served"], "discriminator.exchange")]:
            code, output = self.run_ranks(2, [*plain, *own, "run.name=refused"])
            self.assertEqual(code, 2, output)
            self.assertIn(words, "".join(own_lines(output)))

    def test_discriminators_are_exchanged_when_the_config_says_so(self):
        code, output = self.run_ranks(2, ["train", "proxy1d", "exchange=rabenseifner",
                                             "discriminator.exchange=recursive_doubling", *SMALL])
        self.assertEqual(code, 0, output)
        subjects = {event["subject"] for event in self.metrics("metrics.jsonl") if event["event"] == "exchanged"}
        self.assertEqual(subjects, {"generator", "discriminator"})

    def test_both_networks_of_showers_are_exchanged_twice_a_step(self):
        code, output = self.run_ranks(2, ["train", "calorimeter3d/laptop", "batch=4", "data.rows=24", "train.epochs=1",
                                          "data.validation_rows=4", "threads=1", "run.figures=false", "run.name=r"])
        self.assertEqual(code, 0, output)
        weights = {"generator": 47247, "discriminator": 4882}
        for event in self.metrics("metrics.jsonl", "calorimeter3d"):
            if event["event"] == "exchanged" and event["epoch"] == 1:  # three steps
                self.assertEqual((event["calls"], event["bytes"]), (6, 6 * 4 * weights.pop(event["subject"])))
        self.assertFalse(weights, "networks without an exchange")

    def test_ranks_read_shards_of_their_own(self):
        made = subprocess.run([SAGIPS, "generate", "resonance", "events=900", "out=toy.npy"], cwd=self.folder.name)
        self.assertEqual(made.returncode, 0)
        small = [setting for setting in SMALL if not setting.startswith("toy.")]
        code, output = self.run_ranks(3, ["train", "resonance", "data.file=toy.npy", "ranks.data=sharded", *small])
        self.assertEqual(code, 0, output)
        with open(self.folder.name + "/runs/resonance/r/log.txt") as file:
            self.assertIn("270 events each", file.read(), "a third, less the tenth that is held out")

    def test_threads_beyond_the_mask_are_a_warning_that_says_what_to_do(self):
        os.environ["OMPI_MCA_hwloc_base_binding_policy"] = "core"
        try:
            code, output = self.run_ranks(2, ["train", "proxy1d", *SMALL, "threads=2"])
        finally:
            os.environ["OMPI_MCA_hwloc_base_binding_policy"] = "none"
        self.assertEqual(code, 0, output)
        self.assertIn("--bind-to none or --map-by slot:PE=2", output)

    def shown(self, command):
        """What a terminal shows of a command of the shell: a pseudo terminal, read to the command's end."""
        shell, terminal = pty.openpty()
        job = subprocess.Popen(["sh", "-c", command], cwd=self.folder.name, stdin=terminal, stdout=terminal, stderr=terminal,
                               env={**os.environ, "TERM": "xterm"})
        os.close(terminal)
        output = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(shell, 65536):
                output += piece
        os.close(shell)
        self.assertEqual(job.wait(timeout=200), 0, output)
        return output

    def test_files_hold_no_escape_codes_whatever_the_launcher_shows(self):
        escape = b"\x1b["
        train = " ".join([SAGIPS, "train proxy1d", *(word for word in SMALL if word != "run.name=r")])
        launched = f"{MPIEXEC} -n 2"
        self.assertIn(escape, self.shown(f"{launched} {train} run.name=live"))
        self.shown(f"{MPIEXEC} -n 1 {train} run.name=alone > alone 2>&1")
        # mpirun's terminal is that of the shell between, too
        self.shown(f"{launched} sh -c '{train} run.name=shell; true' > shell 2>&1")
        self.shown(f"{launched} --output-filename own {train} run.name=own")
        self.shown(f"{launched} {SAGIPS} ensemble proxy1d --members 2 {' '.join(SMALL)} > members 2>&1")
        looked = 0
        for folder, _, names in os.walk(self.folder.name):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                if b"\0" in content or name.endswith(".pdf"):
                    continue  # numbers and times may hold any bytes
                self.assertNotIn(escape, content, f"{folder}/{name}")
                looked += 1
        self.assertGreater(looked, 50)

    def ended_with(self, ranks, signals, *arguments):
        """The launcher's exit code after these signals, once all ranks train."""
        launched = [MPIEXEC, "-n", str(ranks)] if ranks else []
        job = subprocess.Popen([*launched, SAGIPS, "train", "proxy1d", *SMALL, *ENDLESS, *arguments], cwd=self.folder.name,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(job.kill)
        path = f"{self.folder.name}/runs/proxy1d/r/metrics.jsonl"
        deadline = time.monotonic() + 100
        while not (os.path.exists(path) and any(event["epoch"] > 1 for event in self.metrics("metrics.jsonl")
                                                if "epoch" in event)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        for number in signals:
            job.send_signal(number)
        job.communicate(timeout=200)
        subprocess.run(["rm", "-r", self.folder.name + "/runs"], check=True)
        return job.returncode

    def test_exit_codes_are_what_the_guide_says(self):
        self.assertEqual(self.ended_with(0, [signal.SIGINT]), 3)
        self.assertEqual(self.ended_with(0, [signal.SIGTERM]), 3)
        # Open MPI's own, whatever its ranks end with
        self.assertEqual(self.ended_with(2, [signal.SIGINT]), 1)
        self.assertEqual(self.ended_with(2, [signal.SIGTERM]), 1)

    def test_all_ranks_stop_at_the_time_limit(self):
        code, output = self.run_ranks(3, ["train", "proxy1d", *SMALL, "train.epochs=0", "train.minutes=0.03"])
        self.assertEqual(code, 0, output)
        self.assertIn("time limit", output)

    def test_what_cannot_be_is_refused_in_one_line(self):
        train = ["train", "proxy1d", *SMALL]
        self.refused(2, [*train, "exchange=arar_ara"], "unknown exchange 'arar_ara'", "arar_arar")
        for name, meant in (("easgd", "served with exchanges.served.rule=easgd"), ("Downpour", "rule=downpour"),
                            ("hvd", "all_reduce"), ("bfloat16", "compressed with exchanges.compressed.form=bfloat16")):
            self.refused(2, [*train, f"exchange={name}"], f"unknown exchange '{name}', did you mean exchange=", meant)
        self.refused(2, [*train, "exchanges.grouped.group_size=3"], "groups of 3", "2 ranks")
        self.refused(4, [*train, "toy.events=3"], "more ranks (4)")
        self.refused(2, [*train, "exchange=grouped", "exchanges.grouped.inner=arar_arar"], "cannot be part of another")
        self.refused(2, [*train, "ranks.data=sharded"], "data.file is empty")
        self.refused(4, [*train, "batch.over_ranks=divided", "batch.samples=3"], "3 parameter samples")
        self.refused(2, ["fit", "proxy1d"], "one rank")

    def test_ranks_that_disagree_are_refused(self):
        common = ["train", "proxy1d", *SMALL]
        job = subprocess.run([MPIEXEC, "-n", "1", SAGIPS, *common, ":", "-n", "1", SAGIPS, *common,
                              "optimizer.generator.learning_rate=0.5"], cwd=self.folder.name, text=True, timeout=60,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(job.returncode, 2, job.stdout)
        self.assertEqual(len(own_lines(job.stdout)), 1, job.stdout)
        self.assertIn("rank 1: ", own_lines(job.stdout)[0])
        self.assertIn("optimizer.generator.learning_rate: 0.5", own_lines(job.stdout)[0])

    def process_of(self, job, rank):
        """The process of a rank, once it trains."""
        def trains():
            path = f"{self.folder.name}/runs/proxy1d/r/ranks/rank_{rank:04d}.jsonl"
            return os.path.exists(path) and any(event["epoch"] > 1 for event in self.metrics(f"ranks/rank_{rank:04d}.jsonl"))
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if trains():
                for path in glob.glob("/proc/[0-9]*/environ"):
                    try:
                        with open(path, "rb") as file:
                            environment = file.read()
                        with open(path.replace("environ", "stat")) as file:
                            parent = int(file.read().rsplit(") ", 1)[1].split()[1])
                    except OSError:
                        continue
                    if f"OMPI_COMM_WORLD_RANK={rank}\0".encode() in environment and parent == job.pid:
                        return int(path.split("/")[2])
            time.sleep(0.1)
        self.fail("the rank did not start")

    def ended_after(self, kind, exchange, words, *arguments):
        job = self.launch(3, ["train", "proxy1d", *SMALL, *ENDLESS, f"exchange={exchange}", *arguments])
        self.addCleanup(job.kill)
        victim = self.process_of(job, 1)
        os.kill(victim, kind)
        output, _ = job.communicate(timeout=200)
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(len(own_lines(output)), 1, output)
        self.assertRegex(own_lines(output)[0], rf"rank 1 \(process {victim}\) {words}")

    def test_a_killed_rank_ends_the_job_and_is_named(self):
        for exchange in ("arar_arar", "shared_node", "rma_ring"):
            with self.subTest(exchange):
                self.ended_after(signal.SIGKILL, exchange, "has died")
                subprocess.run(["rm", "-r", self.folder.name + "/runs"])

    def test_a_hanging_rank_ends_the_job_and_is_named(self):
        for exchange in ("arar", "double_tree"):
            with self.subTest(exchange):
                self.ended_after(signal.SIGSTOP, exchange, "(has not come .* within|has shown no sign of life for) 4 s",
                                 "ranks.timeout_s=4")
                subprocess.run(["rm", "-r", self.folder.name + "/runs"])

    def test_a_failing_rank_ends_the_job_and_is_named(self):
        code, output = self.run_ranks(3, ["train", "fails_on_rank_one", *SMALL, "train.epochs=100000"], BROKEN)
        self.assertNotEqual(code, 0, output)
        self.assertEqual(len(own_lines(output)), 1, output)
        self.assertIn("rank 1: ", own_lines(output)[0])
        self.assertIn("on fire", own_lines(output)[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
