#!/usr/bin/env python3
"""The files of this folder through every command that reads them: README.md tells what must happen.

usage: hostile.py [--only NAME] [--torch]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "mutate")]
import cases  # noqa: E402
import commands  # noqa: E402
import judge  # noqa: E402
import tapes  # noqa: E402
from pick import TRAP  # noqa: E402

REFUSED = ["target_expr", "target_nl", "target_nl0", "float_str", "float_inf", "int_str", "complex_arg", "operator_arg",
           "key"]
QUOTED = ["device_in", "device_arg", "string_arg", "sym_name", "node_name", "input_name", "custom_obj"]
SECRETS = [b"SECRETSTRING", b"SECRETMODEL", b"SECRETCODE", b"secretproj", b"alice"]
FILES = "--repro out.py --issue out.md --fx out.fx --good out.good.py"
MINIFY = f"minify {{in}} {commands.MINIFY} {FILES}"
# Of an FX text: each way to ask, with everything that is written.
WAYS = ["--expect .", "--check-ops aten.sin", "--check-ops aten.div", "--check-ops aten.view", "--check {program}",
        "--torch-oracle compile", "--torch-oracle run --backend eager", "--torch-oracle export --cpu"]
# Of a file that takes much memory or time: each command that reads it, once.
READERS = ["info {in}", "info --json {in}", "show {in} --graphs", "show {in} --events --json --limit 40", "profile {in}", "report {in} --json",
           "replay {in}", "diff {good} {in}", "check --list {in}", "export --log {in}", "export --log {in} -o out.log",
           "import {in} -o out.tape", "bisect {in}:0/0 --list"]
LOUD = 4 << 30  # of address space: what takes more does not take the machine's


class Hostile:
    def __init__(self, folder, torch):
        self.folder, self.torch = folder, torch
        self.python = os.environ.get("SYMTAPE_PYTHON", "python3") if torch else "python3"
        train = cases.RECORDINGS / "train.log.zst"
        good, baseline = folder / "good.tape", folder / "baseline.json"
        for args in (["import", train, "-o", good], ["check", "--save", baseline, train]):
            if cases.run(args).code != 0:
                sys.exit(f"cannot make files to test with: {args}")
        (folder / "sizes").write_text("s77=5\n")
        self.known = {"good": good, "baseline": baseline, "rules": cases.ROOT / "tests" / "rules" / "mylib.rules",
                      "sizes_file": folder / "sizes", "sizes": "s77=5", "program": commands.PROGRAM}

    def run(self, name, line, graph="", terminal=False, memory=0):
        """Gives the place, how it ended and what was wrong."""
        raw = (HERE / name).read_bytes()
        place = judge.Place(Path(tempfile.mkdtemp(dir=self.folder)), {name: raw})
        known = {**self.known, "in": name, "stdin": "-", "graph": f"{name}:{graph}", "compile": name if name.endswith(".pt2") else f"{name}:0/0"}
        args = [word.format_map(known) for word in line.split()] + (["--color", "never"] if terminal else [])
        ran = judge.run(place, args, terminal, self.python, memory, not self.torch,
                        name if "{stdin}" in line else None)
        return place, ran, [f"symtape {' '.join(args)}: {p}" for p in judge.problems(place, ran, args, {name: raw})]


def readers(name):
    """A part of what only reads, another one for each file, so that each command has its turn."""
    parts = 8 if cases.is_sanitized() else 4
    return commands.RECORDS[sorted(CHECKS).index(name) % parts::parts]


def of_graphs(name):
    """What takes a graph; under sanitizers the other half for each second file."""
    return commands.GRAPH[sorted(CHECKS).index(name) % 2::2] if cases.is_sanitized() else commands.GRAPH


def culprit(name):
    """The node of a .pt2 that holds the text which must not run."""
    with zipfile.ZipFile(HERE / name) as archive:
        model = next(n for n in archive.namelist() if re.search(r"models/.*\.json$", n))
        program = json.loads(archive.read(model))
    for node in program["graph_module"]["graph"]["nodes"]:
        if TRAP in json.dumps(node):
            return next(iter(node["outputs"][0].values()))["name"]
    return None


def refused_archive(hostile, name):
    """Whatever needs the graph is refused with the node's name; the rest reads what there is."""
    node, found = culprit(name), []
    for line in [*readers(name), *of_graphs(name), *commands.ARCHIVE]:
        _, ran, wrong = hostile.run(name, line, ":exported")
        found += wrong
        needs = "{graph}" in line or line in commands.ARCHIVE
        if needs and ran.code != 3:
            found.append(f"{line}: {ran.words()}, not exit 3")
        elif needs and node.encode() not in ran.err + ran.out:
            found.append(f"{line}: does not name {node}: {ran.words()}")
        if b"out of memory" in ran.err:
            found.append(f"{line}: says 'out of memory'")
    return found


