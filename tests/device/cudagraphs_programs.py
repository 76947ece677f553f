"""The programs of cudagraphs.py, and what notes what PyTorch does with them.

    cudagraphs_programs.py FOLDER PROGRAM
"""
import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch._inductor import cudagraph_trees


class Recorder:
    """Notes calls, and what the manager of CUDA graph trees does in each."""

    def __init__(self, calls):
        self.calls, self.rows, self.runs, self.objects = calls, [], [], {}
        manager = cudagraph_trees.CUDAGraphTreeManager
        for name, action in (("run_eager", "warm-up"), ("record_function", "record")):
            self.patch(manager, name, action)
        self.patch_execute(manager)
        self.patch_run(manager)

    def patch(self, manager, name, action):
        original, recorder = getattr(manager, name), self

        def wrapper(self, new_inputs, function_id):
            recorder.note(self, action, function_id, new_inputs)
            return original(self, new_inputs, function_id)

        setattr(manager, name, wrapper)

    def patch_execute(self, manager):
        original, recorder = manager.execute_node, self

        def wrapper(self, node, new_inputs):
            recorder.note(self, "replay", node.wrapped_function.id, new_inputs)
            return original(self, node, new_inputs)

        manager.execute_node = wrapper

    def patch_run(self, manager):
        original, recorder = manager._run, self

        def wrapper(self, new_inputs, function_id):
            before = len(recorder.runs)
            ints = [i for i in new_inputs if isinstance(i, int)]
            out = original(self, new_inputs, function_id)
            if len(recorder.runs) == before:
                recorder.add(self, "eager", function_id, ints)
            return out

        manager._run = wrapper

    def note(self, manager, action, function_id, inputs):
        if action == "warm-up" and function_id in manager.warmed_up_functions:
            action = "eager"  # in a path that warms up another function
        self.add(manager, action, function_id, [i for i in inputs if isinstance(i, int)])

    def add(self, manager, action, function_id, ints):
        self.runs.append({
            "action": action,
            "function": function_id.id,
            "compile": str(manager.id_to_compile_id[function_id]) if hasattr(manager, "id_to_compile_id") else None,
            "mode": manager.id_to_mode[function_id].name.lower(),
            "ints": ints,
        })

    def pool(self):
        manager = cudagraph_trees.get_manager(0, create_if_none_exists=False)
        if manager is None:
            return None
        segments = [s for s in torch.cuda.memory_snapshot() if tuple(s["segment_pool_id"]) == tuple(manager.cuda_graphs_thread_pool)]
        return {
            "reserved": sum(s["total_size"] for s in segments),
            "allocated": sum(s["allocated_size"] for s in segments),
            "segments": [{"size": s["total_size"], "blocks": [[b["size"], b["state"]] for b in s["blocks"]]} for s in segments],
        }

    def object(self, value):
        return self.objects.setdefault(id(value), (len(self.objects), value))[0]

    def argument(self, source, value):
        if isinstance(value, torch.Tensor):
            return {
                "source": source,
                "obj": self.object(value),
                "size": list(value.size()),
                "stride": list(value.stride()),
                "dtype": str(value.dtype),
                "device": value.device.type,
                "requires_grad": value.requires_grad,
            }
        return {"source": source, "type": type(value).__name__, "value": value}

    def line(self, row):
        row = {"call": len(self.rows), **row}
        row["mode"] = {
            "grad": torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
            "autocast": None,
            "default_dtype": str(torch.get_default_dtype()),
            "deterministic": False,
        }
        return row

    def finish(self, row, ran):
        torch.cuda.synchronize()
        self.calls.write(json.dumps(row) + "\n")
        self.rows.append({"call": row["call"], "runs": self.runs, "pool": self.pool(), "skips": counters["inductor"]["cudagraph_skips"]})
        self.runs = []
        return ran

    def call(self, function, name, /, module=None, **values):
        row = self.line({"function": name, **({} if module is None else {"module": module})})
        row["args"] = [self.argument(f"L['{n}']", v) for n, v in values.items()]
        return self.finish(row, function(**values))

    def backward(self, loss, of):
        row = self.line({"function": "backward", "backward_of": of})
        return self.finish(row, loss.backward())


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.LayerNorm(width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.norm, self.head = nn.BatchNorm2d(32), nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        return self.head(torch.relu(self.second(x)).mean((2, 3)))


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(4, 4096, 256))

    def forward(self, x, at):
        self.kept.index_copy_(1, at, x)
        return (self.kept * x.mean()).sum(1)


class Decoder(nn.Module):
    """One layer with a cache of keys and values that has room for all positions."""

    def __init__(self, width, heads, positions, batch):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out, self.mlp = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width), Mlp(width)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(batch, heads, positions, width // heads))

    def forward(self, x, at):
        q, k, v = (t.unflatten(2, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, 2))
        self.keys.index_copy_(2, at, k)
        self.values.index_copy_(2, at, v)
        seen = torch.arange(self.keys.size(2), device=x.device) <= at[:, None]
        y = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen)
        return self.mlp(x + self.out(y.transpose(1, 2).flatten(2)))


