#!/usr/bin/env python3
"""A tape with every byte changed in turn: an error or a warning, or nothing lost at all; never a
crash, a hang, or other data without a word.

usage: flips.py [--all] [--sample N] [--seed S]
"""
import argparse
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402


def readings(path):
    """What a reader gets: the log, and what info says of it."""
    return [cases.run(["export", "--log", path, "-o", "-"], timeout=20),
            cases.run(["info", "--json", path], timeout=20)]


def problem(tape, good, at, mask, folder):
    """None, or what is wrong with the tape whose byte `at` is changed by `mask`."""
    raw = bytearray(tape)
    raw[at] ^= mask
    path = folder / f"{at}-{mask}.tape"
    path.write_bytes(raw)
    found = None
    for run, wanted in zip(readings(path), good):
        if run.crashed():
            found = f"byte {at} ^ {mask}: {run.told()}"
        elif run.code == 3 and run.err:
            continue
        elif run.code != 0:
            found = f"byte {at} ^ {mask}: {run.told()}"
        elif not run.err and run.out.replace(path.name.encode(), b"") != wanted:
            found = f"byte {at} ^ {mask}: other data without a word"
    path.unlink()
    return found


def check_tape(tell, name, tape, sample, rng, pool, folder):
    whole = folder / "whole.tape"
    whole.write_bytes(tape)
    good = [r.out.replace(b"whole.tape", b"") for r in readings(whole)]
    places = list(range(len(tape)))
    if sample and len(places) > sample:
        # Both ends, where header, index and seek table are, and a sample of what is between.
        ends = places[:64] + places[-160:]
        places = sorted(set(ends + rng.sample(places, sample)))
    tries = [(at, 1 << rng.randrange(8)) for at in places]
    done = pool.map(lambda t: problem(tape, good, *t, folder), tries)
    found = [p for p in done if p]
    more = [f"and {len(found) - 4} more"] if len(found) > 4 else []
    tell.check(f"{name}: {len(tries)} bytes of {len(tape)} changed", found[:4] + more)


def cut_problem(tape, n, folder):
    path = folder / f"cut-{n}.tape"
    path.write_bytes(tape[:n])
    found = [f"cut at {n}: {r.told()}" for r in readings(path)
             if r.crashed() or r.code not in (0, 3) or not r.err]
    path.unlink()
    return found[0] if found else None


def check_cuts(tell, name, tape, sample, rng, pool, folder):
    places = list(range(len(tape)))
    if sample and len(places) > sample:
        places = sorted(set(places[:32] + places[-64:] + rng.sample(places, sample)))
    found = [p for p in pool.map(lambda n: cut_problem(tape, n, folder), places) if p]
    tell.check(f"{name}: cut at {len(places)} places", found[:4])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every byte, not a sample")
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")))
    args = parser.parse_args()
    sample = 0 if args.all else args.sample
    print(f"seed {args.seed}")
    rng = random.Random(args.seed)
    tell = cases.Cases()
    log = min(cases.RECORDINGS.glob("*.log.zst"), key=lambda p: p.stat().st_size)
    with tempfile.TemporaryDirectory(prefix="symtape-flips-") as name, \
            ThreadPoolExecutor(cases.jobs()) as pool:
        folder = Path(name)
        made = cases.run(["import", log, "-o", folder / "in.tape"])
        if made.code != 0:
            sys.exit(f"cannot make a tape to test with: {made.told()}")
        tape = (folder / "in.tape").read_bytes()
        check_tape(tell, log.name, tape, sample, rng, pool, folder)
        check_cuts(tell, log.name, tape, sample, rng, pool, folder)
    tell.finish()


if __name__ == "__main__":
    main()
