#!/usr/bin/env python3
"""The dispatch table of ../shared/README.md, recorded anew with `symtape record --deep`.

usage: deep_tables.py SYMTAPE SHARED [--jobs N] [--python PYTHON] [--out FOLDER] [MODEL.MODE ...]

Runs SHARED/programs/models.py for each row of the table (or those that are named), backend aot_eager,
each in a process of its own, and prints what was recorded beside what the table says: dispatches of
FakeTensorMode, FakeTensor and the proxy mode, and the fast path's labels. The table was made with
torch 2.11 and CUDA; another version counts otherwise. Programs whose packages are missing are said.
symtape_deep.so has to be beside SYMTAPE. The table goes to standard output and, with the notes of
each run, to FOLDER (default: $OUT) as deep_tables.md. Exits with 1 when a row differs.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LABELS = ("FakeTensorMode.__torch_dispatch__", "FakeTensor.__torch_dispatch__",
          "ProxyTorchDispatchMode.__torch_dispatch__")
HEAD = "| model, mode (aot_eager) | FakeTensorMode"


def number(text):
    """'3,170'; None for '-'."""
    digits = text.replace(",", "").strip()
    return int(digits) if digits.isdigit() else None


def read_fast(text):
    """'294 / 274, 4 slow both tensors ..., 16 slow ...': attempts, contiguous, slow by reason."""
    attempts, _, rest = text.partition("/")
    first, *others = [p.strip() for p in re.split(r",\s", rest)]
    slow = {}
    for part in others:
        count, _, why = part.partition(" ")
        slow[why.removeprefix("slow ").strip()] = int(count)
    return number(attempts), number(first), slow


def read_table(readme):
    """(model, mode) -> (dispatches of the three modes, attempts, contiguous, slow)."""
    rows, reading = {}, False
    for line in readme.read_text().splitlines():
        if line.startswith(HEAD):
            reading = True
        elif reading and line.startswith("|---"):
            continue
        elif reading and line.startswith("|"):
            cells = [c.strip() for c in line.strip("|").split("|")]
            model, mode = cells[0].split()
            rows[model, mode] = ([number(c) for c in cells[1:4]], *read_fast(cells[4]))
        elif reading:
            break
    return rows


def last_totals(symtape, tape):
    """Of every process, summed: what was recorded, and what PyTorch counted."""
    recorded, pytorch = {}, {}
    info = json.loads(subprocess.run([symtape, "info", "--json", tape], capture_output=True,
                                     text=True, check=True).stdout)
    for recording in info["recordings"]:
        log = subprocess.run([symtape, "export", f"{tape}@{recording['name']}"],
                             capture_output=True, text=True, errors="replace", check=True).stdout
        last = re.findall(r'^V.*?\] (\{"symtape_totals": .*)$', log, re.M)[-1:]
        for text in last:
            totals = json.loads(text)["symtape_totals"]
            for to, source in ((recorded, "recorded"), (pytorch, "pytorch")):
                for label, n in totals[source].items():
                    to[label] = to.get(label, 0) + n
    return recorded, pytorch


def run(options, model, mode, folder):
    """What came of one program: totals and the report, or why there are none."""
    tape = os.path.join(folder, f"{model}.{mode}.tape")
    program = options.shared / "programs" / "models.py"
    command = [options.symtape, "record", "--json", "--overwrite", "--deep", "-o", tape, "--",
               options.python, str(program), model, mode, "aot_eager"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"failure": f"not done in {options.timeout} s", "notes": ""}
    lines = done.stdout.splitlines()
    ret = {"notes": done.stderr}
    if done.returncode != 0 or not lines:
        said = [line for line in done.stderr.splitlines() if "Error" in line]
        return ret | {"failure": (said or [f"exit {done.returncode}"])[-1].strip()}
    ret["report"] = json.loads(lines[-1])
    ret["recorded"], ret["pytorch"] = last_totals(options.symtape, tape)
    return ret


def text(n):
    return "-" if n is None else f"{n:,}"


def compare(expected, recorded):
    """The row's cells, and how many numbers differ."""
    modes, attempts, contiguous, slow = expected
    cells, differ = [], 0
    pairs = [(want, recorded.get(label, 0)) for want, label in zip(modes, LABELS)]
    pairs += [(attempts, recorded.get("attempt fast", 0)),
              (contiguous, recorded.get("fast is_contiguous", 0))]
    ours = {k.removeprefix("slow "): n for k, n in recorded.items() if k.startswith("slow ")}
    for want, have in pairs:
        same = want is None or want == have
        differ += not same
        cells.append(text(have) if same else f"**{text(have)}** (table: {text(want)})")
    cells.append(", ".join(f"{n} {why}" for why, n in sorted(ours.items())) or "-")
    # The table shortens some reasons.
    differ += sum(slow.values()) != sum(ours.values())
    return cells, differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symtape", type=os.path.abspath)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--python", default=os.environ.get("SYMTAPE_PYTHON", "python3"))
    parser.add_argument("--timeout", type=int, default=540)
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("only", nargs="*")
    options = parser.parse_intermixed_args()
    table = {k: v for k, v in read_table(options.shared / "README.md").items()
             if not options.only or ".".join(k) in options.only}
    version = subprocess.run([options.python, "-c", "import torch; print(torch.__version__, "
                              "torch.cuda.is_available())"], capture_output=True, text=True)
    out = [f"torch {version.stdout.strip() or 'missing'}", "",
           "| model | FakeTensorMode | FakeTensor | Proxy | attempt fast | fast is_contiguous | "
           "slow | PyTorch counts the same | recorder / compile |", "|" + "---|" * 9]
    differ, notes = 0, []
    with tempfile.TemporaryDirectory(prefix="symtape-tables-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {k: pool.submit(run, options, *k, folder) for k in table}
        for key, expected in table.items():
            result = runs[key].result()
            name = " ".join(key)
            notes += [f"## {name}", "", "```", result["notes"].strip(), "```", ""]
            if "failure" in result:
                out.append(f"| {name} | not run: {result['failure']} |" + " |" * 7)
                continue
            cells, n = compare(expected, result["recorded"])
            differ += n > 0
            deep = result["report"]["deep"]
            share = deep["overhead_ns"] / max(1, deep["compile_ns"])
            same = "yes" if result["recorded"] == result["pytorch"] else "**no**"
            out.append(f"| {name} | " + " | ".join(cells) + f" | {same} | {share:.1%} of "
                       f"{deep['compile_ns'] / 1e9:.1f} s |")
            print(out[-1], file=sys.stderr, flush=True)
    out += ["", f"{differ} of {len(table)} rows differ from the table"]
    print("\n".join(out))
    if options.out:
        pathlib.Path(options.out, "deep_tables.md").write_text("\n".join(out + [""] + notes))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
