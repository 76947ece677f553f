"""TORCH_TRACE logs: records, their JSON, their payloads. The MD5 of a payload that changes is made anew,
so that the change is read and not only reported as damage."""
import hashlib
import json
import re

import codecs_c
import jsons
import texts
from pick import flip_bytes, number, one_of

HEADER = re.compile(rb"[A-Z]\d{4} [^\]\n]*\] ")
NO_JSON = ("graph", "code", "guards_str", "graph_dump")


class Record:
    """prefix, envelope (a dict, or None: the line is none) and payload (bytes or None)."""

    def __init__(self, line, payload):
        self.line, self.payload = line, payload
        found = HEADER.match(line)
        self.prefix, self.envelope = (found.group() if found else b""), None
        if found:
            try:
                self.envelope = json.loads(line[found.end():])
            except ValueError:
                pass

    def event(self):
        return next(iter(self.envelope), "") if isinstance(self.envelope, dict) else ""

    def bytes(self, rng, md5=True):
        if not isinstance(self.envelope, dict):
            head = self.line
        else:
            if self.payload is not None and md5:
                self.envelope["has_payload"] = hashlib.md5(self.payload).hexdigest()
            head = self.prefix + jsons.dumps(rng, self.envelope)
        if self.payload is None:
            return head + b"\n"
        return head + b"\n\t" + self.payload.replace(b"\n", b"\n\t") + b"\n"


def parse(raw):
    records, lines = [], raw.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and lines[end].startswith(b"\t"):
            end += 1
        payload = b"\n".join(line[1:] for line in lines[at + 1:end]) if end > at + 1 else None
        records.append(Record(lines[at], payload))
        at = end
    return records


def mutate_payload(rng, record):
    if record.payload.lstrip()[:1] in (b"{", b"["):
        return jsons.mutate_bytes(rng, record.payload, 4)
    text = record.payload.decode("utf-8", "surrogateescape")
    return texts.mutate(rng, text, 5).encode("utf-8", "surrogatepass" if "\ud800" in text else "replace")


def other_compile(rng, records):
    record = rng.choice(records)
    if isinstance(record.envelope, dict):
        record.envelope[rng.choice(("frame_id", "frame_compile_id", "attempt", "rank"))] = rng.choice(
            (0, 1, 2, -1, None, "0", number(rng)))


def other_event(rng, records):
    """What an event's metadata says is said by another event."""
    a, b = rng.choice(records), rng.choice(records)
    if a.event() and b.event():
        a.envelope = {b.event() if k == a.event() else k: v for k, v in a.envelope.items()}


def one_change(rng, records):
    def with_envelope():
        found = [r for r in records if isinstance(r.envelope, dict)]
        if found:
            jsons.mutate(rng, rng.choice(found).envelope)

    def with_payload():
        found = [r for r in records if r.payload is not None]
        if found:
            record = rng.choice(found)
            record.payload = mutate_payload(rng, record)

    def drop():
        at = rng.randrange(len(records))
        del records[at:at + rng.choice((1, 1, 2, 20))]

    def double():
        at, to = rng.randrange(len(records)), rng.randrange(len(records))
        records[to:to] = records[at:at + rng.choice((1, 2, 10))]

    def swap():
        a, b = rng.randrange(len(records)), rng.randrange(len(records))
        records[a], records[b] = records[b], records[a]

    def exchange():
        a, b = rng.choice(records), rng.choice(records)
        a.payload, b.payload = b.payload, a.payload
    if records:
        one_of(rng, (6, with_envelope), (6, with_payload), (1, drop), (1, double), (1, swap), (1, exchange),
               (1, lambda: other_compile(rng, records)), (1, lambda: other_event(rng, records)))


def mutate(rng, raw):
    records = parse(raw)
    for _ in range(rng.choice((1, 2, 4, 10))):
        one_change(rng, records)
    out = b"".join(r.bytes(rng, rng.randrange(30) > 0) for r in records)
    return flip_bytes(rng, out) if rng.randrange(10) == 0 else out


def mutate_file(rng, raw):
    """The log as plain text, as .zst or as .gz; bytes of the packed file change now and then."""
    suffix = rng.choice((".log", ".log", ".zst", ".gz"))
    out = codecs_c.packed(mutate(rng, raw), suffix)
    if suffix != ".log" and rng.randrange(6) == 0:
        out = flip_bytes(rng, out)
    return "in.log" + (suffix if suffix != ".log" else ""), out
