#!/usr/bin/env python3
"""Whether what symtape advise predicts comes true with the real PyTorch.

Each program of tests/diagnosis whose truth (.json) has "advice" is recorded with its calls. The change that
symtape advise proves is made, the changed program is recorded, and its compiles, restarts, graph breaks and
failures are compared with the predicted ones. "advice" says how the change is made:

    "patch"          by the patch of `symtape advise --apply`
    "remedy"         as the "remedy" of the truth: the advice says what to change, but not the place
    [[OLD, NEW] ...] as the remedy, by other replacements of the program's text

Compile times are compared, too: the error of the seconds that are saved, in the median, is printed and asserts
nothing.

SYMTAPE is the program under test, SYMTAPE_PYTHON an interpreter with torch (default: python3). Exits with 77,
"skipped" to meson, when that one has no torch.

    advise_torch.py [--all] [--folder NAME] [--repeat N] [--count N] [--seed N] [NAME...]

Without --all and names, N (3) programs are tried, the same ones for a seed; --folder takes those of one folder, such
as held_back, on which nothing was tuned. With --repeat, the changed program and
the original are recorded N times, in turn, and the fastest of each is taken: other programs on the
machine only make a compile slower. Exits with 1 unless 23 of 24 come true, and nothing that is advised
makes anything worse.
"""
import argparse
import random
import statistics
import subprocess
import sys
import tempfile

import diagnosis_torch as live

COUNTS = ("compiles", "restarts", "breaks", "failures")


class AdvisedCase(live.Case):
    """A program and the change that is advised."""

    def changed(self, advice):
        """The program with the change; None where the advice has no place for it."""
        how = self.truth["advice"]
        if how == "patch":
            return self.patched(advice)
        text = self.text
        for old, new in self.truth["remedy"] if how == "remedy" else how:
            assert old in text, f"{self.name}: the program has no {old!r}"
            text = text.replace(old, new)
        return text

    def patched(self, advice):
        if not advice["together"] or not all(step["applied"] for step in advice["together"]):
            return None
        place = self.folder / "patched"
        place.mkdir()
        (place / self.path.name).write_text(self.text)
        subprocess.run(["patch", "--quiet", self.path.name], cwd=place, input=advice["patch"],
                       text=True, check=True)
        return (place / self.path.name).read_text()


def advise(tape, *options):
    return live.ask("advise", *options, tape)


def counts_of(document):
    """What a recording, or a prediction, has of COUNTS."""
    return {"compiles": document["compiles"], "restarts": document["attempts"] - document["compiles"],
            "breaks": document["breaks"], "failures": document["failures"]}


class Row:
    """The judgement of one program."""

    def __init__(self, name):
        self.name, self.before, self.predicted, self.real = name, None, None, None
        self.why, self.error, self.seconds = "", None, ""

    def is_true(self):
        return self.real is not None and self.predicted == self.real

    def is_worse(self):
        return self.real is not None and any(self.real[n] > self.before[n] for n in COUNTS)


def seconds_of(document):
    return document["recorded"]["seconds"]


def judge(case, repeat):
    row = Row(case.name)
    advices = [advise(case.record("program0", case.text, "--calls")[0], "--apply",
                      case.folder / "program0" / case.path.name)]
    advice = advices[0]
    row.before = advice and counts_of(advice["recorded"])
    if not advice or not advice["together"]:
        row.why = "nothing is proved"
        return row
    row.predicted = counts_of(advice["together"][-1]["after"])
    text = case.changed(advice)
    if text is None:
        row.why = "the change has no certain place"
        return row
    after = [advise(case.record("changed0", text, "--calls")[0])]
    for i in range(1, repeat):
        advices.append(advise(case.record(f"program{i}", case.text, "--calls")[0]))
        after.append(advise(case.record(f"changed{i}", text, "--calls")[0]))
    row.real = counts_of(after[0]["recorded"])
    before, now = min(advices, key=seconds_of), min(map(seconds_of, after))
    predicted, before = before["together"][-1]["after"]["seconds"], seconds_of(before)
    row.seconds = f"{before:.2f} s -> {now:.2f} s, predicted {predicted:.2f} s"
    if row.predicted["failures"] == row.before["failures"] and before > now:
        row.error = abs(now - predicted) / (before - now)
    return row


def print_row(row, how):
    words = ", ".join(f"{n} {row.before[n]} -> {row.real[n]}" +
                      (f" (predicted {row.predicted[n]})" if row.real[n] != row.predicted[n] else "")
                      for n in COUNTS if row.real[n] != row.before[n] or row.real[n] != row.predicted[n]
                      ) if row.real else row.why
    error = "" if row.error is None else f"; error of the seconds saved {100 * row.error:.0f} %"
    print(f"{'ok' if row.is_true() else 'not ok'} - {row.name} ({how}): {words}"
          f"{'; ' + row.seconds if row.seconds else ''}{error}", flush=True)


def chosen(options):
    paths = sorted(p for p in live.PROGRAMS.glob(f"{options.folder}/*.py") if "advice" in live.truth_of(p))
    if options.names:
        return [p for p in paths if p.stem in options.names]
    paths = [p for p in paths if "gap" not in live.truth_of(p)]
    if options.all:
        return paths
    print(f"seed {options.seed}: {options.count} of {len(paths)} programs")
    return sorted(random.Random(options.seed).sample(paths, options.count))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", default="*")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seed", type=int, default=24323)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if subprocess.run([live.PYTHON, "-c", "import torch"], capture_output=True).returncode:
        print("skip - no torch")
        return 77
    rows = []
    with tempfile.TemporaryDirectory(prefix="symtape-advise-") as folder:
        for path in chosen(options):
            case = AdvisedCase(path, folder)
            rows.append(judge(case, options.repeat))
            how = case.truth["advice"]
            print_row(rows[-1], how if isinstance(how, str) else "replacements")
    true, worse = sum(r.is_true() for r in rows), sum(r.is_worse() for r in rows)
    errors = [r.error for r in rows if r.error is not None]
    print(f"{len(rows)} programs: the counts are as predicted in {true}, {worse} are worse than before; "
          f"the error of the seconds saved is {100 * statistics.median(errors):.0f} % in the median of "
          f"{len(errors)}" if errors else f"{len(rows)} programs, {true} as predicted")
    return 0 if true * 24 >= len(rows) * 23 and not worse else 1


if __name__ == "__main__":
    sys.exit(main())
