#!/usr/bin/env python3
"""Hostile and damaged inputs: a message with a place, the right exit code, everything else still
read, nothing half-written.

usage: bad_input.py [--big]      --big: the single line is 1 GB, not 64 MB
"""
import argparse
import gzip
import io
import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import cases  # noqa: E402
import logs  # noqa: E402

DEEP = 100000


def damaged_logs():
    """Name, bytes between start() and end(), how many of them are whole records, damaged or not."""
    rec = logs.record
    yield "garbage lines", b"warning: not ours\n\xff\xfe\x00junk\n", 0, True
    yield "garbage without end", b"V1120 09:41", None, True
    yield "wrong checksum", rec("artifact", {"name": "a", "encoding": "string"}, "text",
                                md5="0" * 32), 1, True
    yield "payload missing", rec("artifact", {"name": "a"}, "x").split(b"\n")[0] + b"\n", 1, True
    yield "payload without header", b"\tline 1\n\tline 2\n", 0, True
    yield "invalid UTF-8 in a payload", rec("artifact", {"name": "a"}, b"caf\xe9 \xff\n\xc0"), 1, False
    yield "invalid UTF-8 in metadata", rec("artifact", {"name": "QQ"}).replace(b"QQ", b"\xff\xc0"), 1, False
    yield "NaN and huge integers", rec("compilation_metrics", {
        "a": float("nan"), "b": -float("inf"), "c": 10**400, "d": 1e308, "e": -(2**63) - 1}), 1, False
    yield "huge compile id", rec("artifact", {}, compile_id=(2**64, -(2**70))), 1, None
    yield "lone surrogates", rec("artifact", {"name": "\ud800 \udfff\ud83d"}), 1, False
    yield "CRLF", rec("artifact", {"name": "a"}, "one\ntwo").replace(b"\n", b"\r\n"), 1, None
    yield "deep nesting", rec("artifact", {"name": "QQ"}).replace(
        b'"QQ"', b"[" * DEEP + b"]" * DEEP), 0, True
    yield "deep nesting, never closed", rec("artifact", {"name": "QQ"}).replace(
        b'"QQ"', b'{"a":' * DEEP), 0, True
    yield "deep graph", rec("aot_joint_graph", {}, logs.GRAPH.replace(
        "(arg1_1, 2)", "(" * DEEP + "arg1_1" + ")" * DEEP)), 1, None
    yield "deep expression", rec("guard_added_fast", {"expr": "(" * DEEP + "s77" + ")" * DEEP}), 1, None
    yield "blank lines in a payload", rec("artifact", {"name": "a"}, "one\n\ntwo").replace(
        b"\n\t\n", b"\n\n"), 1, None
    yield "NUL bytes", b"\0" * 4096 + b"\n", 0, True
    yield "strings that do not exist", rec("create_symbol", {
        "symbol": "s1", "stack": [{"line": 1, "name": "f", "filename": 2**31, "loc": None}],
        "user_stack": [{"line": -1, "name": 7, "filename": -1}]}), 1, None
    yield "wrong types", rec("create_symbol", ["s1"]) + rec("chromium_event", 7, "[]") + rec(
        "str", {"a": 1}) + rec("guard_added_fast", {"expr": None, "stack": "x"}), 4, None
    yield "header of another tool", b"I1120 09:41:07.123000 4242 a.py:1] plain text\n", 0, None
    yield "two records in one line", rec("artifact", {})[:-1] + rec("artifact", {}), None, None


class Battery:
    def __init__(self, folder, tell):
        self.folder, self.tell, self.counter = folder, tell, 0

    def place(self, name, content=None):
        self.counter += 1
        sub = self.folder / str(self.counter)
        sub.mkdir()
        if content is not None:
            (sub / name).write_bytes(content)
        return sub / name

    def read_by_all(self, path):
        """Problems of the commands that read; each has to end with 0."""
        found = []
        for args in (["info"], ["show", "--graphs"], ["show", "--guards", "--json"],
                     ["show", "--symbols"], ["show", "--levels", "--json"], ["show", "--events"],
                     ["profile", "--json"], ["diff", path]):
            run = cases.run([*args, path])
            if run.crashed() or run.code != 0:
                found.append(f"{' '.join(args)}: {run.told()}")
        return found

    def log(self, name, content, records, is_damaged):
        """Import, export, info; and the same refused with --strict when it is damaged."""
        path = self.place("bad.log", content)
        tape, back = path.with_name("t.tape"), path.with_name("back.log")
        found = []
        run = cases.run(["import", path, "-o", tape])
        if run.code != 0 or run.crashed():
            self.tell.fail(name, f"import: {run.told()}")
            return
        if is_damaged and b"bad.log" not in run.err:
            found.append("import: no message with a place")
        export = cases.run(["export", "--log", tape, "-o", back])
        if export.code != 0 or not back.exists() or back.read_bytes() != content:
            found.append(f"export is not what was imported ({export.told()})")
        info = cases.run(["info", "--json", tape])
        told = json.loads(info.out) if info.code == 0 else {}
        if records is not None and told.get("records") != records:
            found.append(f"records: {told.get('records')}, not {records}")
        if is_damaged is not None and bool(told.get("damaged")) != is_damaged:
            found.append(f"damaged: {told.get('damaged')}")
        found += self.read_by_all(tape)
        strict = cases.run(["import", "--strict", path, "-o", path.with_name("strict.tape")])
        if is_damaged is not None and strict.code != (3 if is_damaged else 0):
            found.append(f"--strict: {strict.told()}")
        if strict.code == 3 and path.with_name("strict.tape").exists():
            found.append("--strict left a tape")
        self.tell.check(name, found)

    def refused(self, name, path, code, limit=None):
        """Not readable at all: every command says so, and import leaves nothing."""
        found = []
        tape = self.place("never.tape")
        for args in (["import", path, "-o", tape], ["info", path], ["profile", path]):
            run = cases.run(args, preexec=limit)
            if run.crashed() or run.code != code:
                found.append(f"{args[0]}: {run.told()}, not exit {code}")
            elif not run.err.startswith(b"symtape: "):
                found.append(f"{args[0]}: no message")
        if list(tape.parent.iterdir()):
            found.append("something was left")
        self.tell.check(name, found)


