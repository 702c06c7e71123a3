"""The image difference at full size without a GPU: every pixel of the lecture's picture, shared among virtual cores.

    python -m gpumoat.simulate.full_size                 a tenth of the picture
    python -m gpumoat.simulate.full_size --full          all 600,000,000 pixels; needs 5 GiB of memory
    python -m gpumoat.simulate.full_size --pixels 1000000 --workers 4096

A virtual core is one turn of a parallel loop that numba compiles for the processor at hand. It does what a thread of
``gpumoat.kernels.image.strip`` does, on the same strip. Afterwards every result is compared with NumPy's, and every
write is counted: for the right partition, and for the ones that are wrong by one.

Promises: results equal to NumPy's, element by element; counts of writes exact, by counting and not by a formula. It is
as fast as memory (``gpumoat.bench.full_size`` measures how fast): results are stored a cache line at a time, past the
caches (``gpumoat.simulate.streaming``). Left out: a GPU's order. There the threads of a warp go side by side; here each
core walks along its own strip, which is what a CPU's caches want.

numba and NumPy are imported when a function first needs them; without them there is one line that says so.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpumoat.partition import ceil_div

PIXELS = 600_000_000
"""The lecture's picture: 20,000 x 30,000."""

WORKERS = 16_384
"""The lecture's virtual cores, as many as an RTX 4090 has."""

SEED = 1

POISON = 0x7777
"""What results hold before: no difference of two bytes."""


@dataclass(frozen=True)
class Writes:
    """How often the elements of an array were written.

    Attributes:
        elements: Elements in all.
        missed: Elements never written.
        repeated: Elements written more than once.
        first_missed: The first of those never written, or None.
        first_repeated: The first of those written more than once, or None.
    """

    elements: int
    missed: int
    repeated: int
    first_missed: int | None = None
    first_repeated: int | None = None

    @property
    def exactly_once(self) -> bool:
        """Whether each was written once."""
        return not self.missed and not self.repeated

    def __str__(self) -> str:
        if self.exactly_once:
            return f"all {self.elements:,} written exactly once"
        said = []
        if self.missed:
            said.append(f"{self.missed:,} never written, the first {self.first_missed:,}")
        if self.repeated:
            said.append(f"{self.repeated:,} written more than once, the first {self.first_repeated:,}")
        return "; ".join(said)


def numba() -> Any:
    """Import and return numba.

    Raises:
        SystemExit: It is not installed.
    """
    try:
        import numba
    except ImportError:
        raise SystemExit("gpumoat.simulate.full_size needs numba and NumPy: pip install numba") from None
    return numba


