#!/usr/bin/env python3
"""A differential fuzzer: the live PyTorch's answers to random operator calls, for conform_ops.

usage: ops_torch.py [--seed N] [--seconds S] [--rows N]
                    [--samples | --concrete | --gradients | --composites | --errors | --quantized |
                     --quantized_values]
                    [--out FILE] [--expect PERCENT] [CONFORM_OPS]

Makes random tensors whose sizes are symbols (and some that are not), applies random chains of
operators to them under FakeTensorMode, and writes one row for each ATen call that the mode sees
(tests/differential/row.py). With --samples the calls come from PyTorch's own operator database
(torch.testing) instead; with --concrete from there too, on real tensors, and --errors takes what
that database says must be refused. --gradients takes backward's calls, too, and --composites the
calls of graphs before decomposition, as torch.export gives them; --quantized those of
quantized.py with symbols, and --quantized_values on real tensors. CONFORM_OPS (or conform_values, which
compares what the calls compute), when given, is run on the rows; its counts are the test's.
Prints the seed first: the same seed, PyTorch and number of rows give the same rows.

Exits with 77, "skipped" to meson, where Python has no torch.
"""
import argparse
import contextlib
import itertools
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import live  # noqa: E402,F401
import torch  # noqa: E402
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import (DimDynamic, ShapeEnv, StatelessSymbolicContext)
from torch._dynamo.source import ConstantSource
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from database import DTYPES, draw_inputs, operator_database  # noqa: E402
from row import describe, is_in_place, symbols_of, tree_map  # noqa: E402
from programs import random_program  # noqa: E402
import quantized as few_bits  # noqa: E402
from verdict import month_seed, verdict  # noqa: E402


# Errors that are no rule's: a kernel that is not made for symbols, a defect.
NOT_A_RULE = ("symbolic sizes/strides", "INTERNAL ASSERT", ".cpp:")


class TooLong(BaseException):
    """No Exception: those that PyTorch catches are none of ours."""


@contextlib.contextmanager
def limited(seconds=5):
    """Some calls keep sympy busy for minutes; their rows so far are written."""
    def stop(*_):
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except (Exception, TooLong):  # what PyTorch refuses is a row, too
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Recorder(TorchDispatchMode):
    """Writes a row for every call on its way to the FakeTensorMode below, or to the kernels."""

    def __init__(self, write, env=None):
        super().__init__()
        self.env, self.write = env, write

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace == "prim":  # device queries and the like: no operator calls
            return func(*args, **kwargs)
        row, said = describe(func, args, kwargs, values=self.env is None)
        given = [str(g.expr) for g in self.env.guards] if self.env else []
        try:
            out = func(*args, **kwargs)
        except Exception as raised:
            said["error"] = [type(raised).__name__, str(raised).split("\n")[0]]
            if "symbolic sizes/strides" not in str(raised):  # a kernel that is no symbolic one
                self.finish(row, said, given)
            raise
        said["out"] = row.value(out)
        if is_in_place(func):
            said["after"] = [row.value(x) for x in args]
        self.finish(row, said, given)
        return out

    def finish(self, row, said, given):
        if self.env:
            self.tell_environment(row, said, given)
        self.write(said)

    def tell_environment(self, row, said, given):
        said["given"] = given
        said["guards"] = [str(g.expr) for g in self.env.guards[len(given):]]
        for guard in self.env.guards:
            row.symbols |= guard.expr.free_symbols
        symbols_of(self.env, row.symbols, said)


def fake_tensor(mode, env, x, number, static):
    """x with a symbol for each size that `static` does not name."""
    dynamic = [DimDynamic.STATIC if i in static else DimDynamic.DYNAMIC for i in range(x.dim())]
    return mode.from_tensor(x, source=ConstantSource(f"__t{number}"),
                            symbolic_context=StatelessSymbolicContext(dynamic_sizes=dynamic))


def in_fake_mode(tensors, statics, body, write):
    env = ShapeEnv(duck_shape=False)
    with FakeTensorMode(shape_env=env, allow_non_fake_inputs=True) as mode:
        fakes = {id(x): fake_tensor(mode, env, x, i, static)
                 for i, (x, static) in enumerate(zip(tensors, statics))}
        with limited(), Recorder(write, env), enable_python_dispatcher():  # as compiling does
            body(lambda x: fakes.get(id(x), x))


def programs(rng, write):
    for _ in itertools.count():
        inputs, run = random_program(rng)
        statics = [{i for i in range(x.dim()) if rng.random() < 0.2} for x in inputs]
        in_fake_mode(inputs, statics, lambda fake: run([fake(x) for x in inputs]), write)
        yield


def database(rng, inputs):
    """Random operators of PyTorch's database, each with a few of its inputs."""
    operators = operator_database()
    while True:
        op = rng.choice(operators)
        dtype = rng.choice(DTYPES)
        found = draw_inputs(rng, op, dtype, inputs)
        for sample in rng.sample(found, min(4, len(found))):
            yield op, sample


