#!/usr/bin/env python3
"""Every command and report fits a narrow terminal: over recordings of each kind, with both streams on a
pseudo-terminal, no line is wider than it. Graphs as text, payloads, programs and JSON, which other
programs read, are left out.

usage: narrow.py [--width N] [--show N] [RECORDING ...]
"""
import argparse
import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cases
from terminals import PROGRESS, STYLES, on_terminal

LINE_ENDS = re.compile(rb"\n|" + PROGRESS.pattern)
DASH = cases.ROOT / "tests" / "dash"
RECORDINGS = ["encoder.log.zst", "train.log.zst", "graph_break.log.zst", "data_dependent.log.zst",
              "inductor.log.zst", "deep.log.zst", "exported.pt2", "two_ranks"]
VIEWS = ["--graphs", "--guards", "--symbols", "--specializations", "--restarts", "--recompiles", "--breaks",
         "--caches", "--failures", "--events", "--kernels", "--levels", "--signature", "--weights"]
COMMANDS = ["record", "import", "export", "info", "show", "diagnose", "advise", "profile", "replay", "why", "cache", "dynamic", "guards", "validate", "inputs",
            "cudagraphs", "run", "diff", "ranks", "dash", "collect", "query", "each", "merge", "check", "opcheck", "minify", "bisect", "rewrite", "completions", "help", "version"]


def of_tape(tape, folder):
    other = str(cases.RECORDINGS / "train.log.zst")
    yield [tape]
    yield ["diagnose", "--all", tape]
    yield ["info", tape]
    for view in VIEWS:
        yield ["show", tape, view, "--limit", "40"]
    yield ["show", tape, "--guards", "--failures", "--stack", "--limit", "4"]
    yield ["profile", tape]
    yield ["profile", tape, other]
    for by in ("op", "line", "stack", "module"):
        yield ["profile", "--by", by, tape]
    yield ["replay", tape]
    yield ["replay", "--operators", "--guards", tape]
    yield ["replay", "--audit", tape]
    yield ["replay", "--passes", "recorded", tape]
    yield ["replay", "--ablate", "fastpath,cache", tape]
    yield ["replay", "--what-if", "s27=31", tape]
    yield ["run", tape]
    yield ["run", "--backend", "null", tape]
    yield ["run", "--profile", "--runs", "1", tape]
    yield ["run", "--compare-with", "cpu", "--nodes", tape]
    yield ["check", "--max", "guards:1,recompiles:0,ms_per_op:1", tape]
    yield ["check", "--list", tape]
    yield ["opcheck", tape]
    yield ["opcheck", "--coverage", tape]
    yield ["diff", tape, other]
    yield ["bisect", "--list", tape]
    yield ["bisect", "--first-difference", tape, other]
    yield ["bisect", "--guard", "Eq(s27, 8)", tape + ":0/0"]
    yield ["rewrite", "--masks", tape]
    yield ["minify", "--guard", "Eq(s27, 8)", "--overwrite", "-o", f"{folder}/{Path(tape).name}.min", tape + ":0/0"]
    yield ["import", "--redact", "-o", f"{folder}/{Path(tape).name}.tape", tape]
    for target in ("s27", "L['x'].size()[1]"):
        yield ["why", tape, target]
    yield ["validate", "--redundant", tape]
    yield ["cache", "--calls", str(cases.RECORDINGS / "sequence.jsonl"), tape]
    yield ["advise", "--calls", str(cases.RECORDINGS / "sequence.jsonl"), tape]
    yield ["dynamic", "--calls", str(cases.RECORDINGS / "sequence.jsonl"), tape]
    yield ["cudagraphs", "--on-gpu", "--calls", str(cases.RECORDINGS / "sequence.jsonl"), tape]
    yield ["guards", "--tree", "--calls", str(cases.RECORDINGS / "sequence.jsonl"), tape]
    yield ["guards", tape, other]
    yield ["ranks", tape, other]
    yield ["dash", tape, "--to", other]
    corpus = f"{folder}/{Path(tape).name}.sqlite"
    yield ["collect", "-o", corpus, tape, other]
    for query in ("tapes", "models", "lines", "operators", "phases", "restarts"):
        yield ["query", corpus, query]


def of_program():
    calls = [str(cases.RECORDINGS / "sequence.jsonl"), str(cases.RECORDINGS / "sequence.log.zst")]
    for args in (["cache", "--calls", *calls], ["cache", "--policy", "levels", str(cases.RECORDINGS / "levels.log.zst")],
                 ["ranks", str(cases.RECORDINGS / "ranks_missing")],
                 ["dash", str(DASH / "monday"), str(DASH / "tuesday"), "--expect", str(DASH / "expected")],
                 ["advise", "--calls", *calls], ["dynamic", "--calls", *calls], ["guards", "--calls", *calls], ["cudagraphs", "--on-gpu", "--calls", *calls],
                 ["version"], ["help"], ["info", "--backends"], ["check", "--list"], ["query", "--list"], ["minify", "--list-passes"],
                 ["record"], ["export", "nowhere" * 20], *(["help", name] for name in COMMANDS)):
        yield args


def too_wide(args, options, env):
    received = STYLES.sub(b"", on_terminal(args, env, 300)[1])
    lines = [raw.decode(errors="replace") for raw in LINE_ENDS.split(received)]
    wide = [line for line in lines if len(line) > options.width]
    return [f"{args}: {len(line)} columns: {line}" for line in wide[:options.show]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=60)
    parser.add_argument("--show", type=int, default=3, help="lines to print of each command")
    parser.add_argument("recordings", nargs="*")
    options = parser.parse_args()
    tell = cases.Cases()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CLICOLOR", "TORCH"))}
    env.update(TERM="xterm", NO_COLOR="1", COLUMNS=str(options.width))
    tapes = options.recordings or [str(cases.RECORDINGS / name) for name in RECORDINGS]

    def one(name, commands):
        commands = list(commands)
        wide = [line for args in commands for line in too_wide(args, options, env)]
        tell.check(f"{name}, {len(commands)} commands in {options.width} columns", wide)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cases.jobs()) as pool:
        groups = [("no tape", of_program()), *((Path(tape).name, of_tape(tape, folder)) for tape in tapes)]
        for done in [pool.submit(one, *group) for group in groups]:
            done.result()
    tell.finish()


if __name__ == "__main__":
    main()
