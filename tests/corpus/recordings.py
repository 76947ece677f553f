#!/usr/bin/env python3
"""Makes many small recordings out of the shipped ones: the same compiles with other times, processes, ids and revisions.

    recordings.py FOLDER N [--tapes SYMTAPE]

The logs are FOLDER/REVISION/MODEL_NUMBER.log.zst, of two revisions, of which the second is slower in one model, and of two versions of
PyTorch. Each seed changes the process, the time of day and frame ids, so that no two have the same bytes; seed 0 is a recording as it was
shipped. With --tapes, they are imported into tapes.
"""
import argparse
import hashlib
import pathlib
import random
import re
import subprocess
import sys

RECORDINGS = pathlib.Path(__file__).resolve().parent.parent / "recordings"
SMALL = ["arrays", "cond", "data_dependent", "normalized_shape", "shared_sizes", "pyramid", "train"]
OLDER = "torch-2.11"
REVISIONS = ["before", "after"]
HEADER = re.compile(r"^V(\d{4}) (\d\d):(\d\d):(\d\d)\.(\d{6}) (\d+) ", re.M)
STAMP = re.compile(r'"ts": (\d+(?:\.\d+)?)')  # of a chromium event, in microseconds
METRIC = re.compile(r'("(?:duration_us|[a-z_]*time_us|[a-z_]*time_s)": )(\d{1,12})((?:\.\d+)?)\b')  # of CompilationMetrics
CHECKSUM = re.compile(r'"has_payload": "([0-9a-f]{32})"')


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "surrogateescape")


def packed(text):
    return subprocess.run(["zstd", "-1cq"], input=text.encode("utf-8", "surrogateescape"), stdout=subprocess.PIPE, check=True).stdout


def sources():
    """[(model, text)] of the small recordings, and of one of an older PyTorch."""
    found = [(name, unpacked(RECORDINGS / f"{name}.log.zst")) for name in SMALL]
    older = sorted((RECORDINGS / OLDER).glob("*.log.zst"), key=lambda path: path.stat().st_size)
    return found + [(older[0].name.split(".")[0] + "_older", unpacked(older[0]))]


def records(text):
    """[[header line, payload lines...]] of a log."""
    found = []
    for line in text.splitlines(keepends=True):
        if HEADER.match(line) or not found:
            found.append([line])
        else:
            found[-1].append(line)
    return found


def varied(text, seed, slower):
    """The log with another process, other times of day and frame ids; durations are multiplied by `slower`."""
    if seed == 0 and slower == 1:
        return text
    source = random.Random(seed)
    pid, shift, frame = source.randrange(1000, 4000000), source.randrange(1, 3600), source.randrange(0, 3)

    def header(found):
        seconds = (int(found[2]) * 3600 + int(found[3]) * 60 + int(found[4]) + shift) % 86400
        return f"V{found[1]} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{found[5]} {pid} "

    begin = min((float(found[1]) for found in STAMP.finditer(text)), default=0)

    def stamp(found):
        return f'"ts": {begin + (float(found[1]) - begin) * slower:.3f}'

    def metric(found):
        return found[1] + (f"{float(found[2] + found[3]) * slower:.6f}" if found[3] else str(int(int(found[2]) * slower)))

    def payload(lines):
        return lines if slower == 1 else [METRIC.sub(metric, STAMP.sub(stamp, line)) for line in lines]

    out = []
    for first, *rest in records(text):
        first = HEADER.sub(header, first, count=1)
        first = METRIC.sub(metric, first)
        first = re.sub(r'"frame_id": (\d+)', lambda found: f'"frame_id": {int(found[1]) + frame}', first)
        rest = payload(rest)
        if rest:
            body = "".join(line[1:] if line.startswith("\t") else line for line in rest)[:-1]
            first = CHECKSUM.sub(f'"has_payload": "{hashlib.md5(body.encode("utf-8", "surrogateescape")).hexdigest()}"', first)
        out += [first, *rest]
    return "".join(out)


def make(folder, n):
    """Writes N logs. Returns their paths."""
    texts, paths = sources(), []
    for i in range(n):
        model, text = texts[i % len(texts)]
        seed, which = i // len(texts), i // len(texts) % 2
        path = pathlib.Path(folder) / REVISIONS[which] / f"{model}_{seed // 2}.log.zst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed(varied(text, seed, 1.5 if which and model == "train" else 1)))
        paths.append(path)
    return paths


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder")
    options.add_argument("n", type=int)
    options.add_argument("--tapes", metavar="SYMTAPE")
    args = options.parse_args()
    for path in make(args.folder, args.n):
        if args.tapes:
            tape = path.with_name(path.name.replace(".log.zst", ".tape"))
            subprocess.run([args.tapes, "import", "-q", "-o", tape, path], check=True, stdout=subprocess.DEVNULL)
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
