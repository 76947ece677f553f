#!/usr/bin/env python3
"""symtape record --calls, end to end, with the real PyTorch: for each call of the programs below,
the entry that answered as the recorder saw it is the one that `symtape cache` finds, inside the
calls, too. Where `symtape guards` finds guards that can go, the program runs once more with its
filter: the answers are the same, and its look-ups cost what was predicted. A passing check evaluates
as many guards as PyTorch counts.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch.

    calls_torch.py [--all | PROGRAM...]

Without arguments a third of the programs is run, another one every month.
"""
import datetime
import json
import os
import subprocess
import sys
import tempfile

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
FOLDER = tempfile.TemporaryDirectory(prefix="symtape-calls-")

BEGIN = """
import threading, torch
torch.set_num_threads(1)
ones = torch.ones

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.k, self.mode = torch.nn.Linear(4, 4), 2, "up"
    def forward(self, x, n=1):
        y = self.lin(x) * self.k + n
        return y.sin() if self.mode == "up" else y.cos()

class Broken(Net):
    def forward(self, x):
        y = self.lin(x) * self.k
        torch._dynamo.graph_break()
        return y.relu() if y.shape[0] > 3 else y.sigmoid()

class Plain:
    def __init__(self, a): self.a = a
    def run(self, x): return x * self.a
RATE = 3
"""

