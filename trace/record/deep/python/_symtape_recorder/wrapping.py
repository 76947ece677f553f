"""What of PyTorch is wrapped, module by module, when that module has been imported."""
import dis
import functools
import inspect
import json
import os
import sys
import types

from _symtape_recorder import events, graphs, names
from _symtape_recorder.imports import code_objects

LEVELS = ("counts", "graphs", "all")
COUNTS, GRAPHS, ALL = range(3)

# Methods of ShapeEnv, with the arguments that are written (../shared/README.md, shapeenv/).
ENV_METHODS = {
    "create_symbol": ("val", "source", "dynamic_dim", "constraint_dim", "positive",
                      "do_not_specialize_zero_one"),
    "create_unspecified_symbol": ("val", "source", "dynamic_dim"),
    "create_unbacked_symint": (), "create_unbacked_symfloat": (), "create_unbacked_symbool": (),
    "evaluate_expr": ("orig_expr", "hint", "size_oblivious", "fallback_value"),
    "guard_or_defer_runtime_assert": ("orig_expr",),
    "_set_replacement": ("a", "tgt"), "_update_var_to_range": ("symbol", "vr"),
    "_constrain_range_for_size": ("a", "min", "max"),
    "constrain_symbol_range": ("s", "compiler_min", "compiler_max"),
    "_maybe_evaluate_static": ("expr", "unbacked_only", "compute_hint", "size_oblivious",
                               "axioms"),
    "_rename_unbacked_to": ("orig_s", "new_s"), "_eliminate_unbacked": ("orig_s", "new_s"),
    "freeze": (), "freeze_runtime_asserts": (), "produce_guards_verbose": ()}
# One of two names: torch 2.13 has only the second of these.
ENV_ALTERNATIVES = {"_rename_unbacked_to", "_eliminate_unbacked"}

# Where Python asks for a size as a number.
USES = {"SymInt": ("__int__", "__index__"), "SymFloat": ("__float__", "__int__"),
        "SymBool": ("__bool__",)}
NODE_USES = ("guard_int", "guard_float", "guard_bool")

PYTREE = ("tree_flatten", "tree_unflatten", "tree_map", "tree_map_only", "tree_map_",
          "tree_map_only_", "tree_leaves", "arg_tree_leaves", "tree_iter", "tree_structure",
          "tree_any", "tree_any_only", "tree_all", "tree_all_only", "treespec_dumps",
          "tree_flatten_with_path", "tree_map_with_path")
OTHER_COSTS = ("no_dispatch", "in_kernel_invocation_manager")

# What FakeTensorMode's operator cache takes by itself, for each operator.
CACHE_COSTS = ("_cache_key", "_make_cache_entry", "_output_from_cache_entry")

# Modules whose calls of the above are counted: the compiler's own, which Dynamo never traces.
COST_CALLERS = (
    "torch._subclasses.fake_tensor", "torch._subclasses.fake_utils",
    "torch._subclasses.functional_tensor", "torch._subclasses.meta_utils",
    "torch.fx.experimental.proxy_tensor", "torch._functorch.aot_autograd",
    "torch._functorch._aot_autograd.collect_metadata_analysis",
    "torch._functorch._aot_autograd.graph_capture",
    "torch._functorch._aot_autograd.graph_capture_wrappers",
    "torch._functorch._aot_autograd.traced_function_transforms",
    "torch._functorch._aot_autograd.subclass_utils", "torch._functorch._aot_autograd.utils",
    "torch._dynamo.output_graph", "torch._dynamo.utils")


class CountedPytree(types.ModuleType):
    """torch.utils._pytree as one module sees it: some functions are counted, the rest is its own."""

    def __init__(self, real, counted):
        super().__init__(real.__name__, real.__doc__)
        self.__dict__.update(counted, _symtape_real=real)

    def __getattr__(self, name):
        return getattr(self._symtape_real, name)


