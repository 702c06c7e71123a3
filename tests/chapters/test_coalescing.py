"""The claims in the prose of compute/coalescing that a number supports, each with its sentence.

Times are read a second time from the runs' raw rows, shares are computed again from bytes counted here, and the
traced requests are compared with addresses that this file works out itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpumoat.bench.image_variants import variants
from gpumoat.facts import registry

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = ROOT / "src" / "gpumoat" / "data" / "measurements"
PIXELS, MOVED_BYTES, CORES = 600_000_000, 1_800_000_000, 16_384


def run(name: str):
    """A committed run, as it is."""
    return json.loads((RUNS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/coalescing")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


@pytest.fixture
def times():
    """The median time of each launch, from the raw rows."""
    return {name: each["median_s"] for name, each in run("h200-image")["raw"]["variants"].items()}


@pytest.fixture
def rung(n):
    """A row of the ladder by its name."""
    return {row["way"]: row for row in n.ladder}


def test_the_lede(chapter, n, times) -> None:
    host = run("h200-host-image")["raw"]["times_s"]
    assert chapter.says("takes … of the time of the processor beside it")
    assert n.beside_share == pytest.approx(times["strip-64x256"] / min(host["strips"]))
    assert 0.5 < n.beside_share < 1
    assert chapter.says("With another order and more threads the card is … as fast.")
    assert n.order_ratio == pytest.approx(times["strip-64x256"] / times["grid_stride-1056x256"])
    assert n.order_ratio > 10
    assert chapter.says("With that order the processor takes … as long as with strips.")
    assert n.cpu_ratio == pytest.approx(min(host["interleaved_sample"]) / min(host["strips_sample"]))
    assert n.cpu_ratio > 40


def test_both_machines_are_one(chapter) -> None:
    """The times of the processor are from the machine that holds the card, and so are the trips."""
    assert chapter.says("on a card and on the machine that holds it")
    assert run("h200-host-image")["results"]["cores_count"]["value"] == 16
    assert run("h200-transfers")["results"]["cores_count"]["value"] == 16
    both = [
        run(name)["results"][key]["value"]
        for name, key in (("h200-host-image", "strips_s"), ("h200-transfers", "cpu_s"))
    ]
    assert both[0] == pytest.approx(both[1], rel=0.1), "two runs of the same strips on the same processor"


def test_the_two_orders(chapter, n, times) -> None:
    assert chapter.says("Few threads are as many as the lecture has cores, …, in … blocks")
    assert (n.few_threads, n.many_threads) == (CORES, 262_144)
    assert chapter.says("but for the processor's slow order: it was only timed, on a part of the picture")
    assert "60,000,000 pixels" in run("h200-host-image")["results"]["interleaved_ratio"]["what"]
    rows = n.both
    assert rows[1] == {
        "machine": "H200, few threads",
        "strip_s": times["strip-64x256"],
        "turns_s": times["grid_stride-64x256"],
    }
    assert rows[2]["strip_s"] == times["strip-1024x256"]
    assert rows[2]["turns_s"] == times["grid_stride-1056x256"]


def test_the_order_alone_makes_no_difference(chapter, n) -> None:
    assert chapter.says("With few threads **the order makes no difference**: the card is slow in both.")
    assert n.both[1]["turns_s"] == pytest.approx(n.both[1]["strip_s"], rel=0.06)
    assert chapter.says("in turn is … as fast. But look at the line in between")
    assert n.same_ratio == pytest.approx(n.both[2]["strip_s"] / n.both[2]["turns_s"])
    assert n.same_ratio > 15
    assert chapter.says("On a smaller machine it took even … as long.")
    assert n.small_cpu_ratio > n.cpu_ratio
    assert run("cpu-image")["results"]["cores_count"]["value"] < 16


def test_one_request_of_each(chapter, n) -> None:
    """By hand, after 16 pixels of a strip of 64: lane t asks for byte 64 t + 16, and in turn for byte 1,024 + t."""
    assert chapter.says("What is coloured was asked for. All the rest of each sector is handed over as well.")
    assert [row["first_byte"] for row in n.strip_request] == [64 * lane + 16 for lane in range(32)]
    assert len({row["first_byte"] // 32 for row in n.strip_request}) == 32
    assert chapter.says("In turn: the bytes lie side by side, and one sector holds them all.")
    assert [row["first_byte"] for row in n.turns_request] == list(range(1024, 1056))
    assert {row["sector"] for row in n.turns_request} == {32}


def test_the_card_counted_the_same(chapter, n) -> None:
    assert chapter.says("They are equal to the last digit shown.")
    large = run("h200-kernel-counters")["raw"]["large"]
    for row in n.sectors:
        counted = next(each["metrics"] for each in large if each["kernel"] == row["kernel"])
        for kind, word in (("load", "ld"), ("store", "st")):
            metric = f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{word}.ratio"
            assert round(row[kind], 2) == row[f"card_{kind}"] == counted[metric], row["kernel"]
        assert row["once"]


def test_a_wrong_order_would_not_be_equal(n) -> None:
    """The comparison can fail: no two kernels of the table have the same pair of averages."""
    pairs = [(round(row["load"], 2), round(row["store"], 2)) for row in n.sectors]
    assert len(set(pairs)) == len(pairs)


def test_few_strips_ask_memory_for_little_more_than_needed(chapter, n) -> None:
    assert chapter.says("The card's counters say …, and … is the least.")
    assert n.moved_bytes == MOVED_BYTES
    large = {(each["kernel"], each["grid"][0]): each["metrics"] for each in run("h200-kernel-counters")["raw"]["large"]}
    few, many = large["strip", 64], large["strip", 1024]
    assert n.few_memory_bytes == few["dram__bytes_read.sum"] + few["dram__bytes_write.sum"] < 1.2 * MOVED_BYTES
    assert few["l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct"] > 95
    assert chapter.says("Now memory moves …. More threads, usually the cure on a GPU, make it worse.")
    assert n.many_memory_bytes == many["dram__bytes_read.sum"] + many["dram__bytes_write.sum"] > 10 * MOVED_BYTES
    assert n.many_s > 1.5 * n.few_s


def test_the_lines_begun_do_not_fit(chapter, n) -> None:
    """A thread has one line of 128 bytes of pixels and one of results."""
    assert chapter.says("against … with few threads, and the L2 cache has …")
    assert n.few_begun_bytes == 16_384 * 256
    assert n.many_begun_bytes == 262_144 * 256
    assert n.few_begun_bytes < n.card.l2_bytes < n.many_begun_bytes
    assert n.card.l2_bytes == 60 * 2**20


def test_littles_law(chapter, n, rung) -> None:
    assert chapter.says("the rate times the wait. For this card's copy rate that is …")
    assert n.needed_bytes == pytest.approx(n.card.copy_bytes_per_s * n.card.latency_s)
    few, full = rung["in turn, few threads"], rung["in turn, many threads"]
    assert few["flying_bytes"] == 16_384 * 3
    assert full["flying_bytes"] == 132 * 2048 * 3
    assert chapter.says("cannot have more than … of the needed bytes in flight, and they reach … of the rate")
    assert few["copy_share"] == pytest.approx(few["enough_share"], rel=0.1)
    assert chapter.says("with every place for a thread taken, has only half of what is needed")
    assert full["enough_share"] == pytest.approx(0.5, abs=0.02)
    assert n.needed_threads == pytest.approx(n.needed_bytes / 3)
    assert n.needed_threads > full["threads"] == 132 * 2048


def test_width_and_empty_places(chapter, n, rung) -> None:
    assert chapter.says("With words of four pixels each load brings more.")
    assert rung["four pixels"]["flying_bytes"] == 4 * rung["in turn, many threads"]["flying_bytes"]
    assert chapter.says("the kernel with … occupancy is nearly as fast as the best")
    held = n.flight[4]
    assert held["way"] == "eight words of four"
    # 42 registers are given as 48: a quarter of the file, 16,384, holds 10 warps of 1,536, so 5 blocks of 8 warps fit.
    assert held["occupancy_share"] == 5 * 8 / 64
    assert held["time_s"] < 1.03 * n.best_s
    assert [row["way"] for row in n.flight if row["occupancy_share"] < 1] == [n.flight[0]["way"], held["way"]]
    assert n.flight[0]["occupancy_share"] == pytest.approx(16_384 / (132 * 2048))
    assert chapter.says("with four pixels a thread there is twice as much in flight as needed, and … of the rate")
    assert n.flight[2]["way"] == "four pixels"
    assert n.flight[2]["enough_share"] == pytest.approx(2, abs=0.05)
    assert n.flight[2]["copy_share"] < 0.8


def test_the_ladder_is_measured_and_scored(chapter, n, rung, times) -> None:
    copy_s = run("h200-image")["raw"]["yardsticks_median_s"]["memcpy-1800000000"]
    order = [each.name for each in variants(PIXELS, 132)]
    launches = run("h200-kernel-time")["raw"]["launches"]
    assert [each["variant"] for each in launches] == order
    for row, launch in zip(n.ladder, n.rungs.values(), strict=True):
        assert row["time_s"] == times[launch.name]
        assert row["copy_share"] == pytest.approx(copy_s / times[launch.name])
        told = launches[order.index(launch.name)]
        assert row["model_s"] == pytest.approx(told["predicted_s"])
        assert row["limit"] == told["limit"]
    assert chapter.says("All but the first are launches by which no constant of the model was set.")
    parts = [launches[order.index(launch.name)]["part"] for launch in n.rungs.values()]
    assert parts == ["fitted"] + ["scored"] * (len(parts) - 1)


def test_each_step_as_it_is_told(chapter, n, rung) -> None:
    assert chapter.says("It is slower than the full card that takes pixels in turn.")
    ones = [rung["one pixel, small blocks"], rung["one pixel, large blocks"]]
    assert max(row["copy_share"] for row in ones) < rung["in turn, many threads"]["copy_share"]
    assert chapter.says("with small blocks this alone explains the time")
    assert ones[0]["limit"] == "blocks"
    assert PIXELS / 128 * n.block_s == pytest.approx(ones[0]["time_s"], rel=0.05)
    assert chapter.says("Four and eight pixels have enough in flight.")
    assert min(rung[way]["enough_share"] for way in ("four pixels", "eight pixels")) > 1
    assert chapter.says("each store touches as many sectors as the strips")
    by_kernel = {row["kernel"]: row for row in n.sectors}
    assert by_kernel["sixteen_pixels"]["store"] == by_kernel["strip"]["store"] == 32
    assert chapter.says("It is as wide as the best kernel and less than half as fast.")
    row, best = rung["sixteen pixels in a row"], rung["four words of four"]
    assert row["flying_bytes"] == best["flying_bytes"]
    assert best["time_s"] < row["time_s"] / 2


def test_the_best_kernel(chapter, n, rung, times) -> None:
    assert chapter.says("It reaches … of the copy rate, … the lecture's strips.")
    assert n.best_s == min(times.values()) == rung["four words of four"]["time_s"]
    assert n.best_share == rung["four words of four"]["copy_share"]
    assert n.best_ratio == pytest.approx(times["strip-64x256"] / min(times.values()))
    assert chapter.says("It has … of the rate of a long copy, and … of a kernel in CUDA C++")
    yardsticks = run("h200-image")["raw"]["yardsticks_median_s"]
    assert n.long_copy_share == pytest.approx(MOVED_BYTES / n.best_s / (2 * 2**32 / yardsticks["memcpy-8589934592"]))
    assert n.own_copy_share == pytest.approx(yardsticks["widen16-128"] / n.best_s)
    assert min(n.best_share, n.long_copy_share, n.own_copy_share) > 0.95


def test_the_model_and_where_it_misses(chapter, n, rung) -> None:
    launches = run("h200-kernel-time")["raw"]["launches"]
    worst = {
        part: max((row for row in launches if row["part"] == part), key=lambda row: abs(row["error"]))
        for part in ("fitted", "scored")
    }
    assert chapter.says("On those the greatest error is …; on the others, which the fit never saw, ….")
    assert n.fitted_error_share == pytest.approx(abs(worst["fitted"]["error"]))
    assert n.scored_error_share == pytest.approx(abs(worst["scored"]["error"]))
    assert n.scored_error_share < 0.2
    assert chapter.says("Of … launches every second one was used to fit them.")
    assert len(launches) == n.launches_count == 54
    assert [row["part"] for row in launches] == ["fitted", "scored"] * 27
    assert chapter.says("It misses most with one pixel a thread in large blocks")
    assert worst["scored"]["variant"] == n.rungs["one pixel, large blocks"].name
    assert max(abs(row["error"]) for row in launches) == abs(worst["scored"]["error"])
    assert chapter.says("for the fast kernels it is too cautious")
    fast = [row for row in launches if row["measured_s"] < 1.1 * n.best_s and "grid_stride" not in row["variant"]]
    assert len(fast) > 15
    assert all(row["error"] > 0 for row in fast)
    assert chapter.says("Of its constants three are read or measured alone")
    assert chapter.says("Nine are fitted.")
    assert len([each for each in run("h200-kernel-time")["results"].values() if each["what"].endswith("fitted")]) >= 9


def test_every_constant_is_named(chapter) -> None:
    """The prose has each of the nine fitted constants, and says what the other three are."""
    for name in ("latency_s", "request_s", "joint_power", "drain_ratio"):
        assert name in chapter_text(), name
    for name in ("block_s", "lookup_s", "stored_line_s", "stored_sector_s", "evicted_sector_s"):
        assert name in chapter_text(), name
    assert chapter.says("the multiprocessors, the L2 cache and the rate of that kernel in C++")


def chapter_text() -> str:
    """The page as it is written, with its expressions."""
    return (ROOT / "docs" / "en" / "compute" / "coalescing.md").read_text(encoding="utf-8")


def test_the_trip(chapter, n) -> None:
    raw = run("h200-transfers")["raw"]["times_s"]
    middle = {name: each[len(each) // 2] for name, each in raw.items()}
    assert chapter.says("It takes …, and … of that is the least that the wire needs for the results.")
    assert n.overlapped_s == min(each for name, each in middle.items() if name.startswith("overlapped"))
    assert n.wire_s == pytest.approx(middle["out pinned"])
    assert n.wire_s < n.overlapped_s < 1.1 * n.wire_s
    assert chapter.says("is … of the trip")
    assert n.kernel_share < 0.03
    assert chapter.says("The processor is done in …, by itself, **in strips**.")
    assert n.all_cores_s == middle["numba on the CPU, 16 threads"] < n.overlapped_s
    assert chapter.says("So for this one task the card loses, whatever the kernel.")
    assert n.overlapped_s - n.best_s > n.all_cores_s
    assert chapter.says(
        "It would win against NumPy, even from NumPy's own arrays, and from pinned memory against one core."
    )
    assert middle["pageable trip"] < middle["NumPy, one pass"]
    assert middle["pinned trip"] < middle["numba on the CPU, 1 threads"]


def test_from_the_second_step_the_card_wins(chapter, n) -> None:
    assert chapter.says("Then it is … against ….")
    assert n.second_card_s == n.overlapped_s + n.best_s < n.second_cpu_s == 2 * n.all_cores_s
    assert chapter.says("With two steps the card is ahead already")


def test_pinning_is_not_free(chapter, n) -> None:
    assert chapter.says("That took … once, … as long as the processor needs for the whole task.")
    assert n.pinning_ratio == pytest.approx(n.pinning_s / n.all_cores_s)
    assert n.pinning_ratio > 50


def test_verdicts(chapter, n) -> None:
    assert chapter.says(
        "The lecture's partition is how a good program for a CPU shares its work, and on the CPU it won."
    )
    assert registry().claims["lecture-contiguous"].text("verdict") == "wrong"
    assert len(n.verdicts) == len(n.judged)


def test_the_questions(chapter, n) -> None:
    assert chapter.says("each touches every sector of the warp's results and fills half of it")
    eight = next(row for row in n.sectors if row["kernel"] == "eight_pixels")
    assert n.sectors[3] is eight
    assert eight["store"] == 32 * 8 * 2 / 32, "the sectors of a warp's results, each touched by both stores"
    assert chapter.says("A strip uses … of what its loads touch, and one pixel in turn ….")
    assert n.strip_used_share == pytest.approx(1 / 32)
    assert n.turns_used_share == pytest.approx(2 * 32 / (3 * 32)), "two loads of 32 bytes, of one sector and of two"