# name: what it does, and how many calls it makes (None: as many as there are)
PROGRAMS = {
    "sizes": ("f = torch.compile(lambda x: x * 2, backend='eager')\n"
              "for n in (3, 3, 4, 5, 6, 1, 0, 3): f(ones(n, 2))", 8),
    "module": ("m = Net(); f = torch.compile(m, backend='eager')\n"
               "for n in (2, 2, 3, 4): f(ones(n, 4))\nm.k = 5; f(ones(2, 4)); f(ones(7, 4))\n"
               "m.k = 2; f(ones(2, 4)); m.mode = 'down'; f(ones(2, 4)); m.eval(); f(ones(2, 4))", 9),
    "inside": ("g = torch.compile(lambda x: x * 2, backend='eager')\n"
               "eager = torch._dynamo.disable(lambda x, n: [g(x) for _ in range(n)])\n"
               "def h(x, n): eager(x, n); return x + 1\n"
               "f = torch.compile(h, backend='eager'); x, y = ones(2), ones(3, requires_grad=True)\n"
               "f(x, 1); f(x, 1); g(x); g(x); f(x, 2)\n"
               "back = torch._dynamo.disable(lambda y: g2(y).sum().backward())\n"
               "g2 = torch.compile(lambda y: y.sin(), backend='aot_eager')\n"
               "def k(y): back(y); return y + 1\n"
               "torch.compile(k, backend='eager')(y); g(x)", 13),
    "ints": ("f = torch.compile(lambda x, n: x * n, backend='eager')\n"
             "for n in (1, 2, 2, 3, 4, 5, True): f(ones(3), n)", 7),
    "strings": ("f = torch.compile(lambda x, s: x * 2 if s == 'a' else x, backend='eager')\n"
                "for s in 'aabac': f(ones(3), s)", 5),
    "none": ("f = torch.compile(lambda x, y=None: x if y is None else x + y, backend='eager')\n"
             "f(ones(2)); f(ones(2), ones(2)); f(ones(2)); f(ones(2), y=ones(2))", 4),
    "lists": ("f = torch.compile(lambda xs: sum(xs), backend='eager')\n"
              "for n in (1, 2, 2, 3, 1): f([ones(2) for _ in range(n)])\nf((ones(2),))", 6),
    "dicts": ("f = torch.compile(lambda d: sum(d.values()), backend='eager')\n"
              "f({'a': ones(2)}); f({'a': ones(2)}); f({'b': ones(2)}); f({'a': ones(2), 'b': ones(2)})\n"
              "f({'a': ones(2)})", 5),
    "globals": ("def g(x): return x * RATE\nf = torch.compile(g, backend='eager')\n"
                "f(ones(2)); f(ones(2)); RATE = 4; f(ones(2)); f(ones(2)); RATE = 3; f(ones(2))", 5),
    "breaks": ("m = Broken(); f = torch.compile(m, backend='eager')\n"
               "for n in (2, 2, 5, 3, 6): f(ones(n, 4))", 5),
    "limit": ("torch._dynamo.config.recompile_limit = 2\n"
              "f = torch.compile(lambda x, s: x * len(s), backend='eager')\n"
              "for s in ('a', 'bb', 'ccc', 'a', 'ccc', 'bb'): f(ones(2), s)", 6),
    "dtypes": ("f = torch.compile(lambda x: x + 1, backend='eager')\n"
               "for t in (torch.float32, torch.float64, torch.int32, torch.float32): f(ones(2, dtype=t))\n"
               "f(ones(2, requires_grad=True)); f(ones(4, 4).t()); f(ones(4, 6).t())", 7),
    "modes": ("f = torch.compile(lambda x: x * 2, backend='eager')\nf(ones(2))\n"
              "with torch.no_grad(): f(ones(2)); f(ones(2))\nf(ones(2))\n"
              "with torch.autocast('cpu', dtype=torch.bfloat16): f(ones(2))\nf(ones(2))", 6),
    "instances": ("fs = [torch.compile(Net(), backend='eager') for _ in range(3)]\n"
                  "for i in (0, 1, 0, 2, 1, 2): fs[i](ones(2, 4))", 6),
    "method": ("p = Plain(2); f = torch.compile(p.run, backend='eager')\n"
               "f(ones(2)); f(ones(2)); p.a = 3; f(ones(2)); p.a = 2; f(ones(2))", 4),
    "classes": ("class Config:\n    scale = 2\n    @property\n    def twice(self): return self.scale * 2\n"
                "class Sized(Net):\n    def forward(self, x): return self.lin(x) * self.config.twice\n"
                "m = Sized(); m.config = Config(); f = torch.compile(m, backend='eager')\n"
                "for n in (2, 2, 3): f(ones(n, 4))", 3),
    "decorator": ("@torch.compile(backend='eager')\ndef f(x, *, scale=2): return x * scale\n"
                  "f(ones(2)); f(ones(3)); f(ones(3), scale=4); f(ones(9))", 4),
    "backward": ("m = Net(); f = torch.compile(m, backend='aot_eager')\n"
                 "for n in (2, 2, 3): f(ones(n, 4)).sum().backward()\nf(ones(2, 4))", 7),
    "backward breaks": ("def g(x):\n    y = x.sin() * 2\n    torch._dynamo.graph_break()\n    return y.cos().sum()\n"
                        "f = torch.compile(g, backend='aot_eager')\n"
                        "for n in (3, 3, 4): f(ones(n, requires_grad=True)).backward()", 9),
    "dynamic": ("f = torch.compile(lambda x: x.relu() if x.shape[0] > 4 else x, backend='eager', dynamic=True)\n"
                "for n in (3, 4, 5, 9, 2): f(ones(n))", 5),
    "marks": ("f = torch.compile(lambda x: x * 2, backend='eager')\n"
              "x = ones(4, 2); torch._dynamo.mark_dynamic(x, 0); f(x); f(ones(5, 2)); f(ones(6, 3)); f(ones(7, 2))", 4),
    "raises": ("def g(x, n):\n    if n: raise ValueError('no')\n    return x + n\n"
               "f = torch.compile(g, backend='eager')\nf(ones(2), 0)\n"
               "try: f(ones(2), 1)\nexcept ValueError: pass\nf(ones(2), 0)", 3),
    "threads": ("f = torch.compile(lambda x: x * 2, backend='eager'); f(ones(2))\n"
                "ts = [threading.Thread(target=lambda: [f(ones(2)) for _ in range(50)]) for _ in range(3)]\n"
                "[t.start() for t in ts]; [t.join() for t in ts]", 151),
    "forward replaced": ("m = Net(); m.forward = torch.compile(m.forward, backend='eager')\n"
                         "for n in (2, 2, 3, 4): m(ones(n, 4))", 4),
    "hooks": ("m = Net(); f = torch.compile(m, backend='eager'); f(ones(2, 4))\n"
              "m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))\n"
              "for n in (2, 2, 3): f(ones(n, 4))", 4),
    "grows": ("p = Plain([None]); f = torch.compile(lambda p, x: x * p.a[0].shape[0], backend='eager')\n"
              "for n in (2, 2, 3, 4, 2): p.a[0] = ones(n); f(p, ones(2))", 5),
    "odd floats": ("NAN = float('nan'); f = torch.compile(lambda x, y: x * y, backend='eager')\n"
                   "for y in (0.5, 1.5, 0.0, -0.0, float('inf'), -float('inf'), 2.5, NAN, 2.5, NAN): f(ones(3), y)", 10),
    "objects": ("f = torch.compile(lambda p, d, t, x: x * p.a + d['x'] + t.sum(), backend='eager')\n"
                "p, d, t, x = Plain(2), {'x': 1}, ones(2), ones(2); t.tag = 'no mark'\n"
                "for _ in range(3): f(p, d, t, x)\nf(Plain(2), d, t, x); f(p, d, ones(2), x); f(p, {'x': 1}, t, x)", 6),
    "handled": ("f = torch.compile(lambda x: x * 2, backend='eager'); f(ones(2)); f(ones(2))\n"
                "try: raise ValueError\nexcept ValueError: f(ones(2)); f(ones(2))\nf(ones(2))", 5),
    "sparse": ("f = torch.compile(lambda x, y: y * 2, backend='eager'); s = torch.eye(3).to_sparse()\n"
               "for n in (2, 2, 3): f(s, ones(n))", 3),
    "inference": ("f = torch.compile(lambda x: x * 2, backend='eager'); x = ones(2)\nf(x); f(x); f(x)\n"
                  "with torch.inference_mode(): f(x); f(x)\nf(x); f(x)", 7),
    "backends": ("def f(x): return x * RATE\nRATE = 2\n"
                 "a, b = (torch.compile(f, backend=backend) for backend in ('eager', 'aot_eager')); x = ones(8)\n"
                 "for RATE in (2, 2, 3, 3, 2):\n    a(x); a(x); b(x); a(x); a(x[2:])\n"
                 "with torch.inference_mode():\n    y = ones(8)\n    for i in range(3): a(x); a(y); a(y); b(y)\n", 37),
    "stance": ("f = torch.compile(lambda x: x * 2, backend='eager')\nfor n in (2, 2, 2): f(ones(n))\n"
               "try:\n    with torch.compiler.set_stance('default', force_backend='none such'): f(ones(2))\n"
               "except Exception: pass\nelse: raise SystemExit('the stance forbids nothing')\n"
               "for n in (2, 2, 3, 2): f(ones(n))", 7),
    "stances": ("f = torch.compile(lambda x: x * 2, backend='eager'); set_stance = torch.compiler.set_stance\n"
                "r = torch._dynamo.run(f)\nfor n in (2, 2): f(ones(n))\n"
                "with set_stance('force_eager'): f(ones(2)); f(ones(3))\n"
                "with set_stance('eager_on_recompile'): f(ones(2)); f(ones(3)); f(ones(4))\n"
                "r(ones(2)); r(ones(3)); f(ones(3)); f(ones(5)); r(ones(6))\n"
                "with set_stance('eager_then_compile'):\n"
                "    for n in (5, 0, 1, 0, 1): f(ones(n))\n", 17),
    "stance fails": ("f = torch.compile(lambda x: x * 2, backend='eager')\nfor n in (2, 2): f(ones(n))\n"
                     "with torch.compiler.set_stance('fail_on_recompile'):\n    f(ones(2))\n"
                     "    try: f(ones(3))\n    except RuntimeError: pass\nf(ones(3)); f(ones(5))", 6),
    "limit fails": ("torch._dynamo.config.recompile_limit = 2\n"
                    "f = torch.compile(lambda x, s: x * len(s), backend='eager', fullgraph=True)\n"
                    "for s in ('a', 'bb', 'ccc', 'a', 'ccc', 'bb'):\n"
                    "    try: f(ones(2), s)\n    except Exception: pass", 6),
    "resets": ("torch._dynamo.config.recompile_limit = 2\n"
               "def g(x, n):\n    y = x + n\n    torch._dynamo.graph_break()\n    return y * n\n"
               "f = torch.compile(g, backend='eager'); h = torch.compile(lambda x: x * 2, backend='eager')\n"
               "for reset in (torch.compiler.reset, torch._dynamo.reset_code_caches, torch._dynamo.reset):\n"
               "    for n in (1, 2, 2, 'a', 3): f(ones(2), n) if n != 'a' else h(ones(2))\n    reset()\n"
               "    h(ones(3)); reset(); reset()", 18),
    "arrays": ("import numpy as np\nf = torch.compile(lambda a, k: (a * k).sum(0), backend='eager')\n"
              "for n, k in ((2, 1), (2, 1), (3, 1), (3, np.float64(2)), (4, np.float64(3)), (2, np.int64(1))):\n"
              "    f(np.ones((n, 2), dtype='f4'), k)", 6),
    "members": ("import enum\nE = enum.Enum('E', 'A B'); A, B = E.A, E.B\n"
                "f = torch.compile(lambda x, e, d, t, s: (x * e.value).to(d, t) + (1 if 2 in s else len(s)), backend='eager')\n"
                "for e, t, s in ((A, 'float', {1}), (A, 'float', {1}), (B, 'float', {1}), (A, 'double', {1}),\n"
                "                (B, 'float', {1}), (A, 'float', {1, 2}), (A, 'float', {3}), (A, 'float', {2, 1})):\n"
                "    f(ones(2), e, torch.device('cpu'), getattr(torch, t), s)", 8),
    "settings": ("f = torch.compile(lambda x: x * 2, backend='eager'); x = ones(2)\nf(x); f(x)\n"
                 "torch.set_num_threads(2); f(x); f(x); torch.set_num_threads(1); f(x)\n"
                 "for cache in (True, False, False):\n    with torch.autocast('cpu', torch.bfloat16, cache_enabled=cache): f(x)\n"
                 "with torch._C.DisableTorchFunctionSubclass(): f(x); f(x)\n"
                 "torch.use_deterministic_algorithms(True, warn_only=True); f(x)\n"
                 "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False; f(x); f(x)", 13),
    "attributes of classes": ("class P:\n    k = 2\n    def __init__(self, n): self.n = n\n"
                              "class Q(P): pass\np = Q(1); f = torch.compile(lambda x, p: x * p.k + p.n, backend='eager')\n"
                              "f(ones(2), p); f(ones(2), p); P.k = 3; f(ones(2), p); P.k = 4; f(ones(2), p); f(ones(2), p)\n"
                              "Q.k = 5; f(ones(2), p); p.k = 6; f(ones(2), p); del p.k; f(ones(2), p)", 8),
    "dicts that grow": ("class P: pass\np = P(); p.d = {'a': 1}; ms = torch.nn.ModuleList([Net()])\n"
                        "f = torch.compile(lambda x, p, ms: sum((x * k for k in p.d.values()), sum(m(x) for m in ms)), backend='eager')\n"
                        "f(ones(2, 4), p, ms); f(ones(2, 4), p, ms); p.d['b'] = 1; f(ones(2, 4), p, ms)\n"
                        "del p.d['a']; f(ones(2, 4), p, ms); p.d = {'a': 1}; f(ones(2, 4), p, ms); p.d['c'] = 1; f(ones(2, 4), p, ms)\n"
                        "ms.append(Net()); f(ones(2, 4), p, ms); del p.d['c']; f(ones(2, 4), p, ms); ms.pop(1); f(ones(2, 4), p, ms)", 9),
    "sets": ("f = torch.compile(lambda x, s: x * 2 if 'a' in s else x, backend='eager')\n"
             "for s in (frozenset('a'), {'a'}, frozenset('a'), frozenset('ab'), {'b'}, {'a'}, frozenset(), set()): f(ones(2), s)", 8),
    "rare constants": ("f = torch.compile(lambda x, v: x * (len(v) if isinstance(v, bytes) else v.real), backend='eager')\n"
                       "for v in (1j, 2 + 1j, b'a', b\"'b\", 1, True, b'a', 2 + 1j, 1j, b''): f(ones(2), v)", 10),
    "many modules": ("ms = [Net() for _ in range(10)]; f = torch.compile(lambda x, m: m(x), backend='eager')\n"
                     "for _ in range(2):\n    for m in ms: f(ones(2, 4), m)\n"
                     "cs = [torch.compile(m, backend='eager') for m in ms]\n"
                     "for _ in range(2):\n    for c in cs: c(ones(2, 4))", 40),
    "own operators": ("class D:\n    def __init__(self, n): self.n = n\n    def __bool__(self): return self.n > 1\n"
                      "    def __getitem__(self, i): return i * 2\n    def __call__(self, x): return x * self.n\n"
                      "f = torch.compile(lambda x, d: d(x) if d else x + d[1], backend='eager')\n"
                      "for n in (1, 2, 2, 3, 1): f(ones(2), D(n))", 5),
    "default device": ("f = torch.compile(lambda x: torch.ones(2) + x, backend='eager'); x = ones(2)\nf(x); f(x)\n"
                       "with torch.device('meta'): f(torch.ones(2)); f(torch.ones(2))\n"
                       "f(x)\ntorch.set_default_device('cpu'); f(x); f(x)", 7),
    "grown state": ("m = Net(); o = torch.optim.SGD(m.parameters(), lr=torch.tensor(0.1), momentum=0.9)\n"
                    "s = torch.optim.lr_scheduler.StepLR(o, 1)\n@torch.compile(backend='eager')\ndef step(): o.step(); s.step()\n"
                    "for n in (2, 2, 3):\n    o.zero_grad(); m(ones(n, 4)).sum().backward(); step()", 3),
    "partial": ("import functools\ndef g(x, k, s='a'): return x * k if s == 'a' else x\n"
                "f = torch.compile(functools.partial(g, k=2), backend='eager')\nfor n in (2, 2, 2, 3): f(ones(n))\n"
                "f(ones(3), s='b'); f(ones(3), k=4)\nh = torch.compile(lambda x, fn: fn(x), backend='eager')\n"
                "for fn in (functools.partial(g, k=2), functools.partial(g, k=2), functools.partial(g, k=3), torch.sin):\n"
                "    h(ones(2), fn)", 10),
    "constants": ("m = Net(); m.t, m.l = (1, 2), [1, 'a']\n"
                  "f = torch.compile(lambda x, m: x * m.t[1] + len(m.l) + m.l[0], backend='eager')\n"
                  "for t, l in (((1, 2), [1, 'a']), ((1, 3), [1, 'a']), ((1, 3), [2, 'a']), ((1, 2), [1, 'a'])):\n"
                  "    m.t, m.l = t, l; f(ones(2), m); f(ones(2), m)", 8),
    "never compiled": ("@torch.compile(backend='eager')\ndef f(x):\n    yield x\n    yield x * 2\n"
                       "g = torch.compile(lambda x: x, backend='eager'); g(ones(2))\nfor n in (2, 2, 3): list(f(ones(n)))", 4),
    "forwards": ("def f(x): return x * 2\nm, n = Net(), Net(); m.forward = n.forward = f; x = ones(4)\n"
                 "a, b = (torch.compile(k, backend='eager') for k in (m, n))\n"
                 "for _ in range(3): a(x)\nm.eval()\nfor _ in range(3): a(x)\nfor _ in range(3): b(x)", 9),
    "order": ("def g(k, x):\n    y = x + k\n    torch._dynamo.graph_break()\n    return y + x * 2\n"
              "f = torch.compile(g, backend='eager', dynamic=True)\n"
              "for k in (3, 3, 3, *range(10, 18)): f(k, ones(4, 4))", 11),
    "long list": ("f = torch.compile(lambda l, k, o: l[0] + k + o[1], backend='eager', dynamic=True)\n"
                  "l = [ones(4), *range(1200)]\n"
                  "for k in (5, 5, 5, 10, 11, 12): f(l, k, [7, k])", 6),
    "between": ("def g(x, self):\n    y = self.lin(x)\n    torch._dynamo.graph_break()\n    return y * 2\n"
                "f = torch.compile(g, backend='eager'); ms = [Net() for _ in range(4)]\n"
                "for i in (0, 0, 0, 1, 2, 3, 3, 3): f(ones(2, 4), ms[i])", 8),
    "repeats": ("f = torch.compile(lambda x: x * 2, backend='eager'); x = ones(2)\n"
                "for _ in range(500): f(x)\nfor _ in range(500): f(ones(2))", 1000),
}

