"""A strip for a CPU, neighbours for a GPU: two orders traced and measured, a ladder to the copy rate, and the trip."""

from gpumoat import assume, fact, measured, simt
from gpumoat.bench.image_variants import PIXELS_EACH, fitting, launch_of, pixels_each, variants
from gpumoat.facts import registry
from gpumoat.kernel_time import Constants, bytes_in_flight, predict
from gpumoat.occupancy import limits, residency

# Two machines, two orders: strips, and neighbours in turn. The CPU's slow order was timed on a part of the picture.
pixels = measured("h200-image", "pixels_count")
moved_bytes = measured("h200-image", "moved_bytes")
cores = measured("h200-host-image", "cores_count")
cpu_s = measured("h200-host-image", "strips_s")
cpu_ratio = measured("h200-host-image", "interleaved_ratio")
small_cpu_ratio = measured("cpu-image", "interleaved_ratio")
few_s = measured("h200-image", "strip_64x256_s")
few_turns_s = measured("h200-image", "grid_stride_64x256_s")
spread_s = measured("h200-image", "strip_128x128_s")
many_s = measured("h200-image", "strip_1024x256_s")
many_turns_s = measured("h200-image", "grid_stride_1056x256_s")
both = [
    {"machine": f"CPU, {cores} cores", "strip_s": cpu_s, "turns_s": cpu_s * cpu_ratio},
    {"machine": "H200, few threads", "strip_s": few_s, "turns_s": few_turns_s},
    {"machine": "H200, many threads", "strip_s": many_s, "turns_s": many_turns_s},
]
order_ratio = few_s / many_turns_s
same_ratio = many_s / many_turns_s
beside_share = few_s / cpu_s

# Six kernels, traced on a small picture, and what the card's own counters read on the whole one.
count = assume(4096, "pixels of a picture that makes whole warps of every kernel here")
threads = assume(64, "threads, for the two kernels that go on after their first pixel")
block = assume(128, "threads of a block, for the others")
picture = [(i * i + i) % block for i in range(count + 1)]
words = {"strip": "", "grid_stride": "", "four_pixels": "I", "eight_pixels": "Q"}
words |= {"four_words_shuffled": "I", "sixteen_pixels": "Q"}


