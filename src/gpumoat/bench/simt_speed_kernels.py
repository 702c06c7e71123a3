"""The four kernels by which the simulator's speed is measured: plain numba.cuda source, for both engines."""

from numba import cuda, float32, int32


@cuda.jit
def difference(a, b):  # type: ignore[no-untyped-def]
    """Subtract each element's right neighbour from it, one element a thread."""
    i = cuda.grid(1)
    if i < b.size:
        b[i] = int32(a[i]) - int32(a[i + 1])


@cuda.jit
def stencil(a, out):  # type: ignore[no-untyped-def]
    """Average 3 x 3 elements from an 18 x 18 tile in shared memory, with its halo."""
    tile = cuda.shared.array((18, 18), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * 16 + tx
    y = cuda.blockIdx.y * 16 + ty
    k = ty * 16 + tx
    while k < 324:
        row = cuda.blockIdx.y * 16 + k // 18 - 1
        column = cuda.blockIdx.x * 16 + k % 18 - 1
        if row >= 0 and row < a.shape[0] and column >= 0 and column < a.shape[1]:
            tile[k // 18, k % 18] = a[row, column]
        else:
            tile[k // 18, k % 18] = float32(0.0)
        k += 256
    cuda.syncthreads()
    total = float32(0.0)
    for i in range(3):
        for j in range(3):
            total += tile[ty + i, tx + j]
    out[y, x] = total / float32(9.0)


@cuda.jit
def product(a, b, c):  # type: ignore[no-untyped-def]
    """Multiply two matrices by tiles of 16 x 16 in shared memory."""
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * 16 + tx
    y = cuda.blockIdx.y * 16 + ty
    total = float32(0.0)
    for t in range(a.shape[1] // 16):
        left[ty, tx] = a[y, t * 16 + tx]
        right[ty, tx] = b[t * 16 + ty, x]
        cuda.syncthreads()
        for k in range(16):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def reduction(a, sums):  # type: ignore[no-untyped-def]
    """Add up 256 elements a block in shared memory."""
    part = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]
