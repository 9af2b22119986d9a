"""Exchanges on simulated ranks from the shell: what is planned, calculated and kept, going on, and bad input.

A simulator of a few lines stands in for the real one where the numbers must be known beforehand.

usage: simulate_test.py SAGIPS [SIMULATOR]
"""
import csv
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

SAGIPS = os.path.abspath(sys.argv[1])
SIMULATOR = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
NAMED = ["run.name=s", "run.figures=false"]
EXACT = "all_reduce,chunked_ring,double_tree,lanes,rabenseifner,recursive_doubling,ring"

# An exchange takes a microsecond for each rank and array; an epoch that and its computation. With a straggler the others
# keep a tenth of their rate.
STAND_IN = """#!/usr/bin/env python3
import re, sys, time
job = open(sys.argv[2]).read()
def value(name, kind=float):
    return kind(re.search(r"^ *%s: *(.*)$" % name, job, re.M).group(1))
ranks, epochs, fused = value("ranks", int), value("epochs", int), value("fused", str) == "true"
exchange, tensors = value("exchange", str), len(value("tensors", str).split(","))
floats = sum(map(int, re.search(r"tensors: *\\[?([^]\\n]*)", job).group(1).split(",")))
promised = exchange not in ("none", "gossip", "grouped", "arar_arar", "averaged") and not exchange.startswith("rma_")
if exchange == "gossip" and FAILS:
    sys.exit("sagips-simulator: error: gossip has no tongue")
time.sleep(SLEEP)
alone = 0 if exchange == "none" else 1e-6 * ranks * (1 if fused else tensors)
late = value("overlap", str) == "one_update_late"
epoch = value("compute_s") + (0 if late else alone)
straggler = value("straggler", int)
rates = [1 / max(epoch, 1e-9) * (1 if straggler < 0 else 0.2 if rank == straggler else 0.1 + 0.001 * rank)
         for rank in range(ranks)]
result = dict(exchange=exchange, ranks=ranks, floats=floats, epochs=epochs, fused=str(fused).lower(),
              promised=str(promised).lower(), exact="EXACT", largest_error=0.5, exchange_s=alone,
              epoch_s=epoch if epochs else 0, exposed_s=alone, messages=ranks, bytes=1, sent_messages=ranks, sent_bytes=1,
              latency_s=1e-6, bandwidth=1, predicted_s=alone / 2, epochs_per_s=str(rates if epochs else []),
              host_s=0.01, host_bytes=1)
open(sys.argv[3], "w").write("".join(f"{name}: {text}\\n" for name, text in result.items()))
"""


