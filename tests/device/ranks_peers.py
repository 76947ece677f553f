#!/usr/bin/env python3
"""Times of collectives and of graphs with collectives on several GPUs: PyTorch with NCCL beside symtape run --ranks.

    ranks_peers.py [options] SYMTAPE

ranks_peers_torch.py runs in a process for each rank and records what it compiles; then symtape runs the recordings of all ranks
as one job at the same sizes. Prints tables in markdown: medians of runs that begin and end with an idle device, in microseconds
(of ours, the rank that took longest). A step of DistributedDataParallel has its all_reduce in no graph, so that ours stands
beside no_sync(). Exit 1: something does not run.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="of PyTorch")
    parser.add_argument("--backend", default="cuda", help="of symtape")
    parser.add_argument("--bytes", default="1024,16384,262144,4194304,67108864,268435456", help="of a rank's input")
    parser.add_argument("--rows", default="16,512,4096", help="of the MLP's input")
    parser.add_argument("--width", type=int, default=1024, help="of the MLP")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--parts", default="collectives,mlp,ddp")
    return parser.parse_args()


def run_torch(options, part, sizes, folder):
    out = folder / f"{part}.json"
    env = os.environ | {"TORCH_TRACE": str(folder / part)}
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(options.ranks),
                           str(Path(__file__).with_name("ranks_peers_torch.py")), part, str(out), "--device", options.device, "--sizes",
                           sizes, "--width", str(options.width), "--runs", str(options.runs)],
                          env=env, capture_output=True, text=True, timeout=300)
    if done.returncode:
        print(f"{part}: PyTorch fails: {done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(out.read_text(encoding="utf-8"))


def logs(folder):
    """The recordings of the ranks: torch.distributed.run itself writes none with a rank."""
    return sorted(str(p) for p in folder.iterdir() if "rank" in p.name)


def run_symtape(options, folder, selector, sizes):
    """The wall time of the selected graphs, one after the other, of the rank that took longest; and how they were launched."""
    command = [options.symtape, "run", "--backend", options.backend, "--profile", "--runs", str(options.runs), "--json", *sizes,
               *(f"{log}:{selector}" if selector else log for log in logs(folder))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    try:
        graphs = json.loads(done.stdout)["graphs"]
    except ValueError:
        graphs = []
    bad = [g["error"] for g in graphs if g["error"]]
    if done.returncode or bad or not graphs:
        print(f"{' '.join(command)}: {done.stderr[-1000:]} {bad[:1]}", file=sys.stderr)
        return None
    walls = {}
    for g in graphs:
        walls[g["rank"]] = walls.get(g["rank"], 0) + g["wall_us"]
    pieces = sum(g.get("captured_pieces", 0) for g in graphs if g["rank"] == 0)
    differs = any(g.get("captured_differs") for g in graphs)
    return {"us": max(walls.values()), "graphs": sum(g["rank"] == 0 for g in graphs), "pieces": pieces, "differs": differs}


def symbol_of(options, folder, selector):
    """The symbol of the only size that varies."""
    done = subprocess.run([options.symtape, "run", "--json", "--backend", "null", f"{logs(folder)[0]}:{selector}" if selector else
                           logs(folder)[0]], capture_output=True, text=True)
    graphs = json.loads(done.stdout)["graphs"] if done.stdout else []
    return next(iter(graphs[0]["sizes"])) if graphs and graphs[0]["sizes"] else "s0"


def us(value):
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def rate(size, value):
    return f"{size / value / 1e3:,.1f}" if value else "-"


def table(options, part, heads, rows_of):
    ok = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times = run_torch(options, part, options.bytes if part == "collectives" else options.rows, folder)
        if times is None:
            return False
        print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        for ordinal, (what, by_size) in enumerate(times.items()):
            selector = f"{ordinal}/0" if part == "collectives" else ""
            symbol = symbol_of(options, folder / part, selector)
            for size, modes in by_size.items():
                value = int(size) // 4 if part == "collectives" else int(size)
                ours = run_symtape(options, folder / part, selector, ["--sizes", f"{symbol}={value}"])
                ok &= bool(ours) and not ours["differs"]
                print("| " + " | ".join(rows_of(what, int(size), modes, ours or {})) + " |", flush=True)
    return ok


def collective_row(what, size, modes, ours):
    return [what, f"{size:,}", us(modes["c10d"]), us(modes["compiled"]), us(ours.get("us")), rate(size, modes["c10d"]), rate(size, ours.get("us"))]


def graph_row(what, size, modes, ours):
    return [what, str(size), *(us(v) for v in modes.values()), us(ours.get("us")), f"{ours.get('graphs')} / {ours.get('pieces')}"]


def main():
    options = arguments()
    ok = True
    print(f"\n## PyTorch beside symtape, {options.ranks} ranks, median of {options.runs} runs, us\n")
    for part in options.parts.split(","):
        if part == "collectives":
            ok &= table(options, part, ["collective", "bytes of an input", "c10d", "torch.compile", "symtape", "c10d, GB/s", "symtape, GB/s"],
                        collective_row)
        else:
            modes = ["eager", "compiled"] if part == "mlp" else ["eager", "eager, no_sync", "compiled", "compiled, no_sync"]
            ok &= table(options, part, ["model", "rows", *modes, "symtape", "graphs / CUDA graphs"], graph_row)
        print()
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
