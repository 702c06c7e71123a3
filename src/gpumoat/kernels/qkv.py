"""The projection of tokens to queries, keys and values: one matrix product that writes three arrays.

Arrays, all float32, in row order: ``x`` is (tokens, hidden); ``w`` is (hidden, (a + 2 g) d), the columns of the a
heads' queries first, then those of the g heads' keys, then those of their values; ``q`` is (a, tokens, d), ``k`` and
``v`` are (g, tokens, d), ready for attention. With g = a this is GPT-3's layer, with g < a it is one whose heads share
keys and values.

Promises: the portable subset of numba.cuda; any sizes: what lies past an edge counts as zero and is not written. Left
out: biases, the rotation of positions, and everything that makes a product fast beyond tiles: see
``gpumoat.kernels.matmul``.
"""

from typing import Any

from numba import cuda, float32, types

TILE = 16
"""Edge of a tile. Block (TILE, TILE), grid (columns of w / TILE, tokens / TILE) rounded up."""


@cuda.jit
def project(x: Any, w: Any, q: Any, k: Any, v: Any) -> None:
    """A thread an element of ``q``, ``k`` or ``v``; block (TILE, TILE); 2 KiB of shared memory at TILE = 16."""
    x_tile = cuda.shared.array((TILE, TILE), float32)
    w_tile = cuda.shared.array((TILE, TILE), float32)
    across = cuda.threadIdx.x
    down = cuda.threadIdx.y
    token = cuda.blockIdx.y * TILE + down
    column = cuda.blockIdx.x * TILE + across
    total = float32(0)
    for start in range(0, x.shape[1], TILE):
        x_tile[down, across] = float32(0)
        if token < x.shape[0] and start + across < x.shape[1]:
            x_tile[down, across] = x[token, start + across]
        w_tile[down, across] = float32(0)
        if start + down < w.shape[0] and column < w.shape[1]:
            w_tile[down, across] = w[start + down, column]
        cuda.syncthreads()
        for h in range(TILE):
            total += x_tile[down, h] * w_tile[h, across]
        cuda.syncthreads()
    if token < x.shape[0] and column < w.shape[1]:
        head = column // q.shape[2]
        element = column % q.shape[2]
        if head < q.shape[0]:
            q[head, token, element] = total
        elif head < q.shape[0] + k.shape[0]:
            k[head - q.shape[0], token, element] = total
        else:
            v[head - q.shape[0] - k.shape[0], token, element] = total


_PLANE = types.Array(float32, 2, "C")
_SPACE = types.Array(float32, 3, "C")

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "project": (_PLANE, _PLANE, _SPACE, _SPACE, _SPACE),
}
"""The argument types of each kernel, for compiling without a card."""
