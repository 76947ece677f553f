#!/usr/bin/env python3
"""Random calls into a live torch's ShapeEnv, written as conform_env reads them.

usage: env_cases.py OUT.jsonl SEED [CALLS]          writes a recording
       env_cases.py check CONFORM_ENV SEED N        makes N recordings and runs them; 77: no torch

What the recordings of real models do not reach: constraints, mark_unbacked, ranges, expect_true,
floats, deferred asserts, every setting."""

import functools
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

PYTHON = os.environ.pop("SYMTAPE_PYTHON", None)
if PYTHON:
    os.execvp(PYTHON, [PYTHON, *sys.argv])

try:
    import sympy
    import torch
    from torch._dynamo.source import LocalSource, TensorProperty, TensorPropertySource
    from torch.fx.experimental import symbolic_shapes as ss
    from torch.utils._sympy.numbers import int_oo
    from torch.utils._sympy.value_ranges import ValueRanges
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)


class Recorder:
    def __init__(self, out):
        self.out, self.depth, self.envs = out, 0, {}

    def write(self, row):
        self.out.write(json.dumps(row) + "\n")

    def number(self, env):
        if id(env) not in self.envs:
            self.envs[id(env)] = len(self.envs)
            s = env.settings
            self.write({"env": self.envs[id(env)], "call": "settings",
                        **{f: getattr(s, f) for f in (
                            "allow_scalar_outputs", "allow_dynamic_output_shape_ops",
                            "assume_static_by_default", "specialize_zero_one", "duck_shape",
                            "prefer_deferred_runtime_asserts_over_guards", "trace_asserts")}})
        return self.envs[id(env)]


def plain(x, floats):
    if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        x = x.node.expr
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if x is sympy.true or x is sympy.false:
        return bool(x)
    if isinstance(x, sympy.Integer):
        return int(x)
    if isinstance(x, sympy.Basic):
        for f in x.atoms(sympy.Float):
            floats[str(f)] = repr(float(f))
        return str(x)
    if isinstance(x, (list, tuple)):
        return [plain(y, floats) for y in x]
    return str(x)


def wrap(recorder, name, params, listed_inside):
    original = getattr(ss.ShapeEnv, name)

    def run(self, *args, **kwargs):
        number = recorder.number(self)
        floats, row = {}, {"env": number, "depth": recorder.depth, "call": name}
        for p, a in list(zip(params, args)) + list(kwargs.items()):
            if p in ("source",) and a is not None:
                row[p] = a.name if isinstance(a.name, str) else a.name()
            elif p not in ("fx_node", "symbolic_context", "vr_sloc", "is_constraint", "msg"):
                row[p] = plain(a, floats)
            elif p == "msg" and name == "guard_or_defer_runtime_assert":
                row[p] = a
        if ss.ShapeEnv._suppress_guards_tls():
            row["suppressed"] = True
        recorder.depth += 1
        try:
            out = original(self, *args, **kwargs)
            row["out"] = plain(out, floats)
            return out
        except Exception as e:
            row["raised"] = f"{type(e).__name__}: {e}"
            raise
        finally:
            recorder.depth -= 1
            if floats:
                row["floats"] = floats
            row["ns"] = 1000
            if recorder.depth == 0 or listed_inside:
                recorder.write(row)

    for attribute in ("cache_clear", "cache_info"):
        if hasattr(original, attribute):
            setattr(run, attribute, getattr(original, attribute))
    setattr(ss.ShapeEnv, name, run)


CALLS = {
    "create_symbol": ["val", "source", "dynamic_dim", "constraint_dim", "positive",
                      "do_not_specialize_zero_one", "symbolic_context"],
    "create_unspecified_symbol": ["val", "source", "dynamic_dim", "constraint_dim"],
    "create_unbacked_symint": [], "create_unbacked_symfloat": [], "create_unbacked_symbool": [],
    "evaluate_expr": ["orig_expr", "hint", "fx_node", "size_oblivious", "fallback_value"],
    "guard_or_defer_runtime_assert": ["orig_expr", "msg", "fx_node"],
    "_maybe_evaluate_static": ["expr", "axioms", "var_to_range"],
    "_set_replacement": ["a", "tgt", "msg"],
    "_constrain_range_for_size": ["a", "min", "max"],
    "constrain_symbol_range": ["s", "compiler_min", "compiler_max"],
    "_rename_unbacked_to": ["orig_s", "new_s"],
    "freeze": [], "freeze_runtime_asserts": [],
}


