#!/usr/bin/env python3
"""What `symtape replay --dynamic-shapes` and `--dynamic` predict, beside what the live PyTorch does.

usage: predictions_torch.py [--all] [--expect PERCENT] SYMTAPE

Each program below is recorded with dynamic=True, and with dynamic=False at two sizes. From that log
symtape predicts what other dynamic shapes would do: Dims of torch.export, marks and policies, of
which those in STATIC are predicted from the recording without symbols. PyTorch then does it. Guards
and the text of constraint violations with suggested fixes have to be the same; dispatches are
counted beside them. Without --all every sixth prediction is made. Exits with 77 where Python has no
torch.
"""
import argparse
import json
import logging
import os
import re
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from prediction import ask, copy_of, recorded_guards, report  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv  # noqa: E402
from torch.utils._stats import simple_call_counter  # noqa: E402

PROGRAMS = []  # (function, sizes of its arguments)
CASES = []  # (number of the program, "export", "mark" or a policy, dynamic shapes)

# A policy is a compile with these marks, in symtape's words, for each size of each argument.
POLICIES = {
    "static": lambda d: "static",
    "batch": lambda d: None if d == 0 else "static",
    "all": lambda d: None,
    "auto": lambda d: None,
}
STATIC = ["all", "auto"]


def program(*sizes, export=(), mark=(), policy=()):
    """Adds a program and its predictions. Shapes are as in --dynamic-shapes: "x0=Dim(b)"."""
    def add(fn):
        number = len(PROGRAMS)
        PROGRAMS.append((fn, sizes))
        CASES.extend((number, "export", shapes) for shapes in export)
        CASES.extend((number, "mark", shapes) for shapes in mark)
        CASES.extend((number, name, "") for name in policy)
        return fn
    return add


def static_calls(number):
    """The sizes at which a program is compiled without symbols: for "auto" at two lengths of its first
    argument, since only sizes that change become symbols."""
    sizes = PROGRAMS[number][1]
    first = [(sizes[0][0] + 3, *sizes[0][1:]), *sizes[1:]]
    return [first, sizes] if (number, "auto", "") in CASES else [sizes]


@program((6, 8), export=["x0=Dim(b) x1=Dim(w)", "x0=Dim(b)"], mark=["x1=static"])
def chunked(x):
    a, b = x.chunk(2, 1)
    return a * b


@program((2, 3, 8, 10), export=["x0=Dim(b) x2=Dim(h) x3=Dim(w)", "x2=2*Dim(h) x3=Dim(w)"],
         policy=["batch"])
def unshuffled(x):
    return F.pixel_unshuffle(x, 2)


@program((4, 5), (5, 6), export=["x0=Dim(b) x1=Dim(k)", "x0=Dim(b) x1=Dim(k) y0=Dim(k)"],
         mark=["x1=dynamic", "x0=4..64"], policy=["static"])
def multiplied(x, y):
    return (x @ y).relu()


@program((4, 6), (4, 6), export=["x0=Dim(b) y0=Dim(b)", "x0=Dim(b) y0=Dim(c)"],
         mark=["x0=dynamic", "x0=dynamic y0=dynamic", "x0=static"], policy=["batch"])
def added(x, y):
    return x * 2 + y


@program((2, 6, 8), export=["x0=Dim(b) x1=Dim(s)", "x0=Dim(b,1..16) x1=Dim(s,4..6)"],
         policy=["batch", "static"])
def attention(x):
    q = x.view(x.shape[0], x.shape[1], 2, 4).transpose(1, 2)
    return F.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(x.shape)


@program((4, 6), export=["x0=Dim(b)", "x0=Dim(b) x1=Dim(w)"], mark=["x0=dynamic", "x1=dynamic"],
         policy=["static"])
def looped(x):
    out = x
    for i in range(x.shape[0]):
        out = out + i
    return out.sum(1)


@program((12, 6), export=["x0=Dim(b)", "x0=Dim(b,2..64) x1=Dim(w,2..32)"],
         mark=["x0=9..64", "x0=2..64"], policy=["batch"])
def branched(x):
    if x.shape[0] > 8:
        x = x + 1
    return x.reshape(-1, 3)


@program((2, 3, 16, 20), export=["x0=Dim(b) x2=Dim(h) x3=Dim(w)", "x0=Dim(b)"],
         mark=["x2=8..64 x3=static"], policy=["batch"])
def convolved(x):
    weight = x.new_ones(4, 3, 3, 3)
    return F.max_pool2d(F.conv2d(x, weight, None, 1, 1).relu(), 2).mean((2, 3))


@program((6, 8), (3, 8), export=["x0=Dim(a) y0=Dim(b)", "x0=2*Dim(b) y0=Dim(b)"],
         mark=["y0=dynamic"], policy=["batch"])
def concatenated(x, y):
    return torch.cat([x, y]).view(-1, 3)


@program((4, 9, 8), export=["x0=Dim(b) x1=Dim(s,2..64)"], mark=["x0=static x2=static"],
         policy=["static", "batch"])
def normalised(x):
    return F.layer_norm(x, x.shape[-1:]).softmax(-1)


