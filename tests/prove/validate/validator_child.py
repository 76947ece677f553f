"""Compiles random programs under PyTorch's own validator, and prints a row of JSON for each compile that it validated.

usage: validator_child.py SEED...                 the programs of these seeds
       validator_child.py --without '{SEED: EXPR}' those, with a guard left out of what the validator assumes
       validator_child.py --truncation           whether the validator proves int(u / 2) == u // 2

This is the child process of validator_torch.py, with TORCH_TRACE and TORCHDYNAMO_TRANSLATION_VALIDATION set. A row has the seed, the
compile and the verdict: "proved", "refuted", "unknown" (within the time), or "nothing" (no question, or no guard).
"""
import json
import linecache
import logging
import random
import re
import sys
import time
import types
import warnings
from pathlib import Path

import sympy
import torch
import z3
from torch._guards import CompileContext
from torch.fx.experimental import _config, validator
from torch.utils._sympy.functions import FloorDiv, IntTrueDiv, TruncToInt

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "differential")]
from programs import random_program # noqa: E402

SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 12)
TERMS = ("{a}", "{a} * {b}", "{a} + {b}", "{a} - {b}", "{a} // {k}", "{a} % {k}", "max({a}, {b})", "min({a}, {b})", "2 * {a} - {b}",
         "({a} * {b}) // {k}", "({a} + {b}) % {k}", "-{a} // {k}")
BODIES = ("x = x + 1", "x = x * 2", "y = y.cos()", "x = x[1:]", "y = y.reshape(-1)", "x = torch.cat([x, x])", "y = y.sum()[None]")
# Calls whose operators ask about sizes.
CALLS = ("x = x.reshape(-1)", "x = torch.cat([x.reshape(-1), y.reshape(-1)])", "x = x[:{k}]", "y = y.unsqueeze(0)", "x = x[x.shape[0] // 2:]",
         "x = x.reshape(-1)[: y.numel()]", "x = x.reshape(-1, {k})", "y = y.reshape({k}, -1)", "x = x + y", "x = x.reshape(-1) * y.reshape(-1)",
         "x = torch.stack([x, y])", "x, y = x.narrow(0, 1, {k}), x", "y = y.reshape(-1).narrow(0, x.shape[0] - 2, 2)", "x = x.chunk({k})[-1]",
         "x = x.reshape(-1).unfold(0, {k}, 1)", "y = y[y.shape[0] - {k}:]", "x = x.split({k})[1]", "x = x @ y.t()",
         "y = y.reshape(x.shape[0] // {k}, -1)", "x = x.expand(y.shape)", "y = torch.cat([x, y])", "x = x.select(0, {k})",
         "x = torch.nn.functional.max_pool1d(x.reshape(1, 1, -1), {k}, stride=2, padding=1)", "y = y.as_strided((x.shape[0], 2), (1, 1))",
         "x = torch.nn.functional.interpolate(x.reshape(1, 1, -1), scale_factor=2)", "y = torch.nn.functional.pad(y, (0, x.shape[0] - {k}))")


def dim(draw):
    return f"{draw.choice('xy')}.shape[{draw.choice((0, -1))}]"


def condition(draw):
    term = draw.choice(TERMS).format(a=dim(draw), b=dim(draw), k=draw.choice((2, 3, 4, 5)))
    return f"{term} {draw.choice(('<', '<=', '>', '>=', '==', '!='))} {draw.choice((0, 1, 2, 3, 5, 8, 20, dim(draw)))}"


def draw_lines(draw):
    yield "    x, y = xs"
    for _ in range(draw.randrange(1, 6)):
        if draw.random() < 0.6:
            yield "    " + draw.choice(CALLS).format(k=draw.choice((2, 3, 4)))
        else:
            yield f"    if {condition(draw)}:"
            yield "        " + draw.choice(BODIES)
    yield "    return x, y"


