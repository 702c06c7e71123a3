"""Operators, by numba's typing: wrapped to 64 bits and rounded to float32 where that is needed, and nowhere else."""

import ast
from dataclasses import replace
from typing import Any

from gpumoat.simt.base import EXACT, Base
from gpumoat.simt.scalars import SCALARS, arithmetic, bitwise, division, is_float, is_integer, power, shift, unify, wide
from gpumoat.simt.values import NOTHING, Value, literal, typed


class Operators(Base):
    """The part of a function's translation that deals with operators."""

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
        kind = wide(arithmetic(left.type, right.type))
        if is_float(kind):
            routine = "FD" if symbol == "//" else "FM"
            codes = [f"float({v.code})" if is_integer(v.type) else v.code for v in (left, right)]
            return Value(f"{routine}({codes[0]}, {codes[1]})", kind, rounded=kind == "float64")
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
