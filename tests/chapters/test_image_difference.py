"""The claims in the prose of compute/image-difference that a number supports, each with its sentence.

Numbers from elsewhere that are used here: an array of 600,000,000 counters (1,536 gaps where the share is rounded
down, 16,383 where strips overlap or stand apart), and a profiler's sectors a request for both orders on a real card.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpumoat.facts import registry

RUNS = Path(__file__).resolve().parent.parent.parent / "src" / "gpumoat" / "data" / "measurements"

PIXELS, CORES, CHUNK = 600_000_000, 16_384, 36_622


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/image-difference")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def row(rows, key, value):
    """The one record in which a field has a value."""
    (found,) = [each for each in rows if each[key] == value]
    return found


def test_the_lede(chapter, n) -> None:
    assert chapter.says("makes the threads ask for … as much memory as another order of the same work")
    # By hand, for 32 pixels: 3 requests of 32 sectors against 1 + 2 + 2 sectors.
    assert n.touched_ratio == pytest.approx(3 * 32 / (1 + 2 + 2), rel=1e-4)


def test_results_do_not_fit_into_a_byte(chapter, n) -> None:
    assert chapter.says("can be any of …, nearly half of them negative")
    every = {a - b for a in range(256) for b in range(256)}
    assert n.differences == len(every) > 256
    assert 0.49 < len([one for one in every if one < 0]) / len(every) < 0.5


def test_a_negative_difference_kept_in_a_byte_turns_large(chapter) -> None:
    assert chapter.says("Every negative one turns into a large positive number")
    assert min((small - 1) % 256 for small in (0,)) == 255


def test_the_partition_is_the_lectures(chapter, n) -> None:
    assert chapter.says("each gets …. The card then has room for … pixels, of which … are used")
    assert (n.cores, n.chunk, n.slots) == (CORES, CHUNK, 600_014_848)
    assert n.used_share == pytest.approx(0.99997525, abs=5e-9)
    assert [list(each.values()) for each in n.who] == [
        [1, 1, 36_623],
        [2, 36_623, 73_245],
        [CORES, 599_978_227, PIXELS],
    ]


def test_the_last_pixel_of_one_core_is_the_first_of_the_next(chapter, n) -> None:
    assert chapter.says("The last pixel of one core is the first of the next")
    assert n.who[0]["last"] == n.who[1]["first"]


def test_balancing_changes_nothing(chapter, n) -> None:
    assert chapter.says("It changes nothing: with shares as equal as they can be, the longest is still …")
    assert n.balanced_chunk == n.chunk


def test_the_last_core_needs_a_stop(chapter, n) -> None:
    assert chapter.says("The lecture's formula sends it … pixels past the end of the picture.")
    assert n.past_end == CHUNK * CORES + 1 - PIXELS == 14_849
    assert n.last_differences == PIXELS - (CORES - 1) * CHUNK - 1 == 21_773


def test_every_planted_fault_is_found_and_the_right_one_passes(chapter, n) -> None:
    assert chapter.says("One correct partition and … broken ones.")
    kinds = ("missed", "twice", "outside", "unread")
    found = {each["fault"]: tuple(each[kind] for kind in kinds) for each in n.faults}
    assert found == {
        "as it should be": (0, 0, 0, 0),
        "reads its own strip only": (0, 0, 0, 16_383),
        "strips one pixel too short": (1_536, 0, 0, 0),
        "strips one pixel too long": (0, 16_383, 0, 0),
        "strips one pixel too far apart": (16_383, 0, 0, 0),
        "counts from one, not from zero": (1, 0, 1, 0),
    }
    assert chapter.says("The second row is the one that the lecture means.")
    assert n.faults[1]["fault"] == "reads its own strip only"


def test_no_tool_that_watches_reads_would_notice(chapter, n) -> None:
    assert chapter.says("No thread reads anything wrong, and no tool that watches reads would notice.")
    assert row(n.faults, "fault", "strips one pixel too short")["unread"] == 0


def test_sectors_as_a_profiler_reads_them(chapter, n) -> None:
    assert chapter.says("Each request costs a sector for each thread, and of each sector a single byte is wanted.")
    strip, stride = n.orders
    for load in ("this", "following", "store"):
        assert strip[load] == pytest.approx(32, rel=1e-4)
    assert (stride["this"] + stride["following"]) / 2 == pytest.approx(1.5, rel=1e-6)
    assert stride["store"] == 2


def test_a_strip_as_long_as_a_sector_is_as_bad_as_any(chapter, n) -> None:
    assert chapter.says("As soon as a strip is as long as a sector, every thread is in a sector of its own.")
    assert chapter.says("The figure falls with their length")
    for each in n.lengths:
        assert each["sectors"] == min(each["length"], 32)


def test_most_places_for_threads_stay_empty(chapter, n) -> None:
    assert chapter.says("One thread a core leaves … of those places empty.")
    assert n.resident_threads == 196_608
    assert n.empty_share == pytest.approx(11 / 12)


def test_the_copies_take_nearly_everything(chapter, n) -> None:
    assert chapter.says("Computing is … of it. The copies take the rest, and the way back is the longer one")
    assert n.kernel_share < 0.03
    assert n.out_s > n.in_s > 10 * n.kernel_s


def test_the_cpu_is_done_when_the_card_has_only_begun_to_send(chapter, n) -> None:
    """The raw rows of the run: a copy in, a copy out, and all cores of the processor."""
    raw = json.loads((RUNS / "h200-transfers.json").read_text(encoding="utf-8"))["raw"]["times_s"]
    middle = {name: each[len(each) // 2] for name, each in raw.items()}
    assert chapter.says("The CPU is done in …, when the card has only begun to send.")
    assert n.in_s == pytest.approx(middle["in pinned"])
    assert n.out_s == pytest.approx(middle["out pinned"])
    assert n.cpu_s == middle["numba on the CPU, 16 threads"]
    assert n.in_s + n.kernel_s < n.cpu_s < n.in_s + n.kernel_s + n.out_s / 4
    assert n.card_s == pytest.approx(middle["pinned trip"], rel=0.01)
    assert chapter.says("from the memory that programs usually have, which the card cannot reach by itself")
    assert n.pageable_s == middle["pageable trip"] > 5 * n.card_s


def test_small_squares_read_again_and_large_ones_are_too_few(chapter, n) -> None:
    assert chapter.says("The sizes in the middle are good at both.")
    assert chapter.says(
        "Dealt out to single cores, the largest of the lecture's squares leave most of the card without work."
    )
    reads = [each["read_ratio"] for each in n.squares]
    assert reads == sorted(reads, reverse=True)
    assert reads[0] == pytest.approx((5 / 3) ** 2, rel=1e-3)
    middle, largest = row(n.squares, "side", 30), row(n.squares, "side", 512)
    assert middle["busy_share"] > 0.99
    assert middle["read_ratio"] < 1.2
    assert largest["busy_share"] < 0.15


def test_eighty_per_cent_is_more_than_anybody_in_the_table(chapter, n) -> None:
    assert chapter.says("of the other more than anybody in that table")
    assert n.mfu_low_share < n.mfu_high_share < n.lecture_good_share
    assert registry().claims["lecture-utilisation-levels"].text("verdict") == "unverifiable"


def test_the_counts_of_the_lecture_are_nearly_all_right(chapter, n) -> None:
    assert chapter.says("Nearly all of the lecture's sums come out right")
    right = [each for each in n.verdicts if each["said"] == each["found"]]
    assert len(right) == len(n.verdicts) - 2


def test_the_kernel_agrees_with_the_checker(chapter, n) -> None:
    """By hand: 1,003 pixels and 64 threads are strips of 16; apart by 17, each but the last leaves its 17th pixel."""
    assert chapter.says("Then the lecture's pair of numbers, … and …, is the pair … and ….")
    assert (n.chunk, n.longer_chunk, n.small_chunk, n.longer_small) == (CHUNK, 36_623, 16, 17)
    found = {each["fault"]: (each["gaps"], each["overlaps"], each["wrong"], each["first"]) for each in n.traced}
    assert found == {
        "as it should be": (0, 0, 0, "none"),
        "strips one pixel too far apart": (1_003 // 17, 0, 1_003 // 17, "gap"),
        "strips one pixel too long": (0, 1_003 // 16, 0, "data race"),
        "strips one pixel too short": (1_003 - 64 * 15, 0, 1_003 - 64 * 15, "gap"),
    }
    assert chapter.says("Both agree.")
    assert all(each["checked"] == each["gaps"] + each["overlaps"] for each in n.traced)


def test_the_same_faults_at_full_size(n) -> None:
    """The pair of the lecture by the same arithmetic: 600,000,000 // 36,623 gaps, 600,000,000 // 36,622 overlaps."""
    assert row(n.faults, "fault", "strips one pixel too far apart")["missed"] == PIXELS // 36_623
    assert row(n.faults, "fault", "strips one pixel too long")["twice"] == PIXELS // 36_622


def test_foreign_reads(chapter, n) -> None:
    assert chapter.says("reads are foreign, one for each strip that has pixels")
    assert n.traced[0]["foreign"] == -(-1_003 // 16)


def test_too_long_gives_no_wrong_result(chapter, n) -> None:
    assert chapter.says("strips that are too long give **no wrong result**")
    assert row(n.traced, "fault", "strips one pixel too long")["wrong"] == 0
