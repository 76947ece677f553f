#!/usr/bin/env python3
"""symtape diff over what the installed PyTorch really records: the same program twice does not differ,
whatever its process named and numbered; a layer that got a window does, and the line that does it is
named, with the guard and the recompile that it causes.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = shutil.which(os.environ.get("SYMTAPE", ROOT / "build" / "cmd" / "symtape"))
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")


def record(folder, name, program, *arguments):
    """A tape of a copy of the program, which lies in a folder of its own."""
    place = folder / name
    place.mkdir()
    shutil.copy(program, place)
    tape = folder / f"{name}.tape"
    subprocess.run([SYMTAPE, "record", "-q", "-o", tape, "--", PYTHON, place / program.name, *arguments],
                   check=True, stdout=subprocess.DEVNULL)
    return tape


def diff(*arguments):
    run = subprocess.run([SYMTAPE, "diff", "-q", "--json", *arguments], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    document = json.loads(run.stdout)
    assert document["differs"] == (run.returncode == 1)
    return document


def check(what, holds, told):
    print(f"{'ok' if holds else 'not ok'} - {what}" + ("" if holds else f": {told}"))
    return holds


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print(f"skipped: {PYTHON} has no torch")
        return 77
    program = ROOT / "tests" / "models" / "layers.py"
    ok = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        moved = folder / "layers.py"
        moved.write_text("# moved by a line\n" + program.read_text())
        plain = record(folder, "plain", program)
        again = record(folder, "again", moved)
        window = record(folder, "window", program, "2")
        same = diff(plain, again)
        ok &= check("the same program elsewhere does not differ", not same["differs"], same["changes"][:3])
        changed = diff(plain, window, "--only", "recompiles,guards")
        lines = [line["line"]["code"] for line in changed["lines"]]
        ok &= check("a window differs, its line first", lines[:1] == ["if length % self.window:"], lines)
        recompiles = [row for row in changed["changes"] if row["kind"] == "recompiles"]
        ok &= check("its recompile is told", [row["change"] for row in recompiles] == ["new"], recompiles)
        back = diff(window, plain, "--only", "recompiles")
        ok &= check("and is gone the other way round",
                    [row["change"] for row in back["changes"]] == ["gone"], back["changes"])
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
