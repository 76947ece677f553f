"""The real files that are mutated, and how a run is made of one: a kind of file, a mutation, a command."""
import subprocess

import archives
import cases
import commands
import jsons
import small_files
import tapes
import texts
import torch_logs
from pick import flip_bytes, seeded

# Recordings that are small enough to be changed often, with graphs and symbols of theirs.
LOGS = {
    "train": (["0/0:dynamo", "0/0:joint", "0/0:forward", "0/0:backward"], "s23=3,s27=11"),
    "mlp": (["0/0:dynamo", "0/0:inference", "0/1:inference"], "s77=5"),
    "cond": (["0/0:dynamo", "0/0:inference"], "s27=6,s77=4"),
    "data_dependent": (["0/0"], "s27=6,s77=4"),
    "deep": (["0/0:partial_dynamo"], "s27=6,s77=4"),
    "graph_break": (["0/0:inference", "1/0:dynamo", "1/1:inference"], "s27=6,s77=4"),
    "inductor": (["0/0:inference", "0/0:pre_grad", "0/0:before_joint_graph"], "s77=5"),
    "reset": (["0/0:inference", "0/0.1:dynamo"], "s27=6,s77=4"),
    "layers": (["0/0:dynamo", "0/0:inference"], "s27=6,s53=3,s77=4"),
}


