"""Makes random expressions and asks sympy and torch.utils._sympy what they become.

    sym_cases.py make SEED COUNT [FORM,...]  a table on stdout: one case a line, fields split by tabs
    sym_cases.py check PROGRAM SEED COUNT [FORM,...]
                                         makes one and compares PROGRAM's answers with it

A case is a formula in prefix form, what it is asked for, and the answer:

    str<TAB>(FloorDiv (Add s0 1) 2)<TAB>((s0 + 1)//2)

Forms: str, python and cpp text of the formula built step by step; size, the str() of what layers
compute of sizes, with products of sums; expand and canonical, the str() of
that rewriting; range, the bounds that bound_sympy gives; solve, what try_solve isolates the first
symbol to; imply, the implications. An answer of "!" means that Python raised.

SYMTAPE_PYTHON names an interpreter with PyTorch (default: this one); exits with 77 where there is
none. All sizes are the same as sympy's. Of the other forms three answers of a thousand may differ:
Identity of a number, Floats of more than double precision and relations with Piecewise are not
mirrored.
"""

import os
import random
import subprocess
import sys

PYTHON = os.environ.pop("SYMTAPE_PYTHON", None)
if PYTHON:
    os.execvp(PYTHON, [PYTHON, *sys.argv])

try:
    import sympy
    import torch  # noqa: F401
    import torch.fx.experimental.symbolic_shapes as ss
    import torch.utils._sympy.functions as fn
    from torch.utils._sympy.numbers import int_oo
    from torch.utils._sympy.printers import CppPrinter, PythonPrinter
    from torch.utils._sympy.solve import try_solve
    from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy
except ImportError:
    print("no PyTorch: skipped", file=sys.stderr)
    sys.exit(77)

SYMBOLS = {f"s{i}": sympy.Symbol(f"s{i}", integer=True, positive=True) for i in (0, 1, 2, 10)}
SYMBOLS |= {f"u{i}": sympy.Symbol(f"u{i}", integer=True) for i in (0, 1)}
FLOATS = {"zf0": sympy.Symbol("zf0", real=True)}
RANGES = {
    SYMBOLS["s0"]: ValueRanges(2, int_oo),
    SYMBOLS["s1"]: ValueRanges(2, 1024),
    SYMBOLS["s2"]: ValueRanges(0, int_oo),
    SYMBOLS["s10"]: ValueRanges(1, 7),
    SYMBOLS["u0"]: ValueRanges(-int_oo, int_oo),
    SYMBOLS["u1"]: ValueRanges(-3, 5),
}
NUMBERS = [0, 1, -1, 2, 2, 3, 4, 6, 8, -2, -4, 16, 64, 2**31, 2**63 - 1, -(2**63), 10**20]
RELATIONS = {"Eq": sympy.Eq, "Ne": sympy.Ne, "Lt": sympy.Lt, "Le": sympy.Le, "Gt": sympy.Gt,
             "Ge": sympy.Ge}
