"""Kernels for the tests of the engine: numba.cuda source, never imported, only read."""

import math

import numpy as np
from numba import cuda, float16, float32, float64, int32, int64, uint8, uint32

TILE = 4
WIDE = TILE * 8
WEIGHTS = np.array([0.25, 0.5, 0.25], dtype=np.float32)
SCALE = np.float32(0.1)


@cuda.jit
def indices(out):
    x, y, z = cuda.grid(3)
    sx, sy, sz = cuda.gridsize(3)
    out[z, y, x, 0] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
    out[z, y, x, 1] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
    out[z, y, x, 2] = cuda.blockDim.x + 10 * cuda.blockDim.y + 100 * cuda.blockDim.z
    out[z, y, x, 3] = cuda.gridDim.x + 10 * cuda.gridDim.y + 100 * cuda.gridDim.z
    out[z, y, x, 4] = sx + 10 * sy + 100 * sz
    out[z, y, x, 5] = cuda.laneid + 100 * cuda.warpsize


@cuda.jit
def dynamic(a, out):
    whole = cuda.shared.array(0, float32)
    bits = cuda.shared.array(0, uint8)
    t = cuda.threadIdx.x
    whole[t] = a[t]
    cuda.syncthreads()
    out[t] = bits[4 * t + 3]


@cuda.jit
def leftovers(out):
    s = cuda.shared.array(4, int32)
    if cuda.blockIdx.x == 0:
        s[cuda.threadIdx.x] = 7
    out[cuda.grid(1)] = s[cuda.threadIdx.x]


@cuda.jit
def local_and_constant(a, out):
    t = cuda.grid(1)
    window = cuda.local.array(3, float32)
    weights = cuda.const.array_like(WEIGHTS)
    for k in range(3):
        window[k] = a[t + k]
    total = float32(0)
    for k in range(3):
        total += window[k] * weights[k] * WEIGHTS[k] * SCALE
    out[t] = total


@cuda.jit(device=True)
def warp_sum(value):
    d = 16
    while d > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, d)
        d //= 2
    return value


