#!/usr/bin/env python3
"""What `symtape replay` estimates that PyTorch dispatched, beside what PyTorch counted (the table of
../shared/README.md). Prints; asserts nothing. tests/bench/README.md says how to read it.

usage: dispatches.py [--passes] [--operators] [MODEL.MODE ...]
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cases  # noqa: E402

COUNTERS = ("FakeTensorMode", "FakeTensor", "Proxy", "fast", "is_contiguous")


def number(text):
    digits = re.match(r"[\d,]+", text.strip())
    return int(digits.group().replace(",", "")) if digits else None


def counted(readme):
    """The table's rows: model.mode to numbers; None where a cell holds none."""
    rows = {}
    for line in readme.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        name = re.fullmatch(r"(\S+) (eval|train)", cells[0])
        if not name or len(cells) != 5:
            continue
        fast = re.fullmatch(r"([\d,]+) / ([\d,]+).*", cells[4])
        if fast:
            rows[".".join(name.groups())] = [number(c) for c in cells[1:4] + list(fast.groups())]
    return rows


def estimated(log):
    done = subprocess.run([cases.SYMTAPE, "replay", "--json", log], stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def of_pass(row):
    return [row["fake_tensor_mode"], row["fake_tensor"], row["proxy"],
            row["fast"].get("attempt", 0), row["fast"].get("is_contiguous", 0)]


def walk_counts(report):
    """Those of the walk of each printed graph, without any model of the rest."""
    ops = report["operators"]
    return [sum(op["dispatches"] for op in ops), 0, 0,
            sum(op["fast"].get("attempt", 0) for op in ops),
            sum(op["fast"].get("is_contiguous", 0) for op in ops)]


def recorded():
    """(model.mode, pass, operator): calls, misses, within, FakeTensor, attempts; of torch 2.11."""
    rows = {}
    for line in (Path(__file__).parent / "dispatches_2.11.tsv").read_text().splitlines():
        if not line.startswith("#"):
            model, where, op, *counts = line.split("\t")
            rows[model, where, op] = [int(n) for n in counts]
    return rows


def print_operators(name, passes, theirs):
    """Where ours and PyTorch's differ in what calls of an operator do, most dispatches first."""
    ours = {(name, row["pass"], op["op"]): [op[key] for key in (
        "calls", "miss", "within", "fake_tensor", "fast_attempts")]
        for row in passes for op in row["operators"]}
    if not any(key[0] == name for key in theirs):
        print("    no counts by operator")
        return
    nothing = [0] * 5
    differing = [(ours.get(key, nothing), theirs.get(key, nothing), key)
                 for key in {k for k in ours | theirs if k[0] == name}
                 if ours.get(key, nothing)[2:] != theirs.get(key, nothing)[2:]]
    differing.sort(key=lambda row: (-abs(row[0][2] - row[1][2]), row[2]))
    for a, b, (_, where, op) in differing:
        counts = "  ".join(f"{what} {x}/{y}" for what, x, y in zip(
            ("calls", "misses", "within", "FakeTensor", "fast"), a, b) if x != y)
        print(f"    {where:10} {op:50} {counts}")


def cell(ours, theirs):
    if theirs is None:
        return f"{ours:>8} {'-':>8}       "
    ratio = f"{ours / theirs:.3f}" if theirs else "-"
    return f"{ours:>8} {theirs:>8} {ratio:>6}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", action="store_true", help="each pass by itself, too")
    parser.add_argument("--operators", action="store_true",
                        help="operators that differ from torch 2.11 by pass: ours/PyTorch's")
    parser.add_argument("models", nargs="*")
    args = parser.parse_args()
    shared = cases.shared()
    if not shared:
        print("no ../shared: nothing to compare with")
        return
    print(f"{'ours, PyTorch, ratio':20}" + "".join(f"{name:>25}" for name in COUNTERS))
    for name, theirs in counted(shared / "README.md").items():
        log = shared / "traces" / f"{name}.aot_eager.log.zst"
        if args.models and name not in args.models:
            continue
        if not log.exists():
            print(f"{name:20} no log")
            continue
        report = estimated(log)
        passes = report["dispatch_passes"]
        ours = [sum(column) for column in zip(*map(of_pass, passes))]
        print(f"{name:20}" + "".join(f" {cell(a, b)}" for a, b in zip(ours, theirs)))
        if args.operators:
            print_operators(name, passes, recorded())
        if args.passes:
            rows = [("(the walk alone)", walk_counts(report))]
            rows += [(row["pass"], of_pass(row)) for row in passes]
            for title, counts in rows:
                print(f"    {title:16}" + "".join(f" {n:>8}{'':16}" for n in counts))


if __name__ == "__main__":
    main()