def quoted_archive(hostile, name):
    return [p for line in [*readers(name), *of_graphs(name), *commands.ARCHIVE]
            for p in hostile.run(name, line, ":exported")[2]]


def an_fx(hostile, name):
    found = []
    for line in [*commands.FX, *(f"{MINIFY} {way}{more}" for way in WAYS for more in ("", " --anonymize"))]:
        found += hostile.run(name, line)[2]
    return found


def a_log(hostile, name):
    return [p for line in [*readers(name), *of_graphs(name)] for p in hostile.run(name, line, "0/0:forward")[2]]


def anonymized(hostile, name):
    found = an_fx(hostile, name)
    for way in WAYS:
        place, ran, _ = hostile.run(name, f"{MINIFY} {way} --anonymize")
        written = {str(p.relative_to(place.work)): p.read_bytes() for p in place.work.rglob("*")
                   if p.is_file() and p.name != name}
        if (place.work / "out.tape").exists():
            written["out.tape"] = b"".join(block.bytes()[0] for block in tapes.Tape(written["out.tape"]).blocks)
        found += [f"{way}: {secret.decode()} is in {file}" for file, raw in written.items() for secret in SECRETS
                  if secret in raw]
        if way == "--check-ops aten.div" and not {"out.tape", "out.fx", "out.py", "out.md"} <= set(written):
            found.append(f"{way}: writes only {sorted(written)}: {ran.words()}")
    return found


def escapes(hostile, name):
    found = an_fx(hostile, name)
    for way in WAYS:
        place, _, wrong = hostile.run(name, f"{MINIFY} {way}", terminal=True)
        found += wrong
        for page in place.work.glob("out*.md"):
            text = page.read_text(errors="replace")
            if judge.CONTROL.search(text):
                found.append(f"{way}: the issue has {judge.CONTROL.search(text).group()!r}")
            title = text.split("\n")[0]
            if re.search(r"(?<!\\)<img", re.sub(r"`[^`]*`", "", title)):
                found.append(f"{way}: HTML in the issue's title: {title!r}")
    return found


def no_memory_said(hostile, name):
    found = an_fx(hostile, name) if name.endswith(".fx") else a_log(hostile, name)
    lines = [f"{MINIFY} {way}" for way in WAYS] if name.endswith(".fx") else ["replay {in}", "info {in}", "show {in} --graphs"]
    for line in lines:
        _, ran, _ = hostile.run(name, line)
        if b"memory" in ran.err + ran.out or ran.code == 4 and "oracle" not in line:
            found.append(f"{line}: {ran.words()}")
    if name.endswith(".log"):
        _, ran, _ = hostile.run(name, "replay {in} --json")
        graphs = json.loads(ran.out or b"{}").get("graphs", [])
        if len(graphs) != 4:
            found.append(f"replay tells {len(graphs)} graphs, not 4: {ran.words()}")
        with_errors = [g for g in graphs if g.get("error")]
        if len(with_errors) != 1:
            found.append(f"{len(with_errors)} graphs of replay have an error, not 1")
    return found


