"""What symtape cache and symtape dynamic say of random programs (random_programs.py), compared with what PyTorch did: for
tests/caches_torch.py, which runs the programs, and random_recorded.py, which has recordings of them."""
import collections
import json
import subprocess
import sys

from recorded import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from calls_torch import answers_of, written_out  # noqa: E402
from dynamic_torch import POLICIES  # noqa: E402
from sequences import compare_checks  # noqa: E402

MARKS = {"x": [0], "y": [0, 1], "w": [0]}


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=True).stdout


class Answers:
    """What symtape says of a recording of several programs, [(name, whether policies can be compared)]; live has the rows of the
    harness for each policy and program."""

    def __init__(self, symtape, tape, programs, live):
        self.programs = programs
        self.live = {(row["policy"], row["program"]): row["rows"] for row in live}
        lines = run(symtape, "show", "--artifact", "symtape_calls", tape).splitlines()
        rows = [json.loads(line) for line in lines if line.startswith('{"call"')]
        self.recorded = [row for row in written_out(rows) if "backward_of" not in row]
        self.cache = json.loads(run(symtape, "cache", "--json", "--all", tape))
        there = {(row["source"], row["dim"]) for row in json.loads(run(symtape, "dynamic", "--json", "-q", tape))["inputs"]}
        marks = ",".join(f"{name}:{dim}" for name, dims in MARKS.items() for dim in dims if (f"L['{name}']", dim) in there)
        report = json.loads(run(symtape, "dynamic", "--json", "-q", *(("--marks", marks) if marks else ()), tape))
        self.policies = {row["policy"]: set(row["compiled"]) for row in report["policies"]}

    def split(self):
        """The calls of each program: those of the harness follow each other; calls in between belong to the program, too."""
        at = 0
        for name, plain in self.programs:
            rows, calls, end = self.live["none", name], [], at
            while end < len(self.recorded) and f"/{name}.py:" in self.recorded[end].get("code", f"/{name}.py:"):
                end += 1
            calls = list(zip(self.recorded[at:end], self.cache["calls"][at:end]))
            at = end
            yield name, plain, rows, calls


def compare_answers(calls, counts):
    """The look-ups, with those that the recorder saw."""
    problems = []
    for recorded, found in calls:
        want = answers_of([recorded])[0]
        got = [(look["outcome"], look["answered"]) for look in found["lookups"]]
        counts["look-ups"] += len(want)
        counts["look-ups equal"] += sum(a == b for a, b in zip(want, got)) if len(want) == len(got) else 0
        if want != got:
            problems.append(f"call {recorded['call']}: {want}, not {got}")
    return problems


def outer_calls(rows, calls):
    """Pairs what the harness noted with the recorded calls: others are those of compiled functions that run inside of one."""
    pairs, at = [], 0
    for row in rows:
        while at < len(calls) and calls[at][0].get("code", row["code"]) != row["code"]:
            at += 1
        if at == len(calls):
            return None
        pairs.append((row, *calls[at]))
        at += 1
    return pairs


def compare_lists(rows, calls, order, counts):
    """The checks of the called function, and the order of entries at the end."""
    problems = []
    pairs = outer_calls(rows, calls)
    if pairs is None:
        return [f"{len(rows)} calls, of which {len(calls)} are recorded"]
    for row, recorded, found in pairs:
        counts["calls"] += 1
        if found["lookups"][0]["code"] == row["code"]:
            counts += compare_checks(recorded["call"], row, found["lookups"][0], problems.append)
    for code, last in {row["code"]: row["order"] for row in rows}.items():
        counts["orders"] += 1
        if order.get(code, []) != last:
            counts["wrong orders"] += 1
            problems.append(f"{code}: the order is {last}, not {order.get(code)}")
    return problems


def compare_policies(answers, name, rows, calls, counts):
    problems = []
    pairs = outer_calls(rows, calls) or []
    outer = [recorded["call"] for _, recorded, _ in pairs]
    inside = {}  # a compile of a function that is called inside of a call is one of that call
    for recorded, _ in calls:
        inside[recorded["call"]] = max((call for call in outer if call <= recorded["call"]), default=None)
    for policy, named in POLICIES.items():
        live = answers.live[policy, name]
        want = [recorded["call"] for (_, recorded, _), row in zip(pairs, live) if row["compiles"]]
        got = sorted({inside[call] for call in answers.policies[named] & inside.keys()} - {None})
        counts[policy] += 1
        counts[f"{policy} equal"] += want == got
        if want != got:
            problems.append(f"{policy}: compiles at {want}, not {got}")
    return problems


def compare_programs(answers, counts, policies):
    """Adds to the counts; prints what differs, and with `policies`, the compiles of policies that do."""
    order = {row["code"]: row["entries"] for row in answers.cache["order"]}
    for name, plain, rows, calls in answers.split():
        problems = compare_answers(calls, counts) + compare_lists(rows, calls, order, counts)
        counts["programs"] += 1
        counts["programs equal"] += not problems
        counts["raised"] += sum("raised" in row for row in rows)
        if plain:
            others = compare_policies(answers, name, rows, calls, counts)
            problems += others if policies else []
        for problem in problems:
            print(f"  {name}: {problem}")
    for what in ("contradictions", "unused"):
        counts[what] += answers.cache["totals"][what]
    counts["unlisted"] += len(answers.cache["unlisted"])


def check_counts(cases, counts, least, least_policies):
    share = counts["programs equal"] / counts["programs"]
    text = f"{counts['programs equal']} of {counts['programs']} programs are answered as recorded, {counts['contradictions']} contradictions"
    cases.check(text, [] if share >= least else [text])
    for policy, named in POLICIES.items():
        share = counts[f"{policy} equal"] / max(1, counts[policy])
        text = f"{named}: {counts[f'{policy} equal']} of {counts[policy]} programs compile at the same calls"
        cases.check(text, [] if share >= least_policies else [text])
