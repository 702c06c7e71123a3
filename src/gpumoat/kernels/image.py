"""Image difference: each pixel minus the next, by every way to share the picture among threads.

The arrays are the same in all kernels:

    pixels        uint8, n + 1 of them: the picture row by row, with its last pixel repeated, so that it has a neighbour
    differences   int16, n of them: ``differences[i] = pixels[i] - pixels[i + 1]``, from -255 to 255

Wide kernels get the same memory a second time, as wider words: see ``wide_views``. A word is little-endian, as on every
NVIDIA GPU and on x86 and Arm: its lowest byte is its first pixel. What is left over after the last whole word is done
pixel by pixel by the first threads, so that any n is right.

``words_each`` and the other counts are not parameters but part of a kernel's name: a compiler unrolls what it knows.
Loads come before stores in the source. A compiler cannot know that ``differences`` is other memory than ``pixels``, and
so must not move a load across a store: what is loaded before the first store is in flight together.
"""

from typing import Any

from numba import cuda, int16, int32, int64, types, uint8, uint32, uint64

ALL_LANES = 0xFFFFFFFF
"""The mask of a warp whose 32 lanes all take part."""


def wide_views(pixels: Any, differences: Any) -> dict[int, tuple[Any, Any]]:
    """Return the picture as wider words and the results as 8-byte words, by pixels a word: 4 and 8.

    Args:
        pixels: n + 1 pixels, uint8, contiguous, beginning at a multiple of 8 bytes (as any allocation does).
        differences: n results, int16, the same.

    Returns:
        For 4: words of 4 pixels and one result word for each; for 8: words of 8 pixels and two result words for each.
    """
    count = int(differences.size)
    views = {}
    for width, name in ((4, "uint32"), (8, "uint64")):
        whole = count // width * width
        views[width] = (pixels[:whole].view(name), differences[:whole].view("uint64"))
    return views


# Where a thread begins. Through uint32 a compiler learns that the index is not negative, and leaves out the test for
# indices that count from the end, which numba would make before every access.


@cuda.jit(device=True, inline="always")
def thread_number():
    """Return the number of this thread in the grid, as int64."""
    return int64(uint32(cuda.grid(1)))


@cuda.jit(device=True, inline="always")
def first_word(words_each):
    """Return the first word of this thread where a block takes ``words_each`` words a thread, a block apart; int64."""
    block_words = words_each * int64(uint32(cuda.blockDim.x))
    return int64(uint32(cuda.blockIdx.x)) * block_words + int64(uint32(cuda.threadIdx.x))


# One pixel at a time


@cuda.jit
def strip(pixels, differences, stride, length):
    """Give each thread one unbroken strip, the lecture's partition.

    Args:
        pixels: uint8, n + 1.
        differences: int16, n.
        stride: Pixels from the beginning of one strip to that of the next; right if it equals ``length``.
        length: Pixels in a strip; right if threads x length is at least n.
    """
    first = cuda.grid(1) * stride
    for i in range(first, min(first + length, differences.size)):
        differences[i] = int16(int32(pixels[i]) - int32(pixels[i + 1]))


@cuda.jit
def grid_stride(pixels, differences):
    """Thread t takes pixels t, t + threads, t + 2 threads and so on: neighbours in a warp are neighbours in memory."""
    for i in range(cuda.grid(1), differences.size, cuda.gridsize(1)):
        differences[i] = int16(int32(pixels[i]) - int32(pixels[i + 1]))


@cuda.jit
def one_pixel(pixels, differences):
    """One thread for each pixel; n threads or more."""
    i = thread_number()
    if i < differences.size:
        differences[i] = int16(int32(pixels[i]) - int32(pixels[i + 1]))


# Four pixels in a word: 4-byte loads, 8-byte stores


@cuda.jit(device=True, inline="always")
def subtract_four(word, following):
    """Return the four differences of a word of four pixels as an 8-byte word; ``following`` is the pixel after it."""
    first = int64(word) & 0xFF
    second = (int64(word) >> 8) & 0xFF
    third = (int64(word) >> 16) & 0xFF
    fourth = (int64(word) >> 24) & 0xFF
    fifth = int64(following) & 0xFF
    low = uint32(((first - second) & 0xFFFF) | (((second - third) & 0xFFFF) << 16))
    high = uint32(((third - fourth) & 0xFFFF) | (((fourth - fifth) & 0xFFFF) << 16))
    return (uint64(high) << uint64(32)) | uint64(low)


