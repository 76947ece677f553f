"""What symtape tells peers.py: graphs, sizes at which they run, programs of them, values."""
import json
import re
import struct
import subprocess
import sys

KINDS = {"aot_forward_graph": "forward", "aot_backward_graph": "backward", "aot_inference_graph": "inference"}


def call(options, *words, timeout=None):
    run = subprocess.run([options.symtape, *map(str, words)], capture_output=True, text=True,
                         timeout=timeout or options.graph_seconds)
    return run.returncode, run.stdout, run.stderr


def graphs_of(options, tape):
    """Selectors of the last attempt's graphs of each compile."""
    name, _, part = tape.partition(":")
    code, text, error = call(options, "show", name, "--graphs", "--json")
    if code != 0:
        sys.exit(f"{tape}: {error}")
    last = {}
    for graph in json.loads(text)["graphs"]:
        if graph["kind"] in KINDS:
            place = f"{graph['compile']}_{graph['attempt']}"
            last[graph["compile"], graph["kind"]] = f"{place}:{graph['kind']}"
    return [(tape, part)] if part.count(":") else \
        [(f"{name}:{selector}", selector) for (compiled, _), selector in last.items() if part in ("", compiled)]


def sizes_of(options, selector, setting):
    """The symbols' values where these are set; None: guards do not allow them."""
    words = ["--sizes", ",".join(f"{k}={v}" for k, v in setting.items())] if setting else []
    code, text, _ = call(options, "run", "--backend", "null", "--json", selector, *words)
    graphs = json.loads(text)["graphs"] if text else []
    if code != 0 or not graphs or graphs[0].get("error"):
        return None
    return graphs[0]["sizes"]


def choose_sizes(options, selector, backward):
    """As recorded; twice the first symbol that may be; then all that may be a little more, which are odd numbers often."""
    recorded = sizes_of(options, selector, {})
    if recorded is None:
        return []
    free = [s for s in recorded if not s.startswith("u")]

    def wanted(change, most):
        setting = {}
        for symbol in free:
            if len(setting) < most and sizes_of(options, selector, {**setting, symbol: change(recorded[symbol])}):
                setting[symbol] = change(recorded[symbol])
        return setting

    changes = [(lambda n: 2 * n, 1), (lambda n: n + 3, len(free)), (lambda n: 2 * n, len(free)), (lambda n: n // 2 + 1, len(free))]
    chosen = [recorded]
    for change, most in changes:
        at = sizes_of(options, selector, wanted(change, most)) if len(chosen) < options.sizes else None
        if at and at not in chosen:
            chosen.append(at)
    # What data decide is theirs to decide, unless it comes in as a size.
    return [{s: n for s, n in at.items() if backward or s in free} for at in chosen]


def program_of(options, selector, at):
    at, words = dict(at), ["--cpu"] if options.device == "cpu" else []
    while True:
        code, text, error = call(options, "export", "--python", *words, *(["--set", spelled(at)] if at else []), selector)
        unused = re.search(r"the graph has no symbol (\w+)", error)
        if not unused:
            break
        del at[unused[1]]  # one of the compile that this graph does without
    if code != 0 or error:
        raise RuntimeError(error.strip())
    if options.device == "cpu":
        return text
    from peers_cpu_calls import on_cuda  # which imports PyTorch
    return on_cuda(text)


def spelled(at):
    return ",".join(f"{s}={n}" for s, n in at.items())


def read_safetensors(path):
    import torch
    dtypes = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
              "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
              "BOOL": torch.bool, "C64": torch.complex64}
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = bytearray(file.read())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        dtype = dtypes[entry["dtype"]]
        flat = torch.frombuffer(body, dtype=dtype, offset=first, count=(end - first) // dtype.itemsize) \
            if end > first and first % dtype.itemsize == 0 else \
            torch.frombuffer(bytearray(body[first:end]), dtype=dtype) if end > first else torch.empty(0, dtype=dtype)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors
