#!/usr/bin/env python3
"""peers.py on the CPU: a shipped recording's graphs in PyTorch and in symtape, at two sizes, with the same results.

$SYMTAPE_PYTHON names a Python that has PyTorch; exit 77 without one.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
PEERS = [PYTHON, str(HERE / "peers.py"), str(cases.SYMTAPE)]
TRAIN = str(cases.RECORDINGS / "train.log.zst")


def peers(*words):
    run = subprocess.run([*PEERS, *words], capture_output=True, text=True, timeout=600)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()
            if line.startswith("| train")]
    return run.returncode, rows, run.stdout + run.stderr[-500:]


def both_graphs():
    code, rows, text = peers(TRAIN, "--device", "cpu", "--runs", "2", "--sizes", "2")
    problems = [] if code == 0 else [f"exit {code}: {text}"]
    if [row[0] for row in rows] != ["train 0/0 forward"] * 2 + ["train 0/0 backward"] * 2:
        return problems + [f"rows {rows}"]
    for row in rows:
        problems += [f"{row[0]}: no time in {cell!r}" for cell in row[2:9] if not re.match(r"[0-9]", cell)]
    # At the first size values are compared, at others the first call is timed.
    return problems + [f"{row[0]}: {row[9:]}" for row in rows if bool(row[13]) == bool(row[9])]


def values_that_differ():
    code, _, text = peers(TRAIN + ":0/0:forward", "--device", "cpu", "--runs", "2", "--sizes", "1", "--no-compile",
                          "--tolerance", "1e-12")
    return [] if code == 1 and "differ by" in text else [f"exit {code}: {text}"]


def no_time():
    code, rows, text = peers(TRAIN, "--device", "cpu", "--runs", "2", "--sizes", "1", "--no-compile", "--seconds", "0")
    return [] if code == 0 and not rows and text.count("left out, no time") == 2 else [f"exit {code}: {text}"]


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print("skip - peers: no PyTorch")
        return 77
    tell = cases.Cases()
    for case in (both_graphs, values_that_differ, no_time):
        tell.check(case.__name__.replace("_", " "), case())
    return tell.finish()


if __name__ == "__main__":
    sys.exit(main())
