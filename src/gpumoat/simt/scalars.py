"""Element types and the rules by which numba types arithmetic on them.

Types are named as NumPy names them. The rules were read off numba's own typing tables and are compared with them
entry by entry in the tests: integers narrower than 64 bits become int64 (uint64 when both are unsigned), a float32
stays a float32 beside another float32 or an integer of at most 16 bits, and everything else is float64.

Left out: complex numbers, dates, records.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """An element type: its size, the letter by which ``struct`` and ``memoryview`` know it, and its kind."""

    name: str
    itemsize_bytes: int
    letter: str
    kind: str  # "b" bool, "i" signed, "u" unsigned, "f" float

    @property
    def low(self) -> int:
        """The smallest integer it holds."""
        return -(1 << (8 * self.itemsize_bytes - 1)) if self.kind == "i" else 0

    @property
    def high(self) -> int:
        """The largest integer it holds."""
        if self.kind == "b":
            return 1
        return (1 << (8 * self.itemsize_bytes - (self.kind == "i"))) - 1


SCALARS = {
    name: Scalar(name, size, letter, kind)
    for name, size, letter, kind in (
        ("bool", 1, "?", "b"),
        ("int8", 1, "b", "i"),
        ("int16", 2, "h", "i"),
        ("int32", 4, "i", "i"),
        ("int64", 8, "q", "i"),
        ("uint8", 1, "B", "u"),
        ("uint16", 2, "H", "u"),
        ("uint32", 4, "I", "u"),
        ("uint64", 8, "Q", "u"),
        ("float16", 2, "e", "f"),
        ("float32", 4, "f", "f"),
        ("float64", 8, "d", "f"),
    )
}
# Other names under which numba and NumPy offer the same types.
ALIASES = {
    "boolean": "bool",
    "bool_": "bool",
    "b1": "bool",
    "byte": "uint8",
    "i1": "int8",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
    "u1": "uint8",
    "u2": "uint16",
    "u4": "uint32",
    "u8": "uint64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "intp": "int64",
    "uintp": "uint64",
    "int_": "int64",
    "intc": "int32",
    "uintc": "uint32",
    "half": "float16",
    "single": "float32",
    "double": "float64",
    "longlong": "int64",
    "ulonglong": "uint64",
}
NARROW = {"bool", "int8", "int16", "uint8"}  # integers that a float32 holds exactly, as numba's casting rules say


def scalar_name(name: str) -> str | None:
    """Return the type's own name, or None if there is no such type."""
    name = ALIASES.get(name, name)
    return name if name in SCALARS else None


def is_float(name: str) -> bool:
    """Whether the type is a float."""
    return name in ("float16", "float32", "float64")


def is_integer(name: str) -> bool:
    """Whether the type is an integer or a bool."""
    return name in SCALARS and not is_float(name)


def arithmetic(left: str, right: str) -> str:
    """Return the type of ``left + right``, and of - * // % as well."""
    if is_integer(left) and is_integer(right):
        unsigned = SCALARS[left].kind == "u" and SCALARS[right].kind == "u"
        return "uint64" if unsigned else "int64"
    return float_of(left, right)


def float_of(left: str, right: str) -> str:
    """Return the float type in which two numbers meet, at least one of them a float."""
    given = {left, right}
    if given <= {"bool", "int8", "float16"}:
        return "float16"
    if given <= NARROW | {"float16", "float32"}:
        return "float32"
    return "float64"


def division(left: str, right: str) -> str:
    """Return the type of ``left / right``."""
    return "float64" if is_integer(left) and is_integer(right) else float_of(left, right)


def power(left: str, right: str) -> str:
    """Return the type of ``left ** right``: an integer exponent leaves a float as it is."""
    if is_float(left) and is_integer(right):
        return wide(left)
    return wide(arithmetic(left, right))


def wide(name: str) -> str:
    """Return the type that //, % and ** give: there are none for float16."""
    return "float32" if name == "float16" else name


def shift(left: str) -> str:
    """Return the type of a shifted integer."""
    return "uint64" if SCALARS[left].kind == "u" else "int64"


def bitwise(left: str, right: str) -> str:
    """Return the type of ``left & right``, | and ^."""
    return "bool" if left == right == "bool" else arithmetic(left, right)


def unify(left: str, right: str) -> str:
    """Return the one type of a variable, or of min, max and ``a if c else b``, that is either of two."""
    if left == right:
        return left
    if left == "bool" or right == "bool":
        return right if left == "bool" else left
    first, second = SCALARS[left], SCALARS[right]
    if first.kind == "f" or second.kind == "f":
        if first.kind == second.kind:
            return left if first.itemsize_bytes > second.itemsize_bytes else right
        whole = second if first.kind == "f" else first
        part = first if first.kind == "f" else second
        if part.name == "float16":
            return "float16" if whole.itemsize_bytes == 1 else "float32" if whole.itemsize_bytes == 2 else "float64"
        return "float32" if part.name == "float32" and whole.itemsize_bytes <= 2 else "float64"
    if first.kind == second.kind:
        return left if first.itemsize_bytes > second.itemsize_bytes else right
    signed, unsigned = (first, second) if first.kind == "i" else (second, first)
    if signed.itemsize_bytes > unsigned.itemsize_bytes:
        return signed.name
    return {1: "int16", 2: "int32", 4: "int64", 8: "float64"}[unsigned.itemsize_bytes]
