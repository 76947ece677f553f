"""A function that is called with other lengths, another scale and another mode, until its limit is reached; writes its calls.

TORCH_TRACE=FOLDER python sequence.py CALLS: the calls as JSON lines, in the format of symtape-cache(1).
"""
import json
import sys

import torch

torch._dynamo.config.recompile_limit = 4


def scale(x, k, options):
    if options["mode"] == "sum":
        x = x.sum(0)
    return x * k


compiled = torch.compile(scale, backend="aot_eager")
calls = open(sys.argv[1], "w", encoding="utf-8")


def describe(source, value):
    if isinstance(value, torch.Tensor):
        return {"source": source, "obj": id(value), "size": list(value.size()), "stride": list(value.stride()),
                "dtype": str(value.dtype), "device": str(value.device), "requires_grad": value.requires_grad}
    if isinstance(value, dict):
        return {"source": source, "type": "dict", "keys": list(value)}
    return {"source": source, "type": type(value).__name__, "value": value}


def call(number, x, k, mode):
    options = {"mode": mode}
    row = {"call": number, "function": "scale",
           "args": [describe("L['x']", x), describe("L['k']", k), describe("L['options']", options),
                    describe("L['options']['mode']", mode)],
           "mode": {"grad": torch.is_grad_enabled(), "inference": False, "autocast": None,
                    "default_dtype": str(torch.get_default_dtype()), "deterministic": False}}
    calls.write(json.dumps(row) + "\n")
    compiled(x, k, options)


SEQUENCE = [(4, 2, "sum"), (4, 2, "sum"), (6, 2, "sum"), (9, 2, "sum"), (9, 3, "sum"), (9, 5, "sum"), (9, 5, "keep"),
            (1, 5, "keep"), (1, 5, "sum"), (9, 5, "sum"), (9, 5, "keep"), (3, 7, "sum")]
for number, (rows, k, mode) in enumerate(SEQUENCE):
    call(number, torch.ones(rows, 8), k, mode)
