"""One layer of GPT-3's attention as tasks, as arithmetic, as bytes, and as what each card must be sent."""

import math

from gpumoat import assume, claim, fact, gpu, measured, model, simt
from gpumoat.partition import Strips, Tiles, Waves
from gpumoat.units import dtype_bytes

# The shape: every size is a fact.
positions = model("gpt3").positions
heads = model("gpt3").heads
hidden = model("gpt3").hidden
head_dim = model("gpt3").head_dim
card = gpu("rtx-4090")
cores = card.core_count
cards = assume(100, "the lecture's cluster, section 3.4")
ways_of_counting = len(["tasks", "arithmetic", "bytes", "wire"])

# The lecture's tasks, in one layer.
maps_per_head = claim("lecture-maps-per-head")
maps = positions * maps_per_head * heads
dots = maps * head_dim
similarities = positions * positions * heads
needed = positions * (positions + 1) // 2 * heads
needed_share = needed / similarities

counts = []
for task, number in {"mappings": maps, "dot products": dots, "similarities": similarities}.items():
    one = Waves(number, cores)
    many = Waves(number, cards * cores)
    counts.append(
        {
            "task": task,
            "number": number,
            "one_waves": one.waves,
            "one_share": one.used_share,
            "many_waves": many.waves,
            "many_share": many.used_share,
        }
    )
    print(f"{number:,} {task}: {one.waves:,} rounds on one card, {many.waves:,} on {cards}")

# The same steps as arithmetic: a product and a sum for each term.
map_flop = 2 * hidden * head_dim
dot_flop = 2 * hidden
similarity_flop = 2 * head_dim
dots_flop = dots * dot_flop
similarities_flop = similarities * similarity_flop
needed_flop = needed * similarity_flop
length_ratio = dot_flop / similarity_flop
count_ratio = similarities / dots
work_share = similarities_flop / dots_flop
even_tokens = maps_per_head * hidden
both_tasks = dots + similarities
both_flop = dots_flop + similarities_flop
steps = [
    {"measure": "by tasks", "step": "dot products", "part_share": dots / both_tasks},
    {"measure": "by tasks", "step": "similarities", "part_share": similarities / both_tasks},
    {"measure": "by arithmetic", "step": "dot products", "part_share": dots_flop / both_flop},
    {"measure": "by arithmetic", "step": "similarities", "part_share": similarities_flop / both_flop},
]

# What the lecture does not count: the values, the output, and the feed-forward block.
values_flop = similarities_flop
output_flop = 2 * positions * hidden * hidden
forward_flop = 2 * output_flop * fact("gpt3.feed_forward_ratio")
layer_flop = both_flop + values_flop + output_flop + forward_flop
counted_share = both_flop / layer_flop

# Reading the operands: each dot product alone, tiles as a matrix library cuts them, or everything once.
number_bytes = dtype_bytes("fp16")
tile = assume(128, "rows and columns of a tile: a usual size in matrix libraries")
tiles = Tiles(positions, maps_per_head * hidden, tile, tile)
balance = card.fp16_dense_flop_per_s / card.memory_bandwidth_bytes_per_s
alone_bytes = dots * 2 * hidden * number_bytes
tiles_bytes = tiles.tasks * 2 * tile * hidden * number_bytes
input_bytes = positions * hidden * number_bytes
weights_bytes = maps_per_head * hidden * hidden * number_bytes
once_bytes = input_bytes + weights_bytes
arithmetic_s = dots_flop / card.fp16_dense_flop_per_s
reading = []
for way, read_bytes in {"each dot product alone": alone_bytes, "in tiles": tiles_bytes, "all once": once_bytes}.items():
    reading.append(
        {
            "way": way,
            "read_bytes": read_bytes,
            "read_s": read_bytes / card.memory_bandwidth_bytes_per_s,
            "flop_per_byte": dots_flop / read_bytes,
        }
    )
alone_ratio = reading[0]["read_s"] / arithmetic_s
tile_waves = Waves(tiles.tasks, card.sm_count)
sm_cores = cores // card.sm_count
print(f"{tiles.tasks:,} tiles: {tile_waves.waves} rounds of {card.sm_count} multiprocessors")

