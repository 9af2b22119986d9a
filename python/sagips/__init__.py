"""SAGIPS: the parameters behind measured events, and networks trained on many ranks.

    import numpy as np, sagips, torch

    def decay(theta, noise):  # [samples, 1] -> times [samples, events], smeared by a clock of 0.3 us
        return theta * -torch.log(noise.uniform()) + 0.3 * noise.normal()

    result = sagips.solve(decay, np.load("times.npy"), sagips.Box(lifetime=(0.1, 5, "us")))
    result.parameters["lifetime"]           # value, error, limits

Settings are those of the program, by their names: `sagips.train("proxy1d", train={"epochs": 500})` is
`sagips train proxy1d train.epochs=500`. `sagips.settings("proxy1d")` lists them; editors complete them.

Find parameters: `solve` without a network, `train` with one, `fit` by maximum likelihood, `compare` several ways.
Repeat it: `ensemble` for errors, `closure` to test these, `tune` for the best settings, `scaling`, `convergence` and
`simulate` for many ranks. Around it: `check` looks without running, `generate` writes toy events, `predict` asks
trained networks, `report` writes a page, `load` opens a folder, `run` is the program itself.

A pipeline is a function of torch tensors, or one marked with `numpy`, `jax` or `simulator`; `Box` says where its
parameters may lie. What comes back is a `Run`; what goes wrong raises `Error`.
"""
try:
    import torch as _torch
except ImportError as _missing:
    raise ImportError("sagips needs PyTorch, which cannot be imported here (" + str(_missing) + "). "
                      "pip install torch") from None


def _load():
    try:
        from . import _sagips
    except ImportError as problem:
        raise ImportError(f"sagips cannot be loaded beside torch {_torch.__version__} ({problem}). It works with the "
                          "torch that it was built with: install sagips again after torch.") from None
    built, here = (version.split("+")[0].split(".")[:2] for version in (_sagips.torch_version, _torch.__version__))
    if built != here:
        raise ImportError(f"sagips was built with torch {_sagips.torch_version}, and this is torch "
                          f"{_torch.__version__} (tensors of one are no tensors of the other). Install sagips again, "
                          f"or torch {'.'.join(built)}.")


_load()
from . import _sagips  # noqa: E402
__version__ = _sagips.version

from ._sagips import Noise  # noqa: E402
from ._settings import Settings  # noqa: E402
from .commands import (check, closure, compare, convergence, ensemble, fit, generate, predict,  # noqa: E402
                       report, run, scaling, settings, simulate, solve, train, tune)
from .errors import ConfigError, DataError, Error, ShapeError, StorageError  # noqa: E402
from .nnlo import nnlo  # noqa: E402
from .functions import loss  # noqa: E402
from .problems import Box  # noqa: E402
from .results import Parameter, Predictions, Run, load  # noqa: E402
from .stages import jax, numpy, simulator  # noqa: E402

__all__ = ["Box", "ConfigError", "DataError", "Error", "Noise", "Parameter", "Predictions", "Run", "Settings",
           "ShapeError", "StorageError", "check", "closure", "compare", "convergence", "ensemble", "fit", "generate",
           "jax", "load", "loss", "nnlo", "numpy", "predict", "report", "run", "scaling", "settings", "simulate", "simulator", "solve",
           "train", "tune"]
