"""Small programs of PyTorch's own test databases (torch.testing, torch._export.db)."""
import itertools
import sys
import types

import torch

DTYPES = [torch.float32, torch.float32, torch.int64, torch.bool, torch.bfloat16]
PREFERRED = [torch.float32, torch.int64, torch.bool, torch.complex64]
MOST = 64  # inputs of an operator that are looked at


def operator_database():
    expecttest = types.ModuleType("expecttest")  # which torch.testing wants, and nobody needs here
    expecttest.TestCase = object
    sys.modules.setdefault("expecttest", expecttest)
    from torch.testing._internal.common_methods_invocations import op_db
    return op_db


def first_dtype(op):
    return next((x for x in PREFERRED if x in op.dtypes), None)


def full_name(op):
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def alternating(*iterables):
    """Their first items, their second items, and so on."""
    for row in itertools.zip_longest(*iterables):
        yield from (item for item in row if item is not None)


def operator_samples(op):
    """An operator's samples, each in evaluation and in training."""
    dtype = first_dtype(op)
    if dtype is None:
        return
    modes = [False, True] if op.supports_autograd and dtype.is_floating_point else [False]
    for sample in alternating(*(op.sample_inputs("cpu", dtype, requires_grad=grad) for grad in modes)):
        yield op.op, (sample.input, *sample.args), sample.kwargs


def operators():
    return ((full_name(op), operator_samples(op)) for op in operator_database())


def higher_order_operators():
    operator_database()
    from torch.testing._internal.hop_db import hop_db
    return ((full_name(op), operator_samples(op)) for op in hop_db)


def module_samples(info):
    def samples(training):
        return ((sample, training) for sample in info.module_inputs_func(
            info, "cpu", torch.float32, training, training))

    for sample, training in alternating(samples(False), samples(True)):
        made, given = sample.constructor_input, sample.forward_input
        if given is not None:
            module = info.module_cls(*made.args, **made.kwargs).train(training)
            yield module, given.args, given.kwargs


def modules():
    operator_database()
    from torch.testing._internal.common_modules import module_db
    return ((info.name, module_samples(info)) for info in module_db)


def export_samples(case):
    yield case.model, case.example_args, case.example_kwargs


def export_examples():
    from torch._export.db.examples import all_examples
    return ((name, export_samples(case)) for name, case in all_examples().items())


# What each database holds: pairs of a name and its samples, which are functions, arguments and
# keyword arguments.
DATABASES = {"op_db": operators, "module_db": modules, "hop_db": higher_order_operators,
             "export_db": export_examples}


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
