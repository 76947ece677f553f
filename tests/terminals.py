#!/usr/bin/env python3
"""No text of a file, a name or an argument drives a terminal: files are made with escape sequences and
hidden characters planted wherever a text can stand, every command is run over them with both streams
on a pseudo-terminal, and what arrives there holds nothing but printable text and our own styles.

usage: terminals.py [--seed N]
"""
import argparse
import hashlib
import json
import os
import pty
import random
import re
import select
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cases

# What a stranger may write; the last ones only where bytes can stand that are no text.
PLANTS = ["\x1b]0;PWNED\x07", "\x1b[2J", "\x1b[31m", "\x1b[1;1H", "\x1bP+q\x1b\\", "\x9b2J", "\x9d0;x\x9c",
          "\x85", "\x07", "\x08\x08", "\x7f", "\r", "\x0b", "\x0c", "\x0e", "\u202e", "\u2066", "\u200f",
          "\u061c", "\u2028", "\u2029", "\u200b", "\u00ad", "\ufeff", "\U000e0041", "\x00"]
RAW_PLANTS = [b"\x9b31m", b"\xff", b"\xc2", b"\xe2\x80", b"\xed\xa0\xbd"]
# A name of a file can hold all but '/' and NUL.
NAME = "x\x1b]0;NAME\x07\x1b[2J\u202e\x9b1m\r\x7f"

STYLES = re.compile(rb"\x1b\[(?:0|1|2|31|32|33|36)m")
PROGRESS = re.compile(rb"\r\x1b\[K")
HIDDEN = {0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}


def first_bad(text):
    """The first thing that is neither printable text nor a line's end; None."""
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: {text[max(0, error.start - 40):error.end + 20]!r}"
    for i, c in enumerate(decoded):
        odd = unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") or ord(c) in HIDDEN
        if odd and c not in "\n\t":
            return f"{c!r} in {decoded[max(0, i - 60):i + 20]!r}"
    return None


def on_terminal(args, env, timeout=60):
    """Exit code and all that a terminal receives."""
    leader, follower = pty.openpty()
    mode = termios.tcgetattr(follower)
    mode[1] &= ~termios.OPOST  # a line feed stays one
    termios.tcsetattr(follower, termios.TCSANOW, mode)
    process = subprocess.Popen([str(cases.SYMTAPE), *args], stdin=subprocess.DEVNULL, stdout=follower,
                               stderr=follower, env=env, start_new_session=True)
    os.close(follower)
    received, until = b"", time.monotonic() + timeout
    while time.monotonic() < until:
        if not select.select([leader], [], [], 1)[0]:
            continue
        try:
            piece = os.read(leader, 1 << 16)
        except OSError:  # all of its other ends are closed
            break
        if not piece:
            break
        received += piece
    else:
        process.kill()
    os.close(leader)
    return process.wait(), received


