#!/usr/bin/env python3
"""What goes wrong with a device, a driver and its libraries is told, and nothing is left behind.

Scenarios: a fault each (fake.h tells how they are made), with what the program has to say and the
code that it leaves with. Then every call of the driver fails once, with one error or another: the
program leaves with 4 and names the error, or does what it would have done; the later graphs and sizes
run all the same; and all that was made in the context was given back before it ended.

usage: faults.py [--all] [--sample N] [--seed S]
"""
import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

TRAIN = f"{cases.RECORDINGS}/train.log.zst"
FORWARD = f"{TRAIN}:0/0:forward"
RUN = ["run", "--backend", "cuda", FORWARD]
MINIFY = ["minify", "--backend-mismatch", "cuda", "--inject", "aten.tanh=1e-2", FORWARD]
BOTH = ["run", "--backend", "cuda", TRAIN]
SWEEP = ["run", "--backend", "cuda", FORWARD, "--sizes", "s23=2..5"]
PLACE = r"node tanh \(aten\.tanh\.default of f32\[\d, 16, 10\]\) at /home/user/demo/train\.py:18 "
BREAKS = PLACE + (r".*kernel point_tanh: 1 x 1 x 1 blocks of 256 threads: CUDA_ERROR_%s.*"
                  r"the last kernel launched was point_tanh \(CUDA_LAUNCH_BLOCKING=1")
RUNS_ON = r"0/0_0:aot_backward_graph: 18 operator calls, peak"
PRODUCT = ["run", "--backend", "cuda", f"{cases.RECORDINGS}/encoder.log.zst:0/0"]
HELD = {"SYMTAPE_FAKE_HELD": "1"}