BUILD = {
    "Add": sympy.Add, "Mul": sympy.Mul, "Pow": sympy.Pow, "FloorDiv": fn.FloorDiv,
    "CleanDiv": fn.CleanDiv, "CeilDiv": fn.CeilDiv, "Mod": fn.Mod, "PythonMod": fn.PythonMod,
    "ModularIndexing": fn.ModularIndexing, "Max": fn.Max, "Min": fn.Min, "Where": fn.Where,
    "IntTrueDiv": fn.IntTrueDiv, "FloatTrueDiv": fn.FloatTrueDiv, "ToFloat": fn.ToFloat,
    "TruncToInt": fn.TruncToInt, "FloorToInt": fn.FloorToInt, "CeilToInt": fn.CeilToInt,
    "RoundToInt": fn.RoundToInt, "PowByNatural": fn.PowByNatural, "FloatPow": fn.FloatPow,
    "BitwiseFn_bitwise_and": fn.BitwiseFn_bitwise_and,
    "BitwiseFn_bitwise_or": fn.BitwiseFn_bitwise_or,
    "BitwiseFn_bitwise_xor": fn.BitwiseFn_bitwise_xor,
    "OpaqueUnaryFn_sqrt": fn.OpaqueUnaryFn_sqrt, "Identity": fn.Identity, "Abs": sympy.Abs,
    "And": sympy.And, "Or": sympy.Or, "Not": sympy.Not,
    "Piecewise": lambda c: sympy.Piecewise((1, c), (0, True)),
    "RoundDecimal": fn.RoundDecimal, "TruncToFloat": fn.TruncToFloat,
} | RELATIONS


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, depth):
        r = self.random
        if depth <= 0 or r.random() < 0.12:
            if r.random() < 0.35:
                return str(r.choice(NUMBERS[: 12 if r.random() < 0.93 else None]))
            return r.choice(list(SYMBOLS)[: 4 if r.random() < 0.75 else None])
        name = r.choice(["Add"] * 7 + ["Mul"] * 7 + ["FloorDiv"] * 5 + ["Mod", "PythonMod"] * 2
                        + ["Max", "Min"] * 2 + ["Sub"] * 4 + ["Square", "CleanDiv", "CeilDiv",
                           "ModularIndexing", "Trunc", "PowByNatural", "Bit", "Piecewise",
                           "Identity", "Where", "Abs"])
        sub = lambda: self.integer(depth - 1 - (r.random() < 0.4))  # noqa: E731
        if name == "Sub":
            return f"(Add {sub()} (Mul -1 {sub()}))"
        if name == "Square":
            return f"(Pow {sub()} {r.choice([2, 2, 3])})"
        if name in ("FloorDiv", "CleanDiv", "CeilDiv", "Mod", "PythonMod") and r.random() < 0.6:
            return f"({name} {sub()} {r.choice([2, 2, 3, 4, 8, 16, 6])})"
        if name == "ModularIndexing":
            return f"({name} {sub()} {r.choice([1, 2, 4])} {r.choice([2, 4, 8, 's0'])})"
        if name == "Trunc":
            kind = r.choice(["TruncToInt", "FloorToInt", "CeilToInt", "RoundToInt"])
            return f"({kind} {self.real(depth - 1)})"
        if name == "PowByNatural":
            return f"({name} {r.choice([2, 's0', 's1', 3])} {r.choice(['s0', 's1', 2, 5])})"
        if name == "Bit":
            return f"(BitwiseFn_bitwise_{r.choice(['and', 'or', 'xor'])} {sub()} {sub()})"
        if name == "Piecewise":
            return f"(Piecewise {self.relation(depth - 1)})"
        if name == "Where":
            return f"(Where {self.relation(depth - 1)} {sub()} {sub()})"
        if name in ("Identity", "Abs"):
            return f"({name} {sub()})"
        n = 3 if name in ("Add", "Mul", "Max", "Min") and r.random() < 0.3 else 2
        return f"({name} {' '.join(sub() for _ in range(n))})"

    def real(self, depth):
        r = self.random
        kind = r.choice(["IntTrueDiv"] * 3 + ["ToFloat", "FloatTrueDiv", "scaled", "sqrt", "zf", "pow"])
        if kind == "IntTrueDiv":
            return f"(IntTrueDiv {self.integer(depth - 1)} {self.integer(depth - 1)})"
        if kind == "FloatTrueDiv":
            return f"(FloatTrueDiv (ToFloat {self.integer(depth - 1)}) {r.choice(['2.0', '0.5', 'zf0'])})"
        if kind == "scaled":
            return f"(Mul {r.choice(['2.0', '0.5', '0.1', '1e-05', '1e+20'])} (ToFloat {self.integer(depth - 1)}))"
        if kind == "sqrt":
            return f"(OpaqueUnaryFn_sqrt (ToFloat {self.integer(depth - 1)}))"
        if kind == "pow":
            return f"(FloatPow (ToFloat {self.integer(depth - 1)}) 0.5)"
        return "zf0" if kind == "zf" else f"(ToFloat {self.integer(depth - 1)})"

    def relation(self, depth):
        r = self.random
        name = r.choice(list(RELATIONS))
        right = self.integer(depth - 1) if r.random() < 0.5 else str(r.choice([0, 1, 2, 3, 8]))
        return f"({name} {self.integer(depth)} {right})"

    def condition(self, depth):
        r = self.random
        if depth <= 0 or r.random() < 0.4:
            return self.relation(1)
        kind = r.choice(["And", "Or", "Not", "And", "Or"])
        if kind == "Not":
            return f"(Not {self.condition(depth - 1)})"
        return f"({kind} {' '.join(self.condition(depth - 1) for _ in range(r.choice([2, 2, 3])))})"

    def extent(self):
        """A size as layers make them: convolved, upsampled, padded, concatenated, divided."""
        r = self.random
        s = r.choice(list(SYMBOLS)[: 4 if r.random() < 0.9 else None])
        kind = r.choice(["symbol"] * 4 + ["conv", "conv", "up", "up", "twice", "scale", "scale", "cat", "div",
                        "pad", "blocks", "clamp", "number"])
        k = r.choice([2, 2, 3, 4, 8])
        part = f"(FloorDiv (Add {s} {r.choice([-1, -1, -2, -3, 1, 3])}) {k})"
        if kind == "conv":
            return f"(Add {part} {r.choice([1, 1, 2, -1])})"
        if kind == "twice":
            return f"(Add (FloorDiv (Add (FloorDiv (Add {s} -1) {k}) {r.choice([-1, 1])}) {r.choice([2, k])}) 1)"
        if kind == "up":
            return f"(Mul {r.choice([2, 2, 4, 6])} (Add {part} {r.choice([1, 1, -1])}))"
        if kind == "scale":
            return f"(Mul {r.choice([2, 3, 4, 8])} {s})"
        if kind == "cat":
            return f"(Add (Mul {r.choice([1, 1, 2])} {s}) {r.choice([*SYMBOLS, 1, 2, -1, 8])})"
        if kind == "div":
            return f"(FloorDiv {s} {k})"
        if kind == "pad":
            return f"(Add {s} (PythonMod (Mul -1 {s}) {k}))"
        if kind == "blocks":
            return f"(Mul {k} (FloorDiv (Add {s} {k - 1}) {k}))"
        if kind == "clamp":
            return f"({r.choice(['Max', 'Min'])} {r.choice([1, 2, 8, 's1'])} (Add {s} {r.choice([0, -1, 1])}))"
        return str(k) if kind == "number" else s

    def sizes(self):
        """What ShapeEnv asks of sizes: numels, strides, and quotients of them."""
        r = self.random
        extents = [self.extent() for _ in range(r.choice([1, 2, 2, 3, 3, 4]))]
        if r.random() < 0.4:
            extents.append(str(r.choice([2, 3, 4, 8, 32])))
        r.shuffle(extents)
        numel = extents[0]
        for e in extents[1:]:
            numel = f"(Mul {numel} {e})" if r.random() < 0.8 else f"(Mul {e} {numel})"
        part = r.sample(extents, r.randint(1, min(2, len(extents))))
        divisor = part[0] if len(part) == 1 else f"(Mul {' '.join(part)})"
        if r.random() < 0.2:
            divisor = str(r.choice([2, 3, 4, 6, 8, 16]))
        kind = r.choice(["numel", "floor", "floor", "floor", "mod", "sum", "sumfloor", "sub", "scaled", "again",
                         "ceil", "bound"])
        if kind == "numel":
            return numel
        if kind == "floor":
            return f"(FloorDiv {numel} {divisor})"
        if kind == "mod":
            return f"({r.choice(['Mod', 'PythonMod'])} {numel} {divisor})"
        if kind == "sum":
            return f"(Add {numel} {self.extent()} {r.choice([1, -1, 2])})"
        if kind == "sumfloor":
            return f"(FloorDiv (Add {numel} (Mul {self.extent()} {part[0]})) {divisor})"
        if kind == "sub":
            return f"(Add {numel} (Mul -1 {divisor}))"
        if kind == "scaled":
            return f"(Mul {r.choice([-1, 2, 3])} {numel})"
        if kind == "again":
            return f"(Mul (FloorDiv {numel} {divisor}) {self.extent()})"
        if kind == "ceil":
            return f"(CeilToInt (IntTrueDiv {numel} {divisor}))"
        return f"({r.choice(['Max', 'Min'])} {r.choice([0, 1, 2])} {numel})"

    def formula(self, form):
        r = self.random
        if form == "size":
            return self.sizes()
        if form in ("solve", "imply"):
            return self.relation(r.choice([1, 2]))
        if form == "canonical":
            return self.condition(2) if r.random() < 0.5 else self.relation(2)
        p = r.random()
        if p < 0.7:
            return self.integer(r.choice([1, 2, 2, 3]))
        if p < 0.8:
            return self.real(2)
        return self.relation(2) if p < 0.92 else self.condition(2)


