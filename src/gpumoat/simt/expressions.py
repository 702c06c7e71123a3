"""Expressions to Python code: numba's typing, rounding and wrapping where they are needed, and recorded accesses.

Every translation is an expression, so that the order and the short cuts of the source are kept; only a rounding to
float32 may be moved in front of its statement, because a store and a load of a one-element memory is three times as
fast as a call.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpumoat.simt.access import Access
from gpumoat.simt.base import named
from gpumoat.simt.scalars import SCALARS, is_float, unify
from gpumoat.simt.statics import Constant, ConstantArray, Path, Unknown
from gpumoat.simt.values import NOTHING, Reference, Value, literal

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


class Expressions(Access):
    """The part of a function's translation that deals with expressions."""

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
                return self.tuple_of(node, [self.settle(self.expression(item)) for item in items])
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

    def compare(self, node: ast.Compare) -> Value:
        """Translate comparisons, chained ones too."""
        for op in node.ops:
            if type(op) not in COMPARISONS:
                self.unsupported(node, named(op))
        left = self.settle(self.number(node.left))
        known = self.compared(node, left)
        if known is not None:
            return literal(known)
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

    def compared(self, node: ast.Compare, left: Value) -> bool | None:
        """Return the result of comparing two literals, which numba knows too and then leaves a branch out."""
        simple = isinstance(node.comparators[0], (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp))
        if len(node.ops) != 1 or left.constant is NOTHING or not simple:
            return None
        right = self.number(node.comparators[0])
        if right.constant is NOTHING:
            return None
        first, second = left.constant, right.constant
        results = {
            "==": first == second, "!=": first != second, "<": first < second,
            "<=": first <= second, ">": first > second, ">=": first >= second,
        }  # fmt: skip
        return bool(results[COMPARISONS[type(node.ops[0])]])

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
        if condition.constant is not NOTHING:
            return self.number(body if condition.constant else orelse)
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
