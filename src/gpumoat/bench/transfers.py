"""The whole trip of the image difference: to the card, through the kernel and back, against the CPU beside it.

    PYTHONPATH=src python -m gpumoat.bench.transfers h200-transfers.json

Times by the host's clock, from the call to the moment the results lie in the host's memory, median of several. Memory
is pageable (what NumPy gives) or pinned (what the card can reach without the driver copying it aside); making either,
once, is timed too. The overlapped trip cuts the picture into chunks and lets copies in, kernels and copies out run at
the same time in a few streams.

Promises: the results of every trip are compared with NumPy's. Left out: reading the picture from a disk, and a machine
whose processor and card share one memory.
"""

from __future__ import annotations

import argparse
import functools
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpumoat.bench.card import numba_cuda, run_file
from gpumoat.bench.image import PIXELS, POISON, SEED
from gpumoat.bench.image_variants import fitting
from gpumoat.partition import ceil_div
from gpumoat.simulate.full_size import WORKERS, differences

KERNEL, BLOCK_THREADS = "four_words", 128
TO_CARD, TO_HOST = 1, 2  # cudaMemcpyKind
REPEATS = 5


def seconds(work: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    """Return the host's time of each of several runs, after one to warm up, ascending."""
    work()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return sorted(taken)


class Trip:
    """Memory on both sides, and the ways between them."""

    def __init__(self, cupy: Any, cuda: Any, pixels: int) -> None:
        import numpy

        self.cupy, self.cuda, self.numpy, self.count = cupy, cuda, numpy, pixels
        self.picture = numpy.random.default_rng(SEED).integers(0, 256, pixels + 1, dtype=numpy.uint8)
        self.picture[-1] = self.picture[-2]
        self.results = numpy.full(pixels, POISON, numpy.int16)
        self.right = numpy.subtract(self.picture[:-1], self.picture[1:], dtype=numpy.int16)
        begin = time.perf_counter()
        self.pinned_results = self.pinned(pixels, numpy.int16)
        self.pinned_picture = self.pinned(pixels + 1, numpy.uint8)
        self.pinning_s = time.perf_counter() - begin
        self.pinned_picture[:] = self.picture
        begin = time.perf_counter()
        self.on_card, self.out = cupy.empty(pixels + 1, numpy.uint8), cupy.empty(pixels, numpy.int16)
        cupy.cuda.runtime.deviceSynchronize()
        self.allocating_s = time.perf_counter() - begin

    def pinned(self, count: int, dtype: Any) -> Any:
        """Return a NumPy array in pinned memory."""
        memory = self.cupy.cuda.alloc_pinned_memory(count * self.numpy.dtype(dtype).itemsize)
        return self.numpy.frombuffer(memory, dtype, count)

    def copy_in(self, source: Any) -> None:
        """Copy the picture to the card and wait."""
        runtime = self.cupy.cuda.runtime
        runtime.memcpy(self.on_card.data.ptr, source.ctypes.data, source.nbytes, TO_CARD)
        runtime.deviceSynchronize()

    def copy_out(self, target: Any) -> None:
        """Copy the results to the host and wait."""
        self.cupy.cuda.runtime.memcpy(target.ctypes.data, self.out.data.ptr, target.nbytes, TO_HOST)
        self.cupy.cuda.runtime.deviceSynchronize()

    def kernel(self, first: int, last: int, stream: Any = None) -> Callable[[], None]:
        """Return a function that launches the kernel for the pixels from ``first`` up to ``last``."""
        from gpumoat.kernels import image

        variant = fitting(KERNEL, last - first, BLOCK_THREADS)
        pixels, out = self.on_card[first : last + 1], self.out[first:last]
        whole = (last - first) // 4 * 4
        arrays = (pixels, out, pixels[:whole].view("uint32"), out[:whole].view("uint64"))
        views = [self.cuda.as_cuda_array(each, sync=False) for each in arrays]
        queue = 0 if stream is None else self.cuda.external_stream(stream.ptr)
        launch = getattr(image, KERNEL)[variant.blocks, variant.block_threads, queue]
        return lambda: launch(*views)

    def whole(self, source: Any, target: Any) -> Callable[[], None]:
        """Return the trip one step after another."""
        kernel = self.kernel(0, self.count)

        def go() -> None:
            self.copy_in(source)
            kernel()
            self.copy_out(target)

        return go

    def overlapped(self, chunks: int, streams_count: int) -> Callable[[], None]:
        """Return the trip in chunks, each in the next stream, from and to pinned memory."""
        runtime = self.cupy.cuda.runtime
        streams = [self.cupy.cuda.Stream(non_blocking=True) for _ in range(streams_count)]
        size = ceil_div(ceil_div(self.count, chunks), 256) * 256  # chunks begin where words and sectors begin
        parts = []
        for number, first in enumerate(range(0, self.count, size)):
            last, stream = min(first + size, self.count), streams[number % streams_count]
            parts.append((first, last, stream, self.kernel(first, last, stream)))
        source, target = self.pinned_picture.ctypes.data, self.pinned_results.ctypes.data

        def go() -> None:
            for first, last, stream, kernel in parts:
                # A chunk brings the pixel after its last one along: its neighbour may still be on the way.
                runtime.memcpyAsync(
                    self.on_card.data.ptr + first, source + first, last - first + 1, TO_CARD, stream.ptr
                )
                kernel()
                runtime.memcpyAsync(
                    target + 2 * first, self.out.data.ptr + 2 * first, 2 * (last - first), TO_HOST, stream.ptr
                )
            for stream in streams:
                stream.synchronize()

        return go

    def check(self, target: Any, what: str) -> None:
        """Compare results on the host with NumPy's, and poison them for the next."""
        if not self.numpy.array_equal(target, self.right):
            raise SystemExit(f"{what}: results differ from NumPy's")
        target.fill(POISON)


def main() -> None:
    """Measure, and write the run's file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--pixels", type=int, default=PIXELS)
    asked = parser.parse_args()
    cuda = numba_cuda()
    import cupy
    import numba
    import numpy

    trip = Trip(cupy, cuda, asked.pixels)
    times: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[[], object], target: Any = None) -> None:
        times[name] = seconds(work)
        if target is not None:
            trip.check(target, name)
        print(f"{name:36s} {statistics.median(times[name]) * 1000:9.2f} ms", file=sys.stderr)

    timed("pageable trip", trip.whole(trip.picture, trip.results), trip.results)
    timed("pinned trip", trip.whole(trip.pinned_picture, trip.pinned_results), trip.pinned_results)
    for chunks in (4, 8, 16, 32, 64, 128):
        for streams in (2, 3, 4):
            timed(
                f"overlapped {chunks} chunks {streams} streams", trip.overlapped(chunks, streams), trip.pinned_results
            )
    for name, source, target in (
        ("pageable", trip.picture, trip.results),
        ("pinned", trip.pinned_picture, trip.pinned_results),
    ):
        timed(f"in {name}", functools.partial(trip.copy_in, source))
        timed(f"out {name}", functools.partial(trip.copy_out, target))
    timed("out pageable, new memory each time", lambda: trip.copy_out(numpy.empty(asked.pixels, numpy.int16)))
    kernel = trip.kernel(0, asked.pixels)
    timed("kernel and its launch", lambda: (kernel(), cuda.synchronize()))
    timed("copy into pinned memory", lambda: numpy.copyto(trip.pinned_picture, trip.picture))

    picture, out = trip.picture, trip.results
    timed("NumPy, 16-bit copies", lambda: numpy.copyto(out, picture[:-1].astype("i2") - picture[1:].astype("i2")), out)
    timed("NumPy, one pass", lambda: numpy.subtract(picture[:-1], picture[1:], out=out, dtype=numpy.int16), out)
    length = ceil_div(asked.pixels, WORKERS)
    most = numba.get_num_threads()
    for threads in sorted({1, 2, 4, 8, most}):
        if threads <= most:
            numba.set_num_threads(threads)
            timed(
                f"numba on the CPU, {threads} threads", lambda: differences(picture, length, length, WORKERS, out), out
            )

    half = 3 * asked.pixels // 2
    source, target = numpy.ones(half, numpy.uint8), numpy.zeros(half, numpy.uint8)
    timed("NumPy copies the same bytes", lambda: numpy.copyto(target, source))

    medians = {name: statistics.median(taken) for name, taken in times.items()}
    overlapped = {name: value for name, value in medians.items() if name.startswith("overlapped")}
    best = min(overlapped, key=lambda name: overlapped[name])
    processors = {name: value for name, value in medians.items() if name.startswith("numba")}
    fastest = min(processors, key=lambda name: processors[name])
    read, written = asked.pixels, 2 * asked.pixels
    results: dict[str, tuple[float | int, str, str]] = {
        "in_pageable_bytes_per_s": (read / medians["in pageable"], "bytes/s", "host to card, pageable memory"),
        "in_pinned_bytes_per_s": (read / medians["in pinned"], "bytes/s", "host to card, pinned memory"),
        "out_pageable_bytes_per_s": (written / medians["out pageable"], "bytes/s", "card to host, pageable memory"),
        "out_pinned_bytes_per_s": (written / medians["out pinned"], "bytes/s", "card to host, pinned memory"),
        "pageable_trip_s": (medians["pageable trip"], "s", "in, kernel and out, pageable memory"),
        "pinned_trip_s": (medians["pinned trip"], "s", "in, kernel and out, pinned memory"),
        "overlapped_trip_s": (medians[best], "s", f"in, kernel and out at the same time, pinned memory, {best}"),
        "pinning_s": (trip.pinning_s, "s", "making pinned memory for picture and results, once"),
        "allocating_s": (trip.allocating_s, "s", "making memory on the card for picture and results, once"),
        "kernel_s": (medians["kernel and its launch"], "s", "kernel alone, its launch and the wait for it"),
        "numpy_s": (medians["NumPy, one pass"], "s", "NumPy on the CPU, one pass, one thread"),
        "numpy_copies_s": (medians["NumPy, 16-bit copies"], "s", "NumPy on the CPU, with 16-bit copies of the picture"),
        "cpu_s": (medians[fastest], "s", f"{fastest}, {WORKERS:,} strips"),
        "cpu_one_thread_s": (medians["numba on the CPU, 1 threads"], "s", "numba on the CPU, one thread"),
        "cpu_copy_s": (medians["NumPy copies the same bytes"], "s", "NumPy copies as many bytes on the CPU"),
        "cores_count": (os.cpu_count() or 0, "", "cores of the machine that holds the card"),
    }
    title = "Image difference of 600,000,000 pixels: the whole trip to a card and back, and the CPU beside it"
    text = run_file("h200-transfers", title, "src/gpumoat/bench/transfers.py", results, {"times_s": times})
    asked.file.write_text(text) if asked.file else sys.stdout.write(text)


if __name__ == "__main__":
    main()
