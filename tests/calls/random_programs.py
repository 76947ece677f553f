"""Random programs for tests/caches_torch.py: functions with arguments of many types, modules, globals and closures that change,
graph breaks, compiled functions inside others, and calls in random modes. make(draw) returns the text of a module, whose run(h)
compiles its functions and calls them through `h`, the harness that HARNESS has."""

HARNESS = r'''
"""Runs programs under a policy, and notes what PyTorch's own list of entries says before and after each call."""
import importlib, json, sys, types
import torch
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list as entries_of
from torch._dynamo import guards
from torch._dynamo.callback import callback_handler
torch.set_num_threads(1)
STARTED, DEFAULT = [0], [None]  # compiles; dynamic= of functions that no harness compiles
DYNAMIC = {"none": None, "true": True, "false": False, "mark": None}

def start(*args):
    if args[0].callback_trigger.name == "DYNAMO": STARTED[0] += 1

def name_of(code): return f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"

def order_of(code): return [str(e.compile_id) for e in entries_of(code)]

def tensor(size, dtype="float32", layout="plain", grad=False, fill=1):
    dtype = getattr(torch, dtype)
    if layout == "transposed" and len(size) > 1: t = torch.full((*size[:-2], size[-1], size[-2]), fill, dtype=dtype).transpose(-1, -2)
    elif layout == "slice": t = torch.full((size[0] + 1, *size[1:]), fill, dtype=dtype)[1:]
    elif layout == "strided": t = torch.full((*size[:-1], size[-1] * 2), fill, dtype=dtype)[..., ::2]
    elif layout == "expanded": t = torch.full((1, *size[1:]), fill, dtype=dtype).expand(size)
    else: t = torch.full(size, fill, dtype=dtype)
    if layout == "parameter" and dtype.is_floating_point: return torch.nn.Parameter(t)
    return t.requires_grad_() if grad and dtype.is_floating_point else t

class Harness:
    def __init__(self, policy, marks):
        self.policy, self.marks, self.rows, self.roots = policy, marks, [], {}

    def compile(self, fn, dynamic=None, **options):
        if self.policy != "none": dynamic = DYNAMIC[self.policy]
        compiled = torch.compile(fn, dynamic=dynamic, **options)
        self.roots[id(compiled)] = compiled, fn.forward if isinstance(fn, torch.nn.Module) else fn
        return compiled

    def checks(self, compiled, args):
        """What each entry's guards say of a call."""
        fn = self.roots[id(compiled)][1]
        plain = fn.__func__ if isinstance(fn, types.MethodType) else fn
        scope = dict(zip(plain.__code__.co_varnames, (fn.__self__, *args) if plain is not fn else args))
        for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or ()): scope[name] = cell.cell_contents
        rows = []
        for e in entries_of(plain.__code__):
            manager, row = e.guard_manager, {"entry": str(e.compile_id)}
            if isinstance(manager, guards.DeletedGuardManagerWrapper):
                rows.append({**row, "pass": False, "reason": manager.invalidation_reason})
                continue
            row["pass"] = bool(manager.check_verbose(scope).result)
            if not row["pass"]:
                text = guards.get_guard_fail_reason_helper(manager, scope, e.compile_id, None).split("\nUser stack trace:")[0]
                row["reason"] = text.removeprefix(f"{e.compile_id}: ")
            rows.append(row)
        return rows

    def call(self, compiled, *args, back=False):
        plain = self.roots[id(compiled)][1]
        code = getattr(plain, "__func__", plain).__code__
        names = code.co_varnames[isinstance(plain, types.MethodType):]
        for name, arg in zip(names, args):
            for dim in self.marks.get(name, []) if self.policy == "mark" and isinstance(arg, torch.Tensor) else []:
                if dim < arg.dim(): torch._dynamo.maybe_mark_dynamic(arg, dim)
        row = {"checks": self.checks(compiled, args) if self.policy == "none" else []}
        before, out = STARTED[0], None
        try: out = compiled(*args)
        except Exception as error: row["raised"] = f"{type(error).__name__}: {error}"[:200]
        row["compiles"] = STARTED[0] - before
        row["code"], row["order"] = name_of(code), order_of(code)
        self.rows.append(row)
        if back and isinstance(out, torch.Tensor) and out.requires_grad: out.sum().backward()

def main():
    limit, marks, programs = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3].split(",")
    for policy in sys.argv[4:]:
        torch._dynamo.reset()
        torch._dynamo.config.recompile_limit, DEFAULT[0] = limit, DYNAMIC[policy]
        callback_handler.register_start_callback(start)
        for program in programs:
            sys.modules.pop(program, None)
            module, harness = importlib.import_module(program), Harness(policy, marks)
            module.run(harness)
            print("program", json.dumps({"program": program, "policy": policy, "rows": harness.rows}), flush=True)
'''

