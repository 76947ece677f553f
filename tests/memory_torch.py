#!/usr/bin/env python3
"""The memory that `symtape profile` estimates for a graph, compared with what PyTorch's own estimator
(torch/_inductor/fx_passes/memory_estimator.py) says of the same graph, and with what is alive when the graph is run.

    tests/memory_torch.py [--zoo] [-v]

The backend of each program asks PyTorch about the forward and the backward graph that
AOTAutograd made: the peak of what calls allocate, the same in blocks of 512 bytes, the peak with inputs, and the bytes saved for
backward. Then it runs the graph call by call with real tensors, and notes the storages that are alive after each call: their peak,
the call at which it is, and the size of each. The estimate from the log must be within 5 % of each figure. --zoo takes models of transformers, timm, torchvision and torch_geometric
as well, those that are installed. SYMTAPE_PYTHON is an interpreter with torch (default: python3). Exits with 77, "skipped" to
meson, when that one has no torch.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import cases

PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
TOLERANCE = 0.05
LIVE = 20  # tensors at the peak that symtape profile has of each graph

HEAD = r"""
import json, sys, torch, torch.nn as nn, torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._inductor.fx_passes import memory_estimator
R = torch.randn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
memory_estimator.device_filter = lambda device: True
out = open(sys.argv[1], "w")
BLOCK = 512

def tell(row):
    out.write(json.dumps(row) + "\n")
    out.flush()

class Alive(TorchDispatchMode):
    # The storages that calls allocate and that are alive.
    def __init__(self, inputs):
        super().__init__()
        self.given = {t.untyped_storage()._cdata for t in inputs if isinstance(t, torch.Tensor)}
        self.storages, self.peak, self.at, self.sizes, self.node = {}, 0, "", [], ""
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for t in tree_leaves(result):
            if isinstance(t, torch.Tensor) and t.untyped_storage()._cdata not in self.given:
                self.storages[t.untyped_storage()._cdata] = (StorageWeakRef(t.untyped_storage()), t.untyped_storage().nbytes())
        self.storages = {k: v for k, v in self.storages.items() if not v[0].expired()}
        sizes = [n for _, n in self.storages.values() if n]
        if sum(sizes) > self.peak:
            self.peak, self.at, self.sizes = sum(sizes), self.node, sorted(sizes, reverse=True)
        return result

class Steps(torch.fx.Interpreter):
    def run_node(self, node):
        self.alive.node = node.name
        return super().run_node(node)

def run_alive(gm, row):
    # The graph as a function whose first call notes what is alive.
    steps, told = Steps(gm), []
    def call(*args):
        if told:
            return gm.forward(*args)
        told.append(True)
        steps.alive = Alive(args)
        with steps.alive:
            result = steps.run(*args)
        row.update(real_peak=steps.alive.peak, real_at=steps.alive.at, real_sizes=steps.alive.sizes)
        tell(row)
        return result
    return make_boxed_func(call)

def total_peak(kind, graph, tracker, size):
    # What get_peak_memory() says of one graph; its get_fwd_bwd_interactions() cannot be called in 2.13, so its rules stand here.
    given, primals, returned, baseline = set(), set(), set(), 0
    if kind == "backward" and forward_tracker:
        of_forward, nodes = forward_tracker[-1], list(forward_tracker[-1].node_to_storage_uses)
        given = set().union(*(tracker.node_to_output_storages[n] for n in graph.find_nodes(op="placeholder")))
        primals = set().union(*(of_forward.node_to_fresh_allocations[n] for n in nodes if n.op == "placeholder"))
        returned = set(of_forward.node_to_storage_uses[nodes[-1]])
        baseline = size(returned - given)
    def releasable(n):
        own = set(tracker.node_to_output_storages[n])
        return n.op not in ("placeholder", "get_attr") or bool(own & returned) and not own & primals
    return baseline + max(memory_estimator.build_memory_profile(graph, releasable))

