"""Changes one value that a log holds, so that the log contradicts itself: a meta, an argument, a guard, a
placeholder, a description, a hint, a range, a specialization, a size of the list of sizes.

Each mutation knows its place (the line of the record, the node) and whether it is equivalent, and why. Only
changes of which that can be decided are made: each rule below says what makes it certain.
"""
import hashlib
import json
import re

import torch_logs

GRAPHS = ("dynamo_output_graph", "aot_joint_graph", "aot_forward_graph", "aot_backward_graph", "aot_inference_graph")
INT = re.compile(r"(?<![\w.])\d+(?![\w.])")
SYMBOL = re.compile(r"\b[su]\d+\b")
META = re.compile(r'(\w+): "(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?([\w:]*)"|(\w+): "Sym\(([^"]*)\)"')
CALL = re.compile(r'^\s+(\w+)(?:: "([^"]*)")? = ([\w.]+)\((.*?)\)(?:;.*)?$')
ITEM = re.compile(r'^\s+(\w+)(?:: "([^"]*)")? = (\w+)\[(\d+)\](?:;.*)?$')
DTYPES = ("f32", "f16", "i64", "bf16")


class Mutation:
    """kind: its class; line: of the record's header in the log, from 1; node, name: what was changed in it;
    same: why it is equivalent, or None."""

    def __init__(self, kind, record, node="", name="", before="", after="", same=None):
        self.kind, self.record, self.node, self.name = kind, record, node, name
        self.before, self.after, self.same = str(before), str(after), same


# ---- Conditions at numbers ----


def floor_div(a, b):
    return a // b


CONDITION = {"Eq": lambda a, b: a == b, "Ne": lambda a, b: a != b, "Mod": lambda a, b: a % b, "PythonMod": lambda a, b: a % b,
             "Max": max, "Min": min, "FloorDiv": floor_div, "CleanDiv": floor_div, "And": lambda *a: all(a),
             "Or": lambda *a: any(a), "Not": lambda a: not a, "__builtins__": {}}


def symbols_of(text):
    return sorted(set(re.findall(r"\b(?:s|zf|u)\d+\b", text)))


def value_of(text, numbers):
    """The value of a condition or a size, or None when a function in it is not known here."""
    if re.search(r"[A-Za-z_]\w*(?=\()", text) and not all(f in CONDITION for f in re.findall(r"[A-Za-z_]\w*(?=\()", text)):
        return None
    try:
        return eval(text, dict(CONDITION), numbers)
    except Exception:  # a division by zero, or a name that is not known
        return None


def truths(rng, text, hints):
    """The values at the hints and at numbers around them."""
    names, ret = symbols_of(text), []
    seeds = [hints] + [{n: (rng.randint(2, 70) if isinstance(hints.get(n, 3), int) else hints[n] * f)
                        for n in names} for f in (1, 2, 0.5) for _ in range(60)]
    for row in seeds:
        ret.append(value_of(text, {n: row.get(n, hints.get(n, 3)) for n in names}))
    return ret


# ---- A log in pieces ----


class Log:
    """The records of a log, with what is needed to choose a change."""

    def __init__(self, name, raw):
        self.name, self.records = name, torch_logs.parse(raw)
        self.line_of, line = [], 1
        for r in self.records:
            self.line_of.append(line)
            line += 1 + (r.payload.count(b"\n") + 1 if r.payload is not None else 0)
        self.by_event = {}
        for i, r in enumerate(self.records):
            self.by_event.setdefault(r.event(), []).append(i)
        self.hints = {}
        for i in self.by_event.get("create_symbol", []):
            told = self.records[i].envelope["create_symbol"]
            try:
                self.hints.setdefault(self.compile_of(i), {})[told["symbol"]] = json.loads(told["val"])
            except ValueError:
                pass
        self.trees = {self.compile_of(i) for i in self.by_event.get("dynamo_cpp_guards_str", [])}

    def compile_of(self, i):
        e = self.records[i].envelope
        return e.get("frame_id"), e.get("frame_compile_id"), e.get("attempt")

    def graphs(self):
        return [i for kind in GRAPHS for i in self.by_event.get(kind, []) if self.records[i].payload]

    def written(self, i, envelope=None, payload=None):
        """The log with one record changed."""
        out = []
        for k, r in enumerate(self.records):
            head, body = r.line, r.payload
            if k == i:
                body = body if payload is None else payload
                e = dict(r.envelope if envelope is None else envelope)
                if body is not None:
                    e["has_payload"] = hashlib.md5(body).hexdigest()
                head = r.prefix + json.dumps(e).encode()
            out.append(head + b"\n" + (b"" if body is None else b"\t" + body.replace(b"\n", b"\n\t") + b"\n"))
        return b"".join(out)


