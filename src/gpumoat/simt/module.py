"""A source file, read and never run: what its top-level names mean, constants from other files included."""

import ast
import contextlib
import importlib.util
import math
import operator
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpumoat.simt.errors import SimtError, located
from gpumoat.simt.statics import (
    BUILTINS,
    Constant,
    ConstantArray,
    ElementType,
    Function,
    Path,
    Unknown,
    attribute,
    module_path,
)

OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


@dataclass(eq=False)
class Module:
    """A parsed source file: what each of its top-level names means, found when asked for."""

    file: str
    text: str
    package: str = ""
    names: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Parse the file and note its top-level names."""
        try:
            tree = ast.parse(self.text, self.file)
        except SyntaxError as error:
            raise located(self.file, error.lineno or 0, f"not Python: {error.msg}") from None
        self.lines = self.text.splitlines()
        self.functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.note(tree.body)

    def note(self, body: list[ast.stmt]) -> None:
        """Note what the statements bind; the branches of a top-level if or try are all taken."""
        for statement in body:
            match statement:
                case ast.FunctionDef():
                    self.names[statement.name] = statement
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self.note_target(target, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self.names[name] = value
                case ast.Import(names=aliases):
                    for alias in aliases:
                        bound = alias.asname or alias.name.split(".")[0]
                        self.names[bound] = ("import", alias.name if alias.asname else bound)
                case ast.ImportFrom(module=origin, names=aliases, level=level):
                    parts = self.package.split(".")
                    base = ".".join(parts[: len(parts) - level + 1]) if level else ""
                    full = ".".join(part for part in (base, origin or "") if part)
                    for alias in aliases:
                        self.names[alias.asname or alias.name] = ("from", full, alias.name)
                case ast.If(body=first, orelse=second):
                    self.note(second)
                    self.note(first)
                case ast.Try(body=first, handlers=handlers):
                    for handler in handlers:
                        self.note(handler.body)
                    self.note(first)

    def note_target(self, target: ast.expr, value: ast.expr) -> None:
        """Note one target of an assignment; ``A, B = 3, 4`` binds two names."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=targets):
                for place, inner in enumerate(targets):
                    index = ast.Constant(place)
                    part = value.elts[place : place + 1] if isinstance(value, ast.Tuple) else []
                    self.note_target(inner, part[0] if part else ast.copy_location(ast.Subscript(value, index), value))

    def lookup(self, name: str) -> Any:
        """Return what a global name means, None if the file does not bind it."""
        if name not in self.known:
            if name not in self.names:
                return Path(f"builtins.{name}") if name in BUILTINS else None
            self.known[name] = Unknown(f"{name}, which is defined by itself")
            self.known[name] = self.meaning(self.names[name])
        return self.known[name]

    def meaning(self, bound: Any) -> Any:
        """Return what a noted binding means."""
        if isinstance(bound, ast.FunctionDef):
            return Function(bound.name, self.file, bound, self.lines, self.lookup)
        if isinstance(bound, tuple):
            found = module_path(bound[1])
            if bound[0] == "import":
                return found or imported(bound[1])
            if found:
                return attribute(found, bound[2])
            if whole := module_path(f"{bound[1]}.{bound[2]}"):
                return whole
            if bound[1] == "":
                return imported(bound[2])
            module = imported(bound[1])
            if not isinstance(module, Module):
                return module
            return module.lookup(bound[2]) or imported(f"{bound[1]}.{bound[2]}")
        return self.value(bound)

    def value(self, node: ast.expr) -> Any:
        """Return the value of a constant expression at the top level."""
        unknown = Unknown(
            f"the value of {ast.unparse(node)} ({self.file}:{node.lineno}), which is not a plain constant"
        )
        match node:
            case ast.Constant(value=value):
                return Constant(value)
            case ast.Name(id=name):
                return self.lookup(name) or unknown
            case ast.Attribute(value=inner, attr=name):
                found = self.value(inner)
                if isinstance(found, Module):
                    return found.lookup(name) or unknown
                return attribute(found, name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                found = self.value(inner)
                return Constant(-found.value, found.type) if isinstance(found, Constant) else unknown
            case ast.BinOp(left=left, op=op, right=right):
                first, second = self.value(left), self.value(right)
                if isinstance(first, Constant) and isinstance(second, Constant) and type(op) in OPERATIONS:
                    kept = first.type if first.type == second.type else None
                    return Constant(OPERATIONS[type(op)](first.value, second.value), kept)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found = [self.value(item) for item in items]
                if all(isinstance(item, Constant) for item in found):
                    return Constant(tuple(item.value for item in found))
            case ast.Subscript(value=inner, slice=index):
                found, at = self.value(inner), self.value(index)
                if isinstance(found, Constant) and isinstance(at, Constant) and isinstance(found.value, tuple):
                    with contextlib.suppress(IndexError, TypeError):
                        return Constant(found.value[at.value])
            case ast.Call(func=function, args=[first, *rest], keywords=keywords):
                return self.called(self.value(function), first, rest, keywords) or unknown
        return unknown

    def called(
        self, function: Any, first: ast.expr, rest: list[ast.expr], keywords: list[ast.keyword]
    ) -> Constant | ConstantArray | None:
        """Return the value of a call of a type, of ``np.array`` or of a builtin on constants."""
        argument = self.value(first)
        if not isinstance(argument, Constant):
            return None
        if isinstance(function, ElementType) and not rest:
            whole = function.name.startswith(("int", "uint"))
            return Constant(int(argument.value) if whole else argument.value, function.name)
        if function in (Path("numpy.array"), Path("numpy.asarray")):
            given = [keyword.value for keyword in keywords if keyword.arg == "dtype"] or rest
            kind = self.value(given[0]) if given else None
            shape, flat = flatten(argument.value)
            whole = all(isinstance(item, int) for item in flat)
            name = kind.name if isinstance(kind, ElementType) else "int64" if whole else "float64"
            return ConstantArray(flat, shape, name)
        others = [self.value(item) for item in rest]
        if isinstance(function, Path) and all(isinstance(item, Constant) for item in others):
            simple = {"builtins.min": min, "builtins.max": max, "builtins.int": int, "builtins.float": float}
            call: Any = simple.get(function.name) or (
                getattr(math, function.name[5:], None) if function.name.startswith("math.") else None
            )
            if call:
                return Constant(call(argument.value, *(item.value for item in others)))
        return None


def flatten(nested: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape and the flat items of nested lists or tuples."""
    if not isinstance(nested, (list, tuple)):
        return (), [nested]
    inner = [flatten(item) for item in nested]
    if any(shape != inner[0][0] for shape, _ in inner):
        raise SimtError("array: the nested lists are not a rectangle")
    return (len(inner), *(inner[0][0] if inner else ())), [item for _, items in inner for item in items]


def imported(name: str) -> Module | Unknown | Path:
    """Return a module named by an import, read as source and not run."""
    if found := module_path(name):
        return found
    file = find_module(name)
    if file is None:
        return Unknown(f"the module {name}, whose source was not found")
    return read_module(file, name if file.endswith("__init__.py") else name.rpartition(".")[0])


def find_module(name: str) -> str | None:
    """Return the file of a module without importing it or its packages."""
    first, *rest = name.split(".")
    loaded = sys.modules.get(first)
    folders = list(getattr(loaded, "__path__", []))
    if not rest and loaded is not None:
        return getattr(loaded, "__file__", None)
    if not folders:
        try:
            spec = importlib.util.find_spec(first)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        if not rest:
            return spec.origin
        folders = list(spec.submodule_search_locations or [])
    for folder in folders:
        base = os.path.join(folder, *rest)
        for candidate in (base + ".py", os.path.join(base, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
    return None


_modules: dict[str, tuple[tuple[int, int], Module]] = {}


def read_module(file: str, package: str = "") -> Module:
    """Return the parsed file; it is parsed again when it has changed."""
    try:
        stat = os.stat(file)
    except OSError:
        raise SimtError(f"{file}: no such file") from None
    stamp = (stat.st_mtime_ns, stat.st_size)
    if file not in _modules or _modules[file][0] != stamp:
        with open(file, encoding="utf-8") as stream:
            _modules[file] = (stamp, Module(file, stream.read(), package))
    return _modules[file][1]
