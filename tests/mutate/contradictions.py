#!/usr/bin/env python3
"""Changes values in logs, one in each, and checks that the replay finds each change, at its place.

usage: contradictions.py [--count N] [--all] [--seed S] [--only I[,I...]] [--inputs LOG...] [-v] [--keep DIR]

A change is found when the replay blames its record or node and nothing else; it is found elsewhere when
something else is blamed instead or, too. README.md beside this file says what is changed.
"""
import argparse
import collections
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import bases  # noqa: E402
import cases  # noqa: E402
import values  # noqa: E402
from pick import seeded  # noqa: E402

SMALL = ("train", "mlp", "cond", "data_dependent", "graph_break", "inductor", "layers", "reset")
SHARED = ("variety/channels_last", "variety/hop_checkpoint", "variety/sorting", "traces/moe.train.aot_eager",
          "traces/unet.eval.aot_eager", "failures/mod_guard")
LARGE = ("traces/unet.train.aot_eager", "traces/gin.train.aot_eager", "traces/decode.eval.aot_eager",
         "traces/resnet18.train.aot_eager", "failures/backward_guard", "failures/graph_break",
         "failures/automatic_dynamic", "variety/reduce_overhead", "variety/custom_op", "variety/embedding_bag")
ENOUGH = 0.99


def logs(everything, inputs):
    found = [cases.RECORDINGS / f"{n}.log.zst" for n in SMALL]
    folder = cases.shared()
    if folder:
        found += [folder / f"{n}.log.zst" for n in (SHARED + LARGE if everything else SHARED)]
    if everything:
        found += sorted(p for p in cases.RECORDINGS.rglob("*.log.zst") if p not in found)
    return [(str(p.name).removesuffix(".log.zst"), bases.unpacked(p)) for p in inputs or found]


class Blame:
    """What a replay blames: (line, node) of each contradiction, (kind of graph, node) of each mismatch, the
    text of each guard."""

    def __init__(self, raw, path):
        path.write_bytes(raw)
        ran = cases.run(["replay", "--json", "--guards", path])
        path.unlink()
        self.ran = ran
        if ran.crashed() or not ran.out:
            raise ValueError(ran.told())
        told = json.loads(ran.out)
        self.rows = []
        for m in told["mismatches"]:
            if not m.get("derived"):
                self.rows.append(("node", m["compile"].split(".")[0], m["attempt"], m["graph"], m["node"]))
        for g in told["guards"]["list"]:
            if g["outcome"] in ("missing", "extra"):
                self.rows.append((g["outcome"], g["compile"].split(".")[0], g["attempt"], g["expr"], g.get("node", "")))
        for c in told.get("contradictions", []):
            self.rows.append(("contradiction", c["line"], c.get("graph") and c["name"], c.get("beside"), c["kind"], c["name"],
                              c["recorded"], c["expected"]))


class Judge:
    def __init__(self, log, before):
        self.log, self.before = log, collections.Counter(before.rows)

    def verdict(self, m, now):
        """"found", "elsewhere", "missed", and what was blamed."""
        rows = list((collections.Counter(now.rows) - self.before).elements())
        rows += [("gone", *r) for r in (self.before - collections.Counter(now.rows)).elements()]
        right = [r for r in rows if self.is_right(m, r)]
        wrong = [r for r in rows if r not in right and not self.goes_along(m, r)]
        what = "missed" if not rows else "found" if right and not wrong else "elsewhere"
        return what, rows

    def place(self, m):
        frame, number, attempt = self.log.compile_of(m.record)
        return f"{frame}/{number}", attempt or 0

    def is_right(self, m, row):
        record = self.log.records[m.record]
        if row[0] == "node":
            return m.node == row[4] and row[1:3] == self.place(m) and record.event() == row[3]
        if row[0] == "missing":
            return m.name == row[3] and row[1:3] == self.place(m) and "guard" in record.event()
        if row[0] == "contradiction":
            line = self.log.line_of[m.record]
            return line == row[1] and (not m.node or row[2] in (m.node, None) or row[4] == "sizes") or line == row[3]
        return False

    def goes_along(self, m, row):
        """A guard that a rule adds and that is not recorded, because the recorded one was changed; a call with
        other arguments adds other guards."""
        if row[0] == "extra":
            return row[3] == m.before or m.kind in ("argument", "meta") and row[4] == m.node
        return row[0] == "missing" and m.kind == "argument"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=0, help="how many (400; 5,000 with --all)")
    parser.add_argument("--all", action="store_true", help="larger recordings, too")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--only", type=lambda t: [int(n) for n in t.split(",")])
    parser.add_argument("--kind", help="only this class")
    parser.add_argument("--inputs", nargs="+", type=Path, default=[])
    parser.add_argument("--keep", type=Path, help="keep the logs of --only here")
    parser.add_argument("-v", action="store_true", help="list what is not found")
    args = parser.parse_args()
    count = args.count or (5000 if args.all else 400)
    tell, made = cases.Cases(), []
    for name, raw in logs(args.all, args.inputs):
        made.append(values.Log(name, raw))
    with tempfile.TemporaryDirectory(prefix="symtape-contradictions-") as folder, ThreadPoolExecutor(cases.jobs()) as pool:
        folder = Path(folder)
        judges = {}
        for log in made:
            same = Blame(b"".join(r.line + b"\n" + (b"" if r.payload is None else b"\t" + r.payload.replace(b"\n", b"\n\t") + b"\n")
                                  for r in log.records), folder / f"{log.name}.log")
            judges[log] = Judge(log, same)

        def play(number):
            rng = seeded(args.seed, number)
            log = rng.choice(made)
            mutated = values.mutate(rng, log)
            if not mutated:
                return None
            m, raw = mutated
            if args.kind and m.kind != args.kind:
                return None
            try:
                what, rows = judges[log].verdict(m, Blame(raw, folder / f"{number}.log"))
            except ValueError as why:
                what, rows = "missed", [str(why)]
            if args.keep:
                (args.keep / f"{number}.log").write_bytes(raw)
            return number, log, m, what, rows

        table = collections.defaultdict(collections.Counter)
        for done in pool.map(play, args.only or range(count)):
            if not done:
                continue
            number, log, m, what, rows = done
            if m.same:
                what = "equivalent, not blamed" if what == "missed" else "equivalent, blamed"
            table[m.kind][what] += 1
            if (args.v or args.only) and (what != "found" or args.only) and what != "equivalent, not blamed":
                print(f"{number} {log.name}:{log.line_of[m.record]} {log.records[m.record].event()} {m.kind} {m.node or m.name}: "
                      f"{m.before} -> {m.after}: {what} {m.same or ''}"
                      f"{'' if getattr(m, 'true_at_hints', None) is None else f' (at hints {m.true_at_hints}, tree {m.has_tree})'}")
                for row in rows[:6]:
                    print("    ", row)
    total = collections.Counter()
    for kind, row in sorted(table.items()):
        total += row
        print(f"{kind:18} " + ", ".join(f"{n} {what}" for what, n in sorted(row.items())))
    judged = total["found"] + total["elsewhere"] + total["missed"]
    share = total["found"] / judged if judged else 0
    print(f"{judged} changes that are not equivalent: {total['found']} found at their place ({share:.2%}), "
          f"{total['elsewhere']} elsewhere, {total['missed']} missed")
    tell.check(f"contradictions: {judged} changes of values", [] if share >= ENOUGH else [f"{share:.2%} are found"])
    tell.finish()


if __name__ == "__main__":
    main()
