#!/usr/bin/env python3
"""symtape minify -- CMD and symtape minify TAPE with the live PyTorch: from a program that fails to a
program that shows it. A backend of the user's own, an operator that Inductor cannot lower because an
imported file says so, sizes that an operator refuses while Dynamo traces.

    pick_torch.py SYMTAPE            ($SYMTAPE_PYTHON names a Python with PyTorch)
"""
import json
import os
import subprocess
import sys
import tempfile

BACKEND = """import torch
def backend(gm, inputs):
    for n in gm.graph.nodes:
        if "cumsum" in str(n.target):
            raise RuntimeError("cannot lower a scan")
    return gm
def f(x, y):
    return torch.cos(torch.cumsum(torch.sin(torch.relu(x) + y), 0)).sum()
if __name__ == "__main__":
    torch.compile(f, backend=backend, dynamic=True)(torch.randn(6, 8), torch.randn(6, 8))
"""
PATCH = """import torch, torch._inductor.lowering as L
def bad(*args, **kwargs):
    raise NotImplementedError("no lowering of cumprod here")
L.lowerings[torch.ops.aten.cumprod.default] = bad
"""
LOWERING = """import torch, patch
def f(x):
    return torch.softmax(torch.cumprod(torch.relu(x) + 1, 1), -1).sum(1)
torch.compile(f, dynamic=True)(torch.randn(6, 8))
"""
# Of three graphs, the results of the second are wrong, and the program says so itself.
WRONG = """import torch, torch._inductor.lowering as L
L.lowerings[torch.ops.aten.sin.default] = L.lowerings[torch.ops.aten.cos.default]
"""
SEVERAL = """import torch, wrong
def f(x):
    a = torch.relu(x) + 1
    torch._dynamo.graph_break()
    b = a.sum(1).sin()
    torch._dynamo.graph_break()
    return b.cos()
x = torch.randn(6, 8)
assert torch.allclose(torch.compile(f, dynamic=True)(x), f(x))
"""
# Of three graphs, the results of the second are wrong for some values.
VALUES = """import torch
def backend(gm, inputs):
    if not any("cos" in str(n.target) for n in gm.graph.nodes):
        return gm
    return lambda *args: tuple(o + any(isinstance(a, torch.Tensor) and bool((%s).any()) for a in args)
                               for o in gm(*args))
def f(x):
    y = torch.sin(x) * 200
    torch._dynamo.graph_break()
    z = torch.cos(y) + y
    torch._dynamo.graph_break()
    return torch.relu(z)
if __name__ == "__main__":
    x = torch.arange(1., 13.).view(3, 4)
    assert torch.allclose(torch.compile(f, backend=backend, dynamic=True)(x), f(x))
"""
# Only the backward pass has the operator that Inductor cannot lower, or that is wrong.
BACKWARD = """import torch, torch._inductor.lowering as L
def bad(*args, **kwargs):
    raise NotImplementedError("no lowering of %s here")
for op in L.lowerings:
    if str(op) == "aten.cos.default":
        L.lowerings[op] = %s
"""
TRAIN = """import torch, backward
def f(x, y):
    return torch.softmax(torch.sin(torch.relu(x) * y) + y, -1).sum(0)
x, y = torch.randn(6, 8, requires_grad=True), torch.randn(6, 8)
def gradient(f):
    return torch.autograd.grad(f(x, y)[0], x)[0]
assert torch.allclose(gradient(torch.compile(f, dynamic=True)), gradient(f))
"""
# An operator's own backward is wrong, so that eager mode fails, too, with gradients.
OPERATOR = """import torch
@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x * w
scale.register_fake(lambda x, w: torch.empty_like(x))
scale.register_autograd(lambda ctx, g: (g, g @ torch.ones(3, 3)), setup_context=lambda ctx, inputs, output: None)
def f(x, w):
    return torch.tanh(scale(torch.sin(x) + 1, w)).mean()
if __name__ == "__main__":
    torch.compile(f, backend="aot_eager")(torch.randn(4, 8), torch.randn(8, requires_grad=True)).backward()
"""
# Nothing fails; an input that is written to requires gradients.
WRITE = """import torch
def f(x):
    return x.mul_(2).sin()
torch.compile(f, backend="aot_eager")(torch.randn(4, 8, requires_grad=True) * 2)
"""
# Branches on values: of torch.export(strict=True), of a compile, in a function that Dynamo inlines, and of torch.export.
BRANCH = """import torch
class Gate(torch.nn.Module):
    def forward(self, x):
        h = torch.relu(x)
        if h.mean() > 0.1:
            return h * 2
        return h - 1
torch.export.export(Gate(), (torch.randn(4, 8),), strict=True)
"""
INLINED = """import torch
def helper(z):
    big = z.mean() > 0
    w = z.exp()
    while big:
        w = w + 1
    return w
torch.compile(lambda x, y: helper((torch.sin(x) + y).view(-1)) * 2, dynamic=True, fullgraph=True)(torch.randn(6, 8), torch.randn(6, 8))
"""
NUMBER = """import torch
class M(torch.nn.Module):
    def forward(self, x, y):
        n = y.sum().item()
        return torch.sin(x) if n * 2 > 3 else x
torch.export.export(M(), (torch.randn(6, 8), torch.ones(3, dtype=torch.int64)), dynamic_shapes=({0: torch.export.Dim("d")}, None))
"""
# A size of an input in the condition, of which PyTorch's error has the hint; and a fake kernel that asks what the program only has.
MIXED = NUMBER.replace("n * 2 > 3", "n > x.shape[0]")
KERNEL = """import torch
@torch.library.custom_op("mine::pick", mutates_args=())
def pick(x: torch.Tensor) -> torch.Tensor:
    return x.clone()
@pick.register_fake
def _(x):
    return x.new_empty(1) if x.shape[0] == 3 else x.new_empty(2)
class M(torch.nn.Module):
    def forward(self, x, y):
        n = y.sum().item()
        torch._check(n >= 0)
        k = torch.sym_ite(n == 3, 1, 2)
        return pick(torch.zeros(n)), x + k
torch.export.export(M(), (torch.randn(6, 8), torch.ones(3, dtype=torch.int64)))
"""
# A symbolic size becomes a number.
CONSTRAINT = """import torch
class M(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + torch.ones(4, 8)
torch.export.export(M(), (torch.randn(4, 8),), dynamic_shapes={"x": {0: torch.export.Dim("d")}}, strict=True)
"""
# A guard that the code asks for excludes sizes that the program's Dim or mark has.
RANGE = """import torch
class M(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        return torch.sin(y) if x.shape[0] < 50 else y
torch.export.export(M(), (torch.randn(4, 8),), dynamic_shapes={"x": {0: torch.export.Dim("d", max=100)}}, strict=True)
"""
MARK = """import torch
def f(x):
    y = torch.relu(x)
    return torch.sin(y) if x.shape[0] < 50 else y
x = torch.randn(6, 8)
torch._dynamo.mark_dynamic(x, 0, min=3, max=100)
torch.compile(f, backend="aot_eager")(x)
"""
# The same range, which the failure does not need.
UNMARKED = MARK.replace("torch.sin(y) if x.shape[0] < 50 else y", "torch.sin(y).view(-1, 7)")
SIZES = """import torch
def f(x, w):
    return torch.cos(torch.sin(x).view(-1, 4) @ w).sum()
torch.compile(f, backend="aot_eager", dynamic=True)(torch.randn(6, 8), torch.randn(5, 7))
"""


