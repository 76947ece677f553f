#!/usr/bin/env python3
"""Programs of graphs that somebody changed: whatever symtape prints parses, and holds only what it
writes. No file symtape-was-here comes of it.

    program_mutated.py [--runs N] [--seed N] [--torch [--all]] PROGRAM_TOOL SYMTAPE

FX texts (of the recordings beside the tests, and the corpora) and .pt2 archives get names, targets,
strings, numbers and error texts that are Python, end lines or end literals; the tool prints the
programs of each, and the check that stands before a run (minify/program/program_check.py) looks at them. Files of
../shared/hostile go through the commands that write or run programs, with a folder and a HOME of their
own; with --torch the PyTorch of SYMTAPE_PYTHON runs them, of a sample of the files unless --all, each in
one way. The seed changes every month."""

import argparse
import datetime
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.abspath(os.environ.get("SYMTAPE_ROOT", os.path.join(os.path.dirname(__file__), "..", "..", "..")))
SHARED = os.path.abspath(os.environ.get("SYMTAPE_SHARED") or os.path.join(ROOT, "..", "shared"))
MARK = "symtape-was-here"
RUN = "__import__('os').system('touch %s')" % MARK
ENDS = ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\0", "\x1b[2J", "\u202e"]
NASTY = (
    [RUN, "x)\n" + RUN + "\n(", "\"\n" + RUN + "\n\"", "\\", "\\\"", "'", "\"\"\"", "\\N{DIGIT ONE}", "\\x", "\\u12",
     "torch.os.system", "builtins.exec", "builtins.eval", "builtins.getattr", "torch.ops.load_library",
     "torch.ops.aten.save.default", "torch.ops.aten.from_file.default", "torch.ops.mylib.x.default",
     "torch.ops.aten.__class__", "torch.ops.aten.add.Tensor.__call__", "operator.attrgetter", "_operator.call",
     "torch.ops.higher_order.call_torchbind", "torch.ops.higher_order.invoke_subgraph",
     "torch.ops.aten.random.from", "torch.ops.aten.sym_size.int", "torch.ops.aten.item.default", "getattr",
     "__class__", "__globals__", "lambda", "None", "print", "torch", "sys", "f", "inputs", "import", "\u00e9",
     "\ud800", "-*- coding: utf-7 -*-", "coding=utf-16", "1e400", "inf", "-nan", "0x10", "007", "1_0", "9" * 6000,
     "(1+infj)", "", " ", "a b", "a" * 3000, "s0", "*x", "**x", "#", "{0}", "%s", "\udcff"]
    + ["a%sb" % end for end in ENDS] + ["a" + end + RUN for end in ENDS])


def load(tool):
    script = subprocess.run([tool, "check"], capture_output=True, text=True, check=True).stdout
    scope, path = {"__name__": "program_check"}, list(sys.path)
    exec(script, scope)
    sys.path[:] = path
    return lambda source: scope["refusal"](source, scope["NAMES"])


def texts(symtape):
    """Texts of graphs."""
    ret = []
    for path in glob.glob(os.path.join(ROOT, "tests", "fuzz", "corpus", "candidate", "*")) + \
            glob.glob(os.path.join(ROOT, "tests", "fuzz", "corpus", "graph", "*")) + \
            glob.glob(os.path.join(SHARED, "hostile", "*.fx")):
        with open(path, "rb") as file:
            ret.append(file.read().decode("utf-8", "surrogateescape"))
    for name, graph in (("encoder", "0/0_1:aot_inference_graph"), ("encoder", "0/1:dynamo_output_graph"),
                        ("train", "0/0:forward"), ("train", "0/0:dynamo"), ("train", "0/0:backward")):
        path = os.path.join(ROOT, "tests", "recordings", name + ".log.zst")
        ran = subprocess.run([symtape, "show", path + ":" + graph], capture_output=True, text=True)
        if ran.returncode == 0:
            ret.append(ran.stdout)
    return ret


TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_][A-Za-z0-9_.]*|-?[0-9][0-9.e+-]*")


