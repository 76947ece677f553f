#!/usr/bin/env python3
"""PyTorch's translation validation and symtape validate have the same verdicts: on random live programs, and on logs from which a
guard was removed.

usage: SYMTAPE=build/cmd/symtape validator_torch.py [--programs N] [--faults N] [--seed N] [--timeout MS]

Programs are compiled under TORCHDYNAMO_TRANSLATION_VALIDATION=1 by $SYMTAPE_PYTHON; validator_child.py notes what Z3 answered, and the
log of the same run is validated. PyTorch's validator may not decide within its time; where both decide, the verdicts must be equal.

A planted fault is a log without one of its guards, chosen such that some sizes satisfy all others and not that one. That is found by
putting sizes into the guards' text as Python, not by symtape. It has to be refuted, the first refuted claim being that guard, with
sizes that satisfy all other guards and not that one. The replay with these sizes has to differ, or a size became a number of the graph.
PyTorch's validator is asked once more without that guard; its answers are counted only, because it takes the ranges that it derived
from that guard as given.

PyTorch's validator takes truncation as rounding down: it proves int(u / 2) == u // 2, which is false at -1. tests/prove/decide has what
we say of it. Exits with 77 where that Python has no torch or no Z3.
"""
import argparse
import collections
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "cover")]
import boxes # noqa: E402
from cases import Cases # noqa: E402

PYTHON = os.environ.get("SYMTAPE_PYTHON", sys.executable)
CHILD = str(HERE / "validator_child.py")
BATCH, LARGEST, VARIED, SAMPLE = 20, 24, 2, 4000 # programs a process; sizes; symbols whose sizes are all tried; points otherwise
# Functions of PyTorch on the stack of what an operator asks. What the program itself asks, as in a branch, leaves no trace in a log but its
# guard, so that without it the log is that of another program.
ASKED_BY_OPERATORS = {"get_fake_value"}
SYMBOL = r"\b[suz]\d+\b"


