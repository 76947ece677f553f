#!/usr/bin/env python3
"""symtape dash on synthetic suites, beside a computation of its own.

Two points of two suites are made from a seed: PyTorch's files with blank lines, CRLF, a byte order
mark and quotes, repeats, models that fail, come and go, rows without a number. Means, pass rates and
changes are computed by csv and statistics, and every verdict by the rules that PyTorch's
check_accuracy.py and check_graph_breaks.py have. `--pandas` computes the means with pandas, as
summarize_perf.py does, and `--check-accuracy FILE` runs PyTorch's script on the same files; both are
for a run by hand. usage: dash_suites.py [--seeds N] [--pandas] [--check-accuracy FILE]
"""
import argparse
import csv
import io
import json
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cases

PERFORMANCE = ["dev", "name", "batch_size", "speedup", "abs_latency", "compilation_latency", "compression_ratio"]
STATUSES = ["pass"] * 12 + ["pass_due_to_skip", "fail_accuracy", "fail_to_run", "eager_fail_to_run", "OOM"]
PASSED = {"pass", "pass_due_to_skip", "eager_variation"}
MEASURES = {"speedup": "speedup", "compile_s": "compilation_latency", "memory_ratio": "compression_ratio"}
GEOMETRIC = {"speedup", "memory_ratio"}
CONFIGS = [("inductor", "torchbench", "amp", "training", "cuda"), ("dynamic_inductor", "huggingface", "float32", "inference", "cpu")]


# ---- Making suites ----

def write_csv(path, rows, rng):
    end = rng.choice(["\n", "\r\n"])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=end, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    for row in rows:
        writer.writerow(row)
        out.write(end * rng.choice([0, 0, 0, 3]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(rng.choice([b"", b"\xef\xbb\xbf"]) + out.getvalue().encode())


def value(x):
    return f"{x:.6f}"


def performance_row(device, name, base, noise, rng):
    if base["status"] not in PASSED and rng.random() < 0.7:
        return [device, name, "0", "0.000000", "0.000000", "0", "0"]
    row = [device, name, "8"] + [value(base[key] * rng.uniform(1 - noise, 1 + noise))
                                 for key in ("speedup", "latency", "compile", "memory")]
    if rng.random() < 0.04:
        row[rng.randrange(4, 7)] = rng.choice(["", "nan"])
    return row


def make_point(folder, names, drift, runs, rng):
    for config in CONFIGS:
        stem = "_".join(config)
        bases = {name: {"speedup": rng.lognormvariate(0.3, 0.3) * drift, "latency": rng.uniform(1, 90), "memory": rng.uniform(0.7, 1.3),
                        "compile": rng.lognormvariate(3, 0.6) / drift, "status": rng.choice(STATUSES)} for name in names}
        for run in range(runs):
            write_csv(folder / f"run{run}" / f"{stem}_performance.csv", [PERFORMANCE] + [
                performance_row(config[4], name, base, 0.02, rng) for name, base in bases.items()], rng)
        write_csv(folder / "run0" / f"{stem}_accuracy.csv", [["dev", "name", "batch_size", "accuracy", "unique_graphs", "graph_breaks"]] + [
            [config[4], name, "4", base["status"], rng.choice([0, 1, 2]), rng.choice([0, 0, 3])] for name, base in bases.items()], rng)


def make_expectations(folder, point, rng):
    for config in CONFIGS:
        rows = read(point / "run0" / ("_".join(config) + "_accuracy.csv"))
        kept = [row for row in rows if rng.random() > 0.1]
        for row in kept:
            row["accuracy"] = rng.choice(STATUSES) if rng.random() < 0.2 else row["accuracy"]
            row["graph_breaks"] = rng.choice([0, 2, 5]) if rng.random() < 0.2 else row["graph_breaks"]
        write_csv(folder / f"{config[0]}_{config[1]}_{config[3]}.csv", [["name", "accuracy", "graph_breaks"]] + [
            [row["name"], row["accuracy"], row["graph_breaks"]] for row in kept], rng)


# ---- The computation of its own ----

def read(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))


def values_of(point, stem):
    """{model: {measure: median}} of rows that summarize_perf.py keeps, and {model: did all its rows run}."""
    found, ran = {}, {}
    for path in sorted(point.glob(f"*/{stem}_performance.csv")):
        for row in read(path):
            numbers = [float(row[key] or "nan") for key in PERFORMANCE[2:]]
            ran[row["name"]] = ran.get(row["name"], True) and float(row["speedup"] or "nan") > 0
            if not any(map(math.isnan, numbers)) and float(row["speedup"]) != 0:
                for measure, column in MEASURES.items():
                    found.setdefault(row["name"], {}).setdefault(measure, []).append(float(row[column]))
    return {name: {m: statistics.median(v) for m, v in of.items()} for name, of in found.items()}, ran


def summarize(point, stem, only=None):
    values, ran = values_of(point, stem)
    status = {row["name"]: row["accuracy"] for row in read(point / "run0" / f"{stem}_accuracy.csv")}
    passed = {name for name in status if status[name] in PASSED and ran.get(name, True)}
    ret = {"judged": len(status), "passed": len(passed), "names": set(status), "good": {n for n in values if n in passed}}
    for measure in MEASURES:
        rows = [of[measure] for name, of in sorted(values.items()) if name in passed and (only is None or name in only)]
        ret[measure] = (statistics.geometric_mean(rows) if measure in GEOMETRIC else statistics.fmean(rows)) if rows else None
    return ret


def verdict(actual, expected):
    """By the rules of check_accuracy.py, then of check_graph_breaks.py."""
    if expected is None:
        return "MISSING"
    if actual["accuracy"] != expected["accuracy"]:
        return "IMPROVED" if actual["accuracy"] == "pass" else "FAIL"
    more = int(actual["graph_breaks"]) - int(expected["graph_breaks"])
    if int(actual["unique_graphs"]) != 0 and more != 0:
        return "FAIL" if more > 0 else "IMPROVED"
    return "PASS" if actual["accuracy"] == "pass" else "XFAIL"


def expected_verdicts(point, folder, config):
    actual = read(point / "run0" / ("_".join(config) + "_accuracy.csv"))
    expected = {row["name"]: row for row in read(folder / f"{config[0]}_{config[1]}_{config[3]}.csv")}
    ret = {row["name"]: verdict(row, expected.get(row["name"])) for row in actual}
    return {**{name: "MISSING" for name in expected}, **ret}


# ---- Comparing ----

def near(a, b):
    return a is b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9))


