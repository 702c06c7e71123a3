"""Ranges of element numbers behave as the list of those numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.simt.elements import Elements

NUMBERS = st.lists(st.integers(0, 60), max_size=40)


@given(NUMBERS)
def test_it_is_the_sorted_list_without_repetitions(numbers):
    right = sorted(set(numbers))
    found = Elements.of(numbers)
    assert found == right
    assert list(found) == right
    assert len(found) == len(right)
    assert [found[place] for place in range(-len(right), len(right))] == right + right
    assert found[1:7] == right[1:7]
    assert all((number in found) == (number in right) for number in range(62))
    assert found == Elements.of(right)
    assert (found == [*right, 99]) is False


@pytest.mark.parametrize("place", [3, -4])
def test_a_place_outside_is_refused(place):
    with pytest.raises(IndexError, match="there are 3 elements"):
        Elements.of([4, 5, 9])[place]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], "none"),
        ([7], "7"),
        (range(35_028, 36_000), "35,028 to 35,999"),
        ([1, 2, 3, 9], "1 to 3 and 9"),
        ([0, 2, 4], "0, 2 and 4"),
        (range(36, 36 * 28, 36), "36, 72, 108 and 24 more"),
    ],
)
def test_the_text_names_the_first_and_counts_the_rest(numbers, text):
    assert str(Elements.of(numbers)) == text


def test_it_is_no_text():
    assert Elements.of([1]) != "1"
