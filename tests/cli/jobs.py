"""Processes of a test and all that they start."""
import glob
import os
import signal
import time
import unittest

# Open MPI refuses root and more ranks than cores unless told.
ENVIRONMENT = dict(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")

# Of a training: what moments and fits add at its start and end takes some seconds.
NETWORKS_ALONE = ["generator.start=random", "generator.finish=networks", "run.fit=false"]

# A small calorimeter GAN; a test adds what it trains.
SHOWERS = """\
workload: calorimeter3d
threads: 1
data: {shape: [9, 9, 8], cell_mm: 10, layer_mm: 10, layer_radiation_lengths: 2, rows: 300, validation_rows: 30}
generator:
  noise: 6
  layers: [{dense: 64, activation: relu}, {dense: 648, activation: relu}, {reshape: [1, 9, 9, 8]}]
discriminator: {layers: [{flatten: {}}, {dense: 16, activation: leaky_relu}]}
batch: 20
"""

SLOWDOWN = int(os.environ.get("SAGIPS_SLOWDOWN", "1"))  # of a build with a sanitizer
IS_LONG = "SAGIPS_LONG_TESTS" in os.environ  # in `make test-long`
in_long_tests = unittest.skipIf(not IS_LONG, "one of the long tests")


def alive_in_session(session):
    """Those that have not ended; who is a zombie has."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                state, _, _, of_process = file.read().rsplit(") ", 1)[1].split()[:4]
        except OSError:
            continue
        if int(of_process) == session and state not in "ZX":
            found.append(int(path.split("/")[2]))
    return found


def kill_session(job):
    """A process that was started with start_new_session, a launcher's ranks included, at once."""
    while True:
        left = alive_in_session(job.pid)
        if not left:
            break
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.005)
    if job.stdout.closed:  # its end has been waited for before
        return ""
    return job.communicate()[0]


def without_times(value):
    """A results file without what a clock says."""
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items()
                if not key.endswith("_s") and key not in ("analysis_rate", "memory_mb")}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


def check_that_a_study_goes_on(test, arguments, first, second):
    """Of a test with `start` and `run_command`: told to stop once the member `second` has begun, the same command
    goes on, and does not train `first` again."""
    job = test.start(arguments)
    results = first + "/results.json"
    deadline = time.monotonic() + 120
    while not os.path.exists(second + "/config.yaml") and time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.01)
    job.send_signal(signal.SIGTERM)
    output, _ = job.communicate(timeout=120)
    test.assertEqual(job.returncode, 3, output)
    test.assertRegex(output, r"\nstopped: \d+ of \d+ trainings are missing; the same command goes on\n")
    written = os.stat(results).st_mtime_ns
    code, output = test.run_command(*arguments)
    test.assertEqual(code, 0, output)
    test.assertIn("going on with ", output)
    test.assertEqual(os.stat(results).st_mtime_ns, written, "what was done is not done again")
