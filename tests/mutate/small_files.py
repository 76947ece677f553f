"""Smaller formats: .safetensors, journals of minify, side files of deep recordings."""
import json
import re
import struct

import codecs_c
import jsons
import texts
from pick import flip_bytes, hostile, number, one_of


def safetensors(rng, raw):
    size = struct.unpack("<Q", raw[:8])[0]
    head, data = raw[8:8 + size], raw[8 + size:]
    if rng.randrange(5):
        tree = json.loads(head)
        jsons.mutate(rng, tree)
        head = jsons.dumps(rng, tree)
    else:
        data = flip_bytes(rng, data)
    told = number(rng) % 2**64 if rng.randrange(12) == 0 else len(head)
    return struct.pack("<Q", told) + head + data


def journal(rng, raw):
    """Lines keep right checksums."""
    lines = [line.rsplit(b"\t", 1)[0] for line in raw.split(b"\n") if line]
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        fields = lines[at].split(b"\t")
        which = rng.randrange(len(fields))
        fields[which] = one_of(
            rng, (2, lambda: str(number(rng)).encode()), (2, lambda: hostile(rng).encode("utf-8", "replace")),
            (2, lambda: texts.mutate(rng, fields[which].decode(errors="replace")).encode("utf-8", "replace")),
            (2, lambda: rng.choice((b"interesting", b"boring", b"other", b"unresolved", b"again-interesting"))),
            (1, lambda: b""))
        lines[at] = b"\t".join(fields).replace(b"\n", b" ")
        if rng.randrange(6) == 0:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    out = b"".join(b"%s\t%016x\n" % (line, codecs_c.xxh3(line)) for line in lines)
    return flip_bytes(rng, out) if rng.randrange(10) == 0 else out


def event_fields(root):
    """Of each type of event in a side file its fields: 4, 8 or s."""
    text = (root / "trace" / "log" / "deep" / "deep_format.def").read_text()
    return {int(n): kinds for n, kinds in re.findall(r"DEEP_EVENT\(\w+, (\d+), \"([48s]+)\"\)", text)}


class SideFile:
    def __init__(self, raw, layout):
        self.head, self.events = bytearray(raw[:64]), []
        at = 64
        while at + 8 <= len(raw):
            size, kind, thread = struct.unpack_from("<IHH", raw, at)
            if size < 8 or at + size > len(raw):
                break
            self.events.append([kind, thread, self.fields(raw[at + 8:at + size], layout.get(kind, ""))])
            at += -(-size // 8) * 8

    @staticmethod
    def fields(body, kinds):
        out, at = [], 0
        for kind in kinds:
            size = 4 if kind == "4" else 8
            if kind == "s":
                size = struct.unpack_from("<I", body, at)[0]
                at += 4
                out.append([kind, body[at:at + size]])
            else:
                out.append([kind, int.from_bytes(body[at:at + size], "little")])
            at += size
        return out

    def bytes(self):
        out = bytearray(self.head)
        for kind, thread, fields in self.events:
            body = b"".join(struct.pack("<I", len(v)) + v if k == "s" else
                            (v % 2**32).to_bytes(4, "little") if k == "4" else (v % 2**64).to_bytes(8, "little")
                            for k, v in fields)
            out += struct.pack("<IHH", 8 + len(body), kind % 2**16, thread) + body
            out += bytes(-len(out) % 8)
        return bytes(out)


def change_event(rng, file):
    event = rng.choice(file.events)
    if event[2] and rng.randrange(4):
        field = rng.choice(event[2])
        field[1] = jsons.mutate_bytes(rng, field[1]) if field[0] == "s" else rng.choice(
            (number(rng), rng.randrange(16), field[1] + 1))
    else:
        kind = rng.randrange(4)
        if kind == 0:
            event[0] = rng.randrange(28)
        elif kind == 1:
            file.events.remove(event)
        else:
            file.events.insert(rng.randrange(len(file.events)), [event[0], event[1], [list(f) for f in event[2]]])


def side_file(rng, raw, layout):
    file = SideFile(raw, layout)
    for _ in range(rng.randint(1, 5)):
        if file.events:
            change_event(rng, file)
    if rng.randrange(15) == 0:
        file.head[rng.randrange(64)] = rng.randrange(256)
    out = file.bytes()
    return flip_bytes(rng, out) if rng.randrange(10) == 0 else out