def quoted(random, text):
    quote = random.choice("'\"")
    if random.random() < 0.5:
        return quote + text + quote
    return json.dumps(text) if random.random() < 0.5 else repr(text)


def mutate_text(random, text):
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        tokens = [m for m in TOKEN.finditer(text)]
        if not tokens:
            break
        at = random.choice(tokens)
        token, new = at.group(), random.choice(NASTY)
        if random.random() < 0.15:
            new = random.choice(tokens).group()
        elif token[0] in "\"'":
            new = quoted(random, new)
        elif random.random() < 0.2:
            new = quoted(random, new)
        if random.random() < 0.4 and token[0] not in "\"'":  # everywhere: a name that is used
            text = re.sub(r"(?<![\w.])" + re.escape(token) + r"(?![\w.])", lambda _: new, text)
        else:
            text = text[:at.start()] + new + text[at.end():]
    return text


def leaves(value, found):
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            leaves(value[key], found)
    return found


def mutate_json(random, value):
    for _ in range(random.choice([1, 1, 2, 3])):
        holder, key = random.choice(leaves(value, []))
        old, new = holder[key], random.choice(NASTY)
        if isinstance(old, (dict, list)) and random.random() < 0.7:
            continue
        if isinstance(holder, dict) and random.random() < 0.15:
            holder[new] = holder.pop(key)
        elif isinstance(old, str) and random.random() < 0.5:  # a name, wherever it is used
            for holder, key in leaves(value, []):
                if isinstance(holder[key], str) and holder[key] == old:
                    holder[key] = new
        else:
            holder[key] = random.choice([new, new, [new], {new: new}, {"as_expr": new}, -1, 1e308, True, None])


def archives():
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "recordings", "*.pt2"))
                       + glob.glob(os.path.join(SHARED, "hostile", "*.pt2"))):
        with zipfile.ZipFile(path) as archive:
            members = {i.filename: archive.read(i) for i in archive.infolist()}
        model = [name for name in members if name.endswith(".json") and "/models/" in name]
        if model and len(members[model[0]]) < 200000:
            yield members, model[0]


def write_archive(random, path, members, model):
    value = json.loads(members[model])
    mutate_json(random, value)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, json.dumps(value) if name == model else data)


def message(random):
    return random.choice(["ValueError: ", "", "x "]) + random.choice(NASTY) + random.choice([" y", "", "\n"])


def mutated(args, refusal, folder):
    chosen, paths = random.Random(args.seed), []
    originals, kept = texts(args.symtape), list(archives())
    for i in range(args.runs):
        pt2 = kept and i % 5 == 4
        path = os.path.join(folder, "%05d.%s" % (i, "pt2" if pt2 else "fx"))
        paths.append(path)
        if pt2:
            write_archive(chosen, path, *chosen.choice(kept))
        else:
            with open(path, "wb") as file:
                file.write(mutate_text(chosen, chosen.choice(originals)).encode("utf-8", "surrogatepass"))
        with open(path + ".message", "wb") as file:
            file.write(message(chosen).encode("utf-8", "surrogatepass"))
    printed = bad = 0
    for i in range(0, len(paths), 50):
        ran = subprocess.run([args.tool, "print", *paths[i:i + 50]], capture_output=True, cwd=folder)
        lines = ran.stdout.decode("utf-8", "replace").splitlines()
        if ran.returncode or len(lines) != len(paths[i:i + 50]):
            print("exit %d after %d of %s: %s" % (ran.returncode, len(lines), paths[i], ran.stderr[-2000:]))
            return printed, bad + 1
        for path, line in zip(paths[i:i + 50], lines):
            for source in json.loads(line) or ():
                printed += 1
                why = refusal(source)
                if why and not why.startswith("the program cannot be parsed: 'utf-8'"):
                    print("%s (seed %d): %s" % (path, args.seed, why))
                    bad += 1
                    if bad < 4:
                        print(source)
    return printed, bad


def code_blocks(text):
    fences = re.findall(r"(?ms)^(`{3,})python\n(.*?)^\1$", text)
    return [source for _, source in fences]


