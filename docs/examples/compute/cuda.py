"""What CUDA changes in a loop: the loop, the kernel, one launch after another, and the languages for it."""

from gpumoat import assume, fact, gpu, measured, simt
from gpumoat.facts import registry
from gpumoat.hardware import subject

# A picture as one row of pixels, and the loop that a CPU would run over it.
pixels_count = assume(997, "a small picture that divides evenly into nothing; the card was given the same")
levels = assume(251, "the picture's pixels are the remainders of a division, so that no pattern hides a mistake")
bend = assume(31, "any odd number does")
slope = assume(7, "any other does")
picture = [(i * i * bend + i * slope) % levels for i in range(pixels_count + 1)]


def loop(pixels, n):
    """Subtract from each pixel the next one, one after the other."""
    differences = [0] * n
    for i in range(0, n, 1):
        differences[i] = pixels[i] - pixels[i + 1]
    return differences


expected = loop(picture, pixels_count)

# The four steps. The simulator stands in for the card: it runs the kernel's source thread by thread.
kernel = "gpumoat.kernels.image:grid_stride"


def on_the_card(blocks, threads, order="forward"):
    """Copy the picture to the card, launch, copy the results back; and the report of what the threads touched."""
    on_card = simt.array((pixels_count + 1,), "uint8", picture)
    results = simt.array((pixels_count,), "int16", [0] * pixels_count)
    report = simt.trace(kernel, blocks, threads, order=order)(on_card, results)
    return list(results.flat), report


warp = fact("cuda.warp_threads")
block = assume(64, "threads of a block")
few_blocks = assume(4, "blocks of a small grid")
more_blocks = assume(16, "blocks of a grid with more threads than pixels")
grids = [(1, 1), (1, warp), (few_blocks, block), (more_blocks, block)]
reads_each = 2
writes_each = 1
accesses_each = reads_each + writes_each
launches = []
for blocks, threads in grids:
    found, report = on_the_card(blocks, threads)
    touched = report.accesses_per_thread()
    launches.append(
        {
            "blocks": blocks,
            "threads": threads,
            "together": blocks * threads,
            "most_pixels": max(touched) // accesses_each,
            "idle_threads": touched.count(0),
            "equal": sum(1 for i in range(pixels_count) if found[i] == expected[i]),
            "once": report.coverage("differences").exactly_once,
        }
    )
for row in launches:
    print(f"{row['together']} threads: {row['equal']} of {pixels_count} results as the loop has them")

# The order in which threads come up is nobody's promise: every order must give the same.
orders = ("forward", "reverse", "random")
orders_equal = [on_the_card(few_blocks, block, order)[0] == expected for order in orders]

# On a real card, from the same file.
card_results = measured("h200-same-kernels", "elements_count")
card_equal = measured("h200-same-kernels", "equal_count")
card_launches = measured("h200-same-kernels", "launches_count")

# Who touches what, for a picture that fits on a page.
shown_count = assume(24, "a picture that fits on a page")
shown_threads = assume(4, "threads of a block, so that the picture has room for all")
shown = simt.array((shown_count + 1,), "uint8", picture[: shown_count + 1])
shown_results = simt.array((shown_count,), "int16", [0] * shown_count)
touches = simt.trace(kernel, 2, shown_threads)(shown, shown_results).touches("differences")
stride = 2 * shown_threads

# A thread too many: what the guard of one_pixel is for.
padded = -(-pixels_count // block) * block
over_threads = padded - pixels_count

# From the first card to this one.
card = gpu("h200-sxm")
first_cores = fact("cuda-2006-cores-count")
cores_ratio = card.core_count / first_cores
one_thread_flop_per_s = measured("h200-utilisation", "one_thread_flop_per_s")
one_thread_share = one_thread_flop_per_s / card.fp32_vector_flop_per_s

brook = subject("language", "language-brook")
metal = subject("language", "language-ctm")
written = [
    ("language-cuda-c", "C++", "one thread", "NVIDIA"),
    ("language-opencl", "C", "one thread", "several makers"),
    ("language-cuda-fortran", "Fortran", "one thread", "NVIDIA"),
    ("language-numba", "Python", "one thread", "NVIDIA"),
    ("language-sycl", "C++", "one thread", "several makers"),
    ("language-cupy", "Python", "whole arrays", "NVIDIA, AMD"),
    ("language-hip", "C++", "one thread", "AMD, NVIDIA"),
    ("language-triton", "Python", "one tile", "several makers"),
    ("language-cutile", "Python", "one tile", "NVIDIA"),
]
languages = []
for id, base, unit, cards in written:
    each = subject("language", id)
    languages.append({"language": each.name, "since": each.first_date, "base": base, "unit": unit, "cards": cards})
tiles_count = len([row for row in languages if row["unit"] == "one tile"])

judged = {
    "lecture-cuda-acronym": "the name",
    "lecture-cuda-definition": "what it is",
    "lecture-cuda-same-year": "the year",
    "lecture-cuda-languages": "languages",
    "lecture-before-cuda": "before",
    "lecture-few-hundred": "who could",
    "lecture-cuda-lowers-bar": "after",
    "lecture-gpu-flow": "the steps",
    "lecture-core-numbers": "numbers",
}
claims = registry().claims
verdicts = []
for id, of in judged.items():
    verdicts.append({"of": of, "says": claims[id].text("says"), "verdict": claims[id].text("verdict")})
print(f"on an H200: {card_equal:,} of {card_results:,} results equal, over {card_launches} launches")
