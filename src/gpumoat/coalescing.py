"""Sectors: what a warp's loads and stores touch in memory, counted from the partition alone.

The threads of a warp execute one instruction together, and their addresses go out as one request. Memory is
handed over in aligned sectors, so a request costs as many sectors as its addresses fall into, however few
bytes are wanted of each (CUDA C++ Best Practices Guide, section on coalesced access to global memory).

Two orders of work are known. ``"strip"``: each worker walks through its own strip, as a CPU's core would.
``"grid-stride"``: worker t takes elements t, t + workers, t + 2 workers and so on, so neighbours in a warp touch
neighbours in memory.

Promises: exact counts for any sizes, equal to counting request by request; the cost depends on the number of
workers and never on the number of elements. Arrays start at a sector's edge, as CUDA's allocations do.

Left out: time, and every cache. Two requests for one sector count twice, wherever the second is answered from.

Standard library only; runs on MicroPython.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpumoat.partition import Strips, Tiles, ceil_div

ORDERS = ("strip", "grid-stride")
"""Orders of work that can be counted."""


@dataclass(frozen=True)
class Traffic:
    """What all requests of one load or store in a kernel touch.

    Attributes:
        requests: How many times a warp executes the load or store.
        sectors: Sectors touched, summed over the requests.
        wanted_bytes: Bytes that the threads asked for.
        moved_bytes: Bytes in the sectors touched.
    """

    requests: int
    sectors: int
    wanted_bytes: int
    moved_bytes: int

    @property
    def sectors_per_request(self) -> float:
        """Sectors that a request touches on average, as Nsight Compute reports them; 0 if there is no request."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def used_share(self) -> float:
        """Wanted over moved bytes, above 0 and at most 1; 0 if there is no request."""
        return self.wanted_bytes / self.moved_bytes if self.requests else 0.0


