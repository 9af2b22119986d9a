"""Searches over settings from the command line: what they find, who works for them, kills, failures and bad input.

usage: tune_test.py MPIEXEC SAGIPS KILLS   (MPIEXEC may be empty: without tests of ranks)
"""
import csv
import glob
import json
import os
import pathlib
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

CONFIG = """\
workload: learning
data:
  inputs: {file: waves.csv, columns: [x]}
  targets: {file: waves.csv, columns: [wave]}
  held_out: 0.25
network: {layers: [{dense: 8, activation: tanh}, {dense: 1}]}
loss: mean_square
batch: 50
train: {epochs: 4, evaluate_every: 1}
threads: 1
run: {figures: false, name: search}
tune:
  minimise: loss
  trials: 6
  at_once: 1
  space:
    - {key: optimizer.learning_rate, low: 1e-4, high: 1e-1, log: true}
    - {key: network.layers.0.dense, values: [4, 8, 16], ordered: true}
"""


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        numbers = random.Random(1)
        with open(self.folder / "waves.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["x", "wave"])
            for _ in range(400):
                x = numbers.uniform(-1, 1)
                table.writerow([x, x * x + numbers.gauss(0, 0.02)])
        (self.folder / "search.yaml").write_text(CONFIG)

    def start(self, *arguments, launcher=()):
        job = subprocess.Popen([*launcher, SAGIPS, *map(str, arguments)], cwd=self.folder, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
        self.addCleanup(jobs.kill_session, job)
        return job

    def run_to_end(self, *arguments, code=0, launcher=()):
        job = self.start(*arguments, launcher=launcher)
        output, _ = job.communicate(timeout=300 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, code, output)
        return output

    def tune(self, *arguments, **more):
        return self.run_to_end("tune", "search.yaml", *arguments, **more)

    def study(self, name="search"):
        return self.folder / "runs" / "learning" / name

    def verdicts(self):
        return (self.study() / "verdicts.csv").read_text()

    def rows(self, name="search"):
        with open(self.study(name) / "trials.csv", newline="") as file:
            return list(csv.DictReader(file))

    def found(self, name):
        """What each trial was, and what came out: without the time that it took."""
        return [{key: cell for key, cell in row.items() if key != "time_s"} for row in self.rows(name)]

    def test_the_best_settings_are_a_config_that_trains(self):
        output = self.tune()
        rows = self.rows()
        self.assertEqual([row["trial"] for row in rows], [str(number) for number in range(1, 7)])
        best = min(rows, key=lambda row: float(row["loss"]))
        self.assertIn(f"best: trial {best['trial']}, loss", output)
        self.assertLess(float(best["loss"]), 0.3 * max(float(row["loss"]) for row in rows))
        self.run_to_end("train", self.study() / "best.yaml", "run.name=again")
        with open(self.study("again") / "results.json") as file:
            self.assertEqual(json.load(file)["numbers"]["loss_end"], float(best["loss"]))
        self.assertIn("--override", self.tune(code=2), "a finished study says how it goes on")
        self.tune("tune.trials=7", "--override")
        self.assertEqual([row["trial"] for row in self.rows()], [str(number) for number in range(1, 8)])
        self.run_to_end("explain", "tune.space", "workload=learning")

    def test_the_report_says_what_is_best_and_what_is_not_settled(self):
        said = self.tune("run.figures=true")
        self.assertIn("which setting matters most: 6 trials do not settle it", said)
        page = (self.study() / "report.html").read_text()
        best = min(self.rows(), key=lambda row: float(row["loss"]))
        self.assertIn(f'>loss {float(best["loss"]):.3g}'[:11], page)
        self.assertIn(f'Trial {best["trial"]}: optimizer.learning_rate={best["optimizer.learning_rate"]}', page)
        self.assertIn(">6 trials do not settle it<", page)
        self.assertRegex(self.verdicts(), "What is best[?],[^,]*,open,.*nobody knows what chance does")
        importance = self.study() / "importance.csv"
        self.assertFalse(importance.exists(), "of fewer than eight")
        importance.write_text("of an earlier end")
        said = self.tune("tune.trials=7", "--override")
        self.assertFalse(importance.exists(), "of fewer than eight")
        said = self.tune("tune.trials=10", "run.figures=false", "--override")
        self.assertRegex(said, "matters most: (10 trials do not settle it|[a-z_.]+)\n")
        with open(self.study() / "importance.csv", newline="") as file:
            self.assertEqual({row["setting"] for row in csv.DictReader(file)},
                             {"optimizer.learning_rate", "network.layers.0.dense"})

    def test_a_trial_that_is_as_good_within_the_spread_is_counted(self):
        self.tune("run.figures=true", "tune.trials=5", "tune.seeds=2", "train.epochs=1",
                  "tune.space=[{key: optimizer.decay, low: 0.1, high: 0.9}]", "optimizer.learning_rate=1e-6")
        self.assertRegex(self.verdicts(), "What is best[?],[^,]*,fair,.*"
                         "more within the spread over seeds: 5 trials do not settle which is the best")

    def test_trials_that_are_equal_are_counted(self):
        self.tune("tune.trials=3", "optimizer.learning_rate=1e-30", "train.epochs=1",
                  "tune.space=[{key: optimizer.decay, low: 0.1, high: 0.9}]")
        self.assertRegex(self.verdicts(), "What is best[?],[^,]*,open,.* 2 more of exactly this value[.]")

    def test_settings_may_depend_on_others(self):
        space = ("[{key: optimizer.rule, values: [adam, sgd]}, "
                 "{key: optimizer.momentum, low: 0.1, high: 0.9, when: optimizer.rule=sgd}]")
        self.tune(f"tune.space={space}", "tune.trials=8", "tune.searcher=random")
        rows = self.rows()
        self.assertEqual({row["optimizer.rule"] for row in rows}, {"adam", "sgd"})
        for row in rows:
            self.assertEqual(row["optimizer.momentum"] == "", row["optimizer.rule"] == "adam")
            self.assertEqual(row["state"], "done")

    def test_a_bad_search_is_refused_before_the_first_trial(self):
        rate = "{key: optimizer.learning_rate, low: 1e-4, high: 1e-1}"
        for assignment, words in [
                ("tune.space=[{key: optimizer.learning_rat, low: 1, high: 2}]", "optimizer.learning_rat"),
                ("tune.space=[{key: optimizer.learning_rate, low: 1, high: 1}]", "empty"),
                ("tune.space=[{key: optimizer.learning_rate, low: -1, high: 1}]", "learning_rate"),
                (f"tune.space=[{rate}, {rate}]", "twice"),
                ("tune.space=[{key: batch, low: 1, high: 9, when: batch=3}]", "depends on itself"),
                ("tune.space=[{key: run.seed, values: [1, 2]}]", "run.seed"),
                ("tune.space=[{key: tune.trials, values: [1, 2]}]", "tune.trials"),
                ("tune.space=[]", "names no key"),
                ("tune.minimise=los", "did you mean 'loss'"),
                ("tune.maximise=loss", "one of them"),
                ("tune.points=[optimizer.learning_rate=7]", "no point"),
                ("tune.warm_start=nowhere", "nowhere"),
                ("tune.searcher=tp", "tpe"),
                ("tune={folds: 2, seeds: 2}", "tune.seeds"),
                ("tune.folds=500", "fold"),
                ("tune.space=[{key: batch, low: 1, high: 1e300, integer: true}]", "2^53"),
                ("tune.population.members=2", "tune.population.legs"),
                ("tune.population={members: 2, legs: 2}", "network.layers.0.dense"),
                *[(f"tune={{space: [{{{key}}}], population: {{members: 2, legs: 2}}}}",
                   "cannot change in a population")
                  for key in ("key: optimizer.rule, values: [adam, sgd]",
                              "key: optimizer.schedule, values: [constant, cosine]",
                              "key: data.held_out, low: 0.1, high: 0.3")],
                ("tune.space=[{key: batch, low: 10, high: 20}]", "whole number"),
                ("tune.early_end={rule: halving, first: 4}", "tune.early_end.first"),
                ("tune={searcher: evolution, space: [{key: optimizer.rule, values: [adam, sgd]}]}", "words"),
                ("tune.space=[{key: batch, values: [16, 16]}]", "twice")]:
            output = self.tune(assignment, code=2)
            self.assertIn(words, output, assignment)
            self.assertEqual(output.count("\n"), 1, output)
            self.assertFalse((self.folder / "runs").exists(), assignment)
        self.assertIn("holds no study", self.run_to_end("tune", "nowhere", "--worker", code=2))
        self.assertIn("data.fold", self.tune("tune.folds=2", "data.fold=1/3", code=2))

    def test_a_trial_that_fails_is_a_record_and_costs_the_study_nothing(self):
        (self.folder / "search.yaml").write_text(CONFIG.replace("high: 1e-1", "high: 1e38"))
        output = self.tune("tune.trials=12", "tune.searcher=random")
        states = {row["state"] for row in self.rows()}
        self.assertEqual(states, {"done", "failed"})
        for row in self.rows():
            self.assertEqual(row["reason"] != "", row["state"] == "failed", row)
        self.assertRegex(output, r"warning  trial \d+ failed: .*not finite")

    def test_a_worker_that_can_start_nothing_ends_and_leaves_the_trials_alone(self):
        output = self.tune("tune.ranks=2", "tune.launcher=no_such_launcher", "exchange=all_reduce", code=1)
        self.assertIn("no_such_launcher", output)
        self.assertNotIn('"state"', (self.study() / "trials/records/00001.jsonl").read_text())

    def test_a_study_whose_trials_all_fail_stops_after_ten(self):
        space = "[{key: optimizer.learning_rate, low: 1e37, high: 1e38}]"
        output = self.tune(f"tune.space={space}", "tune.trials=30", code=1)
        self.assertIn("all 10 trials so far have failed", output)
        self.assertIn("--fresh begins a new search", output)
        self.assertEqual([row["state"] for row in self.rows()], ["failed"] * 10)
        self.assertEqual(len(glob.glob(str(self.study() / "trials/records/*.jsonl"))), 10)

    def test_what_a_signal_ends_is_tried_once_more(self):
        job = self.start("tune", "search.yaml", "tune.trials=1", "train.epochs=1000000")
        killed = set()
        deadline = time.monotonic() + 100
        while len(killed) < 2 and time.monotonic() < deadline:
            for process in set(jobs.alive_in_session(job.pid)) - {job.pid} - killed:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                if b"--trial" in words and (self.study() / "trials/learning/00001/metrics.jsonl").exists():
                    os.kill(process, signal.SIGKILL)
                    killed.add(process)
            time.sleep(0.01)
        output, _ = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 1, output)
        self.assertIn("ended by signal 9", output)
        self.assertEqual(len(killed), 2)
        self.assertIn("no trial has come to its end", output)

    def test_what_a_signal_ended_comes_before_new_trials(self):
        job = self.start("tune", "search.yaml", "tune.trials=3", "train.epochs=3000")
        running = self.study() / "trials/learning/00001/metrics.jsonl"
        self.wait_for(running)
        for process in set(jobs.alive_in_session(job.pid)) - {job.pid}:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                if b"--trial" in file.read().split(b"\0"):
                    os.kill(process, signal.SIGKILL)
        records = self.study() / "trials/records"
        self.wait_for(records / "00001.claim_2.json")
        self.assertFalse((records / "00002.claim_1.json").exists(), "a new trial was begun first")
        job.terminate()
        job.communicate(timeout=100)

    def test_a_killed_study_ends_as_if_nothing_had_happened(self):
        more = ["tune.trials=10", "train.epochs=30", "train.checkpoints.epochs=3", "tune.early_end.rule=halving",
                "tune.early_end.first=3"]
        self.tune("run.name=undisturbed", *more)
        numbers, kills, studies = random.Random(2026), 0, 0
        while kills < KILLS:
            studies += 1
            name = f"killed_{studies}"
            while kills < KILLS:
                job = self.start("tune", "search.yaml", f"run.name={name}", *more)
                try:
                    job.wait(timeout=numbers.uniform(0.2, 2))
                    break
                except subprocess.TimeoutExpired:
                    kills += 1
                    os.kill(job.pid, signal.SIGKILL)  # the trial hears of it and stops
                    if numbers.random() < 0.5:
                        jobs.kill_session(job)
                    else:
                        job.communicate()
            else:
                self.tune(f"run.name={name}", *more)
            self.assertEqual(self.found(name), self.found("undisturbed"), f"after {kills} kills")

    def test_workers_come_and_go(self):
        first = self.start("tune", "search.yaml", "tune.trials=12", "train.epochs=40")
        while not glob.glob(str(self.study() / "trials/records/*.json")):
            time.sleep(0.01)
        second, third = self.start("tune", self.study(), "--worker"), self.start("tune", self.study(), "--worker")
        time.sleep(2)
        os.kill(third.pid, signal.SIGKILL)
        third.communicate()
        os.kill(first.pid, signal.SIGTERM)
        output, _ = first.communicate(timeout=100)
        self.assertEqual(first.returncode, 3, output)
        output, _ = second.communicate(timeout=200)
        self.assertEqual(second.returncode, 0, output)
        rows = self.rows()
        self.assertEqual([row["trial"] for row in rows], [str(number) for number in range(1, 13)])
        self.assertEqual({row["state"] for row in rows}, {"done"})
        records = [pathlib.Path(path).read_text() for path in glob.glob(str(self.study() / "trials/records/*.jsonl"))]
        self.assertEqual(sum(text.count('"state"') for text in records), 12, "each has ended once")
        self.tune("tune.trials=12", "train.epochs=40")  # all that is left is to say so

    def test_a_trial_that_goes_on_is_not_given_to_another_worker(self):
        for who in ("the worker is suspended", "all are suspended"):
            with self.subTest(who):
                name = who.replace(" ", "_")
                job = self.start("tune", "search.yaml", f"run.name={name}", "tune.trials=1", "train.epochs=1000000",
                                 "tune.lease_s=1")
                self.wait_for(self.study(name) / "trials/learning/00001/metrics.jsonl")
                suspended = [job.pid] if who.startswith("the worker") else jobs.alive_in_session(job.pid)
                for process in suspended:
                    os.kill(process, signal.SIGSTOP)
                worker = self.start("tune", self.study(name), "--worker")
                time.sleep(4)  # longer than the lease
                claims = sorted(path.name for path in (self.study(name) / "trials/records").glob("*.claim_*"))
                for process in suspended:
                    os.kill(process, signal.SIGCONT)
                self.assertEqual(claims, ["00001.claim_1.json"])
                for one in (job, worker):
                    one.terminate()
                    output, _ = one.communicate(timeout=100)
                    self.assertEqual(one.returncode, 3, output)

    def wait_for(self, path):
        deadline = time.monotonic() + 100 * jobs.SLOWDOWN
        while not path.exists():
            self.assertLess(time.monotonic(), deadline, f"no {path}")
            time.sleep(0.01)

    def test_a_target_ends_the_study(self):
        output = self.tune("--trials", 1000, "--target", "0.06")
        self.assertLess(len(self.rows()), 200)
        self.assertIn("best: trial", output)

    @jobs.in_long_tests
    def test_a_search_ended_by_its_time_limit_goes_on(self):
        output = self.tune("--trials", 1000, "--minutes", "0.05", "--fresh")
        self.assertIn("the time limit came before all 1000 trials had begun; the same command goes on", output)
        first = len(self.rows())
        self.tune("--trials", 1000, "--minutes", "0.05")
        self.assertGreater(len(self.rows()), first)

    def test_searched_settings_that_do_nothing_are_named(self):
        space = ("[{key: optimizer.learning_rate, low: 1e-3, high: 1e-1}, {key: data.held_out, low: 0.1, high: 0.5}, "
                 "{key: exchange, values: [all_reduce, ring]}]")
        line = "no effect in any training: data.held_out (needs no folds); exchange (needs several ranks)"
        output = self.tune("tune.folds=2", "tune.trials=1", f"tune.space={space}")
        self.assertIn(line, output)
        self.assertIn(line, (self.study() / "log.txt").read_text())
        space = ("[{key: optimizer.rule, values: [adam, sgd]}, "
                 "{key: optimizer.momentum, low: 0, high: 0.9, when: optimizer.rule=sgd}]")
        output = self.tune("tune.trials=1", "run.name=other", f"tune.space={space}")
        self.assertNotIn("no effect", output)
        output = self.run_to_end("ensemble", "search.yaml", "--members", 2, "run.name=grid", "train.epochs=1",
                                 "--grid", "exchange=all_reduce,ring")
        self.assertIn("no effect in any training: exchange (needs several ranks)", output)
        with open(self.study("grid") / "results.json") as file:
            self.assertIn("without-effect", [warning["code"] for warning in json.load(file)["warnings"]])

    def test_folds_are_parts_of_a_trial(self):
        self.tune("tune.folds=3", "tune.trials=2")
        rows = self.rows()
        for row in rows:
            values = []
            for fold in (1, 2, 3):
                with open(self.study() / f"trials/learning/{int(row['trial']):05}_fold_{fold}/results.json") as file:
                    values.append(json.load(file)["numbers"]["loss_end"])
            self.assertAlmostEqual(float(row["loss"]), sum(values) / 3, delta=1e-12)
            self.assertGreater(float(row["spread"]), 0)
            self.assertEqual(float(row["epochs"]), 12)
        # side by side they give the same numbers
        settings = [f"{key}={rows[0][key]}" for key in ("optimizer.learning_rate", "network.layers.0.dense")]
        self.run_to_end("ensemble", "search.yaml", "--vary", "folds", "--members", 3, "run.name=folds", *settings)
        values = []
        for fold in (1, 2, 3):
            with open(self.study("folds") / f"members/learning/fold_{fold:03}/results.json") as file:
                values.append(json.load(file)["numbers"]["loss_end"])
        self.assertAlmostEqual(float(rows[0]["loss"]), sum(values) / 3, delta=1e-12)

    def test_a_trial_may_be_trained_with_several_seeds(self):
        output = self.tune("tune.seeds=3", "tune.trials=2")
        self.assertIn("over seeds", output)
        for row in self.rows():
            values = []
            for seed in (1, 2, 3):
                folder = self.study() / f"trials/learning/{int(row['trial']):05}_seed_{seed}"
                self.assertIn(f"seed: {seed}\n", (folder / "config.yaml").read_text())
                values.append(json.loads((folder / "results.json").read_text())["numbers"]["loss_end"])
            self.assertEqual(len(set(values)), 3)
            self.assertAlmostEqual(float(row["loss"]), sum(values) / 3, delta=1e-12)
            self.assertGreater(float(row["spread"]), 0)

    def test_a_population_goes_on_with_its_best_networks(self):
        self.tune("tune.space=[{key: optimizer.learning_rate, low: 1e-4, high: 1e-1, log: true}]",
                  "tune.population.members=4", "tune.population.legs=4", "train.epochs=8")
        claims = {}
        for path in glob.glob(str(self.study() / "trials/records/*.claim_1.json")):
            with open(path) as file:
                claim = json.load(file)
            claims[claim["trial"]] = claim
        self.assertEqual(len(claims), 16)
        self.assertTrue(any(claim["from"] > 0 and claims[claim["from"]]["member"] != claim["member"]
                            for claim in claims.values()), "somebody has given way")
        for row in self.rows():
            self.assertEqual(row["state"], "done", row)
            number = int(row["trial"])
            leg = 1 + sum(claims[other]["member"] == claims[number]["member"] for other in claims if other < number)
            self.assertEqual(float(row["epochs"]), 2 * leg)
            self.assertEqual(int(row["from"]), claims[number]["from"])
            if leg > 1:
                log = (self.study() / f"trials/learning/{number:05}/log.txt").read_text()
                self.assertIn(f"epoch {2 * leg - 2} of 8", log)

    def test_folds_are_looked_at_when_each_is_over(self):
        self.tune("tune.folds=3", "tune.trials=8", "tune.searcher=random", "tune.early_end.rule=halving",
                  "tune.early_end.first=4", "tune.early_end.factor=2")
        epochs = {float(row["epochs"]) for row in self.rows() if row["state"] == "ended early"}
        self.assertEqual(epochs - {4, 8}, set())
        self.assertIn(4, epochs)

    def test_a_worker_may_not_change_the_search(self):
        self.tune("tune.trials=1")
        output = self.run_to_end("tune", self.study(), "--worker", "optimizer.learning_rate=1", code=2)
        self.assertIn("optimizer.learning_rate", output)
        self.assertEqual(output.count("\n"), 1, output)
        self.run_to_end("tune", self.study(), "--worker", "--trials", 2)
        self.assertEqual(len(self.rows()), 2)
        for trial in ("x", "99", "1.5", "1e30"):
            output = self.run_to_end("tune", self.study(), "--trial", trial, "--attempt", 1, code=2)
            self.assertIn(trial, output)
            self.assertEqual(output.count("\n"), 1, output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_trials_of_several_ranks_go_on_after_a_stop(self):
        more = ["tune.trials=1", "tune.ranks=2", "exchange=all_reduce", f"tune.launcher={MPIEXEC} -n {{ranks}}"]
        job = self.start("tune", "search.yaml", *more, "train.epochs=1000000")
        self.wait_for(self.study() / "trials/learning/00001/metrics.jsonl")
        job.terminate()
        output, _ = job.communicate(timeout=100)
        self.assertEqual(job.returncode, 3, output)
        self.assertEqual(self.rows()[0]["state"], "waits", output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_blocks_of_ranks_share_the_trials(self):
        output = self.tune("--block-ranks", 2, "exchange=all_reduce", launcher=[MPIEXEC, "-n", "4"])
        self.assertIn("in 2 blocks of 2 ranks", output)
        self.assertEqual([row["state"] for row in self.rows()], ["done"] * 6)
        workers = set()
        for path in glob.glob(str(self.study() / "trials/records/*.claim_1.json")):
            with open(path) as file:
                workers.add(json.load(file)["worker"])
        self.assertEqual(len(workers), 2)
        output = self.tune("--block-ranks", 2, "run.name=other", launcher=[MPIEXEC, "-n", "3"], code=2)
        self.assertIn("no whole number of blocks", output)

    @jobs.in_long_tests
    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_folds_of_a_block_run_side_by_side_and_survive_kills(self):
        folds = ["tune.folds=3", "tune.trials=2", "train.epochs=1500", "train.evaluate_every=50",
                 "train.checkpoints.epochs=20"]
        self.tune(*folds, "run.name=in_turn")
        blocks = [*folds, "--block-ranks", 3, "tune.side_by_side=3"]
        launcher = [MPIEXEC, "-n", "3"]
        for kill in range(3):
            job = self.start("tune", "search.yaml", *blocks, launcher=launcher)
            time.sleep(random.Random(kill).uniform(0.5, 1.5))
            jobs.kill_session(job)
        output = self.tune(*blocks, launcher=launcher)
        self.assertIn("each training on 1 of 3 ranks", output)
        self.assertEqual(self.found("search"), self.found("in_turn"))
        self.assertLess(len(list(self.study().glob("trials/records/*.claim_*.json"))), 2 + 3 + 1, "none is given back")
        for fold in (1, 2, 3):
            self.assertTrue((self.study() / f"trials/logs/00002_fold_{fold}.txt").exists())

    # A training of two ranks fails on one of them while the other has come to its end.
    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_trials_that_fail_side_by_side_on_several_ranks_do_not_stop_the_others(self):
        space = "[{key: optimizer.learning_rate, low: 0.04, high: 1e4, log: true}]"
        output = self.tune("tune.folds=2", "--block-ranks", 4, "tune.side_by_side=2", "tune.trials=30", "train.epochs=2",
                           "optimizer.rule=sgd", "tune.searcher=random", 'tune.points=["optimizer.learning_rate=0.05"]',
                           f"tune.space={space}", "batch=10", launcher=[MPIEXEC, "-n", "4"])
        states = [row["state"] for row in self.rows()]
        self.assertEqual(len(states), 30, output)
        self.assertGreater(states.count("failed"), 5, states)
        self.assertGreater(states.count("done"), 2, states)

    @jobs.in_long_tests
    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_a_suspended_rank_of_folds_side_by_side_is_named(self):
        job = self.start("tune", "search.yaml", "tune.folds=2", "tune.trials=1", "train.epochs=1500", "--block-ranks", 2,
                         "tune.side_by_side=2", "ranks.timeout_s=3", launcher=[MPIEXEC, "-n", "2"])
        self.wait_for(self.study() / "trials/learning/00001_fold_2/metrics.jsonl")
        second = None
        for process in jobs.alive_in_session(job.pid):
            with open(f"/proc/{process}/environ", "rb") as file:
                if b"OMPI_COMM_WORLD_RANK=1\0" in file.read():
                    second = process
        if second is None:
            self.skipTest("this MPI does not say which process is rank 1")
        os.kill(second, signal.SIGSTOP)
        output, _ = job.communicate(timeout=100 * jobs.SLOWDOWN)
        self.assertEqual(job.returncode, 1, output)
        self.assertIn(f"rank 1 (process {second}) has shown no sign of life for 3 s", output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_parts_of_a_block_are_equal_and_none_is_idle(self):
        for settings, words in ((["tune.side_by_side=2"], "a trial has 1 training"),
                                (["tune.folds=3", "tune.side_by_side=2"], "the ranks of a trial (1) are not 2 equal parts"),
                                (["tune.seeds=2", "tune.side_by_side=2", "tune.ranks=2", "tune.early_end.rule=median"],
                                 "early end")):
            output = self.tune(*settings, code=2)
            self.assertIn(words, output)
            self.assertEqual(output.count("\n"), 1, output)

    @unittest.skipIf(not MPIEXEC, "no MPI here")
    def test_a_failing_block_goes_on_with_the_next_trial(self):
        (self.folder / "search.yaml").write_text(CONFIG.replace("high: 1e-1", "high: 1e38"))
        self.tune("--block-ranks", 2, "exchange=all_reduce", "tune.trials=8", "tune.searcher=random",
                  launcher=[MPIEXEC, "-n", "4"])
        self.assertEqual({row["state"] for row in self.rows()}, {"done", "failed"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
