"""Dates as their sources state them, and the years that lie between two of them.

A source gives the day, the month or only the year, and this module never makes it more exact than that. A date is
ISO text: ``2014-09-07``, ``2014-09`` or ``2014``. A month or a year stands for its middle, and ``spread_years`` says
by how much the distance of two such dates may be off. In the data files a date is a fact whose name ends in
``_date``; ``fact_text`` reads it.

Left out: times of day and calendars other than the Gregorian one.

Standard library only, without ``datetime``: the same file runs on MicroPython.
"""


class DateError(ValueError):
    """A text that is no date; the message says what would be right."""


def span(text: str) -> tuple[int, int]:
    """Return the first day that a date names, and the first one after it, as numbers of days.

    Days are counted from 1 for the first of January of the year 1: a year has 365 days and one more if 4 divides it
    and not 100, or if 400 does. The 12 months have 31 days, but 30 in the months 4, 6, 9 and 11, and 28 or 29 in the
    month 2. This is the count of ``datetime.date.toordinal``.

    Args:
        text: ``2014-09-07``, ``2014-09`` or ``2014``.

    Raises:
        DateError: It is none of these.
    """
    year, month, day = _parts(text)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [30 if one in (4, 6, 9, 11) else 31 for one in range(1, 12 + 1)]
    lengths[1] = 29 if leap else 28
    before = 365 * (year - 1) + (year - 1) // 4 - (year - 1) // 100 + (year - 1) // 400
    if month > 12 or (month and day > lengths[month - 1]):
        raise DateError(f"{text!r} is no date: there is no such month or day")
    if not month:
        return before + 1, before + sum(lengths) + 1
    first = before + sum(lengths[: month - 1]) + 1
    return (first + day - 1, first + day) if day else (first, first + lengths[month - 1])


def _parts(text: str) -> tuple[int, int, int]:
    """Return year, month and day; 0 for what the text does not give."""
    parts = text.split("-") if isinstance(text, str) else []
    widths = [len(part) for part in parts]
    if widths not in ([4], [4, 2], [4, 2, 2]) or any(letter not in "0123456789" for letter in "".join(parts)):
        raise DateError(f"{text!r} is no date: write 2014-09-07, 2014-09 or 2014")
    numbers = [int(part) for part in parts]
    if 0 in numbers:
        raise DateError(f"{text!r} is no date: years, months and days begin at 1")
    year, month, day = [*numbers, 0, 0][:3]
    return year, month, day


def years_between(first: str, second: str) -> float:
    """Return the years from one date to another, negative where the second is the earlier one.

    From middle to middle: a day counts as its noon, a month or a year as its middle. A year is the mean one of the
    Gregorian calendar, in which 400 years have 146097 days.

    Raises:
        DateError: One of the two is no date.
    """
    first_span, second_span = span(first), span(second)
    return (sum(second_span) - sum(first_span)) / 2 * 400 / 146097


def spread_years(first: str, second: str) -> float:
    """Return by how much ``years_between`` may be off either way, because months and years are no days.

    Half of each date's own length: nearly nothing for two days, a month for two months. 400 years have 146097 days.

    Raises:
        DateError: One of the two is no date.
    """
    lengths = [after - start for start, after in (span(first), span(second))]
    return sum(lengths) / 2 * 400 / 146097
