"""The second wall: a program of symtape's is parsed, and refused unless each node of its tree is of a
kind that symtape writes and each name one that it knows. refusal(source, names) tells why, or None.

The tables are those that the writer goes by (minify/program/program_names.h, program_tables()). Nothing of the
program runs here. What is defined here is used by the warm worker (minify/process/torch_worker.py) and by the run of
a repro (program_run.py), which stand behind it in one script."""

import ast
import re
import sys

KINDS = frozenset("""
    Module FunctionDef arguments arg Return Assign AugAssign Expr If Pass Try ExceptHandler With withitem
    Import ImportFrom alias ClassDef Call keyword Name Attribute Subscript Slice Constant Tuple List Dict
    Starred BinOp UnaryOp BoolOp Compare IfExp ListComp GeneratorExp comprehension Load Store
    Add Sub Mult Div FloorDiv Mod Pow MatMult LShift RShift BitAnd BitOr BitXor Invert Not UAdd USub
    And Or Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
""".split())
CONSTANTS = (str, int, float, complex, bool, type(None), type(...))
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
SOURCE_MAX = 64 << 20
# Functions that give a function, or an object with one: the call of their result is written, too.
GIVERS = frozenset(["torch.compile", "make_fx", "torch.export.export", "torch._dynamo.lookup_backend"])
# What may be assigned to below a module.
SETTINGS = "torch._dynamo.config."


class Refused(Exception):
    pass


