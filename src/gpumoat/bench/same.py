"""The kernels of image difference by several launches: on the card, in the simulator, and as a loop in plain Python.

Needs a CUDA card, numba-cuda and CuPy's version for the record. Prints nothing; returns the file's text.

Promises: one file of kernels, read three times and changed nowhere. Compared is every element of the results.
"""

from __future__ import annotations

from itertools import pairwise

from gpumoat.bench.card import numba_cuda, run_file

PIXELS = 997
LAUNCHES = ((1, 1), (1, 32), (4, 64), (16, 64), (1, 1024))


def picture(count: int) -> list[int]:
    """Return that many pixels of a picture that has no pattern a mistake could hide in."""
    return [(i * i * 31 + i * 7) % 251 for i in range(count)]


def main() -> str:
    """Compare and return the file's text."""
    import numpy

    from gpumoat import simt
    from gpumoat.kernels import image

    cuda = numba_cuda()
    pixels = picture(PIXELS + 1)
    expected = [a - b for a, b in pairwise(pixels)]
    length = -(-PIXELS // 64)
    rows = []
    for name in ("grid_stride", "one_pixel", "strip"):
        for blocks, threads in LAUNCHES:
            if name == "one_pixel" and blocks * threads < PIXELS:
                continue
            if name == "strip":
                length = -(-PIXELS // (blocks * threads))
            more = (length, length) if name == "strip" else ()
            shown = numpy.array(pixels, numpy.uint8)
            on_card = cuda.to_device(shown)
            results = cuda.to_device(numpy.full(PIXELS, -9999, numpy.int16))
            getattr(image, name)[blocks, threads](on_card, results, *more)
            from_card = results.copy_to_host().tolist()
            simulated = numpy.full(PIXELS, -9999, numpy.int16)
            simt.run(f"gpumoat.kernels.image:{name}", blocks, threads)(shown, simulated, *more)
            equal = sum(a == b == c for a, b, c in zip(from_card, simulated.tolist(), expected, strict=True))
            rows.append([name, blocks, threads, equal])
    return run_file(
        "h200-same-kernels",
        "One file of kernels on a card, in the simulator, and as a loop in plain Python",
        "src/gpumoat/bench/same.py",
        {
            "launches_count": (len(rows), "", "launches compared, of three kernels"),
            "elements_count": (PIXELS * len(rows), "", "results compared, over all launches"),
            "equal_count": (sum(row[3] for row in rows), "", "results that are equal on all three"),
        },
        {"pixels": PIXELS, "launches": rows},
    )


if __name__ == "__main__":
    import os
    from pathlib import Path

    Path(os.environ.get("OUT", "."), "h200-same-kernels.json").write_text(main(), encoding="utf-8")