def look_at(kernel, word):
    """Trace a kernel on the small picture, and say what its requests touch."""
    source = simt.array((count + 1,), "uint8", picture)
    found = simt.array((count,), "int16", [0] * count)
    wide = [source.flat[:count].cast(word), found.flat.cast("B").cast("Q")] if word else []
    lengths = [count // threads, count // threads] if kernel == "strip" else []
    grid = (fitting(kernel, count, block).blocks, block) if kernel in PIXELS_EACH else (2, threads // 2)
    report = simt.trace("gpumoat.kernels.image:" + kernel, *grid)(source, found, *wide, *lengths)
    loads = [report.requests(name, "load") for name in ("pixels", "words")[: len(wide) or 1]]
    return {
        "load": sum([each.sectors for each in loads]) / sum([each.requests for each in loads]),
        "store": report.requests("results" if wide else "differences", "store").sectors_per_request,
        "used_share": report.requests("pixels").efficiency,
        "once": report.coverage("differences").exactly_once,
        "request": report.request("pixels", turn=warp) if not wide else [],
    }


warp = fact("cuda.warp_threads")
sector_bytes = fact("cuda.sector_bytes")
seen = {}
sectors = []
for kernel, word in words.items():
    row = look_at(kernel, word)
    seen[kernel] = row
    sectors.append(
        {
            "kernel": kernel,
            "load": row["load"],
            "card_load": measured("h200-kernel-counters", f"{kernel}_load_sectors"),
            "store": row["store"],
            "card_store": measured("h200-kernel-counters", f"{kernel}_store_sectors"),
            "once": row["once"],
        }
    )
    print(f"{kernel}: {row['load']:.2f} sectors a load, {row['store']:.2f} a store; on the card the same")
strip_request = look_at("strip", "")["request"]
turns_request = look_at("grid_stride", "")["request"]
strip_used_share = seen["strip"]["used_share"]
turns_used_share = seen["grid_stride"]["used_share"]

# The model of time: a card by its constants, a launch by what its source and its grid say.
names = [name for name in Constants.__dataclass_fields__ if name != "multiprocessors"]
multiprocessors = measured("h200-kernel-time", "multiprocessors_count")
card = Constants(multiprocessors, **{name: measured("h200-kernel-time", name) for name in names})
needed_bytes = bytes_in_flight(card.copy_bytes_per_s, card.latency_s)
copy_s = measured("h200-image", "copy_s")
every = variants(pixels, multiprocessors)
rungs = {
    "strips, few threads": every[0],
    "strips, many threads": every[3],
    "in turn, few threads": every[11],
    "in turn, many threads": every[9],
    "one pixel, small blocks": every[13],
    "one pixel, large blocks": every[15],
    "four pixels": every[19],
    "eight pixels": every[39],
    "sixteen pixels in a row": every[53],
    "eight words of four": every[33],
    "four words of four": every[35],
}
sm = limits("sm_90")
places = multiprocessors * sm.warps * sm.warp_threads


def rung(way, launch):
    """Put the measured time of a launch beside the model's, with the bytes that it can have in flight."""
    registers = measured("h200-kernel-counters", f"{launch.kernel}_registers_count")
    time_s = measured("h200-image", f"{launch.kernel}_{launch.blocks}x{launch.block_threads}_s")
    model = predict(launch_of(launch, pixels, registers), card)
    blocks = residency(sm, launch.block_threads, registers).blocks
    flying_threads = min(launch.blocks, blocks * multiprocessors) * launch.block_threads
    flying_bytes = flying_threads * pixels_each(launch.kernel) * moved_bytes / pixels
    return {
        "way": way,
        "time_s": time_s,
        "copy_share": copy_s / time_s,
        "model_s": model.time_s,
        "error_share": abs(model.time_s / time_s - 1),
        "limit": model.limit,
        "threads": flying_threads,
        "flying_bytes": flying_bytes,
        "enough_share": flying_bytes / needed_bytes,
        "occupancy_share": flying_threads / places,
    }


def point(way, launch, of):
    """Return one mark of the figure: the share of the copy rate, measured or by the model."""
    both_times = rung(way, launch)
    return {"way": way, "of": of, "copy_share": copy_s / both_times["time_s" if of == "measured" else "model_s"]}


ladder = [rung(way, launch) for way, launch in rungs.items()]
kinds = ["measured", "by the model"]
points = [point(way, launch, of) for way, launch in rungs.items() for of in kinds]
for step in ladder:
    print(f"{step['way']}: {step['copy_share']:.0%} of the copy rate, by the model {copy_s / step['model_s']:.0%}")
registers = measured("h200-kernel-counters", "strip_registers_count")
few_threads = every[0].threads
few_blocks = every[0].blocks
many_threads = every[3].threads
needed_threads = needed_bytes / (moved_bytes / pixels)
in_flight = ["in turn, few threads", "in turn, many threads", "four pixels", "eight pixels"]
in_flight += ["eight words of four", "four words of four"]
flight = [rung(way, rungs[way]) for way in in_flight]
launches_count = measured("h200-kernel-time", "launches_count")
fitted_error_share = measured("h200-kernel-time", "greatest_error_fitted_share")
scored_error_share = measured("h200-kernel-time", "greatest_error_scored_share")
block_s = 1 / card.blocks_per_s
lookup_s = 1 / card.lines_per_s
few_begun_bytes = launch_of(every[0], pixels, registers).line_bytes_per_thread * few_threads
many_begun_bytes = launch_of(every[3], pixels, registers).line_bytes_per_thread * many_threads
few_memory_bytes = measured("h200-kernel-counters", "strip_64x256_memory_bytes")
many_memory_bytes = measured("h200-kernel-counters", "strip_1024x256_memory_bytes")
best_s = measured("h200-image", "best_s")
best_share = copy_s / best_s
best_ratio = few_s / best_s
own_copy_share = moved_bytes / best_s / card.copy_bytes_per_s
long_copy_share = moved_bytes / best_s / measured("h200-image", "large_copy_bytes_per_s")

# The whole trip, against the CPU beside the card.
trips = {
    "card, from NumPy's arrays": "pageable_trip_s",
    "card, from pinned memory": "pinned_trip_s",
    "card, pinned and overlapped": "overlapped_trip_s",
    "CPU, NumPy": "numpy_s",
    "CPU, numba, one thread": "cpu_one_thread_s",
    "CPU, numba, all cores": "cpu_s",
}
all_cores_s = measured("h200-transfers", "cpu_s")
trip = []
for road, key in trips.items():
    took_s = measured("h200-transfers", key)
    trip.append({"way": road, "time_s": took_s, "cpu_ratio": took_s / all_cores_s})
overlapped_s = measured("h200-transfers", "overlapped_trip_s")
wire_s = 2 * pixels / measured("h200-transfers", "out_pinned_bytes_per_s")
kernel_share = best_s / overlapped_s
pinning_s = measured("h200-transfers", "pinning_s")
pinning_ratio = pinning_s / all_cores_s
second_card_s = overlapped_s + best_s
second_cpu_s = 2 * all_cores_s
print(f"there and back {overlapped_s:.4f} s, of which the kernel {kernel_share:.1%}; the CPU {all_cores_s:.4f} s")

judged = ["lecture-contiguous", "lecture-core-numbers", "lecture-cpu-serial", "chapter-cpu-sequential"]
verdicts = []
for id in judged:
    record = registry().claims[id]
    verdicts.append({"says": record.text("says"), "verdict": record.text("verdict")})
