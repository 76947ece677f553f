#!/usr/bin/env python3
"""The minifier beside torch._functorch.fx_minifier: the same graphs, the same predicates, the same
run; then the goals of reference/minify.md, section 4.1, with what was measured. tests/bench/README.md
says how to read it. Prints; asserts nothing.

usage: run.py [--blocks N,N...] [--cores N,N...] [--seconds S] [--no-peer]

Without a Python that has torch ($SYMTAPE_PYTHON, else this one) only the shape engine is measured."""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
import cases  # noqa: E402

# What fx_minifier asked and left when it was not cut short: reference/minify.md, section 5. By the
# graph's calls (parts of results included) and the case.
EARLIER = {(2322, "k2_any"): (2413, 22), (2322, "k2_path"): (2413, 22), (2322, "k3_any"): (2685, 26),
           (698, "k2_any"): (526, 8), (698, "k2_path"): (526, 8), (698, "k3_any"): (606, 12)}
JOBS, JOBS_SECONDS = 8, 1.0


def lines(command):
    """As they come."""
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode:
        sys.exit(f"run.py: {command[0]} failed")


def complete(peer):
    """Marks what fx_minifier could not finish: "*", measured earlier; ">", at least so many."""
    peer["mark"] = ""
    if peer["done"]:
        return
    earlier = EARLIER.get((peer["nodes"], peer["case"]))
    peer["mark"] = "*" if earlier else ">"
    if earlier:
        peer["asked"], peer["left"] = earlier


def beside(args, bench, python, program, folder):
    what = [f"transformer:{n}" for n in args.blocks.split(",") if n]
    what += [f"cores:{n}" for n in args.cores.split(",") if n]
    rows = []
    print("calls  case                     asked: fx_minifier  ours  ratio    left: fx_minifier  ours"
          "  fewest    ms: fx_minifier   ours")
    for peer in lines([python, HERE / "peer.py", program, folder, args.seconds, *what]):
        complete(peer)
        ours, = lines([bench, peer["graph"], peer["what"]])
        rows.append((peer, ours))
        # What is left when it is cut short says nothing.
        left = "-" if peer["mark"] == ">" else str(peer["left"])
        print(f"{peer['calls']:5}  {peer['case']:25} {peer['mark'] + str(peer['asked']):>17} "
              f"{ours['asked']:5} {ours['asked'] / peer['asked']:6.3f} {left:>20} {ours['left']:5} "
              f"{peer['fewest']:7} {peer['ms']:18.0f} {ours['ms']:6.1f}", flush=True)
    print(f"* not in this run, which cuts it short after {args.seconds} s: measured before "
          "(reference/minify.md, section 5)\n> so many when it was cut short: the ratio is at most that")
    return rows


def mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def spread(ratios):
    return (f"geometric mean {mean(ratios):.3f}, median {statistics.median(ratios):.3f}, "
            f"worst {max(ratios):.3f}")


def goals_beside(rows):
    several = [(p, o) for p, o in rows if p["fewest"] > 1]
    known = [(p, o) for p, o in rows if p["mark"] != ">"]
    yield "G1", "asked, ours over fx_minifier's, two or more culprits", "mean 0.067", spread(
        [o["asked"] / p["asked"] for p, o in several])
    for least in (100, 300):
        large = [o["asked"] / p["asked"] for p, o in several if p["calls"] >= least]
        if large:
            yield "G1", f"the same, graphs of {least} calls and more", "mean 0.067", spread(large)
    yield "G1", "the same, one culprit", "worst 1", spread(
        [o["asked"] / p["asked"] for p, o in rows if p["fewest"] == 1])
    pairs = [o["asked"] for p, o in rows if p["fewest"] == 2]
    yield "G1", "asked with two culprits, any size", "100", f"most {max(pairs)}"
    ones = [(p, o) for p, o in rows if p["fewest"] == 1]
    over = sum(o["asked"] > 2 * math.log2(p["calls"]) + 4 for p, o in ones)
    yield "G2", "asked about one culprit, no location", "2 log2 n + 4", (
        f"median {statistics.median(o['asked'] for _, o in ones)}, most "
        f"{max(o['asked'] for _, o in ones)}, over it {over} of {len(ones)}")
    yield "G3", "left, ours over fx_minifier's, two or more culprits", "mean 0.35, worst 1", spread(
        [o["left"] / p["left"] for p, o in known if p["fewest"] > 1])
    best = sum(o["left"] <= p["fewest"] for p, o in rows)
    yield "G3", "fewest reached", "80 %", f"{best} of {len(rows)} ({100 * best / len(rows):.0f} %)"


