"""Stands in for PyTorch where a program that symtape wrote is run in a test: takes every attribute,
call and operation, so that the program runs from its first line to its last. Like the real one it
has modules as attributes, with which a program could do harm."""
import builtins  # noqa: F401
import os  # noqa: F401
import subprocess  # noqa: F401
import sys
import types

__version__ = "2.13.0"
__path__ = []


class Anything:
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()

    def __call__(self, *args, **kwargs):
        for arg in args:
            if isinstance(arg, types.FunctionType) and arg.__name__ in ("f", "forward"):
                return lambda *inputs: arg(*inputs)
        return Anything()

    def __iter__(self):
        return iter([Anything()] * 3)

    def __int__(self):
        return 4
    __index__ = __int__

    def __bool__(self):
        return True

    def __getitem__(self, key):
        return Anything()

    def __len__(self):
        return 3


for _name in ("add sub mul truediv floordiv mod pow matmul and or xor lshift rshift radd rsub rmul rtruediv "
              "rfloordiv rmod rpow lt le gt ge neg pos invert").split():
    setattr(Anything, f"__{_name}__", lambda self, *others: Anything())


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Anything()


class Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Finder:
    """Every module below torch is there."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, Finder, is_package=True) if name.startswith("torch.") else None

    @staticmethod
    def create_module(spec):
        return Module(spec.name)

    @staticmethod
    def exec_module(module):
        pass


sys.meta_path.append(Finder)
