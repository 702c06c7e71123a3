"""The numbers in the explanations of claims on how a GPU computes, each computed a second time."""

import math

PIXELS, CORES, SMS = 20_000 * 30_000, 16_384, 128
CHUNK = -(-PIXELS // CORES)
MAPS = 2_048 * 3 * 96
GIB = 2**30

SAID = {
    "lecture-gpu-pupils": {"32": 32},
    "lecture-cpu-serial": {"16 numbers": 256 // 16, "16 bits": 16},
    "lecture-cpu-parallel": {"16 numbers": 256 // 16, "16 bits": 16},
    "lecture-time-slice": {"20 milliseconds": 20},
    "lecture-true-parallel": {"16,384": SMS * 128, "36,622": CHUNK},
    "lecture-image-bytes": {"0 to": 0, "255": 2**8 - 1},
    "lecture-image-size": {"0.6 GB": PIXELS / 1e9},
    "lecture-result-bytes": {"255": 255 - 0, "511": 2 * 255 + 1, "256": 2**8, "16 bits": 16},
    "lecture-two-matrices": {"1.12 GiB": 2 * PIXELS / GIB, "1.68 GiB": 3 * PIXELS / GIB, "16 bits": 16},
    "lecture-image-tasks": {"19,999": 20_000 - 1},
    "lecture-4090-cores": {"128 in": CORES / SMS, "128 multiprocessors": SMS},
    "lecture-mean-share": {"36,621.09375": PIXELS / CORES},
    "lecture-slots": {"99.998": 100 * PIXELS / (CHUNK * CORES)},
    "lecture-last-core": {"21,773": PIXELS - (CORES - 1) * CHUNK - 1},
    "lecture-second-core-start": {"from 1": 1, "core 1": 1},
    "lecture-second-core-end": {"73,245": 2 * CHUNK + 1, "from 1": 1},
    "lecture-range-end": {"16,384": CORES, "600,014,849": CHUNK * CORES + 1, "14,849": CHUNK * CORES + 1 - PIXELS},
    "lecture-core-numbers": {"4090": 4090, "196,608": SMS * 48 * 32},
    "lecture-contiguous": {"32 threads": 32, "32 sectors": 32},
    "lecture-largest-tile": {"264,196": (512 + 2) ** 2, "4090": 4090, "316": math.isqrt(99 * 1024) - 2},
    "lecture-tiles": {
        "512 x": 512,
        "x 512": 512,
        "2,360": -(-20_000 // 512) * -(-30_000 // 512),
        "86 per": 100 * (1 - 2_360 / CORES),
        "16,384": CORES,
        "3 x": 3,
        "x 3": 3,
        "2.8": (3 + 2) ** 2 / 3**2,
    },
    "lecture-utilisation-levels": {"3 report": 3, "38": 38, "43": 43},
    "lecture-qkv-maps": {"96": 96},
    "lecture-hundred-cores": {"1,638,400": 100 * CORES},
    "lecture-surplus": {"0.36": MAPS / (100 * CORES)},
    "lecture-map-shape": {"3,145,728": 2 * 12_288 * 128},
    "lecture-dot-products": {"75,497,472": MAPS * 128},
    "lecture-similarities": {"201,424,896": sum(range(1, 2_049)) * 96},
    "lecture-tasks-fit": {"246": -(-(2_048**2) * 96 // (100 * CORES))},
    "lecture-maps-per-head": {"96 heads": 96, "96 pieces": 96},
    "chapter-qkv-flop": {"4,096": 4096, "422": 3 * 2 * 2048 * 2048 * 4096**2 / 1e12, "2,048": 2048},
    "chapter-attention-code": {"70,368,744,177,664": 2 * 2048 * 2048**2 * 4096, "2,048": 2**46 / 2**35},
    "chapter-gpu-at-once": {"4090": 4090, "75": MAPS * 128 / 1e6, "16,384": CORES},
    "chapter-cpu-sequential": {"16 numbers": 256 // 16, "16 bits": 16},
}
