"""The scale of verdicts, at its borders, and against a second writing of it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.facts import VERDICTS, registry
from gpumoat.verdicts import FORMS, contradiction, deserved, stated_digits


@pytest.mark.parametrize(("value", "digits"), [(648, 0), (2.25, 2), (6.0, 1), (2600, 0), (0.5, 1)])
def test_a_value_is_as_precise_as_it_is_stated(value: float, digits: int) -> None:
    assert stated_digits(value) == digits


@pytest.mark.parametrize(
    ("value", "right", "form", "verdict"),
    [
        (2.25, 2.2502, "", "confirmed"),
        (2, 2.446, "", "confirmed"),  # to the one digit that is stated
        (651, 650.452, "", "approximately"),
        (90, 100, "", "approximately"),
        (89, 100, "", "wrong"),
        (110, 100, "", "approximately"),
        (111, 100, "", "wrong"),
        (-90, -100, "", "approximately"),
        (0, 0, "", "confirmed"),
        (1, 0, "", "wrong"),
        (70, 75.5, "more than", "confirmed"),
        (70, 70, "more than", "confirmed"),
        (50, 100, "more than", "confirmed"),
        (50, 101, "more than", "approximately"),
        (1000, 5150, "more than", "approximately"),
        (10, 100, "more than", "approximately"),
        (10, 101, "more than", "wrong"),
        (105, 100, "more than", "approximately"),  # not kept, but near
        (200, 100, "more than", "wrong"),
        (5, 3.49, "less than", "confirmed"),
        (1, 0.1, "less than", "approximately"),
        (1, 0.09, "less than", "wrong"),
        (1, 1.2, "less than", "wrong"),
        (1, -3, "less than", "wrong"),
        (2016, 2017, "year", "approximately"),
        (2016, 2016, "year", "confirmed"),
        (18, 19, "year", "approximately"),
        (8, 10, "year", "wrong"),
    ],
)
def test_the_scale_at_its_borders(value: float, right: float, form: str, verdict: str) -> None:
    assert deserved(value, right, form) == verdict


numbers = st.integers(1, 10**6)


@given(numbers, numbers)
def test_a_plain_number_by_whole_numbers(value: int, right: int) -> None:
    near = abs(Fraction(value) - right) <= Fraction(right, 10)
    assert deserved(value, right) == ("confirmed" if value == right else "approximately" if near else "wrong")


@given(numbers, numbers, st.integers(1, 1000))
def test_a_bound_from_above_is_one_from_below_seen_from_the_other_side(value: int, right: int, times: int) -> None:
    kept = right >= value
    assert (deserved(value, right, "more than") == "confirmed") is (kept and right <= 2 * value)
    assert (deserved(right, value, "less than") == "confirmed") is (kept and right <= 2 * value)
    if kept:
        assert deserved(value * times, right * times, "more than") == deserved(value, right, "more than")


@given(st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.sampled_from(["", *FORMS]))
def test_the_scale_uses_three_of_the_seven_words(value: float, right: float, form: str) -> None:
    assert deserved(value, right, form) in (*VERDICTS[:2], "wrong")


@pytest.mark.parametrize(("value", "form"), [(1, "about"), (0, "more than"), (-1, "less than")])
def test_bad_input_is_named(value: int, form: str) -> None:
    with pytest.raises(ValueError, match=r"form|bound"):
        deserved(value, 1, form)


def test_outdated_is_what_was_right_and_is_not() -> None:
    assert contradiction("outdated", 100, 800, "", then=100) == ""
    assert contradiction("outdated", 100, 800, "", then=105) == ""
    assert "even then" in contradiction("outdated", 100, 800, "", then=300)
    assert "`then`" in contradiction("outdated", 100, 800)
    assert "says approximately" in contradiction("outdated", 100, 105, "", then=100)


def test_inconsistent_is_allowed_where_the_number_is_not_confirmed() -> None:
    assert contradiction("inconsistent", 670, 668.4) == ""
    assert "says confirmed" in contradiction("inconsistent", 670, 670)


def test_no_two_equal_cases_are_judged_unequally() -> None:
    """Every claim with two numbers has the verdict of the scale, is inconsistent, or says why not."""
    judged = 0
    for id, row in registry().claims.items():
        value, right = row.row.get("value"), row.row.get("right")
        if not isinstance(value, int | float) or not isinstance(right, int | float) or "why" in row.row:
            continue
        judged += 1
        assert not math.isnan(value)
        scale = deserved(value, right, row.text("form"))
        # `right` is rounded for the reader; by the unrounded one a claim may be confirmed all the same
        assert row.text("verdict") in (scale, "inconsistent") or row.text("verdict") == "confirmed", id
    assert judged > 60
