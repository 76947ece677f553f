#!/usr/bin/env python3
"""backend.sh on a fake device, over a shipped recording: its tables have their rows.

    backend_fake.py EXPERIMENTS FOLDER        FOLDER has the fake libraries
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cases  # noqa: E402

EXPERIMENTS, LIBRARIES = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()


def recordings():
    """As backend.sh wants them."""
    shared = Path(FOLDER.name)
    for name in ("traces", "exports"):
        (shared / name).mkdir()
    (shared / "traces" / "train.aot_eager.log.zst").symlink_to(cases.RECORDINGS / "train.log.zst")
    return shared


def backend(shared, *words):
    env = {**os.environ, "SYMTAPE_CUDA_LIB": LIBRARIES, "SYMTAPE_CUDA_WITHOUT": "cublaslt,cudnn",
           "XDG_CACHE_HOME": FOLDER.name}
    run = subprocess.run([str(HERE / "backend.sh"), "--logs", "train", "--sizes", "2", "--experiments", EXPERIMENTS, "--commit",
                          "abc1234", "--seconds", "250", str(cases.SYMTAPE), str(shared), *words],
                         capture_output=True, text=True, env=env, timeout=280)
    return run.returncode, run.stdout, run.stderr


def tables(shared):
    code, text, error = backend(shared, "exports", "profile", "graphs")
    wanted = ["commit abc1234", "parts: exports profile graphs", "| program | sizes that agree |",
              "### train 0/0_0:aot_backward_graph", "wall time",
              "| train 0/0_0:aot_forward_graph | s23=4 s27=10 | 0 |", "| train 0/0_0:aot_backward_graph | s23=8 s27=10 | 0 |",
              "All of it took"]
    unwanted = ["Beside PyTorch", "Left out"]
    return [f"exit {code}: {error}"] * (code != 0) + [f"no {w!r} in {text}" for w in wanted if w not in text] + \
        [f"{w!r} in {text}" for w in unwanted if w in text]


def left_out(shared):
    run = subprocess.run([str(HERE / "backend.sh"), "--logs", "train", "--seconds", "1", str(cases.SYMTAPE), str(shared), "graphs"],
                         capture_output=True, text=True, timeout=60)
    return [] if run.returncode == 0 and "All of it took" in run.stdout else [run.stdout + run.stderr]


def unknown_part(shared):
    code, _, error = backend(shared, "everything")
    return [] if code == 2 and "no part everything" in error else [f"exit {code}: {error}"]


def main():
    shared = recordings()
    tell = cases.Cases()
    for case in (tables, left_out, unknown_part):
        tell.check(case.__name__.replace("_", " "), case(shared))
    return tell.finish()


if __name__ == "__main__":
    sys.exit(main())
