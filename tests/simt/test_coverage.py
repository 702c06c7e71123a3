"""Coverage against counters, one for each element."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

WRITES = st.lists(st.tuples(st.sampled_from(("load", "store", "atomic")), st.integers(0, 11), st.integers(0, 31)))


@given(WRITES)
def test_as_counters_say(launch, writes):
    one = launch().array("b", 12)
    for kind, index, thread in writes:
        getattr(one, kind)("b", index, thread)
    stored = Counter(index for kind, index, _ in writes if kind == "store")
    updated = {index for kind, index, _ in writes if kind == "atomic"}
    found = one.report.coverage("b")
    assert found.gaps == [index for index in range(12) if index not in stored and index not in updated]
    assert found.overlaps == [index for index in range(12) if stored[index] > 1]
    assert found.exactly_once == (not found.gaps and not found.overlaps)
    assert found.size == 12


def strips(launch, start, length, n=36, threads=9):
    """The strips of the image difference, small: thread t stores ``length`` elements from ``t * start``."""
    one = launch().array("b", n)
    for thread in range(threads):
        for index in range(thread * start, min(thread * start + length, n)):
            one.store("b", index, thread)
    return one.report


def test_strips_that_fit(launch):
    found = strips(launch, 4, 4).coverage("b")
    assert found.exactly_once
    assert str(found) == "each of 36 elements written exactly once"


def test_planted_strips_too_far_apart(launch):
    found = strips(launch, 5, 4).coverage("b")
    assert found.gaps == [4, 9, 14, 19, 24, 29, 34]
    assert not found.exactly_once
    assert str(found) == "of 36 elements 7 never written (4, 9, 14 and 4 more)"


def test_planted_strips_too_long(launch):
    found = strips(launch, 4, 5).coverage("b")
    assert found.overlaps == [4, 8, 12, 16, 20, 24, 28, 32]
    assert str(found) == "of 36 elements 8 stored more than once (4, 8, 12 and 5 more)"


def test_shared_memory_of_each_block_is_its_own(launch):
    one = launch(grid=2).array("s", 2, space="shared").store("s", 0, block=0).store("s", 0, block=1)
    found = one.report.coverage("s")
    assert (found.gaps, found.overlaps) == ([1], [])


def test_a_name_that_is_not_there(launch):
    with pytest.raises(ValueError, match="no global or shared array is called 'c': there are b"):
        strips(launch, 4, 4).coverage("c")


def test_a_name_twice(launch):
    one = launch().array("t", 2, space="shared").array("t", 2, space="shared")
    with pytest.raises(ValueError, match="2 arrays are called 't'"):
        one.report.coverage("t")


VIEWS = st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 5)), max_size=12)


@given(VIEWS)
def test_what_is_stored_through_a_view_of_wider_words(launch, stores):
    """Six 2-byte elements, the same memory as three 4-byte words: counted byte by byte."""
    one = launch().array("b", 6, "int16", allocation=7).array("words", 3, allocation=7)
    counts = Counter()
    for wide, word, narrow in stores:
        if wide:
            one.store("words", word)
            counts.update(range(4 * word, 4 * word + 4))
        else:
            one.store("b", narrow)
            counts.update(range(2 * narrow, 2 * narrow + 2))
    for name, size, itemsize in (("b", 6, 2), ("words", 3, 4)):
        found = one.report.coverage(name)
        each = [[counts[byte] for byte in range(at * itemsize, (at + 1) * itemsize)] for at in range(size)]
        assert found.gaps == [at for at in range(size) if 0 in each[at]]
        assert found.overlaps == [at for at in range(size) if max(each[at]) > 1]
