#!/usr/bin/env python3
"""symtape dynamic on random programs under the real PyTorch: from a recording of a program under torch.compile(dynamic=None), the
calls that compile under dynamic=True, dynamic=False and with marks are those at which PyTorch compiles.

    dynamic_torch.py [-v] [--programs N] [--seed N] [--least SHARE]

N programs are made at random, recorded together in one process, and run once for each policy. SYMTAPE is the program under test,
SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with 77, "skipped" to meson, when that one has no torch.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from cases import Cases

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
POLICIES = {"none": "automatic", "true": "dynamic", "false": "static", "mark": "marked"}

# What a program does with its arguments: the names that a statement needs, and the statement.
STATEMENTS = [
    ("x", "h = h + x.sum()"),
    ("x", "h = h + x.relu().mean(0).sum()"),
    ("x", "h = h + torch.cat([x, x], 0).sum() * x.shape[0]"),
    ("x", "h = h + x.reshape(-1).sum()"),
    ("x", "h = h + x[:, :1].sum()"),
    ("x", "h = h + x.t().cos().sum()"),
    ("x", "h = h + x.new_zeros(x.shape[1], x.shape[0]).sum()"),
    ("x", "if x.shape[0] % 2 == 0:\n        h = h + 1"),
    ("x", "if x.shape[0] > 6:\n        h = h * 2"),
    ("x", "if x.shape[1] > 5:\n        h = h - 3"),
    ("x", "if x.shape[0] == 6:\n        h = h.sin()"),
    ("x", "if x.shape[0] * x.shape[1] > 30:\n        h = h.exp()"),
    ("x", "if x.shape[0] > x.shape[1]:\n        h = h.tanh()"),
    ("y", "h = h + y.sum()"),
    ("y", "h = h + y.shape[0]"),
    ("y", "if y.shape[0] > 4:\n        h = h.cos()"),
    ("xy", "h = h + (x + y).sum() if x.shape == y.shape else h + y.sum()"),
    ("xy", "h = h + torch.cat([x.reshape(-1), y.reshape(-1)]).sum()"),
    ("n", "h = h * n"),
    ("n", "if n > 3:\n        h = h + 1"),
    ("n", "h = h + torch.ones(n + 2).sum()"),
    ("xn", "h = h + x.new_ones(n, 2).sum()"),
    ("n", "for i in range(min(n, 3)):\n        h = h + i"),
    ("s", "h = h * s"),
    ("b", "h = h.relu() if b else h"),
    ("w", "h = h + (w @ WEIGHT).sum()"),
    ("w", "h = h + w.view(-1, 4).sum()"),
]

RUN = """
import json, sys, torch
torch.set_num_threads(1)
from torch._dynamo.callback import callback_handler
import programs
started = [0]
def start(*args): started[0] += 1
marks = json.loads(sys.argv[1])
dynamic = {"none": None, "true": True, "false": False, "mark": None}
def value(policy, name, row):
    if not isinstance(row, list): return row
    tensor = torch.zeros(row)
    for dim in marks.get(name, []) if policy == "mark" else []: torch._dynamo.maybe_mark_dynamic(tensor, dim)
    return tensor
for policy in sys.argv[2:]:
    answers = []
    torch._dynamo.reset()  # forgets callbacks, too
    callback_handler.register_start_callback(start)
    for number, calls in enumerate(programs.CALLS):
        f = torch.compile(getattr(programs, f"f{number}"), backend="eager", dynamic=dynamic[policy])
        answers.append([])
        for call in calls:
            before = started[0]
            f(**{name: value(policy, name, row) for name, row in call.items()})
            answers[-1].append(started[0] - before)
    print(f"answers {policy} {json.dumps(answers)}")
