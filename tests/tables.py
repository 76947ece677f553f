#!/usr/bin/env python3
"""symtape export --sqlite and --jsonl, and man/symtape-tables.5.scd, which describes their tables.

The page names each table and column. Each of its queries runs on a recording, and gives what other
commands print. The JSON lines have the rows of the database; DuckDB reads them, where it is
installed. Two runs write the same bytes, and hostile texts of a tape stay values.
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from cases import RECORDINGS, ROOT, Cases, run

PAGE = (ROOT / "man" / "symtape-tables.5.scd").read_text()
LOGS = ["encoder.log.zst", "deep.log.zst", "graph_break.log.zst", "inductor.log.zst", "levels.log.zst",
        "two_ranks", "exported.pt2"]


def base(name):
    return name.split(".")[0]


class Exports:
    """Exports of recordings, made once each."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def database(self, name):
        if name not in self.made:
            path = self.folder / f"{base(name)}.sqlite"
            done = run(["export", "--sqlite", path, RECORDINGS / name])
            assert done.code == 0, done.told()
            self.made[name] = sqlite3.connect(path)
        return self.made[name]

    def lines(self, name):
        path = self.folder / f"{base(name)}-lines"
        if not path.exists():
            done = run(["export", "--jsonl", path, RECORDINGS / name])
            assert done.code == 0, done.told()
        return path


def tables_of(database):
    """{table: [(column, declared type)]}, as the database has them."""
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: [(row[1], row[2]) for row in database.execute(f'PRAGMA table_info("{name}")')]
            for name in names}


# ---- The page ----

def sections():
    """{table: text} of the section TABLES."""
    text = PAGE.split("\n# TABLES\n")[1].split("\n# ")[0]
    return dict(part.split("\n", 1) for part in text.split("\n## ")[1:])


def queries():
    """[(title, SQL)] of the section QUERIES."""
    text = PAGE.split("\n# QUERIES\n")[1].split("\n# ")[0]
    return re.findall(r"\n([^\n]+):\n\n```\n(.*?)```", text, re.S)


def page_problems(database):
    told, there = sections(), tables_of(database)
    found = [f"{name} is not told" for name in there if name not in told]
    found += [f"{name} is told and not there" for name in told if name not in there]
    for name, columns in there.items():
        bold = set(re.findall(r"\*([a-z_]+)\*", told.get(name, "")))
        found += [f"{name}.{column} is not told" for column, _ in columns if column not in bold]
    return found


# ---- Queries: what each must give, as other commands print it ----

def printed(command, name, *options):
    done = run([command, "--json", *options, RECORDINGS / name])
    assert done.code == 0, done.told()
    return json.loads(done.out)


def profile(name):
    return printed("profile", name, "--no-replay")


def slowest(name):
    rows = [(c["recording"], c["id"], c["function"], c["ns"] / 1e9, c["restarted_ns"] / 1e9)
            for c in profile(name)["compiles"]]
    return sorted(rows, key=lambda row: -row[3])


def guarded_lines(name):
    counts, kept, codes = Counter(), Counter(), {}
    doc = printed("show", name, "--guards", "--limit", "0")
    last = Counter()
    for guard in doc["guards"]:
        last[guard["compile"]] = max(last[guard["compile"]], guard["attempt"])
    for guard in doc["guards"]:
        if guard["kind"] == "guard" and guard.get("line"):
            place = guard["line"]["file"], guard["line"]["line"]
            counts[place] += 1
            kept[place] += guard["attempt"] == last[guard["compile"]]
            codes[place] = guard["line"]["code"]
    return [(*place, n, kept[place], codes[place]) for place, n in counts.items()]


def recompiled(name):
    rows = []
    for row in profile(name)["recompiles"]:
        why = row["reasons"][0]
        line = why.get("line") or {"file": None, "line": None}
        rows.append((row["compile"], why["compile"], why["guard"], line["file"], line["line"], row["ns"] / 1e9))
    return rows


