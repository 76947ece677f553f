#!/usr/bin/env python3
"""Repros of recorded graphs under the installed PyTorch: each must run, and must give the sizes
that were recorded.

    repro_torch.py [--all] [--sample N] [--seed N] [--max-calls N] [--seconds S] [-v] REPRO_TOOL [SELECTOR...]

For graphs of ../shared (a sample, which changes every month, of the largest of each log and each
export, or --all) the tool prints repro.py on the CPU; it is run in a process forked from one that has imported torch. Runs: f(*inputs) as it is,
then torch.compile(f, fullgraph=True) with the dimensions marked as they were, whose outputs' dtypes
and sizes are held to the record, up to the names of symbols. SYMTAPE_PYTHON names an interpreter with
PyTorch (default: this one).
"""

import argparse
import datetime
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

SKIP = 77

PYTHON = os.environ.pop("SYMTAPE_PYTHON", None)
if PYTHON:
    os.execvp(PYTHON, [PYTHON, *sys.argv])


def shared():
    return os.environ.get("SYMTAPE_SHARED") or os.path.join(
        os.environ.get("SYMTAPE_ROOT", "."), "..", "shared")


def recordings(folder):
    for below in ("traces", "failures", "variety", "exports"):
        path = os.path.join(folder, below)
        for name in sorted(os.listdir(path)):
            if name.endswith((".log.zst", ".pt2")):
                yield os.path.join(path, name)


def sample(tool, path, everything, max_calls):
    """Graphs to try: one of each kind, the largest below the limit."""
    rows = []
    listing = subprocess.run([tool, "--list", path], capture_output=True, text=True).stdout
    for line in listing.splitlines():
        calls, kind, _, name = line.split(" ", 3)
        if 0 < int(calls) <= max_calls:
            rows.append((kind, int(calls), path + ("" if name.startswith(":") else ":") + name))
    if everything:
        return [row[2] for row in rows]
    best = {}
    for row in rows:
        if row[0] not in ("joint", "any") and row > best.get(row[0], ("", 0, "")):
            best[row[0]] = row
    return [row[2] for row in best.values()]


SHORT = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "b8": "bool",
         "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8",
         "c64": "complex64", "c128": "complex128"}


def split_list(text):
    depth, part, parts = 0, "", []
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + ([part.strip()] if part.strip() else [])


def parse_meta(text):
    """"f32[s77, 64][64, 1]cpu" gives (float32, [sizes]); None of what is no tensor."""
    m = re.match(r'^(?:\w+\()?([a-z]+\d+\w*)\[(.*?)\](?:\[|$|c|\))', text or "")
    if not m or m.group(1) not in SHORT:
        return None
    depth, start = 0, text.index("[")
    for i in range(start, len(text)):
        depth += (text[i] == "[") - (text[i] == "]")
        if depth == 0:
            return SHORT[m.group(1)], split_list(text[start + 1:i])
    return None


class Unknown(Exception):
    pass


