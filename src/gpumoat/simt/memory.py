"""The arguments of a launch: arrays as flat views of the caller's own memory, and scalars with their types.

An array is anything with the buffer protocol (NumPy arrays, array.array, memoryview, bytearray) or an ``Array`` made by
``array``; the kernel reads and writes the caller's memory in place. Arrays whose memory overlaps share an allocation,
and so do views of one NumPy array: an allocation begins where the array begins that owns the memory, as slices of a
device array would.

Left out: arrays that are not C-contiguous, and element types other than bool, integers and floats.
"""

import array as arrays
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gpumoat.simt.errors import SimtError
from gpumoat.simt.scalars import SCALARS, scalar_name

LETTERS = {"?": "bool", "b": "int8", "B": "uint8", "c": "uint8", "e": "float16", "f": "float32", "d": "float64"}


@dataclass(frozen=True)
class ArrayArgument:
    """An array as the engine sees it."""

    name: str
    type: str
    shape: tuple[int, ...]
    flat: memoryview  # one-dimensional; float16 as uint16 bits
    owner: int  # where the memory begins that it is a view of: two arrays with the same owner may overlap
    start: int  # where it begins itself, in the same count of bytes
    readonly: bool


@dataclass(frozen=True)
class ScalarArgument:
    """A number as the engine sees it: a Python int is an int64, a float a float64, as numba types them."""

    name: str
    type: str
    value: Any


def type_name(dtype: Any) -> str:
    """Return the name of an element type given as text, as a NumPy or numba type, or as a dtype."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    found = scalar_name(name)
    if found is None:
        raise SimtError(f"dtype: {name} is none of {', '.join(SCALARS)}")
    return found


class Array:
    """An array of our own, for places without NumPy; made by ``array``.

    Attributes:
        shape: Elements along each axis.
        dtype: The element type's name.
        flat: Its elements as a one-dimensional memoryview (float16 as its bits).
    """

    def __init__(self, shape: tuple[int, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype
        size = 1
        for extent in shape:
            size *= extent
        self.size = size
        scalar = SCALARS[dtype]
        letter = "H" if dtype == "float16" else scalar.letter
        self.flat = memoryview(bytearray(size * scalar.itemsize_bytes)).cast("B").cast(letter)  # type: ignore[call-overload]

    def fill(self, values: Iterable[Any]) -> None:
        """Set all elements, in row-major order."""
        given = list(values)
        if len(given) != self.size:
            raise SimtError(f"array: {self.size} values are needed for the shape {self.shape}, not {len(given)}")
        scalar = SCALARS[self.dtype]
        for place, value in enumerate(given):
            if scalar.kind in "iu" and not scalar.low <= value <= scalar.high:
                raise SimtError(f"array: {value} does not fit into {self.dtype}")
            self.flat[place] = half_bits(value) if self.dtype == "float16" else value

    def __len__(self) -> int:
        """Elements along the first axis."""
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int | tuple[int, ...]) -> Any:
        place = 0
        given = index if isinstance(index, tuple) else (index,)
        if len(given) != len(self.shape):
            raise IndexError(f"{len(self.shape)} indices are needed")
        for one, extent in zip(given, self.shape, strict=True):
            if not 0 <= one < extent:
                raise IndexError(f"index {one} is not below {extent}")
            place = place * extent + one
        value = self.flat[place]
        return half_value(value) if self.dtype == "float16" else value

    def tolist(self) -> list[Any]:
        """Return the elements as nested lists."""
        items: list[Any] = [half_value(bits) for bits in self.flat] if self.dtype == "float16" else self.flat.tolist()
        for extent in reversed(self.shape[1:]):
            items = [items[start : start + extent] for start in range(0, len(items), extent or 1)]
        return items


def half_value(bits: int) -> float:
    """Return the number that 16 bits stand for."""
    value: float = struct.unpack("<e", bits.to_bytes(2, "little"))[0]
    return value


def half_bits(value: float) -> int:
    """Return the bits of a number rounded to float16; what is too large becomes infinity."""
    try:
        return int.from_bytes(struct.pack("<e", value), "little")
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def array(shape: int | tuple[int, ...], dtype: Any = "float64", values: Iterable[Any] | None = None) -> Array:
    """Return an array for a kernel, for places without NumPy.

    Args:
        shape: Elements along each axis; an int for one axis.
        dtype: The element type: "float32", or a NumPy or numba type.
        values: Its elements in row-major order, flat; zeros if left out.

    Raises:
        SimtError: The type is unknown, or the values are too few, too many or too large.
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(not isinstance(extent, int) or extent < 0 for extent in extents) or not extents:
        raise SimtError(f"array: the shape {shape} is not of whole numbers")
    made = Array(extents, type_name(dtype))
    if values is not None:
        made.fill(values)
    return made


