"""A matrix product in Triton: a language that is not NVIDIA's, and that reaches the tensor cores.

One kernel, as one would write it down: square matrices of BF16 whose edge the tiles divide. Its tile shapes are tried
one after the other. It stands between our numba kernels, which cannot reach the tensor cores, and the library.

Promises: the lines counted are the kernel's. Left out: edges, the order of the blocks, and everything else that is
known to help.
"""

from typing import Any

import triton
import triton.language as tl

# block rows, block columns, block depth, warps, stages
SHAPES = ((128, 128, 64, 4, 3), (128, 128, 64, 8, 4), (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3))


# Triton looks up every name in the header, so the arguments have no types for a checker.
@triton.jit  # type: ignore[untyped-decorator,unused-ignore]
def product(a, b, c, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """A program makes a tile of ``c``."""
    row = (tl.program_id(1) * ROWS + tl.arange(0, ROWS))[:, None]
    column = (tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, n, DEPTH):
        a_tile = tl.load(a + row * n + (start + depth)[None, :])
        b_tile = tl.load(b + (start + depth)[:, None] * n + column)
        total = tl.dot(a_tile, b_tile, total)
    tl.store(c + row * n + column, total.to(tl.bfloat16))


def launch(a: Any, b: Any, c: Any, shape: tuple[int, int, int, int, int]) -> None:
    """Multiply by one tile shape."""
    n = c.shape[0]
    rows, columns, depth, warps, stages = shape
    product[(n // columns, n // rows)](a, b, c, n, rows, columns, depth, num_warps=warps, num_stages=stages)
