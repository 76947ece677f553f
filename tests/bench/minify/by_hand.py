"""Runs hand.py of the folder that argv names for a list of [case, program, predicate] on standard input,
each in a child process, so that torch is imported once. Prints an object a line: the calls at the start
and at the end (null: it did not run), the steps, whether eager PyTorch runs the program itself, and if so,
with which message it refuses what is left (null: it runs): fake tensors accept calls that kernels refuse."""
import contextlib
import io
import json
import os
import re
import runpy
import sys

import torch  # noqa: F401
import torch.fx  # noqa: F401
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: F401

sys.path.insert(0, sys.argv[1])
import pred  # noqa: E402

SECONDS = 60
plain = pred.test


def test(nodes, spec):
    """flow through any number of operators."""
    kind, ops = spec.split(":", 1)
    ops = ops.split(">")
    if kind != "flow" or len(ops) == 2:
        return plain(nodes, spec)
    reached = {}
    for name, target, uses, _ in nodes:
        at = max((reached.get(u, 0) for u in uses), default=0)
        reached[name] = at + (at < len(ops) and ops[at] in target)
        if reached[name] == len(ops):
            return True
    return False


def make_real(value):
    """A tensor on the CPU in place of a fake one; integers are 0, which most indices may be."""
    if not isinstance(value, torch.Tensor):
        return value
    real = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
    return real.uniform_() if value.dtype.is_floating_point else real.zero_()


def eager_error(module, inputs):
    try:
        with torch.no_grad():
            module(*[make_real(i) for i in inputs])
    except Exception as e:
        return str(e).splitlines()[0][:200] if str(e) else type(e).__name__
    return None


def eager_refusal(left):
    """Whether eager PyTorch runs the program of hand.py, whose globals are `left`, and with which message it
    refuses what is left of it."""
    if eager_error(left["gm"], left["inps"]):
        return False, None
    return True, eager_error(torch.fx.GraphModule(torch.nn.Module(), left["g"]), left["inps"])


def one(case, program, spec):
    import signal
    signal.alarm(SECONDS)
    sys.argv = ["hand.py", program, spec]
    out, eager, refusal = io.StringIO(), False, None
    try:
        with contextlib.redirect_stdout(out):
            eager, refusal = eager_refusal(runpy.run_path(os.path.join(FOLDER, "hand.py")))
    except BaseException as e:
        out.write(f"\nfailed: {e!r}")
    text = out.getvalue()
    last = re.search(r"^hand minimum \d+ (\[.*\])", text, re.M)
    calls = len(re.findall(r"'[^']*'", re.sub(r"'[^']*getitem[^']*'", "", last[1]))) if last else None
    start, end = re.search(r"^start (\d+)", text, re.M), re.search(r"^hand minimum (\d+)", text, re.M)
    ok = "runs on fake" in text
    print(json.dumps({"case": case, "start": int(start[1]) if start and ok else None,
                      "end": int(end[1]) if end and ok else None,
                      "calls": calls, "eager": eager, "refusal": refusal,
                      "steps": [l for l in text.splitlines() if ":=" in l or (not end and "failed" in l) or "NOT RUN" in l]}), flush=True)


FOLDER = sys.argv[1]
pred.test = test
for row in json.load(sys.stdin):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        one(*row)
        os._exit(0)
    os.waitpid(child, 0)
