#!/usr/bin/env python3
"""What symtape profile writes for other programs: speedscope, pprof, Chrome's trace format, folded stacks.

Files are checked by the rules of their formats, as their readers state them, with a reader of
profile.proto that is written here, and their sums by what symtape profile --json prints. Two runs
write the same bytes.
"""
import gzip
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from cases import RECORDINGS, Cases, run

LOGS = ["encoder.log.zst", "deep.log.zst", "inductor.log.zst", "graph_break.log.zst", "two_ranks", "exported.pt2"]
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def written(form, name, *options):
    done = run(["profile", "--format", form, *options, RECORDINGS / name])
    assert done.code == 0, done.told()
    return done.out


def sums_of(name):
    """By view: what its weights must add up to, of the profile's JSON."""
    doc = json.loads(written("json", name))
    costs = doc["operator_costs"]
    stacks = json.loads(written("json", name, "--by", "stack,module"))["by"]
    sums = {
        "phases": sum(p["exclusive_ns"] for p in doc["phase_tree"]),
        "lines": sum(line["ns"] for line in doc["lines"] if line["ns"] > 0),
        "stacks": sum(s["self_ns"] for s in stacks["stack"]),
        "stack-guards": sum(s["guards"] for s in stacks["stack"]),
        "modules": sum(m["aten_calls"] for m in stacks["module"]),
        "operators": sum(o["calls"] for o in doc["operators"]),
        "dispatches": sum(o["real"]["self_ns"] for o in costs if o["real"]),
        "replayed": sum(o["replayed"]["dispatches"] for o in costs if o["replayed"]),
        "guards": sum(g["count"] for g in doc["guards"]),
    }
    return {view: n for view, n in sums.items() if n > 0}


def wrong_sums(found, name):
    """`found`: the sums of the views of a file, {view: sum}."""
    wanted = sums_of(name)
    kernels = {view for view in found if view.startswith("kernel")}  # --json has no kernels
    return [f"{view}: {found.get(view)}, not {wanted.get(view)}" for view in sorted((set(found) | set(wanted)) - kernels)
            if found.get(view) != wanted.get(view)]


# ---- speedscope: file-format-schema.json and the checks of its importer ----

def speedscope_problems(name):
    doc = json.loads(written("speedscope", name))
    found, sums = [], {}
    if doc["$schema"] != "https://www.speedscope.app/file-format-schema.json":
        found.append("another $schema")
    frames = doc["shared"]["frames"]
    for frame in frames:
        if not isinstance(frame["name"], str) or not set(frame) <= {"name", "file", "line", "col"}:
            found.append(f"frame {frame}")
    for profile in doc["profiles"]:
        told = profile["name"]
        if set(profile) != {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}:
            found.append(f"{told}: members {sorted(profile)}")
        if profile["type"] != "sampled" or profile["unit"] not in UNITS:
            found.append(f"{told}: type {profile['type']}, unit {profile['unit']}")
        if len(profile["samples"]) != len(profile["weights"]):
            found.append(f"{told}: {len(profile['samples'])} samples, {len(profile['weights'])} weights")
        if any(not 0 <= i < len(frames) for sample in profile["samples"] for i in sample):
            found.append(f"{told}: a frame that is not there")
        if not all(profile["weights"]) or sum(profile["weights"]) != profile["endValue"]:
            found.append(f"{told}: weights do not add up to the end")
        sums[told] = profile["endValue"]
    return found, sums


# ---- pprof: profile.proto ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)]: integers, or bytes."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            assert len(value) == n, "cut"
        else:
            raise AssertionError(f"wire type {key & 7}")
        found.append((key >> 3, value))
    return found


def packed(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def by_number(data):
    found = defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def pprof_problems(name):
    profile = by_number(gzip.decompress(written("pprof", name)))
    strings = [text.decode() for text in profile[6]]
    found = [] if strings[0] == "" else ["the first string is not empty"]
    types = [by_number(value) for value in profile[1]]
    names = [strings[t[1][0]] for t in types]
    units = {strings[t[2][0]] for t in types}
    functions = {by_number(value)[1][0]: by_number(value) for value in profile[5]}
    locations = {by_number(value)[1][0]: by_number(value) for value in profile[4]}
    if not units <= {"nanoseconds", "count"} or (types and strings[profile[14][0]] != names[0]):
        found.append(f"types {names}, units {units}")
    if 0 in functions or 0 in locations:
        found.append("0 is no id")
    for location in locations.values():
        line = by_number(location[4][0])
        if line[1][0] not in functions:
            found.append("a location without its function")
    for function in functions.values():
        if not strings[function[2][0]]:
            found.append("a function without a name")
    sums = Counter()
    for value in profile[2]:
        sample = by_number(value)
        values = packed(sample[2][0])
        if len(values) != len(types) or not set(packed(sample[1][0])) <= set(locations):
            found.append(f"sample {sample}")
        sums.update({names[i]: n for i, n in enumerate(values) if n})
    return found, dict(sums)


# ---- Chrome's trace format ----

def nests(spans):
    open_ends = []
    for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            return False
        open_ends.append(end)
    return True


# By kind of event, the members that it must have and their types (Trace Event Format, "Event Descriptions"). Times
# are microseconds with three digits, here read as whole nanoseconds.
ALWAYS = {"name": str, "ph": str, "pid": int, "tid": int, "args": dict}
MEMBERS = {
    "X": {**ALWAYS, "cat": str, "ts": int, "dur": int},
    "i": {**ALWAYS, "cat": str, "ts": int, "s": str},
    "C": {**ALWAYS, "ts": int},
    "M": ALWAYS,
}


def well_formed(event):
    members = MEMBERS.get(event["ph"], {})
    return (set(event) == set(members) and all(type(event[name]) is kind for name, kind in members.items()) and event.get("dur", 0) >= 0
            and event.get("s", "t") in "gpt" and (event["ph"] != "M" or event["name"] in ("process_name", "thread_name")))


def chrome_sums(name):
    """By view, where its last event ends, which is the sum of its weights."""
    events = json.loads(written("chrome", name))["traceEvents"]
    views = [e for e in events if e["pid"] == sums_process(events)]
    named = {e["tid"]: e["args"]["name"] for e in views if e["name"] == "thread_name"}
    sums = Counter()
    for e in views:
        if e["ph"] == "X":
            sums[named[e["tid"]]] = max(sums[named[e["tid"]]], round((e["ts"] + e["dur"]) * 1000))
    return {title.replace(" (1 us each)", ""): n // 1000 if title.endswith("(1 us each)") else n for title, n in sums.items()}


def sums_process(events):
    return next((e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "sums, each from 0"), None)


def chrome_problems(name):
    doc, profile = json.loads(written("chrome", name), parse_float=lambda t: int(t.replace(".", ""))), json.loads(written("json", name))
    events, found = doc["traceEvents"], [f"not as the format says: {event}" for event in doc["traceEvents"] if not well_formed(event)]
    lanes, last = defaultdict(list), Counter()
    views = len(profile["recordings"])  # the number of their process
    for event in events:
        if event["ph"] != "M" and event["ts"] < 0:
            found.append(f"before the start: {event}")
        if event["ph"] == "X":
            lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["ph"] == "C":
            key = event["pid"], event["name"]
            if event["args"] != {event["name"]: last[key] + 1}:
                found.append(f"counter {event}")
            last[key] += 1
    processes = defaultdict(set)
    for event in events:
        if event["ph"] in "Xi":
            processes[event["tid"]].add(event["pid"])
    found += [f"thread {tid} of processes {pids}: Perfetto knows threads by their numbers" for tid, pids in processes.items() if tid == 0 or len(pids) > 1]
    found += [f"thread {lane} does not nest" for lane, spans in lanes.items() if not nests(spans)]
    guards = sum(event["ph"] == "i" for event in events)
    wanted = sum(g["count"] for g in profile["guards"])
    if guards != wanted or sum(n for (_, name), n in last.items() if name == "guards") != wanted:
        found.append(f"{guards} guards, not {wanted}")
    end = max((e["ts"] + e.get("dur", 0) for e in events if e["ph"] == "X" and e["pid"] < views), default=0)
    late = [e for e in events if e["ph"] in "iC" and e["ts"] > end + 10**9]
    return found + [f"{len(late)} records a second or more after all phases"] * bool(late)


# ---- Folded stacks ----

def folded_problems(name):
    found, sums = [], {}
    for view in sums_of(name):
        lines = written("folded", name, "--view", view).decode().splitlines()
        for line in lines:
            stack, _, count = line.rpartition(" ")
            if not stack or not count.isdigit() or int(count) == 0:
                found.append(f"{view}: {line}")
        sums[view] = sum(int(line.rpartition(" ")[2]) for line in lines)
        if lines != sorted(lines, key=lambda line: line.encode()):
            found.append(f"{view}: not sorted")
    for view, n in sums_of(name).items():
        microseconds = view in ("phases", "lines", "stacks", "dispatches")
        wanted = n // 1000 if microseconds else n
        if not (wanted - 1000 if microseconds else wanted) <= sums[view] <= wanted:
            found.append(f"{view}: {sums[view]}, not {wanted}")
    return found


def titled(sums):
    """The sums of speedscope's profiles by the names of their views, which stack_views.def has."""
    rows = (Path(__file__).parent.parent / "profile/viewers/stack_views.def").read_text().split("STACK_VIEW(")[2:]
    names = {row.split('"')[3]: row.split('"')[1] for row in rows}
    return {names[title.replace("lines, by measured", "lines, by estimated")]: n for title, n in sums.items()}


def main():
    cases = Cases()
    for name in LOGS:
        found, sums = speedscope_problems(name)
        cases.check(f"speedscope of {name}", found + wrong_sums(titled(sums), name))
        found, sums = pprof_problems(name)
        cases.check(f"pprof of {name}", found + wrong_sums(sums, name))
        cases.check(f"chrome of {name}", chrome_problems(name) + wrong_sums(titled(chrome_sums(name)), name))
        cases.check(f"folded stacks of {name}", folded_problems(name))
    for form in ("speedscope", "pprof", "chrome", "folded"):
        same = written(form, LOGS[0]) == written(form, LOGS[0])
        cases.check(f"{form}: the same bytes", [] if same else ["they differ"])
    with tempfile.TemporaryDirectory(prefix="symtape-viewers-test-") as folder:
        path = Path(folder) / "x.pb.gz"
        done = run(["profile", "-o", path, RECORDINGS / LOGS[0]])
        cases.check("a file has the bytes of standard output",
                    [] if done.code == 0 and path.read_bytes() == written("pprof", LOGS[0]) else [done.told()])
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
