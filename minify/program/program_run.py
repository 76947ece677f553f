"""Runs the program whose path is the last argument as python PATH would, once program_check.py has
nothing against it. What was read is what is run. Exit code 125: refused, or PyTorch cannot be imported, with a line that says why."""


def run_program(path):
    import os
    import types
    os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    sys.path[:0] = [os.path.abspath(folder) for folder in SETUP["folders"]]  # noqa: F821
    with open(path, "rb") as file:
        source = file.read().decode("utf-8", "surrogateescape")
    why = refusal(source, NAMES)  # noqa: F821 (program_check.py stands in front of this)
    if why:
        print("refused: " + why)
        sys.exit(125)
    exec("\n".join(SETUP["env"]), {})  # noqa: F821
    try:
        import torch  # noqa: F401 (the program's own exit code would be that of an error)
    except Exception as error:
        print("PyTorch cannot be imported: %s: %s" % (type(error).__name__, error))
        sys.exit(125)
    sys.argv = [path]
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec"), module.__dict__)


run_program(sys.argv[1])
