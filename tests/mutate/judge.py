"""Runs a command in a folder of its own, under limits, and says what it did that nothing may do."""
import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import cases
from pick import TRAP

HERE = Path(__file__).resolve().parent
CODES = {0, 1, 2, 3, 4, 125, 130}
MIB = 1 << 20
CPU_SECONDS, WALL_SECONDS, MAX_FILE, MAX_STDERR = 20, 300, 256 * MIB, 64 << 10
# Of a release build; see memory_limit().
BASE_MEMORY, TIMES_STORED, MAX_WINDOW = 64 * MIB, 40, 128 * MIB
# What resident memory of a sanitizer build is held to, by its own runtime.
SANITIZER_MIB = 2048

# Calls that no program of ours makes.
FORBIDDEN = {"exec", "eval", "compile", "__import__", "open", "getattr", "setattr", "globals", "locals", "vars",
             "input", "breakpoint", "delattr", "system", "popen", "load", "spawn", "fork"}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
PROGRESS = "\r\x1b[K"  # how we begin a line anew
# A graph or a payload as it was recorded, and a log: bytes, when they go to a file.
RAW_OUTPUT = re.compile(r"export|import .*-o -|show \S*:\S*:|--artifact|-o -")


class Place:
    """The folders of one run: what it may write is below `work`, and everything else stays empty."""

    def __init__(self, root, files):
        self.root = root
        self.work = root / "work"
        for name in ("work", "tmp", "home", "cache", "bin"):
            (root / name).mkdir()
        for name, raw in files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        self.inputs = set(files)
        touch = root / "bin" / "touch"  # what a text of the input runs is seen wherever it runs
        touch.write_text(f"#!/bin/sh\n: >'{root}/{TRAP}'\n")
        touch.chmod(0o755)

    def environment(self, python, with_standin):
        env = {"HOME": self.root / "home", "TMPDIR": self.root / "tmp", "XDG_CACHE_HOME": self.root / "cache",
               "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "xterm",
               "PYTHONDONTWRITEBYTECODE": "1", "SYMTAPE_PYTHON": python,
               "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:abort_on_error=1:detect_leaks=1:"
                               f"allocator_may_return_null=1:hard_rss_limit_mb={SANITIZER_MIB}",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
        if with_standin:
            env["PYTHONPATH"] = HERE / "standin"
        return {k: str(v) for k, v in env.items()}

    def left(self):
        """Files that nobody asked for."""
        found = []
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if path.is_dir() or name in ("bin/touch", "stdout", "stderr"):
                continue
            below = name.removeprefix("work/")
            written = name.startswith("work/out") and ".tmp" not in name and TRAP not in name
            if not written and below not in self.inputs and not below.startswith("in.journal"):
                found.append(name)
        return found


class Ran:
    def __init__(self, told, out, err, terminal):
        self.code, self.rss, self.cpu = told["code"], told["rss"], told["cpu"]
        self.out, self.err, self.terminal = out, err, terminal

    def words(self):
        return f"exit {self.code}: {(self.err or self.out)[-300:].decode(errors='replace')!r}"


def run(place, args, terminal=False, python="python3", memory=0, with_standin=True, stdin=None):
    """python: what $SYMTAPE_PYTHON names; by default one that finds our stand-in for PyTorch. memory:
    a limit on address space, for a release build; 0 is none. stdin: a file of the run."""
    job = {"args": [str(cases.SYMTAPE), *args], "cwd": str(place.work), "env": place.environment(python, with_standin),
           "stdin": stdin or "/dev/null", "out": str(place.root / "stdout"), "err": str(place.root / "stderr"), "cpu": CPU_SECONDS,
           "wall": WALL_SECONDS, "file": MAX_FILE, "pty": terminal,
           "memory": 0 if cases.is_sanitized() else memory}
    done = subprocess.run([sys.executable, "-S", "-E", HERE / "limited.py", json.dumps(job)],
                          stdout=subprocess.PIPE, check=True)
    read = [(place.root / n).read_bytes() if (place.root / n).exists() else b"" for n in ("stdout", "stderr")]
    return Ran(json.loads(done.stdout), *read, terminal)


def window_of(raw):
    """What a zstd frame makes its reader keep: 0 for other files."""
    if raw[:4] != b"\x28\xb5\x2f\xfd" or len(raw) < 14:
        return 0
    if raw[4] & 0x20:  # one segment: the window is the content
        size = int.from_bytes(raw[5:13][:(1, 2, 4, 8)[raw[4] >> 6]], "little")
    else:
        size = (1 << 10 + (raw[5] >> 3)) * (8 + (raw[5] & 7)) // 8
    return min(size, MAX_WINDOW)


def memory_limit(files, args):
    """What a command may take that reads these files. A profile of a backend measures first what the
    machine can do at most, on arrays that are larger the faster it is, whatever the file."""
    measures = 2 << 30 if "--profile" in args else 0
    return BASE_MEMORY + measures + sum(window_of(raw) + TIMES_STORED * len(raw) for raw in files.values())


def crash(ran):
    if ran.code == "late":
        return [f"does not end within {WALL_SECONDS} s"]
    said = ran.err + (ran.out if ran.terminal else b"")
    report = re.search(rb"[^\n]*(Sanitizer: |runtime error: )[^\n]*", said)
    if report:
        return [report.group().decode(errors="replace")]
    return [f"signal {-ran.code}"] if ran.code < 0 else []


def exit_code(ran, args):
    allowed = CODES | ({129} if "--bisect-codes" in args else set())
    return [] if ran.code in allowed else [f"exit code {ran.code}"]


def json_output(ran, args):
    if not ("--json" in args or "chrome" in args) or not ran.out or ran.terminal or "out.json" in args:
        return []

    def refuse(word):
        raise ValueError(f"{word} is no JSON")
    try:
        text = ran.out.decode()
        for line in text.splitlines() if "--sizes" in args else [text]:
            json.loads(line, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        return [f"no JSON: {error}"]
    return []


def controls(ran, args):
    """Nothing that a terminal obeys, and nothing that ends a line but a line feed."""
    found = []
    for name, raw in (("stdout", ran.out), ("stderr", ran.err)):
        if name == "stdout" and not ran.terminal and RAW_OUTPUT.search(" ".join(args)):
            continue
        text = raw.decode("utf-8", "replace")
        what = CONTROL.search(text.replace(PROGRESS, "") if ran.terminal else text)
        if what:
            found.append(f"{name} has {what.group()!r} in {what.string[max(0, what.start() - 40):what.end() + 40]!r}")
    return found


def programs(place, ran, args):
    """Each program that was written is Python, and calls nothing but what programs of ours call."""
    texts = {p.name: p.read_bytes() for p in place.work.glob("out*.py")}
    if "--python" in args and "-o" not in args and ran.code == 0 and not ran.terminal:
        texts["stdout"] = ran.out
    found = []
    for name, raw in texts.items():
        try:
            tree = ast.parse(raw)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if raw.strip():
                found.append(f"{name} is not Python: {error}")
            continue
        for node in ast.walk(tree):
            called = node.func if isinstance(node, ast.Call) else None
            word = getattr(called, "id", getattr(called, "attr", ""))
            if word in FORBIDDEN and not re.match(r"torch\.(ops\..*|compile)$", ast.unparse(called)):
                found.append(f"{name} calls {ast.unparse(node)[:80]}")
    return found


def problems(place, ran, args, files, look_at_controls=True):
    found = crash(ran) + exit_code(ran, args) + json_output(ran, args) + programs(place, ran, args)
    if look_at_controls:
        found += controls(ran, args)
    if re.search(rb"^Traceback \(most recent", ran.err, re.MULTILINE):
        found.append("a traceback of Python's")
    if len(ran.err) > MAX_STDERR:
        found.append(f"{len(ran.err)} bytes on stderr")
    if ran.code in (2, 3, 4) and not (ran.err or ran.out):
        found.append(f"exit {ran.code} without a word")
    if not cases.is_sanitized() and ran.rss > memory_limit(files, args):
        found.append(f"{ran.rss >> 20} MiB of memory, more than {memory_limit(files, args) >> 20}")
    left = place.left()
    return found + ([f"leaves {', '.join(left[:5])}"] if left else [])
