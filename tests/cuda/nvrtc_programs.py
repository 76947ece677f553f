#!/usr/bin/env python3
"""Programs that the CUDA backend generates are compiled by the real NVRTC to sm_90.

usage: nvrtc_programs.py BUILD [--all] [--seed N] [--jobs N] [--keep FOLDER] [-v]

Exit 77 where there is no NVRTC; 1 with "nvrtc" in $SYMTAPE_NEED.

The programs are what the tests' calls, the recordings of tests/recordings and, where they are, the
calls, exported programs and recordings of ../shared ask for, at 32-bit and at 64-bit indices, on a
fake device that computes nothing (fake.h: SYMTAPE_FAKE_IDLE). A sixth of them is compiled, another
one every month, with at least one of each name; all with --all. Each kernel

- does not spill, and has no stack in local memory, but for what LOCAL states;
- takes no more registers than REGISTERS states;
- has the loads and stores of 16 bytes that MOVES16() promises (replay/backend/cuda/device/prologue.h);
  a program whose text asks for vectors promises some.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import datetime
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEVICE = "replay/backend/cuda/device"

# Two blocks of 256 threads at a time on a multiprocessor (65536 registers), and one where tiles of
# products are summed in registers; two of 128 threads for attention's.
REGISTERS = {"matmul_tile": 168, "attention_tf32": 255, "attention_tf32_query_gradient": 255,
             "attention_tf32_key_gradient": 255}
MOST_REGISTERS = 128
# Bytes of a thread's stack. sin(), cos() and tan() of CUDA's own library reduce large arguments by
# digits of 2/pi, with their products in local memory, which other arguments never touch.
LOCAL = 40
DIGITS = re.compile(r"\b(__cudart_i2opi_f|__internal_trig_reduction_slowpathd|\w*far_(sin|cos|tan)\w*)\b")

VECTORS = re.compile(rb"^#define VECTOR$", re.MULTILINE)
# Addresses that a block has in shared memory (LIVE_FIELD) may be of any memory for the compiler.
MOVE16 = r"(?:\.global(?:\.\w+)*)?\.(?:v4\.[a-z]32|v2\.[a-z]64)"


# Tests that stop where values are not right.
COMPUTED = ("test_replay_backend_cuda_kernels_cuda_point", "test_replay_backend_cuda_runtime_device_sizes")

# --- What there is to compile ---

def commands(build, shared):
    """What collects programs, and the environments to run it in. Only what COMPUTED computes is right."""
    tests, symtape = build / "tests", build / "cmd" / "symtape"
    for name in ("rows", "vision", "complex", "products"):
        yield [tests / ("test_replay_backend_cuda_kernels_cuda_" + name)], True
    for name in COMPUTED:
        yield [tests / name], False
    run = [symtape, "run", "--backend", "cuda", "--ignore-guards"]
    logs = sorted(glob.glob(str(ROOT / "tests/recordings/**/*.zst"), recursive=True))
    logs += sorted(glob.glob(str(ROOT / "tests/recordings/**/*.pt2"), recursive=True))
    for log in logs:
        yield run + [log], True
    if not shared.is_dir():
        print("no recordings in %s: fewer programs" % shared)
        return
    rows = shared / "ops" / "concrete.jsonl.zst"
    if rows.exists():
        yield [tests / "conform_values", "--backend", "cuda", "--expect", "0", rows], True
    for log in sorted(shared.glob("exports/*.pt2")) + sorted(shared.glob("variety/*.zst")) + \
            sorted(shared.glob("traces/*.aot_eager.log.zst")):
        yield run + [log], False


def collect(build, shared, folder, jobs):
    """Several processes at a time; one that fails or takes long has asked for what it has asked for."""
    work = []
    for command, wide in commands(build, shared):
        for index in ("0", "1") if wide else ("0",):
            idle = command[0].name not in COMPUTED
            env = dict(os.environ, SYMTAPE_CUDA_LIB=str(build / "tests" / "cuda"),
                       SYMTAPE_CUDA_WITHOUT="cublaslt,cudnn", SYMTAPE_CUDA_WIDE=index,
                       SYMTAPE_FAKE_PROGRAMS=str(folder), SYMTAPE_BUILD=str(build),
                       XDG_CACHE_HOME=str(folder / "cache"))
            if idle:
                env["SYMTAPE_FAKE_IDLE"] = "1"
            work.append((command, env))

    def run(item):
        try:
            subprocess.run(item[0], env=item[1], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=60)
        except subprocess.TimeoutExpired:
            pass

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, work))
    return sorted(folder.glob("*.cu"))


# --- NVRTC ---

def find_nvrtc(build):
    """Where symtape itself finds it: (path, version), or None."""
    env = dict(os.environ, SYMTAPE_ROOT=str(ROOT))
    told = subprocess.run([build / "cmd" / "symtape", "info", "--backends"], env=env,
                          capture_output=True, text=True).stdout
    found = re.search(r"^ *NVRTC (\d+\.\d+): (/.*)$", told, re.MULTILINE)
    return (found.group(2), found.group(1)) if found else None


class Compiler:
    def __init__(self, path):
        for builtins in glob.glob(os.path.join(os.path.dirname(path), "libnvrtc-builtins.so.*")):
            ctypes.CDLL(builtins, ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(path)
        headers = sorted((ROOT / DEVICE).rglob("*.h"))
        strings = ctypes.c_char_p * len(headers)
        self.n = len(headers)
        self.names = strings(*[str(h.relative_to(ROOT)).encode() for h in headers])
        self.texts = strings(*[h.read_bytes() for h in headers])

    def text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.lib, "nvrtcGet%sSize" % what)(program, ctypes.byref(size))
        ret = ctypes.create_string_buffer(size.value + 1)
        getattr(self.lib, "nvrtcGet" + what)(program, ret)
        return ret.value.decode(errors="replace")

    def compile(self, text, name, options):
        """(code, log, PTX)"""
        program = ctypes.c_void_p()
        code = self.lib.nvrtcCreateProgram(ctypes.byref(program), text, name, self.n, self.texts,
                                           self.names)
        if code:
            return code, "no program", ""
        code = self.lib.nvrtcCompileProgram(program, len(options),
                                            (ctypes.c_char_p * len(options))(*options))
        ret = code, self.text(program, "ProgramLog"), "" if code else self.text(program, "PTX")
        self.lib.nvrtcDestroyProgram(ctypes.byref(program))
        return ret


# --- Judging ---

Kernel = collections.namedtuple("Kernel", "name stack local spilled registers loads stores promised")
PROPERTIES = re.compile(r"Function properties for (\w+)\n\D*(\d+) bytes stack frame, (\d+) bytes "
                        r"spill stores, (\d+) bytes spill loads\n.*?Used (\d+) registers")
PROMISE = re.compile(r"\bmoves16_(\w+) = (\d+);")


def kernels_of(log, ptx):
    bodies = {m.group(1): m.group(2) for m in
              re.finditer(r"\.entry (\w+)\((.*?)^\}$", ptx, re.DOTALL | re.MULTILINE)}
    promised = {m.group(1): divmod(int(m.group(2)), 1 << 16) for m in PROMISE.finditer(ptx)}
    for m in PROPERTIES.finditer(log):
        if m.group(1) in bodies:
            body = bodies[m.group(1)]
            yield Kernel(m.group(1), int(m.group(2)),
                         LOCAL if DIGITS.search(body) else 0, int(m.group(3)) + int(m.group(4)),
                         int(m.group(5)), len(re.findall(r"\bld" + MOVE16, body)),
                         len(re.findall(r"\bst" + MOVE16, body)),
                         promised.get(m.group(1), (0, 0)))


def complaints(text, kernels):
    for k in kernels:
        if k.spilled:
            yield "%s spills %d bytes" % (k.name, k.spilled)
        elif k.stack > k.local:
            yield "%s has a stack of %d bytes" % (k.name, k.stack)
        if k.registers > REGISTERS.get(k.name, MOST_REGISTERS):
            yield "%s takes %d registers" % (k.name, k.registers)
        if k.loads < k.promised[0] or k.stores < k.promised[1]:
            yield "%s has %d loads and %d stores of 16 bytes, promised are %d and %d" % (
                (k.name, k.loads, k.stores) + k.promised)
    if not kernels:
        yield "no kernel is in the log"
    if VECTORS.search(text) and not any(sum(k.promised) for k in kernels):
        yield "it asks for vectors, and no kernel promises them"


compiler = None


def start(path):
    global compiler
    compiler = Compiler(path)


def check(path):
    """(kernels, complaints)"""
    text = path.read_bytes()
    asked = text.split(b"\n", 1)[0].split()[1:]
    code, log, ptx = compiler.compile(text, asked[0], asked[1:] + [
        b"--ptxas-options=-v", b"--define-macro=SYMTAPE_CHECKED"])
    if code:
        return [], ["does not compile: " + next((line for line in log.splitlines() if
                                                 "error" in line), log)]
    kernels = list(kernels_of(log, ptx))
    return kernels, list(complaints(text, kernels))


def sample(paths, seed):
    """A sixth of the programs, and the first of each name. Their file names are hashes."""
    names = set()
    for path in paths:
        with path.open() as file:
            name = file.readline().split()[1]
        if (int(path.stem[-4:], 16) + seed) % 6 == 0 or name not in names:
            names.add(name)
            yield path


def check_all(paths, library, jobs, verbose):
    bad, kernels = 0, []
    with concurrent.futures.ProcessPoolExecutor(jobs, initializer=start,
                                                initargs=(library,)) as pool:
        for path, (found, wrong) in zip(paths, pool.map(check, paths, chunksize=4)):
            kernels += found
            for k in found if verbose else []:
                print(path.name, *k)
            for line in wrong:
                print("%s (%s): %s" % (path, path.open().readline().split()[1], line))
            bad += bool(wrong)
    return kernels, bad


def main():
    today = datetime.date.today()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true", help="every program, not a sixth")
    parser.add_argument("--seed", type=int, default=today.year * 12 + today.month,
                        help="of the sample; changes every month")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--keep", type=Path, help="leave the programs there")
    parser.add_argument("-v", action="store_true", help="a line for each kernel")
    args = parser.parse_args()
    build = args.build.resolve()
    nvrtc = find_nvrtc(build)
    if not nvrtc:
        needed = "nvrtc" in os.environ.get("SYMTAPE_NEED", "").split(",")
        print("%s: no NVRTC on this machine; README.md says how to get it" % (
            "failed" if needed else "skipped"))
        return 1 if needed else 77
    shared = Path(os.environ.get("SYMTAPE_SHARED") or ROOT.parent / "shared")
    folder = args.keep or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        paths = collect(build, shared, folder, args.jobs)
        paths = paths if args.all else list(sample(paths, args.seed))
        kernels, bad = check_all(paths, nvrtc[0], args.jobs, args.v)
    finally:
        if not args.keep:
            shutil.rmtree(folder)
    promising = [k for k in kernels if sum(k.promised)]
    print("NVRTC %s: %d programs, %d kernels, %d of them promise moves of 16 bytes; at most %d "
          "registers" % (nvrtc[1], len(paths), len(kernels), len(promising),
                         max([k.registers for k in kernels], default=0)))
    if len(paths) < 100 or len(promising) < 30:
        print("these are too few: collecting has failed")
        bad += 1
    print("%d passed, %d failed, 0 skipped" % (len(paths) - bad, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