PARENTS = {"inside": [None, 0, None, 2, None, None, None, 6, 6, None, 9, 9, None]}  # of calls inside others
RAISED = {"raises": [1], "stance fails": [3], "limit fails": [2, 4]}  # calls that an exception left

# Put in front of a program, after the filter.
FILTERED = """
plain = torch.compile
def filtered(f=None, **how):
    how["options"] = {**how.pop("options", {}), "guard_filter_fn": keep_guards}
    return plain(f, **how)
torch.compile = filtered
"""

# A compile and a hit each; prints how many guards PyTorch evaluates for the hit.
COUNT = """
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
def count(function, **scope):
    [entry] = _debug_get_cache_entry_list(function.__code__)
    answer = entry.guard_manager.check_verbose(scope)
    assert answer.result, answer
    # The recorder itself adds a guard, which is no part of the tree.
    own = [g for g in entry.guard_manager.root.get_epilogue_lambda_guards()
           if g.verbose_code_parts()[0].startswith("symtape:")]
    print("COUNTED", answer.num_guards_executed - len(own), flush=True)
"""
COUNTED = {
    "count module": ("m = Net(); f = torch.compile(m, backend='eager')\n"
                     "f(ones(2, 4)); f(ones(2, 4)); count(Net.forward, self=m, x=ones(2, 4), n=1)"),
    "count shapes": ("def g(x, y): return x + y if x.shape[0] % 2 else x - y\n"
                     "f = torch.compile(g, backend='eager', dynamic=True)\n"
                     "f(ones(5), ones(5)); f(ones(7), ones(7)); count(g, x=ones(7), y=ones(7))"),
    "count containers": ("def g(d, xs): return sum(d.values()) + xs[0] * len(xs) + RATE\n"
                         "f = torch.compile(g, backend='eager')\n"
                         "d = {'a': ones(2), 'b': ones(2)}; xs = [ones(2), 3]\n"
                         "f(d, xs); f(d, xs); count(g, d=d, xs=xs)"),
    "count one tensor": ("def g(x, y, s): return x + y if s == 'a' else x\n"
                         "f = torch.compile(g, backend='eager', dynamic=True); x = ones(3, 2)\n"
                         "f(x, x, 'a'); f(x, x, 'a'); count(g, x=x, y=x, s='a')"),
}

