#!/usr/bin/env python3
"""The C part of record --deep under this Python, without PyTorch: wrapped functions behave as they
did, and what they do is in the side file, as `symtape import` reads it.

usage: deep_agent.py SYMTAPE_DEEP.SO        SYMTAPE is the program under test
"""
import gc
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import types
import weakref

SYMTAPE = os.environ.get("SYMTAPE", "symtape")
FOLDER = tempfile.TemporaryDirectory(prefix="symtape-agent-")
RUNS = 0


def load(path):
    loader = importlib.machinery.ExtensionFileLoader("_symtape_deep", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_file_location("_symtape_deep", path, loader=loader))
    loader.exec_module(module)
    return module


def in_child(body):
    """Runs body(c) in a process of its own, which may end as it likes; returns its folder."""
    global RUNS
    RUNS += 1
    folder = os.path.join(FOLDER.name, str(RUNS))
    os.mkdir(folder)
    if (child := os.fork()) == 0:
        code = 99
        try:
            c = load(LIBRARY)
            c.start(folder, json.dumps({"level": "all", "python": "x", "torch": None, "log": None,
                                        "wrapped": 1, "not_wrapped": []}))
            code = body(c) or 0
        except BaseException:
            import traceback
            traceback.print_exc()
        os._exit(code)
    status = os.waitpid(child, 0)[1]
    return folder, os.waitstatus_to_exitcode(status)


