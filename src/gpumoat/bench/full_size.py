"""Is the full-size run as fast as memory? The image difference by virtual cores, against copies of the same bytes.

    python -m gpumoat.bench.full_size                       prints the ratio, at full size
    python -m gpumoat.bench.full_size --pixels 60000000 cpu-image.json

The difference reads a byte and writes two for each pixel. The yardsticks move as many bytes in all, as many read as
written: NumPy's copy, which is the C library's and stores past the caches as our strips do, on one core and on all; and
a copy by numba, which stores in the ordinary way. Runs alternate, and the best of each counts, since other programs can
only make one slower.

Beside that: NumPy's own ways to the same result, and the order that suits a GPU, in which neighbouring cores take
neighbouring pixels, on a tenth of the picture. Last, coverage: how often each of four partitions writes each pixel.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpumoat.partition import ceil_div
from gpumoat.simulate.full_size import (
    PIXELS,
    POISON,
    WORKERS,
    count_writes,
    differences,
    numba,
    partitions,
    random_picture,
)

ROUNDS = 7
SAMPLE = 10
"""The part of the picture on which the slow order is timed: every so-manyth."""


def compiled_extras() -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile and return a copy in strips, and the difference in the order that suits a GPU."""
    nb = numba()
    prange, uint64, int16 = nb.prange, nb.uint64, nb.int16

    @nb.njit(parallel=True)  # type: ignore[untyped-decorator,unused-ignore]
    def copy(source: Any, target: Any, length: Any, workers: Any) -> None:
        for worker in prange(workers):
            first = min(worker * length, target.size)
            last = min(first + length, target.size)
            target[first:last] = source[first:last]

    @nb.njit(parallel=True)  # type: ignore[untyped-decorator,unused-ignore]
    def interleaved(pixels: Any, results: Any, workers: Any) -> None:
        for worker in prange(workers):
            for i in range(uint64(worker), uint64(results.size), uint64(workers)):
                results[i] = int16(pixels[i]) - int16(pixels[i + uint64(1)])

    return copy, interleaved