def bounded(hostile, name, must_refuse):
    found = []
    for line in READERS:
        _, ran, wrong = hostile.run(name, line, memory=LOUD)
        found += wrong
        if line in must_refuse and ran.code != 3:
            found.append(f"{line}: {ran.words()}, not exit 3")
    return found


def file_names(hostile, name):
    """Each recording becomes a file in the folder, with a name of printable characters that no program
    takes for an option."""
    found = [p for line in readers(name) for p in hostile.run(name, line)[2]]
    place, ran, wrong = hostile.run(name, "export --log {in} -o out")
    names = sorted(p.name for p in place.work.glob("out/*"))
    odd = [n for n in names if judge.CONTROL.search(n) or n[0] in "-." or not (place.work / "out" / n).is_file()]
    if ran.code != 0 or len(names) != 6 or odd:
        found.append(f"export makes {names}: {ran.words()}")
    return found + wrong


CHECKS = {
    **{f"{name}.pt2": refused_archive for name in REFUSED},
    **{f"{name}.pt2": quoted_archive for name in QUOTED},
    "cr_title.fx": an_fx, "cr_title.log": a_log, "dotted_target.fx": an_fx, "dotted_targets.fx": an_fx,
    "anonymize.fx": anonymized, "tty_escape.fx": escapes,
    "device_minus_one.fx": no_memory_said, "device_minus_one.log": no_memory_said,
    "recording_names.tape": file_names,
    "stack_bomb.tape": lambda h, n: bounded(h, n, ["export --log {in}", "export --log {in} -o out.log"]),
    "alike_records.tape": lambda h, n: bounded(h, n, ["info {in}", "info --json {in}"]),
    "one_line.log.zst": lambda h, n: bounded(h, n, []),
}


# Whose programs are run by PyTorch itself as well.
TORCH = ["cr_title.fx", "dotted_target.fx", "dotted_targets.fx", "string_arg.pt2", "custom_obj.pt2", "device_in.pt2",
         "sym_name.pt2", "target_nl0.pt2", "key.pt2"]


def with_torch(hostile, name):
    """PyTorch keeps caches of its own in $TMPDIR, and its memory counts as that of who started it: what
    matters is that nothing of the file is run."""
    graph, found = ":exported" if name.endswith(".pt2") else "0/0:forward", []
    for line in ("minify {what} -o out.tape --max-calls 4 --deadline 60 --torch-oracle compile --repro out.py",
                 "minify {what} -o out.tape --max-calls 9 --deadline 60 --expect . --repro out.py --issue out.md"):
        wrong = hostile.run(name, line.replace("{what}", "{in}" if name.endswith(".fx") else "{graph}"), graph)[2]
        found += [p for p in wrong if TRAP in p or not re.search("leaves|MiB of memory", p)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=CHECKS)
    parser.add_argument("--torch", action="store_true")
    args = parser.parse_args()
    tell = cases.Cases()
    names = [args.only] if args.only else sorted(CHECKS)
    if args.torch:
        python = os.environ.get("SYMTAPE_PYTHON", "python3")
        if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            tell.skip("hostile files", f"{python} has no PyTorch")
            tell.finish()
        if cases.is_sanitized():
            tell.skip("hostile files", "the other build has PyTorch run them")
            tell.finish()
        names = [n for n in names if n in TORCH]
    there = {p.name for p in HERE.iterdir() if p.suffix in (".fx", ".log", ".pt2", ".tape", ".zst")}
    with tempfile.TemporaryDirectory(prefix="symtape-hostile-") as folder, ThreadPoolExecutor(cases.jobs()) as pool:
        hostile = Hostile(Path(folder), args.torch)
        checks = [pool.submit(with_torch if args.torch else CHECKS[n], hostile, n) for n in names]
        for name, check in zip(names, checks):
            found = [re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", f) for f in check.result()]
            more = [f"and {len(found) - 3} more"] if len(found) > 3 else []
            tell.check(f"hostile {name}", found[:3] + more)
    tell.check("each hostile file has its test", [f"{n} has none" for n in sorted(there - set(CHECKS))])
    tell.finish()


if __name__ == "__main__":
    main()
