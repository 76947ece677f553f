#!/usr/bin/env python3
"""Logs of one kind of record, so many and twice as many: the instructions of a function that reads
them may double, but not become four times as many. valgrind counts them; without it all is skipped.

usage: growth.py [--only NAME] [-v]
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]
import cases  # noqa: E402

N = 2500
MOST = 2.6  # of the second count to the first; tables that double make steps


class Log:
    def __init__(self):
        self.lines, self.attempt = [], 0

    def add(self, event, data, payload=None):
        row = {event: data, "frame_id": 0, "frame_compile_id": 0, "attempt": self.attempt}
        if payload is not None:
            row["has_payload"] = "0" * 32
        self.lines.append(f"V1120 08:24:44.735000 490 torch/a.py:1] {json.dumps(row)}")
        self.lines += [f"\t{line}" for line in (payload or "").splitlines()]

    def symbol(self, i, value, source):
        self.add("create_symbol", {"symbol": f"s{i}", "val": str(value), "vr": "[2, int_oo]", "source": source,
                                   "user_stack": [], "stack": []})

    def tensor(self, i, size):
        self.add("describe_storage", {"id": i, "describer_id": 0, "size": 4 * size})
        self.add("describe_tensor", {"id": i, "ndim": 1, "dtype": "torch.float32", "device": "device(type='cpu')",
                                     "size": [size], "is_leaf": True, "stride": [1], "storage": i,
                                     "view_func": "", "describer_id": 0})
        self.add("describe_source", {"describer_id": 0, "id": i, "source": f"L['x{i}']"})

    def guard(self, expr):
        self.add("guard_added_fast", {"expr": expr, "user_stack": [], "stack": [
            {"line": 1, "name": "_log_guard", "filename": 0, "loc": 'self._log_guard("eval", g)'}]})


def sizes(log, n):
    """Inputs of as many sizes, each with a symbol."""
    for i in range(n):
        log.tensor(i, i + 2)
        log.symbol(i, i + 2, f"L['x{i}'].size()[0]")


def jagged(log, n):
    """Offsets of jagged tensors, whose other parts are searched for."""
    for i in range(n):
        log.symbol(i, i + 2, f"L['x{i}']._offsets.size()[0]")


def guards(log, n):
    """As many sizes, and guards on them."""
    sizes(log, n)
    for i in range(n):
        log.guard(f"s{i} < 1000000")


def restarts(log, n):
    """A compile that was restarted as often, with a graph break in each attempt."""
    for log.attempt in range(n):
        log.add("dynamo_start", {"stack": [{"line": 1, "name": "f", "filename": 0, "loc": "f()"}]})
        log.add("artifact", {"name": "dynamo_graph_break_reason", "encoding": "string"},
                'Graph break in user code at a.py:1\nReason: x\nUser code traceback:\n'
                '  File "a.py", line 1, in f\n    f()\n')


# The records, what is run, and the function whose instructions are counted, with all that it calls.
ROWS = {
    "inputs that share sizes": (sizes, "replay", "inputs_guess_sharing"),
    "symbols of inputs": (sizes, "replay", "replay_state_open"),
    "parts of jagged tensors": (jagged, "replay", "replay_state_open"),
    "names of symbols that are numbers": (guards, "replay --dynamic static", "attempt_replay"),
    "attempts of a compile": (restarts, "profile --no-replay", "incidents_read"),
}


def count(folder, name, n):
    make, command, function = ROWS[name]
    log = Log()
    make(log, n)
    path = folder / f"{name.replace(' ', '_')}.{n}.log"
    path.write_text("\n".join(log.lines) + "\n")
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                           f"--toggle-collect={function}", cases.SYMTAPE, *command.split(), path],
                          capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found[1]) if found and done.returncode in (0, 1) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("-v", action="store_true")
    args = parser.parse_args()
    if not shutil.which("valgrind") or cases.is_sanitized():
        print("skip - growth: no valgrind, or a sanitizer build")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cases.jobs()) as pool:
        names = [name for name in ROWS if not args.only or args.only == name]
        pairs = [[pool.submit(count, Path(folder), name, n) for n in (N, 2 * N)] for name in names]
        for name, pair in zip(names, pairs):
            first, second = (one.result() for one in pair)
            why = ("was not counted" if not first or not second else
                   f"{first:,} instructions become {second:,}" if second > MOST * first else "")
            print(f"not ok - {name}: {why}" if why else f"ok - {name}")
            if args.v:
                print(f"    {first} {second} {second / first if first else 0:.2f}")
            failed += bool(why)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
