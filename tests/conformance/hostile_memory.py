#!/usr/bin/env python3
"""Small files that claim or unfold to much: no command takes more memory for one than 64 MiB, the
window of its zstd frames and 40 times its size, as README and symtape(1) promise. What would take
more is refused with exit code 3, by a message that names --big.

Each file is made here and is given to some of the commands that read such, others for each file and
each month; with --all to every one, which takes minutes. Those of ../shared/hostile are tried too,
where they are. What takes long is no memory: a command is ended after a while.

usage: hostile_memory.py [-v] [--all] [--seed S] [NAME...]      only files of these names; -v: a line a run
"""
import argparse
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import cases  # noqa: E402
import logs  # noqa: E402

MIB = 1 << 20
SECONDS_OF_ALL, SECONDS = 60, 10
COMMANDS_OF_A_FILE = 2
CODES = {0, 1, 2, 3, 4, 125}
READERS = [["info", "--json"], ["show", "--graphs"], ["show", "--guards", "--json"], ["show", "--events"],
           ["profile"], ["report", "--json"], ["replay", "--json"], ["opcheck", "--json"], ["export"], ["import", "-o", "OUT"],
           ["import", "--redact", "-o", "OUT"], ["check", "--save", "OUT"], ["diff", "--save", "OUT"],
           ["bisect", "--guard", "Eq(s0, 1)"]]


def graph(body, inputs=("x: \"f32[2][1]cpu\"",)):
    return ("class GraphModule(torch.nn.Module):\n    def forward(self, " + ", ".join(inputs) + "):\n" +
            "".join(f"        {line}\n" for line in body))


def of_graph(text, event="aot_inference_graph"):
    return logs.record(event, {}, text)


def doubling(n):
    """Sizes of which each holds the one before twice."""
    body, last = [], "s0"
    for i in range(n):
        body += [f"floordiv_{i}: \"Sym(u{i})\" = {last} // 3", f"mod_{i}: \"Sym(u{i})\" = {last} % 5",
                 f"mul_{i}: \"Sym(u{i})\" = floordiv_{i} * mod_{i}", f"add_{i}: \"Sym(u{i})\" = mul_{i} + 7"]
        last = f"add_{i}"
    body += [f"empty: \"f32[7][1]cpu\" = torch.ops.aten.empty.memory_format([{last}], device = device(type='cpu'),"
             " pin_memory = False)", "return (empty,)"]
    return graph(body, ("s0: \"Sym(s0)\"",))


def chain(n):
    body = [f"add_{i}: \"f32[2][1]cpu\" = torch.ops.aten.add.Tensor({'x' if not i else f'add_{i - 1}'}, 1)"
            for i in range(n)]
    return graph(body + [f"return (add_{n - 1},)"])


def frames(n, seed):
    return [{"line": i, "name": f"f{seed}_{i}", "filename": 1, "loc": "x = y"} for i in range(n)]


def with_payload(event, line, lines):
    """One record of a payload of many lines, or of one long line; its checksum is wrong."""
    yield logs.record(event, {"name": "a", "encoding": "json"}, b"", md5="0" * 32).split(b"\t")[0] + b"\t"
    for _ in range(lines):
        yield line
    yield b"\n"


