"""A set of element numbers, kept as ranges: small however many elements it holds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import overload

SHOWN = 3
"""Ranges, or single elements, that a text names before it only counts."""


class Elements(Sequence[int]):
    """Element numbers in ascending order, each once.

    It behaves like a list that cannot be changed, and equals any sequence of the same numbers.
    """

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        """Keep ascending, disjoint ranges, each given as its first element and the one after its last."""
        self.ranges = tuple((start, stop) for start, stop in ranges if stop > start)
        self._ends = list(accumulate(stop - start for start, stop in self.ranges))

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Elements:
        """Make the set of some numbers, in any order and with repetitions."""
        ranges: list[tuple[int, int]] = []
        start = stop = 0
        for number in sorted(set(numbers)):
            if number != stop or stop == start:
                ranges.append((start, stop))
                start = number
            stop = number + 1
        return cls([*ranges, (start, stop)])

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self)} elements, none at {place}")
        place %= len(self)
        number = bisect_right(self._ends, place)
        return self.ranges[number][1] - (self._ends[number] - place)

    def __iter__(self) -> Iterator[int]:
        for start, stop in self.ranges:
            yield from range(start, stop)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and any(start <= number < stop for start, stop in self.ranges)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Elements):
            return self.ranges == other.ranges
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(mine == yours for mine, yours in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have no hash either

    def __repr__(self) -> str:
        return f"<{len(self)} elements: {self}>"

    def __str__(self) -> str:
        """Return the elements as a reader wants them: "none", "36, 73, 110 and 969 more", "35,028 to 35,999"."""
        if not self.ranges:
            return "none"
        named = [f"{a:,}" if b == a + 1 else f"{a:,} to {b - 1:,}" for a, b in self.ranges[:SHOWN]]
        rest = len(self) - (self._ends[SHOWN - 1] if len(self.ranges) > SHOWN else len(self))
        if rest:
            return f"{', '.join(named)} and {rest:,} more"
        return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def place_in(index: int, shape: Sequence[int]) -> str:
    """Return an element as the kernel names it: ``7`` along one axis, ``0, 31`` along two."""
    parts: list[int] = []
    for extent in reversed(shape[1:]):
        parts.append(index % extent)
        index //= extent
    return ", ".join(str(part) for part in [index, *reversed(parts)])


def elements_text(elements: Elements, shape: Sequence[int]) -> str:
    """Return elements as a reader wants them; of an array of several axes, only where they begin."""
    if len(shape) < 2 or not elements:
        return str(elements)
    first = f"[{place_in(elements[0], shape)}]"
    return first if len(elements) == 1 else f"the first is [{place_in(elements[0], shape)}]"