@functools.cache
def compiled() -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile and return the two parallel loops: the differences, and the counts of writes."""
    nb = numba()
    from gpumoat.simulate.streaming import LINE_RESULTS, subtract_line

    prange, uint64, int16, int64 = nb.prange, nb.uint64, nb.int16, nb.int64
    line = subtract_line()

    @nb.njit(parallel=True)  # type: ignore[untyped-decorator,unused-ignore]
    def subtract(pixels: Any, differences: Any, stride: Any, length: Any, workers: Any) -> None:
        for worker in prange(workers):
            first = min(int64(worker) * stride, differences.size)
            last = min(first + length, differences.size)
            mine, results = pixels[first : last + 1], differences[first:last]
            # Up to the first whole cache line of results, the whole lines, and what is left.
            begin = min(-(results.ctypes.data // 2) % LINE_RESULTS, results.size)
            end = begin + (results.size - begin) // LINE_RESULTS * LINE_RESULTS
            for i in range(uint64(begin)):  # an unsigned index cannot count from the end
                results[i] = int16(mine[i]) - int16(mine[i + uint64(1)])
            for i in range(begin, end, LINE_RESULTS):
                line(mine, results, i)
            for i in range(uint64(end), uint64(results.size)):
                results[i] = int16(mine[i]) - int16(mine[i + uint64(1)])

    @nb.njit(parallel=True)  # type: ignore[untyped-decorator,unused-ignore]
    def count(counts: Any, stride: Any, length: Any, begin: Any, step: Any, workers: Any) -> None:
        for turn in prange((workers - begin + step - 1) // step):
            worker = begin + int64(turn) * step
            first = min(worker * stride, counts.size)
            mine = counts[first : min(first + length, counts.size)]
            for i in range(uint64(mine.size)):
                mine[i] += 1

    return subtract, count


def differences(pixels: Any, stride: int, length: int, workers: int = WORKERS, out: Any = None) -> Any:
    """Return each pixel minus the next, computed in strips.

    Args:
        pixels: n + 1 pixels, uint8: the picture with its last pixel repeated.
        stride: Pixels from the beginning of one strip to that of the next.
        length: Pixels in a strip.
        workers: Virtual cores.
        out: Where to write the n results, int16; a new array where it is None. Elements that no strip covers stay.

    Raises:
        ValueError: There is no pixel, or a size is below one.
    """
    import numpy

    _positive(stride=stride, length=length, workers=workers, pixels=len(pixels) - 1)
    found = numpy.empty(len(pixels) - 1, numpy.int16) if out is None else out
    compiled()[0](pixels, found, stride, length, workers)
    return found


def count_writes(elements: int, stride: int, length: int, workers: int = WORKERS) -> Writes:
    """Count how often strips write each element, by writing: one count is added for each.

    Neighbouring strips may overlap, and two cores that add to one count at once lose one. So strips that can touch
    are never counted at the same time: first every second, then the others, or every third where they reach so far.

    Args:
        elements: Elements in all; what lies behind the last is not written.
        stride: Elements from the beginning of one strip to that of the next.
        length: Elements in a strip.
        workers: Virtual cores.

    Raises:
        ValueError: A size is below one, or more than 255 strips could meet in one element.
    """
    import numpy

    _positive(stride=stride, length=length, workers=workers, elements=elements)
    reach = ceil_div(length, stride)
    if reach > 255:
        raise ValueError(f"length must be at most 255 strides, not {length:,} of {stride:,}: a count is one byte")
    counts = numpy.zeros(elements, numpy.uint8)
    for begin in range(min(reach, workers)):
        compiled()[1](counts, stride, length, begin, reach, workers)
    once = int(numpy.count_nonzero(counts == 1))
    if once == elements:
        return Writes(elements, 0, 0)
    missed, repeated = counts == 0, counts > 1
    return Writes(
        elements,
        int(numpy.count_nonzero(missed)),
        int(numpy.count_nonzero(repeated)),
        int(missed.argmax()) if missed.any() else None,
        int(repeated.argmax()) if repeated.any() else None,
    )


def _positive(**fields: int) -> None:
    for field, value in fields.items():
        if value < 1:
            raise ValueError(f"{field} must be one or more, not {value:,}")


def partitions(pixels: int, workers: int) -> list[tuple[str, int, int]]:
    """Return the right partition and those that are wrong by one: a name, the stride and the length."""
    length = ceil_div(pixels, workers)
    floor = max(1, pixels // workers)
    return [
        ("right: rounded up", length, length),
        ("rounded down", floor, floor),
        ("one too long", length, length + 1),
        ("one too far apart", length + 1, length),
    ]


def random_picture(pixels: int) -> Any:
    """Return a random picture of so many pixels, with its last pixel repeated."""
    import numpy

    picture = numpy.random.default_rng(SEED).integers(0, 256, pixels + 1, dtype=numpy.uint8)
    picture[-1] = picture[-2]
    return picture


def main(arguments: list[str] | None = None) -> None:
    """Run the whole picture, compare it with NumPy, and count the writes of each partition."""
    parser = argparse.ArgumentParser(prog="python -m gpumoat.simulate.full_size", description=__doc__.splitlines()[0])
    parser.add_argument("--pixels", type=int, default=PIXELS // 10, help="pixels of the picture (60,000,000)")
    parser.add_argument("--full", action="store_true", help="the lecture's whole picture, 600,000,000 pixels")
    parser.add_argument("--workers", type=int, default=WORKERS, help="virtual cores (16,384)")
    asked = parser.parse_args(arguments)
    pixels = PIXELS if asked.full else asked.pixels
    for field in ("pixels", "workers"):
        if getattr(asked, field) < 1:
            parser.error(f"--{field} must be one or more, not {getattr(asked, field)}")
    numba()

    import numpy
    from rich.console import Console
    from rich.progress import Progress

    console = Console(soft_wrap=True)
    plans = partitions(pixels, asked.workers)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("compiling", total=4 + len(plans))

        def say(what: str) -> None:
            progress.update(task, description=what, advance=1)

        tiny = random_picture(64)
        differences(tiny, 16, 16, 4)
        say("making a picture")
        picture = random_picture(pixels)
        results = numpy.full(pixels, POISON, numpy.int16)  # written, so that the system has handed out its pages
        say("subtracting")
        length = plans[0][1]
        begin = time.perf_counter()
        differences(picture, length, length, asked.workers, results)
        taken = time.perf_counter() - begin
        say("comparing with NumPy")
        wrong = int(numpy.count_nonzero(results != numpy.subtract(picture[:-1], picture[1:], dtype=numpy.int16)))
        found = []
        for name, stride, extent in plans:
            say(f"counting writes: {name}")
            found.append((name, stride, extent, count_writes(pixels, stride, extent, asked.workers)))
    rate = 3 * pixels / taken / 10**9
    console.print(f"{pixels:,} pixels, {asked.workers:,} virtual cores, strips of {length:,}")
    console.print(
        f"{taken:.3f} s, {rate:.1f} GB/s; " + ("every result equals NumPy's" if not wrong else f"{wrong:,} differ")
    )
    for name, stride, extent, writes in found:
        console.print(f"  {name:20s} every {stride:,}, {extent:,} long: {writes}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
