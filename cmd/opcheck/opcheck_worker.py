"""Runs cases of symtape opcheck with a live PyTorch: python -c SCRIPT QUESTIONS ANSWERS SECONDS [MODULE...].

QUESTIONS has a concrete case a line (replay/cases/op_case.h, without symbols) with its number "id". Operators are
looked up by name, and their arguments are data: nothing of a case is evaluated. A fork answers one case after the
other, so that a kernel that ends the process or takes too long costs its own answer only. ANSWERS gets a line a
case: "id", and by check an object with "verdict" (pass, fail, skip, missing), "why", "real" and "fake"."""
import json
import os
import re
import signal
import sys

if sys.path[:1] == [""]:
    del sys.path[0]  # a torch.py beside a tape is never imported

MOST_BYTES = 1 << 28
NAME = re.compile(r"([A-Za-z_]\w*)(?:\.|::)([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?\Z")


class Skip(Exception):
    """The case cannot be run here."""


def import_modules(torch, names):
    import importlib
    import importlib.util
    sys.path.append(os.getcwd())
    for name in names:
        if name.endswith((".so", ".dylib")):
            torch.ops.load_library(os.path.abspath(name))
        elif name.endswith(".py"):
            stem = os.path.splitext(os.path.basename(name))[0]
            spec = importlib.util.spec_from_file_location(stem, name)
            module = importlib.util.module_from_spec(spec)
            sys.modules[stem] = module
            spec.loader.exec_module(module)
        else:
            importlib.import_module(name)


def find_operator(torch, name):
    """The overload; "default", which Dynamo's graphs leave out, may be the name of the only one."""
    parts = NAME.match(name)
    space = getattr(torch.ops, parts[1], None) if parts else None
    if not isinstance(space, torch._ops._OpNamespace):
        return None
    packet = getattr(space, parts[2], None)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return None
    overloads = packet.overloads()
    wanted = parts[3] or "default"
    if wanted == "default" and len(overloads) == 1:
        wanted = overloads[0]
    return getattr(packet, wanted) if wanted in overloads else None


class Arguments:
    """The arguments of a case as real tensors with random values, the same for the same case."""

    def __init__(self, torch, question):
        self.torch = torch
        self.buffers = {}
        self.generator = torch.Generator().manual_seed(question["id"])
        self.sizes = {int(old): new for old, new in question.get("resize", {}).items()}
        self.strides = question.get("strides")
        self.bytes = 0
        self.moved = None  # a device that is not here

    def device(self, text):
        """Where there is no such device, the CPU."""
        kind = text.split(":")[0]
        if kind in ("cpu", "meta") or kind == "cuda" and self.torch.cuda.is_available():
            return text
        self.moved = text
        return "cpu"

    def random(self, n, dtype):
        torch = self.torch
        if dtype == torch.bool or not (dtype.is_floating_point or dtype.is_complex):
            return torch.randint(0, 2, (n,), generator=self.generator).to(dtype)
        values = torch.rand(n, generator=self.generator)
        return values.to(dtype)

    def layout(self, at):
        """Sizes and strides: those of the case, or others whose dimensions are in the same order."""
        size, stride = at["size"], at["stride"]
        if not self.sizes and not self.strides:
            return size, stride
        size = [self.sizes.get(s, s) for s in size]
        order = sorted(range(len(size)), key=lambda d: (stride[d], -d))
        order = order[::-1] if self.strides == "reversed strides" else order
        strides, step = [0] * len(size), 2 if self.strides == "gaps" else 1
        for d in order:
            strides[d] = step
            step *= max(size[d], 1)
        return size, strides

    def tensor(self, at):
        torch = self.torch
        if "layout" in at:
            raise Skip("its arguments are not strided")
        dtype = getattr(torch, at["t"])
        size, stride = self.layout(at)
        offset = at.get("offset", 0)
        empty = any(s == 0 for s in size)
        length = offset + (0 if empty else 1 + sum((s - 1) * d for s, d in zip(size, stride)))
        self.bytes += length * dtype.itemsize
        if self.bytes > MOST_BYTES:
            raise Skip("its arguments need more than %d MiB" % (MOST_BYTES >> 20))
        key = (at.get("storage"), dtype)
        buffer = self.buffers.get(key)
        if buffer is None or buffer.numel() < length:
            buffer = self.random(length, dtype).to(self.device(at.get("device", "cpu")))
            self.buffers[key] = buffer
        ret = buffer.as_strided(size, stride, offset)
        return ret.conj() if at.get("conj") else ret

    def value(self, at):
        torch = self.torch
        if isinstance(at, list):
            return [self.value(x) for x in at]
        if not isinstance(at, dict):
            return at
        if "t" in at:
            return self.tensor(at)
        kind, inside = next(iter(at.items()))
        if kind == "float":
            return float(inside)
        if kind == "complex":
            return complex(float(inside[0]), float(inside[1]))
        if kind == "device":
            return torch.device(self.device(inside))
        if kind in ("dtype", "memory_format", "layout"):
            return getattr(torch, inside.split(".")[-1])
        raise Skip("it has an argument that a case cannot have")


