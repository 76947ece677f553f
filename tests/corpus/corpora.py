#!/usr/bin/env python3
"""symtape collect, query, each and merge: the same tapes give the same bytes, whoever collected them; and files of strangers.

Recordings are made by recordings.py. `--all` makes 1,000 of them instead of 48, and kills more often.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from cases import RECORDINGS, SYMTAPE, Cases, is_sanitized, run  # noqa: E402
from recordings import REVISIONS, make  # noqa: E402

KEYLESS = {"operators", "dispatches", "counters"}


class Corpora:
    """A folder of recordings, and a corpus of them."""

    def __init__(self, folder, n):
        self.folder, self.logs = folder, folder / "logs"
        self.paths = make(self.logs, n)
        self.corpus = folder / "all.sqlite"

    def collect(self, name, *operands, expect=0):
        path = self.folder / name
        done = run(["collect", "-o", path, *operands], timeout=600)
        return path, [] if done.code == expect else [done.told()]

    def rows(self, sql, path=None):
        with sqlite3.connect(f"file:{path or self.corpus}?mode=ro", uri=True) as database:
            return database.execute(sql).fetchall()


def differs(corpora, path):
    return [] if path.exists() and path.read_bytes() == corpora.corpus.read_bytes() else [f"{path.name} has other bytes"]


def left(folder):
    return [f"{p.name} is left" for p in folder.glob("*.partial*")]


# ---- The same bytes ----

def orders(corpora):
    """Other orders of the operands; a second run; what is there already."""
    shuffled = corpora.paths[:]
    random.Random(1).shuffle(shuffled)
    path, found = corpora.collect("shuffled.sqlite", *shuffled)
    found += differs(corpora, path)
    before = path.stat().st_mtime_ns
    _, more = corpora.collect("shuffled.sqlite", corpora.logs)
    return found + more + differs(corpora, path) + ([] if path.stat().st_mtime_ns == before else ["it was written again"])


def additions(corpora):
    """A corpus that grows by thirds."""
    third, found, path = len(corpora.paths) // 3, [], None
    for part in (corpora.paths[third:2 * third], corpora.paths[:third], corpora.paths[2 * third:], corpora.paths):
        path, more = corpora.collect("grown.sqlite", *part)
        found += more
    return found + differs(corpora, path) + left(corpora.folder)


def parts(corpora):
    """Shards, merged in any order, some twice."""
    made, found = [], []
    for k in (3, 1, 2):
        path, more = corpora.collect(f"part{k}.sqlite", "--shard", f"{k}/3", corpora.logs)
        made.append(path)
        found += more
    for again in range(2):
        done = run(["merge", "-o", corpora.folder / "merged.sqlite", *made, made[0]])
        found += [] if done.code == 0 else [done.told()]
    return found + differs(corpora, corpora.folder / "merged.sqlite")


def meanwhile(corpora):
    """A corpus that another process made while this one read its inputs: no tape is lost."""
    path, (first, second) = corpora.folder / "meanwhile.sqlite", corpora.paths[:2]
    args = [str(SYMTAPE), "collect", "-o", str(path), "--name", str(first), "-", str(second)]
    slow = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.write(slow.stdin.fileno(), first.read_bytes()[:100])  # it waits for the rest
    time.sleep(0.3)
    other = run(["collect", "-o", path, corpora.paths[2]])
    told = slow.communicate(first.read_bytes()[100:])[1]
    found = [] if other.code == 0 and slow.returncode == 4 and b"meanwhile" in told else [f"exit {slow.returncode}: {told!r}"]
    done = run(["collect", "-o", path, first, second])
    count = corpora.rows("SELECT count(*) FROM tapes", path)[0][0]
    return found + ([] if done.code == 0 and count == 3 else [f"{count} tapes: {done.told()}"]) + left(corpora.folder)


def kill_once(args, seconds):
    """Starts it, and kills it after so many seconds. Returns whether it was killed."""
    process = subprocess.Popen([str(SYMTAPE), *map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def kills(corpora, rounds, seed):
    """Killed at random and started again until it ends, and other files in between once."""
    source, found, killed, resumed = random.Random(seed), [], 0, 0
    begun = time.monotonic()
    corpora.collect("time.sqlite", corpora.logs)
    whole = time.monotonic() - begun
    for i in range(rounds):
        path = corpora.folder / "killed.sqlite"
        path.unlink(missing_ok=True)
        for _ in range(4):
            killed += kill_once(["collect", "-o", path, corpora.logs], source.uniform(0, whole))
            resumed += path.with_name(path.name + ".partial").exists()
        if i % 2:  # the next run has other files, and does not go on with what is there
            kill_once(["collect", "-o", path, *corpora.paths[: len(corpora.paths) // 2]], whole / 4)
        _, more = corpora.collect("killed.sqlite", corpora.logs)
        found += more + differs(corpora, path) + left(corpora.folder)
    return found + ([] if killed and resumed else [f"killed {killed} times, {resumed} of them with a partial corpus"])


def piped(corpora):
    """Each log from standard input, into a corpus of its own; merged."""
    made, found = [], []
    for i, path in enumerate(corpora.paths[:24]):  # more than are open at a time
        made.append(corpora.folder / f"pipe{i}.sqlite")
        done = run(["collect", "-", "--name", path, "-o", made[-1]], stdin=path.read_bytes())
        found += [] if done.code == 0 else [done.told()]
    run(["merge", "-o", corpora.folder / "pipes.sqlite", *made])
    expected, more = corpora.collect("files.sqlite", *corpora.paths[:24])
    same = (corpora.folder / "pipes.sqlite").read_bytes() == expected.read_bytes()
    return found + more + ([] if same else ["other bytes"])


# ---- What is in it ----

def referred(column, table):
    if column == "parent_id":
        return table
    return column[:-3] + "s" if column.endswith("_id") and column != "tape_id" else None


def exported(corpora):
    """The rows of a tape are those of symtape export, with ids moved by its spans."""
    found = []
    for tape, name in corpora.rows("SELECT id, name FROM tapes ORDER BY name LIMIT 8"):
        path = corpora.folder / "one.sqlite"
        run(["export", "--sqlite", path, "--overwrite", name])
        first = dict(corpora.rows(f'SELECT "table", "first" FROM spans WHERE tape_id = {tape}'))
        with sqlite3.connect(path) as database:
            for table in first:
                columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
                moves = [first.get(table if c == "id" else referred(c, table), 0) for c in columns]
                wanted = [tuple(v + move if move and v is not None else v for v, move in zip(row, moves))
                          for row in database.execute(f'SELECT * FROM "{table}" ORDER BY rowid')]
                quoted = ", ".join(f'"{c}"' for c in columns)
                rows = corpora.rows(f'SELECT {quoted} FROM "{table}" WHERE tape_id = {tape} ORDER BY rowid')
                found += [] if rows == wanted else [f"{name}: {table}: {len(rows)} rows, not {len(wanted)}, or others"]
    whole = corpora.rows("PRAGMA integrity_check")
    return found + ([] if whole == [("ok",)] else [str(whole)])


def shipped():
    return json.loads(run(["query", "--list", "--json"]).out)["queries"]


def answers(corpora):
    """Each query that is shipped gives what Python's SQLite gives."""
    found = []
    for query in shipped():
        values = dict(zip([p.strip() for p in query["parameters"].split(",") if p], REVISIONS))
        done = run(["query", "--json", corpora.corpus, query["name"], *(f"{k}={v}" for k, v in values.items())])
        if done.code != 0:
            found.append(f"{query['name']}: {done.told()}")
            continue
        with sqlite3.connect(corpora.corpus) as database:
            wanted = [list(row) for row in database.execute(query["sql"], values)]
        rows = json.loads(done.out)["rows"]
        found += [] if rows == wanted else [f"{query['name']}: {len(rows)} rows, not {len(wanted)}, or others"]
    return found