# ---- Sizes, strides, dtypes ----


def other_size(rng, text):
    """Another size, different for all values of its symbols."""
    if re.fullmatch(r"-?\d+", text):
        return str(int(text) + rng.choice((1, 2, 5)))
    return f"{text} + {rng.choice((1, 2))}"


def other_meta(rng, text):
    """Another meta, and what was changed in it; None where nothing can be."""
    sym = re.fullmatch(r"Sym\((.*)\)", text)
    if sym:
        return None if sym.group(1) in ("True", "False") or re.search(r"[<>=]|Eq|Ne|f\d|\.", sym.group(1)) else (
            f"Sym({other_size(rng, sym.group(1))})")
    parts = re.fullmatch(r"(\w+)\[([^\]]*)\](?:\[([^\]]*)\])?([\w:]*)", text)
    if not parts or re.search(r"\w\(\w+, ", text):
        return None  # a function's arguments are not sizes
    dtype, sizes, strides, device = parts.groups()
    sizes, strides = sizes.split(", ") if sizes else [], strides.split(", ") if strides else strides
    ways = ["dtype"] + ["size"] * 3 * bool(sizes) + ["stride"] * 3 * bool(strides) + ["ndim"] + ["device"] * bool(device)
    way = rng.choice(ways)
    if way == "dtype":
        dtype = rng.choice([d for d in DTYPES if d != dtype])
    if way == "device":
        device = "cuda:1" if device != "cuda:1" else "cpu"
    if way == "ndim":
        sizes = ["1", *sizes]
        strides = strides and [strides[0], *strides] if strides is None or strides else ["1"]
    if way in ("size", "stride"):
        of = sizes if way == "size" else strides
        at = rng.randrange(len(of))
        of[at] = other_size(rng, of[at])
    return f"{dtype}[{', '.join(sizes)}]" + (f"[{', '.join(strides)}]" if strides is not None else "") + device


# ---- Graphs ----


def graph_lines(rng, log, want):
    """A graph and one of its lines that matches."""
    found = [(i, n, m) for i in log.graphs() for n, line in enumerate(log.records[i].payload.decode().split("\n"))
             if (m := want(line))]
    return rng.choice(found) if found else None


def with_line(log, i, n, line):
    lines = log.records[i].payload.decode().split("\n")
    lines[n] = line
    return log.written(i, payload="\n".join(lines).encode())


def statement(line):
    m = CALL.match(line) or ITEM.match(line)
    return m if m and m.group(2) else None


def change_meta(rng, log):
    found = graph_lines(rng, log, statement)
    if not found:
        return None
    i, n, m = found
    new = other_meta(rng, m.group(2))
    if not new:
        return None
    line = log.records[i].payload.decode().split("\n")[n].replace(f'"{m.group(2)}"', f'"{new}"', 1)
    library = re.match(r"torch\.ops\.(\w+)\.", m.group(3))
    same = None if not library or library.group(1) in ("aten", "prims", "higher_order", "_c10d_functional", "inductor") else (
        "no rule knows the operator")
    return Mutation("meta", i, m.group(1), before=m.group(2), after=new, same=same), with_line(log, i, n, line)


