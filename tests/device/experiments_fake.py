#!/usr/bin/env python3
"""experiments, on a fake device (tests/cuda/fake.h): each measures what there is, and says what is not.

    experiments_fake.py EXPERIMENTS FOLDER        FOLDER has the fake libraries
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

PROGRAM, FOLDER = sys.argv[1:]
CACHE = tempfile.TemporaryDirectory()


def run(*words, **settings):
    env = {**os.environ, "SYMTAPE_CUDA_LIB": FOLDER, "XDG_CACHE_HOME": CACHE.name, **settings}
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=env, timeout=250)
    return done.returncode, done.stdout, done.stderr


def expect(got, code, *texts):
    problems = [] if got[0] == code else [f"exit {got[0]}, not {code}"]
    return problems + [f"no {text!r} in {got[1:]}" for text in texts if text not in got[1] + got[2]]


def graphs():
    got = run("--quick", "update", "launch", "disabled", "events", "batches", "memory")
    return expect(got, 0, "| SetParams of all nodes, 16 bytes of arguments |", "| graph, 512 bytes | 30 |", "| 30 | 29 |",
                  "| 30 kernels, 31 events |", "| a chain made and launched |", "\n| 16 | ", "| 30 | 32 |")


def kernels():
    return expect(run("--quick", "grid", "compile"), 0, "| 4096 | 4 |", "| scale | default |", "| rows | --Ofast-compile=max |")


def what_is_not_there():
    return expect(run("--quick", "graft", "chunks"), 1, "Not measured: the driver has nothing for capturing streams",
                  "Not measured: the driver has nothing for mapped memory")


def updates_that_fail():
    got = run("--quick", "update", "events", SYMTAPE_FAKE_FAIL="cuGraphExecKernelNodeSetParams_v2:40:1")
    return expect(got, 1, "Not measured: cuGraphExecKernelNodeSetParams: CUDA_ERROR_INVALID_VALUE", "31 events")


def a_lost_device():
    return expect(run("--quick", "launch", "events", SYMTAPE_FAKE_LOST="20:700"), 1, "illegal memory access")


def no_device():
    return expect(run(SYMTAPE_FAKE_DEVICES="0"), 4, "no CUDA device")


def words():
    return expect(run("everything"), 2, "no experiment everything") + expect(run("--list"), 0, "update    E1", "graft     E4")


def main():
    tell = cases.Cases()
    for case in (graphs, kernels, what_is_not_there, updates_that_fail, a_lost_device, no_device, words):
        tell.check(case.__name__.replace("_", " "), case())
    return tell.finish()


if __name__ == "__main__":
    sys.exit(main())
