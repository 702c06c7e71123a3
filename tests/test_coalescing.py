"""Sectors: NVIDIA's own examples, a profiler's readings, hand counts, and every request counted one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.coalescing import ORDERS, Traffic, sectors_touched, tile_sectors, warp_traffic
from gpumoat.partition import Strips, Tiles

steady = settings(deadline=None)  # a busy machine is no fault


def words(elements: int, workers: int, order: str, shift: int = 0) -> Traffic:
    return warp_traffic(Strips(elements, workers), order, 4, 32, 32, shift)


# One request


def test_examples_of_the_best_practices_guide() -> None:
    """CUDA C++ Best Practices Guide, coalesced access: words in a row take 4 sectors, misaligned 5, every second 8."""
    assert sectors_touched([4 * lane for lane in range(32)], 4, 32) == 4
    assert sectors_touched([4 * lane + 4 for lane in range(32)], 4, 32) == 5
    assert sectors_touched([8 * lane for lane in range(32)], 4, 32) == 8
    assert sectors_touched([32 * lane for lane in range(32)], 4, 32) == 32
    assert sectors_touched([4 * (31 - lane) for lane in range(32)], 4, 32) == 4  # permuted within the segments
    assert sectors_touched([0] * 32, 4, 32) == 1


def test_an_element_across_an_edge_touches_both_sectors() -> None:
    assert sectors_touched([30], 2, 32) == 1
    assert sectors_touched([31], 2, 32) == 2
    assert sectors_touched([], 4, 32) == 0


# The whole kernel


def test_the_lectures_image_in_strips_touches_a_sector_for_each_thread() -> None:
    """A profiler on a real card (Nsight Compute, H200) reads 32 sectors a request for loads and for stores."""
    image = Strips(600_000_000, 16_384)
    for element_bytes, shift in ((1, 0), (1, 1), (2, 0)):
        traffic = warp_traffic(image, "strip", element_bytes, 32, 32, shift)
        assert traffic.sectors_per_request == pytest.approx(32, rel=1e-4)
        assert traffic.used_share == pytest.approx(element_bytes / 32, rel=1e-3)
        assert traffic.wanted_bytes == (600_000_000 - shift) * element_bytes


def test_the_lectures_image_in_grid_stride_order() -> None:
    """The same profiler reads 1.50 for the two loads together, which are 1 and 2, and 2 for the store."""
    image = Strips(600_000_000, 16_384)
    this, following = (warp_traffic(image, "grid-stride", 1, 32, 32, shift) for shift in (0, 1))
    assert (this.requests, this.sectors) == (18_750_000, 18_750_000)
    # The very last pixel has no neighbour: that request stays within one sector.
    assert (following.requests, following.sectors) == (18_750_000, 2 * 18_750_000 - 1)
    stores = warp_traffic(image, "grid-stride", 2, 32, 32)
    assert (stores.sectors, stores.used_share) == (2 * 18_750_000, 1)


def test_a_smaller_kernel_traced_access_by_access() -> None:
    """36,000 words on 1,024 threads: a simulator that records each access found 31.25, and 4.00 with 4.50 in all."""
    assert words(36_000, 1_024, "strip").sectors_per_request == 31.25
    assert words(36_000, 1_024, "strip").used_share == 0.125
    this, following = words(36_000, 1_024, "grid-stride"), words(36_000, 1_024, "grid-stride", 1)
    assert this.sectors_per_request == 4
    assert this.requests == 1_125
    # Each second load begins one word into a sector and touches five, but for the last, which has a word less.
    assert following.sectors == 5 * 1_125 - 1


def test_strips_shorter_than_a_sector_share_sectors() -> None:
    """By hand, for bytes: strips of c bytes put 32 / c threads into a sector, so c sectors a request."""
    for length in (1, 2, 4, 8, 16, 32):
        assert warp_traffic(Strips(1_024 * length, 1_024), "strip", 1, 32, 32).sectors_per_request == length
    assert warp_traffic(Strips(1_024 * 64, 1_024), "strip", 1, 32, 32).sectors_per_request == 32


cuts = st.builds(Strips, st.integers(1, 300), st.integers(1, 70), balanced=st.booleans())


@steady
@given(cuts, st.sampled_from(ORDERS), st.integers(1, 5), st.integers(1, 9), st.integers(1, 40), st.integers(-3, 3))
def test_agrees_with_counting_every_request(
    cut: Strips, order: str, element_bytes: int, warp_threads: int, sector_bytes: int, shift: int
) -> None:
    """The slow way: run all threads of each warp in step, and look at each address."""
    strips = [range(*part) for part in cut.all_writes()]
    work = strips if order == "strip" else [range(t, cut.elements, cut.workers) for t in range(cut.workers)]
    requests = sectors = wanted = 0
    for first in range(0, cut.workers, warp_threads):
        warp = range(first, min(first + warp_threads, cut.workers))
        for turn in range(cut.elements):
            mine = [work[worker][turn] + shift for worker in warp if turn < len(work[worker])]
            touched = [at * element_bytes for at in mine if 0 <= at < cut.elements]
            if touched:
                requests += 1
                sectors += sectors_touched(touched, element_bytes, sector_bytes)
                wanted += len(touched) * element_bytes
    found = warp_traffic(cut, order, element_bytes, warp_threads, sector_bytes, shift)
    assert found == Traffic(requests, sectors, wanted, sectors * sector_bytes)


@steady
@given(cuts, st.sampled_from(ORDERS), st.integers(1, 8))
def test_no_request_touches_less_than_it_wants(cut: Strips, order: str, element_bytes: int) -> None:
    traffic = warp_traffic(cut, order, element_bytes, 32, 32)
    assert 0 < traffic.used_share <= 1
    assert traffic.wanted_bytes == cut.elements * element_bytes
    assert traffic.sectors <= 2 * 32 * traffic.requests


def test_no_request_at_all_has_no_average() -> None:
    nothing = warp_traffic(Strips(10, 2), "strip", 1, 32, 32, shift=10)
    assert (nothing.requests, nothing.sectors_per_request, nothing.used_share) == (0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rows", 1, 32, 32), "order must be one of strip, grid-stride, not 'rows'"),
        (("strip", 0, 32, 32), "element_bytes must be a whole number of at least 1, not 0"),
        (("strip", 1, 0, 32), "warp_threads must be"),
        (("strip", 1, 32, 1.5), r"sector_bytes must be a whole number of at least 1, not 1\.5"),
    ],
)
def test_names_the_wrong_field(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        warp_traffic(Strips(10, 2), *arguments)


# The windows of tiles


def test_a_tile_as_wide_as_a_sector_by_hand() -> None:
    """Three tiles of 8 x 32 bytes in rows of 96: a halo puts two rows of each into three sectors and not one."""
    assert tile_sectors(Tiles(8, 96, 8, 32), 1, 32) == 3 * 8
    assert tile_sectors(Tiles(8, 96, 8, 32, halo=1), 1, 32) == 8 * (2 + 3 + 2)
    assert tile_sectors(Tiles(24, 96, 8, 32, halo=1), 1, 32) == (9 + 10 + 9) * (2 + 3 + 2)


def test_rows_that_begin_in_the_middle_of_a_sector() -> None:
    """Rows of 48 bytes, one tile each: every second row begins at byte 16 of a sector, and all lie in two."""
    assert tile_sectors(Tiles(4, 48, 1, 48), 1, 32) == 4 * 2
    assert tile_sectors(Tiles(4, 48, 1, 16), 1, 32) == 4 * 3  # a tile of half a sector lies within one wherever it is
    assert tile_sectors(Tiles(4, 40, 1, 40), 1, 32) == 2 + 2 + 2 + 2  # bytes 0, 40, 80, 120: never in one
    assert tile_sectors(Tiles(4, 24, 1, 24), 1, 32) == 1 + 2 + 2 + 1  # bytes 0, 24, 48, 72


@steady
@given(
    st.builds(Tiles, *[st.integers(1, 30)] * 4, halo=st.integers(0, 9)),
    st.integers(1, 9),
    st.integers(1, 40),
)
def test_agrees_with_counting_every_row_of_every_window(cut: Tiles, element_bytes: int, sector_bytes: int) -> None:
    total = 0
    for grid_row in range(cut.grid_rows):
        for grid_column in range(cut.grid_columns):
            window = cut.reads(grid_row, grid_column)
            for row in range(window.rows.start, window.rows.stop):
                elements = [row * cut.columns + column for column in range(window.columns.start, window.columns.stop)]
                total += sectors_touched([at * element_bytes for at in elements], element_bytes, sector_bytes)
    assert tile_sectors(cut, element_bytes, sector_bytes) == total
    assert total * sector_bytes >= cut.read_elements * element_bytes


@pytest.mark.parametrize(("sizes", "field"), [((0, 32), "element_bytes"), ((1, 0), "sector_bytes")])
def test_sizes_below_one_are_named(sizes: tuple[int, int], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        tile_sectors(Tiles(4, 4, 2, 2), *sizes)