def storage_of(x):
    try:
        return x.untyped_storage()._cdata
    except Exception:
        return None


class Describer:
    """Results as text and as what is compared: metas, and which argument's memory a result has."""

    def __init__(self, torch, arguments):
        from torch.fx.graph import dtype_abbrs
        self.torch, self.short = torch, dtype_abbrs
        self.storages = {}
        for i, x in enumerate(tensors_in(torch, arguments)):
            self.storages.setdefault(storage_of(x), i)

    def leaf(self, x):
        torch = self.torch
        if not isinstance(x, torch.Tensor):
            kinds = ((bool, torch.SymBool), (int, torch.SymInt), (float, torch.SymFloat))
            kind = next((k[0].__name__ for k in kinds if isinstance(x, k)), type(x).__name__)
            return {"kind": kind, "text": kind}
        dense = x.layout == torch.strided
        strides = list(x.stride()) if dense else []
        text = "%s[%s]%s%s" % (self.short.get(x.dtype, str(x.dtype)), ", ".join(map(str, x.shape)),
                               "[%s]" % ", ".join(map(str, strides)) if dense else "", x.device)
        memory = self.storages.get(storage_of(x)) if dense else None
        if dense and not is_number(x.storage_offset(), 0):
            text += " at %s" % x.storage_offset()
        if memory is not None:
            text += ", the memory of tensor %d" % memory
        return {"kind": "tensor", "text": text, "dtype": x.dtype, "device": x.device, "shape": list(x.shape),
                "stride": strides, "offset": x.storage_offset() if dense else 0, "memory": memory}

    def describe(self, out):
        leaves = self.torch.utils._pytree.tree_flatten(out)[0]
        return [self.leaf(x) for x in leaves]


def tensors_in(torch, value):
    return [x for x in torch.utils._pytree.tree_flatten(value)[0] if isinstance(x, torch.Tensor)]


def is_number(x, number):
    return type(x) is int and x == number


def same_size(real, fake):
    """A size that depends on data may be any number."""
    return real == fake if type(fake) is int else True


def significant(shape, strides):
    """check_significant_strides of torch/_prims_common/__init__.py: where they say where elements are."""
    empty = any(is_number(s, 0) for s in shape)
    return [d if not empty and not is_number(s, 1) else 0 for s, d in zip(shape, strides)]


def differs(real, fake, memory=True):
    """What differs first, or ""."""
    if len(real) != len(fake):
        return "%d results and %d" % (len(real), len(fake))
    for a, b in zip(real, fake):
        if a["kind"] != b["kind"]:
            return "kind"
        if a["kind"] != "tensor":
            continue
        if a["dtype"] != b["dtype"]:
            return "dtype"
        if len(a["shape"]) != len(b["shape"]) or not all(map(same_size, a["shape"], b["shape"])):
            return "size"
        known = all(type(s) is int for s in b["shape"])
        if known and significant(a["shape"], a["stride"]) != significant(b["shape"], b["stride"]):
            return "strides"
        if a["device"] != b["device"]:
            return "device"
        if known and all(a["shape"]) and a["offset"] != b["offset"]:
            return "storage offset"
        if memory and all(a["shape"]) and a["memory"] != b["memory"]:
            return "memory"
    return ""