# What the program or another thread does to the recorder; how many calls it notes (None: as many as
# the program made meanwhile), and how many it drops.
DISTURBED = {
    "full": ("import sys; sys.modules['_symtape_recorder.calls'].MOST_CALLS = 10\n"
             "f = torch.compile(lambda x: x * 2, backend='eager')\nfor _ in range(30): f(ones(4))", 10, 20),
    "interrupted": ("""
class Armed(torch.nn.Module):
    armed = False
    def forward(self, x): return x + 1
    @property
    def training(self):
        if Armed.armed:
            Armed.armed = False
            raise KeyboardInterrupt
        return True
    @training.setter
    def training(self, value): pass
m = Armed(); f = torch.compile(m.forward, backend='eager'); x = ones(4)
for _ in range(4): f(x)
Armed.armed = True
try:
    f(x)
    raise SystemExit("the interrupt is lost")
except KeyboardInterrupt: pass
f(x)
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list
assert len(_debug_get_cache_entry_list(Armed.forward.__code__)) == 1
""", 6, 0),
    "resumed": ("""
import sys, _symtape_recorder
fs = [torch.compile(f, backend='eager') for f in (lambda x: x, lambda x: x * 2, lambda x: x * 3)]
x, done = ones(4), False
for f in fs: f(x); f(x)
sys.setswitchinterval(1e-6)
def work():
    while not done:
        for f in fs: f(x)
ts = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in ts]
for _ in range(5000): _symtape_recorder.calls.stop(); _symtape_recorder.calls.resume()
done = True
[t.join() for t in ts]
assert not _symtape_recorder.calls.thread.stack
""", None, 0),
}

