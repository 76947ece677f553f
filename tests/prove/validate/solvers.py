#!/usr/bin/env python3
"""Z3 alone and symtape's own methods have the same verdicts on the claims of recordings, where both decide.

usage: solvers.py [RECORDING...]
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
import cases  # noqa: E402

SMALL = 12  # recordings, those of the least bytes


def attempts(recording, solver):
    """The verdicts of a recording, or None if it has no attempt of a compile."""
    done = cases.run(["validate", "--json", "--time", "20000", "--solver", solver, recording], timeout=600)
    if done.crashed() or (done.code not in (0, 1, 125) and b"has no attempt" not in done.err):
        raise SystemExit(f"{recording}: --solver {solver}: {done.told()}")
    return json.loads(done.out)["attempts"] if done.out else None


def conflicts(ours, theirs):
    """What one of them proved and the other one refuted."""
    for a, b in zip(ours["claims"], theirs["claims"]):
        if a["n"] != b["n"] or a["proved"] + b["refuted"] > a["n"] or b["proved"] + a["refuted"] > a["n"]:
            yield f"{a['kind']} claims: {a}, Z3: {b}"
    for a, b in zip(ours["asserts"], theirs["asserts"]):
        if {a["verdict"], b["verdict"]} == {"proved", "refuted"}:
            yield f"{a['guard']}: {a['verdict']}, Z3: {b['verdict']}"


def main():
    tell = cases.Cases()
    recordings = [Path(path) for path in sys.argv[1:]] or sorted(
        cases.RECORDINGS.glob("*.log.zst"), key=lambda path: path.stat().st_size)
    start = cases.run(["validate", "--solver", "z3", recordings[0]])
    if b"Z3 is not installed" in start.err:
        tell.skip("solvers", start.err.decode(errors="replace").strip())
        tell.finish()
    n_claims = n_own = n_z3 = n = 0
    for recording in recordings:
        ours = attempts(recording, "own") if n < SMALL or sys.argv[1:] else None
        if not ours or not any(claims["n"] for one in ours for claims in one["claims"]):
            continue
        theirs = attempts(recording, "z3")
        found = [text for a, b in zip(ours, theirs, strict=True) for text in conflicts(a, b)]
        tell.check(f"{recording.name}: the same verdicts", found[:4])
        n += 1
        n_claims += sum(claims["n"] for one in ours for claims in one["claims"])
        n_own += sum(claims["proved"] + claims["refuted"] for one in ours for claims in one["claims"])
        n_z3 += sum(claims["proved"] + claims["refuted"] for one in theirs for claims in one["claims"])
    few = f"{n_z3} of {n_claims} claims are decided by Z3, {n_own} by own methods"
    tell.check("Z3 decides at least half as many claims", [few] if not n_own or 2 * n_z3 < n_own else [])
    print(f"{n_claims} claims, {n_own} decided by own methods, {n_z3} by Z3")
    tell.finish()


if __name__ == "__main__":
    main()
