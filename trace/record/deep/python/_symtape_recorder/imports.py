"""Sees modules of PyTorch when they are imported, so that the recorders can wrap what is in them."""
import importlib.machinery
import sys
import types


class Imports:
    """Calls hooks with a module once it has been executed."""

    def __init__(self):
        self.hooks = {}  # module name -> [(hook, recorder), ...]

    def add(self, recorder):
        """Adds recorder.hooks: module name -> functions. recorder.failed(what, why) is told what
        could not be hooked."""
        for name, hooks in recorder.hooks.items():
            self.hooks.setdefault(name, []).extend((hook, recorder) for hook in hooks)

    def watch(self):
        """Modules that are imported already are hooked at once."""
        for name in [n for n in self.hooks if is_imported(n)]:
            self.run(self.hooks.pop(name), sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        """The module is found as it would be; its hooks run when it has been executed."""
        hooks = self.hooks.pop(name, None)
        if not hooks:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.run(hooks, module)

        try:
            spec.loader.exec_module = exec_module
        except AttributeError:
            for _, recorder in hooks:
                recorder.failed(name, "its loader cannot be watched")
        return spec

    def run(self, hooks, module):
        for hook, recorder in hooks:
            try:
                hook(module)
            except Exception as error:
                recorder.failed(module.__name__, f"{type(error).__name__}: {error}")
            recorder.hooked()


def is_imported(name):
    """Whether a module has been imported, and not only begun."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def code_objects(module):
    """Every code object of a module: functions, methods, and the functions inside them."""
    found = []

    def add(code):
        found.append(code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                add(constant)

    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else (value,)
        for member in members:
            if isinstance(member, types.FunctionType) and member.__module__ == module.__name__:
                add(member.__code__)
    return found
