"""Partitions: figures counted elsewhere, every element exactly once, and a planted fault for each verdict."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.partition import Access, Overlap, Range, Strips, Tiles, Waves, check_partition

steady = settings(deadline=None)  # a busy machine is no fault

PIXELS, CORES = 600_000_000, 16_384
sizes = st.integers(1, 400)
halos = st.integers(0, 5)


@st.composite
def strips(draw):
    return Strips(draw(sizes), draw(sizes), draw(halos), draw(halos), draw(st.booleans()))


# The image of the lecture: 600,000,000 pixels on 16,384 cores, each pixel minus the next.


def test_image_as_in_the_lecture():
    image = Strips(PIXELS, CORES, after=1)
    assert image.chunk == 36_622
    assert image.slots == 600_014_848
    assert image.last_elements == 21_774
    assert image.idle_workers == 0
    assert image.used_share == pytest.approx(0.99997525, abs=5e-9)


def test_image_reads_one_more_pixel_than_it_writes():
    image = Strips(PIXELS, CORES, after=1)
    assert image.reads(0).elements == 36_623
    # "Core i takes pixels 36,622 (i - 1) + 1 to 36,622 i + 1", cores and pixels counted from 1.
    for core in (1, 2, 9_999, CORES - 1):
        assert image.reads(core - 1).one_based == (36_622 * (core - 1) + 1, 36_622 * core + 1)
    assert image.reads(CORES - 1).one_based == (599_978_227, PIXELS)


def test_image_in_ranges_of_16384_workers_is_correct():
    image = Strips(PIXELS, CORES, after=1)
    report = check_partition(PIXELS, image.all_writes(), image.all_reads(), after=1)
    assert report.correct
    assert len(report.foreign_reads) == CORES - 1
    assert all(access.range.elements == 1 for access in report.foreign_reads)


def test_image_chunk_rounded_down_misses_the_end():
    """Counted with an array of 600,000,000 counters: 1,536 gaps."""
    report = check_partition(PIXELS, [(i * 36_621, (i + 1) * 36_621) for i in range(CORES)])
    assert report.missed == (Range(PIXELS - 1_536, PIXELS),)
    assert not report.repeated
    assert not report.exactly_once


def test_image_strips_one_too_long_overlap():
    """Counted with an array of counters, strips clipped at the end: 16,383 overlaps."""
    report = check_partition(PIXELS, [(i * 36_622, min(i * 36_622 + 36_623, PIXELS)) for i in range(CORES)])
    assert report.repeated_elements == len(report.repeated) == 16_383
    assert report.repeated[1] == Overlap(Range(73_244, 73_245), 2, (1, 2))
    assert not report.missed
    assert not report.out_of_range


def test_image_strips_one_too_far_apart_leave_gaps():
    """Counted with an array of counters, strips clipped at the end: 16,383 gaps."""
    report = check_partition(PIXELS, [(i * 36_623, min(i * 36_623 + 36_622, PIXELS)) for i in range(CORES)])
    assert report.missed_elements == len(report.missed) == 16_383
    assert report.missed[0] == Range(36_622, 36_623)
    assert not report.repeated


# Strips


@steady
@given(strips())
def test_every_element_is_written_exactly_once(cut):
    written = [at for part in cut.all_writes() for at in range(part.start, part.stop)]
    assert written == list(range(cut.elements))


@steady
@given(strips())
def test_reads_are_what_the_stencil_needs(cut):
    for worker in range(cut.workers):
        part, read = cut.writes(worker), cut.reads(worker)
        needed = {
            near
            for at in range(part.start, part.stop)
            for near in range(at - cut.before, at + cut.after + 1)
            if 0 <= near < cut.elements
        }
        assert set(range(read.start, read.stop)) == needed


@steady
@given(strips())
def test_shares_and_counts_agree_with_the_parts(cut):
    counts = [part.elements for part in cut.all_writes()]
    busy = [count for count in counts if count]
    assert cut.busy_workers == len(busy)
    assert cut.idle_workers == counts.count(0)
    assert cut.chunk == max(counts)
    assert cut.last_elements == busy[-1]
    assert cut.slots == max(counts) * cut.workers
    assert 0 < cut.used_share <= 1
    if cut.balanced:
        assert max(counts) - min(counts) <= 1
        assert counts == sorted(counts, reverse=True)


def test_more_workers_than_needed():
    assert Strips(9, 8).all_writes()[4:] == [Range(8, 9), Range(9, 9), Range(9, 9), Range(9, 9)]
    assert Strips(9, 8).idle_workers == 3
    assert Strips(9, 8, balanced=True).idle_workers == 0
    assert Strips(3, 8, 1, 1, balanced=True).reads(5) == Range(3, 3)


def test_both_conventions():
    assert tuple(Range(0, 3)) == (0, 3)
    assert Range(0, 3).one_based == (1, 3)
    assert Range(7, 7).one_based == (8, 7)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"elements": 0, "workers": 1}, "elements must be a whole number of at least 1, not 0"),
        ({"elements": 1, "workers": -1}, "workers must be a whole number of at least 1, not -1"),
        ({"elements": 1.5, "workers": 1}, "elements must be a whole number of at least 1, not 1.5"),
        ({"elements": 1, "workers": 1, "before": -1}, "before must be a whole number of at least 0"),
        ({"elements": 1, "workers": 1, "after": "1"}, "after must be a whole number of at least 0, not '1'"),
    ],
)
def test_strips_name_the_wrong_field(fields, message):
    with pytest.raises(ValueError, match=message):
        Strips(**fields)


@pytest.mark.parametrize("worker", [-1, 4])
def test_no_such_worker(worker):
    with pytest.raises(ValueError, match=f"worker must be from 0 to 3, not {worker}"):
        Strips(10, 4).writes(worker)


# Tiles


@steady
@given(sizes, sizes, st.integers(1, 40), st.integers(1, 40), halos)
def test_tiles_add_up(rows, columns, tile_rows, tile_columns, halo):
    tiles = Tiles(rows, columns, tile_rows, tile_columns, halo)
    down = [tiles.writes(at, 0).rows for at in range(tiles.grid_rows)]
    across = [tiles.writes(0, at).columns for at in range(tiles.grid_columns)]
    assert [at for part in down for at in range(part.start, part.stop)] == list(range(rows))
    assert [at for part in across for at in range(part.start, part.stop)] == list(range(columns))
    assert tiles.tasks == len(down) * len(across)
    assert 0 < tiles.used_share <= 1
    assert tiles.read_ratio >= 1
    if not halo or tiles.tasks == 1:
        assert tiles.read_elements == tiles.elements


@steady
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 9), st.integers(1, 9), halos)
def test_tiles_read_what_their_windows_hold(rows, columns, tile_rows, tile_columns, halo):
    tiles = Tiles(rows, columns, tile_rows, tile_columns, halo)
    windows = [tiles.reads(down, across) for down in range(tiles.grid_rows) for across in range(tiles.grid_columns)]
    assert tiles.read_elements == sum(window.elements for window in windows)
    for window in windows:
        assert 0 <= window.rows.start < window.rows.stop <= rows
        assert 0 <= window.columns.start < window.columns.stop <= columns


def test_tile_with_halo_in_the_middle_and_in_the_corner():
    tiles = Tiles(100, 70, 32, 32, halo=1)
    assert (tiles.grid_rows, tiles.grid_columns, tiles.tasks) == (4, 3, 12)
    assert tiles.reads(1, 1).elements == 34 * 34
    assert tiles.reads(0, 0).elements == 33 * 33
    assert tiles.writes(3, 2).elements == 4 * 6
    assert tiles.reads(3, 2).elements == 5 * 7
    # Three cuts across the rows and two across the columns, each read once more from both sides.
    assert tiles.read_elements == (100 + 3 * 2) * (70 + 2 * 2)
    assert tiles.used_share == 7_000 / (12 * 32 * 32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1, 1), "rows must be"),
        ((1, 0, 1, 1), "columns must be"),
        ((1, 1, 0, 1), "tile_rows must be"),
        ((1, 1, 1, 0), "tile_columns must be"),
        ((1, 1, 1, 1, -1), "halo must be"),
    ],
)
def test_tiles_name_the_wrong_field(arguments, message):
    with pytest.raises(ValueError, match=message):
        Tiles(*arguments)


def test_no_such_tile():
    with pytest.raises(ValueError, match="grid_row must be from 0 to 1, not 2"):
        Tiles(10, 10, 5, 5).writes(2, 0)
    with pytest.raises(ValueError, match="grid_column must be from 0 to 1, not -1"):
        Tiles(10, 10, 5, 5).reads(0, -1)


# Waves


@steady
@given(st.integers(1, 10**12), st.integers(1, 10**7))
def test_waves_hold_all_tasks(tasks, workers):
    waves = Waves(tasks, workers)
    assert (waves.waves - 1) * workers < tasks <= waves.waves * workers
    assert (waves.waves - 1) * workers + waves.last_tasks == tasks
    assert 1 <= waves.last_tasks <= workers
    assert 0 < waves.used_share <= 1


def test_query_key_value_maps_of_the_lecture():
    """2,048 vectors x 3 maps x 96 heads on one card, and on a hundred: too few tasks for the cores."""
    maps = 2_048 * 3 * 96
    assert (Waves(maps, CORES).waves, Waves(maps, CORES).used_share) == (36, 1.0)
    assert (Waves(maps, 100 * CORES).waves, Waves(maps, 100 * CORES).used_share) == (1, 0.36)
    dot_products = Waves(maps * 128, 100 * CORES)
    assert dot_products.tasks == 75_497_472
    assert dot_products.waves == 47
    assert dot_products.used_share == pytest.approx(46.08 / 47)


def test_waves_name_the_wrong_field():
    with pytest.raises(ValueError, match="tasks must be"):
        Waves(0, 1)
    with pytest.raises(ValueError, match="workers must be"):
        Waves(1, 0)


# The checker


@steady
@given(strips())
def test_checker_finds_nothing_in_strips(cut):
    report = check_partition(cut.elements, cut.all_writes(), cut.all_reads(), cut.before, cut.after)
    assert report.correct
    assert not report.unneeded_reads
    assert "each done exactly once" in str(report)
    assert "not" not in str(report)


@steady
@given(strips(), st.data())
def test_checker_finds_a_planted_gap(cut, data):
    parts = cut.all_writes()
    worker = data.draw(st.integers(0, cut.busy_workers - 1))
    start, stop = parts[worker]
    parts[worker] = Range(start + 1, stop)
    report = check_partition(cut.elements, parts)
    assert report.missed == (Range(start, start + 1),)
    assert not report.exactly_once
    assert not report.repeated


@steady
@given(strips(), st.data())
def test_checker_finds_a_planted_overlap(cut, data):
    parts = cut.all_writes()
    worker = data.draw(st.integers(0, cut.busy_workers - 1))
    start, stop = parts[worker]
    parts[worker] = Range(start, stop + 1)
    report = check_partition(cut.elements, parts)
    if worker + 1 < cut.busy_workers:
        assert report.repeated == (Overlap(Range(stop, stop + 1), 2, (worker, worker + 1)),)
    else:
        assert report.out_of_range == (Access(worker, Range(stop, stop + 1)),)
    assert not report.exactly_once
    assert not report.missed


@steady
@given(strips(), st.integers(-3, 3).filter(bool))
def test_checker_finds_a_shift_of_all_parts(cut, shift):
    parts = [Range(start + shift, stop + shift) for start, stop in cut.all_writes()]
    report = check_partition(cut.elements, parts)
    assert not report.exactly_once
    assert report.missed_elements == min(abs(shift), cut.elements)
    assert sum(access.range.elements for access in report.out_of_range) == report.missed_elements


ranges = st.tuples(st.integers(-5, 25), st.integers(0, 12)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@steady
@given(st.integers(0, 20), st.lists(st.tuples(ranges, ranges), max_size=12), halos, halos)
def test_checker_agrees_with_counting_element_by_element(elements, parts, before, after):
    """The slow way, on any nonsense partition."""
    row = set(range(elements))
    writes = [set(range(*write)) for write, _ in parts]
    reads = [set(range(*read)) for _, read in parts]
    report = check_partition(elements, [write for write, _ in parts], [read for _, read in parts], before, after)
    times = {at: [worker for worker, part in enumerate(writes) if at in part] for at in row}

    def touched(found):
        return {(access.worker, at) for access in found for at in range(*access.range)}

    def expected(sets):
        return {(worker, at) for worker, some in enumerate(sets) for at in some}

    needs = [{near for at in own & row for near in range(at - before, at + after + 1)} & row for own in writes]
    assert {at for gap in report.missed for at in range(*gap)} == {at for at in row if not times[at]}
    several = {at: overlap for overlap in report.repeated for at in range(*overlap.range)}
    assert set(several) == {at for at in row if len(times[at]) > 1}
    for at, overlap in several.items():
        assert overlap.times == len(times[at])
        assert set(overlap.workers) <= set(times[at])
        assert len(overlap.workers) == min(8, overlap.times)
    assert touched(report.out_of_range) == expected([own - row for own in writes])
    assert touched(report.out_of_range_reads) == expected([read - row for read in reads])
    assert touched(report.missing_reads) == expected([need - read for need, read in zip(needs, reads, strict=True)])
    assert touched(report.foreign_reads) == expected(
        [(read & row) - own for own, read in zip(writes, reads, strict=True)]
    )
    assert touched(report.unneeded_reads) == expected(
        [(read & row) - need for need, read in zip(needs, reads, strict=True)]
    )


def test_checker_finds_a_missing_halo():
    """Reading only what is written: each worker but the last lacks its right neighbour's first pixel."""
    image = Strips(100, 4, after=1)
    report = check_partition(100, image.all_writes(), image.all_writes(), after=1)
    assert report.missing_reads == tuple(Access(i, Range(25 * i + 25, 25 * i + 26)) for i in range(3))
    assert report.exactly_once
    assert not report.correct