def slower(corpora):
    """recordings.py made one model slower: query and an independent sum say the same."""
    runs = defaultdict(list)
    folder = corpora.folder / "revisions"
    for revision in REVISIONS:
        done = run(["collect", "--revision", revision, corpora.logs / revision, "-o", folder.with_suffix(".sqlite")])
        if done.code != 0:
            return [done.told()]
    for path in corpora.paths:
        compiles = json.loads(run(["profile", "--json", path]).out)["recordings"]
        runs[path.name.replace(".log.zst", ""), path.parent.name].append(sum(r["compile_ns"] for r in compiles))
    wanted = {model for model, _ in runs if (model, "before") in runs and (model, "after") in runs and
              min(runs[model, "after"]) > min(runs[model, "before"])}
    done = run(["query", "--json", folder.with_suffix(".sqlite"), "slower", "before=before", "after=after"])
    rows = {row[0] for row in json.loads(done.out)["rows"]}
    return [] if rows == wanted and wanted else [f"slower: {sorted(rows)}, not {sorted(wanted)}"]


# ---- Bad input ----

def damage(corpora):
    """Damaged files are told, and do not stop the rest."""
    folder = corpora.folder / "bad"
    folder.mkdir()
    good = [shutil.copy(path, folder / path.name) for path in corpora.paths[:4]]
    (folder / "cut.log.zst").write_bytes(corpora.paths[5].read_bytes()[:3000])
    (folder / "empty.log").write_bytes(b"")
    (folder / "other.log").write_text("Nothing that PyTorch wrote.\n")
    (folder / "not.tape").write_bytes(os.urandom(5000))
    (folder / "not.pt2").write_bytes(b"PK\x03\x04" + os.urandom(5000))
    done = run(["collect", "--json", "-o", corpora.folder / "bad.sqlite", folder, corpora.folder / "nowhere.log"])
    told = json.loads(done.out or b"{}")
    names = sorted(Path(row["name"]).name for row in told.get("failed", []))
    found = [] if done.code in (3, 4) else [done.told()]
    found += [] if told.get("passed_over") == 2 else [f"{told.get('passed_over')} passed over"]
    found += [] if {"not.tape", "not.pt2", "nowhere.log"} <= set(names) else [f"failed: {names}"]
    count = corpora.rows("SELECT count(*) FROM tapes", corpora.folder / "bad.sqlite")[0][0]
    return found + ([] if count >= len(good) else [f"{count} tapes"])


