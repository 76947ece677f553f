"""Graphs as they grow: each node is written when it is made, its result when that is known, so that
a compile that raises or is killed leaves what it had traced."""
import functools
import os
import sys
import time
import traceback
import weakref

GRAPH, NODE, META, ERASE, STATE, RENAME, SIZES = 16, 17, 18, 19, 20, 22, 23
DYNAMO, AOT = 0, 1
PLACEHOLDER, STATEMENT, OUTPUT = 0, 1, 2
OPEN, RETURNED, LOGGED, RAISED = range(4)

# Nodes wait for their result until so many others were made; placeholders wait longer.
PATIENCE = 64

# Functions of Dynamo within which a branch on a tensor raises.
JUMPS = {"inner", "raise_jump_graph_break"}


class Tracked:
    def __init__(self, graph, number, kind, context):
        self.graph = weakref.ref(graph)
        self.number, self.kind, self.context = number, kind, context
        self.numbers = {}  # node -> its number here
        self.waiting = {}  # node whose result is not yet known -> its number
        self.statement = Statement(self.numbers)
        self.sizes = {}    # symbol -> its hint, of a graph that no compile has: PyTorch logs no symbols
        self.state = OPEN
        self.n_nodes = 0
        self.has_branch = False  # whether the branch that ended the trace was added


class Sizes:
    """Texts of sizes by expression, as long as an environment replaces no other symbol: SymNode.expr makes the
    replacements in each node again."""

    def __init__(self):
        self.env = self.version = None
        self.texts = {}

    def of(self, node):
        """None where PyTorch does not count replacements."""
        env = getattr(node, "shape_env", None)
        version = getattr(env, "_replacements_version_counter", None)
        if version is None or not hasattr(node, "_expr"):
            return None
        version = version, len(env.replacements)  # patch_source_specialization() does not count its own
        if self.env is None or self.env() is not env or self.version != version:
            self.env, self.version, self.texts = weakref.ref(env), version, {}
        return self.texts