def exclusive(name):
    return [(p["name"], p["calls"], p["exclusive_ns"]) for p in profile(name)["phases"]]


def operators(name):
    return [(row["level"], row["op"], row["kept"]) for row in profile(name)["operators"] if row["kept"]]


def specialized(name):
    rows = []
    for symbol in printed("show", name, "--symbols", "--limit", "0")["symbols"]:
        made = symbol["specialized"]
        if made:
            rows.append((symbol["compile"], symbol["attempt"], symbol["symbol"], symbol["source"], made["value"],
                         made["reason"], symbol["line"]["file"], symbol["line"]["line"]))
    return rows


def stacks(name):
    rows = []
    for i, guard in enumerate(printed("show", name, "--guards", "--stack", "--limit", "0")["guards"]):
        rows += [(i, depth + 1, f["file"], f["line"], f["function"])
                 for depth, f in enumerate(guard.get("user_stack") or [])]
    return rows


def looked_up(name):
    counts = Counter((c["cache"], c["result"]) for c in printed("show", name, "--caches", "--limit", "0")["caches"])
    return [(*key, n) for key, n in counts.items()]


def uneven(name):
    compiles, ranks = {}, len(profile(name)["recordings"])
    for c in profile(name)["compiles"]:
        compiles.setdefault(c["id"], []).append((c["graphs"], c["guards"]))
    rows = [(key, len(n), min(g for g, _ in n), max(g for g, _ in n), min(g for _, g in n), max(g for _, g in n))
            for key, n in compiles.items()]
    return [row for row in rows if row[1] < ranks or row[2] < row[3] or row[4] < row[5]]


def answered(name):
    """How many calls there are, as symtape cache counts them, which reads them by itself."""
    return printed("cache", name)["totals"]["calls"]


EXPECTED = [("encoder.log.zst", slowest), ("encoder.log.zst", guarded_lines), ("graph_break.log.zst", recompiled),
            ("encoder.log.zst", exclusive), ("inductor.log.zst", operators), ("encoder.log.zst", specialized),
            ("encoder.log.zst", stacks), ("inductor.log.zst", looked_up), ("two_ranks", uneven),
            ("levels.log.zst", answered)]


def query_problems(exports, sql, name, expected):
    rows = exports.database(name).execute(sql).fetchall()
    wanted = expected(name)
    if expected is answered:
        calls = sum(row[-1] for row in rows)
        return [] if rows and calls == wanted else [f"{calls} calls, not {wanted}: {rows}"]
    if expected is uneven:
        return [] if rows == sorted(wanted) else [f"{rows}, not {wanted}"]
    if not wanted:
        return ["nothing to compare"]
    if sorted(rows, key=repr) != sorted(wanted, key=repr):
        odd = set(rows) ^ set(wanted)
        return [f"{len(odd)} rows differ, such as {sorted(odd, key=repr)[:2]}"]
    return []


# ---- JSON lines ----

def unpacked(path):
    return subprocess.run(["zstd", "-dc", str(path)], check=True, stdout=subprocess.PIPE).stdout


def lines_problems(exports, name):
    database, folder, found = exports.database(name), exports.lines(name), []
    for table, columns in tables_of(database).items():
        names = [column for column, _ in columns]
        rows = [dict(zip(names, row)) for row in database.execute(f'SELECT * FROM "{table}"')]
        lines = [json.loads(line) for line in unpacked(folder / f"{table}.jsonl.zst").splitlines()]
        if rows != lines:  # True == 1
            found.append(f"{table}: {len(rows)} rows, {len(lines)} lines, not the same")
        booleans = {column for column, kind in columns if kind == "BOOLEAN"}
        found += [f"{table}.{key} is {value!r}" for line in lines[:50] for key, value in line.items()
                  if value is not None and isinstance(value, bool) != (key in booleans)]
    left = {p.name for p in folder.iterdir()} - {f"{t}.jsonl.zst" for t in tables_of(database)}
    return found + [f"{name} is left" for name in left]