def refused(corpora, name, sql, args, codes=(3,)):
    """A corpus that a stranger changed."""
    path = corpora.folder / "strange.sqlite"
    shutil.copy(corpora.corpus, path)
    with sqlite3.connect(path) as database:
        database.executescript(sql)
    database.close()
    done = run([a if a != "CORPUS" else path for a in args], timeout=60)
    return [] if done.code in codes and not done.crashed() else [f"{name}: {done.told()}"]


MERGE = ["merge", "-o", "OUT", "CORPUS"]
STRANGE = [
    ("a view in the place of a table", "DROP TABLE guards; CREATE VIEW guards AS SELECT * FROM symbols"),
    ("a trigger", "CREATE TRIGGER t AFTER INSERT ON guards BEGIN DELETE FROM tapes; END"),
    ("an index with a name that tricks", 'CREATE INDEX "x; DROP TABLE tapes; --" ON guards(id)'),
    ("another column", "ALTER TABLE nodes ADD COLUMN more TEXT"),
    ("another table", 'CREATE TABLE "sqlitex" (a)'),
    ("a key that is none", "UPDATE tapes SET key = 'xyz' WHERE id = 1"),
    ("a key twice", "UPDATE tapes SET key = (SELECT max(key) FROM tapes)"),
    ("spans that are too great", "UPDATE spans SET count = 9223372036854775807"),
    ("spans below", "UPDATE spans SET first = -9223372036854775808"),
    ("spans that are gone", "DELETE FROM spans"),
    ("an id out of range", "UPDATE guards SET line_id = 9223372036854775807"),
    ("an id of another tape", "UPDATE guards SET recording_id = 1000000 + recording_id"),
    ("a text in the place of a number", "UPDATE compiles SET ns = 'x'"),
    ("a blob in the place of a text", "UPDATE guards SET expression = x'00ff'"),
]


