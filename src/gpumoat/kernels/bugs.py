"""Kernels that are wrong on purpose: image difference, stencil and transpose, one fault each.

None of them crashes, one never ends, and several are right by luck most of the time. They are what a checker is tried
on: each test says which fault must be reported first, and which consequences must follow from it.

The lecture's own warning, an index that is wrong by one, needs no kernel of its own: ``image.strip`` takes the distance
of the strips and their length apart, and is wrong as soon as the two differ. ``STRIP_FAULTS`` has the variants.
"""

from typing import Any

from numba import cuda, int16, int32, types, uint8

from gpumoat.kernels.image import SIGNATURES as _IMAGE
from gpumoat.kernels.stencil import HALO, HELD_COLUMNS, HELD_ROWS, TILE_COLUMNS, TILE_ROWS
from gpumoat.kernels.stencil import SIGNATURES as _STENCIL

STRIP_FAULTS: dict[str, tuple[int, int]] = {
    "one pixel too far apart": (1, 0),
    "one pixel too long": (0, 1),
    "rounded down": (-1, -1),
}
"""What to add to the right distance and to the right length of ``image.strip`` for each fault."""


@cuda.jit
def strip_in_place(pixels, stride, length):
    """Write each difference over its pixel: the next strip's first pixel may be gone before it is read.

    Args:
        pixels: int16, n + 1: the picture, and at the end the differences.
        stride: Pixels from the beginning of one strip to that of the next.
        length: Pixels in a strip.
    """
    first = cuda.grid(1) * stride
    for i in range(first, min(first + length, pixels.size - 1)):
        pixels[i] = int16(int32(pixels[i]) - int32(pixels[i + 1]))


@cuda.jit
def count_falling(pixels, counts):
    """Count the pixels that are darker than the one after them, without an atomic addition: counts get lost.

    Args:
        pixels: uint8, n + 1.
        counts: int32, one element, 0 before.
    """
    i = cuda.grid(1)
    if i < pixels.size - 1 and pixels[i] < pixels[i + 1]:
        counts[0] += int32(1)