def child(arguments, folder, timeout):
    env = os.environ | {"TORCHDYNAMO_TRANSLATION_VALIDATION": "1", "TORCHDYNAMO_TRANSLATION_VALIDATION_TIMEOUT": str(timeout),
                        "TORCH_TRACE": str(folder)}
    done = subprocess.run([PYTHON, CHILD, *arguments], env=env, capture_output=True, text=True, timeout=900)
    if done.returncode:
        raise SystemExit(f"{CHILD}: exit {done.returncode}: {done.stderr[-500:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def symtape(*arguments):
    done = subprocess.run([os.environ["SYMTAPE"], *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1, 125):
        raise SystemExit(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def by_compile(document):
    """The last attempt of each compile: that whose guards PyTorch makes."""
    return {one["compile"]: one for one in document["attempts"]}


class Log:
    """A log's lines, and what they say of guards and symbols, read without symtape."""

    def __init__(self, path):
        self.lines = path.read_text().splitlines(keepends=True)
        self.guards, self.hints, self.least = collections.defaultdict(list), collections.defaultdict(dict), {}
        for i, line in enumerate(self.lines):
            found = re.search(r'\] (\{"(guard_added\w*|create_symbol)": .*)', line)
            if found:
                self.add(i, json.loads(found[1]), found[2])

    def add(self, i, record, kind):
        name = f"{record.get('frame_id')}/{record.get('frame_compile_id')}"
        row = record[kind]
        if kind == "create_symbol":
            if re.fullmatch(r"-?\d+", str(row["val"])):
                self.hints[name][row["symbol"]] = int(row["val"])
            low = re.match(r"\[(-?\d+|-int_oo)", row["vr"])
            self.least[name, row["symbol"]] = max(int(low[1]), -LARGEST) if low and low[1] != "-int_oo" else -LARGEST
        else:
            names = {frame["name"] for frame in row.get("stack") or []}
            if any("guard suppressed" in frame.get("loc", "") for frame in row.get("stack") or []):
                return
            line = (row.get("user_stack") or [{}])[-1].get("line")
            self.guards[name].append((i, row["expr"], line, bool(names & ASKED_BY_OPERATORS)))

    def without(self, i, path):
        last = i + 1
        while last < len(self.lines) and self.lines[last].startswith("\t"):
            last += 1
        path.write_text("".join(self.lines[:i] + self.lines[last:]))


def value(expr, point):
    try:
        return bool(eval(expr, boxes.NAMES | point))
    except ZeroDivisionError:
        return False


def points(log, name, symbols):
    """The points of a box, with hints for all other symbols; of a large box a sample."""
    axes = [range(log.least[name, one], LARGEST + 1) for one in symbols]
    draw = random.Random(0)
    sizes = itertools.product(*axes) if len(axes) <= VARIED else ([draw.choice(axis) for axis in axes] for _ in range(SAMPLE))
    return (log.hints[name] | dict(zip(symbols, values)) for values in sizes)


def witness(log, name, at):
    """Sizes that satisfy all guards but one; None: none was found."""
    hints, (_, expr, *_) = log.hints[name], log.guards[name][at]
    others = [one[1] for one in log.guards[name] if one[1] != expr]
    symbols = sorted(set(re.findall(SYMBOL, expr)))
    if not symbols or len(symbols) > VARIED or not set(symbols) <= set(hints):
        return None
    for point in points(log, name, symbols):
        if not value(expr, point) and all(value(other, point) for other in others):
            return point
    return None


def faults(log, name):
    """Guards of a compile that others do not imply."""
    for at in range(len(log.guards[name])):
        try:
            if log.guards[name][at][3] and witness(log, name, at):
                yield at
        except (NameError, TypeError, SyntaxError): # no Python that can be computed here
            return


def follows(claim, expr, log, name):
    """Whether a claim is one that is lost with a guard: it is true wherever all guards are."""
    symbols = sorted(set(re.findall(SYMBOL, f"{claim} {expr}")))
    texts = [one[1] for one in log.guards[name]]
    return set(symbols) <= set(log.hints[name]) and all(
        value(claim, point) for point in points(log, name, symbols) if all(value(text, point) for text in texts))


def check_fault(log, name, at, folder):
    """Why the answer on a log without a guard is wrong; "" if it is right."""
    i, expr, line, _ = log.guards[name][at]
    path = folder / "fault.log"
    log.without(i, path)
    answer = by_compile(symtape("validate", "--json", f"{path}:{name}"))[name]
    refuted = [one for one in answer["findings"] if one["verdict"] == "refuted"]
    if not refuted:
        return answer["verdict"]
    first = refuted[0]
    if first["line"] != line or not follows(first["claim"], expr, log, name):
        return f"it is of line {line}; the first refuted claim is {first['claim']} of line {first['line']}"
    point = log.hints[name] | {one["symbol"]: one["value"] for one in first["values"]}
    bad = [other for _, other, *_ in log.guards[name] if other != expr and not value(other, point)]
    if bad or value(expr, point) or value(first["claim"], point):
        return f"{first['values']} is no counterexample: {bad[:2]}"
    # Where a size became a number, the graph contains that number, which is wrong for other sizes.
    number = any(one["kind"] == "specialization" for one in refuted)
    # Equal sizes have one symbol when PyTorch compiles with them, so that the question has another text in that replay.
    names = {one["symbol"] for one in first["values"]}
    duck = len({point[one] for one in names}) < len({log.hints[name].get(one) for one in names})
    return "" if first["replayed"] or number or duck else f"the replay with {first['values']} does not differ"


def check_truncation(tell, folder):
    verdict = child(["--truncation"], folder / "truncation", 10000)[0]["verdict"]
    print(f"PyTorch's validator on int(u / 2) == u // 2, which is false at u = -1: {verdict}")
    tell.check("truncation below zero", [] if verdict in ("proved", "refuted") and int(-1 / 2) != -1 // 2 else [verdict])


class Counts(collections.Counter):
    def text(self):
        return ", ".join(f"{n} {what}" for what, n in sorted(self.items()))


def check_batch(tell, seeds, options, folder, counts):
    """Compiles programs and compares the verdicts; returns (seed, guard, problem) of planted faults."""
    rows = child(map(str, seeds), folder / "log", options.timeout)
    path = next((folder / "log").iterdir())
    ours, log, problems = by_compile(symtape("validate", "--json", path)), Log(path), []
    for row in rows:
        answer = ours.get(row["compile"], {"verdict": "absent", "findings": []})
        counts[f"{answer['verdict']} (PyTorch: {row['verdict']})"] += 1
        for one in answer["findings"][:1]:
            problems.append(f"seed {row['seed']}: {one['verdict']}: {one['claim']}")
        if {answer["verdict"], row["verdict"]} == {"proved", "refuted"} or answer["verdict"] == "absent":
            problems.append(f"seed {row['seed']}: {answer['verdict']}, PyTorch: {row['verdict']}")
    tell.check(f"programs {seeds[0]} to {seeds[-1]}: verdicts", problems)
    return log, {row["compile"]: row["seed"] for row in rows}


def plant(log, seeds, options, folder, draw, planted):
    for name, seed in seeds.items():
        found = list(faults(log, name)) if len(planted) < options.faults else []
        if found:
            at = draw.choice(found)
            planted[seed] = log.guards[name][at][1], check_fault(log, name, at, folder)


def check_planted(tell, planted, options, folder, counts):
    for seed, (expr, problem) in planted.items():
        tell.check(f"program {seed} without {expr}", [problem] if problem else [])
    wanted = json.dumps({seed: expr for seed, (expr, _) in planted.items()})
    for row in child(["--without", wanted], folder / "without", options.timeout) if planted else []:
        counts[row["without"] if row["found"] else "no such guard"] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=6)
    parser.add_argument("--faults", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=2000)
    options = parser.parse_args()
    tell = Cases()
    if subprocess.run([PYTHON, "-c", "import torch, z3"], capture_output=True).returncode:
        tell.skip("validator", "the Python of SYMTAPE_PYTHON has no torch or no z3-solver")
        tell.finish()
    draw, planted, counts = random.Random(options.seed), {}, Counts()
    seeds = list(range(options.seed, options.seed + options.programs))
    with tempfile.TemporaryDirectory() as place:
        for first in range(0, len(seeds), BATCH):
            folder = Path(place) / str(first)
            folder.mkdir()
            log, names = check_batch(tell, seeds[first:first + BATCH], options, folder, counts)
            plant(log, names, options, folder, draw, planted)
        check_truncation(tell, Path(place))
        without = Counts()
        check_planted(tell, planted, options, Path(place), without)
    print(f"compiles: {counts.text()}\nfaults, as PyTorch's validator says: {without.text()}")
    tell.finish()


if __name__ == "__main__":
    main()
