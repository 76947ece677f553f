#!/usr/bin/env python3
"""Samples of PyTorch's own test databases, compiled by the live PyTorch and replayed.

usage: database_torch.py [--database NAME] [--names REGEX] [--samples N] [--keep DIR]
                         [--recorded] [--expect PERCENT] [--expect-guards PERCENT] [-v] SYMTAPE

Records samples of each operator of op_db (or module_db, hop_db, export_db) with dynamic=True under
TORCH_TRACE, in evaluation and in training, and compares the calls and the kernel guards of all graphs
with what `symtape replay` computes. Prints the operators that differ, the worst first, with -v what
differs, and the totals. Logs stay in the folder that --keep names; those that are there are not
recorded again, and with --recorded no other. --samples 0 takes all. Exits with 77 where Python has no torch.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def record(options, folder):
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        sys.exit(77)
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([python, os.path.join(here, "record_database.py"), options.database, folder,
                    options.names, str(options.samples)], env=os.environ | {"TORCH_TRACE": folder},
                   cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def replay(symtape, log):
    done = subprocess.run([symtape, "replay", "--json", "--guards", "--jobs", "1", log],
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        return {"failed": f"left with {done.returncode}: {done.stderr[-200:]}"}
    return json.loads(done.stdout)


def counts(report):
    totals, guards = report["totals"], report["guards"]["kernel"]
    return collections.Counter({"calls": totals["calls"], "match": totals["match"],
                                "reproduced": guards["reproduced"], "missing": guards["missing"],
                                "extra": guards["extra"]})


def share(good, bad):
    return 100 * good / (good + bad) if good + bad else 100


def shares(n):
    """Calls that match, recorded guards that are reproduced, and extra guards beside the recorded."""
    known = n["reproduced"] + n["missing"]
    return (share(n["match"], n["calls"] - n["match"]), share(n["reproduced"], n["missing"]),
            100 * n["extra"] / known if known else 0)


def line(n):
    calls, guards, extra = shares(n)
    return (f"{n['calls']} calls, {calls:.3f} % match; kernel guards: {n['reproduced']} reproduced "
            f"({guards:.2f} %), {n['missing']} missing, {n['extra']} extra ({extra:.2f} %)")


def print_differences(report):
    for wrong in report["mismatches"]:
        if not wrong.get("derived"):
            print(f"    {wrong['compile']}_{wrong['attempt']}:{wrong['graph']} {wrong['node']} "
                  f"{wrong['op']}\n        recorded {wrong['recorded']}\n"
                  f"        {wrong['outcome']} {wrong['replayed']}")
    for guard in report["guards"].get("list", []):
        if guard["kind"] == "guard" and guard["outcome"] in ("missing", "extra"):
            asker = guard.get("asker") or {"file": "", "line": "", "function": ""}
            print(f"    guard {guard['outcome']} {guard['expr']} {guard.get('op', '')} "
                  f"{os.path.basename(asker['file'])}:{asker['line']} {asker['function']}")


def compare(options, folder):
    logs = sorted(log for log in glob.glob(os.path.join(folder, "*.log"))
                  if re.fullmatch(options.names, os.path.basename(log)[:-4]))
    rows, totals, failed = [], collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for log, report in zip(logs, pool.map(lambda log: replay(options.symtape, log), logs)):
            name = os.path.basename(log)[:-4]
            if "failed" in report:
                print(f"{name}: {report['failed']}")
                failed += 1
                continue
            n = counts(report)
            totals.update(n)
            bad = n["calls"] - n["match"] + n["missing"] + n["extra"]
            if bad:
                rows.append((bad, name, n, report))
    for _, name, n, report in sorted(rows, key=lambda row: -row[0]):
        print(f"{name}: {line(n)}")
        if options.verbose:
            print_differences(report)
    print(f"{len(logs) - len(rows) - failed} of {len(logs)} operators do not differ")
    print(line(totals))
    return totals, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", default="op_db",
                        choices=["op_db", "module_db", "hop_db", "export_db"])
    parser.add_argument("--names", default=".*", help="a regular expression")
    parser.add_argument("--samples", type=int, default=4, help="of an operator; 0 for all")
    parser.add_argument("--keep", help="the folder of logs")
    parser.add_argument("--recorded", action="store_true", help="only the logs that are there")
    parser.add_argument("--expect", type=float, default=0, help="per cent of the calls")
    parser.add_argument("--expect-guards", type=float, default=0, help="per cent of the guards")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("symtape")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.abspath(options.keep or scratch)
        os.makedirs(folder, exist_ok=True)
        if not options.recorded:
            record(options, folder)
        totals, failed = compare(options, folder)
    calls, guards, _ = shares(totals)
    return 1 if (failed or not totals["calls"] or calls < options.expect or
                 guards < options.expect_guards) else 0


if __name__ == "__main__":
    sys.exit(main())
