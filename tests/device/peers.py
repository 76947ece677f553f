#!/usr/bin/env python3
"""The wall time of recorded graphs in PyTorch beside ours: eager, torch.compile(dynamic=True), symtape replay.

    peers.py [options] SYMTAPE TAPE[:SELECTOR]...

Each forward, backward and inference graph of the TAPEs is written as a program (symtape export --python) and run in one
process at several sizes: op by op, and compiled once for all sizes; between two such rounds symtape replay --profile runs
the same graph at the same sizes. Indices are the same numbers on all sides; at the first size all inputs are, and what eager
PyTorch computes is compared with ours. Prints a table in markdown; medians of synchronised runs, in microseconds.

Graphs are compiled beside each other first, each in a process that then waits, and measured one after the other. What there was
no time for is told. Exit 1: a graph failed, or its values differ by more than --tolerance.
"""
import argparse
import inspect
import json
import math
import multiprocessing
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

KINDS = {"aot_forward_graph": "forward", "aot_backward_graph": "backward", "aot_inference_graph": "inference"}


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


# ---- What symtape tells ----

def call(options, *words, timeout=None):
    run = subprocess.run([options.symtape, *map(str, words)], capture_output=True, text=True,
                         timeout=timeout or options.graph_seconds)
    return run.returncode, run.stdout, run.stderr


def graphs_of(options, tape):
    """Selectors of the last attempt's graphs of each compile."""
    name, _, part = tape.partition(":")
    code, text, error = call(options, "show", name, "--graphs", "--json")
    if code != 0:
        sys.exit(f"{tape}: {error}")
    last = {}
    for graph in json.loads(text)["graphs"]:
        if graph["kind"] in KINDS:
            place = f"{graph['compile']}_{graph['attempt']}"
            last[graph["compile"], graph["kind"]] = f"{place}:{graph['kind']}"
    return [(tape, part)] if part.count(":") else \
        [(f"{name}:{selector}", selector) for (compiled, _), selector in last.items() if part in ("", compiled)]


def sizes_of(options, selector, setting):
    """The symbols' values where these are set; None: guards do not allow them."""
    words = ["--set", ",".join(f"{k}={v}" for k, v in setting.items())] if setting else []
    code, text, _ = call(options, "replay", "--backend", "null", "--json", selector, *words)
    graphs = json.loads(text)["graphs"] if text else []
    if code != 0 or not graphs or graphs[0].get("error"):
        return None
    return graphs[0]["sizes"]


