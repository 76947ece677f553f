#!/usr/bin/env python3
"""What `symtape replay` says that PyTorch dispatches for one call, beside what the installed PyTorch dispatches: each call of
CALLS is compiled alone, and counted pass by pass. Prints the passes that differ; asserts nothing.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).

usage: dispatch_calls.py [--train] [-v] [CALL ...]      (-v: the operators that differ; all calls take about two minutes)
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

# name: a function of the arguments below; F is torch.nn.functional
CALLS = {
    "linear 3d": "lambda x, w, b: F.linear(x, w, b)", "linear 2d": "lambda y, w, b: F.linear(y, w, b)",
    "linear 4d": "lambda q, w, b: F.linear(q, w, b)", "linear without bias": "lambda x, w: F.linear(x, w)",
    "linear transposed": "lambda x, w, b: F.linear(x.transpose(0, 1), w, b)", "addmm": "lambda b, y, w: torch.addmm(b, y, w.t())",
    "matmul 4d": "lambda q: q @ q.transpose(-1, -2)", "matmul 3d": "lambda x: x @ x.transpose(1, 2)",
    "matmul 3d 2d": "lambda x, y: x @ y.t()", "matmul 2d 1d": "lambda y: y @ y[0]", "bmm": "lambda x: torch.bmm(x, x.transpose(1, 2))",
    "baddbmm": "lambda x: torch.baddbmm(torch.zeros(1), x, x.transpose(1, 2))", "outer": "lambda y: torch.outer(y[:, 0], y[0])",
    "einsum": "lambda q: torch.einsum('bhqd,bhkd->bhqk', q, q)",
    "reshape": "lambda x: x.reshape(-1, 16)", "reshape copies": "lambda q: q.transpose(1, 2).reshape(q.shape[0], q.shape[2], 32)",
    "reshape strided": "lambda q: q[:, :1].reshape(q.shape[0], 1, q.shape[2], 4, 4)", "view_as": "lambda x: x.view_as(x + 1)",
    "flatten": "lambda q: q.flatten(1)", "unbind": "lambda q: q.unbind(1)", "chunk": "lambda x: x.chunk(2, -1)",
    "split": "lambda x: x.split(4, -1)", "tensor_split": "lambda x: x.tensor_split(2, -1)", "narrow": "lambda x: x.narrow(1, 1, 2)",
    "expand": "lambda f: f.expand(-1, 2, -1, -1)", "permute": "lambda q: q.permute(0, 2, 1, 3)", "squeeze": "lambda f: f.squeeze(1)",
    "unsqueeze": "lambda x: x.unsqueeze(1)", "t": "lambda y: y.t()", "roll": "lambda q: torch.roll(q, 1, 2)",
    "repeat": "lambda q: q.repeat(1, 2, 1, 1)", "meshgrid": "lambda y: torch.meshgrid(y[0], y[1], indexing='ij')",
    "index int": "lambda q: q[:, 0]", "index None": "lambda q: q[:, None]", "index slice": "lambda q: q[:, :, 1:]",
    "index mixed": "lambda q: q[:, None, :, -1]", "index tensor": "lambda y, i: y[i]",
    "contiguous": "lambda q: q.transpose(1, 2).contiguous()", "contiguous already": "lambda q: q.contiguous()",
    "clone": "lambda x: x.clone()", "detach": "lambda x: x.detach() + 1",
    "to": "lambda x: x.to(torch.float64)", "to the same": "lambda x: x.to(torch.float32)", "float": "lambda i: i.float()",
    "type_as": "lambda i, x: i.type_as(x)",
    "sdpa": "lambda q: F.scaled_dot_product_attention(q, q, q)",
    "sdpa mask": "lambda q, m: F.scaled_dot_product_attention(q, q, q, m)",
    "sdpa bias": "lambda q, f: F.scaled_dot_product_attention(q, q, q, f)",
    "sdpa causal": "lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True)",
    "softmax": "lambda x: x.softmax(-1)", "softmax dtype": "lambda x: F.softmax(x, -1, dtype=torch.float32)",
    "layer_norm": "lambda x: F.layer_norm(x, (16,))", "group_norm": "lambda q: F.group_norm(q, 2)",
    "batch_norm": "lambda q: F.batch_norm(q, torch.zeros(2), torch.ones(2))",
    "dropout": "lambda x: F.dropout(x, 0.1, True)", "embedding": "lambda i, y: F.embedding(i, y)",
    "conv1d": "lambda x: F.conv1d(x, torch.randn(3, 6, 3))", "conv2d": "lambda q: F.conv2d(q, torch.randn(3, 2, 3, 3))",
    "max_pool2d": "lambda q: F.max_pool2d(q, 2)", "adaptive_avg_pool2d": "lambda q: F.adaptive_avg_pool2d(q, 1)",
    "interpolate": "lambda q: F.interpolate(q, scale_factor=2)", "pad": "lambda x: F.pad(x, (1, 1))", "unfold": "lambda q: F.unfold(q, 2)",
    "mean": "lambda x: x.mean(-1, keepdim=True)", "sum": "lambda x: x.sum(1)", "var": "lambda x: x.var(-1)", "norm": "lambda x: x.norm(dim=-1)",
    "rms_norm": "lambda x: x * torch.rsqrt(x.pow(2).mean(-1, True) + 1e-6)", "logsumexp": "lambda x: x.logsumexp(-1)",
    "argmax": "lambda x: x.argmax(-1)", "topk": "lambda x: x.topk(2)", "sort": "lambda x: x.sort(-1)[0]", "cumsum": "lambda x: x.cumsum(1)",
    "gather": "lambda x, i: x.gather(1, i.clamp(max=3)[:, :, None])", "scatter": "lambda x, i: torch.zeros_like(x).scatter(1, i.clamp(max=3)[:, :, None], x[:, :, :1])",
    "stack": "lambda x: torch.stack([x, x])", "cat": "lambda x: torch.cat([x, x], 1)", "arange": "lambda x: torch.arange(x.shape[1])",
    "new_ones": "lambda x: x.new_ones(x.shape[0], 2)", "triu": "lambda f: f.triu(1)", "masked_fill": "lambda f, m: f.masked_fill(m, 0.0)",
    "where": "lambda m: torch.where(m, 1.0, 0.0)", "any": "lambda m: m.any()", "relu_": "lambda x: (x + 1).relu_()",
    "gelu": "lambda x: F.gelu(x)", "silu": "lambda x: F.silu(x)", "glu": "lambda x: F.glu(x)", "maximum": "lambda x: torch.maximum(x, x + 1)",
    "floor divide": "lambda i: i // 2", "cross_entropy": "lambda x, i: F.cross_entropy(x.flatten(0, 1), i.flatten())",
    "mse_loss": "lambda x: F.mse_loss(x, x + 1)", "normalize": "lambda x: F.normalize(x, dim=-1)",
}


def count(train, names, out):
    """Compiles each call and writes its counts by pass: devices, other calls, what is dispatched within them."""
    import torch
    import torch.nn.functional as F
    from torch._subclasses.fake_tensor import FakeTensorMode
    from dispatches_torch import functions, pass_of
    known = {"torch": torch, "F": F}
    arguments = {
        "x": torch.randn(4, 6, 16), "y": torch.randn(5, 16), "q": torch.randn(4, 2, 6, 16), "w": torch.nn.Parameter(torch.randn(8, 16)),
        "b": torch.nn.Parameter(torch.randn(8)), "m": torch.ones(4, 1, 6, 6, dtype=torch.bool), "f": torch.randn(4, 1, 6, 6),
        "i": torch.randint(0, 5, (4, 6)),
    }
    dispatch, within, counts = FakeTensorMode.__torch_dispatch__, [], {}

    def counted(self, func, types, args=(), kwargs=None):
        if not within:
            within.append((pass_of(functions()), str(func)))
            counts[call][within[0][0]][str(func)][0] += 1
        else:
            within.append(within[0])
            counts[call][within[0][0]][within[0][1]][1] += 1
        try:
            return dispatch(self, func, types, args, kwargs)
        finally:
            within.pop()

    FakeTensorMode.__torch_dispatch__ = counted
    for call in names:
        counts[call] = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        function = eval(CALLS[call], known)
        given = [arguments[name] for name in function.__code__.co_varnames[:function.__code__.co_argcount]]
        torch._dynamo.reset()
        FakeTensorMode.cache_clear()
        with torch.set_grad_enabled(train):
            torch.compile(function, backend="aot_eager", dynamic=True)(
                *(x.detach().requires_grad_() if train and x.is_floating_point() else x for x in given))
    Path(out).write_text(json.dumps(counts))


def replayed(tape):
    """The passes of each compile, in order."""
    info = json.loads(subprocess.run([SYMTAPE, "info", "--json", tape], stdout=subprocess.PIPE, check=True).stdout)
    for compile_ in info["compiles"]:
        if compile_["attempt"] == 0:
            done = subprocess.run([SYMTAPE, "replay", "--json", f"{tape}:{compile_['id']}"], stdout=subprocess.PIPE)
            yield json.loads(done.stdout)["dispatch_passes"]


def compare(call, row, theirs, verbose):
    """Returns whether a pass has as many dispatches in PyTorch; devices have no row of their own in the replay."""
    ours = {op["op"]: [op["calls"], op["within"]] for op in row["operators"]}
    total = sum(map(sum, theirs.values()))
    if row["fake_tensor_mode"] == total:
        return True
    print(f"{call:22}{row['pass']:11}{row['fake_tensor_mode']} of {total}")
    for op in sorted(set(ours) | set(theirs)) if verbose else ():
        if op != "prim.device.default" and ours.get(op) != theirs.get(op):
            print(f"    {op:44} ours {ours.get(op)}  PyTorch's {theirs.get(op)}")
    return False


def main():
    if sys.argv[1:2] == ["count"]:
        return count(sys.argv[2] == "train", sys.argv[4:], sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", action="store_true")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("calls", nargs="*", choices=[[], *CALLS], metavar="CALL")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="symtape-dispatches-") as folder:
        tape, out = f"{folder}/calls.tape", f"{folder}/counts.json"
        subprocess.run([SYMTAPE, "record", "-o", tape, "--", PYTHON, __file__, "count", "train" if args.train else "eval", out,
                        *(args.calls or CALLS)], check=True, stderr=subprocess.DEVNULL)
        counts = json.loads(Path(out).read_text())
        passes = [compare(call, row, counts[call].get(row["pass"], {}), args.v)
                  for call, rows in zip(counts, replayed(tape)) for row in rows if row["fake_tensor_mode"] or row["pass"] in counts[call]]
    print(f"{sum(passes)} of {len(passes)} passes of {len(counts)} calls have as many dispatches as in PyTorch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