def tokens(text):
    return text.replace("(", " ( ").replace(")", " ) ").split()


def build(toks):
    tok = toks.pop(0)
    if tok != "(":
        if tok in SYMBOLS:
            return SYMBOLS[tok]
        if tok in FLOATS:
            return FLOATS[tok]
        return sympy.Integer(tok) if tok.lstrip("-").isdigit() else sympy.Float(float(tok))
    name = toks.pop(0)
    args = []
    while toks[0] != ")":
        args.append(build(toks))
    toks.pop(0)
    return BUILD[name](*args)


def first_symbol(e):
    return min(e.free_symbols, key=lambda s: s.name)


def answer(form, text):
    e = build(tokens(text))
    if isinstance(e, bool):
        e = sympy.true if e else sympy.false
    if form in ("str", "size"):
        return str(e)
    if form == "python":
        return PythonPrinter().doprint(e)
    if form == "cpp":
        return CppPrinter().doprint(e)
    if form == "expand":
        return str(ss.safe_expand(e))
    if form == "canonical":
        return str(ss.canonicalize_bool_expr(e))
    if form == "range":
        vr = bound_sympy(e, RANGES)
        return f"{vr.lower!s} {vr.upper!s}"
    if not isinstance(e, sympy.Rel) or not e.free_symbols:
        return "none"
    if form == "solve":
        r = try_solve(e, first_symbol(e))
        return "none" if r is None else f"{r[0]!s}"
    pairs = ss.ShapeEnv().get_implications(e)
    return "; ".join(f"{p!s}: {v!s}" for p, v in pairs)


