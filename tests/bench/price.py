#!/usr/bin/env python3
"""What recording adds to the time of compiling: models of tests/cost_model_program.py, compiled with bare
TORCH_TRACE, under `symtape record`, and under `symtape record --deep`. Asserts nothing.

usage: price.py SYMTAPE PYTHON [--processes N] [--turns N] [--levels LEVEL,...] [--jobs N] [MODEL:train|eval ...]

A process for each way of recording compiles the model again and again, after torch._dynamo.reset() and without Python's
garbage collector, the processes in turns: one compile each, in an order that changes from turn to turn, while the others
wait. It prints the median over turns of a way's processor time over that of the bare process in the same turn,
with the quartiles: what the machine does meanwhile takes longer than a turn, and so adds to both. The same program takes
some percent more or less in another process, so several processes of each way are measured, one after another; those
that are compared have the same PYTHONHASHSEED. "bare again" is a second process of the bare way: by what it differs from
the first one, the other figures may be wrong.
"""
import argparse
import concurrent.futures
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["bert:eval", "gpt2:train", "llama:eval", "opt:eval", "distilbert:train", "vit:train", "resnet:eval", "gemma:eval",
          "attention:train", "cnn:train", "patches:eval", "pyramid:train"]


def inside(name):
    """In a process that is measured: the processor seconds of a compile, for each line that is read."""
    sys.path.insert(0, str(TESTS))
    import cost_model_program
    import torch
    name, mode = name.split(":")
    model, argument = cost_model_program.make(name)
    model.train(mode == "train")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for _ in sys.stdin:
        torch._dynamo.reset()
        gc.collect()
        gc.disable()
        begin = time.process_time()
        with torch.set_grad_enabled(mode == "train"):
            torch.compile(model, backend="aot_eager", dynamic=True)(argument)
        print(time.process_time() - begin, file=answers, flush=True)
        gc.enable()


def start(way, model, folder, seed, options):
    env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONHASHSEED=str(seed))
    env.pop("TORCH_TRACE", None)
    command = [options.python, __file__, "--inside", model]
    if way.startswith("bare"):
        env["TORCH_TRACE"] = os.path.join(folder, way.replace(" ", "-"))
    else:
        level = [] if way == "record" else ["--deep=" + way]
        command = [options.symtape, "record", "-q", "-o", os.path.join(folder, way + ".tape"), *level, "--", *command]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def compile_once(process):
    process.stdin.write("\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{' '.join(process.args)}: it ended without compiling")
    return float(line)


def measure_model(model, ways, options):
    """The seconds of each turn by way."""
    seconds = {way: [] for way in ways}
    for seed in range(options.processes):
        measure_processes(model, ways, seed, options, seconds)
    return seconds


def measure_processes(model, ways, seed, options, seconds):
    with tempfile.TemporaryDirectory() as folder:
        processes = {way: start(way, model, folder, seed, options) for way in ways}
        try:
            for process in processes.values():
                compile_once(process)
            for turn in range(options.turns):
                for way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
                    seconds[way].append(compile_once(processes[way]))
            for way, process in processes.items():
                process.communicate()
                if process.returncode:
                    raise RuntimeError(f"{model}, {way}: exit status {process.returncode}")
        finally:
            for process in processes.values():
                process.kill()
                process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape", nargs="?")
    parser.add_argument("python", nargs="?")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--levels", default="all", help="levels of --deep, separated by commas (all)")
    parser.add_argument("--jobs", type=int, default=1, help="so many models at a time, on a machine with many processors")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    if options.inside:
        return inside(options.inside)
    if not options.python:
        parser.error("SYMTAPE and PYTHON are missing")
    if options.processes * options.turns < 2:
        parser.error("quartiles need two turns")
    ways = ["bare", "bare again", "record", *options.levels.split(",")]
    shares = {way: [] for way in ways[1:]}
    models = options.models or MODELS
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for model, seconds in zip(models, pool.map(lambda model: measure_model(model, ways, options), models)):
            print(f"{model:18}{statistics.median(seconds['bare']):8.3f} s bare", end="")
            for way in shares:
                low, middle, high = statistics.quantiles(a / b - 1 for a, b in zip(seconds[way], seconds["bare"]))
                shares[way].append(middle)
                name = way if way in ("record", "bare again") else "--deep=" + way
                print(f"   {name} {middle:+.1%} ({low:+.1%} to {high:+.1%})", end="")
            print(flush=True)
    for way in shares:
        print(f"{way}: {statistics.median(shares[way]):+.1%} in the median, {min(shares[way]):+.1%} to {max(shares[way]):+.1%}")


if __name__ == "__main__":
    main()
