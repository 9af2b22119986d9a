"""Scripts over ranks: who fails or is stopped leaves nobody waiting, and studies share their work out.

    ranks_test.py MPIRUN
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

MPIRUN = sys.argv[1]
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMP_NUM_THREADS="1")

# A function as a notebook has it: of no module, and in a namespace of its own.
CELL = '''
import json, os, signal, sys, time, torch, sagips
cell = """
def decay(theta, noise):
    import torch
    return theta * -torch.log(noise.uniform()) + 0.3 * noise.normal()
"""
space = {}
exec(cell, space)
decay = space["decay"]
RANK = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))
os.environ["RANK"] = str(RANK)  # what is another thing on each rank does not stand in functions
BOX = {"lifetime": {"low": 0.1, "high": 5, "unit": "us", "toy": 2.2}}
QUIET = dict(run={"figures": False, "fit": False, "name": "one"}, threads=1, progress=False)
SMALL = dict(QUIET, train={"epochs": 6, "evaluate_every": 3, "snapshots": 1}, batch={"samples": 8, "events": 20},
             toy={"events": 2000}, evaluation={"samples": 20, "events": 10},
             generator={"start": "random", "finish": "networks"})
'''


class Ranks(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.scratch.cleanup()

    def start(self, script):
        with open(os.path.join(self.scratch.name, "script.py"), "w") as file:
            file.write(CELL + textwrap.dedent(script))
        words = [MPIRUN, "-n", "2"]
        if "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout:
            words += ["--oversubscribe", "--allow-run-as-root"]
        return subprocess.Popen(words + [sys.executable, "script.py"], cwd=self.scratch.name, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_script(self, script):
        process = self.start(script)
        try:
            return (*process.communicate(timeout=60), process.returncode)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("it hangs: " + "".join(map(str, process.communicate())))

    def unfinished(self):
        """Files that are not whole: none has another name than that under which it is read."""
        found = []
        for folder, _, names in os.walk(self.scratch.name):
            for name in names:
                if name.endswith(".json"):
                    with open(os.path.join(folder, name)) as file:
                        json.load(file)
                elif name.endswith((".new", ".tmp", ".part")) or name.startswith("tmp"):
                    found.append(os.path.join(folder, name))
        return found

    def test_a_script_ends_well(self):
        out, error, code = self.run_script('''
            print(f"lifetime {sagips.train(decay, None, BOX, **SMALL).values}\\n", end="", flush=True)
            ''')
        self.assertEqual(code, 0, out + error)
        lines = [line for line in out.splitlines() if line.startswith("lifetime")]
        self.assertEqual(len(lines), 2, out)
        self.assertEqual(lines[0], lines[1])

    def test_what_the_first_rank_found_is_known_to_all(self):
        out, error, code = self.run_script('''
            print(f"lifetime {sagips.solve(decay, None, BOX, **dict(QUIET, toy={'events': 300})).values}\\n", end="")
            print(f"codes {[sagips.run(['explain', 'run.seed']) for _ in range(2)]}\\n", end="", flush=True)
            ''')
        self.assertEqual(code, 0, out + error)
        lines = [line for line in out.splitlines() if line.startswith("lifetime")]
        self.assertEqual(len(lines), 2, out)
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(out.count("codes [0, 0]"), 2, out + error)

    def test_an_exit_code_of_one_rank_ends_all(self):
        begun = time.monotonic()
        out, error, code = self.run_script('''
            sagips.solve(decay, None, BOX, **dict(QUIET, toy={"events": 300}))
            if RANK == 1:
                sys.exit(3)
            sagips.train(decay, None, BOX, **dict(SMALL, train={"epochs": 100000, "evaluate_every": 100000}))
            ''')
        self.assertLess(time.monotonic() - begun, 30)
        self.assertEqual(code, 3, out + error)
        self.assertNotIn("Traceback", error)

    def test_an_exception_on_one_rank_ends_all(self):
        out, error, code = self.run_script('''
            class Own(Exception):
                pass
            calls = []
            def raising(theta, noise):
                calls.append(1)
                if os.environ["RANK"] == "1" and len(calls) > 20:
                    raise Own("of mine")
                return decay(theta, noise)
            sagips.train(raising, None, BOX, **dict(SMALL, train={"epochs": 100000, "evaluate_every": 100000}))
            print("went on")
            ''')
        self.assertNotEqual(code, 0, out + error)
        self.assertNotIn("went on", out)
        self.assertEqual(error.count("Own: of mine"), 1, error)
        self.assertIn("in raising", error)
        self.assertEqual(self.unfinished(), [])

    def test_what_is_wrong_on_all_ranks_is_said_once(self):
        out, error, code = self.run_script('sagips.train(decay, None, BOX, **dict(SMALL, toys={"events": 3}))')
        self.assertNotEqual(code, 0)
        self.assertEqual(error.count("did you mean 'toy'"), 1, error)

    def test_ctrl_c_ends_all_with_a_state(self):
        process = self.start('''
            sagips.train(decay, None, BOX, **dict(SMALL, train={"epochs": 1000000, "evaluate_every": 1000}))
            print("went on")
            ''')
        metrics = os.path.join(self.scratch.name, "runs/custom/one/metrics.jsonl")
        deadline = time.monotonic() + 60
        while not os.path.exists(metrics) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
        self.assertNotEqual(process.returncode, 0, out + error)
        self.assertNotIn("went on", out)
        self.assertTrue(os.listdir(os.path.join(self.scratch.name, "runs/custom/one/checkpoints")), error)
        self.assertEqual(self.unfinished(), [])

    def test_studies_of_a_cell_share_their_work_out(self):
        out, error, code = self.run_script('''
            def named(settings, name):
                return dict(settings, run={**settings["run"], "name": name})
            one = sagips.closure(decay, BOX, closure={"experiments": 2, "method": "moments"},
                                 **dict(QUIET, toy={"events": 300}))
            two = sagips.ensemble(decay, None, BOX, ensemble={"members": 2}, **named(SMALL, "two"))
            three = sagips.tune(decay, None, BOX, tune={"space": {"optimizer.generator.learning_rate": (1e-4, 1e-2)},
                                "minimise": "ks_mean", "trials": 2}, **named(SMALL, "three"))
            def trial(t):
                t.report(t["x"] ** 2)
                return t["x"] ** 2
            four = sagips.tune(trial, tune={"space": {"x": (-1.0, 1.0)}, "trials": 4}, **named(QUIET, "four"))
            if RANK == 0:
                print("complete", [run.complete for run in (one, two, three, four)], len(four.table("trials.csv")),
                      flush=True)
            ''')
        self.assertEqual(code, 0, out + error)
        self.assertIn("complete [True, True, True, True] 4", out, error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