def change_placeholder(rng, log):
    def placeholders(line):
        if CALL.match(line) or ITEM.match(line):
            return None
        if "def forward" in line and ': "' in line or re.match(r'^\s+\w+: "[^"]*",?(\s|$)', line):
            return [m for m in META.finditer(line)]
        return None
    found = graph_lines(rng, log, placeholders)
    if not found:
        return None
    i, n, all_ = found
    m = rng.choice(all_)
    name, text = (m.group(1) or m.group(6)), m.group().split('"')[1]
    new = other_meta(rng, text)
    if not new:
        return None
    line = log.records[i].payload.decode().split("\n")[n]
    line = line[:m.start()] + f'{name}: "{new}"' + line[m.end():]
    return Mutation("placeholder", i, name, before=text, after=new), with_line(log, i, n, line)


# ---- Arguments ----

# Lists of sizes: another number in them gives another shape, or there is no such view.
SIZES = ("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default", "aten.expand.default",
         "aten.full.default", "aten.zeros.default", "aten.ones.default", "aten.empty.memory_format", "aten.new_zeros.default")
# The result has the sizes of the one argument.
UNARY = ("aten.relu.default", "aten.tanh.default", "aten.gelu.default", "aten.sigmoid.default", "aten.clone.default",
         "aten.detach.default", "aten.silu.default", "aten.exp.default", "aten.rsqrt.default", "aten.neg.default",
         "aten.sin.default", "aten.cos.default", "torch.tanh", "torch.relu", "torch.sigmoid", "torch.sin", "torch.cos")


def shapes(lines):
    """name: its sizes, of all tensors of a graph."""
    return {m.group(1): (m.group(3).split(", ") if m.group(3) else []) for line in lines for m in META.finditer(line) if m.group(1)}


def swapped_dim(rng, args, of):
    """transpose(x, a, b) with another b, whose size differs, so that the result's sizes do."""
    m = re.fullmatch(r"(\w+), (-?\d+), (-?\d+)", args)
    sizes = of.get(m.group(1)) if m else None
    if not sizes:
        return None
    a, b = int(m.group(2)) % len(sizes), int(m.group(3)) % len(sizes)
    fits = [d for d in range(len(sizes)) if d not in (a, b) and len({sizes[d], sizes[a], sizes[b]}) == 3]
    return f"{m.group(1)}, {a}, {rng.choice(fits)}" if fits else None


def other_arguments(rng, target, args, of, earlier):
    op = target.removeprefix("torch.ops.")
    if op in SIZES:
        m = re.search(r"\[([^\[\]]*)\]", args)
        numbers = [x for x in INT.finditer(m.group(1)) if x.group() != "0"] if m else []
        if not numbers:
            return None
        x = rng.choice(numbers)
        if x.start() and m.group(1)[x.start() - 1] == "-":
            return None
        return args[:m.start(1) + x.start()] + str(int(x.group()) + 1) + args[m.start(1) + x.end():]
    if op in ("aten.transpose.int", "transpose"):
        return swapped_dim(rng, args, of)
    if op in ("aten.sum.dim_IntList", "aten.mean.dim", "aten.select.int", "aten.squeeze.dim"):
        m = re.fullmatch(r"(\w+), (\[?)(-?\d+)(\]?.*)", args)
        sizes = of.get(m.group(1)) if m else None
        if not sizes or "," in m.group(4).split("]")[0] and "[" in m.group(2):
            return None
        d = int(m.group(3)) % len(sizes)
        fits = [k for k in range(len(sizes)) if sizes[k] != sizes[d]]
        return f"{m.group(1)}, {m.group(2)}{rng.choice(fits)}{m.group(4)}" if fits and op != "aten.squeeze.dim" else None
    if op in ("aten.convolution.default", "torch.conv1d", "torch.conv2d"):
        m = re.fullmatch(r"((?:\w+, ){3})([\[(][^\])]*[\])]), ([\[(][^\])]*[\])])(.*)", args)
        if not m or set(INT.findall(m.group(2))) != {"1"}:
            return None  # with a stride of 1, one more of padding is two more of size
        return f"{m.group(1)}{m.group(2)}, {INT.sub(lambda x: str(int(x.group()) + 1), m.group(3), count=1)}{m.group(4)}"
    if op in UNARY:
        m = re.match(r"\w+", args)
        fits = [n for n in earlier if m and m.group() in of and of[n] != of[m.group()] and len(of[n]) != len(of[m.group()])]
        return rng.choice(fits) + args[m.end():] if fits else None
    if "dtype = torch." in args:
        m = re.search(r"dtype = torch\.(\w+)", args)
        new = rng.choice([d for d in ("float32", "float16", "int64", "bool") if d != m.group(1)])
        return args[:m.start(1)] + new + args[m.end(1):]
    return None


