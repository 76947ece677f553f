#!/usr/bin/env python3
"""symtape minify, PyTorch's fx_minifier, cvise and Shrink Ray on the same recorded graphs of ../shared,
with the same predicate in the same run. tests/bench/README.md says how to read it. Prints; asserts
nothing.

usage: text_peers.py [--graphs N] [--kinds any,flow] [--least CALLS] [--most CALLS] [--seconds S]
                     [--shrinkray PROGRAM] [--seed N]

fx_minifier needs a Python that has torch ($SYMTAPE_PYTHON). A tool that is not there is left out."""
import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import planted  # noqa: E402

# Asked with a path, with the text on standard input, or in a folder that holds the file; each question
# leaves a byte.
CHECK = """import sys, os
sys.path.insert(0, {shared!r})
import pred
os.write(os.open({count!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT), b".")
try:
    text = (open(sys.argv[1]) if len(sys.argv) > 1 else
            open("graph.py") if os.path.exists("graph.py") else sys.stdin).read()
    sys.exit(0 if pred.test(pred.parse(text), {spec!r}) else 1)
except ValueError:
    sys.exit(1)
"""


def timed(command, seconds, **more):
    """Runs a command for so long; returns its output, the seconds, and whether it ended by itself."""
    began = time.monotonic()
    how = {"stderr": subprocess.DEVNULL, **more}
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True,
                               start_new_session=True, **how)
    try:
        out, _ = process.communicate(timeout=seconds)
        ended = True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        ended = False
    return out, time.monotonic() - began, ended


def calls(text, pred):
    return sum("getitem" not in n[1] for n in pred.parse(text))


