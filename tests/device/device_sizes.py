#!/usr/bin/env python3
"""device_sizes.py [options] SYMTAPE FOLDER: sizes that stay on the device, as a table in markdown.

    device_sizes.py --record FOLDER           records the programs below with PyTorch, on a CPU

Each program makes sizes that depend on data. FOLDER has its recording, PROGRAM.log. It is run at several sizes and with several seeds, which
give other counts: outputs with --device-sizes are compared with those of the CPU backend (not with --no-values). Then it is profiled
with sizes on the device and with sizes that the host reads, and, where PyTorch has the GPU, run eagerly there, which counts how
often PyTorch waited for the device (torch.cuda.set_sync_debug_mode).
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path


def select(x, mask, table):
    i = mask.nonzero().squeeze(1)
    rows = table[i % table.shape[0]] * 2.0 + 1.0
    high = x[x > 0.5].exp()
    return rows, rows.sum(0), rows.mean(1), high, high.sum(), x[mask].relu().amax(0)


def distinct(keys):
    values, inverse, counts = keys.unique(return_inverse=True, return_counts=True)
    return values * 3, counts.float() / keys.shape[0], inverse


def nested(x):
    high = x[x > 0.2]
    middle = high[high < 0.9]
    return middle.sum(), (middle * 2).cumsum(0)


def product(x, mask, weight):
    return (x[mask] @ weight).relu()


def added(x, mask, table):
    import torch
    i = mask.nonzero().squeeze(1)
    rows = x[i]
    rows = torch.cat([rows[:, :24].exp(), rows[:, 24:]], 1)
    return table.index_add(0, i % table.shape[0], rows)


def inputs(torch, name, n, device):
    rand = lambda *size: torch.rand(*size, device=device)  # noqa: E731
    return {
        "select": lambda: (rand(n, 64), rand(n) > 0.5, rand(512, 64)),
        "distinct": lambda: (torch.randint(0, 50, (n,), device=device),),
        "nested": lambda: (rand(n * 16),),
        "product": lambda: (rand(n, 64), rand(n) > 0.5, rand(64, 64)),
        "added": lambda: (rand(n, 64), rand(n) > 0.5, rand(512, 64)),
    }[name]()


PROGRAMS = {f.__name__: f for f in (select, distinct, nested, product, added)}


def record(folder):
    """Each program in a process of its own, since the trace's folder is read once."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as trace:
            subprocess.run([sys.executable, __file__, "--one", name, str(folder)], check=True,
                           env={**os.environ, "TORCH_TRACE": trace})
            [log] = Path(trace).glob("*.log")
            (folder / f"{name}.log").write_bytes(log.read_bytes())


def record_one(name):
    import torch
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch.compile(PROGRAMS[name], backend="aot_eager", dynamic=True)(*inputs(torch, name, 2048, "cpu"))


def call(options, *words, check=True):
    run = subprocess.run([str(options.symtape), "run", *map(str, words)], capture_output=True, text=True, timeout=300)
    if check and run.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, words))}: exit {run.returncode}: {run.stderr}")
    return run


def symbol_of(options, tape):
    """The size of the program's first input, as `n` elements of it."""
    run = call(options, "--backend", "null", "--json", tape)
    return next(iter(json.loads(run.stdout)["graphs"][0]["sizes"]))


def values(options, tape, symbol, size):
    """(sets of inputs that agree with the CPU, all)"""
    agree = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seeds):
            file = f"{folder}/{seed}.safetensors"
            common = ["--seed", seed, "--sizes", f"{symbol}={size}", tape]
            call(options, "--backend", options.backend, "--device-sizes", "--outputs", file, *common)
            run = call(options, "--backend", "cpu", "--compare-with", file, *common)
            agree += run.returncode == 0
            if run.returncode:
                print(run.stdout, file=sys.stderr)
    return agree, options.seeds


def profile(options, tape, symbol, size, *words):
    run = call(options, "--backend", options.backend, "--profile", "--json", "--runs", options.runs, "--sizes",
               f"{symbol}={size}", *words, tape)
    return json.loads(run.stdout)["graphs"][0]


def eager(options, name, size):
    """(us, waits) of PyTorch on the GPU; None: it has none."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    given = inputs(torch, name, size, "cuda")
    function = PROGRAMS[name]
    for _ in range(5):
        function(*given)
    torch.cuda.set_sync_debug_mode("warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*given)
    torch.cuda.set_sync_debug_mode("default")
    waits = sum("synchronizing" in str(w.message) for w in caught)
    times = []
    for _ in range(options.runs):
        torch.cuda.synchronize()
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        function(*given)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times), waits


def told(us):
    return f"{us:.1f}" if us is not None else "-"


def row(options, name, tape, symbol, size):
    agree, tried = values(options, tape, symbol, size) if options.values else (0, 0)
    kept = profile(options, tape, symbol, size, "--device-sizes")
    read = profile(options, tape, symbol, size)
    torch = eager(options, name, size) or (None, None)
    sizes = kept["device_sizes"]
    counts = " ".join(f"{s['value']}/{s['most']}" for s in sizes["sizes"])
    used = sum(s["used_bytes"] for s in sizes["sizes"]) / max(1, sum(s["allocated_bytes"] for s in sizes["sizes"]))
    needs = " ".join(n["operator"] for n in sizes["host_needs"]) or "-"
    waits = "-" if torch[1] is None else torch[1]
    print(f"| {name} | {size} | {counts} | {agree} of {tried} | {sizes['reads']} | {'yes' if kept['captured'] else 'no'} | "
          f"{'-' if not kept['captured'] else 'no' if kept['captured_differs'] else 'yes'} | {needs} | {used:.0%} | "
          f"{told(kept['wall_us'])} | {told(read['wall_us'])} | {told(torch[0])} | {waits} |", flush=True)
    return agree == tried and not kept.get("captured_differs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape", nargs="?", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--record", action="store_true", help="make the recordings")
    parser.add_argument("--one", metavar="PROGRAM", help=argparse.SUPPRESS)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--sizes", default="2048,100000", help="of the first input (default: 2048,100000)")
    parser.add_argument("--seeds", type=int, default=4, help="sets of inputs at a size (default: 4)")
    parser.add_argument("--runs", type=int, default=20, help="timed runs (default: 20)")
    parser.add_argument("--no-values", dest="values", action="store_false", help="do not compare with the CPU")
    options = parser.parse_args()
    if options.one:
        return record_one(options.one)
    if options.record:
        return record(options.folder)
    print("| program | size | counts/at most | sets that agree with the CPU | reads a run | one CUDA graph | same bits as call by call | "
          "needs the host | of the bytes for them used | us, sizes on the device | us, sizes read | us, PyTorch eager | PyTorch's waits |")
    print("|" + "---|" * 13)
    good = True
    for name in options.programs.split(","):
        tape = options.folder / f"{name}.log"
        symbol = symbol_of(options, tape)
        for size in map(int, options.sizes.split(",")):
            good &= row(options, name, tape, symbol, size)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
