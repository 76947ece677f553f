#!/usr/bin/env python3
"""symtape opcheck with the installed PyTorch: a program with custom operators is recorded, and opcheck
finds in each of them what is wrong with it, by the check that is made for it, and nothing else.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with
77, "skipped" to meson, when that one has no torch.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cases

PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")

LIBRARY = '''
import os, time, torch
from torch import Tensor
op = torch.library.custom_op

@op("mylib::good", mutates_args=())
def good(x: Tensor) -> tuple[Tensor, Tensor]:
    m = x.mean(-1, keepdim=True)
    return x - m, m
@good.register_fake
def _(x):
    return torch.empty_like(x), x.new_empty(x.shape[:-1] + (1,))

@op("mylib::blur", mutates_args=())
def blur(x: Tensor, width: int) -> Tensor:
    return x.unfold(1, width, 1).mean(-1)
@blur.register_fake
def _(x, width):
    return x.new_empty(x.shape[0], x.shape[1] - width)       # one column is missing

@op("mylib::halves", mutates_args=())
def halves(x: Tensor) -> Tensor:
    return x[::2].clone(memory_format=torch.contiguous_format)
@halves.register_fake
def _(x):
    return x.new_empty(x.shape[0] // 2, x.shape[1])          # wrong for odd sizes

@op("mylib::plain", mutates_args=())
def plain(x: Tensor) -> Tensor:
    return x.contiguous().clone()
@plain.register_fake
def _(x):
    return torch.empty_like(x)                               # keeps strides

@op("mylib::touch", mutates_args=())
def touch(x: Tensor) -> Tensor:
    x.mul_(2)                                                # is not in the schema
    return x + 1
@touch.register_fake
def _(x):
    return torch.empty_like(x)

@op("mylib::fill", mutates_args=("x",))
def fill(x: Tensor, value: float) -> None:
    x.fill_(value)
@fill.register_fake
def _(x, value):
    pass

@op("mylib::dies", mutates_args=())
def dies(x: Tensor) -> Tensor:
    if os.environ.get("MYLIB_DIES"):
        os.abort()
    return x.clone()
@dies.register_fake
def _(x):
    return torch.empty_like(x, dtype=torch.float64 if os.environ.get("MYLIB_DTYPE") else x.dtype)

@op("mylib::hangs", mutates_args=())
def hangs(x: Tensor) -> Tensor:
    if os.environ.get("MYLIB_DIES"):
        time.sleep(600)
    return x.clone()
@hangs.register_fake
def _(x):
    return torch.empty_like(x)

@op("mylib::rows", mutates_args=())
def rows(x: Tensor) -> Tensor:
    return x[x[:, 0] > 0].clone()
@rows.register_fake
def _(x):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size(), x.shape[1])
'''

PROGRAM = '''
import sys, torch, mylib
torch._dynamo.config.capture_dynamic_output_shape_ops = True
lib = torch.ops.mylib
def f(x):
    y, m = lib.good(x)
    lib.fill(m, 0.5)
    z = lib.touch(y * 2)
    return lib.blur(z, 3).sum() + m.sum() + lib.halves(x).sum() + lib.plain(x).sum() + lib.dies(x) + lib.hangs(x), lib.rows(x)
torch.compile(f, backend="aot_eager", dynamic=sys.argv[1] == "dynamic")(torch.rand(6, 16))
'''

# The checks that fail, by operator.
FAIL = {"blur": {"fake", "sizes", "strides"}, "halves": {"sizes"}, "plain": {"strides"}, "touch": {"schema"}}
OPERATORS = ("good", "blur", "halves", "plain", "touch", "fill", "dies", "hangs", "rows")


def record(folder, how):
    done = cases.run(["record", "-q", "-o", f"{how}.tape", "--", PYTHON, "run.py", how], timeout=600, cwd=folder)
    return [] if done.code == 0 else [done.told()]


def opcheck(folder, args, env=None):
    """The document, and the run."""
    env = {"SYMTAPE_PYTHON": PYTHON, **(env or {})}
    done = cases.run(["opcheck", "--json", *args], timeout=600, cwd=folder, env=env)
    try:
        return json.loads(done.out), done
    except ValueError:
        return None, done


def failures(document):
    """{operator: its checks that fail}."""
    found = {}
    for op in document["operators"]:
        name = op["op"].split(".")[1]
        found.setdefault(name, set()).update(c["check"] for c in op["checks"] if c["verdict"] == "fail")
    return {name: checks for name, checks in found.items() if checks}


def problems(document, done, expected, code):
    if document is None:
        return [done.told()]
    ret = [] if done.code == code else [f"exit {done.code}"]
    found = failures(document)
    return ret + [f"{name} fails {sorted(found.get(name, ()))}, not {sorted(expected.get(name, ()))}"
                  for name in sorted({*found, *expected}) if found.get(name) != expected.get(name)]


def all_checked(document):
    """Each custom operator was run by PyTorch."""
    names = {op["op"].split(".")[1] for op in document["operators"]
             for c in op["checks"] if c["check"] == "fake" and c["passed"] + c["failed"]}
    return [f"{name} was not run" for name in OPERATORS if name not in names]


def blur_is_explained(document):
    failure = next(c["failure"] for op in document["operators"] if op["op"] == "mylib.blur.default"
                   for c in op["checks"] if c["check"] == "fake")
    expected = {"expected": "f32[6, 14][14, 1]cpu", "got": "f32[6, 13][13, 1]cpu", "why": "size"}
    return [f"{name}: {failure[name]}" for name, text in expected.items() if failure[name] != text] + (
        [] if failure["place"]["file"].endswith("run.py") and "lib.blur" in failure["place"]["code"]
        else [str(failure["place"])])


def check(told, folder):
    for how in ("dynamic", "static"):
        told.check(f"record, {how}", record(folder, how))
        document, done = opcheck(folder, [f"{how}.tape", "--op", "mylib", "--import", "mylib"])
        told.check(f"what is wrong is found, {how}", problems(document, done, FAIL, 1))
        told.check(f"each operator is run, {how}", all_checked(document) if document else [done.told()])
    told.check("a failure is explained", blur_is_explained(opcheck(
        folder, ["dynamic.tape", "--op", "mylib::blur", "--import", "mylib.py"])[0]))

    made = cases.run(["opcheck", "dynamic.tape", "--op", "mylib", "--generate", "cases.jsonl"], cwd=folder)
    document, done = opcheck(folder, ["--cases", "cases.jsonl", "--import", "mylib", "--allow", "mylib"])
    told.check("cases of a file", [made.told()] if made.code else problems(document, done, FAIL, 1))

    args = ["dynamic.tape", "--op", "mylib", "--import", "mylib", "--xfail", "xfail.json"]
    updated = opcheck(folder, [*args, "--update"])[1]
    document, done = opcheck(folder, args)
    told.check("failures that are expected", [updated.told()] if updated.code else problems(document, done, {}, 0))

    document, done = opcheck(folder, ["dynamic.tape", "--import", "mylib"])
    told.check("a foreign namespace is not run unless it is named",
               problems(document, done, {}, 0) + ([] if b"--allow mylib" in done.err else ["no note"]) +
               ([] if len(all_checked(document)) == len(OPERATORS) else ["an operator was run"]))

    document, done = opcheck(folder, ["dynamic.tape", "--op", "mylib::dies,mylib::hangs,mylib::good", "--import",
                                      "mylib", "--timeout", "8"], {"MYLIB_DIES": "1"})
    died = {"dies": {"fake"}, "hangs": {"fake"}}
    told.check("a kernel that ends the process or hangs fails alone", problems(document, done, died, 1))

    document, done = opcheck(folder, ["dynamic.tape", "--op", "mylib::dies", "--import", "mylib"],
                             {"MYLIB_DTYPE": "1"})
    told.check("a fake kernel that was changed since the recording",
               problems(document, done, {"dies": {"fake", "recorded", "sizes", "strides"}}, 1))

    document, done = opcheck(folder, ["dynamic.tape", "--op", "aten.sum,aten.mul", "--import", "mylib"])
    ran = document and all(c["passed"] and not c["failed"] for op in document["operators"] for c in op["checks"]
                           if c["check"] in ("rule", "fake", "recorded", "schema", "sizes"))
    told.check("PyTorch's own operators where they are named", [] if ran else [done.told()])

    document, done = opcheck(folder, ["dynamic.tape", "--op", "mylib", "--import", "nothing_of_this_name"])
    told.check("a module that is not there", [] if done.code == 4 and b"nothing_of_this_name" in done.err
               else [done.told()])


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print(f"skip - opcheck: {PYTHON} has no torch")
        sys.exit(77)
    told = cases.Cases()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mylib.py").write_text(LIBRARY)
        Path(folder, "run.py").write_text(PROGRAM)
        check(told, folder)
    told.finish()


main()
