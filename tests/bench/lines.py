#!/usr/bin/env python3
"""Compares the estimate of time by user line with the times of deep recordings.

    tests/bench/lines.py build/cmd/symtape [-v] [--no-graphs] TAPE...

Each TAPE was recorded with `symtape record --deep`. Its truth is the time in dispatches by user line, each without the dispatches
inside it. The same recording without the records that --deep added is a plain log; its estimate must name the same lines. For each tape
a line is printed: the first three lines of the truth (1, 2, 3) in the order of the estimate, how many of them the estimate has among its
own first three, the shares of the first line of the truth in both, and whether the true share lies in the range that the estimate gives.

A set of three agrees if it is equal, or if each line by which the two differ has at least 80 % of the true time of the line that it
stands in for: of lines that took nearly the same time, any may be third. -v prints the lines. --no-graphs strips the graphs, too, as in
a compile that was killed; it wants recordings with backend="eager", whose time is Dynamo's alone. Nothing is asserted."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

TOP = 3
TIE = 0.8


DEEP = (b'{"symtape_', b'"name": "symtape_')
GRAPHS = (b'_graph": {',)


def plain_log(log, without):
    """The log without records of these names and their payloads, which are indented."""
    keep, out = True, []
    for line in log.split(b"\n"):
        if not line.startswith(b"\t"):
            keep = not any(name in line[:400] for name in without)
        if keep:
            out.append(line)
    return b"\n".join(out)


def profile(symtape, path):
    out = subprocess.run([symtape, "profile", "--json", "--big", "--no-replay", path], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)


def by_line(rows, member):
    return {f"{r['file']}:{r['line']}": r for r in rows if r.get(member, 0) > 0}


def compare(symtape, tape, without, verbose):
    log = subprocess.run([symtape, "export", "--big", tape], check=True, stdout=subprocess.PIPE).stdout
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plain.log")
        with open(path, "wb") as file:
            file.write(plain_log(log, without))
        plain, deep = profile(symtape, path), profile(symtape, tape)
    truth = {name: r["self_ns"] for name, r in by_line(deep["lines"], "self_ns").items()}
    rows = by_line(plain["lines"], "estimated_ns")
    estimate = {name: r["estimated_ns"] for name, r in rows.items()}
    all_true, all_estimated = sum(truth.values()) or 1, sum(estimate.values()) or 1
    want = sorted(truth, key=lambda n: -truth[n])[:TOP]
    got = sorted(estimate, key=lambda n: -estimate[n])
    missing = [n for n in want if n not in got[:TOP]]
    instead = sorted((n for n in got[:TOP] if n not in want), key=lambda n: -truth.get(n, 0))
    agrees = all(i < len(instead) and truth.get(instead[i], 0) >= TIE * truth[n] for i, n in enumerate(missing))
    result = {"tape": os.path.basename(tape), "compile_s": deep["compile_ns"] / 1e9 if "compile_ns" in deep else 0,
              "same": len(want) - len(missing), "agrees": agrees,
              "covered": all_estimated / all_true, "off": 0.0, "in_range": True, "ranks": [
                  got.index(n) + 1 if n in got else 0 for n in want]}
    for name in sorted(set(want) | set(got[:TOP]), key=lambda n: -truth.get(n, 0)):
        share, guess = 100 * truth.get(name, 0) / all_true, 100 * estimate.get(name, 0) / all_estimated
        row = rows.get(name, {})
        low, high = 100 * row.get("share_low", 0), 100 * row.get("share_high", 1)
        wide = high - low > 10
        if name in got[:TOP]:
            result["in_range"] &= low - 0.5 <= share <= high + 0.5
        result["off"] = max(result["off"], abs(share - guess))
        if verbose:
            place = "/".join(name.split("/")[-2:])
            print(f"    {share:5.1f} %  {guess:5.1f} %  {low:5.1f} to {high:5.1f} %{' range' if wide else ''}  {place}")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symtape")
    parser.add_argument("tapes", nargs="+")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--no-graphs", action="store_true")
    args = parser.parse_args()
    without = DEEP + GRAPHS if args.no_graphs else DEEP
    results = []
    for tape in args.tapes:
        r = compare(args.symtape, tape, without, args.verbose)
        results.append(r)
        print(f"{r['tape'][:44]:44} {'agrees' if r['agrees'] else 'differs'}  {r['same']} of {TOP}  ranks {r['ranks']}"
              f"  share off by {r['off']:.1f}  {'in range' if r['in_range'] else 'out of range'}", flush=True)
    print(f"{sum(r['agrees'] for r in results)} of {len(results)} agree, {sum(r['off'] <= 5 for r in results)} have every share within "
          f"5 points, {sum(r['in_range'] for r in results)} within the ranges")
    return 0


if __name__ == "__main__":
    sys.exit(main())
