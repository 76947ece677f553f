#!/usr/bin/env python3
"""What `symtape replay --what-if` predicts for other sizes, beside what the live PyTorch then does.

usage: hints_torch.py [--all] [--expect PERCENT] SYMTAPE

Each program below is compiled at its first sizes and, as another function, at each of its other
sizes, all in one process. From the first log symtape predicts the guards at the other sizes; those
that PyTorch added have to be the same, up to the place where symtape says that the program branches.
Where it says so, PyTorch has to have asked the opposite. Without --all every third prediction is
made. Exits with 77 where Python has no torch.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from prediction import ask, copy_of, recorded_guards, report  # noqa: E402

CASES = []


def case(*sizes):
    """Adds a program of one tensor: sizes[0] are recorded, the others predicted."""
    def add(fn):
        CASES.extend((fn, sizes[0], other) for other in sizes[1:])
        return fn
    return add


@case((12, 6), (5, 6), (12, 7), (12, 10), (12, 12), (9, 2))
def two_branches(x):
    y = x * 2
    if x.shape[0] > 8:
        y = y + 1
    n = x.shape[1]
    if n % 2 == 0:
        return y.reshape(-1, n // 2)
    return y.view(-1)


@case((12, 6), (12, 8), (13, 6), (6, 6))
def branch_between_views(x):
    y = x.reshape(-1, x.shape[1] // 2)
    if y.shape[0] % 8 == 0:
        y = y + 1
    return y.view(-1).relu()


@case((4, 6), (5, 6), (4, 9), (4, 4))
def loop_over_size(x):
    out = x
    for i in range(x.shape[0]):
        out = out + i
    return out.sum(0)


@case((4, 6), (7, 6), (4, 5))
def early_return(x):
    if x.size(0) == 4:
        return x.cos()
    return x.sin().view(-1)


@case((4, 6), (7, 6), (4, 5), (6, 4))
def compared_sizes(x):
    if x.size(0) < x.size(1):
        return x.transpose(0, 1).reshape(-1)
    return x.flatten()


@case((4, 8, 9), (5, 8, 9), (4, 7, 9), (4, 8, 8), (4, 4, 4))
def no_branch(x):
    return torch.softmax(x.transpose(1, 2) @ x, -1).reshape(x.shape[0], -1).mean(0)


@case((2, 3, 16, 20), (2, 3, 17, 20), (3, 3, 16, 21), (2, 3, 16, 16))
def pooled(x):
    y = F.max_pool2d(F.pad(x, (1, 1, 1, 1)), 2)
    if y.shape[2] > 8:
        y = y * 2
    return F.avg_pool2d(y, 3, stride=2)


@case((6, 10), (7, 10), (6, 11), (6, 12))
def split_in_two(x):
    a, b = x.chunk(2, 1)
    if a.shape[1] == b.shape[1]:
        return a * b
    return a.sum() + b.sum()


@case((8, 6), (9, 6), (16, 6), (8, 8))
def branch_on_result(x):
    y = torch.cat([x, x[1:]])
    if y.shape[0] >= 16:
        return y.narrow(0, 0, 4)
    return y.view(-1, 3) if x.shape[1] % 3 == 0 else y


@case((10, 6), (3, 6), (4, 6))
def nested_branches(x):
    n = x.shape[0]
    if n > 4:
        if n > 8:
            return x + n
        return x - n
    return x * n


@case((10, 6), (12, 6), (10, 7))
def known_by_kernel(x):
    y = x.view(-1, 2, x.shape[1])
    if x.shape[0] % 2 == 0:
        y = y + 1
    if x.shape[1] > 6:
        y = y * 2
    return y


@case((6, 5), (7, 5), (6, 9))
def as_number(x):
    width = int(x.shape[1])
    return x + torch.ones(width) * (width > 4)


def compile_at(fn, size):
    torch.compile(copy_of(fn), backend="aot_eager", dynamic=True)(torch.randn(*size))


def record():
    """The child process: compile 2*i/0 is the recorded one of case i, 2*i+1/0 the predicted one."""
    for fn, recorded, predicted in CASES:
        for size in (recorded, predicted):
            torch._dynamo.pgo.reset_code_state()  # it would know the sizes of the compile before
            compile_at(fn, size)


def symbols(log):
    """The symbol of each size of x by compile."""
    found = {}
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if '"create_symbol"' in line:
                row = json.loads(line[line.index("{"):])
                size = re.search(r"size\(\)\[(\d+)\]$", row["create_symbol"]["source"])
                if size:
                    names = found.setdefault(row["frame_id"], {})
                    names[int(size[1])] = row["create_symbol"]["symbol"]
    return found


def predict(symtape, log, number, names, sizes):
    """The guards at other sizes, and whether they end at a branch."""
    sets = ",".join(f"{names[d]}={n}" for d, n in enumerate(sizes) if d in names)
    hints = ask(symtape, "--what-if", sets, f"{log}:{number}/0")["hints"]
    before = recorded_guards(symtape, f"{log}:{number}/0")
    if hints["branches"]:
        before = before[:before.index(hints["branches"][0]["expr"]) + 1]
    gone = [row["expr"] for row in hints["guards"]["gone"]]
    new = [row["expr"] for row in hints["guards"]["new"]]
    kept = [expr for expr in before if expr not in gone]
    return kept + new, new[-1] if hints["branches"] and new else None


def check(symtape, log, number, names, case_):
    fn, recorded, sizes = case_
    predicted, opposite = predict(symtape, log, number, names, sizes)
    actual = recorded_guards(symtape, f"{log}:{number + 1}/0")
    if opposite in actual:
        actual = actual[:actual.index(opposite) + 1]
    same = set(actual) == set(predicted)
    name = f"{fn.__name__} {recorded} at {sizes}{', which branches' if opposite else ''}"
    return report(name, same, sorted(set(actual) - set(predicted)),
                  sorted(set(predicted) - set(actual)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--expect", type=float, default=95, help="per cent of the predictions")
    parser.add_argument("symtape")
    options = parser.parse_args()
    if not options.all:
        CASES[:] = CASES[::3]
    if options.symtape == "record":
        return record()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, *(["--all"] * options.all), "record"], check=True,
                       env=os.environ | {"TORCH_TRACE": folder})
        log = os.path.join(folder, os.listdir(folder)[0])
        names = symbols(log)
        good = sum(check(options.symtape, log, 2 * i, names[2 * i], chosen)
                   for i, chosen in enumerate(CASES))
    print(f"{good} of {len(CASES)} predictions are right")
    return 0 if 100 * good >= options.expect * len(CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