class Folder(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = self.scratch.name + "/runs/proxy1d/s"
        self.program = SAGIPS

    def start(self, *arguments):
        return subprocess.Popen([self.program, "simulate", *arguments], cwd=self.scratch.name, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run_command(self, *arguments):
        job = self.start(*arguments)
        output, _ = job.communicate(timeout=240)
        return job.returncode, output

    def rows(self, name):
        with open(f"{self.folder}/{name}") as file:
            return list(csv.DictReader(file))

    def row(self, simulation, exchange, ranks, fused="yes"):
        wanted = dict(simulation=simulation, exchange=exchange, ranks=str(ranks), fused=fused)
        found = [row for row in self.rows("simulate.csv") if wanted.items() <= row.items()]
        self.assertEqual(len(found), 1, wanted)
        return found[0]

    def refused(self, words, *arguments):
        code, output = self.run_command(*arguments, "run.name=s")
        self.assertEqual(code, 2, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        self.assertIn(words, output)
        self.assertFalse(os.path.exists(self.scratch.name + "/runs"))


class StandIn(Folder):
    """Beside a simulator whose answers are known."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.scratch.name + "/bin")
        self.program = shutil.copy(SAGIPS, self.scratch.name + "/bin/sagips")
        self.write_simulator()

    def write_simulator(self, fails=False, sleep=0.0, exact="true"):
        path = self.scratch.name + "/bin/sagips-simulator"
        text = STAND_IN.replace("FAILS", str(fails)).replace("SLEEP", str(sleep)).replace("EXACT", exact)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def test_computation_gives_the_ring_the_papers_gain(self):
        code, output = self.run_command("proxy1d/paper", "--ranks", "4,40,400", "--exchanges", "ring,rabenseifner", *NAMED)
        self.assertEqual(code, 0, output)
        first, last = self.row("training", "ring", 4, "no"), self.row("training", "ring", 400, "no")
        compute = float(first["compute_s"])
        tensors = int(first["tensors"])
        self.assertEqual((tensors, int(first["floats"])), (5, 50688), "weights of 6-128-128-128-128-6")
        # T = c + t with t = 1 us a rank and tensor: 100 (c + 20 us) / (c + 2 ms) = 40
        self.assertAlmostEqual(compute, (40 * 400e-6 * tensors - 100 * 4e-6 * tensors) / 60, places=12)
        self.assertAlmostEqual(100 * float(first["epoch_s"]) / float(last["epoch_s"]), 40, places=6)
        with open(self.folder + "/results.json") as file:
            results = json.load(file)
        self.assertRegex(results["finish_reason"], r"^(\d+) of \1 simulations done")
        numbers = results["numbers"]
        self.assertAlmostEqual(numbers["gain ring unfused"], 40, places=6)
        self.assertAlmostEqual(numbers["compute_s"], compute, places=12)
        self.assertAlmostEqual(numbers["gain rabenseifner one_update_late"], 100, places=6)
        rate = 400 * 1024 * 100 / float(last["epoch_s"])  # eq. (9)
        self.assertAlmostEqual(float(last["events_per_s"]) / rate, 1, places=9)
        self.assertIn("gains 40 of 100 from 4 to 400 ranks", output)
        cost = self.rows("cost.csv")
        self.assertEqual({(row["simulated_over_predicted"], row["beyond_20_percent"]) for row in cost}, {("2", "yes")})

    def test_other_ends_take_their_gain_from_a_straight_line(self):
        code, output = self.run_command("proxy1d/paper", "--ranks", "8,80", "--exchanges", "ring", *NAMED)
        self.assertEqual(code, 0, output)
        first, last = self.row("training", "ring", 8, "no"), self.row("training", "ring", 80, "no")
        slope = (100 / 40 - 1) / 396
        expected = 10 * (1 + slope * 4) / (1 + slope * 76)
        self.assertAlmostEqual(10 * float(first["epoch_s"]) / float(last["epoch_s"]), expected, places=6)
        self.assertIn("from 8 to 80 ranks (as a straight line does that gains 40 of 100 from 4 to 400)", output)

    def test_a_slow_rank_is_compared_with_undisturbed(self):
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", "ring",
                                        "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 0, output)
        leader, follower = self.rows("straggler.csv")
        self.assertEqual((leader["slow"], follower["slow"]), ("leader", "follower"))
        others = [0.1 + 0.001 * rank for rank in range(1, 8)]
        for name, value in (("rate_of_slow", 0.2), ("lowest_of_others", others[0]), ("median_of_others", others[3])):
            self.assertAlmostEqual(float(leader[name]), value, places=9)
        self.assertAlmostEqual(float(follower["lowest_of_others"]), 0.1, places=9)
        self.assertEqual({(row["ranks"], row["slowdown"]) for row in (leader, follower)}, {("8", "5")})
        self.assertIn("rates of 8 ranks, one of them 5 times slower", output)

    def test_a_follower_is_one_that_does_not_lead(self):
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", "arar_arar",
                                        "exchanges.grouped.group_size=1", "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 0, output)
        self.assertEqual([row["slow"] for row in self.rows("straggler.csv")], ["leader"])
        self.assertIn("a slow follower is left out", output)

    def test_gains_are_those_of_all_ranks_or_none(self):
        self.write_simulator(fails="ranks == 8")
        code, output = self.run_command("proxy1d", "--ranks", "2,4,8", "--exchanges", "ring,gossip",
                                        "simulate.stragglers=false", "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 1, output)
        self.assertIn("1 of 12 simulations are missing; the same command with run.name=s tries them again", output)
        with open(self.folder + "/results.json") as file:
            numbers = json.load(file)["numbers"]
        self.assertIn("epoch_s gossip 4", numbers)
        self.assertIn("gain ring", numbers)
        self.assertNotIn("gain gossip", numbers)
        with open(self.folder + "/tables.txt") as file:
            lines = file.read().splitlines()
        self.assertEqual([line.split()[1:] for line in lines if line.startswith("gossip ")], [["2.00", "4.00", "-", "-", "-"]])
        self.assertIn("1 of 12 simulations are missing", lines[-1])

    def test_nothing_is_printed_as_nothing(self):
        code, output = self.run_command("proxy1d", "--ranks", "4", "--exchanges", "none", *NAMED)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"\nnone +0\n")
        self.assertIn("none sends nothing", output)

    def test_the_table_takes_the_ranks_that_have_room(self):
        arguments = ["simulate.stragglers=false", "simulate.scenario.compute_s=1e-3", "run.figures=false"]
        code, output = self.run_command("proxy1d", "--exchanges", "rabenseifner", "run.name=t", *arguments)
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"\nexchange of an epoch \[µs\], ranks: +4 +8 +20 +40 +100 +200 +400 +gain")
        self.assertNotIn("other numbers of ranks", output)
        many = range(2, 22)
        code, output = self.run_command("proxy1d", "--exchanges", "rabenseifner", "--ranks",
                                        ",".join(map(str, many)), *NAMED, *arguments)
        self.assertEqual(code, 0, output)
        head = next(line for line in output.splitlines() if line.startswith("exchange of an epoch"))
        self.assertTrue(90 < len(head) <= 110, head)
        self.assertRegex(head, "ranks: +2 .* 21 +gain")
        self.assertIn("other numbers of ranks: in simulate.csv", output)

    def test_an_exchange_that_blocks_when_simulated_is_never_late(self):
        arguments = ["proxy1d", "--ranks", "4,8", "simulate.scenario.compute_s=1e-3"]
        code, output = self.run_command(*arguments, "--exchanges", "all_reduce,lanes", *NAMED)
        self.assertEqual(code, 0, output)
        self.assertEqual({row["exchange"] for row in self.rows("simulate.csv")
                          if row["simulation"] == "one_update_late"}, {"lanes"})
        self.assertIn("all_reduce is not simulated one update late", output)

    def test_what_a_calibration_leaves_out_is_said(self):
        arguments = ["proxy1d/paper", "--ranks", "4,8", "--exchanges", "ring", "simulate.stragglers=false"]
        code, output = self.run_command(*arguments, "run.name=jitter", "simulate.scenario.jitter=0.1",
                                        "run.figures=false")
        self.assertEqual(code, 0, output)
        self.assertIn("would gain 1.97 of 2 from 4 to 8 ranks by its exchange alone", output)

    def test_memory_that_costs_nothing_is_told(self):
        words = "memory and GPU copies cost nothing on this platform: set memory_bandwidth, gpu_copy\n"
        for exchange, told in (("rma_ring", True), ("lanes", False)):
            code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", exchange, "run.figures=false",
                                            f"run.name={exchange}")
            self.assertEqual(code, 0, output)
            self.assertEqual(words in output, told, output)
            with open(f"{self.scratch.name}/runs/proxy1d/{exchange}/tables.txt") as file:
                self.assertEqual(words in file.read(), told)

    def test_results_of_another_build_or_job_are_not_taken_over(self):
        arguments = ["proxy1d", "--ranks", "4,8", "--exchanges", "rabenseifner,gossip", "simulate.stragglers=false",
                     "simulate.scenario.compute_s=1e-3", *NAMED]
        self.write_simulator(fails=True)
        self.assertEqual(self.run_command(*arguments)[0], 1)
        self.write_simulator()
        stem = self.folder + "/simulations/rabenseifner_{}_exchange{}"
        with open(stem.format(4, ".yaml")) as file:
            job = file.read()
        version = subprocess.run([SAGIPS, "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(job.splitlines()[0], "# " + version.strip())
        with open(stem.format(4, ".yaml"), "w") as file:
            file.write(job.replace(job.splitlines()[0], "# sagips 0.0.1 (another)"))
        with open(stem.format(8, ".result.yaml")) as file:
            result = file.read()
        with open(stem.format(8, ".result.yaml"), "w") as file:
            file.write(result.replace("promised: true\n", "").replace("exact: true\n", ""))
        late = self.folder + "/simulations/rabenseifner_8_one_update_late.result.yaml"
        before = os.stat(late).st_mtime_ns
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 0, output)
        with open(stem.format(4, ".yaml")) as file:
            self.assertEqual(file.read(), job)
        with open(stem.format(8, ".result.yaml")) as file:
            self.assertEqual(file.read(), result)
        self.assertEqual(os.stat(late).st_mtime_ns, before, "the others are as they were")

    def test_a_full_disk_ends_it_at_once(self):
        self.write_simulator(fails='not open(sys.argv[3], "w").write(" " * 200000)')
        self.run_without_room("gossip,lanes,ring", "run.figures=false")
        started = [name for name in os.listdir(self.folder + "/simulations") if name.endswith(".txt")]
        self.assertEqual(len([name for name in started if name.startswith("gossip")]), 1, started)

    def test_figures_without_room_leave_it_unfinished(self):
        self.run_without_room("lanes", "run.figures=true")
        self.assertEqual(len(self.rows("simulate.csv")), 4)

    def run_without_room(self, exchanges, *arguments):
        # no file may grow beyond 40 KB: a full disk, without the right to make one
        job = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 40; exec "$@"', "bash", self.program, "simulate",
                              "proxy1d", "--ranks", "4,8", "--exchanges", exchanges, "simulate.at_once=1",
                              "simulate.stragglers=false", "simulate.scenario.compute_s=1e-3", "run.name=s", *arguments],
                             cwd=self.scratch.name, check=False, capture_output=True, text=True, timeout=240)
        self.assertEqual(job.returncode, 1, job.stderr)
        self.assertIn("cannot be written", job.stderr.splitlines()[-1])
        with open(self.folder + "/status.json") as file:
            self.assertEqual(json.load(file)["status"], "stopped")

    def test_measured_epochs_become_computation_times(self):
        subprocess.run([SAGIPS, "train", "proxy1d", "train.epochs=30", "batch.samples=8", "toy.events=500",
                        "run.name=measured", "run.figures=false", "run.fit=false"], cwd=self.scratch.name, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", "ring", "simulate.stragglers=false",
                                        "simulate.compute_from=runs/proxy1d/measured", *NAMED)
        self.assertEqual(code, 0, output)
        epochs = []
        with open(self.scratch.name + "/runs/proxy1d/measured/metrics.jsonl") as file:
            epochs = [event for event in map(json.loads, file) if event["event"] == "epoch_done"]
        first, last = epochs[0], epochs[-1]
        self.assertIn(f"{len(epochs) - 1} measured times", output)
        if len(epochs) == 2:
            mean = (last["time_s"] - first["time_s"]) / (last["epoch"] - first["epoch"])
            self.assertAlmostEqual(float(self.row("training", "ring", 4)["compute_s"]), mean, places=9)

    def test_what_failed_is_named_and_the_rest_is_there(self):
        self.write_simulator(fails=True)
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", "ring,gossip",
                                        "simulate.stragglers=false", "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 1, output)
        self.assertIn("gossip_8_training failed: gossip has no tongue\n", output)
        self.assertEqual({row["exchange"] for row in self.rows("simulate.csv")}, {"ring"})
        self.write_simulator()
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--exchanges", "ring,gossip",
                                        "simulate.stragglers=false", "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 0, output)
        self.assertEqual({row["exchange"] for row in self.rows("simulate.csv")}, {"ring", "gossip"})

    def test_a_mean_that_is_not_exact_is_a_failure(self):
        self.write_simulator(exact="false")
        code, output = self.run_command("proxy1d", "--ranks", "4", "--exchanges", "rabenseifner",
                                        "simulate.scenario.compute_s=1e-3", "simulate.stragglers=false", *NAMED)
        self.assertEqual(code, 1, output)
        self.assertIn("rabenseifner_4_exchange failed: it promises the exact mean", output)

    def test_what_was_interrupted_goes_on(self):
        self.write_simulator(sleep=0.4)
        arguments = ["proxy1d", "--ranks", "4,8", "--exchanges", "ring,gossip,lanes", "simulate.at_once=1",
                     "simulate.scenario.compute_s=1e-3", "simulate.stragglers=false", *NAMED]
        output = self.interrupted_output(*arguments)
        self.assertRegex(output, r"\nstopped: \d+ of 12 simulations are missing; the same command goes on\n")
        done = self.folder + "/simulations"
        results = lambda: [name for name in os.listdir(done) if name.endswith(".result.yaml")]
        times = {name: os.stat(f"{done}/{name}").st_mtime_ns for name in results()}
        self.assertTrue(times)
        self.write_simulator()
        code, output = self.run_command(*arguments)
        self.assertEqual(code, 0, output)
        self.assertIn("going on with ", output)
        for name, written in times.items():
            self.assertEqual(os.stat(f"{done}/{name}").st_mtime_ns, written, "what is there is not simulated again")
        self.assertEqual(len(self.rows("simulate.csv")), len(results()))

    def interrupted_output(self, *arguments):
        """Of a command that is interrupted after its first simulation, when the second one has an output file."""
        job = self.start(*arguments)
        done = self.folder + "/simulations"
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (
                os.path.isdir(done) and len([name for name in os.listdir(done) if name.endswith(".txt")]) > 1):
            time.sleep(0.01)
        job.send_signal(signal.SIGINT)
        output, _ = job.communicate(timeout=120)
        self.assertEqual(job.returncode, 3, output)
        return output

    def test_a_stop_before_the_computation_is_known_counts_all_that_is_missing(self):
        self.write_simulator(sleep=0.4)
        output = self.interrupted_output("proxy1d/paper", "--ranks", "4,8", "--exchanges", "ring", "simulate.at_once=1",
                                         "simulate.stragglers=false", *NAMED)
        missing = 6 - len([name for name in os.listdir(self.folder + "/simulations") if name.endswith(".result.yaml")])
        line = f"stopped: {missing} of 6 simulations are missing; the same command goes on"
        self.assertIn("\n" + line + "\n", output)
        with open(self.folder + "/tables.txt") as file:
            self.assertEqual(file.read().splitlines()[-1], line)

    def test_very_many_ranks_are_for_those_whose_messages_grow_slowly(self):
        code, output = self.run_command("proxy1d", "--ranks", "1000", "simulate.scenario.compute_s=1e-3", *NAMED)
        self.assertEqual(code, 0, output)
        there = {row["exchange"] for row in self.rows("simulate.csv") if row["ranks"] == "1000"}
        self.assertLessEqual({"rabenseifner", "recursive_doubling", "lanes", "gossip", "none"}, there)
        self.assertFalse({"ring", "chunked_ring", "rma_ring", "arar_arar", "averaged", "auto", "arar"} & there)
        self.assertIn("ring is left out from 1000 ranks on", output)
        self.assertIn("auto is left out", output)
        with open(self.folder + "/log.txt") as log:
            self.assertIn("shared_node is left out at 1000 ranks", log.read())

    def test_what_cannot_be_simulated_is_refused_before_anything_runs(self):
        self.refused("did you mean 'arar'?", "proxy1d", "--exchanges", "arrr")
        self.refused("is there twice", "proxy1d", "--exchanges", "ring,ring")
        self.refused("'auto' chooses by measuring", "proxy1d", "--exchanges", "auto")
        self.refused("is there twice", "proxy1d", "--ranks", "4,4")
        self.refused("names no number of ranks", "proxy1d", "simulate.ranks=[]")
        self.refused("is not a whole number", "proxy1d", "--ranks", "4,x")
        self.refused("simulate.ranks", "proxy1d", "--ranks", "1,4")
        self.refused("polaris", "proxy1d", "--platform", "polariss")
        self.refused("2,240", "proxy1d", "--ranks", "4,100000")
        self.refused("did you mean", "proxy1d", "simulate.scenario.jiter=1")
        self.refused("there is no exchange to simulate", "proxy1d", "generator.shared=none")
        self.refused("shared_node needs all its ranks on one node", "proxy1d", "--exchanges", "shared_node")
        self.refused("nowhere", "proxy1d", "simulate.compute_from=nowhere")
        self.refused("among 4 (nobody would be slow there)", "proxy1d", "--ranks", "4,8", "simulate.scenario.straggler=4")
        self.refused("pause_every is not", "proxy1d", "simulate.scenario.pause_s=1")
        self.refused("pause_s is not", "proxy1d", "simulate.scenario.pause_every=1")
        self.refused("costs nothing on this platform", "proxy1d", "simulate.scenario.data_bytes=1000")
        self.refused("waits in MPI_Allreduce", "proxy1d", "--exchanges", "all_reduce",
                     "simulate.scenario.overlap=one_update_late")
        for value in ("--ranks", "--exchanges", "--platform"):
            self.refused(value + ": has an empty value", "proxy1d", value, "")
        self.refused("two sources of one number", "proxy1d", "simulate.compute_from=a", "simulate.scenario.compute_s=1")


class WithoutSimGrid(Folder):
    def test_it_says_what_to_install(self):
        self.program = shutil.copy(SAGIPS, self.scratch.name + "/sagips")
        self.refused("apt-get install libsimgrid-dev", "proxy1d")


@unittest.skipUnless(SIMULATOR and os.path.exists(SIMULATOR), "built without SimGrid")
class RealSimulator(Folder):
    def test_all_exchanges_on_one_node(self):
        code, output = self.run_command("proxy1d", "--ranks", "4,8", "--platform", "one_node", "run.name=s")
        self.assertEqual(code, 0, output)
        rows = self.rows("simulate.csv")
        there = {row["exchange"] for row in rows}
        self.assertLessEqual({"ring", "rabenseifner", "shared_node", "gossip", "rma_arar_arar"}, there)
        alone = [row for row in rows if row["exchange_s"]]
        self.assertEqual({row["simulation"] for row in alone}, {"exchange", "training"})
        memory = ("none", "shared_node", "rma_ring", "rma_arar_arar", "served")  # no time on this platform, or no wait
        for row in alone:
            self.assertEqual(row["exact"], row["promises_exact"], row)
            if row["exchange"] not in ("all_reduce", "none") and row["promises_exact"] == "yes":
                self.assertEqual(row["sent_messages"], row["messages"], row)
            if row["exchange"] not in memory:
                self.assertGreater(float(row["exchange_s"]), 0, row)
        ring = [float(self.row("training", "ring", ranks, "no")["epoch_s"]) for ranks in (4, 8)]
        slope = (100 / 40 - 1) / 396
        self.assertAlmostEqual(2 * ring[0] / ring[1] / (2 / (1 + slope * 4)), 1, places=3)
        rates = {(row["exchange"], row["slow"]): row for row in self.rows("straggler.csv")}
        self.assertLess(float(rates["ring", "leader"]["median_of_others"]), 0.3, "all wait for the slow one")
        self.assertGreater(float(rates["rma_ring", "leader"]["lowest_of_others"]), 0.9, "nobody waits")
        for name in ("fig11_training_time", "fig12_analysis_rate", "exchange_over_ranks", "straggler"):
            self.assertTrue(os.path.exists(f"{self.folder}/figures/{name}.svg"), name)
        with open(self.folder + "/report.html") as page:
            self.assertIn("Training time against ranks", page.read())

    def test_sums_are_what_simulated_epochs_take(self):
        arguments = ["proxy1d/paper", "--ranks", "40", "simulate.scenario.compute_s=2e-4", "simulate.stragglers=false",
                     "run.figures=false", "--exchanges", EXACT, "simulate.unfused=[ring]"]
        code, output = self.run_command(*arguments, "run.name=s")
        self.assertEqual(code, 0, output)
        sums = {(row["exchange"], row["fused"]): row for row in self.rows("simulate.csv")
                if row["simulation"] == "training"}
        self.assertEqual({way for way, row in sums.items() if row["epoch"] == "simulated"}, {("double_tree", "yes")})
        self.folder = self.scratch.name + "/runs/proxy1d/epochs"
        code, output = self.run_command(*arguments, "run.name=epochs", "simulate.epochs=6")
        self.assertEqual(code, 0, output)
        for way, row in sums.items():
            epochs = self.row("training", way[0], 40, way[1])
            self.assertEqual(epochs["epoch"], "simulated")
            ratio = float(epochs["epoch_s"]) / float(row["epoch_s"])
            if row["epoch"] == "sum":
                self.assertAlmostEqual(ratio, 1, delta=0.01, msg=way)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
