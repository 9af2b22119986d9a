"""The program that trains among simulated ranks: its results repeat bit for bit, time included, also where ranks read
each other one-sidedly; and bad jobs end with one line and exit code 2."""
import json
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]

JOB = """
source: gaussians/many_ranks
assignments: [exchange=rma_arar_arar, train.epochs=10, train.evaluate_every=5, toy.events=2000{more}]
ranks: {ranks}
platform:
  description: two nodes
  topology: one_switch
  nodes: 2
  ranks_per_node: 4
  network: {{latency_s: 1e-6, bandwidth: 1e10}}
  loopback: {{latency_s: 1e-7, bandwidth: 5e10}}
scenario: {{compute_s: 1e-3, jitter: 0.3, straggler: 5, slowdown: 3}}
"""


def train(folder, name, ranks=8, more=""):
    job, result = folder / f"{name}.yaml", folder / f"{name}.json"
    job.write_text(JOB.format(ranks=ranks, more=more))
    done = subprocess.run([program, job, result], capture_output=True, text=True, timeout=100)
    return done, result


def test_repeats(folder):
    results = []
    for name in ("once", "again"):
        done, result = train(folder, name)
        assert done.returncode == 0, done.stderr
        results.append(result.read_text())
    assert results[0] == results[1]
    curve = json.loads(results[0])
    assert [point["epoch"] for point in curve["points"]] == [0, 5, 10]
    last = curve["points"][-1]
    assert curve["used"] > 0 and curve["age_maximum"] > 0, curve
    # the straggler takes some 3 ms an epoch, and its node does not wait for it
    assert last["last_s"] > 1.5 * last["time_s"] > 0, last
    assert last["mean"] != curve["points"][0]["mean"]


def test_refuses(folder):
    for more, word in ((", exchange=auto", "auto"), (", train.epochs=0", "epochs"), (", no.such=1", "no")):
        done, result = train(folder, "bad", more=more)
        assert done.returncode == 2, (more, done)
        assert word in done.stderr and done.stderr.count("\n") == 1, done.stderr
        assert not result.exists()
    done, _ = train(folder, "bad", ranks=9)  # eight places
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    done, _ = train(folder, "bad", ranks=5)  # rank 5 is the sixth
    assert done.returncode == 2 and "no rank 5 of 5" in done.stderr and done.stderr.count("\n") == 1, done
    done, _ = train(folder, "bad", more=", optimizer.overlap=one_update_late")  # the clock's is none
    assert done.returncode == 2 and "optimizer.overlap" in done.stderr and done.stderr.count("\n") == 1, done


with tempfile.TemporaryDirectory() as place:
    test_repeats(pathlib.Path(place))
    test_refuses(pathlib.Path(place))