@cuda.jit(device=True, inline="always")
def finish(pixels, differences, begin):
    """Let the first threads of the grid do the pixels from ``begin`` on, which fill no word."""
    i = begin + thread_number()
    if i < differences.size:
        differences[i] = int16(int32(pixels[i]) - int32(pixels[i + 1]))


@cuda.jit
def four_pixels(pixels, differences, words, results):
    """One word of four pixels a thread: a 4-byte load, a 1-byte load of the next pixel, an 8-byte store.

    Args:
        pixels: uint8, n + 1.
        differences: int16, n.
        words: The same pixels as uint32, n // 4.
        results: The same differences as uint64, n // 4.
    """
    i = thread_number()
    if i < words.size:
        results[i] = subtract_four(words[i], pixels[4 * i + 4])
    finish(pixels, differences, 4 * words.size)


@cuda.jit
def four_pixels_grid_stride(pixels, differences, words, results):
    """``four_pixels`` by a grid of any size: thread t takes words t, t + threads, t + 2 threads and so on."""
    threads = int64(uint32(cuda.gridsize(1)))
    i = thread_number()
    while i < words.size:
        results[i] = subtract_four(words[i], pixels[4 * i + 4])
        i += threads
    finish(pixels, differences, 4 * words.size)


@cuda.jit
def two_words(pixels, differences, words, results):
    """Two words of four pixels a thread, a block apart; all loads before any store."""
    step = int64(uint32(cuda.blockDim.x))
    i0 = first_word(2)
    i1 = i0 + step
    if i1 < words.size:
        word0 = words[i0]
        word1 = words[i1]
        next0 = pixels[4 * i0 + 4]
        next1 = pixels[4 * i1 + 4]
        results[i0] = subtract_four(word0, next0)
        results[i1] = subtract_four(word1, next1)
    else:
        while i0 < words.size:
            results[i0] = subtract_four(words[i0], pixels[4 * i0 + 4])
            i0 += step
    finish(pixels, differences, 4 * words.size)


@cuda.jit
def four_words(pixels, differences, words, results):
    """Four words of four pixels a thread, a block apart; all loads before any store."""
    step = int64(uint32(cuda.blockDim.x))
    i0 = first_word(4)
    i1 = i0 + step
    i2 = i1 + step
    i3 = i2 + step
    if i3 < words.size:
        word0 = words[i0]
        word1 = words[i1]
        word2 = words[i2]
        word3 = words[i3]
        next0 = pixels[4 * i0 + 4]
        next1 = pixels[4 * i1 + 4]
        next2 = pixels[4 * i2 + 4]
        next3 = pixels[4 * i3 + 4]
        results[i0] = subtract_four(word0, next0)
        results[i1] = subtract_four(word1, next1)
        results[i2] = subtract_four(word2, next2)
        results[i3] = subtract_four(word3, next3)
    else:
        while i0 < words.size:
            results[i0] = subtract_four(words[i0], pixels[4 * i0 + 4])
            i0 += step
    finish(pixels, differences, 4 * words.size)


@cuda.jit
def eight_words(pixels, differences, words, results):
    """Eight words of four pixels a thread, a block apart; all loads before any store."""
    step = int64(uint32(cuda.blockDim.x))
    i0 = first_word(8)
    i1 = i0 + step
    i2 = i1 + step
    i3 = i2 + step
    i4 = i3 + step
    i5 = i4 + step
    i6 = i5 + step
    i7 = i6 + step
    if i7 < words.size:
        word0 = words[i0]
        word1 = words[i1]
        word2 = words[i2]
        word3 = words[i3]
        word4 = words[i4]
        word5 = words[i5]
        word6 = words[i6]
        word7 = words[i7]
        next0 = pixels[4 * i0 + 4]
        next1 = pixels[4 * i1 + 4]
        next2 = pixels[4 * i2 + 4]
        next3 = pixels[4 * i3 + 4]
        next4 = pixels[4 * i4 + 4]
        next5 = pixels[4 * i5 + 4]
        next6 = pixels[4 * i6 + 4]
        next7 = pixels[4 * i7 + 4]
        results[i0] = subtract_four(word0, next0)
        results[i1] = subtract_four(word1, next1)
        results[i2] = subtract_four(word2, next2)
        results[i3] = subtract_four(word3, next3)
        results[i4] = subtract_four(word4, next4)
        results[i5] = subtract_four(word5, next5)
        results[i6] = subtract_four(word6, next6)
        results[i7] = subtract_four(word7, next7)
    else:
        while i0 < words.size:
            results[i0] = subtract_four(words[i0], pixels[4 * i0 + 4])
            i0 += step
    finish(pixels, differences, 4 * words.size)


