#!/usr/bin/env python3
"""Programs that fail with the live PyTorch, one after the other by `symtape minify -- PYTHON fail.py`: how long
it takes from the command to a repro, and whether the repro fails as the program did, in a fresh process. Prints
a line a program and the percentiles; asserts nothing about time. For each repro: how many symbols of sizes it has, and whether each of them
is needed, so that it is still symbolic where the failure is and nowhere else; how many symbols are made from data, which no size replaces;
how many dimensions its inputs have, and the largest size of them; the devices; and whether no single one of these can be taken away or
made smaller.

usage: live_failures.py [--only NAME;...] [--seconds LIMIT] [SYMTAPE]
($SYMTAPE_PYTHON names a Python with PyTorch; with --only the exit code is 1 if one has no verified repro)"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

# Backends that fail: they are in a module, as a user's are.
BACKENDS = """import torch
def has(gm, name):
    return any(name in str(n.target) for n in gm.graph.nodes)
def no_scan(gm, inputs):
    if has(gm, "cumsum"):
        raise RuntimeError("this backend cannot lower a scan")
    return gm
def no_pair(gm, inputs):
    if has(gm, "sin") and has(gm, "softmax"):
        raise RuntimeError("sin and softmax in one graph")
    return gm
def no_symbols(gm, inputs):
    if has(gm, "matmul") and any("SymInt" in str(n.meta.get("example_value")) or "s" in str(getattr(
            n.meta.get("example_value"), "shape", "")).replace("Size", "") for n in gm.graph.nodes):
        raise NotImplementedError("symbolic matmul")
    return gm
"""
PATCH = """import torch, torch._inductor.lowering as L
def refuse(*args, **kwargs):
    raise NotImplementedError("no lowering here")
for op in (torch.ops.aten.%s,):
    L.lowerings[op] = refuse
