"""What a call was given, as keys that can be compared and that keep no reference to a value, and
keys as JSON.

A key is a tuple whose first member says what it is. Objects have numbers: equal numbers mean the
same object. In a key, an object that no earlier call had is -1, -2, ... in the order in which it is
met, so that calls that differ in nothing but new tensors have equal keys."""
import json
import math
import re
import sys
import weakref

TENSOR, PLAIN, LIST, DICT, OBJECT, DEEP, MISSING, ARRAY = range(8)
MODULE = True  # stands for the name of an object that is a torch.nn.Module
INFERENCE = "inference"  # stands for is_leaf in the key of a tensor that was made in inference mode

# How a value is compared with the key of the call before; agent.h has the same numbers.
AGAIN_FIXED, AGAIN_TENSOR, AGAIN_PLAIN, AGAIN_LIST, AGAIN_OBJECT = range(5)

MOST_DEPTH = 6        # of lists and dicts in each other
MOST_VALUES = 2000    # of one call
MOST_TEXT = 4096      # characters of a string
MOST_CONSTANTS = 32   # of a list or tuple that a guard compares as a whole
MARKS = (("dynamic", "_dynamo_dynamic_indices"), ("weak_dynamic", "_dynamo_weak_dynamic_indices"),
         ("unbacked", "_dynamo_unbacked_indices"),
         ("strict_unbacked", "_dynamo_strict_unbacked_indices"),
         ("static", "_dynamo_static_indices"))


class Objects:
    """The numbers of objects, which are not kept alive."""

    def __init__(self):
        self.known, self.next, self.limit = {}, 0, 4096

    def number(self, value):
        """The number of an object; None if it cannot be referred to weakly."""
        known = self.known.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        try:
            reference = weakref.ref(value)
        except TypeError:
            return None
        number, self.next = self.next, self.next + 1
        self.known[id(value)] = reference, number
        if len(self.known) > self.limit:
            self.purge()
        return number

    def purge(self):
        self.known = {i: k for i, k in list(self.known.items()) if k[0]() is not None}
        self.limit = max(4096, 2 * len(self.known))


