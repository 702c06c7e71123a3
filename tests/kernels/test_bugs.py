"""Planted bugs: for each the root cause is reported first, and what follows from it after."""

import pytest

numpy = pytest.importorskip("numpy")

from gpumoat.bench.kernel_cases import bug_cases, counting_case, image_case, in_place_case, stencil_case  # noqa: E402
from gpumoat.kernels.bugs import STRIP_FAULTS  # noqa: E402
from gpumoat.partition import ceil_div  # noqa: E402
from gpumoat.simt import trace  # noqa: E402


def traced(case, order="forward", **changed):
    arguments = case.make() | changed
    right = case.right(case.make())
    report = trace(case.source, case.grid, case.block, order=order, seed=2)(*arguments.values())
    found = arguments[case.output].ravel()[: right.size]
    return report, int((found != right.ravel()).sum())


def kinds(report):
    return [each.kind for each in report.findings()]


# The lecture's two numbers: 36,622 pixels a strip, or 36,623. Here 1,003 pixels and 64 threads: 16, or 17.


def strips(start, length):
    case = image_case("strip", 1_003, 64, 1)
    right = ceil_div(1_003, 64)
    assert right == 16
    return traced(case, stride=right + start, length=right + length)


def test_strips_that_fit():
    report, wrong = strips(0, 0)
    assert (report.findings(), wrong) == ([], 0)


def test_too_far_apart():
    report, wrong = strips(*STRIP_FAULTS["one pixel too far apart"])
    first = report.findings()[0]
    assert (first.kind, first.array) == ("gap", "differences")
    assert kinds(report) == ["gap"]
    assert report.coverage("differences").gaps[:3] == [16, 33, 50]
    assert wrong == len(report.coverage("differences").gaps) == 1_003 // 17


def test_too_long():
    """Both threads write the same number, so nothing comes out wrong: no comparison of results can find it."""
    report, wrong = strips(*STRIP_FAULTS["one pixel too long"])
    first = report.findings()[0]
    assert (first.kind, first.array) == ("data race", "differences")
    assert kinds(report) == ["data race", "overlap"]
    assert report.findings()[1].cause == 0
    assert report.coverage("differences").overlaps[:3] == [16, 32, 48]
    assert len(report.coverage("differences").overlaps) == 1_003 // 16
    assert wrong == 0


def test_rounded_down():
    report, wrong = strips(*STRIP_FAULTS["rounded down"])
    assert kinds(report) == ["gap"]
    assert report.coverage("differences").gaps == list(range(64 * 15, 1_003))
    assert wrong == 1_003 - 64 * 15


def test_a_picture_without_its_last_pixel_repeated():
    case = image_case("strip", 1_003, 64, 1)
    report, _ = traced(case, pixels=case.make()["pixels"][:-1].copy())
    first = report.findings()[0]
    assert (first.kind, first.array) == ("out of bounds", "pixels")
    assert (report.out_of_bounds[0].index, report.out_of_bounds[0].thread) == (1_003, 1_002 // 16)


def test_writing_over_the_picture():
    """Right by luck where the first thread goes first, and wrong where it goes last."""
    report, wrong = traced(in_place_case())
    first = report.findings()[0]
    assert (first.kind, first.array) == ("data race", "pixels")
    assert wrong == 0
    _, wrong = traced(in_place_case(), "reverse")
    raced = {element for race in report.data_races() for element in race.elements}
    assert len(raced) == ceil_div(20_011, ceil_div(20_011, 3 * 128)) - 1  # the first pixel of each strip but the first
    assert 0.9 * len(raced) < wrong <= len(raced)  # some come out right by chance


def test_an_atomic_forgotten():
    report, _ = traced(counting_case())
    first = report.findings()[0]
    assert (first.kind, first.array) == ("data race", "counts")
    assert set(kinds(report)) == {"data race", "overlap"}
    assert {race.scope for race in report.data_races()} >= {"warp", "block", "grid"}


# Stencils


def test_a_halo_left_out():
    report, wrong = traced(bug_cases()["stencil_without_halo"])
    first = report.findings()[0]
    assert (first.kind, first.array) == ("uninitialized read", "held")
    assert kinds(report) == ["uninitialized read"]
    assert wrong > 0
    # Three tiles beside each other, 45 rows, and a column on either side of each that nobody loaded.
    assert {fault.index[1] for fault in report.uninitialized_reads} == {0, 33}


def test_a_halo_one_pixel_late_is_seen_by_its_results_alone():
    report, wrong = traced(bug_cases()["stencil_halo_off_by_one"])
    assert report.findings() == []
    assert wrong > 45 * 77 * 0.9


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_a_barrier_left_out(order):
    report, wrong = traced(bug_cases()["stencil_without_barrier"], order)
    first = report.findings()[0]
    assert (first.kind, first.array) == ("data race", "held")
    assert kinds(report) == ["data race", "uninitialized read"]
    assert report.findings()[1].cause == 0
    assert wrong > 0


def test_a_barrier_in_a_branch():
    """On a card it never ends (run ``h200-kernel-counters``): some threads wait at one barrier, some at another."""
    report, _ = traced(bug_cases()["stencil_barrier_in_branch"])
    first = report.findings()[0]
    assert first.kind == "barrier divergence"
    assert set(kinds(report)) == {"barrier divergence"}
    assert all(each.cause == 0 for each in report.findings()[1:])


def test_a_barrier_in_a_branch_that_every_thread_takes():
    """No fault where the picture fills all blocks: the same kernel is right for one picture and hangs for another."""
    report, wrong = traced(stencil_case("stencil_barrier_in_branch", 16, 64, "bugs"))
    assert (report.findings(), wrong) == ([], 0)


def test_tiles_that_overlap():
    report, wrong = traced(bug_cases()["stencil_overlapping"])
    first = report.findings()[0]
    assert (first.kind, first.array) == ("data race", "sums")
    assert kinds(report) == ["data race", "overlap", "gap"]
    assert [each.cause for each in report.findings()] == [None, 0, 1]
    # The first column of the second tile is written twice, and the last one of the picture never.
    assert report.coverage("sums").overlaps[:2] == [31, 64 + 31]
    assert report.coverage("sums").gaps[:2] == [63, 64 + 63]
    assert wrong == 45
