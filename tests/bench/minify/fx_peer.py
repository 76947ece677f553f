"""torch._functorch.fx_minifier on a program that symtape export --python printed, on the CPU.

usage: fx_peer.py PRED_FOLDER PROGRAM.py PREDICATE SECONDS

Prints an object: the questions, the calls left, the seconds, and whether it ended in time."""
import contextlib
import copy
import io
import json
import operator
import re
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.fx
from torch._functorch.fx_minifier import minifier

sys.path.insert(0, sys.argv[1])
import pred  # noqa: E402

SPEC, SECONDS = sys.argv[3], float(sys.argv[4])


class CutShort(BaseException):
    """Not an Exception, so that the minifier lets it through."""


def load(path):
    """The graph, and inputs on the CPU, as ../shared/minify/hand.py does it."""
    text = Path(path).read_text().replace('device="cuda"', 'device="cpu"').replace("device='cuda'", "device='cpu'")
    text = re.sub(r"if not torch\.cuda\.is_available\(\):\n +sys\.exit\(125\)\n", "", text)
    head, _, rest = text.partition("\ndef f(")
    lines = ("def f(" + rest).split("\n")
    end = next((i for i, line in enumerate(lines) if i and line and not line[0].isspace()), len(lines))
    space, function = {}, {"torch": torch}
    exec(head, space)  # noqa: S102
    exec("\n".join(line for line in lines[:end] if not line.strip().startswith("torch._check(")),
         function)  # noqa: S102
    return space["inputs"], torch.fx.symbolic_trace(function["f"])


def nodes(graph):
    return [(n.name, "getitem" if n.target is operator.getitem else str(n.target),
             {i.name for i in n.all_input_nodes}, "") for n in graph.nodes if n.op == "call_function"]


def main():
    inputs, graph = load(sys.argv[2])
    began = time.monotonic()
    asked, left = 0, sum("getitem" not in n[1] for n in nodes(graph.graph))

    def fails(candidate, _):
        nonlocal asked, left
        if time.monotonic() - began > SECONDS:
            raise CutShort
        asked += 1
        found = nodes(candidate.graph)
        holds = pred.test(found, SPEC)
        if holds:
            left = min(left, sum("getitem" not in n[1] for n in found))
        return holds

    ended = True
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), \
            contextlib.redirect_stderr(io.StringIO()):
        try:
            minifier(copy.deepcopy(graph), inputs, fails, dump_state=lambda *a, **k: None, save_dir=folder)
        except CutShort:
            ended = False
    print(json.dumps({"asked": asked, "left": left, "seconds": time.monotonic() - began, "ended": ended}))


main()
