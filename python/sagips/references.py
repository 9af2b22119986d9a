"""What a user wrote in Python, as a word in a config: "MODULE:NAME", "FOLDER/MODULE:NAME", or a file that keeps it.

A process that SAGIPS starts, or the same command tomorrow, finds the object by that word. In this process the object
itself serves.
"""
import functools
import hashlib
import importlib
import importlib.machinery
import io
import json
import os
import pickle
import sys
import tempfile
from typing import Any

import torch

from .errors import ConfigError, StorageError

_here: dict[tuple[str, str], Any] = {}  # objects of this process by their words and the folders of their modules


def write_once(path, content):
    """Writes a file that is there whole or not at all; several ranks may do so at a time."""
    if os.path.exists(path):
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
            file.write(content)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as problem:
        raise StorageError(f"{path}: cannot be written ({problem.strerror}). Name another run.folder.") from None


def _module_folder(module):
    """Where Python finds the module, or its package."""
    path = os.path.abspath(module.__file__)
    for _ in range(module.__name__.count(".") + (os.path.basename(path) == "__init__.py")):
        path = os.path.dirname(path)
    return os.path.dirname(path)


def value_of(word):
    """A word of a config as Python has it: a number, true or false, a list, else the word."""
    try:
        return json.loads(word)
    except ValueError:
        return word


def digest(content):
    """By which what is kept is named."""
    return hashlib.sha256(content).hexdigest()[:16]


def _content_of(thing):
    """An object as bytes that are the same on each rank and at each start."""
    import cloudpickle

    keras = sys.modules.get("keras")
    kept = {}  # storages by where they lie, which hold them as long as the numbers are used

    class Pickler(cloudpickle.Pickler):
        def persistent_id(self, one):
            if type(one) in (set, frozenset):  # whose order differs from start to start
                return type(one).__name__, sorted(one, key=lambda each: (type(each).__name__, repr(each)))
            if isinstance(one, torch.storage.TypedStorage) and one.device.type == "cpu":  # PyTorch writes addresses
                numbers = one._untyped_storage
                is_new = numbers._cdata not in kept
                number, _ = kept.setdefault(numbers._cdata, (len(kept), numbers))
                content = torch.empty(0, dtype=torch.uint8).set_(numbers).numpy().tobytes() if is_new else None
                return "storage", (number, one.dtype, content)
            return None

        def reducer_override(self, one):
            if keras is not None and isinstance(one, keras.Model):  # Keras writes the time
                return _keras_model, (keras.saving.serialize_keras_object(one), one.get_weights())
            return super().reducer_override(one)
    file = io.BytesIO()
    Pickler(file).dump(thing)
    content = file.getvalue()
    # A class of a script has a random name at each start; here its content names it.
    random = [name.encode() for name in cloudpickle.cloudpickle._DYNAMIC_CLASS_TRACKER_BY_CLASS.values()]
    places = sorted((content.index(name), name) for name in random if name in content)
    plain = [b"%032x" % number for number in range(len(places))]
    for (_, name), other in zip(places, plain):
        content = content.replace(name, other)
    whole = digest(content)
    for number, other in enumerate(plain):
        content = content.replace(other, hashlib.sha256(f"{whole} {number}".encode()).hexdigest()[:32].encode())
    return content


def _keras_model(config, weights):
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import keras
    model = keras.saving.deserialize_keras_object(config)
    model.set_weights(weights)
    return model


class _Unpickler(pickle.Unpickler):
    def __init__(self, content):
        super().__init__(io.BytesIO(content))
        self.storages = {}

    def persistent_load(self, kept):
        kind, items = kept
        if kind != "storage":
            return {"set": set, "frozenset": frozenset}[kind](items)
        number, dtype, content = items
        if content is not None:
            self.storages[number] = torch.frombuffer(bytearray(content), dtype=torch.uint8).untyped_storage() \
                if content else torch.UntypedStorage(0)
        return torch.storage.TypedStorage(wrap_storage=self.storages[number], dtype=dtype, _internal=True)


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
            word, place = f"{module}:{name}", _module_folder(known)
            _here[word, place] = thing  # after a reload the newer one
            return word, place
    try:
        content = pickle.dumps((_own_folders(), _content_of(thing)))
    except Exception as problem:
        raise ConfigError(f"{name or type(thing).__name__} cannot be kept for processes that need it "
                          f"({type(problem).__name__}: {problem}). Define it in a module, or let it make what cannot "
                          "be pickled when it is called.") from None
    path = os.path.abspath(os.path.join(folder, digest(content) + ".pickle"))
    write_once(path, content)
    if not isinstance(thing, torch.nn.Module):  # whose weights may change
        _here[path, ""] = thing
    return path, ""


def _is_installed(folder):
    return "site-packages" in folder or (folder + os.sep).startswith(os.path.join(sys.base_prefix, "lib", ""))


def _own_folders():
    """Where Python looks for modules beside those that are installed: classes of what is kept may be from there."""
    folders = [os.path.abspath(place) for place in sys.path]
    return [place for place in folders if os.path.isdir(place) and not _is_installed(place)]


def path_word(thing, folder):
    """The word of an object with the folder of its module in it."""
    word, place = word_of(thing, folder)
    return word if _is_installed(place) else os.path.join(place, word)


def find(word, folder=""):
    """The object of a word. folder: where its module is looked for, too. "MODULE:NAME(a=1)" is that function with
    arguments."""
    if word.endswith(")"):
        word, _, given = word[:-1].rpartition("(")
        arguments = {name.strip(): json.loads(value) for name, _, value in
                     (one.partition("=") for one in given.split(","))}
        return functools.partial(find(word, folder), **arguments)
    if word.endswith(".pickle"):
        folder = ""
    elif os.path.dirname(word):
        folder, word = os.path.split(word)
    if (word, folder) in _here:
        return _here[word, folder]
    if word.endswith(".pickle"):
        try:
            with open(word, "rb") as file:
                content = file.read()
        except OSError as problem:
            raise ConfigError(f"{word}: cannot be read ({problem.strerror}). It keeps a function of the Python program "
                              "that began this run; run that program again.") from None
        if digest(content) != os.path.basename(word)[:-len(".pickle")]:
            raise ConfigError(f"{word}: is not the file that SAGIPS wrote (its name is a sum of its content).")
        folders, content = pickle.loads(content)
        sys.path += [place for place in folders if place not in sys.path]
        thing = _Unpickler(content).load()
    else:
        module, _, name = word.partition(":")
        if not module or not name:
            raise ConfigError(f"'{word}' names no Python function. Write MODULE:FUNCTION, as in "
                              "{python: \"decays:decay\"}.")
        if folder and folder not in sys.path:
            sys.path.append(folder)
        try:
            thing = importlib.import_module(module)
        except ModuleNotFoundError as problem:
            if problem.name and (module == problem.name or module.startswith(problem.name + ".")):
                raise ConfigError(f"there is no Python module '{module}' in {folder or os.getcwd()} or where Python "
                                  "looks (PYTHONPATH).") from None
            raise
        top = module.partition(".")[0]
        there = importlib.machinery.PathFinder.find_spec(top, [folder]) if folder else None
        loaded = getattr(sys.modules[top], "__file__", None)
        if there and there.has_location and loaded and not os.path.samefile(there.origin, loaded):
            raise ConfigError(f"{word}: {there.origin} is asked for, and Python has loaded {loaded} under the same name. "
                              "Give one of them another name.")
        for part in name.split("."):
            if not hasattr(thing, part):
                raise ConfigError(f"the Python module '{module}' has no '{name}'.")
            thing = getattr(thing, part)
    _here[word, folder] = thing
    return thing