# Name, fault, arguments, exit code, what is said on stderr, what is printed.
SCENARIOS = [
    ("nothing", {}, RUN, 0, "", "1 graph on cuda: ran"),
    ("no device", {"SYMTAPE_FAKE_DEVICES": "0"}, RUN, 4,
     r"backend cuda: there is no CUDA device: the driver \(for CUDA 13\.0\) finds none", ""),
    ("hidden device", {"SYMTAPE_FAKE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "7"}, RUN, 4,
     r"finds none, and \$CUDA_VISIBLE_DEVICES is set", ""),
    ("no driver", {"SYMTAPE_CUDA_LIB": "/nonexistent"}, RUN, 4,
     r"backend cuda: driver: libcuda\.so\.1 is not found", ""),
    ("old driver", {"SYMTAPE_FAKE_DRIVER": "11040"}, RUN, 4,
     r"the driver is too old: \S*libcuda\.so\.1 is for CUDA 11\.4, and 12\.0 is needed", ""),
    ("another process has it", {"SYMTAPE_FAKE_MODE": "3"}, RUN, 4,
     r"is busy: its mode allows one process at a time, and another has it", ""),
    ("computing is prohibited", {"SYMTAPE_FAKE_MODE": "2"}, RUN, 4,
     r"is busy: its mode allows no process to compute on it", ""),
    ("busy device", {"SYMTAPE_FAKE_FAIL": "cuDevicePrimaryCtxRetain:1:46"}, RUN, 4,
     r"is busy or cannot be used", ""),
    ("no memory for a context", {"SYMTAPE_FAKE_FAIL": "cuDevicePrimaryCtxRetain:1:2"}, RUN, 4,
     r"has no memory left for a context; other processes use it", ""),
    ("stub driver", {"SYMTAPE_FAKE_FAIL": "cuInit:1:34"}, RUN, 4, r"is a stub for linking", ""),
    ("driver updated", {"SYMTAPE_FAKE_FAIL": "cuInit:1:803"}, RUN, 4,
     r"has another version than the driver in the kernel, .*; restart the machine", ""),
    ("fabric", {"SYMTAPE_FAKE_FAIL": "cuInit:1:802"}, RUN, 4,
     r"the system is not ready: .*nvidia-fabricmanager has to run", ""),
    ("compatibility package", {"SYMTAPE_FAKE_FAIL": "cuInit:1:804"}, RUN, 4,
     r"compatibility package, which this GPU does not support", ""),
    ("driver fails", {"SYMTAPE_FAKE_FAIL": "cuInit:1:999"}, RUN, 4,
     r"backend cuda: starting the driver: CUDA_ERROR_UNKNOWN 999: unknown error$", ""),
    ("NVRTC newer than the driver", {"SYMTAPE_FAKE_FAIL": "cuModuleLoadDataEx:0:222"}, RUN, 4,
     r"aten\.embedding\.default of f32\[50, 16\], i64\[4, 10\]\).*compiled for sm_90 by NVRTC .*may be "
     r"older than NVRTC; \$SYMTAPE_CUDA_LIB .*CUDA_ERROR_UNSUPPORTED_PTX_VERSION 222", ""),
    ("another architecture", {"SYMTAPE_FAKE_FAIL": "cuModuleLoadDataEx:0:209"}, RUN, 4,
     r"kernel index_read, compiled for sm_90 .*CUDA_ERROR_NO_BINARY_FOR_GPU 209", ""),
    ("a cubin that the driver refuses", {"SYMTAPE_FAKE_FAIL": "cuModuleLoadDataEx:1:200"}, RUN, 0, "",
     "1 graph on cuda: ran"),
    ("more than there is", {"SYMTAPE_FAKE_MEMORY": str(16 << 20)}, [*RUN, "--sizes", "s27=100000"], 4,
     r"116806804 bytes of memory are needed, and \d+ are available on cuda; node embedding is the first "
     r"that needs more", ""),
    ("more than there is, by force", {"SYMTAPE_FAKE_MEMORY": str(16 << 20)},
     [*RUN, "--sizes", "s27=100000", "--ignore-guards"], 4,
     r"running anyway \(--ignore-guards\)\n.*aten\.embedding\.default of f32\[50, 16\], i64\[4, 100000\]\).*cannot "
     r"allocate 25600000 bytes of device memory: \d+ of the device's 16777216 bytes are free, and "
     r"this run uses \d+", ""),
    # Once in the dry run: the pass that fails is followed by the run, where it fails again.
    ("memory runs out", {"SYMTAPE_FAKE_FAIL": "cuMemAlloc_v2:2:2,cuMemAlloc_v2:3:2"},
     ["run", "--backend", "cuda", FORWARD, "--sizes", "s27=100000,100001"], 4,
     "", r"s27=100000: failed: .*cannot allocate \d+ bytes of device memory: (.|\n)*s27=100001: runs"),
    ("illegal address", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD}, BOTH, 4,
     BREAKS % "ILLEGAL_ADDRESS 700", RUNS_ON),
    ("failed launch", {"SYMTAPE_FAKE_BREAK": "3:719", **HELD}, BOTH, 4,
     BREAKS % "LAUNCH_FAILED 719", RUNS_ON),
    ("ECC", {"SYMTAPE_FAKE_BREAK": "3:214", **HELD}, BOTH, 4,
     BREAKS % "ECC_UNCORRECTABLE 214", RUNS_ON),
    ("lost for good", {"SYMTAPE_FAKE_LOST": "3:999", **HELD}, BOTH, 4,
     r"(?s)aot_forward_graph: .*CUDA_ERROR_UNKNOWN 999.*\n.*aot_backward_graph: .*UNKNOWN 999", ""),
    ("does not come back", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD,
                            "SYMTAPE_FAKE_FAIL": "cuDevicePrimaryCtxRetain:2:46,cuDevicePrimaryCtxRetain:3:46"}, BOTH, 4,
     r"aot_backward_graph: .*the device was lost \(.*700.*\), and a new context cannot be made: device "
     r".* is busy or cannot be used", ""),
    ("the driver does not give it back", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD, "SYMTAPE_FAKE_GONE": "1"}, BOTH, 4,
     r"aot_backward_graph: .*the device was lost \(.*point_tanh.*\), and a new context cannot be made: the driver "
     r"does not let this process use device .*: a new context fails at once with CUDA_ERROR_ILLEGAL_ADDRESS 700; "
     r"run symtape again", ""),
    ("a sweep on one that is lost", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD, "SYMTAPE_FAKE_GONE": "1"}, SWEEP, 4, "",
     r"s23=2: failed: node tanh .*ILLEGAL_ADDRESS(.|\n)*s23 in 3\.\.5: failed: .*run symtape again"),
    ("minify on one that comes back", {"SYMTAPE_FAKE_BREAK": "14:700", **HELD}, MINIFY, 0, "", ""),
    ("minify on one that is lost", {"SYMTAPE_FAKE_BREAK": "14:700", **HELD, "SYMTAPE_FAKE_GONE": "1"}, MINIFY, 4,
     r"(?s)fails at once with CUDA_ERROR_ILLEGAL_ADDRESS 700; run symtape again; the last check had failed: "
     r".*--resume continues from there", ""),
    ("minify, lost by the whole graph", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD, "SYMTAPE_FAKE_GONE": "1"}, MINIFY, 4,
     r"run symtape again; the last check had failed: .*kernel point_tanh", ""),
    ("a size of a sweep", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD}, SWEEP, 4, "",
     r"s23=2: failed: node tanh .*ILLEGAL_ADDRESS(.|\n)*s23 in 3\.\.5: runs \(3 sizes\)"),
    ("of one that is compared with itself", {"SYMTAPE_FAKE_BREAK": "3:700", **HELD},
     [*SWEEP, "--compare-with", "cuda"], 4, "", r"s23=2: failed(.|\n)*s23 in 3\.\.5: agrees \(3 sizes\)"),
    ("cuBLASLt fails", {"FAKE_CUBLASLT": "broken", "SYMTAPE_CUDA_WITHOUT": "cudnn"},
     PRODUCT, 4,
     r"aten\.addmm\.default of f32\[96\], f32\[72, 32\], f32\[32, 96\]\) at .*cublasLtMatmul: status 13: the device failed to run it; \$SYMTAPE_CUDA_WITHOUT=cublaslt runs", ""),
    ("cuBLASLt refuses", {"FAKE_CUBLASLT": "refuse", "SYMTAPE_CUDA_WITHOUT": "cudnn"},
     PRODUCT, 0, "", "2 graphs on cuda: all ran"),
    ("cuDNN fails", {"FAKE_CUDNN": "broken", "SYMTAPE_CUDA_WITHOUT": "cublaslt"}, RUN, 4,
     r"cudnn convolution forward: status 5000: the device failed to run it; \$SYMTAPE_CUDA_WITHOUT=cudnn", ""),
    ("cuDNN refuses", {"FAKE_CUDNN": "refuse", "SYMTAPE_CUDA_WITHOUT": "cublaslt"}, RUN, 0, "",
     "1 graph on cuda: ran"),
    ("neither starts", {"FAKE_CUDNN": "absent", "FAKE_CUBLASLT": "absent", "SYMTAPE_CUDA_WITHOUT": ""},
     RUN, 0, "", "1 graph on cuda: ran"),
]

