#!/usr/bin/env python3
"""Random inputs with Dims and random guards on them: what the installed PyTorch says of them at the
end of torch.export (produce_guards, DimConstraints), beside what the shape engine says.

usage: dims_cases.py check ANSWERS SEED N    each case beside ANSWERS's (dims_answers.c)
       dims_cases.py write SEED N            cases with PyTorch's texts, for tests/replay/shape/dims_cases.txt"""
import logging
import os
import random
import subprocess
import sys

PYTHON = os.environ.pop('SYMTAPE_PYTHON', None)
if PYTHON:
    os.execvp(PYTHON, [PYTHON, *sys.argv])

try:
    import sympy
    import torch
    from torch._dynamo.source import LocalSource, TensorProperty, TensorPropertySource
    from torch._subclasses import FakeTensorMode
    from torch.export import Dim
    from torch.fx.experimental.symbolic_shapes import (ConstraintViolationError, DimDynamic,
                                                       EqualityConstraint, ShapeEnv,
                                                       StatelessSymbolicContext,
                                                       StrictMinMaxConstraint)
    from torch.utils._sympy.functions import FloorDiv, Mod
    from torch.utils._sympy.numbers import int_oo
    from torch.utils._sympy.value_ranges import ValueRanges
except ImportError:
    print('skipped: this Python has no PyTorch')
    sys.exit(77)

logging.disable(logging.CRITICAL)