def symtape(*args):
    done = subprocess.run([SYMTAPE, *args], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    return done.stdout


def records(folder, event):
    """Metadata of each such record, and all their rows."""
    tape = os.path.join(folder, "x.tape")
    done = symtape("import", "--json", "--overwrite", "-o", tape, folder)
    assert json.loads(done)["damaged"] == 0, done
    metas, rows, ours = [], [], False
    names = [r["name"] for r in json.loads(symtape("info", "--json", tape))["recordings"]]
    for name in names:
        for line in symtape("export", f"{tape}@{name}").splitlines():
            if line.startswith("\t"):
                rows += [json.loads(line)] if ours else []
                continue
            header = json.loads(line[line.index("] ") + 2:])
            ours = event in header
            metas += [header[event]] if ours else []
    return metas, rows


class Mode:
    cache_hits = 0
    cache_misses = 0

    def __torch_dispatch__(self, func, types_, args=(), kwargs=None):
        "what it says"
        if func == "aten.bad.default":
            raise KeyError("bad")
        if func == "aten.outer.default":
            self.__torch_dispatch__("aten.inner.default", ())
            Mode.cache_misses += 1
        else:
            Mode.cache_hits += 1
        return func, args, kwargs


def wrap_mode(c, kind=0):
    Mode.__torch_dispatch__ = c.wrap("dispatch", Mode.__dict__["__torch_dispatch__"],
                                     "Mode.__torch_dispatch__", kind)
    c.give("fake_mode", Mode)


def test_dispatches():
    def body(c):
        inner = Mode.__dict__["__torch_dispatch__"]
        wrap_mode(c)
        mode = Mode()
        assert mode.__torch_dispatch__("aten.x.default", (), (1,), {"a": 2}) == \
            ("aten.x.default", (1,), {"a": 2})
        assert mode.__torch_dispatch__("aten.outer.default", types_=())[0] == "aten.outer.default"
        assert Mode.__torch_dispatch__.__wrapped__ is inner
        assert Mode.__torch_dispatch__.__doc__ == inner.__doc__ == "what it says"
        assert Mode.__torch_dispatch__.__name__ == "__torch_dispatch__"
        for _ in range(3):
            try:
                mode.__torch_dispatch__("aten.bad.default", ())
                return 1
            except KeyError as error:
                assert error.args == ("bad",) and error.__traceback__ is not None
        assert c.counts() == {"Mode.__torch_dispatch__": 6}
        c.stop()
    folder, code = in_child(body)
    assert code == 0, code
    metas, rows = records(folder, "symtape_dispatches")
    assert [m["dispatches"] for m in metas] == [6]
    by_op = {r["op"]: r for r in rows if "op" in r}
    assert by_op["aten.inner.default"]["depth"] == 1 and by_op["aten.outer.default"]["depth"] == 0
    assert by_op["aten.inner.default"]["cache"] == "hit"
    assert by_op["aten.outer.default"]["cache"] == "miss"
    assert by_op["aten.bad.default"]["raised"] == "KeyError"
    assert by_op["aten.bad.default"]["count"] == 3
    outer = by_op["aten.outer.default"]
    assert outer["ns"] >= outer["self_ns"] + by_op["aten.inner.default"]["ns"]


def test_operator_costs():
    """A cost of an operator is counted for that of the innermost dispatch, and one outside of dispatches for none."""
    def body(c):
        key = c.wrap("operator cost", lambda func: func, "_cache_key", "torch.somewhere")
        class Asked(Mode):
            def __torch_dispatch__(self, func, types_, args=(), kwargs=None):
                key(func)
                return args and self.__torch_dispatch__(args[0], ())
        Asked.__torch_dispatch__ = c.wrap("dispatch", Asked.__dict__["__torch_dispatch__"], "Mode.__torch_dispatch__", 0)
        c.give("fake_mode", Asked)
        for _ in range(2):
            Asked().__torch_dispatch__("aten.outer.default", (), ("aten.inner.default",))
        Asked().__torch_dispatch__("aten.inner.default", ())
        key("")
        c.stop()
    folder, code = in_child(body)
    assert code == 0, code
    _, rows = records(folder, "symtape_costs")
    assert {r["op"]: r["count"] for r in rows} == {"aten.outer.default": 2, "aten.inner.default": 3, None: 1}, rows


def test_cut_anywhere():
    """A side file that ends at any byte is read up to there."""
    def body(c):
        wrap_mode(c)
        for i in range(50):
            Mode().__torch_dispatch__(f"aten.op{i}.default", ())
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    (name,) = [n for n in os.listdir(folder) if n.endswith(".deep")]
    with open(os.path.join(folder, name), "rb") as file:
        whole = file.read()
    for cut in list(range(0, 200, 7)) + list(range(200, len(whole), 331)):
        path = os.path.join(FOLDER.name, "cut.deep")
        with open(path, "wb") as file:
            file.write(whole[:cut])
        done = subprocess.run([SYMTAPE, "import", "--overwrite", "-o", path + ".tape", path],
                              capture_output=True, text=True)
        assert done.returncode in (0, 3), (cut, done)


def test_killed():
    def body(c):
        wrap_mode(c)
        for i in range(1000):
            Mode().__torch_dispatch__("aten.x.default", ())
        os.kill(os.getpid(), signal.SIGKILL)
    folder, code = in_child(body)
    assert code == -signal.SIGKILL
    (meta,), _ = records(folder, "symtape_deep")
    assert meta["ended"] is False and meta["lost"] == 0
    assert records(folder, "symtape_dispatches")[0][0]["dispatches"] == 1000


def test_fork():
    """The child writes to a file of its own, also from the midst of a dispatch."""
    def body(c):
        wrap_mode(c)
        mode = Mode()
        mode.__torch_dispatch__("aten.parent.default", ())
        if (child := os.fork()) == 0:
            mode.__torch_dispatch__("aten.child.default", ())
            os._exit(0)
        os.waitpid(child, 0)
        mode.__torch_dispatch__("aten.parent.default", ())
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    files = [n for n in os.listdir(folder) if n.endswith(".deep")]
    assert len(files) == 2, files
    _, rows = records(folder, "symtape_dispatches")
    assert {r["op"]: r["count"] for r in rows if "op" in r} == \
        {"aten.parent.default": 2, "aten.child.default": 1}


def test_fork_in_cost():
    """Ids of the parent's file say nothing in the child's, whose first context and operator are others."""
    def body(c):
        tls = types.SimpleNamespace(compile_context=None)
        c.give("compile_tls", tls)
        c.give("on_context", lambda context: (-1, context.frame, 0))
        def compile_frame(frame, function, *args):
            tls.compile_context = types.SimpleNamespace(frame=frame, attempt=0)
            function(*args)
        look = c.wrap("cost", lambda: None, "look", "torch.somewhere")
        def call_compiler():
            if (child := os.fork()) == 0:
                look()
                return child
            os.waitpid(child, 0)
            return child
        call = c.wrap("operator cost", call_compiler, "call_user_compiler", "torch.somewhere")
        class Forking(Mode):
            def __torch_dispatch__(self, func, types_, args=(), kwargs=None):
                return call() if func == "aten.fork.default" else None
        Forking.__torch_dispatch__ = c.wrap("dispatch", Forking.__dict__["__torch_dispatch__"],
                                            "Mode.__torch_dispatch__", 0)
        c.give("fake_mode", Forking)
        compile_frame(3, Forking().__torch_dispatch__, "aten.first.default", ())
        compile_frame(4, Forking().__torch_dispatch__, "aten.fork.default", ())
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    metas, rows = records(folder, "symtape_costs")
    assert [m["count"] for m in metas if "earlier" in m] == [1, 2], metas  # the others are of no compile
    assert sorted((r["cost"], r["op"] or "", r["count"]) for r in rows) == \
        [("call_user_compiler", "", 1), ("call_user_compiler", "aten.fork.default", 1), ("look", "", 1)], rows
    _, rows = records(folder, "symtape_dispatches")
    assert {r["op"]: r["count"] for r in rows if "op" in r} == {"aten.first.default": 1, "aten.fork.default": 1}, rows


def test_threads():
    def body(c):
        wrap_mode(c)
        def work():
            for _ in range(200):
                Mode().__torch_dispatch__("aten.x.default", ())
        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    assert records(folder, "symtape_dispatches")[0][0]["dispatches"] == 1600


def test_full_disk():
    """What finds no room is counted; the program goes on."""
    def body(c):
        import resource
        wrap_mode(c)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        for _ in range(20000):
            assert Mode().__torch_dispatch__("aten.x.default", ())[0] == "aten.x.default"
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    (meta,), _ = records(folder, "symtape_deep")
    assert meta["lost"] > 0, meta
    assert records(folder, "symtape_dispatches")[0][0]["dispatches"] + meta["lost"] >= 20000


def test_no_folder():
    def body(c):
        wrap_mode(c)
        c.start("/nonexistent/folder", "{}")
        assert Mode().__torch_dispatch__("aten.x.default", ())[0] == "aten.x.default"
        c.stop()
    _, code = in_child(body)
    assert code == 0


def test_user_stack():
    """Outside of a compile the frames that run tell; code objects are let go of."""
    def body(c):
        from _symtape_recorder import names
        names.Names(c, names.Texts())
        wrap_mode(c)
        space = {"Mode": Mode}
        exec(compile("def user():\n    x = 1\n    Mode().__torch_dispatch__('aten.x.default', ())\n",
                     "/somewhere/user.py", "exec"), space)
        gone = weakref.ref(space["user"])
        code = weakref.ref(space["user"].__code__)
        space["user"]()
        c.release()
        space.clear()
        gc.collect()
        assert gone() is None and code() is None, "the code object is held"
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    _, rows = records(folder, "symtape_dispatches")
    (row,) = [r for r in rows if "op" in r]
    frames = {r["stack"]: r["frames"] for r in rows if "frames" in r}[row["stack"]]
    assert frames[-1][:3] == ["/somewhere/user.py", 3, "user"], frames


def test_texts():
    """An object is printed once, those that are equal and of another type apart, and the texts stay bounded."""
    from _symtape_recorder import names
    printed = []

    class Expr:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return isinstance(other, Expr) and self.n == other.n

        def __hash__(self):
            return self.n

        def __str__(self):
            printed.append(self.n)
            return f"s{self.n}"
    texts = names.Texts()
    assert [texts.of(Expr(1)), texts.of(Expr(1)), texts.of(1), texts.of(True), texts.of([1])] == ["s1", "s1", "1", "True", "[1]"]
    assert printed == [1]
    for n in range(2, names.MOST_TEXTS + 5):
        texts.of(Expr(n))
    assert len(texts.texts) <= names.MOST_TEXTS


def test_sizes():
    """A size is simplified once, and again when a symbol was replaced."""
    from _symtape_recorder import graphs, names
    asked = []

    class Node:
        def __init__(self, env, expr):
            self.shape_env, self._expr = env, expr

        @property
        def expr(self):
            asked.append(self._expr)
            return self.shape_env.replacements.get(self._expr, self._expr)

    class Env:
        def __init__(self):
            self._replacements_version_counter, self.replacements = 0, {}
    env, other = Env(), Env()
    this = graphs.Graphs(None, names.Texts())
    sizes = lambda *envs: this.size_texts([types.SimpleNamespace(node=Node(env, "s0")) for env in envs])
    size = lambda env: sizes(env)[0]
    assert [size(env), size(env)] == ["s0", "s0"] and asked == ["s0"]
    env.replacements["s0"] = 8
    assert size(env) == "8" and size(other) == "s0" and size(env) == "8" and len(asked) == 4
    assert sizes(env, other, env) == ["8", "s0", "8"] and this.size_texts((3, 4)) == ["3", "4"]
    old = types.SimpleNamespace(replacements={})  # PyTorch does not count replacements
    assert this.size_texts((types.SimpleNamespace(node=Node(old, "s1")),)) == ["s1"]


def test_finals():
    """An environment is written again only if it changed."""
    from _symtape_recorder import names
    written, kept = [], []

    class Env:
        def __init__(self):
            self.var_to_range, self.guards = {"s0": "VR[2, 9]"}, []

    def emit(*event):
        written.append(json.loads(event[3]))
        return bool(kept)
    n, env = names.Names(types.SimpleNamespace(give=lambda *named: None, emit=emit), names.Texts()), Env()
    n.on_env(env)
    n.write_finals()  # it is lost
    kept.append(True)
    n.write_finals()
    n.write_finals()
    assert len(written) == 2 and written[1]["ranges"] == {"s0": "VR[2, 9]"}
    env.guards.append(types.SimpleNamespace(expr="Eq(s0, 4)"))
    n.write_finals()
    assert len(written) == 3 and written[2]["guards"] == ["Eq(s0, 4)"]


def test_costs_and_env():
    def body(c):
        from _symtape_recorder import names
        n = names.Names(c, names.Texts())
        sys.modules.setdefault("sympy", types.SimpleNamespace(
            Basic=type("Basic", (), {}), Integer=int, true=object(), false=object()))
        def flatten(tree, deep=0):
            return flatten(tree, deep - 1) if deep else list(tree)
        flatten = c.wrap("cost", flatten, "tree_flatten", "torch.somewhere")
        assert flatten((1, 2), deep=2) == [1, 2]

        class Env:
            settings = types.SimpleNamespace(duck_shape=True)

            def _suppress_guards_tls(self):
                return False

            def evaluate_expr(self, orig_expr, hint=None, fallback_value=None):
                if hint == 0:
                    raise ValueError("no")
                return self.evaluate_expr(orig_expr, 0.5) if hint == 7 else orig_expr
        Env.evaluate_expr = c.wrap("env", Env.__dict__["evaluate_expr"], "evaluate_expr",
                                   [("orig_expr", 1), ("hint", 2), ("fallback_value", 3)])
        env = Env()
        assert env.evaluate_expr(True, 7) is True
        assert env.evaluate_expr(2.0, fallback_value=False) == 2.0
        try:
            env.evaluate_expr(10 ** 30, hint=0)
        except ValueError:
            pass
        c.stop()
    folder, code = in_child(body)
    assert code == 0
    _, rows = records(folder, "symtape_costs")
    assert rows[0]["cost"] == "tree_flatten" and rows[0]["count"] == 3, rows
    _, rows = records(folder, "symtape_shape_env")
    assert [r["call"] for r in rows] == ["settings"] + ["evaluate_expr"] * 3
    assert rows[0]["duck_shape"] is True
    assert rows[1] == {"env": 0, "depth": 0, "call": "evaluate_expr", "orig_expr": True, "hint": 7,
                       "out": True, "ns": rows[1]["ns"]}
    assert rows[2]["orig_expr"] == 2.0 and rows[2]["fallback_value"] is False
    assert rows[3]["orig_expr"] == 10 ** 30 and rows[3]["raised"] == ["ValueError", "no"]


def main():
    failed = 0
    print("Python", sys.version.split()[0], flush=True)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print("ok  ", name[5:], flush=True)
            except Exception:
                import traceback
                failed += 1
                print("FAIL", name[5:], traceback.format_exc(), sep="\n", flush=True)
    FOLDER.cleanup()
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.version_info < (3, 10) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        print("skipped: needs Python 3.10, with its lock")
        sys.exit(77)
    if len(sys.argv) < 2 or not os.path.exists(sys.argv[1]):
        print("skipped: the module was not built (Python's headers)")
        sys.exit(77)
    LIBRARY = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.join(os.environ.get("SYMTAPE_ROOT", "."), "trace", "record", "deep",
                                    "python"))
    sys.exit(main())
