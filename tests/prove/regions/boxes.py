#!/usr/bin/env python3
"""The regions of `symtape inputs` are what the text of the guards says, at every point of a box.

For each compile with at most four symbols: regions are disjoint; where they are said to be all sizes, every
point is in one; the first region is where all recorded conditions are true; the smallest sizes of a region are
in it, and no point of the box that comes before them is, if they are said to be the smallest.
usage: boxes.py [--shared | RECORDING...]

--shared: the large recordings of $SYMTAPE_SHARED; exits with 77 where they are absent.
"""
import itertools
import random
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "cover"), str(HERE.parents[1])]
import boxes as cover # noqa: E402

NAMES = cover.NAMES
MOST, SAMPLE = 20 ** 3, 2000 # points of a box that are all tried; of a larger one this many more


def python(text):
    """sympy's `~` and `|` of conditions, as Python: bool has both, but ~True is -2."""
    return compile(re.sub(r"~\(", "1 ^ (", text), "guard", "eval")


class Region:
    def __init__(self, row, regions):
        self.row = row
        self.conditions = [python(one["expr"]) for one in row["conditions"]]
        self.parent = regions[row["neighbor"]] if row["neighbor"] is not None else None

    def has(self, point):
        return self.in_cell(point) and all(holds(code, point) for code in self.conditions)

    def in_cell(self, point):
        if not self.parent:
            return True
        at = self.row["separator"]
        return (self.parent.in_cell(point) and all(holds(code, point) for code in self.parent.conditions[:at])
                and not holds(self.parent.conditions[at], point))


def holds(code, point):
    try:
        return bool(eval(code, NAMES | point))
    except ZeroDivisionError:
        return False


def points(n):
    """All points of the box of n sizes, or, where they are too many, all of a smaller box and a sample."""
    largest = cover.LARGEST
    while (largest + 1) ** n > MOST:
        largest -= 1
    yield from itertools.product(range(largest + 1), repeat=n)
    draw = random.Random(0)
    for _ in range(SAMPLE if largest < cover.LARGEST else 0):
        yield tuple(draw.randint(0, cover.LARGEST) for _ in range(n))


def check_compile(answer, recorded, names, negative):
    regions, problems = [], []
    for row in answer["regions"]:
        regions.append(Region(row, regions))
    before = [[] for _ in regions]
    for values in points(len(names)):
        point = dict(zip(names, values))
        inside = [i for i, region in enumerate(regions) if region.has(point)]
        for i in inside:
            before[i].append(values)
        if len(inside) > 1:
            problems.append(f"{point} is in the regions {inside}")
        if answer["complete"] and not inside:
            problems.append(f"{point} is in no region")
        if (0 in inside) != all(holds(code, point) for code in recorded):
            problems.append(f"{point}: the recorded conditions and the first region differ")
    for i, region in enumerate(regions):
        point = {one["symbol"]: one["smallest"] for one in region.row["sizes"]}
        if not region.has(point):
            problems.append(f"the smallest sizes of region {i}, {point}, are not in it")
        first = min(before[i], key=cover.order, default=None)
        if region.row["is_smallest"] and not negative and first and \
                cover.order(first) < cover.order(tuple(point[name] for name in names)):
            problems.append(f"region {i}: {first} comes before {point}")
    return problems


def check_recording(recording):
    compiles, problems = {}, []
    for row in cover.run("show", "--symbols", "--json", recording)["symbols"]:
        compiles.setdefault((row["compile"], row["attempt"]), []).append(row)
    n = n_regions = n_complete = 0
    for (name, attempt), rows in compiles.items():
        whole = {row["symbol"]: row["value"] for row in rows if re.fullmatch(r"-?\d+", row["value"] or "")}
        if not whole or len(whole) > 4 or name is None or any(ord(c) > 127 for c in name):
            continue
        selector = f"{recording}:{name}_{attempt}"
        box = ",".join(f"{symbol}=0..1" for symbol in whole)
        conditions = cover.run("inputs", selector, "--cover", box, "--json")["compiles"][0]["conditions"]
        known = set(whole)
        recorded = [python(one["expr"]) for one in conditions
                    if set(re.findall(r"\b[suz][uf]*\d+\b", one["expr"])) <= known]
        negative = any("size()" not in row["source"] for row in rows)
        document = cover.run("inputs", selector, "--json", "-n", "12", "--seconds", "600")
        for answer in document["compiles"]:
            found = check_compile(answer, recorded, list(whole), negative)
            problems += [f"{recording} {name}: {text}" for text in found[:3]]
            n, n_regions = n + 1, n_regions + len(answer["regions"])
            n_complete += answer["complete"]
    return problems, n, n_regions, n_complete


def main():
    recordings = cover.chosen("*.log.zst")
    sums, problems = [0, 0, 0], []
    for recording in recordings:
        found, *counts = check_recording(recording)
        problems += found
        sums = [a + b for a, b in zip(sums, counts)]
    print("\n".join(problems), file=sys.stderr)
    print("{} compiles, {} regions, {} compiles complete".format(*sums))
    raise SystemExit(1 if problems or not sums[1] else 0)


if __name__ == "__main__":
    main()