ASKED = [["--torch-oracle", "run", "--cpu"], ["--torch-oracle", "export", "--cpu"],
         ["--torch-oracle", "compile", "--cpu", "--allow", "mylib"], ["--check", "sh -c '\"$SYMTAPE_PYTHON\" \"$SYMTAPE_PY\"'"]]
SAMPLE = 6


def strangers(args, chosen):
    """The files of ../shared/hostile that hold graphs."""
    paths = [path for path in sorted(glob.glob(os.path.join(SHARED, "hostile", "*")))
             if path.endswith((".fx", ".pt2", ".log"))]
    return paths if args.all or not args.torch or len(paths) <= SAMPLE else sorted(chosen.sample(paths, SAMPLE))


def commands(path, torch):
    """torch: draws how PyTorch is asked, None: it is not."""
    name = os.path.basename(path)
    if not path.endswith(".fx"):
        for cpu in ([], ["--cpu"]):
            yield ["export", "--python", *cpu, "-o", name + ".export.py", "--overwrite", path]
    write = ["--overwrite", "--force", "--repro", name + ".py", "--good", name + ".good.py",
             "--issue", name + ".md", "--max-calls", "40", "-o", name + ".tape"]
    questions = [["--check", "true"], ["--check", "false"], ["--check-ops", "aten.div"], ["--guard", "Eq(s0, 4)"],
                 ["--cost", "guards>=0"], []]
    if torch:
        questions = [torch.choice(ASKED)]
        write[write.index("40")] = "3"
    for question in questions:
        yield ["minify", *question, *write, path]


def hostile(args, refusal, folder):
    ran = bad = 0
    environment = dict(os.environ, HOME=folder, TMPDIR=folder)
    if not args.torch:
        environment["SYMTAPE_PYTHON"] = "false"
    chosen = random.Random(args.seed)
    for path in strangers(args, chosen):
        for command in commands(path, chosen if args.torch else None):
            done = subprocess.run([args.symtape, *command], cwd=folder, env=environment, capture_output=True,
                                  timeout=300, stdin=subprocess.DEVNULL)
            ran += 1
            if done.returncode not in (0, 1, 2, 3, 4, 5, 125, 130):
                print("%s: exit %d" % (" ".join(command), done.returncode))
                bad += 1
            for made in glob.glob(os.path.join(folder, "*.py")) + glob.glob(os.path.join(folder, "*.md")):
                with open(made, "rb") as file:
                    text = file.read().decode("utf-8", "replace")
                sources = [text] if made.endswith(".py") else code_blocks(text) if made.endswith(".md") else []
                for why in filter(None, map(refusal, sources)):
                    print("%s: %s: %s" % (" ".join(command), made, why))
                    bad += 1
                os.remove(made)
    return ran, bad


def left(folder):
    return [name for _, folders, files in os.walk(folder) for name in folders + files if MARK in name]


def main():
    today = datetime.date.today()
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--seed", type=int, default=today.year * 100 + today.month)
    options.add_argument("--torch", action="store_true", help="ask $SYMTAPE_PYTHON about the hostile files")
    options.add_argument("--all", action="store_true", help="with --torch: about all of them")
    options.add_argument("tool")
    options.add_argument("symtape")
    args = options.parse_args()
    args.tool, args.symtape = os.path.abspath(args.tool), os.path.abspath(args.symtape)
    if args.torch and subprocess.run([os.environ.get("SYMTAPE_PYTHON", "python3"), "-c", "import torch"],
                                     capture_output=True).returncode:
        print("no PyTorch")
        return 77
    refusal = load(args.tool)
    with tempfile.TemporaryDirectory() as folder:
        printed, bad = mutated(args, refusal, folder)
        print("%d programs of %d mutated files (seed %d), %d wrong" % (printed, args.runs, args.seed, bad))
        bad += printed < args.runs
    with tempfile.TemporaryDirectory() as folder:
        ran, wrong = hostile(args, refusal, folder)
        found = left(folder)
        print("%d commands on files of strangers, %d wrong; left behind: %s" % (ran, wrong, found or "nothing"))
    return bad + wrong + len(found) > 0


sys.exit(main())
