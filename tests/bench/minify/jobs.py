#!/usr/bin/env python3
"""How much faster eight jobs are than one: reductions of the recorded graphs of ../shared by an oracle
whose questions take a while, and no processor time. tests/bench/README.md says how to read it. Prints;
asserts nothing.

usage: jobs.py [--graphs N] [--kinds any,flow,flow3] [--seed N] [--least CALLS] [--ms MS | --simulate] [-v]"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import planted  # noqa: E402


def texts(args, pred):
    """FX texts of graphs of so many calls, in an order of the seed."""
    logs = planted.some_logs()
    random.Random(args.seed).shuffle(logs)
    used = 0
    for log in logs:
        for graph, _ in planted.graphs_of(log):
            text = subprocess.run([cases.SYMTAPE, "show", graph, "--graph"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True).stdout
            nodes = pred.parse(text)
            if len(nodes) >= args.least and used < args.graphs:
                used += 1
                yield graph, text, nodes


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--graphs", type=int, default=20)
    args.add_argument("--kinds", default="any,flow,flow3")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--least", type=int, default=100)
    args.add_argument("--ms", default="100")
    args.add_argument("--simulate", action="store_true", help="count rounds of questions instead of waiting")
    args.add_argument("-v", action="store_true")
    args = args.parse_args()
    sys.path.insert(0, str(cases.shared() / "minify"))
    import pred
    build = Path(os.environ.get("SYMTAPE_BUILD", cases.ROOT / "build"))
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.fx"
        for number, (graph, text, nodes) in enumerate(texts(args, pred)):
            file.write_text(text)
            for kind in args.kinds.split(","):
                spec = planted.plant(kind, nodes, pred, random.Random(f"{args.seed} {number} {kind}"))
                if not spec:
                    continue
                _, ops = planted.oracle(spec, None)
                bench = ["bench_jobs", file, "8"] if args.simulate else ["bench_minify", "--sleep", args.ms, file]
                out = subprocess.run([build / "tests/bench" / bench[0], *bench[1:], ops],
                                     stdout=subprocess.PIPE, text=True).stdout
                rows = [json.loads(line) for line in out.splitlines()]
                if len(rows) < 2 or rows[0]["end"] != "done":
                    continue
                one, many = rows
                for key in (kind, "all"):
                    total = sums.setdefault(key, [0] * 6)
                    for i, value in enumerate((1, one["ms"], many["ms"], one["asked"], many["asked"],
                                               one["best"] != many["best"])):
                        total[i] += value
                if args.v:
                    print(f"{spec:70} {one['calls']:5} calls  {one['asked']:3} asked, {many['asked']:3} by 8 jobs  "
                          f"{one['ms'] / many['ms']:5.2f} times as fast", flush=True)
    unit, a_unit = ("rounds ", 1) if args.simulate else ("seconds", 1e3)
    print(f"kind     cases  asked by 1 job  by 8 jobs  in vain   {unit}: 1 job  8 jobs  times as fast  other results")
    for kind, (n, one, many, asked, asked_many, other) in sums.items():
        print(f"{kind:8} {n:5} {asked:15} {asked_many:10} {100 * (1 - asked / asked_many):6.0f} % {one / a_unit:16.1f} "
              f"{many / a_unit:7.1f} {one / many:14.2f} {other:14}")


if __name__ == "__main__":
    main()
