"""The warm worker of symtape minify --torch-oracle: PyTorch is imported once, a question costs a fork.

Started with the number of a control socket. It sends one line, "ready VERSION" or "no ...", and then
receives a socket a question: it forks, and the child reads a line of JSON and a program (a repro that
defines f and inputs only), does what is asked and writes one line of JSON. The child leads a process
group, so that who asked can end all of it. Nothing is shared between questions. What minify/program/program_check.py,
torch_results.py and torch_bisect.py define stands in front of this: a program is checked before it is compiled, what eager
mode computes is kept in a file, and what of the compiler fails is bisected.

A worker of --launcher gives the folder with the files of --import, too."""

import contextlib
import json
import os
import re
import signal
import socket
import sys
import time
import traceback

backend = None  # of --torch-backend MODULE:NAME
# Bytes of texts in an answer: a line of 4096 is what arrives of another machine's (CHILD_TAIL).
MESSAGE_MAX, EAGER_MAX, NAME_MAX = 2800, 700, 100
SET_MAX, OTHERS_MAX = 2400, 1000  # bytes of options that an answer lists
# Options that say nothing about a program: of the worker itself, and of the machine.
OWN_SETTINGS = {"force_disable_caches", "compile_threads"}


def set_up(torch):
    """Does what --import, --config and --torch-backend MODULE:NAME say; gives why that is not possible, or None."""
    import functools
    import importlib
    sys.path[:0] = [os.path.abspath(folder) for folder in SETUP["folders"]]  # noqa: F821
    scope = {"torch": torch}
    for option, statements in ("--import", SETUP["imports"]), ("--config", SETUP["config"]):  # noqa: F821
        for statement in statements:
            try:
                exec(statement, scope)
            except BaseException as error:
                if statement == "import " + SETUP["module"]:  # noqa: F821
                    option = "--torch-backend"
                return "%s: %s: %s: %s" % (option, statement, type(error).__name__, error)
    if SETUP["backend"]:  # noqa: F821
        module = SETUP["module"]  # noqa: F821
        names = SETUP["backend"][len(module) + 1:].split(".")  # noqa: F821
        try:
            scope["backend"] = functools.reduce(getattr, names, importlib.import_module(module))
        except BaseException as error:
            return "--torch-backend: %s" % error
        if not callable(scope["backend"]):
            return "--torch-backend: %s cannot be called" % SETUP["backend"]  # noqa: F821
        global backend
        backend = scope["backend"]
    return None


def warm_up(torch):
    """Does once what each question would do in its first compile. A thread would be missing after a fork: Inductor, which starts
    some, compiles nothing here."""
    try:
        torch.compile(lambda x: x + 1, backend="aot_eager", dynamic=True)(torch.zeros(3))
        if SETUP["backend_name"] == "inductor":  # noqa: F821
            import torch._inductor.codegen.cpp
            import torch._inductor.compile_fx
    except Exception:
        pass  # a question says what is wrong
    torch._dynamo.reset()


def find_vector_instructions():
    """Has Inductor find the vector instructions of the processor, for which it compiles and runs programs, with the compiler that
    --config names: it keeps the answer."""
    try:
        import torch._inductor.cpu_vec_isa
        torch._inductor.cpu_vec_isa.pick_vec_isa()
    except Exception:
        pass  # a question says what is wrong


def start():
    """Imports PyTorch; gives it, or None, and the line that says so."""
    # A graph that Inductor's cache has is not lowered again, so that it would not fail.
    os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")
    exec("\n".join(SETUP["env"]), {})  # noqa: F821 (program_script.c)
    try:
        import torch
        import torch._dynamo
        import torch.export
        import torch.fx.experimental.proxy_tensor
        import torch._dynamo.backends.registry  # noqa: F401
    except BaseException as error:
        why = " ".join(("%s: %s" % (type(error).__name__, error)).split())[:900]
        return None, ("setup: --env: PyTorch cannot be imported: " if SETUP["env"] else "no: ") + why  # noqa: F821
    torch.set_num_threads(1)
    warm_up(torch)  # before what the user imports, which may be what makes compiling fail
    why = set_up(torch)
    if why:
        return None, "setup: " + " ".join(why.split())[:900]
    if SETUP["backend_name"] == "inductor":  # noqa: F821
        find_vector_instructions()
    return torch, "ready %s" % torch.__version__


