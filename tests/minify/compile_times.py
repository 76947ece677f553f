#!/usr/bin/env python3
"""What PyTorch takes to compile graphs of recordings, and what they are reduced to, beside the estimate of `minify --cost seconds`.

    compile_times.py SYMTAPE [--cost NAME] GRAPH...      ($SYMTAPE_PYTHON names a Python with PyTorch)

GRAPH is as volo.tape:0/0_1:dynamo. Each is reduced to half of its cost NAME (expr-size); both graphs are exported as programs for the CPU
and compiled with the backend aot_eager, without gradients, in a process of its own. Printed are the processor time of the first call
less that of a second one, which is compiled already, the estimate, and the ratio of the two. Takes minutes.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

RUN = """
import inspect, sys, time
import torch
names = {"__name__": "program"}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), names)
f = names["f"]
arguments = [names[name] for name in inspect.signature(f).parameters]
torch.compile(lambda x: x + 1, backend="aot_eager")(torch.ones(3))  # what the first compile of a process takes once
torch._dynamo.reset()
compiled, times = torch.compile(f, backend="aot_eager"), []
with torch.no_grad():
    for _ in range(2):
        start = time.process_time()
        compiled(*arguments)
        times.append(time.process_time() - start)
print(times[0] - times[1])
"""


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr[-1000:]}")
    return done.stdout


def cost(symtape, graph, name):
    done = subprocess.run([symtape, "minify", "--big", "--json", "--cost", name, graph], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout else sys.exit(done.stderr)


def compiled_seconds(symtape, graph, folder):
    program = os.path.join(folder, "program.py")
    with open(program, "w") as file:
        file.write(output(symtape, "export", "--big", "--python", "--cpu", graph))
    return float(output(os.environ.get("SYMTAPE_PYTHON", sys.executable), "-c", RUN, program).split()[-1])


def row(symtape, graph, folder, title):
    counts = cost(symtape, graph, "seconds")["total"]
    measured = compiled_seconds(symtape, graph, folder)
    print(f"{title[-60:]:60} {counts['calls']:6} {counts['expr-size']:10} {counts['seconds']:9.2f} s {measured:9.2f} s "
          f"{counts['seconds'] / max(measured, 1e-9):7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("symtape")
    parser.add_argument("--cost", default="expr-size")
    parser.add_argument("graphs", nargs="+", metavar="GRAPH")
    args = parser.parse_args()
    symtape = os.path.abspath(args.symtape)
    print(f"{'graph':60} {'calls':>6} {'expr-size':>10} {'estimated':>11} {'measured':>11} {'ratio':>7}")
    for graph in args.graphs:
        with tempfile.TemporaryDirectory() as folder:
            row(symtape, graph, folder, graph)
            tape = os.path.join(folder, "reduced.tape")
            limit = f"{args.cost}>={cost(symtape, graph, args.cost)['proposed']}"
            output(symtape, "minify", "--big", "--cost", limit, "-o", tape, graph)
            row(symtape, tape + ":0/0", folder, f"  reduced to {limit}")


if __name__ == "__main__":
    main()
