#!/usr/bin/env python3
"""symtape cache COLD WARM on pairs of starts under the real PyTorch: what it counts are the program's own counters, and the cause
that it names is what was changed between the starts.

    warm_torch.py [-v] [--all] [--seed N] [PAIR...]

A pair changes one thing: a size, a constant, settings of Inductor drawn at random, the folder of the caches. Without --all a sample of
them runs. SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with 77, "skipped" to
meson, when that one has no torch.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from cases import SYMTAPE, Cases

PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
SAMPLE = 3  # pairs of a run without --all, and the one that changes nothing

PROGRAM = """
import json, sys, torch
from torch._dynamo.utils import counters
import torch._inductor.config, torch._functorch.config
how = json.loads(sys.argv[1])
for name, value in how.get("inductor", {}).items(): setattr(torch._inductor.config, name, value)
if how.get("pass"): torch._inductor.config.post_grad_custom_post_pass = lambda graph: None
if how.get("deterministic"): torch.use_deterministic_algorithms(True)

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * grad * ctx.saved_tensors[0]

def project(x, weight):
    return (x @ weight).relu().sum(0)
def scale(x, factor):
    y = x.cos() * factor
    torch._dynamo.graph_break()
    return y.sin() + x
def train(x):
    return (Square.apply(x) if how.get("square") else x * x).tanh().sum()

rows = how.get("rows", 8)
projected, scaled = torch.compile(project), torch.compile(scale)
for n in (rows, rows + 5): projected(torch.ones(n, 16), torch.ones(16, 16))
scaled(torch.ones(4), how.get("factor", 3))
torch.compile(train)(torch.ones(6, requires_grad=True)).backward()
if how.get("more"): torch.compile(lambda x: x.exp() - 1)(torch.ones(7))
print("counters", json.dumps({"FX graph": {k[14:]: v for k, v in counters["inductor"].items() if k.startswith("fxgraph_cache_")},
                              "AOTAutograd": {k[15:]: v for k, v in counters["aot_autograd"].items() if k.startswith("autograd_cache_")}}))