# Eight pixels in a word: 8-byte loads, two 8-byte stores


@cuda.jit(device=True, inline="always")
def low_half(word):
    """Return the first four pixels of a word of eight, as uint32."""
    return uint32(word & uint64(0xFFFFFFFF))


@cuda.jit(device=True, inline="always")
def high_half(word):
    """Return the last four pixels of a word of eight, as uint32."""
    return uint32(word >> uint64(32))


@cuda.jit(device=True, inline="always")
def store_eight(results, i, word, following):
    """Store the eight differences of word ``i``; ``following`` is the pixel after it, or a word that begins with it."""
    results[2 * i] = subtract_four(low_half(word), high_half(word))
    results[2 * i + 1] = subtract_four(high_half(word), following)


@cuda.jit
def eight_pixels(pixels, differences, words, results):
    """One word of eight pixels a thread: an 8-byte load, a 1-byte load of the next pixel, two 8-byte stores.

    Args:
        pixels: uint8, n + 1.
        differences: int16, n.
        words: The same pixels as uint64, n // 8.
        results: The same differences as uint64, two for each word.
    """
    i = thread_number()
    if i < words.size:
        store_eight(results, i, words[i], pixels[8 * i + 8])
    finish(pixels, differences, 8 * words.size)


@cuda.jit
def eight_pixels_grid_stride(pixels, differences, words, results):
    """``eight_pixels`` by a grid of any size: thread t takes words t, t + threads, t + 2 threads and so on."""
    threads = int64(uint32(cuda.gridsize(1)))
    i = thread_number()
    while i < words.size:
        store_eight(results, i, words[i], pixels[8 * i + 8])
        i += threads
    finish(pixels, differences, 8 * words.size)


@cuda.jit
def two_long_words(pixels, differences, words, results):
    """Two words of eight pixels a thread, a block apart; all loads before any store."""
    i0 = first_word(2)
    i1 = i0 + int64(uint32(cuda.blockDim.x))
    if i1 < words.size:
        word0 = words[i0]
        word1 = words[i1]
        next0 = pixels[8 * i0 + 8]
        next1 = pixels[8 * i1 + 8]
        store_eight(results, i0, word0, next0)
        store_eight(results, i1, word1, next1)
    elif i0 < words.size:
        store_eight(results, i0, words[i0], pixels[8 * i0 + 8])
    finish(pixels, differences, 8 * words.size)


@cuda.jit
def sixteen_pixels(pixels, differences, words, results):
    """Sixteen pixels in a row a thread: two 8-byte loads, and four 8-byte stores that lie 32 bytes apart in a warp.

    Wide for a thread and not coalesced for a warp: each store touches a sector a thread and fills a quarter of it. A
    16-byte load or store would be better, but numba has none: it takes complex128 and 16-byte records apart.
    """
    i = 2 * thread_number()
    if i + 1 < words.size:
        word0 = words[i]
        word1 = words[i + 1]
        following = pixels[8 * i + 16]
        store_eight(results, i, word0, low_half(word1))
        store_eight(results, i + 1, word1, following)
    elif i < words.size:
        store_eight(results, i, words[i], pixels[8 * i + 8])
    finish(pixels, differences, 8 * words.size)


# Neighbours from the neighbouring lane. Not for numba's simulator, which has no shuffles. Blocks are whole warps.


@cuda.jit(device=True, inline="always")
def next_word(pixels, word, i):
    """Return a word that begins with the pixel after word ``i``: the next lane's, or for the last lane from memory."""
    following = cuda.shfl_down_sync(ALL_LANES, int32(word), 1)
    if cuda.laneid == 31:
        following = int32(pixels[4 * i + 4])
    return following