def measure(kind):
    def compiler(gm, inputs, **how):
        graph, nodes = gm.graph, list(gm.graph.nodes)
        given = lambda n: n.op in ("placeholder", "get_attr")
        profile = memory_estimator.build_memory_profile(graph, lambda n: not given(n))
        tracker = memory_estimator.GraphAliasTracker(nodes)
        size = lambda keys: sum(memory_estimator._size_of_default(k.storage.nbytes()) for k in keys)
        owner = tracker.storage_to_allocator
        # Entry 0 is before the first call; then two entries a call: what it allocated, what it freed.
        calls = [n for n in nodes if n.op not in ("placeholder", "get_attr", "output")]
        at = max(range(len(profile)), key=lambda i: profile[i])
        in_blocks = lambda n: -(-memory_estimator._size_of_default(n) // BLOCK) * BLOCK
        blocks = memory_estimator.build_memory_profile(graph, lambda n: not given(n), in_blocks)
        row = {"program": program, "kind": kind, "compile": str(torch._guards.CompileContext.current_compile_id()), "inputs": profile[0],
               "blocks": max(blocks) - blocks[0], "total": total_peak(kind, graph, tracker, size),
               "peak": max(profile) - profile[0], "at": calls[(at - 1) // 2].name if at else "",
               "outputs": size(k for k in tracker.node_to_storage_uses[nodes[-1]] if not given(owner[k]))}
        if kind == "forward":
            forward.append({n.name: [k for k in tracker.node_to_output_storages[n]] for n in nodes[-1].all_input_nodes})
            forward_owner.append(owner)
            forward_tracker.append(tracker)
        if kind == "backward" and forward:
            saved = {k for n in nodes if n.op == "placeholder" for k in forward[-1].get(n.name, [])}
            row["saved"] = size(k for k in saved if not given(forward_owner[-1][k]))
        return run_alive(gm, row)
    return compiler
forward, forward_owner, forward_tracker = [], [], []
aot = aot_autograd(fw_compiler=measure("forward"), bw_compiler=measure("backward"), inference_compiler=measure("inference"))

def train(model, *calls, **how):
    f = torch.compile(model, backend=aot, dynamic=True, **how)
    for call in calls:
        result = f(*call)
        loss = result if isinstance(result, torch.Tensor) else next(iter(result.values())) if hasattr(result, "values") else result[0]
        loss.sum().backward()
def infer(model, *calls, **how):
    if isinstance(model, nn.Module): model.eval()
    with torch.no_grad():
        f = torch.compile(model, backend=aot, dynamic=True, **how)
        for call in calls: f(*call)
class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Dropout(0.1), nn.Linear(4 * d, d))
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm2(x))
class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU(inplace=True), nn.Conv2d(c, c, 3, padding=1))
        self.down = nn.Conv2d(c, 2 * c, 2, stride=2)
    def forward(self, x): return self.down(F.relu(x + self.f(x)))
def inplace(x, y):
    z = x.t().contiguous()
    z.mul_(2)
    w = z[1:].relu_()
    parts = (w @ y).split(3, dim=1)
    return torch.cat([p.sin() for p in parts], 1), z.expand(4, *z.shape).sum(0), y.flip(0).cumsum(0).topk(2).values
