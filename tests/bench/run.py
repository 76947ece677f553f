#!/usr/bin/env python3
"""Speed and size, beside tlparse and json-c on the same logs in the same run. tests/bench/README.md
says how to read it. Prints; asserts nothing.

usage: run.py [--rounds N] [--tlparse PROGRAM] [LOG ...]
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

LOGS = ["traces/hrnet_w18.train.aot_eager.log.zst", "traces/gpt2.train.inductor.log.zst"]


class Cost:
    """CPU seconds, wall seconds and peak memory of the runs of one command."""

    def __init__(self):
        self.cpu, self.wall, self.peak = [], [], []

    def add(self, args):
        start = time.monotonic()
        child = subprocess.Popen([str(a) for a in args], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.wall.append(time.monotonic() - start)
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.peak.append(usage.ru_maxrss / 1024)
        if child.returncode != 0:
            print(f"  {' '.join(map(str, args))}: exit {child.returncode}", file=sys.stderr)

    def median(self, what="cpu"):
        return statistics.median(getattr(self, what))


def plain(log, folder):
    """The log as plain text."""
    if not log.name.endswith(".zst"):
        return log
    path = folder / log.name.removesuffix(".zst")
    with path.open("wb") as out:
        subprocess.run(["zstd", "-dcq", "--long=27", log], stdout=out, check=True)
    return path


def compare(log, tlparse, rounds, folder):
    """Import, profile, diff and tlparse in turn, so that what else the machine does hits all alike."""
    tape, pages = folder / "bench.tape", folder / "tlparse"
    costs = {name: Cost() for name in ("import", "profile", "diff", "tlparse")}
    for _ in range(rounds):
        costs["import"].add([cases.SYMTAPE, "import", "--overwrite", log, "-o", tape])
        costs["profile"].add([cases.SYMTAPE, "profile", tape])
        costs["diff"].add([cases.SYMTAPE, "diff", "-q", tape, tape])
        if tlparse:
            costs["tlparse"].add([tlparse, log, "-o", pages, "--overwrite", "--no-browser"])
    mb = log.stat().st_size / 1e6
    cost = costs["import"]
    print(f"\n{log.name} ({mb:.1f} MB)")
    print(f"  import    {mb / cost.median():7.0f} MB/s a core   {cost.median() * 1e3:8.1f} ms CPU"
          f"   {cost.median('wall') * 1e3:8.1f} ms   peak {max(cost.peak):6.1f} MB"
          f"   tape 1/{log.stat().st_size / tape.stat().st_size:.1f}")
    for name in ("profile", "diff"):
        print(f"  {name:7}                        {costs[name].median() * 1e3:8.1f} ms CPU"
              f"   {costs[name].median('wall') * 1e3:8.1f} ms   peak {max(costs[name].peak):6.1f} MB")
    if tlparse:
        peer = costs["tlparse"]
        print(f"  tlparse   {mb / peer.median():7.0f} MB/s a core   {peer.median() * 1e3:8.1f} ms CPU"
              f"   {peer.median('wall') * 1e3:8.1f} ms   peak {max(peer.peak):6.1f} MB")
        print(f"  tlparse / import: {peer.median() / cost.median():.1f} times the CPU time, "
              f"{peer.median('wall') / cost.median('wall'):.1f} times the wall time")


def tape_sizes(logs, folder):
    """Logs to tapes, summed."""
    raw = packed = 0
    for log in logs:
        tape = folder / "size.tape"
        cases.run(["import", "--overwrite", log, "-o", tape])
        done = subprocess.run(["zstd", "-dcq", "--long=27", log], stdout=subprocess.PIPE)
        raw, packed = raw + len(done.stdout), packed + tape.stat().st_size
    print(f"\ntapes of {len(logs)} logs: {raw / 1e6:.1f} MB to {packed / 1e6:.2f} MB, "
          f"1/{raw / packed:.1f}")


def parser_speed(logs):
    for title, program in (("JSON of header lines", "bench_json"),
                           ("readable graphs", "bench_graph")):
        path = cases.BUILD / "tests" / "bench" / program
        if not path.exists():
            print(f"\n{title}: not built (ninja -C build tests/bench/{program})")
            continue
        print(f"\n{title}")
        for log in logs:
            done = subprocess.run([path, log], stdout=subprocess.PIPE)
            print(f"  {log.name}: {done.stdout.decode().strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tlparse", default=os.environ.get("SYMTAPE_TLPARSE") or
                        shutil.which("tlparse"))
    parser.add_argument("logs", nargs="*", type=Path)
    args = parser.parse_args()
    shared = cases.shared()
    wanted = args.logs or ([shared / name for name in LOGS] if shared else
                           sorted(cases.RECORDINGS.glob("*.log.zst")))
    if cases.is_sanitized():
        print("a sanitizer build: these figures mean nothing", file=sys.stderr)
    if not args.tlparse:
        print("tlparse is not on the PATH (pip install tlparse): measured without it")
    with tempfile.TemporaryDirectory(prefix="symtape-bench-") as name:
        folder = Path(name)
        logs = [plain(log, folder) for log in wanted]
        for log in logs:
            compare(log, args.tlparse, args.rounds, folder)
        parser_speed(logs)
        tape_sizes(sorted((shared / "traces").glob("*.log.zst")) if shared else wanted, folder)


if __name__ == "__main__":
    main()
