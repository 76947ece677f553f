#!/usr/bin/env python3
"""A differential fuzzer: random small graphs, compiled by the live PyTorch and replayed.

usage: graphs_torch.py [--samples | --all] [--seed N] [--seconds S] [--rounds N] [--keep DIR]
                       [--expect PERCENT] [--expect-guards PERCENT] SYMTAPE

Each round compiles random programs (tests/differential/programs.py), or with --samples random inputs
of random operators of PyTorch's operator database, with dynamic sizes under TORCH_TRACE and asks
`symtape replay` for every call of every graph that PyTorch made of them: Dynamo's, the joint one,
forward and backward. A log in which a call or a guard does not match is kept; too few that do fail
the test. --all takes the operators in their order from number --seed on. Prints the seed first.
Exits with 77 where Python has no torch.
"""
import argparse
import collections
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verdict import month_seed  # noqa: E402

ROUND = 12  # programs a process


def compile_round(python, kind, seed, folder):
    env = os.environ | {"TORCH_TRACE": folder}
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([python, os.path.join(here, "compile_programs.py"), kind, str(seed),
                    str(seed + ROUND)], env=env, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=900)


def replay(symtape, folder):
    done = subprocess.run([symtape, "replay", "--json", folder], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"symtape replay left with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


class Totals:
    """Counts of all rounds."""

    def __init__(self):
        self.counts = collections.Counter()

    def add(self, report):
        """Adds a round's; returns whether everything matched."""
        totals, guards = report["totals"], report["guards"]["kernel"]
        now = {k: totals[k] for k in ("graphs", "calls", "match")}
        now |= {k: guards[k] for k in ("reproduced", "missing", "extra")}
        self.counts.update(now)
        return now["calls"] == now["match"] and not now["missing"] and not now["extra"]

    def share(self, good, *bad):
        """Per cent."""
        of = self.counts[good] + sum(self.counts[x] for x in bad)
        return 100 * self.counts[good] / of if of else 100

    def calls_share(self):
        return 100 * self.counts["match"] / max(1, self.counts["calls"])

    def guards_share(self):
        return self.share("reproduced", "missing", "extra")

    def __str__(self):
        n = self.counts
        return (f"{n['calls']} calls in {n['graphs']} graphs, {self.calls_share():.2f} % match; "
                f"kernel guards: {n['reproduced']} reproduced, {n['missing']} missing, "
                f"{n['extra']} extra")


def print_differences(report):
    for wrong in report["mismatches"][:5]:
        print(f"    {wrong['op']}: {wrong['recorded']} {wrong['replayed']}")
    for name, n in report["unsupported_ops"].items():
        print(f"    unsupported {name}: {n}")


def keep_log(folder, options, seed):
    kept = os.path.join(options.keep, f"graphs-{seed}")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept)
    return kept


def one_round(python, options, seed, totals):
    with tempfile.TemporaryDirectory() as folder:
        compile_round(python, options.kind, seed, folder)
        report = replay(options.symtape, folder)
        if totals.add(report):
            print(f"ok - seeds {seed} to {seed + ROUND - 1}", flush=True)
            return
        kept = keep_log(folder, options, seed)
        print(f"differs - seeds {seed} to {seed + ROUND - 1}: {report['totals']}, "
              f"{report['guards']['kernel']}, kept in {kept}", flush=True)
        print_differences(report)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=month_seed() * 1000)
    parser.add_argument("--samples", dest="kind", action="store_const", const="samples",
                        default="programs")
    parser.add_argument("--all", dest="kind", action="store_const", const="all")
    parser.add_argument("--rounds", type=int, help="so many, whatever time they take; without it, --seconds")
    parser.add_argument("--expect", type=float, default=100, help="per cent of the calls")
    parser.add_argument("--expect-guards", type=float, default=0, help="per cent of the guards")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", default=tempfile.gettempdir())
    parser.add_argument("symtape")
    return parser.parse_args()


def main():
    options = read_options()
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return 77
    print(f"seed {options.seed}", flush=True)
    end, totals = time.monotonic() + options.seconds, Totals()
    for i in itertools.count():
        if i == options.rounds or (options.rounds is None and time.monotonic() > end):
            break
        one_round(python, options, options.seed + i * ROUND, totals)
    print(totals)
    return 1 if (totals.calls_share() < options.expect or not totals.counts["calls"] or
                 totals.guards_share() < options.expect_guards) else 0


if __name__ == "__main__":
    sys.exit(main())
