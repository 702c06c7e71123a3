"""Expressions to Python code: numba's typing, rounding and wrapping where they are needed, and recorded accesses.

Every translation is an expression, so that the order and the short cuts of the source are kept; only a rounding to
float32 may be moved in front of its statement, because a store and a load of a one-element memory is three times as
fast as a call.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

from gpumoat.simt.errors import SimtError, located
from gpumoat.simt.program import Program
from gpumoat.simt.record import LOAD
from gpumoat.simt.runtime import round16, round32
from gpumoat.simt.scalars import SCALARS, arithmetic, bitwise, division, is_float, is_integer, power, shift, unify
from gpumoat.simt.source import Constant, ConstantArray, ElementType, Function, Path, Unknown, attribute, static_of
from gpumoat.simt.values import NOTHING, Environment, Reference, Value, literal, typed

SYMBOLS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
EXACT = 1 << 53  # integers up to here are exact in a float64
# What a reader sees named when it is not supported.
NAMES = {
    "ListComp": "a list comprehension", "SetComp": "a set comprehension", "DictComp": "a dict comprehension",
    "GeneratorExp": "a generator expression", "Dict": "a dict", "Set": "a set", "List": "a list",
    "Lambda": "a lambda", "NamedExpr": "an assignment inside an expression (:=)", "JoinedStr": "an f-string",
    "Await": "await", "Yield": "yield", "YieldFrom": "yield from", "Starred": "a starred expression",
    "Slice": "a slice", "MatMult": "the operator @", "Is": "the comparison 'is'", "IsNot": "the comparison 'is not'",
    "In": "the comparison 'in'", "NotIn": "the comparison 'not in'", "Try": "try", "Raise": "raise", "With": "with",
    "Global": "global", "Nonlocal": "nonlocal", "Delete": "del", "ClassDef": "a class", "FunctionDef": "a nested function",
    "Import": "an import inside a kernel", "ImportFrom": "an import inside a kernel", "Match": "match",
    "AsyncFunctionDef": "async", "TryStar": "try", "AsyncFor": "async", "AsyncWith": "async",
}  # fmt: skip


def named(node: ast.AST) -> str:
    """Return what a construct is called."""
    return NAMES.get(type(node).__name__, type(node).__name__)


class Expressions:
    """The part of a function's translation that deals with expressions."""

    program: Program
    function: Function
    key: Any
    environment: Environment
    hoist: list[str] | None
    counter: int
    slot: int

    # Errors and names

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

    # Reading names

    def static(self, node: ast.expr) -> Any:
        """Return what an expression of names and attributes means before the launch, or None."""
        if isinstance(node, ast.Name):
            if node.id in self.environment:
                value = self.environment[node.id]
                return value.static if value.type == "static" else None
            found = self.function.scope(node.id)
            return static_of(found.value) if type(found).__name__ == "Live" else found
        if isinstance(node, ast.Attribute):
            if type(inner := self.static(node.value)).__name__ == "Module":
                return inner.lookup(node.attr)
            return None if inner is None else attribute(inner, node.attr)
        return None

    def name(self, node: ast.Name) -> Value:
        """Translate a name."""
        if node.id in self.environment:
            value = self.environment[node.id]
            if value.type == "conflict":
                self.fail(node, f"{node.id} is {self.describe(value.items[0])} or {self.describe(value.items[1])} here")
            if value.mixed:
                return replace(value, code=f"float({value.code})", mixed=False, atom=False)
            return value
        return self.from_static(node, self.static(node), node.id)

    @staticmethod
    def describe(value: Value) -> str:
        """Return what a value is, for a message."""
        if value.type == "array" and value.array is not None:
            return f"the array {value.array.name}"
        return f"of type {value.type}" if value.type in SCALARS else f"a {value.type}"

    def from_static(self, node: ast.AST, found: Any, text: str) -> Value:
        """Translate something that is known before the launch."""
        if found is None:
            self.fail(node, f"the name {text} is not defined, or only later")
        if isinstance(found, Unknown):
            self.fail(node, f"{text} is not supported: it is {found.why}")
        if isinstance(found, Constant):
            return literal(found.value, found.type)
        if isinstance(found, ConstantArray):
            return Value("", "array", array=self.constant_array(node, found, text))
        if isinstance(found, Path) and (value := self.index_value(node, found.name)) is not None:
            return value
        return Value("", "static", static=found)

    def constant_array(self, node: ast.AST, found: ConstantArray, text: str) -> Reference:
        """Return the reference to a module-level array."""
        raise NotImplementedError

    def index_value(self, node: ast.AST, path: str) -> Value | None:
        """Return the value of threadIdx.x and its like."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Value:
        """Translate a call."""
        raise NotImplementedError

    # The dispatcher

    def expression(self, node: ast.expr) -> Value:
        """Translate any expression."""
        match node:
            case ast.Constant(value=value):
                if isinstance(value, (bool, int, float, str)) or value is None:
                    return literal(value)
                self.unsupported(node, f"the constant {value!r}")
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.BinOp(left=left, op=op, right=right):
                if type(op) not in SYMBOLS:
                    self.unsupported(node, named(op))
                return self.binary(node, SYMBOLS[type(op)], self.number(left), self.number(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(node, op, self.number(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                return self.boolean(node, " and " if isinstance(op, ast.And) else " or ", values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choose(node, test, body, orelse)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Tuple(elts=items):
                values = [self.settle(self.expression(item)) for item in items]
                return self.tuple_of(node, values)
        self.unsupported(node)

    def tuple_of(self, node: ast.AST, values: Sequence[Value]) -> Value:
        """Return a tuple of values."""
        for value in values:
            if value.type not in SCALARS and value.type not in ("tuple", "static", "array"):
                self.unsupported(node, f"a tuple that holds a {value.type}")
        code = "(" + "".join(f"{value.code or None}, " for value in values) + ")"
        constant = (
            tuple(value.constant for value in values) if all(v.constant is not NOTHING for v in values) else NOTHING
        )
        return Value(code, "tuple", items=tuple(values), constant=constant)

    def number(self, node: ast.expr) -> Value:
        """Translate an expression that has to be a number."""
        value = self.expression(node)
        if value.type not in SCALARS:
            what = value.array.name if value.array else value.type
            self.fail(node, f"a number is needed here, and {ast.unparse(node)} is {self.article(value, what)}")
        return value

    @staticmethod
    def article(value: Value, what: str) -> str:
        """Return a description for a message."""
        return f"the array {what}" if value.type == "array" else "None" if value.type == "none" else f"a {what} object"

    # Types, rounding, wrapping

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

    # Operators

    def binary(self, node: ast.AST, symbol: str, left: Value, right: Value) -> Value:
        """Translate an arithmetic operator."""
        for value in (left, right):
            if value.type not in SCALARS:
                self.unsupported(node, f"the operator {symbol} on a {value.type}")
        if left.constant is not NOTHING and right.constant is not NOTHING:
            folded = self.fold(symbol, left, right)
            if folded is not None:
                return folded
        if symbol in ("+", "-", "*"):
            return self.ring(symbol, left, right)
        if symbol in ("&", "|", "^"):
            if not (is_integer(left.type) and is_integer(right.type)):
                self.fail(node, f"the operator {symbol} needs integers, not {left.type} and {right.type}")
            return self.bits(symbol, left, right)
        if symbol in ("<<", ">>"):
            if not (is_integer(left.type) and is_integer(right.type)):
                self.fail(node, f"the operator {symbol} needs integers, not {left.type} and {right.type}")
            return self.shifted(symbol, left, right)
        left, right = self.settle(left), self.settle(right)
        if symbol == "/":
            return self.divided(left, right)
        if symbol == "**":
            return self.raised(left, right)
        return self.floored(symbol, left, right)

    def fold(self, symbol: str, left: Value, right: Value) -> Value | None:
        """Return the constant that two constants make, or None where that is left to run time."""
        first, second = left.constant, right.constant
        if not (is_integer(left.type) and is_integer(right.type)):
            return None
        kind = {"<<": shift(left.type), ">>": shift(left.type)}.get(symbol) or (
            bitwise(left.type, right.type) if symbol in "&|^" else arithmetic(left.type, right.type)
        )
        if (symbol in ("//", "%") and second == 0) or (symbol in ("<<", ">>", "**") and not 0 <= second < 64):
            return None
        whole: dict[str, Any] = {
            "+": lambda: first + second, "-": lambda: first - second, "*": lambda: first * second,
            "//": lambda: first // second, "%": lambda: first % second, "**": lambda: first**second,
            "<<": lambda: first << second, ">>": lambda: first >> second,
            "&": lambda: first & second, "|": lambda: first | second, "^": lambda: first ^ second,
        }  # fmt: skip
        if symbol not in whole:
            return None
        return self.wrap(literal(int(whole[symbol]())), kind) if kind != "bool" else None

    def ring(self, symbol: str, left: Value, right: Value) -> Value:
        """Translate +, - and *, which need no wrapping of their integers before the end."""
        kind = arithmetic(left.type, right.type)
        if is_float(kind):
            left, right = self.settle(left), self.settle(right)
            return Value(f"({left.code} {symbol} {right.code})", kind, rounded=kind == "float64")
        ends = [left.low, left.high, right.low, right.high]
        if symbol == "*" and max(abs(end) for end in ends) > 1 << 200:
            left, right = self.settle(left), self.settle(right)
        if symbol == "+":
            low, high = left.low + right.low, left.high + right.high
        elif symbol == "-":
            low, high = left.low - right.high, left.high - right.low
        else:
            products = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
            low, high = min(products), max(products)
        return Value(f"({left.code} {symbol} {right.code})", kind, low, high)

    def bits(self, symbol: str, left: Value, right: Value) -> Value:
        """Translate &, | and ^."""
        kind = bitwise(left.type, right.type)
        left, right = self.settle(left), self.settle(right)
        code = f"({left.code} {symbol} {right.code})"
        if kind == "bool":
            return Value(code, "bool", 0, 1)
        if kind == "uint64" or (left.low >= 0 and right.low >= 0):
            top = min(left.high, right.high) if symbol == "&" else (1 << max(left.high, right.high).bit_length()) - 1
            return Value(code, kind, 0, top)
        if symbol == "&" and (left.low >= 0 or right.low >= 0):
            return Value(code, kind, 0, left.high if left.low >= 0 else right.high)
        reach = max(abs(end) for end in (left.low, left.high, right.low, right.high)).bit_length()
        return Value(code, kind, -(1 << reach), (1 << reach) - 1)

    def shifted(self, symbol: str, left: Value, right: Value) -> Value:
        """Translate shifts; only the low six bits of the count matter, as in 64-bit registers."""
        kind = shift(left.type)
        left, right = self.settle(left), self.settle(right)
        count = right.code if right.low >= 0 and right.high < 64 else f"({right.code} & 63)"
        least, most = (right.low, right.high) if right.low >= 0 and right.high < 64 else (0, 63)
        code = f"({left.code} {symbol} {count})"
        if symbol == ">>":
            low = left.low >> (most if left.low >= 0 else least)
            high = left.high >> (least if left.high >= 0 else most)
            return Value(code, kind, low, high)
        ends = [end << count for end in (left.low, left.high) for count in (least, most)]
        return Value(code, kind, min(ends), max(ends))

    def divided(self, left: Value, right: Value) -> Value:
        """Translate /."""
        kind = division(left.type, right.type)
        rounded = kind == "float64"
        codes = [
            f"float({value.code})"
            if is_integer(value.type) and max(abs(value.low), abs(value.high)) > EXACT
            else value.code
            for value in (left, right)
        ]
        if right.constant is not NOTHING and right.constant != 0:
            return Value(f"({codes[0]} / {codes[1]})", kind, rounded=rounded)
        below, again = self.once(replace(right, code=codes[1], atom=right.atom and codes[1] == right.code))
        # The divisor is tested first; the dividend stands in both branches, and only one of them is evaluated.
        return Value(f"({codes[0]} / {again} if {below} else DZ({codes[0]}, {again}))", kind, rounded=rounded)

    def floored(self, symbol: str, left: Value, right: Value) -> Value:
        """Translate // and %."""
        kind = arithmetic(left.type, right.type)
        if is_float(kind):
            helper = "FD" if symbol == "//" else "FM"
            codes = [f"float({v.code})" if is_integer(v.type) else v.code for v in (left, right)]
            return Value(f"{helper}({codes[0]}, {codes[1]})", kind, rounded=kind == "float64")
        if (left.type == "uint64" and SCALARS[right.type].kind != "u") or (right.type == "uint64" and kind == "int64"):
            left, right = self.wrap(left, kind), self.wrap(right, kind)
        bound = max(abs(right.low), abs(right.high))
        if symbol == "%":
            low, high = (-bound if right.low < 0 else 0), (bound if right.high > 0 else 0)
            if right.low >= 0 and left.low >= 0:
                high = min(high, left.high)
        else:
            reach = max(abs(left.low), abs(left.high))
            low, high = (-reach, reach) if left.low < 0 or right.low < 0 else (0, left.high)
            if right.low > 0 and left.low >= 0:
                low, high = left.low // right.high, left.high // right.low
        if right.low > 0 or right.high < 0:
            return Value(f"({left.code} {symbol} {right.code})", kind, low, high)
        below, again = self.once(right)
        return Value(f"({left.code} {symbol} {again} if {below} else 0)", kind, min(low, 0), max(high, 0))

    def raised(self, left: Value, right: Value) -> Value:
        """Translate **."""
        kind = power(left.type, right.type)
        exponent = right.constant if is_integer(right.type) and right.constant is not NOTHING else None
        if exponent is not None and 0 < exponent <= 4:
            return self.multiplied(left, exponent, kind)
        if is_integer(kind):
            return typed(f"PI({left.code}, {right.code})", kind, low=-(1 << 64), high=1 << 64)
        if exponent is not None and exponent != 0 and abs(exponent) <= 1 << 16:
            return Value(f"PN({left.code}, {exponent}, {kind == 'float32'})", kind)
        return Value(f"PF({left.code}, {right.code})", kind, rounded=kind == "float64")

    def multiplied(self, base: Value, exponent: int, kind: str) -> Value:
        """Return a power by repeated squaring, as the compiler expands a literal exponent."""
        opened = ""
        hoist = self.hoist
        if not base.atom:
            name = self.temporary("_p")
            if hoist is not None:
                hoist.append(f"{name} = {base.code}")
            else:
                opened = f"{name} := {base.code}"
            base = replace(base, code=name, atom=True)
        if exponent == 1:
            total = base
        else:
            total = square = self.settle(self.ring("*", base, base))
            if exponent == 3:
                total = self.ring("*", base, square)
            elif exponent == 4:
                total = self.ring("*", square, square)
        total = replace(total, type=kind) if is_float(kind) else self.wrap(total, kind)
        return (
            replace(total, code=f"({opened}, {total.code})[-1]".replace("(", "((", 1).replace(",", "),", 1))
            if opened
            else total
        )

    def unary(self, node: ast.AST, op: ast.unaryop, value: Value) -> Value:
        """Translate -, +, ~ and not."""
        if isinstance(op, ast.Not):
            return Value(f"(not {self.settle(value).code})", "bool", 0, 1)
        kind = value.type if is_float(value.type) else ("uint64" if SCALARS[value.type].kind == "u" else "int64")
        if isinstance(op, ast.UAdd):
            return replace(value, type=kind)
        if isinstance(op, ast.USub):
            if value.constant is not NOTHING:
                if is_float(kind):
                    return literal(-value.constant, kind)
                inside = self.wrap(literal(-value.constant), "int64" if value.type == "bool" else value.type)
                return literal(inside.constant, kind)
            if is_float(kind):
                return replace(value, code=f"(-{value.code})", atom=False)
            return self.narrow(Value(f"(-{value.code})", value.type, -value.high, -value.low), kind)
        if is_float(kind):
            self.fail(node, f"the operator ~ needs an integer, not {kind}")
        if value.type == "bool":
            return Value(f"(not {value.code})", "bool", 0, 1)
        return self.narrow(Value(f"(~{value.code})", value.type, ~value.high, ~value.low), kind)

    def narrow(self, value: Value, kind: str) -> Value:
        """Return the result of - or ~, which numba computes in the width of its operand before it widens it."""
        if value.type != "bool":
            value = self.settle(value)
        return replace(value, type=kind)

    def comparable(self, left: Value, right: Value) -> tuple[str, str]:
        """Return the codes of two settled numbers that Python compares as numba does."""
        if unify(left.type, right.type) != "float64":
            return left.code, right.code
        codes = [
            f"float({value.code})"
            if is_integer(value.type) and max(abs(value.low), abs(value.high)) > EXACT
            else value.code
            for value in (left, right)
        ]
        return codes[0], codes[1]

    def compare(self, node: ast.Compare) -> Value:
        """Translate comparisons, chained ones too."""
        for op in node.ops:
            if type(op) not in COMPARISONS:
                self.unsupported(node, named(op))
        left = self.settle(self.number(node.left))
        parts: list[str] = []
        hoist = self.hoist
        for place, (op, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.settle(self.number(operand))
            self.hoist = None
            last = place == len(node.ops) - 1
            if not last and not right.atom:
                name = self.temporary()
                first, second = self.comparable(left, right)
                second = f"({name} := {second})" if second == right.code else second
                next_left = replace(right, code=name, atom=True)
            else:
                first, second = self.comparable(left, right)
                next_left = right
            parts.append(f"{first} {COMPARISONS[type(op)]} {second}")
            left = next_left
        self.hoist = hoist
        return Value(f"({' and '.join(parts)})", "bool", 0, 1)

    def boolean(self, node: ast.AST, word: str, operands: Sequence[ast.expr]) -> Value:
        """Translate and, or."""
        values = [self.settle(self.number(operands[0]))]
        hoist, self.hoist = self.hoist, None
        values += [self.settle(self.number(operand)) for operand in operands[1:]]
        self.hoist = hoist
        kind = values[0].type
        for value in values[1:]:
            kind = unify(kind, value.type)
        code = f"({word.join(value.code for value in values)})"
        if is_float(kind):
            return Value(code, kind, mixed=False)
        return Value(code, kind, min(min(v.low for v in values), 0), max(max(v.high for v in values), 0))

    def choose(self, node: ast.AST, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        """Translate a conditional expression."""
        condition = self.settle(self.number(test))
        hoist, self.hoist = self.hoist, None
        first, second = self.settle(self.number(body)), self.settle(self.number(orelse))
        kind = unify(first.type, second.type)
        if is_float(kind):
            first, second = self.settle(self.convert(first, kind)), self.settle(self.convert(second, kind))
        self.hoist = hoist
        code = f"({first.code} if {condition.code} else {second.code})"
        if is_float(kind):
            return Value(code, kind)
        return Value(code, kind, min(first.low, second.low), max(first.high, second.high))

    # Arrays

    def attribute(self, node: ast.Attribute) -> Value:
        """Translate an attribute: of an array, or of a module."""
        if (isinstance(node.value, ast.Name) and node.value.id in self.environment) or not isinstance(
            node.value, (ast.Name, ast.Attribute)
        ):
            owner = self.expression(node.value)
            if owner.type == "array" and owner.array is not None:
                return self.array_attribute(node, owner.array)
            if owner.type != "static":
                self.unsupported(node, f"the attribute .{node.attr} of a {owner.type}")
        found = self.static(node)
        if found is None:
            owner = self.expression(node.value)
            if owner.type == "array" and owner.array is not None:
                return self.array_attribute(node, owner.array)
            self.unsupported(node, f"the attribute .{node.attr}")
        return self.from_static(node, found, ast.unparse(node))

    def array_attribute(self, node: ast.Attribute, array: Reference) -> Value:
        """Translate .shape, .size, .ndim, .dtype and .itemsize."""
        left = len(array.leading)
        extents = [self.extent(array, axis) for axis in range(left, len(array.extents))]
        match node.attr:
            case "shape":
                return self.tuple_of(node, extents)
            case "size":
                total = extents[0]
                for extent in extents[1:]:
                    total = self.ring("*", total, extent)
                return replace(total, high=min(total.high, 1 << 40)) if len(extents) > 1 else total
            case "ndim":
                return literal(array.dimensions)
            case "dtype":
                return Value("", "static", static=ElementType(array.type))
            case "itemsize":
                return literal(SCALARS[array.type].itemsize_bytes)
            case "nbytes":
                return self.ring(
                    "*",
                    self.array_attribute(ast.Attribute(node.value, "size", lineno=node.lineno), array),
                    literal(SCALARS[array.type].itemsize_bytes),
                )
        self.unsupported(node, f"the attribute .{node.attr} of an array")

    @staticmethod
    def extent(array: Reference, axis: int) -> Value:
        """Return the length of an axis."""
        size = array.sizes[axis]
        return literal(size) if size is not None else Value(array.extents[axis], "int64", 0, 1 << 40, atom=True)

    def place(self, node: ast.Subscript) -> tuple[Value, list[Value]]:
        """Return what is indexed, and all indices of a chain of subscripts on an array."""
        owner = self.expression(node.value)
        if isinstance(node.slice, ast.Slice) or (
            isinstance(node.slice, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.slice.elts)
        ):
            self.unsupported(node, "a slice")
        given = self.expression(node.slice)
        return owner, list(given.items) if given.type == "tuple" else [given]

    def subscript(self, node: ast.Subscript) -> Value:
        """Translate an element, a row of an array, or an item of a tuple."""
        owner, indices = self.place(node)
        if owner.type == "tuple":
            return self.item(node, owner, indices[0])
        if owner.type != "array" or owner.array is None:
            self.unsupported(node, f"an index into a {owner.type}")
        array = self.narrowed(node, owner.array, indices)
        if array.dimensions:
            return Value("", "array", array=array)
        return self.load(node, array)

    def item(self, node: ast.Subscript, owner: Value, index: Value) -> Value:
        """Translate an item of a tuple."""
        if index.constant is not NOTHING and isinstance(index.constant, int):
            if not -len(owner.items) <= index.constant < len(owner.items):
                self.fail(node, f"the tuple has {len(owner.items)} items, not {index.constant}")
            item = owner.items[index.constant]
            if item.atom or item.type not in SCALARS:
                return item
            return replace(item, code=f"{owner.code}[{index.constant}]", atom=False)
        kinds = {item.type for item in owner.items}
        if len(kinds) != 1 or not kinds <= set(SCALARS):
            self.unsupported(node, "a computed index into a tuple of different types")
        low, high = min(item.low for item in owner.items), max(item.high for item in owner.items)
        return Value(f"{owner.code}[{self.settle(index).code}]", kinds.pop(), low, high)

    def narrowed(self, node: ast.AST, array: Reference, indices: Sequence[Value]) -> Reference:
        """Return the array with more of its leading indices fixed."""
        if len(indices) > array.dimensions:
            self.fail(node, f"{array.name} has {len(array.extents)} axes, not {len(array.leading) + len(indices)}")
        settled = []
        for index in indices:
            if index.type not in SCALARS or not is_integer(index.type):
                self.fail(node, f"{array.name} is indexed with {self.describe(index)}; an integer is needed")
            settled.append(self.settle(index))
        return replace(array, leading=(*array.leading, *settled))

    def reach(self, array: Reference) -> tuple[str, str, list[str]]:
        """Return the condition that the indices are inside, the linear place, and each index after the condition."""
        conditions: list[str] = []
        again: list[str] = []
        opening: list[str] = []
        ahead = self.hoist is None and any(not index.atom for index in array.leading[1:])
        for axis, index in enumerate(array.leading):
            size = array.sizes[axis]
            first = later = index.code
            if not index.atom:
                later = self.temporary()
                first = f"({later} := {index.code})"
                if self.hoist is not None and len(array.leading) > 1:
                    self.hoist.append(f"{later} = {index.code}")
                    first = later
                elif ahead:
                    opening.append(first)
                    first = later
            again.append(later)
            if size is not None and index.low >= 0 and index.high < size:
                if first != later:
                    opening.append(first)
                continue
            extent = array.extents[axis]
            conditions.append(f"0 <= {first} < {extent}" if index.low < 0 else f"{first} < {extent}")
        linear = again[0]
        for axis in range(1, len(again)):
            start = f"({linear})" if axis > 1 else linear
            linear = f"{start} * {array.extents[axis]} + {again[axis]}"
        if opening:
            conditions.insert(0, f"({', '.join(opening)},)")
        return " and ".join(conditions), linear, again

    def load(self, node: ast.AST, array: Reference) -> Value:
        """Translate the load of an element."""
        condition, linear, again = self.reach(array)
        site = self.program.site(self.function, self.key, node, array.number, LOAD)
        code = self.element(array, linear, site, again)
        if condition:
            zero = "0.0" if is_float(array.type) else "False" if array.type == "bool" else "0"
            code = f"({code} if {condition} else X({site}, T, {', '.join(again)}) or {zero})"
        return typed(code, array.type)

    def element(self, array: Reference, linear: str, site: int, again: Sequence[str]) -> str:
        """Return the code that records and loads an element inside the array."""
        if not self.program.recording or array.space == "local":
            read = f"{array.memory}[{linear}]"
            return f"HV({read})" if array.type == "float16" and not array.listed else read
        if linear.isidentifier() or linear.isdigit():
            named_linear = linear
            first = linear
        else:
            named_linear = self.temporary("_l")
            first = f"{named_linear} := {linear}"
        read = f"{array.memory}[{named_linear}]"
        if array.type == "float16" and not array.listed:
            read = f"HV({read})"
        if array.space == "shared":
            flag = f"w{array.number}[{self.flag(array, named_linear)}]"
            read = f"({flag} or U({site}, T, {', '.join(again)})) and {read}"
        return f"(RI({first}) or RS({site}) or {read})"

    @staticmethod
    def flag(array: Reference, linear: str) -> str:
        """Return the place of the flag that says whether an element has been written."""
        return f"({linear}) * {SCALARS[array.type].itemsize_bytes}" if array.dynamic else linear


__all__ = ["Expressions", "SimtError", "named"]
