#!/usr/bin/env python3
"""What `symtape record --calls` costs a call: compiled functions called with the recorder at work and
at rest, in turn; the median of the differences of pairs is printed, with the middle half of them. Asserts nothing.

usage: calls.py SYMTAPE PYTHON [--rounds N]
"""
import argparse
import os
import subprocess
import tempfile

PROGRAM = """
import gc, statistics, sys, time, torch
torch.set_num_threads(1)
calls = sys.modules["_symtape_recorder"].calls
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)])
    def forward(self, x): return self.lin(x)
ones = torch.ones
CASES = {"2 tensors": (lambda x, y: x + y, (ones(4), ones(4))),
         "12 tensors in a list": (lambda xs: sum(xs), ([ones(4) for _ in range(12)],)),
         "8 linears": (Net(), (ones(32, 64),)), "8 linears, 1024 rows": (Net(), (ones(1024, 64),))}
with torch.no_grad():
    for name, (f, args) in CASES.items():
        f = torch.compile(f, backend="eager")
        for _ in range(20): f(*args)
        gc.disable()
        plain, more = [], []
        for i in range(ROUNDS):
            took = {}
            for calls.active in (i % 2 == 0, i % 2 == 1):
                begin = time.perf_counter()
                for _ in range(20): f(*args)
                took[calls.active] = (time.perf_counter() - begin) / 20 * 1e6
            plain.append(took[False])
            more.append(took[True] - took[False])
        calls.active = True
        low, middle, high = statistics.quantiles(more, n=4)
        call = statistics.median(plain)
        print(f"{name:22} {call:8.1f} us a call, {middle:+6.1f} us recorded ({middle / call:+.1%}; {low:+.1f} to {high:+.1f})",
              flush=True)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("python")
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w", encoding="utf-8") as out:
            out.write(PROGRAM.replace("ROUNDS", str(options.rounds)))
        subprocess.run([options.symtape, "record", "-q", "--calls", "-o",
                        os.path.join(folder, "bench.tape"), "--", options.python, program])


if __name__ == "__main__":
    main()
