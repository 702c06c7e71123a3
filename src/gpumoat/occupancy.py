"""Occupancy: how many blocks of a kernel a multiprocessor holds at once, and what keeps it from holding more.

A multiprocessor has places for a number of warps and of blocks, a file of registers and some shared memory. A block
comes in whole or not at all, so the tightest of the four decides. Occupancy is resident warps over places for warps.

The rules are NVIDIA's, of the header ``cuda_occupancy.h`` that comes with CUDA: registers are given to a warp in units,
each quarter of a multiprocessor has a quarter of the file and holds whole warps, shared memory comes in units, and the
driver takes some of it for itself in each block. The limits are facts by compute capability, from the table Technical
Specifications per Compute Capability of NVIDIA's CUDA guide.

Promises: the same blocks as NVIDIA's header gives for compute capability 8.0 to 10.0, where all shared memory that a
multiprocessor can have is set aside for it. It exists because dividing the file by what a block needs gives a number
that is often one too many.

Left out: clusters of blocks, several barriers in a block, and speed. More resident warps hide more waiting, and a
kernel with few can still be the fastest.

Standard library only; runs on MicroPython.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.facts import fact
from gpumoat.hardware import subject
from gpumoat.partition import ceil_div

LIMITS = ("warps", "blocks", "registers", "shared")
"""What can keep a multiprocessor from holding more blocks."""


@dataclass(frozen=True)
class Limits:
    """What a multiprocessor can hold.

    Attributes:
        warps: Places for warps.
        blocks: Places for blocks.
        registers: 32-bit registers.
        shared_bytes: Shared memory, all that can be set aside.
        block_shared_bytes: The most shared memory that a block can ask for.
        block_threads: The most threads of a block.
        thread_registers: The most registers of a thread.
        warp_threads: Threads of a warp.
        register_unit: Registers that a warp is given at a time.
        shared_unit_bytes: Shared memory that a block is given at a time.
        reserved_bytes: Shared memory that the driver takes in each block.
        partitions: Parts that share out the registers, each for warps of its own.
    """

    warps: int
    blocks: int
    registers: int
    shared_bytes: int
    block_shared_bytes: int
    block_threads: int
    thread_registers: int
    warp_threads: int
    register_unit: int
    shared_unit_bytes: int
    reserved_bytes: int
    partitions: int


@dataclass(frozen=True)
class Residency:
    """What a multiprocessor holds of one kernel.

    Attributes:
        blocks: Blocks that are resident; 0 if the card refuses the launch.
        warps: Warps that are resident.
        share: Resident warps over places for warps: the occupancy.
        by_warps: Blocks that the places for warps would allow.
        by_blocks: Blocks that the places for blocks would allow.
        by_registers: Blocks that the registers would allow.
        by_shared: Blocks that the shared memory would allow.
    """

    blocks: int
    warps: int
    share: float
    by_warps: int
    by_blocks: int
    by_registers: int
    by_shared: int

    @property
    def limit(self) -> str:
        """What allows no more blocks: one of ``LIMITS``, or several joined by " and "."""
        allowed = (self.by_warps, self.by_blocks, self.by_registers, self.by_shared)
        return " and ".join([LIMITS[place] for place in range(len(LIMITS)) if allowed[place] == self.blocks])


def limits(capability: str) -> Limits:
    """Return what a multiprocessor of a compute capability can hold, from the facts.

    Args:
        capability: As compilers name it: ``"sm_90"`` is compute capability 9.0.

    Raises:
        DataError: There are no facts on that compute capability.
    """
    sm = subject("multiprocessor", capability.replace("_", "-"))
    return Limits(
        sm.resident_warps,
        sm.resident_blocks,
        sm.registers,
        sm.shared_bytes,
        sm.block_shared_bytes,
        int(fact("cuda.block_threads")),
        int(fact("cuda.thread_registers")),
        int(fact("cuda.warp_threads")),
        int(fact("cuda.register_unit")),
        int(fact("cuda.shared_unit_bytes")),
        int(fact("cuda.reserved_shared_bytes")),
        int(fact("cuda.partitions")),
    )


def residency(sm: Limits, threads: int, registers: int, shared_bytes: int = 0) -> Residency:
    """Count the blocks of a kernel that a multiprocessor holds.

    Args:
        sm: What the multiprocessor can hold.
        threads: Threads of a block.
        registers: Registers of a thread, as the compiler reports them.
        shared_bytes: Shared memory of a block, without what the driver adds.

    Raises:
        ValueError: A size is no whole number, or a thread, a register or a byte too few or too many.
    """
    _check("threads", threads, 1, sm.block_threads)
    _check("registers", registers, 1, sm.thread_registers)
    _check("shared_bytes", shared_bytes, 0, sm.block_shared_bytes)
    block_warps = ceil_div(threads, sm.warp_threads)
    warp_registers = _rounded(registers * sm.warp_threads, sm.register_unit)
    if warp_registers * _rounded(block_warps, sm.partitions) > sm.registers:
        by_registers = 0  # the card refuses the launch, by a check that counts whole rows of partitions
    else:
        by_registers = sm.registers // sm.partitions // warp_registers * sm.partitions // block_warps
    block_bytes = _rounded(shared_bytes + sm.reserved_bytes, sm.shared_unit_bytes)
    by_shared = sm.shared_bytes // block_bytes if block_bytes else sm.blocks
    by_warps = sm.warps // block_warps
    blocks = min(by_warps, sm.blocks, by_registers, by_shared)
    warps = blocks * block_warps
    return Residency(blocks, warps, warps / sm.warps, by_warps, sm.blocks, by_registers, by_shared)


def _rounded(count: int, unit: int) -> int:
    """Return a count rounded up to whole units."""
    return ceil_div(count, unit) * unit


def _check(field: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{field} must be a whole number from {least} to {most}, not {value!r}")
