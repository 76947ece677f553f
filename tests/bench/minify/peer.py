#!/usr/bin/env python3
"""PyTorch's own minifier on graphs of known culprits; needs torch.

usage: peer.py PROGRAM FOLDER SECONDS transformer:BLOCKS|cores:CALLS ...

transformer: the model of PROGRAM (../shared/programs/peer_minifier.py). cores: what reported bugs
need, planted in carriers of so many calls. Each graph is written to FOLDER as FX text; a line of
JSON a question tells what torch._functorch.fx_minifier asked and left. A reduction that takes it
longer than SECONDS is cut short ("done": false): it asked at least so often."""
import contextlib
import copy
import io
import json
import operator
import sys
import time
from pathlib import Path

program, folder, limit = Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3])
# Its definitions, without the loop over its own arguments.
definitions = program.read_text().split("\nfor nb in map(")[0]
space = {}
exec(compile(definitions, str(program), "exec"), space)  # noqa: S102
torch, make_fx, minifier = space["torch"], space["make_fx"], space["minifier"]
aten = torch.ops.aten

# What the predicates of PROGRAM look for, as --check-ops says it, and the fewest calls that hold it.
TRANSFORMER = [("k1", "aten.sin", 1), ("k2_any", "aten.sin, aten.cos", 2),
               ("k2_path", "aten.sin -> aten.cos", 2), ("k3_any", "aten.sin, aten.cos, gelu", 3)]


def n_calls(graph):
    """A part of a call's results is none, as symtape counts."""
    return sum(n.op == "call_function" and n.target is not operator.getitem
               for n in graph.graph.nodes)


class CutShort(BaseException):
    """Not an Exception, so that the minifier lets it through."""


def holds(graph, what):
    """As minify/oracle/oracle_ops.c: every chain is there, each call of it reached by the one before."""
    def chain_holds(chain):
        before = None
        for part in (p.strip() for p in chain.split("->")):
            now, reached = set(), set(before or ())
            for node in graph.graph.nodes:
                from_before = any(i in reached for i in node.all_input_nodes)
                if (node.op == "call_function" and part in f"torch.ops.{node.target}"
                        and (before is None or from_before)):
                    now.add(node)
                if from_before:
                    reached.add(node)
            before = now
        return bool(before)
    return all(chain_holds(chain) for chain in what.split(","))


def transformer(blocks):
    model = space["Net"](blocks)
    params = dict(model.named_parameters())

    def call(x, *values):
        return torch.func.functional_call(model, dict(zip(params, values)), (x,))

    inputs = [torch.randn(2, 3, space["D"])] + [p.detach() for p in params.values()]
    return make_fx(call)(*inputs), inputs


def two_views(x, y):
    return aten.mul(aten.view(x, [4, 48]), aten.view(y, [4, 48]))


def div_flatten(x, y):
    flat = aten.view(aten.div(x, 2.0), [24, 8])
    return aten.sub(aten.sub(aten.mm(flat, y[0, :, :].t() @ y[0]), flat), flat)


def chunk_stack(x, _):
    a, b = aten.split(x, 4, 2)
    stacked = aten.view(aten.stack([aten.squeeze(a), b]), [2, 4, 24])
    return aten.mul(stacked, stacked)


def group_norm(x, _):
    normed = aten.native_group_norm(x, None, None, 4, 6, 8, 1, 1e-5)[0]
    swapped = aten.transpose(aten.gelu(normed), 1, 2)
    return aten.native_layer_norm(aten.mul(swapped, swapped), [6], None, None, 1e-5)[0]


def matmul_tree(x, _):
    places = aten._to_copy(aten.nonzero(x), dtype=torch.float32)
    return aten.mm(places, aten.mm(aten.t(places), places))


def far_apart(x, _):
    return aten.sin(x)


# Numbers are those of reference/minify.md, section 4.2; set cores are a call here and a cos later.
CORES = [
    ("1 guard_equals", two_views, "aten.view -> aten.mul", 2),
    ("5 adaptive_pool", lambda x, _: aten._adaptive_avg_pool2d(aten.unsqueeze(x, 1), [2, 2]),
     "aten._adaptive_avg_pool2d", 1),
    ("14 expected_var_ranges", div_flatten,
     "aten.div -> aten.view -> aten.mm -> aten.sub -> aten.sub", 5),
    ("15 len_stride", chunk_stack,
     "aten.split -> aten.squeeze -> aten.stack -> aten.view -> aten.mul", 5),
    ("16 cant_split", group_norm, "aten.native_group_norm -> aten.gelu -> aten.transpose -> "
     "aten.mul -> aten.native_layer_norm", 5),
    ("18 size_of_nonzero", lambda x, _: aten.add(aten.nonzero(x), 1),
     "aten.nonzero -> aten.add", 2),
    ("20 matmul_tree", matmul_tree,
     "aten.nonzero -> aten._to_copy -> aten.t. -> aten.mm -> aten.mm", 5),
    ("25 symint_input", lambda x, y: aten.add(aten.full([8], 1.0), y), "aten.full -> aten.add", 2),
    ("26 relu", lambda x, _: aten.cos(aten.relu(aten.sin(x))), "aten.relu", 1),
    ("27 split", lambda x, _: aten.split_with_sizes(x, [1, 3])[1], "aten.split_with_sizes", 1),
    ("set of two", far_apart, "aten.sin, aten.tanh", 2),
    ("set of three", far_apart, "aten.sin, aten.tanh, aten.sigmoid", 3),
    ("path of two", far_apart, "aten.sin -> aten.tanh", 2),
]


def carrier(core, n, apart):
    """Residual blocks of three calls; the core at half of the depth, its far ends behind it."""
    def call(x, y):
        kept = None
        for i in range(n // 3):
            if i == n // 6:
                kept = core(x, y)
                x = kept if apart else x
            if apart and i == n // 4:
                x = aten.tanh(x)
            if apart and i == n * 7 // 24:
                x = aten.sigmoid(x)
            x = aten.add(x, aten.mul(aten.exp(x), x))
        return x, kept
    inputs = [torch.rand(4, 6, 8), torch.rand(4, 6, 8)]
    return make_fx(call)(*inputs), inputs


def ask(graph, inputs, what):
    asked, left, start = 0, n_calls(graph), time.monotonic()

    def fails(candidate, _):
        nonlocal asked, left
        if time.monotonic() - start > limit:
            raise CutShort
        asked += 1
        found = holds(candidate, what)
        if found:
            left = min(left, n_calls(candidate))
        return found

    done = True
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            minifier(copy.deepcopy(graph), inputs, fails, dump_state=lambda *a, **k: None,
                     save_dir=str(folder / "fx_minifier"))
        except CutShort:
            done = False
    return {"asked": asked, "left": left, "done": done,
            "ms": round((time.monotonic() - start) * 1e3, 1)}


def run(name, graph, inputs, cases):
    path = folder / f"{name}.fx"
    path.write_text(graph.print_readable(print_output=False, include_stride=True,
                                         include_device=True))
    for case, what, fewest in cases:
        row = {"graph": str(path), "case": case, "what": what, "fewest": fewest,
               "calls": n_calls(graph), "nodes": len(space["calls"](graph))}
        print(json.dumps({**row, **ask(graph, inputs, what)}), flush=True)


for argument in sys.argv[4:]:
    kind, size = argument.split(":")
    if kind == "transformer":
        run(f"transformer{size}", *transformer(int(size)), TRANSFORMER)
        continue
    for i, (name, core, what, fewest) in enumerate(CORES):
        run(f"core{i}_{size}", *carrier(core, int(size), core is far_apart),
            [(f"core {name}", what, fewest)])