class Case:
    """Two or three tensors; sizes are numbers, Dims, or derive from one."""

    def __init__(self, rng):
        self.rng = rng
        self.roots, self.derived = {}, {}
        self.values = {}
        for name in ['dx', 'dy', 'batch'][:rng.randint(1, 3)]:
            low = rng.choice([None, None, 2, 3, 4])
            high = rng.choice([None, None, 64, 100, 33])
            value = rng.choice([4, 6, 7, 8, 9, 12, 13, 24, 30])
            if low and value < low:
                value = low
            self.roots[name] = Dim(name, **({'min': low} if low else {}), **({'max': high} if high else {}))
            self.values[name] = value
        self.tensors = []
        for t in 'xyz'[:rng.randint(1, 3)]:
            dims, sizes = [], []
            for _ in range(rng.randint(1, 2)):
                kind = rng.random()
                root = rng.choice(list(self.roots))
                if kind < .55:
                    dims.append(self.roots[root])
                    sizes.append(self.values[root])
                elif kind < .7 and any(d is self.roots[root] for _, ds, _ in self.tensors for d in ds):
                    mul, add = rng.choice([(1, 1), (2, 0), (1, 2), (2, 1), (3, 0)])
                    dim = self.roots[root]
                    dim = mul * dim if mul > 1 else dim
                    dim = dim + add if add else dim
                    self.derived[dim.__name__] = (root, mul, add)
                    dims.append(dim)
                    sizes.append(mul * self.values[root] + add)
                else:
                    dims.append(None)
                    sizes.append(rng.choice([3, 5, 8, 16]))
            self.tensors.append((t, dims, sizes))

    def build(self):
        env = self.env = ShapeEnv()
        mode = FakeTensorMode(shape_env=env)
        self.fakes, self.sources, self.contexts = [], [], []
        first, self.pairs, self.equations, self.names = {}, [], [], {}
        for t, dims, sizes in self.tensors:
            source = LocalSource(t)
            constraints = []
            for i, dim in enumerate(dims):
                size = TensorPropertySource(source, TensorProperty.SIZE, i)
                if dim is None:
                    constraints.append(None)
                    continue
                constraints.append(StrictMinMaxConstraint(vr=ValueRanges(dim.min, dim.max), warn_only=False))
                self.names[size.name] = dim.__name__
                env.source_name_to_debug_name[size.name] = dim.__name__
                if dim.__name__ in self.derived:
                    root, mul, add = self.derived[dim.__name__]
                    self.equations.append((size, first[root], lambda x, m=mul, a=add: m * x + a,
                                           dim.__name__, root))
                elif dim.__name__ in first:
                    self.pairs.append((size, first[dim.__name__]))
                else:
                    first[dim.__name__] = size
            context = StatelessSymbolicContext(
                dynamic_sizes=[DimDynamic.DYNAMIC if d is not None else DimDynamic.STATIC for d in dims],
                constraint_sizes=constraints)
            self.fakes.append(mode.from_tensor(torch.empty(sizes), source=source, symbolic_context=context))
            self.sources.append(source)
            self.contexts.append(context)
        self.symbols = [s.node.expr for f in self.fakes for s in f.shape if isinstance(s, torch.SymInt)]

    def guard(self):
        """Of a kind that models ask, and true."""
        rng = self.rng
        hint = self.env.backed_var_to_val
        s = rng.choice(self.symbols)
        t = rng.choice(self.symbols)
        v = int(hint[s])
        k = rng.choice([2, 2, 3, 4, 5, 6])
        return rng.choice([
            lambda: sympy.Eq(Mod(s, k), v % k),
            lambda: sympy.Gt(s, rng.randint(1, v - 1)) if v > 2 else sympy.Ge(s, 2),
            lambda: sympy.Lt(s, v + rng.randint(1, 40)),
            lambda: sympy.Le(s, v + rng.randint(1, 40)),
            lambda: sympy.Ne(s, v + 1),
            lambda: sympy.Eq(s - t, v - int(hint[t])),
            lambda: sympy.Le(FloorDiv(s, k), v // k + rng.randint(0, 9)),
            lambda: sympy.Lt(s * s, v * v + rng.randint(1, 999)),
            lambda: sympy.Eq(s, v),
            lambda: sympy.Eq(2 * s, t) if 2 * v == int(hint[t]) else sympy.Ge(s, v - 1 if v > 3 else 2),
            lambda: sympy.Lt(s, t) if v < int(hint[t]) else sympy.Le(t, s),
            lambda: sympy.Eq(FloorDiv(s, 2), v // 2),
            lambda: sympy.Eq(FloorDiv(s + FloorDiv(s + k - 1, k) - 1, FloorDiv(s + k - 1, k)),
                             (v + (v + k - 1) // k - 1) // ((v + k - 1) // k)),
            lambda: sympy.Eq(Mod(s, FloorDiv(s, 2)), v % (v // 2)),
            lambda: sympy.Eq(FloorDiv(s, FloorDiv(s, 2)), v // (v // 2)),
            lambda: sympy.Ge(s - FloorDiv(s + 1, 2), 0),
            lambda: sympy.Gt(FloorDiv(s - 1, 2) * k, 0) if v > 2 else sympy.Ge(s, 2),
            lambda: sympy.Eq(s * s, v * v),
            lambda: sympy.Le(FloorDiv(FloorDiv(s, 2), 2), v),
        ])()

    def shapes(self):
        return {t: {i: d for i, d in enumerate(dims) if d is not None} for t, dims, _ in self.tensors}

    def torch_says(self):
        equalities = EqualityConstraint(
            source_pairs=self.pairs, derived_equalities=[e[:3] for e in self.equations], phantom_symbols=[],
            relaxed_sources=set(), warn_only=False)
        error = None
        try:
            self.env.produce_guards(self.fakes, self.sources, input_contexts=self.contexts,
                                    equalities_inputs=equalities, ignore_static=False)
        except ConstraintViolationError as e:
            error = str(e)
        solver = self.env.dim_constraints
        if solver is None:
            return error or ''
        solver.solve()
        forced = solver.forced_specializations()
        text = solver.prettify_results(None, self.shapes(), error, forced)
        return error + text if error else text if forced else ''

    def describe(self, guards):
        out = ['case']
        for name, dim in self.roots.items():
            out.append(f'dim {name} {dim.min} {"-" if dim.max is int_oo else dim.max}')
        for name, (root, mul, add) in self.derived.items():
            out.append(f'derived {root} {mul} {add} {name}')
        for t, dims, sizes in self.tensors:
            out.append(f"input L['{t}'] " + ' '.join(map(str, sizes)))
            for i, dim in enumerate(dims):
                if dim is not None:
                    out.append(f'size {i} {dim.min} {"-" if dim.max is int_oo else dim.max} {dim.__name__}')
        out += [f'guard {g}' for g in guards]
        return '\n'.join(out) + '\nend\n'


def cases(seed, n):
    rng = random.Random(seed)
    made = 0
    while made < n:
        case = Case(rng)
        try:
            case.build()
        except Exception:  # a hint outside of its range
            continue
        if not case.symbols:
            continue
        guards = []
        try:
            for _ in range(rng.randint(1, 4)):
                g = case.env.replace(case.guard())
                if g in (sympy.true, sympy.false) or not g.free_symbols:
                    continue
                case.env.evaluate_expr(g)
                guards.append(g)
            text = case.torch_says()
        except Exception:  # sympy gave up, or what it solved is no number
            continue
        made += 1
        yield case.describe(guards), text


def settled(text):
    """Constraints of one symbol are a set, and so are several bounds of one square."""
    text = text.replace('Specializations unexpectedly', '\nSpecializations unexpectedly')
    return sorted(line for line in text.splitlines() if '*' not in line or 'Dim(' not in line)


def main():
    if sys.argv[1] == 'write':
        for given, text in cases(int(sys.argv[2]), int(sys.argv[3])):
            print(given + text + '\n--')
        return 0
    answers, seed, n = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print(f'seed {seed}')
    made = list(cases(seed, n))
    got = subprocess.run([answers], input=''.join(given for given, _ in made).encode(), stdout=subprocess.PIPE,
                         check=True).stdout.decode().split('\n--\n')
    failed = 0
    for (given, text), ours in zip(made, got):
        if settled(ours) != settled(text):
            failed += 1
            if failed <= 5:
                print(f'{given}torch:\n{text}\nours:\n{ours}\n')
    print(f'{len(made) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