# For calls that fail: not fatal, no memory, and what takes the context along.
ERRORS = [1, 2, 46, 214, 700, 719, 999]
COMMANDS = [
    ("two graphs", BOTH),
    ("a sweep", [*SWEEP, "--compare-with", "cpu"]),
    ("a profile", [*RUN, "--profile", "--runs", "1"]),
    ("sizes on the device", ["run", "--backend", "cuda", "--profile", "--runs", "1", "--device-sizes",
                             f"{cases.RECORDINGS}/exported.pt2"]),
    ("ranks", ["run", "--ranks", "2", "--backend", "cuda", "--profile", "--runs", "1",
               f"{cases.RECORDINGS}/collectives/two.log.zst:0/0"]),
]
GIVES_BACK = re.compile(r"Free|Destroy|Unload|Release|Reset")


def environment(more):
    return {"SYMTAPE_CUDA_LIB": str(cases.BUILD / "tests" / "cuda"),
            "SYMTAPE_FAKE_DEVICES": "2", "SYMTAPE_CUDA_WITHOUT": "cublaslt,cudnn", **more}


def play(args, env):
    """The run, and what the driver's report says."""
    with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as folder:
        report = Path(folder) / "report"
        run = cases.run(args, env=environment({**env, "SYMTAPE_FAKE_REPORT": str(report)}), cwd=folder)
        lines = report.read_text().splitlines() if report.exists() else []
    return run, lines


