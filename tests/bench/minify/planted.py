#!/usr/bin/env python3
"""Planted culprits in the recorded graphs of ../shared: questions, calls left, and whether hand.py of
../shared/minify finds a smaller graph after "minimal". tests/bench/README.md says how to read it.
Prints; asserts nothing.

usage: planted.py [--graphs N] [--skip N] [--part K/N] [--kinds KIND,...] [--seed N] [--least CALLS] [--most CALLS]
                  [--no-hand] [--rows FILE] [--keep FOLDER] [-v]
       planted.py --sum FILE...

--part 2/5 reduces every fifth graph from the second on, and --rows adds what was found to a file, a case a line, so that
all parts, run one after the other or at once, are one table by --sum.

hand.py needs a Python that has torch ($SYMTAPE_PYTHON)."""
import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
import cases  # noqa: E402

CHECK = """import sys
sys.path.insert(0, {folder!r})
import pred
sys.exit(0 if pred.test(pred.parse(open(sys.argv[2]).read()), sys.argv[1]) else 1)
"""
MOST_LOG = 20_000_000  # bytes of a packed log that is read: all but a few models'


def some_logs():
    """The recordings of ../shared, but the largest."""
    return [p for d in ("traces", "failures", "variety") for p in sorted((cases.shared() / d).glob("*.log.zst"))
            if p.stat().st_size < MOST_LOG // 20]


def graphs_of(log):
    """The graphs of a recording that are worth reducing, one of a kind and compile."""
    text = subprocess.run([cases.SYMTAPE, "show", log, "--graphs", "--json", "-n", "0"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = {}
    for g in json.loads(text)["graphs"] if text else []:
        if g["calls"] >= 10 and g["group"] in ("dynamo", "joint", "forward", "backward", "inference"):
            found[g["group"]] = f"{log}:{g['compile']}_{g['attempt']}:{g['group']}"
    return [(name, group) for group, name in found.items()]


def plant(kind, nodes, pred, rng):
    """A predicate of that kind which holds, or None."""
    names = sorted({n[1] for n in nodes if n[1].startswith("aten.")})
    symbols = lambda n: len(set(re.findall(r"\b[su]\d+\b", n[3])))
    some = {"sym": [n[1] for n in nodes if symbols(n) >= 2], "symany": [n[1] for n in nodes if symbols(n)],
            "prod": [n[1] for n in nodes if re.search(r"s\d+\*s\d+", n[3])]}.get(kind, names)
    some = sorted(set(some) & set(names))
    if len(some) < 1 or len(names) < 3:
        return None
    for _ in range(40):
        spec = {"any": lambda: "any:" + ",".join(rng.sample(names, 2)),
                "flow": lambda: "flow:" + ">".join(rng.sample(names, 2)),
                "flow3": lambda: "flow:" + ">".join(rng.sample(names, 3)),
                "symany": lambda: f"symany:{rng.choice(some)},{rng.choice(names)}"}.get(
                    kind, lambda: f"{kind}:{rng.choice(some)}")()
        if holds(pred, nodes, spec):
            return spec
    return None


def holds(pred, nodes, spec):
    """pred.test(), and flow through any number of operators."""
    kind, ops = spec.split(":", 1)
    if kind != "flow":
        return pred.test(nodes, spec)
    ops, reached = ops.split(">"), {}
    for name, target, uses, _ in nodes:
        at = max((reached.get(u, 0) for u in uses), default=0)
        reached[name] = at + (at < len(ops) and ops[at] in target)
        if reached[name] == len(ops):
            return True
    return False


def oracle(spec, check):
    kind, ops = spec.split(":", 1)
    if kind in ("any", "flow"):
        return ["--has-ops", ops.replace(",", ", ").replace(">", " -> ")]
    return ["--check", f"{sys.executable} -S -E {check} {spec}"]


def reduce(graph, spec, check, out, jobs):
    Path(f"{out}.journal").unlink(missing_ok=True)
    result = subprocess.run([cases.SYMTAPE, "minify", graph, *oracle(spec, check), "--json", "-o", out,
                             "--overwrite", "--overwrite-journal", "-q", "-j", str(jobs), "--deadline", "20s"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        return json.loads(result.stdout)
    except ValueError:
        print(f"{graph} {spec}: {result.stderr.strip()[:200]}", file=sys.stderr)
        return None


def by_hand(python, folder, rows):
    """What hand.py leaves of each row: {number: (calls at its start, calls at its end, its steps)}."""
    todo = []
    for i, row in enumerate(rows):
        program = folder / f"{i}.py"
        made = subprocess.run([cases.SYMTAPE, "export", "--python", row["tape"]], stdout=program.open("w"),
                              stderr=subprocess.DEVNULL)
        if made.returncode == 0:
            todo.append([i, str(program), row["spec"]])
    shared = str(cases.shared() / "minify")
    text = subprocess.run([python, HERE / "by_hand.py", shared], input=json.dumps(todo), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row["case"]: row for row in map(json.loads, text.splitlines())}


def beaten(row, hand):
    """Whether hand.py removed a call; it counts a getitem of a tuple by itself, and may return the tuple."""
    return hand["end"] < hand["start"] and hand["calls"] < row["whole"]


def smaller(ran):
    """How many graphs with fewer calls of hand.py eager PyTorch runs, cannot be asked about, since the machine
    does not run the larger one either, and refuses."""
    found = [h for r, h in ran if beaten(r, h)]
    runs = sum(h["eager"] and not h["refusal"] for h in found)
    not_known = sum(not h["eager"] for h in found)
    return runs, not_known, len(found) - runs - not_known


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--graphs", type=int, default=60)
    args.add_argument("--skip", type=int, default=0, help="the first of them")
    args.add_argument("--kinds", default="any,flow,flow3,sym,prod,symany")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--least", type=int, default=0, help="calls of the graph")
    args.add_argument("--each", type=int, default=1, help="predicates of a kind and graph")
    args.add_argument("--most", type=int, default=10**9, help="calls of the graph")
    args.add_argument("--part", type=lambda text: tuple(map(int, text.split("/"))), default=(1, 1), metavar="K/N")
    args.add_argument("--rows", type=Path, help="add each case to this file")
    args.add_argument("--sum", nargs="+", type=Path, metavar="FILE", help="print the table of such files, and reduce nothing")
    args.add_argument("--no-hand", action="store_true")
    args.add_argument("--keep", type=Path)
    args.add_argument("-j", type=int, default=1)
    args.add_argument("-v", action="store_true")
    args = args.parse_args()
    if args.sum:
        report(args, [json.loads(line) for path in args.sum for line in path.read_text().splitlines()])
        return
    with tempfile.TemporaryDirectory() as scratch:
        run(args, args.keep or Path(scratch))


def run(args, folder):
    folder.mkdir(exist_ok=True)
    shared = cases.shared()
    sys.path.insert(0, str(shared / "minify"))
    import pred
    check = folder / "check.py"
    check.write_text(CHECK.format(folder=str(shared / "minify")))
    logs = some_logs()
    rng = random.Random(args.seed)
    listed = folder / "graphs.json"
    if not listed.exists():
        listed.write_text(json.dumps([g for log in logs for g in graphs_of(log)]))
    graphs = json.loads(listed.read_text())
    rng.shuffle(graphs)
    rows, used = [], 0
    for graph, group in graphs:
        if used == args.graphs + args.skip:
            break
        text = subprocess.run([cases.SYMTAPE, "show", graph, "--graph"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout
        nodes = pred.parse(text)
        if not max(args.least, 10) <= len(nodes) <= args.most or not plant("any", nodes, pred, random.Random(0)):
            continue
        used += 1
        if used <= args.skip or (used - args.part[0]) % args.part[1]:
            continue
        for number, kind in enumerate(args.kinds.split(",") * args.each):
            spec = plant(kind, nodes, pred, random.Random(f"{args.seed} {used} {kind} {number if args.each > 1 else 0}"))
            if not spec:
                continue
            tape = folder / f"{len(rows)}.tape"
            got = reduce(graph, spec, check, tape, args.j)
            if got and got["end"] != "not_reproduced":
                if args.v:
                    print(spec, len(nodes), got["calls_after"], got["oracle_calls"], got["end"], f"{got['seconds']:.2f}", flush=True)
                whole = sum("getitem" not in n[1] for n in pred.parse(got["fx"]))
                rows.append({"whole": whole, "graph": graph, "kind": kind, "spec": spec, "tape": str(tape), "asked": got["oracle_calls"],
                             "minimal": got["minimal"], "before": len(nodes), "left": got["calls_after"]})
    hand = {} if args.no_hand else by_hand(os.environ.get("SYMTAPE_PYTHON", sys.executable), folder, rows)
    for i, row in enumerate(rows):
        row["hand"] = hand.get(i)
    if args.rows:
        with args.rows.open("a") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    report(args, rows)


def report(args, rows):
    print("kind     cases  calls  asked: mean  median  most   left: mean  most  minimal   by hand: ran  smaller: runs  not known  refused")
    for kind in args.kinds.split(","):
        of = [r for r in rows if r["kind"] == kind]
        if not of:
            continue
        asked, left = [r["asked"] for r in of], [r["left"] for r in of]
        ran = [(r, r["hand"]) for r in of if r["hand"] and r["hand"]["end"] is not None]
        print(f"{kind:8} {len(of):5} {statistics.fmean(r['before'] for r in of):6.0f} {statistics.fmean(asked):12.1f} "
              f"{statistics.median(asked):7.0f} {max(asked):5} {statistics.fmean(left):12.2f} {max(left):5} "
              f"{sum(r['minimal'] for r in of):8} {len(ran):14} {'{:14} {:10} {:8}'.format(*smaller(ran))}")
    for i, row in enumerate(rows):
        found = row["hand"]
        if args.v or (found and found["end"] is not None and beaten(row, found)):
            print(f"{i:3} {row['spec']:60} {row['before']:5} -> {row['left']:3} in {row['asked']:4}  "
                  f"{Path(row['graph']).name}", f"by hand {found['start']} -> {found['end']} {found['steps']} {found['refusal'] or ''}" if found else "")


if __name__ == "__main__":
    main()