def value_of(expr, hints):
    names = {"Max": max, "Min": min, "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b,
             "FloorDiv": lambda a, b: a // b, "CeilDiv": lambda a, b: -(-a // b),
             "CeilToInt": lambda a: -int(-a // 1), "FloorToInt": lambda a: int(a // 1),
             "TruncToInt": int, "ToFloat": float, "IntTrueDiv": lambda a, b: a / b}
    try:
        return eval(expr, {"__builtins__": {}}, {**names, **hints})
    except Exception as error:
        raise Unknown(expr) from error


def traced_outputs(torch, f, inputs):
    """[(dtype, sizes)], sizes as numbers under the hints and as "symbolic or not"."""
    found = []

    class Stop(Exception):
        pass

    def backend(graph, example_inputs):
        for node in reversed(graph.graph.nodes):
            if node.op == "output":
                found.extend(v.meta.get("example_value") if isinstance(v, torch.fx.Node) else v
                             for v in node.args[0])
        return graph.forward

    torch._dynamo.reset()
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch.compile(f, backend=backend, fullgraph=True)(*inputs)
    return found


def check_outputs(torch, found, recorded, hints):
    tensors = [v for v in found if isinstance(v, torch.Tensor)]
    wanted = [m for m in map(parse_meta, recorded) if m]
    if len(tensors) != len(wanted):
        return None  # Dynamo dropped equal or constant outputs: nothing to hold them to
    for tensor, (dtype, sizes) in zip(tensors, wanted):
        if str(tensor.dtype) != "torch." + dtype:
            return f"dtype {tensor.dtype}, recorded {dtype}"
        if tensor.dim() != len(sizes):
            return f"{tuple(tensor.shape)}, recorded {sizes}"
        for got, want in zip(tensor.shape, sizes):
            symbolic = not isinstance(got, int)
            recorded_symbolic = bool(re.search(r"\b[su]\d+\b", want))
            if re.search(r"\bu\d+\b", want):
                continue  # decided by data
            number = got.node.hint if symbolic else got
            if number is None:
                continue
            try:
                expected = value_of(want, hints)
            except Unknown:
                continue
            if number != expected:
                return f"{tuple(tensor.shape)}, recorded {sizes} with {hints}"
            # The other way round is the graph's own doing: its calls make a number of a symbol.
            if symbolic and not recorded_symbolic:
                return f"{tuple(tensor.shape)} in symbols, recorded {sizes}"
    return ""


def try_one(torch, source, metas):
    """In a child: "ok", "same" with sizes compared, or what went wrong."""
    scope = {"__name__": "repro"}
    try:
        exec(compile(source, "repro.py", "exec"), scope)
    except SystemExit as end:
        return f"exit {end.code} before f"
    f, inputs = scope["f"], scope["inputs"]
    try:
        found = traced_outputs(torch, f, inputs)
    except Exception as error:
        cause = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        text = f"{type(cause).__name__}: {str(cause).strip()[:300]}"
        if "from the 'CPU' backend" in text or "Runtime assertion failed" in text:
            return "here"  # a kernel of CUDA only; data that cannot be told from sizes
        if "specialized it to be a constant" in text:
            return "same"  # a size that was marked becomes a number: that failure, again
        return text
    wrong = check_outputs(torch, found, metas["outputs"], metas["hints"])
    return "ok" if wrong is None else wrong or "same"


def forked(work, seconds):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, answer.encode()[:4000])
        os._exit(0)
    os.close(write)
    end = time.monotonic() + seconds
    answer = b""
    import select
    while True:
        if not select.select([read], [], [], max(0, end - time.monotonic()))[0]:
            os.kill(pid, signal.SIGKILL)
            answer = b"timeout"
            break
        part = os.read(read, 4096)
        if not part:
            break
        answer += part
    os.close(read)
    os.waitpid(pid, 0)
    return answer.decode() or "died"


def main():
    parser = argparse.ArgumentParser()
    today = datetime.date.today()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=24)
    parser.add_argument("--seed", type=int, default=today.year * 100 + today.month)
    parser.add_argument("--max-calls", type=int, default=250)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--expect", type=float, default=0)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("tool")
    parser.add_argument("selectors", nargs="*")
    args = parser.parse_args()
    try:
        import torch
        import torch._dynamo
        import torch._inductor.fx_passes  # noqa: F401  imported once, before the forks
    except ImportError:
        print("skipped: no PyTorch")
        return SKIP
    torch.set_num_threads(1)
    if not args.selectors and not os.path.isdir(os.path.join(shared(), "traces")):
        print("skipped: no ../shared")
        return SKIP
    selectors = args.selectors or [s for path in recordings(shared())
                                   for s in sample(args.tool, path, args.all, args.max_calls)]
    if not args.selectors and not args.all and len(selectors) > args.sample:
        selectors = sorted(random.Random(args.seed).sample(selectors, args.sample))
        print(f"a sample of {args.sample}, seed {args.seed}")
    counts, failures = dict.fromkeys(("same", "ok", "here", "cannot", "wrong"), 0), []
    for selector in selectors:
        command = [args.tool, "--cpu", "--check", "nothing", selector]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            counts["cannot"] += 1
            print(f"cannot   {selector}: {run.stderr.strip()}")
            continue
        metas = json.loads(subprocess.run(command[:1] + ["--metas"] + command[1:],
                                          capture_output=True, text=True).stdout)
        answer = forked(lambda: try_one(torch, run.stdout, metas), args.seconds)
        kind = answer if answer in ("same", "ok", "here") else "wrong"
        counts[kind] += 1
        if kind == "wrong":
            failures.append(selector)
        if kind == "wrong" or args.v:
            print(f"{kind:8} {selector}: {answer}", flush=True)
    tried = counts["same"] + counts["ok"] + counts["wrong"]
    print(f"{len(selectors)} graphs: {counts['same']} with the recorded sizes, {counts['ok']} run, "
          f"{counts['here']} not on this data or device, {counts['wrong']} wrong, "
          f"{counts['cannot']} cannot be printed")
    good = 100.0 * (tried - counts["wrong"]) / max(tried, 1)
    return 0 if good >= args.expect else 1


if __name__ == "__main__":
    sys.exit(main())