COUNT_WITH_DUCKDB = """
import duckdb, json, sys
query = "SELECT operator, count(*) FROM '{}/nodes.jsonl.zst' WHERE operator IS NOT NULL GROUP BY ALL ORDER BY ALL"
print(json.dumps(duckdb.sql(query.format(sys.argv[1])).fetchall()))
"""


def check_duckdb(cases, exports, name):
    """With the Python that has it."""
    folder, title = exports.lines(name), "DuckDB reads the JSON lines"
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode:
        cases.skip(title, "no duckdb for Python")
        return
    done = subprocess.run([python, "-c", COUNT_WITH_DUCKDB, folder], stdout=subprocess.PIPE)
    found = [tuple(row) for row in json.loads(done.stdout or "[]")]
    wanted = exports.database(name).execute("SELECT operator, count(*) FROM nodes WHERE operator IS NOT NULL "
                                            "GROUP BY operator ORDER BY operator").fetchall()
    cases.check(title, [] if found == wanted else [f"{found}, not {wanted}"])


# ---- Hostile texts, and the same bytes ----

SPITE = "x'); DROP TABLE guards; --\x1b[2J\x00\u202e\udc80../../<script>"


def hostile_problems(folder):
    """A log whose texts try to be SQL, escapes, paths and markup."""
    meta = {"create_symbol": {"symbol": SPITE, "val": SPITE, "vr": "[2, int_oo]", "source": SPITE,
                              "user_stack": [], "stack": []},
            "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    log = folder / "spite.log"
    log.write_text("V1120 09:50:30.376000 19264 torch/x.py:1] " + json.dumps(meta) + "\n")
    path, lines = folder / "spite.sqlite", folder / "spite"
    done = run(["export", "--sqlite", path, "--jsonl", lines, log])
    if done.code != 0:
        return [done.told()]
    database = sqlite3.connect(path)
    rows = database.execute("SELECT name, hint, source FROM symbols").fetchall()
    shown = "x'); DROP TABLE guards; --\\x1b[2J\\x00\\u202e\\udc80../../<script>"
    found = [] if rows == [(shown,) * 3] else [f"symbols are {rows}"]
    found += [] if "guards" in tables_of(database) else ["guards is gone"]
    line = json.loads(unpacked(lines / "symbols.jsonl.zst"))
    return found + ([] if line["name"] == shown else [f"the line is {line}"])


def same_problems(exports, name):
    again = exports.folder / "again"
    shutil.rmtree(again, ignore_errors=True)
    exports.database(name), exports.lines(name)
    done = run(["export", "--sqlite", exports.folder / "again.sqlite", "--overwrite", "--jsonl", again,
                RECORDINGS / name])
    if done.code != 0:
        return [done.told()]
    pairs = [(exports.folder / f"{base(name)}.sqlite", exports.folder / "again.sqlite")]
    pairs += [(p, again / p.name) for p in exports.lines(name).iterdir()]
    return [f"{a.name} has other bytes" for a, b in pairs if a.read_bytes() != b.read_bytes()]


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-tables-test-") as name:
        exports = Exports(Path(name))
        cases.check("the page tells each table and column", page_problems(exports.database(LOGS[0])))
        told = queries()
        cases.check("each query has a case", [] if len(told) == len(EXPECTED) else [f"{len(told)} queries"])
        for (title, sql), (log, expected) in zip(told, EXPECTED):
            cases.check(f"query: {title}", query_problems(exports, sql, log, expected))
        for log in LOGS:
            cases.check(f"JSON lines of {log}", lines_problems(exports, log))
            whole = exports.database(log).execute("PRAGMA integrity_check").fetchall()
            cases.check(f"integrity of {log}", [] if whole == [("ok",)] else [str(whole)])
        cases.check("the same bytes", same_problems(exports, "encoder.log.zst"))
        cases.check("hostile texts", hostile_problems(Path(name)))
        check_duckdb(cases, exports, "encoder.log.zst")
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
