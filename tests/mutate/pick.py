"""What mutations are made of: numbers at the edges of types, and texts that something reads as code,
as the end of a line, or as a command to a terminal."""
import random

# A file of this name must never be there: whoever runs one of the texts below leaves it behind.
TRAP = "symtape-was-here"

NUMBERS = [0, 1, -1, 2, 3, 7, 8, 16, 31, 64, 100, 127, 128, 255, 256, 1000, 4096, 32767, 65535, 65536, 10**6,
           2**31 - 1, 2**31, -2**31, 2**32 - 1, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, -2**63, 2**64 - 1,
           2**64, -2**64, 10**30, 10**400]

FLOATS = [0.0, -0.0, 0.5, 1e-320, 1e308, 1.7976931348623157e308, float("inf"), -float("inf"), float("nan")]

CODE = [f"__import__('os').system('touch {TRAP}')",
        f"eval(\"__import__('os').system('touch {TRAP}')\")",
        f"torch.os.system('touch {TRAP}')",
        f"builtins.exec('import os; os.system(\"touch {TRAP}\")')",
        f"x\rimport os; os.system('touch {TRAP}') #",
        f"x\nimport os; os.system('touch {TRAP}')",
        f"x\n    __import__('os').system('touch {TRAP}')\n",
        f"a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029__import__('os').system('touch {TRAP}')",
        f"cpu\", layout=__import__('os').system('touch {TRAP}') and None, device=\"cpu",
        f"'+__import__('os').system('touch {TRAP}')+'",
        f"\"\"\"+__import__('os').system('touch {TRAP}')+\"\"\"",
        f"$(touch {TRAP})", f"`touch {TRAP}`", f"; touch {TRAP}; ", f"| touch {TRAP}"]

TERMINAL = ["\x1b[2J", "\x1b]0;PWNED\x07", "\x1b]8;;http://x/\x07link\x1b]8;;\x07", "\x9b2J", "\x90q\x9c",
            "\u202eright to left", "\x08\x08\x08", "\x7f", "\0", "<img src=x onerror=alert(1)>",
            "](javascript:alert(1))", "```\n# title\n", "\ud800", "\udfff\ud83d"]

PATHS = ["", ".", "..", "../../../../tmp/" + TRAP, "/dev/null", "/dev/full", "/proc/self/mem", "~/x", "-o",
         "--help", "%s%n%d", "a" * 300, "x" * 5000, "é", "\udcff\udcfe"]

DTYPES = ["f32", "f64", "f16", "bf16", "i64", "i32", "u8", "b8", "c64", "c128", "f8e4m3fn", "i1", "f99", ""]


def number(rng):
    return rng.choice(NUMBERS) + rng.choice((0, 0, 0, 1, -1))


def hostile(rng):
    return rng.choice(rng.choice((CODE, CODE, TERMINAL, PATHS)))


def one_of(rng, *weighted):
    """Calls one of the functions: (weight, function) each."""
    return rng.choices([f for _, f in weighted], [w for w, _ in weighted])[0]()


def seeded(*parts):
    return random.Random("/".join(map(str, parts)))


def flip_bytes(rng, raw):
    """A few bytes changed, a piece cut out or doubled, or the end lost."""
    raw = bytearray(raw)
    for _ in range(rng.randint(1, 3)):
        if not raw:
            break
        at, size = rng.randrange(len(raw)), rng.randint(1, 64)
        kind = rng.randrange(6)
        if kind < 3:
            raw[at] = rng.choice((raw[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 255))
        elif kind == 3:
            del raw[at:at + size]
        elif kind == 4:
            raw[at:at] = raw[at:at + size]
        else:
            del raw[at:]
    return bytes(raw)
