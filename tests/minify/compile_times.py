#!/usr/bin/env python3
"""What PyTorch takes to compile graphs of recordings, and what they are reduced to, beside the estimate of `minify --cost seconds`.

    compile_times.py SYMTAPE [--cost NAME] GRAPH...      ($SYMTAPE_PYTHON names a Python with PyTorch)

GRAPH is as volo.tape:0/0_1:dynamo. Each is reduced to half of its cost NAME (seconds), and both graphs are compiled by PyTorch
(--torch-oracle seconds) for the CPU with the backend aot_eager. Printed are the processor time, the estimate, and the ratio of the two;
of the reduced graph also its share of the measured time. Takes minutes.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def minify(symtape, *options):
    done = subprocess.run([symtape, "minify", "--big", "--json", *options], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else sys.exit(done.stderr[-1000:])


def row(title, total, measured, more=""):
    ratio = f"{total['seconds'] / measured:7.2f}" if measured else "      -"
    print(f"{title[-60:]:60} {total['calls']:6} {total['expr-size']:10} {total['seconds']:9.2f} s {measured or 0:9.2f} s {ratio}{more}", flush=True)


def compare(symtape, name, graph, folder):
    tape = os.path.join(folder, "reduced.tape")
    whole = minify(symtape, "--cost", name, graph)
    limit = f"{name}>={whole['proposed']}"
    reduced = minify(symtape, "--cost", limit, "--torch-oracle", "seconds", "--cpu", "-o", tape, graph)
    before, after = (reduced["compiled"][key] for key in ("seconds_before", "seconds_after"))
    row(graph, whole["total"], before)
    row(f"  reduced to {limit}", minify(symtape, "--cost", "seconds", tape)["total"], after,
        f"  {after / before:.0%} of the time" if after and before else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("symtape")
    parser.add_argument("--cost", default="seconds")
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    args = parser.parse_args()
    print(f"{'graph':60} {'calls':>6} {'expr-size':>10} {'estimated':>11} {'measured':>11} {'ratio':>7}")
    for graph in args.graphs:
        with tempfile.TemporaryDirectory() as folder:
            compare(os.path.abspath(args.symtape), args.cost, graph, folder)


if __name__ == "__main__":
    main()