def strangers(corpora, cases):
    for name, sql in STRANGE:
        out = corpora.folder / "stolen.sqlite"
        out.unlink(missing_ok=True)
        args = [out if a == "OUT" else a for a in MERGE]
        found = refused(corpora, name, sql, args)
        cases.check(f"merge: {name}", found + ([f"{out.name} is there"] if out.exists() else []))
        for partial in corpora.folder.glob("stolen.sqlite.partial*"):
            partial.unlink()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
FORBIDDEN = ["ATTACH '/etc/passwd' AS x", "PRAGMA journal_mode = WAL", "PRAGMA table_info(tapes)", "DELETE FROM tapes", "DROP TABLE tapes",
             "CREATE TEMP TABLE x (a)", "CREATE VIRTUAL TABLE temp.x USING fts5(a)", "VACUUM INTO '/tmp/symtape-vacuum'", "BEGIN", "ANALYZE",
             "REINDEX", "SELECT load_extension('x')", "SELECT * FROM pragma_table_info('tapes')", "SELECT * FROM dbstat",
             "SELECT * FROM sqlite_dbpage", "SELECT fts3_tokenizer('x')", "SELECT 1; SELECT 2", "", ";", "SELECT zeroblob(2000000000)",
             "SELECT " + "(" * 5000 + "1" + ")" * 5000, "SELECT * FROM nowhere", "SELECT :a", "INSERT INTO tapes(id) VALUES (99) RETURNING id"]


def forbidden(corpora, cases):
    before = corpora.corpus.read_bytes()
    for sql in FORBIDDEN:
        done = run(["query", corpora.corpus, "--sql", sql])
        cases.check(f"query: refuses {sql[:40]!r}", [] if done.code in (2, 3) and not done.out and not done.crashed() else [done.told()])
    done = run(["query", corpora.corpus, "--timeout", "1", "--sql", ENDLESS], timeout=60)
    cases.check("query: an endless one ends", [] if done.code == 4 and b"--timeout" in done.err else [done.told()])
    long_step = "SELECT instr(zeroblob(10000000), zeroblob(5000000) || x'01')"
    done = run(["query", corpora.corpus, "--timeout", "1", "--sql", long_step], timeout=60)
    cases.check("query: one step that takes hours ends", [] if done.code == 4 and b"--timeout" in done.err else [done.told()])
    endless = refused(corpora, "endless view", f"DROP TABLE lines; CREATE VIEW lines AS {ENDLESS.replace('count(*)', 'i AS file, 0 AS torch, 0 AS line')}",
                      ["query", "--timeout", "1", "CORPUS", "lines"], codes=(2, 3, 4))
    cases.check("query: an endless view in the place of a table", endless)
    virtual = refused(corpora, "fts", "CREATE VIRTUAL TABLE x USING fts4(a)", ["query", "CORPUS", "tapes"])
    cases.check("query: a file with virtual tables", virtual)
    trick = "CREATE VIRTUAL TABLE json_each USING fts5(a); INSERT INTO json_each VALUES ('x')"
    found = refused(corpora, "json_each", trick, ["query", "CORPUS", "--sql", "SELECT 1"])
    cases.check("query: a virtual table that has the name of a function", found)
    hidden = ("CREATE VIRTUAL TABLE x USING fts4(a); PRAGMA writable_schema = ON;"
              "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'x'")
    found = refused(corpora, "hidden", hidden, ["query", "CORPUS", "--sql", "SELECT * FROM x"], codes=(2,))
    cases.check("query: a virtual table that the schema hides", found)
    pipe = corpora.folder / "pipe.sqlite"
    os.mkfifo(pipe)
    for args in (["query", pipe, "tapes"], ["collect", "-o", pipe, corpora.paths[0]]):
        done = run(args, timeout=10)
        cases.check(f"{args[0]}: a pipe is no database", [] if done.code == 3 else [done.told()])
    if not is_sanitized():  # memory is not limited there
        sorted_ = run(["query", corpora.corpus, "--sql", ENDLESS.replace("count(*)", "randomblob(1000) AS r") + " ORDER BY r"], timeout=60)
        cases.check("query: what is sorted takes no disk", [] if sorted_.code == 3 and b"memory" in sorted_.err else [sorted_.told()])
    cases.check("query: nothing was written", [] if corpora.corpus.read_bytes() == before else ["the corpus changed"])
    rows = run(["query", "--json", corpora.corpus, "--sql", "SELECT value FROM json_each('[3]')"])
    cases.check("query: json_each", [] if rows.code == 0 and json.loads(rows.out)["rows"] == [[3]] else [rows.told()])