def is_graph(text):
    """Whether it is a function of Python in which each value is an input or was computed before, and
    something is returned."""
    try:
        tree = ast.parse(text.replace("class <lambda>", "class f"))
    except (SyntaxError, ValueError):
        return False
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    if len(found) != 1:
        return False
    known = {a.arg for a in found[0].args.args} | {"torch", "operator", "device", "inf"}
    for statement in found[0].body:
        value = getattr(statement, "value", None)
        if value is None or {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - known:
            return False
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            known |= {target.id} if isinstance(target, ast.Name) else set()
    return isinstance(found[0].body[-1], ast.Return)


class Case:
    def __init__(self, folder, spec, text, pred):
        self.folder, self.spec, self.text, self.pred = folder, spec, text, pred
        self.count, self.check = folder / "count", folder / "check"
        script = folder / "check_graph.py"
        script.write_text(CHECK.format(shared=str(cases.shared() / "minify"), count=str(self.count), spec=spec))
        self.check.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {script} \"$@\"\n")
        self.check.chmod(0o755)

    def row(self, text, seconds, ended):
        asked = self.count.stat().st_size if self.count.exists() else 0
        self.count.unlink(missing_ok=True)
        return {"asked": asked, "left": calls(text, self.pred), "seconds": seconds, "ended": ended,
                "graph": is_graph(text)}

    def symtape(self, seconds):
        graph, tape = self.folder / "whole.fx", self.folder / "min.tape"
        graph.write_text(self.text)
        out, took, ended = timed([cases.SYMTAPE, "minify", graph, "--check", self.check, "-o", tape, "--json",
                                  "--overwrite", "--overwrite-journal", "-q"], seconds)
        return self.row(json.loads(out)["fx"] if ended else "", took, ended)

    def cvise(self, seconds):
        if not shutil.which("cvise"):
            return "cvise is not in PATH"
        graph = self.folder / "graph.py"
        graph.write_text(self.text)
        _, took, ended = timed(["cvise", "--not-c", "--n", "1", "--tidy", self.check, "graph.py"], seconds,
                               cwd=self.folder)
        return self.row(graph.read_text(), took, ended)

    def shrinkray(self, program, seconds):
        if not program:
            return "shrinkray is not in PATH, and --shrinkray does not name it"
        (self.folder / "graph.py").unlink(missing_ok=True)
        graph, least = self.folder / "ray.txt", self.folder / "ray.out"
        graph.write_text(self.text)
        least.write_text(self.text)
        _, took, ended = timed([program, "--parallelism", "1", "--target", least, self.check, graph], seconds,
                               cwd=self.folder)
        return self.row(least.read_text(errors="replace"), took, ended)

    def fx_minifier(self, python, seconds):
        """What fx_peer.py prints, or why it printed nothing."""
        if not python:
            return "SYMTAPE_PYTHON names no Python with PyTorch"
        tape = self.folder / "whole.tape"
        graph = self.folder / "whole.fx"
        subprocess.run([cases.SYMTAPE, "minify", graph, "--check", self.check, "-o", tape, "--max-calls", "1",
                        "--overwrite", "--overwrite-journal", "-q"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.count.unlink(missing_ok=True)
        program = self.folder / "whole.py"
        with program.open("w") as f:
            subprocess.run([cases.SYMTAPE, "export", "--python", tape], stdout=f, stderr=subprocess.DEVNULL)
        said = self.folder / "fx_peer.err"
        with said.open("w") as f:
            out, _, ended = timed([python, HERE / "fx_peer.py", cases.shared() / "minify", program, self.spec, seconds],
                                  seconds + 60, stderr=f)
        if out.strip():
            return {**json.loads(out.splitlines()[-1]), "graph": True}
        lines = [line for line in (program.read_text() + said.read_text()).splitlines() if "cannot run" in line or "Error" in line]
        return lines[-1].strip("# ")[:150] if lines else "it printed nothing" if ended else f"no end within {seconds + 60:.0f} s"


def print_row(tool, row):
    if isinstance(row, str):
        print(f"    {tool:12} did not run: {row}", flush=True)
        return
    asked = f"{'' if row['ended'] else '>'}{row['asked']}"
    print(f"    {tool:12} asked {asked:>6}  left {row['left']:4}  {row['seconds']:7.1f} s  "
          f"{'a graph' if row['graph'] else 'no graph'}{'' if row['ended'] else ', cut short'}", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--graphs", type=int, default=4)
    args.add_argument("--kinds", default="any,flow")
    args.add_argument("--least", type=int, default=20)
    args.add_argument("--most", type=int, default=80)
    args.add_argument("--seconds", type=float, default=30)
    args.add_argument("--shrinkray", default=shutil.which("shrinkray"))
    args.add_argument("--seed", type=int, default=1)
    args = args.parse_args()
    sys.path.insert(0, str(cases.shared() / "minify"))
    import pred
    sums = {}
    for number, text in enumerate(some_texts(args, pred)):
        for kind in args.kinds.split(","):
            spec = planted.plant(kind, pred.parse(text), pred, random.Random(f"{args.seed} {number} {kind}"))
            if spec:
                compare(args, spec, text, pred, sums)
    print("tool         cases  ended  asked  calls left  seconds  a graph")
    for tool, (n, ended, asked, left, seconds, graph) in sums.items():
        print(f"{tool:12} {n:5} {ended:6} {asked:6} {left / n:11.2f} {seconds / n:8.1f} {graph:8}")


def some_texts(args, pred):
    logs = planted.some_logs()
    random.Random(args.seed).shuffle(logs)
    used = 0
    for log in logs:
        for graph, _ in planted.graphs_of(log):
            text = subprocess.run([cases.SYMTAPE, "show", graph, "--graph"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True).stdout
            if used < args.graphs and args.least <= calls(text, pred) <= args.most and planted.plant(
                    "any", pred.parse(text), pred, random.Random(0)):
                used += 1
                yield re.sub(r"(?m)^ *#.*\n|\n(?=\n)", "", text)


def compare(args, spec, text, pred, sums):
    python = os.environ.get("SYMTAPE_PYTHON")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        case = Case(Path(folder), spec, text, pred)
        print(f"{spec}, {calls(text, pred)} calls", flush=True)
        tools = {"symtape": lambda: case.symtape(args.seconds),
                 "fx_minifier": lambda: case.fx_minifier(python, args.seconds),
                 "cvise": lambda: case.cvise(args.seconds),
                 "Shrink Ray": lambda: case.shrinkray(args.shrinkray, args.seconds)}
        for tool, ask in tools.items():
            row = ask()
            print_row(tool, row)
            if isinstance(row, dict):
                total = sums.setdefault(tool, [0] * 6)
                for i, value in enumerate((1, row["ended"], row["asked"], row["left"], row["seconds"], row["graph"])):
                    total[i] += value


if __name__ == "__main__":
    main()
