"""What the C part asks for, once for each object: how code, values and environments are written."""
import json
import linecache
import struct
import sys
import weakref

SETTINGS = ("allow_scalar_outputs", "allow_dynamic_output_shape_ops", "assume_static_by_default",
            "specialize_zero_one", "duck_shape", "prefer_deferred_runtime_asserts_over_guards",
            "trace_asserts")
CODE_OF_TORCH, CODE_OF_SIZES = 1, 2
SIZE_FILES = ("__init__.py", "fx/experimental/sym_node.py", "fx/experimental/symbolic_shapes.py",
              "fx/experimental/recording.py")
MOST_SOURCE_LINES = 2000
MOST_TEXTS = 10_000


class Texts:
    """str() of expressions and ranges, which takes SymPy longer than all else that is recorded: the same ones
    are in many nodes, in each graph of a compile and in each compile."""

    def __init__(self):
        self.texts = {}

    def of(self, x):
        key = type(x), x  # 1, True and Integer(1) are equal
        try:
            text = self.texts.get(key)
        except TypeError:  # no hash
            return str(x)
        if text is None:
            if len(self.texts) >= MOST_TEXTS:
                self.texts.clear()
            text = self.texts[key] = str(x)
        return text


class Names:
    def __init__(self, c, texts):
        self.c, self.texts = c, texts
        self.torch_root = None
        self.envs, self.n_envs = weakref.WeakKeyDictionary(), 0
        self.finals = weakref.WeakKeyDictionary()  # what write_finals() wrote of each
        for name in ("on_context", "on_code", "on_frame", "on_value", "on_env", "on_source"):
            c.give(name, getattr(self, name))

    def reset(self):
        self.envs, self.n_envs = weakref.WeakKeyDictionary(), 0
        self.finals = weakref.WeakKeyDictionary()

    def on_context(self, context):
        """torch._guards.CompileContext -> ids; None where there is no compile id."""
        compile_id = context.compile_id
        if compile_id is None:
            return None
        return tuple(-1 if (x := getattr(compile_id, name, None)) is None else x
                     for name in ("compiled_autograd_id", "frame_id", "frame_compile_id"))

    def on_code(self, code):
        file = code.co_filename
        flags = 0
        if self.torch_root and file.startswith(self.torch_root):
            flags = CODE_OF_TORCH
            if file[len(self.torch_root):].replace("\\", "/") in SIZE_FILES:
                flags |= CODE_OF_SIZES
        elif file.startswith("<") and file != "<stdin>" and file != "<string>" or \
                "_symtape_recorder" in file:
            flags = CODE_OF_TORCH
        lines, table, last = [], [], None
        for start, _, line in code.co_lines():
            if line != last:
                table.append(struct.pack("<II", start, line or 0))
                last = line
            if line:
                lines.append(line)
        first, source = 0, b""
        if lines and not flags:
            first, source = min(lines), self.source(file, min(lines), max(lines))
        name = getattr(code, "co_qualname", code.co_name)
        return file, name.rpartition("<locals>.")[2], b"".join(table), first, source, flags

    def source(self, file, first, last):
        lines = linecache.getlines(file)
        last = min(last, first + MOST_SOURCE_LINES)
        return "".join(lines[first - 1:last]).encode("utf-8", "replace")

    def on_frame(self, file, line):
        return linecache.getline(file, line).strip()

    # ---------------------------------------------------------------------------------------------
    # Values.

    def on_value(self, x):
        floats = {}
        if isinstance(x, BaseException):
            return json.dumps([type(x).__name__, str(x)[:200]]), ""
        text = json.dumps(self.plain(x, floats))
        return text, json.dumps(floats) if floats else ""

    def plain(self, x, floats):
        sympy = sys.modules["sympy"]
        if x is None or isinstance(x, (bool, int, float)):
            return x
        if isinstance(x, sympy.Basic):
            return self.plain_expr(x, floats, sympy)
        if hasattr(x, "node") and hasattr(x.node, "expr"):  # SymInt, SymFloat, SymBool
            return self.plain_expr(sympy.sympify(x.node.expr), floats, sympy)
        if hasattr(x, "name") and hasattr(type(x), "make_guard"):  # a Source
            return x.name() if callable(x.name) else x.name
        if hasattr(x, "exprs"):  # what produce_guards_verbose makes for a language
            return list(x.exprs)
        if isinstance(x, (list, tuple)):
            return [self.plain(y, floats) for y in x]
        return str(x)

    def plain_expr(self, x, floats, sympy):
        if x is sympy.true or x is sympy.false:
            return bool(x)
        if isinstance(x, sympy.Integer):
            return int(x)
        text = self.texts.of(x)
        if "." in text:
            for f in x.atoms(sympy.Float):
                floats[str(f)] = repr(float(f))
        return text

    def on_source(self, node):
        """Of a plain symbol; None for any other expression."""
        expr, env = node._expr, node.shape_env
        if env is None or not getattr(expr, "is_Symbol", False):
            return None
        sources = (getattr(env, "var_to_sources", None) or {}).get(expr)
        if not sources:
            return None
        return sources[0].name() if callable(sources[0].name) else sources[0].name

    # ---------------------------------------------------------------------------------------------
    # Environments.

    def on_env(self, env):
        if env in self.envs:
            return self.envs[env], None
        self.envs[env] = number = self.n_envs
        self.n_envs += 1
        settings = getattr(env, "settings", None)
        return number, json.dumps({k: getattr(settings, k) for k in SETTINGS
                                   if hasattr(settings, k)})

    def write_finals(self):
        """The state of each environment that changed, when a compile has ended."""
        for env, number in list(self.envs.items()):
            final = Final(env)
            seen = final.seen()
            if self.finals.get(env) != seen and \
                    self.c.emit(11, "4s", number, json.dumps(final.as_json(self.texts.of))):
                self.finals[env] = seen


class Final:
    """Reads what an environment knows, by the names that each release of PyTorch has for it."""

    def __init__(self, env):
        get = lambda *names: next((getattr(env, n) for n in names if hasattr(env, n)), None)
        self.ranges, self.replacements = get("var_to_range") or {}, get("replacements") or {}
        self.guards, self.asserts = get("guards") or (), get("deferred_runtime_asserts") or {}
        self.hints, self.divisible = get("backed_var_to_val", "var_to_val") or {}, get("divisible") or ()

    def seen(self):
        """Is equal as long as nothing changed."""
        return (*(tuple(d.values()) for d in (self.ranges, self.replacements, self.hints)), len(self.guards),
                tuple(map(len, self.asserts.values())), frozenset(self.divisible))

    def as_json(self, text):
        pairs = lambda d: {text(k): text(v) for k, v in d.items()}
        return {"ranges": pairs(self.ranges), "replacements": pairs(self.replacements),
                "guards": [text(g.expr) for g in self.guards],
                "asserts": {text(k): [text(a.expr) for a in v] for k, v in self.asserts.items()},
                "hints": pairs(self.hints), "divisible": sorted(map(text, self.divisible))}
