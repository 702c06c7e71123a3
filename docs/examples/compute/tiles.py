"""A picture in tiles: who reads whose pixels, what the edge of a tile costs, and what wrong edges do."""

import random
from math import isqrt

from gpumoat import assume, claim, fact, gpu, simt
from gpumoat.coalescing import tile_sectors
from gpumoat.partition import Tiles, Waves

# A small picture in tiles, of which one has neighbours on all sides. A sum is of a pixel and those around it.
warp = fact("cuda.warp_threads")
sector_bytes = fact("cuda.sector_bytes")
warps = assume(8, "the kernels of gpumoat.kernels.stencil have blocks of eight warps, each with a row of the tile")
three = assume(3, "pixels of a window along each side, and tiles along each side of the small picture")
cut = Tiles(three * warps, three * warp, warps, warp, halo=1)
tile_pixels = warps * warp
window_pixels = cut.reads(1, 1).elements
more_share = window_pixels / tile_pixels - 1
noise = tuple(random.Random(1).choices(range(assume(256, "the values that a byte can have")), k=cut.elements))


def launch(kernel, picture=noise):
    """Let all threads of a kernel run; return the report and the sums."""
    pixels = simt.array((cut.rows, cut.columns), "uint8", picture)
    sums = simt.array((cut.rows, cut.columns), "int16")
    return simt.trace("gpumoat.kernels." + kernel, (three, three), (warp, warps))(pixels, sums), tuple(sums.flat)


# Without a tile, and with one: what is loaded, and what memory must hand over for it.
alone, right = launch("stencil:stencil_global")
together, same = launch("stencil:stencil_shared")
ways = []
for way, report in [("each thread for itself", alone), ("one tile for a block", together)]:
    loads = report.requests("pixels", "load")
    moved_ratio = loads.sectors * sector_bytes / cut.elements
    ways.append({"way": way, "loads": loads.accesses, "sectors": loads.sectors, "moved_ratio": moved_ratio})
loads_ratio = ways[0]["loads"] / ways[1]["loads"]
sectors_ratio = ways[0]["sectors"] / ways[1]["sectors"]
others = together.foreign_reads("pixels", "sums")
others_share = others.foreign / others.total

# The tile in the middle: which warp brings which pixels of its window, and what one request touches.
middle = three + 1
brought = {}
for touch in together.touches("held", "store"):
    if touch["block"] == middle:
        brought.setdefault((touch["row"], touch["warp"]), []).append(touch["first"])
window = [{"row": row, "warp": who, "first": min(at), "last": max(at)} for (row, who), at in brought.items()]
asked = together.request("pixels", "load", block=middle, warp=1)
request = [
    {"lane": each["lane"], "byte": each["place"] * sector_bytes + each["first_byte"] % sector_bytes} for each in asked
]
request_sectors = len({each["sector"] for each in asked})
wasted_share = 1 - len(asked) / (request_sectors * sector_bytes)
busier_warps = -(-(window_pixels - tile_pixels) // warp)

# Tiles of as many pixels in other shapes, on the picture of the lecture; and how large a tile can be at all.
rows = assume(20_000, "the picture of the lecture, section 3.2")
columns = assume(30_000, "the picture of the lecture, section 3.2")
shapes = []
for height in [warp, 2 * warps, warps, warps // 2, 2]:
    tiles = Tiles(rows, columns, height, tile_pixels // height, halo=1)
    moved_ratio = tile_sectors(tiles, 1, sector_bytes) * sector_bytes / tiles.elements
    shapes.append(
        {"rows": height, "columns": tiles.tile_columns, "read_ratio": tiles.read_ratio, "moved_ratio": moved_ratio}
    )
largest = claim("lecture-largest-tile")
largest_bytes = (largest + 2) ** 2
block_bytes = fact("sm-89.block_shared_bytes")
fits = isqrt(int(block_bytes)) - 2

# Balance: a square result in tiles, a multiprocessor for each.
processors = gpu("h200-sxm").sm_count
tile_side = assume(128, "a size of tile for matrix products; put your own")
full_side = tile_side * warp
sizes = []
for side in [tile_side * assume(11, "an example"), tile_side * assume(12, "an example"), full_side, full_side + 1]:
    waves = Waves(Tiles(side, side, tile_side, tile_side).tasks, processors)
    sizes.append({"side": side, "tiles": waves.tasks, "rounds": waves.waves, "busy_share": waves.used_share})

# Wrong edges, planted: what the report says, and how many sums are wrong.
faults = []
for fault, kernel in [
    ("none", "stencil:stencil_shared"),
    ("sides of the halo not loaded", "bugs:stencil_without_halo"),
    ("halo begins a pixel late", "bugs:stencil_halo_off_by_one"),
    ("tiles a column too close", "bugs:stencil_overlapping"),
]:
    report, sums = launch(kernel)
    found = [each.kind for each in report.findings()]
    wrong = sum(mine != other for mine, other in zip(sums, right, strict=True))
    faults.append({"fault": fault, "finding": found[0] if found else "nothing", "findings": len(found), "wrong": wrong})
    print(f"{fault}: {wrong} wrong sums of {cut.elements}; found: {', '.join(found) or 'nothing'}")
overlaps = len(report.coverage("sums").overlaps)
gaps = len(report.coverage("sums").gaps)
plain = (noise[0],) * cut.elements
late, even = (launch(each, plain)[1] for each in ("bugs:stencil_halo_off_by_one", "stencil:stencil_global"))
plain_wrong = sum(mine != other for mine, other in zip(late, even, strict=True))
