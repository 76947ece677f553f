#!/usr/bin/env python3
"""What symtape collect --jsonl writes, read by Spark. Needs pyspark and Java; run by hand: .ci/run has neither.

usage: spark.py SYMTAPE

Spark 4.3 reads zstd by itself. Earlier ones read it only where Hadoop's native library is; elsewhere the files are unpacked first.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from recordings import make  # noqa: E402


def unpack(folder):
    for path in folder.rglob("*.jsonl.zst"):
        subprocess.run(["zstd", "-dq", "--rm", path], check=True)


def counts(session, folder, suffix):
    """Guards by tape, and the names of the tapes, joined by the partition."""
    read = session.read.option("basePath", str(folder))
    guards, tapes = read.json(f"{folder}/*/guards.jsonl{suffix}"), read.json(f"{folder}/*/tapes.jsonl")
    rows = guards.join(tapes, "tape").groupBy("name").count().collect()
    return {row["name"]: row["count"] for row in rows}


def main():
    from pyspark.sql import SparkSession
    symtape = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="symtape-spark-") as name:
        folder = pathlib.Path(name)
        paths = make(folder / "logs", 40)
        subprocess.run([symtape, "collect", "--jsonl", folder / "lines", *paths], check=True)
        subprocess.run([symtape, "collect", "-o", folder / "all.sqlite", *paths], check=True)
        sql = "SELECT t.name, count(*) FROM guards g JOIN tapes t ON t.id = g.tape_id GROUP BY t.name"
        told = subprocess.run([symtape, "query", "--json", folder / "all.sqlite", "--sql", sql], stdout=subprocess.PIPE, check=True)
        wanted = dict(json.loads(told.stdout)["rows"])
        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        try:
            found, how = counts(session, folder / "lines", ".zst"), "zstd"
        except Exception as why:  # py4j's, whose types need a running Java
            print(f"zstd: {str(why).splitlines()[0][:200]}")
            unpack(folder / "lines")
            found, how = counts(session, folder / "lines", ""), "unpacked"
        session.stop()
    same = found == wanted and bool(wanted)
    print(f"{'ok' if same else 'not ok'} - Spark reads the partitions ({how}): {len(found)} tapes with {sum(found.values())} guards")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
