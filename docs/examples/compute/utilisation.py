"""What a utilisation can be a share of: six loads on one card, then occupancy, MFU, and cards that nobody was given."""

from gpumoat import assume, claim, fact, gpu, measured
from gpumoat.occupancy import limits, residency
from gpumoat.units import KIB

card = gpu("h200-sxm")
fp32 = card.fp32_vector_flop_per_s
bf16 = card.bf16_dense_flop_per_s
bytes_per_s = card.memory_bandwidth_bytes_per_s
idle_w = measured("h200-utilisation", "idle_power_w")

# One card under six loads: what each of five measures says. The last column is work done over the rated peak.
cases = [
    ("one thread", "one_thread", "flop_per_s", fp32),
    ("one warp each", "one_warp_each", "flop_per_s", fp32),
    ("image, strips", "strips", "bytes_per_s", bytes_per_s),
    ("image, wide loads", "fast_image", "bytes_per_s", bytes_per_s),
    ("product, half the time", "half_the_time", "flop_per_s", bf16),
    ("product, all the time", "product", "flop_per_s", bf16),
]
loads = []
points = []
for load, key, rate, peak in cases:
    row = {
        "load": load,
        "busy_share": measured("h200-utilisation", key + "_busy_share"),
        "sm_share": measured("h200-utilisation", key + "_sm_share"),
        "occupancy_share": measured("h200-utilisation", key + "_occupancy_share"),
        "peak_share": measured("h200-utilisation", key + "_" + rate) / peak,
        "power_w": measured("h200-utilisation", key + "_power_w"),
    }
    loads.append(row)
    points.append({"load": load, "measure": "GPU-Util", "share": row["busy_share"]})
    points.append({"load": load, "measure": "multiprocessors", "share": row["sm_share"]})
    points.append({"load": load, "measure": "occupancy", "share": row["occupancy_share"]})
    points.append({"load": load, "measure": "rated peak", "share": row["peak_share"]})
for row in loads:
    print(
        f"{row['load']}: GPU-Util {row['busy_share']:.0%}, of the peak {row['peak_share']:.4%}, {row['power_w']:.0f} W"
    )
thread_power_ratio = loads[0]["power_w"] / idle_w
tensor_share = measured("h200-utilisation", "product_tensor_share")
slow_clock_hz = measured("h200-utilisation", "product_clock_hz")
fast_clock_hz = measured("h200-utilisation", "half_the_time_clock_hz")
half_work_share = loads[4]["peak_share"] / loads[5]["peak_share"]
strips_ratio = loads[3]["peak_share"] / loads[2]["peak_share"]

# Occupancy, predicted: resident warps over places for warps.
sm = limits("sm_90")
warps_count = card.sm_count * sm.warps
strips_threads = assume(16_384, "a thread for each core of an RTX 4090, as in the lecture, section 3.3")
registers = assume(20, "registers that the compiler gave the kernel eight_pixels in the run h200-utilisation")
block = assume(128, "threads of a block, as the run h200-utilisation launched it")
full = residency(sm, block, registers)
predicted = [
    {"load": cases[0][0], "predicted_share": 1 / warps_count, "measured_share": loads[0]["occupancy_share"]},
    {"load": cases[1][0], "predicted_share": 1 / sm.warps, "measured_share": loads[1]["occupancy_share"]},
    {
        "load": cases[2][0],
        "predicted_share": strips_threads / sm.warp_threads / warps_count,
        "measured_share": loads[2]["occupancy_share"],
    },
    {"load": cases[3][0], "predicted_share": full.share, "measured_share": loads[3]["occupancy_share"]},
]

# What keeps a multiprocessor from holding more: a block comes in whole, and the tightest of four limits decides.
small_threads = fact("occupancy-example.small_threads")
large_threads = fact("occupancy-example.large_threads")
example_registers = fact("occupancy-example.registers")
usual_threads = assume(256, "a usual size of a block")
few_registers = assume(32, "a usual number of registers")
some_registers = assume(64, "twice as many")
many_registers = assume(168, "as many as a kernel takes that keeps much of a matrix in registers")
one_more_registers = some_registers + 1
held_bytes = assume(48 * KIB, "the shared memory that a kernel gets without asking for more")
shapes = [
    {"threads": sm.warp_threads, "registers": few_registers, "shared_bytes": 0},
    {"threads": small_threads, "registers": example_registers, "shared_bytes": 0},
    {"threads": large_threads, "registers": example_registers, "shared_bytes": 0},
    {"threads": usual_threads, "registers": some_registers, "shared_bytes": held_bytes},
    {"threads": usual_threads, "registers": many_registers, "shared_bytes": 0},
    {"threads": sm.block_threads, "registers": one_more_registers, "shared_bytes": 0},
]
fits = []
for shape in shapes:
    found = residency(sm, **shape)
    fits.append({**shape, "blocks": found.blocks, "occupancy_share": found.share, "limit": found.limit})
divided_blocks = sm.registers // (large_threads * example_registers)
started_blocks = residency(sm, sm.block_threads, some_registers).blocks
levels = []
for count in range(sm.thread_registers, 0, -1):
    share = residency(sm, usual_threads, count).share
    if not levels or share > levels[-1]["occupancy_share"]:
        levels.append({"registers": count, "occupancy_share": share})

# Shares of the rated peak in large trainings, as published.
trainings = [
    {"model": "GPT-3, V100", "mfu_share": fact("gpt3.mfu_share")},
    {"model": "Megatron-Turing NLG, A100", "mfu_share": fact("mt-nlg-mfu-share")},
    {"model": "Gopher, TPU v3", "mfu_share": fact("gopher-mfu-share")},
    {"model": "Llama 3 405B, H100, slowest", "mfu_share": fact("llama3.mfu_low_share")},
    {"model": "Llama 3 405B, H100, fastest", "mfu_share": fact("llama3.mfu_high_share")},
    {"model": "PaLM, TPU v4", "mfu_share": fact("palm-mfu-share")},
    {"model": "MegaScale", "mfu_share": fact("megascale-mfu-share")},
]
best_share = trainings[-1]["mfu_share"]
alone_share = loads[5]["peak_share"]
short_share = measured("h200-products", "library_bf16_large_flop_per_s") / bf16
effective_share = fact("llama3.effective_time_share")
whole_share = effective_share * fact("llama3.mfu_high_share")

# The same clusters by two measures, and cards that nobody was given.
before_ratio = fact("muxflow-busy-before-share") / fact("muxflow-sm-before-share")
after_ratio = fact("muxflow-busy-after-share") / fact("muxflow-sm-after-share")
busy_growth_ratio = fact("muxflow-busy-after-share") / fact("muxflow-busy-before-share")
sm_growth_ratio = fact("muxflow-sm-after-share") / fact("muxflow-sm-before-share")
waiting_count = fact("alibaba-2023-waiting-count")

said_good_share = claim("lecture-utilisation-levels")
said_best_share = claim("lecture-utilisation-best")
verdicts = [
    {"of": "excellent", "said_share": claim("lecture-utilisation-levels")},
    {"of": "outstanding", "said_share": claim("lecture-utilisation-best")},
]
print(f"one thread: GPU-Util {loads[0]['busy_share']:.0%} at {thread_power_ratio:.2f} times the power of an idle card")
