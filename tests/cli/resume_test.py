"""Interrupted runs from the shell: which one a command goes on with, from what, and what signals and full disks do.

usage: resume_test.py MPIEXEC SAGIPS BROKEN_STAGES
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPIEXEC, SAGIPS, BROKEN = [os.path.abspath(path) if path else "" for path in sys.argv[1:4]]
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["batch.samples=8", "batch.events=20", "toy.events=2000", "evaluation.samples=20", "evaluation.events=10",
         "run.figures=false", "threads=1", *jobs.NETWORKS_ALONE]
TRAIN = ["train", "proxy1d", *SMALL]
PAPER = ["train", "proxy1d/paper", *SMALL]  # the paper's networks
ENDLESS = ["train.epochs=100000000", "train.evaluate_every=1000000"]
OFTEN = ["train.checkpoints.epochs=10"]
NEVER_BY_ITSELF = ["train.checkpoints.minutes=100000"]


class Resume(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, arguments, program=SAGIPS, ranks=1):
        launcher = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        job = subprocess.Popen([*launcher, program, *arguments], cwd=self.folder.name, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        self.addCleanup(jobs.kill_session, job)
        return job

    def run_to_end(self, arguments, program=SAGIPS, ranks=1):
        job = self.start(arguments, program, ranks)
        output, _ = job.communicate(timeout=200 * jobs.SLOWDOWN)
        return job.returncode, output

    def runs(self, workload="proxy1d"):
        return sorted(glob.glob(f"{self.folder.name}/runs/{workload}/*"))

    def checkpoints(self, run):
        return sorted(os.path.basename(path) for path in glob.glob(run + "/checkpoints/[0-9]*_epoch_*"))

    def epoch_of(self, checkpoint):
        return int(checkpoint.split("_")[-1])

    def status(self, run):
        with open(run + "/status.json") as file:
            return json.load(file)["status"]

    def log(self, run):
        with open(run + "/log.txt") as file:
            return file.read()

    def wait_for(self, what, reason):
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if what():
                return
            time.sleep(0.01)
        self.fail(reason)

    def train_until(self, what, arguments, kind=signal.SIGKILL, ranks=1):
        """Trains until something has come true, sends a signal, and waits for the end."""
        job = self.start(arguments, ranks=ranks)
        self.wait_for(what, "it did not come to that")
        if kind == signal.SIGKILL:
            output = jobs.kill_session(job)
        else:
            self.tell(job, kind)
            output, _ = job.communicate(timeout=100)
        return job.returncode, output

    def tell(self, job, kind):
        """A signal for the program, on every rank: mpirun would kill ranks that need more than a second to stop."""
        for process in self.ranks_of(job).values() or [job.pid]:
            os.kill(process, kind)

    def ranks_of(self, job):
        """The process of each rank; none where one program runs by itself or MPI does not say which is which."""
        ranks = {}
        for process in jobs.alive_in_session(job.pid):
            try:
                with open(f"/proc/{process}/environ", "rb") as file:
                    rank = re.search(rb"\bOMPI_COMM_WORLD_RANK=(\d+)", file.read())
            except OSError:
                continue
            if rank:
                ranks[int(rank.group(1))] = process
        return ranks

    def killed_run(self, arguments, count=2, **more):
        self.train_until(lambda: self.runs() and len(self.checkpoints(self.runs()[0])) >= count, arguments, **more)
        return self.runs()[0]

    def test_a_damaged_checkpoint_gives_way_to_the_one_before(self):
        def cut(path):
            os.truncate(path + "/rank_0000.safetensors", 1000)

        def flip(path):
            with open(path + "/rank_0000.safetensors", "r+b") as file:
                file.seek(100000)
                byte = file.read(1)
                file.seek(100000)
                file.write(bytes([byte[0] ^ 4]))

        def foreign(path):
            shutil.rmtree(path)
            shutil.copytree(self.foreign, path)

        command = [*TRAIN, *OFTEN, "train.epochs=100000", "train.evaluate_every=1000"]
        other = self.killed_run([*command, "run.seed=2"])
        self.foreign = os.path.join(self.folder.name, "foreign")
        shutil.copytree(f"{other}/checkpoints/{self.checkpoints(other)[0]}", self.foreign)
        shutil.rmtree(self.folder.name + "/runs")
        for damage, words in ((cut, "it has 1000 bytes"), (flip, "its checksum does not fit"),
                              (foreign, "it belongs to another run")):
            with self.subTest(damage.__name__):
                run = self.killed_run(command)
                older, newer = self.checkpoints(run)[-2:]
                damage(f"{run}/checkpoints/{newer}")
                before = self.log(run)
                self.train_until(lambda: "resuming" in self.log(run)[len(before):], command)
                said = self.log(run)[len(before):]
                self.assertIn(words, said)
                self.assertIn(f"resuming {os.path.relpath(run, self.folder.name)}: epoch {self.epoch_of(older)} of", said)
                shutil.rmtree(self.folder.name + "/runs")

    def test_nothing_is_begun_anew_in_silence(self):
        command = [*TRAIN, *OFTEN, *ENDLESS]
        run = self.killed_run(command)
        for name in self.checkpoints(run):
            os.remove(f"{run}/checkpoints/{name}/manifest.json")
        for _ in range(2):
            code, output = self.run_to_end(command)
            self.assertEqual(code, 2, output)
            errors = [line for line in output.splitlines() if "sagips: error:" in line]
            self.assertEqual(len(errors), 1, output)
            self.assertIn("--fresh", errors[0])
        self.train_until(lambda: len(self.runs()) == 2, [*command, "--fresh"])

    def test_the_same_command_goes_on_and_a_finished_run_is_never_reopened(self):
        command = [*TRAIN, *OFTEN, "train.epochs=200"]
        run = self.killed_run(command, count=1)
        self.assertEqual(self.status(run), "unfinished")
        code, output = self.run_to_end(command)
        self.assertEqual(code, 0, output)
        self.assertIn("resuming runs/proxy1d/", output)
        self.assertEqual(self.runs(), [run])
        self.assertEqual(self.status(run), "finished")
        code, output = self.run_to_end(command)
        self.assertEqual(code, 0, output)
        self.assertNotIn("resuming", output)
        self.assertEqual(len(self.runs()), 2)
        predicted = subprocess.run([SAGIPS, "predict", run, "samples=10", "out=p.npy"], cwd=self.folder.name)
        self.assertEqual(predicted.returncode, 0)

    def test_other_data_in_the_same_file_begin_anew_and_other_figures_do_not(self):
        def events(seed):
            code, output = self.run_to_end(["generate", "proxy1d", "events=2000", "out=events.npy", f"run.seed={seed}"])
            self.assertEqual(code, 0, output)

        command = [*TRAIN, *OFTEN, *ENDLESS, "data.file=events.npy", "generator.start=random"]
        events(1)
        run = self.killed_run(command)
        self.train_until(lambda: "resuming" in self.log(run), [*command, "run.tensorboard=false", "train.timeline=3"])
        self.assertIn("changed config: train.timeline: 0 -> 3", self.log(run))
        events(2)
        self.train_until(lambda: len(self.runs()) == 2, command)

    def test_a_changed_config_is_shown_and_needs_a_word(self):
        named = [*TRAIN, *OFTEN, "run.name=mine"]
        self.killed_run([*named, *ENDLESS], count=1)
        code, output = self.run_to_end([*named, "train.epochs=1000000", "train.evaluate_every=1000000"])
        self.assertEqual(code, 2, output)
        self.assertIn("train.epochs: 100000000 -> 1000000", output)
        code, output = self.train_until(lambda: re.search("changed config(.|\n)*checkpoint of", self.log(self.runs()[0])),
                                        [*named, "train.epochs=1000000", "train.evaluate_every=1000000", "--override"],
                                        signal.SIGTERM)
        self.assertEqual(code, 3, output)
        self.assertIn("changed config: train.epochs: 100000000 -> 1000000", self.log(self.runs()[0]))
        code, output = self.run_to_end([*named, "train.epochs=1000000", "train.evaluate_every=1000000", "--fresh"])
        self.assertEqual(code, 2, output)

    def test_two_starts_at_once_have_folders_of_their_own(self):
        command = [*TRAIN, *OFTEN, *ENDLESS]
        self.killed_run(command, count=1)
        jobs = [self.start(command) for _ in range(2)]
        self.wait_for(lambda: len(self.runs()) == 2 and all(self.checkpoints(run) for run in self.runs()),
                      "the second one has no folder")
        self.assertEqual([job.poll() for job in jobs], [None, None])
        for job in jobs:
            job.terminate()
            job.communicate(timeout=100)
            self.assertEqual(job.returncode, 3)

    def test_signals_ask_for_checkpoints(self):
        command = [*TRAIN, *NEVER_BY_ITSELF, *ENDLESS]
        job = self.start(command)
        self.wait_for(lambda: self.runs() and os.path.exists(self.runs()[0] + "/metrics.jsonl"), "it does not train")
        run = self.runs()[0]
        for count in (1, 2):
            job.send_signal(signal.SIGUSR1)
            self.wait_for(lambda: len(self.checkpoints(run)) == count, "no checkpoint after SIGUSR1")
        self.assertIsNone(job.poll(), "it goes on")
        job.terminate()
        output, _ = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 3, output)
        self.assertEqual(self.status(run), "stopped")
        with open(run + "/results.json") as file:
            epochs = json.load(file)["epochs"]
        self.assertEqual(self.epoch_of(self.checkpoints(run)[-1]), epochs, "what the results say")

    def left_in_an_epoch(self, ranks):
        """Epochs of some 0.4 s, one of which is left in the middle, end as undisturbed ones do."""
        command = ["train", "proxy1d/paper", *[word for word in SMALL if "batch" not in word], "batch.samples=400",
                   "batch.events=100", "train.epochs=12"]
        code, output = self.run_to_end([*command, "run.name=undisturbed"], ranks=ranks)
        self.assertEqual(code, 0, output)
        named = [*command, "run.name=disturbed"]
        run = self.folder.name + "/runs/proxy1d/disturbed"

        def trains():
            try:
                with open(run + "/metrics.jsonl") as file:
                    return re.search('"epoch":[3-9],', file.read())  # quick epochs are thinned out
            except FileNotFoundError:
                return False
        code, output = self.train_until(trains, named, signal.SIGTERM, ranks=ranks)
        self.assertEqual(code, 3, output)
        self.assertEqual(self.status(run), "stopped", output)
        code, output = self.run_to_end(named, ranks=ranks)
        self.assertEqual(code, 0, output)
        self.assertIn("resuming", output)
        for name in ("generator.npy", "generator_samples.npy"):
            with open(f"{run}/{name}", "rb") as mine, open(f"{run}/../undisturbed/{name}", "rb") as other:
                self.assertEqual(mine.read(), other.read())

    # `timeout` signals its child and then the child's group; the second one may come when the run has ended already.
    def test_a_signal_that_comes_often_at_once_still_leaves_a_checkpoint(self):
        job = self.start([*TRAIN, *OFTEN, *ENDLESS])
        self.wait_for(lambda: self.runs() and self.checkpoints(self.runs()[0]), "there is no checkpoint")
        told = time.monotonic()
        while job.poll() is None and time.monotonic() < told + 0.5:  # until it has ended, not only until it has stopped
            job.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        output, _ = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 3, output)
        self.assertEqual(self.status(self.runs()[0]), "stopped", output)

    def test_a_long_epoch_is_left_as_if_it_had_not_begun(self):
        self.left_in_an_epoch(1)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_ranks_leave_a_long_epoch_together(self):
        self.left_in_an_epoch(2)

    def test_without_checkpoints_a_stopped_run_is_over(self):
        command = [*TRAIN, *ENDLESS, "train.checkpoints.minutes=0"]
        code, output = self.train_until(lambda: self.runs() and os.path.exists(self.runs()[0] + "/metrics.jsonl"),
                                        command, signal.SIGTERM)
        self.assertEqual(code, 3, output)
        self.assertEqual(self.status(self.runs()[0]), "finished", "its results are not written over")

    def test_a_failed_run_is_gone_on_with_only_by_its_name(self):
        failing = [*TRAIN, "train.epochs=50", "optimizer.generator.learning_rate=1e30"]
        for count in (1, 2):
            code, output = self.run_to_end(failing)
            self.assertEqual(code, 1, output)
            self.assertEqual([self.status(run) for run in self.runs()], count * ["failed"])
        command = [*failing, "run.name=mine", *OFTEN]
        self.run_to_end(command)
        code, output = self.run_to_end([*command, "optimizer.generator.learning_rate=1e-4", "--override"])
        self.assertEqual(code, 0, output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_a_job_whose_problem_fails_is_not_gone_on_with(self):
        code, output = self.run_to_end(["train", "fails_on_rank_one", *SMALL, "train.epochs=100000"], BROKEN, ranks=2)
        self.assertNotEqual(code, 0, output)
        self.assertEqual(self.status(self.runs("fails_on_rank_one")[0]), "failed")

    def test_a_full_disk_costs_checkpoints_and_not_the_run(self):
        mount = 'mkdir runs && mount -t tmpfs -o size=3m tmpfs runs && "$@"; code=$?; cp -r runs kept; exit $code'
        job = subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", SAGIPS, *PAPER, *OFTEN, "train.epochs=100"],
                             cwd=self.folder.name, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if "unshare" in job.stdout or "mount:" in job.stdout:
            self.skipTest("no right to mount: " + job.stdout)
        self.assertEqual(job.returncode, 0, job.stdout)
        run = glob.glob(self.folder.name + "/kept/proxy1d/*")[0]
        self.assertEqual(self.checkpoints(run), ["000001_epoch_10"], "the last good one stays")
        self.assertEqual(self.log(run).count("The run goes on"), 1)
        self.assertIn("No space left on device", self.log(run))
        with open(run + "/results.json") as file:
            self.assertEqual(json.load(file)["epochs"], 100)

    def test_a_checkpoint_costs_less_than_a_hundredth_at_the_default_period(self):
        code, output = self.run_to_end([*PAPER, *OFTEN, "train.epochs=100"])
        self.assertEqual(code, 0, output)
        count, spent = re.search(r"(\d+) checkpoints took (\S+) s", self.log(self.runs()[0])).groups()
        with open(self.runs()[0] + "/config.yaml") as file:
            config = file.read()
        self.assertIn("minutes: 5", config)
        self.assertLess(float(spent) / int(count) / 300, 0.01, "of the time, with the paper's networks")

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_ranks_stop_with_a_checkpoint_and_go_on(self):
        for exchange in ("arar_arar", "rma_ring"):
            with self.subTest(exchange):
                shutil.rmtree(self.folder.name + "/runs", ignore_errors=True)
                command = [*TRAIN, *ENDLESS, f"exchange={exchange}", "exchanges.grouped.group_size=1"]
                code, output = self.train_until(lambda: glob.glob(self.folder.name + "/runs/proxy1d/*/ranks/*1.jsonl"),
                                                command, signal.SIGTERM, ranks=2)
                self.assertNotEqual(code, 0, output)
                run = self.runs()[0]
                self.assertEqual(len(self.checkpoints(run)), 1, output)
                self.train_until(lambda: "resuming" in self.log(run), command, ranks=2)
                self.assertIn(f"epoch {self.epoch_of(self.checkpoints(run)[0])} of", self.log(run))

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_ranks_go_on_with_the_exchange_that_they_chose(self):
        command = [*TRAIN, *OFTEN, "train.epochs=400", "exchange=auto"]
        run = self.killed_run(command, count=1, ranks=2)
        code, output = self.run_to_end(command, ranks=2)
        self.assertEqual(code, 0, output)
        self.assertIn("resuming", output)
        chosen = re.findall("generator: auto: (.*), of ", self.log(run))
        self.assertEqual(chosen[0], chosen[-1], "what is measured at the restart does not count: " + output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_another_number_of_ranks_goes_on(self):
        command = [*TRAIN, *OFTEN, "train.epochs=400"]
        run = self.killed_run(command, count=1, ranks=3)
        code, output = self.run_to_end(command, ranks=2)
        self.assertEqual(code, 0, output)
        self.assertEqual(self.runs(), [run])
        self.assertIn("begun on 3 ranks and goes on on 2", self.log(run))

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_divided_channels_go_on_on_another_number_of_ranks(self):
        command = ["train", "gaussians", *SMALL, *OFTEN, "train.epochs=200", "ranks.channels=divided", "generator.shared=all",
                   "exchange=rabenseifner"]
        self.train_until(lambda: any(self.checkpoints(run) for run in self.runs("gaussians")), command, ranks=4)
        run = self.runs("gaussians")[0]
        code, output = self.run_to_end(command, ranks=5)  # the fifth works on the second of three data sets
        self.assertEqual(code, 0, output)
        self.assertIn("begun on 4 ranks and goes on on 5", self.log(run))

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_ranks_write_when_they_are_told(self):
        for exchange in ("ring", "rma_ring"):
            with self.subTest(exchange):
                command = [*TRAIN, *NEVER_BY_ITSELF, *ENDLESS, f"exchange={exchange}"]
                job = self.start(command, ranks=2)
                self.wait_for(lambda: glob.glob(self.folder.name + "/runs/proxy1d/*/ranks/*1.jsonl"), "no rank 1")
                run = self.runs()[0]
                for count in (1, 2):
                    job.send_signal(signal.SIGUSR1)  # mpirun passes it on
                    self.wait_for(lambda: len(self.checkpoints(run)) == count, "no checkpoint after SIGUSR1")
                self.assertIsNone(job.poll(), "it goes on")
                jobs.kill_session(job)
                shutil.rmtree(self.folder.name + "/runs")

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_a_rank_that_is_behind_hears_of_signals_when_the_first_has_ended(self):
        command = [*TRAIN, *NEVER_BY_ITSELF, "train.epochs=2000", "exchange=rma_ring", "run.fit=false", "run.name=x"]
        job = self.start(command, ranks=2)
        run = self.folder.name + "/runs/proxy1d/x"
        self.wait_for(lambda: glob.glob(run + "/ranks/*1.jsonl"), "no rank 1")
        behind = self.ranks_of(job).get(1)
        if behind is None:
            self.skipTest("this MPI does not say which process is rank 1")
        os.kill(behind, signal.SIGSTOP)
        self.wait_for(lambda: os.path.exists(run + "/checkpoints/writing_last"), "rank 0 does not end")
        os.kill(behind, signal.SIGCONT)
        job.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: self.checkpoints(run), "no checkpoint after SIGUSR1")
        self.tell(job, signal.SIGTERM)
        output, _ = job.communicate(timeout=100)
        self.assertNotEqual(job.returncode, 0, output)
        self.assertEqual(self.status(run), "stopped", "rank 1 has epochs to go")
        code, output = self.run_to_end(command, ranks=2)
        self.assertEqual(code, 0, output)
        self.assertIn("resuming", output)
        self.assertEqual(self.status(run), "finished")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-v"])
