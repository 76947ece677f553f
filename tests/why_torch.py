#!/usr/bin/env python3
"""symtape why over small programs that the installed PyTorch really compiles: each size is what the
program makes it, for the reason that the program has.

Each program runs in a process of its own. SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with 77,
"skipped" to meson, when that one has no torch.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = shutil.which(os.environ.get("SYMTAPE", ROOT / "build" / "cmd" / "symtape"))
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

HEAD = """
import torch, torch._dynamo as D
R = torch.randn
D.config.capture_dynamic_output_shape_ops = True
N = 3
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(R(7, 5))
        self.register_buffer("b", R(5))
        self.n = 3
        self.scale = 2.5
    def forward(self, x): return (x @ self.w + self.b) * self.n / self.scale
def go(f, *calls, **how):
    f = torch.compile(f, backend="aot_eager", **how)
    for call in calls: f(*call)
def mark(x, *dims, how=D.mark_dynamic, **more):
    for d in dims: how(x, d, **more)
    return x
def check(x, y):
    torch._check(x.size(0) == y.size(0))
    return x + y
def multiple(x): return x * 2 if x.size(0) % 4 == 0 else x
"""
# Program, then (compile, target, state, reason, what it is at the end).
CASES = [
    ("go(lambda x, y: x.sum() + y.sum(), (R(5, 7), R(7, 5)), dynamic=True)", [
        ("", "x.size(0)", "symbol", "dynamic_true", "s77"),
        ("", "y.size(0)", "shared", "duck_shaping", "s27"),
        ("", "y.size(1)", "shared", "duck_shaping", "s77")]),
    ("go(lambda x: x * 2, (R(1, 7),), (R(4, 7),), dynamic=True)", [
        ("0", "x.size(0)", "constant", "zero_one", "1"),
        ("1", "x.size(0)", "symbol", "dynamic_true", "s77")]),
    ("go(lambda x: x * 2, (R(3, 7),), (R(4, 7),))", [
        ("0", "x.size(0)", "constant", "static_by_default", "3"),
        ("1", "x.size(0)", "symbol", "automatic_dynamic", "s77"),
        ("1", "x.size(1)", "constant", "static_by_default", "7")]),
    ("go(lambda x: x * 2, (R(3),), (R(4),), dynamic=False)", [
        ("1", "x.size(0)", "constant", "dynamic_false", "4")]),
    ("go(multiple, (mark(R(8, 3), 0),))", [
        ("", "x.size(0)", "symbol", "mark_dynamic", "s77")]),
    ("go(multiple, (mark(R(8, 3), 0, how=D.maybe_mark_dynamic),))", [
        ("", "x.size(0)", "symbol", "maybe_mark_dynamic", "s77")]),
    ("go(multiple, (mark(R(8, 3), 0, how=D.mark_static),), dynamic=True)", [
        ("", "x.size(0)", "constant", "mark_static", "8"),
        ("", "x.size(1)", "symbol", "dynamic_true", "s27")]),
    ("go(check, (mark(R(8, 3), 0, how=D.decorators.mark_unbacked), "
     "mark(R(8, 3), 0, how=D.decorators.mark_unbacked)), fullgraph=True)", [
        ("", "x.size(0)", "symbol", "mark_unbacked", None),
        ("", "u0", "symbol", "mark_unbacked", None)]),
    ("go(M(), (R(4, 7),), dynamic=True)", [
        ("", "self.w.size(0)", "constant", "parameter", "7"),
        ("", "self.b.size(0)", "constant", "buffer", "5"),
        ("", "self.n", "constant", "module_int", "3"),
        ("", "x.size(1)", "became constant", "dynamic_true", "7")]),
    ("go(lambda x, y: torch.cat([x, x]) + y, (R(5), R(10)), dynamic=True)", [
        ("", "y.size(0)", "replaced", "dynamic_true", "2*s77")]),
    ("go(lambda x, n: x * n, (R(3), 2), (R(3), 5))", [
        ("0", "n", "constant", "static_by_default", "2"),
        ("1", "n", "symbol", "automatic_dynamic", "s86")]),
    ("go(lambda x, a: x * a, (R(3), 0.5), dynamic=True)", [
        ("", "a", "symbol", "dynamic_true", "zf71")]),
    ("go(lambda x, a: x * a, (R(3), float('inf')), dynamic=True)", [
        ("", "a", "constant", "not_finite", "inf")]),
    ("go(lambda x: x * N, (R(3),), dynamic=True)", [
        ("", "N", "constant", "global_int", "3")]),
    ("go(lambda x: x.nonzero() * 2, (R(3),), fullgraph=True)", [
        ("", "u0", "symbol", "data_dependent", None)]),
]


def why(tape, target, *options):
    run = subprocess.run([SYMTAPE, "why", "-q", "--json", tape, target, *options], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check(what, holds, got):
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {got}"))
    return holds


def check_case(tape, case):
    compile_, target, state, reason, now = case
    size = why(f"{tape}:0/{compile_ or 0}", target)["sizes"][0]
    got = (size["state"], size["reason"], size["now"])
    return check(f"{case[2]}, {case[3]}: 0/{compile_ or 0} {target}",
                 got[:2] == (state, reason) and now in (None, got[2]), got)


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print(f"skipped: {PYTHON} has no torch")
        return 77
    ok = True
    with tempfile.TemporaryDirectory() as name:
        for number, (program, cases) in enumerate(CASES):
            source = pathlib.Path(name, f"p{number}.py")
            tape = pathlib.Path(name, f"p{number}.tape")
            source.write_text(HEAD + program + "\n")
            subprocess.run([SYMTAPE, "record", "-q", "-o", tape, "--", PYTHON, source], check=True,
                           stdout=subprocess.DEVNULL)
            for case in cases:
                ok &= check_case(tape, case)
    return not ok


if __name__ == "__main__":
    sys.exit(main())
