"""The product of two matrices, c = a b, from the obvious kernel to one that keeps the arithmetic units fed.

Four kernels with one answer. Every element of ``c`` is a sum of ``depth`` products; what changes from one kernel to
the next is how often a number is fetched for them, and from where:

* ``naive``: a thread an element, both operands from global memory for every product;
* ``tiled``: a block shares square tiles, so that a number from global memory serves ``TILE`` products;
* ``register_blocked``: a thread keeps ``THREAD_ROWS`` x ``THREAD_COLUMNS`` sums in registers, so that a number from
  shared memory serves eight products as well;
* ``register_blocked_wide``: the same with two tiles in turn, so that the next is on its way while this one is used,
  and with shared arrays aligned to 16 bytes, so that the compiler reads four numbers by one instruction.

Arrays: ``a`` is (rows, depth), ``b`` (depth, columns), ``c`` (rows, columns), all float32, in row order. Any sizes:
what lies past an edge counts as zero and is not written.

Promises: the portable subset of numba.cuda, except for the keyword ``alignment`` in ``register_blocked_wide``, which
numba's own simulator refuses. The tile sizes are names of this module, which the compiler takes as constants: set
them before a kernel is compiled, as the measurement does that compares shapes. Left out: tensor cores, which
numba does not reach, asynchronous copies, and everything that a library does for shapes that are not large.
"""

from typing import Any

from numba import cuda, float32, types, uint32

TILE = 16
"""``tiled``: edge of a tile. Block (TILE, TILE), grid (columns / TILE, rows / TILE) rounded up."""

BLOCK_ROWS = 128
"""Register-blocked kernels: rows of ``c`` that a block makes."""

BLOCK_COLUMNS = 128
"""Register-blocked kernels: columns of ``c`` that a block makes."""

BLOCK_DEPTH = 8
"""Register-blocked kernels: products of each sum that a block does between two barriers."""

THREAD_ROWS = 8
"""Register-blocked kernels: rows of ``c`` that a thread makes."""

THREAD_COLUMNS = 8
"""Register-blocked kernels: columns of ``c`` that a thread makes."""

ACROSS = BLOCK_COLUMNS // THREAD_COLUMNS
"""Threads of a block along a row of ``c``."""

THREADS = BLOCK_ROWS // THREAD_ROWS * ACROSS
"""Threads of a block, along x. Grid (columns / BLOCK_COLUMNS, rows / BLOCK_ROWS) rounded up."""

PADDED_ROWS = BLOCK_ROWS + 4
"""A row of the transposed tile of ``a``: longer by one 16-byte word, so that writing it meets no bank twice."""

DOWN = BLOCK_ROWS // THREAD_ROWS
"""Threads of a block along a column of ``c``."""

A_STEP = THREADS // BLOCK_DEPTH
"""Rows of a tile of ``a`` that all threads fetch at once: the tile is BLOCK_DEPTH wide, and that divides THREADS."""

B_STEP = THREADS // BLOCK_COLUMNS
"""Rows of a tile of ``b`` that all threads fetch at once; BLOCK_COLUMNS divides THREADS."""

A_LOADS = BLOCK_ROWS * BLOCK_DEPTH // THREADS
"""Elements of a tile of ``a`` that a thread fetches."""

B_LOADS = BLOCK_DEPTH * BLOCK_COLUMNS // THREADS
"""Elements of a tile of ``b`` that a thread fetches."""

WIDTH = 4
"""``register_blocked_wide``: neighbours that a thread owns, the floats of a 16-byte word."""

TWO_DEPTHS = 2 * BLOCK_DEPTH
"""``register_blocked_wide``: rows of two tiles that are used in turn."""


@cuda.jit
def naive(a: Any, b: Any, c: Any) -> None:
    """A thread an element of ``c``; block (x, y) any, grid to cover (columns, rows); no shared memory."""
    column, row = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cuda.jit
def tiled(a: Any, b: Any, c: Any) -> None:
    """A block a tile of ``c``; block (TILE, TILE); 2 KiB of shared memory at TILE = 16."""
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + y
    column = cuda.blockIdx.x * TILE + x
    total = float32(0)
    for start in range(0, a.shape[1], TILE):
        if row < a.shape[0] and start + x < a.shape[1]:
            a_tile[y, x] = a[row, start + x]
        else:
            a_tile[y, x] = float32(0)
        if start + y < b.shape[0] and column < b.shape[1]:
            b_tile[y, x] = b[start + y, column]
        else:
            b_tile[y, x] = float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@cuda.jit
