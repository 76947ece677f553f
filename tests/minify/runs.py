#!/usr/bin/env python3
"""Whole runs of symtape minify over random graphs and scripts as oracles.

  jobs    the same bytes, whatever --jobs is, and no question that one job would not have asked
          except ahead
  kill    killed by SIGKILL at a random moment and resumed: the same bytes, and no question asked
          twice but those that were being asked; a run after that asks nothing
  end     SIGINT, SIGTERM: exit 130, whole files, nothing left running nor in TMPDIR, --resume ends
          at the same bytes; symtape bisect says how far it is known

usage: runs.py [--all] [--graphs N] [--kills N] [--seed S]
"""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cases  # noqa: E402

UNARY = ["relu", "sigmoid", "neg", "exp", "abs", "clone"]
BINARY = ["add", "mul", "sub"]
CULPRITS = ["sin", "cos", "tanh"]

# Holds all culprits, in this order where it is a path; every question leaves a line in $LOG.
ORACLE = """#!/bin/sh
sum=$(cksum < "$1")
echo "$sum" >> "$LOG"
{delay}
for op in {ops}; do grep -q "aten[.]$op[.]" "$1" || exit 1; done
{order}
"""
# With a helper of its own that would outlive it.
DELAY = """trap '' TERM INT
sleep 1000 &
echo "$$ $!" >> "$PIDS"
sleep {}"""
ORDER = """a=$(grep -n "aten[.]{0}[.]" "$1" | head -1 | cut -d: -f1)
b=$(grep -n "aten[.]{1}[.]" "$1" | tail -1 | cut -d: -f1)
[ "$a" -lt "$b" ] || exit 1"""


def random_graph(rng, n):
    """FX text of n calls over f32[s0, 8], with the culprits somewhere; and those."""
    culprits = CULPRITS[:rng.randint(1, 3)]
    places = dict(zip(rng.sample(range(n), min(n, len(culprits))), culprits))
    meta = '"f32[s0, 8][8, 1]cpu"'
    lines, names = [], ["arg1_1"]
    for i in range(n):
        op = places.get(i) or rng.choice(UNARY + BINARY)
        args = [rng.choice(names[-6:])]
        if op in BINARY:
            args.append(rng.choice(names[-6:]))
        overload = "Tensor" if op in BINARY else "default"
        name = f"{op}_{i}"
        lines.append(f"        {name}: {meta} = torch.ops.aten.{op}.{overload}({', '.join(args)})")
        names.append(name)
    outputs = ", ".join(names[-rng.randint(1, 3):])
    return "\n".join([
        "class GraphModule(torch.nn.Module):",
        f'    def forward(self, arg0_1: "Sym(s0)", arg1_1: {meta}):',
        *lines, f"        return ({outputs},)", ""]), [places[p] for p in sorted(places)]