def check_scenario(scenario):
    name, env, args, code, said, printed = scenario
    run, lines = play(args, env)
    err, out = run.err.decode(errors="replace"), run.out.decode(errors="replace")
    found = [run.told()] if run.crashed() else []
    if run.code != code:
        found.append(f"{run.told()}, not exit {code}")
    if not re.search(said, err, re.M):
        found.append(f"did not say {said!r} but {err!r}")
    if not re.search(printed, out):
        found.append(f"did not print {printed!r} but {out!r}")
    found += [line for line in lines if line.startswith("left")]
    return name, found


def same(run):
    return run.code, re.sub(rb"\d+(\.\d+)?( %| s| [mun]s|\b)", b"#", run.out)


def check_call(args, good, n, error):
    run, lines = play(args, {"SYMTAPE_FAKE_FAIL_CALL": f"{n}:{error}"})
    told = dict(line.split(" ", 1) for line in lines)
    call = told.get("failed", "")
    where = f"call {n} ({call or 'never made'}) fails with {error}"
    if run.crashed():
        return [f"{where}: {run.told()}"]
    left = told.get("left")
    if left and not GIVES_BACK.search(call):
        return [f"{where}: left {left}"]
    if not call or run.code == 0 or same(run) == same(good):
        return []
    text = (run.err + run.out).decode(errors="replace")
    if run.code != 4:
        return [f"{where}: {run.told()}, not exit 4"]
    known = rf"CUDA_ERROR_\w+ {error}\b|an unknown error {error}\b"
    other = {2: "|bytes of device memory|no memory left", 46: "|is busy"}.get(error, "")
    if call in ("cuMemAlloc_v2", "cuMemGetInfo_v2"):
        other += "|bytes of device memory"
    return [] if re.search(known + other, text) else [f"{where}: not named: {text!r}"]


def check_command(name, args, sample, rng, tell, pool):
    good, lines = play(args, {})
    if good.code != 0:
        tell.fail(name, f"fails by itself: {good.told()}")
        return
    calls = int(lines[0].split()[1])
    numbers = list(range(1, calls + 1))
    if sample and calls > sample:
        first = sample // 3
        numbers = numbers[:first] + sorted(rng.sample(numbers[first:], sample - first))
    plans = [(n, error) for n in numbers for error in (ERRORS if not sample else [rng.choice(ERRORS)])]
    found = [p for ps in pool.map(lambda plan: check_call(args, good, *plan), plans) for p in ps]
    more = [f"and {len(found) - 4} more"] if len(found) > 4 else []
    tell.check(f"{name}: calls of the driver ({len(plans)} failures, {calls} calls)", found[:4] + more)


def check_lost_rank(tell, pool):
    """A rank that loses its device at any wait fails: alone it makes no call again, and does not say that the ranks diverge."""
    ranks = dict(COMMANDS)["ranks"]
    played = pool.map(lambda n: (n, *play(ranks, {"SYMTAPE_FAKE_FAIL": f"cuStreamQuery:{n}:214"})), range(1, 65))
    found = [f"query {n}: {run.told()}, not exit 4" for n, run, _ in played if run.code != 4]
    tell.check("a rank that loses its device at a wait", found[:4])


