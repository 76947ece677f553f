#!/usr/bin/env python3
"""symtape import of standard input and of FIFOs that SIGINT or SIGTERM interrupts: what was read is on
the tape, byte for byte, and the exit code is 130. The signal is sent once every byte that was written
has been read, so nothing here depends on time.

usage: interrupted.py
"""
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cases  # noqa: E402

PACKED = (cases.RECORDINGS / "train.log.zst").read_bytes()
PATIENCE = 60


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.005)


def catches_signals(process):
    """Whether its handler is installed, or it has ended already."""
    if process.poll() is not None:
        return True
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return caught >> (signal.SIGINT - 1) & 1


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


class Reader:
    """symtape import of a pipe that the test writes to."""

    def __init__(self, folder, kind, options=()):
        self.folder, self.kind, self.pipe = Path(folder), kind, None
        if kind == "fifo":
            os.mkfifo(self.folder / "in.log")
            operand, stdin = "in.log", subprocess.DEVNULL
        else:
            stdin, self.pipe = os.pipe()
            operand = "-"
        self.process = subprocess.Popen(
            [str(cases.SYMTAPE), "import", *options, "-o", "out.tape", operand], cwd=folder,
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=True)
        if kind != "fifo":
            os.close(stdin)

    def write(self, data):
        if self.pipe is None:
            self.pipe = os.open(self.folder / "in.log", os.O_WRONLY)
        while data:
            data = data[os.write(self.pipe, data):]

    def end(self, number=None):
        """Once all was read: a signal, or the end of the stream."""
        until(lambda: catches_signals(self.process), "no handler")
        if self.pipe is not None and number:
            until(lambda: unread(self.pipe) == 0 or self.process.poll() is not None, "bytes unread")
        if number:
            self.process.send_signal(number)
        else:
            os.close(self.pipe)
            self.pipe = None
        return self.ended()

    def ended(self):
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            err += b" (it did not end)"
        if self.pipe is not None:
            os.close(self.pipe)
        return cases.Run(self.process.returncode, out, err)


def exported(folder):
    return cases.run(["export", "--log", "out.tape"], cwd=folder).out


def left(folder):
    return sorted(p.name for p in Path(folder).iterdir() if p.name != "in.log")


def check(kind, data, number, options=(), expected=None):
    """`expected`: what the tape must hold; the bytes themselves unless it is given."""
    with tempfile.TemporaryDirectory(prefix="symtape-interrupted-") as folder:
        reader = Reader(folder, kind, options)
        reader.write(data)
        run = reader.end(number)
        if run.code != 130:
            return [run.told()]
        if b"interrupted: the tape has what was read until then" not in run.err:
            return [f"said {run.err.decode()}"]
        if left(folder) != ["out.tape"]:
            return [f"left {left(folder)}"]
        got = exported(folder)
        good = expected(got) if expected else got == data
        return [] if good else [f"{len(got)} bytes on the tape, {len(data)} were written"]


def check_nothing(kind, opened, number):
    """Nothing came: what was there before stays."""
    with tempfile.TemporaryDirectory(prefix="symtape-interrupted-") as folder:
        (Path(folder) / "out.tape").write_bytes(b"before")
        reader = Reader(folder, kind, ["--overwrite"])
        if opened:
            reader.write(b"")
        run = reader.end(number)
        good = (run.code == 130 and left(folder) == ["out.tape"] and
                (Path(folder) / "out.tape").read_bytes() == b"before" and
                b"interrupted before anything was read" in run.err)
        return [] if good else [run.told(), str(left(folder))]


def check_whole(kind, options):
    """Without a signal a pipe gives what its file gives; its writer never sees the reader go."""
    with tempfile.TemporaryDirectory(prefix="symtape-interrupted-") as folder:
        reader = Reader(folder, kind, options)
        reader.write(LOG[:5000])
        reader.write(LOG[5000:])
        run = reader.end()
        if run.code != 0:
            return [run.told()]
        got = exported(folder)
        return [] if got == LOG or "--redact" in options and got.count(b"\n") == LOG.count(b"\n") else [
            f"{len(got)} bytes on the tape, {len(LOG)} were written"]


def check_again(kind):
    """A second signal ends it at once, and leaves no tape."""
    with tempfile.TemporaryDirectory(prefix="symtape-interrupted-") as folder:
        reader = Reader(folder, kind)
        reader.write(LOG)
        until(lambda: catches_signals(reader.process), "no handler")
        for _ in range(2):  # the first one takes the handler away
            reader.process.send_signal(signal.SIGINT)
        run = reader.ended()
        return [] if run.code in (130, -signal.SIGINT) else [run.told()]


def main():
    tell = cases.Cases()
    cut = LOG.index(b"\n", len(LOG) // 2) + 1
    amounts = {"the first bytes": 10, "half a line": cut - 20, "half": cut, "all": len(LOG)}
    for kind in ("fifo", "stdin"):
        for number in (signal.SIGINT, signal.SIGTERM):
            name = f"{kind}, {number.name}"
            for what, n in amounts.items():
                tell.check(f"{name}, {what}", check(kind, LOG[:n], number))
            tell.check(f"{name}, nothing", check_nothing(kind, False, number))
        tell.check(f"{kind}, --strict", check(kind, LOG[:cut - 20], signal.SIGINT, ["--strict"]))
        tell.check(f"{kind}, --redact", check(kind, LOG[:cut], signal.SIGINT, ["--redact"],
                                              lambda got: got.count(b"\n") == LOG[:cut].count(b"\n")))
        tell.check(f"{kind}, compressed", check(kind, PACKED + PACKED[:1000], signal.SIGINT, (),
                                                lambda got: got == LOG))
        tell.check(f"{kind}, to its end", check_whole(kind, ()))
        tell.check(f"{kind}, to its end, --redact", check_whole(kind, ["--redact"]))
        tell.check(f"{kind}, twice", check_again(kind))
    tell.check("fifo, opened and silent", check_nothing("fifo", True, signal.SIGINT))
    tell.finish()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="symtape-interrupted-") as made:
        shutil.copy(cases.RECORDINGS / "train.log.zst", made)
        cases.run(["import", "-o", "out.tape", "train.log.zst"], cwd=made)
        LOG = exported(made)
    main()