def text_of(leaves):
    return "; ".join(x["text"] for x in leaves) if leaves else "nothing"


def error_text(error):
    lines = str(error).strip().splitlines()
    return "%s: %s" % (type(error).__name__, lines[0] if lines else "")


class Case:
    def __init__(self, torch, question, operator):
        self.torch, self.question, self.operator = torch, question, operator

    def arguments(self):
        make = Arguments(self.torch, self.question)
        args = [make.value(x) for x in self.question["args"]]
        kwargs = {name: make.value(x) for name, x in self.question["kwargs"].items()}
        self.moved = make.moved
        return args, kwargs

    def real(self):
        args, kwargs = self.arguments()
        describer = Describer(self.torch, (args, kwargs))
        with self.torch.no_grad():
            return describer.describe(self.operator(*args, **kwargs))

    def fake(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import ShapeEnv
        torch = self.torch
        with FakeTensorMode(shape_env=ShapeEnv()) as mode:
            def convert(x):
                return mode.from_tensor(x, static_shapes=True) if isinstance(x, torch.Tensor) else x

            with torch._subclasses.fake_tensor.unset_fake_temporarily():
                args, kwargs = self.arguments()
            args, kwargs = torch.utils._pytree.tree_map(convert, (args, kwargs))
            describer = Describer(torch, (args, kwargs))
            with torch.no_grad():
                return describer.describe(self.operator(*args, **kwargs))

    def compare(self):
        """Check "fake": the fake kernel's metas are the real kernel's."""
        try:
            real = self.real()
        except Skip:
            raise
        except Exception as error:
            return {"verdict": "skip", "why": "the real kernel raises " + error_text(error)}
        try:
            fake = self.fake()
        except Exception as error:
            return {"verdict": "fail", "why": "the fake kernel raises " + error_text(error), "real": text_of(real)}
        what = differs(real, fake)
        ret = {"verdict": "fail" if what else "pass", "why": what, "real": text_of(real), "fake": text_of(fake)}
        self.fake_result = fake
        return ret

    def schema(self):
        """Check "schema": what the kernel changes and what its results share, as its schema says."""
        opcheck = getattr(self.torch.library, "opcheck", None)
        if opcheck is None:
            return {"verdict": "skip", "why": "this PyTorch has no torch.library.opcheck"}
        args, kwargs = self.arguments()
        found = opcheck(self.operator, tuple(args), kwargs, test_utils=("test_schema",), raise_exception=False)
        found = found["test_schema"]
        if isinstance(found, str):
            return {"verdict": "pass", "why": ""}
        cause = found.__cause__ or found
        return {"verdict": "fail", "why": error_text(cause)}

    def recorded_leaf(self, at):
        torch = self.torch
        if not isinstance(at, dict) or "t" not in at:
            return None
        device = Arguments(torch, self.question).device(at["device"]) if "device" in at else None
        return {"kind": "tensor", "dtype": getattr(torch, at["t"]), "shape": at["size"],
                "stride": at.get("stride"), "device": device}

    def recorded_text(self, want):
        return "%s[%s][%s]%s" % (self.torch.fx.graph.dtype_abbrs.get(want["dtype"], want["dtype"]),
                                 ", ".join(map(str, want["shape"])), ", ".join(map(str, want["stride"])),
                                 want["device"])

    def recorded(self):
        """Check "recorded": the fake kernel's metas are those that were recorded."""
        out, fake = self.question.get("out"), getattr(self, "fake_result", None)
        if out is None or fake is None:
            return {"verdict": "skip", "why": "no result to compare"}
        if self.moved:  # kernels of other devices have other metas
            return {"verdict": "skip", "why": "it was recorded on %s" % self.moved}
        for number, at in out.items():
            want = self.recorded_leaf(at)
            got = fake[int(number)] if int(number) < len(fake) else None
            if want is None or got is None or got["kind"] != "tensor":
                continue
            want["device"] = got["device"] if want["device"] is None else self.torch.device(want["device"])
            got = dict(got, device=self.torch.device(got["device"].type) if want["device"].index is None
                       else got["device"])
            want.update(offset=got["offset"], memory=None)
            if want["stride"] is None:
                want["stride"] = got["stride"]
            what = differs([want], [got], memory=False)
            if what:
                return {"verdict": "fail", "why": what, "real": self.recorded_text(want), "fake": text_of([got])}
        return {"verdict": "pass", "why": ""}

    def answer(self):
        ret = {"id": self.question["id"]}
        for check in self.question["checks"]:
            try:
                run = {"schema": self.schema, "recorded": self.recorded}.get(check, self.compare)
                ret[check] = run()
            except Skip as why:
                ret[check] = {"verdict": "skip", "why": str(why)}
            if ret[check]["verdict"] == "skip" and check == "fake":
                break  # the kernel does not run
        return ret


def answer(torch, question):
    operator = find_operator(torch, question["op"])
    if operator is None:
        why = "this PyTorch has no such operator"
        return {"id": question["id"], **{c: {"verdict": "missing", "why": why} for c in question["checks"]}}
    return Case(torch, question, operator).answer()


def write(out, found):
    out.write(json.dumps(found) + "\n")
    out.flush()


def serve(torch, questions, first, dead, path, seconds):
    """In the child: SIGALRM, which has no handler, ends it where a kernel does not return. Cases that ended a
    child before are not run at other sizes."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with open(path, "a") as out:
        for question in questions[first:]:
            if question["case"] in dead:
                write(out, {"id": question["id"]})
                continue
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                found = answer(torch, question)
            except Exception as error:
                found = {"id": question["id"], question["checks"][0]: {"verdict": "skip", "why": error_text(error)}}
            signal.setitimer(signal.ITIMER_REAL, 0)
            write(out, found)


def died(question, status, seconds):
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    why = ("it takes more than %g seconds" % seconds if number == signal.SIGALRM else
           "the kernel ends the process: %s" % (signal.strsignal(number) if number else "it exits"))
    return {"id": question["id"], question["checks"][0]: {"verdict": "fail", "why": why}}


def prepare(torch):
    """Imports what answers need, so that forks need not do it within their time."""
    import torch._subclasses.fake_tensor
    import torch.fx.experimental.symbolic_shapes
    import torch.fx.graph
    try:
        import torch.testing._internal.optests  # noqa: F401
    except ImportError:
        pass  # schema() fails then


def main():
    path, seconds = sys.argv[2], float(sys.argv[3])
    try:
        import torch
        import torch.utils._pytree
        import torch.library
    except ImportError as error:
        sys.exit("no PyTorch: %s" % error)
    torch.set_num_threads(1)
    import_modules(torch, sys.argv[4:])
    import logging
    import warnings
    prepare(torch)
    logging.disable(logging.CRITICAL)  # FakeTensorMode logs what it refuses
    warnings.simplefilter("ignore")
    with open(sys.argv[1]) as lines:
        questions = [json.loads(line) for line in lines]
    done, dead = 0, set()
    with open(path, "w") as out:
        write(out, {"torch": torch.__version__})
    while done < len(questions):
        child = os.fork()
        if child == 0:
            try:
                serve(torch, questions, done, dead, path, seconds)
            finally:
                os._exit(0)
        status = os.waitpid(child, 0)[1]
        with open(path) as answers:
            done = sum(line.endswith("\n") for line in answers) - 1
        if done < len(questions):
            with open(path, "a") as out:
                write(out, died(questions[done], status, seconds))
            dead.add(questions[done]["case"])
            done += 1


main()
