"""The 3 x 3 stencil: the sum of each pixel and its eight neighbours, from global memory and from a shared tile.

The arrays are the same in both kernels:

    pixels   uint8, (rows, columns): the picture
    sums     int16, (rows, columns): up to 9 x 255; where a neighbour would lie outside, the nearest pixel stands for it

Sums of whole numbers are exact in any order, so a kernel is right or wrong and never nearly right.

A block is 32 x 8 threads, one a pixel, and a grid covers the picture: a warp is 32 pixels of one row.
"""

from typing import Any

from numba import cuda, int16, int32, types, uint8

TILE_ROWS = 8
TILE_COLUMNS = 32
"""Pixels that a block computes; its threads are (TILE_COLUMNS, TILE_ROWS)."""

HALO = 1
"""Pixels on each side of a tile that are read and not computed."""

HELD_ROWS = TILE_ROWS + 2 * HALO
HELD_COLUMNS = TILE_COLUMNS + 2 * HALO
"""Pixels that a block reads: its tile with the halo."""


@cuda.jit
def stencil_global(pixels, sums):
    """Read all nine pixels of each sum from global memory.

    Args:
        pixels: uint8, (rows, columns).
        sums: int16, (rows, columns).
    """
    column, row = cuda.grid(2)
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


@cuda.jit
def stencil_shared(pixels, sums):
    """Read a tile and its halo into shared memory once, and sum from there.

    Every thread loads, also one whose own pixel lies outside the picture, and every thread reaches the barrier.

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
    cuda.syncthreads()
    row = tile_row + cuda.threadIdx.y
    column = tile_column + cuda.threadIdx.x
    if row < rows and column < columns:
        total = int32(0)
        for i in range(3):
            for j in range(3):
                total += int32(held[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
        sums[row, column] = int16(total)


_ARRAYS = (types.Array(uint8, 2, "C"), types.Array(int16, 2, "C"))

SIGNATURES: dict[str, tuple[Any, ...]] = {"stencil_global": _ARRAYS, "stencil_shared": _ARRAYS}
"""The argument types of each kernel, for compiling without a card."""