# Calls with values drawn from a few, so that most arguments are as those of the call before but for
# one property; prints what each was given, as its row should say.
VALUES = """
import json, random
draw = random.Random(SEED)
torch._dynamo.config.recompile_limit = 64
def add(x, xs, n, s): return (x * n).sum() + xs[0].sum() - xs[1].sum() if s is None else x * 2
f = torch.compile(add, backend='eager')
base, leaf = ones(12), ones(2, 3, requires_grad=True)
given = [base[:6].view(2, 3), base[6:].view(2, 3), leaf, leaf * 1, ones(2, 3).requires_grad_(),
         torch.nn.Parameter(ones(2, 3)), ones(3, 2).t(), ones(3, 3), ones(2, 3, dtype=torch.float64)]
numbers = {}
def told(source, value):
    if isinstance(value, torch.Tensor):
        same = numbers.setdefault(id(value), len(numbers))
        return [source, same, list(value.shape), list(value.stride()), value.storage_offset(), str(value.dtype),
                value.requires_grad, value.is_leaf, type(value).__name__]
    return [source, type(value).__name__, len(value) if isinstance(value, (list, tuple)) else repr(value)]
kept, args = [], [given[0], [given[0], given[1]], 1, None]
for i in range(200):
    which = draw.randrange(6)
    if which == 0: args[0] = draw.choice(given)
    elif which == 1: args[1] = draw.choice([list, list, tuple])(draw.choice(given) for _ in range(2))
    elif which == 2: args[2] = draw.choice([1, True, 2, 3, 0.0, -0.0, 1.0])
    elif which == 3: args[3] = draw.choice([None, None, 'a', 'b'])
    elif which == 4: args[0] = ones(2, 3); kept.append(args[0])
    x, xs, n, s = args
    print("GIVEN", json.dumps([told("L['x']", x), told("L['xs']", xs), *[told(f"L['xs'][{k}]", v) for k, v in enumerate(xs)],
                               told("L['n']", n), told("L['s']", s)]))
    with torch.set_grad_enabled(draw.random() < 0.2):
        f(*args)
"""
C_PARTS = (), ("env", "-u", "SYMTAPE_DEEP_LIBRARY")  # with it and without: what runs Python
SEEDS = {f"values {seed}": seed for seed in range(2)}
PARTS = 3  # of the programs, one of which is run each month

