#!/usr/bin/env python3
"""What `symtape inputs --cover` says is what the text of the guards says, at every point of a box.

For each compile with at most four symbols, all sizes from 0 to 24 (fewer where the box of a function's sizes
would have more points than MOST) are put into the text of each recorded condition, as Python. A condition is proved if it
is true at all of them; the counterexample of another one is the smallest point at which it is false or
divides by zero. The entries of a function serve the box if at each point all conditions of one of them
are true; sizes are matched by source there. usage: boxes.py [--shared | RECORDING...]

--shared: the large recordings of $SYMTAPE_SHARED; exits with 77 where they are absent.
"""
import itertools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from cases import RECORDINGS, SYMTAPE, shared # noqa: E402

LARGEST, MOST = 24, 20000

NAMES = {
    "Eq": lambda a, b: a == b, "Ne": lambda a, b: a != b, "Lt": lambda a, b: a < b, "Le": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b, "Ge": lambda a, b: a >= b, "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b,
    "FloorDiv": lambda a, b: a // b, "CleanDiv": lambda a, b: a // b, "Max": max, "Min": min, "Abs": abs,
    "And": lambda *a: all(a), "Or": lambda *a: any(a), "Not": lambda a: not a, "TruncToInt": math.trunc,
    "FloorToInt": math.floor, "CeilToInt": math.ceil, "IntTrueDiv": lambda a, b: a / b, "ToFloat": float,
    "Piecewise": lambda *pairs: next(value for value, holds in pairs if holds), "Where": lambda c, a, b: a if c else b,
    "FloatTrueDiv": lambda a, b: a / b, "FloatPow": lambda a, b: a ** b, "PowByNatural": lambda a, b: a ** b, "true": True, "True": True,
}


