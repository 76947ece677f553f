#!/usr/bin/env python3
"""The wall time of `symtape run` beside PyTorch's eager CPU, program by program.

    tests/bench/backend_eager.py [--backend cpu] [--size 0] [PROGRAM.pt2 ...]

Without programs those of ../shared/exports that have inputs. Both run the same graph on the same values; medians of
five runs after one. Needs $SYMTAPE_PYTHON's torch: run it with that Python. Asserts nothing.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
SYMTAPE = ROOT / "build" / "cmd" / "symtape"


DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
          "BOOL": torch.bool}


def load_file(path):
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        flat = torch.frombuffer(bytearray(data[start + first:start + end]), dtype=DTYPES[entry["dtype"]]) \
            if end > first else torch.empty(0, dtype=DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def eager_us(program, inputs):
    module = torch.export.load(program).module()
    times = []
    with torch.no_grad():
        for _ in range(6):
            start = time.perf_counter()
            module(*inputs)
            times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times[1:])


def run_us(program, values, size, backend):
    run = subprocess.run([SYMTAPE, "run", "--backend", backend, program, "--inputs", values, "--input-prefix",
                          f"in.{size}.", "--profile", "--json"], capture_output=True, text=True)
    graph = (json.loads(run.stdout)["graphs"] or [{}])[0] if run.stdout else {}
    return graph.get("wall_us"), graph.get("error") or run.stderr.strip()


def main():
    torch.set_num_threads(1)  # as the reference runs
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--size", type=int, default=0)
    options = parser.parse_args()
    shared = Path(os.environ.get("SYMTAPE_SHARED", ROOT / ".." / "shared"))
    programs = options.programs or sorted(p for p in (shared / "exports").glob("*.pt2") if ".core." not in p.name)
    print(f"{'program':30} {'eager us':>10} {options.backend + ' us':>12} {'ratio':>8}")
    for program in programs:
        values = program.parent / (program.name.split(".")[0] + ".values.safetensors")
        if not values.exists():
            continue
        prefix = f"in.{options.size}."
        tensors = {k: v for k, v in load_file(values).items() if k.startswith(prefix)}
        inputs = [tensors[prefix + str(i)] for i in range(len(tensors))]
        try:
            eager = eager_us(program, inputs)
        except Exception as failure:  # of another torch's format, or moved to another device
            print(f"{program.name:30} not run by this torch: {str(failure).splitlines()[0]}")
            continue
        ours, error = run_us(program, values, options.size, options.backend)
        print(f"{program.name:30} {eager:10.0f} " + (f"{ours:12.0f} {ours / eager:8.2f}" if ours else error))


if __name__ == "__main__":
    main()
