"""Sectors: what the requests of warps touch in global memory (coalescing).

The addresses of a warp's load or store go out as one request, and memory is handed over in aligned sectors of
32 bytes, so a request costs as many sectors as its addresses fall into (CUDA C++ Best Practices Guide, section on
coalesced access to global memory). Nsight Compute reports the same average for a kernel on a card.

Promises: exact counts over the record, with each array placed where the record says: allocations begin at an
address that is a multiple of 256.

Left out: time and caches. A sector that two requests touch counts twice, wherever the second is answered from. A
compiler may join neighbouring loads of one thread into a wider one; as written, they are requests of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.simt.rows import Rows

SECTOR_BYTES = 32
"""Bytes of a sector, on every NVIDIA GPU since Maxwell."""


@dataclass(frozen=True)
class Requests:
    """The requests of warps to one array.

    Attributes:
        requests: How many times a warp asked.
        sectors: Sectors touched, summed over the requests.
        ideal: The fewest sectors that could hold what was asked for, summed over the requests.
        requested_bytes: Bytes asked for; an address that several lanes of a request name counts once.
        accesses: Accesses of single lanes.
    """

    requests: int
    sectors: int
    ideal: int
    requested_bytes: int
    accesses: int

    @property
    def sectors_per_request(self) -> float:
        """Sectors that a request touches on average; 0 without requests."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def ideal_per_request(self) -> float:
        """The fewest sectors that a request could touch, on average; 0 without requests."""
        return self.ideal / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """Bytes asked for over bytes in the sectors touched: above 0 and at most 1; 0 without requests."""
        return self.requested_bytes / (self.sectors * SECTOR_BYTES) if self.sectors else 0.0

    @property
    def active_lanes(self) -> float:
        """Lanes that take part in a request on average, of 32; 0 without requests."""
        return self.accesses / self.requests if self.requests else 0.0

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests of {self.sectors_per_request:.2f} sectors (at best "
            f"{self.ideal_per_request:.2f}), {self.efficiency:.1%} of their bytes asked for, "
            f"{self.active_lanes:.1f} lanes active"
        )


def requests(rows: Rows, name: str, kind: str = "load", line: int | None = None) -> Requests:
    """Count the requests to a global array.

    Args:
        rows: The record.
        name: The array.
        kind: load, store or atomic.
        line: The source line whose requests count; all where it is None.

    Raises:
        ValueError: There is no such array or kind.
    """
    arrays = rows.arrays(name)
    record, request = rows.record, rows.request
    size = arrays[0].itemsize_bytes
    begin = {array.number: array.offset_bytes for array in arrays}
    chosen = rows.select(arrays, (kind,), line)
    far = max((array.offset_bytes + array.size * size for array in arrays), default=0) + 1  # beyond every address
    touched: set[int] = set()
    asked: set[int] = set()
    for row in chosen:
        address = begin[record.array[row]] + record.index[row] * size
        number = request[row] * far
        asked.add(number + address)
        first, last = address // SECTOR_BYTES, (address + size - 1) // SECTOR_BYTES
        touched.add(number + first)
        if last > first:
            touched.update(range(number + first + 1, number + last + 1))
    wanted: dict[int, int] = {}
    for each in asked:
        wanted[each // far] = wanted.get(each // far, 0) + size
    ideal = sum(-(-wanted_bytes // SECTOR_BYTES) for wanted_bytes in wanted.values())
    return Requests(len(wanted), len(touched), ideal, sum(wanted.values()), len(chosen))
