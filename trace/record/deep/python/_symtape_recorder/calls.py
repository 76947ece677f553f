"""`symtape record --calls`: notes each call of a compiled function, and which compiled entry answered
it, as rows of the process's own TORCH_TRACE log (symtape-deep(5), symtape_calls).

Nothing that the program holds is replaced. PyTorch's own functions tell what happens:
- the wrapper that torch.compile() returns calls _callback_from_stance() and _maybe_set_eval_frame()
  when a call begins and ends (torch/_dynamo/eval_frame.py);
- an entry's guards get one more, which always passes and is checked when all others have passed, so
  it sees which entry answers, and the frame's locals (torch/_dynamo/guards.py);
- _compile() sees the locals of a frame that no entry answers (torch/_dynamo/convert_frame.py);
- reset_code_caches() forgets all entries, and compile ids begin again at 0/0 after reset()
  (torch/_dynamo/__init__.py);
- the backward of a compiled graph is a method of the class CompiledFunction
  (torch/_functorch/_aot_autograd/runtime_wrappers.py).

A failure here is never the program's."""
import atexit
import functools
import hashlib
import inspect
import itertools
import logging
import math
import os
import sys
import threading
import time
import weakref

from _symtape_recorder import call_modes, call_values
from _symtape_recorder.call_state import CodeState
from _symtape_recorder.imports import code_objects

MOST_CALLS = 1_000_000
MOST_BYTES = 256 << 20     # of all rows
MOST_ROWS_KNOWN = 4096     # keys of rows that later rows can refer to
MOST_CODES = 10_000
MOST_BACKENDS = 100
FLUSH_ROWS, FLUSH_BYTES, FLUSH_SECONDS = 512, 1 << 20, 1.0


class Entry:
    """A compiled entry, as its last guard knows it."""
    __slots__ = ("id", "code", "loose", "mode", "root", "fixed", "last", "key", "sources", "states")

    def __init__(self, compile_id, code, loose, call, fixed):
        self.id, self.code, self.loose = compile_id, code, loose
        # GLOBAL_STATE guards the modes, but for inference mode.
        self.mode = call.mode if call is not None else None
        self.root = None  # the function whose calls it answers
        self.fixed = fixed  # the sources of the tensors that TENSOR_MATCH compares with constants
        # The last look-up that it answered, and what compares the next one with it, by argument:
        # [((name, key), kind, part), ...], as Values.check_of() makes them. Replaced at once, because
        # threads share it.
        self.last = None
        self.key = None  # the last key of a call that it answered and in which nothing was compiled
        # What CodeState.read() returns without reading anything.
        self.sources, self.states = code.state.sources, {} if loose else code.state.last


class Code:
    """A code object that was compiled or called; it is not kept alive. Resume functions of several
    compiles may share a name; `frame_id` is the first number of the compile ids of this one."""
    __slots__ = ("name", "free", "state", "frame_id")

    def __init__(self, code, globals_name):
        self.name = f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}"
        self.free = frozenset(code.co_freevars)
        self.state = CodeState(globals_name)
        self.frame_id = None

    def compiled(self, compile_id):
        """Notes the id of a compile of it: "3/0"."""
        frame_id, _, number = compile_id.partition("/")
        if frame_id.isdecimal() and number.isdecimal():
            self.frame_id = int(frame_id)


class Call:
    """A call that runs; agent_calls.c has the same in C."""
    __slots__ = ("number", "frame", "objects", "began", "outer", "armed", "looked", "compiling",
                 "compiles", "refused", "mode", "entry", "region", "backward_of", "shift", "first",
                 "numbers", "n", "backend", "interrupt")

    def __init__(self, number, frame, objects, backend=None):
        self.number, self.frame, self.objects, self.backend = number, frame, objects, backend
        self.armed, self.looked, self.compiling = False, [], 0
        self.compiles = self.refused = ()
        self.mode = self.entry = self.backward_of = self.interrupt = None
        self.shift = 0  # how many of `looked` came before the called function, which is the first look-up
        self.first, self.numbers, self.n = objects.next, [], 0  # as call_values.New


class Thread(threading.local):
    def __init__(self):
        self.stack, self.done = [], []


