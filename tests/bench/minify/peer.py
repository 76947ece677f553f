#!/usr/bin/env python3
"""PyTorch's own minifier on graphs of known culprits; needs torch.

usage: peer.py PROGRAM FOLDER BLOCKS...

PROGRAM is ../shared/programs/peer_minifier.py, whose model and predicates are used. For each number
of blocks the graph is written to FOLDER/BLOCKS.fx, and a line of JSON a predicate tells how many
questions torch._functorch.fx_minifier asked and how many calls it left. A predicate that takes it
longer than two minutes is the last."""
import contextlib
import copy
import io
import json
import sys
import time
from pathlib import Path

program, folder = Path(sys.argv[1]), Path(sys.argv[2])
# Its definitions, without the loop over its own arguments.
definitions = program.read_text().split("\nfor nb in map(")[0]
space = {}
exec(compile(definitions, str(program), "exec"), space)  # noqa: S102
torch, make_fx, minifier = space["torch"], space["make_fx"], space["minifier"]


def graph_of(blocks):
    model = space["Net"](blocks)
    params = dict(model.named_parameters())

    def call(x, *values):
        return torch.func.functional_call(model, dict(zip(params, values)), (x,))

    inputs = [torch.randn(2, 3, space["D"])] + [p.detach() for p in params.values()]
    return make_fx(call)(*inputs), inputs


def ask(graph, inputs, predicate):
    asked, left = 0, len(space["calls"](graph))

    def fails(candidate, _):
        nonlocal asked, left
        asked += 1
        holds = bool(predicate(candidate))
        if holds:
            left = min(left, len(space["calls"](candidate)))
        return holds

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        minifier(copy.deepcopy(graph), inputs, fails, dump_state=lambda *a, **k: None,
                 save_dir=str(folder / "fx_minifier"))
    return asked, left


for blocks in map(int, sys.argv[3:]):
    graph, inputs = graph_of(blocks)
    text = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    (folder / f"{blocks}.fx").write_text(text)
    for name, predicate in space["PREDS"].items():
        start = time.monotonic()
        asked, left = ask(graph, inputs, predicate)
        seconds = time.monotonic() - start
        print(json.dumps({"blocks": blocks, "case": name, "calls": len(space["calls"](graph)),
                          "asked": asked, "left": left, "ms": round(seconds * 1e3, 1)}), flush=True)
        if seconds > 120:
            break
