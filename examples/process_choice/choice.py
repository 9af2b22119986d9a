"""A simulator for SAGIPS in NumPy that chooses: each event is a decay, or background that is flat up to 20 us.

No gradient belongs to such a choice, so `sagips solve` takes differences; it finds for itself how long their steps must
be. docs/guides/my_own_pipeline.md tells the protocol. Only answers go to standard output.
"""
import sys

import numpy as np


def events(parameters, noise):
    """[samples, 2] (lifetime, fraction), [samples, events, 2] -> times [samples, events, 1]"""
    lifetime, fraction = parameters[:, None, 0], parameters[:, None, 1]
    is_background = noise[:, :, 0] < fraction
    time = np.where(is_background, 20 * noise[:, :, 1], -lifetime * np.log(noise[:, :, 1]))
    return time[:, :, None]


def main():
    folder = ""
    for line in sys.stdin:
        verb, number, rest = line.rstrip("\n").split(" ", 2)
        if verb == "hello":
            folder = rest
            print("hello 1", flush=True)
            continue
        found = events(np.load(f"{folder}/input.npy"), np.load(f"{folder}/noise.npy"))
        np.save(f"{folder}/output.npy", found.astype(np.float32))
        print("done", number, flush=True)


if __name__ == "__main__":
    main()
