"""Processes of a test and all that they start."""
import glob
import os
import signal
import time

# Open MPI refuses root and more ranks than cores unless told.
ENVIRONMENT = dict(OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")

# Of a training: what moments and fits add at its start and end takes some seconds.
NETWORKS_ALONE = ["generator.start=random", "generator.finish=networks", "run.fit=false"]

SLOWDOWN = int(os.environ.get("SAGIPS_SLOWDOWN", "1"))  # of a build with a sanitizer


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
