"""What more ranks and larger batches bring, from the shell: numbers against what the members left, job arrays, going
on, other studies and simulated ranks beside, and bad input.

usage: scaling_test.py SAGIPS [SIMULATOR]
"""
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import jobs

SAGIPS = os.path.abspath(sys.argv[1])
HAS_SIMULATOR = len(sys.argv) > 2
os.environ.update(jobs.ENVIRONMENT)
SMALL = ["data.rows=1000", "data.validation_rows=200", "train.epochs=3", "threads=1", "run.name=s"]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


class Scaling(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = self.scratch.name + "/runs/jets/s"

    def start(self, arguments, workload="jets/dense"):
        return subprocess.Popen([SAGIPS, "scaling", workload, *arguments], cwd=self.scratch.name, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_command(self, *arguments, workload="jets/dense"):
        job = self.start(arguments, workload)
        output, _ = job.communicate(timeout=300)
        return job.returncode, output

    def rows(self, folder=None):
        with open(f"{folder or self.folder}/scaling.csv") as file:
            return list(csv.DictReader(file))

    def members(self, name):
        return sorted(glob.glob(f"{self.folder}/members/jets/{name}_seed_*"))

    def results(self, member):
        with open(member + "/results.json") as file:
            return json.load(file)

    def check_times(self, row, name):
        """Epochs without the first, rows of all ranks, and the metric at the end."""
        epochs, first, ends = [], [], []
        for member in self.members(name):
            with open(member + "/metrics.jsonl") as file:
                events = [json.loads(line) for line in file]
            done = [event for event in events if event["event"] == "epoch_done"]
            first.append(done[0]["time_s"] / done[0]["epoch"])
            epochs.append((done[-1]["time_s"] - done[0]["time_s"]) / (done[-1]["epoch"] - done[0]["epoch"]))
            ends.append([event for event in events if event["event"] == "evaluated"][-1]["metrics"]["loss"])
        self.assertEqual(int(row["members"]), len(epochs))
        self.assertAlmostEqual(float(row["epoch_s"]) / mean(epochs), 1)
        self.assertAlmostEqual(float(row["first_epoch_s"]) / mean(first), 1)
        self.assertAlmostEqual(float(row["metric"]), mean(ends), places=6)
        self.assertAlmostEqual(float(row["rows_per_epoch"]), 1000, places=3)

    def check_parts(self, row):
        parts = [float(row[name + "_s"]) for name in ("compute", "exchange", "idle", "update", "loading", "other")]
        self.assertAlmostEqual(sum(parts) / float(row["epoch_s"]), 1, places=6)

    def test_ranks_against_one_rank(self):
        code, output = self.run_command("--ranks", "1,2", "--repeats", "2", "--mode", "both", "--target", "1.5",
                                        "scaling.price_per_hour=3.6", "scaling.power_W=50", *SMALL)
        self.assertEqual(code, 0, output)
        one, weak, strong = self.rows()
        self.assertEqual([row["variant"] for row in (one, weak, strong)],
                         ["1 rank", "all_reduce, 2 ranks", "all_reduce, batch divided, 2 ranks"])
        self.assertEqual([row["batch_of_rank"] for row in (one, weak, strong)], ["100", "100", "50"])
        for row, name in ((one, "one_rank"), (weak, "all_reduce_ranks_2"),
                          (strong, "all_reduce__batch_divided_ranks_2")):
            self.check_times(row, name)
            self.check_parts(row)
            gain = float(one["epoch_s"]) / float(row["epoch_s"])
            self.assertAlmostEqual(float(row["speed_up"]) / gain, 1, places=6)
            self.assertAlmostEqual(float(row["efficiency"]) * int(row["ranks"]) / gain, 1, places=6)
            hours = int(row["ranks"]) * mean(self.results(member)["time_s"] for member in self.members(name)) / 3600
            self.assertAlmostEqual(float(row["cost"]) / (3.6 * hours), 1, places=6)
            self.assertAlmostEqual(float(row["energy_Wh"]) / (50 * hours), 1, places=6)
        with open(self.members("all_reduce_ranks_2")[0] + "/exchange.csv") as file:
            ranks = list(csv.DictReader(file))
        self.assertAlmostEqual(float(weak["messages_per_epoch"]), sum(float(r["messages"]) for r in ranks) / 3)
        self.assertAlmostEqual(float(weak["MB_per_epoch"]), sum(float(r["bytes"]) for r in ranks) / 3e6)
        for words in ("efficiency [%]", "share of an epoch [%]", "s to 1.5", "speed-up ", " % lost: "):
            self.assertIn(words, output)
        for figure in ("speed_up", "time_split", "step_times", "accuracy", "cost"):
            self.assertTrue(os.path.exists(f"{self.folder}/figures/{figure}.svg"), figure)
        with open(self.folder + "/report.html") as file:
            page = file.read()
        for words in ("Where the time goes", "Speed-up and efficiency", "Cost and energy of a training"):
            self.assertIn(words, page)

    def test_batches_with_rules_of_the_learning_rate(self):
        code, output = self.run_command("--ranks", "1", "--repeats", "1", "--batches", "25,200", "--rates",
                                        "none,square_root,linear,warm_up", "scaling.warm_up=2", "run.figures=false",
                                        *SMALL)
        self.assertEqual(code, 0, output)
        rows = {row["variant"]: row for row in self.rows()}
        self.assertEqual(len(rows), 9)
        own = {}
        for member in glob.glob(f"{self.folder}/members/jets/*"):
            with open(member + "/config.yaml") as file:
                text = file.read()
            value = lambda key: float(text.split(f"\n  {key}: ")[1].split("\n")[0])
            own[os.path.basename(member)] = (value("learning_rate"), value("warm_up"))
        base = own["one_rank_seed_001"][0]
        for rule, factor in (("none", 1), ("square_root", math.sqrt(2)), ("linear", 2), ("warm_up", 2)):
            rate, warm_up = own[f"batch_200_rate_{rule}_seed_001"]
            self.assertAlmostEqual(rate / base, factor, places=9)
            self.assertEqual(warm_up, 2 * 5 if rule == "warm_up" else 0, "two epochs of 1000 / 200 steps")
        self.assertAlmostEqual(own["batch_25_rate_square_root_seed_001"][0] / base, 0.5)
        for words in ("batches of one rank", "batch 200, rate: linear", "times as fast"):
            self.assertIn(words, output)

    def test_a_batch_system_trains_and_the_same_command_gathers(self):
        arguments = ["--ranks", "1,2", "--repeats", "1", "--jobs", "slurm", "run.figures=false", *SMALL]
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 3, "nothing is trained yet: " + output)
        for ranks in (1, 2):
            script = f"{self.folder}/jobs/ranks_{ranks}.sh"
            self.assertIn(f"submit 1 trainings: sbatch {os.path.relpath(script, self.scratch.name)}", output)
            with open(script) as file:
                text = file.read()
            for words in (f"#SBATCH --ntasks={ranks}\n", "#SBATCH --array=1-1\n", "#SBATCH --exclusive\n"):
                self.assertIn(words, text)
            if ranks == 2:
                code, output = self.run_command(*arguments)
                self.assertEqual(code, 3, output)
                self.assertEqual(len(self.rows()), 1, "what is there is looked at")
            subprocess.run(["sh", script], cwd=self.scratch.name, check=True,
                           env=os.environ | {"SLURM_ARRAY_TASK_ID": "1"})
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 0, output)
        self.assertEqual([row["ranks"] for row in self.rows()], ["1", "2"])

    def test_a_study_that_was_stopped_goes_on(self):
        arguments = ["--ranks", "1,2", "--repeats", "2", "run.figures=false", *SMALL]
        members = self.folder + "/members/jets/"
        jobs.check_that_a_study_goes_on(self, arguments, members + "one_rank_seed_001",
                                        members + "one_rank_seed_002")
        self.assertEqual([row["members"] for row in self.rows()], ["2", "2"])
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 2, "a finished study is not reopened: " + output)
        self.assertIn("--override and other values of scaling", output)
        first = members + "one_rank_seed_001/results.json"
        written = os.stat(first).st_mtime_ns
        arguments[3] = "3"
        code, output = self.run_command(*arguments, "--override")
        self.assertEqual(code, 0, output)
        self.assertEqual([row["members"] for row in self.rows()], ["3", "3"], "but goes on with more")
        self.assertEqual(os.stat(first).st_mtime_ns, written)
        with open(members + "one_rank_seed_001/log.txt") as log:
            self.assertNotIn("no effect", log.read(), "of keys that the study has set itself")

    def test_parameters_and_another_study_beside(self):
        small = ["train.epochs=30", "train.evaluate_every=5", "train.snapshots=2", "batch.samples=8",
                 "batch.events=20", "toy.events=2000", "evaluation.samples=20", "evaluation.events=10"]
        launchers = [word for name in ("none", "core")
                     for word in ("--launcher", f"mpirun -n {{ranks}} --bind-to none --map-by {name}")]
        launchers[1] = "mpirun -n {ranks} --bind-to none"
        code, output = self.run_command("--ranks", "1,2", "--exchanges", "all_reduce,arar", "--repeats", "1", *small,
                                        *launchers, "run.name=a", workload="proxy1d/cold")
        self.assertEqual(code, 0, output)
        first = self.scratch.name + "/runs/proxy1d/a"
        rows = self.rows(first)
        self.assertEqual([row["series"] for row in rows],
                         ["1 rank", "all_reduce, as usual", "all_reduce, --map-by core", "arar, as usual",
                          "arar, --map-by core"])
        one, several = rows[0], rows[1]
        self.assertAlmostEqual(float(one["rows_per_epoch"]), 8 * 20, places=3)
        self.assertAlmostEqual(float(several["rows_per_epoch"]), 2 * 8 * 20, places=3, msg="each rank has its batch")
        code, output = self.run_command("--ranks", "1,2", "--exchanges", "all_reduce", "--repeats", "1", *small,
                                        "--with", first, "scaling.published=[horovod]", "run.name=b",
                                        workload="proxy1d/cold")
        self.assertEqual(code, 0, output)
        self.assertIn("a: all_reduce, as usual, 2 ranks: speed-up ", output)
        self.assertEqual(len(self.rows(self.scratch.name + "/runs/proxy1d/b")), 2, "its own alone")

    @unittest.skipUnless(HAS_SIMULATOR, "needs SimGrid")
    def test_simulated_ranks_go_on_where_the_machine_ends(self):
        code, output = self.run_command("--ranks", "1,2", "--repeats", "1", "--exchanges", "ring", "--simulate", "4,16",
                                        *SMALL)
        self.assertEqual(code, 0, output)
        rows = self.rows()
        self.assertEqual([(row["variant"], row["simulated"]) for row in rows],
                         [("1 rank", "no"), ("ring, 2 ranks", "no"), ("ring, 4 ranks", "yes"),
                          ("ring, 16 ranks", "yes")])
        for row in rows[2:]:
            self.check_parts(row)
            self.assertLessEqual(float(row["efficiency"]), 1.5)
            self.assertGreater(float(row["exchange_s"]), 0)
        self.assertIn("ring, 16 ranks (simulated): speed-up ", output)
        with open(self.folder + "/figures/speed_up.csv") as file:
            self.assertIn("ring, simulated", file.read())
        code, output = self.run_command("--ranks", "1,2", "--repeats", "1", "--exchanges", "ring", "--simulate", "4",
                                        "train.epochs=20", "train.snapshots=2", "batch.samples=8", "batch.events=20",
                                        "toy.events=2000", "run.name=p", "run.figures=false", workload="proxy1d/cold")
        self.assertEqual(code, 0, output)
        last = self.rows(self.scratch.name + "/runs/proxy1d/p")[-1]
        self.assertEqual((last["ranks"], last["simulated"]), ("4", "yes"))
        self.assertAlmostEqual(float(last["rows_per_epoch"]), 4 * 8 * 20, msg="each rank has its batch")

    def refused(self, words, *arguments, workload="jets/dense"):
        code, output = self.run_command(*arguments, *SMALL, workload=workload)
        self.assertEqual(code, 2, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.folder))

    def test_what_cannot_be_measured_is_refused_before_anything_runs(self):
        self.refused("have no 1", "--ranks", "2,4")
        self.refused("is there twice", "--ranks", "1,2,2")
        self.refused("did you mean 'arar'?", "--exchanges", "arrr")
        self.refused("did you mean 'linear'?", "--batches", "200", "--rates", "linaer")
        self.refused("--batches names none", "--rates", "linear")
        self.refused("batch=100 cannot be divided among 3 ranks", "--ranks", "1,3", "--mode", "strong")
        self.refused("are 1 alone", "--ranks", "1", "--exchanges", "ring")
        self.refused("Take weak or both", "--simulate", "8", "--mode", "strong")
        self.refused("3 are no power of two", "--ranks", "1,3", "--exchanges", "adasum")
        self.refused("none compute", "--ranks", "1,2", "--exchanges", "served", "exchanges.served.owners=master",
                     "exchanges.served.masters=2")
        self.refused("not within a group of 1", "--ranks", "1,2", "--exchanges", "grouped",
                     "exchanges.grouped.outer=all_reduce")
        self.refused("none compute", "--ranks", "1,2", "--exchanges", "served", "--jobs", "slurm",
                     "exchanges.served.owners=master", "exchanges.served.masters=2")
        self.refused("no network has a batch norm", "--ranks", "1,2", "exchange=ring", "exchanges.batch_norm=over_ranks")
        self.refused("there is no program 'mprun'", "--ranks", "1,2", "--launcher", "mprun -n {ranks}")
        self.refused("there is no program 'mprun'", "--ranks", "1,2", "ensemble.launcher=mprun -n {ranks}")
        self.refused("there is no program 'mprun'", "--ranks", "1,2", "--launcher", "env A=1 B= mprun -n {ranks}")
        self.refused("there is no program '/usr/bin/mprun'", "--ranks", "1,2", "--launcher",
                     "/usr/bin/env A=1 /usr/bin/mprun -n {ranks}")
        self.refused("name 100 alone", "--ranks", "1", "--batches", "100")
        self.refused("is given twice, '1' and '2'", "--ranks", "1", "--ranks", "2")
        self.refused("--mode: sets scaling.mode, and 'scaling.mode=weak' does, too", "--mode", "weak",
                     "scaling.mode=weak")
        self.refused("there is no run 's' that --override could go on with", "--ranks", "1", "--override")
        self.refused("no evaluation has a 'los', did you mean 'loss'?", "scaling.metric=los")
        with open(self.scratch.name + "/rows.csv", "w") as file:
            file.write("x,y\n" + "1,2\n3,4\n" * 50)
        with open(self.scratch.name + "/rows.yaml", "w") as file:
            file.write("workload: learning\ndata: {inputs: {file: rows.csv, columns: [x]}, targets: {file: rows.csv, "
                       "columns: [y]}, held_out: 0}\nnetwork: {layers: [{dense: 1}]}\nloss: mean_square\n")
        code, output = self.run_command("--target", "1", workload="rows.yaml")
        self.assertEqual(code, 2, output)
        self.assertIn("needs evaluations", output)
        self.refused("did you mean 'horovod'?", "scaling.published=[horovodd]")
        self.refused("scaling.csv", "--with", "nowhere")

    def test_exchanges_that_need_nodes_of_a_kind_are_told_where_nodes_are_not_known(self):
        for nodes, exchange in (("one node: exchange: all_reduce works over all 4 ranks",
                                 ["grouped", "exchanges.grouped.outer=all_reduce"]),
                                ("several nodes: exchange: all_reduce works over all 4 ranks",
                                 ["grouped", "exchanges.grouped.inner=all_reduce"]),
                                ("several nodes: exchange: shared_node needs all its ranks on one", ["shared_node"])):
            code, output = self.run_command("--ranks", "1,4", "--repeats", "1", "--jobs", "slurm", "run.figures=false",
                                            "--exchanges", *exchange, *SMALL[:-1])
            self.assertEqual(code, 3, output)
            self.assertIn(f"{exchange[0]}, 4 ranks: refused where ", output)
            self.assertIn(f" on {nodes}", output)

    def test_a_training_on_other_ranks_than_asked_for_is_left_out(self):
        code, output = self.run_command(*SMALL, "--ranks", "1,3", "--repeats", "1", "--launcher", "mpirun -n 2")
        self.assertEqual(code, 0, output)
        self.assertIn("was trained on 2 ranks in place of 3", output)
        self.assertEqual([row["variant"] for row in self.rows()], ["1 rank"])

    def test_what_has_no_effect_is_told(self):
        code, output = self.run_command("--ranks", "1", "--repeats", "1", "--batches", "2000", "scaling.warm_up=3",
                                        "run.figures=false", *SMALL)
        self.assertEqual(code, 0, output)
        self.assertIn("scaling.warm_up (needs warm_up among rates)", output)
        self.assertIn("batch=2000: a rank has 1000 rows", output)
        self.assertIn("2 ways of training", output)
        code, output = self.run_command("--ranks", "1", "--repeats", "1", "run.figures=false", *SMALL[:-1],
                                        "run.name=alone")
        self.assertIn("1 way of training", output)

    @unittest.skipUnless(HAS_SIMULATOR, "needs SimGrid")
    def test_what_cannot_be_simulated_is_refused_before_anything_runs(self):
        simulated = ["--ranks", "1,2", "--exchanges", "ring", "--simulate", "4"]
        self.refused("nowhere.yaml", *simulated, "simulate.platform=nowhere.yaml")
        self.refused("'auto' chooses by measuring", *simulated[:3], "auto", *simulated[4:])
        self.refused("two sources of one number", *simulated, "simulate.compute_from=runs/a")

    def test_ranks_that_share_cores_are_told(self):
        code, output = self.run_command("--ranks", f"1,{2 * os.cpu_count()}", "--repeats", "1", "run.figures=false",
                                        *SMALL)
        self.assertEqual(code, 0, output)
        self.assertIn("they take turns", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
