"""Tapes, as symtape-tape(5) lays them out: frames are taken apart into blocks, blocks into rows, rows
into fields. What is changed is put together again with right sizes, checksums and tables, so that a
reader gets past those; they are changed themselves now and then."""
import struct

import codecs_c
import jsons
import texts
from pick import flip_bytes, hostile, number, one_of

STREAMS = b"geuoh"
MAGIC_HEADER, MAGIC_INDEX, MAGIC_SEEK = 0x184D2A50, 0x184D2A51, 0x184D2A5E
# Fields of a row: v a varint, t a text, b one byte.
ROWS = {ord("s"): "t", ord("f"): "vvvv", ord("t"): "vv", ord("p"): "vvv", ord("c"): "t", ord("R"): "vvvttvvt"}
RAW, PAYLOAD, ODD_HEADER, LONG_META = 1, 2, 16, 256


def varint(n):
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes((n,))


class Reader:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def byte(self):
        self.at += 1
        return self.raw[self.at - 1]

    def varint(self):
        n = shift = 0
        while True:
            byte = self.byte()
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    def text(self):
        size = self.varint()
        self.at += size
        return self.raw[self.at - size:self.at]

    def field(self, kind):
        return {"v": self.varint, "t": self.text, "b": self.byte}[kind]()


def record_fields(flags):
    kinds = "v" if flags & RAW else "bvvvvvvv"
    kinds += "v" if flags & LONG_META else "t"
    return kinds + "v" * (bool(flags & PAYLOAD) + bool(flags & ODD_HEADER)) + "vv"


class Block:
    """A lane's letter, first, and rows (lists of [kind, value]) or bytes."""

    def __init__(self, raw):
        reader = Reader(raw)
        self.letter, self.first, count = reader.byte(), reader.varint(), reader.varint()
        self.data = self.rows = None
        self.count = None  # None: as many as there are
        if self.letter in STREAMS:
            self.data = raw[reader.at:]
            return
        self.rows = []
        for _ in range(count):
            if self.letter == ord("r"):
                flags = reader.varint()
                row = [["v", flags], ["v", reader.varint()]]
                kinds = record_fields(flags)[0 if not flags & RAW else 1:]
            else:
                row, kinds = [], ROWS[self.letter]
            row += [[kind, reader.field(kind)] for kind in kinds]
            self.rows.append(row)

    def items(self):
        """Bytes of the items and how many they are."""
        if self.data is not None:
            return self.data, len(self.data)
        out = bytearray()
        for row in self.rows:
            for kind, value in row:
                out += (varint(len(value)) + value if kind == "t" else
                        varint(value) if kind == "v" else bytes((value & 255,)))
        return bytes(out), len(self.rows)

    def bytes(self):
        items, count = self.items()
        count = count if self.count is None else self.count
        return bytes((self.letter,)) + varint(self.first) + varint(count) + items, count


class Tape:
    def __init__(self, raw):
        self.blocks, at = [], 0
        self.header = None
        while at < len(raw):
            size = codecs_c.frame_size(raw[at:])
            frame = raw[at:at + size]
            magic = struct.unpack("<I", frame[:4])[0]
            if magic == MAGIC_HEADER:
                self.header = bytearray(frame[8:])
            elif magic & 0xFFFFFFF0 != MAGIC_HEADER:
                self.blocks.append(Block(codecs_c.decompress(frame)))
            at += size

    def follow(self):
        """Makes the blocks of each lane follow each other without a gap."""
        ends = {}
        for block in self.blocks:
            block.first = ends.get(block.letter, 0)
            ends[block.letter] = block.first + block.items()[1]

    def bytes(self, rng=None, whole=True):
        """rng: index and seek table are changed, under a right checksum."""
        def skippable(magic, content):
            return struct.pack("<II", magic, len(content)) + content
        out = bytearray(skippable(MAGIC_HEADER, bytes(self.header)))
        rows, sizes = [], [(len(out), 0)]
        for block in self.blocks:
            content, count = block.bytes()
            frame = codecs_c.compress(content, 1)
            rows.append([block.letter, len(out), len(frame), len(content), block.first, count])
            sizes.append((len(frame), len(content)))
            out += frame
        if not whole:
            return bytes(out)
        if rng and rows:
            rng.choice(rows)[rng.randrange(1, 6)] = number(rng)
        index = varint(len(rows) if not rng or rng.randrange(4) else number(rng)) + b"".join(
            bytes((row[0],)) + b"".join(map(varint, row[1:])) for row in rows)
        index = skippable(MAGIC_INDEX, index + struct.pack("<Q", codecs_c.xxh3(index)))
        sizes.append((len(index), 0))
        if rng and rng.randrange(2):
            sizes[rng.randrange(len(sizes))] = (number(rng), number(rng))
        seek = b"".join(struct.pack("<II", a & 0xFFFFFFFF, b & 0xFFFFFFFF) for a, b in sizes)
        seek += struct.pack("<IBI", len(sizes), 0, 0x8F92EAB1)
        return bytes(out + index + skippable(MAGIC_SEEK, seek))


