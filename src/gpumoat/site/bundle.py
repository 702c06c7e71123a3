"""The package's source, made to run on MicroPython in the reader's browser.

MicroPython is a small Python: it has no ``dataclasses``, ``typing`` or ``enum``, keeps no annotations, and
knows no ``match``, no positional-only arguments and no star in a list. The models are written in plain
Python, so little has to change: annotations and the imports for them go, a dataclass becomes the plain class
that it stands for, and ``[a, *b]`` becomes ``[a] + list(b)``. Comments go too. The rest is kept as it is.

Promises: what cannot be carried over is an error with file and line when the site is built, not a surprise in
the browser. A test runs the result on MicroPython and compares it with CPython.

Left out: a frozen dataclass is not frozen there, and two differences that no transformation mends: a ``dict``
does not keep its order, and a comma in the format of a float (``f"{x:,.1f}"``) is ignored. An import inside a
function is not looked at: it is how a module reads its data on CPython only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

# Imports that exist for annotations and dataclasses only.
DROPPED = ("__future__", "collections.abc", "dataclasses", "typing")

# What the models may import: present in MicroPython 1.27 for WebAssembly. Its `os` has no `path`.
ALLOWED = ("gpumoat", "heapq", "json", "math", "os", "random", "sys")

# Syntax that MicroPython 1.27 does not know.
UNKNOWN = {
    ast.AsyncFor: "async for",
    ast.AsyncFunctionDef: "async def",
    ast.AsyncWith: "async with",
    ast.Match: "match",
    ast.TryStar: "except*",
}


class BundleError(ValueError):
    """Source that cannot be carried over to MicroPython; the message gives file, line and what would be right."""


def for_micropython(source: str, path: str) -> str:
    """Return the source of a module as MicroPython can run it.

    Args:
        source: The module's text.
        path: Its name in error messages.

    Raises:
        BundleError: The module imports what MicroPython lacks, uses syntax that it does not know, uses a
            name from ``typing`` when it runs, or has a dataclass with more than plain fields.
    """
    tree = _Transformer(path).visit(ast.parse(source, path))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def bundle(package: Path, modules: Iterable[str]) -> dict[str, str]:
    """Return transformed modules by path, such as ``{"gpumoat/units.py": "…"}``.

    Args:
        package: Folder of the package, such as ``src/gpumoat``.
        modules: Paths in that folder, such as ``"llm/gpt.py"``.

    Raises:
        BundleError: A module cannot be carried over.
    """
    files = {}
    for module in modules:
        path = f"{package.name}/{module}"
        files[path] = for_micropython((package / module).read_text(encoding="utf-8"), path)
    return files


class _Transformer(ast.NodeTransformer):
    """One module's transformation; keeps the names whose imports were dropped."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.gone: set[str] = set()
        self.depth = 0  # of functions around the node

    def fail(self, node: ast.AST, what: str) -> BundleError:
        return BundleError(f"{self.path}:{getattr(node, 'lineno', 1)}: {what}")

    def visit(self, node: ast.AST) -> Any:
        if type(node) in UNKNOWN:
            raise self.fail(node, f"MicroPython does not know {UNKNOWN[type(node)]}")
        result = super().visit(node)
        if getattr(result, "body", None) == [] and not isinstance(result, ast.Module):
            result.body = [ast.Pass()]
        return result

    def visit_Import(self, node: ast.Import) -> ast.Import | None:
        kept = [alias for alias in node.names if not self._is_dropped(node, alias.name, alias.asname or alias.name)]
        return ast.Import(kept) if kept else None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom | None:
        module = "gpumoat" if node.level else node.module or ""
        dropped = [self._is_dropped(node, module, alias.asname or alias.name) for alias in node.names]
        return None if any(dropped) else node

    def _is_dropped(self, node: ast.stmt, module: str, name: str) -> bool:
        if module in DROPPED:
            self.gone.add(name)
            return True
        if module.partition(".")[0] not in ALLOWED and not self.depth:
            raise self.fail(node, f"module {module} is not for the browser: use {', '.join(ALLOWED)}")
        return False

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for inner in node.body:  # what is imported there must not be used when the module runs
                if isinstance(inner, (ast.Import, ast.ImportFrom)):
                    self.gone.update(alias.asname or alias.name for alias in inner.names)
            return [kept for kept in map(self.visit, node.orelse) if kept is not None]
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if isinstance(node.ctx, ast.Store):
            self.gone.discard(node.id)
        elif node.id in self.gone:
            raise self.fail(node, f"{node.id} exists for annotations only and is used at run time")
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        if node.posonlyargs:
            raise self.fail(node.posonlyargs[0], "MicroPython does not know positional-only arguments")
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.depth += 1
        result = self.generic_visit(node)
        self.depth -= 1
        return result

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign | None:
        if node.value is None:
            return None
        assign = ast.Assign([self.visit(node.target)], self.visit(node.value))
        return ast.copy_location(assign, node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        if None not in node.keys:
            return node
        pieces = [
            ast.Dict([key], [value]) if key else _call("dict", value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return ast.copy_location(_joined(pieces, ast.BitOr()), node)

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._without_stars(node, "list")

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._without_stars(node, "tuple")

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return self._without_stars(node, "set")

    def _without_stars(self, node: ast.List | ast.Tuple | ast.Set, kind: str) -> ast.AST:
        """Write ``[a, *b]`` as ``[a] + list(b)``: MicroPython knows the star in calls and assignments only."""
        self.generic_visit(node)
        starred = any(isinstance(item, ast.Starred) for item in node.elts)
        if not starred or isinstance(getattr(node, "ctx", None), ast.Store):
            return node
        pieces = [
            _call("list", item.value) if isinstance(item, ast.Starred) else ast.List([item], ast.Load())
            for item in node.elts
        ]
        joined = _joined(pieces, ast.Add())
        return ast.copy_location(joined if kind == "list" else _call(kind, joined), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "zip" and node.keywords:
            raise self.fail(node, "MicroPython's zip takes no strict=")
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        # How a frozen dataclass sets a field in __post_init__; the plain class just assigns it.
        call = node.value
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "object.__setattr__":
            instance, name, value = call.args
            if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
                raise self.fail(node, "object.__setattr__ needs the field's name as a literal")
            target = ast.Attribute(self.visit(instance), name.value, ast.Store())
            return ast.copy_location(ast.Assign([target], self.visit(value)), node)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        decorators = [item for item in node.decorator_list if _is_dataclass(item)]
        if not decorators:
            return self.generic_visit(node)
        frozen = self._frozen(decorators[0])
        if node.bases or node.keywords:
            raise self.fail(node, f"dataclass {node.name} has a base class, which is not carried over")
        node.decorator_list = [item for item in node.decorator_list if not _is_dataclass(item)]
        fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        for field in fields:
            if isinstance(field.value, ast.Call) or "ClassVar" in ast.unparse(field.annotation):
                raise self.fail(field, f"{ast.unparse(field.target)} is no plain field: use a simple default or none")
        methods = [item for item in node.body if item not in fields]
        present = {item.name for item in methods if isinstance(item, ast.FunctionDef)}
        made = _methods(node.name, fields, "__post_init__" in present, frozen)
        node.body = [*methods, *(item for item in made if item.name not in present)]
        return self.generic_visit(node)

    def _frozen(self, decorator: ast.expr) -> bool:
        options = decorator.keywords if isinstance(decorator, ast.Call) else []
        for option in options:
            if option.arg != "frozen":
                raise self.fail(decorator, f"dataclass option {option.arg} is not carried over: only frozen is")
        return any(isinstance(option.value, ast.Constant) and option.value.value is True for option in options)


def _call(function: str, argument: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def _joined(pieces: Sequence[ast.expr], operator: ast.operator) -> ast.expr:
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = ast.BinOp(joined, operator, piece)
    return joined


def _is_dataclass(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(name) in ("dataclass", "dataclasses.dataclass")


def _methods(name: str, fields: list[ast.AnnAssign], post_init: bool, frozen: bool) -> list[ast.FunctionDef]:
    """Write the methods that the decorator would add."""
    names = [ast.unparse(field.target) for field in fields]
    defaults = ["" if field.value is None else f"={ast.unparse(field.value)}" for field in fields]
    signature = ", ".join(["self"] + [name + default for name, default in zip(names, defaults, strict=True)])
    setting = [f"self.{name} = {name}" for name in names] + (["self.__post_init__()"] if post_init else [])
    own = "(" + "".join(f"self.{name}, " for name in names) + ")"
    others = own.replace("self.", "other.")
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name in names)
    source = (
        f"def __init__({signature}):\n    " + "\n    ".join(setting or ["pass"]) + "\n"
        f"def __repr__(self):\n    return f'{name}({shown})'\n"
        f"def __eq__(self, other):\n    return other.__class__ is self.__class__ and {own} == {others}\n"
    )
    if frozen:
        source += f"def __hash__(self):\n    return hash({own})\n"
    return [item for item in ast.parse(source).body if isinstance(item, ast.FunctionDef)]
