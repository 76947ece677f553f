#!/usr/bin/env python3
"""The cost model of `symtape profile --cost-model`, from live recordings: run by hand, about 15 minutes.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch and transformers (default: python3), which
recording needs: it exits with 77, "skipped", when that one lacks them.

    cost_model_torch.py FOLDER --record   records what is not in FOLDER: the models of the fit deeply, the others plainly
                        --jobs N          so many at a time, on a machine with more than 2 N processors
    cost_model_torch.py FOLDER --fit      prints the units of cost_units.def
    cost_model_torch.py FOLDER --operators
                                          prints the factors of cost_operators.def
    cost_model_torch.py FOLDER            prints the error of the sum and of each part over the recordings that are held
                                          back, and COST_ERROR
    cost_model_torch.py --beside FILE...  prints by how much the sum differs from the time of recordings of other
                                          machines, and of how much that is the same factor for all

Every other model is held back: no unit is fitted on it. Recordings are made with tests/clock, so that no time has what
other work on the machine took, but for compilers that Inductor starts. The error is that of the units that SYMTAPE ships.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
CLOCK = pathlib.Path(os.environ.get("SYMTAPE_BUILD", ROOT / "build")).resolve() / "tests" / "clock" / "clock.so"
PROGRAM = ROOT / "tests" / "cost_model_program.py"
DEF = ROOT / "profile" / "model" / "cost_model" / "cost_kinds.def"
TERMS = re.findall(r'^COST_TERM\(\w+, "(\w+)"\)', DEF.with_name("cost_terms.def").read_text(), re.M)

# (model, "train" or "eval", backend): the first of each pair is for the fit, the second is held back.
MODELS = [
    ("bert", "eval", "aot_eager"), ("llama", "eval", "aot_eager"),
    ("gpt2", "train", "aot_eager"), ("opt", "eval", "aot_eager"),
    ("roberta", "train", "aot_eager"), ("mistral", "eval", "aot_eager"),
    ("distilbert", "train", "aot_eager"), ("qwen2", "eval", "aot_eager"),
    ("electra", "eval", "aot_eager"), ("albert", "train", "aot_eager"),
    ("phi", "eval", "aot_eager"), ("gemma", "eval", "aot_eager"),
    ("gpt_neox", "train", "aot_eager"), ("mpnet", "eval", "aot_eager"),
    ("resnet", "eval", "aot_eager"), ("convnext", "eval", "aot_eager"),
    ("vit", "train", "aot_eager"), ("deit", "eval", "aot_eager"),
    ("mlp", "eval", "aot_eager"), ("cnn", "train", "aot_eager"),
    ("cnn", "eval", "aot_eager"), ("attention", "eval", "aot_eager"),
    ("attention", "train", "aot_eager"), ("mlp", "train", "aot_eager"),
    ("bert", "eval", "inductor"), ("opt", "eval", "inductor"),
    ("gpt2", "eval", "inductor"), ("distilbert", "eval", "inductor"),
    ("electra", "train", "inductor"), ("llama", "eval", "inductor"),
    ("same", "eval", "aot_eager"), ("patches", "eval", "aot_eager"),
    ("halves", "train", "aot_eager"), ("pyramid", "train", "aot_eager"),
]


def record_one(model, how, to):
    if not CLOCK.exists():
        sys.exit(f"{CLOCK} is not built")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "TORCHINDUCTOR_"))}
    with tempfile.TemporaryDirectory(prefix="symtape-cost-") as caches:
        env.update(TORCHINDUCTOR_CACHE_DIR=caches, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="2")
        done = subprocess.run([SYMTAPE, "record", *["--deep"] * (how == "deep"), "-o", to,
                               "--", "env", f"LD_PRELOAD={CLOCK}", PYTHON, PROGRAM, *model],
                              env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(f"{' '.join(model)}: not recorded: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        to.unlink(missing_ok=True)


def tapes_of(folder, models, how):
    return {model: folder / f"{'.'.join(model)}.{how}.tape" for model in models}


def recorded(folder, models, how):
    """Returns the recordings by model, without those that are missing."""
    tapes = {model: to for model, to in tapes_of(folder, models, how).items() if to.exists()}
    if not tapes:
        sys.exit(f"{folder} has no recordings: --record makes them")
    return tapes


def record(folder, models, how, jobs):
    folder.mkdir(exist_ok=True)
    missing = {model: to for model, to in tapes_of(folder, models, how).items() if not to.exists()}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda item: record_one(item[0], how, item[1]), missing.items()))


def cost_model(*tapes):
    done = subprocess.run([SYMTAPE, "profile", "--cost-model", "--json", *map(str, tapes)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["cost_model"]


def release(tapes):
    """That of the recordings, as cost_units.def has it: 213 is 2.13."""
    done = subprocess.run([SYMTAPE, "info", "--json", *map(str, tapes)], check=True, stdout=subprocess.PIPE)
    releases = {".".join(r["torch_version"].split(".")[:2]) for r in json.loads(done.stdout)["recordings"]}
    if len(releases) != 1:
        sys.exit(f"recordings of more than one release: {', '.join(sorted(releases))}")
    major, minor = releases.pop().split(".")
    return int(major) * 100 + int(minor)


def print_rows(tapes):
    number = release(tapes)
    rows = {row["kind"]: row for row in cost_model(*tapes)["rows"]}
    for id_, name in re.findall(r'^COST_\w+\((\w+), "([^"]+)"', DEF.read_text(), re.M):
        row = rows.get(name)
        if row and row["unit_basis"] == "fitted":
            terms = ", ".join(str(row[term]) for term in TERMS)
            print(f"COST_UNIT({number}, {id_}, {row['unit_ns']}, {row['unit_low_ns']}, {row['unit_high_ns']}, "
                  f"{row['samples']}, {terms})")


# Operators whose dispatches of a kind are so many, and differ so much from those of all operators, have a factor.
LEAST_DISPATCHES, LEAST_FACTOR = 10, 1.15


def print_operators(tapes):
    number, sums = release(tapes), {}
    paths = dict(re.findall(r'^COST_DISPATCH\(\w+, "([^"]+)", (\w+)\)', DEF.read_text(), re.M))
    for row in cost_model(*tapes)["operators"]:
        for op in ("", row["operator"]):
            of = sums.setdefault((op, paths[row["kind"]]), [0, 0])
            of[0] += row["count"]
            of[1] += row["ns"]
    for (op, path), (count, ns) in sorted(sums.items()):
        factor = ns / count / (sums["", path][1] / sums["", path][0])
        if op and count >= LEAST_DISPATCHES and not 1 / LEAST_FACTOR < factor < LEAST_FACTOR:
            print(f'COST_OPERATOR({number}, "{op}", {path}, {factor:.2f}, {count})')


def errors(model):
    """Returns by which share of the time the sum of the rows differs from it, the sum of all that units make of it, and
    what they make of each part that takes more than 2 % of the time, and of each."""
    wall = model["wall_ns"]
    estimates = abs(wall - sum(row["estimated_ns"] for row in model["rows"])) / wall
    every = {p["part"]: abs(p["ns"] - p["estimated_ns"]) / p["ns"] for p in model["parts"] if p["ns"] > 0 and p["part"] != "no phase"}
    large = {p["part"]: every[p["part"]] for p in model["parts"] if p["part"] in every and p["ns"] > 0.02 * wall}
    return abs(model["unexplained_ns"]) / wall, estimates, large, every


def median_error(results, which):
    return statistics.median(errors[which] for errors in results.values())


def report(title, results):
    print(title)
    for model, (rows, estimates, parts, _) in results.items():
        print(f"  {' '.join(model):32}rows {rows:6.1%}  units alone {estimates:6.1%}  ", "  ".join(f"{k} {v:.1%}" for k, v in parts.items()))
    print(f"  median of the rows: {median_error(results, 0):.1%}, of units alone: {median_error(results, 1):.1%} (goal: 15 %)")
    for part in sorted({part for found in results.values() for part in found[2]}):
        large, every = ([found[which][part] for found in results.values() if part in found[which]] for which in (2, 3))
        print(f"  median of {part}: {statistics.median(large):.1%} of {len(large)} (goal: 25 %), {statistics.median(every):.1%} of all {len(every)}")


def report_others(files):
    ratios = {}
    for file in files:
        model = cost_model(file)
        ratios[file] = (model["wall_ns"] - model["unexplained_ns"]) / model["wall_ns"]
        print(f"  {pathlib.Path(file).name:50}{ratios[file]:5.2f} of {model['wall_ns'] / 1e9:.1f} s")
    middle = statistics.median(ratios.values())
    rest = statistics.median(abs(ratio / middle - 1) for ratio in ratios.values())
    print(f"the sum is {middle:.2f} times the time in the median of {len(ratios)}; without that factor it is {rest:.1%} off")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--beside", nargs="+", metavar="FILE")
    options = parser.parse_args()
    if options.beside:
        report_others(options.beside)
        return 0
    if not options.folder:
        parser.error("FOLDER is missing")
    fitted, held_back = MODELS[::2], MODELS[1::2]
    if options.record:
        if subprocess.run([PYTHON, "-c", "import torch, transformers"], stderr=subprocess.DEVNULL).returncode:
            print("skipped: no torch and transformers")
            return 77
        record(options.folder, fitted, "deep", options.jobs)
        record(options.folder, held_back, "plain", options.jobs)
        return 0
    if options.fit or options.operators:
        tapes = list(recorded(options.folder, fitted, "deep").values())
        (print_rows if options.fit else print_operators)(tapes)
        return 0
    tapes = recorded(options.folder, held_back, "plain")
    results = {model: errors(cost_model(tape)) for model, tape in tapes.items()}
    report("held back, plain recordings, shipped units:", results)
    print(f"COST_ERROR({release(tapes.values())}, {median_error(results, 0):.3f}, {len(results)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
