"""A simulator for SAGIPS in NumPy, with the product of a slope with its Jacobian written by hand.

SAGIPS starts it, writes requests to its standard input and arrays to a folder; docs/guides/my_own_pipeline.md tells
the protocol. Only answers go to standard output.
"""
import sys

import numpy as np


def events(lifetime, noise):
    """[samples, 1], [samples, events, 1] -> times of exponential decays [samples, events, 1]"""
    return lifetime[:, :, None] * -np.log(noise)


def product(noise, slope):
    """d (sum of slope * events) / d lifetime, [samples, 1]"""
    return np.sum(slope * -np.log(noise), axis=1)


def main():
    folder = ""
    for line in sys.stdin:
        verb, number, rest = line.rstrip("\n").split(" ", 2)
        if verb == "hello":
            folder = rest
            print("hello 1", flush=True)
            continue
        noise = np.load(f"{folder}/noise.npy")
        if verb == "events":
            np.save(f"{folder}/output.npy", events(np.load(f"{folder}/input.npy"), noise))
        else:
            np.save(f"{folder}/gradient.npy", product(noise, np.load(f"{folder}/slope.npy")))
        print("done", number, flush=True)


if __name__ == "__main__":
    main()
