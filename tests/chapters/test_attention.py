"""The claims in the prose of compute/attention that a number supports, each with its sentence.

GPT-3's sizes are typed here a second time, from table 2.1 of its paper, and everything is counted without the package.
"""

from __future__ import annotations

import pytest

TOKENS, HEADS, HIDDEN, HEAD_DIM, CORES = 2_048, 96, 12_288, 128, 16_384
DOTS, PAIRS = TOKENS * 3 * HEADS * HEAD_DIM, TOKENS * TOKENS * HEADS


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/attention")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def test_the_lede(chapter, n) -> None:
    assert chapter.says("the step with … as many tasks is … as much work")
    assert n.count_ratio == pytest.approx(PAIRS / DOTS)
    assert n.work_share == pytest.approx(PAIRS * HEAD_DIM / (DOTS * HIDDEN))
    assert n.count_ratio > 5
    assert n.work_share < 0.06


def test_the_lectures_counts(chapter, n) -> None:
    assert chapter.says("Its counts are right.")
    assert (n.maps, n.dots, n.similarities) == (589_824, 75_497_472, 402_653_184)


def test_no_round_on_one_card_has_a_gap(chapter, n) -> None:
    assert chapter.says("the sizes of the model multiply to a number that the number of cores divides")
    assert (TOKENS * 3 * HEADS) % CORES == 0
    assert all(row["one_share"] == 1 for row in n.counts)


def test_on_all_cards_the_mappings_leave_most_cores_idle(chapter, n) -> None:
    assert chapter.says("the mappings leave most cores idle")
    assert n.counts[0]["many_share"] == 0.36
    assert min(row["many_share"] for row in n.counts[1:]) > 0.98


def test_one_dot_product_is_many_similarities(chapter, n) -> None:
    assert chapter.says("One task of the first kind is as much as … of the second.")
    assert n.length_ratio == HIDDEN / HEAD_DIM == 96
    assert n.map_flop == 3_145_728


def test_the_two_meet_at_a_longer_sequence(chapter, n) -> None:
    assert chapter.says("the two meet at … tokens")
    s = n.even_tokens
    assert s * 3 * HEADS * HEAD_DIM * HIDDEN == s * s * HEADS * HEAD_DIM
    assert chapter.says("With the mask it is twice that.")
    assert (2 * s) * (2 * s + 1) / 2 * HEADS * HEAD_DIM == pytest.approx(2 * s * 3 * HIDDEN * HIDDEN, rel=1e-4)


def test_the_layer_does_more(chapter, n) -> None:
    """The usual rule, 24 b s h² + 4 b s² h a layer forwards, counted for one sequence."""
    assert chapter.says("The two steps above are … of its …")
    assert n.layer_flop == 24 * TOKENS * HIDDEN**2 + 4 * TOKENS**2 * HIDDEN
    assert n.counted_share < 0.3


def test_half_the_similarities_and_almost_no_time(chapter, n) -> None:
    assert chapter.says("half the work is gone, and almost no time")
    assert n.needed == sum(range(1, TOKENS + 1)) * HEADS == 201_424_896
    last_block = sum(range(TOKENS - 127, TOKENS + 1))
    assert last_block / (128 * TOKENS) > 0.96, "the last worker's share of what it would have without a mask"
    assert n.in_order_share == pytest.approx(n.needed / HEADS / (16 * last_block))


def test_the_triangle_is_whole(n) -> None:
    needed = [row["number"] for row in n.triangle if row["kind"] == "needed"]
    masked = [row["number"] for row in n.triangle if row["kind"] == "masked"]
    assert sum(needed) * HEADS == n.needed
    assert {a + b for a, b in zip(needed, masked, strict=True)} == {128 * TOKENS}


def test_pairs_make_all_workers_equal(chapter, n) -> None:
    assert chapter.says("Then every worker has the same, and … is used.")
    assert n.paired_share == 1
    assert len(set(n.paired)) == 1


def test_alone_the_operands_take_hundreds_of_times_as_long(chapter, n) -> None:
    assert chapter.says("Fetched alone, the numbers take … as long as the arithmetic.")
    assert n.alone_bytes == DOTS * 2 * HIDDEN * 2
    assert n.alone_ratio == pytest.approx(n.alone_bytes / 1008e9 / (DOTS * 2 * HIDDEN / 165e12))
    assert n.alone_ratio > 100