FORMS = ["str"] * 6 + ["size"] * 4 + ["python", "python", "cpp", "expand", "canonical", "canonical", "range",
                       "range", "range", "solve", "imply"]


def cases(seed, count, forms=None):
    maker = Maker(seed)
    for _ in range(count):
        form = maker.random.choice(forms or FORMS)
        text = maker.formula(form)
        try:
            reply = answer(form, text)
        except Exception:  # what Python refuses is an answer too
            reply = "!"
            if "Piecewise" in text:  # a PolynomialError of sympy.gcd, which is not mirrored
                continue
        if "\n" not in reply and len(reply) < 400 and "zoo" not in reply:
            yield form, text, reply


def check(program, seed, count, forms):
    rows = list(cases(seed, count, forms))
    asked = "".join(f"{form}\t{text}\n" for form, text, _ in rows)
    done = subprocess.run([program], input=asked, capture_output=True, text=True, check=False)
    given = done.stdout.split("\n")
    if done.returncode or len(given) < len(rows):
        print(f"{program} ended with {done.returncode} after {len(given)} answers: {done.stderr}")
        return 1
    wrong = {}
    total = {}
    for (form, text, reply), got in zip(rows, given):
        total[form] = total.get(form, 0) + 1
        if got != reply:
            wrong.setdefault(form, []).append((text, reply, got))
    for form, n in sorted(total.items()):
        bad = wrong.get(form, [])
        print(f"{form}: {n - len(bad)} of {n} equal")
        for text, reply, got in bad[:25]:
            print(f"  {text}\n    sympy: {reply}\n    ours:  {got}")
    n_wrong = sum(len(bad) for bad in wrong.values())
    print(f"seed {seed}: {len(rows) - n_wrong} of {len(rows)} equal")
    return 1 if "size" in wrong or n_wrong * 1000 > len(rows) * 3 else 0


def main():
    command, *rest = sys.argv[1:]
    if command == "make":
        for row in cases(int(rest[0]), int(rest[1]), rest[2].split(",") if rest[2:] else None):
            print("\t".join(row))
        return 0
    return check(rest[0], int(rest[1]), int(rest[2]), rest[3].split(",") if rest[3:] else None)


if __name__ == "__main__":
    sys.exit(main())
