"""Splitting work over workers: strips, tiles, waves, and a checker for any split.

A worker is whatever computes one part: a thread, a core, a card. Elements are numbered from 0 and a part is
a half-open range, as in Python and CUDA; `Range.one_based` gives the convention of the blackboard.

Promises: ranges of `Strips` and `Tiles` cover every element exactly once, for any sizes; `check_partition`
works on ranges, so its cost depends on the number of workers and never on the number of elements. It exists
because an index that is off by one rarely crashes: it skips elements, does some twice, or reads a
neighbour's data, and the result is only a little wrong.

Left out: how long a part takes. `used_share` compares useful with reserved work and takes all elements as
equally costly; it is an upper bound on what a clock would show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop

# How many workers an overlap names. All of them would be quadratic when every part covers everything.
NAMED_WORKERS = 8


def ceil_div(count: int, size: int) -> int:
    """Return ``count / size`` rounded up, exactly, for whole numbers of any length."""
    return -(-count // size)


@dataclass(frozen=True)
class Range:
    """Elements ``start`` to ``stop - 1``, counted from 0; empty where both are equal."""

    start: int
    stop: int

    def __iter__(self) -> Iterator[int]:
        """Give ``start`` and ``stop``, so that ``start, stop = range`` works."""
        yield self.start
        yield self.stop

    @property
    def elements(self) -> int:
        """How many elements the range holds."""
        return self.stop - self.start

    @property
    def one_based(self) -> tuple[int, int]:
        """The first and the last element, both included, counted from 1. Empty: the last is before the first."""
        return self.start + 1, self.stop


@dataclass(frozen=True)
class Strips:
    """``elements`` in a row, cut into one strip for each of ``workers``.

    A worker writes its strip and reads it with a halo: ``before`` more elements on the left and ``after`` on
    the right, clipped at both ends of the row. The difference of each pixel and the next has ``after=1``.

    Attributes:
        elements: How many elements there are to write.
        workers: How many workers there are; some stay idle when there are too many.
        before: Elements that a result needs on its left.
        after: Elements that a result needs on its right.
        balanced: False: every strip has the length ``chunk``, but the last ones get what is left. True: the
            first ``elements % workers`` strips have one element more than the others.
    """

    elements: int
    workers: int
    before: int = 0
    after: int = 0
    balanced: bool = False

    def __post_init__(self) -> None:
        _at_least(1, elements=self.elements, workers=self.workers)
        _at_least(0, before=self.before, after=self.after)

    @property
    def chunk(self) -> int:
        """Length of the longest strip: ``elements / workers``, rounded up."""
        return ceil_div(self.elements, self.workers)

    @property
    def busy_workers(self) -> int:
        """Workers that have at least one element."""
        return min(self.workers, self.elements if self.balanced else ceil_div(self.elements, self.chunk))

    @property
    def idle_workers(self) -> int:
        """Workers without an element."""
        return self.workers - self.busy_workers

    @property
    def last_elements(self) -> int:
        """The share of the last worker that has any."""
        return self.writes(self.busy_workers - 1).elements

    @property
    def slots(self) -> int:
        """Reserved work: every worker has time for the longest strip."""
        return self.chunk * self.workers

    @property
    def used_share(self) -> float:
        """Utilisation: useful over reserved work, above 0 and at most 1."""
        return self.elements / self.slots

    def writes(self, worker: int) -> Range:
        """Return what a worker (from 0) writes.

        Raises:
            ValueError: There is no such worker.
        """
        _index("worker", worker, self.workers)
        if self.balanced:
            share, more = divmod(self.elements, self.workers)
            start = worker * share + min(worker, more)
            return Range(start, start + share + (1 if worker < more else 0))
        start = min(worker * self.chunk, self.elements)
        return Range(start, min(start + self.chunk, self.elements))

    def reads(self, worker: int) -> Range:
        """Return what a worker (from 0) reads: its strip and the halo. An idle worker reads nothing."""
        return _grown(self.writes(worker), self.before, self.after, self.elements)

    def all_writes(self) -> list[Range]:
        """Return what each worker writes, in the order of the workers."""
        return [self.writes(worker) for worker in range(self.workers)]

    def all_reads(self) -> list[Range]:
        """Return what each worker reads, in the order of the workers."""
        return [self.reads(worker) for worker in range(self.workers)]


@dataclass(frozen=True)
class Window:
    """A rectangle of elements: these rows and these columns."""

    rows: Range
    columns: Range

    @property
    def elements(self) -> int:
        """How many elements the rectangle holds."""
        return self.rows.elements * self.columns.elements


@dataclass(frozen=True)
class Tiles:
    """A matrix of ``rows`` x ``columns``, cut into tiles; one tile is one task.

    The tiles in the last row and column of the grid are cut off at the edge of the matrix. A task writes its
    tile and reads it with ``halo`` elements more on each side, clipped at the edge. A 3 x 3 stencil has
    ``halo=1``.
    """

    rows: int
    columns: int
    tile_rows: int
    tile_columns: int
    halo: int = 0

    def __post_init__(self) -> None:
        _at_least(1, rows=self.rows, columns=self.columns)
        _at_least(1, tile_rows=self.tile_rows, tile_columns=self.tile_columns)
        _at_least(0, halo=self.halo)

    @property
    def grid_rows(self) -> int:
        """Rows of tiles."""
        return ceil_div(self.rows, self.tile_rows)

    @property
    def grid_columns(self) -> int:
        """Columns of tiles."""
        return ceil_div(self.columns, self.tile_columns)

    @property
    def tasks(self) -> int:
        """How many tiles there are."""
        return self.grid_rows * self.grid_columns

    @property
    def elements(self) -> int:
        """How many elements the matrix holds: what has to be written, and read at least once."""
        return self.rows * self.columns

    @property
    def slots(self) -> int:
        """Reserved work: every task has room for a whole tile."""
        return self.tasks * self.tile_rows * self.tile_columns

    @property
    def used_share(self) -> float:
        """Utilisation: useful over reserved work, above 0 and at most 1."""
        return self.elements / self.slots

    @property
    def read_elements(self) -> int:
        """Elements that all tasks read together; those in a halo count for each task that reads them."""
        # The windows are all combinations of a row range and a column range: the sums multiply.
        rows = sum(self.reads(at, 0).rows.elements for at in range(self.grid_rows))
        columns = sum(self.reads(0, at).columns.elements for at in range(self.grid_columns))
        return rows * columns

    @property
    def read_ratio(self) -> float:
        """Halo overhead: elements (and so bytes) read over those needed; 1 without a halo."""
        return self.read_elements / self.elements

    def writes(self, grid_row: int, grid_column: int) -> Window:
        """Return what the task at this place of the grid (from 0) writes.

        Raises:
            ValueError: There is no such place.
        """
        _index("grid_row", grid_row, self.grid_rows)
        _index("grid_column", grid_column, self.grid_columns)
        top, left = grid_row * self.tile_rows, grid_column * self.tile_columns
        return Window(
            Range(top, min(top + self.tile_rows, self.rows)),
            Range(left, min(left + self.tile_columns, self.columns)),
        )

    def reads(self, grid_row: int, grid_column: int) -> Window:
        """Return what the task at this place of the grid (from 0) reads: its tile and the halo."""
        tile = self.writes(grid_row, grid_column)
        return Window(
            _grown(tile.rows, self.halo, self.halo, self.rows),
            _grown(tile.columns, self.halo, self.halo, self.columns),
        )


@dataclass(frozen=True)
class Waves:
    """Equal ``tasks`` done by ``workers``, as many at a time as there are workers."""

    tasks: int
    workers: int

    def __post_init__(self) -> None:
        _at_least(1, tasks=self.tasks, workers=self.workers)

    @property
    def waves(self) -> int:
        """How many rounds it takes: ``tasks / workers``, rounded up."""
        return ceil_div(self.tasks, self.workers)

    @property
    def last_tasks(self) -> int:
        """Tasks in the last wave; the other workers wait."""
        return self.tasks - (self.waves - 1) * self.workers

    @property
    def used_share(self) -> float:
        """Utilisation: tasks over ``waves * workers``, above 0 and at most 1."""
        return self.tasks / (self.waves * self.workers)


@dataclass(frozen=True)
class Overlap:
    """Elements that several workers write.

    Attributes:
        range: The elements.
        times: How many workers write each of them.
        workers: Those workers, in the order in which their parts begin; the first eight.
    """

    range: Range
    times: int
    workers: tuple[int, ...]


@dataclass(frozen=True)
class Access:
    """Elements that one worker touches, or fails to touch."""

    worker: int
    range: Range


@dataclass(frozen=True)
class PartitionReport:
    """What `check_partition` found; its text is one line.

    Attributes:
        elements: How many elements there are to do.
        workers: How many parts were proposed.
        missed: Elements that nobody writes.
        repeated: Elements that more than one worker writes.
        out_of_range: Writes before the first or after the last element.
        missing_reads: Elements that a worker's results need and that it does not read.
        foreign_reads: Elements that a worker reads outside its own part. With a halo that is how it should
            be; without synchronisation it is a hazard as soon as results overwrite what is read.
        unneeded_reads: Elements that a worker reads and its results do not need: often an index off by one.
        out_of_range_reads: Reads before the first or after the last element.
    """

    elements: int
    workers: int
    missed: tuple[Range, ...]
    repeated: tuple[Overlap, ...]
    out_of_range: tuple[Access, ...]
    missing_reads: tuple[Access, ...]
    foreign_reads: tuple[Access, ...]
    unneeded_reads: tuple[Access, ...]
    out_of_range_reads: tuple[Access, ...]

    @property
    def exactly_once(self) -> bool:
        """Whether every element is written once, and nothing else."""
        return not (self.missed or self.repeated or self.out_of_range)

    @property
    def correct(self) -> bool:
        """Whether every element is written once and every read that it needs is there and in range."""
        return self.exactly_once and not (self.missing_reads or self.out_of_range_reads)

    @property
    def missed_elements(self) -> int:
        """How many elements nobody writes."""
        return sum(gap.elements for gap in self.missed)

    @property
    def repeated_elements(self) -> int:
        """How many elements more than one worker writes, each counted once."""
        return sum(overlap.range.elements for overlap in self.repeated)

    @property
    def out_of_range_elements(self) -> int:
        """How many writes lie before the first or after the last element."""
        return sum(access.range.elements for access in self.out_of_range)

    @property
    def missing_read_elements(self) -> int:
        """How many elements workers need and do not read, counted for each worker."""
        return sum(access.range.elements for access in self.missing_reads)

    def __str__(self) -> str:
        """Say in one line what is wrong, each kind with its first case."""
        verdict = "each done exactly once" if self.exactly_once else "not each done exactly once"
        says = [f"{self.elements:,} elements, {self.workers:,} workers: {verdict}"]
        if self.missed:
            says.append(f"{self.missed_elements:,} missed, first {_text(self.missed[0])}")
        if self.repeated:
            first = self.repeated[0]
            named = " and ".join([str(worker) for worker in first.workers[:2]])
            says.append(
                f"{self.repeated_elements:,} done more than once, first {_text(first.range)} by workers {named}"
            )
        for what, found in (
            ("written out of range", self.out_of_range),
            ("needed but not read", self.missing_reads),
            ("read out of range", self.out_of_range_reads),
            ("read without need", self.unneeded_reads),
            ("read outside the worker's own part", self.foreign_reads),
        ):
            if found:
                total = sum(access.range.elements for access in found)
                says.append(f"{total:,} {what}, first {_text(found[0].range)} by worker {found[0].worker}")
        return "; ".join(says)


def check_partition(
    elements: int,
    writes: Sequence[Iterable[int]],
    reads: Sequence[Iterable[int]] | None = None,
    before: int = 0,
    after: int = 0,
) -> PartitionReport:
    """Say what is wrong with a proposed partition of ``elements``.

    Args:
        elements: How many elements there are, numbered from 0.
        writes: For each worker the range that it writes: a `Range` or a pair ``(start, stop)``.
        reads: For each worker the range that it reads; without it only writes are checked.
        before: Elements that a result needs on its left, as in `Strips`; none beyond the ends of the row.
        after: Elements that a result needs on its right.

    Raises:
        ValueError: A range ends before it starts, or there are not as many reads as writes.
    """
    _at_least(0, elements=elements, before=before, after=after)
    parts = _ranges("writes", writes)
    missed, repeated = _sweep(elements, parts)
    row = Range(0, elements)
    out_of_range: list[Access] = []
    missing: list[Access] = []
    foreign: list[Access] = []
    unneeded: list[Access] = []
    outside: list[Access] = []
    for worker, part in enumerate(parts):
        _note(out_of_range, worker, part, row)
    if reads is not None:
        if len(reads) != len(writes):
            raise ValueError(f"reads has {len(reads)} ranges: there must be one for each of the {len(writes)} writes")
        for worker, read in enumerate(_ranges("reads", reads)):
            part = _clipped(parts[worker], elements)
            need = _grown(part, before, after, elements)
            inside = _clipped(read, elements)
            _note(outside, worker, read, row)
            _note(missing, worker, need, read)
            _note(foreign, worker, inside, part)
            _note(unneeded, worker, inside, need)
    return PartitionReport(
        elements=elements,
        workers=len(parts),
        missed=tuple(missed),
        repeated=tuple(repeated),
        out_of_range=tuple(out_of_range),
        missing_reads=tuple(missing),
        foreign_reads=tuple(foreign),
        unneeded_reads=tuple(unneeded),
        out_of_range_reads=tuple(outside),
    )


def _sweep(elements: int, parts: list[Range]) -> tuple[list[Range], list[Overlap]]:
    """Walk over the ends of the parts in order, and note where no worker or several are at work."""
    ends = []
    for worker, whole in enumerate(parts):
        part = _clipped(whole, elements)
        if part.start < part.stop:
            ends.append((part.start, 1, worker))
            ends.append((part.stop, 0, worker))
    ends.append((elements, 1, -1))  # closes the last gap
    heapify(ends)  # not sort: MicroPython's is quadratic on a list that is in order already, as most of these are
    missed: list[Range] = []
    repeated: list[Overlap] = []
    active: list[int] = []
    done = 0
    while ends:
        at, begins, worker = heappop(ends)
        if at > done:
            if not active:
                missed.append(Range(done, at))
            elif len(active) > 1:
                repeated.append(Overlap(Range(done, at), len(active), tuple(active[:NAMED_WORKERS])))
            done = at
        if begins:
            active.append(worker)
        else:
            active.remove(worker)
    return missed, repeated


def _note(found: list[Access], worker: int, whole: Range, allowed: Range) -> None:
    """Add what lies in ``whole`` and not in ``allowed``: nothing, one piece, or one on each side."""
    start, stop = whole.start, whole.stop
    if start == stop or (allowed.start <= start and stop <= allowed.stop):
        return
    if allowed.start == allowed.stop or stop <= allowed.start or allowed.stop <= start:
        found.append(Access(worker, whole))
        return
    if start < allowed.start:
        found.append(Access(worker, Range(start, allowed.start)))
    if allowed.stop < stop:
        found.append(Access(worker, Range(allowed.stop, stop)))


def _clipped(whole: Range, elements: int) -> Range:
    """Return the part of a range that lies in the row."""
    if whole.start >= 0 and whole.stop <= elements:
        return whole
    start = min(max(whole.start, 0), elements)
    return Range(start, max(start, min(whole.stop, elements)))


def _grown(part: Range, before: int, after: int, elements: int) -> Range:
    """Return a range with its halo, clipped at the ends of the row; an empty one stays empty."""
    if part.start == part.stop or not (before or after):
        return part
    return Range(max(0, part.start - before), min(elements, part.stop + after))


def _ranges(field: str, pairs: Sequence[Iterable[int]]) -> list[Range]:
    ranges = []
    for worker, (start, stop) in enumerate(pairs):
        if stop < start:
            raise ValueError(f"{field} of worker {worker} ends at {stop}, before its start {start}")
        ranges.append(Range(start, stop))
    return ranges


def _at_least(least: int, **fields: int) -> None:
    for field, value in fields.items():
        if not isinstance(value, int) or value < least:
            raise ValueError(f"{field} must be a whole number of at least {least}, not {value!r}")


def _index(field: str, value: int, count: int) -> None:
    if not 0 <= value < count:
        raise ValueError(f"{field} must be from 0 to {count - 1}, not {value}")


def _text(piece: Range) -> str:
    return f"{piece.start:,}" if piece.elements == 1 else f"{piece.start:,} to {piece.stop - 1:,}"
