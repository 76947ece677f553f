#!/usr/bin/env python3
"""Microseconds a call of torch's FakeTensorProp on exported programs (.pt2), beside `symtape replay`
on the same programs in the same run: with the operator cache warm, and without it.

usage: fake_tensor_prop.py BENCH_REPLAY PROGRAM.pt2...        (a Python that has torch)"""
import json
import logging
import math
import subprocess
import sys
import time

import torch
from torch._subclasses import fake_tensor
from torch.fx.passes.fake_tensor_prop import FakeTensorProp

ROUNDS = 3


def placeholders(graph):
    return [node.meta["val"] for node in graph.nodes if node.op == "placeholder"]


def mode_of(values):
    return next(v.fake_mode for v in values if isinstance(v, fake_tensor.FakeTensor))


def calls_of(graph):
    return sum(node.op in ("call_function", "call_method", "call_module") for node in graph.nodes)


def propagate(module, values, mode):
    start = time.perf_counter()
    with torch.fx.experimental.symbolic_shapes._suppress_guards(mode.shape_env):
        FakeTensorProp(module, mode).propagate_dont_convert_inputs(*values)
    return time.perf_counter() - start


def measure(path):
    program = torch.export.load(path)
    module = program.graph_module
    values = placeholders(module.graph)
    mode = mode_of(values)
    seconds = {}
    for name, cache in (("cached", True), ("uncached", False)):
        mode.cache_enabled = cache
        propagate(module, values, mode)
        seconds[name] = min(propagate(module, values, mode) for _ in range(ROUNDS))
    return calls_of(module.graph), seconds


def main():
    bench, *paths = sys.argv[1:]
    logging.disable(logging.WARNING)
    out = subprocess.run([bench, "--json", *paths], stdout=subprocess.PIPE, check=False).stdout.decode()
    ours = {row["tape"]: row for row in map(json.loads, out.splitlines())}
    ratios = []
    for path in paths:
        row = ours.get(path)
        try:
            calls, seconds = measure(path)
        except Exception as error:  # noqa: BLE001: what torch cannot load or propagate is told
            print(f"{path}: {type(error).__name__}: {str(error).splitlines()[0][:100]}")
            continue
        if not row or not row["calls"]:
            continue
        cached, uncached = (seconds[k] / calls * 1e6 for k in ("cached", "uncached"))
        warm = row["warm_ns"] / row["calls"] / 1e3
        ratios.append(cached / warm)
        print(f"{path.rsplit('/', 1)[-1]:24} {calls:5} calls  FakeTensorProp {cached:7.1f} us a call, "
              f"{uncached:7.1f} without its cache  symtape {row['cold_ns'] / row['calls'] / 1e3:7.2f} us, "
              f"warm {warm:6.3f}  {cached / warm:6.0f} times")
    if ratios:
        print(f"geometric mean: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.0f} times")


main()
