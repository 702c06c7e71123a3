"""Transpose of a matrix: one order of access is always the wrong one, unless a tile turns it round.

The arrays are the same in all kernels:

    matrix       float32, (rows, columns)
    transposed   float32, (columns, rows): ``transposed[x, y] = matrix[y, x]``

A block is 32 x 8 threads and does a tile of 32 x 32 elements, four a thread; a warp is 32 neighbours in a row.
"""

from typing import Any

from numba import cuda, float32, types

TILE = 32
"""Rows and columns of a tile; as many as a warp has lanes."""

BLOCK_ROWS = 8
"""Rows of threads; each thread does every eighth row of the tile."""

PADDED = TILE + 1
"""Columns of a tile with one column of padding, so that the elements of a column lie in 32 different banks."""


@cuda.jit
def transpose_naive(matrix, transposed):
    """Read along rows, and write along columns: neighbouring threads write elements a whole row apart.

    Args:
        matrix: float32, (rows, columns).
        transposed: float32, (columns, rows).
    """
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for j in range(0, TILE, BLOCK_ROWS):
        if x < matrix.shape[1] and y + j < matrix.shape[0]:
            transposed[x, y + j] = matrix[y + j, x]


@cuda.jit
def transpose_tiled(matrix, transposed):
    """Read and write along rows; a shared tile is written along rows and read along columns, all from one bank.

    Args:
        matrix: float32, (rows, columns).
        transposed: float32, (columns, rows).
    """
    tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for j in range(0, TILE, BLOCK_ROWS):
        if x < matrix.shape[1] and y + j < matrix.shape[0]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = matrix[y + j, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    for j in range(0, TILE, BLOCK_ROWS):
        if x < matrix.shape[0] and y + j < matrix.shape[1]:
            transposed[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]


@cuda.jit
def transpose_padded(matrix, transposed):
    """``transpose_tiled`` with one column of padding: the elements of a column lie in different banks.

    Args:
        matrix: float32, (rows, columns).
        transposed: float32, (columns, rows).
    """
    tile = cuda.shared.array((TILE, PADDED), float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for j in range(0, TILE, BLOCK_ROWS):
        if x < matrix.shape[1] and y + j < matrix.shape[0]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = matrix[y + j, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    for j in range(0, TILE, BLOCK_ROWS):
        if x < matrix.shape[0] and y + j < matrix.shape[1]:
            transposed[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]


_ARRAYS = (types.Array(float32, 2, "C"), types.Array(float32, 2, "C"))

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "transpose_naive": _ARRAYS,
    "transpose_tiled": _ARRAYS,
    "transpose_padded": _ARRAYS,
}
"""The argument types of each kernel, for compiling without a card."""
