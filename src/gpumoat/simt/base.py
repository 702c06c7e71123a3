"""What all parts of a function's translation share: errors with their place, names, types, rounding and wrapping."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from gpumoat.simt.errors import located
from gpumoat.simt.module import Module
from gpumoat.simt.program import Program
from gpumoat.simt.runtime import round16, round32
from gpumoat.simt.scalars import SCALARS, is_integer
from gpumoat.simt.source import static_of
from gpumoat.simt.statics import Constant, ElementType, Function, Live, attribute
from gpumoat.simt.values import NOTHING, Environment, Value, literal, typed

NAMES = {
    "ListComp": "a list comprehension", "SetComp": "a set comprehension", "DictComp": "a dict comprehension",
    "GeneratorExp": "a generator expression", "Dict": "a dict", "Set": "a set", "List": "a list",
    "Lambda": "a lambda", "NamedExpr": "an assignment inside an expression (:=)", "JoinedStr": "an f-string",
    "Await": "await", "Yield": "yield", "YieldFrom": "yield from", "Starred": "a starred expression",
    "Slice": "a slice", "MatMult": "the operator @", "Is": "the comparison 'is'", "IsNot": "the comparison 'is not'",
    "In": "the comparison 'in'", "NotIn": "the comparison 'not in'", "Try": "try", "Raise": "raise", "With": "with",
    "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "ClassDef": "a class",
    "FunctionDef": "a nested function", "Import": "an import inside a kernel",
    "ImportFrom": "an import inside a kernel", "Match": "match",
    "AsyncFunctionDef": "async", "TryStar": "try", "AsyncFor": "async", "AsyncWith": "async",
}  # fmt: skip

EXACT = 1 << 53  # integers up to here are exact in a float64


def named(node: ast.AST) -> str:
    """Return what a construct is called."""
    return NAMES.get(type(node).__name__, type(node).__name__)


class Base:
    """The state of a function's translation, and the casts between types."""

    program: Program
    function: Function
    key: Any
    environment: Environment
    hoist: list[str] | None  # lines to go before the statement; None where nothing may move
    counter: int
    slot: int

    def emit(self, text: str) -> None:
        """Add a line to the code."""
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Value:
        """Translate any expression."""
        raise NotImplementedError

    def number(self, node: ast.expr) -> Value:
        """Translate an expression that has to be a number."""
        raise NotImplementedError

    def tuple_of(self, node: ast.AST, values: Sequence[Value]) -> Value:
        """Return a tuple of values."""
        raise NotImplementedError

    def from_static(self, node: ast.AST, found: Any, text: str) -> Value:
        """Translate something that is known before the launch."""
        raise NotImplementedError

    def fail(self, node: ast.AST, text: str) -> NoReturn:
        """Raise the one error, with the place."""
        raise located(self.function.file, getattr(node, "lineno", self.function.node.lineno), text)

    def unsupported(self, node: ast.AST, text: str = "") -> NoReturn:
        """Raise the error for a construct that is not supported."""
        self.fail(node, f"{text or named(node)} is not supported in a kernel")

    def temporary(self, letter: str = "_t") -> str:
        """Return a fresh local name."""
        self.counter += 1
        return f"{letter}{self.counter}"

    def static(self, node: ast.expr) -> Any:
        """Return what an expression of names and attributes means before the launch, or None."""
        if isinstance(node, ast.Name):
            if node.id in self.environment:
                value = self.environment[node.id]
                return value.static if value.type == "static" else None
            found = self.function.scope(node.id)
            if isinstance(found, (Constant, ElementType)):
                self.program.constants_read[id(self.function), node.id] = self.function, found
        elif isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            if owner is None:
                return None
            found = owner.lookup(node.attr) if isinstance(owner, Module) else attribute(owner, node.attr)
        else:
            return None
        return static_of(found.value) if isinstance(found, Live) else found

    @staticmethod
    def describe(value: Value) -> str:
        """Return what a value is, for a message."""
        if value.type == "array" and value.array is not None:
            return f"the array {value.array.name}"
        return f"of type {value.type}" if value.type in SCALARS else f"a {value.type}"

    @staticmethod
    def article(value: Value, what: str) -> str:
        """Return a description for a message."""
        return f"the array {what}" if value.type == "array" else "None" if value.type == "none" else f"a {what} object"

    def settle(self, value: Value) -> Value:
        """Return the value wrapped to its integer type, or rounded to its float type, where that is still to do."""
        if value.type not in SCALARS:
            return value
        if is_integer(value.type):
            return value if value.fits else self.wrap(value, value.type)
        if value.rounded:
            return value
        if value.type == "float16":
            return Value(f"R16({value.code})", "float16")
        if self.hoist is not None and self.slot < 60:
            self.slot += 1
            self.hoist.append(f"F[{self.slot}] = {value.code}")
            return Value(f"F[{self.slot}]", "float32")
        return Value(f"R32({value.code})", "float32")

    def wrap(self, value: Value, kind: str) -> Value:
        """Return an integer wrapped to a type."""
        scalar = SCALARS[kind]
        if kind == "bool":
            return Value(f"({value.code} != 0)", "bool", 0, 1)
        if scalar.low <= value.low and value.high <= scalar.high:
            return replace(value, type=kind)
        if value.constant is not NOTHING:
            mask = (1 << 8 * scalar.itemsize_bytes) - 1
            return literal(((int(value.constant) - scalar.low) & mask) + scalar.low, kind)
        if kind == "int64":
            name = self.temporary("_w")
            return typed(
                f"({name} if -9223372036854775808 <= ({name} := {value.code}) <= 9223372036854775807 else W64({name}))",
                kind,
            )
        mask = (1 << 8 * scalar.itemsize_bytes) - 1
        if scalar.kind == "u":
            return typed(f"({value.code} & {mask})", kind)
        return typed(f"(({value.code} + {-scalar.low} & {mask}) - {-scalar.low})", kind)

    def convert(self, value: Value, kind: str) -> Value:
        """Return the value cast to a type, as int32(x) and a store into an array cast."""
        if value.type == kind:
            return self.settle(value)
        if is_integer(kind):
            if is_integer(value.type):
                if kind == "bool":
                    value = self.settle(value)
                return self.wrap(value, kind)
            value = self.settle(value)
            if kind == "bool":
                return Value(f"({value.code} != 0)", "bool", 0, 1)
            scalar = SCALARS["int64" if kind in ("int8", "int16", "uint8", "uint16") else kind]
            whole = typed(f"TI({value.code}, {scalar.low}, {scalar.high})", scalar.name)
            return self.wrap(whole, kind)
        value = self.settle(value)
        if value.constant is not NOTHING:
            exact = (is_integer(value.type) and abs(value.constant) <= EXACT) or kind == "float64"
            if exact and kind == "float64":
                return literal(float(value.constant), kind)
            return literal((round16 if kind == "float16" else round32)(value.constant), kind)
        if is_integer(value.type):
            bits = {"float16": 11, "float32": 24, "float64": 53}[kind]
            exact = max(abs(value.low), abs(value.high)) <= 1 << bits
            return Value(f"float({value.code})", kind, rounded=exact or kind == "float64")
        order = ("float16", "float32", "float64")
        return replace(value, type=kind, rounded=order.index(kind) >= order.index(value.type), atom=value.atom)

    def once(self, value: Value) -> tuple[str, str]:
        """Return the code that names a value at its first use, and the code of later uses."""
        if value.atom:
            return value.code, value.code
        name = self.temporary()
        return f"({name} := {value.code})", name

    def arguments(
        self, node: ast.Call, least: int, most: int | None = None, names: Sequence[str] = ()
    ) -> list[ast.expr]:
        """Return the arguments of a call in order, after checking how many there are."""
        given = list(node.args)
        for name in names[len(given) :]:
            given += [keyword.value for keyword in node.keywords if keyword.arg == name]
        if len(given) != len(node.args) + len(node.keywords) or any(isinstance(item, ast.Starred) for item in given):
            self.unsupported(node, f"this form of the call {ast.unparse(node)}")
        if not least <= len(given) <= (most or least):
            self.fail(node, f"{ast.unparse(node.func)} takes {least} arguments, not {len(given)}")
        return given