def flipped(corpora, n, seed):
    """Bytes of a corpus that are changed: no crash, and an exit code that is told."""
    source, found, whole = random.Random(seed), [], bytearray(corpora.corpus.read_bytes())
    path, out = corpora.folder / "flipped.sqlite", corpora.folder / "flipped_out.sqlite"
    for _ in range(n):
        bytes_, at = bytearray(whole), source.randrange(source.choice([100, 4096, len(whole)]))
        bytes_[at:at + source.choice([1, 4, 64])] = os.urandom(source.choice([1, 4]))
        path.write_bytes(bytes_[:source.choice([len(bytes_), source.randrange(len(bytes_))])])
        for args in (["query", "--timeout", "5", path, source.choice(shipped())["name"]], ["merge", "-o", out, path]):
            done = run(args, timeout=60)
            if done.crashed() or done.code not in (0, 2, 3, 4):
                found.append(f"byte {at}: {args[0]}: {done.told()}")
        for left_ in corpora.folder.glob("flipped_out.sqlite*"):
            left_.unlink()
    return found


def texts(corpora):
    """Names of columns and texts that drive terminals are printed as escapes."""
    sql = "SELECT char(27) || '[2J' AS \"a\x1b[31m\", 'x' || char(10) || char(8238) AS b, NULL AS c, x'1b5b' AS d"
    found = []
    for how in ([], ["--json"], ["--format", "csv"]):
        done = run(["query", *how, corpora.corpus, "--sql", sql])
        found += [] if done.code == 0 and b"\x1b" not in done.out and "\u202e".encode() not in done.out else [f"{how}: {done.out!r}"]
    return found


# ---- JSON lines, each, merge ----

COUNT = """
import duckdb, json, sys
read = "read_json('{}/*/{}', hive_partitioning=true)".format
guards, tapes = read(sys.argv[1], "guards.jsonl.zst"), read(sys.argv[1], "tapes.jsonl")
print(json.dumps(duckdb.sql(f"SELECT t.name, count(*) FROM {guards} g JOIN {tapes} t USING (tape) GROUP BY ALL ORDER BY ALL").fetchall()))
"""


def partitions(corpora, cases):
    folder, again = corpora.folder / "lines", corpora.folder / "lines_again"
    done = run(["collect", "--jsonl", folder, *corpora.paths[:8]])
    for k in (1, 2):
        run(["collect", "--jsonl", again, "--shard", f"{k}/2", *corpora.paths[:8]])
    args = [str(SYMTAPE), "collect", "--jsonl", str(corpora.folder / "lines_at_once"), *map(str, corpora.paths[:8])]
    late = corpora.folder / "lines_at_once" / f".partial-{hashlib.sha256(corpora.paths[0].read_bytes()).hexdigest()}-1"
    late.mkdir(parents=True)  # of a process that was killed
    at_once = [subprocess.Popen(args, stdout=subprocess.DEVNULL) for _ in range(4)]
    codes = [process.wait() for process in at_once]
    one = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    three = {p.relative_to(args[3]): p.read_bytes() for p in Path(args[3]).rglob("*") if p.is_file()}
    cases.check("JSON lines: four processes write the same folders", [] if codes == [0] * 4 and one == three and not late.exists() else [f"{codes}"])
    two = {p.relative_to(again): p.read_bytes() for p in again.rglob("*") if p.is_file()}
    cases.check("JSON lines: two parts write the same files", ([] if done.code == 0 else [done.told()]) + ([] if one == two and one else ["others"]))
    python = os.environ.get("SYMTAPE_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import duckdb"], stderr=subprocess.DEVNULL).returncode:
        cases.skip("DuckDB reads the partitions", "no duckdb for Python")
        return
    told = subprocess.run([python, "-c", COUNT, folder], stdout=subprocess.PIPE).stdout
    names = ", ".join(f"'{path}'" for path in corpora.paths[:8])
    wanted = corpora.rows(f"SELECT t.name, count(*) FROM guards g JOIN tapes t ON t.id = g.tape_id WHERE t.name IN ({names}) GROUP BY 1 ORDER BY 1")
    cases.check("DuckDB reads the partitions", [] if [tuple(r) for r in json.loads(told or "[]")] == wanted and wanted else ["other counts"])


