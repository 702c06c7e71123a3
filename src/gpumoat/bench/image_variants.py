"""The ways to launch the image difference that are measured: which kernel, how many blocks, how many threads a block.

One list for three readers: the timing on a card, the profiler's counters on a card, and the model of time
(``gpumoat.kernel_time``), which is fitted on one half of the list and scored on the other.

Standard library only: the kernels themselves are named, not imported.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumoat.kernel_time import Launch
from gpumoat.occupancy import limits, residency
from gpumoat.partition import ceil_div

WARP, SECTOR_BYTES, LINE_BYTES = 32, 32, 128

PIXELS_EACH = {
    "one_pixel": 1,
    "four_pixels": 4,
    "eight_pixels": 8,
    "eight_pixels_exchanged": 8,
    "two_words": 8,
    "four_words": 16,
    "four_words_shuffled": 16,
    "two_long_words": 16,
    "sixteen_pixels": 16,
    "eight_words": 32,
}
"""Pixels that a thread does, for the kernels whose grid must be made to fit the picture."""

WORD_PIXELS = {
    "strip": 1,
    "grid_stride": 1,
    "one_pixel": 1,
    "four_pixels": 4,
    "four_pixels_grid_stride": 4,
    "two_words": 4,
    "four_words": 4,
    "four_words_shuffled": 4,
    "eight_words": 4,
    "eight_pixels": 8,
    "eight_pixels_grid_stride": 8,
    "eight_pixels_exchanged": 8,
    "two_long_words": 8,
    "sixteen_pixels": 8,
}
"""Pixels in the words that each kernel of ``gpumoat.kernels.image`` loads."""


def pixels_each(kernel: str) -> int:
    """Return the pixels that a thread of a kernel takes at a time."""
    return PIXELS_EACH.get(kernel, 1)


@dataclass(frozen=True)
class Variant:
    """One launch.

    Attributes:
        kernel: The kernel's name in ``gpumoat.kernels.image``.
        blocks: Blocks of the grid.
        block_threads: Threads of a block.
    """

    kernel: str
    blocks: int
    block_threads: int

    @property
    def threads(self) -> int:
        """Threads in all."""
        return self.blocks * self.block_threads

    @property
    def name(self) -> str:
        """The kernel and its launch, as one word."""
        return f"{self.kernel}-{self.blocks}x{self.block_threads}"


def fitting(kernel: str, pixels: int, block_threads: int) -> Variant:
    """Return the launch whose grid just covers a picture.

    Raises:
        KeyError: The kernel takes any grid, so that none is the fitting one.
    """
    return Variant(kernel, ceil_div(pixels, PIXELS_EACH[kernel] * block_threads), block_threads)


def variants(pixels: int, multiprocessors: int) -> list[Variant]:
    """Return the launches to measure, from the lecture's strips to the fastest.

    Args:
        pixels: Pixels of the picture.
        multiprocessors: Multiprocessors of the card: grids that loop are made a multiple of them.
    """
    found = [Variant("strip", threads // 256, 256) for threads in (16_384, 65_536, 262_144, 1_048_576, 4_194_304)]
    found.insert(1, Variant("strip", 128, 128))
    for each in (1, 2, 4, 8, 32):
        found.append(Variant("grid_stride", each * multiprocessors, 256))
    found.append(Variant("grid_stride", 64, 256))
    for block_threads in (64, 128, 256, 512, 1024):
        found.append(fitting("one_pixel", pixels, block_threads))
    for block_threads in (128, 256, 512, 1024):
        found.append(fitting("four_pixels", pixels, block_threads))
    for each in (1, 2, 4, 8, 32):
        found.append(Variant("four_pixels_grid_stride", each * multiprocessors, 256))
    for kernel in ("two_words", "four_words", "eight_words", "four_words_shuffled"):
        for block_threads in (128, 256, 512):
            found.append(fitting(kernel, pixels, block_threads))
    for kernel in ("eight_pixels", "two_long_words", "eight_pixels_exchanged"):
        for block_threads in (128, 256, 512):
            found.append(fitting(kernel, pixels, block_threads))
    for each in (1, 2, 4, 8, 32):
        found.append(Variant("eight_pixels_grid_stride", each * multiprocessors, 256))
    for block_threads in (128, 256):
        found.append(fitting("sixteen_pixels", pixels, block_threads))
    return found


def launch_of(variant: Variant, pixels: int, registers: int, capability: str = "sm_90") -> Launch:
    """Describe a launch for ``gpumoat.kernel_time``: what its source and its grid say, and nothing measured.

    Args:
        variant: The launch.
        pixels: Pixels of the picture.
        registers: Registers of a thread, as the compiler gives them.
        capability: The card's compute capability, which says how many blocks a multiprocessor holds.
    """
    word = WORD_PIXELS[variant.kernel]
    resident = residency(limits(capability), variant.block_threads, registers).blocks
    same = (variant.blocks, variant.block_threads, resident, 3 * pixels)
    if variant.kernel == "strip":
        warp_turns = pixels / WARP
        # Two loads and a store, each lane in a line of its own. Lanes wait for memory when they enter a new sector of
        # the picture; in between they find it in the L1 cache.
        turns = pixels / variant.threads / SECTOR_BYTES
        return Launch(*same, turns, 3 * warp_turns, 3 * pixels, pixels, pixels, 2 * LINE_BYTES)
    if variant.kernel == "sixteen_pixels":
        warps = pixels / 16 / WARP
        span = WARP * 16 // LINE_BYTES  # lines under a warp's pixels
        stores, store_lines = 4, 2 * span  # four stores, each a quarter of every sector of the warp's results
        lines = 3 * span + stores * store_lines
        sectors = stores * store_lines * LINE_BYTES // SECTOR_BYTES
        return Launch(*same, 1, 7 * warps, lines * warps, stores * store_lines * warps, sectors * warps)
    warp_words = pixels / word / WARP
    looping = variant.kernel not in PIXELS_EACH
    # The load of a word and of the pixel after it span the same lines; two stores of eight bytes, one behind the other,
    # fill every sector between them and reach the L2 cache as one (read off the counters: no partial sector arrives).
    span = max(1, WARP * word // LINE_BYTES)
    # After the exchange of halves each of the two stores spans half of the results; otherwise each spans all of them.
    stores = 2 if word == 8 else 1
    results = max(1, WARP * word * 2 // LINE_BYTES)
    if variant.kernel == "eight_pixels_exchanged":
        results //= stores
    requests = 2 + stores
    lines = 2 * span + stores * results
    turns = pixels / word / variant.threads if looping else 1
    return Launch(*same, turns, requests * warp_words, lines * warp_words)
