"""A simulator for SAGIPS in NumPy that chooses: each event is a decay, or background that is flat up to 20 us.

No gradient belongs to such a choice, so `sagips solve` takes differences; it finds for itself how long their steps must
be.
"""
import numpy as np
from sagips_serve import serve


def events(parameters, noise):
    """[samples, 2] (lifetime, fraction), [samples, events, 2] -> times [samples, events, 1]"""
    lifetime, fraction = parameters[:, None, 0], parameters[:, None, 1]
    is_background = noise[:, :, 0] < fraction
    time = np.where(is_background, 20 * noise[:, :, 1], -lifetime * np.log(noise[:, :, 1]))
    return time[:, :, None]


serve(events)