def check_compiler(tell):
    """A text that does not compile is kept with its line; a folder that cannot be written, a damaged
    file in it, do not matter."""
    with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as cache:
        compiler = Path(cache) / "cc"
        compiler.write_text("#!/bin/sh\necho 'index.cu(12): error: no such type' >&2\nexit 1\n")
        compiler.chmod(0o755)
        run, _ = play(RUN, {"XDG_CACHE_HOME": cache, "SYMTAPE_FAKE_CC": str(compiler)})
        text = run.err.decode()
        kept = re.search(r"kernel index_read does not compile \(NVRTC \S+, error 6\): index\.cu\(12\): "
                         r"error: no such type; its source is (\S+/program\.cu)", text)
        whole = kept and Path(kept[1]).exists() and list(Path(kept[1]).parent.rglob("prologue.h"))
        tell.check("a kernel does not compile", [] if run.code == 4 and whole else [text])
    with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as cache:
        # Not a folder: nothing can be kept in it, whoever asks.
        (Path(cache) / "symtape").write_text("in the way")
        run, _ = play(RUN, {"XDG_CACHE_HOME": cache})
        tell.check("a cache that cannot be written", [] if run.code == 0 else [run.told()])
    with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as folder:
        cache = Path(folder) / "symtape" / "cubin"
        usual = Path(os.environ["XDG_CACHE_HOME"]) / "symtape" / "cubin"
        cache.mkdir(parents=True)
        for i, file in enumerate(sorted(usual.iterdir())):
            shutil.copy(file, cache)
            data = (cache / file.name).read_bytes()
            (cache / file.name).write_bytes([data[:len(data) // 2], b"", data[:-1] + b"?"][i % 3])
        run, _ = play(RUN, {"XDG_CACHE_HOME": folder})
        tell.check("a damaged cache", [] if run.code == 0 and not run.err else [run.told()])
    with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as folder:
        cache = Path(folder) / "symtape" / "cubin"
        cache.mkdir(parents=True)
        cache.chmod(0o777)
        out = ["-o", Path(folder) / "out.tape"]
        for name, line in (("a cache", RUN), ("minify: a cache", MINIFY + out)):
            run, _ = play(line, {"XDG_CACHE_HOME": folder})
            told = run.err.decode().count("cubin can be written to by others: compiled kernels are neither read")
            good = run.code == 0 and told == 1 and not list(cache.iterdir())
            tell.check(f"{name} that others can write to", [] if good else [run.told()])


def changed(folder, name, at, bytes_):
    """All inputs as a run saved them, one with other bytes at an offset."""
    saved = Path(folder) / "saved.safetensors"
    cases.run(["run", "--backend", "cpu", FORWARD, "--outputs", saved, "--save", "all"])
    data = saved.read_bytes()
    n = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + n]), bytearray(data[8 + n:])
    start = header[name]["data_offsets"][0]
    body[start + at:start + at + len(bytes_)] = bytes_
    header = {re.sub(r"^primals_(\d+)$", lambda m: f"in.{int(m[1]) - 1}", key): value
              for key, value in header.items() if not key.startswith("out.")}
    text = json.dumps(header).encode()
    file = Path(folder) / "inputs.safetensors"
    file.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return file


def check_inputs(tell):
    """Indices out of range are named and read nothing; numbers that are none go where they go."""
    node = r"node embedding at \S+train\.py:17 `x = self\.embedding\(ids\)`: aten\.embedding\.default: index "
    for backend in ("cpu", "cuda"):
        for index in (50, -51, 1 << 62, -(1 << 63)):
            with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as folder:
                file = changed(folder, "primals_4", 56, index.to_bytes(8, "little", signed=True))
                run, _ = play(["run", "--backend", backend, FORWARD, "--inputs", file], {})
                told = re.search(node + str(index) + " is out of", run.err.decode())
                tell.check(f"index {index} on {backend}", [] if run.code == 1 and told else [run.told()])
    for number in ("0000c07f", "0000807f", "000080ff", "01000000"):  # NaN, two infinities, a denormal
        with tempfile.TemporaryDirectory(prefix="symtape-cuda-") as folder:
            file = changed(folder, "primals_1", 64, bytes.fromhex(number))
            run, _ = play([*RUN, "--inputs", file, "--compare-with", "cpu", "--nodes"], {})
            tell.check(f"an input of {number}", [] if run.code == 0 else [run.told(), run.out.decode()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every call with every error")
    parser.add_argument("--sample", type=int, default=40, help="calls of a command that fail")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")),
                        help="of the sample; changes every month")
    args = parser.parse_args()
    os.environ.setdefault("XDG_CACHE_HOME", str(cases.BUILD / "tests" / "cuda" / "cache"))
    tell = cases.Cases()
    print(f"seed {args.seed}")
    with ThreadPoolExecutor(cases.jobs()) as pool:
        play(BOTH, {})  # compiles
        for name, found in pool.map(check_scenario, SCENARIOS):
            tell.check(name, found)
        for name, command in COMMANDS:
            # How many calls a command makes may depend on the time: others keep their sample.
            rng = random.Random(f"{args.seed} {name}")
            check_command(name, command, 0 if args.all else args.sample, rng, tell, pool)
        check_lost_rank(tell, pool)
        check_compiler(tell)
        check_inputs(tell)
    tell.finish()


if __name__ == "__main__":
    main()
