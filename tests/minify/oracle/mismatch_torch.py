#!/usr/bin/env python3
"""The program that minify --backend-mismatch writes runs in PyTorch, with the CPU in the device's
place: 0 where both agree, 1 where they do not, 125 without a GPU.

usage: mismatch_torch.py SYMTAPE
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = os.environ.get("SYMTAPE_PYTHON", sys.executable)
BUILD = Path(os.environ["SYMTAPE_BUILD"])

# Factories, an input that is written, a random operator: what goes wrong easily on two devices.
GRAPH = """class GraphModule(torch.nn.Module):
    def forward(self, arg0_1: "f32[6, 4][4, 1]cpu", arg1_1: "f32[6, 4][4, 1]cpu"):
        full: "f32[6, 4][4, 1]cpu" = torch.ops.aten.full.default([6, 4], 2.0, dtype = torch.float32, \
layout = torch.strided, device = device(type='cpu'), pin_memory = False)
        arange: "f32[4][1]cpu" = torch.ops.aten.arange.start_step(0, 4, dtype = torch.float32, \
layout = torch.strided, device = device(type='cpu'), pin_memory = False)
        add_: "f32[6, 4][4, 1]cpu" = torch.ops.aten.add_.Tensor(arg1_1, full);  full = arg1_1 = None
        mul: "f32[6, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(add_, arange);  add_ = arange = None
        tanh: "f32[6, 4][4, 1]cpu" = torch.ops.aten.tanh.default(mul);  mul = None
        cumsum: "f32[6, 4][4, 1]cpu" = torch.ops.aten.cumsum.default(tanh, 0);  tanh = None
        sub: "f32[6, 4][4, 1]cpu" = torch.ops.aten.sub.Tensor(cumsum, arg0_1);  cumsum = arg0_1 = None
        return (sub,)
"""


def run(text, folder):
    path = Path(folder) / "variant.py"
    path.write_text(text)
    done = subprocess.run([PYTHON, str(path)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print("skip - mismatch: no PyTorch")
        return 77
    failed = False

    def check(name, good, why):
        nonlocal failed
        failed |= not good
        print(f"ok - {name}" if good else f"not ok - {name}: {why}")

    env = {**os.environ, "SYMTAPE_CUDA_LIB": str(BUILD / "tests" / "cuda"),
           "SYMTAPE_CUDA_WITHOUT": "cublaslt,cudnn",
           "XDG_CACHE_HOME": str(BUILD / "tests" / "cuda" / "cache")}
    with tempfile.TemporaryDirectory() as folder:
        graph, repro = Path(folder) / "graph.fx", Path(folder) / "repro.py"
        graph.write_text(GRAPH)
        # Several outputs stay only if nothing is reduced: ask about each of some operators.
        for fault in ("aten.add_", "aten.full"):
            done = subprocess.run([sys.argv[1], "minify", graph, "--backend-mismatch", "cuda,cpu",
                                   "--inject", f"{fault}=1e-1", "--overwrite",
                                   "-o", Path(folder) / f"{fault}.tape", "--repro", repro],
                                  env=env, capture_output=True, text=True)
            if done.returncode:
                check(f"minify {fault}", False, done.stderr)
                continue
            text = repro.read_text()
            code, said = run(text, folder)
            check(f"{fault}: without a GPU", code in (125, 0), said)
            on_cpu = re.sub(r"if not torch\.cuda\.is_available\(\):\n    sys\.exit\(125\)\n", "", text)
            on_cpu = on_cpu.replace('device = "cuda"', 'device = "cpu"').replace(".cuda()", ".clone()")
            code, said = run(on_cpu, folder)
            check(f"{fault}: two that agree", code == 0, said + text)
            other = on_cpu.replace('    device = "cpu"\n',
                                   '    device, g = "cpu", f\n    f = lambda *a: [x + 1 for x in g(*a)]\n')
            code, said = run(other, folder)
            check(f"{fault}: two that differ", other != on_cpu and code == 1, said + text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