def lines_of_each(corpora, command):
    """Parts of symtape each, merged, have the bytes of one run."""
    whole, operands = corpora.folder / "whole.jsonl", [*corpora.paths[:9], corpora.folder / "nowhere.log"]
    one = run(["each", "-o", whole, "--overwrite", *command, *operands])
    made, found, codes = [], [], []
    for k in (2, 1, 3):
        made.append(corpora.folder / f"lines{k}.jsonl")
        codes.append(run(["each", "-o", made[-1], "--overwrite", "--shard", f"{k}/3", *command, *operands]).code)
    merged = run(["merge", *made, made[1]])
    found += [] if merged.out == whole.read_bytes() else ["other bytes"]
    found += [] if merged.code == one.code == max(codes) == 4 else [f"exit {one.code}, parts {codes}, merged {merged.code}"]
    rows = [json.loads(line) for line in merged.out.splitlines()]
    found += [] if len(rows) == len(operands) and sum(row["result"] is None for row in rows) == 1 else [f"{len(rows)} lines"]
    made[0].write_bytes(made[0].read_bytes().replace(b'"exit":0', b'"exit":1'))
    whole.write_bytes(whole.read_bytes() + b'{"schema":')
    for parts_, code in (([made[0], whole], 3), ([corpora.corpus, made[0]], 2), ([corpora.folder / "none"], 4)):
        done = run(["merge", *parts_])
        found += [] if done.code == code and not done.out else [f"{parts_}: {done.told()}"]
    return found


# ---- Memory ----

MOST = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def most_memory(corpora, paths):
    """KiB that collecting takes, started by a small process: a child's most is never below its parent's."""
    path = corpora.folder / "memory.sqlite"
    path.unlink(missing_ok=True)
    return int(subprocess.run([sys.executable, "-c", MOST, SYMTAPE, "collect", "-o", path, *paths], stdout=subprocess.PIPE, check=True).stdout)


def memory(corpora):
    # SQLite's cache of 16 MiB is not full after a few tapes.
    some, all_ = (most_memory(corpora, corpora.paths[:n]) for n in (16, len(corpora.paths)))
    return [] if all_ < some + 20480 else [f"{some} KiB for 16 tapes, {all_} for {len(corpora.paths)}"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--all", action="store_true")
    options.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")))
    args = options.parse_args()
    print(f"seed {args.seed}")
    cases = Cases()
    with tempfile.TemporaryDirectory(prefix="symtape-corpus-test-") as name:
        corpora = Corpora(Path(name), 1000 if args.all else 48)
        _, found = corpora.collect("all.sqlite", corpora.logs)
        count = corpora.rows("SELECT count(*) FROM tapes")[0][0]
        cases.check("collect", found + ([] if count == len(corpora.paths) else [f"{count} tapes"]))
        for test in (orders, additions, parts, meanwhile, piped, exported, answers, slower, damage, texts):
            cases.check(test.__name__, test(corpora))
        cases.check("kills", kills(corpora, 20 if args.all else 4, args.seed))
        strangers(corpora, cases)
        forbidden(corpora, cases)
        cases.check("bytes changed", flipped(corpora, 300 if args.all else 12, args.seed))
        partitions(corpora, cases)
        cases.check("each: check", lines_of_each(corpora, ["check", "--max", "guards:10000"]))
        cases.check("each: replay", lines_of_each(corpora, ["replay", "--stable"]))
        if not is_sanitized():
            cases.check("memory", memory(corpora))
    return cases.finish()


if __name__ == "__main__":
    sys.exit(main())
