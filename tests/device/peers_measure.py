"""One graph in PyTorch and in symtape, in a process of its own that prepares beside others and is measured alone."""
import argparse
import inspect
import json
import math
import statistics
import sys
import tempfile
import time
import types
from pathlib import Path

from peers_recorded import call, program_of, read_safetensors, spelled

LEAST_PART = 1e-3  # of the outputs' greatest element: that of an output counts as no less


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
            with torch.device(options.device):
                exec(compile(program_of(options, selector, at), selector, "exec"), scope)
            self.function = self.function or scope["f"]
            self.inputs.append(scope["inputs"])
        self.names = list(inspect.signature(self.function).parameters)
        self.ours = {}  # by parameter: the input's name in the graph

    def wait(self):
        if self.options.device == "cuda":
            self.torch.cuda.synchronize()

    def values(self, number, names):
        """Our values of these inputs at a size, and what we compute of them."""
        path = self.work / "values.safetensors"
        code, _, error = call(self.options, "run", "--backend", self.options.backend, "--outputs", path, "--save", names,
                              "--sizes", spelled(self.chosen[number]), *self.precision(), self.selector)
        if code != 0:
            raise RuntimeError(f"symtape: {error.strip()}")
        values = read_safetensors(path)
        path.unlink()
        return values

    def precision(self):
        return ["--tf32"] if self.options.tf32 else []

    def name_inputs(self, values):
        """Parameters have no underscores in front, which names of a graph's inputs may have."""
        inputs = {name.lstrip("_"): name for name in values if not name.startswith("out.")}
        self.ours = {name: name if name in values else inputs.get(name) for name in self.names}
        unknown = [name for name, ours in self.ours.items() if ours is None]
        if unknown:
            raise RuntimeError(f"symtape has no value of {', '.join(unknown[:3])}")

    def fill(self, number):
        """Values of ours into the inputs; all of them at the first size, elsewhere those that index."""
        indices = [self.ours[n] for n, t in zip(self.names, self.inputs[number]) if number and not t.is_floating_point()]
        names = "inputs" if number == 0 or len(indices) > 60 else ",".join(indices)
        if not names:
            return None
        values = self.values(number, names)
        if number == 0:
            self.name_inputs(values)
        for name, tensor in zip(self.names, self.inputs[number]):
            value = values.get(self.ours[name])
            if value is None:
                continue
            if tensor.shape != value.shape:
                raise RuntimeError(f"{name} is {list(tensor.shape)} here, {list(value.shape)} in symtape")
            tensor.copy_(value)
        return values

    def once(self, function, number):
        self.torch.compiler.cudagraph_mark_step_begin()
        self.wait()
        start = time.perf_counter()
        result = function(*self.inputs[number])
        self.wait()
        return (time.perf_counter() - start) * 1e6, result

    def compare(self, result, values):
        """The greatest difference of an output, as a part of its greatest element; outputs that hold a number."""
        theirs = [r for r in result if isinstance(r, self.torch.Tensor)]
        mine = [values[name] for name in sorted((v for v in values if v.startswith("out.")), key=lambda v: int(v[4:]))]
        n = len(mine)
        if [r.shape for r in theirs] != [m.shape for m in mine]:
            return math.inf, n
        found = [self.difference(*pair) for pair in zip(theirs, mine) if not self.is_unwritten(pair[0])]
        # What is 0 but for rounding, as the gradient of a bias that a normalization takes away, has no digits to compare.
        least = LEAST_PART * max((most for _, most, _, rounded in found if rounded), default=0.0)
        worst = max((off / max(most, least) if max(most, least) else math.inf for off, most, _, _ in found if off), default=0.0)
        return worst, sum(told for _, _, told, _ in found)

    def difference(self, got, expected):
        """The greatest difference, the greatest finite element that is expected, whether there is a number, whether elements are rounded."""
        rounded = expected.is_floating_point() or expected.is_complex()
        kind = self.torch.complex128 if got.is_complex() else self.torch.float64
        got, expected = got.cpu().to(kind), expected.to(kind)
        if not got.numel():
            return 0.0, 0.0, True, rounded
        same = (got == expected) | (got.isnan() & expected.isnan())
        off = (got - expected).abs().masked_fill(same, 0).nan_to_num(nan=math.inf)
        finite = expected.abs()[expected.isfinite()]
        most = float(finite.max()) if finite.numel() else 0.0
        return float(off.max()), most, bool((got.isfinite() | expected.isfinite()).any()), rounded

    def is_unwritten(self, tensor):
        """The generator's seed and offset: attention without dropout allocates them and writes nothing (attention.cu of ATen)."""
        attention = any("_scaled_dot_product" in name for name in self.function.__code__.co_names)
        return attention and tensor.ndim == 0 and not tensor.is_floating_point()

    def is_random(self):
        words = ("rand", "dropout", "bernoulli", "normal_functional", "multinomial")
        source = [str(c) for c in self.function.__code__.co_names]
        return any(word in name for name in source for word in words)


# What PyTorch is asked for, by column. reduce-overhead runs CUDA graphs: at each size it is warmed up in the first call,
# records in the second, and replays from the third on, so two calls precede those that are timed.
COMPILED = {"dynamic": {}, "reduce": {"mode": "reduce-overhead"}}


def compiled_of(torch, function, words):
    torch._dynamo.config.cache_size_limit = 64
    return torch.compile(function, dynamic=True, fullgraph=True, **words)


def graphs_compiled(torch):
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


def ours(graph, runs):
    """By size: the first run there and the median of the rest."""
    sizes = graph.work / "sizes"
    sizes.write_text("".join(spelled(at).replace(",", " ") + "\n" for at in graph.chosen))
    code, text, error = call(graph.options, "run", "--backend", graph.options.backend, "--profile", "--runs", runs,
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
    ret["half"] = any(isinstance(r, graph.torch.Tensor) and r.is_floating_point() and r.dtype.itemsize == 2 for r in result)
    del result
    for mode, words in COMPILED.items() if compiles else ():
        modes[mode] = compiled_of(graph.torch, graph.function, words)
        ret[f"{mode}_compile_us"], _ = graph.once(modes[mode], 0)
    return ret, modes


def measure(graph, ret, modes):
    torch, options, n = graph.torch, graph.options, len(graph.chosen)
    times = {}
    for number in range(1, n):
        for mode, function in modes.items():
            before = graphs_compiled(torch)
            ret["rows"][number][f"{mode}_first"], _ = graph.once(function, number)
            if mode in COMPILED and graphs_compiled(torch) > before:
                ret["notes"].append(f"PyTorch ({mode}) compiled once more at {spelled(graph.chosen[number])}")
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