"""
CUSTOM = """import torch
@torch.library.custom_op("demo::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2
@twice.register_fake
def _(x):
    %s
"""
HEAD = "import torch\nimport torch.nn.functional as F\n"
CALL = "torch.compile(f, dynamic=True%s)(%s)\n"


def program(body, inputs, more="", before=""):
    lines = "".join("    " + line + "\n" for line in body.split("; "))
    names = ", ".join("xy"[:1 + ("), torch." in inputs)])
    return HEAD + before + f"def f({names}):\n{lines}" + CALL % (more, inputs)


X, XY = "torch.randn(6, 8)", "torch.randn(6, 8), torch.randn(5, 7)"
EAGER = ", backend='aot_eager'"
# name: (program, other files, options of minify)
PROGRAMS = {
    # an operator refuses sizes while Dynamo traces
    "matmul sizes": (program("return torch.cos(torch.sin(x) @ y).sum()", XY, EAGER), {}, ()),
    "broadcast": (program("a = torch.relu(x) * 2; return (a + y).sum()", XY, EAGER), {}, ()),
    "view": (program("a = torch.sin(x); return torch.relu(a).view(-1, 7).sum()", X, EAGER), {}, ()),
    "cat": (program("return torch.cat([torch.sin(x), torch.cos(y)], 0)", XY, EAGER), {}, ()),
    "stack": (program("return torch.stack([x.relu(), y.relu()])", XY, EAGER), {}, ()),
    "expand": (program("return torch.exp(x).expand(3, 5, 8).sum()", X, EAGER), {}, ()),
    "linear": (program("return F.gelu(F.linear(torch.tanh(x), y))", XY, EAGER), {}, ()),
    "conv channels": (program("return F.conv1d(torch.relu(x), y)", "torch.randn(2, 3, 8), torch.randn(4, 5, 3)", EAGER), {}, ()),
    "layer_norm": (program("return F.layer_norm(torch.sin(x), (9,))", X, EAGER), {}, ()),
    "index": (program("return torch.sin(x)[:, 11]", X, EAGER), {}, ()),
    "split sizes": (program("return torch.relu(x).split([3, 4], 1)[0]", X, EAGER), {}, ()),
    "bmm": (program("return torch.bmm(x.sin(), y.cos())", "torch.randn(2, 3, 4), torch.randn(2, 5, 6)", EAGER), {}, ()),
    "dtype": (program("return torch.linalg.inv(x.relu().to(torch.int64))", "torch.randn(6, 6)", EAGER), {}, ()),
    "einsum": (program("return torch.einsum('ij,jk->ik', x.sin(), y)", XY, EAGER), {}, ()),
    # data-dependent
    "data-dependent branch": (program("n = torch.relu(x).sum().item(); return x.sin() if n > 3 else x", X,
                                      EAGER + ", fullgraph=True"), {}, ()),
    "unbacked view": (program("a = torch.nonzero(x.relu())[:, 0]; return a + torch.ones(5) if a.size(0) > 3 else a", X, EAGER + ", fullgraph=True",
                              "torch._dynamo.config.capture_dynamic_output_shape_ops = True\n"), {}, ()),
    "unbacked slice": (program("n = y.sum().item(); a = torch.sin(x)[:n]; return a + 1 if a.numel() > 4 else a",
                               "torch.randn(6, 8), torch.ones(3, dtype=torch.int64)", EAGER + ", fullgraph=True",
                               "torch._dynamo.config.capture_scalar_outputs = True\n"), {}, ()),
    # a backend fails
    "backend": (program("return torch.cos(torch.cumsum(torch.sin(torch.relu(x)), 0)).sum()", X,
                        ", backend=backends.no_scan", "import backends\n"), {"backends.py": BACKENDS}, ()),
    "backend, two calls": (program("a = torch.sin(torch.relu(x)); b = torch.exp(a) + 1; return torch.softmax(b, -1).tanh()",
                                   X, ", backend=backends.no_pair", "import backends\n"), {"backends.py": BACKENDS}, ()),
    "backend, symbols": (program("return torch.matmul(torch.relu(x) + 1, y).sum()", "torch.randn(6, 8), torch.randn(8, 5)",
                                 ", backend=backends.no_symbols", "import backends\n"), {"backends.py": BACKENDS}, ()),
    # Inductor cannot lower
    "lowering": (program("return torch.softmax(torch.cumprod(torch.relu(x) + 1, 1), -1).sum(1)", X, "", "import patch\n"),
                 {"patch.py": PATCH % "cumprod.default"}, ("--import", "patch.py")),
    "lowering of sort": (program("return torch.sort(torch.sin(x), 1)[0].cos()", X, "", "import patch\n"),
                         {"patch.py": PATCH % "sort.default"}, ("--import", "patch.py")),
    "lowering of a convolution": (program("return F.conv1d(torch.relu(x), y).tanh()", "torch.randn(2, 3, 8), torch.randn(4, 3, 3)", "",
                                          "import patch\n"), {"patch.py": PATCH % "convolution.default"}, ("--import", "patch.py")),
    # an operator of the user's
    "fake tensors differ": (program("return custom.twice(torch.sin(x)).sum(1) + y", "torch.randn(6, 8), torch.randn(6)", EAGER,
                                    "import custom\n"), {"custom.py": CUSTOM % "return x.new_empty(x.shape[0], x.shape[1], 2)"},
                            ("--import", "custom.py", "--allow", "demo")),
    "no fake": (program("return custom.twice(torch.relu(x)).sum()", X, EAGER + ", fullgraph=True", "import custom\n"),
                {"custom.py": CUSTOM % "raise NotImplementedError('no fake tensors here')"},
                ("--import", "custom.py", "--allow", "demo")),
    # autograd, export, constraints
    "autograd": (program("a = torch.sin(x); b = a.view(-1, 7); return b.sum()", "torch.randn(6, 8, requires_grad=True)", EAGER), {}, ()),
    "backward of a backend": (HEAD + "import backends\ndef f(x):\n    return torch.cumsum(torch.sin(x), 1).relu().sum()\n"
                              "torch.compile(f, dynamic=True, backend=backends.no_scan)(torch.randn(6, 8, requires_grad=True)).backward()\n",
                              {"backends.py": BACKENDS}, ()),
    "export": (HEAD + "class M(torch.nn.Module):\n    def forward(self, x, y):\n        return torch.sin(x) @ torch.cos(y)\n"
               "d = torch.export.Dim('d')\ntorch.export.export(M(), (torch.randn(6, 8), torch.randn(5, 7)), dynamic_shapes=({0: d}, None))\n",
               {}, ()),
    "export constraint": (HEAD + "class M(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x).view(6, -1) + 1\n"
                          "d = torch.export.Dim('d', min=2, max=64)\ntorch.export.export(M(), (torch.randn(6, 8),), dynamic_shapes=({0: d},))\n",
                          {}, ()),
    "marked dynamic": (HEAD + "def f(x):\n    return torch.sin(x).reshape(6, -1).cos() + torch.ones(6, 8)\n"
                       "x = torch.randn(6, 8)\ntorch._dynamo.mark_dynamic(x, 0)\ntorch.compile(f, backend='aot_eager')(x)\n", {}, ()),
}


def sizes_of(out):
    """The dimensions of the inputs of the graph that is printed, the largest of them that is a number, and the devices."""
    hints = dict(re.findall(r"^# symbol (\w+) = (\d+)", out, re.M))
    inputs = re.search(r"^    def forward\(self(.*)\):$", out, re.M)
    tensors = re.findall(r': "\w+\[([^\]]*)\]\[[^\]]*\](\w+)', inputs[1] if inputs else "")
    sizes = [hints.get(size, size) for shape, _ in tensors for size in shape.split(", ") if size]
    return len(sizes), max([int(size) for size in sizes if size.isdigit()], default=0), sorted({device for _, device in tensors})


def reduce(symtape, python, name, seconds):
    text, files, options = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for file, body in {**files, "fail.py": text}.items():
            (folder / file).write_text(body)
        began = time.monotonic()
        try:
            done = subprocess.run([symtape, "minify", *options, "--", python, "fail.py"], cwd=folder, timeout=seconds,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            out = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            out = "no end within the limit"
        took = time.monotonic() - began
        verified = "reproduced 1 of 1 times" in out
        calls = re.search(r"^calls (\d+) -> (\d+), symbols (\d+) -> (\d+)", out, re.M)
        failure = re.search(r"^failure: (.*)", out, re.M)
        made = len(re.findall(r"^# symbol \S+ .* unbacked$", out, re.M))
        left = int(calls[4]) - made if calls else 0
        needed = len(re.findall(r"^  symbol .+, made a number: ", out, re.M))
        symbols = "no symbols" if left == 0 else f"{left} needed" if needed == left else f"{needed} of {left} needed"
        symbols += f", {made} of data" if made else ""
        dimensions, largest, devices = sizes_of(out)
        minimal = "\nminimal: " in out
        last = [line for line in out.splitlines() if line.startswith("symtape: ")]
        print(f"{name:26} {took:6.1f} s  {'verified' if verified else 'NO REPRO'}  {calls[0] if calls else '':40} {symbols:20} "
              f"{dimensions} dimensions, at most {largest}, {' and '.join(devices)}, {'minimal' if minimal else 'NOT MINIMAL'}  "
              f"{(failure[1] if verified and failure else last[-1] if last else out[-200:])[:110]}", flush=True)
        return verified, took, left, needed, dimensions, minimal


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("symtape", nargs="?", default=str(cases.SYMTAPE))
    args.add_argument("--only", default="")
    args.add_argument("--seconds", type=float, default=600)
    args = args.parse_args()
    symtape = str(Path(args.symtape).resolve())
    python = os.environ.get("SYMTAPE_PYTHON", "python3")
    if subprocess.run([python, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("skipped: no Python with PyTorch")
        return 77
    names = [n for n in args.only.split(";") if n] or list(PROGRAMS)
    results = [reduce(symtape, python, name, args.seconds) for name in names]
    times = sorted(took for _, took, *_ in results)
    verified = sum(good for good, *_ in results)
    symbolic = [(left, needed) for good, _, left, needed, *_ in results if good and left]
    dimensions = sum(n for good, *_, n, _ in results if good)
    print(f"{verified} of {len(results)} with a verified repro; seconds: p50 {times[len(times) // 2]:.1f}, "
          f"p90 {times[min(len(times) - 1, len(times) * 9 // 10)]:.1f}, most {times[-1]:.1f}; "
          f"{len(symbolic)} are still symbolic, with {sum(n for n, _ in symbolic)} symbols, {sum(n for _, n in symbolic)} of them needed; "
          f"their inputs have {dimensions} dimensions; {sum(minimal for *_, minimal in results)} are minimal")
    return 1 if args.only and verified < len(results) else 0


if __name__ == "__main__":
    sys.exit(main())
