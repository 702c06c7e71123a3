"""Causal attention, out = softmax(q k' / sqrt(d)) v, as three kernels and as one.

Arrays: ``q``, ``k``, ``v`` and ``out`` are (heads, tokens, HEAD_DIM), all float32, in row order; a batch is more heads.
A token looks at itself and at those before it. ``scale`` is 1 / sqrt(HEAD_DIM), float32.

* ``scores``, ``softmax``, ``values``: one after the other, with the (heads, tokens, tokens) table of similarities in
  global memory between them. Written as one would write them down.
* ``fused``: a block takes QUERIES tokens of one head and goes through their keys KEYS at a time. It keeps the
  largest similarity and the sum of exponentials of each row so far, and corrects both, and what it has added up,
  whenever a larger one comes (the online softmax of Milakov and Gimelshein, arXiv:1805.02867, as FlashAttention uses
  it, arXiv:2205.14135). The table of similarities is never written down.

Promises: the portable subset of numba.cuda, any number of tokens. The sizes are names of this module, which the
compiler takes as constants: set them before a kernel is compiled. Left out: tensor cores, which numba does not reach,
16-bit numbers, heads that share keys, and dropout.
"""

import math
from typing import Any

from numba import cuda, float32, types, uint32

SOFTMAX_THREADS = 128
"""``softmax``: threads of a block, a power of two. Grid (tokens, heads)."""

HEAD_DIM = 128
"""``fused``: elements of a query, a key and a value."""

QUERIES = 64
"""``fused``: queries of a block. Grid (tokens / QUERIES rounded up, heads)."""

KEYS = 64
"""``fused``: keys that a block takes at a time."""

CHUNK = 16
"""``fused``: elements of queries and keys, and then rows of values, that are in shared memory at a time."""

THREAD_QUERIES = 8
"""``fused``: queries of a thread."""

THREAD_KEYS = 4
"""``fused``: keys of a thread, every ACROSS-th."""

ACROSS = KEYS // THREAD_KEYS
"""``fused``: threads that share a query."""

DOWN = QUERIES // THREAD_QUERIES
"""``fused``: threads that share a key."""

THREADS = ACROSS * DOWN
"""``fused``: threads of a block, along x. CHUNK and HEAD_DIM divide it, or it divides HEAD_DIM."""

THREAD_DIMS = HEAD_DIM // ACROSS
"""``fused``: elements of the result of a query that a thread adds up, every ACROSS-th."""

PADDED_QUERIES = QUERIES + 1
"""A row of a tile that is written transposed: one longer, so that neighbours fall in different banks."""

PADDED_KEYS = KEYS + 1
"""As ``PADDED_QUERIES``, for keys."""

PADDED_ACROSS = ACROSS + 1
"""As ``PADDED_QUERIES``, for the partial results of a row."""

LOWEST = -3.0e38
"""Stands for minus infinity: no similarity is below it, and its difference from itself is a number."""


@cuda.jit
def scores(q: Any, k: Any, table: Any, scale: Any) -> None:
    """A thread a similarity; block (x, y) any, grid to cover (keys, queries), heads along z; no shared memory."""
    j, i, head = cuda.grid(3)
    if i < table.shape[1] and j < table.shape[2]:
        total = float32(LOWEST)
        if j <= i:
            total = float32(0)
            for x in range(q.shape[2]):
                total += q[head, i, x] * k[head, j, x]
            total *= scale
        table[head, i, j] = total


@cuda.jit
def softmax(table: Any) -> None:
    """A block a row, in place; block (SOFTMAX_THREADS,), grid (tokens, heads); 512 bytes of shared memory."""
    shared = cuda.shared.array(SOFTMAX_THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x
    head = cuda.blockIdx.y
    largest = float32(LOWEST)
    for j in range(t, i + 1, SOFTMAX_THREADS):
        largest = max(largest, table[head, i, j])
    shared[t] = largest
    cuda.syncthreads()
    half = SOFTMAX_THREADS // 2
    while half > 0:
        if t < half:
            shared[t] = max(shared[t], shared[t + half])
        cuda.syncthreads()
        half //= 2
    largest = shared[0]
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, i + 1, SOFTMAX_THREADS):
        total += math.exp(table[head, i, j] - largest)
    shared[t] = total
    cuda.syncthreads()
    half = SOFTMAX_THREADS // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2
    for j in range(t, table.shape[2], SOFTMAX_THREADS):
        share = float32(0)
        if j <= i:
            share = math.exp(table[head, i, j] - largest) / shared[0]
        table[head, i, j] = share


@cuda.jit
def values(table: Any, v: Any, out: Any) -> None:
    """A thread an element of the result; block (x, y) any, grid to cover (HEAD_DIM, tokens), heads along z."""
    x, i, head = cuda.grid(3)
    if i < out.shape[1] and x < out.shape[2]:
        total = float32(0)
        for j in range(i + 1):
            total += table[head, i, j] * v[head, j, x]
        out[head, i, x] = total


