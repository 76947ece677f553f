#!/usr/bin/env python3
"""Calls into the live PyTorch's ShapeEnv while it compiles, for conform_env.

usage: env_torch.py [--seed N] [--seconds S] [--out FILE] [--script FILE] [--expect PERCENT]
                    [CONFORM_ENV]

Compiles random programs (tests/differential/programs.py) with dynamic sizes, or runs a script,
and writes one row for each call into a ShapeEnv, with its arguments and result, and the final
state of each environment. CONFORM_ENV, when given, is run on the rows. Prints the seed first.
Exits with 77 where Python has no torch.
"""
import argparse
import inspect
import json
import logging
import os
import random
import runpy
import sys
import tempfile
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402,F401
import torch  # noqa: E402
import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from programs import random_program  # noqa: E402
from verdict import month_seed, verdict  # noqa: E402

METHODS = {  # and the arguments that are written, by name
    "create_symbol": ("val", "source", "dynamic_dim", "constraint_dim", "positive",
                      "do_not_specialize_zero_one"),
    "create_unspecified_symbol": ("val", "source", "dynamic_dim"),
    "create_unbacked_symint": (), "create_unbacked_symfloat": (), "create_unbacked_symbool": (),
    "evaluate_expr": ("orig_expr", "hint", "size_oblivious", "fallback_value", "forcing_spec"),
    "guard_or_defer_runtime_assert": ("orig_expr",),
    "_set_replacement": ("a", "tgt"), "_update_var_to_range": ("symbol", "vr"),
    "_constrain_range_for_size": ("a", "min", "max"),
    "constrain_symbol_range": ("s", "compiler_min", "compiler_max"),
    "_maybe_evaluate_static": ("expr", "unbacked_only", "compute_hint", "size_oblivious",
                               "axioms"),
    "_rename_unbacked_to": ("orig_s", "new_s"), "_eliminate_unbacked": ("orig_s", "new_s"),
    "freeze": (), "freeze_runtime_asserts": (), "produce_guards_verbose": ()}
SETTINGS = ("allow_scalar_outputs", "allow_dynamic_output_shape_ops", "assume_static_by_default",
            "specialize_zero_one", "duck_shape", "prefer_deferred_runtime_asserts_over_guards",
            "trace_asserts")
NOT_NESTED = ("evaluate_expr", "_maybe_evaluate_static")


def plain(x, floats):
    if isinstance(x, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        x = x.node.expr
    if x is None or isinstance(x, (bool, int)):
        return x
    if x in (sympy.true, sympy.false):
        return bool(x)
    if isinstance(x, float):
        return x
    if isinstance(x, sympy.Basic):
        if isinstance(x, sympy.Integer):
            return int(x)
        for f in x.atoms(sympy.Float):
            floats[str(f)] = repr(float(f))
        return str(x)
    if hasattr(x, "name") and hasattr(type(x), "make_guard"):  # a Source
        return x.name() if callable(x.name) else x.name
    if hasattr(x, "exprs"):  # what produce_guards_verbose makes for a language
        return list(x.exprs)
    if isinstance(x, (list, tuple)):
        return [plain(y, floats) for y in x]
    return str(x)


class Recorder:
    def __init__(self, write):
        self.write, self.envs, self.depth, self.rows = write, {}, 0, []

    def number(self, env):
        if env not in self.envs:
            self.envs[env] = len(self.envs)
            self.rows.append({"env": self.envs[env], "call": "settings",
                              "torch": torch.__version__,
                              **{k: getattr(env.settings, k) for k in SETTINGS}})
        return self.envs[env]

    def patch(self, name):
        method, signature = getattr(ShapeEnv, name), inspect.signature(getattr(ShapeEnv, name))

        def call(env, *args, **kwargs):
            if self.depth and name in NOT_NESTED:
                return method(env, *args, **kwargs)
            row = self.begin(env, name, signature.bind(env, *args, **kwargs).arguments)
            self.depth += 1
            start = time.perf_counter_ns()
            try:
                out = method(env, *args, **kwargs)
            except Exception as raised:
                row["raised"] = [type(raised).__name__, str(raised)[:200]]
                raise
            finally:
                row["ns"] = time.perf_counter_ns() - start
                self.depth -= 1
            floats = row.pop("floats", {})
            row["out"] = plain(out, floats)
            if floats:
                row["floats"] = floats
            return out

        for attribute in ("cache_clear", "cache_info"):  # of methods with an lru_cache
            if hasattr(method, attribute):
                setattr(call, attribute, getattr(method, attribute))
        setattr(ShapeEnv, name, call)

    def begin(self, env, name, arguments):
        row, floats = {"env": self.number(env), "depth": self.depth, "call": name}, {}
        for key in METHODS[name]:
            if key in arguments:
                row[key] = plain(arguments[key], floats)
        if env._suppress_guards_tls():
            row["suppressed"] = True
        if floats:
            row["floats"] = floats
        self.rows.append(row)
        return row

    def finish(self):
        for env, number in self.envs.items():
            text = lambda pairs: {str(k): str(v) for k, v in pairs.items()}
            self.rows.append({
                "env": number, "call": "final", "ranges": text(env.var_to_range),
                "replacements": text(env.replacements),
                "guards": [str(g.expr) for g in env.guards],
                "asserts": {str(k): [str(a.expr) for a in v]
                            for k, v in env.deferred_runtime_asserts.items()},
                "hints": text(env.backed_var_to_val),
                "divisible": sorted(str(d) for d in env.divisible)})
        for row in self.rows:
            self.write(row)


def compile_programs(rng, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        inputs, run = random_program(rng, refused=False)
        grad = rng.random() < 0.5
        inputs = [x.requires_grad_() if grad and x.is_floating_point() else x for x in inputs]
        mark_sizes(rng, inputs)
        torch._dynamo.reset()
        try:
            torch.compile(run, backend="aot_eager", dynamic=rng.choice([True, True, None]))(inputs)
        except Exception:
            pass


def mark_sizes(rng, inputs):
    """Some sizes are marked, as a user may."""
    for x in inputs:
        for dim in range(x.dim()):
            if x.shape[dim] > 1 and rng.random() < 0.15:
                mark = rng.choice([
                    lambda: torch._dynamo.maybe_mark_dynamic(x, dim),
                    lambda: torch._dynamo.mark_dynamic(x, dim),
                    lambda: torch._dynamo.mark_dynamic(x, dim, min=2, max=64),
                    lambda: torch._dynamo.mark_static(x, dim),
                    lambda: torch._dynamo.decorators.mark_unbacked(x, dim)])
                mark()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=month_seed())
    parser.add_argument("--expect", type=float, default=100, help="per cent of the rows")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--out")
    parser.add_argument("--script")
    parser.add_argument("conform", nargs="?")
    options = parser.parse_args()
    print(f"seed {options.seed}, torch {torch.__version__}", flush=True)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.manual_seed(options.seed)
    with (open(options.out, "w") if options.out else
          tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)) as out:
        recorder = Recorder(lambda row: out.write(json.dumps(row) + "\n"))
        for name in METHODS:
            if hasattr(ShapeEnv, name):
                recorder.patch(name)
        if options.script:
            runpy.run_path(options.script, run_name="__main__")
        else:
            compile_programs(random.Random(options.seed), options.seconds)
        recorder.finish()
    print(f"{len(recorder.rows)} rows of {len(recorder.envs)} environments", flush=True)
    if not options.conform:
        return 0
    failed = verdict([options.conform, "-v", "--live", out.name], options.expect)
    if not options.out and not failed:
        os.unlink(out.name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