@cuda.jit
def stencil_without_halo(pixels, sums):
    """Load the tile and forget the columns of the halo: pixels at a tile's left and right see what nobody wrote.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    held = cuda.shared.array((HELD_ROWS, HELD_COLUMNS), uint8)
    rows = pixels.shape[0]
    columns = pixels.shape[1]
    tile_row = cuda.blockIdx.y * TILE_ROWS
    tile_column = cuda.blockIdx.x * TILE_COLUMNS
    for k in range(cuda.threadIdx.y, HELD_ROWS, TILE_ROWS):
        y = min(max(tile_row + k - HALO, 0), rows - 1)
        x = min(tile_column + cuda.threadIdx.x, columns - 1)
        held[k, cuda.threadIdx.x + HALO] = pixels[y, x]  # and nobody loads columns 0 and HELD_COLUMNS - 1
    cuda.syncthreads()
    row = tile_row + cuda.threadIdx.y
    column = tile_column + cuda.threadIdx.x
    if row < rows and column < columns:
        total = int32(0)
        for i in range(3):
            for j in range(3):
                total += int32(held[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
        sums[row, column] = int16(total)


@cuda.jit
def stencil_halo_off_by_one(pixels, sums):
    """Begin the tile at its first pixel and not one before it: every sum is that of the pixel one down and one right.

    Nothing about memory is wrong here: no race, no gap, no access outside. Only the numbers are, so only a comparison
    with a right result can tell.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    held = cuda.shared.array((HELD_ROWS, HELD_COLUMNS), uint8)
    rows = pixels.shape[0]
    columns = pixels.shape[1]
    tile_row = cuda.blockIdx.y * TILE_ROWS
    tile_column = cuda.blockIdx.x * TILE_COLUMNS
    thread = cuda.threadIdx.y * TILE_COLUMNS + cuda.threadIdx.x
    for k in range(thread, HELD_ROWS * HELD_COLUMNS, TILE_ROWS * TILE_COLUMNS):
        y = min(tile_row + k // HELD_COLUMNS, rows - 1)  # should be one less
        x = min(tile_column + k % HELD_COLUMNS, columns - 1)  # should be one less
        held[k // HELD_COLUMNS, k % HELD_COLUMNS] = pixels[y, x]
    cuda.syncthreads()
    row = tile_row + cuda.threadIdx.y
    column = tile_column + cuda.threadIdx.x
    if row < rows and column < columns:
        total = int32(0)
        for i in range(3):
            for j in range(3):
                total += int32(held[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
        sums[row, column] = int16(total)


@cuda.jit
def stencil_without_barrier(pixels, sums):
    """``stencil_shared`` without its barrier: a thread may sum what another has not loaded yet.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    held = cuda.shared.array((HELD_ROWS, HELD_COLUMNS), uint8)
    rows = pixels.shape[0]
    columns = pixels.shape[1]
    tile_row = cuda.blockIdx.y * TILE_ROWS
    tile_column = cuda.blockIdx.x * TILE_COLUMNS
    thread = cuda.threadIdx.y * TILE_COLUMNS + cuda.threadIdx.x
    for k in range(thread, HELD_ROWS * HELD_COLUMNS, TILE_ROWS * TILE_COLUMNS):
        y = min(max(tile_row + k // HELD_COLUMNS - HALO, 0), rows - 1)
        x = min(max(tile_column + k % HELD_COLUMNS - HALO, 0), columns - 1)
        held[k // HELD_COLUMNS, k % HELD_COLUMNS] = pixels[y, x]
    row = tile_row + cuda.threadIdx.y
    column = tile_column + cuda.threadIdx.x
    if row < rows and column < columns:
        total = int32(0)
        for i in range(3):
            for j in range(3):
                total += int32(held[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
        sums[row, column] = int16(total)


@cuda.jit
def stencil_barrier_in_branch(pixels, sums):
    """``stencil_shared`` with its barrier inside the test for the picture's edge, which part of a block fails.

    Wrong where the picture ends within a block: some threads wait at this barrier and others at the next, and on a card
    the kernel never ends. Right where the picture fills every block.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    held = cuda.shared.array((HELD_ROWS, HELD_COLUMNS), uint8)
    rows = pixels.shape[0]
    columns = pixels.shape[1]
    tile_row = cuda.blockIdx.y * TILE_ROWS
    tile_column = cuda.blockIdx.x * TILE_COLUMNS
    thread = cuda.threadIdx.y * TILE_COLUMNS + cuda.threadIdx.x
    for k in range(thread, HELD_ROWS * HELD_COLUMNS, TILE_ROWS * TILE_COLUMNS):
        y = min(max(tile_row + k // HELD_COLUMNS - HALO, 0), rows - 1)
        x = min(max(tile_column + k % HELD_COLUMNS - HALO, 0), columns - 1)
        held[k // HELD_COLUMNS, k % HELD_COLUMNS] = pixels[y, x]
    row = tile_row + cuda.threadIdx.y
    column = tile_column + cuda.threadIdx.x
    if row < rows and column < columns:
        cuda.syncthreads()
        total = int32(0)
        for i in range(3):
            for j in range(3):
                total += int32(held[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
        sums[row, column] = int16(total)
    cuda.syncthreads()


@cuda.jit
def stencil_overlapping(pixels, sums):
    """Lay the tiles one pixel too close: the last column of a tile is the first of the next, written by both.

    The numbers come out right, since both blocks write the same; the last columns of the picture are never reached.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    row = cuda.blockIdx.y * TILE_ROWS + cuda.threadIdx.y
    column = cuda.blockIdx.x * (TILE_COLUMNS - 1) + cuda.threadIdx.x
    rows = pixels.shape[0]
    columns = pixels.shape[1]
    if row < rows and column < columns:
        total = int32(0)
        for i in range(-1, 2):
            for j in range(-1, 2):
                y = min(max(row + i, 0), rows - 1)
                x = min(max(column + j, 0), columns - 1)
                total += int32(pixels[y, x])
        sums[row, column] = int16(total)


SIGNATURES: dict[str, tuple[Any, ...]] = {
    "strip_in_place": (types.Array(int16, 1, "C"), types.int64, types.int64),
    "count_falling": (_IMAGE["one_pixel"][0], types.Array(int32, 1, "C")),
    "stencil_without_halo": _STENCIL["stencil_shared"],
    "stencil_halo_off_by_one": _STENCIL["stencil_shared"],
    "stencil_without_barrier": _STENCIL["stencil_shared"],
    "stencil_barrier_in_branch": _STENCIL["stencil_shared"],
    "stencil_overlapping": _STENCIL["stencil_shared"],
}
"""The argument types of each kernel, for compiling without a card."""