BEGIN = """
import dataclasses, torch
from harness import DEFAULT, tensor
RATE, SCALE, MODE, STEPS, TABLE = 2, 0.5, "up", [1, 2], {"a": 1}
WEIGHT = torch.ones(4, 3)
def double(h): return h * 2
def halve(h): return h / 2
HOOK = double
@dataclasses.dataclass
class Config:
    k: int
    mode: str
    w: torch.Tensor
def inner(x): return x.sin().sum() * RATE
INNER = torch.compile(inner, backend="eager", dynamic=DEFAULT[0])
@torch._dynamo.disable
def outside(x): return INNER(x)
def helper(h, x):
    h = h + x.shape[0]
    torch._dynamo.graph_break()
    return h.cos()
"""

# Arguments by name: what draws a value as Python text. x, y, w: tensors; n: int; s: float; b: bool; t: str; o: tensor or None;
# l: list; d: dict; c: dataclass; p: tuple; q: int, float or bool.
POOL = (2, 3, 4, 5, 6, 7, 8, 9, 12)

# What a function does beside the STATEMENTS of dynamic_torch.py: the arguments that a statement needs, and the statement.
# "m" is a module's self, "k" a variable of an enclosing function.
MORE = [
    ("t", "h = h * 2 if t == 'a' else h - len(t)"),
    ("o", "h = h if o is None else h + o.float().sum()"),
    ("o", "h = h * 3 if o is not None else h"),
    ("l", "h = h + sum(v.float().sum() for v in l)"),
    ("l", "h = h + l[0].shape[0] * len(l) if l else h"),
    ("d", "for name, v in d.items():\n        h = h + v.sum() * len(name)"),
    ("d", "h = h + d['a'].sum() if 'a' in d else h.cos()"),
    ("c", "h = h * c.k + c.w.sum()"),
    ("c", "h = h.sin() if c.mode == 'up' else h"),
    ("p", "h = h + p[1].sum() * p[0]"),
    ("q", "h = h * q"),
    ("q", "h = h + 1 if q else h"),
    ("k", "h = h * k"),
    ("k", "h = h + 1 if k > 2 else h"),
    ("m", "h = h * self.k"),
    ("m", "h = h + self.s"),
    ("m", "h = h.sin() if self.mode == 'up' else h.cos()"),
    ("m", "h = h * 2 if self.training else h"),
    ("m", "h = h + len(self.steps) + self.steps[0]"),
    ("m", "h = h + self.table['a'] if 'a' in self.table else h"),
    ("m", "h = h + (self.weight * 2).sum()"),
    ("mw", "h = h + self.lin(w.float()).sum()"),
    ("m", "h = h * 2 if self.extra is None else h + self.extra"),
    ("", "h = h * RATE"),
    ("", "h = h + SCALE"),
    ("", "h = h.sin() if MODE == 'up' else h.cos()"),
    ("", "h = h + STEPS[0] * len(STEPS)"),
    ("", "h = h + TABLE['a'] if 'a' in TABLE else h"),
    ("", "h = HOOK(h)"),
    ("", "h = h if torch.is_grad_enabled() else h * 2"),
    ("x", "h = h + x.float().sum() if x.dtype == torch.float32 else h"),
    ("x", "h = h + 1 if x.is_contiguous() else h"),
    ("x", "h = h + 1 if x.requires_grad else h"),
    ("xy", "h = h + 1 if x is y else h"),
    ("n", "if n == 13:\n        raise ValueError('unlucky')"),
]
BREAKS = [
    ("", "torch._dynamo.graph_break()"),
    ("x", "h = h * x.float().sum().item()"),
    ("x", "if x.float().sum() > 20:\n        h = h + 1"),
    ("x", "h = h + outside(x.float())"),
    ("x", "h = h + INNER(x.float())"),
    ("x", "h = helper(h, x)"),
]
CHANGES = {
    "RATE": ("2", "3", "4", "2.5"), "SCALE": ("0.5", "1.5", "2"), "MODE": ("'up'", "'down'"), "STEPS": ("[1, 2]", "[1]", "[3, 2]", "(1, 2)"),
    "TABLE": ("{'a': 1}", "{'a': 2}", "{'b': 1}", "{}"), "HOOK": ("double", "halve"), "WEIGHT": ("torch.ones(4, 3)", "torch.ones(4, 5)"),
}
ATTRIBUTES = {
    "k": ("2", "3", "4", "2.5"), "s": ("0.5", "1.5"), "mode": ("'up'", "'down'"), "steps": ("[1, 2]", "[1]", "[3, 2]"),
    "table": ("{'a': 1}", "{'a': 2}", "{'b': 1}"), "extra": ("None", "1", "torch.ones(2)"),
}
MODES = ("torch.no_grad()", "torch.inference_mode()", "torch.autocast('cpu', dtype=torch.bfloat16)", "torch.enable_grad()")


