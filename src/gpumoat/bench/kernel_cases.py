"""Small launches of every kernel of the image, stencil and transpose modules, for whoever wants to compare.

The same launch can be made by our simulator, by numba's and on a card, with the same arrays: the tests compare the
simulator's results and sectors with NumPy's and with the card's, which ``gpumoat.bench.kernel_counters`` reads.

Arrays are made by NumPy from a seed; sizes are odd on purpose.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpumoat.bench.image_variants import PIXELS_EACH, WORD_PIXELS
from gpumoat.partition import ceil_div

SEED = 3
PIXELS = 20_011
"""Pixels of the small picture: a prime number, so that nothing divides it."""


@dataclass(frozen=True)
class Case:
    """One launch, and what must come out.

    Attributes:
        module: The module below ``gpumoat.kernels``.
        kernel: The kernel's name in it.
        grid: Blocks along x and y.
        block: Threads along x and y.
        make: Makes the arguments, in the kernel's order, by name.
        output: The argument that holds the results.
        right: The results, from NumPy, given the arguments.
    """

    module: str
    kernel: str
    grid: tuple[int, int]
    block: tuple[int, int]
    make: Callable[[], dict[str, Any]]
    output: str
    right: Callable[[Mapping[str, Any]], Any]

    @property
    def source(self) -> str:
        """Where the kernel stands, as ``module:kernel``."""
        return f"gpumoat.kernels.{self.module}:{self.kernel}"

    def load(self) -> Any:
        """Import the kernel; needs numba."""
        return getattr(importlib.import_module(f"gpumoat.kernels.{self.module}"), self.kernel)


def picture(count: int = PIXELS) -> Any:
    """Return a random picture of so many pixels and its last pixel once more."""
    import numpy

    pixels = numpy.random.default_rng(SEED).integers(0, 256, count, dtype=numpy.uint8)
    return numpy.append(pixels, pixels[-1:])


def differences(arguments: Mapping[str, Any]) -> Any:
    """Return each pixel minus the next, by NumPy."""
    import numpy

    pixels = arguments["pixels"]
    return numpy.subtract(pixels[:-1], pixels[1:], dtype=numpy.int16)


def sums(arguments: Mapping[str, Any]) -> Any:
    """Return the 3 x 3 sums, by NumPy, the edge repeated outside."""
    import numpy

    pixels = arguments["pixels"]
    rows, columns = pixels.shape
    held = numpy.pad(pixels.astype(numpy.int16), 1, mode="edge")
    windows = [held[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return numpy.sum(windows, axis=0, dtype=numpy.int16)


def transposed(arguments: Mapping[str, Any]) -> Any:
    """Return the matrix transposed, by NumPy."""
    return arguments["matrix"].T


def image_case(kernel: str, count: int = PIXELS, block_threads: int = 128, blocks: int = 0) -> Case:
    """Return a launch of one kernel of ``gpumoat.kernels.image``; where any grid will do, a few blocks."""
    grid = blocks or (ceil_div(count, PIXELS_EACH[kernel] * block_threads) if kernel in PIXELS_EACH else 3)

    def make() -> dict[str, Any]:
        import numpy

        pixels, results = picture(count), numpy.full(count, 0x7777, numpy.int16)
        arguments: dict[str, Any] = {"pixels": pixels, "differences": results}
        if kernel == "strip":
            length = ceil_div(count, grid * block_threads)
            return arguments | {"stride": length, "length": length}
        width = WORD_PIXELS[kernel]
        if width > 1:
            whole = count // width * width
            arguments["words"] = pixels[:whole].view("uint32" if width == 4 else "uint64")
            arguments["results"] = results[:whole].view("uint64")
        return arguments

    return Case("image", kernel, (grid, 1), (block_threads, 1), make, "differences", differences)


def stencil_case(kernel: str, rows: int = 45, columns: int = 77, module: str = "stencil") -> Case:
    """Return a launch of a 3 x 3 stencil over a small picture."""

    def make() -> dict[str, Any]:
        import numpy

        pixels = numpy.random.default_rng(SEED).integers(0, 256, (rows, columns), dtype=numpy.uint8)
        return {"pixels": pixels, "sums": numpy.full((rows, columns), -1, numpy.int16)}

    return Case(module, kernel, (ceil_div(columns, 32), ceil_div(rows, 8)), (32, 8), make, "sums", sums)


def transpose_case(kernel: str, rows: int = 96, columns: int = 64) -> Case:
    """Return a launch of a transpose; rows and columns may be any."""

    def make() -> dict[str, Any]:
        import numpy

        matrix = numpy.random.default_rng(SEED).random((rows, columns), dtype=numpy.float32)
        return {"matrix": matrix, "transposed": numpy.full((columns, rows), -1, numpy.float32)}

    grid = (ceil_div(columns, 32), ceil_div(rows, 32))
    return Case("transpose", kernel, grid, (32, 8), make, "transposed", transposed)


def cases() -> list[Case]:
    """Return one launch of every right kernel."""
    found = [image_case(kernel) for kernel in WORD_PIXELS]
    found += [stencil_case(kernel) for kernel in ("stencil_global", "stencil_shared")]
    for kernel in ("transpose_naive", "transpose_tiled", "transpose_padded"):
        found += [transpose_case(kernel), transpose_case(kernel, 75, 101)]
    return found


def reduction_bug_case(kernel: str) -> Case:
    """Return a launch of a wrong sum: three blocks of two warps, a partial sum each."""

    def make() -> dict[str, Any]:
        import numpy

        values = numpy.arange(1_000).astype(numpy.float32)
        return {"x": values, "out": numpy.zeros(3, numpy.float32)}

    def right(arguments: Mapping[str, Any]) -> Any:
        import numpy

        threads = numpy.arange(1_000) % (3 * 64) // 64
        return numpy.array([arguments["x"][threads == block].sum() for block in range(3)], numpy.float32)

    return Case("reduction_bugs", kernel, (3, 1), (64, 1), make, "out", right)


def in_place_case() -> Case:
    """Return a launch of the difference written over the picture."""
    length = ceil_div(PIXELS, 3 * 128)

    def make() -> dict[str, Any]:
        return {"pixels": picture().astype("int16"), "stride": length, "length": length}

    return Case("bugs", "strip_in_place", (3, 1), (128, 1), make, "pixels", differences)


def counting_case() -> Case:
    """Return a launch of the count without an atomic addition."""

    def make() -> dict[str, Any]:
        import numpy

        return {"pixels": picture(), "counts": numpy.zeros(1, numpy.int32)}

    def right(arguments: Mapping[str, Any]) -> Any:
        import numpy

        pixels = arguments["pixels"]
        return numpy.array([numpy.count_nonzero(pixels[:-1] < pixels[1:])], numpy.int32)

    return Case("bugs", "count_falling", (ceil_div(PIXELS, 128), 1), (128, 1), make, "counts", right)


def bug_cases() -> dict[str, Case]:
    """Return the launches of planted bugs that a card's tools may see, by name."""
    stencils = (
        "stencil_without_halo",
        "stencil_halo_off_by_one",
        "stencil_without_barrier",
        "stencil_barrier_in_branch",
    )
    found = {kernel: stencil_case(kernel, module="bugs") for kernel in stencils}
    found["stencil_overlapping"] = stencil_case("stencil_overlapping", 45, 64, "bugs")
    found |= {"strip_in_place": in_place_case(), "count_falling": counting_case()}
    return found | {kernel: reduction_bug_case(kernel) for kernel in ("missing_barrier", "barrier_in_branch")}
