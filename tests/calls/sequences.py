#!/usr/bin/env python3
"""symtape cache on recorded sequences of calls (../shared/sequences), compared with what PyTorch did at each call.

    sequences.py SYMTAPE [-v] [NAME...]

Of a file with the truth beside each call, the answers are taken out; outcome and answering entry of each call of the called
function, which entries pass, and the guard that fails first, in PyTorch's words, have to be those of PyTorch. A sequence whose
calls do not hold what decides (attributes of 17 modules that differ) has a number of outcomes that are expected at least.
"""
import collections
import json
import subprocess
import tempfile

from recorded import SHARED, begin, calls_only, read

# Sequences in which a value changes that the calls do not list: the outcomes, verdicts and reasons that may differ.
UNDECIDED = {"many_instances": (22, 116, 15), "train_backward": (0, 3, 0), "train_inductor": (0, 3, 0)}


def plain(compile_id):
    """An entry without its region."""
    return compile_id.split("@")[0] if compile_id else compile_id


def words(text):
    return " ".join((text or "").split())


def replay(symtape, name, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as calls:
        calls.write(calls_only(rows))
        calls.flush()
        done = subprocess.run([symtape, "cache", "--json", "--all", "--calls", calls.name, str(SHARED / f"{name}.log.zst")],
                              capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    return ({call["call"]: call["lookups"][0] for call in report["calls"]},
            {row["call"]: [row["entry"]] if row["outcome"] == "compiled" else [] for row in report["backwards"]})


def compare_checks(number, truth, ours, say):
    """Returns counts of verdicts and reasons, right and wrong."""
    counts = collections.Counter()
    found = {check["entry"]: check for check in ours["checks"]}
    for check in truth["checks"] or []:
        mine = found.get(plain(check["entry"]))
        counts["checks"] += 1
        if mine is None or mine["pass"] != check["pass"]:
            counts["wrong verdicts"] += 1
            say(f"call {number}, entry {check['entry']}: passes {check['pass']}, not {mine and mine['pass']}")
        elif not check["pass"]:
            counts["reasons"] += 1
            if words(mine["guard"]) != words(check["reason"]):
                counts["wrong reasons"] += 1
                say(f"call {number}, entry {check['entry']}: {words(check['reason'])!r}, not {words(mine['guard'])!r}")
    return counts


def compare(symtape, name, verbose):
    rows = read(name)
    ours, backwards = replay(symtape, name, rows)
    counts = collections.Counter()

    def say(text):
        if verbose:
            print(f"  {name}: {text}")

    for row in rows:
        if "backward_of" in row:
            counts["backwards"] += 1
            if backwards[row["call"]] != [plain(c) for c in row.get("backward_compiles", [])]:
                counts["wrong backwards"] += 1
                say(f"call {row['call']}: compiles {row.get('backward_compiles')}, not {backwards[row['call']]}")
        if not row.get("entries"):
            continue
        truth, mine = row["entries"][0]["lookups"][0], ours[row["call"]]
        counts["calls"] += 1
        if (mine["outcome"], mine["answered"]) != (truth["outcome"], plain(truth["answered"])):
            counts["wrong outcomes"] += 1
            say(f"call {row['call']}: {truth['outcome']} {truth['answered']}, not {mine['outcome']} {mine['answered']}")
        counts += compare_checks(row["call"], truth, mine, say)
    return counts


def main():
    cases, symtape, verbose, _, sequences = begin("sequences")
    total = collections.Counter()
    for name in sequences:
        counts = compare(symtape, name, verbose)
        total += counts
        limits = zip(("wrong backwards", "wrong outcomes", "wrong verdicts", "wrong reasons"), ("backwards", "calls", "checks", "reasons"),
                     (0, *UNDECIDED.get(name, (0, 0, 0))))
        problems = [f"{counts[what]} {what} of {counts[of]}" for what, of, most in limits if counts[what] > most]
        cases.check(f"{name}: {counts['calls']} calls, {counts['checks']} checks", problems)
    print(dict(total))
    cases.finish()


if __name__ == "__main__":
    main()
