#!/usr/bin/env python3
"""`symtape cache --policy levels` over programs that the real PyTorch runs: the compiles of PyTorch's own design are those that it
logged, and those of levels are what their rules give by hand. Beside each program stands why.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch.

    levels_torch.py [PROGRAM...]
"""
import json
import os
import subprocess
import sys
import tempfile

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

BEGIN = """
import torch
torch.set_num_threads(1)
def run(f, *inputs):
    for given in inputs:
        f(*given)
full = lambda rows, value=0.5: torch.full((rows, 8), float(value))
"""

# name: (program, compiles by level as PyTorch makes them, the same with levels, those of the backward)
PROGRAMS = {
    # One graph and no value: for a size, then for any, under both.
    "plain": ("@torch.compile(backend='eager')\ndef f(x): return x.sin()\n"
              "run(f, (full(4),), (full(4),), (full(5),), (full(6),))", [2], [2], (0, 0)),
    # The value is a constant of the resume function, then a float that may be any: one compile more in
    # PyTorch. With levels it is a symbol at once.
    "value": ("@torch.compile(backend='eager')\ndef f(x):\n    n = x.sum().item()\n    return x + n\n"
              "run(f, *[(full(4, v),) for v in (1, 2, 3, 2)])", [1, 2], [1, 1], (0, 0)),
    # f calls g, g calls h, and h needs a value: f, g, h, and the rest of each, for the first size; then the
    # rest of h for another value; then all six for another size. With levels two graphs for each of both sizes.
    "nested": ("def h(x):\n    y = x.sin()\n    n = y.sum().item()\n    return y * n\n"
               "def g(x): return h(x + 1) * 2\n"
               "@torch.compile(backend='eager')\ndef f(x): return g(x * 3).cos()\n"
               "run(f, (full(4, 1),), (full(4, 2),), (full(5, 1),), (full(6, 3),), (full(7, 4),))",
               [6, 7], [2, 2], (0, 0)),
    # As before, but h prints: Python runs, and all is as PyTorch has it.
    "print": ("def h(x):\n    y = x.sin()\n    print(end='')\n    return y * 2\n"
              "def g(x): return h(x + 1) * 2\n"
              "@torch.compile(backend='eager')\ndef f(x): return g(x * 3).cos()\n"
              "run(f, (full(4, 1),), (full(4, 2),), (full(5, 1),), (full(6, 3),))",
              [12], [12], (0, 0)),
    # The number of positions differs where no size of an input does: 3, then any. A symbol at once.
    "nonzero": ("@torch.compile(backend='eager')\ndef f(x, most):\n    i = torch.nonzero(x[:, 0] < most)\n"
                "    return x[i[:, 0]].sum(0)\n"
                "x = torch.ones(10, 8).cumsum(0)\n"
                "run(f, *[(x, torch.tensor(n)) for n in (3, 3, 4, 5, 9)])", [1, 2], [1, 1], (0, 0)),
    # A side of a branch that is first taken at the fourth size. PyTorch compiles f for two sizes; what follows
    # n for a size and value, for any, and for the other side; what follows m, on the one side, for a size
    # and value and for any; on the other again for a size and value, and for any. With levels the
    # sizes are symbols of the first level where it was compiled for any size: the other side is compiled once.
    "late side": ("@torch.compile(backend='eager')\ndef f(x):\n    h = x * 2\n    n = h.sum().item()\n"
                  "    if n > 0:\n        m = h.max().item()\n        return h.sin() * m\n"
                  "    else:\n        m = h.min().item()\n        return h.cos() * m\n"
                  "run(f, *[(full(r, v),) for r, v in ((4, 1), (5, 2), (6, 3), (7, -1), (8, -2), (9, -3))])",
                  [2, 3, 4], [2, 3, 3], (0, 0)),
    # Each side of a branch on a tensor has a resume function, both of one name. PyTorch remembers sizes by file, line and
    # name, so the other side is compiled for any size at once, which levels do, too.
    "sides": ("@torch.compile(backend='eager')\ndef f(x):\n    h = x * 2\n    if h.sum() > 0: return h.sin()\n    return h.cos()\n"
              "run(f, *[(full(r, v),) for r, v in ((4, 1), (5, 2), (6, 3), (7, -1), (8, -2), (9, -3), (4, 1))])",
              [2, 3], [2, 3], (0, 0)),
    # Two values in two functions: up to the first f and g; between them the rest of g, the rest of f and h; behind the
    # second the rest of h and that of f. PyTorch compiles 7 graphs, levels 3. All values are the same.
    "two values": ("def g(x):\n    n = x.sum().item()\n    return x * n\n"
                   "def h(x):\n    n = x.max().item()\n    return x - n\n"
                   "@torch.compile(backend='eager')\ndef f(x): return h(g(x * 2).cos()).sin()\n"
                   "run(f, (full(4),), (full(4),))", [2, 3, 2], [1, 1, 1], (0, 0)),
    # An int that is passed on past the value: the first level does not ask for it, so that it is a constant
    # and then a symbol under both.
    "passed on": ("@torch.compile(backend='eager')\ndef f(x, k):\n    n = x.sum().item()\n    return x * k\n"
                  "run(f, (full(4), 2), (full(4), 3), (full(4), 4))", [1, 2], [1, 2], (0, 0)),
    # A disabled function, which Python runs, so that what follows it is a first level again; then a value. PyTorch
    # compiles the function for 4 rows, for any and for 1; behind the disabled function the same and once more, when k
    # differs; behind the value 7 times, the second time since the value differs, which levels do not.
    "break and resume": ("@torch._dynamo.disable\ndef note(x): pass\n"
                         "class Net(torch.nn.Module):\n"
                         "    def __init__(self):\n        super().__init__()\n        self.times = 1\n"
                         "    def forward(self, x, k):\n        h = torch.relu(x + 1)\n        note(h)\n        h = h * k\n"
                         "        top = h.max().item()\n        if top > 1e6:\n            return h\n"
                         "        for _ in range(self.times):\n            h = torch.tanh(h)\n        return h.sum(0) + top\n"
                         "m = Net()\nf = torch.compile(m, backend='eager')\n"
                         "for n, k, t, v in [(4, 2, 1, 1), (4, 2, 1, 2), (5, 2, 1, 3), (6, 2, 1, 4), (6, 3, 1, 5), (6, 4, 1, 6),\n"
                         "                   (7, 4, 2, 7), (7, 4, 1, 8), (1, 4, 1, 9), (9, 5, 3, 8), (4, 2, 1, 7), (3, 0, 1, 6),\n"
                         "                   (3, 10 ** 9, 1, 5), (3, 7, 1, 4)]:\n"
                         "    m.times = t; f(full(n, v), k)", [7, 7], [7, 6], (0, 0)),
    # The backward of the forward for one size is compiled when it runs, that for any size with its
    # forward. With levels each has one for gradients that are contiguous and one for others, if such come.
    "gradients": ("w = torch.ones(8, requires_grad=True)\n"
                  "@torch.compile(backend='aot_eager')\ndef f(x): return (x * w).relu()\n"
                  "for r, turned in ((4, 0), (4, 1), (4, 1), (5, 0), (6, 0), (7, 1)):\n"
                  "    f(full(r)).backward(torch.ones(8, r).t() if turned else full(r))",
                  [2], [2], (2, 4)),
    # A backward that branches on a size. PyTorch compiles forward and backward for a size, for odd ones and for even ones. With
    # levels the forward does not ask.
    "guards of a backward": ("class Half(torch.autograd.Function):\n"
                             "    @staticmethod\n    def forward(ctx, x): return x * x\n"
                             "    @staticmethod\n    def backward(ctx, g): return g * 2 if g.shape[0] % 2 == 0 else g * 3\n"
                             "w = torch.ones(8, requires_grad=True)\n"
                             "@torch.compile(backend='aot_eager')\ndef f(x): return Half.apply(x * w)\n"
                             "for r in (4, 5, 6, 7, 8): f(full(r)).backward(full(r))",
                             [3], [2], (3, 3)),
    # A backward that never runs: PyTorch compiles it with the forward for any size.
    "no backward": ("w = torch.ones(8, requires_grad=True)\n"
                    "@torch.compile(backend='aot_eager')\ndef f(x): return (x * w).relu()\n"
                    "for r in (4, 5, 6): y = f(full(r))\nf(full(4)).backward(full(4))\ny.shape\n",
                    [2], [2], (2, 1)),
}


