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
from calls_torch import PYTHON, SYMTAPE, answers_of, run, written_out  # noqa: E402
from cases import Cases  # noqa: E402
from dynamic_torch import POLICIES, STATEMENTS  # noqa: E402
from random_programs import HARNESS, make  # noqa: E402
from sequences import compare_checks  # noqa: E402

MARKS = {"x": [0], "y": [0, 1], "w": [0]}


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


class Batch:
    """Programs that run in one process, and what symtape says of their recording."""

    def __init__(self, folder, number, limit, programs):
        self.limit, self.programs = limit, programs
        for name, text, _ in programs:
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        names = [name for name, _, _ in programs]
        self.tape = str(folder / f"batch{number}.tape")
        kept = folder / f"batch{number}.json"
        if not kept.exists():
            rows = run_programs(folder, limit, names, ["none"],
                                (SYMTAPE, "record", "-q", "--json", "--overwrite", "--calls", "-o", self.tape, "--"))
            kept.write_text(json.dumps(rows + run_programs(folder, limit, names, ["true", "false", "mark"])), encoding="utf-8")
        self.live = {(row["policy"], row["program"]): row["rows"] for row in json.loads(kept.read_text(encoding="utf-8"))}
        lines = run(SYMTAPE, "show", "--artifact", "symtape_calls", self.tape).splitlines()
        rows = [json.loads(line) for line in lines if line.startswith('{"call"')]
        self.recorded = [row for row in written_out(rows) if "backward_of" not in row]
        self.cache = json.loads(run(SYMTAPE, "cache", "--json", "--all", self.tape))
        there = {(row["source"], row["dim"]) for row in json.loads(run(SYMTAPE, "dynamic", "--json", "-q", self.tape))["inputs"]}
        marks = ",".join(f"{name}:{dim}" for name, dims in MARKS.items() for dim in dims if (f"L['{name}']", dim) in there)
        report = json.loads(run(SYMTAPE, "dynamic", "--json", "-q", *(("--marks", marks) if marks else ()), self.tape))
        self.policies = {row["policy"]: set(row["compiled"]) for row in report["policies"]}

    def split(self):
        """The calls of each program: those of the harness follow each other; calls in between belong to the program, too."""
        at = 0
        for name, text, plain in self.programs:
            rows, calls, end = self.live["none", name], [], at
            while end < len(self.recorded) and f"/{name}.py:" in self.recorded[end].get("code", f"/{name}.py:"):
                end += 1
            calls = list(zip(self.recorded[at:end], self.cache["calls"][at:end]))
            at = end
            yield name, text, plain, rows, calls


def compare_answers(calls, counts):
    """The look-ups, with those that the recorder saw."""
    problems = []
    for recorded, found in calls:
        want = answers_of([recorded])[0]
        got = [(look["outcome"], look["answered"]) for look in found["lookups"]]
        counts["look-ups"] += len(want)
        counts["look-ups equal"] += sum(a == b for a, b in zip(want, got)) if len(want) == len(got) else 0
        if want != got:
            problems.append(f"call {recorded['call']}: {want}, not {got}")
    return problems


def outer_calls(rows, calls):
    """Pairs what the harness noted with the recorded calls: others are those of compiled functions that run inside of one."""
    pairs, at = [], 0
    for row in rows:
        while at < len(calls) and calls[at][0].get("code", row["code"]) != row["code"]:
            at += 1
        if at == len(calls):
            return None
        pairs.append((row, *calls[at]))
        at += 1
    return pairs


def compare_lists(rows, calls, order, counts):
    """The checks of the called function, and the order of entries at the end."""
    problems = []
    pairs = outer_calls(rows, calls)
    if pairs is None:
        return [f"{len(rows)} calls, of which {len(calls)} are recorded"]
    for row, recorded, found in pairs:
        counts["calls"] += 1
        if found["lookups"][0]["code"] == row["code"]:
            counts += compare_checks(recorded["call"], row, found["lookups"][0], problems.append)
    for code, last in {row["code"]: row["order"] for row in rows}.items():
        counts["orders"] += 1
        if order.get(code, []) != last:
            counts["wrong orders"] += 1
            problems.append(f"{code}: the order is {last}, not {order.get(code)}")
    return problems


def compare_policies(batch, name, rows, calls, counts):
    problems = []
    pairs = outer_calls(rows, calls) or []
    outer = [recorded["call"] for _, recorded, _ in pairs]
    inside = {}  # a compile of a function that is called inside of a call is one of that call
    for recorded, _ in calls:
        inside[recorded["call"]] = max((call for call in outer if call <= recorded["call"]), default=None)
    for policy, named in POLICIES.items():
        live = batch.live[policy, name]
        want = [recorded["call"] for (_, recorded, _), row in zip(pairs, live) if row["compiles"]]
        got = sorted({inside[call] for call in batch.policies[named] & inside.keys()} - {None})
        counts[policy] += 1
        counts[f"{policy} equal"] += want == got
        if want != got:
            problems.append(f"{policy}: compiles at {want}, not {got}")
    return problems


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
            batch = Batch(folder, first // args.batch, 2 + first // args.batch % 7, programs)
            order = {row["code"]: row["entries"] for row in batch.cache["order"]}
            for name, _, plain, rows, calls in batch.split():
                problems = compare_answers(calls, counts) + compare_lists(rows, calls, order, counts)
                counts["programs"] += 1
                counts["programs equal"] += not problems
                counts["raised"] += sum("raised" in row for row in rows)
                if plain:
                    others = compare_policies(batch, name, rows, calls, counts)
                    problems += others if args.v else []
                for problem in problems:
                    print(f"  {name}: {problem}")
            for what in ("contradictions", "unused"):
                counts[what] += batch.cache["totals"][what]
            counts["unlisted"] += len(batch.cache["unlisted"])
            print(dict(counts), flush=True)
    share = counts["programs equal"] / counts["programs"]
    text = f"{counts['programs equal']} of {counts['programs']} programs are answered as recorded, {counts['contradictions']} contradictions"
    cases.check(text, [] if share >= args.least else [text])
    for policy, named in POLICIES.items():
        share = counts[f"{policy} equal"] / max(1, counts[policy])
        text = f"{named}: {counts[f'{policy} equal']} of {counts[policy]} programs compile at the same calls"
        cases.check(text, [] if share >= args.least_policies else [text])
    cases.finish()


if __name__ == "__main__":
    main()