@program((9, 4), export=["x0=Dim(n)", "x0=Dim(m)+1"], mark=["x0=dynamic"])
def shifted(x):
    return x[1:] + x[:-1]


@program((8, 5), (7, 5), export=["x0=Dim(m)+1 y0=Dim(m)", "x0=Dim(a) y0=Dim(b)"])
def shifted_to(x, y):
    return x[1:] + y


@program((6, 4), export=["x0=Dim(b) x1=Dim(w)"], mark=["x0=unbacked"], policy=["batch"])
def expanded(x):
    return (x.unsqueeze(1).expand(-1, 3, -1) * x.sum()).flatten(1)


@program((4, 12), export=["x0=Dim(b) x1=Dim(w)", "x1=3*Dim(k)"], policy=["batch"])
def split_in_three(x):
    q, k, v = x.split(x.shape[1] // 3, 1)
    return q * k + v


@program((10, 4), export=["x0=Dim(n)", "x0=Dim(n,8..12)"], mark=["x0=8..12"])
def checked(x):
    torch._check(x.shape[0] >= 8)
    torch._check(x.shape[0] <= 12)
    return x.cumsum(0)


@program((6, 5), policy=["all", "auto"])
def gated(x):
    return torch.sigmoid(x) * x.tanh() + x.mean(0)


@program((4, 6), (6, 3), policy=["all", "auto"])
def projected(x, y):
    return torch.softmax(x @ y, -1).sum(0)


@program((5, 8), policy=["all", "auto"])
def scaled(x):
    return F.layer_norm(x, (8,)) * x.shape[0]


@program((4, 3, 8, 8), export=["x0=Dim(b) x2=Dim(h) x3=Dim(h)"], mark=["x2=dynamic"],
         policy=["all"])
def resized(x):
    return F.avg_pool2d(F.interpolate(x, scale_factor=2), 2)


@program((7, 4), (7, 4), export=["x0=Dim(b) y0=Dim(b)"], mark=["y0=static"], policy=["all"])
def selected(x, y):
    return torch.where(x > y, x, y).flatten().cumsum(0)


def arguments(sizes):
    torch.manual_seed(0)
    return [torch.randn(*size) for size in sizes]


def parsed(shapes):
    """("x", 0, "Dim(b)") of "x0=Dim(b)"."""
    found = [re.fullmatch(r"([a-z])(\d)=(.*)", one) for one in shapes.split()]
    return [(one[1], int(one[2]), one[3]) for one in found]


def dim_of(text, dims):
    """A Dim of torch.export as symtape writes it: 2*Dim(dx,4..64)+1."""
    mul, name, bounds, add = re.fullmatch(r"(?:(\d+)\*)?Dim\((\w+)(?:,([^)]*))?\)(\+\d+)?",
                                          text).groups()
    if name not in dims:
        low, high = range_of(bounds) if bounds else (None, None)
        dims[name] = torch.export.Dim(name, **{k: v for k, v in (("min", low), ("max", high)) if v})
    dim = dims[name]
    dim = int(mul) * dim if mul else dim
    return dim + int(add) if add else dim


def range_of(text):
    low, high = text.split("..")
    return int(low), int(high) if high else None


def exported(fn, args, shapes):
    names = fn.__code__.co_varnames[:fn.__code__.co_argcount]
    dims, spec = {}, {name: {} for name in names}
    for name, d, text in shapes:
        spec[name][d] = dim_of(text, dims)

    class Module(torch.nn.Module):
        forward = eval(f"lambda self, {', '.join(names)}: fn({', '.join(names)})", {"fn": fn})

    torch.export.export(Module(), tuple(args), dynamic_shapes=spec)


def mark(tensor, d, text):
    if text == "dynamic":
        torch._dynamo.mark_dynamic(tensor, d)
    elif text == "static":
        torch._dynamo.mark_static(tensor, d)
    elif text == "unbacked":
        torch._dynamo.decorators.mark_unbacked(tensor, d)
    else:
        low, high = range_of(text)
        torch._dynamo.mark_dynamic(tensor, d, min=low, max=high)


def compiled(fn, *calls, shapes=(), dynamic=True):
    """Compiles a function for the arguments of each call; shapes are of the last."""
    names = fn.__code__.co_varnames
    for name, d, text in shapes:
        mark(calls[-1][names.index(name)], d, text)
    run = torch.compile(copy_of(fn), backend="aot_eager", dynamic=dynamic)
    for args in calls:
        simple_call_counter.clear()
        run(*args)


def marks_of(kind, sizes, shapes):
    """The marks that do what a policy says."""
    if kind in POLICIES:
        shapes = [(name, d, POLICIES[kind](d)) for name, size in zip("xyz", sizes)
                  for d in range(len(size))]
    return [shape for shape in shapes if shape[2]]


class Watched:
    """The guards that ShapeEnvs have when PyTorch produces guards of them."""

    def __init__(self):
        self.guards, self.produce = [], ShapeEnv.produce_guards_verbose

    def __enter__(self):
        def produce(env, *args, **kwargs):
            self.guards = [str(guard.expr) for guard in env.guards]
            return self.produce(env, *args, **kwargs)
        ShapeEnv.produce_guards_verbose = produce
        return self

    def __exit__(self, *exc):
        ShapeEnv.produce_guards_verbose = self.produce


def violation_of(error):
    """The part of an error's text that a ConstraintViolationError has."""
    text = str(error)
    at = min((i for i in (text.find("Constraints violated"),
                          text.find("Specializations unexpectedly")) if i >= 0), default=None)
    if at is None:
        return f"{type(error).__name__}: {text}"
    return re.split(r"\n\n(?:The error above|Set TORCHDYNAMO|from user code)", text[at:])[0].strip()


def outcome(number, kind, shapes):
    """What PyTorch does."""
    fn, sizes = PROGRAMS[number]
    torch._dynamo.reset()
    torch._dynamo.pgo.reset_code_state()
    FakeTensorMode.cache_clear()  # predicted is a compile of a new process
    args, text = arguments(sizes), ""
    simple_call_counter.clear()
    with Watched() as watched:
        try:
            if kind == "export":
                exported(fn, args, parsed(shapes))
            elif kind == "auto":
                compiled(fn, *map(arguments, static_calls(number)), dynamic=None)
            else:
                compiled(fn, args, shapes=marks_of(kind, sizes, parsed(shapes)))
        except Exception as error:
            text = violation_of(error)
    return {"guards": watched.guards, "violation": text,
            "dispatches": simple_call_counter["FakeTensorMode.__torch_dispatch__"]}


def child():
    """Records each program, then does what is predicted; prints that as JSON. Frame 2*i has the
    compile of program i with dynamic=True, frame 2*i+1 those with dynamic=False."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for number, (fn, sizes) in enumerate(PROGRAMS):
        torch._dynamo.pgo.reset_code_state()
        compiled(fn, arguments(sizes))
        compiled(fn, *map(arguments, static_calls(number)), dynamic=False)
    print(json.dumps([outcome(*case) for case in CASES]))


def settled(text):
    """The lines of a violation, without the marks under a line of code: those of one size are in the
    order of a set."""
    text = text.replace("Specializations unexp", "\nSpecializations unexp")
    return [line for line in text.split("\n") if line.strip(" ^")]


def predict(symtape, log, case):
    number, kind, shapes = case
    selected = f"{log}:{2 * number}/0"
    if kind in STATIC:
        selected = f"{log}:{2 * number + 1}/{len(static_calls(number)) - 1}"
    how = ["--dynamic", kind] if kind in POLICIES else [
        "--dynamic-shapes", ",".join(f"L['{name}']:{d}={text}" for name, d, text in parsed(shapes))]
    made = ask(symtape, "--guards", *how, selected)
    rows = made["guards"]["list"]
    return {"guards": [row["expr"] for row in rows if row["kind"] == "guard" and
                       row["outcome"] in ("reproduced", "applied", "extra")],
            "violation": "\n".join(row["text"] for row in made["violations"]),
            "dispatches": sum(one["fake_tensor_mode"] for one in made["dispatch_passes"])}


def check(symtape, log, case, actual):
    predicted = predict(symtape, log, case)
    only = []
    for ours, theirs in ((predicted, actual), (actual, predicted)):
        guards = sorted(set(ours["guards"]) - set(theirs["guards"]))
        lines = [x for x in settled(ours["violation"]) if x not in settled(theirs["violation"])]
        only.append(guards + lines)
    number, kind, shapes = case
    counts = predicted["dispatches"], actual["dispatches"]
    beside = "" if counts[0] == counts[1] else f", {counts[0]} dispatches of {counts[1]}"
    return report(f"{PROGRAMS[number][0].__name__} {kind} {shapes}{beside}",
                  not (only[0] or only[1]), only[1], only[0]), counts


def draw(cases):
    """Keeps only these cases and their programs."""
    used = sorted({case[0] for case in cases})
    PROGRAMS[:] = [PROGRAMS[number] for number in used]
    CASES[:] = [(used.index(number), kind, shapes) for number, kind, shapes in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--expect", type=float, default=95, help="per cent of the predictions")
    parser.add_argument("symtape")
    options = parser.parse_args()
    if not options.all:
        draw(CASES[::6])
    if options.symtape == "record":
        return child()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, *(["--all"] * options.all), "record"], check=True,
            stdout=subprocess.PIPE, env=os.environ | {"TORCH_TRACE": folder})
        actual = json.loads(done.stdout)
        log = os.path.join(folder, os.listdir(folder)[0])
        made = [check(options.symtape, log, *pair) for pair in zip(CASES, actual)]
    good = sum(same for same, _ in made)
    counted = sum(ours == theirs for _, (ours, theirs) in made)
    share = sum(ours for _, (ours, _) in made) / sum(theirs for _, (_, theirs) in made)
    print(f"dispatches are equal in {counted} of {len(CASES)} predictions, {share:.3f} in sum")
    print(f"{good} of {len(CASES)} predictions are right")
    return 0 if 100 * good >= options.expect * len(CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
