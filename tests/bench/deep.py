#!/usr/bin/env python3
"""What a deep recording costs: processor time of programs recorded with and without --deep.

usage: deep.py SYMTAPE [--runs N] [--level LEVEL] -- PROGRAM [ARG...]

Runs the program N times each way in turn, and compares the least of each. Asserts nothing.
"""
import argparse
import json
import os
import subprocess
import tempfile


def record(symtape, program, options, folder):
    tape = os.path.join(folder, "bench.tape")
    done = subprocess.run([symtape, "record", "-q", "--json", "--overwrite", "-o", tape, *options,
                           "--", *program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--level", default="all")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    plain, deep = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            plain.append(record(options.symtape, options.program, [], folder))
            deep.append(record(options.symtape, options.program, [f"--deep={options.level}"],
                               folder))
    before, after = (min(r["cpu_ns"] for r in runs) for runs in (plain, deep))
    least = min(deep, key=lambda r: r["cpu_ns"])["deep"]
    compiling = least["compile_ns"]
    print(f"{before / 1e9:.2f} s plain, {after / 1e9:.2f} s deep ({options.level}): "
          f"{(after - before) / 1e9:+.2f} s, {(after - before) / compiling:+.1%} of "
          f"{compiling / 1e9:.2f} s of compiling; the recorder says "
          f"{least['overhead_ns'] / 1e9:.2f} s, {least['overhead_ns'] / compiling:.1%}")


if __name__ == "__main__":
    main()
