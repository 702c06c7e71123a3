"""Load balance and foreign reads against counters."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

ACCESSES = st.lists(
    st.tuples(
        st.sampled_from("a b t".split()),
        st.sampled_from(("load", "store")),
        st.integers(0, 5),
        st.integers(0, 7),
        st.integers(0, 1),
    ),
    max_size=30,
)


@given(ACCESSES)
def test_as_counters_say(launch, accesses):
    one = launch(grid=2, block=8).array("a", 6).array("b", 6).array("t", 6, space="local")
    for name, kind, index, thread, block in accesses:
        getattr(one, kind)(name, index, thread, block)
    work = one.report.accesses_per_thread()
    counted = Counter((block, thread) for name, _, _, thread, block in accesses if name != "t")
    assert work == [counted[block, thread] for block in range(2) for thread in range(8)]
    assert (work.min, work.max, work.mean) == (min(work), max(work), sum(work) / 16)
    assert work.idle == 16 - len(counted)
    owned = {(index, block, thread) for name, kind, index, thread, block in accesses if (name, kind) == ("b", "store")}
    loads = [(index, block, thread) for name, kind, index, thread, block in accesses if (name, kind) == ("a", "load")]
    found = one.report.foreign_reads("a", owner="b")
    assert (found.foreign, found.total) == (sum(load not in owned for load in loads), len(loads))


def test_only_the_blocks_that_ran(launch):
    one = launch(grid=1000, block=4, blocks=(7, 3)).array("a", 9).load("a", 1, 1, 3).load("a", 2, 0, 7)
    assert one.report.accesses_per_thread() == [0, 1, 0, 0, 1, 0, 0, 0]


def test_a_strip_reads_one_element_of_its_neighbour(launch):
    one = launch().array("a", 13).array("b", 12)
    for thread in range(3):
        for index in range(4 * thread, 4 * thread + 4):
            one.load("a", index, thread).load("a", index + 1, thread, line=11).store("b", index, thread)
    assert str(one.report.foreign_reads("a", owner="b")) == "3 of 24 loads"
