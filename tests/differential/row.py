"""Rows of the operator recordings: one ATen call with PyTorch's answer, as JSON.

A tensor is {"t": dtype, "device", "size", "stride", "offset", "storage"}, with "v" (base64 of its
values) where they are known; numbers of symbolic shapes are {"symint": text} and so on. Equal
storage numbers within a row alias. conform_ops reads these.
"""
import base64

import torch
from torch.utils._pytree import tree_map

SMALL = 64  # elements whose values are written


def dim(x):
    return x if isinstance(x, int) else str(x.node.expr)


class Row:
    """Encodes the values of one call; storages are numbered in the order of their appearance."""

    def __init__(self, values):
        self.storages = {}
        self.values = values
        self.symbols = set()

    def number(self, kind, value):
        self.symbols |= value.node.expr.free_symbols
        return {kind: str(value.node.expr)}

    def sizes(self, sizes):
        for size in sizes:
            if isinstance(size, torch.SymInt):
                self.symbols |= size.node.expr.free_symbols
        return [dim(size) for size in sizes]

    def tensor(self, x):
        said = {"t": str(x.dtype).removeprefix("torch."), "device": str(x.device),
                "size": self.sizes(x.shape)}
        if x.layout is not torch.strided:
            return said | {"layout": str(x.layout)}
        key = x.untyped_storage()._cdata
        said |= {"stride": self.sizes(x.stride()), "offset": self.sizes([x.storage_offset()])[0],
                 "storage": self.storages.setdefault(key, len(self.storages))}
        if x.is_conj():
            said["conj"] = True
        elif self.values and x.numel() <= SMALL and not x.is_neg():
            flat = x.detach().contiguous().flatten()
            raw = bytes(flat.view(torch.uint8).tolist()) if flat.numel() else b""
            said["v"] = base64.b64encode(raw).decode()
        return said

    def value(self, x):
        if isinstance(x, torch.Tensor):
            return self.tensor(x)
        for kind, type_ in (("symint", torch.SymInt), ("symfloat", torch.SymFloat),
                            ("symbool", torch.SymBool)):
            if isinstance(x, type_):
                return self.number(kind, x)
        if x is None or isinstance(x, (bool, int, str)):
            return x
        if isinstance(x, float):
            return {"float": repr(x)}
        if isinstance(x, complex):
            return {"complex": [repr(x.real), repr(x.imag)]}
        for kind, type_ in (("dtype", torch.dtype), ("memory_format", torch.memory_format),
                            ("layout", torch.layout)):
            if isinstance(x, type_):
                return {kind: str(x).removeprefix("torch.")}
        if isinstance(x, torch.device):
            return {"device": str(x)}
        if isinstance(x, (list, tuple)):
            return [self.value(y) for y in x]
        return {"other": type(x).__name__}


def only_meta(func):
    """Operators whose values are random or uninitialised."""
    return (torch.Tag.nondeterministic_seeded in func.tags or "empty" in str(func)
            or "resize" in str(func))


def is_in_place(func):
    return any(a.alias_info is not None and a.alias_info.is_write
               for a in func._schema.arguments)


def describe(func, args, kwargs, values):
    """The row before the call, with its encoder."""
    row = Row(values)
    said = {"op": str(func), "args": [row.value(x) for x in args],
            "kwargs": {k: row.value(v) for k, v in kwargs.items()},
            "tags": sorted(tag.name for tag in func.tags)}
    if only_meta(func):
        said["unspecified_values"] = True
    return row, said


def symbols_of(env, symbols, said):
    """What the environment knows of the symbols that a row uses, given guards' ones too."""
    names = sorted(symbols, key=str)
    said["hints"] = {str(s): int(env.backed_var_to_val[s]) for s in names
                     if s in env.backed_var_to_val}
    said["ranges"] = {str(s): str(env.var_to_range[s]) for s in names if s in env.var_to_range}
    said["replaced"] = {str(s): str(env.replacements[s]) for s in names if s in env.replacements}


__all__ = ["Row", "describe", "is_in_place", "symbols_of", "tree_map"]