def bounded(text, most):
    """The beginning of a text, of so many bytes as JSON."""
    while len(json.dumps(text)) > most:
        text = text[:len(text) * 9 // 10]
    return text


def root_of(error):
    """The exception that began it, and its text: wrappers of Dynamo and of backends taken off."""
    seen = set()
    while error.__cause__ is not None and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__
    kind, text = type(error).__name__, str(error).strip()
    inner = re.search(r"got (\w+)\((['\"])(.*?)\2\)", text, re.S)
    if inner:
        return inner.group(1), inner.group(3).encode().decode("unicode_escape", "replace")
    raised = re.search(r"raised:\n(\w+): (.*)", text, re.S)
    return (raised.group(1), raised.group(2)) if raised else (kind, text)


def place_of(error, source):
    """What the line of f that failed gives: "view_7"."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    lines = source.splitlines()
    for number in reversed(re.findall(r'File "repro\.py", line (\d+)', text)):
        made = re.match(r"\s+(\w+) = ", lines[int(number) - 1]) if int(number) <= len(lines) else None
        if made:
            return made.group(1)
    made = re.search(r"While executing %(\w+)", text)
    return made.group(1) if made else ""


def raised(error, source):
    kind, text = root_of(error)
    return {"outcome": "raised", "type": bounded(kind, NAME_MAX), "message": bounded(text, MESSAGE_MAX),
            "node": bounded(place_of(error, source), NAME_MAX)}


def cannot(error):
    return {"outcome": "cannot", "message": bounded("%s: %s" % (type(error).__name__, error), MESSAGE_MAX)}


def module_of(torch, f, n):
    names = ", ".join("a%d" % i for i in range(n))
    scope = {"torch": torch, "f": f}
    exec("class Module(torch.nn.Module):\n    def forward(self%s):\n        return f(%s)\n"
         % (", " + names if n else "", names), scope)
    return scope["Module"]()


def compiled(torch, question, scope):
    """Goes through what is asked about; gives what the result computes, where there is one."""
    f, inputs = scope["f"], scope["inputs"]
    route = question["route"]
    if route == "make_fx":
        return torch.fx.experimental.proxy_tensor.make_fx(f, tracing_mode="symbolic")(*inputs)
    if route in ("export", "decompose", "constraints"):
        program = torch.export.export(module_of(torch, f, len(inputs)), tuple(inputs),
                                      dynamic_shapes=scope.get("shapes"))
        return (program.run_decompositions() if route == "decompose" else program).module()
    return torch.compile(f, backend=backend or question["backend"], fullgraph=True)


def made(source):
    """What the program of a question defines: f and inputs. It sets the seed, so they are the same each time."""
    scope = {"__name__": "repro"}
    exec(compile(source, "repro.py", "exec"), scope)
    return scope


def called(torch, call, inputs):
    """What a call gives, and where inputs require gradients, those of random gradients of what it gives."""
    value = call(*inputs)
    outputs = [y for y in leaves(torch, value) if isinstance(y, torch.Tensor) and y.requires_grad]  # noqa: F821
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    if not outputs or not wanted:
        return value
    torch.manual_seed(0)
    given = [torch.randn_like(y) for y in outputs]
    return value, torch.autograd.grad(outputs, wanted, given, allow_unused=True)


def eager_results(torch, scope, stored):
    """What eager mode computes, as Results if it is stored. The scope is empty afterwards: what compares two runs needs
    memory for one, and makes the inputs again."""
    try:
        torch.manual_seed(0)
        value = called(torch, scope["f"], scope["inputs"])
    finally:
        scope.clear()
    ret = Results(torch, value) if stored else None  # noqa: F821
    del value
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    return ret


def out_of_memory(torch, error):
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "DefaultCPUAllocator" in str(error)


def refuses_gradients(error):
    """Whether eager mode only refuses that an input which the graph writes to is a leaf (check_inplace() of
    torch/csrc/autograd/VariableTypeUtils.h): in the program it was computed, in a repro it is a leaf."""
    text = str(error)
    return text.startswith(("a leaf Variable that requires grad ", "a view of a leaf Variable that requires grad "))


def is_good(torch, question, source, expected):
    """Whether the program of a question compiles and runs without the failure that it asks about. Code and inputs are those of the
    question."""
    torch._dynamo.reset()
    scope = made(source)
    torch.manual_seed(0)
    try:
        actual = called(torch, torch.compile(scope["f"], fullgraph=True), scope["inputs"])
    except Exception as error:
        return expected is not None or root_of(error)[0] != question["type"]
    finally:
        scope.clear()
    return expected is None or compare(torch, actual, expected)[1] <= 1  # noqa: F821


class Enough(BaseException):
    """Compiling takes as long as was asked about."""


def seconds(torch, question, source):
    """The processor time that compiling takes, and that of a call: a first call compiles, a second one does not. What the first
    compile of a process takes once is not counted. It ends when a first call has taken what is enough, and what a call of the
    original takes."""
    def enough(number, frame):
        raise Enough

    torch.compile(lambda x: x + 1, backend=backend or question["backend"], dynamic=True)(torch.zeros(3))
    torch._dynamo.reset()
    scope, times = made(source), []
    call = compiled(torch, question, scope)
    signal.signal(signal.SIGPROF, enough)
    signal.setitimer(signal.ITIMER_PROF, question["enough"] and question["enough"] + question["called"], 1)
    try:
        for _ in range(2):
            began = time.process_time()
            call(*scope["inputs"])
            times.append(time.process_time() - began)
            signal.setitimer(signal.ITIMER_PROF, 0)
    except Enough:
        return question["enough"], question["called"]
    return max(times[0] - times[1], 0), times[1]


def answer(torch, question, source):
    import linecache
    why = refusal(source, NAMES)  # noqa: F821
    if why:
        return {"outcome": "cannot", "message": bounded("refused: " + why, MESSAGE_MAX)}
    linecache.cache["repro.py"] = (len(source), None, source.splitlines(True), "repro.py")
    try:
        scope = made(source)
    except SystemExit:  # torch.cuda.is_available() and the like
        return {"outcome": "device", "message": "this machine has none of the devices that the graph is for"}
    except BaseException as error:
        return cannot(error)
    ret, expected, wrong = {"eager": ""}, None, question["ask"] == "wrong"
    if question["eager"]:
        try:
            expected = eager_results(torch, scope, wrong or question["ask"] == "bisect")
        except Exception as error:
            if out_of_memory(torch, error) or refuses_gradients(error):
                return cannot(error)
            ret["eager"] = bounded("%s: %s" % root_of(error), EAGER_MAX)
            if question["ask"] != "raises":
                ret.update({"outcome": "eager"})
                return ret
    if question["ask"] == "bisect":
        found = bisected(torch, lambda: is_good(torch, question, source, expected))  # noqa: F821
        return {"outcome": "bisected", **found} if found else {"outcome": "ok"}
    scope = scope or made(source)
    try:
        if question["ask"] == "seconds":
            compiling, calling = seconds(torch, question, source)
            return {"outcome": "timed", "seconds": compiling, "called": calling}
        torch.manual_seed(0)
        call = compiled(torch, question, scope)
        actual = called(torch, call, scope["inputs"]) if question["run"] else None
    except torch._dynamo.exc.InvalidBackend:
        names = torch._dynamo.list_backends(exclude_tags=())
        ret.update({"outcome": "backend", "message": bounded(", ".join(sorted(names)), MESSAGE_MAX)})
        return ret
    except Exception as error:
        ret.update(cannot(error) if wrong and out_of_memory(torch, error) else raised(error, source))
        return ret
    ret["outcome"] = "ok"
    if wrong:
        kind, excess = compare(torch, actual, expected)  # noqa: F821
        if excess > 1:
            ret.update({"outcome": "wrong", "type": kind, "excess": min(excess, 1e300)})
    return ret


def is_plain(value):
    """Whether --config reads a value as it is: of the same type, without a character that a shell would read otherwise."""
    if value is None or isinstance(value, (bool, int, float)):
        return True
    if not isinstance(value, str) or not re.fullmatch(r"[\w./:+-]*", value) or value in ("True", "False", "None"):
        return False
    try:
        complex(value)
    except ValueError:
        return True
    return False


def begin(texts, separator, most):
    """As many of the texts as have so many bytes as JSON, and the rest."""
    n = len(texts)
    while len(json.dumps(separator.join(texts[:n]))) > most:
        n -= 1
    return texts[:n], texts[n:]


def settings(source):
    """Options whose values in a recording differ from this process's: those that --config can set, and names of others. A name
    that a recording alone has, and a value that --config would read otherwise, are not repeated."""
    import torch._dynamo.utils as utils
    own = {"inductor_config": utils._scrubbed_inductor_config_for_logging,
           "functorch_config": getattr(utils, "_functorch_config_for_logging", str)}
    known, others = [], []
    for kind, text in json.loads(source).items():
        with contextlib.suppress(ValueError, AttributeError):  # PyTorch prints a sentence where there is no JSON
            recorded, here = json.loads(text), json.loads(own[kind]())
            for name in here:
                if name in recorded and recorded[name] != here[name] and name not in OWN_SETTINGS:
                    value, option = recorded[name], kind.replace("_config", "." + name)
                    if is_plain(value):
                        known.append("%s=%s" % (option, value))
                    else:
                        others.append(option)
    known, cut = begin(known, ",", SET_MAX)
    others, cut = begin([one.split("=")[0] for one in cut] + others, ", ", OTHERS_MAX)
    node = ", ".join(others + ["and %d more" % len(cut)] * bool(cut))
    return {"outcome": "settings", "message": ",".join(known), "node": node}


def be_quiet():
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)


def answer_line(torch, stream):
    """The answer to the question that a stream has."""
    question = json.loads(stream.readline())
    source = stream.read(question["bytes"]).decode("utf-8", "replace")
    be_quiet()
    try:
        import warnings
        warnings.simplefilter("ignore")
        return settings(source) if question["ask"] == "settings" else answer(torch, question, source)
    except BaseException as error:
        return cannot(error)


def serve(torch, connection):
    """In the child."""
    os.setpgid(0, 0)
    stream = connection.makefile("rwb")
    ret = {"eager": "", "torch": str(torch.__version__), **answer_line(torch, stream)}
    stream.write((json.dumps(ret) + "\n").encode())
    stream.flush()


def main():
    if len(sys.argv) > 2:  # of a worker of --launcher
        SETUP["folders"] = SETUP["folders"] and [sys.argv[2]]  # noqa: F821
    control = socket.socket(fileno=int(sys.argv[1]))
    torch, line = start()
    control.send((line + "\n").encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while torch:
        data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not data or not descriptors:
            break
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            connection = socket.socket(fileno=descriptors[0])
            try:
                connection.send(b"%d\n" % os.getpid())
                serve(torch, connection)
            finally:
                os._exit(0)
        os.close(descriptors[0])


main()