def read_argument(name: str, value: Any) -> ArrayArgument | ScalarArgument:
    """Return the engine's view of one argument, or say what is wrong with it."""
    if isinstance(value, Array):
        return ArrayArgument(name, value.dtype, value.shape, value.flat, id(value.flat.obj), 0, False)
    if isinstance(value, bool):
        return ScalarArgument(name, "bool", value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise SimtError(f"{name}: {value} does not fit into 64 bits")
        return ScalarArgument(name, "int64" if value < 1 << 63 else "uint64", value)
    if isinstance(value, float) and not hasattr(value, "dtype"):
        return ScalarArgument(name, "float64", value)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        kind = scalar_name(str(value.dtype))
        if kind is None:
            raise SimtError(f"{name}: a scalar of type {value.dtype} is not supported")
        return ScalarArgument(name, kind, value.item())
    return read_buffer(name, value)


def read_buffer(name: str, value: Any) -> ArrayArgument:
    """Return the engine's view of an object with the buffer protocol."""
    try:
        view = memoryview(value)
    except (TypeError, ValueError):
        kind = getattr(value, "dtype", type(value).__name__)
        raise SimtError(f"{name}: an array, an int or a float is needed, not {kind}") from None
    if not view.c_contiguous:
        raise SimtError(f"{name}: only C-contiguous arrays are supported; pass a copy")
    letter = view.format.lstrip("@=<") if view.format[:1] != ">" else view.format
    kind = LETTERS.get(letter) or ""
    if letter in tuple("hHiIlLqQ"):
        kind = f"{'u' if letter.isupper() else ''}int{8 * view.itemsize}"
    if not kind:
        raise SimtError(f"{name}: elements of type {getattr(value, 'dtype', view.format)} are not supported")
    stored = "H" if kind == "float16" else SCALARS[kind].letter
    shape = tuple(view.shape or ())
    if 0 in shape:
        flat = memoryview(bytearray()).cast("B").cast(stored)  # type: ignore[call-overload]
    elif kind == "float16" and hasattr(value, "view"):
        flat = memoryview(value.view("uint16")).cast("B").cast("H")
    else:
        if view.format[:1] in "=<":
            raise SimtError(f"{name}: elements of format {view.format} are not in native form")
        flat = view.cast("B").cast(stored)  # type: ignore[call-overload]
    owner, start = place_of(value, view)
    return ArrayArgument(name, kind, shape, flat, owner, start, view.readonly)


def place_of(value: Any, view: memoryview) -> tuple[int, int]:
    """Return where the owning memory begins and where this array begins in the same count."""
    interface = getattr(value, "__array_interface__", None)
    if interface is None:
        if isinstance(value, arrays.array):
            address = value.buffer_info()[0]
            return address, address
        return id(view.obj), id(view.obj)
    root = value
    while hasattr(getattr(root, "base", None), "__array_interface__"):
        root = root.base
    return root.__array_interface__["data"][0], interface["data"][0]