def of_config(rows, config):
    keys = ("compiler", "suite", "dtype", "mode", "device")
    return [row for row in rows if tuple(row[key] for key in keys) == config]


def compare_summary(where, got, own):
    problems = [f"{where}: {key} {got[key]}, not {own[key]}" for key in ("judged", "passed") if got[key] != own[key]]
    return problems + [f"{where}: {m} {got[m]['mean']}, not {own[m]}" for m in MEASURES if not near(got[m]["mean"], own[m])]


def check_config(document, points, config, folder):
    stem, problems, own = "_".join(config), [], []
    for point in points:
        own.append(summarize(point, stem))
        got = [row for row in of_config(document["results"], config) if row["point"] == str(point)]
        problems += compare_summary(f"{point.name} {stem}", got[0], own[-1])
    change, = of_config(document["changes"], config)
    both = own[0]["good"] & own[1]["good"]
    for side, point in zip(("before", "after"), points):
        of_common = summarize(point, stem, both)
        problems += [f"{side} {stem}: {m} {change[side][m]['mean']}, not {of_common[m]}"
                     for m in MEASURES if not near(change[side][m]["mean"], of_common[m])]
    counts = [len(own[0]["names"] & own[1]["names"]), len(own[1]["names"] - own[0]["names"]), len(own[0]["names"] - own[1]["names"])]
    if [change["common"], change["added"], change["removed"]] != counts:
        problems.append(f"{stem}: models in common, added, removed are {counts}")
    got = {row["model"]: row["verdict"] for row in of_config(document["expectations"]["models"], config)}
    wanted = expected_verdicts(points[1], folder, config)
    return problems + [f"{stem} {name}: {got.get(name)}, not {wanted[name]}" for name in wanted if got.get(name) != wanted[name]]