def check_truncations(battery, pool):
    whole = logs.start() + logs.end()
    folder = battery.place("cut.log").parent

    def cut(n):
        path, tape, back = (folder / f"{n}.{x}" for x in ("log", "tape", "back"))
        path.write_bytes(whole[:n])
        run = cases.run(["import", path, "-o", tape])
        if n < whole.index(b"\n") and b"no record" in run.err:
            return []  # and it was said
        if run.code != 0:
            return [f"cut at {n}: {run.told()}"]
        export = cases.run(["export", "--log", tape, "-o", back])
        same = back.exists() and back.read_bytes() == whole[:n]
        told = json.loads(cases.run(["info", "--json", "--big", tape]).out or b"{}")
        if not same or export.code != 0:
            return [f"cut at {n}: export differs"]
        least = whole[:n].count(b"\nV1120") - 1
        return [] if told.get("records", -1) >= least else [f"cut at {n}: records lost"]

    places = range(0, len(whole), 7 if cases.is_sanitized() else 1)
    found = [p for ps in pool.map(cut, places) for p in ps]
    battery.tell.check(f"truncated at {len(places)} of {len(whole)} bytes", found[:4])


def small_memory(megabytes):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return None if cases.is_sanitized() else limit


def check_single_line(battery, megabytes):
    """A line of this size through a pipe, between records that are all right."""
    piece = b"x" * (1 << 20)
    tape = battery.place("t.tape")
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen([cases.SYMTAPE, "import", "-", "-o", tape], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=err)
        try:
            child.stdin.write(logs.start())
            for _ in range(megabytes):
                child.stdin.write(piece)
            child.stdin.write(b"\n" + logs.end())
            child.stdin.close()
        except BrokenPipeError:
            pass
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        run = cases.Run(child.returncode, b"", err.read())
    found = [] if run.code == 0 else [f"import: {run.told()}"]
    if run.code == 0:
        told = json.loads(cases.run(["info", "--json", "--big", tape]).out or b"{}")
        if told.get("records") != logs.WHOLE or not told.get("damaged"):
            found.append(f"read {told.get('records')} records, {told.get('damaged')} damaged")
    peak = usage.ru_maxrss / 1024
    battery.tell.check(f"a single line of {megabytes} MB (peak {peak:.0f} MB)", found)


