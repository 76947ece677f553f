"""The Python part of `symtape record --deep` and of symtape.record(deep=True): decides what is
wrapped, and renders what is written seldom. The C part, _symtape_deep, does what happens often, and
writes (trace/record/deep/agent.h).

A failure here must not be the program's: what cannot be wrapped is noted and left as it is.
"""
import atexit
import importlib.machinery
import importlib.util
import os
import sys


recorder = calls = imports = None  # of this process


def load_c_part(path):
    loader = importlib.machinery.ExtensionFileLoader("_symtape_deep", path)
    spec = importlib.util.spec_from_file_location("_symtape_deep", path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def is_free_threaded():
    return hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()


def start(level=None, folder=None, library=None):
    """Starts the recorders: the deep one, and that of calls. What is not given stands in the
    environment, where `symtape record` puts it. Modules that are imported already are wrapped at
    once, the others when they are imported."""
    global recorder, calls, imports
    if is_free_threaded():
        raise RuntimeError("a Python without the GIL is not supported")
    from _symtape_recorder import wrapping
    from _symtape_recorder.calls import Calls
    from _symtape_recorder.imports import Imports
    level = level or os.environ.get("SYMTAPE_DEEP")
    library = library or os.environ.get("SYMTAPE_DEEP_LIBRARY")
    c_part = None
    try:
        c_part = load_c_part(library) if library else None
    except ImportError:  # of another Python or C library
        if level:
            raise
    imports, calls = Imports(), Calls(c_part)
    if level:
        level = wrapping.LEVELS.index(level) if level in wrapping.LEVELS else wrapping.ALL
        recorder = wrapping.Recorder(c_part, level, folder or os.environ["SYMTAPE_DEEP_FOLDER"], calls)
        recorder.tell()
        imports.add(recorder)
        atexit.register(recorder.stop)
    imports.add(calls)
    imports.watch()
    return recorder
