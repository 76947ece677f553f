"""Compiles three small models, or one of tests/cost_model_program.py; with "count", once as PyTorch does it and once
for each ablation, which is made for real by patching PyTorch, and prints what PyTorch counted, as JSON; with "time",
also the seconds in dispatches, for each the least of five more compiles, made in turn; with "again",
compiles them four times more, with what PyTorch keeps from the first time.

    ablated.py [count|time|again] [MODEL:train|eval ...]
"""
import collections
import contextlib
import gc
import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._subclasses import fake_impls, fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.utils._stats import simple_call_counter

torch.manual_seed(0)
torch._dynamo.config.specialize_float = True  # else the first attempts are thrown away
aten = torch.ops.aten


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        x = x + self.out((q @ k.transpose(1, 2) * 0.25).softmax(-1) @ v)
        return x + self.mlp(self.norm(x))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.convs = nn.ModuleList(nn.Conv2d(8, 8, 3, padding=1) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(8) for _ in range(2))

    def forward(self, x):
        x = self.first(x)
        for conv, norm in zip(self.convs, self.norms):
            x = torch.relu(x + norm(conv(x)))
        return F.adaptive_avg_pool2d(x, 1).flatten(1)


class Gates(nn.Module):
    """Broadcasts, so that the fast path is attempted in vain, too."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, y):
        x = self.linear(x).transpose(0, 1)
        gate = torch.sigmoid(x.sum(1, keepdim=True) + y.sum(0, keepdim=True))
        return (x * gate - y / (1 + y.abs())).relu() + x


MODELS = {
    "encoder": (Encoder(), lambda: [torch.randn(3, 7, 16)], True),
    "convolutions": (Convolutions(), lambda: [torch.randn(2, 3, 9, 11)], True),
    "gates": (Gates(), lambda: [torch.randn(5, 8), torch.randn(8, 5)], False),
}


def of_cost_model(name):
    """A model of tests/cost_model_program.py: "bert:eval"."""
    from cost_model_program import make
    model, argument = make(name.partition(":")[0])
    train = name.endswith(":train")
    return model.train(train), lambda: [argument], train


def compile_model(name):
    model, inputs, train = MODELS[name]
    with contextlib.ExitStack() as stack:
        if not train:
            stack.enter_context(torch.no_grad())
        out = torch.compile(model, backend="aot_eager", dynamic=True)(*inputs())
        if train:
            (out if torch.is_tensor(out) else out[0]).sum().backward()
            model.zero_grad()  # gradients are inputs of a compile, too


# --- Ablations, made for real ---

@contextlib.contextmanager
def replaced(owner, name, value):
    old = getattr(owner, name)
    setattr(owner, name, value)
    yield
    setattr(owner, name, old)


@contextlib.contextmanager
def fast_paths(change):
    table = fake_impls.get_fast_op_impls()
    old = dict(table)
    change(table)
    yield
    table.clear()
    table.update(old)


def without_fast_path(*ops):
    return fast_paths(lambda table: [table.pop(op) for op in ops])


def with_fast_path(op, reference):
    return fast_paths(lambda table: table.update({op: fake_impls.make_fast_binary_impl(reference)}))


BINARY = [aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor]


@contextlib.contextmanager
def always_slow():
    """The fast path finds no operand contiguous, and says so by its counter."""
    with replaced(fake_impls, "is_contiguous_for_memory_format_or_false", lambda *a, **k: False):
        yield


@contextlib.contextmanager
def mode_not_restored():
    """The slow path's "with mode:" does nothing."""
    class NoMode:
        def __init__(self, mode):
            self.mode = mode

        def __enter__(self):
            return self

        def __exit__(self, *exc):
            return None

        def __getattr__(self, name):
            return getattr(self.mode, name)

    def change(table):
        for op in BINARY:
            table[op] = (lambda impl: lambda mode, *a, **k: impl(NoMode(mode), *a, **k))(table[op])

    # What the fast path makes needs the mode itself.
    made = fake_tensor.FakeTensor.__new__

    def make(cls, mode, *args, **kwargs):
        return made(cls, mode.mode if isinstance(mode, NoMode) else mode, *args, **kwargs)

    with fast_paths(change), replaced(fake_tensor.FakeTensor, "__new__", staticmethod(make)):
        yield


@contextlib.contextmanager
def dispatched(op, by):
    """FakeTensorMode hands calls of an operator to `by`."""
    old = FakeTensorMode.dispatch

    def dispatch(self, func, types, args=(), kwargs=None):
        if func is op:
            return by(self, func, types, args, kwargs or {})
        return old(self, func, types, args, kwargs or {})

    with replaced(FakeTensorMode, "dispatch", dispatch):
        yield


def identity(op):
    return dispatched(op, lambda mode, func, types, args, kwargs: args[0])


