#!/usr/bin/env python3
"""A differential fuzzer: random small graphs, compiled by the live PyTorch and replayed.

usage: graphs_torch.py [--seed N] [--seconds S] [--keep DIR] [--expect PERCENT] SYMTAPE

Each round compiles random programs (tests/differential/programs.py) with dynamic sizes under
TORCH_TRACE and asks `symtape replay` for every call of every graph that PyTorch made of them:
Dynamo's, the joint one, forward and backward. A call that does not match fails the test, and the
log is kept. Prints the seed first. Exits with 77 where Python has no torch.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verdict import month_seed  # noqa: E402

COMPILE = """
import logging, random, sys, types, warnings
sys.path.insert(0, sys.argv[1])
import torch
from programs import random_program
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
for seed in range(int(sys.argv[2]), int(sys.argv[3])):
    rng = random.Random(seed)
    torch.manual_seed(seed)
    inputs, run = random_program(rng, refused=False)
    grad = rng.random() < 0.5
    inputs = [x.requires_grad_() if grad and x.is_floating_point() else x for x in inputs]
    # A code object of its own, for Dynamo to give it a frame id of its own.
    run = types.FunctionType(run.__code__.replace(), run.__globals__, run.__name__, None,
                             run.__closure__)
    try:
        torch.compile(run, backend="aot_eager", dynamic=True)(inputs)
    except Exception:
        pass
"""
ROUND = 12  # programs a process


def compile_round(python, seed, folder):
    env = os.environ | {"TORCH_TRACE": folder}
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([python, "-c", COMPILE, here, str(seed), str(seed + ROUND)], env=env,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)


def replay(symtape, folder):
    done = subprocess.run([symtape, "replay", "--json", folder], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"symtape replay left with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=month_seed() * 1000)
    parser.add_argument("--expect", type=float, default=100, help="per cent of the calls")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", default=tempfile.gettempdir())
    parser.add_argument("symtape")
    options = parser.parse_args()
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return 77
    print(f"seed {options.seed}", flush=True)
    end, seed = time.monotonic() + options.seconds, options.seed
    calls = failed = graphs = 0
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as folder:
            compile_round(python, seed, folder)
            report = replay(options.symtape, folder)
            totals = report["totals"]
            calls, graphs = calls + totals["calls"], graphs + totals["graphs"]
            if totals["match"] != totals["calls"]:
                failed += totals["calls"] - totals["match"]
                kept = os.path.join(options.keep, f"graphs-{seed}")
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                print(f"not ok - seeds {seed} to {seed + ROUND - 1}: {totals}, kept in {kept}")
                for wrong in report["mismatches"][:5]:
                    print(f"    {wrong['op']}: {wrong['recorded']} {wrong['replayed']}")
                for name, n in report["unsupported_ops"].items():
                    print(f"    unsupported {name}: {n}")
            else:
                print(f"ok - seeds {seed} to {seed + ROUND - 1}: {totals['calls']} calls in "
                      f"{totals['graphs']} graphs match", flush=True)
        seed += ROUND
    print(f"{calls} calls in {graphs} graphs, {failed} do not match")
    return 1 if failed * 100 > calls * (100 - options.expect) or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