class Calls:
    def __init__(self, fast=None):
        """`fast`: the C part, which notes those calls that are as the calls before them."""
        self.fast, self.Call = fast, fast.Call if fast else Call
        self.active, self.missing, self.torch, self.stance = True, [], None, None
        self.thread, self.lock = Thread(), threading.RLock()
        self.codes, self.targets, self.compiled = {}, {}, False
        self.begin()
        self.hooks = {
            "torch._dynamo": [self.on_dynamo],
            "torch._dynamo.eval_frame": [self.on_eval_frame],
            "torch._dynamo.guards": [self.on_guards],
            "torch._dynamo.convert_frame": [self.on_convert_frame],
            "torch._functorch._aot_autograd.runtime_wrappers": [self.on_autograd],
        }
        os.register_at_fork(after_in_child=self.forked)
        atexit.register(self.stop)

    def begin(self):
        with self.lock:
            self.begin_locked()

    def begin_locked(self):
        self.numbers = itertools.count()
        self.objects = self.fast.Objects() if self.fast else call_values.Objects()
        self.values = self.modes = None
        self.backends, self.callbacks = [], {}
        # How often all entries were forgotten, and how often compile ids began again; whether no
        # compile has an id of the present generation.
        self.resets, self.generation, self.unused_ids = 0, 0, True
        if self.fast:
            self.fast.watch_calls()  # not before the next call begins
        self.known, self.last = {}, None   # key -> number of its row; the run of equal rows
        self.rows, self.bytes, self.written = [], 0, 0
        self.calls, self.dropped, self.full = 0, 0, False
        self.flushed, self.told = time.monotonic(), None

    @property
    def active(self):
        return self.is_active

    @active.setter
    def active(self, active):
        self.is_active = active
        if self.fast:
            self.fast.set_active(active)

    def forked(self):
        """The child has a log of its own."""
        self.thread, self.lock, self.compiled = Thread(), threading.RLock(), False
        self.begin()

    def resume(self):
        self.begin()
        self.active = True

    def hooked(self):
        pass

    def failed(self, what, why):
        self.missing.append({"what": what, "why": why})

    # ---------------------------------------------------------------------------------------------
    # Hooks.

    def on_dynamo(self, module):
        def watched(reset, began_again):
            @functools.wraps(reset)
            def reset_and_note():
                ret = reset()
                try:
                    self.caches_reset(began_again)
                except Exception as error:
                    self.failed("a reset", f"{type(error).__name__}: {error}")
                return ret
            return reset_and_note
        # reset() calls reset_code_caches().
        module.reset_code_caches = watched(module.reset_code_caches, False)
        module.reset = watched(module.reset, True)

    def on_eval_frame(self, module):
        if "compile_wrapper" not in inspect.getsource(module):
            raise RuntimeError("torch.compile() has no compile_wrapper")
        self.stance = lambda: getattr(module._stance, "stance", None)
        wrap = self.fast.wrap_eval_frame if self.fast else self.wrap_eval_frame
        module._callback_from_stance, module._maybe_set_eval_frame = wrap(
            module._callback_from_stance, module._maybe_set_eval_frame, self.prepare)

    def wrap_eval_frame(self, start, end, prepare):
        """As agent_wrap_eval_frame() of agent_calls.c."""
        get_frame = sys._getframe

        @functools.wraps(start)
        def callback_from_stance(callback):
            ret = start(callback)  # it raises when a stance forbids the call
            if self.active:
                frame = get_frame(1)
                if frame.f_code.co_name == "compile_wrapper":
                    if self.values is None:
                        prepare()
                    stack = self.thread.stack
                    # An interrupt kept a call from its end if another one begins in its frame's place.
                    while stack and stack[-1].frame == id(frame):
                        stack.pop()
                    stack.append(Call(next(self.numbers), id(frame), self.objects,
                                      self.backend_of(callback, ret)))
            return ret

        @functools.wraps(end)
        def maybe_set_eval_frame(callback):
            stack, interrupt = self.thread.stack, None
            try:
                if stack:
                    call, frame = stack[-1], get_frame(1)
                    if call.frame == id(frame):
                        if call.armed:
                            stack.pop()
                            interrupt = call.interrupt
                            raised, value, _ = sys.exc_info()
                            self.call_ends(call, raised if id(value) != call.outer else None,
                                           time.perf_counter() - call.began, frame)
                        else:
                            call.armed = True
                            call.outer = id(sys.exc_info()[1])
                            call.began = time.perf_counter()
            except Exception:
                self.dropped += 1
            finally:  # after an interrupt, too
                ret = end(callback)
            if interrupt is not None:
                raise interrupt
            return ret
        return callback_from_stance, maybe_set_eval_frame

    def on_guards(self, module):
        manager = module.CheckFunctionManager
        make = manager.__init__
        signature = inspect.signature(make)
        context = module.CompileContext if hasattr(module, "CompileContext") \
            else sys.modules["torch._guards"].CompileContext

        @functools.wraps(make)
        def init(this, *args, **kwargs):
            sources = None
            if self.active:
                try:
                    given = signature.bind(this, *args, **kwargs).arguments
                    sources = self.sources_of(given["output_graph"],
                                              given.get("guard_filter_fn") is not None)
                except Exception as error:
                    self.failed("sources of guards", f"{type(error).__name__}: {error}")
            make(this, *args, **kwargs)
            if sources is not None:
                try:
                    self.watch_entry(this.guard_manager.root, given["f_code"],
                                     str(context.current_compile_id()), *sources)
                except Exception as error:
                    self.failed("guards of an entry", f"{type(error).__name__}: {error}")
        manager.__init__ = init

    def on_convert_frame(self, module):
        compile_frame = module._compile
        signature = inspect.signature(compile_frame)

        @functools.wraps(compile_frame)
        def compile_and_note(*args, **kwargs):
            call = lookup = None
            if self.active:
                self.unused_ids = False
                try:
                    given = signature.bind(*args, **kwargs).arguments
                    call = self.thread.stack[-1] if self.thread.stack else None
                    if call is not None:
                        lookup = self.compile_begins(call, given)
                except Exception:
                    self.dropped += 1
            if call is None:
                return compile_frame(*args, **kwargs)
            call.compiling += 1
            try:
                ret = compile_frame(*args, **kwargs)
                if lookup is not None and getattr(ret, "guarded_code", ret) is not None:
                    lookup[1] = "compiled"
                    self.note_state(lookup, given["locals"])
                return ret
            except Exception as error:
                if lookup is not None and is_refusal(error):
                    self.compile_refused(call, lookup)
                raise
            finally:
                call.compiling -= 1
                self.compiled = True
        module._compile = compile_and_note
        for recorder_module in (sys.modules[__name__], call_modes, call_values,
                                sys.modules[CodeState.__module__]):
            for code in code_objects(recorder_module):
                module.skip_code(code)

    def on_autograd(self, module):
        """CompiledFunction is a class in a function of this module; its metaclass sees it."""
        meta = type(sys.modules["torch"].autograd.Function)
        make = meta.__init__

        @functools.wraps(make)
        def init(cls, name, bases, attrs):
            make(cls, name, bases, attrs)
            if name == "CompiledFunction" and attrs.get("__module__") == module.__name__:
                try:
                    self.watch_autograd(cls)
                except Exception as error:
                    self.failed("CompiledFunction", f"{type(error).__name__}: {error}")
        meta.__init__ = init

    def watch_autograd(self, cls):
        forward, backward = cls.forward, cls.backward

        @functools.wraps(forward)
        def note_forward(ctx, *args):
            if self.active and self.thread.stack:
                try:
                    call = self.thread.stack[-1]
                    ctx._symtape_call = call, len(call.looked) - 1
                except Exception:
                    pass
            return forward(ctx, *args)

        @functools.wraps(backward)
        def note_backward(ctx, *args):
            forward = getattr(ctx, "_symtape_call", None)
            if not self.active or forward is None:
                return backward(ctx, *args)
            call = None
            try:
                call = self.backward_begins(*forward, args)
            except Exception:
                self.dropped += 1
            try:
                return backward(ctx, *args)
            finally:
                if call is not None:
                    try:
                        self.thread.stack.remove(call)
                        self.call_ends(call, None, time.perf_counter() - call.began)
                    except Exception:
                        self.dropped += 1
        cls.forward, cls.backward = staticmethod(note_forward), staticmethod(note_backward)

    # ---------------------------------------------------------------------------------------------
    # Entries.

    def sources_of(self, output, filtered):
        """The sources of guards, and those of inputs that are dynamic or whose values may change
        while the guards hold; those of dicts whose number of keys is guarded; the module of the
        globals; and the sources of tensors whose guards compare sizes, strides, dtype and device with
        constants, if no guards are filtered."""
        texts = [called(g.name) for g in output.guards or ()]
        texts += [f"{called(g.name)}.__dict__" for g in output.guards or () if is_of_absence(g)]
        loose, fixed = [], set()
        for fake in getattr(output, "tracked_fakes", None) or ():
            if is_dynamic(fake.fake):
                loose.append(called(fake.source.name))
            else:
                fixed.add(called(fake.source.name))
        fixed &= {called(g.name) for g in output.guards or () if is_tensor_match(g)}
        names = getattr(output, "global_scope", None)
        name = names.get("__name__") if isinstance(names, dict) else None
        if call_values.module_globals(name) is not names:
            name = None
        ordered = sorted(called(s.name) for s in getattr(output, "guard_on_key_order", None) or ())
        return [t for t in texts if t], [t for t in loose if t], ordered, name, \
            frozenset(() if filtered else fixed)

    def watch_entry(self, root, f_code, compile_id, texts, loose, ordered, globals_name, fixed):
        code = self.code_of(f_code, globals_name)
        code.compiled(compile_id)
        code.state.add(texts)
        code.state.add(ordered)
        code.state.ordered = ordered
        loose = code.state.add_loose(loose)
        stack = self.thread.stack
        entry = Entry(compile_id, code, loose, stack[-1] if stack else None, fixed)

        def entry_answers(local):
            if self.active:
                stack = self.thread.stack
                if stack and not stack[-1].compiling:
                    try:
                        self.entry_answers(stack[-1], entry, local)
                    except Exception:
                        self.dropped += 1
                    except BaseException as interrupt:  # PyTorch clears what a guard raises
                        stack[-1].interrupt = interrupt
            return True
        if self.fast:
            entry_answers = self.fast.entry_guard(entry)
        try:
            root.add_epilogue_lambda_guard(entry_answers, ["symtape: the entry answers"], None)
        except TypeError:
            root.add_epilogue_lambda_guard(entry_answers, ["symtape: the entry answers"])

    def code_of(self, code, globals_name=None):
        known = self.codes.get(id(code))
        if known is None or known[0]() is not code:
            if len(self.codes) > MOST_CODES:
                self.codes.clear()
            known = self.codes[id(code)] = weakref.ref(code), Code(code, globals_name)
        if globals_name and known[1].state.globals_name is None:
            known[1].state.globals_name = globals_name
        return known[1]

    # ---------------------------------------------------------------------------------------------
    # What happens.

    def caches_reset(self, began_again):
        """All entries are forgotten, or, if `began_again`, compile ids begin again at 0/0."""
        if not self.active:
            return
        with self.lock:
            self.write_last()
            if began_again:
                self.generation += not self.unused_ids
                self.unused_ids = True
                for _, code in self.codes.values():
                    code.frame_id = None
            else:
                self.resets += 1
            self.callbacks.clear()
            if self.fast:
                self.fast.watch_calls()  # it has kept what backend_of() told

    def prepare(self):
        with self.lock:
            self.prepare_locked()

    def prepare_locked(self):
        self.torch = sys.modules["torch"]
        self.modes = call_modes.Modes(self.torch)
        self.values = call_values.Values(self.torch, self.objects)
        self.inference = self.torch._C.is_inference_mode_enabled
        # torch 2.13 has isolate_recompiles=True.
        self.region = getattr(self.torch._C._dynamo.eval_frame,
                              "get_eval_frame_isolate_recompiles_id", lambda: None)
        if self.fast:
            self.fast.watch_calls(self.thread, self.numbers, self.objects, self.entry_answers,
                                  self.call_ends, self.backend_of, self.inference, self.region,
                                  self.torch._C._len_torch_function_stack)

    def backward_begins(self, forward, look, gradients):
        """`look`: the number of the look-up of `forward` whose graph this is the backward of."""
        call = self.Call(next(self.numbers), None, self.objects)
        call.backward_of, call.began, call.mode = forward.number, time.perf_counter(), self.modes.now()
        if look < 0 or forward.backward_of is not None:
            look = None
        elif look <= forward.shift:
            look = look + 1 if look < forward.shift else 0
        if len(gradients) == 1 and type(gradients[0]) is list:  # a list that the callee empties
            gradients = gradients[0]
        call.looked = look, tuple((f"grads[{i}]", self.values.key(g, call))
                                  for i, g in enumerate(gradients))
        self.thread.stack.append(call)
        return call

    def compile_begins(self, call, given):
        if call.backward_of is not None or call.objects is not self.objects:
            return None
        names = given["globals"]
        name = names.get("__name__")
        code = self.code_of(given["code"],
                            name if call_values.module_globals(name) is names else None)
        compile_id = str(given["compile_id"])
        code.compiled(compile_id)
        call.compiles += compile_id,
        if call.mode is None:
            call.mode = self.modes.now()
        return self.look_up(call, code, None, given["locals"], "no entry", compile_id)

    def compile_refused(self, call, lookup):
        lookup[1], compile_id = "eager", lookup[2]
        call.compiles = tuple(c for c in call.compiles if c != compile_id)
        call.refused += compile_id,

    def note_state(self, lookup, local):
        try:
            state = dict(lookup[6])
            with self.torch._C.DisableTorchFunction():
                state.update(lookup[0].state.note(lookup[3], local, self.values, KNOWN))
            lookup[6] = tuple(state.items())
        except Exception:
            self.dropped += 1

    def entry_answers(self, call, entry, local):
        if call.backward_of is not None or call.objects is not self.objects:
            return
        if call.mode is None:
            call.entry, call.mode, call.region = entry, entry.mode, self.region()
            if call.mode is None or call.mode[1] != self.inference():
                call.mode = self.modes.now()
        self.look_up(call, entry.code, entry, local, "hit", entry.id)

    def look_up(self, call, code, entry, local, outcome, answered):
        c = self.torch._C
        if c._len_torch_function_stack():
            with c.DisableTorchFunction():
                return self.look_up_plainly(call, code, entry, local, outcome, answered)
        return self.look_up_plainly(call, code, entry, local, outcome, answered)

    def look_up_plainly(self, call, code, entry, local, outcome, answered):
        values = self.values
        module, training, makers, args = -1, None, values.makers, []
        last, checks = entry.last or NEVER if entry is not None else NEVER
        again, n, changed = last is not None, 0, {}
        for name, value in local.items():
            if n < len(checks):
                (known, kind, part), met = checks[n], call.n
                if kind is not None and known[0] == name \
                        and values.is_again(value, call, known[1], kind, part):
                    args.append(known)
                    n += 1
                    continue
                call.n = met
            maker = makers.get(type(value))
            if maker is not None:
                key = maker(value, call)
            elif name == "self" and isinstance(value, self.torch.nn.Module):
                module, training = self.objects.number(value), value.training
                continue
            else:
                key = values.key(value, call)
            again, changed[n] = False, value
            args.append((name, key))
            n += 1
        state = code.state.read(entry, module, local, values, KNOWN) if code.state.sources else ()
        if entry is None:
            lookup = [code, outcome, answered, module, training, tuple(args), state]
        elif again and state is last[6] and module == last[3] and training is last[4] \
                and n == len(checks):
            lookup = last
        else:
            lookup = code, outcome, answered, module, training, tuple(args), state
            entry.last = lookup, self.checks_of(entry, args, checks, changed)
        call.looked.append(lookup)
        return lookup

    def checks_of(self, entry, args, checks, changed):
        """What compares the next look-up with this one, of which the arguments `changed` differ from
        those that `checks` know."""
        made = []
        for i, pair in enumerate(args):
            if i not in changed:
                made.append(checks[i])
            elif i < len(checks) and checks[i][1] is not None and checks[i][2] is type(changed[i]) \
                    and self.values.can_keep(checks[i][0][1], pair[1]):
                made.append((pair, *checks[i][1:]))
            else:
                made.append((pair, *self.values.check_of(changed[i], pair[1], entry.fixed,
                                                         f"L['{pair[0]}']")))
        return made

    def call_ends(self, call, error, seconds, frame=None):
        if call.objects is not self.objects:
            key = None
        elif call.backward_of is not None:
            key = "backward", call.mode, call.looked
        else:
            try:
                key = self.key_of(call, error, frame)
            except Exception:
                if call.objects is self.objects:
                    raise
                key = None  # another thread began a new recording meanwhile
        done, stack = self.thread.done, self.thread.stack
        if not done and not stack:
            with self.lock:
                self.write(call, key, seconds)
            return
        # An outer call of an earlier recording has a number of that one.
        parent = stack[-1].number if stack and stack[-1].objects is self.objects else None
        done.append((call.number, call, key, seconds, parent))
        if not stack:
            self.thread.done = []
            with self.lock:
                for _, *ended in sorted(done, key=lambda d: d[0]):
                    self.write(*ended)

    def key_of(self, call, error, frame):
        looked, entry = call.looked, call.entry
        if call.mode is None:
            call.mode = self.modes.now()
        if entry is not None and entry.root is not None and looked and looked[0][1] == "hit":
            known = entry.key
            if known is not None and known[7] is looked[0] and is_same(known[8], looked[1:]) \
                    and error is None and known[5] == call.mode \
                    and known[4] == (call.region, call.backend) \
                    and not (call.compiles or call.refused):
                return known
            function, region = entry.root, call.region
            root, frames = looked[0], looked[1:]
            module = root[3] if root[4] is not None else None
            training = root[4]
        else:
            names = frame.f_locals
            fn, wrapper = names["fn"], names.get("self")
            function, module, code = self.target_of(fn)
            region = getattr(wrapper, "_isolate_recompiles_id", None)
            at = root_of(looked, self.code_of(code) if code is not None else None)
            call.shift = at
            if at < len(looked):
                root, frames = looked[at], looked[:at] + looked[at + 1:]
                if at == 0 and entry is not None and root[1] == "hit" and code is not None \
                        and self.code_of(code) is root[0] and (module is None) == (root[4] is None):
                    entry.root = function
            else:
                frames = tuple(looked)
                root = self.look_up_eagerly(call, fn, names.get("args", ()),
                                            names.get("kwargs", {}), code)
            training = module.training if module is not None else None
            module = self.objects.number(module) if module is not None else None
        key = ("call", function, module, training, (region, call.backend), call.mode,
               error.__name__ if error is not None else None,
               tuple(root) if root is not None else None,
               tuple([tuple(f) for f in frames]) if frames else (), call.compiles,
               call.refused)
        if entry is not None and error is None and not (call.compiles or call.refused):
            entry.key = key
        return key

    def backend_of(self, callback, used):
        """What decides about the entries of a call beside the guards: the name of the backend, or
        (name, stance, resets, generation) if a stance replaced the callback or if the caches were
        reset. `used` is what stands in the callback's place: None, so that nothing is looked up,
        False, so that nothing is compiled (torch._dynamo.run() has no other), or a function
        (_callback_from_stance() in torch/_dynamo/eval_frame.py)."""
        stance = None
        if used is None or used is False:
            stance = "force_eager" if used is None else "eager_on_recompile"
        elif used is not callback:
            stance = self.stance()
        name = self.backend_named(used if stance in (None, "default") and used else callback)
        if stance in (None, "default") and not self.resets:
            return name
        return name, stance if stance != "default" else None, self.resets, self.generation

    def backend_named(self, callback):
        """The name of a backend; entries answer calls with an equal one only (backend_match() in
        torch/csrc/dynamo/extra_state.cpp), so others of the same name have a number, too."""
        known = self.callbacks.get(id(callback))
        if known is not None and known[0]() is callback:
            return known[1]
        try:
            reference, backend = weakref.ref(callback), callback
            while hasattr(backend, "_torchdynamo_orig_backend"):
                backend = backend._torchdynamo_orig_backend
            name = self.backend_name(backend) if backend is not callback else None
        except Exception:  # None, or what is no function
            return None
        if len(self.callbacks) > MOST_CODES:
            self.callbacks.clear()
        self.callbacks[id(callback)] = reference, name
        return name

    def backend_name(self, backend):
        for reference, name in self.backends:
            if reference() == backend:
                return name
        name = getattr(backend, "compiler_name", None) or getattr(backend, "__name__", None) \
            or type(backend).__name__
        same = sum(known.partition("#")[0] == name for _, known in self.backends)
        name = f"{name}#{same}" if same else name
        if len(self.backends) < MOST_BACKENDS:
            self.backends.append((weakref.ref(backend), name))
        return name

    def target_of(self, fn):
        known = self.targets.get(id(fn))
        if known is None or known[0]() is not fn:
            function, module, code = target_of(self.torch, fn)
            if len(self.targets) > MOST_CODES:
                self.targets.clear()
            known = self.targets[id(fn)] = (weakref.ref(fn), function, weak(module), weak(code))
        return known[1], known[2](), known[3]()

    def look_up_eagerly(self, call, fn, args, kwargs, code):
        """A call that was not looked up: its arguments as its signature binds them, and the variables
        of enclosing functions."""
        try:
            inner = getattr(fn, "__self__", None)
            inner = inner.forward if isinstance(inner, self.torch.nn.Module) else fn
            bound = inspect.signature(inner, follow_wrapped=False).bind(*args, **kwargs)
            bound.apply_defaults()
            local = dict(bound.arguments)
        except (TypeError, ValueError, AttributeError):
            local = {}
        if getattr(inner, "__self__", None) is not None:
            local["self"] = inner.__self__
        if code is None:
            return None
        function = getattr(inner, "__func__", inner)
        if getattr(function, "__code__", None) is code:
            local.update(cells_of(function))
        return self.look_up(call, self.code_of(code), None, local, "eager", None)

    # ---------------------------------------------------------------------------------------------
    # Rows.

    def write(self, call, key, seconds, parent=None):
        """Appends a row; a run of equal calls is one row. `parent`: the number of the call inside which
        this one was made. The lock is held."""
        if call.objects is not self.objects:  # it began in an earlier recording
            return
        self.end_run()
        if not self.active:  # it was stopped while the call was made
            return
        if self.full:
            self.dropped += 1
            return
        self.calls += 1
        last, count, in_order = self.last, len(call.numbers), is_range(call.numbers)
        if last is not None and in_order and call.backward_of is None \
                and (last[0] is key or last[0] == key) and last[6] == parent \
                and last[1] + last[2] == call.number \
                and (not count or call.numbers[0] == last[4] + count * last[2]):
            last[2] += 1
            last[3] += seconds
        else:
            self.write_last()
            self.last = [key, call.number, 1, seconds, call.numbers[0] if count else None, call, parent]
            if call.compiles or not in_order:  # a run begins with neither
                self.write_last()
        if self.calls >= MOST_CALLS or self.written > MOST_BYTES:
            self.full = True
            self.flush()
        elif self.compiled and (len(self.rows) >= FLUSH_ROWS or self.bytes >= FLUSH_BYTES
                                or time.monotonic() - self.flushed > FLUSH_SECONDS):
            self.flush()
        if self.fast and self.last is not None:
            self.begin_run()

    def begin_run(self):
        """The C part notes the calls that are as the last one, until others come or a flush is due. It
        adds calls that were made inside no other to a run."""
        key, number, n, _, first, call, parent = self.last
        if call.backward_of is None and parent is None and not self.full:
            count = len(call.numbers)
            self.fast.begin_run(key, number + n, count, first + n * count if count else 0,
                                MOST_CALLS - 1 - self.calls,
                                self.flushed + FLUSH_SECONDS if self.compiled else math.inf)

    def end_run(self):
        if self.fast:
            n, seconds, dropped = self.fast.end_run()
            self.dropped += dropped
            if n and self.last is not None:
                self.calls += n
                self.last[2] += n
                self.last[3] += seconds

    def write_last(self):
        self.end_run()
        if self.last is None:
            return
        key, number, count, seconds, first, new, parent = self.last
        self.last = None
        row = {"call": number}
        if new.backward_of is not None:
            row["backward_of"] = new.backward_of
        if parent is not None:
            row["parent"] = parent
        # Numbers that are no range were given to other threads' objects, too, or to modules: no other
        # row can tell the objects of this call.
        in_order = is_range(new.numbers)
        before = self.known.get(key) if in_order else None
        if before is not None:
            row["as"] = before
        else:
            row.update(row_of(key, new))
            if in_order:
                if len(self.known) >= MOST_ROWS_KNOWN:
                    self.known.clear()
                self.known[key] = number
        if count > 1:
            row["repeat"] = count
        if first is not None and in_order:
            row["new"] = [first, len(new.numbers)]
        row["seconds"] = round(seconds, 7)
        text = call_values.to_json(row)
        self.rows.append(text)
        self.bytes += len(text)
        self.written += len(text)

    def flush(self):
        """Writes the rows to the log as a record."""
        self.write_last()
        rows, self.rows, self.bytes = self.rows, [], 0
        self.flushed = time.monotonic()
        told = self.calls, self.dropped, len(self.missing)
        if (not rows and told == self.told) or not self.compiled:
            return
        self.told = told
        details = {"rows": len(rows), "calls": self.calls, "dropped": self.dropped,
                   "full": self.full, "not_recorded": self.missing[:20]}
        self.log(details, "\n".join(rows))

    def log(self, details, payload):
        """Writes a record as trace_structured() in torch/_logging/_internal.py does; ours would name
        the folder of this file."""
        log = sys.modules["torch._logging._internal"].trace_log
        metadata = {"symtape_calls": details}
        distributed = self.torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            metadata["rank"] = distributed.get_rank()
        record = logging.LogRecord(log.name, logging.DEBUG, "symtape/calls", 1, "", (), None)
        record.payload = payload or None
        if payload:
            metadata["has_payload"] = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
        record.metadata = metadata
        log.handle(record)

    def stop(self):
        if not self.active:
            return
        try:
            with self.lock:
                if self.torch is not None:
                    self.flush()
        except Exception:
            pass
        self.active = False


