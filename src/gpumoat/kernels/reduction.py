"""The sum of an array, a partial sum a block: by shared memory, and by shuffles within a warp.

Arrays: ``x`` is (n,), ``out`` is (blocks,), both float32; the partial sums of ``out`` are the caller's to add. Block
(THREADS,), any grid: a thread adds every (blocks x THREADS)-th element first, so that neighbours read neighbours.

Promises: the portable subset of numba.cuda for ``shared_sum``. ``shuffle_sum`` uses a warp intrinsic, which numba's own
simulator does not have. Left out: the order of the sum is not the order of the array, so the last bits of the result
differ from a plain loop's; and sums of sums, which a second launch does.
"""

from typing import Any

from numba import cuda, float32, types

THREADS = 256
"""Threads of a block: a power of two, and a multiple of a warp for ``shuffle_sum``."""

WARP = 32
"""Threads of a warp."""

WARPS = THREADS // WARP
"""Warps of a block."""


@cuda.jit
def shared_sum(x: Any, out: Any) -> None:
    """Halves the threads that add, with a barrier a step; 1 KiB of shared memory."""
    shared = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    shared[t] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = shared[0]


@cuda.jit
def shuffle_sum(x: Any, out: Any) -> None:
    """Adds within each warp by shuffles, then the warps' sums; one barrier, 32 bytes of shared memory."""
    shared = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    half = WARP // 2
    while half > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, half)
        half //= 2
    if t % WARP == 0:
        shared[t // WARP] = total
    cuda.syncthreads()
    if t == 0:
        whole = float32(0)
        for warp in range(WARPS):
            whole += shared[warp]
        out[cuda.blockIdx.x] = whole


_LINE = types.Array(float32, 1, "C")

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "shared_sum": (_LINE, _LINE),
    "shuffle_sum": (_LINE, _LINE),
}
"""The argument types of each kernel, for compiling without a card."""