def all_logs():
    """Name, its bytes in pieces."""
    rec = logs.record
    yield "many attempts", lambda: (rec("dynamo_start", {"stack": []}, compile_id=(i, 0)) for i in range(60000))
    yield "many records", lambda: (rec("artifact", {"name": "a"}) for _ in range(300000))
    yield "many events", lambda: (rec(f"event{i}", {}) for i in range(100000))
    yield "array of numbers", lambda: [rec("artifact", {"name": "QQ"}).replace(b'"QQ"', b"[" + b"1," * 7000000 + b"1]")]
    yield "object of numbers", lambda: [rec("artifact", {"name": "QQ"}).replace(b'"QQ"', b"{" + b'"":1,' * 2500000 + b'"":1}')]
    yield "array in a payload", lambda: with_payload("chromium_event", b"{}," * 100000, 200)
    yield "numbers in a payload", lambda: with_payload("artifact", b"1," * 100000, 200)
    yield "payload of 400 MB", lambda: with_payload("artifact", b"x" * MIB, 400)
    yield "payload of many lines", lambda: with_payload("aot_inference_graph", b"x\n\t" * 100000, 400)
    yield "many payloads", lambda: (rec("artifact", {"name": "a", "encoding": "string"}, b"%d" % i + b"x" * 100000) for i in range(3000))
    yield "many inputs", lambda: [of_graph(graph(["return (x0,)"], [f"x{i}: \"f32[2][1]cpu\"" for i in range(700000)]))]
    yield "many nodes", lambda: [of_graph(chain(150000))]
    yield "many graphs", lambda: (of_graph(chain(20)) for _ in range(600))
    yield "wide cat", lambda: [of_graph(graph(["cat: \"f32[200000][1]cpu\" = torch.ops.aten.cat.default([" + "x, " * 99999 +
                                       "x])", "return (cat,)"]))]
    yield "doubling sizes", lambda: [of_graph(doubling(40))]
    yield "long expression", lambda: [rec("guard_added_fast", {"expr": "Eq(s0, " + "+".join(["s0*s1"] * 200000) + ")"})]
    yield "deep expression", lambda: [rec("guard_added_fast", {"expr": "Mod(" * 5000 + "s0" + ", 3)" * 5000})]
    yield "powers", lambda: [rec("guard_added_fast", {"expr": "Eq(" + "(" * 20 + "s0 + s1" + ")**9" * 20 + ", 1)"}),
                     rec("create_symbol", {"symbol": "s0", "val": "9**9**9", "vr": "[2, 9**9**9]", "source": "L['x']"})]
    yield "many symbols", lambda: (rec("create_symbol", {"symbol": f"s{i}", "val": "7", "vr": "[2, int_oo]", "source": f"L['x{i}']"})
                           for i in range(60000))
    yield "many guards", lambda: (rec("guard_added_fast", {"expr": f"Eq(s{i}, {i})"}) for i in range(80000))
    yield "deep stacks", lambda: (rec("dynamo_start", {"stack": frames(9000, i)}) for i in range(30))
    yield "one deep stack, often", lambda: (rec("dynamo_start", {"stack": frames(5000, 0)}) for i in range(2000))
    yield "processes and files", lambda: (rec("str", ["/x.py", i % 3000]).replace(b" 4242 ", b" %d " % (i // 50 + 1))
                                  for i in range(60000))
    yield "contexts", lambda: (rec("artifact", {"name": "a"}, compile_id=(i, i)) for i in range(100000))
    yield "phases", lambda: [rec("chromium_event", {}, json.dumps({"name": f"n{i}", "ph": "B", "ts": i, "args": {}}))
                     for i in range(100000)]
    yield "one line", lambda: (b"A" * MIB for _ in range(1000))
    yield "a long header", lambda: (b"V1120 09:41:07.123000 4242 a.py:1] {\"a\": \"" if not i else b"x" * MIB for i in range(400))
    yield "one line of TABs", lambda: (b"\t" * MIB for _ in range(400))
    yield "empty lines", lambda: (b"\n" * MIB for _ in range(64))


def zip_of(members, method=zipfile.ZIP_DEFLATED):
    def write(path):
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return write


def all_archives():
    yield "many members", lambda: zip_of(((f"m/{i}", b"") for i in range(60000)), zipfile.ZIP_STORED)
    yield "model of arrays", lambda: zip_of([("m/version", "3"), ("m/models/model.json", b"[" + b"1," * 40000000 + b"1]")])
    yield "model of objects", lambda: zip_of([("m/version", "3"), ("m/models/model.json",
                                                           b'{"graph_module":{"graph":{"nodes":[' + b"{}," * 10000000 + b"{}]}}}")])
    yield "deep model", lambda: zip_of([("m/version", "3"), ("m/models/model.json", b'{"a":' * 1000000)])
    yield "a large constant", lambda: zip_of([("m/version", "3"), ("m/models/model.json", b"{}"),
                                      ("m/data/constants/a", b"\0" * 500000000)])


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def tape(blocks):
    """A tape without an index: a header, and frames that hold (lane, first, count, rows)."""
    def frame(data):
        return subprocess.run(["zstd", "-q", "-c", "--content-size", f"--stream-size={len(data)}"], input=data, check=True,
                              stdout=subprocess.PIPE).stdout

    def write(path):
        with open(path, "wb") as out:
            head = b"symtape\0" + struct.pack("<HHIId", 1, 0, 0, 0x01020304, 370.5)
            out.write(struct.pack("<II", 0x184D2A50, len(head)) + head)
            for lane, first, count, rows in blocks:
                out.write(frame(lane + varint(first) + varint(count) + rows))
    return write


RECORDING = (b"R", 0, 1, b"\0\0\1" + b"\1a\1a" + varint(10**12) + b"\0\0")


def all_tapes():
    n, size = 400000, 4 * MIB
    zero = {b"s": b"\0", b"f": b"\1\0\1\0", b"t": b"\0\0", b"p": b"\0\0\5", b"c": b"\0"}
    for lane, row in zero.items():
        count = size // len(row)
        yield f"rows of lane {lane.decode()}", lambda lane=lane, row=row, count=count: tape(
            [RECORDING] + [(lane, i * count, count, row * count) for i in range(20)])
    yield "raw records", lambda: tape([RECORDING] + [(b"r", 0, n, b"\1\0\1x\1\1" * n)] * 20)
    yield "recordings", lambda: tape([(b"R", 0, 40000, b"".join(varint(i) + b"\0\1\1a\1a\0\0\0" for i in range(40000)))])
    one = b"\2\0V\0\0\0\0\0\0\0\2{}\0\1" + varint(10**9)
    yield "records of one payload", lambda: tape([RECORDING, (b"s", 0, 2, b"\1a\1b"), (b"c", 0, 1, b"\1}"),
                                          (b"o", 0, size, b"x" * size), (b"o", size, size, b"x" * size),
                                          (b"p", 0, 1, varint(3) + b"\0" + varint(2 * size)), (b"r", 0, 20000, one * 20000)])


def write_packed(path, pieces):
    """Compressed by zstd, as most logs are."""
    with open(path, "wb") as out:
        zstd = subprocess.Popen(["zstd", "-q", "-1", "-c"], stdin=subprocess.PIPE, stdout=out)
        for piece in pieces:
            zstd.stdin.write(piece)
        zstd.stdin.close()
        if zstd.wait() != 0:
            raise RuntimeError("zstd failed")


def window_of(path):
    """Largest window that a frame of the file asks for: zstd -1 takes 512 KiB."""
    if not path.name.endswith(".zst"):
        return 0
    said = subprocess.run(["zstd", "-lv", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    sizes = [line.split("(")[1].split()[0] for line in said.splitlines() if line.startswith("Window Size")]
    return max([int(size) for size in sizes], default=0)


def measure(args, folder, seconds):
    """Exit code or "timeout", largest memory in bytes, what was said."""
    with open(folder / "said", "wb+") as said:
        began, pid = time.time(), os.fork()
        if pid == 0:
            null = os.open("/dev/null", os.O_RDWR)
            os.dup2(null, 0), os.dup2(null, 1), os.dup2(said.fileno(), 2)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.environ["TMPDIR"] = str(folder)
            os.execv(cases.SYMTAPE, [str(cases.SYMTAPE), *args])
        code = None
        while code is None:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
            elif time.time() - began > seconds:
                os.kill(pid, signal.SIGKILL)
                _, _, usage = os.wait4(pid, 0)
                code = "timeout"
            else:
                time.sleep(0.005)
        said.seek(0)
        return code, usage.ru_maxrss * 1024, said.read()[-2000:].decode(errors="replace")


def problem(code, memory, most, said):
    if code == "timeout":
        return None if memory <= most else f"{memory / MIB:.0f} MiB of memory by the time it was ended"
    if code not in CODES or "Sanitizer" in said or "runtime error:" in said:
        return f"exit code {code}: {said.strip().splitlines()[-1:]}"
    if memory > most:
        return f"{memory / MIB:.0f} MiB of memory, {most / MIB:.0f} are allowed"
    if "out of memory" in said and code == 4:
        return "says that memory is out"
    return None


def try_file(path, options):
    """Prints a line. True when no command took too much."""
    # Address space for the stacks of threads is allowed beside, and can be used otherwise.
    most = 64 * MIB + window_of(path) + 40 * path.stat().st_size + 8 * MIB * min(os.cpu_count() - 1, 64)
    wrong, largest, refused = [], 0, 0
    commands, seconds = READERS, SECONDS_OF_ALL
    if not options.all:
        commands, seconds = random.Random(f"{options.seed} {path.name}").sample(READERS, COMMANDS_OF_A_FILE), SECONDS
    for command in commands:
        folder = Path(tempfile.mkdtemp(prefix="symtape-memory-"))
        args = [str(folder / "out") if word == "OUT" else word for word in command] + [str(path)]
        code, memory, said = measure(args, folder, seconds)
        shutil.rmtree(folder)
        what = problem(code, memory, most, said)
        largest = max(largest, memory)
        refused += "--big" in said
        if options.verbose:
            print(f"# {path.name}: {' '.join(command)}: exit {code}, {memory / MIB:.0f} of {most / MIB:.0f} MiB; "
                  f"{said.strip().splitlines()[-1:]}", flush=True)
        if what:
            wrong.append(f"{' '.join(command)}: {what}")
    told = f"{path.name}: {path.stat().st_size} bytes, {largest / MIB:.0f} of {most / MIB:.0f} MiB, {refused} refused"
    print(f"not ok - {told}: {'; '.join(wrong)}" if wrong else f"ok - {told}", flush=True)
    return not wrong


def apart(do):
    """In a process of its own: what a process had taken counts as what a program took that it started."""
    pid = os.fork()
    if pid == 0:
        do()
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        raise RuntimeError("a file could not be made")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-v", dest="verbose", action="store_true", help="a line a run")
    parser.add_argument("--all", action="store_true", help="every command for each file")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")))
    parser.add_argument("names", nargs="*", metavar="NAME", help="only files of these names")
    options = parser.parse_args()
    if cases.is_sanitized() or not shutil.which("zstd"):
        print("skip - memory: a sanitizer build has no limit, or there is no zstd")
        return 77
    good = True
    print(f"# seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="symtape-memory-") as folder:
        made = [(f"{name}.log.zst", lambda path, p=pieces: write_packed(path, p()))
                for name, pieces in all_logs()]
        made += [(f"{name}.pt2", lambda path, w=write: w()(path)) for name, write in all_archives()]
        made += [(f"{name}.tape", lambda path, w=write: w()(path)) for name, write in all_tapes()]
        for name, write in made:
            if options.names and not any(n in name for n in options.names):
                continue
            path = Path(folder) / name.replace(" ", "_")
            apart(lambda: write(path))
            good &= try_file(path, options)
            path.unlink()
        if cases.shared():
            for name in ("stack_bomb.tape", "alike_records.tape", "one_line.log.zst"):
                path = cases.shared() / "hostile" / name
                if path.exists() and (not options.names or any(n in name for n in options.names)):
                    good &= try_file(path, options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
