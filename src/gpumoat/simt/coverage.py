"""Coverage: is each element of an array written exactly once?

Promises: exact over the rows of the record. An element counts as written by a store or by an atomic operation; as
written twice by two stores, whoever made them. Elements are row-major numbers. Where a kernel has the same memory as
several arrays, as with a view of it as wider words, what it stores through one is written in the others too.

Left out: whether the value is right. And a launch of which only some blocks ran leaves gaps that are no fault.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.simt.elements import Elements, elements_text
from gpumoat.simt.record import STORE, Array
from gpumoat.simt.rows import Rows


@dataclass(frozen=True)
class Coverage:
    """Which elements of an array were written, and how often.

    Attributes:
        size: Elements of the array.
        gaps: Elements that nobody wrote.
        overlaps: Elements that were stored more than once.
        shape: Elements along each axis.
    """

    size: int
    gaps: Elements
    overlaps: Elements
    shape: tuple[int, ...] = ()

    @property
    def exactly_once(self) -> bool:
        """Whether each element was written, and none stored twice."""
        return not len(self.gaps) and not len(self.overlaps)

    def __str__(self) -> str:
        if self.exactly_once:
            return f"each of {self.size:,} elements written exactly once"
        parts = []
        if len(self.gaps):
            parts.append(f"{len(self.gaps):,} never written ({elements_text(self.gaps, self.shape)})")
        if len(self.overlaps):
            parts.append(f"{len(self.overlaps):,} stored more than once ({elements_text(self.overlaps, self.shape)})")
        return f"of {self.size:,} elements {', '.join(parts)}"


def coverage(rows: Rows, name: str) -> Coverage:
    """Look at the stores and atomic operations on one global or shared array.

    Shared memory of each block is an array of its own; an element counts as written if it was in some block, and as
    stored twice if it was within one block.

    Raises:
        ValueError: There is no such array, or several of that name in one space.
    """
    arrays = rows.arrays(name, ("global", "shared"))
    if len(arrays) > 1:
        raise ValueError(f"{len(arrays)} arrays are called {name!r}: give them names of their own in the kernel")
    record = rows.record
    views = [each for each in record.arrays if each.space == "global" and each.allocation == arrays[0].allocation]
    if arrays[0].space == "global" and len(views) > 1:
        return _covered_through(rows, arrays[0], views)
    shared = arrays[0].space == "shared"
    written: set[int] = set()
    stored: set[tuple[int, int]] = set()
    twice: set[int] = set()
    for row in rows.select(arrays, ("store", "atomic")):
        index = record.index[row]
        written.add(index)
        if record.kind[row] == STORE:
            place = (index, record.in_block[row] if shared else 0)
            if place in stored:
                twice.add(index)
            stored.add(place)
    return _coverage(arrays[0], written, twice)


def _coverage(array: Array, written: set[int], twice: set[int]) -> Coverage:
    covered = Elements.of(written).ranges
    edges = [0, *(edge for span in covered for edge in span), array.size]
    gaps = Elements(zip(edges[::2], edges[1::2], strict=True))
    return Coverage(array.size, gaps, Elements.of(twice), array.shape)


def _covered_through(rows: Rows, array: Array, views: list[Array]) -> Coverage:
    """Look byte by byte: an element is written when all its bytes are, and stored twice when any of them is."""
    record = rows.record
    by_number = {each.number: each for each in views}
    begin, end = array.offset_bytes, array.offset_bytes + array.size * array.itemsize_bytes
    written, stored, twice = bytearray(end - begin), bytearray(end - begin), set[int]()
    for row in rows.select(views, ("store", "atomic")):
        view = by_number[record.array[row]]
        first = view.offset_bytes + record.index[row] * view.itemsize_bytes
        for byte in range(max(first, begin) - begin, min(first + view.itemsize_bytes, end) - begin):
            written[byte] = 1
            if record.kind[row] == STORE:
                if stored[byte]:
                    twice.add(byte // array.itemsize_bytes)
                stored[byte] = 1
    size = array.itemsize_bytes
    whole = {element for element in range(array.size) if all(written[element * size : (element + 1) * size])}
    return _coverage(array, whole, twice)
