"""PyTorch's caching allocator, block by block: what it counts for tensors made one after the other.

The closed rule of `gpumoat.llm.weights` looks at each tensor alone. That is right for tensors of up to 1 MiB and, as a
rule, for those of 10 MiB or more. Those between share segments of 20 MiB, and what the last one leaves there goes with
it if it is 1 MiB or less, or to a larger tensor that happens to fit. So bytes depend on the order, and order is what
this module keeps.

Rules (``c10/cuda/CUDACachingAllocator.cpp``): sizes are rounded up to 512 bytes; one of up to 1 MiB comes from segments
of 2 MiB, one below 10 MiB from segments of 20 MiB, a larger one from a segment of its own in whole 2 MiB; the smallest
free block that is large enough is taken, the one at the lowest address among equals; what is left of it becomes a free
block if it is at least 512 bytes (small) or more than 1 MiB (large), else it is counted as allocated.

Promises: allocated and reserved bytes as PyTorch counts them, for tensors on one stream with the default settings. Left
out: freeing to the driver, expandable segments, and settings that change the sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpumoat.units import MIB

ROUND_BYTES = 512
SMALL_BYTES = MIB
SMALL_SEGMENT_BYTES = 2 * MIB
OWN_SEGMENT_BYTES = 10 * MIB
SEGMENT_ROUND_BYTES = 2 * MIB


class Allocator:
    """An empty allocator.

    Attributes:
        allocated_bytes: Bytes of all blocks that are in use.
        reserved_bytes: Bytes of all segments.
    """

    def __init__(self) -> None:
        self.allocated_bytes = 0
        self.reserved_bytes = 0
        self._next = 0
        self._free: dict[bool, list[tuple[int, int]]] = {True: [], False: []}  # size and address, by small

    def take(self, size_bytes: int) -> int:
        """Allocate one tensor; return the bytes that are counted for it."""
        size = max(ROUND_BYTES, -(-size_bytes // ROUND_BYTES) * ROUND_BYTES)
        small = size <= SMALL_BYTES
        pool = self._free[small]
        fitting = [block for block in pool if block[0] >= size]
        if fitting:
            block = min(fitting)
            pool.remove(block)
        else:
            block = (segment_bytes(size), self._next)
            self._next += 2 * block[0]  # segments never touch
            self.reserved_bytes += block[0]
        left = block[0] - size
        if left >= ROUND_BYTES if small else left > SMALL_BYTES:
            pool.append((left, block[1] + size))
        else:
            size = block[0]
        self.allocated_bytes += size
        return size


def segment_bytes(size_bytes: int) -> int:
    """Return the bytes of the segment that is asked of the driver for a rounded request.

    2 MiB for a small one; 20 × MiB for one below 10 MiB, which others will share; else the request in whole 2 MiB.
    """
    if size_bytes <= SMALL_BYTES:
        return SMALL_SEGMENT_BYTES
    if size_bytes < OWN_SEGMENT_BYTES:
        return 20 * MIB
    return -(-size_bytes // SEGMENT_ROUND_BYTES) * SEGMENT_ROUND_BYTES


def allocated_in_order(sizes_bytes: Sequence[int]) -> int:
    """Return what is counted for tensors of these sizes, made in this order in an empty allocator."""
    allocator = Allocator()
    for size in sizes_bytes:
        allocator.take(size)
    return allocator.allocated_bytes
