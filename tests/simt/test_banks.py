"""Turns of shared memory: bounds, a model bank by bank, and the patterns that every text on CUDA names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

DTYPES = {"uint8": 1, "int16": 2, "float32": 4, "float64": 8, "complex128": 16}


def asked(launch, dtype, lanes, shape=2048):
    one = launch().array("s", shape, dtype, space="shared")
    for thread, index in lanes.items():
        one.load("s", index, thread)
    return one.report.bank_conflicts("s")


@given(st.sampled_from(sorted(DTYPES)), st.dictionaries(st.integers(0, 31), st.integers(0, 299), min_size=1))
def test_bounds_and_a_model_bank_by_bank(launch, dtype, lanes):
    size = DTYPES[dtype]
    together = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[size]
    turns = best = worst = 0
    for part in range(0, 32, together):
        banks = [set() for _ in range(32)]
        for lane, index in lanes.items():
            if part <= lane < part + together:
                for byte in range(index * size, index * size + size):
                    banks[byte // 4 % 32].add(byte // 4)
        turns += max(map(len, banks))
        best += -(-sum(map(len, banks)) // 32)
        worst = max(worst, *map(len, banks))
    found = asked(launch, dtype, lanes)
    assert (found.requests, found.wavefronts, found.ideal, found.max_ways) == (1, turns, best, worst)
    assert 1 <= found.ideal <= found.wavefronts
    assert 1 <= found.max_ways <= min(len(lanes), together)


@pytest.mark.parametrize(
    ("dtype", "where", "ways", "turns"),
    [
        ("float32", lambda lane: lane, 1, 1),
        ("float32", lambda lane: 2 * lane, 2, 2),
        ("float32", lambda lane: 3 * lane, 1, 1),
        ("float32", lambda lane: 32 * lane, 32, 32),  # a column of a tile of 32 words
        ("float32", lambda lane: 33 * lane, 1, 1),  # the same, padded by one
        ("float32", lambda lane: 5, 1, 1),  # a broadcast
        ("uint8", lambda lane: lane, 1, 1),  # four lanes share a word
        ("uint8", lambda lane: 128 * lane, 32, 32),
        ("int16", lambda lane: lane, 1, 1),
        ("float64", lambda lane: lane, 1, 2),  # half warps, free of conflict
        ("float64", lambda lane: 16 * lane, 16, 32),
        ("complex128", lambda lane: lane, 1, 4),  # quarters
    ],
)
def test_patterns(launch, dtype, where, ways, turns):
    found = asked(launch, dtype, {lane: where(lane) for lane in range(32)})
    assert (found.requests, found.max_ways, found.wavefronts) == (1, ways, turns)


def test_loads_and_stores_are_requests_of_their_own(launch):
    one = launch().array("s", 2048, "float32", space="shared")
    for lane in range(32):
        one.store("s", 32 * lane, lane, line=7).load("s", lane, lane, line=8)
    report = one.report
    both = report.bank_conflicts("s")
    assert (both.requests, both.wavefronts, both.ideal, both.max_ways) == (2, 33, 2, 32)
    assert report.bank_conflicts("s", "load").wavefronts == 1
    assert report.bank_conflicts("s", line=7) == report.bank_conflicts("s", "store")
    assert str(both) == "2 requests in 33 turns (at best 2), at worst 32-way"
    assert str(report.bank_conflicts("s", "load")) == "1 requests in 1 turns (at best 1), no conflict"


def test_where_an_array_begins_counts(launch):
    """Two halves of one dynamic array: the second begins in the middle of the banks."""
    one = (
        launch()
        .array("s", 16, "float32", space="shared", allocation=5)
        .array("t", 64, "float32", space="shared", allocation=5, offset=64)
    )
    for lane in range(32):
        one.load("t", lane, lane)
    assert one.report.bank_conflicts("t").max_ways == 1
    assert {each["bank"] for each in one.report.bank_words("t")[:16]} == set(range(16, 32))


def test_an_array_that_is_not_shared(launch):
    with pytest.raises(ValueError, match="no shared array is called 'a': there are none"):
        launch().array("a", 4).report.bank_conflicts("a")
