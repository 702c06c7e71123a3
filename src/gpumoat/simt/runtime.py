"""What translated code calls: the few operations that Python does otherwise than the card, and that are not inlined.

Integers wrap, a division by zero gives an infinity, a NaN or 0 instead of an exception, and a float32 or float16 is
rounded once an operation. Mathematical functions are computed in double precision and rounded, so their last bit may
differ from the card's.
"""

import math
import struct
from collections.abc import Callable
from typing import Any

from gpumoat.simt.scalars import SCALARS, is_float

NAN, INF = math.nan, math.inf
F = memoryview(bytearray(256)).cast("f")  # storing into it rounds to float32
_single, _half = struct.Struct("f"), struct.Struct("e")


def round32(value: float) -> float:
    """Round to float32."""
    F[0] = value
    return F[0]


def round16(value: float) -> float:
    """Round to float16."""
    try:
        return float(_half.unpack(_half.pack(value))[0])
    except OverflowError:
        return math.copysign(INF, value)


def half_bits(value: float) -> int:
    """Return the bits of a number as float16."""
    try:
        return int.from_bytes(_half.pack(value), "little")
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def half_value(bits: int) -> float:
    """Return the number that 16 bits stand for."""
    return float(_half.unpack(bits.to_bytes(2, "little"))[0])