def samples(rng, write):
    for op, sample in database(rng, lambda op, dtype: op.sample_inputs("cpu", dtype)):
        tensors = []
        tree_map(lambda x: tensors.append(x.detach()) if isinstance(x, torch.Tensor) else None,
                 (sample.input, sample.args, sample.kwargs))

        def body(fake, op=op, sample=sample, tensors=tensors):
            left = iter(tensors)
            x, args, kwargs = tree_map(
                lambda x: fake(next(left)) if isinstance(x, torch.Tensor) else x,
                (sample.input, sample.args, sample.kwargs))
            op.op(x, *args, **kwargs)

        in_fake_mode(tensors, [set()] * len(tensors), body, write)
        yield


def on_real_tensors(found, write):
    for op, sample in found:
        with limited(), Recorder(write):
            op.op(sample.input, *sample.args, **sample.kwargs)
        yield


def concrete(rng, write):
    return on_real_tensors(database(rng, lambda op, dtype: op.sample_inputs("cpu", dtype)), write)


def gradients(rng, write):
    def inputs(op, dtype):
        wants = dtype.is_floating_point and dtype in op.backward_dtypes
        return op.sample_inputs("cpu", dtype, requires_grad=wants)

    for op, sample in database(rng, inputs):
        with limited(), Recorder(write):
            out = op.op(sample.input, *sample.args, **sample.kwargs)
            leaves = [x for x in tree_flatten(out)[0] if isinstance(x, torch.Tensor)]
            leaves = [x for x in leaves if x.requires_grad]
            torch.autograd.backward(leaves, [torch.ones_like(x) for x in leaves])
        yield


class Telling(torch.fx.Interpreter):
    """Runs a graph of ATen calls, and writes a row for each."""

    def __init__(self, graph, write):
        super().__init__(graph)
        self.write = write

    def run_node(self, node):
        if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
            return super().run_node(node)
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        row, said = describe(node.target, args, kwargs, values=True)
        out = node.target(*args, **kwargs)
        said["out"] = row.value(out)
        if is_in_place(node.target):
            said["after"] = [row.value(x) for x in args]
        self.write(said)
        return out


def composites(rng, write):
    for op, sample in database(rng, lambda op, dtype: op.sample_inputs("cpu", dtype)):
        given, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
        at = [i for i, x in enumerate(given) if isinstance(x, torch.Tensor)]
        tensors = [given[i].detach() for i in at]

        def call(*tensors, op=op, given=given, at=at, spec=spec):
            leaves = list(given)
            for i, x in zip(at, tensors):
                leaves[i] = x
            x, args, kwargs = tree_unflatten(leaves, spec)
            return op.op(x, *args, **kwargs)

        with limited():
            Telling(make_fx(call, pre_dispatch=True)(*tensors), write).run(*tensors)
        yield


def errors(rng, write):
    found = database(rng, lambda op, dtype: (x.sample_input for x in op.error_inputs("cpu")))
    return on_real_tensors(found, lambda said: write(said) if "error" in said else None)


def quantized(rng, write):
    while True:
        op, args, kwargs = rng.choice(few_bits.FAKE)(rng)
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        statics = [{i for i in range(x.dim()) if rng.random() < 0.5} for x in tensors]

        def body(fake, op=op, args=args, kwargs=kwargs):
            op(*(fake(x) if isinstance(x, torch.Tensor) else x for x in args), **kwargs)

        with contextlib.suppress(RuntimeError):  # refused: a row of its own
            in_fake_mode(tensors, statics, body, write)
        yield


def quantized_values(rng, write):
    while True:
        op, args, kwargs = rng.choice(few_bits.REAL)(rng)
        with contextlib.suppress(RuntimeError), limited(), Recorder(write):
            op(*args, **kwargs)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=month_seed())
    parser.add_argument("--expect", type=float, default=100, help="per cent of the rows")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rows", type=int, default=10**9)
    for source in (samples, concrete, gradients, composites, errors, quantized,
                   quantized_values):
        parser.add_argument(f"--{source.__name__}", dest="source", action="store_const",
                            const=source, default=programs)
    parser.add_argument("--out")
    parser.add_argument("conform", nargs="?")
    options = parser.parse_args()
    print(f"seed {options.seed}, torch {torch.__version__}", flush=True)
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    logging.disable(logging.CRITICAL)  # FakeTensorMode reports what it refuses
    seen = set()
    with (open(options.out, "w") if options.out else
          tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False)) as out:
        def write(said):
            line = json.dumps(said)
            if line not in seen:
                seen.add(line)
                out.write(line + "\n")

        end = time.monotonic() + options.seconds
        for _ in options.source(rng, write):
            if time.monotonic() > end or len(seen) >= options.rows:
                break
    print(f"{len(seen)} rows", flush=True)
    if not options.conform:
        return 0
    failed = verdict([options.conform, "-v", "--torch", torch.__version__, out.name],
                     options.expect)
    if not options.out and not failed:
        os.unlink(out.name)
    return failed


if __name__ == "__main__":
    sys.exit(main())