# Programs of which the recorder writes the same rows without its C part.
SAME = ["sizes", "inside", "module", "repeats", "breaks", "backward breaks", "objects", "handled", "sparse", "inference",
        "backends", "forwards", "order", "long list", "between"]


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and "Traceback" not in done.stderr, (argv, done.returncode, done.stderr)
    return done.stdout


def written_out(rows):
    """Each call by itself, as trace/events/calls.h writes them out."""
    told, calls = {}, []
    for row in rows:
        told.setdefault(row["call"], row)
        for i in range(row.get("repeat", 1)):
            own = {k: v for k, v in row.items() if k not in ("as", "repeat")}
            first = {k: v for k, v in told[row.get("as", row["call"])].items() if k != "parent"}
            begin, n = first.get("new", [0, 0])
            moved = row.get("new", [0, 0])[0] + i * n - begin
            args = [{**a, "obj": a["obj"] + moved} if begin <= a.get("obj", -1) < begin + n else a
                    for a in first["args"]]
            calls.append({**first, **own, "args": args, "call": row["call"] + i})
    return sorted(calls, key=lambda c: c["call"])


def record(name, text, begin=BEGIN, before=(), dropped=0):
    tape, program = (os.path.join(FOLDER.name, name + end) for end in (".tape", ".py"))
    with open(program, "w") as out:
        out.write(begin + text)
    lines = run(SYMTAPE, "record", "--calls", "--json", "-o", tape, "--", *before, PYTHON,
                program).splitlines()
    report = json.loads(lines[-1])
    assert report["calls"]["dropped"] == dropped and not report["calls"]["not_recorded"], report["calls"]
    rows = [json.loads(line) for line in run(SYMTAPE, "show", "--artifact", "symtape_calls",
                                             tape).splitlines() if line.startswith('{"call"')]
    return tape, report["calls"]["calls"], rows, lines[:-1]


