#!/usr/bin/env python3
"""new_sizes.py [options] SYMTAPE TAPE...: what sizes cost that the process has not seen, as a table in markdown.

Each graph of the TAPEs (LOG, LOG:COMPILE or LOG:COMPILE:KIND) is profiled at many sizes in one process (symtape run --profile):
the first run at a size makes its calls one by one; then plans of libraries are timed, once for a class of sizes; the next run is
captured as a CUDA graph, in the executable graph of the size before where the driver updates it, and later runs launch that. Every
output of the launches must have the bits of a run call by call. The first size of the process, which opens libraries and compiles
kernels, is left out of the times. Graphs with much memory get fewer sizes, since random inputs whose sizes change are made anew for each.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from peers_recorded import call, graphs_of, sizes_of, spelled


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("tapes", nargs="+")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--count", type=int, default=65, help="sizes of a graph (default: 65)")
    parser.add_argument("--runs", type=int, default=1, help="timed runs at a size (default: 1)")
    parser.add_argument("--symbol", help="that changes (default: the first that may)")
    parser.add_argument("--graph-seconds", type=float, default=60, help="for a graph (default: 60)")
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="writes the figures of each size there")
    options = parser.parse_args()
    options.device = "cuda"
    return options


def sizes_around(recorded, symbol, count):
    """Distinct values of a symbol, from half of the recorded one on, in an order that is not sorted."""
    low = max(2, recorded[symbol] // 2)
    step = max(1, (2 * recorded[symbol] - low) // count)
    values = [low + step * i for i in range(count)]
    return [{**recorded, symbol: values[i * 29 % count if count % 29 else i]} for i in range(count)]


def choose(options, selector):
    recorded = sizes_of(options, selector, {})
    free = [s for s in recorded or {} if not s.startswith("u") and options.symbol in (None, s)]
    for symbol in free:
        if sizes_of(options, selector, {symbol: recorded[symbol] + 1}):
            known = {s: n for s, n in recorded.items() if not s.startswith("u")}
            return symbol, sizes_around(known, symbol, affordable(options, selector))
    return None, []


BYTES_A_SECOND = 100e6  # of random inputs


def affordable(options, selector):
    """How many sizes fit into the seconds of a graph."""
    code, text, _ = call(options, "run", "--backend", "null", "--json", selector)
    peak = max([g.get("peak_bytes") or 0 for g in json.loads(text)["graphs"]] + [1]) if text and code == 0 else 1
    return max(3, min(options.count, int(options.graph_seconds * BYTES_A_SECOND / peak)))


def profile(options, selector, chosen):
    with tempfile.NamedTemporaryFile("w", suffix=".sizes") as file:
        file.write("".join(spelled(at).replace(",", " ") + "\n" for at in chosen))
        file.flush()
        run = subprocess.run([options.symtape, "run", "--backend", options.backend, "--profile", "--runs", str(options.runs),
                              "--ignore-guards", "--sizes", file.name, "--json", selector], capture_output=True, text=True,
                             timeout=options.graph_seconds)
    graphs = json.loads(run.stdout)["graphs"] if run.stdout else []
    return [g for g in graphs if "first_us" in g], run.stderr


def us(values, share):
    values = sorted(values)
    return f"{values[min(len(values) - 1, int(share * len(values)))]:,.0f}" if values else "-"


def row(name, symbol, graphs, asked):
    later = graphs[1:]
    captured = [g for g in graphs if g.get("captured")]
    updated = [g for g in later if g.get("captured_updates")]
    fresh = [g for g in captured if not g.get("captured_updates")]
    return [name, symbol, len(graphs) if len(graphs) == asked else f"{len(graphs)} of {asked}", graphs[0]["launches"],
            us([g["first_us"] for g in later], 0.5), us([g["first_us"] for g in later], 0.99),
            us([g["first_host_us"] for g in later], 0.5),
            sum(g.get("compiled", 0) for g in later), us([g["captured_us"] for g in updated], 0.5),
            us([g["wall_us"] for g in later], 0.5),
            len(captured), len(updated), len(fresh), sum(bool(g.get("captured_differs")) for g in graphs),
            sum(g.get("planned", 0) for g in later), sum(g.get("plans_recalled", 0) for g in later),
            us([g.get("plan_ns", 0) / 1e3 for g in later], 0.5), sum(g.get("plans_tried", 0) for g in graphs),
            f"{sum(g.get('plans_ns', 0) for g in graphs) / 1e6:,.0f}"]


def main():
    options = arguments()
    heads = ["graph", "symbol", "sizes", "launches", "first run: p50 us", "p99", "calls made: p50", "compiled", "captured by an update: p50",
             "later runs: p50", "captured",
             "updated", "instantiated", "differ", "planned", "as before", "planning: p50 us", "timed between runs", "ms"]
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    bad, firsts = 0, []
    for tape in options.tapes:
        for selector, part in graphs_of(options, tape):
            symbol, chosen = choose(options, selector)
            name = f"{Path(tape.partition(':')[0]).name.replace('.aot_eager.log.zst', '')} {part}"
            if not chosen:
                print(f"| {name} | no symbol can change |", flush=True)
                continue
            try:
                graphs, error = profile(options, selector, chosen)
            except subprocess.TimeoutExpired:
                print(f"| {name} | {symbol} | more than {options.graph_seconds:.0f} s |", flush=True)
                continue
            if not graphs:
                print(f"| {name} | {symbol} | {error.strip()[:150]} |", flush=True)
                continue
            print("| " + " | ".join(map(str, row(name, symbol, graphs, len(chosen)))) + " |", flush=True)
            bad += sum(bool(g.get("captured_differs")) for g in graphs)
            firsts += [g["first_us"] for g in graphs[1:]]
            if options.json:
                (options.json / (name.replace(" ", ".").replace("/", "_").replace(":", "_") + ".json")).write_text(json.dumps(
                    [{k: g[k] for k in g if isinstance(g[k], (int, float, bool, type(None))) or k == "sizes"} for g in graphs]))
    if firsts:
        print(f"\nThe first run at a new size: median {statistics.median(firsts):,.0f} us over {len(firsts)} sizes of graphs.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