def check_compressed(battery):
    whole = logs.start() + logs.end()
    packed = gzip.compress(whole * 50)
    path = battery.place("cut.log.gz", packed[:-20])
    run = cases.run(["import", path, "-o", path.with_name("t.tape")])
    told = cases.run(["info", "--json", path.with_name("t.tape")])
    records = json.loads(told.out or b"{}").get("records", 0) if run.code == 0 else 0
    battery.tell.check("gzip cut short", [] if run.code == 0 and run.err and records > 200 else [
        f"{run.told()}, {records} records"])
    battery.refused("gzip of nothing", battery.place("empty.gz", gzip.compress(b"")), 3)
    battery.refused("zstd magic, then garbage",
                    battery.place("bad.log.zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 64), 3)


def zip_of(members, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return bytearray(out.getvalue())


def overlapping():
    """The second entry of the directory names the first one's bytes."""
    raw = zip_of({"p/models/model.json": b"{}" * 40, "p/archive_format": b"pt2" * 40})
    first = raw.find(b"PK\x01\x02")
    second = raw.find(b"PK\x01\x02", first + 4)
    raw[second + 42:second + 46] = raw[first + 42:first + 46]
    return bytes(raw)


def bomb(megabytes):
    """A member that inflates to so much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece, crc = b" " * (1 << 20), 0
    packed = b""
    for _ in range(megabytes):
        packed += packer.compress(piece)
        crc = zlib.crc32(piece, crc)
    packed += packer.flush()
    name, size = b"p/models/model.json", megabytes << 20
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, crc, len(packed), size, len(name), 0)
    entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, crc, len(packed), size,
                        len(name), 0, 0, 0, 0, 0, 0)
    at = len(local) + len(name) + len(packed)
    tail = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(entry) + len(name), at, 0)
    return local + name + packed + entry + name + tail


def check_zip(battery):
    battery.refused("overlapping zip members", battery.place("o.pt2", overlapping()), 3)
    battery.refused("zip bomb", battery.place("b.pt2", bomb(3000)), 3, small_memory(2000))
    battery.refused("zip without a directory",
                    battery.place("c.pt2", bytes(zip_of({"a": b"b"}))[:-22]), 3)
    battery.refused("zip that is no .pt2", battery.place("n.pt2", bytes(zip_of({"a": b"b"}))), 3)
    raw = zip_of({"p/archive_format": b"pt2", "p/models/model.json": b'{"graph_module": ' + b"[" * DEEP})
    path = battery.place("j.pt2", bytes(raw))
    runs = [cases.run([*args, path]) for args in (["info"], ["show", "--graphs"])]
    battery.tell.check("a .pt2 whose model.json is damaged", [
        r.told() for r in runs if r.crashed() or r.code not in (0, 3) or b"j.pt2" not in r.err])
    raw = zip_of({"p/../../evil": b"x", "p/archive_format": b"pt2"})
    battery.refused("a member name that leaves the archive", battery.place("e.pt2", bytes(raw)), 3)


def check_nothing(battery):
    battery.refused("an empty file", battery.place("empty.log", b""), 3)
    folder = battery.place("notes.txt", b"no log here\n").parent
    battery.refused("a folder without logs", folder, 3)
    battery.refused("a file that is not there", battery.place("nowhere.log"), 4)
    battery.refused("a file of another kind", battery.place("x.png", b"\x89PNG\r\n\x1a\n" * 99), 3)


def check_growing(battery):
    """A log that is written while it is read: what was there is read, as a prefix."""
    path = battery.place("growing.log", logs.start())
    tape, back = path.with_name("t.tape"), path.with_name("back.log")
    stop = threading.Event()

    def write():
        with path.open("ab", buffering=0) as out:
            while not stop.is_set():
                out.write(logs.end() * 20)
                time.sleep(0.001)
    writer = threading.Thread(target=write)
    writer.start()
    runs = []
    for _ in range(5):
        runs.append(cases.run(["import", "--overwrite", path, "-o", tape]))
        runs.append(cases.run(["export", "--log", "--overwrite", tape, "-o", back]))
    stop.set()
    writer.join()
    found = [r.told() for r in runs if r.code != 0 or r.crashed()]
    if not found and not path.read_bytes().startswith(back.read_bytes()):
        found.append("what came back is not a prefix of the log")
    battery.tell.check("a file that grows while it is read", found)


def check_full_disk(battery):
    big = battery.place("big.log", (logs.start() + os.urandom(3 << 19).hex().encode() + b"\n") * 2)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))
    folder = battery.place("x").parent
    run = cases.run(["import", big, "-o", "t.tape"], cwd=folder, preexec=limit)
    left = [p.name for p in folder.iterdir()]
    battery.tell.check("a file that may not grow", ([] if run.code == 4 and run.err else [run.told()]) +
                       ([f"left {left}"] if left else []))
    tape = big.with_name("ok.tape")
    cases.run(["import", big, "-o", tape])
    if os.path.exists("/dev/full"):
        found = []
        for args in (["info", tape], ["info", "--json", tape], ["show", "--events", tape],
                     ["export", "--log", tape], ["export", "--log", tape, "-o", "-"],
                     ["profile", tape], ["help"], ["version"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([cases.SYMTAPE, *args], stdout=full, stderr=subprocess.PIPE,
                                      stdin=subprocess.DEVNULL)
            if done.returncode != 4 or not done.stderr:
                found.append(f"{args[0]}: exit {done.returncode}")
        battery.tell.check("standard output on a full disk", found)
    script = (f"mount -t tmpfs -o size=256k none '{folder}' && cd '{folder}' && "
              f"{{ '{cases.SYMTAPE}' import '{big}' -o t.tape; echo code $?; ls -A; }}")
    done = subprocess.run(["unshare", "-rm", "bash", "-c", script], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) if shutil.which("unshare") else None
    if done is None or b"code" not in done.stdout:
        battery.tell.skip("a full disk", "no mount namespaces here")
    else:
        told = done.stdout.decode().split()
        battery.tell.check("a full disk", [] if told == ["code", "4"] and b"No space" in done.stderr
                           else [f"{told}, said {done.stderr.decode()[-200:]!r}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--big", action="store_true")
    args = parser.parse_args()
    tell = cases.Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-bad-") as folder, \
            ThreadPoolExecutor(cases.jobs()) as pool:
        battery = Battery(Path(folder), tell)
        for name, middle, records, is_damaged in damaged_logs():
            total = None if records is None else records + logs.WHOLE
            battery.log(name, logs.start() + middle + logs.end(), total, is_damaged)
        check_truncations(battery, pool)
        check_nothing(battery)
        check_compressed(battery)
        check_zip(battery)
        check_growing(battery)
        check_full_disk(battery)
        check_single_line(battery, 1024 if args.big else 64)
    tell.finish()


if __name__ == "__main__":
    main()
