"""Sectors of a warp's requests: bounds, a model by byte, the closed count of ``gpumoat.coalescing``, planted patterns.

Figures from elsewhere: Nsight Compute on an H200 counted 32 sectors a request for strips of 8-bit pixels, loads and
stores, and for a grid-stride 1 for a[i] and 2 for a[i + 1], and 2 for 16-bit stores.
"""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.coalescing import warp_traffic
from gpumoat.partition import Strips

DTYPES = {"uint8": 1, "int16": 2, "int32": 4, "float64": 8, "complex128": 16}
TURNS = st.lists(st.dictionaries(st.integers(0, 39), st.integers(0, 199), min_size=1), min_size=1, max_size=5)


def asked(launch, dtype, turns, offset=0):
    """Each turn is one load of a line by some threads of a block of two warps, the second not full."""
    one = launch(block=40).array("a", 200, dtype, offset=offset)
    for turn, lanes in enumerate(turns):
        for thread, index in lanes.items():
            one.load("a", index, thread, line=100 + turn)
    return one


@given(st.sampled_from(sorted(DTYPES)), TURNS, st.sampled_from((0, 16, 32, 48)))
def test_bounds_and_a_model_by_byte(launch, dtype, turns, offset):
    size = DTYPES[dtype]
    report = asked(launch, dtype, turns, offset).report
    found = report.requests("a")
    requests = sectors = ideal = wanted = accesses = 0
    for lanes in turns:
        for warp in {thread // 32 for thread in lanes}:
            named = {
                offset + index * size + byte
                for thread, index in lanes.items()
                if thread // 32 == warp
                for byte in range(size)
            }
            requests += 1
            sectors += len({byte // 32 for byte in named})
            ideal += math.ceil(len(named) / 32)
            wanted += len(named)
            accesses += sum(thread // 32 == warp for thread in lanes)
    assert (found.requests, found.sectors, found.ideal) == (requests, sectors, ideal)
    assert found.efficiency == pytest.approx(wanted / (32 * sectors))
    assert found.active_lanes == accesses / requests
    assert found.ideal <= found.sectors <= 32 * found.requests
    assert 1 <= found.sectors_per_request <= 32
    assert 0 < found.efficiency <= 1
    assert 1 <= found.active_lanes <= 32
    by_line = [report.requests("a", line=100 + turn) for turn in range(len(turns))]
    assert sum(each.requests for each in by_line) == found.requests
    assert sum(each.sectors for each in by_line) == found.sectors


@given(TURNS, st.integers(0, 9))
def test_the_order_of_the_threads_changes_nothing(launch, turns, seed):
    """Threads are shuffled within each turn, which keeps the order of each thread's own accesses."""
    shuffled = []
    for lanes in turns:
        pairs = list(lanes.items())
        random.Random(seed).shuffle(pairs)
        shuffled.append(dict(pairs))
    assert asked(launch, "int32", turns).report.requests("a") == asked(launch, "int32", shuffled).report.requests("a")


@given(st.integers(1, 70), st.sampled_from((1, 3, 32, 40, 64)), st.sampled_from((1, 2, 4)), st.integers(0, 1))
def test_as_the_closed_count(launch, elements, workers, size, shift):
    """``gpumoat.coalescing`` counts the same from the partition, without a trace."""
    dtype = {1: "uint8", 2: "int16", 4: "int32"}[size]
    cut = Strips(elements, workers)
    for order in ("strip", "grid-stride"):
        one = launch(block=workers).array("a", elements, dtype)
        for thread in range(workers):
            share = cut.writes(thread)
            mine = range(share.start, share.stop) if order == "strip" else range(thread, elements, workers)
            for index in mine:
                if index + shift < elements:
                    one.load("a", index + shift, thread)
                else:
                    one.load("a", index, thread, line=11)  # keeps the turns of the others together
        right = warp_traffic(cut, order, size, 32, 32, shift)
        found = one.report.requests("a", line=10)
        assert (found.requests, found.sectors) == (right.requests, right.sectors)


def pattern(launch, dtype, where, lanes=32):
    one = launch().array("a", 5000, dtype)
    for lane in range(lanes):
        one.load("a", where(lane), lane)
    return one.report.requests("a")


@pytest.mark.parametrize(
    ("dtype", "where", "sectors", "efficiency"),
    [
        ("uint8", lambda lane: lane, 1, 1),  # the H200's figures
        ("uint8", lambda lane: lane + 1, 2, 0.5),
        ("int16", lambda lane: lane, 2, 1),
        ("uint8", lambda lane: 36 * lane, 32, 1 / 32),
        ("int32", lambda lane: lane, 4, 1),
        ("int32", lambda lane: lane + 1, 5, 0.8),
        ("int32", lambda lane: 36 * lane, 32, 0.125),
        ("int32", lambda lane: 7, 1, 0.125),
        ("float64", lambda lane: 31 - lane, 8, 1),
        ("complex128", lambda lane: lane, 16, 1),
    ],
)
def test_patterns(launch, dtype, where, sectors, efficiency):
    found = pattern(launch, dtype, where)
    assert (found.requests, found.sectors_per_request, found.efficiency) == (1, sectors, efficiency)
    assert found.active_lanes == 32


def test_the_last_warp_need_not_be_full(launch):
    assert pattern(launch, "int32", lambda lane: lane, lanes=8).active_lanes == 8


def test_a_load_and_a_store_at_one_place_are_two_requests(launch):
    one = launch().array("a", 32)
    for lane in range(32):
        one.load("a", lane, lane, line=5).store("a", lane, lane, line=5)
    assert [one.report.requests("a", kind).requests for kind in ("load", "store", "atomic")] == [1, 1, 0]


def test_an_array_that_nobody_loads(launch):
    found = launch().array("a", 32).report.requests("a")
    assert (found.requests, found.sectors_per_request, found.efficiency, found.active_lanes) == (0, 0, 0, 0)
    assert found.ideal_per_request == 0


def test_the_text(launch):
    assert str(pattern(launch, "int32", lambda lane: lane + 1)) == (
        "1 requests of 5.00 sectors (at best 4.00), 80.0% of their bytes asked for, 32.0 lanes active"
    )


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("q", "load", "no global array is called 'q': there are a"),
        ("a", "read", "kind must be one of load, store, atomic, not 'read'"),
    ],
)
def test_bad_input_is_one_line(launch, name, kind, says):
    with pytest.raises(ValueError, match=says):
        launch().array("a", 4).array("s", 4, space="shared").report.requests(name, kind)
