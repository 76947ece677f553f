#!/usr/bin/env python3
"""What symtape TAPE says about programs with one known cause each, with the real PyTorch.

A program of tests/diagnosis/ has a file of the same name beside it (.json) that holds the truth: what
the program does, not what symtape says of it.

    cause    the cause, in words
    kinds    the kinds of findings that it may have
    says     regular expressions that the sentence and its evidence match
    lines    pieces of the program's lines, of which the finding names one; empty: it has none
    source   a regular expression for the input's source
    advises  a regular expression that the kind or the text of a remedy matches
    remedy   the replacements of text that make the remedied program
    after    what the recording of the remedied program has at most; "faster": its share of the seconds
    worse    what the remedied program may have more of than the program
    gap      why symtape cannot know the cause from a tape: the program is only tried by its name
    paste    the line "before" which marks of inputs are pasted, and the program's "names" for the inputs

Each program is recorded, its cause is looked for among the findings of `symtape TAPE --json`, and the
remedied program is recorded, which must work and have nothing more than the program had. Where a finding
has a line of Python to insert (a mark, a setting), a third recording has that line, taken from the text
that symtape prints, instead of the remedy of the truth.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits
with 77, "skipped" to meson, when that one has no torch.

    diagnosis_torch.py [--all] [--tapes DIR] [--no-remedy] [--count N] [--seed N] [NAME...]

Without --all and names, N (5) programs are tried, the same ones for a seed. With --tapes,
DIR/NAME.tape is read instead of recording the program, and written where it is not there. Exits with 1 unless the cause stands first in 22 of
24, among the first three in all, and the remedies work in 20 of 24 and make nothing worse.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
PROGRAMS = ROOT / "tests" / "diagnosis"
SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")


def truth_of(path):
    return json.loads(path.with_suffix(".json").read_text())


class Case:
    """A program, its truth, and a folder for what is recorded of it."""

    def __init__(self, path, folder):
        self.path, self.name = path, path.stem
        self.text = path.read_text()
        self.truth = truth_of(path)
        self.folder = pathlib.Path(folder) / self.name
        self.folder.mkdir()

    def remedied(self):
        text = self.text
        for old, new in self.truth["remedy"]:
            assert old in text, f"{self.name}: the program has no {old!r}"
            text = text.replace(old, new)
        return text

    def numbers_of_lines(self):
        return {i for i, line in enumerate(self.text.splitlines(), 1)
                for piece in self.truth["lines"] if piece in line}

    def record(self, version, text, *options):
        """The tape of a program's version; the tape and the exit status of the program."""
        place = self.folder / version
        place.mkdir()
        (place / self.path.name).write_text(text)
        tape = place / "program.tape"
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "TORCHINDUCTOR_"))}
        env["TORCHINDUCTOR_CACHE_DIR"] = str(place / "inductor")
        done = subprocess.run([SYMTAPE, "record", "--quiet", *options, "-o", str(tape), "--", PYTHON,
                               self.path.name], cwd=place, env=env, capture_output=True, text=True)
        return tape, done.returncode


