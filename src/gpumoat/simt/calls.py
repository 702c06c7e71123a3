"""Calls in a kernel: casts, builtins, mathematics and device functions; those of cuda are in ``cuda_calls``."""

import ast
from dataclasses import replace

from gpumoat.simt.cuda_calls import CudaCalls
from gpumoat.simt.runtime import BINARY_MATH, UNARY_MATH
from gpumoat.simt.scalars import SCALARS, float_of, is_float, is_integer, unify
from gpumoat.simt.statics import ElementType, Function, Path, Unknown
from gpumoat.simt.values import NONE, Value, literal, typed


class Calls(CudaCalls):
    """The part of a function's translation that deals with calls."""

    def call(self, node: ast.Call) -> Value:
        """Translate a call."""
        if isinstance(node.func, ast.Attribute):
            owner = self.static(node.func)
            if owner is None:
                self.unsupported(node, f"the method .{node.func.attr}()")
        found = self.static(node.func)
        text = ast.unparse(node.func)
        if isinstance(found, Function):
            return self.device(node, found)
        if isinstance(found, ElementType):
            if len(node.args) != 1 or node.keywords:
                self.unsupported(node, f"{text} of anything but one number")
            return self.convert(self.number(node.args[0]), found.name)
        if isinstance(found, Unknown):
            self.fail(node, f"{text} is not supported: it is {found.why}")
        if not isinstance(found, Path):
            self.fail(node, f"{text} is not a function that a kernel can call")
        module, _, name = found.name.partition(".")
        if module == "builtins":
            return self.builtin(node, name)
        if module in ("math", "numpy"):
            return self.mathematics(node, name, text)
        if module == "cuda":
            return self.cuda(node, name, text)
        self.unsupported(node, f"{text}()")

    def builtin(self, node: ast.Call, name: str) -> Value:
        """Translate a builtin."""
        match name:
            case "min" | "max":
                return self.extreme(node, name)
            case "abs":
                return self.absolute(self.number(*self.arguments(node, 1)))
            case "int" | "float" | "bool":
                value = self.number(*self.arguments(node, 1))
                if name == "int":
                    if is_integer(value.type):
                        return self.convert(value, "uint64" if value.type == "uint64" else "int64")
                    return self.convert(value, "int64")
                if name == "float":
                    return self.settle(value) if is_float(value.type) else self.convert(value, "float64")
                return self.convert(value, "bool")
            case "len":
                owner = self.expression(*self.arguments(node, 1))
                if owner.type == "tuple":
                    return literal(len(owner.items))
                if owner.array is not None:
                    return self.extent(owner.array, len(owner.array.leading))
                self.fail(node, "len() needs an array or a tuple")
            case "pow":
                first, second = self.arguments(node, 2)
                return self.binary(node, "**", self.number(first), self.number(second))
            case "round":
                value = self.settle(self.number(*self.arguments(node, 1)))
                return typed(f"TI(WHOLE(round, {value.code}), {-(1 << 63)}, {(1 << 63) - 1})", "int64")
            case "print":
                values = [self.settle(self.expression(item)) for item in node.args]
                return replace(NONE, code=f"print({', '.join(value.code for value in values)})", atom=False)
            case "range":
                self.unsupported(node, "range() outside a for statement")
        self.unsupported(node, f"{name}()")

    def extreme(self, node: ast.Call, name: str) -> Value:
        """Translate min and max."""
        if len(node.args) < 2 or node.keywords:
            self.unsupported(node, f"{name}() of anything but two or more numbers")
        best = self.settle(self.number(node.args[0]))
        for operand in node.args[1:]:
            other = self.settle(self.number(operand))
            kind = unify(best.type, other.type)
            if is_float(kind):
                best, other = self.settle(self.convert(best, kind)), self.settle(self.convert(other, kind))
                best = Value(f"{name.upper()}({best.code}, {other.code})", kind)
                continue
            first, again = self.once(best)
            second, other_again = self.once(other)
            sign = "<" if name == "min" else ">"
            choose = min if name == "min" else max
            code = f"({again} if {first} {sign} {second} else {other_again})"
            best = Value(code, kind, choose(best.low, other.low), choose(best.high, other.high))
        return best

    def absolute(self, value: Value) -> Value:
        """Translate abs."""
        value = self.settle(value)
        kind = "int8" if value.type == "bool" else value.type
        if is_float(kind):
            return Value(f"abs({value.code})", kind)
        low = 0 if value.low <= 0 <= value.high else min(abs(value.low), abs(value.high))
        return self.settle(Value(f"abs({value.code})", kind, low, max(abs(value.low), abs(value.high))))

    def mathematics(self, node: ast.Call, name: str, text: str) -> Value:
        """Translate a function of math, or the function of NumPy with the same meaning."""
        name = {"absolute": "abs", "arctan2": "atan2", "power": "pow", "minimum": "min", "maximum": "max"}.get(
            name, name
        )
        if text.startswith(("np.", "numpy.")):
            name = name.replace("arc", "a", 1) if name.startswith("arc") else name
            if name in ("abs", "fabs"):
                return self.absolute(self.number(*self.arguments(node, 1)))
            if name in ("min", "max"):
                return self.extreme(node, name)
        if name in ("floor", "ceil", "trunc") and len(node.args) == 1:
            value = self.settle(self.number(node.args[0]))
            if is_integer(value.type):
                return self.convert(value, "uint64" if SCALARS[value.type].kind == "u" else "int64")
            if not text.startswith("math") and "np" in text:
                return Value(f"M_{name}({value.code})", value.type)
            word = {"floor": "FLOOR", "ceil": "CEIL", "trunc": "TRUNC"}[name]
            inner = f"{word}({value.code}) if ISFINITE({value.code}) else {value.code}"
            return typed(f"TI(({inner}), {-(1 << 63)}, {(1 << 63) - 1})", "int64")
        if name in ("isnan", "isinf", "isfinite"):
            value = self.settle(self.number(*self.arguments(node, 1)))
            return Value(f"IS{name[2:].upper()}({value.code})", "bool", 0, 1)
        if name == "pow":
            first, second = (self.settle(self.number(item)) for item in self.arguments(node, 2))
            kind = float_of(first.type, second.type) if is_float(second.type) else "float64"
            kind = "float64" if is_integer(first.type) and is_integer(second.type) else kind
            return Value(f"PF({first.code}, {second.code})", kind, rounded=kind == "float64")
        if name == "ldexp":
            first, second = (self.settle(self.number(item)) for item in self.arguments(node, 2))
            kind = first.type if is_float(first.type) else "float64"
            return Value(f"LDEXP({first.code}, {second.code})", kind, rounded=kind == "float64")
        if name in UNARY_MATH:
            value = self.settle(self.number(*self.arguments(node, 1)))
            kind = value.type if is_float(value.type) else "float64"
            if name == "fabs":
                return Value(f"abs({value.code})" if is_float(value.type) else f"float(abs({value.code}))", kind)
            return Value(f"M_{name}({value.code})", kind, rounded=kind == "float64")
        if name in BINARY_MATH:
            first, second = (self.settle(self.number(item)) for item in self.arguments(node, 2))
            both = is_integer(first.type) and is_integer(second.type)
            kind = "float64" if both else float_of(first.type, second.type)
            if kind == "float32" and name == "fmod" and not (is_float(first.type) and is_float(second.type)):
                kind = float_of(first.type, second.type)
            return Value(f"M_{name}({first.code}, {second.code})", kind, rounded=kind == "float64")
        self.unsupported(node, f"{text}()")

    def device(self, node: ast.Call, function: Function) -> Value:
        """Translate a call of a device function."""
        raise NotImplementedError
