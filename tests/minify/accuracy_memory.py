#!/usr/bin/env python3
"""An accuracy failure of a graph whose tensors fit into memory once: reduced under a limit on memory, which the worker sets
when PyTorch is there. And the comparison with results that are in a file: what it says of pairs that differ.

    accuracy_memory.py SYMTAPE            ($SYMTAPE_PYTHON names a Python with PyTorch)
"""
import os
import re
import subprocess
import sys
import tempfile

MB = 1 << 20
WEIGHTS, SIDE = 8, 4096  # float32: 64 MiB each
HEAD = 'class GraphModule(torch.nn.Module):\n    def forward(self, s77: "Sym(s77)", x: "f32[s77, %d][%d, 1]cpu"' % (SIDE, SIDE)
# A module of --import: sets the limit of memory beyond what PyTorch has taken, to %d MiB. 256 MiB are for compiling.
LIMIT = """import resource, torch, torch._dynamo, torch._inductor.compile_fx
data = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")][0] << 10
resource.setrlimit(resource.RLIMIT_DATA, (data + (%d << 20), data + (%d << 20)))
"""
COMPARED = """
import torch
first = torch.arange(5_000_000, dtype=torch.float32)

def changed(at, value, dtype=None):
    ret = first.clone()
    ret[at] = value
    return ret if dtype is None else ret.to(dtype)

def differs(actual, expected):
    return compare(torch, actual, Results(torch, expected))

inf, nan = float("inf"), float("nan")
late = first.numel() - 1
for case in (first, first.int(), first > 7, first.bfloat16(), first.to(torch.complex64), first.view(1000, -1).t(), first[:0],
             torch.tensor(3.0), first.double()[::2], [first, 3, None, {"a": first}], changed(3, nan),
             changed(late, -inf), torch.nn.Parameter(first)):
    assert differs(case, case)[1] <= 1, (case, differs(case, case))
for actual, expected, kind in (
        ((first,), (first, first), "count"), (first, first.double(), "dtype"), (first, first[1:], "shape"), (3, 4, "value"),
        (changed(late, nan), first, "nan"), (first, changed(3, nan), "nan"), (changed(late, inf), first, "inf"),
        ((first.int(), first), (changed(late, 9, torch.int32), first), "value"), (3, first, "value")):
    assert differs(actual, expected) == (kind, inf), (kind, differs(actual, expected))
assert differs(changed(3, nan), changed(late, inf)) == ("nan", inf)  # whatever comes first
kind, excess = differs(changed(late, 5_000_100), first)
assert kind == "value" and 15 < excess < 16, excess  # 101 of 1e-5 + 1.3e-6 * 4,999,999
kind, excess = differs((first, changed(4, 5)), (first, first))
assert kind == "value" and 65_000 < excess < 66_000, excess
"""


def graph():
    """x goes through all weights, and the last one's result through relu, of which the backend makes x + 1."""
    weights = "".join(', w%d: "f32[%d, %d][%d, 1]cpu"' % (i, SIDE, SIDE, SIDE) for i in range(WEIGHTS))
    lines = ['        mm_%d: "f32[s77, %d][%d, 1]cpu" = torch.matmul(%s, w%d)\n' % (i, SIDE, SIDE, "mm_%d" % (i - 1) if i else "x", i)
             for i in range(WEIGHTS)]
    return HEAD + weights + "):\n" + "".join(lines) + \
        '        relu: "f32[s77, %d][%d, 1]cpu" = torch.relu(mm_%d)\n        return (relu,)\n' % (SIDE, SIDE, WEIGHTS - 1)


def main():
    symtape = os.path.abspath(sys.argv[1])
    python = os.environ.get("SYMTAPE_PYTHON") or "python3"
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        print("skipped: no Python with PyTorch")
        return 77
    root = os.environ.get("SYMTAPE_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "minify", "process", "torch_results.py"), encoding="utf-8") as file:
        results = file.read()
    done = subprocess.run([python, "-c", results + COMPARED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("graph.fx", "w", encoding="utf-8") as out:
            out.write("# symbol s77 = 3 in [2, int_oo] from L['x'].size()[0]\n" + graph())

        def minify(limit, name):
            with open("limit.py", "w", encoding="utf-8") as out:
                out.write(LIMIT % (limit, limit))
            return subprocess.run([symtape, "minify", "graph.fx", "--torch-oracle", "accuracy", "--torch-backend",
                                   "relu_accuracy_error_TESTING_ONLY", "--import", "limit.py", "-o", name],
                                  capture_output=True, text=True)

        model = WEIGHTS * SIDE * SIDE * 4 // MB
        done = minify(model + 256, "once.tape")
        assert done.returncode == 0 and re.search(r"^calls %d -> 1, " % (WEIGHTS + 1), done.stdout, re.M), done
        # A graph that does not fit once is not said to be correct, or to fail differently.
        done = minify(model // 2, "half.tape")
        assert done.returncode == 125 and "cannot tell whether it fails" in done.stderr, done
    print(f"all as expected: {model} MiB of weights, reduced with {model + 256} MiB beyond PyTorch's own")
    return 0


if __name__ == "__main__":
    sys.exit(main())
