"""Functions that `sagips.tune` calls in place of trainings: `def trial(t): ...; return loss`."""
import ctypes
import math
import os
import threading
import traceback

from . import references, stages
from .errors import ConfigError


class _End(BaseException):
    """Ends a trial that need not go on; `except Exception` of a user lets it pass."""


class Trial:
    """What a function gets: `t["rate"]` is the value of a key of `tune.space`."""

    def __init__(self, settings, seed, folder, report):
        self.settings = settings  #: by name
        self.seed = seed  #: another one for each of `tune.seeds`
        self.folder = folder  #: for its files; what an interrupted call of this trial has left is there
        self._report = report
        self._epoch = 0

    def __getitem__(self, name):
        if name not in self.settings:
            raise ConfigError(f"the trial has no '{name}'. Name it in tune.space, or take one of "
                              f"{', '.join(self.settings)}.")
        return self.settings[name]

    def report(self, value, epoch=None):
        """How good it is on the way. Does not return where the search ends this trial (`tune.early_end`).

        epoch: greater each time; None: one more.
        """
        self._epoch = self._epoch + 1 if epoch is None else float(epoch)
        if not self._report(_number(value, "report"), self._epoch):
            raise _End


def _number(value, who):
    try:
        if isinstance(value, str):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{who} gives a {type(value).__name__} ({str(value)[:50]}), and a number was "
                          "expected.") from None


def call(word, folder, settings, seed, place, report, stop):
    """The value of a function; None: it has been ended."""
    function = references.find(word, folder)
    trial = Trial({name: references.value_of(value) for name, _, value in (one.partition("=") for one in settings)}, seed, place,
                  report)
    over = threading.Event()

    def watch(thread):
        while not over.wait(0.1):
            if stop():  # nothing is lost: the trial is called again
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_End))
                return
    watcher = threading.Thread(target=watch, args=(threading.get_ident(),), daemon=True)
    try:
        watcher.start()
        try:
            value = function(trial)
        finally:
            over.set()
            watcher.join()
        return _number(value, getattr(function, "__name__", "the function"))
    except _End:
        return None
    except Exception:
        traceback.print_exc()  # for the log of the trial
        raise
    finally:
        trial._report = lambda *_: False


def problem_of(function, settings, folder):
    """Source and assignments of a search that calls a function. Its names are keys of `tune.space`."""
    tune = settings.get("tune")
    if not isinstance(tune, dict) or not tune.get("space"):
        raise ConfigError("tune.space is missing: say what trials differ in, as in "
                          "tune={\"space\": {\"rate\": {\"low\": 1e-4, \"high\": 1, \"log\": True}}}.")
    count = stages._positional(function)
    if count != 1:
        raise ConfigError(f"{getattr(function, '__name__', type(function).__name__)} takes {count} arguments. A function "
                          "that is searched takes a trial alone.")
    word, place = references.word_of(function, os.path.join(folder, "functions"))
    assignments = {"objective": word, "folder": place}
    if not tune.get("minimise") and not tune.get("maximise"):
        assignments["tune.minimise"] = "value"
    return "objective", assignments


def space_of(space):
    """`tune.space` as a config has it, of a dictionary by key: a range (low, high), a list of values, or what a config
    says of a key."""
    if not isinstance(space, dict):
        return space
    return [{"key": name, **_dimension(name, one)} for name, one in space.items()]


def _dimension(name, given):
    if isinstance(given, dict):
        return given
    if isinstance(given, tuple) and len(given) == 2 and all(
            isinstance(end, (int, float)) and math.isfinite(end) for end in given):
        return {"low": given[0], "high": given[1], "integer": all(isinstance(end, int) for end in given)}
    if isinstance(given, list) and given:
        return {"values": given}
    raise ConfigError(f"tune.space: '{name}' is {given!r}. Give a range (low, high), a list of values, or "
                      "{\"low\": ..., \"high\": ..., \"log\": True}.")
