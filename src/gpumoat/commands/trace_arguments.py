"""The arguments of a kernel, as words on the command line.

=============================  ======================================================
``int16[36000]``               an array of zeros
``float32[64,64]:random``      filled: ``zeros``, ``ones``, ``arange``, ``random``, or a number
``picture.npy``                an array from a file (needs NumPy)
``36``, ``0.5``                a number: int64 or float64, as numba types it
``float32:0.5``                a number of that type
=============================  ======================================================

With ``name=`` in front an argument goes to the parameter of that name; otherwise they follow the parameters' order.
Random whole numbers are from 0 to 255, or as far as the type goes; random fractions are from 0 to 1.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpumoat.simt import array
from gpumoat.simt.scalars import SCALARS, Scalar

ELEMENTS_MOST = 2**28
"""Elements of the largest array that is made; beyond it, memory would run out before anything is traced."""

FILLS = ("zeros", "ones", "arange", "random")

_ARRAY = re.compile(r"(?P<type>[a-z]+\d*)\[(?P<shape>[^\]]*)\](?::(?P<fill>.+))?")
_SCALAR = re.compile(r"(?P<type>[a-z]+\d*):(?P<value>.+)")


@dataclass(frozen=True)
class TypedScalar:
    """A number of a type, in the form in which NumPy has them."""

    value: int | float | bool
    dtype: str
    shape: tuple[()] = ()

    def item(self) -> int | float | bool:
        """Return the plain number."""
        return self.value


def read_arguments(words: Sequence[str], parameters: Sequence[str], seed: int = 0) -> list[Any]:
    """Make the arguments of a kernel.

    Args:
        words: One for each parameter, as above.
        parameters: The kernel's parameters.
        seed: Where random numbers begin.

    Raises:
        ValueError: A word cannot be read, or they do not fit the parameters; the message says what would be right.
    """
    given: dict[str, str] = {}
    free = list(parameters)
    for word in words:
        name, equals, rest = word.partition("=")
        if equals:
            if name not in parameters:
                raise ValueError(
                    f"--arg {word}: the kernel has no parameter {name!r}, it takes {', '.join(parameters)}"
                )
            if name in given:
                raise ValueError(f"--arg {word}: {name!r} is given twice")
            given[name] = rest
            free.remove(name)
    for word in words:
        if "=" not in word:
            if not free:
                raise ValueError(f"--arg {word}: the kernel takes {len(parameters)} arguments, not {len(words)}")
            given[free.pop(0)] = word
    if free:
        takes = ", ".join(parameters)
        raise ValueError(f"--arg for {free[0]!r} is missing: the kernel takes {takes}; see gpumoat trace --help")
    rng = random.Random(seed)
    return [read_argument(given[name], rng) for name in parameters]


def read_argument(word: str, rng: random.Random) -> Any:
    """Make one argument from its word.

    Raises:
        ValueError: The word cannot be read.
    """
    if word.endswith(".npy"):
        return _from_file(word)
    if found := _ARRAY.fullmatch(word):
        return _array(word, _type(word, found["type"]), found["shape"], found["fill"] or "zeros", rng)
    if found := _SCALAR.fullmatch(word):
        kind = _type(word, found["type"])
        return TypedScalar(_number(word, found["value"], kind), kind.name)
    return _number(word, word, None)


def _type(word: str, name: str) -> Scalar:
    if name not in SCALARS:
        raise ValueError(f"--arg {word}: {name!r} is no type, it must be one of {', '.join(SCALARS)}")
    return SCALARS[name]


def _number(word: str, text: str, kind: Scalar | None) -> int | float:
    number: int | float
    try:
        number = int(text, 0)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            what = (
                "a number, such as 36 or float32:0.5, an array, such as int16[36000]:random, or a file, such as a.npy"
            )
            raise ValueError(f"--arg {word}: {text!r} must be {what}") from None
    if kind is None:
        return number
    if kind.kind == "f":
        return float(number)
    if not isinstance(number, int) or not kind.low <= number <= (1 if kind.kind == "b" else kind.high):
        raise ValueError(f"--arg {word}: {text} does not fit into {kind.name}")
    return number


def _array(word: str, kind: Scalar, shape: str, fill: str, rng: random.Random) -> Any:
    try:
        extents = tuple(int(part) for part in shape.split(","))
    except ValueError:
        extents = ()
    if not extents or any(extent < 1 for extent in extents):
        raise ValueError(f"--arg {word}: [{shape}] must be whole numbers of at least 1, such as [36000] or [64,64]")
    size = 1
    for extent in extents:
        size *= extent
    if size > ELEMENTS_MOST:
        raise ValueError(f"--arg {word}: {size:,} elements, and at most {ELEMENTS_MOST:,} fit")
    high = 1 if kind.kind == "b" else 2**24 if kind.kind == "f" else kind.high
    values: Any = None
    if fill == "ones":
        values = [1] * size
    elif fill == "arange":
        values = [number % (high + 1) for number in range(size)]
    elif fill == "random":
        top = min(255, high)
        values = [rng.random() if kind.kind == "f" else rng.randint(0, top) for _ in range(size)]
    elif fill != "zeros":
        try:
            values = [_number(word, fill, kind)] * size
        except ValueError as error:
            if "must be" not in str(error):
                raise
            raise ValueError(f"--arg {word}: {fill!r} must be {', '.join(FILLS)} or a number") from None
    return array(extents, kind.name, values)


def _from_file(word: str) -> Any:
    if not Path(word).is_file():
        raise ValueError(f"--arg {word}: there is no such file")
    try:
        import numpy
    except ImportError:
        raise ValueError(f"--arg {word}: reading a .npy file needs NumPy, which is not installed") from None
    try:
        return numpy.load(word, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"--arg {word}: {str(error).splitlines()[0]}") from None