"""

PROGRAMS = {
    "mlp.train": "train(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 8)), (R(6, 32),))",
    "block.train": "train(nn.Sequential(Block(48, 4), Block(48, 4)), (R(3, 10, 48),))",
    "block.eval": "infer(nn.Sequential(Block(48, 4), Block(48, 4)), (R(3, 10, 48),))",
    "conv.train": "train(nn.Sequential(Residual(8), Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (R(2, 8, 24, 20),))",
    "conv.eval": "infer(nn.Sequential(Residual(8), Residual(16), nn.MaxPool2d(2), nn.GroupNorm(4, 32)), (R(2, 8, 24, 20),))",
    "rnn.train": "train(lambda x, h: torch.stack([h := torch.tanh(h + x[:, i]) for i in range(5)]), "
                       "(R(4, 5, 9, requires_grad=True), R(4, 9, requires_grad=True)))",
    "inplace.eval": "infer(inplace, (R(7, 12), R(7, 9)))",
    "embedding.train": "train(nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50), nn.LogSoftmax(-1)), (torch.randint(0, 50, (4, 11)),))",
    "half.eval": "infer(nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 8)).bfloat16(), (R(6, 32).bfloat16(),))",
}
# A torchvision whose library of operators does not load can be imported with these.
ZOO_HEAD = f"sys.path.insert(0, {os.path.join(os.path.dirname(os.path.abspath(__file__)), 'differential')!r})\n" \
           "import importlib.util, torchvision_ops\nif importlib.util.find_spec('torchvision'): torchvision_ops.import_torchvision()\n"
ZOO = {
    "bert.train": "from transformers import BertConfig, BertModel\n"
                  "train(BertModel(BertConfig(num_hidden_layers=3, hidden_size=96, num_attention_heads=4, intermediate_size=256, "
                  "vocab_size=300, attn_implementation='eager')), (torch.randint(0, 300, (2, 33)),))",
    "gpt2.train": "from transformers import GPT2Config, GPT2LMHeadModel\n"
                  "train(GPT2LMHeadModel(GPT2Config(n_layer=3, n_embd=96, n_head=4, vocab_size=300, use_cache=False)), (torch.randint(0, 300, (2, 33)),))",
    "t5.eval": "from transformers import T5Config, T5EncoderModel\n"
               "infer(T5EncoderModel(T5Config(num_layers=3, d_model=96, num_heads=4, d_ff=200, vocab_size=300)), (torch.randint(0, 300, (2, 33)),))",
    "llama.eval": "from transformers import LlamaConfig, LlamaModel\n"
                  "infer(LlamaModel(LlamaConfig(num_hidden_layers=3, hidden_size=96, num_attention_heads=4, num_key_value_heads=2, "
                  "intermediate_size=256, vocab_size=300, use_cache=False)), (torch.randint(0, 300, (2, 33)),))",
    "resnet18.train": "import torchvision\ntrain(torchvision.models.resnet18(), (R(2, 3, 96, 96),))",
    "convnext.train": "import torchvision\ntrain(torchvision.models.convnext_tiny(), (R(2, 3, 64, 64),))",
    "efficientnet.eval": "import timm\ninfer(timm.create_model('efficientnet_b0'), (R(2, 3, 96, 96),))",
    "vit.train": "import timm\ntrain(timm.create_model('vit_tiny_patch16_224', dynamic_img_size=True), (R(2, 3, 128, 128),))",
    "swin.eval": "import torchvision\ninfer(torchvision.models.swin_t(), (R(2, 3, 224, 224),))",
    "gin.train": "from torch_geometric.nn import GIN\ntrain(GIN(16, 32, 3), (R(30, 16), torch.randint(0, 30, (2, 90))))",
}


def record(programs, folder):
    """Compiles programs in one process; returns its log and what PyTorch said of each graph."""
    script, log, rows = (os.path.join(folder, n) for n in ("program.py", "log", "rows"))
    with open(script, "w") as file:
        zoo = ZOO_HEAD if ZOO.keys() & programs.keys() else ""
        file.write(HEAD + zoo + "".join(f"program = {name!r}\n{text}\n" for name, text in programs.items()))
    done = subprocess.run([PYTHON, script, rows], env={**os.environ, "TORCH_TRACE": log}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=900)
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    with open(rows) as file:
        return log, [json.loads(line) for line in file]


def near(ours, theirs):
    return abs(ours - theirs) <= TOLERANCE * max(ours, theirs)


def problems_of(truth, rows):
    """What differs, and the worst error in parts of one."""
    problems, worst = [], 0.0
    for row in truth:
        name = f"{row['compile']} {row['kind']}"
        found = [r for r in rows if r["compile"] == row["compile"].split("_")[0] and r["level"] == row["kind"]]
        if not found:
            problems.append(f"{name}: no estimate")
            continue
        ours = found[-1]
        pairs = [("peak", ours["peak_bytes"], row["peak"]), ("inputs", ours["input_bytes"], row["inputs"]),
                 ("peak in blocks", ours["block_peak_bytes"], row["blocks"]), ("peak with inputs", ours["total_peak_bytes"], row["total"]),
                 ("peak when run", ours["peak_bytes"], row["real_peak"])]
        alive = [n["bytes"] for n in ours["live"]]
        pairs += [(f"{i + 1}. largest alive", a, b) for i, (a, b) in enumerate(zip(alive, row["real_sizes"]))]
        # A result that no call takes, such as a logsumexp, is in no graph's text.
        if not near(sum(alive), sum(row["real_sizes"][:LIVE])):
            problems.append(f"{name}: {len(alive)} alive, when run {len(row['real_sizes'])}")
        if ours["peak_node"] != row["real_at"]:
            problems.append(f"{name}: peak at {ours['peak_node']}, when run at {row['real_at']}")
        if "saved" in row:
            forward = [r for r in rows if r["compile"] == ours["compile"] and r["level"] == "forward"]
            pairs.append(("saved", forward[-1]["saved_bytes"], row["saved"]))
        for what, a, b in pairs:
            worst = max(worst, abs(a - b) / max(a, b, 1))
            if not near(a, b):
                problems.append(f"{name}: {what} {a}, PyTorch {b}")
        if ours["unknown"]:
            problems.append(f"{name}: {ours['unknown']} tensors of unknown size")
    return problems, worst


def check(told, programs, verbose):
    with tempfile.TemporaryDirectory() as folder:
        try:
            log, truth = record(programs, folder)
        except RuntimeError as failed:
            missing = "No module named" in str(failed)
            for name in programs:
                (told.skip if missing and name in ZOO else told.fail)(name, failed)
            return
        rows = json.loads(cases.run(["profile", "--json", "--no-replay", log]).out)["graph_memory"]
        for name in programs:
            graphs = [row for row in truth if row["program"] == name]
            problems, worst = problems_of(graphs, rows)
            told.check(name, problems if graphs else ["no graph was compiled"])
            if verbose:
                print(f"    {len(graphs)} graphs, worst {100 * worst:.2f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zoo", action="store_true", help="models of other packages, too")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print("PyTorch is not installed for", PYTHON)
        sys.exit(77)
    wanted = lambda programs: {n: p for n, p in programs.items() if not args.names or n in args.names}
    told = cases.Cases()
    runs = [wanted(PROGRAMS)] + ([{name: program} for name, program in wanted(ZOO).items()] if args.zoo else [])
    for programs in filter(None, runs):
        check(told, programs, args.verbose)
    told.finish()


if __name__ == "__main__":
    main()
