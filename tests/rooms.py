#!/usr/bin/env python3
"""Each room says what is in it. A folder of sources with four of them or more, or with rooms inside,
has a README.md whose section "Files" lists each source once, as `name.c`, and nothing that is not
there; no folder holds more than 32. Sources: C, headers, tables, CUDA texts, Python and shell. The
folders inside tests/ need no README."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SYMTAPE_ROOT", Path(__file__).resolve().parent.parent))
ROOMS = ("trace", "replay", "profile", "prove", "minify", "cmd")
COUNTED = (".c", ".h", ".def", ".cu", ".cuh")
LISTED = COUNTED + (".py", ".sh", ".sed")
FEW, MANY = 4, 32


def listed_in(readme):
    section = re.search(r"^## Files\n(.*?)(?=^## |\Z)", readme.read_text(), re.M | re.S)
    names = []
    for item in re.findall(r"^- ((?:`[^`]+`(?:, )?)+)", section[1], re.M) if section else []:
        names += re.findall(r"`([^`]+)`", item)
    return names


def check(folder, complain):
    sources = sorted(p.name for p in folder.iterdir() if p.suffix in LISTED)
    counted = [name for name in sources if name.endswith(COUNTED)]
    where = folder.relative_to(ROOT)
    if len(counted) > MANY:
        complain(f"{where}: {len(counted)} sources, at most {MANY}")
    if where.parts[0] == "tests" and len(where.parts) > 1:
        return
    inner = any(p.is_dir() for p in folder.iterdir())
    readme = folder / "README.md"
    if not readme.exists():
        if len(counted) >= FEW or (inner and counted):
            complain(f"{where}: no README.md")
        return
    names = listed_in(readme)
    for name in sources:
        if names.count(name) != 1:
            complain(f"{readme.relative_to(ROOT)}: {name} is listed {names.count(name)} times in Files")
    for name in names:
        if name not in sources:
            complain(f"{readme.relative_to(ROOT)}: {name} is listed in Files and is not there")


def is_package(folder):
    """Python that is made part of symtape: listed by the room around it."""
    return folder.name == "python" and not any(folder.glob("*.[ch]"))


def main():
    complaints = []
    for room in ROOMS + ("tests",):
        for folder, inner, _ in os.walk(ROOT / room):
            inner[:] = [d for d in inner if d not in ("corpus", "__pycache__") and not is_package(Path(folder) / d)]
            check(Path(folder), complaints.append)
    print("\n".join(complaints))
    return bool(complaints)


sys.exit(main())