def unpacked(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", "--long=27", path], stdout=subprocess.PIPE, check=True).stdout
    return path.read_bytes()


def made(args, out):
    run = cases.run([*args])
    if not out.exists():
        raise SystemExit(f"cannot make {out.name} to test with: {run.told()}")
    return out.read_bytes()


class Base:
    """A file as it was: its bytes, graphs in it, sizes for them."""

    def __init__(self, raw, graphs=(), sizes="s77=5"):
        self.raw, self.graphs, self.sizes = raw, list(graphs) or ["0/0"], sizes


class Bases:
    def __init__(self, folder, more=()):
        self.folder = folder
        self.logs, self.tapes = [], []
        for name, (graphs, sizes) in LOGS.items():
            self.add_log(cases.RECORDINGS / f"{name}.log.zst", graphs, sizes)
        self.archives = [Base((cases.RECORDINGS / "exported.pt2").read_bytes(), [":exported"], "s77=5,s82=4")]
        for path in more:
            if path.suffix == ".pt2":
                self.archives.append(Base(path.read_bytes(), [":exported"]))
            else:
                self.add_log(path, ["0/0:inference", "0/0:dynamo", "0/0:forward"], "s77=5,s27=6")
        self.make_files()
        self.layout = small_files.event_fields(cases.ROOT)
        corpus = cases.ROOT / "tests" / "fuzz" / "corpus"
        self.sides = [p.read_bytes() for p in sorted((corpus / "deep").iterdir())]
        self.fx = [p.read_text(errors="replace") for p in sorted((corpus / "candidate").iterdir())] + [self.made_fx]
        self.fx += [p.read_text() for p in sorted((cases.ROOT / "tests" / "hostile").glob("*.fx"))]
        self.rules = [p.read_text() for p in [*sorted((corpus / "rules").iterdir()), self.files["rules"]]]
        self.op_cases = [line for p in sorted((corpus / "cases").iterdir()) if p.name != "xfail"
                         for line in p.read_bytes().splitlines()]
        self.xfail = (corpus / "cases" / "xfail").read_bytes()
        self.snapshots = [p.read_bytes() for p in sorted((corpus / "snapshot").iterdir())] + [self.made_snapshot]
        self.baselines = [p.read_bytes() for p in sorted((corpus / "baseline").glob("*.json"))] + [
            self.files["baseline"].read_bytes()]

    def add_log(self, path, graphs, sizes):
        tape = made(["import", "-q", path, "-o", self.folder / f"{path.name}.tape"], self.folder / f"{path.name}.tape")
        if len(tape) < 200_000:
            raw = unpacked(path)
            self.logs.append(Base(raw, graphs, sizes))
            self.tapes.append(Base(tape, graphs, sizes))

    def make_files(self):
        folder, log = self.folder, cases.RECORDINGS / "train.log.zst"
        good, graph = folder / "train.log.zst.tape", f"{log}:0/0:forward"
        self.files = {"good": good, "goodgraph": f"{good}:0/0:forward", "baseline": folder / "baseline.json",
                      "rules": cases.ROOT / "tests" / "rules" / "mylib.rules", "sizes_file": folder / "sizes"}
        made(["check", "--save", self.files["baseline"], log], self.files["baseline"])
        self.files["sizes_file"].write_text("s23=3 s27=8\ns23=5 s27=11\n")
        self.made_snapshot = made(["diff", "--save", folder / "snapshot.json", log], folder / "snapshot.json")
        self.values = made(["run", "--backend", "cpu", graph, "--outputs", folder / "v.st", "--save", "inputs"],
                           folder / "v.st")
        small = made(["minify", self.files["goodgraph"], "--check-ops", "aten.tanh", "-o", folder / "m.tape", "--fx",
                      folder / "m.fx"], folder / "m.tape.journal")
        self.journal, self.made_fx = small, (folder / "m.fx").read_text()

    # Each gives the files of a run, the base, and the commands that read it.

    def a_log(self, rng):
        base = rng.choice(self.logs)
        return dict([torch_logs.mutate_file(rng, base.raw)]), base, rng.choice((commands.RECORDS, commands.GRAPH))

    def a_tape(self, rng):
        base = rng.choice(self.tapes)
        return {"in.tape": tapes.mutate(rng, base.raw)}, base, rng.choice((commands.RECORDS, commands.GRAPH))

    def an_archive(self, rng):
        base = rng.choice(self.archives)
        return {"in.pt2": archives.mutate(rng, base.raw)}, base, rng.choice(
            (commands.RECORDS, commands.GRAPH, commands.ARCHIVE))

    def a_folder(self, rng):
        """Of a log and the side file of a deep recording beside it."""
        base = rng.choice(self.logs[:3])
        log = torch_logs.mutate(rng, base.raw) if rng.randrange(4) == 0 else base.raw
        return {"in/dedicated_log_torch_trace_x.log": log,
                "in/deep-7-0.deep": small_files.side_file(rng, rng.choice(self.sides), self.layout)}, base, commands.RECORDS

    def one(self, name, raw, lines):
        return {name: raw}, self.logs[0], lines

    def an_fx(self, rng):
        return self.one("in.fx", texts.mutate(rng, rng.choice(self.fx), 6).encode("utf-8", "replace"), commands.FX)

    def a_rules_file(self, rng):
        return self.one("in.rules", texts.mutate(rng, rng.choice(self.rules)).encode("utf-8", "replace"), commands.RULES)

    def values_file(self, rng):
        return self.one("in.safetensors", small_files.safetensors(rng, self.values), commands.VALUES)

    def a_baseline(self, rng):
        return self.one("in.json", jsons.mutate_bytes(rng, rng.choice(self.baselines)), commands.BASELINE)

    def a_case_file(self, rng):
        lines = [jsons.mutate_bytes(rng, rng.choice(self.op_cases)) for _ in range(3)]
        return self.one("in.jsonl", b"\n".join(line.replace(b"\n", b" ") for line in lines), commands.CASES)

    def an_xfail_file(self, rng):
        return self.one("in.json", jsons.mutate_bytes(rng, self.xfail), commands.XFAIL)

    def a_snapshot(self, rng):
        return self.one("in.json", jsons.mutate_bytes(rng, rng.choice(self.snapshots), 5), commands.SNAPSHOT)

    def a_journal(self, rng):
        return self.one("in.journal", small_files.journal(rng, self.journal), commands.JOURNAL)

    def a_sizes_file(self, rng):
        text = texts.mutate(rng, self.files["sizes_file"].read_text()).encode("utf-8", "replace")
        return self.one("in.sizes", flip_bytes(rng, text) if rng.randrange(4) == 0 else text, commands.SIZES)

    KINDS = {"log": (30, a_log), "tape": (30, a_tape), "pt2": (20, an_archive), "fx": (20, an_fx),
             "folder": (6, a_folder), "rules": (5, a_rules_file), "values": (4, values_file),
             "baseline": (3, a_baseline), "snapshot": (5, a_snapshot), "journal": (5, a_journal),
             "sizes": (1, a_sizes_file), "cases": (4, a_case_file), "xfail": (1, an_xfail_file)}

    def play(self, seed, number, kind=None):
        """The kind, files and arguments of one run, whether it has a terminal, and what its standard input
        is; the same for the same numbers."""
        rng = seeded(seed, number)
        kind = kind or rng.choices(list(self.KINDS), [w for w, _ in self.KINDS.values()])[0]
        files, base, lines = self.KINDS[kind][1](self, rng)
        name = "in" if kind == "folder" else next(iter(files))
        graph, line = rng.choice(base.graphs), rng.choice(lines)
        known = {**self.files, "in": name, "stdin": "-", "graph": f"{name}:{graph}", "sizes": base.sizes,
                 "program": commands.PROGRAM,
                 "compile": name if kind == "pt2" else f"{name}:{graph.split(':')[0]}"}
        args = [word.format_map(known) for word in line.split()]
        return kind, files, args, rng.randrange(3) == 0, name if "{stdin}" in line else None
