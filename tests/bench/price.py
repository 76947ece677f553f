#!/usr/bin/env python3
"""What recording adds to the time of compiling: models of tests/cost_model_program.py, compiled with bare
TORCH_TRACE, under `symtape record`, and under `symtape record --deep`. Asserts nothing.

usage: price.py SYMTAPE PYTHON [--rounds N] [--compiles N] [--levels LEVEL,...] [--jobs N] [MODEL:train|eval ...]

In each round each model is compiled in three processes, in an order that changes from round to round; each process
compiles it several times, from the second on after torch._dynamo.reset(), without Python's garbage collector. Of the
processor times of the second and later compiles the least one over all rounds counts, for what else the machine does
only adds to them.
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


def inside(name, compiles):
    """In the process that is measured: the processor seconds of each compile, as JSON."""
    sys.path.insert(0, str(TESTS))
    import cost_model_program
    import torch
    name, mode = name.split(":")
    model, argument = cost_model_program.make(name)
    model.train(mode == "train")
    seconds = []
    for _ in range(compiles + 1):
        torch._dynamo.reset()
        gc.collect()
        gc.disable()
        begin = time.process_time()
        with torch.set_grad_enabled(mode == "train"):
            torch.compile(model, backend="aot_eager", dynamic=True)(argument)
        seconds.append(time.process_time() - begin)
        gc.enable()
    print(json.dumps(seconds[1:]))


def measure(way, model, options):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, OMP_NUM_THREADS="1")
        env.pop("TORCH_TRACE", None)
        command = [options.python, __file__, "--inside", model, "--compiles", str(options.compiles)]
        if way == "bare":
            env["TORCH_TRACE"] = os.path.join(folder, "log")
        else:
            level = [] if way == "record" else ["--deep=" + way]
            command = [options.symtape, "record", "-q", "--overwrite", "-o", os.path.join(folder, "tape"), *level, "--", *command]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("[")))


def measure_model(model, ways, options):
    least = dict.fromkeys(ways, float("inf"))
    for turn in range(options.rounds):
        for way in ways[turn % len(ways):] + ways[:turn % len(ways)]:
            least[way] = min(least[way], *measure(way, model, options))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape", nargs="?")
    parser.add_argument("python", nargs="?")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compiles", type=int, default=4)
    parser.add_argument("--levels", default="all", help="levels of --deep, separated by commas (all)")
    parser.add_argument("--jobs", type=int, default=1, help="so many models at a time, on a machine with many processors")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    if options.inside:
        return inside(options.inside, options.compiles)
    if not options.python:
        parser.error("SYMTAPE and PYTHON are missing")
    ways = ["bare", "record", *options.levels.split(",")]
    shares = {way: [] for way in ways[1:]}
    models = options.models or MODELS
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for model, least in zip(models, pool.map(lambda model: measure_model(model, ways, options), models)):
            for way in shares:
                shares[way].append(least[way] / least["bare"] - 1)
            print(f"{model:18}{least['bare']:8.3f} s bare",
                  *(f"{'record' if way == 'record' else '--deep=' + way} {shares[way][-1]:+.1%}" for way in shares), sep="   ", flush=True)
    for way in shares:
        print(f"{way}: {statistics.median(shares[way]):+.1%} in the median, {min(shares[way]):+.1%} to {max(shares[way]):+.1%}")


if __name__ == "__main__":
    main()
