#!/usr/bin/env python3
"""Graphs of several ranks on several GPUs, a device for each rank, beside the CPU backend.

    ranks.py [options] SYMTAPE COLLECTIVES [TAPE ...]

COLLECTIVES is a recording of tests/models/collectives.py (tests/recordings/collectives): its graphs, which hold each
functional collective in float32, bfloat16 and int64, run at several sizes as --ranks ranks. Each TAPE names the recordings of
a job, separated by ',', one for each rank. Prints tables in markdown. Exit 1: something differs or does not run.
"""
import argparse
import json
import subprocess
import sys

OUTPUTS = ["all_reduce sum", "all_reduce max", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
ROWS = [2, 6, 254, 4096]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape")
    parser.add_argument("collectives")
    parser.add_argument("tapes", nargs="*")
    parser.add_argument("--ranks", type=int, default=2, help="ranks and devices (default: 2)")
    parser.add_argument("--columns", type=int, default=1000, help="elements of a row (default: 1000)")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="sizes of dimension 0")
    parser.add_argument("--backend", default="cuda")
    return parser.parse_intermixed_args()


def run(options, more):
    done = subprocess.run([options.symtape, "run", "--backend", options.backend, "--compare-with", "cpu", "--json", *more],
                          capture_output=True, text=True)
    try:
        return json.loads(done.stdout), done.stderr
    except ValueError:
        return {"graphs": [], "differs": True, "divergence": None}, done.stderr


def largest(into, output):
    worst = into.setdefault(output["dtype"].removeprefix("torch."), {}).setdefault(output["name"], [0, 0, True])
    worst[0] = max(worst[0], output["max_absolute"])
    worst[1] = max(worst[1], output["max_ulps"])
    worst[2] &= output["match"] in ("equal", "close") and output["comparable"]


def collectives(options):
    print(f"\n## Collectives of {options.ranks} ranks beside the CPU backend\n")
    print(f"| rows x {options.columns} | dtype | " + " | ".join(OUTPUTS) + " |")
    print("|---" * (len(OUTPUTS) + 2) + "|")
    ok = True
    for rows in options.rows.split(","):
        sizes = f"s77={rows},s27={options.columns}"
        document, errors = run(options, ["--ranks", str(options.ranks), "--sizes", sizes, options.collectives])
        table = {}
        for graph in document["graphs"]:
            for output in graph.get("outputs", []):
                largest(table, output)
        for dtype, outputs in table.items():
            cells = ["equal" if not o[1] and o[2] else f"{o[1]} ULP" if o[2] else "DIFFERS" for o in outputs.values()]
            print(f"| {rows} | {dtype} | " + " | ".join(cells) + " |")
        ran = len(document["graphs"]) == 3 * options.ranks and not any(g["error"] for g in document["graphs"])
        if not ran or document["differs"] or errors:
            print(f"\n{rows} rows: {errors.strip() or 'differs'}\n")
        ok &= ran and not document["differs"]
    return ok


def jobs(options):
    ok = True
    if options.tapes:
        print("\n## Recorded jobs\n\n| job | ranks | graphs | agree | largest error | divergence |\n|---|---|---|---|---|---|")
    for tapes in options.tapes:
        document, errors = run(options, tapes.split(","))
        outputs = [o for g in document["graphs"] for o in g.get("outputs", [])]
        agree = sum(not g["error"] and not g.get("differs") for g in document["graphs"])
        error = max((o.get("max_absolute", 0) for o in outputs), default=0)
        divergence = document["divergence"]
        told = f"{divergence['kind']}, rank {divergence['rank']}" if divergence else "-"
        name = tapes.split(",")[0].split("/")[-1].split(".")[0]
        print(f"| {name} | {document.get('ranks', '-')} | {len(document['graphs'])} | {agree} | {error:.3g} | {told} |")
        ok &= agree == len(document["graphs"]) and not divergence
        if errors:
            print(f"\n{errors.strip()}\n")
    return ok


def main():
    options = arguments()
    good = collectives(options)
    good &= jobs(options)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
