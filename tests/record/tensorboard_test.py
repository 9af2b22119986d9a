#!/usr/bin/env python3
"""Reads with TensorBoard's own reader and with safetensors' what SAGIPS writes.

usage: tensorboard_test.py WRITER (the program that writes the files)
exit: 0 as expected, 1 not, 77 when the readers are not installed (tools/setup.sh tests)
"""
import os
import pathlib
import subprocess
import sys
import tempfile

CHECKS = pathlib.Path(__file__).resolve().parents[2] / ".venv-checks"
if CHECKS.is_dir() and pathlib.Path(sys.prefix).resolve() != CHECKS:
    os.execv(CHECKS / "bin/python", [str(CHECKS / "bin/python"), *sys.argv])

try:
    from safetensors.numpy import load_file
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh tests installs it into .venv-checks)")
    sys.exit(77)


def main(writer):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([writer, folder], check=True)
        events = EventAccumulator(folder, size_guidance={"scalars": 0})
        events.Reload()
        tags = set(events.Tags()["scalars"])
        expected = {"loss/generator", "time/events_per_second", "time/training_s", "parameter/a_u",
                    "spread/a_u", "residual/a_u", "distance/energy"}
        assert tags == expected, f"tags {sorted(tags)}"
        of_rows = EventAccumulator(folder + "/rows")
        of_rows.Reload()
        tags = set(of_rows.Tags()["scalars"])
        times = {f"time/{part}_s" for part in ("compute", "exchange", "idle", "update", "loading", "other", "evaluation")}
        machine = {f"machine/{what}" for what in ("cores", "memory_mb", "received_mb_per_s", "sent_mb_per_s", "gpu_percent")}
        assert tags == {"loss/loss", "time/rows_per_second", "time/training_s", "metric/accuracy", *times, *machine}, \
            f"tags {sorted(tags)}"
        assert [event.value for event in of_rows.Scalars("time/compute_s")] == [2], "seconds"
        losses = [(event.step, event.value) for event in events.Scalars("loss/generator")]
        # what the first file held from epoch 4 on is dropped: each epoch once, in order
        assert losses == [(step, 1.0 if step < 4 else 2.0) for step in range(1, 301)], losses[:8]
        residuals = [(event.step, event.value) for event in events.Scalars("residual/a_u")]
        assert residuals == [(300, 0.125)], residuals
        times = [event.wall_time for event in events.Scalars("loss/generator")]
        assert all(a <= b for a, b in zip(times, times[1:])), "wall times run backwards"

        snapshot = load_file(next(pathlib.Path(folder).glob("*.safetensors")))
        assert snapshot["predictions"].tolist() == [[1, 2], [3, 4], [5, 6]], snapshot
    print("TensorBoard and safetensors read what was written")


if __name__ == "__main__":
    main(sys.argv[1])