def on_pipes(args, env):
    done = subprocess.run([str(cases.SYMTAPE), *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env, timeout=60)
    return done.returncode, done.stdout


# ---- Files ----

class Planter:
    """Plants into texts, every so many of them."""

    def __init__(self, seed, share):
        self.random, self.share = random.Random(seed), share

    def text(self, text):
        if self.random.random() >= self.share:
            return text
        at = self.random.randrange(len(text) + 1)
        return text[:at] + "".join(self.random.sample(PLANTS, 3)) + text[at:]

    def value(self, value):
        """All strings of a JSON value, keys too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if isinstance(value, dict):
            return {self.text(k) if self.random.random() < 0.02 else k: self.value(v)
                    for k, v in value.items()}
        return value

    def raw(self, text):
        """Bytes of a text, some that are no text among them."""
        out = self.text(text).encode("utf-8", "surrogatepass")
        if self.random.random() < self.share / 4:
            out += self.random.choice(RAW_PLANTS)
        return out


HEADER = re.compile(r"^([VIWE]\d{4} \S+ \d+ )(\S+?)(:\d+\] )(\{.*)$")


def records_of(log):
    """(header line, payload lines or None) of a log."""
    header, payload = None, []
    for line in log.split("\n"):
        if line.startswith("\t") and header is not None:
            payload.append(line[1:])
        elif line:
            if header is not None:
                yield header, payload
            header, payload = line, []
    if header is not None:
        yield header, payload


def planted_payload(lines, planter):
    """JSON's strings where it is JSON; else comments, code and strings of each line."""
    text = "\n".join(lines)
    try:
        value = json.loads(text)
    except ValueError:
        words = []
        for line in lines:
            at = max(line.rfind("#"), line.rfind('"'), line.rfind("'"))
            words.append(line[:at + 1].encode() + planter.raw(line[at + 1:]) if at >= 0 else line.encode())
        return b"\n".join(words)
    return json.dumps(planter.value(value), ensure_ascii=planter.random.random() < 0.5, indent=0).encode(
        "utf-8", "surrogatepass")


def planted_log(log, planter):
    """A log whose records are whole, and whose texts are not what they were."""
    out = bytearray()
    for line, payload in records_of(log):
        match = HEADER.match(line)
        if not match:
            out += planter.raw(line).replace(b"\n", b" ") + b"\n"
            continue
        start, path, number, text = match.groups()
        try:
            meta = planter.value(json.loads(text))
        except ValueError:
            continue
        body = planted_payload(payload, planter) if payload else None
        if body is not None and "has_payload" in meta:
            meta["has_payload"] = hashlib.md5(body).hexdigest()
        words = json.dumps(meta, ensure_ascii=planter.random.random() < 0.7)
        words = re.sub("[\n\r]", " ", words)
        out += (start + path + number + words).encode("utf-8", "surrogatepass") + b"\n"
        for one in body.split(b"\n") if body is not None else ():
            out += b"\t" + one + b"\n"
    return bytes(out)


def planted_archive(source, target, planter):
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.infolist():
            data, name = old.read(member), member.filename
            if name.endswith(".json"):
                data = json.dumps(planter.value(json.loads(data))).encode()
            new.writestr(name, data)
        new.writestr(new.namelist()[0].split("/")[0] + "/extra/\x1b[2J\u202e.txt", "\x1b[2J")


FX = """\
# symtape candidate: dynamo, torch 2.13.0{0}, seed 0
# symbol s27 = 8 in [2, int_oo] from L['x{0}'].size()[1]
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu", s27: "Sym(s27)"):
        # File: /home/{0}/user.py:7 in forward{0}, code: c = x / x  {0}
        c: "f32[4, 8][8, 1]cpu" = torch.ops.aten.div.Tensor_mode(x, x, rounding_mode = 'zz{0}')
        return (c,)
"""


def make_files(folder, seed):
    """Name: paths. Logs and tapes under "tapes", graphs under "graphs"."""
    made = {"tapes": [], "graphs": [], "archives": []}
    for name, share in (("graph_break", 0.03), ("graph_break", 0.5), ("train", 0.03), ("encoder", 0.3),
                        ("deep", 0.1), ("cond", 0.03)):
        log = cases.run(["export", cases.RECORDINGS / f"{name}.log.zst"]).out.decode(errors="replace")
        path = folder / f"{name}-{share}.log"
        path.write_bytes(planted_log(log, Planter(seed, share)))
        made["tapes"].append(path)
    named = folder / f"{NAME}.log"
    named.write_bytes(planted_log(log, Planter(seed + 1, 0.05)))
    made["tapes"].append(named)
    ranks = folder / f"ranks{NAME}"
    ranks.mkdir()
    for i in range(2):
        (ranks / f"dedicated_log_torch_trace_rank_{i}_{NAME}.log").write_bytes(
            planted_log(log, Planter(seed + 2 + i, 0.05)))
    made["tapes"].append(ranks)
    tape = folder / "packed.tape"
    cases.run(["import", "-o", tape, named])
    made["tapes"].append(tape)
    for i, plant in enumerate(PLANTS):
        path = folder / (f"{i}.fx" if i else f"{NAME}.fx")
        path.write_text(FX.format(plant.replace("\n", " ")), encoding="utf-8", newline="")
        made["graphs"].append(path)
    for share in (0.002, 0.05, 1.0):
        path = folder / f"{share}.pt2"
        planted_archive(cases.RECORDINGS / "exported.pt2", path, Planter(seed, share))
        made["archives"].append(path)
    return made


# ---- Commands ----

LISTS = ["--graphs", "--guards", "--symbols", "--specializations", "--signature", "--weights", "--restarts",
         "--recompiles", "--breaks", "--caches", "--failures", "--events"]


def of_tape(path, folder, n):
    """Commands over a log or a tape, and whether a pipe gets exact bytes."""
    path = str(path)
    yield ["info", path], False
    yield ["ranks", path], False
    yield ["ranks", "--json", path, path], False
    yield ["info", "--json", path], False
    for option in LISTS:
        yield ["show", path, option], False
        yield ["show", path, option, "--stack"], False
    yield ["show", path, "--json", "--stack", *LISTS[1:4], "--events"], False
    yield ["show", path, "--artifact", "torch_version"], True
    yield ["show", path, "--artifact", "chromium_event", "--limit", "40"], True
    yield ["show", path, "--artifact", "dynamo_guards", "--json"], False
    for graph in (":0/0", ":0/0:dynamo", ":0/0:forward", ":0/0:inference"):
        yield ["show", path + graph], True
        yield ["show", "--json", path + graph], False
        yield ["export", "--python", path + graph], True
    yield ["export", path], True
    for form in ("text", "json", "folded", "speedscope", "chrome"):
        yield ["profile", "--format", form, path], False
    for by in ("op", "line", "stack", "module"):
        yield ["profile", "--by", by, path], False
    yield ["profile", "--cost-model", path], False
    yield ["replay", path], False
    yield ["validate", "--redundant", path], False
    yield ["inputs", "--limit", "3", path], False
    yield ["inputs", "--cover", "x.size(0)=1..8,x\x1b[2J=1", path], False
    yield ["replay", "--json", path], False
    yield ["replay", "--guards", "--operators", path], False
    yield ["replay", "--ablate", "fastpath,cache", path], False
    yield ["run", path], False
    yield ["check", "--list", path], False
    yield ["check", "--max", "guards:1,recompiles:0", path], False
    yield ["check", "--max", "guards:1", "--format", "markdown", path], False
    yield ["bisect", "--guard", "Eq(s27, 8\x1b[2J)", path + ":0/0"], False
    yield ["minify", "--guard", "Eq(s27, 8\x1b[2J)", "-o", str(folder / f"g{n}.tape"), path + ":0/0"], False
    yield ["import", "-o", str(folder / f"i{n}{NAME}.tape"), path], False
    yield ["import", "--redact", "-o", str(folder / f"r{n}.tape"), path], False


QUERIES = ["tapes", "models", "lines", "guards", "operators", "recompiles", "breaks", "failures", "restarts", "specializations", "ranks"]


def of_corpus(folder, tapes):
    """One command after the other: the corpus is made by the first."""
    corpus = str(folder / f"corpus{NAME}.sqlite")
    yield ["collect", "-o", corpus, "--revision", NAME, *map(str, tapes)], False
    yield ["collect", "--json", "-o", corpus, *map(str, tapes), f"nowhere{NAME}.log"], False
    yield ["each", "check", "--max", "guards:1", *map(str, tapes), f"nowhere{NAME}.log"], False
    for name in QUERIES:
        for form in ("text", "json", "csv"):
            yield ["query", "--format", form, corpus, name], False
    for table in ("nodes", "symbols", "incidents", "recordings"):
        yield ["query", corpus, "--sql", f"SELECT * FROM {table}"], False
    yield ["query", corpus, "--sql", "SELECT 1 AS \"\x1b[2J\x07\", char(27, 91, 50, 74, 155, 8238) AS b, x'1b5b324a'"], False
    yield ["query", "--json", corpus, "--sql", "SELECT 1 AS \"\x1b[2J\x07\", char(27, 91, 50, 74, 155, 8238) AS b"], False
    yield ["query", "--format", "csv", corpus, "--sql", "SELECT 1 AS \"\x1b[2J\x07\", char(27, 91, 50, 74, 155, 8238, 10) AS b"], False


def of_two(a, b):
    for form in ("text", "json", "markdown"):
        yield ["diff", "--format", form, str(a), str(b)], False
    yield ["diff", "--labels", f"{NAME},\x1b[2J|<b>", "--format", "markdown", str(a), str(b)], False
    yield ["profile", str(a), str(b)], False
    yield ["info", str(a), str(b)], False
    yield ["bisect", "--between", str(a), str(b)], False


def of_graph(path, folder, n):
    path = str(path)
    out = ["--overwrite", "-o", str(folder / f"m{n}.tape")]
    for option in ([], ["--json"], ["--expect", "\x1b[2J"], ["--anonymize"],
                   ["--check", "printf 'a\\033[2J\\rb\\302\\233'; exit 0;"],
                   ["--check", "printf '\\033]0;x\\007\\377'; exit 9;"],
                   ["--issue", str(folder / f"m{n}{NAME}.md"), "--fx", str(folder / f"m{n}.fx")],
                   ["--backend-mismatch", "cpu\x1b[2J"]):
        yield ["minify", *out, *option, path], False
    yield ["replay", path], False


def of_suites(folder, seed):
    """Result files in which texts are planted, and expectations of the same kind."""
    planter = Planter(seed, 0.3)
    for point in ("before", f"after{NAME}"):
        (folder / point).mkdir()
        rows = [planter.value({"name": f"model{i}", "suite": "suite", "accuracy": "pass", "torch": "2.13"}) for i in range(20)]
        lines = [json.dumps({"name": f"m{i}", **row, "speedup": 1 + i / 9}) for i, row in enumerate(rows)]
        (folder / point / "r.jsonl").write_text("\n".join(lines))
        cells = b"\n".join(b'"%s","%s"' % (planter.raw(f"m{i}").replace(b'"', b""), planter.raw("fail").replace(b'"', b"")) for i in range(20))
        (folder / point / f"r{NAME}.csv").write_bytes(b"name,accuracy\n" + cells)
        (folder / point / "point.json").write_text(json.dumps({"commit\x1b[2J": "a\u202e", "gpu": planter.text("H100")}))
    (folder / "odd.csv").write_bytes(b"name,accuracy\nm1,\x1b[2J\n\xff,pass\n")
    points = [str(folder / "before"), str(folder / f"after{NAME}")]
    for option in ([], ["--json"], ["--markdown"], ["--html"], ["--expect", str(folder / "odd.csv")],
                   ["--expect", str(folder / "odd.csv"), "--json"], ["--expect", str(folder / "odd.csv"), "--update"],
                   ["--base", NAME], ["--peak-tflops", NAME]):
        yield ["dash", *points, *option], False


def of_arguments(folder):
    """Mistakes whose messages say what was written."""
    tape = str(cases.RECORDINGS / "train.log.zst")
    odd = "\x1b]0;ARGUMENT\x07\x1b[2J\u202e"
    rules, baseline = folder / "rules", folder / "baseline.json"
    rules.write_text(f"aten.{odd}(Tensor x) -> {odd}\n{odd}\n")
    baseline.write_text(json.dumps({"schema": odd, odd: {odd: 1}}))
    for args in ([odd], ["help", odd], ["info", odd], ["info", tape, f"--{odd}"], ["show", f"-{odd}", tape],
                 ["show", f"{tape}:{odd}"], ["show", f"{tape}@{odd}"], ["show", tape, "--artifact", odd],
                 ["show", tape, "--compile", odd], ["show", tape, "--events", odd], ["show", tape, "--limit", odd],
                 ["profile", tape, "--format", odd], ["profile", tape, "--file", odd], ["profile", tape, "--by", odd],
                 ["replay", tape, "--sizes", odd], ["replay", tape, "--dynamic-shapes", odd], ["replay", tape, "--rules", odd],
                 ["replay", tape, "--rules", str(rules)], ["replay", tape, "--backend", odd],
                 ["replay", tape, "--what-if", odd], ["replay", tape, "--dynamic", odd],
                 ["run", tape, "--sizes", f"{odd}=1"], ["run", tape, "--compare-with", odd], ["run", tape, "--backend", odd],
                 ["check", tape, "--max", odd], ["check", tape, "--baseline", str(baseline)],
                 ["check", tape, "--baseline", odd], ["check", tape, "--max", "guards:1", "-o", f"{odd}/x"],
                 ["diff", tape, tape, "--only", odd], ["diff", tape, str(baseline)],
                 ["export", f"{tape}@{odd}"], ["export", tape, "-o", f"{folder}/{odd}/x"],
                 ["import", odd, "-o", f"{folder}/{odd}.tape"], ["minify", odd], ["minify", f"{tape}:{odd}"],
                 ["bisect", tape + ":0/0", "--guard", odd], ["bisect", tape + ":0/0", "--check", f"echo '{odd}'; exit 3;"],
                 ["collect", odd, "-o", f"{folder}/x.sqlite"], ["collect", tape, "-o", f"{folder}/{odd}/x"], ["collect", tape, "--shard", odd],
                 ["query", odd, "tapes"], ["query", f"{folder}/x.sqlite", odd], ["query", f"{folder}/x.sqlite", "--sql", odd],
                 ["query", f"{folder}/x.sqlite", "slower", f"{odd}={odd}"], ["each", odd, tape], ["each", "check", f"--{odd}", tape],
                 ["merge", odd], ["merge", tape, "-o", f"{folder}/{odd}/x"],
                 ["completions", odd], ["advise", tape, "--apply", odd], ["advise", tape, "--apply", str(rules)], ["record", "-o", f"{folder}/rec{odd}.tape", "--", f"./{odd}"],
                 ["record", "-o", f"{folder}/rec{odd}.tape", "--", "true"]):
        yield args, False


def judge(battery, args, exact, index):
    """Terminals with and without colors; where the bytes at a pipe are not meant to be exact, pipes."""
    color = index % 2
    code, received = on_terminal(args, {**battery.env, "CLICOLOR_FORCE" if color else "NO_COLOR": "1"})
    bare = PROGRESS.sub(b"", received)
    why = first_bad(STYLES.sub(b"", bare) if color else bare)
    if not why and code not in (0, 1, 2, 3, 4, 125) and not (args[0] == "record" and code == 127):
        why = f"exit {code}, said {received[-200:]!r}"
    if not why and not exact:
        why = first_bad(on_pipes(args, {**battery.env, "NO_COLOR": "1"})[1])
        why = why and f"at a pipe: {why}"
    return why


class Battery:
    def __init__(self, folder, seed, tell):
        self.folder, self.seed, self.tell = folder, seed, tell
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("NO_COLOR", "CLICOLOR", "TORCH", "COLUMNS", "SYMTAPE_PYTHON"))}
        self.env["TERM"] = "xterm"

    def commands(self):
        files = make_files(self.folder, self.seed)
        n = 0
        for path in files["tapes"]:
            n += 1
            yield f"log {n}", list(of_tape(path, self.folder, n))
        for a, b in zip(files["tapes"], files["tapes"][1:] + files["tapes"][:1]):
            n += 1
            yield f"two logs {n}", list(of_two(a, b))
        for path in files["archives"]:
            n += 1
            yield f"archive {n}", [*of_tape(path, self.folder, n), *of_graph(path, self.folder, n)]
        for path in files["graphs"]:
            n += 1
            yield f"graph {n}", list(of_graph(path, self.folder, n))
        yield "suites", list(of_suites(self.folder, self.seed))
        yield "a corpus", list(of_corpus(self.folder, [path for path in files["tapes"] if path.is_file()]))
        yield "arguments", list(of_arguments(self.folder))

    def one(self, group):
        name, commands = group
        whys = []
        for i, (args, exact) in enumerate(commands):
            why = judge(self, args, exact, i)
            if why:
                whys.append(f"{[ascii(a) for a in args]}: {why}")
        self.tell.check(f"{name}, {len(commands)} commands", whys[:4])

    def run(self):
        with ThreadPoolExecutor(cases.jobs()) as pool:
            list(pool.map(self.one, self.commands()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    tell = cases.Cases()
    with tempfile.TemporaryDirectory() as folder:
        Battery(Path(folder), options.seed, tell).run()
    tell.finish()


if __name__ == "__main__":
    main()