def change_text(rng, value):
    """A text in a row: metadata and source lines are JSON or the inside of it, others are names."""
    if value[:1] in (b"{", b"[") and rng.randrange(2):
        return jsons.mutate_bytes(rng, value)
    text = value.decode("utf-8", "replace")
    return one_of(
        rng, (2, lambda: texts.mutate(rng, text).encode("utf-8", "surrogatepass")),
        (2, lambda: hostile(rng).encode("utf-8", "surrogatepass")),
        (2, lambda: flip_bytes(rng, value)),
        (2, lambda: value + b"\x01" + str(number(rng)).encode()),  # the stack of that number
        (1, lambda: value + b"\x02"), (1, lambda: b"\x01" * rng.choice((1, 500))),
        (1, lambda: value * rng.choice((2, 50))))


def change_row(rng, rows):
    field = rng.choice(rng.choice(rows))
    if field[0] == "t":
        field[1] = change_text(rng, field[1])
    elif field[0] == "b":
        field[1] = rng.randrange(256)
    else:
        field[1] = one_of(rng, (2, lambda: number(rng)), (2, lambda: field[1] + rng.choice((-1, 1, 2))),
                          (1, lambda: field[1] ^ 1 << rng.randrange(12)), (2, lambda: rng.randrange(64)))


def change_rows(rng, rows):
    at, to = rng.randrange(len(rows)), rng.randrange(len(rows))
    kind = rng.randrange(4)
    if kind == 0:
        del rows[at:at + rng.choice((1, 1, 5))]
    elif kind == 1:
        rows[to:to] = [[list(f) for f in row] for row in rows[at:at + rng.choice((1, 20))]]
    elif kind == 2:
        rows[at], rows[to] = rows[to], rows[at]
    else:
        rows[at] = [list(f) for f in rows[at]] + [["v", number(rng)]]


def change_stream(rng, block):
    text = block.data.decode("utf-8", "surrogateescape")
    changed = one_of(rng, (3, lambda: texts.mutate(rng, text).encode("utf-8", "replace")),
                     (2, lambda: flip_bytes(rng, block.data)))
    # Payloads are named by their place: where the size stays, the others do too.
    if rng.randrange(2):
        changed = changed[:len(block.data)].ljust(len(block.data), b" ")
    block.data = changed


def change_blocks(rng, tape):
    blocks = tape.blocks
    at, to = rng.randrange(len(blocks)), rng.randrange(len(blocks))
    kind = rng.randrange(6)
    if kind == 0:
        del blocks[at]
    elif kind == 1:
        blocks.insert(to, blocks[at])
    elif kind == 2:
        blocks[at], blocks[to] = blocks[to], blocks[at]
    elif kind == 3:
        blocks[at].letter = rng.choice(b"geuohsftpcRrxZ\0")
    elif kind == 4:
        blocks[at].count = number(rng) % 2**64
    else:
        blocks[at].first = number(rng) % 2**64


def change_header(rng, tape):
    at = rng.randrange(8, len(tape.header))
    tape.header[at] = rng.randrange(256)
    if rng.randrange(2):
        tape.header += bytes(rng.randrange(64))


def mutate(rng, raw):
    tape = Tape(raw)
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not tape.blocks:
            break
        block = rng.choice(tape.blocks)
        ways = [(2, lambda: change_blocks(rng, tape))]
        if block.rows:
            ways += [(8, lambda: change_row(rng, block.rows)), (2, lambda: change_rows(rng, block.rows))]
        elif block.data:
            ways.append((8, lambda: change_stream(rng, block)))
        one_of(rng, *ways)
        if rng.randrange(4):
            tape.follow()
    if rng.randrange(20) == 0:
        change_header(rng, tape)
    out = tape.bytes(rng if rng.randrange(10) == 0 else None, whole=rng.randrange(10) > 0)
    return flip_bytes(rng, out) if rng.randrange(12) == 0 else out