class Known:
    """Of state: every object has its number."""
    first, numbers, n = float("inf"), (), 0


KNOWN = Known()
NEVER = None, ()  # of an entry that answered no look-up


def is_range(numbers):
    """Whether each number is one more than the number before."""
    return all(n == numbers[0] + i for i, n in enumerate(numbers))


def is_same(some, others):
    return len(some) == len(others) and all(a is b for a, b in zip(some, others))


def weak(value):
    return weakref.ref(value) if value is not None else lambda: None


def target_of(torch, fn):
    """The name of a compiled function, the module whose forward it is, and its code object; of what
    has none, such as a functools.partial, that of PyTorch's function around it."""
    around = getattr(fn, "__code__", None)
    if "torch/_dynamo/external_utils" in getattr(getattr(fn, "__code__", None), "co_filename", ""):
        fn = getattr(fn, "__wrapped__", fn)
    module = fn if isinstance(fn, torch.nn.Module) else getattr(fn, "__self__", None)
    name = getattr(fn, "__name__", "")
    if isinstance(module, torch.nn.Module) and name in (
            "", "__call__", "_wrapped_call_impl", "_call_impl", "forward"):
        forward = fn if name == "forward" else module.forward
        # What torch.compile() returned may stand in the module's place of the function.
        forward = getattr(forward, "_torchdynamo_orig_callable", forward)
        code = getattr(getattr(forward, "__func__", forward), "__code__", None)
        return type(module).__qualname__ + ".forward", module, code
    module = module if isinstance(module, torch.nn.Module) else None
    name = getattr(fn, "__qualname__", None) or type(fn).__qualname__
    return name, module, getattr(getattr(fn, "__func__", fn), "__code__", around)


