#!/usr/bin/env python3
"""The check before a program is run, by itself: attacks are refused, and what symtape writes is not.

    program_check.py PROGRAM_TOOL REPRO_TOOL

The tool prints the check as the worker gets it, with the tables of the writer. Programs are those of a
sample of the graphs of ../shared and of the recordings beside the tests. PyTorch is not needed."""

import glob
import os
import subprocess
import sys

ROOT = os.environ.get("SYMTAPE_ROOT", os.path.join(os.path.dirname(__file__), "..", "..", ".."))
SHARED = os.environ.get("SYMTAPE_SHARED") or os.path.join(ROOT, "..", "shared")

GOOD = """
import sys

try:
    import torch
except ImportError:
    sys.exit(125)

torch.manual_seed(0)
x = torch.randn(4, 8)
torch._dynamo.maybe_mark_dynamic(x, [0, 1])
inputs = (x,)


def f(x):
    s0 = x.shape[0]
    %s
    return (x,)


try:
    torch.compile(f, backend="aot_eager", fullgraph=True)(*inputs)
except Exception as error:
    print(type(error).__name__, error)
    sys.exit(1)
"""

ALLOWED = """
y = torch.ops.aten.add.Tensor(x, x, alpha=2)
y = torch.ops.aten.__and__.Tensor(x, x)
y = torch.ops.higher_order.cond(x, f, f, (x,))
y = torch.ops._c10d_functional.wait_tensor(x)
y = torch.nn.functional.relu(x, inplace=True)
y = torch._C._nn.gelu(x)
y = torch.linalg.norm(x)
y = x.sum(0).__add__(1.5)
y = x[0, ..., None, 1:s0]
y = -x ** 2 + ~x @ x
y = getattr(x, "dtype")
y = torch.sym_max(s0, 3) // 2
y = float("inf")
y = complex(float("nan"), -1.0)
y = torch.Size([1, 2])
torch._check(s0 >= 2), torch._check(s0 <= 9)
x += 1
x[0] = 2
""".strip().split("\n")

# Each would be a line of f.
ATTACKS = """
y = torch.os.system("touch symtape-was-here")
y = torch.ops.load_library("/tmp/x.so")
y = torch.ops.load_library.x("/tmp/x.so")
y = torch.ops.import_module("os")
y = torch.ops.aten.save(x, "symtape-was-here")
y = torch.ops.aten.from_file("symtape-was-here", True, 10)
y = torch.ops.mylib.anything(x)
y = torch.ops.aten.__class__("os")
y = torch.ops.aten.add.__class__(x)
y = torch.ops.__class__.add(x)
y = torch.ops.higher_order.cond.py_impl(x)
y = torch.ops.higher_order.call_torchbind(x, "system", "true")
y = torch.ops
y = torch
y = torch.load("x.pt")
y = torch.save(x, "x.pt")
y = torch.hub.load("a/b", "c")
y = torch.from_file("x", True, 10)
y = torch.serialization.os.system("true")
y = torch.utils.cpp_extension.load_inline("a", "b")
y = torch.jit.load("x")
exec("1")
eval("1")
y = eval
y = builtins.eval("1")
y = __import__("os")
y = __builtins__
y = open("symtape-was-here", "w")
y = getattr(x, "__class__")
y = getattr(torch, "os")
y = getattr(torch.ops.aten, "save")
y = getattr(x, "dt" + "ype")
y = getattr(*x)
y = getattr
y = x.__class__
y = x.__reduce__()
y = x.sum.__globals__
y = x.numpy().tofile("symtape-was-here")
y = f.__globals__
y = f.__code__
y = ().__class__.__bases__[0].__subclasses__()
y = (lambda: 1)()
y = [z for z in x][0](1)
y = x(1)
y = s0()
y = f"{x.__class__}"
y = "%s" % b"bytes"
y = (yield 1)
y = await_ if x else x
y = (z := 1)
y = {**x}
y = torch.ops.aten.add(**x)
y = {1, 2}
y = {a: b for a, b in x}
import os
import torch.utils.cpp_extension
from os import system
from torch import hub
global torch
nonlocal torch
del x
raise x
assert x
while x: pass
for z in x: pass
torch = x
sys.exit = x
torch._dynamo.config.suppress_errors = True
torch.ops.aten.add = x
x.data = x
print = eval
print = x
getattr = x
float = x
f = x
async def g(): pass
def g(a=exec("1")): pass
def g(*a): pass
class Module(torch.nn.Module):\n        def __call__(self): pass
def torch(a): pass
def print(a): pass
class A: pass
class Module(f): pass
with open("x") as y: pass
y = sys.modules["os"]
y = sys.path
y = re.sys
y = copy.copyreg
y = operator.attrgetter("a")
y = operator.methodcaller("a")
y = operator.call(f)
y = operator.itemgetter(1)
y = math.__loader__
y = torch.testing.os
y = torch.export.save(x, "y")
y = torch.export.load("y")
y = torch._inductor.config
y = torch.utils.data
y = torch.storage.io.open("x")
y = \u0435val("1")
y = \uff45\uff58\uff45\uff43("1")
match x:\n        case _: pass
""".strip().split("\n")

