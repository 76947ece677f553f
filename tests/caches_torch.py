#!/usr/bin/env python3
"""symtape cache and dynamic on random programs (calls/random_programs.py) under the real PyTorch. Of each program is compared:
- which entry answers each look-up, inside the calls, too, or what is compiled, with what `record --calls` saw;
- the order of entries after the calls, and which entries pass on each call and the guard that fails in those that do not, with
  what PyTorch's own list of entries says;
- the guards that PyTorch logged for its compiles;
- the calls that compile under dynamic=True, dynamic=False and with marks, predicted by `symtape dynamic`, with those that do.

    caches_torch.py [-v] [--programs N] [--seed N] [--least SHARE] [--least-policies SHARE] [--batch N] [--keep FOLDER]

The programs of a batch run in one process. With --keep, those that FOLDER has from an earlier run are not run again. SYMTAPE is
the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with 77, "skipped" to meson, when that
one has no torch.
"""
import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "calls"))
from calls_torch import PYTHON, SYMTAPE  # noqa: E402
from cases import Cases  # noqa: E402
from dynamic_torch import STATEMENTS  # noqa: E402
from programs_compared import MARKS, Answers, check_counts, compare_programs  # noqa: E402
from random_programs import HARNESS, make  # noqa: E402


def run_programs(folder, limit, names, policies, record=()):
    """Returns what the harness noted of the calls of each program under each policy."""
    done = subprocess.run([*record, PYTHON, "-c", "import harness; harness.main()", str(limit), json.dumps(MARKS), ",".join(names),
                           *policies], cwd=folder, capture_output=True, text=True, check=False)
    rows = [json.loads(line.split(" ", 1)[1]) for line in done.stdout.splitlines() if line.startswith("program ")]
    if len(rows) != len(policies) * len(names):
        raise SystemExit(f"the programs failed in {folder}:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    if record:
        noted = json.loads(done.stdout.splitlines()[-1])["calls"]
        if noted["dropped"] or noted["not_recorded"]:
            raise SystemExit(f"calls in {folder} are not recorded: {noted}")
    return rows


def run_batch(folder, number, limit, programs):
    """Runs programs in one process, unless the folder has what an earlier run left. Returns what symtape says of the recording."""
    for name, text, _ in programs:
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    names = [name for name, _, _ in programs]
    tape, kept = folder / f"batch{number}.tape", folder / f"batch{number}.json"
    if not kept.exists():
        rows = run_programs(folder, limit, names, ["none"],
                            (SYMTAPE, "record", "-q", "--json", "--overwrite", "--calls", "-o", str(tape), "--"))
        kept.write_text(json.dumps(rows + run_programs(folder, limit, names, ["true", "false", "mark"])), encoding="utf-8")
    return Answers(SYMTAPE, tape, [(name, plain) for name, _, plain in programs], json.loads(kept.read_text(encoding="utf-8")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--least", type=float, default=1)
    parser.add_argument("--least-policies", type=float, default=0.9)
    parser.add_argument("--keep")
    args = parser.parse_args()
    cases, counts = Cases(), collections.Counter()
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        cases.skip("caches_torch", f"{PYTHON} has no torch")
        cases.finish()
    with tempfile.TemporaryDirectory(prefix="symtape-caches-") as temporary:
        folder = pathlib.Path(args.keep or temporary)
        (folder / "harness.py").write_text(HARNESS, encoding="utf-8")
        for first in range(0, args.programs, args.batch):
            numbers = range(first, min(first + args.batch, args.programs))
            programs = [(f"p{args.seed}_{i}", *make(random.Random(args.seed * 100000 + i), STATEMENTS)) for i in numbers]
            compare_programs(run_batch(folder, first // args.batch, 2 + first // args.batch % 7, programs), counts, args.v)
            print(dict(counts), flush=True)
    check_counts(cases, counts, args.least, args.least_policies)
    cases.finish()


if __name__ == "__main__":
    main()
