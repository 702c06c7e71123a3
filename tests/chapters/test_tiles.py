"""The claims in the prose of compute/tiles that a number supports, each with its sentence.

Numbers from elsewhere that are used here: windows and their sectors counted one by one as sets of addresses, sums of
windows in plain Python, and the counts of a profiler on a real card for the same two kernels.
"""

from __future__ import annotations

import pytest

from gpumoat import simt
from gpumoat.coalescing import tile_sectors
from gpumoat.facts import registry
from gpumoat.partition import Tiles


@pytest.fixture
def chapter(chapter_of):
    """The chapter."""
    return chapter_of("compute/tiles")


@pytest.fixture
def n(chapter):
    """The names of its worked example."""
    return chapter.n


def one(rows, key, value):
    """The one record in which a field has a value."""
    (found,) = [each for each in rows if each[key] == value]
    return found


def window_addresses(cut, row, column):
    """The elements that one tile reads, by hand: its own and one more on each side, inside the picture."""
    top, left = row * cut.tile_rows, column * cut.tile_columns
    return {
        y * cut.columns + x
        for y in range(max(0, top - 1), min(cut.rows, top + cut.tile_rows + 1))
        for x in range(max(0, left - 1), min(cut.columns, left + cut.tile_columns + 1))
    }


def test_the_lede(chapter, n) -> None:
    assert chapter.says("needs … more pixels than it computes, and the sectors that these lie in, row by row, are …")
    assert n.more_share == (10 * 34 - 256) / 256
    # A tile in the middle: ten rows of three sectors where a row begins at an edge, of two where it does not.
    assert one(n.shapes, "rows", 8)["moved_ratio"] == pytest.approx(10 * (3 + 2) / 2 / 8, rel=1e-3)
    assert chapter.says("Make it a square, which has the shortest edge, and it is ….")
    assert n.shapes[1]["rows"] == n.shapes[1]["columns"] == 16
    assert n.shapes[1]["moved_ratio"] > n.shapes[2]["moved_ratio"]


def test_the_sums_are_those_of_the_windows(n) -> None:
    def near(at, extent):
        return [min(max(at + d, 0), extent - 1) for d in (-1, 0, 1)]

    rows, columns = n.cut.rows, n.cut.columns
    by_hand = tuple(
        sum(n.noise[i * columns + j] for i in near(y, rows) for j in near(x, columns))
        for y in range(rows)
        for x in range(columns)
    )
    assert by_hand == n.right == n.same


def test_a_tile_saves_more_loads_than_sectors(chapter, n) -> None:
    assert chapter.says("The tile saves … the loads and only … the sectors.")
    alone, together = n.ways
    assert alone["loads"] == 9 * n.cut.elements
    assert together["loads"] == 9 * 340  # every block loads a whole window, at the edge a pixel several times
    assert n.loads_ratio > 2 * n.sectors_ratio > 6
    # For each of the three rows of a window: the pixel itself, one sector; its left and its right, two, and one at the
    # edge of the picture, where the pixel itself stands for what is outside.
    assert alone["sectors"] == 24 * 3 * ((1 + 1 + 2) + (2 + 1 + 2) + (2 + 1 + 1))


def test_nearly_every_load_is_of_a_pixel_of_another(chapter, n) -> None:
    assert chapter.says("So … of all loads are of a pixel that another thread is going to need more")
    assert n.others.total == 9 * 340
    # Thread t owns the element t of its tile and loads the element t of its window: the two meet once.
    assert n.others.foreign == n.others.total - 1


def test_some_warps_load_twice(chapter, n) -> None:
    assert chapter.says("so … warps of … load twice, and the others wait for them")
    rows_of = {}
    for span in n.window:
        rows_of[span["warp"]] = rows_of.get(span["warp"], 0) + span["last"] - span["first"] + 1
    assert rows_of == {0: 64, 1: 64, 2: 52, **dict.fromkeys(range(3, 8), 32)}
    assert n.busier_warps == 3