"""

# Settings of Inductor that are a part of the key, and other values than the default ones.
SETTINGS = {"max_fusion_size": 32, "size_asserts": False, "epilogue_fusion": False, "realize_reads_threshold": 6,
            "realize_opcount_threshold": 20, "inplace_buffers": False, "allow_buffer_reuse": False, "reorder_for_locality": False,
            "permute_fusion": True, "split_reductions": False, "comment_origin": True, "nan_asserts": True, "pick_loop_orders": False}


def components(report, causes=("key",)):
    """The names of the components that differ, of graphs that were compiled again."""
    return {change["component"].split("[")[0] if "example_inputs" in change["component"] else change["component"]
            for row in report["graphs"] if row["outcome"] == "compiled again" and row["cause"] in causes for change in row["changes"]}


def causes(report):
    return {(row["outcome"], row["cause"]) for row in report["causes"]}


def outcomes(report):
    return [report["totals"][name] for name in ("again", "new", "traced", "taken", "unasked")]


def make_pairs(draw):
    """{name: (what the cold start does, what the warm one does, its environment, what the report must say)}; a start is described by
    `how` of PROGRAM, and one that is None is the common cold start."""
    few = {name: SETTINGS[name] for name in draw.sample(sorted(SETTINGS), 2)}
    named = {f"inductor_config[{name}]" for name in few}
    rows = draw.choice([9, 12, 30])
    return {
        "nothing": (None, {}, {}, lambda r: outcomes(r) == [0, 0, 0, 6, 0] and not r["causes"]),
        "size": (None, {"rows": rows}, {}, lambda r: outcomes(r) == [1, 0, 0, 5, 0] and components(r) == {"example_inputs"}),
        "constant": (None, {"factor": draw.choice([5, 7])}, {}, lambda r: outcomes(r) == [1, 0, 0, 5, 0] and components(r) == {"gm"}),
        "settings": (None, {"inductor": few}, {}, lambda r: outcomes(r) == [6, 0, 0, 0, 0] and components(r) == named),
        "deterministic": (None, {"deterministic": True}, {},
                          lambda r: outcomes(r)[0] == 6 and "deterministic_algorithms_settings" in components(r)),
        "new graph": (None, {"more": True}, {}, lambda r: outcomes(r) == [0, 1, 0, 6, 0] and causes(r) == {("new", "first")}),
        "guard": (None, {"rows": 5000}, {}, lambda r: ("compiled again", "guard") in causes(r) and outcomes(r)[0] == 2),
        "off": (None, {}, {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"},
                lambda r: outcomes(r)[0] == 6 and causes(r) == {("compiled again", "off")}),
        "no AOTAutograd": (None, {}, {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"},
                           lambda r: outcomes(r) == [0, 0, 6, 0, 0] and causes(r) == {("traced again", "off")}),
        "other folder": (None, {}, {"TORCHINDUCTOR_CACHE_DIR": "elsewhere"},
                         lambda r: outcomes(r)[0] == 6 and causes(r) == {("compiled again", "absent")}),
        "pass": ({"pass": True}, {"pass": True}, {},
                 lambda r: outcomes(r)[0] == 6 and causes(r) == {("compiled again", "bypass")} and "uuid" in r["causes"][0]["because"]),
        "autograd.Function": ({"square": True}, {"square": True}, {},
                              lambda r: outcomes(r) == [0, 0, 2, 4, 0] and causes(r) == {("traced again", "bypass")}),
        "profile of sizes": ({"job": True}, {}, {"TORCH_COMPILE_JOB_ID": "job"},
                             lambda r: outcomes(r) == [0, 0, 0, 5, 1] and r["warm"]["read_sizes"] and r["cold"]["wrote_sizes"]),
    }


def start(folder, name, cache, how, env):
    """Runs the program. Returns the folder of its log, and its counters."""
    logs = folder / name
    shutil.rmtree(logs, ignore_errors=True)
    done = subprocess.run([PYTHON, "program.py", json.dumps(how)], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), "TORCH_TRACE": str(logs), **env})
    lines = [line for line in done.stdout.splitlines() if line.startswith("counters ")]
    if not lines:
        raise SystemExit(f"{name} failed:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    return logs, json.loads(lines[0][9:])


def compare(cold, warm):
    done = subprocess.run([str(SYMTAPE), "cache", "--json", "-q", str(cold), str(warm)], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"symtape cache {cold} {warm}: {done.stderr}")
    report = json.loads(done.stdout)
    return report, done.returncode == (report["totals"]["again"] > 0)


def count_problems(side, report, counters):
    """Where the report counts otherwise than the program itself."""
    problems = []
    for cache in report[side]["caches"]:
        for word, key in (("hit", "hits"), ("miss", "misses"), ("bypass", "bypasses")):
            want = counters.get(cache["cache"], {}).get(word, 0)
            if cache["cache"] in counters and want != cache[key]:
                problems.append(f"{side}, {cache['cache']}: {cache[key]} {key}, PyTorch counts {want}")
    return problems


def check_pair(folder, name, pair, common, verbose):
    how_cold, how_warm, env, holds = pair
    cache = folder / "pair"
    shutil.rmtree(cache, ignore_errors=True)
    if how_cold is None:
        cold, cold_counters = common
        shutil.copytree(folder / "cache", cache)
    else:
        cold, cold_counters = start(folder, "cold_pair", cache, how_cold, env)
    shutil.rmtree(folder / "elsewhere", ignore_errors=True)
    warm, warm_counters = start(folder, "warm", cache, how_warm, env)
    report, status = compare(cold, warm)
    problems = count_problems("cold", report, cold_counters) + count_problems("warm", report, warm_counters)
    problems += [] if holds(report) else [f"{report['totals']}, {report['causes']}, {sorted(components(report))}"]
    problems += [] if status else ["the exit code"]
    if verbose:
        print(f"  {name}: {report['totals']}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("pairs", nargs="*", metavar="PAIR")
    args = parser.parse_args()
    cases = Cases()
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode:
        cases.skip("warm_torch", f"{PYTHON} has no torch")
        cases.finish()
    draw = random.Random(args.seed)
    pairs = make_pairs(draw)
    names = args.pairs or (list(pairs) if args.all else ["nothing", *draw.sample(list(pairs)[1:], SAMPLE)])
    with tempfile.TemporaryDirectory(prefix="symtape-warm-") as kept:
        folder = pathlib.Path(kept)
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        common = start(folder, "cold", folder / "cache", {}, {})
        for name in names:
            cases.check(f"{name}: what was compiled again, and why", check_pair(folder, name, pairs[name], common, args.v))
    cases.finish()


main()
