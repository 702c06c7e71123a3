"""Dates: counted as by the standard library, never more exact than their source, refused where they are none.

Independent figures: `datetime.date.toordinal` of Python's standard library, and the mean Gregorian year of
365.2425 days (Explanatory Supplement to the Astronomical Almanac, 1992, chapter 12).
"""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumoat.dates import DateError, span, spread_years, years_between

DAYS = st.dates(min_value=date(1, 1, 1), max_value=date(9998, 12, 31))


@given(DAYS)
def test_days_are_counted_as_by_the_standard_library(day: date) -> None:
    assert span(day.isoformat()) == (day.toordinal(), day.toordinal() + 1)


@given(DAYS)
def test_a_month_holds_its_days_and_a_year_its_months(day: date) -> None:
    year, month = day.isoformat()[:4], day.isoformat()[:7]
    assert span(year)[0] <= span(month)[0] <= day.toordinal() < span(month)[1] <= span(year)[1]
    assert span(year)[1] - span(year)[0] == date(day.year + 1, 1, 1).toordinal() - date(day.year, 1, 1).toordinal()


@given(DAYS, DAYS)
def test_the_way_back_is_as_long(first: date, second: date) -> None:
    one, other = first.isoformat(), second.isoformat()
    assert years_between(one, other) == -years_between(other, one)
    assert years_between(one, other) == pytest.approx((second - first).days / 365.2425)


@given(DAYS, DAYS)
def test_the_true_distance_lies_within_the_spread(first: date, second: date) -> None:
    true = years_between(first.isoformat(), second.isoformat())
    for cut in (4, 7, 10):
        one, other = first.isoformat()[:cut], second.isoformat()
        assert abs(years_between(one, other) - true) <= spread_years(one, other) + 1e-9


@pytest.mark.parametrize(
    ("first", "second", "years", "spread"),
    [
        ("2000-01-01", "2400-01-01", 400, 1 / 365.2425),
        ("2014-09-07", "2017-07-01", 2.815, 1 / 365.2425),
        ("2007", "2017-03-14", 9.700, 0.501),
        ("2016-04", "2018-11", 2.585, 0.082),
    ],
)
def test_known_distances(first: str, second: str, years: float, spread: float) -> None:
    assert years_between(first, second) == pytest.approx(years, abs=5e-4)
    assert spread_years(first, second) == pytest.approx(spread, abs=5e-4)


@pytest.mark.parametrize(
    "text",
    ["", "x", "14", "20\u06614", "2014/09", "2014-9", "2014-13", "2014-00", "0000", "2014-02-29", "2014-09-07-01"],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(DateError, match="is no date"):
        span(text)


def test_a_number_is_no_date() -> None:
    with pytest.raises(DateError, match="2014 is no date: write 2014-09-07, 2014-09 or 2014"):
        years_between(2014, "2015")  # type: ignore[arg-type]