class Graphs:
    def __init__(self, c, texts):
        self.c, self.texts, self.sizes, self.active = c, texts, Sizes(), True
        self.reset()

    def reset(self):
        self.tracked, self.n_graphs, self.nesting = {}, 0, 0
        self.last_traced = 0  # the number of the last graph that was traced outside of compiles
        self.done = set()  # contexts whose ATen graphs PyTorch has logged

    # ---------------------------------------------------------------------------------------------
    # What is wrapped.

    def watch_dynamo(self, create_node):
        return self.watch_nodes(create_node, DYNAMO)

    def watch_aot(self, create_node):
        return self.watch_nodes(create_node, AOT)

    def watch_nodes(self, create_node, kind):
        def call(tracer, *args, **kwargs):
            node = create_node(tracer, *args, **kwargs)
            if not self.active:
                return node
            began = time.perf_counter_ns()
            try:
                self.on_node(kind, node)
            except Exception:
                pass  # a node that cannot be written must not cost the compile
            self.c.spent(time.perf_counter_ns() - began)
            return node
        return call

    def watch_trace(self, dispatch_trace):
        def call(*args, **kwargs):
            self.nesting += 1
            before = set(self.tracked)
            try:
                ret = dispatch_trace(*args, **kwargs)
            except BaseException as error:
                self.end_trace(before, RAISED, error)
                raise
            finally:
                self.nesting -= 1
            self.end_trace(before, RETURNED, None)
            return ret
        return call

    def watch_tracing(self, run):
        """Dynamo traces a function; functions that it inlines are traced within."""
        def call(translator, *args, **kwargs):
            try:
                return run(translator, *args, **kwargs)
            except BaseException as error:
                if self.active:
                    self.add_dynamo_branch(translator, error)
                raise
        return call

    def watch_constraints(self, produce_guards):
        """torch.export checks the constraints of dynamic shapes when it has traced: the graph is what violates them."""
        def call(*args, **kwargs):
            try:
                return produce_guards(*args, **kwargs)
            except BaseException as error:
                if self.active and self.last_traced:
                    self.c.emit(STATE, "44s", self.last_traced, RAISED, type(error).__name__)
                raise
        return call

    def watch_erasing(self, recorder):
        graph = sys.modules["torch"].fx.Graph

        def make(erase_node):
            def call(this, node):
                if (tracked := self.tracked.get(id(this))) and tracked.graph() is this:
                    tracked.waiting.pop(node, None)
                    if number := tracked.numbers.pop(node, None):
                        self.c.emit(ERASE, "44", tracked.number, number)
                return erase_node(this, node)
            return call
        recorder.replace(graph, "erase_node", make)

    def watch_renaming(self, recorder):
        """Dynamo calls a node by the variable that its value is stored in."""
        def make(rename):
            def call(node, *args, **kwargs):
                ret = rename(node, *args, **kwargs)
                tracked = self.tracked.get(id(node.graph))
                if tracked is not None and (number := tracked.numbers.get(node)):
                    self.c.emit(RENAME, "44s", tracked.number, number, node.name)
                return ret
            return call
        recorder.replace(sys.modules["torch"].fx.Node, "_rename", make)

    # ---------------------------------------------------------------------------------------------
    # What happens.

    def on_node(self, kind, node):
        context, stack = self.c.place()
        tracked = self.tracked.get(id(node.graph))
        if tracked is None or tracked.graph() is not node.graph:
            if kind == AOT and context in self.done:
                return  # Inductor's patterns and the like
            tracked = self.begin(node.graph, kind, context)
        self.write_results(tracked)
        op = node.op
        role = PLACEHOLDER if op == "placeholder" else OUTPUT if op == "output" else STATEMENT
        tracked.n_nodes += 1
        tracked.numbers[node] = tracked.n_nodes
        self.c.emit(NODE, "4444ss", tracked.number, tracked.n_nodes, stack, role, node.name,
                    tracked.statement.text(node))
        if role != OUTPUT:
            tracked.waiting[node] = tracked.n_nodes

    def begin(self, graph, kind, context):
        self.n_graphs += 1
        tracked = self.tracked[id(graph)] = Tracked(graph, self.n_graphs, kind, context)
        self.c.emit(GRAPH, "44448", self.n_graphs, context, kind, max(self.nesting - 1, 0),
                    self.c.now())
        return tracked

    def write_results(self, tracked):
        """Those that have become known: metas are set after the node is made."""
        for node, number in list(tracked.waiting.items()):
            meta = node.meta
            value = meta["val"] if "val" in meta else meta.get("example_value", self)
            if value is not self:
                self.c.emit(META, "44s", tracked.number, number, self.annotation(value))
                if not tracked.context and node.op == "placeholder":
                    self.add_sizes(tracked.sizes, value)
                del tracked.waiting[node]
            elif tracked.n_nodes - number >= PATIENCE and node.op != "placeholder":
                del tracked.waiting[node]

    def set_state(self, tracked, state, error):
        try:
            self.write_results(tracked)
        except Exception:
            pass
        tracked.state = state
        self.c.emit(STATE, "44s", tracked.number, state, error)

    def end_trace(self, before, state, error):
        for key in [k for k, t in self.tracked.items() if k not in before and t.kind == AOT]:
            tracked = self.tracked[key]
            if tracked.state == OPEN:
                if error is not None:
                    self.add_branch(tracked, error)
                self.set_state(tracked, state, type(error).__name__ if error is not None else "")
            if not tracked.context:
                self.last_traced = tracked.number
                self.c.emit(SIZES, "4s", tracked.number, ",".join(
                    f"{symbol}={size}" for symbol, size in tracked.sizes.items()))
                del self.tracked[key]

    def logged(self, kind, context):
        """PyTorch logged a graph of this kind: it is on the tape, whole."""
        for key, tracked in list(self.tracked.items()):
            if tracked.kind == kind and tracked.context == context:
                self.c.emit(STATE, "44s", tracked.number, LOGGED, "")
                del self.tracked[key]
        if kind == AOT:
            self.done.add(context)

    def compile_ended(self, context, error):
        for key, tracked in list(self.tracked.items()):
            if tracked.context != context:
                continue
            if error is None:
                self.c.emit(STATE, "44s", tracked.number, LOGGED, "")
            else:
                self.set_state(tracked, RAISED, error)
            del self.tracked[key]

    def add_dynamo_branch(self, translator, error):
        try:
            graph = translator.output.graph
            tracked = self.tracked.get(id(graph))
            if tracked is not None and tracked.graph() is graph:
                self.add_branch(tracked, error)
        except Exception:
            pass  # this PyTorch keeps its graph elsewhere

    def add_branch(self, tracked, error):
        """Adds a call of _operator.truth on the condition of the branch that ended the trace: PyTorch makes no node of it."""
        try:
            node = branched_on(error) if tracked.kind == DYNAMO else last_that_is(error.cond, tracked)
            if (number := tracked.numbers.get(node)) and not tracked.has_branch:
                tracked.has_branch = True
                tracked.n_nodes += 1
                self.c.emit(NODE, "4444ss", tracked.number, tracked.n_nodes, self.stack_of(error), STATEMENT,
                            f"truth_{tracked.n_nodes}", f"_operator.truth(\1{number}\2)")
        except Exception:
            pass  # the graph is then without it

    def stack_of(self, error):
        """Where the user's code raised: Dynamo says it, and otherwise the user's frames ran."""
        others = tuple(os.path.dirname(file) + os.sep for file in (sys.modules["torch"].__file__, __file__))
        stack = getattr(error, "real_stack", None) or traceback.StackSummary.from_list(
            frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(others))
        return self.c.stack_of("".join(stack.format())) if stack else 0

    # ---------------------------------------------------------------------------------------------
    # How a result is shown: as print_readable() does with strides and devices.

    def annotation(self, value):
        torch = sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            return self.tensor_text(value, torch)
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return f"Sym({self.size_texts((value,))[0]})"
        if isinstance(value, (bool, int, float)):
            return f"Sym({value})"
        return ""

    def tensor_text(self, t, torch):
        dtype = torch.fx.graph.dtype_abbrs.get(t.dtype) or str(t.dtype).replace("torch.", "")
        shape, strides = t.shape, ""
        has_strides = t.layout == torch.strided and not t.is_nested
        texts = self.size_texts((*shape, *t.stride()) if has_strides else shape)
        if has_strides:
            strides = f"[{', '.join(texts[len(shape):])}]"
        # Not FakeTensor.device, which would be counted as PyTorch's own use of it.
        device = getattr(t, "fake_device", None) or t.device
        return f"{dtype}[{', '.join(texts[:len(shape)])}]{strides}{device}"

    def size_texts(self, sizes):
        """No symbol is replaced meanwhile, so that an environment is asked once."""
        texts, env, state = [], None, None
        for s in sizes:
            if isinstance(s, int):
                texts.append(str(s))
                continue
            node = s.node
            if (own := getattr(node, "shape_env", None)) is None or own is not env:
                env, state = own, self.sizes.of(node)
            texts.append(self.size_text(s, node, state))
        return texts

    def size_text(self, s, node, state):
        if state is None:
            expr = getattr(node, "expr", None)  # nested ints and constants have none
            return self.texts.of(s if expr is None else expr)
        expr = node._expr
        key = type(expr), expr
        text = state.get(key)
        if text is None:
            text = state[key] = self.texts.of(node.expr)
        return text

    def add_sizes(self, sizes, value):
        torch = sys.modules["torch"]
        for s in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(s, torch.SymInt):
                env = s.node.shape_env
                hints = getattr(env, "backed_var_to_val", None) or getattr(env, "var_to_val", {})
                sizes.update((str(symbol), int(hints[symbol])) for symbol in s.node.expr.free_symbols
                             if symbol in hints)


