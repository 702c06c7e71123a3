"""Five reasons why NVIDIA is hard to replace, each with a number for it and a number against it."""

import math

from gpumoat import as_of, claim, fact

# The chip. One card against one card, and one rack against one set of racks.
rated_ratio = fact("mi300x.bf16_dense_flop_per_s") / fact("h100-sxm.bf16_dense_flop_per_s")
rack_ratio = fact("cloudmatrix-384-bf16-flop-per-s") / fact("gb200-nvl72-rack-bf16-flop-per-s")
rack_power_ratio = fact("cloudmatrix-384-power-w") / fact("gb200-nvl72-rack-power-w")
per_watt_ratio = rack_power_ratio / rack_ratio

# The libraries. How much of its rated speed a card reaches.
h100_used_share = fact("h100-gemm-bf16-flop-per-s") / fact("h100-sxm.bf16_dense_flop_per_s")
mi300x_used_share = fact("mi300x-gemm-bf16-flop-per-s") / fact("mi300x.bf16_dense_flop_per_s")
gap_bf16_share = 1 - fact("mi300x-gemm-bf16-flop-per-s") / fact("h100-gemm-bf16-flop-per-s")
gap_fp8_share = 1 - fact("mi300x-gemm-fp8-flop-per-s") / fact("h100-gemm-fp8-flop-per-s")
scales = [
    {"what": "card, rated, BF16", "ahead_ratio": 1 / rated_ratio},
    {"what": "card, tested, BF16", "ahead_ratio": 1 / (1 - gap_bf16_share)},
    {"what": "card, tested, FP8", "ahead_ratio": 1 / (1 - gap_fp8_share)},
    {"what": "system, rated, BF16", "ahead_ratio": 1 / rack_ratio},
    {"what": "system, rated, each watt", "ahead_ratio": per_watt_ratio},
]

# The links, and the story of the supercomputer.
nvlink_bytes_per_s = fact("a100-sxm-80.link_bandwidth_bytes_per_s")
first_nvlink_bytes_per_s = fact("p100-nvlink-bytes-per-s")
node_bytes_per_s = fact("taihulight.injection_bytes_per_s")
link_ratio = nvlink_bytes_per_s / 2 / node_bytes_per_s
link_orders = math.log10(link_ratio)
cards_flop_per_s = claim("lecture-eight-a100") * fact("a100-sxm-80.bf16_dense_flop_per_s")
centre_ratio = fact("taihulight.peak_flop_per_s") / cards_flop_per_s
gpu_failures_share = fact("llama3-interruptions-gpu-count") / fact("llama3-interruptions-all-count")

# The developers, as NVIDIA counts them and as the two documents do, each at the year of its newest figures.
counts = []
for id in [
    "cuda-developers-2017",
    "cuda-developers-2018",
    "cuda-developers-2020",
    "cuda-developers-2024",
    "cuda-developers-2025",
    "cuda-developers-2026",
]:
    counts.append({"who": "NVIDIA counts", "day": as_of(id), "developers_count": fact(id)})
lecture_count = claim("lecture-developers")
chapter_count = claim("chapter-developers")
counts.append({"who": "the lecture says", "day": as_of("lecture-year"), "developers_count": lecture_count})
counts.append({"who": "the book chapter says", "day": as_of("chapter-year"), "developers_count": chapter_count})
documents_ratio = lecture_count / chapter_count
developers_ratio = fact("cuda-developers-2026") / fact("cuda-developers-2017")
developers_growth_share = fact("cuda-developers-2026") / fact("cuda-developers-2025") - 1

# The company.
two_customers_share = fact("nvidia-largest-customer-fy2026-share") + fact("nvidia-second-customer-fy2026-share")
amd_share = fact("amd-revenue-fy2025") / fact("nvidia-net-income-fy2026")
wait_low_s = fact("h100-wait-2023-low-s")
wait_high_s = fact("h100-wait-2023-high-s")
customers_usd = two_customers_share * fact("nvidia-revenue-fy2026")

for row in scales:
    print(f"NVIDIA against the other, {row['what']}: {row['ahead_ratio']:.2f}")

# What the two documents say, and what was found.
age_count = fact("lecture-year") - fact("cuda-announced-year")
chapter_age_count = fact("chapter-year") - fact("cuda-announced-year")
verdicts = [
    {"of": "developers", "who": "lecture", "said": lecture_count, "found": fact("cuda-developers-2025")},
    {"of": "developers", "who": "chapter", "said": chapter_count, "found": fact("cuda-developers-2025")},
    {"of": "age of CUDA", "who": "lecture", "said": claim("lecture-cuda-years"), "found": age_count},
    {"of": "age of CUDA", "who": "chapter", "said": claim("chapter-cuda-years"), "found": chapter_age_count},
]
gaps = [
    {"of": "at least, found in BF16", "said_share": claim("chapter-rocm-gap-low"), "found_share": gap_bf16_share},
    {"of": "at most, found in FP8", "said_share": claim("chapter-rocm-gap-high"), "found_share": gap_fp8_share},
]
said_nvlink_bytes_per_s = claim("lecture-nvlink-bandwidth")
said_link_ratio = claim("lecture-five-orders")

# For the questions at the end: what if the MI300X reached the share of its rated speed that the H100 reaches?
equal_flop_per_s = h100_used_share * fact("mi300x.bf16_dense_flop_per_s")
equal_ratio = equal_flop_per_s / fact("h100-gemm-bf16-flop-per-s")
