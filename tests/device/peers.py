#!/usr/bin/env python3
"""The wall time of recorded graphs in PyTorch beside ours: eager, torch.compile(dynamic=True), the same with
mode="reduce-overhead", symtape run.

    peers.py [options] SYMTAPE TAPE[:SELECTOR]...

Each forward, backward and inference graph of the TAPEs is written as a program (symtape export --python) and run in one
process at several sizes: op by op, and compiled once for all sizes, twice; between two such rounds symtape run --profile runs
the same graph at the same sizes. Indices are the same numbers on all sides; at the first size all inputs are, and what eager
PyTorch computes is compared with ours. Prints a table in markdown; medians of synchronised runs, in microseconds. Runs of ours, as those of
reduce-overhead, are one CUDA graph from the third at a size on, where they can be.

Graphs are compiled beside each other first, each in a process that then waits, and measured one after the other. What there was
no time for is told. Exit 1: a graph failed, or its values differ by more than --tolerance.
"""
import argparse
import math
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from peers_measure import measure_one, prepare_all
from peers_recorded import KINDS, call, choose_sizes, graphs_of, spelled


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("tapes", nargs="+")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="of PyTorch")
    parser.add_argument("--backend", help="of symtape (default: as the device)")
    parser.add_argument("--sizes", type=int, default=3, help="sizes a graph (default: 3)")
    parser.add_argument("--runs", type=int, default=20, help="at each size, on each side (default: 20)")
    parser.add_argument("--seconds", type=float, default=540, help="for all of it (default: 540)")
    parser.add_argument("--graph-seconds", type=float, default=120, help="for a graph to compile, and to be measured")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1), help="graphs compiled beside each other")
    parser.add_argument("--tf32", action="store_true", help="products and convolutions may round to TF32, on all sides")
    parser.add_argument("--list", action="store_true", help="only list graphs and sizes: NUMBER SELECTOR SIZES a line")
    parser.add_argument("--no-compile", action="store_true", help="eager only")
    parser.add_argument("--tolerance", type=float, default=1e-3, help="of the greatest element of an output")
    options = parser.parse_args()
    options.backend = options.backend or options.device
    return options


def us_text(us):
    return "-" if us is None else f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def ratio_text(a, b):
    return f"{a / b:.2f}" if a and b else "-"


HALF = 32  # times the tolerance, for graphs whose results are of half precision
# By column: the name in the heads.
MODES = {"eager": "eager", "dynamic": "dynamic=True", "reduce": "reduce-overhead"}


def print_rows(label, result, ratios):
    for number, (at, row) in enumerate(zip(result["sizes"], result["rows"])):
        for mode in MODES:
            if row.get(mode) and row.get("ours"):
                ratios.setdefault(mode, []).append(row[mode] / row["ours"])
        cells = [label, spelled(at).replace(",", " "), *(us_text(row.get(mode)) for mode in (*MODES, "ours")),
                 *(ratio_text(row.get(mode), row.get("ours")) for mode in MODES)]
        cells += [us_text(row.get(f"{m}_first")) if number else "" for m in (*MODES, "ours")]
        cells.append("" if number else "random" if result["random"] else f"{result['worst']:.1e}")
        print("| " + " | ".join(cells) + " |", flush=True)


def print_head(options, torch, where):
    print(f"PyTorch {torch.__version__} and symtape --backend {options.backend} on {where}, TF32 {'on' if options.tf32 else 'off'};"
          f" medians of {options.runs} synchronised runs, in us. A ratio above 1: ours is faster. *new size*: the first call at a size"
          " that the process had not seen, others having been run. *differs*: eager PyTorch from ours, the same inputs, of an"
          " output's greatest element, or of a thousandth of all outputs' if that is more.\n")
    heads = ["graph", "sizes", *MODES.values(), "ours", *(f"{name} / ours" for name in MODES.values()), "new size: eager",
             *list(MODES.values())[1:], "ours", "differs"]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads), flush=True)


