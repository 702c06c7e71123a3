"""Cards: the smallest number that holds the bytes, and no number for nonsense."""

import math

import pint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumoat.llm.capacity import cards_needed, used_share

steady = settings(deadline=None)  # a busy machine is no fault

sizes = st.integers(1, 10**15) | st.floats(1, 1e15)


@steady
@given(sizes, st.integers(1, 10**12) | st.floats(1, 1e12))
def test_cards_are_the_smallest_number_that_is_enough(total, usable):
    cards = cards_needed(total, usable)
    assert (cards - 1) * usable < total <= cards * usable
    assert isinstance(cards, int)
    assert 0 < used_share(total, usable) <= 1


@steady
@given(st.integers(1, 10**60), st.integers(1, 10**30))
def test_whole_numbers_are_exact(total, usable):
    cards = cards_needed(total, usable)
    assert (cards - 1) * usable < total <= cards * usable


@steady
@given(st.integers(1, 10**6), st.floats(1e-3, 1e12))
def test_what_so_many_cards_hold_fits_on_so_many_cards(cards, usable):
    assert cards_needed(cards * usable, usable) == cards


def test_float_products_that_round_badly():
    """3 * 0.1 is 0.30000000000000004: its quotient by 0.1 is above 3, and three cards are still enough."""
    assert math.ceil(3 * 0.1 / 0.1) == 4
    assert cards_needed(3 * 0.1, 0.1) == 3


def test_gpt3_on_cards_of_24_80_and_141_gb():
    weights = 698_417_037_312
    assert [cards_needed(weights, gigabytes * 10**9) for gigabytes in (24, 80, 141)] == [30, 9, 5]
    assert [cards_needed(4 * weights, gigabytes * 10**9) for gigabytes in (24, 80, 141)] == [117, 35, 20]
    assert used_share(weights, 80 * 10**9) == pytest.approx(0.97, abs=0.001)


def test_units_cancel():
    units = pint.UnitRegistry()
    assert cards_needed(650.45 * units.GiB, 24 * units.GB) == 30
    with pytest.raises(pint.DimensionalityError):
        cards_needed(650.45 * units.GiB, 24 * units.second)


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_not_above_zero(wrong):
    with pytest.raises(ValueError, match=f"total_bytes must be above zero, not {wrong}"):
        cards_needed(wrong, 1)
    with pytest.raises(ValueError, match=f"usable_bytes_per_card must be above zero, not {wrong}"):
        cards_needed(1, wrong)


def test_not_finite():
    with pytest.raises(ValueError, match="total_bytes must be finite, not inf"):
        cards_needed(math.inf, 1)
    with pytest.raises(ValueError, match="usable_bytes_per_card must be finite, not inf"):
        cards_needed(1, math.inf)