def check_update(points, folder):
    """After --update everything is as expected, and a second one changes nothing."""
    arguments = ["dash", *points, "--expect", folder]
    first = cases.run([*arguments, "--update", "-q"])
    text = {path: path.read_bytes() for path in folder.iterdir()}
    second, judged = cases.run([*arguments, "--update", "-q"]), cases.run(arguments)
    problems = [] if first.code == second.code == judged.code == 0 else [f"--update: exit {first.code}, {second.code}, {judged.code}"]
    return problems + [f"{path.name}: a second --update changes it" for path in text if path.read_bytes() != text[path]]


# ---- By hand ----

def check_pandas(document, points):
    import pandas
    problems = []
    for config in CONFIGS:
        for point in points:
            status = pandas.read_csv(point / "run0" / ("_".join(config) + "_accuracy.csv"), encoding="utf-8-sig").set_index("name")["accuracy"]
            frame = pandas.concat([pandas.read_csv(path, encoding="utf-8-sig") for path in point.glob("*/" + "_".join(config) + "_performance.csv")])
            passes = frame.groupby("name")["speedup"].min() > 0  # a run that is missing is no pass either
            passes &= ~frame[frame["speedup"].isna()].groupby("name").size().reindex(passes.index).gt(0)
            rows = frame.dropna().query("speedup != 0").drop(columns="dev").groupby("name").median()
            rows = rows[passes.reindex(rows.index) & status.reindex(rows.index).isin(PASSED)]
            got = [row for row in of_config(document["results"], config) if row["point"] == str(point)][0]
            for measure, column in MEASURES.items():
                mean = rows[column].product() ** (1 / len(rows)) if measure in GEOMETRIC else rows[column].mean()
                if not near(got[measure]["mean"], mean):
                    problems.append(f"{point.name} {config}: {measure} {got[measure]['mean']}, pandas has {mean}")
    return problems


def check_pytorch(document, points, folder, script):
    problems = []
    for config in CONFIGS:
        done = subprocess.run([sys.executable, script, "--actual", points[1] / "run0" / ("_".join(config) + "_accuracy.csv"), "--expected",
                               folder / f"{config[0]}_{config[1]}_{config[3]}.csv"], capture_output=True, text=True)
        said = dict(re.findall(r"^(.+?) +([A-Z_]{4,}):?(?: +accuracy=.*)?$", done.stdout, re.M))
        for row in of_config(document["expectations"]["models"], config):
            words = {"MISSING_EXPECTED": "MISSING", None: "MISSING"}
            theirs = words.get(said.get(row["model"]), said.get(row["model"]))
            breaks = row["why"] in ("more graph breaks", "fewer graph breaks")  # check_graph_breaks.py
            if not breaks and theirs != row["verdict"]:
                problems.append(f"{row['model']}: {row['verdict']}, check_accuracy.py says {theirs}")
        if not said:
            problems.append(f"check_accuracy.py: {done.stderr[-300:]}")
    return problems


def run_seed(tell, seed, folder, options):
    rng = random.Random(seed)
    points = [folder / "before", folder / "after"]
    names = [f"model_{i}" for i in range(30)] + ['with "quotes"', "with, comma"]
    make_point(points[0], names[:-3], 1.0, rng.choice([1, 3]), rng)
    make_point(points[1], names[2:], 1.1, rng.choice([1, 3]), rng)
    make_expectations(folder / "expected", points[1], rng)
    done = cases.run(["dash", "--json", *points, "--expect", folder / "expected"])
    if done.code not in (0, 1):
        return tell.fail(f"seed {seed}", done.told())
    document = json.loads(done.out)
    problems = sum((check_config(document, points, config, folder / "expected") for config in CONFIGS), [])
    problems += check_pandas(document, points) if options.pandas else []
    problems += check_pytorch(document, points, folder / "expected", options.check_accuracy) if options.check_accuracy else []
    problems += check_update(points, folder / "expected")
    tell.check(f"suites of seed {seed}", problems)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--pandas", action="store_true")
    parser.add_argument("--check-accuracy", metavar="FILE")
    options = parser.parse_args()
    tell = cases.Cases()
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            run_seed(tell, seed, Path(folder), options)
    return tell.finish()


if __name__ == "__main__":
    sys.exit(main())