class Values:
    """Draws the arguments of the calls of a function; most are as those of the call before."""

    def __init__(self, draw):
        self.draw = draw
        self.pool = POOL + draw.choice(((), (), (1,), (1, 0)))
        self.wild = draw.random() < 0.4  # dtypes and layouts change, too
        self.base = (self.size(), self.size())
        self.text = {}

    def size(self):
        return self.draw.choice(self.pool)

    def tensor(self, size=None):
        draw = self.draw
        size = size or draw.choice((self.base, (self.size(), self.base[1]), (self.size(), self.base[1]), (self.size(), self.size())))
        options = []
        if self.wild and draw.random() < 0.3:
            options.append(f"dtype={draw.choice(('float32', 'float64', 'float16'))!r}")
        if self.wild and draw.random() < 0.4:
            options.append(f"layout={draw.choice(('transposed', 'slice', 'strided', 'expanded', 'parameter'))!r}")
        if draw.random() < (0.3 if self.wild else 0.1):
            options.append("grad=True")
        if draw.random() < 0.1:
            options.append("fill=0")
        return f"tensor({', '.join([str(tuple(size)), *options])})"

    def fresh(self, name):
        draw = self.draw
        if name in "xy":
            return self.tensor()
        if name == "w":
            return f"tensor(({self.size()}, 4))"
        if name == "o":
            return draw.choice(("None", self.tensor()))
        if name == "n":
            return str(draw.choice((0, 1, 2, 3, 4, 5, 6, 4, 4, 13) if self.wild else (0, 1, 2, 3, 4, 5, 6)))
        if name == "l":
            items = ", ".join(f"tensor(({self.size()},))" for _ in range(draw.choice((1, 2, 2, 3))))
            return draw.choice((f"[{items}]", f"[{items}]", f"({items},)")) if self.wild else f"[{items}]"
        if name == "d":
            keys = draw.choice((("a",), ("a", "b"), ("b", "a"), ("b",)) if self.wild else (("a", "b"),))
            return "{" + ", ".join(f"{key!r}: tensor(({self.size()},))" for key in keys) + "}"
        if name == "c":
            return f"Config({draw.choice((1, 2, 3))}, {draw.choice(('up', 'down'))!r}, tensor(({self.size()},)))"
        if name == "p":
            return f"({draw.choice((1, 2, 3))}, tensor(({self.size()},)))"
        return draw.choice({"s": ("0.5", "1.5", "2.0"), "b": ("True", "False"), "t": ("'a'", "'b'", "'cc'"),
                            "q": ("0", "1", "2", "3", "True", "2.0", "0.0")}[name])

    def args(self, names):
        """Each argument anew, or as before."""
        texts, stays = [], self.draw.random() < 0.3
        for name in names:
            if name not in self.text or not (stays or self.draw.random() < 0.4):
                self.text[name] = self.fresh(name)
            texts.append(self.text[name])
        if "x" in names and "y" in names and self.draw.random() < 0.15:
            texts[names.index("y")] = "x"
        return texts


def body_of(draw, names, statements, breaks):
    """Statements that read each name at least once."""
    have = set(names)
    possible = [text for needs, text in statements if set(needs) <= have and (needs or draw.random() < 0.25)]
    body = draw.sample(possible, min(len(possible), draw.randint(1, 4)))
    for name in names:
        if not any(name in needs and text in body for needs, text in statements):
            body.append(draw.choice([text for needs, text in statements if needs and set(needs) <= have and name in needs]))
    draw.shuffle(body)
    if draw.random() < breaks:
        possible = [text for needs, text in BREAKS if set(needs) <= have]
        for text in draw.sample(possible, draw.choice((1, 1, 2)) if len(possible) > 1 else 1):
            body.insert(draw.randrange(len(body) + 1), text)
    return "\n    ".join(["h = torch.ones(2)", *body, "return h"])


