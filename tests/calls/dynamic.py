#!/usr/bin/env python3
"""symtape dynamic on recorded sequences of calls (../shared/sequences), compared with what PyTorch did.

    dynamic.py SYMTAPE [NAME...]

What automatic dynamic shapes remember at the end is what the truth file says, and the symbols of each compile are those that the log has.
From the recording of a program under dynamic=None, the calls that compile or are refused under dynamic=True, dynamic=False and with marks
have to be those of the recordings of the same program made that way.
"""
import ast
import collections
import json
import re
import subprocess
import tempfile

from recorded import SHARED, begin, read

POLICIES = {"none": "automatic", "true": "dynamic", "false": "static", "mark": "marked"}
PART = re.compile(r"\.(size|stride|storage_offset)\(\)(\[\d+\])?$")


def replay(symtape, name, *options):
    done = subprocess.run([symtape, "dynamic", "--json", "-q", *options, "--calls", str(SHARED / f"{name}.calls.jsonl"),
                           str(SHARED / f"{name}.log.zst")], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def atom(value):
    """An element of the truth as symtape prints it."""
    if value == "dynamic":
        return "?"
    if isinstance(value, list):
        return [atom(item) for item in value]
    stride = re.fullmatch(r"InferStride\(dim=(\d+)\)", str(value))
    return f"S({stride[1]})" if stride else value


def listed(rows):
    """The sources that calls give; what is remembered of others is told by guards alone."""
    return {arg["source"] for row in rows if "call" in row for arg in row["args"] + row.get("state", [])}


def compare_state(ours, rows, code_of_calls):
    """Returns what is remembered wrongly, of sources that calls give, and counts of those and of others."""
    mine = {(row["code"], row["source"]): row for row in ours["state"]}
    problems, counts = [], collections.Counter()
    given = listed(rows)
    for state in rows[-1]["final"] and rows[-1]["frame_state"] or []:
        code = re.sub(r"^hash\(\w*\)", "", state["code"])
        key = (code, state["source"].replace('"', "'"))
        about = state["source"] in given and code in code_of_calls
        kind = "remembered" if about else "remembered of sources that no call gives"
        counts[kind] += 1
        want = {part: atom(state[part]) for part in ("scalar", "size", "stride")}
        got = {part: mine[key][part] for part in want} if key in mine else None
        if got != want:
            counts["wrongly " + kind] += 1
            if about:
                problems.append(f"{key[1]} of {code}: {want}, not {got}")
    return problems, counts


def created(name):
    """By compile: the sources of symbols that the log has."""
    ret = collections.defaultdict(dict)
    log = subprocess.run(["zstd", "-dc", "--long=27", str(SHARED / f"{name}.log.zst")], capture_output=True, check=True).stdout
    for line in log.decode("utf-8", "replace").splitlines():
        if '"create_symbol"' not in line or "{" not in line:
            continue
        record = json.loads(line[line.index("{"):])
        if "frame_id" in record and record.get("attempt", 0) >= 0:
            symbol = record["create_symbol"]
            ret[f"{record['frame_id']}/{record['frame_compile_id']}"][symbol["source"].replace('"', "'")] = symbol["val"]
    return ret


def compare_symbols(ours, name, rows):
    """Sizes and numbers that calls give. With dynamic=True, equal sizes share a symbol."""
    problems, counts, log = [], collections.Counter(), created(name)
    given = listed(rows)
    unbacked = {f"{arg['source']}.size()[{dim}]" for row in rows if "call" in row for arg in row["args"]
                for dim in arg.get("marks", {}).get("unbacked", [])}
    for compile in ours["compiles"]:
        want = {source for source in log[compile["compile"]] if PART.sub("", source) in given and ".stride()" not in source and
                ".storage_offset()" not in source}
        got = set(compile["symbols"]) - (unbacked - want)  # records of unbacked symbols name no source
        shared = {source for source in got - want if rows[0]["policy"] == "true" and PART.search(source)}
        counts["symbols"] += len(want)
        for source in sorted((want ^ got) - shared):
            counts["wrong symbols"] += 1
            problems.append(f"{compile['compile']}: {source} is {'not ' if source in want else ''}made a symbol")
    return problems, counts


def compiles_of(rows):
    return ([row["call"] for row in rows if "call" in row and row["compiles"]],
            [row["call"] for row in rows if "call" in row and row.get("refused")])


def marks_of(rows):
    """The marks that the recorded program set, as --marks takes them."""
    marks = {f"{arg['source']}:{dim}" for row in rows if "call" in row for arg in row["args"]
             for dim in arg.get("marks", {}).get("dynamic", [])}
    return ",".join(sorted(marks))


def compare_policy(symtape, program, policy):
    rows = read(f"{program}.{policy}")
    options = ("--marks", marks_of(rows)) if policy == "mark" else ()
    ours = replay(symtape, f"{program}.none", *options)
    mine = next(row for row in ours["policies"] if row["policy"] == POLICIES[policy])
    want, got = compiles_of(rows), (mine["compiled"], mine["refused_at"])
    return [] if want == got else [f"compiles and refusals at {want}, not {got}"]


def compare_alternatives(symtape, name, ours):
    """What is pasted is Python, and spares something; a list of sources costs what the same marks cost if they are given."""
    problems = []
    recorded = ours["policies"][0]
    for way in ours["marks"]["alternatives"]:
        for line in way["paste"]:
            ast.parse(line["text"])
        if way["kind"] == "shapes_spec":
            continue
        if (way["eager"], way["compiles"]) >= (recorded["eager"], recorded["compiles"]):
            problems.append(f"{way['kind']} costs {way['compiles']} compiles and spares nothing")
        if way["kind"] == "dynamic_sources":
            marks = ast.literal_eval(way["paste"][0]["text"].partition(" = ")[2])
            mine = next(row for row in replay(symtape, name, "--marks", marks)["policies"] if row["policy"] == "marked")
            if (mine["compiles"], mine["eager"]) != (way["compiles"], way["eager"]):
                problems.append(f"{marks}: {mine['compiles']} compiles if they are given, not {way['compiles']}")
    return problems


def stale_inputs(symtape):
    """Of the run that starts from a profile, only the calls with the first size of w: the profile made that size dynamic."""
    rows = [row for row in read("pgo_job.run2") if "call" in row]
    size = {row["call"]: next(arg["size"] for arg in row["args"] if arg["source"] == "L['w']") for row in rows}
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as calls:
        calls.write("".join(json.dumps(row) + "\n" for row in rows if size[row["call"]] == size[rows[0]["call"]]))
        calls.flush()
        done = subprocess.run([symtape, "dynamic", "--json", "-q", "--calls", calls.name, str(SHARED / "pgo_job.run2.log.zst")],
                              capture_output=True, text=True, check=True)
    return {(row["source"], row["dim"]) for row in json.loads(done.stdout)["inputs"] if row["stale"]}


def main():
    cases, symtape, _, names, sequences = begin("dynamic")
    total = collections.Counter()
    for name in sequences:
        rows, ours = read(name), replay(symtape, name)
        codes = {row["entries"][0]["code"] for row in rows if row.get("entries")}
        state, counts = compare_state(ours, rows, codes)
        total += counts
        symbols, counts = compare_symbols(ours, name, rows)
        total += counts
        cases.check(f"{name}: what is remembered", state)
        cases.check(f"{name}: symbols", symbols)
        cases.check(f"{name}: what to paste", compare_alternatives(symtape, name, ours))
        program, _, policy = name.partition(".")
        if policy in POLICIES:
            cases.check(f"{name}: compiles, from {program}.none", compare_policy(symtape, program, policy))
    if not names:
        stale = stale_inputs(symtape)
        cases.check("pgo_job.run2: the profile is stale", [] if stale == {("L['w']", 1)} else [f"stale are {stale}"])
    print(dict(total))
    cases.finish()


main()