def is_inlined(code_name):
    """Whether a code object is PyTorch's own function around the user's (wrap_inline() in
    torch/_dynamo/external_utils.py, Module._call_impl)."""
    return "torch/_dynamo/external_utils.py" in code_name or "torch/nn/modules/module.py" in code_name


def root_of(looked, code):
    """Which of the look-ups is that of the called function; how many there are if none is. Hooks of a
    module may come before its forward."""
    if looked and (code is None or is_inlined(looked[0][0].name)):
        return 0
    return next((i for i, lookup in enumerate(looked) if lookup[0] is code), len(looked))


def is_refusal(error):
    """Whether _compile() raised because a limit was reached: the frame is run-only from then on, or
    the call fails (torch/_dynamo/convert_frame.py)."""
    action = getattr(getattr(error, "frame_exec_strategy", None), "cur_action", None)
    return type(error).__name__ == "FailOnRecompileLimitHit" or str(action).endswith("RUN_ONLY")


def is_dynamic(fake):
    """Whether an entry takes an input with other values or sizes, too."""
    sizes = getattr(fake, "shape", None)
    return sizes is None or any(type(n) is not int for n in sizes)


def is_of_absence(guard):
    """Whether a guard looks for an attribute in the __dict__ of an object that has none of that name."""
    try:
        return guard.create_fn_name() == "NOT_PRESENT_IN_GENERIC_DICT"
    except AttributeError:
        return False


