"""The image difference on a card: every partition timed, and two yardsticks beside them.

For each launch of ``gpumoat.bench.image_variants``: all results compared with NumPy's, then the median of many times by
events. The yardsticks move bytes and do nothing else: a device-to-device copy of as many bytes in all (as many read as
written), and a hand-written CUDA C++ kernel that reads a byte and writes two for each pixel, as the image difference
must, with the 16-byte loads and stores that numba does not have.

Run it on a machine with a card, numba-cuda, CuPy and NumPy:

    PYTHONPATH=src python -m gpumoat.bench.image h200-image.json

With ``--counters`` each launch is made once and nothing is timed or compared: for a profiler.

Promises: each result right before it is timed; results poisoned before each check. Left out: the copies to the card and
back (``gpumoat.bench.transfers``).
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpumoat.bench.card import event_times_s, numba_cuda, run_file
from gpumoat.bench.image_variants import WORD_PIXELS, Variant, variants
from gpumoat.partition import ceil_div

PIXELS = 600_000_000  # the lecture's picture
POISON = 0x7777  # no difference of two bytes
REPEATS = 41
LONG_S = 0.005  # a launch that takes longer is repeated less often
SEED = 1

YARDSTICKS = r"""
extern "C" __global__ void copy16(const uint4* __restrict__ a, uint4* __restrict__ b, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i];
}
// A byte read and two written for each pixel, with 8-byte loads and 16-byte stores; no neighbour, no arithmetic.
__device__ __forceinline__ uint4 wide(uint2 w) {
    return make_uint4(__byte_perm(w.x, 0, 0x4140), __byte_perm(w.x, 0, 0x4342),
                      __byte_perm(w.y, 0, 0x4140), __byte_perm(w.y, 0, 0x4342));
}
extern "C" __global__ void widen16(const uint2* __restrict__ a, uint4* __restrict__ b, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) b[i] = wide(a[i]);
}
extern "C" __global__ void widen16x4(const uint2* __restrict__ a, uint4* __restrict__ b, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x * 4 + threadIdx.x;
    uint2 w[4];
    for (int k = 0; k < 4; k++) if (i + k * blockDim.x < n) w[k] = a[i + k * blockDim.x];
    for (int k = 0; k < 4; k++) if (i + k * blockDim.x < n) b[i + k * blockDim.x] = wide(w[k]);
}
// The image difference in CUDA C++: 8-byte loads, 16-byte stores, both coalesced.
__device__ __forceinline__ unsigned two(int x, int y, int z) { return ((x - y) & 0xFFFF) | ((y - z) << 16); }
extern "C" __global__ void difference16(const unsigned char* __restrict__ p, const uint2* __restrict__ a,
                                        uint4* __restrict__ b, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) {
        uint2 w = a[i];
        int x[9];
        for (int k = 0; k < 4; k++) { x[k] = (w.x >> (8 * k)) & 255; x[4 + k] = (w.y >> (8 * k)) & 255; }
        x[8] = p[8 * i + 8];
        b[i] = make_uint4(two(x[0], x[1], x[2]), two(x[2], x[3], x[4]), two(x[4], x[5], x[6]), two(x[6], x[7], x[8]));
    }
}
extern "C" __global__ void difference16x2(const unsigned char* __restrict__ p, const uint2* __restrict__ a,
                                          uint4* __restrict__ b, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x * 2 + threadIdx.x, j = i + blockDim.x;
    if (j < n) {
        uint2 w = a[i], v = a[j];
        int x[9], y[9];
        x[8] = p[8 * i + 8]; y[8] = p[8 * j + 8];
        for (int k = 0; k < 4; k++) { x[k] = (w.x >> (8 * k)) & 255; x[4 + k] = (w.y >> (8 * k)) & 255; }
        for (int k = 0; k < 4; k++) { y[k] = (v.x >> (8 * k)) & 255; y[4 + k] = (v.y >> (8 * k)) & 255; }
        b[i] = make_uint4(two(x[0], x[1], x[2]), two(x[2], x[3], x[4]), two(x[4], x[5], x[6]), two(x[6], x[7], x[8]));
        b[j] = make_uint4(two(y[0], y[1], y[2]), two(y[2], y[3], y[4]), two(y[4], y[5], y[6]), two(y[6], y[7], y[8]));
    } else if (i < n) {
        uint2 w = a[i];
        int x[9];
        for (int k = 0; k < 4; k++) { x[k] = (w.x >> (8 * k)) & 255; x[4 + k] = (w.y >> (8 * k)) & 255; }
        x[8] = p[8 * i + 8];
        b[i] = make_uint4(two(x[0], x[1], x[2]), two(x[2], x[3], x[4]), two(x[4], x[5], x[6]), two(x[6], x[7], x[8]));
    }
}
"""


class Picture:
    """The picture and the place for its results on the card, in all views, and NumPy's results to compare with."""

    def __init__(self, cupy: Any, cuda: Any, pixels: int) -> None:
        import numpy

        self.cupy, self.count = cupy, pixels
        picture = numpy.random.default_rng(SEED).integers(0, 256, pixels, dtype=numpy.uint8)
        self.host = numpy.append(picture, picture[-1:])
        right = numpy.subtract(self.host[:-1], self.host[1:], dtype=numpy.int16)
        self.pixels, self.right = cupy.asarray(self.host), cupy.asarray(right)
        self.differences = cupy.empty(pixels, cupy.int16)
        self.views: dict[int, tuple[Any, ...]] = {}
        narrow = (cuda.as_cuda_array(self.pixels), cuda.as_cuda_array(self.differences))
        for word_pixels, dtype in ((1, None), (4, cupy.uint32), (8, cupy.uint64)):
            if dtype is None:
                self.views[1] = narrow
                continue
            whole = pixels // word_pixels * word_pixels
            words = cuda.as_cuda_array(self.pixels[:whole].view(dtype))
            results = cuda.as_cuda_array(self.differences[:whole].view(cupy.uint64))
            self.views[word_pixels] = (*narrow, words, results)

    def launch(self, variant: Variant) -> Callable[[], object]:
        """Return a function that makes one launch."""
        from gpumoat.kernels import image

        kernel = getattr(image, variant.kernel)[variant.blocks, variant.block_threads]
        arguments = self.views[WORD_PIXELS[variant.kernel]]
        if variant.kernel == "strip":
            length = ceil_div(self.count, variant.threads)
            arguments = (*arguments, length, length)
        return lambda: kernel(*arguments)

    def check(self, launch: Callable[[], object], name: str) -> None:
        """Launch into poisoned memory and compare every result with NumPy's."""
        self.differences.fill(POISON)
        launch()
        wrong = int((self.differences != self.right).sum())
        if wrong:
            raise SystemExit(f"{name}: {wrong} of {self.count} results differ from NumPy's")