def goal_jobs(exe, graph):
    """A command that takes a second, one after the other and eight at once."""
    check = (f"sh -c 'sleep {JOBS_SECONDS}; grep -q aten.sin \"$0\" && grep -q aten.cos \"$0\" && "
             "grep -q aten.gelu \"$0\"'")
    seconds, asked = [], []
    for jobs in (1, JOBS):
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            text = subprocess.run([str(exe), "minify", str(graph), "--check", check, "--json", "-j",
                                   str(jobs), "-o", str(Path(folder) / "x.tape")], check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            seconds.append(time.monotonic() - start)
            asked.append(json.loads(text.stdout)["oracle_calls"])
    yield "G7", f"{JOBS} jobs, a question of {JOBS_SECONDS:.0f} s: wall time against one", "5", (
        f"{seconds[0] / seconds[1]:.1f} ({seconds[0]:.1f} s, {seconds[1]:.1f} s)")
    yield "G7", "asked in vain", "40 %", (
        f"{100 * (asked[1] - asked[0]) / asked[1]:.0f} % ({asked[0]} needed, {asked[1]} asked)")


def goals_engine(bench):
    for row in lines([bench, "--shape", 1000, 10000]):
        goal = "50 ms" if row["calls"] < 5000 else "1000 ms"
        if row["case"] == "a call is refused":
            yield "G2", f"asked, location known, {row['calls']} calls", "6", str(row["asked"])
        yield "G5", f"{row['calls']} calls: {row['case']}", goal, (
            f"{row['ms']:.1f} ms ({row['asked']} asked, {row['left']} left)")
    for row in lines([bench, "--bisect", 10000, 1000000]):
        goal = "6 rounds, 100 ms" if "8 at once" in row["case"] else "16 asked, 100 ms"
        goal = goal if row["events"] < 100000 else "10000 ms"
        yield "G17", f"{row['events']} events, {row['case']}", goal, (
            f"{row['probes']} asked, {row['rounds']} rounds, {row['ms']:.1f} ms")


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--blocks", default="1,4,12,40", help="of the transformer")
    args.add_argument("--cores", default="20,100,300,1000", help="calls of the carriers of cores")
    args.add_argument("--seconds", default="15", help="for a reduction of fx_minifier's")
    args.add_argument("--no-peer", action="store_true")
    args = args.parse_args()
    build = Path(os.environ.get("SYMTAPE_BUILD", cases.ROOT / "build"))
    bench = build / "tests" / "bench" / "bench_minify"
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    program = cases.shared() and cases.shared() / "programs" / "peer_minifier.py"
    goals = []
    if not args.no_peer and program:
        with tempfile.TemporaryDirectory() as folder:
            rows = beside(args, bench, python, program, Path(folder))
            goals += goals_beside(rows)
            largest = max((p for p, _ in rows if p["case"] == "k3_any"), default=None,
                          key=lambda p: p["calls"] if p["calls"] < 1000 else 0)
            if largest:
                goals += goal_jobs(build / "cmd" / "symtape", largest["graph"])
    goals += goals_engine(bench)
    print("\ngoal  what                                                      at most         measured")
    for goal, what, most, measured in goals:
        print(f"{goal:5} {what:57} {most:15} {measured}")


if __name__ == "__main__":
    main()