class Statement:
    """How a node is written as Python: its right-hand side, a placeholder's target, an output's
    value (torch/fx/graph.py, CodeGen). Other nodes are referred to by number."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.node, self.operator = sys.modules["torch.fx"].Node, sys.modules["torch"]._ops.OpOverload

    def text(self, node):
        args, kwargs = node.args, node.kwargs
        if node.op == "placeholder":
            return str(node.target)
        if node.op == "output":
            return self.argument(args[0]) if args else "None"
        if node.op == "get_attr":
            return member("self", node.target)
        if node.op == "call_module":
            return f"{member('self', node.target)}({self.arguments(args, kwargs)})"
        if node.op == "call_method":
            return (f"{member(self.argument(args[0]), node.target)}"
                    f"({self.arguments(args[1:], kwargs)})")
        return self.call_function(node.target, args, kwargs)

    def call_function(self, target, args, kwargs):
        if isinstance(target, self.operator):
            return f"{operator_name(target)}({self.arguments(args, kwargs)})"
        graph = sys.modules["torch.fx.graph"]
        name = getattr(target, "__name__", "")
        if getattr(target, "__module__", "") == "_operator" and not kwargs:
            form = graph.magic_methods.get(name)
            if form:
                return form.format(*(self.argument(a) for a in args))
        try:
            name = graph._get_qualified_name(target)
        except Exception:
            name = name or str(target)
        if name == "getattr" and len(args) == 2 and isinstance(args[1], str) and \
                args[1].isidentifier():
            return member(self.argument(args[0]), args[1])
        return f"{name}({self.arguments(args, kwargs)})"

    def arguments(self, args, kwargs):
        texts = [self.argument(a) for a in args]
        if kwargs:
            texts += [f"{k} = {self.argument(v)}" for k, v in kwargs.items()]
        return ", ".join(texts)

    def argument(self, a):
        if isinstance(a, self.node):
            number = self.numbers.get(a)
            return f"\1{number}\2" if number else a.name
        if isinstance(a, (bool, int, float, str)) or a is None:
            return repr(a)
        if type(a) is tuple:
            return f"({', '.join(map(self.argument, a))}{',' if len(a) == 1 else ''})"
        if isinstance(a, list):
            return f"[{', '.join(map(self.argument, a))}]"
        if isinstance(a, slice):
            return (f"slice({self.argument(a.start)}, {self.argument(a.stop)}, "
                    f"{self.argument(a.step)})")
        if isinstance(a, dict):
            return f"{{{', '.join(f'{k!r}: {self.argument(v)}' for k, v in a.items())}}}"
        if isinstance(a, type):
            return f"{a.__module__}.{a.__qualname__}"
        if isinstance(a, self.operator):
            return f"torch.ops.{a}"
        return repr(a)


def branched_on(error):
    """The node of the tensor that a branch of Dynamo's depends on; None if it raised elsewhere: `value` where
    generic_jump() of torch/_dynamo/symbolic_convert.py raises."""
    exc = sys.modules["torch._dynamo.exc"]
    if not isinstance(error, (exc.Unsupported, exc.UserError)):
        return None
    value = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name in JUMPS and frame.f_code.co_filename.endswith("symbolic_convert.py"):
            value = frame.f_locals.get("value")
    is_tensor = isinstance(value, sys.modules["torch._dynamo.variables"].TensorVariable)
    return value.as_proxy().node if is_tensor else None


def last_that_is(condition, tracked):
    """The last node whose value is a condition that depends on data (GuardOnDataDependentSymNode.cond, which has the hints
    of other symbols). None if the last call has no result: then that call asked, and not the program."""
    torch = sys.modules["torch"]
    calls = [node for node in tracked.numbers if node.op != "placeholder"]
    if not calls or "val" not in calls[-1].meta:
        return None
    for node in reversed(calls):
        value = node.meta.get("val")
        if isinstance(value, torch.SymBool):
            env, expr = value.node.shape_env, value.node.expr
            hints = getattr(env, "backed_var_to_val", None) or getattr(env, "var_to_val", None) or {}
            if condition in (expr, expr.xreplace(hints)):
                return node
    return None


@functools.lru_cache(maxsize=4096)
def operator_name(operator):
    try:
        return sys.modules["torch.fx.graph"]._get_qualified_name(operator)
    except Exception:
        return getattr(operator, "__name__", "") or str(operator)


def member(base, path):
    for part in str(path).split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base