def chain_of(node):
    """torch.ops.aten.add -> "torch.ops.aten.add"; None: it begins with no name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


class Names:
    """The tables, and what a name is by them. `setup` holds what the user named on the command line: statements
    that a program may have as they are, and its backend (minify/program/program_setup.h)."""

    def __init__(self, tables, setup):
        for key, value in tables.items():
            setattr(self, key, frozenset(value) if not value or isinstance(value[0], str)
                    else [tuple(pair) for pair in value])
        self.given = frozenset(ast.dump(ast.parse(text).body[0])
                               for kind in ("env", "imports", "config") for text in setup[kind])
        self.backend = setup["backend"]
        if self.backend:
            self.imports |= {setup["module"]}
            self.chains |= {self.backend}
        self.roots = frozenset(name.split(".")[0] for name in self.imports)
        self.errors = frozenset(name for name in self.frame if name[0].isupper())
        self.free = self.builtins | self.types | self.frame
        self.methods = self.bases | self.members | frozenset(
            row[7:] for row in self.rows if row.startswith("Tensor."))

    def operator(self, chain):
        parts = chain.split(".")[2:]
        if len(parts) not in (2, 3) or not all(NAME.match(part) for part in parts):
            return False
        space, name = parts[:2]
        if space.startswith("__") or parts[-1].startswith("__") and len(parts) == 3:
            return False
        if (space, name) in self.refused or space == "higher_order" and len(parts) == 3:
            return False
        if name.startswith("__") and not (space == "aten" and name in self.bases):
            return False
        return space in self.spaces or space in self.allow

    def function(self, chain):
        if chain.startswith("torch._sym_"):
            return chain[11:] in self.math
        if chain.startswith("torch.sym_"):
            return chain in self.rows or chain[6:] in self.numbers
        if chain in self.rows:
            return True
        if any(chain.startswith(prefix) and to + chain[len(prefix):] in self.rows
               for prefix, to in self.prefixes):
            return True
        return any(chain.startswith(prefix) and not chain[len(prefix):].startswith("_" * 2)
                   and base + chain[len(prefix):] in self.bases for prefix, base in self.modules)

    def below_module(self, chain):
        root, _, rest = chain.partition(".")
        if chain in self.chains or chain in self.values or chain in self.dtypes:
            return True
        if root == "operator":
            plain = rest[:-1] if rest.endswith("_") else rest
            return rest in self.operator_functions or plain in self.operators
        if root == "math":
            return rest in self.math
        if root == "torch":
            return self.operator(chain) if chain.startswith("torch.ops.") else self.function(chain)
        return False

    def member(self, name):
        if name in self.methods or name in self.attributes:
            return True
        inner = name[2:-2] if len(name) > 4 and name.startswith("__") and name.endswith("__") else ""
        return inner in self.operators or inner[:1] == "r" and inner[1:] in self.operators


class Check:
    def __init__(self, tree, names):
        self.names = names
        self.functions, self.stored = {"make_fx"}, set()
        methods = {id(inner) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
                   for inner in node.body}
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                if id(node) not in methods:
                    self.functions.add(node.name)
                elif node.name != "forward":
                    raise Refused("the method %s" % node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.stored.add(node.id)
            elif isinstance(node, ast.arg):
                self.stored.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self.stored.add(node.name)
        for name in sorted(self.functions | self.stored):
            if not NAME.match(name) or name.startswith("__") and name.endswith("__"):
                raise Refused("the name %r" % name)
            if name in self.names.roots or name in self.names.free:
                raise Refused("a new meaning of %s" % name)
        for name in sorted(self.functions & self.stored):
            raise Refused("a variable called as the function %s" % name)

    def run(self, tree):
        todo = [tree]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.stmt) and self.names.given and ast.dump(node) in self.names.given:
                continue
            kind = type(node).__name__
            if kind not in KINDS:
                raise Refused("a statement or an expression of the kind %s" % kind)
            look = getattr(self, "look_" + kind, None)
            todo.extend(look(node) if look else ast.iter_child_nodes(node))

    def look_Constant(self, node):
        if type(node.value) not in CONSTANTS:
            raise Refused("a constant of the kind %s" % type(node.value).__name__)
        return ()

    def look_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            return ()
        if node.id not in self.stored | self.functions | self.names.types | self.names.errors:
            raise Refused("the name %s" % node.id)
        return ()

    def look_Attribute(self, node):
        chain = chain_of(node)
        if chain and chain.split(".")[0] in self.names.roots:
            below = isinstance(node.ctx, ast.Load) or chain.startswith(SETTINGS)
            if not below or not self.names.below_module(chain):
                raise Refused(chain)
            return ()
        if not isinstance(node.ctx, ast.Load) or not self.names.member(node.attr):
            raise Refused("the attribute %s" % node.attr)
        return (node.value,)

    def look_Call(self, node):
        self.look_callee(node.func)
        callee = () if isinstance(node.func, ast.Name) else (node.func,)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr":
            name = node.args[1] if 2 <= len(node.args) <= 3 and not node.keywords else None
            if not isinstance(name, ast.Constant) or name.value not in self.names.attributes:
                raise Refused("getattr() of what is no attribute of a tensor")
        return [*callee, *node.args, *node.keywords]

    def look_callee(self, func):
        if isinstance(func, ast.Attribute):
            return
        if isinstance(func, ast.Name):
            if func.id not in self.functions | self.names.free:
                raise Refused("a call of the variable %s" % func.id)
            return
        while isinstance(func, (ast.Call, ast.Attribute)) and not self.is_giver(func):
            func = func.func if isinstance(func, ast.Call) else func.value
        if not isinstance(func, ast.Call) and not self.is_giver(func):
            raise Refused("a call of what an expression gives")

    def is_giver(self, func):
        return (chain_of(func) or "") in GIVERS

    def look_keyword(self, node):
        if node.arg is None:
            raise Refused("** in a call")
        return (node.value,)

    def look_arguments(self, node):
        if node.posonlyargs or node.vararg or node.kwonlyargs or node.kwarg or node.defaults:
            raise Refused("a function with defaults or any number of arguments")
        return node.args

    def look_arg(self, node):
        return () if node.annotation is None else (node.annotation,)

    def look_Dict(self, node):
        if None in node.keys:
            raise Refused("** in a dict")
        return [*node.keys, *node.values]

    def look_FunctionDef(self, node):
        if node.returns:
            raise Refused("a function that says what it returns")
        for decorator in node.decorator_list:
            if chain_of(decorator) != "torch.compiler.nested_compile_region":
                raise Refused("a decorator")
        return [node.args, *node.body]

    def look_ClassDef(self, node):
        if (node.name != "Module" or [chain_of(base) for base in node.bases] != ["torch.nn.Module"]
                or node.keywords or node.decorator_list):
            raise Refused("the class %s" % node.name)
        return node.body

    def look_Import(self, node):
        for alias in node.names:
            if alias.asname or alias.name not in self.names.imports:
                raise Refused("import %s" % alias.name)
        return ()

    def look_ImportFrom(self, node):
        names = [(alias.name, alias.asname) for alias in node.names]
        if (node.module != "torch.fx.experimental.proxy_tensor" or node.level
                or names != [("make_fx", None)]):
            raise Refused("an import from %s" % node.module)
        return ()

    def look_comprehension(self, node):
        if node.is_async:
            raise Refused("an asynchronous comprehension")
        return ast.iter_child_nodes(node)


def refusal(source, names):
    """Why the program is not run; None: it may be."""
    if len(source) > SOURCE_MAX:
        return "a program of %d characters" % len(source)
    try:
        tree = ast.parse(source, "program", "exec")
        Check(tree, names).run(tree)
    except Refused as why:
        return "the program holds %s, which symtape does not write" % why
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return "the program cannot be parsed: %s" % error
    return None
