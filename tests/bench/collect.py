#!/usr/bin/env python3
"""Collects many small recordings (tests/corpus/recordings.py), and copies of them with other ids. Prints; asserts nothing.

usage: collect.py SYMTAPE [--recordings N] [--copies N] [--folder FOLDER]

Milliseconds are processor time of one process, user and system, divided by the tapes; the first run has read the files once.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "corpus"))
from recordings import make  # noqa: E402


def tapes_of(symtape, logs, folder):
    """Imports each log. Returns the folder."""
    for path in sorted(logs.rglob("*.log.zst")):
        tape = folder / path.relative_to(logs).with_suffix("").with_suffix(".tape")
        tape.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([symtape, "import", "-q", "-o", tape, path], check=True, stdout=subprocess.DEVNULL)
    return folder


MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def measured(*args):
    """Seconds of processor time, of the clock, and KiB. A small process starts it: a child's most is never below its parent's."""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", MEASURED, *map(str, args)], stdout=subprocess.PIPE, check=True)
    code, cpu, memory = done.stdout.split()
    if int(code):
        sys.exit(f"exit {int(code)}: {args}")
    return float(cpu), time.monotonic() - begun, int(memory)


def report(what, n, cost, path=None):
    cpu, clock, memory = cost
    size = f", {path.stat().st_size / 1e6:.1f} MB of corpus" if path else ""
    print(f"{what}: {n} tapes, {cpu * 1e3 / n:.3f} ms of processor time a tape, {clock:.1f} s, {memory / 1024:.1f} MiB of memory{size}")


def bench(symtape, folder, name, operand, n):
    corpus = folder / f"{name}.sqlite"
    measured("cat", *sorted(p for p in operand.rglob("*") if p.is_file())[:1])
    report(f"{name}", n, measured(symtape, "collect", operand, "-o", corpus), corpus)
    report(f"{name}, all there already", n, measured(symtape, "collect", operand, "-o", corpus))
    parts = []
    for k in (1, 2):
        parts.append(folder / f"{name}{k}.sqlite")
        measured(symtape, "collect", operand, "--shard", f"{k}/2", "-o", parts[-1])
    merged = folder / f"{name}-merged.sqlite"
    report(f"{name}, two parts merged", n, measured(symtape, "merge", *parts, "-o", merged), merged)
    print(f"{name}: the merged corpus {'has the same bytes' if merged.read_bytes() == corpus.read_bytes() else 'DIFFERS'}")
    report(f"{name}, query lines", n, measured(symtape, "query", corpus, "lines"))
    report(f"{name}, query phases", n, measured(symtape, "query", corpus, "phases"))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("symtape")
    options.add_argument("--recordings", type=int, default=1000)
    options.add_argument("--copies", type=int, default=10000)
    options.add_argument("--folder")
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="symtape-bench-", dir=args.folder) as name:
        folder = pathlib.Path(name)
        make(folder / "logs", args.recordings)
        bench(args.symtape, folder, "logs", folder / "logs", args.recordings)
        bench(args.symtape, folder, "tapes", tapes_of(args.symtape, folder / "logs", folder / "tapes"), args.recordings)
        if args.copies:
            make(folder / "copies", args.copies)
            bench(args.symtape, folder, "copies", folder / "copies", args.copies)


if __name__ == "__main__":
    main()
