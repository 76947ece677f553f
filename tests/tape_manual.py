#!/usr/bin/env python3
"""man/symtape-tape.5.scd suffices to read a tape: a reader written from that page alone, which knows
nothing of our sources, gives the logs of the project's own recordings back byte for byte.

zstd itself is the program of that name: skippable frames are none of its output, so the contents of
all frames come out end to end, and the index says where each ends.
"""
import hashlib
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from cases import RECORDINGS, SYMTAPE, Cases

STREAMS, TABLES = "geuoh", "sftpcRr"
LANES = STREAMS + TABLES
ROOT = 0xFFFF0000
(RAW, PAYLOAD, BAD_MD5, NO_PAYLOAD, ODD_HEADER, ODD_PAYLOAD, CRLF, NO_NEWLINE, META_STORED,
 UNANNOUNCED) = (1 << i for i in range(10))


class Reader:
    """Takes numbers and texts from bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def take(self, n):
        assert self.at + n <= len(self.data), "cut"
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return -(value + 1) // 2 if value & 1 else value // 2

    def text(self):
        return self.take(self.varint())


def index_of(data):
    """Rows of the index, found from the file's end."""
    rows, checksums, magic = struct.unpack("<IBI", data[-9:])
    assert (checksums, magic) == (0, 0x8F92EAB1)
    table = 8 * rows + 17
    size, = struct.unpack("<I", data[-17:-13])
    frame = data[-table - size:-table]
    assert struct.unpack("<II", frame[:8]) == (0x184D2A51, size - 8)
    found = Reader(frame[8:-8])
    names = ("offset", "stored", "content", "first", "count")
    frames = [(found.take(1).decode(), {n: found.varint() for n in names})
              for _ in range(found.varint())]
    assert not found.more() and rows == len(frames) + 2
    return frames


class Tape:
    def __init__(self, path):
        data = path.read_bytes()
        magic, size = struct.unpack("<II", data[:8])
        assert magic == 0x184D2A50 and data[8:16] == b"symtape\0"
        assert struct.unpack("<HHIId", data[16:36]) == (1, 0, 0, 0x01020304, 370.5) and size == 28
        self.streams = {lane: b"" for lane in STREAMS}
        self.rows = {lane: [] for lane in TABLES}
        self.recordings, self.records = {}, []
        content = Reader(subprocess.run(["zstd", "-dc"], input=data, check=True,
                                        stdout=subprocess.PIPE).stdout)
        for lane, row in index_of(data):
            self.block(Reader(content.take(row["content"])), lane, row)
        assert not content.more()

    def block(self, block, lane, row):
        assert block.take(1).decode() == lane
        first, count = block.varint(), block.varint()
        assert (first, count) == (row["first"], row["count"])
        if lane in STREAMS:
            assert first == len(self.streams[lane])
            self.streams[lane] += block.take(count)
        elif lane == "r":
            self.record_rows(block, count)
        else:
            assert lane == "R" or first == len(self.rows[lane])
            for _ in range(count):
                self.rows[lane].append(self.row(block, lane))
        assert not block.more()

    def row(self, block, lane):
        if lane in "sc":
            return block.text()
        if lane == "f":
            return block.varint(), block.varint(), block.zigzag(), block.varint()
        if lane == "t":
            return block.varint(), block.varint()
        if lane == "p":
            return block.varint(), block.varint(), block.varint()
        number = block.varint()
        self.recordings[number] = (block.varint(), block.varint(), block.text(), block.text(),
                                   block.varint(), block.varint(), block.text())
        return number

    def record_rows(self, block, count):
        last = [0, 0, 0]
        for _ in range(count):
            record = {"flags": block.varint(), "recording": block.varint()}
            if not record["flags"] & RAW:
                record["level"] = block.take(1)
                last = [(n + block.zigzag()) % (1 << 64) for n in last]
                record["day"], record["time"], record["pid"] = last
                for name in ("path", "line", "event", "context"):
                    record[name] = block.varint()
            stored = record["flags"] & META_STORED
            record["meta"] = self.payload(block.varint()) if stored else block.text()
            record["payload"] = self.payload(block.varint()) if record["flags"] & PAYLOAD else None
            record["header"] = self.payload(block.varint()) if record["flags"] & ODD_HEADER else None
            record["lines"], record["bytes"] = block.varint(), block.varint()
            self.records.append(record)

    def payload(self, number):
        lane, offset, size = self.rows["p"][number]
        return self.streams[LANES[lane]][offset:offset + size]

    def frame(self, number):
        line, name, file, loc = self.rows["f"][number]
        strings = self.rows["s"]
        text = b'{"line": %d, "name": "%s", "filename": %d' % (line, strings[name], file)
        if loc:
            text += b', "loc": ' + (b"null" if loc == 1 else b'"%s"' % strings[loc - 2])
        return text + b"}"

    def stack(self, number):
        frames = []
        while number:
            back, frame = self.rows["t"][number - 1]
            if frame < ROOT:
                frames.append(self.frame(frame))
            number -= back
        return b"[" + b", ".join(reversed(frames)) + b"]"

    def expand(self, text, md5):
        out = b""
        while text:
            n = next((i for i, c in enumerate(text) if c in (1, 2)), len(text))
            out, mark, text = out + text[:n], text[n:n + 1], text[n + 1:]
            if mark == b"\1":
                digits = len(text) - len(text.lstrip(b"0123456789"))
                out, text = out + self.stack(int(text[:digits])), text[digits:]
            elif mark:
                out += md5
        return out

    def header(self, r):
        if r["flags"] & ODD_HEADER:
            return r["header"]
        text = r["payload"] or b""
        if r["flags"] & ODD_PAYLOAD:
            text = b"\n".join(line[1:] for line in text.split(b"\n"))
        md5 = hashlib.md5(text).hexdigest().encode()
        seconds, us = divmod(r["time"], 1000000)
        strings = self.rows["s"]
        return b'%s%04d %02d:%02d:%02d.%06d %d %s:%d] {"%s": ' % (
            r["level"], r["day"], seconds // 3600, seconds // 60 % 60, seconds % 60, us, r["pid"],
            strings[r["path"]], r["line"], strings[r["event"]]) + self.expand(
                r["meta"], md5) + self.expand(self.rows["c"][r["context"]], md5)

    def written(self, r):
        flags, payload = r["flags"], r["payload"]
        if flags & RAW:
            return r["meta"]
        text = self.header(r) + (b"\r" if flags & CRLF else b"")
        end = b"" if flags & NO_NEWLINE else b"\n"
        if payload is None:
            return text + end
        if not flags & ODD_PAYLOAD:
            payload = b"\t" + payload.replace(b"\n", b"\n\t")
        return text + b"\n" + payload + end

    def log(self, recording):
        parts = [(r, self.written(r)) for r in self.records if r["recording"] == recording]
        assert all(len(text) == r["bytes"] for r, text in parts)
        return b"".join(text for _, text in parts)


