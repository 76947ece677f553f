#!/usr/bin/env python3
"""What symtape cudagraphs predicts, beside what mode="reduce-overhead" did on a GPU.

    cudagraphs.py record SYMTAPE FOLDER [PROGRAM...]    needs a GPU and PyTorch
    cudagraphs.py compare SYMTAPE FOLDER                needs neither

record runs each program of cudagraphs_programs.py in a process of its own under symtape record --calls (PROGRAM.tape). It writes
its calls as the program sees them, too (PROGRAM.calls.jsonl), and what PyTorch's CUDAGraphTreeManager did in each call
(PROGRAM.real.json): the functions that it warmed up, recorded, replayed or ran without a graph, with their integer inputs,
and the bytes of the pool. compare replays the calls with symtape and prints both: a row a program, then the runs that
differ. Exit 1: a run differs, or the bytes do by more than 10 %.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ["sizes", "train", "conv_train", "cache", "mutated", "partitions", "breaks", "instances", "pending", "static"]
PROGRAMS += ["two_symbols", "decode"]
SECONDS = 120  # for a program
BYTES_TOLERANCE = 0.1

# ---- All programs ----


def record_one(symtape, name, folder):
    with tempfile.TemporaryDirectory() as cache, open(folder / f"{name}.err", "w") as err:
        env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": cache, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        program = [sys.executable, HERE / "cudagraphs_programs.py", folder, name]
        command = [symtape, "record", "--calls", "--overwrite", "-o", folder / f"{name}.tape", "--", *program]
        try:
            return subprocess.run(command, env=env, stderr=err, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            return "no end"


def record(symtape, folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(12) as pool:
        codes = dict(zip(names, pool.map(lambda n: record_one(symtape, n, folder), names)))
    for name, code in codes.items():
        print(f"{name}: {'ran' if code == 0 else f'failed ({code})'}")
    return 0 if not any(codes.values()) else 1


# ---- Comparison ----


def predicted(symtape, folder, name):
    command = [symtape, "cudagraphs", "--json", folder / f"{name}.tape"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def actions_of(rows):
    """All runs in order: what PyTorch's calls and ours are does not matter, as a call's backward can have several graphs."""
    return [(row["call"], run["action"]) for row in rows for run in row["runs"]]


def bytes_text(n):
    return "-" if n is None else f"{n / 2**20:.1f}"


def compare_one(symtape, folder, name):
    real = json.loads((folder / f"{name}.real.json").read_text())
    ours = predicted(symtape, folder, name)
    runs = list(zip_longest(actions_of(real["calls"]), actions_of(ours["calls"]), fillvalue=(None, "none")))
    differ = [(r, o) for r, o in runs if r[1] != o[1]]
    recorded = sum(r[1] == "record" for r, _ in runs)
    pool = next((row["pool"]["reserved"] for row in reversed(real["calls"]) if row["pool"]), 0)
    same_bytes = abs((ours["pool_bytes"] or 0) - pool) <= BYTES_TOLERANCE * pool
    print(f"| {name} | {len(runs)} | {len(differ)} | {recorded} | {ours['recordings']} | {bytes_text(pool)} | {bytes_text(ours['pool_bytes'])} |")
    return differ, same_bytes


def compare(symtape, folder):
    print("| program | runs | differ | recorded | predicted | pool MiB | predicted |\n|---|---|---|---|---|---|---|")
    failed, rows = False, []
    for path in sorted(folder.glob("*.real.json")):
        name = path.name.removesuffix(".real.json")
        differ, same_bytes = compare_one(symtape, folder, name)
        failed |= bool(differ) or not same_bytes
        rows += [(name, *d) for d in differ]
    for name, (call, real), (our_call, ours) in rows:
        print(f"{name}: PyTorch's call {call} {real}; predicted for call {our_call}: {ours}")
    return int(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "compare"):
        command = commands.add_parser(name)
        command.add_argument("symtape")
        command.add_argument("folder", type=Path)
        if name == "record":
            command.add_argument("programs", nargs="*", default=PROGRAMS)
    options = parser.parse_args()
    if options.command == "record":
        return record(options.symtape, options.folder, options.programs)
    return compare(options.symtape, options.folder)


if __name__ == "__main__":
    sys.exit(main())