@cuda.jit
def four_words_shuffled(pixels, differences, words, results):
    """``four_words``, but a lane asks the next lane for the pixel after its word; only the last lane loads it."""
    step = int64(uint32(cuda.blockDim.x))
    i0 = first_word(4)
    i1 = i0 + step
    i2 = i1 + step
    i3 = i2 + step
    if int64(uint32(cuda.blockIdx.x + 1)) * step * 4 <= words.size:  # true or false for the whole block
        word0 = words[i0]
        word1 = words[i1]
        word2 = words[i2]
        word3 = words[i3]
        next0 = next_word(pixels, word0, i0)
        next1 = next_word(pixels, word1, i1)
        next2 = next_word(pixels, word2, i2)
        next3 = next_word(pixels, word3, i3)
        results[i0] = subtract_four(word0, next0)
        results[i1] = subtract_four(word1, next1)
        results[i2] = subtract_four(word2, next2)
        results[i3] = subtract_four(word3, next3)
    else:
        while i0 < words.size:
            results[i0] = subtract_four(words[i0], pixels[4 * i0 + 4])
            i0 += step
    finish(pixels, differences, 4 * words.size)


@cuda.jit
def eight_pixels_exchanged(pixels, differences, words, results):
    """8-byte loads and 8-byte stores, all coalesced: lanes exchange halves of their words in between.

    A warp loads 32 words of eight pixels in a row and has 64 result words to store. If lane L stored the two of its own
    word, each store would skip every second result word. So the halves are dealt out first: in the first store lane L
    has half L % 2 of word L // 2, in the second that of word 16 + L // 2.
    """
    lane = int64(uint32(cuda.laneid))
    i = thread_number()
    warp_begin = i - lane
    if warp_begin + 32 <= words.size:  # true or false for the whole warp
        word = words[i]
        low = int32(low_half(word))
        high = int32(high_half(word))
        source = int32(lane >> 1)
        low_a = cuda.shfl_sync(ALL_LANES, low, source)
        high_a = cuda.shfl_sync(ALL_LANES, high, source)
        low_b = cuda.shfl_sync(ALL_LANES, low, source + 16)
        high_b = cuda.shfl_sync(ALL_LANES, high, source + 16)
        mine_a = low_a
        mine_b = low_b
        if lane & 1 == 1:
            mine_a = high_a
            mine_b = high_b
        next_a = cuda.shfl_down_sync(ALL_LANES, mine_a, 1)
        next_b = cuda.shfl_down_sync(ALL_LANES, mine_b, 1)
        first_b = cuda.shfl_sync(ALL_LANES, mine_b, 0)
        if lane == 31:
            next_a = first_b
            next_b = int32(pixels[8 * i + 8])
        results[2 * warp_begin + lane] = subtract_four(mine_a, next_a)
        results[2 * warp_begin + lane + 32] = subtract_four(mine_b, next_b)
    elif i < words.size:
        store_eight(results, i, words[i], pixels[8 * i + 8])
    finish(pixels, differences, 8 * words.size)


_PIXELS, _DIFFERENCES = types.Array(uint8, 1, "C"), types.Array(int16, 1, "C")
_NARROW = (_PIXELS, _DIFFERENCES)
_WIDE = (*_NARROW, types.Array(uint32, 1, "C"), types.Array(uint64, 1, "C"))
_LONG = (*_NARROW, types.Array(uint64, 1, "C"), types.Array(uint64, 1, "C"))

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "strip": (*_NARROW, types.int64, types.int64),
    "grid_stride": _NARROW,
    "one_pixel": _NARROW,
    "four_pixels": _WIDE,
    "four_pixels_grid_stride": _WIDE,
    "two_words": _WIDE,
    "four_words": _WIDE,
    "eight_words": _WIDE,
    "eight_pixels": _LONG,
    "eight_pixels_grid_stride": _LONG,
    "sixteen_pixels": _LONG,
    "two_long_words": _LONG,
    "four_words_shuffled": _WIDE,
    "eight_pixels_exchanged": _LONG,
}
"""The argument types of each kernel, for compiling without a card."""

SHUFFLES = ("four_words_shuffled", "eight_pixels_exchanged")
"""Kernels that numba's simulator cannot run."""
