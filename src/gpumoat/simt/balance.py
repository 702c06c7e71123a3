"""Who works how much, and who reads what another thread answers for."""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.simt.record import LOAD, STORE, Record
from gpumoat.simt.rows import Rows


class Balance(list[int]):
    """Accesses to memory of each thread whose block ran, in the order of blocks and threads (load balance)."""

    @property
    def min(self) -> int:
        """Accesses of the thread that has the fewest."""
        return min(self, default=0)

    @property
    def mean(self) -> float:
        """Accesses of a thread on average."""
        return sum(self) / len(self) if self else 0.0

    @property
    def max(self) -> int:
        """Accesses of the thread that has the most: the others of its block wait for it."""
        return max(self, default=0)

    @property
    def idle(self) -> int:
        """Threads that touch nothing."""
        return self.count(0)


@dataclass(frozen=True)
class ForeignReads:
    """Loads by threads other than the one that answers for the same place.

    Attributes:
        foreign: Loads of an element whose owner is another thread, or that has none.
        total: All loads.
    """

    foreign: int
    total: int

    def __str__(self) -> str:
        return f"{self.foreign:,} of {self.total:,} loads"


def accesses_per_thread(record: Record) -> Balance:
    """Count what each thread does to global, shared and constant memory; what is its own alone does not count."""
    local = {array.number for array in record.arrays if array.space == "local"}
    threads = record.threads_per_block
    blocks = range(record.threads // threads) if record.blocks is None else sorted(set(record.blocks))
    place = {block: number * threads for number, block in enumerate(blocks)}
    counts = [0] * (len(place) * threads)
    for array, block, thread in zip(record.array, record.in_block, record.thread, strict=True):
        if array not in local:
            counts[place[block] + thread] += 1
    return Balance(counts)


def foreign_reads(rows: Rows, name: str, owner: str) -> ForeignReads:
    """Count the loads of ``name[i]`` by a thread that does not store ``owner[i]``.

    Raises:
        ValueError: There is no such array.
    """
    record = rows.record
    reads, writes = rows.arrays(name, ("global", "shared")), rows.arrays(owner, ("global", "shared"))
    reading, writing = {each.number for each in reads}, {each.number for each in writes}
    threads = record.threads_per_block
    owned: set[tuple[int, int]] = set()
    loads: list[tuple[int, int]] = []
    columns = (record.array, record.kind, record.index, record.in_block, record.thread)
    for array, kind, index, block, thread in zip(*columns, strict=True):
        if kind == STORE and array in writing:
            owned.add((index, block * threads + thread))
        elif kind == LOAD and array in reading:
            loads.append((index, block * threads + thread))
    return ForeignReads(sum(load not in owned for load in loads), len(loads))
