"""Races against a check of every pair of accesses, and each rule by a planted case.

The rule is written a second time here, pair by pair, from the CUDA programming guide: a common byte, two threads, a
write, not both atomic, and no barrier of both between them.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.simt.record import ATOMIC, KINDS, LOAD, STORE
from gpumoat.simt.report import Report

BLOCK = 40  # two warps, the second not full


def pairwise(record):
    """All races, by brute force: scope and the two lines with their arrays, and the elements of the first."""
    found = {}
    rows = range(len(record))

    def place(row):
        return record.sites[record.site[row]].line, record.arrays[record.array[row]].name

    def span(row):
        array = record.arrays[record.array[row]]
        start = array.offset_bytes + record.index[row] * array.itemsize_bytes
        return array.allocation, start, start + array.itemsize_bytes

    for one in rows:
        for other in rows[one + 1 :]:
            (memory, start, stop), (other_memory, other_start, other_stop) = span(one), span(other)
            if memory != other_memory or stop <= other_start or other_stop <= start:
                continue
            kinds = {record.kind[one], record.kind[other]}
            if kinds == {LOAD} or kinds == {ATOMIC}:
                continue
            scope = "grid"
            if record.in_block[one] == record.in_block[other]:
                if record.thread[one] == record.thread[other] or record.epoch[one] != record.epoch[other]:
                    continue
                scope = "block"
                if record.thread[one] // 32 == record.thread[other] // 32:
                    if record.warp_epoch[one] != record.warp_epoch[other]:
                        continue
                    scope = "warp"
            elif record.arrays[record.array[one]].space == "shared":
                continue
            first, second = sorted((one, other), key=place)
            elements = found.setdefault((scope, place(first), place(second)), set())
            elements.add(record.index[first])
            if place(first) == place(second):
                elements.add(record.index[second])
    return found


ACCESS = st.tuples(
    st.sampled_from("a b w s".split()),
    st.sampled_from((LOAD, STORE, ATOMIC)),
    st.integers(0, 3),
    st.integers(0, 1),
    st.sampled_from((0, 1, 32, 33)),
    st.integers(1, 3),
    st.integers(0, 1),
    st.integers(0, 1),
)


def made(launch, accesses):
    """A launch on four arrays; w is the memory of b as 16-bit words, from its fifth byte on."""
    one = launch(grid=2, block=BLOCK)
    one.array("a", 4).array("b", 8, "uint8", allocation=1).array("w", 4, "int16", allocation=1, offset=4)
    one.array("s", 4, space="shared")
    for name, kind, index, block, thread, line, epoch, warp_epoch in accesses:
        one._add(kind, name, index, thread, block, line, epoch, warp_epoch)
    return one


@given(st.lists(ACCESS, max_size=14))
def test_as_the_check_of_every_pair(launch, accesses):
    report = made(launch, accesses).report
    right = pairwise(report.record)
    assert {(race.scope, race.lines) for race in report.data_races()} == {
        (scope, (one[0], other[0])) for scope, one, other in right
    }
    assert len(report.data_races()) == len(right)
    for race in report.data_races():
        candidates = [
            elements
            for (scope, one, other), elements in right.items()
            if (scope, one, other[0]) == (race.scope, (race.lines[0], race.array), race.lines[1])
        ]
        assert any(race.elements == sorted(elements) for elements in candidates)
        assert race.index == race.elements[0]
        (block, thread), (other_block, other) = race.threads
        assert (block, thread) != (other_block, other)
        assert (block == other_block) == (race.scope != "grid")
        assert set(race.kinds) not in ({"load"}, {"atomic"})


@given(st.lists(ACCESS, max_size=14), st.integers(0, 9))
def test_the_order_of_the_threads_changes_nothing(launch, accesses, seed):
    shuffled = list(accesses)
    random.Random(seed).shuffle(shuffled)
    one, other = made(launch, accesses).report, made(launch, shuffled).report
    names = [(race.scope, race.array, race.lines, race.elements, race.threads, race.kinds) for race in one.data_races()]
    assert names == [
        (race.scope, race.array, race.lines, race.elements, race.threads, race.kinds) for race in other.data_races()
    ]


class TestRules:
    def test_a_missing_barrier_of_a_block(self, launch):
        one = launch(block=64).array("s", 64, space="shared")
        for thread in range(64):
            one.store("s", thread, thread, line=79)
        for thread in range(32):
            one.load("s", thread + 32, thread, line=83)
        (race,) = one.report.data_races()
        assert (race.scope, race.array, race.index, race.lines) == ("block", "s", 32, (79, 83))
        assert (race.threads, race.kinds) == (((0, 32), (0, 0)), ("store", "load"))
        assert race.elements == range(32, 64)
        assert str(race) == (
            "s[32], and 31 more elements: store against load, threads 32 and 0 of block 0, lines 79 and 83"
        )

    def test_the_barrier_in_its_place(self, launch):
        one = launch(block=64).array("s", 64, space="shared")
        for thread in range(64):
            one.store("s", thread, thread)
        for thread in range(32):
            one.load("s", thread + 32, thread, epoch=1, warp_epoch=1)
        assert one.report.data_races() == []

    def test_lanes_of_a_warp_run_in_no_lockstep(self, launch):
        one = launch().array("s", 32, space="shared").store("s", 1, thread=1).load("s", 1, thread=0)
        assert [race.scope for race in one.report.data_races()] == ["warp"]
        synced = launch().array("s", 32, space="shared").store("s", 1, thread=1).load("s", 1, thread=0, warp_epoch=1)
        assert synced.report.data_races() == []

    def test_a_warp_barrier_does_not_hold_for_other_warps(self, launch):
        one = launch(block=64).array("s", 32, space="shared").store("s", 1, 40).load("s", 1, 0, warp_epoch=1)
        assert [race.scope for race in one.report.data_races()] == ["block"]

    def test_blocks_are_never_in_order(self, launch):
        one = launch(grid=2).array("a", 4).store("a", 1, block=0).load("a", 1, block=1, epoch=5)
        (race,) = one.report.data_races()
        assert (race.scope, race.threads) == ("grid", ((1, 0), (0, 0)))

    def test_shared_memory_of_two_blocks_is_two_memories(self, launch):
        one = launch(grid=2).array("s", 4, space="shared").store("s", 1, block=0).load("s", 1, block=1)
        assert one.report.data_races() == []

    @pytest.mark.parametrize(
        ("kinds", "count"),
        [
            (("load", "load"), 0),
            (("atomic", "atomic"), 0),
            (("load", "store"), 1),
            (("store", "store"), 1),
            (("load", "atomic"), 1),
            (("store", "atomic"), 1),
        ],
    )
    def test_kinds(self, launch, kinds, count):
        one = launch().array("a", 4)
        for thread, kind in enumerate(kinds):
            getattr(one, kind)("a", 2, thread)
        assert len(one.report.data_races()) == count

    def test_equal_values_are_no_excuse(self, launch):
        """A record has no values at all: two stores to one element race whatever they store."""
        assert len(launch().array("a", 1).store("a", 0, 0).store("a", 0, 1).report.data_races()) == 1

    def test_views_of_one_memory(self, launch):
        one = launch(block=64).array("b", 8, "uint8", allocation=7).array("w", 2, "int32", allocation=7)
        one.store("b", 5, 0, line=4).load("w", 1, 40, line=9)
        (race,) = one.report.data_races()
        assert (race.array, race.index, race.lines) == ("b", 5, (4, 9))
        apart = launch(block=64).array("b", 8, "uint8", allocation=7).array("w", 2, "int32", allocation=7)
        assert apart.store("b", 3, 0).load("w", 1, 40).report.data_races() == []
        other = launch(block=64).array("b", 8, "uint8").array("w", 2, "int32")
        assert other.store("b", 5, 0).load("w", 1, 40).report.data_races() == []

    def test_one_cause_is_one_finding_for_each_scope(self, launch):
        """All threads of two blocks add to one element without an atomic operation."""
        one = launch(grid=2, block=64).array("b", 1)
        for block in range(2):
            for thread in range(64):
                one.load("b", 0, thread, block, line=5).store("b", 0, thread, block, line=5)
        report = one.report
        assert [race.scope for race in report.data_races()] == ["warp", "block", "grid"]
        assert report.data_races(limit=1) == report.data_races()[:1]
        (found,) = [finding for finding in report.findings() if finding.kind == "data race"]
        assert "lanes of a warp and warps of a block and blocks" in found.text
        assert found.count == 1

    def test_local_memory_is_ones_own(self, launch):
        one = launch().array("t", 4, space="local").store("t", 1, 0).store("t", 1, 1)
        assert one.report.data_races() == []

    def test_every_kind_has_a_name(self):
        assert [KINDS[kind] for kind in (LOAD, STORE, ATOMIC)] == ["load", "store", "atomic"]


def test_an_empty_record_has_none(launch):
    assert Report(launch().record).data_races() == []
