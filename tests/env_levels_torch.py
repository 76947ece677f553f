#!/usr/bin/env python3
"""`symtape show --levels` over programs that the real PyTorch compiles: symbols are replaced, and guards added, as ShapeEnv
logged it (set_replacement, guard added), each by the stage whose functions were on Python's stack.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch.

    env_levels_torch.py [PROGRAM...]
"""
import json
import os
import subprocess
import sys
import tempfile

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

# Each program compiles one function, as "SEEN" lists: what was replaced, and the guards.
WATCH = """
import json, logging, traceback
import torch
torch.set_num_threads(1)
torch._dynamo.config.capture_scalar_outputs = True
torch.fx.experimental._config.use_duck_shape = False
FUNCTIONS = {"aot_dispatch_autograd_graph": "AOT joint", "aot_dispatch_base_graph": "AOT inference",
             "call_user_compiler": "backend"}
replaced, guards = [], []
def stage():
    stack = traceback.extract_stack()
    names = {frame.name for frame in stack}
    found = next((FUNCTIONS[name] for name in FUNCTIONS if name in names), "Dynamo")
    metadata = found == "backend" and any("collect_metadata" in frame.filename for frame in stack)
    return "AOT metadata" if metadata else found
class Watch(logging.Handler):
    def emit(self, record):
        if "set_replacement" in str(record.msg):
            replaced.append([*map(str, record.args[:3]), stage()])
        elif "[guard added]" in str(record.msg) and record.args[0] == "eval":
            guards.append([str(record.args[1]), stage()])
torch._logging.set_logs(dynamic=logging.INFO)
logging.getLogger("torch.fx.experimental.symbolic_shapes").addHandler(Watch())
full = lambda *sizes: torch.full(sizes, 0.5)
def run(f, *given, backend="aot_eager"):
    replaced.clear(), guards.clear()
    torch._dynamo.reset()
    torch.compile(f, backend=backend, dynamic=True)(*given)
    print("SEEN", json.dumps([replaced, guards]))
"""

# name: (program, how many symbols are replaced)
PROGRAMS = {
    "add": ("run(lambda x, y: x + y, full(4, 5), full(4, 5))", 2),
    "cat": ("run(lambda x, y, z: torch.cat([x, y, z]).sum(1), full(3, 6), full(4, 6), full(5, 6))", 2),
    "matmul": ("run(lambda x, y, z: (x @ y) @ z, full(3, 4), full(4, 5), full(5, 6))", 2),
    "sum of two": ("def f(x, y, z):\n    return torch.cat([x, y]) * z\nrun(f, full(3, 5), full(4, 5), full(7, 5))", 3),
    "twice": ("def f(x, y):\n    return torch.cat([x, x]) + y if x.shape[0] * 2 == y.shape[0] else x\n"
              "run(f, full(3, 5), full(6, 5))", 2),
    "number": ("def f(x):\n    return x.reshape(-1, 3) if x.shape[0] == 6 else x\nrun(f, full(6, 9))", 1),
    "check": ("def f(x, y):\n    n = x.sum().int().item()\n    torch._check(n == y.shape[0])\n"
              "    return torch.zeros(n) + y[:, 0]\nrun(f, torch.ones(7), full(7, 3))", 1),
    "only guards": ("def f(x, y):\n    return x.sin() if x.shape[0] * y.shape[1] > 9 else x\nrun(f, full(4, 5), full(6, 7))", 0),
    # The backend asks whether a size is twice another, which Dynamo's graph leaves open.
    "backend": ("def ask(module, inputs):\n    a, b = [i for i in inputs if isinstance(i, torch.SymInt)][:2]\n"
                "    bool(a == b)\n    return module\n"
                "run(lambda x, y: x.sum() + y.sum(), full(4), full(4), backend=ask)", 1),
    # AOTAutograd asks whether the views that are returned have parts in common.
    "views": ("def f(x):\n    w = x.unflatten(1, (-1, 8))\n    return w.transpose(2, 3), w[:, 1:]\n"
              "run(f, full(3, 24, 5))", 0),
    # AOTAutograd makes the symbol twice more, and renames it each time.
    "nonzero": ("torch._dynamo.config.capture_dynamic_output_shape_ops = True\n"
                "def f(x):\n    i = x.nonzero()\n    return (x[i[:, 0]] * 2).sum()\n"
                "run(f, full(7, 3).requires_grad_())", 0),
    # AOTAutograd asks of tangents and of what Dynamo left open.
    "backward": ("def f(x, y):\n    return (x * 2).sum() + (x * y).sum()\n"
                 "run(f, full(4, 5).requires_grad_(), full(4, 5))", 2),
}


def live(names, folder):
    """What PyTorch replaced and guarded, by program."""
    code = WATCH + "\n".join(PROGRAMS[name][0] for name in names)
    ran = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, timeout=600,
                         env={**os.environ, "TORCH_TRACE": folder, "OMP_NUM_THREADS": "1"})
    seen = [json.loads(line[5:]) for line in ran.stdout.splitlines() if line.startswith("SEEN ")]
    assert ran.returncode == 0 and len(seen) == len(names), ran.stderr[-2000:]
    return seen


def ours(folder):
    """By compile: its conditions, and its number of replaced symbols."""
    ran = subprocess.run([SYMTAPE, "show", folder, "--levels", "--json"], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    shown = json.loads(ran.stdout)
    compiles = {}
    for level in shown["levels"]:
        compiles.setdefault(level["compile"], [[], 0])[1] += level["replaced"]
    for condition in shown["conditions"]:
        compiles[condition["compile"]][0].append(condition)
    return list(compiles.values())


def check(count, seen, conditions, counted):
    replaced, guards = seen
    # Of a symbol the first one: later ones follow from it. Of those that are renamed some are known.
    renamed, first = {symbol for symbol, _, reason, _ in replaced if reason.startswith("rename")}, {}
    for symbol, value, _, stage in replaced:
        if symbol not in renamed:
            first.setdefault(symbol, (symbol, value, stage))
    rows = [(each["symbol"], each["value"], condition["stage"], each["reason"].startswith("rename"))
            for condition in conditions for each in condition["replaced"]]
    found = [row[:3] for row in rows if not row[3]]
    assert sorted(first.values()) == sorted(found), (sorted(first.values()), sorted(found))
    for row in rows:
        assert not row[3] or [*row[:2], "rename_unbacked_to", row[2]] in replaced, (row, replaced)
    assert len(found) == count and len(rows) == counted, (rows, count, counted)
    found = [[condition["expr"], condition["stage"]] for condition in conditions if condition["kind"] == "guard"]
    assert guards == found, (guards, found)
    return f"{count} symbols replaced, {len(guards)} guards"


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        sys.exit(print(f"skipped: {PYTHON} has no torch (SYMTAPE_PYTHON names another)") or 77)
    names, failed = sys.argv[1:] or list(PROGRAMS), 0
    with tempfile.TemporaryDirectory(prefix="symtape-env-levels-") as folder:
        seen = live(names, folder)
        compiles = ours(folder)
        assert len(compiles) == len(names), (len(compiles), names)
        for name, each, (conditions, counted) in zip(names, seen, compiles):
            try:
                print("ok  ", name, check(PROGRAMS[name][1], each, conditions, counted))
            except AssertionError as error:
                failed += 1
                print("FAIL", name, error)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
