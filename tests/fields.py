#!/usr/bin/env python3
"""Every field of every JSON document is told in the manual page of its command.

Runs the reporting commands on the project's own recordings, collects the keys of what they print, and
looks for each as *key* in the page's JSON section. Objects whose keys are names of something else
(operators, events, libraries) are told as such and not looked into.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import RECORDINGS, ROOT, SYMTAPE

SHOW = ["--graphs", "--guards", "--symbols", "--specializations", "--events", "--restarts", "--recompiles",
        "--breaks", "--caches", "--failures", "--levels", "--stack"]
EXPORTED = ["--graphs", "--symbols", "--signature", "--weights", "--events"]
SCHEMAS = {"diagnose": "diagnosis"} # where the document is not named like its command
# Keys of objects below these are names of something else, or an event's own.
FREE = {"info": {"events"}, "version": {"libraries"}, "show": {"kwargs"},
        "replay": {"fast", "bypass"}, "run": {"sizes", "fast", "bypass", "product_flops_per_s"}, "diff": {"counts"}, "events": {"meta"},
        "report": {"profile", "guards", "unsupported_ops"},
        "each": {"result"}, "profile": {"diagnosis", "parts", "by_class", "calls", "thrown_calls", "nodes_by_level",
                    "kept_nodes_by_level"}}


def documents(folder):
    """(command, what to look for, argument lists) for each document."""
    recordings = sorted(RECORDINGS.glob("**/*.log.zst"))
    tape = folder / "all.tape"
    yield "import", [["import", "--json", "-o", str(tape), *map(str, recordings)]]
    yield "record", [["record", "--json", "-o", str(folder / "record.tape"), "--", "true"]]
    yield "info", [["info", "--json", str(r)] for r in recordings]
    yield "minify", [["minify", "--json", "--overwrite", "-o", str(folder / "small.tape"),
                      f"{RECORDINGS}/train.log.zst:0/0:forward", "--check-ops", "aten.tanh",
                      "--repro", str(folder / "repro.py")]]
    yield "version", [["version", "--json"]]
    yield "diff", [["diff", "--json", str(a), str(b)] for a, b in zip(recordings, recordings[1:])]
    yield "profile", [["profile", "--json", str(r)] for r in recordings] + [
        ["profile", "--json", "--by", "op,line,stack,module", str(recordings[0])],
        ["profile", "--json", "--cost-model", f"{RECORDINGS}/deep.log.zst", f"{RECORDINGS}/mlp.log.zst"],
        ["profile", "--json", *map(str, recordings[-2:])]]
    yield "report", [["report", "--json", str(r)] for r in recordings[::8]]
    yield "diagnose", [["diagnose", "--json", str(r)] for r in recordings]
    yield "show", [["show", "--json", str(r), *SHOW] for r in recordings]
    yield "check", [["check", "--json", "--max", "guards:100000", str(recordings[0])],
                    ["check", "--list", "--json", str(recordings[0])]]
    yield "opcheck", [["opcheck", "--json", str(r)] for r in recordings] + [
        ["opcheck", "--json", "--cases", str(ROOT / "tests" / "replay" / "cases" / "wrong.jsonl")]]
    yield "replay", [["replay", "--json", "--guards", "--operators", f"{RECORDINGS}/train.log.zst"],
                     ["replay", "--json", f"{RECORDINGS}/deep.log.zst"],
                     ["replay", "--json", "--dynamic", "recorded,static", f"{RECORDINGS}/train.log.zst"],
                     ["replay", "--json", "--what-if", "s23=5", f"{RECORDINGS}/train.log.zst"],
                     ["replay", "--json", "--ablate", "identity:addmm,cache+roofline", f"{RECORDINGS}/mlp.log.zst"],
                     ["replay", "--json", "--audit", "fastpath", f"{RECORDINGS}/train.log.zst"]]
    yield "run", [["run", "--json", "--profile", "--runs", "2", f"{RECORDINGS}/train.log.zst:0/0:forward"],
                  ["run", "--json", "--backend", "null", f"{RECORDINGS}/train.log.zst"],
                  ["run", "--json", "--compare-with", "cpu", "--nodes", "--perturb", "tanh=1", f"{RECORDINGS}/train.log.zst:0/0:forward"],
                  ["run", "--json", "--sizes", "s23=2..20", f"{RECORDINGS}/train.log.zst"]]
    encoder = f"{RECORDINGS}/encoder.log.zst"
    yield "why", [["why", "--json", encoder, "x.size(1)", "--between", "31,24"],
                  ["why", "--json", encoder, "s27 % 8 == 0"],
                  ["why", "--json", f"{encoder}:0/1:dynamo", "layer_norm"]]
    yield "inputs", [["inputs", "--json", f"{RECORDINGS}/train.log.zst"],
                     ["inputs", "--json", f"{encoder}:0/1", "--cover", "s27=16..512:8"],
                     ["inputs", "--json", encoder, "--cover", "s27=1..64", "--assume", "s27 % 8 == 0"]]
    yield "validate", [["validate", "--json", encoder], ["validate", "--json", f"{RECORDINGS}/data_dependent.log.zst"]]
    yield "cache", [["cache", "--json", "--all", "--calls", f"{RECORDINGS}/sequence.jsonl", *limit, f"{RECORDINGS}/sequence.log.zst"]
                    for limit in ([], ["--recompile-limit", "8"])]
    yield "cache", [["cache", "--json", f"{RECORDINGS}/starts/cold.log.zst", f"{RECORDINGS}/starts/warm.log.zst"],
                    ["cache", "--json", "--policy", "levels", f"{RECORDINGS}/levels.log.zst"],
                    ["cache", "--json", "--ranks", f"{RECORDINGS}/two_ranks"]]
    yield "ranks", [["ranks", "--json", f"{RECORDINGS}/{job}"] for job in ("ranks_missing", "two_ranks")]
    yield "dash", [["dash", "--json", f"{ROOT}/tests/dash/monday", f"{ROOT}/tests/dash/tuesday", "--expect", f"{ROOT}/tests/dash/expected"],
                   ["dash", "--json", encoder, "--to", encoder]]
    yield "collect", [["collect", "--json", "-o", str(folder / "all.sqlite"), *map(str, recordings[:3]), str(ROOT / "README.md")]]
    yield "query", [["query", "--json", str(folder / "all.sqlite"), "tapes"], ["query", "--list", "--json"]]
    yield "each", [["each", "check", "--max", "guards:100000", str(recordings[0])]]
    yield "dynamic", [["dynamic", "--json", "--calls", f"{RECORDINGS}/sequence.jsonl", f"{RECORDINGS}/sequence.log.zst"]]
    calls = ["--calls", f"{RECORDINGS}/sequence.jsonl"]
    yield "advise", [["advise", "--json", *calls, f"{RECORDINGS}/sequence.log.zst"], ["advise", "--json", encoder],
                     ["advise", "--json", "--apply", str(Path(__file__).parent / "models/sequence.py"), *calls,
                      f"{RECORDINGS}/sequence.log.zst"]]
    yield "cudagraphs", [["cudagraphs", "--json", "--on-gpu", "--calls", f"{RECORDINGS}/sequence.jsonl", f"{RECORDINGS}/sequence.log.zst"]]
    yield "guards", [["guards", "--json", *calls, f"{RECORDINGS}/sequence.log.zst"],
                     ["guards", "--json", f"{RECORDINGS}/mlp.log.zst", f"{RECORDINGS}/train.log.zst"]]
    archives = sorted(RECORDINGS.glob("**/*.pt2"))
    yield "info", [["info", "--json", str(a)] for a in archives]
    yield "show", [["show", "--json", str(a), *EXPORTED] for a in archives]
    yield "show", [["show", "--json", str(recordings[0]), "--graph", "dynamo"],
                   ["show", "--json", str(recordings[0]), "--artifact", "chromium_event"]]


def keys_of(value, free, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(key)
            if key not in free or not isinstance(inner, dict):
                keys_of(inner, free, found)
    elif isinstance(value, list):
        for inner in value:
            keys_of(inner, free, found)
    return found


def documented(command):
    page = (ROOT / "man" / f"symtape-{command}.1.scd").read_text()
    section = page.partition("\n# JSON\n")[2].partition("\n# ")[0]
    return set(re.findall(r"\*([a-z_0-9]+)\*", section.replace("\\", "")))


def check(command, arguments):
    """The fields that the page lacks; a program that fails lacks all."""
    run = subprocess.run([SYMTAPE, *arguments], capture_output=True, text=True)
    no_claims = command == "validate" and run.returncode == 125  # it has asserts only
    some_failed = command == "collect" and run.returncode == 3
    if not no_claims and not some_failed and run.returncode > (command in ("cache", "dash", "diff", "guards", "inputs", "opcheck", "ranks", "run")):  # what differs
        return {f"exit {run.returncode}: {run.stderr.strip()}"}
    document = json.loads(run.stdout)
    schema = f"symtape.{SCHEMAS.get(command, command)}"
    if document.get("schema") not in [schema + form for form in ("/1", ".compare/1", ".cover/1", ".levels/1", ".ranks/1", ".list/1")]:
        return {"schema"}
    free = FREE.get("events" if "--events" in arguments else command, set())
    return keys_of(document, free, set()) - documented(command)


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for command, runs in documents(Path(folder)):
            missing = set().union(*(check(command, arguments) for arguments in runs))
            failed |= bool(missing)
            told = f"not ok - {command}: not in its page: {', '.join(sorted(missing))}"
            print(told if missing else f"ok - {command}: every field is told ({len(runs)} documents)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