def indent(text, by):
    return text.replace("\n", "\n" + " " * by)


def make(draw, statements):
    """Returns the text of a program, and whether policies can be compared: it asks for no sizes to be dynamic or static itself."""
    out, functions, steps = [BEGIN], [], []
    statements = statements + MORE
    dynamic = draw.choice(("None", "None", "None", "None", "True", "False"))
    breaks, marks = draw.choice((0, 0, 0.5, 1)), draw.random() < 0.1
    for number in range(draw.choice((1, 1, 2, 3))):
        kind = draw.choice(("plain", "plain", "plain", "closure", "module", "module"))
        names = "x" * (draw.random() < 0.8) + "".join(name for name in "ynsbwtoldcpq" if draw.random() < 0.15)
        names = names or "x"
        backend = draw.choice(("eager", "eager", "eager", "aot_eager"))
        options = f"backend={backend!r}, dynamic={dynamic}"
        own = {"plain": "", "closure": "k", "module": "m"}[kind]
        body = body_of(draw, own + names, statements, breaks)
        parameters = ", ".join(names)
        if kind == "plain":
            out.append(f"def f{number}({parameters}):\n    {body}\n")
            steps.append(f"f{number}c = h.compile(f{number}, {options})")
        elif kind == "closure":
            out.append(f"def make{number}(k):\n    def f{number}({parameters}):\n        {indent(body, 4)}\n"
                       "    def set_k(value):\n        nonlocal k\n        k = value\n"
                       f"    return f{number}, set_k\n")
            steps.append(f"f{number}, set{number} = make{number}(2)\nf{number}c = h.compile(f{number}, {options})")
        else:
            first = "".join(f"        self.{name} = {values[0]}\n" for name, values in ATTRIBUTES.items())
            out.append(f"class Net{number}(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                       f"        self.lin, self.weight = torch.nn.Linear(4, 4), torch.nn.Parameter(torch.ones(3))\n{first}"
                       f"    def forward(self, {parameters}):\n        {indent(body, 4)}\n")
            for one in "ab"[:draw.choice((1, 1, 2))]:
                steps.append(f"net{number}{one} = Net{number}()\nf{number}c{one} = h.compile(net{number}{one}, {options})")
        functions.append((kind, number, names, Values(draw), backend))
    for _ in range(draw.randint(6, 16)):
        kind, number, names, values, backend = draw.choice(functions)
        instances = [one for one in "ab" if any(step.startswith(f"net{number}{one} ") for step in steps)]
        which = draw.choice(instances) if instances else ""
        if draw.random() < 0.12:
            name = draw.choice(sorted(CHANGES))
            steps.append(f"{name} = {draw.choice(CHANGES[name])}")
        if kind == "closure" and draw.random() < 0.3:
            steps.append(f"set{number}({draw.choice((2, 3, 4))})")
        if kind == "module" and draw.random() < 0.3:
            name = draw.choice((*ATTRIBUTES, "training"))
            steps.append(f"net{number}{which}.train({draw.choice((True, False))})" if name == "training"
                         else f"net{number}{which}.{name} = {draw.choice(ATTRIBUTES[name])}")
        texts = values.args(names)
        lines = [f"{name} = {text}" for name, text in zip(names, texts)]
        if marks and "x" in names and draw.random() < 0.5:
            what = draw.choice(("maybe_mark_dynamic", "maybe_mark_dynamic", "mark_static"))
            lines.append(f"torch._dynamo.{what}(x, 0)")
        back = ", back=True" if backend == "aot_eager" and draw.random() < 0.5 else ""
        call = f"h.call(f{number}c{which}, {', '.join(names)}{back})"
        steps.extend(lines)
        steps.append(f"with {draw.choice(MODES)}: {call}" if draw.random() < 0.12 else call)
        if draw.random() < 0.15:
            steps.append(call)
    out.append(f"def run(h):\n    global {', '.join(CHANGES)}\n    " + "\n".join(steps).replace("\n", "\n    ") + "\n")
    return "\n".join(out), dynamic == "None" and not marks