def test_one_request_touches_four_sectors(chapter, n) -> None:
    assert chapter.says("It asks for as many bytes as a sector holds and touches …")
    # The second warp brings pixels 32 to 63 of a window 34 wide: two of the first row, thirty of the next.
    first = (8 - 1) * 96 + 32 - 1
    addresses = [first + 32, first + 33, *range(first + 96, first + 96 + 30)]
    assert n.request_sectors == len({address // 32 for address in addresses}) == 4
    assert chapter.says("The first lane is at the end of one sector, the second at the beginning of the next")
    assert [each["byte"] for each in n.request[:4]] == [31, 32, 95, 96]
    assert n.wasted_share == 0.75


def test_the_width_of_a_halo_makes_no_difference_up_to_a_sector(chapter) -> None:
    assert chapter.says("up to a whole sector on each side costs the same as a single pixel")

    def sides(halo: int) -> float:
        """Sectors of each row of a window, on rows that begin at a sector's edge."""
        cut = Tiles(8 * 5, 32 * 5, 8, 32, halo=halo)
        rows = sum(cut.reads(row, 0).rows.elements for row in range(5))
        return tile_sectors(cut, 1, 32) / rows

    assert sides(1) == sides(2) == sides(31) == sides(32) == 2 + 3 + 3 + 3 + 2
    assert sides(33) > sides(32)
    assert sides(0) == 5


def test_the_square_reads_the_fewest_pixels_and_not_the_fewest_bytes(chapter, n) -> None:
    assert chapter.says(
        "so a square tile reads the fewest pixels. That is the rule of thumb, and for pixels it is true."
    )
    square = one(n.shapes, "rows", 16)
    assert square["read_ratio"] == min(each["read_ratio"] for each in n.shapes)
    assert chapter.says("A row of it is half a sector wide, and takes two.")
    assert chapter.says("The best of these tiles has … rows and reads more pixels than the square does.")
    best = min(n.shapes, key=lambda each: each["moved_ratio"])
    assert best is n.shapes[3]
    assert best["read_ratio"] > square["read_ratio"]
    assert all(each["rows"] * each["columns"] == 256 for each in n.shapes)
    assert chapter.says("Turned on its side the kernel's own tile is the worst, though it reads not one pixel more.")
    own, turned = one(n.shapes, "rows", 8), one(n.shapes, "rows", 32)
    assert turned["moved_ratio"] == max(each["moved_ratio"] for each in n.shapes)
    assert turned["read_ratio"] == pytest.approx(own["read_ratio"], rel=1e-4)


def test_with_numbers_of_several_bytes_the_same_holds_at_smaller_widths(chapter) -> None:
    assert chapter.says("With numbers of several bytes the same holds at smaller widths.")
    bytes_moved = {
        height: tile_sectors(Tiles(800, 1200, height, 64 // height, halo=1), 4, 32) for height in (16, 8, 4, 2)
    }
    assert min(bytes_moved, key=bytes_moved.get) < 8


def test_the_largest_square_does_not_fit(chapter, n) -> None:
    assert chapter.says("and a block on its card has at most … of shared memory, enough for … a side")
    assert n.largest_bytes == 514 * 514 > n.block_bytes == 99 * 1024
    assert (n.fits + 2) ** 2 <= n.block_bytes < (n.fits + 3) ** 2
    assert registry().claims["lecture-largest-tile"].text("verdict") == "wrong"


def test_twelve_tiles_take_twice_as_long_as_eleven(chapter, n) -> None:
    assert chapter.says("Twelve tiles a side take twice as long as eleven.")
    eleven, twelve, full, over = n.sizes
    assert (eleven["tiles"], twelve["tiles"]) == (121, 144)
    assert twelve["rounds"] == 2 * eleven["rounds"]
    assert chapter.says("in the last row, one more line and column of numbers costs a whole round")
    assert over["side"] == full["side"] + 1
    assert over["rounds"] == full["rounds"] + 1


def test_what_is_found_and_what_is_wrong(chapter, n) -> None:
    assert chapter.says("The halo that begins a pixel late spoils nearly every sum, and the report has nothing to say.")
    rows = {each["fault"]: (each["finding"], each["findings"], each["wrong"]) for each in n.faults}
    assert rows["none"] == ("nothing", 0, 0)
    finding, findings, wrong = rows["halo begins a pixel late"]
    assert (finding, findings) == ("nothing", 0)
    assert wrong > 0.99 * n.cut.elements
    assert rows["sides of the halo not loaded"] == ("uninitialized read", 1, 24 * 2 * 3)
    assert rows["tiles a column too close"][0] == "data race"


def test_overlapping_tiles_are_right_where_they_overlap(chapter, n) -> None:
    assert chapter.says("… sums are computed twice, by two blocks, and come out right")
    assert chapter.says("What is wrong is at the far end of the picture, where … sums are never computed.")
    assert n.overlaps == 24 * 2  # two seams
    assert n.gaps == 24 * 2 == n.faults[-1]["wrong"]  # 3 x 31 + 1 columns of 96
    wrong = {at for at, (mine, right) in enumerate(zip(n.sums, n.right, strict=True)) if mine != right}
    assert {at % 96 for at in wrong} == {94, 95}


def test_a_picture_of_one_colour_hides_the_fault(chapter, n) -> None:
    assert chapter.says("on a picture of a single colour, … sums are wrong")
    assert n.plain_wrong == 0
    assert set(n.even) == {9 * n.noise[0]}


def test_padding_helps_where_a_row_begins_in_the_middle_of_a_sector(chapter) -> None:
    assert chapter.says("such a row with its halo lies in two sectors, not three")
    assert 20_000 * 30_000 % 32 == 0
    assert 30_000 % 32 == 16
    assert {(16 + 32 * k + d) // 32 - k for k in range(1, 9) for d in range(-1, 33)} == {0, 1}


def test_the_sectors_of_the_model_are_those_of_the_trace(n) -> None:
    """What the page counts at full size by arithmetic, counted access by access at the small size."""
    record = n.together.record
    number = next(each.number for each in record.arrays if each.name == "pixels")
    columns = zip(record.array, record.in_block, record.index, strict=True)
    touched = {(block, index // 32) for array, block, index in columns if array == number}
    assert len(touched) == tile_sectors(n.cut, 1, 32)


def test_the_simulator_counts_what_a_profiler_counts_on_the_card(chapter) -> None:
    """Nsight Compute on an H200, both kernels on a picture of 45 x 77."""
    assert chapter.says("On another small picture NVIDIA's profiler, on an H200, and the simulator counted the same")
    raw = registry().measurements["h200-kernel-counters"].row["raw"]
    for case, seen in zip(raw["cases"], raw["small"], strict=True):
        if ".stencil:" not in case["source"]:
            continue
        picture = simt.array((45, 77), "uint8", [(7 * at) % 251 for at in range(45 * 77)])
        report = simt.trace(case["source"], tuple(case["grid"]), tuple(case["block"]))(
            picture, simt.array((45, 77), "int16")
        )
        loads = report.requests("pixels", "load")
        assert loads.requests == seen["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]
        assert loads.sectors == seen["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