"""


def make_program(draw):
    """Returns a program's names, its statements, and its calls."""
    names = "x" + "".join(name for name in "ynsbw" if draw.random() < 0.4)
    possible = [text for needs, text in STATEMENTS if set(needs) <= set(names)]
    body = draw.sample(possible, min(len(possible), draw.randint(1, 5)))
    for name in names:  # an argument that nothing reads is not guarded
        if not any(set(needs) == {name} and text in body for needs, text in STATEMENTS):
            body.append(draw.choice([text for needs, text in STATEMENTS if needs == name]))
    pool = [2, 3, 4, 5, 6, 7, 8, 9, 12] + draw.choice([[], [], [1], [1, 0]])
    fixed = {name: draw.random() < 0.4 for name in names}

    def sizes(rank):
        return [draw.choice(pool) for _ in range(rank)]

    base = sizes(2)
    calls = []
    for _ in range(draw.randint(5, 12)):
        call = {"x": base if fixed["x"] else [draw.choice(pool), base[1] if draw.random() < 0.6 else draw.choice(pool)]}
        if "y" in names:
            call["y"] = call["x"] if draw.random() < 0.4 else sizes(2)
        if "n" in names:
            call["n"] = 4 if fixed["n"] else draw.randint(0, 6)
        if "s" in names:
            call["s"] = 0.5 if fixed["s"] else draw.choice([0.5, 1.5, 2.0])
        if "b" in names:
            call["b"] = draw.random() < 0.7
        if "w" in names:
            call["w"] = [draw.choice(pool), 4]
        calls.append(call)
        if draw.random() < 0.3:
            calls.append(dict(call))
    return names, body, calls


def program_text(programs):
    lines = ["import torch", "WEIGHT = torch.ones(4, 3)"]
    for number, (names, body, _) in enumerate(programs):
        lines.append(f"def f{number}({', '.join(names)}):\n    h = torch.ones(2)\n    " + "\n    ".join(body) + "\n    return h")
    lines.append("CALLS = " + repr([calls for _, _, calls in programs]))
    return "\n".join(lines) + "\n"


def run_live(folder, marks, *policies, record=()):
    """Returns, by policy, the number of compiles that each call of each program started."""
    done = subprocess.run([*record, PYTHON, "run.py", json.dumps(marks), *policies], cwd=folder, capture_output=True, text=True,
                          check=False)
    rows = [line.split(" ", 2) for line in done.stdout.splitlines() if line.startswith("answers ")]
    if len(rows) != len(policies):
        raise SystemExit(f"the programs failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return {policy: json.loads(answers) for _, policy, answers in rows}


def replay(tape, marks):
    listed = ",".join(f"L['{name}']:{dim}" for name, dims in marks.items() for dim in dims)
    done = subprocess.run([SYMTAPE, "dynamic", "--json", "-q", "--marks", listed, tape], capture_output=True, text=True, check=True)
    return {row["policy"]: set(row["compiled"]) for row in json.loads(done.stdout)["policies"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--programs", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--least", type=float, default=0.95)
    args = parser.parse_args()
    cases = Cases()
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        cases.skip("dynamic_torch", f"{PYTHON} has no torch")
        cases.finish()
    draw = random.Random(args.seed)
    programs = [make_program(draw) for _ in range(args.programs)]
    marks = {name: sorted(draw.sample([0, 1], draw.randint(1, 2))) for name in "xyw"}
    marks["w"] = [dim for dim in marks["w"] if dim == 0]
    print(f"seed {args.seed}, marks {marks}")
    with tempfile.TemporaryDirectory(prefix="symtape-dynamic-") as name:
        folder = pathlib.Path(os.environ.get("SYMTAPE_KEEP", name))
        (folder / "programs.py").write_text(program_text(programs), encoding="utf-8")
        (folder / "run.py").write_text(RUN, encoding="utf-8")
        tape = str(folder / "calls.tape")
        live = run_live(folder, marks, "none", record=(SYMTAPE, "record", "-q", "--overwrite", "--calls", "-o", tape, "--"))
        live |= run_live(folder, marks, "true", "false", "mark")
        (folder / "answers.json").write_text(json.dumps(live), encoding="utf-8")
        ours = replay(tape, marks)
    counts = collections.Counter()
    for policy, named in POLICIES.items():
        number = 0
        for program, answers in enumerate(live[policy]):
            calls = range(number, number + len(answers))
            number += len(answers)
            want = [call for call, compiles in zip(calls, answers) if compiles]
            got = sorted(ours[named] & set(calls))
            counts[policy] += 1
            counts[policy + " equal"] += want == got
            counts[policy + " equal count"] += len(want) == len(got)
            if args.v and want != got:
                first = calls.start
                print(f"  f{program}, {policy}: compiles at {[c - first for c in want]}, not {[c - first for c in got]}")
    for policy, named in POLICIES.items():
        share = counts[policy + " equal"] / counts[policy]
        text = f"{counts[policy + ' equal']} of {counts[policy]} programs compile at the same calls, {counts[policy + ' equal count']} as often"
        cases.check(f"{named}: {text}", [] if share >= args.least else [text])
    cases.finish()


if __name__ == "__main__":
    main()