def ask(*args):
    """The JSON document that a command prints, or None if it prints none."""
    done = subprocess.run([SYMTAPE, *map(str, args), "--json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return None


def measure(tape, exit_status):
    """What a recording has of everything that a remedy may change; every number is better if smaller.
    The exit status is None where the program itself was not run (--tapes)."""
    exits = {} if exit_status is None else {"exit": int(exit_status != 0)}
    if not tape.exists():
        return exits
    info, profile = ask("info", tape), ask("profile", "--no-replay", tape)
    last = {}
    for c in info["compiles"]:
        last[(c["recording"], c["id"])] = c["status"]
    outcomes = [c["result"] for c in profile["caches"]]
    return {**exits, "compiles": len(last),
            "failed": list(last.values()).count("failed"),
            "unfinished": list(last.values()).count("unfinished"),
            "restarts": sum(c["status"] == "restarted" for c in info["compiles"]),
            "breaks": len(profile["breaks"]),
            "cache_disabled": outcomes.count("disabled"),
            "cache_bypassed": outcomes.count("bypass"),
            "seconds": sum(p["exclusive_ns"] for p in profile["phases"]) / 1e9}


def why_not(case, finding):
    """What of the truth a finding lacks, or "" if it names the cause."""
    truth, lacks = case.truth, []
    words = " ".join([finding["cause"], *finding["evidence"]])
    if finding["kind"] not in truth["kinds"]:
        lacks.append(f"kind {finding['kind']}")
    lacks += [f"no {r!r}" for r in truth["says"] if not re.search(r, words, re.IGNORECASE)]
    if "source" in truth and not re.search(truth["source"], finding["source"] or ""):
        lacks.append(f"source {finding['source']}")
    line = finding["line"]
    if truth["lines"] and (not line or os.path.basename(line["file"]) != case.path.name
                           or line["line"] not in case.numbers_of_lines()):
        lacks.append(f"line {os.path.basename(line['file'])}:{line['line']}" if line else "no line")
    return ", ".join(lacks)


def rank_of(case, findings):
    """The place of the cause among the findings (1 is first; 0: nowhere), and what the first lacks."""
    lacks = [why_not(case, f) for f in findings]
    place = next((i for i, lack in enumerate(lacks, 1) if not lack), 0)
    return place, "" if place == 1 else (lacks[0] if lacks else "no findings")


def advised(case, finding):
    wanted = case.truth.get("advises")
    return not wanted or any(re.search(wanted, r["kind"] + " " + r["text"], re.IGNORECASE)
                             for r in finding["remedies"])


def more_than(case, before, after):
    """What the remedied program has more of than the program, beyond what the truth allows."""
    allowed = case.truth.get("worse", {})
    names = [n for n in before if n != "seconds" and n in after]
    if {"failure", "constraint"} & set(case.truth["kinds"]):  # it did not come as far
        names = [n for n in names if n == "exit"]
    return [f"{n} {before[n]} -> {after[n]}" for n in names if after[n] > allowed.get(n, before[n])]


def still_there(case, before, after):
    """What is left of the symptom in the recording of a remedied program."""
    wanted = dict(case.truth["after"])
    faster = wanted.pop("faster", None)
    left = [f"{n} {after[n]}" for n, most in wanted.items() if n in after and after[n] > most]
    if faster and after["seconds"] > faster * before["seconds"]:
        left.append(f"{after['seconds']:.1f} s of {before['seconds']:.1f} s")
    return left


def before_line(text, number, lines):
    """The program with lines before that line, indented as it is."""
    all_lines = text.splitlines()
    here = all_lines[number - 1]
    indent = here[:len(here) - len(here.lstrip())]
    all_lines[number - 1:number - 1] = [indent + i for i in lines]
    return "\n".join(all_lines) + "\n"


def paste_setting(case, advice):
    """`torch._dynamo.config.NAME = VALUE`: instead of the program's own, or after `import torch`."""
    found = re.search(r"""(torch\.[\w.]+) = (?:"[^"]*"|'[^']*'|[\w.]*\w)""", advice)
    if not found:
        return None
    own = re.compile(rf"^{re.escape(found.group(1))} = .*$", re.MULTILINE)
    if own.search(case.text):
        return own.sub(lambda _: found.group(0), case.text)
    return case.text.replace("import torch\n", f"import torch\n{found.group(0)}\n", 1)


def paste_check(case, advice):
    """`torch._check(CONDITION) before line N`."""
    found = re.search(r"(torch\._check\(.*\)) before line (\d+)", advice)
    return found and before_line(case.text, int(found.group(2)), [found.group(1)])


def paste_dim(case, advice):
    """`NAME = Dim(...)`, or `NAME = EXPRESSION with _NAME = Dim(...)`: instead of the program's Dim."""
    found = re.search(r"^(\w+) = (.*?)(?: with (\w+ = Dim\(.*?\)))?$", advice)
    if not found or not re.search(rf"^{found.group(1)} = Dim\(.*\)$", case.text, re.MULTILINE):
        return None
    lines = [found.group(3)] if found.group(3) else []
    lines.append(f"{found.group(1)} = {found.group(2)}")
    return re.sub(rf"^{found.group(1)} = Dim\(.*\)$", "\n".join(lines), case.text, flags=re.MULTILINE)


def paste_maybe(case, advice):
    """`maybe_mark_dynamic(X, N)`: instead of mark_dynamic(X, N)."""
    found = re.search(r"maybe_(mark_dynamic\([^()]+)\)", advice)
    if not found or found.group(1) not in case.text:
        return None
    return case.text.replace(found.group(1), "maybe_" + found.group(1))


def paste_before_call(case, advice):
    """Marks of inputs, or `X = ....contiguous()`: before the call, with the program's names."""
    paste = case.truth.get("paste")
    if not paste:
        return None
    names, lines = paste["names"], []
    for mark, tensor, dim in re.findall(r"\b(mark_dynamic|mark_unbacked)\(([^,()]+), (\d+)", advice):
        lines += [f"torch._dynamo.decorators.{mark}({names[tensor]}, {dim})"] if tensor in names else []
    for tensor in re.findall(r"^(\S+) = \1\.contiguous\(\)", advice):
        lines += [f"{names[tensor]} = {names[tensor]}.contiguous()"] if tensor in names else []
    number = next(i for i, line in enumerate(case.text.splitlines(), 1) if paste["before"] in line)
    return before_line(case.text, number, lines) if lines else None


PASTES = (paste_dim, paste_check, paste_maybe, paste_before_call, paste_setting)


def pasted(case, finding):
    """The program with the first remedy that is printed as something to paste, or None. A limit is
    raised only where that is the first remedy: it makes more compiles, not fewer."""
    for i, remedy in enumerate(finding["remedies"]):
        for paste in PASTES if i == 0 or remedy["kind"] != "raise_limit" else ():
            text = paste(case, remedy["text"])
            if text:
                return text
    return None


class Row:
    """The judgement of one program."""

    def __init__(self, name):
        self.name, self.place, self.lacks, self.advised = name, 0, "", False
        self.works, self.worse, self.pasted = None, [], None


def judge_remedy(case, row, before, version, text):
    tape, status = case.record(version, text)
    after = measure(tape, status)
    left, worse = still_there(case, before, after), more_than(case, before, after)
    if version == "pasted":  # a line of the tool may need a compile more than the truth's remedy
        left = [name for name in left if not is_less(name.split()[0], before, after)]
    row.worse += worse
    return not left and not worse, "; ".join(left + worse)


def is_less(name, before, after):
    return after[name] < before[name] if name in before else False


def judge(case, options):
    row = Row(case.name)
    tape = pathlib.Path(options.tapes or "/nonexistent", case.name + ".tape")
    status = None
    if not tape.exists():
        kept = tape
        tape, status = case.record("program", case.text)
        if options.tapes and tape.exists():
            shutil.copy(tape, kept)
    document = ask(tape)
    findings = document["findings"] if document else []
    row.place, row.lacks = rank_of(case, findings)
    finding = findings[row.place - 1] if row.place else None
    row.advised = finding is not None and advised(case, finding)
    if options.no_remedy:
        return row
    before = measure(tape, status)
    row.works, row.why = judge_remedy(case, row, before, "remedied", case.remedied())
    text = pasted(case, finding) if finding else None
    if text is not None:
        row.pasted, why = judge_remedy(case, row, before, "pasted", text)
        row.why += why and f" pasted: {why}"
    return row


def mark(value):
    return {None: "-", True: "yes", False: "no"}[value]


def print_row(row):
    print(f"{'ok' if row.place and row.works is not False else 'not ok'} - {row.name}: cause in entry "
          f"{row.place or '-'}, advised {mark(row.advised)}, remedy works {mark(row.works)}, pasted "
          f"{mark(row.pasted)}" + (f"; entry 1: {row.lacks}" if row.lacks else "")
          + (f"; {row.why}" if getattr(row, "why", "") else ""), flush=True)


def chosen(options):
    paths = sorted(PROGRAMS.glob("*/*.py"))
    if options.names:
        return [p for p in paths if p.stem in options.names]
    paths = [p for p in paths if "gap" not in truth_of(p)]
    if options.all:
        return paths
    print(f"seed {options.seed}: {options.count} of {len(paths)} programs")
    return sorted(random.Random(options.seed).sample(paths, options.count))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--tapes")
    parser.add_argument("--no-remedy", action="store_true")
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=24323)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print("skip - no torch")
        return 77
    with tempfile.TemporaryDirectory(prefix="symtape-diagnosis-") as folder:
        rows = []
        for path in chosen(options):
            rows.append(judge(Case(path, folder), options))
            print_row(rows[-1])
    first, three = sum(r.place == 1 for r in rows), sum(1 <= r.place <= 3 for r in rows)
    works, worse = sum(r.works is True for r in rows), sum(bool(r.worse) for r in rows)
    print(f"{len(rows)} programs: the cause is first in {first}, among the first three in {three}; the "
          f"remedy is named in {sum(r.advised for r in rows)}, works in {works}, makes {worse} worse; "
          f"a pasted remedy works in {sum(r.pasted is True for r in rows)} of "
          f"{sum(r.pasted is not None for r in rows)}")
    good = first * 24 >= len(rows) * 22 and three == len(rows)
    if not options.no_remedy:
        good = good and works * 24 >= len(rows) * 20 and not worse
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
