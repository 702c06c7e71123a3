"""Records for pictures: they hold every access, and agree with the counts of the report."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st


@given(st.lists(st.tuples(st.sampled_from(("load", "store")), st.integers(0, 11), st.integers(0, 7)), max_size=40))
def test_runs_hold_every_access(launch, accesses):
    one = launch(block=8).array("b", (3, 4))
    for kind, index, thread in accesses:
        getattr(one, kind)("b", index, thread)
    records = one.report.touches("b")
    assert sum(record["times"] for record in records) == len(accesses)
    cells = Counter()
    for record in records:
        assert record["elements"] == record["last"] - record["first"] + 1
        for column in range(record["first"], record["last"] + 1):
            cells[record["kind"], record["row"] * 4 + column, record["thread"]] += 1
    assert cells == Counter(set(accesses))


def test_a_strip_is_one_record_and_a_stride_is_many(launch):
    one = launch().array("b", 12).array("c", 12)
    for thread in range(3):
        for turn in range(4):
            one.store("b", 4 * thread + turn, thread).store("c", thread + 3 * turn, thread)
    report = one.report
    assert [(each["first"], each["last"], each["worker"]) for each in report.touches("b", "store")] == [
        (0, 3, 0),
        (4, 7, 1),
        (8, 11, 2),
    ]
    assert len(report.touches("c", "store")) == 12
    assert report.touches("b", "load") == []
    assert [each["first"] for each in report.touches("b", first=2, last=5)] == [2, 4]


def test_the_lanes_of_one_request(launch):
    one = launch(block=64).array("a", 400)
    for turn in range(2):
        for thread in range(64):
            one.load("a", 5 * thread + turn, thread)
    report = one.report
    records = report.request("a", warp=1, turn=1)
    assert [record["lane"] for record in records] == list(range(32))
    assert records[0] == {
        "lane": 0,
        "thread": 32,
        "element": 161,
        "first_byte": 644,
        "last_byte": 647,
        "sector": 20,
        "place": 0,
        "begin": 4,
        "end": 7,
    }
    assert max(record["place"] for record in records) + 1 == report.requests("a").sectors_per_request
    with pytest.raises(
        ValueError, match="warp 1 of block 0 makes 2 load requests to 'a': there is none with the number 2"
    ):
        report.request("a", warp=1, turn=2)
    with pytest.raises(ValueError, match="makes 0 store requests to 'a' at line 10"):
        report.request("a", "store", line=10)


def test_the_words_of_one_request(launch):
    one = launch().array("s", (32, 32), "float32", space="shared")
    for lane in range(32):
        one.load("s", 32 * (lane // 2), lane)
    records = one.report.bank_words("s")
    assert {record["bank"] for record in records} == {0}
    assert [record["turn"] for record in records] == [1 + lane // 2 for lane in range(32)]
    assert max(record["turn"] for record in records) == one.report.bank_conflicts("s").max_ways


def test_a_wide_element_is_a_word_in_each_of_its_banks(launch):
    one = launch().array("s", 32, "float64", space="shared").load("s", 3, 0)
    assert [(record["word"], record["bank"]) for record in one.report.bank_words("s")] == [(6, 6), (7, 7)]


@given(
    st.sampled_from(("uint8", "float32", "float64", "complex128")),
    st.dictionaries(st.integers(0, 31), st.integers(0, 99), min_size=1),
)
def test_the_last_turn_is_the_count_of_turns(launch, dtype, lanes):
    one = launch().array("s", 100, dtype, space="shared")
    for lane, index in lanes.items():
        one.load("s", index, lane)
    report = one.report
    assert max(record["turn"] for record in report.bank_words("s")) == report.bank_conflicts("s").wavefronts
