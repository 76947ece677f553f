"""Loaded by Python's site module in the processes of `symtape record --deep`.

Takes its own folder off sys.path again, so that the program sees the path that it would have had,
loads the recorder when torch is about to be imported, and then the sitecustomize that would have
been loaded in its place, if there is one.
"""
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _folder or not p]


def _load_recorder():
    import importlib.util
    path = os.path.join(_folder, "_symtape_recorder", "__init__.py")
    spec = importlib.util.spec_from_file_location(
        "_symtape_recorder", path, submodule_search_locations=[os.path.dirname(path)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["_symtape_recorder"] = module
    spec.loader.exec_module(module)
    module.start()
    return module.imports


class _Finder:
    """Sees that torch is about to be imported, and lets the recorder find it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "torch":
            sys.meta_path[:] = [f for f in sys.meta_path if f is not _Finder]
            try:
                spec = _load_recorder().find_spec(name, path, target)
                if spec is not None:  # this Python has torch
                    _name_python()
                return spec
            except Exception as error:  # never the program's trouble
                _complain(error)
        return None


def _name_python():
    """Writes the path of this Python, for `symtape minify`, which asks the same PyTorch later; the first process does."""
    try:
        out = os.open(os.path.join(os.environ["SYMTAPE_DEEP_FOLDER"], "python.txt"),
                      os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(out, os.fsencode(sys.executable or ""))
        finally:
            os.close(out)
    except Exception:  # another process was first, or the folder is gone
        pass


def _tell_environment():
    """With --redact: what the program puts into its environment is replaced in the tape."""
    folder = os.environ["SYMTAPE_DEEP_FOLDER"]

    def hook(event, args):
        if event != "os.putenv":
            return
        try:
            out = os.open(os.path.join(folder, f"environment-{os.getpid()}"),
                          os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(out, os.fsencode(args[0]) + b"=" + os.fsencode(args[1]) + b"\0")
            finally:
                os.close(out)
        except Exception:  # never the program's trouble
            pass

    sys.addaudithook(hook)


def _complain(error):
    """Told by `symtape record` at the end, not in the midst of the program's output."""
    try:
        name = os.path.join(os.environ["SYMTAPE_DEEP_FOLDER"], f"deep-failed-{os.getpid()}.txt")
        with open(name, "w", encoding="utf-8") as out:
            out.write(f"{type(error).__name__}: {error}")
    except (OSError, KeyError):
        pass


def _load_users_own():
    """What site would have found without us."""
    import importlib.machinery
    import importlib.util
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


# A symtape record inside another has a folder of its own, and the other's comes here as the user's.
if os.path.dirname(_folder) == os.environ.get("SYMTAPE_DEEP_FOLDER"):
    sys.meta_path.insert(0, _Finder)
    if os.environ.get("SYMTAPE_DEEP_REDACT"):
        _tell_environment()
_load_users_own()
