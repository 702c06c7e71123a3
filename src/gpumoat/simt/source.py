"""Where a kernel's source is, and what the names in it mean, without running numba.

A kernel is a decorated function (its ``py_func`` is taken), a plain function, or text: "package.module:name" or
"path/file.py:name", which is read and parsed but never imported. Names are resolved statically: constants, element
types, device functions, and the modules cuda, math, numpy, numba and operator.

Left out: a module constant that needs real computation (a call other than a type, ``np.array`` or a few builtins)
is an error when a kernel that was read as text uses it.
"""

import ast
import contextlib
import importlib.util
import inspect
import linecache
import math
import operator
import os
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpumoat.simt.errors import SimtError, located
from gpumoat.simt.scalars import scalar_name


@dataclass(frozen=True)
class Path:
    """A name inside one of the known modules: ``cuda.atomic.add``, ``math.sqrt``, ``builtins.min``."""

    name: str


@dataclass(frozen=True)
class ElementType:
    """An element type used as a value: ``int32``, ``np.float32``."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A value known before the launch; ``type`` is the element type of a NumPy scalar, else None."""

    value: Any
    type: str | None = None


@dataclass(frozen=True, eq=False)
class ConstantArray:
    """A module-level array, flat."""

    values: list[Any]
    shape: tuple[int, ...]
    type: str


@dataclass(frozen=True, eq=False)
class Function:
    """A kernel or device function: its tree, and the scope that its free names are looked up in."""

    name: str
    file: str
    node: ast.FunctionDef
    lines: list[str]
    scope: Callable[[str], Any]


@dataclass(frozen=True)
class Live:
    """Any other imported module or object, looked into attribute by attribute."""

    value: Any


@dataclass(frozen=True)
class Unknown:
    """A name that exists but is not understood; an error only if the kernel uses it."""

    why: str


BUILTINS = {"range", "min", "max", "abs", "int", "float", "bool", "len", "print", "pow", "round", "divmod"}
MODULES = {"math": "math", "numpy": "numpy", "numba": "numba", "numba.types": "numba", "operator": "operator"}
NUMBERS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
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


def module_path(name: str) -> Path | None:
    """Return what a module is to a kernel: numba's cuda whoever ships it, math, numpy, numba, operator."""
    if name in MODULES:
        return Path(MODULES[name])
    parts = name.split(".")
    if parts[0].startswith("numba") and (parts[-1] == "cuda" or (parts[0] == "numba_cuda_mlir" and len(parts) == 1)):
        return Path("cuda") if parts[-1] == "cuda" else Path("numba")
    return Path("numba") if name == "numba_cuda" else None


def attribute(value: Any, name: str) -> Any:
    """Return ``value.name`` for a static value."""
    if isinstance(value, Path):
        if value.name in ("numba", "numpy"):
            if name == "cuda":
                return Path("cuda")
            if name == "types":
                return Path("numba")
            if found := scalar_name(name):
                return ElementType(found)
        if value.name in ("math", "numpy") and name in NUMBERS:
            return Constant(NUMBERS[name])
        return Path(f"{value.name}.{name}")
    if isinstance(value, Live):
        if not hasattr(value.value, name):
            return Unknown(f"{value.value!r} has no {name}")
        return static_of(getattr(value.value, name))
    return Unknown(f"an attribute .{name}")


def static_of(value: Any) -> Any:
    """Return what a live object (a global of the kernel's module) is to a kernel."""
    if value is None or (isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins"):
        return Constant(value)
    if isinstance(value, tuple):
        return Constant(value)
    module = getattr(type(value), "__module__", "")
    if isinstance(value, types.ModuleType):
        return module_path(value.__name__) or Live(value)
    if hasattr(value, "py_func"):
        return function_of(value.py_func)
    home = getattr(value, "__module__", None) or ""
    if "numba" in home and "cuda" in home.split(".") and hasattr(value, "__name__"):
        return Path(f"cuda.{value.__name__}")
    if isinstance(value, types.FunctionType):
        return function_of(value)
    if isinstance(value, types.BuiltinFunctionType) and home in ("math", "builtins", "_operator"):
        return Path(f"{home.strip('_')}.{value.__name__}")
    if isinstance(value, type):
        if home == "builtins" and value.__name__ in BUILTINS:
            return Path(f"builtins.{value.__name__}")
        found = scalar_name(value.__name__)
        return ElementType(found) if found and home == "numpy" else Unknown(f"the class {value.__name__}")
    if module.startswith("numba") and (found := scalar_name(str(value))):
        return ElementType(found)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        found = scalar_name(str(value.dtype))
        if found is None:
            return Unknown(f"elements of type {value.dtype}")
        if value.shape == ():
            return Constant(value.item(), found)
        return ConstantArray(value.ravel().tolist(), tuple(value.shape), found)
    if module.startswith("numpy") and (found := scalar_name(str(value))):
        return ElementType(found)
    return Unknown(f"an object of class {type(value).__name__}")


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


_functions: dict[Any, Function] = {}


def function_of(function: types.FunctionType) -> Function:
    """Return the source of a live function."""
    code = function.__code__
    if function in _functions:
        return _functions[function]
    file = code.co_filename
    text = "".join(linecache.getlines(file, function.__globals__))
    if not text:
        raise SimtError(f"{function.__name__}: its source is not to be found; keep kernels in a file")
    module = Module(file, text)
    for node in module.functions:
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        if node.name == function.__name__ and first == code.co_firstlineno:
            break
    else:
        raise SimtError(f"{function.__name__}: not found at {file}:{code.co_firstlineno}; is it a lambda?")
    cells = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    values = {**function.__globals__, **cells}

    def scope(name: str) -> Any:
        if name in values:
            return static_of(values[name])
        return Path(f"builtins.{name}") if name in BUILTINS else None

    _functions[function] = Function(function.__name__, file, node, module.lines, scope)
    if len(_functions) > 512:
        _functions.pop(next(iter(_functions)))
    return _functions[function]


def find_kernel(kernel: Any) -> Function:
    """Return the source of a kernel given as a function, decorated or not, or as "module:name" or "file.py:name"."""
    if isinstance(kernel, Function):
        return kernel
    if isinstance(kernel, str):
        place, colon, name = kernel.rpartition(":")
        if not colon or not place or not name:
            raise SimtError(f'kernel: "{kernel}" is neither "module:name" nor "file.py:name"')
        file = place if place.endswith(".py") else find_module(place)
        if file is None:
            raise SimtError(f"kernel: the module {place} was not found")
        package = "" if place.endswith(".py") else place.rpartition(".")[0]
        found = read_module(file, package).lookup(name)
        if not isinstance(found, Function):
            raise SimtError(f"kernel: {file} has no function {name}")
        return found
    function = getattr(kernel, "py_func", kernel)
    if not isinstance(function, types.FunctionType):
        raise SimtError(f"kernel: a function, a decorated function or text is needed, not {type(kernel).__name__}")
    return function_of(function)