class Values:
    """Makes the keys of the values of one process."""

    def __init__(self, torch, objects):
        self.torch, self.objects = torch, objects
        self.texts = (torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format)
        self.printed = (*self.texts, complex, type(...))
        self.makers = {torch.Tensor: self.tensor, torch.nn.Parameter: self.tensor,
                       list: self.list, tuple: self.list, dict: self.dict,
                       int: plain, bool: plain, str: text, type(None): plain, float: number,
                       bytes: octets}

    def key(self, value, new, depth=0):
        """`new`: the numbers of the objects of this call that no earlier call had, which grows."""
        maker = self.makers.get(type(value))
        if maker is None:
            maker = self.maker_of(value)
        return maker(value, new, depth)

    def maker_of(self, value):
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.subclass
        if isinstance(value, self.printed):
            return printed
        if isinstance(value, (list, tuple)):
            return self.list
        if isinstance(value, dict):
            return self.dict
        if type(value) in (set, frozenset):
            return self.set
        numpy = sys.modules.get("numpy")
        if numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic)):
            return self.array
        return self.object

    def object_number(self, value, new):
        number = self.objects.number(value)
        if number is None:
            return None
        if new.first <= number:
            if number not in new.numbers:
                new.numbers.append(number)
            return -1 - new.numbers.index(number)
        return number

    def tensor(self, value, new, depth=0, name=None):
        try:
            stride, offset = value.stride(), value.storage_offset()
        except Exception:  # a layout without strides
            stride = offset = None
        extra = value.__dict__
        return (TENSOR, value.shape, stride, offset, value.dtype, value.device, value.requires_grad,
                INFERENCE if value.is_inference() else value.is_leaf,
                name if type(value) is self.torch.Tensor else type(value).__name__,
                marks(extra) if extra else None, self.object_number(value, new))

    def subclass(self, value, new, depth=0):
        with self.torch._C.DisableTorchFunctionSubclass():
            return self.tensor(value, new)

    def list(self, value, new, depth=0):
        new.n += len(value)
        if depth >= MOST_DEPTH or new.n > MOST_VALUES:
            return DEEP, type(value).__name__, len(value)
        return (LIST, type(value).__name__, *[self.key(v, new, depth + 1) for v in value])

    def dict(self, value, new, depth=0):
        new.n += len(value)
        keys = tuple(k if type(k) in (str, int) else repr(k) if is_plain(k) else type(k).__name__
                     for k in value)
        if depth >= MOST_DEPTH or new.n > MOST_VALUES:
            return DICT, type(value).__name__, keys, None
        return (DICT, type(value).__name__, keys,
                tuple(self.key(v, new, depth + 1) for v in list(value.values())))

    def set(self, value, new, depth=0):
        new.n += len(value)
        if new.n > MOST_VALUES:
            return DEEP, type(value).__name__, len(value)
        keys = (repr(k) if type(k) is float else k if is_plain(k) else type(k).__name__ for k in value)
        return DICT, type(value).__name__, tuple(sorted(keys, key=repr)), None

    def array(self, value, new, depth=0):
        """An array or scalar of NumPy is an input as the tensor that has its memory."""
        step, name = value.itemsize or 1, value.dtype.name
        tensor = (TENSOR, value.shape, tuple(n // step for n in value.strides), None, f"torch.{name}",
                  "cpu", False, True, None, None, None) if hasattr(self.torch, name) else None
        return ARRAY, self.object(value, new), tensor

    def object(self, value, new, depth=0):
        """Says what it is, beside its type: the name of a function or class, or MODULE."""
        what = None
        if isinstance(value, self.torch.nn.Module):
            what = MODULE
        elif callable(value):
            what = getattr(value, "__qualname__", None)
        return (OBJECT, type(value).__name__, what if what is MODULE or isinstance(what, str) else None,
                self.object_number(value, new))

    def check_of(self, value, key, fixed, source):
        """(kind, part): how is_again() tells whether a value has this key; or (None, None) if only
        making the key anew can tell. `fixed`: the sources of tensors of which guards have compared
        what never changes (`is_fixed_again`)."""
        kind, value_type = key[0], type(value)
        if kind == TENSOR and value_type in self.makers:
            if key[9] is not None or key[3] is None:
                return None, None
            return AGAIN_FIXED if source in fixed else AGAIN_TENSOR, value_type
        if kind == PLAIN and value_type in (int, bool, str, type(None)) \
                or kind == PLAIN and value_type is float and type(key[2]) is float and key[2]:
            return AGAIN_PLAIN, value_type
        if kind == LIST and value_type in (list, tuple) and len(value) == len(key) - 2:
            parts = [self.check_of(v, k, fixed, f"{source}[{i}]")
                     for i, (v, k) in enumerate(zip(value, key[2:]))]
            if all(below is not None for below, _ in parts):
                return AGAIN_LIST, (value_type, parts)
        if kind == OBJECT and key[3] is not None and key[3] >= 0:
            return AGAIN_OBJECT, value_type
        return None, None

    @staticmethod
    def can_keep(before, key):
        """Whether what check_of() returned for a tensor holds for another one of its type."""
        return before[0] == TENSOR and key[0] == TENSOR and key[9] is None and key[3] is not None

    def is_again(self, value, new, key, kind, part):
        """agent_calls.c has the same in C."""
        if kind == AGAIN_LIST:
            return self.is_list_again(value, new, key, part)
        if type(value) is not part:
            return False
        if kind == AGAIN_PLAIN:
            return value == key[2]
        if kind == AGAIN_OBJECT:
            return self.object_number(value, new) == key[3]
        return (kind == AGAIN_FIXED or self.is_size_again(value, key)) \
            and self.is_fixed_again(value, new, key)

    def is_list_again(self, value, new, key, part):
        value_type, parts = part
        if type(value) is not value_type or len(value) != len(parts):
            return False
        for i, (v, (kind, below)) in enumerate(zip(value, parts)):
            if not self.is_again(v, new, key[i + 2], kind, below):
                return False
        new.n += len(value)
        return True

    def is_fixed_again(self, value, new, key):
        """Of a tensor whose sizes, strides, dtype and device a guard compared."""
        extra = value.__dict__
        return value.storage_offset() == key[3] and value.requires_grad is key[6] \
            and value.is_leaf is (key[7] is INFERENCE or key[7]) and not (extra and marks(extra)) \
            and self.object_number(value, new) == key[10]

    @staticmethod
    def is_size_again(value, key):
        return value.shape == key[1] and value.dtype is key[4] and value.device == key[5] \
            and value.stride() == key[2] and value.is_inference() is (key[7] is INFERENCE)

    def shallow(self, value, new):
        """A key that says nothing of the members of a list or dict, whose guards have their own
        sources. A short list or tuple of constants is guarded as a whole."""
        if isinstance(value, (list, tuple)) and not isinstance(value, self.texts):
            if len(value) <= MOST_CONSTANTS and all(map(is_plain, value)):
                return self.list(value, new)
            return DEEP, type(value).__name__, len(value)
        if isinstance(value, dict):
            new.n += len(value)
            return self.dict(value, new, MOST_DEPTH)
        return self.key(value, new)


class New:
    """The objects of a call that no earlier call had; `n` values were met."""
    __slots__ = ("first", "numbers", "n")

    def __init__(self, objects):
        self.first, self.numbers, self.n = objects.next, [], 0


def without_number(key):
    """A key of an object of one module, to be compared with that of another."""
    return key[:-1] if key[0] in (TENSOR, OBJECT) else key


def can_be_symbol(key):
    """Whether a compile can make symbols of a value: of a parameter it does not
    (torch._dynamo.config.force_parameter_static_shapes)."""
    return key[0] == TENSOR and key[8] != "Parameter" or key[0] == PLAIN and key[1] in ("int", "float")


def can_fill(text, key):
    """Whether a dict is empty that a program may fill, as optimizers fill their state. Guards compare
    how many keys it has without saying it."""
    return key[0] == DICT and not key[2] and not re.search(r"_hooks(_\w+)?$|\._(parameters|buffers|modules)$", text)


def plain(value, new=None, depth=0):
    return PLAIN, type(value).__name__, value


def number(value, new=None, depth=0):
    """0.0 and -0.0 are equal, and NaN equals nothing."""
    if value and math.isfinite(value):
        return PLAIN, "float", value
    return PLAIN, "float", value if value == 0 and math.copysign(1, value) > 0 else repr(value)


def text(value, new=None, depth=0):
    if len(value) > MOST_TEXT:
        return DEEP, "str", len(value)
    return PLAIN, "str", value


def octets(value, new=None, depth=0):
    if len(value) > MOST_TEXT // 4:
        return DEEP, "bytes", len(value)
    return PLAIN, "bytes", repr(value)


def printed(value, new=None, depth=0):
    return PLAIN, type(value).__name__, str(value)


def is_plain(value):
    return value is None or isinstance(value, (bool, int, float, str))


def marks(extra):
    found = []
    for name, attribute in MARKS:
        dims = extra.get(attribute)
        if dims:
            found.append((name, tuple(sorted(int(d) for d in dims))))
    kind = extra.get("_dynamo_static_input_type")
    if kind:
        found.append(("static_input", str(kind)))
    return tuple(found) or None


# -------------------------------------------------------------------------------------------------
# Keys as JSON: one object for each source.

def describe(source, key, new, out):
    """Appends what a key says of a source, and of the parts of a list or dict."""
    kind = key[0]
    if kind == TENSOR:
        out.append(describe_tensor(source, key, new))
    elif kind == LIST:
        out.append({"source": source, "type": key[1], "len": len(key) - 2})
        for i, part in enumerate(key[2:]):
            describe(f"{source}[{i}]", part, new, out)
    elif kind == DICT:
        out.append({"source": source, "type": key[1], "keys": list(key[2])})
        for name, part in zip(key[2], key[3] or ()):
            describe(f"{source}[{name!r}]", part, new, out)
    elif kind == DEEP:
        out.append({"source": source, "type": key[1], "len": key[2]})
    elif kind == ARRAY:
        describe(source, key[1], new, out)
        if key[2] is not None:
            out.append(describe_tensor(f"___from_numpy({source})", key[2], new))
    elif kind == MISSING:
        out.append({"source": source, "type": "missing"})
    elif kind == PLAIN:
        out.append({"source": source, "type": key[1], "value": key[2]})
    else:
        row = {"source": source, "type": key[1]}
        if key[3] is not None:
            row["obj"] = object_number(key[3], new)
        if key[2] is MODULE:
            row["nn_module"] = True
        row["value"] = key[2] if isinstance(key[2], str) else key[1]
        out.append(row)


def describe_tensor(source, key, new):
    _, size, stride, offset, dtype, device, requires_grad, is_leaf, name, marked, number = key
    row = {"source": source}
    if number is not None:
        row["obj"] = object_number(number, new)
    row["size"] = [int(n) for n in size]
    row["stride"] = [int(n) for n in stride] if stride is not None else None
    row["offset"] = int(offset) if offset is not None else None
    row.update(dtype=str(dtype), device=str(device), requires_grad=requires_grad)
    if name is not None:
        row["class"] = name
    if is_leaf is INFERENCE:
        row["inference"] = True
    elif not is_leaf:
        row["is_leaf"] = False
    for kind, what in marked or ():
        if kind == "static_input":
            row["static_input"] = what
        else:
            row.setdefault("marks", {})[kind] = list(what)
    return row


def object_number(number, new):
    return number if number >= 0 else new.numbers[-1 - number]


def to_json(value):
    return json.dumps(value)


def module_globals(name):
    module = sys.modules.get(name)
    return module.__dict__ if module is not None else None