def answers_of(calls):
    return [[(r["outcome"], r.get("answered")) for r in [c, *c.get("frames", [])]]
            for c in calls if "backward_of" not in c]


def recorded_id(compile_id):
    """PyTorch gives 0/0 again after a reset, which is 0/0.1 for symtape."""
    return compile_id and compile_id.partition(".")[0]


def check_filter(name, tape, calls):
    """The program with the filter that symtape guards prints."""
    if all(answered is None for looks in answers_of(calls) for _, answered in looks):
        return "no entry, so no guards"
    before = json.loads(run(SYMTAPE, "guards", "--json", tape))
    code = before["filter"]["python"]
    assert before["filter"]["proved"], before["filter"]
    assert code == run(SYMTAPE, "guards", "--filter", tape)
    if not before["filter"]["guards"]:
        return "no guard can go"
    filtered, _, rows, _ = record(name + " filtered", PROGRAMS[name][0], BEGIN + code + FILTERED)
    assert answers_of(written_out(rows)) == answers_of(calls), "with the filter, other entries answer"
    after = json.loads(run(SYMTAPE, "guards", "--json", filtered))
    cost = {side: {k: v for k, v in before["totals"][side].items() if k != "us"}
            for side in ("cost", "filtered_cost")}
    found = {k: v for k, v in after["totals"]["cost"].items() if k != "us"}
    assert found == cost["filtered_cost"], (cost, found)
    return f"filtered from {cost['cost']['guards']} guards evaluated to {found['guards']}"


def check_count(name):
    tape, _, _, lines = record(name, COUNTED[name], BEGIN + COUNT)
    [counted] = [int(line.split()[1]) for line in lines if line.startswith("COUNTED")]
    totals = json.loads(run(SYMTAPE, "guards", "--json", tape))["totals"]
    assert (totals["lookups"], totals["checks"]) == (2, 1), totals
    assert totals["cost"]["guards"] == counted, (totals, counted)
    return f"{counted} guards evaluated"


def noted_value(arg, numbers):
    """An argument of a row as VALUES prints it; objects are numbered in the order of their first use."""
    if "size" in arg:
        return [arg["source"], numbers.setdefault(arg["obj"], len(numbers)), arg["size"], arg["stride"],
                arg["offset"], arg["dtype"], arg["requires_grad"], arg.get("is_leaf", True),
                arg.get("class", "Tensor")]
    value = arg["len"] if "len" in arg else arg["value"]
    if arg["type"] in ("list", "tuple"):
        return [arg["source"], arg["type"], value]
    is_zero = arg["type"] == "float" and isinstance(value, str)  # "-0.0"
    return [arg["source"], arg["type"], value if is_zero else repr(value)]