def run(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (argv, done.returncode, done.stderr)
    return done.stdout


def check(name, folder):
    text, recorded, levels, backward = PROGRAMS[name]
    tape, program = (os.path.join(folder, name + end) for end in (".tape", ".py"))
    with open(program, "w") as out:
        out.write(BEGIN + text + "\n")
    run(SYMTAPE, "record", "--calls", "--json", "-o", tape, "--", PYTHON, program)
    report = json.loads(run(SYMTAPE, "cache", "--policy", "levels", "--json", tape))
    found = [row["recorded"] for row in report["levels"]], [row["compiles"] for row in report["levels"]]
    assert found == (recorded, levels), (found, (recorded, levels))
    found = report["backward"]["recorded"], report["backward"]["compiles"]
    assert found == backward, (found, backward)
    totals = report["totals"]
    assert not totals["contradictions"] and not totals["doubtful"], totals
    assert (totals["recorded"], totals["compiles"]) == (sum(recorded) + backward[0], sum(levels) + backward[1]), totals
    # What PyTorch started is what is counted as recorded.
    log = run(SYMTAPE, "export", tape).splitlines()
    assert sum('{"dynamo_start": ' in line and '"attempt": 0' in line for line in log) == sum(recorded)
    return f"{totals['compiles']} compiles with levels, {totals['recorded']} without"


def main():
    have = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True)
    if have.returncode != 0:
        sys.exit(print(f"skipped: {PYTHON} has no torch (SYMTAPE_PYTHON names another)") or 77)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="symtape-levels-") as folder:
        for name in sys.argv[1:] or PROGRAMS:
            try:
                print("ok  ", name, check(name, folder), flush=True)
            except AssertionError as error:
                failed += 1
                print("FAIL", name, error, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
