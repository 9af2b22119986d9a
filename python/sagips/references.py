"""What a user wrote in Python, as a word in a config: "MODULE:NAME", or a file that keeps it.

A process that SAGIPS starts, or the same command tomorrow, finds the object by that word. In this process the object
itself serves.
"""
import hashlib
import importlib
import os
import pickle
import sys

from .errors import ConfigError

_here = {}  # objects of this process by their words


def _module_folder(module):
    """Where Python finds the module, or its package."""
    path = os.path.abspath(module.__file__)
    for _ in range(module.__name__.count(".") + (os.path.basename(path) == "__init__.py")):
        path = os.path.dirname(path)
    return os.path.dirname(path)


def word_of(thing, folder):
    """The word of an object, and the folder in which Python finds its module. Where it has no name that a process
    could import, it is kept in a file in `folder`."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    known = sys.modules.get(module) if module and module != "__main__" else None
    if known is not None and name and "<" not in name and getattr(known, "__file__", None):
        found = known
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is thing:
            return f"{module}:{name}", _module_folder(known)
    import cloudpickle
    try:
        content = cloudpickle.dumps(thing)
    except Exception as problem:
        raise ConfigError(f"{name or type(thing).__name__} cannot be kept for processes that need it "
                          f"({type(problem).__name__}: {problem}). Define it in a module, or let it make what cannot "
                          "be pickled when it is called.") from None
    path = os.path.abspath(os.path.join(folder, hashlib.sha256(content).hexdigest()[:16] + ".pickle"))
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.replace(path + ".new", path)
    _here[path] = thing
    return path, ""


def find(word, folder=""):
    """The object of a word. folder: where its module is looked for, too."""
    if word in _here:
        return _here[word]
    if word.endswith(".pickle"):
        try:
            with open(word, "rb") as file:
                thing = pickle.load(file)
        except OSError as problem:
            raise ConfigError(f"{word}: cannot be read ({problem.strerror}). It keeps a function of the Python program "
                              "that began this run; run that program again.") from None
    else:
        module, _, name = word.partition(":")
        if not module or not name:
            raise ConfigError(f"'{word}' names no Python function. Write MODULE:FUNCTION, as in "
                              "{python: \"decays:decay\"}.")
        if folder and folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            thing = importlib.import_module(module)
        except ModuleNotFoundError as problem:
            if problem.name and (module == problem.name or module.startswith(problem.name + ".")):
                raise ConfigError(f"there is no Python module '{module}' in {folder or os.getcwd()} or where Python "
                                  "looks (PYTHONPATH).") from None
            raise
        for part in name.split("."):
            if not hasattr(thing, part):
                raise ConfigError(f"the Python module '{module}' has no '{name}'.")
            thing = getattr(thing, part)
    _here[word] = thing
    return thing
