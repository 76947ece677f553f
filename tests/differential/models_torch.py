#!/usr/bin/env python3
"""Models of other packages and programs of rare kinds, compiled by the live PyTorch and replayed.

usage: models_torch.py [--all | --draw N | --zoo N [--seed N] | NAME.MODE...] [--expect PERCENT] [--expect-guards PERCENT] [--keep DIR]
                       SYMTAPE

Compiles the models of models.py, in eval and in train, and the programs of kinds.py with dynamic sizes and two sizes each, and asks `symtape
replay` for every call and guard. Without names, N of them are drawn, others every month, from those whose package is installed. Each line
says what differs; too few calls or kernel guards that match fail the test. --zoo takes N models of each
package of zoo.py instead, by their names in the package, with sizes that are dynamic in one of four ways (models.py); it is run by hand, with
another seed each time, to find what nobody here has written down. --keep DIR keeps the logs. Exits with 77 where Python has
no torch.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graphs_torch import Totals, print_differences, replay  # noqa: E402
from verdict import month_seed  # noqa: E402

# What is known to differ, and why. It is compiled and printed, and not counted.
KNOWN = {
    "compiled_autograd.program": "conditions on the sizes of gradients are asked elsewhere, of symbols that were replaced",
    "functionalized.program": "the operator is the program's own, and no rules are given",
    "data_dependent.program": "the symbol of n.item() is bound again where aot_eager traces the graph, and guards on it are extra",
    "gru_states.program": "a guard of not_() on a hidden size is extra",
    "mamba2.eval": "guards on the strides of chunks, a size divided by its quotient, differ in their Max(1, ...)",
    "longformer.eval": "a call of AOTAutograd finds its result of Dynamo's run, whose sizes have symbols that were replaced since",
    "led.eval": "as longformer",
    "longt5.eval": "guards on the strides of blocks, as mamba2; a recompile's inputs that a guard makes equal",
    "longt5.train": "as longt5.eval",
    "switch.eval": "a tensor that takes the storage of another by set_()",
    "switch.train": "as switch.eval",
    "test_convnext.eval": "a quotient of a size's square is known to be more than 1 where it is asked once more",
}

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.py")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--draw", type=int, default=6)
    parser.add_argument("--zoo", type=int, help="models of each package of zoo.py")
    parser.add_argument("--seed", type=int, default=month_seed())
    parser.add_argument("--expect", type=float, default=100, help="per cent of the calls")
    parser.add_argument("--expect-guards", type=float, default=99, help="per cent of the kernel guards")
    parser.add_argument("--keep")
    parser.add_argument("names", nargs="*")
    parser.add_argument("symtape")
    return parser.parse_args()


def run_child(python, folder, *args):
    # One thread: a process that is forked from one whose OpenMP has started threads may wait for them forever.
    env = os.environ | {"TORCH_TRACE": folder, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run([python, CHILD, *args], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()


def problem_of(folder, name):
    try:
        with open(os.path.join(folder, name + ".failed")) as file:
            return " (PyTorch: " + file.read().splitlines()[0][:80] + ")"
    except (OSError, IndexError):
        return ""


def check(symtape, folder, name, totals):
    """Returns whether everything of a model's log matches, or None where it has none."""
    log = os.path.join(folder, name)
    if not os.path.isdir(log) or not os.listdir(log):
        print(f"{name}: nothing was compiled{problem_of(folder, name)}")
        return None
    report = replay(symtape, log)
    counted = Totals() if name in KNOWN else totals
    same, now, guards = counted.add(report), report["totals"], report["guards"]["kernel"]
    print(f"{name}: {now['calls']} calls, {now['calls'] - now['match']} differ; guards: {guards['reproduced']} reproduced, "
          f"{guards['missing']} missing, {guards['extra']} extra{problem_of(folder, name)}", flush=True)
    if not same and name in KNOWN:
        print(f"    known: {KNOWN[name]}")
    elif not same:
        print_differences(report)
    return same


def main():
    options = read_options()
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        named = options.names or (options.zoo and run_child(python, scratch, "--zoo", str(options.zoo), str(options.seed)))
        names = named or run_child(python, scratch, "--list")
        if not named and not options.all:
            names = random.Random(options.seed).sample(names, min(options.draw, len(names)))
        run_child(python, folder, folder, *names)
        totals = Totals()
        same = [check(options.symtape, folder, name, totals) for name in names]
    print(totals)
    print(f"{same.count(True)} of {len(same) - same.count(None)} tapes without a difference")
    return 1 if (totals.calls_share() < options.expect or totals.guards_share() < options.expect_guards or
                 not totals.counts["calls"]) else 0


if __name__ == "__main__":
    sys.exit(main())