def sectors_touched(addresses: Iterable[int], width_bytes: int, sector_bytes: int) -> int:
    """Count the sectors of one request.

    Args:
        addresses: The first byte that each active thread of the warp touches.
        width_bytes: How many bytes each of them touches.
        sector_bytes: The size of a sector.
    """
    touched = set()
    for address in addresses:
        for sector in range(address // sector_bytes, (address + width_bytes - 1) // sector_bytes + 1):
            touched.add(sector)
    return len(touched)


def warp_traffic(
    cut: Strips, order: str, element_bytes: int, warp_threads: int, sector_bytes: int, shift: int = 0
) -> Traffic:
    """Count the sectors of one load or store over a whole kernel.

    Worker t is thread t, and each ``warp_threads`` neighbouring threads are a warp.

    Args:
        cut: The elements and the workers; its strips count for the order ``"strip"`` only.
        order: ``"strip"`` or ``"grid-stride"``.
        element_bytes: The size of an element in the array that is loaded or stored.
        warp_threads: How many threads make a warp.
        sector_bytes: The size of a sector.
        shift: The distance of what is touched from what is worked on: 0 for ``a[i]``, 1 for ``a[i + 1]``. A thread
            for which that lies outside the row sits the request out.

    Raises:
        ValueError: The order is not known, or a size is no whole number of at least 1.
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {order!r}")
    for field, value in (
        ("element_bytes", element_bytes),
        ("warp_threads", warp_threads),
        ("sector_bytes", sector_bytes),
    ):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{field} must be a whole number of at least 1, not {value!r}")
    counter = _Counter(element_bytes, sector_bytes)
    step = 1 if order == "strip" else cut.workers
    for first in range(0, cut.workers, warp_threads):
        warp = range(first, min(first + warp_threads, cut.workers))
        counter.add_warp([_turns(cut, order, worker, step, shift) for worker in warp], step)
    return Traffic(counter.requests, counter.sectors, counter.wanted_bytes, counter.sectors * sector_bytes)


def _turns(cut: Strips, order: str, worker: int, step: int, shift: int) -> tuple[int, int, int]:
    """Return where a worker's accesses start, and from which turn up to which they lie in the row."""
    if order == "strip":
        part = cut.writes(worker)
        start, count = part.start, part.elements
    else:
        start, count = worker, ceil_div(max(0, cut.elements - worker), step)
    touched = start + shift
    begin = max(0, ceil_div(-touched, step))
    end = min(count, ceil_div(cut.elements - touched, step))
    return touched, begin, max(begin, end)


class _Counter:
    """Adds up warps; requests that lie alike within their sectors are counted once and multiplied."""

    def __init__(self, element_bytes: int, sector_bytes: int) -> None:
        self.requests = 0
        self.sectors = 0
        self.wanted_bytes = 0
        self._element = element_bytes
        self._sector = sector_bytes
        self._known: dict[tuple[int, ...], int] = {}

    def add_warp(self, turns: list[tuple[int, int, int]], step: int) -> None:
        """Add the requests of one warp, given for each thread its start and its turns."""
        edges = sorted({begin for _, begin, _ in turns} | {end for _, _, end in turns})
        # The start of a request moves on by the same number of bytes each turn, so its place in a sector repeats.
        period = self._sector // _greatest_divisor(step * self._element, self._sector)
        for at in range(1, len(edges)):
            begin, end = edges[at - 1], edges[at]
            starts = [start for start, first, last in turns if first <= begin and end <= last]
            if not starts:
                continue
            self.requests += end - begin
            self.wanted_bytes += (end - begin) * len(starts) * self._element
            for offset in range(min(period, end - begin)):
                alike = ceil_div(end - begin - offset, period)
                self.sectors += alike * self._request(starts, (begin + offset) * step)

    def _request(self, starts: list[int], moved: int) -> int:
        """Count the sectors of one request; it depends on where it begins in a sector, and on the distances."""
        lowest = min(starts)
        place = (lowest + moved) * self._element % self._sector
        key = (place, *[start - lowest for start in starts])
        if key not in self._known:
            addresses = [place + (start - lowest) * self._element for start in starts]
            self._known[key] = sectors_touched(addresses, self._element, self._sector)
        return self._known[key]


def _greatest_divisor(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def tile_sectors(cut: Tiles, element_bytes: int, sector_bytes: int) -> int:
    """Count the sectors in which the rows of all windows lie, each row's counted once.

    It is the least that memory must hand over if each tile is read by one block, row by row, which keeps what it has
    read: a sector at a tile's edge counts for each tile that reads a part of it, and one in which a row of a window
    ends and the next begins counts for both. Rows follow each other without a gap, and the
    matrix begins at a sector's edge, so a row begins at one if its bytes are a multiple of a sector.

    Args:
        cut: The matrix and its tiles; each reads its window, with the halo.
        element_bytes: The size of an element.
        sector_bytes: The size of a sector.

    Raises:
        ValueError: A size is less than 1.
    """
    for field, value in (("element_bytes", element_bytes), ("sector_bytes", sector_bytes)):
        if value < 1:
            raise ValueError(f"{field} must be at least 1, not {value}")
    row_bytes = cut.columns * element_bytes
    period = 1  # rows after which a row begins at the same place in a sector
    while period * row_bytes % sector_bytes:
        period += 1
    times = [0] * period  # how many rows of all windows begin at each of these places
    for start, stop in _windows(cut.rows, cut.tile_rows, cut.halo):
        whole, more = divmod(stop - start, period)
        for phase in range(period):
            times[phase] += whole + (1 if (phase - start) % period < more else 0)
    total = 0
    for start, stop in _windows(cut.columns, cut.tile_columns, cut.halo):
        first_byte, last_byte = start * element_bytes, stop * element_bytes - 1
        for phase in range(period):
            begin = phase * row_bytes
            sectors = (begin + last_byte) // sector_bytes - (begin + first_byte) // sector_bytes + 1
            total += times[phase] * sectors
    return total


def _windows(extent: int, tile: int, halo: int) -> list[tuple[int, int]]:
    """Return where the window of each tile along one side begins and ends."""
    starts = range(0, extent, tile)
    return [(max(0, start - halo), min(extent, min(start + tile, extent) + halo)) for start in starts]