def wrap64(value: int) -> int:
    """Wrap to int64."""
    return ((value + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000


def wrapper(kind: str) -> Callable[[int], int]:
    """Return the function that wraps an integer to a type."""
    scalar = SCALARS[kind]
    mask, half = (1 << 8 * scalar.itemsize_bytes) - 1, -scalar.low
    if kind == "bool":
        return lambda value: value != 0
    return lambda value: ((value + half) & mask) - half


def by_zero(value: float, zero: float) -> float:
    """Divide by zero as IEEE 754 does."""
    if value == 0 or value != value:
        return NAN
    return math.copysign(INF, value) * math.copysign(1.0, zero)


def floor_divide(left: float, right: float) -> float:
    """Divide floats and round down, as Python does, without its exception."""
    if right == 0:
        return by_zero(left, right)
    return left // right


def modulo(left: float, right: float) -> float:
    """Return the remainder with the divisor's sign, as Python does, without its exception."""
    if right == 0:
        return NAN
    return left % right


def power_integer(base: int, exponent: int) -> int:
    """Raise an integer to an integer modulo 2**64; a negative exponent truncates the fraction."""
    if exponent >= 0:
        return pow(base, exponent, 1 << 64) if base >= 0 else pow(base % (1 << 64), exponent, 1 << 64)
    if base in (1, -1):
        return base if exponent % 2 else 1
    return 0


def power_float(base: float, exponent: float) -> float:
    """Raise a float to a float as C does."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -INF if base < 0 and exponent % 2 == 1 else INF
    except ValueError:
        if base == 0:
            return math.copysign(INF, base) if exponent % 2 == 1 else INF
        return NAN


def power_literal(base: float, exponent: int, single: bool) -> float:
    """Raise a float to a literal integer by repeated squaring, rounded at each step, as the compiler expands it."""
    total, count = 1.0, abs(exponent)
    while count:
        if count & 1:
            total = round32(total * base) if single else total * base
        count >>= 1
        if count:
            base = round32(base * base) if single else base * base
    if exponent > 0:
        return total
    inverse = by_zero(1.0, total) if total == 0 else 1.0 / total
    return round32(inverse) if single else inverse


def to_integer(value: float, low: int, high: int) -> int:
    """Cut a float to an integer of a type; what does not fit becomes the nearest end, and NaN 0, as on the card."""
    if value != value:
        return 0
    return int(value) if low <= value <= high else low if value < low else high


def popc(value: int) -> int:
    """Count the set bits."""
    return (value & 0xFFFFFFFFFFFFFFFF).bit_count()


def reverse_bits(value: int, bits: int) -> int:
    """Reverse the bits of a word."""
    return int(f"{value & (1 << bits) - 1:0{bits}b}"[::-1], 2)


def leading_zeros(value: int, bits: int) -> int:
    """Count the leading zeros of a word."""
    return bits - (value & (1 << bits) - 1).bit_length()


def first_set(value: int, bits: int) -> int:
    """Return the place of the lowest set bit, from 1; 0 if there is none."""
    value &= (1 << bits) - 1
    return (value & -value).bit_length()


def fused32(a: float, b: float, c: float) -> float:
    """Return a * b + c rounded once to float32: the product is exact in double precision."""
    return round32(a * b + c)


def smaller(a: float, b: float) -> float:
    """Return the smaller float, and the other one beside a NaN, as the card does."""
    return a if a <= b or b != b else b


def larger(a: float, b: float) -> float:
    """Return the larger float, and the other one beside a NaN, as the card does."""
    return a if a >= b or b != b else b


def safe(function: Callable[..., float]) -> Callable[..., float]:
    """Return a math function that gives infinities and NaN as C does, instead of exceptions."""
    name = function.__name__

    def call(*arguments: float) -> float:
        try:
            return function(*arguments)
        except OverflowError:
            return -INF if name == "sinh" and arguments[0] < 0 else INF
        except ValueError:
            value = arguments[0]
            if (name in ("log", "log2", "log10") and value == 0) or (name == "log1p" and value == -1):
                return -INF
            if name == "atanh" and abs(value) == 1:
                return math.copysign(INF, value)
            if name in ("gamma", "lgamma") and value == value and name == "lgamma":
                return INF
            return NAN

    return call


def divide(left: float, right: float) -> float:
    """Divide as IEEE 754 does."""
    return left / right if right else by_zero(left, right)


def whole(function: Callable[[float], int], value: float) -> float:
    """Round to a whole number, as a float."""
    return math.copysign(float(function(value)), value) if math.isfinite(value) else value


def mark(flags: bytearray, place: int, count: int) -> None:
    """Note that bytes of shared memory, or an element of it, have been written."""
    flags[place : place + count] = b"\1" * count


def cube_root(value: float) -> float:
    """Return the real cube root."""
    root = math.copysign(abs(value) ** (1 / 3), value)
    if value == 0 or not math.isfinite(value):
        return value
    return root - (root * root * root - value) / (3 * root * root)


def atomic(operation: str, kind: str) -> Callable[..., Any]:
    """Return the atomic operation for an element type: (memory, place, value[, second]) to the old element."""
    if operation == "sub":
        combine: Callable[[Any, Any], Any] = lambda old, value: old - value  # noqa: E731
    else:
        combine = COMBINE[operation]
    wrap = (lambda value: value) if is_float(kind) else wrapper(kind)

    def update(memory: Any, place: int, value: Any) -> Any:
        old = memory[place]
        memory[place] = wrap(combine(old, value))
        return old

    return update


def compare_and_swap(memory: Any, place: int, expected: Any, value: Any) -> Any:
    """Store a value if the element is as expected; return what it was."""
    old = memory[place]
    if old == expected:
        memory[place] = value
    return old


COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, value: old + value,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
    "dec": lambda old, value: value if old == 0 or old > value else old - 1,
    "exch": lambda old, value: value,
    "max": lambda old, value: value if value > old or old != old else old,
    "min": lambda old, value: value if value < old or old != old else old,
    "nanmax": lambda old, value: value if value > old or old != old else old,
    "nanmin": lambda old, value: value if value < old or old != old else old,
}
UNARY_MATH = (
    "acos acosh asin asinh atan atanh cos cosh erf erfc exp expm1 fabs gamma lgamma log log10 log1p log2 sin sinh "
    "sqrt tan tanh degrees radians"
).split()
BINARY_MATH = "atan2 copysign fmod hypot".split()


def names() -> dict[str, Any]:
    """Return all names that translated code may use, atomics apart."""
    found: dict[str, Any] = {
        "NAN": NAN, "INF": INF, "F": F, "R32": round32, "R16": round16, "HB": half_bits, "HV": half_value,
        "W64": wrap64, "DZ": by_zero, "FD": floor_divide, "FM": modulo, "PI": power_integer, "PF": power_float,
        "PN": power_literal, "TI": to_integer, "POPC": popc, "BREV": reverse_bits, "CLZ": leading_zeros,
        "FFS": first_set, "FMA32": fused32, "MIN": smaller, "MAX": larger, "CBRT": cube_root, "CAS": compare_and_swap,
        "FLOOR": math.floor, "CEIL": math.ceil, "ISNAN": math.isnan, "ISINF": math.isinf, "ISFINITE": math.isfinite,
        "LDEXP": safe(math.ldexp), "TRUNC": math.trunc, "WHOLE": whole, "DIV": divide, "TANH": math.tanh, "WR": mark,
        "ONES": {size: b"\1" * size for size in (1, 2, 4, 8)},
    }  # fmt: skip
    for name in UNARY_MATH + BINARY_MATH:
        found[f"M_{name}"] = safe(getattr(math, name))
    return found