@cuda.jit(device=True)
def block_sum(value, part):
    t = cuda.threadIdx.x
    value = warp_sum(value)
    if t % 32 == 0:
        part[t // 32] = value
    cuda.syncthreads()
    if t < 32:
        value = part[t] if t < cuda.blockDim.x // 32 else float32(0)
        return warp_sum(value)
    return float32(0)


@cuda.jit
def sums(a, out):
    part = cuda.shared.array(32, float32)
    total = block_sum(a[cuda.grid(1)], part)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total


@cuda.jit(device=True)
def split(x, by=3):
    return x // by, x % by


@cuda.jit(device=True)
def fill(row, value):
    for k in range(row.shape[0]):
        row[k] = value + k


@cuda.jit
def devices(out, rest):
    t = cuda.grid(1)
    q, r = split(t)
    rest[t] = q * 10 + r + split(t, by=5)[0] * 100
    fill(out[t], t)
    own = cuda.local.array(2, int32)
    fill(own, 1000)
    rest[t] += own[1]


@cuda.jit
def warps(out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.shfl_sync(0xFFFFFFFF, t, 5)
    out[1, t] = cuda.shfl_up_sync(0xFFFFFFFF, t, 2)
    out[2, t] = cuda.shfl_down_sync(0xFFFFFFFF, t, 3)
    out[3, t] = cuda.shfl_xor_sync(0xFFFFFFFF, t, 1)
    out[4, t] = cuda.ballot_sync(0xFFFFFFFF, t % 2)
    votes = cuda.all_sync(0xFFFFFFFF, t < 32) + 2 * cuda.any_sync(0xFFFFFFFF, t == 40)
    out[5, t] = votes + 4 * cuda.eq_sync(0xFFFFFFFF, t < 40)
    out[6, t] = cuda.match_any_sync(0xFFFFFFFF, t // 16)
    mask, alike = cuda.match_all_sync(0xFFFFFFFF, t // 32)
    out[7, t] = mask + 10 * alike
    out[8, t] = cuda.lanemask_lt()
    cuda.syncwarp()
    if t % 4 == 1:
        out[9, t] = cuda.activemask()
    else:
        out[9, t] = cuda.activemask() + 1


@cuda.jit
def counting(out):
    t = cuda.threadIdx.x
    out[0, t] = cuda.syncthreads_count(t < 5)
    out[1, t] = cuda.syncthreads_and(t < 5)
    out[2, t] = cuda.syncthreads_or(t == 5)


@cuda.jit
def atomics(i, f, u, old):
    t = cuda.grid(1)
    old[t] = cuda.atomic.add(i, 0, 1)
    cuda.atomic.sub(i, 1, 2)
    cuda.atomic.max(i, 2, t)
    cuda.atomic.min(i, 3, -t)
    cuda.atomic.and_(i, 4, ~(1 << t))
    cuda.atomic.or_(i, 5, 1 << t)
    cuda.atomic.xor(i, 6, 3 << t)
    cuda.atomic.exch(i, 7, 9)
    cuda.atomic.cas(i, 8, 0, 11)
    cuda.atomic.add(f, (0, 1), 0.5)
    cuda.atomic.nanmax(f, (1, 0), float(t))
    cuda.atomic.inc(u, 0, 5)
    cuda.atomic.dec(u, 1, 5)
    cuda.atomic.add(u, 2, 2147483648)


@cuda.jit
def bits(a, out):
    t = cuda.grid(1)
    out[t, 0] = cuda.popc(a[t])
    out[t, 1] = cuda.brev(a[t])
    out[t, 2] = cuda.clz(a[t])
    out[t, 3] = cuda.ffs(a[t])
    out[t, 4] = cuda.selp(t > 1, 5, 6)


@cuda.jit
def halves(a, out):
    t = cuda.grid(1)
    x = a[t]
    out[t, 0] = cuda.fp16.hadd(x, float16(0.1))
    out[t, 1] = cuda.fp16.hmul(x, x)
    out[t, 2] = cuda.fp16.hfloor(x)
    out[t, 3] = cuda.fp16.hceil(x)
    out[t, 4] = cuda.fp16.hdiv(x, float16(3))
    out[t, 5] = cuda.fp16.hfma(x, x, x)
    out[t, 6] = cuda.fp16.hmax(x, float16(1))
    out[t, 7] = 1 if cuda.fp16.hgt(x, float16(1)) else 0
    out[t, 8] = x + x * x


@cuda.jit
def mathematics(a, out):
    t = cuda.grid(1)
    out[t, 0] = cuda.fma(a[t], a[t], a[t])
    out[t, 1] = cuda.cbrt(a[t])
    out[t, 2] = math.exp(a[t])
    out[t, 3] = min(a[t], float64(1)) + max(a[t], 2.0)
    out[t, 4] = a[t] / 0.0
    out[t, 5] = math.sqrt(-abs(a[t]) - 1)


@cuda.jit
def outside(a, b):
    t = cuda.grid(1)
    b[t] = a[t + 1] + a[t - 1]


@cuda.jit
def outside_rows(a, b):
    t = cuda.grid(1)
    b[t] = a[0, t]


@cuda.jit
def early_return(a, out, n):
    t = cuda.grid(1)
    s = cuda.shared.array(64, int32)
    if t >= n:
        return
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[n - 1 - t]


@cuda.jit
def barrier_in_branch(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
        out[t] = 1


@cuda.jit
def two_barriers(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    out[t] = 1


@cuda.jit
def uneven_loop(out):
    t = cuda.threadIdx.x
    for _ in range(1 + t // 32):
        cuda.syncthreads()
        out[t] += 1


@cuda.jit(device=True)
def wait_inside():
    cuda.syncthreads()


@cuda.jit
def return_in_loop(out):
    t = cuda.threadIdx.x
    k = 0
    while True:
        wait_inside()
        k += 1
        if k > t // 32:
            return
        out[t] = k


@cuda.jit
def barrier_in_device_branch(out):
    t = cuda.threadIdx.x
    if t < 16:
        wait_inside()
    out[t] = 1


@cuda.jit
def absent_lanes(out):
    t = cuda.threadIdx.x
    if t < 8:
        out[t] = cuda.shfl_down_sync(0xFFFFFFFF, t, 1)
    else:
        cuda.syncthreads()


@cuda.jit
def exited_lanes(out):
    t = cuda.threadIdx.x
    if t >= 8:
        return
    out[t] = cuda.ballot_sync(0xFFFFFFFF, 1)
    out[t] += cuda.shfl_down_sync(0xFFFFFFFF, t, 1)


@cuda.jit
def half_warps(out):
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.shfl_xor_sync(0xFFFF, t, 1)
        cuda.syncwarp(0xFFFF)
    else:
        out[t] = cuda.shfl_xor_sync(0xFFFF0000, t, 1)


@cuda.jit
def race(out):
    cuda.threadfence()
    out[0] = cuda.grid(1)


@cuda.jit
def rows(a, out):
    t = cuda.grid(1)
    row = a[t]
    _, w = a.shape
    out[t] = row[0] + a[t][1] + len(a) * 100 + a.size * 1000 + a.ndim * 10**5 + w * 10**6 + row.shape[0] * 10**7


@cuda.jit
def swapped(out):
    t = cuda.grid(1)
    pair = (t, 2.5)
    x, y = pair
    x, y = y, x
    out[t] = x * 10 + y + pair[1] + (1, 2, 3)[t % 3] * 100


@cuda.jit
def typed_scalar(a, f, i, out):
    out[0] = f + a[0]
    out[1] = (f + float32(0.3)) * 1
    out[2] = i * 1000000007 * 1000000007 * 1000000007


@cuda.jit
def unset(out, n):
    if n > 5:
        x = 1
    out[0] = x


@cuda.jit
def hashed(out):
    t = cuda.grid(1)
    h = uint32(t)
    h = uint32(h * uint32(2654435761))
    h ^= h >> uint32(16)
    out[t] = uint32(h)
    out[t] += int64(WIDE)


@cuda.jit
def guarded(a, out):
    t = cuda.grid(1)
    n, m = a.shape
    out[t] = a[t // 4 + 1, t % 4 + 1] if t // 4 + 1 < n and t % 4 + 1 < m else -1
    if t > 0 and a[(t - 1) // 4, (t - 1) % 4] < a[t // 4, t % 4] < 100:
        out[t] += 1000 * (a[t // 4, t % 4] > 0 or a[t + 100, t + 100] > 0)


@cuda.jit
def extremes(a, out):
    out[0] = a[0] * float32(1e30) * float32(1e30)
    out[1] = round(a[1])
    out[2] = int(a[0] * 1e300 * 1e300)
    out[3] = math.log(a[2]) + math.fmod(a[1], a[2])
    out[4] = a[1] ** -2 + a[2] ** -1
    out[5] = 7 // int(a[2]) + 7 % int(a[2])


@cuda.jit
def shared_halves(a, out):
    s = cuda.shared.array(4, float16)
    own = cuda.local.array(2, float16)
    t = cuda.threadIdx.x
    s[t] = a[t] * 3
    own[0] = 0.1
    cuda.syncthreads()
    out[t] = s[3 - t] + own[0]
