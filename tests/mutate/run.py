#!/usr/bin/env python3
"""Mutates real files with their structure known, and runs the whole command line over them.

usage: run.py [--runs N] [--seed S] [--only I[,I...]] [--kind KIND] [--keep DIR] [--inputs FILE...]

README.md beside this file tells what is mutated and what is checked. The seed changes every month.
"""
import argparse
import collections
import re
import shlex
import shutil
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import cases  # noqa: E402
import judge  # noqa: E402
from bases import Bases  # noqa: E402


class Campaign:
    def __init__(self, args, bases, folder):
        self.args, self.bases, self.folder = args, bases, folder
        self.kept = Path(args.keep) if args.keep else None
        self.codes, self.kinds, self.long = collections.Counter(), collections.Counter(), []
        self.peak = 0

    def repeat(self, number):
        more = f" --kind {self.args.kind}" if self.args.kind else ""
        more += f" --inputs {shlex.join(map(str, self.args.inputs))}" if self.args.inputs else ""
        return (f"SYMTAPE_BUILD={shlex.quote(str(cases.BUILD))} {HERE / 'run.py'} --seed {self.args.seed} "
                f"--only {number}{more} --keep DIR")

    def only_computes(self, args, ran, files, number):
        """Whether a run that took all its time has the backend compute for real: with sizes only, the
        same graph is done at once."""
        if "cpu" not in args or ran.code not in ("late", -24, -9):
            return False
        instead, skip = [], False
        for word in args:
            if not skip and word in ("--compare-with", "--outputs", "--save", "--runs", "--inputs", "--input-prefix"):
                skip = True
            elif skip:
                skip = False
            elif word not in ("--nodes", "--profile", "--json"):
                instead.append("null" if word == "cpu" else word)
        place = judge.Place(self.fresh(f"{number}-sizes"), files)
        told = judge.run(place, instead)
        shutil.rmtree(place.root)
        return told.code in judge.CODES and told.cpu < judge.CPU_SECONDS / 4

    def fresh(self, name):
        root = self.folder / str(name)
        root.mkdir()
        return root

    def play(self, number):
        """Gives the kind, the arguments and what was wrong."""
        kind, files, args, terminal, stdin = self.bases.play(self.args.seed, number, self.args.kind)
        place = judge.Place(self.fresh(number), files)
        if terminal:
            args = [*args, "--color", "never"]
        ran = judge.run(place, args, terminal, stdin=stdin)
        if self.only_computes(args, ran, files, number):
            self.long.append(number)
            found = []
        else:
            found = judge.problems(place, ran, args, files, not self.args.no_controls)
        self.codes[ran.code] += 1
        self.kinds[kind] += 1
        self.peak = max(self.peak, ran.rss)
        if self.kept or found:
            (place.root / "command").write_text(f"{shlex.join([str(cases.SYMTAPE), *args])}\n{self.repeat(number)}\n")
        if self.kept:
            shutil.move(place.root, self.kept / str(number))
        elif found:
            kept = Path(tempfile.mkdtemp(prefix="symtape-mutated-")) / str(number)
            shutil.move(place.root, kept)
            found.append(f"kept in {kept}")
        else:
            shutil.rmtree(place.root)
        return number, kind, args, found

    def told(self, number, kind, args, found):
        return f"{number} {kind}: symtape {' '.join(args)}: {'; '.join(found)}; to repeat it: {self.repeat(number)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, help="how many; default: 400 of a sanitizer build, 150 of another")
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--seed", type=int, default=int(time.strftime("%Y%m")))
    parser.add_argument("--only", type=lambda t: [int(n) for n in t.split(",")], help="these runs")
    parser.add_argument("--kind", choices=Bases.KINDS, help="only files of this kind")
    parser.add_argument("--keep", metavar="DIR", help="keep the files of all runs in DIR/NUMBER")
    parser.add_argument("--inputs", nargs="+", type=lambda p: Path(p).resolve(), default=[], metavar="FILE",
                        help="more logs and .pt2 archives to mutate")
    parser.add_argument("--no-controls", action="store_true", help="do not look for control characters")
    args = parser.parse_args()
    args.runs = args.runs or (400 if cases.is_sanitized() else 150)
    sys.setrecursionlimit(10000)  # values are nested and copied again
    threading.stack_size(64 << 20)
    warnings.simplefilter("ignore")  # names that come twice in an archive are wanted
    if args.keep:
        Path(args.keep).mkdir(parents=True, exist_ok=True)
    print(f"seed {args.seed}")
    tell = cases.Cases()
    found = collections.defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="symtape-mutate-") as folder, ThreadPoolExecutor(cases.jobs()) as pool:
        for name in ("bases", "runs"):
            (Path(folder) / name).mkdir()
        campaign = Campaign(args, Bases(Path(folder) / "bases", args.inputs), Path(folder) / "runs")
        for number, kind, words, wrong in pool.map(campaign.play, args.only or range(args.first, args.first + args.runs)):
            if wrong:
                found[kind].append(campaign.told(number, kind, words, wrong))
                print(re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", "?", found[kind][-1]), file=sys.stderr, flush=True)
    for kind, runs in sorted(campaign.kinds.items()):
        tell.check(f"mutated {kind}: {runs} runs", [f"{len(found[kind])} are wrong"] if found[kind] else [])
    codes = ", ".join(f"{code}: {n}" for code, n in sorted(campaign.codes.items(), key=str))
    print(f"exit codes {codes}; peak of memory {campaign.peak >> 20} MiB; "
          f"{len(campaign.long)} took all their time to compute")
    tell.finish()


if __name__ == "__main__":
    main()