def register_blocked(a: Any, b: Any, c: Any) -> None:
    """A block BLOCK_ROWS x BLOCK_COLUMNS of ``c``; block (THREADS,); 8.1 KiB of shared memory at 128 x 128 x 8.

    A thread owns every DOWN-th row and every ACROSS-th column of its block, so that neighbours read and write
    neighbours. Unsigned indices are not checked for Python's negative ones.
    """
    a_tile = cuda.shared.array((BLOCK_DEPTH, PADDED_ROWS), float32)
    b_tile = cuda.shared.array((BLOCK_DEPTH, BLOCK_COLUMNS), float32)
    total = cuda.local.array((THREAD_ROWS, THREAD_COLUMNS), float32)
    a_part = cuda.local.array(THREAD_ROWS, float32)
    b_part = cuda.local.array(THREAD_COLUMNS, float32)
    t = uint32(cuda.threadIdx.x)
    x = t % ACROSS
    y = t // ACROSS
    first_row = uint32(cuda.blockIdx.y) * BLOCK_ROWS
    first_column = uint32(cuda.blockIdx.x) * BLOCK_COLUMNS
    a_row = t // BLOCK_DEPTH
    a_depth = t % BLOCK_DEPTH
    b_depth = t // BLOCK_COLUMNS
    b_column = t % BLOCK_COLUMNS
    for i in range(THREAD_ROWS):
        for j in range(THREAD_COLUMNS):
            total[i, j] = float32(0)
    for begin in range(0, a.shape[1], BLOCK_DEPTH):
        start = uint32(begin)
        for load in range(A_LOADS):
            row = a_row + load * A_STEP
            value = float32(0)
            if first_row + row < a.shape[0] and start + a_depth < a.shape[1]:
                value = a[first_row + row, start + a_depth]
            a_tile[a_depth, row] = value
        for load in range(B_LOADS):
            depth = b_depth + load * B_STEP
            value = float32(0)
            if start + depth < b.shape[0] and first_column + b_column < b.shape[1]:
                value = b[start + depth, first_column + b_column]
            b_tile[depth, b_column] = value
        cuda.syncthreads()
        for at in range(BLOCK_DEPTH):
            k = uint32(at)
            for i in range(THREAD_ROWS):
                a_part[i] = a_tile[k, y + i * DOWN]
            for j in range(THREAD_COLUMNS):
                b_part[j] = b_tile[k, x + j * ACROSS]
            for i in range(THREAD_ROWS):
                for j in range(THREAD_COLUMNS):
                    total[i, j] += a_part[i] * b_part[j]
        cuda.syncthreads()
    for i in range(THREAD_ROWS):
        for j in range(THREAD_COLUMNS):
            row = first_row + y + i * DOWN
            column = first_column + x + j * ACROSS
            if row < c.shape[0] and column < c.shape[1]:
                c[row, column] = total[i, j]


@cuda.jit
def register_blocked_wide(a: Any, b: Any, c: Any) -> None:
    """As ``register_blocked``, with two tiles in turn and 16-byte reads; 16.3 KiB of shared memory at 128 x 128 x 8.

    A thread owns groups of WIDTH neighbours, down and across, so that it can read a group by one instruction.
    """
    a_tile = cuda.shared.array((TWO_DEPTHS, PADDED_ROWS), float32, alignment=16)
    b_tile = cuda.shared.array((TWO_DEPTHS, BLOCK_COLUMNS), float32, alignment=16)
    total = cuda.local.array((THREAD_ROWS, THREAD_COLUMNS), float32)
    a_part = cuda.local.array(THREAD_ROWS, float32)
    b_part = cuda.local.array(THREAD_COLUMNS, float32)
    a_next = cuda.local.array(A_LOADS, float32)
    b_next = cuda.local.array(B_LOADS, float32)
    t = uint32(cuda.threadIdx.x)
    x = t % ACROSS * WIDTH
    y = t // ACROSS * WIDTH
    first_row = uint32(cuda.blockIdx.y) * BLOCK_ROWS
    first_column = uint32(cuda.blockIdx.x) * BLOCK_COLUMNS
    a_row = t // BLOCK_DEPTH
    a_depth = t % BLOCK_DEPTH
    b_depth = t // BLOCK_COLUMNS
    b_column = t % BLOCK_COLUMNS
    for i in range(THREAD_ROWS):
        for j in range(THREAD_COLUMNS):
            total[i, j] = float32(0)
    steps = (a.shape[1] + BLOCK_DEPTH - 1) // BLOCK_DEPTH
    for step in range(steps + 1):
        start = uint32(step) * BLOCK_DEPTH
        if step < steps:  # the next tile sets out
            for load in range(A_LOADS):
                row = first_row + a_row + load * A_STEP
                a_next[load] = float32(0)
                if row < a.shape[0] and start + a_depth < a.shape[1]:
                    a_next[load] = a[row, start + a_depth]
            for load in range(B_LOADS):
                depth = start + b_depth + load * B_STEP
                b_next[load] = float32(0)
                if depth < b.shape[0] and first_column + b_column < b.shape[1]:
                    b_next[load] = b[depth, first_column + b_column]
        if step > 0:  # the one before it is used meanwhile
            base = uint32((step - 1) & 1) * BLOCK_DEPTH
            for at in range(BLOCK_DEPTH):
                k = base + uint32(at)
                for group in range(0, THREAD_ROWS, WIDTH):
                    for i in range(WIDTH):
                        a_part[group + i] = a_tile[k, group * DOWN + y + i]
                for group in range(0, THREAD_COLUMNS, WIDTH):
                    for j in range(WIDTH):
                        b_part[group + j] = b_tile[k, group * ACROSS + x + j]
                for i in range(THREAD_ROWS):
                    for j in range(THREAD_COLUMNS):
                        total[i, j] += a_part[i] * b_part[j]
        if step < steps:
            base = uint32(step & 1) * BLOCK_DEPTH
            for load in range(A_LOADS):
                a_tile[base + a_depth, a_row + load * A_STEP] = a_next[load]
            for load in range(B_LOADS):
                b_tile[base + b_depth + load * B_STEP, b_column] = b_next[load]
        cuda.syncthreads()
    for i in range(THREAD_ROWS):
        for j in range(THREAD_COLUMNS):
            row = first_row + i // WIDTH * WIDTH * DOWN + y + i % WIDTH
            column = first_column + j // WIDTH * WIDTH * ACROSS + x + j % WIDTH
            if row < c.shape[0] and column < c.shape[1]:
                c[row, column] = total[i, j]


_PLANE = types.Array(float32, 2, "C")

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "naive": (_PLANE, _PLANE, _PLANE),
    "tiled": (_PLANE, _PLANE, _PLANE),
    "register_blocked": (_PLANE, _PLANE, _PLANE),
    "register_blocked_wide": (_PLANE, _PLANE, _PLANE),
}
"""The argument types of each kernel, for compiling without a card."""
