#!/usr/bin/env python3
"""Models of other packages, exported by the live PyTorch and computed by the CPU backend.

usage: exports_torch.py [--draw N | NAME...] SYMTAPE

Exports models of models.py in eval, as traced and with core decompositions, with dynamic sizes where the model permits it, and has `symtape
run` compute both at three sizes, beside what the model returns. Without names, N of them are drawn, others every month, from those
whose package is installed. A size that the export made a constant is not run. Each line says what differs; a difference, or a program that
the backend cannot compute, fails the test. Exits with 77 where Python has no torch or none of the packages.
"""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verdict import month_seed  # noqa: E402

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models.py")
SIZES = 3
# What is known to differ, and why. It is run and printed, and not counted.
KNOWN = {
    "mixtral": "transformers.grouped_mm_fallback is an operator of that package, and no rules are given",
}


def write_safetensors(path, tensors):
    """Writes contiguous tensors of the types that models take and return."""
    types = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "bool": "BOOL", "float16": "F16"}
    header, data, at = {}, [], 0
    for name, tensor in tensors.items():
        raw = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": types[str(tensor.dtype).removeprefix("torch.")], "shape": list(tensor.shape), "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def export(folder, name):
    """Writes NAME.pt2, NAME.core.pt2 and, for each size, NAME.I.safetensors; runs under $SYMTAPE_PYTHON."""
    import torch
    from torch.utils import _pytree
    from models import make, packages
    packages([name + ".eval"])
    torch.manual_seed(0)
    model, arguments = make(name)
    model.eval()

    def tensors(value):
        value = value.to_tuple() if hasattr(value, "to_tuple") else value
        return [leaf for leaf in _pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]

    def dims(value):
        return {d: torch.export.Dim.AUTO for d in range(value.dim())} if isinstance(value, torch.Tensor) else None

    args, kwargs = arguments(0)
    shapes = {key: dims(value) for key, value in kwargs.items()} if kwargs else tuple(map(dims, args))
    with torch.no_grad():
        program = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, f"{folder}/{name}.pt2")
        torch.export.save(program.run_decompositions(), f"{folder}/{name}.core.pt2")
        for i in range(SIZES):
            args, kwargs = arguments(i)
            inputs = {f"in.{k}": x.clone() for k, x in enumerate(tensors((args, kwargs)))}
            outputs = {f"out.{k}": x for k, x in enumerate(tensors(model(*args, **kwargs)))}
            write_safetensors(f"{folder}/{name}.{i}.safetensors", inputs | outputs)


def check(symtape, folder, name, python):
    """Returns whether everything agrees, or None where PyTorch exported nothing."""
    child = subprocess.run([python, __file__, "--export", folder, name], env=os.environ | {"HF_HUB_OFFLINE": "1"}, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if child.returncode:
        print(f"{name}: nothing was exported: {(child.stderr.splitlines() or [''])[-1][:120]}", flush=True)
        return None
    agree, constant, wrong = 0, 0, []
    for program in name, name + ".core":
        for i in range(SIZES):
            values = f"{folder}/{name}.{i}.safetensors"
            run = subprocess.run([symtape, "run", f"{folder}/{program}.pt2", "--inputs", values, "--compare-with", values], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode == 0:
                agree += 1
            elif i and "recorded as the constant" in run.stdout:
                constant += 1
            else:
                wrong.append(f"    {program} at size {i}: {' '.join(run.stdout.split())[:300]}")
    print(f"{name}: {agree} agree, {len(wrong)} do not, {constant} of sizes that are constants", *wrong, sep="\n", flush=True)
    if wrong and name in KNOWN:
        print(f"    known: {KNOWN[name]}")
        return None
    return not wrong


def main():
    if sys.argv[1:2] == ["--export"]:
        return export(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", type=int, default=4)
    parser.add_argument("names", nargs="*")
    parser.add_argument("symtape")
    options = parser.parse_args()
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        return 77
    listed = subprocess.run([python, MODELS, "--list"], text=True, stdout=subprocess.PIPE).stdout.split()
    names = options.names or [name.removesuffix(".eval") for name in listed if name.endswith(".eval")]
    if not names:
        return 77
    if not options.names:
        names = random.Random(month_seed()).sample(names, min(options.draw, len(names)))
    with tempfile.TemporaryDirectory() as folder:
        same = [check(options.symtape, folder, name, python) for name in names]
    print(f"{same.count(True)} of {len(same) - same.count(None)} exports agree")
    return 1 if False in same or True not in same else 0


if __name__ == "__main__":
    sys.exit(main())
