"""The order of findings: the root cause first, what follows from it after it, and nothing where nothing is wrong."""

import pytest

from gpumoat.simt.findings import ORDER
from gpumoat.simt.record import DivergentBarrier, Fault


def kinds(report, **options):
    return [(finding.kind, finding.cause) for finding in report.findings(**options)]


def test_a_right_kernel_has_none(launch):
    one = launch().array("a", 32).array("b", 32)
    for lane in range(32):
        one.load("a", lane, lane).store("b", lane, lane)
    report = one.report
    assert report.findings() == []
    assert "No problem found in this launch." in report.summary()


def everything(launch):
    """A record with each problem, put in the reverse of the order in which they are to be told."""
    one = launch(block=64).array("b", 8).array("s", 64, space="shared")
    one.store("b", 0, 0, line=40).store("b", 0, 32, line=40).store("b", 2, 1, line=40)
    one.store("s", 3, 3, line=20).load("s", 3, 40, line=21)
    one.record.uninitialized_reads = [Fault("s", "load", 3, 0, 40, 21), Fault("s", "load", (4,), 0, 41, 21)]
    one.record.uninitialized_reads_count = 2
    one.record.barrier_divergence = [DivergentBarrier(0, (30,), 16, 64)] * 2
    one.record.out_of_bounds = [Fault("b", "store", 8, 0, 9, 40), Fault("b", "store", 9, 0, 10, 40)]
    one.record.out_of_bounds_count = 7
    return one.report


def test_everything_at_once_stands_in_the_order_of_causes(launch):
    found = everything(launch).findings()
    assert [finding.kind for finding in found] == [
        "out of bounds",
        "barrier divergence",
        "data race",
        "data race",
        "uninitialized read",
        "overlap",
        "gap",
    ]
    assert [finding.cause for finding in found] == [None, None, 1, 1, 1, 3, 0]
    assert [finding.count for finding in found] == [2, 2, 1, 1, 2, 1, 6]
    assert [finding.lines for finding in found] == [(40,), (30,), (20, 21), (40,), (21,), (40,), ()]
    assert all(finding.advice for finding in found)
    texts = [str(finding) for finding in found]
    assert texts[0] == (
        "out of bounds: line 40: store of b[8] of an array of 8 by thread 9 of block 0, 2 times, among the first 2 of 7"
    )
    assert texts[1] == (
        "barrier divergence: line 30: 16 of 64 threads of block 0 wait there while the others do not, 2 times in all"
    )
    assert texts[4] == (
        "uninitialized read: line 21: s[3] is read by thread 40 of block 0 before any thread has written it; "
        "such reads on this line: 2 in all"
    )
    assert texts[5] == "overlap: 1 element of b stored by more than one thread: 0"
    assert texts[6] == "gap: 6 elements of b, of 8, never written: 1 and 3 to 7"
    assert {finding.kind for finding in found} == set(ORDER)


def test_a_missing_barrier_explains_the_uninitialized_read(launch):
    one = launch(block=64).array("s", 64, space="shared").load("s", 40, 0, line=83).store("s", 40, 40, line=79)
    one.record.uninitialized_reads = [Fault("s", "load", 40, 0, 0, 83)]
    assert kinds(one.report) == [("data race", None), ("uninitialized read", 0)]


def test_a_read_of_another_line_is_a_cause_of_its_own(launch):
    one = launch(block=64).array("s", 64, space="shared").load("s", 40, 0, line=83).store("s", 40, 40, line=79)
    one.record.uninitialized_reads = [Fault("s", "load", 63, 0, 0, 99)]
    assert kinds(one.report) == [("data race", None), ("uninitialized read", None)]


def test_a_warp_operation_that_lanes_miss(launch):
    one = launch()
    one.record.barrier_divergence = [DivergentBarrier(2, (7, 9), 16, 32, "warp")]
    (found,) = one.report.findings()
    assert (
        found.text
        == "line 7: 16 of 32 threads of a warp of block 2 wait there while others wait at line 9, or do not wait, "
        "1 time in all"
    )
    assert "mask" in found.advice


def test_storing_twice_is_no_fault_of_itself(launch):
    """A thread that adds up in memory, and another thread that stores after a barrier."""
    one = launch(block=64).array("c", 1).store("c", 0, 0).store("c", 0, 0).store("c", 0, 40, epoch=1)
    assert one.report.coverage("c").overlaps == [0]
    assert one.report.findings() == []


class TestGaps:
    def gap(self, launch, **options):
        return launch(**options).array("b", 4).store("b", 1)

    def test_of_an_array_that_is_only_stored(self, launch):
        assert kinds(self.gap(launch).report) == [("gap", None)]

    def test_none_where_a_part_is_meant(self, launch):
        assert kinds(self.gap(launch).report, partial=["b"]) == []
        with pytest.raises(ValueError, match="no global array is called 'c'"):
            self.gap(launch).report.findings(partial=["c"])

    def test_none_in_place(self, launch):
        assert kinds(self.gap(launch).load("b", 3).report) == []

    def test_none_where_only_some_blocks_ran(self, launch):
        assert kinds(self.gap(launch, grid=2, blocks=(0,)).report) == []


def test_the_summary_explains_itself(launch):
    text = everything(launch).summary()
    lines = text.splitlines()
    assert lines[0] == "kernel: grid of 1 blocks (all of them ran), 64 threads each, 5 accesses"
    assert lines[1] == "7 problems, root cause first:"
    assert lines[6].startswith(
        "  3. data race: 1 element of s (3), store against load, threads 3 and 40 of block 0, lines 20 and 21; between "
    )
    assert lines[6].endswith("(probably follows from 2)")
    assert "Global memory, in sectors of 32 bytes:" in lines
    assert "  b: of 8 elements 6 never written (1 and 3 to 7), 1 stored more than once (0)" in lines
    assert "Shared memory, in turns of its 32 banks:" in lines
    assert lines[-1] == "Accesses a thread: 0 to 1, 0.1 on average; 59 threads touch nothing"
    assert str(everything(launch)) == text


def test_a_divergence_that_another_one_explains(launch):
    """Threads that wait at different barriers are out of step at the next one as well."""
    one = launch(block=64)
    one.record.barrier_divergence = [DivergentBarrier(0, (9, 12), 16, 64), DivergentBarrier(0, (12,), 48, 64)]
    assert kinds(one.report) == [("barrier divergence", None), ("barrier divergence", 0)]


def test_elements_of_several_axes_are_named_as_the_kernel_names_them(launch):
    one = launch(grid=2).array("c", (4, 8)).store("c", 9, block=0).store("c", 9, block=1)
    report = one.report
    assert str(report.data_races()[0]).startswith("c[1, 1]: store against store, block 0 thread 0 and block 1 thread 0")
    texts = [finding.text for finding in report.findings()]
    assert texts[0].startswith("1 element of c ([1, 1]), store against store")
    assert texts[1] == "1 element of c stored by more than one thread: [1, 1]"
    assert texts[2] == "31 elements of c, of 32, never written: the first is [0, 0]"
