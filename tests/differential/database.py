"""Small programs of PyTorch's own operator database (torch.testing)."""
import itertools
import sys
import types

import torch

DTYPES = [torch.float32, torch.float32, torch.int64, torch.bool, torch.bfloat16]
MOST = 64  # inputs of an operator that are looked at


def operator_database():
    expecttest = types.ModuleType("expecttest")  # which torch.testing wants, and nobody needs here
    expecttest.TestCase = object
    sys.modules.setdefault("expecttest", expecttest)
    from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def draw_inputs(rng, op, dtype, inputs):
    """All of an operator's first inputs for a dtype; none where it has none, or a test's limits."""
    if dtype not in op.dtypes:
        return []
    torch.manual_seed(0)
    try:
        return list(itertools.islice(inputs(op, dtype), MOST))
    except Exception:  # the database's own limits
        return []


def sample_program(rng, number=None):
    """Inputs, and a function of such inputs: a random operator's, or that of this number."""
    operators, found = operator_database(), []
    while not found:
        op = rng.choice(operators) if number is None else operators[number % len(operators)]
        if number is not None and not op.dtypes & set(DTYPES):
            return [], lambda tensors: []
        found = draw_inputs(rng, op, rng.choice(DTYPES),
                            lambda op, dtype: op.sample_inputs("cpu", dtype))
    sample, tensors = rng.choice(found), []

    def number_of(x):
        """x with its tensors replaced by their places."""
        if isinstance(x, torch.Tensor):
            tensors.append(x.detach())
            return Place(len(tensors) - 1)
        if type(x) in (list, tuple):
            return type(x)(number_of(y) for y in x)
        return x

    args = [number_of(x) for x in (sample.input, *sample.args)]
    kwargs = {k: number_of(v) for k, v in sample.kwargs.items()}
    function = op.op

    def run(given):
        return function(*[filled(x, given) for x in args],
                        **{k: filled(v, given) for k, v in kwargs.items()})

    return tensors, run


class Place(int):
    """The number of a tensor."""


def filled(x, given):
    if isinstance(x, Place):
        return given[x]
    if type(x) in (list, tuple):
        return type(x)([filled(y, given) for y in x])
    return x
