#!/usr/bin/env python3
"""Golden cases: commands and what they print. tests/golden/README.md tells the format.

usage: run.py [--accept] [CASE.t ...]
"""
import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

INDENT = "    "


class Step:
    """A command, where it stands, and the lines it should print."""

    def __init__(self, line, command):
        self.line, self.command, self.expected, self.actual = line, command, [], None


def parse(text):
    """A list of prose lines (str) and steps."""
    parts = []
    for number, line in enumerate(text.splitlines(), 1):
        step = parts[-1] if parts and isinstance(parts[-1], Step) else None
        if line.startswith(INDENT + "$ "):
            parts.append(Step(number, line[len(INDENT) + 2:]))
        elif line.startswith(INDENT + "> ") and step and not step.expected:
            step.command += "\n" + line[len(INDENT) + 2:]
        elif line.startswith(INDENT) and step:
            step.expected.append(line[len(INDENT):])
        elif not line.strip() and step:
            step.expected.append("")
        else:
            parts.append(line)
    for step in parts:
        while isinstance(step, Step) and step.expected and not step.expected[-1]:
            step.expected.pop()
    return parts


def unparse(parts):
    out = []
    for i, part in enumerate(parts):
        if isinstance(part, str):
            out.append(part)
            continue
        first, *more = part.command.split("\n")
        out += [INDENT + "$ " + first] + [INDENT + "> " + line for line in more]
        out += [(INDENT + line).rstrip() if line else "" for line in part.expected]
        if i + 1 < len(parts):
            out.append("")
    return "\n".join(out).rstrip("\n") + "\n"


def line_matches(pattern, line):
    if "{*}" not in pattern:
        return pattern == line
    return re.fullmatch(".*".join(map(re.escape, pattern.split("{*}"))), line) is not None


def matches(expected, actual):
    """Lines against lines; a line {...} stands for any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "{...}":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and line_matches(expected[0], actual[0]) and matches(expected[1:], actual[1:])


def accepted(expected, actual):
    """What was printed, with the patterns of `expected` kept where they still hold."""
    kept = []
    patterns = list(expected)
    for line in actual:
        at = next((i for i, p in enumerate(patterns) if "{*}" in p and line_matches(p, line)), None)
        if at is None:
            kept.append(line)
        else:
            kept.append(patterns[at])
            del patterns[:at + 1]
    return kept


def missing(parts):
    """What a case requires ("Requires: shared torch") and this machine lacks."""
    needs = [w for p in parts if isinstance(p, str) and p.startswith("Requires:")
             for w in p.split(":", 1)[1].split()]
    have = {"shared": lambda: cases.shared(),
            "torch": lambda: os.environ.get("SYMTAPE_PYTHON"),
            "cuda": lambda: os.path.exists(os.environ.get("SYMTAPE_BUILD", "") + "/tests/cuda/libcuda.so.1"),
            "plain": lambda: not cases.is_sanitized()}
    return [n for n in needs if not have.get(n, lambda n=n: shutil.which(n))()]


def environment(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "CLICOLOR"))}
    env.update(PATH=f"{cases.SYMTAPE.parent}:{env['PATH']}", HOME=folder, TMPDIR=folder, TERM="dumb",
               LC_ALL="C.UTF-8", TZ="UTC", COLUMNS="80", NO_COLOR="1", ROOT=str(cases.ROOT),
               RECORDINGS=str(cases.RECORDINGS), SHARED=str(cases.shared() or ""))
    return env


def play(step, folder):
    """Standard output, then standard error marked "2> ", then the exit code unless it is 0."""
    try:
        done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment(folder),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
    except subprocess.TimeoutExpired:
        return ["[timeout]"]

    def lines(raw, mark=""):
        text = raw.decode(errors="backslashreplace").replace(folder, "$TMP")
        text = text.replace(str(cases.RECORDINGS), "$RECORDINGS").replace(str(cases.ROOT), "$ROOT")
        return [(mark + line).rstrip() for line in text.splitlines()]

    code = [f"[exit {done.returncode}]"] if done.returncode else []
    actual = lines(done.stdout) + lines(done.stderr, "2> ") + code
    while actual and not actual[-1]:
        actual.pop()
    return actual


def play_file(path, tell, accept):
    parts = parse(path.read_text())
    lacks = missing(parts)
    if lacks:
        tell.skip(path.name, "needs " + ", ".join(lacks))
        return
    with tempfile.TemporaryDirectory(prefix="symtape-golden-") as folder:
        for step in (p for p in parts if isinstance(p, Step)):
            step.actual = play(step, folder)
            name = f"{path.name}:{step.line}"
            if matches(step.expected, step.actual):
                tell.ok(name)
            elif accept:
                step.expected = accepted(step.expected, step.actual)
                tell.ok(f"{name} (rewritten)")
            else:
                diff = difflib.unified_diff(step.expected, step.actual, "expected", "actual",
                                            lineterm="", n=2)
                tell.fail(name, step.command + "\n    " + "\n    ".join(diff))
    if accept:
        path.write_text(unparse(parts))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accept", action="store_true", help="rewrite what differs")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    tell = cases.Cases()
    files = args.files or sorted(HERE.glob("*.t"))
    with ThreadPoolExecutor(cases.jobs()) as pool:
        for done in [pool.submit(play_file, path, tell, args.accept) for path in files]:
            done.result()
    tell.finish()


if __name__ == "__main__":
    main()
