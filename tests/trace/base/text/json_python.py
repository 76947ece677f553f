#!/usr/bin/env python3
"""Our JSON reader beside Python's, which wrote the logs: the same texts accepted, the same values.

usage: json_python.py JSON_LINES    (the program built from json_lines.c)
"""
import json
import random
import subprocess
import sys

KEYS = ["", "a", "stack", "é", "\ud800", "tab\t", "\x7f", "😀", "\udc00\ud800", '"', "\\u0041"]
SCALARS = [None, True, False, 0, -1, 2**31, -(2**63), 2**64, 10**40, 1.5, -0.0, 1e308, 5e-324,
           float("nan"), float("inf"), -float("inf")]
NOISE = ['"', "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "0", "1", "-", "+", ".", "e", "E", "u",
         "N", "null", "tru", "\\u", "\\ud8", "\x01", "\x1f", "é", "'", "//", "NaN", "Infinity", "-I"]


def value(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.4:
        return rng.choice(SCALARS + KEYS)
    if kind < 0.7:
        return [value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {rng.choice(KEYS): value(rng, depth - 1) for _ in range(rng.randrange(5))}


def damaged(rng, text):
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(text) + 1)
        cut = rng.randrange(3)
        text = text[:at] + rng.choice(NOISE + [""]) + text[at + cut:]
    return text


class Spelt(str):
    """A number as it was written."""


class Pairs(list):
    """An object with its members in order, twice the same key included."""


def shown(v):
    if v is None or v is True or v is False:
        return {None: "n", True: "t", False: "f"}[v] + " "
    if isinstance(v, Spelt):
        return "#" + v + " "
    if isinstance(v, str):
        return '"' + v.encode("utf-8", "surrogatepass").hex() + " "
    if isinstance(v, Pairs):
        return "{%d " % len(v) + "".join(shown(k) + shown(x) for k, x in v)
    return "[%d " % len(v) + "".join(map(shown, v))


def expected(text):
    try:
        return shown(json.loads(text, object_pairs_hook=Pairs, parse_int=Spelt, parse_float=Spelt,
                                parse_constant=Spelt))
    except (ValueError, RecursionError):
        return "-"


def main():
    rng = random.Random(1)
    texts = []
    for _ in range(4000):
        text = json.dumps(value(rng, 5), ensure_ascii=rng.random() < 0.7,
                          indent=rng.choice([None, None, 0, 2]))
        texts += [text, damaged(rng, text), damaged(rng, text)]
    texts = [t for t in texts if "\0" not in t]
    # \x01 and digits is a reference on a tape, which Python does not know.
    texts = [t for t in texts if "\x01" not in t or not any(c + 1 < len(t) and t[c] == "\x01"
             and t[c + 1].isdigit() for c in range(len(t)))]
    raw = b"".join(t.encode("utf-8", "surrogatepass") + b"\0" for t in texts)
    answers = subprocess.run([sys.argv[1]], input=raw, stdout=subprocess.PIPE, check=True)
    lines = answers.stdout.decode().split("\n")
    assert len(lines) == len(texts) + 1, (len(lines), len(texts))
    wrong = [(t, a, expected(t)) for t, a in zip(texts, lines) if a != expected(t)]
    for text, ours, theirs in wrong[:5]:
        print(f"{text!r}\n  ours:   {ours}\n  Python: {theirs}")
    refused = sum(a == "-" for a in lines[:-1])
    print(f"{len(texts)} texts, {refused} of them refused by both, {len(wrong)} read differently")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