def compiled(function):
    return torch.compile(function, mode="reduce-overhead", dynamic=True)


def random(*sizes):
    return torch.randn(*sizes, device="cuda")


def sizes(recorder):
    f = compiled(Mlp(512).cuda())
    with torch.no_grad():
        for n in (4096, 4096, 4096, 3000, 3000, 8192, 8192, 4096, 3000):
            recorder.call(f, "Mlp.forward", module=0, x=random(n, 512))


def train_step(recorder, f, name, x):
    number = len(recorder.rows)
    recorder.backward(recorder.call(f, name, module=0, x=x).sum(), number)
    f.zero_grad()  # the gradients are in the pool, and are overwritten in the next step


def train(recorder):
    f = compiled(Mlp(512).cuda())
    for n in (2048, 2048, 2048, 4096, 4096, 4096, 2048):
        train_step(recorder, f, "Mlp.forward", random(n, 512))


def conv_train(recorder):
    f = compiled(Conv().cuda())
    for n in (16, 16, 16, 40, 40, 40, 16):
        train_step(recorder, f, "Conv.forward", random(n, 3, 64, 64))


def cache(recorder):
    f = compiled(Cache().cuda())
    with torch.no_grad():
        for n in (8, 8, 8, 2, 2, 2, 8):
            recorder.call(f, "Cache.forward", module=0, x=random(4, n, 256), at=torch.arange(n, device="cuda"))


def mutated(recorder):
    def fill(x, y):
        y.copy_(x * 2)
        return x + y

    f = compiled(fill)
    for n in (1024, 1024, 1024, 2048, 2048):
        recorder.call(f, "fill", x=random(n, 256), y=random(n, 256))


def partitions(recorder):
    def mixed(x, scale):
        x = torch.sin(x @ x.T)
        on_host = x.sum(0).cpu() * scale
        return torch.relu(on_host.cuda() + x)

    f = compiled(mixed)
    for n in (512, 512, 512, 768, 768, 768):
        recorder.call(f, "mixed", x=random(n, 512), scale=torch.ones(()))


def breaks(recorder):
    def broken(x):
        x = torch.sin(x) @ x.T
        torch._dynamo.graph_break()
        return torch.relu(x) + x.sum()

    f = compiled(broken)
    for n in (1024, 1024, 1024, 2048, 2048, 2048, 1024):
        recorder.call(f, "broken", x=random(n, 256))


def instances(recorder):
    layers = [Mlp(256).cuda() for _ in range(3)]
    step = [compiled(layer) for layer in layers]
    with torch.no_grad():
        for n in (512, 512, 512, 640, 640):
            for i, f in enumerate(step):
                recorder.call(f, "Mlp.forward", module=i, x=random(n, 256))


def pending(recorder):
    f = compiled(Mlp(256).cuda())
    kept = []
    for n in (512, 512, 512, 640, 640, 640, 512):
        kept.append(recorder.call(f, "Mlp.forward", module=0, x=random(n, 256)))


def static(recorder):
    f = torch.compile(Mlp(256).cuda(), mode="reduce-overhead", dynamic=False)
    with torch.no_grad():
        for n in (512, 512, 640, 640, 512, 640, 768):
            recorder.call(f, "Mlp.forward", module=0, x=random(n, 256))


def two_symbols(recorder):
    def outer(x, y):
        return torch.softmax(x @ y.T, 1).sum(0), torch.relu(x).amax(1)

    f = compiled(outer)
    for n, m in ((1024, 512), (1024, 512), (1024, 768), (1024, 768), (640, 512), (640, 512), (1024, 512), (640, 768)):
        recorder.call(f, "outer", x=random(n, 320), y=random(m, 320))


def decode(recorder):
    f = compiled(Decoder(512, 8, 1024, 4).cuda())
    with torch.no_grad():
        first = 0
        for n in (256, 256, 1, 1, 1, 64, 64, 1):
            recorder.call(f, "Decoder.forward", module=0, x=random(4, n, 512), at=torch.arange(first, first + n, device="cuda"))
            first += n


PROGRAMS = {
    p.__name__: p
    for p in (sizes, train, conv_train, cache, mutated, partitions, breaks, instances, pending, static, two_symbols, decode)
}


def run_program(name, folder):
    with open(folder / f"{name}.calls.jsonl", "w") as calls:
        torch.manual_seed(0)
        recorder = Recorder(calls)
        PROGRAMS[name](recorder)
    device = torch.cuda.get_device_properties(0)
    real = {"program": name, "torch": torch.__version__, "device": device.name, "l2_bytes": device.L2_cache_size, "calls": recorder.rows}
    (folder / f"{name}.real.json").write_text(json.dumps(real, indent=1) + "\n")


if __name__ == "__main__":
    run_program(sys.argv[2], Path(sys.argv[1]))
