#!/usr/bin/env python3
"""The minifier beside torch._functorch.fx_minifier: the same graphs, the same predicates, the same
run. tests/bench/README.md says how to read it. Prints; asserts nothing.

usage: run.py [--blocks N,N...] [--no-peer]

Without a Python that has torch ($SYMTAPE_PYTHON, else this one) only the shape engine is measured."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
import cases  # noqa: E402

# What the predicates of peer_minifier.py look for, and how many calls are the fewest that hold it.
OPS = {"k1": ("aten.sin", 1), "k2_any": ("aten.sin, aten.cos", 2),
       "k2_path": ("aten.sin -> aten.cos", 2), "k3_any": ("aten.sin, aten.cos, gelu", 3)}


def lines(command):
    text = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in text.stdout.splitlines()]


def beside(bench, python, program, blocks, folder):
    peer = lines([python, HERE / "peer.py", program, folder, *blocks])
    rows = []
    for row in peer:
        ops, best = OPS[row["case"]]
        ours = lines([bench, Path(folder) / f"{row['blocks']}.fx", ops])[0]
        rows.append((row, ours, best))
    print("calls  case     asked: fx_minifier  ours   left: fx_minifier  ours  fewest        ms: "
          "fx_minifier    ours")
    for row, ours, best in rows:
        print(f"{row['calls']:5}  {row['case']:8} {row['asked']:18} {ours['asked']:5} "
              f"{row['left']:18} {ours['left']:5} {best:7} {row['ms']:20.1f} {ours['ms']:7.1f}")
    several = [r for r in rows if r[0]["case"] != "k1"]

    def mean(part):
        return math.exp(sum(math.log(o[part] / p[part]) for p, o, _ in several) / len(several))

    print(f"two or more culprits, geometric mean of ours over fx_minifier's: asked {mean('asked'):.3f}"
          f", left {mean('left'):.3f}")
    print(f"worst: asked {max(o['asked'] / p['asked'] for p, o, _ in rows):.2f}, "
          f"left {max(o['left'] / p['left'] for p, o, _ in rows):.2f}; fewest reached in "
          f"{sum(o['left'] == best for _, o, best in rows)} of {len(rows)}")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--blocks", default="1,4,12,40")
    args.add_argument("--no-peer", action="store_true")
    args = args.parse_args()
    build = Path(os.environ.get("SYMTAPE_BUILD", cases.ROOT / "build"))
    bench = build / "tests" / "bench" / "bench_minify"
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    program = cases.shared() and cases.shared() / "programs" / "peer_minifier.py"
    if not args.no_peer and program:
        with tempfile.TemporaryDirectory() as folder:
            beside(bench, python, program, args.blocks.split(","), folder)
    print("shape engine: calls, questions, calls left, ms")
    for row in lines([bench, "--shape", 1000, 10000]):
        print(f"  {row['calls']:6} {row['case']:24} {row['asked']:4} {row['left']:4} "
              f"{row['ms']:9.2f}")
    print("bisect: events, first bad, questions, rounds, ms")
    for row in lines([bench, "--bisect", 10000]):
        print(f"  {row['events']:6} {row['case']:24} {row['first_bad']:6} {row['probes']:4} "
              f"{row['rounds']:4} {row['ms']:9.2f}")


if __name__ == "__main__":
    main()