def test_a_tile_is_as_many_mappings_as_a_multiprocessor_has_cores(chapter, n) -> None:
    assert chapter.says("as many as the cores needed for the mappings")
    assert n.tiles.tasks == 4_608
    assert n.tile_waves.waves == n.counts[0]["one_waves"] == 36
    assert n.tile == n.sm_cores == HEAD_DIM


def test_tiles_of_this_size_still_lean_on_caches(chapter, n) -> None:
    assert chapter.says("so even they rely on caches")
    assert n.reading[1]["flop_per_byte"] == pytest.approx(2 * 128 * 128 / (2 * 128 * 2))
    assert n.reading[1]["flop_per_byte"] < n.balance < n.reading[2]["flop_per_byte"]


def test_waiting_is_longer_than_computing(chapter, n) -> None:
    assert chapter.says("Waiting for the input is … as long as computing.")
    assert n.send_s == pytest.approx(TOKENS * HIDDEN * 2 / 25.5e9)
    assert n.wire_ratio > 10
    assert n.idle_cards == 100 - HEADS


def test_all_cards_gain_little(chapter, n) -> None:
    assert chapter.says("as fast as on one that has the tokens already, before a single result has been sent back")
    assert 1 < n.speedup_ratio < 10


def test_the_other_documents_program(chapter, n) -> None:
    assert chapter.says("Its program prints another number than the comment beside it says")
    assert n.prints_right == 2 * 2048 * 2048**2 * 4096 > 1000 * n.said_operations


def test_what_the_kernels_write_down(chapter, n) -> None:
    """By hand, for 32 tokens of a head of 128: 1,024 similarities, 528 of them needed."""
    assert chapter.says("Each similarity is written twice, the masked ones too.")
    assert [row["written"] for row in n.kernels] == [32 * 32, 32 * 32, 0, 0]
    assert sum(row["layer_written"] for row in n.kernels) == 2 * PAIRS
    assert chapter.says("Each that is needed is read again by the softmax …, and … to weigh the values")
    assert [row["read"] for row in n.kernels] == [0, 3 * 528, HEAD_DIM * 528, 0]
    assert (n.softmax_ratio, n.values_ratio) == (3, HEAD_DIM)
    needed = TOKENS * (TOKENS + 1) // 2 * HEADS
    assert [row["layer_read"] for row in n.kernels] == [0, 3 * needed, HEAD_DIM * needed, 0]


def test_lanes_share_these_reads() -> None:
    """All lanes of a warp weigh with one similarity: the reads are a thirty-second part as many requests."""
    from gpumoat.simt import array, trace

    table, v = array((1, 32, 32), "float32", [1.0] * 1024), array((1, 32, 32), "float32", [1.0] * 1024)
    report = trace("gpumoat.kernels.attention:values", (1, 32), (32, 1))(table, v, array((1, 32, 32), "float32"))
    read = report.requests("table", "load")
    assert read.accesses == 32 * read.requests
    assert read.sectors == read.requests


def test_the_fused_kernel_has_no_table_and_the_same_results(chapter, n) -> None:
    assert chapter.says(
        "But the table alone, in FP32 as these kernels keep it, has … for one layer, and the fused kernel has none."
    )
    assert n.table_bytes == 4 * PAIRS
    assert n.kernels[3]["written"] == n.kernels[3]["read"] == 0
    assert n.largest_difference < 1e-6
    assert max(abs(each) for each in n.plain.flat) > 0.1


def test_the_times_of_the_kernels(chapter, n) -> None:
    assert chapter.says("It is … as fast. Only a part of this is the table.")
    times = [row["time_s"] for row in n.kernels]
    assert n.fused_ratio == pytest.approx(sum(times[:3]) / times[3], rel=1e-3)
    assert chapter.says("The first kernel, which writes it and never reads it, takes … of the time of the three")
    assert n.scores_share == pytest.approx(times[0] / sum(times[:3]), rel=1e-3)
    assert n.scores_share > 0.5
    assert (n.ran_heads, n.ran_tokens) == (128, 4_096)
