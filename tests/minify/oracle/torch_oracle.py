#!/usr/bin/env python3
"""The warm worker's answers about graphs whose bugs are known: PyTorch's own test backends that are
wrong about relu, a view that its strides do not allow, the gpt2 export that cannot be decomposed.

    torch_oracle.py TORCH_ASK            ($SYMTAPE_PYTHON names a Python with PyTorch)
"""

import json
import os
import subprocess
import sys
import tempfile

HEAD = """class GraphModule(torch.nn.Module):
    def forward(self, s77: "Sym(s77)", L_x_: "f32[s77, 8][8, 1]cpu"):
        l_x_ = L_x_
"""

RELU = HEAD + """        sin: "f32[s77, 8][8, 1]cpu" = torch.sin(l_x_)
        relu: "f32[s77, 8][8, 1]cpu" = torch.relu(sin)
        cos: "f32[s77, 8][8, 1]cpu" = torch.cos(relu)
        return (cos,)
"""
SMALL_RELU = HEAD + """        relu: "f32[s77, 8][8, 1]cpu" = torch.relu(l_x_)
        return (relu,)
"""
NO_RELU = HEAD + """        sin: "f32[s77, 8][8, 1]cpu" = torch.sin(l_x_)
        return (sin,)
"""
VIEW = HEAD + """        t: "f32[8, s77][1, 8]cpu" = l_x_.t()
        view: "f32[8*s77][1]cpu" = t.view(-1)
        return (view,)
"""
LONG = HEAD + "".join(f'        sin_{i}: "f32[s77, 8][8, 1]cpu" = torch.sin({f"sin_{i - 1}" if i else "l_x_"})\n'
                      for i in range(80)) + "        return (sin_79,)\n"
# Fails by itself, and otherwise.
BROKEN = HEAD + """        add: "f32[s77, 8][8, 1]cpu" = l_x_.sum(99)
        return (add,)
"""


def main():
    tool = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in (("relu", RELU), ("small", SMALL_RELU), ("none", NO_RELU),
                           ("view", VIEW), ("broken", BROKEN), ("long", LONG)):
            with open(name + ".fx", "w", encoding="utf-8") as out:
                out.write(text)

        def ask(*args):
            run = subprocess.run([tool, *args], capture_output=True, text=True)
            if run.returncode == 77:
                print("skipped:", run.stderr.strip())
                sys.exit(77)
            assert run.returncode == 0, run.stderr
            return [json.loads(line) for line in run.stdout.splitlines()]

        first, small, broken = ask("seconds", "aot_eager", "long.fx", "small.fx", "broken.fx")
        assert first["verdict"] == "interesting" and first["error"].startswith("compiling takes "), first
        assert small["verdict"] == "boring" and small["text"].startswith("compiling takes "), small
        assert broken["verdict"] == "other" and broken["text"], broken

        relus = ["relu.fx", "small.fx", "none.fx", "broken.fx"]
        first, small, none, broken = ask("compile", "relu_compile_error_TESTING_ONLY", *relus)
        assert first["verdict"] == "interesting" and first["eager"] == "", first
        assert first["kind"] == "ReluCompileError", first
        assert [a["verdict"] for a in (small, none, broken)] == ["interesting", "boring", "boring"]

        first, small, none, broken = ask("run", "relu_runtime_error_TESTING_ONLY", *relus)
        assert first["verdict"] == "interesting" and first["kind"], first
        # What fails without being compiled is not what is looked for.
        assert [a["verdict"] for a in (small, none, broken)] == ["interesting", "boring", "boring"]

        first, small, none = ask("accuracy", "relu_accuracy_error_TESTING_ONLY", *relus[:3])
        assert first["verdict"] == "interesting" and first["kind"] == "value", first
        assert "times the tolerance" in first["error"], first
        assert [a["verdict"] for a in (small, none)] == ["interesting", "boring"]

        first, again = ask("compile", "aot_eager", "view.fx", "view.fx")
        assert first["verdict"] == again["verdict"] == "interesting", first
        assert first["eager"].startswith("RuntimeError: view size is not compatible"), first

        first, = ask("compile", "aot_eager", "none.fx")
        assert first["verdict"] == "boring", first

        run = subprocess.run([tool, "compile", "no_such_backend", "none.fx"], capture_output=True, text=True)
        assert run.returncode not in (0, 77), run
        assert "has no backend no_such_backend; it has aot_eager, " in run.stderr, run.stderr

        shared = os.environ.get("SYMTAPE_SHARED") or os.path.join(
            os.environ.get("SYMTAPE_ROOT", "."), "..", "shared")
        export = os.path.join(shared, "exports", "gpt2.pt2")
        if os.path.exists(export):
            first, = ask("decompose", "", export)
            assert first["verdict"] == "interesting" and first["eager"] == "", first
            assert "Cannot view a tensor with shape" in first["message"], first
            assert "s" in first["error"].split("[")[1].split("]")[0], first  # still dynamic
    print("all as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
