"""Bank conflicts: how many turns shared memory needs for what a warp asks of it.

Shared memory lies in 32 banks of 4 bytes; neighbouring words lie in neighbouring banks. A bank gives one word a turn,
to however many lanes want that word, so a request takes as many turns (wavefronts) as the busiest bank has different
words to give (CUDA C++ Programming Guide, section on shared memory). Elements of 8 bytes are served by half warps,
of 16 bytes by quarters; elements narrower than a word share it.

Promises: exact counts over the record, with each array placed where the record says.

Left out: time. Atomic operations are counted by the same rule, and lanes that meet at one address take further turns
on a card that are not counted here.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.simt.record import WARP_LANES
from gpumoat.simt.rows import Rows

BANKS = 32
"""Banks of shared memory, on every NVIDIA GPU since Fermi."""

BANK_BYTES = 4
"""Bytes that a bank gives in one turn."""


@dataclass(frozen=True)
class BankConflicts:
    """Turns that shared memory needs for the requests to one array.

    Attributes:
        requests: How many times a warp asked.
        wavefronts: Turns needed, summed over the requests.
        ideal: Turns that the same words would need if they were spread evenly over the banks.
        max_ways: Turns of the worst part of a request that is served together; 1 is free of conflict.
    """

    requests: int
    wavefronts: int
    ideal: int
    max_ways: int

    def __str__(self) -> str:
        worst = "no conflict" if self.max_ways <= 1 else f"at worst {self.max_ways}-way"
        return f"{self.requests:,} requests in {self.wavefronts:,} turns (at best {self.ideal:,}), {worst}"


def lanes_together(size_bytes: int) -> int:
    """Return how many lanes of a warp are served together, for elements of a size."""
    return WARP_LANES // max(1, min(size_bytes, 16) // BANK_BYTES)


def bank_conflicts(rows: Rows, name: str, kind: str | None = None, line: int | None = None) -> BankConflicts:
    """Count the turns that a shared array needs.

    Args:
        rows: The record.
        name: The array.
        kind: load, store or atomic; loads and stores where it is None.
        line: The source line whose requests count; all where it is None.

    Raises:
        ValueError: There is no such array or kind.
    """
    arrays = rows.arrays(name, ("shared",))
    record, request = rows.record, rows.request
    by_number = {array.number: array for array in arrays}
    words: set[tuple[int, int, int]] = set()
    numbers: set[int] = set()
    for row in rows.select(arrays, ("load", "store") if kind is None else (kind,), line):
        array = by_number[record.array[row]]
        size = array.itemsize_bytes
        address = array.offset_bytes + record.index[row] * size
        part = record.thread[row] % WARP_LANES // lanes_together(size)
        numbers.add(request[row])
        for word in range(address // BANK_BYTES, (address + size - 1) // BANK_BYTES + 1):
            words.add((request[row], part, word))
    in_bank: dict[tuple[int, int, int], int] = {}
    for number, part, word in words:
        bank = (number, part, word % BANKS)
        in_bank[bank] = in_bank.get(bank, 0) + 1
    ways: dict[tuple[int, int], int] = {}
    in_all: dict[tuple[int, int], int] = {}
    for (number, part, _), count in in_bank.items():
        ways[number, part] = max(ways.get((number, part), 0), count)
        in_all[number, part] = in_all.get((number, part), 0) + count
    ideal = sum(-(-count // BANKS) for count in in_all.values())
    return BankConflicts(len(numbers), sum(ways.values()), ideal, max(ways.values(), default=0))