@cuda.jit
def fused(q: Any, k: Any, v: Any, out: Any, scale: Any) -> None:
    """A block QUERIES tokens of a head; block (THREADS,), grid (tokens / QUERIES, heads); 37 KiB of shared memory.

    A thread has the similarities of THREAD_QUERIES x THREAD_KEYS pairs and adds up THREAD_QUERIES x THREAD_DIMS
    results, all in registers. The blocks with most keys begin first.
    """
    q_tile = cuda.shared.array((CHUNK, PADDED_QUERIES), float32)
    k_tile = cuda.shared.array((CHUNK, PADDED_KEYS), float32)
    v_tile = cuda.shared.array((CHUNK, HEAD_DIM), float32)
    weight = cuda.shared.array((KEYS, PADDED_QUERIES), float32)
    partial = cuda.shared.array((QUERIES, PADDED_ACROSS), float32)
    total = cuda.local.array((THREAD_QUERIES, THREAD_DIMS), float32)
    similarity = cuda.local.array((THREAD_QUERIES, THREAD_KEYS), float32)
    largest = cuda.local.array(THREAD_QUERIES, float32)
    divisor = cuda.local.array(THREAD_QUERIES, float32)
    down_part = cuda.local.array(THREAD_QUERIES, float32)
    key_part = cuda.local.array(THREAD_KEYS, float32)
    dim_part = cuda.local.array(THREAD_DIMS, float32)
    t = uint32(cuda.threadIdx.x)
    x = t % ACROSS
    y = t // ACROSS
    head = uint32(cuda.blockIdx.y)
    tokens = q.shape[1]
    first = uint32(cuda.gridDim.x - 1 - cuda.blockIdx.x) * QUERIES
    for i in range(THREAD_QUERIES):
        largest[i] = float32(LOWEST)
        divisor[i] = float32(0)
        for j in range(THREAD_DIMS):
            total[i, j] = float32(0)
    for begin in range(0, min(first + QUERIES, tokens), KEYS):
        start = uint32(begin)
        # Similarities of this block's queries with KEYS keys.
        for i in range(THREAD_QUERIES):
            for j in range(THREAD_KEYS):
                similarity[i, j] = float32(0)
        for chunk in range(0, HEAD_DIM, CHUNK):
            element = t % CHUNK + uint32(chunk)
            for row in range(0, QUERIES, THREADS // CHUNK):
                query = t // CHUNK + uint32(row)
                value = float32(0)
                if first + query < tokens:
                    value = q[head, first + query, element]
                q_tile[t % CHUNK, query] = value
            for row in range(0, KEYS, THREADS // CHUNK):
                key = t // CHUNK + uint32(row)
                value = float32(0)
                if start + key < tokens:
                    value = k[head, start + key, element]
                k_tile[t % CHUNK, key] = value
            cuda.syncthreads()
            for at in range(CHUNK):
                e = uint32(at)
                for i in range(THREAD_QUERIES):
                    down_part[i] = q_tile[e, y + i * DOWN]
                for j in range(THREAD_KEYS):
                    key_part[j] = k_tile[e, x + j * ACROSS]
                for i in range(THREAD_QUERIES):
                    for j in range(THREAD_KEYS):
                        similarity[i, j] += down_part[i] * key_part[j]
            cuda.syncthreads()
        # The largest of each row, over the threads that share it.
        for i in range(THREAD_QUERIES):
            best = float32(LOWEST)
            for j in range(THREAD_KEYS):
                if start + x + j * ACROSS <= first + y + i * DOWN:
                    similarity[i, j] *= scale
                else:
                    similarity[i, j] = float32(LOWEST)
                best = max(best, similarity[i, j])
            partial[y + i * DOWN, x] = best
        cuda.syncthreads()
        for i in range(THREAD_QUERIES):
            best = largest[i]
            for other in range(ACROSS):
                best = max(best, partial[y + i * DOWN, uint32(other)])
            shrink = float32(math.exp(largest[i] - best))
            largest[i] = best
            divisor[i] *= shrink
            for j in range(THREAD_DIMS):
                total[i, j] *= shrink
            for j in range(THREAD_KEYS):
                share = float32(0)
                if start + x + j * ACROSS <= first + y + i * DOWN:
                    share = float32(math.exp(similarity[i, j] - best))
                divisor[i] += share
                weight[x + j * ACROSS, y + i * DOWN] = share
        # Their weights times the values.
        for chunk in range(0, KEYS, CHUNK):
            for row in range(0, CHUNK * HEAD_DIM, THREADS):
                place = t + uint32(row)
                key = start + uint32(chunk) + place // HEAD_DIM
                value = float32(0)
                if key < tokens:
                    value = v[head, key, place % HEAD_DIM]
                v_tile[place // HEAD_DIM, place % HEAD_DIM] = value
            cuda.syncthreads()
            for at in range(CHUNK):
                e = uint32(at)
                for i in range(THREAD_QUERIES):
                    down_part[i] = weight[uint32(chunk) + e, y + i * DOWN]
                for j in range(THREAD_DIMS):
                    dim_part[j] = v_tile[e, x + j * ACROSS]
                for i in range(THREAD_QUERIES):
                    for j in range(THREAD_DIMS):
                        total[i, j] += down_part[i] * dim_part[j]
            cuda.syncthreads()
    for i in range(THREAD_QUERIES):
        partial[y + i * DOWN, x] = divisor[i]
    cuda.syncthreads()
    for i in range(THREAD_QUERIES):
        whole = float32(0)
        for other in range(ACROSS):
            whole += partial[y + i * DOWN, uint32(other)]
        query = first + y + i * DOWN
        if query < tokens:
            for j in range(THREAD_DIMS):
                out[head, query, x + j * ACROSS] = total[i, j] / whole


_SPACE = types.Array(float32, 3, "C")

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "scores": (_SPACE, _SPACE, _SPACE, float32),
    "softmax": (_SPACE,),
    "values": (_SPACE, _SPACE, _SPACE),
    "fused": (_SPACE, _SPACE, _SPACE, _SPACE, float32),
}
"""The argument types of each kernel, for compiling without a card."""
