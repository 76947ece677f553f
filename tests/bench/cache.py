#!/usr/bin/env python3
"""Reads long lists of calls and replays Dynamo's caches over them: one code object with many entries of many guards, and calls
in several orders. Prints; asserts nothing.

usage: cache.py BENCH_CALLS [--calls N] [--entries N] [--guards N]
"""
import argparse
import json
import pathlib
import random
import subprocess
import tempfile

MODE = {"grad": True, "inference": False, "autocast": None, "default_dtype": "torch.float32", "deterministic": False}


def tree(rows, guards):
    """A module with many linear layers, of which four guards a layer, and an input of this size."""
    comment = "  # return self.layers(x)  # train.py:12 in forward"
    lines = ["", "TREE_GUARD_MANAGER:", "+- RootGuardManager",
             "| +- DEFAULT_DEVICE: utils_device.CURRENT_DEVICE == None" + comment,
             "| +- GLOBAL_STATE: ___check_global_state()",
             "| +- GuardManager: source=L['self'], accessed_by=FrameLocalsGuardAccessor(key='self', framelocals_idx=0)",
             "| | +- TYPE_MATCH: ___check_type_id(L['self'], 94), type=<class '__main__.Net'>" + comment]
    for i in range((guards - 12) // 4):
        layer = f"L['self']._modules['layer{i}']"
        lines += [f"| | +- GuardManager: source={layer}, accessed_by=DictGetItemGuardAccessor('layer{i}')",
                  f"| | | +- TYPE_MATCH: ___check_type_id({layer}, 97), type=<class 'torch.nn.modules.linear.Linear'>" + comment,
                  f"| | | +- EQUALS_MATCH: {layer}.in_features == 16" + comment,
                  f"| | | +- DICT_CONTAINS: not ___dict_contains('forward', {layer}.__dict__)" + comment,
                  f"| | | +- GuardManager: source={layer}.weight, accessed_by=DictGetItemGuardAccessor('weight')",
                  f"| | | | +- TENSOR_MATCH: check_tensor({layer}.weight, Parameter, DispatchKeySet(CPU, BackendSelect, "
                  "ADInplaceOrView, AutogradCPU), torch.float32, device=None, requires_grad=True, size=[16, 16], "
                  "stride=[16, 1])" + comment]
    lines += ["| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x', framelocals_idx=1)",
              "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, "
              f"AutogradCPU), torch.float32, device=None, requires_grad=False, size=[{rows}, 16], stride=[16, 1])" + comment]
    lines += [f"| | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['x'], '_dynamo_{kind}_indices') == False" + comment
              for kind in ("dynamic", "weak_dynamic", "unbacked", "strict_unbacked", "static")]
    lines += ["| +- GuardManager: source=L['y'], accessed_by=FrameLocalsGuardAccessor(key='y', framelocals_idx=2)",
              "| | +- TENSOR_MATCH: check_tensor(L['y'], Tensor, DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, "
              "AutogradCPU), torch.float32, device=None, requires_grad=False, size=[16], stride=[1])" + comment]
    return "\n".join(lines) + "\n\nGuard latency = 10.00 us\n"


def write_log(path, entries, guards):
    with open(path, "w", encoding="utf-8") as out:
        def put(event, compile_id, payload=None):
            record = {**event, "frame_id": 0, "frame_compile_id": compile_id, "attempt": 0}
            if payload is not None:
                record["has_payload"] = "0" * 32
            out.write(f"V1122 11:33:08.740000 1 torch/_dynamo/x.py:1] {json.dumps(record)}\n")
            for line in payload.splitlines() if payload is not None else ():
                out.write(f"\t{line}\n")
        for i in range(entries):
            if i:
                reasons = [f"0/{k}: tensor 'x' size mismatch at index 0. expected {k + 2}, actual {i + 2}" for k in reversed(range(i))]
                put({"artifact": {"name": "recompile_reasons", "encoding": "json"}}, i, json.dumps(reasons) if i > 1 else reasons[0])
            put({"dynamo_start": {}}, i)
            put({"dynamo_cpp_guards_str": {}}, i, tree(i + 2, guards))
            put({"compilation_metrics": {"compile_id": f"0/{i}", "co_name": "forward", "co_filename": "/home/user/train.py",
                                         "co_firstlineno": 12, "entire_frame_compile_time_s": 1.0}}, i)


def call(number, rows, step):
    tensor = {"obj": 2 * number, "size": [rows, 16], "stride": [16, 1], "offset": 0, "dtype": "torch.float32", "device": "cpu",
              "requires_grad": False}
    return {"call": number, "function": "Net.forward", "module": 0, "training": True,
            "args": [{"source": "L['x']", **tensor}, {"source": "L['y']", **tensor, "obj": 1, "size": [16], "stride": [1]},
                     {"source": "L['step']", "type": "int", "value": step}],
            "mode": MODE, "seconds": number / 1e6}


def write_calls(path, count, size_of, step_of):
    with open(path, "w", encoding="utf-8") as out:
        for i in range(count):
            out.write(json.dumps(call(i, size_of(i), step_of(i))) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=64)
    parser.add_argument("--guards", type=int, default=300)
    options = parser.parse_args()
    entries, draw = options.entries, random.Random(1)
    orders = {
        "one size": (options.calls, lambda i: 2 + min(i, entries - 1), lambda i: 0),
        "all sizes in turn": (options.calls, lambda i: 2 + i % entries, lambda i: 0),
        "random sizes": (options.calls, lambda i: 2 + (i if i < entries else draw.randrange(entries)), lambda i: 0),
        "few calls alike": (options.calls // 20, lambda i: 2 + (i if i < entries else draw.randrange(entries)), lambda i: i),
    }
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_log(folder / "log", entries, options.guards)
        for name, (count, size_of, step_of) in orders.items():
            write_calls(folder / "calls", count, size_of, step_of)
            print(f"{name}: ", end="", flush=True)
            subprocess.run([options.bench, folder / "log", folder / "calls"], check=True)
            if name == "few calls alike":
                print(f"{name}, plainly: ", end="", flush=True)
                subprocess.run([options.bench, folder / "log", folder / "calls", "plain"], check=True)


if __name__ == "__main__":
    main()
