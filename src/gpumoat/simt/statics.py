"""What a name in a kernel can mean before the launch: a constant, a type, an array, a function, a module's part."""

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
        return Live(getattr(value.value, name))
    return Unknown(f"an attribute .{name}")