# What kernels write down: three plain ones and a fused one, traced for a few tokens of one head.
tiny = assume(32, "tokens: few enough to trace in a moment")
tiny_dim = assume(128, "elements of a head, as the fused kernel has them built in; GPT-3 has as many")
tiny_similarities = tiny * tiny
tiny_needed = tiny * (tiny + 1) // 2
numbers = [(i % cards) / cards for i in range(tiny * tiny_dim)]
queries = simt.array((1, tiny, tiny_dim), "float32", numbers)
keys = simt.array((1, tiny, tiny_dim), "float32", [-each for each in numbers])
contents = simt.array((1, tiny, tiny_dim), "float32", numbers)
table = simt.array((1, tiny, tiny), "float32", [0] * tiny_similarities)
plain = simt.array((1, tiny, tiny_dim), "float32", [0] * len(numbers))
fused = simt.array((1, tiny, tiny_dim), "float32", [0] * len(numbers))
scale = 1 / math.sqrt(tiny_dim)
launches = {
    "scores": ((1, tiny), (tiny, 1), (queries, keys, table, scale)),
    "softmax": ((tiny, 1), tile, (table,)),
    "values": ((tiny_dim // tiny, tiny), (tiny, 1), (table, contents, plain)),
    "fused": ((1, 1), tile, (queries, keys, contents, fused, scale)),
}


def similarities_of(kernel, grid, block, arrays):
    """Trace a kernel, and count the similarities that it writes to memory and reads from there."""
    report = simt.trace("gpumoat.kernels.attention:" + kernel, grid, block)(*arrays)
    if "table" not in [each.name for each in report.record.arrays]:
        return 0, 0
    return [report.requests("table", kind).accesses for kind in ("store", "load")]


kernels = []
for kernel, (grid, block, arrays) in launches.items():
    written, read = similarities_of(kernel, grid, block, arrays)
    kernels.append(
        {
            "kernel": kernel,
            "written": written,
            "read": read,
            "layer_written": written * similarities // tiny_similarities,
            "layer_read": read * needed // tiny_needed,
            "time_s": measured("h200-attention", "fused_s" if kernel == "fused" else f"naive_{kernel}_s"),
        }
    )
    print(f"{kernel}: {written:,} similarities written and {read:,} read, for {tiny} tokens")
largest_difference = max([abs(plain.flat[i] - fused.flat[i]) for i in range(len(numbers))])
softmax_ratio = kernels[1]["read"] // tiny_needed
values_ratio = kernels[2]["read"] // tiny_needed
table_bytes = similarities * dtype_bytes("fp32")
ran_tokens = measured("h200-attention", "tokens_count")
ran_heads = measured("h200-attention", "sequences_count") * measured("h200-attention", "heads_count")
fused_ratio = measured("h200-attention", "naive_s") / measured("h200-attention", "fused_s")
scores_share = measured("h200-attention", "naive_scores_s") / measured("h200-attention", "naive_s")

# Causality: the rows of one head in blocks, and two ways to deal them to workers.
blocks = Strips(positions, positions // tile)
triangle = []
for block in range(blocks.workers):
    seen = sum([row + 1 for row in range(*blocks.writes(block))])
    all_seen = positions * blocks.writes(block).elements
    triangle.append({"rows": f"block {block + 1:>2}", "kind": "needed", "number": seen})
    triangle.append({"rows": f"block {block + 1:>2}", "kind": "masked", "number": all_seen - seen})
needed_by_block = [row["number"] for row in triangle if row["kind"] == "needed"]
in_order_share = sum(needed_by_block) / (blocks.workers * max(needed_by_block))
paired = [needed_by_block[i] + needed_by_block[blocks.workers - 1 - i] for i in range(blocks.workers // 2)]
paired_share = sum(paired) / (len(paired) * max(paired))

# All cards: a head each, and what has to come over the wire first.
by_head = Waves(heads, cards)
head_flop = (dots_flop + needed_flop) / heads
head_s = head_flop / card.fp16_dense_flop_per_s
send_s = input_bytes / card.host_to_device_bytes_per_s
wire_ratio = send_s / head_s
idle_cards = cards - heads
layer_s = (dots_flop + needed_flop) / card.fp16_dense_flop_per_s
speedup_ratio = layer_s / (send_s + head_s)
print(f"one card {layer_s:.4f} s; of {cards} cards each computes {head_s:.6f} s and waits {send_s:.6f} s for its input")

verdicts = [
    {"of": "mappings", "said": claim("lecture-qkv-maps"), "found": maps},
    {"of": "cores of all cards", "said": claim("lecture-hundred-cores"), "found": cards * cores},
    {"of": "dot products in a mapping", "said": claim("lecture-map-shape"), "found": head_dim},
    {"of": "dot products", "said": claim("lecture-dot-products"), "found": dots},
    {"of": "similarities in one head", "said": claim("lecture-similarities-head"), "found": positions * positions},
    {"of": "similarities", "said": claim("lecture-similarities"), "found": similarities},
]
said_operations = claim("chapter-qkv-flop")
sequences = assume(2048, "the batch in the other document's program")
tokens = assume(2048, "the sequence in the other document's program")
width = assume(4096, "the width in the other document's program")
prints_right = 2 * sequences * tokens * tokens * width
layer_count = model("gpt3").layers
