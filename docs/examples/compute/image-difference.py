"""Each pixel minus the next, on one card: bytes, shares, planted faults, a traced kernel, sectors, there and back."""

from gpumoat import assume, claim, fact, gpu, measured, simt
from gpumoat.coalescing import ORDERS, warp_traffic
from gpumoat.partition import Range, Strips, Tiles, Waves, check_partition
from gpumoat.units import dtype_bytes

# The picture: a pixel is a byte. A difference can be negative, and needs the next width that hardware has.
rows = assume(20_000, "the picture of the lecture, section 3.2; which of its sides are rows is our choice")
columns = assume(30_000, "the picture of the lecture, section 3.2; which of its sides are rows is our choice")
levels = assume(256, "the values that one byte can have")
pixels = rows * columns
differences = 2 * levels - 1
picture_bytes = pixels * dtype_bytes("int8")
results_bytes = 2 * picture_bytes
moved_bytes = picture_bytes + results_bytes

# The lecture's partition: one unbroken strip for each core, and one pixel more to read.
card = gpu("rtx-4090")
cores = card.core_count
image = Strips(pixels, cores, after=1)
mean = pixels / cores
chunk = image.chunk
slots = image.slots
used_share = image.used_share
last_differences = image.last_elements - 1
spared = chunk - image.last_elements
past_end = chunk * cores + 1 - pixels
seams = rows - 1
balanced_chunk = Strips(pixels, cores, balanced=True).chunk
resident_threads = card.sm_count * card.sm_threads
empty_share = 1 - cores / resident_threads

who = [
    {"core": worker + 1, "first": image.reads(worker).one_based[0], "last": image.reads(worker).one_based[1]}
    for worker in [0, 1, cores - 1]
]

# Faults, planted on purpose: where strips begin, how far apart and how long they are, and how much more is read.
plans = [
    {"fault": "as it should be", "start": 0, "step": chunk, "length": chunk, "more": 1},
    {"fault": "reads its own strip only", "start": 0, "step": chunk, "length": chunk, "more": 0},
    {"fault": "strips one pixel too short", "start": 0, "step": chunk - 1, "length": chunk - 1, "more": 1},
    {"fault": "strips one pixel too long", "start": 0, "step": chunk, "length": chunk + 1, "more": 1},
    {"fault": "strips one pixel too far apart", "start": 0, "step": chunk + 1, "length": chunk, "more": 1},
    {"fault": "counts from one, not from zero", "start": 1, "step": chunk, "length": chunk, "more": 1},
]


def look_at(plan):
    """Give each core its strip, stop at the last pixel, and let the checker look at what is written and read."""
    begins = [plan["start"] + worker * plan["step"] for worker in range(cores)]
    writes = [Range(at, min(at + plan["length"], plan["start"] + pixels)) for at in begins]
    reads = [Range(at, min(at + plan["length"] + plan["more"], pixels)) for at in begins]
    report = check_partition(pixels, writes, reads, after=1)
    return {
        "fault": plan["fault"],
        "missed": report.missed_elements,
        "twice": report.repeated_elements,
        "outside": report.out_of_range_elements,
        "unread": report.missing_read_elements,
        "report": str(report),
    }


faults = []
for plan in plans:
    faults.append(look_at(plan))
for row in faults:
    print(row["fault"] + ": " + row["report"])
planted = faults[1]["unread"]
faults_count = len(faults) - 1

# The same faults in the kernel itself, on a picture that the simulator runs in no time.
small = assume(1003, "pixels of a small picture that does not divide evenly")
small_threads = assume(64, "threads, one strip each")
small_chunk = Strips(small, small_threads).chunk
longer_chunk = chunk + 1
longer_small = small_chunk + 1
scene = [(i * i + i) % levels for i in range(small + 1)]


def run_kernel(plan):
    """Trace the kernel with the same fault in a small size, and let the checker look at the same ranges."""
    source = simt.array((small + 1,), "uint8", scene)
    found = simt.array((small,), "int16", [differences] * small)
    step = small_chunk + plan["step"] - chunk
    length = small_chunk + plan["length"] - chunk
    report = simt.trace("gpumoat.kernels.image:strip", 1, small_threads)(source, found, step, length)
    covered = report.coverage("differences")
    begins = [worker * step for worker in range(small_threads)]
    checked = check_partition(small, [Range(min(at, small), min(at + length, small)) for at in begins])
    return {
        "fault": plan["fault"],
        "checked": checked.missed_elements + checked.repeated_elements,
        "gaps": len(covered.gaps),
        "overlaps": len(covered.overlaps),
        "wrong": len([i for i in range(small) if found.flat[i] != scene[i] - scene[i + 1]]),
        "foreign": report.foreign_reads("pixels", owner="differences").foreign,
        "first": report.findings()[0].kind if report.findings() else "none",
        "covered": str(covered),
    }


