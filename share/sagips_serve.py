"""Lets a Python function be a simulator of SAGIPS.

    from sagips_serve import serve

    def events(parameters, noise):
        '''[samples, parameters], [samples, events, dimensions] -> [samples, events, observables]'''
        return parameters[:, None, :1] * -numpy.log(noise[:, :, :1])

    serve(events)

The function takes what its arguments name:

    parameters  [samples, parameters], physical units; behind other stages what these give
    noise       [samples, events, dimensions], uniform in (0, 1): `noise_dimensions` in the config
    seeds       [samples], whole numbers for random numbers of its own: `seeds: true` in the config
    events      how many events of each sample are asked for
    slope       of a gradient alone: d loss / d values, shaped like the values

It returns the values, or a dictionary: `values`, and `mask`, `weights` or `counts` where the detector
loses or weighs events. What it prints goes to standard error, and an exception ends the run with its
text. NumPy is all that this file needs; copy it wherever it helps.
"""
import inspect
import os
import sys
import traceback

import numpy

KNOWN = ("parameters", "noise", "seeds", "events", "slope")


def _arguments(function, allowed):
    names = list(inspect.signature(function).parameters)
    unknown = [name for name in names if name not in allowed]
    if unknown:
        raise TypeError(f"{function.__name__} takes '{unknown[0]}', known are {', '.join(allowed)}")
    return names


def _call(function, names, folder, events):
    files = {"parameters": "input", "noise": "noise", "seeds": "seeds", "slope": "slope"}
    given = {}
    for name in names:
        if name == "events":
            given[name] = events
            continue
        path = os.path.join(folder, files[name] + ".npy")
        if not os.path.exists(path):
            option = {"noise": "noise_dimensions: 1", "seeds": "seeds: true"}.get(name, name)
            raise TypeError(f"{function.__name__} takes {name}; write {option} beside `process` in the config")
        given[name] = numpy.load(path)
    return function(**given)


def _save(folder, answer, values_name):
    arrays = answer if isinstance(answer, dict) else {"values": answer}
    unknown = sorted(set(arrays) - {"values", "mask", "weights", "counts"})
    if unknown or "values" not in arrays:
        raise TypeError(f"the dictionary has {unknown or 'no'} 'values'; known are values, mask, weights, counts")
    for name, array in arrays.items():
        if numpy.iscomplexobj(array):
            raise TypeError(f"{name} are complex; give their real parts")
        array = numpy.asarray(array, dtype=float)
        numpy.save(os.path.join(folder, (values_name if name == "values" else name) + ".npy"), array)


def serve(function, gradient=None):
    """Answers SAGIPS until it ends. gradient: the product of `slope` with the Jacobian, [samples, parameters]"""
    names = _arguments(function, KNOWN[:-1])
    gradient_names = _arguments(gradient, KNOWN) if gradient else []
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the function prints is no answer
    sys.stdout = sys.stderr
    folder = ""
    for line in sys.stdin:
        verb, number, rest = line.rstrip("\n").split(" ", 2)
        if verb == "hello":
            folder = rest
            print("hello 1", file=answers)
            continue
        try:
            events = int(rest.split(" ")[1])
            if verb == "events":
                _save(folder, _call(function, names, folder, events), "output")
            elif gradient:
                _save(folder, _call(gradient, gradient_names, folder, events), "gradient")
            else:
                raise TypeError("there is no gradient; leave gradient: true away, or pass serve(..., gradient=...)")
            print("done", number, file=answers)
        except Exception as problem:  # SAGIPS shows it in its one line
            traceback.print_exc()
            text = " ".join(str(problem).split())
            print(f"error {type(problem).__name__}: {text}", file=answers)
