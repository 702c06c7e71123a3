"""What the simulator predicts is what an H200's counters read: requests, sectors and bank conflicts of each kernel.

The card's side is the committed run ``h200-kernel-counters``: Nsight Compute on the launches of
``gpumoat.bench.kernel_cases``, whose results it found equal to NumPy's. The simulator's side is traced here, on the
same arrays.
"""

import json
from pathlib import Path

import pytest

pytest.importorskip("numpy")

import gpumoat
from gpumoat.bench.image_variants import variants
from gpumoat.bench.kernel_cases import PIXELS, cases, image_case
from gpumoat.bench.kernel_counters import LARGE, SMALL, read_counters, results_of
from gpumoat.coalescing import warp_traffic
from gpumoat.partition import Strips
from gpumoat.simt import trace

RUN = json.loads((Path(gpumoat.__file__).parent / "data/measurements/h200-kernel-counters.json").read_text())
METRIC = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"

DIVERGED = {
    # Lanes of one warp take different numbers of turns of a loop, and the compiler unrolls loops by four: the lanes
    # that are one turn behind then go separately. Only the warp at the picture's end, and so only a few requests.
    "strip",
    "grid_stride",
    "four_pixels_grid_stride",
    "eight_pixels_grid_stride",
    # Lanes of one warp take different branches that store through the same function: the card stores twice.
    "two_long_words",
    "sixteen_pixels",
    # The last block's lanes go through the loop for what is left, and are unrolled apart.
    "four_words_shuffled",
}


def predicted(case):
    arguments = case.make()
    report = trace(case.source, case.grid, case.block)(*arguments.values())
    found = {}
    arrays = {array.name for array in report.record.arrays if array.space == "global"}
    for kind, word in (("load", "ld"), ("store", "st")):
        each = [report.requests(name, kind) for name in arrays]
        found["requests", word] = sum(one.requests for one in each)
        found["sectors", word] = sum(one.sectors for one in each)
    shared = {array.name for array in report.record.arrays if array.space == "shared"}
    turns = [report.bank_conflicts(name, "load") for name in shared]
    found["conflicts"] = sum(one.wavefronts - one.requests for one in turns)
    return found


def pairs():
    assert len(cases()) == len(RUN["raw"]["small"])
    for number, (case, launch) in enumerate(zip(cases(), RUN["raw"]["small"], strict=True)):
        assert (case.kernel, list(case.grid)) == (launch["kernel"], launch["grid"][:2])
        yield pytest.param(case, launch["metrics"], id=f"{number}-{case.kernel}")


@pytest.mark.parametrize(("case", "read"), list(pairs()))
def test_requests_and_sectors(case, read):
    found = predicted(case)
    for what in ("requests", "sectors"):
        for word in ("ld", "st"):
            counted = read[METRIC.format(what, word)]
            if case.kernel in DIVERGED:
                assert abs(found[what, word] - counted) <= max(6, counted * 0.06), (what, word)
            else:
                assert found[what, word] == counted, (what, word)
    assert found["conflicts"] == read["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"]


def test_most_are_equal_to_the_last_one():
    assert len({case.kernel for case in cases()}) - len(DIVERGED) >= 12


def test_a_planted_difference_would_be_seen():
    """The prediction for a picture of one warp more, which has two loads more."""
    (read,) = [each["metrics"] for each in RUN["raw"]["small"] if each["kernel"] == "one_pixel"]
    other = predicted(image_case("one_pixel", PIXELS + 32))
    assert other["requests", "ld"] == read[METRIC.format("requests", "ld")] + 2


def test_full_size_sectors_are_those_of_the_closed_form():
    """600,000,000 pixels cannot be traced, but the closed form counts them, and the card has counted them too."""
    launches = {(each["kernel"], each["grid"][0]): each["metrics"] for each in RUN["raw"]["large"]}
    for kernel, order, blocks in (("strip", "strip", 64), ("grid_stride", "grid-stride", 64)):
        cut = Strips(600_000_000, blocks * 256)
        loads = [warp_traffic(cut, order, 1, 32, 32, shift) for shift in (0, 1)]
        stores = warp_traffic(cut, order, 2, 32, 32)
        read = launches[kernel, blocks]
        assert sum(each.sectors for each in loads) == pytest.approx(read[METRIC.format("sectors", "ld")], rel=1e-4)
        assert stores.sectors == pytest.approx(read[METRIC.format("sectors", "st")], rel=1e-4)


def test_every_measured_launch_was_profiled():
    assert [each["kernel"] for each in RUN["raw"]["large"]] == [each.kernel for each in variants(600_000_000, 132)]
    assert all(set(LARGE) <= set(each["metrics"]) for each in RUN["raw"]["large"])


def test_the_checkers_saw_what_they_can_see():
    """compute-sanitizer's racecheck sees races in shared memory, its synccheck barriers that not all threads reach.

    Neither sees a race in global memory, tiles that overlap, or a halo left out. The barrier in a branch of a reduction
    passes as well: on the card, threads that have ended are not waited for.
    """
    value = {name: each["value"] for name, each in RUN["results"].items()}
    assert value["stencil_without_barrier_racecheck_errors_count"] > 0
    assert value["missing_barrier_racecheck_errors_count"] > 0
    assert value["stencil_barrier_in_branch_synccheck_errors_count"] > 0
    assert value["hanging_bugs_count"] == 1  # the same barrier: without a checker the kernel never ends
    for unseen in ("stencil_without_halo", "stencil_overlapping", "strip_in_place", "count_falling"):
        assert value[f"{unseen}_racecheck_errors_count"] == value[f"{unseen}_synccheck_errors_count"] == 0
    assert RUN["results"] == {
        name: {"value": number, "unit": unit, "what": what}
        for name, (number, unit, what) in results_of(RUN["raw"]).items()
    }


NCU = """==PROF== Connected to process 7
"ID","Kernel Name","Block Size","Grid Size","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
"","","","","request"
"0","cupy_fill(...)","(512, 1, 1)","(10, 1, 1)","9"
"1","image::strip[v1,cw51c](Array<unsigned char, 1, C, mutable, aligned>)","(128, 1, 1)","(3, 1, 1)","1,274"
"""


def test_reading_a_profile():
    (launch,) = read_counters(NCU, SMALL)
    assert launch["kernel"] == "strip"
    assert (launch["grid"], launch["block"]) == ([3, 1, 1], [128, 1, 1])
    assert launch["metrics"] == {METRIC.format("requests", "ld"): 1274.0}
    assert read_counters("no table", SMALL) == []
