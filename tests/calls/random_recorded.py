#!/usr/bin/env python3
"""symtape cache and dynamic on recordings of 300 random programs (random_programs.py), compared with what PyTorch did. What is compared is
listed in tests/caches_torch.py, which runs such programs; here no PyTorch is needed.

    random_recorded.py SYMTAPE [-v]
    random_recorded.py SYMTAPE --pack FOLDER...

--pack makes the recordings again from folders that `caches_torch.py --keep FOLDER --programs N --seed N` left. Of each log they have what
decides which entry answers a call: guard trees, calls, metrics of compiles, and reasons of recompiles. Of these is left out what another
run would have otherwise: times, addresses (which are numbered), checksums; and the user's lines behind guards that are not about sizes.
"""
import argparse
import collections
import hashlib
import json
import pathlib
import random
import re
import subprocess
import tempfile

from programs_compared import Answers, check_counts, compare_programs
from dynamic_torch import STATEMENTS  # programs_compared knows the folder
from random_programs import make
from recorded import ROOT, Cases

PACKED = ROOT / "tests" / "recordings" / "random_programs.zst"
PLACE = "/home/user/demo"  # where the programs lay
KINDS = {"dynamo_start", "compilation_metrics", "bwd_compilation_metrics", "dynamo_cpp_guards_str", "symtape_calls", "recompile_reasons",
         "torch_version"}
METRICS = {"compile_id", "frame_key", "co_name", "co_filename", "co_firstlineno", "fail_type", "fail_reason", "is_forward", "is_runtime",
           "has_guarded_code", "dynamo_config"}
SETTINGS = ("recompile_limit", "accumulated_recompile_limit", "assume_static_by_default", "automatic_dynamic_shapes", "specialize_int",
            "specialize_float")
BESIDES = {"frame_id", "frame_compile_id", "attempt", "has_payload"}
PROGRAM = r"[\w/]*(/p\d+_\d+\.py:)"
FIRST_ADDRESS = 1000001
LEAST, LEAST_POLICIES = 1, 0.96  # most of the programs that differ do so once a limit is reached: see symtape-dynamic(1)
PREFIX = "V1101 00:00:00.000000 1 torch/_logging/_internal.py:1] "


def plain(text, addresses):
    """A line of guards without the comment, unless it is about sizes, without times, and with numbers for addresses."""
    comment = r' +# .*?(?=",?$)' if text.startswith('\t"') else r" +# .*"  # a line of a list in JSON, or a plain one
    text = re.sub(PROGRAM, PLACE + r"\1", text) if ".size()[" in text else re.sub(comment, "", text, flags=re.DOTALL)
    text = re.sub(r"latency = [\d.]+", "latency = 1.00", text)
    return re.sub(r"\b\d{12,15}\b", lambda found: str(addresses.setdefault(found[0], FIRST_ADDRESS + len(addresses))), text)


def short_call(row):
    for part in (row, *row.get("frames", [])):
        part.pop("seconds", None)
    return row


def short_record(row, kind):
    """A record without what no comparison reads."""
    if kind == "dynamo_start":
        row[kind]["stack"] = [{**frame, "loc": ""} for frame in row[kind]["stack"][-1:]]
    if kind in ("compilation_metrics", "bwd_compilation_metrics"):
        row[kind] = {name: value for name, value in row[kind].items() if name in METRICS and value is not None}
        settings = json.loads(row[kind].pop("dynamo_config", None) or "{}")
        if settings:
            row[kind]["dynamo_config"] = json.dumps({name: settings[name] for name in SETTINGS})
    if "has_payload" in row:
        row["has_payload"] = ""
    return row


def short_log(log, folder, addresses):
    """The lines of a log that are kept, payloads behind a tab."""
    lines, kind = [], ""
    for line in log.splitlines():
        if line.startswith("\t"):
            if kind == "symtape_calls":
                lines.append("\t" + json.dumps(short_call(json.loads(line))))
            elif kind:
                lines.append(plain(line, addresses))
            continue
        row = json.loads(line[line.index("{"):])
        kind = next((name for name in row if name not in BESIDES), "")
        name = row["artifact"]["name"] if kind == "artifact" else kind
        if name not in KINDS and not (name == "str" and row["str"][0].startswith(folder)):
            kind = ""
            continue
        lines.append(json.dumps(short_record(row, kind)))
    return lines


def long_log(lines):
    """The log of such lines, with prefixes and the checksums of payloads."""
    records = []
    for line in lines:
        if line.startswith("\t"):
            records[-1].append(line)
        else:
            records.append([line])
    out = []
    for header, *payload in records:
        checksum = hashlib.md5("\n".join(line[1:] for line in payload).encode()).hexdigest()
        out += [PREFIX + header.replace('"has_payload": ""', f'"has_payload": "{checksum}"'), *payload]
    return "\n".join(out) + "\n"


def short_truth(row, addresses):
    """What the harness noted of a program under a policy."""
    if row["policy"] != "none":
        return {**row, "rows": [{"compiles": call["compiles"]} for call in row["rows"]]}
    for call in row["rows"]:
        for check in call["checks"]:
            check.update({"reason": plain(check["reason"], addresses)} if "reason" in check else {})
    return row


def pack(symtape, folders):
    lines = []
    for folder in map(pathlib.Path, folders):
        for tape in sorted(folder.glob("batch*.tape"), key=lambda path: int(path.stem.removeprefix("batch"))):
            log = subprocess.run([symtape, "export", tape], capture_output=True, text=True, check=True).stdout
            [place] = set(re.findall(r'"code": "([^"]*)/p[0-9_]*\.py:', log))
            addresses = {}
            live = [short_truth(row, addresses) for row in json.loads(tape.with_suffix(".json").read_text(encoding="utf-8"))]
            names = [row["program"] for row in live if row["policy"] == "none"]
            programs = [(name, make_of(name)[1]) for name in names]
            batch = [json.dumps({"batch": tape.stem, "programs": programs, "live": live}), *short_log(log, place, addresses)]
            lines += [line.replace(place, PLACE) for line in batch]
    subprocess.run(["zstd", "-q", "-f", "--ultra", "-22", "--long=27", "-o", PACKED], input="\n".join(lines) + "\n", text=True, check=True)


def make_of(name):
    """The text of a program and whether policies can be compared, from its name: pSEED_NUMBER."""
    seed, number = map(int, name.removeprefix("p").split("_"))
    return make(random.Random(seed * 100000 + number), STATEMENTS)


def batches():
    text = subprocess.run(["zstd", "-dcq", "--long=27", PACKED], stdout=subprocess.PIPE, check=True).stdout.decode()
    ret = []
    for line in text.splitlines():
        if line.startswith('{"batch"'):
            ret.append((json.loads(line), []))
        else:
            ret[-1][1].append(line)
    return ret


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("symtape")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--pack", nargs="+")
    args = parser.parse_args()
    if args.pack:
        pack(args.symtape, args.pack)
    cases, counts = Cases(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="symtape-random-") as folder:
        log = pathlib.Path(folder, "batch.log")
        for batch, lines in batches():
            log.write_text(long_log(lines), encoding="utf-8")
            compare_programs(Answers(args.symtape, log, batch["programs"], batch["live"]), counts, args.v)
    print(dict(counts))
    check_counts(cases, counts, LEAST, LEAST_POLICIES)
    cases.finish()


main()
