"""Sums and counts with one planted fault each: bugs that do not crash.

Each compiles, runs, and may give the right answer for years. The arrays and launches are those of
``gpumoat.kernels.reduction``, and for ``histogram_without_atomic``: ``x`` (n,) of int32 in 0 … bins - 1, ``bins``
(any,) of int32.

Promises: each kernel differs from a right one by what its docstring names, and by nothing else. Left out: how to mend
them, which is the right kernel beside them.
"""

from typing import Any

from numba import cuda, float32, int32, types

THREADS = 64
"""Threads of a block: a power of two, and two warps, so that no fault hides within one."""


@cuda.jit
def missing_barrier(x: Any, out: Any) -> None:
    """The barrier between filling shared memory and the first addition is missing."""
    shared = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    shared[t] = total
    half = THREADS // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = shared[0]


@cuda.jit
def barrier_in_branch(x: Any, out: Any) -> None:
    """The barrier of each step stands within the branch that only the adding threads take."""
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
def sum_without_atomic(x: Any, out: Any) -> None:
    """All blocks add to ``out[0]`` by reading and writing it, not by an atomic addition."""
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
        out[0] += shared[0]


@cuda.jit
def histogram_without_atomic(x: Any, bins: Any) -> None:
    """All threads add to the bins by reading and writing them, not by atomic additions."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        bins[x[i]] += int32(1)


_LINE = types.Array(float32, 1, "C")
_WHOLE = types.Array(int32, 1, "C")

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "missing_barrier": (_LINE, _LINE),
    "barrier_in_branch": (_LINE, _LINE),
    "sum_without_atomic": (_LINE, _LINE),
    "histogram_without_atomic": (_WHOLE, _WHOLE),
}
"""The argument types of each kernel, for compiling without a card."""