def final(recorder, env):
    texts = lambda d: {str(k): str(v) for k, v in d.items()}
    recorder.write({"env": recorder.number(env), "call": "final",
                    "ranges": texts(env.var_to_range), "replacements": texts(env.replacements),
                    "guards": [str(g.expr) for g in env.guards],
                    "asserts": {str(k): [str(r.expr) for r in v]
                                for k, v in env.deferred_runtime_asserts.items()},
                    "hints": texts(env.backed_var_to_val),
                    "divisible": [str(d) for d in env.divisible]})


class Driver:
    """Random questions as Python code asks them."""

    def __init__(self, recorder, seed):
        self.r, self.rng = recorder, random.Random(seed)
        rng = self.rng
        self.env = ss.ShapeEnv(
            specialize_zero_one=rng.random() < 0.8, duck_shape=rng.random() < 0.7,
            prefer_deferred_runtime_asserts_over_guards=rng.random() < 0.25)
        recorder.number(self.env)
        self.contradicted = False
        self.ints, self.floats, self.bools, self.inputs = [], [], [], []

    def constraint(self, value):
        k = self.rng.random()
        if k < 0.6:
            return None
        if k < 0.8:
            return ss.RelaxedUnspecConstraint(warn_only=self.rng.random() < 0.5)
        low = self.rng.choice([0, 2, 2, 3, value])
        high = self.rng.choice([int_oo, value + 10, 64, value])
        if low > high:
            return None
        return ss.StrictMinMaxConstraint(vr=ValueRanges(low, high), warn_only=self.rng.random() < 0.3)

    def tensor(self, i):
        rng, D = self.rng, ss.DimDynamic
        shape = [rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 8, 12, 16, 24, 32]) for _ in range(rng.randint(1, 3))]
        x = torch.empty(shape)
        if rng.random() < 0.2 and len(shape) > 1:
            x = x.transpose(0, 1)
        dims = [rng.choice([D.DUCK, D.DUCK, D.DUCK, D.DYNAMIC, D.STATIC, D.UNBACKED]) for _ in x.shape]
        constraints = [None if d in (D.UNBACKED, D.STATIC) else self.constraint(v)
                       for d, v in zip(dims, x.shape)]
        context = ss.StatelessSymbolicContext(dynamic_sizes=dims, constraint_sizes=constraints)
        source = LocalSource(f"x{i}")
        size, stride, offset = self.env.create_symbolic_sizes_strides_storage_offset(
            x, source, symbolic_context=context)
        self.inputs.append((source, ss.FakeTensorMeta(size, stride, offset, False), context))
        self.ints += [s for s in size if isinstance(s, torch.SymInt)]

    def number(self, i):
        rng = self.rng
        k, source = rng.random(), LocalSource(f"n{i}")
        if k < 0.35:
            value = rng.choice([-3, 0, 1, 2, 7, 10])
            s = self.env.create_unspecified_symbol(value, source, ss.DimDynamic.DYNAMIC)
            self.ints.append(self.env.create_symintnode(s, hint=value, source=source))
            self.inputs.append((source, self.ints[-1], None))
        elif k < 0.55:
            value = rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 1e-5])
            s = self.env.create_unspecified_symbol(value, source, ss.DimDynamic.DYNAMIC)
            self.floats.append(self.env.create_symfloatnode(s, hint=value, source=source))
            self.inputs.append((source, self.floats[-1], None))
        elif k < 0.85:
            u = self.env.create_unbacked_symint()
            if rng.random() < 0.5:
                self.env._constrain_range_for_size(u.node.expr)
            elif rng.random() < 0.5:
                self.env.constrain_symbol_range(u.node.expr, compiler_min=rng.choice([-4, 0, 1]),
                                                compiler_max=rng.choice([9, 64, int_oo]))
            self.ints.append(u)
        elif k < 0.93:
            self.bools.append(self.env.create_unbacked_symbool())
        else:
            self.floats.append(self.env.create_unbacked_symfloat())

    def int_expr(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.25 or not self.ints:
            return rng.choice(self.ints) if self.ints and rng.random() < 0.75 else \
                rng.choice([0, 1, 2, 3, 4, 5, 8, 16, -1])
        a, b = self.int_expr(depth - 1), self.int_expr(depth - 1)
        op = rng.choice("+++-**//%mM")
        if op == "+":
            return a + b
        if op == "-":
            return a - b
        if op == "*":
            return a * b
        if op == "/":
            d = rng.choice([2, 3, 4, b])
            return a // d if not isinstance(d, int) or d != 0 else a
        if op == "%":
            d = rng.choice([2, 3, 4])
            return a % d
        return torch.sym_max(a, b) if op == "M" else torch.sym_min(a, b)

    def condition(self, depth=2):
        rng = self.rng
        if depth and rng.random() < 0.12:
            f = rng.choice([torch.fx.experimental.symbolic_shapes.sym_and,
                            torch.fx.experimental.symbolic_shapes.sym_or])
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return f(a, b)
        if self.bools and rng.random() < 0.1:
            return rng.choice(self.bools)
        if self.floats and rng.random() < 0.12:
            a, b = rng.choice(self.floats), rng.choice([0.0, 0.5, 1.0, rng.choice(self.floats)])
        else:
            a, b = self.int_expr(2), self.int_expr(rng.choice([0, 0, 1]))
        return rng.choice([lambda: a == b, lambda: a == b, lambda: a != b, lambda: a < b,
                           lambda: a <= b, lambda: a > b, lambda: a >= b])()

    def ask(self):
        rng = self.rng
        k = rng.random()
        if rng.random() < 0.08:
            self.ask_about_index()
        elif k < 0.05:
            int(self.int_expr(1))
        elif k < 0.08 and self.floats:
            float(rng.choice(self.floats))
        elif k < 0.35:
            bool(self.condition())
        elif k < 0.5:
            ss.guard_or_false(self.condition())
        elif k < 0.6:
            ss.guard_or_true(self.condition())
        elif k < 0.7:
            ss.statically_known_true(self.condition())
        elif k < 0.76:
            ss.guard_size_oblivious(self.condition())
        elif k < 0.92:
            torch._check(self.condition(), lambda: "said so")
        else:
            with self.env.suppress_guards():
                bool(self.condition())

    def ask_about_index(self):
        # As Inductor asks about an index below a size (sizevars.py, index_propagation.py).
        rng = self.rng
        x = sympy.Symbol("x0", integer=True, nonnegative=True)
        bound = self.int_expr(1)
        bound = bound.node.expr if isinstance(bound, torch.SymInt) else sympy.Integer(max(bound, 1))
        axioms = (sympy.Ge(x, 0), x < bound) + (self.env.get_axioms() if rng.random() < 0.7 else ())
        ranges = tuple(self.env.var_to_range.items()) + ((x, ValueRanges(0, rng.choice([9, int_oo]))),)
        a = rng.choice([x, x + 1, 2 * x, x - bound, -x])
        b = rng.choice([bound, bound + 1, 0, -1, bound * 2])
        e = rng.choice([sympy.Lt, sympy.Le, sympy.Ge, sympy.Eq, sympy.Ne])(a, b)
        self.env._maybe_evaluate_static(e, axioms=axioms, var_to_range=ranges)

    def produce(self):
        sources, placeholders, contexts = map(list, zip(*self.inputs)) if self.inputs else ([], [], [])
        row = {"env": self.r.number(self.env), "depth": 0, "call": "produce_guards_verbose", "ns": 1000}
        self.r.depth += 1
        try:
            out = self.env.produce_guards_verbose(placeholders, sources, input_contexts=contexts)
            row["out"] = [list(h.exprs) for h in out]
        except Exception as e:
            row["raised"] = f"{type(e).__name__}: {e}"
        self.r.depth -= 1
        self.r.write(row)

    def run(self, n):
        rng = self.rng
        for i in range(rng.randint(1, 3)):
            self.quietly(lambda: self.tensor(i))
        for i in range(rng.randint(0, 3)):
            self.quietly(lambda: self.number(i))
        for i in range(n):
            self.quietly(self.ask)
            if self.contradicted:
                return
            if rng.random() < 0.03:
                self.quietly(lambda: self.number(100 + i))
        self.produce()
        final(self.r, self.env)

    def quietly(self, f):
        try:
            f()
        except ss.GuardOnDataDependentSymNode:
            pass
        except (AssertionError, ValueError) as e:
            # A false assert: how far the environment got then depends on the order of Python's sets.
            self.contradicted |= " not in " in str(e) or "Invalid ranges" in str(e)
        except Exception:
            pass


def record(path, seed, n):
    with open(path, "w") as out:
        recorder = Recorder(out)
        for name, params in CALLS.items():
            wrap(recorder, name, params, name.startswith("create_"))
        Driver(recorder, seed).run(n)


def main():
    if sys.argv[1] != "check":
        import logging
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")
        record(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 60)
        return 0
    program, seed, n = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.jsonl") for i in range(n)]
        for i, path in enumerate(paths):
            subprocess.run([sys.executable, __file__, path, str(seed + i)], check=True)
        return subprocess.run([program, "-v"] + paths).returncode


if __name__ == "__main__":
    sys.exit(main())
