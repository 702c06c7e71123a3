"""Data races: two threads touch one place, one of them writes, and nothing puts the two in order.

The rule is that of the CUDA C++ memory model (CUDA C++ Programming Guide, section on memory consistency, which follows
that of C++): two accesses conflict if they touch a common byte and at least one writes; two conflicting accesses of
different threads race unless both are atomic or one happens before the other. Two stores race even if they store the
same value: the outcome is then the same on every card that there is, and still not promised.

What puts accesses in order here: a block barrier between them, for threads of one block; a warp barrier
(``syncwarp`` or a ``_sync`` operation) between them, for lanes of one warp. Lanes of a warp run in no promised lockstep
since Volta. Threads of different blocks are never in order within a launch.

Promises: decided on bytes within an allocation, so two views of one memory are seen; every order in which the threads
could have run gives the same findings, as long as it leads to the same accesses. One cause is one finding: the races
at one pair of source lines in one scope are counted together.

Left out: flags and fences spun on by hand, and the scopes of atomic operations. A kernel that counts finished blocks by
an atomic operation and lets the last one read what the others wrote is right, and reported all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import gcd

from gpumoat.simt.elements import Elements, place_in
from gpumoat.simt.record import ATOMIC, KINDS, LOAD, WARP_LANES, Record, Site

SCOPES = ("warp", "block", "grid")
"""Who races: lanes of one warp, warps of one block, or blocks."""


@dataclass(frozen=True)
class Race:
    """The races at one pair of source lines.

    Attributes:
        array: The array's name; of two views of one memory, the one that the first of the two lines names.
        scope: One of ``SCOPES``.
        index: The first element that is raced for, row-major.
        shape: Elements of the array along each axis.
        elements: All elements raced for.
        threads: Two threads that race for ``index``, each as block and thread.
        lines: The source lines of the two, ascending.
        kinds: What each of them does there: load, store or atomic.
        sites: The expressions of the two.
        epoch: Barriers of the block that both had passed; between blocks, those that the first had passed.
        both_write: Whether both write, at one of the elements at least.
    """

    array: str
    scope: str
    index: int
    shape: tuple[int, ...]
    elements: Elements
    threads: tuple[tuple[int, int], tuple[int, int]]
    lines: tuple[int, int]
    kinds: tuple[str, str]
    sites: tuple[Site, Site]
    epoch: int
    both_write: bool

    @property
    def count(self) -> int:
        """Elements raced for."""
        return len(self.elements)

    def __str__(self) -> str:
        more = f", and {self.count - 1:,} more elements" if self.count > 1 else ""
        return f"{self.array}[{place_in(self.index, self.shape)}]{more}: {self.example()}"

    def example(self) -> str:
        """Return who races for the first element, how and where."""
        (block, thread), (other_block, other) = self.threads
        what = " against ".join(self.kinds)
        lines = f"line {self.lines[0]}" if self.lines[0] == self.lines[1] else "lines {} and {}".format(*self.lines)
        where = (
            f"threads {thread} and {other} of block {block}"
            if block == other_block
            else f"block {block} thread {thread} and block {other_block} thread {other}"
        )
        return f"{what}, {where}, {lines}"


_Key = tuple[str, tuple[int, str], tuple[int, str]]
"""Scope, and line and array of each of the two accesses."""


def find_races(record: Record) -> list[Race]:
    """Find all races of a launch, ordered by the barriers that had been passed, then by line."""
    cells = _Cells(record)
    found: dict[_Key, _Finding] = {}
    for scope, who, rows in _groups(record, cells):
        for first, second in _conflicts(record, rows, who):
            _add(record, found, scope, first, second)
    races = [finding.race(record, scope) for (scope, _, _), finding in found.items()]
    return sorted(races, key=lambda race: (race.epoch, race.lines, SCOPES.index(race.scope), race.array, race.kinds))


class _Cells:
    """The pieces of memory that accesses are compared by: as fine as the arrays that share an allocation demand.

    Attributes:
        rows: A row for each piece touched.
        cells: That piece, numbered over all allocations.
    """

    def __init__(self, record: Record) -> None:
        written = {array for array, kind in set(zip(record.array, record.kind, strict=True)) if kind != LOAD}
        changed = {array.allocation for array in record.arrays if array.number in written}
        held = [
            array
            for array in record.arrays
            if array.space in ("global", "shared") and array.allocation in changed  # nobody races to read
        ]
        grain: dict[int, int] = {}
        end: dict[int, int] = {}
        for array in held:
            together = gcd(grain.get(array.allocation, 0), array.itemsize_bytes)
            grain[array.allocation] = gcd(together, array.offset_bytes)
            stop = array.offset_bytes + array.size * array.itemsize_bytes
            end[array.allocation] = max(end.get(array.allocation, 0), stop)
        start: dict[int, int] = {}
        total = 0
        for allocation, grain_bytes in grain.items():
            start[allocation] = total
            total += end[allocation] // grain_bytes + 1
        begin = {each.number: start[each.allocation] + each.offset_bytes // grain[each.allocation] for each in held}
        width = {each.number: each.itemsize_bytes // grain[each.allocation] for each in held}
        self.total = total
        self.shared = {array.number for array in held if array.space == "shared"}
        self.rows: list[int] = []
        self.cells: list[int] = []
        for row, (number, index) in enumerate(zip(record.array, record.index, strict=True)):
            if number in begin:
                pieces = width[number]
                cell = begin[number] + index * pieces
                for each in range(cell, cell + pieces):
                    self.rows.append(row)
                    self.cells.append(each)


def _groups(record: Record, cells: _Cells) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield rows that nothing but their scope keeps apart, with that scope and who it tells apart."""
    threads, lanes = record.threads_per_block, WARP_LANES
    warps = -(-threads // lanes)
    epochs = max(record.epoch, default=0) + 1
    thread = [block * threads + thread for block, thread in zip(record.in_block, record.thread, strict=True)]
    warp = [block * warps + thread // lanes for block, thread in zip(record.in_block, record.thread, strict=True)]
    keys = [
        (record.in_block[row] * epochs + record.epoch[row]) * cells.total + cell
        for row, cell in zip(cells.rows, cells.cells, strict=True)
    ]
    for rows in _contended(record, cells.rows, keys, thread):
        yield "block", warp, rows
        together: dict[tuple[int, int], list[int]] = {}
        for row in rows:
            together.setdefault((warp[row], record.warp_epoch[row]), []).append(row)
        for each in together.values():
            yield "warp", thread, each
    seen = [
        (row, cell) for row, cell in zip(cells.rows, cells.cells, strict=True) if record.array[row] not in cells.shared
    ]
    for rows in _contended(record, [row for row, _ in seen], [cell for _, cell in seen], record.in_block):
        yield "grid", record.in_block, rows


def _contended(record: Record, rows: list[int], keys: list[int], who: list[int]) -> list[list[int]]:
    """Return the rows of each key that several touch, one writes, and one touches other than by an atomic."""
    first: dict[int, int] = {}
    several: set[int] = set()
    written: set[int] = set()
    plain: set[int] = set()
    for row, key in zip(rows, keys, strict=True):
        if first.setdefault(key, who[row]) != who[row]:
            several.add(key)
        kind = record.kind[row]
        if kind != LOAD:
            written.add(key)
        if kind != ATOMIC:
            plain.add(key)
    bad = several & written & plain
    if not bad:
        return []
    out: dict[int, list[int]] = {}
    for row, key in zip(rows, keys, strict=True):
        if key in bad:
            out.setdefault(key, []).append(row)
    return list(out.values())


def _conflicts(record: Record, rows: list[int], who: list[int]) -> Iterator[tuple[int, int]]:
    """Yield one pair of rows for each pair of expressions that conflict, of different ones of ``who``.

    Of each expression two rows are enough: the first, and the first of somebody else. If any row of another
    expression conflicts with some row of this one, it conflicts with one of the two.
    """
    if len(rows) < 2:
        return
    threads = record.threads_per_block
    sample: dict[tuple[int, int, int], list[int]] = {}
    order = sorted(
        rows, key=lambda row: (who[row], record.in_block[row] * threads + record.thread[row], record.epoch[row])
    )
    for row in order:
        held = sample.setdefault((record.site[row], record.kind[row], record.array[row]), [])
        if not held or (len(held) == 1 and who[held[0]] != who[row]):
            held.append(row)
    for (one, ones), (other, others) in combinations_with_replacement(sorted(sample.items()), 2):
        if one[1] == other[1] != KINDS.index("store"):
            continue  # two loads, or two atomic operations
        pair = next(((a, b) for a in ones for b in others if who[a] != who[b]), None)
        if pair:
            yield pair


class _Finding:
    """The races at one pair of lines, while they are gathered."""

    def __init__(self) -> None:
        self.elements: set[int] = set()
        self.best: tuple[tuple[int, ...], int, int] | None = None
        self.both_write = False

    def add(self, record: Record, first: int, second: int) -> None:
        self.elements.add(record.index[first])
        both = [record.kind[row] for row in (first, second)]
        self.both_write = self.both_write or LOAD not in both
        rank = (
            record.index[first],
            record.epoch[first],
            *both,
            *(each for row in (first, second) for each in (record.in_block[row], record.thread[row], record.site[row])),
        )
        if self.best is None or rank < self.best[0]:
            self.best = (rank, first, second)

    def race(self, record: Record, scope: str) -> Race:
        assert self.best is not None
        pair = self.best[1:]
        (one, other), (site, other_site) = (
            ((record.in_block[row], record.thread[row]) for row in pair),
            (record.sites[record.site[row]] for row in pair),
        )
        return Race(
            array=record.arrays[record.array[pair[0]]].name,
            scope=scope,
            index=record.index[pair[0]],
            shape=record.arrays[record.array[pair[0]]].shape,
            elements=Elements.of(self.elements),
            threads=(one, other),
            lines=(site.line, other_site.line),
            kinds=(KINDS[record.kind[pair[0]]], KINDS[record.kind[pair[1]]]),
            sites=(site, other_site),
            epoch=record.epoch[pair[0]],
            both_write=self.both_write,
        )


def _add(record: Record, found: dict[_Key, _Finding], scope: str, one: int, other: int) -> None:
    """Put a pair of rows with the others of its lines, the lower line first."""

    def place(row: int) -> tuple[int, str]:
        return record.sites[record.site[row]].line, record.arrays[record.array[row]].name

    def rank(row: int) -> tuple[int, str, int, int, int]:
        return (*place(row), record.in_block[row], record.thread[row], record.kind[row])

    first, second = sorted((one, other), key=rank)
    found.setdefault((scope, place(first), place(second)), _Finding()).add(record, first, second)