def change_argument(rng, log):
    found = graph_lines(rng, log, lambda line: (m := CALL.match(line)) and m.group(2) and m)
    if not found:
        return None
    i, n, m = found
    lines = log.records[i].payload.decode().split("\n")
    top = max((k for k in range(n) if lines[k].startswith("class ")), default=0)
    of = shapes(lines[top:])
    earlier = [k for k in shapes(lines[top:n]) if re.search(rf"\b{k}\b(?!.*= None)", "\n".join(lines[top:n]))]
    dead = {d for line in lines[top:n] if ";" in line for d in re.findall(r"(\w+) =", line.split(";", 1)[1])}
    new = other_arguments(rng, m.group(3), m.group(4), of, [e for e in earlier if e not in dead])
    if new is None or new == m.group(4):
        return None
    line = lines[n][:m.start(4)] + new + lines[n][m.end(4):]
    return Mutation("argument", i, m.group(1), before=m.group(4), after=new), with_line(log, i, n, line)


# ---- Guards ----


def guard_class(record):
    """As trace/events/guards.h has it, of the frames that are outside the machinery of symbols."""
    told = record.envelope["guard_added_fast"]
    kind = next((m.group(1) for f in told["stack"] if (m := re.search(r'_log_guard\(\s*"([^"]+)"', f.get("loc") or ""))), "eval")
    return "suppressed guard" if "suppressed" in kind else "assert" if "assert" in kind else "guard"


def other_condition(rng, text):
    ways = []
    numbers = list(INT.finditer(text))
    if numbers:
        m = rng.choice(numbers)
        ways.append(text[:m.start()] + str(max(0, int(m.group()) + rng.choice((-1, 1, 2)))) + text[m.end():])
    for a, b in (("Eq(", "Ne("), ("Ne(", "Eq("), (" < ", " >= "), (" >= ", " < "), (" <= ", " > "), (" > ", " <= ")):
        if text.count(a) == 1:
            ways.append(text.replace(a, b))
    names = symbols_of(text)
    if len(names) > 1:
        a, b = rng.sample(names, 2)
        ways.append(re.sub(rf"\b{a}\b", b, text))
    return rng.choice(ways) if ways else None


def change_guard(rng, log):
    all_ = log.by_event.get("guard_added_fast", [])
    if not all_:
        return None
    i = rng.choice(all_)
    envelope = json.loads(json.dumps(log.records[i].envelope))
    told = envelope["guard_added_fast"]
    old, new = told["expr"], other_condition(rng, told["expr"])
    hints = log.hints.get(log.compile_of(i), {})
    if not new or new == old:
        return None
    a, b = truths(rng, old, hints), truths(rng, new, hints)
    if a[0] is None and not symbols_of(old)[:1] or all(x is None for x in a):
        return None  # a function that is not known here
    kind = guard_class(log.records[i])
    same = "the condition has the same values" if a == b else None
    if kind == "suppressed guard" and b[0] is True:
        same = "a condition that was evaluated while guards were suppressed is true, and nothing depends on it"
    if kind == "assert" and not any(log.compile_of(k) == log.compile_of(i) for k in log.graphs()) and symbols_of(new) == symbols_of(old):
        same = "what a program asserts is in no other record of a compile without graphs"
    told["expr"] = new
    m = Mutation(kind, i, name=new, before=old, after=new, same=same)
    m.true_at_hints, m.has_tree = b[0], log.compile_of(i) in log.trees
    return m, log.written(i, envelope)