def device_name(pipe):
    import torch
    torch.cuda.init()
    pipe.send(torch.cuda.get_device_name())


def find_device(options):
    """Its name. Processes are forked, PyTorch imported once, unless the device cannot be had by such: then they are new ones."""
    options.processes = multiprocessing.get_context("fork")
    if options.device == "cpu":
        return "CPU"
    for method in ("fork", "spawn"):
        options.processes = multiprocessing.get_context(method)
        mine, theirs = options.processes.Pipe(False)
        process = options.processes.Process(target=device_name, args=(theirs,))
        process.start()
        theirs.close()
        try:
            if mine.poll(120):
                return mine.recv()
        except EOFError:
            pass
        finally:
            process.join(10)
    sys.exit("peers.py: PyTorch finds no device")


def label_of(selector):
    """"bert.train backward" """
    tape, _, graph = selector.partition(":")
    compiled, _, kind = graph.partition(":")
    name = Path(tape).name.split(".log")[0].replace(".aot_eager", "").removesuffix(".tape")
    return f"{name} {compiled.partition('_')[0]} {KINDS.get(kind.partition('#')[0], kind)}"


def find_jobs(options):
    """The graphs of the tapes, each with its sizes; none where symtape does not run it."""
    for tape in options.tapes:
        for selector, graph in graphs_of(options, tape):
            yield label_of(selector), selector, choose_sizes(options, selector, "backward" in graph)


def geomean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def main():
    options = arguments()
    until = time.monotonic() + options.seconds
    if options.tf32 and "--tf32" not in call(options, "run", "--help")[1]:
        sys.exit("peers.py: this symtape has no --tf32")
    if options.list:
        for _, selector, chosen in find_jobs(options):
            for number, at in enumerate(chosen):
                print(number, selector, spelled(at))
        return 0
    cache = tempfile.TemporaryDirectory()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(cache.name) / "inductor")
    os.environ["TRITON_CACHE_DIR"] = str(Path(cache.name) / "triton")
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # graphs are compiled beside each other instead
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # or asking for a device spoils forking
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx  # once for all children; none of it touches a device
    print_head(options, torch, find_device(options))
    jobs, notes, failed, ratios = [], [], 0, {}
    for label, selector, chosen in find_jobs(options):
        if chosen:
            jobs.append((selector, chosen))
        else:
            notes.append(f"{label}: symtape does not run it at the recorded sizes")
            failed += 1
    left = until - time.monotonic()
    prepared = {} if options.no_compile else prepare_all(options, jobs, time.monotonic() + 0.6 * left)
    for selector, chosen in jobs:
        label, seconds = label_of(selector), until - time.monotonic()
        ready = prepared.pop(selector, {"error": "not asked for"})
        if isinstance(ready, dict) and not options.no_compile:
            notes.append(f"{label}: torch.compile: {ready['error']}")
        if seconds < 5:
            notes.append(f"{label}: left out, no time")
            continue
        result = measure_one(options, selector, chosen, ready, seconds)
        if "error" in result:
            notes.append(f"{label}: {result['error']}")
            failed += 1
            continue
        print_rows(label, result, ratios)
        notes += [f"{label}: {note}" for note in result["notes"]]
        tolerance = options.tolerance * (HALF if result["half"] else 1)
        if not result["random"] and (result["worst"] > tolerance or not result["compared"]):
            notes.append(f"{label}: {result['compared']} outputs compared, differ by {result['worst']:.1e}")
            failed += 1
        took = [f"{result[f'{mode}_compile_us'] / 1e6:.1f} s ({name})" for mode, name in MODES.items()
                if f"{mode}_compile_us" in result]
        if took:
            notes.append(f"{label}: torch.compile took {', '.join(took)}, beside others")
    print()
    for mode, values in ratios.items():
        print(f"Geometric mean of {MODES[mode]} / ours over {len(values)} rows: {geomean(values):.2f}; least {min(values):.2f}.")
    print()
    for note in notes:
        print(f"- {note}")
    sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