def run(*arguments):
    done = subprocess.run([SYMTAPE, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 1, 125):
        raise SystemExit(f"{arguments}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def order(point):
    """Smallest first: by the largest size, then by the sizes in their order."""
    return max(point), point


def violation(text, symbols, largest):
    """The smallest point at which a condition is false; None: there is none."""
    code = compile(text, "guard", "eval")
    for point in sorted(itertools.product(range(largest + 1), repeat=len(symbols)), key=order):
        try:
            if not eval(code, NAMES | dict(zip(symbols, point))):
                return point
        except ZeroDivisionError:
            return point
    return None


def check_compile(recording, answer, names, hints, largest):
    problems, counts = [], {"proved": 0, "refuted": 0, "undecided": 0, "skipped": 0}
    for row in answer["conditions"]:
        used = [name for name in names if re.search(rf"\b{name}\b", row["expr"])]
        others = set(re.findall(r"\b[suz][uf]*\d+\b", row["expr"])) - set(used)
        if others - set(hints):
            counts["skipped"] += 1
            continue
        counts[row["verdict"]] += 1
        text = re.sub(r"\b[suz][uf]*\d+\b", lambda m: m[0] if m[0] in used else str(hints[m[0]]), row["expr"])
        smallest = violation(text, used, largest)
        said = row["counterexample"]
        if row["verdict"] == "proved" and smallest is not None:
            problems.append(f"{row['expr']} is proved, and false at {smallest}")
        elif row["verdict"] == "refuted":
            values = {one["symbol"]: one["value"] for one in said}
            point = tuple(values.get(name, 0) for name in used)
            if smallest is None or (row["smallest"] and point != smallest):
                problems.append(f"{row['expr']} is refuted at {point}; the smallest point is {smallest}")
    return [f"{recording} {answer['compile']}: {text}" for text in problems], counts


def check_recording(recording):
    symbols = run("show", "--symbols", "--json", recording)["symbols"]
    compiles = {}
    for row in symbols:
        compiles.setdefault((row["compile"], row["attempt"]), []).append(row)
    problems, total = [], {"compiles": 0}
    for (name, attempt), rows in compiles.items():
        whole = {row["symbol"]: row["value"] for row in rows if re.fullmatch(r"-?\d+", row["value"] or "")}
        if not whole or len(whole) > 4 or name is None or any(ord(c) > 127 for c in name):
            continue
        cover = ",".join(f"{symbol}=0..{LARGEST}" for symbol in whole)
        document = run("inputs", f"{recording}:{name}_{attempt}", "--cover", cover, "--json")
        for answer in document["compiles"]:
            found, counts = check_compile(recording, answer, list(whole), whole, LARGEST)
            problems += found
            total["compiles"] += 1
            for key, n in counts.items():
                total[key] = total.get(key, 0) + n
    return problems, total


def holds(code, values):
    try:
        return bool(eval(code, NAMES | values))
    except ZeroDivisionError:
        return False


def entry_codes(answer, sources):
    """The conditions of an entry, with the places of sources in the point instead of symbols and sources."""
    codes = []
    for row in answer["conditions"]:
        text = row["expr"]
        for source, at in sorted(sources.items(), key=lambda item: -len(item[0])):
            text = text.replace(source, f"size{at}")
        text = re.sub(r"\b[suz][uf]*\d+\b", lambda m: f"size{sources[answer['symbols'][m[0]]]}", text)
        codes.append(compile(text, "guard", "eval"))
    return codes


def check_function(recording, rows, smallest):
    """The function of these rows of symbols: all sizes that are symbols in some compile are named, from `smallest` on."""
    sources = {source: i for i, source in enumerate(dict.fromkeys(row["source"] for row in rows))}
    if not 0 < len(sources) <= 3 or not all(".size()[" in source for source in sources):
        return [], "skipped"
    largest = LARGEST
    while (largest + 1) ** len(sources) > MOST:
        largest -= 1
    document = run("inputs", recording, "--cover", ",".join(f"{one}={smallest}..{largest}" for one in sources), "--json")
    compiles = {row["compile"] for row in rows}
    function = next((one for one in document["functions"] if compiles & {row["compile"] for row in one["entries"]}), None)
    if not function or function["missing"] or any(row["not_known"] for row in function["entries"]):
        return [], "skipped"
    names = {row["compile"] for row in function["entries"]}
    answers = [one for one in document["compiles"] if one["compile"] in names]
    for answer in answers:
        answer["symbols"] = {row["symbol"]: row["source"] for row in rows if row["compile"] == answer["compile"]}
    try:
        entries = [entry_codes(answer, sources) for answer in answers]
    except (KeyError, SyntaxError):
        return [], "skipped" # an unbacked symbol, or a number
    unserved = next((point for point in sorted(itertools.product(range(smallest, largest + 1), repeat=len(sources)), key=order)
                     if not any(all(holds(code, {f"size{i}": n for i, n in enumerate(point)}) for code in codes)
                                for codes in entries)), None)
    told = function["counterexample"]
    told = told and {one["source"]: one["value"] for one in told}
    point = told and tuple(told[source] for source in sources)
    if (function["verdict"] == "refuted") != (unserved is not None) or (function["smallest"] and point != unserved):
        return [f"{recording} {function['function']}: {function['verdict']}, {point}; no entry serves {unserved}"], "wrong"
    return [], f"function {function['verdict']}"


def check_functions(recording):
    functions = {}
    for row in run("show", "--symbols", "--json", recording)["symbols"]:
        if row["compile"] and row["source"]:
            frame, _, number = row["compile"].rpartition("/")
            functions.setdefault((frame, number.partition(".")[2]), []).append(row)
    problems, total = [], {}
    for rows, smallest in itertools.product(functions.values(), (0, 1, 2, 5)):
        found, what = check_function(recording, rows, smallest)
        problems += found
        total[what] = total.get(what, 0) + 1
    return problems, total


def chosen(pattern):
    """The recordings that the command line names."""
    if sys.argv[1:] != ["--shared"]:
        return [Path(path) for path in sys.argv[1:]] or sorted(RECORDINGS.glob(pattern))
    if not shared():
        print("skip - the recordings of $SYMTAPE_SHARED are absent")
        raise SystemExit(77)
    return [path for folder in ("failures", "ranks", "traces", "variety") for path in sorted((shared() / folder).glob("*.log.zst"))]


def main():
    recordings = chosen("**/*.log.zst")
    sums, problems = {}, []
    for recording in recordings:
        for check in (check_recording, check_functions):
            found, total = check(recording)
            problems += found
            for key, n in total.items():
                sums[key] = sums.get(key, 0) + n
    print("\n".join(problems), file=sys.stderr)
    print(", ".join(f"{n} {key}" for key, n in sums.items()))
    asked = sums.get("proved", 0) + sums.get("refuted", 0) + sums.get("undecided", 0)
    raise SystemExit(1 if problems or not asked else 0)


if __name__ == "__main__":
    main()
