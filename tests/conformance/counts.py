#!/usr/bin/env python3
"""What symtape counts in each recording of ../shared, beside the table in its README, which an
independent parser made; and that what was imported comes back byte for byte.

usage: counts.py [NAME ...]
"""
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

FOLDERS = ["traces", "failures", "variety"]
TAPE_RATIO = 40  # logs of traces/ to their tapes, at least


def table(readme):
    """NAME -> the counts of its row, by the headings of the one table that has `records`."""
    rows, headings = {}, None
    for line in readme.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            headings = None
        elif "records" in cells and "payloads" in cells:
            headings = cells
        elif headings and not set(cells[0]) <= set("-:"):
            rows[cells[0]] = dict(zip(headings, cells))
    return {name: wanted(row) for name, row in rows.items()}


def wanted(row):
    guards = [int(n) for n in row["guards / suppressed / asserts"].split("/")]
    return {"records": int(row["records"]), "payloads": int(row["payloads"]),
            "create_symbol": int(row["create_symbol"]), "guards": guards,
            "graphs": int(row["graphs"]), "calls in ATen graphs": int(row["calls in ATen graphs"])}


def counted(info):
    graphs = [g for c in info["compiles"] for g in c["graphs"]]
    graphs += [g for g in info.get("graphs_outside_compiles", []) if is_counted(g)]
    return {"records": info["records"], "payloads": info["payloads"],
            "create_symbol": info["events"].get("create_symbol", 0),
            "guards": [info["guards"][kind] for kind in ("guard", "suppressed", "assert")],
            "graphs": len(graphs),
            "calls in ATen graphs": sum(g["calls"] for g in graphs if g["kind"].startswith("aot_"))}


def is_counted(graph):
    return re.fullmatch(r"dynamo_output_graph|aot_(joint|forward|backward|inference)_graph",
                        graph["kind"]) is not None


def opaque(info):
    graphs = [g for c in info["compiles"] for g in c["graphs"] + c.get("other_graphs", [])]
    return sum(g.get("opaque", 0) + bool(g.get("unreadable")) for g in graphs)


def decompressed(log):
    done = subprocess.run(["zstd", "-dcq", "--long=27", log], stdout=subprocess.PIPE, check=True)
    return done.stdout


def comes_back(tape, log, folder):
    back = folder / f"{log.name}.back"
    run = cases.run(["export", "--log", tape, "-o", back])
    same = run.code == 0 and back.read_bytes() == decompressed(log)
    back.unlink(missing_ok=True)
    return [] if same else [f"export is not the log ({run.told()})"]


def check_log(log, row, folder, tell):
    """Returns the sizes of log and tape."""
    name = log.name.removesuffix(".log.zst")
    tape = folder / f"{log.parent.name}.{name}.tape"
    made = cases.run(["import", "--strict", log, "-o", tape], timeout=300)
    if made.code != 0:
        tell.fail(name, f"import: {made.told()}")
        return 0, 0
    found = comes_back(tape, log, folder)
    run = cases.run(["info", "--json", tape], timeout=300)
    if run.code != 0:
        tell.fail(name, f"info: {run.told()}")
        return 0, 0
    info = json.loads(run.out)
    found += [f"{what}: {n}, not {row[what]}" for what, n in counted(info).items() if row[what] != n]
    if opaque(info):
        found.append(f"{opaque(info)} opaque nodes")
    if info["damaged"]:
        found.append(f"{info['damaged']} damaged places")
    tell.check(f"{name}: counts and round trip", found)
    sizes = info["bytes"], tape.stat().st_size
    tape.unlink()
    return sizes


def main():
    tell = cases.Cases()
    shared = cases.shared()
    if not shared:
        tell.skip("counts", "no ../shared and no SYMTAPE_SHARED")
        tell.finish()
    rows = table(shared / "README.md")
    logs = {p.name.removesuffix(".log.zst"): p for d in FOLDERS
            for p in sorted((shared / d).glob("*.log.zst"))}
    names = sys.argv[1:] or sorted(rows, key=lambda n: -logs[n].stat().st_size if n in logs else 0)
    with tempfile.TemporaryDirectory(prefix="symtape-counts-") as folder, \
            ThreadPoolExecutor(cases.jobs()) as pool:
        sizes = {}
        for name in names:
            if name not in logs:
                tell.fail(name, "in the table, but there is no such log")
            else:
                sizes[name] = pool.submit(check_log, logs[name], rows[name], Path(folder), tell)
        sizes = {name: done.result() for name, done in sizes.items()}
    traces = [s for name, s in sizes.items() if logs[name].parent.name == "traces"]
    whole, packed = (sum(s[i] for s in traces) for i in (0, 1))
    if not sys.argv[1:] and packed:
        ratio = whole / packed
        tell.check(f"tapes of traces/ are 1/{ratio:.1f} of their logs",
                   [] if ratio >= TAPE_RATIO else [f"not at most 1/{TAPE_RATIO}"])
    tell.finish()


if __name__ == "__main__":
    main()