def check_values(seed):
    _, _, rows, lines = record(f"values {seed}", VALUES.replace("SEED", str(seed)))
    given = [json.loads(line.split(" ", 1)[1]) for line in lines if line.startswith("GIVEN")]
    calls, numbers = written_out(rows), {}
    assert len(calls) == len(given), (len(calls), len(given))
    for call, expected in zip(calls, given):
        found = [noted_value(arg, numbers) for arg in call["args"]]
        assert found == expected, (call["call"], found, expected)
    return f"{len(calls)} calls in {len(rows)} rows, with the values that they were given"


def check_disturbed(name):
    """With the C part of the recorder, and without."""
    text, expected, dropped = DISTURBED[name]
    found = [record(f"{name} {i}", text, BEGIN, before, dropped)[1] for i, before in enumerate(C_PARTS)]
    assert expected is None or found == [expected, expected], (found, expected)
    return f"{found[0]} calls noted, {dropped} dropped; {found[1]} without the C part"


def check_same(name):
    """The rows with the C part of the recorder, and without."""
    values = SEEDS.get(name)
    text = PROGRAMS[name][0] if values is None else VALUES.replace("SEED", str(values))
    found = []
    for before in C_PARTS:
        tape, _, rows, _ = record(f"same {name}", text, BEGIN, before)
        os.remove(tape)
        assert all(row.pop("seconds") > 0 for row in rows)
        found.append(rows)
    with_c, without_c = found
    for one, other in zip(with_c, without_c, strict=True):
        assert one == other, (one, other)
    return f"{len(with_c)} rows, the same without the C part"


def check_backwards(tape, backwards):
    """Each is of an entry that is known, and those compile that PyTorch logged a compile of."""
    records = [line[line.find("{"):] for line in run(SYMTAPE, "export", tape).splitlines()]
    logged = [json.loads(record)["bwd_compilation_metrics"]["compile_id"] for record in records
              if record.startswith('{"bwd_compilation_metrics":')]
    compiled = [row["entry"] for row in backwards if row["outcome"] == "compiled"]
    assert all(row["outcome"] in ("compiled", "hit") for row in backwards), backwards
    assert compiled == logged, (compiled, logged)


def check(name):
    if name.startswith("same "):
        return check_same(name.removeprefix("same "))
    if name in SEEDS:
        return check_values(SEEDS[name])
    if name in DISTURBED:
        return check_disturbed(name)
    if name in COUNTED:
        return check_count(name)
    text, expected = PROGRAMS[name]
    tape, noted, rows, _ = record(name, text)
    calls = written_out(rows)
    assert len(calls) == noted == expected, (len(calls), noted, expected)
    assert [c["call"] for c in calls] == list(range(expected))
    assert [c["call"] for c in calls if "raised" in c] == RAISED.get(name, [])
    assert [c.get("parent") for c in calls] == PARENTS.get(name, [None] * expected)
    report = json.loads(run(SYMTAPE, "cache", "--json", tape))
    answers, totals = report["calls"], report["totals"]
    assert not totals["contradictions"] and not totals["unused"] and not report["unlisted"], report
    check_backwards(tape, report["backwards"])
    shown = sorted((row["call"], row["parent"]) for row in [*answers, *report["backwards"]])
    assert shown == [(c["call"], c.get("parent")) for c in calls], shown
    forward = [c for c in calls if "backward_of" not in c]
    wrong, inside = [], 0
    for c, recorded, a in zip(forward, answers_of(calls), answers, strict=True):
        found = [(look["outcome"], recorded_id(look["answered"])) for look in a["lookups"]]
        inside += len(recorded) - 1
        if recorded != found:
            wrong.append((c["call"], recorded, found))
    assert not wrong, wrong
    return (f"{len(forward)} calls in {len(rows)} rows, {inside} look-ups inside: all answered as recorded; "
            f"{check_filter(name, tape, calls)}")


def main():
    have = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"],
                          capture_output=True, text=True)
    if have.returncode != 0:
        sys.exit(print(f"skipped: {PYTHON} has no torch (SYMTAPE_PYTHON names another)") or 77)
    names = [*PROGRAMS, *COUNTED, *DISTURBED, *SEEDS, *(f"same {name}" for name in [*SAME, *SEEDS])]
    if not sys.argv[1:]:
        today = datetime.date.today()
        names = names[(today.year * 12 + today.month) % PARTS::PARTS]
        print("those of this month; --all runs the others, too", flush=True)
    elif sys.argv[1:] != ["--all"]:
        names = sys.argv[1:]
    failed = 0
    for name in names:
        try:
            print("ok  ", name, check(name), flush=True)
        except AssertionError as error:
            failed += 1
            print("FAIL", name, error, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
