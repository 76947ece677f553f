#!/usr/bin/env python3
"""The cost model of `symtape profile --cost-model`, from live recordings: run by hand, about 15 minutes.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch and transformers (default: python3).
Exits with 77, "skipped", when that one lacks them.

    cost_model_torch.py FOLDER            records each model deeply and plainly into FOLDER, unless it is there,
                                          and prints the error of the sum and of each part on plain recordings
                                          of the models that are held back
    cost_model_torch.py FOLDER --fit      prints the units of cost_units.def, from the models that are not; with these
                                          in the file, the run without --fit prints its COST_ERROR

Every other model is held back: no unit is fitted on it. Recordings are made with tests/clock, so that no time has what
other work on the machine took, but for compilers that Inductor starts. The error of the units that symtape ships is printed, for
comparison also that on the models of the fit.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("SYMTAPE_ROOT", pathlib.Path(__file__).parent.parent)).resolve()
SYMTAPE = os.environ.get("SYMTAPE", "symtape")
PYTHON = os.environ.get("SYMTAPE_PYTHON", "python3")
CLOCK = pathlib.Path(os.environ.get("SYMTAPE_BUILD", ROOT / "build")).resolve() / "tests" / "clock" / "clock.so"
PROGRAM = ROOT / "tests" / "cost_model_program.py"
DEF = ROOT / "profile" / "model" / "cost_model" / "cost_kinds.def"
TERMS = re.findall(r'^COST_TERM\(.*"(\w+)"\)', DEF.with_name("cost_terms.def").read_text(), re.M)

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
]


def tape(folder, model, how):
    return folder / f"{'.'.join(model)}.{how}.tape"


def record(folder):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH_", "TORCHINDUCTOR_"))}
    for model in MODELS:
        for how in ("deep", "plain"):
            to = tape(folder, model, how)
            env["TORCHINDUCTOR_CACHE_DIR"] = str(folder / f"{to.name}.cache")
            if not to.exists():
                subprocess.run([SYMTAPE, "record", *["--deep"] * (how == "deep"), "-o", to,
                                "--", "env", f"LD_PRELOAD={CLOCK}", PYTHON, PROGRAM, *model],
                               env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cost_model(*tapes):
    done = subprocess.run([SYMTAPE, "profile", "--cost-model", "--json", *map(str, tapes)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["cost_model"]


def release():
    """As cost_units.def has it: 213 is 2.13."""
    done = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], check=True, stdout=subprocess.PIPE, text=True)
    major, minor = done.stdout.split(".")[:2]
    return int(major) * 100 + int(minor)


def print_rows(folder, fit):
    number = release()
    rows = {row["kind"]: row for row in cost_model(*(tape(folder, m, "deep") for m in fit))["rows"]}
    for id_, name in re.findall(r'^COST_\w+\((\w+), "([^"]+)"', DEF.read_text(), re.M):
        row = rows.get(name)
        if row and row["unit_basis"] == "fitted":
            terms = ", ".join(str(row[term]) for term in TERMS)
            print(f"COST_UNIT({number}, {id_}, {row['unit_ns']}, {row['unit_low_ns']}, {row['unit_high_ns']}, "
                  f"{row['samples']}, {terms})")


def errors(model):
    """Returns the share by which the sum differs from the wall time, and each part from its phases."""
    wall = model["wall_ns"]
    sum_error = abs(model["unexplained_ns"]) / wall
    parts = {p["part"]: abs(p["unexplained_ns"]) / p["ns"] for p in model["parts"] if p["ns"] > 0.02 * wall and p["part"] != "no phase"}
    return sum_error, parts


def report(title, results):
    print(title)
    for model, (sum_error, parts) in results.items():
        print(f"  {' '.join(model):32}sum {sum_error:6.1%}  ", "  ".join(f"{k} {v:.1%}" for k, v in parts.items()))
    print(f"  median of the sum: {statistics.median(e for e, _ in results.values()):.1%} (goal: 15 %)")
    by_part = {}
    for _, parts in results.values():
        for part, error in parts.items():
            by_part.setdefault(part, []).append(error)
    for part, found in sorted(by_part.items()):
        print(f"  median of {part}: {statistics.median(found):.1%} of {len(found)} (goal: 25 %)")


def main():
    if subprocess.run([PYTHON, "-c", "import torch, transformers"], stderr=subprocess.DEVNULL).returncode:
        print("skipped: no torch and transformers")
        return 77
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    record(folder)
    fit, held = MODELS[::2], MODELS[1::2]
    if "--fit" in sys.argv[2:]:
        print_rows(folder, fit)
        return 0
    results = {m: errors(cost_model(tape(folder, m, "plain"))) for m in held}
    report("held back, plain recordings, shipped units:", results)
    print(f"COST_ERROR({release()}, {statistics.median(e for e, _ in results.values()):.3f}, {len(results)})")
    report("the models of the fit, for comparison:", {m: errors(cost_model(tape(folder, m, "plain"))) for m in fit})
    return 0


if __name__ == "__main__":
    sys.exit(main())