class Recorder:
    def __init__(self, c, level, folder, calls):
        self.c, self.level, self.folder, self.calls = c, level, folder, calls
        self.torch_version, self.log, self.missing = None, None, []
        texts = names.Texts()
        self.names = names.Names(c, texts)
        self.graphs = graphs.Graphs(c, texts)
        self.events = events.Events(c, self.graphs, self.names if level >= ALL else None,
                                    self.find_log)
        self.wrapped = 0
        self.active = True
        self.find_handler = lambda: getattr(self.logging, "LOG_TRACE_HANDLER", None)
        self.hooks = {
            "torch": [self.on_torch],
            "torch._dynamo": [self.on_dynamo],
            "torch._guards": [self.on_guards],
            "torch.fx.traceback": [self.on_traceback],
            "torch._subclasses.fake_tensor": [self.on_fake_tensor],
            "torch._subclasses.fake_impls": [self.on_fake_impls],
            "torch.fx.experimental.proxy_tensor": [self.on_proxy_tensor],
            "torch._dynamo.utils": [self.on_dynamo_utils],
            "torch._dynamo.convert_frame": [self.on_convert_frame],
            "torch._logging._internal": [self.on_logging],
        }
        for caller in COST_CALLERS:
            self.hooks.setdefault(caller, []).append(self.count_costs)
        if level >= GRAPHS:
            self.hooks["torch._dynamo.output_graph"].append(self.on_output_graph)
            self.hooks["torch.export._trace"] = [self.on_export]
            self.hooks["torch._dynamo.symbolic_convert"] = [self.on_symbolic_convert]
        if level >= ALL:
            self.hooks["torch.fx.experimental.symbolic_shapes"] = [self.on_symbolic_shapes]
            self.hooks["torch.fx.experimental.sym_node"] = [self.on_sym_node]
            self.hooks["torch._dynamo.symbolic_convert"].append(self.count_instructions)
            self.hooks["torch._dynamo.output_graph"].append(self.on_compiler)
        os.register_at_fork(after_in_child=self.forked)

    def failed(self, what, why):
        self.not_wrapped(what, why)

    def hooked(self):
        self.tell()

    def not_wrapped(self, what, why):
        self.missing.append({"what": what, "why": why})

    def tell(self):
        """What each side file begins with; told again in one that is open."""
        text = json.dumps({"level": LEVELS[self.level], "python": sys.version.split()[0],
                           "torch": self.torch_version, "log": self.log, "wrapped": self.wrapped,
                           "not_wrapped": self.missing, "exclusive_costs": True})
        self.c.start(self.folder, text)
        if self.c.opened():
            self.c.emit(21, "s", text)

    def find_log(self):
        """The file that PyTorch logs to, once it has one; packing puts the two together by it."""
        handler = self.find_handler()
        stream = getattr(handler, "stream", None)
        if stream is None or getattr(handler, "_pid", os.getpid()) != os.getpid():
            return None  # not yet open, or the parent's
        self.log = os.path.basename(os.readlink(f"/proc/self/fd/{stream.fileno()}"))
        self.tell()
        return self.log

    def forked(self):
        """The child has a side file of its own, with ids of its own."""
        if self.active:
            self.begin_file()

    def begin_file(self):
        self.log = None
        self.tell()
        self.graphs.reset()
        self.events.reset()
        self.names.reset()

    @property
    def level_name(self):
        return LEVELS[self.level]

    def set_active(self, active):
        self.active = self.graphs.active = self.events.active = active

    def resume(self, folder):
        """After stop(): what is wrapped already records again, into another folder."""
        self.folder = folder
        self.calls.resume()
        self.set_active(True)
        self.begin_file()

    def stop(self):
        if not self.active:
            return
        self.calls.stop()
        try:
            self.events.stop()
            self.set_active(False)
            self.graphs.reset()
            self.c.stop()
        except Exception:
            pass

    # ---------------------------------------------------------------------------------------------
    # Wrapping one thing.

    def wrap(self, owner, name, kind, extra, label=None, arguments=()):
        """Puts a C wrapper of this kind around owner.name; says so when it is not as expected."""
        what = f"{owner.__module__}.{owner.__qualname__}.{name}" if isinstance(owner, type) \
            else f"{owner.__name__}.{name}"
        inner = owner.__dict__.get(name)
        is_classmethod = isinstance(inner, classmethod)
        if is_classmethod:
            inner = inner.__func__
        if not callable(inner):
            return self.not_wrapped(what, "missing")
        try:
            lacking = [a for a in arguments if a not in inspect.signature(inner).parameters]
        except (TypeError, ValueError):
            lacking = []
        if lacking:
            return self.not_wrapped(what, f"has no argument {', '.join(lacking)}")
        wrapper = self.c.wrap(kind, inner, label or name, extra)
        setattr(owner, name, classmethod(wrapper) if is_classmethod else wrapper)
        self.wrapped += 1

    def replace(self, owner, name, make):
        """Puts a Python function around owner.name."""
        inner = owner.__dict__.get(name)
        if not callable(inner):
            owner_name = getattr(owner, "__qualname__", owner.__name__)
            return self.not_wrapped(f"{owner_name}.{name}", "missing")
        function = make(inner)
        function.__wrapped__ = inner
        function.__name__, function.__qualname__ = name, getattr(inner, "__qualname__", name)
        setattr(owner, name, function)
        self.wrapped += 1

    # ---------------------------------------------------------------------------------------------
    # Hooks, one a module.

    def on_dynamo(self, module):
        reset = module.reset

        @functools.wraps(reset)
        def reset_and_note():
            ret = reset()
            try:
                self.c.ids_again()  # compiles that follow get the ids of those before
            except Exception as error:
                self.failed("a reset", f"{type(error).__name__}: {error}")
            return ret
        module.reset = reset_and_note

    def on_guards(self, module):
        self.c.give("compile_tls", module._TLS)

    def on_traceback(self, module):
        self.c.give("fx_globals", module.__dict__)

    def on_torch(self, module):
        self.names.torch_root = os.path.dirname(os.path.abspath(module.__file__)) + os.sep
        self.torch_version = str(getattr(module, "__version__", ""))
        if self.level >= ALL:
            for owner, methods in USES.items():
                for name in methods:
                    if owner == "SymFloat" and name not in module.SymFloat.__dict__:
                        continue
                    self.wrap(getattr(module, owner), name, "use", None)

    def on_sym_node(self, module):
        for name in NODE_USES:
            self.wrap(module.SymNode, name, "use", None)

    def on_fake_tensor(self, module):
        mode = module.FakeTensorMode
        self.c.give("fake_mode", mode)
        self.wrap(mode, "__torch_dispatch__", "dispatch", 0,
                  "FakeTensorMode.__torch_dispatch__", ("func", "types", "args", "kwargs"))
        self.wrap(module.FakeTensor, "__torch_dispatch__", "dispatch", 1,
                  "FakeTensor.__torch_dispatch__", ("func", "types", "args", "kwargs"))
        for name in CACHE_COSTS:
            self.wrap(mode, name, "operator cost", module.__name__)
        self.count_bypasses(mode)
        device = module.FakeTensor.__dict__.get("device")
        if isinstance(device, property):
            module.FakeTensor.device = property(
                self.c.wrap("cost", device.fget, "device", module.__name__),
                device.fset, device.fdel, device.__doc__)
            self.wrapped += 1
        else:
            self.not_wrapped("torch._subclasses.fake_tensor.FakeTensor.device", "no property")

    def count_bypasses(self, mode):
        bypasses = mode.__dict__.get("cache_bypasses")
        if not isinstance(bypasses, dict):
            return self.not_wrapped("FakeTensorMode.cache_bypasses", "no dict")
        kind = type(bypasses)
        counted = type(kind.__name__, (kind,), {
            "__setitem__": self.c.wrap("bypass", kind.__setitem__, "cache_bypasses", None)})
        mode.cache_bypasses = counted(*([bypasses.default_factory] if hasattr(
            bypasses, "default_factory") else []), **bypasses)

    def on_fake_impls(self, module):
        self.wrap(module, "count_label", "label", None)

    def on_proxy_tensor(self, module):
        self.wrap(module.ProxyTorchDispatchMode, "__torch_dispatch__", "dispatch", 2,
                  "ProxyTorchDispatchMode.__torch_dispatch__", ("func", "types", "args", "kwargs"))
        if self.level >= GRAPHS:
            self.replace(module.PythonKeyTracer, "create_node", self.graphs.watch_aot)
            self.replace(module, "dispatch_trace", self.graphs.watch_trace)

    def on_output_graph(self, module):
        self.replace(module.SubgraphTracer, "create_node", self.graphs.watch_dynamo)
        self.graphs.watch_erasing(self)
        self.graphs.watch_renaming(self)

    def on_compiler(self, module):
        """The backend's time is not that of the instruction at which Dynamo calls it."""
        self.wrap(module.OutputGraph, "call_user_compiler", "mapped", None)

    def on_symbolic_convert(self, module):
        self.replace(module.InstructionTranslatorBase, "run", self.graphs.watch_tracing)

    def count_instructions(self, module):
        """Dynamo's handlers of bytecode instructions, each with its classes' tables (BytecodeDispatchTableMeta)."""
        counted = {}
        for owner in list(module.__dict__.values()):
            table = owner.__dict__.get("dispatch_table") if isinstance(owner, type) else None
            for opcode, handler in enumerate(table if isinstance(table, list) else ()):
                if not isinstance(handler, types.FunctionType):
                    continue  # no such instruction, or one that Dynamo does not know
                name = dis.opname[opcode]
                if (name, handler) not in counted:
                    counted[name, handler] = self.c.wrap("cost", handler, name, module.__name__)
                    self.wrapped += 1
                table[opcode] = counted[name, handler]
        if not counted:
            self.not_wrapped("torch._dynamo.symbolic_convert", "no dispatch tables")

    def on_export(self, module):
        self.replace(module, "produce_guards_and_solve_constraints", self.graphs.watch_constraints)

    def on_symbolic_shapes(self, module):
        for name, arguments in ENV_METHODS.items():
            method = module.ShapeEnv.__dict__.get(name)
            if method is None and name in ENV_ALTERNATIVES:
                continue
            try:
                parameters = list(inspect.signature(method).parameters)
            except (TypeError, ValueError):
                parameters = []
            positions = [(a, parameters.index(a)) for a in arguments if a in parameters]
            self.wrap(module.ShapeEnv, name, "env", positions)

    def count_costs(self, module):
        """In one module only: names that it imported, and its view of torch.utils._pytree."""
        import torch.utils._pytree as real
        caller = module.__name__
        counted = {name: self.c.wrap("cost", getattr(real, name), name, caller)
                   for name in PYTREE if hasattr(real, name)}
        for name, value in list(module.__dict__.items()):
            if value is real:
                setattr(module, name, CountedPytree(real, counted))
                self.wrapped += len(counted)
            elif name in counted and value is getattr(real, name):
                setattr(module, name, counted[name])
                self.wrapped += 1
            elif name in OTHER_COSTS and callable(value):
                self.wrap(module, name, "cost", caller)

    def on_dynamo_utils(self, module):
        logger = getattr(module, "ChromiumEventLogger", None)
        if logger is None:
            return self.not_wrapped("torch._dynamo.utils.ChromiumEventLogger", "missing")
        self.replace(logger, "log_event_start", self.events.watch_start)
        self.replace(logger, "log_event_end", self.events.watch_end)

    def on_logging(self, module):
        self.logging = module
        module.trace_log.addFilter(self.events.on_record)

    def on_convert_frame(self, module):
        """Dynamo must not try to compile the recorder."""
        skip = module.skip_code
        for recorder_module in (sys.modules[__name__], events, graphs, names):
            for code in code_objects(recorder_module):
                skip(code)
