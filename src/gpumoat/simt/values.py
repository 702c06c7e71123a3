"""What the translator knows of an expression: its code, its type, and within which bounds an integer lies.

The bounds are what makes the translated code fast and right at once: a sum of two thread indices cannot overflow, so
nothing is spent on wrapping it, while a hash's product can, and is wrapped.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from gpumoat.simt.scalars import SCALARS, is_float, is_integer, unify

NOTHING = object()
FAR = 1 << 62


@dataclass(eq=False)
class Reference:
    """An array inside a kernel, or a part of it whose leading indices are fixed.

    Attributes:
        number: Its place among the launch's arrays.
        name: Its name in the source.
        type: Its element type.
        space: "global", "shared", "local" or "constant".
        memory: The code of its flat memory.
        extents: The code of each axis' length.
        sizes: The lengths where the source fixes them, else None.
        leading: The fixed leading indices.
        dynamic: Whether it lies in the dynamic shared memory.
    """

    number: int
    name: str
    type: str
    space: str
    memory: str
    extents: tuple[str, ...]
    sizes: tuple[int | None, ...]
    leading: tuple["Value", ...] = ()
    dynamic: bool = False

    @property
    def dimensions(self) -> int:
        """Axes that are left to index."""
        return len(self.extents) - len(self.leading)

    @property
    def listed(self) -> bool:
        """Whether its memory is a plain list, which neither rounds nor checks what is stored."""
        return self.space in ("local", "constant")


@dataclass(frozen=True, eq=False)
class Value:
    """An expression.

    Attributes:
        code: Python code of its value.
        type: An element type, or "tuple", "array", "static", "none", "text" or "conflict".
        low: For integers: no value is smaller. It may lie outside the type: then the code still has to be wrapped.
        high: For integers: no value is larger.
        constant: Its value, where the source fixes it.
        rounded: Whether a float32 or float16 has been rounded already.
        atom: Whether the code is a name or a literal, and so may be repeated.
        mixed: Whether a float's code may give a Python int.
        items: The items of a tuple.
        array: The array, for type "array".
        static: What the source's scope knows, for type "static".
    """

    code: str
    type: str
    low: int = 0
    high: int = 0
    constant: Any = NOTHING
    rounded: bool = True
    atom: bool = False
    mixed: bool = False
    items: tuple["Value", ...] = ()
    array: Reference | None = None
    static: Any = None

    @property
    def fits(self) -> bool:
        """Whether its bounds lie inside its type."""
        scalar = SCALARS[self.type]
        return scalar.low <= self.low and self.high <= scalar.high


NONE = Value("None", "none", atom=True)


def typed(code: str, kind: str, **more: Any) -> Value:
    """Return a value that may be anything its type holds."""
    if is_integer(kind):
        more.setdefault("low", SCALARS[kind].low)
        more.setdefault("high", SCALARS[kind].high)
    return Value(code, kind, **more)


def literal(value: Any, kind: str | None = None) -> Value:
    """Return a constant; a Python int is an int64 and a float a float64."""
    if isinstance(value, tuple):
        items = tuple(literal(item) for item in value)
        return Value(repr(value), "tuple", constant=value, items=items, atom=True)
    if value is None:
        return NONE
    if isinstance(value, str):
        return Value(repr(value), "text", constant=value, atom=True)
    if kind is None:
        if isinstance(value, bool):
            kind = "bool"
        elif isinstance(value, int):
            kind = "int64" if value < 1 << 63 else "uint64"
        else:
            kind = "float64"
    if is_float(kind):
        value = float(value)
        code = repr(value)
        if code.lstrip("-") in ("inf", "nan"):
            code = f"({'-' if code[0] == '-' else ''}{code.lstrip('-').upper()})"
        return Value(f"({code})" if code[0] == "-" else code, kind, constant=value, atom=True)
    whole = int(value)
    code = repr(bool(value)) if kind == "bool" else repr(whole)
    return Value(f"({code})" if whole < 0 else code, kind, whole, whole, constant=value, atom=True)


Environment = dict[str, Value]


def join(first: Value, second: Value, code: str) -> Value:
    """Return what a variable is after two ways that meet."""
    if first.type == "tuple" and second.type == "tuple" and len(first.items) == len(second.items):
        items = tuple(
            join(one, other, f"{code}[{place}]")
            for place, (one, other) in enumerate(zip(first.items, second.items, strict=True))
        )
        return Value(code, "tuple", items=items, atom=True)
    if first.type == "array" and second.type == "array" and same_array(first.array, second.array):
        return first
    if first.type == second.type == "static" and first.static == second.static:
        return first
    if first.type == second.type == "none":
        return first
    if first.type not in SCALARS or second.type not in SCALARS:
        return Value(code, "conflict", items=(first, second))
    kind = unify(first.type, second.type)
    if is_float(kind):
        mixed = first.mixed or second.mixed or is_integer(first.type) or is_integer(second.type)
        return Value(code, kind, atom=True, mixed=mixed)
    return Value(code, kind, min(first.low, second.low), max(first.high, second.high), atom=True)


def same_array(first: Reference | None, second: Reference | None) -> bool:
    """Whether two references are one array with the same leading indices."""
    if first is None or second is None:
        return first is second
    return (
        first.number == second.number
        and first.memory == second.memory
        and [item.code for item in first.leading] == [item.code for item in second.leading]
    )


def join_environments(first: Environment | None, second: Environment | None) -> Environment | None:
    """Return what is known after two ways meet; None is a way that is never taken."""
    if first is None or second is None:
        return first if second is None else second
    met = dict(first)
    for name, value in second.items():
        met[name] = join(first[name], value, f"v_{name}") if name in first and first[name] is not value else value
    return met


def same(first: Environment, second: Environment) -> bool:
    """Whether two states of knowledge are the same."""
    return first.keys() == second.keys() and all(alike(first[name], second[name]) for name in first)


def alike(first: Value, second: Value) -> bool:
    """Whether two values have the same type and bounds."""
    if (first.type, first.mixed, len(first.items)) != (second.type, second.mixed, len(second.items)):
        return False
    if first.type in SCALARS and (first.low, first.high) != (second.low, second.high):
        return False
    if first.type == "array":
        return same_array(first.array, second.array)
    return all(alike(one, other) for one, other in zip(first.items, second.items, strict=True))


@dataclass
class Updates:
    """How the body of a loop changes its variables: by which bounds each is added to, None if it is set otherwise."""

    added: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    def note(self, name: str, bounds: tuple[int, int] | None) -> None:
        """Note one assignment."""
        if name not in self.added:
            self.added[name] = bounds
            return
        before = self.added[name]
        if before is None or bounds is None:
            self.added[name] = None
        else:
            self.added[name] = min(before[0], bounds[0]), max(before[1], bounds[1])


def widen(before: Value, after: Value, added: tuple[int, int] | None) -> Value:
    """Return bounds that the next turn of a loop will not leave.

    A variable that only ever has small numbers added to it stays within 2**62: a thread of a simulation does not
    live for the 2**31 turns that would be needed to leave that.
    """
    if after.type not in SCALARS or is_float(after.type) or (before.low, before.high) == (after.low, after.high):
        return after
    scalar = SCALARS[after.type]
    low, high = before.low, before.high
    small = added is not None and after.type == "int64" and added[0] >= -(1 << 30) and added[1] <= 1 << 30
    if after.low < before.low:
        low = -FAR if small and before.low >= -FAR else 0 if after.low >= 0 else scalar.low
    if after.high > before.high:
        high = FAR if small and before.high <= FAR else scalar.high
    return replace(after, low=low, high=high)
