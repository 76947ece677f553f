#!/usr/bin/env python3
"""Judges every job of ../shared/ranks with `symtape ranks` and compares with its NAME.truth.json: kind,
rank, compile, line, the compiles and collectives of each rank, and that a healthy job gives no alarm.

A line of the truth that stands in no log of its job cannot be found; those are counted apart.

Then the largest job, repeated as 512 ranks of which one differs, has to be judged in bounded memory.

    ranks_jobs.py [-v]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from cases import SYMTAPE, is_sanitized, shared


def run(logs, *options):
    command = [str(SYMTAPE), "ranks", *options, *map(str, logs)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def logged(logs, place):
    """Whether a log of the job has this line, in a stack, a comment of a graph or a guard."""
    file, line = place.rsplit(":", 1)
    for log in logs:
        text = subprocess.run([str(SYMTAPE), "export", str(log), "-o", "-"], capture_output=True).stdout
        text = text.decode("utf-8", "replace")
        marks = (f"{file}:{line} ", f'{file}", line {line},', f'"line": {line}, ')
        if any(mark in text for mark in marks):
            return True
    return False


def judge(logs, truth):
    """Returns what is wrong, and whether the line could be found."""
    code, out, errors = run(logs, "--json")
    wrong, line = [], None
    if code not in (0, 1):
        return [f"exit code {code}: {errors.strip()}"], line
    report = json.loads(out)
    if [rank["compiles"] for rank in report["ranks"]] != truth["compiles"]:
        wrong.append("compiles")
    if [rank["collectives"] for rank in report["ranks"]] != truth["collectives"]:
        wrong.append("collectives")
    if code != (not truth["healthy"]):
        return wrong + [f"exit code {code}"], line
    if truth["healthy"]:
        return wrong, line
    first, expected = report["divergences"][0], truth["divergence"]
    for what, found, right in (
        ("kind", first["kind"], expected["kind"]),
        ("ranks", first["ranks"], [f"rank{expected['rank']}"]),
        ("compile", first["compile"] or first["others_compile"], expected["compile"]),
    ):
        if found != right:
            wrong.append(f"{what} {found}, not {right}")
    place = f"{os.path.basename(first['file'] or '')}:{first['line']}"
    line = place == expected["line"]
    if not line and logged(logs, expected["line"]):
        wrong.append(f"line {place}, not {expected['line']}")
    return wrong, line


RANKS, MEMORY_MB = 512, 200


def many(logs, odd):
    """512 ranks that are the first log of a job, and another one: what is wrong with the judgement, and
    the memory that it took in MB."""
    command = [str(SYMTAPE), "ranks", "--json", *map(str, [logs[0]] * (RANKS - 1)), str(logs[odd])]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        report = json.loads(out.read() or b"{}")
    peak = usage.ru_maxrss / 1024
    first = (report.get("divergences") or [{}])[0]
    wrong = []
    if first.get("ranks") != [f"rank{odd}"] or first["others"] != RANKS - 1:
        wrong.append(f"exit code {process.returncode}, {first.get('ranks')} differ")
    if peak > MEMORY_MB and not is_sanitized():
        wrong.append(f"{peak:.0f} MB, at most {MEMORY_MB}")
    return wrong, peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true", help="print every job")
    args = parser.parse_args()
    folder = shared() and shared() / "ranks"
    if not folder or not folder.is_dir():
        print("no ../shared/ranks; skipped")
        return 77
    jobs = sorted(folder.glob("*.truth.json"))
    failed = lines = absent = 0
    for path in jobs:
        name = path.name.removesuffix(".truth.json")
        logs = sorted(folder.glob(f"{name}.rank*.log.zst"))
        wrong, line = judge(logs, json.loads(path.read_text()))
        failed += bool(wrong)
        lines += line is True
        absent += line is False and not wrong
        if wrong or args.v:
            print(f"{name}: {'; '.join(wrong) or 'as the truth'}{' (line not in the logs)' if line is False else ''}")
    wrong, peak = many(sorted(folder.glob("coll_missing.rank*.log.zst")), 1)
    print(f"{RANKS} ranks: {'; '.join(wrong) or 'judged right'}, {peak:.0f} MB")
    print(f"{len(jobs) - failed} of {len(jobs)} jobs judged right; {lines} lines found, "
          f"{absent} stand in no log")
    return bool(failed or wrong)


if __name__ == "__main__":
    sys.exit(main())
