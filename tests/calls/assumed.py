#!/usr/bin/env python3
"""symtape cache on recorded sequences (../shared/sequences) of which the tape lost all compiles but the first two, compared
with what PyTorch did at each call.

    assumed.py SYMTAPE [-v]

What the entries that symtape assumes answer has to be what PyTorch's answered, where the calls differ in sizes and integers
alone. A call whose compile is said to be unknown is no error, but most must be known. Branches on a size, strides, lists and
wobbling integers without automatic dynamic shapes are assumed wrongly at times: those outcomes are counted, and may not grow.
"""
import json
import pathlib
import re
import subprocess
import tempfile

from recorded import SHARED, begin, calls_only, read

# Sequences, how many outcomes may be unknown, and how many wrong.
NAMES = {"mlp_lengths.none": (0, 0), "mlp_lengths.false": (0, 0), "mlp_lengths.true": (0, 0), "duck_two.none": (2, 0),
         "duck_two.false": (0, 0), "zero_one": (0, 0), "int_wobble.none": (5, 0), "resnet_sizes": (2, 0), "parity_branch.none": (0, 3),
         "int_wobble.false": (5, 3), "tensor_props": (6, 4), "list_lengths": (6, 1)}
KEPT = 2


def cut(name, out):
    """The log without the records of later compiles; the limit of entries is PyTorch's default."""
    log = subprocess.run(["zstd", "-dcq", "--long=27", SHARED / f"{name}.log.zst"], stdout=subprocess.PIPE, check=True).stdout
    keep = True
    for line in log.decode(errors="replace").splitlines(keepends=True):
        if not line.startswith("\t"):
            compiles = re.findall(r'"frame_id": 0, "frame_compile_id": (\d+)', line) \
                + re.findall(r'"compilation_metrics": {"compile_id": "0/(\d+)"', line)
            keep = all(int(number) < KEPT for number in compiles)
        if keep:
            out.write(line)


def replay(symtape, name, rows, folder):
    log, calls = folder / "cut.log", folder / "calls.jsonl"
    with log.open("w") as out:
        cut(name, out)
    calls.write_text(calls_only(rows))
    done = subprocess.run([symtape, "cache", "--json", "--recompile-limit", "8", "--calls", calls, log],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def compare(name, rows, found, verbose):
    ours = {call["call"]: call["lookups"][0] for call in found["calls"]}
    problems, unknown = [], 0
    for row in rows:
        if not row.get("entries"):
            continue
        truth, mine = row["entries"][0]["lookups"][0]["outcome"], ours[row["call"]]["outcome"]
        unknown += mine == "unknown"
        if mine not in (truth, "unknown"):
            problems.append(f"call {row['call']}: {truth}, not {mine}")
    most_unknown, most_wrong = NAMES[name]
    wrong = len(problems)
    problems = problems if wrong > most_wrong else []
    if unknown > most_unknown:
        problems.append(f"{unknown} calls are unknown")
    if not found["totals"]["assumed"] and any(c["outcome"] == "compiled" for c in list(ours.values())[KEPT + 2:]):
        problems.append("no entry was assumed")
    if verbose:
        print(f"  {name}: {len(ours)} calls, {wrong} wrong, {unknown} unknown, {found['totals']['assumed']} entries assumed")
    return problems


def main():
    cases, symtape, verbose, _, _ = begin("assumed")
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            rows = read(name)
            found = replay(symtape, name, rows, pathlib.Path(folder))
            cases.check(f"{name} with {KEPT} compiles", compare(name, rows, found, verbose))
    cases.finish()


main()
