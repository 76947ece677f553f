#!/usr/bin/env python3
"""Every allocation, read and write fails once: commands run with the first, the second, ... call of
a kind failing, once or from there on.

A command whose call failed either does what it would have done (some failures can be borne), or
leaves with exit code 4 and a message. It never crashes or hangs, and where a file was to be written
there is the whole new one or what was there before, and nothing else.

usage: run.py [--all] [--sample N] [--seed S] [--valgrind N] FAIL_LIBRARY
"""
import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

ENOSPC, EIO = 28, 5
KINDS = ["alloc", "open", "read", "write", "sync", "rename", "truncate", "map"]

# A fake device (tests/cuda/fake.h); kernels are compiled once, and then on disk.
CUDA = {"SYMTAPE_CUDA_LIB": str(cases.BUILD / "tests" / "cuda"), "SYMTAPE_CUDA_WITHOUT": "cublaslt,cudnn",
        "XDG_CACHE_HOME": str(cases.BUILD / "tests" / "cuda" / "cache")}

# Name, arguments ({log}, {tape} ...: inputs), the file written.
COMMANDS = [
    ("import", ["import", "{log}", "-o", "out.tape"], "out.tape"),
    ("import over", ["import", "--overwrite", "{log}", "-o", "old.tape"], "old.tape"),
    ("import folder", ["import", "{folder}", "-o", "out.tape"], "out.tape"),
    ("import archive", ["import", "{archive}", "-o", "out.tape"], "out.tape"),
    ("export", ["export", "--log", "{tape}", "-o", "out.log"], "out.log"),
    ("export tables", ["export", "--sqlite", "out.sqlite", "{trained}"], "out.sqlite"),
    ("export lines", ["export", "--jsonl", ".", "{tape}"], "calls.jsonl.zst"),
    ("export lines over", ["export", "--overwrite", "--jsonl", ".", "{tape}"], "calls.jsonl.zst"),
    ("info", ["info", "--json", "{tape}"], None),
    ("info of a log", ["info", "--json", "{log}"], None),
    ("show graphs", ["show", "--graphs", "{tape}"], None),
    ("show graphs that are there", ["show", "--graphs", "--json", "{trained}"], None),
    ("show guards", ["show", "--guards", "--json", "{tape}"], None),
    ("show levels", ["show", "--levels", "--json", f"{cases.RECORDINGS}/pyramid.log.zst"], None),
    ("show levels of a failure", ["show", "--levels", "--stack", "{tape}"], None),
    ("show events", ["show", "--events", "{tape}"], None),
    ("show of an archive", ["show", "--symbols", "--signature", "--weights", "{archive}"], None),
    ("info of an archive", ["info", "{archive}"], None),
    ("profile", ["profile", "{tape}"], None),
    ("profile json", ["profile", "--json", "{tape}"], None),
    ("profile cost model", ["profile", "--json", "--cost-model", "{tape}"], None),
    ("profile pprof", ["profile", "{trained}", "-o", "out.pb.gz"], "out.pb.gz"),
    ("profile speedscope", ["profile", "{trained}", "--format", "speedscope"], None),
    ("profile chrome", ["profile", "{trained}", "--format", "chrome"], None),
    ("report", ["report", "{trained}", "-o", "out.html"], "out.html"),
    ("report json", ["report", "--json", "{tape}"], None),
    ("report of runs", ["report", "--no-replay", "--json", "{trained}", "{tape}"], None),
    ("report of ranks", ["report", "--no-replay", "--json", f"{cases.RECORDINGS}/ranks_missing"], None),
    ("report of calls", ["report", "--no-replay", "--json", f"{cases.RECORDINGS}/levels.log.zst"], None),
    ("cache", ["cache", "--all", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("cache json", ["cache", "--json", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("cache of two starts", ["cache", f"{cases.RECORDINGS}/starts/cold.log.zst", f"{cases.RECORDINGS}/starts/warm.log.zst"], None),
    ("cache of two starts, json", ["cache", "--json", "{trained}", "{trained}"], None),
    ("cache of ranks", ["cache", "--ranks", f"{cases.RECORDINGS}/two_ranks"], None),
    ("ranks", ["ranks", f"{cases.RECORDINGS}/ranks_missing"], None),
    ("ranks json", ["ranks", "--json", f"{cases.RECORDINGS}/ranks_missing"], None),
    ("timeline of ranks", ["ranks", "--format", "chrome", f"{cases.RECORDINGS}/ranks_missing"], None),
    ("dash", ["dash", f"{cases.ROOT}/tests/dash/monday", f"{cases.ROOT}/tests/dash/tuesday", "--expect", f"{cases.ROOT}/tests/dash/expected"], None),
    ("dash of tapes, html", ["dash", "{tape}", "--to", "{trained}", "-o", "out.html"], "out.html"),
    ("dash with pages", ["dash", "{tape}", "--to", "{trained}", "-o", "out.html", "--pages"], "out.html"),
    ("dash that updates", ["dash", f"{cases.ROOT}/tests/dash/tuesday", "--expect", "new.csv", "--update"], "new.csv"),
    ("dynamic", ["dynamic", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("dynamic json", ["dynamic", "--json", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("advise", ["advise", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("advise failure", ["advise", "--apply", f"{cases.ROOT}/tests/models/data_dependent.py",
                        f"{cases.RECORDINGS}/data_dependent.log.zst"], None),
    ("advise json", ["advise", "--json", "--apply", f"{cases.ROOT}/tests/models/sequence.py", "--calls",
                     f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("inputs", ["inputs", "{trained}", "-n", "3", "--seconds", "600"], None),
    ("inputs of calls", ["inputs", "--seconds", "600", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst:0/2"], None),
    ("inputs that are run", ["inputs", "-n", "3", "--seconds", "600", "--run", "cpu", f"{cases.RECORDINGS}/reset.log.zst"], None),
    ("inputs of an archive", ["inputs", "{archive}", "--cover", "x.size(0)=1..64,pair['rows'].size(1)=4"], None),
    ("inputs of a range", ["inputs", "--json", "{trained}", "--cover", "s23=2..64,s27=1..9:2", "--assume", "s23 < 40"], None),
    ("guards", ["guards", "--tree", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("guards json", ["guards", "--json", "--arguments", "--calls", f"{cases.RECORDINGS}/sequence.jsonl", f"{cases.RECORDINGS}/sequence.log.zst"], None),
    ("guards of two", ["guards", "--json", "{trained}", "{trained}"], None),
    ("diagnose", ["{trained}"], None),
    ("diagnose json", ["diagnose", "--json", "{broken}"], None),
    ("validate", ["validate", "--redundant", "{trained}"], None),
    ("validate redundant guards", ["validate", "--redundant", f"{cases.RECORDINGS}/reset.log.zst:0/0.1"], None),
    ("validate redundant guards, json", ["validate", "--json", f"{cases.RECORDINGS}/reset.log.zst:0/0.1"], None),
    ("validate asserts", ["validate", "{tape}"], None),
    ("validate a missing bound", ["validate", f"{cases.RECORDINGS}/data_dependent.log.zst"], None),
    ("replay", ["replay", "{trained}"], None),
    ("replay guards", ["replay", "--guards", "--json", "{tape}"], None),
    ("replay json", ["replay", "--json", "{trained}"], None),
    ("replay attributes", ["replay", "--json", f"{cases.RECORDINGS}/attributes.log.zst"], None),
    ("opcheck", ["opcheck", "--json", "{trained}"], None),
    ("opcheck cases", ["opcheck", "--cases", "{cases}", "--xfail", "out.json", "--update"], "out.json"),
    ("opcheck to a file", ["opcheck", "{tape}", "--generate", "out.jsonl"], "out.jsonl"),
    ("run on the CPU", ["run", "--backend", "cpu", "{trained}", "--compare-with", "cpu", "--nodes",
                           "--json"], None),
    ("run messages", ["run", "--ranks", "2", f"{cases.RECORDINGS}/batch_p2p"], None),
    ("run ranks", ["run", "--ranks", "2", f"{cases.RECORDINGS}/collectives/two.log.zst:0/0", "--compare-with", "cpu"], None),
    ("run to a file", ["run", "--backend", "cpu", "{trained}:0/0:forward", "--outputs", "out.st",
                          "--save", "all"], "out.st"),
    ("run on CUDA", ["run", "--backend", "cuda", "{trained}", "--json"], None),
    ("diff", ["diff", "{tape}", "{log}"], None),
    ("diff save", ["diff", "--save", "out.json", "{tape}"], "out.json"),
    ("diff saved", ["diff", "--json", "{snapshot}", "{tape}"], None),
    ("minify", ["minify", "{trained}:0/0:forward", "--check-ops", "aten.tanh", "-o", "out.tape",
                "--fx", "out.fx"], "out.tape"),
    ("minify on the CPU", ["minify", "{trained}:0/0:forward", "--backend-mismatch", "cpu",
                           "--inject-fault", "aten.tanh=1e-2", "-o", "out.tape"], "out.tape"),
    ("collect", ["collect", "{log}", "{tape}", "{trained}", "-o", "out.sqlite"], "out.sqlite"),
    ("collect into a corpus", ["collect", "{corpus}", "{trained}", "-o", "out.sqlite"], "out.sqlite"),
    ("collect lines", ["collect", "{log}", "{tape}", "--jsonl", "out"], None),
    ("query", ["query", "{corpus}", "lines"], None),
    ("query json", ["query", "--json", "{corpus}", "--sql", "SELECT * FROM guards ORDER BY expression"], None),
    ("each", ["each", "check", "--max", "guards:1000", "{log}", "{tape}"], None),
    ("merge lines", ["merge", "{lines}", "{lines}", "-o", "out.jsonl"], "out.jsonl"),
    ("rewrite", ["rewrite", "--masks", "--check", "always", "{masks}", "-o", "out.tape"], "out.tape"),
]


# What lies in the folder before a command that may replace it.
OLD = {"old.tape": b"what was there before"}
OLD_LINES = {**OLD, "attempts.jsonl.zst": b"earlier attempts", "symbols.jsonl.zst": b"earlier symbols"}


class Bench:
    """One command in a folder of its own, run again and again."""

    def __init__(self, name, args, output, inputs, library):
        self.name, self.output, self.library = name, output, library
        self.args = [a.format(**inputs) for a in args]
        self.calls, self.good = {}, None
        self.before = OLD_LINES if self.args[:3] == ["export", "--overwrite", "--jsonl"] else OLD

    def play(self, plan):
        """Returns the run, whether the planned failure happened, and the files left."""
        with tempfile.TemporaryDirectory(prefix="symtape-fault-") as folder:
            work = Path(folder) / "work"
            work.mkdir()
            for name, content in self.before.items():
                (work / name).write_bytes(content)
            report = Path(folder) / "report"
            env = {"LD_PRELOAD": str(self.library), "SYMTAPE_FAIL": plan, **CUDA,
                   "SYMTAPE_FAIL_REPORT": str(report), "SYMTAPE_FAIL_IN": cases.SYMTAPE.name}
            run = cases.run(self.args, cwd=work, env=env, timeout=60)
            files = {str(p.relative_to(work)): p.read_bytes() for p in sorted(work.rglob("*")) if p.is_file()}
            counts = [line.split() for line in report.read_text().splitlines()] if (
                report.exists()) else []
        return run, {k: (int(c), int(f)) for k, c, f in counts}, files

    def seen(self, run, files):
        """What two runs have alike: times differ."""
        out = re.sub(rb'"([mn]s)":[0-9.e+-]+', rb'"\1":0', run.out)
        if not self.name.startswith("minify"):
            return run.code, out, files
        return (run.code, re.sub(rb", [0-9.e-]+ s\n", b"", out),
                {n: b for n, b in files.items() if not n.endswith(".journal")})

    def learn(self):
        run, counts, files = self.play("")
        if "cuda" in self.args:
            run, counts, files = self.play("")  # with the kernels of the first
        self.good = run, files
        self.calls = {k: c for k, (c, _) in counts.items()}
        again, _, files_again = self.play("")
        return run, self.seen(run, files) == self.seen(again, files_again)

    def problems(self, plan):
        run, counts, files = self.play(plan)
        good_run, good_files = self.good
        kind = plan.split(":")[0]
        if run.crashed() or not counts:
            return [f"{plan}: {run.told()}"]
        if counts[kind][1] == 0 or self.seen(run, files) == self.seen(good_run, good_files):
            return []
        found = []
        # A candidate whose tensors get no memory is unresolved, and the search continues without it.
        tolerated = (0, 125) if "--backend-mismatch" in self.args else ()
        # SQLite takes EIO for a damaged file.
        tolerated += (3,) if kind == "read" and b"database disk image is malformed" in run.err else ()
        if run.code not in (4, *tolerated):
            found.append(f"{plan}: {run.told()}, not exit 4")
        elif not re.match(rb"(fake CUDA: .*\n)*symtape: ", run.err):
            found.append(f"{plan}: exit {run.code} without a message")
        if self.before is OLD_LINES:  # all are replaced or none, unless what takes names back fails, too
            return found + [f"{plan}: {n} is not what was there before" for n in {*files, *OLD_LINES}
                            if files.get(n) != OLD_LINES.get(n) and not re.match(r"rename:.*\+", plan)]
        left = {n: b for n, b in files.items() if OLD.get(n) != b and good_files.get(n) != b}
        if self.name.startswith("minify"):  # which keeps the best so far, and what it was told until then
            left = {n: b for n, b in left.items() if n not in ("out.tape", "out.tape.journal")}
            found += self.check_best(plan, files.get("out.tape"))
        if self.name.startswith("collect"):  # which keeps what it has, and goes on with the other tapes
            left = {n: b for n, b in left.items() if not n.startswith("out")}
        # A temporary can be left only where removing it is what failed; nothing here fails that.
        if left:
            found.append(f"{plan}: left {', '.join(left)}")
        return found

    @staticmethod
    def check_best(plan, tape):
        run = cases.run(["info", "-"], stdin=tape) if tape is not None else None
        return [f"{plan}: left a tape that cannot be read: {run.told()}"] if run and run.code else []


def plans_of(calls, kind, sample, rng):
    for onwards in ("", "+"):
        numbers = list(range(1, calls + 1))
        if sample and calls > sample:
            # The first few, which open and set up, and a sample of the rest.
            numbers = numbers[:sample // 3] + sorted(rng.sample(numbers[sample // 3:],
                                                                sample - sample // 3))
        error = ENOSPC if kind in ("write", "truncate") else EIO
        for n in numbers:
            yield f"{kind}:{n}{onwards}:{error}"


def check(bench, sample, rng, tell, pool):
    run, is_alike = bench.learn()
    if not is_alike:
        tell.fail(bench.name, "two runs without a failure differ, so that tolerated failures look like others")
        return
    if run.code not in (0, 1, 125):  # 1: what is compared differs; 125: there is nothing to prove
        tell.fail(bench.name, f"fails by itself: {run.told()}")
        return
    for kind in KINDS:
        calls = bench.calls.get(kind, 0)
        if calls == 0:
            continue
        plans = list(plans_of(calls, kind, sample, rng))
        found = [p for ps in pool.map(bench.problems, plans) for p in ps]
        more = [f"and {len(found) - 4} more"] if len(found) > 4 else []
        tell.check(f"{bench.name}: {kind} ({len(plans)} failures, {calls} calls)", found[:4] + more)


def leaks(bench, n):
    """What valgrind reports of a run whose n-th allocation fails."""
    args = ["valgrind", "-q", "--undef-value-errors=no", "--leak-check=full",
            "--show-leak-kinds=definite,indirect",
            "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=99",
            "--soname-synonyms=somalloc=nouserintercepts", cases.SYMTAPE, *bench.args]
    env = {**os.environ, **CUDA, "LD_PRELOAD": str(bench.library), "SYMTAPE_FAIL": f"alloc:{n}",
           "SYMTAPE_FAIL_IN": cases.SYMTAPE.name}
    with tempfile.TemporaryDirectory(prefix="symtape-fault-") as folder:
        done = subprocess.run(args, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 99 and done.returncode >= 0:
        return []
    lines = [line for line in done.stderr.decode(errors="replace").splitlines()
             if "lost" in line or " by " in line or " at " in line or "nvalid" in line]
    return [f"alloc:{n}: " + " | ".join(lines[:6])]


def check_leaks(bench, number, rng, tell, pool):
    """A few allocation failures under valgrind: nothing is lost on the way out."""
    calls = bench.calls.get("alloc", 0)
    numbers = sorted(rng.sample(range(1, calls + 1), min(number, calls)))
    found = [leak for each in pool.map(lambda n: leaks(bench, n), numbers) for leak in each]
    tell.check(f"{bench.name}: no leak ({number} allocations failed)", found[:3])


def make_inputs(folder):
    log = min(cases.RECORDINGS.glob("*.log.zst"), key=lambda p: p.stat().st_size)
    logs = folder / "logs"
    logs.mkdir()
    shutil.copy(log, logs)
    tape = folder / "in.tape"
    run = cases.run(["import", log, "-o", tape])
    if run.code != 0:
        sys.exit(f"cannot make a tape to test with: {run.told()}")
    archive = cases.RECORDINGS / "exported.pt2"
    snapshot, trained, broken = folder / "in.json", folder / "trained.tape", folder / "broken.tape"
    cases.run(["diff", "--save", snapshot, tape])
    cases.run(["import", cases.RECORDINGS / "train.log.zst", "-o", trained])
    cases.run(["import", cases.RECORDINGS / "graph_break.log.zst", "-o", broken])
    corpus, lines = folder / "in.sqlite", folder / "in.jsonl"
    cases.run(["collect", "-o", corpus, log, trained])
    cases.run(["each", "-o", lines, "check", "--max", "guards:1000", log, tape])
    return {"broken": str(broken), "log": str(log), "tape": str(tape), "folder": str(logs), "archive": str(archive),
            "snapshot": str(snapshot), "trained": str(trained), "corpus": str(corpus), "lines": str(lines),
            "cases": str(cases.ROOT / "tests" / "replay" / "cases" / "wrong.jsonl"),
            "masks": str(cases.ROOT / "tests" / "fuzz" / "corpus" / "rewrite" / "aten.fx")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every call, not a sample")
    parser.add_argument("--sample", type=int, default=24, help="failures a kind and mode")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")),
                        help="of the sample; changes every month")
    parser.add_argument("--valgrind", type=int, default=0, metavar="N",
                        help="also look for leaks after N failed allocations a command")
    parser.add_argument("--only", metavar="NAME", help="one of the commands")
    parser.add_argument("library", type=Path)
    args = parser.parse_args()
    tell = cases.Cases()
    if cases.is_sanitized():
        tell.skip("fault", "a sanitizer build does not take preloaded allocators")
        tell.finish()
    print(f"seed {args.seed}")
    rng = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="symtape-fault-") as folder, \
            ThreadPoolExecutor(cases.jobs()) as pool:
        inputs = make_inputs(Path(folder))
        for command in (c for c in COMMANDS if args.only in (None, c[0])):
            bench = Bench(*command, inputs, args.library.resolve())
            check(bench, 0 if args.all else args.sample, rng, tell, pool)
            if args.valgrind and shutil.which("valgrind"):
                check_leaks(bench, args.valgrind, rng, tell, pool)
    tell.finish()


if __name__ == "__main__":
    main()
