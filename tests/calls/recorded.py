"""The recorded sequences of calls (../shared/sequences) that the tests of this folder read: NAME.log.zst is the tape, and
NAME.calls.jsonl has the calls with the truth beside each, between a row about the program and one about the end."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cases import ROOT, Cases  # noqa: E402

SHARED = pathlib.Path(os.environ.get("SYMTAPE_SHARED", ROOT.parent / "shared")) / "sequences"
# The members of a call that symtape reads.
READ = ("call", "function", "module", "training", "region", "args", "state", "mode", "backward_of", "parent")


def read(name):
    return [json.loads(line) for line in open(SHARED / f"{name}.calls.jsonl", encoding="utf-8")]


def calls_only(rows):
    """The lines of the calls, without the truth."""
    return "".join(json.dumps({key: row[key] for key in READ if key in row}) + "\n" for row in rows if "call" in row)


def begin(what):
    """Takes "SYMTAPE [-v] [NAME...]". Returns the cases, SYMTAPE, whether -v is there, the names, and the sequences: those of the
    names, or all. Ends the program where there are none."""
    symtape, *names = [arg for arg in sys.argv[1:] if arg != "-v"]
    cases = Cases()
    if not SHARED.is_dir():
        cases.skip(what, f"{SHARED} is absent")
        cases.finish()
    found = [path.name.removesuffix(".calls.jsonl") for path in sorted(SHARED.glob("*.calls.jsonl"))]
    return cases, symtape, "-v" in sys.argv, names, [name for name in found if not names or name in names]
