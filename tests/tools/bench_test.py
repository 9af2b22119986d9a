"""Benchmarks measure what can be measured where PyTorch is missing, and say in one line what is left out."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
PROGRAM = f"""#!{sys.executable}
import os, sys
if '--steps' in sys.argv:  # under a launcher
    if os.environ.get('OMPI_COMM_WORLD_RANK', '0') == '0':
        print('{{"seconds": 0.25, "weights": 7}}')
    sys.exit()
print('ready {{"weights": 7, "batch": 5, "rows": 9, "resident_mb": 1, "peak_MB": 1}}', flush=True)
for line in sys.stdin:
    print('{{"seconds": 0.5, "peak_mb": 2}}', flush=True)
"""


def launcher():
    """What mpirun says of itself; empty: there is none."""
    if not shutil.which("mpirun"):
        return ""
    return subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout


class WithoutPyTorch(unittest.TestCase):
    def measured(self, script, *options):
        """What a script prints, with a program in place of ours and an interpreter without any package."""
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch, "program")
            program.write_text(PROGRAM)
            program.chmod(0o755)
            empty = pathlib.Path(scratch, "python")
            empty.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
            empty.chmod(0o755)
            done = subprocess.run([sys.executable, BENCH / script, "--program", program, "--python", empty, "--out", scratch,
                                   "--turns", "1", *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(script.removesuffix(".py") + ":")]
        self.assertEqual(len([line for line in said if "PyTorch" in line or "h5py" in line]), 1, said)
        return done.stdout

    def test_epochs_and_steps_are_measured_alone(self):
        self.assertRegex(self.measured("learning_bench.py", "--networks", "fashion", "--threads", "1"), r"sagips +500\.00")
        self.assertRegex(self.measured("epoch_bench.py", "--samples", "10", "--threads", "1"), r"sagips +0\.5")

    @unittest.skipUnless("Open MPI" in launcher(), "there is no mpirun of Open MPI")
    def test_ranks_are_measured_alone(self):
        said = self.measured("learning_bench.py", "--networks", "fashion", "--ranks", "2", "--steps", "9")
        self.assertRegex(said, r"sagips, each rank alone +250\.000 +1\.00")
        self.assertRegex(said, r"sagips, auto +250\.000 +1\.00")

    def test_rows_of_hdf5_are_left_out_or_measured_alone(self):
        self.assertRegex(self.measured("rows_bench.py"), r"left out|sagips +200")


if __name__ == "__main__":
    unittest.main()