def best_of(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Run all ways in turn, several times; return the times of each, ascending."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        way()  # compiles, and makes the system hand out pages
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            way()
            taken[name].append(time.perf_counter() - begin)
    return {name: sorted(each) for name, each in taken.items()}


def processor() -> str:
    """Return the processor's name, as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def measure_times(pixels: int, rounds: int) -> dict[str, list[float]]:
    """Check the results, and return the times of each way.

    Raises:
        SystemExit: A result differs from NumPy's.
    """
    import numpy

    copy, interleaved = compiled_extras()
    picture, results = random_picture(pixels), numpy.full(pixels, POISON, numpy.int16)
    length, few = ceil_div(pixels, WORKERS), max(1, pixels // SAMPLE)
    differences(picture, length, length, WORKERS, results)
    wrong = int(numpy.count_nonzero(results != numpy.subtract(picture[:-1], picture[1:], dtype=numpy.int16)))
    if wrong:
        raise SystemExit(f"{wrong:,} of {pixels:,} results differ from NumPy's")
    half = 3 * pixels // 2
    source, target = numpy.ones(half, numpy.uint8), numpy.zeros(half, numpy.uint8)
    cores = os.cpu_count() or 1
    pool = ThreadPoolExecutor(cores)  # NumPy lets other threads run while it copies
    targets, sources = numpy.array_split(target, cores), numpy.array_split(source, cores)
    some, out, part = picture[: few + 1], results[:few], ceil_div(few, WORKERS)
    times = best_of(
        {
            "strips": lambda: differences(picture, length, length, WORKERS, results),
            "numpy_copy": lambda: numpy.copyto(target, source),
            "numpy_copy_on_all_cores": lambda: list(pool.map(numpy.copyto, targets, sources)),
            "numba_copy": lambda: copy(source, target, ceil_div(half, WORKERS), WORKERS),
            "numpy": lambda: numpy.subtract(picture[:-1], picture[1:], out=results, dtype=numpy.int16),
        },
        rounds,
    )
    return times | best_of(
        {
            "strips_sample": lambda: differences(some, part, part, WORKERS, out),
            "interleaved_sample": lambda: interleaved(some, out, WORKERS),
        },
        2,
    )


def measure(pixels: int, rounds: int, run: str = "cpu-image") -> dict[str, Any]:
    """Measure, check and count; return the run's document.

    Raises:
        SystemExit: A result differs from NumPy's.
    """
    times = measure_times(pixels, rounds)
    written = [
        (name, stride, extent, count_writes(pixels, stride, extent, WORKERS))
        for name, stride, extent in partitions(pixels, WORKERS)
    ]
    best = {name: each[0] for name, each in times.items()}
    found: dict[str, tuple[float | int, str, str]] = {
        "pixels_count": (pixels, "", "pixels of the picture, random bytes; all results equal NumPy's"),
        "workers_count": (WORKERS, "", "virtual cores, a strip each"),
        "cores_count": (os.cpu_count() or 1, "", "cores of the machine"),
        "strips_s": (best["strips"], "s", "numba, in strips, all cores, best of several"),
        "numpy_s": (best["numpy"], "s", "NumPy, one pass, best of several"),
        "numpy_copy_s": (best["numpy_copy"], "s", "NumPy copies as many bytes, best of several"),
        "numpy_copy_on_all_cores_s": (best["numpy_copy_on_all_cores"], "s", "the same, a part of it on each core"),
        "numba_copy_s": (best["numba_copy"], "s", "numba copies as many bytes in strips, all cores, best of several"),
        "over_numpy_copy_ratio": (best["strips"] / best["numpy_copy"], "", "time of strips over NumPy's copy"),
        "over_numpy_copy_on_all_cores_ratio": (
            best["strips"] / best["numpy_copy_on_all_cores"],
            "",
            "time of strips over NumPy's copy on all cores",
        ),
        "over_numba_copy_ratio": (best["strips"] / best["numba_copy"], "", "time of strips over numba's copy"),
        "interleaved_ratio": (
            best["interleaved_sample"] / best["strips_sample"],
            "",
            f"the GPU's order over strips, on the first {max(1, pixels // SAMPLE):,} pixels",
        ),
    }
    for name, stride, extent, writes in written:
        key = name.split(":")[0].replace(" ", "_")
        found[f"{key}_missed_count"] = (writes.missed, "", f"never written, strips every {stride:,}, {extent:,} long")
        found[f"{key}_repeated_count"] = (
            writes.repeated,
            "",
            f"written twice, strips every {stride:,}, {extent:,} long",
        )
    return {
        "schema": 1,
        "id": run,
        "title": "Image difference at full size without a GPU",
        "device": processor(),
        "driver": "none",
        "versions": {
            "python": platform.python_version(),
            "numba": importlib.metadata.version("numba"),
            "numpy": importlib.metadata.version("numpy"),
        },
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "script": "src/gpumoat/bench/full_size.py",
        "results": {key: {"value": value, "unit": unit, "what": what} for key, (value, unit, what) in found.items()},
        "raw": {"times_s": times},
    }


def main() -> None:
    """Measure, print the ratios, and write the run's file if one is named."""
    parser = argparse.ArgumentParser(prog="python -m gpumoat.bench.full_size")
    parser.add_argument("file", nargs="?", type=Path, help="where to write the run")
    parser.add_argument("--pixels", type=int, default=PIXELS, help="pixels of the picture (600,000,000: needs 5 GiB)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is timed")
    asked = parser.parse_args()
    document = measure(asked.pixels, asked.rounds, asked.file.stem if asked.file else "cpu-image")
    for name, each in document["results"].items():
        print(f"{name:28s} {each['value']:>16,.6g} {each['unit']:2s} {each['what']}")
    if asked.file:
        asked.file.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
