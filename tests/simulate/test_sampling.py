"""Sampling: the same on every machine, true to its ranges, and plain about what it cannot do."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.simulate import Choice, Range, middle, quantile, share_where, simulate


def drawn(source, count=4000, seed=1):
    return simulate(lambda x: x, {"x": source}, count, seed)


def test_the_same_seed_gives_the_same_draws():
    """The first three numbers of random.Random(1), as Python's Mersenne twister has given them since 2.3."""
    assert drawn(Range(0, 1), 3) == pytest.approx([0.13436424411240122, 0.8474337369372327, 0.763774618976614], abs=0)
    assert drawn(Range(0, 1), 3, seed=2) != drawn(Range(0, 1), 3)


def test_a_triangle_has_its_mean_and_its_spread():
    """Mean (a + b + c) / 3, variance (a² + b² + c² - ab - ac - bc) / 18: any table of distributions."""
    values = drawn(Range(2, 10, 3))
    assert statistics.fmean(values) == pytest.approx(5, abs=0.1)
    assert statistics.pvariance(values) == pytest.approx((4 + 100 + 9 - 20 - 6 - 30) / 18, rel=0.05)


def test_an_even_range_has_its_mean_and_its_spread():
    values = drawn(Range(2, 10))
    assert statistics.fmean(values) == pytest.approx(6, abs=0.1)
    assert statistics.pvariance(values) == pytest.approx(64 / 12, rel=0.05)


def test_each_choice_is_as_likely():
    values = drawn(Choice((1, 2, 4)))
    assert all(values.count(each) / len(values) == pytest.approx(1 / 3, abs=0.03) for each in (1, 2, 4))


@given(st.floats(-100, 100), st.floats(0, 100), st.floats(0, 1), st.integers(0, 1000))
def test_no_draw_leaves_its_range(low, width, at, seed):
    source = Range(low, low + width, min(low + width * at, low + width))
    assert all(source.low - 1e-9 <= value <= source.high + 1e-9 for value in drawn(source, 20, seed))


def test_a_number_stays():
    assert simulate(lambda x, y: (x, y), {"x": 5, "y": Choice((7,))}, 2) == [(5, 7), (5, 7)]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.001, 1))
def test_a_quantile_is_a_value_that_so_many_do_not_exceed(values, share):
    found = quantile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert sum(value < found for value in values) < share * len(values) + 1e-9


def test_quantiles_of_a_few():
    """Nearest rank, worked by hand: of five values the third is the middle and the first the lowest fifth."""
    values = [50, 15, 40, 20, 35]
    assert [quantile(values, share) for share in (0.05, 0.2, 0.3, 0.4, 0.5, 1)] == [15, 15, 20, 20, 35, 50]
    assert middle(values) == 35
    assert middle([1, 2, 3, 4]) == 2


def test_a_share():
    assert share_where([1, 2, 3, 4], lambda value: value > 1) == 0.75


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: quantile([], 0.5), "values must hold at least one"),
        (lambda: quantile([1], 0), "share must be above zero"),
        (lambda: quantile([1], 1.5), "share must be above zero and at most one"),
        (lambda: share_where([], bool), "values must hold at least one"),
        (lambda: drawn(Choice(()), 1), "values must hold at least one"),
        (lambda: drawn(Range(1, 2, 3), 1), "likely must lie between 1 and 2, not 3"),
        (lambda: drawn(Range(2, 1), 1), "likely must lie between 2 and 1"),
        (lambda: drawn(Range(1, 2), 0), "count must be one or more"),
    ],
)
def test_what_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