# ---- Descriptions, symbols, sizes ----


def changed(log, i, change):
    envelope = json.loads(json.dumps(log.records[i].envelope))
    return envelope if change(next(iter(envelope.values()))) else None


def pick(rng, log, event):
    found = log.by_event.get(event, [])
    return rng.choice(found) if found else None


def described(log, i):
    """Whether a describe_source record names the tensor: else it is a base or a grad that nothing shows."""
    t = log.records[i].envelope["describe_tensor"]
    return [k for k in log.by_event.get("describe_source", []) if log.compile_of(k) == log.compile_of(i)
            and (s := log.records[k].envelope["describe_source"])["id"] == t["id"] and s["describer_id"] == t["describer_id"]]


def says_gradient(log, i):
    """Whether the guards of each call, or the gradients of a joint graph, say whether a tensor requires one."""
    of = log.compile_of(i)
    sources = [log.records[k].envelope["describe_source"]["source"] for k in described(log, i)]
    for k in log.by_event.get("dynamo_cpp_guards_str", []):
        text = log.records[k].payload.decode()
        if log.compile_of(k) == of and any(f"check_tensor({s}, " in text for s in sources):
            return True
    placeholders, grads = [], ""
    for k in log.graphs():
        if log.compile_of(k) == of and log.records[k].event() == "dynamo_output_graph":
            head = next(x for x in log.records[k].payload.decode().split("\n") if "def forward" in x)
            placeholders = re.findall(r'(\w+): "', head)
        if log.compile_of(k) == of and log.records[k].event() == "aot_joint_graph":
            grads = log.records[k].payload.decode()
    names = [re.sub(r"[^A-Za-z0-9]+", "_", s) for s in sources]
    return any(re.search(rf"^\s+(?!None)\w+,  # GradAOTOutput\(grad_of=PlainAOTInput\(idx={placeholders.index(n)}\)\)", grads, re.M)
               for n in names if n in placeholders)


def is_used(log, i):
    of, sources = log.compile_of(i), [log.records[k].envelope["describe_source"]["source"] for k in described(log, i)]
    names = [re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"^___as_tensor\((.*)\)$", r"\1", s)) for s in sources]
    texts = [log.records[k].payload.decode() for k in log.graphs() if log.compile_of(k) == of]
    trees = [log.records[k].payload.decode() for k in log.by_event.get("dynamo_cpp_guards_str", []) if log.compile_of(k) == of]
    return any(re.search(rf'\b{n}: "\w+\[', text) for n in names for text in texts) or any(
        f"check_tensor({s}, " in text for s in sources for text in trees)


def fits_storage(log, i, t):
    width = {"float32": 4, "int64": 8, "float64": 8, "float16": 2, "bfloat16": 2, "int32": 4, "bool": 1, "uint8": 1}
    unit = width.get(t["dtype"].removeprefix("torch."))
    sizes = [log.records[k].envelope["describe_storage"]["size"] for k in log.by_event.get("describe_storage", [])
             if log.compile_of(k) == log.compile_of(i) and log.records[k].envelope["describe_storage"]["id"] == t["storage"]
             and log.records[k].envelope["describe_storage"]["describer_id"] == t["describer_id"]]
    if not unit or not sizes or not isinstance(t["size"], list) or 0 in t["size"]:
        return not sizes or sizes[-1] == 0 or isinstance(t["size"], list) and 0 in t["size"]
    return (t["storage_offset"] + 1 + sum((n - 1) * s for n, s in zip(t["size"], t["stride"]))) * unit <= sizes[-1]