class Case:
    """A graph, an oracle, and a folder."""

    def __init__(self, folder, rng, n, delay=0):
        self.folder = folder
        folder.mkdir()
        text, culprits = random_graph(rng, n)
        (folder / "graph.fx").write_text(text)
        order = ORDER.format(*culprits[:2]) if len(culprits) > 1 and rng.random() < 0.5 else ""
        oracle = folder / "fails.sh"
        oracle.write_text(ORACLE.format(ops=" ".join(culprits), order=order,
                                        delay=DELAY.format(delay) if delay else ""))
        oracle.chmod(0o755)
        self.runs = 0

    def arguments(self, name, jobs, more=()):
        return ["minify", "graph.fx", "--check", "./fails.sh", "-o", f"{name}.tape", "--fx",
                f"{name}.fx", "--json", "-j", str(jobs), *more]

    def environment(self):
        self.runs += 1
        log = self.folder / f"log.{self.runs}"
        log.touch()
        tmp = self.folder / f"tmp.{self.runs}"
        tmp.mkdir()
        return {"LOG": str(log), "TMPDIR": str(tmp), "PIDS": str(self.folder / "pids")}, log

    def left(self):
        """Processes of the oracle that are still there, and folders of questions."""
        pids = self.folder / "pids"
        running = [p for p in (pids.read_text().split() if pids.exists() else [])
                   if Path(f"/proc/{p}").exists() and "Z" not in
                   Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()[0]]
        return ([f"{len(running)} processes left"] if running else []) + [
            f"{path.name} left" for path in self.folder.glob("tmp.*/*")]

    def run(self, name, jobs, more=()):
        env, log = self.environment()
        run = cases.run(self.arguments(name, jobs, more), cwd=self.folder, env=env)
        return run, log.read_text().splitlines()

    def start(self, name, jobs, more=(), arguments=None):
        env, log = self.environment()
        arguments = arguments or self.arguments(name, jobs, more)
        process = subprocess.Popen([str(cases.SYMTAPE), *arguments],
                                   cwd=self.folder, env={**os.environ, **env},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return process, log

    def result(self, name):
        return (self.folder / f"{name}.fx").read_bytes(), (self.folder / f"{name}.tape").read_bytes()


def check_jobs(case):
    problems, first = [], None
    for jobs in (1, 2, 8):
        run, asked = case.run(f"j{jobs}", jobs)
        if run.code != 0:
            return [f"-j {jobs}: {run.told()}"]
        told = json.loads(run.out)
        needed = told["oracle_calls"] - told["unneeded"]
        if told["oracle_calls"] < len(asked):
            problems.append(f"-j {jobs}: {len(asked)} questions, {told['oracle_calls']} told")
        if not told["minimal"]:
            problems.append(f"-j {jobs}: not minimal")
        result = case.result(f"j{jobs}"), needed
        first = first or result
        if result != first:
            problems.append(f"-j {jobs}: another result than -j 1")
    return problems


def check_again(case, name):
    run, asked = case.run(name, 1)
    return [f"a second run asked {len(asked)} times"] if run.code or asked else []


def check_resumed(case, jobs, before, what):
    """Goes on with what a run left; `before`: the questions that it asked."""
    run, asked = case.run("cut", jobs, ["--resume"])
    if run.code != 0:
        return [f"{what}: {run.told()}"]
    again = collections.Counter(before) & collections.Counter(asked)
    places = [[i for i, q in enumerate(before) if q in again], len(before),
              [i for i, q in enumerate(asked) if q in again], len(asked)]
    problems = [f"{what}: asked again {places}"] if sum(again.values()) > jobs else []
    if case.result("cut") != case.result("whole"):
        problems.append(f"{what}: another result")
    return problems + check_again(case, "cut")


def check_kill(case, rng):
    began = time.monotonic()
    run, _ = case.run("whole", 1)
    took = time.monotonic() - began
    if run.code != 0:
        return [run.told()]
    jobs = rng.choice([1, 1, 2, 4])
    process, log = case.start("cut", jobs)
    moment = rng.uniform(0, took * 1.1)
    time.sleep(moment)
    process.kill()
    process.communicate()
    time.sleep(0.3)  # its children, which nobody waits for now
    before = log.read_text().splitlines()
    return check_resumed(case, jobs, before, f"-j {jobs}, killed after {moment:.3f} s")


def check_end(case, rng, number):
    run, _ = case.run("whole", 1)
    process, log = case.start("cut", 2)
    while len(log.read_text().splitlines()) < 4 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    if process.returncode == 0:
        return []  # it was faster
    if process.returncode != 130:
        return [f"exit {process.returncode}: {err.decode()}"]
    problems = case.left()
    told = json.loads(out)
    if told["verdict"] != "interrupted" or told["end"] != "signal":
        problems.append(f"verdict {told['verdict']}, end {told['end']}")
    if not (case.folder / "cut.tape").exists() or not (case.folder / "cut.fx").exists():
        problems.append("the best so far is not there")
    if b"cut.tape" not in err:
        problems.append(f"says nothing of the best so far: {err.decode()}")
    return problems + check_resumed(case, 2, log.read_text().splitlines(), signal.Signals(number).name)


def check_bisect_end(case, number):
    process, log = case.start("", 1, arguments=["bisect", "graph.fx", "--check", "./fails.sh", "-j",
                                                "2", "--json"])
    while len(log.read_text().splitlines()) < 3 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    if process.returncode != 130:
        return [f"exit {process.returncode}: {err.decode()}"]
    told = json.loads(out)
    good = told["verdict"] == "interrupted" and 0 <= told["good"] < told["bad"] <= told["events"]
    return case.left() + ([] if good else [f"told {told}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="200 graphs, 200 kills")
    parser.add_argument("--graphs", type=int, default=8)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")))
    args = parser.parse_args()
    if args.all:
        args.graphs = args.kills = 200
    print(f"seed {args.seed}")
    tell, rng = cases.Cases(), random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="symtape-minify-runs-") as folder:
        for i in range(args.graphs):
            case = Case(Path(folder) / f"jobs{i}", rng, rng.randint(3, 60))
            tell.check(f"jobs {i}", check_jobs(case))
        for i in range(args.kills):
            case = Case(Path(folder) / f"kill{i}", rng, rng.randint(10, 60))
            tell.check(f"kill {i}", check_kill(case, rng))
        for number in (signal.SIGINT, signal.SIGTERM):
            case = Case(Path(folder) / f"end{int(number)}", rng, 40, delay=0.05)
            tell.check(signal.Signals(number).name, check_end(case, rng, number))
            case = Case(Path(folder) / f"bisect{int(number)}", rng, 40, delay=0.3)
            tell.check(f"bisect, {signal.Signals(number).name}", check_bisect_end(case, number))
    tell.finish()


if __name__ == "__main__":
    main()
