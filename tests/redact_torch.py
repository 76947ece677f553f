#!/usr/bin/env python3
"""symtape record --redact with the real PyTorch: secrets are planted wherever a program may have some,
and none is left in the tape's bytes, in what is exported, nor in what is shown.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3).
Exits with 77, "skipped" to meson, when that one has no torch, or where there is no zstd.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
FOLDER = tempfile.TemporaryDirectory(prefix="symtape-redact-")

ENVIRONMENT = "Zebra-Quartz-7731"     # a variable's value
IN_NAMES = "wolframite"               # another, in names of files, functions and variables
ODD = "it's \"odd\"\\Vermiculite\n9"  # another, which repr() and JSON write otherwise
ARGUMENT = "Walrus-Opal-88"           # an option's
WORD = "gneissfield-plan"             # an argument's
USER = "marlowe"
HOST = "gannet-node-17"
FOLDERS = ("heliotrope_plans", "inner_kestrel")
COMMENT = "PELICANNOTE"               # nobody but a comment knows it
PASSWORD = "tourmaline-pw"            # in an address
ADDRESS = "db.bismuth.example.com"
TOKEN = "AKIAIOSFODNN7EXAMPLE"
SET = "set-by-itself-Ammolite"        # what the program puts into its environment

MODEL = f'''
import os, sys, torch  # {COMMENT}

MODE = os.environ["PLAN"]  # {COMMENT}
TEXT = os.environ["ODD"]


class {IN_NAMES}_net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.{IN_NAMES}_weight = torch.nn.Linear(4, 4)

    def forward(self, {IN_NAMES}_x, mode):  # {COMMENT}
        if mode == "{ENVIRONMENT}":  # {COMMENT}
            {IN_NAMES}_x = {IN_NAMES}_x + {IN_NAMES}_x.shape[0]  # {COMMENT} for {USER}
        if MODE == "{ENVIRONMENT}" and TEXT != "x" and "{TOKEN}" != mode:
            {IN_NAMES}_x = self.{IN_NAMES}_weight({IN_NAMES}_x)
        print("{ENVIRONMENT} and {ARGUMENT}")  # {COMMENT}
        return {IN_NAMES}_x.sin()


def fails(x):
    y = x.sin()  # {COMMENT}
    secret = sys.argv[1:]
    raise ValueError(f"no plan {{MODE}} {{TEXT!r}} {{secret}} postgres://ann:{PASSWORD}@{ADDRESS}/x "
                     f"{TOKEN} {{os.getcwd()}} {USER} {HOST} {{os.environ.get('SET_LATER')}}")
'''

TRAIN = f'''
import os, sys, torch
if os.environ.get("DEEP"):
    os.environ["SET_LATER"] = "{SET}"
import {IN_NAMES}_model as model  # {COMMENT}

def bad(graph, inputs):
    raise RuntimeError(f"backend of {{os.environ['PLAN']}} {{sys.argv}} {{os.environ.get('SET_LATER')}} "
                       f"{{os.environ['ODD']!r}} {{os.environ['ODD']}} in {{__file__}}")

net = torch.compile(model.{IN_NAMES}_net(), backend="aot_eager", dynamic=True)
for n in (3, 5):
    net(torch.ones(n, 4), os.environ["PLAN"])  # {COMMENT}
for backend, fn in ((bad, model.{IN_NAMES}_net()), ("aot_eager", model.fails)):
    try:
        torch._dynamo.reset()
        torch.compile(fn, backend=backend)(*([torch.ones(3, 4), "x"] if backend is bad else [torch.ones(3)]))
    except Exception as error:
        print("failed", type(error).__name__)
'''

SHOWN = ["", "--graphs", "--guards", "--symbols", "--breaks", "--recompiles", "--failures",
         "--specializations", "--events", "--restarts", "--caches"]


def secrets(deep):
    odd = ["Vermiculite"]
    ret = [ENVIRONMENT, IN_NAMES, ARGUMENT, WORD, USER, HOST, *FOLDERS, COMMENT, PASSWORD, "bismuth",
           TOKEN, *odd]
    return ret + [SET] * deep


def output(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def made_program():
    folder = os.path.join(FOLDER.name, USER, *FOLDERS)
    os.makedirs(folder, exist_ok=True)
    for name, text in ((f"{IN_NAMES}_model.py", MODEL), ("train.py", TRAIN)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            out.write(text)
    return folder


def record(tape, deep, redact):
    folder = made_program()
    temporary = os.path.join(FOLDER.name, "tmp")
    os.makedirs(temporary, exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "TORCHINDUCTOR_"))}
    env |= {"PLAN": ENVIRONMENT, "NAMES": IN_NAMES, "ODD": ODD, "USER": USER, "HOSTNAME": HOST,
            "HOME": os.path.join(FOLDER.name, USER), "TMPDIR": temporary,
            "TORCHINDUCTOR_CACHE_DIR": os.path.join(FOLDER.name, "inductor")}
    if deep:
        env["DEEP"] = "1"
    command = [SYMTAPE, "record", "--json", "--overwrite", "-o", tape, *["--redact"] * redact,
               *["--deep"] * deep, "--", PYTHON, os.path.join(folder, "train.py"),
               f"--customer={ARGUMENT}", WORD]
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["records"] > 0 and report["damaged"] == 0, report
    assert not [n for n in os.listdir(temporary) if n.startswith("symtape-")]


def looked_at(tape):
    """Everything that somebody could read of a tape."""
    yield "the tape's bytes", output("zstd", "-dcq", tape)
    yield "info", output(SYMTAPE, "info", tape) + output(SYMTAPE, "info", "--json", tape)
    for recording in json.loads(output(SYMTAPE, "info", "--json", tape))["recordings"]:
        yield "export", output(SYMTAPE, "export", f"{tape}@{recording['name']}")
    for option in SHOWN:
        done = subprocess.run([SYMTAPE, "show", tape, *[option] * bool(option)], capture_output=True)
        yield f"show {option}", done.stdout + done.stderr
    yield "profile", output(SYMTAPE, "profile", "--json", tape)


def left_in(tape, deep):
    return [f"{secret} in {where}" for where, text in looked_at(tape) for secret in secrets(deep)
            if secret.lower().encode() in text.lower()]


def totals(tape):
    done = subprocess.run([SYMTAPE, "replay", tape], capture_output=True, text=True)
    return done.stdout.splitlines()[:3]


def test(deep):
    tape, plain, again = (os.path.join(FOLDER.name, n) for n in ("a.tape", "b.tape", "c.tape"))
    record(plain, deep, False)
    found = {entry.split(" in ")[0] for entry in left_in(plain, deep)}
    assert found == set(secrets(deep)), ("not planted", set(secrets(deep)) - found)
    record(tape, deep, True)
    left = left_in(tape, deep)
    assert not left, left
    assert totals(tape) == totals(plain), (totals(tape), totals(plain))
    assert b"train.py" in output("zstd", "-dcq", tape)
    # A tape that exists: what was in the environment is not known any more, the rest is.
    output(SYMTAPE, "import", "--redact", "--overwrite", "-o", again, plain)
    unknown = {ENVIRONMENT, IN_NAMES, ARGUMENT, WORD, "Vermiculite", SET, USER, HOST}
    left = [entry for entry in left_in(again, deep) if entry.split(" in ")[0] not in unknown]
    assert not left, left
    assert totals(again) == totals(plain)


def main():
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0 or \
            not shutil.which("zstd"):
        print("skipped: needs PyTorch ($SYMTAPE_PYTHON) and zstd")
        sys.exit(77)
    for deep in (False, True):
        test(deep)
        print("ok - record", "--deep" * deep, "--redact")


if __name__ == "__main__":
    main()