def uncached(op):
    return dispatched(op, lambda mode, func, types, args, kwargs:
                      mode._dispatch_impl(func, types, args, kwargs))


ABLATIONS = {
    "fastpath": lambda: without_fast_path(*BINARY),
    "fastpath:aten.add": lambda: without_fast_path(aten.add.Tensor),
    "fastpath:aten.relu": lambda: with_fast_path(aten.relu.default, torch._refs.nn.functional.relu),
    "always-slow": always_slow,
    "restore-mode-before-slow": mode_not_restored,
    "cache": lambda: replaced(torch._dynamo.config, "fake_tensor_cache_enabled", False),
    "cache:aten.add": lambda: uncached(aten.add.Tensor),
    "identity:aten.relu": lambda: identity(aten.relu.default),
}


def count(name):
    FakeTensorMode.cache_clear()
    simple_call_counter.clear()
    torch._dynamo.reset()
    compile_model(name)
    of = lambda label: simple_call_counter.get(label, 0)
    return {"dispatches": of("FakeTensorMode.__torch_dispatch__"),
            "fake_tensor": of("FakeTensor.__torch_dispatch__"),
            "proxy": of("ProxyTorchDispatchMode.__torch_dispatch__"),
            "fast_attempts": of("attempt fast"),
            "fast_answers": of("fast is_contiguous") + of("fast channels_last"),
            "cache_hits": FakeTensorMode.cache_hits, "cache_misses": FakeTensorMode.cache_misses}


def compile_again(name):
    """Compiles as the first time. Python's garbage collector does not run in it: when it does depends on all that the
    process did before, and it takes more than most ablations save."""
    FakeTensorMode.cache_clear()
    torch._dynamo.reset()
    gc.collect()
    gc.freeze()
    gc.disable()
    compile_model(name)
    gc.enable()


class Dispatches:
    """The seconds in each dispatch, by mode, operator and number, without those nested in it."""

    def __init__(self):
        self.seconds, self.nested = collections.defaultdict(list), [0.0]

    def timed(self, mode):
        old = mode.__torch_dispatch__

        def dispatch(this, func, types, args=(), kwargs=None):
            self.nested.append(0.0)
            begin = time.perf_counter()
            try:
                return old(this, func, types, args, kwargs)
            finally:
                taken = time.perf_counter() - begin
                self.seconds[mode.__name__, func].append(taken - self.nested.pop())
                self.nested[-1] += taken

        return replaced(mode, "__torch_dispatch__", dispatch)


def add_seconds(name, least):
    """Compiles, and lowers the least seconds of each dispatch. Other work on the machine delays some of them, and others the
    next time."""
    dispatches = Dispatches()
    with dispatches.timed(FakeTensorMode), dispatches.timed(ProxyTorchDispatchMode):
        compile_again(name)
    for of, every in dispatches.seconds.items():
        for i, taken in enumerate(every):
            least[of, i] = min(least.get((of, i), taken), taken)


def called(name):
    """The operators that FakeTensorMode gets from outside of others: "aten.add.Tensor"."""
    ops, old = set(), FakeTensorMode.__torch_dispatch__
    within = 0

    def dispatch(self, func, types, args=(), kwargs=None):
        nonlocal within
        if not within:
            ops.add(str(func))
        within += 1
        try:
            return old(self, func, types, args, kwargs)
        finally:
            within -= 1

    with replaced(FakeTensorMode, "__torch_dispatch__", dispatch):
        compile_model(name)
    return ops


def count_model(name):
    ops = called(name)  # and what is made once a process is not counted
    ret = {"baseline": count(name)}
    for ablation, made in ABLATIONS.items():
        op = ablation.partition(":")[2]
        if op and not any(o.startswith(op + ".") for o in ops):
            continue
        with made():
            ret[ablation] = count(name)
    return ret


def time_model(name, counts):
    least, order = {ablation: {} for ablation in counts}, [*counts]
    for turn in range(5):
        for ablation in order[turn:] + order[:turn]:
            with ABLATIONS.get(ablation, contextlib.nullcontext)():
                add_seconds(name, least[ablation])
    for ablation, of in counts.items():
        of["seconds"] = sum(least[ablation].values())


how, names = (sys.argv[1], sys.argv[2:]) if sys.argv[1:2] in (["count"], ["time"], ["again"]) else ("", sys.argv[1:])
if names:
    MODELS = {name: of_cost_model(name) for name in names}
if how == "again":
    for name in [*MODELS] * 5:
        compile_again(name)
elif how:
    counts = {name: count_model(name) for name in MODELS}
    if how == "time":
        for name in MODELS:
            time_model(name, counts[name])
    print(json.dumps(counts))
else:
    for name in MODELS:
        compile_model(name)