def check(tell, logs, folder):
    """Packs logs (bytes by name) into one tape, and reads it."""
    paths = []
    for name, text in logs.items():
        paths.append(folder / f"{name}.log")
        paths[-1].write_bytes(text)
    tape_path = folder / "x.tape"
    subprocess.run([SYMTAPE, "import", "-q", "--overwrite", "-o", tape_path, *paths], check=True)
    tape = Tape(tape_path)
    for number, (kind, complete, name, source, size, *_) in tape.recordings.items():
        wanted = Path(source.decode()).read_bytes()
        good = tape.log(number) == wanted and size == len(wanted) and (kind, complete) == (0, 1)
        (tell.ok if good else tell.fail)(name.decode(), *([] if good else ["differs"]))


def main():
    tell = Cases()
    if not shutil.which("zstd"):
        tell.skip("tapes", "needs zstd")
        tell.finish()
    paths = sorted(RECORDINGS.glob("**/*.log.zst"))
    logs = {f"{i:02}-{p.name.split('.')[0][:20]}": subprocess.run(
        ["zstd", "-dcq", p], check=True, stdout=subprocess.PIPE).stdout for i, p in enumerate(paths)}
    first = next(iter(logs.values()))
    logs["cut"] = first[:len(first) // 2]
    logs["crlf"] = first.replace(b"\n", b"\r\n")
    logs["damaged"] = b"hello\n\n" + first.replace(b'"ph"', b'"pH"').replace(b"\n\t", b"\n\tx\t", 3)
    logs["forked"] = b"".join(line.replace(b" 1", b" 2", 1) + b"\n" if i % 2 else line + b"\n"
                              for i, line in enumerate(first.split(b"\n")))
    with tempfile.TemporaryDirectory() as folder:
        check(tell, logs, Path(folder))
    tell.finish()


if __name__ == "__main__":
    sys.exit(main())