def change_description(rng, log):
    i = pick(rng, log, "describe_tensor")
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    t = envelope["describe_tensor"]
    ways = ["dtype", "device", "offset", "grad"] + ["size", "stride"] * 3 * bool(t.get("size") and t["ndim"])
    way = rng.choice(ways)
    same = None if described(log, i) else "the tensor is no input of a graph, and no other record names it"
    if way in ("size", "stride") and isinstance(t.get(way), list) and all(isinstance(v, int) for v in t[way]):
        d = rng.randrange(t["ndim"])
        old = list(t[way])
        t[way][d] += rng.choice((1, 2, 3))
        new = t[way]
        if way == "stride" and t["size"][d] == 0:
            return None
    elif way == "dtype":
        old = t["dtype"]
        t["dtype"] = new = rng.choice([d for d in ("torch.float32", "torch.float16", "torch.int64") if d != old])
    elif way == "device":
        old = t["device"]
        t["device"] = new = "device(type='cuda', index=1)" if "cuda" not in old else "device(type='cpu')"
    elif way == "offset":
        old = t.get("storage_offset", 0)
        if not isinstance(old, int):
            return None
        t["storage_offset"] = new = old + rng.choice((1, 4))
    elif way == "grad":
        old = t.get("requires_grad", False)
        if not t["dtype"].startswith(("torch.float", "torch.bfloat")):
            return None
        t["requires_grad"] = new = not old
    else:
        return None
    if way == "grad" and not same and not says_gradient(log, i):
        same = "no other record says whether the tensor requires a gradient"
    if way in ("dtype", "device") and not same and not is_used(log, i):
        same = "no graph of the compile has the tensor, and no guard"
    if way == "offset" and not same and fits_storage(log, i, t):
        same = "the storage has room for the tensor at the other offset"
    return Mutation("description", i, name=way, before=old, after=new, same=same), log.written(i, envelope)