def main():
    symtape = os.path.abspath(sys.argv[1])
    python = os.environ.get("SYMTAPE_PYTHON") or "python3"
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
        print("skipped: no Python with PyTorch")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # Inductor's caches do not know of changed lowerings: a run before would answer.
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")
        for name, text in (("own", BACKEND), ("patch", PATCH), ("lowering", LOWERING), ("sizes", SIZES), ("operator_of_mine", OPERATOR), ("write", WRITE), ("branch", BRANCH),
                           ("inlined", INLINED), ("number", NUMBER), ("mixed", MIXED), ("kernel", KERNEL),
                           ("constraint", CONSTRAINT), ("range", RANGE), ("mark", MARK), ("unmarked", UNMARKED),
                           ("wrong", WRONG), ("several", SEVERAL), ("train", TRAIN),
                           ("large", VALUES % "a.abs() > 100"), ("values", VALUES % "a == torch.sin(torch.tensor(3.)) * 200"),
                           ("backward", BACKWARD % ("cos", "bad"))):
            with open(name + ".py", "w", encoding="utf-8") as out:
                out.write(text)

        def minify(*args, code=0, **how):
            run = subprocess.run([symtape, "minify", *args], capture_output=True, text=True, **how)
            assert run.returncode == code, run.stderr
            return run.stdout, run.stderr

        def read(name):
            with open(name, encoding="utf-8") as file:
                return file.read()

        out, notes = minify("--", python, "own.py")
        assert f"runs {python} own.py (symtape record --deep -o minified.recording.tape)" in notes, notes
        assert "--torch-backend own:backend --import " in notes, notes
        assert "reproduced 1 of 1 times" in notes and "calls 6 -> 1" in out, out + notes
        assert "backend=own.backend" in read("minified.repro.py")
        issue = read("minified.issue.md")
        assert "RuntimeError: cannot lower a scan" in issue and "sys.exit" not in issue, issue
        assert "From 6 calls" in issue, issue
        # By workers: the same bytes.
        graph = "minified.recording.tape:0/0:dynamo"
        own = ("--torch-oracle", "compile", "--torch-backend", "own:backend", "--import", "own.py")
        tapes = []
        for jobs in (), ("--launcher", "nice", "-j", "2"):
            minify(graph, *own, "--passes", "prefix", "-o", f"jobs{len(jobs)}.tape", *jobs)
            with open(f"jobs{len(jobs)}.tape", "rb") as file:
                tapes.append(file.read())
        assert tapes[0] == tapes[1]
        # Nothing that a tape names is run by itself.
        _, notes = minify("minified.recording.tape", "-o", "again.tape", code=2)
        assert "--torch-backend own:backend --import " in notes, notes

        # The Python that imports PyTorch in the program is asked, although CMD is a shell; options come first.
        unset = {name: value for name, value in os.environ.items() if name != "SYMTAPE_PYTHON"}
        which = subprocess.run([python, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True).stdout.strip()
        out, notes = minify("-o", "shell.tape", "--", "sh", "-c", f"{python} own.py; exit 1", env=unset)
        version = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True).stdout.strip()
        assert f": runs {which} (the program's, torch {version}), which compiles" in notes, notes
        assert "reproduced 1 of 1 times" in notes, notes
        _, notes = minify("-o", "named.tape", "--python", "/no/python", "--", python, "own.py", code=4)
        assert ": runs /no/python (--python, cannot be started), which compiles" in notes, notes
        assert "/no/python: No such file" in notes, notes
        # A tape names no Python: it is the first of $PATH that has PyTorch, and the failure may be another release's.
        os.makedirs("none", exist_ok=True)
        with open("none/python3", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod("none/python3", 0o755)
        os.makedirs("some", exist_ok=True)
        with open("some/python3", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {which} \"$@\"\n")
        os.chmod("some/python3", 0o755)
        path = {**unset, "PATH": f"{folder}/none:{folder}/some:{os.environ['PATH']}"}
        asked = f": runs {folder}/some/python3 (first on $PATH with PyTorch, torch {version}), which compiles programs made from "
        own = (*own, "--max-calls", "3")
        _, notes = minify("minified.recording.tape:0/0", *own, "-o", "again.tape", code=130, env=path)
        assert asked + "this graph" in notes and "it was recorded with torch" not in notes, notes
        minify(graph, *own, "-o", "old.tape", "--fx", "old.fx", code=130, env=path)
        with open("old.fx", encoding="utf-8") as file:
            text = file.read()
        with open("old.fx", "w", encoding="utf-8") as file:
            file.write(text.replace("torch " + version, "torch 2.4.0"))
        _, notes = minify("old.fx", *own, "-o", "older.tape", code=130, env=path)
        assert f"it was recorded with torch 2.4.0: torch {version} may not fail, or fail differently" in notes, notes

        out, notes = minify("-o", "low.tape", "--import", "patch.py", "--", python, "lowering.py")
        assert "--torch-backend inductor --import patch.py" in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, " in out, out + notes
        assert "what fails in PyTorch: inductor, lowerings: cumprod, application " in out, out
        assert "(aten.cumprod.default) in the inference graph\n" in out, out  # it raises: there is no kernel
        assert "compiler bisector: inductor, lowerings: cumprod, application " in read("low.issue.md")
        graph = "low.recording.tape:0/0:dynamo"
        for option, message in (
                (("--config", "inductor.nothing=1"), "torch._inductor.config.nothing does not exist"),
                (("--import", "nothing.py"), "No module named 'nothing'"),
                (("--torch-backend", "patch:nothing", "--import", "patch.py"), "has no attribute 'nothing'"),
                (("--torch-backend", "patch:torch.pi", "--import", "patch.py"), "patch.torch.pi cannot be called"),
                (("--torch-backend", "patch:bad"), "--torch-backend: import patch: ModuleNotFoundError"),
                (("--env", "TORCH_LOGS=nothing"), "PyTorch cannot be imported")):
            _, notes = minify(graph, "--torch-oracle", "compile", "-o", "wrong.tape", *option, code=2)
            assert message in notes, notes

        out, notes = minify("-o", "back.tape", "--import", "backward.py", "--", python, "train.py")
        assert "fails only if its inputs require gradients" in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, symbols" in out and "torch.sin(" in out, out + notes
        assert "(aten.cos.default) in the backward graph\n" in out and "\n# requires_grad " in out, out
        assert ".requires_grad_()" in read("back.issue.md"), read("back.issue.md")
        with open("backward.py", "w", encoding="utf-8") as file:
            file.write(BACKWARD % ("cos", "L.lowerings[torch.ops.aten.neg.default]"))
        out, notes = minify("-o", "wrong_back.tape", "--import", "backward.py", "--", python, "train.py")
        assert "no compile failed, but the program did" in notes and "gradients are computed, too" in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, symbols" in out and "torch.sin(" in out, out + notes

        out, notes = minify("-o", "op.tape", "--allow", "mine", "--import", "operator_of_mine.py", "--", python, "operator_of_mine.py")
        assert "fails only if its inputs require gradients" in notes and "eager fails too" in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, symbols" in out and "\n# requires_grad " in out, out + notes
        # The same by name; results cannot be compared where eager mode has none.
        mine = ("op.recording.tape:0/0:dynamo", "--allow", "mine", "--import", "operator_of_mine.py", "--torch-oracle")
        out, notes = minify(*mine, "compile", "-o", "op_named.tape", "--repro", "op_named.py")
        assert "fails only if its inputs require gradients" in notes and "eager fails too, without any compiler: " in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, symbols" in out and "\n# requires_grad " in out, out + notes
        _, notes = minify(*mine, "accuracy", "-o", "op_wrong.tape", code=1)
        assert "with gradients, eager mode fails without any compiler (" in notes and "does not fail" in notes, notes
        # What the program computed before is a leaf alone: eager mode refuses to write to it, which is no failure.
        minify("-o", "write.tape", "--", python, "write.py", code=1)
        _, notes = minify("write.recording.tape:0/0:dynamo", "--torch-oracle", "compile", "-o", "write.tape", code=1)
        assert "does not fail" in notes and "eager fails" not in notes, notes
        _, notes = minify("-o", "no.tape", "--", python, "operator_of_mine.py", code=125)
        assert "--allow mine permits it, and minify --import FILE registers it" in notes, notes
        out, notes = minify("-o", "branch.tape", "--", python, "branch.py")
        assert "0/0 failed in PyTorch: Unsupported: a branch depends on the value of a tensor" in notes, notes
        assert "calls 4 -> 1" in out and "branch.py:5 in forward, code: if h.mean() > 0.1:" in out, out
        assert "reproduced 1 of 1 times" in notes, notes
        out, notes = minify("-o", "inlined.tape", "--", python, "inlined.py")
        assert "calls 7 -> 1" in out and "inlined.py:5 in helper, code: while big:" in out, out
        assert "reproduced 1 of 1 times" in notes and "True if big else False" in read("inlined.repro.py"), notes
        out, notes = minify("-o", "number.tape", "--", python, "number.py")
        assert "calls 5 -> 1" in out and "number.py:5 in forward, code: return torch.sin(x) if n * 2 > 3 else x" in out, out
        assert "reproduced 1 of 1 times" in notes and "gt = (2 * u0) > 3" in read("number.repro.py"), notes
        out, notes = minify("-o", "mixed.tape", "--", python, "mixed.py")
        assert "reproduced 1 of 1 times" in notes and "_operator.truth" in out, out + notes
        _, notes = minify("-o", "kernel.tape", "--", python, "kernel.py", code=125)
        assert "cannot tell whether it fails: calls torch.ops.mine.pick.default" in notes, notes
        out, notes = minify("-o", "constraint.tape", "--", python, "constraint.py")
        assert "(--torch-oracle constraints)" in notes and "reproduced 1 of 1 times" in notes and "calls 3 -> 1" in out, out + notes
        assert "fails with another message than the tape has" in notes, notes  # the input has another name
        out, notes = minify("-o", "range.tape", "--", python, "range.py")
        assert notes.count("(--torch-oracle ") == 1 and "(--torch-oracle constraints)" in notes, notes
        assert "reproduced 1 of 1 times" in notes and "calls 2 -> 0, symbols 1 -> 1, guards 1 -> 1" in out, out + notes
        program = read("range.repro.py")  # any Dim with a name violates the guard; its range is not needed
        assert "torch._check(s6 < 50)" in program and 'shapes = ({0: torch.export.Dim("s6")},)' in program, program
        # Without a range, no Dim of this question has a name: the range is needed.
        minify("range.recording.tape:0/0:dynamo", "--torch-oracle", "constraints", "-o", "range_named.tape", "--repro", "range_named.py")
        program = read("range_named.py")
        assert 'shapes = ({0: torch.export.Dim("s6", max=100)},)' in program, program
        out, notes = minify("-o", "mark.tape", "--", python, "mark.py")
        assert "reproduced 1 of 1 times" in notes and "calls 2 -> 0, symbols 1 -> 1, guards 1 -> 1" in out, out + notes
        assert ", 0, min=3, max=100)" in read("mark.repro.py"), read("mark.repro.py")
        _, notes = minify("-o", "unmarked.tape", "--", python, "unmarked.py")
        assert "reproduced 1 of 1 times" in notes and "max=100" not in read("unmarked.repro.py"), notes

        # Variables are set before PyTorch is imported, in the program as well.
        _, notes = minify(graph, "--torch-oracle", "compile", "-o", "env.tape", "--torch-backend", "inductor",
                          "--import", "patch.py", "--env", "WANTED=1", "--config", "inductor.fallback_random=True",
                          "--repro", "env.py", "--max-calls", "3", code=130)
        program = read("env.py")
        assert program.index('os.environ["WANTED"] = "1"') < program.index("import torch"), program
        assert "torch._inductor.config.fallback_random = True" in program, program

        out, notes = minify("-o", "many.tape", "--import", "wrong.py", "--json", "--", python, "several.py")
        assert "no compile failed, but the program did" in notes and "many.recording.tape: runs" in notes, notes
        assert "many.recording.tape:1/0_1:dynamo_output_graph is the first of 3 graphs that fails" in notes, notes
        compiler = json.loads(out)["compiler"]
        assert (compiler["subsystem"], compiler["detail"], compiler["number"]) == ("lowerings", "sin", 0), compiler
        assert (compiler["graph"], compiler["operator"]) == ("inference", "aten.sin.default"), compiler
        assert (compiler["kernel"], compiler["nodes"]) == ("cpp_fused_sin_0", "sin"), compiler
        assert "kernel cpp\\_fused\\_sin\\_0, of sin." in read("many.issue.md")
        assert read("many.issue.md").startswith("# value: eager and compiled results differ in value"), read("many.issue.md")
        # Graphs that do not fail, of a tape that was named.
        _, notes = minify("many.recording.tape:2/0", "--torch-oracle", "accuracy", "-o", "none.tape", code=1)
        assert "does not fail" in notes, notes

        # Random inputs have no such values, but they may be larger; else the graph is only named.
        out, notes = minify("-o", "large.tape", "--import", "large.py", "--torch-backend", "large:backend", "--", python, "large.py")
        assert "fails with inputs that are random and 1000 times as large (--values large)" in notes, notes
        assert "reproduced 1 of 1 times" in notes and " -> 1, " in out and "torch.cos(" in out, out + notes
        assert ".mul_(1000)" in read("large.repro.py") and "--values large" in read("large.issue.md"), read("large.issue.md")

        out, notes = minify("-o", "values.tape", "--json", "--", python, "values.py", code=1)
        assert "none of the 3 graphs fails alone" in notes, notes
        graph = "values.recording.tape:1/0_1:dynamo_output_graph"
        assert f"{graph}: the program succeeds if eager runs this graph, and all others are compiled; 4 runs" in notes, notes
        assert json.loads(out)["wrong_graph"] == graph, out

        out, notes = minify("-o", "size.tape", "--", python, "sizes.py")
        assert "asks symtape's own shape engine" in notes, notes
        assert "reproduced 1 of 1 times" in notes and "calls 3 -> 1" in out, out + notes  # sin, view, matmul
    print("all as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