def yardsticks(picture: Picture) -> dict[str, float]:
    """Time the copies and the kernels in CUDA C++; return the median seconds of each."""
    cupy, count = picture.cupy, picture.count
    module = cupy.RawModule(code=YARDSTICKS)
    found = {}

    def timed(name: str, launch: Callable[[], object]) -> None:
        times = event_times_s(launch, REPEATS)
        found[name] = times[len(times) // 2]
        print(f"{name:40s} {found[name] * 1000:9.4f} ms", file=sys.stderr)

    pixels, results = picture.pixels[:count], picture.differences
    for total in (3 * count, 4 * count, 8 << 30):
        half = total // 2
        source, target = cupy.full(half, pixels[0], cupy.uint8), cupy.empty(half, cupy.uint8)
        timed(f"memcpy-{total}", functools.partial(target.data.copy_from_device, source.data, half))
        for threads in (256, 512, 1024) if total == 3 * count else ():
            shape = ((ceil_div(half // 16, threads),), (threads,))
            timed(
                f"copy16-{threads}",
                functools.partial(module.get_function("copy16"), *shape, (source, target, half // 16)),
            )
    timed("memset-write-only", lambda: results.data.memset(0, 2 * count))
    for threads in (128, 256, 512, 1024):
        for name, each in (("widen16", 1), ("widen16x4", 4)):
            shape = ((ceil_div(count // 8, each * threads),), (threads,))
            function = module.get_function(name)
            timed(f"{name}-{threads}", functools.partial(function, *shape, (pixels, results, count // 8)))
        for name, each in (("difference16", 1), ("difference16x2", 2)):
            shape = ((ceil_div(count // 8, each * threads),), (threads,))
            function = module.get_function(name)
            launch = functools.partial(function, *shape, (picture.pixels, pixels, results, count // 8))
            picture.check(launch, f"{name}-{threads}")
            timed(f"{name}-{threads}", launch)
    return found


def results_of(pixels: int, multiprocessors: int, raw: dict[str, Any]) -> dict[str, tuple[float | int, str, str]]:
    """Return the results by name: each launch's time, the best of them, and the yardsticks.

    Args:
        pixels: Pixels of the picture.
        multiprocessors: Multiprocessors of the card.
        raw: What was measured, as the run's file keeps it.
    """
    found: dict[str, tuple[float | int, str, str]] = {
        "pixels_count": (pixels, "", "pixels of the picture, random bytes"),
        "moved_bytes": (3 * pixels, "bytes", "read and written at the least: a byte in and two out for each pixel"),
        "multiprocessors_count": (multiprocessors, "", "multiprocessors that the card reports"),
    }
    for name, each in raw["variants"].items():
        what = f"{each['kernel']}, {each['blocks']:,} blocks of {each['block_threads']:,} threads, median"
        found[name.replace("-", "_") + "_s"] = (each["median_s"], "s", what)
    copies = raw["yardsticks_median_s"]
    best = min(raw["variants"], key=lambda name: raw["variants"][name]["median_s"])
    widest = min((name for name in copies if name.startswith("widen")), key=lambda name: copies[name])
    plain = min((name for name in copies if name.startswith("difference")), key=lambda name: copies[name])
    found["best_s"] = (raw["variants"][best]["median_s"], "s", f"the fastest of numba's kernels: {best}")
    found["cuda_best_s"] = (copies[plain], "s", f"the same in CUDA C++, 8-byte loads and 16-byte stores: {plain}")
    found["widen_s"] = (copies[widest], "s", f"reads a byte and writes two, and nothing else, in CUDA C++: {widest}")
    found["copy_s"] = (copies[f"memcpy-{3 * pixels}"], "s", "device-to-device copy that moves as many bytes in all")
    found["copy_bytes_per_s"] = (
        3 * pixels / found["copy_s"][0],
        "bytes/s",
        "rate of that copy, read and written counted",
    )
    large = 8 << 30
    found["large_copy_bytes_per_s"] = (
        large / copies[f"memcpy-{large}"],
        "bytes/s",
        "rate of a device-to-device copy of 4 GiB, read and written counted",
    )
    found["fill_bytes_per_s"] = (
        2 * pixels / copies["memset-write-only"],
        "bytes/s",
        "rate of filling the results' memory",
    )
    return found


def main() -> None:
    """Measure, and write the run's file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path, help="where to write the run")
    parser.add_argument("--pixels", type=int, default=PIXELS)
    parser.add_argument("--counters", action="store_true", help="launch each variant once, for a profiler")
    asked = parser.parse_args()
    cuda = numba_cuda()
    import cupy

    multiprocessors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    picture = Picture(cupy, cuda, asked.pixels)
    measured = variants(asked.pixels, multiprocessors)
    if asked.counters:
        for variant in measured:
            picture.launch(variant)()
        cuda.synchronize()
        return
    times: dict[str, dict[str, Any]] = {}
    moved_bytes = 3 * asked.pixels
    for variant in measured:
        launch = picture.launch(variant)
        picture.check(launch, variant.name)
        first = event_times_s(launch, 3, warm=1)[1]
        taken = event_times_s(launch, 7 if first > LONG_S else REPEATS)
        middle = taken[len(taken) // 2]
        times[variant.name] = {
            "kernel": variant.kernel,
            "blocks": variant.blocks,
            "block_threads": variant.block_threads,
            "median_s": middle,
            "least_s": taken[0],
            "greatest_s": taken[-1],
            "repeats": len(taken),
        }
        print(f"{variant.name:40s} {middle * 1000:9.4f} ms {moved_bytes / middle / 1e9:8.1f} GB/s", file=sys.stderr)
    copies = yardsticks(picture)
    raw = {"variants": times, "yardsticks_median_s": copies, "repeats": REPEATS}
    results = results_of(asked.pixels, multiprocessors, raw)
    title = "Image difference of 600,000,000 pixels on one card, by every partition"
    text = run_file("h200-image", title, "src/gpumoat/bench/image.py", results, raw)
    asked.file.write_text(text) if asked.file else sys.stdout.write(text)


if __name__ == "__main__":
    main()
