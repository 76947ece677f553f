"""Attributes and globals that guards read, and which of them changed from one call to another.

While the same entry answers, what its guards compare for equality has not changed, so values are
read when another entry answers or a compile begins; those that an entry takes as they come (sizes
of tensors, ints and floats that are dynamic) are read at each call."""
import ast

from _symtape_recorder import call_values

MOST_SOURCES = 2000  # of one code object


class Source:
    """A source of Dynamo, as L['self'].lin.k or G['RATE'], which is read as its guards read it."""
    __slots__ = ("text", "code", "of_module", "is_global", "of_attributes")

    def __init__(self, text):
        self.text = text
        tree = ast.parse(text, mode="eval")
        self.is_global = check_part(tree.body) == "G"
        self.of_module = "L['self']" in text
        self.of_attributes = text.endswith(".__dict__")
        self.code = compile(tree, "<source>", "eval")

    def read(self, scope, values, new):
        try:
            value = eval(self.code, scope)
        except (AttributeError, LookupError, TypeError):
            return (call_values.MISSING,)
        if self.of_attributes and type(value) is dict:
            return call_values.DICT, "dict", tuple(map(str, value)), None
        return values.shallow(value, new)


def is_of_dict(node, name):
    return isinstance(node, ast.Attribute) and node.attr == name \
        and isinstance(node.value, ast.Name) and node.value.id == "dict"


def is_dict_of_object(node):
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def check_call(node):
    """Sources that are calls: list(dict.keys(SOURCE)), dict.__getitem__(SOURCE, KEY), type(SOURCE) and
    dict(SOURCE.__dict__)."""
    if isinstance(node.func, ast.Name) and node.func.id == "list" and len(node.args) == 1:
        keys = node.args[0]
        if isinstance(keys, ast.Call) and is_of_dict(keys.func, "keys") and len(keys.args) == 1:
            return check_part(keys.args[0])
    if isinstance(node.func, ast.Name) and len(node.args) == 1 and (
            node.func.id == "type" or node.func.id == "dict" and is_dict_of_object(node.args[0])):
        return check_part(node.args[0])
    if is_of_dict(node.func, "__getitem__") and len(node.args) == 2:
        check_key(node.args[1])
        return check_part(node.args[0])
    raise ValueError("not a plain source")


def check_key(node):
    if not isinstance(node, ast.Constant):
        check_part(node)


def check_part(node):
    """The name at the root of a source; ValueError if reading it could do more than reading."""
    if isinstance(node, ast.Name) and node.id in ("L", "G"):
        return node.id
    if isinstance(node, ast.Attribute):
        return check_part(node.value)
    if isinstance(node, ast.Subscript):
        check_key(node.slice)
        return check_part(node.value)
    if isinstance(node, ast.Call) and not node.keywords:
        return check_call(node)
    raise ValueError("not a plain source")


def is_argument(text):
    """Whether a source is a local or a member of one, which the arguments of a call tell."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return True
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "L"


def source_of(text):
    if len(text) > 1000 or is_argument(text):
        return None
    try:
        return Source(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


class CodeState:
    """The sources of one code object."""

    def __init__(self, globals_name):
        self.globals_name = globals_name
        self.sources = {}       # text -> Source or None
        self.known = {}         # (module number or -1, text) -> key
        self.varying = []       # texts of sources that were seen to change
        self.last = {}          # module number -> (entry, state)
        self.ordered = ()       # texts of the dicts whose number of keys the last entry guards

    def add(self, texts):
        for text in texts:
            if len(self.sources) >= MOST_SOURCES:
                return
            if text not in self.sources:
                self.sources[text] = source_of(text)

    def add_loose(self, texts):
        """Adds sources whose values the guards relate to each other but do not say, so that each call
        states them. Returns those that can be read."""
        self.add(texts)
        found = [text for text in texts if self.sources.get(text) is not None]
        self.varying.extend(text for text in found if text not in self.varying)
        return found

    def scope(self, local):
        return {"__builtins__": {}, "L": local, "list": list, "dict": dict, "type": type,
                "G": call_values.module_globals(self.globals_name) or {}}

    def note(self, module, local, values, new):
        """Reads the sources that were not read before: those of an entry that was just compiled are as
        its guards say. Each call states the tensors and numbers among them from now on, since other
        policies may make symbols of them. Returns those, and the dicts whose number of keys the entry
        guards without saying it: ((text, key), ...)."""
        scope, found = self.scope(local), []
        for text, source in list(self.sources.items()):
            if source is None:
                continue
            where = (module if source.of_module else -1, text)
            if where not in self.known:
                key = self.known[where] = source.read(scope, values, new)
                if source.of_module:
                    self.known.setdefault((None, text), key)
                if call_values.can_be_symbol(key) or call_values.can_fill(text, key):
                    found.append((text, key))
                    if text not in self.varying:
                        self.varying.append(text)
        found.extend((text, self.sources[text].read(scope, values, new)) for text in self.ordered
                     if self.sources.get(text) is not None and text not in self.varying)
        return tuple(found)

    def read(self, entry, module, local, values, new):
        """The values of all sources that ever changed: ((text, key), ...). `entry`: what answered,
        or None."""
        last = self.last.get(module)
        same = last is not None and entry is not None and last[0] is entry
        if same and not entry.loose:
            return last[1]
        texts = entry.loose if same else self.sources
        scope = self.scope(local)
        for text in list(texts):
            source = self.sources.get(text)
            if source is None:
                continue
            key = source.read(scope, values, new)
            where = (module if source.of_module else -1, text)
            before = self.known.get(where)
            changed = before is not None and before != key
            if before is None and source.of_module and (None, text) in self.known:
                changed = call_values.without_number(self.known[None, text]) \
                    != call_values.without_number(key)
            if changed and text not in self.varying:
                self.varying.append(text)
            self.known[where] = key
            if source.of_module:
                self.known[None, text] = key  # the last module's
        state = tuple((t, self.known.get((module if self.sources[t].of_module else -1, t)))
                      for t in self.varying)
        state = tuple((t, k) for t, k in state if k is not None)
        if len(self.last) > 1000:
            self.last.clear()
        self.last[module] = entry, state
        return state
