#!/usr/bin/env python3
"""few_bits.py [--every N] CONFORM_VALUES: products of few bits (int8, fp8, packed int4 and int8 weights) beside eager PyTorch.

Eager PyTorch computes them on the GPU. CONFORM_VALUES (tests/conform_values of a build) computes each call on the CUDA backend,
once with cuBLASLt and once without, and on the CPU backend. What eager mode refuses is printed. Takes about 20 s.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "differential"))
import row  # noqa: E402

row.SMALL = 1 << 17
aten, GPU = torch.ops.aten, "cuda"
E4, E5 = torch.float8_e4m3fn, torch.float8_e5m2
HALVES = [torch.bfloat16, torch.float16]


def int8(*size):
    return torch.randint(-128, 127, size, dtype=torch.int8, device=GPU)


def randn(*size):
    return torch.randn(size, device=GPU)


def scale(*size):
    return torch.rand(size, device=GPU) + 0.5


def int_products():
    for m, k, n in ((17, 16, 8), (32, 64, 72), (100, 512, 64), (256, 256, 256), (33, 40, 24)):
        yield aten._int_mm.default, (int8(m, k), int8(k, n)), {}
        yield aten._int_mm.default, (int8(m, k), int8(n, k).t()), {}


def scaled_products():
    sizes = (1, 64, 32), (17, 16, 16), (40, 512, 64), (200, 256, 128)
    for (m, k, n), (x, y) in itertools.product(sizes, ((E4, E4), (E4, E5), (E5, E4))):
        pair = randn(m, k).to(x), randn(n, k).to(y).t()
        for dtype, fast in itertools.product((*HALVES, torch.float32, E4, E5), (False, True)):
            yield aten._scaled_mm.default, (*pair, scale(), scale()), {"out_dtype": dtype, "use_fast_accum": fast}
        for dtype in HALVES:
            yield aten._scaled_mm.default, (*pair, scale(), scale(), randn(n).to(dtype)), {"out_dtype": dtype}
        yield aten._scaled_mm.default, (*pair, scale(), scale(), randn(n).half(), scale()), {"out_dtype": E4}
        for bias, fast in ((None, False), (None, True), (randn(n).bfloat16(), True)):
            yield (aten._scaled_mm.default, (*pair, scale(m, 1), scale(1, n), bias),
                   {"out_dtype": torch.bfloat16, "use_fast_accum": fast})


def int8_weights():
    sizes = (1, 64, 24), (3, 200, 40), (8, 512, 64), (100, 128, 64)
    for dtype, (m, k, n) in itertools.product((torch.float32, *HALVES), sizes):
        yield aten._weight_int8pack_mm.default, (randn(m, k).to(dtype), int8(n, k), scale(n).to(dtype)), {}


def int4_weights():
    sizes = (1, 256, 16), (3, 512, 24), (8, 256, 64), (17, 512, 32), (100, 256, 64)
    for tiles, group, (m, k, n) in itertools.product((2, 4, 8), (32, 64, 128, 256), sizes):
        bytes_of = torch.randint(0, 255, (n, k // 2), dtype=torch.uint8, device=GPU)
        yield aten._convert_weight_to_int4pack.default, (bytes_of, tiles), {}
        packed = aten._convert_weight_to_int4pack(bytes_of, tiles)
        zeros = (randn(k // group, n, 2) * 0.1).bfloat16()
        yield aten._weight_int4pack_mm.default, (randn(m, k).bfloat16(), packed, group, zeros), {}


def write_rows(out):
    refused = set()
    for op, args, kwargs in itertools.chain(int_products(), scaled_products(), int8_weights(), int4_weights()):
        values, said = row.describe(op, args, kwargs, values=True)
        try:
            said["out"] = values.value(op(*args, **kwargs))
        except (RuntimeError, ValueError) as error:
            refused.add(f"{op}: {str(error).splitlines()[0][:120]}")
            continue
        out.write(json.dumps(said) + "\n")
    for text in sorted(refused):
        print(f"eager mode refuses {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("conform_values")
    parser.add_argument("--every", default="1", help="of so many calls one is computed")
    options = parser.parse_args()
    torch.manual_seed(3)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as rows:
        write_rows(rows)
        rows.flush()
        for backend, without in (("cuda", ""), ("cuda", "cublaslt"), ("cpu", "")):
            print(f"-- {backend}{' without ' if without else ''}{without}", flush=True)
            subprocess.run([options.conform_values, "-v", "--table", "--every", options.every, "--backend", backend, rows.name],
                           env={**os.environ, "SYMTAPE_CUDA_WITHOUT": without}, check=False)


if __name__ == "__main__":
    main()
