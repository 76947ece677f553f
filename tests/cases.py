"""What the Python test runners share: telling cases, finding things, running the program.

A runner prints a line a case ("ok - NAME", "not ok - NAME: WHY", "skip - NAME: WHY"), which
tests/run counts, and leaves with 0, 1, or 77 when it could run nothing at all.
"""
import functools
import os
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(os.environ.get("SYMTAPE_ROOT", Path(__file__).resolve().parent.parent))
BUILD = Path(os.environ.get("SYMTAPE_BUILD", ROOT / "build")).resolve()
SYMTAPE = Path(os.environ.get("SYMTAPE", BUILD / "cmd" / "symtape")).resolve()
RECORDINGS = ROOT / "tests" / "recordings"


def shared():
    """The folder of recordings beside the tree, or None."""
    path = Path(os.environ.get("SYMTAPE_SHARED", ROOT.parent / "shared"))
    return path if (path / "README.md").exists() else None


@functools.cache  # it looks at the whole program
def is_sanitized():
    """Whether the program is a sanitizer build: slower, and refuses preloaded libraries."""
    return b"__asan_init" in SYMTAPE.read_bytes() or b"__ubsan_" in SYMTAPE.read_bytes()


def jobs():
    return int(os.environ.get("SYMTAPE_TEST_JOBS", os.cpu_count() or 1))


class Run:
    """A finished process: code (negative for a signal, "timeout"), out and err as bytes."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def crashed(self):
        return self.code == "timeout" or self.code < 0 or b"Sanitizer" in self.err or (
            b"runtime error:" in self.err)

    def told(self):
        """Exit code and the last words, for a message."""
        words = self.err.decode(errors="replace").strip().splitlines()
        return f"exit {self.code}" + (f", said {words[-1]!r}" if words else ", said nothing")


def run(args, timeout=120, stdin=b"", cwd=None, env=None, preexec=None):
    """Runs symtape with `args`. stdin: bytes, or an open file."""
    feed = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    try:
        done = subprocess.run([str(SYMTAPE), *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout, cwd=cwd, preexec_fn=preexec,
                              env={**os.environ, "NO_COLOR": "1", **(env or {})}, **feed)
    except subprocess.TimeoutExpired as late:
        return Run("timeout", late.stdout or b"", late.stderr or b"")
    return Run(done.returncode, done.stdout, done.stderr)


class Cases:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.lock = threading.Lock()

    def _say(self, line):
        print(line, flush=True)

    def ok(self, name):
        with self.lock:
            self.passed += 1
            self._say(f"ok - {name}")

    def fail(self, name, why):
        with self.lock:
            self.failed += 1
            self._say(f"not ok - {name}: {why}")

    def skip(self, name, why):
        with self.lock:
            self.skipped += 1
            self._say(f"skip - {name}: {why}")

    def check(self, name, problems):
        """Passed when `problems` (a list of texts) is empty."""
        self.fail(name, "; ".join(problems)) if problems else self.ok(name)

    def finish(self):
        if self.failed:
            sys.exit(1)
        sys.exit(77 if self.skipped and not self.passed else 0)