def test_checker_finds_a_read_off_by_one():
    """One element too far to the right: foreign data that no result needs, and one that is needed is lacking."""
    writes = Strips(100, 4, after=1).all_writes()
    report = check_partition(100, writes, [(start + 1, stop + 2) for start, stop in writes], after=1)
    assert report.missing_reads[0] == Access(0, Range(0, 1))
    assert report.unneeded_reads[0] == Access(0, Range(26, 27))
    assert report.foreign_reads[0] == Access(0, Range(25, 27))
    assert report.out_of_range_reads == (Access(3, Range(100, 102)),)
    assert not report.correct


def test_an_idle_worker_that_reads_is_found():
    report = check_partition(2, [(0, 2), (2, 2)], [(0, 2), (0, 1)])
    assert report.correct
    assert report.unneeded_reads == report.foreign_reads == (Access(1, Range(0, 1)),)


def test_report_is_one_line_that_names_each_fault():
    report = check_partition(10, [(0, 4), (3, 6), (8, 12)], [(0, 6), (3, 6), (9, 11)], after=1)
    assert str(report) == (
        "10 elements, 3 workers: not each done exactly once; 2 missed, first 6 to 7; "
        "1 done more than once, first 3 by workers 0 and 1; 2 written out of range, first 10 to 11 by worker 2; "
        "2 needed but not read, first 6 by worker 1; 1 read out of range, first 10 by worker 2; "
        "1 read without need, first 5 by worker 0; 2 read outside the worker's own part, first 4 to 5 by worker 0"
    )


def test_report_counts_what_it_lists():
    report = check_partition(10, [(0, 4), (3, 6), (8, 12)], [(0, 6), (3, 6), (9, 11)], after=1)
    assert (report.missed_elements, report.repeated_elements) == (2, 1)
    assert (report.out_of_range_elements, report.missing_read_elements) == (2, 2)


def test_overlap_of_everybody_names_eight():
    report = check_partition(5, [(0, 5)] * 3_000)
    assert report.repeated == (Overlap(Range(0, 5), 3_000, tuple(range(8))),)


def test_checker_refuses_nonsense():
    with pytest.raises(ValueError, match="writes of worker 1 ends at 3, before its start 4"):
        check_partition(10, [(0, 4), (4, 3)])
    with pytest.raises(ValueError, match="reads of worker 0 ends at 0, before its start 1"):
        check_partition(10, [(0, 4)], [(1, 0)])
    with pytest.raises(ValueError, match="reads has 1 ranges: there must be one for each of the 2 writes"):
        check_partition(10, [(0, 4), (4, 10)], [(0, 4)])
    with pytest.raises(ValueError, match="before must be"):
        check_partition(10, [], before=-1)
