#!/usr/bin/env python3
"""What the installed PyTorch dispatches while it compiles a model of ../shared/programs/models.py, by
pass and operator: the rows of dispatches_2.11.tsv, which dispatches.py compares with.

usage: $SYMTAPE_PYTHON dispatches_torch.py MODEL.MODE ...     (one process a model: caches are global)
"""
import collections
import subprocess
import sys
from pathlib import Path

PASSES = (  # a function on the Python stack, and the pass that it stands for
    ("wrap_symfloat", "floats"), ("get_fake_value", "dynamo"),
    ("tensorify_python_scalars", "tensorify"), ("handle_effect_tokens_fn", "rng"),
)


def functions():
    frame, names = sys._getframe(2), set()
    while frame:
        names.add(frame.f_code.co_name)
        names.add(Path(frame.f_code.co_filename).stem + ":" + frame.f_code.co_name)
        frame = frame.f_back
    return names


def pass_of(names):
    for function, name in PASSES:
        if function in names:
            return name
    if any(n.startswith("decompositions_for_rng:") for n in names):
        return "rng"
    if "dispatch_trace" in names:
        backward = names & {"joint_helper", "inner_fn_with_anomaly"} and not (
            names & {"functional_call", "to_fun", "interpreter:call_function"})
        return "backward" if backward else "trace"
    if "_detach_and_copy_item_memo" in names:
        return "inputs"
    return "metadata" if "collect_metadata_analysis:inner" in names else "other"


class Counter:
    """Wraps the dispatchers; `calls` holds those that are at work, outermost first."""

    def __init__(self):
        self.calls, self.rows = [], collections.defaultdict(lambda: [0] * 5)

    def row(self):
        top = self.calls[0] if self.calls else (pass_of(functions()), "-")
        return self.rows[tuple(top[:2])]

    def watch(self, fake_tensor, fake_impls):
        mode, counter = fake_tensor.FakeTensorMode, self
        dispatch, implementation = mode.__torch_dispatch__, mode._dispatch_impl
        tensor = fake_tensor.FakeTensor.__dict__["__torch_dispatch__"].__func__
        label, bypassed = fake_impls.count_label, fake_tensor._BypassDispatchCache
        key = mode._cache_key

        def on_dispatch(self, func, types, args=(), kwargs=None):
            outer = not counter.calls
            counter.calls.append([pass_of(functions()), str(func), "none"] if outer else
                                 ["", "", "none"])
            counter.row()[0 if outer else 2] += 1
            try:
                return dispatch(self, func, types, args, kwargs)
            finally:
                counter.calls.pop()

        def on_key(self, *args):
            try:
                ret = key(self, *args)
            except bypassed:
                counter.calls[-1][2] = "bypass"
                raise
            counter.calls[-1][2] = "key"
            return ret

        def on_implementation(self, *args):
            if len(counter.calls) == 1 and counter.calls[0][2] == "key":
                counter.row()[1] += 1
            return implementation(self, *args)

        def on_tensor(cls, func, types, args=(), kwargs=None):
            counter.row()[3] += 1
            return tensor(cls, func, types, args, kwargs if kwargs is not None else {})

        def on_label(text):
            counter.row()[4] += text == "attempt fast"
            return label(text)

        mode.__torch_dispatch__, mode._dispatch_impl = on_dispatch, on_implementation
        mode._cache_key = on_key
        fake_tensor.FakeTensor.__torch_dispatch__ = classmethod(on_tensor)
        fake_impls.count_label = on_label


def compile_model(name, mode):
    import models
    import torch
    torch.manual_seed(0)
    torch._dynamo.config.recompile_limit = 16
    dynamic = name in ("moe", "jagged")
    torch._dynamo.config.capture_dynamic_output_shape_ops = dynamic
    torch._dynamo.config.capture_scalar_outputs = dynamic
    build, inputs = models.MODELS[name]
    model = build().to(models.DEV).train(mode == "train")
    compiled = torch.compile(model, dynamic=True, backend="aot_eager")

    def total(out):
        if torch.is_tensor(out):
            return out.float().sum() if out.is_floating_point() and out.requires_grad else 0
        parts = out.values() if hasattr(out, "values") else out
        return sum(map(total, parts)) if isinstance(parts, (list, tuple)) or hasattr(
            out, "values") else 0

    for i in range(2):
        x = inputs(i)
        with torch.set_grad_enabled(mode == "train"):
            out = compiled(**x) if isinstance(x, dict) else compiled(*x)
            if mode == "train":
                total(out).backward()


def main():
    if len(sys.argv) != 2:
        for model in sys.argv[1:]:
            subprocess.run([sys.executable, __file__, model], check=True)
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import cases
    sys.path.insert(0, str(cases.shared() / "programs"))
    from torch._subclasses import fake_impls, fake_tensor
    counter = Counter()
    counter.watch(fake_tensor, fake_impls)
    compile_model(*sys.argv[1].split("."))
    for (where, op), row in sorted(counter.rows.items()):
        if any(row[2:]):
            print(sys.argv[1], where, op, *row, sep="\t")


if __name__ == "__main__":
    main()