traced = []
for plan in [plans[0], plans[4], plans[3], plans[2]]:
    traced.append(run_kernel(plan))
for row in traced:
    print("traced, " + row["fault"] + ": " + row["covered"])

# What a warp touches, for the lecture's order and for the one that suits a GPU.
warp = fact("cuda.warp_threads")
sector_bytes = fact("cuda.sector_bytes")
orders = []
for order in ORDERS:
    this = warp_traffic(image, order, 1, warp, sector_bytes)
    following = warp_traffic(image, order, 1, warp, sector_bytes, shift=1)
    store = warp_traffic(image, order, 2, warp, sector_bytes)
    touched_bytes = this.moved_bytes + following.moved_bytes + store.moved_bytes
    orders.append(
        {
            "order": order,
            "this": this.sectors_per_request,
            "following": following.sectors_per_request,
            "store": store.sectors_per_request,
            "touched_bytes": touched_bytes,
            "useful_share": moved_bytes / touched_bytes,
        }
    )
touched_ratio = orders[0]["touched_bytes"] / orders[1]["touched_bytes"]
lengths = []
length = 1
while length <= 2 * sector_bytes:
    strip = warp_traffic(Strips(length * warp, warp), "strip", 1, warp, sector_bytes)
    lengths.append({"length": length, "sectors": strip.sectors_per_request})
    length = 2 * length

# There and back, as measured between an H200 and the machine that holds it.
in_s = picture_bytes / measured("h200-transfers", "in_pinned_bytes_per_s")
kernel_s = measured("h200-transfers", "kernel_s")
out_s = results_bytes / measured("h200-transfers", "out_pinned_bytes_per_s")
card_s = in_s + kernel_s + out_s
kernel_share = kernel_s / card_s
pageable_s = measured("h200-transfers", "pageable_trip_s")
cpu_s = measured("h200-transfers", "cpu_s")
cpu_cores = measured("h200-transfers", "cores_count")
ways = [
    {"way": "card", "step": "copy in", "step_s": in_s},
    {"way": "card", "step": "compute", "step_s": kernel_s},
    {"way": "card", "step": "copy out", "step_s": out_s},
    {"way": "CPU alone", "step": "compute", "step_s": cpu_s},
]
print(f"on the card {card_s:.4f} s, of which {kernel_share:.1%} compute; on the CPU alone {cpu_s:.4f} s")

# Squares instead of strips, with one neighbour on each side.
sides = [
    assume(3, "the smallest size that the lecture names, section 3.3"),
    assume(5, "a size that the lecture names, section 3.3"),
    assume(30, "a size that the lecture names, section 3.3"),
    assume(512, "the largest size that the lecture names, section 3.3"),
]
squares = []
for side in sides:
    tiles = Tiles(rows, columns, side, side, halo=1)
    waves = Waves(tiles.tasks, cores)
    squares.append({"side": side, "tasks": tiles.tasks, "busy_share": waves.used_share, "read_ratio": tiles.read_ratio})

verdicts = [
    {"of": "pixels", "said": claim("lecture-image-pixels"), "found": pixels},
    {"of": "tasks", "said": claim("lecture-image-tasks"), "found": pixels - 1},
    {"of": "cores of the card", "said": claim("lecture-4090-cores"), "found": cores},
    {"of": "share of a core", "said": claim("lecture-chunk"), "found": chunk},
    {"of": "reserved for all", "said": claim("lecture-slots"), "found": slots},
    {"of": "pixels that the first core reads", "said": claim("lecture-first-core"), "found": image.reads(0).elements},
    {"of": "first pixel of the second core", "said": claim("lecture-second-core-start"), "found": who[1]["first"]},
    {"of": "last pixel of the second core", "said": claim("lecture-second-core-end"), "found": who[1]["last"]},
    {"of": "last pixel of the last core", "said": claim("lecture-range-end"), "found": who[2]["last"]},
]
sizes = [
    {"of": "picture", "said_bytes": claim("lecture-image-size"), "found_bytes": picture_bytes},
    {"of": "results", "said_bytes": claim("lecture-result-bytes"), "found_bytes": results_bytes},
    {"of": "both", "said_bytes": claim("lecture-two-matrices"), "found_bytes": moved_bytes},
]
said_slice_s = claim("lecture-time-slice")
slice_s = fact("windows.time_slice_s")
lanes = fact("avx2.int16_lanes")
lecture_good_share = claim("lecture-utilisation-levels")
mfu_low_share = fact("llama3.mfu_low_share")
mfu_high_share = fact("llama3.mfu_high_share")