def change_storage(rng, log):
    i = pick(rng, log, "describe_storage")
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    s = envelope["describe_storage"]
    old = s["size"]
    if not old:
        return None
    s["size"] = rng.choice((old // 2, old - 1, 0))
    users = [k for k in log.by_event.get("describe_tensor", []) if log.compile_of(k) == log.compile_of(i)
             and log.records[k].envelope["describe_tensor"].get("storage") == s["id"]
             and log.records[k].envelope["describe_tensor"]["describer_id"] == s["describer_id"] and described(log, k)]
    same = None if users else "no input uses the storage"
    if users and s["size"] == 0:
        same = "a storage may have been freed"
    return Mutation("storage", i, before=old, after=s["size"], same=same), log.written(i, envelope)


def is_said_once(log, i, symbol):
    """A number of the program that no description has, no specialization, and no condition denies."""
    if re.search(r"\.size\(\)\[|\.stride\(\)\[|storage_offset\(\)", symbol["source"]):
        return None
    for k in log.by_event.get("symbolic_shape_specialization", []):
        if log.compile_of(k) == log.compile_of(i) and next(iter(log.records[k].envelope.values()))["symbol"] == symbol["symbol"]:
            return None
    hints = {**log.hints[log.compile_of(i)], symbol["symbol"]: json.loads(symbol["val"])}
    for k in log.by_event.get("guard_added_fast", []):
        text = log.records[k].envelope["guard_added_fast"]["expr"]
        if log.compile_of(k) == log.compile_of(i) and symbol["symbol"] in symbols_of(text) and value_of(text, hints) is not True:
            return None
    return "no other record has the number"


def change_hint(rng, log):
    i = pick(rng, log, "create_symbol")
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    s = envelope["create_symbol"]
    old = s["val"]
    if re.fullmatch(r"-?\d+", old):
        s["val"] = str(int(old) + rng.choice((1, 2, 3)))
    elif re.fullmatch(r"[-+.e\d]+", old):
        s["val"] = repr(float(old) * 2 + 1)
    else:
        return None
    return Mutation("hint", i, name=s["symbol"], same=is_said_once(log, i, s), before=old, after=s["val"]), log.written(i, envelope)


def may_be_marked(log, i, symbol, lower, upper):
    """A mark may give a size such a range, which nothing else records as long as what is checked at each call
    is within it."""
    m = re.fullmatch(r"(.*)\.size\(\)\[(\d+)\]", symbol.get("source", ""))
    if not m or not re.fullmatch(r"\d+", lower):
        return None
    same_compile = [k for k in log.by_event.get("describe_source", []) if log.compile_of(k) == log.compile_of(i)]
    named = [e for k in same_compile if (e := log.records[k].envelope["describe_source"])["source"] == m.group(1)]
    marked = any(int(m.group(2)) in (t.get("dynamo_dynamic_indices") or []) for k in log.by_event.get("describe_tensor", [])
                 if log.compile_of(k) == log.compile_of(i) for t in [log.records[k].envelope["describe_tensor"]]
                 for e in named if (e["describer_id"], e["id"]) == (t["describer_id"], t["id"]))
    if not marked:
        return None
    trees = [log.records[k].payload.decode() for k in log.by_event.get("dynamo_cpp_guards_str", [])
             if log.compile_of(k) == log.compile_of(i)]
    checks = [c for tree in trees
              for c in re.findall(rf"(?:(\d+) <= )?{re.escape(symbol['source'])}(?: <= (\d+))?(?= +#)", tree) if any(c)]
    within = all(int(low or 0) >= int(lower) and (upper == "int_oo" or high and int(high) <= int(upper)) for low, high in checks)
    return "a mark may give the size this range" if within else None


def change_range(rng, log):
    i = pick(rng, log, rng.choice(("create_symbol",) * 4 + ("create_unbacked_symbol",)))
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    s = next(iter(envelope.values()))
    old = s["vr"]
    lower, upper = re.fullmatch(r"\[(.*), (.*)\]", old).groups()
    if "int" not in old and not re.search(r"\d", old):
        return None
    if rng.randrange(2):
        lower = str(int(lower) + 1) if re.fullmatch(r"-?\d+", lower) else "0"
    else:
        upper = str(int(upper) + 1) if re.fullmatch(r"\d+", upper) else "4096"
    s["vr"] = f"[{lower}, {upper}]"
    same = may_be_marked(log, i, s, lower, upper)
    return Mutation("range", i, name=s["symbol"], before=old, after=s["vr"], same=same), log.written(i, envelope)


def change_specialization(rng, log):
    i = pick(rng, log, "symbolic_shape_specialization")
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    s = envelope["symbolic_shape_specialization"]
    others = [n for n in log.hints.get(log.compile_of(i), {}) if n != s["symbol"]]
    if rng.randrange(3) == 0 and others:
        old = s["symbol"]
        s["symbol"] = new = rng.choice(others)
    else:
        old = s["value"]
        if not re.fullmatch(r"-?[\d.]+(e[-+]\d+)?", old):
            return None
        s["value"] = new = str(int(old) + 1) if re.fullmatch(r"-?\d+", old) else str(float(old) * 2 + 1)
    return Mutation("specialization", i, name=s["symbol"], before=old, after=new), log.written(i, envelope)


def change_sizes(rng, log):
    i = pick(rng, log, "dynamo_output_graph")
    if i is None:
        return None
    envelope = json.loads(json.dumps(log.records[i].envelope))
    sizes = envelope["dynamo_output_graph"].get("sizes") or {}
    fits = [n for n, s in sizes.items() if s and isinstance(s, list)]
    if not fits:
        return None
    node = rng.choice(fits)
    d = rng.randrange(len(sizes[node]))
    old = list(sizes[node])
    sizes[node][d] = old[d] + 1 if isinstance(old[d], int) else f"{old[d]} + 1"
    return Mutation("sizes", i, node, before=old, after=sizes[node]), log.written(i, envelope)


# How often each is made.
CHANGES = ((5, change_meta), (12, change_argument), (6, change_guard), (4, change_placeholder), (5, change_description),
           (1, change_storage), (4, change_hint), (3, change_range), (3, change_specialization), (2, change_sizes))


def mutate(rng, log):
    """A mutation and the changed log."""
    for _ in range(200):
        ret = rng.choices([f for _, f in CHANGES], [w for w, _ in CHANGES])[0](rng, log)
        if ret:
            return ret
    return None