def choose_sizes(options, selector, backward):
    """As recorded; twice the first symbol that may be; then all that may be a little more, which are odd numbers often."""
    recorded = sizes_of(options, selector, {})
    if recorded is None:
        return []
    free = [s for s in recorded if not s.startswith("u")]

    def wanted(change, most):
        setting = {}
        for symbol in free:
            if len(setting) < most and sizes_of(options, selector, {**setting, symbol: change(recorded[symbol])}):
                setting[symbol] = change(recorded[symbol])
        return setting

    changes = [(lambda n: 2 * n, 1), (lambda n: n + 3, len(free)), (lambda n: 2 * n, len(free)), (lambda n: n // 2 + 1, len(free))]
    chosen = [recorded]
    for change, most in changes:
        at = sizes_of(options, selector, wanted(change, most)) if len(chosen) < options.sizes else None
        if at and at not in chosen:
            chosen.append(at)
    # What data decide is theirs to decide, unless it comes in as a size.
    return [{s: n for s, n in at.items() if backward or s in free} for at in chosen]


def program_of(options, selector, at):
    at, words = dict(at), ["--cpu"] if options.device == "cpu" else []
    while True:
        code, text, error = call(options, "export", "--python", *words, *(["--set", spelled(at)] if at else []), selector)
        unused = re.search(r"the graph has no symbol (\w+)", error)
        if not unused:
            break
        del at[unused[1]]  # one of the compile that this graph does without
    if code != 0 or error:
        raise RuntimeError(error.strip())
    return text


def spelled(at):
    return ",".join(f"{s}={n}" for s, n in at.items())


# ---- Files of values ----

def read_safetensors(path):
    import torch
    dtypes = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
              "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
              "BOOL": torch.bool, "C64": torch.complex64}
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        dtype = dtypes[entry["dtype"]]
        flat = torch.frombuffer(body, dtype=dtype, offset=first, count=(end - first) // dtype.itemsize) \
            if end > first and first % dtype.itemsize == 0 else \
            torch.frombuffer(bytearray(body[first:end]), dtype=dtype) if end > first else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


# ---- One graph in PyTorch: in a process of its own ----

class Graph:
    """The programs of a graph at its sizes: one function, inputs by size."""

    def __init__(self, options, selector, chosen, work):
        import torch
        import torch._dynamo
        self.torch, self.options, self.selector, self.chosen, self.work = torch, options, selector, chosen, Path(work)
        torch.set_grad_enabled(False)
        torch.backends.cuda.matmul.allow_tf32 = options.tf32
        torch.backends.cudnn.allow_tf32 = options.tf32
        # A size that PyTorch makes a number is no error, but one more compile elsewhere.
        torch._dynamo.mark_dynamic = lambda tensor, dims, **_: torch._dynamo.maybe_mark_dynamic(tensor, dims)
        self.function, self.inputs = None, []
        for at in chosen:
            sys.modules["graph"] = types.ModuleType("graph")  # Dynamo looks its functions' modules up
            scope = vars(sys.modules["graph"])
            exec(compile(program_of(options, selector, at), selector, "exec"), scope)
            self.function = self.function or scope["f"]
            self.inputs.append(scope["inputs"])
        self.names = list(inspect.signature(self.function).parameters)

    def wait(self):
        if self.options.device == "cuda":
            self.torch.cuda.synchronize()

    def values(self, number, names):
        """Our values of these inputs at a size, and what we compute of them."""
        path = self.work / "values.safetensors"
        code, _, error = call(self.options, "replay", "--backend", self.options.backend, "--outputs", path, "--save", names,
                              "--set", spelled(self.chosen[number]), *self.precision(), self.selector)
        if code != 0:
            raise RuntimeError(f"symtape: {error.strip()}")
        values = read_safetensors(path)
        path.unlink()
        return values

    def precision(self):
        return ["--tf32"] if self.options.tf32 else []

    def fill(self, number):
        """Values of ours into the inputs; all of them at the first size, elsewhere those that index."""
        indices = [n for n, t in zip(self.names, self.inputs[number]) if not t.is_floating_point()]
        names = "inputs" if number == 0 or len(indices) > 60 else ",".join(indices)
        if not names:
            return None
        values = self.values(number, names)
        for name, tensor in zip(self.names, self.inputs[number]):
            if name in values:
                if tensor.shape != values[name].shape:
                    raise RuntimeError(f"{name} is {list(tensor.shape)} here, {list(values[name].shape)} in symtape")
                tensor.copy_(values[name])
        return values

    def once(self, function, number):
        self.wait()
        start = time.perf_counter()
        result = function(*self.inputs[number])
        self.wait()
        return (time.perf_counter() - start) * 1e6, result

    def compare(self, result, values):
        """The greatest difference of an output, as a part of its greatest element; the number of outputs."""
        worst = 0.0
        theirs = [r for r in result if isinstance(r, self.torch.Tensor)]
        mine = [values[name] for name in sorted((v for v in values if v.startswith("out.")), key=lambda v: int(v[4:]))]
        n = len(mine)
        if len(theirs) != n:
            return math.inf, n
        for got, expected in zip(theirs, mine):
            if got.shape != expected.shape:
                return math.inf, n
            kind = self.torch.complex128 if got.is_complex() else self.torch.float64
            got, expected = got.cpu().to(kind), expected.to(kind)
            same = (got == expected) | (got.isnan() & expected.isnan())
            off = (got - expected).abs().masked_fill(same, 0)
            if got.numel() and not bool(same.all()):
                finite = expected.abs()[expected.isfinite()]
                most = float(finite.max()) if finite.numel() else 0.0
                off = float(off.nan_to_num(nan=math.inf).max())
                worst = max(worst, off / most if most else math.inf)
        return worst, n

    def is_random(self):
        words = ("rand", "dropout", "bernoulli", "normal_functional", "multinomial")
        source = [str(c) for c in self.function.__code__.co_names]
        return any(word in name for name in source for word in words)


def compiled_of(torch, function):
    torch._dynamo.config.cache_size_limit = 64
    return torch.compile(function, dynamic=True, fullgraph=True)


def graphs_compiled(torch):
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def ours(graph, runs):
    """By size: the first run there and the median of the rest."""
    sizes = graph.work / "sizes"
    sizes.write_text("".join(spelled(at).replace(",", " ") + "\n" for at in graph.chosen))
    code, text, error = call(graph.options, "replay", "--backend", graph.options.backend, "--profile", "--runs", runs,
                             "--sizes", sizes, "--json", *graph.precision(), graph.selector)
    found = json.loads(text)["graphs"] if text else []
    if code != 0 or len(found) != len(graph.chosen):
        raise RuntimeError(f"symtape: {error.strip()}")
    return [(g["first_us"], g["wall_us"]) for g in found]


def prepare(graph, compiles):
    """What may be done beside other graphs: inputs, the first size's values, compiling."""
    ret = {"sizes": graph.chosen, "rows": [{} for _ in graph.chosen], "random": graph.is_random(), "notes": []}
    modes = {"eager": graph.function}
    values = [graph.fill(number) for number in range(len(graph.chosen))][0]
    _, result = graph.once(graph.function, 0)
    ret["worst"], ret["compared"] = graph.compare(result, values)
    del result
    if compiles:
        modes["dynamic"] = compiled_of(graph.torch, graph.function)
        ret["compile_us"], _ = graph.once(modes["dynamic"], 0)
    return ret, modes


def measure(graph, ret, modes):
    torch, options, n = graph.torch, graph.options, len(graph.chosen)
    times = {}
    for number in range(1, n):
        for mode, function in modes.items():
            before = graphs_compiled(torch)
            ret["rows"][number][f"{mode}_first"], _ = graph.once(function, number)
            if mode == "dynamic" and graphs_compiled(torch) > before:
                ret["notes"].append(f"PyTorch compiled once more at {spelled(graph.chosen[number])}")
    for turn in range(2):
        for number in range(n):
            for mode, function in modes.items():
                graph.once(function, number)
                times.setdefault((mode, number), []).extend(
                    graph.once(function, number)[0] for _ in range((options.runs + 1) // 2))
        for number, (first, wall) in enumerate(ours(graph, (options.runs + 1) // 2)):
            times.setdefault(("ours", number), []).append(wall)
            ret["rows"][number]["ours_first"] = min(first, ret["rows"][number].get("ours_first", math.inf))
    for (mode, number), us in times.items():
        ret["rows"][number][mode] = statistics.median(us) if mode != "ours" else statistics.fmean(us)


def work_on(pipe, options, selector, chosen, compiles):
    """Prepares, says so, and measures when it is told to: by itself."""
    try:
        with tempfile.TemporaryDirectory() as work:
            graph = Graph(options, selector, chosen, work)
            ret, modes = prepare(graph, compiles)
            pipe.send({"ready": True})
            pipe.recv()
            measure(graph, ret, modes)
            pipe.send(ret)
    except EOFError:  # nobody wants it any more
        pass
    except Exception as failure:  # whatever PyTorch raises is the row's text
        lines = str(failure).strip().splitlines() or [""]
        pipe.send({"error": f"{type(failure).__name__}: {lines[0][:150]}"})


class Worker:
    def __init__(self, options, selector, chosen, compiles, seconds):
        self.pipe, theirs = options.processes.Pipe()
        told = argparse.Namespace(**{k: v for k, v in vars(options).items() if k != "processes"})
        self.process = options.processes.Process(target=work_on, args=(theirs, told, selector, chosen, compiles), daemon=True)
        self.process.start()
        theirs.close()
        self.give(seconds)

    def give(self, seconds):
        self.seconds, self.until = seconds, time.monotonic() + seconds

    def answer(self, wait):
        """None: not yet. One that is an error was the last."""
        if self.pipe.poll(max(0, min(wait, self.until - time.monotonic()))):
            try:
                return self.pipe.recv()
            except (EOFError, ConnectionError):
                self.process.join()
                return {"error": f"ended with status {self.process.exitcode}"}
        if time.monotonic() < self.until:
            return None
        self.end()
        return {"error": f"more than {self.seconds:.0f} s"}

    def end(self):
        self.process.kill()
        self.process.join()

    def measured(self, seconds):
        self.give(seconds)
        try:
            self.pipe.send("go")
        except OSError:
            pass
        ret = self.answer(math.inf)
        self.end()
        return ret


def prepare_all(options, jobs, until):
    """By selector: a worker that is ready, or why there is none."""
    waiting, running, done = list(jobs), {}, {}
    while (waiting or running) and time.monotonic() < until + 1:
        while waiting and len(running) < options.jobs and time.monotonic() < until - 5:
            selector, chosen = waiting.pop(0)
            seconds = min(options.graph_seconds, until - time.monotonic())
            running[selector] = Worker(options, selector, chosen, True, seconds)
        if not running:
            break
        for selector, worker in list(running.items()):
            answer = worker.answer(0.05)
            if answer:
                done[selector] = worker if "ready" in answer else answer
                del running[selector]
    for selector, _ in waiting:
        done[selector] = {"error": "no time left to compile"}
    return done


def measure_one(options, selector, chosen, prepared, seconds):
    """Eager alone where it did not compile."""
    seconds = min(options.graph_seconds, seconds)
    if isinstance(prepared, Worker):
        return prepared.measured(seconds)
    worker = Worker(options, selector, chosen, False, seconds)
    answer = worker.answer(math.inf)
    return worker.measured(seconds) if "ready" in answer else answer


# ---- The table ----

def us_text(us):
    return "-" if us is None else f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def ratio_text(a, b):
    return f"{a / b:.2f}" if a and b else "-"


def print_rows(label, result, ratios):
    for number, (at, row) in enumerate(zip(result["sizes"], result["rows"])):
        for mode in ("eager", "dynamic"):
            if row.get(mode) and row.get("ours"):
                ratios.setdefault(mode, []).append(row[mode] / row["ours"])
        cells = [label, spelled(at).replace(",", " "), us_text(row.get("eager")), us_text(row.get("dynamic")),
                 us_text(row.get("ours")), ratio_text(row.get("eager"), row.get("ours")),
                 ratio_text(row.get("dynamic"), row.get("ours"))]
        cells += [us_text(row.get(f"{m}_first")) if number else "" for m in ("eager", "dynamic", "ours")]
        cells.append("" if number else "random" if result["random"] else f"{result['worst']:.1e}")
        print("| " + " | ".join(cells) + " |", flush=True)


def print_head(options, torch, where):
    print(f"PyTorch {torch.__version__} and symtape --backend {options.backend} on {where}, TF32 {'on' if options.tf32 else 'off'};"
          f" medians of {options.runs} synchronised runs, in us. A ratio above 1: ours is faster. *new size*: the first call at a size"
          " that the process had not seen, others having been run. *differs*: eager PyTorch from ours, the same inputs, of an"
          " output's greatest element.\n")
    print("| graph | sizes | eager | dynamic=True | ours | eager / ours | dynamic / ours | new size: eager | dynamic=True | ours |"
          " differs |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)


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
    name = Path(tape).name.split(".log")[0].replace(".aot_eager", "")
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
    if options.tf32 and "--tf32" not in call(options, "replay", "--help")[1]:
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
        if not result["random"] and (result["worst"] > options.tolerance or not result["compared"]):
            notes.append(f"{label}: {result['compared']} outputs compared, differ by {result['worst']:.1e}")
            failed += 1
        if "compile_us" in result:
            notes.append(f"{label}: torch.compile took {result['compile_us'] / 1e6:.1f} s, beside others")
    print()
    for mode, values in ratios.items():
        print(f"Geometric mean of {mode} / ours over {len(values)} rows: {geomean(values):.2f}; least {min(values):.2f}.")
    print()
    for note in notes:
        print(f"- {note}")
    sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
