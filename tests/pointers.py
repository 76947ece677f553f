#!/usr/bin/env python3
"""Comments and READMEs name files that are there. A path that begins with a room, or a bare name of a C
source, header or table must be that of a file in the tree, unless it holds a word in capitals (NAME).
Files of PyTorch, of CUDA and of the system are named by other endings or other folders."""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SYMTAPE_ROOT", Path(__file__).resolve().parent.parent))
# Headers of others that comments name without a folder.
OTHERS = {"cuda.h", "nvrtc.h", "cudnn.h", "cublasLt.h", "cublas_v2.h", "zstd.h", "Python.h",
          "cublas_api.h", "library_types.h", "cudnn_ops.h", "sdp_utils_cpp.h", "listobject.c"}
PATH = re.compile(r"(?<![\w./<*-])((?:trace|replay|profile|prove|minify|cmd|tests|man)/[\w/.-]*?[\w-]+\.(?:c|h|def|cu|py|sh|md|t|scd))\b(?![*\w/])")
NAME = re.compile(r"(?<![\w./<*-])([a-z][a-z0-9_]*\.(?:c|h|def|cu))\b(?![*\w/(\[])")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def texts_of(path, text):
    if path.suffix == ".md":
        return [(0, text)]
    return [(m.start(), m[0]) for m in COMMENT.finditer(text)]


def main():
    files = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    names = files.stdout.split("\n") if files.returncode == 0 else []
    if len(names) < 2:
        print("skipped: no git checkout")
        return 77
    there, bases = set(names), {os.path.basename(n) for n in names} | OTHERS
    dead = []
    for name in names:
        path = ROOT / name
        if path.suffix not in (".c", ".h", ".def", ".cu", ".md") or "fuzz/corpus" in name or not path.exists():
            continue
        text = path.read_text(errors="replace")
        for start, part in texts_of(path, text):
            for pattern, known in ((PATH, there), (NAME, bases)):
                for found in pattern.finditer(part):
                    if found[1] not in known and not re.search(r"[A-Z]{3}", found[1]):
                        line = text.count("\n", 0, start + found.start()) + 1
                        dead.append(f"{name}:{line}: {found[1]} is not there")
    print("\n".join(dead))
    return bool(dead)


sys.exit(main())