def is_tensor_match(guard):
    """Whether a guard is compared as a tensor (GuardBuilder.TENSOR_MATCH() in
    torch/_dynamo/guards.py)."""
    try:
        return guard.create_fn_name() == "TENSOR_MATCH" and not guard.is_specialized_nn_module()
    except AttributeError:
        return False


def cells_of(function):
    """The variables of enclosing functions that a function reads, and that are set."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not set yet
            pass
    return found


def called(name):
    """The name of a guard or source, a method until torch 2.9."""
    return name() if callable(name) else name


def row_of(key, new):
    """A key as the members of a row."""
    if key[0] == "backward":
        _, mode, (look, args) = key
        row = {"function": "backward", "args": []}
        if look is not None:
            row["look"] = look
        for source, part in args:
            call_values.describe(source, part, new, row["args"])
        row["mode"] = call_modes.describe(mode)
        return row
    _, function, module, training, where, mode, raised, root, frames, compiles, refused = key
    region, backend = where
    backend, stance, resets, generation = backend if type(backend) is tuple else (backend, None, 0, 0)
    row = {"function": function}
    if backend is not None:
        row["backend"] = backend
    if stance is not None:
        row["stance"] = stance
    if resets:
        row["resets"], row["generation"] = resets, generation
    if root is not None:
        row["code"] = root[0].name
        row.update(describe_frame_id(root[0]))
    if module is not None:
        row["module"], row["training"] = module, training
    if region is not None and region >= 0:
        row["region"] = region
    row.update(describe_lookup(root, new, module is None) if root is not None else {"args": []})
    row["mode"] = call_modes.describe(mode)
    row["compiles"] = list(compiles)
    if refused:
        row["refused"] = list(refused)
    if frames:
        row["frames"] = [{"code": frame[0].name, **describe_frame_id(frame[0]),
                          **describe_frame_module(frame),
                          **describe_lookup(frame, new, False)} for frame in frames]
    if raised is not None:
        row["raised"] = raised
    if mode[1]:
        state_inference(row)
    return row


def state_inference(row):
    """In inference mode, states of each tensor whether it was made there."""
    for lookup in (row, *row.get("frames", ())):
        for arg in (*lookup["args"], *lookup.get("state", ())):
            if "size" in arg:
                arg.setdefault("inference", False)


def describe_frame_id(code):
    return {"frame_id": code.frame_id} if code.frame_id is not None else {}


def describe_frame_module(frame):
    return {"module": frame[3], "training": frame[4]} if frame[4] is not None else {}


def describe_lookup(lookup, new, with_module):
    code, outcome, answered, module, training, args, state = lookup
    row = describe_frame_module(lookup) if with_module else {}
    row["args"] = []
    for name, part in args:
        at = len(row["args"])
        call_values.describe(f"L[{name!r}]", part, new, row["args"])
        if name in code.free:
            row["args"][at]["closure"] = True
    if state:
        row["state"] = []
        for source, part in state:
            call_values.describe(source, part, new, row["state"])
    row["outcome"] = outcome
    if answered is not None:
        row["answered" if outcome in ("hit", "compiled") else "compile"] = answered
    return row