WHOLE = [
    "import os",
    "@eval\ndef f(x): pass",
    "@torch.compile\ndef f(x): pass",
    "import torch as sys",
    "from . import x",
    "(" * 300 + ")" * 300,
    "x = " + "-" * 200000 + "1",
    "x = " + "9" * 100000,
    "\0",
    "# -*- coding: utf-7 -*-\n+AAo-import os",
    "x = 1\rimport os",
    "x = 1\x0cimport os",
    "class Module(torch.nn.Module, metaclass=print): pass",
    "if 1:\n  import os",
    "try:\n  pass\nexcept exec('1'):\n  pass",
    "def f(x: exec('1')): pass",
    "def f(x) -> exec('1'): pass",
]


def load(tool, allow=""):
    script = subprocess.run([tool, "check", allow], capture_output=True, text=True, check=True).stdout
    scope = {"__name__": "program_check"}
    path = list(sys.path)
    exec(script, scope)
    sys.path[:] = path
    return lambda source: scope["refusal"](source, scope["NAMES"])


def check_lines(refusal):
    bad = 0
    for line in ALLOWED:
        if why := refusal(GOOD % line):
            print("refused: %s: %s" % (line, why))
            bad += 1
    programs = [(GOOD % attack.encode().decode("unicode_escape"), attack) for attack in ATTACKS]
    for source, attack in programs + [(source, source[:60]) for source in WHOLE]:
        if not refusal(source):
            print("not refused: %r" % attack)
            bad += 1
    return bad


def selectors(tool):
    files = sorted(glob.glob(os.path.join(ROOT, "tests", "recordings", "*.log.zst")))
    for folder in ("traces", "failures", "variety", "exports"):
        for end in ("*.log.zst", "*.pt2"):
            files += sorted(glob.glob(os.path.join(SHARED, folder, end)))
    for path in files:
        kinds = set()
        listing = subprocess.run([tool, "--list", path], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            calls, kind, _, name = line.split(" ", 3)
            if 0 < int(calls) <= 300 and kind not in kinds:
                kinds.add(kind)
                yield path + ("" if name.startswith(":") else ":") + name


CHECKS = [["--check", "raises", "--message", "no 'x' in \"y\" \\ (3)"], ["--check", "wrong"],
          ["--check", "guard", "--expr", "Eq(s27, 3)"], ["--check", "specializes", "--expr", "s27"],
          ["--check", "guards"], ["--check", "runs"], ["--check", "nothing"],
          ["--check", "raises", "--route", "make_fx"], ["--check", "wrong", "--route", "export"],
          ["--check", "raises", "--route", "decompose"], ["--check", "guard", "--route", "make_fx"],
          ["--check", "guards", "--route", "export"], ["--check", "wrong", "--route", "make_fx"],
          ["--check", "wrong", "--route", "cuda"]]


def check_programs(refusal, tool):
    n = bad = 0
    for i, selector in enumerate(selectors(tool)):
        for check in (CHECKS if i < 3 else [CHECKS[i % len(CHECKS)]]):
            ran = subprocess.run([tool, *check, selector], capture_output=True)
            n += 1
            if why := refusal(ran.stdout.decode()) or (not ran.stdout and ran.stderr.decode()):
                print("%s %s: %s" % (selector, " ".join(check), why))
                bad += 1
    print("%d programs of recorded graphs" % n)
    return bad + (n < 30)


def main():
    program_tool, repro_tool = sys.argv[1:]
    refusal = load(program_tool)
    bad = check_lines(refusal) + check_programs(refusal, repro_tool)
    torchvision = GOOD % "y = torch.ops.torchvision.nms(x)"
    if not refusal(torchvision) or load(program_tool, "mylib,torchvision")(torchvision):
        print("--allow has no effect")
        bad += 1
    print("%d attacks and %d allowed lines, %d wrong" % (len(ATTACKS) + len(WHOLE), len(ALLOWED), bad))
    return bad > 0


sys.exit(main())