def size_program(draw, name):
    """A function whose branches and operators ask about sizes, and inputs that it takes."""
    while True:
        scope, base = {"torch": torch}, [draw.choice(SIZES) for _ in range(draw.choice((1, 2)))]
        lines = ["def f(xs):\n", *(line + "\n" for line in draw_lines(draw))]
        linecache.cache[name] = 0, None, lines, name
        exec(compile("".join(lines), name, "exec"), scope)
        inputs = [torch.ones([*base[:-1], draw.choice((base[-1], draw.choice(SIZES)))]) for _ in range(2)]
        try:
            scope["f"](inputs)
            return inputs, scope["f"]
        except Exception: # PyTorch refuses these sizes
            continue


def program(seed):
    draw = random.Random(seed)
    inputs, run = size_program(draw, f"program{seed}.py") if seed % 2 else random_program(draw, refused=False, most=5)
    # A code object of its own, for Dynamo to give it a frame id and a history of its own.
    return inputs, types.FunctionType(run.__code__.replace(co_name=f"f{seed}"), run.__globals__, run.__name__, None, run.__closure__)


def solve(self, targets):
    """What PyTorch's _validate() asks, of some of its targets."""
    if not self._source_exprs or not targets:
        return "nothing"
    solver = z3.SolverFor("QF_NRA")
    solver.set(timeout=_config.translation_validation_timeout)
    solver.add(*self._assertions, z3.Not(z3.And(*self._source_exprs)), *targets)
    return {"sat": "refuted", "unsat": "proved"}.get(str(solver.check()), "unknown")


class Watch:
    def __init__(self, without):
        self.without, self.seed = without, None
        add, run = validator.TranslationValidator.add_target_expr, self

        def add_target_expr(self, e):
            self.__dict__.setdefault("watched", []).append((e, self.to_z3_boolean_expr(e)))
            add(self, e)

        validator.TranslationValidator.add_target_expr = add_target_expr
        validator.TranslationValidator._validate = lambda self: run.validate(self)

    def validate(self, of):
        start = time.time()
        row = {"seed": self.seed, "compile": str(CompileContext.current_compile_id()), "verdict": solve(of, of._target_exprs)}
        row["seconds"] = round(time.time() - start, 3)
        if self.without:
            row |= self.leave_out(of, self.without[self.seed])
        print(json.dumps(row), flush=True)

    def leave_out(self, of, expr):
        """The verdict without a guard. Also left out: that a size of an input is its symbol, which the validator assumes besides, and
        of a guard on one symbol the range that follows from it, which the validator takes as given."""
        symbols = set(re.findall(r"\b[suz]\d+\b", expr))
        kept, found = [], False
        for e, ref in getattr(of, "watched", []):
            names = {str(one) for one in e.free_symbols}
            sources = any(not re.fullmatch(r"[suz]\d+", name) for name in names)
            swapped = isinstance(e, sympy.Eq) and str(sympy.Eq(e.rhs, e.lhs, evaluate=False)) == expr
            removed = str(e) == expr or swapped
            bound = isinstance(e, sympy.Le) and len(symbols) == 1 and names == symbols
            found |= removed
            if not sources and not removed and not bound:
                kept.append(ref)
        return {"found": found, "without": solve(of, kept)}


def truncation():
    of, u = validator.TranslationValidator(), sympy.Symbol("u0", integer=True)
    of.add_var(u, int)
    of.add_target_expr(sympy.Le(-12, u))
    of.add_source_expr(of.to_z3_boolean_expr(sympy.Eq(TruncToInt(IntTrueDiv(u, sympy.Integer(2))), FloorDiv(u, 2), evaluate=False)))
    print(json.dumps({"verdict": solve(of, of._target_exprs)}))


def main():
    if sys.argv[1] == "--truncation":
        return truncation()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    without = json.loads(sys.argv[2]) if sys.argv[1] == "--without" else {}
    watch = Watch({int(seed): expr for seed, expr in without.items()})
    for seed in map(int, without or sys.argv[1:]):
        watch.seed = seed
        inputs, run = program(seed)
        try:
            torch.compile(run, backend="eager", dynamic=True)(inputs)
        except Exception: # what PyTorch cannot compile is in the log as far as it got
            pass


if __name__ == "__main__":
    main()
